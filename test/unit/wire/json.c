/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Objects from JSON: faults and their texts, rules of single fields, and each kind in one piece. */

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

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Tables are written with ' for ". */
static json_t *parse(const char *text)
{
    json_error_t fault;
    maar_autofree char *plain = maar_strdup(text);
    for (char *c = plain; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *value = json_loads(plain, JSON_DECODE_ANY, &fault);
    if (!value)
        fail_msg("%s: %s", fault.text, text);
    return value;
}

static bool keeps(void *context, const char *key)
{
    (void)context;
    return strncmp(key, "kept/", 5) == 0;
}

static const struct maar_wire_options options = {
    .keeps_pod_annotation = keeps,
    .keeps_group_annotation = keeps,
    .keeps_queue_annotation = keeps,
};

static struct maar_record *decode(enum maar_kind kind, const char *text)
{
    struct maar_record *record = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    json_auto_t *object = parse(text);
    if (maar_wire_decode_json(kind, object, &options, &record, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return record;
}

static void expect_text(enum maar_kind kind, const char *json, const char *want)
{
    struct maar_text text = MAAR_TEXT_INIT;
    struct maar_record *record = decode(kind, json);
    record_text(record, &text);
    assert_string_equal(maar_text_get(&text), want);
    maar_text_fini(&text);
    maar_record_destroy(record);
}

static const struct {
    enum maar_kind kind;
    const char *json;
    const char *fault;
} faults[] = {
    {MAAR_KIND_POD,
     "{'metadata':{'name':'p'},'spec':{'containers':[{},{'resources':{'requests':{'cpu':'12x'}}}]}"
     "}",
     "spec.containers[1].resources.requests.cpu: quantity \"12x\": unknown suffix \"x\""},
    {MAAR_KIND_POD,
     "{'metadata':{'name':'p'},'spec':{'containers':[{'resources':{'requests':{'nvidia.com/"
     "gpu':'-2'}}}]}}",
     "spec.containers[0].resources.requests[nvidia.com/gpu]: quantity \"-2\": must not be "
     "negative"},
    {MAAR_KIND_POD,
     "{'metadata':{'name':'p'},'spec':{'containers':[{'resources':{'requests':{'cpu':true}}}]}}",
     "spec.containers[0].resources.requests.cpu: is a truth value, must be a quantity"},
    {MAAR_KIND_POD,
     "{'metadata':{'name':'p'},'spec':{'containers':[{'resources':{'requests':[1]}}]}}",
     "spec.containers[0].resources.requests: is a list, must be a map"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'containers':'x'}}",
     "spec.containers: is a text, must be a list"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'containers':[3]}}",
     "spec.containers[0]: is a number, must be a map"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':[]}", "spec: is a list, must be a map"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p','labels':{'a.b/c':1}}}",
     "metadata.labels[a.b/c]: is a number, must be a text"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p','creationTimestamp':'yesterday'}}",
     "metadata.creationTimestamp: \"yesterday\" is not a time"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p','uid':7}}",
     "metadata.uid: is a number, must be a text"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'priority':3000000000}}",
     "spec.priority: is not an integer of 32 bits"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'priority':1.5}}",
     "spec.priority: is not an integer of 32 bits"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'priority':'1'}}",
     "spec.priority: is a text, must be a number"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'hostNetwork':'yes'}}",
     "spec.hostNetwork: is a text, must be true or false"},
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'nodeName':1,'priority':'x'}}",
     "spec.nodeName: is a number, must be a text"}, /* the first of several */
    {MAAR_KIND_POD, "{'metadata':{'name':'p'},'spec':{'overhead':{'memory':'-1'}}}",
     "spec.overhead.memory: quantity \"-1\": must not be negative"},
    {MAAR_KIND_NODE, "{'metadata':{'name':'n'},'status':{'allocatable':{'memory':'4gb'}}}",
     "status.allocatable.memory: quantity \"4gb\": unknown suffix \"gb\""},
    {MAAR_KIND_NODE, "{'metadata':{'name':'n'},'spec':{'taints':[{'key':{}}]}}",
     "spec.taints[0].key: is a map, must be a text"},
    {MAAR_KIND_POD_GROUP, "{'metadata':{'name':'g'},'spec':{'minMember':-1}}",
     "spec.minMember: -1 must not be negative"},
    {MAAR_KIND_POD_GROUP, "{'metadata':{'name':'g'},'spec':{'minTaskMember':{'w':'2'}}}",
     "spec.minTaskMember.w: is a text, must be a number"},
    {MAAR_KIND_POD_GROUP, "{'metadata':{'name':'g'},'status':{'phase':'Sleeping'}}",
     "status.phase: \"Sleeping\" is not known"},
    {MAAR_KIND_POD_GROUP, "{'metadata':{'name':'g'},'spec':{'subGroupPolicy':{}}}",
     "spec.subGroupPolicy: is a map, must be a list"},
    {MAAR_KIND_POD_GROUP,
     "{'metadata':{'name':'g'},'spec':{'subGroupPolicy':[{},{'subGroupSize':0}]}}",
     "spec.subGroupPolicy[1].subGroupSize: 0 must be at least 1"},
    {MAAR_KIND_POD_GROUP,
     "{'metadata':{'name':'g'},'spec':{'subGroupPolicy':[{'minSubGroups':-1}]}}",
     "spec.subGroupPolicy[0].minSubGroups: -1 must be at least 0"},
    {MAAR_KIND_POD_GROUP,
     "{'metadata':{'name':'g'},'spec':{'subGroupPolicy':[{'matchLabelKeys':['a','b c']}]}}",
     "spec.subGroupPolicy[0].matchLabelKeys[1]: \"b c\" is not a label key"},
    {MAAR_KIND_POD_GROUP,
     "{'metadata':{'name':'g'},'spec':{'subGroupPolicy':[{'labelSelector':{'matchExpressions':"
     "[{'key':'a','operator':'Like','values':['b']}]}}]}}",
     "spec.subGroupPolicy[0].labelSelector.matchExpressions[0].operator: \"Like\" is not one of "
     "In, NotIn, Exists, DoesNotExist"},
    {MAAR_KIND_QUEUE, "{'metadata':{'name':'q'},'spec':{'weight':-3}}",
     "spec.weight: -3 must not be negative"},
    {MAAR_KIND_QUEUE, "{'metadata':{'name':'q'},'spec':{'dequeueStrategy':'lifo'}}",
     "spec.dequeueStrategy: \"lifo\" is not known"},
    {MAAR_KIND_QUEUE, "{'metadata':{'name':'q'},'spec':{'capability':{'cpu':''}}}",
     "spec.capability.cpu: quantity is empty"},
    {MAAR_KIND_PRIORITY_CLASS, "{'metadata':{'name':'c'},'value':'high'}",
     "value: is a text, must be a number"},
    /* Sound: unknown fields, unknown operators, quantities that do not count, null for absent. */
    {MAAR_KIND_POD,
     "{'metadata':{'name':'p','managedFields':7},'spec':{'containers':[{'env':9,'resources':{'"
     "requests':"
     "{'storage':'?','count/pods':'?','requests.cpu':'?'}}}],'volumes':null,'priority':null}}",
     ""},
    {MAAR_KIND_QUEUE, "{'metadata':{'name':'q'},'spec':{'weight':5.0}}", ""},
};

