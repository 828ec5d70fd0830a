// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Every pod in motion has one entry, keyed by uid, found by reading the store's log of pods. What
// an entry waits for follows from the pod as it is when its time comes, so any order of events will
// do.
#include "sim/kubelets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/document.h"

enum motion {
    STARTING,
    RUNNING, /* towards its end */
    TERMINATING,
};

struct entry {
    char *uid;
    char *ns;
    char *name;
    enum motion motion;
    unsigned due;   /* cycle: STARTING, TERMINATING */
    int64_t end_ns; /* RUNNING */
    bool stuck;     /* its node is not there */
};

struct maar_kubelets {
    struct maar_store *store;
    struct maar_collection *pods;
    struct maar_collection *nodes;
    struct maar_kubelet_options options;
    uint64_t n_read;          /* changes of pods seen */
    struct maar_map *entries; /* uid → struct entry */
};

struct maar_kubelets *maar_kubelets_create(struct maar_store *store,
                                           const struct maar_kubelet_options *options)
{
    struct maar_kubelets *kubelets = maar_calloc(1, sizeof *kubelets);
    kubelets->store = store;
    kubelets->pods = maar_store_collection(store, "v1", "Pod", true);
    kubelets->nodes = maar_store_collection(store, "v1", "Node", false);
    kubelets->options = *options;
    kubelets->entries = maar_map_create();
    return kubelets;
}

static void destroy_entry(struct entry *entry)
{
    free(entry->uid);
    free(entry->ns);
    free(entry->name);
    free(entry);
}

void maar_kubelets_destroy(struct maar_kubelets *kubelets)
{
    if (!kubelets)
        return;
    size_t at = 0;
    void *value;
    while (maar_map_next(kubelets->entries, &at, NULL, NULL, &value))
        destroy_entry(value);
    maar_map_destroy(kubelets->entries);
    free(kubelets);
}

/* ---- observing ---- */

static bool is_phase(const json_t *pod, const char *phase)
{
    const char *have = maar_document_text(pod, "status.phase");
    return strcmp(*have ? have : "Pending", phase) == 0;
}

static void forget_entry(struct maar_kubelets *kubelets, const char *uid)
{
    struct entry *entry = maar_map_remove(kubelets->entries, uid);
    if (entry)
        destroy_entry(entry);
}

static int64_t end_of(const struct maar_kubelets *kubelets, const json_t *pod)
{
    int64_t duration, start;
    const char *text = maar_document_annotation(pod, MAAR_SIM_DURATION);
    if (!*text || maar_duration_parse(text, &duration) < 0)
        return INT64_MAX;
    if (maar_time_parse(maar_document_text(pod, "status.startTime"), &start) < 0)
        start = maar_store_now(kubelets->store);
    return start > INT64_MAX - duration ? INT64_MAX : start + duration;
}

static void set_motion(struct maar_kubelets *kubelets, const json_t *pod, enum motion motion,
                       unsigned due, int64_t end_ns)
{
    const char *uid = maar_document_uid(pod);
    struct entry *entry = maar_map_find(kubelets->entries, uid);
    if (!entry) {
        entry = maar_calloc(1, sizeof *entry);
        entry->uid = maar_strdup(uid);
        entry->ns = maar_strdup(maar_document_namespace(pod));
        entry->name = maar_strdup(maar_document_name(pod));
        maar_map_set(kubelets->entries, uid, entry);
    } else if (entry->motion == motion) {
        return;
    }
    entry->motion = motion;
    entry->due = due;
    entry->end_ns = end_ns;
    entry->stuck = false;
}

static void observe_pod(struct maar_kubelets *kubelets, const json_t *pod, unsigned cycle)
{
    const char *uid = maar_document_uid(pod);
    if (maar_document_at(pod, "metadata.deletionTimestamp")) {
        set_motion(kubelets, pod, TERMINATING, cycle + kubelets->options.termination_delay, 0);
    } else if (is_phase(pod, "Pending") && *maar_document_text(pod, "spec.nodeName")) {
        set_motion(kubelets, pod, STARTING, cycle + kubelets->options.start_delay, 0);
    } else if (is_phase(pod, "Running")) {
        int64_t end_ns = end_of(kubelets, pod);
        if (end_ns == INT64_MAX)
            forget_entry(kubelets, uid);
        else
            set_motion(kubelets, pod, RUNNING, 0, end_ns);
    } else {
        forget_entry(kubelets, uid);
    }
}

