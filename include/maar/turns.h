/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TURNS_H
#define MAAR_TURNS_H

/* Queues that take turns in queue order, each with its jobs in job order: the loop that most actions share. Both
 * orders are asked anew at every push and pop, since shares move as jobs are served. */

#include <maar/action.h>
#include <maar/heap.h>

struct maar_turns {
    const struct maar_action_host *host;
    void *session;
    struct maar_heap queues;
    struct maar_heap *jobs; /* [queue slot]; less is NULL for a queue that was not added */
    size_t n_slots;
};

static inline void maar_turns_init(struct maar_turns *turns, const struct maar_action_host *host,
                                   void *session)
{
    const struct maar_view *view = host->view(session);
    turns->host = host;
    turns->session = session;
    turns->n_slots = 0;
    maar_heap_init(&turns->queues, host->queue_less, session);
    for (uint32_t i = 0; i < view->n_queues; i++)
        if (view->queues[i]->slot >= turns->n_slots)
            turns->n_slots = view->queues[i]->slot + 1;
    turns->jobs = (struct maar_heap *)calloc(turns->n_slots + 1, sizeof *turns->jobs);
    if (!turns->jobs)
        abort();
}

static inline void maar_turns_fini(struct maar_turns *turns)
{
    for (size_t i = 0; i < turns->n_slots; i++)
        maar_heap_fini(&turns->jobs[i]);
    free(turns->jobs);
    maar_heap_fini(&turns->queues);
}

/* The queue gets turns; a second call changes nothing. */
static inline void maar_turns_add_queue(struct maar_turns *turns, const struct maar_queue *queue)
{
    struct maar_heap *jobs = &turns->jobs[queue->slot];
    if (jobs->less)
        return;
    maar_heap_init(jobs, turns->host->job_less, turns->session);
    maar_heap_push(&turns->queues, queue);
}

/* The job waits for a turn of its queue. */
static inline void maar_turns_add_job(struct maar_turns *turns, const struct maar_job *job)
{
    maar_turns_add_queue(turns, job->queue);
    maar_heap_push(&turns->jobs[job->queue->slot], job);
}

static inline const struct maar_queue *maar_turns_next_queue(struct maar_turns *turns)
{
    return (const struct maar_queue *)maar_heap_pop(&turns->queues);
}

/* The queue's next job, NULL when it has none left. */
static inline const struct maar_job *maar_turns_next_job(struct maar_turns *turns,
                                                         const struct maar_queue *queue)
{
    return (const struct maar_job *)maar_heap_pop(&turns->jobs[queue->slot]);
}

/* The queue gets another turn. */
static inline void maar_turns_again(struct maar_turns *turns, const struct maar_queue *queue)
{
    maar_heap_push(&turns->queues, queue);
}

#endif
