// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The object store. Documents are copied before they are changed; the log of a kind shares its
// documents with the objects.
#include "sim/store.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/document.h"
#include "sim/patch.h"
#include "sim/workload_check.h"

struct maar_store {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t now_ns;
    uint64_t version;
    uint64_t n_uids;
    size_t log_limit;
    struct maar_map *by_kind; /* key "apiVersion kind" */
    MAAR_VEC(struct maar_collection *) collections;
    MAAR_VEC(struct maar_api_type *) own_types; /* of kinds that no table knows */
};

/* ---- answers ---- */

void maar_answer_fini(struct maar_answer *answer)
{
    json_decref(answer->document);
    answer->document = NULL;
}

int maar_answer_fail(struct maar_answer *answer, int code, const char *reason, const char *format,
                     ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(answer->message, sizeof answer->message, format, args);
    va_end(args);
    answer->code = code;
    answer->reason = reason;
    answer->document = NULL;
    answer->document = maar_answer_status(answer);
    return code;
}

static int succeed(struct maar_answer *answer, int code, json_t *document)
{
    answer->code = code;
    answer->reason = "";
    answer->message[0] = 0;
    answer->document = json_incref(document);
    return code;
}

json_t *maar_answer_status(const struct maar_answer *answer)
{
    bool ok = answer->code >= 200 && answer->code < 300;
    json_t *status =
        json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion", "v1", "metadata",
                  "status", ok ? "Success" : "Failure", "code", answer->code);
    if (answer->message[0])
        json_object_set_new(status, "message", json_string(answer->message));
    if (answer->reason && answer->reason[0])
        json_object_set_new(status, "reason", json_string(answer->reason));
    return status;
}

/* ---- the store ---- */

struct maar_store *maar_store_create(void)
{
    struct maar_store *store = maar_calloc(1, sizeof *store);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&store->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    store->by_kind = maar_map_create();
    for (size_t i = 0; i < maar_api_n_types(); i++) {
        const struct maar_api_type *type = maar_api_type(i);
        maar_store_collection(store, type->api_version, type->kind, type->namespaced);
    }
    return store;
}

static void destroy_object(struct maar_object *object)
{
    json_decref(object->document);
    free(object);
}

static void destroy_collection(struct maar_collection *collection)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(collection->objects, &at, NULL, NULL, &value))
        destroy_object(value);
    maar_map_destroy(collection->objects);
    struct maar_change *change;
    MAAR_VEC_EACH (&collection->log, change)
        json_decref(change->document);
    maar_vec_fini(&collection->log);
    free(collection);
}

