/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Typed reading of arguments and what the check says about them. */

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "conf/arguments.h"
#include "conf/conf.h"

static const struct maar_argument table[] = {
    {"count", MAAR_ARGUMENT_INT, "7", "0..100", "How many."},
    {"weight", MAAR_ARGUMENT_FLOAT, "2.5", "..10", "How much."},
    {"flag", MAAR_ARGUMENT_BOOL, "true", NULL, "Whether."},
    {"off", MAAR_ARGUMENT_BOOL, NULL, NULL, "Whether, without a default."},
    {"text", MAAR_ARGUMENT_STRING, "abc", "one of abc, def", "Which."},
    {"tree", MAAR_ARGUMENT_TREE, NULL, NULL, "Anything."},
    {"resources.*", MAAR_ARGUMENT_INT, "1", "1..", "A weight a resource."},
    {"resources.exact", MAAR_ARGUMENT_INT, "9", NULL, "One of its own."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

/* A configuration with one plugin whose arguments are the given lines of flow YAML. */
static struct maar_conf *conf_with(const char *arguments)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    maar_autofree char *text = maar_asprintf(
        "actions: a\ntiers:\n- plugins:\n  - name: p\n    arguments: %s\n", arguments);
    if (maar_conf_parse(text, strlen(text), "test", NULL, &conf, &err) < 0)
        fail_msg("%s: %s", arguments, err.text);
    conf->tiers[0].plugins[0].arguments.table = table;
    return conf;
}

static const struct maar_arguments *arguments_of(const struct maar_conf *conf)
{
    return &conf->tiers[0].plugins[0].arguments;
}

static void integers_are_yaml_integers_only(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input;
        int64_t want;
    } rows[] = {
        {"integer", "{count: 5}", 5},
        {"negative", "{count: -5}", -5},
        {"hex", "{count: 0x10}", 16},
        {"out of range stays", "{count: 1000}", 1000},
        {"missing", "{}", 7},
        {"no map", "", 7},
        {"quoted", "{count: \"5\"}", 7},
        {"float", "{count: 5.0}", 7},
        {"bool", "{count: true}", 7},
        {"null", "{count: }", 7},
        {"list", "{count: [5]}", 7},
        {"beyond int64", "{count: 9223372036854775808}", 7},
        {"tagged", "{count: !!int \"5\"}", 5},
        {"duplicate", "{count: 1, count: 2}", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = conf_with(rows[i].input);
        if (maar_arguments_int(arguments_of(conf), "count") != rows[i].want)
            fail_msg("%s", rows[i].name);
        maar_conf_destroy(conf);
    }
}

static void floats_take_integers_but_no_strings(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input;
        double want;
    } rows[] = {
        {"float", "{weight: 0.5}", 0.5},     {"integer", "{weight: 3}", 3},
        {"exponent", "{weight: 1e2}", 100},  {"missing", "{}", 2.5},
        {"quoted", "{weight: \"3\"}", 2.5},  {"nan", "{weight: .nan}", 2.5},
        {"infinite", "{weight: .inf}", 2.5}, {"bool", "{weight: on}", 2.5},
        {"map", "{weight: {a: 1}}", 2.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = conf_with(rows[i].input);
        double found = maar_arguments_float(arguments_of(conf), "weight");
        if (fabs(found - rows[i].want) > DBL_EPSILON)
            fail_msg("%s: %g", rows[i].name, found);
        maar_conf_destroy(conf);
    }
}

static void booleans_are_yaml_booleans_or_strings_of_go(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input;
        bool want;
    } rows[] = {
        {"false", "{flag: false}", false},
        {"no", "{flag: no}", false},
        {"off", "{flag: Off}", false},
        {"yes", "{flag: yes}", true},
        {"quoted false", "{flag: \"false\"}", false},
        {"quoted 0", "{flag: \"0\"}", false},
        {"f", "{flag: f}", false},
        {"F", "{flag: F}", false},
        {"T", "{flag: T}", true},
        {"integer keeps the default", "{flag: 0}", true},
        {"quoted no is no boolean", "{flag: \"no\"}", true},
        {"missing", "{}", true},
        {"null", "{flag: ~}", true},
        {"list", "{flag: [false]}", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = conf_with(rows[i].input);
        if (maar_arguments_bool(arguments_of(conf), "flag") != rows[i].want)
            fail_msg("%s", rows[i].name);
        assert_false(maar_arguments_bool(arguments_of(conf), "off"));
        maar_conf_destroy(conf);
    }
}

static void strings_are_yaml_strings_only(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want;
    } rows[] = {
        {"plain", "{text: def}", "def"},
        {"quoted number", "{text: \"5\"}", "5"},
        {"empty", "{text: \"\"}", ""},
        {"number", "{text: 5}", "abc"},
        {"bool", "{text: yes}", "abc"},
        {"missing", "{}", "abc"},
        {"date", "{text: 2020-01-02}", "2020-01-02"},
        {"tagged", "{text: !!str 5}", "5"},
        {"own tag", "{text: !colour 5}", "5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = conf_with(rows[i].input);
        const char *found = maar_arguments_string(arguments_of(conf), "text");
        if (strcmp(found, rows[i].want) != 0)
            fail_msg("%s: %s", rows[i].name, found);
        maar_conf_destroy(conf);
    }
}

static void rows_that_end_in_a_star_cover_their_prefix(void **state)
{
    (void)state;
    struct maar_conf *conf = conf_with("{resources.a.b/c: 4}");
    const struct maar_arguments *arguments = arguments_of(conf);
    assert_int_equal(maar_arguments_int(arguments, "resources.a.b/c"), 4);
    assert_int_equal(maar_arguments_int(arguments, "resources.other"), 1);
    assert_int_equal(maar_arguments_int(arguments, "resources.exact"), 9);
    assert_ptr_equal(maar_argument_row(table, "resources.x"), &table[6]);
    assert_ptr_equal(maar_argument_row(table, "resources.exact"), &table[7]);
    assert_null(maar_argument_row(table, "resources."));
    assert_null(maar_argument_row(table, "resources"));
    assert_null(maar_argument_row(table, "resourcesx"));
    assert_null(maar_argument_row(NULL, "x"));
    maar_conf_destroy(conf);
}

static void keys_without_a_row_give_nothing(void **state)
{
    (void)state;
    struct maar_conf *conf = conf_with("{strange: 4, word: x, yes: true}");
    struct maar_arguments arguments = *arguments_of(conf);
    assert_int_equal(maar_arguments_int(&arguments, "strange"), 0);
    assert_false(maar_arguments_bool(&arguments, "yes"));
    assert_string_equal(maar_arguments_string(&arguments, "word"), "");
    arguments.table = NULL; /* without a table every key may be asked for */
    assert_int_equal(maar_arguments_int(&arguments, "strange"), 4);
    assert_string_equal(maar_arguments_string(&arguments, "word"), "x");
    assert_int_equal(maar_arguments_int(&arguments, "missing"), 0);
    assert_true(maar_arguments_float(&arguments, "missing") == 0);
    maar_conf_destroy(conf);
}

static void trees_keep_their_shape_and_position(void **state)
{
    (void)state;
    struct maar_conf *conf = conf_with("\n      tree:\n        a: [x, {y: 2}]\n        b:\n");
    const struct maar_argument_node *tree = maar_arguments_find(arguments_of(conf), "tree");
    assert_non_null(tree);
    assert_int_equal(tree->line, 6);
    assert_int_equal(tree->column, 7);
    assert_int_equal(tree->n_children, 2);
    const struct maar_argument_node *a = maar_argument_node_find(tree, "a");
    assert_int_equal(a->kind, MAAR_ARGUMENT_NODE_LIST);
    assert_string_equal(a->children[0].text, "x");
    assert_string_equal(a->children[0].key, "");
    assert_int_equal(maar_argument_node_find(&a->children[1], "y")->number, 2);
    assert_int_equal(maar_argument_node_find(tree, "b")->scalar, MAAR_SCALAR_NULL);
    assert_null(maar_argument_node_find(a, "x"));
    maar_conf_destroy(conf);
}

static void the_check_says_what_is_wrong_and_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want; /* NULL: no problem */
    } rows[] = {
        {"all right", "{count: 5, weight: 1, flag: t, text: def, tree: [1]}", NULL},
        {"no arguments", "", NULL},
        {"tree of any kind", "{tree: 5}", NULL},
        {"prefix row", "{resources.gpu: 5}", NULL},
        {"range in words", "{text: xyz}", NULL},
        {"range end", "{count: 100}", NULL},
        {"open range", "{weight: -1e9}", NULL},
        {"unknown", "{colour: red}", "colour: unknown argument, ignored"},
        {"misspelt", "{cuont: 5}", "cuont: unknown argument, ignored; did you mean count?"},
        {"quoted integer", "{count: \"5\"}",
         "count: expected an integer, found the string \"5\"; the default counts, 7; remove the "
         "quotes"},
        {"float for integer", "{count: 5.5}",
         "count: expected an integer, found the number 5.5; the default counts, 7"},
        {"list", "{count: [1]}", "count: expected an integer, found a list; the default counts, 7"},
        {"null", "{weight: }", "weight: expected a number, found nothing; the default counts, 2.5"},
        {"nan", "{weight: .nan}",
         "weight: expected a number, found the number .nan; the default counts, 2.5"},
        {"no default", "{off: maybe}",
         "off: expected true or false, found the string \"maybe\"; it is ignored"},
        {"quoted yes", "{flag: \"yes\"}",
         "flag: expected true or false, found the string \"yes\"; the default counts, true; remove "
         "the quotes"},
        {"number for string", "{text: 5}",
         "text: expected a string, found the integer 5; the default counts, abc; put it in quotes"},
        {"too large", "{count: 101}",
         "count: expected an integer within 0..100, found the integer "
         "101"},
        {"too small", "{count: -1}",
         "count: expected an integer within 0..100, found the integer -1"},
        {"open range exceeded", "{weight: 10.5}",
         "weight: expected a number within ..10, found the number 10.5"},
        {"prefix row's range", "{resources.gpu: 0}",
         "resources.gpu: expected an integer within 1.., found the integer 0"},
        {"control characters", "{\"a\\nb\": 1}", "a?b: unknown argument, ignored"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = conf_with(rows[i].input);
        struct maar_argument_problem problem = {0};
        size_t n = maar_arguments_check(arguments_of(conf), table, &problem, 1);
        if (n != (rows[i].want ? 1u : 0u))
            fail_msg("%s: %zu problems, %s", rows[i].name, n, problem.text);
        if (rows[i].want && strcmp(problem.text, rows[i].want) != 0)
            fail_msg("%s:\n  %s\n  %s", rows[i].name, problem.text, rows[i].want);
        if (rows[i].want)
            assert_int_equal(problem.line, 5);
        maar_conf_destroy(conf);
    }
}

