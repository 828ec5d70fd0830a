/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin nodeorder: kube-scheduler's score formulas. */

#include <stdlib.h>

#include "fake_view.h"

static struct fake *f;

/* The arguments of an instance in which one score has a weight. */
static void begin_with(const char *key, const char *weight)
{
    static const char *const keys[] = {"leastrequested.weight",   "mostrequested.weight",
                                       "balancedresource.weight", "nodeaffinity.weight",
                                       "tainttoleration.weight",  "podaffinity.weight",
                                       "podtopologyspread.weight"};
    const char *pairs[15] = {NULL};
    for (size_t i = 0; i < 7; i++) {
        pairs[2 * i] = keys[i];
        pairs[2 * i + 1] = strcmp(keys[i], key) == 0 ? weight : "0";
    }
    f = fake_new("nodeorder", pairs);
}

static const struct maar_score *score_row(const char *name)
{
    for (size_t i = 0; i < f->plugin->hooks.n_scores; i++)
        if (strcmp(f->plugin->hooks.scores[i].name, name) == 0)
            return &f->plugin->hooks.scores[i];
    fail_msg("no score %s", name);
    abort(); /* fail_msg does not return, which the compiler cannot know */
}

/* Sums all active scores over the nodes, as the host does. */
static void scores_of(const struct maar_task *task, uint32_t n, double *out)
{
    uint32_t nodes[FAKE_MAX];
    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = i;
        out[i] = 0;
    }
    for (size_t s = 0; s < f->plugin->hooks.n_scores; s++) {
        const struct maar_score *row = &f->plugin->hooks.scores[s];
        assert_int_equal(row->phase, MAAR_SCORE_BATCH);
        if (!row->active(f->self) || (row->skip && (row->skip)(f->self, &f->view, task)))
            continue;
        if (row->score) {
            row->score(f->self, &f->view, task, nodes, n, out);
            continue;
        }
        int64_t raw[FAKE_MAX], min = INT64_MAX, max = INT64_MIN;
        row->raw(f->self, &f->view, task, nodes, n, raw);
        for (uint32_t i = 0; i < n; i++) {
            min = raw[i] < min ? raw[i] : min;
            max = raw[i] > max ? raw[i] : max;
        }
        for (uint32_t i = 0; i < n; i++)
            out[i] += row->normalise(f->self, &f->view, task, raw[i], min, max);
    }
}

