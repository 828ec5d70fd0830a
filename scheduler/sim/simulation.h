/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SIMULATION_H
#define MAAR_SIM_SIMULATION_H

/* A scenario played from beginning to end: steps, one session a cycle, kubelets, checks. */

#include "engine/engine.h"
#include "host/registry.h"
#include "sim/edit.h"
#include "sim/invariants.h"
#include "sim/scenario.h"
#include "wire/wire.h"

/* How the engine reaches the embedded cluster. NULL in the options: directly. */
struct maar_simulation_link {
    void *context;
    /* A backend over the cluster. Called again after close when the scheduler restarts. */
    int (*open)(void *context, struct maar_cluster *cluster, const struct maar_wire_options *decode,
                struct maar_backend *ret_backend, struct maar_error *err);
    void (*close)(void *context);
    /* The cluster is about to go. */
    void (*forget)(void *context);
    /* After a session: waits until its writes are answered. -ETIMEDOUT. */
    int (*settle)(void *context, struct maar_error *err);
    /* At the end of a cycle, under the store's lock: bindings that were in flight take effect. */
    void (*land)(void *context);
    /* Deltas delivered since the last call. */
    size_t (*take_n_delivered)(void *context);
};

struct maar_simulation_options {
    const struct maar_registry *registry;      /* outlives the simulation */
    const char *conf_text;                     /* wins over the scenario's; NULL: none */
    const char *conf_path;                     /* where it comes from */
    unsigned cycles;                           /* 0: the scenario's */
    const struct maar_edits *edits;            /* made before cycle 1; NULL: none */
    const struct maar_feature_gates *features; /* NULL: the scenario's */
    bool reference;
    bool check_memory; /* as in the engine's options */
    bool shuffle;      /* objects of one kind come in another order */
    uint64_t seed;
    const struct maar_simulation_link *link;
    void (*progress)(void *context, unsigned cycle, unsigned n_cycles); /* NULL: none */
    void *progress_context;
};

struct maar_simulation;

/* The scenario outlives it. -EINVAL for a configuration or an object that cannot be used. */
int maar_simulation_create(const struct maar_scenario *scenario,
                           const struct maar_simulation_options *options,
                           struct maar_simulation **ret_simulation, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Accepts NULL. */
void maar_simulation_destroy(struct maar_simulation *simulation);
/* -EINVAL when a step cannot be done (its target is not there). Violations and unmet expectations are no errors. */
int maar_simulation_run(struct maar_simulation *simulation, struct maar_error *err)
    __attribute__((warn_unused_result));

const struct maar_scenario *maar_simulation_scenario(const struct maar_simulation *simulation);
struct maar_cluster *maar_simulation_cluster(const struct maar_simulation *simulation);
struct maar_engine *maar_simulation_engine(const struct maar_simulation *simulation);
const struct maar_conf *maar_simulation_conf(const struct maar_simulation *simulation);
unsigned maar_simulation_n_cycles(const struct maar_simulation *simulation);
struct maar_violations *maar_simulation_violations(struct maar_simulation *simulation);
/* Unmet expectations, a line each; "" when all are met. */
const char *maar_simulation_differences(const struct maar_simulation *simulation);

#endif
