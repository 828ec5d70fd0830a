/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* proportion: divides the cluster among queues by weight.
 *
 * Each queue deserves, dimension by dimension, its weight's part of the cluster, but no more than
 * its jobs ask for and its capability allows, and no less than its guarantee; what one queue leaves
 * is divided among the others. spec.deserved is not read. A queue takes a task as long as it stays
 * within what it deserves in each dimension that the task asks for; what it holds of other
 * dimensions does not matter, so a queue that is over in one of them may still take tasks that do
 * not want it, and a queue never goes without what nobody else asks for. Queues of higher priority
 * go first, then those that hold the smallest share of what they deserve. A queue that is above
 * what it deserves can be reclaimed from. At the gate, a job is let in while the minimum resources
 * of all that the queue has admitted fit into what the queue could ever hold.
 *
 * Under `compatibility: volcano` the parts are found as Volcano finds them: rounds in which all unsatisfied queues
 * get a share by weight of everything that is left, until nothing is. That can take thousands of rounds when a queue
 * of great weight does not want a dimension, and it promises more than there is when guarantees exceed the parts by
 * weight, so that they need not hold. Otherwise:
 * - each dimension is divided by itself, to the end, and the parts never add up to more than there is;
 * - pods behind scheduling gates and queues that are not open ask for nothing; the guarantee of such a queue covers
 *   what it holds;
 * - jobs that the empty cluster could not run get what all others leave, and hold nothing at the gate;
 * - a victim of reclaim must hold something of a dimension that its queue is over in;
 * - a queue without a state counts as Open.
 *
 * No configuration keys. */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "kubernetes/job_table.h"
#include "kubernetes/refusal.h"
#include "kubernetes/queue_sums.h"
#include "kubernetes/reservation.h"
#include "kubernetes/state.h"

/* The queue row. Allocated follows the events, so it counts Pipelined tasks as well; ledger units.
 */
struct account {
    bool known; /* the queue has a job in this session */
    uint64_t allocated_present;
    int64_t allocated[MAAR_MAX_DIMS];
    struct maar_amounts deserved;
    struct maar_amounts real_capability;
    struct maar_amounts inqueue;
    struct maar_amounts elastic;
};

/* The instance. */
struct proportion {
    struct maar_queue_sums_table sums;
};

/* What dividing needs to know of a queue, while a session opens. */
struct claim {
    struct account *account;
    double weight;
    bool met;
    struct maar_amounts request;
    struct maar_amounts hopeless; /* asked for besides, by jobs that can never run */
    struct maar_amounts guarantee;
};

static struct account *account_of(const struct maar_view *view, const struct maar_queue *queue)
{
    return (struct account *)(void *)view->queue_rows + queue->slot;
}

static struct maar_amounts allocated_of(const struct maar_view *view, const struct account *account)
{
    return maar_amounts_from_row(account->allocated, account->allocated_present, view->dims);
}

/* Part of what the queue deserves that it holds, in the dimension where that is greatest. */
static double share_of(const struct maar_view *view, const struct account *account)
{
    double greatest = 0;
    MAAR_EACH_DIM(d, maar_amounts_names(&account->deserved))
    {
        double held = (double)account->allocated[d] * view->dims->policy_scale[d];
        double share = maar_share(held, account->deserved.v[d]);
        if (share > greatest)
            greatest = share;
    }
    return greatest;
}

static bool is_open(const struct maar_view *view, const struct maar_queue *queue)
{
    return view->compatibility ? queue->state == MAAR_QUEUE_OPEN : maar_queue_is_open(queue);
}

static void add_request(int64_t *row, uint64_t *present, const struct maar_class *cls,
                        int64_t times)
{
    for (uint32_t d = 0; d < cls->request.n; d++)
        row[d] += times * cls->request.v[d];
    *present |= cls->request.present;
}

/* ---- dividing -------------------------------------------------------------------------------- */

