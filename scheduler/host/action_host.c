/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The table that actions get: votes, statements and placing, with the reasons noted on the way. */

#include "base/clock.h"
#include "base/log.h"
#include "host/action_host.h"
#include "place/place.h"

static const struct maar_view *view(void *context)
{
    struct maar_session *session = context;
    /* Every instance sees the same world; actions have no rows. */
    return &session->view;
}

static bool has_action(void *context, const char *name)
{
    const struct maar_session *session = context;
    for (size_t i = 0; i < session->policy->n_steps; i++)
        if (!strcmp(session->policy->steps[i].action->name, name))
            return true;
    return false;
}

static const char *missing_sub_groups(struct maar_session *session, const struct maar_job *job)
{
    for (uint32_t p = 0; p < job->n_sub_group_policies; p++) {
        const struct maar_sub_group_policy *policy = &job->sub_group_policies[p];
        int64_t n = 0;
        for (uint32_t i = 0; i < job->n_sub_jobs; i++)
            n += job->sub_jobs[i]->policy == p &&
                 (int64_t)maar_sub_job_n_valid(job->sub_jobs[i]) >= policy->size;
        if (n < policy->min)
            return maar_arena_printf(session->arena,
                                     "sub-groups of %s: %lld of min %d have %d pods or more",
                                     policy->name, (long long)n, policy->min, policy->size);
    }
    return NULL;
}

/* What is missing of the gang: the first role by name that is short of its minimum, else sub-groups, else members. */
const char *maar_host_missing_text(struct maar_session *session, const struct maar_job *job)
{
    const struct maar_role *first = NULL;
    for (uint32_t i = 0; job->min_available >= job->min_task_total && i < job->n_roles; i++) {
        const struct maar_role *role = &job->roles[i];
        if ((int64_t)maar_role_n_valid(role) < role->min &&
            (!first || strcmp(role->name, first->name) < 0))
            first = role;
    }
    if (first)
        return maar_arena_printf(session->arena, "role %s: %u of min %d pods exist", first->name,
                                 maar_role_n_valid(first), first->min);
    const char *sub_groups = missing_sub_groups(session, job);
    if (sub_groups)
        return sub_groups;
    return maar_arena_printf(session->arena, "%u of min %d pods exist", maar_job_n_valid(job),
                             job->min_available);
}

static bool job_valid(void *context, const struct maar_job *job)
{
    struct maar_session *session = context;
    struct maar_validity validity;
    if (maar_vote_job_valid(session, job, &validity))
        return true;
    /* Volcano says nothing of it in the conditions. */
    if (!session->policy->conf->compatibility_volcano)
        maar_session_refuse_job(session, job,
                                maar_arena_printf(session->arena, "%s (%s)", validity.message,
                                                  maar_host_missing_text(session, job)));
    return false;
}

static bool job_ready(void *context, const struct maar_job *job)
{
    return maar_vote_placed_ready(context, job, NULL);
}

static bool job_pipelined(void *context, const struct maar_job *job)
{
    return maar_vote_placed_pipelined(context, job, NULL);
}

static bool sub_job_ready(void *context, const struct maar_job *job,
                          const struct maar_sub_job *sub_job)
{
    return maar_vote_placed_ready(context, job, sub_job);
}

static bool sub_job_pipelined(void *context, const struct maar_job *job,
                              const struct maar_sub_job *sub_job)
{
    return maar_vote_placed_pipelined(context, job, sub_job);
}

static bool job_starving(void *context, const struct maar_job *job)
{
    return maar_vote_job_starving(context, job);
}

static bool job_enqueueable(void *context, const struct maar_job *job)
{
    if (maar_memory_holds(context, job, MAAR_REFUSAL_GATE))
        return false;
    if (maar_vote_job_enqueueable(context, job))
        return true;
    maar_lacking_at_gate(context, job);
    maar_memory_note(context, job, MAAR_REFUSAL_GATE);
    return false;
}

static bool queue_overused(void *context, const struct maar_queue *queue)
{
    struct maar_session *session = context;
    if (!maar_vote_queue_overused(session, queue))
        return false;
    if (session->policy->conf->compatibility_volcano)
        return true;
    const char *text = NULL;
    for (uint32_t i = 0; i < queue->n_jobs; i++) {
        const struct maar_job *job = queue->jobs[i];
        /* Who was tried before has reasons of its own. */
        if (job->n[MAAR_TASK_PENDING] == 0 || maar_session_job(session, job)->job_text ||
            maar_job_entry(job)->refusal.session == session->world->session_number ||
            maar_memory_holds(session, job, MAAR_REFUSAL_OVERUSED))
            continue;
        if (!text)
            text = maar_queue_is_open(queue)
                       ? maar_arena_printf(session->arena,
                                           "queue %s holds what it deserves in every dimension",
                                           queue->name)
                       : "queue is not open";
        maar_session_refuse_job(session, job, text);
        maar_memory_note(session, job, MAAR_REFUSAL_OVERUSED);
    }
    return true;
}

