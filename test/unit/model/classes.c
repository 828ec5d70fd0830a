/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Task classes and label sets: what tells pods apart, what does not, and that nothing outlives the last pod. */

#include "unit/session/records.h"

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static struct maar_record *plain(const char *name)
{
    return make_pod(name, "g", 1000, GI);
}

static struct maar_record *labelled(const char *name, const char *key, const char *value)
{
    struct maar_record *record = plain(name);
    set_labels(record, &record->pod.n_labels, &record->pod.labels, key, value);
    return record;
}

static size_t n_classes(void)
{
    return maar_map_n(world->classes_by_key);
}

/* ---- what splits ---- */

static void change_cpu(struct maar_record *r)
{
    set_amount(r, &r->pod.containers[0].requests, "cpu", 1001);
}

static void change_gpu_zero(struct maar_record *r)
{
    set_amount(r, &r->pod.containers[0].requests, "nvidia.com/gpu", 0);
}

static void change_ns(struct maar_record *r)
{
    r->ns = "elsewhere";
}

static void change_selector(struct maar_record *r)
{
    static const struct maar_label label = {"disk", "ssd"};
    r->pod.spec.n_node_selector = 1;
    r->pod.spec.node_selector = &label;
}

static void change_required(struct maar_record *r)
{
    r->pod.spec.has_required_affinity = true;
}

static void change_preferred(struct maar_record *r)
{
    static const struct maar_preferred_term term = {.weight = 5};
    r->pod.spec.n_preferred = 1;
    r->pod.spec.preferred = &term;
}

static void change_toleration(struct maar_record *r)
{
    static const struct maar_toleration toleration = {"k", "", MAAR_TOLERATION_EXISTS,
                                                      MAAR_EFFECT_ANY};
    r->pod.spec.n_tolerations = 1;
    r->pod.spec.tolerations = &toleration;
}

static void change_annotation(struct maar_record *r)
{
    static struct maar_label label = {"read", "by a plugin"};
    r->pod.n_annotations = 1;
    r->pod.annotations = &label;
}

static void change_unsupported(struct maar_record *r)
{
    r->pod.spec.unsupported = MAAR_UNSUPPORTED_CLAIMS;
}

static void change_overhead(struct maar_record *r)
{
    set_amount(r, &r->pod.overhead, "cpu", 1);
}

static void change_priority_class(struct maar_record *r)
{
    r->pod.spec.priority_class = "high";
}

/* ---- pod affinity and topology spread: the smallest difference of each kind ---- */

static const char *const values[] = {"x", "y"};
static const struct maar_requirement requirements[] = {
    {.key = "app", .op = MAAR_OP_IN, .n_values = 1, .values = values},
    {.key = "app", .op = MAAR_OP_IN, .n_values = 2, .values = values},
    {.key = "app", .op = MAAR_OP_NOT_IN, .n_values = 2, .values = values},
    {.key = "tier", .op = MAAR_OP_NOT_IN, .n_values = 2, .values = values},
};
static const struct maar_affinity_term affinity_terms[] = {
    {0},
    {.weight = 1},
    {.topology_key = "zone"},
    {.selector = {.is_set = true}},
    {.selector = {true, 1, &requirements[0]}},
    {.selector = {true, 1, &requirements[1]}},
    {.selector = {true, 1, &requirements[2]}},
    {.selector = {true, 1, &requirements[3]}},
    {.namespace_selector = {.is_set = true}},
    {.namespace_selector = {true, 1, &requirements[0]}},
    {.n_namespaces = 1, .namespaces = values},
    {.n_namespaces = 2, .namespaces = values},
};
static const struct maar_spread_constraint constraints[] = {
    {0},
    {.max_skew = 1},
    {.min_domains = 1},
    {.topology_key = "zone"},
    {.hard = true},
    {.honor_affinity = true},
    {.honor_taints = true},
    {.selector = {.is_set = true}},
    {.selector = {true, 1, &requirements[0]}},
};