static void the_check_counts_beyond_what_it_writes(void **state)
{
    (void)state;
    struct maar_conf *conf = conf_with("{a1: 1, count: x, b1: 2}");
    struct maar_argument_problem problems[2];
    assert_int_equal(maar_arguments_check(arguments_of(conf), table, problems, 2), 3);
    assert_int_equal(problems[0].column, 17);
    assert_int_equal(problems[1].column, 24);
    assert_int_equal(maar_arguments_check(arguments_of(conf), table, NULL, 0), 3);
    assert_int_equal(maar_arguments_check(arguments_of(conf), NULL, problems, 2), 3);
    assert_string_equal(problems[0].text, "a1: there are no arguments here; remove it");
    maar_conf_destroy(conf);
}

static void ranges_are_two_numbers_or_one(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        bool want;
        double min, max;
    } rows[] = {
        {"0..100", true, 0, 100},    {"-1.5..1e3", true, -1.5, 1000},
        {"1..", true, 1, HUGE_VAL},  {"..5", true, -HUGE_VAL, 5},
        {"..", false, 0, 0},         {"a..b", false, 0, 0},
        {"above zero", false, 0, 0}, {"", false, 0, 0},
        {NULL, false, 0, 0},         {"0...5", true, 0, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double min = 0;
        double max = 0;
        assert_int_equal(maar_argument_range_parse(rows[i].input, &min, &max), rows[i].want);
        assert_true(min == rows[i].min && max == rows[i].max);
    }
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    /* 39 letters, then a character of two bytes that the limit of 40 would split. */
    char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa4"
                  "b";
    char key[] = "";
    struct maar_argument_node node = {.kind = MAAR_ARGUMENT_NODE_SCALAR, .key = key, .text = text};
    char buffer[128];
    assert_string_equal(maar_argument_node_describe(&node, buffer, sizeof buffer),
                        "the string \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_yaml_integers_only),
        cmocka_unit_test(floats_take_integers_but_no_strings),
        cmocka_unit_test(booleans_are_yaml_booleans_or_strings_of_go),
        cmocka_unit_test(strings_are_yaml_strings_only),
        cmocka_unit_test(rows_that_end_in_a_star_cover_their_prefix),
        cmocka_unit_test(keys_without_a_row_give_nothing),
        cmocka_unit_test(trees_keep_their_shape_and_position),
        cmocka_unit_test(the_check_says_what_is_wrong_and_what_to_do),
        cmocka_unit_test(the_check_counts_beyond_what_it_writes),
        cmocka_unit_test(ranges_are_two_numbers_or_one),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
