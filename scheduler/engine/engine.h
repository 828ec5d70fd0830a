/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_ENGINE_H
#define MAAR_ENGINE_ENGINE_H

/* The engine thread's work: take deltas from a backend, keep the world, run a session when something relevant
 * changed, hand the writes out. The daemon, the simulator, tests and benchmarks run the same engine. */

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "conf/conf.h"
#include "engine/backend.h"
#include "engine/feature_gates.h"
#include "host/registry.h"
#include "wire/wire.h"

struct maar_engine;
struct maar_session;
struct maar_world;

/* A session has closed; its writes have not left yet, and what it noted of jobs is still there. For measuring. */
typedef void (*maar_session_fn)(void *context, const struct maar_session *session);

struct maar_engine_options {
    const struct maar_registry *registry; /* outlives the engine */
    /* Taken over by the engine. */
    struct maar_conf *conf;
    /* NULL-terminated; the pods that are ours. NULL: {"volcano", NULL}. */
    const char *const *scheduler_names;
    const char *default_queue; /* NULL: "default" */
    bool create_queues;        /* root and the default queue when missing */
    bool check;                /* recount the ledger after every session */
    bool reference;            /* place with the plain path: scan all nodes for each task */
    bool stands_by;            /* keeps the world and decides nothing until maar_engine_take_over */
    struct maar_feature_gates features;
    int64_t
        gate_removal_workers; /* bounds the removals of gates in flight, 200 for each; below 1: 5 */
    /* Refused jobs that need not be tried again are, to see that they are refused in the same words (finds bugs). */
    bool check_memory;
    /* While pods wait, all of them are tried again at least so often, whatever is remembered of refusals: a safety net.
     * 0: never. */
    int64_t full_retry_ns;
    maar_session_fn on_session; /* NULL: nobody looks on */
    void *on_session_context;
};

/* What a backend's decoder keeps: the annotations that some loaded plugin reads. The registry outlives the options. */
struct maar_wire_options maar_engine_decode_options(const struct maar_registry *registry);

struct maar_engine *maar_engine_create(const struct maar_engine_options *options,
                                       struct maar_backend backend, struct maar_error *err);
/* Accepts NULL. Does not touch the backend. */
void maar_engine_destroy(struct maar_engine *engine);
/* Starts the backend. */
int maar_engine_start(struct maar_engine *engine, struct maar_error *err)
    __attribute__((warn_unused_result));

struct maar_turn {
    size_t n_deltas;
    bool synced;        /* every initial list is in */
    bool session;       /* a session ran */
    size_t n_writes;    /* submitted by this turn */
    int64_t session_ns; /* monotonic time that the session took */
};
/* One turn: waits at most timeout_ns for deltas (0: not at all), applies them, then runs a session if something
 * relevant changed since the last one, or always when `force`. Writes are submitted before it returns. */
struct maar_turn maar_engine_turn(struct maar_engine *engine, int64_t timeout_ns, bool force);

/* Ends standing by: from the next turn on sessions run. */
void maar_engine_take_over(struct maar_engine *engine);

/* A new configuration takes effect with the next session; the conf is taken over. The old one stays in force when a
 * plugin cannot be created. */
int maar_engine_set_conf(struct maar_engine *engine, struct maar_conf *conf, struct maar_error *err)
    __attribute__((warn_unused_result));

const struct maar_world *maar_engine_world(const struct maar_engine *engine);
/* The configuration in force. */
const struct maar_conf *maar_engine_conf(const struct maar_engine *engine);
/* The ledger against a recount from the tasks: the differences as text lines, empty when equal. Returns their number. */
size_t maar_engine_check(const struct maar_engine *engine, struct maar_text *out);
/* Amounts of a queue in its present state, "deserved" and "inqueue" as the plugins' last session computed them.
 * Calls back with the name of the set ("allocated", "deserved", "inqueue"), dimension and ledger amount. */
typedef void (*maar_queue_amount_fn)(void *context, const char *queue, const char *set,
                                     const char *dimension, int64_t value);
void maar_engine_queues(const struct maar_engine *engine, maar_queue_amount_fn each, void *context);

#endif
