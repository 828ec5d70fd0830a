/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Random clusters. Small ones, so that a thousand take seconds, with a taste for the odd: ties of creation time,
 * objects without the object they name, amounts of zero and beyond all bounds, objects that cannot be read. */

#include "generate.h"

#include <stdio.h>

#define GI                (INT64_C(1) << 30)
#define MI                (INT64_C(1) << 20)

#define NOMINATED_PERCENT 2

/* ---- configuration ---- */

static const char *const plugin_names[] = {"binpack",    "conformance", "drf",
                                           "gang",       "nodeorder",   "overcommit",
                                           "predicates", "priority",    "proportion"};
#define N_PLUGINS (sizeof plugin_names / sizeof *plugin_names)

static const char *const action_lists[] = {"enqueue, allocate, backfill",
                                           "enqueue, allocate, backfill",
                                           "enqueue, allocate, backfill",
                                           "allocate, backfill",
                                           "enqueue, allocate",
                                           "enqueue, backfill, allocate",
                                           "allocate",
                                           "backfill"};

static const char *const enable_keys[] = {
    "enableJobOrder",  "enableTaskOrder",   "enableQueueOrder",   "enableNodeOrder",
    "enablePredicate", "enableJobEnqueued", "enableJobPipelined", "enableJobReady",
    "enabledOverused", "enabledAllocatable"};

struct argument_choice {
    const char *plugin;
    const char *key;
    const char *values[4];
};

static const struct argument_choice argument_choices[] = {
    {"binpack", "binpack.weight", {"0", "1", "5", "10"}},
    {"binpack", "binpack.cpu", {"0", "1", "3", "7"}},
    {"binpack", "binpack.memory", {"0", "1", "2", "5"}},
    {"binpack",
     "binpack.resources",
     {"nvidia.com/gpu", "\"nvidia.com/gpu, example.com/nic\"", "example.com/nowhere",
      "nvidia.com/gpu"}},
    {"binpack", "binpack.resources.nvidia.com/gpu", {"1", "2", "10", "0"}},
    {"nodeorder", "leastrequested.weight", {"0", "1", "2", "5"}},
    {"nodeorder", "mostrequested.weight", {"0", "1", "2", "5"}},
    {"nodeorder", "balancedresource.weight", {"0", "1", "3", "5"}},
    {"nodeorder", "nodeaffinity.weight", {"0", "1", "2", "5"}},
    {"nodeorder", "tainttoleration.weight", {"0", "1", "3", "5"}},
    {"nodeorder", "podaffinity.weight", {"0", "1", "2", "5"}},
    {"nodeorder", "podtopologyspread.weight", {"0", "1", "2", "5"}},
    {"overcommit", "overcommit-factor", {"1.0", "1.2", "2.5", "0.5"}},
    {"predicates", "predicate.NodeAffinityEnable", {"true", "false", "true", "true"}},
    {"predicates", "predicate.TaintTolerationEnable", {"true", "false", "true", "true"}},
    {"predicates", "predicate.PodAffinityEnable", {"true", "false", "true", "true"}},
    {"predicates", "predicate.PodTopologySpreadEnable", {"true", "false", "true", "true"}},
};

static void add_plugin(struct rng *rng, const char *name, struct plan *plan, struct maar_text *text)
{
    maar_text_addf(text, "  - name: %s\n", name);
    bool ready = true, predicate = true;
    if (rng_chance(rng, 15)) {
        const char *key = RNG_PICK(rng, enable_keys);
        bool value = rng_chance(rng, 20);
        maar_text_addf(text, "    %s: %s\n", key, value ? "true" : "false");
        ready = value || strcmp(key, "enableJobReady") != 0;
        predicate = value || strcmp(key, "enablePredicate") != 0;
    }
    if (!strcmp(name, "gang"))
        plan->gang = ready;
    if (!strcmp(name, "predicates"))
        plan->predicates = predicate;
    bool any = false, neighbours = true;
    for (size_t i = 0; i < sizeof argument_choices / sizeof *argument_choices; i++) {
        const struct argument_choice *choice = &argument_choices[i];
        if (strcmp(choice->plugin, name) != 0 || !rng_chance(rng, 35))
            continue;
        const char *value = RNG_PICK(rng, choice->values);
        maar_text_addf(text, "%s      %s: %s\n", any ? "" : "    arguments:\n", choice->key, value);
        any = true;
        neighbours &= strcmp(value, "false") != 0;
    }
    if (!strcmp(name, "predicates"))
        plan->neighbours = predicate && neighbours;
}

