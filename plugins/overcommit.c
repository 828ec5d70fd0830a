/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* overcommit: a gate before the cluster. Jobs are let in as long as the minimum resources of all
 * that wait inside fit into the cluster's total times a factor, less what is in use.
 *
 * A job without minResources passes. A job in phase Inqueue holds all of its minResources, one in
 * phase Running (with its minimum of members allocated) what its pods do not hold yet; pods behind
 * scheduling gates hold nothing. A job whose pods are known and whose minimum cannot stand on the
 * nodes even if these were empty holds nothing (under `compatibility: volcano` it does, and can
 * keep everybody else out for ever).
 *
 *     overcommit-factor   1.2   at least 1 */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <stdio.h>
#include <stdlib.h>

#include "kubernetes/refusal.h"
#include "kubernetes/queue_sums.h"
#include "kubernetes/reservation.h"
#include "kubernetes/state.h"

#define DEFAULT_FACTOR 1.2

struct overcommit {
    double factor;
    struct maar_queue_sums_table sums;
};

/* The session row. */
struct gate {
    struct maar_amounts idle; /* total × factor − used, as of the session's opening */
    struct maar_amounts inqueue;
};

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct overcommit *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->factor = host->argument_float(arguments, "overcommit-factor");
    if (!(self->factor >= 1.0)) {
        host->log(1, "overcommit: overcommit-factor must be at least 1, using 1.2");
        self->factor = DEFAULT_FACTOR;
    }
    *ret_self = self;
    return 0;
}

static void destroy(void *self)
{
    struct overcommit *overcommit = self;
    maar_queue_sums_fini(&overcommit->sums);
    free(overcommit);
}

static struct gate *gate_of(const struct maar_view *view)
{
    return (struct gate *)(void *)view->session_row;
}

static struct maar_amounts idle_amounts(const struct overcommit *self, const struct maar_view *view)
{
    uint64_t used_present = view->total_present;
    for (uint32_t d = 2; d < view->dims->n; d++)
        if (view->total_used[d] != 0)
            used_present |= UINT64_C(1) << d;
    struct maar_amounts idle =
        maar_amounts_from_row(view->total_allocatable, view->total_present, view->dims);
    struct maar_amounts used = maar_amounts_from_row(view->total_used, used_present, view->dims);
    maar_amounts_multi(&idle, self->factor);
    maar_amounts_sub(&idle, &used);
    return idle;
}

static void add_sum(struct maar_amounts *a, const struct maar_queue_sum *sum,
                    const struct maar_view *view)
{
    struct maar_amounts b = maar_amounts_from_row(sum->v, sum->present, view->dims);
    maar_amounts_add(a, &b);
}

static int open_session(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct overcommit *overcommit = self;
    struct gate *gate = gate_of(view);
    view->host->touch(view->session, gate, sizeof *gate);
    gate->idle = idle_amounts(overcommit, view);
    gate->inqueue = maar_amounts_none();
    for (uint32_t i = 0; i < view->n_queues; i++) {
        const struct maar_queue_sums *sums =
            maar_queue_sums(&overcommit->sums, view, view->queues[i]);
        add_sum(&gate->inqueue, &sums->admitted, view);
        add_sum(&gate->inqueue, &sums->running, view);
    }
    return 0;
}

static enum maar_vote job_enqueueable(void *self, const struct maar_view *view,
                                      const struct maar_job *job)
{
    (void)self;
    if (!job->has_min_resources)
        return MAAR_PERMIT;
    const struct gate *gate = gate_of(view);
    struct maar_amounts min = maar_amounts_from_resource(&job->min_resources, view->dims);
    struct maar_amounts need = gate->inqueue;
    maar_amounts_add(&need, &min);
    uint64_t failing;
    if (maar_amounts_less_equal_with_dimension(&need, &gate->idle, &min, &failing))
        return MAAR_PERMIT;
    char message[MAAR_REFUSAL_BYTES];
    maar_refusal_text(message, sizeof message, "resource in cluster is overused", "overused",
                      failing, view->dims);
    view->host->job_event(view->session, job, "Unschedulable", message);
    MAAR_EACH_DIM(d, failing)
    {
        double used = (double)view->total_used[d] * view->dims->policy_scale[d];
        maar_reason_limit(view, NULL, d, gate->inqueue.v[d] + used, min.v[d],
                          gate->idle.v[d] + used, "in the cluster times overcommit-factor");
    }
    return MAAR_REJECT;
}

static uint64_t queue_state(void *self, const struct maar_view *view,
                            const struct maar_queue *queue, bool gate)
{
    (void)self;
    (void)queue;
    if (!gate)
        return 0;
    const struct gate *now = gate_of(view);
    return maar_state_add_amounts(maar_state_add_amounts(0, &now->idle), &now->inqueue);
}

static void on_enqueued(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    if (!job->has_min_resources || (!view->compatibility && maar_reservation_is_futile(view, job)))
        return;
    struct gate *gate = gate_of(view);
    struct maar_amounts held = maar_reservation_whole(view, job);
    view->host->touch(view->session, &gate->inqueue, sizeof gate->inqueue);
    maar_amounts_add(&gate->inqueue, &held);
}

static const struct maar_argument arguments[] = {
    {"overcommit-factor", MAAR_ARGUMENT_FLOAT, "1.2", "at least 1",
     "How much more than the cluster has may be promised to waiting jobs."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "overcommit",
    .summary = "Admits jobs up to the cluster's total times a factor.",
    .arguments = arguments,
    .session_row_size = sizeof(struct gate),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .hooks =
        {
            .job_enqueueable = job_enqueueable,
            .queue_state = queue_state,
            .on_enqueued = on_enqueued,
        },
};
