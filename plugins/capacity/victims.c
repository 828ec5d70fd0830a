/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Who may take from whom: queue_preemptive, reclaimable, unified_evictable. Candidates are
 * looked at in the order in which they are handed over, the first to go first; what an earlier
 * one frees counts for the later ones.
 *
 * The default compares where the ways up of the two queues part: what stands there on the
 * reclaimer's side must stay, with its task, within what it deserves, and what stands there on
 * the victim's side must be over, and so must each queue from there down to the victim's. A
 * queue is over when it holds more than it deserves of a dimension that both tasks ask for. Both
 * tests are the same seen from the two sides, so nobody takes back at once what was taken from
 * him. Only what a victim holds counts against guarantees, and those of all queues below the
 * parting must stay whole.
 *
 * Under compatibility the victim's queue must be over in some dimension of the victim, ancestors
 * are looked at up to ancestorReclaimLevel, and a queue may reclaim when one dimension of the
 * request is within what it deserves. */

#include "capacity/capacity.h"

#include <stdlib.h>
#include <string.h>

#include "kubernetes/job_table.h"

/* Running copies of what queues hold, while the candidates of one vote are gone through. */
struct copies {
    const struct maar_view *view;
    struct maar_job_table table;
    int64_t *rows;
};

static uint32_t n_levels(const struct maar_view *view, const struct maar_task *task)
{
    if (!task->job || !task->job->queue)
        return 0;
    return maar_capacity_account(view, task->job->queue)->n_above + 1;
}

static void copies_init(struct copies *copies, const struct maar_view *view,
                        const struct maar_task *const *candidates, size_t n)
{
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += n_levels(view, candidates[i]);
    copies->view = view;
    maar_job_table_init(&copies->table, room);
    copies->rows = calloc(room * view->dims->n + 1, sizeof *copies->rows);
    if (!copies->rows)
        abort();
}

static void copies_fini(struct copies *copies)
{
    free(copies->rows);
    maar_job_table_fini(&copies->table);
}

static int64_t *copy_of(struct copies *copies, const struct maar_queue *queue)
{
    int is_new;
    size_t n_dims = copies->view->dims->n;
    int64_t *row = copies->rows + maar_job_table_index(&copies->table, queue, &is_new) * n_dims;
    const struct maar_capacity_account *account = maar_capacity_account(copies->view, queue);
    for (size_t d = 0; is_new && d < n_dims; d++)
        row[d] = account->held.allocated[d];
    return row;
}

static void take_off(int64_t *row, const struct maar_class *cls)
{
    for (uint32_t d = 0; d < cls->request.n; d++)
        row[d] -= cls->request.v[d];
}

/* Dimensions that the task asks for, pods included. */
static uint64_t names_of(const struct maar_view *view, const struct maar_task *task)
{
    struct maar_amounts request = maar_amounts_from_resource(&task->cls->request, view->dims);
    return maar_amounts_names(&request);
}

static const struct maar_queue *queue_of(const struct maar_job *job)
{
    return job ? job->queue : NULL;
}

/* Dimensions of the mask of which the row holds more than the queue deserves. */
static uint64_t over_deserved(const struct maar_view *view, const struct maar_queue *queue,
                              const int64_t *row, uint64_t dims)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    uint64_t over = 0;
    MAAR_EACH_DIM(d, dims)
    {
        if ((double)row[d] * view->dims->policy_scale[d] > account->deserved.v[d])
            over |= UINT64_C(1) << d;
    }
    return over;
}

static uint64_t deserved_names(const struct maar_view *view, const struct maar_queue *queue)
{
    return maar_amounts_names(&maar_capacity_account(view, queue)->deserved);
}

/* ---- who may take ---------------------------------------------------------------------------- */

static struct maar_amounts sum_of(const struct maar_view *view,
                                  const struct maar_task *const *tasks, size_t n)
{
    struct maar_amounts sum = maar_amounts_none();
    for (size_t i = 0; i < n; i++) {
        struct maar_amounts request =
            maar_amounts_from_resource(&tasks[i]->cls->request, view->dims);
        maar_amounts_add(&sum, &request);
    }
    return sum;
}

static struct maar_amounts held_with(const struct maar_view *view, const struct maar_queue *queue,
                                     const struct maar_amounts *request)
{
    struct maar_amounts held = maar_capacity_held(view, maar_capacity_account(view, queue));
    maar_amounts_add(&held, request);
    return held;
}

