// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// StatefulSet: pods NAME-0 … in order, each when the one before is ready (podManagementPolicy Parallel: all at once).
// The highest goes first when there are too many, and when the template has changed (updateStrategy OnDelete: only when
// somebody else removes it). Claims of volumeClaimTemplates are not made.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "sim/controller_parts.h"

struct set {
    struct maar_controllers *controllers;
    struct maar_object *object;
    struct maar_object_list pods;
    struct maar_object **ordinals; /* [want]: the pod of each; NULL: not there */
    int64_t first;
    int64_t want;
    const char *revision;
    bool parallel;
};

static const char *label_of(const json_t *document, const char *key)
{
    const char *text =
        json_string_value(json_object_get(maar_document_at(document, "metadata.labels"), key));
    return text ? text : "";
}

static bool is_current(const struct set *set, const struct maar_object *pod)
{
    return strcmp(label_of(pod->document, "controller-revision-hash"), set->revision) == 0;
}

/* -1 for a name of another form. */
static int64_t ordinal_of(const struct set *set, const char *name)
{
    size_t n = strlen(set->object->name);
    char *end = NULL;
    if (strncmp(name, set->object->name, n) != 0 || name[n] != '-' || !name[n + 1] ||
        strspn(name + n + 1, "0123456789") != strlen(name + n + 1) || strlen(name + n + 1) > 9)
        return -1;
    return strtol(name + n + 1, &end, 10);
}

static void add_pod(const struct set *set, int64_t i)
{
    char name[300], index[24];
    snprintf(index, sizeof index, "%lld", (long long)i);
    snprintf(name, sizeof name, "%.250s-%s", set->object->name, index);
    json_t *pod = maar_controller_pod(
        set->object, maar_document_at(set->object->document, "spec.template"), name);
    maar_controller_label(pod, "statefulset.kubernetes.io/pod-name", name);
    maar_controller_label(pod, "apps.kubernetes.io/pod-index", index);
    maar_controller_label(pod, "controller-revision-hash", set->revision);
    maar_document_set(pod, "spec.hostname", json_string(name));
    const char *service = maar_document_text(set->object->document, "spec.serviceName");
    if (*service)
        maar_document_set(pod, "spec.subdomain", json_string(service));
    maar_controller_create(set->controllers, set->controllers->pods, set->object, pod);
}

/* True when one was removed: then its slot is looked at again. */
static bool remove_over(const struct set *set)
{
    bool removed = false;
    for (size_t i = 0; i < set->pods.n; i++) {
        if (!maar_pod_is_over(set->pods.data[i]->document))
            continue;
        maar_controller_delete(set->controllers, set->controllers->pods, set->pods.data[i]);
        removed = true;
    }
    return removed;
}

static void fill(const struct set *set)
{
    for (int64_t i = 0; i < set->want; i++) {
        const struct maar_object *pod = set->ordinals[i];
        if (!pod)
            add_pod(set, set->first + i);
        if (!set->parallel && !(pod && maar_pod_is_ready(pod->document)))
            return;
    }
}

/* True when one had to go. */
static bool remove_surplus(const struct set *set)
{
    bool removed = false;
    for (size_t i = set->pods.n; i-- > 0 && !(removed && !set->parallel);) {
        int64_t ordinal = ordinal_of(set, set->pods.data[i]->name);
        if (ordinal >= set->first && ordinal < set->first + set->want)
            continue;
        removed = true;
        if (!maar_pod_is_going(set->pods.data[i]->document))
            maar_controller_delete(set->controllers, set->controllers->pods, set->pods.data[i]);
    }
    return removed;
}

/* One pod of an old revision, the highest. A pod that is not ready does not hold up its own replacement. */
static void update(const struct set *set)
{
    int64_t partition =
        maar_document_int(set->object->document, "spec.updateStrategy.rollingUpdate.partition", 0);
    for (int64_t i = set->want; i-- > 0;) {
        struct maar_object *pod = set->ordinals[i];
        if (!pod || set->first + i < partition || maar_pod_is_going(pod->document))
            return;
        if (!is_current(set, pod)) {
            maar_controller_delete(set->controllers, set->controllers->pods, pod);
            return;
        }
        if (!maar_pod_is_ready(pod->document))
            return;
    }
}

static json_t *status_of(const struct set *set)
{
    json_int_t n = 0, n_ready = 0, n_current = 0;
    for (size_t i = 0; i < set->pods.n; i++) {
        const struct maar_object *pod = set->pods.data[i];
        if (maar_pod_is_over(pod->document) || maar_pod_is_going(pod->document))
            continue;
        n++;
        n_ready += maar_pod_is_ready(pod->document);
        n_current += is_current(set, pod);
    }
    const char *before = maar_document_text(set->object->document, "status.currentRevision");
    bool done = n_current >= set->want || !*before;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:i}", "observedGeneration",
                     (json_int_t)maar_document_int(set->object->document, "metadata.generation", 1),
                     "replicas", n, "readyReplicas", n_ready, "availableReplicas", n_ready,
                     "currentReplicas", done ? n_current : n - n_current, "updatedReplicas",
                     n_current, "currentRevision", done ? set->revision : before, "updateRevision",
                     set->revision, "collisionCount", 0);
}

static void index_pods(struct set *set)
{
    set->ordinals = maar_calloc((size_t)set->want + 1, sizeof *set->ordinals);
    for (size_t i = 0; i < set->pods.n; i++) {
        int64_t ordinal = ordinal_of(set, set->pods.data[i]->name) - set->first;
        if (ordinal >= 0 && ordinal < set->want)
            set->ordinals[ordinal] = set->pods.data[i];
    }
}

void maar_reconcile_stateful_set(struct maar_controllers *controllers, struct maar_known *known,
                                 struct maar_object *object)
{
    const char *strategy = maar_document_text(object->document, "spec.updateStrategy.type");
    struct set set = {
        .controllers = controllers,
        .object = object,
        .first = maar_document_int(object->document, "spec.ordinals.start", 0),
        .want = maar_document_int(object->document, "spec.replicas", 1),
        .parallel = strcmp(maar_document_text(object->document, "spec.podManagementPolicy"),
                           "Parallel") == 0,
    };
    maar_controller_list(known, controllers->pods, &set.pods);
    set.revision = maar_controller_revision(known, object, &set.pods);
    index_pods(&set);
    maar_controller_set_status(controllers, known, object, status_of(&set));
    if (set.want == 0)
        maar_controller_drop_group(controllers, object);
    if (!remove_over(&set)) {
        fill(&set);
        if (!remove_surplus(&set) && strcmp(strategy, "OnDelete") != 0)
            update(&set);
    }
    free(set.ordinals);
    maar_vec_fini(&set.pods);
}
