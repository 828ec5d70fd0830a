/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_NODE_AFFINITY_H
#define MAAR_KUBERNETES_NODE_AFFINITY_H

/* Which nodes a pod names: its node selector and its node affinity, as Kubernetes matches them.
 * Pure functions of the structs of view.h; safe from any thread. */

#include <maar/view.h>

/* Requirements are ANDed. A term without any, or with one that is invalid, matches nothing. */
bool maar_term_matches(const struct maar_selector_term *term, const struct maar_node_facts *node);

/* The node selector and the required affinity both allow the node. */
bool maar_pod_matches_node(const struct maar_pod_spec *spec, const struct maar_node_facts *node);

/* No node can match, whatever its labels: every required term names node names that exclude each
 * other. */
bool maar_node_names_conflict(const struct maar_pod_spec *spec);

/* Sum of the weights of the preferred terms that match. */
int64_t maar_preferred_weight(const struct maar_pod_spec *spec, const struct maar_node_facts *node);

#endif
