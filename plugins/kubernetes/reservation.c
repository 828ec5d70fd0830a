/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The sums of Volcano's GetInqueueResource and DeductSchGatedResources, and the test for gangs that
 * no emptying of the cluster would help. */

#include "kubernetes/reservation.h"

static void take_off(struct maar_amounts *a, const int64_t *row, const struct maar_dims *dims)
{
    MAAR_EACH_DIM(d, a->present | 3)
    {
        double v = a->v[d] - (double)row[d] * dims->policy_scale[d];
        a->v[d] = v > 0 ? v : 0;
    }
}

struct maar_amounts maar_reservation_whole(const struct maar_view *view, const struct maar_job *job)
{
    struct maar_amounts a = maar_amounts_from_resource(&job->min_resources, view->dims);
    take_off(&a, job->gated, view->dims);
    return a;
}

struct maar_amounts maar_reservation_rest(const struct maar_view *view, const struct maar_job *job)
{
    struct maar_amounts a = maar_amounts_from_resource(&job->min_resources, view->dims);
    take_off(&a, job->allocated, view->dims);
    take_off(&a, job->gated, view->dims);
    return a;
}

bool maar_reservation_is_running(const struct maar_job *job)
{
    return job->phase == MAAR_PHASE_RUNNING &&
           (int64_t)maar_job_n_allocated(job) >= job->min_available;
}

static bool is_member(const struct maar_task *task)
{
    switch (task->status) {
    case MAAR_TASK_RELEASING:
    case MAAR_TASK_FAILED:
    case MAAR_TASK_UNKNOWN:
        return false;
    default:
        return true;
    }
}

/* How many of the class the empty node holds, at most want. */
static int64_t slots_on_node(const struct maar_view *view, const struct maar_class *cls,
                             uint32_t node, int64_t want)
{
    for (uint32_t d = 0; d < cls->request.n; d++) {
        int64_t ask = cls->request.v[d];
        if (ask <= 0)
            continue;
        int64_t fit = view->nodes->allocatable[d][node] / ask;
        if (fit < want)
            want = fit;
    }
    return want > 0 ? want : 0;
}

static int64_t slots_in_cluster(const struct maar_view *view, const struct maar_class *cls,
                                int64_t want)
{
    int64_t slots = 0;
    for (uint32_t node = 0; node < view->nodes->n_slots && slots < want; node++)
        if (maar_node_is_live(view->nodes, node))
            slots += slots_on_node(view, cls, node, want - slots);
    return slots;
}

/* At most want. An entry with fewer slots than wanted has counted them all. */
static int64_t slots_remembered(const struct maar_view *view, const struct maar_class *cls,
                                int64_t want, struct maar_slots_memo *memo)
{
    if (!memo)
        return slots_in_cluster(view, cls, want);
    size_t at = cls->slot % (sizeof memo->entries / sizeof *memo->entries);
    if (memo->entries[at].cls != cls ||
        (want > memo->entries[at].slots && memo->entries[at].slots == memo->entries[at].want)) {
        memo->entries[at].cls = cls;
        memo->entries[at].want = want;
        memo->entries[at].slots = slots_in_cluster(view, cls, want);
    }
    return memo->entries[at].slots < want ? memo->entries[at].slots : want;
}

/* Members of the class among the tasks from `first` on; 0 when an earlier task is of it (it is
 * counted already). */
static int64_t members_of_class(const struct maar_job *job, uint32_t first)
{
    const struct maar_class *cls = job->tasks[first]->cls;
    int64_t n = 0;
    for (uint32_t i = 0; i < first; i++)
        if (job->tasks[i]->cls == cls)
            return 0;
    for (uint32_t i = first; i < job->n_tasks; i++)
        n += job->tasks[i]->cls == cls && job->tasks[i]->status != MAAR_TASK_SUCCEEDED &&
             is_member(job->tasks[i]);
    return n;
}

bool maar_reservation_is_futile_memo(const struct maar_view *view, const struct maar_job *job,
                                     struct maar_slots_memo *memo)
{
    int64_t possible = job->n[MAAR_TASK_SUCCEEDED];
    /* While pods are still to come, nothing is known about them. */
    if ((int64_t)maar_job_n_valid(job) < job->min_available)
        return false;
    for (uint32_t i = 0; i < job->n_tasks && possible < job->min_available; i++) {
        int64_t n = members_of_class(job, i);
        if (n > 0)
            possible += slots_remembered(view, job->tasks[i]->cls, n, memo);
    }
    return possible < job->min_available;
}

bool maar_reservation_is_futile(const struct maar_view *view, const struct maar_job *job)
{
    return maar_reservation_is_futile_memo(view, job, NULL);
}
