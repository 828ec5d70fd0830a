/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Protobuf against JSON: the same object decodes to the same record, whether Kubernetes' own encoder or ours wrote
 * the bytes (data/ holds what k8s.io/api v0.36.1 made of the JSON files there). Broken bytes fail. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record_text.h"
#include "wire/wire.h"

#define DATA      MAAR_TEST_SOURCE_DIR "/test/unit/wire/data/"
#define FILE_MAX_ ((size_t)1 << 20)

static bool keeps(void *context, const char *key)
{
    (void)context;
    return strncmp(key, "kept/", 5) == 0;
}

static const struct maar_wire_options options = {.keeps_pod_annotation = keeps};

static char *read_data(const char *name, size_t *n)
{
    char *data;
    maar_autofree char *path = maar_asprintf("%s%s", DATA, name);
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_file_read(path, FILE_MAX_, &data, n, &err) < 0)
        fail_msg("%s", err.text);
    return data;
}

static json_t *parse(const char *text)
{
    json_error_t fault;
    json_t *value = json_loads(text, 0, &fault);
    if (!value)
        fail_msg("%s: %s", fault.text, text);
    return value;
}

static json_t *read_json(const char *name)
{
    size_t n;
    maar_autofree char *text = read_data(name, &n);
    return parse(text);
}

/* The record's text; frees the record. */
static char *text_of(struct maar_record *record)
{
    struct maar_text text = MAAR_TEXT_INIT;
    record_text(record, &text);
    maar_record_destroy(record);
    return maar_text_steal(&text);
}

static char *decode_json(enum maar_kind kind, const json_t *object)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_record *record;
    if (maar_wire_decode_json(kind, object, &options, &record, &err) < 0)
        fail_msg("%s", err.text);
    return text_of(record);
}

struct seen {
    int n;
    const char *want;
};

static int see_item(void *context, struct maar_record *record, struct maar_error *err)
{
    struct seen *seen = context;
    maar_autofree char *text = text_of(record);
    (void)err;
    assert_string_equal(text, seen->want);
    seen->n++;
    return 0;
}

