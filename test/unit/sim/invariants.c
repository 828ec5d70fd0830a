/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Each invariant fires on a made-up violation, and none on what is sound. The kubelets' rules are here, too, since they
 * use the same cluster. */

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
#include "sim/document.h"
#include "sim/invariants.h"

static const char conf_text[] =
    "actions: a\ntiers:\n- plugins:\n  - name: gang\n  - name: capacity\n"
    "    enableHierarchy: true\n";

struct fixture {
    struct maar_cluster *cluster;
    struct maar_conf *conf;
    struct maar_invariants *invariants;
    struct maar_violations violations;
};

static void add(struct fixture *fixture, const char *text)
{
    struct maar_error err = MAAR_ERROR_INIT;
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    if (maar_cluster_add(fixture->cluster, document, &err) < 0)
        fail_msg("%s", err.text);
    json_decref(document);
}

static void add_pod(struct fixture *fixture, const char *name, const char *cpu, const char *group,
                    const char *node, const char *reason)
{
    char text[900];
    snprintf(
        text, sizeof text,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\","
        "\"annotations\":{\"scheduling.k8s.io/group-name\":\"%s\"}},\"spec\":{\"schedulerName\":"
        "\"volcano\",\"nodeName\":\"%s\",\"containers\":[{\"name\":\"m\",\"resources\":{"
        "\"requests\":"
        "{\"cpu\":\"%s\"}}}]},\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":"
        "\"PodScheduled\",\"status\":\"False\",\"reason\":\"%s\"}]}}",
        name, group, node, cpu, *node ? "Running" : "Pending", reason);
    add(fixture, text);
}

static void add_group(struct fixture *fixture, const char *name, const char *queue, int min)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\",\"metadata\":"
             "{\"name\":\"%s\",\"namespace\":\"d\"},\"spec\":{\"queue\":\"%s\",\"minMember\":%d}}",
             name, queue, min);
    add(fixture, text);
}

static void add_queue(struct fixture *fixture, const char *name, const char *parent,
                      const char *cpu)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\",\"metadata\":"
             "{\"name\":\"%s\"},\"spec\":{\"parent\":\"%s\",\"capability\":{\"cpu\":\"%s\"}}}",
             name, parent, cpu);
    add(fixture, text);
}

/* As the scheduler would send it. Returns the code. */
static int bind(struct fixture *fixture, const char *pod, const char *node)
{
    char path[200], text[200];
    struct maar_cluster_write write;
    struct maar_answer answer;
    snprintf(path, sizeof path, "/api/v1/namespaces/d/pods/%s/binding", pod);
    snprintf(text, sizeof text, "{\"target\":{\"name\":\"%s\"}}", node);
    json_t *body = json_loads(text, 0, NULL);
    assert_int_equal(
        maar_cluster_begin_write(fixture->cluster, "POST", path, body, &write, &answer), 0);
    int code = maar_cluster_finish_write(fixture->cluster, &write, "POST", "application/json", body,
                                         NULL, &answer);
    maar_answer_fini(&answer);
    json_decref(body);
    return code;
}

static int set_up(void **state)
{
    const struct maar_cluster_options options = {
        .start_ns = INT64_C(1767225600) * MAAR_SECOND_NS,
        .period_ns = MAAR_SECOND_NS,
        .kubelets = {.termination_delay = 1},
        .recreate = true,
        .has_kubelets = true,
        .keeps_journal = true,
    };
    struct maar_error err = MAAR_ERROR_INIT;
    struct fixture *fixture = maar_calloc(1, sizeof *fixture);
    fixture->cluster = maar_cluster_create(&options);
    assert_int_equal(
        maar_conf_parse(conf_text, sizeof conf_text - 1, "t", NULL, &fixture->conf, &err), 0);
    fixture->invariants = maar_invariants_create(fixture->cluster, fixture->conf, NULL);
    add(fixture,
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"status\":"
        "{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"10\"}}}");
    add_queue(fixture, "parent", "root", "3");
    add_queue(fixture, "child", "parent", "10");
    add_queue(fixture, "wide", "root", "100");
    add_group(fixture, "g", "wide", 1);
    add_group(fixture, "pair", "wide", 2);
    add_group(fixture, "c", "child", 1);
    maar_cluster_begin_cycle(fixture->cluster);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    maar_violations_fini(&fixture->violations);
    maar_invariants_destroy(fixture->invariants);
    maar_cluster_destroy(fixture->cluster);
    maar_conf_destroy(fixture->conf);
    free(fixture);
    return 0;
}

