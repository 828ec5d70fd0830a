/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/writer.h"

#include "unit/kube/script.h"

#include <jansson.h>

/* What comes back is written down as "name=code " or, with a message, "name=code(message) ". */
struct fixture {
    struct script script;
    struct maar_writer *writer;
    struct maar_writer_options options;
    struct maar_known *pods;
    struct maar_known *nodes;
    struct maar_known *groups;
    struct maar_known *queues;
    struct maar_text log;
    int64_t until_ns; /* writes may be sent; 0: always */
};

static void done(void *context, struct maar_write *write, int code, const char *message)
{
    struct fixture *fixture = context;

    maar_text_addf(&fixture->log, *message ? "%s=%d(%s) " : "%s=%d ", write->name, code, message);
    maar_write_destroy(write);
}

static int64_t until_ns(void *context)
{
    const struct fixture *fixture = context;

    return fixture->until_ns ? fixture->until_ns : INT64_MAX;
}

static int set_up(void **state)
{
    struct fixture *fixture = maar_calloc(1, sizeof *fixture);

    fixture->groups = maar_known_create(true);
    fixture->queues = maar_known_create(true);
    fixture->pods = maar_known_create(false);
    fixture->nodes = maar_known_create(false);
    fixture->options = (struct maar_writer_options){
        .transport = script_transport(&fixture->script),
        .pod_groups = fixture->groups,
        .queues = fixture->queues,
        .max_in_flight = 4,
        .seed = 3,
        .may_send_until_ns = until_ns,
        .done = done,
        .context = fixture,
    };
    fixture->writer = maar_writer_create(&fixture->options);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    maar_writer_destroy(fixture->writer);
    script_fini(&fixture->script);
    maar_known_destroy(fixture->pods);
    maar_known_destroy(fixture->nodes);
    maar_known_destroy(fixture->groups);
    maar_known_destroy(fixture->queues);
    maar_text_fini(&fixture->log);
    free(fixture);
    return 0;
}

static void know(struct maar_known *known, enum maar_kind kind, const char *ns, const char *name,
                 const char *uid, const char *text)
{
    struct maar_record *record = maar_record_create(kind);
    maar_autofree char *old_uid = NULL;
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;

    record->ns = ns;
    record->name = name;
    record->uid = uid;
    maar_known_note(known, record, &old_uid);
    if (object)
        maar_known_keep_text(known, ns, name, object);
    json_decref(object);
    maar_record_destroy(record);
}

static void submit(struct fixture *fixture, enum maar_write_kind kind, const char *name)
{
    bool is_queue = kind == MAAR_WRITE_QUEUE_STATUS || kind == MAAR_WRITE_QUEUE_CREATE;
    struct maar_write *write =
        maar_write_create(kind, is_queue ? "" : "ns", name, is_queue ? "" : "u1");

    write->now_ns = 1700000000 * MAAR_SECOND_NS;
    switch (kind) {
    case MAAR_WRITE_BIND:
        write->bind.node = "n1";
        break;
    case MAAR_WRITE_POD_GROUP_STATUS:
        write->pod_group_status.phase = MAAR_PHASE_RUNNING;
        write->pod_group_status.running = 2;
        break;
    case MAAR_WRITE_POD_CONDITION:
        write->pod_condition.condition =
            (struct maar_condition_record){"PodScheduled", "False", "Unschedulable", "no room", ""};
        break;
    case MAAR_WRITE_EVENT:
        write->event.object = MAAR_KIND_POD;
        write->event.type = "Normal";
        write->event.reason = "Scheduled";
        break;
    default:
        break;
    }
    maar_writer_submit(fixture->writer, write);
}

static struct maar_kube_call *expect(struct fixture *fixture, const char *begin)
{
    maar_writer_tick(fixture->writer);
    return script_expect(&fixture->script, begin);
}

static void answer(struct fixture *fixture, const char *begin, int status, const char *body)
{
    script_answer(&fixture->script, expect(fixture, begin), status, body);
}

/* Until something is sent. */
static void wait_for_start(struct fixture *fixture)
{
    size_t n = fixture->script.n_started;

    for (int i = 0; i < 100 && fixture->script.n_started == n; i++) {
        int64_t next_ns = maar_writer_tick(fixture->writer);

        if (next_ns > fixture->script.now_ns && next_ns != INT64_MAX)
            fixture->script.now_ns = next_ns;
    }
    assert_true(fixture->script.n_started > n);
}

