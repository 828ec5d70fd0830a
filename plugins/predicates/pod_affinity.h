/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PREDICATES_POD_AFFINITY_H
#define MAAR_PREDICATES_POD_AFFINITY_H

/* Required pod affinity and anti-affinity, the pod's own and that of the pods on the nodes. */

#include <maar/plugin.h>

/* The bodies of the filter; hooks of the same shapes. `listed` (NULL: every node is) tells under
 * `compatibility: volcano` whether a node had pods with required anti-affinity when the session
 * opened. */
bool maar_pod_affinity_skip(const struct maar_view *view, const struct maar_task *task);
void maar_pod_affinity_fit(const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, uint8_t *out,
                           bool (*listed)(const struct maar_view *view, uint32_t node));
/* NULL: the node is not refused. */
const char *maar_pod_affinity_refusal(const struct maar_view *view, const struct maar_task *task,
                                      uint32_t node,
                                      bool (*listed)(const struct maar_view *view, uint32_t node));

#endif