static void a_value_of_the_wrong_kind_quarantines_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct maar_record *record = decode(faults[i].kind, faults[i].json);
        if (strcmp(record->fault, faults[i].fault) != 0)
            fail_msg("%s: \"%s\", want \"%s\"", faults[i].json, record->fault, faults[i].fault);
        maar_record_destroy(record);
    }
}

static void what_has_no_name_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]",
                                        "{}",
                                        "3",
                                        "{'metadata':[]}",
                                        "{'metadata':{}}",
                                        "{'metadata':{'name':''}}",
                                        "{'metadata':{'name':4}}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct maar_record *record = NULL;
        json_auto_t *object = parse(texts[i]);
        assert_int_equal(maar_wire_decode_json(MAAR_KIND_POD, object, NULL, &record, NULL), -22);
        assert_null(record);
    }
}

static const struct {
    const char *metadata; /* without the name */
    const char *group;
    const char *role;
    bool preemptable;
    int32_t task_priority; /* -1: none */
} annotation_rows[] = {
    {"", "", "", true, -1},
    {"'annotations':{'scheduling.k8s.io/group-name':'a'}", "a", "", true, -1},
    {"'annotations':{'scheduling.volcano.sh/group-name':'b'}", "b", "", true, -1},
    {"'annotations':{'scheduling.volcano.sh/group-name':'b','scheduling.k8s.io/group-name':'a'}",
     "a", "", true, -1},
    {"'annotations':{'scheduling.volcano.sh/group-name':'b','scheduling.k8s.io/group-name':''}",
     "b", "", true, -1},
    {"'labels':{'scheduling.k8s.io/group-name':'a'}", "", "", true, -1},
    {"'labels':{'volcano.sh/task-spec':'l'}", "", "l", true, -1},
    {"'labels':{'volcano.sh/task-spec':'l'},'annotations':{'volcano.sh/task-spec':'a'}", "", "a",
     true, -1},
    {"'labels':{'volcano.sh/task-spec':'l'},'annotations':{'volcano.sh/task-spec':''}", "", "l",
     true, -1},
    {"'annotations':{'volcano.sh/preemptable':'false'}", "", "", false, -1},
    {"'annotations':{'volcano.sh/preemptable':'F'}", "", "", false, -1},
    {"'annotations':{'volcano.sh/preemptable':'maybe'}", "", "", false, -1},
    {"'annotations':{'volcano.sh/preemptable':''}", "", "", false, -1},
    {"'labels':{'volcano.sh/preemptable':'0'}", "", "", false, -1},
    {"'labels':{'volcano.sh/preemptable':'0'},'annotations':{'volcano.sh/preemptable':'True'}", "",
     "", true, -1},
    {"'annotations':{'volcano.sh/task-priority':'12'}", "", "", true, 12},
    {"'annotations':{'volcano.sh/task-priority':'+3'}", "", "", true, 3},
    {"'annotations':{'volcano.sh/task-priority':'2147483648'}", "", "", true, -1},
    {"'annotations':{'volcano.sh/task-priority':'1.0'}", "", "", true, -1},
    {"'annotations':{'volcano.sh/task-priority':' 1'}", "", "", true, -1},
};

