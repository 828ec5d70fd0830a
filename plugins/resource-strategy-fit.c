/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* resource-strategy-fit: says resource by resource whether nodes should be filled or spread, keeps plain pods off nodes
 * with scarce resources, and reserves cpu and memory beside idle devices.
 *
 * Strategy score: over the resources that the task asks for and that have an entry, the weighted mean of
 * (used + asked) / allocatable (MostAllocated) or of what is left / allocatable (LeastAllocated), × 100 ×
 * resourceStrategyFitWeight. A node that lacks room in one of them scores 0. An entry "vendor.io/" followed by a star
 * stands for all names with that prefix; an exact name beats it, a longer prefix a shorter one. A pod may bring a
 * strategy of its own: annotations volcano.sh/resource-strategy-scoring-type and volcano.sh/resource-strategy-weight
 * (a JSON object, name to integer).
 *
 * - resourceStrategyFitWeight (10): 0 turns the strategy score off
 * - resources (cpu and memory, LeastAllocated, weight 1): {NAME: {type: LeastAllocated|MostAllocated, weight: 1}}
 * - sra: {enable: false, resources: "a,b", weight: 0, resourceWeight: {NAME: 1}}: a node scores the part of the listed
 *   resources, by weight, that it does not offer, × 100 × weight; a node without what the task asks for scores 0
 * - proportional: {enable: false, resources: "a,b", resourceProportion: {NAME.cpu: 1, NAME.memory: 1}}: a task that
 *   asks for none of the listed resources must leave so many CPUs and GB (10^9 bytes) for each idle unit of them */

#include <maar/plugin.h>
#include <maar/amounts.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_ANNOTATION   "volcano.sh/resource-strategy-scoring-type"
#define WEIGHT_ANNOTATION "volcano.sh/resource-strategy-weight"

enum strategy {
    STRATEGY_NONE, /* an unknown type of a pod: contributes nothing */
    STRATEGY_LEAST,
    STRATEGY_MOST,
};

/* A row of `resources`, `sra` or `proportional`. */
struct entry {
    char *name;
    size_t prefix_n; /* of a name with a star: what stands before it; 0: exact */
    enum strategy strategy;
    int64_t weight;
    double cpu_rate;
    double memory_rate;
};

struct entries {
    struct entry *data;
    size_t n;
};

struct strategy_fit {
    int64_t weight;
    struct entries resources;
    int64_t sra_weight; /* 0: no such score */
    struct entries sra;
    bool proportional;
    struct entries reserved;
};

/* ---- reading the arguments ---- */

static struct entry *add_entry(struct entries *entries, const char *name, size_t n)
{
    entries->data = realloc(entries->data, (entries->n + 1) * sizeof *entries->data);
    char *copy = strndup(name, n);
    if (!entries->data || !copy)
        abort();
    struct entry *entry = &entries->data[entries->n++];
    *entry = (struct entry){.name = copy, .strategy = STRATEGY_LEAST, .weight = 1};
    return entry;
}

static void free_entries(struct entries *entries)
{
    for (size_t i = 0; i < entries->n; i++)
        free(entries->data[i].name);
    free(entries->data);
}

static const struct maar_argument_node *
child(const struct maar_host *host, const struct maar_argument_node *node, const char *key)
{
    for (size_t i = 0; node && i < host->node_n_children(node); i++) {
        const struct maar_argument_node *at = host->node_child(node, i);
        if (strcmp(host->node_key(at), key) == 0)
            return at;
    }
    return NULL;
}

/* 0, or -EINVAL for what is no number. A missing node gives `otherwise`. */
static int read_number(const struct maar_host *host, const struct maar_argument_node *node,
                       double otherwise, double *ret, char *error, size_t n)
{
    *ret = otherwise;
    if (!node)
        return 0;
    const char *text = host->node_text(node);
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end) {
        snprintf(error, n, "%s: expected a number, found \"%s\"", host->node_key(node), text);
        return -EINVAL;
    }
    *ret = value;
    return 0;
}

