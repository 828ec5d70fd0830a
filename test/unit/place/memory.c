/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What wakes a refused job and what does not. A gang of one waits for 2 cores on two nodes: n1 would have room but for
 * what runs there, n2 is too small. It is refused, something changes, and the memory is asked in the next session. */

#include "place/place.h"
#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_policy *policy;
static struct maar_place *place;
static struct maar_memory *memory;
static struct maar_session session;
static bool checks;
static uint64_t states[2]; /* what the plugin says of queue q: [gate] */

/* ---- a plugin ---- */

static uint64_t queue_state(void *self, const struct maar_view *view,
                            const struct maar_queue *queue, bool gate)
{
    (void)self;
    (void)view;
    return strcmp(queue->name, "q") == 0 ? states[gate] : 0;
}

/* Pods stay apart from all others. */
static bool is_near(void *self, const struct maar_view *view, const struct maar_task *task,
                    uint32_t node)
{
    (void)self;
    (void)task;
    return view->nodes->n_tasks[node] > 0;
}
MAAR_FILTER_EACH(near_fit, is_near, MAAR_FIT_UNSCHEDULABLE)

static const struct maar_plugin sums = {MAAR_PLUGIN_HEADER, .name = "sums",
                                        .hooks = {.queue_state = queue_state}};
static const struct maar_filter others_filter[] = {{.name = "Near",
                                                    .subject = MAAR_SUBJECT_CLASS,
                                                    .node = MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
                                                    .fit = near_fit}};
static const struct maar_plugin others = {MAAR_PLUGIN_HEADER, .name = "others",
                                          .hooks = {.filters = others_filter, .n_filters = 1}};

/* ---- sessions ---- */

static void open_session(void)
{
    session = (struct maar_session){.memory = memory, .check_memory = checks};
    maar_session_open(&session, world, policy, place, MAAR_SECOND_NS);
}

static void close_session(void)
{
    maar_session_close(&session);
    maar_session_fini(&session);
}

static struct maar_job *gang(void)
{
    return job(world, "g");
}

static void refuse(enum maar_refusal refusal, bool looked_at_nodes)
{
    maar_session_job(&session, gang())->looked_at_nodes = looked_at_nodes;
    maar_memory_note(&session, gang(), refusal);
}

static bool is_held(enum maar_refusal refusal)
{
    open_session();
    bool held = maar_memory_holds(&session, gang(), refusal);
    close_session();
    return held;
}

static int setup(void **state)
{
    (void)state;
    checks = false;
    states[0] = states[1] = 1;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_queue("other", ""));
    take(world, make_node("n1", 4000, 64 * GI));
    take(world, make_node("n2", 1000, 64 * GI));
    take(world, make_group("filler", "other", 1));
    take(world, on_node(make_pod("f0", "filler", 3000, GI), "n1", MAAR_POD_RUNNING));
    take(world, make_group("g", "q", 1));
    take(world, make_pod("p0", "g", 2000, GI));
    policy = fake_policy(false);
    policy->remembers = policy->remembers_gate = true;
    fake_list(policy, 0, &sums, EVERY_HOOK, NULL);
    place = maar_place_create();
    memory = maar_memory_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_memory_destroy(memory);
    maar_place_destroy(place);
    fake_policy_free(policy);
    maar_world_destroy(world);
    return 0;
}

/* ---- changes ---- */

static void nothing(void)
{
}

static void filler_ends(void)
{
    take_end(world, make_pod("f0", "filler", 3000, GI));
}

/* Then n1 has half a core more, which is still too little. */
static void filler_shrinks(void)
{
    filler_ends();
    take(world, on_node(make_pod("f1", "filler", 2500, GI), "n1", MAAR_POD_RUNNING));
}

static void small_node_fills(void)
{
    take(world, on_node(make_pod("f1", "filler", 1000, GI), "n2", MAAR_POD_RUNNING));
}

