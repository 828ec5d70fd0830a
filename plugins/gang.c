/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* gang: all or nothing. A job counts as ready only when its minimum of members, the minimum of each
 * role and the minimum of sub-jobs of each subGroupPolicy can run together; a sub-job, when its size
 * can.
 *
 * Best-effort members that still wait count as ready. Minimums of roles are not looked at when they
 * sum up to more than minMember. Jobs that are not ready go before those that are, and so do
 * sub-jobs. A running gang
 * may lose what it has above its minimum and nothing below; the surplus is given up in the order of
 * the candidates. When the session closes, every PodGroup gets the condition Unschedulable (why, in
 * numbers) or Scheduled; a gang that is on its way out gets none.
 *
 * No configuration keys. */

#include <maar/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kubernetes/job_table.h"

/* ---- members and roles ----------------------------------------------------------------------- */

static uint32_t role_n_pipelined(const struct maar_role *role)
{
    return maar_role_n_occupied(role) + role->n[MAAR_TASK_PIPELINED];
}

/* Each role has its minimum, as `count` counts. */
static bool roles_have(const struct maar_job *job, uint32_t (*count)(const struct maar_role *))
{
    if (job->min_available < job->min_task_total)
        return true;
    for (uint32_t i = 0; i < job->n_roles; i++)
        if ((int64_t)count(&job->roles[i]) < job->roles[i].min)
            return false;
    return true;
}

/* ---- sub-jobs -------------------------------------------------------------------------------- */

/* There is enough of each policy's sub-jobs for which `has` holds. */
static bool sub_jobs_have(const struct maar_job *job, bool (*has)(const struct maar_sub_job *))
{
    for (uint32_t p = 0; p < job->n_sub_group_policies; p++) {
        int64_t n = 0;
        for (uint32_t i = 0; i < job->n_sub_jobs; i++)
            n += job->sub_jobs[i]->policy == p && has(job->sub_jobs[i]);
        if (n < job->sub_group_policies[p].min)
            return false;
    }
    return true;
}

static bool exists(const struct maar_sub_job *sub_job)
{
    (void)sub_job;
    return true;
}

static bool is_valid(const struct maar_sub_job *sub_job)
{
    return (int64_t)maar_sub_job_n_valid(sub_job) >= sub_job->min_available;
}

/* ---- votes ----------------------------------------------------------------------------------- */

/* For Volcano a sub-job counts as soon as one of its pods exists. */
static void job_valid(void *self, const struct maar_view *view, const struct maar_job *job,
                      struct maar_validity *ret)
{
    (void)self;
    ret->pass = false;
    if (!roles_have(job, maar_role_n_valid)) {
        ret->reason = "NotEnoughPodsOfTask";
        snprintf(ret->message, sizeof ret->message,
                 "Not enough valid pods of each task for gang-scheduling");
    } else if (!sub_jobs_have(job, view->compatibility ? exists : is_valid)) {
        ret->reason = "NotEnoughPodsOfTask";
        snprintf(ret->message, sizeof ret->message,
                 "Not enough valid subGroups of each task for gang-scheduling");
    } else if ((int64_t)maar_job_n_valid(job) < job->min_available) {
        ret->reason = "NotEnoughPods";
        snprintf(ret->message, sizeof ret->message,
                 "Not enough valid tasks for gang-scheduling, valid: %" PRIu32 ", min: %" PRId32,
                 maar_job_n_valid(job), job->min_available);
    } else {
        ret->pass = true;
    }
}

static bool is_ready(const struct maar_job *job)
{
    return roles_have(job, maar_role_n_occupied) && sub_jobs_have(job, maar_sub_job_is_ready) &&
           maar_job_is_ready(job);
}

static bool job_ready(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    (void)view;
    return is_ready(job);
}

static enum maar_vote job_pipelined(void *self, const struct maar_view *view,
                                    const struct maar_job *job)
{
    (void)self;
    (void)view;
    bool has_all = roles_have(job, role_n_pipelined) &&
                   sub_jobs_have(job, maar_sub_job_is_pipelined) && maar_job_is_pipelined(job);
    return has_all ? MAAR_PERMIT : MAAR_REJECT;
}

static bool sub_job_ready(void *self, const struct maar_view *view, const struct maar_job *job,
                          const struct maar_sub_job *sub_job)
{
    (void)self;
    (void)view;
    (void)job;
    return maar_sub_job_is_ready(sub_job);
}

static enum maar_vote sub_job_pipelined(void *self, const struct maar_view *view,
                                        const struct maar_job *job,
                                        const struct maar_sub_job *sub_job)
{
    (void)self;
    (void)view;
    (void)job;
    return maar_sub_job_is_pipelined(sub_job) ? MAAR_PERMIT : MAAR_REJECT;
}

