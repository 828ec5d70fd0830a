/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* What would let a PodGroup start: sentences with numbers, each with the edit that `simulate --what-if` tries. They
 * follow from what refuses it now; something else may refuse it then, so each is to be tried before it is believed. */

#include <math.h>
#include <stdio.h>

#include "base/bitset.h"
#include "engine/explain_parts.h"
#include "place/place.h"

#define MAX_CURES 12u
#define MAX_EDITS 20u /* nodes that one edit names */

static void add_cure(struct maar_explaining *explaining, const char *text, const char *edit)
{
    struct maar_explained_group *group = explaining->group;
    if (!group->cures)
        group->cures =
            maar_arena_calloc(explaining->session->arena, MAX_CURES, sizeof *group->cures);
    if (group->n_cures < MAX_CURES)
        group->cures[group->n_cures++] = (struct maar_explained_cure){text, edit, MAAR_TRIED_NOT};
}

/* "a; b" in the arena; NULL l: nothing yet. */
static const char *join(struct maar_arena *arena, const char *l, const char *separator,
                        const char *r)
{
    return l ? maar_arena_printf(arena, "%s%s%s", l, separator, r) : r;
}

/* ---- amounts ---- */

/* Exact, as an edit takes it. */
static const char *exact(struct maar_arena *arena, uint32_t d, double amount)
{
    long long whole = (long long)ceil(amount);
    if (d != MAAR_DIM_CPU)
        return maar_arena_printf(arena, "%lld", whole);
    return whole % 1000 == 0 ? maar_arena_printf(arena, "%lld", whole / 1000)
                             : maar_arena_printf(arena, "%lldm", whole);
}

static const char *amount(struct maar_session *session, uint32_t d, double value)
{
    char buffer[48];
    return maar_arena_printf(session->arena, "%s %s",
                             maar_explanation_amount(session->world->dim_names[d], value, buffer),
                             session->world->dim_names[d]);
}

static uint32_t dim_of(const struct maar_session *session, const char *name)
{
    return maar_world_dim_find(session->world, name);
}

/* ---- nodes ---- */

/* How many tasks like this one fit into so much of a node: all of it, or what is idle. */
static uint64_t slots_on(const struct maar_session *session, const struct maar_task *task,
                         uint32_t slot, bool idle)
{
    const struct maar_nodes *nodes = &session->world->nodes;
    const struct maar_resource *request = &task->cls->request;
    uint64_t least = UINT32_MAX;
    for (uint32_t d = 0; d < request->n; d++) {
        if (request->v[d] <= 0)
            continue;
        int64_t has = idle ? nodes->idle[d][slot] : nodes->allocatable[d][slot];
        uint64_t n = has > 0 ? (uint64_t)(has / request->v[d]) : 0;
        least = n < least ? n : least;
    }
    return least;
}

/* What the scheduling spec of the pod finds fault with, as words of an edit of that node; NULL: something else. */
static const char *edit_words(struct maar_session *session, const struct maar_task *task,
                              uint32_t slot)
{
    struct maar_arena *arena = session->arena;
    const struct maar_node_facts *facts = &session->world->nodes.facts[slot];
    const struct maar_pod_spec *spec = task->cls->spec;
    const char *edit = NULL;
    bool cordoned = facts->unschedulable, lost = !facts->ready;
    for (uint32_t i = 0; i < facts->n_taints; i++) {
        const char *key = facts->taints[i].key;
        cordoned |= !strcmp(key, "node.kubernetes.io/unschedulable");
        lost |= !strcmp(key, "node.kubernetes.io/not-ready") ||
                !strcmp(key, "node.kubernetes.io/unreachable");
    }
    if (cordoned)
        edit = join(arena, edit, " ", "unschedulable=false");
    if (lost)
        edit = join(arena, edit, " ", "ready=true");
    for (uint32_t i = 0; i < spec->n_node_selector; i++) {
        bool has = false;
        for (uint32_t k = 0; k < facts->n_labels; k++)
            has |= facts->labels[k].key == spec->node_selector[i].key &&
                   facts->labels[k].value == spec->node_selector[i].value;
        if (!has)
            edit = join(arena, edit, " ",
                        maar_arena_printf(arena, "label %s=%s", spec->node_selector[i].key,
                                          spec->node_selector[i].value));
    }
    for (uint32_t i = 0; i < facts->n_taints; i++)
        if (facts->taints[i].effect != MAAR_EFFECT_PREFER_NO_SCHEDULE &&
            strncmp(facts->taints[i].key, "node.kubernetes.io/", 19) != 0)
            edit =
                join(arena, edit, " ", maar_arena_printf(arena, "taint %s-", facts->taints[i].key));
    return edit;
}