static void expect_log(struct fixture *fixture, const char *want)
{
    assert_string_equal(maar_text_get(&fixture->log), want);
    maar_text_clear(&fixture->log);
}

#define BIND(name)  "POST /api/v1/namespaces/ns/pods/" name "/binding"
#define POD(name)   "/api/v1/namespaces/ns/pods/" name
#define GROUP(name) "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/" name
#define REVIEW      "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define ALLOWED     "{\"status\":{\"allowed\":true}}"
#define NOT_ALLOWED "{\"status\":{\"allowed\":false}}"

static void binds_leave_first_and_events_last(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_EVENT, "e");
    submit(fixture, MAAR_WRITE_EVICT, "v");
    submit(fixture, MAAR_WRITE_BIND, "a");
    submit(fixture, MAAR_WRITE_BIND, "b");
    answer(fixture, BIND("a"), 201, "{}");
    answer(fixture, BIND("b"), 201, "{}");
    answer(fixture, "DELETE " POD("v"), 200, "{}");
    answer(fixture, "POST /api/v1/namespaces/ns/events", 201, "{}");
    expect_log(fixture, "a=201 b=201 v=200 e=201 ");
    assert_int_equal(maar_writer_n_open(fixture->writer), 0);
    assert_int_equal(maar_writer_tick(fixture->writer), INT64_MAX);
}

static void no_more_are_in_flight_than_allowed(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

    for (size_t i = 0; i < 6; i++)
        submit(fixture, MAAR_WRITE_BIND, names[i]);
    maar_writer_tick(fixture->writer);
    assert_int_equal(fixture->script.running.n, 4);
    answer(fixture, BIND("a"), 201, "{}");
    maar_writer_tick(fixture->writer);
    assert_int_equal(fixture->script.running.n, 4);
    assert_int_equal(maar_writer_n_open(fixture->writer), 5);
}

static void the_rate_is_kept(void **state)
{
    struct fixture *fixture = *state;

    maar_writer_destroy(fixture->writer);
    fixture->options.per_second = 10;
    fixture->options.burst = 1;
    fixture->writer = maar_writer_create(&fixture->options);
    submit(fixture, MAAR_WRITE_BIND, "a");
    submit(fixture, MAAR_WRITE_BIND, "b");
    assert_in_range(maar_writer_tick(fixture->writer), fixture->script.now_ns + MAAR_SECOND_NS / 10,
                    fixture->script.now_ns + MAAR_SECOND_NS / 10 + 10);
    assert_int_equal(fixture->script.running.n, 1);
    wait_for_start(fixture);
    assert_int_equal(fixture->script.running.n, 2);
}

static void a_bind_whose_answer_was_lost_is_settled_by_the_pod(void **state)
{
    static const struct {
        const char *pod;
        int status;
        const char *want;
    } rows[] = {
        {"{\"metadata\":{\"uid\":\"u1\"},\"spec\":{\"nodeName\":\"n1\"}}", 200, "a=201 "},
        {"{\"metadata\":{\"uid\":\"u1\"},\"spec\":{\"nodeName\":\"n2\"}}", 200,
         "a=409(the pod is bound to n2) "},
        {"{\"metadata\":{\"uid\":\"u1\"},\"spec\":{}}", 200, "a=409(the bind was refused) "},
        {"{\"metadata\":{\"uid\":\"u2\"},\"spec\":{\"nodeName\":\"n1\"}}", 200,
         "a=404(another pod has this name now) "},
        {"{\"message\":\"not found\"}", 404, "a=404(not found) "},
        {"nonsense", 200, "a=0(the answer is not a pod) "},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        submit(fixture, MAAR_WRITE_BIND, "a");
        script_lose(&fixture->script, expect(fixture, BIND("a")), 0, true);
        expect_log(fixture, "");
        wait_for_start(fixture);
        answer(fixture, BIND("a"), 409, "{\"message\":\"already assigned\"}");
        answer(fixture, "GET " POD("a"), rows[i].status, rows[i].pod);
        expect_log(fixture, rows[i].want);
    }
}

static void a_look_up_that_is_lost_is_repeated(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    answer(fixture, BIND("a"), 409, "{}");
    script_lose(&fixture->script, expect(fixture, "GET " POD("a")), 200, true);
    wait_for_start(fixture);
    answer(fixture, "GET " POD("a"), 200,
           "{\"metadata\":{\"uid\":\"u1\"},\"spec\":{\"nodeName\":\"n1\"}}");
    expect_log(fixture, "a=201 ");
}

