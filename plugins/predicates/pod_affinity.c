/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* InterPodAffinity, its filter. Three tallies a topology key: pods that match all terms of the own
 * affinity, pods that match terms of the own anti-affinity, and pods whose anti-affinity means this
 * one. Pods that are being deleted count until they have gone. */

#include "predicates/pod_affinity.h"

#include <stdlib.h>

#include "kubernetes/pod_affinity.h"

static int64_t weigh_affinity(const struct maar_class *owner, uint32_t part, const char *key,
                              const struct maar_class *other)
{
    (void)part;
    (void)key;
    return maar_affinity_terms_match_all(&owner->spec->pod_affinity_required, other);
}

static int64_t weigh_anti_affinity(const struct maar_class *owner, uint32_t part, const char *key,
                                   const struct maar_class *other)
{
    (void)part;
    return maar_affinity_terms_weight(&owner->spec->pod_anti_affinity_required, key, other);
}

static int64_t weigh_existing(const struct maar_class *owner, uint32_t part, const char *key,
                              const struct maar_class *other)
{
    (void)part;
    return maar_affinity_terms_weight(&other->spec->pod_anti_affinity_required, key, owner);
}

static const struct maar_tally_kind affinity_kind = {
    .name = "required affinity", .counts_leaving = true, .weigh = weigh_affinity};
static const struct maar_tally_kind anti_affinity_kind = {
    .name = "required anti-affinity", .counts_leaving = true, .weigh = weigh_anti_affinity};
static const struct maar_tally_kind existing_kind = {.name = "anti-affinity of others",
                                                     .only_affine = true,
                                                     .counts_leaving = true,
                                                     .weigh = weigh_existing};

static const struct maar_tally *existing_tally(const struct maar_view *view,
                                               const struct maar_task *task, uint32_t key)
{
    return view->host->tally(view->session, &existing_kind, task->cls, 0, view->affinity_keys[key]);
}

bool maar_pod_affinity_skip(const struct maar_view *view, const struct maar_task *task)
{
    const struct maar_pod_spec *spec = task->cls->spec;
    if (spec->pod_affinity_required.n + spec->pod_anti_affinity_required.n > 0)
        return false;
    for (uint32_t k = 0; k < view->n_affinity_keys; k++) {
        const struct maar_tally *tally = existing_tally(view, task, k);
        if (tally && tally->total > 0)
            return false;
    }
    return true;
}

static void raise(uint8_t *out, uint8_t code)
{
    *out = *out < code ? code : *out;
}

/* No pod that the own affinity names stands in any domain, and the pod itself would be one. */
static bool is_first(const struct maar_view *view, const struct maar_class *cls)
{
    const struct maar_affinity_terms *terms = &cls->spec->pod_affinity_required;
    for (uint32_t i = 0; i < terms->n; i++)
        if (view->host->tally(view->session, &affinity_kind, cls, 0, terms->terms[i].topology_key)
                ->total > 0)
            return false;
    return maar_affinity_terms_match_all(terms, cls);
}

static void fit_affinity(const struct maar_view *view, const struct maar_task *task,
                         const uint32_t *nodes, size_t n, uint8_t *out)
{
    const struct maar_affinity_terms *terms = &task->cls->spec->pod_affinity_required;
    if (terms->n == 0)
        return;
    bool first = is_first(view, task->cls);
    for (uint32_t t = 0; t < terms->n; t++) {
        const struct maar_tally *tally = view->host->tally(view->session, &affinity_kind, task->cls,
                                                           0, terms->terms[t].topology_key);
        for (size_t i = 0; i < n; i++) {
            uint32_t domain = tally->topology->domain[nodes[i]];
            if (domain == MAAR_NO_DOMAIN || (tally->sums[domain] <= 0 && !first))
                raise(&out[i], MAAR_FIT_NEVER);
        }
    }
}

static void fit_anti_affinity(const struct maar_view *view, const struct maar_task *task,
                              const uint32_t *nodes, size_t n, uint8_t *out)
{
    const struct maar_affinity_terms *terms = &task->cls->spec->pod_anti_affinity_required;
    for (uint32_t t = 0; t < terms->n; t++) {
        const struct maar_tally *tally = view->host->tally(
            view->session, &anti_affinity_kind, task->cls, 0, terms->terms[t].topology_key);
        for (size_t i = 0; tally->total > 0 && i < n; i++) {
            uint32_t domain = tally->topology->domain[nodes[i]];
            if (domain != MAAR_NO_DOMAIN && tally->sums[domain] > 0)
                raise(&out[i], MAAR_FIT_UNSCHEDULABLE);
        }
    }
}

static void fit_existing(const struct maar_view *view, const struct maar_task *task,
                         const uint32_t *nodes, size_t n, uint8_t *out,
                         bool (*listed)(const struct maar_view *view, uint32_t node))
{
    for (uint32_t k = 0; k < view->n_affinity_keys; k++) {
        const struct maar_tally *tally = existing_tally(view, task, k);
        if (!tally || tally->total == 0)
            continue;
        int64_t *unlisted =
            listed ? maar_affinity_unlisted(view, &existing_kind, task->cls, tally, listed) : NULL;
        for (size_t i = 0; i < n; i++) {
            uint32_t domain = tally->topology->domain[nodes[i]];
            if (domain != MAAR_NO_DOMAIN &&
                tally->sums[domain] - (unlisted ? unlisted[domain] : 0) > 0)
                raise(&out[i], MAAR_FIT_UNSCHEDULABLE);
        }
        free(unlisted);
    }
}

void maar_pod_affinity_fit(const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, uint8_t *out,
                           bool (*listed)(const struct maar_view *view, uint32_t node))
{
    fit_affinity(view, task, nodes, n, out);
    fit_anti_affinity(view, task, nodes, n, out);
    fit_existing(view, task, nodes, n, out, listed);
}

const char *maar_pod_affinity_refusal(const struct maar_view *view, const struct maar_task *task,
                                      uint32_t node,
                                      bool (*listed)(const struct maar_view *view, uint32_t node))
{
    uint8_t fit = MAAR_FIT_OK;
    fit_affinity(view, task, &node, 1, &fit);
    if (fit != MAAR_FIT_OK)
        return "node(s) didn't match pod affinity rules";
    fit_anti_affinity(view, task, &node, 1, &fit);
    if (fit != MAAR_FIT_OK)
        return "node(s) didn't match pod anti-affinity rules";
    fit_existing(view, task, &node, 1, &fit, listed);
    return fit != MAAR_FIT_OK ? "node(s) didn't satisfy existing pods anti-affinity rules" : NULL;
}
