/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Who comes before a job, and whether one of them stands in its way: in queues that keep an order (dequeueStrategy), a
 * job that was refused holds later ones, as maar/turns.h has it. Whether one before would be refused is tried out. */

#include "engine/explain_parts.h"
#include "place/place.h"

#define MAX_TRIED 32u /* jobs before it */

/* ---- lists ---- */

static int compare_jobs(const void *l, const void *r, void *context)
{
    const struct maar_job *a = *(const struct maar_job *const *)l;
    const struct maar_job *b = *(const struct maar_job *const *)r;
    if (a == b)
        return 0;
    return maar_vote_job_less(context, a, b) ? -1 : 1;
}

const struct maar_job **maar_explain_waiting_jobs(struct maar_session *session,
                                                  const struct maar_queue *queue, size_t *ret_n)
{
    const struct maar_job **jobs =
        maar_arena_calloc(session->arena, queue->n_jobs + 1, sizeof *jobs);
    size_t n = 0;
    for (uint32_t i = 0; i < queue->n_jobs; i++)
        if (maar_explain_waits(queue->jobs[i]))
            jobs[n++] = queue->jobs[i];
    qsort_r((void *)jobs, n, sizeof *jobs, compare_jobs, session);
    *ret_n = n;
    return jobs;
}

static void add_name(struct maar_session *session, struct maar_explained_names *names,
                     const char *name)
{
    if (!names->names)
        names->names = maar_arena_calloc(session->arena, MAAR_EXPLAIN_NAMES, sizeof *names->names);
    if (names->n < MAAR_EXPLAIN_NAMES)
        names->names[names->n++] = maar_arena_strdup(session->arena, name);
    names->n_all++;
}

static bool has_waiting(const struct maar_queue *queue)
{
    if (!maar_queue_is_open(queue))
        return false;
    for (uint32_t i = 0; i < queue->n_jobs; i++)
        if (maar_explain_waits(queue->jobs[i]))
            return true;
    return false;
}

static int compare_queues(const void *l, const void *r, void *context)
{
    return maar_vote_compare_queues(context, *(const struct maar_queue *const *)l,
                                    *(const struct maar_queue *const *)r);
}

struct maar_explained_names maar_explain_queues_ahead(struct maar_session *session,
                                                      const struct maar_queue *queue)
{
    const struct maar_world *world = session->world;
    struct maar_explained_names names = {0};
    const struct maar_queue **ahead =
        maar_arena_calloc(session->arena, world->sorted_queues.n + 1, sizeof *ahead);
    size_t n = 0;
    for (size_t i = 0; i < world->sorted_queues.n; i++) {
        const struct maar_queue *other = world->sorted_queues.data[i];
        if (other != queue && has_waiting(other) &&
            maar_vote_compare_queues(session, other, queue) < 0)
            ahead[n++] = other;
    }
    qsort_r((void *)ahead, n, sizeof *ahead, compare_queues, session);
    for (size_t i = 0; i < n; i++)
        add_name(session, &names, ahead[i]->name);
    return names;
}

/* ---- who stands in the way ---- */

static bool is_at_gate(const struct maar_session *session, const struct maar_job *job)
{
    return maar_job_is_pending(job) && maar_explain_has_action(session, "enqueue");
}

/* The gate refuses it; what it lacks is noted with the job. */
static bool is_refused_at_gate(struct maar_session *session, const struct maar_job *job)
{
    if (!job->has_min_resources || maar_vote_job_enqueueable(session, job))
        return false;
    maar_lacking_at_gate(session, job);
    return true;
}

/* It finds no place; likewise. */
static bool is_refused_on_nodes(struct maar_session *session, const struct maar_job *job)
{
    struct maar_validity validity;
    size_t n;
    if (job->n[MAAR_TASK_PENDING] == 0 || !maar_vote_job_valid(session, job, &validity) ||
        maar_vote_job_ready(session, job))
        return false;
    const struct maar_task **tasks = maar_explain_tasks(session, job, &n);
    struct maar_statement *statement = maar_statement_begin(session);
    maar_place_tasks(statement, job, NULL, tasks, n, MAAR_PLACE_UNTIL_READY);
    bool placed = maar_vote_job_ready(session, job) || maar_vote_job_pipelined(session, job);
    maar_statement_discard(statement);
    return !placed;
}

static uint64_t asked_by(const struct maar_session *session, const struct maar_job *job)
{
    uint64_t asked = 0;
    bool whole = is_at_gate(session, job) && job->has_min_resources;
    for (uint32_t d = 0; d < session->world->dims.n; d++) {
        int64_t amount = whole ? maar_resource_get(&job->min_resources, d) : job->pending[d];
        asked |= (uint64_t)(amount > 0) << d;
    }
    return asked;
}

/* The text when the refused job holds this one, else NULL. */
static const char *held_by(const struct maar_explaining *explaining, const struct maar_job *head)
{
    struct maar_session *session = explaining->session;
    const struct maar_queue *queue = explaining->job->queue;
    if (queue->dequeue_strategy == MAAR_DEQUEUE_FIFO)
        return maar_arena_printf(session->arena, "queue %s is fifo: it waits for job %s before it",
                                 queue->name, head->uid);
    uint64_t lacked = maar_session_job(session, head)->lacked & asked_by(session, explaining->job);
    if (!lacked)
        return NULL;
    return maar_arena_printf(
        session->arena,
        "queue %s is fifo-per-resource: it waits for job %s before it, which lacks %s", queue->name,
        head->uid, session->world->dim_names[__builtin_ctzll(lacked)]);
}

void maar_explain_ahead(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_job *job = explaining->job;
    struct maar_explained_group *group = explaining->group;
    bool keeps_order = job->queue->dequeue_strategy != MAAR_DEQUEUE_TRAVERSE &&
                       !session->policy->conf->compatibility_volcano;
    bool at_gate = is_at_gate(session, job);
    size_t n;
    const struct maar_job **jobs = maar_explain_waiting_jobs(session, job->queue, &n);
    group->queues_ahead = maar_explain_queues_ahead(session, job->queue);
    for (size_t i = 0; i < n && jobs[i] != job; i++) {
        const struct maar_job *other = jobs[i];
        add_name(session, &group->jobs_ahead, other->uid);
        if (!keeps_order || explaining->held_text || i >= MAX_TRIED ||
            is_at_gate(session, other) != at_gate)
            continue;
        bool refused =
            at_gate ? is_refused_at_gate(session, other) : is_refused_on_nodes(session, other);
        explaining->held_text = refused ? held_by(explaining, other) : NULL;
        explaining->holder = explaining->held_text ? other : NULL;
    }
}
