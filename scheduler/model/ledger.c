/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The one ledger: every sum over tasks is kept here, in the function that gives a task its status and node. Amounts
 * are bounded on entry and added with wrap-around, so that adding and taking out are exact inverses. */

#include "model/parts.h"

static void add(int64_t *sum, int64_t amount)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)amount);
}

static bool counts_allocated(uint8_t status)
{
    return status == MAAR_TASK_ALLOCATED || status == MAAR_TASK_BINDING ||
           status == MAAR_TASK_BOUND || status == MAAR_TASK_RUNNING;
}

static void add_dim(uint64_t *present, uint32_t *n, uint32_t d, int sign)
{
    n[d] += (uint32_t)sign;
    if (n[d] > 0)
        *present |= UINT64_C(1) << d;
    else
        *present &= ~(UINT64_C(1) << d);
}

static void count_allocated(struct maar_job_entry *job, const struct maar_resource *request,
                            int sign)
{
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t amount = sign * request->v[d];
        add(&job->row_allocated[d], amount);
        add_dim(&job->view.allocated_present, job->allocated_n, d, sign);
        struct maar_queue_entry *queue = job->queue;
        if (!queue)
            continue;
        add(&queue->row_allocated[d], amount);
        add_dim(&queue->view.allocated_present, queue->allocated_n, d, sign);
        for (struct maar_queue *up = &queue->view; up; up = up->parent)
            add(&maar_queue_entry(up)->row_subtree[d], amount);
    }
}

static void count_pending(struct maar_job_entry *job, const struct maar_task *task, int sign)
{
    const struct maar_resource *request = &task->cls->request;
    uint64_t unused = 0;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t amount = sign * request->v[d];
        add(&job->row_pending[d], amount);
        add_dim(&unused, job->pending_n, d, sign);
        if (task->gated && !task->only_queue_gate)
            add(&job->row_gated[d], amount);
        if (!job->queue)
            continue;
        add(&job->queue->row_pending[d], amount);
        add_dim(&job->queue->view.pending_present, job->queue->pending_n, d, sign);
    }
}

uint64_t maar_task_state(const struct maar_task_entry *task)
{
    const struct maar_task *view = &task->view;
    uint64_t flags = (uint64_t)view->status | (uint64_t)view->gated << 8 |
                     (uint64_t)view->only_queue_gate << 9 | (uint64_t)view->node << 16;
    uint64_t h = maar_mix(task->hash ^ task->job->hash, flags);
    return maar_mix(h, maar_class_entry(view->cls)->id);
}

static bool may_wait(uint8_t status)
{
    return status == MAAR_TASK_PENDING || status == MAAR_TASK_ALLOCATED ||
           status == MAAR_TASK_PIPELINED;
}

/* What a change of status alone changes. */
static void count_status(struct maar_world *world, struct maar_task_entry *task, int sign)
{
    struct maar_job_entry *job = task->job;
    const struct maar_task *view = &task->view;
    maar_job_add_state(job, sign > 0 ? maar_task_state(task) : -maar_task_state(task));
    maar_job_note_news(world, job);
    if (may_wait(view->status))
        maar_job_note_waiting(world, job);
    job->view.n[view->status] += (uint32_t)sign;
    job->roles.data[view->role_slot].n[view->status] += (uint32_t)sign;
    if (view->sub_job)
        view->sub_job->n[view->status] += (uint32_t)sign;
}

void maar_ledger_count(struct maar_world *world, struct maar_task_entry *task, int sign)
{
    struct maar_job_entry *job = task->job;
    if (!job)
        return;
    uint8_t status = task->view.status;
    struct maar_role *role = &job->roles.data[task->view.role_slot];
    struct maar_sub_job *sub_job = task->view.sub_job;
    count_status(world, task, sign);
    if (status == MAAR_TASK_PENDING) {
        if (task->view.cls->best_effort) {
            job->view.n_pending_best_effort += (uint32_t)sign;
            role->n_pending_best_effort += (uint32_t)sign;
            if (sub_job)
                sub_job->n_pending_best_effort += (uint32_t)sign;
        }
        count_pending(job, &task->view, sign);
    } else if (counts_allocated(status)) {
        count_allocated(job, &task->view.cls->request, sign);
    } else if (status == MAAR_TASK_RELEASING && task->view.node != MAAR_NO_NODE) {
        job->view.n_releasing_on_node += (uint32_t)sign;
    }
}

/* Columns in the order of maar_world.node_columns. */
static void count_node(struct maar_world *world, const struct maar_task *task, int sign)
{
    uint32_t slot = task->node;
    const struct maar_class *cls = task->cls;
    add(&world->node_nonzero_cpu[slot], sign * cls->nonzero_cpu_milli);
    add(&world->node_nonzero_memory[slot], sign * cls->nonzero_memory_bytes);
    bool had_releasing = world->node_columns[3][MAAR_DIM_PODS][slot] > 0;
    for (uint64_t bits = cls->request.present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t amount = sign * cls->request.v[d];
        if (task->status == MAAR_TASK_PIPELINED) {
            add(&world->node_columns[4][d][slot], amount);
            continue;
        }
        add(&world->node_columns[1][d][slot], -amount);
        add(&world->node_columns[2][d][slot], amount);
        add(&world->total_used[d], amount);
        if (task->status == MAAR_TASK_RELEASING)
            add(&world->node_columns[3][d][slot], amount);
    }
    bool has_releasing = world->node_columns[3][MAAR_DIM_PODS][slot] > 0;
    world->nodes.n_releasing += (uint32_t)has_releasing - (uint32_t)had_releasing;
}

