// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Expansion of pods: containers, placement, the annotations that Volcano reads, and counts.
#include "sim/shorthand_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sim/document.h"
#include "sim/kubelets.h"

#define MAX_COUNT 1000000

int maar_shorthand_amounts(const struct maar_field *field, const json_t *entry, json_t *amounts,
                           struct maar_error *err)
{
    static const struct {
        const char *key;
        const char *resource;
    } short_keys[] = {{"cpu", "cpu"}, {"memory", "memory"}, {"gpu", "nvidia.com/gpu"}};
    for (size_t i = 0; i < sizeof short_keys / sizeof *short_keys; i++) {
        json_t *amount = NULL;
        if (maar_field_quantity(field, entry, short_keys[i].key, &amount, err) < 0)
            return -EINVAL;
        if (amount)
            json_object_set_new(amounts, short_keys[i].resource, amount);
    }
    json_t *more = NULL;
    if (maar_field_amounts(field, entry, "resources", &more, err) < 0)
        return -EINVAL;
    if (more)
        json_object_update(amounts, more);
    json_decref(more);
    return 0;
}

int maar_shorthand_created(const struct maar_shorthand *out, const struct maar_field *field,
                           const json_t *entry, json_t *metadata, struct maar_error *err)
{
    int64_t offset = 0;
    char time[32];
    if (maar_field_duration(field, entry, "created", &offset, err) < 0)
        return -EINVAL;
    if (json_object_get(entry, "created"))
        json_object_set_new(metadata, "creationTimestamp",
                            json_string(maar_time_format(out->start_ns + offset, time)));
    return 0;
}

/* An amount of an extended resource must stand as a limit, too. */
static json_t *limits_of(const json_t *requests)
{
    json_t *limits = NULL;
    const char *name;
    json_t *amount;
    json_object_foreach ((json_t *)(uintptr_t)requests, name, amount) {
        if (!strchr(name, '/'))
            continue;
        if (!limits)
            limits = json_object();
        json_object_set(limits, name, amount);
    }
    return limits;
}

static const char usual_image[] = "registry.k8s.io/pause:3.10";

static json_t *container(const char *name, const char *image, json_t *requests)
{
    json_t *resources = json_object();
    json_t *limits = limits_of(requests);
    if (json_object_size(requests))
        json_object_set(resources, "requests", requests);
    if (limits)
        json_object_set_new(resources, "limits", limits);
    json_decref(requests);
    return json_pack("{s:s, s:s, s:o}", "name", name, "image", image, "resources", resources);
}

static int read_init(const struct maar_field *field, const json_t *entry, const char *key,
                     bool sidecar, json_t *spec, struct maar_error *err)
{
    static const char *const known[] = {"cpu", "memory", "gpu", "resources", NULL};
    json_t *list = NULL;
    if (maar_field_list(field, entry, key, &list, err) < 0)
        return -EINVAL;
    struct maar_field at = maar_field_key(field, key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        const json_t *item = json_array_get(list, i);
        char name[40];
        if (maar_field_check_map(&child, item, known, err) < 0)
            return -EINVAL;
        json_t *requests = json_object();
        if (maar_shorthand_amounts(&child, item, requests, err) < 0) {
            json_decref(requests);
            return -EINVAL;
        }
        snprintf(name, sizeof name, "%s-%zu", sidecar ? "sidecar" : "init", i);
        json_t *made = container(name, usual_image, requests);
        if (sidecar)
            json_object_set_new(made, "restartPolicy", json_string("Always"));
        if (!json_object_get(spec, "initContainers"))
            json_object_set_new(spec, "initContainers", json_array());
        json_array_append_new(json_object_get(spec, "initContainers"), made);
    }
    return 0;
}

static int read_containers(const struct maar_field *field, const json_t *entry, json_t *spec,
                           struct maar_error *err)
{
    json_t *requests = json_object(), *overhead = NULL;
    const char *image = usual_image;
    if (maar_shorthand_amounts(field, entry, requests, err) < 0 ||
        maar_field_text(field, entry, "image", &image, err) < 0) {
        json_decref(requests);
        return -EINVAL;
    }
    json_object_set_new(spec, "containers", json_pack("[o]", container("main", image, requests)));
    if (read_init(field, entry, "init", false, spec, err) < 0 ||
        read_init(field, entry, "sidecars", true, spec, err) < 0 ||
        maar_field_amounts(field, entry, "overhead", &overhead, err) < 0)
        return -EINVAL;
    if (overhead)
        json_object_set_new(spec, "overhead", overhead);
    return 0;
}

