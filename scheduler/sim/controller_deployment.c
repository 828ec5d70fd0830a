// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Deployment: one ReplicaSet for each pod template that it has had, named by the template's hash. A new template rolls:
// the new ReplicaSet grows by what may be surplus, the old ones shrink by what may be missing (25 % either, as
// Kubernetes has it), or with strategy Recreate the old pods go first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/controller_parts.h"

#define HASH_KEY     "pod-template-hash"
#define REVISION_KEY "deployment.kubernetes.io/revision"

struct rollout {
    struct maar_controllers *controllers;
    struct maar_object *object;
    struct maar_object_list sets; /* all its ReplicaSets */
    struct maar_object *current;  /* that of the template; NULL: not made yet */
    int64_t want;
    int64_t surge;
    int64_t unavailable;
};

/* ---- amounts ---- */

/* A number, or a percentage of the replicas. */
static int64_t portion(const json_t *value, int64_t replicas, bool round_up)
{
    int64_t percent = 25;
    if (json_is_integer(value))
        return json_integer_value(value) > 0 ? (int64_t)json_integer_value(value) : 0;
    if (json_is_string(value))
        percent = strtol(json_string_value(value), NULL, 10);
    if (percent < 0)
        percent = 0;
    if (percent > 100)
        percent = 100;
    return (replicas * percent + (round_up ? 99 : 0)) / 100;
}

static void read_limits(struct rollout *rollout)
{
    const json_t *limits =
        maar_document_at(rollout->object->document, "spec.strategy.rollingUpdate");
    rollout->surge = portion(json_object_get(limits, "maxSurge"), rollout->want, true);
    rollout->unavailable = portion(json_object_get(limits, "maxUnavailable"), rollout->want, false);
    if (rollout->surge == 0 && rollout->unavailable == 0)
        rollout->unavailable = 1;
}

static int64_t replicas_of(const struct maar_object *set)
{
    return maar_document_int(set->document, "spec.replicas", 1);
}

static int64_t available_of(const struct maar_object *set)
{
    return maar_document_int(set->document, "status.availableReplicas", 0);
}

static void scale(const struct rollout *rollout, struct maar_object *set, int64_t n)
{
    if (replicas_of(set) == n)
        return;
    json_t *next = json_deep_copy(set->document);
    maar_document_set(next, "spec.replicas", json_integer((json_int_t)n));
    maar_store_replace(rollout->controllers->store, rollout->controllers->replica_sets, set, next);
}

/* ---- ReplicaSets ---- */

/* The template without the label that the ReplicaSet's has more, and the empty time that clients written in Go add. */
static json_t *plain_template(const json_t *document)
{
    json_t *template = json_deep_copy(maar_document_at(document, "spec.template"));
    json_t *labels = maar_document_at(template, "metadata.labels");
    json_t *metadata = json_object_get(template, "metadata");
    json_object_del(labels, HASH_KEY);
    if (json_is_null(json_object_get(metadata, "creationTimestamp")))
        json_object_del(metadata, "creationTimestamp");
    return template;
}

static struct maar_object *find_current(const struct rollout *rollout)
{
    struct maar_object *found = NULL;
    json_t *want = plain_template(rollout->object->document);
    for (size_t i = 0; i < rollout->sets.n && !found; i++) {
        json_t *have = plain_template(rollout->sets.data[i]->document);
        if (json_equal(want, have))
            found = rollout->sets.data[i];
        json_decref(have);
    }
    json_decref(want);
    return found;
}

static long revision_of(const struct maar_object *set)
{
    return strtol(maar_document_annotation(set->document, REVISION_KEY), NULL, 10);
}

static long last_revision(const struct rollout *rollout)
{
    long last = 0;
    for (size_t i = 0; i < rollout->sets.n; i++)
        if (revision_of(rollout->sets.data[i]) > last)
            last = revision_of(rollout->sets.data[i]);
    return last;
}

/* A template that was there before and is again is the newest one. */
static void renew_revision(const struct rollout *rollout)
{
    char text[32];
    long last = last_revision(rollout);
    if (revision_of(rollout->current) == last)
        return;
    json_t *next = json_deep_copy(rollout->current->document);
    snprintf(text, sizeof text, "%ld", last + 1);
    maar_controller_annotate(next, REVISION_KEY, text);
    maar_store_replace(rollout->controllers->store, rollout->controllers->replica_sets,
                       rollout->current, next);
}

