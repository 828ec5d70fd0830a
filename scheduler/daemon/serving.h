/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_SERVING_H
#define MAAR_DAEMON_SERVING_H

/* The HTTP servers of maar-scheduler as the flags want them, and the metrics behind them. */

#include "daemon/options.h"
#include "daemon/settle.h"
#include "engine/engine.h"

struct maar_serving;

/* Begins to measure what goes through the backend, when metrics are wanted, and sets what the engine needs for that.
 * The options and `settle` outlive the result; `wake` makes the engine thread come round, from any thread. */
struct maar_serving *maar_serving_create(const struct maar_options *options,
                                         struct maar_settle *settle,
                                         struct maar_engine_options *engine,
                                         void (*wake)(void *context), void *wake_context);
/* Opens the servers. -EADDRINUSE and others of maar_web_start, after the name of the flag. */
int maar_serving_start(struct maar_serving *serving, struct maar_engine *engine,
                       struct maar_error *err) __attribute__((warn_unused_result));
struct maar_serving_state {
    bool synced;     /* every list is in */
    bool leads;      /* decides, does not stand by */
    bool conf_valid; /* the file is the configuration in force */
};
/* Between two turns of the engine, on its thread: the questions that were asked get their answers. */
void maar_serving_turn(struct maar_serving *serving, const struct maar_serving_state *state);
/* Closes the servers. Before the engine goes. Accepts NULL. */
void maar_serving_destroy(struct maar_serving *serving);

#endif
