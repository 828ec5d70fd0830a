/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CAPACITY_H
#define MAAR_CAPACITY_H

/* What the files of plugin capacity share: the accounts of queues and the questions about them. A
 * queue is asked about together with the queues above it, from itself to root; without
 * enableHierarchy nothing is above a queue. */

#include <maar/amounts.h>
#include <maar/plugin.h>

#include "kubernetes/queue_sums.h"

#define MAAR_CAPACITY_TEXT_BYTES 256

/* The instance. */
struct maar_capacity {
    bool hierarchy;
    int64_t reclaim_levels;
    char complaint[MAAR_CAPACITY_TEXT_BYTES]; /* the last one that went to the log */
    struct maar_queue_sums_table sums;
};

/* Ledger units; follows the events, so Pipelined tasks count as well. */
struct maar_capacity_ledger {
    uint64_t present; /* dimensions that some task named */
    int64_t allocated[MAAR_MAX_DIMS];
    int64_t promised[MAAR_MAX_DIMS]; /* guarantees of the queues right below that they do not use */
};

/* The queue row. */
struct maar_capacity_account {
    bool known;       /* opened in this session */
    bool linked;      /* part of the tree below root */
    uint32_t n_above; /* queues above, root included */
    double opening_share;
    struct maar_capacity_ledger held; /* with everything below */
    struct maar_amounts deserved;
    struct maar_amounts capability; /* with what it inherits from above */
    /* What it may ever hold: capability, and what the guarantees of its siblings leave. By
     * default a scalar that is missing here (no node offers it) has no limit; under
     * compatibility it is 0. */
    struct maar_amounts limit;
    struct maar_amounts inqueue; /* with everything below */
    struct maar_amounts elastic; /* with everything below */
    /* Room kept for tasks whose gate was or is being opened, with everything below (under
     * compatibility this queue's own). */
    int64_t kept[MAAR_MAX_DIMS];
};

/* The session row. */
struct maar_capacity_session {
    bool ready; /* false: the tree is broken and compatibility asks to refuse everything */
    char fault[MAAR_CAPACITY_TEXT_BYTES];
    struct maar_capacity_ledger cluster; /* over all queues; without enableHierarchy only */
};

static inline struct maar_capacity_account *maar_capacity_account(const struct maar_view *view,
                                                                  const struct maar_queue *queue)
{
    return (struct maar_capacity_account *)(void *)view->queue_rows + queue->slot;
}

static inline struct maar_capacity_session *maar_capacity_session(const struct maar_view *view)
{
    return (struct maar_capacity_session *)(void *)view->session_row;
}

/* The queue right above; NULL at root, and for a queue outside the tree. */
static inline const struct maar_queue *maar_capacity_above(const struct maar_view *view,
                                                           const struct maar_queue *queue)
{
    return maar_capacity_account(view, queue)->linked ? queue->parent : NULL;
}

static inline struct maar_amounts maar_capacity_held(const struct maar_view *view,
                                                     const struct maar_capacity_account *account)
{
    return maar_amounts_from_row(account->held.allocated, account->held.present, view->dims);
}

/* What is guaranteed to the queue. What its capability shuts out it could never use; Volcano keeps
 * that from others all the same. */
static inline int64_t maar_capacity_guarantee(const struct maar_view *view,
                                              const struct maar_queue *queue, uint32_t dim)
{
    int64_t guarantee = maar_resource_get(&queue->guarantee, dim);
    int64_t capability = maar_resource_get(&queue->capability, dim);
    bool limits = dim < 2 ? capability > 0 : ((queue->capability.present >> dim) & 1) != 0;
    return limits && !view->compatibility && capability < guarantee ? capability : guarantee;
}

/* What the queue, holding so much, still needs to fill its guarantee. Nobody can be promised more
 * than the cluster. */
static inline int64_t maar_capacity_unused_guarantee(const struct maar_view *view,
                                                     const struct maar_queue *queue, uint32_t dim,
                                                     int64_t held)
{
    int64_t guarantee = maar_capacity_guarantee(view, queue, dim);
    if (guarantee > view->total_allocatable[dim])
        guarantee = view->total_allocatable[dim];
    return guarantee > held ? guarantee - held : 0;
}

/* ---- accounts.c ---- */

/* Fills all rows when a session opens; a fault of the tree is left in the session row. */
void maar_capacity_open(struct maar_capacity *self, const struct maar_view *view);

/* Adds the request of a task (times is 1 or -1) to its queue and to all above. */
void maar_capacity_move(const struct maar_capacity *self, const struct maar_view *view,
                        const struct maar_task *task, int64_t times);

/* Whether room is kept for the task until it is allocated (feature gate
 * SchedulingGatesQueueAdmission). */
bool maar_capacity_is_kept(const struct maar_view *view, const struct maar_task *task);

/* Keeps room for a task (times is 1), or no longer (-1). */
void maar_capacity_keep(const struct maar_view *view, const struct maar_task *task, int64_t times);

/* Adds what an admitted job holds to its queue and to all above. */
void maar_capacity_admit(const struct maar_view *view, const struct maar_job *job);

/* Part of what the queue deserves that it holds, in the dimension where that is greatest; 1 for a
 * queue that deserves nothing. */
double maar_capacity_share(const struct maar_view *view,
                           const struct maar_capacity_account *account);

/* The nearest queues on the ways up of l and r that differ and stand below one and the same queue,
 * or are the topmost. l and r themselves are such when one is above the other. */
void maar_capacity_part_ways(const struct maar_view *view, const struct maar_queue *l,
                             const struct maar_queue *r, const struct maar_queue **ret_l,
                             const struct maar_queue **ret_r);

/* Why the queue takes no jobs at all, written to text (MAAR_CAPACITY_TEXT_BYTES); NULL when it
 * does. */
const char *maar_capacity_refusal(const struct maar_capacity *self, const struct maar_view *view,
                                  const struct maar_queue *queue, char *text);

/* ---- limits.c: the hooks of the same names ---- */

uint32_t maar_capacity_queue_room(void *self, const struct maar_view *view,
                                  const struct maar_queue *queue, const struct maar_task *task,
                                  uint32_t want, struct maar_reasons *reasons);
enum maar_vote maar_capacity_job_enqueueable(void *self, const struct maar_view *view,
                                             const struct maar_job *job);

uint64_t maar_capacity_queue_state(void *self, const struct maar_view *view,
                                   const struct maar_queue *queue, bool gate);

/* ---- victims.c: the hooks of the same names ---- */

bool maar_capacity_queue_preemptive(void *self, const struct maar_view *view,
                                    const struct maar_queue *queue,
                                    const struct maar_task *const *tasks, size_t n);
enum maar_vote maar_capacity_reclaimable(void *self, const struct maar_view *view,
                                         const struct maar_task *evictor,
                                         const struct maar_task *const *candidates, size_t n,
                                         uint64_t *out);
enum maar_vote maar_capacity_unified_evictable(void *self, const struct maar_view *view,
                                               const struct maar_evict_context *context,
                                               const struct maar_task *const *candidates, size_t n,
                                               uint64_t *out);

#endif