static struct maar_task *pending(const struct maar_class *cls)
{
    return fake_task(f, NULL, cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
}

/* E-no-1, E-no-2, E-no-3 */
static void nodeorder_least_and_most_requested(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *key, *weight;
        int64_t cpu, memory; /* of the node */
        int64_t used_cpu, used_memory;
        int64_t ask_cpu, ask_memory;
        double want;
    } rows[] = {
        {"E-no-1 A", "leastrequested.weight", "1", 4000, 8 * GI, 1000, 2 * GI, 1000, 2 * GI, 50},
        {"E-no-1 B", "leastrequested.weight", "1", 8000, 16 * GI, 1000, 2 * GI, 1000, 2 * GI, 75},
        {"weight", "leastrequested.weight", "3", 8000, 16 * GI, 1000, 2 * GI, 1000, 2 * GI, 225},
        {"negative weight", "leastrequested.weight", "-1", 8000, 16 * GI, 1000, 2 * GI, 1000,
         2 * GI, -75},
        {"E-no-2", "leastrequested.weight", "1", 4000, 8 * GI, 0, 0, 0, 0, 97},
        {"E-no-3 A", "mostrequested.weight", "1", 4000, 8 * GI, 1000, 2 * GI, 1000, 2 * GI, 50},
        {"E-no-3 B", "mostrequested.weight", "1", 8000, 16 * GI, 1000, 2 * GI, 1000, 2 * GI, 25},
        {"least: too much of cpu", "leastrequested.weight", "1", 1000, 8 * GI, 500, GI, 1000, GI,
         37},
        {"most: too much of cpu", "mostrequested.weight", "1", 1000, 8 * GI, 500, GI, 1000, GI, 62},
        {"no memory on the node", "leastrequested.weight", "1", 4000, 0, 1000, GI, 1000, GI, 50},
        {"nothing on the node", "leastrequested.weight", "1", 0, 0, 1000, GI, 1000, GI, 0},
        {"off", "leastrequested.weight", "0", 4000, 8 * GI, 1000, 2 * GI, 1000, 2 * GI, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_with(rows[i].key, rows[i].weight);
        fake_node(f, "n1", rows[i].cpu, rows[i].memory, 110, 0);
        if (rows[i].used_cpu)
            fake_task(f, NULL, fake_class(f, rows[i].used_cpu, rows[i].used_memory, 0, 0),
                      MAAR_TASK_RUNNING, 0);
        struct maar_task *task = pending(fake_class(f, rows[i].ask_cpu, rows[i].ask_memory, 0, 0));
        fake_open(f);
        double got;
        scores_of(task, 1, &got);
        if (got != rows[i].want)
            fail_msg("%s: %g", rows[i].name, got);
        fake_free(f);
    }
}

/* E-no-4, E-no-5 */
static void nodeorder_balanced_use(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t node[3], used[3], ask[3];
        double want;
    } rows[] = {
        {"E-no-4", {10000, 10 * GI, 0}, {2000, 4 * GI, 0}, {2000, GI, 0}, 77},
        {"square and empty", {2000, 2 * GI, 0}, {0, 0, 0}, {1000, GI, 0}, 75},
        {"oblong and empty", {4000, 2 * GI, 0}, {0, 0, 0}, {1000, GI, 0}, 68},
        {"E-no-5", {4000, 4 * GI, 4}, {1000, GI, 0}, {1000, GI, 1}, 75},
        {"gpus made even", {4000, 4 * GI, 4}, {1000, GI, 0}, {1000, GI, 2}, 81},
        {"a gpu that is not asked for is left out",
         {4000, 4 * GI, 4},
         {1000, GI, 4},
         {1000, GI, 0},
         75},
        {"a node without gpu", {4000, 4 * GI, 0}, {1000, GI, 0}, {1000, GI, 1}, 75},
        {"more than there is counts as all",
         {4000, 4 * GI, 0},
         {4000, 4 * GI, 0},
         {4000, GI, 0},
         75},
        {"no requests: says nothing", {4000, 4 * GI, 0}, {1000, 0, 0}, {0, 0, 0}, 0},
        {"one resource only", {4000, 0, 0}, {1000, 0, 0}, {1000, GI, 0}, 75},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_with("balancedresource.weight", "1");
        fake_node(f, "n1", rows[i].node[0], rows[i].node[1], 110, rows[i].node[2]);
        if (rows[i].used[0])
            fake_task(f, NULL, fake_class(f, rows[i].used[0], rows[i].used[1], rows[i].used[2], 0),
                      MAAR_TASK_RUNNING, 0);
        struct maar_task *task =
            pending(fake_class(f, rows[i].ask[0], rows[i].ask[1], rows[i].ask[2], 0));
        fake_open(f);
        double got;
        scores_of(task, 1, &got);
        if (got != rows[i].want)
            fail_msg("%s: %g", rows[i].name, got);
        fake_free(f);
    }
}

/* E-no-6 */
static void nodeorder_avoids_taints_that_prefer_so(void **state)
{
    (void)state;
    begin_with("tainttoleration.weight", "3");
    for (uint32_t n = 0; n < 3; n++) {
        fake_node(f, "n", 4000, GI, 110, 0);
        for (uint32_t t = 0; t < n; t++)
            fake_taint(f, n, t ? "b" : "a", "", MAAR_EFFECT_PREFER_NO_SCHEDULE);
        /* Taints of other effects do not count. */
        fake_taint(f, n, "c", "", MAAR_EFFECT_NO_SCHEDULE);
    }
    struct maar_class *cls = fake_class(f, 1000, GI, 0, 0);
    struct maar_task *task = pending(cls);
    fake_open(f);
    double got[3];
    scores_of(task, 3, got);
    assert_true(got[0] == 300 && got[1] == 150 && got[2] == 0);
    /* A toleration of this effect, or of any, takes a taint out; one of another effect does not. */
    struct maar_toleration toleration = {fake_intern(f, "b"), "", MAAR_TOLERATION_EXISTS,
                                         MAAR_EFFECT_NO_SCHEDULE};
    fake_spec(cls)->tolerations = &toleration;
    fake_spec(cls)->n_tolerations = 1;
    scores_of(task, 3, got);
    assert_true(got[0] == 300 && got[1] == 150 && got[2] == 0);
    toleration.effect = MAAR_EFFECT_ANY;
    scores_of(task, 3, got);
    assert_true(got[0] == 300 && got[1] == 0 && got[2] == 0);
    toleration.key = "";
    scores_of(task, 3, got);
    assert_true(got[0] == 300 && got[1] == 300 && got[2] == 300);
    fake_free(f);
}

