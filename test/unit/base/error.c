/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Error texts: set, wrapped, cut. */

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void error_set_returns_the_code_and_keeps_the_text(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    assert_string_equal(maar_error_text(&err), "");
    assert_int_equal(maar_error_set(&err, -EINVAL, "key %s: %d", "a", 7), -EINVAL);
    assert_string_equal(maar_error_text(&err), "key a: 7");
}

static void error_null_object_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(maar_error_set(NULL, -ENOENT, "x"), -ENOENT);
    assert_int_equal(maar_error_wrap(NULL, -EIO, "x"), -EIO);
    assert_string_equal(maar_error_text(NULL), "");
}

static void error_wrap_puts_context_before_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *name, *before, *context, *want;
    } rows[] = {
        {"one", "bad value", "scheduler.conf:3", "scheduler.conf:3: bad value"},
        {"two", "a: b", "c", "c: a: b"},
        {"nothing to wrap", "", "c", "c"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        (void)maar_error_set(&err, -1, "%s", rows[i].before);
        assert_int_equal(maar_error_wrap(&err, -EPROTO, "%s", rows[i].context), -EPROTO);
        assert_string_equal(maar_error_text(&err), rows[i].want);
    }
}

static void error_own_text_may_be_an_argument(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    (void)maar_error_set(&err, -1, "inner");
    (void)maar_error_set(&err, -1, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
    (void)maar_error_wrap(&err, -1, "%s", err.text);
    assert_string_equal(err.text, "outer (inner): outer (inner)");
}

static void error_long_texts_end_in_dots(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    char text[2 * sizeof err.text];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';

    (void)maar_error_set(&err, -1, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "a...");

    (void)maar_error_wrap(&err, -1, "context");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "context: aaa", 12);
    assert_string_equal(err.text + sizeof err.text - 5, "a...");

    (void)maar_error_wrap(&err, -1, "%s", text);
    assert_string_equal(err.text + sizeof err.text - 5, "a...");
}

static void error_text_that_just_fits_is_not_cut(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    char text[sizeof err.text];
    memset(text, 'b', sizeof text);
    text[sizeof text - 1] = '\0';
    (void)maar_error_set(&err, -1, "%s", text);
    assert_string_equal(err.text, text);
}

static void error_cut_keeps_characters_whole(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    for (size_t shift = 0; shift < 3; shift++) {
        char text[2 * sizeof err.text] = "";
        for (size_t i = shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4); /* the euro sign: three bytes */
        memset(text, 'x', shift);
        (void)maar_error_set(&err, -1, "%s", text);
        size_t n = strlen(err.text);
        assert_string_equal(err.text + n - 3, "...");
        assert_int_equal((n - 3 - shift) % 3, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_set_returns_the_code_and_keeps_the_text),
        cmocka_unit_test(error_null_object_is_allowed),
        cmocka_unit_test(error_wrap_puts_context_before_the_text),
        cmocka_unit_test(error_own_text_may_be_an_argument),
        cmocka_unit_test(error_long_texts_end_in_dots),
        cmocka_unit_test(error_text_that_just_fits_is_not_cut),
        cmocka_unit_test(error_cut_keeps_characters_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