/* More touches than there are nodes. */
static void small_node_bustles(void)
{
    for (int i = 0; i < 4; i++) {
        maar_autofree char *name = maar_asprintf("b%d", i);
        take(world, on_node(make_pod(name, "filler", 100, GI), "n2", MAAR_POD_RUNNING));
        take_end(world, make_pod(name, "filler", 100, GI));
    }
}

static void bustle_and_filler_ends(void)
{
    small_node_bustles();
    filler_ends();
}

static void node_comes(void)
{
    take(world, make_node("n3", 8000, 64 * GI));
}

static void node_goes(void)
{
    take_end(world, make_node("n2", 1000, 64 * GI));
}

static void node_gets_label(void)
{
    struct maar_record *record = make_node("n2", 1000, 64 * GI);
    set_labels(record, &record->node.n_labels, &record->node.labels, "disk", "ssd");
    take(world, record);
}

static void neighbour_comes(void)
{
    take(world, make_group("h", "q", 1));
    take(world, make_pod("h0", "h", 5000, GI));
}

static void sums_change(void)
{
    states[0]++;
}

static void gate_changes(void)
{
    states[1]++;
}

static void other_queue_changes(void)
{
    struct maar_record *record = make_queue("other", "");
    record->queue.weight = 7;
    take(world, record);
}

static void minimum_changes(void)
{
    take(world, make_group("g", "q", 2));
}

static void member_comes(void)
{
    take(world, make_pod("p1", "g", 2000, GI));
}

static void member_goes(void)
{
    take_end(world, make_pod("p0", "g", 2000, GI));
}

static void policy_changes(void)
{
    policy->generation++;
}

/* Refused while looking at nodes, before looking at them, at the gate. */
enum where {
    AT_NODES,
    AT_ROOM,
    AT_GATE,
};

static bool holds_after(enum where where, void (*change)(void))
{
    enum maar_refusal refusal = where == AT_GATE ? MAAR_REFUSAL_GATE : MAAR_REFUSAL_TURN;
    open_session();
    refuse(refusal, where == AT_NODES);
    close_session();
    change();
    return is_held(refusal);
}

static void what_wakes_a_refused_job(void **state)
{
    static const struct {
        const char *name;
        void (*change)(void);
        bool held[3]; /* by where it was refused */
    } rows[] = {
        {"nothing", nothing, {true, true, true}},
        {"room on a node", filler_ends, {false, true, true}},
        {"too little room on a node", filler_shrinks, {true, true, true}},
        {"a node too small fills", small_node_fills, {true, true, true}},
        {"coming and going on it", small_node_bustles, {true, true, true}},
        {"coming, going and room", bustle_and_filler_ends, {false, true, true}},
        {"a node comes", node_comes, {false, false, false}},
        {"a node goes", node_goes, {false, false, false}},
        {"a label", node_gets_label, {false, false, false}},
        {"another job of the queue", neighbour_comes, {true, true, true}},
        {"the queue's sums", sums_change, {false, false, true}},
        {"its sums at the gate", gate_changes, {true, true, false}},
        {"another queue's object", other_queue_changes, {false, false, false}},
        {"its own minimum", minimum_changes, {false, false, false}},
        {"a member comes", member_comes, {false, false, false}},
        {"a member goes", member_goes, {false, false, false}},
        {"another policy", policy_changes, {false, false, false}},
    };
    teardown(state);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int where = AT_NODES; where <= AT_GATE; where++) {
            setup(state);
            bool held = holds_after((enum where)where, rows[i].change);
            if (held != rows[i].held[where])
                fail_msg("%s: refused at %d: %s", rows[i].name, where, held ? "held" : "woken");
            teardown(state);
        }
    }
    setup(state);
}

