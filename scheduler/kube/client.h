/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_CLIENT_H
#define MAAR_KUBE_CLIENT_H

/* The backend over a Kubernetes API server: one I/O thread lists, watches and writes; the engine thread takes deltas
 * and hands in writes. */

#include <stdint.h>

#include "base/error.h"
#include "engine/backend.h"
#include "kube/election.h"
#include "kube/kubeconfig.h"
#include "kube/reflector.h"
#include "kube/writer.h"
#include "wire/wire.h"

struct maar_kube_options {
    const struct maar_kube_config *config; /* outlives the backend */
    struct maar_wire_options decode;       /* called on the I/O thread */
    /* Writes a second and at once; 0: no limit. Lists and watches do not count. */
    double qps;
    double burst;
    unsigned max_in_flight; /* writes; 0: 64 */
    uint32_t kinds;         /* bits 1 << enum maar_kind; 0: all */
    const char *component;  /* in user agent, events and conditions; NULL: "volcano". Copied. */
    unsigned page_size;     /* of lists; 0: 500 */
    /* Nothing is written but as the leader; copied. NULL: no election, we always lead. */
    const struct maar_election_options *election;
};

/* Nothing is sent before start. */
int maar_kube_backend_create(const struct maar_kube_options *options,
                             struct maar_backend *ret_backend, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Stops it when it runs; takes a zeroed backend, and zeroes it. Deltas that nobody took are freed, and so are writes
 * that were not answered. */
void maar_kube_backend_destroy(struct maar_backend *backend);

/* Whether we may decide; a change wakes next_deltas, which gives nothing more once it is lost. From any thread. */
enum maar_leadership maar_kube_leadership(const struct maar_backend *backend);
/* Before stop, to make room for another: what was not sent is withdrawn, what was sent gets time for its answer, then
 * the Lease is given up. Returns when that is done, or after timeout_ns. Without an election it does nothing. */
void maar_kube_resign(const struct maar_backend *backend, int64_t timeout_ns);

/* Ends a wait in next_deltas, the next one if there is none now. From any thread. */
void maar_kube_wake(const struct maar_backend *backend);

/* The resourceVersion of a kind up to which everything is in the inbox, or was taken from it; 0 before the first
 * list. From any thread. */
uint64_t maar_kube_delivered(const struct maar_backend *backend, enum maar_kind kind);

struct maar_kube_counters {
    struct maar_reflector_counters reflectors[MAAR_N_KINDS];
    struct maar_writer_counters writer;
};
/* As of a moment ago. From any thread. */
struct maar_kube_counters maar_kube_counters(const struct maar_backend *backend);

#endif
