/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The class indexes against the plain path: after whatever happens to nodes and tasks both choose the same node. The
 * hooks are made by hand: a filter of static facts, one of load, a score of load whose answer rises and falls, two
 * normalised ones, and a filter and a score that look at other nodes. */

#include <math.h>

#include "place/place.h"
#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

#define N_NODES 12

static struct maar_world *world;
static struct maar_policy *policy;
static struct maar_place *place;
static struct maar_session session;
static uint32_t random_state;
static bool insane; /* the load score is no number on some nodes */

static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

/* ---- hooks ---- */

static bool is_shut(void *self, const struct maar_view *view, const struct maar_task *task,
                    uint32_t node)
{
    (void)self;
    (void)task;
    return view->nodes->facts[node].unschedulable;
}
MAAR_FILTER_EACH(shut_fit, is_shut, MAAR_FIT_NEVER)

static bool is_crowded(void *self, const struct maar_view *view, const struct maar_task *task,
                       uint32_t node)
{
    (void)self;
    (void)task;
    return view->nodes->n_tasks[node] >= 5;
}
MAAR_FILTER_EACH(crowd_fit, is_crowded, MAAR_FIT_UNSCHEDULABLE)

/* Up to three pods the fuller node is better, then the emptier one. */
static double load_of(void *self, const struct maar_view *view, const struct maar_task *task,
                      uint32_t node)
{
    (void)self;
    double n = view->nodes->n_tasks[node];
    if (insane && node % 3 == 0)
        return node % 2 ? (double)NAN : HUGE_VAL;
    return (n < 3 ? n : 6 - n) + (double)task->cls->request.v[MAAR_DIM_CPU] / 1e6;
}
MAAR_SCORE_EACH(load_score, load_of)

static void label_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    (void)task;
    for (size_t i = 0; i < n; i++) {
        const struct maar_node_facts *facts = &view->nodes->facts[nodes[i]];
        for (uint32_t k = 0; k < facts->n_labels; k++)
            out[i] = *facts->labels[k].value == '-' ? MAAR_RAW_NONE
                                                    : strtol(facts->labels[k].value, NULL, 10);
    }
}

static double label_normalise(void *self, const struct maar_view *view,
                              const struct maar_task *task, int64_t raw, int64_t min, int64_t max)
{
    (void)self;
    (void)view;
    (void)task;
    return max == min ? 1 : 10.0 * (double)(raw - min) / (double)(max - min);
}

static void taint_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    (void)task;
    for (size_t i = 0; i < n; i++)
        out[i] = view->nodes->facts[nodes[i]].n_taints;
}

static double taint_normalise(void *self, const struct maar_view *view,
                              const struct maar_task *task, int64_t raw, int64_t min, int64_t max)
{
    (void)self;
    (void)view;
    (void)task;
    (void)min;
    return max == 0 ? 5 : 5.0 * (double)(max - raw) / (double)max;
}

static bool taint_skip(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    (void)view;
    return task->cls->request.v[MAAR_DIM_CPU] == 500;
}

static const struct maar_filter filters[] = {
    {.name = "Shut", .subject = MAAR_SUBJECT_CLASS, .node = MAAR_NODE_STATIC, .fit = shut_fit},
    {.name = "Crowd",
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
     .fit = crowd_fit},
};
static const struct maar_score scores[] = {
    {.name = "Label",
     .phase = MAAR_SCORE_BATCH,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC,
     .raw = label_raw,
     .normalise = label_normalise},
    {.name = "Load",
     .phase = MAAR_SCORE_NODE,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_LOAD,
     .score = load_score},
    {.name = "Taint",
     .phase = MAAR_SCORE_BATCH,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC,
     .raw = taint_raw,
     .normalise = taint_normalise,
     .skip = taint_skip},
};
static const struct maar_plugin plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "fake",
    .hooks = {.filters = filters, .n_filters = 2, .scores = scores, .n_scores = 3},
};

/* ---- hooks that look at other nodes ---- */

/* Pods on the nodes three slots away. */
static uint32_t n_around(const struct maar_view *view, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t slot = node % 3; slot < view->nodes->n_slots; slot += 3)
        n += slot != node ? view->nodes->n_tasks[slot] : 0;
    return n;
}

static bool is_surrounded(void *self, const struct maar_view *view, const struct maar_task *task,
                          uint32_t node)
{
    (void)self;
    (void)task;
    return n_around(view, node) > 4;
}
MAAR_FILTER_EACH(around_fit, is_surrounded, MAAR_FIT_UNSCHEDULABLE)

