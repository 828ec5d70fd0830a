/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_TOLERATIONS_H
#define MAAR_KUBERNETES_TOLERATIONS_H

/* Taints of nodes and the tolerations of pods. Pure functions of the structs of view.h; safe from
 * any thread. */

#include <maar/view.h>

/* Operators Lt and Gt never match: their feature gate is not passed on by Volcano. */
bool maar_tolerates(const struct maar_toleration *toleration, const struct maar_taint *taint);

/* No taint of the node with effect NoSchedule or NoExecute is left untolerated. */
bool maar_pod_tolerates_node(const struct maar_pod_spec *spec, const struct maar_node_facts *node);

/* The pod tolerates the taint that stands for spec.unschedulable. */
bool maar_pod_tolerates_unschedulable(const struct maar_pod_spec *spec);

/* How many PreferNoSchedule taints of the node the pod does not tolerate. */
int64_t maar_n_intolerable_preferences(const struct maar_pod_spec *spec,
                                       const struct maar_node_facts *node);

#endif
