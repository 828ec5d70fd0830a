// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Job of batch.volcano.sh: a PodGroup JOB-UID first; when that is let in, pods JOB-TASK-0 … of each task. A pod that is
// gone comes again under its name. Policies of job and tasks are played for the events PodEvicted, PodFailed and
// TaskCompleted; timeouts, exit codes, volumes and plugins are not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/controller_parts.h"
#include "sim/controller_vcjob.h"

/* ---- reading ---- */

const char *maar_vcjob_task_name(const json_t *task)
{
    const char *name = maar_document_text(task, "name");
    return *name ? name : "default";
}

int64_t maar_vcjob_task_min(const json_t *task)
{
    int64_t min = maar_document_int(task, "minAvailable", -1);
    int64_t partitions = maar_document_int(task, "partitionPolicy.minPartitions", 0);
    if (min >= 0)
        return min;
    if (partitions <= 0)
        return maar_document_int(task, "replicas", 0);
    bool over = __builtin_mul_overflow(
        partitions, maar_document_int(task, "partitionPolicy.partitionSize", 1), &min);
    return over ? INT64_MAX : min;
}

static void count_task(struct maar_vcjob *job, struct maar_vcjob_task *task)
{
    char name[600];
    for (int64_t i = 0; i < task->replicas; i++) {
        snprintf(name, sizeof name, "%.200s-%.100s-%lld", job->object->name, task->name,
                 (long long)i);
        const struct maar_object *pod =
            maar_collection_object(job->controllers->pods, job->object->ns, name);
        const json_t *owner = pod ? maar_controller_of(pod->document) : NULL;
        if (!pod || strcmp(maar_document_text(owner, "uid"), job->known->uid) != 0)
            task->n_missing++;
        else if (maar_pod_is_going(pod->document))
            task->n_going++;
        else if (maar_pod_has_phase(pod->document, "Succeeded"))
            task->n_succeeded++;
        else if (maar_pod_has_phase(pod->document, "Failed"))
            task->n_failed++;
        else if (maar_pod_has_phase(pod->document, "Running"))
            task->n_running++;
        else
            task->n_pending++;
    }
    job->n_pending += task->n_pending;
    job->n_running += task->n_running;
    job->n_succeeded += task->n_succeeded;
    job->n_failed += task->n_failed;
    job->n_going += task->n_going;
    job->replicas += task->replicas;
}

static void read_job(struct maar_vcjob *job)
{
    const json_t *document = job->object->document;
    const char *phase = maar_document_text(document, "status.state.phase");
    const json_t *tasks = maar_document_at(document, "spec.tasks");
    snprintf(job->phase, sizeof job->phase, "%s", *phase ? phase : "Pending");
    job->version = maar_document_int(document, "status.version", 0);
    job->n_retries = maar_document_int(document, "status.retryCount", 0);
    job->n_tasks = json_array_size(tasks);
    job->tasks = maar_calloc(job->n_tasks + 1, sizeof *job->tasks);
    for (size_t i = 0; i < job->n_tasks; i++) {
        struct maar_vcjob_task *task = &job->tasks[i];
        task->document = json_array_get(tasks, i);
        task->name = maar_vcjob_task_name(task->document);
        task->replicas = maar_document_int(task->document, "replicas", 0);
        task->min = maar_vcjob_task_min(task->document);
        job->sum_of_minima += task->min;
        count_task(job, task);
    }
    job->min = maar_document_int(document, "spec.minAvailable", 0);
    if (job->min <= 0)
        job->min = job->sum_of_minima;
}

/* ---- pods ---- */

static void copy_from_job(const json_t *job, const char *map, const char *key, json_t *pod)
{
    const char *value = json_string_value(json_object_get(maar_document_at(job, map), key));
    if (value && strcmp(map, "metadata.labels") == 0)
        maar_controller_label(pod, key, value);
    else if (value)
        maar_controller_annotate(pod, key, value);
}

