/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The whole client, threads and sockets, against a small server in this process. */

#include "kube/client.h"

#include <microhttpd.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "kube/http.h"

#define PATIENCE_NS (30 * MAAR_SECOND_NS)

/* ---- the server ---- */

static struct server {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct maar_text pod_events; /* what the watch of pods has to say */
    bool ending;                 /* watches end */
    bool hangs;                  /* writes get no answer until the end */
    unsigned n_binds;
    unsigned n_events_posted;
    unsigned n_dropped; /* answers to binds still to be thrown away */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct watch {
    bool is_pods;
    size_t at;
};

/* At first never more than a few bytes at once, so that every event is cut. */
static ssize_t read_watch(void *context, uint64_t position, char *buffer, size_t size)
{
    struct watch *watch = context;
    size_t n = 0;

    (void)position;
    pthread_mutex_lock(&server.lock);
    while (!server.ending && !(watch->is_pods && server.pod_events.n > watch->at))
        pthread_cond_wait(&server.changed, &server.lock);
    if (watch->is_pods && server.pod_events.n > watch->at) {
        n = server.pod_events.n - watch->at;
        n = watch->at < 1000 && n > 7 ? 7 : n;
        n = n > size ? size : n;
        memcpy(buffer, server.pod_events.data + watch->at, n);
        watch->at += n;
    }
    pthread_mutex_unlock(&server.lock);
    return n ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response)
{
    enum MHD_Result result;

    MHD_add_response_header(response, "Content-Type", "application/json");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
    return answer(connection, status,
                  MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                  MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result get(struct MHD_Connection *connection, const char *path)
{
    struct watch *watch;

    if (strstr(path, "/namespaces/"))
        return answer_text(
            connection, 200,
            "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"nodeName\":\"n1\"}}");
    if (!MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "watch"))
        return answer_text(connection, 200,
                           "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
    watch = maar_calloc(1, sizeof *watch);
    watch->is_pods = strcmp(path, "/api/v1/pods") == 0;
    return answer(
        connection, 200,
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1000, read_watch, watch, free));
}

static enum MHD_Result post(struct MHD_Connection *connection, const char *path)
{
    bool drops = false;
    bool is_bind = strstr(path, "/binding") != NULL;

    pthread_mutex_lock(&server.lock);
    while (server.hangs && !server.ending)
        pthread_cond_wait(&server.changed, &server.lock);
    if (is_bind) {
        server.n_binds++;
        drops = server.n_dropped > 0;
        if (drops)
            server.n_dropped--;
    } else {
        server.n_events_posted++;
    }
    pthread_mutex_unlock(&server.lock);
    /* The connection ends without an answer; the bind has taken place. */
    if (drops)
        return MHD_NO;
    if (is_bind && strstr(path, "/again"))
        return answer_text(connection, 409, "{\"message\":\"already assigned\"}");
    return answer_text(connection, 201, "{}");
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *path,
                             const char *method, const char *version, const char *data,
                             size_t *n_data, void **state)
{
    static char begun;

    (void)context;
    (void)version;
    (void)data;
    if (strcmp(method, "GET") == 0)
        return get(connection, path);
    if (!*state) {
        *state = &begun;
        return MHD_YES;
    }
    if (*n_data) {
        *n_data = 0;
        return MHD_YES;
    }
    return post(connection, path);
}

static void say(const char *event)
{
    pthread_mutex_lock(&server.lock);
    maar_text_add(&server.pod_events, event);
    pthread_cond_broadcast(&server.changed);
    pthread_mutex_unlock(&server.lock);
}

static void end_server(void)
{
    pthread_mutex_lock(&server.lock);
    server.ending = true;
    pthread_cond_broadcast(&server.changed);
    pthread_mutex_unlock(&server.lock);
    MHD_stop_daemon(server.daemon);
}

/* ---- the client ---- */

struct fixture {
    struct maar_kube_config config;
    struct maar_backend backend;
    struct maar_deltas deltas; /* everything so far */
};

static int set_up(void **state)
{
    struct fixture *fixture = maar_calloc(1, sizeof *fixture);
    struct maar_kube_options options = {.config = &fixture->config, .max_in_flight = 16};
    const union MHD_DaemonInfo *info;
    struct maar_error err = MAAR_ERROR_INIT;

    server.ending = server.hangs = false;
    server.n_binds = server.n_dropped = server.n_events_posted = 0;
    maar_text_clear(&server.pod_events);
    server.daemon =
        MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL,
                         NULL, serve, NULL, MHD_OPTION_END);
    if (!server.daemon)
        return -1;
    info = MHD_get_daemon_info(server.daemon, MHD_DAEMON_INFO_BIND_PORT);
    fixture->config.server = maar_asprintf("http://127.0.0.1:%u", info->port);
    if (maar_kube_backend_create(&options, &fixture->backend, &err) < 0)
        return -1;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct maar_delta *delta;

    maar_kube_backend_destroy(&fixture->backend);
    end_server();
    MAAR_VEC_EACH (&fixture->deltas, delta)
        maar_delta_fini(delta);
    maar_vec_fini(&fixture->deltas);
    maar_text_fini(&server.pod_events);
    free(fixture->config.server);
    free(fixture);
    return 0;
}

static void start(struct fixture *fixture)
{
    struct maar_error err = MAAR_ERROR_INIT;

    if (fixture->backend.ops->start(fixture->backend.self, &err) < 0)
        fail_msg("%s", err.text);
}

static size_t count(const struct fixture *fixture, enum maar_delta_type type)
{
    const struct maar_delta *delta;
    size_t n = 0;

    MAAR_VEC_EACH (&fixture->deltas, delta)
        n += delta->type == type;
    return n;
}

/* Takes deltas until there are n of the type. */
static void await(struct fixture *fixture, enum maar_delta_type type, size_t n)
{
    int64_t deadline_ns = maar_clock_mono_ns() + PATIENCE_NS;

    while (count(fixture, type) < n) {
        assert_true(maar_clock_mono_ns() < deadline_ns);
        fixture->backend.ops->next_deltas(fixture->backend.self, MAAR_SECOND_NS, &fixture->deltas);
    }
}

static void submit_bind(struct fixture *fixture, const char *name)
{
    struct maar_write *write = maar_write_create(MAAR_WRITE_BIND, "ns", name, "u");

    write->bind.node = maar_arena_strdup(write->arena, "n1");
    fixture->backend.ops->submit(fixture->backend.self, write);
}

static const char pod_event[] =
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
    "\"%s\",\"namespace\":\"ns\","
    "\"uid\":\"u\",\"resourceVersion\":\"%d\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]},"
    "\"status\":{\"phase\":\"Pending\"}}}\n";

static void say_pod(const char *name, int version)
{
    char event[512];

    snprintf(event, sizeof event, pod_event, name, version);
    say(event);
}

static void lists_then_events_arrive(void **state)
{
    struct fixture *fixture = *state;

    start(fixture);
    await(fixture, MAAR_DELTA_SYNCED, MAAR_N_KINDS);
    assert_int_equal(maar_kube_delivered(&fixture->backend, MAAR_KIND_POD), 7);
    say_pod("a", 8);
    say_pod("b", 9);
    await(fixture, MAAR_DELTA_UPSERT, 2);
    assert_string_equal(fixture->deltas.data[fixture->deltas.n - 1].record->name, "b");
    assert_int_equal(maar_kube_delivered(&fixture->backend, MAAR_KIND_POD), 9);
    assert_int_equal(maar_kube_counters(&fixture->backend).reflectors[MAAR_KIND_POD].n_lists, 1);
}

static void every_write_comes_back_once(void **state)
{
    struct fixture *fixture = *state;
    const struct maar_delta *delta;
    char name[16];

    start(fixture);
    await(fixture, MAAR_DELTA_SYNCED, MAAR_N_KINDS);
    /* A bind of a pod or to a node that nobody knows is not sent: tell of both. */
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "p%d", i);
        say_pod(name, 10 + i);
    }
    await(fixture, MAAR_DELTA_UPSERT, 200);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "p%d", i);
        submit_bind(fixture, name);
    }
    await(fixture, MAAR_DELTA_DONE, 200);
    assert_int_equal(fixture->backend.ops->n_in_flight(fixture->backend.self), 0);
    MAAR_VEC_EACH (&fixture->deltas, delta) {
        if (delta->type == MAAR_DELTA_DONE)
            assert_int_equal(delta->code, 404); /* node n1 is not there */
    }
    assert_int_equal(server.n_binds, 0);
}