static void list_of(enum maar_kind kind, const char *json_name, const char *list_name,
                    const char *version, const char *continues, int n_items)
{
    size_t n;
    struct maar_error err = MAAR_ERROR_INIT;
    json_auto_t *object = read_json(json_name);
    maar_autofree char *want = decode_json(kind, object);
    maar_autofree char *data = read_data(list_name, &n);
    struct maar_text resource_version = MAAR_TEXT_INIT;
    struct maar_text continue_token = MAAR_TEXT_INIT;
    struct seen seen = {0, want};
    int rc = maar_wire_decode_protobuf_list(kind, data, n, &options, see_item, &seen,
                                            &resource_version, &continue_token, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_int_equal(seen.n, n_items);
    assert_string_equal(maar_text_get(&resource_version), version);
    assert_string_equal(maar_text_get(&continue_token), continues);
    maar_text_fini(&resource_version);
    maar_text_fini(&continue_token);
}

static void lists_of_kubernetes_decode_like_json(void **state)
{
    (void)state;
    list_of(MAAR_KIND_POD, "pod.json", "podlist.pb", "4711", "next", 2);
    list_of(MAAR_KIND_NODE, "node.json", "nodelist.pb", "12", "", 1);
    list_of(MAAR_KIND_POD, "affinity.json", "affinitylist.pb", "5", "", 1);
    list_of(MAAR_KIND_NAMESPACE, "namespace.json", "namespacelist.pb", "31", "", 1);
}

static void everything_that_scheduling_reads_is_in_the_record(void **state)
{
    (void)state;
    json_auto_t *pod = read_json("pod.json");
    maar_autofree char *text = decode_json(MAAR_KIND_POD, pod);
    assert_string_equal(
        text,
        "Pod team-a/train-worker-0 uid=\"5e50d5ca-ce68-45bf-be72-3f8f5bff1960\" version=\"10042\" "
        "created=1772353800000000000 fault=\"\" \n"
        "  node=\"n7\" nominated=\"n7\" group=\"train-1\" role=\"worker\" phase=1 deleting=1 "
        "hasPriority=1 priority=-5 hasTaskPriority=1 taskPriority=7 preemptable=0 gates=1 "
        "gateNames=\"scheduling.volcano.sh/queue-allocation-gate\" onlyQueueGate=1 "
        "asksQueueGate=0 infeasible=1 \n"
        "  labels{app=train;volcano.sh/job-name=train;volcano.sh/task-index=0;"
        "volcano.sh/task-spec=from-label;zone=b;} \n"
        "  annotations{kept/one=a value;} \n"
        "  container: always=0 resized=1 requests{cpu=1500;ephemeral-storage=1000000000;"
        "example.com/half=1;memory=2147483648;nvidia.com/gpu=2;} "
        "status{cpu=1000;memory=3221225472;} allocated{cpu=1200;memory=1073741824;} \n"
        "  container: always=0 resized=1 requests{} status{} allocated{} \n"
        "  init: always=0 resized=0 requests{cpu=5000;} status{} allocated{} \n"
        "  init: always=1 resized=1 requests{cpu=100;memory=1000000;} status{cpu=200;} "
        "allocated{cpu=150;} \n"
        "  podLevel{cpu=3000;hugepages-2Mi=4194304;} overhead{cpu=250;memory=125829120;} \n"
        "  nodeSelector{arch=amd64;disk=ssd;} \n"
        "  required=1 term{zone 0 0 [a,b,];gen 4 3 [3,];broken 6 0 [x,];"
        "field metadata.name 1 0 [n3,];} term{} \n"
        "  preferred 40 term{disk 2 0 [];} \n"
        "  toleration \"gpu\" \"true\" 0 1\n"
        "  toleration \"\" \"\" 1 0\n"
        "  toleration \"speed\" \"5\" 3 2\n"
        "  toleration \"odd\" \"\" 4 4\n"
        "  anti-affinity 0 by \"kubernetes.io/hostname\" pods{app 0 0 [train,];} in{team-a;} or "
        "in-{} \n"
        "  spread by \"zone\" skew=1 domains=1 hard=1 affinity=1 taints=0 pods{app 0 0 [train,];} "
        "\n"
        "  port 10.0.0.1 UDP 8080\n"
        "  port  TCP 2222\n"
        "  port  TCP 15001\n"
        "  image busybox:1\n"
        "  image proxy:2\n"
        "  image registry.example.com/train:1.2.3\n"
        "  image second:1\n"
        "  priorityClass=\"low\" scheduler=\"volcano\" preemption=\"Never\" unsupported=3 "
        "condition{PodScheduled|False|Unschedulable|0/3 nodes are available – wait|} ");
    json_auto_t *near = read_json("affinity.json");
    maar_autofree char *near_text = decode_json(MAAR_KIND_POD, near);
    assert_string_equal(
        strstr(near_text, "\n  required"),
        "\n  required=0 "
        "\n  affinity 0 by \"topology.kubernetes.io/zone\" pods{app 0 0 [store,];tier 0 0 [db,];"
        "track 1 0 [canary,test,];ready 2 0 [];retired 3 0 [];rev 0 0 [2,];tenant 1 0 [t1,];} "
        "in{team-a;} or in-{} "
        "\n  preferred affinity 100 by \"rack\" pods{} in{team-b;team-c;} or in{team 0 0 [blue,];} "
        "\n  anti-affinity 0 by \"kubernetes.io/hostname\" pods{app 0 0 [web,];rev 0 0 [2,];} in{} "
        "or in{} "
        "\n  anti-affinity 0 by \"kubernetes.io/hostname\" pods-{} in{team-a;} or in-{} "
        "\n  preferred anti-affinity 1 by \"rack\" pods{} in{team-a;} or in-{} "
        "\n  spread by \"topology.kubernetes.io/zone\" skew=2 domains=3 hard=1 affinity=0 taints=1 "
        "pods{app 0 0 [web,];rev 0 0 [2,];} "
        "\n  spread by \"rack\" skew=1 domains=1 hard=0 affinity=1 taints=0 pods-{} "
        "\n  image :latest"
        "\n  priorityClass=\"\" scheduler=\"\" preemption=\"\" unsupported=0 condition{||||} ");
    json_auto_t *space = read_json("namespace.json");
    maar_autofree char *space_text = decode_json(MAAR_KIND_NAMESPACE, space);
    assert_string_equal(space_text,
                        "Namespace /team-a uid=\"ns-uid-1\" version=\"31\" created=0 fault=\"\" \n"
                        "  labels{kubernetes.io/metadata.name=team-a;team=blue;} ");
    json_auto_t *node = read_json("node.json");
    maar_autofree char *node_text = decode_json(MAAR_KIND_NODE, node);
    assert_string_equal(
        node_text,
        "Node /gpu-node-1 uid=\"n-uid-1\" version=\"77\" created=1767225600000000000 fault=\"\" \n"
        "  labels{beta.kubernetes.io/arch=amd64;kubernetes.io/hostname=gpu-node-1;zone=a;} "
        "taint zz=v:1 taint aa=:3 taint bb=:2 unschedulable=1 ready=0 "
        "allocatable{cpu=63500;ephemeral-storage=829375614112;hugepages-1Gi=0;"
        "memory=266240000000;nvidia.com/gpu=7;pods=110;} "
        "image registry/x:1 123 ");
}

/* Objects whose records must be equal after our own encoder. */
static const struct {
    enum maar_kind kind;
    const char *json;
} objects[] = {
    {MAAR_KIND_POD, "{\"metadata\": {\"name\": \"bare\"}}"},
    {MAAR_KIND_NODE,
     "{\"metadata\": {\"name\": \"n\"}, \"status\": {\"images\": [{\"names\": [\"b:1\", "
     "\"a@sha256:1\", \"a:1\"], \"sizeBytes\": 7}, {\"names\": [\"a:1\"], "
     "\"sizeBytes\": 3}, {\"sizeBytes\": 9}]}}"},
    {MAAR_KIND_POD, "{\"metadata\": {\"name\": \"i\"}, \"spec\": {\"containers\": [{\"image\": "
                    "\"reg:5000/a\"}], \"volumes\": [{\"name\": \"v\", \"image\": "
                    "{\"reference\": \"model@sha256:1\"}}]}}"},
    {MAAR_KIND_POD,
     "{\"metadata\": {\"name\": \"p\", \"namespace\": \"d\", \"labels\": {\"b\": \"1\", "
     "\"a\": \"2\"}, \"creationTimestamp\": null}, \"spec\": {\"containers\": [{}, "
     "{\"resources\": {\"requests\": {\"cpu\": 0.1, \"memory\": 5, \"count/x\": 1}}}]}}"},
    {MAAR_KIND_POD,
     "{\"metadata\": {\"name\": \"bad\"}, \"spec\": {\"containers\": [{\"name\": \"a\"}, "
     "{\"resources\": {\"requests\": {\"cpu\": \"12x\"}}}]}}"},
    {MAAR_KIND_POD,
     "{\"metadata\": {\"name\": \"bad\"}, \"spec\": {\"initContainers\": [{\"resources\": "
     "{\"requests\": {\"nvidia.com/gpu\": \"-1\"}}}]}}"},
    {MAAR_KIND_POD,
     "{\"metadata\": {\"name\": \"bad\"}, \"spec\": {\"overhead\": {\"memory\": \"1Q\"}}}"},
    {MAAR_KIND_POD, "{\"metadata\": {\"name\": \"v\"}, \"spec\": {\"affinity\": {\"nodeAffinity\": "
                    "{\"requiredDuringSchedulingIgnoredDuringExecution\": {}}}, \"volumes\": "
                    "[{\"name\": \"e\", \"ephemeral\": {\"volumeClaimTemplate\": {}}}]}}"},
    {MAAR_KIND_POD,
     "{\"metadata\": {\"name\": \"g\", \"annotations\": {"
     "\"scheduling.volcano.sh/group-name\": \"alias\", \"volcano.sh/preemptable\": \"?\"}}, "
     "\"spec\": {\"schedulingGates\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}, "
     "\"status\": {\"phase\": \"Odd\"}}"},
    {MAAR_KIND_POD, "{\"metadata\": {\"name\": \"t\", \"annotations\": {\"kept/n\": null}, "
                    "\"labels\": {\"l\": null}}}"},
    {MAAR_KIND_POD, "{\"metadata\": {\"name\": \"s\"}, \"status\": {\"containerStatuses\": "
                    "[{\"allocatedResources\": {\"cpu\": \"G\"}}]}}"},
    {MAAR_KIND_NODE, "{\"metadata\": {\"name\": \"n\"}}"},
    {MAAR_KIND_NODE, "{\"metadata\": {\"name\": \"n\"}, \"status\": {\"capacity\": {\"cpu\": 4}}}"},
    {MAAR_KIND_NODE,
     "{\"metadata\": {\"name\": \"n\"}, \"status\": {\"allocatable\": {\"cpu\": -4, "
     "\"memory\": \"1.5Gi\", \"storage\": \"?\"}, \"conditions\": [{\"type\": \"Ready\", "
     "\"status\": \"True\"}, {\"type\": \"Ready\", \"status\": \"False\"}]}}"},
};

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define TERM(members)                                                                              \
    "'affinity': {'podAffinity': {'" REQUIRED "': [{'topologyKey': 'a', " members "}]}}"
#define AT "spec.affinity.podAffinity." REQUIRED "[0]."
#define SPREAD(members)                                                                            \
    "'topologySpreadConstraints': [{'topologyKey': 'a', 'whenUnsatisfiable': "                     \
    "'DoNotSchedule', " members "}]"

/* Faults of pod affinity and topology spread; what is sound has none. */
static const struct {
    const char *spec;
    const char *fault;
} affinity_rows[] = {
    {"'affinity': {'podAffinity': {'" REQUIRED "': [{'labelSelector': {}}]}}",
     "spec.affinity.podAffinity." REQUIRED "[0].topologyKey: must not be empty"},
    {"'affinity': {'podAntiAffinity': {'" REQUIRED
     "': [{'topologyKey': 'a'}, {'topologyKey': 'a b'}]}}",
     "spec.affinity.podAntiAffinity." REQUIRED "[1].topologyKey: \"a b\" is not a label key"},
    {"'affinity': {'podAffinity': {'" PREFERRED "': [{'podAffinityTerm': {'topologyKey': 'a'}}]}}",
     "spec.affinity.podAffinity." PREFERRED "[0].weight: is 0, must be 1 to 100"},
    {"'affinity': {'podAffinity': {'" PREFERRED "': [{'weight': 101, 'podAffinityTerm': "
     "{'topologyKey': 'a'}}]}}",
     "spec.affinity.podAffinity." PREFERRED "[0].weight: is 101, must be 1 to 100"},
    {"'affinity': {'podAntiAffinity': {'" PREFERRED "': [{'weight': 1}]}}",
     "spec.affinity.podAntiAffinity." PREFERRED
     "[0].podAffinityTerm.topologyKey: must not be empty"},
    {TERM("'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'Foo'}]}"),
     AT "labelSelector.matchExpressions[0].operator: \"Foo\" is not one of In, NotIn, Exists, "
        "DoesNotExist"},
    {TERM("'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'Gt', 'values': "
          "['1']}]}"),
     AT "labelSelector.matchExpressions[0].operator: \"Gt\" is not one of In, NotIn, Exists, "
        "DoesNotExist"},
    {TERM("'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['1']}, "
          "{'key': 'a', 'operator': 'NotIn'}]}"),
     AT "labelSelector.matchExpressions[1].values: must not be empty with operator NotIn"},
    {TERM("'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'Exists', 'values': "
          "['b']}]}"),
     AT "labelSelector.matchExpressions[0].values: must be empty with operator Exists"},
    {TERM("'labelSelector': {'matchExpressions': [{'operator': 'Exists'}]}"),
     AT "labelSelector.matchExpressions[0].key: \"\" is not a label key"},
    {TERM("'labelSelector': {'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['b', "
          "'c d']}]}"),
     AT "labelSelector.matchExpressions[0].values[1]: \"c d\" is not a label value"},
    {TERM("'labelSelector': {'matchLabels': {'a': 'b c'}}"),
     AT "labelSelector.matchLabels.a: \"b c\" is not a label value"},
    {TERM("'labelSelector': {'matchLabels': {'-a': 'b'}}"),
     AT "labelSelector.matchLabels.-a: is not a label key"},
    {TERM("'namespaceSelector': {'matchExpressions': [{'key': 'a', 'operator': ''}]}"),
     AT "namespaceSelector.matchExpressions[0].operator: \"\" is not one of In, NotIn, Exists, "
        "DoesNotExist"},
    {SPREAD("'maxSkew': 0"), "spec.topologySpreadConstraints[0].maxSkew: is 0, must be at least 1"},
    {SPREAD("'maxSkew': -1"),
     "spec.topologySpreadConstraints[0].maxSkew: is -1, must be at least 1"},
    {SPREAD("'minDomains': 0, 'maxSkew': 1"),
     "spec.topologySpreadConstraints[0].minDomains: is 0, must be at least 1"},
    {SPREAD("'maxSkew': 1, 'nodeAffinityPolicy': 'No'"),
     "spec.topologySpreadConstraints[0].nodeAffinityPolicy: \"No\" is not one of Honor, Ignore"},
    {SPREAD("'maxSkew': 1, 'nodeTaintsPolicy': 'honor'"),
     "spec.topologySpreadConstraints[0].nodeTaintsPolicy: \"honor\" is not one of Honor, Ignore"},
    {SPREAD("'maxSkew': 1, 'labelSelector': {'matchLabels': {'a': '-'}}"),
     "spec.topologySpreadConstraints[0].labelSelector.matchLabels.a: \"-\" is not a label value"},
    {"'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'a'}]",
     "spec.topologySpreadConstraints[0].whenUnsatisfiable: \"\" is not one of DoNotSchedule, "
     "ScheduleAnyway"},
    {"'topologySpreadConstraints': [{'maxSkew': 1, 'whenUnsatisfiable': 'DoNotSchedule'}]",
     "spec.topologySpreadConstraints[0].topologyKey: must not be empty"},
    {TERM("'labelSelector': {'matchLabels': {'a': ''}}, 'matchLabelKeys': ['gone']"), ""},
    {TERM("'namespaces': ['x'], 'namespaceSelector': {'matchLabels': {}}"), ""},
    {SPREAD("'maxSkew': 1, 'minDomains': 1, 'nodeAffinityPolicy': 'Honor'"), ""},
    {"'affinity': {'podAffinity': null, 'podAntiAffinity': {'" REQUIRED "': null}}", ""},
};

static void compare_through_encoder(enum maar_kind kind, const json_t *object)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_record *record;
    void *data;
    size_t n;
    if (maar_wire_encode_protobuf(kind, object, &data, &n, &err) < 0)
        fail_msg("%s", err.text);
    int rc = maar_wire_decode_protobuf(kind, data, n, &options, &record, &err);
    free(data);
    if (rc < 0)
        fail_msg("%s", err.text);
    maar_autofree char *want = decode_json(kind, object);
    maar_autofree char *got = text_of(record);
    assert_string_equal(got, want);
}