/* The node of which an empty copy would take most of them, as it is or with an edit; MAAR_NO_NODE: none would. */
static uint32_t find_template(struct maar_session *session, const struct maar_task *task,
                              bool edited)
{
    const struct maar_world *world = session->world;
    uint32_t best = MAAR_NO_NODE;
    uint64_t most = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
        if (!maar_bit_get(world->nodes.live, slot) || world->node_entries.data[slot]->fault)
            continue;
        uint64_t n = slots_on(session, task, slot, false);
        bool earlier =
            best != MAAR_NO_NODE && world->nodes.name_rank[slot] < world->nodes.name_rank[best];
        if (n == 0 || n < most || (n == most && !earlier))
            continue;
        uint8_t fit = MAAR_FIT_OK;
        maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_STATIC);
        if (fit != MAAR_FIT_OK && !(edited && edit_words(session, task, slot)))
            continue;
        best = slot;
        most = n;
    }
    return best;
}

/* A prefix for new nodes that no node has: "new-", "new-new-", …. */
static const char *free_prefix(struct maar_session *session)
{
    const char *prefix = "new-";
    const struct maar_world *world = session->world;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++)
        if (maar_bit_get(world->nodes.live, slot) &&
            !strncmp(world->nodes.facts[slot].name, prefix, strlen(prefix))) {
            prefix = maar_arena_printf(session->arena, "new-%s", prefix);
            slot = UINT32_MAX; /* from the beginning */
        }
    return prefix;
}

/* New nodes, each enough for one pod, when no node that exists could be copied. */
static const char *edit_from_request(struct maar_session *session, const struct maar_task *task)
{
    const struct maar_resource *request = &task->cls->request;
    const struct maar_pod_spec *spec = task->cls->spec;
    const char *out = "";
    for (uint32_t d = 0; d < request->n; d++)
        if (d != MAAR_DIM_PODS && request->v[d] > 0)
            out = maar_arena_printf(session->arena, "%s %s=%s", out, session->world->dim_names[d],
                                    exact(session->arena, d, (double)request->v[d]));
    for (uint32_t i = 0; i < spec->n_node_selector; i++)
        out = maar_arena_printf(session->arena, "%s label %s=%s", out, spec->node_selector[i].key,
                                spec->node_selector[i].value);
    return out;
}

static const char *request_text(struct maar_session *session, const struct maar_task *task)
{
    const struct maar_resource *request = &task->cls->request;
    const struct maar_pod_spec *spec = task->cls->spec;
    const char *out = NULL;
    for (uint32_t d = 0; d < request->n; d++)
        if (d != MAAR_DIM_PODS && request->v[d] > 0)
            out = join(session->arena, out, ", ", amount(session, d, (double)request->v[d]));
    out = maar_arena_printf(session->arena, "%s free", out ? out : "a pod");
    for (uint32_t i = 0; i < spec->n_node_selector; i++)
        out = maar_arena_printf(session->arena, "%s and label %s=%s", out,
                                spec->node_selector[i].key, spec->node_selector[i].value);
    return out;
}

struct shopping {
    const char *text;
    const char *edit;
    const char *prefix;
    unsigned long long n_new;
};

/* Adds nodes for so many pods of a class. */
static void buy(struct maar_session *session, const struct maar_task *task, uint64_t missing,
                struct shopping *list)
{
    struct maar_arena *arena = session->arena;
    uint32_t template = find_template(session, task, false);
    bool edited = template == MAAR_NO_NODE;
    if (edited)
        template = find_template(session, task, true);
    uint64_t each = template == MAAR_NO_NODE ? 1 : slots_on(session, task, template, false);
    uint64_t n = (missing + each - 1) / each;
    unsigned long long first = list->n_new + 1, last = list->n_new + n;
    const char *names = n == 1
                            ? maar_arena_printf(arena, "%s%llu", list->prefix, first)
                            : maar_arena_printf(arena, "%s[%llu-%llu]", list->prefix, first, last);
    const char *text, *edit;
    if (template == MAAR_NO_NODE) {
        text = n == 1 ? maar_arena_printf(arena, "a node with %s", request_text(session, task))
                      : maar_arena_printf(arena, "%llu nodes with %s", (unsigned long long)n,
                                          request_text(session, task));
        edit = maar_arena_printf(arena, "node %s%s", names, edit_from_request(session, task));
    } else {
        const char *name = session->world->nodes.facts[template].name;
        const char *words = edited ? edit_words(session, task, template) : NULL;
        text =
            maar_arena_printf(arena, "%llu more node%s like %s%s%s", (unsigned long long)n,
                              n == 1 ? "" : "s", name, words ? " with " : "", words ? words : "");
        edit = maar_arena_printf(arena, "node %s like=%s%s%s", names, name, words ? " " : "",
                                 words ? words : "");
    }
    list->text = join(arena, list->text, " and ", text);
    list->edit = join(arena, list->edit, "; ", edit);
    list->n_new = last;
}

