/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Placing the tasks of one job, or of one of its sub-jobs, one after the other, in a statement: queue room, filters, the best node. */

#include "base/bitset.h"
#include "place/place.h"

/* A class for which no node was found in this call: its other tasks need no second look. Where it depends on the pods
 * on other nodes, only as long as no further one is placed. */
struct refusal {
    const struct maar_class *cls;
    const char *text;
    bool is_late;
    uint32_t n_placed; /* by then */
};

struct role_memory {
    bool checked;
    uint64_t *refused; /* NULL: all members are alike */
};

struct placing {
    struct maar_statement *statement;
    struct maar_session *session;
    const struct maar_job *job;
    const struct maar_sub_job *sub_job; /* NULL: the whole job is to come together */
    uint32_t flags;
    bool compatible;
    MAAR_VEC(struct refusal) refused;
    /* Tasks refused that may find a node once others are placed. */
    MAAR_VEC(const struct maar_task *) late;
    struct {
        const struct maar_class *cls; /* for which the queue had no room; NULL: none yet */
        uint32_t n_placed;            /* by then */
        const char *text;
    } full;
    /* [role slot]: with MAAR_PLACE_ROLE_MEMORY, the nodes that refused one of the role. */
    struct role_memory *roles;
    struct maar_place_result result;
};

static struct refusal *find_refusal(const struct placing *p, const struct maar_class *cls)
{
    for (size_t i = 0; i < p->refused.n; i++)
        if (p->refused.data[i].cls == cls)
            return &p->refused.data[i];
    return NULL;
}

/* Why the class finds no node now, as far as it is known; NULL. */
static const char *refused_text(const struct placing *p, const struct maar_class *cls)
{
    const struct refusal *refusal = find_refusal(p, cls);
    if (!refusal || (refusal->is_late && refusal->n_placed != p->result.n_placed))
        return NULL;
    return refusal->text;
}

static bool is_refused_for_good(const struct placing *p, const struct maar_class *cls)
{
    const struct refusal *refusal = find_refusal(p, cls);
    return refusal && !refusal->is_late;
}

static void refuse_class(struct placing *p, const struct maar_task *task, const char *text)
{
    maar_session_refuse_task(p->session, task, text);
    maar_lacking_nodes(p->session, p->job, task);
    struct refusal refusal = {task->cls, text, maar_depends_on_others(p->session, task),
                              p->result.n_placed};
    struct refusal *known = find_refusal(p, task->cls);
    if (known)
        *known = refusal;
    else
        maar_vec_push(&p->refused, refusal);
}

/* The node that the pod is nominated to, when it fits there. */
static struct maar_choice choose_nominated(const struct placing *p, const struct maar_task *task)
{
    const struct maar_nodes *nodes = &p->session->world->nodes;
    struct maar_choice none = {MAAR_NO_NODE, false};
    uint32_t node = task->nominated_node;
    if (node == MAAR_NO_NODE || !maar_node_is_live(nodes, node) ||
        !maar_fits_future(nodes, &task->cls->request, node))
        return none;
    uint8_t fit = MAAR_FIT_OK;
    maar_run_filters(p->session, task, &node, 1, &fit, MAAR_FILTER_ALL);
    if (fit != MAAR_FIT_OK)
        return none;
    return (struct maar_choice){node, !maar_fits_idle(nodes, &task->cls->request, node)};
}

/* Matters only for roles whose members differ: for equal ones a node that refused stays one that refuses. */
static bool is_mixed(const struct maar_job *job, uint32_t role_slot)
{
    const struct maar_class *first = NULL;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task *task = job->tasks[i];
        if (task->role_slot != role_slot || task->status != MAAR_TASK_PENDING)
            continue;
        if (first && task->cls != first)
            return true;
        first = task->cls;
    }
    return false;
}

/* The nodes that refused the task's role in this call; NULL where that is not remembered. */
static uint64_t *role_memory(const struct placing *p, const struct maar_task *task)
{
    if (!p->compatible || !(p->flags & MAAR_PLACE_ROLE_MEMORY) || !*task->role)
        return NULL;
    struct role_memory *role = &p->roles[task->role_slot];
    if (!role->checked && is_mixed(p->job, task->role_slot))
        role->refused = maar_arena_calloc(p->session->arena,
                                          MAAR_BITSET_WORDS(p->session->world->nodes.n_slots),
                                          sizeof *role->refused);
    role->checked = true;
    return role->refused;
}

static struct maar_choice choose(const struct placing *p, const struct maar_task *task)
{
    maar_session_job(p->session, p->job)->looked_at_nodes = true;
    if (!(p->flags & MAAR_PLACE_BEST_EFFORT) && task->nominated_node != MAAR_NO_NODE) {
        struct maar_choice choice = choose_nominated(p, task);
        if (choice.node != MAAR_NO_NODE)
            return choice;
    }
    uint64_t *refused = role_memory(p, task);
    if (refused || !maar_is_indexable(p->session))
        return maar_scan_choose(p->session, task, p->flags, refused);
    return maar_index_choose(p->session, task, p->flags);
}

