/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_AFFINITY_DRAFT_H
#define MAAR_WIRE_AFFINITY_DRAFT_H

/* Pod affinity and topology spread as they were read. They are settled when the whole pod is known: label keys that a
 * term merges into its selector take their values from the pod's labels, and a term without namespaces means the
 * pod's own. Inside wire/ only. */

#include "wire/decode.h"

/* Terms, constraints, requirements, values, namespaces and keys of one pod; more quarantine it. */
#define MAAR_WIRE_AFFINITY_MAX 1024u

struct maar_texts_draft {
    uint32_t n;
    const char **items;
};

/* One of matchExpressions. */
struct maar_expression_draft {
    const char *key;
    const char *op;
    struct maar_texts_draft values;
};

struct maar_selector_draft {
    bool is_set; /* there, even if empty */
    uint32_t n_labels;
    struct maar_label *labels; /* matchLabels, in any order */
    uint32_t n_expressions;
    struct maar_expression_draft *expressions;
};

struct maar_term_draft {
    int32_t weight;
    const char *topology_key;
    struct maar_selector_draft selector;
    struct maar_selector_draft namespace_selector;
    struct maar_texts_draft namespaces;
    struct maar_texts_draft match_keys;
    struct maar_texts_draft mismatch_keys;
};

struct maar_terms_draft {
    uint32_t n;
    struct maar_term_draft *items;
};

struct maar_spread_draft {
    int32_t max_skew;
    int32_t min_domains;
    const char *topology_key;
    const char *when_unsatisfiable;
    const char *affinity_policy; /* "" when absent, as the next */
    const char *taints_policy;
    struct maar_selector_draft selector;
    struct maar_texts_draft match_keys;
};

/* podAffinity or podAntiAffinity. */
struct maar_pod_affinity_draft {
    struct maar_terms_draft required;
    struct maar_terms_draft preferred;
};

struct maar_affinity_draft {
    struct maar_pod_affinity_draft affinity;
    struct maar_pod_affinity_draft anti_affinity;
    uint32_t n_spread;
    struct maar_spread_draft *spread;
};

/* New elements, zeroed with texts "" and numbers as Kubernetes defaults them. */
struct maar_term_draft *maar_terms_add(struct maar_decoder *decoder,
                                       struct maar_terms_draft *terms);
struct maar_expression_draft *maar_selector_add(struct maar_decoder *decoder,
                                                struct maar_selector_draft *selector);
struct maar_spread_draft *maar_spread_add(struct maar_decoder *decoder,
                                          struct maar_affinity_draft *draft);
/* The text must be the arena's. */
void maar_texts_add(struct maar_decoder *decoder, struct maar_texts_draft *texts, const char *text);

/* The selector of another object, which stands under `key` of `at`. */
struct maar_label_selector maar_selector_finish(struct maar_decoder *decoder,
                                                const struct maar_path *at, const char *key,
                                                struct maar_selector_draft *draft);
/* Fills the pod's spec. Labels and namespace of the record are there. What Kubernetes would not admit is a fault that
 * names the field; its requirement then stays with MAAR_OP_INVALID. */
void maar_affinity_finish(struct maar_decoder *decoder, struct maar_affinity_draft *draft);

#endif
