/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Kubernetes matching: node affinity, taints, numbers in labels, texts of refusals. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kubernetes/job_table.h"
#include "kubernetes/node_affinity.h"
#include "kubernetes/refusal.h"
#include "kubernetes/text.h"
#include "kubernetes/tolerations.h"

static const char *pool[256];

static const char *interned(const char *text)
{
    for (size_t i = 0; i < 256; i++) {
        if (!pool[i])
            pool[i] = strdup(text);
        if (strcmp(pool[i], text) == 0)
            return pool[i];
    }
    fail();
    return NULL;
}

static int drop_pool(void **state)
{
    (void)state;
    for (size_t i = 0; i < 256; i++)
        free((void *)(uintptr_t)pool[i]);
    return 0;
}

/* "key=value,key=value" */
static struct maar_node_facts node_with(const char *labels_text, struct maar_label *labels)
{
    struct maar_node_facts node = {.name = interned("n1"), .labels = labels, .ready = true};
    char text[256];
    snprintf(text, sizeof text, "%s", labels_text);
    for (char *save, *at = strtok_r(text, ",", &save); at; at = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        labels[node.n_labels++] = (struct maar_label){interned(at), interned(equals + 1)};
    }
    return node;
}

/* One requirement against one node, all operators. */
static void affinity_operators(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *key;
        enum maar_operator op;
        const char *values[3];
        const char *labels;
        bool want;
    } rows[] = {
        {"In hits", "zone", MAAR_OP_IN, {"z1", "z2"}, "zone=z2", true},
        {"In misses", "zone", MAAR_OP_IN, {"z1", "z2"}, "zone=z3", false},
        {"In without label", "zone", MAAR_OP_IN, {"z1"}, "", false},
        {"In without values", "zone", MAAR_OP_IN, {NULL}, "zone=z1", false},
        {"In the empty value", "zone", MAAR_OP_IN, {""}, "zone=", true},
        {"NotIn misses", "zone", MAAR_OP_NOT_IN, {"z1"}, "zone=z2", true},
        {"NotIn hits", "zone", MAAR_OP_NOT_IN, {"z1"}, "zone=z1", false},
        {"NotIn without label", "zone", MAAR_OP_NOT_IN, {"z1"}, "disk=z1", true},
        {"NotIn without values", "zone", MAAR_OP_NOT_IN, {NULL}, "", false},
        {"Exists", "zone", MAAR_OP_EXISTS, {NULL}, "zone=", true},
        {"Exists not", "zone", MAAR_OP_EXISTS, {NULL}, "disk=", false},
        {"DoesNotExist", "zone", MAAR_OP_DOES_NOT_EXIST, {NULL}, "disk=", true},
        {"DoesNotExist, but does", "zone", MAAR_OP_DOES_NOT_EXIST, {NULL}, "zone=", false},
        {"Gt above", "gen", MAAR_OP_GT, {"3"}, "gen=4", true},
        {"Gt equal", "gen", MAAR_OP_GT, {"3"}, "gen=3", false},
        {"Gt text", "gen", MAAR_OP_GT, {"3"}, "gen=abc", false},
        {"Gt absent", "gen", MAAR_OP_GT, {"3"}, "", false},
        {"Gt empty", "gen", MAAR_OP_GT, {"3"}, "gen=", false},
        {"Lt below", "gen", MAAR_OP_LT, {"3"}, "gen=-4", true},
        {"Lt equal", "gen", MAAR_OP_LT, {"3"}, "gen=3", false},
        {"invalid", "gen", MAAR_OP_INVALID, {"3"}, "gen=3", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *values[3];
        struct maar_requirement requirement = {
            .key = interned(rows[i].key), .op = rows[i].op, .values = values};
        for (size_t v = 0; v < 3 && rows[i].values[v]; v++)
            values[requirement.n_values++] = interned(rows[i].values[v]);
        if (rows[i].op == MAAR_OP_GT || rows[i].op == MAAR_OP_LT)
            requirement.number = strtoll(rows[i].values[0], NULL, 10);
        struct maar_label labels[8];
        struct maar_node_facts node = node_with(rows[i].labels, labels);
        struct maar_selector_term term = {1, &requirement};
        if (maar_term_matches(&term, &node) != rows[i].want)
            fail_msg("%s", rows[i].name);
    }
}

