/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The plain path: every task looks at every node. It is the reference that the indexes are held against, and the way
 * for policies whose answers depend on more than class, facts and own load. */

#include "base/bitset.h"
#include "place/place.h"

struct candidates {
    uint32_t *nodes;
    double *scores;
    size_t n;
    bool pipelined;
};

/* Live nodes that pass room and filters, in two tiers: idle room first. */
static size_t filter_nodes(struct maar_session *session, const struct maar_task *task,
                           uint32_t flags, uint64_t *refused, uint32_t *nodes)
{
    const struct maar_nodes *all = &session->world->nodes;
    bool checks_room = !(flags & MAAR_PLACE_BEST_EFFORT);
    size_t n = 0;
    for (uint32_t slot = 0; slot < all->n_slots; slot++) {
        if (!maar_bit_get(all->live, slot) || (refused && maar_bit_get(refused, slot)))
            continue;
        if (!checks_room || maar_fits_future(all, &task->cls->request, slot))
            nodes[n++] = slot;
        else if (refused)
            maar_bit_set(refused, slot);
    }
    uint8_t *fit = maar_calloc(n ? n : 1, 1);
    maar_run_filters(session, task, nodes, n, fit, MAAR_FILTER_ALL);
    size_t n_fit = 0;
    for (size_t i = 0; i < n; i++) {
        if (fit[i] == MAAR_FIT_OK)
            nodes[n_fit++] = nodes[i];
        else if (refused)
            maar_bit_set(refused, nodes[i]);
    }
    free(fit);
    return n_fit;
}

/* Keeps the nodes of the better tier that is not empty. */
static size_t split(struct maar_session *session, const struct maar_task *task, uint32_t flags,
                    uint32_t *nodes, size_t n, bool *ret_pipelined)
{
    *ret_pipelined = false;
    if (flags & MAAR_PLACE_BEST_EFFORT)
        return n;
    const struct maar_nodes *all = &session->world->nodes;
    size_t n_idle = 0;
    for (size_t i = 0; i < n; i++) {
        if (!maar_fits_idle(all, &task->cls->request, nodes[i]))
            continue;
        uint32_t t = nodes[n_idle];
        nodes[n_idle++] = nodes[i];
        nodes[i] = t;
    }
    if (n_idle > 0)
        return n_idle;
    if (flags & MAAR_PLACE_IDLE_ONLY)
        return 0;
    *ret_pipelined = true;
    return n;
}

static void add_normalised(const struct maar_score_use *use, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, double *batch_sum)
{
    int64_t *raw = maar_calloc(n, sizeof *raw);
    use->score->raw(use->instance->self, &use->instance->view, task, nodes, n, raw);
    maar_add_normalised(use, task, raw, n, batch_sum);
    free(raw);
}

static void score_nodes(struct maar_session *session, const struct maar_task *task,
                        const uint32_t *nodes, size_t n, double *scores)
{
    double *batch_sum = maar_calloc(n, sizeof *batch_sum);
    maar_run_local_scores(session, task, nodes, n, scores, batch_sum);
    for (size_t i = 0; i < session->policy->n_scores; i++) {
        const struct maar_score_use *use = &session->policy->scores[i];
        if (use->score->raw && maar_score_applies(use, task))
            add_normalised(use, task, nodes, n, batch_sum);
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = maar_total_score(session, scores[i], batch_sum[i]);
    free(batch_sum);
}

static struct candidates find_candidates(struct maar_session *session, const struct maar_task *task,
                                         uint32_t flags, uint64_t *refused)
{
    struct candidates found = {0};
    uint32_t n_slots = session->world->nodes.n_slots;
    found.nodes = maar_calloc(n_slots ? n_slots : 1, sizeof *found.nodes);
    found.n = filter_nodes(session, task, flags, refused, found.nodes);
    found.n = split(session, task, flags, found.nodes, found.n, &found.pipelined);
    if (found.n > 0) {
        found.scores = maar_calloc(found.n, sizeof *found.scores);
        score_nodes(session, task, found.nodes, found.n, found.scores);
    }
    return found;
}

static void fini(struct candidates *found)
{
    free(found->nodes);
    free(found->scores);
}

/* Greater score first, then the node's name. */
static bool is_better(const struct maar_session *session, const struct candidates *found, size_t l,
                      size_t r)
{
    if (found->scores[l] != found->scores[r])
        return found->scores[l] > found->scores[r];
    const uint32_t *rank = session->world->nodes.name_rank;
    return rank[found->nodes[l]] < rank[found->nodes[r]];
}

/* A plugin may pick among the nodes of greatest score. */
static uint32_t ask_best(struct maar_session *session, const struct maar_task *task,
                         const struct candidates *found, size_t best)
{
    uint32_t *equal = maar_calloc(found->n, sizeof *equal);
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++)
        if (found->scores[i] == found->scores[best])
            equal[n++] = found->nodes[i];
    uint32_t node = maar_vote_best_node(session, task, equal, n);
    free(equal);
    return node;
}

struct maar_choice maar_scan_choose(struct maar_session *session, const struct maar_task *task,
                                    uint32_t flags, uint64_t *refused)
{
    struct candidates found = find_candidates(session, task, flags, refused);
    struct maar_choice choice = {MAAR_NO_NODE, found.pipelined};
    size_t best = 0;
    for (size_t i = 1; i < found.n; i++)
        if (is_better(session, &found, i, best))
            best = i;
    if (found.n > 0) {
        choice.node = found.nodes[best];
        if (session->policy->has_best_node) {
            uint32_t node = ask_best(session, task, &found, best);
            choice.node = node == MAAR_NO_NODE ? choice.node : node;
        }
    }
    fini(&found);
    return choice;
}

size_t maar_scan_candidates(struct maar_session *session, const struct maar_task *task,
                            uint32_t *ret_nodes, size_t n_max, bool *ret_pipelined)
{
    struct candidates found = find_candidates(session, task, 0, NULL);
    *ret_pipelined = found.pipelined;
    size_t n = found.n < n_max ? found.n : n_max;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < found.n; i++)
            if (is_better(session, &found, i, best))
                best = i;
        uint32_t node = found.nodes[k];
        double score = found.scores[k];
        found.nodes[k] = found.nodes[best];
        found.scores[k] = found.scores[best];
        found.nodes[best] = node;
        found.scores[best] = score;
        ret_nodes[k] = found.nodes[k];
    }
    fini(&found);
    return n;
}