/* A client that follows no nodes sends every bind. */
static void make_bare(struct fixture *fixture)
{
    struct maar_kube_options options = {
        .config = &fixture->config, .max_in_flight = 16, .kinds = 1u << MAAR_KIND_QUEUE};

    maar_kube_backend_destroy(&fixture->backend);
    assert_int_equal(maar_kube_backend_create(&options, &fixture->backend, NULL), 0);
    start(fixture);
}

static void binds_are_answered(void **state)
{
    struct fixture *fixture = *state;
    const struct maar_delta *delta;
    char name[16];

    make_bare(fixture);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "p%d", i);
        submit_bind(fixture, name);
    }
    await(fixture, MAAR_DELTA_DONE, 300);
    MAAR_VEC_EACH (&fixture->deltas, delta) {
        if (delta->type == MAAR_DELTA_DONE)
            assert_int_equal(delta->code, 201);
    }
    assert_int_equal(server.n_binds, 300);
    assert_int_equal(maar_kube_counters(&fixture->backend).writer.n_requests[MAAR_WRITE_BIND], 300);
}

static void a_bind_whose_connection_broke_is_not_reported_as_failed(void **state)
{
    struct fixture *fixture = *state;
    const struct maar_delta *delta;

    server.n_dropped = 1;
    make_bare(fixture);
    submit_bind(fixture, "again");
    await(fixture, MAAR_DELTA_DONE, 1);
    delta = &fixture->deltas.data[fixture->deltas.n - 1];
    assert_int_equal(delta->code, 201);
    assert_true(server.n_binds >= 2);
}

