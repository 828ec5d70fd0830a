/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What plain scalars stand for, row by row. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "conf/scalar.h"

struct row {
    const char *text;
    enum maar_scalar_type type;
    int64_t number;
    double real;
    bool truth;
};

static void check_row(const struct row *row)
{
    struct maar_scalar_value value = maar_scalar_resolve(row->text);
    if (value.type != row->type || value.number != row->number || value.truth != row->truth ||
        !(value.real == row->real || (isnan(value.real) && isnan(row->real))))
        fail_msg("\"%s\": type %d number %lld real %g truth %d", row->text, (int)value.type,
                 (long long)value.number, value.real, value.truth);
}

static void booleans_are_those_of_yaml_1_1(void **state)
{
    (void)state;
    static const char *const yes[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
    static const char *const no[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                     "False", "FALSE", "off", "Off", "OFF"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        check_row(&(struct row){.text = yes[i], .type = MAAR_SCALAR_BOOL, .truth = true});
        check_row(&(struct row){.text = no[i], .type = MAAR_SCALAR_BOOL, .truth = false});
    }
}

static void other_spellings_are_strings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "yEs",      "tRUE",  "oN",  "t",     "T",          "nULL", "none", "nil",   "-",
        "+",        ".",     "-.",  "+e1",   "1e",         "1e+",  "0x",   "0b2",   "0o8",
        "1 2",      "1:30",  "10%", "1.5.2", "1Gi",        "100m", "0xfg", "_1",    "0x0x1",
        "0b0b1",    "0x-1",  "._5", ".5_",   ".5__5",      ".5.",  "..5",  "nan",   "inf",
        "Infinity", "0x1p3", "<<",  "=",     "2020-01-02", "--1",  "+-1",  "1e400", "-1e400",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_row(&(struct row){.text = texts[i], .type = MAAR_SCALAR_STRING});
    char digits[200] = {0}; /* more digits than any number has */
    memset(digits, '1', sizeof digits - 1);
    check_row(&(struct row){.text = digits, .type = MAAR_SCALAR_STRING});
}

static void numbers_are_read_in_every_notation(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", MAAR_SCALAR_INT, 0, 0, false},
        {"-0", MAAR_SCALAR_INT, 0, 0, false},
        {"12", MAAR_SCALAR_INT, 12, 12, false},
        {"+12", MAAR_SCALAR_INT, 12, 12, false},
        {"-12", MAAR_SCALAR_INT, -12, -12, false},
        {"1_000", MAAR_SCALAR_INT, 1000, 1000, false},
        {"017", MAAR_SCALAR_INT, 15, 15, false},
        {"00", MAAR_SCALAR_INT, 0, 0, false},
        {"0o17", MAAR_SCALAR_INT, 15, 15, false},
        {"0x1F", MAAR_SCALAR_INT, 31, 31, false},
        {"-0x1f", MAAR_SCALAR_INT, -31, -31, false},
        {"0b101", MAAR_SCALAR_INT, 5, 5, false},
        {"-0b101", MAAR_SCALAR_INT, -5, -5, false},
        {"9223372036854775807", MAAR_SCALAR_INT, INT64_MAX, 9223372036854775807.0, false},
        {"-9223372036854775808", MAAR_SCALAR_INT, INT64_MIN, -9223372036854775808.0, false},
        {"9223372036854775808", MAAR_SCALAR_FLOAT, 0, 9223372036854775808.0, false},
        {"-9223372036854775809", MAAR_SCALAR_FLOAT, 0, -9223372036854775809.0, false},
        {"99999999999999999999", MAAR_SCALAR_FLOAT, 0, 99999999999999999999.0, false},
        {"08", MAAR_SCALAR_FLOAT, 0, 8, false},
        {"1.5", MAAR_SCALAR_FLOAT, 0, 1.5, false},
        {"1.", MAAR_SCALAR_FLOAT, 0, 1, false},
        {".5", MAAR_SCALAR_FLOAT, 0, 0.5, false},
        {"-.5", MAAR_SCALAR_FLOAT, 0, -0.5, false},
        {"1e3", MAAR_SCALAR_FLOAT, 0, 1000, false},
        {"1E-2", MAAR_SCALAR_FLOAT, 0, 0.01, false},
        {"1_0.5", MAAR_SCALAR_FLOAT, 0, 10.5, false},
        {"1_.5", MAAR_SCALAR_FLOAT, 0, 1.5, false},
        {".2_5", MAAR_SCALAR_FLOAT, 0, 0.25, false},
        {".inf", MAAR_SCALAR_FLOAT, 0, HUGE_VAL, false},
        {"+.Inf", MAAR_SCALAR_FLOAT, 0, HUGE_VAL, false},
        {"-.INF", MAAR_SCALAR_FLOAT, 0, -HUGE_VAL, false},
        {".nan", MAAR_SCALAR_FLOAT, 0, (double)NAN, false},
        {"", MAAR_SCALAR_NULL, 0, 0, false},
        {"~", MAAR_SCALAR_NULL, 0, 0, false},
        {"null", MAAR_SCALAR_NULL, 0, 0, false},
        {"Null", MAAR_SCALAR_NULL, 0, 0, false},
        {"NULL", MAAR_SCALAR_NULL, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

static void strings_parse_as_go_booleans(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};
    static const char *const neither[] = {"", "yes", "on", "tRue", "2", " 1", "truex"};
    bool truth = false;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        assert_true(maar_scalar_parse_bool(yes[i], &truth) && truth);
        assert_true(maar_scalar_parse_bool(no[i], &truth) && !truth);
    }
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        assert_false(maar_scalar_parse_bool(neither[i], &truth));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(booleans_are_those_of_yaml_1_1),
        cmocka_unit_test(other_spellings_are_strings),
        cmocka_unit_test(numbers_are_read_in_every_notation),
        cmocka_unit_test(strings_parse_as_go_booleans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
