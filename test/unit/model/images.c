/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Images of nodes: each is known once, and a change of how many have one is told to all that have it. */

#include "unit/session/records.h"

static struct maar_world *world;

static struct maar_record *make_node_with(const char *name, const char *const *images, uint32_t n)
{
    struct maar_record *record = make_node(name, 4000, 8 * GI);
    record->node.images = maar_arena_calloc(record->arena, n, sizeof *record->node.images);
    for (uint32_t i = 0; i < n; i++)
        record->node.images[i] = (struct maar_image_record){images[i], 100};
    record->node.n_images = n;
    return record;
}

#define NODE(name, ...)                                                                            \
    make_node_with(name, (const char *const[]){__VA_ARGS__},                                       \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct maar_record *make_pod_of(const char *name, const char *image)
{
    struct maar_record *record = make_pod(name, "g", 1000, GI);
    const char **images = maar_arena_calloc(record->arena, 1, sizeof *images);
    images[0] = image;
    record->pod.spec.images = images;
    record->pod.spec.n_images = 1;
    return record;
}

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, NODE("n1", "a", "b"));
    take(world, NODE("n2", "b", "c"));
    take(world, NODE("n3", "c"));
    take(world, make_node("n4", 4000, 8 * GI));
    take(world, make_queue("q", ""));
    take(world, make_group("g", "q", 1));
    take(world, make_pod_of("p", "b"));
    maar_world_prepare(world);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static uint32_t n_nodes(const char *node, const char *image)
{
    const struct maar_node_facts *facts = &world->nodes.facts[maar_world_node(world, node)];
    for (uint32_t i = 0; i < facts->n_images; i++)
        if (!strcmp(facts->images[i].image->name, image))
            return facts->images[i].image->n_nodes;
    return 0;
}

/* The nodes that were touched since `from`, as digits of their names. */
static const char *touched(uint64_t from)
{
    static char text[16];
    bool seen[8] = {false};
    size_t n = 0;
    for (uint64_t i = from; i < maar_world_touched_end(world); i++)
        seen[world->touched.data[i - world->touched_base] & 7] = true;
    for (uint32_t slot = 0; slot < 8; slot++)
        if (seen[slot])
            text[n++] = world->nodes.facts[slot].name[1];
    text[n] = '\0';
    return text;
}

static void images_are_counted_over_nodes(void **state)
{
    (void)state;
    assert_int_equal(n_nodes("n1", "a"), 1);
    assert_int_equal(n_nodes("n1", "b"), 2);
    assert_int_equal(n_nodes("n2", "c"), 2);
    take_end(world, make_node("n3", 0, 0));
    assert_int_equal(n_nodes("n2", "c"), 1);
    take(world, NODE("n1", "b"));
    assert_int_equal(n_nodes("n1", "a"), 0);
    assert_null(maar_map_find(world->images, "a"));
    assert_int_equal(n_nodes("n1", "b"), 2);
}

static void a_changed_count_touches_all_that_have_the_image(void **state)
{
    (void)state;
    uint64_t from = maar_world_touched_end(world), facts = world->facts_version;
    /* Nobody wakes, and nothing about topology changes. */
    assert_false(take(world, NODE("n4", "b")));
    maar_world_prepare(world);
    assert_string_equal(touched(from), "124");
    assert_int_equal(world->facts_version, facts);
    from = maar_world_touched_end(world);
    assert_false(take(world, NODE("n1", "a")));
    maar_world_prepare(world);
    assert_string_equal(touched(from), "124");
    from = maar_world_touched_end(world);
    assert_false(take(world, NODE("n1", "a")));
    maar_world_prepare(world);
    assert_string_equal(touched(from), "");
}

static void an_image_that_no_class_asks_for_touches_one_node(void **state)
{
    (void)state;
    uint64_t from = maar_world_touched_end(world);
    take(world, NODE("n4", "c"));
    maar_world_prepare(world);
    assert_string_equal(touched(from), "4");
    take(world, make_pod_of("q", "c"));
    from = maar_world_touched_end(world);
    take(world, make_node("n4", 4000, 8 * GI));
    maar_world_prepare(world);
    assert_string_equal(touched(from), "234");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(images_are_counted_over_nodes),
        TEST(a_changed_count_touches_all_that_have_the_image),
        TEST(an_image_that_no_class_asks_for_touches_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
