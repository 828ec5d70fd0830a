// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// GET of one object and of a collection, in pages, sorted by namespace and name as etcd keeps them.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "serve/api_parts.h"
#include "sim/document.h"
#include "sim/scale.h"
#include "wire/wire.h"

struct page {
    json_t *items;
    char version[32];
    char *next; /* continue token, NULL for the last page */
};

static int compare_objects(const void *a, const void *b)
{
    const struct maar_object *const *left = a, *const *right = b;
    int order = strcmp((*left)->ns, (*right)->ns);
    return order ? order : strcmp((*left)->name, (*right)->name);
}

/* "VERSION NS/NAME" of the last object of the page before. */
static bool read_token(const char *token, char version[32], char after[600])
{
    const char *space = strchr(token, ' ');
    if (!space || space == token || (size_t)(space - token) >= 32 || strlen(space + 1) >= 600)
        return false;
    snprintf(version, 32, "%.*s", (int)(space - token), token);
    snprintf(after, 600, "%s", space + 1);
    return true;
}

static bool is_after(const struct maar_object *object, const char *after)
{
    const char *slash = strchr(after, '/');
    size_t n = slash ? (size_t)(slash - after) : 0;
    int order = strncmp(object->ns, after, n);
    if (order == 0)
        order = object->ns[n] ? 1 : 0;
    return order > 0 || (order == 0 && strcmp(object->name, slash ? slash + 1 : "") > 0);
}

/* Under the lock. */
static void collect(const struct maar_api_request *request,
                    const struct maar_api_selector *selector, const char *after, size_t limit,
                    struct page *page)
{
    const struct maar_collection *collection = request->target.collection;
    const char *ns = request->target.ns;
    size_t n = 0, at = 0;
    struct maar_object *object;
    struct maar_object **objects =
        maar_calloc(maar_collection_n(collection) + 1, sizeof(struct maar_object *));
    while ((object = maar_collection_next(collection, &at)))
        if ((!*ns || strcmp(ns, object->ns) == 0) && (!*after || is_after(object, after)) &&
            maar_api_selector_matches(selector, object->document))
            objects[n++] = object;
    qsort(objects, n, sizeof *objects, compare_objects);
    if (limit == 0 || limit > n)
        limit = n;
    for (size_t i = 0; i < limit; i++)
        json_array_append(page->items, objects[i]->document);
    if (limit < n)
        page->next = maar_asprintf("%s %s/%s", page->version, objects[limit - 1]->ns,
                                   objects[limit - 1]->name);
    free(objects);
}

static enum MHD_Result reply_protobuf_list(struct maar_api_request *request, int kind,
                                           const struct page *page)
{
    struct maar_text text = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_encode_protobuf_list((enum maar_kind)kind, page->items, page->version, page->next,
                                       &text, &err) < 0) {
        maar_text_fini(&text);
        return maar_api_reply_error(request, 500, "InternalError", err.text);
    }
    return maar_api_reply_text(request, 200, "application/vnd.kubernetes.protobuf", &text);
}

/* Under the lock. */
static enum MHD_Result reply_page(struct maar_api_request *request, const struct page *page)
{
    const struct maar_api_type *type = request->target.collection->type;
    int kind = maar_api_protobuf_kind(type);
    if (request->format == MAAR_API_PROTOBUF && kind >= 0)
        return reply_protobuf_list(request, kind, page);
    if (request->format == MAAR_API_TABLE) {
        int64_t now_ns = maar_store_now(request->server->store);
        return maar_api_reply_json(
            request, 200, maar_api_table(type, page->items, page->version, page->next, now_ns));
    }
    char name[120];
    snprintf(name, sizeof name, "%.100sList", type->kind);
    json_t *list =
        json_pack("{s:s, s:s, s:{s:s}, s:O}", "kind", name, "apiVersion", type->api_version,
                  "metadata", "resourceVersion", page->version, "items", page->items);
    if (page->next)
        maar_document_set(list, "metadata.continue", json_string(page->next));
    return maar_api_reply_json(request, 200, list);
}

