/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Quantities: what is read, how it rounds and saturates, and the canonical text. */

#include "model/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MAX          INT64_MAX
#define MIN          INT64_MIN

struct row {
    const char *input;
    int64_t value, milli;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct maar_quantity quantity;
        struct maar_error err = MAAR_ERROR_INIT;
        if (maar_quantity_parse(rows[i].input, &quantity, &err) != 0)
            fail_msg("%s: %s", rows[i].input, maar_error_text(&err));
        int64_t value = maar_quantity_value(&quantity);
        int64_t milli = maar_quantity_milli_value(&quantity);
        if (value != rows[i].value || milli != rows[i].milli)
            fail_msg("%s: value %lld, milli %lld", rows[i].input, (long long)value,
                     (long long)milli);
    }
}

static void quantity_takes_every_suffix(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"3", 3, 3000},
        {"3000000000n", 3, 3000},
        {"3000000u", 3, 3000},
        {"3000m", 3, 3000},
        {"3k", 3000, 3000000},
        {"3M", 3000000, 3000000000},
        {"3G", 3000000000, 3000000000000},
        {"3T", 3000000000000, 3000000000000000},
        {"3P", 3000000000000000, 3000000000000000000},
        {"3E", 3000000000000000000, MAX},
        {"3Ki", 3072, 3072000},
        {"3Mi", 3145728, 3145728000},
        {"3Gi", 3221225472, 3221225472000},
        {"3Ti", 3298534883328, 3298534883328000},
        {"3Pi", 3377699720527872, 3377699720527872000},
        {"3Ei", 3458764513820540928, MAX},
        {"3e0", 3, 3000},
        {"3e3", 3000, 3000000},
        {"3E3", 3000, 3000000},
        {"3e+3", 3000, 3000000},
        {"3E-3", 1, 3},
        {"3000e-3", 3, 3000},
        {"3e03", 3000, 3000000},
    };
    check_rows(rows, COUNT(rows));
}

static void quantity_takes_signs_and_decimals(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"-0.000", 0, 0},
        {"0Ei", 0, 0},
        {"0e99999999999999999999", 0, 0},
        {"+1", 1, 1000},
        {"-1", -1, -1000},
        {"007", 7, 7000},
        {"1.5", 2, 1500},
        {"1.", 1, 1000},
        {".5", 1, 500},
        {"-.5", -1, -500},
        {"1.Gi", 1073741824, 1073741824000},
        {"0.5Gi", 536870912, 536870912000},
        {"1.5Gi", 1610612736, 1610612736000},
        {"-1.5Gi", -1610612736, -1610612736000},
        {"2.5e3", 2500, 2500000},
        {"1500m", 2, 1500},
        {"100m", 1, 100},
        {"0.1", 1, 100},
    };
    check_rows(rows, COUNT(rows));
}

static void quantity_rounds_away_from_zero(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"1n", 1, 1},
        {"-1n", -1, -1},
        {"1000001n", 1, 2},
        {"1000000n", 1, 1},
        {"999999n", 1, 1},
        {"1.0001", 2, 1001},
        {"-1.0001", -2, -1001},
        {"0.0000000001", 1, 1}, /* finer than a billionth, but not nothing */
        {"-0.1n", -1, -1},
        {"1e-1000000", 1, 1},
        {"1e-99999999999999999999999", 1, 1},
        {"0.1Gi", 107374183, 107374182400},
        {"0.1Ki", 103, 102400},
        {"0.3333333333Ki", 342, 341334},
        {"2.0000000000000000000000000000000000000000000001", 3, 2001},
        {"1.0000000000000000000000000000000000000000000001Ki", 1025, 1024001},
        {"0.00000000000000000000000000000000000000000000009e46", 1, 900},
        /* What apimachinery answers. */
        {"01.7093300101E-3", 1, 2},
        {"512.999999999999999999999k", 513000, 513000000},
        {"3.1415926535897932384626433Mi", 3294199, 3294198659},
    };
    check_rows(rows, COUNT(rows));
}