static bool read_bool(const struct maar_host *host, const struct maar_argument_node *node)
{
    const char *text = node ? host->node_text(node) : "";
    return strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "yes") == 0 ||
           strcmp(text, "on") == 0 || strcmp(text, "1") == 0;
}

/* Only one star, at the end, behind something. */
static bool settle_name(struct entry *entry)
{
    const char *star = strchr(entry->name, '*');
    if (!star)
        return true;
    if (star == entry->name || star[1])
        return false;
    entry->prefix_n = (size_t)(star - entry->name);
    return true;
}

static int read_resources(struct strategy_fit *self, const struct maar_host *host,
                          const struct maar_argument_node *node, char *error, size_t n)
{
    for (size_t i = 0; node && i < host->node_n_children(node); i++) {
        const struct maar_argument_node *at = host->node_child(node, i);
        const char *name = host->node_key(at);
        struct entry *entry = add_entry(&self->resources, name, strlen(name));
        if (!settle_name(entry)) {
            char text[256];
            snprintf(
                text, sizeof text,
                "resource-strategy-fit: resources: \"%s\" is left out: a star may only end a name",
                name);
            host->log(1, text);
            free(entry->name);
            self->resources.n--;
            continue;
        }
        const struct maar_argument_node *type = child(host, at, "type");
        if (type && strcmp(host->node_text(type), "MostAllocated") == 0)
            entry->strategy = STRATEGY_MOST;
        double weight;
        if (read_number(host, child(host, at, "weight"), 1, &weight, error, n) < 0)
            return -EINVAL;
        entry->weight = weight > 0 ? (int64_t)weight : 1;
    }
    if (self->resources.n == 0) {
        add_entry(&self->resources, "cpu", 3);
        add_entry(&self->resources, "memory", 6);
    }
    return 0;
}

/* Names between commas. */
static void read_names(const struct maar_host *host, const struct maar_argument_node *node,
                       struct entries *entries)
{
    const char *at = node ? host->node_text(node) : "";
    while (*at) {
        size_t n = strcspn(at, ",");
        const char *from = at, *to = at + n;
        while (from < to && isspace((unsigned char)*from))
            from++;
        while (to > from && isspace((unsigned char)to[-1]))
            to--;
        if (to > from)
            add_entry(entries, from, (size_t)(to - from));
        at += n;
        at += *at == ',';
    }
}

static int read_sra(struct strategy_fit *self, const struct maar_host *host,
                    const struct maar_argument_node *node, char *error, size_t n)
{
    if (!read_bool(host, child(host, node, "enable")))
        return 0;
    double weight;
    if (read_number(host, child(host, node, "weight"), 0, &weight, error, n) < 0)
        return -EINVAL;
    self->sra_weight = (int64_t)weight;
    read_names(host, child(host, node, "resources"), &self->sra);
    const struct maar_argument_node *weights = child(host, node, "resourceWeight");
    for (size_t i = 0; i < self->sra.n; i++) {
        struct entry *entry = &self->sra.data[i];
        if (read_number(host, child(host, weights, entry->name), 1, &weight, error, n) < 0)
            return -EINVAL;
        entry->weight = weight < 0 ? 1 : (int64_t)weight;
    }
    return 0;
}

static int read_rate(const struct maar_host *host, const struct maar_argument_node *rates,
                     const char *name, const char *suffix, double *ret, char *error, size_t n)
{
    char key[512];
    snprintf(key, sizeof key, "%s.%s", name, suffix);
    int rc = read_number(host, child(host, rates, key), 1, ret, error, n);
    if (*ret < 0)
        *ret = 1;
    return rc;
}