enum MHD_Result maar_api_list(struct maar_api_request *request)
{
    struct maar_api_server *server = request->server;
    struct maar_api_selector selector;
    struct maar_error err = MAAR_ERROR_INIT;
    struct page page = {.items = json_array()};
    char after[600] = "";
    const char *token = maar_api_query(request, "continue");
    const char *watch = maar_api_query(request, "watch");
    if (maar_api_selector_init(&selector, maar_api_query(request, "labelSelector"),
                               maar_api_query(request, "fieldSelector"), &err) < 0) {
        json_decref(page.items);
        return maar_api_reply_error(request, 400, "BadRequest", err.text);
    }
    enum MHD_Result result;
    if (strcmp(watch, "1") == 0 || strcmp(watch, "true") == 0) {
        result = maar_api_watch(request, &selector); /* takes the selector over */
    } else if (*token && !read_token(token, page.version, after)) {
        maar_api_selector_fini(&selector);
        result = maar_api_reply_error(request, 400, "BadRequest", "continue key is not valid");
    } else {
        maar_store_lock(server->store);
        while (request->target.collection->hides_list && !server->stopping)
            maar_store_wait(server->store, 1000);
        if (!*token)
            snprintf(page.version, sizeof page.version, "%llu",
                     (unsigned long long)maar_store_version(server->store));
        collect(request, &selector, after, strtoul(maar_api_query(request, "limit"), NULL, 10),
                &page);
        result = reply_page(request, &page);
        json_array_clear(page.items);
        maar_store_unlock(server->store);
        maar_api_selector_fini(&selector);
    }
    json_decref(page.items);
    free(page.next);
    return result;
}

static enum MHD_Result reply_missing(struct maar_api_request *request)
{
    const struct maar_api_type *type = request->target.collection->type;
    const char *slash = strchr(type->api_version, '/');
    maar_autofree char *message = maar_asprintf(
        "%s%s%.*s \"%s\" not found", type->plural, slash ? "." : "",
        slash ? (int)(slash - type->api_version) : 0, type->api_version, request->target.name);
    return maar_api_reply_error(request, 404, "NotFound", message);
}

/* Under the lock. */
static enum MHD_Result reply_object(struct maar_api_request *request, json_t *document)
{
    const struct maar_api_type *type = request->target.collection->type;
    int kind = maar_api_protobuf_kind(type);
    if (request->format == MAAR_API_PROTOBUF && kind >= 0) {
        struct maar_text text = MAAR_TEXT_INIT;
        struct maar_error err = MAAR_ERROR_INIT;
        if (maar_wire_encode_protobuf_object((enum maar_kind)kind, document, &text, &err) == 0)
            return maar_api_reply_text(request, 200, "application/vnd.kubernetes.protobuf", &text);
        maar_text_fini(&text);
        return maar_api_reply_error(request, 500, "InternalError", err.text);
    }
    if (request->format == MAAR_API_TABLE) {
        json_t *items = json_pack("[O]", document);
        json_t *table =
            maar_api_table(type, items, maar_document_text(document, "metadata.resourceVersion"),
                           NULL, maar_store_now(request->server->store));
        json_decref(items);
        return maar_api_reply_json(request, 200, table);
    }
    return maar_api_reply_json(request, 200, json_incref(document));
}

enum MHD_Result maar_api_get(struct maar_api_request *request)
{
    struct maar_store *store = request->server->store;
    const struct maar_api_target *target = &request->target;
    bool scale =
        strcmp(target->subresource, "scale") == 0 && maar_scale_has(target->collection->type);
    if (*target->subresource && !scale && strcmp(target->subresource, "status") != 0)
        return maar_api_reply_error(request, 404, "NotFound",
                                    "the server could not find the requested resource");
    maar_store_lock(store);
    const struct maar_object *object =
        maar_collection_object(target->collection, target->ns, target->name);
    enum MHD_Result result =
        !object ? reply_missing(request)
        : scale ? maar_api_reply_json(request, 200, maar_scale_of(object->document))
                : reply_object(request, object->document);
    maar_store_unlock(store);
    return result;
}