struct plan generate_conf(struct rng *rng)
{
    struct plan plan = {.compatible = rng_chance(rng, 40)};
    struct maar_text text = MAAR_TEXT_INIT;
    const char *actions = RNG_PICK(rng, action_lists);
    maar_text_addf(&text, "actions: \"%s\"\n", actions);
    if (plan.compatible)
        maar_text_add(&text, "compatibility: volcano\n");
    maar_text_add(&text, "tiers:\n");
    const char *order[N_PLUGINS];
    memcpy(order, plugin_names, sizeof order);
    for (size_t i = N_PLUGINS; i-- > 1;) {
        size_t k = rng_below(rng, (uint32_t)i + 1);
        const char *name = order[i];
        order[i] = order[k];
        order[k] = name;
    }
    size_t n_tiers = 1 + rng_below(rng, 3);
    bool whole = rng_chance(rng, 50); /* all nine */
    for (size_t t = 0, at = 0; t < n_tiers; t++) {
        size_t end =
            t + 1 == n_tiers ? N_PLUGINS : at + rng_below(rng, (uint32_t)(N_PLUGINS - at) + 1);
        struct maar_text tier = MAAR_TEXT_INIT;
        for (; at < end; at++)
            if (whole || rng_chance(rng, 75))
                add_plugin(rng, order[at], &plan, &tier);
        if (tier.n > 0)
            maar_text_addf(&text, "- plugins:\n%s", maar_text_get(&tier));
        else
            maar_text_add(&text, "- plugins: []\n");
        maar_text_fini(&tier);
    }
    plan.text = maar_text_steal(&text);
    return plan;
}

/* ---- parts of objects ---- */

static void name_amount(struct amounts *amounts, uint32_t i, int64_t v)
{
    amounts->named |= 1u << i;
    amounts->v[i] = v;
}

/* A request of a pod. */
static struct amounts random_request(struct rng *rng)
{
    static const int64_t cpus[] = {0, 100, 250, 500, 1000, 1000, 2000, 3000, 4000};
    static const int64_t memories[] = {0, 128 * MI, 512 * MI, GI, GI, 2 * GI, 5 * GI, 8 * GI};
    struct amounts request = {0};
    if (rng_chance(rng, 12))
        return request; /* best effort */
    if (rng_chance(rng, 90))
        name_amount(&request, CPU, RNG_PICK(rng, cpus));
    if (rng_chance(rng, 80))
        name_amount(&request, MEMORY, RNG_PICK(rng, memories));
    if (rng_chance(rng, 20))
        name_amount(&request, GPU, rng_below(rng, 3));
    if (rng_chance(rng, 10))
        name_amount(&request, NIC, rng_below(rng, 2));
    if (rng_chance(rng, 2))
        name_amount(&request, NOWHERE, 1);
    if (rng_chance(rng, 1))
        name_amount(&request, CPU, INT64_C(1) << 62);
    return request;
}

static struct amounts random_limits(struct rng *rng, uint32_t percent)
{
    struct amounts limits = {0};
    if (!rng_chance(rng, percent))
        return limits;
    if (rng_chance(rng, 80))
        name_amount(&limits, CPU, 1000 * (int64_t)rng_below(rng, 24));
    if (rng_chance(rng, 50))
        name_amount(&limits, MEMORY, GI * (int64_t)rng_below(rng, 64));
    if (rng_chance(rng, 30))
        name_amount(&limits, GPU, rng_below(rng, 8));
    return limits;
}

static const char *const zones[] = {"a", "b", "c"};
static const char *const disks[] = {"hdd", "ssd"};
static const char *const ranks[] = {"1", "2", "3"};

/* Keys in order: disk, rank, zone. */
static struct labels random_labels(struct rng *rng, uint32_t percent)
{
    struct labels labels = {0};
    if (rng_chance(rng, percent))
        labels.items[labels.n++] = (struct maar_label){"disk", RNG_PICK(rng, disks)};
    if (rng_chance(rng, percent))
        labels.items[labels.n++] = (struct maar_label){"rank", RNG_PICK(rng, ranks)};
    if (rng_chance(rng, percent))
        labels.items[labels.n++] = (struct maar_label){"zone", RNG_PICK(rng, zones)};
    return labels;
}

static const enum maar_taint_effect effects[] = {
    MAAR_EFFECT_NO_SCHEDULE, MAAR_EFFECT_PREFER_NO_SCHEDULE, MAAR_EFFECT_PREFER_NO_SCHEDULE,
    MAAR_EFFECT_NO_EXECUTE};
static const char *const taint_keys[] = {"dedicated", "slow"};
static const char *const taint_values[] = {"batch", "web"};

