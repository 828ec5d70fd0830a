/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What the scheduler measures: an engine over a backend made by hand, with its metrics as text. */

#include "serve/scheduler_metrics.h"

#include "engine/engine.h"
#include "serve/metrics_parts.h"
#include "unit/session/records.h"

static struct maar_registry *registry;
static struct maar_deltas inbox;
static MAAR_VEC(struct maar_write *) sent;
static int64_t clock_ns;
static struct maar_engine *engine;
static struct maar_scheduler_metrics *metrics;

/* ---- a backend that shows the metrics what goes through it ---- */

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
    for (size_t i = 0; i < inbox.n; i++) {
        maar_scheduler_metrics_delta(metrics, maar_engine_world(engine), &inbox.data[i], clock_ns);
        maar_vec_push(deltas, inbox.data[i]);
    }
    maar_vec_clear(&inbox);
}

static void submit(void *self, struct maar_write *write)
{
    (void)self;
    maar_scheduler_metrics_write(metrics, maar_engine_world(engine), write, clock_ns);
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

static void deliver(struct maar_record *record, enum maar_delta_type type)
{
    struct maar_delta delta = {.type = type, .kind = record->kind, .record = record};

    maar_vec_push(&inbox, delta);
}

static void come(struct maar_record *record)
{
    deliver(record, MAAR_DELTA_UPSERT);
}

static void go(struct maar_record *record)
{
    deliver(record, MAAR_DELTA_DELETE);
}

static void answer_all(int code)
{
    for (size_t i = 0; i < sent.n; i++) {
        struct maar_delta delta = {.type = MAAR_DELTA_DONE, .write = sent.data[i], .code = code};

        maar_vec_push(&inbox, delta);
    }
    maar_vec_clear(&sent);
}

static const char conf_text[] = "actions: \"enqueue, allocate, backfill\"\n"
                                "tiers:\n"
                                "- plugins:\n"
                                "  - name: gang\n"
                                "  - name: drf\n"
                                "  - name: predicates\n"
                                "  - name: proportion\n";

static int set_up(void **state)
{
    struct maar_engine_options options = {.registry = registry};
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    clock_ns = 11 * MAAR_SECOND_NS;
    metrics = maar_scheduler_metrics_create();
    options.on_session = maar_scheduler_metrics_session;
    options.on_session_context = metrics;
    if (maar_conf_parse(conf_text, strlen(conf_text), "test", NULL, &options.conf, &err) < 0)
        fail_msg("%s", err.text);
    engine = maar_engine_create(&options, (struct maar_backend){&ops, NULL}, &err);
    assert_non_null(engine);
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        struct maar_delta delta = {.type = MAAR_DELTA_SYNCED, .kind = (enum maar_kind)kind};

        maar_vec_push(&inbox, delta);
    }
    come(make_node("n1", 4000, 8 * GI));
    come(make_queue("q", ""));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    maar_engine_destroy(engine);
    maar_scheduler_metrics_destroy(metrics);
    for (size_t i = 0; i < sent.n; i++)
        maar_write_destroy(sent.data[i]);
    maar_vec_clear(&sent);
    return 0;
}

static void turn(void)
{
    maar_engine_turn(engine, 0, true);
}

/* A second later, so that the queues are looked at. */
static void render(struct maar_text *out)
{
    clock_ns += MAAR_SECOND_NS;
    const struct maar_scheduler_state state = {
        .synced = true, .leads = true, .n_in_flight = sent.n, .mono_ns = clock_ns};

    maar_scheduler_metrics_look(metrics, maar_engine_world(engine), &state);
    maar_text_clear(out);
    maar_scheduler_metrics_render(metrics, out);
}

static void assert_lines(const char *const *lines, size_t n)
{
    struct maar_text text = MAAR_TEXT_INIT;

    render(&text);
    for (size_t i = 0; i < n; i++) {
        maar_autofree char *want = maar_asprintf("\n%s\n", lines[i]);

        if (!strstr(maar_text_get(&text), want)) {
            print_error("%s\n", maar_text_get(&text));
            fail_msg("not there: %s", lines[i]);
        }
    }
    maar_text_fini(&text);
}

