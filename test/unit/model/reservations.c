/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Reservations: room that a task holds beyond a session, until it is used, given back or expired. */

#include "unit/session/records.h"

#define LATER (100 * MAAR_SECOND_NS)

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 1000, 8 * GI));
    take(world, make_node("n2", 1000, 8 * GI));
    take(world, make_group("g", "q", 1));
    take(world, on_node(make_pod("leaving", "", 1000, GI), "n1", MAAR_POD_RUNNING));
    take(world, make_pod("p", "g", 1000, GI));
    maar_world_reserve(world, pod(world, "p"), maar_world_node(world, "n1"), job(world, "g"),
                       LATER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static void reservation_holds_room_that_is_to_come(void **state)
{
    (void)state;
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_PIPELINED);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 0);
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), -1000);
    take_end(world, make_pod("leaving", "", 1000, GI));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 1000);
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), 0);
}

static void reservation_outlives_news_of_a_pod_that_waits(void **state)
{
    (void)state;
    take(world, make_pod("p", "g", 1000, GI));
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_PIPELINED);
    assert_int_equal(world->reservations.n, 1);
}

static void reservation_expires_at_its_time(void **state)
{
    (void)state;
    assert_int_equal(maar_world_expire(world, LATER - 1), 0);
    assert_int_equal(maar_world_expire(world, LATER), 1);
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_PENDING);
    assert_int_equal(pod(world, "p")->node, MAAR_NO_NODE);
    assert_int_equal(world->reservations.n, 0);
    assert_int_equal(maar_world_expire(world, LATER), 0);
}

static void reservation_is_given_back(void **state)
{
    (void)state;
    maar_world_release(world, pod(world, "p"));
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_PENDING);
    maar_world_release(world, pod(world, "p"));
    assert_int_equal(world->reservations.n, 0);
}

static void reservation_is_replaced_by_the_next(void **state)
{
    (void)state;
    maar_world_reserve(world, pod(world, "p"), maar_world_node(world, "n2"), job(world, "g"),
                       LATER);
    assert_int_equal(world->reservations.n, 1);
    assert_int_equal(pod(world, "p")->node, maar_world_node(world, "n2"));
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), 0);
}

static void reservation_ends_with_its_pod(void **state)
{
    (void)state;
    take_end(world, make_pod("p", "g", 1000, GI));
    assert_int_equal(world->reservations.n, 0);
    assert_int_equal(maar_world_expire(world, LATER), 0);
}

static void reservation_ends_with_its_node(void **state)
{
    (void)state;
    take_end(world, make_node("n1", 1000, 8 * GI));
    assert_int_equal(world->reservations.n, 0);
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_PENDING);
    assert_int_equal(pod(world, "p")->node, MAAR_NO_NODE);
}

static void reservation_ends_when_the_pod_gets_a_node(void **state)
{
    (void)state;
    take(world, on_node(make_pod("p", "g", 1000, GI), "n2", MAAR_POD_PENDING));
    assert_int_equal(world->reservations.n, 0);
    assert_int_equal(pod(world, "p")->status, MAAR_TASK_BOUND);
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), 0);
}

static void reservation_of_a_pod_that_dies_holds_nothing(void **state)
{
    (void)state;
    struct maar_record *record = make_pod("p", "g", 1000, GI);
    record->pod.deleting = true;
    take(world, record);
    assert_int_equal(world->reservations.n, 0);
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reservation_holds_room_that_is_to_come),
        TEST(reservation_outlives_news_of_a_pod_that_waits),
        TEST(reservation_expires_at_its_time),
        TEST(reservation_is_given_back),
        TEST(reservation_is_replaced_by_the_next),
        TEST(reservation_ends_with_its_pod),
        TEST(reservation_ends_with_its_node),
        TEST(reservation_ends_when_the_pod_gets_a_node),
        TEST(reservation_of_a_pod_that_dies_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