static void annotations_and_labels_follow_volcano(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(annotation_rows); i++) {
        const char *metadata = annotation_rows[i].metadata;
        maar_autofree char *text =
            maar_asprintf("{'metadata':{'name':'p'%s%s}}", *metadata ? "," : "", metadata);
        struct maar_record *record = decode(MAAR_KIND_POD, text);
        const struct maar_pod_record *pod = &record->pod;
        int32_t priority = pod->has_task_priority ? pod->task_priority : -1;
        if (strcmp(pod->group, annotation_rows[i].group) != 0 ||
            strcmp(pod->role, annotation_rows[i].role) != 0 ||
            pod->preemptable != annotation_rows[i].preemptable ||
            priority != annotation_rows[i].task_priority || *record->fault)
            fail_msg("%s: %s %s %d %d %s", text, pod->group, pod->role, pod->preemptable, priority,
                     record->fault);
        maar_record_destroy(record);
    }
}

static const struct {
    const char *requirement;
    bool is_field;
    enum maar_operator op;
    int64_t number;
} requirement_rows[] = {
    {"'key':'a','operator':'In','values':['x']", false, MAAR_OP_IN, 0},
    {"'key':'a','operator':'In','values':[]", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'In'", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'NotIn','values':['x','']", false, MAAR_OP_NOT_IN, 0},
    {"'key':'a','operator':'NotIn','values':['no label!']", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'Exists'", false, MAAR_OP_EXISTS, 0},
    {"'key':'a','operator':'Exists','values':['x']", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'DoesNotExist'", false, MAAR_OP_DOES_NOT_EXIST, 0},
    {"'key':'a','operator':'Gt','values':['7']", false, MAAR_OP_GT, 7},
    {"'key':'a','operator':'Lt','values':['9223372036854775807']", false, MAAR_OP_LT, INT64_MAX},
    {"'key':'a','operator':'Lt','values':['9223372036854775808']", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'Gt','values':['7.5']", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'Gt','values':['7','8']", false, MAAR_OP_INVALID, 0},
    {"'key':'a','operator':'in','values':['x']", false, MAAR_OP_INVALID, 0},
    {"'key':'','operator':'Exists'", false, MAAR_OP_INVALID, 0},
    {"'key':'a/b/c','operator':'Exists'", false, MAAR_OP_INVALID, 0},
    {"'key':'Upper.com/x','operator':'Exists'", false, MAAR_OP_INVALID, 0},
    {"'key':'ok.com/X_y.z-1','operator':'Exists'", false, MAAR_OP_EXISTS, 0},
    {"'key':'metadata.name','operator':'In','values':['n1']", true, MAAR_OP_IN, 0},
    {"'key':'metadata.name','operator':'NotIn','values':['n1']", true, MAAR_OP_NOT_IN, 0},
    {"'key':'metadata.name','operator':'In','values':['n1','n2']", true, MAAR_OP_INVALID, 0},
    {"'key':'metadata.name','operator':'Exists'", true, MAAR_OP_INVALID, 0},
};

static void a_requirement_that_kubernetes_cannot_use_is_invalid_but_no_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(requirement_rows); i++) {
        bool is_field = requirement_rows[i].is_field;
        maar_autofree char *text = maar_asprintf(
            "{'metadata':{'name':'p'},'spec':{'affinity':{'nodeAffinity':{"
            "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'%s':[{%s}]}]}"
            "}}}}",
            is_field ? "matchFields" : "matchExpressions", requirement_rows[i].requirement);
        struct maar_record *record = decode(MAAR_KIND_POD, text);
        assert_true(record->pod.spec.has_required_affinity);
        const struct maar_requirement *got = record->pod.spec.required[0].requirements;
        if (got->op != requirement_rows[i].op || got->is_field != is_field || *record->fault ||
            (got->op != MAAR_OP_INVALID && got->number != requirement_rows[i].number))
            fail_msg("%s: %d %s", text, (int)got->op, record->fault);
        maar_record_destroy(record);
    }
}

