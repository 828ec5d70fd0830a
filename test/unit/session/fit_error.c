/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The texts that Volcano's users parse: why no node fits, why a gang waits (3.4.4, items 46 to 50). */

#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_policy *policy;
static struct maar_session session;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 64000, 64 * GI));
    policy = fake_policy(true);
    session = (struct maar_session){0};
    maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_session_close(&session);
    maar_session_fini(&session);
    fake_policy_free(policy);
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

/* ---- one pod ---- */

static void fit_text_counts_and_sorts_its_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *reasons[12];
        uint32_t n_nodes;
        const char *want;
    } rows[] = {
        /* Item 46 */
        {"no node at all", {NULL}, 0, "0/0 nodes are unavailable"},
        {"nothing recorded", {NULL}, 3, "0/3 nodes are unavailable"},
        {"one",
         {"node(s) pod number exceeded", NULL},
         1,
         "0/1 nodes are unavailable: 1 node(s) pod number exceeded."},
        {"counted",
         {"node(s) resource fit failed", "node(s) pod number exceeded",
          "node(s) resource fit failed", NULL},
         3,
         "0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 node(s) resource fit "
         "failed."},
        /* Item 48: sorted as texts, so that 10 comes before 2. */
        {"ten before two",
         {"x", "x", "y", "y", "y", "y", "y", "y", "y", "y", "y", NULL},
         12,
         "0/12 nodes are unavailable: 10 y, 2 x."},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_reasons reasons;
        maar_reasons_init(&reasons, session.arena);
        for (size_t k = 0; rows[i].reasons[k]; k++)
            maar_reasons_add(&reasons, rows[i].reasons[k]);
        if (!strcmp(rows[i].name, "ten before two"))
            maar_reasons_add(&reasons, "y");
        assert_string_equal(maar_reasons_fit_text(&reasons, rows[i].n_nodes), rows[i].want);
        maar_reasons_fini(&reasons);
    }
}

static void reasons_are_joined_in_their_own_order(void **state)
{
    (void)state;
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session.arena);
    assert_string_equal(maar_reasons_join(&reasons), "");
    maar_reasons_add(&reasons, "b");
    maar_reasons_add(&reasons, "a");
    maar_reasons_add_n(&reasons, "never", 0);
    assert_string_equal(maar_reasons_join(&reasons), "a, b");
    maar_reasons_fini(&reasons);
}

/* ---- gangs ---- */

static const char *fit_error(const char *name)
{
    static char buffer[1024];
    return maar_job_fit_error(&session, job(world, name), buffer, sizeof buffer);
}

static void gang_of(int n, int32_t min)
{
    take(world, make_group("g", "q", min));
    for (int i = 1; i <= n; i++) {
        maar_autofree char *name = maar_asprintf("task-%d", i);
        take(world, make_pod(name, "g", 100, 0));
    }
}

/* Plans the tasks first … last and gives the plan up. */
static void plan_in_vain(int first, int last, bool pipelined)
{
    struct maar_statement *statement = maar_statement_begin(&session);
    for (int i = first; i <= last; i++) {
        maar_autofree char *name = maar_asprintf("task-%d", i);
        assert_int_equal(maar_statement_place(statement, pod(world, name), 0, pipelined), 0);
    }
    maar_statement_discard(statement);
}

/* Members arrive between sessions: nothing of that is undone. */
static void between_sessions(void)
{
    world->undo = NULL;
}

/* Item 48 */
static void gang_text_tells_state_plan_and_origin(void **state)
{
    (void)state;
    between_sessions();
    gang_of(6, 6);
    world->undo = &session.undo;
    plan_in_vain(1, 3, false);
    maar_session_refuse_task(&session, pod(world, "task-6"),
                             "0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 node(s) "
                             "resource fit failed.");
    assert_string_equal(
        fit_error("g"),
        "pod group is not ready, 6 Pending, 6 minAvailable; Pending: 3 Schedulable, 3 "
        "Unschedulable. "
        "Origin reason is task-6: 0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 "
        "node(s) resource fit failed.");
}