static void stopping_ends_calls_in_flight(void **state)
{
    struct fixture *fixture = *state;

    server.hangs = true;
    make_bare(fixture);
    for (int i = 0; i < 40; i++)
        submit_bind(fixture, "p");
    await(fixture, MAAR_DELTA_SYNCED, 1);
    fixture->backend.ops->stop(fixture->backend.self);
    fixture->backend.ops->stop(fixture->backend.self);
    assert_int_equal(fixture->backend.ops->n_in_flight(fixture->backend.self), 40);
}

static void *wake_it(void *context)
{
    maar_kube_wake(context);
    return NULL;
}

static void a_wake_ends_the_wait(void **state)
{
    struct fixture *fixture = *state;
    pthread_t thread;
    int64_t start_ns = maar_clock_mono_ns();

    assert_int_equal(pthread_create(&thread, NULL, wake_it, &fixture->backend), 0);
    fixture->backend.ops->next_deltas(fixture->backend.self, PATIENCE_NS, &fixture->deltas);
    pthread_join(thread, NULL);
    assert_true(maar_clock_mono_ns() - start_ns < PATIENCE_NS);
    assert_int_equal(fixture->deltas.n, 0);
}

static void a_server_that_is_not_there_is_waited_for(void **state)
{
    struct fixture *fixture = *state;

    free(fixture->config.server);
    fixture->config.server = maar_strdup("http://127.0.0.1:1");
    make_bare(fixture);
    fixture->backend.ops->next_deltas(fixture->backend.self, 50 * MAAR_MILLISECOND_NS,
                                      &fixture->deltas);
    assert_int_equal(fixture->deltas.n, 0);
}

/* ---- election ---- */

static void end_call(struct maar_kube_call *call)
{
    *(bool *)call->context = true;
}

static void a_request_that_is_too_late_is_not_sent(void **state)
{
    struct fixture *fixture = *state;
    struct maar_http *http = NULL;
    bool ended = false;
    struct maar_kube_call call = {
        .method = "POST",
        .path = "/api/v1/namespaces/ns/pods/p/binding",
        .content_type = "application/json",
        .body = "{}",
        .limit_bytes = 1000,
        .send_before_ns = maar_clock_mono_ns(),
        .on_done = end_call,
        .context = &ended,
    };

    assert_int_equal(maar_http_create(&fixture->config, "test", &http, NULL), 0);
    maar_http_transport(http).start(http, &call);
    while (!ended)
        maar_http_run(http, MAAR_SECOND_NS);
    assert_false(call.complete);
    assert_false(call.reached);
    assert_string_equal(maar_error_text(&call.error), "it could not be sent in time");
    assert_int_equal(server.n_binds, 0);
    call.send_before_ns = maar_clock_mono_ns() + PATIENCE_NS;
    ended = false;
    maar_http_transport(http).start(http, &call);
    while (!ended)
        maar_http_run(http, MAAR_SECOND_NS);
    assert_int_equal(call.status, 201);
    assert_int_equal(server.n_binds, 1);
    maar_text_fini(&call.answer);
    maar_http_destroy(http);
}

/* The server's Lease is none, so that nobody can lead. */
static void a_follower_sends_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct maar_election_options election = {
        .ns = "ns",
        .name = "volcano",
        .identity = "me",
        .component = "volcano",
        .lease_duration_ns = 15 * MAAR_SECOND_NS,
        .renew_deadline_ns = 10 * MAAR_SECOND_NS,
        .retry_period_ns = 2 * MAAR_SECOND_NS,
    };
    struct maar_kube_options options = {
        .config = &fixture->config, .kinds = 1u << MAAR_KIND_QUEUE, .election = &election};
    const struct maar_delta *delta;

    maar_kube_backend_destroy(&fixture->backend);
    assert_int_equal(maar_kube_backend_create(&options, &fixture->backend, NULL), 0);
    start(fixture);
    submit_bind(fixture, "p");
    await(fixture, MAAR_DELTA_SYNCED, 1);
    assert_int_equal(maar_kube_leadership(&fixture->backend), MAAR_FOLLOWS);
    maar_kube_resign(&fixture->backend, PATIENCE_NS);
    assert_int_equal(maar_kube_leadership(&fixture->backend), MAAR_RESIGNED);
    await(fixture, MAAR_DELTA_DONE, 1);
    delta = &fixture->deltas.data[fixture->deltas.n - 1];
    assert_int_equal(delta->code, 0);
    assert_non_null(strstr(delta->message, "withdrawn"));
    assert_int_equal(server.n_binds + server.n_events_posted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(lists_then_events_arrive),
        TEST(every_write_comes_back_once),
        TEST(binds_are_answered),
        TEST(a_bind_whose_connection_broke_is_not_reported_as_failed),
        TEST(stopping_ends_calls_in_flight),
        TEST(a_wake_ends_the_wait),
        TEST(a_server_that_is_not_there_is_waited_for),
        TEST(a_request_that_is_too_late_is_not_sent),
        TEST(a_follower_sends_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
