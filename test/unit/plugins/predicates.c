/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin predicates: which nodes are refused, with what code and in which words. */

#include "fake_view.h"

static struct fake *f;
static struct maar_class *cls;
static struct maar_task *task;
static uint32_t n1;

static void begin(const char *const *pairs)
{
    f = fake_new("predicates", pairs);
    n1 = fake_node(f, "n1", 4000, 4 * GI, 3, 0);
    cls = fake_class(f, 1000, GI, 0, 0);
    task = fake_task(f, NULL, cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
}

static int setup(void **state)
{
    (void)state;
    begin(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_free(f);
    return 0;
}

/* The code of all filters for a node; reasons in order, separated by "; ". */
static uint8_t fit(uint32_t node, char *reasons, size_t n)
{
    uint8_t out = MAAR_FIT_OK;
    struct maar_reasons list = {0};
    for (size_t i = 0; i < f->plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &f->plugin->hooks.filters[i];
        if (filter->active && !filter->active(f->self))
            continue;
        if (filter->skip && (filter->skip)(f->self, &f->view, task))
            continue;
        filter->fit(f->self, &f->view, task, &node, 1, &out);
        filter->explain(f->self, &f->view, task, node, &list);
    }
    reasons[0] = '\0';
    for (size_t i = 0; i < list.n; i++)
        snprintf(reasons + strlen(reasons), n - strlen(reasons), "%s%s", i ? "; " : "",
                 list.text[i]);
    return out;
}

static void assert_fit(uint32_t node, uint8_t want, const char *want_reasons)
{
    char reasons[1024];
    uint8_t got = fit(node, reasons, sizeof reasons);
    assert_string_equal(reasons, want_reasons);
    assert_int_equal(got, want);
}

static void predicates_plain_node_fits(void **state)
{
    (void)state;
    fake_open(f);
    assert_fit(n1, MAAR_FIT_OK, "");
}

/* E-pred-3 */
static void predicates_pod_number(void **state)
{
    (void)state;
    fake_task(f, NULL, cls, MAAR_TASK_RUNNING, n1);
    fake_task(f, NULL, cls, MAAR_TASK_RELEASING, n1);
    struct maar_task *first = fake_task(f, NULL, cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_open(f);
    assert_fit(n1, MAAR_FIT_OK, "");
    fake_move(f, first, MAAR_TASK_ALLOCATED, n1);
    assert_fit(n1, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
    fake_move(f, first, MAAR_TASK_PIPELINED, n1);
    assert_fit(n1, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
    fake_move(f, first, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_fit(n1, MAAR_FIT_OK, "");
}

/* A pod that this session evicts is gone, one that was leaving before is not. */
static void predicates_pod_number_after_eviction(void **state)
{
    (void)state;
    struct maar_task *victim = fake_task(f, NULL, cls, MAAR_TASK_RUNNING, n1);
    fake_task(f, NULL, cls, MAAR_TASK_RELEASING, n1);
    fake_task(f, NULL, cls, MAAR_TASK_RUNNING, n1);
    fake_open(f);
    assert_fit(n1, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
    size_t mark = f->n_saved;
    fake_move(f, victim, MAAR_TASK_RELEASING, n1);
    assert_fit(n1, MAAR_FIT_OK, "");
    fake_move(f, victim, MAAR_TASK_RUNNING, n1);
    assert_fit(n1, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
    fake_move(f, victim, MAAR_TASK_RELEASING, n1);
    victim->status = MAAR_TASK_RUNNING;
    fake_undo(f, mark);
    fake_recount(f);
    assert_fit(n1, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
}

static void predicates_node_without_pod_slots_is_full(void **state)
{
    (void)state;
    uint32_t n2 = fake_node(f, "n2", 4000, GI, 0, 0);
    fake_open(f);
    assert_fit(n2, MAAR_FIT_UNSCHEDULABLE, "node(s) pod number exceeded");
}

/* E-pred-1: the number of pods does not end the evaluation, the first static refusal does. */
static void predicates_reasons_stop_at_the_first_static_one(void **state)
{
    (void)state;
    fake_tasks(f, NULL, cls, MAAR_TASK_RUNNING, n1, 3);
    f->facts[n1].unschedulable = true;
    fake_taint(f, n1, "gpu", "yes", MAAR_EFFECT_NO_SCHEDULE);
    fake_open(f);
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) pod number exceeded; node(s) were unschedulable");
}

static void predicates_unschedulable_can_be_tolerated(void **state)
{
    (void)state;
    f->facts[n1].unschedulable = true;
    fake_open(f);
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) were unschedulable");
    static const struct {
        const char *key, *value;
        enum maar_toleration_operator op;
        enum maar_taint_effect effect;
        bool fits;
    } rows[] = {
        {"node.kubernetes.io/unschedulable", "", MAAR_TOLERATION_EXISTS, MAAR_EFFECT_NO_SCHEDULE,
         true},
        {"node.kubernetes.io/unschedulable", "", MAAR_TOLERATION_EQUAL, MAAR_EFFECT_ANY, true},
        {"node.kubernetes.io/unschedulable", "x", MAAR_TOLERATION_EQUAL, MAAR_EFFECT_ANY, false},
        {"node.kubernetes.io/unschedulable", "", MAAR_TOLERATION_EXISTS, MAAR_EFFECT_NO_EXECUTE,
         false},
        {"", "", MAAR_TOLERATION_EXISTS, MAAR_EFFECT_ANY, true},
        {"other", "", MAAR_TOLERATION_EXISTS, MAAR_EFFECT_ANY, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_toleration toleration = {
            fake_intern(f, rows[i].key), fake_intern(f, rows[i].value), rows[i].op, rows[i].effect};
        fake_spec(cls)->tolerations = &toleration;
        fake_spec(cls)->n_tolerations = 1;
        if (rows[i].fits)
            assert_fit(n1, MAAR_FIT_OK, "");
        else
            assert_fit(n1, MAAR_FIT_NEVER, "node(s) were unschedulable");
    }
}

static void predicates_node_that_is_not_ready(void **state)
{
    (void)state;
    f->facts[n1].ready = false;
    fake_open(f);
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) were not ready");
    f->view.compatibility = true;
    assert_fit(n1, MAAR_FIT_OK, "");
}

static void predicates_taints(void **state)
{
    (void)state;
    fake_taint(f, n1, "soft", "", MAAR_EFFECT_PREFER_NO_SCHEDULE);
    fake_open(f);
    assert_fit(n1, MAAR_FIT_OK, ""); /* E-tt-3 */
    fake_taint(f, n1, "gpu", "yes", MAAR_EFFECT_NO_EXECUTE);
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) had untolerated taint(s)");
}

static void predicates_affinity(void **state)
{
    (void)state;
    struct maar_label disk = {fake_intern(f, "disk"), fake_intern(f, "ssd")};
    fake_spec(cls)->node_selector = &disk;
    fake_spec(cls)->n_node_selector = 1;
    fake_open(f);
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) didn't match Pod's node affinity/selector");
    fake_label(f, n1, "disk", "hdd");
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) didn't match Pod's node affinity/selector");
    fake_label(f, n1, "disk", "ssd"); /* a later label of the same key is not looked at */
    f->facts[n1].n_labels = 0;
    fake_label(f, n1, "disk", "ssd");
    assert_fit(n1, MAAR_FIT_OK, "");
    /* Required affinity without terms matches nothing. */
    fake_spec(cls)->has_required_affinity = true;
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) didn't match Pod's node affinity/selector");
}

static void predicates_filters_can_be_turned_off(void **state)
{
    (void)state;
    fake_free(f);
    begin((const char *const[]){"predicate.NodeAffinityEnable", "false",
                                "predicate.TaintTolerationEnable", "false", NULL});
    fake_spec(cls)->has_required_affinity = true;
    fake_taint(f, n1, "gpu", "yes", MAAR_EFFECT_NO_SCHEDULE);
    fake_open(f);
    assert_fit(n1, MAAR_FIT_OK, "");
    f->facts[n1].unschedulable = true;
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) were unschedulable");
}

static void predicates_filter_never_lowers_a_code(void **state)
{
    (void)state;
    fake_open(f);
    uint8_t out[] = {MAAR_FIT_UNSCHEDULABLE, MAAR_FIT_NEVER, MAAR_FIT_ERROR};
    uint32_t nodes[] = {n1, n1, n1};
    for (int refuses = 0; refuses < 2; refuses++) {
        f->facts[n1].unschedulable = refuses;
        for (size_t i = 0; i < f->plugin->hooks.n_filters; i++)
            f->plugin->hooks.filters[i].fit(f->self, &f->view, task, nodes, 3, out);
        assert_int_equal(out[0], refuses ? MAAR_FIT_NEVER : MAAR_FIT_UNSCHEDULABLE);
        assert_int_equal(out[1], MAAR_FIT_NEVER);
        assert_int_equal(out[2], MAAR_FIT_ERROR);
    }
}

static bool passes(struct maar_reasons *reasons)
{
    memset(reasons, 0, sizeof *reasons);
    return f->plugin->hooks.pre_filter(f->self, &f->view, task, reasons);
}

/* E-na-3 */
static void predicates_node_names_that_exclude_each_other(void **state)
{
    (void)state;
    const char *one[] = {fake_intern(f, "n1")}, *two[] = {fake_intern(f, "n2")};
    struct maar_requirement names[] = {
        {.key = "metadata.name", .op = MAAR_OP_IN, .is_field = true, .n_values = 1, .values = one},
        {.key = "metadata.name", .op = MAAR_OP_IN, .is_field = true, .n_values = 1, .values = two},
    };
    struct maar_selector_term terms[] = {{2, names}, {1, &names[1]}};
    struct maar_pod_spec *spec = fake_spec(cls);
    struct maar_reasons reasons;
    spec->has_required_affinity = true;
    spec->required = terms;
    spec->n_required = 1;
    fake_open(f);
    assert_false(passes(&reasons));
    assert_int_equal(reasons.n, 1);
    assert_string_equal(reasons.text[0],
                        "plugin NodeAffinity pre-predicates failed pod affinity terms conflict");
    assert_false(f->plugin->hooks.pre_filter(f->self, &f->view, task, NULL));
    spec->n_required = 2;
    assert_true(passes(&reasons));
    /* The name by itself allows n1 only in the second form. */
    assert_fit(n1, MAAR_FIT_NEVER, "node(s) didn't match Pod's node affinity/selector");
    terms[0].n_requirements = 1;
    assert_fit(n1, MAAR_FIT_OK, "");
}

static void predicates_unsupported_parts_wait_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t bits;
        const char *const off[7]; /* arguments that let the pod through */
        const char *reason;
    } rows[] = {
        {"volumes",
         MAAR_UNSUPPORTED_VOLUMES,
         {"predicate.NodeVolumeLimitsEnable", "false", "predicate.VolumeZoneEnable", "false",
          "predicate.VolumeBindingEnable", "false"},
         "persistent volume claims are not supported yet"},
        {"claims", MAAR_UNSUPPORTED_CLAIMS, {NULL}, "resource claims are not supported yet"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_reasons reasons;
        fake_free(f);
        begin(NULL);
        fake_open(f);
        assert_true(passes(&reasons));
        fake_spec(cls)->unsupported = rows[i].bits;
        assert_false(passes(&reasons));
        assert_int_equal(reasons.n, 1);
        assert_string_equal(reasons.text[0], rows[i].reason);
        if (!rows[i].off[0])
            continue;
        fake_free(f);
        begin(rows[i].off);
        fake_open(f);
        fake_spec(cls)->unsupported = rows[i].bits;
        assert_true(passes(&reasons));
        assert_int_equal(reasons.n, 0);
    }
}

static void predicates_axes_are_declared(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t node;
    } rows[] = {
        {"pod number", MAAR_NODE_STATIC | MAAR_NODE_LOAD},
        {"node", MAAR_NODE_STATIC},
        {"host ports", MAAR_NODE_LOAD},
        {"pod affinity", MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS},
        {"topology spread", MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS},
    };
    assert_int_equal(f->plugin->hooks.n_filters, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < f->plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &f->plugin->hooks.filters[i];
        assert_string_equal(filter->name, rows[i].name);
        assert_int_equal(filter->subject, MAAR_SUBJECT_CLASS);
        assert_int_equal(filter->node, rows[i].node);
    }
}

