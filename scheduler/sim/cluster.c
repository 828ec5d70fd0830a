// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Clock, faults, holds and the journal around the object store.
#include "sim/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/admission.h"
#include "sim/document.h"
#include "sim/patch.h"
#include "sim/workload_check.h"

struct hold {
    struct maar_collection *collection;
    unsigned until; /* the cycle before which it is released */
};

struct maar_cluster {
    struct maar_cluster_options options;
    struct maar_store *store;
    struct maar_kubelets *kubelets;
    struct maar_controllers *controllers;
    struct maar_journal journal;
    unsigned cycle;
    unsigned last_fault;
    bool started;
    MAAR_VEC(struct hold) holds;
    MAAR_VEC(struct maar_fault) faults;
    struct maar_map *in_flight; /* pods with a binding on its way */
};

struct maar_cluster *maar_cluster_create(const struct maar_cluster_options *options)
{
    struct maar_cluster *cluster = maar_calloc(1, sizeof *cluster);
    cluster->options = *options;
    cluster->store = maar_store_create();
    cluster->in_flight = maar_map_create();
    maar_store_set_now(cluster->store, options->start_ns);
    cluster->controllers = maar_controllers_create(cluster->store, options->recreate);
    if (options->has_kubelets)
        cluster->kubelets = maar_kubelets_create(cluster->store, &options->kubelets);
    return cluster;
}

void maar_cluster_destroy(struct maar_cluster *cluster)
{
    if (!cluster)
        return;
    maar_kubelets_destroy(cluster->kubelets);
    maar_controllers_destroy(cluster->controllers);
    maar_journal_fini(&cluster->journal);
    maar_vec_fini(&cluster->holds);
    maar_vec_fini(&cluster->faults);
    maar_map_destroy(cluster->in_flight);
    maar_store_destroy(cluster->store);
    free(cluster);
}

struct maar_store *maar_cluster_store(const struct maar_cluster *cluster)
{
    return cluster->store;
}

struct maar_journal *maar_cluster_journal(struct maar_cluster *cluster)
{
    return &cluster->journal;
}

const struct maar_cluster_options *maar_cluster_options(const struct maar_cluster *cluster)
{
    return &cluster->options;
}

/* ---- cycles ---- */

unsigned maar_cluster_cycle(const struct maar_cluster *cluster)
{
    return cluster->cycle;
}

void maar_cluster_begin_cycle(struct maar_cluster *cluster)
{
    if (cluster->cycle == 0 && cluster->kubelets)
        maar_kubelets_observe(cluster->kubelets, 0);
    cluster->cycle++;
    for (size_t i = 0; i < cluster->holds.n;) {
        if (cluster->holds.data[i].until <= cluster->cycle) {
            maar_store_release(cluster->store, cluster->holds.data[i].collection);
            maar_vec_remove(&cluster->holds, i);
        } else {
            i++;
        }
    }
    maar_store_wake(cluster->store);
}

void maar_cluster_reconcile(struct maar_cluster *cluster)
{
    maar_controllers_act(cluster->controllers);
}

size_t maar_cluster_end_cycle(struct maar_cluster *cluster)
{
    size_t n = maar_controllers_act(cluster->controllers);
    int64_t next_ns = maar_store_now(cluster->store) + cluster->options.period_ns;
    if (cluster->kubelets) {
        maar_kubelets_observe(cluster->kubelets, cluster->cycle);
        n += maar_kubelets_act(cluster->kubelets, cluster->cycle, next_ns);
        n += maar_controllers_act(cluster->controllers);
    }
    maar_store_set_now(cluster->store, next_ns);
    return n;
}

void maar_cluster_tick(struct maar_cluster *cluster, int64_t now_ns)
{
    maar_store_set_now(cluster->store, now_ns);
    cluster->cycle++;
    if (cluster->kubelets) {
        maar_kubelets_observe(cluster->kubelets, cluster->cycle);
        maar_kubelets_act(cluster->kubelets, cluster->cycle, now_ns);
    }
    maar_controllers_act(cluster->controllers);
}

bool maar_cluster_has_flight(const struct maar_cluster *cluster, const char *pod)
{
    return maar_map_find(cluster->in_flight, pod) != NULL;
}

unsigned maar_cluster_last_fault(const struct maar_cluster *cluster)
{
    return cluster->last_fault;
}

bool maar_cluster_is_busy(const struct maar_cluster *cluster)
{
    return cluster->holds.n > 0 || maar_map_n(cluster->in_flight) > 0 ||
           (cluster->kubelets && maar_kubelets_n_busy(cluster->kubelets) > 0);
}

/* ---- what users do ---- */

