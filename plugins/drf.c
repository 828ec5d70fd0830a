/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* drf: dominant resource fairness. The job that holds the smallest share of the cluster goes first.
 *
 * A job's share is the greatest part that it holds of any dimension of the cluster, pods included.
 * A victim must leave its job, after all victims before it, with a share not below that of the
 * preemptor with its task. Room that is being released for a task counts as held.
 *
 *     enableHierarchy   false   the hierarchy of queues by annotation is not there yet: accepted
 * with a warning, queues are then flat */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <stdlib.h>

#include "kubernetes/job_table.h"

#define SHARE_DELTA 0.000001

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    if (host->argument_enabled(arguments, "enableHierarchy"))
        host->log(1, "drf: enableHierarchy is not supported yet, queues are treated as flat");
    *ret_self = NULL;
    return 0;
}

/* What the job holds: its ledger row and its Pipelined tasks. row has dims->n entries. */
static void job_held(const struct maar_view *view, const struct maar_job *job, int64_t *row)
{
    for (uint32_t d = 0; d < view->dims->n; d++)
        row[d] = job->allocated[d];
    if (job->n[MAAR_TASK_PIPELINED] == 0)
        return;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task *task = job->tasks[i];
        if (task->status != MAAR_TASK_PIPELINED)
            continue;
        for (uint32_t d = 0; d < task->cls->request.n; d++)
            row[d] += task->cls->request.v[d];
    }
}

static double dominant_share(const struct maar_view *view, const int64_t *row)
{
    double greatest = 0;
    for (uint32_t d = 0; d < view->dims->n; d++) {
        double scale = view->dims->policy_scale[d];
        double total = (double)view->total_allocatable[d] * scale;
        if (total < MAAR_TOLERANCE)
            continue;
        double share = maar_share((double)row[d] * scale, total);
        if (share > greatest)
            greatest = share;
    }
    return greatest;
}

static double job_share(const struct maar_view *view, const struct maar_job *job)
{
    int64_t row[MAAR_MAX_DIMS];
    job_held(view, job, row);
    return dominant_share(view, row);
}

/* Shares are compared exactly. */
static int job_order(void *self, const struct maar_view *view, const struct maar_job *l,
                     const struct maar_job *r)
{
    (void)self;
    double ls = job_share(view, l), rs = job_share(view, r);
    return ls < rs ? -1 : ls > rs;
}

static bool in_session(const struct maar_job *job)
{
    return job && job->queue;
}

static enum maar_vote preemptable(void *self, const struct maar_view *view,
                                  const struct maar_task *evictor,
                                  const struct maar_task *const *candidates, size_t n,
                                  uint64_t *out)
{
    (void)self;
    if (!in_session(evictor->job))
        return MAAR_PERMIT;
    int64_t row[MAAR_MAX_DIMS];
    job_held(view, evictor->job, row);
    for (uint32_t d = 0; d < evictor->cls->request.n; d++)
        row[d] += evictor->cls->request.v[d];
    double ls = dominant_share(view, row);

    size_t n_dims = view->dims->n;
    struct maar_job_table table;
    maar_job_table_init(&table, n);
    int64_t *held = calloc(n * n_dims + 1, sizeof *held);
    if (!held)
        abort();
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = candidates[i];
        if (!in_session(task->job))
            continue;
        int is_new;
        int64_t *rest = held + maar_job_table_index(&table, task->job, &is_new) * n_dims;
        if (is_new)
            job_held(view, task->job, rest);
        /* Taken off for good, also when the task is not chosen. */
        for (uint32_t d = 0; d < task->cls->request.n; d++)
            rest[d] -= task->cls->request.v[d];
        double rs = dominant_share(view, rest);
        double delta = ls - rs;
        if (ls < rs || (delta <= SHARE_DELTA && -delta <= SHARE_DELTA))
            out[i / 64] |= UINT64_C(1) << (i % 64);
    }
    free(held);
    maar_job_table_fini(&table);
    return MAAR_PERMIT;
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "drf",
    .summary = "Serves the job with the smallest dominant share first.",
    .create = create,
    .hooks =
        {
            .job_order = job_order,
            .preemptable = preemptable,
        },
};
