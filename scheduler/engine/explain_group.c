/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Which gate holds a PodGroup: they are asked in the order in which a session would, the first that refuses counts. How
 * far its pods would come is found out in any case. */

#include <stdio.h>

#include "engine/explain_parts.h"
#include "host/action_host.h"
#include "place/place.h"

const char *maar_gate_name(enum maar_gate gate)
{
    static const char *const names[MAAR_N_GATES] = {
        "none",  "podGroup", "fault",   "queue", "queueClosed",   "enqueue",
        "valid", "gated",    "action",  "fifo",  "queueOverused", "queueRoom",
        "nodes", "gang",     "release", "turn",
    };
    return gate < MAAR_N_GATES ? names[gate] : "none";
}

bool maar_explain_waits(const struct maar_job *job)
{
    const struct maar_job_entry *entry = maar_job_entry(job);
    if (job->n[MAAR_TASK_PENDING] + job->n[MAAR_TASK_PIPELINED] > 0)
        return true;
    return entry->exists && (maar_job_is_pending(job) || job->phase == MAAR_PHASE_INQUEUE);
}

/* ---- gates ---- */

/* The first gate that refuses keeps its place. */
static void hold(struct maar_explained_group *group, enum maar_gate gate, const char *plugin,
                 const char *text)
{
    if (group->gate != MAAR_GATE_NONE)
        return;
    group->gate = gate;
    group->plugin = plugin;
    group->text = text;
}

/* What keeps it out of every session. */
static bool is_outside(struct maar_explaining *explaining)
{
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_job *job = explaining->job;
    const struct maar_job_entry *entry = maar_job_entry(job);
    struct maar_explained_group *group = explaining->group;
    if (!entry->exists)
        hold(group, MAAR_GATE_POD_GROUP, NULL,
             maar_arena_printf(arena, "PodGroup %s does not exist", job->uid));
    else if (entry->fault)
        hold(group, MAAR_GATE_FAULT, NULL,
             maar_arena_printf(arena, "PodGroup %s: %s", job->uid, entry->fault));
    else if (!job->queue)
        hold(group, MAAR_GATE_QUEUE, NULL,
             maar_arena_printf(arena, "queue %s does not exist", job->queue_name));
    else if (entry->queue->fault)
        hold(group, MAAR_GATE_FAULT, NULL,
             maar_arena_printf(arena, "queue %s: %s", job->queue_name, entry->queue->fault));
    return group->gate != MAAR_GATE_NONE;
}

bool maar_explain_has_action(const struct maar_session *session, const char *name)
{
    for (size_t i = 0; i < session->policy->n_steps; i++)
        if (!strcmp(session->policy->steps[i].action->name, name))
            return true;
    return false;
}

static const char *state_name(const struct maar_queue *queue)
{
    static const char *const names[] = {"Open", "Open", "Closed", "Closing", "Unknown"};
    return names[queue->state <= MAAR_QUEUE_UNKNOWN ? queue->state : MAAR_QUEUE_UNKNOWN];
}

static const char *closed_text(struct maar_session *session, const struct maar_queue *queue)
{
    return maar_arena_printf(session->arena, "queue %s is %s", queue->name, state_name(queue));
}

static void ask_enqueue(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_job *job = explaining->job;
    if (maar_job_is_pending(job) && explaining->held_text)
        hold(explaining->group, MAAR_GATE_FIFO, NULL, explaining->held_text);
    if (!maar_job_is_pending(job) || !maar_explain_has_action(session, "enqueue") ||
        !job->has_min_resources || maar_vote_job_enqueueable(session, job))
        return;
    const char *text = maar_session_job(session, job)->job_text;
    if (maar_queue_is_open(job->queue))
        hold(explaining->group, MAAR_GATE_ENQUEUE, session->refuser,
             text ? text
                  : maar_arena_printf(session->arena, "plugin %s does not admit it",
                                      session->refuser));
    else
        hold(explaining->group, MAAR_GATE_CLOSED, session->refuser,
             closed_text(session, job->queue));
}

static void ask_valid(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_job *job = explaining->job;
    struct maar_validity validity;
    if (maar_vote_job_valid(session, job, &validity))
        return;
    hold(explaining->group, MAAR_GATE_VALID, session->refuser,
         maar_arena_printf(session->arena, "%s (%s)", validity.message,
                           maar_host_missing_text(session, job)));
}

