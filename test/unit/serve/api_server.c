/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The embedded API over a socket: lists in pages, watches that resume and expire, the token, selectors. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "serve/api_selector.h"
#include "serve/api_server.h"
#include "sim/document.h"
#include "wire/wire.h"

#define TOKEN "secret"

static struct maar_cluster *cluster;
static struct maar_api_server *server;

static int set_up(void **state)
{
    const struct maar_cluster_options options = {.has_kubelets = false};
    struct maar_error err = MAAR_ERROR_INIT;
    (void)state;
    cluster = maar_cluster_create(&options);
    const struct maar_api_server_options server_options = {cluster, 0, TOKEN, false};
    if (maar_api_server_start(&server_options, &server, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    maar_api_server_stop(server);
    maar_cluster_destroy(cluster);
    return 0;
}

static int open_request(const char *method, const char *path, const char *headers, const char *body)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)maar_api_server_port(server)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_addf(
        &text, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n%s",
        method, path, headers, strlen(body), body);
    assert_int_equal(write(fd, text.data, text.n), (ssize_t)text.n);
    maar_text_fini(&text);
    return fd;
}

/* Reads until the end, or until `mark` has come. */
static void read_until(int fd, const char *mark, struct maar_text *out)
{
    char buffer[4096];
    ssize_t n;
    while (!(mark && strstr(maar_text_get(out), mark)) && (n = read(fd, buffer, sizeof buffer)) > 0)
        maar_text_add_n(out, buffer, (size_t)n);
}

#define AUTH "Authorization: Bearer " TOKEN "\r\n"

static int request(const char *method, const char *path, const char *headers, const char *body,
                   struct maar_text *out)
{
    maar_text_clear(out);
    int fd = open_request(method, path, headers, body);
    read_until(fd, NULL, out);
    close(fd);
    assert_true(out->n > 12);
    return atoi(out->data + 9);
}

static json_t *get(const char *path)
{
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", path, AUTH, "", &text), 200);
    char *body = strstr(text.data, "\r\n\r\n");
    json_t *value = json_loads(body + 4, 0, NULL);
    assert_non_null(value);
    maar_text_fini(&text);
    return value;
}

static void make_pods(unsigned n)
{
    struct maar_text text = MAAR_TEXT_INIT;
    for (unsigned i = 0; i < n; i++) {
        char body[300];
        snprintf(
            body, sizeof body,
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%u\",\"labels\":"
            "{\"half\":\"%u\"}},\"spec\":{\"containers\":[{\"name\":\"m\"}]}}",
            i, i % 2);
        assert_int_equal(request("POST", "/api/v1/namespaces/default/pods", AUTH, body, &text),
                         201);
    }
    maar_text_fini(&text);
}

static void a_request_needs_the_token(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", "/api", "", "", &text), 401);
    assert_int_equal(request("GET", "/api", "Authorization: Bearer other\r\n", "", &text), 401);
    assert_int_equal(request("GET", "/api", AUTH, "", &text), 200);
    maar_text_fini(&text);
}

