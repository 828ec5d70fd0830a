/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The last step of decoding pod affinity and topology spread, after apimachinery's LabelSelectorAsSelector and what
 * the API server checks and fills in (ValidatePodSpec, applyMatchLabelKeysAndMismatchLabelKeys). */

#include "wire/affinity_draft.h"

#include <string.h>

#include "wire/names.h"

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const struct maar_path spec_at = {NULL, "spec", 0};
static const struct maar_path affinity_at = {&spec_at, "affinity", 0};

/* ---- drafts ---- */

struct maar_term_draft *maar_terms_add(struct maar_decoder *decoder, struct maar_terms_draft *terms)
{
    terms->items = maar_decoder_grow(decoder, terms->items, terms->n, sizeof *terms->items);
    struct maar_term_draft *term = &terms->items[terms->n++];
    term->topology_key = "";
    return term;
}

struct maar_expression_draft *maar_selector_add(struct maar_decoder *decoder,
                                                struct maar_selector_draft *selector)
{
    selector->expressions = maar_decoder_grow(
        decoder, selector->expressions, selector->n_expressions, sizeof *selector->expressions);
    struct maar_expression_draft *expression = &selector->expressions[selector->n_expressions++];
    expression->key = "";
    expression->op = "";
    return expression;
}

struct maar_spread_draft *maar_spread_add(struct maar_decoder *decoder,
                                          struct maar_affinity_draft *draft)
{
    draft->spread =
        maar_decoder_grow(decoder, draft->spread, draft->n_spread, sizeof *draft->spread);
    struct maar_spread_draft *spread = &draft->spread[draft->n_spread++];
    spread->min_domains = 1;
    spread->topology_key = "";
    spread->when_unsatisfiable = "";
    spread->affinity_policy = "";
    spread->taints_policy = "";
    return spread;
}

void maar_texts_add(struct maar_decoder *decoder, struct maar_texts_draft *texts, const char *text)
{
    texts->items = maar_decoder_grow(decoder, texts->items, texts->n, sizeof *texts->items);
    texts->items[texts->n++] = text;
}

/* ---- how much it is ---- */

static size_t size_of_selector(const struct maar_selector_draft *selector)
{
    size_t n = (size_t)selector->n_labels + selector->n_expressions;
    for (uint32_t i = 0; i < selector->n_expressions; i++)
        n += selector->expressions[i].values.n;
    return n;
}

static size_t size_of_terms(const struct maar_terms_draft *terms)
{
    size_t n = terms->n;
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct maar_term_draft *term = &terms->items[i];
        n += size_of_selector(&term->selector) + size_of_selector(&term->namespace_selector);
        n += (size_t)term->namespaces.n + term->match_keys.n + term->mismatch_keys.n;
    }
    return n;
}

static size_t size_of(const struct maar_affinity_draft *draft)
{
    size_t n = draft->n_spread;
    for (uint32_t i = 0; i < draft->n_spread; i++)
        n += size_of_selector(&draft->spread[i].selector) + draft->spread[i].match_keys.n;
    n += size_of_terms(&draft->affinity.required) + size_of_terms(&draft->affinity.preferred);
    return n + size_of_terms(&draft->anti_affinity.required) +
           size_of_terms(&draft->anti_affinity.preferred);
}

/* ---- selectors ---- */

