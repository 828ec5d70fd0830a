/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Namespaces: one object for all classes in it, in whatever order pods and Namespaces come and go. */

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

/* Labelled team=VALUE; NULL: no label. */
static struct maar_record *space(const char *name, const char *team)
{
    struct maar_record *record = make_record(MAAR_KIND_NAMESPACE, "", name);
    if (team)
        set_labels(record, &record->space.n_labels, &record->space.labels, "team", team);
    return record;
}

static const char *team_of(const char *name)
{
    const struct maar_namespace *of = pod(world, name)->cls->space;
    return of->n_labels ? of->labels[0].value : "";
}

static void classes_of_a_namespace_share_its_labels(void **state)
{
    (void)state;
    take(world, make_pod("small", "g", 1, GI));
    take(world, make_pod("large", "g", 1000, GI));
    assert_ptr_equal(pod(world, "small")->cls->space, pod(world, "large")->cls->space);
    assert_string_equal(pod(world, "small")->cls->space->name, "ns");
    assert_ptr_equal(pod(world, "small")->cls->space->name, pod(world, "small")->cls->ns);
    assert_string_equal(team_of("small"), "");
    assert_true(take(world, space("ns", "blue")));
    assert_string_equal(team_of("small"), "blue");
    assert_string_equal(team_of("large"), "blue");
    assert_true(take(world, space("ns", "red")));
    assert_string_equal(team_of("small"), "red");
    assert_true(take_end(world, space("ns", "red")));
    assert_string_equal(team_of("small"), "");
}

static void only_labels_of_a_namespace_with_pods_matter(void **state)
{
    (void)state;
    assert_false(take(world, space("empty", NULL)));
    assert_false(take(world, space("empty", "blue")));
    take(world, make_pod("p", "g", 1, GI));
    assert_false(take(world, space("ns", NULL)));
    assert_true(take(world, space("ns", "blue")));
    assert_false(take(world, space("ns", "blue")));
    assert_false(take(world, space("other", NULL)));
    assert_false(take_end(world, space("unknown", NULL)));
    take_end(world, make_pod("p", "g", 1, GI));
    assert_false(take(world, space("ns", "red")));
}

static void namespace_goes_with_object_and_last_class(void **state)
{
    (void)state;
    take(world, make_queue("q", ""));
    size_t n_strings = maar_strings_n(world->strings);
    for (int round = 0; round < 2; round++) {
        take(world, make_pod("p", "g", 1, GI));
        take(world, space("ns", "blue"));
        assert_int_equal(maar_map_n(world->namespaces), 1);
        if (round == 0)
            take_end(world, space("ns", "blue"));
        take_end(world, make_pod("p", "g", 1, GI));
        assert_int_equal(maar_map_n(world->namespaces), round);
        take_end(world, space("ns", "blue"));
        assert_int_equal(maar_map_n(world->namespaces), 0);
        assert_int_equal(maar_strings_n(world->strings), n_strings);
    }
    take(world, space("left", "over")); /* the world frees it */
}

static void namespace_stays_with_classes_that_a_projection_splits(void **state)
{
    (void)state;
    struct maar_record *record = make_pod("p", "g", 1, GI);
    set_labels(record, &record->pod.n_labels, &record->pod.labels, "app", "x");
    take(world, record);
    take(world, space("ns", "blue"));
    take_end(world, space("ns", "blue"));
    take(world, space("ns", "red"));
    maar_world_project_label(world, "app");
    assert_int_equal(pod(world, "p")->cls->n_labels, 1);
    assert_string_equal(team_of("p"), "red");
    assert_int_equal(maar_namespace_entry(pod(world, "p")->cls->space)->n_classes, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(classes_of_a_namespace_share_its_labels),
        TEST(only_labels_of_a_namespace_with_pods_matter),
        TEST(namespace_goes_with_object_and_last_class),
        TEST(namespace_stays_with_classes_that_a_projection_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