static struct maar_affinity_terms *affinity_list(struct maar_pod_spec *spec, int list)
{
    struct maar_affinity_terms *const lists[] = {
        &spec->pod_affinity_required, &spec->pod_affinity_preferred,
        &spec->pod_anti_affinity_required, &spec->pod_anti_affinity_preferred};
    return lists[list];
}

static struct maar_record *with_term(const char *name, int list,
                                     const struct maar_affinity_term *term)
{
    struct maar_record *record = plain(name);
    *affinity_list(&record->pod.spec, list) = (struct maar_affinity_terms){1, term};
    return record;
}

static struct maar_record *with_constraint(const char *name,
                                           const struct maar_spread_constraint *constraint)
{
    struct maar_record *record = plain(name);
    record->pod.spec.n_spread = 1;
    record->pod.spec.spread = constraint;
    return record;
}

/* One pod a variant, twice: a class each, and the second time no new one. */
static void class_is_split_by_each_part_of_affinity_and_spread(void **state)
{
    (void)state;
    size_t n = 1;
    take(world, plain("p"));
    for (int round = 0; round < 2; round++) {
        for (int list = 0; list < 4; list++) {
            for (size_t i = 0; i < COUNT(affinity_terms); i++) {
                maar_autofree char *name = maar_asprintf("%d-%d-%zu", round, list, i);
                take(world, with_term(name, list, &affinity_terms[i]));
                n += round == 0;
                assert_int_equal(n_classes(), n);
            }
        }
        for (size_t i = 0; i < COUNT(constraints); i++) {
            maar_autofree char *name = maar_asprintf("%d-%zu", round, i);
            take(world, with_constraint(name, &constraints[i]));
            n += round == 0;
            assert_int_equal(n_classes(), n);
        }
    }
    assert_int_equal(n, 1 + 4 * COUNT(affinity_terms) + COUNT(constraints));
}

static void class_owns_its_affinity_and_spread(void **state)
{
    (void)state;
    struct maar_record *record = with_term("p", 2, &affinity_terms[0]);
    char **texts = maar_arena_calloc(record->arena, 5, sizeof *texts);
    static const char *const contents[] = {"app", "x", "zone", "ns-1", "team"};
    for (size_t i = 0; i < 5; i++)
        texts[i] = maar_arena_strdup(record->arena, contents[i]);
    const char *const *texts_of = (const char *const *)texts;
    struct maar_requirement *requirement = maar_arena_calloc(record->arena, 2, sizeof *requirement);
    requirement[0] = (struct maar_requirement){
        .key = texts[0], .op = MAAR_OP_IN, .n_values = 1, .values = texts_of + 1};
    requirement[1] = (struct maar_requirement){.key = texts[4], .op = MAAR_OP_EXISTS};
    struct maar_affinity_term *term = maar_arena_calloc(record->arena, 1, sizeof *term);
    *term = (struct maar_affinity_term){7, texts[2],     {true, 1, requirement},
                                        1, texts_of + 3, {true, 1, requirement + 1}};
    record->pod.spec.pod_anti_affinity_required.terms = term;
    struct maar_spread_constraint *constraint =
        maar_arena_calloc(record->arena, 1, sizeof *constraint);
    constraint->topology_key = texts[2];
    constraint->selector = term->selector;
    record->pod.spec.n_spread = 1;
    record->pod.spec.spread = constraint;
    take(world, record); /* and its arena is gone */

    const struct maar_pod_spec *spec = pod(world, "p")->cls->spec;
    const struct maar_affinity_term *own = &spec->pod_anti_affinity_required.terms[0];
    assert_int_equal(own->weight, 7);
    assert_string_equal(own->topology_key, "zone");
    assert_string_equal(own->namespaces[0], "ns-1");
    assert_string_equal(own->selector.requirements[0].values[0], "x");
    assert_string_equal(own->namespace_selector.requirements[0].key, "team");
    assert_ptr_equal(own->topology_key, spec->spread[0].topology_key);
    assert_ptr_equal(own->selector.requirements[0].key,
                     spec->spread[0].selector.requirements[0].key);
}