/* Says what is wrong with a requirement that was found unsound. */
static void requirement_fault(struct maar_decoder *decoder, const struct maar_path *at,
                              const struct maar_requirement *requirement, const char *op)
{
    bool wants_values = strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0;
    struct maar_path key_at = {at, "key", 0};
    struct maar_path op_at = {at, "operator", 0};
    struct maar_path values_at = {at, "values", 0};
    if (!maar_name_is_qualified(requirement->key))
        maar_decoder_fault(decoder, &key_at, "\"%.64s\" is not a label key", requirement->key);
    if (!wants_values && strcmp(op, "Exists") != 0 && strcmp(op, "DoesNotExist") != 0)
        maar_decoder_fault(decoder, &op_at,
                           "\"%.64s\" is not one of In, NotIn, Exists, DoesNotExist", op);
    if (wants_values != (requirement->n_values > 0))
        maar_decoder_fault(decoder, &values_at, "must %sbe empty with operator %.64s",
                           wants_values ? "not " : "", op);
    for (uint32_t i = 0; i < requirement->n_values; i++) {
        struct maar_path value_at = {&values_at, NULL, i};
        if (!maar_name_is_label_value(requirement->values[i]))
            maar_decoder_fault(decoder, &value_at, "\"%.64s\" is not a label value",
                               requirement->values[i]);
    }
}

static struct maar_requirement settle_expression(struct maar_decoder *decoder,
                                                 const struct maar_path *at,
                                                 const struct maar_expression_draft *draft)
{
    struct maar_requirement requirement = {
        .key = draft->key, .n_values = draft->values.n, .values = draft->values.items};
    maar_requirement_finish(&requirement, draft->op);
    if (requirement.op == MAAR_OP_GT || requirement.op == MAAR_OP_LT)
        requirement.op = MAAR_OP_INVALID; /* operators of node selectors only */
    if (requirement.op == MAAR_OP_INVALID)
        requirement_fault(decoder, at, &requirement, draft->op);
    return requirement;
}

/* `key` In or NotIn [value]. */
static struct maar_requirement of_one_value(struct maar_decoder *decoder, const char *key,
                                            enum maar_operator op, const char *value)
{
    const char **values = maar_arena_calloc(decoder->arena, 1, sizeof *values);
    values[0] = value;
    return (struct maar_requirement){.key = key, .op = op, .n_values = 1, .values = values};
}

static struct maar_requirement settle_label(struct maar_decoder *decoder,
                                            const struct maar_path *at,
                                            const struct maar_label *label)
{
    struct maar_path here = {at, label->key, 0};
    struct maar_requirement requirement =
        of_one_value(decoder, label->key, MAAR_OP_IN, label->value);
    maar_requirement_finish(&requirement, "In");
    if (!maar_name_is_qualified(label->key))
        maar_decoder_fault(decoder, &here, "is not a label key");
    else if (requirement.op == MAAR_OP_INVALID)
        maar_decoder_fault(decoder, &here, "\"%.64s\" is not a label value", label->value);
    return requirement;
}

static bool has_requirement(const struct maar_requirement *requirements, uint32_t n,
                            const struct maar_requirement *wanted)
{
    for (uint32_t i = 0; i < n; i++)
        if (requirements[i].op == wanted->op && requirements[i].n_values == 1 &&
            strcmp(requirements[i].key, wanted->key) == 0 &&
            strcmp(requirements[i].values[0], wanted->values[0]) == 0)
            return true;
    return false;
}

/* Adds what the keys stand for. The API server may have done it before. */
static uint32_t merge_keys(struct maar_decoder *decoder, const struct maar_texts_draft *keys,
                           enum maar_operator op, struct maar_requirement *requirements, uint32_t n)
{
    const struct maar_pod_record *pod = &decoder->record->pod;
    for (uint32_t i = 0; i < keys->n; i++) {
        const char *value = maar_labels_find(pod->labels, pod->n_labels, keys->items[i]);
        if (!value)
            continue;
        struct maar_requirement merged = of_one_value(decoder, keys->items[i], op, value);
        if (!has_requirement(requirements, n, &merged))
            requirements[n++] = merged;
    }
    return n;
}

