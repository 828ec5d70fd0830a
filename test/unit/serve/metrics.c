/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The registry of metrics against exact text. */

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "serve/metrics.h"

static const struct maar_metric_kind counter = {
    .name = "things_total", .help = "Things.", .type = MAAR_METRIC_COUNTER};
static const struct maar_metric_kind gauge = {
    .name = "level",
    .help = "A \"level\".\nIn C:\\.",
    .type = MAAR_METRIC_GAUGE,
    .labels = {"queue", "resource"},
};
static const struct maar_metric_kind histogram = {
    .name = "took_ms",
    .help = "Took.",
    .type = MAAR_METRIC_HISTOGRAM,
    .labels = {"stage"},
    .buckets = {1, 100, 3},
};

static void assert_text(struct maar_metrics *metrics, const char *want)
{
    struct maar_text text = MAAR_TEXT_INIT;

    maar_metrics_render(metrics, &text);
    assert_string_equal(maar_text_get(&text), want);
    maar_text_fini(&text);
}

static void each_type_has_its_text(void **state)
{
    struct maar_metrics *metrics = maar_metrics_create();
    struct maar_series *series;

    (void)state;
    assert_text(metrics, "");
    series = maar_series_get(maar_metrics_add(metrics, &counter), NULL);
    maar_series_add(series, 2);
    maar_series_add(series, 1);
    series =
        maar_series_get(maar_metrics_add(metrics, &gauge), (const char *[]){"a", "nvidia.com/gpu"});
    maar_series_set(series, 0.5);
    series = maar_series_get(maar_metrics_add(metrics, &histogram), (const char *[]){"Bound"});
    maar_series_observe(series, 1);
    maar_series_observe(series, 10.5);
    maar_series_observe(series, 1000);
    assert_text(metrics, "# HELP things_total Things.\n"
                         "# TYPE things_total counter\n"
                         "things_total 3\n"
                         "# HELP level A \"level\".\\nIn C:\\\\.\n"
                         "# TYPE level gauge\n"
                         "level{queue=\"a\",resource=\"nvidia.com/gpu\"} 0.5\n"
                         "# HELP took_ms Took.\n"
                         "# TYPE took_ms histogram\n"
                         "took_ms_bucket{stage=\"Bound\",le=\"1\"} 1\n"
                         "took_ms_bucket{stage=\"Bound\",le=\"10\"} 1\n"
                         "took_ms_bucket{stage=\"Bound\",le=\"100\"} 2\n"
                         "took_ms_bucket{stage=\"Bound\",le=\"+Inf\"} 3\n"
                         "took_ms_sum{stage=\"Bound\"} 1011.5\n"
                         "took_ms_count{stage=\"Bound\"} 3\n");
    maar_metrics_destroy(metrics);
}

static void label_values_are_escaped(void **state)
{
    struct maar_metrics *metrics = maar_metrics_create();

    (void)state;
    maar_series_get(maar_metrics_add(metrics, &gauge), (const char *[]){"a\"b\\c\nd", ""});
    assert_text(metrics, "# HELP level A \"level\".\\nIn C:\\\\.\n"
                         "# TYPE level gauge\n"
                         "level{queue=\"a\\\"b\\\\c\\nd\",resource=\"\"} 0\n");
    maar_metrics_destroy(metrics);
}

static void numbers_are_the_shortest_that_read_back(void **state)
{
    static const struct {
        double value;
        const char *want;
    } rows[] = {
        {0, "0"},
        {-0.1, "-0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e15, "1000000000000000"},
        {17179869184, "17179869184"},
        {1e22, "1e+22"},
        {0.00001, "1e-05"},
        {1234567.25, "1234567.25"},
        {INFINITY, "+Inf"},
        {-INFINITY, "-Inf"},
        {NAN, "NaN"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_metrics *metrics = maar_metrics_create();
        struct maar_text text = MAAR_TEXT_INIT;

        maar_series_add(maar_series_get(maar_metrics_add(metrics, &counter), NULL), rows[i].value);
        maar_metrics_render(metrics, &text);
        text.data[text.n - 1] = '\0';
        assert_string_equal(strrchr(text.data, ' ') + 1, rows[i].want);
        maar_text_fini(&text);
        maar_metrics_destroy(metrics);
    }
}

static void a_series_goes_with_its_last_holder(void **state)
{
    struct maar_metrics *metrics = maar_metrics_create();
    struct maar_metric *metric = maar_metrics_add(metrics, &gauge);
    struct maar_series *a, *same, *b;

    (void)state;
    a = maar_series_take(metric, (const char *[]){"a", "cpu"});
    same = maar_series_take(metric, (const char *[]){"a", "cpu"});
    assert_ptr_equal(a, same);
    b = maar_series_take(metric, (const char *[]){"b", "cpu"});
    maar_series_set(b, 7);
    maar_series_drop(a);
    assert_int_equal(maar_metrics_n_series(metrics), 2);
    maar_series_drop(same);
    assert_int_equal(maar_metrics_n_series(metrics), 1);
    /* Its slot and its name are free again, and its value is forgotten. */
    a = maar_series_take(metric, (const char *[]){"a", "cpu"});
    assert_text(metrics, "# HELP level A \"level\".\\nIn C:\\\\.\n"
                         "# TYPE level gauge\n"
                         "level{queue=\"a\",resource=\"cpu\"} 0\n"
                         "level{queue=\"b\",resource=\"cpu\"} 7\n");
    maar_series_drop(a);
    maar_series_drop(b);
    assert_text(metrics, "");
    maar_series_drop(NULL);
    /* One that stays is held once, however often it is asked for. */
    a = maar_series_get(metric, (const char *[]){"a", "cpu"});
    assert_ptr_equal(maar_series_get(metric, (const char *[]){"a", "cpu"}), a);
    maar_series_drop(maar_series_take(metric, (const char *[]){"a", "cpu"}));
    assert_int_equal(maar_metrics_n_series(metrics), 1);
    maar_metrics_destroy(metrics);
}

static void *scrape(void *metrics)
{
    for (int i = 0; i < 20; i++) {
        struct maar_text text = MAAR_TEXT_INIT;
        size_t n_heads = 0;

        maar_metrics_render(metrics, &text);
        for (const char *at = maar_text_get(&text); (at = strstr(at, "# TYPE")); at++)
            n_heads++;
        assert_true(n_heads <= 1);
        maar_text_fini(&text);
    }
    return NULL;
}

static void series_come_and_go_while_others_read(void **state)
{
    enum { N = 1000 };
    struct maar_metrics *metrics = maar_metrics_create();
    struct maar_metric *metric = maar_metrics_add(metrics, &gauge);
    struct maar_series *series[N] = {NULL};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, scrape, metrics), 0);
    for (size_t i = 0; i < 20000; i++) {
        size_t at = i * 7919 % N;
        char name[16];

        if (series[at] && i % 3 > 0) {
            maar_series_set(series[at], (double)i);
            continue;
        }
        maar_series_drop(series[at]);
        snprintf(name, sizeof name, "q%zu", at);
        series[at] = i % 5 > 0 ? maar_series_take(metric, (const char *[]){name, "cpu"}) : NULL;
    }
    pthread_join(thread, NULL);
    for (size_t i = 0; i < N; i++)
        maar_series_drop(series[i]);
    assert_int_equal(maar_metrics_n_series(metrics), 0);
    maar_metrics_destroy(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_text),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(numbers_are_the_shortest_that_read_back),
        cmocka_unit_test(a_series_goes_with_its_last_holder),
        cmocka_unit_test(series_come_and_go_while_others_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