void maar_store_destroy(struct maar_store *store)
{
    if (!store)
        return;
    struct maar_collection **collection;
    MAAR_VEC_EACH (&store->collections, collection)
        destroy_collection(*collection);
    maar_vec_fini(&store->collections);
    struct maar_api_type **type;
    MAAR_VEC_EACH (&store->own_types, type) {
        char *texts = (char *)(uintptr_t)(*type)->api_version; /* one block holds all texts */
        free(texts);
        free(*type);
    }
    maar_vec_fini(&store->own_types);
    maar_map_destroy(store->by_kind);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

void maar_store_lock(struct maar_store *store)
{
    pthread_mutex_lock(&store->mutex);
}

void maar_store_unlock(struct maar_store *store)
{
    pthread_mutex_unlock(&store->mutex);
}

void maar_store_wait(struct maar_store *store, unsigned timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * MAAR_MILLISECOND_NS;
    if (until.tv_nsec >= MAAR_SECOND_NS) {
        until.tv_sec++;
        until.tv_nsec -= MAAR_SECOND_NS;
    }
    pthread_cond_timedwait(&store->changed, &store->mutex, &until);
}

void maar_store_wake(struct maar_store *store)
{
    pthread_cond_broadcast(&store->changed);
}

void maar_store_set_now(struct maar_store *store, int64_t now_ns)
{
    store->now_ns = now_ns;
}

int64_t maar_store_now(const struct maar_store *store)
{
    return store->now_ns;
}

uint64_t maar_store_version(const struct maar_store *store)
{
    return store->version;
}

void maar_store_set_log_limit(struct maar_store *store, size_t limit)
{
    store->log_limit = limit;
}

void maar_store_next_uid(struct maar_store *store, const char *ns, const char *name,
                         char buffer[40])
{
    char key[600];
    int n = snprintf(key, sizeof key, "%s/%s", ns, name);
    size_t length = n < (int)sizeof key ? (size_t)n : sizeof key - 1;
    uint64_t hash = maar_hash_bytes(key, length, 1);
    uint64_t other = maar_hash_bytes(key, length, 2);
    /* 8-4-4-4-12 digits like any uid; the running number comes first, so uids sort by creation. */
    snprintf(buffer, 40, "%08llu-%04x-%04x-%04x-%012llx",
             (unsigned long long)(++store->n_uids % 100000000), (unsigned)(hash & 0xffff),
             (unsigned)(hash >> 16 & 0xffff), (unsigned)(hash >> 32 & 0xffff),
             (unsigned long long)(other & 0xffffffffffff));
}

/* ---- collections ---- */

static struct maar_api_type *guess_type(struct maar_store *store, const char *api_version,
                                        const char *kind, bool namespaced)
{
    size_t n_version = strlen(api_version) + 1, n_kind = strlen(kind) + 1;
    char *texts = maar_malloc(n_version + 3 * n_kind + 4);
    char *kind_text = texts + n_version, *singular = kind_text + n_kind,
         *plural = singular + n_kind;
    memcpy(texts, api_version, n_version);
    memcpy(kind_text, kind, n_kind);
    for (size_t i = 0; i < n_kind; i++)
        singular[i] = (char)tolower((unsigned char)kind[i]);
    size_t n = n_kind - 1;
    memcpy(plural, singular, n_kind);
    if (n > 1 && plural[n - 1] == 'y')
        memcpy(plural + n - 1, "ies", 4);
    else
        memcpy(plural + n, n && plural[n - 1] == 's' ? "es" : "s",
               n && plural[n - 1] == 's' ? 3 : 2);
    struct maar_api_type *type = maar_calloc(1, sizeof *type);
    *type = (struct maar_api_type){texts, kind_text, plural, singular, "", namespaced, false, true};
    maar_vec_push(&store->own_types, type);
    return type;
}

static void kind_key(const char *api_version, const char *kind, char buffer[512])
{
    snprintf(buffer, 512, "%s %s", api_version, kind);
}

struct maar_collection *maar_store_collection(struct maar_store *store, const char *api_version,
                                              const char *kind, bool namespaced)
{
    char key[512];
    kind_key(api_version, kind, key);
    struct maar_collection *collection = maar_map_find(store->by_kind, key);
    if (collection)
        return collection;
    collection = maar_calloc(1, sizeof *collection);
    collection->type = maar_api_type_find(api_version, kind);
    if (!collection->type)
        collection->type = guess_type(store, api_version, kind, namespaced);
    collection->objects = maar_map_create();
    maar_map_set(store->by_kind, key, collection);
    maar_vec_push(&store->collections, collection);
    return collection;
}

struct maar_collection *maar_store_find(const struct maar_store *store, const char *api_version,
                                        const char *kind)
{
    char key[512];
    kind_key(api_version, kind, key);
    return maar_map_find(store->by_kind, key);
}

struct maar_collection *maar_store_find_plural(const struct maar_store *store,
                                               const char *api_version, const char *plural)
{
    for (size_t i = 0; i < store->collections.n; i++) {
        struct maar_collection *collection = store->collections.data[i];
        if (strcmp(collection->type->plural, plural) == 0 &&
            strcmp(collection->type->api_version, api_version) == 0)
            return collection;
    }
    return NULL;
}

size_t maar_store_n_collections(const struct maar_store *store)
{
    return store->collections.n;
}

struct maar_collection *maar_store_at(const struct maar_store *store, size_t i)
{
    return store->collections.data[i];
}

static void object_key(const char *ns, const char *name, char buffer[600])
{
    snprintf(buffer, 600, "%s/%s", ns, name);
}

struct maar_object *maar_collection_object(const struct maar_collection *collection, const char *ns,
                                           const char *name)
{
    char key[600];
    object_key(collection->type->namespaced ? ns : "", name, key);
    return maar_map_find(collection->objects, key);
}

size_t maar_collection_n(const struct maar_collection *collection)
{
    return maar_map_n(collection->objects);
}

struct maar_object *maar_collection_next(const struct maar_collection *collection, size_t *at)
{
    void *value;
    return maar_map_next(collection->objects, at, NULL, NULL, &value) ? value : NULL;
}

static void put_object(struct maar_collection *collection, const char *ns, json_t *document,
                       uint64_t version)
{
    char key[600];
    struct maar_object *object = maar_calloc(1, sizeof *object);
    *object = (struct maar_object){maar_document_namespace(document), maar_document_name(document),
                                   json_incref(document), version};
    object_key(collection->type->namespaced ? ns : "", object->name, key);
    maar_map_set(collection->objects, key, object);
}

struct maar_store *maar_store_clone(const struct maar_store *store)
{
    struct maar_store *clone = maar_store_create();
    clone->now_ns = store->now_ns;
    clone->version = store->version;
    clone->n_uids = store->n_uids;
    for (size_t i = 0; i < store->collections.n; i++) {
        const struct maar_collection *from = store->collections.data[i];
        const struct maar_api_type *type = from->type;
        struct maar_collection *to =
            maar_store_collection(clone, type->api_version, type->kind, type->namespaced);
        const struct maar_object *object;
        size_t at = 0;
        while ((object = maar_collection_next(from, &at)))
            put_object(to, object->ns, object->document, object->version);
    }
    return clone;
}

/* ---- the log ---- */

static uint64_t n_changes(const struct maar_collection *collection)
{
    return collection->n_forgotten + collection->log.n;
}

uint64_t maar_collection_seek(const struct maar_collection *collection, uint64_t version)
{
    size_t low = 0, high = collection->log.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (collection->log.data[middle].version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    return collection->n_forgotten + low;
}

uint64_t maar_collection_n_visible(const struct maar_collection *collection)
{
    return collection->held ? maar_collection_seek(collection, collection->held_version)
                            : n_changes(collection);
}

const struct maar_change *maar_collection_change(const struct maar_collection *collection,
                                                 uint64_t i)
{
    return &collection->log.data[i - collection->n_forgotten];
}

void maar_store_hold(struct maar_store *store, struct maar_collection *collection)
{
    if (collection->held)
        return;
    collection->held = true;
    collection->held_version = store->version;
}

void maar_store_release(struct maar_store *store, struct maar_collection *collection)
{
    collection->held = false;
    collection->hides_list = false;
    maar_store_wake(store);
}

static void forget(struct maar_collection *collection, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        collection->low_version = collection->log.data[i].version;
        json_decref(collection->log.data[i].document);
    }
    memmove(collection->log.data, collection->log.data + n,
            (collection->log.n - n) * sizeof *collection->log.data);
    collection->log.n -= n;
    collection->n_forgotten += n;
}

static void record(struct maar_store *store, struct maar_collection *collection,
                   enum maar_change_type type, json_t *document)
{
    struct maar_change change = {type, store->version, json_incref(document)};
    collection->last_version = store->version;
    if (store->log_limit && collection->log.n >= 2 * store->log_limit)
        forget(collection, store->log_limit);
    maar_vec_push(&collection->log, change);
    maar_store_wake(store);
}

static void stamp_version(struct maar_store *store, json_t *document)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)++store->version);
    maar_document_set(document, "metadata.resourceVersion", json_string(text));
}

