/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_WORKLOAD_CHECK_H
#define MAAR_SIM_WORKLOAD_CHECK_H

/* What an API server refuses of the kinds that make pods. */

#include "sim/store.h"

/* Most pods that one object makes. */
#define MAAR_MAX_REPLICAS 100000

/* Fills in what Volcano's admission does in a batch.volcano.sh Job: queue, names, minima. */
void maar_vcjob_complete(json_t *job);
/* `old` is the object as it was, NULL for a new one. The message is the API server's, "spec.replicas: Invalid value:
 * -1: must be greater than or equal to 0". -EINVAL. Other kinds pass. */
int maar_workload_check(const struct maar_api_type *type, const json_t *old, const json_t *document,
                        struct maar_error *err) __attribute__((warn_unused_result));
/* A kind of which a controller makes pods. */
bool maar_workload_has_pods(const struct maar_api_type *type);
/* Calls `each` for the spec of every pod template, and for that of a Volcano Job, which stands in for what they leave
 * out. Ends at the first result that is not 0 and returns it. */
typedef int (*maar_workload_spec_fn)(void *context, const json_t *spec, struct maar_error *err);
int maar_workload_each_spec(const struct maar_api_type *type, const json_t *document,
                            maar_workload_spec_fn each, void *context, struct maar_error *err);

#endif
