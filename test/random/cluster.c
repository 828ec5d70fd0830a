/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The objects of a test cluster, and the records made of them. */

#include "cluster.h"

#include <stdio.h>

#include "base/clock.h"

const char *const amount_names[N_AMOUNTS] = {
    "cpu", "memory", "pods", "nvidia.com/gpu", "example.com/nic", "example.com/nowhere"};

/* 2026-01-01T00:00:00Z */
#define EPOCH_S INT64_C(1767225600)

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
    return (uint32_t)(rng_next(rng) % n);
}

bool rng_chance(struct rng *rng, uint32_t percent)
{
    return rng_below(rng, 100) < percent;
}

/* ---- objects ---- */

void object_free(struct object *object)
{
    if (object->kind == MAAR_KIND_POD) {
        free(object->pod.condition_reason);
        free(object->pod.condition_message);
    } else if (object->kind == MAAR_KIND_POD_GROUP) {
        for (uint32_t i = 0; i < object->group.n_conditions; i++)
            free(object->group.conditions[i].message);
    }
    free(object);
}

void cluster_fini(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->objects.n; i++)
        object_free(cluster->objects.data[i]);
    maar_vec_fini(&cluster->objects);
}

struct object *cluster_add(struct cluster *cluster, enum maar_kind kind, const char *ns,
                           const char *name, int64_t created_s)
{
    struct object *object = maar_calloc(1, sizeof *object);
    object->kind = kind;
    object->fault = "";
    snprintf(object->ns, sizeof object->ns, "%s", ns);
    snprintf(object->name, sizeof object->name, "%s", name);
    /* Running numbers in an order unlike that of the names. */
    snprintf(object->uid, sizeof object->uid, "%08x-%04u",
             (unsigned)(cluster->next_uid * UINT32_C(2654435761)), cluster->next_uid);
    cluster->next_uid++;
    object->created_ns = (EPOCH_S + created_s) * MAAR_SECOND_NS;
    maar_vec_push(&cluster->objects, object);
    return object;
}

void cluster_take(struct cluster *cluster, struct object *object)
{
    for (size_t i = 0; i < cluster->objects.n; i++) {
        if (cluster->objects.data[i] == object) {
            maar_vec_remove(&cluster->objects, i);
            return;
        }
    }
}

struct object *cluster_find(const struct cluster *cluster, enum maar_kind kind, const char *ns,
                            const char *name)
{
    for (size_t i = 0; i < cluster->objects.n; i++) {
        struct object *object = cluster->objects.data[i];
        if (object->kind == kind && !strcmp(object->ns, ns) && !strcmp(object->name, name))
            return object;
    }
    return NULL;
}

struct object *cluster_find_uid(const struct cluster *cluster, const char *uid)
{
    for (size_t i = 0; i < cluster->objects.n; i++)
        if (!strcmp(cluster->objects.data[i]->uid, uid))
            return cluster->objects.data[i];
    return NULL;
}

struct object *cluster_pick(const struct cluster *cluster, enum maar_kind kind, struct rng *rng)
{
    uint32_t n = 0;
    for (size_t i = 0; i < cluster->objects.n; i++)
        n += cluster->objects.data[i]->kind == kind && !cluster->objects.data[i]->withheld;
    if (n == 0)
        return NULL;
    uint32_t k = rng_below(rng, n);
    for (size_t i = 0; i < cluster->objects.n; i++) {
        struct object *object = cluster->objects.data[i];
        if (object->kind == kind && !object->withheld && k-- == 0)
            return object;
    }
    return NULL;
}

/* ---- records ---- */

static struct maar_amounts_record make_amounts(struct maar_arena *arena, const struct amounts *from)
{
    struct maar_amounts_record to = {0, maar_arena_calloc(arena, N_AMOUNTS, sizeof *to.items)};
    for (uint32_t i = 0; i < N_AMOUNTS; i++)
        if ((from->named >> i) & 1)
            to.items[to.n++] = (struct maar_amount){amount_names[i], from->v[i]};
    return to;
}

static struct maar_label *make_labels(struct maar_arena *arena, const struct labels *from)
{
    struct maar_label *to = maar_arena_calloc(arena, from->n + 1, sizeof *to);
    for (uint32_t i = 0; i < from->n; i++)
        to[i] =
            (struct maar_label){from->items[i].key, maar_arena_strdup(arena, from->items[i].value)};
    return to;
}