static void assert_nowhere(const char *part)
{
    struct maar_text text = MAAR_TEXT_INIT;

    render(&text);
    if (strstr(maar_text_get(&text), part)) {
        print_error("%s\n", maar_text_get(&text));
        fail_msg("still there: %s", part);
    }
    maar_text_fini(&text);
}

/* ---- tests ---- */

static void a_bound_job_is_measured(void **state)
{
    static const char *const lines[] = {
        "volcano_e2e_job_scheduling_start_time{job_name=\"g\",queue=\"q\",job_namespace=\"ns\"} 1",
        "volcano_e2e_job_scheduling_last_time{job_name=\"g\",queue=\"q\",job_namespace=\"ns\"} 11",
        "volcano_e2e_job_scheduling_latency_milliseconds_count 1",
        "volcano_e2e_job_scheduling_latency_milliseconds_bucket{le=\"100\"} 0",
        "volcano_task_scheduling_latency_milliseconds_sum{stage=\"Watched\"} 10000",
        "volcano_task_scheduling_latency_milliseconds_sum{stage=\"Assumed\"} 10000",
        "volcano_task_scheduling_latency_milliseconds_sum{stage=\"Bound\"} 13000",
        "volcano_scheduling_stage_duration_milliseconds_sum{stage=\"Bind\"} 3000",
        "volcano_schedule_attempts_total{result=\"scheduled\"} 1",
        "volcano_unschedule_task_count{job_id=\"g\"} 0",
        "volcano_unschedule_job_count 0",
        "volcano_job_share{job_ns=\"ns\",job_id=\"g\"} 0.25",
        "volcano_queue_allocated_milli_cpu{queue_name=\"q\"} 1000",
        "volcano_queue_allocated_memory_bytes{queue_name=\"q\"} 1073741824",
        "volcano_queue_allocated_scalar_resources{queue_name=\"q\",resource=\"pods\"} 1",
        "volcano_queue_request_milli_cpu{queue_name=\"q\"} 1000",
        "volcano_queue_deserved_milli_cpu{queue_name=\"q\"} 1000",
        "volcano_queue_real_capacity_milli_cpu{queue_name=\"q\"} 4000",
        "volcano_queue_share{queue_name=\"q\"} 1",
        "volcano_queue_weight{queue_name=\"q\"} 1",
        "volcano_queue_overused{queue_name=\"q\"} 1",
        "volcano_action_scheduling_latency_milliseconds_count{action=\"allocate\"} 2",
        "maar_sessions_total 2",
        "maar_writes_total{kind=\"bind\",result=\"ok\"} 1",
        "maar_queue_pod_groups{queue_name=\"q\",phase=\"Inqueue\"} 1",
        "maar_objects{kind=\"Node\"} 1",
        "maar_synced 1",
        "maar_leads 1",
        "maar_config_valid 0",
    };
    static const char *const plugin =
        "volcano_plugin_scheduling_latency_milliseconds_count{plugin=\"gang\","
        "OnSession=\"OnSessionClose\"} 2";

    (void)state;
    come(make_group("g", "q", 1));
    come(make_pod("p", "g", 1000, GI));
    turn();
    clock_ns += 3 * MAAR_SECOND_NS;
    answer_all(201);
    turn();
    assert_lines(lines, COUNT(lines));
    assert_lines(&plugin, 1);
}

static void a_waiting_gang_is_counted(void **state)
{
    static const char *const lines[] = {
        "volcano_unschedule_task_count{job_id=\"big\"} 1",
        "volcano_unschedule_job_count 1",
        "volcano_job_retry_counts{job_id=\"big\"} 1",
        "volcano_schedule_attempts_total{result=\"unschedulable\"} 2",
        "volcano_queue_request_milli_cpu{queue_name=\"q\"} 6000",
        "volcano_queue_allocated_milli_cpu{queue_name=\"q\"} 0",
        "volcano_e2e_job_scheduling_latency_milliseconds_count 0",
    };

    (void)state;
    come(make_group("big", "q", 2));
    come(make_pod("b0", "big", 3000, GI));
    come(make_pod("b1", "big", 3000, GI));
    turn();
    turn();
    assert_lines(lines, COUNT(lines));
}

