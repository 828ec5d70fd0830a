// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Expansion of what makes pods. The keys that describe a pod are those of `pods:` and go into the template; `queue` and
// `min` are those of the PodGroup that the pods get.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/document.h"
#include "sim/shorthand_parts.h"
#include "sim/workload_check.h"

#define TEMPLATE_KEYS                                                                              \
    "cpu", "memory", "gpu", "resources", "selector", "tolerations", "labels", "annotations",       \
        "init", "sidecars", "overhead", "gates", "scheduler", "priority", "preemptable"
#define OBJECT_KEYS "name", "namespace", "created", "metadata", "spec"

struct workload {
    struct maar_shorthand *out;
    const struct maar_field *field;
    const json_t *entry;
    json_t *manifest;
    json_t *spec; /* of the manifest */
};

/* Starts the manifest: its metadata and an empty spec. */
static int begin(struct workload *workload, const char *const *known, const char *api_version,
                 const char *kind, struct maar_error *err)
{
    const struct maar_field *field = workload->field;
    const char *name, *ns = "default";
    if (maar_field_check_map(field, workload->entry, known, err) < 0 ||
        maar_shorthand_require_name(field, workload->entry, &name, err) < 0 ||
        maar_field_name(field, workload->entry, "namespace", &ns, err) < 0)
        return -EINVAL;
    json_t *metadata = json_pack("{s:s, s:s}", "name", name, "namespace", ns);
    workload->spec = json_object();
    workload->manifest = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", api_version, "kind", kind,
                                   "metadata", metadata, "spec", workload->spec);
    return maar_shorthand_created(workload->out, field, workload->entry, metadata, err);
}

static int finish(struct workload *workload, int rc, struct maar_error *err)
{
    if (rc == 0)
        return maar_shorthand_finish(workload->out, workload->field, workload->entry,
                                     workload->manifest, err);
    json_decref(workload->manifest);
    return rc;
}

/* A number of pods, left out of the manifest when it is not given. */
static int read_count(const struct workload *workload, const char *key, struct maar_error *err)
{
    int64_t count = 0;
    if (maar_field_int(workload->field, workload->entry, key, 0, MAAR_MAX_REPLICAS, &count, err) <
        0)
        return -EINVAL;
    if (json_is_integer(json_object_get(workload->entry, key)))
        json_object_set_new(workload->spec, key, json_integer((json_int_t)count));
    return 0;
}

/* `queue` and `min` of a PodGroup that is made for its pods: Volcano reads them from annotations of pod and owner. */
static int read_group(const struct workload *workload, json_t *template, struct maar_error *err)
{
    const char *queue = NULL;
    int64_t min = 1;
    char text[24];
    if (maar_field_name(workload->field, workload->entry, "queue", &queue, err) < 0 ||
        maar_field_int(workload->field, workload->entry, "min", 0, MAAR_MAX_REPLICAS, &min, err) <
            0)
        return -EINVAL;
    if (queue)
        json_object_set_new(maar_document_at(template, "metadata.annotations"),
                            "scheduling.volcano.sh/queue-name", json_string(queue));
    if (json_is_integer(json_object_get(workload->entry, "min"))) {
        snprintf(text, sizeof text, "%lld", (long long)min);
        json_object_set_new(json_object_get(workload->manifest, "metadata"), "annotations",
                            json_pack("{s:s}", "scheduling.volcano.sh/group-min-member", text));
    }
    return 0;
}

static int read_template(const struct workload *workload, struct maar_error *err)
{
    json_t *template = NULL;
    if (maar_shorthand_template(workload->field, workload->entry, &template, err) < 0)
        return -EINVAL;
    json_object_set_new(workload->spec, "template", template);
    return read_group(workload, template, err);
}

/* The pods are found by their label `app`, the object's name when none is given. */
static void set_selector(const struct workload *workload)
{
    json_t *metadata = maar_document_at(workload->spec, "template.metadata");
    if (!json_object_get(metadata, "labels"))
        json_object_set_new(metadata, "labels", json_object());
    json_t *labels = json_object_get(metadata, "labels");
    if (!json_object_get(labels, "app"))
        json_object_set_new(labels, "app", json_string(maar_document_name(workload->manifest)));
    json_object_set_new(
        workload->spec, "selector",
        json_pack("{s:{s:O}}", "matchLabels", "app", json_object_get(labels, "app")));
}

/* ---- apps/v1 ---- */

static int expand_replicated(struct maar_shorthand *out, const struct maar_field *field,
                             const json_t *entry, const char *kind, struct maar_error *err)
{
    static const char *const known[] = {"replicas",  "queue",       "min",
                                        OBJECT_KEYS, TEMPLATE_KEYS, NULL};
    bool counted = strcmp(kind, "DaemonSet") != 0;
    struct workload workload = {.out = out, .field = field, .entry = entry};
    int rc = begin(&workload, known + !counted, "apps/v1", kind, err);
    if (rc == 0 && counted)
        rc = read_count(&workload, "replicas", err);
    if (rc == 0)
        rc = read_template(&workload, err);
    if (rc == 0)
        set_selector(&workload);
    return finish(&workload, rc, err);
}

int maar_shorthand_deployment(struct maar_shorthand *out, const struct maar_field *field,
                              const json_t *entry, struct maar_error *err)
{
    return expand_replicated(out, field, entry, "Deployment", err);
}

int maar_shorthand_replica_set(struct maar_shorthand *out, const struct maar_field *field,
                               const json_t *entry, struct maar_error *err)
{
    return expand_replicated(out, field, entry, "ReplicaSet", err);
}

int maar_shorthand_stateful_set(struct maar_shorthand *out, const struct maar_field *field,
                                const json_t *entry, struct maar_error *err)
{
    return expand_replicated(out, field, entry, "StatefulSet", err);
}

