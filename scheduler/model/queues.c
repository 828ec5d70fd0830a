/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Queues: a tree with a ledger row each. An entry exists from its first mention, so that the sums are right the
 * moment the object arrives. */

#include "model/parts.h"

void maar_queue_publish(struct maar_queue_entry *queue)
{
    struct maar_queue *view = &queue->view;
    view->allocated = queue->row_allocated;
    view->allocated_subtree = queue->row_subtree;
    view->pending = queue->row_pending;
    view->jobs = (struct maar_job *const *)queue->jobs.data;
    view->n_jobs = (uint32_t)queue->jobs.n;
    view->children = (struct maar_queue *const *)queue->children.data;
    view->n_children = (uint32_t)queue->children.n;
}

struct maar_queue_entry *maar_world_queue_get(struct maar_world *world, const char *name)
{
    struct maar_queue_entry *queue = maar_map_find(world->queues_by_name, name);
    if (queue)
        return queue;
    queue = maar_calloc(1, sizeof *queue);
    queue->view.name = maar_world_intern(world, name);
    queue->view.weight = 1;
    queue->view.reclaimable = true;
    queue->row_allocated = maar_calloc(world->row_width, sizeof(int64_t));
    queue->row_subtree = maar_calloc(world->row_width, sizeof(int64_t));
    queue->row_pending = maar_calloc(world->row_width, sizeof(int64_t));
    queue->allocated_n = maar_calloc(world->row_width, sizeof(uint32_t));
    queue->pending_n = maar_calloc(world->row_width, sizeof(uint32_t));
    queue->view.slot = (uint32_t)world->queue_slots.n;
    maar_vec_push(&world->queue_slots, queue);
    maar_map_set(world->queues_by_name, name, queue);
    maar_queue_publish(queue);
    return queue;
}

void maar_queue_destroy(struct maar_world *world, struct maar_queue_entry *queue)
{
    maar_world_unintern(world, queue->view.name);
    maar_world_set_labels(world, &queue->view.annotations, &queue->view.n_annotations, NULL, 0);
    free(queue->view.capability.v);
    free(queue->view.deserved.v);
    free(queue->view.guarantee.v);
    free(queue->written_allocated.v);
    free(queue->row_allocated);
    free(queue->row_subtree);
    free(queue->row_pending);
    free(queue->allocated_n);
    free(queue->pending_n);
    free(queue->uid);
    free(queue->parent_name);
    free(queue->fault);
    free(queue->warning);
    maar_vec_fini(&queue->children);
    maar_vec_fini(&queue->jobs);
    maar_vec_fini(&queue->published);
    free(queue);
}

/* ---- sums ---- */

static void set_present(uint64_t *present, const uint32_t *n, uint32_t n_dims)
{
    *present = 0;
    for (uint32_t d = 0; d < n_dims; d++)
        if (n[d] > 0)
            *present |= UINT64_C(1) << d;
}

void maar_queue_count_job(struct maar_queue_entry *queue, const struct maar_job_entry *job,
                          uint32_t n_dims, int sign)
{
    for (uint32_t d = 0; d < n_dims; d++) {
        queue->row_allocated[d] += sign * job->row_allocated[d];
        queue->row_pending[d] += sign * job->row_pending[d];
        queue->allocated_n[d] += (uint32_t)sign * job->allocated_n[d];
        queue->pending_n[d] += (uint32_t)sign * job->pending_n[d];
        for (struct maar_queue *up = &queue->view; up; up = up->parent)
            maar_queue_entry(up)->row_subtree[d] += sign * job->row_allocated[d];
    }
    queue->n_bind_failed += (uint32_t)sign * job->n_bind_failed;
    queue->view.jobs_state += sign > 0 ? job->state : -job->state;
    set_present(&queue->view.allocated_present, queue->allocated_n, n_dims);
    set_present(&queue->view.pending_present, queue->pending_n, n_dims);
}

void maar_queue_add_job(struct maar_world *world, struct maar_queue_entry *queue,
                        struct maar_job_entry *job)
{
    job->queue = queue;
    job->queue_at = (uint32_t)queue->jobs.n;
    job->view.queue = queue->exists ? &queue->view : NULL;
    maar_vec_push(&queue->jobs, &job->view);
    maar_queue_publish(queue);
    maar_queue_count_job(queue, job, world->dims.n, 1);
    world->jobs_stale = true;
}

void maar_queue_remove_job(struct maar_world *world, struct maar_job_entry *job)
{
    struct maar_queue_entry *queue = job->queue;
    if (!queue)
        return;
    maar_queue_count_job(queue, job, world->dims.n, -1);
    struct maar_job *last = queue->jobs.data[queue->jobs.n - 1];
    queue->jobs.data[job->queue_at] = last;
    maar_job_entry(last)->queue_at = job->queue_at;
    queue->jobs.n--;
    maar_queue_publish(queue);
    job->queue = NULL;
    job->view.queue = NULL;
    world->jobs_stale = true;
}

