/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Nodes, pods and namespaces from JSON to protobuf, by tables of the fields that the decoder reads and of metadata; numbers as in
 * generated.proto. The embedded API server answers with it. */

#include "wire/wire.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "wire/json_value.h"

enum field_type {
    TEXT,
    TEXTS,
    INTEGER,
    TRUTH,
    TIME,
    TEXT_MAP,
    QUANTITY_MAP,
    MESSAGE,
    MESSAGES,
    INLINE, /* a message whose members stand in the enclosing JSON object */
};

struct field {
    const char *key;
    uint32_t number;
    enum field_type type;
    const struct field *fields; /* of a message; ended by a NULL key */
};

static const struct field owner_reference[] = {
    {"kind", 1, TEXT, NULL},        {"name", 3, TEXT, NULL},
    {"uid", 4, TEXT, NULL},         {"apiVersion", 5, TEXT, NULL},
    {"controller", 6, TRUTH, NULL}, {"blockOwnerDeletion", 7, TRUTH, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field metadata[] = {
    {"name", 1, TEXT, NULL},
    {"generateName", 2, TEXT, NULL},
    {"namespace", 3, TEXT, NULL},
    {"uid", 5, TEXT, NULL},
    {"resourceVersion", 6, TEXT, NULL},
    {"generation", 7, INTEGER, NULL},
    {"creationTimestamp", 8, TIME, NULL},
    {"deletionTimestamp", 9, TIME, NULL},
    {"deletionGracePeriodSeconds", 10, INTEGER, NULL},
    {"labels", 11, TEXT_MAP, NULL},
    {"annotations", 12, TEXT_MAP, NULL},
    {"ownerReferences", 13, MESSAGES, owner_reference},
    {"finalizers", 14, TEXTS, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field taint[] = {
    {"key", 1, TEXT, NULL},
    {"value", 2, TEXT, NULL},
    {"effect", 3, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field node_spec[] = {
    {"podCIDR", 1, TEXT, NULL},
    {"providerID", 3, TEXT, NULL},
    {"unschedulable", 4, TRUTH, NULL},
    {"taints", 5, MESSAGES, taint},
    {NULL, 0, TEXT, NULL},
};

static const struct field node_condition[] = {
    {"type", 1, TEXT, NULL},
    {"status", 2, TEXT, NULL},
    {"lastHeartbeatTime", 3, TIME, NULL},
    {"lastTransitionTime", 4, TIME, NULL},
    {"reason", 5, TEXT, NULL},
    {"message", 6, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field image[] = {
    {"names", 1, TEXTS, NULL},
    {"sizeBytes", 2, INTEGER, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field node_status[] = {
    {"capacity", 1, QUANTITY_MAP, NULL},
    {"allocatable", 2, QUANTITY_MAP, NULL},
    {"phase", 3, TEXT, NULL},
    {"conditions", 4, MESSAGES, node_condition},
    {"images", 8, MESSAGES, image},
    {NULL, 0, TEXT, NULL},
};

static const struct field node[] = {
    {"metadata", 1, MESSAGE, metadata},
    {"spec", 2, MESSAGE, node_spec},
    {"status", 3, MESSAGE, node_status},
    {NULL, 0, TEXT, NULL},
};

static const struct field port[] = {
    {"name", 1, TEXT, NULL},
    {"hostPort", 2, INTEGER, NULL},
    {"containerPort", 3, INTEGER, NULL},
    {"protocol", 4, TEXT, NULL},
    {"hostIP", 5, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field named[] = {
    {"name", 1, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field resources[] = {
    {"limits", 1, QUANTITY_MAP, NULL},
    {"requests", 2, QUANTITY_MAP, NULL},
    {"claims", 3, MESSAGES, named},
    {NULL, 0, TEXT, NULL},
};

static const struct field container[] = {
    {"name", 1, TEXT, NULL},           {"image", 2, TEXT, NULL},
    {"command", 3, TEXTS, NULL},       {"args", 4, TEXTS, NULL},
    {"ports", 6, MESSAGES, port},      {"resources", 8, MESSAGE, resources},
    {"restartPolicy", 24, TEXT, NULL}, {NULL, 0, TEXT, NULL},
};

static const struct field requirement[] = {
    {"key", 1, TEXT, NULL},
    {"operator", 2, TEXT, NULL},
    {"values", 3, TEXTS, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field selector_term[] = {
    {"matchExpressions", 1, MESSAGES, requirement},
    {"matchFields", 2, MESSAGES, requirement},
    {NULL, 0, TEXT, NULL},
};

static const struct field node_selector[] = {
    {"nodeSelectorTerms", 1, MESSAGES, selector_term},
    {NULL, 0, TEXT, NULL},
};

static const struct field preferred_term[] = {
    {"weight", 1, INTEGER, NULL},
    {"preference", 2, MESSAGE, selector_term},
    {NULL, 0, TEXT, NULL},
};

static const struct field node_affinity[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", 1, MESSAGE, node_selector},
    {"preferredDuringSchedulingIgnoredDuringExecution", 2, MESSAGES, preferred_term},
    {NULL, 0, TEXT, NULL},
};

static const struct field label_selector[] = {
    {"matchLabels", 1, TEXT_MAP, NULL},
    {"matchExpressions", 2, MESSAGES, requirement},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod_affinity_term[] = {
    {"labelSelector", 1, MESSAGE, label_selector},
    {"namespaces", 2, TEXTS, NULL},
    {"topologyKey", 3, TEXT, NULL},
    {"namespaceSelector", 4, MESSAGE, label_selector},
    {"matchLabelKeys", 5, TEXTS, NULL},
    {"mismatchLabelKeys", 6, TEXTS, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field weighted_pod_affinity_term[] = {
    {"weight", 1, INTEGER, NULL},
    {"podAffinityTerm", 2, MESSAGE, pod_affinity_term},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod_affinity[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", 1, MESSAGES, pod_affinity_term},
    {"preferredDuringSchedulingIgnoredDuringExecution", 2, MESSAGES, weighted_pod_affinity_term},
    {NULL, 0, TEXT, NULL},
};

static const struct field affinity[] = {
    {"nodeAffinity", 1, MESSAGE, node_affinity},
    {"podAffinity", 2, MESSAGE, pod_affinity},
    {"podAntiAffinity", 3, MESSAGE, pod_affinity},
    {NULL, 0, TEXT, NULL},
};

static const struct field toleration[] = {
    {"key", 1, TEXT, NULL},    {"operator", 2, TEXT, NULL}, {"value", 3, TEXT, NULL},
    {"effect", 4, TEXT, NULL}, {NULL, 0, TEXT, NULL},
};

static const struct field claim_source[] = {
    {"claimName", 1, TEXT, NULL},
    {"readOnly", 2, TRUTH, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field image_source[] = {
    {"reference", 1, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field nothing[] = {
    {NULL, 0, TEXT, NULL},
};

static const struct field volume_source[] = {
    {"persistentVolumeClaim", 10, MESSAGE, claim_source},
    {"ephemeral", 29, MESSAGE, nothing},
    {"image", 30, MESSAGE, image_source},
    {NULL, 0, TEXT, NULL},
};

static const struct field volume[] = {
    {"name", 1, TEXT, NULL},
    {"", 2, INLINE, volume_source},
    {NULL, 0, TEXT, NULL},
};

static const struct field spread_constraint[] = {
    {"maxSkew", 1, INTEGER, NULL},
    {"topologyKey", 2, TEXT, NULL},
    {"whenUnsatisfiable", 3, TEXT, NULL},
    {"labelSelector", 4, MESSAGE, label_selector},
    {"minDomains", 5, INTEGER, NULL},
    {"nodeAffinityPolicy", 6, TEXT, NULL},
    {"nodeTaintsPolicy", 7, TEXT, NULL},
    {"matchLabelKeys", 8, TEXTS, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod_spec[] = {
    {"volumes", 1, MESSAGES, volume},
    {"containers", 2, MESSAGES, container},
    {"restartPolicy", 3, TEXT, NULL},
    {"terminationGracePeriodSeconds", 4, INTEGER, NULL},
    {"nodeSelector", 7, TEXT_MAP, NULL},
    {"serviceAccountName", 8, TEXT, NULL},
    {"nodeName", 10, TEXT, NULL},
    {"hostNetwork", 11, TRUTH, NULL},
    {"affinity", 18, MESSAGE, affinity},
    {"schedulerName", 19, TEXT, NULL},
    {"initContainers", 20, MESSAGES, container},
    {"tolerations", 22, MESSAGES, toleration},
    {"priorityClassName", 24, TEXT, NULL},
    {"priority", 25, INTEGER, NULL},
    {"preemptionPolicy", 31, TEXT, NULL},
    {"overhead", 32, QUANTITY_MAP, NULL},
    {"topologySpreadConstraints", 33, MESSAGES, spread_constraint},
    {"schedulingGates", 38, MESSAGES, named},
    {"resourceClaims", 39, MESSAGES, named},
    {"resources", 40, MESSAGE, resources},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod_condition[] = {
    {"type", 1, TEXT, NULL},   {"status", 2, TEXT, NULL},  {"lastTransitionTime", 4, TIME, NULL},
    {"reason", 5, TEXT, NULL}, {"message", 6, TEXT, NULL}, {NULL, 0, TEXT, NULL},
};

static const struct field container_status[] = {
    {"name", 1, TEXT, NULL},
    {"allocatedResources", 10, QUANTITY_MAP, NULL},
    {"resources", 11, MESSAGE, resources},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod_status[] = {
    {"phase", 1, TEXT, NULL},
    {"conditions", 2, MESSAGES, pod_condition},
    {"message", 3, TEXT, NULL},
    {"reason", 4, TEXT, NULL},
    {"hostIP", 5, TEXT, NULL},
    {"podIP", 6, TEXT, NULL},
    {"startTime", 7, TIME, NULL},
    {"containerStatuses", 8, MESSAGES, container_status},
    {"qosClass", 9, TEXT, NULL},
    {"initContainerStatuses", 10, MESSAGES, container_status},
    {"nominatedNodeName", 11, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field pod[] = {
    {"metadata", 1, MESSAGE, metadata},
    {"spec", 2, MESSAGE, pod_spec},
    {"status", 3, MESSAGE, pod_status},
    {NULL, 0, TEXT, NULL},
};

static const struct field namespace_status[] = {
    {"phase", 1, TEXT, NULL},
    {NULL, 0, TEXT, NULL},
};

static const struct field namespace[] = {
    {"metadata", 1, MESSAGE, metadata},
    {"status", 3, MESSAGE, namespace_status},
    {NULL, 0, TEXT, NULL},
};

static const struct field status[] = {
    {"status", 2, TEXT, NULL},  {"message", 3, TEXT, NULL}, {"reason", 4, TEXT, NULL},
    {"code", 6, INTEGER, NULL}, {NULL, 0, TEXT, NULL},
};

/* ---- the wire format ---- */

static void add_varint(struct maar_text *out, uint64_t value)
{
    while (value >= 0x80) {
        maar_text_add_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    maar_text_add_char(out, (char)value);
}

static void add_int(struct maar_text *out, uint32_t number, int64_t value)
{
    add_varint(out, (uint64_t)number << 3);
    add_varint(out, (uint64_t)value);
}

static void add_bytes(struct maar_text *out, uint32_t number, const char *data, size_t n)
{
    add_varint(out, (uint64_t)number << 3 | 2);
    add_varint(out, n);
    maar_text_add_n(out, data, n);
}

static void add_text(struct maar_text *out, uint32_t number, const char *text)
{
    add_bytes(out, number, text, strlen(text));
}

/* Appends `part` as a message and frees it. */
static void add_message(struct maar_text *out, uint32_t number, struct maar_text *part)
{
    add_bytes(out, number, maar_text_get(part), part->n);
    maar_text_fini(part);
}

/* ---- fields ---- */

static int add_fields(struct maar_text *out, const struct field *fields, const json_t *object,
                      struct maar_error *err);

static int wrong_type(const char *key, struct maar_error *err)
{
    return maar_error_set(err, -EINVAL, "%s: has the wrong type", key);
}

static int add_string(struct maar_text *out, const struct field *field, const json_t *value,
                      struct maar_error *err)
{
    if (!json_is_string(value) && !json_is_null(value))
        return wrong_type(field->key, err);
    add_text(out, field->number, json_is_null(value) ? "" : json_string_value(value));
    return 0;
}

static int add_number(struct maar_text *out, const struct field *field, const json_t *value,
                      struct maar_error *err)
{
    double real = json_real_value(value);
    if (json_is_integer(value)) {
        add_int(out, field->number, json_integer_value(value));
        return 0;
    }
    if (!json_is_real(value) || real != trunc(real) || fabs(real) > 1e15)
        return wrong_type(field->key, err);
    add_int(out, field->number, (int64_t)real);
    return 0;
}

static int add_time(struct maar_text *out, const struct field *field, const json_t *value,
                    struct maar_error *err)
{
    int64_t ns = 0;
    struct maar_text part = MAAR_TEXT_INIT;
    if (!json_is_string(value) || maar_time_parse(json_string_value(value), &ns) < 0)
        return maar_error_set(err, -EINVAL, "%s: is not a time", field->key);
    add_int(&part, 1, ns / MAAR_SECOND_NS - (ns % MAAR_SECOND_NS < 0 ? 1 : 0));
    add_message(out, field->number, &part);
    return 0;
}

static int add_text_entry(struct maar_text *out, const struct field *field,
                          const struct maar_json_each *each, struct maar_error *err)
{
    struct maar_text part = MAAR_TEXT_INIT;
    if (!json_is_string(each->value) && !json_is_null(each->value))
        return maar_error_set(err, -EINVAL, "%s.%s: has the wrong type", field->key, each->key);
    add_text(&part, 1, each->key);
    if (json_is_string(each->value))
        add_text(&part, 2, json_string_value(each->value));
    add_message(out, field->number, &part);
    return 0;
}

static int add_quantity_entry(struct maar_text *out, const struct field *field,
                              const struct maar_json_each *each, struct maar_error *err)
{
    char buffer[32];
    struct maar_text part = MAAR_TEXT_INIT;
    struct maar_text quantity = MAAR_TEXT_INIT;
    const char *text = maar_json_quantity_text(each->value, buffer);
    if (!text)
        return maar_error_set(err, -EINVAL, "%s.%s: has the wrong type", field->key, each->key);
    add_text(&part, 1, each->key);
    add_text(&quantity, 1, text);
    add_message(&part, 2, &quantity);
    add_message(out, field->number, &part);
    return 0;
}

static int add_map(struct maar_text *out, const struct field *field, const json_t *value,
                   struct maar_error *err)
{
    int rc = json_is_object(value) ? 0 : wrong_type(field->key, err);
    struct maar_json_each each = maar_json_each(value);
    while (rc == 0 && maar_json_next(&each))
        rc = field->type == TEXT_MAP ? add_text_entry(out, field, &each, err)
                                     : add_quantity_entry(out, field, &each, err);
    return rc;
}

static int add_object(struct maar_text *out, const struct field *field, const json_t *value,
                      struct maar_error *err)
{
    struct maar_text part = MAAR_TEXT_INIT;
    if (!json_is_object(value))
        return wrong_type(field->key, err);
    int rc = add_fields(&part, field->fields, value, err);
    if (rc == 0)
        add_message(out, field->number, &part);
    maar_text_fini(&part);
    return rc < 0 ? maar_error_wrap(err, rc, "%s", field->key) : 0;
}

static int add_list(struct maar_text *out, const struct field *field, const json_t *value,
                    struct maar_error *err)
{
    int rc = json_is_array(value) ? 0 : wrong_type(field->key, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        rc = field->type == TEXTS ? add_string(out, field, item, err)
                                  : add_object(out, field, item, err);
    }
    return rc;
}

static int add_field(struct maar_text *out, const struct field *field, const json_t *value,
                     struct maar_error *err)
{
    switch (field->type) {
    case TEXT:
        return add_string(out, field, value, err);
    case INTEGER:
        return add_number(out, field, value, err);
    case TRUTH:
        if (!json_is_boolean(value))
            return wrong_type(field->key, err);
        add_int(out, field->number, json_is_true(value));
        return 0;
    case TIME:
        return add_time(out, field, value, err);
    case TEXT_MAP:
    case QUANTITY_MAP:
        return add_map(out, field, value, err);
    case TEXTS:
    case MESSAGES:
        return add_list(out, field, value, err);
    case MESSAGE:
    case INLINE:
        return add_object(out, field, value, err);
    }
    return 0;
}

static int add_fields(struct maar_text *out, const struct field *fields, const json_t *object,
                      struct maar_error *err)
{
    int rc = 0;
    for (; fields->key && rc == 0; fields++) {
        const json_t *value =
            fields->type == INLINE ? object : json_object_get(object, fields->key);
        if (value && !json_is_null(value))
            rc = add_field(out, fields, value, err);
    }
    return rc;
}

/* ---- messages ---- */

static const struct field *fields_of(enum maar_kind kind)
{
    return kind == MAAR_KIND_NODE ? node : kind == MAAR_KIND_POD ? pod : namespace;
}

static int add_kind(struct maar_text *out, enum maar_kind kind, const json_t *object,
                    struct maar_error *err)
{
    if (!maar_wire_has_protobuf(kind))
        return maar_error_set(err, -EINVAL, "%s: has no protobuf form", maar_kind_name(kind));
    if (!json_is_object(object))
        return maar_error_set(err, -EINVAL, "%s: is not a map", maar_kind_name(kind));
    int rc = add_fields(out, fields_of(kind), object, err);
    return rc < 0 ? maar_error_wrap(err, rc, "%s", maar_kind_name(kind)) : 0;
}

int maar_wire_encode_protobuf(enum maar_kind kind, const json_t *object, void **ret_data,
                              size_t *ret_n, struct maar_error *err)
{
    struct maar_text out = MAAR_TEXT_INIT;
    int rc = add_kind(&out, kind, object, err);
    if (rc < 0) {
        maar_text_fini(&out);
        return rc;
    }
    *ret_n = out.n;
    *ret_data = maar_text_steal(&out);
    return 0;
}

/* "k8s\0" and runtime.Unknown; frees `raw`. */
static void add_envelope(struct maar_text *out, const char *kind, struct maar_text *raw)
{
    struct maar_text type = MAAR_TEXT_INIT;
    add_text(&type, 1, "v1");
    add_text(&type, 2, kind);
    maar_text_add_n(out, "k8s", 4);
    add_message(out, 1, &type);
    add_message(out, 2, raw);
    add_text(out, 3, "");
    add_text(out, 4, "");
}

int maar_wire_encode_protobuf_object(enum maar_kind kind, const json_t *object,
                                     struct maar_text *out, struct maar_error *err)
{
    struct maar_text raw = MAAR_TEXT_INIT;
    int rc = add_kind(&raw, kind, object, err);
    if (rc == 0)
        add_envelope(out, maar_kind_name(kind), &raw);
    maar_text_fini(&raw);
    return rc;
}

static int add_items(struct maar_text *out, enum maar_kind kind, const json_t *items,
                     struct maar_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(items); i++) {
        struct maar_text item = MAAR_TEXT_INIT;
        rc = add_kind(&item, kind, json_array_get(items, i), err);
        if (rc == 0)
            add_message(out, 2, &item);
        maar_text_fini(&item);
    }
    return rc;
}

int maar_wire_encode_protobuf_list(enum maar_kind kind, const json_t *items,
                                   const char *resource_version, const char *continue_token,
                                   struct maar_text *out, struct maar_error *err)
{
    char name[64];
    struct maar_text list = MAAR_TEXT_INIT;
    struct maar_text versions = MAAR_TEXT_INIT;
    add_text(&versions, 2, resource_version);
    add_text(&versions, 3, continue_token ? continue_token : "");
    add_message(&list, 1, &versions);
    int rc = add_items(&list, kind, items, err);
    (void)snprintf(name, sizeof name, "%sList", maar_kind_name(kind));
    if (rc == 0)
        add_envelope(out, name, &list);
    maar_text_fini(&list);
    return rc;
}

static void add_big_endian(struct maar_text *out, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        maar_text_add_char(out, (char)(unsigned char)(value >> shift));
}

int maar_wire_encode_protobuf_watch(enum maar_kind kind, enum maar_watch_type type,
                                    const json_t *object, struct maar_text *out,
                                    struct maar_error *err)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    bool is_error = type == MAAR_WATCH_ERROR;
    struct maar_text raw = MAAR_TEXT_INIT;
    int rc = is_error ? add_fields(&raw, status, object, err) : add_kind(&raw, kind, object, err);
    if (rc == 0) {
        struct maar_text answer = MAAR_TEXT_INIT;
        struct maar_text extension = MAAR_TEXT_INIT;
        struct maar_text event = MAAR_TEXT_INIT;
        add_envelope(&answer, is_error ? "Status" : maar_kind_name(kind), &raw);
        add_message(&extension, 1, &answer);
        add_text(&event, 1, names[type]);
        add_message(&event, 2, &extension);
        add_big_endian(out, (uint32_t)event.n);
        maar_text_add_n(out, event.data, event.n);
        maar_text_fini(&event);
    }
    maar_text_fini(&raw);
    return rc;
}
