/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PREDICATES_SPREAD_H
#define MAAR_PREDICATES_SPREAD_H

/* Topology spread constraints with whenUnsatisfiable: DoNotSchedule. */

#include <maar/plugin.h>

/* Hooks of the filter. */
bool maar_spread_skip(void *self, const struct maar_view *view, const struct maar_task *task);
void maar_spread_fit(void *self, const struct maar_view *view, const struct maar_task *task,
                     const uint32_t *nodes, size_t n, uint8_t *out);
void maar_spread_explain(void *self, const struct maar_view *view, const struct maar_task *task,
                         uint32_t node, struct maar_reasons *reasons);

#endif