static struct maar_label_selector settle_selector(struct maar_decoder *decoder,
                                                  const struct maar_path *at, const char *key,
                                                  struct maar_selector_draft *draft,
                                                  const struct maar_texts_draft *match_keys,
                                                  const struct maar_texts_draft *mismatch_keys)
{
    struct maar_path here = {at, key, 0};
    struct maar_path labels_at = {&here, "matchLabels", 0};
    struct maar_path expressions_at = {&here, "matchExpressions", 0};
    if (!draft->is_set)
        return (struct maar_label_selector){0};
    maar_labels_sort(draft->labels, &draft->n_labels);
    size_t most = (size_t)draft->n_labels + draft->n_expressions + match_keys->n + mismatch_keys->n;
    struct maar_requirement *requirements =
        maar_arena_calloc(decoder->arena, most, sizeof *requirements);
    uint32_t n = 0;
    for (uint32_t i = 0; i < draft->n_labels; i++)
        requirements[n++] = settle_label(decoder, &labels_at, &draft->labels[i]);
    for (uint32_t i = 0; i < draft->n_expressions; i++) {
        struct maar_path there = {&expressions_at, NULL, i};
        requirements[n++] = settle_expression(decoder, &there, &draft->expressions[i]);
    }
    n = merge_keys(decoder, match_keys, MAAR_OP_IN, requirements, n);
    n = merge_keys(decoder, mismatch_keys, MAAR_OP_NOT_IN, requirements, n);
    return (struct maar_label_selector){true, n, requirements};
}

static const struct maar_texts_draft no_texts;

struct maar_label_selector maar_selector_finish(struct maar_decoder *decoder,
                                                const struct maar_path *at, const char *key,
                                                struct maar_selector_draft *draft)
{
    return settle_selector(decoder, at, key, draft, &no_texts, &no_texts);
}

/* ---- terms and constraints ---- */

static void check_topology_key(struct maar_decoder *decoder, const struct maar_path *at,
                               const char *key)
{
    struct maar_path here = {at, "topologyKey", 0};
    if (*key == '\0')
        maar_decoder_fault(decoder, &here, "must not be empty");
    else if (!maar_name_is_qualified(key))
        maar_decoder_fault(decoder, &here, "\"%.64s\" is not a label key", key);
}

static struct maar_affinity_term
settle_term(struct maar_decoder *decoder, const struct maar_path *at, struct maar_term_draft *draft)
{
    struct maar_affinity_term term = {.weight = draft->weight, .topology_key = draft->topology_key};
    term.selector = settle_selector(decoder, at, "labelSelector", &draft->selector,
                                    &draft->match_keys, &draft->mismatch_keys);
    term.namespace_selector = settle_selector(decoder, at, "namespaceSelector",
                                              &draft->namespace_selector, &no_texts, &no_texts);
    check_topology_key(decoder, at, draft->topology_key);
    if (draft->namespaces.n == 0 && !draft->namespace_selector.is_set)
        maar_texts_add(decoder, &draft->namespaces, decoder->record->ns);
    term.n_namespaces = draft->namespaces.n;
    term.namespaces = draft->namespaces.items;
    return term;
}

static struct maar_affinity_terms settle_terms(struct maar_decoder *decoder, const char *kind,
                                               bool is_preferred,
                                               const struct maar_terms_draft *draft)
{
    struct maar_path kind_at = {&affinity_at, kind, 0};
    struct maar_path list = {&kind_at, is_preferred ? PREFERRED : REQUIRED, 0};
    struct maar_affinity_term *terms = maar_arena_calloc(decoder->arena, draft->n, sizeof *terms);
    for (uint32_t i = 0; i < draft->n; i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_path weight_at = {&here, "weight", 0};
        struct maar_path term_at = {&here, "podAffinityTerm", 0};
        int32_t weight = draft->items[i].weight;
        if (is_preferred && (weight < 1 || weight > 100))
            maar_decoder_fault(decoder, &weight_at, "is %d, must be 1 to 100", weight);
        terms[i] = settle_term(decoder, is_preferred ? &term_at : &here, &draft->items[i]);
    }
    return (struct maar_affinity_terms){draft->n, terms};
}