static struct term random_term(struct rng *rng)
{
    struct term term = {.n = rng_below(rng, 3)};
    for (uint32_t i = 0; i < term.n; i++) {
        struct maar_requirement *r = &term.items[i];
        uint32_t key = rng_below(rng, 3);
        r->key = key == 0 ? "disk" : key == 1 ? "rank" : "zone";
        r->op = (enum maar_operator)rng_below(rng, MAAR_OP_INVALID + (rng_chance(rng, 5) ? 1 : 0));
        r->n_values = r->op == MAAR_OP_IN || r->op == MAAR_OP_NOT_IN ? 1 + rng_below(rng, 2) : 0;
        for (uint32_t k = 0; k < 2; k++)
            term.values[i][k] = key == 0   ? RNG_PICK(rng, disks)
                                : key == 1 ? RNG_PICK(rng, ranks)
                                           : RNG_PICK(rng, zones);
        if (r->op == MAAR_OP_GT || r->op == MAAR_OP_LT) {
            r->key = "rank";
            r->n_values = 1;
            r->number = 1 + (int64_t)rng_below(rng, 3);
            term.values[i][0] = ranks[r->number - 1];
        }
    }
    return term;
}

static void random_wishes(struct rng *rng, struct pod_object *pod)
{
    if (rng_chance(rng, 15))
        pod->selector = random_labels(rng, 40);
    if (rng_chance(rng, 12)) {
        pod->has_required = true;
        pod->n_required = rng_below(rng, 3);
        for (uint32_t i = 0; i < pod->n_required; i++)
            pod->required[i] = random_term(rng);
    }
    if (rng_chance(rng, 15)) {
        pod->n_preferred = 1 + rng_below(rng, 2);
        for (uint32_t i = 0; i < pod->n_preferred; i++) {
            pod->preferred_weights[i] = 1 + (int32_t)rng_below(rng, 100);
            pod->preferred[i] = random_term(rng);
        }
    }
    if (rng_chance(rng, 30)) {
        pod->n_tolerations = 1;
        pod->tolerations[0] = (struct maar_toleration){
            rng_chance(rng, 80) ? RNG_PICK(rng, taint_keys) : "", RNG_PICK(rng, taint_values),
            rng_chance(rng, 50) ? MAAR_TOLERATION_EQUAL : MAAR_TOLERATION_EXISTS,
            rng_chance(rng, 50) ? MAAR_EFFECT_ANY : RNG_PICK(rng, effects)};
        if (!*pod->tolerations[0].key || pod->tolerations[0].op == MAAR_TOLERATION_EXISTS) {
            pod->tolerations[0].op = MAAR_TOLERATION_EXISTS;
            pod->tolerations[0].value = "";
        }
    }
}

/* ---- pod affinity and topology spread ---- */

static const char *const apps[] = {"db", "web"};
static const char *const namespaces[] = {"a", "b"};
static const char *const teams[] = {"blue", "red"};
static const char *const topology_keys[] = {"kubernetes.io/hostname", "kubernetes.io/hostname",
                                            "rank", "zone", "zone"};

/* Mostly by app; sometimes one that matches everything or nothing, or that reads other labels too. */
static struct selector random_selector(struct rng *rng)
{
    struct selector selector = {.is_set = !rng_chance(rng, 4)};
    if (!selector.is_set || rng_chance(rng, 4))
        return selector;
    struct term *term = &selector.term;
    term->items[term->n] = (struct maar_requirement){
        .key = "app",
        .op = rng_chance(rng, 80) ? MAAR_OP_IN
                                  : (enum maar_operator)rng_below(rng, MAAR_OP_DOES_NOT_EXIST + 1)};
    bool names = term->items[term->n].op <= MAAR_OP_NOT_IN;
    term->items[term->n].n_values = names ? 1 + rng_chance(rng, 10) : 0;
    term->values[term->n][0] = RNG_PICK(rng, apps);
    term->values[term->n][1] = RNG_PICK(rng, apps);
    term->n++;
    if (rng_chance(rng, 15)) {
        term->items[term->n] = (struct maar_requirement){
            .key = "disk", .op = rng_chance(rng, 50) ? MAAR_OP_EXISTS : MAAR_OP_DOES_NOT_EXIST};
        term->n++;
    }
    return selector;
}

static struct selector random_namespace_selector(struct rng *rng)
{
    struct selector selector = {.is_set = true};
    if (rng_chance(rng, 25))
        return selector;
    selector.term.n = 1;
    selector.term.items[0] =
        (struct maar_requirement){.key = "team", .op = MAAR_OP_IN, .n_values = 1};
    selector.term.values[0][0] = selector.term.values[0][1] = RNG_PICK(rng, teams);
    return selector;
}

