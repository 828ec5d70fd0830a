/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* How many fit of a gang that does not come together, in words: have, need, could place. A sub-job has a text of its
 * own; the job's says then how many of its sub-jobs there is room for. */

#include "place/place.h"

struct maar_gang maar_gang_of(const struct maar_job *job, const struct maar_sub_job *sub_job)
{
    if (sub_job)
        return (struct maar_gang){
            .ready = (int64_t)maar_sub_job_n_ready(sub_job) + sub_job->n_pending_best_effort,
            .hoped = sub_job->n_pending_best_effort,
            .placed = sub_job->n[MAAR_TASK_ALLOCATED],
            .pipelined = sub_job->n[MAAR_TASK_PIPELINED],
            .min = sub_job->min_available,
        };
    return (struct maar_gang){
        .ready = (int64_t)maar_job_n_ready(job) + job->n_pending_best_effort,
        .hoped = job->n_pending_best_effort,
        .placed = job->n[MAAR_TASK_ALLOCATED],
        .pipelined = job->n[MAAR_TASK_PIPELINED],
        .min = job->min_available,
    };
}

static int64_t n_of_role(const struct maar_role *role, bool all)
{
    return (int64_t)maar_role_n_occupied(role) + role->n[MAAR_TASK_PIPELINED] -
           (all ? role->n_pending_best_effort : 0);
}

const char *maar_gang_sub_jobs_text(struct maar_session *session, const struct maar_job *job)
{
    for (uint32_t p = 0; p < job->n_sub_group_policies; p++) {
        int64_t n = 0;
        for (uint32_t i = 0; i < job->n_sub_jobs; i++)
            n += job->sub_jobs[i]->policy == p && maar_sub_job_is_pipelined(job->sub_jobs[i]);
        const struct maar_sub_group_policy *policy = &job->sub_group_policies[p];
        if (n < policy->min)
            return maar_arena_printf(session->arena, "sub-groups of %s: %lld of min %d %s",
                                     policy->name, (long long)n, policy->min,
                                     n == 1 ? "fits" : "fit");
    }
    return NULL;
}

const char *maar_gang_role_text(struct maar_session *session, const struct maar_job *job, bool all)
{
    const struct maar_role *first = NULL;
    for (uint32_t i = 0; i < job->n_roles && job->min_available >= job->min_task_total; i++) {
        const struct maar_role *role = &job->roles[i];
        if (n_of_role(role, all) < role->min && (!first || strcmp(role->name, first->name) < 0))
            first = role;
    }
    if (!first)
        return NULL;
    int64_t n = n_of_role(first, all);
    return maar_arena_printf(session->arena, "role %s: %lld of min %d %s", first->name,
                             (long long)n, first->min, n == 1 ? "fits" : "fit");
}

/* "gang" or the sub-job's name in the job. */
static const char *name_of(struct maar_session *session, const struct maar_job *job,
                           const struct maar_sub_job *sub_job)
{
    if (!sub_job)
        return "gang";
    return maar_arena_printf(session->arena, "sub-group %s", sub_job->uid + strlen(job->uid) + 1);
}

static void set_text(struct maar_session *session, const struct maar_job *job,
                     const struct maar_sub_job *sub_job, const char *text)
{
    if (!sub_job) {
        maar_session_job(session, job)->gang_text = text;
        return;
    }
    maar_session_sub_job(session, sub_job)->gang_text = text;
    maar_session_job(session, job)->gang_text = maar_gang_sub_jobs_text(session, job);
}

/* Of `need` that are missing there is room for n. */
static const char *fit_text(struct maar_session *session, const struct maar_job *job,
                            const struct maar_sub_job *sub_job, int64_t n, int64_t need)
{
    return maar_arena_printf(session->arena, "%s: %lld of %lld %s", name_of(session, job, sub_job),
                             (long long)n, (long long)need, n == 1 ? "fits" : "fit");
}

/* NULL when enough exist. */
static const char *missing_text(struct maar_session *session, const struct maar_sub_job *sub_job)
{
    if ((int64_t)maar_sub_job_n_valid(sub_job) >= sub_job->min_available)
        return NULL;
    return maar_arena_printf(session->arena, "%s: %u of its %d pods exist",
                             name_of(session, sub_job->job, sub_job), maar_sub_job_n_valid(sub_job),
                             sub_job->min_available);
}

const char *maar_gang_sub_job_text(struct maar_session *session, const struct maar_sub_job *sub_job)
{
    const char *missing = missing_text(session, sub_job);
    int64_t n = (int64_t)maar_sub_job_n_ready(sub_job) + sub_job->n[MAAR_TASK_PIPELINED];
    return missing ? missing : fit_text(session, sub_job->job, sub_job, n, sub_job->min_available);
}

static bool is_refused(struct maar_session *session, const struct maar_job *job, bool all)
{
    return all ? !maar_vote_placed_pipelined(session, job, NULL)
               : !maar_vote_job_pipelined(session, job);
}

void maar_gang_note(struct maar_session *session, const struct maar_job *job,
                    const struct maar_sub_job *sub_job, bool all)
{
    struct maar_gang gang = maar_gang_of(job, sub_job);
    int64_t missing = gang.min - gang.ready - gang.pipelined + (all ? gang.hoped : 0);
    int64_t n_placed = gang.placed + gang.pipelined;
    if (session->policy->conf->compatibility_volcano)
        return;
    const char *text = sub_job ? missing_text(session, sub_job) : NULL;
    if (!text && missing > 0 && gang.min > 1)
        text = fit_text(session, job, sub_job, n_placed, missing + n_placed);
    else if (!text && !sub_job && is_refused(session, job, all))
        text = maar_gang_role_text(session, job, all);
    set_text(session, job, sub_job, text);
}

void maar_gang_note_slots(struct maar_session *session, const struct maar_job *job,
                          const struct maar_sub_job *sub_job, uint64_t slots, int64_t need)
{
    set_text(session, job, sub_job,
             maar_arena_printf(session->arena, "%s needs %lld more: %llu of %lld fit",
                               name_of(session, job, sub_job), (long long)need,
                               (unsigned long long)slots, (long long)need));
}
