/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* capacity: quotas of queues, given as guarantee <= deserved <= capability, flat or as a tree.
 *
 * A queue may borrow beyond what it deserves, up to its capability and as long as the guarantees of
 * its siblings stay free; what it holds beyond what it deserves can be reclaimed. Queues of higher
 * priority go first, then those that hold the smallest share of what they deserve; a queue that
 * deserves nothing counts as if it held just that, after one that really does. weight is not read.
 *
 * With enableHierarchy each queue stands below spec.parent (root when empty), what a queue holds
 * all above it hold too, only leaves take jobs, and limits are those of all queues on the way up
 * to root. Order compares the queues at which the ways up part. accounts.c says how limits are
 * made, limits.c what may come in, victims.c who may take from whom.
 *
 * Under `compatibility: volcano` a missing parent, a cycle or a job in a queue with children
 * refuses everything for the session, the shares of queues above others are those of the
 * session's opening, a scalar that no node offers or that root's capability leaves out has limit
 * 0, guarantees are kept free from each single queue but not from several together (and right
 * below root not at all), and a queue must be Open by name. Otherwise only the queues concerned
 * are refused, with a reason, shares are up to date, what is not named is not limited,
 * guarantees are kept free whoever asks, a queue without a state counts as Open, a job that can
 * never run holds nothing at the gate, and a queue within what it deserves passes the gate
 * although siblings have filled the queue above them.
 *
 * With the feature gate SchedulingGatesQueueAdmission, pods with the annotation
 * scheduling.volcano.sh/queue-allocation-gate that wait without a gate have their room kept, in
 * their queue and (not under compatibility) in all above it.
 *
 * Quotas of device classes (dynamic resource allocation) are not part of it yet: deviceclass keys
 * count as plain resources that no pod asks for.
 *
 *     enableHierarchy        false   queues form a tree by spec.parent
 *     ancestorReclaimLevel   0       under compatibility: so many levels above a victim's queue
 *                                    must be over as well; else all below the common ancestor
 *     capacity.DynamicResourceAllocationEnable   true    accepted, without effect
 *     capacity.DRAConsumableCapacityEnable       false   accepted, without effect */

#include "capacity/capacity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct maar_capacity *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->hierarchy = host->argument_enabled(arguments, "enableHierarchy");
    self->reclaim_levels = host->argument_int(arguments, "ancestorReclaimLevel");
    if (self->reclaim_levels < 0) {
        host->log(1, "capacity: ancestorReclaimLevel must not be negative, using 0");
        self->reclaim_levels = 0;
    }
    *ret_self = self;
    return 0;
}

static void destroy(void *self)
{
    struct maar_capacity *capacity = self;
    maar_queue_sums_fini(&capacity->sums);
    free(capacity);
}

/* Says once what is wrong with the tree, until it changes. */
static void complain(struct maar_capacity *self, const struct maar_view *view)
{
    const char *fault = maar_capacity_session(view)->fault;
    if (strcmp(self->complaint, fault) == 0)
        return;
    snprintf(self->complaint, sizeof self->complaint, "%s", fault);
    char text[MAAR_CAPACITY_TEXT_BYTES + 16];
    snprintf(text, sizeof text, "capacity: %s", fault);
    if (*fault)
        view->host->log(1, text);
}

static int open_session(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    maar_capacity_open(self, view);
    complain(self, view);
    return 0;
}

static void publish(const struct maar_view *view, const struct maar_queue *queue, const char *set,
                    const struct maar_amounts *amounts)
{
    MAAR_EACH_DIM(d, maar_amounts_names(amounts))
    {
        view->host->queue_amount(view->session, queue, set, (uint32_t)d, amounts->v[d]);
    }
}

