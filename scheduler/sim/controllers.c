// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Who depends on whom, and who is to be looked at. The store's logs tell what changed: an object itself, or a dependent
// of it, makes it dirty. Dirty objects are taken in the order of their uids, that is of creation, so the order in which
// objects came decides nothing.
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "sim/controller_parts.h"

/* A round does one step of each owner; more than these only a fault would need. */
#define MAX_ROUNDS 1000

static const struct {
    const char *api_version;
    const char *kind;
    maar_reconcile_fn reconcile;
} kinds[] = {
    {"apps/v1", "Deployment", maar_reconcile_deployment},
    {"apps/v1", "ReplicaSet", maar_reconcile_replica_set},
    {"apps/v1", "StatefulSet", maar_reconcile_stateful_set},
    {"apps/v1", "DaemonSet", maar_reconcile_daemon_set},
    {"batch/v1", "Job", maar_reconcile_job},
    {"batch.volcano.sh/v1alpha1", "Job", maar_reconcile_vcjob},
    {"v1", "Pod", maar_reconcile_pod},
};

static maar_reconcile_fn controller_of(const struct maar_collection *collection)
{
    for (size_t i = 0; collection && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, collection->type->kind) == 0 &&
            strcmp(kinds[i].api_version, collection->type->api_version) == 0)
            return kinds[i].reconcile;
    return NULL;
}

struct maar_controllers *maar_controllers_create(struct maar_store *store, bool recreate)
{
    struct maar_controllers *controllers = maar_calloc(1, sizeof *controllers);
    controllers->store = store;
    controllers->pods = maar_store_collection(store, "v1", "Pod", true);
    controllers->nodes = maar_store_collection(store, "v1", "Node", false);
    controllers->groups =
        maar_store_collection(store, "scheduling.volcano.sh/v1beta1", "PodGroup", true);
    controllers->replica_sets = maar_store_collection(store, "apps/v1", "ReplicaSet", true);
    controllers->daemon_sets = maar_store_collection(store, "apps/v1", "DaemonSet", true);
    controllers->vcjobs = maar_store_collection(store, "batch.volcano.sh/v1alpha1", "Job", true);
    controllers->recreate = recreate;
    controllers->known = maar_map_create();
    controllers->templates = maar_map_create();
    controllers->evicted = maar_map_create();
    return controllers;
}

static void destroy_known(struct maar_known *known)
{
    maar_map_destroy(known->dependents);
    json_decref(known->gone_pods);
    free(known->uid);
    free(known->ns);
    free(known->name);
    free(known);
}

static void destroy_documents(struct maar_map *map)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(map, &at, NULL, NULL, &value))
        json_decref(value);
    maar_map_destroy(map);
}

void maar_controllers_destroy(struct maar_controllers *controllers)
{
    if (!controllers)
        return;
    size_t at = 0;
    void *value;
    while (maar_map_next(controllers->known, &at, NULL, NULL, &value))
        destroy_known(value);
    maar_map_destroy(controllers->known);
    char **uid;
    MAAR_VEC_EACH (&controllers->dirty, uid)
        free(*uid);
    maar_vec_fini(&controllers->dirty);
    maar_vec_fini(&controllers->n_read);
    destroy_documents(controllers->templates);
    destroy_documents(controllers->evicted);
    free(controllers);
}

void maar_controllers_note_bind(struct maar_controllers *controllers, const char *uid,
                                json_t *before)
{
    json_decref(maar_map_set(controllers->templates, uid, json_incref(before)));
}

void maar_controllers_note_eviction(struct maar_controllers *controllers, const char *uid,
                                    json_t *document)
{
    json_t *template = maar_map_find(controllers->templates, uid);
    json_decref(
        maar_map_set(controllers->evicted, uid, json_incref(template ? template : document)));
}

/* ---- who is known ---- */

static struct maar_known *get_known(struct maar_controllers *controllers, const char *uid)
{
    struct maar_known *known = maar_map_find(controllers->known, uid);
    if (!known) {
        known = maar_calloc(1, sizeof *known);
        known->uid = maar_strdup(uid);
        maar_map_set(controllers->known, uid, known);
    }
    return known;
}

static void forget_if_unused(struct maar_controllers *controllers, struct maar_known *known)
{
    if (known->collection || (known->dependents && maar_map_n(known->dependents) > 0))
        return;
    maar_map_remove(controllers->known, known->uid);
    destroy_known(known);
}

static void mark_dirty(struct maar_controllers *controllers, struct maar_known *known)
{
    if (known->dirty || !controller_of(known->collection))
        return;
    known->dirty = true;
    maar_vec_push(&controllers->dirty, maar_strdup(known->uid));
}

