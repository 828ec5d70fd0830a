/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* List and watch, after client-go's reflector. States: waiting until a time, listing a page, watching. What went
 * wrong decides the next state:
 *   410 Gone          list again, and report as deleted what the new list lacks
 *   410 while paging  list again from the first page, with larger pages
 *   end of a watch    watch again from the last version, at once unless it ended at once
 *   anything else     the same again, after a growing pause */

#include "kube/reflector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "kube/backoff.h"
#include "kube/frames.h"

#define PAGE_SIZE         500u
#define PAGE_SIZE_LARGEST 50000u
#define PAGE_LIMIT_BYTES  ((size_t)1024 * 1024 * 1024)
#define FRAME_LIMIT_BYTES ((size_t)64 * 1024 * 1024)
#define PAGE_LIMIT_NS     (120 * MAAR_SECOND_NS)
#define PAGE_SILENCE_NS   (60 * MAAR_SECOND_NS)
#define WATCH_S           300u /* as long again at random */
#define WATCH_SILENCE_NS  (150 * MAAR_SECOND_NS)
#define WATCH_SHORT_NS    MAAR_SECOND_NS
#define FIRST_PAUSE_NS    (200 * MAAR_MILLISECOND_NS)
#define LONGEST_PAUSE_NS  (30 * MAAR_SECOND_NS)
#define FULL_PAUSE_NS     (2 * MAAR_MILLISECOND_NS)
#define COMPLAIN_AGAIN_NS (60 * MAAR_SECOND_NS)
#define N_FAILED_WATCHES  5u /* before a list */

enum state {
    STATE_LIST,
    STATE_WATCH,
};

struct maar_reflector {
    struct maar_reflector_options options;
    enum state state; /* of the running call, or of the next one */
    bool running;
    int64_t due_ns; /* when to start, while nothing runs */
    struct maar_backoff backoff;
    struct maar_kube_call call;
    struct maar_text path;
    struct maar_known *known;
    bool synced;
    unsigned page_size;
    struct maar_text token; /* of the next page */
    char version[64];       /* where to watch from */
    struct maar_frames frames;
    bool frames_begun;
    int64_t watch_started_ns;
    bool watch_heard; /* this watch gave an event */
    bool gone;        /* the server has forgotten `version` */
    int64_t complained_ns;
    bool complained;    /* since the last success */
    char complaint[96]; /* the last one, see cause_of */
    struct maar_reflector_counters counters;
};

static const char *const paths[MAAR_N_KINDS] = {
    [MAAR_KIND_NODE] = "/api/v1/nodes",
    [MAAR_KIND_PRIORITY_CLASS] = "/apis/scheduling.k8s.io/v1/priorityclasses",
    [MAAR_KIND_QUEUE] = "/apis/scheduling.volcano.sh/v1beta1/queues",
    [MAAR_KIND_POD_GROUP] = "/apis/scheduling.volcano.sh/v1beta1/podgroups",
    [MAAR_KIND_POD] = "/api/v1/pods",
    [MAAR_KIND_NAMESPACE] = "/api/v1/namespaces",
};

static bool is_protobuf(const struct maar_kube_call *call)
{
    return strstr(call->answer_type, "protobuf") != NULL;
}

static const char *kind_name(const struct maar_reflector *reflector)
{
    return maar_kind_name(reflector->options.kind);
}

static int64_t now_ns(const struct maar_reflector *reflector)
{
    return reflector->options.transport.now_ns(reflector->options.transport.self);
}

/* ---- what goes to the engine ---- */

static void emit_delete(void *context, const char *ns, const char *name, const char *uid)
{
    struct maar_reflector *reflector = context;
    struct maar_record *record = maar_record_create(reflector->options.kind);
    struct maar_delta delta = {.type = MAAR_DELTA_DELETE, .kind = reflector->options.kind};

    record->ns = maar_arena_strdup(record->arena, ns);
    record->name = maar_arena_strdup(record->arena, name);
    record->uid = maar_arena_strdup(record->arena, uid);
    delta.record = record;
    reflector->options.emit(reflector->options.context, &delta);
}

