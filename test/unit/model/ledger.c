/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The ledger: one function moves a task, all sums follow, and the undo log takes it back bit for bit. */

#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_undo undo;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("root", ""));
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 4000, 8 * GI));
    take(world, make_node("n2", 4000, 8 * GI));
    struct maar_record *group = make_group("g", "q", 2);
    set_role(group, "head", 1);
    take(world, group);
    for (int i = 0; i < 6; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        struct maar_record *record = make_pod(name, "g", i % 3 ? 500 * i : 0, i % 3 ? GI : 0);
        record->pod.role = i % 2 ? "head" : "worker";
        take(world, record);
    }
    undo = (struct maar_undo){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world->undo = NULL;
    assert_balanced(world);
    maar_world_destroy(world);
    maar_undo_fini(&undo);
    return 0;
}

static uint32_t node(const char *name)
{
    return maar_world_node(world, name);
}

/* What one pod of 1000m and 1 Gi counts for, in each status. */
static void ledger_counts_each_status_where_it_belongs(void **state)
{
    (void)state;
    static const struct {
        enum maar_task_status status;
        bool has_node;
        int64_t idle, future, allocated, pending; /* cpu, against an empty node and job */
    } rows[] = {
        {MAAR_TASK_PENDING, false, 0, 0, 0, 1000},
        {MAAR_TASK_ALLOCATED, true, -1000, -1000, 1000, 0},
        {MAAR_TASK_PIPELINED, true, 0, -1000, 0, 0},
        {MAAR_TASK_BINDING, true, -1000, -1000, 1000, 0},
        {MAAR_TASK_BOUND, true, -1000, -1000, 1000, 0},
        {MAAR_TASK_RUNNING, true, -1000, -1000, 1000, 0},
        {MAAR_TASK_RELEASING, true, -1000, 0, 0, 0},
        {MAAR_TASK_SUCCEEDED, false, 0, 0, 0, 0},
        {MAAR_TASK_FAILED, false, 0, 0, 0, 0},
        {MAAR_TASK_UNKNOWN, true, -1000, -1000, 0, 0},
    };
    take(world, make_queue("q9", ""));
    take(world, make_group("g9", "q9", 1));
    take(world, make_pod("one", "g9", 1000, GI));
    for (size_t i = 0; i < COUNT(rows); i++) {
        maar_world_move(world, pod(world, "one"), rows[i].status,
                        rows[i].has_node ? node("n1") : MAAR_NO_NODE);
        const struct maar_job *g9 = job(world, "g9");
        if (idle(world, MAAR_DIM_CPU, "n1") != 4000 + rows[i].idle ||
            future_idle(world, MAAR_DIM_CPU, "n1") != 4000 + rows[i].future ||
            g9->allocated[MAAR_DIM_CPU] != rows[i].allocated ||
            g9->pending[MAAR_DIM_CPU] != rows[i].pending)
            fail_msg("status %d: idle %lld, future %lld, allocated %lld, pending %lld",
                     rows[i].status, (long long)idle(world, MAAR_DIM_CPU, "n1"),
                     (long long)future_idle(world, MAAR_DIM_CPU, "n1"),
                     (long long)g9->allocated[MAAR_DIM_CPU], (long long)g9->pending[MAAR_DIM_CPU]);
        assert_int_equal(queue(world, "q9")->allocated[MAAR_DIM_CPU], rows[i].allocated);
        assert_int_equal(queue(world, "root")->allocated_subtree[MAAR_DIM_CPU], rows[i].allocated);
        assert_int_equal(g9->n[rows[i].status], 1);
        assert_balanced(world);
    }
}

static void ledger_counts_best_effort_members_while_they_wait(void **state)
{
    (void)state;
    assert_int_equal(job(world, "g")->n_pending_best_effort, 2);
    maar_world_move(world, pod(world, "p0"), MAAR_TASK_ALLOCATED, node("n1"));
    assert_int_equal(job(world, "g")->n_pending_best_effort, 1);
    assert_int_equal(idle(world, MAAR_DIM_PODS, "n1"), 109);
}

static void ledger_says_which_dimensions_somebody_names(void **state)
{
    (void)state;
    struct maar_record *record = make_pod("gpu", "g", 0, 0);
    set_amount(record, &record->pod.containers[0].requests, "nvidia.com/gpu", 0);
    take(world, record);
    uint32_t gpu = maar_world_dim_find(world, "nvidia.com/gpu");
    uint64_t bit = UINT64_C(1) << gpu;
    assert_true(queue(world, "q")->pending_present & bit);
    assert_false(queue(world, "q")->allocated_present & bit);
    maar_world_move(world, pod(world, "gpu"), MAAR_TASK_RUNNING, node("n1"));
    assert_false(queue(world, "q")->pending_present & bit);
    assert_true(queue(world, "q")->allocated_present & bit);
    assert_true(job(world, "g")->allocated_present & bit);
    maar_world_move(world, pod(world, "gpu"), MAAR_TASK_RELEASING, node("n1"));
    assert_false(queue(world, "q")->allocated_present & bit);
}