static void publish_tasks(struct maar_world *world, uint32_t slot)
{
    struct maar_node_entry *node = world->node_entries.data[slot];
    world->node_tasks[slot] = (struct maar_task *const *)node->tasks.data;
    world->node_n_tasks[slot] = (uint32_t)node->tasks.n;
}

void maar_ledger_link_node(struct maar_world *world, struct maar_task_entry *task, uint32_t at)
{
    uint32_t slot = task->view.node;
    if (slot == MAAR_NO_NODE)
        return;
    struct maar_node_entry *node = world->node_entries.data[slot];
    maar_vec_push(&node->tasks, &task->view);
    task->node_at = (uint32_t)node->tasks.n - 1;
    /* An undo puts it back where it was. */
    for (uint32_t i = task->node_at; at < i; i--) {
        node->tasks.data[i] = node->tasks.data[i - 1];
        maar_task_entry(node->tasks.data[i])->node_at = i;
        node->tasks.data[i - 1] = &task->view;
        task->node_at = i - 1;
    }
    publish_tasks(world, slot);
    count_node(world, &task->view, 1);
    maar_tallies_count(world, task, 1);
    maar_nodes_touch(world, slot, false);
}

void maar_ledger_unlink_node(struct maar_world *world, struct maar_task_entry *task)
{
    uint32_t slot = task->view.node;
    if (slot == MAAR_NO_NODE)
        return;
    struct maar_node_entry *node = world->node_entries.data[slot];
    count_node(world, &task->view, -1);
    maar_tallies_count(world, task, -1);
    maar_vec_remove(&node->tasks, task->node_at);
    for (uint32_t i = task->node_at; i < node->tasks.n; i++)
        maar_task_entry(node->tasks.data[i])->node_at = i;
    publish_tasks(world, slot);
    maar_nodes_touch(world, slot, false);
}

/* Both hold the same amounts for job, queue and node: a binding changes no sum. */
static bool holds_alike(uint8_t l, uint8_t r)
{
    return counts_allocated(l) && counts_allocated(r);
}

/* With `at` the place in the node's list, UINT32_MAX for its end. */
static void move(struct maar_world *world, struct maar_task_entry *task, uint8_t status,
                 uint32_t node, uint32_t at)
{
    world->n_moves++;
    if (node == task->view.node && node != MAAR_NO_NODE && holds_alike(task->view.status, status)) {
        if (task->job)
            count_status(world, task, -1);
        task->view.status = status;
        if (task->job)
            count_status(world, task, 1);
        return;
    }
    maar_ledger_count(world, task, -1);
    maar_ledger_unlink_node(world, task);
    task->view.status = status;
    task->view.node = node;
    maar_ledger_count(world, task, 1);
    maar_ledger_link_node(world, task, at);
}

void maar_world_move(struct maar_world *world, struct maar_task *task, enum maar_task_status status,
                     uint32_t node)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    if (world->undo) {
        struct maar_undo_entry undo = {.kind = MAAR_UNDO_MOVE,
                                       .status = task->status,
                                       .node = task->node,
                                       .node_at = entry->node_at};
        undo.task = task;
        maar_vec_push(&world->undo->entries, undo);
    }
    /* A change of status alone keeps the place in the node's list. */
    move(world, entry, (uint8_t)status, node, node == task->node ? entry->node_at : UINT32_MAX);
}

void maar_world_set_phase(struct maar_world *world, struct maar_job *job, enum maar_phase phase)
{
    if (world->undo) {
        struct maar_undo_entry undo = {.kind = MAAR_UNDO_PHASE, .status = job->phase};
        undo.job = job;
        maar_vec_push(&world->undo->entries, undo);
    }
    maar_job_set_phase(world, maar_job_entry(job), (uint8_t)phase);
}

void maar_world_rewind(struct maar_world *world, size_t mark)
{
    struct maar_undo *undo = world->undo;
    while (undo->entries.n > mark) {
        const struct maar_undo_entry *entry = &undo->entries.data[--undo->entries.n];
        switch (entry->kind) {
        case MAAR_UNDO_MOVE:
            move(world, maar_task_entry(entry->task), entry->status, entry->node, entry->node_at);
            break;
        case MAAR_UNDO_PHASE:
            maar_job_set_phase(world, maar_job_entry(entry->job), entry->status);
            break;
        case MAAR_UNDO_BYTES:
            memcpy(entry->bytes.p, undo->saved.data + entry->bytes.offset, entry->bytes.n);
            undo->saved.n = entry->bytes.offset;
            break;
        }
    }
}