/* The small ones ask nobody. */
static bool around_skip(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    (void)view;
    return task->cls->request.v[MAAR_DIM_CPU] == 500;
}

/* Relative to the fullest candidate; nobody around has no part. */
static void around_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                       const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    (void)task;
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = n_around(view, nodes[i]) > most ? n_around(view, nodes[i]) : most;
    for (size_t i = 0; i < n; i++)
        out[i] = n_around(view, nodes[i]) ? most - n_around(view, nodes[i]) : MAAR_RAW_NONE;
}

static const struct maar_filter late_filter[] = {
    {.name = "Around",
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
     .fit = around_fit,
     .skip = around_skip}};
static const struct maar_score late_score[] = {
    {.name = "Around",
     .phase = MAAR_SCORE_BATCH,
     .subject = MAAR_SUBJECT_CLASS,
     .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
     .raw = around_raw,
     .normalise = label_normalise,
     .skip = around_skip}};
static const struct maar_plugin late[] = {
    {MAAR_PLUGIN_HEADER, .name = "filter", .hooks = {.filters = late_filter, .n_filters = 1}},
    {MAAR_PLUGIN_HEADER, .name = "score", .hooks = {.scores = late_score, .n_scores = 1}},
};

/* ---- a world that changes ---- */

static void renew_node(uint32_t i)
{
    maar_autofree char *name = maar_asprintf("n%u", i);
    struct maar_record *record = make_node(name, 500 * (int64_t)(1 + below(8)), 8 * GI);
    static const char *const values[] = {"0", "1", "1", "7", "-"};
    static const struct maar_taint taints[2] = {{"a", "", MAAR_EFFECT_PREFER_NO_SCHEDULE},
                                                {"b", "", MAAR_EFFECT_PREFER_NO_SCHEDULE}};
    if (below(2))
        set_labels(record, &record->node.n_labels, &record->node.labels, "rank", values[below(5)]);
    record->node.n_taints = below(3);
    record->node.taints = maar_arena_calloc(record->arena, 2, sizeof taints[0]);
    memcpy(record->node.taints, taints, sizeof taints);
    record->node.unschedulable = below(8) == 0;
    take(world, record);
}

static const char *const classes[] = {"small", "large", "nothing"};

static void add_pods(void)
{
    static const int64_t cpus[] = {500, 1500, 0};
    take(world, make_group("g", "q", 1));
    for (int i = 0; i < 24; i++) {
        maar_autofree char *name = maar_asprintf("%s-%d", classes[i % 3], i / 3);
        take(world, make_pod(name, "g", cpus[i % 3], i % 3 == 2 ? 0 : GI));
    }
}

static struct maar_task *random_pod(void)
{
    maar_autofree char *name = maar_asprintf("%s-%u", classes[below(3)], below(8));
    return pod(world, name);
}

static void open_session(void)
{
    session = (struct maar_session){0};
    maar_session_open(&session, world, policy, place, MAAR_SECOND_NS);
}

static void close_session(void)
{
    maar_session_close(&session);
    maar_session_fini(&session);
}