/* Volcano's rounds. Sums, caps and comparisons are made in its order. */
static void divide_in_rounds(struct claim *claims, size_t n, const struct maar_amounts *total)
{
    struct maar_amounts remaining = *total;
    for (;;) {
        double weight_sum = 0;
        for (size_t i = 0; i < n; i++)
            weight_sum += claims[i].met ? 0 : claims[i].weight;
        if (weight_sum == 0)
            return;
        struct maar_amounts old_remaining = remaining;
        struct maar_amounts more_sum = maar_amounts_none(), less_sum = maar_amounts_none();
        for (size_t i = 0; i < n; i++) {
            struct claim *claim = &claims[i];
            if (claim->met)
                continue;
            struct maar_amounts *deserved = &claim->account->deserved;
            struct maar_amounts old = *deserved, part = remaining, more, less;
            maar_amounts_multi(&part, claim->weight / weight_sum);
            maar_amounts_add(deserved, &part);
            maar_amounts_min_dimension(deserved, &claim->account->real_capability,
                                       MAAR_MISSING_INFINITY);
            maar_amounts_min_dimension(deserved, &claim->request, MAAR_MISSING_ZERO);
            *deserved = maar_amounts_max(deserved, &claim->guarantee);
            claim->met = maar_amounts_less_equal(&claim->request, deserved, MAAR_MISSING_ZERO) ||
                         maar_amounts_identical(&old, deserved);
            maar_amounts_diff(deserved, &old, MAAR_MISSING_ZERO, &more, &less);
            maar_amounts_add(&more_sum, &more);
            maar_amounts_add(&less_sum, &less);
        }
        maar_amounts_add(&remaining, &less_sum);
        remaining = maar_amounts_exceeded_part(&remaining, &more_sum);
        if (maar_amounts_is_empty(&remaining) || maar_amounts_identical(&remaining, &old_remaining))
            return;
    }
}

struct bounds {
    double low, high, part;
    bool fixed;
};

/* Finds the level at which everybody gets weight × level, within low and high, and the sum is the
 * total. Fixes in each round those whom the level of the round drives out of their bounds on the
 * side that weighs more, so n rounds at most. */
static void divide_one(const struct claim *claims, struct bounds *bounds, size_t n, double total)
{
    for (;;) {
        double left = total, weight_sum = 0, balance = 0;
        for (size_t i = 0; i < n; i++) {
            if (bounds[i].fixed)
                left -= bounds[i].part;
            else
                weight_sum += claims[i].weight;
        }
        if (weight_sum == 0)
            return;
        for (size_t i = 0; i < n; i++) {
            struct bounds *b = &bounds[i];
            if (b->fixed)
                continue;
            double part = left * claims[i].weight / weight_sum;
            b->part = part < b->low ? b->low : part > b->high ? b->high : part;
            balance += b->part - part;
        }
        bool any_open = false;
        for (size_t i = 0; i < n; i++) {
            struct bounds *b = &bounds[i];
            if (b->fixed)
                continue;
            double part = left * claims[i].weight / weight_sum;
            bool raised = b->part > part, lowered = b->part < part;
            b->fixed = (balance >= 0 && raised) || (balance <= 0 && lowered);
            any_open = any_open || b->fixed;
        }
        if (!any_open)
            return;
    }
}

/* The parts are at least low and no more than asked, as far as the capability goes. */
static void bound(struct bounds *b, const struct claim *claim, uint64_t dim, double low,
                  double asked)
{
    const struct maar_amounts *capability = &claim->account->real_capability;
    double high = asked;
    if (maar_amounts_has(capability, dim) && capability->v[dim] < high)
        high = capability->v[dim];
    b->low = low > 0 ? low : 0;
    b->high = high > b->low ? high : b->low;
    b->part = b->low;
    b->fixed = claim->weight <= 0;
}

/* Each dimension by itself. What is left then goes to those who cannot use it: so that they are refused for the
 * nodes' sake, which a person can understand, and not for the queue's. */