static struct maar_selector_term make_term(struct maar_arena *arena, const struct term *from)
{
    struct maar_requirement *items = maar_arena_calloc(arena, from->n + 1, sizeof *items);
    for (uint32_t i = 0; i < from->n; i++) {
        items[i] = from->items[i];
        const char **values = maar_arena_calloc(arena, 2, sizeof *values);
        memcpy(values, from->values[i], sizeof from->values[i]);
        items[i].values = values;
    }
    return (struct maar_selector_term){from->n, items};
}

static struct maar_label_selector make_selector(struct maar_arena *arena,
                                                const struct selector *from)
{
    struct maar_selector_term term = make_term(arena, &from->term);
    return (struct maar_label_selector){from->is_set, term.n_requirements, term.requirements};
}

/* As wire/ reads it: the pod's own namespace where the term names none. */
static struct maar_affinity_terms make_affinity(struct maar_record *record,
                                                const struct affinity *from)
{
    struct maar_arena *arena = record->arena;
    struct maar_affinity_term *to = maar_arena_calloc(arena, from->n + 1, sizeof *to);
    for (uint32_t i = 0; i < from->n; i++) {
        const struct affinity_term *term = &from->terms[i];
        const char **namespaces = maar_arena_calloc(arena, 2, sizeof *namespaces);
        memcpy(namespaces, term->namespaces, sizeof term->namespaces);
        bool own = term->n_namespaces == 0 && !term->namespace_selector.is_set;
        if (own)
            namespaces[0] = record->ns;
        to[i] = (struct maar_affinity_term){.weight = term->weight,
                                            .topology_key = term->topology_key,
                                            .selector = make_selector(arena, &term->selector),
                                            .n_namespaces = own ? 1 : term->n_namespaces,
                                            .namespaces = namespaces,
                                            .namespace_selector =
                                                make_selector(arena, &term->namespace_selector)};
    }
    return (struct maar_affinity_terms){from->n, to};
}

static void make_spread(struct maar_record *record, const struct pod_object *from)
{
    struct maar_spread_constraint *to =
        maar_arena_calloc(record->arena, from->n_spread + 1, sizeof *to);
    for (uint32_t i = 0; i < from->n_spread; i++) {
        const struct spread *spread = &from->spread[i];
        to[i] = (struct maar_spread_constraint){
            .max_skew = spread->max_skew,
            .min_domains = spread->min_domains,
            .topology_key = spread->topology_key,
            .hard = spread->hard,
            .honor_affinity = spread->honor_affinity,
            .honor_taints = spread->honor_taints,
            .selector = make_selector(record->arena, &spread->selector)};
    }
    record->pod.spec.n_spread = from->n_spread;
    record->pod.spec.spread = to;
}

const char *const image_names[N_IMAGES] = {"a:1", "b:1", "c:1"};

static void make_images(struct maar_record *record, uint32_t images)
{
    struct maar_node_record *node = &record->node;
    node->images = maar_arena_calloc(record->arena, N_IMAGES, sizeof *node->images);
    for (uint32_t i = 0; i < N_IMAGES; i++)
        if ((images >> i) & 1)
            node->images[node->n_images++] =
                (struct maar_image_record){image_names[i], INT64_C(1200) << 20};
}

static void make_node(struct maar_record *record, const struct node_object *from)
{
    struct maar_node_record *node = &record->node;
    node->n_labels = from->labels.n;
    node->labels = make_labels(record->arena, &from->labels);
    node->n_taints = from->n_taints;
    node->taints = maar_arena_calloc(record->arena, 2, sizeof *node->taints);
    memcpy(node->taints, from->taints, sizeof from->taints);
    node->unschedulable = from->unschedulable;
    node->ready = from->ready;
    node->allocatable = make_amounts(record->arena, &from->allocatable);
    make_images(record, from->images);
}

