/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The text buffer and the search for the name that was meant. */

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void text_empty_is_the_empty_string(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    assert_string_equal(maar_text_get(&text), "");
    maar_text_clear(&text);
    maar_text_add_n(&text, NULL, 0);
    assert_string_equal(maar_text_get(&text), "");
    maar_text_fini(&text);
    assert_null(text.data);
    maar_autofree char *stolen = maar_text_steal(&text);
    assert_string_equal(stolen, "");
}

static void text_additions_follow_each_other(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, "one");
    maar_text_add_char(&text, ',');
    maar_text_add_n(&text, "twoxxx", 3);
    maar_text_addf(&text, ",%d,%s", 3, "four");
    maar_text_addf(&text, "%s", "");
    assert_string_equal(maar_text_get(&text), "one,two,3,four");
    assert_int_equal(text.n, 14);
    maar_text_clear(&text);
    assert_string_equal(maar_text_get(&text), "");
    maar_text_add(&text, "again");
    assert_string_equal(maar_text_get(&text), "again");
    maar_text_fini(&text);
}

static void text_steal_leaves_it_empty(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, "mine");
    maar_autofree char *stolen = maar_text_steal(&text);
    assert_string_equal(stolen, "mine");
    assert_null(text.data);
    assert_int_equal(text.n, 0);
    maar_text_add(&text, "new");
    assert_string_equal(maar_text_get(&text), "new");
    maar_text_fini(&text);
}

/* Formatted additions of every length around the growth steps. */
static void text_formats_across_growth(void **state)
{
    (void)state;
    for (int start = 0; start < 140; start++) {
        for (int width = 1; width < 140; width += 3) {
            struct maar_text text = MAAR_TEXT_INIT;
            for (int i = 0; i < start; i++)
                maar_text_add_char(&text, 'a');
            maar_text_addf(&text, "%*d", width, 7);
            assert_int_equal(text.n, start + width);
            assert_int_equal(strlen(text.data), text.n);
            assert_int_equal(text.data[text.n - 1], '7');
            assert_true(text.capacity > text.n);
            maar_text_fini(&text);
        }
    }
}

static void text_may_hold_nul_bytes(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add_n(&text, "a\0b", 3);
    maar_text_add(&text, "c");
    assert_int_equal(text.n, 4);
    assert_memory_equal(text.data, "a\0bc", 5);
    maar_text_fini(&text);
}

static const char *const known[] = {
    "enableJobOrder", "enableJobReady", "enablePreemptable", "gang", "drf", "priority",
    "proportion",     "predicates",     "nodeorder",         "tdm",  NULL,
};

static void nearest_finds_typing_errors_only(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want;
    } rows[] = {
        {"the same", "gang", "gang"},
        {"other case", "Gang", "gang"},
        {"other case, long", "enablejoborder", "enableJobOrder"},
        {"a letter lost", "prority", "priority"},
        {"a letter more", "priorrity", "priority"},
        {"a letter changed", "priarity", "priority"},
        {"two letters swapped", "pirority", "priority"},
        {"swapped in a short word", "gnag", "gang"},
        {"two slips in a longer word", "enabeJobOrdr", "enableJobOrder"},
        {"the nearer of two", "enableJobRedy", "enableJobReady"},
        {"plural", "predicate", "predicates"},
        {"another word", "binpack", NULL},
        {"a short word is another word", "ab", NULL},
        {"one slip in three letters", "dfr", "drf"},
        {"two slips in three letters", "dxx", NULL},
        {"nothing", "", NULL},
        {"prefix only", "enable", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *got = maar_text_nearest(rows[i].input, known);
        if (!rows[i].want && got)
            fail_msg("%s: got %s", rows[i].name, got);
        if (rows[i].want && (!got || strcmp(got, rows[i].want) != 0))
            fail_msg("%s: got %s", rows[i].name, got ? got : "nothing");
    }
}

static void nearest_takes_the_first_of_equals(void **state)
{
    (void)state;
    static const char *const names[] = {"cart", "card", NULL};
    assert_string_equal(maar_text_nearest("carx", names), "cart");
}

static void nearest_of_no_names_is_none(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    assert_null(maar_text_nearest("gang", none));
}

static void nearest_passes_over_long_names(void **state)
{
    (void)state;
    char at_limit[65], over[66];
    memset(at_limit, 'a', 64);
    memset(over, 'a', 65);
    at_limit[64] = over[65] = '\0';
    const char *const names[] = {over, at_limit, NULL};
    assert_ptr_equal(maar_text_nearest(at_limit, names), at_limit);
    assert_null(maar_text_nearest(over, names));
}

/* Any one slip in a name of three letters or more leads back to it. */
static void nearest_undoes_any_single_slip(void **state)
{
    (void)state;
    for (size_t k = 0; known[k]; k++) {
        size_t n = strlen(known[k]);
        for (size_t i = 0; i < n; i++) {
            const char *const only[] = {known[k], NULL};
            char slip[64];
            (void)snprintf(slip, sizeof slip, "%s", known[k]);
            slip[i] = '?';
            assert_ptr_equal(maar_text_nearest(slip, only), known[k]);
            memmove(slip + i, known[k] + i + 1, n - i);
            if (n > 3)
                assert_ptr_equal(maar_text_nearest(slip, only), known[k]);
            memcpy(slip, known[k], i);
            slip[i] = '?';
            memcpy(slip + i + 1, known[k] + i, n - i + 1);
            assert_ptr_equal(maar_text_nearest(slip, only), known[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_empty_is_the_empty_string),
        cmocka_unit_test(text_additions_follow_each_other),
        cmocka_unit_test(text_steal_leaves_it_empty),
        cmocka_unit_test(text_formats_across_growth),
        cmocka_unit_test(text_may_hold_nul_bytes),
        cmocka_unit_test(nearest_finds_typing_errors_only),
        cmocka_unit_test(nearest_takes_the_first_of_equals),
        cmocka_unit_test(nearest_of_no_names_is_none),
        cmocka_unit_test(nearest_passes_over_long_names),
        cmocka_unit_test(nearest_undoes_any_single_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