static bool is_within_limit(const struct maar_view *view, const struct maar_queue *queue,
                            const struct maar_amounts *request)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    struct maar_amounts held = held_with(view, queue, request);
    uint64_t failing = 0;
    maar_amounts_less_equal_with_dimension(&held, &account->limit, request, &failing);
    return !(view->compatibility ? failing : failing & (account->limit.present | 3));
}

/* PERMIT: with the request the queue holds at most what it deserves of all that is asked for.
 * ABSTAIN: it deserves nothing of what is asked for. */
static enum maar_vote is_entitled(const struct maar_view *view, const struct maar_queue *queue,
                                  const struct maar_amounts *request)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    uint64_t dims = maar_amounts_asked(request) & deserved_names(view, queue);
    struct maar_amounts held = held_with(view, queue, request);
    if (!dims)
        return MAAR_ABSTAIN;
    MAAR_EACH_DIM(d, dims)
    {
        if (!maar_amount_less_equal(held.v[d], account->deserved.v[d]))
            return MAAR_REJECT;
    }
    return MAAR_PERMIT;
}

/* The default's question at the parting: `top` is the reclaimer's queue or stands above it. Queues
 * without an opinion leave the answer to the one below. */
static bool may_take(const struct maar_view *view, const struct maar_queue *queue,
                     const struct maar_queue *top, const struct maar_amounts *request)
{
    enum maar_vote vote = MAAR_ABSTAIN;
    for (;; queue = maar_capacity_above(view, queue)) {
        enum maar_vote here = is_entitled(view, queue, request);
        if (!is_within_limit(view, queue, request))
            return false;
        vote = here != MAAR_ABSTAIN ? here : vote;
        if (queue == top || !maar_capacity_above(view, queue))
            return vote == MAAR_PERMIT;
    }
}

static bool is_below_root(const struct maar_view *view, const struct maar_queue *queue)
{
    return queue && maar_capacity_account(view, queue)->n_above > 0;
}

/* True when some parting is there at which the queue may take. */
static bool may_take_somewhere(const struct maar_view *view, const struct maar_queue *queue,
                               const struct maar_amounts *request)
{
    const struct maar_queue *top = queue;
    for (; is_below_root(view, top); top = maar_capacity_above(view, top))
        if (may_take(view, queue, top, request))
            return true;
    return false;
}

static bool may_take_compatible(const struct maar_capacity *self, const struct maar_view *view,
                                const struct maar_queue *queue, const struct maar_amounts *request)
{
    if (!is_within_limit(view, queue, request))
        return false;
    int64_t levels = self->hierarchy ? self->reclaim_levels : 0;
    for (int64_t level = 0; level <= levels; level++) {
        if (!queue || (level > 0 && !is_below_root(view, queue)))
            return false;
        struct maar_amounts held = held_with(view, queue, request);
        if (maar_amounts_less_equal_partly_with_dimension_zero_filtered(
                &held, &maar_capacity_account(view, queue)->deserved, request))
            return true;
        queue = maar_capacity_above(view, queue);
    }
    return false;
}

bool maar_capacity_queue_preemptive(void *self, const struct maar_view *view,
                                    const struct maar_queue *queue,
                                    const struct maar_task *const *tasks, size_t n)
{
    char text[MAAR_CAPACITY_TEXT_BYTES];
    if (maar_capacity_refusal(self, view, queue, text))
        return false;
    struct maar_amounts request = sum_of(view, tasks, n);
    return view->compatibility ? may_take_compatible(self, view, queue, &request)
                               : may_take_somewhere(view, queue, &request);
}

/* ---- who pays, by default -------------------------------------------------------------------- */

/* The one who takes. */
struct taker {
    const struct maar_queue *queue; /* NULL: not known, then the ways part at root */
    const struct maar_task *task;   /* NULL: a whole gang, whose right to take was asked before */
    struct maar_amounts request;
    uint64_t names;
};

static bool keeps_guarantee(const struct maar_view *view, const struct maar_queue *queue,
                            const int64_t *row, const struct maar_class *cls)
{
    for (uint32_t d = 0; d < cls->request.n; d++)
        if (cls->request.v[d] > 0 &&
            row[d] - cls->request.v[d] < maar_capacity_guarantee(view, queue, d))
            return false;
    return true;
}

/* A queue that deserves nothing of what the victim holds is over; one above it has no opinion
 * then. */