/* An object as it is now. One that is known in this very version (a list after a lost watch) is dropped. */
static void upsert(struct maar_reflector *reflector, struct maar_record *record)
{
    struct maar_delta delta = {
        .type = MAAR_DELTA_UPSERT, .kind = reflector->options.kind, .record = record};
    maar_autofree char *old_uid = NULL;

    switch (maar_known_note(reflector->known, record, &old_uid)) {
    case MAAR_KNOWN_SAME:
        maar_record_destroy(record);
        return;
    case MAAR_KNOWN_REPLACED:
        emit_delete(reflector, record->ns, record->name, old_uid);
        break;
    case MAAR_KNOWN_NEW:
    case MAAR_KNOWN_CHANGED:
        break;
    }
    reflector->options.emit(reflector->options.context, &delta);
}

static void delete (struct maar_reflector *reflector, struct maar_record *record)
{
    struct maar_delta delta = {
        .type = MAAR_DELTA_DELETE, .kind = reflector->options.kind, .record = record};

    if (!maar_known_remove(reflector->known, record->ns, record->name)) {
        maar_record_destroy(record);
        return;
    }
    reflector->options.emit(reflector->options.context, &delta);
}

static void set_version(struct maar_reflector *reflector, const char *version)
{
    if (!*version)
        return;
    snprintf(reflector->version, sizeof reflector->version, "%s", version);
    reflector->options.delivered(reflector->options.context, reflector->options.kind,
                                 reflector->version);
}

/* ---- failures ---- */

static void succeed(struct maar_reflector *reflector)
{
    if (reflector->complained)
        maar_log_info("%s: the API server answers again", kind_name(reflector));
    reflector->complained = false;
    maar_backoff_reset(&reflector->backoff);
}

static void schedule(struct maar_reflector *reflector, enum state state, int64_t pause_ns)
{
    reflector->state = state;
    reflector->due_ns = now_ns(reflector) + pause_ns;
}

/* The server's own words for an answer that is no success. */
static void describe(const struct maar_reflector *reflector, const struct maar_kube_call *call,
                     char *buffer, size_t size)
{
    json_t *answer;
    const char *message;

    if (call->error.text[0]) {
        snprintf(buffer, size, "%s", call->error.text);
        return;
    }
    if (call->status == 404) {
        snprintf(buffer, size,
                 "the API server does not know %s yet (404); is its definition installed?",
                 paths[reflector->options.kind]);
        return;
    }
    answer = json_loadb(maar_text_get(&call->answer), call->answer.n, 0, NULL);
    message = json_string_value(json_object_get(answer, "message"));
    if (message)
        snprintf(buffer, size, "%d: %s", call->status, message);
    else
        snprintf(buffer, size, "status %d%s%.*s", call->status, call->answer.n ? ": " : "",
                 (int)strcspn(maar_text_get(&call->answer), "\r\n"), maar_text_get(&call->answer));
    json_decref(answer);
}

/* What tells one cause from another: the status and the text without its numbers (times, ports, bytes). */
static void cause_of(const struct maar_kube_call *call, const char *why, char *cause, size_t size)
{
    size_t n = (size_t)snprintf(cause, size, "%d ", call->status);

    for (; *why && n + 1 < size; why++)
        if (*why < '0' || *why > '9')
            cause[n++] = *why;
    cause[n] = '\0';
}

/* Once a minute, and at once when the cause is another one. */
static void complain(struct maar_reflector *reflector, const char *doing, const char *why,
                     int64_t pause_ns)
{
    int64_t at_ns = now_ns(reflector);
    char cause[sizeof reflector->complaint];

    cause_of(&reflector->call, why, cause, sizeof cause);
    if (reflector->complained && strcmp(cause, reflector->complaint) == 0 &&
        at_ns - reflector->complained_ns < COMPLAIN_AGAIN_NS)
        return;
    memcpy(reflector->complaint, cause, sizeof cause);
    reflector->complained = true;
    reflector->complained_ns = at_ns;
    maar_log_warning("%s: %s failed, trying again in %.1f s: %s", kind_name(reflector), doing,
                     (double)pause_ns / (double)MAAR_SECOND_NS, why);
}

static void fail(struct maar_reflector *reflector, enum state next, const char *doing,
                 const char *why)
{
    const struct maar_kube_call *call = &reflector->call;
    int64_t pause_ns = maar_backoff_next(&reflector->backoff);

    if (call->retry_after_ns > pause_ns)
        pause_ns = call->retry_after_ns;
    complain(reflector, doing, why, pause_ns);
    schedule(reflector, next, pause_ns);
}

