// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Paths into JSON documents, and the few places of Kubernetes objects that the embedded cluster
// looks at.
#include "sim/document.h"

#include <string.h>

json_t *maar_document_at(const json_t *document, const char *path)
{
    char key[128];
    const json_t *at = document;
    while (at && *path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = 0;
        at = json_object_get(at, key);
        path += n + (path[n] == '.');
    }
    return json_is_null(at) ? NULL : (json_t *)(uintptr_t)at;
}

const char *maar_document_text(const json_t *document, const char *path)
{
    const char *text = json_string_value(maar_document_at(document, path));
    return text ? text : "";
}

int64_t maar_document_int(const json_t *document, const char *path, int64_t otherwise)
{
    const json_t *value = maar_document_at(document, path);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}

bool maar_document_bool(const json_t *document, const char *path, bool otherwise)
{
    const json_t *value = maar_document_at(document, path);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

static const char *metadata_text(const json_t *document, const char *key)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(document, "metadata"), key));
    return text ? text : "";
}

const char *maar_document_name(const json_t *document)
{
    return metadata_text(document, "name");
}

const char *maar_document_namespace(const json_t *document)
{
    return metadata_text(document, "namespace");
}

const char *maar_document_uid(const json_t *document)
{
    return metadata_text(document, "uid");
}

const char *maar_document_annotation(const json_t *document, const char *key)
{
    const json_t *annotations =
        json_object_get(json_object_get(document, "metadata"), "annotations");
    const char *text = json_string_value(json_object_get(annotations, key));
    return text ? text : "";
}

json_t *maar_document_condition(const json_t *document, const char *type)
{
    const json_t *conditions = json_object_get(json_object_get(document, "status"), "conditions");
    size_t i;
    json_t *condition;
    json_array_foreach (conditions, i, condition) {
        const char *have = json_string_value(json_object_get(condition, "type"));
        if (have && strcmp(have, type) == 0)
            return condition;
    }
    return NULL;
}

void maar_document_set(json_t *document, const char *path, json_t *value)
{
    char key[128];
    json_t *at = document;
    for (;;) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key) {
            json_decref(value);
            return;
        }
        memcpy(key, path, n);
        key[n] = 0;
        if (!path[n]) {
            json_object_set_new(at, key, value);
            return;
        }
        json_t *next = json_object_get(at, key);
        if (!json_is_object(next)) {
            next = json_object();
            json_object_set_new(at, key, next);
        }
        at = next;
        path += n + 1;
    }
}

void maar_document_set_condition(json_t *document, json_t *condition)
{
    const char *type = json_string_value(json_object_get(condition, "type"));
    json_t *conditions = maar_document_at(document, "status.conditions");
    if (!json_is_array(conditions)) {
        conditions = json_array();
        maar_document_set(document, "status.conditions", conditions);
    }
    size_t i;
    json_t *old;
    json_array_foreach (conditions, i, old) {
        const char *have = json_string_value(json_object_get(old, "type"));
        if (have && type && strcmp(have, type) == 0) {
            json_array_set_new(conditions, i, condition);
            return;
        }
    }
    json_array_append_new(conditions, condition);
}

const char *maar_document_pod_group(const json_t *pod)
{
    const char *group = maar_document_annotation(pod, "scheduling.k8s.io/group-name");
    return *group ? group : maar_document_annotation(pod, "scheduling.volcano.sh/group-name");
}
