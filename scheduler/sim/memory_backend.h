/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_MEMORY_BACKEND_H
#define MAAR_SIM_MEMORY_BACKEND_H

/* The embedded cluster as a backend of the engine, in one thread and without a socket. */

#include "engine/backend.h"
#include "sim/cluster.h"
#include "wire/wire.h"

struct maar_memory_backend;

/* The cluster outlives it; what `options` points at, too. */
struct maar_memory_backend *maar_memory_backend_create(struct maar_cluster *cluster,
                                                       const struct maar_wire_options *options);
/* Accepts NULL. Writes in flight are dropped. */
void maar_memory_backend_destroy(struct maar_memory_backend *backend);
struct maar_backend maar_memory_backend_ops(struct maar_memory_backend *backend);
/* At the end of a cycle: bindings whose time in flight is over take effect. */
void maar_memory_backend_land(struct maar_memory_backend *backend);
/* Deltas delivered since the last call. */
size_t maar_memory_backend_take_n_delivered(struct maar_memory_backend *backend);

#endif