static int read_proportional(struct strategy_fit *self, const struct maar_host *host,
                             const struct maar_argument_node *node, char *error, size_t n)
{
    self->proportional = read_bool(host, child(host, node, "enable"));
    if (!self->proportional)
        return 0;
    read_names(host, child(host, node, "resources"), &self->reserved);
    const struct maar_argument_node *rates = child(host, node, "resourceProportion");
    for (size_t i = 0; i < self->reserved.n; i++) {
        struct entry *entry = &self->reserved.data[i];
        if (read_rate(host, rates, entry->name, "cpu", &entry->cpu_rate, error, n) < 0 ||
            read_rate(host, rates, entry->name, "memory", &entry->memory_rate, error, n) < 0)
            return -EINVAL;
    }
    return 0;
}

static void destroy(void *opaque)
{
    struct strategy_fit *self = opaque;
    if (!self)
        return;
    free_entries(&self->resources);
    free_entries(&self->sra);
    free_entries(&self->reserved);
    free(self);
}

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    struct strategy_fit *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->weight = host->argument_int(arguments, "resourceStrategyFitWeight");
    if (self->weight < 0)
        self->weight = 10;
    if (read_resources(self, host, host->argument_tree(arguments, "resources"), error, n) < 0 ||
        read_sra(self, host, host->argument_tree(arguments, "sra"), error, n) < 0 ||
        read_proportional(self, host, host->argument_tree(arguments, "proportional"), error, n) <
            0) {
        destroy(self);
        return -EINVAL;
    }
    *ret_self = self;
    return 0;
}

/* ---- a pod's own strategy ---- */

