// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Expansion of the blocks and of all entries but pods (shorthand_pod.c) and what makes them (shorthand_workload.c).
#include "sim/shorthand.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/quantity.h"
#include "sim/document.h"
#include "sim/shorthand_parts.h"

#define MAX_NAMES 200000

int maar_shorthand_finish(struct maar_shorthand *out, const struct maar_field *field,
                          const json_t *entry, json_t *manifest, struct maar_error *err)
{
    static const char *const parts[] = {"metadata", "spec", NULL};
    for (size_t i = 0; parts[i]; i++) {
        json_t *given = NULL;
        if (maar_field_map(field, entry, parts[i], &given, err) < 0) {
            json_decref(manifest);
            return -EINVAL;
        }
        if (given)
            json_object_set_new(manifest, parts[i],
                                maar_patch_merge(json_object_get(manifest, parts[i]), given));
    }
    return out->emit(out->context, field, manifest, err);
}

int maar_shorthand_require_name(const struct maar_field *field, const json_t *entry,
                                const char **ret_name, struct maar_error *err)
{
    *ret_name = NULL;
    if (maar_field_name(field, entry, "name", ret_name, err) < 0)
        return -EINVAL;
    return *ret_name ? 0 : maar_field_error(field, err, "name is missing");
}

int maar_shorthand_metadata(const struct maar_field *field, const json_t *entry, const char *name,
                            json_t **ret_metadata, struct maar_error *err)
{
    static const char *const maps[] = {"labels", "annotations", NULL};
    json_t *metadata = json_pack("{s:s}", "name", name);
    for (size_t i = 0; maps[i]; i++) {
        json_t *map = NULL;
        if (maar_field_text_map(field, entry, maps[i], &map, err) < 0) {
            json_decref(metadata);
            return -EINVAL;
        }
        if (map)
            json_object_set_new(metadata, maps[i], map);
    }
    *ret_metadata = metadata;
    return 0;
}

/* ---- nodes ---- */

struct name_state {
    const struct maar_field *field;
    maar_shorthand_name_fn each;
    void *context;
    size_t n;
};

/* Of a field, or of a name from elsewhere. */
static int name_error(const struct name_state *state, struct maar_error *err, const char *text)
{
    return state->field ? maar_field_error(state->field, err, "%s", text)
                        : maar_error_set(err, -EINVAL, "%s", text);
}

