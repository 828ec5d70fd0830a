/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Writes as HTTP requests. Every body that changes an object carries its uid: a write must not reach a later object
 * of the same name. Statuses are patches of the fields that the scheduler owns, so that no field of anybody else is
 * touched. */

#include "wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/quantity.h"
#include "wire/json_value.h"

#define SCHEDULING_API "scheduling.volcano.sh/v1beta1"

static const char plain_json[] = "application/json";
static const char merge_patch_type[] = "application/merge-patch+json";
static const char strategic_patch_type[] = "application/strategic-merge-patch+json";

/* ---- amounts ---- */

/* Whole units as a decimal quantity: the largest suffix that leaves an integer. */
static char *format_units(int64_t value, char buffer[32])
{
    static const char suffixes[] = "kMGTPE";
    size_t power = 0;
    if (value > INT64_MIN / 1000 && value < INT64_MAX / 1000)
        return maar_quantity_format_decimal(value * 1000, buffer);
    while (value % 1000 == 0 && suffixes[power] != '\0') {
        value /= 1000;
        power++;
    }
    if (power == 0)
        (void)snprintf(buffer, 32, "%" PRId64, value);
    else
        (void)snprintf(buffer, 32, "%" PRId64 "%c", value, suffixes[power - 1]);
    return buffer;
}

char *maar_wire_quantity(const char *dimension, int64_t value, char buffer[32])
{
    if (strcmp(dimension, "cpu") == 0)
        return maar_quantity_format_decimal(value, buffer);
    if (strcmp(dimension, "memory") == 0)
        return maar_quantity_format_binary(value, buffer);
    return format_units(value, buffer);
}

/* ---- bodies ---- */

/* A JSON text; bytes that are not UTF-8 (they can come from messages only) are replaced. */
static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    maar_autofree char *plain = maar_strdup(text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(plain);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text_of(text));
}

static void set_text_unless_empty(json_t *object, const char *key, const char *text)
{
    if (*text)
        set_text(object, key, text);
}

static void set_time(json_t *object, const char *key, int64_t ns)
{
    char buffer[32];
    set_text(object, key, maar_time_format(ns, buffer));
}

/* A new map under `key`, borrowed. */
static json_t *add_map(json_t *object, const char *key)
{
    json_t *map = json_object();
    json_object_set_new(object, key, map);
    return map;
}

