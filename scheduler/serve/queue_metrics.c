/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Metrics of queues, from the ledger and from what the plugins published at the end of the last session. Amounts are
 * in Volcano's units: milli-CPU, bytes, scalars in thousandths. A queue's amounts include those of its children. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <maar/amounts.h>

#include "serve/metrics_parts.h"

struct queue_series {
    struct maar_series *amounts[MAAR_N_QUEUE_SETS][MAAR_MAX_DIMS]; /* NULL: never seen */
    struct maar_series *share;
    struct maar_series *weight;
    struct maar_series *overused;
};

/* Amounts of one queue; a dimension without its bit has none. */
struct amounts {
    uint64_t present;
    double v[MAAR_MAX_DIMS];
};

static struct maar_series *take_amount(struct maar_scheduler_metrics *metrics, const char *queue,
                                       unsigned set, uint32_t dim, const char *resource)
{
    unsigned form = dim == MAAR_DIM_CPU ? 0 : dim == MAAR_DIM_MEMORY ? 1 : 2;
    const char *values[] = {queue, resource};

    return maar_series_take(metrics->metrics[MAAR_M_QUEUE_AMOUNTS + 3 * set + form], values);
}

/* A resource that is named no more reads 0, as in Volcano. */
static void set_amounts(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                        struct queue_series *series, const char *queue, unsigned set,
                        const struct amounts *amounts)
{
    for (uint32_t d = 0; d < world->dims.n; d++) {
        struct maar_series **at = &series->amounts[set][d];
        bool has = (amounts->present >> d) & 1;

        if (!*at && has)
            *at = take_amount(metrics, queue, set, d, world->dim_names[d]);
        if (*at)
            maar_series_set(*at, has ? amounts->v[d] : 0);
    }
}

static void set_one(struct maar_scheduler_metrics *metrics, struct maar_series **series,
                    enum maar_scheduler_metric metric, const char *queue, double value)
{
    if (!*series)
        *series = maar_series_take(metrics->metrics[metric], &queue);
    maar_series_set(*series, value);
}

/* ---- amounts ---- */

static struct amounts from_row(const struct maar_world *world, const int64_t *row)
{
    struct amounts amounts = {.present = 1u << MAAR_DIM_CPU | 1u << MAAR_DIM_MEMORY};

    for (uint32_t d = 0; d < world->dims.n; d++) {
        amounts.v[d] = (double)row[d] * world->dim_scales[d];
        amounts.present |= (uint64_t)(row[d] != 0) << d;
    }
    return amounts;
}

static struct amounts from_resource(const struct maar_world *world,
                                    const struct maar_resource *resource)
{
    struct amounts amounts = {.present = resource->present};

    for (uint32_t d = 0; d < world->dims.n; d++)
        amounts.v[d] = (double)maar_resource_get(resource, d) * world->dim_scales[d];
    return amounts;
}

static struct amounts published(const struct maar_world *world,
                                const struct maar_queue_entry *queue, const char *set)
{
    struct amounts amounts = {0};

    if (queue->published_session != world->session_number)
        return amounts;
    for (size_t i = 0; i < queue->published.n; i++) {
        const struct maar_published *one = &queue->published.data[i];

        if (strcmp(one->set, set) != 0)
            continue;
        amounts.v[one->dim] = one->value;
        amounts.present |= UINT64_C(1) << one->dim;
    }
    return amounts;
}

/* What is held or waited for, [queue slot * dims + dimension], with all queues below. The caller frees. */
static int64_t *sum_requests(const struct maar_world *world)
{
    int64_t *sums = maar_calloc(world->queue_slots.n * world->dims.n + 1, sizeof *sums);

    for (size_t i = 0; i < world->queue_slots.n; i++) {
        const struct maar_queue_entry *entry = world->queue_slots.data[i];

        for (const struct maar_queue *at = entry ? &entry->view : NULL; at; at = at->parent)
            for (uint32_t d = 0; d < world->dims.n; d++)
                sums[at->slot * (size_t)world->dims.n + d] +=
                    entry->row_allocated[d] + entry->row_pending[d];
    }
    return sums;
}

/* ---- shares ---- */

