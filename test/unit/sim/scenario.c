/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Reading of scenario files: shorthand becomes manifests, lists are unfolded, bad input is refused with its place. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <unistd.h>

#include "sim/document.h"
#include "sim/kubelets.h"
#include "sim/scenario.h"

static char path[] = "/tmp/maar-scenario-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static int read_text(const char *text, struct maar_scenario **ret, struct maar_error *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const char *const paths[] = {path};
    return maar_scenario_read(paths, 1, ret, err);
}

#define HEAD "apiVersion: sim.maar.dev/v1\nkind: Scenario\nspec:\n"

static struct maar_scenario *scenario_of(const char *body)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_scenario *scenario = NULL;
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", body);
    if (read_text(text, &scenario, &err) < 0)
        fail_msg("%s", err.text);
    return scenario;
}

static const json_t *manifest(const struct maar_scenario *scenario, size_t i)
{
    assert_true(i < scenario->manifests.n);
    return scenario->manifests.data[i].document;
}

static void defaults_are_those_of_the_format(void **state)
{
    (void)state;
    struct maar_scenario *scenario = scenario_of("  cluster: {}\n");
    assert_int_equal(scenario->cycles, 50);
    assert_int_equal(scenario->start_delay, 0);
    assert_int_equal(scenario->bind_delay, 0);
    assert_int_equal(scenario->termination_delay, 1);
    assert_true(scenario->recreate);
    assert_true(scenario->period_ns == INT64_C(1000000000));
    assert_true(scenario->start_ns == INT64_C(1767225600000000000));
    assert_null(scenario->conf);
    maar_scenario_destroy(scenario);
}

static void kinds_without_effect_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *api_version;
        const char *kind;
        const char *want; /* NULL: no warning */
    } rows[] = {
        {"v1", "Pod", "without schedulerName: volcano"},
        {"v1", "ConfigMap", NULL},
        {"networking.k8s.io/v1", "Ingress", NULL},
        {"apps/v1", "ControllerRevision", NULL},
        {"apps/v1", "Deployment", "without schedulerName: volcano"},
        {"batch.volcano.sh/v1alpha1", "Job", NULL},
        {"batch/v1", "CronJob", "makes no pods"},
        {"flow.volcano.sh/v1alpha1", "JobFlow", "makes no pods"},
        {"scheduling.volcano.sh/v9", "PodGroup", "did you mean v1beta1?"},
        {"v2", "Node", "did you mean v1?"},
        {"scheduling.volcan.sh/v1beta1", "Queue", "did you mean scheduling.volcano.sh/v1beta1?"},
        {"scheduling.volcano.sh/v1beta1", "PodGruop", "did you mean PodGroup?"},
        {"example.com/v1", "Thing", "has no effect"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_scenario scenario = {0};
        const struct maar_field field = {0};
        json_t *document =
            json_pack("{s:s, s:s}", "apiVersion", rows[i].api_version, "kind", rows[i].kind);
        maar_scenario_check_kind(&scenario, &field, document);
        maar_scenario_check_kind(&scenario, &field, document);
        assert_int_equal(scenario.warnings.n, rows[i].want ? 1 : 0);
        if (rows[i].want) {
            assert_int_equal(scenario.warnings.data[0].n, 2);
            assert_non_null(strstr(scenario.warnings.data[0].text, rows[i].want));
        }
        maar_vec_fini(&scenario.warnings);
        json_decref(document);
    }
}

static void node_ranges_keep_zeros(void **state)
{
    (void)state;
    struct maar_scenario *scenario = scenario_of(
        "  cluster:\n    nodes:\n    - {name: \"n[08-11]\", cpu: 4}\n    - {name: \"m[9-10]\"}\n");
    static const char *const want[] = {"n08", "n09", "n10", "n11", "m9", "m10"};
    assert_int_equal(scenario->manifests.n, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(maar_document_name(manifest(scenario, i)), want[i]);
        assert_string_equal(json_string_value(json_object_get(
                                maar_document_at(manifest(scenario, i), "metadata.labels"),
                                "kubernetes.io/hostname")),
                            want[i]);
    }
    assert_string_equal(maar_document_text(manifest(scenario, 0), "status.allocatable.cpu"), "4");
    assert_string_equal(maar_document_text(manifest(scenario, 0), "status.allocatable.pods"),
                        "110");
    maar_scenario_destroy(scenario);
}