static void a_refused_binding_is_an_error(void **state)
{
    static const char *const lines[] = {
        "volcano_schedule_attempts_total{result=\"error\"} 1",
        "maar_writes_total{kind=\"bind\",result=\"failed\"} 1",
    };

    (void)state;
    come(make_group("g", "q", 1));
    come(make_pod("p", "g", 1000, GI));
    turn();
    answer_all(500);
    turn();
    assert_lines(lines, COUNT(lines));
}

static void a_job_in_another_queue_begins_anew(void **state)
{
    static const char *const lines[] = {
        "volcano_e2e_job_scheduling_start_time{job_name=\"g\",queue=\"r\",job_namespace=\"ns\"} 1",
        "maar_queue_pod_groups{queue_name=\"r\",phase=\"Inqueue\"} 1",
    };

    (void)state;
    come(make_group("g", "q", 1));
    turn();
    come(make_queue("r", ""));
    come(make_group("g", "r", 1));
    turn();
    assert_lines(lines, COUNT(lines));
    assert_nowhere("queue=\"q\"");
    assert_nowhere("maar_queue_pod_groups{queue_name=\"q\"");
}

static void series_go_with_their_object(void **state)
{
    size_t n_first = 0;

    (void)state;
    for (int round = 0; round < 50; round++) {
        char group[16], queue[16], pod[16];
        struct maar_text text = MAAR_TEXT_INIT;

        snprintf(group, sizeof group, "gone-%d", round);
        snprintf(queue, sizeof queue, "gone-q-%d", round);
        snprintf(pod, sizeof pod, "p-%d", round);
        come(make_queue(queue, ""));
        come(make_group(group, queue, round % 2 + 1));
        come(make_pod(pod, group, 1000, GI));
        turn();
        answer_all(201);
        turn();
        render(&text);
        maar_text_fini(&text);
        go(make_pod(pod, group, 1000, GI));
        go(make_group(group, queue, 1));
        go(make_queue(queue, ""));
        turn();
        answer_all(201);
        turn();
        assert_nowhere("gone-");
        if (round == 1)
            n_first = maar_scheduler_metrics_n_series(metrics);
    }
    assert_int_equal(maar_scheduler_metrics_n_series(metrics), n_first);
}

/* docs/metrics.md has a row for each, with its labels. */
static void every_metric_is_documented(void **state)
{
    struct maar_error err = MAAR_ERROR_INIT;
    char *page = NULL;
    size_t n_bytes;

    (void)state;
    if (maar_file_read(MAAR_TEST_SOURCE_DIR "/docs/metrics.md", 1 << 20, &page, &n_bytes, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < MAAR_N_METRICS; i++) {
        const struct maar_metric_kind *kind = &maar_scheduler_metric_kinds[i];
        maar_autofree char *want = maar_asprintf("| `%s` | ", kind->name);
        const char *row = strstr(page, want);

        if (!row)
            fail_msg("docs/metrics.md lacks %s", kind->name);
        for (size_t k = 0; k < MAAR_METRIC_MAX_LABELS && kind->labels[k]; k++) {
            maar_autofree char *label = maar_asprintf("`%s`", kind->labels[k]);
            const char *at = strstr(row, label);

            if (!at || at > strchr(row, '\n'))
                fail_msg("docs/metrics.md: %s lacks the label %s", kind->name, kind->labels[k]);
        }
    }
    free(page);
}

static int load(void **state)
{
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    registry = maar_registry_create();
    if (maar_registry_load_builtin(registry, &err) < 0)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_documented),
        cmocka_unit_test_setup_teardown(a_bound_job_is_measured, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_waiting_gang_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_binding_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_in_another_queue_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(series_go_with_their_object, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