/* ---- nodes with room that the filters refuse ---- */

struct barrier {
    const char *reason;
    uint32_t n;
    uint64_t slots;
    const char *names;
    const char *edit;
    bool no_edit; /* some node cannot be cured by an edit */
};

static void note_barrier(struct maar_session *session, const struct maar_task *task, uint32_t slot,
                         struct barrier *barrier, uint64_t missing)
{
    bool enough = barrier->slots >= missing;
    if (++barrier->n <= 3)
        barrier->names =
            join(session->arena, barrier->names, ", ", session->world->nodes.facts[slot].name);
    if (enough || barrier->n > MAX_EDITS)
        return;
    barrier->slots += slots_on(session, task, slot, true);
    const char *words = edit_words(session, task, slot);
    barrier->no_edit |= !words;
    if (words)
        barrier->edit = join(session->arena, barrier->edit, "; ",
                             maar_arena_printf(session->arena, "node %s %s",
                                               session->world->nodes.facts[slot].name, words));
}

static void cure_barriers(struct maar_explaining *explaining, const struct maar_task *task,
                          uint64_t missing)
{
    struct maar_session *session = explaining->session;
    const struct maar_world *world = session->world;
    uint32_t flags = task->cls->best_effort ? MAAR_PLACE_BEST_EFFORT : 0;
    struct barrier barriers[4] = {0};
    size_t n = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
        if (!maar_bit_get(world->nodes.live, slot) || world->node_entries.data[slot]->fault ||
            maar_explain_short(session, task, flags, slot))
            continue;
        const char *refusal = maar_explain_refusal(session, task, slot);
        size_t i = 0;
        while (refusal && i < n && strcmp(barriers[i].reason, refusal) != 0)
            i++;
        if (!refusal || i == sizeof barriers / sizeof *barriers)
            continue;
        if (i == n)
            barriers[n++].reason = refusal;
        note_barrier(session, task, slot, &barriers[i], missing);
    }
    for (size_t i = 0; i < n; i++)
        add_cure(explaining,
                 maar_arena_printf(
                     session->arena, "%s has room but for \"%s\"",
                     barriers[i].n == 1 ? barriers[i].names
                     : barriers[i].n <= 3
                         ? maar_arena_printf(session->arena, "each of %s", barriers[i].names)
                         : maar_arena_printf(session->arena, "each of %u nodes (%s, …)",
                                             barriers[i].n, barriers[i].names),
                     barriers[i].reason),
                 barriers[i].no_edit ? NULL : barriers[i].edit);
}

/* ---- gang ---- */

/* Pods of the queue's first refused class that are still to come, beyond the one that was asked for. */
static double more_asked(const struct maar_explaining *explaining, uint32_t d)
{
    const struct maar_explained_group *group = explaining->group;
    int64_t missing = group->need - group->have - group->could;
    if (group->gate != MAAR_GATE_ROOM || missing < 1)
        return 0;
    for (size_t i = 0; i < group->n_classes; i++)
        if (group->classes[i].gate == MAAR_GATE_ROOM)
            return (double)(missing - 1) *
                   (double)maar_resource_get(&explaining->samples[i]->cls->request, d);
    return 0;
}

static void cure_minimum(struct maar_explaining *explaining)
{
    const struct maar_explained_group *group = explaining->group;
    struct maar_arena *arena = explaining->session->arena;
    int64_t reach = group->have + group->could;
    bool partly = group->gate == MAAR_GATE_GANG || group->gate == MAAR_GATE_ROOM;
    if (!partly || group->could < 1 || reach < 1 || reach >= group->need)
        return;
    add_cure(explaining,
             maar_arena_printf(arena, "a minimum of %lld (minMember)", (long long)reach),
             maar_arena_printf(arena, "podgroup %s min=%lld", group->name, (long long)reach));
}

