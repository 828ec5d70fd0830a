/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* YAML to JSON values and back. What scalars mean was taken from sigs.k8s.io/yaml v1.6.0, on this table and on 3,000
 * random texts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "wire/wire.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* All documents as "LINE:JSON" in one text. */
static int add_document(void *context, json_t *document, int line, struct maar_error *err)
{
    struct maar_text *out = context;
    char *text = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    (void)err;
    maar_text_addf(out, "%s%d:%s", out->n ? " " : "", line, text);
    free(text);
    return 0;
}

/* The documents, or the error's text. */
static char *read_yaml(const char *text, size_t n)
{
    struct maar_text out = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_yaml_each(text, n, "f", add_document, &out, &err) < 0) {
        maar_text_clear(&out);
        maar_text_add(&out, err.text);
    }
    return maar_text_steal(&out);
}

static void expect(const char *text, const char *want)
{
    maar_autofree char *got = read_yaml(text, strlen(text));
    if (strcmp(got, want) != 0)
        fail_msg("%s\n  gives %s\n  want  %s", text, got, want);
}

static const struct {
    const char *scalars; /* separated by spaces */
    const char *want;
} scalar_rows[] = {
    {"yes Yes YES on On ON y Y true True TRUE", "true"},
    {"no No NO off Off OFF n N false False FALSE", "false"},
    {"yEs oN trUE", NULL},
    {"~ null Null NULL", "null"},
    {"nULL nil", NULL},
    {"0 00 000 -0 0x0 0b0", "0"},
    {"31 0x1F 0X1f 0o37 037 0b11111 +31 3_1 31. 31.0 3.1e1 31_", "31"},
    {"-16 -0x10 -020 -0b10000 -1.6e1", "-16"},
    {"8 08 010 0o10", "8"},
    {"0.5 .5 +.5 5e-1 00.5 5E-1", "0.5"},
    {"9223372036854775807 0x7fffffffffffffff", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775808", "9.22337203685478e18"},
    {"1e21", "1e21"},
    {"1e-400", "0"},
    {"_1 0x 0o8 0b2 1e 1e+ .e3 . + -- -. 1.5.2 12:30 1:2:3 2026-01-01 2026-01-01T00:00:00Z 1e400 "
     "100m 2Gi 1k = << 0x1p3",
     NULL},
};

static void scalars_mean_what_kubectl_takes_them_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scalar_rows); i++) {
        char *rest;
        maar_autofree char *scalars = maar_strdup(scalar_rows[i].scalars);
        for (char *word = strtok_r(scalars, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
            maar_autofree char *text = maar_asprintf("v: %s", word);
            maar_autofree char *want = scalar_rows[i].want
                                           ? maar_asprintf("1:{\"v\":%s}", scalar_rows[i].want)
                                           : maar_asprintf("1:{\"v\":\"%s\"}", word);
            expect(text, want);
        }
    }
}

