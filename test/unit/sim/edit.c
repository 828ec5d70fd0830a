/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What-if edits: what is refused and how, and what they make of a cluster. */

#include "sim/edit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sim/document.h"
#include "sim/scenario.h"

static struct maar_cluster *cluster;

static void add(const char *text)
{
    json_t *document = json_loads(text, 0, NULL);
    struct maar_error err = MAAR_ERROR_INIT;
    assert_non_null(document);
    if (maar_cluster_add(cluster, document, &err) < 0)
        fail_msg("%s", err.text);
    json_decref(document);
}

static int begin(void **state)
{
    (void)state;
    const struct maar_cluster_options options = {.period_ns = MAAR_SECOND_NS};
    cluster = maar_cluster_create(&options);
    add("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u\","
        "\"labels\":{\"disk\":\"ssd\",\"kubernetes.io/hostname\":\"n1\"}},\"spec\":{\"taints\":[{"
        "\"key\":\"a\",\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"8\"}}}");
    add("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-0\",\"namespace\":"
        "\"ns\",\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}},\"spec\":{\"nodeName\":"
        "\"n1\",\"schedulerName\":\"volcano\",\"schedulingGates\":[],\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"},\"limits\":{\"cpu\":\"2\"}}},{\"name\":"
        "\"d\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Running\"}"
        "}");
    add("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"agent\",\"namespace\":"
        "\"ns\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\"}]},\"status\":{"
        "\"phase\":\"Running\"}}");
    return 0;
}

static int end(void **state)
{
    (void)state;
    maar_cluster_destroy(cluster);
    return 0;
}

static int edit(const char *text, struct maar_error *err)
{
    struct maar_edits edits = {0};
    int rc = maar_edits_read(&edits, text, err);
    if (rc == 0)
        rc = maar_edits_apply(&edits, cluster, err);
    maar_edits_fini(&edits);
    return rc;
}