static void divide_by_dimension(struct claim *claims, size_t n, const struct maar_amounts *total)
{
    struct bounds *bounds = calloc(n + 1, sizeof *bounds);
    if (!bounds)
        abort();
    uint64_t dims = total->present | 3;
    for (size_t i = 0; i < n; i++)
        dims |= claims[i].guarantee.present;
    MAAR_EACH_DIM(d, dims)
    {
        bool any_hopeless = false;
        for (size_t i = 0; i < n; i++) {
            bound(&bounds[i], &claims[i], d, claims[i].guarantee.v[d], claims[i].request.v[d]);
            any_hopeless = any_hopeless || claims[i].hopeless.v[d] > 0;
        }
        divide_one(claims, bounds, n, total->v[d]);
        if (any_hopeless) {
            for (size_t i = 0; i < n; i++)
                bound(&bounds[i], &claims[i], d, bounds[i].part,
                      claims[i].request.v[d] + claims[i].hopeless.v[d]);
            divide_one(claims, bounds, n, total->v[d]);
        }
        for (size_t i = 0; i < n; i++)
            maar_amounts_set(&claims[i].account->deserved, (uint32_t)d, bounds[i].part);
    }
    free(bounds);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A capability limits cpu and memory only when it names an amount of them. */
static struct maar_amounts capability_of(const struct maar_view *view,
                                         const struct maar_queue *queue)
{
    struct maar_amounts capability = maar_amounts_from_resource(&queue->capability, view->dims);
    for (uint32_t d = 0; d < 2; d++)
        if (capability.v[d] <= 0)
            capability.v[d] = DBL_MAX;
    return capability;
}

/* A queue has no use for a guarantee beyond its capability; one that takes nothing, beyond what it holds. */
static struct maar_amounts guarantee_of(const struct maar_view *view,
                                        const struct maar_queue *queue)
{
    struct maar_amounts guarantee = maar_amounts_from_resource(&queue->guarantee, view->dims);
    if (view->compatibility)
        return guarantee;
    struct maar_amounts capability = capability_of(view, queue);
    maar_amounts_min_dimension(&guarantee, &capability, MAAR_MISSING_INFINITY);
    if (!is_open(view, queue)) {
        struct maar_amounts held =
            maar_amounts_from_row(queue->allocated, queue->allocated_present, view->dims);
        maar_amounts_min_dimension(&guarantee, &held, MAAR_MISSING_ZERO);
    }
    return guarantee;
}

/* What the queue's pending tasks ask for. Those that cannot go on to a node whatever is free ask for nothing; those
 * of hopeless jobs come last. */
static void ask(struct claim *claim, const struct maar_view *view, const struct maar_queue *queue,
                const struct maar_queue_sums *sums)
{
    int64_t request[MAAR_MAX_DIMS], hopeless[MAAR_MAX_DIMS] = {0};
    if (!view->compatibility && !is_open(view, queue))
        return;
    for (uint32_t d = 0; d < view->dims->n; d++) {
        request[d] = queue->pending[d];
        if (view->compatibility)
            continue;
        request[d] -= sums->hopeless.v[d] + sums->gated.v[d];
        hopeless[d] = sums->hopeless.v[d] - sums->hopeless_gated.v[d];
    }
    claim->request = maar_amounts_from_row(request, queue->pending_present, view->dims);
    claim->hopeless = maar_amounts_from_row(hopeless, queue->pending_present, view->dims);
}

static void open_account(struct account *account, const struct maar_view *view,
                         const struct maar_queue *queue, const struct maar_amounts *unpromised,
                         const struct maar_amounts *guarantee)
{
    account->known = true;
    for (uint32_t d = 0; d < view->dims->n; d++)
        account->allocated[d] = queue->allocated[d];
    account->allocated_present = queue->allocated_present;
    account->real_capability = *unpromised;
    maar_amounts_add(&account->real_capability, guarantee);
    if (queue->capability.present) {
        struct maar_amounts capability = capability_of(view, queue);
        maar_amounts_min_dimension(&account->real_capability, &capability, MAAR_MISSING_INFINITY);
    }
}

static void add_sum(struct maar_amounts *a, const struct maar_queue_sum *sum,
                    const struct maar_view *view)
{
    struct maar_amounts b = maar_amounts_from_row(sum->v, sum->present, view->dims);
    maar_amounts_add(a, &b);
}

/* Tasks that are Pipelined when the session opens hold room, and do not ask for it any more. */
static void count_jobs(struct account *account, const struct maar_view *view,
                       const struct maar_queue_sums *sums)
{
    for (uint32_t d = 0; d < view->dims->n; d++)
        account->allocated[d] += sums->pipelined.v[d];
    account->allocated_present |= sums->pipelined.present;
    add_sum(&account->inqueue, &sums->waiting, view);
    add_sum(&account->inqueue, &sums->running, view);
    add_sum(&account->elastic, &sums->elastic, view);
}

static bool has_jobs(const struct maar_queue *queue)
{
    for (uint32_t i = 0; i < queue->n_jobs; i++)
        if (queue->jobs[i]->takes_part)
            return true;
    return false;
}

/* The queues that have jobs, in the view's order. */
static size_t collect_claims(struct proportion *self, const struct maar_view *view,
                             struct claim *claims, const struct maar_amounts *total)
{
    struct maar_amounts promised = maar_amounts_none();
    for (uint32_t i = 0; i < view->n_queues; i++) {
        struct maar_amounts guarantee = guarantee_of(view, view->queues[i]);
        maar_amounts_add(&promised, &guarantee);
    }
    struct maar_amounts unpromised = maar_amounts_exceeded_part(total, &promised);

    size_t n = 0;
    for (uint32_t i = 0; i < view->n_queues; i++) {
        const struct maar_queue *queue = view->queues[i];
        if (!has_jobs(queue))
            continue;
        const struct maar_queue_sums *sums = maar_queue_sums(&self->sums, view, queue);
        struct account *account = account_of(view, queue);
        struct claim *claim = &claims[n++];
        view->host->touch(view->session, account, sizeof *account);
        claim->account = account;
        claim->weight = queue->weight;
        claim->guarantee = guarantee_of(view, queue);
        ask(claim, view, queue, sums);
        open_account(account, view, queue, &unpromised, &claim->guarantee);
        count_jobs(account, view, sums);
    }
    return n;
}

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)host;
    (void)arguments;
    (void)error;
    (void)n;
    struct proportion *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    *ret_self = self;
    return 0;
}

