/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* An object from JSON: which kind it is, what it is called, and the kinds whose content is short:
 * node, PodGroup, queue, priority class, namespace. */

#include "wire/json_object.h"

#include <errno.h>
#include <string.h>

#include "wire/json_value.h"

static bool is_group(const char *api_version, const char *group)
{
    size_t n = strlen(group);
    return strncmp(api_version, group, n) == 0 && api_version[n] == '/';
}

int maar_wire_kind(const char *api_version, const char *kind)
{
    if (strcmp(api_version, "v1") == 0) {
        if (strcmp(kind, "Node") == 0)
            return MAAR_KIND_NODE;
        if (strcmp(kind, "Pod") == 0)
            return MAAR_KIND_POD;
        if (strcmp(kind, "Namespace") == 0)
            return MAAR_KIND_NAMESPACE;
    } else if (is_group(api_version, "scheduling.volcano.sh")) {
        if (strcmp(kind, "PodGroup") == 0)
            return MAAR_KIND_POD_GROUP;
        if (strcmp(kind, "Queue") == 0)
            return MAAR_KIND_QUEUE;
    } else if (is_group(api_version, "scheduling.k8s.io")) {
        if (strcmp(kind, "PriorityClass") == 0)
            return MAAR_KIND_PRIORITY_CLASS;
    }
    return -1;
}

struct maar_condition_record maar_json_condition(struct maar_decoder *decoder, const json_t *item,
                                                 const struct maar_path *at)
{
    return (struct maar_condition_record){
        .type = maar_json_text(decoder, item, at, "type"),
        .status = maar_json_text(decoder, item, at, "status"),
        .reason = maar_json_text(decoder, item, at, "reason"),
        .message = maar_json_text(decoder, item, at, "message"),
        .transition_id = maar_json_text(decoder, item, at, "transitionID"),
    };
}

static struct maar_label *read_kept_annotations(struct maar_decoder *decoder, const json_t *object,
                                                uint32_t *ret_n)
{
    struct maar_path metadata_at = {NULL, "metadata", 0};
    struct maar_path here = {&metadata_at, "annotations", 0};
    const json_t *map =
        maar_json_object(decoder, json_object_get(object, "metadata"), &metadata_at, "annotations");
    struct maar_label *kept =
        maar_arena_calloc(decoder->arena, json_object_size(map), sizeof *kept);
    uint32_t n = 0;
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        if (!maar_decoder_keeps(decoder, each.key))
            continue;
        struct maar_path there = {&here, each.key, 0};
        const char *text = maar_json_as_text(decoder, each.value, &there);
        if (text)
            kept[n++] = (struct maar_label){maar_arena_strdup(decoder->arena, each.key),
                                            maar_arena_strdup(decoder->arena, text)};
    }
    maar_labels_sort(kept, &n);
    *ret_n = n;
    return kept;
}

/* ---- Node ---- */

static void read_taints(struct maar_decoder *decoder, const json_t *spec,
                        const struct maar_path *at)
{
    const json_t *array = maar_json_array(decoder, spec, at, "taints");
    struct maar_path list = {at, "taints", 0};
    size_t n = json_array_size(array);
    struct maar_taint *taints = maar_arena_calloc(decoder->arena, n, sizeof *taints);
    for (size_t i = 0; i < n; i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        taints[i].key = maar_json_text(decoder, item, &here, "key");
        taints[i].value = maar_json_text(decoder, item, &here, "value");
        taints[i].effect = maar_taint_effect_parse(maar_json_peek(decoder, item, &here, "effect"));
    }
    decoder->record->node.taints = taints;
    decoder->record->node.n_taints = (uint32_t)n;
}

static bool read_ready(struct maar_decoder *decoder, const json_t *status,
                       const struct maar_path *at)
{
    const json_t *array = maar_json_array(decoder, status, at, "conditions");
    struct maar_path list = {at, "conditions", 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        if (strcmp(maar_json_peek(decoder, item, &here, "type"), "Ready") == 0)
            return strcmp(maar_json_peek(decoder, item, &here, "status"), "True") == 0;
    }
    return true;
}