static void make_group(struct maar_record *record, const struct group_object *from)
{
    struct maar_pod_group_record *group = &record->pod_group;
    struct maar_arena *arena = record->arena;
    group->queue = maar_arena_strdup(arena, from->queue);
    group->priority_class = from->priority_class;
    group->min_member = from->min;
    group->n_min_task = from->n_roles;
    group->min_task = maar_arena_calloc(arena, 2, sizeof *group->min_task);
    memcpy(group->min_task, from->roles, sizeof from->roles);
    if (from->sub_group_size > 0) {
        static const char *const keys[] = {"app"};
        group->n_sub_groups = 1;
        group->sub_groups = maar_arena_calloc(arena, 1, sizeof *group->sub_groups);
        group->sub_groups[0] = (struct maar_sub_group_record){.name = "by-app",
                                                              .size = from->sub_group_size,
                                                              .min = from->min_sub_groups,
                                                              .n_match_keys = 1,
                                                              .match_keys = keys};
    }
    group->has_min_resources = from->has_min_resources;
    group->min_resources = make_amounts(arena, &from->min_resources);
    group->phase = from->phase;
    group->running = from->running;
    group->succeeded = from->succeeded;
    group->failed = from->failed;
    group->n_conditions = from->n_conditions;
    group->conditions = maar_arena_calloc(arena, 2, sizeof *group->conditions);
    for (uint32_t i = 0; i < from->n_conditions; i++)
        group->conditions[i] = (struct maar_condition_record){
            .type = maar_arena_strdup(arena, from->conditions[i].type),
            .status = maar_arena_strdup(arena, from->conditions[i].status),
            .reason = maar_arena_strdup(arena, from->conditions[i].reason),
            .message = maar_arena_strdup(arena, from->conditions[i].message),
            .transition_id = ""};
}

static void make_spec(struct maar_record *record, const struct pod_object *from)
{
    struct maar_pod_spec *spec = &record->pod.spec;
    struct maar_arena *arena = record->arena;
    spec->scheduler_name = from->scheduler;
    spec->images =
        memcpy(maar_arena_alloc(arena, sizeof from->image), &from->image, sizeof from->image);
    spec->n_images = from->image != NULL;
    spec->n_node_selector = from->selector.n;
    spec->node_selector = make_labels(arena, &from->selector);
    spec->has_required_affinity = from->has_required;
    spec->n_required = from->n_required;
    struct maar_selector_term *required = maar_arena_calloc(arena, 2, sizeof *required);
    for (uint32_t i = 0; i < from->n_required; i++)
        required[i] = make_term(arena, &from->required[i]);
    spec->required = required;
    spec->n_preferred = from->n_preferred;
    struct maar_preferred_term *preferred = maar_arena_calloc(arena, 2, sizeof *preferred);
    for (uint32_t i = 0; i < from->n_preferred; i++)
        preferred[i] = (struct maar_preferred_term){from->preferred_weights[i],
                                                    make_term(arena, &from->preferred[i])};
    spec->preferred = preferred;
    spec->n_tolerations = from->n_tolerations;
    struct maar_toleration *tolerations = maar_arena_calloc(arena, 2, sizeof *tolerations);
    memcpy(tolerations, from->tolerations, sizeof from->tolerations);
    spec->tolerations = tolerations;
    spec->pod_affinity_required = make_affinity(record, &from->affinity[AFFINITY]);
    spec->pod_affinity_preferred = make_affinity(record, &from->affinity[PREFERRED_AFFINITY]);
    spec->pod_anti_affinity_required = make_affinity(record, &from->affinity[ANTI_AFFINITY]);
    spec->pod_anti_affinity_preferred =
        make_affinity(record, &from->affinity[PREFERRED_ANTI_AFFINITY]);
    make_spread(record, from);
}

static void make_pod(struct maar_record *record, const struct pod_object *from)
{
    struct maar_pod_record *pod = &record->pod;
    struct maar_arena *arena = record->arena;
    pod->node_name = maar_arena_strdup(arena, from->node);
    pod->nominated_node = maar_arena_strdup(arena, from->nominated);
    pod->group = maar_arena_strdup(arena, from->group);
    pod->role = from->role;
    pod->phase = from->phase;
    pod->deleting = from->deleting;
    pod->has_priority = from->has_priority;
    pod->priority = from->priority;
    pod->has_task_priority = from->has_task_priority;
    pod->task_priority = from->task_priority;
    pod->preemptable = true;
    pod->n_gates = from->n_gates;
    pod->only_queue_gate = from->only_queue_gate;
    pod->asks_queue_gate = from->asks_queue_gate;
    pod->n_labels = from->labels.n;
    pod->labels = make_labels(arena, &from->labels);
    pod->n_containers = 1;
    pod->containers = maar_arena_calloc(arena, 1, sizeof *pod->containers);
    pod->containers[0].requests = make_amounts(arena, &from->request);
    make_spec(record, from);
    if (from->condition_reason) {
        pod->scheduled_condition.type = "PodScheduled";
        pod->scheduled_condition.status = "False";
        pod->scheduled_condition.reason = maar_arena_strdup(arena, from->condition_reason);
        pod->scheduled_condition.message = maar_arena_strdup(arena, from->condition_message);
    }
}

