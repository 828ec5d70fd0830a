/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The ledger against a recount from the tasks, and a hash over all that a session may change. */

#include "base/bitset.h"
#include "model/parts.h"

struct recount {
    const struct maar_world *world;
    struct maar_text *out;
    size_t n;
};

static void expect(struct recount *recount, const char *what, const char *name, const char *dim,
                   int64_t have, int64_t want)
{
    if (have == want)
        return;
    recount->n++;
    maar_text_addf(recount->out, "%s of %s%s%s: ledger %lld, recount %lld\n", what, name,
                   *dim ? ", " : "", dim, (long long)have, (long long)want);
}

static int64_t amount(const struct maar_task *task, uint32_t d)
{
    return maar_resource_get(&task->cls->request, d);
}

static void check_node(struct recount *recount, uint32_t slot)
{
    const struct maar_world *world = recount->world;
    const struct maar_node_entry *node = world->node_entries.data[slot];
    const char *name = world->node_facts[slot].name;
    int64_t cpu = 0, memory = 0;
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t used = 0, releasing = 0, pipelined = 0;
        for (size_t i = 0; i < node->tasks.n; i++) {
            const struct maar_task *task = node->tasks.data[i];
            if (task->status == MAAR_TASK_PIPELINED)
                pipelined += amount(task, d);
            else
                used += amount(task, d);
            if (task->status == MAAR_TASK_RELEASING)
                releasing += amount(task, d);
        }
        const char *dim = world->dim_names[d];
        expect(recount, "used", name, dim, world->node_columns[2][d][slot], used);
        expect(recount, "releasing", name, dim, world->node_columns[3][d][slot], releasing);
        expect(recount, "pipelined", name, dim, world->node_columns[4][d][slot], pipelined);
        expect(recount, "idle", name, dim, world->node_columns[1][d][slot],
               world->node_columns[0][d][slot] - used);
    }
    for (size_t i = 0; i < node->tasks.n; i++) {
        const struct maar_task *task = node->tasks.data[i];
        cpu += task->cls->nonzero_cpu_milli;
        memory += task->cls->nonzero_memory_bytes;
        expect(recount, "node", task->name, "", task->node, slot);
        expect(recount, "place on node", task->name, "", maar_task_entry(task)->node_at,
               (int64_t)i);
    }
    expect(recount, "nonzero cpu", name, "", world->node_nonzero_cpu[slot], cpu);
    expect(recount, "nonzero memory", name, "", world->node_nonzero_memory[slot], memory);
}

static bool is_allocated(const struct maar_task *task)
{
    return task->status == MAAR_TASK_ALLOCATED || task->status == MAAR_TASK_BINDING ||
           task->status == MAAR_TASK_BOUND || task->status == MAAR_TASK_RUNNING;
}

static void check_sub_job(struct recount *recount, const struct maar_sub_job *sub_job)
{
    uint32_t n[MAAR_N_TASK_STATUSES] = {0};
    uint32_t best_effort = 0;
    for (uint32_t i = 0; i < sub_job->n_tasks; i++) {
        const struct maar_task *task = sub_job->tasks[i];
        n[task->status]++;
        best_effort += task->status == MAAR_TASK_PENDING && task->cls->best_effort;
        expect(recount, "sub-job", task->name, "", task->sub_job == sub_job, 1);
        expect(recount, "place in sub-job", task->name, "", maar_task_entry(task)->sub_job_at, i);
    }
    for (uint32_t s = 0; s < MAAR_N_TASK_STATUSES; s++)
        expect(recount, "status count", sub_job->uid, "", sub_job->n[s], n[s]);
    expect(recount, "pending best effort", sub_job->uid, "", sub_job->n_pending_best_effort,
           best_effort);
}

static void check_sub_jobs(struct recount *recount, const struct maar_job *job)
{
    uint32_t n_tasks = 0;
    for (uint32_t i = 0; i < job->n_sub_jobs; i++) {
        n_tasks += job->sub_jobs[i]->n_tasks;
        check_sub_job(recount, job->sub_jobs[i]);
    }
    expect(recount, "tasks in sub-jobs", job->uid, "", n_tasks,
           job->n_sub_group_policies > 0 ? job->n_tasks : 0);
}