/* The owner that controls it, or the first one. */
static const char *owner_of(const json_t *document)
{
    const json_t *reference = maar_controller_of(document);
    if (!reference)
        reference = json_array_get(maar_document_at(document, "metadata.ownerReferences"), 0);
    return maar_document_text(reference, "uid");
}

static void leave_owner(struct maar_controllers *controllers, struct maar_known *known)
{
    struct maar_known *owner = known->owner;
    if (!owner)
        return;
    known->owner = NULL;
    maar_map_remove(owner->dependents, known->uid);
    mark_dirty(controllers, owner);
    if (owner->owner) /* a Deployment with strategy Recreate waits for the last pod */
        mark_dirty(controllers, owner->owner);
    forget_if_unused(controllers, owner);
}

static void join_owner(struct maar_controllers *controllers, struct maar_known *known,
                       const char *uid)
{
    if (known->owner && strcmp(known->owner->uid, uid) == 0) {
        mark_dirty(controllers, known->owner);
        return;
    }
    leave_owner(controllers, known);
    if (!*uid || strcmp(uid, known->uid) == 0)
        return;
    known->owner = get_known(controllers, uid);
    if (!known->owner->dependents)
        known->owner->dependents = maar_map_create();
    maar_map_set(known->owner->dependents, known->uid, known);
    mark_dirty(controllers, known->owner);
}

/* ---- taking in changes ---- */

static void mark_daemon_sets(struct maar_controllers *controllers)
{
    size_t at = 0;
    const struct maar_object *object;
    while ((object = maar_collection_next(controllers->daemon_sets, &at)))
        mark_dirty(controllers, get_known(controllers, maar_document_uid(object->document)));
}

static void observe_object(struct maar_controllers *controllers, struct maar_collection *collection,
                           const json_t *document)
{
    const char *uid = maar_document_uid(document);
    struct maar_known *known = get_known(controllers, uid);
    if (!known->collection) {
        known->collection = collection;
        known->ns = maar_strdup(maar_document_namespace(document));
        known->name = maar_strdup(maar_document_name(document));
    }
    join_owner(controllers, known, owner_of(document));
    if (collection != controllers->pods || maar_pod_lacks_group(document))
        mark_dirty(controllers, known);
}

static struct maar_object *find_object(const struct maar_known *known)
{
    struct maar_object *object =
        known->collection ? maar_collection_object(known->collection, known->ns, known->name)
                          : NULL;
    return object && strcmp(maar_document_uid(object->document), known->uid) == 0 ? object : NULL;
}

/* Takes the reference to the owner away and leaves the object. */
static void orphan(struct maar_controllers *controllers, const struct maar_known *known,
                   struct maar_object *object, const char *uid)
{
    json_t *next = json_deep_copy(object->document);
    json_t *references = maar_document_at(next, "metadata.ownerReferences");
    for (size_t i = json_array_size(references); i-- > 0;)
        if (strcmp(maar_document_text(json_array_get(references, i), "uid"), uid) == 0)
            json_array_remove(references, i);
    maar_store_replace(controllers->store, known->collection, object, next);
}

/* The API server marks what is deleted with propagationPolicy Orphan so. */
static bool is_orphaning(const json_t *gone)
{
    const json_t *finalizers = maar_document_at(gone, "metadata.finalizers");
    for (size_t i = 0; i < json_array_size(finalizers); i++) {
        const char *text = json_string_value(json_array_get(finalizers, i));
        if (text && strcmp(text, "orphan") == 0)
            return true;
    }
    return false;
}

/* The owner is gone: so its dependents go. The logs tell of them in their turn. */
static void collect_garbage(struct maar_controllers *controllers, struct maar_known *known,
                            bool orphaning)
{
    size_t at = 0;
    void *value;
    while (known->dependents && maar_map_next(known->dependents, &at, NULL, NULL, &value)) {
        const struct maar_known *dependent = value;
        struct maar_object *object = find_object(dependent);
        if (object && orphaning)
            orphan(controllers, dependent, object, known->uid);
        else if (object)
            maar_controller_delete(controllers, dependent->collection, object);
    }
}

/* Volcano's Job has policies for pods that it did not remove itself. */
static void note_gone_pod(const struct maar_controllers *controllers, struct maar_known *owner,
                          json_t *gone)
{
    if (!owner || owner->collection != controllers->vcjobs || !gone ||
        *maar_document_annotation(gone, MAAR_OUT_OF_SYNC_KEY))
        return;
    if (!owner->gone_pods)
        owner->gone_pods = json_array();
    json_array_append(owner->gone_pods, gone);
}