static void selector_of_a_pod_splits_the_classes_of_others(void **state)
{
    (void)state;
    for (int list = 0; list < 5; list++) {
        maar_world_destroy(world);
        world = maar_world_create(NULL);
        take(world, on_node(labelled("a", "app", "x"), "n1", MAAR_POD_RUNNING));
        take(world, make_node("n1", 4000, 8 * GI));
        take(world, labelled("b", "app", "y"));
        take(world, labelled("c", "index", "1"));
        take(world, labelled("d", "index", "2"));
        assert_int_equal(n_classes(), 1);
        /* Its own label is read, too: it comes into a class that already has it. */
        struct maar_record *record = list < 4 ? with_term("p", list, &affinity_terms[4])
                                              : with_constraint("p", &constraints[8]);
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "app", "z");
        take(world, record);
        assert_int_equal(n_classes(), 4);
        assert_string_equal(pod(world, "a")->cls->labels[0].value, "x");
        assert_string_equal(pod(world, "b")->cls->labels[0].value, "y");
        assert_string_equal(pod(world, "p")->cls->labels[0].value, "z");
        assert_ptr_equal(pod(world, "c")->cls, pod(world, "d")->cls);
        assert_balanced(world);
    }
}

/* A key is forgotten before the next session when nobody reads it any more, unless a plugin does. */
static void selector_that_goes_splits_no_longer(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        take(world, on_node(labelled("a", "app", "x"), "n1", MAAR_POD_RUNNING));
        take(world, make_node("n1", 4000, 8 * GI));
        take(world, labelled("b", "app", "y"));
        take(world, with_term("p", 2, &affinity_terms[4]));
        take(world, with_constraint("q", &constraints[8]));
        if (kept)
            maar_world_project_label(world, "app");
        take_end(world, plain("p"));
        maar_world_prepare(world);
        assert_ptr_not_equal(pod(world, "a")->cls, pod(world, "b")->cls);
        take(world, plain("q")); /* loses its constraint */
        maar_world_prepare(world);
        assert_int_equal(n_classes(), kept ? 3 : 1);
        assert_int_equal(pod(world, "a")->cls->n_labels, kept);
        assert_int_equal(pod(world, "a")->cls->n_tasks, kept ? 1 : 3);
        assert_balanced(world);
        /* It comes back. */
        take(world, with_term("p", 0, &affinity_terms[4]));
        assert_string_equal(pod(world, "b")->cls->labels[0].value, "y");
        take_end(world, plain("p"));
        take_end(world, plain("q"));
    }
}

/* The pod's own update brings the selector: its class moves while it is on its way into another. */
static void selector_that_comes_with_an_update_splits_too(void **state)
{
    (void)state;
    take(world, labelled("a", "app", "x"));
    take(world, labelled("p", "app", "x"));
    struct maar_record *record = with_term("p", 2, &affinity_terms[4]);
    set_labels(record, &record->pod.n_labels, &record->pod.labels, "app", "x");
    take(world, record);
    assert_int_equal(n_classes(), 2);
    assert_int_equal(pod(world, "a")->cls->n_labels, 1);
    assert_int_equal(pod(world, "p")->cls->n_labels, 1);
    assert_ptr_equal(pod(world, "a")->cls->labels[0].value, pod(world, "p")->cls->labels[0].value);
}

static void selector_of_namespaces_and_invalid_ones_split_nothing(void **state)
{
    (void)state;
    static const struct maar_requirement invalid = {.key = "app", .op = MAAR_OP_INVALID};
    static const struct maar_affinity_term term = {.selector = {true, 1, &invalid}};
    take(world, labelled("a", "app", "x"));
    take(world, labelled("b", "app", "y"));
    take(world, with_term("p", 0, &affinity_terms[9]));
    take(world, with_term("q", 0, &term));
    assert_ptr_equal(pod(world, "a")->cls, pod(world, "b")->cls);
}

