/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_INVARIANTS_H
#define MAAR_SIM_INVARIANTS_H

/* What must hold after every cycle of every scenario, computed from the cluster's documents and the journal, without
 * the scheduler's own state (but for its ledger against a recount). */

#include "base/vec.h"
#include "conf/conf.h"
#include "engine/engine.h"
#include "sim/cluster.h"

struct maar_violation {
    unsigned cycle;
    const char *invariant; /* "i" … "vii" */
    char *text;
};

struct maar_violations {
    struct maar_violation *data;
    size_t n;
    size_t capacity;
};
void maar_violations_fini(struct maar_violations *violations);
void maar_violations_add(struct maar_violations *violations, unsigned cycle, const char *invariant,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

struct maar_invariants;

/* The cluster and the configuration outlive it. `conf` tells what the plugins promise, as far as they are there
 * (registry; NULL: all are). */
struct maar_invariants *maar_invariants_create(struct maar_cluster *cluster,
                                               const struct maar_conf *conf,
                                               const struct maar_registry *registry);
/* Accepts NULL. */
void maar_invariants_destroy(struct maar_invariants *invariants);
/* Checks (i) to (vi) after the session of the running cycle and before the kubelets act; (v) only when `synced`.
 * engine NULL leaves (i) out. Returns the number of violations appended. */
size_t maar_invariants_check(struct maar_invariants *invariants, const struct maar_engine *engine,
                             bool synced, struct maar_violations *violations);

#endif
