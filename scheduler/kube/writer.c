/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Sending writes. What an answer means:
 *   2xx                   done
 *   no answer, 5xx        the same again after a growing pause, for half a minute
 *   429, or Retry-After   everybody waits as long as the server says, then the same again
 *   401                   once more: the token may have been renewed
 *   409 to a bind         perhaps our own bind went through and its answer was lost (libcurl, too, repeats a request
 *                         whose kept-alive connection died): the pod itself tells
 *   404 to an eviction    done: what we want is so
 *   409 to a creation     done, likewise
 *   409 to a whole object the watch, or for pods a look-up, brings the newer one; then again
 *   403 to a PATCH        without a review of our rights: PUT the whole object from now on
 *   403 else              a few times more, after asking for our rights again: a server that has just started
 *                         refuses everybody until it has read its roles
 *   anything else         the caller hears of it */

#include "kube/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kube/backoff.h"
#include "kube/lanes.h"
#include "kube/merge.h"
#include "kube/rights.h"
#include "wire/wire.h"

#define MAX_IN_FLIGHT      64u
#define ANSWER_LIMIT_NS    (30 * MAAR_SECOND_NS)
#define ANSWER_LIMIT_BYTES ((size_t)8 * 1024 * 1024)
#define RETRY_FOR_NS       (30 * MAAR_SECOND_NS)
#define RETRY_EVENT_FOR_NS (5 * MAAR_SECOND_NS)
#define THROTTLED_FOR_NS   (120 * MAAR_SECOND_NS)
#define THROTTLED_PAUSE_NS MAAR_SECOND_NS
#define WATCH_TELLS_NS     (10 * MAAR_SECOND_NS)
#define FIRST_PAUSE_NS     (100 * MAAR_MILLISECOND_NS)
#define LONGEST_PAUSE_NS   (5 * MAAR_SECOND_NS)
#define BLOCKED_PAUSE_NS   (250 * MAAR_MILLISECOND_NS)
#define N_CONFLICTS        8u
#define N_PATCH_CONFLICTS  3u
#define N_FORBIDDEN        4u
#define FORBIDDEN_PAUSE_NS MAAR_SECOND_NS
#define N_UNAUTHORIZED     2u
#define MESSAGE_SIZE       256

enum step {
    STEP_REQUEST,    /* as wire/ makes it */
    STEP_FETCH_POD,  /* the pod that the next step puts back with a new status */
    STEP_PUT,        /* a whole object */
    STEP_LOOK_AT_POD /* did the bind go through? */
};

struct send {
    struct maar_lane_item item; /* first: lanes hand it back */
    struct maar_writer *writer;
    struct maar_kube_call call;
    struct maar_request request;
    enum step step;
    char *pod_path;   /* of a look-up */
    char *whole_body; /* of a PUT */
    int64_t first_ns; /* when it was sent first */
    unsigned n_tries;
    unsigned n_conflicts;
    unsigned n_unauthorized;
    unsigned n_forbidden;
    /* While it waits: */
    int64_t due_ns;
    uint64_t put_version; /* of a whole object that met a conflict; 0: does not wait for another */
    bool conflicted;
};

struct maar_writer {
    struct maar_writer_options options;
    struct maar_lanes *lanes;
    struct maar_rights *rights;
    struct maar_bucket bucket;
    struct maar_backoff backoff; /* of the server as a whole */
    struct maar_backoff jitter;  /* for single writes */
    int64_t paused_until_ns;
    MAAR_VEC(struct send *) out;     /* with a call that runs */
    MAAR_VEC(struct send *) delayed; /* wait for a time or a version */
    size_t n_open;
    struct maar_writer_counters counters;
};

static void on_answer(struct maar_kube_call *call);

static int64_t now_ns(const struct maar_writer *writer)
{
    return writer->options.transport.now_ns(writer->options.transport.self);
}

struct maar_writer *maar_writer_create(const struct maar_writer_options *options)
{
    struct maar_writer *writer = maar_calloc(1, sizeof *writer);
    uint64_t seed = options->seed ? options->seed : 1;

