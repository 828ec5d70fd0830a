/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The object store answers as an API server does: conflicts, preconditions, graceful deletion, bindings, the log. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "sim/document.h"
#include "sim/request.h"
#include "sim/store.h"

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

/* A request by path; checks the code. Returns the answer's document, a new reference. */
static json_t *request(struct maar_store *store, const char *method, const char *path,
                       const char *content_type, const char *body, int want)
{
    struct maar_api_target target;
    struct maar_answer answer;
    json_t *document = body ? parse(body) : NULL;
    int code = maar_api_target_parse(store, path, &target, &answer);
    if (code == 0)
        code = maar_api_write(store, &target, method, content_type, document, &answer);
    if (code != want)
        print_error("%s %s: %d %s\n", method, path, code, answer.message);
    assert_int_equal(code, want);
    json_t *result = json_incref(answer.document);
    maar_answer_fini(&answer);
    json_decref(document);
    return result;
}

#define PODS      "/api/v1/namespaces/default/pods"
#define POD_A     PODS "/a"
#define MERGE     "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"
#define JSON      "application/json-patch+json"

static void do_request(struct maar_store *store, const char *method, const char *path,
                       const char *content_type, const char *body, int want)
{
    json_decref(request(store, method, path, content_type, body, want));
}

static void make_pod(struct maar_store *store)
{
    do_request(store, "POST", PODS, NULL,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
               "\"spec\":{\"containers\":[{\"name\":\"m\"}]}}",
               201);
}

static json_t *stored(struct maar_store *store)
{
    struct maar_collection *pods = maar_store_find(store, "v1", "Pod");
    struct maar_object *object = maar_collection_object(pods, "default", "a");
    return object ? object->document : NULL;
}

static void a_new_object_gets_identity_and_defaults(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    maar_store_set_now(store, INT64_C(1767225600) * MAAR_SECOND_NS);
    make_pod(store);
    assert_string_equal(maar_document_text(stored(store), "metadata.namespace"), "default");
    assert_string_equal(maar_document_text(stored(store), "metadata.creationTimestamp"),
                        "2026-01-01T00:00:00Z");
    assert_string_equal(maar_document_text(stored(store), "status.phase"), "Pending");
    assert_int_equal(strncmp(maar_document_uid(stored(store)), "00000001-", 9), 0);
    do_request(store, "POST", PODS, NULL, "{\"metadata\":{\"name\":\"a\"}}", 409);
    do_request(store, "POST", PODS, NULL, "{\"metadata\":{}}", 422);
    do_request(store, "POST", PODS, NULL, "{}", 400);
    do_request(store, "POST", PODS, NULL, "{\"metadata\":{\"name\":\"b\",\"namespace\":\"x\"}}",
               400);
    maar_store_destroy(store);
}

static void a_new_namespace_is_labelled_with_its_name(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    do_request(store, "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"a\"}}", 201);
    do_request(store, "POST", "/api/v1/namespaces", NULL,
               "{\"metadata\":{\"name\":\"b\",\"labels\":{\"team\":\"blue\"}}}", 201);
    struct maar_collection *spaces = maar_store_find(store, "v1", "Namespace");
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *space = maar_collection_object(spaces, "", names[i])->document;
        const json_t *label = json_object_get(maar_document_at(space, "metadata.labels"),
                                              "kubernetes.io/metadata.name");
        assert_string_equal(json_string_value(label), names[i]);
        assert_string_equal(maar_document_text(space, "metadata.labels.team"), i ? "blue" : "");
    }
    maar_store_destroy(store);
}

static void a_stale_version_conflicts(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    do_request(store, "PATCH", POD_A, MERGE, "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}", 200);
    do_request(store, "PATCH", POD_A, MERGE,
               "{\"metadata\":{\"resourceVersion\":\"1\",\"labels\":{\"x\":\"2\"}}}", 409);
    do_request(store, "PATCH", POD_A, MERGE, "{\"metadata\":{\"uid\":\"other\"}}", 409);
    do_request(store, "PUT", POD_A, NULL,
               "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"},\"spec\":{}}", 409);
    assert_string_equal(maar_document_text(stored(store), "metadata.labels.x"), "1");
    do_request(store, "PATCH", PODS "/none", MERGE, "{}", 404);
    maar_store_destroy(store);
}

static void a_write_without_effect_makes_no_version(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    uint64_t version = maar_store_version(store);
    do_request(store, "PATCH", POD_A, MERGE, "{}", 200);
    assert_true(version == maar_store_version(store));
    do_request(store, "PATCH", POD_A, MERGE, "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}", 200);
    assert_true(version + 1 == maar_store_version(store));
    maar_store_destroy(store);
}

