/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* RFC 3339 instants and Go durations. */

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define S            MAAR_SECOND_NS

static void time_parse_takes_rfc3339(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        int64_t want;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:01Z", S},
        {"1969-12-31T23:59:59Z", -S},
        {"1969-12-31T23:59:59.25Z", -S + 250000000},
        {"2026-01-01T00:00:00Z", 1767225600 * S},
        {"2026-01-01t00:00:00z", 1767225600 * S},
        {"2026-01-01T01:30:00+01:30", 1767225600 * S},
        {"2025-12-31T16:00:00-08:00", 1767225600 * S},
        {"2026-01-01T00:00:00-00:00", 1767225600 * S},
        {"2026-01-01T23:59:00+23:59", 1767225600 * S},
        {"2026-01-01T00:00:00.5Z", 1767225600 * S + 500000000},
        {"2026-01-01T00:00:00.000001Z", 1767225600 * S + 1000},
        {"2026-01-01T00:00:00.123456789Z", 1767225600 * S + 123456789},
        {"2026-01-01T00:00:00.1234567899999Z", 1767225600 * S + 123456789},
        {"2024-02-29T12:00:00Z", 1709208000 * S},
        {"2000-02-29T00:00:00Z", 951782400 * S},
        {"2000-03-01T00:00:00Z", 951868800 * S},
        {"1900-03-01T00:00:00Z", -2203891200 * S},
        {"2016-12-31T23:59:60Z", 1483228800 * S},
        {"2017-01-01T08:59:60+09:00", 1483228800 * S},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
        {"1677-09-21T00:12:43.145224192Z", INT64_MIN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = 12345;
        if (maar_time_parse(rows[i].input, &got) != 0 || got != rows[i].want)
            fail_msg("%s: got %lld", rows[i].input, (long long)got);
    }
}

static void time_parse_refuses_everything_else(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "now",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00ZZ",
        "2026-01-01T00:00:00Z ",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+01",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "26-01-01T00:00:00Z",
        "02026-01-01T00:00:00Z",
        "-026-01-01T00:00:00Z",
        "2026-1-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:60Z",
        "2016-12-31T23:59:60+01:00",
        "2262-04-11T23:47:16.854775808Z",
        "1677-09-21T00:12:43.145224191Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = 12345;
        if (maar_time_parse(rows[i], &got) != -EINVAL || got != 12345)
            fail_msg("\"%s\" was taken", rows[i]);
    }
}

/* Every day of the range, through the C library's calendar. */
static void time_format_agrees_with_the_c_library(void **state)
{
    (void)state;
    const time_t first = (time_t)(INT64_MIN / S), last = (time_t)(INT64_MAX / S);
    for (time_t t = first + 7; t < last; t += 86400 - 1) {
        struct tm tm;
        char want[32], got[32];
        assert_non_null(gmtime_r(&t, &tm));
        (void)strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%SZ", &tm);
        (void)maar_time_format((int64_t)t * S + 999999999, got);
        if (strcmp(want, got) != 0)
            fail_msg("want %s, got %s", want, got);
        int64_t back;
        assert_int_equal(maar_time_parse(got, &back), 0);
        assert_int_equal(back, (int64_t)t * S);
    }
}

static void time_format_drops_what_is_finer(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *seconds, *micros;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
        {1999, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"},
        {-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z"},
        {1767225600 * S + 123456789, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456Z"},
        {INT64_MAX, "2262-04-11T23:47:16Z", "2262-04-11T23:47:16.854775Z"},
        {INT64_MIN, "1677-09-21T00:12:43Z", "1677-09-21T00:12:43.145224Z"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char seconds[32], micros[40];
        assert_ptr_equal(maar_time_format(rows[i].ns, seconds), seconds);
        assert_ptr_equal(maar_time_format_micro(rows[i].ns, micros), micros);
        assert_string_equal(seconds, rows[i].seconds);
        assert_string_equal(micros, rows[i].micros);
    }
}

static void time_micro_text_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        char text[40];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t ns = (int64_t)seed / 1000 * 1000, back;
        assert_int_equal(maar_time_parse(maar_time_format_micro(ns, text), &back), 0);
        assert_int_equal(back, ns);
    }
}

static void duration_parse_follows_go(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        int64_t want;
    } rows[] = {
        {"0", 0},
        {"+0", 0},
        {"-0", 0},
        {"0s", 0},
        {"5s", 5 * S},
        {"30s", 30 * S},
        {"1478s", 1478 * S},
        {"-5s", -5 * S},
        {"+5s", 5 * S},
        {"5.0s", 5 * S},
        {"5.6s", 5600 * MAAR_MILLISECOND_NS},
        {"5.s", 5 * S},
        {".5s", S / 2},
        {"1.004s", 1004 * MAAR_MILLISECOND_NS},
        {"1.0040s", 1004 * MAAR_MILLISECOND_NS},
        {"100.00100s", 100 * S + MAAR_MILLISECOND_NS},
        {"10ns", 10},
        {"11us", 11000},
        {"12\xc2\xb5s", 12000},
        {"12\xce\xbcs", 12000},
        {"13ms", 13 * MAAR_MILLISECOND_NS},
        {"14s", 14 * S},
        {"15m", 900 * S},
        {"16h", 57600 * S},
        {"1h30m", 5400 * S},
        {"3h30m", 12600 * S},
        {"10.5s4m", 250 * S + S / 2},
        {"-2m3.4s", -123 * S - 400 * MAAR_MILLISECOND_NS},
        {"1h2m3s4ms5us6ns", 3723 * S + 4005006},
        {"39h9m14.425s", 140954 * S + 425 * MAAR_MILLISECOND_NS},
        {"52763797000ns", 52763797000},
        {"0.3333333333333333333h", 1200 * S},
        {"9007199254740993ns", 9007199254740993},
        {"9223372036854775807ns", INT64_MAX},
        {"9223372036854775.807us", INT64_MAX},
        {"9223372036s854ms775us807ns", INT64_MAX},
        {"-9223372036854775807ns", -INT64_MAX},
        {"-9223372036854775808ns", INT64_MIN},
        {"-9223372036854775.808us", INT64_MIN},
        {"0.100000000000000000000h", 360 * S},
        {"0.830103483285477580700h", 2988 * S + 372539827},
        {"0.9223372036854775807h", 3320413933267},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = 12345;
        int rc = maar_duration_parse(rows[i].input, &got);
        if (rc != 0 || got != rows[i].want)
            fail_msg("%s: %d, got %lld", rows[i].input, rc, (long long)got);
    }
}