static void affinity_fields(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *key;
        enum maar_operator op;
        uint32_t n_values;
        const char *value;
        bool want;
    } rows[] = {
        {"the node's name", "metadata.name", MAAR_OP_IN, 1, "n1", true},
        {"another name", "metadata.name", MAAR_OP_IN, 1, "n2", false},
        {"not another name", "metadata.name", MAAR_OP_NOT_IN, 1, "n2", true},
        {"not the node's name", "metadata.name", MAAR_OP_NOT_IN, 1, "n1", false},
        {"another field is empty", "spec.x", MAAR_OP_IN, 1, "n1", false},
        {"and so not a value", "spec.x", MAAR_OP_NOT_IN, 1, "n1", true},
        {"and so empty", "spec.x", MAAR_OP_IN, 1, "", true},
        {"two values", "metadata.name", MAAR_OP_IN, 2, "n1", false},
        {"no value", "metadata.name", MAAR_OP_NOT_IN, 0, "n1", false},
        {"Exists", "metadata.name", MAAR_OP_EXISTS, 0, "n1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *values[] = {interned(rows[i].value), interned("n9")};
        struct maar_requirement requirement = {.key = rows[i].key,
                                               .op = rows[i].op,
                                               .is_field = true,
                                               .n_values = rows[i].n_values,
                                               .values = values};
        struct maar_label labels[1];
        struct maar_node_facts node = node_with("", labels);
        struct maar_selector_term term = {1, &requirement};
        if (maar_term_matches(&term, &node) != rows[i].want)
            fail_msg("%s", rows[i].name);
    }
}

/* E-na-1, and E-na-2's "with a second matching term the pod still fits" */
static void affinity_terms_are_alternatives(void **state)
{
    (void)state;
    const char *z1[] = {interned("z1")}, *hdd[] = {interned("hdd")};
    struct maar_requirement both[] = {
        {.key = interned("zone"), .op = MAAR_OP_IN, .n_values = 1, .values = z1},
        {.key = interned("disk"), .op = MAAR_OP_NOT_IN, .n_values = 1, .values = hdd},
    };
    struct maar_requirement invalid = {.key = interned("gen"), .op = MAAR_OP_INVALID};
    struct maar_selector_term terms[] = {{2, both}, {0, NULL}, {1, &invalid}};
    struct maar_pod_spec spec = {.has_required_affinity = true, .n_required = 3, .required = terms};
    static const struct {
        const char *labels;
        bool want;
    } rows[] = {{"zone=z1", true},
                {"zone=z1,disk=ssd", true},
                {"zone=z1,disk=hdd", false},
                {"zone=z2", false},
                {"gen=3", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_label labels[8];
        struct maar_node_facts node = node_with(rows[i].labels, labels);
        if (maar_pod_matches_node(&spec, &node) != rows[i].want)
            fail_msg("%s", rows[i].labels);
    }
    /* The node selector must match as well. */
    struct maar_label selector[] = {{interned("zone"), interned("z1")},
                                    {interned("disk"), interned("ssd")}};
    spec.node_selector = selector;
    spec.n_node_selector = 2;
    struct maar_label labels[8];
    struct maar_node_facts node = node_with("zone=z1", labels);
    assert_false(maar_pod_matches_node(&spec, &node));
    node = node_with("disk=ssd,zone=z1", labels);
    assert_true(maar_pod_matches_node(&spec, &node));
    spec.n_required = 0;
    assert_false(maar_pod_matches_node(&spec, &node));
    spec.has_required_affinity = false;
    assert_true(maar_pod_matches_node(&spec, &node));
}

static void affinity_names_conflict_only_without_any_way_out(void **state)
{
    (void)state;
    const char *one[] = {interned("n1"), interned("n2")}, *two[] = {interned("n2")};
    const char *three[] = {interned("n3")};
    struct maar_requirement in[] = {
        {.key = "metadata.name", .op = MAAR_OP_IN, .is_field = true, .n_values = 2, .values = one},
        {.key = "metadata.name", .op = MAAR_OP_IN, .is_field = true, .n_values = 1, .values = two},
        {.key = "metadata.name",
         .op = MAAR_OP_IN,
         .is_field = true,
         .n_values = 1,
         .values = three},
    };
    struct maar_requirement label = {.key = interned("zone"), .op = MAAR_OP_EXISTS};
    struct maar_selector_term common = {2, in}, none = {3, in}, free_term = {1, &label};
    struct maar_pod_spec spec = {.has_required_affinity = true, .n_required = 1};
    spec.required = &common;
    assert_false(maar_node_names_conflict(&spec));
    spec.required = &none;
    assert_true(maar_node_names_conflict(&spec));
    spec.required = &free_term;
    assert_false(maar_node_names_conflict(&spec));
    struct maar_selector_term two_terms[] = {none, free_term};
    spec.required = two_terms;
    spec.n_required = 2;
    assert_false(maar_node_names_conflict(&spec));
    spec.n_required = 0;
    assert_false(maar_node_names_conflict(&spec));
}

/* E-tt-1, E-tt-2 (the gate is off) */
static void toleration_of_a_taint(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *key;
        enum maar_toleration_operator op;
        const char *value;
        enum maar_taint_effect effect;
        bool want;
    } rows[] = {
        {"exists", "gpu", MAAR_TOLERATION_EXISTS, "", MAAR_EFFECT_ANY, true},
        {"equal", "gpu", MAAR_TOLERATION_EQUAL, "5", MAAR_EFFECT_NO_SCHEDULE, true},
        {"another value", "gpu", MAAR_TOLERATION_EQUAL, "no", MAAR_EFFECT_ANY, false},
        {"every key", "", MAAR_TOLERATION_EXISTS, "", MAAR_EFFECT_ANY, true},
        {"every key with this value", "", MAAR_TOLERATION_EQUAL, "5", MAAR_EFFECT_ANY, true},
        {"another key", "cpu", MAAR_TOLERATION_EXISTS, "", MAAR_EFFECT_ANY, false},
        {"another effect", "gpu", MAAR_TOLERATION_EXISTS, "", MAAR_EFFECT_NO_EXECUTE, false},
        {"gt is off", "gpu", MAAR_TOLERATION_GT, "3", MAAR_EFFECT_ANY, false},
        {"lt is off", "gpu", MAAR_TOLERATION_LT, "9", MAAR_EFFECT_ANY, false},
        {"invalid", "gpu", MAAR_TOLERATION_INVALID, "5", MAAR_EFFECT_ANY, false},
    };
    struct maar_taint taint = {interned("gpu"), interned("5"), MAAR_EFFECT_NO_SCHEDULE};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_toleration toleration = {interned(rows[i].key), interned(rows[i].value),
                                             rows[i].op, rows[i].effect};
        if (maar_tolerates(&toleration, &taint) != rows[i].want)
            fail_msg("%s", rows[i].name);
    }
}