static void discovery_names_the_resources(void **state)
{
    (void)state;
    static const char *const paths[] = {"/api",
                                        "/apis",
                                        "/version",
                                        "/api/v1",
                                        "/apis/scheduling.volcano.sh",
                                        "/apis/scheduling.volcano.sh/v1beta1",
                                        "/openapi/v3",
                                        "/openapi/v3/api/v1"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        json_decref(get(paths[i]));
    json_t *list = get("/apis/scheduling.volcano.sh/v1beta1");
    assert_int_equal(json_array_size(json_object_get(list, "resources")), 3);
    json_decref(list);
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", "/apis/none/v1", AUTH, "", &text), 404);
    assert_int_equal(request("GET", "/api/v1/none", AUTH, "", &text), 404);
    assert_int_equal(request("GET", "/api/v1/namespaces/default/pods/none", AUTH, "", &text), 404);
    maar_text_fini(&text);
}

static void workloads_have_a_scale_and_columns(void **state)
{
    (void)state;
    static const char body[] =
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":4,\"selector\":{"
        "\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},"
        "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}";
    static const char path[] = "/apis/apps/v1/namespaces/default/deployments";
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", "/apis/apps/v1", AUTH, "", &text), 200);
    assert_non_null(strstr(text.data, "\"deployments/scale\""));
    assert_non_null(strstr(text.data, "\"autoscaling\""));
    assert_int_equal(request("POST", path, AUTH, body, &text), 201);
    assert_int_equal(
        request("GET", "/apis/apps/v1/namespaces/default/deployments/web/scale", AUTH, "", &text),
        200);
    assert_non_null(strstr(text.data, "\"kind\":\"Scale\""));
    assert_non_null(strstr(text.data, "\"selector\":\"a=b\""));
    assert_int_equal(request("GET", "/api/v1/namespaces/default/pods/p/scale", AUTH, "", &text),
                     404);
    assert_int_equal(request("GET", path,
                             AUTH "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", "",
                             &text),
                     200);
    assert_non_null(strstr(text.data, "\"Up-to-date\""));
    assert_non_null(strstr(text.data, "\"0/4\""));
    maar_text_fini(&text);
}

static void a_list_comes_in_pages(void **state)
{
    (void)state;
    make_pods(5);
    char path[300] = "/api/v1/pods?limit=2";
    size_t n = 0, n_pages = 0;
    char version[32] = "";
    for (;;) {
        json_t *page = get(path);
        n += json_array_size(json_object_get(page, "items"));
        n_pages++;
        if (n_pages == 1)
            snprintf(version, sizeof version, "%s",
                     maar_document_text(page, "metadata.resourceVersion"));
        assert_string_equal(maar_document_text(page, "metadata.resourceVersion"), version);
        const char *token = maar_document_text(page, "metadata.continue");
        size_t used = (size_t)snprintf(path, sizeof path, "/api/v1/pods?limit=2&continue=");
        for (; *token; token++)
            used +=
                (size_t)snprintf(path + used, sizeof path - used, "%%%02x", (unsigned char)*token);
        bool last = !*maar_document_text(page, "metadata.continue");
        json_decref(page);
        if (last)
            break;
    }
    assert_int_equal(n, 5);
    assert_int_equal(n_pages, 3);
    json_t *half = get("/api/v1/pods?labelSelector=half%3D1");
    assert_int_equal(json_array_size(json_object_get(half, "items")), 2);
    json_decref(half);
    half = get("/api/v1/pods?fieldSelector=metadata.name%3Dp3");
    assert_int_equal(json_array_size(json_object_get(half, "items")), 1);
    json_decref(half);
}

static void a_watch_shows_what_comes_after_its_version(void **state)
{
    (void)state;
    make_pods(2);
    struct maar_text text = MAAR_TEXT_INIT;
    int fd = open_request("GET", "/api/v1/pods?watch=1&resourceVersion=1", AUTH, "");
    read_until(fd, "\"p1\"", &text);
    assert_null(strstr(text.data, "\"p0\""));
    struct maar_text other = MAAR_TEXT_INIT;
    assert_int_equal(request("DELETE", "/api/v1/namespaces/default/pods/p0", AUTH, "", &other),
                     200);
    read_until(fd, "DELETED", &text);
    assert_non_null(strstr(text.data, "\"p0\""));
    close(fd);
    maar_text_fini(&text);
    maar_text_fini(&other);
}

static void a_version_that_is_too_old_is_gone(void **state)
{
    (void)state;
    maar_store_lock(maar_cluster_store(cluster));
    maar_store_set_log_limit(maar_cluster_store(cluster), 2);
    maar_store_unlock(maar_cluster_store(cluster));
    make_pods(12);
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", "/api/v1/pods?watch=1&resourceVersion=1", AUTH, "", &text),
                     200);
    assert_non_null(strstr(text.data, "\"ERROR\""));
    assert_non_null(strstr(text.data, "410"));
    maar_text_fini(&text);
}

static int count_item(void *context, struct maar_record *record, struct maar_error *err)
{
    size_t *n = context;
    (void)err;
    ++*n;
    maar_record_destroy(record);
    return 0;
}

static void pods_come_as_protobuf_when_asked_for(void **state)
{
    (void)state;
    make_pods(3);
    struct maar_text text = MAAR_TEXT_INIT, version = MAAR_TEXT_INIT, token = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    size_t n = 0;
    assert_int_equal(
        request("GET", "/api/v1/pods?limit=2",
                AUTH "Accept: application/vnd.kubernetes.protobuf,application/json\r\n", "", &text),
        200);
    const char *body = strstr(text.data, "\r\n\r\n") + 4;
    size_t n_body = text.n - (size_t)(body - text.data);
    if (maar_wire_decode_protobuf_list(MAAR_KIND_POD, body, n_body, NULL, count_item, &n, &version,
                                       &token, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(n, 2);
    assert_string_equal(maar_text_get(&version), "3");
    assert_true(token.n > 0);
    maar_text_fini(&text);
    maar_text_fini(&version);
    maar_text_fini(&token);
}

static void kubectl_gets_tables(void **state)
{
    (void)state;
    make_pods(1);
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("GET", "/api/v1/pods",
                             AUTH "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", "",
                             &text),
                     200);
    assert_non_null(strstr(text.data, "\"columnDefinitions\""));
    assert_non_null(strstr(text.data, "\"<none>\""));
    maar_text_fini(&text);
}

static void bad_bodies_are_refused(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("POST", "/api/v1/namespaces/default/pods", AUTH, "{", &text), 400);
    assert_int_equal(request("POST", "/api/v1/namespaces/default/pods", AUTH, "", &text), 400);
    assert_int_equal(request("PUT", "/api/v1/namespaces/default/pods/x", AUTH, "{}", &text), 404);
    assert_int_equal(request("GET", "/api/v1/pods?labelSelector=,", AUTH, "", &text), 400);
    assert_int_equal(request("GET", "/api/v1/pods?continue=x", AUTH, "", &text), 400);
    maar_text_fini(&text);
}