static void destroy(void *self)
{
    struct proportion *proportion = self;
    maar_queue_sums_fini(&proportion->sums);
    free(proportion);
}

static int open_session(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct claim *claims = calloc((size_t)view->n_queues + 1, sizeof *claims);
    if (!claims)
        abort();
    struct maar_amounts total =
        maar_amounts_from_row(view->total_allocatable, view->total_present, view->dims);
    size_t n_claims = collect_claims(self, view, claims, &total);
    for (size_t i = 0; i < n_claims; i++) {
        struct maar_amounts allocated = allocated_of(view, claims[i].account);
        maar_amounts_add(&claims[i].request, &allocated);
    }
    if (view->compatibility)
        divide_in_rounds(claims, n_claims, &total);
    else
        divide_by_dimension(claims, n_claims, &total);
    free(claims);
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
        const struct account *account = account_of(view, view->queues[i]);
        publish(view, view->queues[i], "deserved", &account->deserved);
        publish(view, view->queues[i], "inqueue", &account->inqueue);
        if (account->known)
            publish(view, view->queues[i], "limit", &account->real_capability);
    }
}

/* ---- votes ----------------------------------------------------------------------------------- */

static int queue_order(void *self, const struct maar_view *view, const struct maar_queue *l,
                       const struct maar_queue *r)
{
    (void)self;
    if (l->priority != r->priority)
        return l->priority > r->priority ? -1 : 1;
    double ls = share_of(view, account_of(view, l)), rs = share_of(view, account_of(view, r));
    return ls < rs ? -1 : ls > rs;
}

