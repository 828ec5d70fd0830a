/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A pod's request after PodRequests of Kubernetes' component-helpers, dimension by dimension:
 *
 *   regular  = sum of the containers and of the sidecars (init containers that restart always)
 *   starting = the largest of, per init container in order, its own request and all sidecars before
 * it request  = max(regular, starting), or what spec.resources asks for, plus spec.overhead
 *
 * Working by dimension keeps the rule in one place: the request of a pod and its value for scoring
 * differ only in what stands for a dimension that a container does not name. */

#include "model/pod_request.h"

#include <stdbool.h>
#include <string.h>

#define DEFAULT_CPU_MILLI    INT64_C(100)
#define DEFAULT_MEMORY_BYTES (INT64_C(200) * 1024 * 1024)

/* One dimension of one pod. */
struct dimension {
    const struct maar_pod_record *pod;
    const char *name;
    int64_t unnamed; /* what a container counts that does not name it */
    bool is_named;   /* some part of the pod does */
};

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct maar_amount *find(const struct maar_amounts_record *amounts, const char *name)
{
    for (uint32_t i = 0; i < amounts->n; i++)
        if (strcmp(amounts->items[i].name, name) == 0)
            return &amounts->items[i];
    return NULL;
}

/* While a container is resized in place, its pod holds the largest of what is wanted, what was
 * granted and what is in effect; a resize that the node can never grant is not wanted any more. */
static int64_t of_container(struct dimension *dimension,
                            const struct maar_container_record *container, bool can_resize)
{
    const struct maar_amounts_record *sources[3];
    size_t n = 0;
    bool is_resized = can_resize && container->has_status_resources;
    if (!is_resized || !dimension->pod->resize_infeasible)
        sources[n++] = &container->requests;
    if (is_resized) {
        sources[n++] = &container->status_requests;
        sources[n++] = &container->status_allocated;
    }
    const struct maar_amount *most = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct maar_amount *amount = find(sources[i], dimension->name);
        if (amount && (!most || amount->value > most->value))
            most = amount;
    }
    if (!most)
        return dimension->unnamed;
    dimension->is_named = true;
    return most->value;
}

static int64_t of_containers(struct dimension *dimension)
{
    const struct maar_pod_record *pod = dimension->pod;
    int64_t regular = 0;
    for (uint32_t i = 0; i < pod->n_containers; i++)
        regular = add(regular, of_container(dimension, &pod->containers[i], true));
    int64_t sidecars = 0;
    int64_t starting = 0;
    for (uint32_t i = 0; i < pod->n_init_containers; i++) {
        const struct maar_container_record *container = &pod->init_containers[i];
        int64_t value = of_container(dimension, container, container->restart_always);
        int64_t beside = add(sidecars, value);
        if (container->restart_always) {
            regular = add(regular, value);
            sidecars = beside;
        }
        starting = larger(starting, beside);
    }
    return larger(regular, starting);
}

/* Kubernetes takes only these at pod level. */
static bool is_pod_level(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
           strncmp(name, "hugepages-", strlen("hugepages-")) == 0;
}

static int64_t of_pod(struct dimension *dimension)
{
    const struct maar_pod_record *pod = dimension->pod;
    int64_t value = of_containers(dimension);
    if (strcmp(dimension->name, "pods") == 0) {
        value = add(value, 1);
        dimension->is_named = true;
    }
    const struct maar_amount *whole = find(&pod->pod_level, dimension->name);
    if (whole && is_pod_level(dimension->name)) {
        value = whole->value;
        dimension->is_named = true;
    }
    const struct maar_amount *overhead = find(&pod->overhead, dimension->name);
    if (overhead) {
        value = add(value, overhead->value);
        dimension->is_named = true;
    }
    return value;
}

/* Names in order, each once. */
struct names {
    const char **items;
    uint32_t n;
};

static void add_name(struct names *names, const char *name)
{
    uint32_t low = 0;
    uint32_t high = names->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(names->items[middle], name);
        if (order == 0)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&names->items[low + 1], &names->items[low], (names->n - low) * sizeof *names->items);
    names->items[low] = name;
    names->n++;
}

static void add_names(struct names *names, const struct maar_amounts_record *amounts)
{
    for (uint32_t i = 0; i < amounts->n; i++)
        add_name(names, amounts->items[i].name);
}

static size_t n_amounts(const struct maar_container_record *containers, uint32_t n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += (size_t)containers[i].requests.n + containers[i].status_requests.n +
                 containers[i].status_allocated.n;
    return total;
}

static void add_container_names(struct names *names, const struct maar_container_record *containers,
                                uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        add_names(names, &containers[i].requests);
        add_names(names, &containers[i].status_requests);
        add_names(names, &containers[i].status_allocated);
    }
}

static struct names all_names(const struct maar_pod_record *pod, struct maar_arena *arena)
{
    size_t most = n_amounts(pod->containers, pod->n_containers) +
                  n_amounts(pod->init_containers, pod->n_init_containers) + pod->pod_level.n +
                  pod->overhead.n + 1;
    struct names names = {maar_arena_calloc(arena, most, sizeof *names.items), 0};
    add_name(&names, "pods");
    add_container_names(&names, pod->containers, pod->n_containers);
    add_container_names(&names, pod->init_containers, pod->n_init_containers);
    add_names(&names, &pod->pod_level);
    add_names(&names, &pod->overhead);
    return names;
}

struct maar_amounts_record maar_pod_request(const struct maar_pod_record *pod,
                                            struct maar_arena *arena)
{
    struct names names = all_names(pod, arena);
    struct maar_amounts_record request = {0};
    request.items = maar_arena_calloc(arena, names.n, sizeof *request.items);
    for (uint32_t i = 0; i < names.n; i++) {
        struct dimension dimension = {.pod = pod, .name = names.items[i]};
        int64_t value = of_pod(&dimension);
        if (dimension.is_named)
            request.items[request.n++] = (struct maar_amount){names.items[i], value};
    }
    return request;
}

void maar_pod_request_nonzero(const struct maar_pod_record *pod, int64_t *ret_cpu_milli,
                              int64_t *ret_memory_bytes)
{
    struct dimension cpu = {.pod = pod, .name = "cpu", .unnamed = DEFAULT_CPU_MILLI};
    struct dimension memory = {.pod = pod, .name = "memory", .unnamed = DEFAULT_MEMORY_BYTES};
    *ret_cpu_milli = of_pod(&cpu);
    *ret_memory_bytes = of_pod(&memory);
}