static const struct {
    const char *spec;
    uint32_t unsupported;
    uint32_t n_host_ports;
} unsupported_rows[] = {
    {"", 0, 0},
    {"'affinity':{'podAffinity':{}}", 0, 0},
    {"'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[]}}", 0, 0},
    {"'volumes':[{'configMap':{}},{'emptyDir':{}}]", 0, 0},
    {"'volumes':[{'emptyDir':{}},{'persistentVolumeClaim':{'claimName':'c'}}]",
     MAAR_UNSUPPORTED_VOLUMES, 0},
    {"'volumes':[{'ephemeral':{}}]", MAAR_UNSUPPORTED_VOLUMES, 0},
    {"'resourceClaims':[{}]", MAAR_UNSUPPORTED_CLAIMS, 0},
    {"'containers':[{'ports':[{'containerPort':80}]}]", 0, 0},
    {"'containers':[{'ports':[{'containerPort':80,'hostPort':80}]}]", 0, 1},
    {"'hostNetwork':true,'containers':[{'ports':[{'containerPort':80},{'containerPort':81}]}]", 0,
     2},
    {"'initContainers':[{'ports':[{'hostPort':80}]}]", 0, 0},
    {"'initContainers':[{'restartPolicy':'Always','ports':[{'hostPort':80}]}]", 0, 1},
    {"'containers':[{'ports':[{'hostPort':70000}]}]", 0, 0},
};

static void parts_of_a_spec_that_no_policy_honours_are_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unsupported_rows); i++) {
        maar_autofree char *text =
            maar_asprintf("{'metadata':{'name':'p'},'spec':{%s}}", unsupported_rows[i].spec);
        struct maar_record *record = decode(MAAR_KIND_POD, text);
        if (record->pod.spec.unsupported != unsupported_rows[i].unsupported ||
            record->pod.spec.n_host_ports != unsupported_rows[i].n_host_ports || *record->fault)
            fail_msg("%s: %u %u %s", text, record->pod.spec.unsupported,
                     record->pod.spec.n_host_ports, record->fault);
        maar_record_destroy(record);
    }
}

