/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_POD_REQUEST_H
#define MAAR_MODEL_POD_REQUEST_H

/* What a pod asks for. There is one such function; the ledger, the policies and the texts all use
 * it. */

#include <stdint.h>

#include "base/arena.h"
#include "model/record.h"

/* The amounts that a node must have free for the pod, sorted by name, "pods" (1) among them: the
 * larger of all containers together and each init container in its turn (sidecars run beside
 * either), then what the pod itself asks for in place of the sums, then its overhead. A resize in
 * place counts with the larger of old and new. Sums saturate. A dimension that is named somewhere
 * is listed, also with 0. The array is allocated from `arena`, the names are those of the record.
 */
struct maar_amounts_record maar_pod_request(const struct maar_pod_record *pod,
                                            struct maar_arena *arena);

/* The same for the formulas that score nodes as Kubernetes does: a container that does not name cpu
 * or memory counts as 100 milli-CPU or 200 MiB; one that asks for 0 counts as 0. */
void maar_pod_request_nonzero(const struct maar_pod_record *pod, int64_t *ret_cpu_milli,
                              int64_t *ret_memory_bytes);

#endif
