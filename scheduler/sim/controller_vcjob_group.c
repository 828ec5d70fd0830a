// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The PodGroup of a Volcano Job, its policies and its status.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/controller_vcjob.h"

/* ---- minResources ---- */

struct share {
    const struct maar_vcjob_task *task;
    int64_t priority;
    int64_t n; /* pods that count */
};

static int64_t priority_of(const struct maar_vcjob *job, const struct maar_vcjob_task *task)
{
    const struct maar_collection *classes =
        maar_store_find(job->controllers->store, "scheduling.k8s.io/v1", "PriorityClass");
    const char *name = maar_document_text(task->document, "template.spec.priorityClassName");
    const struct maar_object *class = maar_collection_object(classes, "", name);
    return class ? maar_document_int(class->document, "value", 0) : 0;
}

/* Higher first; equal ones stay in order. */
static void sort_by_priority(struct share *shares, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct share moved = shares[i];
        size_t k = i;
        for (; k > 0 && shares[k - 1].priority < moved.priority; k--)
            shares[k] = shares[k - 1];
        shares[k] = moved;
    }
}

static int64_t take(int64_t *left, int64_t n)
{
    int64_t taken = n < *left ? n : *left;
    *left -= taken > 0 ? taken : 0;
    return taken > 0 ? taken : 0;
}

/* Which pods make up the job's minimum: by priority, and when all tasks' own minima are within it, those first. */
static void share_out(const struct maar_vcjob *job, struct share *shares)
{
    int64_t left = job->min;
    bool whole = job->min < job->sum_of_minima;
    for (size_t i = 0; i < job->n_tasks; i++)
        shares[i].n = take(&left, whole ? shares[i].task->replicas : shares[i].task->min);
    for (size_t i = 0; !whole && i < job->n_tasks; i++)
        shares[i].n += take(&left, shares[i].task->replicas - shares[i].task->min);
}

static json_t *min_resources(const struct maar_vcjob *job)
{
    struct share *shares = maar_calloc(job->n_tasks + 1, sizeof *shares);
    struct maar_map *sums = maar_map_create();
    for (size_t i = 0; i < job->n_tasks; i++)
        shares[i] = (struct share){&job->tasks[i], priority_of(job, &job->tasks[i]), 0};
    sort_by_priority(shares, job->n_tasks);
    share_out(job, shares);
    for (size_t i = 0; i < job->n_tasks; i++)
        maar_min_resources_add(sums, maar_document_at(shares[i].task->document, "template.spec"),
                               shares[i].n);
    free(shares);
    return maar_min_resources_take(sums);
}

/* ---- PodGroup ---- */

void maar_vcjob_group_name(const struct maar_vcjob *job, char buffer[600])
{
    snprintf(buffer, 600, "%.240s-%.200s", job->object->name, job->known->uid);
}