static void quantity_saturates(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"9223372036854775807", MAX, MAX},
        {"9223372036854775808", MAX, MAX},
        {"9223372036854775806", MAX - 1, MAX},
        {"9223372036854775806.5", MAX, MAX},
        {"9223372036854775807m", 9223372036854776, MAX},
        {"9223372036854775808m", 9223372036854776, MAX},
        {"-9223372036854775807", -MAX, MIN},
        {"-9223372036854775808", MIN, MIN},
        {"-9223372036854775809", MIN, MIN},
        {"8E", 8000000000000000000, MAX},
        {"12E", MAX, MAX},
        {"7Ei", 8070450532247928832, MAX},
        {"8Ei", MAX, MAX},
        {"7.99999999999999999999Ei", MAX, MAX},
        {"-16Ei", MIN, MIN},
        {"1e19", MAX, MAX},
        {"1e30", MAX, MAX},
        {"1e31", MAX, MAX},
        {"999999999999999999999999999999Ei", MAX, MAX},
        {"999999999999999999999999999999.5Ei", MAX, MAX},
        {"1e18446744073709551617", MAX, MAX}, /* 2^64 + 1 */
        {"1e99999999999999999999999", MAX, MAX},
        {"-1e99999999999999999999999", MIN, MIN},
        {"123456789012345678901234567890123456789012345678901234567890", MAX, MAX},
        {"340282366920938463463374607431768211456", MAX, MAX}, /* 2^128 */
        {"340282366920938463463374607432", MAX, MAX},          /* 2^128 in billionths, and more */
    };
    check_rows(rows, COUNT(rows));
}

static void quantity_errors_say_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *input, *want;
    } rows[] = {
        {"", "quantity is empty"},
        {" ", "quantity \" \": does not begin with a number"},
        {"+", "quantity \"+\": does not begin with a number"},
        {"-", "quantity \"-\": does not begin with a number"},
        {".", "quantity \".\": does not begin with a number"},
        {"-.", "quantity \"-.\": does not begin with a number"},
        {"+-1", "quantity \"+-1\": does not begin with a number"},
        {"--1", "quantity \"--1\": does not begin with a number"},
        {"Gi", "quantity \"Gi\": does not begin with a number"},
        {"e3", "quantity \"e3\": does not begin with a number"},
        {"NaN", "quantity \"NaN\": does not begin with a number"},
        {"inf", "quantity \"inf\": does not begin with a number"},
        {" 1", "quantity \" 1\": does not begin with a number"},
        {"garbage", "quantity \"garbage\": does not begin with a number"},
        {"1.2.3", "quantity \"1.2.3\": second decimal point"},
        {"1..", "quantity \"1..\": second decimal point"},
        {"1 ", "quantity \"1 \": unknown suffix \" \""},
        {"1 Gi", "quantity \"1 Gi\": unknown suffix \" Gi\""},
        {"1Gi ", "quantity \"1Gi \": unknown suffix \"Gi \""},
        {"0x10", "quantity \"0x10\": unknown suffix \"x10\""},
        {"1K", "quantity \"1K\": unknown suffix \"K\""},
        {"1ki", "quantity \"1ki\": unknown suffix \"ki\""},
        {"1g", "quantity \"1g\": unknown suffix \"g\""},
        {"1mi", "quantity \"1mi\": unknown suffix \"mi\""},
        {"1i", "quantity \"1i\": unknown suffix \"i\""},
        {"1GiB", "quantity \"1GiB\": unknown suffix \"GiB\""},
        {"1mm", "quantity \"1mm\": unknown suffix \"mm\""},
        {"1,5", "quantity \"1,5\": unknown suffix \",5\""},
        {"1e", "quantity \"1e\": unknown suffix \"e\""},
        {"1e+", "quantity \"1e+\": unknown suffix \"e+\""},
        {"1e1.5", "quantity \"1e1.5\": unknown suffix \"e1.5\""},
        {"1e3k", "quantity \"1e3k\": unknown suffix \"e3k\""},
        {"1e+-3", "quantity \"1e+-3\": unknown suffix \"e+-3\""},
        {"1-1", "quantity \"1-1\": unknown suffix \"-1\""},
        {"1E3Ki", "quantity \"1E3Ki\": unknown suffix \"E3Ki\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_quantity quantity = {.nano = 12345};
        struct maar_error err = MAAR_ERROR_INIT;
        if (maar_quantity_parse(rows[i].input, &quantity, &err) != -EINVAL)
            fail_msg("\"%s\" was taken", rows[i].input);
        assert_string_equal(maar_error_text(&err), rows[i].want);
        assert_true(quantity.nano == 12345);
    }
}

