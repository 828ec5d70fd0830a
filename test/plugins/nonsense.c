/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin whose answers are of the right type and make no sense. Scores are NaN and
 * infinite by turns, a queue has more room than was asked for, the best node does not exist, a
 * filter's verdict is no verdict. The host must refuse each of them and go on. */

#include <maar/plugin.h>

#include <math.h>

static double nonsense_score(void *self, const struct maar_view *view, const struct maar_task *task,
                             uint32_t node)
{
    (void)self;
    (void)view;
    (void)task;
    return node % 2 ? (double)NAN : HUGE_VAL;
}

MAAR_SCORE_EACH(nonsense_scores, nonsense_score)

static void nonsense_fit(void *self, const struct maar_view *view, const struct maar_task *task,
                         const uint32_t *nodes, size_t n, uint8_t *out)
{
    (void)self;
    (void)view;
    (void)task;
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == 0)
            out[i] = 200;
}

static uint32_t nonsense_room(void *self, const struct maar_view *view,
                              const struct maar_queue *queue, const struct maar_task *task,
                              uint32_t want, struct maar_reasons *reasons)
{
    (void)self;
    (void)view;
    (void)queue;
    (void)task;
    (void)want;
    (void)reasons;
    return UINT32_MAX;
}

static uint32_t nonsense_best(void *self, const struct maar_view *view,
                              const struct maar_task *task, const uint32_t *nodes, size_t n)
{
    (void)self;
    (void)task;
    (void)nodes;
    (void)n;
    return view->nodes->n_slots + 7;
}

static const struct maar_filter filters[] = {{.name = "Nonsense", .fit = nonsense_fit}};
static const struct maar_score scores[] = {{.name = "Nonsense", .score = nonsense_scores}};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "nonsense",
    .summary = "Answers without sense.",
    .hooks =
        {
            .queue_room = nonsense_room,
            .filters = filters,
            .n_filters = 1,
            .scores = scores,
            .n_scores = 1,
            .best_node = nonsense_best,
        },
};