/* Sizes are of no more use than to compare nodes: what is no number counts 0. */
static void read_images(struct maar_decoder *decoder, const json_t *status,
                        const struct maar_path *at)
{
    const json_t *array = maar_json_array(decoder, status, at, "images");
    struct maar_path list = {at, "images", 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_path names_at = {&here, "names", 0};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        const json_t *names = maar_json_array(decoder, item, &here, "names");
        int64_t size = json_integer_value(json_object_get(item, "sizeBytes"));
        for (size_t k = 0; k < json_array_size(names); k++) {
            struct maar_path there = {&names_at, NULL, k};
            const char *name = maar_json_as_text(decoder, json_array_get(names, k), &there);
            if (name)
                maar_node_add_image(decoder, maar_arena_strdup(decoder->arena, name), size);
        }
    }
}

void maar_json_decode_node(struct maar_decoder *decoder, const json_t *object)
{
    struct maar_node_record *node = &decoder->record->node;
    struct maar_path metadata_at = {NULL, "metadata", 0};
    struct maar_path spec_at = {NULL, "spec", 0};
    struct maar_path status_at = {NULL, "status", 0};
    const json_t *spec = maar_json_object(decoder, object, NULL, "spec");
    const json_t *status = maar_json_object(decoder, object, NULL, "status");
    node->labels = maar_json_labels(decoder, json_object_get(object, "metadata"), &metadata_at,
                                    "labels", &node->n_labels);
    (void)maar_json_bool(decoder, spec, &spec_at, "unschedulable", &node->unschedulable);
    read_taints(decoder, spec, &spec_at);
    node->ready = read_ready(decoder, status, &status_at);
    read_images(decoder, status, &status_at);
    struct maar_amounts_record capacity = {0};
    (void)maar_json_amounts(decoder, status, &status_at, "allocatable", false, &node->allocatable);
    (void)maar_json_amounts(decoder, status, &status_at, "capacity", false, &capacity);
    maar_node_finish(decoder, &capacity);
}

/* ---- PodGroup ---- */

static int by_role(const void *a, const void *b)
{
    const struct maar_role_min *left = a;
    const struct maar_role_min *right = b;
    return strcmp(left->role, right->role);
}

static void read_min_task(struct maar_decoder *decoder, const json_t *spec,
                          const struct maar_path *at)
{
    struct maar_pod_group_record *group = &decoder->record->pod_group;
    const json_t *map = maar_json_object(decoder, spec, at, "minTaskMember");
    struct maar_path here = {at, "minTaskMember", 0};
    group->min_task =
        maar_arena_calloc(decoder->arena, json_object_size(map), sizeof *group->min_task);
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        int32_t min;
        if (maar_json_int32(decoder, map, &here, each.key, &min))
            group->min_task[group->n_min_task++] =
                (struct maar_role_min){maar_arena_strdup(decoder->arena, each.key), min};
    }
    if (group->n_min_task > 1)
        qsort(group->min_task, group->n_min_task, sizeof *group->min_task, by_role);
}

static void read_group_conditions(struct maar_decoder *decoder, const json_t *status,
                                  const struct maar_path *at)
{
    struct maar_pod_group_record *group = &decoder->record->pod_group;
    const json_t *array = maar_json_array(decoder, status, at, "conditions");
    struct maar_path list = {at, "conditions", 0};
    size_t n = json_array_size(array);
    group->conditions = maar_arena_calloc(decoder->arena, n, sizeof *group->conditions);
    for (size_t i = 0; i < n; i++) {
        struct maar_path here = {&list, NULL, i};
        group->conditions[i] =
            maar_json_condition(decoder, maar_json_item(decoder, array, &list, i), &here);
    }
    group->n_conditions = (uint32_t)n;
}

/* A text out of a list of values that the resource definition allows; -1 and a fault for another
 * one. */
static int read_choice(struct maar_decoder *decoder, const json_t *object,
                       const struct maar_path *at, const char *key, const char *const *names)
{
    const char *text = maar_json_peek(decoder, object, at, key);
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    struct maar_path here = {at, key, 0};
    maar_decoder_fault(decoder, &here, "\"%.64s\" is not known", text);
    return -1;
}

static void read_group_status(struct maar_decoder *decoder, const json_t *status,
                              const struct maar_path *at)
{
    static const char *const phases[] = {"",        "Pending",   "Inqueue", "Running",
                                         "Unknown", "Completed", NULL};
    struct maar_pod_group_record *group = &decoder->record->pod_group;
    int phase = read_choice(decoder, status, at, "phase", phases);
    group->phase = phase < 0 ? MAAR_PHASE_NONE : (enum maar_phase)phase;
    (void)maar_json_int32(decoder, status, at, "running", &group->running);
    (void)maar_json_int32(decoder, status, at, "succeeded", &group->succeeded);
    (void)maar_json_int32(decoder, status, at, "failed", &group->failed);
    read_group_conditions(decoder, status, at);
}

