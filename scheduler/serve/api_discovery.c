// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// What a client asks before anything else: versions, groups, resources, health.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "serve/api_parts.h"
#include "sim/scale.h"

/* What `kubectl get all` shows. */
static bool is_in_all(const struct maar_api_type *type)
{
    static const char *const kinds[] = {"Pod",        "Service",     "Deployment",
                                        "ReplicaSet", "StatefulSet", "DaemonSet",
                                        "Job",        "CronJob",     NULL};
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], type->kind) == 0)
            return !type->custom;
    return false;
}

static json_t *resource(const char *name, const struct maar_api_type *type, bool sub)
{
    json_t *entry = json_pack("{s:s, s:s, s:b, s:s, s:[s, s, s]}", "name", name, "singularName",
                              sub ? "" : type->singular, "namespaced", (int)type->namespaced,
                              "kind", strstr(name, "/binding") ? "Binding" : type->kind, "verbs",
                              "get", "patch", "update");
    json_t *verbs = json_object_get(entry, "verbs");
    if (sub && strstr(name, "/binding")) {
        json_array_clear(verbs);
        json_array_append_new(verbs, json_string("create"));
    } else if (!sub) {
        static const char *const more[] = {"create", "delete", "list", "watch", NULL};
        for (size_t i = 0; more[i]; i++)
            json_array_append_new(verbs, json_string(more[i]));
    }
    if (!sub && is_in_all(type))
        json_object_set_new(entry, "categories", json_pack("[s]", "all"));
    if (!sub && *type->short_name)
        json_object_set_new(entry, "shortNames", json_pack("[s]", type->short_name));
    return entry;
}

static json_t *scale_of(const struct maar_api_type *type)
{
    maar_autofree char *name = maar_asprintf("%s/scale", type->plural);
    json_t *entry = resource(name, type, true);
    json_object_set_new(entry, "group", json_string("autoscaling"));
    json_object_set_new(entry, "version", json_string("v1"));
    json_object_set_new(entry, "kind", json_string("Scale"));
    return entry;
}

static json_t *resources_of(const struct maar_store *store, const char *api_version)
{
    json_t *list = json_array();
    for (size_t i = 0; i < maar_store_n_collections(store); i++) {
        const struct maar_api_type *type = maar_store_at(store, i)->type;
        char name[120];
        if (strcmp(type->api_version, api_version) != 0)
            continue;
        json_array_append_new(list, resource(type->plural, type, false));
        if (type->has_status) {
            snprintf(name, sizeof name, "%.100s/status", type->plural);
            json_array_append_new(list, resource(name, type, true));
        }
        if (maar_scale_has(type))
            json_array_append_new(list, scale_of(type));
        if (strcmp(type->kind, "Pod") == 0)
            json_array_append_new(list, resource("pods/binding", type, true));
    }
    return list;
}

static json_t *group_of(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    maar_autofree char *name = maar_strndup(api_version, (size_t)(slash - api_version));
    return json_pack("{s:s, s:[{s:s, s:s}], s:{s:s, s:s}}", "name", name, "versions",
                     "groupVersion", api_version, "version", slash + 1, "preferredVersion",
                     "groupVersion", api_version, "version", slash + 1);
}

static bool has_group(const json_t *groups, const json_t *group)
{
    for (size_t i = 0; i < json_array_size(groups); i++)
        if (json_equal(json_array_get(groups, i), group))
            return true;
    return false;
}

/* Each group is served in one version. */
static json_t *groups(const struct maar_store *store)
{
    json_t *list = json_array();
    for (size_t i = 0; i < maar_store_n_collections(store); i++) {
        const char *api_version = maar_store_at(store, i)->type->api_version;
        if (!strchr(api_version, '/'))
            continue;
        json_t *group = group_of(api_version);
        if (!has_group(list, group))
            json_array_append(list, group);
        json_decref(group);
    }
    return list;
}

static json_t *resource_list(const struct maar_store *store, const char *path)
{
    const char *api_version = strncmp(path, "/apis/", 6) == 0 ? path + 6 : path + 5;
    json_t *list = resources_of(store, api_version);
    if (json_array_size(list) == 0) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "kind", "APIResourceList", "apiVersion", "v1",
                     "groupVersion", api_version, "resources", list);
}