/* One pod is missing, and the nearest node lacks nothing but room. */
static void cure_nearest(struct maar_explaining *explaining, const struct maar_explained_class *cls)
{
    struct maar_session *session = explaining->session;
    const char *text = NULL;
    if (cls->n_nearest == 0 || cls->nearest[0].refusal)
        return;
    for (size_t i = 0; i < cls->nearest[0].n_lacks; i++) {
        const struct maar_explained_amount *lack = &cls->nearest[0].lacks[i];
        text = join(session->arena, text, ", ",
                    amount(session, dim_of(session, lack->dimension), lack->amount));
    }
    if (text)
        add_cure(
            explaining,
            maar_arena_printf(session->arena, "%s more free on %s", text, cls->nearest[0].name),
            NULL);
}

/* A queue that may have all of the cluster needs a larger one. */
static bool is_short_of_cluster(const struct maar_explaining *explaining)
{
    const struct maar_explained_group *group = explaining->group;
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        uint32_t d = dim_of(explaining->session, limit->dimension);
        if (d != MAAR_NO_DIM && strcmp(limit->name, "capability") != 0 &&
            limit->held + limit->asked + more_asked(explaining, d) >
                (double)explaining->session->world->total_allocatable[d])
            return true;
    }
    return false;
}

void maar_explain_node_cures(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    struct maar_explained_group *group = explaining->group;
    struct shopping list = {.prefix = free_prefix(session)};
    bool full = group->gate == MAAR_GATE_ROOM && is_short_of_cluster(explaining);
    if (group->gate != MAAR_GATE_NODES && group->gate != MAAR_GATE_GANG && !full)
        return;
    int64_t missing = group->need - group->have - group->could;
    missing = missing > 0 ? missing : 1;
    if (missing == 1 && group->n_classes == 1 && !full)
        cure_nearest(explaining, &group->classes[0]);
    for (size_t i = 0; i < group->n_classes && missing > 0; i++) {
        const struct maar_explained_class *cls = &group->classes[i];
        if (cls->gate == MAAR_GATE_NONE)
            continue;
        int64_t n = (int64_t)cls->n_waiting - cls->n_fit;
        n = n < missing ? n : missing;
        if (cls->gate == MAAR_GATE_NODES)
            cure_barriers(explaining, explaining->samples[i], (uint64_t)n);
        buy(session, explaining->samples[i], (uint64_t)n, &list);
        missing -= n;
    }
    if (list.text)
        add_cure(explaining, list.text, list.edit);
    if (!full)
        cure_minimum(explaining);
}

/* ---- queues ---- */

/* Queues that hold more than they deserve of the dimension. */
static void cure_returns(struct maar_explaining *explaining, uint32_t d, double want)
{
    struct maar_session *session = explaining->session;
    const struct maar_world *world = session->world;
    for (size_t i = 0; i < world->sorted_queues.n; i++) {
        const struct maar_queue *queue = world->sorted_queues.data[i];
        double deserved = maar_explain_published(session, queue, "deserved", d);
        double over = (double)queue->allocated[d] - deserved;
        if (queue == explaining->job->queue || !(over > 0))
            continue;
        add_cure(explaining,
                 maar_arena_printf(session->arena,
                                   "queue %s gives back %s (it holds %s above what it deserves)",
                                   queue->name, amount(session, d, over < want ? over : want),
                                   amount(session, d, over)),
                 NULL);
    }
}

/* The weight by which the queue would deserve that much, if all other queues want their share: 0 when none would. */
static int64_t weight_for(const struct maar_session *session, const struct maar_queue *queue,
                          uint32_t d, double want)
{
    const struct maar_world *world = session->world;
    double total = (double)world->total_allocatable[d], others = 0;
    for (size_t i = 0; i < world->sorted_queues.n; i++) {
        const struct maar_queue *other = world->sorted_queues.data[i];
        if (other != queue && maar_explain_published(session, other, "deserved", d) > 0)
            others += other->weight;
    }
    if (want >= total || others <= 0)
        return 0;
    double weight = ceil(want * others / (total - want));
    return weight > queue->weight && weight < 1e6 ? (int64_t)weight : 0;
}

