/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Writes as requests: method, path, type and body of each kind, byte by byte. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/memory.h"
#include "wire/wire.h"

#define NOW_NS                                                                                     \
    (INT64_C(1767225600) * MAAR_SECOND_NS + 123456789) /* 2026-01-01T00:00:00Z and a bit */

/* Expected bodies are written with ' for ". Destroys the write. */
static void expect(struct maar_write *write, const char *current, const char *line,
                   const char *body)
{
    struct maar_request request = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    json_auto_t *object = current ? json_loads(current, 0, NULL) : NULL;
    write->now_ns = NOW_NS;
    if (maar_wire_request(write, object, "volcano", &request, &err) < 0)
        fail_msg("%s", err.text);
    maar_autofree char *got =
        maar_asprintf("%s %s %s", request.method, request.path, request.content_type);
    assert_string_equal(got, line);
    for (char *c = request.body; *c; c++)
        if (*c == '"')
            *c = '\'';
    assert_string_equal(request.body, body);
    maar_request_fini(&request);
    maar_write_destroy(write);
}

static void a_bind_names_node_uid_and_annotations(void **state)
{
    (void)state;
    struct maar_label annotations[] = {{"volcano.sh/gpu-index", "1"}, {"a", "b\"c"}};
    struct maar_write *write = maar_write_create(MAAR_WRITE_BIND, "default", "fit-0", "u-1");
    write->bind.node = "n00000";
    expect(write, NULL, "POST /api/v1/namespaces/default/pods/fit-0/binding application/json",
           "{'apiVersion':'v1','kind':'Binding','metadata':{'name':'fit-0','namespace':'default','"
           "uid':'u-1'},"
           "'target':{'kind':'Node','name':'n00000'}}");
    write = maar_write_create(MAAR_WRITE_BIND, "d", "p", "u");
    write->bind.node = "n";
    write->bind.n_annotations = 2;
    write->bind.annotations = annotations;
    expect(write, NULL, "POST /api/v1/namespaces/d/pods/p/binding application/json",
           "{'apiVersion':'v1','kind':'Binding','metadata':{'name':'p','namespace':'d','uid':'u','"
           "annotations':"
           "{'volcano.sh/gpu-index':'1','a':'b\\'c'}},'target':{'kind':'Node','name':'n'}}");
}

static void an_eviction_deletes_that_very_pod(void **state)
{
    (void)state;
    expect(maar_write_create(MAAR_WRITE_EVICT, "d", "p", "u-2"), NULL,
           "DELETE /api/v1/namespaces/d/pods/p application/json",
           "{'apiVersion':'v1','kind':'DeleteOptions','preconditions':{'uid':'u-2'}}");
}

static struct maar_write *group_status(void)
{
    struct maar_write *write = maar_write_create(MAAR_WRITE_POD_GROUP_STATUS, "d", "g", "u");
    write->pod_group_status.phase = MAAR_PHASE_INQUEUE;
    write->pod_group_status.running = 2;
    return write;
}

static struct maar_write *group_condition(void)
{
    struct maar_write *write = group_status();
    write->pod_group_status.has_condition = true;
    write->pod_group_status.condition =
        (struct maar_condition_record){"Unschedulable", "True", "NotEnoughResources", "m", "t-1"};
    return write;
}

#define GROUP_LINE                                                                                 \
    "PATCH /apis/scheduling.volcano.sh/v1beta1/namespaces/d/podgroups/g "                          \
    "application/merge-patch+json"
#define COUNTS "'phase':'Inqueue','running':2,'succeeded':null,'failed':null"
#define CONDITION                                                                                  \
    "{'type':'Unschedulable','status':'True','transitionID':'t-1','reason':'NotEnoughResources',"  \
    "'message':'m','lastTransitionTime':'2026-01-01T00:00:00Z'}"

static void a_pod_group_status_touches_nothing_else(void **state)
{
    (void)state;
    expect(group_status(), NULL, GROUP_LINE, "{'metadata':{'uid':'u'},'status':{" COUNTS "}}");
    struct maar_write *write = group_status();
    write->uid = "";
    write->pod_group_status.phase = MAAR_PHASE_NONE;
    expect(write, NULL, GROUP_LINE, "{'status':{'running':2,'succeeded':null,'failed':null}}");
}

static void a_pod_group_condition_takes_the_place_of_its_type(void **state)
{
    (void)state;
    expect(group_condition(), NULL, GROUP_LINE,
           "{'metadata':{'uid':'u'},'status':{" COUNTS ",'conditions':[" CONDITION "]}}");
    expect(group_condition(),
           "{\"status\":{\"conditions\":[{\"type\":\"Unschedulable\",\"x\":1},{\"type\":"
           "\"Scheduled\",\"y\":2}]}}",
           GROUP_LINE,
           "{'metadata':{'uid':'u'},'status':{" COUNTS ",'conditions':[" CONDITION
           ",{'type':'Scheduled','y':2}]}}");
    expect(group_condition(), "{\"status\":{\"conditions\":[{\"type\":\"Scheduled\"}]}}",
           GROUP_LINE,
           "{'metadata':{'uid':'u'},'status':{" COUNTS
           ",'conditions':[{'type':'Scheduled'}," CONDITION "]}}");
}

