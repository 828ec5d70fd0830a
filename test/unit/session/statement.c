/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Statements: a plan leaves as writes when it is committed, holds its room until the session's end when it is kept, and
 * leaves nothing when it is discarded, in plugins neither. */

#include <errno.h>

#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_policy *policy;
static struct maar_session session;

/* A plugin that counts in rows of its own and can refuse a node at the last moment. */
struct rows {
    int64_t n;
    char filler[40];
};
static bool refuses;

static void count(const struct maar_view *view, const struct maar_task *task, int64_t sign)
{
    struct rows *places[] = {(struct rows *)(void *)view->session_row,
                             (struct rows *)(void *)view->node_rows + task->node,
                             (struct rows *)(void *)view->job_rows + task->job->slot,
                             (struct rows *)(void *)view->queue_rows + task->job->queue->slot};
    for (size_t i = 0; i < COUNT(places); i++) {
        if (i == 1 && task->node == MAAR_NO_NODE)
            continue;
        view->host->touch(view->session, places[i], sizeof *places[i]);
        places[i]->n += sign;
        memset(places[i]->filler, (int)places[i]->n, sizeof places[i]->filler);
    }
}

static void on_allocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    count(view, task, 1);
}

static void on_deallocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    count(view, task, -1);
}

static int reserve(void *self, const struct maar_view *view, const struct maar_task *task,
                   uint32_t node, struct maar_assignment *assignment, struct maar_reasons *reasons)
{
    (void)self;
    (void)assignment;
    (void)reasons;
    (void)node;
    count(view, task, 100);
    return refuses ? -ENOSPC : 0;
}

static const struct maar_plugin counting = {
    MAAR_PLUGIN_HEADER,
    .name = "counting",
    .node_row_size = sizeof(struct rows),
    .job_row_size = sizeof(struct rows),
    .queue_row_size = sizeof(struct rows),
    .session_row_size = sizeof(struct rows),
    .hooks = {.on_allocate = on_allocate, .on_deallocate = on_deallocate, .reserve = reserve},
};

static const struct rows *session_row(void)
{
    return (const struct rows *)(const void *)policy->instances[0].view.session_row;
}

static int setup(void **state)
{
    (void)state;
    refuses = false;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 4000, 64 * GI));
    take(world, make_node("n2", 4000, 64 * GI));
    take(world, make_group("g", "q", 2));
    take(world, make_group("h", "q", 1));
    take(world, make_pod("a", "g", 1000, GI));
    take(world, make_pod("b", "g", 1000, GI));
    take(world, make_pod("c", "h", 1000, GI));
    take(world, on_node(make_pod("r", "h", 1000, GI), "n2", MAAR_POD_RUNNING));
    policy = fake_policy(false);
    fake_list(policy, 0, &counting, EVERY_HOOK, NULL);
    session = (struct maar_session){.check_undo = true};
    maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(session.n_undo_errors, 0);
    assert_null(session.statement);
    maar_session_fini(&session);
    fake_policy_free(policy);
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static uint32_t node(const char *name)
{
    return maar_world_node(world, name);
}

static void place(struct maar_statement *statement, const char *name, const char *node_name,
                  bool pipelined)
{
    assert_int_equal(maar_statement_place(statement, pod(world, name), node(node_name), pipelined),
                     0);
    assert_balanced(world);
}

static size_t n_writes(enum maar_write_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < session.writes.n; i++)
        n += session.writes.data[i]->kind == kind;
    return n;
}

/* All bytes of the plugin's rows. */
static uint64_t hash_rows(void)
{
    const struct maar_view *view = &policy->instances[0].view;
    uint64_t h = maar_hash_bytes(view->session_row, sizeof(struct rows), 1);
    h = maar_hash_bytes(view->node_rows, 2 * sizeof(struct rows), h);
    h = maar_hash_bytes(view->job_rows, 2 * sizeof(struct rows), h);
    return maar_hash_bytes(view->queue_rows, sizeof(struct rows), h);
}

static void discard_restores_world_and_plugins(void **state)
{
    (void)state;
    uint64_t before = maar_world_hash(world), rows = hash_rows();
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    place(statement, "c", "n1", true);
    assert_int_equal(maar_statement_evict(statement, pod(world, "r"), "test"), 0);
    assert_true(maar_world_hash(world) != before);
    assert_true(hash_rows() != rows);
    maar_statement_discard(statement);
    assert_true(maar_world_hash(world) == before);
    assert_true(hash_rows() == rows);
    maar_session_close(&session);
    assert_int_equal(n_writes(MAAR_WRITE_BIND), 0);
    assert_int_equal(n_writes(MAAR_WRITE_EVICT), 0);
}

static void rewind_restores_what_came_after_the_mark(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    uint64_t inner = maar_world_hash(world), rows = hash_rows();
    size_t mark = maar_statement_mark(statement);
    for (int i = 0; i < 3; i++) {
        place(statement, "b", i % 2 ? "n1" : "n2", false);
        place(statement, "c", "n2", false);
        maar_statement_rewind(statement, mark, i == 0);
        assert_true(maar_world_hash(world) == inner);
        assert_true(hash_rows() == rows);
    }
    maar_statement_discard(statement);
    maar_session_close(&session);
}