static bool queue_overused(void *self, const struct maar_view *view, const struct maar_queue *queue)
{
    (void)self;
    const struct account *account = account_of(view, queue);
    struct maar_amounts allocated = allocated_of(view, account);
    return maar_amounts_less_equal(&account->deserved, &allocated, MAAR_MISSING_ZERO);
}

static int64_t saturated(int64_t held, int64_t ask, uint32_t times)
{
    int64_t sum;
    if (__builtin_mul_overflow(ask, (int64_t)times, &sum) ||
        __builtin_add_overflow(held, sum, &sum))
        return INT64_MAX;
    return sum;
}

/* Dimensions (of those that the class asks for, pods left out) in which the queue would be above
 * what it deserves with so many more tasks of the class. */
static uint64_t exceeded_with(const struct maar_view *view, const struct account *account,
                              const struct maar_resource *request, uint32_t times)
{
    uint64_t exceeded = 0;
    for (uint32_t d = 0; d < request->n; d++) {
        if (d == MAAR_DIM_PODS || request->v[d] <= 0)
            continue;
        double used = (double)saturated(account->allocated[d], request->v[d], times) *
                      view->dims->policy_scale[d];
        if (used > account->deserved.v[d])
            exceeded |= UINT64_C(1) << d;
    }
    return exceeded;
}

/* What members of the task's own gang have been given in this plan. */
static int64_t own_part(const struct maar_task *task, uint64_t d)
{
    int64_t sum = 0;
    for (uint32_t i = 0; task->job && i < task->job->n_tasks; i++) {
        const struct maar_task *other = task->job->tasks[i];
        if (other->status == MAAR_TASK_ALLOCATED || other->status == MAAR_TASK_PIPELINED)
            sum += maar_resource_get(&other->cls->request, (uint32_t)d);
    }
    return sum;
}

/* For people: CPUs, Gi of memory, plain numbers. */
static void amount_text(char out[32], uint64_t d, double amount)
{
    if (d == MAAR_DIM_MEMORY && amount >= 1 << 30)
        snprintf(out, 32, "%.6gGi", amount / (1 << 30));
    else if (d == MAAR_DIM_MEMORY && amount >= 1 << 20)
        snprintf(out, 32, "%.6gMi", amount / (1 << 20));
    else
        snprintf(out, 32, "%.6g", d == MAAR_DIM_CPU ? amount / 1000 : amount);
}

/* What the part by weight or the room at the gate ends at. */
static const char *limit_name(const struct maar_view *view, const struct maar_queue *queue,
                              uint64_t d, double limit, const char *otherwise)
{
    double capability =
        (double)maar_resource_get(&queue->capability, (uint32_t)d) * view->dims->policy_scale[d];
    bool is_named =
        maar_resource_has(&queue->capability, (uint32_t)d) && (d >= 2 || capability > 0);
    return is_named && limit >= capability ? "capability" : otherwise;
}

static void explain_room(const struct maar_view *view, const struct maar_queue *queue,
                         const struct maar_task *task, struct maar_reasons *reasons)
{
    const struct account *account = account_of(view, queue);
    const struct maar_resource *request = &task->cls->request;
    MAAR_EACH_DIM(d, exceeded_with(view, account, request, 1))
    {
        char used[32], gang[64] = "", asked[32], deserved[32], text[320];
        int64_t own = own_part(task, d);
        amount_text(used, d, (double)(account->allocated[d] - own));
        amount_text(asked, d, (double)request->v[d]);
        amount_text(deserved, d, account->deserved.v[d] / view->dims->policy_scale[d]);
        if (own > 0) {
            char part[32];
            amount_text(part, d, (double)own);
            snprintf(gang, sizeof gang, "%s for this gang + ", part);
        }
        snprintf(text, sizeof text, "queue %s: %s %s used + %s%s asked > %s deserved", queue->name,
                 view->dims->names[d], used, gang, asked, deserved);
        view->host->reason_add(reasons, text);
        double scale = view->dims->policy_scale[d];
        maar_reason_limit(view, queue, d, (double)account->allocated[d] * scale,
                          (double)request->v[d] * scale, account->deserved.v[d],
                          limit_name(view, queue, d, account->deserved.v[d], "deserved"));
    }
}