static void observe_end(struct maar_controllers *controllers, struct maar_known *known,
                        json_t *gone)
{
    if (known->collection == controllers->pods) {
        json_decref(maar_map_remove(controllers->templates, known->uid));
        note_gone_pod(controllers, known->owner, gone);
        bool owned = known->owner && controller_of(known->owner->collection);
        if (owned)
            json_decref(maar_map_remove(controllers->evicted, known->uid));
        else if (maar_map_find(controllers->evicted, known->uid))
            maar_controller_make_again(controllers, gone);
    }
    leave_owner(controllers, known);
    known->collection = NULL;
    free(known->ns);
    free(known->name);
    known->ns = known->name = NULL;
    collect_garbage(controllers, known, is_orphaning(gone));
    forget_if_unused(controllers, known);
}

static void observe_change(struct maar_controllers *controllers, struct maar_collection *collection,
                           const struct maar_change *change)
{
    if (change->type != MAAR_CHANGE_DELETED) {
        observe_object(controllers, collection, change->document);
        return;
    }
    struct maar_known *known =
        maar_map_find(controllers->known, maar_document_uid(change->document));
    if (known && known->collection)
        observe_end(controllers, known, change->document);
}

/* Changes were forgotten unread: everything is looked at anew. */
static void observe_all(struct maar_controllers *controllers, struct maar_collection *collection)
{
    MAAR_VEC(struct maar_known *) gone = {0};
    size_t at = 0;
    const struct maar_object *object;
    void *value;
    while ((object = maar_collection_next(collection, &at)))
        observe_object(controllers, collection, object->document);
    at = 0;
    while (maar_map_next(controllers->known, &at, NULL, NULL, &value)) {
        struct maar_known *known = value;
        if (known->collection == collection && !find_object(known))
            maar_vec_push(&gone, known);
    }
    for (size_t i = 0; i < gone.n; i++)
        observe_end(controllers, gone.data[i], NULL);
    maar_vec_fini(&gone);
}

static bool has_owners(const struct maar_collection *collection)
{
    return strcmp(collection->type->kind, "Event") != 0 &&
           strcmp(collection->type->kind, "Lease") != 0;
}

static void observe_collection(struct maar_controllers *controllers,
                               struct maar_collection *collection, size_t number)
{
    uint64_t before = controllers->n_read.data[number];
    if (before < collection->n_forgotten) {
        observe_all(controllers, collection);
        controllers->n_read.data[number] = collection->n_forgotten + collection->log.n;
    }
    while (controllers->n_read.data[number] < collection->n_forgotten + collection->log.n) {
        struct maar_change change =
            *maar_collection_change(collection, controllers->n_read.data[number]++);
        json_incref(change.document); /* what is done about it writes to the log */
        observe_change(controllers, collection, &change);
        json_decref(change.document);
    }
    if (collection == controllers->nodes && before < controllers->n_read.data[number])
        mark_daemon_sets(controllers);
}

static void observe(struct maar_controllers *controllers)
{
    uint64_t before;
    do { /* the garbage of one kind is of another */
        before = maar_store_version(controllers->store);
        for (size_t i = 0; i < maar_store_n_collections(controllers->store); i++) {
            struct maar_collection *collection = maar_store_at(controllers->store, i);
            if (i == controllers->n_read.n)
                maar_vec_push(&controllers->n_read, 0);
            if (has_owners(collection))
                observe_collection(controllers, collection, i);
        }
    } while (before != maar_store_version(controllers->store));
}

/* ---- acting ---- */

static int by_text(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static void act_on(struct maar_controllers *controllers, const char *uid)
{
    struct maar_known *known = maar_map_find(controllers->known, uid);
    if (!known)
        return;
    known->dirty = false;
    struct maar_object *object = find_object(known);
    maar_reconcile_fn reconcile = controller_of(known->collection);
    if (object && reconcile)
        reconcile(controllers, known, object);
}

size_t maar_controllers_act(struct maar_controllers *controllers)
{
    uint64_t before = maar_store_version(controllers->store);
    observe(controllers);
    for (int round = 0; controllers->dirty.n > 0 && round < MAX_ROUNDS; round++) {
        size_t n = controllers->dirty.n;
        char **uids = controllers->dirty.data;
        controllers->dirty.data = NULL;
        controllers->dirty.n = controllers->dirty.capacity = 0;
        qsort(uids, n, sizeof *uids, by_text);
        for (size_t i = 0; i < n; i++) {
            act_on(controllers, uids[i]);
            free(uids[i]);
        }
        free(uids);
        observe(controllers);
    }
    return (size_t)(maar_store_version(controllers->store) - before);
}
