// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Edits made on the embedded cluster: each gives a whole new document in the place of the old one.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "sim/document.h"
#include "sim/edit.h"
#include "sim/shorthand.h"

#define SCHEDULING "scheduling.volcano.sh/v1beta1"

struct application {
    const struct maar_edit *edit;
    struct maar_cluster *cluster;
    struct maar_store *store;
};

static const struct {
    const char *api_version;
    const char *kind;
    bool namespaced;
} kinds[MAAR_EDIT_N_KINDS] = {
    {"v1", "Node", false},
    {SCHEDULING, "Queue", false},
    {SCHEDULING, "PodGroup", true},
    {"v1", "Pod", true},
};

/* ---- looking up ---- */

static struct maar_collection *collection_of(const struct application *app, int kind)
{
    return maar_store_collection(app->store, kinds[kind].api_version, kinds[kind].kind,
                                 kinds[kind].namespaced);
}

static int complain(const struct application *app, size_t column, struct maar_error *err,
                    const char *text)
{
    return maar_error_set(err, -EINVAL, "'%.200s': column %zu: %s", app->edit->text, column, text);
}

/* "there is no pod a/b; did you mean a/c?" */
static int not_there(const struct application *app, const struct maar_collection *collection,
                     const char *what, const char *name, size_t column, struct maar_error *err)
{
    MAAR_VEC(char *) names = {0};
    const struct maar_object *object;
    size_t at = 0;
    while (collection && (object = maar_collection_next(collection, &at))) {
        char *full = *object->ns ? maar_asprintf("%s/%s", object->ns, object->name)
                                 : maar_strdup(object->name);
        maar_vec_push(&names, full);
    }
    maar_vec_push(&names, NULL);
    const char *nearest = maar_text_nearest(name, (const char *const *)names.data);
    maar_autofree char *text =
        maar_asprintf("there is no %s %.200s%s%s%s", what, name, nearest ? "; did you mean " : "",
                      nearest ? nearest : "", nearest ? "?" : "");
    int rc = complain(app, column, err, text);
    for (size_t i = 0; i < names.n; i++)
        free(names.data[i]);
    maar_vec_fini(&names);
    return rc;
}

static void split_name(const char *full, bool namespaced, char ns[512], char name[512])
{
    const char *slash = namespaced ? strchr(full, '/') : NULL;
    snprintf(ns, 512, "%.*s",
             slash        ? (int)(slash - full)
             : namespaced ? 7
                          : 0,
             slash ? full : "default");
    snprintf(name, 512, "%s", slash ? slash + 1 : full);
}

static bool is_true(const struct maar_edit_word *word)
{
    return strcmp(word->value, "true") == 0;
}

struct found {
    MAAR_VEC(struct maar_object *) objects;
};

/* The pods that name the group. */
static struct found find_pods(const struct application *app, const char *ns, const char *group)
{
    struct found found = {0};
    struct maar_object *object;
    size_t at = 0;
    while ((object = maar_collection_next(collection_of(app, MAAR_EDIT_POD), &at)))
        if (strcmp(object->ns, ns) == 0 &&
            strcmp(maar_document_pod_group(object->document), group) == 0)
            maar_vec_push(&found.objects, object);
    return found;
}

/* Sets a map's entry, or takes it out for NULL. The map is made. */
static void set_in(json_t *document, const char *path, const char *key, const char *value)
{
    json_t *map = maar_document_at(document, path);
    if (!json_is_object(map)) {
        maar_document_set(document, path, json_object());
        map = maar_document_at(document, path);
    }
    if (!value)
        json_object_del(map, key);
    else
        json_object_set_new(map, key, json_string(value));
}

/* An amount, or "none" for no such entry. */
static const char *amount(const struct maar_edit_word *word)
{
    return strcmp(word->value, "none") == 0 ? NULL : word->value;
}

static json_t *number(const char *value)
{
    return json_integer(strtoll(value, NULL, 10));
}

/* ---- nodes ---- */

static void set_taint(json_t *node, const char *value)
{
    size_t n = strlen(value), n_key = strcspn(value, "=:");
    bool remove = value[n - 1] == '-' && !strchr(value, '=');
    const char *colon = strrchr(value, ':');
    json_t *old = maar_document_at(node, "spec.taints"), *list = json_array(), *taint;
    size_t i;
    n_key = remove ? n - 1 : n_key;
    json_array_foreach (old, i, taint) {
        const char *key = maar_document_text(taint, "key");
        if (strlen(key) != n_key || strncmp(key, value, n_key) != 0)
            json_array_append(list, taint);
    }
    if (!remove && colon) {
        taint = json_pack("{s:s%, s:s}", "key", value, n_key, "effect", colon + 1);
        if (value[n_key] == '=')
            json_object_set_new(
                taint, "value",
                json_stringn(value + n_key + 1, (size_t)(colon - value) - n_key - 1));
        json_array_append_new(list, taint);
    }
    if (old || json_array_size(list) > 0)
        maar_document_set(node, "spec.taints", list);
    else
        json_decref(list);
}