static void fail_call(struct maar_reflector *reflector, enum state next, const char *doing)
{
    char why[sizeof reflector->call.error.text];

    describe(reflector, &reflector->call, why, sizeof why);
    fail(reflector, next, doing, why);
}

/* An object that cannot even be identified is left out. */
static void skip_object(const struct maar_reflector *reflector, const struct maar_error *err)
{
    maar_log_error("%s: an object cannot be read and is left out: %s", kind_name(reflector),
                   maar_error_text(err));
}

/* ---- list ---- */

static void start_list(struct maar_reflector *reflector)
{
    struct maar_kube_call *call = &reflector->call;

    if (!reflector->token.n) {
        maar_known_begin_list(reflector->known);
        reflector->counters.n_lists++;
    }
    reflector->counters.n_pages++;
    maar_text_clear(&reflector->path);
    maar_text_addf(&reflector->path, "%s?limit=%u", paths[reflector->options.kind],
                   reflector->page_size);
    if (reflector->token.n)
        maar_text_addf(&reflector->path, "&continue=%s", reflector->token.data);
    call->path = reflector->path.data;
    call->limit_ns = PAGE_LIMIT_NS;
    call->silence_ns = PAGE_SILENCE_NS;
    call->limit_bytes = PAGE_LIMIT_BYTES;
    call->on_data = NULL;
    reflector->running = true;
    reflector->options.transport.start(reflector->options.transport.self, call);
}

/* A token goes into a query: only characters that need no escape pass as they are. */
static void set_token(struct maar_reflector *reflector, const char *token)
{
    maar_text_clear(&reflector->token);
    for (const char *c = token; *c; c++) {
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
            strchr("-_.~", *c))
            maar_text_add_char(&reflector->token, *c);
        else
            maar_text_addf(&reflector->token, "%%%02X", (unsigned char)*c);
    }
}

static int take_item(void *context, struct maar_record *record, struct maar_error *err)
{
    (void)err;
    upsert(context, record);
    return 0;
}

static int read_protobuf_page(struct maar_reflector *reflector, struct maar_text *version,
                              struct maar_text *token, struct maar_error *err)
{
    const struct maar_text *answer = &reflector->call.answer;

    return maar_wire_decode_protobuf_list(reflector->options.kind, maar_text_get(answer), answer->n,
                                          &reflector->options.decode, take_item, reflector, version,
                                          token, err);
}

static void read_json_item(struct maar_reflector *reflector, const json_t *item)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_record *record = NULL;
    char *ns;
    char *name;

    if (maar_wire_decode_json(reflector->options.kind, item, &reflector->options.decode, &record,
                              &err) < 0) {
        skip_object(reflector, &err);
        return;
    }
    if (!reflector->options.keeps_text) {
        upsert(reflector, record);
        return;
    }
    ns = maar_strdup(record->ns);
    name = maar_strdup(record->name);
    upsert(reflector, record);
    maar_known_keep_text(reflector->known, ns, name, item);
    free(ns);
    free(name);
}

static int read_json_page(struct maar_reflector *reflector, struct maar_text *version,
                          struct maar_text *token, struct maar_error *err)
{
    const struct maar_text *answer = &reflector->call.answer;
    json_error_t fault;
    json_t *list = json_loadb(maar_text_get(answer), answer->n, 0, &fault);
    const json_t *metadata = json_object_get(list, "metadata");
    const json_t *items = json_object_get(list, "items");
    const char *found_version = json_string_value(json_object_get(metadata, "resourceVersion"));
    const char *found_token = json_string_value(json_object_get(metadata, "continue"));
    const json_t *item;
    size_t i;

    if (!list)
        return maar_error_set(err, -EINVAL, "the list is not JSON: %s", fault.text);
    if (!found_version || (items && !json_is_array(items) && !json_is_null(items))) {
        json_decref(list);
        return maar_error_set(err, -EINVAL, "the answer is not a list");
    }
    json_array_foreach (items, i, item)
        read_json_item(reflector, item);
    maar_text_add(version, found_version);
    maar_text_add(token, found_token ? found_token : "");
    json_decref(list);
    return 0;
}

