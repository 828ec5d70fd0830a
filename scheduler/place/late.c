/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* What depends on the pods of other nodes is asked late: for each task afresh, and only of the nodes that a class
 * index holds. Where the late filters leave the extremes of the normalised scores as they are, the scores of the index
 * hold; else they are computed among the nodes that are left. */

#include "place/class_index.h"

bool maar_has_late_scores(const struct maar_session *session, const struct maar_task *task)
{
    const struct maar_policy *policy = session->policy;
    for (size_t i = 0; policy->has_late && i < policy->n_scores; i++)
        if (maar_score_is_late(&policy->scores[i]) && maar_score_applies(&policy->scores[i], task))
            return true;
    return false;
}

/* The members of a heap that the late filters let pass, in place->nodes. */
static size_t filter_late(struct maar_session *session, const struct maar_class_index *index,
                          const struct maar_task *task, uint32_t tier)
{
    struct maar_place *place = session->place;
    const struct maar_place_heap *heap = &index->heaps[tier];
    if (heap->n == 0)
        return 0;
    memcpy(place->nodes, heap->slots, heap->n * sizeof *place->nodes);
    memset(place->fit, MAAR_FIT_OK, heap->n);
    maar_run_filters(session, task, place->nodes, heap->n, place->fit, MAAR_FILTER_LATE);
    size_t n = 0;
    for (uint32_t i = 0; i < heap->n; i++)
        if (place->fit[i] == MAAR_FIT_OK)
            place->nodes[n++] = place->nodes[i];
    return n;
}

/* Among fewer nodes a normalised score has the extremes that it has among all members: their scores hold. */
static bool keeps_extremes(const struct maar_class_index *index, uint32_t tier,
                           const uint32_t *nodes, size_t n)
{
    for (uint32_t i = 0; i < index->n_terms; i++) {
        const struct maar_place_term *term = &index->terms[i];
        int64_t min = INT64_MAX, max = INT64_MIN;
        for (size_t k = 0; k < n; k++) {
            int64_t raw = maar_term_raw(term, nodes[k]);
            if (raw == MAAR_RAW_NONE)
                continue;
            min = raw < min ? raw : min;
            max = raw > max ? raw : max;
        }
        bool any = min <= max;
        if (any && (min != term->min[tier] || max != term->max[tier]))
            return false;
    }
    return true;
}

/* The scores of place->nodes[0..n) among themselves, into place->batch_sum. Same order of additions as the plain
 * path. */
static void score_late(struct maar_session *session, const struct maar_class_index *index,
                       const struct maar_task *task, size_t n)
{
    struct maar_place *place = session->place;
    uint32_t next_term = 0;
    for (size_t i = 0; i < n; i++)
        place->batch_sum[i] = index->batch_sum[place->nodes[i]];
    for (size_t s = 0; s < session->policy->n_scores; s++) {
        const struct maar_score_use *use = &session->policy->scores[s];
        if (!use->score->raw)
            continue;
        if (next_term < index->n_terms && index->terms[next_term].use == use) {
            const struct maar_place_term *term = &index->terms[next_term++];
            for (size_t i = 0; i < n; i++)
                place->raw[i] = maar_term_raw(term, place->nodes[i]);
        } else if (maar_score_is_late(use) && maar_score_applies(use, task)) {
            memset(place->raw, 0, n * sizeof *place->raw);
            use->score->raw(use->instance->self, &use->instance->view, task, place->nodes, n,
                            place->raw);
        } else {
            continue;
        }
        maar_add_normalised(use, task, place->raw, n, place->batch_sum);
    }
    for (size_t i = 0; i < n; i++)
        place->batch_sum[i] =
            maar_total_score(session, index->node_sum[place->nodes[i]], place->batch_sum[i]);
}

/* The best of place->nodes[0..n) by place->batch_sum. */
static uint32_t best_of(const struct maar_session *session, size_t n)
{
    const struct maar_place *place = session->place;
    const uint32_t *rank = session->world->nodes.name_rank;
    uint32_t best = place->nodes[0];
    double best_score = place->batch_sum[0];
    for (size_t i = 1; i < n; i++) {
        uint32_t slot = place->nodes[i];
        double score = place->batch_sum[i];
        if (score < best_score || (score == best_score && rank[slot] > rank[best]))
            continue;
        best = slot;
        best_score = score;
    }
    return best;
}

uint32_t maar_late_choose(struct maar_session *session, const struct maar_class_index *index,
                          const struct maar_task *task, uint32_t tier, bool scores)
{
    struct maar_place *place = session->place;
    size_t n = filter_late(session, index, task, tier);
    if (n == 0)
        return MAAR_NO_NODE;
    if (!scores && keeps_extremes(index, tier, place->nodes, n))
        for (size_t i = 0; i < n; i++)
            place->batch_sum[i] = index->score[place->nodes[i]];
    else
        score_late(session, index, task, n);
    return best_of(session, n);
}