static int expand_from(struct name_state *state, const char *prefix, const char *rest,
                       struct maar_error *err)
{
    const char *open = strchr(rest, '[');
    char name[512];
    if (!open) {
        snprintf(name, sizeof name, "more than %d names", MAX_NAMES);
        if (++state->n > MAX_NAMES)
            return name_error(state, err, name);
        snprintf(name, sizeof name, "%s%s", prefix, rest);
        return state->each(state->context, name, err);
    }
    unsigned long first, last;
    int n_first = 0, n_last = 0, end = 0;
    if (!isdigit((unsigned char)open[1]) ||
        sscanf(open, "[%n%lu%n-%lu]%n", &n_first, &first, &n_last, &last, &end) != 2 || end == 0 ||
        first > last || last > 10000000) {
        snprintf(name, sizeof name, "\"%.100s\": a range is written [1-8] or [01-16]", rest);
        return name_error(state, err, name);
    }
    bool padded = open[1] == '0' && n_last - n_first > 1;
    for (unsigned long i = first; i <= last; i++) {
        int n = snprintf(name, sizeof name, "%s%.*s%0*lu", prefix, (int)(open - rest), rest,
                         padded ? n_last - n_first : 1, i);
        if (n >= 250)
            return name_error(state, err, "the name is too long");
        int rc = expand_from(state, name, open + end, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int maar_shorthand_names(const struct maar_field *field, const char *pattern,
                         maar_shorthand_name_fn each, void *context, struct maar_error *err)
{
    struct name_state state = {field, each, context, 0};
    if (strlen(pattern) > 250)
        return name_error(&state, err, "the name is too long");
    return expand_from(&state, "", pattern, err);
}

static int read_taint(const struct maar_field *field, const char *text, json_t **ret,
                      struct maar_error *err)
{
    const char *colon = strrchr(text, ':');
    const char *equals = strchr(text, '=');
    if (!colon || colon == text || equals == text)
        return maar_field_error(field, err, "a taint is written key=value:Effect or key:Effect");
    const char *effect = colon + 1;
    if (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "PreferNoSchedule") != 0 &&
        strcmp(effect, "NoExecute") != 0)
        return maar_field_error(
            field, err, "\"%.40s\" is none of NoSchedule, PreferNoSchedule, NoExecute", effect);
    const char *key_end = equals && equals < colon ? equals : colon;
    *ret = json_pack("{s:s%, s:s}", "key", text, (size_t)(key_end - text), "effect", effect);
    if (key_end == equals)
        json_object_set_new(*ret, "value", json_stringn(equals + 1, (size_t)(colon - equals - 1)));
    return 0;
}

static int read_taints(const struct maar_field *field, const json_t *entry, json_t *spec,
                       struct maar_error *err)
{
    json_t *list = NULL;
    if (maar_field_list(field, entry, "taints", &list, err) < 0)
        return -EINVAL;
    struct maar_field at = maar_field_key(field, "taints");
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        struct maar_field child = maar_field_index(&at, i);
        json_t *taint = NULL;
        if (!json_is_string(item))
            return maar_field_error(&child, err, "expected a text such as key=value:NoSchedule");
        if (read_taint(&child, json_string_value(item), &taint, err) < 0)
            return -EINVAL;
        if (!json_object_get(spec, "taints"))
            json_object_set_new(spec, "taints", json_array());
        json_array_append_new(json_object_get(spec, "taints"), taint);
    }
    return 0;
}

/* images: {name: size}. */
static int read_images(const struct maar_field *field, const json_t *entry, json_t *node,
                       struct maar_error *err)
{
    json_t *sizes = NULL;
    const char *name;
    json_t *size;
    if (maar_field_amounts(field, entry, "images", &sizes, err) < 0)
        return -EINVAL;
    json_t *images = json_array();
    json_object_foreach (sizes, name, size) {
        struct maar_quantity bytes = {0};
        (void)!maar_quantity_parse(json_string_value(size), &bytes, NULL);
        json_array_append_new(images, json_pack("{s:[s], s:I}", "names", name, "sizeBytes",
                                                (json_int_t)maar_quantity_value(&bytes)));
    }
    json_decref(sizes);
    if (json_array_size(images) > 0)
        maar_document_set(node, "status.images", images);
    else
        json_decref(images);
    return 0;
}

struct node_state {
    struct maar_shorthand *out;
    const struct maar_field *field;
    const json_t *entry;
    const json_t *template;
};

static int emit_node(void *context, const char *name, struct maar_error *err)
{
    const struct node_state *state = context;
    size_t n = strlen(name);
    if (n == 0 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != n)
        return maar_field_error(state->field, err, "\"%.100s\" is no node name", name);
    json_t *node = json_deep_copy(state->template);
    maar_document_set(node, "metadata.name", json_string(name));
    json_t *labels = maar_document_at(node, "metadata.labels");
    if (!json_object_get(labels, "kubernetes.io/hostname"))
        json_object_set_new(labels, "kubernetes.io/hostname", json_string(name));
    return maar_shorthand_finish(state->out, state->field, state->entry, node, err);
}

static int read_node_parts(const struct maar_field *field, const json_t *entry, json_t *node,
                           struct maar_error *err)
{
    bool ready = true, unschedulable = false;
    char time[32];
    json_t *amounts = json_object(), *spec = json_object();
    maar_document_set(node, "spec", spec);
    maar_document_set(node, "status", json_pack("{s:o}", "allocatable", amounts));
    if (maar_shorthand_amounts(field, entry, amounts, err) < 0 ||
        maar_field_bool(field, entry, "ready", &ready, err) < 0 ||
        maar_field_bool(field, entry, "unschedulable", &unschedulable, err) < 0 ||
        read_taints(field, entry, spec, err) < 0 || read_images(field, entry, node, err) < 0)
        return -EINVAL;
    json_t *pods = NULL;
    if (maar_field_quantity(field, entry, "pods", &pods, err) < 0)
        return -EINVAL;
    json_object_set_new(amounts, "pods", pods ? pods : json_string("110"));
    if (unschedulable)
        json_object_set_new(spec, "unschedulable", json_true());
    maar_document_set(node, "status.capacity", json_deep_copy(amounts));
    maar_document_set_condition(node, json_pack("{s:s, s:s, s:s, s:s}", "type", "Ready", "status",
                                                ready ? "True" : "False", "reason",
                                                ready ? "KubeletReady" : "KubeletNotReady",
                                                "lastTransitionTime", maar_time_format(0, time)));
    return 0;
}

static int expand_node(struct maar_shorthand *out, const struct maar_field *field,
                       const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"name",     "cpu",       "memory",      "pods",
                                        "gpu",      "labels",    "annotations", "taints",
                                        "images",   "resources", "ready",       "unschedulable",
                                        "metadata", "spec",      NULL};
    const char *pattern = NULL;
    json_t *metadata = NULL;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_field_text(field, entry, "name", &pattern, err) < 0)
        return -EINVAL;
    if (!pattern)
        return maar_field_error(field, err, "name is missing");
    if (maar_shorthand_metadata(field, entry, pattern, &metadata, err) < 0)
        return -EINVAL;
    if (!json_object_get(metadata, "labels"))
        json_object_set_new(metadata, "labels", json_object());
    json_t *node =
        json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "Node", "metadata", metadata);
    int rc = read_node_parts(field, entry, node, err);
    if (rc == 0) {
        struct maar_field name = maar_field_key(field, "name");
        struct node_state state = {out, &name, entry, node};
        rc = maar_shorthand_names(&name, pattern, emit_node, &state, err);
    }
    json_decref(node);
    return rc;
}