static void cure_share(struct maar_explaining *explaining, const struct maar_queue *queue,
                       uint32_t d, double target)
{
    struct maar_session *session = explaining->session;
    int64_t weight = weight_for(session, queue, d, target);
    if (weight > 0)
        add_cure(explaining,
                 maar_arena_printf(session->arena, "a weight of %lld for queue %s (%d now)",
                                   (long long)weight, queue->name, queue->weight),
                 maar_arena_printf(session->arena, "queue %s weight=%lld", queue->name,
                                   (long long)weight));
}

static void cure_deserved(struct maar_explaining *explaining)
{
    const struct maar_explained_group *group = explaining->group;
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        const struct maar_queue_entry *queue =
            limit->queue ? maar_world_queue(explaining->session->world, limit->queue) : NULL;
        uint32_t d = dim_of(explaining->session, limit->dimension);
        if (!queue || d == MAAR_NO_DIM || strcmp(limit->name, "deserved") != 0)
            continue;
        double target = limit->held + limit->asked + more_asked(explaining, d);
        cure_returns(explaining, d, target - limit->limit);
        cure_share(explaining, &queue->view, d, target);
    }
}

/* All capabilities that refuse it, together. */
static void cure_capability(struct maar_explaining *explaining)
{
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_explained_group *group = explaining->group;
    const char *text = NULL, *edit = NULL;
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        uint32_t d = dim_of(explaining->session, limit->dimension);
        if (!limit->queue || d == MAAR_NO_DIM || strcmp(limit->name, "capability") != 0)
            continue;
        double target = limit->held + limit->asked + more_asked(explaining, d);
        text = join(arena, text, " and ",
                    maar_arena_printf(arena, "%s more in queue %s's capability",
                                      amount(explaining->session, d, target - limit->limit),
                                      limit->queue));
        edit = join(arena, edit, "; ",
                    maar_arena_printf(arena, "queue %s capability.%s=%s", limit->queue,
                                      limit->dimension, exact(arena, d, target)));
    }
    if (text)
        add_cure(explaining, text, edit);
}

/* What the job's own pods held in the try. */
static double own_part(const struct maar_explaining *explaining, uint32_t d)
{
    const struct maar_explained_group *group = explaining->group;
    double sum = 0;
    for (size_t i = 0; group->gate == MAAR_GATE_ROOM && i < group->n_classes; i++)
        sum += (double)group->classes[i].n_fit *
               (double)maar_resource_get(&explaining->samples[i]->cls->request, d);
    return sum;
}

/* What is held must shrink: true for each limit. */
static void cure_held(struct maar_explaining *explaining)
{
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_explained_group *group = explaining->group;
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        uint32_t d = dim_of(explaining->session, limit->dimension);
        if (d == MAAR_NO_DIM)
            continue;
        double over = limit->held + limit->asked + more_asked(explaining, d) - limit->limit;
        if (limit->held - own_part(explaining, d) < over)
            continue;
        add_cure(explaining,
                 maar_arena_printf(arena, "jobs %s%s that hold %s end",
                                   limit->queue ? "of queue " : "",
                                   limit->queue ? limit->queue : "in the cluster",
                                   amount(explaining->session, d, over)),
                 NULL);
    }
}

/* The gate before the cluster: more of it, or a smaller minimum. */
static void cure_enqueue(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    const struct maar_world *world = session->world;
    struct maar_arena *arena = session->arena;
    const struct maar_explained_group *group = explaining->group;
    const char *less_text = NULL, *less_edit = NULL;
    double n_nodes = 0;
    uint32_t best = MAAR_NO_NODE;
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        uint32_t d = dim_of(session, limit->dimension);
        double left = limit->limit - limit->held;
        if (d == MAAR_NO_DIM)
            continue;
        if (left > 0) {
            less_text = join(arena, less_text, ", ", amount(session, d, left));
            less_edit = join(arena, less_edit, "; ",
                             maar_arena_printf(arena, "podgroup %s minResources.%s=%s", group->name,
                                               limit->dimension, exact(arena, d, floor(left))));
        }
        if (limit->queue)
            continue;
        for (uint32_t slot = 0; best == MAAR_NO_NODE && slot < world->nodes.n_slots; slot++)
            if (maar_bit_get(world->nodes.live, slot))
                best = slot;
        for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++)
            if (maar_bit_get(world->nodes.live, slot) &&
                world->nodes.allocatable[d][slot] > world->nodes.allocatable[d][best])
                best = slot;
        double total = (double)world->total_allocatable[d];
        if (best == MAAR_NO_NODE || world->nodes.allocatable[d][best] <= 0 || total <= 0)
            continue;
        double factor = limit->limit / total;
        double n =
            ceil((limit->asked - left) / ((double)world->nodes.allocatable[d][best] * factor));
        n_nodes = n > n_nodes ? n : n_nodes;
    }
    if (n_nodes > 0 && n_nodes < 1e6) {
        const char *prefix = free_prefix(session), *name = world->nodes.facts[best].name;
        long long n = (long long)n_nodes;
        add_cure(explaining,
                 maar_arena_printf(arena, "%lld more node%s like %s", n, n == 1 ? "" : "s", name),
                 n == 1 ? maar_arena_printf(arena, "node %s1 like=%s", prefix, name)
                        : maar_arena_printf(arena, "node %s[1-%lld] like=%s", prefix, n, name));
    }
    if (less_text)
        add_cure(explaining, maar_arena_printf(arena, "minResources of at most %s", less_text),
                 less_edit);
}

