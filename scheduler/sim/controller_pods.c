// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// What all controllers do: list, make and remove dependents, write a status. Names that Kubernetes draws at random are
// hashes of the owner's name and a count here, so a run gives the same ones each time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/admission.h"
#include "sim/controller_parts.h"

/* ---- pods ---- */

bool maar_pod_has_phase(const json_t *pod, const char *phase)
{
    const char *have = maar_document_text(pod, "status.phase");
    return strcmp(*have ? have : "Pending", phase) == 0;
}

bool maar_pod_is_over(const json_t *pod)
{
    return maar_pod_has_phase(pod, "Succeeded") || maar_pod_has_phase(pod, "Failed");
}

bool maar_pod_is_going(const json_t *pod)
{
    return maar_document_at(pod, "metadata.deletionTimestamp") != NULL;
}

bool maar_pod_is_ready(const json_t *pod)
{
    const json_t *ready = maar_document_condition(pod, "Ready");
    return maar_pod_has_phase(pod, "Running") && !maar_pod_is_going(pod) &&
           strcmp(maar_document_text(ready, "status"), "True") == 0;
}

/* ---- dependents ---- */

static int by_creation(const void *a, const void *b)
{
    const struct maar_object *const *left = a, *const *right = b;
    int order = strcmp(maar_document_text((*left)->document, "metadata.creationTimestamp"),
                       maar_document_text((*right)->document, "metadata.creationTimestamp"));
    return order ? order
                 : strcmp(maar_document_uid((*left)->document),
                          maar_document_uid((*right)->document));
}

void maar_controller_sort(struct maar_object_list *list)
{
    if (list->n > 1)
        qsort(list->data, list->n, sizeof *list->data, by_creation);
}

struct maar_known *maar_controller_known(const struct maar_controllers *controllers,
                                         const struct maar_object *object)
{
    return maar_map_find(controllers->known, maar_document_uid(object->document));
}

void maar_controller_list(const struct maar_known *known, const struct maar_collection *collection,
                          struct maar_object_list *list)
{
    size_t at = 0;
    void *value;
    while (known && known->dependents &&
           maar_map_next(known->dependents, &at, NULL, NULL, &value)) {
        const struct maar_known *dependent = value;
        if (dependent->collection != collection)
            continue;
        struct maar_object *object =
            maar_collection_object(collection, dependent->ns, dependent->name);
        if (object && strcmp(maar_document_uid(object->document), dependent->uid) == 0)
            maar_vec_push(list, object);
    }
    maar_controller_sort(list);
}

static void report_failure(struct maar_controllers *controllers, const struct maar_object *owner,
                           const char *message)
{
    char time[32], name[300];
    struct maar_answer answer;
    struct maar_collection *events = maar_store_collection(controllers->store, "v1", "Event", true);
    const char *kind = maar_document_text(owner->document, "kind");
    maar_time_format(maar_store_now(controllers->store), time);
    snprintf(name, sizeof name, "%.240s.failed-create", owner->name);
    json_t *event = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:i}",
        "apiVersion", "v1", "kind", "Event", "metadata", "name", name, "namespace", owner->ns,
        "involvedObject", "apiVersion", maar_document_text(owner->document, "apiVersion"), "kind",
        kind, "namespace", owner->ns, "name", owner->name, "uid",
        maar_document_uid(owner->document), "type", "Warning", "reason", "FailedCreate", "message",
        message, "firstTimestamp", time, "lastTimestamp", time, "count", 1);
    maar_store_create_object(controllers->store, events, owner->ns, event, false, &answer);
    maar_answer_fini(&answer);
    json_decref(event);
}

bool maar_controller_create(struct maar_controllers *controllers,
                            struct maar_collection *collection, const struct maar_object *owner,
                            json_t *document)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_answer answer;
    bool made = false;
    if (maar_admission_complete(controllers->store, collection->type, document, &err) < 0) {
        report_failure(controllers, owner, err.text);
    } else {
        int code = maar_store_create_object(controllers->store, collection, owner->ns, document,
                                            true, &answer);
        made = code == 201;
        if (!made && code != 409)
            report_failure(controllers, owner, answer.message);
        maar_answer_fini(&answer);
    }
    json_decref(document);
    return made;
}

void maar_controller_delete(struct maar_controllers *controllers,
                            struct maar_collection *collection, struct maar_object *object)
{
    struct maar_answer answer;
    maar_autofree char *ns = maar_strdup(object->ns), *name = maar_strdup(object->name);
    maar_store_delete(controllers->store, collection, ns, name, NULL, &answer);
    maar_answer_fini(&answer);
}

void maar_controller_set_status(struct maar_controllers *controllers, struct maar_known *known,
                                struct maar_object *object, json_t *status)
{
    json_t *next =
        json_copy(object->document); /* metadata is changed by the store, so it is copied */
    json_object_set_new(next, "metadata",
                        json_deep_copy(json_object_get(object->document, "metadata")));
    json_object_set_new(next, "status", status);
    maar_store_replace(controllers->store, known->collection, object, next);
}