static void set_label(json_t *node, const char *value)
{
    const char *equals = strchr(value, '=');
    size_t n_key = equals ? (size_t)(equals - value) : strlen(value) - 1;
    maar_autofree char *key = maar_strndup(value, n_key);
    set_in(node, "metadata.labels", key, equals ? equals + 1 : NULL);
}

static void set_ready(json_t *node, bool ready)
{
    char time[32];
    set_taint(node, "node.kubernetes.io/unreachable-");
    set_taint(node,
              ready ? "node.kubernetes.io/not-ready-" : "node.kubernetes.io/not-ready:NoSchedule");
    maar_document_set_condition(node, json_pack("{s:s, s:s, s:s, s:s}", "type", "Ready", "status",
                                                ready ? "True" : "False", "reason",
                                                ready ? "KubeletReady" : "KubeletNotReady",
                                                "lastTransitionTime", maar_time_format(0, time)));
}

/* With the taints that the node lifecycle controller keeps in step. */
static void set_unschedulable(json_t *node, bool unschedulable)
{
    maar_document_set(node, "spec.unschedulable", json_boolean(unschedulable));
    set_taint(node, unschedulable ? "node.kubernetes.io/unschedulable:NoSchedule"
                                  : "node.kubernetes.io/unschedulable-");
}

static void change_node(json_t *node, const struct maar_edit_word *word)
{
    if (strcmp(word->key, "label") == 0)
        set_label(node, word->value);
    else if (strcmp(word->key, "taint") == 0)
        set_taint(node, word->value);
    else if (strcmp(word->key, "unschedulable") == 0)
        set_unschedulable(node, is_true(word));
    else if (strcmp(word->key, "ready") == 0)
        set_ready(node, is_true(word));
    else if (strcmp(word->key, "like") != 0) {
        set_in(node, "status.allocatable", word->key, word->value);
        set_in(node, "status.capacity", word->key, word->value);
    }
}

/* The same machine under another name. */
static json_t *copy_node(const json_t *document, const char *name)
{
    json_t *node = json_deep_copy(document), *spec = json_object();
    json_t *labels = json_deep_copy(maar_document_at(document, "metadata.labels"));
    json_t *annotations = json_deep_copy(maar_document_at(document, "metadata.annotations"));
    json_t *taints = maar_document_at(document, "spec.taints");
    json_object_set_new(node, "metadata", json_pack("{s:s}", "name", name));
    maar_document_set(node, "metadata.labels", labels ? labels : json_object());
    if (annotations)
        maar_document_set(node, "metadata.annotations", annotations);
    if (taints)
        json_object_set_new(spec, "taints", json_deep_copy(taints));
    json_object_set_new(node, "spec", spec);
    set_in(node, "metadata.labels", "kubernetes.io/hostname", name);
    set_ready(node, true);
    return node;
}

static int new_node(const struct application *app, const char *name, json_t **ret,
                    struct maar_error *err)
{
    const struct maar_edit_word *word;
    size_t n = strlen(name);
    if (n == 0 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != n)
        return complain(app, app->edit->name_column, err,
                        "this is no name of a node; expected small letters, digits, - and .");
    MAAR_VEC_EACH (&app->edit->words, word) {
        if (strcmp(word->key, "like") != 0)
            continue;
        const struct maar_collection *nodes = collection_of(app, MAAR_EDIT_NODE);
        const struct maar_object *other = maar_collection_object(nodes, "", word->value);
        if (!other)
            return not_there(app, nodes, "node", word->value, word->column, err);
        *ret = copy_node(other->document, name);
        return 0;
    }
    *ret =
        json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{}, s:{s:{s:s}, s:{s:s}}}", "apiVersion", "v1",
                  "kind", "Node", "metadata", "name", name, "labels", "kubernetes.io/hostname",
                  name, "spec", "status", "allocatable", "pods", "110", "capacity", "pods", "110");
    set_ready(*ret, true);
    return 0;
}

static void free_pod(const struct application *app, struct maar_object *object)
{
    struct maar_collection *pods = collection_of(app, MAAR_EDIT_POD);
    const char *phase = maar_document_text(object->document, "status.phase");
    if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
        return;
    if (strcmp(maar_document_text(object->document, "spec.schedulerName"), "volcano") != 0) {
        maar_store_remove(app->store, pods, object);
        return;
    }
    json_t *pod = json_deep_copy(object->document);
    json_object_del(json_object_get(pod, "spec"), "nodeName");
    json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
    maar_store_replace(app->store, pods, object, pod);
}

