/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The engine over a backend made by hand: when a session runs, what becomes of answers, what is written again. */

#include "engine/engine.h"

#include <errno.h>

#include "base/log.h"
#include "engine/explanation.h"
#include "unit/session/records.h"

static struct maar_registry *registry;

/* ---- a backend whose answers the test gives ---- */

static struct maar_deltas inbox;
static MAAR_VEC(struct maar_write *) sent;
static int64_t clock_ns;
static struct maar_engine *engine;

static int start(void *self, struct maar_error *err)
{
    (void)self;
    (void)err;
    return 0;
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    (void)self;
    (void)timeout_ns;
    for (size_t i = 0; i < inbox.n; i++)
        maar_vec_push(deltas, inbox.data[i]);
    maar_vec_clear(&inbox);
}

static void submit(void *self, struct maar_write *write)
{
    (void)self;
    maar_vec_push(&sent, write);
}

static size_t n_in_flight(void *self)
{
    (void)self;
    return sent.n;
}

static int64_t now_ns(void *self)
{
    (void)self;
    return clock_ns;
}

static void stop(void *self)
{
    (void)self;
}

static const struct maar_backend_ops ops = {start, next_deltas, submit, n_in_flight, now_ns, stop};

static void deliver(struct maar_record *record)
{
    struct maar_delta delta = {.type = MAAR_DELTA_UPSERT, .kind = record->kind, .record = record};
    maar_vec_push(&inbox, delta);
}

static void deliver_end(struct maar_record *record)
{
    struct maar_delta delta = {.type = MAAR_DELTA_DELETE, .kind = record->kind, .record = record};
    maar_vec_push(&inbox, delta);
}

static void deliver_synced(enum maar_kind kind)
{
    struct maar_delta delta = {.type = MAAR_DELTA_SYNCED, .kind = kind};
    maar_vec_push(&inbox, delta);
}

static struct maar_turn turn(void)
{
    struct maar_turn result = maar_engine_turn(engine, 0, false);
    struct maar_text text = MAAR_TEXT_INIT;
    if (maar_engine_check(engine, &text) > 0)
        fail_msg("%s", maar_text_get(&text));
    maar_text_fini(&text);
    return result;
}

static const struct maar_write *find_sent(enum maar_write_kind kind, const char *name)
{
    for (size_t i = 0; i < sent.n; i++)
        if (sent.data[i]->kind == kind && !strcmp(sent.data[i]->name, name))
            return sent.data[i];
    return NULL;
}

/* The same, which must be there. */
static const struct maar_write *get_sent(enum maar_write_kind kind, const char *name)
{
    const struct maar_write *write = find_sent(kind, name);
    if (!write)
        fail_msg("no %s for %s", maar_write_kind_name(kind), name);
    return write ? write : sent.data[0];
}

static void answer_at(size_t i, int code)
{
    struct maar_delta delta = {.type = MAAR_DELTA_DONE, .write = sent.data[i], .code = code};
    if (code != 200)
        snprintf(delta.message, sizeof delta.message, "code %d", code);
    maar_vec_remove(&sent, i);
    maar_vec_push(&inbox, delta);
}

/* Answers the first write of the kind about that object. */
static void answer(enum maar_write_kind kind, const char *name, int code)
{
    for (size_t i = 0; i < sent.n; i++) {
        if (sent.data[i]->kind == kind && !strcmp(sent.data[i]->name, name)) {
            answer_at(i, code);
            return;
        }
    }
    fail_msg("no %s of %s was sent", maar_write_kind_name(kind), name);
}

static void answer_all(void)
{
    while (sent.n > 0)
        answer_at(0, 200);
}

/* ---- an engine ---- */

static struct maar_conf *read_conf(const char *text)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_conf *conf = NULL;
    if (maar_conf_parse(text, strlen(text), "test", NULL, &conf, &err) < 0)
        fail_msg("%s", err.text);
    return conf;
}

static const char usual[] = "actions: \"enqueue, allocate, backfill\"\n"
                            "tiers:\n"
                            "- plugins:\n"
                            "  - name: gang\n"
                            "  - name: predicates\n";