static void a_node_gets_every_key(void **state)
{
    (void)state;
    struct maar_scenario *scenario = scenario_of(
        "  cluster:\n    nodes:\n"
        "    - {name: nn, cpu: 0.5, memory: 1Gi, pods: 5, gpu: 2, resources: {example.com/nic: "
        "2},\n"
        "       taints: [\"k=v:NoSchedule\", \"l:NoExecute\"], ready: false, unschedulable: true,\n"
        "       metadata: {labels: {x: z}}, spec: {podCIDR: c}}\n");
    const json_t *node = manifest(scenario, 0);
    const json_t *amounts = maar_document_at(node, "status.allocatable");
    assert_string_equal(json_string_value(json_object_get(amounts, "cpu")), "0.5");
    assert_string_equal(json_string_value(json_object_get(amounts, "nvidia.com/gpu")), "2");
    assert_string_equal(json_string_value(json_object_get(amounts, "example.com/nic")), "2");
    const json_t *taints = maar_document_at(node, "spec.taints");
    assert_string_equal(maar_document_text(json_array_get(taints, 0), "value"), "v");
    assert_string_equal(maar_document_text(json_array_get(taints, 1), "key"), "l");
    assert_string_equal(maar_document_text(maar_document_condition(node, "Ready"), "status"),
                        "False");
    assert_true(maar_document_bool(node, "spec.unschedulable", false));
    assert_string_equal(maar_document_text(node, "spec.podCIDR"), "c");
    assert_string_equal(maar_document_text(node, "metadata.labels.x"), "z");
    maar_scenario_destroy(scenario);
}

static void a_group_names_and_counts_its_pods(void **state)
{
    (void)state;
    struct maar_scenario *scenario = scenario_of(
        "  cluster:\n    podGroups:\n    - name: a\n      namespace: ns\n      min: 3\n"
        "      minTask: {w: 2}\n      minResources: {cpu: 6, gpu: 1}\n      priority: high\n"
        "      pods:\n      - {count: 2, role: w, cpu: 2}\n      - {name: solo, node: n1}\n");
    assert_int_equal(scenario->manifests.n, 4);
    const json_t *group = manifest(scenario, 0);
    assert_string_equal(maar_document_text(group, "status.phase"), "Running");
    assert_int_equal(maar_document_int(group, "spec.minTaskMember.w", 0), 2);
    assert_string_equal(json_string_value(json_object_get(
                            maar_document_at(group, "spec.minResources"), "nvidia.com/gpu")),
                        "1");
    const json_t *pod = manifest(scenario, 2);
    assert_string_equal(maar_document_name(pod), "a-w-1");
    assert_string_equal(maar_document_namespace(pod), "ns");
    assert_string_equal(maar_document_pod_group(pod), "a");
    assert_string_equal(maar_document_annotation(pod, "volcano.sh/task-spec"), "w");
    assert_string_equal(maar_document_text(pod, "spec.priorityClassName"), "high");
    assert_string_equal(maar_document_text(pod, "spec.schedulerName"), "volcano");
    pod = manifest(scenario, 3);
    assert_string_equal(maar_document_name(pod), "solo");
    assert_string_equal(maar_document_text(pod, "status.phase"), "Running");
    maar_scenario_destroy(scenario);
}

static void a_pod_gets_every_key(void **state)
{
    (void)state;
    struct maar_scenario *scenario = scenario_of(
        "  cluster:\n    pods:\n    - {name: p, cpu: 1, gpu: 1, init: [{cpu: 5}], sidecars: [{cpu: "
        "1}],\n"
        "       overhead: {cpu: 250m}, gates: [x], duration: 30s, created: 5s, scheduler: other,\n"
        "       preemptable: false, tolerations: [\"k=v:NoSchedule\", \"l\"], selector: {d: 1},\n"
        "       priority: 7, spec: {hostNetwork: true}}\n");
    const json_t *pod = manifest(scenario, 0);
    const json_t *init = maar_document_at(pod, "spec.initContainers");
    assert_int_equal(json_array_size(init), 2);
    assert_string_equal(maar_document_text(json_array_get(init, 1), "restartPolicy"), "Always");
    assert_string_equal(maar_document_text(pod, "spec.overhead.cpu"), "250m");
    assert_string_equal(
        maar_document_text(json_array_get(maar_document_at(pod, "spec.schedulingGates"), 0),
                           "name"),
        "x");
    assert_string_equal(maar_document_annotation(pod, MAAR_SIM_DURATION), "30s");
    assert_string_equal(maar_document_annotation(pod, "volcano.sh/preemptable"), "false");
    assert_string_equal(maar_document_text(pod, "metadata.creationTimestamp"),
                        "2026-01-01T00:00:05Z");
    assert_string_equal(maar_document_text(pod, "spec.schedulerName"), "other");
    assert_string_equal(maar_document_text(pod, "spec.nodeSelector.d"), "1");
    assert_int_equal(maar_document_int(pod, "spec.priority", 0), 7);
    const json_t *tolerations = maar_document_at(pod, "spec.tolerations");
    assert_string_equal(maar_document_text(json_array_get(tolerations, 0), "operator"), "Equal");
    assert_string_equal(maar_document_text(json_array_get(tolerations, 1), "operator"), "Exists");
    assert_true(maar_document_bool(pod, "spec.hostNetwork", false));
    maar_scenario_destroy(scenario);
}