static struct maar_collection *collection_of(struct maar_cluster *cluster, const json_t *document,
                                             struct maar_error *err)
{
    const char *version = maar_document_text(document, "apiVersion");
    const char *kind = maar_document_text(document, "kind");
    if (!*version || !*kind || strlen(version) > 200 || strlen(kind) > 100) {
        maar_error_set(err, -EINVAL, "apiVersion and kind must be texts");
        return NULL;
    }
    return maar_store_collection(cluster->store, version, kind,
                                 *maar_document_namespace(document) != 0);
}

int maar_cluster_add(struct maar_cluster *cluster, const json_t *document, struct maar_error *err)
{
    struct maar_collection *collection = collection_of(cluster, document, err);
    if (!collection)
        return -EINVAL;
    json_t *copy = json_deep_copy(document);
    int rc = maar_admission_complete(cluster->store, collection->type, copy, err);
    if (rc == 0)
        rc = maar_workload_check(collection->type, NULL, copy, err);
    if (rc == 0)
        rc = maar_admission_check_classes(cluster->store, collection->type, copy, err);
    if (rc == 0) {
        struct maar_answer answer;
        maar_store_create_object(cluster->store, collection, "", copy, true, &answer);
        if (answer.code != 201)
            rc = maar_error_set(err, answer.code == 409 ? -EEXIST : -EINVAL, "%s", answer.message);
        maar_answer_fini(&answer);
    }
    json_decref(copy);
    return rc;
}

int maar_cluster_apply(struct maar_cluster *cluster, const json_t *document, struct maar_error *err)
{
    struct maar_collection *collection = collection_of(cluster, document, err);
    if (!collection)
        return -EINVAL;
    const char *ns = maar_document_namespace(document);
    const struct maar_object *object =
        maar_collection_object(collection, *ns ? ns : "default", maar_document_name(document));
    if (!object)
        return maar_cluster_add(cluster, document, err);
    return maar_cluster_patch(cluster, collection->type, *ns ? ns : "default",
                              maar_document_name(document), document, err);
}

static void add_if_missing(struct maar_cluster *cluster, json_t *document)
{
    struct maar_collection *collection = collection_of(cluster, document, NULL);
    if (collection && !maar_collection_object(collection, "", maar_document_name(document))) {
        struct maar_error err = MAAR_ERROR_INIT;
        int rc = maar_cluster_add(cluster, document, &err);
        (void)rc; /* the object is of our own making */
    }
    json_decref(document);
}

static json_t *queue(const char *name, bool reclaimable)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:i, s:b}, s:{s:s}}", "apiVersion",
                     "scheduling.volcano.sh/v1beta1", "kind", "Queue", "metadata", "name", name,
                     "spec", "weight", 1, "reclaimable", reclaimable, "status", "state", "Open");
}

static json_t *namespace_of(const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                     "metadata", "name", name, "status", "phase", "Active");
}

void maar_cluster_complete(struct maar_cluster *cluster)
{
    add_if_missing(cluster, queue("root", false));
    add_if_missing(cluster, queue("default", true));
    add_if_missing(cluster, namespace_of("default"));
    for (size_t i = 0; i < maar_store_n_collections(cluster->store); i++) {
        const struct maar_collection *collection = maar_store_at(cluster->store, i);
        const struct maar_object *object;
        size_t at = 0;
        while (collection->type->namespaced && (object = maar_collection_next(collection, &at)))
            add_if_missing(cluster, namespace_of(object->ns));
    }
}

static struct maar_object *find(struct maar_cluster *cluster, const struct maar_api_type *type,
                                const char *ns, const char *name,
                                struct maar_collection **ret_collection, struct maar_error *err)
{
    struct maar_collection *collection =
        maar_store_collection(cluster->store, type->api_version, type->kind, type->namespaced);
    struct maar_object *object = maar_collection_object(collection, ns, name);
    if (!object)
        maar_error_set(err, -ENOENT, "there is no %s %s%s%s", type->singular,
                       type->namespaced ? ns : "", type->namespaced ? "/" : "", name);
    *ret_collection = collection;
    return object;
}

int maar_cluster_delete(struct maar_cluster *cluster, const struct maar_api_type *type,
                        const char *ns, const char *name, struct maar_error *err)
{
    struct maar_collection *collection;
    struct maar_object *object = find(cluster, type, ns, name, &collection, err);
    if (!object)
        return -ENOENT;
    maar_store_remove(cluster->store, collection, object);
    return 0;
}