static void begin_with(bool create_queues, bool queue_admission, bool stands_by)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_engine_options options = {.registry = registry,
                                          .conf = read_conf(usual),
                                          .features = {.queue_admission = queue_admission},
                                          .gate_removal_workers = 1,
                                          .create_queues = create_queues,
                                          .check = true,
                                          .stands_by = stands_by,
                                          .full_retry_ns = 300 * MAAR_SECOND_NS};
    engine = maar_engine_create(&options, (struct maar_backend){&ops, NULL}, &err);
    assert_non_null(engine);
    assert_int_equal(maar_engine_start(engine, &err), 0);
}

static void begin(bool create_queues)
{
    begin_with(create_queues, false, false);
}

static void sync_all(void)
{
    for (int kind = 0; kind < MAAR_N_KINDS; kind++)
        deliver_synced((enum maar_kind)kind);
}

/* A queue, a node of 4 CPUs and a group of one whose pod fits; one session has bound it. */
static void begin_with_binding(void)
{
    begin(false);
    deliver(make_queue("q", ""));
    deliver(make_node("n1", 4000, 8 * GI));
    deliver(make_group("g", "q", 1));
    deliver(make_pod("p", "g", 1000, GI));
    sync_all();
    assert_true(turn().session);
    assert_non_null(find_sent(MAAR_WRITE_BIND, "p"));
}

static int setup(void **state)
{
    (void)state;
    clock_ns = 1000 * MAAR_SECOND_NS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_engine_destroy(engine);
    for (size_t i = 0; i < inbox.n; i++)
        maar_delta_fini(&inbox.data[i]);
    maar_vec_clear(&inbox);
    for (size_t i = 0; i < sent.n; i++)
        maar_write_destroy(sent.data[i]);
    maar_vec_clear(&sent);
    return 0;
}

static const struct maar_task *task(const char *name)
{
    maar_autofree char *uid = maar_asprintf("Pod %s", name);
    return &maar_world_task(maar_engine_world(engine), uid)->view;
}

/* ---- when a session runs ---- */

static void engine_waits_for_every_list(void **state)
{
    (void)state;
    begin(false);
    deliver(make_queue("q", ""));
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        assert_false(turn().session);
        deliver_synced((enum maar_kind)kind);
    }
    assert_true(maar_engine_turn(engine, 0, false).session);
    assert_true(turn().synced);
}

static void engine_that_stands_by_keeps_up_and_decides_nothing(void **state)
{
    (void)state;
    begin_with(true, false, true);
    deliver(make_queue("q", ""));
    deliver(make_node("n1", 4000, 8 * GI));
    deliver(make_group("g", "q", 1));
    deliver(make_pod("p", "g", 1000, GI));
    sync_all();
    assert_true(turn().synced);
    clock_ns += 1000 * MAAR_SECOND_NS;
    assert_false(maar_engine_turn(engine, 0, true).session);
    assert_int_equal(sent.n, 0);
    assert_non_null(maar_world_task(maar_engine_world(engine), "Pod p"));
    maar_engine_take_over(engine);
    assert_true(turn().session);
    assert_non_null(find_sent(MAAR_WRITE_BIND, "p"));
    assert_non_null(find_sent(MAAR_WRITE_QUEUE_CREATE, "default"));
}

static void engine_runs_a_session_when_something_changed(void **state)
{
    (void)state;
    begin_with_binding();
    answer_all();
    while (turn().session)
        answer_all();
    /* A heartbeat wakes nobody. */
    deliver(make_node("n1", 4000, 8 * GI));
    assert_false(turn().session);
    deliver(make_node("n1", 3000, 8 * GI));
    assert_true(turn().session);
    assert_false(turn().session);
    assert_true(maar_engine_turn(engine, 0, true).session);
}

static void engine_runs_again_after_a_session_that_changed_a_phase(void **state)
{
    (void)state;
    begin(false);
    deliver(make_queue("q", ""));
    struct maar_record *record = make_group("g", "q", 3);
    record->pod_group.phase = MAAR_PHASE_RUNNING;
    deliver(record);
    sync_all();
    assert_true(turn().session);
    const struct maar_write *write = get_sent(MAAR_WRITE_POD_GROUP_STATUS, "g");
    assert_int_equal(write->pod_group_status.phase, MAAR_PHASE_PENDING);
    /* Back at the gate, it is let in once more. */
    answer_all();
    assert_true(turn().session);
    write = get_sent(MAAR_WRITE_POD_GROUP_STATUS, "g");
    assert_int_equal(write->pod_group_status.phase, MAAR_PHASE_INQUEUE);
}