static void quantity_errors_quote_no_more_than_a_line(void **state)
{
    (void)state;
    static char text[5000];
    struct maar_quantity quantity;
    struct maar_error err = MAAR_ERROR_INIT;
    memset(text, 'x', sizeof text - 1);
    text[0] = '1';
    assert_int_equal(maar_quantity_parse(text, &quantity, &err), -EINVAL);
    assert_true(strlen(maar_error_text(&err)) < 150);
    assert_int_equal(maar_quantity_parse(text, &quantity, NULL), -EINVAL);
}

/* A million zeros before and after change nothing, and the exponent may undo a long shift. */
static void quantity_texts_may_be_long(void **state)
{
    (void)state;
    enum { ZEROS = 1000000 };
    const size_t n_zeros = ZEROS;
    char *text = malloc(2 * n_zeros + 64);
    assert_non_null(text);
    memset(text, '0', 2 * n_zeros + 64);
    text[ZEROS] = '1';
    text[ZEROS + 1] = '2';
    text[ZEROS + 2] = '.';
    text[ZEROS + 3] = '5';
    (void)snprintf(text + 2 * n_zeros, 32, "Ki");
    check_rows(&(struct row){text, 12800, 12800000}, 1);

    memset(text, '0', 2 * n_zeros + 64);
    text[1] = '.';
    (void)snprintf(text + ZEROS + 2, 32, "25e%d", ZEROS + 2); /* 0.00…0025 with ZEROS zeros */
    check_rows(&(struct row){text, 25, 25000}, 1);

    memset(text, '0', ZEROS);
    text[0] = '4';
    (void)snprintf(text + ZEROS, 32, "e-%d", ZEROS - 2);
    check_rows(&(struct row){text, 40, 40000}, 1);
    free(text);
}