/* Their owners make the pods of a lost node again. */
static void free_pods(const struct application *app, const char *node)
{
    struct found found = {0};
    struct maar_object *object;
    size_t at = 0;
    while ((object = maar_collection_next(collection_of(app, MAAR_EDIT_POD), &at)))
        if (strcmp(maar_document_text(object->document, "spec.nodeName"), node) == 0)
            maar_vec_push(&found.objects, object);
    for (size_t i = 0; i < found.objects.n; i++)
        free_pod(app, found.objects.data[i]);
    maar_vec_fini(&found.objects);
}

/* ---- queues ---- */

static json_t *new_queue(const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:i, s:b}, s:{s:s}}", "apiVersion", SCHEDULING, "kind",
                     "Queue", "metadata", "name", name, "spec", "weight", 1, "reclaimable", 1,
                     "status", "state", "Open");
}

static void change_queue(json_t *queue, const struct maar_edit_word *word)
{
    const char *dot = strchr(word->key, '.');
    char path[64];
    if (strncmp(word->key, "guarantee.", 10) == 0) {
        set_in(queue, "spec.guarantee.resource", dot + 1, amount(word));
    } else if (dot) {
        snprintf(path, sizeof path, "spec.%.*s", (int)(dot - word->key), word->key);
        set_in(queue, path, dot + 1, amount(word));
    } else if (strcmp(word->key, "state") == 0) {
        maar_document_set(queue, "status.state", json_string(word->value));
    } else if (strcmp(word->key, "reclaimable") == 0) {
        maar_document_set(queue, "spec.reclaimable", json_boolean(is_true(word)));
    } else {
        bool is_text =
            strcmp(word->key, "parent") == 0 || strcmp(word->key, "dequeueStrategy") == 0;
        snprintf(path, sizeof path, "spec.%.40s", word->key);
        maar_document_set(queue, path, is_text ? json_string(word->value) : number(word->value));
    }
}

/* ---- pod groups and pods ---- */

static int find_priority(const struct application *app, const struct maar_edit_word *word,
                         const json_t **ret, struct maar_error *err)
{
    const struct maar_collection *classes =
        maar_store_find(app->store, "scheduling.k8s.io/v1", "PriorityClass");
    const struct maar_object *object =
        classes ? maar_collection_object(classes, "", word->value) : NULL;
    if (!object)
        return not_there(app, classes, "PriorityClass", word->value, word->column, err);
    *ret = object->document;
    return 0;
}

static void ungate(const struct application *app, const char *ns, const char *group)
{
    struct found found = find_pods(app, ns, group);
    for (size_t i = 0; i < found.objects.n; i++) {
        json_t *pod = json_deep_copy(found.objects.data[i]->document);
        json_object_del(json_object_get(pod, "spec"), "schedulingGates");
        maar_store_replace(app->store, collection_of(app, MAAR_EDIT_POD), found.objects.data[i],
                           pod);
    }
    maar_vec_fini(&found.objects);
}

static json_t *new_group(const char *ns, const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:i, s:s}, s:{s:s}}", "apiVersion", SCHEDULING,
                     "kind", "PodGroup", "metadata", "name", name, "namespace", ns, "spec",
                     "minMember", 1, "queue", "default", "status", "phase", "Pending");
}

static int change_group(const struct application *app, json_t *group,
                        const struct maar_edit_word *word, struct maar_error *err)
{
    const json_t *class = NULL;
    if (strcmp(word->key, "min") == 0) {
        maar_document_set(group, "spec.minMember", number(word->value));
    } else if (strcmp(word->key, "queue") == 0) {
        maar_document_set(group, "spec.queue", json_string(word->value));
    } else if (strcmp(word->key, "priority") == 0) {
        int rc = find_priority(app, word, &class, err);
        if (rc < 0)
            return rc;
        maar_document_set(group, "spec.priorityClassName", json_string(word->value));
    } else if (strncmp(word->key, "minResources.", 13) == 0) {
        set_in(group, "spec.minResources", word->key + 13, amount(word));
    } else if (strcmp(word->key, "gates") == 0) {
        ungate(app, maar_document_namespace(group), maar_document_name(group));
    }
    return 0;
}

/* The first container asks for the amount, the others for none of it. */
static void set_request(json_t *pod, const char *resource, const char *value)
{
    json_t *containers = maar_document_at(pod, "spec.containers"), *container;
    size_t i;
    json_array_foreach (containers, i, container) {
        json_object_del(maar_document_at(container, "resources.limits"), resource);
        set_in(container, "resources.requests", resource, i == 0 ? value : NULL);
    }
}

