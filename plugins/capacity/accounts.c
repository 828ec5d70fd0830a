/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The accounts of queues: how the tree hangs together, what each queue holds, deserves and may ever
 * hold. Filled when a session opens, kept up by the events.
 *
 * Limits go from root down. What a queue may hold is divided so that each child may take all but
 * what the guarantees of its siblings keep, up to its own capability; a child that names no
 * capability of a dimension inherits that of its parent. Without enableHierarchy the cluster's
 * total is divided in the same way among all queues. Sums and comparisons are made in Volcano's
 * order. */

#include "capacity/capacity.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubernetes/queue_sums.h"
#include "kubernetes/reservation.h"

/* The tree in an order in which a queue comes after the one above it. */
struct tree {
    const struct maar_queue **queues;
    size_t n;
    size_t room;
};

/* ---- what is held ---------------------------------------------------------------------------- */

static void add_request(int64_t *row, uint64_t *present, const struct maar_class *cls,
                        int64_t times)
{
    for (uint32_t d = 0; d < cls->request.n; d++)
        row[d] += times * cls->request.v[d];
    *present |= cls->request.present;
}

static void add_kept(struct maar_capacity_account *account, const struct maar_class *cls,
                     int64_t times)
{
    for (uint32_t d = 0; d < cls->request.n; d++)
        account->kept[d] += times * cls->request.v[d];
}

static void open_account(const struct maar_view *view, const struct maar_queue *queue)
{
    struct maar_capacity_account *account = maar_capacity_account(view, queue);
    view->host->touch(view->session, account, sizeof *account);
    *account = (struct maar_capacity_account){.known = true, .n_above = 1};
    for (uint32_t d = 0; d < view->dims->n; d++)
        account->held.allocated[d] = queue->allocated[d];
    account->held.present = queue->allocated_present;
}

static bool holds_nothing(const struct maar_view *view, const struct maar_job *job)
{
    return !view->compatibility && maar_reservation_is_futile(view, job);
}

static void add_sum(struct maar_amounts *a, const struct maar_queue_sum *sum,
                    const struct maar_view *view)
{
    struct maar_amounts b = maar_amounts_from_row(sum->v, sum->present, view->dims);
    maar_amounts_add(a, &b);
}

/* Tasks that are Pipelined when the session opens hold room. */
static void count_jobs(const struct maar_view *view, const struct maar_queue *queue,
                       const struct maar_queue_sums *sums)
{
    struct maar_capacity_account *account = maar_capacity_account(view, queue);
    for (uint32_t d = 0; d < view->dims->n; d++)
        account->held.allocated[d] += sums->pipelined.v[d];
    account->held.present |= sums->pipelined.present;
    add_sum(&account->inqueue, &sums->waiting, view);
    add_sum(&account->inqueue, &sums->running, view);
    add_sum(&account->elastic, &sums->elastic, view);
}

/* Room is kept for Pending tasks only. */
static void count_kept(const struct maar_view *view)
{
    for (uint32_t i = 0; i < view->n_waiting && view->queue_admission; i++) {
        const struct maar_job *job = view->waiting[i];
        for (uint32_t k = 0; k < job->n_tasks; k++)
            if (maar_capacity_is_kept(view, job->tasks[k]))
                add_kept(maar_capacity_account(view, job->queue), job->tasks[k]->cls, 1);
    }
}

/* The ledger in which the queue's guarantee is promised; NULL at root and outside the tree. */
static struct maar_capacity_ledger *ledger_above(const struct maar_capacity *self,
                                                 const struct maar_view *view,
                                                 const struct maar_queue *queue)
{
    const struct maar_queue *above = maar_capacity_above(view, queue);
    if (above)
        return &maar_capacity_account(view, above)->held;
    return self->hierarchy ? NULL : &maar_capacity_session(view)->cluster;
}

/* Adds what the queue's guarantee still needs to what is promised above (times is 1 or -1). Sums of
 * absurd guarantees wrap, and come out right when they are taken back. */