static void observe_change(struct maar_kubelets *kubelets, const struct maar_change *change,
                           unsigned cycle)
{
    if (change->type != MAAR_CHANGE_DELETED) {
        observe_pod(kubelets, change->document, cycle);
        return;
    }
    forget_entry(kubelets, maar_document_uid(change->document));
}

void maar_kubelets_observe(struct maar_kubelets *kubelets, unsigned cycle)
{
    struct maar_collection *pods = kubelets->pods;
    if (kubelets->n_read < pods->n_forgotten) {
        size_t at = 0;
        const struct maar_object *object;
        while ((object = maar_collection_next(pods, &at)))
            observe_pod(kubelets, object->document, cycle);
        kubelets->n_read = pods->n_forgotten + pods->log.n;
    }
    while (kubelets->n_read < pods->n_forgotten + pods->log.n) {
        observe_change(kubelets, maar_collection_change(pods, kubelets->n_read++), cycle);
    }
}

/* ---- acting ---- */

static void set_ready(json_t *pod, const char *status, const char *reason, const char *time)
{
    static const char *const types[] = {"Initialized", "ContainersReady", "Ready", NULL};
    for (size_t i = 0; types[i]; i++) {
        json_t *condition =
            json_pack("{s:s, s:s, s:n, s:s}", "type", types[i], "status", i == 0 ? "True" : status,
                      "lastProbeTime", "lastTransitionTime", time);
        if (*reason)
            json_object_set_new(condition, "reason", json_string(reason));
        maar_document_set_condition(pod, condition);
    }
}

static void start(struct maar_kubelets *kubelets, struct maar_object *object)
{
    char time[32];
    maar_time_format(maar_store_now(kubelets->store), time);
    json_t *pod = json_deep_copy(object->document);
    maar_document_set(pod, "status.phase", json_string("Running"));
    maar_document_set(pod, "status.startTime", json_string(time));
    set_ready(pod, "True", "", time);
    maar_store_replace(kubelets->store, kubelets->pods, object, pod);
}

static void finish(struct maar_kubelets *kubelets, struct maar_object *object)
{
    char time[32];
    maar_time_format(maar_store_now(kubelets->store), time);
    json_t *pod = json_deep_copy(object->document);
    maar_document_set(pod, "status.phase", json_string("Succeeded"));
    set_ready(pod, "False", "PodCompleted", time);
    maar_store_replace(kubelets->store, kubelets->pods, object, pod);
}

/* False when there is nothing to do yet. */
static bool act_on(struct maar_kubelets *kubelets, struct entry *entry, struct maar_object *object,
                   unsigned cycle, int64_t next_ns)
{
    if (entry->motion == RUNNING) {
        if (entry->end_ns > next_ns)
            return false;
        finish(kubelets, object);
    } else if (entry->due > cycle) {
        return false;
    } else if (entry->motion == TERMINATING) {
        maar_store_remove(kubelets->store, kubelets->pods, object);
    } else {
        const char *node = maar_document_text(object->document, "spec.nodeName");
        entry->stuck = !maar_collection_object(kubelets->nodes, "", node);
        if (entry->stuck)
            return false;
        start(kubelets, object);
    }
    return true;
}

size_t maar_kubelets_act(struct maar_kubelets *kubelets, unsigned cycle, int64_t next_ns)
{
    size_t n = 0, at = 0;
    void *value;
    while (maar_map_next(kubelets->entries, &at, NULL, NULL, &value)) {
        struct entry *entry = value;
        struct maar_object *object = maar_collection_object(kubelets->pods, entry->ns, entry->name);
        if (!object || strcmp(maar_document_uid(object->document), entry->uid) != 0)
            continue;
        n += act_on(kubelets, entry, object, cycle, next_ns);
    }
    /* The changes just made give new motions: a started pod with a duration. */
    maar_kubelets_observe(kubelets, cycle);
    return n;
}

size_t maar_kubelets_n_busy(const struct maar_kubelets *kubelets)
{
    size_t n = 0, at = 0;
    void *value;
    while (maar_map_next(kubelets->entries, &at, NULL, NULL, &value))
        n += !((const struct entry *)value)->stuck;
    return n;
}
