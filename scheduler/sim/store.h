/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_STORE_H
#define MAAR_SIM_STORE_H

/* What an API server keeps: objects of any kind as JSON documents under (apiVersion, kind,
 * namespace, name), one counter of resource versions, and a log of changes for each kind. A stored
 * document is never changed in place; its reference count is, so that too needs the lock.
 *
 * Everything here is called under maar_store_lock; the simulator, which has one thread, takes it
 * once. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "sim/api_type.h"

struct maar_store;
struct maar_map;

enum maar_change_type {
    MAAR_CHANGE_ADDED,
    MAAR_CHANGE_MODIFIED,
    MAAR_CHANGE_DELETED,
};

struct maar_change {
    enum maar_change_type type;
    uint64_t version;
    json_t *document; /* DELETED: as it was last, with the version of the deletion */
};

struct maar_object {
    const char *ns; /* "" for cluster-scoped kinds; like name, text of the key */
    const char *name;
    json_t *document;
    uint64_t version;
};

/* The objects of one kind. */
struct maar_collection {
    const struct maar_api_type *type;
    struct maar_map *objects; /* key "ns/name" */
    MAAR_VEC(struct maar_change) log;
    uint64_t n_forgotten;  /* changes that were dropped from the front of the log */
    uint64_t low_version;  /* a watch from below this version is too old */
    uint64_t last_version; /* of the newest change */
    bool held;             /* changes after held_version are not shown to watchers yet */
    uint64_t held_version;
    bool hides_list; /* held from the beginning: not even a list is answered */
};

/* What a request came to, as the server would say it. */
struct maar_answer {
    int code;           /* HTTP status */
    const char *reason; /* "NotFound", "AlreadyExists", "Conflict", …; "" on success */
    char message[512];
    json_t *document; /* the object as it is now, or a Status; a reference of the caller's */
};
void maar_answer_fini(struct maar_answer *answer);
/* Sets a failure; returns its code. */
int maar_answer_fail(struct maar_answer *answer, int code, const char *reason, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));
/* A metav1.Status of a failure, or a success. New reference. */
json_t *maar_answer_status(const struct maar_answer *answer);

struct maar_store *maar_store_create(void);
/* The objects as they are now, for a write that only pretends: documents are shared, so the copy is used and destroyed
 * under the lock of the original. It has no log and no watchers. */
struct maar_store *maar_store_clone(const struct maar_store *store);
/* Accepts NULL. */
void maar_store_destroy(struct maar_store *store);

void maar_store_lock(struct maar_store *store);
void maar_store_unlock(struct maar_store *store);
/* Waits under the lock for a change or a wake, at most `timeout_ms`. */
void maar_store_wait(struct maar_store *store, unsigned timeout_ms);
void maar_store_wake(struct maar_store *store);

/* The clock that creationTimestamps come from. */
void maar_store_set_now(struct maar_store *store, int64_t now_ns);
int64_t maar_store_now(const struct maar_store *store);
/* Version of the newest change. */
uint64_t maar_store_version(const struct maar_store *store);
/* How many changes of a kind are remembered at least; 0 keeps all (default). */
void maar_store_set_log_limit(struct maar_store *store, size_t limit);

/* The collection of a kind; made when the kind is new (namespaced when `namespaced`). */
struct maar_collection *maar_store_collection(struct maar_store *store, const char *api_version,
                                              const char *kind, bool namespaced);
/* NULL when nothing of the kind was ever stored and it is not a known one. */
struct maar_collection *maar_store_find(const struct maar_store *store, const char *api_version,
                                        const char *kind);
struct maar_collection *maar_store_find_plural(const struct maar_store *store,
                                               const char *api_version, const char *plural);
size_t maar_store_n_collections(const struct maar_store *store);
struct maar_collection *maar_store_at(const struct maar_store *store, size_t i);
/* NULL when absent. */
struct maar_object *maar_collection_object(const struct maar_collection *collection, const char *ns,
                                           const char *name);
size_t maar_collection_n(const struct maar_collection *collection);
/* In order of creation: `size_t at = 0; while ((object = maar_collection_next(c, &at)))`. */
struct maar_object *maar_collection_next(const struct maar_collection *collection, size_t *at);
/* Number of changes that watchers may see, counted from the first ever; and change number i of them
 * (not forgotten). */
uint64_t maar_collection_n_visible(const struct maar_collection *collection);
const struct maar_change *maar_collection_change(const struct maar_collection *collection,
                                                 uint64_t i);
/* The number of the first change above `version`. */
uint64_t maar_collection_seek(const struct maar_collection *collection, uint64_t version);
/* Shows the changes up to now and none of the later ones, until released. */
void maar_store_hold(struct maar_store *store, struct maar_collection *collection);
void maar_store_release(struct maar_store *store, struct maar_collection *collection);

/* The next uid: a running number and a hash of namespace and name. */
void maar_store_next_uid(struct maar_store *store, const char *ns, const char *name,
                         char buffer[40]);

/* Requests. `document` is borrowed. The return value is the HTTP code, also in answer->code; answer
 * is filled in every case and needs maar_answer_fini. uid and creationTimestamp of a new object are
 * honoured when `trusted`, as the manifests of a scenario need it. */
int maar_store_create_object(struct maar_store *store, struct maar_collection *collection,
                             const char *ns, const json_t *document, bool trusted,
                             struct maar_answer *answer);
/* subresource: "" or "status". */
int maar_store_update(struct maar_store *store, struct maar_collection *collection, const char *ns,
                      const char *name, const char *subresource, const json_t *document,
                      struct maar_answer *answer);
enum maar_patch_type {
    MAAR_PATCH_MERGE,
    MAAR_PATCH_STRATEGIC,
    MAAR_PATCH_JSON,
};
int maar_store_patch(struct maar_store *store, struct maar_collection *collection, const char *ns,
                     const char *name, const char *subresource, enum maar_patch_type type,
                     const json_t *patch, struct maar_answer *answer);
/* options: DeleteOptions or NULL. A bound pod that has not finished gets a deletionTimestamp and
 * goes when its kubelet says so (maar_store_remove); everything else is gone at once. */
int maar_store_delete(struct maar_store *store, struct maar_collection *collection, const char *ns,
                      const char *name, const json_t *options, struct maar_answer *answer);
/* pods/binding. */
int maar_store_bind(struct maar_store *store, const char *ns, const char *name,
                    const json_t *binding, struct maar_answer *answer);
/* Replaces a document whatever its version; steals it. Does nothing when it is equal. */
void maar_store_replace(struct maar_store *store, struct maar_collection *collection,
                        struct maar_object *object, json_t *document);
void maar_store_remove(struct maar_store *store, struct maar_collection *collection,
                       struct maar_object *object);

#endif