static void engine_writes_nothing_about_a_steady_cluster(void **state)
{
    (void)state;
    begin_with_binding();
    deliver(make_pod("large", "g", 9000, GI));
    deliver(make_pod("stray", "nowhere", 1000, GI));
    for (int i = 0; i < 6; i++) {
        answer_all();
        turn();
    }
    for (int i = 0; i < 3; i++) {
        clock_ns += 3600 * MAAR_SECOND_NS;
        struct maar_turn result = maar_engine_turn(engine, 0, true);
        assert_true(result.session);
        assert_int_equal(result.n_writes, 0);
    }
}

static void engine_tries_all_again_now_and_then_while_pods_wait(void **state)
{
    (void)state;
    begin_with_binding();
    answer_all();
    turn();
    clock_ns += 301 * MAAR_SECOND_NS;
    assert_false(turn().session); /* nobody waits */
    deliver(make_pod("large", "g", 9000, GI));
    assert_true(turn().session);
    answer_all();
    assert_false(turn().session);
    clock_ns += 299 * MAAR_SECOND_NS;
    assert_false(turn().session);
    clock_ns += 2 * MAAR_SECOND_NS;
    struct maar_turn result = turn();
    assert_true(result.session);
    assert_int_equal(result.n_writes, 0);
    assert_false(turn().session);
}

static void engine_decides_nothing_while_too_many_bindings_are_unanswered(void **state)
{
    (void)state;
    begin(false);
    struct maar_record *node = make_node("n1", 100000000, 100000 * GI);
    set_amount(node, &node->node.allocatable, "pods", 10000);
    deliver(node);
    deliver(make_queue("q", ""));
    deliver(make_group("g", "q", 1));
    for (int i = 0; i < 4100; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        deliver(make_pod(name, "g", 1000, GI));
    }
    sync_all();
    assert_true(maar_engine_turn(engine, 0, false).session);
    deliver(make_pod("late", "g", 1000, GI));
    assert_false(maar_engine_turn(engine, 0, false).session);
    assert_false(maar_engine_turn(engine, 0, true).session);
    answer_all();
    assert_true(maar_engine_turn(engine, 0, false).session);
    assert_non_null(find_sent(MAAR_WRITE_BIND, "late"));
}

/* ---- bindings ---- */

static void engine_tells_of_a_binding(void **state)
{
    (void)state;
    begin_with_binding();
    answer(MAAR_WRITE_BIND, "p", 200);
    turn();
    const struct maar_write *event = get_sent(MAAR_WRITE_EVENT, "p");
    assert_non_null(event);
    assert_string_equal(event->event.reason, "Scheduled");
    assert_string_equal(event->event.message, "Successfully assigned ns/p to n1");
    assert_int_equal(task("p")->status, MAAR_TASK_BINDING);
}

static void engine_binds_again_after_a_refusal(void **state)
{
    (void)state;
    static const int codes[] = {500, 503, 429, 403, 0};
    for (size_t i = 0; i < COUNT(codes); i++) {
        begin_with_binding();
        answer(MAAR_WRITE_BIND, "p", codes[i]);
        while (sent.n > 0)
            answer_at(0, 200);
        assert_true(turn().session);
        const struct maar_write *condition = get_sent(MAAR_WRITE_POD_CONDITION, "p");
        assert_non_null(condition);
        assert_string_equal(condition->pod_condition.condition.reason, "SchedulerError");
        maar_autofree char *text = maar_asprintf("failed to bind to node n1: code %d", codes[i]);
        assert_string_equal(condition->pod_condition.condition.message, text);
        assert_non_null(find_sent(MAAR_WRITE_BIND, "p"));
        teardown(NULL);
        engine = NULL;
    }
}

static void engine_leaves_a_pod_alone_that_is_gone_or_bound(void **state)
{
    (void)state;
    begin_with_binding();
    deliver_end(make_pod("p", "g", 1000, GI));
    answer(MAAR_WRITE_BIND, "p", 404);
    turn();
    assert_null(find_sent(MAAR_WRITE_POD_CONDITION, "p"));
    assert_null(find_sent(MAAR_WRITE_BIND, "p"));
}