    writer->options = *options;
    if (!writer->options.component)
        writer->options.component = "volcano";
    if (!writer->options.max_in_flight)
        writer->options.max_in_flight = MAX_IN_FLIGHT;
    writer->lanes = maar_lanes_create();
    writer->rights = maar_rights_create(options->transport);
    writer->backoff = (struct maar_backoff){FIRST_PAUSE_NS, LONGEST_PAUSE_NS, 0, seed};
    writer->jitter = (struct maar_backoff){FIRST_PAUSE_NS, LONGEST_PAUSE_NS, 0, seed};
    maar_bucket_init(&writer->bucket, options->per_second, options->burst, now_ns(writer));
    return writer;
}

static void destroy_send(struct send *send)
{
    maar_text_fini(&send->call.answer);
    maar_request_fini(&send->request);
    maar_write_destroy(send->item.write);
    free(send->pod_path);
    free(send->whole_body);
    free(send);
}

static void destroy_all(struct send **sends, size_t n)
{
    for (size_t i = 0; i < n; i++)
        destroy_send(sends[i]);
}

void maar_writer_destroy(struct maar_writer *writer)
{
    struct maar_lane_item *item;
    struct send **it;

    if (!writer)
        return;
    MAAR_VEC_EACH (&writer->out, it)
        writer->options.transport.cancel(writer->options.transport.self, &(*it)->call);
    destroy_all(writer->out.data, writer->out.n);
    destroy_all(writer->delayed.data, writer->delayed.n);
    while ((item = maar_lanes_steal(writer->lanes)) != NULL)
        destroy_send((struct send *)item);
    maar_vec_fini(&writer->out);
    maar_vec_fini(&writer->delayed);
    maar_lanes_destroy(writer->lanes);
    maar_rights_destroy(writer->rights);
    free(writer);
}

void maar_writer_submit(struct maar_writer *writer, struct maar_write *write)
{
    struct send *send = maar_calloc(1, sizeof *send);

    send->writer = writer;
    send->item.write = write;
    writer->n_open++;
    maar_lanes_add(writer->lanes, &send->item);
}

static int64_t may_send_until_ns(const struct maar_writer *writer)
{
    if (!writer->options.may_send_until_ns)
        return INT64_MAX;
    return writer->options.may_send_until_ns(writer->options.context);
}

size_t maar_writer_n_open(const struct maar_writer *writer)
{
    return writer->n_open;
}

struct maar_writer_counters maar_writer_counters(const struct maar_writer *writer)
{
    struct maar_writer_counters counters = writer->counters;

    counters.n_reviews = maar_rights_n_reviews(writer->rights);
    return counters;
}

/* ---- outcomes ---- */

static void finish(struct send *send, int code, const char *message)
{
    struct maar_writer *writer = send->writer;
    struct maar_write *write = send->item.write;

    maar_lanes_finish(writer->lanes, &send->item);
    writer->n_open--;
    send->item.write = NULL;
    writer->options.done(writer->options.context, write, code, message);
    destroy_send(send);
}

/* The server's words, or what became of the connection. */
static void message_of(const struct maar_kube_call *call, char message[MESSAGE_SIZE])
{
    json_t *answer = NULL;
    const char *text = maar_error_text(&call->error);

    if (!text[0]) {
        answer = json_loadb(maar_text_get(&call->answer), call->answer.n, 0, NULL);
        text = json_string_value(json_object_get(answer, "message"));
    }
    if (text)
        snprintf(message, MESSAGE_SIZE, "%s", text);
    else
        snprintf(message, MESSAGE_SIZE, "status %d", call->status);
    json_decref(answer);
}

static void finish_failed(struct send *send)
{
    char message[MESSAGE_SIZE];

    message_of(&send->call, message);
    finish(send, send->call.complete ? send->call.status : 0, message);
}

static void delay(struct send *send, int64_t due_ns)
{
    send->due_ns = due_ns;
    maar_vec_push(&send->writer->delayed, send);
}