static void what_our_encoder_writes_decodes_like_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        json_auto_t *object = parse(objects[i].json);
        compare_through_encoder(objects[i].kind, object);
    }
    json_auto_t *pod = read_json("pod.json");
    json_auto_t *node = read_json("node.json");
    compare_through_encoder(MAAR_KIND_POD, pod);
    compare_through_encoder(MAAR_KIND_NODE, node);
}

/* JSON with ' for ". */
static json_t *parse_spec(const char *spec)
{
    maar_autofree char *text =
        maar_asprintf("{'metadata': {'name': 'p', 'namespace': 'd'}, 'spec': {%s}}", spec);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return parse(text);
}

static void affinity_that_kubernetes_refuses_is_a_fault_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof affinity_rows / sizeof affinity_rows[0]; i++) {
        struct maar_record *record;
        json_auto_t *pod = parse_spec(affinity_rows[i].spec);
        assert_int_equal(maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, NULL), 0);
        if (strcmp(record->fault, affinity_rows[i].fault) != 0)
            fail_msg("%s: \"%s\", want \"%s\"", affinity_rows[i].spec, record->fault,
                     affinity_rows[i].fault);
        maar_record_destroy(record);
        compare_through_encoder(MAAR_KIND_POD, pod);
    }
}

static void a_pod_of_very_much_affinity_is_quarantined(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *item;
    } rows[] = {
        {"topologySpreadConstraints", "{}"},
        {"topologySpreadConstraints",
         "{\"maxSkew\": 1, \"matchLabelKeys\": [\"a\", \"b\", \"c\", \"d\"]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_auto_t *pod = parse_spec("");
        json_t *list = json_array();
        json_object_set_new(json_object_get(pod, "spec"), rows[i].key, list);
        for (int n = i == 0 ? 1025 : 256; n > 0; n--)
            json_array_append_new(list, parse(rows[i].item));
        struct maar_record *record;
        assert_int_equal(maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, NULL), 0);
        assert_string_equal(record->fault, "spec: more than 1024 terms and values in pod affinity "
                                           "and topology spread");
        assert_int_equal(record->pod.spec.n_spread, 0);
        maar_record_destroy(record);
        compare_through_encoder(MAAR_KIND_POD, pod);
    }
}

