/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin predicates, its filters that look at other nodes: pod affinity and topology spread. Zones z1 and z2 with two
 * nodes each, z3 with one; "bare" has neither zone nor host name. */

#include "fake_affinity.h"

#define AFFINITY     "node(s) didn't match pod affinity rules"
#define ANTI         "node(s) didn't match pod anti-affinity rules"
#define EXISTING     "node(s) didn't satisfy existing pods anti-affinity rules"
#define SKEW         "node(s) didn't match pod topology spread constraints"
#define MISSING      "node(s) didn't match pod topology spread constraints (missing required label)"
#define FITS         ""

#define HOST         "kubernetes.io/hostname"
#define ROWS(a)      (sizeof(a) / sizeof *(a))
#define REQUIRED(c)  (&fake_spec(c)->pod_affinity_required)
#define REPELLING(c) (&fake_spec(c)->pod_anti_affinity_required)

enum { A1, A2, B1, B2, C1, BARE, N_NODES };

static struct fake *f;
static struct maar_class *cls;
static struct maar_task *task;

static void begin(const char *const *pairs)
{
    static const char *const names[] = {"a1", "a2", "b1", "b2", "c1", "bare"};
    static const char *const zones[] = {"z1", "z1", "z2", "z2", "z3"};
    f = fake_new("predicates", pairs);
    for (uint32_t n = 0; n < N_NODES; n++) {
        fake_node(f, names[n], 64000, 256 * GI, 110, 0);
        if (n == BARE)
            continue;
        fake_label(f, n, "zone", zones[n]);
        fake_label(f, n, HOST, names[n]);
    }
    cls = fake_labelled(f, "app=web");
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

static void again(void)
{
    fake_free(f);
    begin(NULL);
}

/* A pod that runs. */
static struct maar_task *runs(const char *labels, uint32_t node)
{
    return fake_task(f, NULL, fake_labelled(f, labels), MAAR_TASK_RUNNING, node);
}

static void run_many(const char *labels, uint32_t node, size_t n)
{
    fake_tasks(f, NULL, fake_labelled(f, labels), MAAR_TASK_RUNNING, node, n);
}

/* One node as explain and fit see it; they must agree. */
static uint8_t fit(uint32_t node, char *reasons, size_t n)
{
    uint8_t out = MAAR_FIT_OK;
    struct maar_reasons list = {0};
    for (size_t i = 0; i < f->plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &f->plugin->hooks.filters[i];
        if ((filter->active && !filter->active(f->self)) ||
            (filter->skip && (filter->skip)(f->self, &f->view, task)))
            continue;
        uint8_t one = MAAR_FIT_OK;
        size_t n_reasons = list.n;
        filter->fit(f->self, &f->view, task, &node, 1, &one);
        filter->explain(f->self, &f->view, task, node, &list);
        assert_int_equal(list.n > n_reasons, one != MAAR_FIT_OK);
        out = one > out ? one : out;
    }
    reasons[0] = '\0';
    for (size_t i = 0; i < list.n; i++)
        snprintf(reasons + strlen(reasons), n - strlen(reasons), "%s%s", i ? "; " : "",
                 list.text[i]);
    return out;
}

/* Evictions cure a refusal, or never do. */
static uint8_t code_of(const char *reasons)
{
    if (!*reasons)
        return MAAR_FIT_OK;
    return strstr(reasons, AFFINITY) || strstr(reasons, MISSING) ? MAAR_FIT_NEVER
                                                                 : MAAR_FIT_UNSCHEDULABLE;
}

static void assert_fit(const char *name, uint32_t node, const char *want)
{
    char reasons[1024];
    uint8_t code = fit(node, reasons, sizeof reasons);
    if (strcmp(reasons, want) != 0 || code != code_of(want))
        fail_msg("%s, %s: \"%s\" (%u), not \"%s\" (%u)", name, f->facts[node].name, reasons, code,
                 want, code_of(want));
}

/* What the nodes say: a1, a2, b1, b2, c1, bare. */
static void assert_all(const char *name, const char *const *want)
{
    for (uint32_t n = 0; n < N_NODES; n++)
        assert_fit(name, n, want[n]);
    /* All nodes in one question get the same answers. */
    for (size_t i = 0; i < f->plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &f->plugin->hooks.filters[i];
        if (filter->skip && (filter->skip)(f->self, &f->view, task))
            continue;
        uint32_t nodes[N_NODES] = {A1, A2, B1, B2, C1, BARE};
        uint8_t all[N_NODES] = {0};
        filter->fit(f->self, &f->view, task, nodes, N_NODES, all);
        for (uint32_t n = 0; n < N_NODES; n++) {
            uint8_t one = MAAR_FIT_OK;
            filter->fit(f->self, &f->view, task, &n, 1, &one);
            assert_int_equal(all[n], one);
        }
    }
}

#define ASSERT_ALL(name, ...) assert_all(name, (const char *const[]){__VA_ARGS__})

/* ---- required affinity ----------------------------------------------------------------------- */

/* E-ipa-1 */
static void affinity_wants_a_pod_in_the_domain(void **state)
{
    (void)state;
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    runs("app=db", A1);
    fake_open(f);
    ASSERT_ALL("E-ipa-1", FITS, FITS, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
}

/* E-ipa-2 */
static void first_pod_that_means_itself_may_go_anywhere(void **state)
{
    (void)state;
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=web");
    fake_open(f);
    ASSERT_ALL("first", FITS, FITS, FITS, FITS, FITS, AFFINITY);
    runs("app=web", B1);
    ASSERT_ALL("second", AFFINITY, AFFINITY, FITS, FITS, AFFINITY, AFFINITY);
    again();
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_open(f);
    ASSERT_ALL("means others", AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
    again();
    /* One that stands where no zone is counts nowhere: the next is the first still. */
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=web");
    runs("app=web", BARE);
    fake_open(f);
    ASSERT_ALL("outside", FITS, FITS, FITS, FITS, FITS, AFFINITY);
    again();
    /* Not of all its terms. */
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=web");
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_open(f);
    ASSERT_ALL("one of two", AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
}

/* E-ipa-3 */
static void pod_counts_only_when_it_matches_all_terms(void **state)
{
    (void)state;
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_term(f, cls, REQUIRED(cls), 0, HOST, "tier=x");
    runs("app=db", A1);
    runs("tier=x", A2);
    fake_open(f);
    ASSERT_ALL("one term each", AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
    runs("app=db,tier=x", B1);
    ASSERT_ALL("both terms", AFFINITY, AFFINITY, FITS, AFFINITY, AFFINITY, AFFINITY);
    /* By zone alone b2 would do as well. */
    again();
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "tier=x");
    runs("app=db,tier=x", B1);
    fake_open(f);
    ASSERT_ALL("both by zone", AFFINITY, AFFINITY, FITS, FITS, AFFINITY, AFFINITY);
}

/* E-ipa-5, the terms of the pod that comes. */
static void term_means_namespaces_by_list_and_by_selector(void **state)
{
    (void)state;
    static const struct {
        const char *name, *list, *selector;
        bool own, x, y; /* pods of which namespace count: default, x (team blue), y (team red) */
    } rows[] = {
        {"list", "x", NULL, false, true, false},
        {"list and selector that matches nothing", "x", "team=green", false, true, false},
        {"everywhere", NULL, "", true, true, true},
        {"selector", NULL, "team=red", false, false, true},
        {"list or selector", "x", "team=red", false, true, true},
        {"without label", NULL, "-team", true, false, false},
        {"nowhere", "z", NULL, false, false, false},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        again();
        struct maar_affinity_term *term = fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
        fake_term_spaces(f, term, rows[i].list, rows[i].selector);
        runs("app=db", A1);
        struct maar_class *x = fake_labelled(f, "app=db"), *y = fake_labelled(f, "app=db");
        fake_move_to_space(f, x, "x", "team=blue");
        fake_move_to_space(f, y, "y", "team=red");
        fake_task(f, NULL, x, MAAR_TASK_RUNNING, B1);
        fake_task(f, NULL, y, MAAR_TASK_RUNNING, C1);
        fake_open(f);
        ASSERT_ALL(rows[i].name, rows[i].own ? FITS : AFFINITY, rows[i].own ? FITS : AFFINITY,
                   rows[i].x ? FITS : AFFINITY, rows[i].x ? FITS : AFFINITY,
                   rows[i].y ? FITS : AFFINITY, AFFINITY);
    }
}

static void selectors_match_as_in_kubernetes(void **state)
{
    (void)state;
    static const struct {
        const char *selector;
        bool db, web, plain; /* pods: app=db,tier=x; app=web; without labels */
    } rows[] = {
        {NULL, false, false, false},           {"", true, true, true},
        {"app=db", true, false, false},        {"app=db|web", true, true, false},
        {"app!=db", false, true, true},        {"app", true, true, false},
        {"-app", false, false, true},          {"app,tier!=x", false, true, false},
        {"app=db,tier=x", true, false, false}, {"?app", false, false, false},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        again();
        fake_labels(f, cls, "own=1");
        fake_term(f, cls, REQUIRED(cls), 0, HOST, rows[i].selector);
        runs("app=db,tier=x", A1);
        runs("app=web", B1);
        runs("", C1);
        fake_open(f);
        const char *name = rows[i].selector ? rows[i].selector : "no selector";
        assert_fit(name, A1, rows[i].db ? FITS : AFFINITY);
        assert_fit(name, B1, rows[i].web ? FITS : AFFINITY);
        assert_fit(name, C1, rows[i].plain ? FITS : AFFINITY);
    }
}

/* ---- anti-affinity --------------------------------------------------------------------------- */

static void anti_affinity_keeps_out_of_the_domain(void **state)
{
    (void)state;
    fake_term(f, cls, REPELLING(cls), 0, "zone", "app=db");
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=cache");
    runs("app=db", A1);
    runs("app=cache", B1);
    runs("app=db", BARE);
    fake_open(f);
    ASSERT_ALL("own", ANTI, ANTI, ANTI, FITS, FITS, FITS);
}

/* E-ipa-4 */
static void pods_that_are_there_keep_others_out(void **state)
{
    (void)state;
    fake_move_to_space(f, cls, "a", "team=blue");
    struct maar_class *other = fake_labelled(f, "app=db");
    fake_move_to_space(f, other, "b", "");
    fake_term_spaces(f, fake_term(f, other, REPELLING(other), 0, HOST, "app=web"), NULL,
                     "team=blue");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, B1);
    fake_open(f);
    ASSERT_ALL("E-ipa-4", FITS, FITS, EXISTING, FITS, FITS, FITS);
    fake_move_to_space(f, cls, "a", "team=red");
    ASSERT_ALL("red", FITS, FITS, FITS, FITS, FITS, FITS);
    fake_move_to_space(f, cls, "a", "");
    ASSERT_ALL("namespace without labels", FITS, FITS, FITS, FITS, FITS, FITS);
}

static void term_of_others_without_namespaces_means_their_own(void **state)
{
    (void)state;
    struct maar_class *other = fake_labelled(f, "app=db");
    fake_move_to_space(f, other, "b", "");
    fake_term(f, other, REPELLING(other), 0, "zone", "app=web");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, B1);
    fake_open(f);
    ASSERT_ALL("another namespace", FITS, FITS, FITS, FITS, FITS, FITS);
    fake_move_to_space(f, cls, "b", "");
    ASSERT_ALL("the same", FITS, FITS, EXISTING, EXISTING, FITS, FITS);
}

/* The first rule that refuses speaks: affinity, own anti-affinity, that of others. */
static void one_reason_for_a_node(void **state)
{
    (void)state;
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=db");
    struct maar_class *other = fake_labelled(f, "app=db");
    fake_term(f, other, REPELLING(other), 0, "zone", "app=web");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, A1);
    fake_open(f);
    ASSERT_ALL("two rules", ANTI, EXISTING, FITS, FITS, FITS, FITS);
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=cache");
    ASSERT_ALL("three rules", AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
}

/* E-pred-2 */
static void port_and_anti_affinity_are_both_told(void **state)
{
    (void)state;
    static const struct maar_host_port port = {"", "TCP", 80};
    struct maar_task *other = runs("app=db", A1);
    struct maar_pod_spec *spec = (struct maar_pod_spec *)(uintptr_t)other->cls->spec;
    spec->host_ports = fake_spec(cls)->host_ports = &port;
    spec->n_host_ports = fake_spec(cls)->n_host_ports = 1;
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=db");
    fake_open(f);
    assert_fit("E-pred-2", A1, "node(s) didn't have free ports for the requested pod ports; " ANTI);
}

/* E-pred-4: two members of one gang in one session. */
static void placement_of_the_session_counts_at_once(void **state)
{
    (void)state;
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=web");
    struct maar_task *first = fake_task(f, NULL, cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_open(f);
    ASSERT_ALL("before", FITS, FITS, FITS, FITS, FITS, FITS);
    fake_move(f, first, MAAR_TASK_ALLOCATED, A1);
    ASSERT_ALL("E-pred-4", ANTI, FITS, FITS, FITS, FITS, FITS);
    fake_move(f, first, MAAR_TASK_PIPELINED, B1);
    ASSERT_ALL("on room to come", FITS, FITS, ANTI, FITS, FITS, FITS);
    fake_move(f, first, MAAR_TASK_PENDING, MAAR_NO_NODE);
    ASSERT_ALL("taken back", FITS, FITS, FITS, FITS, FITS, FITS);
}

/* A pod that is being deleted holds its place in all three rules. */
static void leaving_pods_count_for_affinity(void **state)
{
    (void)state;
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=db");
    struct maar_class *db = fake_labelled(f, "app=db");
    fake_task(f, NULL, db, MAAR_TASK_RELEASING, A1);
    struct maar_class *other = fake_labelled(f, "app=cache");
    fake_term(f, other, REPELLING(other), 0, HOST, "app=web");
    fake_task(f, NULL, other, MAAR_TASK_RELEASING, A2);
    fake_open(f);
    ASSERT_ALL("leaving", ANTI, EXISTING, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
}

/* Volcano lists the nodes with anti-affinity when the session opens: who comes to another node later is not seen. */
static void compatible_session_sees_anti_affinity_of_its_start(void **state)
{
    (void)state;
    for (int compatible = 0; compatible < 2; compatible++) {
        again();
        f->view.compatibility = compatible;
        struct maar_class *other = fake_labelled(f, "app=db");
        fake_term(f, other, REPELLING(other), 0, HOST, "app=web");
        fake_task(f, NULL, other, MAAR_TASK_RUNNING, A1);
        struct maar_task *second = fake_task(f, NULL, other, MAAR_TASK_PENDING, MAAR_NO_NODE);
        struct maar_task *third = fake_task(f, NULL, other, MAAR_TASK_PENDING, MAAR_NO_NODE);
        fake_open(f);
        fake_move(f, second, MAAR_TASK_ALLOCATED, B1);
        fake_move(f, third, MAAR_TASK_ALLOCATED, A1);
        ASSERT_ALL(compatible ? "compatible" : "by default", EXISTING, FITS,
                   compatible ? FITS : EXISTING, FITS, FITS, FITS);
        /* The pod's own terms see everybody. */
        fake_term(f, cls, REPELLING(cls), 0, HOST, "app=db");
        ASSERT_ALL("own terms", ANTI, FITS, ANTI, FITS, FITS, FITS);
    }
}

static void filters_are_skipped_where_nobody_asks(void **state)
{
    (void)state;
    fake_open(f);
    const struct maar_filter *affinity = &f->plugin->hooks.filters[3];
    const struct maar_filter *spread = &f->plugin->hooks.filters[4];
    assert_string_equal(affinity->name, "pod affinity");
    assert_true((affinity->skip)(f->self, &f->view, task));
    assert_true((spread->skip)(f->self, &f->view, task));
    /* Others have anti-affinity, but do not mean this pod; soft terms are scores. */
    struct maar_class *other = fake_labelled(f, "app=db");
    fake_term(f, other, REPELLING(other), 0, HOST, "app=cache");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, A1);
    fake_term(f, cls, &fake_spec(cls)->pod_anti_affinity_preferred, 5, HOST, "app=db");
    fake_spread(f, cls, false, 1, "zone", "app=web");
    assert_true((affinity->skip)(f->self, &f->view, task));
    assert_true((spread->skip)(f->self, &f->view, task));
    fake_spread(f, cls, true, 1, "zone", "app=web");
    assert_false((spread->skip)(f->self, &f->view, task));
    fake_term(f, other, REPELLING(other), 0, HOST, "app=web");
    assert_false((affinity->skip)(f->self, &f->view, task));
}

static void filters_can_be_turned_off(void **state)
{
    (void)state;
    fake_free(f);
    begin((const char *const[]){"predicate.PodAffinityEnable", "false",
                                "predicate.PodTopologySpreadEnable", "false", NULL});
    fake_term(f, cls, REQUIRED(cls), 0, "zone", "app=db");
    fake_spread(f, cls, true, 1, "zone", "app=web");
    fake_open(f);
    for (uint32_t n = 0; n < N_NODES; n++)
        assert_fit("off", n, FITS);
}

/* ---- topology spread ------------------------------------------------------------------------- */

static void run_3_2_2(const char *labels)
{
    run_many(labels, A1, 2);
    run_many(labels, A2, 1);
    run_many(labels, B1, 2);
    run_many(labels, C1, 2);
}

/* E-pts-1 */
static void spread_limits_the_skew(void **state)
{
    (void)state;
    fake_spread(f, cls, true, 1, "zone", "app=web");
    run_3_2_2("app=web");
    fake_open(f);
    ASSERT_ALL("counts itself", SKEW, SKEW, FITS, FITS, FITS, MISSING);
    fake_labels(f, cls, "app=db");
    ASSERT_ALL("does not", FITS, FITS, FITS, FITS, FITS, MISSING);
}

/* E-pts-2 */
static void spread_with_too_few_domains_has_an_empty_one(void **state)
{
    (void)state;
    struct maar_spread_constraint *spread = fake_spread(f, cls, true, 1, "zone", "app=web");
    run_3_2_2("app=web");
    fake_open(f);
    spread->min_domains = 3;
    ASSERT_ALL("three", SKEW, SKEW, FITS, FITS, FITS, MISSING);
    spread->min_domains = 4;
    ASSERT_ALL("E-pts-2", SKEW, SKEW, SKEW, SKEW, SKEW, MISSING);
    spread->max_skew = 3;
    ASSERT_ALL("max skew 3", SKEW, SKEW, FITS, FITS, FITS, MISSING);
}

/* E-pts-3: pods of pool a, and c1 is of pool b. */
static void spread_honors_node_affinity_or_ignores_it(void **state)
{
    (void)state;
    struct maar_label pool = {fake_intern(f, "pool"), fake_intern(f, "a")};
    for (uint32_t n = 0; n < N_NODES; n++)
        fake_label(f, n, "pool", n == C1 ? "b" : "a");
    fake_spec(cls)->node_selector = &pool;
    fake_spec(cls)->n_node_selector = 1;
    struct maar_spread_constraint *spread = fake_spread(f, cls, true, 1, "zone", "app=web");
    run_many("app=web", A1, 2);
    run_many("app=web", B1, 1);
    fake_open(f);
    assert_fit("Honor: z3 is no domain", A1, SKEW);
    assert_fit("Honor: z3 is no domain", B1, FITS);
    spread->honor_affinity = false;
    assert_fit("Ignore: z3 is empty", A1, SKEW);
    assert_fit("Ignore: z3 is empty", B1, SKEW);
    /* Pods on a node that takes no part do not count. */
    run_many("app=web", C1, 5);
    assert_fit("Ignore: z3 has 5", B1, FITS);
    spread->honor_affinity = true;
    assert_fit("Honor: nor do its pods count", B1, FITS);
    assert_fit("Honor: nor do its pods count", A1, SKEW);
}

/* E-pts-4 */
static void spread_honors_taints_or_ignores_them(void **state)
{
    (void)state;
    struct maar_spread_constraint *spread = fake_spread(f, cls, true, 1, "zone", "app=web");
    fake_taint(f, C1, "gpu", "yes", MAAR_EFFECT_NO_SCHEDULE);
    fake_taint(f, B1, "slow", "yes", MAAR_EFFECT_PREFER_NO_SCHEDULE);
    run_many("app=web", A1, 1);
    run_many("app=web", B1, 1);
    fake_open(f);
    assert_fit("Ignore: z3 is empty", A1, SKEW);
    spread->honor_taints = true;
    assert_fit("E-pts-4", A1, FITS);
    struct maar_toleration toleration = {fake_intern(f, "gpu"), "", MAAR_TOLERATION_EXISTS,
                                         MAAR_EFFECT_ANY};
    fake_spec(cls)->tolerations = &toleration;
    fake_spec(cls)->n_tolerations = 1;
    assert_fit("tolerated: z3 is a domain", A1, SKEW);
}

/* E-pts-5: matchLabelKeys stand in the selector. */
static void spread_counts_what_its_selector_names(void **state)
{
    (void)state;
    fake_labels(f, cls, "app=web,rev=2");
    fake_spread(f, cls, true, 1, "zone", "app=web,rev=2");
    run_many("app=web,rev=1", A1, 4);
    run_many("app=web,rev=2", B1, 1);
    fake_open(f);
    ASSERT_ALL("E-pts-5", FITS, FITS, SKEW, SKEW, FITS, MISSING);
}

static void spread_counts_living_pods_of_the_namespace(void **state)
{
    (void)state;
    fake_spread(f, cls, true, 1, "zone", "app=web");
    struct maar_class *leaving = fake_labelled(f, "app=web"), *other = fake_labelled(f, "app=web");
    fake_task(f, NULL, leaving, MAAR_TASK_RELEASING, A1);
    fake_move_to_space(f, other, "other", "");
    fake_task(f, NULL, other, MAAR_TASK_RUNNING, B1);
    fake_open(f);
    ASSERT_ALL("neither counts", FITS, FITS, FITS, FITS, FITS, MISSING);
    runs("app=web", C1);
    ASSERT_ALL("one does", FITS, FITS, FITS, FITS, SKEW, MISSING);
}

/* It names no pod, yet the pod itself. */
static void spread_with_an_empty_selector(void **state)
{
    (void)state;
    struct maar_spread_constraint *spread = fake_spread(f, cls, true, 1, "zone", "");
    run_3_2_2("app=web");
    fake_open(f);
    ASSERT_ALL("max skew 1", FITS, FITS, FITS, FITS, FITS, MISSING);
    spread->max_skew = 0; /* refused on reading: here it shows that the pod counts itself */
    ASSERT_ALL("max skew 0", SKEW, SKEW, SKEW, SKEW, SKEW, MISSING);
    spread->selector.is_set = false;
    ASSERT_ALL("no selector", FITS, FITS, FITS, FITS, FITS, MISSING);
}

/* A node counts for a constraint only when it has the keys of all hard ones. */
static void spread_over_two_keys(void **state)
{
    (void)state;
    fake_label(f, A1, "rack", "r1");
    fake_label(f, B1, "rack", "r2");
    fake_spread(f, cls, true, 1, "zone", "app=web");
    fake_spread(f, cls, true, 1, "rack", "app=web");
    run_many("app=web", A2, 3); /* without rack: counts nowhere */
    run_many("app=web", B1, 1);
    fake_open(f);
    assert_fit("two keys", A1, FITS);
    assert_fit("two keys", A2, MISSING);
    assert_fit("two keys", B1, SKEW);
    assert_fit("two keys", C1, MISSING);
    /* A soft one asks for no key. */
    again();
    fake_spread(f, cls, true, 1, "zone", "app=web");
    fake_spread(f, cls, false, 1, "rack", "app=web");
    fake_open(f);
    ASSERT_ALL("soft", FITS, FITS, FITS, FITS, FITS, MISSING);
}

static void spread_without_any_domain(void **state)
{
    (void)state;
    fake_spread(f, cls, true, 1, "nowhere", "app=web");
    fake_open(f);
    ASSERT_ALL("no domain", MISSING, MISSING, MISSING, MISSING, MISSING, MISSING);
}

static void spread_follows_each_placement(void **state)
{
    (void)state;
    static const uint32_t places[] = {A1, B1, C1, B2};
    fake_spread(f, cls, true, 1, "zone", "app=web");
    fake_open(f);
    for (size_t i = 0; i < ROWS(places); i++) {
        assert_fit("next", places[i], FITS);
        fake_task(f, NULL, cls, MAAR_TASK_ALLOCATED, places[i]);
    }
    ASSERT_ALL("1 2 1", FITS, FITS, SKEW, SKEW, FITS, MISSING);
}

static void both_filters_speak(void **state)
{
    (void)state;
    fake_term(f, cls, REPELLING(cls), 0, HOST, "app=web");
    fake_spread(f, cls, true, 1, "zone", "app=web");
    runs("app=web", A1);
    fake_open(f);
    const char *both = ANTI "; " SKEW;
    ASSERT_ALL("both", both, SKEW, FITS, FITS, FITS, MISSING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(affinity_wants_a_pod_in_the_domain),
        TEST(first_pod_that_means_itself_may_go_anywhere),
        TEST(pod_counts_only_when_it_matches_all_terms),
        TEST(term_means_namespaces_by_list_and_by_selector),
        TEST(selectors_match_as_in_kubernetes),
        TEST(anti_affinity_keeps_out_of_the_domain),
        TEST(pods_that_are_there_keep_others_out),
        TEST(term_of_others_without_namespaces_means_their_own),
        TEST(one_reason_for_a_node),
        TEST(port_and_anti_affinity_are_both_told),
        TEST(placement_of_the_session_counts_at_once),
        TEST(leaving_pods_count_for_affinity),
        TEST(compatible_session_sees_anti_affinity_of_its_start),
        TEST(filters_are_skipped_where_nobody_asks),
        TEST(filters_can_be_turned_off),
        TEST(spread_limits_the_skew),
        TEST(spread_with_too_few_domains_has_an_empty_one),
        TEST(spread_honors_node_affinity_or_ignores_it),
        TEST(spread_honors_taints_or_ignores_them),
        TEST(spread_counts_what_its_selector_names),
        TEST(spread_counts_living_pods_of_the_namespace),
        TEST(spread_with_an_empty_selector),
        TEST(spread_over_two_keys),
        TEST(spread_without_any_domain),
        TEST(spread_follows_each_placement),
        TEST(both_filters_speak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
