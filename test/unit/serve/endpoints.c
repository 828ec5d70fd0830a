/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* maar-scheduler's HTTP over a socket, beside an engine that has played a scenario to its end. */

#include "serve/endpoints.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/conf_json.h"
#include "sim/simulation.h"

#define SCENARIO    MAAR_TEST_SOURCE_DIR "/test/explain/queue-share.yaml"
#define STALL_NS    (60 * MAAR_SECOND_NS)
#define EVERYTHING  (MAAR_ENDPOINT_METRICS | MAAR_ENDPOINT_HEALTH | MAAR_ENDPOINT_EXPLAIN)
#define ANY_ADDRESS "127.0.0.1:0"

static struct maar_registry *registry;
static struct maar_scenario *scenario;
static struct maar_simulation *simulation;
static struct maar_asks *asks;
static struct maar_endpoints *endpoints;
static struct maar_web *web;
static json_t *flags;
static _Atomic int64_t now_ns;
static atomic_uint n_woken;

static int64_t get_now_ns(void)
{
    return now_ns;
}

static void wake(void *context)
{
    (void)context;
    n_woken++;
}

static void render(void *context, struct maar_text *out)
{
    maar_text_add(out, context);
}

static int play(void **state)
{
    const char *path = SCENARIO;
    struct maar_simulation_options options = {0};
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    registry = maar_registry_create();
    options.registry = registry;
    if (maar_registry_load_builtin(registry, &err) < 0 ||
        maar_scenario_read(&path, 1, &scenario, &err) < 0 ||
        maar_simulation_create(scenario, &options, &simulation, &err) < 0 ||
        maar_simulation_run(simulation, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    maar_simulation_destroy(simulation);
    maar_scenario_destroy(scenario);
    maar_registry_destroy(registry);
    return 0;
}

static void serve(unsigned which, int64_t ask_timeout_ns)
{
    struct maar_error err = MAAR_ERROR_INIT;
    const char *text = "up 1\n";

    flags = json_pack("{s:s}", "schedule-period", "1s");
    asks = maar_asks_create(wake, NULL);
    const struct maar_endpoints_options options = {
        .render_metrics = render,
        .metrics_context = (void *)(uintptr_t)text,
        .asks = asks,
        .flags = flags,
        .stall_ns = STALL_NS,
        .ask_timeout_ns = ask_timeout_ns,
        .now_ns = get_now_ns,
    };
    endpoints = maar_endpoints_create(&options);
    if (maar_endpoints_serve(endpoints, which, ANY_ADDRESS, NULL, NULL, &web, &err) < 0)
        fail_msg("%s", err.text);
}

static int stop(void **state)
{
    (void)state;
    if (asks)
        maar_asks_close(asks);
    maar_web_stop(web);
    maar_endpoints_destroy(endpoints);
    maar_asks_destroy(asks);
    json_decref(flags);
    web = NULL;
    endpoints = NULL;
    asks = NULL;
    flags = NULL;
    return 0;
}

/* ---- a client in a thread of its own ---- */

struct call {
    const char *method;
    const char *path;
    struct maar_text text;
    atomic_bool done;
};

static void *run_call(void *context)
{
    struct call *call = context;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)maar_web_port(web)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    char buffer[4096];
    ssize_t n;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int length =
        snprintf(buffer, sizeof buffer, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                 call->method, call->path);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        write(fd, buffer, (size_t)length) == length)
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            maar_text_add_n(&call->text, buffer, (size_t)n);
    close(fd);
    call->done = true;
    return NULL;
}

/* The status; the answer's body is left in *ret_body, the caller's to free. The engine comes round meanwhile, unless
 * it is `busy`. */
static int request(const char *method, const char *path, bool busy, char **ret_body)
{
    struct call call = {.method = method, .path = path};
    pthread_t thread;
    const char *body;
    int status;

    assert_int_equal(pthread_create(&thread, NULL, run_call, &call), 0);
    while (!call.done) {
        if (!busy)
            maar_asks_answer(asks, maar_simulation_engine(simulation));
        usleep(500);
    }
    pthread_join(thread, NULL);
    assert_true(call.text.n > 12);
    status = atoi(call.text.data + 9);
    body = strstr(call.text.data, "\r\n\r\n");
    assert_non_null(body);
    *ret_body = maar_strdup(body + 4);
    maar_text_fini(&call.text);
    return status;
}

static void assert_answer(const char *path, int status, const char *want)
{
    char *body = NULL;

    assert_int_equal(request("GET", path, false, &body), status);
    assert_string_equal(body, want);
    free(body);
}

/* ---- tests ---- */

static void each_path_has_its_answer(void **state)
{
    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    assert_answer("/metrics", 200, "up 1\n");
    assert_answer("/healthz", 200, "ok");
    assert_answer("/healthz?verbose", 200, "ok");
    assert_answer("/healthz/ping", 200, "ok");
    assert_answer("/", 404, "not found; here are: /metrics /healthz /readyz /explain /configz\n");
    assert_answer("/metricsx", 404,
                  "not found; here are: /metrics /healthz /readyz /explain /configz\n");
}