static void promise(const struct maar_view *view, const struct maar_queue *queue,
                    struct maar_capacity_ledger *up, int64_t times)
{
    const struct maar_capacity_account *account = maar_capacity_account(view, queue);
    for (uint32_t d = 0; d < queue->guarantee.n; d++) {
        int64_t unused = maar_capacity_unused_guarantee(view, queue, d, account->held.allocated[d]);
        up->promised[d] = (int64_t)((uint64_t)up->promised[d] + (uint64_t)times * (uint64_t)unused);
    }
}

/* What a queue holds, the one above it holds too; the deepest first. */
static void roll_up(const struct maar_capacity *self, const struct maar_view *view,
                    const struct tree *tree)
{
    for (size_t i = tree->n; i-- > 0;) {
        const struct maar_queue *queue = tree->queues[i];
        const struct maar_capacity_account *account = maar_capacity_account(view, queue);
        struct maar_capacity_ledger *up = ledger_above(self, view, queue);
        if (!up)
            continue;
        promise(view, queue, up, 1);
        for (uint32_t d = 0; d < view->dims->n; d++)
            up->allocated[d] += account->held.allocated[d];
        up->present |= account->held.present;
        const struct maar_queue *above = maar_capacity_above(view, queue);
        if (!above)
            continue;
        struct maar_capacity_account *parent = maar_capacity_account(view, above);
        for (uint32_t d = 0; d < view->dims->n && !view->compatibility; d++)
            parent->kept[d] += account->kept[d];
        maar_amounts_add(&parent->inqueue, &account->inqueue);
        maar_amounts_add(&parent->elastic, &account->elastic);
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Queues that are not reached have a parent that is missing, or stand in a cycle. */
static void walk_down(const struct maar_view *view, const struct maar_queue *root,
                      struct tree *tree)
{
    struct maar_capacity_account *top = maar_capacity_account(view, root);
    top->linked = true;
    top->n_above = 0;
    tree->queues[tree->n++] = root;
    for (size_t i = 0; i < tree->n; i++) {
        const struct maar_queue *queue = tree->queues[i];
        for (uint32_t c = 0; c < queue->n_children; c++) {
            const struct maar_queue *child = queue->children[c];
            struct maar_capacity_account *account = maar_capacity_account(view, child);
            if (!account->known || account->linked || child->parent != queue ||
                tree->n == tree->room)
                continue;
            account->linked = true;
            account->n_above = maar_capacity_account(view, queue)->n_above + 1;
            tree->queues[tree->n++] = child;
        }
    }
}

static const struct maar_queue *find_root(const struct maar_view *view)
{
    for (uint32_t i = 0; i < view->n_queues; i++)
        if (strcmp(view->queues[i]->name, "root") == 0)
            return view->queues[i];
    return NULL;
}

/* The first thing that is wrong with the tree, written to text; false when nothing is. */
static bool find_fault(const struct maar_view *view, const struct maar_queue *root, char *text,
                       size_t n)
{
    if (!root) {
        snprintf(text, n, "queue root does not exist");
        return true;
    }
    for (uint32_t i = 0; i < view->n_queues; i++) {
        const struct maar_queue *queue = view->queues[i];
        if (maar_capacity_account(view, queue)->linked)
            continue;
        snprintf(text, n, "queue %s is not below queue root: a parent is missing or in a cycle",
                 queue->name);
        return true;
    }
    for (uint32_t i = 0; i < view->n_jobs; i++) {
        const struct maar_job *job = view->jobs[i];
        if (!job->queue || job->queue->n_children == 0)
            continue;
        snprintf(text, n, "job %s is in queue %s, which has child queues", job->uid,
                 job->queue->name);
        return true;
    }
    return false;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static double infinite(uint64_t dim)
{
    return dim < 2 ? DBL_MAX : (double)INT64_MAX;
}

/* What a child may have of its parent's limit beside its own guarantee. */
static struct maar_amounts unpromised(const struct maar_view *view,
                                      const struct maar_amounts *whole,
                                      const struct maar_amounts *promised)
{
    if (view->compatibility)
        return maar_amounts_exceeded_part(whole, promised);
    struct maar_amounts rest = *whole;
    MAAR_EACH_DIM(d, rest.present | 3)
    {
        double left = whole->v[d] - promised->v[d];
        rest.v[d] = left > 0 ? left : 0;
    }
    return rest;
}

static void set_limit(const struct maar_view *view, struct maar_capacity_account *account,
                      const struct maar_amounts *rest, const struct maar_amounts *guarantee)
{
    account->limit = *rest;
    if (view->compatibility) {
        maar_amounts_add(&account->limit, guarantee);
        maar_amounts_min_dimension(&account->limit, &account->capability, MAAR_MISSING_INFINITY);
        return;
    }
    MAAR_EACH_DIM(d, rest->present | 3)
    {
        account->limit.v[d] += guarantee->v[d];
    }
    const struct maar_amounts *capability = &account->capability;
    MAAR_EACH_DIM(d, capability->present | 3)
    {
        if (!maar_amounts_has(&account->limit, d) || capability->v[d] < account->limit.v[d])
            maar_amounts_set(&account->limit, (uint32_t)d, capability->v[d]);
    }
}

/* A capability limits cpu and memory only when it names an amount of them. */
static void lift_unnamed(struct maar_amounts *capability)
{
    for (uint32_t d = 0; d < 2; d++)
        if (capability->v[d] <= 0)
            capability->v[d] = infinite(d);
}

static struct maar_amounts guarantee_of(const struct maar_view *view,
                                        const struct maar_queue *queue)
{
    struct maar_amounts guarantee = maar_amounts_from_resource(&queue->guarantee, view->dims);
    MAAR_EACH_DIM(d, guarantee.present | 3)
    {
        guarantee.v[d] =
            (double)maar_capacity_guarantee(view, queue, (uint32_t)d) * view->dims->policy_scale[d];
    }
    return guarantee;
}

static void set_flat_limits(const struct maar_view *view)
{
    struct maar_amounts total =
        maar_amounts_from_row(view->total_allocatable, view->total_present, view->dims);
    struct maar_amounts promised = maar_amounts_none();
    for (uint32_t i = 0; i < view->n_queues; i++) {
        struct maar_amounts guarantee = guarantee_of(view, view->queues[i]);
        maar_amounts_add(&promised, &guarantee);
    }
    struct maar_amounts rest = unpromised(view, &total, &promised);
    for (uint32_t i = 0; i < view->n_queues; i++) {
        const struct maar_queue *queue = view->queues[i];
        struct maar_capacity_account *account = maar_capacity_account(view, queue);
        struct maar_amounts guarantee = guarantee_of(view, queue);
        account->capability = maar_amounts_from_resource(&queue->capability, view->dims);
        lift_unnamed(&account->capability);
        set_limit(view, account, &rest, &guarantee);
        account->deserved = maar_amounts_from_resource(&queue->deserved, view->dims);
        maar_amounts_min_dimension(&account->deserved, &account->limit, MAAR_MISSING_INFINITY);
        account->deserved = maar_amounts_max(&account->deserved, &guarantee);
    }
}

/* Volcano takes a root that names anything as it is: what root does not name then nobody gets. */
static void set_root_limit(const struct maar_view *view, const struct maar_queue *root)
{
    struct maar_capacity_account *account = maar_capacity_account(view, root);
    account->capability = maar_amounts_from_resource(&root->capability, view->dims);
    if (!view->compatibility) {
        lift_unnamed(&account->capability);
    } else if (maar_amounts_is_empty(&account->capability)) {
        MAAR_EACH_DIM(d, view->total_present | 3)
        {
            maar_amounts_set(&account->capability, (uint32_t)d, infinite(d));
        }
    }
    account->limit = account->capability;
}

static void inherit(struct maar_amounts *capability, const struct maar_amounts *above)
{
    for (uint32_t d = 0; d < 2; d++)
        if (capability->v[d] <= 0)
            capability->v[d] = above->v[d];
    MAAR_EACH_DIM(d, above->present & ~capability->present)
    {
        maar_amounts_set(capability, (uint32_t)d, above->v[d]);
    }
}

static void set_limits_below(const struct maar_view *view, const struct maar_queue *queue)
{
    struct maar_capacity_account *parent = maar_capacity_account(view, queue);
    struct maar_amounts deserved = maar_amounts_none(), promised = maar_amounts_none();
    for (uint32_t c = 0; c < queue->n_children; c++) {
        const struct maar_queue *child = queue->children[c];
        struct maar_capacity_account *account = maar_capacity_account(view, child);
        if (!account->linked)
            continue;
        struct maar_amounts guarantee = guarantee_of(view, child);
        account->deserved = maar_amounts_from_resource(&child->deserved, view->dims);
        account->deserved = maar_amounts_max(&account->deserved, &guarantee);
        maar_amounts_add(&deserved, &account->deserved);
        maar_amounts_add(&promised, &guarantee);
        account->capability = maar_amounts_from_resource(&child->capability, view->dims);
        inherit(&account->capability, &parent->capability);
    }
    if (parent->n_above == 0)
        parent->deserved = deserved;
    struct maar_amounts rest = unpromised(view, &parent->limit, &promised);
    for (uint32_t c = 0; c < queue->n_children; c++) {
        const struct maar_queue *child = queue->children[c];
        struct maar_capacity_account *account = maar_capacity_account(view, child);
        struct maar_amounts guarantee = guarantee_of(view, child);
        if (account->linked)
            set_limit(view, account, &rest, &guarantee);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static void open_tree(const struct maar_view *view, struct tree *tree)
{
    struct maar_capacity_session *session = maar_capacity_session(view);
    const struct maar_queue *root = find_root(view);
    if (root)
        walk_down(view, root, tree);
    if (find_fault(view, root, session->fault, sizeof session->fault) && view->compatibility)
        session->ready = false;
    if (!root)
        return;
    set_root_limit(view, root);
    for (size_t i = 0; i < tree->n; i++)
        set_limits_below(view, tree->queues[i]);
}

static void open_flat(const struct maar_view *view, struct tree *tree)
{
    for (uint32_t i = 0; i < view->n_queues; i++)
        tree->queues[tree->n++] = view->queues[i];
    set_flat_limits(view);
}

void maar_capacity_open(struct maar_capacity *self, const struct maar_view *view)
{
    struct maar_capacity_session *session = maar_capacity_session(view);
    view->host->touch(view->session, session, sizeof *session);
    *session = (struct maar_capacity_session){.ready = true};
    for (uint32_t i = 0; i < view->n_queues; i++) {
        open_account(view, view->queues[i]);
        count_jobs(view, view->queues[i], maar_queue_sums(&self->sums, view, view->queues[i]));
    }
    count_kept(view);

    struct tree tree = {.room = view->n_queues};
    tree.queues = calloc(tree.room + 1, sizeof *tree.queues);
    if (!tree.queues)
        abort();
    if (self->hierarchy)
        open_tree(view, &tree);
    else
        open_flat(view, &tree);
    roll_up(self, view, &tree);
    free(tree.queues);

    for (uint32_t i = 0; i < view->n_queues; i++) {
        struct maar_capacity_account *account = maar_capacity_account(view, view->queues[i]);
        account->opening_share = maar_capacity_share(view, account);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_to_ledger(const struct maar_view *view, struct maar_capacity_ledger *ledger,
                          const struct maar_class *cls, int64_t times)
{
    view->host->touch(view->session, ledger,
                      offsetof(struct maar_capacity_ledger, allocated) +
                          cls->request.n * sizeof *ledger->allocated);
    add_request(ledger->allocated, &ledger->present, cls, times);
}

void maar_capacity_move(const struct maar_capacity *self, const struct maar_view *view,
                        const struct maar_task *task, int64_t times)
{
    if (!task->job || !task->job->queue)
        return;
    const struct maar_class *cls = task->cls;
    const struct maar_queue *queue = task->job->queue;
    for (; queue; queue = maar_capacity_above(view, queue)) {
        struct maar_capacity_ledger *up = ledger_above(self, view, queue);
        bool promises = up && queue->guarantee.n > 0;
        if (promises) {
            view->host->touch(view->session, up->promised,
                              queue->guarantee.n * sizeof *up->promised);
            promise(view, queue, up, -1);
        }
        add_to_ledger(view, &maar_capacity_account(view, queue)->held, cls, times);
        if (promises)
            promise(view, queue, up, 1);
        /* Ledgers of queues have their turn; the cluster's has none. */
        if (up && up == &maar_capacity_session(view)->cluster)
            add_to_ledger(view, up, cls, times);
    }
}

bool maar_capacity_is_kept(const struct maar_view *view, const struct maar_task *task)
{
    return view->queue_admission && task->status == MAAR_TASK_PENDING && task->asks_queue_gate &&
           (!task->gated || task->gate_opened);
}

void maar_capacity_keep(const struct maar_view *view, const struct maar_task *task, int64_t times)
{
    if (!task->job || !task->job->queue)
        return;
    const struct maar_queue *queue = task->job->queue;
    for (; queue; queue = view->compatibility ? NULL : maar_capacity_above(view, queue)) {
        struct maar_capacity_account *account = maar_capacity_account(view, queue);
        view->host->touch(view->session, account->kept,
                          task->cls->request.n * sizeof *account->kept);
        add_kept(account, task->cls, times);
    }
}

void maar_capacity_admit(const struct maar_view *view, const struct maar_job *job)
{
    if (!job->queue || !job->has_min_resources || holds_nothing(view, job))
        return;
    struct maar_amounts whole = maar_reservation_whole(view, job);
    const struct maar_queue *queue = job->queue;
    for (; queue; queue = maar_capacity_above(view, queue)) {
        struct maar_capacity_account *account = maar_capacity_account(view, queue);
        view->host->touch(view->session, &account->inqueue, sizeof account->inqueue);
        maar_amounts_add(&account->inqueue, &whole);
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

double maar_capacity_share(const struct maar_view *view,
                           const struct maar_capacity_account *account)
{
    if (maar_amounts_is_empty(&account->deserved))
        return 1;
    double greatest = 0;
    MAAR_EACH_DIM(d, maar_amounts_names(&account->deserved))
    {
        double held = (double)account->held.allocated[d] * view->dims->policy_scale[d];
        double share = maar_share(held, account->deserved.v[d]);
        if (share > greatest)
            greatest = share;
    }
    return greatest;
}

void maar_capacity_part_ways(const struct maar_view *view, const struct maar_queue *l,
                             const struct maar_queue *r, const struct maar_queue **ret_l,
                             const struct maar_queue **ret_r)
{
    uint32_t nl = maar_capacity_account(view, l)->n_above;
    uint32_t nr = maar_capacity_account(view, r)->n_above;
    for (; nl > nr && nl > 1; nl--)
        l = maar_capacity_above(view, l);
    for (; nr > nl && nr > 1; nr--)
        r = maar_capacity_above(view, r);
    for (; nl > 1 && nl == nr && l->parent != r->parent; nl--, nr--) {
        l = maar_capacity_above(view, l);
        r = maar_capacity_above(view, r);
    }
    *ret_l = l;
    *ret_r = r;
}

static const char *state_text(const struct maar_queue *queue)
{
    static const char *const texts[] = {"not Open", "Open", "Closed", "Closing", "Unknown"};
    return queue->state < sizeof texts / sizeof *texts ? texts[queue->state] : "not Open";
}

const char *maar_capacity_refusal(const struct maar_capacity *self, const struct maar_view *view,
                                  const struct maar_queue *queue, char *text)
{
    const struct maar_capacity_session *session = maar_capacity_session(view);
    bool open = view->compatibility ? queue->state == MAAR_QUEUE_OPEN : maar_queue_is_open(queue);
    size_t n = MAAR_CAPACITY_TEXT_BYTES;
    if (!session->ready)
        snprintf(text, n, "%s", session->fault);
    else if (self->hierarchy && !maar_capacity_account(view, queue)->linked)
        snprintf(text, n, "queue %s is not below queue root: a parent is missing or in a cycle",
                 queue->name);
    else if (self->hierarchy && queue->n_children > 0)
        snprintf(text, n, "queue %s has child queues: only leaves take jobs", queue->name);
    else if (!open)
        snprintf(text, n, "queue %s is %s", queue->name, state_text(queue));
    else
        return NULL;
    return text;
}
