/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Queue admission by scheduling gates. A pod that only the gate of its queue holds back may lose it when the queue has
 * room for it, whatever the nodes: then it counts as unschedulable, and nodes may be added for it. From then on the
 * room is its own.
 *
 * A gang whose minimum the queue has no room for keeps its gates: its members would hold room that no one can use.
 * Volcano opens each gate by itself; `compatibility: volcano` does the same. */

#include "place/place.h"

static bool waits_at_queue_gate(const struct maar_task *task)
{
    return task->status == MAAR_TASK_PENDING && task->only_queue_gate && task->asks_queue_gate &&
           !task->gate_opened && !maar_task_entry(task)->fault;
}

static bool has_waiting(const struct maar_job *job)
{
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (waits_at_queue_gate(job->tasks[i]))
            return true;
    return false;
}

/* The members that may lose their gates, those that ask for nothing last. */
struct opening {
    MAAR_VEC(const struct maar_task *) tasks;
    int64_t n_with_room; /* members that wait and find room in the queue, gated or not */
};

/* Asks for one after the other, each on top of those before it. */
static void ask_for_room(struct maar_session *session, const struct maar_job *job,
                         const struct maar_task *const *tasks, size_t n, struct opening *opening)
{
    size_t mark = session->undo.entries.n;
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = tasks[i];
        bool waits = waits_at_queue_gate(task);
        if (maar_task_entry(task)->fault || (task->gated && !waits && !task->gate_opened))
            continue;
        if (maar_vote_queue_room(session, job->queue, task, 1, NULL) == 0) {
            if (waits)
                maar_session_task(session, task)->fit_text = maar_explain_room(session, task);
            continue;
        }
        opening->n_with_room++;
        if (waits)
            maar_vec_push(&opening->tasks, task);
        if (waits || !task->asks_queue_gate)
            maar_vote_on_room_kept(session, task);
    }
    maar_world_rewind(session->world, mark);
}

/* Volcano leaves the gates of pods that ask for nothing closed for ever. */
static void add_best_effort(const struct maar_session *session, const struct maar_job *job,
                            struct opening *opening)
{
    for (uint32_t i = 0; i < job->n_tasks && !session->view.compatibility; i++)
        if (job->tasks[i]->cls->best_effort && waits_at_queue_gate(job->tasks[i]))
            maar_vec_push(&opening->tasks, job->tasks[i]);
}

/* Why the gate stays closed although the queue would have room; NULL when it may be opened. */
static const char *find_obstacle(const struct maar_session *session, const struct maar_job *job,
                                 const struct opening *opening)
{
    int64_t have =
        (int64_t)maar_job_n_ready(job) + job->n[MAAR_TASK_PIPELINED] + job->n_pending_best_effort;
    if (!session->view.compatibility && have + opening->n_with_room < job->min_available)
        return maar_arena_printf(session->arena,
                                 "queue %s has room for %lld of the %lld pods that the gang needs",
                                 job->queue_name, (long long)opening->n_with_room,
                                 (long long)(job->min_available - have));
    return session->n_openable == 0 ? "many gates are being opened, this one comes next" : NULL;
}

void maar_place_open_gates(struct maar_session *session, const struct maar_job *job,
                           const struct maar_task *const *tasks, size_t n)
{
    if (!session->queue_admission || !has_waiting(job))
        return;
    struct opening opening = {0};
    ask_for_room(session, job, tasks, n, &opening);
    add_best_effort(session, job, &opening);
    for (size_t i = 0; i < opening.tasks.n; i++) {
        const struct maar_task *task = opening.tasks.data[i];
        const char *obstacle = find_obstacle(session, job, &opening);
        if (obstacle)
            maar_session_task(session, task)->fit_text = obstacle;
        else
            maar_session_open_gate(session, &maar_task_entry(task)->view);
    }
    maar_vec_fini(&opening.tasks);
}