static struct affinity random_affinity(struct rng *rng, bool preferred)
{
    struct affinity affinity = {.n = rng_chance(rng, 80) ? 1 : 2};
    for (uint32_t i = 0; i < affinity.n; i++) {
        struct affinity_term *term = &affinity.terms[i];
        term->weight = preferred ? 1 + (int32_t)rng_below(rng, 100) : 0;
        term->topology_key = RNG_PICK(rng, topology_keys);
        term->selector = random_selector(rng);
        if (rng_chance(rng, 15))
            term->namespaces[term->n_namespaces++] = RNG_PICK(rng, namespaces);
        if (rng_chance(rng, 25))
            term->namespace_selector = random_namespace_selector(rng);
    }
    return affinity;
}

static struct spread random_spread(struct rng *rng)
{
    return (struct spread){
        .max_skew = 1 + (int32_t)rng_below(rng, 3),
        .min_domains = rng_chance(rng, 70) ? 1 : 1 + (int32_t)rng_below(rng, 4),
        .topology_key = RNG_PICK(rng, topology_keys),
        .hard = rng_chance(rng, 60),
        .honor_affinity = rng_chance(rng, 70),
        .honor_taints = rng_chance(rng, 30),
        .selector = random_selector(rng),
    };
}

/* Only in some clusters: without them placing takes ways of its own. */
static void random_neighbours(struct rng *rng, struct pod_object *pod)
{
    static const uint32_t percents[] = {12, 22, 15, 15};
    for (uint32_t k = 0; k < N_AFFINITY_LISTS; k++)
        if (rng_chance(rng, percents[k]))
            pod->affinity[k] = random_affinity(rng, k >= PREFERRED_AFFINITY);
    if (rng_chance(rng, 30)) {
        pod->n_spread = rng_chance(rng, 80) ? 1 : 2;
        for (uint32_t i = 0; i < pod->n_spread; i++)
            pod->spread[i] = random_spread(rng);
    }
    if (rng_chance(rng, 75))
        pod->labels.items[pod->labels.n++] = (struct maar_label){"app", RNG_PICK(rng, apps)};
}

/* ---- nodes ---- */

static void random_room(struct rng *rng, struct node_object *node)
{
    static const int64_t pods[] = {110, 110, 20, 8, 4, 1, 0};
    node->allocatable = (struct amounts){0};
    name_amount(&node->allocatable, CPU, 500 * (1 + (int64_t)rng_below(rng, 24)));
    name_amount(&node->allocatable, MEMORY, GI * (1 + (int64_t)rng_below(rng, 32)));
    name_amount(&node->allocatable, PODS, RNG_PICK(rng, pods));
    if (rng_chance(rng, 40))
        name_amount(&node->allocatable, GPU, rng_below(rng, 9));
    if (rng_chance(rng, 25))
        name_amount(&node->allocatable, NIC, rng_below(rng, 3));
}

/* Nearly every node has its own host name. */
static void add_host_name(struct rng *rng, struct object *object)
{
    struct labels *labels = &object->node.labels;
    uint32_t at = labels->n > 0 && !strcmp(labels->items[0].key, "disk") ? 1 : 0;
    if (rng_chance(rng, 5))
        return;
    memmove(&labels->items[at + 1], &labels->items[at], (labels->n - at) * sizeof *labels->items);
    labels->items[at] =
        (struct maar_label){"kubernetes.io/hostname", rng_chance(rng, 95) ? object->name : "n0"};
    labels->n++;
}

static void random_facts(struct rng *rng, struct object *object)
{
    struct node_object *node = &object->node;
    node->labels = random_labels(rng, 60);
    node->images = rng_below(rng, 1u << N_IMAGES);
    add_host_name(rng, object);
    node->n_taints = rng_chance(rng, 25) ? 1 + rng_below(rng, 2) : 0;
    for (uint32_t i = 0; i < node->n_taints; i++)
        node->taints[i] = (struct maar_taint){RNG_PICK(rng, taint_keys),
                                              RNG_PICK(rng, taint_values), RNG_PICK(rng, effects)};
    node->unschedulable = rng_chance(rng, 6);
    node->ready = !rng_chance(rng, 6);
}

static struct object *add_node(struct cluster *cluster, struct rng *rng, uint32_t number)
{
    char name[16];
    snprintf(name, sizeof name, "n%u", number);
    struct object *object =
        cluster_add(cluster, MAAR_KIND_NODE, "", name, (int64_t)rng_below(rng, 3));
    random_room(rng, &object->node);
    random_facts(rng, object);
    if (rng_chance(rng, 1))
        object->fault = "status.allocatable.cpu: cannot be read";
    return object;
}

