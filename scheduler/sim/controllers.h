/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_CONTROLLERS_H
#define MAAR_SIM_CONTROLLERS_H

/* What makes and removes pods in a cluster: the controllers of Deployment, ReplicaSet, StatefulSet, DaemonSet and Job,
 * of Volcano's Job and PodGroups, the garbage collector, and for evicted pods whose owner is not in the cluster a
 * stand-in that makes them again. They write to the store directly, as somebody else than the scheduler. */

#include <stdbool.h>
#include <stddef.h>

#include "sim/store.h"

struct maar_controllers;

/* The store outlives them. `recreate`: evicted pods without an owner in the store are made again. */
struct maar_controllers *maar_controllers_create(struct maar_store *store, bool recreate);
/* Accepts NULL. */
void maar_controllers_destroy(struct maar_controllers *controllers);

/* The document of a pod before its binding: what its owner would make again. Borrowed. */
void maar_controllers_note_bind(struct maar_controllers *controllers, const char *uid,
                                json_t *before);
/* The scheduler deleted the pod. `document` is used when no binding was noted. */
void maar_controllers_note_eviction(struct maar_controllers *controllers, const char *uid,
                                    json_t *document);
/* Takes in what changed in the store and brings every owner's pods in line with it, until nothing is left to do.
 * Returns the number of changes made. */
size_t maar_controllers_act(struct maar_controllers *controllers);

#endif
