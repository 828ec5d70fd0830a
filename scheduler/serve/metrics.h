/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_METRICS_H
#define MAAR_SERVE_METRICS_H

/* Metrics in Prometheus' text format 0.0.4. One thread (the engine's) adds and changes, any thread renders: rendering
 * takes the lock for a few hundred series at a time, so that nobody who changes one waits long.
 *
 * A series belongs to those who took it and goes with the last of them, so a metric never holds more series than there
 * are objects. */

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct maar_metrics;
struct maar_metric;
struct maar_series;

#define MAAR_METRIC_MAX_LABELS  4u
#define MAAR_METRIC_MAX_BUCKETS 32u

enum maar_metric_type {
    MAAR_METRIC_COUNTER,
    MAAR_METRIC_GAUGE,
    MAAR_METRIC_HISTOGRAM,
};

/* Upper bounds of a histogram without +Inf: n of them from `least` to `greatest`, each the same multiple of the one
 * before. */
struct maar_buckets {
    double least;
    double greatest;
    unsigned n; /* 2 to MAAR_METRIC_MAX_BUCKETS; 0 in other metrics */
};

/* Static texts of the caller. */
struct maar_metric_kind {
    const char *name;
    const char *help;
    enum maar_metric_type type;
    const char *labels[MAAR_METRIC_MAX_LABELS]; /* names; NULL: no more */
    struct maar_buckets buckets;
};

struct maar_metrics *maar_metrics_create(void);
/* With all metrics and series. Accepts NULL. */
void maar_metrics_destroy(struct maar_metrics *metrics);
/* Metrics are rendered in the order in which they were added, and not at all while they have no series. */
struct maar_metric *maar_metrics_add(struct maar_metrics *metrics,
                                     const struct maar_metric_kind *kind);

/* The series of these label values, one for each label of the metric; made with value 0 when nobody holds it. The
 * caller gives it back with maar_series_drop. Values are copied. */
struct maar_series *maar_series_take(struct maar_metric *metric, const char *const *values);
/* The same, but nobody gives it back: for label values of which there are few. */
struct maar_series *maar_series_get(struct maar_metric *metric, const char *const *values);
/* Accepts NULL. */
void maar_series_drop(struct maar_series *series);
/* Gauges. */
void maar_series_set(struct maar_series *series, double value);
/* Counters and gauges. */
void maar_series_add(struct maar_series *series, double value);
/* Histograms. */
void maar_series_observe(struct maar_series *series, double value);

void maar_metrics_render(struct maar_metrics *metrics, struct maar_text *out);
/* Of all metrics. */
size_t maar_metrics_n_series(struct maar_metrics *metrics);

#endif