static int change_pod(const struct application *app, json_t *pod, const struct maar_edit_word *word,
                      struct maar_error *err)
{
    const json_t *class = NULL;
    if (strcmp(word->key, "gates") == 0) {
        json_object_del(json_object_get(pod, "spec"), "schedulingGates");
    } else if (strcmp(word->key, "priority") == 0) {
        int rc = find_priority(app, word, &class, err);
        if (rc < 0)
            return rc;
        maar_document_set(pod, "spec.priorityClassName", json_string(word->value));
        maar_document_set(pod, "spec.priority", json_integer(maar_document_int(class, "value", 0)));
    } else {
        set_request(pod, word->key, word->value);
    }
    return 0;
}

/* ---- one object ---- */

static bool is_delete(const struct maar_edit *edit)
{
    const struct maar_edit_word *word;
    MAAR_VEC_EACH (&edit->words, word) {
        if (strcmp(word->key, "delete") == 0)
            return true;
    }
    return false;
}

static void delete_pods_of(const struct application *app, const char *ns, const char *group)
{
    struct found found = find_pods(app, ns, group);
    for (size_t i = 0; i < found.objects.n; i++)
        maar_store_remove(app->store, collection_of(app, MAAR_EDIT_POD), found.objects.data[i]);
    maar_vec_fini(&found.objects);
}

static void delete_object(const struct application *app, struct maar_collection *collection,
                          struct maar_object *object)
{
    if (app->edit->kind == MAAR_EDIT_NODE)
        free_pods(app, object->name);
    if (app->edit->kind == MAAR_EDIT_POD_GROUP)
        delete_pods_of(app, object->ns, object->name);
    maar_store_remove(app->store, collection, object);
}

static int change(const struct application *app, json_t *document, struct maar_error *err)
{
    const struct maar_edit_word *word;
    int rc = 0;
    MAAR_VEC_EACH (&app->edit->words, word) {
        switch (app->edit->kind) {
        case MAAR_EDIT_NODE:
            change_node(document, word);
            break;
        case MAAR_EDIT_QUEUE:
            change_queue(document, word);
            break;
        case MAAR_EDIT_POD_GROUP:
            rc = change_group(app, document, word, err);
            break;
        default:
            rc = change_pod(app, document, word, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Some pod names the group, which is not there. */
static bool has_pods(const struct application *app, const char *ns, const char *group)
{
    struct found found = find_pods(app, ns, group);
    bool has = found.objects.n > 0;
    maar_vec_fini(&found.objects);
    return has;
}

static int make(const struct application *app, const char *full, const char *ns, const char *name,
                json_t **ret, struct maar_error *err)
{
    int kind = app->edit->kind;
    if (kind == MAAR_EDIT_NODE && !is_delete(app->edit))
        return new_node(app, name, ret, err);
    if (kind == MAAR_EDIT_QUEUE && !is_delete(app->edit)) {
        *ret = new_queue(name);
        return 0;
    }
    if (kind == MAAR_EDIT_POD_GROUP && !is_delete(app->edit) && has_pods(app, ns, name)) {
        *ret = new_group(ns, name);
        return 0;
    }
    maar_autofree char *key = kinds[kind].namespaced ? maar_asprintf("%s/%s", ns, name) : NULL;
    return not_there(app, collection_of(app, kind), kinds[kind].kind, key ? key : full,
                     app->edit->name_column, err);
}

static int apply_one(void *context, const char *full, struct maar_error *err)
{
    const struct application *app = context;
    struct maar_collection *collection = collection_of(app, app->edit->kind);
    char ns[512], name[512];
    split_name(full, kinds[app->edit->kind].namespaced, ns, name);
    struct maar_object *object = maar_collection_object(collection, ns, name);
    if (object && app->edit->words.n == 0)
        return complain(app, app->edit->name_column, err,
                        "this is there already, and the edit does not say what to change");
    json_t *document = object ? json_deep_copy(object->document) : NULL;
    int rc = object ? 0 : make(app, full, ns, name, &document, err);
    if (rc == 0 && object && is_delete(app->edit))
        delete_object(app, collection, object);
    else if (rc == 0)
        rc = change(app, document, err);
    if (rc < 0 || (object && is_delete(app->edit))) {
        json_decref(document);
        return rc;
    }
    if (object) {
        maar_store_replace(app->store, collection, object, document);
        return 0;
    }
    rc = maar_cluster_add(app->cluster, document, err);
    json_decref(document);
    return rc < 0 ? -EINVAL : 0;
}

int maar_edits_apply(const struct maar_edits *edits, struct maar_cluster *cluster,
                     struct maar_error *err)
{
    struct application app = {.cluster = cluster, .store = maar_cluster_store(cluster)};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < edits->items.n; i++) {
        app.edit = &edits->items.data[i];
        rc = maar_shorthand_names(NULL, app.edit->name, apply_one, &app, err);
    }
    return rc;
}
