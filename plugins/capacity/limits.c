/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What may come in: tasks into a queue (queue_room), jobs through the gate (job_enqueueable). Both
 * walk from the queue up to root and look only at dimensions that are asked for, pods left out.
 *
 * Room is strict: what is held and what is asked must be within the limit of each queue on the
 * way. By default it must also leave the other queues what they need to fill their guarantees,
 * unless the queue stays within its own. The gate counts what is held, what admitted jobs still
 * wait for and what the job asks as its minimum, less what running jobs have above their
 * minimum. By default a queue above is no obstacle to a child that stays within what it
 * deserves: then siblings hold more than they deserve, and that can be reclaimed. */

#include "capacity/capacity.h"

#include <stdio.h>
#include <string.h>

#include "kubernetes/refusal.h"
#include "kubernetes/state.h"

#define AMOUNT_BYTES 48

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_in_bytes(const char *name)
{
    return strcmp(name, "memory") == 0 || strcmp(name, "ephemeral-storage") == 0 ||
           strncmp(name, "hugepages-", 10) == 0;
}

/* An amount in the policy's unit as people write it: cores, 4Gi, pieces. */
static const char *amount_text(const struct maar_view *view, uint64_t dim, double amount,
                               char *text)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t suffix = 0;
    amount /= dim == MAAR_DIM_CPU ? 1000 : view->dims->policy_scale[dim];
    if (is_in_bytes(view->dims->names[dim]))
        while (suffix < 5 && (amount >= 1024 || amount <= -1024)) {
            amount /= 1024;
            suffix++;
        }
    snprintf(text, AMOUNT_BYTES, "%.10g%s", amount, suffixes[suffix]);
    return text;
}

/* What sets the limit. */
static const char *limit_name(const struct maar_view *view,
                              const struct maar_capacity_account *account, uint64_t dim)
{
    double limit = account->limit.v[dim];
    if (maar_amounts_has(&account->capability, dim) && limit >= account->capability.v[dim])
        return "capability";
    if (limit >= (double)view->total_allocatable[dim] * view->dims->policy_scale[dim])
        return "in the cluster";
    return "left by the guarantees of other queues";
}

/* "queue q: cpu 10 used + 8 asked > 12 capability" */
static void limit_text(const struct maar_view *view, const struct maar_queue *queue, uint64_t dim,
                       const char *verb, double used, double asked, char *text)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    char u[AMOUNT_BYTES], a[AMOUNT_BYTES], l[AMOUNT_BYTES];
    snprintf(text, MAAR_CAPACITY_TEXT_BYTES, "queue %s: %s %s %s + %s asked > %s %s", queue->name,
             view->dims->names[dim], amount_text(view, dim, used, u), verb,
             amount_text(view, dim, asked, a), amount_text(view, dim, account->limit.v[dim], l),
             limit_name(view, account, dim));
}

/* ---- room ------------------------------------------------------------------------------------ */

static int64_t saturated(int64_t held, int64_t ask, uint32_t times)
{
    int64_t sum;
    if (__builtin_mul_overflow(ask, (int64_t)times, &sum) ||
        __builtin_add_overflow(held, sum, &sum))
        return INT64_MAX;
    return sum;
}

static bool is_limited(const struct maar_view *view, const struct maar_capacity_account *account,
                       uint64_t dim)
{
    return view->compatibility || maar_amounts_has(&account->limit, dim);
}

static uint64_t asked_of(const struct maar_resource *request)
{
    uint64_t asked = 0;
    for (uint32_t d = 0; d < request->n; d++)
        if (d != MAAR_DIM_PODS && request->v[d] > 0)
            asked |= UINT64_C(1) << d;
    return asked;
}

/* So many tasks like one that asks. */
struct asker {
    const struct maar_resource *request;
    uint32_t times;
    bool is_kept; /* room for the one that asks is among what is kept */
};

/* What the queue holds and keeps for others than the asker. */
static int64_t taken_of(const struct maar_capacity_account *account, const struct asker *asker,
                        uint64_t dim)
{
    int64_t kept = account->kept[dim] - (asker->is_kept ? asker->request->v[dim] : 0);
    return account->held.allocated[dim] + (kept > 0 ? kept : 0);
}