static void class_is_split_by_whatever_a_policy_can_see(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*change)(struct maar_record *);
    } rows[] = {
        {"cpu", change_cpu},
        {"a request of zero", change_gpu_zero},
        {"namespace", change_ns},
        {"node selector", change_selector},
        {"required affinity without terms", change_required},
        {"preferred affinity", change_preferred},
        {"toleration", change_toleration},
        {"annotation", change_annotation},
        {"unsupported part", change_unsupported},
        {"overhead", change_overhead},
        {"priority class", change_priority_class},
    };
    take(world, plain("p"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_record *record = plain("other");
        rows[i].change(record);
        take(world, record);
        if (pod(world, "other")->cls == pod(world, "p")->cls)
            fail_msg("%s does not split", rows[i].name);
        assert_int_equal(n_classes(), 2);
        /* And the pod finds back when the difference goes. */
        take(world, plain("other"));
        assert_ptr_equal(pod(world, "other")->cls, pod(world, "p")->cls);
        assert_int_equal(n_classes(), 1);
    }
    assert_int_equal(pod(world, "p")->cls->n_tasks, 2);
}

static void class_is_not_split_by_facts_of_single_pods(void **state)
{
    (void)state;
    take(world, plain("p"));
    struct maar_record *record = labelled("other", "index", "7");
    record->pod.has_priority = true;
    record->pod.priority = 9;
    record->pod.role = "worker";
    record->pod.n_gates = 1;
    record->pod.nominated_node = "n1";
    record->created_ns = 99 * MAAR_SECOND_NS;
    take(world, record);
    assert_ptr_equal(pod(world, "other")->cls, pod(world, "p")->cls);
}

static void class_is_split_by_labels_that_a_selector_reads(void **state)
{
    (void)state;
    take(world, plain("none"));
    take(world, labelled("a", "app", "x"));
    take(world, labelled("b", "app", "x"));
    take(world, labelled("c", "app", "y"));
    assert_int_equal(n_classes(), 1);
    maar_world_project_label(world, "app");
    assert_int_equal(n_classes(), 3);
    assert_ptr_equal(pod(world, "a")->cls, pod(world, "b")->cls);
    assert_ptr_not_equal(pod(world, "a")->cls, pod(world, "c")->cls);
    assert_string_equal(pod(world, "c")->cls->labels[0].value, "y");
    assert_int_equal(pod(world, "none")->cls->n_labels, 0);
    assert_int_equal(pod(world, "c")->cls->request.v[MAAR_DIM_CPU], 1000);
    /* Asked twice it is the same; pods that come later fall in. */
    maar_world_project_label(world, "app");
    take(world, labelled("d", "app", "y"));
    assert_ptr_equal(pod(world, "c")->cls, pod(world, "d")->cls);
    assert_int_equal(n_classes(), 3);
    /* Other labels still do not split. */
    take(world, labelled("e", "index", "1"));
    assert_ptr_equal(pod(world, "none")->cls, pod(world, "e")->cls);
}

/* ---- what is best effort ---- */

static void class_is_best_effort_when_it_asks_for_nothing(void **state)
{
    (void)state;
    take(world, make_pod("nothing", "g", 0, 0));
    assert_true(pod(world, "nothing")->cls->best_effort);
    struct maar_record *record = make_pod("zero", "g", 0, 0);
    set_amount(record, &record->pod.containers[0].requests, "cpu", 0);
    take(world, record);
    assert_true(pod(world, "zero")->cls->best_effort);
    record = make_pod("card", "g", 0, 0);
    set_amount(record, &record->pod.containers[0].requests, "nvidia.com/gpu", 1);
    take(world, record);
    assert_false(pod(world, "card")->cls->best_effort);
    assert_int_equal(pod(world, "nothing")->cls->request.v[MAAR_DIM_PODS], 1);
}

/* ---- lifetimes ---- */

