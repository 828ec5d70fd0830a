/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The command line belongs to a program, not to a library, so its source is taken in. */

#include "daemon/options.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Splits at spaces; the words live as long as `copy`. */
static int parse(struct maar_options *options, const char *line, char copy[512],
                 struct maar_error *err)
{
    char *argv[32] = {(char *)(uintptr_t) "maar-scheduler"};
    int argc = 1;
    char *rest = copy;
    char *word;

    snprintf(copy, 512, "%s", line);
    while ((word = strsep(&rest, " ")) != NULL) {
        if (*word)
            argv[argc++] = word;
    }
    return maar_options_parse(options, argc, argv, err);
}

static void without_flags_volcanos_defaults_hold(void **state)
{
    struct maar_options options;
    char copy[512];

    (void)state;
    assert_int_equal(parse(&options, "", copy, NULL), 0);
    assert_string_equal(options.scheduler_names.data[0], "volcano");
    assert_null(options.scheduler_names.data[1]);
    assert_string_equal(options.default_queue, "default");
    assert_int_equal(options.schedule_period_ns, MAAR_SECOND_NS);
    assert_true(options.kube_api_qps >= 2000 && options.kube_api_qps <= 2000);
    assert_int_equal(options.kube_api_burst, 2000);
    assert_true(options.leader_elect);
    assert_int_equal(options.lease_duration_ns, 15 * MAAR_SECOND_NS);
    assert_int_equal(options.renew_deadline_ns, 10 * MAAR_SECOND_NS);
    assert_int_equal(options.retry_period_ns, 2 * MAAR_SECOND_NS);
    assert_string_equal(options.lease_ns, "volcano-system");
    assert_string_equal(options.lease_name, "volcano");
    assert_int_equal(options.warnings.n, 0);
    maar_options_fini(&options);
}