/* Names of resources, and whether their amounts count. */
static const struct {
    const char *name;
    bool counts;
} resource_rows[] = {
    {"cpu", true},
    {"memory", true},
    {"pods", true},
    {"ephemeral-storage", true},
    {"nvidia.com/gpu", true},
    {"hugepages-1Gi", true},
    {"attachable-volumes-csi-ebs.csi.aws.com", true},
    {"scheduling.kubernetes.io/foo", true},
    {"kubernetes.io/batch-cpu", true},
    {"storage", false},
    {"requests.cpu", false},
    {"requests.nvidia.com/gpu", false},
    {"limits.memory", false},
    {"count/pods", false},
    {"count/deployments.apps", false},
    {"gpu", false},
    {"Example.com/gpu", false},
    {"example.com/", false},
    {"/gpu", false},
    {"a/b/c", false},
};

static void the_names_that_count_are_those_of_volcano_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(resource_rows); i++) {
        const char *name = resource_rows[i].name;
        maar_autofree char *node = maar_asprintf(
            "{'metadata':{'name':'n'},'status':{'allocatable':{'%s':'1'},'capacity':{}}}", name);
        maar_autofree char *queue =
            maar_asprintf("{'metadata':{'name':'q'},'spec':{'capability':{'%s':'1'}}}", name);
        maar_autofree char *group =
            maar_asprintf("{'metadata':{'name':'g'},'spec':{'minResources':{'%s':'1'}}}", name);
        struct maar_record *a = decode(MAAR_KIND_NODE, node);
        struct maar_record *b = decode(MAAR_KIND_QUEUE, queue);
        struct maar_record *c = decode(MAAR_KIND_POD_GROUP, group);
        if (a->node.allocatable.n != resource_rows[i].counts ||
            b->queue.capability.n != resource_rows[i].counts ||
            c->pod_group.min_resources.n != resource_rows[i].counts)
            fail_msg("%s", name);
        assert_true(c->pod_group.has_min_resources);
        maar_record_destroy(a);
        maar_record_destroy(b);
        maar_record_destroy(c);
    }
}

static void a_queue_in_one_piece(void **state)
{
    (void)state;
    expect_text(
        MAAR_KIND_QUEUE,
        "{'apiVersion':'scheduling.volcano.sh/"
        "v1beta1','kind':'Queue','metadata':{'name':'q1','uid':'u',"
        "'resourceVersion':'5','creationTimestamp':'2026-01-01T00:00:10Z','annotations':{'kept/"
        "b':'2',"
        "'x':'y','kept/a':'1'}},'spec':{'weight':4,'capability':{'cpu':'10','memory':'20Gi'},"
        "'deserved':{'nvidia.com/"
        "gpu':4},'guarantee':{'resource':{'cpu':'500m'}},'reclaimable':false,"
        "'priority':7,'parent':'root','dequeueStrategy':'fifo','affinity':{'nodeGroupAffinity':{}}}"
        ","
        "'status':{'state':'Closing','allocated':{'cpu':'3','pods':'3'},'reservation':{}}}",
        "Queue /q1 uid=\"u\" version=\"5\" created=1767225610000000000 fault=\"\" \n"
        "  weight=4 priority=7 reclaimable=0 state=3 strategy=1 parent=\"root\" "
        "capability{cpu=10000;memory=21474836480;} deserved{nvidia.com/gpu=4;} "
        "guarantee{cpu=500;} allocated{cpu=3000;pods=3;} annotations{kept/a=1;kept/b=2;} ");
    expect_text(MAAR_KIND_QUEUE,
                "{'metadata':{'name':'q'},'spec':{'weight':0,'dequeueStrategy':'traverse'},"
                "'status':{'state':'Strange'}}",
                "Queue /q uid=\"\" version=\"\" created=0 fault=\"\" \n"
                "  weight=1 priority=0 reclaimable=1 state=4 strategy=0 parent=\"\" capability{} "
                "deserved{} guarantee{} allocated{} annotations{} ");
}

