/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Queues as a tree: parents, cycles, and sums that follow every change of shape. */

#include "unit/session/records.h"

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_node("n1", 64000, 64 * GI));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

/* A running pod in a group of the queue's name. */
static void fill(const char *queue_name, int64_t cpu)
{
    maar_autofree char *name = maar_asprintf("pod of %s", queue_name);
    take(world, make_group(queue_name, queue_name, 1));
    take(world, on_node(make_pod(name, queue_name, cpu, 0), "n1", MAAR_POD_RUNNING));
}

static int64_t subtree(const char *name)
{
    return queue(world, name)->allocated_subtree[MAAR_DIM_CPU];
}

static const char *parent(const char *name)
{
    const struct maar_queue *up = queue(world, name)->parent;
    return up ? up->name : "";
}

static void queue_without_parent_hangs_under_root(void **state)
{
    (void)state;
    take(world, make_queue("q", ""));
    fill("q", 1000);
    assert_string_equal(parent("q"), "");
    take(world, make_queue("root", ""));
    assert_string_equal(parent("q"), "root");
    assert_string_equal(parent("root"), "");
    assert_int_equal(subtree("root"), 1000);
    assert_int_equal(queue(world, "root")->n_children, 1);
    take_end(world, make_queue("root", ""));
    assert_string_equal(parent("q"), "");
    assert_int_equal(subtree("q"), 1000);
}

static void queue_counts_its_descendants(void **state)
{
    (void)state;
    take(world, make_queue("root", ""));
    take(world, make_queue("a", "root"));
    take(world, make_queue("b", "a"));
    take(world, make_queue("c", "b"));
    fill("a", 1);
    fill("b", 10);
    fill("c", 100);
    assert_int_equal(subtree("c"), 100);
    assert_int_equal(subtree("b"), 110);
    assert_int_equal(subtree("a"), 111);
    assert_int_equal(subtree("root"), 111);
    assert_int_equal(queue(world, "a")->allocated[MAAR_DIM_CPU], 1);
    /* A branch moves. */
    take(world, make_queue("b", "root"));
    assert_int_equal(subtree("a"), 1);
    assert_int_equal(subtree("root"), 111);
    /* Its top goes; what hung under it hangs nowhere, and comes back. */
    take_end(world, make_queue("b", "root"));
    assert_string_equal(parent("c"), "");
    assert_int_equal(subtree("root"), 1);
    assert_null(job(world, "b")->queue);
    take(world, make_queue("b", "root"));
    assert_string_equal(parent("c"), "b");
    assert_int_equal(subtree("root"), 111);
}

static void queue_with_unknown_parent_has_none(void **state)
{
    (void)state;
    take(world, make_queue("root", ""));
    take(world, make_queue("q", "later"));
    fill("q", 5);
    assert_string_equal(parent("q"), "");
    assert_int_equal(subtree("root"), 0);
    take(world, make_queue("later", ""));
    assert_string_equal(parent("q"), "later");
    assert_int_equal(subtree("root"), 5);
}

static void queues_in_a_cycle_have_no_parent(void **state)
{
    (void)state;
    take(world, make_queue("root", ""));
    take(world, make_queue("a", "c"));
    take(world, make_queue("b", "a"));
    take(world, make_queue("c", "b"));
    take(world, make_queue("self", "self"));
    fill("a", 1);
    fill("b", 2);
    fill("c", 4);
    fill("self", 8);
    static const char *const names[] = {"a", "b", "c", "self"};
    static const int64_t sums[] = {1, 2, 4, 8};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_string_equal(parent(names[i]), "");
        assert_int_equal(subtree(names[i]), sums[i]);
    }
    /* The cycle opens. */
    take(world, make_queue("a", "root"));
    assert_string_equal(parent("c"), "b");
    assert_int_equal(subtree("root"), 7);
    /* And closes again. */
    take(world, make_queue("a", "c"));
    assert_int_equal(subtree("root"), 0);
    assert_int_equal(subtree("b"), 2);
}

static void queue_keeps_its_sums_while_jobs_change_queues(void **state)
{
    (void)state;
    take(world, make_queue("root", ""));
    take(world, make_queue("a", ""));
    take(world, make_queue("b", ""));
    fill("a", 100);
    take(world, make_group("a", "b", 1));
    assert_int_equal(subtree("a"), 0);
    assert_int_equal(subtree("b"), 100);
    take(world, make_group("a", "nowhere", 1));
    assert_int_equal(subtree("root"), 0);
    take_end(world, make_group("a", "nowhere", 1));
    take(world, make_group("a", "a", 1));
    assert_int_equal(subtree("a"), 100);
    assert_int_equal(queue(world, "b")->n_jobs, 0);
}

static void group_without_queue_belongs_to_the_default_one(void **state)
{
    (void)state;
    take(world, make_queue("default", ""));
    take(world, make_group("g", "", 1));
    assert_ptr_equal(job(world, "g")->queue, queue(world, "default"));
    assert_string_equal(job(world, "g")->queue_name, "default");
}

static void queue_that_cannot_be_read_takes_its_jobs_out_of_the_session(void **state)
{
    (void)state;
    take(world, make_queue("q", ""));
    take(world, make_group("g", "q", 1));
    maar_world_prepare(world);
    assert_int_equal(world->sorted_jobs.n, 1);
    struct maar_record *record = make_queue("q", "");
    record->fault = "spec.weight: cannot be read";
    take(world, record);
    maar_world_prepare(world);
    assert_int_equal(world->sorted_jobs.n, 0);
    take(world, make_queue("q", ""));
    maar_world_prepare(world);
    assert_int_equal(world->sorted_jobs.n, 1);
}

static void sorted_views_go_by_age_then_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t created_s;
    } rows[] = {{"d", 1}, {"b", 2}, {"c", 2}, {"a", 3}};
    for (size_t i = COUNT(rows); i-- > 0;) {
        struct maar_record *record = make_queue(rows[i].name, "");
        record->created_ns = rows[i].created_s * MAAR_SECOND_NS;
        take(world, record);
        record = make_group(rows[i].name, rows[i].name, 1);
        record->created_ns = rows[i].created_s * MAAR_SECOND_NS;
        take(world, record);
    }
    maar_world_prepare(world);
    assert_int_equal(world->sorted_queues.n, COUNT(rows));
    assert_int_equal(world->sorted_jobs.n, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(world->sorted_queues.data[i]->name, rows[i].name);
        assert_string_equal(world->sorted_jobs.data[i]->name, rows[i].name);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(queue_without_parent_hangs_under_root),
        TEST(queue_counts_its_descendants),
        TEST(queue_with_unknown_parent_has_none),
        TEST(queues_in_a_cycle_have_no_parent),
        TEST(queue_keeps_its_sums_while_jobs_change_queues),
        TEST(group_without_queue_belongs_to_the_default_one),
        TEST(queue_that_cannot_be_read_takes_its_jobs_out_of_the_session),
        TEST(sorted_views_go_by_age_then_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