static void a_success_counts_although_its_body_was_lost(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    script_lose(&fixture->script, expect(fixture, BIND("a")), 201, true);
    expect_log(fixture, "a=201 ");
}

static void throttling_pauses_everybody(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *call;

    submit(fixture, MAAR_WRITE_BIND, "a");
    call = expect(fixture, BIND("a"));
    call->retry_after_ns = 7 * MAAR_SECOND_NS;
    script_answer(&fixture->script, call, 429, "{}");
    submit(fixture, MAAR_WRITE_BIND, "b");
    assert_int_equal(maar_writer_tick(fixture->writer),
                     fixture->script.now_ns + 7 * MAAR_SECOND_NS);
    assert_int_equal(fixture->script.running.n, 0);
    fixture->script.now_ns += 7 * MAAR_SECOND_NS;
    /* In the old order. */
    answer(fixture, BIND("a"), 201, "{}");
    answer(fixture, BIND("b"), 201, "{}");
    expect_log(fixture, "a=201 b=201 ");
}

static void a_server_that_cannot_be_reached_gets_no_further_writes(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    script_lose(&fixture->script, expect(fixture, BIND("a")), 0, false);
    submit(fixture, MAAR_WRITE_BIND, "b");
    assert_true(maar_writer_tick(fixture->writer) > fixture->script.now_ns);
    assert_int_equal(fixture->script.running.n, 0);
    wait_for_start(fixture);
}

static void server_errors_are_retried_and_then_reported(void **state)
{
    struct fixture *fixture = *state;
    int n = 0;

    submit(fixture, MAAR_WRITE_BIND, "a");
    for (; maar_writer_n_open(fixture->writer) && n < 100; n++) {
        wait_for_start(fixture);
        answer(fixture, BIND("a"), 500, "{\"message\":\"boom\"}");
    }
    assert_in_range(n, 5, 30);
    expect_log(fixture, "a=500(boom) ");
    assert_true(maar_writer_counters(fixture->writer).n_retries >= 4);
}

static void what_the_server_refuses_is_reported_at_once(void **state)
{
    static const struct {
        enum maar_write_kind kind;
        int status;
        const char *want;
    } rows[] = {
        {MAAR_WRITE_BIND, 404, "x=404(no) "},  {MAAR_WRITE_BIND, 400, "x=400(no) "},
        {MAAR_WRITE_BIND, 422, "x=422(no) "},  {MAAR_WRITE_EVICT, 404, "x=200 "},
        {MAAR_WRITE_EVICT, 409, "x=409(no) "}, {MAAR_WRITE_EVENT, 409, "x=200 "},
        {MAAR_WRITE_EVENT, 422, "x=422(no) "}, {MAAR_WRITE_QUEUE_CREATE, 409, "x=200 "},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        submit(fixture, rows[i].kind, "x");
        answer(fixture, "", rows[i].status, "{\"message\":\"no\"}");
        expect_log(fixture, rows[i].want);
    }
}

static void a_token_that_expired_is_tried_again(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    answer(fixture, BIND("a"), 401, "{}");
    wait_for_start(fixture);
    answer(fixture, BIND("a"), 201, "{}");
    expect_log(fixture, "a=201 ");
}

static void pointless_binds_are_not_sent(void **state)
{
    struct fixture *fixture = *state;

    maar_writer_destroy(fixture->writer);
    fixture->options.pods = fixture->pods;
    fixture->options.nodes = fixture->nodes;
    fixture->writer = maar_writer_create(&fixture->options);
    know(fixture->pods, MAAR_KIND_POD, "ns", "a", "u1", NULL);
    know(fixture->pods, MAAR_KIND_POD, "ns", "b", "other", NULL);
    submit(fixture, MAAR_WRITE_BIND, "a");
    submit(fixture, MAAR_WRITE_BIND, "b");
    submit(fixture, MAAR_WRITE_BIND, "c");
    maar_writer_tick(fixture->writer);
    expect_log(fixture, "a=404(the node is gone; the bind was not sent) "
                        "b=404(the pod is gone; its bind was not sent) "
                        "c=404(the pod is gone; its bind was not sent) ");
    know(fixture->nodes, MAAR_KIND_NODE, "", "n1", "un", NULL);
    submit(fixture, MAAR_WRITE_BIND, "a");
    answer(fixture, BIND("a"), 201, "{}");
    expect_log(fixture, "a=201 ");
}