static void quantity_decimal_text_is_canonical(void **state)
{
    (void)state;
    static const struct {
        int64_t milli;
        const char *want;
    } rows[] = {
        {0, "0"},
        {1, "1m"},
        {-1, "-1m"},
        {100, "100m"},
        {1000, "1"},
        {1500, "1500m"},
        {2000, "2"},
        {-2000, "-2"},
        {10000, "10"},
        {100000, "100"},
        {1000000, "1k"},
        {2000000, "2k"},
        {2500000, "2500"},
        {10000000, "10k"},
        {1000000000, "1M"},
        {1000000000000, "1G"},
        {1000000000000000, "1T"},
        {1000000000000000000, "1P"},
        {MAX, "9223372036854775807m"},
        {MIN, "-9223372036854775808m"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[32];
        assert_ptr_equal(maar_quantity_format_decimal(rows[i].milli, buffer), buffer);
        assert_string_equal(buffer, rows[i].want);
    }
}

static void quantity_binary_text_is_canonical(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *want;
    } rows[] = {
        {0, "0"},
        {1, "1"},
        {500, "500"},
        {1000, "1k"}, /* below 1024 Kubernetes writes decimal */
        {-1000, "-1k"},
        {1023, "1023"},
        {1024, "1Ki"},
        {-1024, "-1Ki"},
        {1025, "1025"},
        {1536, "1536"},
        {2000, "2000"},
        {1048576, "1Mi"},
        {1610612736, "1536Mi"},
        {2147483648, "2Gi"},
        {2147483647, "2147483647"},
        {INT64_C(1) << 40, "1Ti"},
        {INT64_C(1) << 50, "1Pi"},
        {INT64_C(7) << 60, "7Ei"},
        {MAX, "9223372036854775807"},
        {MIN, "-8Ei"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[32];
        assert_ptr_equal(maar_quantity_format_binary(rows[i].value, buffer), buffer);
        assert_string_equal(buffer, rows[i].want);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Random integers of all sizes, half of them with factors that the suffixes take. */
static int64_t random_amount(uint64_t *seed)
{
    uint64_t r = next_random(seed);
    int64_t amount = (int64_t)next_random(seed) >> (r % 64);
    int64_t factor = r & 64 ? 1 : (r & 128 ? INT64_C(1) << (r >> 8) % 61 : 1000000);
    int64_t product;
    return __builtin_mul_overflow(amount, factor, &product) ? amount : product;
}

static void quantity_formatted_text_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int i = 0; i < 100000; i++) {
        char text[32];
        struct maar_quantity quantity;
        int64_t amount = random_amount(&seed);
        assert_int_equal(
            maar_quantity_parse(maar_quantity_format_decimal(amount, text), &quantity, NULL), 0);
        assert_int_equal(maar_quantity_milli_value(&quantity), amount);
        assert_int_equal(
            maar_quantity_parse(maar_quantity_format_binary(amount, text), &quantity, NULL), 0);
        assert_int_equal(maar_quantity_value(&quantity), amount);
    }
}

/* a.bc with a binary suffix against integer arithmetic: ceil(abc * 2^shift / 10^places). */
static void quantity_binary_fractions_are_exact(void **state)
{
    (void)state;
    static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti"};
    uint64_t seed = 23;
    for (int i = 0; i < 100000; i++) {
        uint64_t digits = next_random(&seed) % 1000000;
        unsigned places = (unsigned)(next_random(&seed) % 7), step = (unsigned)(seed % 5);
        uint64_t power = 1;
        for (unsigned k = 0; k < places; k++)
            power *= 10;
        char text[64];
        (void)snprintf(text, sizeof text, "%llu.%0*llu%s", (unsigned long long)(digits / power),
                       (int)places, (unsigned long long)(digits % power), names[step]);
        if (places == 0)
            (void)snprintf(text, sizeof text, "%llu%s", (unsigned long long)digits, names[step]);
        unsigned __int128 scaled = (unsigned __int128)digits << (10 * step);
        struct maar_quantity quantity;
        assert_int_equal(maar_quantity_parse(text, &quantity, NULL), 0);
        assert_int_equal(maar_quantity_value(&quantity), (int64_t)((scaled + power - 1) / power));
        unsigned __int128 milli = (scaled * 1000 + power - 1) / power;
        if (milli <= INT64_MAX)
            assert_int_equal(maar_quantity_milli_value(&quantity), (int64_t)milli);
    }
}

/* The sign turns the result and nothing else; the point may move if the exponent moves back. */
static void quantity_sign_and_exponent_are_symmetric(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int i = 0; i < 50000; i++) {
        unsigned long long digits = next_random(&seed) % 1000000000;
        int shift = (int)(next_random(&seed) % 12) - 6;
        char plain[64], negative[80], shifted[80];
        (void)snprintf(plain, sizeof plain, "%llue%d", digits, shift);
        (void)snprintf(negative, sizeof negative, "-%s", plain);
        (void)snprintf(shifted, sizeof shifted, "0.%012llue%d", digits, shift + 12);
        struct maar_quantity a, b, c;
        assert_int_equal(maar_quantity_parse(plain, &a, NULL), 0);
        assert_int_equal(maar_quantity_parse(negative, &b, NULL), 0);
        assert_int_equal(maar_quantity_parse(shifted, &c, NULL), 0);
        assert_int_equal(maar_quantity_milli_value(&b), -maar_quantity_milli_value(&a));
        assert_true(a.nano == c.nano);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantity_takes_every_suffix),
        cmocka_unit_test(quantity_takes_signs_and_decimals),
        cmocka_unit_test(quantity_rounds_away_from_zero),
        cmocka_unit_test(quantity_saturates),
        cmocka_unit_test(quantity_errors_say_what_is_wrong),
        cmocka_unit_test(quantity_errors_quote_no_more_than_a_line),
        cmocka_unit_test(quantity_texts_may_be_long),
        cmocka_unit_test(quantity_decimal_text_is_canonical),
        cmocka_unit_test(quantity_binary_text_is_canonical),
        cmocka_unit_test(quantity_formatted_text_reads_back),
        cmocka_unit_test(quantity_binary_fractions_are_exact),
        cmocka_unit_test(quantity_sign_and_exponent_are_symmetric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
