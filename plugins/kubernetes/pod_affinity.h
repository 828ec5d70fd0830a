/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_POD_AFFINITY_H
#define MAAR_KUBERNETES_POD_AFFINITY_H

/* Which pods a pod names: label selectors, terms of pod (anti-)affinity and topology spread
 * constraints, as Kubernetes matches them. Pure functions of the structs of view.h; safe from any
 * thread. */

#include <maar/plugin.h>

/* Requirements are ANDed; an absent selector and one with an invalid requirement match nothing, one
 * without requirements everything. */
bool maar_selector_matches(const struct maar_label_selector *selector,
                           const struct maar_label *labels, uint32_t n_labels);

/* Namespace and labels of pods of that class. */
bool maar_affinity_term_matches(const struct maar_affinity_term *term,
                                const struct maar_class *other);

/* All of them; true without any. */
bool maar_affinity_terms_match_all(const struct maar_affinity_terms *terms,
                                   const struct maar_class *other);

/* Sum of the weights (for required terms: the number) of those with that topology key that match. */
int64_t maar_affinity_terms_weight(const struct maar_affinity_terms *terms, const char *key,
                                   const struct maar_class *other);

/* For tallies: 1 for pods that owner's constraint `part` counts: those of its namespace which the
 * selector matches, an empty one matching none. `key` does not matter. */
int64_t maar_spread_weigh(const struct maar_class *owner, uint32_t part, const char *key,
                          const struct maar_class *other);
/* For tallies: pods on the node count for that constraint: it has the topology keys of all
 * constraints that are as hard, and is not left out by the constraint's policies. */
bool maar_spread_takes_part(const struct maar_class *owner, uint32_t part,
                            const struct maar_node_facts *node);

/* kube-scheduler's lists of nodes whose pods have (anti-)affinity are those of the session's start in
 * Volcano; a node whose first such pod comes in the session is not looked at. The sums by domain of
 * what that leaves out, for the tally of `kind`; `listed` tells whether the node was on the list.
 * The caller frees; NULL when nothing is left out. */
int64_t *maar_affinity_unlisted(const struct maar_view *view, const struct maar_tally_kind *kind,
                                const struct maar_class *owner, const struct maar_tally *tally,
                                bool (*listed)(const struct maar_view *view, uint32_t node));

#endif