static void waiting_is_not_written_over_a_bind(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_POD_CONDITION, "a");
    submit(fixture, MAAR_WRITE_BIND, "a");
    answer(fixture, BIND("a"), 201, "{}");
    answer(fixture, REVIEW, 201, ALLOWED);
    maar_writer_tick(fixture->writer);
    expect_log(fixture, "a=201 a=200(superseded by a later write; not sent) ");
    assert_int_equal(fixture->script.running.n, 0);
}

static json_t *body_of(const struct maar_kube_call *call)
{
    json_t *body = json_loads(call->body, 0, NULL);

    assert_non_null(body);
    return body;
}

static const char *text_at(const json_t *value, const char *map, const char *key)
{
    return json_string_value(json_object_get(json_object_get(value, map), key));
}

#define GROUP_TEXT(version, extra)                                                                 \
    "{\"apiVersion\":\"scheduling.volcano.sh/"                                                     \
    "v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\","                                \
    "\"namespace\":\"ns\",\"uid\":\"u1\",\"resourceVersion\":\"" version                           \
    "\",\"managedFields\":[{}]},"                                                                  \
    "\"spec\":{\"minMember\":2,\"unknownField\":{\"x\":[1]}},\"status\":{\"phase\":"               \
    "\"Inqueue\"" extra "}}"

static void a_status_is_patched_where_that_is_allowed(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *call;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, ALLOWED);
    call = expect(fixture, "PATCH " GROUP("g"));
    assert_string_equal(call->content_type, "application/merge-patch+json");
    script_answer(&fixture->script, call, 200, GROUP_TEXT("6", ""));
    expect_log(fixture, "g=200 ");
    /* The answer is the newest text now. */
    assert_int_equal(maar_known_text_version(fixture->groups, "ns", "g"), 6);
    /* One review is enough. */
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, "PATCH " GROUP("g"), 200, "{}");
    expect_log(fixture, "g=200 ");
    assert_int_equal(maar_writer_counters(fixture->writer).n_reviews, 1);
}

static void a_pod_group_is_put_whole_where_patches_are_not_allowed(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *call;
    json_t *body;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    call = expect(fixture, "PUT " GROUP("g"));
    body = body_of(call);
    assert_string_equal(text_at(body, "metadata", "resourceVersion"), "5");
    assert_string_equal(text_at(body, "status", "phase"), "Running");
    assert_non_null(json_object_get(json_object_get(body, "spec"), "unknownField"));
    assert_null(json_object_get(json_object_get(body, "status"), "failed"));
    json_decref(body);
    script_answer(&fixture->script, call, 200, GROUP_TEXT("7", ""));
    expect_log(fixture, "g=200 ");
}

static void a_conflict_of_a_whole_object_waits_for_the_watch(void **state)
{
    struct fixture *fixture = *state;
    json_t *body;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    answer(fixture, "PUT " GROUP("g"), 409, "{\"message\":\"modified\"}");
    maar_writer_tick(fixture->writer);
    assert_int_equal(fixture->script.running.n, 0);
    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("8", ",\"theirs\":1"));
    body = body_of(expect(fixture, "PUT " GROUP("g")));
    assert_string_equal(text_at(body, "metadata", "resourceVersion"), "8");
    assert_non_null(json_object_get(json_object_get(body, "status"), "theirs"));
    json_decref(body);
    answer(fixture, "PUT " GROUP("g"), 200, "{}");
    expect_log(fixture, "g=200 ");
}

static void a_conflict_that_no_watch_explains_is_reported(void **state)
{
    struct fixture *fixture = *state;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    for (int i = 0; i < 20 && maar_writer_n_open(fixture->writer); i++) {
        answer(fixture, "PUT " GROUP("g"), 409, "{\"message\":\"modified\"}");
        if (maar_writer_n_open(fixture->writer))
            wait_for_start(fixture);
    }
    expect_log(fixture, "g=409(modified) ");
}

static void a_whole_object_that_is_not_known_is_not_written(void **state)
{
    struct fixture *fixture = *state;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "another", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    maar_writer_tick(fixture->writer);
    expect_log(fixture, "g=404(the object is not known (any more)) ");
}