static void count_generation(const struct maar_api_type *type, const json_t *old, json_t *document)
{
    const json_t *before = json_object_get(old, "spec"), *after = json_object_get(document, "spec");
    bool counts = type->custom || strcmp(type->kind, "Pod") != 0;
    if (counts && before && after && !json_equal(before, after))
        maar_document_set(document, "metadata.generation",
                          json_integer(maar_document_int(old, "metadata.generation", 1) + 1));
}

void maar_store_replace(struct maar_store *store, struct maar_collection *collection,
                        struct maar_object *object, json_t *document)
{
    json_t *metadata = json_object_get(document, "metadata");
    json_t *version =
        json_object_get(json_object_get(object->document, "metadata"), "resourceVersion");
    json_object_set(metadata, "resourceVersion", version);
    if (json_equal(object->document, document)) {
        json_decref(document);
        return;
    }
    count_generation(collection->type, object->document, document);
    stamp_version(store, document);
    json_decref(object->document);
    object->document = document;
    object->version = store->version;
    record(store, collection, MAAR_CHANGE_MODIFIED, document);
}

void maar_store_remove(struct maar_store *store, struct maar_collection *collection,
                       struct maar_object *object)
{
    char key[600];
    object_key(object->ns, object->name, key);
    json_t *document = json_deep_copy(object->document);
    stamp_version(store, document);
    record(store, collection, MAAR_CHANGE_DELETED, document);
    json_decref(document);
    maar_map_remove(collection->objects, key);
    destroy_object(object);
}

