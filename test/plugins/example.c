/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A plugin to copy. The policy: pods stay off nodes with a certain label, and of the other nodes
 * those with more free memory are better.
 *
 *     - name: example
 *       arguments:
 *         example.avoidLabel: example.com/maintenance   # default: example.com/avoid
 *         example.weight: 2                             # default: 1
 *
 * To build and use it:
 *
 *     cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -o example.so example.c
 *     maar-scheduler --plugins-dir=FOLDER_OF_IT …
 *
 * To make it yours: change the name, keep the hooks that you need, delete the rest. A plugin that
 * only filters or only scores is this file without the other half. It includes nothing of the
 * scheduler but <maar/plugin.h>, and calls nothing of it but the host table. */

#include <maar/plugin.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One instance: what the arguments said. It is the `self` of every hook and does not change while a
 * session is open. */
struct example {
    const struct maar_host *host;
    const char *avoid_label;
    double weight;
};

/* State of a session lives in rows that the host gives, so that it can put them back when a plan is
 * given up. This one is a row per session; there are rows per node, job and queue as well. */
struct session_row {
    const char *avoid_key; /* interned; NULL: no node has such a label */
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Called once for each entry in scheduler.conf. The host has the defaults of the table below. */
static int example_create(const struct maar_host *host, const struct maar_arguments *arguments,
                          void **ret_self, char *error, size_t n)
{
    const char *label = host->argument_string(arguments, "example.avoidLabel");
    if (*label == '\0') {
        (void)snprintf(error, n, "example.avoidLabel: expected a label key, found nothing");
        return -EINVAL;
    }
    struct example *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->host = host;
    self->avoid_label = label; /* valid as long as the instance */
    self->weight = host->argument_float(arguments, "example.weight");
    *ret_self = self;
    return 0;
}

static void example_destroy(void *self)
{
    free(self);
}

/* Called at the start of each session: compute here, once, what the hooks need for every node.
 * Texts in the view are interned, so after this the filter compares pointers. */
static int example_open(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    const struct example *example = self;
    struct session_row *row = (struct session_row *)(void *)view->session_row;
    example->host->touch(view->session, row, sizeof *row); /* before each write to a row */
    row->avoid_key = example->host->intern_find(view->session, example->avoid_label);
    return 0;
}

/* ---- filter ---------------------------------------------------------------------------------- */

/* May the pod not run on this node? The answer depends on the node's labels only: see the table. */
static bool is_avoided(void *self, const struct maar_view *view, const struct maar_task *task,
                       uint32_t node)
{
    (void)self;
    (void)task;
    const struct session_row *row = (const struct session_row *)(const void *)view->session_row;
    const struct maar_node_facts *facts = &view->nodes->facts[node];
    if (!row->avoid_key)
        return false;
    for (uint32_t i = 0; i < facts->n_labels; i++)
        if (facts->labels[i].key == row->avoid_key)
            return true;
    return false;
}

/* Makes the hook, which gets many nodes at a time, from the function for one. NEVER: evicting other
 * pods would not help; else it is MAAR_FIT_UNSCHEDULABLE. */
MAAR_FILTER_EACH(avoid_fit, is_avoided, MAAR_FIT_NEVER)

/* The reason that users read on their pods. Asked for refused nodes only. */
static void avoid_explain(void *self, const struct maar_view *view, const struct maar_task *task,
                          uint32_t node, struct maar_reasons *reasons)
{
    (void)view;
    (void)task;
    (void)node;
    const struct example *example = self;
    char text[128];
    (void)snprintf(text, sizeof text, "node(s) had the label %s", example->avoid_label);
    example->host->reason_add(reasons, text);
}

/* ---- score ----------------------------------------------------------------------------------- */

/* 0 for a full node, 100 times the weight for an empty one. Columns: one array per dimension. */
static double free_memory_score(void *self, const struct maar_view *view,
                                const struct maar_task *task, uint32_t node)
{
    (void)task;
    const struct example *example = self;
    int64_t allocatable = view->nodes->allocatable[MAAR_DIM_MEMORY][node];
    int64_t idle = view->nodes->idle[MAAR_DIM_MEMORY][node];
    if (allocatable <= 0 || idle <= 0)
        return 0;
    return 100 * example->weight * ((double)idle / (double)allocatable);
}

MAAR_SCORE_EACH(free_memory_scores, free_memory_score)

/* ---- tables ---------------------------------------------------------------------------------- */

/* Keys, types, defaults and help: `maarctl plugins example` prints them; anything else under
 * `arguments:` is warned of. */
static const struct maar_argument arguments[] = {
    {"example.avoidLabel", MAAR_ARGUMENT_STRING, "example.com/avoid", NULL,
     "Nodes that carry a label of this key take no pods."},
    {"example.weight", MAAR_ARGUMENT_FLOAT, "1", "0..100",
     "How much free memory counts among the scores of all plugins."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

/* What an answer depends on decides how often it is asked for again. The filter reads nothing but
 * facts of the node; the score reads what runs there. When in doubt leave both at 0, which is
 * "everything": slower, never wrong. */
static const struct maar_filter filters[] = {
    {.name = "Avoid",
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC,
     .thread_safe = true,
     .fit = avoid_fit,
     .explain = avoid_explain},
};

static const struct maar_score scores[] = {
    {.name = "FreeMemory",
     .phase = MAAR_SCORE_NODE,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
     .thread_safe = true,
     .score = free_memory_scores},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "example",
    .summary = "Keeps pods off nodes with a label and prefers nodes with more free memory.",
    .arguments = arguments,
    .session_row_size = sizeof(struct session_row),
    .create = example_create,
    .destroy = example_destroy,
    .open = example_open,
    .hooks =
        {
            .filters = filters,
            .n_filters = sizeof filters / sizeof *filters,
            .scores = scores,
            .n_scores = sizeof scores / sizeof *scores,
        },
};