static void a_server_answers_its_part_only(void **state)
{
    (void)state;
    serve(MAAR_ENDPOINT_METRICS, MAAR_SECOND_NS);
    assert_answer("/metrics", 200, "up 1\n");
    assert_answer("/healthz", 404, "not found; here are: /metrics\n");
    assert_answer("/explain?queue=a", 404, "not found; here are: /metrics\n");
    assert_answer("/configz", 404, "not found; here are: /metrics\n");
}

static void only_reading_is_allowed(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS"};
    char *body = NULL;

    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        assert_int_equal(request(methods[i], "/healthz", false, &body), 405);
        assert_string_equal(body, "only GET and HEAD\n");
        free(body);
    }
    assert_int_equal(request("HEAD", "/metrics", false, &body), 200);
    assert_string_equal(body, "");
    free(body);
}

static void a_stalled_engine_is_not_healthy(void **state)
{
    (void)state;
    now_ns = 5 * MAAR_SECOND_NS;
    serve(EVERYTHING, MAAR_SECOND_NS);
    now_ns += STALL_NS;
    assert_answer("/healthz", 200, "ok");
    now_ns += MAAR_SECOND_NS;
    assert_answer("/healthz", 500,
                  "the engine has not come round for 61 s, more than 60 s are not healthy\n");
    maar_endpoints_came_round(endpoints, false);
    assert_answer("/healthz", 200, "ok");
}

static void readiness_waits_for_the_lists(void **state)
{
    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    assert_answer("/readyz", 503, "not every list of the cluster's objects is in yet\n");
    maar_endpoints_came_round(endpoints, true);
    assert_answer("/readyz", 200, "ok");
}

static void explain_gives_json(void **state)
{
    static const struct {
        const char *path;
        const char *kind;
    } rows[] = {
        {"/explain?podgroup=default/train", "PodGroup"},
        {"/explain?podgroup=default%2Ftrain", "PodGroup"},
        {"/explain?pod=default/train-0", "Pod"},
        {"/explain?queue=a", "Queue"},
    };

    (void)state;
    serve(EVERYTHING, 10 * MAAR_SECOND_NS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *body = NULL;
        json_t *document;

        n_woken = 0;
        assert_int_equal(request("GET", rows[i].path, false, &body), 200);
        assert_int_equal(n_woken, 1);
        document = json_loads(body, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(document, "kind")), rows[i].kind);
        json_decref(document);
        free(body);
    }
}

static void a_wrong_question_is_told(void **state)
{
    static const char one_of[] = "expected one of ?podgroup=NS/NAME, ?pod=NS/NAME, ?queue=NAME\n";
    struct maar_text path = MAAR_TEXT_INIT;

    (void)state;
    serve(EVERYTHING, 10 * MAAR_SECOND_NS);
    assert_answer("/explain", 400, one_of);
    assert_answer("/explain?node=n1", 400, one_of);
    assert_answer("/explain?queue=a&pod=default/train-0", 400, one_of);
    assert_answer("/explain?queue=", 400, "queue: expected NAME\n");
    assert_answer("/explain?queue", 400, one_of);
    assert_answer("/explain?queue=a/b", 400, "queue: expected NAME\n");
    assert_answer("/explain?pod=train-0", 400, "pod: expected NAMESPACE/NAME\n");
    assert_answer("/explain?pod=/train-0", 400, "pod: expected NAMESPACE/NAME\n");
    assert_answer("/explain?pod=default/", 400, "pod: expected NAMESPACE/NAME\n");
    assert_answer("/explain?pod=a/b/c", 400, "pod: expected NAMESPACE/NAME\n");
    assert_answer("/explain?pod=default/nobody", 404, "there is no pod/default/nobody\n");
    maar_text_add(&path, "/explain?queue=");
    for (int i = 0; i < 600; i++)
        maar_text_add_char(&path, 'a');
    assert_answer(maar_text_get(&path), 400, "queue: expected NAME\n");
    maar_text_fini(&path);
}

static void a_busy_engine_is_not_waited_for_long(void **state)
{
    char *body = NULL;

    (void)state;
    serve(EVERYTHING, 20 * MAAR_MILLISECOND_NS);
    assert_int_equal(request("GET", "/explain?queue=a", true, &body), 503);
    assert_string_equal(body, "the engine is busy; ask again later\n");
    free(body);
    /* What nobody waits for any more is not answered. */
    maar_asks_answer(asks, NULL);
}

static void who_stops_sends_everybody_away(void **state)
{
    (void)state;
    serve(EVERYTHING, 60 * MAAR_SECOND_NS);
    maar_asks_close(asks);
    assert_answer("/explain?queue=a", 503, "the scheduler is stopping\n");
}