/* The same again after a pause, or the end when it has been tried for too long. */
static void retry_later(struct send *send)
{
    struct maar_writer *writer = send->writer;
    const struct maar_kube_call *call = &send->call;
    int64_t at_ns = now_ns(writer);
    bool is_event = send->item.write->kind == MAAR_WRITE_EVENT;
    int64_t pause_ns;

    if (at_ns - send->first_ns > (is_event ? RETRY_EVENT_FOR_NS : RETRY_FOR_NS)) {
        finish_failed(send);
        return;
    }
    writer->jitter.n_failures = send->n_tries++;
    pause_ns = maar_backoff_next(&writer->jitter);
    if (call->retry_after_ns > pause_ns)
        pause_ns = call->retry_after_ns;
    writer->counters.n_retries++;
    delay(send, at_ns + pause_ns);
    /* A server that cannot be reached gets no further writes to lose, one that asks for time gets it. */
    if (!call->complete && !call->reached)
        pause_ns = maar_backoff_next(&writer->backoff);
    else if (call->retry_after_ns <= 0)
        return;
    if (at_ns + pause_ns > writer->paused_until_ns)
        writer->paused_until_ns = at_ns + pause_ns;
}

static void throttle(struct send *send)
{
    struct maar_writer *writer = send->writer;
    int64_t at_ns = now_ns(writer);
    int64_t pause_ns =
        send->call.retry_after_ns > 0 ? send->call.retry_after_ns : THROTTLED_PAUSE_NS;

    if (at_ns - send->first_ns > THROTTLED_FOR_NS) {
        finish_failed(send);
        return;
    }
    writer->counters.n_retries++;
    if (at_ns + pause_ns > writer->paused_until_ns)
        writer->paused_until_ns = at_ns + pause_ns;
    delay(send, at_ns + pause_ns);
}

static void withdraw(struct send *send)
{
    finish(send, 0, "withdrawn: this scheduler does not lead any more");
}

void maar_writer_withdraw(struct maar_writer *writer, bool all)
{
    struct maar_lane_item *item;

    if (all) {
        for (size_t i = 0; i < writer->out.n; i++) {
            struct send *send = writer->out.data[i];

            writer->options.transport.cancel(writer->options.transport.self, &send->call);
            withdraw(send);
        }
        maar_vec_clear(&writer->out);
    }
    for (size_t i = 0; i < writer->delayed.n; i++)
        withdraw(writer->delayed.data[i]);
    maar_vec_clear(&writer->delayed);
    while ((item = maar_lanes_steal(writer->lanes)) != NULL)
        withdraw((struct send *)item);
}

/* ---- sending ---- */

static struct maar_known *keeper_of(const struct maar_writer *writer,
                                    const struct maar_write *write)
{
    switch (write->kind) {
    case MAAR_WRITE_POD_GROUP_STATUS:
        return writer->options.pod_groups;
    case MAAR_WRITE_QUEUE_STATUS:
        return writer->options.queues;
    default:
        return NULL;
    }
}

/* The newest whole object that we hold, a new reference; NULL when we hold none or a namesake of what is meant. */
static json_t *newest_object(const struct maar_writer *writer, const struct maar_write *write,
                             uint64_t *ret_version)
{
    const struct maar_known *keeper = keeper_of(writer, write);
    const char *uid = keeper ? maar_known_uid(keeper, write->ns, write->name) : NULL;

    if (!uid || (write->uid[0] && strcmp(uid, write->uid) != 0))
        return NULL;
    return maar_known_object(keeper, write->ns, write->name, ret_version);
}

static void start_call(struct send *send, const char *method, const char *path, const char *body,
                       const char *content_type)
{
    struct maar_writer *writer = send->writer;
    struct maar_text answer = send->call.answer;
    int64_t at_ns = now_ns(writer);

    if (!send->first_ns)
        send->first_ns = at_ns;
    send->call = (struct maar_kube_call){
        .method = method,
        .path = path,
        .accept = "application/json",
        .content_type = content_type,
        .body = body,
        .limit_ns = ANSWER_LIMIT_NS,
        .limit_bytes = ANSWER_LIMIT_BYTES,
        .send_before_ns = may_send_until_ns(writer),
        .on_done = on_answer,
        .context = send,
        .answer = answer,
    };
    writer->counters.n_requests[send->item.write->kind]++;
    maar_vec_push(&writer->out, send);
    writer->options.transport.start(writer->options.transport.self, &send->call);
}