static void toleration_of_empty_values_from_anywhere(void **state)
{
    (void)state;
    char empty[] = "";
    struct maar_taint taint = {interned("gpu"), empty, MAAR_EFFECT_NO_SCHEDULE};
    struct maar_toleration toleration = {interned("gpu"), "", MAAR_TOLERATION_EQUAL,
                                         MAAR_EFFECT_ANY};
    assert_true(maar_tolerates(&toleration, &taint));
}

static void label_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {
        {"0", true, 0},
        {"007", true, 7},
        {"+5", true, 5},
        {"-5", true, -5},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+", false, 0},
        {"--5", false, 0},
        {" 5", false, 0},
        {"5 ", false, 0},
        {"1_000", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
        {"1.0", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t got = 42;
        if (maar_text_to_int64(rows[i].text, &got) != rows[i].ok)
            fail_msg("'%s'", rows[i].text);
        assert_int_equal(got, rows[i].ok ? rows[i].want : 42);
    }
}

static void refusal_texts(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu", "memory", "pods", "nvidia.com/gpu"};
    static const double scales[] = {1, 1, 1, 1000};
    struct maar_dims dims = {4, names, scales};
    char text[64];
    maar_refusal_text(text, sizeof text, "no", "lacks", 0, &dims);
    assert_string_equal(text, "no");
    maar_refusal_text(text, sizeof text, "no", "lacks", 8, &dims);
    assert_string_equal(text, "no: lacks nvidia.com/gpu");
    maar_refusal_text(text, sizeof text, "no", "lacks", 11, &dims);
    assert_string_equal(text, "no: lacks cpu, lacks memory, lacks nvidia.com/gpu");
    /* Too long is cut, not overrun. */
    for (size_t n = 1; n < sizeof text; n++) {
        char cut[65];
        memset(cut, 'x', sizeof cut);
        maar_refusal_text(cut, n, "no", "lacks", 11, &dims);
        assert_int_equal(cut[n], 'x');
        assert_memory_equal(cut, text, strlen(cut));
    }
}

static void table_numbers_jobs_by_first_appearance(void **state)
{
    (void)state;
    enum {
        N = 1000,
    };
    static char keys[N];
    struct maar_job_table table;
    int is_new;
    maar_job_table_init(&table, N);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(maar_job_table_index(&table, &keys[i * 7 % N], &is_new), i);
            assert_int_equal(is_new, round == 0);
        }
    maar_job_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affinity_operators),
        cmocka_unit_test(affinity_fields),
        cmocka_unit_test(affinity_terms_are_alternatives),
        cmocka_unit_test(affinity_names_conflict_only_without_any_way_out),
        cmocka_unit_test(toleration_of_a_taint),
        cmocka_unit_test(toleration_of_empty_values_from_anywhere),
        cmocka_unit_test(label_numbers),
        cmocka_unit_test(refusal_texts),
        cmocka_unit_test(table_numbers_jobs_by_first_appearance),
    };
    return cmocka_run_group_tests(tests, NULL, drop_pool);
}