static void ledger_counts_nodes_with_something_in_releasing(void **state)
{
    (void)state;
    maar_world_move(world, pod(world, "p1"), MAAR_TASK_RELEASING, node("n1"));
    maar_world_move(world, pod(world, "p2"), MAAR_TASK_RELEASING, node("n1"));
    assert_int_equal(world->nodes.n_releasing, 1);
    maar_world_move(world, pod(world, "p2"), MAAR_TASK_RELEASING, node("n2"));
    assert_int_equal(world->nodes.n_releasing, 2);
    maar_world_move(world, pod(world, "p1"), MAAR_TASK_RUNNING, node("n1"));
    assert_int_equal(world->nodes.n_releasing, 1);
}

/* Gated tasks are kept in a row of their own, those with nothing but the queue's gate left out. */
static void ledger_keeps_gated_tasks_apart(void **state)
{
    (void)state;
    struct maar_record *record = make_pod("gated", "g", 100, 0);
    record->pod.n_gates = 1;
    take(world, record);
    record = make_pod("at the queue", "g", 200, 0);
    record->pod.n_gates = 1;
    record->pod.only_queue_gate = true;
    take(world, record);
    assert_int_equal(job(world, "g")->gated[MAAR_DIM_CPU], 100);
    take(world, make_pod("gated", "g", 100, 0));
    assert_int_equal(job(world, "g")->gated[MAAR_DIM_CPU], 0);
}

/* ---- undo ---- */

static const enum maar_task_status steps[] = {MAAR_TASK_ALLOCATED, MAAR_TASK_PIPELINED,
                                              MAAR_TASK_PENDING, MAAR_TASK_RELEASING,
                                              MAAR_TASK_RUNNING};

static void move_at_random(uint32_t *random, int n)
{
    for (int i = 0; i < n; i++) {
        *random = *random * 1664525 + 1013904223;
        maar_autofree char *name = maar_asprintf("p%u", (*random >> 16) % 6);
        enum maar_task_status status = steps[(*random >> 20) % COUNT(steps)];
        maar_world_move(world, pod(world, name), status,
                        status == MAAR_TASK_PENDING ? MAAR_NO_NODE : (*random >> 24) % 2);
    }
}

static void ledger_is_undone_bit_for_bit(void **state)
{
    (void)state;
    uint32_t random = 7;
    move_at_random(&random, 5);
    world->undo = &undo;
    for (int round = 0; round < 200; round++) {
        uint64_t before = maar_world_hash(world);
        size_t mark = undo.entries.n;
        move_at_random(&random, 12);
        maar_world_set_phase(world, job(world, "g"), MAAR_PHASE_RUNNING);
        assert_true(maar_world_hash(world) != before);
        assert_balanced(world);
        maar_world_rewind(world, mark);
        assert_true(maar_world_hash(world) == before);
        assert_balanced(world);
        move_at_random(&random, 1); /* stays, beneath the next mark */
    }
}

static void ledger_is_undone_down_to_a_mark(void **state)
{
    (void)state;
    world->undo = &undo;
    maar_world_move(world, pod(world, "p1"), MAAR_TASK_ALLOCATED, node("n1"));
    uint64_t inner = maar_world_hash(world);
    size_t mark = undo.entries.n;
    maar_world_move(world, pod(world, "p1"), MAAR_TASK_PENDING, MAAR_NO_NODE);
    maar_world_move(world, pod(world, "p2"), MAAR_TASK_ALLOCATED, node("n1"));
    maar_world_rewind(world, mark);
    assert_true(maar_world_hash(world) == inner);
    assert_int_equal(pod(world, "p1")->status, MAAR_TASK_ALLOCATED);
}

static void undo_puts_bytes_back_in_reverse_order(void **state)
{
    (void)state;
    world->undo = &undo;
    char row[] = "abcdef";
    maar_undo_bytes(&undo, row, 3);
    memcpy(row, "xyz", 3);
    maar_undo_bytes(&undo, row + 1, 4);
    memcpy(row + 1, "1234", 4);
    size_t mark = undo.entries.n;
    maar_undo_bytes(&undo, row, sizeof row);
    memset(row, '?', sizeof row - 1);
    maar_world_rewind(world, mark);
    assert_string_equal(row, "x1234f");
    maar_world_rewind(world, 0);
    assert_string_equal(row, "abcdef");
}