/* Dimensions in which the queue would be above its limit with so many more tasks. */
static uint64_t above_limit(const struct maar_view *view, const struct maar_queue *queue,
                            const struct asker *asker)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    const struct maar_resource *request = asker->request;
    uint64_t above = 0;
    MAAR_EACH_DIM(d, asked_of(request))
    {
        int64_t sum = saturated(taken_of(account, asker, d), request->v[d], asker->times);
        double used = (double)sum * view->dims->policy_scale[d];
        if (is_limited(view, account, d) && used > account->limit.v[d])
            above |= UINT64_C(1) << d;
    }
    return above;
}

/* What contains the queue and its siblings: the queue above, or the cluster. */
struct container {
    const char *name; /* NULL: the cluster */
    const struct maar_capacity_ledger *held;
};

static struct container container_of(const struct maar_capacity *self, const struct maar_view *view,
                                     const struct maar_queue *queue)
{
    const struct maar_queue *above = maar_capacity_above(view, queue);
    if (above)
        return (struct container){above->name, &maar_capacity_account(view, above)->held};
    if (self->hierarchy)
        return (struct container){NULL, NULL};
    return (struct container){NULL, &maar_capacity_session(view)->cluster};
}

/* The container's limit in the policy's unit; that of root is the cluster at most. */
static double container_limit(const struct maar_view *view, const struct maar_queue *queue,
                              uint64_t dim)
{
    double total = (double)view->total_allocatable[dim] * view->dims->policy_scale[dim];
    const struct maar_queue *above = maar_capacity_above(view, queue);
    if (!above)
        return total;
    const struct maar_capacity_account *account = maar_capacity_account(view, above);
    if (!maar_amounts_has(&account->limit, dim) || total < account->limit.v[dim])
        return total;
    return account->limit.v[dim];
}

/* Unused guarantees of the queue's siblings that so many more tasks have to respect. */
static int64_t kept_for_siblings(const struct maar_view *view, const struct maar_queue *queue,
                                 const struct maar_capacity_ledger *container, uint64_t dim,
                                 int64_t ask, uint32_t times)
{
    int64_t guarantee = maar_capacity_guarantee(view, queue, (uint32_t)dim);
    int64_t held = maar_capacity_account(view, queue)->held.allocated[dim];
    if (!container || container->promised[dim] <= 0 || saturated(held, ask, times) <= guarantee)
        return 0;
    return container->promised[dim] -
           maar_capacity_unused_guarantee(view, queue, (uint32_t)dim, held);
}

/* Dimensions in which so many more tasks would take what is guaranteed to siblings. */
static uint64_t invaded(const struct maar_capacity *self, const struct maar_view *view,
                        const struct maar_queue *queue, const struct maar_resource *request,
                        uint32_t times)
{
    struct container up = container_of(self, view, queue);
    uint64_t found = 0;
    MAAR_EACH_DIM(d, up.held && !view->compatibility ? asked_of(request) : 0)
    {
        int64_t kept = kept_for_siblings(view, queue, up.held, d, request->v[d], times);
        int64_t sum = saturated(up.held->allocated[d], request->v[d], times);
        double scale = view->dims->policy_scale[d];
        if (kept > 0 && (double)saturated(sum, kept, 1) * scale > container_limit(view, queue, d))
            found |= UINT64_C(1) << d;
    }
    return found;
}

static bool has_room(const struct maar_capacity *self, const struct maar_view *view,
                     const struct maar_queue *queue, const struct asker *asker)
{
    for (; queue; queue = maar_capacity_above(view, queue))
        if (above_limit(view, queue, asker) ||
            invaded(self, view, queue, asker->request, asker->times))
            return false;
    return true;
}

static void explain_invaded(const struct maar_capacity *self, const struct maar_view *view,
                            const struct maar_queue *queue, const struct maar_resource *request,
                            uint64_t dims, struct maar_reasons *reasons)
{
    struct container up = container_of(self, view, queue);
    char text[MAAR_CAPACITY_TEXT_BYTES];
    char u[AMOUNT_BYTES], a[AMOUNT_BYTES], k[AMOUNT_BYTES], l[AMOUNT_BYTES];
    MAAR_EACH_DIM(d, up.held ? dims : 0)
    {
        double scale = view->dims->policy_scale[d];
        double kept = (double)kept_for_siblings(view, queue, up.held, d, request->v[d], 1) * scale;
        snprintf(
            text, sizeof text, "%s%s: %s %s used + %s asked + %s guaranteed to others than %s > %s",
            up.name ? "queue " : "cluster", up.name ? up.name : "", view->dims->names[d],
            amount_text(view, d, (double)up.held->allocated[d] * scale, u),
            amount_text(view, d, (double)request->v[d] * scale, a), amount_text(view, d, kept, k),
            queue->name, amount_text(view, d, container_limit(view, queue, d), l));
        view->host->reason_add(reasons, text);
        maar_reason_limit(view, maar_capacity_above(view, queue), d,
                          (double)up.held->allocated[d] * scale, (double)request->v[d] * scale,
                          container_limit(view, queue, d) - kept,
                          "left by the guarantees of other queues");
    }
}