static json_t *one_group(const struct maar_store *store, const char *name)
{
    json_t *list = groups(store), *found = NULL;
    for (size_t i = 0; i < json_array_size(list) && !found; i++) {
        json_t *group = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(group, "name")), name) == 0)
            found = json_incref(group);
    }
    json_decref(list);
    if (found) {
        json_object_set_new(found, "kind", json_string("APIGroup"));
        json_object_set_new(found, "apiVersion", json_string("v1"));
    }
    return found;
}

/* "api/v1", "apis/apps/v1". */
static char *openapi_name(const char *api_version)
{
    return maar_asprintf("%s/%s", strchr(api_version, '/') ? "apis" : "api", api_version);
}

static json_t *openapi_index(const struct maar_store *store)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < maar_store_n_collections(store); i++) {
        maar_autofree char *name = openapi_name(maar_store_at(store, i)->type->api_version);
        maar_autofree char *url = maar_asprintf("/openapi/v3/%s", name);
        json_object_set_new(paths, name, json_pack("{s:s}", "serverRelativeURL", url));
    }
    return json_pack("{s:o}", "paths", paths);
}

/* No schemas: just that every kind's patch takes fieldValidation, so that kubectl leaves validation to the server. */
static json_t *openapi_of(const struct maar_store *store, const char *wanted)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < maar_store_n_collections(store); i++) {
        const struct maar_api_type *type = maar_store_at(store, i)->type;
        maar_autofree char *name = openapi_name(type->api_version);
        if (strcmp(name, wanted) != 0)
            continue;
        const char *slash = strchr(type->api_version, '/');
        maar_autofree char *group =
            maar_strndup(type->api_version, slash ? (size_t)(slash - type->api_version) : 0);
        maar_autofree char *path =
            maar_asprintf("/%s/%s%s/{name}", name,
                          type->namespaced ? "namespaces/{namespace}/" : "", type->plural);
        json_object_set_new(paths, path,
                            json_pack("{s:{s:[{s:s, s:s, s:{s:s}}], s:{}, s:{s:s, s:s, s:s}}}",
                                      "patch", "parameters", "name", "fieldValidation", "in",
                                      "query", "schema", "type", "string", "responses",
                                      "x-kubernetes-group-version-kind", "group", group, "version",
                                      slash ? slash + 1 : type->api_version, "kind", type->kind));
    }
    return json_pack("{s:s, s:{s:s, s:s}, s:o}", "openapi", "3.0.0", "info", "title", "maar",
                     "version", "v1.32.0", "paths", paths);
}

static size_t n_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* NULL when the path is not one of discovery. */
static json_t *discover(const struct maar_store *store, const char *path)
{
    if (strcmp(path, "/version") == 0)
        return json_pack("{s:s, s:s, s:s, s:s}", "major", "1", "minor", "32", "gitVersion",
                         "v1.32.0+maar", "platform", "linux/amd64");
    if (strcmp(path, "/api") == 0)
        return json_pack("{s:s, s:[s]}", "kind", "APIVersions", "versions", "v1");
    if (strcmp(path, "/apis") == 0)
        return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups",
                         groups(store));
    if (strcmp(path, "/openapi/v3") == 0)
        return openapi_index(store);
    if (strncmp(path, "/openapi/v3/", 12) == 0)
        return openapi_of(store, path + 12);
    if (strncmp(path, "/apis/", 6) == 0 && n_slashes(path) == 2)
        return one_group(store, path + 6);
    if (strcmp(path, "/api/v1") == 0 || (strncmp(path, "/apis/", 6) == 0 && n_slashes(path) == 3))
        return resource_list(store, path);
    return NULL;
}

bool maar_api_discover(struct maar_api_request *request, enum MHD_Result *ret)
{
    static const char *const health[] = {"/healthz", "/livez", "/readyz", NULL};
    for (size_t i = 0; health[i]; i++) {
        if (strcmp(request->path, health[i]) == 0) {
            struct maar_text text = MAAR_TEXT_INIT;
            maar_text_add(&text, "ok");
            *ret = maar_api_reply_text(request, 200, "text/plain", &text);
            return true;
        }
    }
    maar_store_lock(request->server->store);
    json_t *document = discover(request->server->store, request->path);
    maar_store_unlock(request->server->store);
    if (!document)
        return false;
    *ret = maar_api_reply_json(request, 200, document);
    return true;
}
