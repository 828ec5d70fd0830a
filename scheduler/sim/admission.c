// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Defaults of core/v1 and of Volcano's CRDs as far as a scheduler reads them, and the priority
// admission.
#include "sim/admission.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "sim/document.h"
#include "sim/workload_check.h"

static void set_default(json_t *document, const char *path, json_t *value)
{
    if (maar_document_at(document, path))
        json_decref(value);
    else
        maar_document_set(document, path, value);
}

static const json_t *global_default_class(struct maar_store *store)
{
    struct maar_collection *classes =
        maar_store_collection(store, "scheduling.k8s.io/v1", "PriorityClass", false);
    const struct maar_object *object;
    const json_t *best = NULL;
    size_t at = 0;
    while ((object = maar_collection_next(classes, &at)))
        if (maar_document_bool(object->document, "globalDefault", false) &&
            (!best ||
             maar_document_int(object->document, "value", 0) < maar_document_int(best, "value", 0)))
            best = object->document;
    return best;
}

/* The document of a class, or NULL. */
static const json_t *find_class(struct maar_store *store, const char *name)
{
    const struct maar_object *object = maar_collection_object(
        maar_store_collection(store, "scheduling.k8s.io/v1", "PriorityClass", false), "", name);
    return object ? object->document : NULL;
}

/* The classes that every cluster has; 0 for another. */
static int64_t system_priority(const char *name)
{
    if (strcmp(name, "system-cluster-critical") == 0)
        return 2000000000;
    return strcmp(name, "system-node-critical") == 0 ? 2000001000 : 0;
}

static int no_class(const char *name, struct maar_error *err)
{
    return maar_error_set(err, -ENOENT, "no PriorityClass with name %s was found", name);
}

static int complete_priority(struct maar_store *store, json_t *pod, struct maar_error *err)
{
    const char *name = maar_document_text(pod, "spec.priorityClassName");
    int64_t value = system_priority(name);
    const char *policy = "";
    if (!value) {
        const json_t *found = *name ? find_class(store, name) : global_default_class(store);
        if (*name && !found && !maar_document_at(pod, "spec.priority"))
            return no_class(name, err);
        value = maar_document_int(found, "value", 0);
        policy = maar_document_text(found, "preemptionPolicy");
        if (!*name && found)
            maar_document_set(pod, "spec.priorityClassName",
                              json_string(maar_document_name(found)));
    }
    set_default(pod, "spec.priority", json_integer(value));
    if (*policy)
        set_default(pod, "spec.preemptionPolicy", json_string(policy));
    return 0;
}

static int check_class(void *context, const json_t *spec, struct maar_error *err)
{
    const char *name = maar_document_text(spec, "priorityClassName");
    return !*name || system_priority(name) || find_class(context, name) ? 0 : no_class(name, err);
}

int maar_admission_check_classes(struct maar_store *store, const struct maar_api_type *type,
                                 const json_t *document, struct maar_error *err)
{
    if (json_object_get(document, "status"))
        return 0;
    return maar_workload_each_spec(type, document, check_class, store, err);
}

/* A limit is a request too where there is none of that resource. */
static void complete_requests(const json_t *containers)
{
    for (size_t i = 0; i < json_array_size(containers); i++) {
        json_t *resources = json_object_get(json_array_get(containers, i), "resources");
        json_t *limits = json_object_get(resources, "limits");
        json_t *requests = json_object_get(resources, "requests");
        if (json_object_size(limits) == 0)
            continue;
        if (!json_is_object(requests)) {
            requests = json_object();
            json_object_set_new(resources, "requests", requests);
        }
        json_object_update_missing(requests, limits);
    }
}

static int complete_pod(struct maar_store *store, json_t *pod, struct maar_error *err)
{
    complete_requests(maar_document_at(pod, "spec.containers"));
    complete_requests(maar_document_at(pod, "spec.initContainers"));
    set_default(pod, "status.phase", json_string("Pending"));
    set_default(pod, "spec.schedulerName", json_string("default-scheduler"));
    if (json_array_size(maar_document_at(pod, "spec.schedulingGates")) > 0 &&
        !maar_document_condition(pod, "PodScheduled"))
        maar_document_set_condition(
            pod, json_pack("{s:s, s:s, s:s, s:s, s:n, s:n}", "type", "PodScheduled", "status",
                           "False", "reason", "SchedulingGated", "message",
                           "Scheduling is blocked due to non-empty scheduling gates",
                           "lastProbeTime", "lastTransitionTime"));
    return complete_priority(store, pod, err);
}

/* Every namespace carries its name as a label. */
static void complete_namespace(json_t *document)
{
    json_t *metadata = json_object_get(document, "metadata");
    json_t *labels = json_object_get(metadata, "labels");
    if (!json_is_object(labels)) {
        labels = json_object();
        json_object_set_new(metadata, "labels", labels);
    }
    json_object_set_new(labels, "kubernetes.io/metadata.name",
                        json_string(maar_document_name(document)));
}

int maar_admission_complete(struct maar_store *store, const struct maar_api_type *type,
                            json_t *document, struct maar_error *err)
{
    if (strcmp(type->kind, "Pod") == 0)
        return complete_pod(store, document, err);
    if (strcmp(type->kind, "Node") == 0) {
        const json_t *capacity = maar_document_at(document, "status.capacity");
        if (capacity)
            set_default(document, "status.allocatable", json_deep_copy(capacity));
    } else if (strcmp(type->kind, "Queue") == 0) {
        set_default(document, "spec.weight", json_integer(1));
        set_default(document, "spec.reclaimable", json_true());
        set_default(document, "status.state", json_string("Open"));
    } else if (strcmp(type->kind, "Namespace") == 0) {
        complete_namespace(document);
    } else if (strcmp(type->api_version, "batch.volcano.sh/v1alpha1") == 0 &&
               strcmp(type->kind, "Job") == 0) {
        maar_vcjob_complete(document);
    }
    return 0;
}