static int setup(void **state)
{
    (void)state;
    insane = false;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    add_pods();
    policy = fake_policy(false);
    fake_list(policy, 0, &plugin, EVERY_HOOK, NULL);
    place = maar_place_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_place_destroy(place);
    fake_policy_free(policy);
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

/* Both paths for a pod of each class, in both manners. */
static void compare_paths(const char *when)
{
    static const uint32_t flags[] = {0, MAAR_PLACE_IDLE_ONLY, MAAR_PLACE_BEST_EFFORT};
    for (size_t c = 0; c < COUNT(classes); c++) {
        for (size_t f = 0; f < COUNT(flags); f++) {
            maar_autofree char *name = maar_asprintf("%s-0", classes[c]);
            struct maar_choice fast = maar_index_choose(&session, pod(world, name), flags[f]);
            struct maar_choice plain = maar_scan_choose(&session, pod(world, name), flags[f], NULL);
            if (fast.node != plain.node ||
                (fast.node != MAAR_NO_NODE && fast.pipelined != plain.pipelined))
                fail_msg("seed of %u, %s, %s, flags %u: index %d%s, scan %d%s", random_state, when,
                         name, flags[f], (int)fast.node, fast.pipelined ? " later" : "",
                         (int)plain.node, plain.pipelined ? " later" : "");
        }
    }
}

static void move_something(void)
{
    struct maar_task *task = random_pod();
    static const enum maar_task_status next[] = {MAAR_TASK_ALLOCATED, MAAR_TASK_PIPELINED,
                                                 MAAR_TASK_RUNNING, MAAR_TASK_RELEASING};
    maar_autofree char *name = maar_asprintf("n%u", below(N_NODES));
    uint32_t node = maar_world_node(world, name);
    if (node == MAAR_NO_NODE || below(4) == 0)
        maar_world_move(world, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
    else
        maar_world_move(world, task, next[below(4)], node);
}

static void live_through(uint32_t seed)
{
    random_state = seed;
    for (uint32_t i = 0; i < N_NODES; i++)
        if (below(4))
            renew_node(i);
    for (int s = 0; s < 6; s++) {
        open_session();
        compare_paths("at the opening");
        for (int i = 0; i < 30; i++) {
            size_t mark = session.undo.entries.n;
            move_something();
            compare_paths("after a move");
            if (below(3) == 0) {
                maar_world_rewind(world, mark);
                compare_paths("after a rewind");
            }
        }
        close_session();
        for (uint32_t i = 0; i < 1 + below(3); i++) {
            uint32_t node = below(N_NODES + 2);
            maar_autofree char *name = maar_asprintf("n%u", node);
            if (below(4) == 0)
                take_end(world, make_node(name, 1, 1));
            else
                renew_node(node);
        }
    }
}

static void index_chooses_what_the_scan_chooses(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++)
        live_through(seed);
}

/* With a filter, a score, and both. */
static void index_asks_late_what_looks_at_other_nodes(void **state)
{
    for (int which = 1; which < 4; which++) {
        if (which & 1)
            fake_list(policy, 1, &late[0], EVERY_HOOK, NULL);
        if (which & 2)
            fake_list(policy, 0, &late[1], EVERY_HOOK, NULL);
        for (uint32_t seed = 200; seed < 240; seed++)
            live_through(seed);
        teardown(state);
        setup(state);
    }
}

static void index_takes_no_score_that_is_no_number(void **state)
{
    (void)state;
    insane = true;
    for (uint32_t seed = 100; seed <= 110; seed++)
        live_through(seed);
}

static void score_that_is_no_number_counts_as_none(void **state)
{
    (void)state;
    insane = true;
    take(world, make_node("n0", 4000, 8 * GI)); /* slots 0 and 3: infinite, none */
    for (int i = 1; i < 4; i++) {
        maar_autofree char *name = maar_asprintf("n%d", i);
        take(world, make_node(name, 4000, 8 * GI));
    }
    open_session();
    assert_int_equal(maar_scan_choose(&session, pod(world, "small-0"), 0, NULL).node, 1);
    assert_int_equal(session.n_bad_answers, 2);
    assert_int_equal(maar_index_choose(&session, pod(world, "small-0"), 0).node, 1);
    assert_int_equal(session.n_bad_answers, 4);
    close_session();
}

/* ---- when there is an index ---- */

static void index_serves_only_policies_that_it_can_keep(void **state)
{
    (void)state;
    open_session();
    assert_true(maar_is_indexable(&session));
    policy->has_best_node = true;
    assert_false(maar_is_indexable(&session));
    policy->has_best_node = false;
    policy->indexable = false;
    assert_false(maar_is_indexable(&session));
    policy->indexable = true;
    session.reference = true;
    assert_false(maar_is_indexable(&session));
    session.reference = false;
    session.place = NULL;
    assert_false(maar_is_indexable(&session));
    session.place = place;
    close_session();
}

static void index_is_built_anew_for_another_set_of_plugins(void **state)
{
    (void)state;
    random_state = 3;
    for (uint32_t i = 0; i < N_NODES; i++)
        renew_node(i);
    for (int round = 0; round < 4; round++) {
        open_session();
        compare_paths("with another set of plugins");
        close_session();
        policy->instances[0].created = round % 2;
    }
}

/* ---- declaring too little ---- */

static void crowd_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    (void)task;
    for (size_t i = 0; i < n; i++)
        out[i] = -(int64_t)view->nodes->n_tasks[nodes[i]];
}