static const struct {
    const char *text;
    const char *want;
} rows[] = {
    {"", ""},
    {"# only a comment\n", ""},
    {"---\n---\n", ""},
    {"a: 1\n---\n# nothing\n---\n\n\nb: 2\n---\n- 3\n", "1:{\"a\":1} 7:{\"b\":2} 9:[3]"},
    {"a: 'yes'\nb: \"1\"\nc: |\n  1\nd: >-\n  x\n  y\n",
     "1:{\"a\":\"yes\",\"b\":\"1\",\"c\":\"1\\n\",\"d\":\"x y\"}"},
    {"a:\nb: ''\n", "1:{\"a\":null,\"b\":\"\"}"},
    {"on: 1\n2: 3\n1.5: x\n", "1:{\"true\":1,\"2\":3,\"1.5\":\"x\"}"},
    {"a: !!str 12\nb: !!int \"12\"\nc: !!float 3\nd: !!bool 'yes'\ne: !x 5\nf: ! 5\n",
     "1:{\"a\":\"12\",\"b\":12,\"c\":3,\"d\":true,\"e\":\"5\",\"f\":\"5\"}"},
    /* Anchors, aliases, merge keys. */
    {"a: &x {k: 1}\nb: *x\nc: [*x, *x]\n",
     "1:{\"a\":{\"k\":1},\"b\":{\"k\":1},\"c\":[{\"k\":1},{\"k\":1}]}"},
    {"a: &x 1\nb: &x 2\nc: *x\n", "1:{\"a\":1,\"b\":2,\"c\":2}"},
    {"a: &x {k: 1, l: 2}\nb: {<<: *x, k: 9}\nc: {k: 9, <<: *x}\n",
     "1:{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":9,\"l\":2},\"c\":{\"k\":9,\"l\":2}}"},
    {"a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}\n",
     "1:{\"a\":{\"k\":1},\"b\":{\"k\":2,\"m\":3},\"c\":{\"k\":1,\"m\":3}}"},
    {"{'<<': 1}", "1:{\"<<\":1}"},
    /* JSON. */
    {"{\"a\": [1, 2.5, \"\\ud83d\\ude00\", null]}", "1:{\"a\":[1,2.5,\"\xf0\x9f\x98\x80\",null]}"},
    {"\n{\"a\":1}\n\n{\"b\":2} [3]", "2:{\"a\":1} 4:{\"b\":2} 4:[3]"},
    {"{a: 1, \"b\":2}", "1:{\"a\":1,\"b\":2}"},
    /* Errors say where. */
    {"a: 1\nb: 2\n a: 3\n", "f:3:3: mapping values are not allowed in this context"},
    {"x: {a: 1}\ny:\n  k: 1\n  l: 2\n  k: 3\n", "f:5:3: key \"k\" is there twice"},
    {"{\"a\":1,\"a\":2}", "f:1:8: key \"a\" is there twice"},
    {"true: 1\nyes: 2\n", "f:2:1: key \"true\" is there twice"},
    {"a: *nope\n", "f:1:4: no anchor of that name stands before"},
    {"a: &x [*x]\n", "f:1:8: no anchor of that name stands before"},
    {"a: &x 1\n---\nb: *x\n", "f:3:4: no anchor of that name stands before"},
    {"a: {<<: 5}\n", "f:1:5: \"<<\" takes a map or a list of maps"},
    {"? [a]\n: 1\n", "f:1:3: a key must be a text"},
    {"~: 1\n", "f:1:1: null cannot be a key"},
    {"a: .nan\n", "f:1:4: \".nan\" has no form in JSON"},
    {"a: !!int x\n", "f:1:4: \"x\" is no !!int"},
    {"a: \"x\\0y\"\n", "f:1:4: NUL in a text"},
    {"a: [1, 2\n", "f:2:1: did not find expected ',' or ']', while parsing a flow sequence"},
    {"a:\n\t- 1\n",
     "f:2:1: found character that cannot start any token, while scanning for the next token"},
};

static void documents_of_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        expect(rows[i].text, rows[i].want);
}

static void add_times(struct maar_text *text, const char *what, int n)
{
    for (int i = 0; i < n; i++)
        maar_text_add(text, what);
}

static void expect_end(const char *text, size_t n, const char *end)
{
    maar_autofree char *got = read_yaml(text, n);
    size_t n_got = strlen(got);
    if (n_got < strlen(end) || strcmp(got + n_got - strlen(end), end) != 0)
        fail_msg("got %.200s, want …%s", got, end);
}

