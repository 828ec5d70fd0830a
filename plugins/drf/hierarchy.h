/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PLUGIN_DRF_HIERARCHY_H
#define MAAR_PLUGIN_DRF_HIERARCHY_H

/* The tree of hierarchical dominant resource fairness: inner nodes by the queues' annotation volcano.sh/hierarchy
 * ("root/eng/dev") with weights from volcano.sh/hierarchy-weights ("1/2/1"), a leaf for each job. Shares are computed
 * from the ledger whenever something moved since the last time they were asked for. */

#include <maar/view.h>

struct drf_tree;

struct drf_tree *drf_tree_create(void);
/* Accepts NULL. */
void drf_tree_destroy(struct drf_tree *tree);
/* Builds the tree of this session's jobs. */
void drf_tree_open(struct drf_tree *tree, const struct maar_view *view);
/* Something moved; shares are stale. `stamp` is the caller's undoable state: the tree's shares belong to one stamp. */
uint64_t drf_tree_next_stamp(struct drf_tree *tree);
/* Brings shares up to date with the ledger unless they are those of `stamp`. */
void drf_tree_update(struct drf_tree *tree, const struct maar_view *view, uint64_t stamp);
/* < 0: l first, at the level where their paths part; the saturated one goes last. */
double drf_tree_compare(const struct drf_tree *tree, const struct maar_queue *l,
                        const struct maar_queue *r);
/* As drf_tree_update, with `delta` (a row in ledger units, NULL for none) more on one job and less on another. The shares
 * are nobody's afterwards: the next update computes them anew. */
void drf_tree_suppose(struct drf_tree *tree, const struct maar_view *view,
                      const struct maar_job *more, const struct maar_resource *more_request,
                      const struct maar_job *less, const struct maar_resource *less_request);

#endif