/* Checks and expects one violation of the invariant, or none for NULL. */
static void expect(struct fixture *fixture, const char *invariant, const char *part)
{
    size_t before = fixture->violations.n;
    size_t n = maar_invariants_check(fixture->invariants, NULL, true, &fixture->violations);
    for (size_t i = before; i < fixture->violations.n; i++)
        if (!invariant)
            print_error("%s: %s\n", fixture->violations.data[i].invariant,
                        fixture->violations.data[i].text);
    assert_int_equal(n, invariant ? 1 : 0);
    if (!invariant)
        return;
    assert_string_equal(fixture->violations.data[before].invariant, invariant);
    if (!strstr(fixture->violations.data[before].text, part))
        fail_msg("%s", fixture->violations.data[before].text);
}

static void sound_cycles_break_nothing(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "3", "g", "", "");
    add_pod(fixture, "b", "3", "g", "", "Unschedulable");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    expect(fixture, NULL, NULL);
    maar_cluster_end_cycle(fixture->cluster);
    maar_cluster_begin_cycle(fixture->cluster);
    expect(fixture, NULL, NULL);
}

static void ii_a_node_above_allocatable(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "r", "3", "g", "n1", "");
    add_pod(fixture, "a", "2", "g", "", "");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    expect(fixture, "ii", "node n1: cpu 5 of 4");
}

static void ii_a_node_that_is_none(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "2", "g", "", "");
    assert_int_equal(bind(fixture, "a", "nowhere"), 201);
    expect(fixture, "ii", "is no node");
}

static void ii_what_was_too_much_before_is_not_ours(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "r", "30", "g", "n1", "");
    add_pod(fixture, "a", "0", "g", "", "");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    expect(fixture, NULL, NULL);
}

static void iii_a_pod_bound_twice(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "2", "g", "", "");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    assert_int_equal(bind(fixture, "a", "n1"), 409);
    expect(fixture, "iii", "pod d/a");
}

static void iv_a_parent_above_capability(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "2", "c", "", "");
    add_pod(fixture, "b", "2", "c", "", "Unschedulable");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    expect(fixture, NULL, NULL);
    assert_int_equal(bind(fixture, "b", "n1"), 201);
    expect(fixture, "iv", "queue parent: cpu 4 of capability 3");
}

static void v_a_pod_without_reason(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "2", "g", "", "");
    expect(fixture, "v", "pod d/a waits without a reason");
    size_t before = fixture->violations.n;
    assert_int_equal(maar_invariants_check(fixture->invariants, NULL, false, &fixture->violations),
                     0);
    assert_int_equal(fixture->violations.n, before);
}

static void vi_a_gang_below_its_minimum(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "1", "pair", "", "");
    add_pod(fixture, "b", "1", "pair", "", "Unschedulable");
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    expect(fixture, "vi", "PodGroup d/pair: 1 of minimum 2");
    assert_int_equal(bind(fixture, "b", "n1"), 201);
    expect(fixture, NULL, NULL); /* a runs by now */
}

/* Three of four are enough for the job, but the two of sub-group 1 belong together. */
static void vi_a_sub_group_below_its_size(void **state)
{
    struct fixture *fixture = *state;
    add(fixture,
        "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{"
        "\"name\":\"parts\",\"namespace\":\"d\"},\"spec\":{\"queue\":\"wide\",\"minMember\":3,"
        "\"subGroupPolicy\":[{\"name\":\"p\",\"subGroupSize\":2,\"matchLabelKeys\":[\"part\"],"
        "\"labelSelector\":{\"matchLabels\":{\"in\":\"yes\"},\"matchExpressions\":[{\"key\":"
        "\"out\","
        "\"operator\":\"DoesNotExist\"}]}}]}}");
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                 "\"namespace\":\"d\",\"labels\":{\"part\":\"%d\",\"in\":\"yes\"},\"annotations\":{"
                 "\"scheduling.k8s.io/group-name\":\"parts\"}},\"spec\":{\"schedulerName\":"
                 "\"volcano\",\"containers\":[{\"name\":\"m\",\"resources\":{\"requests\":{\"cpu\":"
                 "\"1\"}}}]},\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                 "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}",
                 names[i], i / 2);
        add(fixture, text);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(bind(fixture, names[i], "n1"), 201);
    expect(fixture, "vi", "PodGroup d/parts sub-group p-1: 1 of minimum 2");
    assert_int_equal(bind(fixture, "d", "n1"), 201);
    expect(fixture, NULL, NULL);
}