static void class_and_label_set_go_with_their_last_pod(void **state)
{
    (void)state;
    size_t n_strings = maar_strings_n(world->strings);
    take(world, labelled("a", "app", "x"));
    take(world, labelled("b", "app", "x"));
    assert_int_equal(maar_map_n(world->label_sets), 1);
    take_end(world, labelled("a", "app", "x"));
    assert_int_equal(maar_map_n(world->label_sets), 1);
    assert_int_equal(n_classes(), 1);
    take_end(world, labelled("b", "app", "x"));
    assert_int_equal(maar_map_n(world->label_sets), 0);
    assert_int_equal(n_classes(), 0);
    assert_int_equal(maar_map_n(world->jobs_by_name), 0);
    assert_int_equal(maar_strings_n(world->strings), n_strings);
}

static void everything_goes_with_its_last_user(void **state)
{
    (void)state;
    take(world, make_queue("q", ""));
    size_t n_strings = maar_strings_n(world->strings);
    for (int round = 0; round < 3; round++) {
        struct maar_record *record = make_node("n1", 1000, GI);
        set_labels(record, &record->node.n_labels, &record->node.labels, "zone", "a");
        take(world, record);
        record = make_group("g", "q", 1);
        set_role(record, "worker", 1);
        take(world, record);
        record = on_node(labelled("p", "app", "x"), "n1", MAAR_POD_RUNNING);
        record->pod.role = "worker";
        record->pod.nominated_node = "n1";
        take(world, record);
        take(world, on_node(plain("late"), "nowhere", MAAR_POD_RUNNING));
        take_end(world, make_node("n1", 1000, GI));
        take_end(world, make_group("g", "q", 1));
        take_end(world, plain("p"));
        take_end(world, plain("late"));
        assert_int_equal(maar_strings_n(world->strings), n_strings);
        assert_int_equal(maar_map_n(world->waiting_nodes), 0);
        assert_int_equal(maar_map_n(world->tasks_by_uid), 0);
    }
}

static void class_slot_is_used_again_under_another_id(void **state)
{
    (void)state;
    take(world, plain("p"));
    uint32_t slot = pod(world, "p")->cls->slot;
    uint64_t id = maar_class_entry(pod(world, "p")->cls)->id;
    take_end(world, plain("p"));
    take(world, make_pod("q", "g", 7, 7));
    assert_int_equal(pod(world, "q")->cls->slot, slot);
    assert_true(maar_class_entry(pod(world, "q")->cls)->id != id);
}

static void class_texts_are_those_of_the_cluster(void **state)
{
    (void)state;
    struct maar_record *record = plain("p");
    change_selector(record);
    take(world, record);
    record = make_node("n1", 1000, GI);
    set_labels(record, &record->node.n_labels, &record->node.labels, "disk", "ssd");
    take(world, record);
    const struct maar_node_facts *facts = &world->nodes.facts[maar_world_node(world, "n1")];
    assert_ptr_equal(pod(world, "p")->cls->spec->node_selector[0].key, facts->labels[0].key);
    assert_ptr_equal(pod(world, "p")->cls->spec->node_selector[0].value, facts->labels[0].value);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(class_is_split_by_whatever_a_policy_can_see),
        TEST(class_is_split_by_each_part_of_affinity_and_spread),
        TEST(class_owns_its_affinity_and_spread),
        TEST(selector_of_a_pod_splits_the_classes_of_others),
        TEST(selector_that_goes_splits_no_longer),
        TEST(selector_that_comes_with_an_update_splits_too),
        TEST(selector_of_namespaces_and_invalid_ones_split_nothing),
        TEST(class_is_not_split_by_facts_of_single_pods),
        TEST(class_is_split_by_labels_that_a_selector_reads),
        TEST(class_is_best_effort_when_it_asks_for_nothing),
        TEST(class_and_label_set_go_with_their_last_pod),
        TEST(everything_goes_with_its_last_user),
        TEST(class_slot_is_used_again_under_another_id),
        TEST(class_texts_are_those_of_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