static void make_queue(struct maar_record *record, const struct queue_object *from)
{
    struct maar_queue_record *queue = &record->queue;
    queue->weight = from->weight;
    queue->priority = from->priority;
    queue->reclaimable = from->reclaimable;
    queue->state = from->state;
    queue->dequeue_strategy = from->dequeue;
    queue->parent = maar_arena_strdup(record->arena, from->parent);
    queue->capability = make_amounts(record->arena, &from->capability);
    queue->deserved = make_amounts(record->arena, &from->deserved);
    queue->guarantee = make_amounts(record->arena, &from->guarantee);
    queue->allocated = make_amounts(record->arena, &from->allocated);
}

struct maar_record *object_record(const struct object *object)
{
    struct maar_record *record = maar_record_create(object->kind);
    record->ns = maar_arena_strdup(record->arena, object->ns);
    record->name = maar_arena_strdup(record->arena, object->name);
    record->uid = maar_arena_strdup(record->arena, object->uid);
    record->created_ns = object->created_ns;
    record->fault = object->fault;
    switch (object->kind) {
    case MAAR_KIND_NODE:
        make_node(record, &object->node);
        break;
    case MAAR_KIND_POD_GROUP:
        make_group(record, &object->group);
        break;
    case MAAR_KIND_POD:
        make_pod(record, &object->pod);
        break;
    case MAAR_KIND_QUEUE:
        make_queue(record, &object->queue);
        break;
    case MAAR_KIND_PRIORITY_CLASS:
        record->priority_class.value = object->cls.value;
        record->priority_class.global_default = object->cls.global_default;
        break;
    case MAAR_KIND_NAMESPACE:
        record->space.n_labels = object->space.n;
        record->space.labels = make_labels(record->arena, &object->space);
        break;
    case MAAR_N_KINDS:
        break;
    }
    return record;
}

/* ---- writes ---- */

static struct object *write_group(struct object *object, const struct maar_write *write)
{
    struct group_object *group = &object->group;
    group->phase = write->pod_group_status.phase;
    group->running = write->pod_group_status.running;
    group->succeeded = write->pod_group_status.succeeded;
    group->failed = write->pod_group_status.failed;
    if (!write->pod_group_status.has_condition)
        return object;
    const struct maar_condition_record *from = &write->pod_group_status.condition;
    uint32_t i = 0;
    while (i < group->n_conditions && strcmp(group->conditions[i].type, from->type) != 0)
        i++;
    if (i == sizeof group->conditions / sizeof *group->conditions)
        return object;
    if (i == group->n_conditions)
        group->n_conditions++;
    snprintf(group->conditions[i].type, sizeof group->conditions[i].type, "%s", from->type);
    snprintf(group->conditions[i].status, sizeof group->conditions[i].status, "%s", from->status);
    snprintf(group->conditions[i].reason, sizeof group->conditions[i].reason, "%s", from->reason);
    free(group->conditions[i].message);
    group->conditions[i].message = maar_strdup(from->message);
    return object;
}

static struct object *write_queue(struct object *object, const struct maar_write *write)
{
    const struct maar_amounts_record *from = &write->queue_status.allocated;
    object->queue.allocated = (struct amounts){0};
    for (uint32_t k = 0; k < from->n; k++) {
        for (uint32_t i = 0; i < N_AMOUNTS; i++) {
            if (strcmp(from->items[k].name, amount_names[i]) != 0)
                continue;
            object->queue.allocated.named |= 1u << i;
            object->queue.allocated.v[i] = from->items[k].value;
        }
    }
    return object;
}

