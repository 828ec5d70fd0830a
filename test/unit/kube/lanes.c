/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"

static struct maar_lane_item *add(struct maar_lanes *lanes, enum maar_write_kind kind,
                                  const char *name)
{
    struct maar_lane_item *item = maar_calloc(1, sizeof *item);

    item->write = maar_write_create(kind, "ns", name, "uid");
    maar_lanes_add(lanes, item);
    return item;
}

static void end(struct maar_lanes *lanes, struct maar_lane_item *item)
{
    maar_lanes_finish(lanes, item);
    maar_write_destroy(item->write);
    free(item);
}

static void a_lane_is_first_in_first_out(void **state)
{
    struct maar_lanes *lanes = maar_lanes_create();
    struct maar_lane_item *a = add(lanes, MAAR_WRITE_BIND, "a");
    struct maar_lane_item *b = add(lanes, MAAR_WRITE_BIND, "b");
    struct maar_lane_item *c = add(lanes, MAAR_WRITE_EVICT, "c");

    (void)state;
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), a);
    maar_lanes_again(lanes, a);
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), a);
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), b);
    assert_null(maar_lanes_take(lanes, MAAR_WRITE_BIND));
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_EVICT), c);
    end(lanes, a);
    end(lanes, b);
    end(lanes, c);
    maar_lanes_destroy(lanes);
}

static void one_write_of_an_object_is_out_at_a_time(void **state)
{
    struct maar_lanes *lanes = maar_lanes_create();
    struct maar_lane_item *condition = add(lanes, MAAR_WRITE_POD_CONDITION, "p");
    struct maar_lane_item *bind;
    struct maar_lane_item *other;

    (void)state;
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_POD_CONDITION), condition);
    bind = add(lanes, MAAR_WRITE_BIND, "p");
    other = add(lanes, MAAR_WRITE_BIND, "q");
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), other);
    assert_null(maar_lanes_take(lanes, MAAR_WRITE_BIND));
    end(lanes, condition);
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), bind);
    end(lanes, bind);
    end(lanes, other);
    maar_lanes_destroy(lanes);
}

static void held_writes_keep_their_order(void **state)
{
    struct maar_lanes *lanes = maar_lanes_create();
    struct maar_lane_item *items[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        items[i] = add(lanes, MAAR_WRITE_POD_GROUP_STATUS, "g");
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_POD_GROUP_STATUS), items[i]);
        assert_null(maar_lanes_take(lanes, MAAR_WRITE_POD_GROUP_STATUS));
        end(lanes, items[i]);
    }
    maar_lanes_destroy(lanes);
}

static void events_hold_nothing_up(void **state)
{
    struct maar_lanes *lanes = maar_lanes_create();
    struct maar_lane_item *a = add(lanes, MAAR_WRITE_EVENT, "p");
    struct maar_lane_item *b = add(lanes, MAAR_WRITE_EVENT, "p");

    (void)state;
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_EVENT), a);
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_EVENT), b);
    end(lanes, a);
    end(lanes, b);
    maar_lanes_destroy(lanes);
}

static void later_writes_make_earlier_ones_pointless(void **state)
{
    static const struct {
        enum maar_write_kind earlier;
        enum maar_write_kind later;
        bool nominated; /* the earlier one nominates */
        bool condition; /* the earlier one has a condition */
        bool want;
    } rows[] = {
        {MAAR_WRITE_POD_CONDITION, MAAR_WRITE_BIND, false, false, true},
        {MAAR_WRITE_POD_CONDITION, MAAR_WRITE_BIND, true, false, true},
        {MAAR_WRITE_POD_CONDITION, MAAR_WRITE_EVICT, false, false, true},
        {MAAR_WRITE_POD_CONDITION, MAAR_WRITE_POD_CONDITION, false, false, true},
        {MAAR_WRITE_POD_CONDITION, MAAR_WRITE_POD_CONDITION, true, false, false},
        {MAAR_WRITE_BIND, MAAR_WRITE_POD_CONDITION, false, false, false},
        {MAAR_WRITE_BIND, MAAR_WRITE_BIND, false, false, false},
        {MAAR_WRITE_QUEUE_STATUS, MAAR_WRITE_QUEUE_STATUS, false, false, true},
        {MAAR_WRITE_POD_GROUP_STATUS, MAAR_WRITE_POD_GROUP_STATUS, false, false, true},
        {MAAR_WRITE_POD_GROUP_STATUS, MAAR_WRITE_POD_GROUP_STATUS, false, true, false},
        {MAAR_WRITE_EVENT, MAAR_WRITE_EVENT, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_lanes *lanes = maar_lanes_create();
        struct maar_lane_item *earlier = add(lanes, rows[i].earlier, "x");
        struct maar_lane_item *later;

        if (rows[i].nominated)
            earlier->write->pod_condition.nominated_node = "n";
        if (rows[i].condition)
            earlier->write->pod_group_status.has_condition = true;
        assert_false(maar_lanes_is_superseded(earlier));
        later = add(lanes, rows[i].later, "x");
        assert_int_equal(maar_lanes_is_superseded(earlier), rows[i].want);
        assert_false(maar_lanes_is_superseded(later));
        for (int k = 0; k < 2; k++)
            assert_non_null(maar_lanes_steal(lanes));
        assert_null(maar_lanes_steal(lanes));
        end(lanes, earlier);
        end(lanes, later);
        maar_lanes_destroy(lanes);
    }
}

static void held_writes_are_found_at_the_end(void **state)
{
    struct maar_lanes *lanes = maar_lanes_create();
    struct maar_lane_item *a = add(lanes, MAAR_WRITE_BIND, "p");
    struct maar_lane_item *b = add(lanes, MAAR_WRITE_BIND, "p");

    (void)state;
    assert_ptr_equal(maar_lanes_take(lanes, MAAR_WRITE_BIND), a);
    assert_null(maar_lanes_take(lanes, MAAR_WRITE_BIND));
    assert_ptr_equal(maar_lanes_steal(lanes), b);
    end(lanes, a);
    end(lanes, b);
    maar_lanes_destroy(lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_is_first_in_first_out),
        cmocka_unit_test(one_write_of_an_object_is_out_at_a_time),
        cmocka_unit_test(held_writes_keep_their_order),
        cmocka_unit_test(events_hold_nothing_up),
        cmocka_unit_test(later_writes_make_earlier_ones_pointless),
        cmocka_unit_test(held_writes_are_found_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