static void close_session(void *self, const struct maar_view *view)
{
    (void)self;
    const struct maar_host *host = view->host;
    if (host->size < offsetof(struct maar_host, queue_amount) + sizeof host->queue_amount)
        return;
    for (uint32_t i = 0; i < view->n_queues; i++) {
        const struct maar_capacity_account *account = maar_capacity_account(view, view->queues[i]);
        publish(view, view->queues[i], "deserved", &account->deserved);
        publish(view, view->queues[i], "inqueue", &account->inqueue);
        publish(view, view->queues[i], "limit", &account->limit);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Volcano refreshes the shares of leaves only. */
static double share_in_order(const struct maar_view *view, const struct maar_queue *queue)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    if (view->compatibility && queue->n_children > 0 && account->linked)
        return account->opening_share;
    return maar_capacity_share(view, account);
}

static int compare_shares(const struct maar_view *view, const struct maar_queue *l,
                          const struct maar_queue *r)
{
    double ls = share_in_order(view, l), rs = share_in_order(view, r);
    if (ls != rs)
        return ls < rs ? -1 : 1;
    bool le = maar_amounts_is_empty(&maar_capacity_account(view, l)->deserved);
    bool re = maar_amounts_is_empty(&maar_capacity_account(view, r)->deserved);
    return (int)le - (int)re;
}

static int queue_order(void *self, const struct maar_view *view, const struct maar_queue *l,
                       const struct maar_queue *r)
{
    const struct maar_capacity *capacity = self;
    if (!maar_capacity_session(view)->ready)
        return 0;
    if (l->priority != r->priority)
        return l->priority > r->priority ? -1 : 1;
    if (!capacity->hierarchy)
        return compare_shares(view, l, r);
    bool leaf_l = l->n_children == 0, leaf_r = r->n_children == 0;
    if (leaf_l != leaf_r)
        return leaf_l ? -1 : 1;
    if (leaf_l)
        maar_capacity_part_ways(view, l, r, &l, &r);
    return compare_shares(view, l, r);
}

/* The depth at which the ways up of the two meet. */
static uint32_t meeting_depth(const struct maar_view *view, const struct maar_queue *l,
                              const struct maar_queue *r)
{
    maar_capacity_part_ways(view, l, r, &l, &r);
    return maar_capacity_account(view, l)->n_above;
}

/* The closer relatives of the preemptor's queue pay first. */
static int victim_queue_order(void *self, const struct maar_view *view, const struct maar_queue *l,
                              const struct maar_queue *r, const struct maar_queue *preemptor)
{
    const struct maar_capacity *capacity = self;
    if (!capacity->hierarchy || !preemptor || !maar_capacity_session(view)->ready)
        return 0;
    uint32_t dl = meeting_depth(view, l, preemptor), dr = meeting_depth(view, r, preemptor);
    return dl > dr ? -1 : dl < dr;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_allocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    maar_capacity_move(self, view, task, 1);
    if (view->queue_admission && task->asks_queue_gate)
        maar_capacity_keep(view, task, -1);
}

static void on_deallocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    maar_capacity_move(self, view, task, -1);
    if (maar_capacity_is_kept(view, task))
        maar_capacity_keep(view, task, 1);
}

static void on_room_kept(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    maar_capacity_keep(view, task, 1);
}

static void on_enqueued(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    maar_capacity_admit(view, job);
}

static const struct maar_argument arguments[] = {
    {"ancestorReclaimLevel", MAAR_ARGUMENT_INT, "0", "at least 0",
     "Levels above a victim's queue that reclaim looks at, under compatibility."},
    {"capacity.DynamicResourceAllocationEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Accepted; quotas of device classes are not there yet."},
    {"capacity.DRAConsumableCapacityEnable", MAAR_ARGUMENT_BOOL, "false", NULL,
     "Accepted; quotas of device classes are not there yet."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "capacity",
    .summary = "Keeps queues within given quotas, flat or as a tree.",
    .arguments = arguments,
    .queue_row_size = sizeof(struct maar_capacity_account),
    .session_row_size = sizeof(struct maar_capacity_session),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .close = close_session,
    .hooks =
        {
            .queue_order = queue_order,
            .victim_queue_order = victim_queue_order,
            .job_enqueueable = maar_capacity_job_enqueueable,
            .queue_preemptive = maar_capacity_queue_preemptive,
            .queue_room = maar_capacity_queue_room,
            .queue_state = maar_capacity_queue_state,
            .reclaimable = maar_capacity_reclaimable,
            .unified_evictable = maar_capacity_unified_evictable,
            .on_allocate = on_allocate,
            .on_deallocate = on_deallocate,
            .on_enqueued = on_enqueued,
            .on_room_kept = on_room_kept,
        },
};
