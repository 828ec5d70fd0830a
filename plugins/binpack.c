/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* binpack: prefers the node that would be fullest with the task, resource by resource with weights.
 *
 * Per resource that the task asks for and that has a weight: weight × (used + asked) / allocatable;
 * the score is the weighted mean × 100 × binpack.weight. A node that lacks room in such a resource
 * scores 0.
 *
 *     binpack.weight             1    0 turns the score off
 *     binpack.cpu                1    a negative weight counts as 1, here and below
 *     binpack.memory             1
 *     binpack.resources          ""   further resources, separated by commas
 *     binpack.resources.NAME     1    the weight of one of these */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_KEY_PREFIX "binpack.resources."

struct named_weight {
    char *name;
    int64_t weight;
};

struct binpack {
    int64_t weight;
    int64_t cpu_weight;
    int64_t memory_weight;
    size_t n_others;
    struct named_weight *others;
};

/* The session row: the weights by dimension, which are known by name only before. */
struct weights {
    uint64_t has;
    int64_t of[MAAR_MAX_DIMS];
};

static int64_t not_negative(int64_t weight)
{
    return weight < 0 ? 1 : weight;
}

static void add_other(struct binpack *self, const struct maar_host *host,
                      const struct maar_arguments *arguments, const char *name, size_t n)
{
    char *key;
    if (asprintf(&key, WEIGHT_KEY_PREFIX "%.*s", (int)n, name) < 0)
        abort();
    struct named_weight other = {
        .name = strdup(key + strlen(WEIGHT_KEY_PREFIX)),
        .weight = not_negative(host->argument_int(arguments, key)),
    };
    free(key);
    self->others = realloc(self->others, (self->n_others + 1) * sizeof *self->others);
    if (!other.name || !self->others)
        abort();
    self->others[self->n_others++] = other;
}

/* Names between commas; blanks around them and empty ones are dropped. */
static void read_others(struct binpack *self, const struct maar_host *host,
                        const struct maar_arguments *arguments)
{
    const char *at = host->argument_string(arguments, "binpack.resources");
    while (at && *at) {
        size_t n = strcspn(at, ",");
        const char *from = at, *to = at + n;
        while (from < to && isspace((unsigned char)*from))
            from++;
        while (to > from && isspace((unsigned char)to[-1]))
            to--;
        if (to > from)
            add_other(self, host, arguments, from, (size_t)(to - from));
        at += n;
        at += *at == ',';
    }
}

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct binpack *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->weight = host->argument_int(arguments, "binpack.weight");
    self->cpu_weight = not_negative(host->argument_int(arguments, "binpack.cpu"));
    self->memory_weight = not_negative(host->argument_int(arguments, "binpack.memory"));
    read_others(self, host, arguments);
    *ret_self = self;
    return 0;
}

static void destroy(void *opaque)
{
    struct binpack *self = opaque;
    if (!self)
        return;
    for (size_t i = 0; i < self->n_others; i++)
        free(self->others[i].name);
    free(self->others);
    free(self);
}

static int open_session(void *opaque, const struct maar_view *view, char *error, size_t n)
{
    (void)error;
    (void)n;
    const struct binpack *self = opaque;
    struct weights *weights = (struct weights *)(void *)view->session_row;
    view->host->touch(view->session, weights, sizeof *weights);
    weights->has = 3;
    for (size_t i = 0; i < self->n_others; i++) {
        uint32_t dim = view->host->dim_find(view->session, self->others[i].name);
        if (dim >= MAAR_MAX_DIMS)
            continue;
        weights->has |= UINT64_C(1) << dim;
        weights->of[dim] = self->others[i].weight;
    }
    weights->of[MAAR_DIM_CPU] = self->cpu_weight;
    weights->of[MAAR_DIM_MEMORY] = self->memory_weight;
    return 0;
}

static double score_node(const struct maar_view *view, const struct weights *weights,
                         const struct maar_resource *request, uint64_t dims, uint32_t node,
                         double factor)
{
    double score = 0;
    int64_t weight_sum = 0;
    MAAR_EACH_DIM(d, dims)
    {
        double scale = view->dims->policy_scale[d];
        double capacity = (double)view->nodes->allocatable[d][node] * scale;
        int64_t weight = weights->of[d];
        weight_sum += weight;
        if (capacity == 0 || weight == 0)
            continue;
        double finally = (double)request->v[d] * scale + (double)view->nodes->used[d][node] * scale;
        if (finally > capacity)
            return 0;
        score += finally * (double)weight / capacity;
    }
    if (weight_sum > 0)
        score /= (double)weight_sum;
    return score * factor;
}

static bool is_active(void *opaque)
{
    const struct binpack *self = opaque;
    return self->weight != 0;
}

static void score_nodes(void *opaque, const struct maar_view *view, const struct maar_task *task,
                        const uint32_t *nodes, size_t n, double *out)
{
    const struct binpack *self = opaque;
    const struct weights *weights = (const struct weights *)(const void *)view->session_row;
    const struct maar_resource *request = &task->cls->request;
    uint64_t dims = 0;
    MAAR_EACH_DIM(d, request->present & weights->has)
    if (request->v[d] > 0)
        dims |= UINT64_C(1) << d;
    double factor = (double)(100 * self->weight);
    for (size_t i = 0; i < n; i++)
        out[i] += score_node(view, weights, request, dims, nodes[i], factor);
}

static const struct maar_argument arguments[] = {
    {"binpack.weight", MAAR_ARGUMENT_INT, "1", NULL,
     "Weight of this plugin's score against those of others; 0 turns it off."},
    {"binpack.cpu", MAAR_ARGUMENT_INT, "1", "at least 0", "Weight of cpu."},
    {"binpack.memory", MAAR_ARGUMENT_INT, "1", "at least 0", "Weight of memory."},
    {"binpack.resources", MAAR_ARGUMENT_STRING, "", NULL,
     "Further resources to pack, separated by commas."},
    {"binpack.resources.*", MAAR_ARGUMENT_INT, "1", "at least 0", "Weight of that resource."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

static const struct maar_score scores[] = {
    {
        .name = "binpack",
        .phase = MAAR_SCORE_NODE,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
        .thread_safe = true,
        .active = is_active,
        .score = score_nodes,
    },
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "binpack",
    .summary = "Prefers the node that the task would fill most.",
    .arguments = arguments,
    .session_row_size = sizeof(struct weights),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .hooks = {.scores = scores, .n_scores = sizeof scores / sizeof *scores},
};