static void status_and_spec_are_written_apart(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    do_request(store, "PATCH", POD_A, MERGE, "{\"status\":{\"phase\":\"Running\"}}", 200);
    assert_string_equal(maar_document_text(stored(store), "status.phase"), "Pending");
    do_request(store, "PATCH", POD_A "/status", MERGE,
               "{\"status\":{\"phase\":\"Running\"},\"spec\":{\"nodeName\":\"n\"}}", 200);
    assert_string_equal(maar_document_text(stored(store), "status.phase"), "Running");
    assert_string_equal(maar_document_text(stored(store), "spec.nodeName"), "");
    maar_store_destroy(store);
}

static void conditions_are_merged_by_type(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    do_request(store, "PATCH", POD_A "/status", STRATEGIC,
               "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}}", 200);
    do_request(store, "PATCH", POD_A "/status", STRATEGIC,
               "{\"status\":{\"conditions\":[{\"type\":\"B\",\"status\":\"False\"}]}}", 200);
    do_request(store, "PATCH", POD_A "/status", STRATEGIC,
               "{\"status\":{\"conditions\":[{\"type\":\"A\",\"reason\":\"r\"}]}}", 200);
    const json_t *conditions = maar_document_at(stored(store), "status.conditions");
    assert_int_equal(json_array_size(conditions), 2);
    const json_t *a = maar_document_condition(stored(store), "A");
    assert_string_equal(maar_document_text(a, "status"), "True");
    assert_string_equal(maar_document_text(a, "reason"), "r");
    maar_store_destroy(store);
}

static void a_gate_is_deleted_by_name(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    do_request(store, "POST", PODS, NULL,
               "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"schedulingGates\":[{\"name\":\"x\"},"
               "{\"name\":\"y\"}]}}",
               201);
    assert_string_equal(
        maar_document_text(maar_document_condition(stored(store), "PodScheduled"), "reason"),
        "SchedulingGated");
    do_request(store, "PATCH", POD_A, STRATEGIC,
               "{\"spec\":{\"schedulingGates\":[{\"name\":\"x\",\"$patch\":\"delete\"}]}}", 200);
    assert_int_equal(json_array_size(maar_document_at(stored(store), "spec.schedulingGates")), 1);
    maar_store_destroy(store);
}