static void gang_text_names_the_first_refused_task(void **state)
{
    (void)state;
    between_sessions();
    gang_of(3, 3);
    world->undo = &session.undo;
    maar_session_refuse_task(&session, pod(world, "task-3"), "three");
    maar_session_refuse_task(&session, pod(world, "task-2"), "two");
    assert_string_equal(fit_error("g"),
                        "pod group is not ready, 3 Pending, 3 minAvailable; Pending: "
                        "3 Unschedulable. Origin reason is task-2: two");
    /* What was said of the whole job goes first. */
    maar_session_refuse_job(&session, job(world, "g"), "the queue is full");
    assert_string_equal(fit_error("g"),
                        "pod group is not ready, 3 Pending, 3 minAvailable; Pending: "
                        "3 Unschedulable. Origin reason is: the queue is full");
}

static void gang_text_of_states(void **state)
{
    (void)state;
    between_sessions();
    gang_of(12, 3);
    for (int i = 2; i <= 11; i++) {
        maar_autofree char *name = maar_asprintf("task-%d", i);
        maar_world_move(world, pod(world, name), MAAR_TASK_RUNNING, 0);
    }
    maar_world_move(world, pod(world, "task-12"), MAAR_TASK_FAILED, MAAR_NO_NODE);
    assert_string_equal(fit_error("g"), "pod group is ready, 1 Failed, 1 Pending, 10 Running, 3 "
                                        "minAvailable; Pending: 1 Unschedulable");
    take_end(world, make_pod("task-1", "g", 100, 0));
    assert_string_equal(fit_error("g"), "pod group is ready, 1 Failed, 10 Running, 3 minAvailable");
    world->undo = &session.undo;
}

/* Item 50: what a discarded plan had in mind counts, until the next plan. */
static void task_reason_remembers_the_last_plan(void **state)
{
    (void)state;
    between_sessions();
    gang_of(3, 3);
    world->undo = &session.undo;
    const char *reason, *message;
    maar_task_reason(&session, pod(world, "task-1"), &reason, &message);
    assert_string_equal(reason, "Unschedulable");
    assert_string_equal(message, "");
    plan_in_vain(1, 1, false);
    plan_in_vain(2, 2, true);
    maar_session_refuse_task(&session, pod(world, "task-3"), "no node");
    static const struct {
        const char *name, *reason, *message;
    } rows[] = {
        {"task-1", "Schedulable",
         "Pod ns/task-1 can possibly be assigned to n1, once minAvailable is satisfied"},
        {"task-2", "Unschedulable",
         "Pod ns/task-2 can possibly be assigned to n1, once resource is released and minAvailable "
         "is satisfied"},
        {"task-3", "Unschedulable", "no node"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maar_task_reason(&session, pod(world, rows[i].name), &reason, &message);
        assert_string_equal(reason, rows[i].reason);
        assert_string_equal(message, rows[i].message);
    }
    /* A quiet rewind leaves the memory alone. */
    struct maar_statement *statement = maar_statement_begin(&session);
    size_t mark = maar_statement_mark(statement);
    assert_int_equal(maar_statement_place(statement, pod(world, "task-3"), 0, false), 0);
    maar_statement_rewind(statement, mark, true);
    maar_statement_discard(statement);
    maar_task_reason(&session, pod(world, "task-3"), &reason, &message);
    assert_string_equal(message, "no node");
}

static void task_reason_is_forgotten_with_the_session(void **state)
{
    (void)state;
    between_sessions();
    gang_of(1, 1);
    world->undo = &session.undo;
    plan_in_vain(1, 1, false);
    maar_session_refuse_job(&session, job(world, "g"), "not now");
    maar_session_close(&session);
    maar_session_fini(&session);
    maar_session_open(&session, world, policy, NULL, 2 * MAAR_SECOND_NS);
    assert_string_equal(
        fit_error("g"),
        "pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fit_text_counts_and_sorts_its_reasons),
        TEST(reasons_are_joined_in_their_own_order),
        TEST(gang_text_tells_state_plan_and_origin),
        TEST(gang_text_names_the_first_refused_task),
        TEST(gang_text_of_states),
        TEST(task_reason_remembers_the_last_plan),
        TEST(task_reason_is_forgotten_with_the_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
