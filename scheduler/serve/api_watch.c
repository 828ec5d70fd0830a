// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Watches: each one reads its kind's log in its connection's own thread and waits at the end of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/api_parts.h"
#include "sim/document.h"
#include "wire/wire.h"

/* A watch that had nothing to tell for so long tells how far it is. */
#define BOOKMARK_NS (INT64_C(20) * MAAR_SECOND_NS)

struct watch {
    struct maar_api_server *server;
    struct maar_collection *collection;
    struct maar_api_selector selector;
    char ns[256];
    enum maar_api_format format;
    bool bookmarks;
    uint64_t n_read; /* changes */
    json_t *initial; /* objects to show as ADDED first; NULL: none */
    size_t n_initial;
    bool failed;     /* an ERROR was sent: nothing follows */
    int64_t ends_ns; /* monotonic */
    int64_t spoke_ns;
    struct maar_text pending; /* bytes not handed over yet */
    size_t n_sent;
};

static void add_frame(struct watch *watch, enum maar_watch_type type, json_t *object)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    int kind = maar_api_protobuf_kind(watch->collection->type);
    if (watch->format == MAAR_API_PROTOBUF && kind >= 0) {
        if (maar_wire_encode_protobuf_watch((enum maar_kind)kind, type, object, &watch->pending,
                                            NULL) < 0)
            watch->failed = true;
        return;
    }
    json_t *shown = json_incref(object);
    if (watch->format == MAAR_API_TABLE && type <= MAAR_WATCH_DELETED) {
        json_t *items = json_pack("[O]", object);
        json_decref(shown);
        shown = maar_api_table(watch->collection->type, items,
                               maar_document_text(object, "metadata.resourceVersion"), NULL,
                               maar_store_now(watch->server->store));
        json_decref(items);
    }
    json_t *event = json_pack("{s:s, s:o}", "type", names[type], "object", shown);
    char *line = json_dumps(event, JSON_COMPACT);
    json_decref(event);
    maar_text_add(&watch->pending, line ? line : "{}");
    maar_text_add(&watch->pending, "\n");
    free(line);
}

static void add_bookmark(struct watch *watch)
{
    const struct maar_collection *collection = watch->collection;
    char version[32];
    uint64_t number =
        collection->held ? collection->held_version : maar_store_version(watch->server->store);
    snprintf(version, sizeof version, "%llu", (unsigned long long)number);
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:n}}", "kind", collection->type->kind,
                               "apiVersion", collection->type->api_version, "metadata",
                               "resourceVersion", version, "creationTimestamp");
    add_frame(watch, MAAR_WATCH_BOOKMARK, object);
    json_decref(object);
}

static void add_gone(struct watch *watch)
{
    struct maar_answer answer;
    maar_answer_fail(&answer, 410, "Expired", "too old resource version: the oldest is %llu",
                     (unsigned long long)watch->collection->low_version);
    add_frame(watch, MAAR_WATCH_ERROR, answer.document);
    maar_answer_fini(&answer);
    watch->failed = true;
}

static bool is_shown(const struct watch *watch, const json_t *document)
{
    return (!*watch->ns || strcmp(watch->ns, maar_document_namespace(document)) == 0) &&
           maar_api_selector_matches(&watch->selector, document);
}

/* Under the lock: frames for all that can be seen now, up to a size that keeps the client busy. */
static void add_changes(struct watch *watch)
{
    const struct maar_collection *collection = watch->collection;
    for (; watch->n_initial < json_array_size(watch->initial) && watch->pending.n < 262144;
         watch->n_initial++)
        add_frame(watch, MAAR_WATCH_ADDED, json_array_get(watch->initial, watch->n_initial));
    if (watch->n_initial < json_array_size(watch->initial))
        return;
    if (watch->n_read < collection->n_forgotten) {
        add_gone(watch);
        return;
    }
    while (watch->n_read < maar_collection_n_visible(collection) && watch->pending.n < 262144) {
        const struct maar_change *change = maar_collection_change(collection, watch->n_read++);
        if (is_shown(watch, change->document))
            add_frame(watch, (enum maar_watch_type)change->type, change->document);
    }
}

static ssize_t read_watch(void *context, uint64_t position, char *buffer, size_t size)
{
    struct watch *watch = context;
    struct maar_store *store = watch->server->store;
    (void)position;
    if (watch->n_sent == watch->pending.n) {
        maar_text_clear(&watch->pending);
        watch->n_sent = 0;
        maar_store_lock(store);
        while (watch->pending.n == 0 && !watch->server->stopping && !watch->failed) {
            int64_t now_ns = maar_clock_mono_ns();
            add_changes(watch);
            if (watch->pending.n > 0 || now_ns >= watch->ends_ns)
                break;
            if (watch->bookmarks && now_ns - watch->spoke_ns >= BOOKMARK_NS)
                add_bookmark(watch);
            else
                maar_store_wait(store, 1000);
        }
        maar_store_unlock(store);
        watch->spoke_ns = maar_clock_mono_ns();
    }
    size_t n = watch->pending.n - watch->n_sent;
    if (n == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n > size)
        n = size;
    memcpy(buffer, watch->pending.data + watch->n_sent, n);
    watch->n_sent += n;
    return (ssize_t)n;
}

static void free_watch(void *context)
{
    struct watch *watch = context;
    maar_api_selector_fini(&watch->selector);
    maar_store_lock(watch->server->store);
    json_decref(watch->initial);
    maar_store_unlock(watch->server->store);
    maar_text_fini(&watch->pending);
    free(watch);
}

/* Under the lock. Without a version a watch begins with what is there. */
static void place(struct watch *watch, const char *version)
{
    struct maar_collection *collection = watch->collection;
    uint64_t number = strtoull(version, NULL, 10);
    if (number > 0) {
        if (number < collection->low_version)
            add_gone(watch);
        watch->n_read = maar_collection_seek(collection, number);
        return;
    }
    const struct maar_object *object;
    size_t at = 0;
    watch->initial = json_array();
    while ((object = maar_collection_next(collection, &at)))
        if (is_shown(watch, object->document))
            json_array_append(watch->initial, object->document);
    watch->n_read = collection->n_forgotten + collection->log.n;
}

enum MHD_Result maar_api_watch(struct maar_api_request *request,
                               const struct maar_api_selector *selector)
{
    struct watch *watch = maar_calloc(1, sizeof *watch);
    unsigned long seconds = strtoul(maar_api_query(request, "timeoutSeconds"), NULL, 10);
    const char *bookmarks = maar_api_query(request, "allowWatchBookmarks");
    if (seconds == 0 || seconds > 3600)
        seconds = 3600;
    watch->server = request->server;
    watch->collection = request->target.collection;
    watch->selector = *selector;
    memcpy(watch->ns, request->target.ns, sizeof watch->ns);
    watch->format = request->format;
    watch->bookmarks = strcmp(bookmarks, "true") == 0 || strcmp(bookmarks, "1") == 0;
    watch->spoke_ns = maar_clock_mono_ns();
    watch->ends_ns = watch->spoke_ns + (int64_t)seconds * MAAR_SECOND_NS;
    maar_store_lock(request->server->store);
    place(watch, maar_api_query(request, "resourceVersion"));
    maar_store_unlock(request->server->store);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, read_watch, watch, free_watch);
    bool protobuf =
        watch->format == MAAR_API_PROTOBUF && maar_api_protobuf_kind(watch->collection->type) >= 0;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            protobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
                                     : "application/json");
    enum MHD_Result result = MHD_queue_response(request->connection, 200, response);
    MHD_destroy_response(response);
    return result;
}