static void volcanos_own_deployment_starts(void **state)
{
    struct maar_options options;
    struct maar_error err = MAAR_ERROR_INIT;
    char copy[512];

    (void)state;
    if (parse(
            &options,
            "--logtostderr --scheduler-conf=/volcano.scheduler/volcano-scheduler.conf "
            "--enable-healthz=true "
            "--enable-metrics=true --leader-elect=false --kube-api-qps=2000 --kube-api-burst=2000 "
            "--schedule-period=1s --node-worker-threads=20 -v=3 2>&1",
            copy, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(options.scheduler_conf, "/volcano.scheduler/volcano-scheduler.conf");
    assert_false(options.leader_elect);
    assert_int_equal(options.verbosity, 3);
    assert_true(options.enable_healthz);
    assert_true(options.enable_metrics);
    assert_string_equal(options.listen_address, ":8080");
    assert_string_equal(options.healthz_address, ":11251");
    assert_null(options.explain_address);
    assert_int_equal(options.warnings.n, 1);
    assert_non_null(strstr(options.warnings.data[0], "--node-worker-threads has no effect: "));
    maar_options_fini(&options);
}

static void flags_may_be_written_in_several_ways(void **state)
{
    static const char *const lines[] = {
        "--schedule-period=250ms --scheduler-name=a --scheduler-name b -v=4 --version",
        "--schedule_period 250ms --scheduler_name a --scheduler_name=b -v 4 --version=true",
        "-schedule-period=250ms stray --scheduler-name=a --scheduler-name=b -v4 --version=T",
        "--v=4 --schedule-period=250ms --scheduler-name=a --scheduler-name=b --version -- --no",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct maar_options options;
        struct maar_error err = MAAR_ERROR_INIT;
        char copy[512];

        if (parse(&options, lines[i], copy, &err) < 0)
            fail_msg("%s: %s", lines[i], err.text);
        assert_int_equal(options.schedule_period_ns, 250 * MAAR_MILLISECOND_NS);
        assert_int_equal(options.scheduler_names.n, 3);
        assert_string_equal(options.scheduler_names.data[0], "a");
        assert_string_equal(options.scheduler_names.data[1], "b");
        assert_int_equal(options.verbosity, 4);
        assert_true(options.version);
        maar_options_fini(&options);
    }
}

static void feature_gates_are_read(void **state)
{
    struct maar_options options;
    char copy[512];

    (void)state;
    assert_int_equal(parse(&options,
                           "--feature-gates=PriorityClass=true,SchedulingGatesQueueAdmission=true "
                           "--gate-removal-worker-num=7",
                           copy, NULL),
                     0);
    assert_true(options.features.queue_admission);
    assert_int_equal(options.gate_removal_workers, 7);
    assert_int_equal(options.warnings.n, 1);
    assert_string_equal(options.warnings.data[0],
                        "--feature-gates: PriorityClass: nothing depends on it here");
    maar_options_fini(&options);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *line;
        const char *want;
    } rows[] = {
        {"--sheduler-conf=x", "unknown flag --sheduler-conf; did you mean --scheduler-conf?"},
        {"--zzzzzzzzzzzz", "unknown flag --zzzzzzzzzzzz; --help lists the flags"},
        {"--schedule-period=fast",
         "--schedule-period: expected a duration such as 1s or 250ms, not \"fast\""},
        {"--schedule-period=0", "--schedule-period: at least 1ms"},
        {"--kube-api-burst=1.5", "--kube-api-burst: expected a whole number"},
        {"--kube-api-qps=nan", "--kube-api-qps: expected a number"},
        {"--leader-elect=maybe", "--leader-elect: expected true or false"},
        {"--kubeconfig", "--kubeconfig needs a value"},
        {"--scheduler-name=", "--scheduler-name: empty"},
        {"--default-queue=", "--default-queue: empty"},
        {"--max-writes-in-flight=0", "--max-writes-in-flight: from 1 to 1000"},
        {"--resync-period=x", "--resync-period: expected a duration"},
        {"--feature-gates=A", "--feature-gates: \"A\": expected Name=true or Name=false"},
        {"--feature-gates=A=maybe", "--feature-gates: A: expected true or false, not \"maybe\""},
        {"--leader-elect-resource-namespace=", "--leader-elect-resource-namespace: expected the "
                                               "name of a namespace, not \"\""},
        {"--lock-object-namespace=a/b",
         "--lock-object-namespace: expected the name of a namespace, not \"a/b\""},
        {"--leader-elect-resource-name=A",
         "--leader-elect-resource-name: expected the name of a Lease, not \"A\""},
        {"--leader-elect-resource-lock=endpoints",
         "--leader-elect-resource-lock: expected leases, not \"endpoints\""},
        {"--leader-elect-lease-duration=999ms", "--leader-elect-lease-duration: at least 1s"},
        {"--leader-elect-lease-duration=10900ms", "--leader-elect-renew-deadline: less than "
                                                  "--leader-elect-lease-duration"},
        {"--leader-elect-renew-deadline=2400ms",
         "--leader-elect-renew-deadline: more than 1.2 times --leader-elect-retry-period"},
        {"--leader-elect-retry-period=0", "--leader-elect-retry-period: at least 1ms"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_options options;
        struct maar_error err = MAAR_ERROR_INIT;
        char copy[512];

        assert_int_equal(parse(&options, rows[i].line, copy, &err), -EINVAL);
        if (!strstr(err.text, rows[i].want))
            fail_msg("%s: %s", rows[i].line, err.text);
    }
}

static void a_lease_is_where_the_flags_say(void **state)
{
    struct maar_options options;
    char copy[512];

    (void)state;
    assert_int_equal(parse(&options,
                           "--leader-elect-resource-namespace=a --lock-object-namespace=b "
                           "--leader-elect-resource-name=c.d --leader-elect-lease-duration=60500ms "
                           "--leader-elect-renew-deadline=40s --leader-elect-retry-period=5s",
                           copy, NULL),
                     0);
    assert_string_equal(options.lease_ns, "b");
    assert_string_equal(options.lease_name, "c.d");
    assert_int_equal(options.lease_duration_ns, 60 * MAAR_SECOND_NS);
    assert_int_equal(options.warnings.n, 0);
    maar_options_fini(&options);
    /* Without election nobody minds. */
    assert_int_equal(
        parse(&options, "--leader-elect=false --leader-elect-renew-deadline=0", copy, NULL), 0);
    maar_options_fini(&options);
}

static void help_names_every_flag(void **state)
{
    struct maar_text text = MAAR_TEXT_INIT;

    (void)state;
    maar_options_help(&text);
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (!strstr(text.data, flags[i].name))
            fail_msg("--%s is missing", flags[i].name);
    }
    maar_text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_flags_volcanos_defaults_hold),
        cmocka_unit_test(volcanos_own_deployment_starts),
        cmocka_unit_test(flags_may_be_written_in_several_ways),
        cmocka_unit_test(feature_gates_are_read),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(a_lease_is_where_the_flags_say),
        cmocka_unit_test(help_names_every_flag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