static bool job_starving(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    (void)view;
    return maar_job_is_starving(job);
}

static int job_order(void *self, const struct maar_view *view, const struct maar_job *l,
                     const struct maar_job *r)
{
    (void)self;
    (void)view;
    return (int)maar_job_is_ready(l) - (int)maar_job_is_ready(r);
}

static int sub_job_order(void *self, const struct maar_view *view, const struct maar_sub_job *l,
                         const struct maar_sub_job *r)
{
    (void)self;
    (void)view;
    return (int)maar_sub_job_is_ready(l) - (int)maar_sub_job_is_ready(r);
}

/* Walks the candidates in order; each job gives up members until it is down to its minimum. */
static enum maar_vote evictable(void *self, const struct maar_view *view,
                                const struct maar_task *evictor,
                                const struct maar_task *const *candidates, size_t n, uint64_t *out)
{
    (void)self;
    (void)view;
    (void)evictor;
    struct maar_job_table table;
    maar_job_table_init(&table, n);
    int64_t *occupied = calloc(n ? n : 1, sizeof *occupied);
    if (!occupied)
        abort();
    for (size_t i = 0; i < n; i++) {
        const struct maar_job *job = candidates[i]->job;
        if (!job || !job->queue)
            continue;
        int is_new;
        size_t at = maar_job_table_index(&table, job, &is_new);
        if (is_new)
            occupied[at] = maar_job_n_ready(job);
        if (occupied[at] > job->min_available) {
            occupied[at]--;
            out[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    free(occupied);
    maar_job_table_fini(&table);
    return MAAR_PERMIT;
}

/* Whole gangs are judged by the action that asks. */
static enum maar_vote unified_evictable(void *self, const struct maar_view *view,
                                        const struct maar_evict_context *context,
                                        const struct maar_task *const *candidates, size_t n,
                                        uint64_t *out)
{
    (void)self;
    (void)view;
    (void)context;
    (void)candidates;
    for (size_t i = 0; i < n; i++)
        out[i / 64] |= UINT64_C(1) << (i % 64);
    return MAAR_PERMIT;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* All that is missing are members on their way out, and nobody waits to take their place. */
static bool is_terminating(const struct maar_job *job)
{
    return job->n_releasing_on_node > 0 && job->n[MAAR_TASK_PENDING] == 0 &&
           job->n[MAAR_TASK_PIPELINED] == 0 &&
           (int64_t)maar_job_n_scheduled(job) + job->n_releasing_on_node >= job->min_available;
}

static void report_unready(const struct maar_view *view, const struct maar_job *job)
{
    char fit_error[4096], message[sizeof fit_error + 128];
    int64_t n_schedulable = view->host->job_n_schedulable(view->session, job);
    int64_t n_missing = job->min_available - (int64_t)maar_job_n_ready(job);
    if (maar_job_is_ready(job))
        n_missing = job->n[MAAR_TASK_PENDING];
    snprintf(message, sizeof message, "%" PRId64 "/%" PRIu32 " tasks in gang unschedulable: %s",
             n_missing - n_schedulable, job->n_tasks,
             view->host->job_fit_error(view->session, job, fit_error, sizeof fit_error));
    view->host->job_condition(view->session, job, "Unschedulable", "NotEnoughResources", message);
}

/* Volcano takes readiness by count alone here; roles are left out here too. */
static bool has_minimum(const struct maar_view *view, const struct maar_job *job)
{
    return maar_job_is_ready(job) &&
           (view->compatibility || sub_jobs_have(job, maar_sub_job_is_ready));
}

static void close_session(void *self, const struct maar_view *view)
{
    (void)self;
    for (uint32_t i = 0; i < view->n_news; i++) {
        const struct maar_job *job = view->news[i];
        if (job->n_tasks == 0)
            continue;
        if (has_minimum(view, job))
            view->host->job_condition(view->session, job, "Scheduled",
                                      "tasks in gang are ready to be scheduled", "");
        else if (!is_terminating(job))
            report_unready(view, job);
    }
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "gang",
    .summary = "Runs a job only when its minimum of members can run together.",
    .close = close_session,
    .gate_subject = MAAR_SUBJECT_JOB,
    .hooks =
        {
            .job_order = job_order,
            .sub_job_order = sub_job_order,
            .job_valid = job_valid,
            .job_ready = job_ready,
            .job_pipelined = job_pipelined,
            .sub_job_ready = sub_job_ready,
            .sub_job_pipelined = sub_job_pipelined,
            .job_starving = job_starving,
            .preemptable = evictable,
            .reclaimable = evictable,
            .unified_evictable = unified_evictable,
        },
};