static void edit_well(const char *text)
{
    struct maar_error err = MAAR_ERROR_INIT;
    if (edit(text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static const json_t *find(const char *api_version, const char *kind, const char *ns,
                          const char *name)
{
    const struct maar_collection *collection =
        maar_store_find(maar_cluster_store(cluster), api_version, kind);
    const struct maar_object *object =
        collection ? maar_collection_object(collection, ns, name) : NULL;
    return object ? object->document : NULL;
}

static const char *text_in(const json_t *document, const char *path, const char *key)
{
    const char *text = json_string_value(json_object_get(maar_document_at(document, path), key));
    return text ? text : "";
}

static void edits_are_refused_with_column_and_expectation(void **state)
{
    (void)state;
    static const struct {
        const char *edit;
        const char *message;
    } rows[] = {
        {"", "column 1: \"\" is no kind of an edit"},
        {"nod n1", "column 1: \"nod\" is no kind of an edit; did you mean node?"},
        {"node", "column 5: a name is missing"},
        {"node n1 cpy=1", "column 9: \"cpy\" is no word for a node; did you mean cpu?"},
        {"node n1 cpu", "column 9: \"cpu\": expected =VALUE"},
        {"node n1 cpu=many", "column 13: \"many\": expected an amount"},
        {"node n1 cpu=-1", "column 13: \"-1\": expected an amount"},
        {"node n1 ready=yes", "expected true or false"},
        {"node n1 label x", "expected label KEY=VALUE or KEY-"},
        {"node n1 taint k=v:Never", "EFFECT is NoSchedule"},
        {"node n1 taint", "expected taint"},
        {"node n[3-1] cpu=1", "column 6: \"n[3-1]\": a range is written"},
        {"node 'n1", "column 6: a quote is not closed"},
        {"node a/b cpu=1", "column 6: \"a/b\": expected a name"},
        {"pod a/b/c cpu=1", "expected NAMESPACE/NAME"},
        {"queue q state=open", "column 15: \"open\": expected Open or Closed"},
        {"queue q weight=1x", "expected a number"},
        {"queue q weight=1; queue r weigh=2",
         "column 27: \"weigh\" is no word for a queue; did you mean weight?"},
        {"podgroup ns/g gates=x", "expected none"},
        {"node N1 cpu=1", "this is no name of a node"},
        {"node n2 like=n11", "there is no node n11; did you mean n1?"},
        {"node n11 delete", "there is no Node n11; did you mean n1?"},
        {"node n1", "does not say what to change"},
        {"pod ns/p-1 cpu=1", "there is no Pod ns/p-1; did you mean ns/p-0?"},
        {"podgroup ns/h min=1", "there is no PodGroup ns/h"},
        {"pod ns/p-0 priority=high", "there is no PriorityClass high"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        assert_int_equal(edit(rows[i].edit, &err), -EINVAL);
        if (!strstr(err.text, rows[i].message))
            fail_msg("%s: %s", rows[i].edit, err.text);
    }
}

static void edits_add_and_change_nodes(void **state)
{
    (void)state;
    edit_well("node n[2-3] like=n1 cpu=16; node n9 nvidia.com/gpu=8 gpu=4 label disk=none");
    const json_t *copy = find("v1", "Node", "", "n3"), *fresh = find("v1", "Node", "", "n9");
    assert_non_null(copy);
    assert_string_equal(text_in(copy, "status.allocatable", "cpu"), "16");
    assert_string_equal(text_in(copy, "metadata.labels", "disk"), "ssd");
    assert_string_equal(text_in(copy, "metadata.labels", "kubernetes.io/hostname"), "n3");
    assert_string_not_equal(maar_document_uid(copy), "u");
    assert_int_equal(json_array_size(maar_document_at(copy, "spec.taints")), 1);
    assert_non_null(fresh);
    assert_string_equal(text_in(fresh, "status.allocatable", "nvidia.com/gpu"), "4");
    assert_string_equal(text_in(fresh, "status.allocatable", "pods"), "110");
    assert_string_equal(text_in(fresh, "metadata.labels", "disk"), "none");
    edit_well("node n1 taint a- taint b=c:NoExecute label disk- unschedulable=true");
    const json_t *changed = find("v1", "Node", "", "n1");
    const json_t *taint = json_array_get(maar_document_at(changed, "spec.taints"), 0);
    /* The other one is that of unschedulable nodes. */
    assert_int_equal(json_array_size(maar_document_at(changed, "spec.taints")), 2);
    assert_string_equal(maar_document_text(taint, "key"), "b");
    assert_string_equal(maar_document_text(taint, "value"), "c");
    assert_string_equal(maar_document_text(taint, "effect"), "NoExecute");
    assert_string_equal(text_in(changed, "metadata.labels", "disk"), "");
    assert_true(maar_document_bool(changed, "spec.unschedulable", false));
}

static void edits_of_a_lost_node_let_its_pods_wait_again(void **state)
{
    (void)state;
    edit_well("node n1 delete");
    assert_null(find("v1", "Node", "", "n1"));
    const json_t *pod = find("v1", "Pod", "ns", "p-0");
    assert_string_equal(maar_document_text(pod, "spec.nodeName"), "");
    assert_string_equal(maar_document_text(pod, "status.phase"), "Pending");
    assert_null(find("v1", "Pod", "ns", "agent"));
}

static void edits_change_pods_groups_and_queues(void **state)
{
    (void)state;
    edit_well(
        "pod ns/p-0 cpu=500m; podgroup ns/g min=3 queue=q minResources.cpu=2; queue q weight=3 "
        "capability.gpu=2 guarantee.cpu=1 state=Closed");
    const json_t *pod = find("v1", "Pod", "ns", "p-0");
    const json_t *containers = maar_document_at(pod, "spec.containers");
    assert_string_equal(text_in(json_array_get(containers, 0), "resources.requests", "cpu"),
                        "500m");
    assert_string_equal(text_in(json_array_get(containers, 0), "resources.limits", "cpu"), "");
    assert_string_equal(text_in(json_array_get(containers, 1), "resources.requests", "cpu"), "");
    const json_t *group = find("scheduling.volcano.sh/v1beta1", "PodGroup", "ns", "g");
    assert_int_equal(maar_document_int(group, "spec.minMember", 0), 3);
    assert_string_equal(maar_document_text(group, "spec.queue"), "q");
    assert_string_equal(text_in(group, "spec.minResources", "cpu"), "2");
    const json_t *queue = find("scheduling.volcano.sh/v1beta1", "Queue", "", "q");
    assert_int_equal(maar_document_int(queue, "spec.weight", 0), 3);
    assert_string_equal(text_in(queue, "spec.capability", "nvidia.com/gpu"), "2");
    assert_string_equal(text_in(queue, "spec.guarantee.resource", "cpu"), "1");
    assert_string_equal(maar_document_text(queue, "status.state"), "Closed");
    edit_well("queue q capability.gpu=none; podgroup ns/g delete");
    queue = find("scheduling.volcano.sh/v1beta1", "Queue", "", "q");
    assert_string_equal(text_in(queue, "spec.capability", "nvidia.com/gpu"), "");
    assert_null(find("v1", "Pod", "ns", "p-0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edits_are_refused_with_column_and_expectation, begin, end),
        cmocka_unit_test_setup_teardown(edits_add_and_change_nodes, begin, end),
        cmocka_unit_test_setup_teardown(edits_of_a_lost_node_let_its_pods_wait_again, begin, end),
        cmocka_unit_test_setup_teardown(edits_change_pods_groups_and_queues, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