/* "key=value:Effect", "key:Effect", "key=value", "key"; an empty key tolerates everything. */
static json_t *toleration(const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    const char *equals = memchr(text, '=', n);
    size_t n_key = equals ? (size_t)(equals - text) : n;
    json_t *made = json_pack("{s:s}", "operator", equals ? "Equal" : "Exists");
    if (n_key)
        json_object_set_new(made, "key", json_stringn(text, n_key));
    if (equals)
        json_object_set_new(made, "value", json_stringn(equals + 1, n - n_key - 1));
    if (colon && colon[1])
        json_object_set_new(made, "effect", json_string(colon + 1));
    return made;
}

/* A list of texts, each turned into an item of spec[target]. */
static int read_texts(const struct maar_field *field, const json_t *entry, const char *key,
                      json_t *spec, const char *target, struct maar_error *err)
{
    json_t *list = NULL;
    if (maar_field_list(field, entry, key, &list, err) < 0)
        return -EINVAL;
    if (json_array_size(list) == 0)
        return 0;
    struct maar_field at = maar_field_key(field, key);
    json_t *made = json_array();
    json_object_set_new(spec, target, made);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        struct maar_field child = maar_field_index(&at, i);
        if (!text)
            return maar_field_error(&child, err, "expected a text");
        json_array_append_new(made, strcmp(target, "tolerations") == 0
                                        ? toleration(text)
                                        : json_pack("{s:s}", "name", text));
    }
    return 0;
}

static int read_priority(const struct maar_field *field, const json_t *entry,
                         const struct maar_shorthand_group *group, json_t *spec,
                         struct maar_error *err)
{
    const char *class = group ? group->priority : NULL;
    const json_t *value = json_object_get(entry, "priority");
    if (json_is_integer(value)) {
        int64_t number = 0;
        if (maar_field_int(field, entry, "priority", INT32_MIN, INT32_MAX, &number, err) < 0)
            return -EINVAL;
        json_object_set_new(spec, "priority", json_integer(number));
        return 0;
    }
    if (maar_field_text(field, entry, "priority", &class, err) < 0)
        return -EINVAL;
    if (class && *class)
        json_object_set_new(spec, "priorityClassName", json_string(class));
    return 0;
}

static int read_spec(const struct maar_field *field, const json_t *entry,
                     const struct maar_shorthand_group *group, json_t *spec, struct maar_error *err)
{
    const char *scheduler = "volcano", *node = NULL;
    json_t *selector = NULL;
    if (maar_field_text(field, entry, "scheduler", &scheduler, err) < 0 ||
        maar_field_text(field, entry, "node", &node, err) < 0 ||
        maar_field_text_map(field, entry, "selector", &selector, err) < 0)
        return -EINVAL;
    json_object_set_new(spec, "schedulerName", json_string(scheduler));
    if (node && *node)
        json_object_set_new(spec, "nodeName", json_string(node));
    if (selector)
        json_object_set_new(spec, "nodeSelector", selector);
    if (read_containers(field, entry, spec, err) < 0 ||
        read_texts(field, entry, "tolerations", spec, "tolerations", err) < 0 ||
        read_texts(field, entry, "gates", spec, "schedulingGates", err) < 0)
        return -EINVAL;
    return read_priority(field, entry, group, spec, err);
}

static int read_annotations(const struct maar_field *field, const json_t *entry,
                            const struct maar_shorthand_group *group, json_t *metadata,
                            struct maar_error *err)
{
    const char *group_name = group ? group->name : NULL, *role = NULL;
    bool preemptable = true;
    int64_t duration = 0;
    if (maar_field_name(field, entry, "group", &group_name, err) < 0 ||
        maar_field_text(field, entry, "role", &role, err) < 0 ||
        maar_field_bool(field, entry, "preemptable", &preemptable, err) < 0 ||
        maar_field_duration(field, entry, "duration", &duration, err) < 0)
        return -EINVAL;
    json_t *annotations = json_object_get(metadata, "annotations");
    if (!annotations) {
        annotations = json_object();
        json_object_set_new(metadata, "annotations", annotations);
    }
    if (group_name)
        json_object_set_new(annotations, "scheduling.k8s.io/group-name", json_string(group_name));
    if (role)
        json_object_set_new(annotations, "volcano.sh/task-spec", json_string(role));
    if (json_object_get(entry, "preemptable"))
        json_object_set_new(annotations, "volcano.sh/preemptable",
                            json_string(preemptable ? "true" : "false"));
    if (json_is_string(json_object_get(entry, "duration")))
        json_object_set(annotations, MAAR_SIM_DURATION, json_object_get(entry, "duration"));
    return 0;
}