/* One element of a condition list, without its time. */
static json_t *condition_of(const struct maar_condition_record *condition)
{
    json_t *object = json_object();
    set_text(object, "type", condition->type);
    set_text(object, "status", condition->status);
    set_text_unless_empty(object, "transitionID", condition->transition_id);
    set_text_unless_empty(object, "reason", condition->reason);
    set_text_unless_empty(object, "message", condition->message);
    return object;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const json_t *current_conditions(const json_t *current)
{
    return json_object_get(json_object_get(current, "status"), "conditions");
}

/* The object's conditions with this one in the place of the one of its type, or at the end. */
static json_t *merged_conditions(const json_t *current, json_t *condition)
{
    const json_t *present = current_conditions(current);
    json_t *array = json_array();
    bool is_placed = false;
    for (size_t i = 0; i < json_array_size(present); i++) {
        json_t *item = json_array_get(present, i);
        bool is_same = strcmp(text_in(item, "type"), text_in(condition, "type")) == 0;
        if (is_same && is_placed)
            continue;
        json_array_append(array, is_same ? condition : item);
        is_placed = is_placed || is_same;
    }
    if (!is_placed)
        json_array_append(array, condition);
    json_decref(condition);
    return array;
}

static json_t *bind_body(const struct maar_write *write)
{
    json_t *body = json_object();
    set_text(body, "apiVersion", "v1");
    set_text(body, "kind", "Binding");
    json_t *metadata = add_map(body, "metadata");
    set_text(metadata, "name", write->name);
    set_text(metadata, "namespace", write->ns);
    set_text_unless_empty(metadata, "uid", write->uid);
    if (write->bind.n_annotations > 0) {
        json_t *annotations = add_map(metadata, "annotations");
        for (uint32_t i = 0; i < write->bind.n_annotations; i++)
            set_text(annotations, write->bind.annotations[i].key, write->bind.annotations[i].value);
    }
    json_t *target = add_map(body, "target");
    set_text(target, "kind", "Node");
    set_text(target, "name", write->bind.node);
    return body;
}

static json_t *evict_body(const struct maar_write *write)
{
    json_t *body = json_object();
    set_text(body, "apiVersion", "v1");
    set_text(body, "kind", "DeleteOptions");
    if (*write->uid)
        set_text(add_map(body, "preconditions"), "uid", write->uid);
    return body;
}

/* The body of a patch; the server refuses it when the uid differs. */
static json_t *patch_body(const struct maar_write *write)
{
    json_t *body = json_object();
    if (*write->uid)
        set_text(add_map(body, "metadata"), "uid", write->uid);
    return body;
}

/* Volcano leaves counters of 0 out; null in a merge patch removes them. */
static void set_count(json_t *status, const char *key, int32_t count)
{
    json_object_set_new(status, key, count ? json_integer(count) : json_null());
}

static const char *phase_name(enum maar_phase phase)
{
    static const char *const names[] = {
        [MAAR_PHASE_NONE] = "",           [MAAR_PHASE_PENDING] = "Pending",
        [MAAR_PHASE_INQUEUE] = "Inqueue", [MAAR_PHASE_RUNNING] = "Running",
        [MAAR_PHASE_UNKNOWN] = "Unknown", [MAAR_PHASE_COMPLETED] = "Completed",
    };
    return (size_t)phase < sizeof names / sizeof names[0] ? names[phase] : "";
}

static json_t *pod_group_status_body(const struct maar_write *write, const json_t *current)
{
    json_t *body = patch_body(write);
    json_t *status = add_map(body, "status");
    set_text_unless_empty(status, "phase", phase_name(write->pod_group_status.phase));
    set_count(status, "running", write->pod_group_status.running);
    set_count(status, "succeeded", write->pod_group_status.succeeded);
    set_count(status, "failed", write->pod_group_status.failed);
    if (write->pod_group_status.has_condition) {
        json_t *condition = condition_of(&write->pod_group_status.condition);
        set_time(condition, "lastTransitionTime", write->now_ns);
        json_object_set_new(status, "conditions", merged_conditions(current, condition));
    }
    return body;
}

/* The time of transition is that of the last change of status, so an unchanged one stays as it is. */
static bool has_status(const json_t *current, const struct maar_condition_record *condition)
{
    const json_t *present = current_conditions(current);
    for (size_t i = 0; i < json_array_size(present); i++) {
        const json_t *item = json_array_get(present, i);
        if (strcmp(text_in(item, "type"), condition->type) == 0)
            return strcmp(text_in(item, "status"), condition->status) == 0;
    }
    return false;
}

static json_t *pod_condition_body(const struct maar_write *write, const json_t *current)
{
    json_t *body = patch_body(write);
    json_t *status = add_map(body, "status");
    json_t *condition = condition_of(&write->pod_condition.condition);
    if (!has_status(current, &write->pod_condition.condition))
        set_time(condition, "lastTransitionTime", write->now_ns);
    json_t *conditions = json_array();
    json_array_append_new(conditions, condition);
    json_object_set_new(status, "conditions", conditions);
    set_text_unless_empty(status, "nominatedNodeName", write->pod_condition.nominated_node);
    return body;
}

static json_t *queue_status_body(const struct maar_write *write, const json_t *current)
{
    json_t *body = patch_body(write);
    json_t *allocated = add_map(add_map(body, "status"), "allocated");
    const json_t *present = json_object_get(json_object_get(current, "status"), "allocated");
    char buffer[32];
    /* Volcano names these two always. */
    set_text(allocated, "cpu", "0");
    set_text(allocated, "memory", "0");
    for (uint32_t i = 0; i < write->queue_status.allocated.n; i++) {
        const struct maar_amount *amount = &write->queue_status.allocated.items[i];
        set_text(allocated, amount->name, maar_wire_quantity(amount->name, amount->value, buffer));
    }
    struct maar_json_each each = maar_json_each(present);
    while (maar_json_next(&each))
        if (!json_object_get(allocated, each.key))
            json_object_set_new(allocated, each.key, json_null());
    return body;
}

/* Other gates stay; one that is not there any more is no error. */
static json_t *ungate_body(const struct maar_write *write)
{
    json_t *body = patch_body(write);
    json_t *gates = json_array();
    json_object_set_new(add_map(body, "spec"), "schedulingGates", gates);
    json_array_append_new(gates, json_pack("{s:s, s:s}", "name",
                                           "scheduling.volcano.sh/queue-allocation-gate", "$patch",
                                           "delete"));
    return body;
}

static json_t *queue_create_body(const struct maar_write *write)
{
    json_t *body = json_object();
    set_text(body, "apiVersion", SCHEDULING_API);
    set_text(body, "kind", "Queue");
    set_text(add_map(body, "metadata"), "name", write->name);
    json_t *spec = add_map(body, "spec");
    json_object_set_new(spec, "weight", json_integer(write->queue_create.weight));
    json_object_set_new(spec, "reclaimable", json_boolean(write->queue_create.reclaimable));
    return body;
}

/* ---- events ---- */

static uint64_t add_to_hash(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++);
    return hash;
}