static bool has_room(struct placing *p, const struct maar_task *task)
{
    if ((p->flags & MAAR_PLACE_BEST_EFFORT) || !p->job->queue)
        return true;
    /* What the last one of the class was told still holds when nothing was placed since. */
    bool known = p->full.cls == task->cls && p->full.n_placed == p->result.n_placed;
    if (!known && maar_vote_queue_room(p->session, p->job->queue, task, 1, NULL) > 0)
        return true;
    if (!known) {
        p->full.cls = task->cls;
        p->full.n_placed = p->result.n_placed;
        p->full.text = maar_explain_room(p->session, task);
        maar_lacking_room(p->session, p->job, task);
    }
    /* No node was looked at: the role is not marked as failed. */
    maar_session_task(p->session, task)->fit_text = p->full.text;
    return false;
}

/* Volcano remembers roles, not classes: a role of which one task found no node is not tried again. */
static bool role_failed(const struct placing *p, const struct maar_task *task)
{
    if (!p->compatible || !*task->role)
        return false;
    uint64_t bit = UINT64_C(1) << (task->role_slot < 63 ? task->role_slot : 63);
    return (maar_session_job(p->session, p->job)->failed_roles & bit) != 0;
}

/* Volcano's NeedContinueAllocating, after one task found no node. */
static bool goes_on_compatible(const struct placing *p)
{
    const struct maar_job *job = p->job;
    if (job->min_available >= 0 && (uint32_t)job->min_available == job->n_tasks)
        return false;
    if (p->sub_job && p->sub_job->min_available >= (int64_t)p->sub_job->n_tasks)
        return false;
    if (job->n_sub_group_policies > 0)
        return true;
    uint64_t failed = maar_session_job(p->session, job)->failed_roles;
    int64_t possible = maar_job_n_ready(job);
    for (uint32_t i = 0; i < job->n_roles; i++) {
        bool has_failed = (failed >> (i < 63 ? i : 63)) & 1;
        const struct maar_role *role = &job->roles[i];
        if (!has_failed)
            possible += role->n[MAAR_TASK_PENDING];
        else if (job->min_available >= job->min_task_total && role->min > 0 &&
                 (int64_t)maar_role_n_occupied(role) < role->min)
            return false;
    }
    if (job->min_available < job->min_task_total)
        return possible >= job->min_available;
    return true;
}

/* Whether the gang can still come together from the tasks that are left. */
static bool goes_on(const struct placing *p, const struct maar_task *const *tasks, size_t from,
                    size_t n)
{
    if (p->compatible)
        return goes_on_compatible(p);
    struct maar_gang gang = maar_gang_of(p->job, p->sub_job);
    int64_t possible = gang.ready + gang.pipelined + (int64_t)p->late.n;
    for (size_t i = from; i < n && possible < gang.min; i++)
        possible += !is_refused_for_good(p, tasks[i]->cls);
    return possible >= gang.min;
}

/* False when the task found no node. */
static bool place_one(struct placing *p, const struct maar_task *task)
{
    const char *known = refused_text(p, task->cls);
    if (known && !p->compatible) {
        maar_session_refuse_task(p->session, task, known);
        return false;
    }
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, p->session->arena);
    bool passed = maar_vote_pre_filter(p->session, task, &reasons);
    const char *text = passed ? NULL : maar_reasons_join(&reasons);
    maar_reasons_fini(&reasons);
    if (!passed) {
        refuse_class(p, task, text);
        return false;
    }
    struct maar_choice choice = known ? (struct maar_choice){MAAR_NO_NODE, false} : choose(p, task);
    if (choice.node == MAAR_NO_NODE) {
        refuse_class(p, task, known ? known : maar_explain_task(p->session, task, p->flags));
        return false;
    }
    if (maar_statement_place(p->statement, &maar_task_entry(task)->view, choice.node,
                             choice.pipelined) < 0)
        return true; /* lost for this session, as in Volcano */
    maar_session_task(p->session, task)->fit_text = NULL;
    p->result.n_placed++;
    p->result.n_pipelined += choice.pipelined;
    return true;
}

bool maar_place_is_barred(const struct maar_task *task)
{
    return task->status != MAAR_TASK_PENDING || task->gated || maar_task_entry(task)->fault;
}

/* The rest of a gang that cannot come together any more waits for the same reasons. */
static void note_untried(struct placing *p, const struct maar_task *const *tasks, size_t from,
                         size_t n)
{
    for (size_t i = from; !p->compatible && i < n; i++) {
        const char *known = refused_text(p, tasks[i]->cls);
        maar_session_task(p->session, tasks[i])->fit_text =
            known        ? known
            : p->sub_job ? "not tried: other members of its sub-group found no node"
                         : "not tried: other members of its gang found no node";
    }
}