static bool is_over(const struct maar_view *view, const struct taker *taker,
                    const struct maar_queue *queue, const int64_t *row, uint64_t victim_names)
{
    uint64_t dims = victim_names & deserved_names(view, queue) & ~(UINT64_C(1) << MAAR_DIM_PODS);
    if (!dims)
        return true;
    uint64_t shared = dims & taker->names;
    return over_deserved(view, queue, row, shared ? shared : dims) != 0;
}

static bool pays(struct copies *copies, const struct taker *taker, const struct maar_task *victim)
{
    const struct maar_view *view = copies->view;
    const struct maar_queue *queue = queue_of(victim->job), *mine = NULL, *theirs = NULL;
    uint64_t names = names_of(view, victim);
    if (!queue || !(names & taker->names & ~(UINT64_C(1) << MAAR_DIM_PODS)))
        return false;
    if (taker->queue) {
        maar_capacity_part_ways(view, taker->queue, queue, &mine, &theirs);
        if (mine == theirs)
            return false;
        if (taker->task && !may_take(view, taker->queue, mine, &taker->request))
            return false;
    }
    for (const struct maar_queue *at = queue; at; at = maar_capacity_above(view, at)) {
        const int64_t *row = copy_of(copies, at);
        if (!is_below_root(view, at))
            break;
        if (!keeps_guarantee(view, at, row, victim->cls) || !is_over(view, taker, at, row, names))
            return false;
        if (at == theirs)
            break;
    }
    for (const struct maar_queue *at = queue; at; at = maar_capacity_above(view, at))
        take_off(copy_of(copies, at), victim->cls);
    return true;
}

/* ---- who pays, as in Volcano ----------------------------------------------------------------- */

static bool keeps_guarantee_compatible(const struct maar_view *view, const struct maar_queue *queue,
                                       const int64_t *row, const struct maar_class *cls)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    struct maar_amounts guarantee = maar_amounts_from_resource(&queue->guarantee, view->dims);
    struct maar_amounts rest = maar_amounts_from_row(row, account->held.present, view->dims);
    struct maar_amounts request = maar_amounts_from_resource(&cls->request, view->dims);
    maar_amounts_sub(&rest, &request);
    return maar_amounts_less_equal(&guarantee, &rest, MAAR_MISSING_ZERO);
}

static const struct maar_queue *ancestor(const struct maar_view *view,
                                         const struct maar_queue *queue, int64_t level)
{
    for (; level > 0 && queue; level--)
        queue = maar_capacity_above(view, queue);
    return queue;
}

/* The two queues have an ancestor below root in common within the levels. */
static bool share_ancestor(const struct maar_view *view, const struct maar_queue *l,
                           const struct maar_queue *r, int64_t levels)
{
    for (int64_t i = 1; i <= levels; i++) {
        const struct maar_queue *above_l = ancestor(view, l, i);
        if (!is_below_root(view, above_l))
            return false;
        for (int64_t k = 1; k <= levels; k++) {
            const struct maar_queue *above_r = ancestor(view, r, k);
            if (!is_below_root(view, above_r))
                break;
            if (above_l == above_r)
                return true;
        }
    }
    return false;
}

/* The victim's queue is over, or deserves nothing of what the victim holds. */
static bool leaf_pays(struct copies *copies, const struct maar_queue *queue,
                      const struct maar_task *victim, bool *ret_immediate)
{
    const struct maar_view *view = copies->view;
    const int64_t *row = copy_of(copies, queue);
    if (!keeps_guarantee_compatible(view, queue, row, victim->cls))
        return false;
    uint64_t names = names_of(view, victim);
    *ret_immediate = !(names & deserved_names(view, queue));
    if (*ret_immediate)
        return true;
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    struct maar_amounts held = maar_amounts_from_row(row, account->held.present, view->dims);
    struct maar_amounts request = maar_amounts_from_resource(&victim->cls->request, view->dims);
    return maar_amounts_greater_partly_with_relevant_dimensions(&held, &account->deserved,
                                                                &request) != 0;
}

/* Root, and an ancestor that both have at the same level, say nothing. */
static const struct maar_queue *ancestor_to_ask(const struct maar_view *view,
                                                const struct maar_queue *taker,
                                                const struct maar_queue *queue, int64_t level)
{
    const struct maar_queue *at = ancestor(view, queue, level);
    return is_below_root(view, at) && at != ancestor(view, taker, level) ? at : NULL;
}

