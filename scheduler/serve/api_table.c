// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The columns that `kubectl get` shows.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "serve/api_parts.h"
#include "sim/document.h"

/* A cell of the column from the document; new reference. */
typedef json_t *(*cell_fn)(const json_t *document, int64_t now_ns);

struct column {
    const char *name;
    const char *type;
    cell_fn cell;
};

static json_t *text_or(const char *text, const char *otherwise)
{
    return json_string(*text ? text : otherwise);
}

static json_t *cell_name(const json_t *document, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_name(document));
}

/* As kubectl shortens it: 45s, 12m, 5h, 3d. */
static json_t *cell_age(const json_t *document, int64_t now_ns)
{
    int64_t created_ns;
    char text[32];
    if (maar_time_parse(maar_document_text(document, "metadata.creationTimestamp"), &created_ns) <
        0)
        return json_string("<unknown>");
    long long s = (long long)((now_ns - created_ns) / MAAR_SECOND_NS);
    if (s < 0)
        s = 0;
    if (s < 120)
        snprintf(text, sizeof text, "%llds", s);
    else if (s < 7200)
        snprintf(text, sizeof text, "%lldm", s / 60);
    else if (s < 172800)
        snprintf(text, sizeof text, "%lldh", s / 3600);
    else
        snprintf(text, sizeof text, "%lldd", s / 86400);
    return json_string(text);
}

static json_t *cell_pod_ready(const json_t *pod, int64_t now_ns)
{
    char text[64];
    size_t n = json_array_size(maar_document_at(pod, "spec.containers"));
    const json_t *ready = maar_document_condition(pod, "Ready");
    bool is_ready = strcmp(maar_document_text(ready, "status"), "True") == 0;
    (void)now_ns;
    snprintf(text, sizeof text, "%zu/%zu", is_ready ? n : 0, n);
    return json_string(text);
}

static json_t *cell_pod_status(const json_t *pod, int64_t now_ns)
{
    const char *phase = maar_document_text(pod, "status.phase");
    const json_t *scheduled = maar_document_condition(pod, "PodScheduled");
    (void)now_ns;
    if (maar_document_at(pod, "metadata.deletionTimestamp"))
        return json_string("Terminating");
    if (strcmp(maar_document_text(scheduled, "reason"), "SchedulingGated") == 0)
        return json_string("SchedulingGated");
    return json_string(strcmp(phase, "Succeeded") == 0 ? "Completed"
                       : strcmp(phase, "Failed") == 0  ? "Error"
                                                       : phase);
}

static json_t *cell_zero(const json_t *document, int64_t now_ns)
{
    (void)document;
    (void)now_ns;
    return json_string("0");
}

static json_t *cell_pod_node(const json_t *pod, int64_t now_ns)
{
    (void)now_ns;
    return text_or(maar_document_text(pod, "spec.nodeName"), "<none>");
}

static json_t *cell_node_status(const json_t *node, int64_t now_ns)
{
    char text[64];
    const json_t *ready = maar_document_condition(node, "Ready");
    (void)now_ns;
    snprintf(text, sizeof text, "%s%s",
             strcmp(maar_document_text(ready, "status"), "True") == 0 ? "Ready" : "NotReady",
             maar_document_bool(node, "spec.unschedulable", false) ? ",SchedulingDisabled" : "");
    return json_string(text);
}

static json_t *cell_none(const json_t *document, int64_t now_ns)
{
    (void)document;
    (void)now_ns;
    return json_string("<none>");
}

static json_t *cell_node_version(const json_t *node, int64_t now_ns)
{
    (void)now_ns;
    return text_or(maar_document_text(node, "status.nodeInfo.kubeletVersion"), "simulated");
}

static json_t *cell_group_phase(const json_t *group, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_text(group, "status.phase"));
}

static json_t *cell_group_min(const json_t *group, int64_t now_ns)
{
    (void)now_ns;
    return json_integer((json_int_t)maar_document_int(group, "spec.minMember", 0));
}

static json_t *cell_group_running(const json_t *group, int64_t now_ns)
{
    (void)now_ns;
    return json_integer((json_int_t)maar_document_int(group, "status.running", 0));
}

