/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Records and deltas: making and freeing. A record lies in its own arena, so freeing it is one
 * step, and whoever decodes an object needs no clean-up path of its own. */

#include "model/record.h"

#include "model/write.h"

const char *maar_kind_name(enum maar_kind kind)
{
    static const char *const names[MAAR_N_KINDS] = {
        [MAAR_KIND_NODE] = "Node",   [MAAR_KIND_PRIORITY_CLASS] = "PriorityClass",
        [MAAR_KIND_QUEUE] = "Queue", [MAAR_KIND_POD_GROUP] = "PodGroup",
        [MAAR_KIND_POD] = "Pod",     [MAAR_KIND_NAMESPACE] = "Namespace",
    };
    return (unsigned)kind < MAAR_N_KINDS ? names[kind] : "unknown kind";
}

static const struct maar_condition_record no_condition = {"", "", "", "", ""};

static void clear_pod_texts(struct maar_pod_record *pod)
{
    pod->node_name = "";
    pod->nominated_node = "";
    pod->group = "";
    pod->role = "";
    pod->gates = "";
    pod->spec.priority_class = "";
    pod->spec.scheduler_name = "";
    pod->spec.preemption_policy = "";
    pod->scheduled_condition = no_condition;
}

struct maar_record *maar_record_create(enum maar_kind kind)
{
    struct maar_arena *arena = maar_arena_create();
    struct maar_record *record = maar_arena_alloc(arena, sizeof *record);
    record->arena = arena;
    record->kind = kind;
    record->uid = "";
    record->ns = "";
    record->name = "";
    record->resource_version = "";
    record->fault = "";
    record->warning = "";
    switch (kind) {
    case MAAR_KIND_POD:
        clear_pod_texts(&record->pod);
        break;
    case MAAR_KIND_POD_GROUP:
        record->pod_group.queue = "";
        record->pod_group.priority_class = "";
        break;
    case MAAR_KIND_QUEUE:
        record->queue.parent = "";
        break;
    case MAAR_KIND_NODE:
    case MAAR_KIND_PRIORITY_CLASS:
    case MAAR_KIND_NAMESPACE:
    case MAAR_N_KINDS:
        break;
    }
    return record;
}

void maar_record_destroy(struct maar_record *record)
{
    if (record)
        maar_arena_destroy(record->arena);
}

void maar_delta_fini(struct maar_delta *delta)
{
    maar_record_destroy(delta->record);
    maar_write_destroy(delta->write);
    delta->record = NULL;
    delta->write = NULL;
}
