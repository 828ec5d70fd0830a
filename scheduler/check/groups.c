/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Gangs: PodGroups against the pods that name them, and the jobs of Volcano, whose controller makes both. */

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/parts.h"
#include "sim/document.h"

#define MAX_TASKS 1000 /* of a job that are compared with each other */

/* ---- what both name ---- */

/* Every cluster has the queues default and root. */
void maar_check_queue_name(struct maar_check *check, const struct maar_field *field,
                           const char *name)
{
    if (*name && strcmp(name, "default") != 0 && strcmp(name, "root") != 0)
        maar_check_reference(check, field, "Queue", "", name);
}

void maar_check_class(struct maar_check *check, const struct maar_field *field, const char *name)
{
    if (*name && strcmp(name, "system-cluster-critical") != 0 &&
        strcmp(name, "system-node-critical") != 0)
        maar_check_reference(check, field, "PriorityClass", "", name);
}

static void check_names(struct maar_check *check, const struct maar_field *spec_field,
                        const json_t *spec)
{
    const struct maar_field queue = maar_field_key(spec_field, "queue");
    const struct maar_field class = maar_field_key(spec_field, "priorityClassName");
    maar_check_queue_name(check, &queue, maar_document_text(spec, "queue"));
    maar_check_class(check, &class, maar_document_text(spec, "priorityClassName"));
}

static void check_topology(struct maar_check *check, const struct maar_field *spec_field,
                           const json_t *spec)
{
    const json_t *topology = maar_document_at(spec, "networkTopology");
    const struct maar_field at = maar_field_key(spec_field, "networkTopology");
    const struct maar_field field = maar_field_key(&at, "highestTierName");
    if (maar_document_at(topology, "highestTierAllowed") &&
        *maar_document_text(topology, "highestTierName"))
        maar_findings_add(&check->findings, &field, true, NULL,
                          "excludes highestTierAllowed; write one of them");
}

/* ---- PodGroup ---- */

static const char *nearest_role(const struct maar_check_members *members, const char *role)
{
    MAAR_VEC(const char *) names = {0};
    size_t at = 0;
    const void *key;
    while (maar_map_next(members->roles, &at, &key, NULL, NULL))
        maar_vec_push(&names, (const char *)key);
    maar_vec_push(&names, NULL);
    const char *nearest = maar_text_nearest(role, names.data);
    maar_vec_fini(&names);
    return nearest;
}

static void check_roles(struct maar_check *check, const struct maar_check_object *object,
                        const struct maar_check_members *members)
{
    const struct maar_pod_group_record *group = &object->record->pod_group;
    const struct maar_field at = maar_check_path(&object->field, "spec.minTaskMember");
    for (uint32_t i = 0; i < group->n_min_task; i++) {
        const struct maar_role_min *min = &group->min_task[i];
        const int64_t *n = maar_map_find(members->roles, min->role);
        struct maar_field field = maar_field_key(&at, min->role);
        if (min->min > 0 && !n)
            maar_findings_add(&check->findings, &field, true, nearest_role(members, min->role),
                              "no pod of the group has the role %.63s (volcano.sh/task-spec)",
                              min->role);
        else if (n && min->min > *n)
            maar_findings_add(&check->findings, &field, true, NULL,
                              "%d pods of this role must start together, but the input has only "
                              "%lld",
                              (int)min->min, (long long)*n);
    }
}

static void check_members(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_pod_group_record *group = &object->record->pod_group;
    const struct maar_check_members *members = maar_check_members(check, object->ns, object->name);
    const struct maar_field field = maar_check_path(&object->field, "spec.minMember");
    if (!members || members->is_open)
        return;
    if (group->min_member > members->n)
        maar_findings_add(&check->findings, &field, true, NULL,
                          "%d pods must start together, but only %lld of the input name this "
                          "PodGroup",
                          (int)group->min_member, (long long)members->n);
    check_roles(check, object, members);
}

static void check_sum(struct maar_check *check, const struct maar_field *field, int64_t sum,
                      const char *sum_words, int64_t min, const char *min_words)
{
    if (sum > 0 && sum > min)
        maar_findings_add(&check->findings, field, false, NULL,
                          "%s add up to %lld, more than %s %lld; then they do not count", sum_words,
                          (long long)sum, min_words, (long long)min);
}

void maar_check_group(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_pod_group_record *group = &object->record->pod_group;
    const struct maar_field field = maar_field_key(&object->field, "spec");
    const struct maar_field min_task = maar_field_key(&field, "minTaskMember");
    const struct maar_field amounts = maar_field_key(&field, "minResources");
    const json_t *spec = json_object_get(object->document, "spec");
    int64_t sum = 0;
    for (uint32_t i = 0; i < group->n_min_task; i++)
        sum += group->min_task[i].min;
    check_sum(check, &min_task, sum, "the minima of the roles", group->min_member, "minMember");
    check_members(check, object);
    check_names(check, &field, spec);
    check_topology(check, &field, spec);
    maar_check_resources(check, &amounts, maar_document_at(spec, "minResources"));
}

/* ---- jobs of Volcano ---- */

struct job {
    struct maar_check *check;
    struct maar_field field; /* of the spec */
    const json_t *tasks;
};

static struct maar_field task_field(const struct job *job, size_t i, const char *path)
{
    const struct maar_field tasks = maar_field_key(&job->field, "tasks");
    const struct maar_field task = maar_field_index(&tasks, i);
    return maar_check_path(&task, path);
}

/* The index of the first task of that name, -1 when there is none. */
static int find_task(const struct job *job, const char *name)
{
    size_t i;
    json_t *task;
    json_array_foreach ((json_t *)(uintptr_t)job->tasks, i, task)
        if (i < INT32_MAX && strcmp(maar_document_text(task, "name"), name) == 0)
            return (int)i;
    return -1;
}