/* Another queue that takes jobs, for those whose own does not. */
static void cure_other_queue(struct maar_explaining *explaining)
{
    const struct maar_session *session = explaining->session;
    struct maar_arena *arena = session->arena;
    const struct maar_queue_entry *other =
        maar_world_queue(session->world, session->world->default_queue);
    if (other && other->exists && !other->fault && maar_queue_is_open(&other->view) &&
        &other->view != explaining->job->queue)
        add_cure(explaining,
                 maar_arena_printf(arena, "spec.queue %s instead of %s", other->view.name,
                                   explaining->group->queue),
                 maar_arena_printf(arena, "podgroup %s queue=%s", explaining->group->name,
                                   other->view.name));
}

static void cure_members(struct maar_explaining *explaining)
{
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_job *job = explaining->job;
    const struct maar_explained_group *group = explaining->group;
    int64_t valid = maar_job_n_valid(job);
    if (valid < job->min_available)
        add_cure(explaining,
                 maar_arena_printf(arena,
                                   "%lld more pod%s of the group: their controller makes them",
                                   (long long)job->min_available - valid,
                                   job->min_available - valid == 1 ? "" : "s"),
                 NULL);
    if (valid > 0 && valid < job->min_available)
        add_cure(explaining,
                 maar_arena_printf(arena, "a minimum of %lld (minMember)", (long long)valid),
                 maar_arena_printf(arena, "podgroup %s min=%lld", group->name, (long long)valid));
}

void maar_explain_other_cures(struct maar_explaining *explaining)
{
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_explained_group *group = explaining->group;
    switch (group->gate) {
    case MAAR_GATE_QUEUE:
    case MAAR_GATE_CLOSED:
        add_cure(explaining,
                 maar_arena_printf(
                     arena, group->gate == MAAR_GATE_QUEUE ? "a queue %s" : "queue %s is opened",
                     group->queue),
                 maar_arena_printf(arena, "queue %s state=Open", group->queue));
        cure_other_queue(explaining);
        break;
    case MAAR_GATE_POD_GROUP:
        add_cure(explaining, maar_arena_printf(arena, "a PodGroup %s", group->name),
                 maar_arena_printf(arena, "podgroup %s", group->name));
        break;
    case MAAR_GATE_VALID:
        cure_members(explaining);
        break;
    case MAAR_GATE_GATED:
        add_cure(explaining, "the scheduling gates of its pods are removed",
                 maar_arena_printf(arena, "podgroup %s gates=none", group->name));
        break;
    case MAAR_GATE_ACTION:
        add_cure(explaining, "the action is added to actions of scheduler.conf", NULL);
        break;
    case MAAR_GATE_FIFO:
        add_cure(explaining,
                 maar_arena_printf(arena, "%s starts, or is removed", explaining->holder->uid),
                 maar_arena_printf(arena, "podgroup %s delete", explaining->holder->uid));
        break;
    case MAAR_GATE_ENQUEUE:
        cure_capability(explaining);
        cure_enqueue(explaining);
        cure_held(explaining);
        break;
    case MAAR_GATE_ROOM:
        cure_capability(explaining);
        cure_deserved(explaining);
        cure_minimum(explaining);
        cure_held(explaining);
        break;
    case MAAR_GATE_OVERUSED:
        for (size_t i = 0; i < group->n_levels; i++) {
            const struct maar_explained_level *level = &group->levels[i];
            cure_share(explaining, explaining->job->queue,
                       dim_of(explaining->session, level->dimension),
                       level->allocated + level->asked);
        }
        break;
    default:
        break;
    }
}