/* ---- the tree ---- */

/* A cycle leaves all its members without parent. */
static bool in_cycle(const struct maar_world *world, const struct maar_queue_entry *queue)
{
    const struct maar_queue_entry *at = queue;
    for (size_t steps = 0; steps <= world->queue_slots.n; steps++) {
        if (!at->parent_name)
            return false;
        at = maar_map_find(world->queues_by_name, at->parent_name);
        if (!at || !at->exists)
            return false;
        if (at == queue)
            return true;
    }
    return true;
}

static void rebuild_tree(struct maar_world *world)
{
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        struct maar_queue_entry *queue = world->queue_slots.data[i];
        queue->view.parent = NULL;
        maar_vec_clear(&queue->children);
        memset(queue->row_subtree, 0, world->row_width * sizeof(int64_t));
    }
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        struct maar_queue_entry *queue = world->queue_slots.data[i];
        if (!queue->exists || !queue->parent_name)
            continue;
        struct maar_queue_entry *parent = maar_map_find(world->queues_by_name, queue->parent_name);
        if (!parent || !parent->exists || in_cycle(world, queue))
            continue;
        queue->view.parent = &parent->view;
        maar_vec_push(&parent->children, &queue->view);
    }
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        struct maar_queue_entry *queue = world->queue_slots.data[i];
        for (struct maar_queue *up = &queue->view; up; up = up->parent)
            for (uint32_t d = 0; d < world->dims.n; d++)
                maar_queue_entry(up)->row_subtree[d] += queue->row_allocated[d];
        maar_queue_publish(queue);
    }
    world->queues_stale = true;
}

/* ---- records ---- */

static void set_exists(struct maar_world *world, struct maar_queue_entry *queue, bool exists)
{
    queue->exists = exists;
    for (size_t i = 0; i < queue->jobs.n; i++) {
        struct maar_job *job = queue->jobs.data[i];
        job->queue = exists ? &queue->view : NULL;
        maar_job_note_news(world, maar_job_entry(job));
    }
    world->jobs_stale = true;
    world->queues_stale = true;
}

/* root is its own root; an empty parent means root. */
static const char *effective_parent(const struct maar_record *record)
{
    if (!strcmp(record->name, "root"))
        return NULL;
    return *record->queue.parent ? record->queue.parent : "root";
}

static bool set_plain(struct maar_queue *view, const struct maar_record *record)
{
    const struct maar_queue_record *from = &record->queue;
    int32_t weight = from->weight > 0 ? from->weight : 1;
    bool changed = view->weight != weight || view->priority != from->priority ||
                   view->reclaimable != from->reclaimable || view->state != from->state ||
                   view->dequeue_strategy != from->dequeue_strategy ||
                   view->created_ns != record->created_ns;
    view->weight = weight;
    view->priority = from->priority;
    view->reclaimable = from->reclaimable;
    view->state = (uint8_t)from->state;
    view->dequeue_strategy = (uint8_t)from->dequeue_strategy;
    view->created_ns = record->created_ns;
    return changed;
}

bool maar_queues_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    struct maar_queue_entry *queue = maar_map_find(world->queues_by_name, record->name);
    if (deleted) {
        if (!queue || !queue->exists)
            return false;
        set_exists(world, queue, false);
        queue->create_requested = false;
        rebuild_tree(world);
        world->queues_version++;
        return true;
    }
    queue = maar_world_queue_get(world, record->name);
    bool added = !queue->exists;
    bool changed = added;
    maar_text_replace(&queue->uid, record->uid);
    changed |= maar_text_replace(&queue->fault, record->fault);
    changed |= maar_text_replace(&queue->warning, record->warning);
    changed |= set_plain(&queue->view, record);
    changed |= maar_resource_set(world, &queue->view.capability, &record->queue.capability);
    changed |= maar_resource_set(world, &queue->view.deserved, &record->queue.deserved);
    changed |= maar_resource_set(world, &queue->view.guarantee, &record->queue.guarantee);
    changed |= maar_world_set_labels(world, &queue->view.annotations, &queue->view.n_annotations,
                                     record->queue.annotations, record->queue.n_annotations);
    maar_resource_set(world, &queue->written_allocated, &record->queue.allocated);
    bool moved = maar_text_replace(&queue->parent_name, effective_parent(record));
    if (added)
        set_exists(world, queue, true);
    if (added || moved)
        rebuild_tree(world);
    if (changed)
        world->queues_stale = world->jobs_stale = true;
    if (changed || moved)
        world->queues_version++;
    /* With a fault that came or went they leave or enter sessions. */
    for (size_t i = 0; changed && i < queue->jobs.n; i++)
        maar_world_job_changed(world, maar_job_entry(queue->jobs.data[i]));
    return changed || moved;
}