/* ---- requests ---- */

static int not_found(const struct maar_collection *collection, const char *name,
                     struct maar_answer *answer)
{
    const char *group =
        strchr(collection->type->api_version, '/') ? collection->type->api_version : NULL;
    return maar_answer_fail(answer, 404, "NotFound", "%s%s%.*s \"%s\" not found",
                            collection->type->plural, group ? "." : "",
                            group ? (int)strcspn(group, "/") : 0, group ? group : "", name);
}

static int conflict(const struct maar_collection *collection, const char *name,
                    struct maar_answer *answer)
{
    return maar_answer_fail(
        answer, 409, "Conflict",
        "Operation cannot be fulfilled on %s \"%s\": the object has been "
        "modified; please apply your changes to the latest version and try again",
        collection->type->plural, name);
}

/* As the server says it, "Deployment.apps "web" is invalid: …". */
static int invalid(const struct maar_api_type *type, const char *name, const char *problem,
                   struct maar_answer *answer)
{
    const char *group = strchr(type->api_version, '/') ? type->api_version : "";
    return maar_answer_fail(answer, 422, "Invalid", "%s%s%.*s \"%.253s\" is invalid: %s",
                            type->kind, *group ? "." : "", (int)strcspn(group, "/"), group, name,
                            problem);
}

static bool is_valid_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= 253 && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static void stamp_identity(struct maar_store *store, json_t *document, const char *ns,
                           const char *name, bool trusted)
{
    char uid[40], time[32];
    json_t *metadata = json_object_get(document, "metadata");
    maar_store_next_uid(store, ns, name, uid);
    if (!trusted || !*maar_document_uid(document))
        json_object_set_new(metadata, "uid", json_string(uid));
    if (!trusted || !json_object_get(metadata, "creationTimestamp"))
        json_object_set_new(metadata, "creationTimestamp",
                            json_string(maar_time_format(store->now_ns, time)));
    if (!json_object_get(metadata, "generation") && json_object_get(document, "spec"))
        json_object_set_new(metadata, "generation", json_integer(1));
    if (!*ns)
        json_object_del(metadata, "namespace");
    else if (!*maar_document_namespace(document)) /* else ns may be the very text that is there */
        json_object_set_new(metadata, "namespace", json_string(ns));
}

static const char *generate_name(struct maar_store *store, json_t *document)
{
    const char *prefix = maar_document_text(document, "metadata.generateName");
    if (!*maar_document_name(document) && *prefix) {
        char name[300];
        snprintf(name, sizeof name, "%.240s%05llx", prefix,
                 (unsigned long long)(store->n_uids * 7919 + 1) & 0xfffff);
        maar_document_set(document, "metadata.name", json_string(name));
    }
    return maar_document_name(document);
}

