/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* priority: what matters more goes first, and only what matters less may be evicted for it.
 *
 * Jobs are ordered by the value of their priority class, tasks by their own priority, sub-jobs by the
 * greatest of their tasks'. A victim of
 * another job must belong to a job of strictly lower priority, a victim of the same job must be a
 * task of strictly lower priority. Reclaim between queues looks at no priority. A job starves while
 * any of its tasks has no node.
 *
 * No configuration keys. */

#include <maar/plugin.h>

#include <string.h>

static int higher_first(int32_t l, int32_t r)
{
    return l > r ? -1 : l < r;
}

static int job_order(void *self, const struct maar_view *view, const struct maar_job *l,
                     const struct maar_job *r)
{
    (void)self;
    (void)view;
    return higher_first(l->priority, r->priority);
}

static int task_order(void *self, const struct maar_view *view, const struct maar_task *l,
                      const struct maar_task *r)
{
    (void)self;
    (void)view;
    return higher_first(l->priority, r->priority);
}

/* All tasks count, not only the minimum. */
static bool job_starving(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    (void)view;
    return maar_job_n_ready(job) + job->n[MAAR_TASK_PIPELINED] < job->n_tasks;
}

static int sub_job_order(void *self, const struct maar_view *view, const struct maar_sub_job *l,
                         const struct maar_sub_job *r)
{
    (void)self;
    (void)view;
    return higher_first(l->priority, r->priority);
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
    (void)view;
    if (!in_session(evictor->job))
        return MAAR_PERMIT;
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = candidates[i];
        if (!in_session(task->job))
            continue;
        bool lower = task->job == evictor->job ? task->priority < evictor->priority
                                               : task->job->priority < evictor->job->priority;
        if (lower)
            out[i / 64] |= UINT64_C(1) << (i % 64);
    }
    return MAAR_PERMIT;
}

/* Kind gangreclaim takes from any priority. */
static enum maar_vote unified_evictable(void *self, const struct maar_view *view,
                                        const struct maar_evict_context *context,
                                        const struct maar_task *const *candidates, size_t n,
                                        uint64_t *out)
{
    (void)self;
    (void)view;
    bool any = strcmp(context->kind, "gangreclaim") == 0;
    for (size_t i = 0; i < n; i++) {
        const struct maar_job *job = candidates[i]->job;
        if (any || (context->job && in_session(job) && job->priority < context->job->priority))
            out[i / 64] |= UINT64_C(1) << (i % 64);
    }
    return MAAR_PERMIT;
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "priority",
    .summary = "Orders jobs and tasks by priority and protects the higher from the lower.",
    .hooks =
        {
            .job_order = job_order,
            .task_order = task_order,
            .sub_job_order = sub_job_order,
            .job_starving = job_starving,
            .preemptable = preemptable,
            .unified_evictable = unified_evictable,
        },
};