static void commit_sends_bindings_and_nothing_else(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    place(statement, "b", "n2", false);
    place(statement, "c", "n1", true);
    maar_statement_commit(statement);
    assert_int_equal(n_writes(MAAR_WRITE_BIND), 2);
    assert_string_equal(session.writes.data[0]->name, "a");
    assert_string_equal(session.writes.data[0]->bind.node, "n1");
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_BINDING);
    assert_int_equal(pod(world, "c")->status, MAAR_TASK_PIPELINED);
    assert_int_equal(session_row()->n, 303);
    maar_session_close(&session);
    /* A pipelined task holds its room until then. */
    assert_int_equal(pod(world, "c")->status, MAAR_TASK_PENDING);
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_BINDING);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 3000);
}

static void keep_holds_the_room_until_the_session_ends(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    place(statement, "b", "n2", true);
    maar_statement_keep(statement);
    assert_int_equal(n_writes(MAAR_WRITE_BIND), 0);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 3000);
    /* A later plan that is given up leaves it alone. */
    uint64_t kept = maar_world_hash(world);
    statement = maar_statement_begin(&session);
    place(statement, "c", "n1", false);
    maar_statement_discard(statement);
    assert_true(maar_world_hash(world) == kept);
    maar_session_close(&session);
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_PENDING);
    assert_int_equal(pod(world, "b")->status, MAAR_TASK_PENDING);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
}

static void commit_takes_along_what_the_job_was_given_before(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    maar_statement_keep(statement);
    statement = maar_statement_begin(&session);
    place(statement, "b", "n2", false);
    maar_statement_commit(statement);
    assert_int_equal(n_writes(MAAR_WRITE_BIND), 2);
    maar_session_close(&session);
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_BINDING);
    assert_int_equal(pod(world, "b")->status, MAAR_TASK_BINDING);
}

static void place_that_a_plugin_refuses_leaves_nothing(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    uint64_t before = maar_world_hash(world), rows = hash_rows();
    refuses = true;
    assert_int_equal(maar_statement_place(statement, pod(world, "b"), node("n1"), false), -ENOSPC);
    assert_true(maar_world_hash(world) == before);
    assert_true(hash_rows() == rows);
    maar_statement_commit(statement);
    assert_int_equal(n_writes(MAAR_WRITE_BIND), 1);
    maar_session_close(&session);
}

static void release_gives_kept_room_back(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", true);
    maar_statement_keep(statement);
    int64_t n = session_row()->n;
    maar_session_release(&session, pod(world, "a"));
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_PENDING);
    assert_int_equal(session_row()->n, n - 1);
    maar_session_release(&session, pod(world, "r"));
    assert_int_equal(pod(world, "r")->status, MAAR_TASK_RUNNING);
    maar_session_close(&session);
}

static void evict_takes_only_what_runs(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    assert_int_equal(maar_statement_evict(statement, pod(world, "a"), "test"), -EINVAL);
    assert_int_equal(maar_statement_evict(statement, pod(world, "r"), "test"), 0);
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n2"), 4000);
    assert_int_equal(maar_statement_evict(statement, pod(world, "r"), "test"), -EINVAL);
    maar_statement_discard(statement);
    assert_int_equal(pod(world, "r")->status, MAAR_TASK_RUNNING);
    maar_session_close(&session);
}

static void statement_that_stays_open_is_discarded_at_the_end(void **state)
{
    (void)state;
    uint64_t before = maar_world_hash(world);
    place(maar_statement_begin(&session), "a", "n1", false);
    maar_session_close(&session);
    assert_int_equal(pod(world, "a")->status, MAAR_TASK_PENDING);
    maar_world_set_phase(world, job(world, "g"), MAAR_PHASE_INQUEUE);
    maar_world_set_phase(world, job(world, "h"), MAAR_PHASE_INQUEUE);
    assert_true(maar_world_hash(world) == before);
}

static void rows_are_zero_when_a_session_opens(void **state)
{
    (void)state;
    struct maar_statement *statement = maar_statement_begin(&session);
    place(statement, "a", "n1", false);
    maar_statement_commit(statement);
    maar_session_close(&session);
    maar_session_fini(&session);
    take(world, make_node("n3", 1000, GI)); /* one row more */
    maar_session_open(&session, world, policy, NULL, 2 * MAAR_SECOND_NS);
    assert_int_equal(session_row()->n, 0);
    const struct maar_view *view = &policy->instances[0].view;
    for (uint32_t i = 0; i < world->nodes.n_slots; i++)
        assert_int_equal(((const struct rows *)(const void *)view->node_rows)[i].n, 0);
    maar_session_close(&session);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(discard_restores_world_and_plugins),
        TEST(rewind_restores_what_came_after_the_mark),
        TEST(commit_sends_bindings_and_nothing_else),
        TEST(keep_holds_the_room_until_the_session_ends),
        TEST(commit_takes_along_what_the_job_was_given_before),
        TEST(place_that_a_plugin_refuses_leaves_nothing),
        TEST(release_gives_kept_room_back),
        TEST(evict_takes_only_what_runs),
        TEST(statement_that_stays_open_is_discarded_at_the_end),
        TEST(rows_are_zero_when_a_session_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
