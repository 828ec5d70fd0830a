/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Affinity and topology spread of a pod from JSON. Node affinity goes straight into the record, the rest waits in the
 * draft. */

#include "wire/json_affinity.h"

#include "wire/json_value.h"

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* ---- node affinity ---- */

struct maar_texts_draft maar_json_texts(struct maar_decoder *decoder, const json_t *object,
                                        const struct maar_path *at, const char *key)
{
    const json_t *array = maar_json_array(decoder, object, at, key);
    struct maar_path list = {at, key, 0};
    struct maar_texts_draft texts = {0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const char *text = maar_json_as_text(decoder, json_array_get(array, i), &here);
        maar_texts_add(decoder, &texts, maar_arena_strdup(decoder->arena, text ? text : ""));
    }
    return texts;
}

static void read_requirements(struct maar_decoder *decoder, const json_t *array,
                              const struct maar_path *at, bool is_field,
                              struct maar_requirement *requirements)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {at, NULL, i};
        const json_t *item = maar_json_item(decoder, array, at, i);
        struct maar_requirement *requirement = &requirements[i];
        requirement->is_field = is_field;
        requirement->key = maar_json_text(decoder, item, &here, "key");
        struct maar_texts_draft values = maar_json_texts(decoder, item, &here, "values");
        requirement->values = values.items;
        requirement->n_values = values.n;
        maar_requirement_finish(requirement, maar_json_peek(decoder, item, &here, "operator"));
    }
}

static void read_term(struct maar_decoder *decoder, const json_t *object,
                      const struct maar_path *at, struct maar_selector_term *term)
{
    const json_t *expressions = maar_json_array(decoder, object, at, "matchExpressions");
    const json_t *fields = maar_json_array(decoder, object, at, "matchFields");
    struct maar_path expressions_at = {at, "matchExpressions", 0};
    struct maar_path fields_at = {at, "matchFields", 0};
    size_t n_expressions = json_array_size(expressions);
    size_t n = n_expressions + json_array_size(fields);
    struct maar_requirement *requirements =
        maar_arena_calloc(decoder->arena, n, sizeof *requirements);
    read_requirements(decoder, expressions, &expressions_at, false, requirements);
    read_requirements(decoder, fields, &fields_at, true, requirements + n_expressions);
    term->requirements = requirements;
    term->n_requirements = (uint32_t)n;
}

static void read_required(struct maar_decoder *decoder, const json_t *affinity,
                          const struct maar_path *at)
{
    static const char key[] = REQUIRED;
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    const json_t *selector = maar_json_object(decoder, affinity, at, key);
    if (!selector)
        return;
    struct maar_path here = {at, key, 0};
    struct maar_path list = {&here, "nodeSelectorTerms", 0};
    const json_t *array = maar_json_array(decoder, selector, &here, "nodeSelectorTerms");
    size_t n = json_array_size(array);
    struct maar_selector_term *terms = maar_arena_calloc(decoder->arena, n, sizeof *terms);
    for (size_t i = 0; i < n; i++) {
        struct maar_path there = {&list, NULL, i};
        read_term(decoder, maar_json_item(decoder, array, &list, i), &there, &terms[i]);
    }
    spec->has_required_affinity = true;
    spec->required = terms;
    spec->n_required = (uint32_t)n;
}

static void read_preferred(struct maar_decoder *decoder, const json_t *affinity,
                           const struct maar_path *at)
{
    static const char key[] = PREFERRED;
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    const json_t *array = maar_json_array(decoder, affinity, at, key);
    struct maar_path list = {at, key, 0};
    size_t n = json_array_size(array);
    struct maar_preferred_term *terms = maar_arena_calloc(decoder->arena, n, sizeof *terms);
    for (size_t i = 0; i < n; i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_path there = {&here, "preference", 0};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        (void)maar_json_int32(decoder, item, &here, "weight", &terms[i].weight);
        read_term(decoder, maar_json_object(decoder, item, &here, "preference"), &there,
                  &terms[i].term);
    }
    spec->preferred = terms;
    spec->n_preferred = (uint32_t)n;
}

/* ---- pod affinity ---- */

