/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_CONTROLLER_PARTS_H
#define MAAR_SIM_CONTROLLER_PARTS_H

/* Shared by the files of the controllers. A reconcile function looks at one object and its dependents as they are and
 * does what is to be done next; it is called again after any change of either, so it never has to wait. */

#include "base/vec.h"
#include "sim/controllers.h"
#include "sim/document.h"

#define MAAR_GROUP_KEY       "scheduling.k8s.io/group-name"
#define MAAR_TASK_KEY        "volcano.sh/task-spec"
#define MAAR_OUT_OF_SYNC_KEY "volcano.sh/controller-out-of-sync"

struct maar_map;

/* What is remembered of an object. */
struct maar_known {
    char *uid;
    struct maar_collection *collection; /* NULL: only its dependents are known */
    char *ns;
    char *name;
    struct maar_known *owner;    /* NULL: none */
    struct maar_map *dependents; /* uid → struct maar_known; NULL: none yet */
    bool dirty;
    unsigned long n_made; /* pods, for their names */
    char revision[80];    /* of the template that was seen last; "" at first */
    uint64_t template_hash;
    json_t *gone_pods; /* of a Volcano Job: those that others removed; NULL: none */
};

struct maar_controllers {
    struct maar_store *store;
    struct maar_collection *pods;
    struct maar_collection *groups;
    struct maar_collection *replica_sets;
    struct maar_collection *daemon_sets;
    struct maar_collection *vcjobs;
    struct maar_collection *nodes;
    bool recreate;
    MAAR_VEC(uint64_t) n_read;  /* changes of each collection, by its number in the store */
    struct maar_map *known;     /* uid → struct maar_known */
    MAAR_VEC(char *) dirty;     /* uids */
    struct maar_map *templates; /* uid → json_t of a pod before its binding */
    struct maar_map *evicted;   /* uid → json_t to make again */
};

struct maar_object_list {
    struct maar_object **data;
    size_t n;
    size_t capacity;
};

/* ---- what the controllers do to the store (controller_pods.c) ---- */

/* What is known of an object that was seen; NULL before that. */
struct maar_known *maar_controller_known(const struct maar_controllers *controllers,
                                         const struct maar_object *object);
/* Dependents in the collection, in order of creation. The list is the caller's to free (maar_vec_fini); an object that
 * is removed is gone from under it. */
void maar_controller_list(const struct maar_known *known, const struct maar_collection *collection,
                          struct maar_object_list *list);
/* In order of creation. */
void maar_controller_sort(struct maar_object_list *list);
/* Creates an object in the owner's namespace. Steals it. What is refused becomes a FailedCreate event of the owner;
 * then false. One that is there already is left as it is. */
bool maar_controller_create(struct maar_controllers *controllers,
                            struct maar_collection *collection, const struct maar_object *owner,
                            json_t *document);
/* As a client's deletion: a bound pod terminates first. */
void maar_controller_delete(struct maar_controllers *controllers,
                            struct maar_collection *collection, struct maar_object *object);
/* Replaces the status when it differs. Steals it. */
void maar_controller_set_status(struct maar_controllers *controllers, struct maar_known *known,
                                struct maar_object *object, json_t *status);
/* {type, status, reason, message, lastTransitionTime}: of now, or the old one's time when the status is the same. New. */
json_t *maar_controller_condition(const struct maar_controllers *controllers, const json_t *object,
                                  const char *type, bool holds, const char *reason,
                                  const char *message);
/* The list with the one reference of a controller. New. */
json_t *maar_controller_reference(const struct maar_object *owner);
/* The entry of metadata.ownerReferences that controls the object, NULL when there is none. */
const json_t *maar_controller_of(const json_t *document);
/* A Pending pod of a PodTemplateSpec with its own metadata, controlled by the owner. New. */
json_t *maar_controller_pod(const struct maar_object *owner, const json_t *template,
                            const char *name);
/* Sets metadata.labels[key] or metadata.annotations[key]. */
void maar_controller_label(json_t *document, const char *key, const char *value);
void maar_controller_annotate(json_t *document, const char *key, const char *value);

/* Ten and five letters as Kubernetes makes them, from a hash. */
char *maar_controller_hash_text(uint64_t hash, char buffer[12]);
char *maar_controller_suffix(uint64_t hash, char buffer[6]);
uint64_t maar_controller_hash(const json_t *document);
/* PREFIX-xxxxx, a name that the owner has not used yet. */
void maar_controller_next_name(struct maar_controllers *controllers, struct maar_known *known,
                               const char *prefix, char buffer[320]);
/* NAME-HASH of the template; until the template changes that which the pods have already. */
const char *maar_controller_revision(struct maar_known *known, const struct maar_object *object,
                                     const struct maar_object_list *pods);

bool maar_pod_is_over(const json_t *pod);
bool maar_pod_is_going(const json_t *pod);
bool maar_pod_is_ready(const json_t *pod);
bool maar_pod_has_phase(const json_t *pod, const char *phase);

/* ---- the controllers ---- */

typedef void (*maar_reconcile_fn)(struct maar_controllers *controllers, struct maar_known *known,
                                  struct maar_object *object);

void maar_reconcile_deployment(struct maar_controllers *controllers, struct maar_known *known,
                               struct maar_object *object);
void maar_reconcile_replica_set(struct maar_controllers *controllers, struct maar_known *known,
                                struct maar_object *object);
void maar_reconcile_stateful_set(struct maar_controllers *controllers, struct maar_known *known,
                                 struct maar_object *object);
void maar_reconcile_daemon_set(struct maar_controllers *controllers, struct maar_known *known,
                               struct maar_object *object);
void maar_reconcile_job(struct maar_controllers *controllers, struct maar_known *known,
                        struct maar_object *object);
/* Volcano's. */
void maar_reconcile_vcjob(struct maar_controllers *controllers, struct maar_known *known,
                          struct maar_object *object);
/* A pod of Volcano's scheduler without a PodGroup gets one. */
void maar_reconcile_pod(struct maar_controllers *controllers, struct maar_known *known,
                        struct maar_object *object);
bool maar_pod_lacks_group(const json_t *pod);
/* PodGroup podgroup-UID of an owner that wants no pods any more. */
void maar_controller_drop_group(struct maar_controllers *controllers,
                                const struct maar_object *owner);

/* Adds what `n` pods of the spec count in a quota, as a PodGroup's minResources has it. */
void maar_min_resources_add(struct maar_map *sums, const json_t *spec, int64_t n);
/* The sums as texts; destroys them. NULL for none. */
json_t *maar_min_resources_take(struct maar_map *sums);

/* An evicted pod of nobody in the store is gone: it comes again under another name. */
void maar_controller_make_again(struct maar_controllers *controllers, const json_t *gone);

#endif