/* Prefers nodes that hold less than the fullest other one. */
static double others_of(void *self, const struct maar_view *view, const struct maar_task *task,
                        uint32_t node)
{
    (void)self;
    (void)task;
    uint32_t most = 0;
    for (uint32_t i = 0; i < view->nodes->n_slots; i++)
        if (i != node && view->nodes->n_tasks[i] > most)
            most = view->nodes->n_tasks[i];
    return node == 0 ? most : 1.5;
}
MAAR_SCORE_EACH(others_score, others_of)

static bool is_taken(void *self, const struct maar_view *view, const struct maar_task *task,
                     uint32_t node)
{
    (void)self;
    (void)task;
    return view->nodes->n_tasks[node] > 0;
}
MAAR_FILTER_EACH(taken_fit, is_taken, MAAR_FIT_NEVER)

static const struct maar_filter static_filter[] = {
    {.name = "Taken", .subject = MAAR_SUBJECT_CLASS, .node = MAAR_NODE_STATIC, .fit = taken_fit}};
static const struct maar_score static_raw[] = {{.name = "Crowd",
                                                .phase = MAAR_SCORE_BATCH,
                                                .subject = MAAR_SUBJECT_CLASS,
                                                .node = MAAR_NODE_STATIC,
                                                .raw = crowd_raw,
                                                .normalise = label_normalise}};
static const struct maar_score own_load[] = {{.name = "Others",
                                              .subject = MAAR_SUBJECT_CLASS,
                                              .node = MAAR_NODE_LOAD,
                                              .score = others_score}};
static const struct maar_plugin wrong[] = {
    {MAAR_PLUGIN_HEADER, .name = "filter", .hooks = {.filters = static_filter, .n_filters = 1}},
    {MAAR_PLUGIN_HEADER, .name = "raw", .hooks = {.scores = static_raw, .n_scores = 1}},
    {MAAR_PLUGIN_HEADER, .name = "others", .hooks = {.scores = own_load, .n_scores = 1}},
};

/* Six pods of a class, one after the other, each on the node that this path chooses. */
static char *place_six(const struct maar_plugin *with, bool reference)
{
    struct maar_policy *own = fake_policy(false);
    struct maar_place *own_place = maar_place_create();
    fake_list(own, 0, with, EVERY_HOOK, NULL);
    struct maar_session own_session = {.reference = reference};
    maar_session_open(&own_session, world, own, own_place, MAAR_SECOND_NS);
    struct maar_statement *statement = maar_statement_begin(&own_session);
    const struct maar_task *tasks[6];
    for (int i = 0; i < 6; i++) {
        maar_autofree char *name = maar_asprintf("small-%d", i);
        tasks[i] = pod(world, name);
    }
    maar_place_tasks(statement, job(world, "g"), NULL, tasks, 6, 0);
    struct maar_text text = MAAR_TEXT_INIT;
    for (int i = 0; i < 6; i++)
        maar_text_addf(&text, "%d ", (int)tasks[i]->node);
    maar_statement_discard(statement);
    maar_session_close(&own_session);
    maar_session_fini(&own_session);
    maar_place_destroy(own_place);
    fake_policy_free(own);
    return maar_text_steal(&text);
}

/* That is the plugin's fault; the comparison with the plain path must show it. */
static void plugin_that_declares_too_little_is_caught(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        maar_autofree char *name = maar_asprintf("n%d", i);
        take(world, make_node(name, 8000, 64 * GI));
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        maar_autofree char *fast = place_six(&wrong[i], false);
        maar_autofree char *plain = place_six(&wrong[i], true);
        if (!strcmp(fast, plain))
            fail_msg("%s: both place %s", wrong[i].name, fast);
    }
    maar_autofree char *fast = place_six(&plugin, false);
    maar_autofree char *plain = place_six(&plugin, true);
    assert_string_equal(fast, plain);
}

/* ---- counting slots ---- */

static uint64_t count_slots(const struct maar_resource *request)
{
    uint64_t n = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
        if (!maar_node_is_live(&world->nodes, slot) || world->nodes.facts[slot].unschedulable ||
            world->nodes.n_tasks[slot] >= 5 || !maar_fits_future(&world->nodes, request, slot))
            continue;
        uint64_t fit = UINT64_MAX;
        for (uint32_t d = 0; d < request->n; d++) {
            int64_t now = world->nodes.idle[d][slot],
                    later = maar_node_future_idle(&world->nodes, d, slot);
            int64_t room = now > later ? now : later;
            if (request->v[d] > 0) {
                uint64_t k = room > 0 ? (uint64_t)(room / request->v[d]) : 0;
                fit = k < fit ? k : fit;
            }
        }
        n += fit;
    }
    return n;
}