/* A small generator; the same objects in every run. */
static uint32_t seed = 1;

static unsigned draw(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static json_t *random_amounts(void)
{
    static const char *const names[] = {"cpu",     "memory",       "pods", "nvidia.com/gpu",
                                        "storage", "hugepages-2Mi"};
    static const char *const texts[] = {"0", "1", "1500m", "2Gi", "0.3", "1e3", "7E", "100u"};
    json_t *map = json_object();
    for (unsigned n = draw(4); n > 0; n--)
        json_object_set_new(map, names[draw(6)], json_string(texts[draw(8)]));
    return map;
}

static json_t *random_container(void)
{
    json_t *container = json_pack("{s:o, s:s}", "resources",
                                  json_pack("{s:o}", "requests", random_amounts()), "image", "i");
    char name[8] = {'c', (char)('0' + draw(3)), '\0'};
    json_object_set_new(container, "name", json_string(name));
    if (draw(2))
        json_object_set_new(container, "restartPolicy", json_string(draw(2) ? "Always" : ""));
    if (draw(3) == 0)
        json_object_set_new(
            container, "ports",
            json_pack("[{s:i, s:i}]", "hostPort", draw(2) * 90, "containerPort", 7));
    return container;
}

static json_t *random_status(void)
{
    char name[8] = {'c', (char)('0' + draw(3)), '\0'};
    json_t *status = json_pack("{s:s, s:o}", "name", name, "allocatedResources", random_amounts());
    if (draw(2))
        json_object_set_new(status, "resources", json_pack("{s:o}", "requests", random_amounts()));
    return status;
}

static json_t *random_list(json_t *(*item)(void))
{
    json_t *list = json_array();
    for (unsigned n = draw(4); n > 0; n--)
        json_array_append_new(list, item());
    return list;
}

static json_t *random_requirement(void)
{
    static const char *const keys[] = {"zone", "a/b", "", "UP.case/x", "-bad"};
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist",
                                            "Gt", "Lt",    "",       "Near"};
    static const char *const values[] = {"a", "7", "-3", "not a label!", ""};
    json_t *requirement =
        json_pack("{s:s, s:s}", "key", keys[draw(5)], "operator", operators[draw(8)]);
    json_t *list = json_array();
    for (unsigned n = draw(3); n > 0; n--)
        json_array_append_new(list, json_string(values[draw(5)]));
    json_object_set_new(requirement, "values", list);
    return requirement;
}

