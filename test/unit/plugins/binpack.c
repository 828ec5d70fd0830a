/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin binpack: the score formula and its arguments. */

#include "fake_view.h"

static const char *const weights[] = {"binpack.weight",
                                      "2",
                                      "binpack.resources",
                                      " nvidia.com/gpu ,, ",
                                      "binpack.resources.nvidia.com/gpu",
                                      "5",
                                      NULL};

/* The score of a task on a node that uses so much already. */
static double score(const char *const *pairs, const int64_t node[3], const int64_t used[3],
                    const int64_t ask[3], int64_t storage)
{
    struct fake *f = fake_new("binpack", pairs);
    fake_node(f, "n0", 1, 1, 1, 0);
    uint32_t slot = fake_node(f, "n1", node[0], node[1], 110, node[2]);
    fake_task(f, NULL, fake_class(f, used[0], used[1], used[2], 0), MAAR_TASK_RUNNING, slot);
    struct maar_task *task = fake_task(f, NULL, fake_class(f, ask[0], ask[1], ask[2], storage),
                                       MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_open(f);
    assert_int_equal(f->plugin->hooks.n_scores, 1);
    const struct maar_score *row = &f->plugin->hooks.scores[0];
    assert_int_equal(row->phase, MAAR_SCORE_NODE);
    double out = 1000;
    if (row->active(f->self))
        row->score(f->self, &f->view, task, &slot, 1, &out);
    fake_free(f);
    return out - 1000;
}

static void binpack_scores_the_weighted_fill(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t node[3], used[3], ask[3], storage;
        double want;
    } rows[] = {
        {"E-bp-1", {8000, 32 * GI, 8}, {2000, 8 * GI, 3}, {2000, 8 * GI, 1}, 0, 100},
        {"E-bp-2", {8000, 32 * GI, 8}, {0, 0, 0}, {2000, 8 * GI, 1}, 0, 32.142857},
        {"E-bp-3", {8000, 32 * GI, 0}, {2000, 8 * GI, 0}, {2000, 8 * GI, 1}, 0, 28.571429},
        {"E-bp-4", {8000, 32 * GI, 8}, {7000, 8 * GI, 0}, {2000, 8 * GI, 0}, 0, 0},
        {"E-bp-5 storage is not listed",
         {8000, 32 * GI, 8},
         {0, 0, 0},
         {2000, 8 * GI, 1},
         GI,
         32.142857},
        {"E-bp-5 no requests", {8000, 32 * GI, 8}, {2000, 8 * GI, 3}, {0, 0, 0}, 0, 0},
        {"full to the brim", {8000, 32 * GI, 8}, {6000, 24 * GI, 7}, {2000, 8 * GI, 1}, 0, 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = score(weights, rows[i].node, rows[i].used, rows[i].ask, rows[i].storage);
        if (!(got > rows[i].want - 1e-6 && got < rows[i].want + 1e-6))
            fail_msg("%s: %.9g", rows[i].name, got);
    }
}

/* In the order of Volcano's additions: (used + ask) × weight / capacity, summed, / weights, × (100 × weight). */
static void binpack_rounds_as_volcano(void **state)
{
    (void)state;
    static const int64_t node[3] = {7000, 11 * GI, 3}, used[3] = {1000, 3 * GI, 1};
    static const int64_t ask[3] = {300, GI, 1};
    double cpu = 1300.0 * 1.0 / 7000.0;
    double memory = (double)(4 * GI) * 1.0 / (double)(11 * GI);
    double gpu = 2000.0 * 5.0 / 3000.0;
    double want = (cpu + memory + gpu) / 7.0 * 200.0;
    double got = score(weights, node, used, ask, 0);
    /* score() adds 1000 and takes it off again. */
    assert_true(got == (1000 + want) - 1000);
}

static void binpack_arguments(void **state)
{
    (void)state;
    static const int64_t node[3] = {8000, 32 * GI, 8}, used[3] = {2000, 16 * GI, 0};
    static const int64_t ask[3] = {2000, 8 * GI, 4};
    static const struct {
        const char *name;
        const char *const pairs[9];
        double want;
    } rows[] = {
        {"defaults: cpu and memory alike", {NULL}, 62.5},
        {"weight 0 turns it off", {"binpack.weight", "0", NULL}, 0},
        {"a negative weight stays", {"binpack.weight", "-1", NULL}, -62.5},
        {"cpu 0", {"binpack.cpu", "0", NULL}, 75},
        {"a negative cpu is 1", {"binpack.cpu", "-4", NULL}, 62.5},
        {"memory 3", {"binpack.memory", "3", NULL}, 68.75},
        {"a listed resource weighs 1", {"binpack.resources", "nvidia.com/gpu", NULL}, 175.0 / 3},
        {"cpu in the list has no effect",
         {"binpack.resources", "cpu", "binpack.resources.cpu", "9", NULL},
         62.5},
        {"an unknown resource has none either", {"binpack.resources", "example.com/x", NULL}, 62.5},
        {"pods when listed",
         {"binpack.resources", "pods", "binpack.memory", "0", "binpack.cpu", "0", NULL},
         100.0 * 2 / 110},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = score(rows[i].pairs, node, used, ask, 0);
        if (!(got > rows[i].want - 1e-6 && got < rows[i].want + 1e-6))
            fail_msg("%s: %.9g", rows[i].name, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binpack_scores_the_weighted_fill),
        cmocka_unit_test(binpack_rounds_as_volcano),
        cmocka_unit_test(binpack_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