static void nesting_and_aliases_have_limits(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    add_times(&text, "[", 128);
    add_times(&text, "]", 128);
    expect_end(maar_text_get(&text), text.n, "]");
    maar_text_clear(&text);
    add_times(&text, "[", 129);
    add_times(&text, "]", 129);
    expect_end(maar_text_get(&text), text.n, "nesting is too deep");
    maar_text_clear(&text);
    add_times(&text, "[", 200000);
    expect_end(maar_text_get(&text), text.n, "nesting is too deep");
    /* Ten to the ninth: a0 is ten texts, each further one ten of the one before. */
    maar_text_clear(&text);
    maar_text_add(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
        maar_text_addf(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            maar_text_addf(&text, "*a%d,", i - 1);
        maar_text_add(&text, "]\n");
    }
    expect_end(maar_text_get(&text), text.n, "aliases stand for too much");
    /* Nesting by aliases alone. */
    maar_text_clear(&text);
    maar_text_add(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 140; i++)
        maar_text_addf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    expect_end(maar_text_get(&text), text.n, "nesting is too deep");
    maar_text_fini(&text);
}

static int refuse(void *context, json_t *document, int line, struct maar_error *err)
{
    (void)context;
    (void)document;
    return maar_error_set(err, -7, "line %d", line);
}

static void what_the_caller_returns_ends_the_reading(void **state)
{
    (void)state;
    static const char *const texts[] = {"a: 1\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        assert_int_equal(maar_wire_yaml_each(texts[i], strlen(texts[i]), "f", refuse, NULL, &err),
                         -7);
        assert_string_equal(err.text, "line 1");
    }
}

static const struct {
    size_t index;
    const char *path;
    int line;
    int column;
} places[] = {
    {0, "", 2, 1},
    {0, "kind", 2, 1},
    {0, "spec", 3, 1},
    {0, "spec.nodes[0].cpu", 5, 15},
    {0, "spec.nodes[1]", 6, 5},
    {0, "spec.nodes[1].labels[a.b/c]", 8, 7},
    {0, "spec.nodes[1].labels[\"a.b/c\"]", 8, 7},
    {0, "spec.nodes[1].labels.true", 9, 7}, /* what the key stands for */
    {0, "spec.nodes[1].nope.deeper", 6, 5},
    {0, "spec.nodes[7].cpu", 4, 3},
    {0, "kind.x", 2, 1},
    {1, "b", 14, 1},
};

static const char placed_text[] = "# comment\n"
                                  "kind: Scenario\n"
                                  "spec:\n"
                                  "  nodes:\n"
                                  "  - {name: a, cpu: 8}\n"
                                  "  - name: b\n"
                                  "    labels:\n"
                                  "      a.b/c: x\n"
                                  "      on: y\n"
                                  "    cpu: 4\n"
                                  "---\n"
                                  "---\n"
                                  "a: {}\n"
                                  "b: 1\n";

static void a_path_is_found_again(void **state)
{
    (void)state;
    int line = 0;
    int column = 0;
    for (size_t i = 0; i < COUNT(places); i++) {
        assert_int_equal(maar_wire_yaml_locate(placed_text, strlen(placed_text), places[i].index,
                                               places[i].path, &line, &column),
                         0);
        if (line != places[i].line || column != places[i].column)
            fail_msg("%s: %d:%d", places[i].path, line, column);
    }
    assert_int_equal(maar_wire_yaml_locate(placed_text, strlen(placed_text), 2, "", &line, &column),
                     -2);
}

static void many_paths_are_found_in_one_reading(void **state)
{
    (void)state;
    struct maar_yaml_place all[COUNT(places) + 2];
    for (size_t i = 0; i < COUNT(places); i++)
        all[i] = (struct maar_yaml_place){.document = places[i].index, .path = places[i].path};
    all[COUNT(places)] = (struct maar_yaml_place){.document = 2, .path = "a"};
    all[COUNT(places) + 1] = all[3];
    maar_wire_yaml_locate_all(placed_text, strlen(placed_text), all, COUNT(all));
    for (size_t i = 0; i < COUNT(places); i++)
        if (all[i].line != places[i].line || all[i].column != places[i].column)
            fail_msg("%s: %d:%d", places[i].path, all[i].line, all[i].column);
    assert_int_equal(all[COUNT(places)].line, 0);
    assert_int_equal(all[COUNT(places) + 1].line, all[3].line);
    maar_wire_yaml_locate_all(placed_text, strlen(placed_text), NULL, 0);
}