static void lists_are_unfolded(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_scenario *scenario = NULL;
    int rc = read_text("apiVersion: v1\nkind: List\nitems:\n"
                       "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n"
                       "- {apiVersion: v1, kind: Pod, metadata: {name: b}, strange: 1}\n---\n---\n"
                       "apiVersion: v1\nkind: PodList\nitems:\n- {metadata: {name: c}}\n",
                       &scenario, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_int_equal(scenario->manifests.n, 3);
    assert_string_equal(maar_document_text(manifest(scenario, 2), "kind"), "Pod");
    assert_string_equal(maar_document_text(manifest(scenario, 2), "apiVersion"), "v1");
    maar_scenario_destroy(scenario);
}

static void steps_come_by_cycle(void **state)
{
    (void)state;
    struct maar_scenario *scenario =
        scenario_of("  steps:\n  - {cycle: 5, restart: true}\n  - {cycle: 2, delete: "
                    "[pod/default/a, node/n1, po/b]}\n"
                    "  - {cycle: 2, fail: [{verb: bind, target: pod/a, code: 0, times: 3}],\n"
                    "     hold: {kind: PodGroup, cycles: 3}}\n"
                    "  - {cycle: 1, apply: {cluster: {nodes: [{name: x}]}}}\n"
                    "  - {cycle: 3, patch: [{target: queue/q, merge: {spec: {weight: 2}}}]}\n"
                    "  expect:\n  - {cycle: 9, binds: 1}\n");
    static const unsigned want[] = {1, 2, 2, 3, 5};
    assert_int_equal(scenario->steps.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(scenario->steps.data[i].cycle, want[i]);
    const struct maar_scenario_step *step = &scenario->steps.data[1];
    assert_int_equal(step->deletes.n, 3);
    assert_string_equal(step->deletes.data[1].type->kind, "Node");
    assert_string_equal(step->deletes.data[2].ns, "default");
    step = &scenario->steps.data[2];
    assert_int_equal(step->faults.data[0].kind, MAAR_WRITE_BIND);
    assert_int_equal(step->faults.data[0].code, 0);
    assert_int_equal(step->faults.data[0].times, 3);
    assert_string_equal(step->holds.data[0].type->kind, "PodGroup");
    assert_int_equal(maar_scenario_last_cycle(scenario), 9);
    maar_scenario_destroy(scenario);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want; /* part of the message */
    } rows[] = {
        {"a: [", ":"},
        {"3", "expected a manifest"},
        {"- 1", "expected a manifest"},
        {"apiVersion: v1\nkind: Node\nmetadata: 3\n", "metadata"},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: 3}\n", "metadata.name: expected a text"},
        {"apiVersion: v1\nkind: Node\nmetadata: {name: a/b}\n", "is no name"},
        {"apiVersion: 1\nkind: Node\nmetadata: {name: a}\n", "apiVersion"},
        {"apiVersion: v1\nkind: List\nitems: {a: b}\n", "items: expected a list"},
        {"apiVersion: v1\nkind: List\nitems: [3]\n", "items[0]: expected a manifest"},
        {HEAD "  cycles: 0\n", "spec.cycles: 0 is not between"},
        {HEAD "  period: 0\n", "spec.period"},
        {HEAD "  period: tomorrow\n", "spec.period: expected a duration"},
        {HEAD "  start: now\n", "spec.start: expected a time"},
        {HEAD "  recreate: 1\n", "spec.recreate: expected true or false"},
        {HEAD "  conf: [1]\n", "spec.conf: expected a text"},
        {HEAD "  cluster: 3\n", "spec.cluster: expected a map"},
        {HEAD "  cluster: {nodes: {}}\n", "spec.cluster.nodes: expected a list"},
        {HEAD "  cluster: {nodes: [3]}\n", "spec.cluster.nodes[0]: expected a map"},
        {HEAD "  cluster: {nodes: [{cpu: 1}]}\n", "name is missing"},
        {HEAD "  cluster: {nodes: [{name: \"n[1\"}]}\n", "a range is written"},
        {HEAD "  cluster: {nodes: [{name: \"n[0-9999999]\"}]}\n", "more than"},
        {HEAD "  cluster: {nodes: [{name: nn, cpu: -1}]}\n", "is negative"},
        {HEAD "  cluster: {nodes: [{name: nn, cpu: [1]}]}\n", "expected an amount"},
        {HEAD "  cluster: {nodes: [{name: nn, cpu: true}]}\n", "expected an amount"},
        {HEAD "  cluster: {nodes: [{name: nn, taints: [x]}]}\n", "a taint is written"},
        {HEAD "  cluster: {nodes: [{name: nn, taints: [\"x:No\"]}]}\n", "none of NoSchedule"},
        {HEAD "  cluster: {nodes: [{name: nn, labels: {a: [1]}}]}\n", "labels.a: expected a text"},
        {HEAD "  cluster: {queues: [{name: q, weight: -1}]}\n", "weight: -1 is not between"},
        {HEAD "  cluster: {queues: [{name: q, weight: 1.5}]}\n", "weight: expected a whole number"},
        {HEAD "  cluster: {queues: [{name: q, capability: {cpu: x}}]}\n", "capability.cpu"},
        {HEAD "  cluster: {podGroups: [{name: g, min: -1}]}\n", "min: -1"},
        {HEAD "  cluster: {podGroups: [{name: g, minTask: {a: b}}]}\n", "minTask.a"},
        {HEAD "  cluster: {podGroups: [{name: g, pods: [{cout: 1}]}]}\n", "did you mean count"},
        {HEAD "  cluster: {pods: [{name: P}]}\n", "is no name"},
        {HEAD "  cluster: {pods: [{name: p, count: -1}]}\n", "count: -1"},
        {HEAD "  cluster: {pods: [{name: p, phase: Lost}]}\n", "phase"},
        {HEAD "  cluster: {pods: [{name: p, gates: [1]}]}\n", "gates[0]: expected a text"},
        {HEAD "  cluster: {pods: [{name: p}, {name: p}]}\n", "is there already"},
        {HEAD "  cluster: {pods: [{name: p, spec: 3}]}\n", "spec: expected a map"},
        {HEAD "  steps: [{restart: true}]\n", "cycle is missing"},
        {HEAD "  steps: [{cycle: 1, delete: [pod]}]\n", "expected pod/NAMESPACE/NAME"},
        {HEAD "  steps: [{cycle: 1, delete: [node/a/b]}]\n", "has no namespace"},
        {HEAD "  steps: [{cycle: 1, patch: [{target: node/a}]}]\n", "merge is missing"},
        {HEAD "  steps: [{cycle: 1, patch: [{merge: {}}]}]\n", "target is missing"},
        {HEAD "  steps: [{cycle: 1, fail: [{code: 200}]}]\n", "is no failure"},
        {HEAD "  steps: [{cycle: 1, hold: {kind: PodGrup}}]\n", "did you mean podgroup"},
        {HEAD "  steps: [{cycle: 1, apply: 3}]\n", "expected a list"},
        {HEAD "  expect: [{binds: x}]\n", "expected a number"},
        {HEAD "  expect: [{boud: {}}]\n", "did you mean bound"},
        {"apiVersion: sim.maar.dev/v1\nkind: Scenaro\n", "expected Scenario"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_scenario *scenario = NULL;
        int rc = read_text(rows[i].text, &scenario, &err);
        if (rc >= 0 || !strstr(err.text, rows[i].want))
            fail_msg("%s: got %d \"%s\", wanted \"%s\"", rows[i].text, rc, err.text, rows[i].want);
        assert_non_null(strstr(err.text, path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_format),
        cmocka_unit_test(kinds_without_effect_are_warned_of),
        cmocka_unit_test(node_ranges_keep_zeros),
        cmocka_unit_test(a_node_gets_every_key),
        cmocka_unit_test(a_group_names_and_counts_its_pods),
        cmocka_unit_test(a_pod_gets_every_key),
        cmocka_unit_test(lists_are_unfolded),
        cmocka_unit_test(steps_come_by_cycle),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