static const char *annotation(const struct maar_class *cls, const char *key)
{
    for (uint32_t i = 0; i < cls->n_annotations; i++)
        if (strcmp(cls->annotations[i].key, key) == 0)
            return cls->annotations[i].value;
    return "";
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* One `"name": number` of a JSON object at *at, which moves behind it and a comma. False at the end or when it is none. */
static bool next_pair(const char **at, const char **ret_name, size_t *ret_n, int64_t *ret_value)
{
    const char *c = skip_blanks(*at);
    if (*c != '"')
        return false;
    const char *end = strchr(c + 1, '"');
    if (!end)
        return false;
    *ret_name = c + 1;
    *ret_n = (size_t)(end - c - 1);
    c = skip_blanks(end + 1);
    if (*c != ':')
        return false;
    char *after;
    *ret_value = strtoll(c + 1, &after, 10);
    if (after == c + 1)
        return false;
    c = skip_blanks(after);
    if (*c != ',' && *c != '}')
        return false;
    *at = *c == ',' ? c + 1 : c;
    return true;
}

/* The weight of a resource in a JSON object, -1 when it is not there or the text is no such object. */
static int64_t own_weight(const char *json, const char *name)
{
    const char *at = skip_blanks(json), *found;
    size_t n;
    int64_t value, weight = -1;
    if (*at++ != '{')
        return -1;
    while (next_pair(&at, &found, &n, &value))
        if (strlen(name) == n && memcmp(found, name, n) == 0)
            weight = value;
    return *skip_blanks(at) == '}' ? weight : -1;
}

static enum strategy parse_strategy(const char *text)
{
    if (strcmp(text, "LeastAllocated") == 0)
        return STRATEGY_LEAST;
    return strcmp(text, "MostAllocated") == 0 ? STRATEGY_MOST : STRATEGY_NONE;
}

/* ---- scores ---- */

static const struct entry *find_entry(const struct entries *entries, const char *name)
{
    const struct entry *best = NULL;
    for (size_t i = 0; i < entries->n; i++) {
        const struct entry *entry = &entries->data[i];
        if (entry->prefix_n == 0 && strcmp(entry->name, name) == 0)
            return entry;
        if (entry->prefix_n > 0 && strncmp(entry->name, name, entry->prefix_n) == 0 &&
            (!best || entry->prefix_n > best->prefix_n))
            best = entry;
    }
    return best;
}

/* What counts for a task: by dimension, the strategy and weight. */
struct plan {
    uint64_t dims;
    enum strategy strategy[MAAR_MAX_DIMS];
    int64_t weight[MAAR_MAX_DIMS];
};

static void make_plan(const struct strategy_fit *self, const struct maar_view *view,
                      const struct maar_class *cls, struct plan *plan)
{
    const char *type = annotation(cls, TYPE_ANNOTATION);
    const char *json = annotation(cls, WEIGHT_ANNOTATION);
    plan->dims = 0;
    MAAR_EACH_DIM(d, cls->request.present)
    {
        if (cls->request.v[d] <= 0)
            continue;
        const char *name = view->dims->names[d];
        if (*type) {
            plan->strategy[d] = parse_strategy(type);
            plan->weight[d] = own_weight(json, name);
            if (plan->weight[d] >= 0)
                plan->dims |= UINT64_C(1) << d;
            continue;
        }
        const struct entry *entry = find_entry(&self->resources, name);
        if (!entry)
            continue;
        plan->strategy[d] = entry->strategy;
        plan->weight[d] = entry->weight;
        plan->dims |= UINT64_C(1) << d;
    }
}

static double score_one(const struct strategy_fit *self, const struct maar_view *view,
                        const struct maar_class *cls, const struct plan *plan, uint32_t node)
{
    double score = 0;
    int64_t weight_sum = 0;
    MAAR_EACH_DIM(d, plan->dims)
    {
        double scale = view->dims->policy_scale[d];
        double capacity = (double)view->nodes->allocatable[d][node] * scale;
        double finally =
            (double)view->nodes->used[d][node] * scale + (double)cls->request.v[d] * scale;
        double weight = (double)plan->weight[d];
        weight_sum += plan->weight[d];
        if (capacity == 0 || plan->weight[d] == 0)
            continue;
        if (finally > capacity)
            return 0;
        if (plan->strategy[d] == STRATEGY_MOST)
            score += finally * weight / capacity;
        else if (plan->strategy[d] == STRATEGY_LEAST)
            score += (capacity - finally) * weight / capacity;
    }
    if (weight_sum > 0)
        score /= (double)weight_sum;
    return score * (double)(100 * self->weight);
}

static bool has_strategy(void *opaque)
{
    const struct strategy_fit *self = opaque;
    return self->weight > 0;
}

static void strategy_score(void *opaque, const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, double *out)
{
    const struct strategy_fit *self = opaque;
    struct plan plan;
    make_plan(self, view, task->cls, &plan);
    for (size_t i = 0; i < n; i++)
        out[i] += score_one(self, view, task->cls, &plan, nodes[i]);
}

static bool has_sra(void *opaque)
{
    const struct strategy_fit *self = opaque;
    return self->sra_weight > 0;
}

static bool offers_all(const struct maar_view *view, const struct maar_resource *request,
                       uint32_t node)
{
    MAAR_EACH_DIM(d, request->present)
    if (request->v[d] > 0 && view->nodes->allocatable[d][node] == 0)
        return false;
    return true;
}

static double sra_one(void *opaque, const struct maar_view *view, const struct maar_task *task,
                      uint32_t node)
{
    const struct strategy_fit *self = opaque;
    if (!offers_all(view, &task->cls->request, node))
        return 0;
    int64_t offered = 0, all = 0;
    for (size_t i = 0; i < self->sra.n; i++) {
        uint32_t d = view->host->dim_find(view->session, self->sra.data[i].name);
        all += self->sra.data[i].weight;
        if (d < view->dims->n && view->nodes->allocatable[d][node] > 0)
            offered += self->sra.data[i].weight;
    }
    if (all <= 0)
        return 0;
    return (1 - (double)offered / (double)all) * 100 * (double)self->sra_weight;
}

MAAR_SCORE_EACH(sra_score, sra_one)

/* ---- the reservation beside idle devices ---- */

static bool is_proportional(void *opaque)
{
    const struct strategy_fit *self = opaque;
    return self->proportional;
}

/* The resource whose reservation the task would use up, NULL when there is none. */
static const struct entry *find_breach(const struct strategy_fit *self,
                                       const struct maar_view *view, const struct maar_task *task,
                                       uint32_t node)
{
    const struct maar_resource *request = &task->cls->request;
    const struct maar_nodes *nodes = view->nodes;
    for (size_t i = 0; i < self->reserved.n; i++) {
        uint32_t d = view->host->dim_find(view->session, self->reserved.data[i].name);
        if (d < view->dims->n && maar_resource_get(request, d) > 0)
            return NULL;
    }
    double cpu_left =
        (double)(nodes->idle[MAAR_DIM_CPU][node] - maar_resource_get(request, MAAR_DIM_CPU));
    double memory_left =
        (double)(nodes->idle[MAAR_DIM_MEMORY][node] - maar_resource_get(request, MAAR_DIM_MEMORY));
    for (size_t i = 0; i < self->reserved.n; i++) {
        const struct entry *entry = &self->reserved.data[i];
        uint32_t d = view->host->dim_find(view->session, entry->name);
        if (d >= view->dims->n || !((nodes->allocatable_present[node] >> d) & 1))
            continue;
        double idle = (double)nodes->idle[d][node] * view->dims->policy_scale[d];
        if (cpu_left < idle * entry->cpu_rate || memory_left < idle * entry->memory_rate * 1e6)
            return entry;
    }
    return NULL;
}

static bool breaches(void *opaque, const struct maar_view *view, const struct maar_task *task,
                     uint32_t node)
{
    return find_breach(opaque, view, task, node) != NULL;
}

MAAR_FILTER_EACH(fit_proportional, breaches, MAAR_FIT_NEVER)

static void explain_proportional(void *opaque, const struct maar_view *view,
                                 const struct maar_task *task, uint32_t node,
                                 struct maar_reasons *reasons)
{
    const struct entry *entry = find_breach(opaque, view, task, node);
    if (!entry)
        return;
    char text[256];
    snprintf(text, sizeof text, "proportional of resource %s check failed", entry->name);
    view->host->reason_add(reasons, text);
}

/* ---- tables ---- */

static const struct maar_argument arguments[] = {
    {"resourceStrategyFitWeight", MAAR_ARGUMENT_INT, "10", NULL,
     "Weight of the strategy score; 0 turns it off."},
    {"resources", MAAR_ARGUMENT_TREE, NULL, "a map of name to {type, weight}",
     "Strategy and weight of each resource; a name may end in a star."},
    {"sra", MAAR_ARGUMENT_TREE, NULL, "{enable, resources, weight, resourceWeight}",
     "Keeps pods off nodes with scarce resources that they do not ask for."},
    {"proportional", MAAR_ARGUMENT_TREE, NULL, "{enable, resources, resourceProportion}",
     "Reserves cpu and memory beside idle devices."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

static const char *const reads_pod_annotations[] = {TYPE_ANNOTATION, WEIGHT_ANNOTATION, NULL};

static const struct maar_filter filters[] = {
    {.name = "proportional",
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
     .thread_safe = true,
     .active = is_proportional,
     .fit = fit_proportional,
     .explain = explain_proportional},
};

static const struct maar_score scores[] = {
    {.name = "strategy",
     .phase = MAAR_SCORE_NODE,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
     .thread_safe = true,
     .active = has_strategy,
     .score = strategy_score},
    {.name = "sra",
     .phase = MAAR_SCORE_NODE,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC,
     .thread_safe = true,
     .active = has_sra,
     .score = sra_score},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "resource-strategy-fit",
    .summary = "Fills or spreads nodes resource by resource, and keeps scarce ones free.",
    .arguments = arguments,
    .reads_pod_annotations = reads_pod_annotations,
    .create = create,
    .destroy = destroy,
    .hooks =
        {
            .filters = filters,
            .n_filters = sizeof filters / sizeof *filters,
            .scores = scores,
            .n_scores = sizeof scores / sizeof *scores,
        },
};