static void configz_tells_what_is_in_force(void **state)
{
    char *body = NULL;
    json_t *document;
    const char *period = NULL, *first = NULL;

    (void)state;
    serve(EVERYTHING, 10 * MAAR_SECOND_NS);
    assert_int_equal(request("GET", "/configz", false, &body), 200);
    document = json_loads(body, 0, NULL);
    assert_int_equal(json_unpack(document, "{s:{s:s}, s:{s:[s]}}", "flags", "schedule-period",
                                 &period, "schedulerConf", "actions", &first),
                     0);
    assert_string_equal(period, "1s");
    assert_string_equal(first, "enqueue");
    json_decref(document);
    free(body);
}

static void secrets_of_a_configuration_stay_hidden(void **state)
{
    static const char text[] = "actions: \"allocate\"\n"
                               "tiers:\n"
                               "- plugins:\n"
                               "  - name: gang\n"
                               "    enabledJobOrder: false\n"
                               "    arguments:\n"
                               "      a: 1\n"
                               "      b: [x, 2.5, true]\n"
                               "      apiToken: hush\n"
                               "metrics:\n"
                               "  type: elasticsearch\n"
                               "  elasticsearch.password: hush\n";
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    json_t *document, *plugin, *want;
    char *dump;

    (void)state;
    if (maar_conf_parse(text, sizeof text - 1, "x", NULL, &conf, &err) < 0)
        fail_msg("%s", err.text);
    document = maar_conf_json(conf);
    dump = json_dumps(document, 0);
    assert_null(strstr(dump, "hush"));
    plugin = json_array_get(
        json_object_get(json_array_get(json_object_get(document, "tiers"), 0), "plugins"), 0);
    want = json_pack("{s:i, s:[s,f,b], s:s}", "a", 1, "b", "x", 2.5, 1, "apiToken", "…");
    assert_true(json_equal(json_object_get(plugin, "arguments"), want));
    assert_true(json_is_true(json_object_get(plugin, "enableJobReady")));
    json_decref(want);
    json_decref(document);
    free(dump);
    maar_conf_destroy(conf);
}

static void a_wrong_address_is_told(void **state)
{
    static const struct {
        const char *address;
        const char *want;
    } rows[] = {
        {"", "expected HOST:PORT or :PORT, not \"\""},
        {"8080", "expected HOST:PORT or :PORT, not \"8080\""},
        {"127.0.0.1", "expected HOST:PORT or :PORT, not \"127.0.0.1\""},
        {"127.0.0.1:", "expected HOST:PORT or :PORT, not \"127.0.0.1:\""},
        {":65536", "expected HOST:PORT or :PORT, not \":65536\""},
        {":http", "expected HOST:PORT or :PORT, not \":http\""},
        {"::1:80", "expected [ADDRESS]:PORT for IPv6, not \"::1:80\""},
    };

    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_web *other = NULL;
        struct maar_error err = MAAR_ERROR_INIT;

        assert_int_equal(
            maar_endpoints_serve(endpoints, EVERYTHING, rows[i].address, NULL, NULL, &other, &err),
            -EINVAL);
        assert_string_equal(err.text, rows[i].want);
        assert_null(other);
    }
}

static void a_port_that_is_taken_is_told(void **state)
{
    maar_autofree char *address = NULL;
    maar_autofree char *want = NULL;
    struct maar_web *other = NULL;
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    address = maar_asprintf("127.0.0.1:%u", maar_web_port(web));
    want = maar_asprintf("cannot listen on %s: Address already in use", address);
    assert_int_equal(maar_endpoints_serve(endpoints, EVERYTHING, address, NULL, NULL, &other, &err),
                     -EADDRINUSE);
    assert_string_equal(err.text, want);
}

static void every_address_takes_ipv4_too(void **state)
{
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    serve(EVERYTHING, MAAR_SECOND_NS);
    maar_web_stop(web);
    if (maar_endpoints_serve(endpoints, EVERYTHING, ":0", NULL, NULL, &web, &err) < 0)
        fail_msg("%s", err.text);
    assert_answer("/metrics", 200, "up 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_path_has_its_answer, stop),
        cmocka_unit_test_teardown(a_server_answers_its_part_only, stop),
        cmocka_unit_test_teardown(only_reading_is_allowed, stop),
        cmocka_unit_test_teardown(a_stalled_engine_is_not_healthy, stop),
        cmocka_unit_test_teardown(readiness_waits_for_the_lists, stop),
        cmocka_unit_test_teardown(explain_gives_json, stop),
        cmocka_unit_test_teardown(a_wrong_question_is_told, stop),
        cmocka_unit_test_teardown(a_busy_engine_is_not_waited_for_long, stop),
        cmocka_unit_test_teardown(who_stops_sends_everybody_away, stop),
        cmocka_unit_test_teardown(configz_tells_what_is_in_force, stop),
        cmocka_unit_test(secrets_of_a_configuration_stay_hidden),
        cmocka_unit_test_teardown(a_wrong_address_is_told, stop),
        cmocka_unit_test_teardown(a_port_that_is_taken_is_told, stop),
        cmocka_unit_test_teardown(every_address_takes_ipv4_too, stop),
    };
    return cmocka_run_group_tests(tests, play, forget);
}