static bool ancestors_pay(struct copies *copies, const struct maar_queue *taker,
                          const struct maar_task *victim, int64_t levels)
{
    const struct maar_view *view = copies->view;
    struct maar_amounts request = maar_amounts_from_resource(&victim->cls->request, view->dims);
    for (int64_t level = 1; level <= levels; level++) {
        const struct maar_queue *at = ancestor_to_ask(view, taker, victim->job->queue, level);
        if (!at || !(maar_amounts_names(&request) & deserved_names(view, at)))
            continue;
        const struct maar_capacity_account *account = maar_capacity_account(view, at);
        struct maar_amounts held =
            maar_amounts_from_row(copy_of(copies, at), account->held.present, view->dims);
        if (!maar_amounts_greater_partly_with_relevant_dimensions(&held, &account->deserved,
                                                                  &request))
            return false;
    }
    return true;
}

static bool pays_compatible(const struct maar_capacity *self, struct copies *copies,
                            const struct taker *taker, const struct maar_task *victim)
{
    const struct maar_view *view = copies->view;
    const struct maar_queue *queue = queue_of(victim->job);
    bool immediate;
    if (!queue)
        return false;
    if (taker->task && !(names_of(view, victim) & taker->names & ~(UINT64_C(1) << MAAR_DIM_PODS)))
        return false;
    if (!leaf_pays(copies, queue, victim, &immediate))
        return false;
    /* No queue has more queues above it than that. */
    uint32_t depth = maar_capacity_account(view, queue)->n_above;
    int64_t levels = self->hierarchy && taker->task ? self->reclaim_levels : 0;
    levels = levels < depth ? levels : depth;
    if (levels > 0 && immediate && !(taker->names & deserved_names(view, taker->queue)) &&
        share_ancestor(view, queue, taker->queue, self->reclaim_levels))
        return false;
    if (levels > 0 && !ancestors_pay(copies, taker->queue, victim, levels))
        return false;
    take_off(copy_of(copies, queue), victim->cls);
    for (int64_t level = 1; level <= levels; level++) {
        const struct maar_queue *at = ancestor_to_ask(view, taker->queue, queue, level);
        if (at)
            take_off(copy_of(copies, at), victim->cls);
    }
    return true;
}

/* ---- the votes ------------------------------------------------------------------------------- */

static enum maar_vote choose(const struct maar_capacity *self, const struct maar_view *view,
                             const struct taker *taker, const struct maar_task *const *candidates,
                             size_t n, uint64_t *out)
{
    struct copies copies;
    copies_init(&copies, view, candidates, n);
    for (size_t i = 0; i < n; i++)
        if (view->compatibility ? pays_compatible(self, &copies, taker, candidates[i])
                                : pays(&copies, taker, candidates[i]))
            out[i / 64] |= UINT64_C(1) << (i % 64);
    copies_fini(&copies);
    return MAAR_PERMIT;
}

enum maar_vote maar_capacity_reclaimable(void *self, const struct maar_view *view,
                                         const struct maar_task *evictor,
                                         const struct maar_task *const *candidates, size_t n,
                                         uint64_t *out)
{
    struct taker taker = {.task = evictor, .queue = queue_of(evictor->job)};
    if (!maar_capacity_session(view)->ready || !taker.queue)
        return MAAR_REJECT;
    taker.request = maar_amounts_from_resource(&evictor->cls->request, view->dims);
    taker.names = maar_amounts_names(&taker.request);
    return choose(self, view, &taker, candidates, n, out);
}

enum maar_vote maar_capacity_unified_evictable(void *self, const struct maar_view *view,
                                               const struct maar_evict_context *context,
                                               const struct maar_task *const *candidates, size_t n,
                                               uint64_t *out)
{
    if (strcmp(context->kind, "gangpreempt") == 0) {
        for (size_t i = 0; i < n; i++)
            out[i / 64] |= UINT64_C(1) << (i % 64);
        return MAAR_PERMIT;
    }
    if (strcmp(context->kind, "gangreclaim") != 0)
        return MAAR_ABSTAIN;
    if (!maar_capacity_session(view)->ready)
        return MAAR_REJECT;
    struct taker taker = {.queue = queue_of(context->job), .names = UINT64_MAX};
    return choose(self, view, &taker, candidates, n, out);
}