static void inherit(const json_t *job, json_t *pod)
{
    static const char *const annotations[] = {"volcano.sh/preemptable", "volcano.sh/cooldown-time",
                                              "volcano.sh/revocable-zone", NULL};
    bool has_min = *maar_document_annotation(job, "volcano.sh/jdb-min-available");
    for (size_t i = 0; annotations[i]; i++)
        copy_from_job(job, "metadata.annotations", annotations[i], pod);
    copy_from_job(job, "metadata.annotations",
                  has_min ? "volcano.sh/jdb-min-available" : "volcano.sh/jdb-max-unavailable", pod);
    for (size_t i = 0; i < 2; i++)
        copy_from_job(job, "metadata.labels", annotations[i], pod);
}

static void set_texts(const struct maar_vcjob *job, const struct maar_vcjob_task *task,
                      const char *index, json_t *pod)
{
    char group[600], template[400], version[24], retries[24];
    const char *queue = maar_document_text(job->object->document, "spec.queue");
    maar_vcjob_group_name(job, group);
    snprintf(template, sizeof template, "%.200s-%.100s", job->object->name, task->name);
    snprintf(version, sizeof version, "%lld", (long long)job->version);
    snprintf(retries, sizeof retries, "%lld", (long long)job->n_retries);
    const struct {
        const char *key;
        const char *value;
        bool is_label; /* and annotation */
    } texts[] = {
        {"volcano.sh/task-index", index, true},
        {MAAR_TASK_KEY, task->name, true},
        {"volcano.sh/job-name", job->object->name, true},
        {"volcano.sh/queue-name", *queue ? queue : "default", true},
        {MAAR_GROUP_KEY, group, false},
        {"volcano.sh/job-version", version, false},
        {"volcano.sh/template-uid", template, false},
        {"volcano.sh/job-retry-count", retries, false},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        maar_controller_annotate(pod, texts[i].key, texts[i].value);
        if (texts[i].is_label)
            maar_controller_label(pod, texts[i].key, texts[i].value);
    }
    maar_controller_label(pod, "volcano.sh/job-namespace", job->object->ns);
    const char *topology = maar_document_text(task->document, "topologyPolicy");
    if (*topology)
        maar_controller_annotate(pod, "volcano.sh/numa-topology-policy", topology);
}

static void set_spec(const struct maar_vcjob *job, json_t *pod)
{
    static const char *const keys[] = {"schedulerName", "priorityClassName", NULL};
    const json_t *own = maar_document_at(job->object->document, "spec");
    json_t *spec = json_object_get(pod, "spec");
    for (size_t i = 0; keys[i]; i++)
        if (!*maar_document_text(spec, keys[i]) && *maar_document_text(own, keys[i]))
            json_object_set(spec, keys[i], json_object_get(own, keys[i]));
}

static bool add_pod(const struct maar_vcjob *job, const struct maar_vcjob_task *task, int64_t i)
{
    char name[600], text[24];
    snprintf(text, sizeof text, "%lld", (long long)i);
    snprintf(name, sizeof name, "%.200s-%.100s-%s", job->object->name, task->name, text);
    if (maar_collection_object(job->controllers->pods, job->object->ns, name))
        return true;
    json_t *pod =
        maar_controller_pod(job->object, json_object_get(task->document, "template"), name);
    set_texts(job, task, text, pod);
    set_spec(job, pod);
    inherit(job->object->document, pod);
    int64_t size = maar_document_int(task->document, "partitionPolicy.partitionSize", 0);
    if (maar_document_at(task->document, "partitionPolicy")) {
        snprintf(text, sizeof text, "%lld", (long long)(size > 0 ? i / size : 0));
        maar_controller_label(pod, "volcano.sh/partition-id", text);
    }
    return maar_controller_create(job->controllers, job->controllers->pods, job->object, pod);
}

static const struct maar_vcjob_task *find_task(const struct maar_vcjob *job, const char *name)
{
    for (size_t i = 0; i < job->n_tasks; i++)
        if (strcmp(job->tasks[i].name, name) == 0)
            return &job->tasks[i];
    return NULL;
}