static void custom_resources_take_no_strategic_patch(void **state)
{
    (void)state;
    static const char group[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
    struct maar_store *store = maar_store_create();
    char path[200];
    snprintf(path, sizeof path, "%s/g", group);
    do_request(store, "POST", group, NULL,
               "{\"metadata\":{\"name\":\"g\"},\"spec\":{\"minMember\":1}}", 201);
    do_request(store, "PATCH", path, STRATEGIC, "{}", 415);
    do_request(store, "PATCH", path, MERGE, "{\"status\":{\"phase\":\"Inqueue\"}}", 200);
    snprintf(path, sizeof path, "%s/g/status", group);
    do_request(store, "PATCH", path, MERGE, "{\"status\":{\"phase\":\"Inqueue\"}}", 404);
    maar_store_destroy(store);
}

static void json_patches_hold_or_fail_whole(void **state)
{
    (void)state;
    static const struct {
        const char *patch;
        int want;
    } rows[] = {
        {"[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"a~b\":\"1\"}}]", 200},
        {"[{\"op\":\"test\",\"path\":\"/metadata/labels/a~0b\",\"value\":\"1\"}]", 200},
        {"[{\"op\":\"replace\",\"path\":\"/metadata/labels/c\",\"value\":\"1\"}]", 422},
        {"[{\"op\":\"add\",\"path\":\"/spec/containers/-\",\"value\":{\"name\":\"n\"}}]", 200},
        {"[{\"op\":\"remove\",\"path\":\"/spec/containers/1\"}]", 200},
        {"[{\"op\":\"remove\",\"path\":\"/spec/containers/1\"}]", 422},
        {"[{\"op\":\"move\",\"from\":\"/metadata/labels\",\"path\":\"/metadata/annotations\"}]",
         200},
        {"[{\"op\":\"copy\",\"from\":\"/none\",\"path\":\"/metadata/labels\"}]", 422},
        {"[{\"op\":\"shout\",\"path\":\"/metadata\"}]", 422},
        {"[{\"op\":\"add\",\"path\":\"metadata\",\"value\":1}]", 422},
        {"[{\"op\":\"replace\",\"path\":\"/metadata\",\"value\":1}]", 400},
        {"[1]", 422},
        {"{}", 422},
    };
    struct maar_store *store = maar_store_create();
    make_pod(store);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        do_request(store, "PATCH", POD_A, JSON, rows[i].patch, rows[i].want);
    do_request(store, "PATCH", POD_A, "text/plain", "{}", 415);
    maar_store_destroy(store);
}

static void a_pod_is_bound_once(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    do_request(store, "POST", POD_A "/binding", NULL,
               "{\"metadata\":{\"uid\":\"other\"},\"target\":{\"name\":\"n1\"}}", 409);
    do_request(store, "POST", POD_A "/binding", NULL, "{\"target\":{}}", 422);
    do_request(store, "POST", POD_A "/binding", NULL,
               "{\"metadata\":{\"annotations\":{\"k\":\"v\"}},\"target\":{\"name\":\"n1\"}}", 201);
    assert_string_equal(maar_document_text(stored(store), "spec.nodeName"), "n1");
    assert_string_equal(maar_document_annotation(stored(store), "k"), "v");
    do_request(store, "POST", POD_A "/binding", NULL, "{\"target\":{\"name\":\"n2\"}}", 409);
    do_request(store, "POST", PODS "/b/binding", NULL, "{\"target\":{\"name\":\"n2\"}}", 404);
    maar_store_destroy(store);
}

static void a_gated_pod_is_not_bound(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    do_request(store, "POST", PODS, NULL,
               "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"schedulingGates\":[{\"name\":\"x\"}]}}",
               201);
    do_request(store, "POST", POD_A "/binding", NULL, "{\"target\":{\"name\":\"n1\"}}", 409);
    maar_store_destroy(store);
}

static void a_bound_pod_is_deleted_gracefully(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    make_pod(store);
    do_request(store, "POST", POD_A "/binding", NULL, "{\"target\":{\"name\":\"n1\"}}", 201);
    do_request(store, "DELETE", POD_A, NULL, "{\"preconditions\":{\"uid\":\"other\"}}", 409);
    do_request(store, "DELETE", POD_A, NULL, NULL, 200);
    assert_non_null(maar_document_at(stored(store), "metadata.deletionTimestamp"));
    do_request(store, "DELETE", POD_A, NULL, "{\"gracePeriodSeconds\":0}", 200);
    assert_null(stored(store));
    make_pod(store);
    do_request(store, "DELETE", POD_A, NULL, NULL, 200);
    assert_null(stored(store));
    maar_store_destroy(store);
}

static void held_changes_are_not_seen(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    struct maar_collection *pods = maar_store_find(store, "v1", "Pod");
    make_pod(store);
    maar_store_hold(store, pods);
    do_request(store, "PATCH", POD_A, MERGE, "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}", 200);
    assert_true(maar_collection_n_visible(pods) == 1);
    maar_store_release(store, pods);
    assert_true(maar_collection_n_visible(pods) == 2);
    maar_store_destroy(store);
}

static void the_log_forgets_from_the_front(void **state)
{
    (void)state;
    struct maar_store *store = maar_store_create();
    struct maar_collection *pods = maar_store_find(store, "v1", "Pod");
    maar_store_set_log_limit(store, 4);
    make_pod(store);
    for (int i = 0; i < 20; i++) {
        char patch[80];
        snprintf(patch, sizeof patch, "{\"metadata\":{\"labels\":{\"x\":\"%d\"}}}", i);
        do_request(store, "PATCH", POD_A, MERGE, patch, 200);
    }
    assert_true(pods->log.n >= 4 && pods->log.n <= 8);
    assert_true(pods->n_forgotten + pods->log.n == 21);
    assert_true(pods->low_version > 0 && pods->low_version < maar_store_version(store));
    assert_true(maar_collection_seek(pods, maar_store_version(store)) == 21);
    maar_store_destroy(store);
}

static void paths_that_are_none_are_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "",
        "/",
        "/api",
        "/api/v1",
        "/api/v1/nothing",
        "/apis/apps/v1/nothing/a",
        "/api/v1/namespaces/x/nodes/n",
        "/api/v1/pods/a/b/c/d",
        "/api/v1/a/b/c/d/e/f/g/h/i/j",
        "/apis/scheduling.volcano.sh/v1alpha1/queues/q",
    };
    struct maar_store *store = maar_store_create();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        do_request(store, "DELETE", paths[i], NULL, NULL, 404);
    do_request(store, "DELETE", PODS, NULL, NULL, 405);
    do_request(store, "POST", POD_A "/exec", NULL, "{}", 404);
    maar_store_destroy(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_object_gets_identity_and_defaults),
        cmocka_unit_test(a_new_namespace_is_labelled_with_its_name),
        cmocka_unit_test(a_stale_version_conflicts),
        cmocka_unit_test(a_write_without_effect_makes_no_version),
        cmocka_unit_test(status_and_spec_are_written_apart),
        cmocka_unit_test(conditions_are_merged_by_type),
        cmocka_unit_test(a_gate_is_deleted_by_name),
        cmocka_unit_test(custom_resources_take_no_strategic_patch),
        cmocka_unit_test(json_patches_hold_or_fail_whole),
        cmocka_unit_test(a_pod_is_bound_once),
        cmocka_unit_test(a_gated_pod_is_not_bound),
        cmocka_unit_test(a_bound_pod_is_deleted_gracefully),
        cmocka_unit_test(held_changes_are_not_seen),
        cmocka_unit_test(the_log_forgets_from_the_front),
        cmocka_unit_test(paths_that_are_none_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
