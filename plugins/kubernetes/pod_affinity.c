/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Selectors of pods (kube-scheduler's InterPodAffinity and PodTopologySpread). Keys, values and
 * namespaces are interned and compare by pointer. */

#include "kubernetes/pod_affinity.h"

#include <stdlib.h>

#include "kubernetes/labels.h"
#include "kubernetes/node_affinity.h"
#include "kubernetes/tolerations.h"

static bool requirement_matches(const struct maar_requirement *requirement,
                                const struct maar_label *labels, uint32_t n_labels)
{
    const char *value = maar_label_find(labels, n_labels, requirement->key);
    switch (requirement->op) {
    case MAAR_OP_IN:
        return value && maar_requirement_lists(requirement, value);
    case MAAR_OP_NOT_IN:
        return !value || !maar_requirement_lists(requirement, value);
    case MAAR_OP_EXISTS:
        return value != NULL;
    case MAAR_OP_DOES_NOT_EXIST:
        return value == NULL;
    default:
        return false;
    }
}

bool maar_selector_matches(const struct maar_label_selector *selector,
                           const struct maar_label *labels, uint32_t n_labels)
{
    for (uint32_t i = 0; i < selector->n_requirements; i++)
        if (!requirement_matches(&selector->requirements[i], labels, n_labels))
            return false;
    return selector->is_set;
}

static bool names_namespace(const struct maar_affinity_term *term, const struct maar_class *other)
{
    for (uint32_t i = 0; i < term->n_namespaces; i++)
        if (term->namespaces[i] == other->ns)
            return true;
    return maar_selector_matches(&term->namespace_selector, other->space->labels,
                                 other->space->n_labels);
}

bool maar_affinity_term_matches(const struct maar_affinity_term *term,
                                const struct maar_class *other)
{
    return names_namespace(term, other) &&
           maar_selector_matches(&term->selector, other->labels, other->n_labels);
}

bool maar_affinity_terms_match_all(const struct maar_affinity_terms *terms,
                                   const struct maar_class *other)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (!maar_affinity_term_matches(&terms->terms[i], other))
            return false;
    return true;
}

int64_t maar_affinity_terms_weight(const struct maar_affinity_terms *terms, const char *key,
                                   const struct maar_class *other)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct maar_affinity_term *term = &terms->terms[i];
        if (term->topology_key == key && maar_affinity_term_matches(term, other))
            sum += term->weight ? term->weight : 1;
    }
    return sum;
}

int64_t maar_spread_weigh(const struct maar_class *owner, uint32_t part, const char *key,
                          const struct maar_class *other)
{
    (void)key;
    const struct maar_spread_constraint *constraint = &owner->spec->spread[part];
    return other->ns == owner->ns && constraint->selector.n_requirements > 0 &&
           maar_selector_matches(&constraint->selector, other->labels, other->n_labels);
}

bool maar_spread_takes_part(const struct maar_class *owner, uint32_t part,
                            const struct maar_node_facts *node)
{
    const struct maar_pod_spec *spec = owner->spec;
    const struct maar_spread_constraint *constraint = &spec->spread[part];
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (spec->spread[i].hard == constraint->hard &&
            !maar_label_find(node->labels, node->n_labels, spec->spread[i].topology_key))
            return false;
    return (!constraint->honor_affinity || maar_pod_matches_node(spec, node)) &&
           (!constraint->honor_taints || maar_pod_tolerates_node(spec, node));
}

int64_t *maar_affinity_unlisted(const struct maar_view *view, const struct maar_tally_kind *kind,
                                const struct maar_class *owner, const struct maar_tally *tally,
                                bool (*listed)(const struct maar_view *view, uint32_t node))
{
    const struct maar_nodes *nodes = view->nodes;
    int64_t *sums = NULL;
    for (uint32_t node = 0; node < nodes->n_slots; node++) {
        uint32_t domain = tally->topology->domain[node];
        if (domain == MAAR_NO_DOMAIN || listed(view, node))
            continue;
        for (uint32_t i = 0; i < nodes->n_tasks[node]; i++) {
            int64_t weight =
                kind->weigh(owner, 0, tally->topology->key, nodes->tasks[node][i]->cls);
            if (weight == 0)
                continue;
            if (!sums)
                sums = calloc(tally->topology->n_domains, sizeof *sums);
            if (!sums)
                abort();
            sums[domain] += weight;
        }
    }
    return sums;
}