static struct maar_write *pod_condition(const char *nominated)
{
    struct maar_write *write = maar_write_create(MAAR_WRITE_POD_CONDITION, "d", "p", "u");
    write->pod_condition.condition = (struct maar_condition_record){
        "PodScheduled", "False", "Unschedulable", "no \xff room", ""};
    write->pod_condition.nominated_node = nominated;
    return write;
}

#define POD_LINE "PATCH /api/v1/namespaces/d/pods/p/status application/strategic-merge-patch+json"

static void a_pod_condition_keeps_its_time_while_the_status_stays(void **state)
{
    (void)state;
    expect(pod_condition(""), NULL, POD_LINE,
           "{'metadata':{'uid':'u'},'status':{'conditions':[{'type':'PodScheduled','status':'False'"
           ",'reason':"
           "'Unschedulable','message':'no ? room','lastTransitionTime':'2026-01-01T00:00:00Z'}]}}");
    expect(pod_condition("n1"),
           "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\"}]}}",
           POD_LINE,
           "{'metadata':{'uid':'u'},'status':{'conditions':[{'type':'PodScheduled','status':'False'"
           ",'reason':"
           "'Unschedulable','message':'no ? room'}],'nominatedNodeName':'n1'}}");
    expect(pod_condition(""),
           "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}}",
           POD_LINE,
           "{'metadata':{'uid':'u'},'status':{'conditions':[{'type':'PodScheduled','status':'False'"
           ",'reason':"
           "'Unschedulable','message':'no ? room','lastTransitionTime':'2026-01-01T00:00:00Z'}]}}");
}

static void only_the_gate_of_the_queue_is_removed(void **state)
{
    (void)state;
    expect(maar_write_create(MAAR_WRITE_UNGATE, "d", "p", "u"), NULL,
           "PATCH /api/v1/namespaces/d/pods/p application/strategic-merge-patch+json",
           "{'metadata':{'uid':'u'},'spec':{'schedulingGates':[{'name':"
           "'scheduling.volcano.sh/queue-allocation-gate','$patch':'delete'}]}}");
}

static void a_queue_status_writes_canonical_quantities_and_drops_the_rest(void **state)
{
    (void)state;
    struct maar_amount items[] = {
        {"cpu", 1500}, {"memory", INT64_C(2) << 30}, {"nvidia.com/gpu", 2}, {"pods", 3}};
    struct maar_write *write = maar_write_create(MAAR_WRITE_QUEUE_STATUS, "", "q", "u");
    write->queue_status.allocated = (struct maar_amounts_record){4, items};
    expect(write, "{\"status\":{\"allocated\":{\"cpu\":\"1\",\"example.com/x\":\"1\"}}}",
           "PATCH /apis/scheduling.volcano.sh/v1beta1/queues/q/status application/merge-patch+json",
           "{'metadata':{'uid':'u'},'status':{'allocated':{'cpu':'1500m','memory':'2Gi','nvidia."
           "com/gpu':'2',"
           "'pods':'3','example.com/x':null}}}");
    expect(maar_write_create(MAAR_WRITE_QUEUE_STATUS, "", "q", "u"), NULL,
           "PATCH /apis/scheduling.volcano.sh/v1beta1/queues/q/status application/merge-patch+json",
           "{'metadata':{'uid':'u'},'status':{'allocated':{'cpu':'0','memory':'0'}}}");
}

static void a_queue_is_created_like_volcanos(void **state)
{
    (void)state;
    struct maar_write *write = maar_write_create(MAAR_WRITE_QUEUE_CREATE, "", "root", "");
    write->queue_create.weight = 1;
    expect(
        write, NULL, "POST /apis/scheduling.volcano.sh/v1beta1/queues application/json",
        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'Queue','metadata':{'name':'root'},"
        "'spec':{'weight':1,'reclaimable':false}}");
}

static struct maar_write *event(enum maar_kind object, const char *ns, const char *message)
{
    struct maar_write *write = maar_write_create(MAAR_WRITE_EVENT, ns, "fit", "u");
    write->event.object = object;
    write->event.type = "Warning";
    write->event.reason = "Unschedulable";
    write->event.message = message;
    return write;
}

