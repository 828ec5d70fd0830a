/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Affinity and topology spread of a pod from protobuf; field numbers as in generated.proto of k8s.io/api/core/v1 and,
 * for label selectors, of k8s.io/apimachinery/pkg/apis/meta/v1. */

#include "wire/protobuf_affinity.h"

enum {
    AFFINITY_NODE = 1,
    AFFINITY_POD = 2,
    AFFINITY_POD_ANTI = 3,
    AFFINITY_REQUIRED = 1,
    AFFINITY_PREFERRED = 2,
    SELECTOR_TERMS = 1,
    TERM_EXPRESSIONS = 1,
    TERM_FIELDS = 2,
    REQUIREMENT_KEY = 1,
    REQUIREMENT_OPERATOR = 2,
    REQUIREMENT_VALUES = 3,
    PREFERRED_WEIGHT = 1,
    PREFERRED_TERM = 2,

    LABEL_SELECTOR_LABELS = 1,
    LABEL_SELECTOR_EXPRESSIONS = 2,

    POD_TERM_SELECTOR = 1,
    POD_TERM_NAMESPACES = 2,
    POD_TERM_TOPOLOGY_KEY = 3,
    POD_TERM_NAMESPACE_SELECTOR = 4,
    POD_TERM_MATCH_LABEL_KEYS = 5,
    POD_TERM_MISMATCH_LABEL_KEYS = 6,

    SPREAD_MAX_SKEW = 1,
    SPREAD_TOPOLOGY_KEY = 2,
    SPREAD_WHEN_UNSATISFIABLE = 3,
    SPREAD_SELECTOR = 4,
    SPREAD_MIN_DOMAINS = 5,
    SPREAD_NODE_AFFINITY_POLICY = 6,
    SPREAD_NODE_TAINTS_POLICY = 7,
    SPREAD_MATCH_LABEL_KEYS = 8,
};

/* ---- node affinity ---- */

struct requirements {
    struct maar_requirement *items;
    uint32_t n;
};

static struct maar_expression_draft read_expression(struct maar_decoder *decoder,
                                                    struct maar_pb message)
{
    struct maar_expression_draft expression = {.key = "", .op = ""};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == REQUIREMENT_KEY)
            expression.key = maar_pb_text(&field, decoder->arena);
        else if (field.number == REQUIREMENT_OPERATOR)
            expression.op = maar_pb_text(&field, decoder->arena);
        else if (field.number == REQUIREMENT_VALUES)
            maar_texts_add(decoder, &expression.values, maar_pb_text(&field, decoder->arena));
    }
    return expression;
}

static void read_requirement(struct maar_decoder *decoder, struct maar_pb message, bool is_field,
                             struct requirements *requirements)
{
    struct maar_expression_draft expression = read_expression(decoder, message);
    struct maar_requirement requirement = {.key = expression.key,
                                           .is_field = is_field,
                                           .n_values = expression.values.n,
                                           .values = expression.values.items};
    maar_requirement_finish(&requirement, expression.op);
    requirements->items = maar_decoder_grow(decoder, requirements->items, requirements->n,
                                            sizeof *requirements->items);
    requirements->items[requirements->n++] = requirement;
}

static struct maar_selector_term read_term(struct maar_decoder *decoder, struct maar_pb message)
{
    struct requirements requirements = {0};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (field.number == TERM_EXPRESSIONS || field.number == TERM_FIELDS)
            read_requirement(decoder, maar_pb_message(&field), field.number == TERM_FIELDS,
                             &requirements);
    return (struct maar_selector_term){requirements.n, requirements.items};
}

static void read_required(struct maar_decoder *decoder, struct maar_pb message,
                          struct maar_pb_node_terms *terms)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    struct maar_pb_field field;
    spec->has_required_affinity = true;
    while (maar_pb_next(&message, &field)) {
        if (field.number != SELECTOR_TERMS)
            continue;
        terms->required =
            maar_decoder_grow(decoder, terms->required, spec->n_required, sizeof *terms->required);
        terms->required[spec->n_required++] = read_term(decoder, maar_pb_message(&field));
    }
    spec->required = terms->required;
}

static void read_preferred(struct maar_decoder *decoder, struct maar_pb message,
                           struct maar_pb_node_terms *terms)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    struct maar_preferred_term term = {0};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == PREFERRED_WEIGHT)
            term.weight = (int32_t)maar_pb_int(&field);
        else if (field.number == PREFERRED_TERM)
            term.term = read_term(decoder, maar_pb_message(&field));
    }
    terms->preferred =
        maar_decoder_grow(decoder, terms->preferred, spec->n_preferred, sizeof *terms->preferred);
    terms->preferred[spec->n_preferred++] = term;
    spec->preferred = terms->preferred;
}

