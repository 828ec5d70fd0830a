/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_POD_GROUP_H
#define MAAR_SIM_POD_GROUP_H

/* PodGroups by the names that people know: those that controllers make have a uid in their own. */

#include "sim/store.h"

/* The PodGroup "namespace/name" (namespace default when left out), else the first that was made for an object of that
 * name: a Volcano Job, a StatefulSet, a Deployment through one of its ReplicaSets. NULL when there is none. */
const struct maar_object *maar_pod_group_find(const struct maar_store *store, const char *name);

#endif
