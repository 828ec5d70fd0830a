/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ACTION_H
#define MAAR_ACTION_H

/* The action ABI. An action is a shared object that exports
 *
 *     MAAR_EXPORT const struct maar_action maar_action = { MAAR_ACTION_HEADER, .name = "…", .execute = … };
 *
 * It decides in which order things are tried; votes, placing and the transaction are the host's. Whatever it does
 * goes through a statement: until commit nothing leaves the process. */

#include <maar/plugin.h>

struct maar_statement;

enum maar_place_flags {
    /* Stop as soon as the job, or the sub-job, is ready (allocate); else place every task given. */
    MAAR_PLACE_UNTIL_READY = 1 << 0,
    /* Room that is still being released does not count. */
    MAAR_PLACE_IDLE_ONLY = 1 << 1,
    /* No resource check and no queue room: pods that ask for nothing (backfill). */
    MAAR_PLACE_BEST_EFFORT = 1 << 2,
    /* `compatibility: volcano` only: a node that refused one task of a role is not asked again for another of that
     * role in the same call, also when the two differ (Volcano's predicate error cache). */
    MAAR_PLACE_ROLE_MEMORY = 1 << 3,
};

struct maar_place_result {
    uint32_t n_placed;    /* Allocated or Pipelined by this call */
    uint32_t n_pipelined; /* of these, Pipelined */
    uint32_t n_tried;     /* tasks taken from the front of the array; the rest was not looked at */
};

/* Functions for actions. Sized and append-only. */
struct maar_action_host {
    uint32_t size;
    const struct maar_host *host;

    const struct maar_view *(*view)(void *session);
    /* True when `actions:` names it. */
    bool (*has_action)(void *session, const char *name);

    /* The votes of all tiers (core rules of combination). The less functions are total orders and fit
     * maar_heap_less_fn with the session as context. Ready and pipelined jobs and sub-jobs are so by members that have
     * a node or are to get one; waiting ones that ask for nothing count only under `compatibility: volcano`. */
    bool (*queue_less)(void *session, const void *l, const void *r);
    bool (*job_less)(void *session, const void *l, const void *r);
    bool (*task_less)(void *session, const void *l, const void *r);
    bool (*sub_job_less)(void *session, const void *l, const void *r);
    bool (*job_valid)(void *session, const struct maar_job *job);
    bool (*job_ready)(void *session, const struct maar_job *job);
    bool (*job_pipelined)(void *session, const struct maar_job *job);
    bool (*sub_job_ready)(void *session, const struct maar_job *job,
                          const struct maar_sub_job *sub_job);
    bool (*sub_job_pipelined)(void *session, const struct maar_job *job,
                              const struct maar_sub_job *sub_job);
    bool (*job_starving)(void *session, const struct maar_job *job);
    bool (*job_enqueueable)(void *session, const struct maar_job *job);
    bool (*queue_overused)(void *session, const struct maar_queue *queue);
    bool (*queue_preemptive)(void *session, const struct maar_queue *queue,
                             const struct maar_task *const *tasks, size_t n);

    /* Pending → Inqueue, and tells the plugins when the job asks for minResources or not alike. */
    void (*enqueue)(void *session, const struct maar_job *job);
    /* The phase without the votes' bookkeeping: allocate without the action enqueue. */
    void (*admit)(void *session, const struct maar_job *job);

    /* Transactions. Statements nest by mark and rewind; at most one is open at a time. */
    struct maar_statement *(*begin)(void *session);
    size_t (*mark)(struct maar_statement *statement);
    void (*rewind)(struct maar_statement *statement, size_t mark);
    /* Sends what was planned: Allocated tasks become Binding, but for those of a sub-job that is not ready, which hold
     * their room (not under `compatibility: volcano`). The statement is gone. */
    void (*commit)(struct maar_statement *statement);
    /* Nothing is sent, the plan holds its room until the session ends. The statement is gone. */
    void (*keep)(struct maar_statement *statement);
    /* World and plugin state are as they were at begin, bit for bit. The statement is gone. */
    void (*discard)(struct maar_statement *statement);
    int (*evict)(struct maar_statement *statement, const struct maar_task *task,
                 const char *reason);

    /* Places tasks[0..n) of one job, or of its sub-job unless that is NULL, in the given order: on room that is idle
     * now, else on room that is being released (Pipelined). Never more than queue room allows. */
    struct maar_place_result (*place)(struct maar_statement *statement, const struct maar_job *job,
                                      const struct maar_sub_job *sub_job,
                                      const struct maar_task *const *tasks, size_t n,
                                      uint32_t flags);
    /* Before a gang that could fit is given up: other orders (largest first) and a bounded search. True when the
     * job, or the sub-job, is ready now; else nothing has changed. False at once under `compatibility: volcano`. */
    bool (*place_harder)(struct maar_statement *statement, const struct maar_job *job,
                         const struct maar_sub_job *sub_job, const struct maar_task *const *tasks,
                         size_t n);
    /* Undoes a Pipelined task of an earlier statement that was kept. */
    void (*release)(struct maar_statement *statement, const struct maar_task *task);

    /* Bits of the dimensions that a job which was refused in this session lacked: in the room of its queue, on the
     * nodes that could ever hold its tasks, or, for one that was not admitted, at the gate. */
    uint64_t (*lacked)(void *session, const struct maar_job *job);
    /* True when the job was refused before and nothing has changed that this depended on: trying it would end the
     * same, its reasons stand. */
    bool (*was_refused)(void *session, const struct maar_job *job);
    /* The job was tried and its plan discarded: until something changes that this depended on it need not be tried. */
    void (*refused)(void *session, const struct maar_job *job);
    /* The job is not tried in this session, for this reason. Copied. */
    void (*pass_over)(void *session, const struct maar_job *job, const char *reason);
    /* Between statements, with the feature gate SchedulingGatesQueueAdmission: those of the job's waiting tasks, in
     * the given order, that only the gate of their queue holds back and for which the queue has room are sent out to
     * lose it, and keep that room. None is while the queue has no room for as many as the gang needs. */
    void (*open_gates)(void *session, const struct maar_job *job,
                       const struct maar_task *const *tasks, size_t n);
};

struct maar_action {
    uint32_t abi;
    uint32_t size;
    const char *name;
    const char *summary;
    const struct maar_argument *arguments;
    void (*execute)(void *session, const struct maar_action_host *host,
                    const struct maar_arguments *arguments);
};

#define MAAR_ACTION_HEADER .abi = MAAR_ABI, .size = sizeof(struct maar_action)
#define MAAR_ACTION_SYMBOL "maar_action"

extern const struct maar_action maar_action;

#endif