static json_t *random_term(void)
{
    json_t *term = json_object();
    if (draw(3))
        json_object_set_new(term, "matchExpressions", random_list(random_requirement));
    if (draw(3) == 0)
        json_object_set_new(term, "matchFields", random_list(random_requirement));
    return term;
}

static json_t *random_pod(void)
{
    json_t *affinity =
        json_pack("{s:{s:{s:o}, s:[{s:i, s:o}]}}", "nodeAffinity",
                  "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
                  random_list(random_term), "preferredDuringSchedulingIgnoredDuringExecution",
                  "weight", (int)draw(200) - 100, "preference", random_term());
    json_t *spec = json_pack("{s:o, s:o, s:o, s:b}", "containers", random_list(random_container),
                             "initContainers", random_list(random_container), "overhead",
                             random_amounts(), "hostNetwork", (int)draw(2));
    json_object_set_new(spec, "affinity", affinity);
    json_t *status = json_pack("{s:o, s:o}", "containerStatuses", random_list(random_status),
                               "initContainerStatuses", random_list(random_status));
    return json_pack("{s:{s:s}, s:o, s:o}", "metadata", "name", "p", "spec", spec, "status",
                     status);
}

static void random_pods_decode_the_same_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        json_auto_t *pod = random_pod();
        compare_through_encoder(MAAR_KIND_POD, pod);
    }
}