struct object *cluster_write(struct cluster *cluster, const struct maar_write *write)
{
    struct object *object;
    switch (write->kind) {
    case MAAR_WRITE_BIND:
        object = cluster_find_uid(cluster, write->uid);
        if (object) {
            snprintf(object->pod.node, sizeof object->pod.node, "%s", write->bind.node);
            free(object->pod.condition_reason);
            free(object->pod.condition_message);
            object->pod.condition_reason = object->pod.condition_message = NULL;
        }
        return object;
    case MAAR_WRITE_POD_GROUP_STATUS:
        object = cluster_find_uid(cluster, write->uid);
        return object ? write_group(object, write) : NULL;
    case MAAR_WRITE_POD_CONDITION:
        object = cluster_find_uid(cluster, write->uid);
        if (object && !*object->pod.node) {
            free(object->pod.condition_reason);
            free(object->pod.condition_message);
            object->pod.condition_reason = maar_strdup(write->pod_condition.condition.reason);
            object->pod.condition_message = maar_strdup(write->pod_condition.condition.message);
        }
        return object;
    case MAAR_WRITE_UNGATE:
        object = cluster_find_uid(cluster, write->uid);
        if (object)
            object->pod.n_gates = object->pod.only_queue_gate = 0;
        return object;
    case MAAR_WRITE_QUEUE_STATUS:
        object = cluster_find(cluster, MAAR_KIND_QUEUE, "", write->name);
        return object ? write_queue(object, write) : NULL;
    case MAAR_WRITE_QUEUE_CREATE:
        object = cluster_add(cluster, MAAR_KIND_QUEUE, "", write->name, 0);
        object->queue.weight = write->queue_create.weight;
        object->queue.reclaimable = write->queue_create.reclaimable;
        return object;
    case MAAR_WRITE_EVICT:
    case MAAR_WRITE_EVENT:
    case MAAR_N_WRITE_KINDS:
        break;
    }
    return NULL;
}

/* ---- for people ---- */

static void describe_amounts(const char *title, const struct amounts *amounts,
                             struct maar_text *out)
{
    if (!amounts->named)
        return;
    maar_text_addf(out, " %s{", title);
    for (uint32_t i = 0; i < N_AMOUNTS; i++)
        if ((amounts->named >> i) & 1)
            maar_text_addf(out, " %s:%lld", amount_names[i], (long long)amounts->v[i]);
    maar_text_add(out, " }");
}

static void describe_labels(const char *title, const struct labels *labels, struct maar_text *out)
{
    for (uint32_t i = 0; i < labels->n; i++)
        maar_text_addf(out, " %s:%s=%s", title, labels->items[i].key, labels->items[i].value);
}

static void describe_selector(const char *title, const struct selector *selector,
                              struct maar_text *out)
{
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    if (!selector->is_set)
        return;
    maar_text_addf(out, " %s{", title);
    for (uint32_t i = 0; i < selector->term.n; i++) {
        const struct maar_requirement *r = &selector->term.items[i];
        maar_text_addf(out, " %s %s", r->key, operators[r->op]);
        for (uint32_t k = 0; k < r->n_values; k++)
            maar_text_addf(out, " %s", selector->term.values[i][k]);
    }
    maar_text_add(out, " }");
}

static void describe_affinity(const struct pod_object *pod, struct maar_text *out)
{
    static const char *const lists[] = {"affinity", "anti-affinity", "preferred affinity",
                                        "preferred anti-affinity"};
    for (uint32_t k = 0; k < N_AFFINITY_LISTS; k++) {
        for (uint32_t i = 0; i < pod->affinity[k].n; i++) {
            const struct affinity_term *term = &pod->affinity[k].terms[i];
            maar_text_addf(out, "\n        %s by %s weight %d", lists[k], term->topology_key,
                           term->weight);
            describe_selector("pods", &term->selector, out);
            for (uint32_t n = 0; n < term->n_namespaces; n++)
                maar_text_addf(out, " in %s", term->namespaces[n]);
            describe_selector("namespaces", &term->namespace_selector, out);
        }
    }
    for (uint32_t i = 0; i < pod->n_spread; i++) {
        const struct spread *spread = &pod->spread[i];
        maar_text_addf(out, "\n        %s spread by %s max %d min domains %d%s%s",
                       spread->hard ? "hard" : "soft", spread->topology_key, spread->max_skew,
                       spread->min_domains, spread->honor_affinity ? " affinity" : "",
                       spread->honor_taints ? " taints" : "");
        describe_selector("pods", &spread->selector, out);
    }
}

