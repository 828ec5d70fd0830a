/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* amounts.h: Volcano's truth rules for comparing vectors, row by row. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <maar/amounts.h>

enum {
    CPU = 0,
    MEM = 1,
    PODS = 2,
    GPU = 3,
    X = 4,
};

/* "cpu memory [pods=N] [gpu=N] [x=N] [{}]"; {} makes an empty set of scalars. */
static struct maar_amounts amounts(const char *text)
{
    struct maar_amounts a = maar_amounts_none();
    char copy[128], *save, *word;
    snprintf(copy, sizeof copy, "%s", text);
    uint32_t at = 0;
    for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, "{}") == 0)
            a.has_scalars = true;
        else if (strncmp(word, "pods=", 5) == 0)
            maar_amounts_set(&a, PODS, strtod(word + 5, NULL));
        else if (strncmp(word, "gpu=", 4) == 0)
            maar_amounts_set(&a, GPU, strtod(word + 4, NULL));
        else if (strncmp(word, "x=", 2) == 0)
            maar_amounts_set(&a, X, strtod(word + 2, NULL));
        else
            maar_amounts_set(&a, at++, strtod(word, NULL));
    }
    assert_int_equal(at, 2);
    return a;
}

static void assert_amounts(const char *name, const struct maar_amounts *got, const char *want_text)
{
    struct maar_amounts want = amounts(want_text);
    if (!maar_amounts_identical(got, &want) || got->has_scalars != want.has_scalars)
        fail_msg("%s: cpu %g memory %g pods %g gpu %g x %g present %llx scalars %d, want %s", name,
                 got->v[CPU], got->v[MEM], got->v[PODS], got->v[GPU], got->v[X],
                 (unsigned long long)got->present, got->has_scalars, want_text);
    /* The invariants. */
    assert_int_equal(got->present & 3, 0);
    assert_true(got->has_scalars || got->present == 0);
    for (uint32_t d = 2; d < MAAR_MAX_DIMS; d++)
        assert_true(((got->present >> d) & 1) || got->v[d] == 0);
}