static void explain_room(const struct maar_capacity *self, const struct maar_view *view,
                         const struct maar_queue *queue, const struct asker *asker,
                         struct maar_reasons *reasons)
{
    const struct maar_resource *request = asker->request;
    char text[MAAR_CAPACITY_TEXT_BYTES];
    for (; queue; queue = maar_capacity_above(view, queue)) {
        const struct maar_capacity_account *account = maar_capacity_account(view, queue);
        uint64_t above = above_limit(view, queue, asker);
        MAAR_EACH_DIM(d, above)
        {
            double scale = view->dims->policy_scale[d];
            int64_t taken = taken_of(account, asker, d);
            const char *verb =
                taken > account->held.allocated[d] ? "used or kept for opened gates" : "used";
            limit_text(view, queue, d, verb, (double)taken * scale, (double)request->v[d] * scale,
                       text);
            view->host->reason_add(reasons, text);
            maar_reason_limit(view, queue, d, (double)account->held.allocated[d] * scale,
                              (double)request->v[d] * scale, account->limit.v[d],
                              limit_name(view, account, d));
        }
        uint64_t taken = invaded(self, view, queue, request, 1);
        explain_invaded(self, view, queue, request, taken & ~above, reasons);
    }
}

/* More tasks never fit better than fewer. */
static uint32_t greatest_room(const struct maar_capacity *self, const struct maar_view *view,
                              const struct maar_queue *queue, const struct asker *asker)
{
    uint32_t low = 0, high = asker->times; /* low fit, more than high do not */
    if (high > 0 && has_room(self, view, queue, asker))
        return high;
    while (low + 1 < high) {
        struct asker fewer = *asker;
        fewer.times = low + (high - low) / 2;
        if (has_room(self, view, queue, &fewer))
            low = fewer.times;
        else
            high = fewer.times;
    }
    return low;
}

uint32_t maar_capacity_queue_room(void *self, const struct maar_view *view,
                                  const struct maar_queue *queue, const struct maar_task *task,
                                  uint32_t want, struct maar_reasons *reasons)
{
    char text[MAAR_CAPACITY_TEXT_BYTES];
    if (maar_capacity_refusal(self, view, queue, text)) {
        if (reasons)
            view->host->reason_add(reasons, text);
        return 0;
    }
    struct asker asker = {&task->cls->request, want, maar_capacity_is_kept(view, task)};
    uint32_t room = greatest_room(self, view, queue, &asker);
    asker.times = 1;
    if (room == 0 && want > 0 && reasons)
        explain_room(self, view, queue, &asker, reasons);
    return room;
}

/* ---- the gate -------------------------------------------------------------------------------- */

static struct maar_amounts need_at(const struct maar_view *view,
                                   const struct maar_capacity_account *account,
                                   const struct maar_amounts *min)
{
    struct maar_amounts need = *min;
    struct maar_amounts held = maar_capacity_held(view, account);
    maar_amounts_add(&need, &held);
    maar_amounts_add(&need, &account->inqueue);
    maar_amounts_sub(&need, &account->elastic);
    return need;
}

static uint64_t above_limit_at_gate(const struct maar_view *view,
                                    const struct maar_capacity_account *account,
                                    const struct maar_amounts *need, const struct maar_amounts *min)
{
    uint64_t failing = 0;
    maar_amounts_less_equal_with_dimension(need, &account->limit, min, &failing);
    return view->compatibility ? failing : failing & (account->limit.present | 3);
}

/* The child needs no more of these dimensions than it deserves. */
static bool deserves(const struct maar_capacity_account *child, const struct maar_amounts *need,
                     uint64_t dims)
{
    MAAR_EACH_DIM(d, dims)
    {
        if (need->v[d] > child->deserved.v[d])
            return false;
    }
    return true;
}