static void check_job(struct recount *recount, const struct maar_job_entry *job)
{
    const struct maar_world *world = recount->world;
    uint32_t n[MAAR_N_TASK_STATUSES] = {0};
    uint32_t best_effort = 0, releasing = 0;
    for (size_t i = 0; i < job->tasks.n; i++) {
        const struct maar_task *task = job->tasks.data[i];
        n[task->status]++;
        best_effort += task->status == MAAR_TASK_PENDING && task->cls->best_effort;
        releasing += task->status == MAAR_TASK_RELEASING && task->node != MAAR_NO_NODE;
    }
    for (uint32_t s = 0; s < MAAR_N_TASK_STATUSES; s++)
        expect(recount, "status count", job->view.uid, "", job->view.n[s], n[s]);
    expect(recount, "pending best effort", job->view.uid, "", job->view.n_pending_best_effort,
           best_effort);
    expect(recount, "releasing", job->view.uid, "", job->view.n_releasing_on_node, releasing);
    check_sub_jobs(recount, &job->view);
    for (uint32_t r = 0; r < job->roles.n; r++) {
        for (uint32_t s = 0; s < MAAR_N_TASK_STATUSES; s++) {
            uint32_t count = 0;
            for (size_t i = 0; i < job->tasks.n; i++)
                count += job->tasks.data[i]->role_slot == r && job->tasks.data[i]->status == s;
            expect(recount, "role count", job->view.uid, job->roles.data[r].name,
                   job->roles.data[r].n[s], count);
        }
        uint32_t waiting = 0;
        for (size_t i = 0; i < job->tasks.n; i++)
            waiting += job->tasks.data[i]->role_slot == r &&
                       job->tasks.data[i]->status == MAAR_TASK_PENDING &&
                       job->tasks.data[i]->cls->best_effort;
        expect(recount, "pending best effort of role", job->view.uid, job->roles.data[r].name,
               job->roles.data[r].n_pending_best_effort, waiting);
    }
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t allocated = 0, pending = 0, gated = 0;
        for (size_t i = 0; i < job->tasks.n; i++) {
            const struct maar_task *task = job->tasks.data[i];
            if (is_allocated(task))
                allocated += amount(task, d);
            if (task->status != MAAR_TASK_PENDING)
                continue;
            pending += amount(task, d);
            if (task->gated && !task->only_queue_gate)
                gated += amount(task, d);
        }
        expect(recount, "allocated", job->view.uid, world->dim_names[d], job->row_allocated[d],
               allocated);
        expect(recount, "pending", job->view.uid, world->dim_names[d], job->row_pending[d],
               pending);
        expect(recount, "gated", job->view.uid, world->dim_names[d], job->row_gated[d], gated);
    }
}

/* The sums that tell whether anything about jobs changed. */
static void check_states(struct recount *recount, const struct maar_queue_entry *queue)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < queue->jobs.n; i++) {
        const struct maar_job_entry *job = maar_job_entry(queue->jobs.data[i]);
        uint64_t own = maar_job_own_state(job);
        for (size_t k = 0; k < job->tasks.n; k++)
            own += maar_task_state(maar_task_entry(job->tasks.data[k]));
        expect(recount, "state", job->view.uid, "", (int64_t)job->state, (int64_t)own);
        sum += own;
    }
    expect(recount, "state of the jobs", queue->view.name, "", (int64_t)queue->view.jobs_state,
           (int64_t)sum);
}

/* Every job that waits is listed. */
static void check_listed(struct recount *recount, const struct maar_job_entry *job)
{
    const struct maar_job *view = &job->view;
    bool waits = (job->exists && maar_job_is_pending(view)) || view->n[MAAR_TASK_PENDING] > 0 ||
                 view->n[MAAR_TASK_ALLOCATED] > 0 || view->n[MAAR_TASK_PIPELINED] > 0;
    bool listed = job->is_listed && recount->world->listed.data[job->listed_at] == job;
    expect(recount, "listing", view->uid, "", listed || !waits, true);
}