static void one_port_has_one_server(void **state)
{
    (void)state;
    unsigned port = maar_api_server_port(server);
    const struct maar_api_server_options options = {cluster, port, TOKEN, false};
    struct maar_api_server *second = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_api_server_start(&options, &second, &err), -EADDRINUSE);
    assert_non_null(strstr(err.text, "in use"));
    maar_api_server_stop(server);
    assert_int_equal(maar_api_server_start(&options, &server, &err), 0);
}

static void a_dry_run_answers_and_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        const char *path;
        const char *content_type;
        const char *body;
        int want;
        const char *part;
    } rows[] = {
        {"POST", "pods?dryRun=All", "application/json",
         "{\"metadata\":{\"name\":\"new\"},\"spec\":{}}", 201, "\"new\""},
        {"POST", "pods?dryRun=All", "application/json", "{\"metadata\":{\"name\":\"p0\"}}", 409,
         "AlreadyExists"},
        {"PATCH", "pods/p0?dryRun=All", "application/merge-patch+json",
         "{\"metadata\":{\"labels\":{\"half\":\"7\"}}}", 200, "\"half\":\"7\""},
        {"PATCH", "pods/none?dryRun=All", "application/merge-patch+json", "{}", 404, "NotFound"},
        {"POST", "pods/p0/binding?dryRun=All", "application/json", "{\"target\":{\"name\":\"n\"}}",
         201, "Success"},
        {"DELETE", "pods/p0?dryRun=All", "application/json", "", 200, "\"p0\""},
        {"DELETE", "pods/p0", "application/json", "{\"dryRun\":[\"All\"]}", 200, "\"p0\""},
        {"POST", "pods/p0/eviction", "application/json",
         "{\"deleteOptions\":{\"dryRun\":[\"All\"]}}", 200, "\"p0\""},
    };
    make_pods(1);
    json_t *before = get("/api/v1/pods");
    struct maar_text text = MAAR_TEXT_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[200], headers[200];
        snprintf(path, sizeof path, "/api/v1/namespaces/default/%s", rows[i].path);
        snprintf(headers, sizeof headers, AUTH "Content-Type: %s\r\n", rows[i].content_type);
        assert_int_equal(request(rows[i].method, path, headers, rows[i].body, &text), rows[i].want);
        if (!strstr(text.data, rows[i].part) || strstr(text.data, "\"resourceVersion\":\"2\""))
            fail_msg("%s %s: %s", rows[i].method, rows[i].path, text.data);
        json_t *after = get("/api/v1/pods");
        assert_true(json_equal(before, after));
        json_decref(after);
    }
    json_decref(before);
    maar_text_fini(&text);
}

static void protobuf_bodies_are_refused_with_advice(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    assert_int_equal(request("POST", "/api/v1/namespaces",
                             AUTH "Content-Type: application/vnd.kubernetes.protobuf\r\n", "k8s",
                             &text),
                     415);
    assert_non_null(strstr(text.data, "UnsupportedMediaType"));
    assert_non_null(strstr(text.data, "kubectl apply -f"));
    maar_text_fini(&text);
}

static void selectors_match_as_kubectl_means_them(void **state)
{
    (void)state;
    static const struct {
        const char *labels;
        const char *fields;
        bool want;
    } rows[] = {
        {"", "", true},
        {"a=1", "", true},
        {"a==1", "", true},
        {"a=2", "", false},
        {"a!=2", "", true},
        {"c!=2", "", true},
        {"a in (1, 2)", "", true},
        {"a notin (1,2)", "", false},
        {"c notin (1)", "", true},
        {"a", "", true},
        {"!a", "", false},
        {"!c,b=x", "", true},
        {"a=1,b=y", "", false},
        {"", "metadata.name=p", true},
        {"", "spec.nodeName=", true},
        {"", "spec.nodeName!=", false},
        {"", "metadata.name=p,status.phase=Running", false},
    };
    json_t *pod =
        json_pack("{s:{s:s, s:{s:s, s:s}}}", "metadata", "name", "p", "labels", "a", "1", "b", "x");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_api_selector selector;
        assert_int_equal(maar_api_selector_init(&selector, rows[i].labels, rows[i].fields, NULL),
                         0);
        if (maar_api_selector_matches(&selector, pod) != rows[i].want)
            fail_msg("%s %s", rows[i].labels, rows[i].fields);
        maar_api_selector_fini(&selector);
    }
    json_decref(pod);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_needs_the_token),
        TEST(discovery_names_the_resources),
        TEST(workloads_have_a_scale_and_columns),
        TEST(a_list_comes_in_pages),
        TEST(a_watch_shows_what_comes_after_its_version),
        TEST(a_version_that_is_too_old_is_gone),
        TEST(pods_come_as_protobuf_when_asked_for),
        TEST(kubectl_gets_tables),
        TEST(bad_bodies_are_refused),
        TEST(one_port_has_one_server),
        TEST(a_dry_run_answers_and_changes_nothing),
        TEST(protobuf_bodies_are_refused_with_advice),
        cmocka_unit_test(selectors_match_as_kubectl_means_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