static void cut_off_and_damaged_bytes_never_crash(void **state)
{
    (void)state;
    size_t n;
    maar_autofree char *data = read_data("podlist.pb", &n);
    for (size_t i = 0; i < n; i++) {
        struct maar_text a = MAAR_TEXT_INIT;
        struct maar_text b = MAAR_TEXT_INIT;
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_record *record = NULL;
        char *cut = maar_malloc(i ? i : 1); /* exact, so that a read past the end is seen */
        memcpy(cut, data, i);
        if (maar_wire_decode_protobuf(MAAR_KIND_POD, cut, i, &options, &record, &err) == 0)
            maar_record_destroy(record);
        assert_true(maar_wire_decode_protobuf_list(MAAR_KIND_NODE, cut, i, NULL, see_item, NULL, &a,
                                                   &b, &err) < 0);
        free(cut);
        maar_text_fini(&a);
        maar_text_fini(&b);
    }
}

static const struct {
    const char *name;
    const char *data;
    size_t n;
    const char *want;
} broken[] = {
    {"a field of number 0", "\x00\x01", 2, "Pod: protobuf has a field of an impossible number"},
    {"a group", "\x0b", 1, "Pod: protobuf has a field of an unknown wire type"},
    {"a length past the end", "\x0a\x05", 2, "Pod: protobuf is cut off inside a field"},
    {"a length near 2^64", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
     "Pod: protobuf is cut off inside a field"},
    {"an endless number", "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12,
     "Pod: protobuf has a number of more than 64 bits"},
    {"a number where metadata belongs", "\x08\x01", 2,
     "Pod: protobuf has a field of the wrong wire type"},
    {"a NUL in the name", "\x0a\x04\x0a\x02\x61\x00", 6, "Pod: protobuf has a NUL in a text"},
    {"no name", "\x0a\x00", 2, "Pod: has no metadata.name"},
    {"nothing", "", 0, "Pod: has no metadata.name"},
};