/* ---- the check itself ---- */

#define DAMAGE(what, expression)                                                                   \
    do {                                                                                           \
        (expression)++;                                                                            \
        struct maar_text text = MAAR_TEXT_INIT;                                                    \
        if (maar_world_check(world, &text) == 0)                                                   \
            fail_msg("%s is off by one and nobody sees it", what);                                 \
        maar_text_fini(&text);                                                                     \
        (expression)--;                                                                            \
    } while (0)

static void recount_finds_every_sum_that_is_off_by_one(void **state)
{
    (void)state;
    maar_world_move(world, pod(world, "p1"), MAAR_TASK_RUNNING, node("n1"));
    struct maar_job_entry *g = maar_job_entry(job(world, "g"));
    struct maar_queue_entry *q = maar_queue_entry(queue(world, "q"));
    static const char *const columns[] = {"allocatable", "idle", "used", "releasing", "pipelined"};
    for (size_t c = 0; c < COUNT(columns); c++)
        for (uint32_t d = 0; d < 3; d++)
            DAMAGE(columns[c], world->node_columns[c][d][node("n1")]);
    DAMAGE("nonzero cpu", world->node_nonzero_cpu[node("n1")]);
    DAMAGE("nonzero memory", world->node_nonzero_memory[node("n1")]);
    DAMAGE("allocated of the job", g->row_allocated[MAAR_DIM_CPU]);
    DAMAGE("pending of the job", g->row_pending[MAAR_DIM_CPU]);
    DAMAGE("allocated of the queue", q->row_allocated[MAAR_DIM_CPU]);
    DAMAGE("pending of the queue", q->row_pending[MAAR_DIM_CPU]);
    DAMAGE("allocated of the subtree", q->row_subtree[MAAR_DIM_CPU]);
    DAMAGE("members waiting", g->view.n[MAAR_TASK_PENDING]);
    DAMAGE("members running", g->view.n[MAAR_TASK_RUNNING]);
    DAMAGE("members of a role", g->roles.data[0].n[MAAR_TASK_PENDING]);
    DAMAGE("best effort", g->view.n_pending_best_effort);
    DAMAGE("releasing on a node", g->view.n_releasing_on_node);
    DAMAGE("total allocatable", world->total_allocatable[MAAR_DIM_CPU]);
    DAMAGE("total used", world->total_used[MAAR_DIM_CPU]);
    DAMAGE("nodes that release", world->nodes.n_releasing);
    DAMAGE("a place in the node's list", pod_entry(world, "p1")->node_at);
    DAMAGE("gated", g->row_gated[MAAR_DIM_CPU]);
    DAMAGE("best effort of a role", g->roles.data[0].n_pending_best_effort);
}

static void hash_sees_whatever_a_session_may_change(void **state)
{
    (void)state;
    uint64_t before = maar_world_hash(world);
    static const struct {
        const char *pod;
        enum maar_task_status status;
        const char *node;
    } rows[] = {
        {"p1", MAAR_TASK_ALLOCATED, "n1"}, {"p1", MAAR_TASK_ALLOCATED, "n2"},
        {"p1", MAAR_TASK_PIPELINED, "n1"}, {"p2", MAAR_TASK_ALLOCATED, "n1"},
        {"p0", MAAR_TASK_ALLOCATED, "n1"},
    };
    uint64_t seen[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++) {
        maar_world_move(world, pod(world, rows[i].pod), rows[i].status, node(rows[i].node));
        seen[i] = maar_world_hash(world);
        assert_true(seen[i] != before);
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
        maar_world_move(world, pod(world, rows[i].pod), MAAR_TASK_PENDING, MAAR_NO_NODE);
        assert_true(maar_world_hash(world) == before);
    }
    maar_world_set_phase(world, job(world, "g"), MAAR_PHASE_RUNNING);
    assert_true(maar_world_hash(world) != before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ledger_counts_each_status_where_it_belongs),
        TEST(ledger_counts_best_effort_members_while_they_wait),
        TEST(ledger_says_which_dimensions_somebody_names),
        TEST(ledger_counts_nodes_with_something_in_releasing),
        TEST(ledger_keeps_gated_tasks_apart),
        TEST(ledger_is_undone_bit_for_bit),
        TEST(ledger_is_undone_down_to_a_mark),
        TEST(undo_puts_bytes_back_in_reverse_order),
        TEST(recount_finds_every_sum_that_is_off_by_one),
        TEST(hash_sees_whatever_a_session_may_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