static void slots_never_count_too_few(void **state)
{
    (void)state;
    random_state = 11;
    for (uint32_t i = 0; i < N_NODES; i++)
        renew_node(i);
    open_session();
    for (int i = 0; i < 60; i++) {
        move_something();
        for (size_t c = 0; c < 2; c++) {
            maar_autofree char *name = maar_asprintf("%s-0", classes[c]);
            const struct maar_task *task = pod(world, name);
            uint64_t all = count_slots(&task->cls->request);
            assert_int_equal(maar_index_slots(&session, task, 1000000), all);
            assert_int_equal(maar_index_slots(&session, task, 3), all < 3 ? all : 3);
        }
    }
    close_session();
}

/* Item 23: cpu and memory are compared even when nothing of them is asked. */
static void node_in_debt_takes_nobody(void **state)
{
    (void)state;
    take(world, on_node(make_pod("r", "g", 1000, GI), "n0", MAAR_POD_RUNNING));
    static const struct {
        const char *name;
        int64_t cpu, memory;
        bool fits;
    } rows[] = {{"room", 1500, 2 * GI, true},
                {"just", 1000, GI, true},
                {"cpu in debt", 999, 2 * GI, false},
                {"memory in debt", 1500, GI - 1, false}};
    struct maar_resource nothing = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        take(world, make_node("n0", rows[i].cpu, rows[i].memory));
        uint32_t slot = maar_world_node(world, "n0");
        if (maar_fits_idle(&world->nodes, &nothing, slot) != rows[i].fits ||
            maar_fits_future(&world->nodes, &nothing, slot) != rows[i].fits)
            fail_msg("%s", rows[i].name);
    }
}

/* Each dimension by itself, for room that is idle and for room that is to come. */
static void node_has_room_when_every_dimension_has(void **state)
{
    (void)state;
    static const char *const dims[] = {"cpu", "memory", "pods", "nvidia.com/gpu"};
    for (size_t i = 0; i < COUNT(dims); i++) {
        struct maar_record *record = make_node("n0", 4000, 4 * GI);
        set_amount(record, &record->node.allocatable, "nvidia.com/gpu", 4);
        /* One of it for the pod that leaves, none for the next. */
        int64_t one = !strcmp(dims[i], "cpu") ? 1000 : !strcmp(dims[i], "memory") ? GI : 1;
        set_amount(record, &record->node.allocatable, dims[i], one);
        take(world, record);
        for (int k = 0; k < 2; k++) {
            record = make_pod(k ? "next" : "leaving", "g", 1000, GI);
            set_amount(record, &record->pod.containers[0].requests, "nvidia.com/gpu", 1);
            if (k == 0) {
                record->pod.deleting = true;
                on_node(record, "n0", MAAR_POD_RUNNING);
            }
            take(world, record);
        }
        const struct maar_resource *request = &pod(world, "next")->cls->request;
        uint32_t slot = maar_world_node(world, "n0");
        if (maar_fits_idle(&world->nodes, request, slot))
            fail_msg("%s is not idle", dims[i]);
        if (!maar_fits_future(&world->nodes, request, slot))
            fail_msg("%s is to come", dims[i]);
        maar_world_move(world, pod(world, "next"), MAAR_TASK_PIPELINED, slot);
        if (maar_fits_future(&world->nodes, request, slot))
            fail_msg("%s was promised", dims[i]);
        take_end(world, make_pod("leaving", "g", 1, 1));
        if (!maar_fits_idle(&world->nodes, request, slot))
            fail_msg("%s is idle", dims[i]);
        take_end(world, make_pod("next", "g", 1, 1));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(index_chooses_what_the_scan_chooses),
        TEST(index_asks_late_what_looks_at_other_nodes),
        TEST(index_takes_no_score_that_is_no_number),
        TEST(score_that_is_no_number_counts_as_none),
        TEST(index_serves_only_policies_that_it_can_keep),
        TEST(index_is_built_anew_for_another_set_of_plugins),
        TEST(plugin_that_declares_too_little_is_caught),
        TEST(slots_never_count_too_few),
        TEST(node_in_debt_takes_nobody),
        TEST(node_has_room_when_every_dimension_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
