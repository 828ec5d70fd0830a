/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* PodTopologySpread, its filter: with the pod, the domain of the node may hold at most maxSkew more
 * of the pods that the constraint names than the domain that holds the fewest. Domains are those of
 * the nodes that have the keys of all hard constraints and that the constraint's policies do not
 * leave out. Pods that are being deleted do not count. */

#include "predicates/spread.h"

#include "kubernetes/pod_affinity.h"

static const struct maar_tally_kind hard_kind = {
    .name = "hard spread", .weigh = maar_spread_weigh, .takes_part = maar_spread_takes_part};

bool maar_spread_skip(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    (void)view;
    const struct maar_pod_spec *spec = task->cls->spec;
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (spec->spread[i].hard)
            return false;
    return true;
}

/* What a domain may hold at most for the pod to come. */
static int64_t limit_of(const struct maar_spread_constraint *constraint,
                        const struct maar_tally *tally, const struct maar_class *cls)
{
    int64_t least = tally->n_domains == 0 ? INT32_MAX : tally->least;
    if (tally->n_domains < (uint32_t)constraint->min_domains)
        least = 0;
    int64_t itself = maar_selector_matches(&constraint->selector, cls->labels, cls->n_labels);
    return constraint->max_skew + least - itself;
}

static void fit_one(const struct maar_view *view, const struct maar_class *cls, uint32_t part,
                    const uint32_t *nodes, size_t n, uint8_t *out)
{
    const struct maar_spread_constraint *constraint = &cls->spec->spread[part];
    const struct maar_tally *tally =
        view->host->tally(view->session, &hard_kind, cls, part, constraint->topology_key);
    int64_t limit = limit_of(constraint, tally, cls);
    for (size_t i = 0; i < n; i++) {
        uint32_t domain = tally->topology->domain[nodes[i]];
        uint8_t code = MAAR_FIT_OK;
        if (domain == MAAR_NO_DOMAIN)
            code = MAAR_FIT_NEVER;
        else if (tally->sums[domain] > limit)
            code = MAAR_FIT_UNSCHEDULABLE;
        out[i] = out[i] < code ? code : out[i];
    }
}

void maar_spread_fit(void *self, const struct maar_view *view, const struct maar_task *task,
                     const uint32_t *nodes, size_t n, uint8_t *out)
{
    (void)self;
    const struct maar_pod_spec *spec = task->cls->spec;
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (spec->spread[i].hard)
            fit_one(view, task->cls, i, nodes, n, out);
}

/* The first constraint that refuses speaks. */
void maar_spread_explain(void *self, const struct maar_view *view, const struct maar_task *task,
                         uint32_t node, struct maar_reasons *reasons)
{
    (void)self;
    const struct maar_pod_spec *spec = task->cls->spec;
    uint8_t fit = MAAR_FIT_OK;
    for (uint32_t i = 0; i < spec->n_spread && fit == MAAR_FIT_OK; i++)
        if (spec->spread[i].hard)
            fit_one(view, task->cls, i, &node, 1, &fit);
    if (fit == MAAR_FIT_NEVER)
        view->host->reason_add(
            reasons,
            "node(s) didn't match pod topology spread constraints (missing required label)");
    else if (fit != MAAR_FIT_OK)
        view->host->reason_add(reasons, "node(s) didn't match pod topology spread constraints");
}