static void a_forbidden_patch_becomes_a_put_when_nobody_could_be_asked(void **state)
{
    struct fixture *fixture = *state;

    know(fixture->queues, MAAR_KIND_QUEUE, "", "q", "uq",
         "{\"metadata\":{\"name\":\"q\",\"uid\":\"uq\",\"resourceVersion\":\"3\"},\"spec\":{"
         "\"weight\":1}}");
    submit(fixture, MAAR_WRITE_QUEUE_STATUS, "q");
    answer(fixture, REVIEW, 404, "{}");
    answer(fixture, "PATCH /apis/scheduling.volcano.sh/v1beta1/queues/q/status", 403, "{}");
    answer(fixture, "PUT /apis/scheduling.volcano.sh/v1beta1/queues/q/status", 200, "{}");
    submit(fixture, MAAR_WRITE_QUEUE_STATUS, "q");
    answer(fixture, "PUT /apis/scheduling.volcano.sh/v1beta1/queues/q/status", 200, "{}");
    expect_log(fixture, "q=200 q=200 ");
}

static void a_refusal_is_reported_when_it_lasts(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(fixture->log.n, 0);
        wait_for_start(fixture);
        answer(fixture, BIND("a"), 403, "{\"message\":\"no\"}");
    }
    expect_log(fixture, "a=403(no) ");
}

static void a_server_that_refuses_everybody_at_first_is_asked_again(void **state)
{
    struct fixture *fixture = *state;

    know(fixture->groups, MAAR_KIND_POD_GROUP, "ns", "g", "u1", GROUP_TEXT("5", ""));
    submit(fixture, MAAR_WRITE_POD_GROUP_STATUS, "g");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    answer(fixture, "PUT " GROUP("g"), 403, "{}");
    maar_writer_tick(fixture->writer);
    assert_int_equal(fixture->script.running.n, 0);
    wait_for_start(fixture);
    answer(fixture, REVIEW, 201, ALLOWED);
    answer(fixture, "PATCH " GROUP("g"), 200, "{}");
    expect_log(fixture, "g=200 ");
}

static void a_review_that_failed_is_repeated_and_holds_no_bind_up(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_POD_CONDITION, "a");
    answer(fixture, REVIEW, 500, "{}");
    submit(fixture, MAAR_WRITE_BIND, "b");
    answer(fixture, BIND("b"), 201, "{}");
    wait_for_start(fixture);
    answer(fixture, REVIEW, 201, ALLOWED);
    answer(fixture, "PATCH " POD("a/status"), 200, "{}");
    expect_log(fixture, "b=201 a=200 ");
}

#define POD_TEXT(version)                                                                          \
    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u1\",\"resourceVersion\":\"" version                  \
    "\"},\"spec\":{\"containers\":[{}]},"                                                          \
    "\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Other\",\"status\":\"True\"},{" \
    "\"type\":\"PodScheduled\","                                                                   \
    "\"status\":\"False\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\",\"message\":\"old\"}]}}"

static void a_pod_condition_without_patch_is_put_with_the_whole_pod(void **state)
{
    struct fixture *fixture = *state;
    const json_t *conditions;
    const json_t *condition;
    json_t *body;

    submit(fixture, MAAR_WRITE_POD_CONDITION, "a");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    answer(fixture, "GET " POD("a"), 200, POD_TEXT("4"));
    answer(fixture, "PUT " POD("a/status"), 409, "{}");
    answer(fixture, "GET " POD("a"), 200, POD_TEXT("5"));
    body = body_of(expect(fixture, "PUT " POD("a/status")));
    assert_string_equal(text_at(body, "metadata", "resourceVersion"), "5");
    conditions = json_object_get(json_object_get(body, "status"), "conditions");
    assert_int_equal(json_array_size(conditions), 2);
    condition = json_array_get(conditions, 1);
    assert_string_equal(json_string_value(json_object_get(condition, "message")), "no room");
    /* Its status did not change, so its time does not. */
    assert_string_equal(json_string_value(json_object_get(condition, "lastTransitionTime")),
                        "2020-01-01T00:00:00Z");
    assert_int_equal(json_array_size(json_object_get(json_object_get(body, "spec"), "containers")),
                     1);
    json_decref(body);
    answer(fixture, "PUT " POD("a/status"), 200, "{}");
    expect_log(fixture, "a=200 ");
}

static void a_condition_of_a_pod_that_was_replaced_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_POD_CONDITION, "a");
    answer(fixture, REVIEW, 201, NOT_ALLOWED);
    answer(fixture, "GET " POD("a"), 200, "{\"metadata\":{\"uid\":\"u2\"}}");
    expect_log(fixture, "a=404(another pod has this name now) ");
}

/* ---- leading no more ---- */