static void describe_node(const struct node_object *node, struct maar_text *out)
{
    describe_amounts("", &node->allocatable, out);
    describe_labels("label", &node->labels, out);
    for (uint32_t i = 0; i < node->n_taints; i++)
        maar_text_addf(out, " taint:%s=%s:%d", node->taints[i].key, node->taints[i].value,
                       (int)node->taints[i].effect);
    maar_text_addf(out, "%s%s", node->unschedulable ? " unschedulable" : "",
                   node->ready ? "" : " not ready");
}

static void describe_group(const struct group_object *group, struct maar_text *out)
{
    maar_text_addf(out, " queue %s min %d phase %d class \"%s\"", group->queue, group->min,
                   (int)group->phase, group->priority_class);
    for (uint32_t i = 0; i < group->n_roles; i++)
        maar_text_addf(out, " role %s:%d", group->roles[i].role, group->roles[i].min);
    if (group->sub_group_size > 0)
        maar_text_addf(out, " sub-groups by app: size %d, min %d", group->sub_group_size,
                       group->min_sub_groups);
    if (group->has_min_resources)
        describe_amounts("minResources", &group->min_resources, out);
}

static void describe_pod(const struct pod_object *pod, struct maar_text *out)
{
    maar_text_addf(out, " group %s role \"%s\" phase %d%s", pod->group, pod->role, (int)pod->phase,
                   pod->deleting ? " deleting" : "");
    if (strcmp(pod->scheduler, "volcano") != 0)
        maar_text_addf(out, " scheduler %s", pod->scheduler);
    if (*pod->node)
        maar_text_addf(out, " on %s", pod->node);
    if (*pod->nominated)
        maar_text_addf(out, " nominated %s", pod->nominated);
    if (pod->n_gates)
        maar_text_addf(out, " gates %u%s", pod->n_gates, pod->only_queue_gate ? " (queue)" : "");
    if (pod->asks_queue_gate)
        maar_text_add(out, " asks its queue");
    if (pod->has_priority)
        maar_text_addf(out, " priority %d", pod->priority);
    if (pod->has_task_priority)
        maar_text_addf(out, " task-priority %d", pod->task_priority);
    describe_amounts("", &pod->request, out);
    describe_labels("select", &pod->selector, out);
    if (pod->has_required)
        maar_text_addf(out, " required terms %u", pod->n_required);
    if (pod->n_preferred)
        maar_text_addf(out, " preferred terms %u", pod->n_preferred);
    if (pod->n_tolerations)
        maar_text_addf(out, " tolerations %u", pod->n_tolerations);
    describe_labels("label", &pod->labels, out);
    describe_affinity(pod, out);
}

static void describe_queue(const struct queue_object *queue, struct maar_text *out)
{
    maar_text_addf(out, " weight %d priority %d state %d dequeue %d parent \"%s\"", queue->weight,
                   queue->priority, (int)queue->state, (int)queue->dequeue, queue->parent);
    describe_amounts("capability", &queue->capability, out);
    describe_amounts("deserved", &queue->deserved, out);
    describe_amounts("guarantee", &queue->guarantee, out);
}

void object_describe(const struct object *object, struct maar_text *out)
{
    maar_text_addf(out, "%s %s%s%s uid %s at %+llds", maar_kind_name(object->kind), object->ns,
                   *object->ns ? "/" : "", object->name, object->uid,
                   (long long)(object->created_ns / MAAR_SECOND_NS - EPOCH_S));
    switch (object->kind) {
    case MAAR_KIND_NODE:
        describe_node(&object->node, out);
        break;
    case MAAR_KIND_POD_GROUP:
        describe_group(&object->group, out);
        break;
    case MAAR_KIND_POD:
        describe_pod(&object->pod, out);
        break;
    case MAAR_KIND_QUEUE:
        describe_queue(&object->queue, out);
        break;
    case MAAR_KIND_PRIORITY_CLASS:
        maar_text_addf(out, " value %d%s", object->cls.value,
                       object->cls.global_default ? " default" : "");
        break;
    case MAAR_KIND_NAMESPACE:
        describe_labels("label", &object->space, out);
        break;
    case MAAR_N_KINDS:
        break;
    }
    maar_text_addf(out, "%s%s%s\n", object->withheld ? " WITHHELD" : "",
                   *object->fault ? " fault: " : "", object->fault);
}