int maar_cluster_patch(struct maar_cluster *cluster, const struct maar_api_type *type,
                       const char *ns, const char *name, const json_t *patch,
                       struct maar_error *err)
{
    static const char *const fixed[] = {"name", "namespace", "uid", "creationTimestamp", NULL};
    struct maar_collection *collection;
    struct maar_object *object = find(cluster, type, ns, name, &collection, err);
    if (!object)
        return -ENOENT;
    json_t *patched = maar_patch_merge(object->document, patch);
    json_t *metadata = json_object_get(patched, "metadata");
    if (!json_is_object(metadata)) {
        json_decref(patched);
        return maar_error_set(err, -EINVAL, "metadata must be a map");
    }
    for (size_t i = 0; fixed[i]; i++) {
        json_t *value = json_object_get(json_object_get(object->document, "metadata"), fixed[i]);
        if (value)
            json_object_set(metadata, fixed[i], value);
    }
    if (maar_workload_check(type, object->document, patched, err) < 0) {
        json_decref(patched);
        return -EINVAL;
    }
    maar_store_replace(cluster->store, collection, object, patched);
    return 0;
}

void maar_cluster_hold(struct maar_cluster *cluster, const struct maar_api_type *type,
                       unsigned cycles)
{
    struct maar_collection *collection =
        maar_store_collection(cluster->store, type->api_version, type->kind, type->namespaced);
    struct hold hold = {collection, cluster->cycle + cycles};
    maar_store_hold(cluster->store, collection);
    collection->hides_list |= !cluster->started;
    maar_vec_push(&cluster->holds, hold);
}

void maar_cluster_set_started(struct maar_cluster *cluster)
{
    cluster->started = true;
}

void maar_cluster_fail(struct maar_cluster *cluster, const struct maar_fault *fault)
{
    maar_vec_push(&cluster->faults, *fault);
}

/* ---- what the scheduler does ---- */

static int classify(const struct maar_api_target *target, const char *method)
{
    const char *kind = target->collection->type->kind, *sub = target->subresource;
    bool post = strcmp(method, "POST") == 0, removes = strcmp(method, "DELETE") == 0;
    bool changes = strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
    if (strcmp(kind, "Pod") == 0) {
        if (post && strcmp(sub, "binding") == 0)
            return MAAR_WRITE_BIND;
        if (removes || (post && strcmp(sub, "eviction") == 0))
            return MAAR_WRITE_EVICT;
        if (changes && !*sub)
            return MAAR_WRITE_UNGATE;
        return changes && strcmp(sub, "status") == 0 ? MAAR_WRITE_POD_CONDITION : -1;
    }
    if (strcmp(kind, "PodGroup") == 0)
        return changes ? MAAR_WRITE_POD_GROUP_STATUS : -1;
    if (strcmp(kind, "Queue") == 0)
        return changes ? MAAR_WRITE_QUEUE_STATUS : post ? MAAR_WRITE_QUEUE_CREATE : -1;
    if (strcmp(kind, "Event") == 0)
        return post || changes ? MAAR_WRITE_EVENT : -1;
    return -1;
}

static bool strikes(const struct maar_fault *fault, const struct maar_cluster_write *write)
{
    const struct maar_api_target *target = &write->target;
    if (fault->times == 0 || (fault->kind >= 0 && fault->kind != write->kind))
        return false;
    return !fault->type ||
           (fault->type == target->collection->type && strcmp(fault->name, target->name) == 0 &&
            (!fault->type->namespaced || strcmp(fault->ns, target->ns) == 0));
}

static int find_fault(struct maar_cluster *cluster, const struct maar_cluster_write *write)
{
    struct maar_fault *fault;
    MAAR_VEC_EACH (&cluster->faults, fault) {
        if (strikes(fault, write)) {
            fault->times--;
            cluster->last_fault = cluster->cycle;
            return fault->code;
        }
    }
    return -1;
}

static void note_bind(struct maar_cluster *cluster, struct maar_cluster_write *write,
                      const json_t *body)
{
    const struct maar_object *pod =
        maar_collection_object(write->target.collection, write->target.ns, write->target.name);
    snprintf(write->pod, sizeof write->pod, "%s/%s", write->target.ns, write->target.name);
    bool again = maar_map_set(cluster->in_flight, write->pod, cluster) != NULL;
    again |= pod && *maar_document_text(pod->document, "spec.nodeName");
    if (!cluster->options.keeps_journal)
        return;
    json_t *annotations = maar_document_at(body, "metadata.annotations");
    struct maar_bind_entry entry = {
        .cycle = cluster->cycle,
        .pod = maar_strdup(write->pod),
        .uid = maar_strdup(pod ? maar_document_uid(pod->document) : ""),
        .node = maar_strdup(maar_document_text(body, "target.name")),
        .annotations = json_object_size(annotations) ? json_deep_copy(annotations) : NULL,
        .again = again,
    };
    write->bind = cluster->journal.binds.n;
    maar_vec_push(&cluster->journal.binds, entry);
}