/* Like client-go: the object's name and a time in hexadecimal nanoseconds. Events of one session share its clock, so
 * the digits below a millisecond come from the content. */
static char *event_name(const struct maar_write *write)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = add_to_hash(hash, write->uid);
    hash = add_to_hash(hash, write->event.reason);
    hash = add_to_hash(hash, write->event.message);
    uint64_t millisecond = (uint64_t)write->now_ns - (uint64_t)write->now_ns % 1000000;
    return maar_asprintf("%s.%" PRIx64, write->name, millisecond + hash % 1000000);
}

/* Events about what has no namespace go to "default". */
static const char *event_namespace(const struct maar_write *write)
{
    return *write->ns ? write->ns : "default";
}

static const char *event_object_kind(const struct maar_write *write)
{
    return write->event.about_lease ? "Lease" : maar_kind_name(write->event.object);
}

static const char *event_object_api(const struct maar_write *write)
{
    if (write->event.about_lease)
        return "coordination.k8s.io/v1";
    return write->event.object == MAAR_KIND_POD ? "v1" : SCHEDULING_API;
}

static json_t *event_body(const struct maar_write *write, const char *component)
{
    const char *source = *write->event.source ? write->event.source : component;
    maar_autofree char *name = event_name(write);
    json_t *body = json_object();
    set_text(body, "kind", "Event");
    set_text(body, "apiVersion", "v1");
    json_t *metadata = add_map(body, "metadata");
    set_text(metadata, "name", name);
    set_text(metadata, "namespace", event_namespace(write));
    json_t *object = add_map(body, "involvedObject");
    set_text(object, "kind", event_object_kind(write));
    set_text_unless_empty(object, "namespace", write->ns);
    set_text(object, "name", write->name);
    set_text_unless_empty(object, "uid", write->uid);
    set_text(object, "apiVersion", event_object_api(write));
    set_text(body, "reason", write->event.reason);
    set_text(body, "message", write->event.message);
    set_text(add_map(body, "source"), "component", source);
    set_time(body, "firstTimestamp", write->now_ns);
    set_time(body, "lastTimestamp", write->now_ns);
    json_object_set_new(body, "count", json_integer(1));
    set_text(body, "type", write->event.type);
    json_object_set_new(body, "eventTime", json_null());
    set_text(body, "reportingComponent", source);
    set_text(body, "reportingInstance", "");
    return body;
}

/* ---- paths ---- */