/* The last digits of the name's time tell events of one session apart. */
static void an_event_has_the_fields_of_volcanos(void **state)
{
    (void)state;
    struct maar_request request = {0};
    struct maar_write *write = event(MAAR_KIND_POD_GROUP, "default", "m");
    write->now_ns = NOW_NS;
    assert_int_equal(maar_wire_request(write, NULL, "volcano", &request, NULL), 0);
    assert_string_equal(request.path, "/api/v1/namespaces/default/events");
    assert_string_equal(request.method, "POST");
    json_auto_t *body = json_loads(request.body, 0, NULL);
    json_t *name = json_object_get(json_object_get(body, "metadata"), "name");
    assert_memory_equal(json_string_value(name), "fit.18867251f5", strlen("fit.18867251f5"));
    assert_int_equal(strlen(json_string_value(name)), strlen("fit.") + 16);
    json_string_set(name, "NAME");
    maar_autofree char *got = json_dumps(body, JSON_COMPACT);
    for (char *c = got; *c; c++)
        if (*c == '"')
            *c = '\'';
    assert_string_equal(
        got, "{'kind':'Event','apiVersion':'v1','metadata':{'name':'NAME','namespace':'default'},"
             "'involvedObject':{'kind':'PodGroup','namespace':'default','name':'fit','uid':'u',"
             "'apiVersion':'scheduling.volcano.sh/v1beta1'},'reason':'Unschedulable','message':'m',"
             "'source':{'component':'volcano'},'firstTimestamp':'2026-01-01T00:00:00Z',"
             "'lastTimestamp':'2026-01-01T00:00:00Z','count':1,'type':'Warning','eventTime':null,"
             "'reportingComponent':'volcano','reportingInstance':''}");
    maar_request_fini(&request);
    maar_write_destroy(write);
}

static char *event_name(struct maar_write *write)
{
    struct maar_request request = {0};
    write->now_ns = NOW_NS;
    assert_int_equal(maar_wire_request(write, NULL, "volcano", &request, NULL), 0);
    json_auto_t *body = json_loads(request.body, 0, NULL);
    char *name =
        maar_strdup(json_string_value(json_object_get(json_object_get(body, "metadata"), "name")));
    maar_request_fini(&request);
    maar_write_destroy(write);
    return name;
}

static void events_of_one_moment_have_names_of_their_own(void **state)
{
    (void)state;
    maar_autofree char *a = event_name(event(MAAR_KIND_POD, "d", "one"));
    maar_autofree char *b = event_name(event(MAAR_KIND_POD, "d", "two"));
    maar_autofree char *c = event_name(event(MAAR_KIND_POD, "d", "one"));
    assert_string_not_equal(a, b);
    assert_string_equal(a, c);
}

static void names_are_escaped_in_paths(void **state)
{
    (void)state;
    expect(maar_write_create(MAAR_WRITE_EVICT, "a/b", "../x?y", ""), NULL,
           "DELETE /api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy application/json",
           "{'apiVersion':'v1','kind':'DeleteOptions'}");
    struct maar_write *write = maar_write_create(MAAR_WRITE_EVICT, "d", "", "");
    struct maar_request request;
    assert_int_equal(maar_wire_request(write, NULL, "volcano", &request, NULL), -22);
    maar_write_destroy(write);
}

static void quantities_are_those_of_kubernetes(void **state)
{
    (void)state;
    static const struct {
        const char *dimension;
        int64_t value;
        const char *want;
    } rows[] = {
        {"cpu", 0, "0"},
        {"cpu", 2000, "2"},
        {"cpu", 1500, "1500m"},
        {"cpu", 2000000, "2k"},
        {"memory", INT64_C(1) << 31, "2Gi"},
        {"memory", 1000, "1k"},
        {"memory", 1500, "1500"},
        {"pods", 3, "3"},
        {"nvidia.com/gpu", 1000, "1k"},
        {"ephemeral-storage", INT64_C(829375614112), "829375614112"},
        {"ephemeral-storage", INT64_C(900) << 30, "966367641600"},
        {"x/y", INT64_MAX, "9223372036854775807"},
        {"x/y", INT64_MIN, "-9223372036854775808"},
        {"x/y", INT64_C(9000000000000000000), "9E"},
        {"x/y", -INT64_C(9223372036854775000), "-9223372036854775k"},
        {"x/y", -5, "-5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buffer[32];
        assert_string_equal(maar_wire_quantity(rows[i].dimension, rows[i].value, buffer),
                            rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_names_node_uid_and_annotations),
        cmocka_unit_test(an_eviction_deletes_that_very_pod),
        cmocka_unit_test(a_pod_group_status_touches_nothing_else),
        cmocka_unit_test(a_pod_group_condition_takes_the_place_of_its_type),
        cmocka_unit_test(a_pod_condition_keeps_its_time_while_the_status_stays),
        cmocka_unit_test(only_the_gate_of_the_queue_is_removed),
        cmocka_unit_test(a_queue_status_writes_canonical_quantities_and_drops_the_rest),
        cmocka_unit_test(a_queue_is_created_like_volcanos),
        cmocka_unit_test(an_event_has_the_fields_of_volcanos),
        cmocka_unit_test(events_of_one_moment_have_names_of_their_own),
        cmocka_unit_test(names_are_escaped_in_paths),
        cmocka_unit_test(quantities_are_those_of_kubernetes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