int maar_shorthand_daemon_set(struct maar_shorthand *out, const struct maar_field *field,
                              const json_t *entry, struct maar_error *err)
{
    return expand_replicated(out, field, entry, "DaemonSet", err);
}

/* ---- batch/v1 ---- */

int maar_shorthand_batch_job(struct maar_shorthand *out, const struct maar_field *field,
                             const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"parallelism", "completions", "indexed",
                                        "duration",    "queue",       "min",
                                        OBJECT_KEYS,   TEMPLATE_KEYS, NULL};
    struct workload workload = {.out = out, .field = field, .entry = entry};
    bool indexed = false;
    int rc = begin(&workload, known, "batch/v1", "Job", err);
    if (rc == 0)
        rc = maar_field_bool(field, entry, "indexed", &indexed, err);
    if (rc == 0)
        rc = read_count(&workload, "parallelism", err);
    if (rc == 0)
        rc = read_count(&workload, "completions", err);
    if (rc == 0)
        rc = read_template(&workload, err);
    if (rc == 0)
        maar_document_set(workload.spec, "template.spec.restartPolicy", json_string("Never"));
    if (rc == 0 && indexed)
        json_object_set_new(workload.spec, "completionMode", json_string("Indexed"));
    return finish(&workload, rc, err);
}

/* ---- batch.volcano.sh ---- */

static int read_depends(const struct maar_field *field, const json_t *entry, json_t *task,
                        struct maar_error *err)
{
    json_t *names = NULL;
    if (maar_field_list(field, entry, "dependsOn", &names, err) < 0)
        return -EINVAL;
    if (names)
        json_object_set_new(task, "dependsOn", json_pack("{s:O}", "name", names));
    return 0;
}

/* The pod's own metadata and spec are merged into the template. */
static int merge_template(const struct maar_field *field, const json_t *entry, json_t *template,
                          struct maar_error *err)
{
    static const char *const parts[] = {"metadata", "spec", NULL};
    for (size_t i = 0; parts[i]; i++) {
        json_t *given = NULL;
        if (maar_field_map(field, entry, parts[i], &given, err) < 0)
            return -EINVAL;
        if (given)
            json_object_set_new(template, parts[i],
                                maar_patch_merge(json_object_get(template, parts[i]), given));
    }
    return 0;
}

static int read_task(const struct maar_field *field, const json_t *entry, json_t *tasks,
                     struct maar_error *err)
{
    static const char *const known[] = {"name",      "replicas",    "min",
                                        "dependsOn", "duration",    "metadata",
                                        "spec",      TEMPLATE_KEYS, NULL};
    const char *name;
    int64_t replicas = 1, min = 0;
    json_t *template = NULL;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_shorthand_require_name(field, entry, &name, err) < 0 ||
        maar_field_int(field, entry, "replicas", 0, MAAR_MAX_REPLICAS, &replicas, err) < 0 ||
        maar_field_int(field, entry, "min", 0, MAAR_MAX_REPLICAS, &min, err) < 0 ||
        maar_shorthand_template(field, entry, &template, err) < 0)
        return -EINVAL;
    json_t *task = json_pack("{s:s, s:I, s:o}", "name", name, "replicas", (json_int_t)replicas,
                             "template", template);
    json_array_append_new(tasks, task);
    if (json_is_integer(json_object_get(entry, "min")))
        json_object_set_new(task, "minAvailable", json_integer((json_int_t)min));
    if (read_depends(field, entry, task, err) < 0)
        return -EINVAL;
    return merge_template(field, entry, template, err);
}

static int read_job(const struct workload *workload, struct maar_error *err)
{
    const char *queue = "default", *priority = NULL;
    json_t *list = NULL, *tasks = json_array();
    int64_t min = 0;
    json_object_set_new(workload->spec, "tasks", tasks);
    if (maar_field_name(workload->field, workload->entry, "queue", &queue, err) < 0 ||
        maar_field_text(workload->field, workload->entry, "priority", &priority, err) < 0 ||
        maar_field_int(workload->field, workload->entry, "min", 0, MAAR_MAX_REPLICAS, &min, err) <
            0 ||
        maar_field_list(workload->field, workload->entry, "tasks", &list, err) < 0)
        return -EINVAL;
    json_object_set_new(workload->spec, "queue", json_string(queue));
    json_object_set_new(workload->spec, "schedulerName", json_string("volcano"));
    if (priority)
        json_object_set_new(workload->spec, "priorityClassName", json_string(priority));
    if (min > 0)
        json_object_set_new(workload->spec, "minAvailable", json_integer((json_int_t)min));
    struct maar_field at = maar_field_key(workload->field, "tasks");
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        if (read_task(&child, json_array_get(list, i), tasks, err) < 0)
            return -EINVAL;
    }
    return 0;
}

int maar_shorthand_job(struct maar_shorthand *out, const struct maar_field *field,
                       const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"queue",  "min",         "priority",  "tasks",
                                        "labels", "annotations", OBJECT_KEYS, NULL};
    static const char *const maps[] = {"labels", "annotations", NULL};
    struct workload workload = {.out = out, .field = field, .entry = entry};
    int rc = begin(&workload, known, "batch.volcano.sh/v1alpha1", "Job", err);
    for (size_t i = 0; rc == 0 && maps[i]; i++) {
        json_t *map = NULL;
        rc = maar_field_text_map(field, entry, maps[i], &map, err);
        if (map)
            json_object_set_new(json_object_get(workload.manifest, "metadata"), maps[i], map);
    }
    if (rc == 0)
        rc = read_job(&workload, err);
    return finish(&workload, rc, err);
}
