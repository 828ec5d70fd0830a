/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* backfill: places pods that ask for nothing.
 *
 * Queue by queue, job by job, pod by pod, each drained before the next. A gang whose minimum needs such pods gets all
 * of them that it needs or none, and so does each sub-job. Volcano binds each pod by itself as soon as the job counts as ready, which waiting
 * pods without requests help to make up; `compatibility: volcano` does the same.
 *
 * Configuration key: predicateErrorCacheEnable (bool, true): accepted. */

#include <maar/turns.h>
#include <string.h>

static bool is_eligible(const struct maar_task *task)
{
    return task->status == MAAR_TASK_PENDING && task->cls->best_effort && !task->gated;
}

static bool has_eligible(const struct maar_job *job)
{
    if (job->n_pending_best_effort == 0)
        return false;
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (is_eligible(job->tasks[i]))
            return true;
    return false;
}

/* Eligible tasks in task order; the caller frees. */
static const struct maar_task **sort_tasks(void *session, const struct maar_action_host *host,
                                           const struct maar_job *job, size_t *ret_n)
{
    struct maar_heap heap;
    maar_heap_init(&heap, host->task_less, session);
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (is_eligible(job->tasks[i]))
            maar_heap_push(&heap, job->tasks[i]);
    const struct maar_task **tasks = calloc(heap.n + 1, sizeof *tasks);
    if (!tasks)
        abort();
    *ret_n = heap.n;
    for (size_t i = 0; i < *ret_n; i++)
        tasks[i] = maar_heap_pop(&heap);
    maar_heap_fini(&heap);
    return tasks;
}

static void fill_each(void *session, const struct maar_action_host *host,
                      const struct maar_job *job, const struct maar_task *const *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct maar_statement *statement = host->begin(session);
        host->place(statement, job, NULL, &tasks[i], 1, MAAR_PLACE_BEST_EFFORT);
        if (host->job_ready(session, job))
            host->commit(statement);
        else
            host->keep(statement);
    }
}

/* The tasks of the sub-job, moved to the front of tasks[0..n), in their order. Returns how many. */
static size_t gather(const struct maar_task **tasks, size_t n, const struct maar_sub_job *sub_job)
{
    size_t n_found = 0;
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = tasks[i];
        if (task->sub_job != sub_job)
            continue;
        memmove((void *)(tasks + n_found + 1), (const void *)(tasks + n_found),
                (i - n_found) * sizeof *tasks);
        tasks[n_found++] = task;
    }
    return n_found;
}

/* Sub-job by sub-job, in the order of their first tasks; NULL stands for the whole job. */
static void place_parts(void *session, const struct maar_action_host *host,
                        struct maar_statement *statement, const struct maar_job *job,
                        const struct maar_task **tasks, size_t n)
{
    for (size_t at = 0; at < n;) {
        const struct maar_sub_job *sub_job = tasks[at]->sub_job;
        size_t n_part = gather(tasks + at, n - at, sub_job), mark = host->mark(statement);
        host->place(statement, job, sub_job, tasks + at, n_part, MAAR_PLACE_BEST_EFFORT);
        if (sub_job && !host->sub_job_ready(session, job, sub_job))
            host->rewind(statement, mark);
        at += n_part;
    }
}

static void fill_whole(void *session, const struct maar_action_host *host,
                       const struct maar_job *job, const struct maar_task **tasks, size_t n)
{
    struct maar_statement *statement = host->begin(session);
    place_parts(session, host, statement, job, tasks, n);
    if (host->job_ready(session, job))
        host->commit(statement);
    else
        host->discard(statement);
}

static void fill_job(void *session, const struct maar_action_host *host, const struct maar_job *job)
{
    size_t n;
    const struct maar_task **tasks = sort_tasks(session, host, job, &n);
    if (host->view(session)->compatibility)
        fill_each(session, host, job, tasks, n);
    else
        fill_whole(session, host, job, tasks, n);
    free((void *)tasks);
}

static void execute(void *session, const struct maar_action_host *host,
                    const struct maar_arguments *arguments)
{
    (void)arguments;
    const struct maar_view *view = host->view(session);
    struct maar_turns turns;
    maar_turns_init(&turns, host, session);
    for (uint32_t i = 0; i < view->n_waiting; i++) {
        const struct maar_job *job = view->waiting[i];
        if (!maar_job_is_pending(job) && has_eligible(job) && host->job_valid(session, job))
            maar_turns_add_job(&turns, job);
    }
    const struct maar_queue *queue;
    while ((queue = maar_turns_next_queue(&turns))) {
        const struct maar_job *job;
        while ((job = maar_turns_next_job(&turns, queue)))
            fill_job(session, host, job);
    }
    maar_turns_fini(&turns);
}

static const struct maar_argument arguments[] = {
    {"predicateErrorCacheEnable", MAAR_ARGUMENT_BOOL, "true", NULL, "Accepted for Volcano's sake."},
    {NULL, MAAR_ARGUMENT_BOOL, NULL, NULL, NULL},
};

MAAR_EXPORT const struct maar_action maar_action = {
    MAAR_ACTION_HEADER,
    .name = "backfill",
    .summary = "Places pods that ask for nothing but a pod slot.",
    .arguments = arguments,
    .execute = execute,
};