static void the_dump_is_block_style_with_quotes_where_needed(void **state)
{
    (void)state;
    struct maar_text out = MAAR_TEXT_INIT;
    json_auto_t *value = json_pack(
        "{s:s, s:[i, f, b, n], s:{s:s, s:s, s:s, s:s, s:s}, s:[], s:{}, s:s, s:s}", "name", "a b",
        "list", 1, 2.5, 1, "map", "yes", "yes", "n", "0x10", "t", "12:30", "d", "2026-01-01", "e",
        "", "none", "empty", "conf", "actions: \"x\"\ntiers: []\n", "<<", " lead");
    maar_wire_yaml_dump(value, &out);
    assert_string_equal(maar_text_get(&out), "name: a b\n"
                                             "list:\n"
                                             "- 1\n"
                                             "- 2.5\n"
                                             "- true\n"
                                             "- null\n"
                                             "map:\n"
                                             "  \"yes\": \"yes\"\n"
                                             "  \"n\": \"0x10\"\n"
                                             "  t: \"12:30\"\n"
                                             "  d: \"2026-01-01\"\n"
                                             "  e: \"\"\n"
                                             "none: []\n"
                                             "empty: {}\n"
                                             "conf: |\n"
                                             "  actions: \"x\"\n"
                                             "  tiers: []\n"
                                             "\"<<\": ' lead'\n");
    maar_text_fini(&out);
}

static int same_as(void *context, json_t *document, int line, struct maar_error *err)
{
    (void)line;
    (void)err;
    return json_equal(context, document) ? 1 : 2;
}

static uint32_t seed = 7;

static unsigned draw(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static json_t *random_text(void)
{
    static const char *const parts[] = {"a", " ",   "\n", ":",  "#",  "'",           "\"", "-",
                                        "0", "yes", "\t", "%",  "{",  "],",          "&",  "*",
                                        "!", "|",   ">",  "\\", "é",  "\x01",        "~",  "\r",
                                        "?", "@",   "`",  "=",  "<<", "\xe2\x80\xa8"};
    char text[64] = "";
    for (unsigned n = draw(6); n > 0; n--)
        strcat(text, parts[draw(30)]);
    return json_string(text);
}

static json_t *random_value(unsigned depth)
{
    json_t *value;
    switch (draw(depth > 3 ? 5 : 7)) {
    case 0:
        return json_integer((json_int_t)draw(100000) - 50000);
    case 1:
        return draw(2) ? json_true() : json_null();
    case 2:
        return json_real((double)draw(1000) + 0.37);
    case 3:
    case 4:
        return random_text();
    case 5:
        value = json_array();
        for (unsigned n = draw(4); n > 0; n--)
            json_array_append_new(value, random_value(depth + 1));
        return value;
    default:
        value = json_object();
        for (unsigned n = draw(4); n > 0; n--) {
            json_auto_t *key = random_text();
            json_object_set_new(value, json_string_value(key), random_value(depth + 1));
        }
        return value;
    }
}

static void what_is_dumped_reads_back_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct maar_text out = MAAR_TEXT_INIT;
        struct maar_error err = MAAR_ERROR_INIT;
        json_auto_t *value = json_array();
        json_array_append_new(value, random_value(0));
        maar_wire_yaml_dump(value, &out);
        if (maar_wire_yaml_each(maar_text_get(&out), out.n, "f", same_as, value, &err) != 1) {
            char *json = json_dumps(value, 0);
            fail_msg("%s\n%s\n%s", json, maar_text_get(&out), err.text);
        }
        maar_text_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_mean_what_kubectl_takes_them_for),
        cmocka_unit_test(documents_of_each_row),
        cmocka_unit_test(nesting_and_aliases_have_limits),
        cmocka_unit_test(what_the_caller_returns_ends_the_reading),
        cmocka_unit_test(a_path_is_found_again),
        cmocka_unit_test(many_paths_are_found_in_one_reading),
        cmocka_unit_test(the_dump_is_block_style_with_quotes_where_needed),
        cmocka_unit_test(what_is_dumped_reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