/* ---- queues and priority classes ---- */

static const char *const queue_names[] = {"default", "q1", "q2", "q3", "root"};
static const char *const class_names[] = {"high", "low", "middle"};

static void random_queue(struct rng *rng, struct object *object)
{
    struct queue_object *queue = &object->queue;
    static const enum maar_queue_state states[] = {
        MAAR_QUEUE_OPEN,   MAAR_QUEUE_OPEN,    MAAR_QUEUE_OPEN,    MAAR_QUEUE_OPEN,
        MAAR_QUEUE_CLOSED, MAAR_QUEUE_CLOSING, MAAR_QUEUE_UNKNOWN, MAAR_QUEUE_NONE};
    queue->weight = (int32_t)rng_below(rng, 6);
    queue->priority = rng_chance(rng, 25) ? (int32_t)rng_below(rng, 5) : 0;
    queue->reclaimable = rng_chance(rng, 80);
    queue->state = RNG_PICK(rng, states);
    static const enum maar_dequeue_strategy strategies[] = {
        MAAR_DEQUEUE_TRAVERSE, MAAR_DEQUEUE_TRAVERSE, MAAR_DEQUEUE_TRAVERSE, MAAR_DEQUEUE_FIFO,
        MAAR_DEQUEUE_FIFO_PER_RESOURCE};
    queue->dequeue = RNG_PICK(rng, strategies);
    snprintf(queue->parent, sizeof queue->parent, "%s",
             rng_chance(rng, 50) ? "" : RNG_PICK(rng, queue_names));
    queue->capability = random_limits(rng, 30);
    queue->deserved = random_limits(rng, 20);
    queue->guarantee = random_limits(rng, 15);
    object->fault = rng_chance(rng, 1) ? "spec.capability.cpu: cannot be read" : "";
}

static struct object *add_queue(struct cluster *cluster, struct rng *rng, const char *name)
{
    struct object *object =
        cluster_add(cluster, MAAR_KIND_QUEUE, "", name, (int64_t)rng_below(rng, 3));
    if (!strcmp(name, "root")) {
        object->queue.weight = 1;
        object->queue.state = MAAR_QUEUE_OPEN;
    } else {
        random_queue(rng, object);
    }
    return object;
}

static void random_class(struct rng *rng, struct object *object)
{
    object->cls.value = (int32_t)rng_below(rng, 5) * 10 - 10;
    object->cls.global_default = rng_chance(rng, 25);
}

static void random_namespace(struct rng *rng, struct object *object)
{
    object->space = (struct labels){0};
    if (rng_chance(rng, 80))
        object->space.items[object->space.n++] = (struct maar_label){"team", RNG_PICK(rng, teams)};
}

/* ---- groups and pods ---- */

static const char *const role_names[] = {"head", "worker"};

static void random_group(struct rng *rng, struct group_object *group, uint32_t n_pods)
{
    snprintf(group->queue, sizeof group->queue, "%s",
             rng_chance(rng, 5) ? "" : RNG_PICK(rng, queue_names));
    group->priority_class = rng_chance(rng, 50) ? "" : RNG_PICK(rng, class_names);
    static const int32_t odd[] = {0, -1, 1, 7};
    group->min = rng_chance(rng, 70)   ? (int32_t)n_pods
                 : rng_chance(rng, 70) ? (int32_t)rng_below(rng, n_pods + 2)
                                       : RNG_PICK(rng, odd);
    group->sub_group_size = rng_chance(rng, 25) ? 1 + (int32_t)rng_below(rng, 3) : 0;
    group->min_sub_groups = (int32_t)rng_below(rng, 3);
    group->n_roles = 0;
    if (rng_chance(rng, 25)) {
        group->n_roles = 1 + rng_below(rng, 2);
        for (uint32_t i = 0; i < group->n_roles; i++)
            group->roles[i] = (struct maar_role_min){role_names[i], (int32_t)rng_below(rng, 3)};
    }
    group->has_min_resources = rng_chance(rng, 60);
    group->min_resources = (struct amounts){0};
    if (group->has_min_resources) {
        name_amount(&group->min_resources, CPU, 500 * (int64_t)rng_below(rng, 20));
        if (rng_chance(rng, 60))
            name_amount(&group->min_resources, MEMORY, GI * (int64_t)rng_below(rng, 16));
        if (rng_chance(rng, 15))
            name_amount(&group->min_resources, GPU, rng_below(rng, 4));
    }
}

/* Behind those that are there; keys in order. */
static void add_labels(struct labels *labels, struct labels more)
{
    for (uint32_t i = 0; i < more.n; i++)
        labels->items[labels->n++] = more.items[i];
}