/* ---- queues and priority classes ---- */

static int read_queue_spec(const struct maar_field *field, const json_t *entry, json_t *spec,
                           struct maar_error *err)
{
    static const char *const amounts[] = {"capability", "deserved", NULL};
    int64_t weight = 1, priority = 0;
    bool reclaimable = true;
    const char *parent = NULL, *strategy = NULL;
    json_t *guarantee = NULL;
    if (maar_field_int(field, entry, "weight", 0, INT32_MAX, &weight, err) < 0 ||
        maar_field_int(field, entry, "priority", INT32_MIN, INT32_MAX, &priority, err) < 0 ||
        maar_field_bool(field, entry, "reclaimable", &reclaimable, err) < 0 ||
        maar_field_name(field, entry, "parent", &parent, err) < 0 ||
        maar_field_text(field, entry, "dequeueStrategy", &strategy, err) < 0)
        return -EINVAL;
    json_object_set_new(spec, "weight", json_integer(weight));
    json_object_set_new(spec, "reclaimable", json_boolean(reclaimable));
    if (priority)
        json_object_set_new(spec, "priority", json_integer(priority));
    if (parent)
        json_object_set_new(spec, "parent", json_string(parent));
    if (strategy)
        json_object_set_new(spec, "dequeueStrategy", json_string(strategy));
    for (size_t i = 0; amounts[i]; i++) {
        json_t *map = NULL;
        if (maar_field_amounts(field, entry, amounts[i], &map, err) < 0)
            return -EINVAL;
        if (map)
            json_object_set_new(spec, amounts[i], map);
    }
    if (maar_field_amounts(field, entry, "guarantee", &guarantee, err) < 0)
        return -EINVAL;
    if (guarantee)
        json_object_set_new(spec, "guarantee", json_pack("{s:o}", "resource", guarantee));
    return 0;
}