/* The greatest number of tasks with which the queue stays within what it deserves. More tasks never
 * exceed less, so a guess is moved to the edge; the guess is off by the rounding of one division at
 * most. */
static uint32_t room_for(const struct maar_view *view, const struct account *account,
                         const struct maar_resource *request, uint32_t want)
{
    uint32_t room = want;
    for (uint32_t d = 0; d < request->n; d++) {
        if (d == MAAR_DIM_PODS || request->v[d] <= 0)
            continue;
        double left =
            account->deserved.v[d] / view->dims->policy_scale[d] - (double)account->allocated[d];
        double fit = left / (double)request->v[d];
        if (!(fit >= 1))
            room = 0;
        else if (fit < (double)room)
            room = (uint32_t)fit;
    }
    while (room < want && !exceeded_with(view, account, request, room + 1))
        room++;
    while (room > 0 && exceeded_with(view, account, request, room))
        room--;
    return room;
}

static uint32_t queue_room(void *self, const struct maar_view *view, const struct maar_queue *queue,
                           const struct maar_task *task, uint32_t want,
                           struct maar_reasons *reasons)
{
    (void)self;
    if (!is_open(view, queue)) {
        if (reasons)
            view->host->reason_add(reasons, "queue is not open");
        return 0;
    }
    const struct account *account = account_of(view, queue);
    uint32_t room = room_for(view, account, &task->cls->request, want);
    if (room == 0 && want > 0 && reasons)
        explain_room(view, queue, task, reasons);
    return room;
}

static uint64_t queue_state(void *self, const struct maar_view *view,
                            const struct maar_queue *queue, bool gate)
{
    (void)self;
    const struct account *account = account_of(view, queue);
    uint64_t state = maar_state_add(account->known, account->allocated_present);
    state = maar_state_add_row(state, account->allocated, view->dims->n);
    state = maar_state_add_amounts(state, &account->deserved);
    if (!gate)
        return state;
    state = maar_state_add_amounts(state, &account->real_capability);
    state = maar_state_add_amounts(state, &account->inqueue);
    return maar_state_add_amounts(state, &account->elastic);
}

static bool queue_preemptive(void *self, const struct maar_view *view,
                             const struct maar_queue *queue, const struct maar_task *const *tasks,
                             size_t n)
{
    (void)self;
    if (!is_open(view, queue))
        return false;
    int64_t sum[MAAR_MAX_DIMS] = {0};
    uint64_t present = 0;
    for (size_t i = 0; i < n; i++)
        add_request(sum, &present, tasks[i]->cls, 1);
    struct maar_resource request = {.present = present, .n = view->dims->n, .v = sum};
    return !exceeded_with(view, account_of(view, queue), &request, 1);
}

static enum maar_vote job_enqueueable(void *self, const struct maar_view *view,
                                      const struct maar_job *job)
{
    (void)self;
    if (!job->queue || !is_open(view, job->queue))
        return MAAR_REJECT;
    if (!job->has_min_resources)
        return MAAR_PERMIT;
    const struct account *account = account_of(view, job->queue);
    struct maar_amounts min = maar_amounts_from_resource(&job->min_resources, view->dims);
    struct maar_amounts allocated = allocated_of(view, account);
    struct maar_amounts need = min;
    maar_amounts_add(&need, &allocated);
    maar_amounts_add(&need, &account->inqueue);
    maar_amounts_sub(&need, &account->elastic);
    uint64_t failing;
    if (maar_amounts_less_equal_with_dimension(&need, &account->real_capability, &min, &failing))
        return MAAR_PERMIT;
    char message[MAAR_REFUSAL_BYTES];
    maar_refusal_text(message, sizeof message, "queue resource quota insufficient", "insufficient",
                      failing, view->dims);
    view->host->job_event(view->session, job, "Unschedulable", message);
    MAAR_EACH_DIM(d, failing)
    {
        maar_reason_limit(view, job->queue, d, need.v[d] - min.v[d], min.v[d],
                          account->real_capability.v[d],
                          limit_name(view, job->queue, d, account->real_capability.v[d],
                                     "in the cluster without the guarantees of others"));
    }
    return MAAR_REJECT;
}