/* Ports that a running pod holds against those that the pod wants (E-np-1). */
static void predicates_host_ports(void **state)
{
    (void)state;
    static const struct {
        struct maar_host_port used, want;
        bool conflict;
    } rows[] = {
        {{"10.0.0.1", "TCP", 80}, {"0.0.0.0", "TCP", 80}, true},
        {{"10.0.0.1", "TCP", 80}, {"10.0.0.2", "TCP", 80}, false},
        {{"10.0.0.1", "TCP", 80}, {"10.0.0.1", "TCP", 80}, true},
        {{"10.0.0.1", "TCP", 80}, {"10.0.0.1", "UDP", 80}, false},
        {{"10.0.0.1", "TCP", 80}, {"10.0.0.1", "TCP", 81}, false},
        {{"10.0.0.1", "TCP", 80}, {"", "TCP", 80}, true},
        {{"", "TCP", 80}, {"10.0.0.9", "TCP", 80}, true},
        {{"10.0.0.1", "TCP", 80}, {"::", "TCP", 80}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake_free(f);
        begin(NULL);
        struct maar_class *holder = fake_class(f, 100, GI, 0, 0);
        fake_task(f, NULL, holder, MAAR_TASK_RELEASING, n1);
        fake_spec(holder)->host_ports = &rows[i].used;
        fake_spec(holder)->n_host_ports = 1;
        fake_spec(cls)->host_ports = &rows[i].want;
        fake_spec(cls)->n_host_ports = 1;
        fake_open(f);
        if (rows[i].conflict)
            assert_fit(n1, MAAR_FIT_UNSCHEDULABLE,
                       "node(s) didn't have free ports for the requested pod ports");
        else
            assert_fit(n1, MAAR_FIT_OK, "");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(predicates_plain_node_fits),
        TEST(predicates_pod_number),
        TEST(predicates_pod_number_after_eviction),
        TEST(predicates_node_without_pod_slots_is_full),
        TEST(predicates_reasons_stop_at_the_first_static_one),
        TEST(predicates_unschedulable_can_be_tolerated),
        TEST(predicates_node_that_is_not_ready),
        TEST(predicates_taints),
        TEST(predicates_affinity),
        TEST(predicates_filters_can_be_turned_off),
        TEST(predicates_filter_never_lowers_a_code),
        TEST(predicates_node_names_that_exclude_each_other),
        TEST(predicates_unsupported_parts_wait_with_a_reason),
        TEST(predicates_host_ports),
        TEST(predicates_axes_are_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