static void nothing_is_sent_after_the_lease_may_have_expired(void **state)
{
    struct fixture *fixture = *state;

    fixture->until_ns = fixture->script.now_ns + 1;
    submit(fixture, MAAR_WRITE_BIND, "a");
    assert_int_equal(expect(fixture, BIND("a"))->send_before_ns, fixture->until_ns);
    fixture->script.now_ns++;
    submit(fixture, MAAR_WRITE_BIND, "b");
    assert_int_equal(maar_writer_tick(fixture->writer), INT64_MAX);
    assert_int_equal(fixture->script.running.n, 1);
    /* Nor again what was sent before. */
    script_lose(&fixture->script, fixture->script.running.data[0], 0, true);
    fixture->script.now_ns += MAAR_SECOND_NS;
    assert_int_equal(maar_writer_tick(fixture->writer), INT64_MAX);
    assert_int_equal(fixture->script.running.n, 0);
    expect_log(fixture, "");
    fixture->until_ns = fixture->script.now_ns + MAAR_SECOND_NS;
    assert_true(maar_writer_tick(fixture->writer) > fixture->script.now_ns);
    assert_int_equal(fixture->script.running.n, 2);
    answer(fixture, "POST " POD(""), 201, "{}");
    answer(fixture, "POST " POD(""), 201, "{}");
}

#define WITHDRAWN "=0(withdrawn: this scheduler does not lead any more) "

static void what_was_not_sent_is_withdrawn(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "lost");
    script_lose(&fixture->script, expect(fixture, BIND("lost")), 0, true);
    submit(fixture, MAAR_WRITE_BIND, "sent");
    (void)expect(fixture, BIND("sent"));
    submit(fixture, MAAR_WRITE_POD_CONDITION, "sent");
    submit(fixture, MAAR_WRITE_BIND, "a");
    submit(fixture, MAAR_WRITE_EVENT, "e");
    maar_writer_withdraw(fixture->writer, false);
    expect_log(fixture, "lost" WITHDRAWN "a" WITHDRAWN "sent" WITHDRAWN "e" WITHDRAWN);
    assert_int_equal(maar_writer_n_open(fixture->writer), 1);
    answer(fixture, BIND("sent"), 201, "{}");
    expect_log(fixture, "sent=201 ");
    assert_int_equal(maar_writer_n_open(fixture->writer), 0);
}

static void what_is_out_can_be_given_up_too(void **state)
{
    struct fixture *fixture = *state;

    submit(fixture, MAAR_WRITE_BIND, "a");
    submit(fixture, MAAR_WRITE_BIND, "b");
    (void)expect(fixture, BIND("a"));
    submit(fixture, MAAR_WRITE_EVICT, "a");
    maar_writer_withdraw(fixture->writer, true);
    expect_log(fixture, "a" WITHDRAWN "b" WITHDRAWN "a" WITHDRAWN);
    assert_int_equal(fixture->script.running.n, 0);
    assert_int_equal(maar_writer_n_open(fixture->writer), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(binds_leave_first_and_events_last),
        TEST(no_more_are_in_flight_than_allowed),
        TEST(the_rate_is_kept),
        TEST(a_bind_whose_answer_was_lost_is_settled_by_the_pod),
        TEST(a_look_up_that_is_lost_is_repeated),
        TEST(a_success_counts_although_its_body_was_lost),
        TEST(throttling_pauses_everybody),
        TEST(a_server_that_cannot_be_reached_gets_no_further_writes),
        TEST(server_errors_are_retried_and_then_reported),
        TEST(what_the_server_refuses_is_reported_at_once),
        TEST(a_token_that_expired_is_tried_again),
        TEST(pointless_binds_are_not_sent),
        TEST(waiting_is_not_written_over_a_bind),
        TEST(a_status_is_patched_where_that_is_allowed),
        TEST(a_pod_group_is_put_whole_where_patches_are_not_allowed),
        TEST(a_conflict_of_a_whole_object_waits_for_the_watch),
        TEST(a_conflict_that_no_watch_explains_is_reported),
        TEST(a_whole_object_that_is_not_known_is_not_written),
        TEST(a_forbidden_patch_becomes_a_put_when_nobody_could_be_asked),
        TEST(a_refusal_is_reported_when_it_lasts),
        TEST(a_server_that_refuses_everybody_at_first_is_asked_again),
        TEST(a_review_that_failed_is_repeated_and_holds_no_bind_up),
        TEST(a_pod_condition_without_patch_is_put_with_the_whole_pod),
        TEST(a_condition_of_a_pod_that_was_replaced_is_dropped),
        TEST(nothing_is_sent_after_the_lease_may_have_expired),
        TEST(what_was_not_sent_is_withdrawn),
        TEST(what_is_out_can_be_given_up_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
