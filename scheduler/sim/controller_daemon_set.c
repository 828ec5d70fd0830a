// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// DaemonSet: a pod for each node whose labels its nodeSelector names and whose taints it tolerates. Node affinity of
// the template is left to the scheduler: a pod for such a node waits.
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "sim/controller_parts.h"

/* ---- nodes ---- */

static bool has_labels(const json_t *node, const json_t *selector)
{
    const json_t *labels = maar_document_at(node, "metadata.labels");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)selector, key, value) {
        if (!json_equal(json_object_get(labels, key), value))
            return false;
    }
    return true;
}

static bool tolerates(const json_t *tolerations, const json_t *taint)
{
    const char *key = maar_document_text(taint, "key"), *value = maar_document_text(taint, "value");
    const char *effect = maar_document_text(taint, "effect");
    for (size_t i = 0; i < json_array_size(tolerations); i++) {
        const json_t *toleration = json_array_get(tolerations, i);
        const char *own_key = maar_document_text(toleration, "key");
        const char *own_effect = maar_document_text(toleration, "effect");
        bool exists = strcmp(maar_document_text(toleration, "operator"), "Exists") == 0;
        if ((!*own_effect || strcmp(own_effect, effect) == 0) &&
            ((exists && !*own_key) || strcmp(own_key, key) == 0) &&
            (exists || strcmp(maar_document_text(toleration, "value"), value) == 0))
            return true;
    }
    return false;
}

static bool is_eligible(const json_t *node, const json_t *spec)
{
    const json_t *taints = maar_document_at(node, "spec.taints");
    for (size_t i = 0; i < json_array_size(taints); i++) {
        const json_t *taint = json_array_get(taints, i);
        const char *key = maar_document_text(taint, "key");
        bool own = strncmp(key, "node.kubernetes.io/", 19) == 0; /* tolerated by every daemon */
        if (!own && strcmp(maar_document_text(taint, "effect"), "PreferNoSchedule") != 0 &&
            !tolerates(json_object_get(spec, "tolerations"), taint))
            return false;
    }
    return has_labels(node, json_object_get(spec, "nodeSelector"));
}

static void list_nodes(const struct maar_controllers *controllers, const json_t *spec,
                       struct maar_object_list *list)
{
    size_t at = 0;
    struct maar_object *node;
    while ((node = maar_collection_next(controllers->nodes, &at)))
        if (is_eligible(node->document, spec))
            maar_vec_push(list, node);
    maar_controller_sort(list);
}

/* ---- pods ---- */

/* The node that the pod is for: by its affinity, or where it runs. */
static const char *node_of(const json_t *pod)
{
    const json_t *terms =
        maar_document_at(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuring"
                              "Execution.nodeSelectorTerms");
    const json_t *fields = json_object_get(json_array_get(terms, 0), "matchFields");
    const json_t *values = json_object_get(json_array_get(fields, 0), "values");
    const char *name = json_string_value(json_array_get(values, 0));
    return name ? name : maar_document_text(pod, "spec.nodeName");
}

static void tolerate_conditions(json_t *pod)
{
    static const struct {
        const char *key;
        const char *effect;
    } taints[] = {
        {"node.kubernetes.io/not-ready", "NoExecute"},
        {"node.kubernetes.io/unreachable", "NoExecute"},
        {"node.kubernetes.io/disk-pressure", "NoSchedule"},
        {"node.kubernetes.io/memory-pressure", "NoSchedule"},
        {"node.kubernetes.io/pid-pressure", "NoSchedule"},
        {"node.kubernetes.io/unschedulable", "NoSchedule"},
    };
    json_t *list = maar_document_at(pod, "spec.tolerations");
    if (!json_is_array(list)) {
        list = json_array();
        maar_document_set(pod, "spec.tolerations", list);
    }
    for (size_t i = 0; i < sizeof taints / sizeof *taints; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", taints[i].key, "operator",
                                              "Exists", "effect", taints[i].effect));
}

static void add_pod(struct maar_controllers *controllers, struct maar_known *known,
                    const struct maar_object *object, const char *node)
{
    char name[320];
    maar_controller_next_name(controllers, known, object->name, name);
    json_t *pod =
        maar_controller_pod(object, maar_document_at(object->document, "spec.template"), name);
    maar_controller_label(pod, "controller-revision-hash", known->revision);
    maar_document_set(pod,
                      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                      json_pack("{s:[{s:[{s:s, s:s, s:[s]}]}]}", "nodeSelectorTerms", "matchFields",
                                "key", "metadata.name", "operator", "In", "values", node));
    tolerate_conditions(pod);
    maar_controller_create(controllers, controllers->pods, object, pod);
}

static bool is_wanted(const struct maar_controllers *controllers, const struct maar_known *known,
                      const json_t *pod, const json_t *spec)
{
    const struct maar_object *node = maar_collection_object(controllers->nodes, "", node_of(pod));
    const char *revision = json_string_value(
        json_object_get(maar_document_at(pod, "metadata.labels"), "controller-revision-hash"));
    return node && is_eligible(node->document, spec) && !maar_pod_is_over(pod) &&
           (!revision || strcmp(revision, known->revision) == 0);
}

/* The pods that stay, by node; the others go. True when one was removed. */
static bool sort_out(struct maar_controllers *controllers, const struct maar_known *known,
                     const struct maar_object_list *pods, const json_t *spec,
                     struct maar_map *by_node)
{
    bool removed = false;
    for (size_t i = 0; i < pods->n; i++) {
        struct maar_object *pod = pods->data[i];
        const char *node = node_of(pod->document);
        bool going = maar_pod_is_going(pod->document);
        if (!*node)
            continue;
        if (going ||
            (is_wanted(controllers, known, pod->document, spec) && !maar_map_find(by_node, node))) {
            maar_map_set(by_node, node, pod);
            continue;
        }
        maar_controller_delete(controllers, controllers->pods, pod);
        removed = true;
    }
    return removed;
}

void maar_reconcile_daemon_set(struct maar_controllers *controllers, struct maar_known *known,
                               struct maar_object *object)
{
    struct maar_object_list pods = {0}, nodes = {0};
    const json_t *spec = maar_document_at(object->document, "spec.template.spec");
    maar_controller_list(known, controllers->pods, &pods);
    maar_controller_revision(known, object, &pods);
    struct maar_map *by_node = maar_map_create();
    /* What was removed may still terminate: the next look tells. */
    bool removed = sort_out(controllers, known, &pods, spec, by_node);
    json_int_t n_wanted = 0, n_there = 0, n_ready = 0;
    list_nodes(controllers, spec, &nodes);
    for (size_t i = 0; i < nodes.n; i++) {
        const struct maar_object *pod = maar_map_find(by_node, nodes.data[i]->name);
        n_wanted++;
        n_there += pod != NULL;
        n_ready += pod && maar_pod_is_ready(pod->document);
        if (!pod && !removed)
            add_pod(controllers, known, object, nodes.data[i]->name);
    }
    maar_controller_set_status(
        controllers, known, object,
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "observedGeneration",
                  (json_int_t)maar_document_int(object->document, "metadata.generation", 1),
                  "desiredNumberScheduled", n_wanted, "currentNumberScheduled", n_there,
                  "updatedNumberScheduled", n_there, "numberReady", n_ready, "numberAvailable",
                  n_ready, "numberMisscheduled", (json_int_t)0));
    maar_map_destroy(by_node);
    maar_vec_fini(&nodes);
    maar_vec_fini(&pods);
}