static struct object *add_pod(struct cluster *cluster, struct rng *rng, const struct object *group,
                              const struct pod_object *template, uint32_t number, int64_t created_s)
{
    char name[32];
    const char *role = rng_chance(rng, 60) ? RNG_PICK(rng, role_names) : "";
    snprintf(name, sizeof name, rng_chance(rng, 80) ? "%.12s-%.6s-%u" : "%.12s%.6s%u", group->name,
             *role ? role : "t", number);
    struct object *object = cluster_add(cluster, MAAR_KIND_POD, group->ns, name, created_s);
    object->pod = *template;
    object->pod.role = role;
    snprintf(object->pod.group, sizeof object->pod.group, "%s", group->name);
    if (rng_chance(rng, 20)) {
        object->pod.has_priority = true;
        object->pod.priority = (int32_t)rng_below(rng, 4) * 10;
    }
    if (rng_chance(rng, 5)) {
        object->pod.has_task_priority = true;
        object->pod.task_priority = (int32_t)rng_below(rng, 10);
    }
    if (rng_chance(rng, 5)) {
        object->pod.n_gates = 1 + rng_below(rng, 2);
        object->pod.only_queue_gate = object->pod.n_gates == 1 && rng_chance(rng, 60);
        object->pod.asks_queue_gate = rng_chance(rng, 80);
    }
    if (rng_chance(rng, 40))
        object->pod.image = image_names[rng_below(rng, N_IMAGES)];
    if (rng_chance(rng, NOMINATED_PERCENT))
        snprintf(object->pod.nominated, sizeof object->pod.nominated, "n%u", rng_below(rng, 6));
    add_labels(&object->pod.labels, random_labels(rng, 20));
    if (rng_chance(rng, 1))
        object->fault = "spec.containers[0].resources.requests.cpu: cannot be read";
    return object;
}

/* It got a node by an earlier decision; whether it fits there is nobody's concern any more. */
static void give_node(struct cluster *cluster, struct rng *rng, struct object *object)
{
    const struct object *node = cluster_pick(cluster, MAAR_KIND_NODE, rng);
    struct pod_object *pod = &object->pod;
    snprintf(pod->node, sizeof pod->node, "%s",
             node && !rng_chance(rng, 3) ? node->name : "n-gone");
    pod->n_gates = 0;
    pod->only_queue_gate = false;
    static const enum maar_pod_phase phases[] = {
        MAAR_POD_RUNNING,   MAAR_POD_RUNNING, MAAR_POD_RUNNING, MAAR_POD_PENDING,
        MAAR_POD_SUCCEEDED, MAAR_POD_FAILED,  MAAR_POD_UNKNOWN};
    pod->phase = RNG_PICK(rng, phases);
    pod->deleting = rng_chance(rng, 20);
}

static struct pod_object random_template(const struct cluster *cluster, struct rng *rng)
{
    struct pod_object template = {.scheduler = "volcano", .request = random_request(rng)};
    random_wishes(rng, &template);
    if (cluster->has_neighbours)
        random_neighbours(rng, &template);
    return template;
}

static void add_group(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    char name[24];
    snprintf(name, sizeof name, "j%u", cluster->next_uid);
    int64_t created = 10 + (int64_t)rng_below(rng, 4);
    struct object *object =
        cluster_add(cluster, MAAR_KIND_POD_GROUP, RNG_PICK(rng, namespaces), name, created);
    uint32_t n = rng_chance(rng, 2) ? 60 + rng_below(rng, 40) : rng_below(rng, 7);
    static const enum maar_phase phases[] = {
        MAAR_PHASE_NONE,    MAAR_PHASE_PENDING, MAAR_PHASE_INQUEUE,  MAAR_PHASE_INQUEUE,
        MAAR_PHASE_RUNNING, MAAR_PHASE_UNKNOWN, MAAR_PHASE_COMPLETED};
    random_group(rng, &object->group, n);
    object->group.phase = RNG_PICK(rng, phases);
    object->fault = rng_chance(rng, 1) ? "spec.minResources.cpu: cannot be read" : "";
    if (news)
        news(context, object, false);
    struct pod_object template = random_template(cluster, rng);
    bool runs = rng_chance(rng, 25), mixed = rng_chance(rng, 30);
    for (uint32_t i = 0; i < n; i++) {
        if (mixed)
            template = random_template(cluster, rng);
        int64_t pod_created = created + (int64_t)rng_below(rng, 2);
        struct object *pod = add_pod(cluster, rng, object, &template, i, pod_created);
        if (runs && rng_chance(rng, 70))
            give_node(cluster, rng, pod);
        if (news)
            news(context, pod, false);
    }
}