static void memory_lasts_until_it_wakes(void **state)
{
    (void)state;
    open_session();
    refuse(MAAR_REFUSAL_TURN, true);
    close_session();
    for (int i = 0; i < 3; i++)
        assert_true(is_held(MAAR_REFUSAL_TURN));
    filler_ends();
    assert_false(is_held(MAAR_REFUSAL_TURN));
    /* It was to be tried then: what was known is gone, also when all is as before. */
    take(world, on_node(make_pod("f0", "filler", 3000, GI), "n1", MAAR_POD_RUNNING));
    assert_false(is_held(MAAR_REFUSAL_TURN));
}

static void each_kind_of_refusal_is_its_own(void **state)
{
    (void)state;
    open_session();
    refuse(MAAR_REFUSAL_TURN, true);
    close_session();
    assert_false(is_held(MAAR_REFUSAL_OVERUSED));
    open_session();
    refuse(MAAR_REFUSAL_GATE, false);
    close_session();
    assert_false(is_held(MAAR_REFUSAL_TURN));
}

/* ---- what cannot be remembered ---- */

static void policy_is_opaque(void)
{
    policy->remembers = false;
}

static void compatible(void)
{
    policy->conf->compatibility_volcano = true;
}

static void member_is_nominated(void)
{
    pod(world, "p0")->nominated_node = 0;
}

static void member_is_best_effort(void)
{
    take(world, make_pod("p1", "g", 0, 0));
}

static void member_looks_at_others(void)
{
    fake_list(policy, 0, &others, EVERY_HOOK, NULL);
}

static void classes_are_many(void)
{
    for (int i = 0; i < 40; i++) {
        maar_autofree char *name = maar_asprintf("c%d", i);
        take(world, make_pod(name, "g", 2000 + i, GI));
    }
}

static void some_refusals_are_not_remembered(void **state)
{
    static void (*const reasons[])(void) = {policy_is_opaque,       compatible,
                                            member_is_nominated,    member_is_best_effort,
                                            member_looks_at_others, classes_are_many};
    teardown(state);
    for (size_t i = 0; i < COUNT(reasons); i++) {
        setup(state);
        reasons[i]();
        if (holds_after(AT_NODES, nothing))
            fail_msg("reason %zu", i);
        teardown(state);
    }
    setup(state);
}

/* As in a full retry. */
static void session_without_memory_tries_everything(void **state)
{
    (void)state;
    assert_true(holds_after(AT_NODES, nothing));
    struct maar_memory *kept = memory;
    memory = NULL;
    assert_false(is_held(MAAR_REFUSAL_TURN));
    memory = kept;
    assert_false(is_held(MAAR_REFUSAL_TURN));
    assert_true(holds_after(AT_NODES, nothing));
}

static void check_demands_the_same_refusal(void **state)
{
    (void)state;
    assert_true(holds_after(AT_NODES, nothing));
    checks = true;
    open_session();
    assert_false(maar_memory_holds(&session, gang(), MAAR_REFUSAL_TURN));
    refuse(MAAR_REFUSAL_TURN, true);
    maar_session_close(&session);
    assert_int_equal(session.n_memory_errors, 0);
    maar_session_fini(&session);
    /* Now nobody refuses it. */
    open_session();
    assert_false(maar_memory_holds(&session, gang(), MAAR_REFUSAL_TURN));
    maar_session_close(&session);
    assert_int_equal(session.n_memory_errors, 1);
    maar_session_fini(&session);
    /* What is not remembered may come out as it likes. */
    filler_ends();
    open_session();
    assert_false(maar_memory_holds(&session, gang(), MAAR_REFUSAL_TURN));
    maar_session_close(&session);
    assert_int_equal(session.n_memory_errors, 0);
    maar_session_fini(&session);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_wakes_a_refused_job),
        TEST(memory_lasts_until_it_wakes),
        TEST(each_kind_of_refusal_is_its_own),
        TEST(some_refusals_are_not_remembered),
        TEST(session_without_memory_tries_everything),
        TEST(check_demands_the_same_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