static json_t *sub_groups(const struct maar_vcjob *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->n_tasks; i++) {
        const struct maar_vcjob_task *task = &job->tasks[i];
        const json_t *policy = json_object_get(task->document, "partitionPolicy");
        json_t *topology = json_object_get(policy, "networkTopology");
        if (!json_is_object(policy))
            continue;
        json_t *entry = json_pack(
            "{s:s, s:I, s:I, s:{s:{s:s}}, s:[s]}", "name", task->name, "subGroupSize",
            (json_int_t)maar_document_int(policy, "partitionSize", 1), "minSubGroups",
            (json_int_t)maar_document_int(policy, "minPartitions", 0), "labelSelector",
            "matchLabels", MAAR_TASK_KEY, task->name, "matchLabelKeys", "volcano.sh/partition-id");
        if (topology)
            json_object_set(entry, "networkTopology", topology);
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *spec_of(const struct maar_vcjob *job)
{
    const json_t *own = maar_document_at(job->object->document, "spec");
    const char *queue = maar_document_text(own, "queue");
    const char *priority = maar_document_text(own, "priorityClassName");
    json_t *topology = json_object_get(own, "networkTopology");
    json_t *minima = json_object(), *resources = min_resources(job), *parts = sub_groups(job);
    for (size_t i = 0; i < job->n_tasks; i++)
        json_object_set_new(minima, job->tasks[i].name,
                            json_integer((json_int_t)job->tasks[i].min));
    json_t *spec = json_pack("{s:I, s:o, s:s}", "minMember", (json_int_t)job->min, "minTaskMember",
                             minima, "queue", *queue ? queue : "default");
    if (*priority)
        json_object_set_new(spec, "priorityClassName", json_string(priority));
    if (resources)
        json_object_set_new(spec, "minResources", resources);
    if (topology)
        json_object_set(spec, "networkTopology", topology);
    if (json_array_size(parts) > 0)
        json_object_set(spec, "subGroupPolicy", parts);
    json_decref(parts);
    return spec;
}

static json_t *copy_map(const struct maar_vcjob *job, const char *path)
{
    json_t *map = maar_document_at(job->object->document, path);
    return json_is_object(map) ? json_deep_copy(map) : json_object();
}

static void make_group(const struct maar_vcjob *job, const char *name)
{
    json_t *group = json_pack(
        "{s:s, s:s, s:{s:s, s:s, s:o, s:o, s:o}, s:o, s:{s:s}}", "apiVersion",
        "scheduling.volcano.sh/v1beta1", "kind", "PodGroup", "metadata", "name", name, "namespace",
        job->object->ns, "labels", copy_map(job, "metadata.labels"), "annotations",
        copy_map(job, "metadata.annotations"), "ownerReferences",
        maar_controller_reference(job->object), "spec", spec_of(job), "status", "phase", "Pending");
    json_object_del(maar_document_at(group, "metadata.annotations"),
                    "kubectl.kubernetes.io/last-applied-configuration");
    maar_controller_create(job->controllers, job->controllers->groups, job->object, group);
}

/* What of the spec follows the job. */
static void update_group(const struct maar_vcjob *job, struct maar_object *group)
{
    static const char *const keys[] = {"minMember", "minResources", "minTaskMember",
                                       "priorityClassName", NULL};
    json_t *next = json_deep_copy(group->document), *spec = spec_of(job);
    json_t *own = json_object_get(next, "spec");
    for (size_t i = 0; json_is_object(own) && keys[i]; i++)
        if (json_object_get(spec, keys[i]))
            json_object_set(own, keys[i], json_object_get(spec, keys[i]));
    json_decref(spec);
    maar_store_replace(job->controllers->store, job->controllers->groups, group, next);
}

static struct maar_object *find_group(const struct maar_vcjob *job, char name[600])
{
    maar_vcjob_group_name(job, name);
    return maar_collection_object(job->controllers->groups, job->object->ns, name);
}

bool maar_vcjob_sync_group(const struct maar_vcjob *job)
{
    char name[600];
    struct maar_object *group = find_group(job, name);
    if (!group) {
        make_group(job, name);
        return false;
    }
    update_group(job, group);
    const char *phase = maar_document_text(group->document, "status.phase");
    return *phase && strcmp(phase, "Pending") != 0;
}

void maar_vcjob_drop_group(const struct maar_vcjob *job)
{
    char name[600];
    struct maar_object *group = find_group(job, name);
    if (group)
        maar_controller_delete(job->controllers, job->controllers->groups, group);
}

/* ---- policies ---- */

static bool names_event(const json_t *policy, const char *event)
{
    const json_t *events = json_object_get(policy, "events");
    const char *one = maar_document_text(policy, "event");
    bool found = strcmp(one, event) == 0 || strcmp(one, "*") == 0;
    for (size_t i = 0; i < json_array_size(events) && !found; i++) {
        const char *text = json_string_value(json_array_get(events, i));
        found = text && (strcmp(text, event) == 0 || strcmp(text, "*") == 0);
    }
    return found;
}

static const char *action_in(const json_t *policies, const char *event)
{
    for (size_t i = 0; i < json_array_size(policies); i++) {
        const json_t *policy = json_array_get(policies, i);
        if (names_event(policy, event))
            return maar_document_text(policy, "action");
    }
    return NULL;
}

static bool find_action_of(const struct maar_vcjob *job, const char *event, const char *task,
                           struct maar_vcjob_action *ret_action)
{
    const char *action = NULL;
    for (size_t i = 0; i < job->n_tasks && !action; i++)
        if (strcmp(job->tasks[i].name, task) == 0)
            action = action_in(json_object_get(job->tasks[i].document, "policies"), event);
    if (!action)
        action = action_in(maar_document_at(job->object->document, "spec.policies"), event);
    if (!action || !*action)
        return false;
    *ret_action = (struct maar_vcjob_action){action, task};
    return true;
}

bool maar_vcjob_find_action(const struct maar_vcjob *job, struct maar_vcjob_action *ret_action)
{
    for (size_t i = 0; i < json_array_size(job->known->gone_pods); i++) {
        const json_t *pod = json_array_get(job->known->gone_pods, i);
        const char *version = maar_document_annotation(pod, "volcano.sh/job-version");
        /* A pod of before the last restart is no reason for another. */
        if (strtoll(version, NULL, 10) >= job->version &&
            find_action_of(job, "PodEvicted", maar_document_annotation(pod, MAAR_TASK_KEY),
                           ret_action))
            return true;
    }
    for (size_t i = 0; i < job->n_tasks; i++) {
        const struct maar_vcjob_task *task = &job->tasks[i];
        if (task->n_failed > 0 && find_action_of(job, "PodFailed", task->name, ret_action))
            return true;
        if (task->replicas > 0 && task->n_succeeded == task->replicas &&
            find_action_of(job, "TaskCompleted", task->name, ret_action))
            return true;
    }
    return false;
}

/* ---- status ---- */

static void count_phase(json_t *counts, const char *phase, int64_t n)
{
    if (n > 0)
        json_object_set_new(counts, phase, json_integer((json_int_t)n));
}

static json_t *task_counts(const struct maar_vcjob *job)
{
    json_t *map = json_object();
    for (size_t i = 0; i < job->n_tasks; i++) {
        const struct maar_vcjob_task *task = &job->tasks[i];
        json_t *counts = json_object();
        count_phase(counts, "Pending", task->n_pending);
        count_phase(counts, "Running", task->n_running);
        count_phase(counts, "Succeeded", task->n_succeeded);
        count_phase(counts, "Failed", task->n_failed);
        if (json_object_size(counts) > 0)
            json_object_set_new(map, task->name, json_pack("{s:o}", "phase", counts));
        else
            json_decref(counts);
    }
    return map;
}

void maar_vcjob_write_status(const struct maar_vcjob *job)
{
    char now[32];
    const json_t *document = job->object->document;
    bool same = strcmp(maar_document_text(document, "status.state.phase"), job->phase) == 0;
    const char *since = maar_document_text(document, "status.state.lastTransitionTime");
    if (!same || !*since)
        since = maar_time_format(maar_store_now(job->controllers->store), now);
    json_t *conditions = maar_document_at(document, "status.conditions");
    conditions = json_is_array(conditions) ? json_deep_copy(conditions) : json_array();
    if (!same)
        json_array_append_new(
            conditions, json_pack("{s:s, s:s}", "status", job->phase, "lastTransitionTime", since));
    json_t *status = json_pack(
        "{s:{s:s, s:s}, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "state", "phase",
        job->phase, "lastTransitionTime", since, "minAvailable", (json_int_t)job->min, "pending",
        (json_int_t)job->n_pending, "running", (json_int_t)job->n_running, "succeeded",
        (json_int_t)job->n_succeeded, "failed", (json_int_t)job->n_failed, "terminating",
        (json_int_t)job->n_going, "version", (json_int_t)job->version, "retryCount",
        (json_int_t)job->n_retries, "taskStatusCount", task_counts(job), "conditions", conditions);
    maar_controller_set_status(job->controllers, job->known, job->object, status);
}