int maar_store_create_object(struct maar_store *store, struct maar_collection *collection,
                             const char *ns, const json_t *document, bool trusted,
                             struct maar_answer *answer)
{
    const struct maar_api_type *type = collection->type;
    struct maar_error err = MAAR_ERROR_INIT;
    if (!json_is_object(document) || !json_is_object(json_object_get(document, "metadata")))
        return maar_answer_fail(answer, 400, "BadRequest", "the object has no metadata");
    json_t *copy = json_deep_copy(document);
    const char *name = generate_name(store, copy);
    const char *own_ns = maar_document_namespace(copy);
    if (!type->namespaced)
        ns = "";
    else if (!*ns)
        ns = *own_ns ? own_ns : "default";
    if (!is_valid_name(name)) {
        invalid(type, name, "metadata.name", answer);
    } else if (type->namespaced && *own_ns && strcmp(own_ns, ns) != 0) {
        maar_answer_fail(
            answer, 400, "BadRequest",
            "the namespace of the provided object does not match the namespace sent on "
            "the request");
    } else if (maar_collection_object(collection, ns, name)) {
        maar_answer_fail(answer, 409, "AlreadyExists", "%s \"%s\" already exists", type->plural,
                         name);
    } else if (maar_workload_check(type, NULL, copy, &err) < 0) {
        invalid(type, name, err.text, answer);
    } else {
        stamp_identity(store, copy, ns, name, trusted);
        json_object_set_new(copy, "apiVersion", json_string(type->api_version));
        json_object_set_new(copy, "kind", json_string(type->kind));
        stamp_version(store, copy);
        put_object(collection, ns, copy, store->version);
        record(store, collection, MAAR_CHANGE_ADDED, copy);
        succeed(answer, 201, copy);
    }
    json_decref(copy);
    return answer->code;
}

/* Takes over from the stored object what a writer cannot change through this (sub)resource. */
static void keep_server_fields(const struct maar_api_type *type, const json_t *old,
                               json_t *document, const char *subresource)
{
    static const char *const owned[] = {"uid",        "creationTimestamp", "name", "namespace",
                                        "generation", "deletionTimestamp", NULL};
    json_t *metadata = json_object_get(document, "metadata");
    const json_t *old_metadata = json_object_get(old, "metadata");
    for (size_t i = 0; owned[i]; i++) {
        json_t *value = json_object_get(old_metadata, owned[i]);
        if (value)
            json_object_set(metadata, owned[i], value);
        else
            json_object_del(metadata, owned[i]);
    }
    if (*subresource == 0 && type->has_status) {
        json_t *status = json_object_get(old, "status");
        if (status)
            json_object_set(document, "status", status);
        else
            json_object_del(document, "status");
    }
    json_object_set(document, "apiVersion", json_object_get(old, "apiVersion"));
    json_object_set(document, "kind", json_object_get(old, "kind"));
}

/* A status write takes only the status of the document. */
static json_t *with_status(const json_t *old, const json_t *document)
{
    json_t *merged = json_deep_copy(old);
    json_t *status = json_object_get(document, "status");
    if (status)
        json_object_set_new(merged, "status", json_deep_copy(status));
    else
        json_object_del(merged, "status");
    return merged;
}

static int store_new(struct maar_store *store, struct maar_collection *collection,
                     struct maar_object *object, json_t *document, const char *subresource,
                     struct maar_answer *answer)
{
    const char *name = object->name;
    if (!json_is_object(document) || !json_is_object(json_object_get(document, "metadata"))) {
        json_decref(document);
        return maar_answer_fail(answer, 400, "BadRequest", "the object has no metadata");
    }
    if (*maar_document_name(document) && strcmp(maar_document_name(document), name) != 0) {
        json_decref(document);
        return maar_answer_fail(answer, 400, "BadRequest",
                                "the name of the object does not match the name on the URL");
    }
    const char *version = maar_document_text(document, "metadata.resourceVersion");
    const char *uid = maar_document_uid(document);
    if ((*version && strtoull(version, NULL, 10) != object->version) ||
        (*uid && strcmp(uid, maar_document_uid(object->document)) != 0)) {
        json_decref(document);
        return conflict(collection, name, answer);
    }
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_workload_check(collection->type, object->document, document, &err) < 0) {
        json_decref(document);
        return invalid(collection->type, name, err.text, answer);
    }
    keep_server_fields(collection->type, object->document, document, subresource);
    maar_store_replace(store, collection, object, document);
    return succeed(answer, 200, object->document);
}