static void check_queue(struct recount *recount, const struct maar_queue_entry *queue)
{
    const struct maar_world *world = recount->world;
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t allocated = 0, pending = 0;
        for (size_t i = 0; i < queue->jobs.n; i++) {
            allocated += queue->jobs.data[i]->allocated[d];
            pending += queue->jobs.data[i]->pending[d];
        }
        int64_t subtree = queue->row_allocated[d];
        for (size_t i = 0; i < queue->children.n; i++)
            subtree += queue->children.data[i]->allocated_subtree[d];
        const char *dim = world->dim_names[d];
        expect(recount, "allocated", queue->view.name, dim, queue->row_allocated[d], allocated);
        expect(recount, "pending", queue->view.name, dim, queue->row_pending[d], pending);
        expect(recount, "allocated with descendants", queue->view.name, dim, queue->row_subtree[d],
               subtree);
    }
}

static void check_totals(struct recount *recount)
{
    const struct maar_world *world = recount->world;
    uint32_t releasing = 0;
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t allocatable = 0, used = 0;
        for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
            if (!maar_bit_get(world->node_live, slot))
                continue;
            allocatable += world->node_columns[0][d][slot];
            used += world->node_columns[2][d][slot];
            if (d == MAAR_DIM_PODS && world->node_columns[3][d][slot] > 0)
                releasing++;
        }
        expect(recount, "allocatable", "the cluster", world->dim_names[d],
               world->total_allocatable[d], allocatable);
        expect(recount, "used", "the cluster", world->dim_names[d], world->total_used[d], used);
    }
    expect(recount, "nodes with releasing pods", "the cluster", "", world->nodes.n_releasing,
           releasing);
}

size_t maar_world_check(const struct maar_world *world, struct maar_text *out)
{
    struct recount recount = {world, out, 0};
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++)
        if (maar_bit_get(world->node_live, slot))
            check_node(&recount, slot);
    for (size_t i = 0; i < world->job_slots.n; i++)
        if (world->job_slots.data[i]) {
            check_job(&recount, world->job_slots.data[i]);
            check_listed(&recount, world->job_slots.data[i]);
        }
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        check_queue(&recount, world->queue_slots.data[i]);
        check_states(&recount, world->queue_slots.data[i]);
    }
    check_totals(&recount);
    return recount.n + maar_images_check(world, out) + maar_tallies_check(world, out);
}

static uint64_t hash_job(const struct maar_world *world, const struct maar_job_entry *job,
                         uint64_t h)
{
    size_t row = world->dims.n * sizeof(int64_t);
    h = maar_hash_bytes(job->view.n, sizeof job->view.n, h);
    h = maar_hash_bytes(&job->view.phase, 1, h);
    h = maar_hash_bytes(job->row_allocated, row, h);
    h = maar_hash_bytes(job->row_pending, row, h);
    h = maar_hash_bytes(job->row_gated, row, h);
    for (size_t i = 0; i < job->roles.n; i++)
        h = maar_hash_bytes(job->roles.data[i].n, sizeof job->roles.data[i].n, h);
    for (size_t i = 0; i < job->sub_jobs.n; i++)
        h = maar_hash_bytes(job->sub_jobs.data[i]->n, sizeof job->sub_jobs.data[i]->n, h);
    for (size_t i = 0; i < job->tasks.n; i++) {
        h = maar_hash_bytes(&job->tasks.data[i]->status, 1, h);
        h = maar_hash_bytes(&job->tasks.data[i]->node, sizeof(uint32_t), h);
    }
    return h;
}

uint64_t maar_world_hash(const struct maar_world *world)
{
    uint64_t h = 0;
    size_t row = world->dims.n * sizeof(int64_t);
    for (uint32_t c = 1; c < 5; c++)
        for (uint32_t d = 0; d < world->dims.n; d++)
            h = maar_hash_bytes(world->node_columns[c][d], world->nodes.n_slots * sizeof(int64_t),
                                h);
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++)
        h = maar_hash_bytes(world->node_tasks[slot], world->node_n_tasks[slot] * sizeof(void *), h);
    h = maar_hash_bytes(world->total_used, row, h);
    for (size_t i = 0; i < world->job_slots.n; i++)
        if (world->job_slots.data[i])
            h = hash_job(world, world->job_slots.data[i], h);
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        h = maar_hash_bytes(world->queue_slots.data[i]->row_allocated, row, h);
        h = maar_hash_bytes(world->queue_slots.data[i]->row_subtree, row, h);
        h = maar_hash_bytes(world->queue_slots.data[i]->row_pending, row, h);
        h = maar_hash_bytes(&world->queue_slots.data[i]->view.jobs_state, sizeof(uint64_t), h);
    }
    return h;
}
