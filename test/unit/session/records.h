/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_RECORDS_H
#define MAAR_TEST_RECORDS_H

/* Records made by hand, and a world that takes them: what the tests of model, session, place and engine begin with.
 * Uids are "KIND NAME"; everything was created in the second that it is given, 1 by default. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/world.h"

#define GI       (INT64_C(1) << 30)
#define COUNT(a) (sizeof(a) / sizeof *(a))

static inline struct maar_record *make_record(enum maar_kind kind, const char *ns, const char *name)
{
    struct maar_record *record = maar_record_create(kind);
    record->ns = maar_arena_strdup(record->arena, ns);
    record->name = maar_arena_strdup(record->arena, name);
    record->uid = maar_arena_printf(record->arena, "%s %s", maar_kind_name(kind), name);
    record->created_ns = MAAR_SECOND_NS;
    return record;
}

static inline void set_amount(struct maar_record *record, struct maar_amounts_record *amounts,
                              const char *name, int64_t value)
{
    if (!amounts->items)
        amounts->items = maar_arena_calloc(record->arena, 16, sizeof *amounts->items);
    for (uint32_t i = 0; i < amounts->n; i++) {
        if (!strcmp(amounts->items[i].name, name)) {
            amounts->items[i].value = value;
            return;
        }
    }
    amounts->items[amounts->n++] = (struct maar_amount){name, value};
}

/* Ready, with 110 pods. */
static inline struct maar_record *make_node(const char *name, int64_t cpu_milli, int64_t memory)
{
    struct maar_record *record = make_record(MAAR_KIND_NODE, "", name);
    record->node.ready = true;
    set_amount(record, &record->node.allocatable, "cpu", cpu_milli);
    set_amount(record, &record->node.allocatable, "memory", memory);
    set_amount(record, &record->node.allocatable, "pods", 110);
    return record;
}

/* Open, weight 1. */
static inline struct maar_record *make_queue(const char *name, const char *parent)
{
    struct maar_record *record = make_record(MAAR_KIND_QUEUE, "", name);
    record->queue.weight = 1;
    record->queue.reclaimable = true;
    record->queue.state = MAAR_QUEUE_OPEN;
    record->queue.parent = maar_arena_strdup(record->arena, parent);
    return record;
}

/* In namespace "ns", phase Inqueue. */
static inline struct maar_record *make_group(const char *name, const char *queue, int32_t min)
{
    struct maar_record *record = make_record(MAAR_KIND_POD_GROUP, "ns", name);
    record->pod_group.queue = maar_arena_strdup(record->arena, queue);
    record->pod_group.min_member = min;
    record->pod_group.phase = MAAR_PHASE_INQUEUE;
    return record;
}

static inline void set_role(struct maar_record *group, const char *role, int32_t min)
{
    struct maar_pod_group_record *from = &group->pod_group;
    if (!from->min_task)
        from->min_task = maar_arena_calloc(group->arena, 8, sizeof *from->min_task);
    from->min_task[from->n_min_task++] = (struct maar_role_min){role, min};
}

/* Pending, ours, in namespace "ns"; 0 and 0 make it best effort. */
static inline struct maar_record *make_pod(const char *name, const char *group, int64_t cpu_milli,
                                           int64_t memory)
{
    struct maar_record *record = make_record(MAAR_KIND_POD, "ns", name);
    struct maar_pod_record *pod = &record->pod;
    pod->group = maar_arena_strdup(record->arena, group);
    pod->preemptable = true;
    pod->spec.scheduler_name = "volcano";
    pod->n_containers = 1;
    pod->containers = maar_arena_calloc(record->arena, 1, sizeof *pod->containers);
    if (cpu_milli)
        set_amount(record, &pod->containers[0].requests, "cpu", cpu_milli);
    if (memory)
        set_amount(record, &pod->containers[0].requests, "memory", memory);
    return record;
}

static inline struct maar_record *on_node(struct maar_record *pod, const char *node,
                                          enum maar_pod_phase phase)
{
    pod->pod.node_name = maar_arena_strdup(pod->arena, node);
    pod->pod.phase = phase;
    return pod;
}

static inline void set_labels(struct maar_record *record, uint32_t *n, struct maar_label **labels,
                              const char *key, const char *value)
{
    if (!*labels)
        *labels = maar_arena_calloc(record->arena, 8, sizeof **labels);
    (*labels)[(*n)++] = (struct maar_label){key, value};
}

/* Applies and frees the record; what maar_world_apply says. */
static inline bool take(struct maar_world *world, struct maar_record *record)
{
    bool relevant = maar_world_apply(world, record, false);
    maar_record_destroy(record);
    return relevant;
}

static inline bool take_end(struct maar_world *world, struct maar_record *record)
{
    bool relevant = maar_world_apply(world, record, true);
    maar_record_destroy(record);
    return relevant;
}

static inline struct maar_task_entry *pod_entry(struct maar_world *world, const char *name)
{
    maar_autofree char *uid = maar_asprintf("Pod %s", name);
    struct maar_task_entry *task = maar_world_task(world, uid);
    assert_non_null(task);
    return task;
}

static inline struct maar_task *pod(struct maar_world *world, const char *name)
{
    return &pod_entry(world, name)->view;
}

static inline struct maar_job *job(struct maar_world *world, const char *name)
{
    maar_autofree char *uid = maar_asprintf("ns/%s", name);
    struct maar_job_entry *entry = maar_world_job(world, uid);
    assert_non_null(entry);
    return &entry->view;
}

static inline struct maar_queue *queue(struct maar_world *world, const char *name)
{
    struct maar_queue_entry *entry = maar_world_queue(world, name);
    assert_non_null(entry);
    return &entry->view;
}

static inline int64_t idle(struct maar_world *world, uint32_t dim, const char *node)
{
    uint32_t slot = maar_world_node(world, node);
    assert_int_not_equal(slot, MAAR_NO_NODE);
    return world->nodes.idle[dim][slot];
}

static inline int64_t future_idle(struct maar_world *world, uint32_t dim, const char *node)
{
    return maar_node_future_idle(&world->nodes, dim, maar_world_node(world, node));
}

/* Every sum equals its recount. */
static inline void assert_balanced(const struct maar_world *world)
{
    struct maar_text text = MAAR_TEXT_INIT;
    if (maar_world_check(world, &text) > 0)
        fail_msg("%s", maar_text_get(&text));
    maar_text_fini(&text);
}

#endif
