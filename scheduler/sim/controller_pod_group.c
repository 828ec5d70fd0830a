// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Volcano's controller of PodGroups: a pod that Volcano's scheduler is to place and that names no PodGroup gets
// podgroup-UID, UID being that of the owner that controls it, or its own. All pods of an owner share it. The owner's
// annotation scheduling.volcano.sh/group-min-member is its minimum (default 1), the pod's annotation
// scheduling.volcano.sh/queue-name its queue.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/memory.h"
#include "model/pod_request.h"
#include "sim/controller_parts.h"
#include "wire/wire.h"

#define MIN_KEY   "scheduling.volcano.sh/group-min-member"
#define QUEUE_KEY "scheduling.volcano.sh/queue-name"

bool maar_pod_lacks_group(const json_t *pod)
{
    return strcmp(maar_document_text(pod, "spec.schedulerName"), "volcano") == 0 &&
           !*maar_document_pod_group(pod) && !maar_pod_is_over(pod);
}

/* ---- minResources ---- */

struct amount {
    int64_t value;
};

static void add_amount(struct maar_map *sums, const char *name, int64_t value, int64_t n)
{
    struct amount *sum = maar_map_find(sums, name);
    int64_t all;
    if (!sum) {
        sum = maar_calloc(1, sizeof *sum);
        maar_map_set(sums, name, sum);
    }
    if (__builtin_mul_overflow(value, n, &all) ||
        __builtin_add_overflow(sum->value, all, &sum->value))
        sum->value = INT64_MAX;
}

void maar_min_resources_add(struct maar_map *sums, const json_t *spec, int64_t n)
{
    struct maar_record *record = NULL;
    json_t *pod = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", "v1", "kind", "Pod",
                            "metadata", "name", "template", "spec", spec);
    if (n > 0 && pod && maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, NULL) == 0) {
        struct maar_amounts_record request = maar_pod_request(&record->pod, record->arena);
        for (uint32_t i = 0; i < request.n; i++)
            add_amount(sums, request.items[i].name, request.items[i].value, n);
        add_amount(sums, "count/pods", 1, n);
        maar_record_destroy(record);
    }
    json_decref(pod);
}

json_t *maar_min_resources_take(struct maar_map *sums)
{
    json_t *texts = NULL;
    size_t at = 0, n;
    const void *key;
    void *value;
    while (maar_map_next(sums, &at, &key, &n, &value)) {
        const struct amount *sum = value;
        char text[32], name[300];
        const char *resource = key;
        if (!texts)
            texts = json_object();
        maar_wire_quantity(resource, sum->value, text);
        json_object_set_new(texts, resource, json_string(text));
        if (strcmp(resource, "pods") != 0 && strcmp(resource, "count/pods") != 0) {
            snprintf(name, sizeof name, "requests.%.*s", (int)n, resource);
            json_object_set_new(texts, name, json_string(text));
        }
        free(value);
    }
    maar_map_destroy(sums);
    return texts;
}

/* ---- what the group takes from owner and pod ---- */

/* The object of a workload kind that controls the pod; NULL when it is another kind or not there. */
static const struct maar_object *workload_of(const struct maar_controllers *controllers,
                                             const json_t *pod)
{
    static const char *const kinds[][2] = {
        {"apps/v1", "ReplicaSet"},
        {"apps/v1", "StatefulSet"},
        {"apps/v1", "DaemonSet"},
        {"batch/v1", "Job"},
    };
    const json_t *reference = maar_controller_of(pod);
    const char *kind = maar_document_text(reference, "kind");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct maar_collection *collection =
            maar_store_find(controllers->store, kinds[i][0], kinds[i][1]);
        if (strcmp(kind, kinds[i][1]) == 0 && collection)
            return maar_collection_object(collection, maar_document_namespace(pod),
                                          maar_document_text(reference, "name"));
    }
    return NULL;
}

static int64_t minimum_of(const json_t *owner)
{
    const char *text = maar_document_annotation(owner, MIN_KEY);
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10
               ? strtol(text, NULL, 10)
               : 1;
}

static void copy_text(const json_t *pod, const char *map, const char *key, json_t *group)
{
    json_t *value = json_object_get(maar_document_at(pod, map), key);
    json_t *target = maar_document_at(group, map);
    if (json_is_string(value))
        json_object_set(target, key, value);
}