static bool queue_preemptive(void *context, const struct maar_queue *queue,
                             const struct maar_task *const *tasks, size_t n)
{
    return maar_vote_queue_preemptive(context, queue, tasks, n);
}

static void enqueue(void *context, const struct maar_job *job)
{
    struct maar_session *session = context;
    maar_vote_job_enqueued(session, job);
    maar_text_replace(&maar_job_entry(job)->event_key, NULL);
    maar_world_set_phase(session->world, &maar_job_entry(job)->view, MAAR_PHASE_INQUEUE);
}

static void admit(void *context, const struct maar_job *job)
{
    struct maar_session *session = context;
    maar_world_set_phase(session->world, &maar_job_entry(job)->view, MAAR_PHASE_INQUEUE);
}

static struct maar_statement *begin(void *context)
{
    return maar_statement_begin(context);
}

static void rewind_to(struct maar_statement *statement, size_t mark)
{
    maar_statement_rewind(statement, mark, false);
}

static int evict(struct maar_statement *statement, const struct maar_task *task, const char *reason)
{
    return maar_statement_evict(statement, &maar_task_entry(task)->view, reason);
}

static void release(struct maar_statement *statement, const struct maar_task *task)
{
    maar_session_release(maar_statement_session(statement), &maar_task_entry(task)->view);
}

static uint64_t lacked(void *context, const struct maar_job *job)
{
    return maar_session_job(context, job)->lacked;
}

static bool was_refused(void *context, const struct maar_job *job)
{
    return maar_memory_holds(context, job, MAAR_REFUSAL_TURN);
}

static void refused(void *context, const struct maar_job *job)
{
    maar_memory_note(context, job, MAAR_REFUSAL_TURN);
}

static void pass_over(void *context, const struct maar_job *job, const char *reason)
{
    struct maar_session *session = context;
    maar_session_refuse_job(session, job, maar_arena_strdup(session->arena, reason));
}

static void open_gates(void *context, const struct maar_job *job,
                       const struct maar_task *const *tasks, size_t n)
{
    maar_place_open_gates(context, job, tasks, n);
}

static const struct maar_action_host action_host = {
    .size = sizeof(struct maar_action_host),
    .host = &maar_session_host,
    .view = view,
    .has_action = has_action,
    .queue_less = maar_vote_queue_less,
    .job_less = maar_vote_job_less,
    .task_less = maar_vote_task_less,
    .sub_job_less = maar_vote_sub_job_less,
    .job_valid = job_valid,
    .job_ready = job_ready,
    .job_pipelined = job_pipelined,
    .sub_job_ready = sub_job_ready,
    .sub_job_pipelined = sub_job_pipelined,
    .job_starving = job_starving,
    .job_enqueueable = job_enqueueable,
    .queue_overused = queue_overused,
    .queue_preemptive = queue_preemptive,
    .enqueue = enqueue,
    .admit = admit,
    .begin = begin,
    .mark = maar_statement_mark,
    .rewind = rewind_to,
    .commit = maar_statement_commit,
    .keep = maar_statement_keep,
    .discard = maar_statement_discard,
    .evict = evict,
    .place = maar_place_tasks,
    .place_harder = maar_place_harder,
    .release = release,
    .lacked = lacked,
    .was_refused = was_refused,
    .refused = refused,
    .pass_over = pass_over,
    .open_gates = open_gates,
};

void maar_host_run_actions(struct maar_session *session)
{
    for (size_t i = 0; i < session->policy->n_steps; i++) {
        struct maar_step *step = &session->policy->steps[i];
        int64_t start_ns = maar_clock_mono_ns();
        session->action = step->action->name;
        step->action->execute(session, &action_host, step->arguments);
        step->took_ns = maar_clock_mono_ns() - start_ns;
        if (session->statement) {
            maar_log_error("action %s left a statement open: it is discarded", step->action->name);
            maar_statement_discard(session->statement);
        }
    }
    session->action = "";
}