/* There is no need for more. Members that ask for nothing are hoped for as long as others are placed. */
static bool is_enough(const struct placing *p)
{
    if (!(p->flags & MAAR_PLACE_UNTIL_READY))
        return false;
    return p->flags & MAAR_PLACE_BEST_EFFORT
               ? maar_vote_placed_ready(p->session, p->job, p->sub_job)
               : maar_vote_sub_job_ready(p->session, p->job, p->sub_job);
}

/* Tasks that wait for others of the call, as often as that helps. */
static void place_late(struct placing *p)
{
    uint32_t n_before;
    do {
        n_before = p->result.n_placed;
        size_t n_left = 0;
        bool ready = false;
        for (size_t i = 0; i < p->late.n; i++) {
            const struct maar_task *task = p->late.data[i];
            if (ready || !has_room(p, task) || !place_one(p, task))
                p->late.data[n_left++] = task;
            ready |= is_enough(p);
        }
        p->late.n = n_left;
        if (ready)
            return;
    } while (p->late.n > 0 && p->result.n_placed > n_before);
}

static void place_all(struct placing *p, const struct maar_task *const *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct maar_task *task = tasks[i];
        p->result.n_tried++;
        if (maar_place_is_barred(task) || !has_room(p, task))
            continue;
        if (role_failed(p, task)) {
            maar_session_refuse_task(
                p->session, task,
                maar_arena_printf(p->session->arena,
                                  "Task %s with role spec %s has already predicated failed, skip",
                                  task->name, task->role));
            continue;
        }
        if (!place_one(p, task)) {
            if (!p->compatible && !is_refused_for_good(p, task->cls))
                maar_vec_push(&p->late, task);
            if (goes_on(p, tasks, i + 1, n))
                continue;
            note_untried(p, tasks, i + 1, n);
            return;
        }
        if (is_enough(p))
            return;
    }
    if (p->late.n > 0)
        place_late(p);
}

/* A gang of one class for which the nodes have too few slots is refused without trying. */
static bool is_hopeless(struct placing *p, const struct maar_task *const *tasks, size_t n)
{
    struct maar_gang gang = maar_gang_of(p->job, p->sub_job);
    int64_t need = gang.min - gang.ready;
    /* Where nobody insists on the minimum, each pod that fits gets its node. */
    if (p->compatible || p->flags & MAAR_PLACE_BEST_EFFORT ||
        !(p->flags & MAAR_PLACE_UNTIL_READY) || need < 64 || !maar_is_indexable(p->session) ||
        maar_lacking_is_wanted(p->session, p->job) ||
        maar_vote_sub_job_ready(p->session, p->job, p->sub_job))
        return false;
    for (size_t i = 0; i < n; i++)
        if (tasks[i]->cls != tasks[0]->cls || maar_place_is_barred(tasks[i]))
            return false;
    maar_session_job(p->session, p->job)->looked_at_nodes = true;
    uint64_t slots = maar_index_slots(p->session, tasks[0], (uint64_t)need);
    if (slots >= (uint64_t)need)
        return false;
    const char *text = maar_explain_gang(p->session, tasks[0]);
    for (size_t i = 0; i < n; i++)
        maar_session_refuse_task(p->session, tasks[i], text);
    maar_gang_note_slots(p->session, p->job, p->sub_job, slots, need);
    return true;
}

/* Where members that ask for nothing are placed by themselves, what was found out about the others stands. */
static bool tries_whole(const struct placing *p)
{
    return !(p->flags & MAAR_PLACE_BEST_EFFORT) || p->flags & MAAR_PLACE_UNTIL_READY ||
           p->job->n[MAAR_TASK_PENDING] == p->job->n_pending_best_effort;
}

struct maar_place_result maar_place_tasks(struct maar_statement *statement,
                                          const struct maar_job *job,
                                          const struct maar_sub_job *sub_job,
                                          const struct maar_task *const *tasks, size_t n,
                                          uint32_t flags)
{
    struct placing p = {.statement = statement,
                        .session = maar_statement_session(statement),
                        .job = job,
                        .sub_job = sub_job,
                        .flags = flags};
    p.compatible = p.session->policy->conf->compatibility_volcano;
    if (n == 0)
        return p.result;
    if (is_hopeless(&p, tasks, n)) {
        p.result.n_tried = (uint32_t)n;
        return p.result;
    }
    p.roles = maar_arena_calloc(p.session->arena, job->n_roles + 1, sizeof *p.roles);
    /* Volcano remembers failed roles sub-job by sub-job. */
    if (sub_job && p.compatible)
        maar_session_job(p.session, job)->failed_roles = 0;
    place_all(&p, tasks, n);
    if (tries_whole(&p))
        maar_gang_note(p.session, job, sub_job, flags & MAAR_PLACE_BEST_EFFORT);
    maar_vec_fini(&p.refused);
    maar_vec_fini(&p.late);
    return p.result;
}
