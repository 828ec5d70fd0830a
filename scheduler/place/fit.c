/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Room and filters. Resources are the actions' business in Volcano: a task fits when its request is at most what is
 * idle; cpu and memory are compared even when nothing of them is asked, so a node in debt takes nobody. */

#include <math.h>

#include "place/place.h"

bool maar_fits_idle(const struct maar_nodes *nodes, const struct maar_resource *request,
                    uint32_t slot)
{
    if (nodes->idle[MAAR_DIM_CPU][slot] < 0 || nodes->idle[MAAR_DIM_MEMORY][slot] < 0)
        return false;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (request->v[d] > nodes->idle[d][slot])
            return false;
    }
    return true;
}

bool maar_fits_future(const struct maar_nodes *nodes, const struct maar_resource *request,
                      uint32_t slot)
{
    if (maar_node_future_idle(nodes, MAAR_DIM_CPU, slot) < 0 ||
        maar_node_future_idle(nodes, MAAR_DIM_MEMORY, slot) < 0)
        return false;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (request->v[d] > maar_node_future_idle(nodes, d, slot))
            return false;
    }
    return true;
}

static uint32_t kind_of(const struct maar_filter *filter)
{
    if (filter->node == MAAR_NODE_STATIC)
        return MAAR_FILTER_STATIC;
    return filter->node & MAAR_NODE_OTHERS ? MAAR_FILTER_LATE : MAAR_FILTER_LOAD;
}

bool maar_filter_applies(const struct maar_filter_use *use, const struct maar_task *task)
{
    const struct maar_instance *instance = use->instance;
    return instance->open &&
           !(use->filter->skip && use->filter->skip(instance->self, &instance->view, task));
}

bool maar_score_applies(const struct maar_score_use *use, const struct maar_task *task)
{
    const struct maar_instance *instance = use->instance;
    return instance->open &&
           !(use->score->skip && use->score->skip(instance->self, &instance->view, task));
}

bool maar_depends_on_others(const struct maar_session *session, const struct maar_task *task)
{
    const struct maar_policy *policy = session->policy;
    for (size_t i = 0; policy->has_late && i < policy->n_filters; i++)
        if (kind_of(policy->filters[i].filter) == MAAR_FILTER_LATE &&
            maar_filter_applies(&policy->filters[i], task))
            return true;
    return false;
}

void maar_run_filters(struct maar_session *session, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, uint8_t *fit, uint32_t kinds)
{
    struct maar_policy *policy = session->policy;
    for (size_t i = 0; i < policy->n_filters; i++) {
        const struct maar_filter_use *use = &policy->filters[i];
        if ((kind_of(use->filter) & kinds) && maar_filter_applies(use, task))
            use->filter->fit(use->instance->self, &use->instance->view, task, nodes, n, fit);
    }
}

void maar_run_local_scores(struct maar_session *session, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, double *node_sum, double *batch_sum)
{
    struct maar_policy *policy = session->policy;
    memset(node_sum, 0, n * sizeof *node_sum);
    memset(batch_sum, 0, n * sizeof *batch_sum);
    for (size_t i = 0; i < policy->n_scores; i++) {
        const struct maar_score_use *use = &policy->scores[i];
        if (use->instance->open && use->score->score)
            use->score->score(use->instance->self, &use->instance->view, task, nodes, n,
                              use->score->phase == MAAR_SCORE_NODE ? node_sum : batch_sum);
    }
}

void maar_add_normalised(const struct maar_score_use *use, const struct maar_task *task,
                         const int64_t *raw, size_t n, double *batch_sum)
{
    const struct maar_score *score = use->score;
    bool any = false;
    int64_t min = 0, max = 0;
    for (size_t i = 0; i < n; i++) {
        if (raw[i] == MAAR_RAW_NONE)
            continue;
        min = !any || raw[i] < min ? raw[i] : min;
        max = !any || raw[i] > max ? raw[i] : max;
        any = true;
    }
    for (size_t i = 0; i < n; i++)
        if (raw[i] != MAAR_RAW_NONE)
            batch_sum[i] +=
                score->normalise(use->instance->self, &use->instance->view, task, raw[i], min, max);
}

/* A score that is no number counts as none. */
double maar_total_score(struct maar_session *session, double node_sum, double batch_sum)
{
    double total = node_sum + batch_sum;
    if (!isfinite(total)) {
        session->n_bad_answers++;
        return 0;
    }
    return total;
}