static void engine_believes_the_watch_before_the_answer(void **state)
{
    (void)state;
    begin_with_binding();
    deliver(on_node(make_pod("p", "g", 1000, GI), "n1", MAAR_POD_RUNNING));
    answer(MAAR_WRITE_BIND, "p", 500);
    turn();
    assert_int_equal(task("p")->status, MAAR_TASK_RUNNING);
    assert_null(find_sent(MAAR_WRITE_BIND, "p"));
}

/* Two conditions of one pod on their way: the first is refused, the second holds, and the watch tells of it before its
 * answer comes. */
static void engine_takes_the_last_condition_for_what_the_api_holds(void **state)
{
    (void)state;
    begin_with_binding();
    answer(MAAR_WRITE_BIND, "p", 500);
    deliver(on_node(make_pod("other", "", 4000, GI), "n1", MAAR_POD_RUNNING));
    assert_true(turn().session);
    answer(MAAR_WRITE_POD_CONDITION, "p", 500);
    const struct maar_write *last = get_sent(MAAR_WRITE_POD_CONDITION, "p");
    assert_string_equal(last->pod_condition.condition.reason, "Unschedulable");
    struct maar_record *record = make_pod("p", "g", 1000, GI);
    record->pod.scheduled_condition = last->pod_condition.condition;
    record->pod.scheduled_condition.message =
        maar_arena_strdup(record->arena, last->pod_condition.condition.message);
    deliver(record);
    answer_all();
    turn();
    assert_null(find_sent(MAAR_WRITE_POD_CONDITION, "p"));
    clock_ns += 2 * MAAR_SECOND_NS;
    assert_true(turn().session);
    assert_null(find_sent(MAAR_WRITE_POD_CONDITION, "p"));
}

/* ---- statuses ---- */

