/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PREDICATES_SPREAD_H
#define MAAR_PREDICATES_SPREAD_H

/* Topology spread constraints with whenUnsatisfiable: DoNotSchedule. */

#include <maar/plugin.h>

/* The bodies of the filter; hooks of the same shapes. */
bool maar_spread_skip(const struct maar_task *task);
void maar_spread_fit(const struct maar_view *view, const struct maar_task *task,
                     const uint32_t *nodes, size_t n, uint8_t *out);
/* NULL: the node is not refused. */
const char *maar_spread_refusal(const struct maar_view *view, const struct maar_task *task,
                                uint32_t node);

#endif
