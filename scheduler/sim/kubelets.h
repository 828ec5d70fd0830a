/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_KUBELETS_H
#define MAAR_SIM_KUBELETS_H

/* The nodes' agents: bound pods start, deleted ones go, those with a duration finish. Times are in cycles, so a run in
 * virtual time always gives the same. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/store.h"

/* The annotation that lets a simulated pod finish by itself: a Go duration counted from its start.
 */
#define MAAR_SIM_DURATION "sim.maar.dev/duration"

struct maar_kubelet_options {
    unsigned start_delay;       /* cycles from bind to Running */
    unsigned termination_delay; /* cycles from deletion to disappearance */
};

struct maar_kubelets;

/* The store outlives them. */
struct maar_kubelets *maar_kubelets_create(struct maar_store *store,
                                           const struct maar_kubelet_options *options);
/* Accepts NULL. */
void maar_kubelets_destroy(struct maar_kubelets *kubelets);

/* Takes in what changed during `cycle`. */
void maar_kubelets_observe(struct maar_kubelets *kubelets, unsigned cycle);
/* Does what is due at the end of `cycle`; next_ns is the clock of the next one. Returns the number
 * of changes. */
size_t maar_kubelets_act(struct maar_kubelets *kubelets, unsigned cycle, int64_t next_ns);
/* Pods that will change by themselves. */
size_t maar_kubelets_n_busy(const struct maar_kubelets *kubelets);

#endif