/* The annotation wins; one that nobody knows is told of and not used. */
static void the_dequeue_strategy_of_a_queue(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        const char *annotation;
        enum maar_dequeue_strategy want;
        bool warns;
    } rows[] = {
        {"{}", "{}", MAAR_DEQUEUE_TRAVERSE, false},
        {"{'dequeueStrategy':'fifo'}", "{}", MAAR_DEQUEUE_FIFO, false},
        {"{}", "{'maar.dev/dequeue-strategy':'fifo'}", MAAR_DEQUEUE_FIFO, false},
        {"{'dequeueStrategy':'fifo'}", "{'maar.dev/dequeue-strategy':'traverse'}",
         MAAR_DEQUEUE_TRAVERSE, false},
        {"{}", "{'maar.dev/dequeue-strategy':'fifo-per-resource'}", MAAR_DEQUEUE_FIFO_PER_RESOURCE,
         false},
        {"{'dequeueStrategy':'fifo'}", "{'maar.dev/dequeue-strategy':'lifo'}", MAAR_DEQUEUE_FIFO,
         true},
        {"{}", "{'maar.dev/dequeue-strategy':7}", MAAR_DEQUEUE_TRAVERSE, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "{'metadata':{'name':'q','annotations':%s},'spec':%s}",
                 rows[i].annotation, rows[i].spec);
        struct maar_record *record = decode(MAAR_KIND_QUEUE, text);
        assert_int_equal(record->queue.dequeue_strategy, rows[i].want);
        assert_int_equal(*record->warning != '\0', rows[i].warns);
        assert_string_equal(record->fault, "");
        maar_record_destroy(record);
    }
}

static void queue_hierarchy_needs_as_many_weights(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *weights;
        bool warns;
    } rows[] = {
        {"root/eng/ml", "1/2/3", false},
        {"root/eng/ml", "1/2", true},
        {"root", "1/2", true},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{'metadata':{'name':'q','annotations':{'volcano.sh/hierarchy':'%s',"
                 "'volcano.sh/hierarchy-weights':'%s'}}}",
                 rows[i].path, rows[i].weights);
        struct maar_record *record = decode(MAAR_KIND_QUEUE, text);
        assert_int_equal(*record->warning != '\0', rows[i].warns);
        assert_string_equal(record->fault, "");
        maar_record_destroy(record);
    }
}

static void a_pod_group_in_one_piece(void **state)
{
    (void)state;
    expect_text(
        MAAR_KIND_POD_GROUP,
        "{'metadata':{'name':'g','namespace':'team','uid':'u','annotations':{'kept/"
        "x':'1','y':'2'}},"
        "'spec':{'minMember':3,'minTaskMember':{'worker':2,'master':1},'queue':'q','"
        "priorityClassName':'high',"
        "'minResources':{'cpu':'6','pods':3,'count/"
        "x':9},'subGroupPolicy':[{'name':'s','networkTopology':"
        "{'mode':'hard'}},{'name':'t','subGroupSize':2,'minSubGroups':3,'labelSelector':"
        "{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'c','operator':'Exists'}]},"
        "'matchLabelKeys':['k','x.io/"
        "l']}]},'status':{'phase':'Inqueue','running':1,'succeeded':2,'failed':3,'"
        "conditions':"
        "[{'type':'Unschedulable','status':'True','transitionID':'t','reason':'r','message':'m'},"
        "{'type':'Scheduled'}]}}",
        "PodGroup team/g uid=\"u\" version=\"\" created=0 fault=\"\" \n"
        "  queue=\"q\" priorityClass=\"high\" min=3 role master=1 role worker=2 "
        "hasMinResources=1 minResources{cpu=6000;pods=3;} topology=1 \n"
        "  subGroup \"s\" size=1 min=0 topology=1 pods-{} \n"
        "  subGroup \"t\" size=2 min=3 topology=0 pods{a 0 0 [b,];c 2 0 [];} by \"k\" by "
        "\"x.io/l\" phase=2 "
        "running=1 succeeded=2 failed=3 condition{Unschedulable|True|r|m|t} "
        "condition{Scheduled||||} annotations{kept/x=1;} ");
    expect_text(MAAR_KIND_POD_GROUP, "{'metadata':{'name':'g'},'spec':{'networkTopology':{}}}",
                "PodGroup /g uid=\"\" version=\"\" created=0 fault=\"\" \n"
                "  queue=\"\" priorityClass=\"\" min=0 hasMinResources=0 minResources{} topology=1 "
                "phase=0 running=0 succeeded=0 failed=0 annotations{} ");
}

static void a_priority_class_in_one_piece(void **state)
{
    (void)state;
    expect_text(
        MAAR_KIND_PRIORITY_CLASS,
        "{'metadata':{'name':'high','namespace':'ignored'},'value':1000,'globalDefault':true}",
        "PriorityClass /high uid=\"\" version=\"\" created=0 fault=\"\" \n"
        "  value=1000 default=1 ");
}

static void a_node_is_ready_unless_it_says_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *conditions;
        bool ready;
    } rows[] = {
        {"", true},
        {"{'type':'MemoryPressure','status':'False'}", true},
        {"{'type':'Ready','status':'True'}", true},
        {"{'type':'Ready','status':'False'}", false},
        {"{'type':'Ready','status':'Unknown'}", false},
        {"{'type':'Ready'}", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maar_autofree char *text = maar_asprintf(
            "{'metadata':{'name':'n'},'status':{'conditions':[%s]}}", rows[i].conditions);
        struct maar_record *record = decode(MAAR_KIND_NODE, text);
        if (record->node.ready != rows[i].ready)
            fail_msg("%s", text);
        maar_record_destroy(record);
    }
}