/* Takes the next dimension out of the mask: cpu, memory, then by name, whatever their numbers. */
static uint64_t next_by_name(const struct maar_view *view, uint64_t *dims)
{
    uint64_t next = MAAR_MAX_DIMS;
    MAAR_EACH_DIM(d, *dims)
    {
        const char *const *names = view->dims->names;
        if (next == MAAR_MAX_DIMS || (next >= 2 && strcmp(names[d], names[next]) < 0))
            next = d;
    }
    *dims &= ~(UINT64_C(1) << next);
    return next;
}

static void report(const struct maar_view *view, const struct maar_job *job,
                   const struct maar_queue *queue, uint64_t failing,
                   const struct maar_amounts *need, const struct maar_amounts *min)
{
    char message[MAAR_REFUSAL_BYTES];
    maar_refusal_text(message, sizeof message, "queue resource quota insufficient", "insufficient",
                      failing, view->dims);
    size_t n = strlen(message);
    const char *separator = " (";
    for (uint64_t left = view->compatibility ? 0 : failing; left;) {
        uint64_t d = next_by_name(view, &left);
        char text[MAAR_CAPACITY_TEXT_BYTES];
        limit_text(view, queue, d, "taken", need->v[d] - min->v[d], min->v[d], text);
        maar_reason_limit(view, queue, d, need->v[d] - min->v[d], min->v[d],
                          maar_capacity_account(view, queue)->limit.v[d],
                          limit_name(view, maar_capacity_account(view, queue), d));
        int more = snprintf(message + n, sizeof message - n, "%s%s", separator, text);
        n = n + (size_t)more < sizeof message ? n + (size_t)more : sizeof message - 1;
        separator = "; ";
    }
    if (!view->compatibility)
        snprintf(message + n, sizeof message - n, ")");
    view->host->job_event(view->session, job, "Unschedulable", message);
}

enum maar_vote maar_capacity_job_enqueueable(void *self, const struct maar_view *view,
                                             const struct maar_job *job)
{
    if (!job->queue)
        return MAAR_REJECT;
    char text[MAAR_CAPACITY_TEXT_BYTES];
    if (maar_capacity_refusal(self, view, job->queue, text)) {
        if (!view->compatibility)
            view->host->job_event(view->session, job, "Unschedulable", text);
        return MAAR_REJECT;
    }
    if (!job->has_min_resources)
        return MAAR_PERMIT;
    struct maar_amounts min = maar_amounts_from_resource(&job->min_resources, view->dims);
    struct maar_amounts need_below = maar_amounts_none();
    const struct maar_capacity_account *below = NULL;
    const struct maar_queue *queue = job->queue;
    for (; queue; queue = maar_capacity_above(view, queue)) {
        const struct maar_capacity_account *account = maar_capacity_account(view, queue);
        struct maar_amounts need = need_at(view, account, &min);
        uint64_t failing = above_limit_at_gate(view, account, &need, &min);
        bool excused = below && !view->compatibility && deserves(below, &need_below, failing);
        if (failing && !excused) {
            report(view, job, queue, failing, &need, &min);
            return MAAR_REJECT;
        }
        need_below = need;
        below = account;
    }
    return MAAR_PERMIT;
}

/* ---- state ----------------------------------------------------------------------------------- */

static uint64_t add_ledger(uint64_t state, const struct maar_view *view,
                           const struct maar_capacity_ledger *ledger)
{
    state = maar_state_add_row(state, ledger->allocated, view->dims->n);
    return maar_state_add_row(state, ledger->promised, view->dims->n);
}

/* All that the answers above look at, from the queue up to root. */
uint64_t maar_capacity_queue_state(void *self, const struct maar_view *view,
                                   const struct maar_queue *queue, bool gate)
{
    (void)self;
    const struct maar_capacity_session *session = maar_capacity_session(view);
    uint64_t state = add_ledger(session->ready, view, &session->cluster);
    for (; queue; queue = maar_capacity_above(view, queue)) {
        const struct maar_capacity_account *account = maar_capacity_account(view, queue);
        state = maar_state_add(state, account->held.present);
        state = add_ledger(state, view, &account->held);
        state = maar_state_add_amounts(state, &account->limit);
        state = maar_state_add_amounts(state, &account->deserved);
        if (!gate)
            continue;
        state = maar_state_add_amounts(state, &account->inqueue);
        state = maar_state_add_amounts(state, &account->elastic);
    }
    return state;
}