/* less, less_equal, less_partly, less_equal_partly, each with zero and infinity; equal. */
static void amounts_comparisons(void **state)
{
    (void)state;
    static const struct {
        const char *l, *r;
        int less_0, less_inf, le_0, le_inf, partly_0, partly_inf, le_partly_0, le_partly_inf, equal;
    } rows[] = {
        /* l             r               <0 <∞ ≤0 ≤∞ p0 p∞ q0 q∞ = */
        {"0 0", "0 0", 0, 0, 1, 1, 0, 0, 1, 1, 1},
        {"0 0 {}", "0 0", 0, 0, 1, 1, 0, 0, 1, 1, 1},
        {"1 1", "2 2", 1, 1, 1, 1, 1, 1, 1, 1, 0},
        {"1 3", "2 2", 0, 0, 0, 0, 1, 1, 1, 1, 0},
        {"3 3", "2 2", 0, 0, 0, 0, 0, 0, 0, 0, 0},
        /* The tolerance is for at most and equal only, and it is open. */
        {"2.05 2", "2 2", 0, 0, 1, 1, 0, 0, 1, 1, 1},
        {"2.25 2", "2 2", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {"1.95 1.95", "2 2", 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {"0.1 0", "0 0", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        /* A scalar of r alone: zero does not look at it, infinity refuses; partly it counts as less. */
        {"1 1", "2 2 gpu=5", 1, 0, 1, 0, 1, 1, 1, 1, 0},
        {"3 3", "2 2 gpu=0", 0, 0, 0, 0, 1, 0, 1, 0, 0},
        {"2 2", "2 2 gpu=5", 0, 0, 1, 0, 1, 0, 1, 1, 1},
        /* A scalar of l alone: zero compares it with 0, infinity skips it. */
        {"1 1 gpu=5", "2 2", 0, 1, 0, 1, 1, 1, 1, 1, 0},
        {"1 1 gpu=0", "2 2", 0, 1, 1, 1, 1, 1, 1, 1, 0},
        {"3 3 gpu=5", "2 2", 0, 0, 0, 0, 0, 1, 0, 1, 0},
        {"2 2 gpu=0.05", "2 2", 0, 0, 1, 1, 0, 1, 1, 1, 1},
        {"3 3 gpu=-1", "2 2", 0, 0, 0, 0, 1, 1, 1, 1, 0},
        /* Both have it. */
        {"1 1 gpu=1", "2 2 gpu=2", 1, 1, 1, 1, 1, 1, 1, 1, 0},
        {"3 3 gpu=1", "2 2 gpu=2", 0, 0, 0, 0, 1, 1, 1, 1, 0},
        {"1 1 gpu=2", "2 2 gpu=2", 0, 0, 1, 1, 1, 1, 1, 1, 0},
        {"1 1 gpu=2 x=1", "2 2 gpu=3", 0, 1, 0, 1, 1, 1, 1, 1, 0},
        {"1 1 gpu=2", "2 2 gpu=3 x=1", 1, 0, 1, 0, 1, 1, 1, 1, 0},
        /* Pods are a scalar like any other here. */
        {"1 1 pods=5", "2 2 pods=4", 0, 0, 0, 0, 1, 1, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r);
        const struct {
            const char *name;
            bool got;
            int want;
        } answers[] = {
            {"less zero", maar_amounts_less(&l, &r, MAAR_MISSING_ZERO), rows[i].less_0},
            {"less infinity", maar_amounts_less(&l, &r, MAAR_MISSING_INFINITY), rows[i].less_inf},
            {"less equal zero", maar_amounts_less_equal(&l, &r, MAAR_MISSING_ZERO), rows[i].le_0},
            {"less equal infinity", maar_amounts_less_equal(&l, &r, MAAR_MISSING_INFINITY),
             rows[i].le_inf},
            {"less partly zero", maar_amounts_less_partly(&l, &r, MAAR_MISSING_ZERO),
             rows[i].partly_0},
            {"less partly infinity", maar_amounts_less_partly(&l, &r, MAAR_MISSING_INFINITY),
             rows[i].partly_inf},
            {"less equal partly zero", maar_amounts_less_equal_partly(&l, &r, MAAR_MISSING_ZERO),
             rows[i].le_partly_0},
            {"less equal partly infinity",
             maar_amounts_less_equal_partly(&l, &r, MAAR_MISSING_INFINITY), rows[i].le_partly_inf},
            {"equal", maar_amounts_equal(&l, &r), rows[i].equal},
        };
        for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
            if (answers[k].got != answers[k].want)
                fail_msg("%s: {%s} and {%s}: %d", answers[k].name, rows[i].l, rows[i].r,
                         answers[k].got);
    }
}

#define BIT(dim) (UINT64_C(1) << (dim))

static void amounts_less_equal_with_names(void **state)
{
    (void)state;
    static const struct {
        const char *l, *r;
        uint64_t zero, infinity;
    } rows[] = {
        {"1 1", "1 1", 0, 0},
        {"2 2 gpu=2", "1 1", BIT(CPU) | BIT(MEM) | BIT(GPU), BIT(CPU) | BIT(MEM)},
        {"1.05 1 gpu=2", "1 1 gpu=1", BIT(GPU), BIT(GPU)},
        /* Unlike less_equal, infinity does not mind a scalar of r alone. */
        {"1 1", "1 1 gpu=1", 0, 0},
        {"1 1 pods=3", "1 1 pods=2", BIT(PODS), BIT(PODS)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r);
        uint64_t failing = 99;
        assert_int_equal(maar_amounts_less_equal_with_names(&l, &r, MAAR_MISSING_ZERO, &failing),
                         rows[i].zero == 0);
        assert_int_equal(failing, rows[i].zero);
        assert_int_equal(
            maar_amounts_less_equal_with_names(&l, &r, MAAR_MISSING_INFINITY, &failing),
            rows[i].infinity == 0);
        assert_int_equal(failing, rows[i].infinity);
    }
}

/* NULL texts stand for NULL vectors. */
static void amounts_with_dimension(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *l, *r, *request;
        bool ok;
        uint64_t failing;                             /* of less_equal_with_dimension */
        uint64_t partly, filtered, greater, relevant; /* dimensions found by the partly ones */
    } rows[] = {
        {"within", "1 1 gpu=1", "2 2 gpu=2", "1 1 gpu=1", true, 0, BIT(CPU) | BIT(MEM) | BIT(GPU),
         BIT(CPU) | BIT(MEM) | BIT(GPU), 0, 0},
        {"over in what is not asked", "3 1 gpu=3", "2 2 gpu=2", "0 1", true, 0, BIT(MEM), BIT(MEM),
         0, 0},
        {"over everywhere", "3 3 gpu=3", "2 2 gpu=2", "1 1 gpu=1", false,
         BIT(CPU) | BIT(MEM) | BIT(GPU), 0, 0, BIT(CPU) | BIT(MEM) | BIT(GPU),
         BIT(CPU) | BIT(MEM) | BIT(GPU)},
        {"no tolerance when strict", "2.05 1", "2 2", "1 1", false, BIT(CPU), BIT(CPU) | BIT(MEM),
         BIT(CPU) | BIT(MEM), BIT(CPU), BIT(CPU)},
        {"pods are never asked", "1 1 pods=9", "2 2 pods=1", "0 0 pods=1", true, 0, 0, 0, 0, 0},
        {"missing in r is 0", "1 1 gpu=1", "2 2", "1 1 gpu=1", false, BIT(GPU), BIT(CPU) | BIT(MEM),
         BIT(CPU) | BIT(MEM), BIT(GPU), 0},
        {"missing in l is 0", "1 1 {}", "2 2 gpu=-1", "0 0 gpu=1", false, BIT(GPU), 0, 0, BIT(GPU),
         BIT(GPU)},
        {"no scalars in l: they pass", "1 1", "2 2 gpu=-1", "0 0 gpu=1", true, 0, 0, 0, BIT(GPU),
         BIT(GPU)},
        {"a request of 0 is none", "9 9 gpu=9", "1 1", "0 0 gpu=0", true, 0, 0, 0, 0, 0},
        {"nothing on both sides", "0 1 gpu=0.05", "0 2", "1 1 gpu=1", false, BIT(GPU),
         BIT(CPU) | BIT(MEM) | BIT(GPU), BIT(MEM), BIT(GPU), 0},
        {"r without cpu says nothing of cpu", "1 3", "0 2", "1 1", false, BIT(CPU) | BIT(MEM), 0, 0,
         BIT(CPU) | BIT(MEM), BIT(MEM)},
        {"a zero that is there speaks", "0 0 gpu=1", "0 0 gpu=0", "0 0 gpu=1", false, BIT(GPU), 0,
         0, BIT(GPU), BIT(GPU)},
        {"no request: all, with tolerance", "2.05 3", "2 2", NULL, false, BIT(MEM), 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r), q, *request = NULL;
        if (rows[i].request) {
            q = amounts(rows[i].request);
            request = &q;
        }
        uint64_t failing = 99;
        if (maar_amounts_less_equal_with_dimension(&l, &r, request, &failing) != rows[i].ok ||
            failing != rows[i].failing)
            fail_msg("%s: less_equal %llx", rows[i].name, (unsigned long long)failing);
        if (maar_amounts_less_equal_partly_with_dimension(&l, &r, request) != rows[i].partly)
            fail_msg("%s: partly", rows[i].name);
        if (maar_amounts_less_equal_partly_with_dimension_zero_filtered(&l, &r, request) !=
            rows[i].filtered)
            fail_msg("%s: filtered", rows[i].name);
        if (maar_amounts_greater_partly_with_dimension(&l, &r, request) != rows[i].greater)
            fail_msg("%s: greater", rows[i].name);
        if (maar_amounts_greater_partly_with_relevant_dimensions(&l, &r, request) !=
            rows[i].relevant)
            fail_msg("%s: relevant", rows[i].name);
    }
}

static void amounts_with_dimension_without_vectors(void **state)
{
    (void)state;
    struct maar_amounts a = amounts("1 0 gpu=2 x=0.05"), ask = amounts("1 1");
    uint64_t failing = 99;
    assert_true(maar_amounts_less_equal_with_dimension(NULL, &a, &ask, &failing));
    assert_int_equal(failing, 0);
    assert_true(maar_amounts_less_equal_with_dimension(NULL, NULL, &ask, NULL));
    assert_false(maar_amounts_less_equal_with_dimension(&a, NULL, &ask, &failing));
    assert_int_equal(failing, BIT(CPU) | BIT(GPU));
    struct maar_amounts none = maar_amounts_none();
    assert_false(maar_amounts_less_equal_with_dimension(&none, NULL, &ask, &failing));
    assert_int_equal(failing, 0);
    assert_int_equal(maar_amounts_greater_partly_with_dimension(&a, NULL, &ask), BIT(CPU));
    assert_int_equal(maar_amounts_greater_partly_with_dimension(&a, &a, NULL), 0);
    assert_int_equal(maar_amounts_greater_partly_with_relevant_dimensions(&a, NULL, &ask), 0);
}

static void amounts_add_sub_multi(void **state)
{
    (void)state;
    static const struct {
        const char *l, *r, *sum, *difference, *half;
    } rows[] = {
        {"3 4", "1 2", "4 6", "2 2", "1.5 2"},
        {"3 4 gpu=2", "1 2 gpu=3", "4 6 gpu=5", "2 2 gpu=-1", "1.5 2 gpu=1"},
        /* Without a set of scalars nothing is taken off, with one they become negative. */
        {"3 4", "1 2 gpu=3", "4 6 gpu=3", "2 2", "1.5 2"},
        {"3 4 {}", "1 2 gpu=3", "4 6 gpu=3", "2 2 gpu=-3", "1.5 2 {}"},
        {"3 4 gpu=2", "1 2", "4 6 gpu=2", "2 2 gpu=2", "1.5 2 gpu=1"},
        {"3 4", "1 2 {}", "4 6", "2 2", "1.5 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r), a = l;
        maar_amounts_add(&a, &r);
        assert_amounts("add", &a, rows[i].sum);
        a = l;
        maar_amounts_sub(&a, &r);
        assert_amounts("sub", &a, rows[i].difference);
        a = l;
        maar_amounts_multi(&a, 0.5);
        assert_amounts("multi", &a, rows[i].half);
    }
}

static void amounts_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *l, *r, *set_max, *min_0, *min_inf, *max;
    } rows[] = {
        {"1 5", "3 2", "3 5", "1 2", "1 2", "3 5"},
        {"1 5 gpu=4", "3 2 gpu=2", "3 5 gpu=4", "1 2 gpu=2", "1 2 gpu=2", "3 5 gpu=4"},
        {"1 5 gpu=4", "3 2", "3 5 gpu=4", "1 2 gpu=0", "1 2 gpu=4", "3 5 gpu=4"},
        {"1 5", "3 2 gpu=2", "3 5 gpu=2", "1 2", "1 2", "3 5 gpu=2"},
        /* A maximum drops negative scalars; taking the greater copies what is not there. */
        {"1 5 gpu=-4", "3 2 x=-2", "3 5 gpu=-4 x=-2", "1 2 gpu=0", "1 2 gpu=-4", "3 5 {}"},
        {"1 5 gpu=-4", "3 2 gpu=0", "3 5 gpu=0", "1 2 gpu=-4", "1 2 gpu=-4", "3 5 gpu=0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r), a = l;
        maar_amounts_set_max(&a, &r);
        assert_amounts("set_max", &a, rows[i].set_max);
        a = l;
        maar_amounts_min_dimension(&a, &r, MAAR_MISSING_ZERO);
        assert_amounts("min zero", &a, rows[i].min_0);
        a = l;
        maar_amounts_min_dimension(&a, &r, MAAR_MISSING_INFINITY);
        assert_amounts("min infinity", &a, rows[i].min_inf);
        a = maar_amounts_max(&l, &r);
        assert_amounts("max", &a, rows[i].max);
    }
}

static void amounts_differences(void **state)
{
    (void)state;
    static const struct {
        const char *l, *r, *more_0, *less_0, *more_inf, *less_inf;
    } rows[] = {
        {"3 2", "1 5", "2 0 {}", "0 3 {}", "2 0 {}", "0 3 {}"},
        {"3 2 gpu=4", "1 5 gpu=1", "2 0 gpu=3", "0 3 {}", "2 0 gpu=3", "0 3 {}"},
        {"3 2 gpu=1", "1 5 gpu=1", "2 0 {}", "0 3 gpu=0", "2 0 {}", "0 3 gpu=0"},
        {"3 2 gpu=1", "1 5", "2 0 gpu=1", "0 3 {}", "2 0 {}", "0 3 gpu=-1"},
        {"3 2", "1 5 gpu=1", "2 0 {}", "0 3 gpu=1", "2 0 gpu=-1", "0 3 {}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts l = amounts(rows[i].l), r = amounts(rows[i].r), more, less;
        maar_amounts_diff(&l, &r, MAAR_MISSING_ZERO, &more, &less);
        assert_amounts("more", &more, rows[i].more_0);
        assert_amounts("less", &less, rows[i].less_0);
        maar_amounts_diff(&l, &r, MAAR_MISSING_INFINITY, &more, &less);
        assert_amounts("more, infinity", &more, rows[i].more_inf);
        assert_amounts("less, infinity", &less, rows[i].less_inf);
        more = maar_amounts_exceeded_part(&l, &r);
        assert_amounts("exceeded", &more, rows[i].more_0);
        more = maar_amounts_exceeded_part(NULL, &r);
        assert_amounts("exceeded without l", &more, "0 0");
        more = maar_amounts_exceeded_part(&l, NULL);
        assert_amounts("exceeded without r", &more, rows[i].l);
    }
}

static void amounts_names_and_emptiness(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t names;
        bool empty;
    } rows[] = {
        {"0 0", 0, true},
        {"0.09 0.09 gpu=0.09", 0, true},
        {"0.1 0", BIT(CPU), false},
        {"0 1 gpu=-5", BIT(MEM), false},
        {"0 0 pods=3", BIT(PODS), true},
        {"0 0 gpu=1 pods=1", BIT(PODS) | BIT(GPU), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_amounts a = amounts(rows[i].text);
        assert_int_equal(maar_amounts_names(&a), rows[i].names);
        assert_int_equal(maar_amounts_is_empty(&a), rows[i].empty);
    }
}

static void amounts_shares(void **state)
{
    (void)state;
    assert_true(maar_share(0, 0) == 0);
    assert_true(maar_share(1, 0) == 1);
    assert_true(maar_share(-1, 0) == 1);
    assert_true(maar_share(0, 5) == 0);
    assert_true(maar_share(3, 2) == 1.5);
}

static void amounts_from_ledger_and_spec(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu", "memory", "pods", "nvidia.com/gpu", "x"};
    static const double scales[] = {1, 1, 1, 1000, 1000};
    struct maar_dims dims = {5, names, scales};
    int64_t row[] = {1500, 1 << 20, 3, 2, 7};
    struct maar_amounts a = maar_amounts_from_row(row, BIT(PODS) | BIT(GPU), &dims);
    assert_amounts("row", &a, "1500 1048576 pods=3 gpu=2000");
    a = maar_amounts_from_row(row, 0, &dims);
    assert_amounts("row without scalars", &a, "1500 1048576");
    struct maar_resource r = {.present = BIT(CPU) | BIT(GPU), .n = 4, .v = row};
    row[MEM] = 0;
    a = maar_amounts_from_resource(&r, &dims);
    assert_amounts("resource", &a, "1500 0 gpu=2000");
    struct maar_resource empty = {0};
    a = maar_amounts_from_resource(&empty, &dims);
    assert_amounts("empty resource", &a, "0 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_comparisons),
        cmocka_unit_test(amounts_less_equal_with_names),
        cmocka_unit_test(amounts_with_dimension),
        cmocka_unit_test(amounts_with_dimension_without_vectors),
        cmocka_unit_test(amounts_add_sub_multi),
        cmocka_unit_test(amounts_bounds),
        cmocka_unit_test(amounts_differences),
        cmocka_unit_test(amounts_names_and_emptiness),
        cmocka_unit_test(amounts_shares),
        cmocka_unit_test(amounts_from_ledger_and_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