/* The pod whose binding or status the request is about: its path without the last part. */
static void start_fetch(struct send *send, enum step step)
{
    const char *path = send->request.path;

    send->step = step;
    if (!send->pod_path)
        send->pod_path = maar_strndup(path, (size_t)(strrchr(path, '/') - path));
    start_call(send, "GET", send->pod_path, NULL, NULL);
}

/* The request of the write, as an object that is now known makes it; when it cannot be made, the write ends. */
static bool make_request(struct send *send, const json_t *current)
{
    struct maar_error err = MAAR_ERROR_INIT;

    maar_request_fini(&send->request);
    if (maar_wire_request(send->item.write, current, send->writer->options.component,
                          &send->request, &err) == 0)
        return true;
    memset(&send->request, 0, sizeof send->request);
    finish(send, 400, maar_error_text(&err));
    return false;
}

/* A PUT of `object` with the patch of the request applied. */
static void start_put(struct send *send, json_t *object, bool by_type)
{
    json_t *patch = json_loads(send->request.body ? send->request.body : "", 0, NULL);

    maar_kube_merge(object, patch, by_type);
    json_decref(patch);
    free(send->whole_body);
    send->whole_body = json_dumps(object, JSON_COMPACT);
    send->step = STEP_PUT;
    start_call(send, "PUT", send->request.path, send->whole_body, "application/json");
}

/* By PUT, where PATCH is not allowed. */
static void start_whole(struct send *send, json_t *current)
{
    if (send->item.write->kind == MAAR_WRITE_POD_CONDITION)
        start_fetch(send, STEP_FETCH_POD);
    else if (current)
        start_put(send, current, false);
    else
        finish(send, 404, "the object is not known (any more)");
}

static void start_request(struct send *send)
{
    struct maar_writer *writer = send->writer;
    const struct maar_write *write = send->item.write;
    uint64_t version = 0;
    json_t *current = newest_object(writer, write, &version);

    send->step = STEP_REQUEST;
    send->put_version = version;
    if (make_request(send, current)) {
        if (maar_rights_get(writer->rights, write->kind) == MAAR_RIGHT_PUT)
            start_whole(send, current);
        else
            start_call(send, send->request.method, send->request.path, send->request.body,
                       send->request.content_type);
    }
    json_decref(current);
}

/* Why an unsent bind is pointless; NULL when it is not. */
static const char *bind_fault(const struct maar_writer *writer, const struct maar_write *write)
{
    const char *uid;

    if (write->kind != MAAR_WRITE_BIND)
        return NULL;
    if (writer->options.pods) {
        uid = maar_known_uid(writer->options.pods, write->ns, write->name);
        if (!uid || (write->uid[0] && strcmp(uid, write->uid) != 0))
            return "the pod is gone; its bind was not sent";
    }
    if (writer->options.nodes && !maar_known_uid(writer->options.nodes, "", write->bind.node))
        return "the node is gone; the bind was not sent";
    return NULL;
}

static void start(struct send *send)
{
    const char *fault;

    switch (send->step) {
    case STEP_FETCH_POD:
    case STEP_LOOK_AT_POD:
        start_fetch(send, send->step);
        return;
    case STEP_REQUEST:
    case STEP_PUT:
        break;
    }
    if (!send->first_ns) {
        fault = bind_fault(send->writer, send->item.write);
        if (fault) {
            finish(send, 404, fault);
            return;
        }
        if (maar_lanes_is_superseded(&send->item)) {
            finish(send, 200, "superseded by a later write; not sent");
            return;
        }
    }
    start_request(send);
}

/* ---- answers ---- */

/* A whole object that was refused because a newer one exists. */
static void wait_for_newer(struct send *send)
{
    if (++send->n_conflicts > N_CONFLICTS) {
        finish_failed(send);
        return;
    }
    send->writer->counters.n_retries++;
    if (send->item.write->kind == MAAR_WRITE_POD_CONDITION) {
        send->step = STEP_FETCH_POD;
        delay(send, now_ns(send->writer));
        return;
    }
    send->conflicted = true;
    delay(send, now_ns(send->writer) + WATCH_TELLS_NS);
}