static json_t *cell_group_queue(const json_t *group, int64_t now_ns)
{
    (void)now_ns;
    return text_or(maar_document_text(group, "spec.queue"), "default");
}

static json_t *cell_queue_parent(const json_t *queue, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_text(queue, "spec.parent"));
}

static json_t *cell_queue_state(const json_t *queue, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_text(queue, "status.state"));
}

static json_t *cell_fraction(int64_t some, int64_t all)
{
    char text[64];
    snprintf(text, sizeof text, "%lld/%lld", (long long)some, (long long)all);
    return json_string(text);
}

static json_t *cell_replicas_ready(const json_t *document, int64_t now_ns)
{
    (void)now_ns;
    return cell_fraction(maar_document_int(document, "status.readyReplicas", 0),
                         maar_document_int(document, "spec.replicas", 1));
}

static json_t *cell_job_completions(const json_t *job, int64_t now_ns)
{
    int64_t otherwise = maar_document_int(job, "spec.parallelism", 1);
    (void)now_ns;
    return cell_fraction(maar_document_int(job, "status.succeeded", 0),
                         maar_document_int(job, "spec.completions", otherwise));
}

static json_t *cell_job_status(const json_t *job, int64_t now_ns)
{
    const char *complete = maar_document_text(maar_document_condition(job, "Complete"), "status");
    const char *failed = maar_document_text(maar_document_condition(job, "Failed"), "status");
    (void)now_ns;
    return json_string(strcmp(complete, "True") == 0                    ? "Complete"
                       : strcmp(failed, "True") == 0                    ? "Failed"
                       : maar_document_bool(job, "spec.suspend", false) ? "Suspended"
                                                                        : "Running");
}

static json_t *cell_vcjob_status(const json_t *job, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_text(job, "status.state.phase"));
}

static json_t *cell_vcjob_queue(const json_t *job, int64_t now_ns)
{
    (void)now_ns;
    return json_string(maar_document_text(job, "spec.queue"));
}

/* A cell that shows a number of the document. */
#define NUMBER_CELL(name, path, otherwise)                                                         \
    static json_t *name(const json_t *document, int64_t now_ns)                                    \
    {                                                                                              \
        (void)now_ns;                                                                              \
        return json_integer((json_int_t)maar_document_int(document, path, otherwise));             \
    }

NUMBER_CELL(cell_replicas, "spec.replicas", 1)
NUMBER_CELL(cell_replicas_there, "status.replicas", 0)
NUMBER_CELL(cell_replicas_ready_count, "status.readyReplicas", 0)
NUMBER_CELL(cell_replicas_updated, "status.updatedReplicas", 0)
NUMBER_CELL(cell_replicas_available, "status.availableReplicas", 0)
NUMBER_CELL(cell_daemons, "status.desiredNumberScheduled", 0)
NUMBER_CELL(cell_daemons_there, "status.currentNumberScheduled", 0)
NUMBER_CELL(cell_daemons_ready, "status.numberReady", 0)
NUMBER_CELL(cell_vcjob_min, "status.minAvailable", 0)
NUMBER_CELL(cell_vcjob_running, "status.running", 0)

