/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* W4: unlike nodes and constrained pods. Nodes are of 24 types in three zones of 40 racks with thirty labels each, a
 * fifth of them tainted. One variant has the pods whose constraints look at the node alone: node selectors, required
 * and preferred node affinity, tolerations; the other those that look at the pods on other nodes: anti-affinity by
 * host and by rack, affinity to a zone, spread over zones. Each class comes in gangs of ten. */

#include <string.h>

#include "cli/bench_rig.h"

#define N_TYPES  24u
#define N_LABELS 30u
#define N_ZONES  3u
#define N_RACKS  40u
#define N_TAINTS 8u
#define GANG     10u

static const char *const zones[N_ZONES] = {"zone-0", "zone-1", "zone-2"};

/* ---- nodes ---- */

static int compare_labels(const void *l, const void *r)
{
    return strcmp(((const struct maar_label *)l)->key, ((const struct maar_label *)r)->key);
}

static void add_label(struct maar_record *node, const char *key, char *value)
{
    node->node.labels[node->node.n_labels++] = (struct maar_label){key, value};
}

static void label_node(struct maar_record *node, uint32_t i)
{
    struct maar_arena *arena = node->arena;
    node->node.labels = maar_arena_calloc(arena, N_LABELS, sizeof *node->node.labels);
    add_label(node, "kubernetes.io/hostname", maar_arena_strdup(arena, node->name));
    add_label(node, "topology.kubernetes.io/zone", maar_arena_strdup(arena, zones[i % N_ZONES]));
    add_label(node, "rack",
              maar_arena_printf(arena, "rack-%u-%u", i % N_ZONES, i / N_ZONES % N_RACKS));
    add_label(node, "type", maar_arena_printf(arena, "type-%u", i % N_TYPES));
    add_label(node, "arch", maar_arena_strdup(arena, i % 8 == 7 ? "arm64" : "amd64"));
    add_label(node, "generation", maar_arena_printf(arena, "%u", 1 + i % 6));
    if (i % 4 == 0)
        add_label(node, "disk", maar_arena_strdup(arena, "ssd"));
    while (node->node.n_labels < N_LABELS)
        add_label(node, maar_arena_printf(arena, "example.com/label-%u", node->node.n_labels),
                  maar_arena_printf(arena, "value-%u", i % (node->node.n_labels + 2)));
    qsort(node->node.labels, node->node.n_labels, sizeof *node->node.labels, compare_labels);
}

static void add_node(struct maar_bench_sink *sink, uint32_t i)
{
    static const int64_t cpus[] = {8, 16, 32, 64, 96, 192};
    static const int64_t gpus[] = {0, 1, 4, 8};
    int64_t cpu = cpus[i % 6];
    struct maar_bench_node type = {cpu * 1000, (cpu * 8) << 30, gpus[i % N_TYPES / 6]};
    maar_bench_add_node(sink, i, &type);
    struct maar_record *node = sink->deltas.data[sink->deltas.n - 1].record;
    label_node(node, i);
    if (i % 5 != 4)
        return;
    node->node.n_taints = 1;
    node->node.taints = maar_arena_calloc(node->arena, 1, sizeof *node->node.taints);
    node->node.taints[0] =
        (struct maar_taint){maar_arena_printf(node->arena, "taint-%u", i / 5 % N_TAINTS), "yes",
                            MAAR_EFFECT_NO_SCHEDULE};
}

/* ---- pods whose constraints look at the node ---- */

static struct maar_requirement require(struct maar_record *pod, const char *key,
                                       enum maar_operator op, const char *value)
{
    struct maar_requirement requirement = {.key = key, .op = op};
    if (!value)
        return requirement;
    const char **values = maar_arena_calloc(pod->arena, 1, sizeof *values);
    values[0] = maar_arena_strdup(pod->arena, value);
    requirement.values = values;
    requirement.n_values = 1;
    requirement.number = op == MAAR_OP_GT ? atoi(value) : 0;
    return requirement;
}

static struct maar_selector_term term_of(struct maar_record *pod,
                                         struct maar_requirement requirement)
{
    struct maar_requirement *copy = maar_arena_calloc(pod->arena, 1, sizeof *copy);
    *copy = requirement;
    return (struct maar_selector_term){1, copy};
}

static void select_nodes(struct maar_record *pod, uint32_t cls)
{
    struct maar_pod_spec *spec = &pod->pod.spec;
    struct maar_label *selector = maar_arena_calloc(pod->arena, 1, sizeof *selector);
    *selector = cls % 2 ? (struct maar_label){"topology.kubernetes.io/zone", zones[cls % N_ZONES]}
                        : (struct maar_label){"arch", "amd64"};
    spec->node_selector = selector;
    spec->n_node_selector = 1;
}

static void require_nodes(struct maar_record *pod, uint32_t cls)
{
    struct maar_pod_spec *spec = &pod->pod.spec;
    struct maar_selector_term *term = maar_arena_calloc(pod->arena, 1, sizeof *term);
    struct maar_requirement requirements[] = {
        require(pod, "topology.kubernetes.io/zone", MAAR_OP_IN, zones[cls % N_ZONES]),
        require(pod, "arch", MAAR_OP_NOT_IN, "arm64"),
        require(pod, "disk", MAAR_OP_EXISTS, NULL),
        require(pod, "generation", MAAR_OP_GT, "2"),
    };
    *term = term_of(pod, requirements[cls / 4 % 4]);
    spec->has_required_affinity = true;
    spec->required = term;
    spec->n_required = 1;
}

