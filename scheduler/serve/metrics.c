/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A metric keeps its series in slots, so that a rendering that lets the lock go between two slots finds its way back
 * whatever came and went meanwhile. */

#include "serve/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"

/* Slots that are rendered under one lock: a tenth of a millisecond. */
#define CHUNK 128u

struct maar_series {
    struct maar_metric *metric;
    uint32_t slot;
    uint32_t n_holders;
    bool stays;
    char *labels; /* rendered, without braces */
    double value; /* a histogram's sum */
    uint64_t count;
    uint64_t *buckets; /* not cumulated; NULL but in histograms */
};

struct maar_metric {
    struct maar_metrics *metrics;
    const struct maar_metric_kind *kind;
    unsigned n_labels;
    double bounds[MAAR_METRIC_MAX_BUCKETS];
    struct maar_map *by_labels;
    MAAR_VEC(struct maar_series *) slots; /* NULL: free */
    MAAR_VEC(uint32_t) free_slots;
};

struct maar_metrics {
    pthread_mutex_t lock;
    MAAR_VEC(struct maar_metric *) all;
};

/* ---- texts ---- */

/* The shortest number that reads back the same. */
static void add_number(struct maar_text *out, double value)
{
    char text[40];
    int digits = 15;

    if (isnan(value) || isinf(value)) {
        maar_text_add(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    if (fabs(value) < 1e17 && trunc(value) == value) {
        maar_text_addf(out, "%lld", (long long)value);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    maar_text_add(out, text);
}

static void add_escaped(struct maar_text *out, const char *s, bool quotes)
{
    for (; *s; s++) {
        if (*s == '\n')
            maar_text_add(out, "\\n");
        else if (*s == '\\' || (quotes && *s == '"'))
            maar_text_addf(out, "\\%c", *s);
        else
            maar_text_add_char(out, *s);
    }
}

static void add_sample(struct maar_text *out, const char *name, const char *suffix,
                       const char *labels, double value)
{
    maar_text_addf(out, *labels ? "%s%s{%s} " : "%s%s%s ", name, suffix, labels);
    add_number(out, value);
    maar_text_add_char(out, '\n');
}

static void add_bucket(struct maar_text *out, const struct maar_series *series, double bound,
                       uint64_t count)
{
    maar_text_addf(out, "%s_bucket{%s%sle=\"", series->metric->kind->name, series->labels,
                   *series->labels ? "," : "");
    add_number(out, bound);
    maar_text_addf(out, "\"} %llu\n", (unsigned long long)count);
}

static void add_histogram(struct maar_text *out, const struct maar_series *series)
{
    const struct maar_metric *metric = series->metric;
    uint64_t count = 0;

    for (unsigned i = 0; i < metric->kind->buckets.n; i++) {
        count += series->buckets[i];
        add_bucket(out, series, metric->bounds[i], count);
    }
    add_bucket(out, series, INFINITY, series->count);
    add_sample(out, metric->kind->name, "_sum", series->labels, series->value);
    add_sample(out, metric->kind->name, "_count", series->labels, (double)series->count);
}

static void add_head(struct maar_text *out, const struct maar_metric_kind *kind)
{
    static const char *const types[] = {
        [MAAR_METRIC_COUNTER] = "counter",
        [MAAR_METRIC_GAUGE] = "gauge",
        [MAAR_METRIC_HISTOGRAM] = "histogram",
    };

    maar_text_addf(out, "# HELP %s ", kind->name);
    add_escaped(out, kind->help, false);
    maar_text_addf(out, "\n# TYPE %s %s\n", kind->name, types[kind->type]);
}

/* ---- registry ---- */

struct maar_metrics *maar_metrics_create(void)
{
    struct maar_metrics *metrics = maar_calloc(1, sizeof *metrics);

    pthread_mutex_init(&metrics->lock, NULL);
    return metrics;
}

static void destroy_series(struct maar_series *series)
{
    if (!series)
        return;
    free(series->labels);
    free(series->buckets);
    free(series);
}

void maar_metrics_destroy(struct maar_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->all.n; i++) {
        struct maar_metric *metric = metrics->all.data[i];

        for (size_t k = 0; k < metric->slots.n; k++)
            destroy_series(metric->slots.data[k]);
        maar_vec_fini(&metric->slots);
        maar_vec_fini(&metric->free_slots);
        maar_map_destroy(metric->by_labels);
        free(metric);
    }
    maar_vec_fini(&metrics->all);
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

struct maar_metric *maar_metrics_add(struct maar_metrics *metrics,
                                     const struct maar_metric_kind *kind)
{
    struct maar_metric *metric = maar_calloc(1, sizeof *metric);
    const struct maar_buckets *buckets = &kind->buckets;

    metric->metrics = metrics;
    metric->kind = kind;
    metric->by_labels = maar_map_create();
    while (metric->n_labels < MAAR_METRIC_MAX_LABELS && kind->labels[metric->n_labels])
        metric->n_labels++;
    for (unsigned i = 0; i < buckets->n && i < MAAR_METRIC_MAX_BUCKETS; i++)
        metric->bounds[i] =
            buckets->least *
            pow(pow(buckets->greatest / buckets->least, 1.0 / (buckets->n - 1)), (double)i);
    pthread_mutex_lock(&metrics->lock);
    maar_vec_push(&metrics->all, metric);
    pthread_mutex_unlock(&metrics->lock);
    return metric;
}

/* ---- series ---- */

static struct maar_series *new_series(struct maar_metric *metric, struct maar_text *labels)
{
    struct maar_series *series = maar_calloc(1, sizeof *series);

    series->metric = metric;
    series->labels = maar_text_steal(labels);
    if (metric->kind->buckets.n > 0)
        series->buckets = maar_calloc(metric->kind->buckets.n, sizeof *series->buckets);
    if (metric->free_slots.n > 0) {
        series->slot = metric->free_slots.data[--metric->free_slots.n];
        metric->slots.data[series->slot] = series;
    } else {
        series->slot = (uint32_t)metric->slots.n;
        maar_vec_push(&metric->slots, series);
    }
    maar_map_set(metric->by_labels, series->labels, series);
    return series;
}

static struct maar_series *find_or_make(struct maar_metric *metric, const char *const *values,
                                        bool stays)
{
    struct maar_text labels = MAAR_TEXT_INIT;
    struct maar_series *series;

    for (unsigned i = 0; i < metric->n_labels; i++) {
        maar_text_addf(&labels, "%s%s=\"", i > 0 ? "," : "", metric->kind->labels[i]);
        add_escaped(&labels, values[i], true);
        maar_text_add_char(&labels, '"');
    }
    pthread_mutex_lock(&metric->metrics->lock);
    series = maar_map_find(metric->by_labels, maar_text_get(&labels));
    if (!series)
        series = new_series(metric, &labels);
    series->n_holders += !(stays && series->stays);
    series->stays |= stays;
    pthread_mutex_unlock(&metric->metrics->lock);
    maar_text_fini(&labels);
    return series;
}

struct maar_series *maar_series_take(struct maar_metric *metric, const char *const *values)
{
    return find_or_make(metric, values, false);
}

struct maar_series *maar_series_get(struct maar_metric *metric, const char *const *values)
{
    return find_or_make(metric, values, true);
}

void maar_series_drop(struct maar_series *series)
{
    struct maar_metric *metric;

    if (!series)
        return;
    metric = series->metric;
    pthread_mutex_lock(&metric->metrics->lock);
    if (--series->n_holders == 0) {
        metric->slots.data[series->slot] = NULL;
        maar_vec_push(&metric->free_slots, series->slot);
        maar_map_remove(metric->by_labels, series->labels);
        destroy_series(series);
    }
    pthread_mutex_unlock(&metric->metrics->lock);
}

void maar_series_set(struct maar_series *series, double value)
{
    pthread_mutex_lock(&series->metric->metrics->lock);
    series->value = value;
    pthread_mutex_unlock(&series->metric->metrics->lock);
}

void maar_series_add(struct maar_series *series, double value)
{
    pthread_mutex_lock(&series->metric->metrics->lock);
    series->value += value;
    pthread_mutex_unlock(&series->metric->metrics->lock);
}

void maar_series_observe(struct maar_series *series, double value)
{
    const struct maar_metric *metric = series->metric;
    unsigned i = 0;

    while (i < metric->kind->buckets.n && value > metric->bounds[i])
        i++;
    pthread_mutex_lock(&metric->metrics->lock);
    if (i < metric->kind->buckets.n)
        series->buckets[i]++;
    series->count++;
    series->value += value;
    pthread_mutex_unlock(&metric->metrics->lock);
}

/* ---- rendering ---- */

/* The slots from `from` on, a chunk of them; the first sample comes after the metric's head. False at the end. */
static bool render_chunk(const struct maar_metric *metric, size_t from, bool *has_head,
                         struct maar_text *out)
{
    const struct maar_metric_kind *kind = metric->kind;

    for (size_t i = from; i < from + CHUNK && i < metric->slots.n; i++) {
        const struct maar_series *series = metric->slots.data[i];

        if (!series)
            continue;
        if (!*has_head)
            add_head(out, kind);
        *has_head = true;
        if (kind->type == MAAR_METRIC_HISTOGRAM)
            add_histogram(out, series);
        else
            add_sample(out, kind->name, "", series->labels, series->value);
    }
    return from + CHUNK < metric->slots.n;
}

void maar_metrics_render(struct maar_metrics *metrics, struct maar_text *out)
{
    size_t metric = 0, from = 0;
    bool has_head = false;

    for (;;) {
        pthread_mutex_lock(&metrics->lock);
        if (metric == metrics->all.n)
            break;
        if (render_chunk(metrics->all.data[metric], from, &has_head, out)) {
            from += CHUNK;
        } else {
            metric++;
            from = 0;
            has_head = false;
        }
        pthread_mutex_unlock(&metrics->lock);
    }
    pthread_mutex_unlock(&metrics->lock);
}

size_t maar_metrics_n_series(struct maar_metrics *metrics)
{
    size_t n = 0;

    pthread_mutex_lock(&metrics->lock);
    for (size_t i = 0; i < metrics->all.n; i++)
        n += metrics->all.data[i]->slots.n - metrics->all.data[i]->free_slots.n;
    pthread_mutex_unlock(&metrics->lock);
    return n;
}