static void duration_parse_tells_malformed_from_too_large(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        int want;
    } rows[] = {
        {"", -EINVAL},
        {"3", -EINVAL},
        {"-", -EINVAL},
        {"+", -EINVAL},
        {"s", -EINVAL},
        {".", -EINVAL},
        {"-.", -EINVAL},
        {".s", -EINVAL},
        {"+.s", -EINVAL},
        {"1d", -EINVAL},
        {"1.5.5s", -EINVAL},
        {"1 s", -EINVAL},
        {" 1s", -EINVAL},
        {"1s ", -EINVAL},
        {"1h-30m", -EINVAL},
        {"--1s", -EINVAL},
        {"1S", -EINVAL},
        {"1e3s", -EINVAL},
        {"00", -EINVAL},
        {"\x85\x85", -EINVAL},
        {"1\xc2s", -EINVAL},
        {"99999999999999999999", -EINVAL},
        {"99999999999999999999s1x", -EINVAL},
        {"9223372036854775808ns", -ERANGE},
        {"9223372036854775810ns", -ERANGE},
        {"-9223372036854775809ns", -ERANGE},
        {"9223372036854776us", -ERANGE},
        {"9223372036854.775808ms", -ERANGE},
        {"9223372037s", -ERANGE},
        {"3000000h", -ERANGE},
        {"2562047h48m", -ERANGE},
        {"9223372036854775808ns9223372036854775808ns", -ERANGE}, /* 2^64 in all */
        {"9223372036854775809ns", -ERANGE},
        {"99999999999999999999s", -ERANGE},
        {"999999999999999999999999999999999999999999999999h", -ERANGE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = 12345;
        int rc = maar_duration_parse(rows[i].input, &got);
        if (rc != rows[i].want || got != 12345)
            fail_msg("\"%s\": %d", rows[i].input, rc);
    }
}

/* Any duration written as whole units of falling size reads back. */
static void duration_sum_of_units_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t want = (int64_t)(seed >> (1 + seed % 50)), got;
        char text[96];
        (void)snprintf(text, sizeof text, "%s%lldh%dm%ds%dms%dus%dns", i % 2 ? "-" : "",
                       (long long)(want / (3600 * S)), (int)(want / (60 * S) % 60),
                       (int)(want / S % 60), (int)(want / 1000000 % 1000),
                       (int)(want / 1000 % 1000), (int)(want % 1000));
        assert_int_equal(maar_duration_parse(text, &got), 0);
        assert_int_equal(got, i % 2 ? -want : want);
    }
}

static void clocks_move_forward(void **state)
{
    (void)state;
    int64_t mono = maar_clock_mono_ns();
    assert_true(maar_clock_mono_ns() >= mono);
    int64_t released;
    assert_int_equal(maar_time_parse("2020-01-01T00:00:00Z", &released), 0);
    assert_true(maar_clock_wall_ns() > released);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_parse_takes_rfc3339),
        cmocka_unit_test(time_parse_refuses_everything_else),
        cmocka_unit_test(time_format_agrees_with_the_c_library),
        cmocka_unit_test(time_format_drops_what_is_finer),
        cmocka_unit_test(time_micro_text_reads_back),
        cmocka_unit_test(duration_parse_follows_go),
        cmocka_unit_test(duration_parse_tells_malformed_from_too_large),
        cmocka_unit_test(duration_sum_of_units_reads_back),
        cmocka_unit_test(clocks_move_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
