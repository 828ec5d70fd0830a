/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* drf: dominant resource fairness. The job that holds the smallest share of the cluster goes first.
 *
 * A job's share is the greatest part that it holds of any dimension of the cluster, pods included.
 * A victim must leave its job, after all victims before it, with a share not below that of the
 * preemptor with its task. Room that is being released for a task counts as held.
 *
 *     enableHierarchy   false   queues take turns by the tree of their annotations
 *                               volcano.sh/hierarchy and volcano.sh/hierarchy-weights: the share of
 *                               a node over its weight, a saturated node last (hierarchy.h) */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <stdlib.h>

#include "hierarchy.h"
#include "kubernetes/job_table.h"

#define SHARE_DELTA 0.000001

struct drf {
    struct drf_tree *tree; /* NULL: flat */
};

/* The session row: which shares of the tree belong to the present state. Undone with it. */
struct state {
    uint64_t stamp;
};

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct drf *drf = calloc(1, sizeof *drf);
    if (!drf)
        abort();
    if (host->argument_enabled(arguments, "enableHierarchy"))
        drf->tree = drf_tree_create();
    *ret_self = drf;
    return 0;
}

static void destroy(void *self)
{
    struct drf *drf = self;
    drf_tree_destroy(drf->tree);
    free(drf);
}

static void next_stamp(const struct drf *drf, const struct maar_view *view)
{
    struct state *state = (void *)view->session_row;
    view->host->touch(view->session, state, sizeof *state);
    state->stamp = drf_tree_next_stamp(drf->tree);
}

static int open_session(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct drf *drf = self;
    if (!drf->tree)
        return 0;
    drf_tree_open(drf->tree, view);
    next_stamp(drf, view);
    return 0;
}

static void on_move(void *self, const struct maar_view *view, const struct maar_task *task)
{
    struct drf *drf = self;
    (void)task;
    if (drf->tree)
        next_stamp(drf, view);
}

static uint64_t stamp_of(const struct maar_view *view)
{
    return ((const struct state *)(const void *)view->session_row)->stamp;
}

static int queue_order(void *self, const struct maar_view *view, const struct maar_queue *l,
                       const struct maar_queue *r)
{
    struct drf *drf = self;
    if (!drf->tree)
        return 0;
    drf_tree_update(drf->tree, view, stamp_of(view));
    double c = drf_tree_compare(drf->tree, l, r);
    return c < 0 ? -1 : c > 0;
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
    if (maar_job_n_allocated(job) + job->n[MAAR_TASK_PIPELINED] == 0)
        return 0;
    int64_t row[MAAR_MAX_DIMS] = {0};
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
    int64_t row[MAAR_MAX_DIMS] = {0};
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

/* Each candidate by itself: would the reclaimer's queue still come first once it has the room? */
static enum maar_vote reclaimable(void *self, const struct maar_view *view,
                                  const struct maar_task *evictor,
                                  const struct maar_task *const *candidates, size_t n,
                                  uint64_t *out)
{
    struct drf *drf = self;
    if (!drf->tree)
        return MAAR_ABSTAIN;
    if (!in_session(evictor->job))
        return MAAR_PERMIT;
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = candidates[i];
        if (!in_session(task->job))
            continue;
        drf_tree_suppose(drf->tree, view, evictor->job, &evictor->cls->request, task->job,
                         &task->cls->request);
        if (drf_tree_compare(drf->tree, evictor->job->queue, task->job->queue) < 0)
            out[i / 64] |= UINT64_C(1) << (i % 64);
    }
    return MAAR_PERMIT;
}

static const char *const reads_queue_annotations[] = {"volcano.sh/hierarchy",
                                                      "volcano.sh/hierarchy-weights", NULL};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "drf",
    .summary = "Serves the job with the smallest dominant share first.",
    .reads_queue_annotations = reads_queue_annotations,
    .session_row_size = sizeof(struct state),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .hooks =
        {
            .job_order = job_order,
            .queue_order = queue_order,
            .preemptable = preemptable,
            .reclaimable = reclaimable,
            .on_allocate = on_move,
            .on_deallocate = on_move,
        },
};