static void note_event(struct maar_cluster *cluster, const json_t *event)
{
    const char *kind = maar_document_text(event, "involvedObject.kind");
    const char *ns = maar_document_text(event, "involvedObject.namespace");
    char lower[64];
    size_t n = 0;
    for (; kind[n] && n < sizeof lower - 1; n++)
        lower[n] = (char)(kind[n] >= 'A' && kind[n] <= 'Z' ? kind[n] | 0x20 : kind[n]);
    lower[n] = 0;
    struct maar_event_entry entry = {
        .cycle = cluster->cycle,
        .object = maar_asprintf("%s/%s%s%s", lower, ns, *ns ? "/" : "",
                                maar_document_text(event, "involvedObject.name")),
        .type = maar_strdup(maar_document_text(event, "type")),
        .reason = maar_strdup(maar_document_text(event, "reason")),
        .message = maar_strdup(maar_document_text(event, "message")),
    };
    maar_vec_push(&cluster->journal.events, entry);
}

int maar_cluster_begin_write(struct maar_cluster *cluster, const char *method, const char *path,
                             const json_t *body, struct maar_cluster_write *ret_write,
                             struct maar_answer *answer)
{
    struct maar_cluster_write write = {.kind = -1, .fault = -1, .bind = SIZE_MAX};
    int code = maar_api_target_parse(cluster->store, path, &write.target, answer);
    if (code)
        return code;
    write.kind = classify(&write.target, method);
    if (write.kind >= 0 && cluster->options.keeps_journal)
        cluster->journal.n_writes[write.kind]++;
    if (write.kind == MAAR_WRITE_BIND)
        note_bind(cluster, &write, body);
    if (write.kind >= 0)
        write.fault = find_fault(cluster, &write);
    *ret_write = write;
    return 0;
}

static void note_eviction(struct maar_cluster *cluster, const struct maar_api_target *target,
                          json_t *before, const struct maar_write_hint *hint)
{
    const char *uid = maar_document_uid(before);
    maar_controllers_note_eviction(cluster->controllers, uid, before);
    if (!cluster->options.keeps_journal)
        return;
    struct maar_eviction_entry entry = {
        .cycle = cluster->cycle,
        .pod = maar_asprintf("%s/%s", target->ns, target->name),
        .uid = maar_strdup(uid),
        .node = maar_strdup(maar_document_text(before, "spec.nodeName")),
        .action = maar_strdup(hint ? hint->action : ""),
        .beneficiary = maar_strdup(hint ? hint->beneficiary : ""),
    };
    maar_vec_push(&cluster->journal.evictions, entry);
}

static bool is_success(int code)
{
    return code >= 200 && code < 300;
}

/* After the write: what the pod was before tells what the owner would make again. */
static void note_effect(struct maar_cluster *cluster, const struct maar_cluster_write *write,
                        const char *method, json_t *before, const json_t *body, bool done,
                        const struct maar_write_hint *hint)
{
    if (write->kind == MAAR_WRITE_BIND) {
        maar_map_remove(cluster->in_flight, write->pod);
        if (write->bind != SIZE_MAX)
            cluster->journal.binds.data[write->bind].failed = !done;
        if (done && before)
            maar_controllers_note_bind(cluster->controllers, maar_document_uid(before), before);
    } else if (write->kind == MAAR_WRITE_EVICT) {
        if (done && before && !maar_document_at(before, "metadata.deletionTimestamp"))
            note_eviction(cluster, &write->target, before, hint);
    } else if (write->kind == MAAR_WRITE_EVENT) {
        if (done && cluster->options.keeps_journal && strcmp(method, "POST") == 0)
            note_event(cluster, body);
    }
}

int maar_cluster_finish_write(struct maar_cluster *cluster, struct maar_cluster_write *write,
                              const char *method, const char *content_type, const json_t *body,
                              const struct maar_write_hint *hint, struct maar_answer *answer)
{
    const struct maar_object *object =
        maar_collection_object(write->target.collection, write->target.ns, write->target.name);
    json_t *before = object ? json_incref(object->document) : NULL;
    if (write->fault > 0)
        maar_answer_fail(answer, write->fault, "InternalError", "injected fault");
    else if (write->fault == 0)
        *answer = (struct maar_answer){.reason = "", .message = "no answer"};
    else
        maar_api_write(cluster->store, &write->target, method, content_type, body, answer);
    note_effect(cluster, write, method, before, body, is_success(answer->code), hint);
    json_decref(before);
    return answer->code;
}
