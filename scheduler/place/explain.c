/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Why no node takes a task: the first thing that each node lacks, counted. */

#include <stdio.h>

#include "base/bitset.h"
#include "model/quantity.h"
#include "place/place.h"

/* Order of dimensions in texts: cpu, memory, then the others by name; their numbers are those of arrival. */
static bool is_named_before(const struct maar_world *world, uint32_t l, uint32_t r)
{
    if (l <= MAAR_DIM_MEMORY || r <= MAAR_DIM_MEMORY)
        return l < r;
    return strcmp(world->dim_names[l], world->dim_names[r]) < 0;
}

/* The first dimension that is short. */
static uint32_t first_short(const struct maar_world *world, const struct maar_resource *request,
                            uint32_t slot)
{
    uint64_t always = (UINT64_C(1) << MAAR_DIM_CPU) | (UINT64_C(1) << MAAR_DIM_MEMORY);
    uint32_t first = MAAR_NO_DIM;
    for (uint64_t bits = request->present | always; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (maar_resource_get(request, d) > maar_node_future_idle(&world->nodes, d, slot) &&
            (first == MAAR_NO_DIM || is_named_before(world, d, first)))
            first = d;
    }
    return first;
}

/* True when the node is refused. The first plugin that refuses speaks; its later filters too, unless the refusal is one that evictions cannot cure. */
static bool explain_node(struct maar_session *session, const struct maar_task *task, uint32_t slot,
                         struct maar_reasons *reasons)
{
    struct maar_policy *policy = session->policy;
    const struct maar_instance *refuser = NULL;
    for (size_t i = 0; i < policy->n_filters; i++) {
        const struct maar_filter_use *use = &policy->filters[i];
        uint8_t fit = MAAR_FIT_OK;
        if ((refuser && refuser != use->instance) || !maar_filter_applies(use, task))
            continue;
        use->filter->fit(use->instance->self, &use->instance->view, task, &slot, 1, &fit);
        if (fit == MAAR_FIT_OK)
            continue;
        if (use->filter->explain)
            use->filter->explain(use->instance->self, &use->instance->view, task, slot, reasons);
        else
            maar_reasons_add(reasons, use->filter->name);
        if (fit >= MAAR_FIT_NEVER)
            return true;
        refuser = use->instance;
    }
    return refuser != NULL;
}

static int64_t greatest_node(const struct maar_world *world, uint32_t d)
{
    int64_t greatest = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++)
        if (maar_bit_get(world->node_live, slot) && world->nodes.allocatable[d][slot] > greatest)
            greatest = world->nodes.allocatable[d][slot];
    return greatest;
}

static void quantity(char out[32], uint32_t d, int64_t amount)
{
    if (d == MAAR_DIM_MEMORY)
        maar_quantity_format_binary(amount, out);
    else if (d == MAAR_DIM_CPU)
        maar_quantity_format_decimal(amount, out);
    else
        snprintf(out, 32, "%lld", (long long)amount);
}

/* The first dimension of which no node, even when empty, has enough. */
static const char *never_fits(struct maar_session *session, const struct maar_task *task)
{
    const struct maar_world *world = session->world;
    const struct maar_resource *request = &task->cls->request;
    uint32_t first = MAAR_NO_DIM;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (request->v[d] > greatest_node(world, d) &&
            (first == MAAR_NO_DIM || is_named_before(world, d, first)))
            first = d;
    }
    if (first == MAAR_NO_DIM)
        return "";
    const char *name = world->dim_names[first];
    int64_t greatest = greatest_node(world, first);
    char asked[32], has[32];
    quantity(asked, first, request->v[first]);
    quantity(has, first, greatest);
    if (greatest == 0)
        return maar_arena_printf(session->arena, " It asks for %s %s, no node has any.", name,
                                 asked);
    return maar_arena_printf(session->arena, " It asks for %s %s, the largest node has %s %s.",
                             name, asked, name, has);
}

/* The dimension that runs out first when a node is filled with tasks like this one. */
static uint32_t tightest(const struct maar_nodes *nodes, const struct maar_resource *request,
                         uint32_t slot)
{
    uint32_t found = MAAR_NO_DIM;
    int64_t least = INT64_MAX;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (request->v[d] <= 0)
            continue;
        int64_t slots = maar_node_future_idle(nodes, d, slot) / request->v[d];
        if (slots < least) {
            least = slots;
            found = d;
        }
    }
    return found;
}