static void vi_a_failed_binding_is_no_decision_below(void **state)
{
    struct fixture *fixture = *state;
    const struct maar_fault fault = {.kind = MAAR_WRITE_BIND,
                                     .type = maar_api_type_named("pod"),
                                     .ns = "d",
                                     .name = "b",
                                     .code = 500,
                                     .times = 1};
    add_pod(fixture, "a", "1", "pair", "", "");
    add_pod(fixture, "b", "1", "pair", "", "");
    maar_cluster_fail(fixture->cluster, &fault);
    assert_int_equal(bind(fixture, "a", "n1"), 201);
    assert_int_equal(bind(fixture, "b", "n1"), 500);
    expect(fixture, NULL, NULL);
    assert_true(maar_cluster_journal(fixture->cluster)->binds.data[1].failed);
}

/* ---- kubelets ---- */

static const json_t *pod(struct fixture *fixture, const char *name)
{
    struct maar_collection *pods =
        maar_store_find(maar_cluster_store(fixture->cluster), "v1", "Pod");
    struct maar_object *object = maar_collection_object(pods, "d", name);
    return object ? object->document : NULL;
}

static void next_cycle(struct fixture *fixture)
{
    maar_cluster_end_cycle(fixture->cluster);
    maar_cluster_begin_cycle(fixture->cluster);
}

static void a_bound_pod_runs_in_the_next_cycle(void **state)
{
    struct fixture *fixture = *state;
    add_pod(fixture, "a", "1", "g", "", "");
    bind(fixture, "a", "n1");
    assert_string_equal(maar_document_text(pod(fixture, "a"), "status.phase"), "Pending");
    next_cycle(fixture);
    assert_string_equal(maar_document_text(pod(fixture, "a"), "status.phase"), "Running");
}

static void an_evicted_pod_goes_and_comes_back(void **state)
{
    struct fixture *fixture = *state;
    struct maar_cluster_write write;
    struct maar_answer answer;
    const struct maar_write_hint hint = {"preempt", "d/high"};
    static const char path[] = "/api/v1/namespaces/d/pods/a";
    add_pod(fixture, "a", "1", "g", "n1", "");
    maar_cluster_begin_write(fixture->cluster, "DELETE", path, NULL, &write, &answer);
    maar_cluster_finish_write(fixture->cluster, &write, "DELETE", NULL, NULL, &hint, &answer);
    assert_int_equal(answer.code, 200);
    maar_answer_fini(&answer);
    next_cycle(fixture);
    assert_non_null(maar_document_at(pod(fixture, "a"), "metadata.deletionTimestamp"));
    next_cycle(fixture);
    assert_null(pod(fixture, "a"));
    assert_string_equal(maar_document_text(pod(fixture, "a-r1"), "status.phase"), "Pending");
    assert_string_equal(maar_document_text(pod(fixture, "a-r1"), "spec.nodeName"), "");
    assert_string_equal(maar_document_pod_group(pod(fixture, "a-r1")), "g");
    const struct maar_journal *journal = maar_cluster_journal(fixture->cluster);
    assert_int_equal(journal->evictions.n, 1);
    assert_string_equal(journal->evictions.data[0].action, "preempt");
    assert_string_equal(journal->evictions.data[0].beneficiary, "d/high");
    assert_string_equal(journal->evictions.data[0].node, "n1");
}

static void a_pod_with_a_duration_succeeds(void **state)
{
    struct fixture *fixture = *state;
    add(fixture,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"t\",\"namespace\":\"d\","
        "\"annotations\":{\"sim.maar.dev/duration\":\"3s\"}},\"spec\":{\"containers\":[]}}");
    bind(fixture, "t", "n1");
    next_cycle(fixture);
    next_cycle(fixture);
    assert_string_equal(maar_document_text(pod(fixture, "t"), "status.phase"), "Running");
    assert_true(maar_cluster_is_busy(fixture->cluster));
    next_cycle(fixture);
    assert_string_equal(maar_document_text(pod(fixture, "t"), "status.phase"), "Succeeded");
    assert_false(maar_cluster_is_busy(fixture->cluster));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sound_cycles_break_nothing),
        TEST(ii_a_node_above_allocatable),
        TEST(ii_a_node_that_is_none),
        TEST(ii_what_was_too_much_before_is_not_ours),
        TEST(iii_a_pod_bound_twice),
        TEST(iv_a_parent_above_capability),
        TEST(v_a_pod_without_reason),
        TEST(vi_a_gang_below_its_minimum),
        TEST(vi_a_sub_group_below_its_size),
        TEST(vi_a_failed_binding_is_no_decision_below),
        TEST(a_bound_pod_runs_in_the_next_cycle),
        TEST(an_evicted_pod_goes_and_comes_back),
        TEST(a_pod_with_a_duration_succeeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