/* All tasks that it depends on have their minimum running or done; with iteration any, one of them. */
static bool is_released(const struct maar_vcjob *job, const struct maar_vcjob_task *task)
{
    const json_t *names = maar_document_at(task->document, "dependsOn.name");
    size_t n = json_array_size(names), n_ready = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const struct maar_vcjob_task *other = name ? find_task(job, name) : NULL;
        n_ready += other && other->n_running + other->n_succeeded >= other->min;
    }
    bool any =
        n > 1 && strcmp(maar_document_text(task->document, "dependsOn.iteration"), "any") == 0;
    return any ? n_ready > 0 : n_ready == n;
}

static void add_pods(const struct maar_vcjob *job)
{
    bool made = true;
    for (size_t i = 0; i < job->n_tasks; i++) {
        const struct maar_vcjob_task *task = &job->tasks[i];
        if (task->n_missing == 0 || !is_released(job, task))
            continue;
        for (int64_t k = 0; k < task->replicas && made; k++)
            made = add_pod(job, task, k);
    }
}

/* Whether the pod is one of those that the job has now. */
static bool is_of_task(const struct maar_vcjob *job, const json_t *pod)
{
    const struct maar_vcjob_task *task =
        find_task(job, maar_document_annotation(pod, MAAR_TASK_KEY));
    const char *index = maar_document_annotation(pod, "volcano.sh/task-index");
    return task && *index && strtol(index, NULL, 10) < task->replicas;
}

static void remove_pod(const struct maar_vcjob *job, struct maar_object *pod)
{
    json_t *marked = json_deep_copy(pod->document);
    maar_controller_annotate(marked, MAAR_OUT_OF_SYNC_KEY, "true");
    maar_store_replace(job->controllers->store, job->controllers->pods, pod, marked);
    maar_controller_delete(job->controllers, job->controllers->pods, pod);
}

enum which {
    LIVE = 1,
    SUCCEEDED = 2,
    FAILED = 4,
};

static unsigned which_is(const json_t *pod)
{
    return maar_pod_has_phase(pod, "Succeeded") ? SUCCEEDED : maar_pod_is_over(pod) ? FAILED : LIVE;
}

/* Removes the pods of `task` (NULL: of all) that are one of `which`, and in any case those of tasks and indexes that
 * the job has no more. */
static void remove_pods(const struct maar_vcjob *job, const char *task, unsigned which)
{
    struct maar_object_list pods = {0};
    maar_controller_list(job->known, job->controllers->pods, &pods);
    for (size_t i = 0; i < pods.n; i++) {
        const json_t *pod = pods.data[i]->document;
        bool meant = (which & which_is(pod)) &&
                     (!task || strcmp(maar_document_annotation(pod, MAAR_TASK_KEY), task) == 0);
        if ((meant || !is_of_task(job, pod)) && !maar_pod_is_going(pod))
            remove_pod(job, pods.data[i]);
    }
    maar_vec_fini(&pods);
}

/* ---- phases ---- */

static void set_phase(struct maar_vcjob *job, const char *phase)
{
    snprintf(job->phase, sizeof job->phase, "%s", phase);
}

static bool is_phase(const struct maar_vcjob *job, const char *phase)
{
    return strcmp(job->phase, phase) == 0;
}

static void kill_all(struct maar_vcjob *job, const char *phase, unsigned which)
{
    remove_pods(job, NULL, which);
    maar_vcjob_drop_group(job);
    job->version++;
    set_phase(job, phase);
}

static void restart_part(struct maar_vcjob *job, const char *task, unsigned which)
{
    remove_pods(job, task, which);
    job->n_retries++;
    set_phase(job, "Restarting");
}