static void kinds_go_by_group_and_name(void **state)
{
    (void)state;
    static const struct {
        const char *api_version;
        const char *kind;
        int want;
    } rows[] = {
        {"v1", "Pod", MAAR_KIND_POD},
        {"v1", "Node", MAAR_KIND_NODE},
        {"v1", "Namespace", MAAR_KIND_NAMESPACE},
        {"scheduling.volcano.sh/v1beta1", "PodGroup", MAAR_KIND_POD_GROUP},
        {"scheduling.volcano.sh/v1beta1", "Queue", MAAR_KIND_QUEUE},
        {"scheduling.k8s.io/v1", "PriorityClass", MAAR_KIND_PRIORITY_CLASS},
        {"scheduling.k8s.io/v1alpha2", "PodGroup", -1},
        {"v1", "Service", -1},
        {"apps/v1", "Pod", -1},
        {"", "", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(maar_wire_kind(rows[i].api_version, rows[i].kind), rows[i].want);
}

static void gates_are_named_and_the_queues_own_is_known(void **state)
{
    (void)state;
#define QUEUE_GATE "scheduling.volcano.sh/queue-allocation-gate"
    static const struct {
        const char *gates, *annotation, *want_names;
        bool want_only, want_asks;
    } rows[] = {
        {"[]", "true", "", false, true},
        {"[{'name':'a'},{'name':'b'}]", "false", "a, b", false, false},
        {"[{'name':'" QUEUE_GATE "'}]", "true", QUEUE_GATE, true, true},
        {"[{'name':'" QUEUE_GATE "'}]", "True", QUEUE_GATE, true, false},
        {"[{'name':'" QUEUE_GATE "'},{'name':'a'}]", "true", QUEUE_GATE ", a", false, true},
        {"[{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'},{'name':'e'},{'name':'f'}]", "",
         "a, b, c, d and 2 more", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maar_autofree char *text =
            maar_asprintf("{'metadata':{'name':'p','annotations':{'" QUEUE_GATE
                          "':'%s'}},'spec':{'schedulingGates':%s}}",
                          rows[i].annotation, rows[i].gates);
        struct maar_record *record = decode(MAAR_KIND_POD, text);
        assert_string_equal(record->pod.gates, rows[i].want_names);
        assert_int_equal(record->pod.only_queue_gate, rows[i].want_only);
        assert_int_equal(record->pod.asks_queue_gate, rows[i].want_asks);
        maar_record_destroy(record);
    }
}

static void images_of_pods_have_a_tag_or_a_digest(void **state)
{
    (void)state;
    static const struct {
        const char *image, *want;
    } rows[] = {
        {"a", "a:latest"},
        {"a:1", "a:1"},
        {"reg:5000/a", "reg:5000/a:latest"},
        {"reg:5000/b/a:1", "reg:5000/b/a:1"},
        {"reg/a@sha256:12", "reg/a@sha256:12"},
        {"", ":latest"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maar_autofree char *text = maar_asprintf(
            "{'metadata':{'name':'p'},'spec':{'initContainers':[{'image':'%s'}],'containers':"
            "[{'image':'%s'},{'image':'x:1'}],'volumes':[{'image':{'reference':'%s'}},{}]}}",
            rows[i].image, rows[i].image, rows[i].image);
        struct maar_record *record = decode(MAAR_KIND_POD, text);
        const struct maar_pod_spec *spec = &record->pod.spec;
        assert_int_equal(spec->n_images, 4);
        assert_string_equal(spec->images[0], rows[i].want);
        assert_string_equal(spec->images[1], rows[i].want);
        assert_string_equal(spec->images[2], "x:1");
        assert_string_equal(spec->images[3], rows[i].want);
        maar_record_destroy(record);
    }
}

static void images_of_nodes_are_sorted_and_limited(void **state)
{
    (void)state;
    struct maar_record *record =
        decode(MAAR_KIND_NODE, "{'metadata':{'name':'n'},'status':{'images':[{'names':['b:1',"
                               "'a:1'],'sizeBytes':7},{'names':['a:1'],'sizeBytes':3},"
                               "{'names':['c:1'],'sizeBytes':-1},{'names':['']},{}]}}");
    assert_int_equal(record->node.n_images, 3);
    assert_string_equal(record->node.images[0].name, "a:1");
    assert_int_equal(record->node.images[0].size_bytes, 3);
    assert_string_equal(record->node.images[1].name, "b:1");
    assert_int_equal(record->node.images[2].size_bytes, 0);
    maar_record_destroy(record);

    struct maar_text many = MAAR_TEXT_INIT;
    maar_text_add(&many, "{'metadata':{'name':'n'},'status':{'images':[{'names':['x'");
    for (int i = 0; i < 2000; i++)
        maar_text_addf(&many, ",'i%d'", i);
    maar_text_add(&many, "]}]}}");
    record = decode(MAAR_KIND_NODE, maar_text_get(&many));
    assert_int_equal(record->node.n_images, 1024);
    assert_string_equal(record->fault, "");
    maar_record_destroy(record);
    maar_text_fini(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_of_pods_have_a_tag_or_a_digest),
        cmocka_unit_test(images_of_nodes_are_sorted_and_limited),
        cmocka_unit_test(gates_are_named_and_the_queues_own_is_known),
        cmocka_unit_test(a_value_of_the_wrong_kind_quarantines_with_its_place),
        cmocka_unit_test(what_has_no_name_is_refused),
        cmocka_unit_test(annotations_and_labels_follow_volcano),
        cmocka_unit_test(a_requirement_that_kubernetes_cannot_use_is_invalid_but_no_fault),
        cmocka_unit_test(parts_of_a_spec_that_no_policy_honours_are_marked),
        cmocka_unit_test(the_names_that_count_are_those_of_volcano_everywhere),
        cmocka_unit_test(a_queue_in_one_piece),
        cmocka_unit_test(the_dequeue_strategy_of_a_queue),
        cmocka_unit_test(queue_hierarchy_needs_as_many_weights),
        cmocka_unit_test(a_pod_group_in_one_piece),
        cmocka_unit_test(a_priority_class_in_one_piece),
        cmocka_unit_test(a_node_is_ready_unless_it_says_otherwise),
        cmocka_unit_test(kinds_go_by_group_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
