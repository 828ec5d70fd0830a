/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_ADMISSION_H
#define MAAR_SIM_ADMISSION_H

/* What an API server and Volcano's controllers fill in when an object is created. */

#include "sim/store.h"

/* Completes a new object in place: a pod's phase, scheduler name, priority (from its class), requests (from limits) and
 * the condition of a gated pod; a node's allocatable; a queue's state, weight and reclaimable; a Volcano Job's
 * queue, minima and names of tasks. What is there stays. -ENOENT when a pod names a priority class that is not there and brings no priority
 * of its own. */
int maar_admission_complete(struct maar_store *store, const struct maar_api_type *type,
                            json_t *document, struct maar_error *err)
    __attribute__((warn_unused_result));
/* A workload that names a priority class which is not there makes no pods; whoever writes a file is told at once.
 * -ENOENT. An object with a status, of a dump, passes. */
int maar_admission_check_classes(struct maar_store *store, const struct maar_api_type *type,
                                 const json_t *document, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