static void refuse_negative(struct maar_decoder *decoder, const struct maar_path *at,
                            const char *key, int32_t value)
{
    struct maar_path here = {at, key, 0};
    if (value < 0)
        maar_decoder_fault(decoder, &here, "%d must not be negative", (int)value);
}

void maar_json_decode_pod_group(struct maar_decoder *decoder, const json_t *object)
{
    struct maar_pod_group_record *group = &decoder->record->pod_group;
    struct maar_path spec_at = {NULL, "spec", 0};
    struct maar_path status_at = {NULL, "status", 0};
    const json_t *spec = maar_json_object(decoder, object, NULL, "spec");
    group->queue = maar_json_text(decoder, spec, &spec_at, "queue");
    group->priority_class = maar_json_text(decoder, spec, &spec_at, "priorityClassName");
    (void)maar_json_int32(decoder, spec, &spec_at, "minMember", &group->min_member);
    refuse_negative(decoder, &spec_at, "minMember", group->min_member);
    read_min_task(decoder, spec, &spec_at);
    group->has_min_resources =
        maar_json_amounts(decoder, spec, &spec_at, "minResources", false, &group->min_resources);
    group->has_topology = maar_json_object(decoder, spec, &spec_at, "networkTopology") != NULL;
    maar_json_read_sub_groups(decoder, spec, &spec_at);
    read_group_status(decoder, maar_json_object(decoder, object, NULL, "status"), &status_at);
    group->annotations = read_kept_annotations(decoder, object, &group->n_annotations);
}

/* ---- Queue ---- */

static enum maar_queue_state read_state(struct maar_decoder *decoder, const json_t *status,
                                        const struct maar_path *at)
{
    static const char *const names[] = {"", "Open", "Closed", "Closing", NULL};
    const char *text = maar_json_peek(decoder, status, at, "state");
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum maar_queue_state)i;
    return MAAR_QUEUE_UNKNOWN;
}

/* The annotation wins over spec.dequeueStrategy, whose definition does not know all strategies. */
static void read_dequeue_annotation(struct maar_decoder *decoder, const json_t *object,
                                    enum maar_dequeue_strategy *strategy)
{
    static const char key[] = "maar.dev/dequeue-strategy";
    static const char *const names[] = {"traverse", "fifo", "fifo-per-resource"};
    const json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");
    const json_t *value = json_object_get(annotations, key);
    if (!value)
        return;
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *strategy = (enum maar_dequeue_strategy)i;
            return;
        }
    }
    decoder->record->warning = maar_arena_printf(
        decoder->arena,
        "annotation %s: \"%.64s\" is not known and not used; it can be traverse, fifo or "
        "fifo-per-resource",
        key, text ? text : "");
}