static void broken_messages_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_record *record = NULL;
        int rc = maar_wire_decode_protobuf(MAAR_KIND_POD, broken[i].data, broken[i].n, NULL,
                                           &record, &err);
        if (rc != -22 || strcmp(err.text, broken[i].want) != 0)
            fail_msg("%s: %d, %s", broken[i].name, rc, err.text);
    }
}

static void a_pod_of_very_many_containers_is_quarantined(void **state)
{
    (void)state;
    json_auto_t *pod = parse("{\"metadata\": {\"name\": \"p\"}, \"spec\": {\"containers\": []}}");
    json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
    for (int i = 0; i < 1100; i++)
        json_array_append_new(containers, json_object());
    compare_through_encoder(MAAR_KIND_POD, pod);
    struct maar_record *record;
    assert_int_equal(maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, NULL), 0);
    assert_string_equal(record->fault, "spec.containers: more than 1024 containers");
    maar_record_destroy(record);
}

static void a_status_instead_of_a_list_is_an_error_with_its_text(void **state)
{
    (void)state;
    size_t n;
    maar_autofree char *data = read_data("status.pb", &n);
    struct maar_text a = MAAR_TEXT_INIT;
    struct maar_text b = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    assert_true(maar_wire_decode_protobuf_list(MAAR_KIND_POD, data, n, NULL, see_item, NULL, &a, &b,
                                               &err) < 0);
    assert_string_equal(err.text, "server answers 410: too old resource version: 1 (5)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_kubernetes_decode_like_json),
        cmocka_unit_test(everything_that_scheduling_reads_is_in_the_record),
        cmocka_unit_test(what_our_encoder_writes_decodes_like_json),
        cmocka_unit_test(random_pods_decode_the_same_both_ways),
        cmocka_unit_test(cut_off_and_damaged_bytes_never_crash),
        cmocka_unit_test(broken_messages_are_refused),
        cmocka_unit_test(affinity_that_kubernetes_refuses_is_a_fault_with_its_place),
        cmocka_unit_test(a_pod_of_very_much_affinity_is_quarantined),
        cmocka_unit_test(a_pod_of_very_many_containers_is_quarantined),
        cmocka_unit_test(a_status_instead_of_a_list_is_an_error_with_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