static void end_conflict(struct send *send)
{
    const struct maar_write *write = send->item.write;

    if (send->step == STEP_PUT) {
        wait_for_newer(send);
        return;
    }
    switch (write->kind) {
    case MAAR_WRITE_BIND:
        send->step = STEP_LOOK_AT_POD;
        delay(send, now_ns(send->writer));
        break;
    case MAAR_WRITE_QUEUE_CREATE:
    case MAAR_WRITE_EVENT:
        finish(send, 200, "");
        break;
    case MAAR_WRITE_UNGATE:
    case MAAR_WRITE_POD_GROUP_STATUS:
    case MAAR_WRITE_POD_CONDITION:
    case MAAR_WRITE_QUEUE_STATUS:
        /* Patches meet each other now and then; a uid that differs stays so. */
        if (++send->n_conflicts > N_PATCH_CONFLICTS)
            finish_failed(send);
        else
            retry_later(send);
        break;
    default:
        finish_failed(send);
    }
}

static void forbid(struct send *send)
{
    struct maar_writer *writer = send->writer;
    enum maar_write_kind kind = send->item.write->kind;

    if (send->step == STEP_REQUEST && maar_rights_forbid(writer->rights, kind)) {
        delay(send, now_ns(writer));
    } else if (++send->n_forbidden >= N_FORBIDDEN) {
        finish_failed(send);
    } else {
        maar_rights_ask_again(writer->rights, kind);
        send->step = STEP_REQUEST;
        writer->counters.n_retries++;
        delay(send, now_ns(writer) + FORBIDDEN_PAUSE_NS);
    }
}

static void end_success(struct send *send)
{
    struct maar_known *keeper = keeper_of(send->writer, send->item.write);
    json_t *object;

    if (keeper) {
        object = json_loadb(maar_text_get(&send->call.answer), send->call.answer.n, 0, NULL);
        maar_known_keep_text(keeper, send->item.write->ns, send->item.write->name, object);
        json_decref(object);
    }
    finish(send, send->call.status, "");
}

static const char *text_in(const json_t *pod, const char *map, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(pod, map), key));

    return text ? text : "";
}

static bool is_other_pod(const struct send *send, const json_t *pod)
{
    const char *uid = send->item.write->uid;

    return uid[0] && strcmp(text_in(pod, "metadata", "uid"), uid) != 0;
}

/* The pod of a bind that met a conflict. */
static void judge_bind(struct send *send, const json_t *pod)
{
    const char *node = text_in(pod, "spec", "nodeName");
    char message[MESSAGE_SIZE];

    if (is_other_pod(send, pod)) {
        finish(send, 404, "another pod has this name now");
    } else if (strcmp(node, send->item.write->bind.node) == 0) {
        finish(send, 201, "");
    } else {
        snprintf(message, sizeof message,
                 node[0] ? "the pod is bound to %s" : "the bind was refused%s", node);
        finish(send, 409, message);
    }
}

static void end_look_up(struct send *send)
{
    json_t *pod = json_loadb(maar_text_get(&send->call.answer), send->call.answer.n, 0, NULL);

    if (!json_is_object(pod))
        finish(send, 0, "the answer is not a pod");
    else if (send->step == STEP_LOOK_AT_POD)
        judge_bind(send, pod);
    else if (is_other_pod(send, pod))
        finish(send, 404, "another pod has this name now");
    else if (make_request(send, pod))
        start_put(send, pod, true);
    json_decref(pod);
}

static void judge(struct send *send)
{
    const struct maar_kube_call *call = &send->call;
    bool is_success = call->status >= 200 && call->status < 300;
    bool is_look_up = send->step == STEP_FETCH_POD || send->step == STEP_LOOK_AT_POD;

    /* Of a write, the status says enough even when the rest of its answer was lost. */
    if (is_success && (call->complete || !is_look_up)) {
        if (is_look_up)
            end_look_up(send);
        else
            end_success(send);
    } else if (!call->complete || call->status >= 500 ||
               (call->status == 401 && send->n_unauthorized++ < N_UNAUTHORIZED)) {
        retry_later(send);
    } else if (call->status == 429) {
        throttle(send);
    } else if (call->status == 403) {
        forbid(send);
    } else if (call->status == 409) {
        end_conflict(send);
    } else if (call->status == 404 && send->item.write->kind == MAAR_WRITE_EVICT) {
        finish(send, 200, "");
    } else {
        finish_failed(send);
    }
}

