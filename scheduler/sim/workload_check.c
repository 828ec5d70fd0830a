// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The rules of apps/v1, batch/v1 and of Volcano's admission, as far as a controller relies on them; the texts are theirs.
#include "sim/workload_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/controller_vcjob.h"
#include "sim/document.h"
#include "sim/label_selector.h"

/* ---- parts ---- */

/* A count at a dotted path; `name` is what messages call it. */
static int check_count(const json_t *document, const char *path, const char *name,
                       struct maar_error *err)
{
    const json_t *value = maar_document_at(document, path);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_integer(value))
        return maar_error_set(err, -EINVAL, "%s: expected an integer", name);
    json_int_t number = json_integer_value(value);
    if (number < 0)
        return maar_error_set(err, -EINVAL,
                              "%s: Invalid value: %lld: must be greater than or equal to 0", name,
                              (long long)number);
    if (number > MAAR_MAX_REPLICAS)
        return maar_error_set(err, -EINVAL,
                              "%s: Invalid value: %lld: the embedded cluster makes at most %d pods "
                              "of one object",
                              name, (long long)number, MAAR_MAX_REPLICAS);
    return 0;
}

static int check_template(const json_t *template, const char *name, struct maar_error *err)
{
    const json_t *containers = maar_document_at(template, "spec.containers");
    if (!json_is_array(containers) || json_array_size(containers) == 0)
        return maar_error_set(err, -EINVAL, "%s.spec.containers: Required value", name);
    return 0;
}

static int check_selector(const json_t *document, struct maar_error *err)
{
    const json_t *selector = maar_document_at(document, "spec.selector");
    const json_t *labels = maar_document_at(document, "spec.template.metadata.labels");
    if (json_object_size(json_object_get(selector, "matchLabels")) == 0 &&
        json_array_size(json_object_get(selector, "matchExpressions")) == 0)
        return maar_error_set(err, -EINVAL, "spec.selector: Required value");
    if (maar_label_selector_matches(selector, labels))
        return 0;
    maar_autofree char *text = json_dumps(labels, JSON_COMPACT | JSON_SORT_KEYS);
    return maar_error_set(err, -EINVAL,
                          "spec.template.metadata.labels: Invalid value: %.200s: `selector` does "
                          "not match template `labels`",
                          text ? text : "{}");
}

static int check_fixed(const json_t *old, const json_t *document, const char *path,
                       struct maar_error *err)
{
    const json_t *before = maar_document_at(old, path);
    const json_t *after = maar_document_at(document, path);
    if (!old || (before && after && json_equal(before, after)))
        return 0;
    return maar_error_set(err, -EINVAL, "%s: Invalid value: field is immutable", path);
}

/* ---- kinds ---- */

static int check_replicated(const json_t *old, const json_t *document, struct maar_error *err)
{
    if (check_count(document, "spec.replicas", "spec.replicas", err) < 0 ||
        check_count(document, "spec.ordinals.start", "spec.ordinals.start", err) < 0 ||
        check_selector(document, err) < 0 || check_fixed(old, document, "spec.selector", err) < 0)
        return -EINVAL;
    return check_template(maar_document_at(document, "spec.template"), "spec.template", err);
}

static int check_job(const json_t *old, const json_t *document, struct maar_error *err)
{
    bool indexed = strcmp(maar_document_text(document, "spec.completionMode"), "Indexed") == 0;
    if (check_count(document, "spec.parallelism", "spec.parallelism", err) < 0 ||
        check_count(document, "spec.completions", "spec.completions", err) < 0 ||
        check_template(maar_document_at(document, "spec.template"), "spec.template", err) < 0 ||
        check_fixed(old, document, "spec.template", err) < 0)
        return -EINVAL;
    if (indexed && !json_is_integer(maar_document_at(document, "spec.completions")))
        return maar_error_set(err, -EINVAL,
                              "spec.completions: Required value: when completion mode is Indexed");
    return 0;
}

/* ---- Volcano's Job ---- */

void maar_vcjob_complete(json_t *job)
{
    const json_t *tasks = maar_document_at(job, "spec.tasks");
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        json_t *task = json_array_get(tasks, i);
        char name[32];
        snprintf(name, sizeof name, "default%zu", i);
        if (!json_is_object(task))
            continue;
        if (!*maar_document_text(task, "name"))
            json_object_set_new(task, "name", json_string(name));
        int64_t min = maar_vcjob_task_min(task);
        if (!json_object_get(task, "minAvailable"))
            json_object_set_new(task, "minAvailable", json_integer((json_int_t)min));
        sum += min > 0 && min <= MAAR_MAX_REPLICAS ? min : 0;
    }
    json_t *spec = maar_document_at(job, "spec");
    if (!json_is_object(spec))
        return;
    if (!*maar_document_text(spec, "queue"))
        json_object_set_new(spec, "queue", json_string("default"));
    if (!*maar_document_text(spec, "schedulerName"))
        json_object_set_new(spec, "schedulerName", json_string("volcano"));
    if (maar_document_int(spec, "minAvailable", 0) == 0)
        json_object_set_new(spec, "minAvailable", json_integer((json_int_t)sum));
    if (maar_document_int(spec, "maxRetry", 0) == 0)
        json_object_set_new(spec, "maxRetry", json_integer(3));
}