static json_t *annotations_of(const struct rollout *rollout)
{
    char revision[32];
    json_t *annotations = maar_document_at(rollout->object->document, "metadata.annotations");
    json_t *copy = json_is_object(annotations) ? json_deep_copy(annotations) : json_object();
    json_object_del(copy, "kubectl.kubernetes.io/last-applied-configuration");
    snprintf(revision, sizeof revision, "%ld", last_revision(rollout) + 1);
    json_object_set_new(copy, REVISION_KEY, json_string(revision));
    return copy;
}

/* `uid` "" for a new one. */
static void make_set(const struct rollout *rollout, const char *hash, const char *name,
                     const char *uid, int64_t n)
{
    const json_t *document = rollout->object->document;
    json_t *template = plain_template(document);
    json_t *selector = json_deep_copy(maar_document_at(document, "spec.selector"));
    maar_controller_label(template, HASH_KEY, hash);
    maar_document_set(selector, "matchLabels." HASH_KEY, json_string(hash));
    json_t *set = json_pack(
        "{s:s, s:s, s:{s:s, s:s, s:o, s:o, s:o}, s:{s:I, s:o, s:o}}", "apiVersion", "apps/v1",
        "kind", "ReplicaSet", "metadata", "name", name, "namespace", rollout->object->ns, "labels",
        json_deep_copy(maar_document_at(template, "metadata.labels")), "annotations",
        annotations_of(rollout), "ownerReferences", maar_controller_reference(rollout->object),
        "spec", "replicas", (json_int_t)n, "selector", selector, "template", template);
    if (*uid)
        maar_document_set(set, "metadata.uid", json_string(uid));
    maar_controller_create(rollout->controllers, rollout->controllers->replica_sets,
                           rollout->object, set);
}

static void make_new_set(const struct rollout *rollout, int64_t n)
{
    char hash[12], name[300];
    json_t *template = plain_template(rollout->object->document);
    maar_controller_hash_text(maar_controller_hash(template), hash);
    json_decref(template);
    snprintf(name, sizeof name, "%.240s-%s", rollout->object->name, hash);
    make_set(rollout, hash, name, "", n);
}

/* The ReplicaSet that a pod says to be of, when it is this Deployment's and not there. */
static const json_t *missing_set(const struct rollout *rollout, const struct maar_object *pod)
{
    const json_t *owner = maar_controller_of(pod->document);
    const json_t *labels = maar_document_at(pod->document, "metadata.labels");
    const char *hash = json_string_value(json_object_get(labels, HASH_KEY));
    char name[300];
    snprintf(name, sizeof name, "%.240s-%.20s", rollout->object->name, hash ? hash : "");
    if (!owner || !hash || maar_pod_is_over(pod->document) ||
        strcmp(pod->ns, rollout->object->ns) != 0 ||
        strcmp(maar_document_text(owner, "kind"), "ReplicaSet") != 0 ||
        strcmp(maar_document_text(owner, "name"), name) != 0)
        return NULL;
    return maar_collection_object(rollout->controllers->replica_sets, pod->ns, name) ? NULL : owner;
}

/* A dump may hold Deployments and pods but not what is between them: the ReplicaSet of the youngest pod is put back. */
static bool restore_set(const struct rollout *rollout)
{
    const struct maar_object *pod;
    const json_t *owner = NULL;
    size_t at = 0;
    while ((pod = maar_collection_next(rollout->controllers->pods, &at))) {
        const json_t *found = missing_set(rollout, pod);
        owner = found ? found : owner;
    }
    if (!owner)
        return false;
    const char *name = maar_document_text(owner, "name");
    make_set(rollout, strrchr(name, '-') + 1, name, maar_document_text(owner, "uid"),
             rollout->want);
    return true;
}

static void make_first_set(const struct rollout *rollout)
{
    if (!restore_set(rollout))
        make_new_set(rollout, rollout->want);
}

/* ---- rolling ---- */

static int64_t sum(const struct rollout *rollout, int64_t (*amount)(const struct maar_object *))
{
    int64_t total = 0;
    for (size_t i = 0; i < rollout->sets.n; i++)
        total += amount(rollout->sets.data[i]);
    return total;
}

static void shrink(const struct rollout *rollout, int64_t n, bool unhealthy)
{
    for (size_t i = 0; i < rollout->sets.n && n > 0; i++) {
        struct maar_object *set = rollout->sets.data[i];
        if (set == rollout->current)
            continue;
        int64_t have = replicas_of(set);
        int64_t by = unhealthy ? have - available_of(set) : have;
        by = by < n ? by : n;
        if (by > 0)
            scale(rollout, set, have - by);
        n -= by > 0 ? by : 0;
    }
}