/* A pod of another scheduler, or one of ours that names no group or one that is not there. */
static struct object *add_stray(struct cluster *cluster, struct rng *rng)
{
    char name[24];
    snprintf(name, sizeof name, "s%u", cluster->next_uid);
    struct object *object = cluster_add(cluster, MAAR_KIND_POD, RNG_PICK(rng, namespaces), name,
                                        10 + (int64_t)rng_below(rng, 4));
    struct pod_object *pod = &object->pod;
    pod->scheduler = rng_chance(rng, 60) ? "default-scheduler" : "volcano";
    pod->role = "";
    pod->request = random_request(rng);
    if (cluster->has_neighbours)
        random_neighbours(rng, pod);
    if (rng_chance(rng, 30))
        snprintf(pod->group, sizeof pod->group, "%s", rng_chance(rng, 50) ? "nobody" : "j3");
    if (rng_chance(rng, 70))
        give_node(cluster, rng, object);
    return object;
}

void generate_cluster(struct cluster *cluster, struct rng *rng)
{
    uint32_t n_nodes = rng_chance(rng, 2) ? 60 + rng_below(rng, 10) : rng_below(rng, 9);
    for (uint32_t i = 0; i < n_nodes; i++)
        add_node(cluster, rng, i);
    for (size_t i = 0; i < sizeof queue_names / sizeof *queue_names; i++)
        if (rng_chance(rng, strcmp(queue_names[i], "root") != 0 ? 85 : 70))
            add_queue(cluster, rng, queue_names[i]);
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
        if (rng_chance(rng, 75))
            random_class(rng,
                         cluster_add(cluster, MAAR_KIND_PRIORITY_CLASS, "", class_names[i], 0));
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (rng_chance(rng, 70))
            random_namespace(rng, cluster_add(cluster, MAAR_KIND_NAMESPACE, "", namespaces[i], 0));
    cluster->has_neighbours = rng_chance(rng, 60);
    uint32_t n_groups = rng_below(rng, 7), n_strays = rng_below(rng, 4);
    for (uint32_t i = 0; i < n_groups; i++)
        add_group(cluster, rng, NULL, NULL);
    for (uint32_t i = 0; i < n_strays; i++)
        add_stray(cluster, rng);
    uint32_t late = rng_chance(rng, 40) ? 15 : 0;
    for (size_t i = 0; i < cluster->objects.n; i++)
        cluster->objects.data[i]->withheld = rng_chance(rng, late);
}

/* ---- changes ---- */

void generate_end(struct cluster *cluster, struct object *object, news_fn news, void *context)
{
    cluster_take(cluster, object);
    if (!object->withheld)
        news(context, object, true);
    object_free(object);
}

static struct object *pick_pod(const struct cluster *cluster, struct rng *rng, bool with_node)
{
    for (int tries = 0; tries < 8; tries++) {
        struct object *object = cluster_pick(cluster, MAAR_KIND_POD, rng);
        if (object && (*object->pod.node != '\0') == with_node)
            return object;
    }
    return NULL;
}

static bool release(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    size_t n = cluster->objects.n, start = n ? rng_below(rng, (uint32_t)n) : 0;
    for (size_t i = 0; i < n; i++) {
        struct object *object = cluster->objects.data[(start + i) % n];
        if (!object->withheld)
            continue;
        object->withheld = false;
        news(context, object, false);
        return true;
    }
    return false;
}

static void change_pod(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    bool with_node = rng_chance(rng, 70);
    struct object *object = pick_pod(cluster, rng, with_node);
    if (!object)
        return;
    struct pod_object *pod = &object->pod;
    uint32_t what = rng_below(rng, 10);
    if (with_node && pod->deleting && what < 5) {
        generate_end(cluster, object, news, context);
        return;
    }
    if (!with_node && what < 2) {
        generate_end(cluster, object, news, context);
        return;
    }
    if (with_node && what < 5) {
        pod->phase = pod->phase == MAAR_POD_PENDING ? MAAR_POD_RUNNING
                     : rng_chance(rng, 70)          ? MAAR_POD_SUCCEEDED
                                                    : MAAR_POD_FAILED;
    } else if (with_node && what < 8) {
        pod->deleting = true;
    } else if (what == 8) {
        pod->labels = (struct labels){0};
        if (rng_chance(rng, 60))
            pod->labels.items[pod->labels.n++] = (struct maar_label){"app", RNG_PICK(rng, apps)};
        add_labels(&pod->labels, random_labels(rng, 40));
    } else if (what == 9 && !with_node) {
        pod->n_gates = 0;
        pod->only_queue_gate = false;
    }
    /* Else news without news. */
    news(context, object, false);
}