static int check_task(const json_t *job, const json_t *tasks, size_t i, struct maar_error *err)
{
    const json_t *task = json_array_get(tasks, i);
    char replicas[64], min[64], template[64];
    snprintf(replicas, sizeof replicas, "spec.tasks[%zu].replicas", i);
    snprintf(min, sizeof min, "spec.tasks[%zu].minAvailable", i);
    snprintf(template, sizeof template, "spec.task[%zu].template", i);
    if (!json_is_object(task))
        return maar_error_set(err, -EINVAL, "spec.tasks[%zu]: expected a map", i);
    if (check_count(task, "replicas", replicas, err) < 0 ||
        check_count(task, "minAvailable", min, err) < 0 ||
        check_template(json_object_get(task, "template"), template, err) < 0)
        return -EINVAL;
    const char *name = maar_vcjob_task_name(task);
    if (maar_vcjob_task_min(task) > maar_document_int(task, "replicas", 0))
        return maar_error_set(err, -EINVAL,
                              "'minAvailable' is greater than 'replicas' in task: %s, job: %s",
                              name, maar_document_name(job));
    for (size_t k = 0; k < i; k++)
        if (strcmp(maar_vcjob_task_name(json_array_get(tasks, k)), name) == 0)
            return maar_error_set(err, -EINVAL, "duplicated task name %s", name);
    return 0;
}

static int check_vcjob(const json_t *old, const json_t *document, struct maar_error *err)
{
    const json_t *tasks = maar_document_at(document, "spec.tasks");
    int64_t sum = 0;
    if (json_array_size(tasks) == 0)
        return maar_error_set(err, -EINVAL, "No task specified in job spec");
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        if (check_task(document, tasks, i, err) < 0)
            return -EINVAL;
        sum += maar_document_int(json_array_get(tasks, i), "replicas", 0);
    }
    if (sum > MAAR_MAX_REPLICAS)
        return maar_error_set(err, -EINVAL,
                              "spec.tasks: %lld replicas in all: the embedded cluster makes at "
                              "most %d pods of one object",
                              (long long)sum, MAAR_MAX_REPLICAS);
    if (check_count(document, "spec.minAvailable", "spec.minAvailable", err) < 0)
        return -EINVAL;
    if (maar_document_int(document, "spec.minAvailable", 0) > sum)
        return maar_error_set(
            err, -EINVAL, "job 'minAvailable' should not be greater than total replicas in tasks");
    if (old && json_array_size(maar_document_at(old, "spec.tasks")) != json_array_size(tasks))
        return maar_error_set(err, -EINVAL, "job updates may not add or remove tasks");
    return 0;
}

/* ---- by kind ---- */

static const struct rule {
    const char *api_version;
    const char *kind;
    int (*check)(const json_t *old, const json_t *document, struct maar_error *err);
} rules[] = {
    {"apps/v1", "Deployment", check_replicated},
    {"apps/v1", "ReplicaSet", check_replicated},
    {"apps/v1", "StatefulSet", check_replicated},
    {"apps/v1", "DaemonSet", check_replicated},
    {"batch/v1", "Job", check_job},
    {"batch.volcano.sh/v1alpha1", "Job", check_vcjob},
};

static const struct rule *rule_of(const struct maar_api_type *type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].kind, type->kind) == 0 &&
            strcmp(rules[i].api_version, type->api_version) == 0)
            return &rules[i];
    return NULL;
}

int maar_workload_check(const struct maar_api_type *type, const json_t *old, const json_t *document,
                        struct maar_error *err)
{
    const struct rule *rule = rule_of(type);
    return rule ? rule->check(old, document, err) : 0;
}

bool maar_workload_has_pods(const struct maar_api_type *type)
{
    return rule_of(type) != NULL;
}

int maar_workload_each_spec(const struct maar_api_type *type, const json_t *document,
                            maar_workload_spec_fn each, void *context, struct maar_error *err)
{
    const struct rule *rule = rule_of(type);
    if (!rule)
        return 0;
    if (rule->check != check_vcjob)
        return each(context, maar_document_at(document, "spec.template.spec"), err);
    const json_t *tasks = maar_document_at(document, "spec.tasks");
    int rc = each(context, maar_document_at(document, "spec"), err);
    for (size_t i = 0; rc == 0 && i < json_array_size(tasks); i++)
        rc = each(context, maar_document_at(json_array_get(tasks, i), "template.spec"), err);
    return rc;
}