static const struct column pod_columns[] = {
    {"Name", "string", cell_name},
    {"Ready", "string", cell_pod_ready},
    {"Status", "string", cell_pod_status},
    {"Restarts", "string", cell_zero},
    {"Age", "string", cell_age},
    {"Node", "string", cell_pod_node},
    {NULL, NULL, NULL},
};
static const struct column node_columns[] = {
    {"Name", "string", cell_name},
    {"Status", "string", cell_node_status},
    {"Roles", "string", cell_none},
    {"Age", "string", cell_age},
    {"Version", "string", cell_node_version},
    {NULL, NULL, NULL},
};
static const struct column group_columns[] = {
    {"Name", "string", cell_name},
    {"Status", "string", cell_group_phase},
    {"minMember", "integer", cell_group_min},
    {"runnings", "integer", cell_group_running},
    {"Age", "string", cell_age},
    {"Queue", "string", cell_group_queue},
    {NULL, NULL, NULL},
};
static const struct column queue_columns[] = {
    {"Name", "string", cell_name},
    {"Parent", "string", cell_queue_parent},
    {"State", "string", cell_queue_state},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column deployment_columns[] = {
    {"Name", "string", cell_name},
    {"Ready", "string", cell_replicas_ready},
    {"Up-to-date", "integer", cell_replicas_updated},
    {"Available", "integer", cell_replicas_available},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column replica_set_columns[] = {
    {"Name", "string", cell_name},
    {"Desired", "integer", cell_replicas},
    {"Current", "integer", cell_replicas_there},
    {"Ready", "integer", cell_replicas_ready_count},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column stateful_set_columns[] = {
    {"Name", "string", cell_name},
    {"Ready", "string", cell_replicas_ready},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column daemon_set_columns[] = {
    {"Name", "string", cell_name},
    {"Desired", "integer", cell_daemons},
    {"Current", "integer", cell_daemons_there},
    {"Ready", "integer", cell_daemons_ready},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column job_columns[] = {
    {"Name", "string", cell_name},
    {"Status", "string", cell_job_status},
    {"Completions", "string", cell_job_completions},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};
static const struct column vcjob_columns[] = {
    {"Name", "string", cell_name},
    {"Status", "string", cell_vcjob_status},
    {"minAvailable", "integer", cell_vcjob_min},
    {"Runnings", "integer", cell_vcjob_running},
    {"Age", "string", cell_age},
    {"Queue", "string", cell_vcjob_queue},
    {NULL, NULL, NULL},
};
static const struct column other_columns[] = {
    {"Name", "string", cell_name},
    {"Age", "string", cell_age},
    {NULL, NULL, NULL},
};

static const struct column *columns_of(const struct maar_api_type *type)
{
    static const struct {
        const char *api_version;
        const char *kind;
        const struct column *columns;
    } known[] = {
        {"v1", "Pod", pod_columns},
        {"v1", "Node", node_columns},
        {"scheduling.volcano.sh/v1beta1", "PodGroup", group_columns},
        {"scheduling.volcano.sh/v1beta1", "Queue", queue_columns},
        {"apps/v1", "Deployment", deployment_columns},
        {"apps/v1", "ReplicaSet", replica_set_columns},
        {"apps/v1", "StatefulSet", stateful_set_columns},
        {"apps/v1", "DaemonSet", daemon_set_columns},
        {"batch/v1", "Job", job_columns},
        {"batch.volcano.sh/v1alpha1", "Job", vcjob_columns},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, type->kind) == 0 &&
            strcmp(known[i].api_version, type->api_version) == 0)
            return known[i].columns;
    return other_columns;
}

/* The row carries the object's metadata, which kubectl needs for names and labels. */
static json_t *row_of(const struct column *columns, json_t *item, int64_t now_ns)
{
    json_t *cells = json_array();
    for (; columns->name; columns++)
        json_array_append_new(cells, columns->cell(item, now_ns));
    return json_pack("{s:o, s:{s:s, s:s, s:O}}", "cells", cells, "object", "kind",
                     "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1", "metadata",
                     json_object_get(item, "metadata"));
}

json_t *maar_api_table(const struct maar_api_type *type, const json_t *items,
                       const char *resource_version, const char *continue_token, int64_t now_ns)
{
    const struct column *columns = columns_of(type);
    json_t *definitions = json_array(), *rows = json_array();
    for (const struct column *column = columns; column->name; column++)
        json_array_append_new(definitions,
                              json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", column->name, "type",
                                        column->type, "format",
                                        strcmp(column->name, "Name") == 0 ? "name" : "",
                                        "description", "", "priority", 0));
    for (size_t i = 0; i < json_array_size(items); i++)
        json_array_append_new(rows, row_of(columns, json_array_get(items, i), now_ns));
    json_t *table = json_pack("{s:s, s:s, s:{s:s}, s:o, s:o}", "kind", "Table", "apiVersion",
                              "meta.k8s.io/v1", "metadata", "resourceVersion", resource_version,
                              "columnDefinitions", definitions, "rows", rows);
    if (continue_token)
        maar_document_set(table, "metadata.continue", json_string(continue_token));
    return table;
}