static int expand_queue(struct maar_shorthand *out, const struct maar_field *field,
                        const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {
        "name",   "weight",      "capability", "deserved", "guarantee",
        "parent", "reclaimable", "priority",   "state",    "dequeueStrategy",
        "labels", "annotations", "metadata",   "spec",     NULL};
    const char *name, *state = "Open";
    json_t *metadata = NULL;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_shorthand_require_name(field, entry, &name, err) < 0 ||
        maar_field_text(field, entry, "state", &state, err) < 0 ||
        maar_shorthand_metadata(field, entry, name, &metadata, err) < 0)
        return -EINVAL;
    json_t *spec = json_object();
    json_t *queue =
        json_pack("{s:s, s:s, s:o, s:o, s:{s:s}}", "apiVersion", "scheduling.volcano.sh/v1beta1",
                  "kind", "Queue", "metadata", metadata, "spec", spec, "status", "state", state);
    if (read_queue_spec(field, entry, spec, err) < 0) {
        json_decref(queue);
        return -EINVAL;
    }
    return maar_shorthand_finish(out, field, entry, queue, err);
}

static int expand_priority_class(struct maar_shorthand *out, const struct maar_field *field,
                                 const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {
        "name", "value", "preemptionPolicy", "globalDefault", "metadata", "spec", NULL};
    const char *name, *policy = NULL;
    int64_t value = 0;
    bool is_default = false;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_shorthand_require_name(field, entry, &name, err) < 0 ||
        maar_field_int(field, entry, "value", INT32_MIN, 2000001000, &value, err) < 0 ||
        maar_field_text(field, entry, "preemptionPolicy", &policy, err) < 0 ||
        maar_field_bool(field, entry, "globalDefault", &is_default, err) < 0)
        return -EINVAL;
    json_t *class = json_pack("{s:s, s:s, s:{s:s}, s:I, s:b}", "apiVersion", "scheduling.k8s.io/v1",
                              "kind", "PriorityClass", "metadata", "name", name, "value",
                              (json_int_t)value, "globalDefault", (int)is_default);
    if (policy)
        json_object_set_new(class, "preemptionPolicy", json_string(policy));
    return maar_shorthand_finish(out, field, entry, class, err);
}

/* ---- pod groups ---- */

static int read_min_task(const struct maar_field *field, const json_t *entry, json_t *spec,
                         struct maar_error *err)
{
    json_t *map = NULL;
    if (maar_field_map(field, entry, "minTask", &map, err) < 0)
        return -EINVAL;
    if (!map)
        return 0;
    struct maar_field at = maar_field_key(field, "minTask");
    json_t *minima = json_object();
    json_object_set_new(spec, "minTaskMember", minima);
    const char *role;
    json_t *item;
    json_object_foreach (map, role, item) {
        int64_t min = 0;
        if (maar_field_int(&at, map, role, 0, INT32_MAX, &min, err) < 0)
            return -EINVAL;
        json_object_set_new(minima, role, json_integer(min));
    }
    return 0;
}

static int read_group_spec(const struct maar_field *field, const json_t *entry, json_t *spec,
                           struct maar_error *err)
{
    const char *queue = "default", *priority = NULL;
    int64_t min = 1;
    json_t *resources = NULL;
    if (maar_field_text(field, entry, "queue", &queue, err) < 0 ||
        maar_field_int(field, entry, "min", 0, INT32_MAX, &min, err) < 0 ||
        maar_field_text(field, entry, "priority", &priority, err) < 0 ||
        maar_field_amounts(field, entry, "minResources", &resources, err) < 0)
        return -EINVAL;
    json_object_set_new(spec, "queue", json_string(queue));
    json_object_set_new(spec, "minMember", json_integer(min));
    if (priority)
        json_object_set_new(spec, "priorityClassName", json_string(priority));
    if (resources)
        json_object_set_new(spec, "minResources", resources);
    int rc = maar_shorthand_sub_groups(field, entry, spec, err);
    return rc < 0 ? rc : read_min_task(field, entry, spec, err);
}

/* A group of which a pod runs already has been let in before. */
static const char *first_phase(const json_t *pods)
{
    size_t i;
    json_t *pod;
    json_array_foreach (pods, i, pod) {
        if (json_object_get(pod, "node"))
            return "Running";
    }
    return "Pending";
}

