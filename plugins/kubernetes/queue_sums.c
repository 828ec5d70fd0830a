/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Counting the jobs of a queue. The amounts are those of reservation.h, in whole numbers. */

#include "kubernetes/queue_sums.h"

#include <stdlib.h>
#include <string.h>

#include "kubernetes/reservation.h"

#define N_SUMS 8u

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* All sums empty, with room for all dimensions. */
static void clear(struct maar_queue_sums *sums, uint32_t n_dims)
{
    if (sums->n_dims != n_dims) {
        free(sums->rows);
        sums->rows = allocate((size_t)n_dims * N_SUMS, sizeof *sums->rows);
        sums->n_dims = n_dims;
    } else {
        memset(sums->rows, 0, (size_t)n_dims * N_SUMS * sizeof *sums->rows);
    }
    struct maar_queue_sum *all[N_SUMS] = {&sums->admitted, &sums->waiting,       &sums->running,
                                          &sums->elastic,  &sums->pipelined,     &sums->gated,
                                          &sums->hopeless, &sums->hopeless_gated};
    for (uint32_t i = 0; i < N_SUMS; i++)
        *all[i] = (struct maar_queue_sum){0, sums->rows + (size_t)i * n_dims};
}

/* Wraps around, so that the order of amounts beyond all bounds does not show either. */
static void add(struct maar_queue_sum *sum, uint32_t d, int64_t amount)
{
    sum->v[d] = (int64_t)((uint64_t)sum->v[d] + (uint64_t)amount);
}

/* What is left of the amount, not below zero. */
static int64_t less(int64_t amount, int64_t taken)
{
    int64_t left;
    if (__builtin_sub_overflow(amount, taken, &left))
        return amount > 0 ? INT64_MAX : 0;
    return left > 0 ? left : 0;
}

static uint64_t named_by(const struct maar_resource *min, uint32_t n_dims)
{
    uint64_t all = n_dims < 64 ? (UINT64_C(1) << n_dims) - 1 : UINT64_MAX;
    return (min->present | 3) & all;
}

/* minResources less what is behind gates; with `rest`, first less what pods hold. */
static void add_held(struct maar_queue_sum *sum, const struct maar_job *job, uint32_t n_dims,
                     bool rest)
{
    for (uint64_t bits = named_by(&job->min_resources, n_dims); bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t held = maar_resource_get(&job->min_resources, d);
        held = rest ? less(held, job->allocated[d]) : held;
        add(sum, d, less(held, job->gated[d]));
    }
    sum->present |= job->min_resources.present;
}

static void add_elastic(struct maar_queue_sum *sum, const struct maar_job *job, uint32_t n_dims)
{
    for (uint64_t bits = job->allocated_present | 3; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t min = job->has_min_resources ? maar_resource_get(&job->min_resources, d) : 0;
        if (d >= n_dims || job->allocated[d] <= min)
            continue;
        add(sum, d, less(job->allocated[d], min));
        sum->present |= UINT64_C(1) << d;
    }
}

static void add_pipelined(struct maar_queue_sum *sum, const struct maar_job *job)
{
    for (uint32_t i = 0; job->n[MAAR_TASK_PIPELINED] > 0 && i < job->n_tasks; i++) {
        const struct maar_resource *request = &job->tasks[i]->cls->request;
        if (job->tasks[i]->status != MAAR_TASK_PIPELINED)
            continue;
        for (uint32_t d = 0; d < request->n; d++)
            add(sum, d, request->v[d]);
        sum->present |= request->present;
    }
}

static void add_waiting(struct maar_queue_sums *sums, const struct maar_job *job, bool hopeless)
{
    for (uint32_t d = 0; job->n[MAAR_TASK_PENDING] > 0 && d < sums->n_dims; d++) {
        if (hopeless)
            add(&sums->hopeless, d, job->pending[d]);
        add(hopeless ? &sums->hopeless_gated : &sums->gated, d, job->gated[d]);
    }
}

static void count_job(struct maar_queue_sums *sums, const struct maar_view *view,
                      const struct maar_job *job, struct maar_slots_memo *memo)
{
    bool admitted = job->phase == MAAR_PHASE_INQUEUE;
    bool asks = job->n[MAAR_TASK_PENDING] > 0;
    bool hopeless = !view->compatibility && (asks || (admitted && job->has_min_resources)) &&
                    maar_reservation_is_futile_memo(view, job, memo);
    add_waiting(sums, job, hopeless);
    if (!job->takes_part)
        return;
    add_elastic(&sums->elastic, job, sums->n_dims);
    add_pipelined(&sums->pipelined, job);
    if (!job->has_min_resources)
        return;
    if (maar_reservation_is_running(job)) {
        add_held(&sums->running, job, sums->n_dims, true);
    } else if (admitted && !hopeless) {
        add_held(&sums->admitted, job, sums->n_dims, false);
        add_held(&sums->waiting, job, sums->n_dims, true);
    }
}

static struct maar_queue_sums *find(struct maar_queue_sums_table *table, uint32_t slot)
{
    if (slot >= table->n) {
        uint32_t n = slot + 1 + slot / 2;
        table->queues = realloc(table->queues, n * sizeof *table->queues);
        if (!table->queues)
            abort();
        memset(table->queues + table->n, 0, (n - table->n) * sizeof *table->queues);
        table->n = n;
    }
    return &table->queues[slot];
}

const struct maar_queue_sums *maar_queue_sums(struct maar_queue_sums_table *table,
                                              const struct maar_view *view,
                                              const struct maar_queue *queue)
{
    struct maar_queue_sums *sums = find(table, queue->slot);
    uint64_t state = queue->jobs_state + view->nodes->facts_version;
    if (sums->n_dims == view->dims->n && sums->state == state)
        return sums;
    struct maar_slots_memo memo = {0};
    clear(sums, view->dims->n);
    for (uint32_t i = 0; i < queue->n_jobs; i++)
        count_job(sums, view, queue->jobs[i], &memo);
    sums->state = state;
    return sums;
}

void maar_queue_sums_fini(struct maar_queue_sums_table *table)
{
    for (uint32_t i = 0; i < table->n; i++)
        free(table->queues[i].rows);
    free(table->queues);
    *table = (struct maar_queue_sums_table){0};
}
