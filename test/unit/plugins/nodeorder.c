/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin nodeorder: kube-scheduler's score formulas. */

#include <stdlib.h>

#include "fake_affinity.h"

static struct fake *f;

/* The arguments of an instance in which one score has a weight. */
static void begin_with(const char *key, const char *weight)
{
    static const char *const keys[] = {"leastrequested.weight",    "mostrequested.weight",
                                       "balancedresource.weight",  "nodeaffinity.weight",
                                       "tainttoleration.weight",   "podaffinity.weight",
                                       "podtopologyspread.weight", "imagelocality.weight"};
    const char *pairs[17] = {NULL};
    for (size_t i = 0; i < 8; i++) {
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
        bool is_image = strcmp(row->name, "ImageLocality") == 0;
        assert_int_equal(row->phase, is_image ? MAAR_SCORE_NODE : MAAR_SCORE_BATCH);
        if (!row->active(f->self) || (row->skip && (row->skip)(f->self, &f->view, task)))
            continue;
        if (row->score) {
            row->score(f->self, &f->view, task, nodes, n, out);
            continue;
        }
        int64_t raw[FAKE_MAX] = {0}, min = INT64_MAX, max = INT64_MIN;
        row->raw(f->self, &f->view, task, nodes, n, raw);
        for (uint32_t i = 0; i < n; i++) {
            if (raw[i] == MAAR_RAW_NONE)
                continue;
            min = raw[i] < min ? raw[i] : min;
            max = raw[i] > max ? raw[i] : max;
        }
        for (uint32_t i = 0; i < n; i++)
            if (raw[i] != MAAR_RAW_NONE)
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
                {"PodTopologySpread", true},
                {"ImageLocality", true}};
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

/* ---- affinity between pods and topology spread ----------------------------------------------- */

/* Nodes n0 … in zones z0 … */
static void begin_zones(const char *key, uint32_t n)
{
    begin_with(key, "2");
    for (uint32_t i = 0; i < n; i++) {
        char name[16], zone[16];
        snprintf(name, sizeof name, "n%u", i);
        snprintf(zone, sizeof zone, "z%u", i);
        fake_node(f, name, 64000, 256 * GI, 110, 0);
        fake_label(f, i, "zone", zone);
        fake_label(f, i, "kubernetes.io/hostname", name);
    }
}

static void run_pods(const char *labels, uint32_t node, size_t n)
{
    fake_tasks(f, NULL, fake_labelled(f, labels), MAAR_TASK_RUNNING, node, n);
}

static void assert_scores(const char *name, const struct maar_task *task, uint32_t n,
                          const double *want)
{
    double got[FAKE_MAX];
    scores_of(task, n, got);
    for (uint32_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("%s: %g on n%u, not %g", name, got[i], i, want[i]);
}
#define ASSERT_SCORES(name, task, ...)                                                             \
    assert_scores(name, task, sizeof((double[]){__VA_ARGS__}) / sizeof(double),                    \
                  (double[]){__VA_ARGS__})

/* E-no-8: the pod's own terms and those of the pods that are there, for and against. */
static void nodeorder_affinity_between_pods(void **state)
{
    (void)state;
    begin_zones("podaffinity.weight", 4);
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_open(f);
    assert_true((score_row("InterPodAffinity")->skip)(f->self, &f->view, task));
    fake_term(f, cls, &fake_spec(cls)->pod_affinity_preferred, 30, "zone", "app=db");
    fake_term(f, cls, &fake_spec(cls)->pod_anti_affinity_preferred, 10, "zone", "app=noise");
    ASSERT_SCORES("nobody there", task, 0, 0, 0, 0);
    run_pods("app=noise", 0, 1);
    run_pods("app=db", 2, 1);
    f->facts[3].n_labels = 0; /* no zone: nothing speaks for or against it */
    ASSERT_SCORES("E-no-8", task, 0, 50, 200, 50);
    run_pods("app=noise", 2, 4);
    ASSERT_SCORES("-10, 0, -10, 0", task, 0, 200, 0, 200);
    fake_free(f);

    begin_zones("podaffinity.weight", 3);
    cls = fake_labelled(f, "app=web");
    task = pending(cls);
    struct maar_class *for_it = fake_labelled(f, "app=a"), *against = fake_labelled(f, "app=b");
    fake_term(f, for_it, &fake_spec(for_it)->pod_affinity_preferred, 30, "zone", "app=web");
    fake_term(f, against, &fake_spec(against)->pod_anti_affinity_preferred, 10, "zone", "app=web");
    fake_task(f, NULL, against, MAAR_TASK_RUNNING, 0);
    fake_task(f, NULL, for_it, MAAR_TASK_RELEASING, 2);
    fake_open(f);
    ASSERT_SCORES("opinions of others", task, 0, 50, 200);
    fake_labels(f, cls, "app=other");
    assert_true((score_row("InterPodAffinity")->skip)(f->self, &f->view, task));
    fake_free(f);
}

/* Required affinity of the pods there weighs nothing (hardPodAffinityWeight 0). */
static void nodeorder_required_affinity_of_others_weighs_nothing(void **state)
{
    (void)state;
    begin_zones("podaffinity.weight", 2);
    struct maar_task *task = pending(fake_labelled(f, "app=web"));
    struct maar_class *other = fake_labelled(f, "app=db");
    fake_term(f, other, &fake_spec(other)->pod_affinity_required, 0, "zone", "app=web");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, 1);
    fake_open(f);
    ASSERT_SCORES("required", task, 0, 0);
    fake_free(f);
}

/* Two keys: the weights of both domains of a node. */
static void nodeorder_affinity_over_two_keys(void **state)
{
    (void)state;
    begin_zones("podaffinity.weight", 3);
    fake_label(f, 0, "rack", "r1");
    fake_label(f, 1, "rack", "r1");
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_term(f, cls, &fake_spec(cls)->pod_affinity_preferred, 30, "zone", "app=db");
    fake_term(f, cls, &fake_spec(cls)->pod_affinity_preferred, 10, "rack", "app=db");
    run_pods("app=db", 0, 1);
    fake_open(f);
    ASSERT_SCORES("40, 10, 0", task, 200, 50, 0);
    fake_free(f);
}

/* Volcano lists the nodes whose pods have affinity when the session opens; a pod without preferences of its own looks
 * at no others. */
static void nodeorder_compatible_session_sees_affinity_of_its_start(void **state)
{
    (void)state;
    for (int compatible = 0; compatible < 2; compatible++) {
        begin_zones("podaffinity.weight", 3);
        f->view.compatibility = compatible;
        struct maar_class *cls = fake_labelled(f, "app=web");
        struct maar_task *task = pending(cls);
        struct maar_class *fan = fake_labelled(f, "app=fan");
        fake_term(f, fan, &fake_spec(fan)->pod_affinity_preferred, 10, "zone", "app=web");
        fake_task(f, NULL, fan, MAAR_TASK_RUNNING, 0);
        struct maar_task *late = fake_task(f, NULL, fan, MAAR_TASK_PENDING, MAAR_NO_NODE);
        fake_open(f);
        fake_move(f, late, MAAR_TASK_ALLOCATED, 1);
        if (compatible)
            ASSERT_SCORES("late one unseen", task, 200, 0, 0);
        else
            ASSERT_SCORES("late one counts", task, 200, 200, 0);
        fake_term(f, cls, &fake_spec(cls)->pod_affinity_preferred, 10, "zone", "app=fan");
        ASSERT_SCORES("with preferences it sees all", task, 200, 200, 0);
        fake_free(f);
    }
}

/* E-no-9, E-pts-6: the fewer of its kind, the better; few domains weigh more. */
static void nodeorder_spread_by_zone(void **state)
{
    (void)state;
    begin_zones("podtopologyspread.weight", 3);
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_spread(f, cls, false, 1, "zone", "app=web");
    run_pods("app=web", 0, 2);
    run_pods("app=web", 1, 1);
    fake_open(f);
    ASSERT_SCORES("E-no-9", task, 0, 66, 200);
    fake_free(f);

    begin_zones("podtopologyspread.weight", 3);
    cls = fake_labelled(f, "app=web");
    task = pending(cls);
    struct maar_spread_constraint *spread = fake_spread(f, cls, false, 2, "zone", "app=web");
    run_pods("app=web", 0, 4);
    run_pods("app=web", 1, 1);
    fake_open(f);
    ASSERT_SCORES("E-pts-6", task, 28, 142, 200);
    spread->selector.requirements = NULL;
    spread->selector.n_requirements = 0;
    ASSERT_SCORES("an empty selector counts nothing", task, 200, 200, 200);
    spread->hard = true;
    assert_true((score_row("PodTopologySpread")->skip)(f->self, &f->view, task));
    fake_free(f);
}

/* A candidate without one of the keys has no part: 0, and it makes no domain. */
static void nodeorder_spread_leaves_out_nodes_without_the_key(void **state)
{
    (void)state;
    begin_zones("podtopologyspread.weight", 4);
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_spread(f, cls, false, 1, "zone", "app=web");
    f->facts[3].n_labels = 0;
    run_pods("app=web", 0, 2);
    run_pods("app=web", 1, 1);
    run_pods("app=web", 3, 9);
    fake_open(f);
    ASSERT_SCORES("E-no-9 and one without zone", task, 0, 66, 200, 0);
    /* The second key: n2 lacks it, and its pods count nowhere any more. */
    fake_label(f, 0, "rack", "r0");
    fake_label(f, 1, "rack", "r0");
    fake_spread(f, cls, false, 1, "rack", "app=web");
    run_pods("app=web", 2, 1);
    /* zone: ln 4, 2 and 1; rack: ln 3, 3 each; raw 6.07 and 4.68 -> 6 and 5. */
    ASSERT_SCORES("two keys", task, 2 * 83, 2 * 100, 0, 0);
    fake_free(f);
}

/* By host name the pods of the node itself count, policies or not, and every candidate is a domain. */
static void nodeorder_spread_by_host(void **state)
{
    (void)state;
    begin_zones("podtopologyspread.weight", 3);
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_spread(f, cls, false, 1, "kubernetes.io/hostname", "app=web")->honor_taints = true;
    fake_taint(f, 0, "gpu", "yes", MAAR_EFFECT_NO_SCHEDULE);
    run_pods("app=web", 0, 2);
    run_pods("app=web", 1, 1);
    fake_open(f);
    ASSERT_SCORES("by host", task, 0, 66, 200);
    fake_free(f);

    /* By zone a node with such a taint takes no part. */
    begin_zones("podtopologyspread.weight", 3);
    cls = fake_labelled(f, "app=web");
    task = pending(cls);
    fake_spread(f, cls, false, 1, "zone", "app=web")->honor_taints = true;
    fake_taint(f, 0, "gpu", "yes", MAAR_EFFECT_NO_SCHEDULE);
    run_pods("app=web", 0, 2);
    run_pods("app=web", 1, 1);
    fake_open(f);
    ASSERT_SCORES("by zone", task, 200, 0, 200);
    fake_free(f);
}

static void nodeorder_spread_counts_living_pods_of_the_namespace(void **state)
{
    (void)state;
    begin_zones("podtopologyspread.weight", 3);
    struct maar_class *cls = fake_labelled(f, "app=web");
    struct maar_task *task = pending(cls);
    fake_spread(f, cls, false, 1, "zone", "app=web");
    struct maar_class *other = fake_labelled(f, "app=web");
    fake_move_to_space(f, other, "other", "");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, 0);
    fake_task(f, NULL, cls, MAAR_TASK_RELEASING, 1);
    fake_open(f);
    ASSERT_SCORES("neither counts", task, 200, 200, 200);
    fake_task(f, NULL, cls, MAAR_TASK_ALLOCATED, 2);
    ASSERT_SCORES("placed in this session", task, 200, 200, 0);
    fake_free(f);
}