static void add_segment(struct maar_text *path, const char *segment)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    maar_text_add_char(path, '/');
    for (; *segment; segment++) {
        if (strchr(plain, *segment))
            maar_text_add_char(path, *segment);
        else
            maar_text_addf(path, "%%%02X", (unsigned)(unsigned char)*segment);
    }
}

/* "<base>[/namespaces/<ns>]/<resource>[/<name>][/<subresource>]" */
static char *path_of(const char *base, const char *ns, const char *resource, const char *name,
                     const char *subresource)
{
    struct maar_text path = MAAR_TEXT_INIT;
    maar_text_add(&path, base);
    if (*ns) {
        maar_text_add(&path, "/namespaces");
        add_segment(&path, ns);
    }
    add_segment(&path, resource);
    if (*name)
        add_segment(&path, name);
    if (*subresource)
        add_segment(&path, subresource);
    return maar_text_steal(&path);
}

static const char core_base[] = "/api/v1";
static const char scheduling_base[] = "/apis/" SCHEDULING_API;

struct plan {
    const char *method;
    const char *content_type;
    char *path;
    json_t *body;
};

static int plan_write(const struct maar_write *write, const json_t *current, const char *component,
                      struct plan *plan, struct maar_error *err)
{
    switch (write->kind) {
    case MAAR_WRITE_BIND:
        *plan = (struct plan){"POST", plain_json,
                              path_of(core_base, write->ns, "pods", write->name, "binding"),
                              bind_body(write)};
        return 0;
    case MAAR_WRITE_EVICT:
        *plan = (struct plan){"DELETE", plain_json,
                              path_of(core_base, write->ns, "pods", write->name, ""),
                              evict_body(write)};
        return 0;
    case MAAR_WRITE_UNGATE:
        *plan = (struct plan){"PATCH", strategic_patch_type,
                              path_of(core_base, write->ns, "pods", write->name, ""),
                              ungate_body(write)};
        return 0;
    case MAAR_WRITE_POD_GROUP_STATUS:
        *plan = (struct plan){"PATCH", merge_patch_type,
                              path_of(scheduling_base, write->ns, "podgroups", write->name, ""),
                              pod_group_status_body(write, current)};
        return 0;
    case MAAR_WRITE_POD_CONDITION:
        *plan = (struct plan){"PATCH", strategic_patch_type,
                              path_of(core_base, write->ns, "pods", write->name, "status"),
                              pod_condition_body(write, current)};
        return 0;
    case MAAR_WRITE_QUEUE_STATUS:
        *plan = (struct plan){"PATCH", merge_patch_type,
                              path_of(scheduling_base, "", "queues", write->name, "status"),
                              queue_status_body(write, current)};
        return 0;
    case MAAR_WRITE_QUEUE_CREATE:
        *plan = (struct plan){"POST", plain_json, path_of(scheduling_base, "", "queues", "", ""),
                              queue_create_body(write)};
        return 0;
    case MAAR_WRITE_EVENT:
        *plan = (struct plan){"POST", plain_json,
                              path_of(core_base, event_namespace(write), "events", "", ""),
                              event_body(write, component)};
        return 0;
    case MAAR_N_WRITE_KINDS:
        break;
    }
    return maar_error_set(err, -EINVAL, "no request for %s", maar_write_kind_name(write->kind));
}

int maar_wire_request(const struct maar_write *write, const json_t *current, const char *component,
                      struct maar_request *ret_request, struct maar_error *err)
{
    struct plan plan = {0};
    if (*write->name == '\0')
        return maar_error_set(err, -EINVAL, "%s: no name", maar_write_kind_name(write->kind));
    int rc = plan_write(write, current, component, &plan, err);
    if (rc < 0)
        return rc;
    char *body = json_dumps(plan.body, JSON_COMPACT);
    json_decref(plan.body);
    *ret_request = (struct maar_request){
        .method = plan.method,
        .path = plan.path,
        .content_type = plan.content_type,
        .body = body,
    };
    return 0;
}

void maar_request_fini(struct maar_request *request)
{
    free(request->path);
    free(request->body);
    *request = (struct maar_request){0};
}
