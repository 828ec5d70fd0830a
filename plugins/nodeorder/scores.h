/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_NODEORDER_SCORES_H
#define MAAR_NODEORDER_SCORES_H

/* The scores that look at the pods of other nodes; hooks, but for maar_pod_affinity_score_raw. */

#include <maar/plugin.h>

/* InterPodAffinity (pod_affinity_score.c). `listed` (NULL: every node is) tells under
 * `compatibility: volcano` whether a node had pods with (anti-)affinity when the session opened. */
bool maar_pod_affinity_score_skip(void *self, const struct maar_view *view,
                                  const struct maar_task *task);
void maar_pod_affinity_score_raw(const struct maar_view *view, const struct maar_task *task,
                                 const uint32_t *nodes, size_t n, int64_t *out,
                                 bool (*listed)(const struct maar_view *view, uint32_t node));

/* PodTopologySpread (spread_score.c). nodes[0..n) are all candidates. */
bool maar_spread_score_skip(void *self, const struct maar_view *view, const struct maar_task *task);
void maar_spread_score_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, int64_t *out);

#endif