static void engine_writes_a_refused_status_again_after_a_pause(void **state)
{
    (void)state;
    static const struct {
        enum maar_write_kind kind;
        const char *name;
    } rows[] = {{MAAR_WRITE_POD_GROUP_STATUS, "g"},
                {MAAR_WRITE_POD_CONDITION, "larger"},
                {MAAR_WRITE_QUEUE_STATUS, "q"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(false);
        deliver(make_queue("q", ""));
        deliver(make_node("n1", 4000, 8 * GI));
        struct maar_record *record = make_group("g", "q", 4);
        deliver(record);
        deliver(on_node(make_pod("p", "g", 1000, GI), "n1", MAAR_POD_RUNNING));
        deliver(make_pod("large", "g", 9000, GI));
        sync_all();
        while (turn().session)
            answer_all();
        deliver(on_node(make_pod("second", "g", 1000, GI), "n1", MAAR_POD_RUNNING));
        deliver(make_pod("larger", "g", 9001, GI));
        assert_true(turn().session);
        answer(rows[i].kind, rows[i].name, 500);
        answer_all();
        assert_false(turn().session);
        if (find_sent(rows[i].kind, rows[i].name))
            fail_msg("%s at once", maar_write_kind_name(rows[i].kind));
        clock_ns += 2 * MAAR_SECOND_NS;
        assert_true(turn().session);
        const struct maar_write *again = get_sent(rows[i].kind, rows[i].name);
        if (again->kind == MAAR_WRITE_POD_GROUP_STATUS)
            assert_true(again->pod_group_status.has_condition);
        answer_all();
        turn();
        clock_ns += 2 * MAAR_SECOND_NS;
        assert_false(turn().session);
        teardown(NULL);
        engine = NULL;
    }
}

static void engine_makes_the_queues_that_are_missing(void **state)
{
    (void)state;
    begin(true);
    turn();
    assert_int_equal(sent.n, 0); /* not before the lists are in */
    sync_all();
    turn();
    assert_false(get_sent(MAAR_WRITE_QUEUE_CREATE, "root")->queue_create.reclaimable);
    assert_true(get_sent(MAAR_WRITE_QUEUE_CREATE, "default")->queue_create.reclaimable);
    size_t n = sent.n;
    turn();
    assert_int_equal(sent.n, n);
    /* Somebody else was faster. */
    answer(MAAR_WRITE_QUEUE_CREATE, "root", 409);
    turn();
    assert_null(find_sent(MAAR_WRITE_QUEUE_CREATE, "root"));
    /* Refused: not at once again. */
    answer(MAAR_WRITE_QUEUE_CREATE, "default", 500);
    turn();
    turn();
    assert_null(find_sent(MAAR_WRITE_QUEUE_CREATE, "default"));
    clock_ns += 2 * MAAR_SECOND_NS;
    turn();
    assert_non_null(find_sent(MAAR_WRITE_QUEUE_CREATE, "default"));
    answer(MAAR_WRITE_QUEUE_CREATE, "default", 200);
    deliver(make_queue("default", ""));
    deliver(make_queue("root", ""));
    turn();
    /* Gone again, made again. */
    deliver_end(make_queue("default", ""));
    turn();
    assert_non_null(find_sent(MAAR_WRITE_QUEUE_CREATE, "default"));
}

/* ---- configuration ---- */

static void engine_takes_a_new_configuration_with_the_next_session(void **state)
{
    (void)state;
    begin(false);
    deliver(make_queue("q", ""));
    struct maar_record *record = make_node("n1", 4000, 8 * GI);
    record->node.unschedulable = true;
    deliver(record);
    deliver(make_group("g", "q", 1));
    deliver(make_pod("p", "g", 1000, GI));
    sync_all();
    turn();
    assert_null(find_sent(MAAR_WRITE_BIND, "p"));
    struct maar_error err = MAAR_ERROR_INIT;
    assert_true(maar_engine_set_conf(engine,
                                     read_conf("actions: \"no-such-action\"\n"
                                               "tiers:\n- plugins:\n  - name: gang\n"),
                                     &err) < 0);
    assert_non_null(strstr(err.text, "no-such-action"));
    answer_all();
    turn();
    assert_null(find_sent(MAAR_WRITE_BIND, "p"));
    /* Without predicates nobody minds that the node is unschedulable. */
    assert_int_equal(maar_engine_set_conf(engine,
                                          read_conf("actions: \"allocate\"\n"
                                                    "tiers:\n- plugins:\n  - name: gang\n"),
                                          &err),
                     0);
    assert_true(turn().session);
    assert_non_null(find_sent(MAAR_WRITE_BIND, "p"));
}

/* ---- explaining ---- */

static void explain(const char *object, struct maar_text *out)
{
    struct maar_explanation *explanation = NULL;
    assert_int_equal(maar_engine_explain(engine, object, &explanation), 0);
    maar_text_clear(out);
    maar_explanation_text(explanation, out);
    maar_explanation_destroy(explanation);
}

static void engine_explains_pods_and_groups(void **state)
{
    (void)state;
    begin_with_binding();
    deliver(make_pod("large", "g", 9000, GI));
    turn();
    struct maar_text text = MAAR_TEXT_INIT;
    struct maar_explanation *none = NULL;
    uint64_t before = maar_world_hash(maar_engine_world(engine));
    explain("ns/large", &text);
    assert_non_null(strstr(maar_text_get(&text), "Insufficient cpu"));
    assert_non_null(strstr(maar_text_get(&text), "PodGroup ns/g"));
    explain("ns/p", &text);
    assert_non_null(strstr(maar_text_get(&text), "Pod ns/p is being bound on n1"));
    explain("queue/q", &text);
    assert_non_null(strstr(maar_text_get(&text), "1. ns/g waits: nodes: 0/1 nodes are unavail"));
    assert_int_equal(maar_engine_explain(engine, "ns/nobody", &none), -ENOENT);
    assert_int_equal(maar_engine_explain(engine, "", &none), -ENOENT);
    /* It only looks. */
    assert_true(maar_world_hash(maar_engine_world(engine)) == before);
    assert_false(turn().session);
    maar_text_fini(&text);
}

static int load(void **state)
{
    (void)state;
    maar_log_set_verbosity(-1);
    struct maar_error err = MAAR_ERROR_INIT;
    registry = maar_registry_create();
    if (maar_registry_load_plugins(registry, MAAR_TEST_BIN_DIR "/plugins", &err) < 0 ||
        maar_registry_load_actions(registry, MAAR_TEST_BIN_DIR "/actions", &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    maar_registry_destroy(registry);
    maar_vec_fini(&inbox);
    maar_vec_fini(&sent);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- scheduling gates ---- */

#define QUEUE_GATE "scheduling.volcano.sh/queue-allocation-gate"

static struct maar_record *make_gated(const char *name, const char *group)
{
    struct maar_record *record = make_pod(name, group, 1000, GI);
    record->pod.n_gates = 1;
    record->pod.gates = QUEUE_GATE;
    record->pod.only_queue_gate = true;
    record->pod.asks_queue_gate = true;
    return record;
}

static void begin_with_gated(bool queue_admission)
{
    begin_with(false, queue_admission, false);
    deliver(make_queue("q", ""));
    deliver(make_node("n1", 4000, 8 * GI));
    deliver(make_group("g", "q", 1));
    deliver(make_gated("p", "g"));
    sync_all();
    assert_true(turn().session);
}

static void engine_opens_the_queues_gate_once_and_then_binds(void **state)
{
    (void)state;
    begin_with_gated(true);
    assert_non_null(find_sent(MAAR_WRITE_UNGATE, "p"));
    assert_null(find_sent(MAAR_WRITE_BIND, "p"));
    answer_all();
    /* What the watch shows may be older than the answer. */
    maar_engine_turn(engine, 0, true);
    deliver(make_gated("p", "g"));
    maar_engine_turn(engine, 0, true);
    assert_null(find_sent(MAAR_WRITE_UNGATE, "p"));
    struct maar_record *open = make_pod("p", "g", 1000, GI);
    open->pod.asks_queue_gate = true;
    deliver(open);
    assert_true(turn().session);
    assert_non_null(find_sent(MAAR_WRITE_BIND, "p"));
    assert_false(task("p")->gate_opened);
}

static void engine_opens_a_gate_again_after_a_refusal(void **state)
{
    (void)state;
    begin_with_gated(true);
    answer(MAAR_WRITE_UNGATE, "p", 500);
    answer_all();
    turn();
    assert_null(find_sent(MAAR_WRITE_UNGATE, "p"));
    clock_ns += 2 * MAAR_SECOND_NS;
    assert_true(turn().session);
    assert_non_null(find_sent(MAAR_WRITE_UNGATE, "p"));
}

static void engine_opens_no_gate_without_the_feature(void **state)
{
    (void)state;
    begin_with_gated(false);
    assert_null(find_sent(MAAR_WRITE_UNGATE, "p"));
    const struct maar_write *write = get_sent(MAAR_WRITE_POD_GROUP_STATUS, "g");
    assert_non_null(strstr(write->pod_group_status.condition.message,
                           "p: waits for the removal of scheduling gate " QUEUE_GATE
                           ", which the scheduler removes only with feature gate "));
}

static size_t n_sent(enum maar_write_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < sent.n; i++)
        n += sent.data[i]->kind == kind;
    return n;
}

static void engine_opens_so_many_gates_at_a_time(void **state)
{
    (void)state;
    begin_with_gated(true);
    for (int i = 0; i < 250; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        deliver(make_gated(name, "g"));
    }
    turn();
    assert_int_equal(n_sent(MAAR_WRITE_UNGATE), 200);
    answer_all();
    turn();
    maar_engine_turn(engine, 0, true);
    assert_int_equal(n_sent(MAAR_WRITE_UNGATE), 51);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(engine_waits_for_every_list),
        TEST(engine_that_stands_by_keeps_up_and_decides_nothing),
        TEST(engine_runs_a_session_when_something_changed),
        TEST(engine_runs_again_after_a_session_that_changed_a_phase),
        TEST(engine_writes_nothing_about_a_steady_cluster),
        TEST(engine_tries_all_again_now_and_then_while_pods_wait),
        TEST(engine_decides_nothing_while_too_many_bindings_are_unanswered),
        TEST(engine_tells_of_a_binding),
        TEST(engine_binds_again_after_a_refusal),
        TEST(engine_leaves_a_pod_alone_that_is_gone_or_bound),
        TEST(engine_believes_the_watch_before_the_answer),
        TEST(engine_takes_the_last_condition_for_what_the_api_holds),
        TEST(engine_writes_a_refused_status_again_after_a_pause),
        TEST(engine_makes_the_queues_that_are_missing),
        TEST(engine_takes_a_new_configuration_with_the_next_session),
        TEST(engine_explains_pods_and_groups),
        TEST(engine_opens_the_queues_gate_once_and_then_binds),
        TEST(engine_opens_a_gate_again_after_a_refusal),
        TEST(engine_opens_no_gate_without_the_feature),
        TEST(engine_opens_so_many_gates_at_a_time),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