static void change_node(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    struct object *object = cluster_pick(cluster, MAAR_KIND_NODE, rng);
    uint32_t what = rng_below(rng, 10);
    if (!object || what == 0) {
        uint32_t number = rng_below(rng, 12);
        char name[16];
        snprintf(name, sizeof name, "n%u", number);
        if (!cluster_find(cluster, MAAR_KIND_NODE, "", name))
            news(context, add_node(cluster, rng, number), false);
        return;
    }
    if (what == 1) {
        generate_end(cluster, object, news, context);
        return;
    }
    if (what < 4)
        random_room(rng, &object->node);
    else if (what == 4)
        object->node.images = rng_below(rng, 1u << N_IMAGES);
    else if (what < 8)
        random_facts(rng, object);
    else if (what == 8)
        object->fault = *object->fault || rng_chance(rng, 80) ? "" : "cannot be read";
    news(context, object, false);
}

/* The group goes and another of its name comes. */
static void renew_group(struct cluster *cluster, struct rng *rng, struct object *old, news_fn news,
                        void *context)
{
    char ns[8], name[24];
    memcpy(ns, old->ns, sizeof ns);
    memcpy(name, old->name, sizeof name);
    generate_end(cluster, old, news, context);
    struct object *object = cluster_add(cluster, MAAR_KIND_POD_GROUP, ns, name, 15);
    random_group(rng, &object->group, 1 + rng_below(rng, 4));
    news(context, object, false);
}

static void change_group(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    struct object *object = cluster_pick(cluster, MAAR_KIND_POD_GROUP, rng);
    uint32_t what = rng_below(rng, 10);
    if (!object || what < 3) {
        add_group(cluster, rng, news, context);
        return;
    }
    if (what == 3) {
        generate_end(cluster, object, news, context);
        return;
    }
    if (what == 4) {
        renew_group(cluster, rng, object, news, context);
        return;
    }
    if (what < 8)
        random_group(rng, &object->group, 1 + rng_below(rng, 5));
    news(context, object, false);
}

static void change_queue(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    struct object *object = cluster_pick(cluster, MAAR_KIND_QUEUE, rng);
    uint32_t what = rng_below(rng, 10);
    if (!object || what < 2) {
        const char *name = RNG_PICK(rng, queue_names);
        if (!cluster_find(cluster, MAAR_KIND_QUEUE, "", name))
            news(context, add_queue(cluster, rng, name), false);
        return;
    }
    if (what == 2) {
        generate_end(cluster, object, news, context);
        return;
    }
    if (strcmp(object->name, "root") != 0)
        random_queue(rng, object);
    news(context, object, false);
}

static void change_class(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    struct object *object = cluster_pick(cluster, MAAR_KIND_PRIORITY_CLASS, rng);
    if (!object || rng_chance(rng, 20)) {
        const char *name = RNG_PICK(rng, class_names);
        if (cluster_find(cluster, MAAR_KIND_PRIORITY_CLASS, "", name))
            return;
        object = cluster_add(cluster, MAAR_KIND_PRIORITY_CLASS, "", name, 0);
    } else if (rng_chance(rng, 20)) {
        generate_end(cluster, object, news, context);
        return;
    }
    random_class(rng, object);
    news(context, object, false);
}

static void change_namespace(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    struct object *object = cluster_pick(cluster, MAAR_KIND_NAMESPACE, rng);
    if (!object || rng_chance(rng, 20)) {
        const char *name = RNG_PICK(rng, namespaces);
        if (cluster_find(cluster, MAAR_KIND_NAMESPACE, "", name))
            return;
        object = cluster_add(cluster, MAAR_KIND_NAMESPACE, "", name, 0);
    } else if (rng_chance(rng, 15)) {
        generate_end(cluster, object, news, context);
        return;
    }
    random_namespace(rng, object);
    news(context, object, false);
}

void generate_change(struct cluster *cluster, struct rng *rng, news_fn news, void *context)
{
    uint32_t what = rng_below(rng, 21);
    if (what < 3 && release(cluster, rng, news, context))
        return;
    if (what < 11)
        change_pod(cluster, rng, news, context);
    else if (what < 14)
        change_node(cluster, rng, news, context);
    else if (what < 17)
        change_group(cluster, rng, news, context);
    else if (what < 18)
        change_queue(cluster, rng, news, context);
    else if (what < 19)
        change_class(cluster, rng, news, context);
    else if (what < 20)
        change_namespace(cluster, rng, news, context);
    else
        news(context, add_stray(cluster, rng), false);
}
