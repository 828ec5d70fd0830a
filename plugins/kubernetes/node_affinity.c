/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Node selectors and node affinity (kube-scheduler's NodeAffinity). Keys and values are interned,
 * so they compare by pointer; only the empty text and the name of the one known field are compared
 * by content. */

#include "kubernetes/node_affinity.h"

#include <string.h>

#include "kubernetes/labels.h"

static bool is_name_field(const struct maar_requirement *requirement)
{
    return requirement->is_field && strcmp(requirement->key, "metadata.name") == 0;
}

/* metadata.name is the only field that nodes are matched by; every other one is empty. */
static bool field_matches(const struct maar_requirement *requirement,
                          const struct maar_node_facts *node)
{
    if (requirement->n_values != 1)
        return false;
    bool is_in = maar_requirement_lists(requirement, is_name_field(requirement) ? node->name : "");
    switch (requirement->op) {
    case MAAR_OP_IN:
        return is_in;
    case MAAR_OP_NOT_IN:
        return !is_in;
    default:
        return false;
    }
}

static bool requirement_matches(const struct maar_requirement *requirement,
                                const struct maar_node_facts *node)
{
    if (requirement->is_field)
        return field_matches(requirement, node);

    const char *value = maar_label_find(node->labels, node->n_labels, requirement->key);
    int64_t number;
    switch (requirement->op) {
    case MAAR_OP_IN:
        return value && maar_requirement_lists(requirement, value);
    case MAAR_OP_NOT_IN:
        return requirement->n_values > 0 && !(value && maar_requirement_lists(requirement, value));
    case MAAR_OP_EXISTS:
        return value != NULL;
    case MAAR_OP_DOES_NOT_EXIST:
        return value == NULL;
    case MAAR_OP_GT:
        return value && maar_text_to_int64(value, &number) && number > requirement->number;
    case MAAR_OP_LT:
        return value && maar_text_to_int64(value, &number) && number < requirement->number;
    case MAAR_OP_INVALID:
        break;
    }
    return false;
}

bool maar_term_matches(const struct maar_selector_term *term, const struct maar_node_facts *node)
{
    for (uint32_t i = 0; i < term->n_requirements; i++)
        if (!requirement_matches(&term->requirements[i], node))
            return false;
    return term->n_requirements > 0;
}

bool maar_pod_matches_node(const struct maar_pod_spec *spec, const struct maar_node_facts *node)
{
    for (uint32_t i = 0; i < spec->n_node_selector; i++) {
        const char *value =
            maar_label_find(node->labels, node->n_labels, spec->node_selector[i].key);
        if (!value || !maar_text_is(value, spec->node_selector[i].value))
            return false;
    }
    if (!spec->has_required_affinity)
        return true;
    for (uint32_t i = 0; i < spec->n_required; i++)
        if (maar_term_matches(&spec->required[i], node))
            return true;
    return false;
}

/* True when the term's requirements on the node's name leave at least one name, or when it has
 * none. */
static bool term_leaves_a_name(const struct maar_selector_term *term)
{
    const struct maar_requirement *first = NULL;
    for (uint32_t i = 0; i < term->n_requirements && !first; i++)
        if (is_name_field(&term->requirements[i]) && term->requirements[i].op == MAAR_OP_IN)
            first = &term->requirements[i];
    if (!first)
        return true;
    for (uint32_t v = 0; v < first->n_values; v++) {
        bool everywhere = true;
        for (uint32_t i = 0; i < term->n_requirements && everywhere; i++)
            if (is_name_field(&term->requirements[i]) && term->requirements[i].op == MAAR_OP_IN)
                everywhere = maar_requirement_lists(&term->requirements[i], first->values[v]);
        if (everywhere)
            return true;
    }
    return false;
}

bool maar_node_names_conflict(const struct maar_pod_spec *spec)
{
    if (!spec->has_required_affinity || spec->n_required == 0)
        return false;
    for (uint32_t i = 0; i < spec->n_required; i++)
        if (term_leaves_a_name(&spec->required[i]))
            return false;
    return true;
}

int64_t maar_preferred_weight(const struct maar_pod_spec *spec, const struct maar_node_facts *node)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < spec->n_preferred; i++)
        if (maar_term_matches(&spec->preferred[i].term, node))
            sum += spec->preferred[i].weight;
    return sum;
}