int maar_store_update(struct maar_store *store, struct maar_collection *collection, const char *ns,
                      const char *name, const char *subresource, const json_t *document,
                      struct maar_answer *answer)
{
    struct maar_object *object = maar_collection_object(collection, ns, name);
    if (!object || (*subresource && !collection->type->has_status))
        return not_found(collection, name, answer);
    json_t *next;
    if (*subresource) {
        next = with_status(object->document, document);
        json_t *metadata = json_object_get(document, "metadata");
        maar_document_set(next, "metadata.resourceVersion",
                          json_string(maar_document_text(document, "metadata.resourceVersion")));
        if (!json_is_object(metadata))
            json_object_del(next, "metadata");
    } else {
        next = json_deep_copy(document);
    }
    return store_new(store, collection, object, next, subresource, answer);
}

int maar_store_patch(struct maar_store *store, struct maar_collection *collection, const char *ns,
                     const char *name, const char *subresource, enum maar_patch_type type,
                     const json_t *patch, struct maar_answer *answer)
{
    struct maar_object *object = maar_collection_object(collection, ns, name);
    if (!object || (*subresource && !collection->type->has_status))
        return not_found(collection, name, answer);
    if (type == MAAR_PATCH_STRATEGIC && collection->type->custom)
        return maar_answer_fail(answer, 415, "UnsupportedMediaType",
                                "the body of the request was in an unknown format - accepted media "
                                "types include: application/json-patch+json, "
                                "application/merge-patch+json, application/apply-patch+yaml");
    struct maar_error err = MAAR_ERROR_INIT;
    json_t *patched = NULL;
    if (type == MAAR_PATCH_JSON) {
        if (maar_patch_json(object->document, patch, &patched, &err) < 0)
            return maar_answer_fail(answer, 422, "Invalid", "%s", err.text);
    } else if (!json_is_object(patch)) {
        return maar_answer_fail(answer, 400, "BadRequest", "a patch must be an object");
    } else {
        patched = type == MAAR_PATCH_MERGE ? maar_patch_merge(object->document, patch)
                                           : maar_patch_strategic(object->document, patch);
    }
    if (*subresource) {
        json_t *whole = with_status(object->document, patched);
        json_object_set(whole, "metadata", json_object_get(patched, "metadata"));
        json_decref(patched);
        patched = whole;
    }
    return store_new(store, collection, object, patched, subresource, answer);
}

static bool precondition_fails(const struct maar_object *object, const json_t *options)
{
    const char *uid = maar_document_text(options, "preconditions.uid");
    const char *version = maar_document_text(options, "preconditions.resourceVersion");
    return (*uid && strcmp(uid, maar_document_uid(object->document)) != 0) ||
           (*version && strtoull(version, NULL, 10) != object->version);
}

static bool needs_kubelet(const struct maar_collection *collection, const json_t *document,
                          const json_t *options)
{
    const char *phase = maar_document_text(document, "status.phase");
    return strcmp(collection->type->kind, "Pod") == 0 &&
           *maar_document_text(document, "spec.nodeName") && strcmp(phase, "Succeeded") != 0 &&
           strcmp(phase, "Failed") != 0 &&
           maar_document_int(options, "gracePeriodSeconds", 30) != 0;
}

/* As the API server tells the garbage collector to leave the dependents. */
static void mark_orphaning(struct maar_store *store, struct maar_collection *collection,
                           struct maar_object *object)
{
    json_t *next = json_deep_copy(object->document);
    maar_document_set(next, "metadata.finalizers", json_pack("[s]", "orphan"));
    maar_store_replace(store, collection, object, next);
}