static int expand_group_pods(struct maar_shorthand *out, const struct maar_field *field,
                             const json_t *pods, const struct maar_shorthand_group *group,
                             struct maar_error *err)
{
    struct maar_field at = maar_field_key(field, "pods");
    size_t i;
    json_t *pod;
    json_array_foreach (pods, i, pod) {
        struct maar_field child = maar_field_index(&at, i);
        int rc = maar_shorthand_pod(out, &child, pod, group, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int expand_pod_group(struct maar_shorthand *out, const struct maar_field *field,
                            const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"name",     "namespace",    "queue",     "min",
                                        "minTask",  "minResources", "priority",  "phase",
                                        "labels",   "annotations",  "pods",      "created",
                                        "metadata", "spec",         "subGroups", NULL};
    struct maar_shorthand_group group = {NULL, "default", NULL};
    const char *phase = NULL;
    json_t *metadata = NULL, *pods = NULL;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_shorthand_require_name(field, entry, &group.name, err) < 0 ||
        maar_field_name(field, entry, "namespace", &group.ns, err) < 0 ||
        maar_field_text(field, entry, "priority", &group.priority, err) < 0 ||
        maar_field_text(field, entry, "phase", &phase, err) < 0 ||
        maar_field_list(field, entry, "pods", &pods, err) < 0 ||
        maar_shorthand_metadata(field, entry, group.name, &metadata, err) < 0)
        return -EINVAL;
    json_object_set_new(metadata, "namespace", json_string(group.ns));
    json_t *spec = json_object();
    json_t *manifest =
        json_pack("{s:s, s:s, s:o, s:o, s:{s:s}}", "apiVersion", "scheduling.volcano.sh/v1beta1",
                  "kind", "PodGroup", "metadata", metadata, "spec", spec, "status", "phase",
                  phase ? phase : first_phase(pods));
    if (read_group_spec(field, entry, spec, err) < 0 ||
        maar_shorthand_created(out, field, entry, metadata, err) < 0) {
        json_decref(manifest);
        return -EINVAL;
    }
    int rc = maar_shorthand_finish(out, field, entry, manifest, err);
    return rc < 0 ? rc : expand_group_pods(out, field, pods, &group, err);
}

static int expand_pod(struct maar_shorthand *out, const struct maar_field *field,
                      const json_t *entry, struct maar_error *err)
{
    return maar_shorthand_pod(out, field, entry, NULL, err);
}

/* ---- the block ---- */

int maar_shorthand_expand(const struct maar_field *field, const json_t *cluster, int64_t start_ns,
                          maar_shorthand_emit_fn emit, void *context, struct maar_error *err)
{
    static const struct {
        const char *key;
        int (*expand)(struct maar_shorthand *out, const struct maar_field *field,
                      const json_t *entry, struct maar_error *err);
    } lists[] = {
        {"nodes", expand_node},
        {"queues", expand_queue},
        {"priorityClasses", expand_priority_class},
        {"podGroups", expand_pod_group},
        {"pods", expand_pod},
        {"deployments", maar_shorthand_deployment},
        {"replicaSets", maar_shorthand_replica_set},
        {"statefulSets", maar_shorthand_stateful_set},
        {"daemonSets", maar_shorthand_daemon_set},
        {"batchJobs", maar_shorthand_batch_job},
        {"jobs", maar_shorthand_job},
    };
    const char *known[sizeof lists / sizeof *lists + 1] = {NULL};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        known[i] = lists[i].key;
    struct maar_shorthand out = {emit, context, start_ns};
    int rc = maar_field_check_map(field, cluster, known, err);
    for (size_t i = 0; rc == 0 && i < sizeof lists / sizeof *lists; i++) {
        json_t *list = NULL;
        struct maar_field at = maar_field_key(field, lists[i].key);
        rc = maar_field_list(field, cluster, lists[i].key, &list, err);
        for (size_t k = 0; rc == 0 && k < json_array_size(list); k++) {
            struct maar_field child = maar_field_index(&at, k);
            rc = lists[i].expand(&out, &child, json_array_get(list, k), err);
        }
    }
    return rc;
}