static void roll(const struct rollout *rollout)
{
    int64_t total = sum(rollout, replicas_of);
    int64_t current = replicas_of(rollout->current);
    if (total == current || current > rollout->want) {
        scale(rollout, rollout->current, rollout->want);
        if (total == current)
            return;
    } else {
        int64_t more = rollout->want + rollout->surge - total;
        if (more > rollout->want - current)
            more = rollout->want - current;
        if (more > 0)
            scale(rollout, rollout->current, current + more);
    }
    total = sum(rollout, replicas_of);
    int64_t least = rollout->want - rollout->unavailable;
    int64_t unready = replicas_of(rollout->current) - available_of(rollout->current);
    int64_t spare = total - least - (unready > 0 ? unready : 0);
    if (spare <= 0)
        return;
    shrink(rollout, spare, true);
    shrink(rollout, sum(rollout, available_of) - least, false);
}

static bool has_pods(const struct rollout *rollout)
{
    for (size_t i = 0; i < rollout->sets.n; i++) {
        const struct maar_object *set = rollout->sets.data[i];
        struct maar_object_list pods = {0};
        if (set == rollout->current)
            continue;
        maar_controller_list(maar_controller_known(rollout->controllers, set),
                             rollout->controllers->pods, &pods);
        size_t n = pods.n;
        for (size_t k = 0; k < pods.n; k++)
            n -= maar_pod_is_over(pods.data[k]->document);
        maar_vec_fini(&pods);
        if (n > 0)
            return true;
    }
    return false;
}

static void recreate(const struct rollout *rollout)
{
    for (size_t i = 0; i < rollout->sets.n; i++)
        if (rollout->sets.data[i] != rollout->current)
            scale(rollout, rollout->sets.data[i], 0);
    if (has_pods(rollout))
        return;
    if (rollout->current)
        scale(rollout, rollout->current, rollout->want);
    else
        make_new_set(rollout, rollout->want);
}

/* ---- status ---- */

static int64_t status_replicas(const struct maar_object *set)
{
    return maar_document_int(set->document, "status.replicas", 0);
}

static json_t *status_of(const struct rollout *rollout)
{
    const json_t *document = rollout->object->document;
    int64_t available = sum(rollout, available_of);
    int64_t updated = rollout->current ? status_replicas(rollout->current) : 0;
    bool enough = available >= rollout->want - rollout->unavailable;
    bool done = updated == rollout->want && available >= rollout->want &&
                sum(rollout, status_replicas) == updated;
    json_t *conditions =
        json_pack("[o, o]",
                  maar_controller_condition(
                      rollout->controllers, document, "Available", enough,
                      enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                      enough ? "Deployment has minimum availability."
                             : "Deployment does not have minimum availability."),
                  maar_controller_condition(rollout->controllers, document, "Progressing", true,
                                            done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
                                            done ? "The new ReplicaSet has successfully progressed."
                                                 : "The new ReplicaSet is progressing."));
    json_t *status =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "observedGeneration",
                  (json_int_t)maar_document_int(document, "metadata.generation", 1), "replicas",
                  (json_int_t)sum(rollout, status_replicas), "updatedReplicas", (json_int_t)updated,
                  "readyReplicas", (json_int_t)available, "availableReplicas",
                  (json_int_t)available, "conditions", conditions);
    if (available < rollout->want)
        json_object_set_new(status, "unavailableReplicas",
                            json_integer((json_int_t)(rollout->want - available)));
    return status;
}

void maar_reconcile_deployment(struct maar_controllers *controllers, struct maar_known *known,
                               struct maar_object *object)
{
    struct rollout rollout = {
        .controllers = controllers,
        .object = object,
        .want = maar_document_int(object->document, "spec.replicas", 1),
    };
    maar_controller_list(known, controllers->replica_sets, &rollout.sets);
    read_limits(&rollout);
    rollout.current = find_current(&rollout);
    if (rollout.current)
        renew_revision(&rollout);
    maar_controller_set_status(controllers, known, object, status_of(&rollout));
    if (rollout.sets.n == 0)
        make_first_set(&rollout);
    else if (strcmp(maar_document_text(object->document, "spec.strategy.type"), "Recreate") == 0)
        recreate(&rollout);
    else if (rollout.current)
        roll(&rollout);
    else
        make_new_set(&rollout, 0);
    maar_vec_fini(&rollout.sets);
}