/* E-no-7 */
static void nodeorder_prefers_by_node_affinity(void **state)
{
    (void)state;
    begin_with("nodeaffinity.weight", "2");
    for (uint32_t n = 0; n < 3; n++)
        fake_node(f, "n", 4000, GI, 110, 0);
    fake_label(f, 0, "a", "");
    fake_label(f, 1, "a", "");
    fake_label(f, 1, "b", "");
    struct maar_class *cls = fake_class(f, 1000, GI, 0, 0);
    struct maar_requirement has_a = {.key = fake_intern(f, "a"), .op = MAAR_OP_EXISTS};
    struct maar_requirement has_b = {.key = fake_intern(f, "b"), .op = MAAR_OP_EXISTS};
    struct maar_preferred_term terms[] = {{30, {1, &has_a}}, {30, {1, &has_b}}, {50, {0, NULL}}};
    struct maar_task *task = pending(cls);
    fake_open(f);
    double got[3];
    scores_of(task, 3, got);
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
    assert_true((score_row("NodeAffinity")->skip)(f->self, &f->view, task));
    fake_spec(cls)->preferred = terms;
    fake_spec(cls)->n_preferred = 3;
    scores_of(task, 3, got);
    assert_true(got[0] == 100 && got[1] == 200 && got[2] == 0);
    /* Nobody matches: the raw zeros stay. */
    terms[0].term.n_requirements = terms[1].term.n_requirements = 0;
    scores_of(task, 3, got);
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
    fake_free(f);
}

/* E-no-10 */
static void nodeorder_weights_of_zero_say_nothing(void **state)
{
    (void)state;
    begin_with("", "");
    for (size_t i = 0; i < f->plugin->hooks.n_scores; i++)
        assert_false(f->plugin->hooks.scores[i].active(f->self));
    fake_free(f);
}

static void nodeorder_default_weights(void **state)
{
    (void)state;
    f = fake_new("nodeorder", NULL);
    static const struct {
        const char *name;
        bool active;
    } rows[] = {{"NodeResourcesFit_LeastAllocated", true},
                {"NodeResourcesFit_MostAllocated", false},
                {"NodeResourcesBalancedAllocation", true},
                {"NodeAffinity", true},
                {"TaintToleration", true},
                {"InterPodAffinity", true},
                {"PodTopologySpread", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(score_row(rows[i].name)->active(f->self), rows[i].active);
    assert_true(score_row("NodeAffinity")->normalise(f->self, &f->view, NULL, 5, 0, 10) == 100);
    assert_true(score_row("TaintToleration")->normalise(f->self, &f->view, NULL, 0, 0, 0) == 300);
    fake_free(f);
}

/* Room that a Pipelined task waits for is used; room of a pod that this session evicts is free. */
static void nodeorder_sees_what_the_session_does(void **state)
{
    (void)state;
    f = fake_new("nodeorder", (const char *const[]){"nodeaffinity.weight", "0",
                                                    "tainttoleration.weight", "0", NULL});
    fake_node(f, "n1", 4000, 4 * GI, 110, 0);
    fake_node(f, "n2", 4000, 4 * GI, 110, 0);
    struct maar_class *cls = fake_class(f, 2000, GI, 0, 0);
    struct maar_task *running = fake_task(f, NULL, cls, MAAR_TASK_RUNNING, 0);
    struct maar_task *other = pending(cls), *task = pending(cls);
    fake_open(f);
    double before[2], got[2];
    scores_of(task, 2, before);
    assert_true(before[0] < before[1]);
    fake_move(f, running, MAAR_TASK_RELEASING, 0);
    scores_of(task, 2, got);
    assert_true(got[0] == before[1] && got[1] == before[1]);
    fake_move(f, other, MAAR_TASK_PIPELINED, 0);
    scores_of(task, 2, got);
    assert_true(got[0] == before[0]);
    fake_move(f, other, MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_move(f, running, MAAR_TASK_RUNNING, 0);
    scores_of(task, 2, got);
    assert_true(got[0] == before[0] && got[1] == before[1]);
    fake_free(f);
}

/* A pod that was leaving when the session opened still counts. */
static void nodeorder_pods_that_were_leaving_count(void **state)
{
    (void)state;
    begin_with("leastrequested.weight", "1");
    fake_node(f, "n1", 4000, 8 * GI, 110, 0);
    struct maar_class *cls = fake_class(f, 1000, 2 * GI, 0, 0);
    fake_task(f, NULL, cls, MAAR_TASK_RELEASING, 0);
    struct maar_task *task = pending(cls);
    fake_open(f);
    double got;
    scores_of(task, 1, &got);
    assert_true(got == 50);
    fake_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodeorder_least_and_most_requested),
        cmocka_unit_test(nodeorder_balanced_use),
        cmocka_unit_test(nodeorder_avoids_taints_that_prefer_so),
        cmocka_unit_test(nodeorder_prefers_by_node_affinity),
        cmocka_unit_test(nodeorder_weights_of_zero_say_nothing),
        cmocka_unit_test(nodeorder_default_weights),
        cmocka_unit_test(nodeorder_sees_what_the_session_does),
        cmocka_unit_test(nodeorder_pods_that_were_leaving_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