static double share_of(const struct amounts *held, const struct amounts *deserved)
{
    double greatest = 0;

    MAAR_EACH_DIM(d, deserved->present)
    {
        greatest = fmax(greatest, maar_share(held->v[d], deserved->v[d]));
    }
    return greatest;
}

static bool covers(const struct amounts *held, const struct amounts *deserved)
{
    MAAR_EACH_DIM(d, deserved->present)
    {
        if (deserved->v[d] > held->v[d] + MAAR_TOLERANCE)
            return false;
    }
    return true;
}

/* Where somebody deserves something: proportion calls a queue overused that holds all of it, capacity one that holds
 * more of something, which alone has limits for every queue. */
static void set_shares(struct maar_scheduler_metrics *metrics, struct queue_series *series,
                       const char *queue, const struct amounts *held,
                       const struct amounts *deserved, bool is_capacity)
{
    double share = share_of(held, deserved);
    bool overused = is_capacity ? share > 1 : covers(held, deserved);

    set_one(metrics, &series->share, MAAR_M_QUEUE_SHARE, queue, share);
    set_one(metrics, &series->overused, MAAR_M_QUEUE_OVERUSED, queue, overused);
}

/* ---- all queues ---- */

static struct queue_series *get(struct maar_scheduler_metrics *metrics, const char *name)
{
    struct queue_series *series = maar_map_find(metrics->queues, name);

    if (!series) {
        series = maar_calloc(1, sizeof *series);
        maar_map_set(metrics->queues, name, series);
    }
    return series;
}

static void look_at(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                    const struct maar_queue_entry *queue, const int64_t *requests)
{
    const char *name = queue->view.name;
    struct queue_series *series = get(metrics, name);
    struct amounts sets[MAAR_N_QUEUE_SETS] = {
        [MAAR_QUEUE_ALLOCATED] = from_row(world, queue->row_subtree),
        [MAAR_QUEUE_REQUEST] = from_row(world, requests + queue->view.slot * (size_t)world->dims.n),
        [MAAR_QUEUE_DESERVED] = published(world, queue, "deserved"),
        [MAAR_QUEUE_CAPACITY] = from_resource(world, &queue->view.capability),
        [MAAR_QUEUE_REAL_CAPACITY] = published(world, queue, "limit"),
        [MAAR_QUEUE_INQUEUE] = published(world, queue, "inqueue"),
    };

    for (unsigned set = 0; set < MAAR_N_QUEUE_SETS; set++)
        set_amounts(metrics, world, series, name, set, &sets[set]);
    set_one(metrics, &series->weight, MAAR_M_QUEUE_WEIGHT, name, queue->view.weight);
    if (sets[MAAR_QUEUE_DESERVED].present || series->share)
        set_shares(metrics, series, name, &sets[MAAR_QUEUE_ALLOCATED], &sets[MAAR_QUEUE_DESERVED],
                   metrics->has_capacity);
}

void maar_queue_metrics_look(struct maar_scheduler_metrics *metrics, const struct maar_world *world)
{
    int64_t *requests = sum_requests(world);

    for (size_t i = 0; i < world->queue_slots.n; i++) {
        const struct maar_queue_entry *queue = world->queue_slots.data[i];

        if (queue && queue->exists)
            look_at(metrics, world, queue, requests);
    }
    free(requests);
}

static void destroy(struct queue_series *series)
{
    for (size_t set = 0; set < MAAR_N_QUEUE_SETS; set++)
        for (size_t d = 0; d < MAAR_MAX_DIMS; d++)
            maar_series_drop(series->amounts[set][d]);
    maar_series_drop(series->share);
    maar_series_drop(series->weight);
    maar_series_drop(series->overused);
    free(series);
}

void maar_queue_metrics_gone(struct maar_scheduler_metrics *metrics, const char *name)
{
    struct queue_series *series = maar_map_remove(metrics->queues, name);

    if (series)
        destroy(series);
}

void maar_queue_metrics_fini(struct maar_scheduler_metrics *metrics)
{
    size_t at = 0;
    void *series;

    while (maar_map_next(metrics->queues, &at, NULL, NULL, &series))
        destroy(series);
    maar_map_destroy(metrics->queues);
}
