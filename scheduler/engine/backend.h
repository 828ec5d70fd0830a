/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_BACKEND_H
#define MAAR_ENGINE_BACKEND_H

/* A cluster as the engine sees it: deltas come in, writes go out. Two exist: a Kubernetes API server (kube/) and the
 * embedded cluster (sim/). All calls come from the engine thread; a backend with threads of its own locks inside. */

#include "base/error.h"
#include "base/vec.h"
#include "model/record.h"
#include "model/write.h"

struct maar_deltas {
    struct maar_delta *data;
    size_t n;
    size_t capacity;
};

struct maar_backend_ops {
    /* Begins to list and watch. 0 or -errno. */
    int (*start)(void *self, struct maar_error *err);
    /* Appends the deltas that have arrived, in the order of each kind's events; waits for the first one at most
     * timeout_ns (0: does not wait). The caller owns what the deltas hold. */
    void (*next_deltas)(void *self, int64_t timeout_ns, struct maar_deltas *deltas);
    /* Takes ownership; the write comes back in a MAAR_DELTA_DONE (events too). */
    void (*submit)(void *self, struct maar_write *write);
    /* Writes accepted and not yet answered. */
    size_t (*n_in_flight)(void *self);
    /* The cluster's clock: virtual in the embedded cluster, else the system's. */
    int64_t (*now_ns)(void *self);
    /* Ends threads; writes in flight come back with code 0 or are dropped with the backend. */
    void (*stop)(void *self);
};

struct maar_backend {
    const struct maar_backend_ops *ops;
    void *self;
};

#endif