static void on_answer(struct maar_kube_call *call)
{
    struct send *send = call->context;
    struct maar_writer *writer = send->writer;

    for (size_t i = 0; i < writer->out.n; i++) {
        if (writer->out.data[i] == send) {
            writer->out.data[i] = writer->out.data[--writer->out.n];
            break;
        }
    }
    if (call->complete)
        maar_backoff_reset(&writer->backoff);
    judge(send);
}

/* ---- time ---- */

/* A write that met a conflict goes on as soon as a newer object is known. */
static bool is_due(const struct send *send, int64_t at_ns)
{
    const struct maar_write *write = send->item.write;

    if (at_ns >= send->due_ns)
        return true;
    return send->conflicted && maar_known_text_version(keeper_of(send->writer, write), write->ns,
                                                       write->name) != send->put_version;
}

/* Moves delayed writes that are due back into their lanes; returns when the next one will be. */
static int64_t wake_delayed(struct maar_writer *writer, int64_t at_ns)
{
    int64_t next_ns = INT64_MAX;
    size_t n = 0;
    size_t n_due;

    /* The first to wait is the first in its lane again. */
    for (size_t i = 0; i < writer->delayed.n; i++) {
        struct send *send = writer->delayed.data[i];

        if (!is_due(send, at_ns) && send->due_ns < next_ns)
            next_ns = send->due_ns;
    }
    for (size_t i = writer->delayed.n; i > 0; i--) {
        struct send *send = writer->delayed.data[i - 1];

        if (!is_due(send, at_ns))
            continue;
        writer->delayed.data[i - 1] = NULL;
        send->conflicted = false;
        maar_lanes_again(writer->lanes, &send->item);
    }
    n_due = writer->delayed.n;
    for (size_t i = 0; i < n_due; i++) {
        if (writer->delayed.data[i])
            writer->delayed.data[n++] = writer->delayed.data[i];
    }
    writer->delayed.n = n;
    return next_ns;
}

/* The next write that may go. *ret_blocked: some wait until the server has said what we may do. */
static struct send *next_send(struct maar_writer *writer, bool *ret_blocked)
{
    for (int lane = 0; lane < MAAR_N_WRITE_KINDS; lane++) {
        enum maar_write_kind kind = (enum maar_write_kind)lane;
        struct maar_lane_item *item;

        if (maar_lanes_is_empty(writer->lanes, kind))
            continue;
        if (maar_rights_get(writer->rights, kind) == MAAR_RIGHT_UNKNOWN) {
            *ret_blocked = true;
            continue;
        }
        item = maar_lanes_take(writer->lanes, kind);
        if (item)
            return (struct send *)item;
    }
    return NULL;
}

int64_t maar_writer_tick(struct maar_writer *writer)
{
    int64_t at_ns = now_ns(writer);
    int64_t next_ns = wake_delayed(writer, at_ns);
    bool blocked = false;

    /* What renews the right to write calls again. */
    if (at_ns >= may_send_until_ns(writer))
        return INT64_MAX;
    if (at_ns < writer->paused_until_ns)
        return writer->paused_until_ns;
    while (writer->n_open && writer->out.n < writer->options.max_in_flight) {
        int64_t ready_ns = maar_bucket_ready_ns(&writer->bucket, at_ns);
        struct send *send;

        if (ready_ns > at_ns)
            return ready_ns < next_ns ? ready_ns : next_ns;
        send = next_send(writer, &blocked);
        if (!send)
            break;
        (void)maar_bucket_take(&writer->bucket, at_ns);
        start(send);
    }
    if (blocked && at_ns + BLOCKED_PAUSE_NS < next_ns)
        return at_ns + BLOCKED_PAUSE_NS;
    return next_ns;
}