static void read_node_affinity(struct maar_decoder *decoder, struct maar_pb message,
                               struct maar_pb_node_terms *terms)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == AFFINITY_REQUIRED)
            read_required(decoder, maar_pb_message(&field), terms);
        else if (field.number == AFFINITY_PREFERRED)
            read_preferred(decoder, maar_pb_message(&field), terms);
    }
}

/* ---- pod affinity ---- */

static void read_selector(struct maar_decoder *decoder, struct maar_pb message,
                          struct maar_selector_draft *draft)
{
    struct maar_pb_field field;
    draft->is_set = true;
    while (maar_pb_next(&message, &field)) {
        if (field.number == LABEL_SELECTOR_LABELS)
            maar_pb_add_label(decoder, &field, &draft->labels, &draft->n_labels);
        else if (field.number == LABEL_SELECTOR_EXPRESSIONS)
            *maar_selector_add(decoder, draft) = read_expression(decoder, maar_pb_message(&field));
    }
}

static void read_pod_term(struct maar_decoder *decoder, struct maar_pb message,
                          struct maar_term_draft *term)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case POD_TERM_SELECTOR:
            read_selector(decoder, maar_pb_message(&field), &term->selector);
            break;
        case POD_TERM_NAMESPACES:
            maar_texts_add(decoder, &term->namespaces, maar_pb_text(&field, decoder->arena));
            break;
        case POD_TERM_TOPOLOGY_KEY:
            term->topology_key = maar_pb_text(&field, decoder->arena);
            break;
        case POD_TERM_NAMESPACE_SELECTOR:
            read_selector(decoder, maar_pb_message(&field), &term->namespace_selector);
            break;
        case POD_TERM_MATCH_LABEL_KEYS:
            maar_texts_add(decoder, &term->match_keys, maar_pb_text(&field, decoder->arena));
            break;
        case POD_TERM_MISMATCH_LABEL_KEYS:
            maar_texts_add(decoder, &term->mismatch_keys, maar_pb_text(&field, decoder->arena));
            break;
        default:
            break;
        }
    }
}

static void read_weighted_term(struct maar_decoder *decoder, struct maar_pb message,
                               struct maar_term_draft *term)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == PREFERRED_WEIGHT)
            term->weight = (int32_t)maar_pb_int(&field);
        else if (field.number == PREFERRED_TERM)
            read_pod_term(decoder, maar_pb_message(&field), term);
    }
}

static void read_pod_affinity(struct maar_decoder *decoder, struct maar_pb message,
                              struct maar_pod_affinity_draft *draft)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == AFFINITY_REQUIRED)
            read_pod_term(decoder, maar_pb_message(&field),
                          maar_terms_add(decoder, &draft->required));
        else if (field.number == AFFINITY_PREFERRED)
            read_weighted_term(decoder, maar_pb_message(&field),
                               maar_terms_add(decoder, &draft->preferred));
    }
}

void maar_pb_read_affinity(struct maar_decoder *decoder, struct maar_pb message,
                           struct maar_pb_node_terms *terms, struct maar_affinity_draft *draft)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == AFFINITY_NODE)
            read_node_affinity(decoder, maar_pb_message(&field), terms);
        else if (field.number == AFFINITY_POD)
            read_pod_affinity(decoder, maar_pb_message(&field), &draft->affinity);
        else if (field.number == AFFINITY_POD_ANTI)
            read_pod_affinity(decoder, maar_pb_message(&field), &draft->anti_affinity);
    }
}

/* ---- topology spread ---- */

void maar_pb_read_spread(struct maar_decoder *decoder, struct maar_pb message,
                         struct maar_affinity_draft *draft)
{
    struct maar_spread_draft *spread = maar_spread_add(decoder, draft);
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case SPREAD_MAX_SKEW:
            spread->max_skew = (int32_t)maar_pb_int(&field);
            break;
        case SPREAD_TOPOLOGY_KEY:
            spread->topology_key = maar_pb_text(&field, decoder->arena);
            break;
        case SPREAD_WHEN_UNSATISFIABLE:
            spread->when_unsatisfiable = maar_pb_text(&field, decoder->arena);
            break;
        case SPREAD_SELECTOR:
            read_selector(decoder, maar_pb_message(&field), &spread->selector);
            break;
        case SPREAD_MIN_DOMAINS:
            spread->min_domains = (int32_t)maar_pb_int(&field);
            break;
        case SPREAD_NODE_AFFINITY_POLICY:
            spread->affinity_policy = maar_pb_text(&field, decoder->arena);
            break;
        case SPREAD_NODE_TAINTS_POLICY:
            spread->taints_policy = maar_pb_text(&field, decoder->arena);
            break;
        case SPREAD_MATCH_LABEL_KEYS:
            maar_texts_add(decoder, &spread->match_keys, maar_pb_text(&field, decoder->arena));
            break;
        default:
            break;
        }
    }
}
