/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TURNS_H
#define MAAR_TURNS_H

/* Queues that take turns in queue order, each with its jobs in job order: the loop that most actions share. Both
 * orders are asked anew at every push and pop, since shares move as jobs are served.
 *
 * dequeueStrategy of a queue: under fifo a job that was refused stands in the way of all that come after it in its
 * queue, under fifo-per-resource of those that ask for something that it lacked. The action says who was refused
 * (maar_turns_refused) and asks before it tries the next (maar_turns_may_try). */

#include <maar/action.h>
#include <maar/heap.h>
#include <stdio.h>
#include <string.h>

/* What stands in the way of a queue's later jobs. */
struct maar_turns_barrier {
    const struct maar_job *head; /* the first that was refused; NULL: nothing does */
    uint64_t dims;               /* that the refused ones lacked */
    const struct maar_job *heads[MAAR_MAX_DIMS]; /* [dim] the first that lacked it */
};

struct maar_turns {
    const struct maar_action_host *host;
    void *session;
    struct maar_heap queues;
    struct maar_heap *jobs; /* [queue slot]; less is NULL for a queue that was not added */
    struct maar_turns_barrier *barriers; /* [queue slot] */
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
    turns->barriers =
        (struct maar_turns_barrier *)calloc(turns->n_slots + 1, sizeof *turns->barriers);
    if (!turns->jobs || !turns->barriers)
        abort();
}

static inline void maar_turns_fini(struct maar_turns *turns)
{
    for (size_t i = 0; i < turns->n_slots; i++)
        maar_heap_fini(&turns->jobs[i]);
    free(turns->jobs);
    free(turns->barriers);
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

/* Volcano has the field dequeueStrategy and does not read it. */
static inline bool maar_turns_has_barriers(const struct maar_turns *turns,
                                           const struct maar_queue *queue)
{
    return queue->dequeue_strategy != MAAR_DEQUEUE_TRAVERSE &&
           !turns->host->view(turns->session)->compatibility;
}

/* The job was refused in this session. */
static inline void maar_turns_refused(struct maar_turns *turns, const struct maar_job *job)
{
    struct maar_turns_barrier *barrier = &turns->barriers[job->queue->slot];
    if (!maar_turns_has_barriers(turns, job->queue))
        return;
    uint64_t more = turns->host->lacked(turns->session, job) & ~barrier->dims;
    barrier->dims |= more;
    for (; more; more &= more - 1)
        barrier->heads[__builtin_ctzll(more)] = job;
    if (!barrier->head)
        barrier->head = job;
}

/* The dimension is named after it: cpu, memory, then the others by name, whatever their numbers. */
static inline bool maar_turns_is_named_before(const struct maar_dims *dims, uint32_t l, uint32_t r)
{
    if (l <= MAAR_DIM_MEMORY || r <= MAAR_DIM_MEMORY)
        return l < r;
    return strcmp(dims->names[l], dims->names[r]) < 0;
}

/* False when a job of the queue that was refused before stands in the way of this one, which asks for the dimensions
 * `asked`; then that is its reason. */
static inline bool maar_turns_may_try(struct maar_turns *turns, const struct maar_job *job,
                                      uint64_t asked)
{
    const struct maar_turns_barrier *barrier = &turns->barriers[job->queue->slot];
    if (!barrier->head || barrier->head == job)
        return true;
    char text[1024];
    if (job->queue->dequeue_strategy == MAAR_DEQUEUE_FIFO) {
        snprintf(text, sizeof text, "queue %s is fifo: it waits for job %s before it",
                 job->queue->name, barrier->head->uid);
        turns->host->pass_over(turns->session, job, text);
        return false;
    }
    const struct maar_dims *dims = turns->host->view(turns->session)->dims;
    uint32_t first = MAAR_NO_DIM;
    for (uint64_t bits = asked & barrier->dims; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (barrier->heads[d] != job &&
            (first == MAAR_NO_DIM || maar_turns_is_named_before(dims, d, first)))
            first = d;
    }
    if (first == MAAR_NO_DIM)
        return true;
    snprintf(text, sizeof text,
             "queue %s is fifo-per-resource: it waits for job %s before it, which lacks %s",
             job->queue->name, barrier->heads[first]->uid, dims->names[first]);
    turns->host->pass_over(turns->session, job, text);
    return false;
}

#endif