json_t *maar_controller_condition(const struct maar_controllers *controllers, const json_t *object,
                                  const char *type, bool holds, const char *reason,
                                  const char *message)
{
    char time[32];
    const char *status = holds ? "True" : "False";
    const json_t *old = maar_document_condition(object, type);
    const char *since = maar_document_text(old, "lastTransitionTime");
    if (!*since || strcmp(maar_document_text(old, "status"), status) != 0)
        since = maar_time_format(maar_store_now(controllers->store), time);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", status, "reason", reason,
                     "message", message, "lastTransitionTime", since);
}

/* ---- building ---- */

json_t *maar_controller_reference(const struct maar_object *owner)
{
    return json_pack("[{s:s, s:s, s:s, s:s, s:b, s:b}]", "apiVersion",
                     maar_document_text(owner->document, "apiVersion"), "kind",
                     maar_document_text(owner->document, "kind"), "name", owner->name, "uid",
                     maar_document_uid(owner->document), "controller", 1, "blockOwnerDeletion", 1);
}

const json_t *maar_controller_of(const json_t *document)
{
    const json_t *references = maar_document_at(document, "metadata.ownerReferences");
    for (size_t i = 0; i < json_array_size(references); i++)
        if (maar_document_bool(json_array_get(references, i), "controller", false))
            return json_array_get(references, i);
    return NULL;
}

static json_t *map_of(const json_t *template, const char *path)
{
    json_t *map = maar_document_at(template, path);
    return json_is_object(map) ? json_deep_copy(map) : json_object();
}

json_t *maar_controller_pod(const struct maar_object *owner, const json_t *template,
                            const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:o, s:o, s:o}, s:o, s:{s:s}}", "apiVersion", "v1",
                     "kind", "Pod", "metadata", "name", name, "namespace", owner->ns, "labels",
                     map_of(template, "metadata.labels"), "annotations",
                     map_of(template, "metadata.annotations"), "ownerReferences",
                     maar_controller_reference(owner), "spec", map_of(template, "spec"), "status",
                     "phase", "Pending");
}

static void set_in(json_t *document, const char *path, const char *key, const char *value)
{
    json_t *map = maar_document_at(document, path);
    if (!json_is_object(map)) {
        map = json_object();
        maar_document_set(document, path, map);
    }
    json_object_set_new(map, key, json_string(value));
}

void maar_controller_label(json_t *document, const char *key, const char *value)
{
    set_in(document, "metadata.labels", key, value);
}

void maar_controller_annotate(json_t *document, const char *key, const char *value)
{
    set_in(document, "metadata.annotations", key, value);
}

/* ---- names ---- */

/* Without vowels and what looks like them, as Kubernetes has it. */
static void spell(uint64_t hash, char *buffer, size_t n)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    for (size_t i = 0; i < n; i++) {
        buffer[i] = letters[hash % (sizeof letters - 1)];
        hash /= sizeof letters - 1;
    }
    buffer[n] = 0;
}

char *maar_controller_hash_text(uint64_t hash, char buffer[12])
{
    spell(hash, buffer, 10);
    return buffer;
}

char *maar_controller_suffix(uint64_t hash, char buffer[6])
{
    spell(hash, buffer, 5);
    return buffer;
}

uint64_t maar_controller_hash(const json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    uint64_t hash = text ? maar_hash_bytes(text, strlen(text), 1) : 0;
    free(text);
    return hash;
}

void maar_controller_next_name(struct maar_controllers *controllers, struct maar_known *known,
                               const char *prefix, char buffer[320])
{
    char key[640], suffix[6];
    do {
        int n = snprintf(key, sizeof key, "%.250s/%.300s %lu", known->ns, prefix, known->n_made++);
        maar_controller_suffix(maar_hash_bytes(key, (size_t)n, 1), suffix);
        snprintf(buffer, 320, "%.240s-%s", prefix, suffix);
    } while (maar_collection_object(controllers->pods, known->ns, buffer));
}

const char *maar_controller_revision(struct maar_known *known, const struct maar_object *object,
                                     const struct maar_object_list *pods)
{
    uint64_t hash = maar_controller_hash(maar_document_at(object->document, "spec.template"));
    if (*known->revision && hash == known->template_hash)
        return known->revision;
    char text[12];
    const char *there = "";
    if (!*known->revision && pods->n > 0) {
        const json_t *labels =
            maar_document_at(pods->data[pods->n - 1]->document, "metadata.labels");
        const char *label = json_string_value(json_object_get(labels, "controller-revision-hash"));
        there = label ? label : "";
    }
    known->template_hash = hash;
    if (*there)
        snprintf(known->revision, sizeof known->revision, "%s", there);
    else
        snprintf(known->revision, sizeof known->revision, "%.50s-%s", object->name,
                 maar_controller_hash_text(hash, text));
    return known->revision;
}