int maar_store_delete(struct maar_store *store, struct maar_collection *collection, const char *ns,
                      const char *name, const json_t *options, struct maar_answer *answer)
{
    struct maar_object *object = maar_collection_object(collection, ns, name);
    if (!object)
        return not_found(collection, name, answer);
    if (precondition_fails(object, options))
        return maar_answer_fail(answer, 409, "Conflict",
                                "Operation cannot be fulfilled on %s \"%s\": Precondition failed",
                                collection->type->plural, name);
    if (needs_kubelet(collection, object->document, options)) {
        if (!maar_document_at(object->document, "metadata.deletionTimestamp")) {
            int64_t grace = maar_document_int(options, "gracePeriodSeconds", 30);
            char time[32];
            json_t *next = json_deep_copy(object->document);
            maar_time_format(store->now_ns + grace * MAAR_SECOND_NS, time);
            maar_document_set(next, "metadata.deletionTimestamp", json_string(time));
            maar_document_set(next, "metadata.deletionGracePeriodSeconds", json_integer(grace));
            maar_store_replace(store, collection, object, next);
        }
        return succeed(answer, 200, object->document);
    }
    if (strcmp(maar_document_text(options, "propagationPolicy"), "Orphan") == 0)
        mark_orphaning(store, collection, object);
    json_t *last = json_incref(object->document);
    maar_store_remove(store, collection, object);
    succeed(answer, 200, last);
    json_decref(last);
    return 200;
}

static void merge_annotations(json_t *pod, const json_t *binding)
{
    json_t *annotations = maar_document_at(binding, "metadata.annotations");
    if (!json_is_object(annotations) || json_object_size(annotations) == 0)
        return;
    json_t *have = maar_document_at(pod, "metadata.annotations");
    if (json_is_object(have))
        json_object_update(have, annotations);
    else
        maar_document_set(pod, "metadata.annotations", json_deep_copy(annotations));
}

int maar_store_bind(struct maar_store *store, const char *ns, const char *name,
                    const json_t *binding, struct maar_answer *answer)
{
    struct maar_collection *pods = maar_store_collection(store, "v1", "Pod", true);
    struct maar_object *object = maar_collection_object(pods, ns, name);
    const char *node = maar_document_text(binding, "target.name");
    if (!object)
        return not_found(pods, name, answer);
    const char *bound = maar_document_text(object->document, "spec.nodeName");
    const char *uid = maar_document_uid(binding);
    const char *problem = NULL;
    char text[400];
    if (*uid && strcmp(uid, maar_document_uid(object->document)) != 0) {
        snprintf(text, sizeof text,
                 "Precondition failed: UID in precondition: %s, UID in object meta: %s", uid,
                 maar_document_uid(object->document));
        problem = text;
    } else if (maar_document_at(object->document, "metadata.deletionTimestamp")) {
        snprintf(text, sizeof text, "pod %s is being deleted, cannot be assigned to a host", name);
        problem = text;
    } else if (*bound) {
        snprintf(text, sizeof text, "pod %s is already assigned to node \"%s\"", name, bound);
        problem = text;
    } else if (json_array_size(maar_document_at(object->document, "spec.schedulingGates")) > 0) {
        snprintf(text, sizeof text, "pod %s has non-empty .spec.schedulingGates", name);
        problem = text;
    }
    if (problem)
        return maar_answer_fail(answer, 409, "Conflict",
                                "Operation cannot be fulfilled on pods/binding \"%s\": %s", name,
                                problem);
    if (!*node)
        return maar_answer_fail(answer, 422, "Invalid",
                                "Binding \"%s\" is invalid: target.name: Required value", name);
    char time[32];
    json_t *next = json_deep_copy(object->document);
    maar_document_set(next, "spec.nodeName", json_string(node));
    merge_annotations(next, binding);
    maar_document_set_condition(next,
                                json_pack("{s:s, s:s, s:n, s:s}", "type", "PodScheduled", "status",
                                          "True", "lastProbeTime", "lastTransitionTime",
                                          maar_time_format(store->now_ns, time)));
    maar_store_replace(store, pods, object, next);
    answer->code = 201;
    answer->reason = "";
    answer->message[0] = 0;
    answer->document = NULL;
    answer->document = maar_answer_status(answer);
    return 201;
}
