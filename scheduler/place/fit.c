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

static bool is_static(uint32_t node_axes)
{
    return node_axes == MAAR_NODE_STATIC;
}

void maar_run_filters(struct maar_session *session, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, uint8_t *fit, bool load_only,
                      bool static_only)
{
    struct maar_policy *policy = session->policy;
    for (size_t i = 0; i < policy->n_filters; i++) {
        const struct maar_filter_use *use = &policy->filters[i];
        bool fixed = is_static(use->filter->node);
        if (!use->instance->open || (load_only && fixed) || (static_only && !fixed))
            continue;
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