/* With `filled`, as it will be once the nodes are full of tasks like this one. Returns the number of nodes. */
static uint32_t count_reasons(struct maar_session *session, const struct maar_task *task,
                              uint32_t flags, bool filled, struct maar_reasons *reasons)
{
    const struct maar_world *world = session->world;
    const struct maar_nodes *nodes = &world->nodes;
    const struct maar_resource *request = &task->cls->request;
    uint32_t short_n[MAAR_MAX_DIMS] = {0};
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < nodes->n_slots; slot++) {
        if (!maar_bit_get(nodes->live, slot))
            continue;
        n++;
        if (world->node_entries.data[slot]->fault) {
            maar_reasons_add(reasons, "node(s) could not be read");
            continue;
        }
        uint32_t d =
            flags & MAAR_PLACE_BEST_EFFORT ? MAAR_NO_DIM : first_short(world, request, slot);
        if (d == MAAR_NO_DIM && !explain_node(session, task, slot, reasons) && filled)
            d = tightest(nodes, request, slot);
        if (d != MAAR_NO_DIM)
            short_n[d]++;
    }
    for (uint32_t d = 0; d < world->dims.n; d++)
        maar_reasons_add_n(
            reasons, maar_arena_printf(session->arena, "Insufficient %s", world->dim_names[d]),
            short_n[d]);
    return n;
}

static const char *explain(struct maar_session *session, const struct maar_task *task,
                           uint32_t flags, bool filled)
{
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session->arena);
    uint32_t n = count_reasons(session, task, flags, filled, &reasons);
    const char *text = maar_reasons_fit_text(&reasons, n);
    maar_reasons_fini(&reasons);
    return text;
}

const char *maar_explain_never(struct maar_session *session, const struct maar_task *task)
{
    return session->policy->conf->compatibility_volcano ? "" : never_fits(session, task);
}

const char *maar_explain_task(struct maar_session *session, const struct maar_task *task,
                              uint32_t flags)
{
    return maar_arena_printf(session->arena, "%s%s", explain(session, task, flags, false),
                             maar_explain_never(session, task));
}

const char *maar_explain_gang(struct maar_session *session, const struct maar_task *task)
{
    return explain(session, task, 0, true);
}

/* ---- what each node lacks ---- */

uint64_t maar_explain_short(const struct maar_session *session, const struct maar_task *task,
                            uint32_t flags, uint32_t slot)
{
    const struct maar_nodes *nodes = &session->world->nodes;
    const struct maar_resource *request = &task->cls->request;
    uint64_t bits =
        request->present | (UINT64_C(1) << MAAR_DIM_CPU) | (UINT64_C(1) << MAAR_DIM_MEMORY);
    uint64_t found = 0;
    if (flags & MAAR_PLACE_BEST_EFFORT)
        return 0;
    for (; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (maar_resource_get(request, d) > maar_node_future_idle(nodes, d, slot))
            found |= UINT64_C(1) << d;
    }
    return found;
}

const char *maar_explain_refusal(struct maar_session *session, const struct maar_task *task,
                                 uint32_t slot)
{
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session->arena);
    bool refused = session->world->node_entries.data[slot]->fault != NULL;
    if (refused)
        maar_reasons_add(&reasons, "node(s) could not be read");
    else
        refused = explain_node(session, task, slot, &reasons);
    const char *text = refused ? maar_reasons_join(&reasons) : NULL;
    maar_reasons_fini(&reasons);
    return text;
}

uint32_t maar_explain_count(struct maar_session *session, const struct maar_task *task,
                            uint32_t flags, struct maar_reasons *reasons)
{
    return count_reasons(session, task, flags, false, reasons);
}

const char *maar_explain_room(struct maar_session *session, const struct maar_task *task)
{
    const struct maar_queue *queue = task->job->queue;
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session->arena);
    maar_vote_queue_room(session, queue, task, 1, &reasons);
    const char *text = maar_reasons_join(&reasons);
    if (!*text)
        text = maar_arena_printf(session->arena, "queue %s has no room", queue->name);
    maar_reasons_fini(&reasons);
    const char *never = maar_explain_never(session, task);
    return *never ? maar_arena_printf(session->arena, "%s.%s", text, never) : text;
}