static void check_dependency(const struct job *job, size_t i, size_t k, const char *name)
{
    maar_autofree char *path = maar_asprintf("dependsOn.name[%zu]", k);
    struct maar_field field = task_field(job, i, path);
    MAAR_VEC(const char *) names = {0};
    size_t at;
    json_t *task;
    if (find_task(job, name) == (int)i)
        maar_findings_add(&job->check->findings, &field, true, NULL,
                          "a task cannot wait for itself");
    if (find_task(job, name) >= 0)
        return;
    json_array_foreach ((json_t *)(uintptr_t)job->tasks, at, task)
        maar_vec_push(&names, maar_document_text(task, "name"));
    maar_vec_push(&names, NULL);
    maar_findings_add(&job->check->findings, &field, true, maar_text_nearest(name, names.data),
                      "the job has no task \"%.63s\"", name);
    maar_vec_fini(&names);
}

static void check_partitions(const struct job *job, size_t i, const json_t *task, int64_t replicas)
{
    const json_t *policy = maar_document_at(task, "partitionPolicy");
    int64_t n = maar_document_int(policy, "totalPartitions", 0);
    int64_t size = maar_document_int(policy, "partitionSize", 0);
    int64_t product;
    struct maar_field field = task_field(job, i, "partitionPolicy");
    if (n > 0 && size > 0 && (__builtin_mul_overflow(n, size, &product) || product != replicas))
        maar_findings_add(&job->check->findings, &field, true, NULL,
                          "%lld partitions of %lld pods are not the %lld replicas", (long long)n,
                          (long long)size, (long long)replicas);
}

static void check_task(const struct job *job, size_t i, const json_t *task)
{
    int64_t replicas = maar_document_int(task, "replicas", 0);
    int64_t min = maar_document_int(task, "minAvailable", replicas);
    const char *name = maar_document_text(task, "name");
    size_t k;
    json_t *other;
    struct maar_field field = task_field(job, i, "minAvailable");
    if (min > replicas)
        maar_findings_add(&job->check->findings, &field, true, NULL,
                          "%lld is more than the %lld replicas", (long long)min,
                          (long long)replicas);
    field = task_field(job, i, "name");
    if (*name && find_task(job, name) != (int)i)
        maar_findings_add(&job->check->findings, &field, true, NULL,
                          "another task is called %.63s, too", name);
    json_array_foreach (maar_document_at(task, "dependsOn.name"), k, other)
        if (json_is_string(other))
            check_dependency(job, i, k, json_string_value(other));
    check_partitions(job, i, task, replicas);
}

static void check_minimum(const struct job *job, const json_t *spec)
{
    int64_t n = 0, sum = 0;
    int64_t min = maar_document_int(spec, "minAvailable", 0);
    const struct maar_field field = maar_field_key(&job->field, "minAvailable");
    size_t i;
    json_t *task;
    json_array_foreach ((json_t *)(uintptr_t)job->tasks, i, task) {
        int64_t replicas = maar_document_int(task, "replicas", 0);
        if (replicas < 0 || replicas > INT32_MAX)
            return;
        n += replicas;
        sum += maar_document_int(task, "minAvailable", 0) > replicas
                   ? replicas
                   : maar_document_int(task, "minAvailable", 0);
    }
    if (min > n)
        maar_findings_add(&job->check->findings, &field, true, NULL,
                          "%lld pods must start together, but the tasks have only %lld replicas",
                          (long long)min, (long long)n);
    else if (min > 0)
        check_sum(job->check, &field, sum, "the minAvailable of the tasks", min,
                  "that of the job,");
}

static void check_plugins(const struct job *job, const json_t *spec)
{
    static const char *const known[] = {"env",     "svc", "ssh",      "tensorflow", "mpi",
                                        "pytorch", "ray", "hcclrank", NULL};
    const struct maar_field at = maar_field_key(&job->field, "plugins");
    const char *key;
    json_t *arguments;
    json_object_foreach (maar_document_at(spec, "plugins"), key, arguments) {
        struct maar_field field = maar_field_key(&at, key);
        bool is_known = false;
        for (size_t i = 0; known[i] && !is_known; i++)
            is_known = strcmp(known[i], key) == 0;
        if (!is_known)
            maar_findings_add(&job->check->findings, &field, false, maar_text_nearest(key, known),
                              "no plugin of Volcano's job controller");
    }
}

static void check_job(struct maar_check *check, const struct maar_check_object *object,
                      const char *path)
{
    const json_t *spec = maar_document_at(object->document, path);
    struct job job = {check, maar_check_path(&object->field, path),
                      maar_document_at(spec, "tasks")};
    size_t i;
    json_t *task;
    json_array_foreach ((json_t *)(uintptr_t)job.tasks, i, task)
        if (i < MAX_TASKS)
            check_task(&job, i, task);
    check_minimum(&job, spec);
    check_plugins(&job, spec);
    check_names(check, &job.field, spec);
    check_topology(check, &job.field, spec);
}

void maar_check_jobs(struct maar_check *check, const struct maar_check_object *object)
{
    if (strcmp(object->api_version, "batch.volcano.sh/v1alpha1") == 0)
        check_job(check, object,
                  strcmp(object->kind, "CronJob") == 0 ? "spec.jobTemplate.spec" : "spec");
    else if (strcmp(object->api_version, "flow.volcano.sh/v1alpha1") == 0 &&
             strcmp(object->kind, "JobTemplate") == 0)
        check_job(check, object, "spec");
}