static void end_list(struct maar_reflector *reflector, const char *version)
{
    struct maar_delta delta = {.type = MAAR_DELTA_SYNCED, .kind = reflector->options.kind};

    maar_known_sweep(reflector->known, emit_delete, reflector);
    if (!reflector->synced) {
        reflector->synced = true;
        reflector->options.emit(reflector->options.context, &delta);
    }
    reflector->gone = false;
    succeed(reflector);
    set_version(reflector, version);
    schedule(reflector, STATE_WATCH, 0);
}

static void finish_list(struct maar_reflector *reflector)
{
    struct maar_kube_call *call = &reflector->call;
    struct maar_text version = MAAR_TEXT_INIT;
    struct maar_text token = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    int r;

    if (call->status == 410 && reflector->token.n) {
        /* The pages were not taken fast enough: begin anew, in fewer pages. */
        maar_text_clear(&reflector->token);
        if (reflector->page_size < PAGE_SIZE_LARGEST)
            reflector->page_size *= 10;
        schedule(reflector, STATE_LIST, 0);
        return;
    }
    if (!maar_kube_call_succeeded(call)) {
        /* A page whose server went away may be asked for again. */
        if (call->complete && call->status < 500 && call->status != 429)
            maar_text_clear(&reflector->token);
        fail_call(reflector, STATE_LIST, "listing");
        return;
    }
    r = is_protobuf(call) ? read_protobuf_page(reflector, &version, &token, &err)
                          : read_json_page(reflector, &version, &token, &err);
    maar_text_fini(&call->answer);
    if (r < 0) {
        maar_text_clear(&reflector->token);
        fail(reflector, STATE_LIST, "reading the list", maar_error_text(&err));
    } else if (token.n) {
        set_token(reflector, token.data);
        schedule(reflector, STATE_LIST, 0);
    } else {
        maar_text_clear(&reflector->token);
        end_list(reflector, maar_text_get(&version));
    }
    maar_text_fini(&version);
    maar_text_fini(&token);
}

/* ---- watch ---- */

static void keep_watched_text(struct maar_reflector *reflector, const char *ns, const char *name,
                              const char *data, size_t n)
{
    json_t *event = json_loadb(data, n, 0, NULL);

    maar_known_keep_text(reflector->known, ns, name, json_object_get(event, "object"));
    json_decref(event);
}

static void apply_event(struct maar_reflector *reflector, struct maar_watch_event *event,
                        const char *data, size_t n)
{
    maar_autofree char *ns = NULL;
    maar_autofree char *name = NULL;

    reflector->counters.n_events++;
    if (event->type == MAAR_WATCH_DELETED) {
        delete (reflector, event->record);
        return;
    }
    if (!reflector->options.keeps_text) {
        upsert(reflector, event->record);
        return;
    }
    ns = maar_strdup(event->record->ns);
    name = maar_strdup(event->record->name);
    upsert(reflector, event->record);
    keep_watched_text(reflector, ns, name, data, n);
}

static int take_event(void *context, const char *data, size_t n)
{
    struct maar_reflector *reflector = context;
    const struct maar_reflector_options *options = &reflector->options;
    struct maar_watch_event event = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    int r =
        reflector->frames.protobuf
            ? maar_wire_decode_watch_protobuf(options->kind, data, n, &options->decode, &event,
                                              &err)
            : maar_wire_decode_watch_json(options->kind, data, n, &options->decode, &event, &err);

    if (r < 0) {
        skip_object(reflector, &err);
        return 0;
    }
    if (event.type == MAAR_WATCH_ERROR) {
        reflector->gone = event.code == 410;
        reflector->call.status = event.code;
        return maar_error_set(&reflector->call.error, -EIO, "the server ended the watch: %d %s",
                              event.code, event.message);
    }
    reflector->watch_heard = true;
    if (event.type != MAAR_WATCH_BOOKMARK)
        apply_event(reflector, &event, data, n);
    set_version(reflector, event.resource_version);
    return 0;
}

static int take_watch_data(struct maar_kube_call *call, const char *data, size_t n)
{
    struct maar_reflector *reflector = call->context;

    if (!reflector->frames_begun) {
        maar_frames_init(&reflector->frames, is_protobuf(call), FRAME_LIMIT_BYTES);
        reflector->frames_begun = true;
    }
    return maar_frames_add(&reflector->frames, data, n, take_event, reflector, &call->error);
}