/* False for an action that means no more than to go on. */
static bool execute(struct maar_vcjob *job, const struct maar_vcjob_action *action)
{
    if (strcmp(action->name, "RestartJob") == 0) {
        job->n_retries++;
        kill_all(job, "Restarting", LIVE | SUCCEEDED | FAILED);
    } else if (strcmp(action->name, "RestartTask") == 0) {
        restart_part(job, action->task, LIVE | SUCCEEDED | FAILED);
    } else if (strcmp(action->name, "RestartPod") == 0) {
        restart_part(job, action->task, FAILED);
    } else if (strcmp(action->name, "AbortJob") == 0) {
        kill_all(job, "Aborting", LIVE);
    } else if (strcmp(action->name, "CompleteJob") == 0) {
        kill_all(job, "Completing", LIVE);
    } else if (strcmp(action->name, "TerminateJob") == 0) {
        kill_all(job, "Terminating", LIVE);
    } else {
        return false;
    }
    return true;
}

/* A task that has a minimum of its own has not reached it. */
static bool lacks_success(const struct maar_vcjob *job)
{
    for (size_t i = 0; job->min >= job->sum_of_minima && i < job->n_tasks; i++)
        if (json_is_integer(json_object_get(job->tasks[i].document, "minAvailable")) &&
            job->tasks[i].n_succeeded < job->tasks[i].min)
            return true;
    return false;
}

static void go_on(struct maar_vcjob *job)
{
    int64_t success = maar_document_int(job->object->document, "spec.minSuccess", 0);
    if (job->replicas == 0)
        return;
    if (success > 0 && job->n_succeeded >= success)
        set_phase(job, "Completed");
    else if (job->n_succeeded + job->n_failed == job->replicas)
        set_phase(job, lacks_success(job) || success > 0 || job->n_succeeded < job->min
                           ? "Failed"
                           : "Completed");
    else if (job->n_pending + job->n_missing > job->replicas - job->min)
        set_phase(job, "Pending");
}

static void leave_restart(struct maar_vcjob *job)
{
    int64_t limit = maar_document_int(job->object->document, "spec.maxRetry", 3);
    if (job->n_retries >= limit)
        set_phase(job, "Failed");
    else if (job->replicas - job->n_going >= job->min)
        set_phase(job, "Pending");
}

/* The phase that the pods as they are lead to. */
static void advance(struct maar_vcjob *job)
{
    static const char *const ends[][2] = {
        {"Aborting", "Aborted"}, {"Completing", "Completed"}, {"Terminating", "Terminated"}};
    if (is_phase(job, "Pending") && job->min <= job->n_running + job->n_succeeded + job->n_failed &&
        job->replicas > 0)
        set_phase(job, "Running");
    if (is_phase(job, "Running"))
        go_on(job);
    else if (is_phase(job, "Restarting"))
        leave_restart(job);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_phase(job, ends[i][0]) && job->n_going + job->n_pending + job->n_running == 0)
            set_phase(job, ends[i][1]);
}

/* It makes and keeps pods. */
static bool is_alive(const struct maar_vcjob *job)
{
    return is_phase(job, "Pending") || is_phase(job, "Running") || is_phase(job, "Restarting");
}

static void sync(struct maar_vcjob *job)
{
    struct maar_vcjob_action action = {"", ""};
    advance(job);
    if (is_alive(job) && maar_vcjob_find_action(job, &action) && execute(job, &action))
        return;
    if (is_phase(job, "Restarting"))
        return; /* until the pods have gone */
    if (!is_alive(job)) {
        remove_pods(job, NULL, LIVE);
        maar_vcjob_drop_group(job);
        return;
    }
    bool admitted = maar_vcjob_sync_group(job);
    remove_pods(job, NULL, 0);
    if (admitted)
        add_pods(job);
}

void maar_reconcile_vcjob(struct maar_controllers *controllers, struct maar_known *known,
                          struct maar_object *object)
{
    struct maar_vcjob job = {.controllers = controllers, .known = known, .object = object};
    read_job(&job);
    for (size_t i = 0; i < job.n_tasks; i++)
        job.n_missing += job.tasks[i].n_missing;
    sync(&job);
    json_decref(known->gone_pods);
    known->gone_pods = NULL;
    maar_vcjob_write_status(&job);
    free(job.tasks);
}