static int set_status(const struct maar_shorthand *out, const struct maar_field *field,
                      const json_t *entry, json_t *pod, struct maar_error *err)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed", NULL};
    bool on_node = *maar_document_text(pod, "spec.nodeName") != 0;
    const char *phase = on_node ? "Running" : "Pending";
    char time[32];
    size_t i = 0;
    if (maar_field_text(field, entry, "phase", &phase, err) < 0)
        return -EINVAL;
    while (phases[i] && strcmp(phases[i], phase) != 0)
        i++;
    struct maar_field at = maar_field_key(field, "phase");
    if (!phases[i])
        return maar_field_error(&at, err,
                                "\"%.40s\" is none of Pending, Running, Succeeded, Failed", phase);
    maar_document_set(pod, "status.phase", json_string(phase));
    if (!on_node)
        return 0;
    maar_time_format(out->start_ns, time);
    maar_document_set_condition(pod, json_pack("{s:s, s:s, s:s}", "type", "PodScheduled", "status",
                                               "True", "lastTransitionTime", time));
    if (i > 0)
        maar_document_set(pod, "status.startTime", json_string(time));
    if (i == 1)
        maar_document_set_condition(pod, json_pack("{s:s, s:s, s:s}", "type", "Ready", "status",
                                                   "True", "lastTransitionTime", time));
    return 0;
}

static int build(const struct maar_shorthand *out, const struct maar_field *field,
                 const json_t *entry, const struct maar_shorthand_group *group, const char *ns,
                 const char *name, json_t *pod, struct maar_error *err)
{
    json_t *metadata = NULL;
    if (maar_shorthand_metadata(field, entry, name, &metadata, err) < 0)
        return -EINVAL;
    json_t *spec = json_object();
    json_object_set_new(metadata, "namespace", json_string(ns));
    json_object_set_new(pod, "apiVersion", json_string("v1"));
    json_object_set_new(pod, "kind", json_string("Pod"));
    json_object_set_new(pod, "metadata", metadata);
    json_object_set_new(pod, "spec", spec);
    if (maar_shorthand_created(out, field, entry, metadata, err) < 0 ||
        read_annotations(field, entry, group, metadata, err) < 0 ||
        read_spec(field, entry, group, spec, err) < 0)
        return -EINVAL;
    return set_status(out, field, entry, pod, err);
}

int maar_shorthand_template(const struct maar_field *field, const json_t *entry,
                            json_t **ret_template, struct maar_error *err)
{
    json_t *metadata = NULL, *spec = json_object();
    if (maar_shorthand_metadata(field, entry, "", &metadata, err) < 0) {
        json_decref(spec);
        return -EINVAL;
    }
    json_object_del(metadata, "name");
    json_t *template = json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec);
    if (read_annotations(field, entry, NULL, metadata, err) < 0 ||
        read_spec(field, entry, NULL, spec, err) < 0) {
        json_decref(template);
        return -EINVAL;
    }
    *ret_template = template;
    return 0;
}

/* NAME, or in a group GROUP or GROUP-ROLE when no name is given. */
static int base_name(const struct maar_field *field, const json_t *entry,
                     const struct maar_shorthand_group *group, char buffer[512],
                     struct maar_error *err)
{
    const char *name = NULL, *role = NULL;
    if (maar_field_name(field, entry, "name", &name, err) < 0 ||
        maar_field_text(field, entry, "role", &role, err) < 0)
        return -EINVAL;
    if (!name && !group)
        return maar_field_error(field, err, "name is missing");
    if (name)
        snprintf(buffer, 512, "%s", name);
    else
        snprintf(buffer, 512, "%.240s%s%.240s", group->name, role ? "-" : "", role ? role : "");
    return 0;
}

static int emit_counted(struct maar_shorthand *out, const struct maar_field *field,
                        const json_t *entry, const json_t *pod, int64_t count,
                        struct maar_error *err)
{
    for (int64_t i = 0; i < count; i++) {
        char name[600];
        json_t *one = json_deep_copy(pod);
        if (count > 1) {
            snprintf(name, sizeof name, "%s-%lld", maar_document_name(pod), (long long)i);
            maar_document_set(one, "metadata.name", json_string(name));
        }
        int rc = maar_shorthand_finish(out, field, entry, one, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int maar_shorthand_pod(struct maar_shorthand *out, const struct maar_field *field,
                       const json_t *entry, const struct maar_shorthand_group *group,
                       struct maar_error *err)
{
    static const char *const known[] = {
        "image",       "name",    "namespace", "count",       "cpu",      "memory",   "gpu",
        "resources",   "node",    "group",     "role",        "priority", "selector", "preemptable",
        "tolerations", "labels",  "init",      "annotations", "sidecars", "overhead", "gates",
        "duration",    "created", "scheduler", "phase",       "metadata", "spec",     NULL};
    const char *ns = group ? group->ns : "default";
    char name[512];
    int64_t count = 1;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_field_name(field, entry, "namespace", &ns, err) < 0 ||
        maar_field_int(field, entry, "count", 0, MAX_COUNT, &count, err) < 0 ||
        base_name(field, entry, group, name, err) < 0)
        return -EINVAL;
    json_t *pod = json_object();
    int rc = build(out, field, entry, group, ns, name, pod, err);
    if (rc == 0)
        rc = emit_counted(out, field, entry, pod, count, err);
    json_decref(pod);
    return rc;
}