static void start_watch(struct maar_reflector *reflector)
{
    struct maar_kube_call *call = &reflector->call;
    unsigned seconds = WATCH_S + (unsigned)maar_random_below(&reflector->backoff.random, WATCH_S);

    reflector->counters.n_watches++;
    maar_text_clear(&reflector->path);
    maar_text_addf(&reflector->path,
                   "%s?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%u",
                   paths[reflector->options.kind], reflector->version, seconds);
    call->path = reflector->path.data;
    call->limit_ns = (int64_t)(seconds + 60) * MAAR_SECOND_NS;
    call->silence_ns = WATCH_SILENCE_NS;
    call->limit_bytes = 1024 * 1024;
    call->on_data = take_watch_data;
    reflector->watch_started_ns = now_ns(reflector);
    reflector->watch_heard = false;
    reflector->gone = false;
    reflector->running = true;
    reflector->options.transport.start(reflector->options.transport.self, call);
}

static void finish_watch(struct maar_reflector *reflector)
{
    struct maar_kube_call *call = &reflector->call;
    bool accepted = call->status >= 200 && call->status < 300;
    bool lasted = now_ns(reflector) - reflector->watch_started_ns >= WATCH_SHORT_NS;

    if (reflector->frames_begun)
        maar_frames_fini(&reflector->frames);
    reflector->frames_begun = false;
    if (reflector->gone || call->status == 410) {
        maar_log_info("%s: the server has forgotten version %s; listing again",
                      kind_name(reflector), reflector->version);
        schedule(reflector, STATE_LIST, 0);
        return;
    }
    if (accepted && (reflector->watch_heard || lasted)) {
        succeed(reflector);
        schedule(reflector, STATE_WATCH, 0);
        return;
    }
    if (accepted && call->complete)
        maar_error_set(&call->error, -EIO, "the watch ended at once");
    /* A kind that is gone, or a version that no server takes: only a list can tell. */
    fail_call(reflector,
              call->status == 404 || reflector->backoff.n_failures + 1 >= N_FAILED_WATCHES
                  ? STATE_LIST
                  : STATE_WATCH,
              "watching");
}

/* ---- the whole ---- */

static void on_done(struct maar_kube_call *call)
{
    struct maar_reflector *reflector = call->context;

    reflector->running = false;
    if (reflector->state == STATE_LIST)
        finish_list(reflector);
    else
        finish_watch(reflector);
}

struct maar_reflector *maar_reflector_create(const struct maar_reflector_options *options)
{
    struct maar_reflector *reflector = maar_calloc(1, sizeof *reflector);

    reflector->options = *options;
    reflector->page_size = options->page_size ? options->page_size : PAGE_SIZE;
    reflector->backoff = (struct maar_backoff){FIRST_PAUSE_NS, LONGEST_PAUSE_NS, 0, options->seed};
    reflector->known = maar_known_create(options->keeps_text);
    reflector->call.method = "GET";
    reflector->call.accept = maar_wire_has_protobuf(options->kind)
                                 ? "application/vnd.kubernetes.protobuf,application/json"
                                 : "application/json";
    reflector->call.on_done = on_done;
    reflector->call.context = reflector;
    return reflector;
}

void maar_reflector_destroy(struct maar_reflector *reflector)
{
    if (!reflector)
        return;
    reflector->options.transport.cancel(reflector->options.transport.self, &reflector->call);
    maar_text_fini(&reflector->call.answer);
    if (reflector->frames_begun)
        maar_frames_fini(&reflector->frames);
    maar_text_fini(&reflector->path);
    maar_text_fini(&reflector->token);
    maar_known_destroy(reflector->known);
    free(reflector);
}

int64_t maar_reflector_tick(struct maar_reflector *reflector)
{
    int64_t at_ns = now_ns(reflector);

    if (reflector->running)
        return INT64_MAX;
    if (at_ns < reflector->due_ns)
        return reflector->due_ns;
    if (reflector->state == STATE_LIST && reflector->options.is_full &&
        reflector->options.is_full(reflector->options.context))
        return at_ns + FULL_PAUSE_NS;
    if (reflector->state == STATE_LIST)
        start_list(reflector);
    else
        start_watch(reflector);
    return INT64_MAX;
}

bool maar_reflector_is_synced(const struct maar_reflector *reflector)
{
    return reflector->synced;
}

struct maar_known *maar_reflector_known(const struct maar_reflector *reflector)
{
    return reflector->known;
}

struct maar_reflector_counters maar_reflector_counters(const struct maar_reflector *reflector)
{
    return reflector->counters;
}
