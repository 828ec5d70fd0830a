// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Routing of API paths. Both ways in use it: the simulator's own backend and the HTTP server.
#include "sim/request.h"

#include <stdio.h>
#include <string.h>

#include "sim/admission.h"
#include "sim/document.h"
#include "sim/scale.h"

#define MAX_SEGMENTS 8

struct segments {
    char text[MAX_SEGMENTS][256];
    size_t n;
};

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool split(const char *path, struct segments *out)
{
    out->n = 0;
    while (*path == '/')
        path++;
    while (*path) {
        size_t n = 0;
        if (out->n == MAX_SEGMENTS)
            return false;
        for (; *path && *path != '/'; path++) {
            char c = *path;
            if (c == '%' && path[1] && hex(path[1]) >= 0 && hex(path[2]) >= 0) {
                c = (char)(hex(path[1]) * 16 + hex(path[2]));
                path += 2;
            }
            if (n == sizeof out->text[0] - 1 || !c)
                return false;
            out->text[out->n][n++] = c;
        }
        out->text[out->n++][n] = 0;
        while (*path == '/')
            path++;
    }
    return true;
}

static int unknown(const char *path, struct maar_answer *answer)
{
    return maar_answer_fail(answer, 404, "NotFound",
                            "the server could not find the requested resource (%.200s)", path);
}

int maar_api_target_parse(const struct maar_store *store, const char *path,
                          struct maar_api_target *ret_target, struct maar_answer *answer)
{
    struct segments s;
    char api_version[520];
    size_t at;
    if (!split(path, &s) || s.n < 2)
        return unknown(path, answer);
    if (strcmp(s.text[0], "api") == 0) {
        snprintf(api_version, sizeof api_version, "%s", s.text[1]);
        at = 2;
    } else if (strcmp(s.text[0], "apis") == 0 && s.n > 2) {
        snprintf(api_version, sizeof api_version, "%s/%s", s.text[1], s.text[2]);
        at = 3;
    } else {
        return unknown(path, answer);
    }
    struct maar_api_target target = {0};
    if (s.n - at > 2 && strcmp(s.text[at], "namespaces") == 0 &&
        strcmp(s.text[at + 2], "status") != 0) {
        memcpy(target.ns, s.text[at + 1], sizeof target.ns);
        at += 2;
    }
    if (at >= s.n || s.n - at > 3)
        return unknown(path, answer);
    target.collection = maar_store_find_plural(store, api_version, s.text[at]);
    if (!target.collection || (*target.ns && !target.collection->type->namespaced))
        return unknown(path, answer);
    if (s.n - at > 1)
        memcpy(target.name, s.text[at + 1], sizeof target.name);
    if (s.n - at > 2)
        snprintf(target.subresource, sizeof target.subresource, "%.63s", s.text[at + 2]);
    *ret_target = target;
    return 0;
}

static int write_patch(struct maar_store *store, const struct maar_api_target *target,
                       const char *content_type, const json_t *body, struct maar_answer *answer)
{
    static const struct {
        const char *name;
        enum maar_patch_type type;
    } formats[] = {
        {"application/merge-patch+json", MAAR_PATCH_MERGE},
        {"application/strategic-merge-patch+json", MAAR_PATCH_STRATEGIC},
        {"application/json-patch+json", MAAR_PATCH_JSON},
    };
    for (size_t i = 0; content_type && i < sizeof formats / sizeof *formats; i++)
        if (strncmp(content_type, formats[i].name, strlen(formats[i].name)) == 0)
            return maar_store_patch(store, target->collection, target->ns, target->name,
                                    target->subresource, formats[i].type, body, answer);
    return maar_answer_fail(answer, 415, "UnsupportedMediaType",
                            "the body of the request was in an unknown format: %.100s",
                            content_type ? content_type : "no Content-Type");
}

static int write_new(struct maar_store *store, const struct maar_api_target *target,
                     const json_t *body, struct maar_answer *answer)
{
    struct maar_error err = MAAR_ERROR_INIT;
    if (!json_is_object(body))
        return maar_answer_fail(answer, 400, "BadRequest", "the body is no object");
    json_t *document = json_deep_copy(body);
    int rc = maar_admission_complete(store, target->collection->type, document, &err);
    if (rc < 0)
        maar_answer_fail(answer, 403, "Forbidden", "%s is forbidden: %s",
                         target->collection->type->plural, err.text);
    else
        maar_store_create_object(store, target->collection, target->ns, document, false, answer);
    json_decref(document);
    return answer->code;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

int maar_api_write(struct maar_store *store, const struct maar_api_target *target,
                   const char *method, const char *content_type, const json_t *body,
                   struct maar_answer *answer)
{
    const char *sub = target->subresource;
    bool pod = is(target->collection->type->kind, "Pod") &&
               is(target->collection->type->api_version, "v1");
    if (is(method, "POST") && pod && is(sub, "binding"))
        return maar_store_bind(store, target->ns, target->name, body, answer);
    if (is(method, "POST") && pod && is(sub, "eviction"))
        return maar_store_delete(store, target->collection, target->ns, target->name,
                                 json_object_get(body, "deleteOptions"), answer);
    if (is(sub, "scale") && maar_scale_has(target->collection->type) &&
        (is(method, "PUT") || is(method, "PATCH")))
        return maar_scale_write(store, target, body, answer);
    if (*sub && !is(sub, "status"))
        return unknown(sub, answer);
    if (is(method, "POST") && !*target->name)
        return write_new(store, target, body, answer);
    if (is(method, "PUT") && *target->name)
        return maar_store_update(store, target->collection, target->ns, target->name, sub, body,
                                 answer);
    if (is(method, "PATCH") && *target->name)
        return write_patch(store, target, content_type, body, answer);
    if (is(method, "DELETE") && *target->name && !*sub)
        return maar_store_delete(store, target->collection, target->ns, target->name, body, answer);
    return maar_answer_fail(answer, 405, "MethodNotAllowed",
                            "the server does not allow this method on the requested resource");
}

/* The version that a real write would give is not given away: an object keeps its own, a new one has none. */
static void take_back_version(const json_t *before, struct maar_answer *answer)
{
    json_t *version = maar_document_at(before, "metadata.resourceVersion");
    if (!maar_document_at(answer->document, "metadata.resourceVersion"))
        return;
    json_t *document = json_deep_copy(answer->document);
    json_t *metadata = json_object_get(document, "metadata");
    if (version)
        json_object_set(metadata, "resourceVersion", version);
    else
        json_object_del(metadata, "resourceVersion");
    json_decref(answer->document);
    answer->document = document;
}

int maar_api_dry_run(const struct maar_store *store, const char *path, const char *method,
                     const char *content_type, const json_t *body, struct maar_answer *answer)
{
    struct maar_api_target target = {0};
    struct maar_store *clone = maar_store_clone(store);
    if (maar_api_target_parse(clone, path, &target, answer) == 0 && target.collection) {
        const struct maar_object *object =
            maar_collection_object(target.collection, target.ns, target.name);
        json_t *before = object ? json_incref(object->document) : NULL;
        maar_api_write(clone, &target, method, content_type, body, answer);
        take_back_version(before, answer);
        json_decref(before);
    }
    maar_store_destroy(clone);
    return answer->code;
}