static size_t count_parts(const char *path)
{
    size_t n = 1;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* Weights belong to the components of a path, one to one. Volcano's webhook refuses others. */
static void check_hierarchy_annotations(struct maar_decoder *decoder, const json_t *object)
{
    const json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");
    const char *path = json_string_value(json_object_get(annotations, "volcano.sh/hierarchy"));
    const char *weights =
        json_string_value(json_object_get(annotations, "volcano.sh/hierarchy-weights"));
    if (!path || !weights || count_parts(path) == count_parts(weights))
        return;
    decoder->record->warning = maar_arena_printf(
        decoder->arena,
        "annotation volcano.sh/hierarchy-weights: \"%.64s\" has %zu parts, volcano.sh/hierarchy "
        "\"%.64s\" has %zu; a weight that is missing counts as 1, one too many is not used",
        weights, count_parts(weights), path, count_parts(path));
}

void maar_json_decode_queue(struct maar_decoder *decoder, const json_t *object)
{
    static const char *const strategies[] = {"traverse", "fifo", "", NULL};
    struct maar_queue_record *queue = &decoder->record->queue;
    struct maar_path spec_at = {NULL, "spec", 0};
    struct maar_path status_at = {NULL, "status", 0};
    struct maar_path guarantee_at = {&spec_at, "guarantee", 0};
    const json_t *spec = maar_json_object(decoder, object, NULL, "spec");
    const json_t *status = maar_json_object(decoder, object, NULL, "status");
    (void)maar_json_int32(decoder, spec, &spec_at, "weight", &queue->weight);
    refuse_negative(decoder, &spec_at, "weight", queue->weight);
    if (queue->weight == 0)
        queue->weight = 1; /* the definition's default, and what Volcano's webhook makes of 0 */
    (void)maar_json_int32(decoder, spec, &spec_at, "priority", &queue->priority);
    queue->reclaimable = true;
    (void)maar_json_bool(decoder, spec, &spec_at, "reclaimable", &queue->reclaimable);
    queue->parent = maar_json_text(decoder, spec, &spec_at, "parent");
    queue->dequeue_strategy =
        read_choice(decoder, spec, &spec_at, "dequeueStrategy", strategies) == 1
            ? MAAR_DEQUEUE_FIFO
            : MAAR_DEQUEUE_TRAVERSE;
    check_hierarchy_annotations(decoder, object);
    read_dequeue_annotation(decoder, object, &queue->dequeue_strategy);
    (void)maar_json_amounts(decoder, spec, &spec_at, "capability", false, &queue->capability);
    (void)maar_json_amounts(decoder, spec, &spec_at, "deserved", false, &queue->deserved);
    (void)maar_json_amounts(decoder, maar_json_object(decoder, spec, &spec_at, "guarantee"),
                            &guarantee_at, "resource", false, &queue->guarantee);
    queue->state = read_state(decoder, status, &status_at);
    (void)maar_json_amounts(decoder, status, &status_at, "allocated", false, &queue->allocated);
    queue->annotations = read_kept_annotations(decoder, object, &queue->n_annotations);
}

/* ---- PriorityClass ---- */

void maar_json_decode_priority_class(struct maar_decoder *decoder, const json_t *object)
{
    struct maar_priority_class_record *class = &decoder->record->priority_class;
    (void)maar_json_int32(decoder, object, NULL, "value", &class->value);
    (void)maar_json_bool(decoder, object, NULL, "globalDefault", &class->global_default);
}

/* ---- Namespace ---- */

void maar_json_decode_namespace(struct maar_decoder *decoder, const json_t *object)
{
    struct maar_namespace_record *space = &decoder->record->space;
    struct maar_path metadata_at = {NULL, "metadata", 0};
    space->labels = maar_json_labels(decoder, json_object_get(object, "metadata"), &metadata_at,
                                     "labels", &space->n_labels);
}

/* ---- any object ---- */

static void decode_content(struct maar_decoder *decoder, const json_t *object)
{
    switch (decoder->record->kind) {
    case MAAR_KIND_NODE:
        maar_json_decode_node(decoder, object);
        break;
    case MAAR_KIND_PRIORITY_CLASS:
        maar_json_decode_priority_class(decoder, object);
        break;
    case MAAR_KIND_QUEUE:
        maar_json_decode_queue(decoder, object);
        break;
    case MAAR_KIND_POD_GROUP:
        maar_json_decode_pod_group(decoder, object);
        break;
    case MAAR_KIND_POD:
        maar_json_decode_pod(decoder, object);
        break;
    case MAAR_KIND_NAMESPACE:
        maar_json_decode_namespace(decoder, object);
        break;
    case MAAR_N_KINDS:
        break;
    }
}

int maar_wire_decode_json(enum maar_kind kind, const json_t *object,
                          const struct maar_wire_options *options, struct maar_record **ret_record,
                          struct maar_error *err)
{
    const json_t *metadata = json_object_get(object, "metadata");
    if (!json_is_object(object))
        return maar_error_set(err, -EINVAL, "%s: is not a map", maar_kind_name(kind));
    if (!json_is_object(metadata))
        return maar_error_set(err, -EINVAL, "%s: has no metadata", maar_kind_name(kind));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    if (!name || *name == '\0')
        return maar_error_set(err, -EINVAL, "%s: has no metadata.name", maar_kind_name(kind));

    struct maar_path at = {NULL, "metadata", 0};
    struct maar_record *record = maar_record_create(kind);
    struct maar_decoder decoder = {record, record->arena, options, 0};
    record->name = maar_arena_strdup(record->arena, name);
    record->uid = maar_json_text(&decoder, metadata, &at, "uid");
    record->resource_version = maar_json_text(&decoder, metadata, &at, "resourceVersion");
    if (kind == MAAR_KIND_POD || kind == MAAR_KIND_POD_GROUP)
        record->ns = maar_json_text(&decoder, metadata, &at, "namespace");
    (void)maar_json_time(&decoder, metadata, &at, "creationTimestamp", &record->created_ns);
    decode_content(&decoder, object);
    *ret_record = record;
    return 0;
}