static void tolerate(struct maar_record *pod, uint32_t cls)
{
    struct maar_pod_spec *spec = &pod->pod.spec;
    struct maar_toleration *toleration = maar_arena_calloc(pod->arena, 1, sizeof *toleration);
    *toleration = (struct maar_toleration){
        .key = maar_arena_printf(pod->arena, "taint-%u", cls % N_TAINTS),
        .value = "",
        .op = MAAR_TOLERATION_EXISTS,
        .effect = MAAR_EFFECT_NO_SCHEDULE,
    };
    spec->tolerations = toleration;
    spec->n_tolerations = 1;
}

static void prefer_nodes(struct maar_record *pod, uint32_t cls)
{
    struct maar_pod_spec *spec = &pod->pod.spec;
    struct maar_preferred_term *term = maar_arena_calloc(pod->arena, 1, sizeof *term);
    term->weight = (int32_t)(10 + cls % 50);
    term->term =
        term_of(pod, require(pod, "topology.kubernetes.io/zone", MAAR_OP_IN, zones[cls % N_ZONES]));
    spec->preferred = term;
    spec->n_preferred = 1;
}

/* Of twenty classes eight, five, four and two. */
static void constrain_by_node(struct maar_record *pod, uint32_t cls)
{
    uint32_t part = cls % 19;
    if (part < 8)
        select_nodes(pod, cls);
    else if (part < 13)
        require_nodes(pod, cls);
    else if (part < 17)
        tolerate(pod, cls);
    else
        prefer_nodes(pod, cls);
}

/* ---- pods whose constraints look at other pods ---- */

static struct maar_label_selector select_app(struct maar_record *pod, const char *app)
{
    struct maar_requirement *requirement = maar_arena_calloc(pod->arena, 1, sizeof *requirement);
    *requirement = require(pod, "app", MAAR_OP_IN, app);
    return (struct maar_label_selector){true, 1, requirement};
}

static struct maar_affinity_terms terms_of(struct maar_record *pod, const char *app,
                                           const char *key)
{
    struct maar_affinity_term *term = maar_arena_calloc(pod->arena, 1, sizeof *term);
    const char **namespaces = maar_arena_calloc(pod->arena, 1, sizeof *namespaces);
    namespaces[0] = pod->ns;
    *term = (struct maar_affinity_term){.topology_key = key,
                                        .selector = select_app(pod, app),
                                        .n_namespaces = 1,
                                        .namespaces = namespaces};
    return (struct maar_affinity_terms){1, term};
}

static void spread(struct maar_record *pod, const char *app)
{
    struct maar_spread_constraint *constraint =
        maar_arena_calloc(pod->arena, 1, sizeof *constraint);
    *constraint = (struct maar_spread_constraint){.max_skew = 1,
                                                  .min_domains = 1,
                                                  .topology_key = "topology.kubernetes.io/zone",
                                                  .hard = true,
                                                  .honor_affinity = true,
                                                  .selector = select_app(pod, app)};
    pod->pod.spec.spread = constraint;
    pod->pod.spec.n_spread = 1;
}

static void constrain_by_pods(struct maar_record *pod, uint32_t cls)
{
    struct maar_pod_spec *spec = &pod->pod.spec;
    const char *app = maar_arena_printf(pod->arena, "app-%u", cls);
    pod->pod.labels = maar_arena_calloc(pod->arena, 1, sizeof *pod->pod.labels);
    pod->pod.labels[0] = (struct maar_label){"app", app};
    pod->pod.n_labels = 1;
    if (cls % 5 == 0)
        spec->pod_anti_affinity_required = terms_of(pod, app, "kubernetes.io/hostname");
    else if (cls % 5 == 1)
        spec->pod_anti_affinity_required = terms_of(pod, app, "rack");
    else if (cls % 5 == 2)
        spec->pod_affinity_required = terms_of(pod, app, "topology.kubernetes.io/zone");
    else
        spread(pod, app);
}

/* ---- the whole ---- */

static void fill(struct maar_bench_sink *sink, uint32_t n_nodes, uint32_t n_classes,
                 uint32_t n_each, void (*constrain)(struct maar_record *pod, uint32_t cls))
{
    for (uint32_t i = 0; i < n_nodes; i++)
        add_node(sink, i);
    maar_bench_add_queue(sink, maar_strdup("q-0"));
    for (uint32_t number = 0; number < n_classes * n_each / GANG; number++) {
        uint32_t cls = number % n_classes;
        /* Classes differ in what they ask for too. */
        struct maar_bench_ask ask = {500 + 500 * (cls % 6), (INT64_C(1) + cls % 7) << 30,
                                     cls % 10 == 0};
        maar_bench_add_group(sink, number, GANG, &ask, "q-0");
        for (uint32_t i = 0; i < GANG; i++)
            constrain(maar_bench_add_pod(sink, number, i, &ask), cls);
    }
}

void maar_bench_fill_batchable(struct maar_bench_sink *sink, bool is_large)
{
    fill(sink, is_large ? 5000 : 1000, is_large ? 380 : 95, is_large ? 50 : 40, constrain_by_node);
}

void maar_bench_fill_affinity(struct maar_bench_sink *sink, bool is_large)
{
    fill(sink, is_large ? 5000 : 1000, is_large ? 20 : 5, is_large ? 50 : 40, constrain_by_pods);
}