/* True for the first of two words, false for the second; a fault for any other. */
static bool choose(struct maar_decoder *decoder, const struct maar_path *at, const char *key,
                   const char *text, const char *const words[2])
{
    struct maar_path here = {at, key, 0};
    bool is_first = strcmp(text, words[0]) == 0;
    if (!is_first && strcmp(text, words[1]) != 0)
        maar_decoder_fault(decoder, &here, "\"%.64s\" is not one of %s, %s", text, words[0],
                           words[1]);
    return is_first;
}

static void check_at_least_one(struct maar_decoder *decoder, const struct maar_path *at,
                               const char *key, int32_t number)
{
    struct maar_path here = {at, key, 0};
    if (number < 1)
        maar_decoder_fault(decoder, &here, "is %d, must be at least 1", number);
}

static struct maar_spread_constraint settle_constraint(struct maar_decoder *decoder,
                                                       const struct maar_path *at,
                                                       struct maar_spread_draft *draft)
{
    static const char *const when[] = {"DoNotSchedule", "ScheduleAnyway"};
    static const char *const policies[] = {"Honor", "Ignore"};
    struct maar_spread_constraint constraint = {.max_skew = draft->max_skew,
                                                .min_domains = draft->min_domains,
                                                .topology_key = draft->topology_key,
                                                .honor_affinity = true};
    check_at_least_one(decoder, at, "maxSkew", draft->max_skew);
    check_at_least_one(decoder, at, "minDomains", draft->min_domains);
    check_topology_key(decoder, at, draft->topology_key);
    constraint.hard = choose(decoder, at, "whenUnsatisfiable", draft->when_unsatisfiable, when);
    if (*draft->affinity_policy)
        constraint.honor_affinity =
            choose(decoder, at, "nodeAffinityPolicy", draft->affinity_policy, policies);
    if (*draft->taints_policy)
        constraint.honor_taints =
            choose(decoder, at, "nodeTaintsPolicy", draft->taints_policy, policies);
    constraint.selector = settle_selector(decoder, at, "labelSelector", &draft->selector,
                                          &draft->match_keys, &no_texts);
    return constraint;
}

static void settle_spread(struct maar_decoder *decoder, const struct maar_affinity_draft *draft)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    struct maar_path list = {&spec_at, "topologySpreadConstraints", 0};
    struct maar_spread_constraint *constraints =
        maar_arena_calloc(decoder->arena, draft->n_spread, sizeof *constraints);
    for (uint32_t i = 0; i < draft->n_spread; i++) {
        struct maar_path here = {&list, NULL, i};
        constraints[i] = settle_constraint(decoder, &here, &draft->spread[i]);
    }
    spec->n_spread = draft->n_spread;
    spec->spread = constraints;
}

void maar_affinity_finish(struct maar_decoder *decoder, struct maar_affinity_draft *draft)
{
    static const char affinity[] = "podAffinity";
    static const char anti_affinity[] = "podAntiAffinity";
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    const struct maar_pod_affinity_draft *pro = &draft->affinity;
    const struct maar_pod_affinity_draft *anti = &draft->anti_affinity;
    if (size_of(draft) > MAAR_WIRE_AFFINITY_MAX) {
        maar_decoder_fault(decoder, &spec_at,
                           "more than %u terms and values in pod affinity and topology spread",
                           MAAR_WIRE_AFFINITY_MAX);
        return;
    }
    spec->pod_affinity_required = settle_terms(decoder, affinity, false, &pro->required);
    spec->pod_affinity_preferred = settle_terms(decoder, affinity, true, &pro->preferred);
    spec->pod_anti_affinity_required = settle_terms(decoder, anti_affinity, false, &anti->required);
    spec->pod_anti_affinity_preferred =
        settle_terms(decoder, anti_affinity, true, &anti->preferred);
    settle_spread(decoder, draft);
}
