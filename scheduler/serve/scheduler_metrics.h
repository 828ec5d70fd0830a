/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_SCHEDULER_METRICS_H
#define MAAR_SERVE_SCHEDULER_METRICS_H

/* What the scheduler measures of itself: Volcano's metrics with their names, labels and buckets, and some with the
 * prefix maar_. docs/metrics.md lists them. Everything is called on the engine thread but the rendering. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct maar_delta;
struct maar_scheduler_metrics;
struct maar_session;
struct maar_world;
struct maar_write;

struct maar_scheduler_metrics *maar_scheduler_metrics_create(void);
/* Accepts NULL. */
void maar_scheduler_metrics_destroy(struct maar_scheduler_metrics *metrics);

/* A session has closed: a maar_session_fn. */
void maar_scheduler_metrics_session(void *metrics, const struct maar_session *session);
/* A delta has come; the world does not know of it yet. now_ns: wall clock. */
void maar_scheduler_metrics_delta(struct maar_scheduler_metrics *metrics,
                                  const struct maar_world *world, const struct maar_delta *delta,
                                  int64_t now_ns);
/* A write is on its way. */
void maar_scheduler_metrics_write(struct maar_scheduler_metrics *metrics,
                                  const struct maar_world *world, const struct maar_write *write,
                                  int64_t now_ns);

struct maar_scheduler_state {
    bool synced;
    bool leads;      /* decides, does not stand by */
    bool conf_valid; /* the file is the configuration in force */
    size_t n_in_flight;
    int64_t mono_ns; /* now, monotonic */
};
/* After a turn: what is a state and no event, queues above all. */
void maar_scheduler_metrics_look(struct maar_scheduler_metrics *metrics,
                                 const struct maar_world *world,
                                 const struct maar_scheduler_state *state);

/* All metrics in Prometheus' text format, those of the process too. Any thread. */
void maar_scheduler_metrics_render(void *metrics, struct maar_text *out);
/* Series there are. */
size_t maar_scheduler_metrics_n_series(struct maar_scheduler_metrics *metrics);

#endif