void maar_json_selector(struct maar_decoder *decoder, const json_t *object,
                        const struct maar_path *at, const char *key,
                        struct maar_selector_draft *draft)
{
    const json_t *selector = maar_json_object(decoder, object, at, key);
    if (!selector)
        return;
    struct maar_path here = {at, key, 0};
    struct maar_path list = {&here, "matchExpressions", 0};
    const json_t *array = maar_json_array(decoder, selector, &here, "matchExpressions");
    draft->is_set = true;
    draft->labels = maar_json_labels(decoder, selector, &here, "matchLabels", &draft->n_labels);
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path there = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        struct maar_expression_draft *expression = maar_selector_add(decoder, draft);
        expression->key = maar_json_text(decoder, item, &there, "key");
        expression->op = maar_json_text(decoder, item, &there, "operator");
        expression->values = maar_json_texts(decoder, item, &there, "values");
    }
}

static void read_pod_term(struct maar_decoder *decoder, const json_t *object,
                          const struct maar_path *at, struct maar_term_draft *term)
{
    maar_json_selector(decoder, object, at, "labelSelector", &term->selector);
    maar_json_selector(decoder, object, at, "namespaceSelector", &term->namespace_selector);
    term->topology_key = maar_json_text(decoder, object, at, "topologyKey");
    term->namespaces = maar_json_texts(decoder, object, at, "namespaces");
    term->match_keys = maar_json_texts(decoder, object, at, "matchLabelKeys");
    term->mismatch_keys = maar_json_texts(decoder, object, at, "mismatchLabelKeys");
}

static void read_pod_terms(struct maar_decoder *decoder, const json_t *affinity,
                           const struct maar_path *at, bool is_preferred,
                           struct maar_terms_draft *terms)
{
    const char *key = is_preferred ? PREFERRED : REQUIRED;
    const json_t *array = maar_json_array(decoder, affinity, at, key);
    struct maar_path list = {at, key, 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_path there = {&here, "podAffinityTerm", 0};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        struct maar_term_draft *term = maar_terms_add(decoder, terms);
        if (!is_preferred) {
            read_pod_term(decoder, item, &here, term);
            continue;
        }
        (void)maar_json_int32(decoder, item, &here, "weight", &term->weight);
        read_pod_term(decoder, maar_json_object(decoder, item, &here, "podAffinityTerm"), &there,
                      term);
    }
}

static void read_pod_affinity(struct maar_decoder *decoder, const json_t *affinity,
                              const struct maar_path *at, const char *key,
                              struct maar_pod_affinity_draft *draft)
{
    const json_t *terms = maar_json_object(decoder, affinity, at, key);
    struct maar_path here = {at, key, 0};
    read_pod_terms(decoder, terms, &here, false, &draft->required);
    read_pod_terms(decoder, terms, &here, true, &draft->preferred);
}

void maar_json_read_affinity(struct maar_decoder *decoder, const json_t *spec,
                             const struct maar_path *at, struct maar_affinity_draft *draft)
{
    const json_t *affinity = maar_json_object(decoder, spec, at, "affinity");
    if (!affinity)
        return;
    struct maar_path here = {at, "affinity", 0};
    struct maar_path there = {&here, "nodeAffinity", 0};
    const json_t *node_affinity = maar_json_object(decoder, affinity, &here, "nodeAffinity");
    read_required(decoder, node_affinity, &there);
    read_preferred(decoder, node_affinity, &there);
    read_pod_affinity(decoder, affinity, &here, "podAffinity", &draft->affinity);
    read_pod_affinity(decoder, affinity, &here, "podAntiAffinity", &draft->anti_affinity);
}

/* ---- topology spread ---- */

void maar_json_read_spread(struct maar_decoder *decoder, const json_t *spec,
                           const struct maar_path *at, struct maar_affinity_draft *draft)
{
    static const char key[] = "topologySpreadConstraints";
    const json_t *array = maar_json_array(decoder, spec, at, key);
    struct maar_path list = {at, key, 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        struct maar_spread_draft *spread = maar_spread_add(decoder, draft);
        (void)maar_json_int32(decoder, item, &here, "maxSkew", &spread->max_skew);
        (void)maar_json_int32(decoder, item, &here, "minDomains", &spread->min_domains);
        spread->topology_key = maar_json_text(decoder, item, &here, "topologyKey");
        spread->when_unsatisfiable = maar_json_text(decoder, item, &here, "whenUnsatisfiable");
        spread->affinity_policy = maar_json_text(decoder, item, &here, "nodeAffinityPolicy");
        spread->taints_policy = maar_json_text(decoder, item, &here, "nodeTaintsPolicy");
        maar_json_selector(decoder, item, &here, "labelSelector", &spread->selector);
        spread->match_keys = maar_json_texts(decoder, item, &here, "matchLabelKeys");
    }
}