/* True when the queue is over in a dimension, and the task may go for it. */
static bool pays(const struct maar_view *view, const struct account *account, const int64_t *held,
                 const struct maar_class *cls)
{
    struct maar_amounts a = maar_amounts_from_row(held, account->allocated_present, view->dims);
    uint64_t over;
    if (maar_amounts_less_equal_with_names(&a, &account->deserved, MAAR_MISSING_ZERO, &over))
        return false;
    if (view->compatibility)
        return true;
    MAAR_EACH_DIM(d, over)
    {
        if (d < cls->request.n && cls->request.v[d] > 0)
            return true;
    }
    return false;
}

/* Candidates go, in their order, until their queue is within what it deserves in every dimension.
 */
static enum maar_vote reclaimable(void *self, const struct maar_view *view,
                                  const struct maar_task *evictor,
                                  const struct maar_task *const *candidates, size_t n,
                                  uint64_t *out)
{
    (void)self;
    (void)evictor;
    size_t n_dims = view->dims->n;
    struct maar_job_table table;
    maar_job_table_init(&table, n);
    int64_t *rows = calloc(n * n_dims + 1, sizeof *rows);
    if (!rows)
        abort();
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = candidates[i];
        if (!task->job || !task->job->queue)
            continue;
        const struct account *account = account_of(view, task->job->queue);
        int is_new;
        int64_t *held = rows + maar_job_table_index(&table, task->job->queue, &is_new) * n_dims;
        for (size_t d = 0; is_new && d < n_dims; d++)
            held[d] = account->allocated[d];
        if (!account->known || !pays(view, account, held, task->cls))
            continue;
        for (uint32_t d = 0; d < task->cls->request.n; d++)
            held[d] -= task->cls->request.v[d];
        out[i / 64] |= UINT64_C(1) << (i % 64);
    }
    free(rows);
    maar_job_table_fini(&table);
    return MAAR_PERMIT;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void move(const struct maar_view *view, const struct maar_task *task, int64_t times)
{
    if (!task->job || !task->job->queue)
        return;
    struct account *account = account_of(view, task->job->queue);
    if (!account->known)
        return;
    size_t n = task->cls->request.n;
    view->host->touch(view->session, &account->allocated_present,
                      sizeof account->allocated_present + n * sizeof *account->allocated);
    add_request(account->allocated, &account->allocated_present, task->cls, times);
}

static void on_allocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    move(view, task, 1);
}

static void on_deallocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    move(view, task, -1);
}

static void on_enqueued(void *self, const struct maar_view *view, const struct maar_job *job)
{
    (void)self;
    if (!job->queue || !job->has_min_resources ||
        (!view->compatibility && maar_reservation_is_futile(view, job)))
        return;
    struct account *account = account_of(view, job->queue);
    struct maar_amounts held = maar_reservation_whole(view, job);
    view->host->touch(view->session, &account->inqueue, sizeof account->inqueue);
    maar_amounts_add(&account->inqueue, &held);
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "proportion",
    .summary = "Divides the cluster among queues by weight.",
    .queue_row_size = sizeof(struct account),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .close = close_session,
    .hooks =
        {
            .queue_order = queue_order,
            .job_enqueueable = job_enqueueable,
            .queue_overused = queue_overused,
            .queue_preemptive = queue_preemptive,
            .queue_room = queue_room,
            .queue_state = queue_state,
            .reclaimable = reclaimable,
            .on_allocate = on_allocate,
            .on_deallocate = on_deallocate,
            .on_enqueued = on_enqueued,
        },
};
