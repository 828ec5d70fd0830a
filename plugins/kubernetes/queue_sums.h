/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_QUEUE_SUMS_H
#define MAAR_KUBERNETES_QUEUE_SUMS_H

/* What the jobs of a queue hold and ask for, added up. Sums outlive sessions: those of a queue are
 * counted again only when something about its jobs changed, so that a session costs what changed
 * since the last one. They are whole numbers in ledger units, so the order of jobs does not show. */

#include <maar/view.h>

struct maar_queue_sum {
    uint64_t present; /* dimensions that some part names */
    int64_t *v;       /* over all dimensions */
};

struct maar_queue_sums {
    uint64_t state; /* of the jobs and nodes that were counted */
    uint32_t n_dims;
    int64_t *rows;                   /* what the sums point into */
    struct maar_queue_sum admitted;  /* minResources of jobs that are Inqueue and may run */
    struct maar_queue_sum waiting;   /* the same, less what their pods hold */
    struct maar_queue_sum running;   /* what running jobs do not hold yet of their minResources */
    struct maar_queue_sum elastic;   /* what pods hold above their job's minResources */
    struct maar_queue_sum pipelined; /* requests of tasks that are Pipelined as the session opens */
    struct maar_queue_sum gated; /* requests of waiting tasks behind gates, of jobs that may run */
    struct maar_queue_sum hopeless;       /* requests of waiting tasks of jobs that can never run */
    struct maar_queue_sum hopeless_gated; /* of these, those behind gates */
};

/* By queue slot. Zeroed at first. */
struct maar_queue_sums_table {
    struct maar_queue_sums *queues;
    uint32_t n;
};

/* The sums as of now, counted anew when they are not up to date. Valid until the next call. Under
 * `compatibility: volcano` every job may run. */
const struct maar_queue_sums *maar_queue_sums(struct maar_queue_sums_table *table,
                                              const struct maar_view *view,
                                              const struct maar_queue *queue);
void maar_queue_sums_fini(struct maar_queue_sums_table *table);

#endif
