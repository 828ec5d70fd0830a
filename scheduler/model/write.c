/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Writes: making and freeing. As with records, everything lies in the write's own arena. */

#include "model/write.h"

static const struct maar_condition_record no_condition = {"", "", "", "", ""};

const char *maar_write_kind_name(enum maar_write_kind kind)
{
    static const char *const names[MAAR_N_WRITE_KINDS] = {
        [MAAR_WRITE_BIND] = "bind",
        [MAAR_WRITE_EVICT] = "evict",
        [MAAR_WRITE_UNGATE] = "ungate",
        [MAAR_WRITE_POD_GROUP_STATUS] = "podgroup-status",
        [MAAR_WRITE_POD_CONDITION] = "pod-condition",
        [MAAR_WRITE_QUEUE_STATUS] = "queue-status",
        [MAAR_WRITE_QUEUE_CREATE] = "queue-create",
        [MAAR_WRITE_EVENT] = "event",
    };
    return (unsigned)kind < MAAR_N_WRITE_KINDS ? names[kind] : "unknown write";
}

/* No text of a write is NULL, whatever its maker leaves out. */
static void clear_texts(struct maar_write *write)
{
    switch (write->kind) {
    case MAAR_WRITE_BIND:
        write->bind.node = "";
        break;
    case MAAR_WRITE_EVICT:
        write->evict.reason = "";
        write->evict.action = "";
        write->evict.beneficiary = "";
        break;
    case MAAR_WRITE_POD_GROUP_STATUS:
        write->pod_group_status.condition = no_condition;
        break;
    case MAAR_WRITE_POD_CONDITION:
        write->pod_condition.condition = no_condition;
        write->pod_condition.nominated_node = "";
        break;
    case MAAR_WRITE_EVENT:
        write->event.type = "";
        write->event.reason = "";
        write->event.message = "";
        write->event.source = "";
        break;
    case MAAR_WRITE_UNGATE:
    case MAAR_WRITE_QUEUE_STATUS:
    case MAAR_WRITE_QUEUE_CREATE:
    case MAAR_N_WRITE_KINDS:
        break;
    }
}

struct maar_write *maar_write_create(enum maar_write_kind kind, const char *ns, const char *name,
                                     const char *uid)
{
    struct maar_arena *arena = maar_arena_create();
    struct maar_write *write = maar_arena_alloc(arena, sizeof *write);
    write->arena = arena;
    write->kind = kind;
    write->ns = maar_arena_strdup(arena, ns ? ns : "");
    write->name = maar_arena_strdup(arena, name ? name : "");
    write->uid = maar_arena_strdup(arena, uid ? uid : "");
    clear_texts(write);
    return write;
}

void maar_write_destroy(struct maar_write *write)
{
    if (write)
        maar_arena_destroy(write->arena);
}