static void copy_annotations(const json_t *owner, const json_t *pod, json_t *group)
{
    static const char *const shared[] = {"volcano.sh/preemptable", "volcano.sh/cooldown-time",
                                         NULL};
    const json_t *of_owner = maar_document_at(owner, "metadata.annotations");
    json_t *annotations = maar_document_at(group, "metadata.annotations");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)of_owner, key, value) {
        if (strncmp(key, "volcano.sh/", 11) == 0)
            json_object_set(annotations, key, value);
    }
    for (size_t i = 0; shared[i]; i++) {
        copy_text(pod, "metadata.annotations", shared[i], group);
        copy_text(pod, "metadata.labels", shared[i], group);
    }
    copy_text(pod, "metadata.annotations", "volcano.sh/revocable-zone", group);
    copy_text(pod, "metadata.annotations",
              *maar_document_annotation(pod, "volcano.sh/jdb-min-available")
                  ? "volcano.sh/jdb-min-available"
                  : "volcano.sh/jdb-max-unavailable",
              group);
}

static void set_topology(const json_t *pod, json_t *spec)
{
    const char *mode = maar_document_annotation(pod, "volcano.sh/network-topology-mode");
    const char *tier = maar_document_annotation(pod, "volcano.sh/network-topology-highest-tier");
    if (!*mode && !*tier)
        return;
    json_t *topology = json_pack("{s:s}", "mode", strcasecmp(mode, "soft") == 0 ? "soft" : "hard");
    if (*tier && strspn(tier, "0123456789") == strlen(tier) && strlen(tier) < 10)
        json_object_set_new(topology, "highestTierAllowed", json_integer(strtol(tier, NULL, 10)));
    json_object_set_new(spec, "networkTopology", topology);
}

static json_t *build_group(const struct maar_controllers *controllers,
                           const struct maar_object *pod, const char *name)
{
    const json_t *document = pod->document;
    const struct maar_object *owner = workload_of(controllers, document);
    const char *queue = maar_document_annotation(document, QUEUE_KEY);
    const char *priority = maar_document_text(document, "spec.priorityClassName");
    json_t *references =
        maar_controller_of(document)
            ? json_deep_copy(maar_document_at(document, "metadata.ownerReferences"))
            : maar_controller_reference(pod);
    int64_t min = owner ? minimum_of(owner->document) : 1;
    struct maar_map *sums = maar_map_create();
    maar_min_resources_add(sums, json_object_get(document, "spec"), min);
    json_t *resources = maar_min_resources_take(sums);
    json_t *spec =
        json_pack("{s:I, s:s}", "minMember", (json_int_t)min, "queue", *queue ? queue : "default");
    if (resources)
        json_object_set_new(spec, "minResources", resources);
    if (*priority)
        json_object_set_new(spec, "priorityClassName", json_string(priority));
    set_topology(document, spec);
    json_t *group =
        json_pack("{s:s, s:s, s:{s:s, s:s, s:{}, s:{}, s:o}, s:o, s:{s:s}}", "apiVersion",
                  "scheduling.volcano.sh/v1beta1", "kind", "PodGroup", "metadata", "name", name,
                  "namespace", pod->ns, "labels", "annotations", "ownerReferences", references,
                  "spec", spec, "status", "phase", "Pending");
    copy_annotations(owner ? owner->document : NULL, document, group);
    return group;
}

void maar_reconcile_pod(struct maar_controllers *controllers, struct maar_known *known,
                        struct maar_object *object)
{
    char name[300];
    if (!maar_pod_lacks_group(object->document))
        return;
    const json_t *reference = maar_controller_of(object->document);
    snprintf(name, sizeof name, "podgroup-%.200s",
             reference ? maar_document_text(reference, "uid") : known->uid);
    if (!maar_collection_object(controllers->groups, object->ns, name))
        maar_controller_create(controllers, controllers->groups, object,
                               build_group(controllers, object, name));
    json_t *next = json_deep_copy(object->document);
    maar_controller_annotate(next, MAAR_GROUP_KEY, name);
    maar_store_replace(controllers->store, controllers->pods, object, next);
}

void maar_controller_drop_group(struct maar_controllers *controllers,
                                const struct maar_object *owner)
{
    char name[300];
    snprintf(name, sizeof name, "podgroup-%.200s", maar_document_uid(owner->document));
    struct maar_object *group = maar_collection_object(controllers->groups, owner->ns, name);
    if (group)
        maar_controller_delete(controllers, controllers->groups, group);
}