static void set_image(uint32_t node, struct maar_image *image, int64_t mi)
{
    struct maar_node_facts *facts = &f->facts[node];
    struct maar_node_image *images = fake_alloc(f, (facts->n_images + 1) * sizeof *images);
    if (facts->n_images)
        memcpy(images, facts->images, facts->n_images * sizeof *images);
    images[facts->n_images++] = (struct maar_node_image){image, mi * MI};
    facts->images = images;
    image->n_nodes++;
}

/* E-il-1, and the bounds. */
static void nodeorder_prefers_nodes_with_the_images(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *images[3];
        double want[4];
    } rows[] = {
        {"E-il-1", {"b:1"}, {23, 0, 0, 0}},
        {"an image for all", {"all:1"}, {17, 17, 17, 17}},
        {"large ones count up to a bound", {"huge:1"}, {0, 100, 0, 0}},
        {"named twice, counts twice", {"b:1", "b:1"}, {24, 0, 0, 0}},
        {"one of two is there", {"b:1", "none:1"}, {11, 0, 0, 0}},
        {"another tag", {"b:2"}, {0, 0, 0, 0}},
        {"too small to count", {"small:1"}, {0, 0, 0, 0}},
        {"no images", {NULL}, {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_image all = {"all:1", 0}, b = {"b:1", 0}, huge = {"huge:1", 0},
                          small = {"small:1", 0};
        begin_with("imagelocality.weight", "1");
        for (uint32_t node = 0; node < 4; node++) {
            fake_node(f, "n", 8000, 16 * GI, 110, 0);
            set_image(node, &all, 190);
            if (node == 0)
                set_image(node, &b, 1000);
            if (node == 1)
                set_image(node, &huge, 9000);
            if (node == 2)
                set_image(node, &small, 80);
        }
        struct maar_class *cls = fake_class(f, 100, GI, 0, 0);
        struct maar_pod_spec spec = *cls->spec;
        spec.n_images = 0;
        spec.images = rows[i].images;
        while (spec.n_images < 3 && rows[i].images[spec.n_images])
            spec.n_images++;
        cls->spec = &spec;
        fake_open(f);
        double out[4];
        scores_of(pending(cls), 4, out);
        for (uint32_t node = 0; node < 4; node++)
            if (out[node] < rows[i].want[node] || out[node] > rows[i].want[node])
                fail_msg("%s: node %u scores %g, not %g", rows[i].name, node, out[node],
                         rows[i].want[node]);
        fake_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodeorder_least_and_most_requested),
        cmocka_unit_test(nodeorder_balanced_use),
        cmocka_unit_test(nodeorder_avoids_taints_that_prefer_so),
        cmocka_unit_test(nodeorder_prefers_by_node_affinity),
        cmocka_unit_test(nodeorder_prefers_nodes_with_the_images),
        cmocka_unit_test(nodeorder_weights_of_zero_say_nothing),
        cmocka_unit_test(nodeorder_default_weights),
        cmocka_unit_test(nodeorder_sees_what_the_session_does),
        cmocka_unit_test(nodeorder_pods_that_were_leaving_count),
        cmocka_unit_test(nodeorder_affinity_between_pods),
        cmocka_unit_test(nodeorder_required_affinity_of_others_weighs_nothing),
        cmocka_unit_test(nodeorder_affinity_over_two_keys),
        cmocka_unit_test(nodeorder_compatible_session_sees_affinity_of_its_start),
        cmocka_unit_test(nodeorder_spread_by_zone),
        cmocka_unit_test(nodeorder_spread_leaves_out_nodes_without_the_key),
        cmocka_unit_test(nodeorder_spread_by_host),
        cmocka_unit_test(nodeorder_spread_counts_living_pods_of_the_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