/* Members without gates are too few. */
static void ask_gates(struct maar_explaining *explaining)
{
    const struct maar_job *job = explaining->job;
    struct maar_explained_group *group = explaining->group;
    uint32_t n_faulty = 0;
    const char *fault = NULL, *gates = NULL;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        if (job->tasks[i]->status != MAAR_TASK_PENDING)
            continue;
        group->n_gated += job->tasks[i]->gated;
        gates = gates ? gates : maar_task_entry(job->tasks[i])->gates;
        if (!maar_task_entry(job->tasks[i])->fault)
            continue;
        n_faulty++;
        fault = fault ? fault : maar_task_entry(job->tasks[i])->fault;
    }
    int64_t free = (int64_t)job->n[MAAR_TASK_PENDING] - group->n_gated - n_faulty;
    if (group->n_gated + n_faulty == 0 || (free > 0 && group->have + free >= group->need))
        return;
    if (n_faulty > 0)
        hold(group, MAAR_GATE_FAULT, NULL,
             maar_arena_printf(explaining->session->arena, "%u of its pods cannot be used: %s",
                               n_faulty, fault));
    else
        hold(group, MAAR_GATE_GATED, NULL,
             maar_arena_printf(explaining->session->arena, "%u of its pods %s scheduling gates: %s",
                               group->n_gated, group->n_gated == 1 ? "has" : "have", gates));
}

static void ask_actions(struct maar_explaining *explaining)
{
    const struct maar_job *job = explaining->job;
    bool best_effort =
        job->n[MAAR_TASK_PENDING] > 0 && job->n_pending_best_effort == job->n[MAAR_TASK_PENDING];
    const char *name = best_effort ? "backfill" : "allocate";
    if (!maar_explain_has_action(explaining->session, name))
        hold(explaining->group, MAAR_GATE_ACTION, NULL,
             maar_arena_printf(explaining->session->arena,
                               "scheduler.conf has no action %s in actions", name));
}

static void ask_queue(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_queue *queue = explaining->job->queue;
    if (!maar_vote_queue_overused(session, queue))
        return;
    if (!maar_queue_is_open(queue))
        hold(explaining->group, MAAR_GATE_CLOSED, session->refuser, closed_text(session, queue));
    else
        hold(explaining->group, MAAR_GATE_OVERUSED, session->refuser,
             maar_arena_printf(session->arena, "queue %s holds what it deserves in every dimension",
                               queue->name));
}

/* ---- the whole ---- */

static void fill_facts(struct maar_explaining *explaining)
{
    static const char *const phases[] = {"Pending", "Pending", "Inqueue",
                                         "Running", "Unknown", "Completed"};
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_job *job = explaining->job;
    struct maar_explained_group *group = explaining->group;
    group->name = maar_arena_strdup(arena, job->uid);
    group->phase = phases[job->phase <= MAAR_PHASE_COMPLETED ? job->phase : 0];
    group->queue = maar_arena_strdup(arena, job->queue_name ? job->queue_name : "");
    group->priority = job->priority;
    group->created_ns = job->created_ns;
    group->n_pods = job->n_tasks;
    group->n_waiting = job->n[MAAR_TASK_PENDING] + job->n[MAAR_TASK_PIPELINED];
    group->have = maar_job_n_ready(job);
    group->need = job->min_available;
    group->text = "";
}

/* Limits that the votes named, from here on. */
static void take_limits(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_world *world = session->world;
    struct maar_explained_group *group = explaining->group;
    group->limits = maar_arena_calloc(session->arena, session->limits.n + 1, sizeof *group->limits);
    for (size_t i = 0; i < session->limits.n; i++) {
        const struct maar_limit *limit = &session->limits.data[i];
        double scale = world->dim_scales[limit->dim];
        group->limits[group->n_limits++] = (struct maar_explained_limit){
            limit->queue ? maar_arena_strdup(session->arena, limit->queue->name) : NULL,
            maar_arena_strdup(session->arena, world->dim_names[limit->dim]),
            limit->held / scale,
            limit->asked / scale,
            limit->limit / scale,
            maar_arena_strdup(session->arena, limit->name),
        };
    }
}

void maar_explain_group(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_job *job = explaining->job;
    struct maar_explained_group *group = maar_arena_alloc(session->arena, sizeof *group);
    explaining->group = group;
    fill_facts(explaining);
    if (is_outside(explaining) || !maar_explain_waits(job))
        return;
    maar_explain_ahead(explaining);
    maar_vec_clear(&session->limits);
    ask_enqueue(explaining);
    ask_valid(explaining);
    ask_gates(explaining);
    ask_actions(explaining);
    if (explaining->held_text)
        hold(group, MAAR_GATE_FIFO, NULL, explaining->held_text);
    ask_queue(explaining);
    if (group->gate != MAAR_GATE_NONE)
        take_limits(explaining);
    enum maar_gate gate = group->gate;
    const char *text = group->text, *plugin = group->plugin;
    maar_vec_clear(&session->limits);
    maar_explain_try(explaining);
    if (gate == MAAR_GATE_NONE && !maar_queue_is_open(job->queue) &&
        group->gate == MAAR_GATE_ROOM) {
        group->gate = MAAR_GATE_CLOSED;
        group->text = closed_text(session, job->queue);
    }
    if (gate == MAAR_GATE_NONE) {
        take_limits(explaining);
        return;
    }
    group->gate = gate;
    group->text = text;
    group->plugin = plugin;
}
