/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Phases of PodGroups (9b.9) and the counters of gangs (9.4, items 35 to 40). Members are letters: P pending, p pending
 * without requests, i pipelined, A allocated, B binding, b bound, R running, L releasing on a node, l releasing without
 * one, S succeeded, F failed, U unknown. */

#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n", 64000, 64 * GI));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static enum maar_task_status status_of(char letter)
{
    switch (letter) {
    case 'i':
        return MAAR_TASK_PIPELINED;
    case 'A':
        return MAAR_TASK_ALLOCATED;
    case 'B':
        return MAAR_TASK_BINDING;
    case 'b':
        return MAAR_TASK_BOUND;
    case 'R':
        return MAAR_TASK_RUNNING;
    case 'L':
    case 'l':
        return MAAR_TASK_RELEASING;
    case 'S':
        return MAAR_TASK_SUCCEEDED;
    case 'F':
        return MAAR_TASK_FAILED;
    case 'U':
        return MAAR_TASK_UNKNOWN;
    default:
        return MAAR_TASK_PENDING;
    }
}

/* The job "g" with these members and no others. */
static struct maar_job *gang(int32_t min, enum maar_phase phase, const char *members)
{
    static size_t n_before = 64;
    for (size_t i = 0; i < n_before; i++) {
        maar_autofree char *name = maar_asprintf("m%zu", i);
        take_end(world, make_pod(name, "g", 1, 1));
    }
    struct maar_record *record = make_group("g", "q", min);
    record->pod_group.phase = phase;
    take(world, record);
    n_before = strlen(members);
    for (size_t i = 0; i < n_before; i++) {
        maar_autofree char *name = maar_asprintf("m%zu", i);
        take(world, make_pod(name, "g", members[i] == 'p' ? 0 : 100, 0));
        bool has_node = strchr("iABbRLU", members[i]) != NULL;
        maar_world_move(world, pod(world, name), status_of(members[i]),
                        has_node ? maar_world_node(world, "n") : MAAR_NO_NODE);
    }
    return job(world, "g");
}

/* ---- phases ---- */

static void phase_follows_from_members_and_minimum(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t min;
        const char *members;
        enum maar_phase before;
        bool unschedulable;
        enum maar_phase plain, compatible;
    } rows[] = {
#define SAME(phase) phase, phase
        {"releasing on a node", 1, "L", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_RUNNING)},
        {"running and releasing", 2, "RL", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_RUNNING)},
        {"two releasing", 2, "LL", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_RUNNING)},
        {"releasing without node", 2, "lP", MAAR_PHASE_PENDING, false, SAME(MAAR_PHASE_PENDING)},
        {"two succeeded", 2, "SS", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_COMPLETED)},
        {"too few releasing", 2, "L", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_PENDING)},
        {"running and unschedulable", 2, "RP", MAAR_PHASE_RUNNING, true, SAME(MAAR_PHASE_UNKNOWN)},
        {"unschedulable, nothing runs", 2, "PP", MAAR_PHASE_INQUEUE, true,
         SAME(MAAR_PHASE_INQUEUE)},
        /* Item 38: a binding counts once it is confirmed. */
        {"allocated", 2, "AA", MAAR_PHASE_INQUEUE, false, SAME(MAAR_PHASE_INQUEUE)},
        {"binding", 2, "BB", MAAR_PHASE_INQUEUE, false, SAME(MAAR_PHASE_INQUEUE)},
        {"bound", 2, "bb", MAAR_PHASE_INQUEUE, false, SAME(MAAR_PHASE_RUNNING)},
        {"failed count too", 2, "RF", MAAR_PHASE_INQUEUE, false, SAME(MAAR_PHASE_RUNNING)},
        {"all ended", 2, "SF", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_COMPLETED)},
        {"waits at the gate", 2, "PP", MAAR_PHASE_PENDING, false, SAME(MAAR_PHASE_PENDING)},
        {"no phase yet", 2, "PP", MAAR_PHASE_NONE, false, SAME(MAAR_PHASE_PENDING)},
        {"fell below its minimum", 3, "RR", MAAR_PHASE_RUNNING, false, SAME(MAAR_PHASE_PENDING)},
        {"unknown group, too few", 3, "R", MAAR_PHASE_UNKNOWN, false, SAME(MAAR_PHASE_PENDING)},
        {"unknown members do not count", 1, "U", MAAR_PHASE_INQUEUE, false,
         SAME(MAAR_PHASE_INQUEUE)},
        /* Item 39, and where we differ. */
        {"no minimum, nothing scheduled", 0, "PP", MAAR_PHASE_INQUEUE, false, MAAR_PHASE_INQUEUE,
         MAAR_PHASE_COMPLETED},
        {"no minimum, no members", 0, "", MAAR_PHASE_PENDING, false, MAAR_PHASE_PENDING,
         MAAR_PHASE_COMPLETED},
        {"some ended, some wait", 1, "SP", MAAR_PHASE_RUNNING, false, MAAR_PHASE_RUNNING,
         MAAR_PHASE_COMPLETED},
#undef SAME
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int compatible = 0; compatible < 2; compatible++) {
            struct maar_policy *policy = fake_policy(compatible);
            struct maar_session session = {.world = world, .policy = policy};
            enum maar_phase got =
                maar_job_phase(&session, gang(rows[i].min, rows[i].before, rows[i].members),
                               rows[i].unschedulable);
            if (got != (compatible ? rows[i].compatible : rows[i].plain))
                fail_msg("%s%s: %d", rows[i].name, compatible ? ", compatible" : "", (int)got);
            fake_policy_free(policy);
        }
    }
}

/* ---- counters ---- */

static void counters_follow_the_members(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t min;
        const char *members;
        bool ready, pipelined, starving;
    } rows[] = {
        /* Item 35: one best-effort and one plain member each pending, pipelined and running. */
        {"mixed, five wanted", 5, "piRPiR", false, true, true},
        {"mixed, three wanted", 3, "piRPiR", true, true, false},
        /* Item 36 */
        {"ready and starving at once", 2, "Rp", true, true, true},
        {"waiting best effort alone", 1, "p", true, true, true},
        {"pipelined is not ready", 1, "i", false, true, false},
        {"pending", 1, "P", false, false, true},
        {"succeeded members count", 2, "RS", true, true, false},
        {"failed members do not", 2, "RF", false, false, true},
        {"releasing members do not", 2, "RL", false, false, true},
        {"binding members count", 2, "bB", true, true, false},
        {"allocated members count", 1, "A", true, true, false},
        {"unknown members do not", 1, "U", false, false, true},
        /* Item 39 */
        {"no minimum", 0, "", true, true, false},
        {"no minimum, waiting", 0, "P", true, true, false},
        {"a negative minimum", -1, "P", true, true, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct maar_job *g = gang(rows[i].min, MAAR_PHASE_INQUEUE, rows[i].members);
        if (maar_job_is_ready(g) != rows[i].ready ||
            maar_job_is_pipelined(g) != rows[i].pipelined ||
            maar_job_is_starving(g) != rows[i].starving)
            fail_msg("%s: %s, %s, %s", rows[i].name, maar_job_is_ready(g) ? "ready" : "not ready",
                     maar_job_is_pipelined(g) ? "pipelined" : "not pipelined",
                     maar_job_is_starving(g) ? "starving" : "not starving");
    }
}

static void counters_have_the_sets_of_their_names(void **state)
{
    (void)state;
    const struct maar_job *g = gang(1, MAAR_PHASE_INQUEUE, "PpiABbRLlSFU");
    assert_int_equal(maar_job_n_allocated(g), 4); /* A B b R */
    assert_int_equal(maar_job_n_ready(g), 5);     /* and S */
    assert_int_equal(maar_job_n_valid(g), 8);     /* and P p i */
    assert_int_equal(maar_job_n_scheduled(g), 4); /* b R S F */
    /* Item 37 */
    assert_int_equal(g->n_releasing_on_node, 1);
    assert_int_equal(g->n_pending_best_effort, 1);
}

static void job_waits_at_the_gate_without_phase_or_pending(void **state)
{
    (void)state;
    static const struct {
        enum maar_phase phase;
        bool want;
    } rows[] = {{MAAR_PHASE_NONE, true},     {MAAR_PHASE_PENDING, true},
                {MAAR_PHASE_INQUEUE, false}, {MAAR_PHASE_RUNNING, false},
                {MAAR_PHASE_UNKNOWN, false}, {MAAR_PHASE_COMPLETED, false}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(maar_job_is_pending(gang(1, rows[i].phase, "P")) == rows[i].want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(phase_follows_from_members_and_minimum),
        TEST(counters_follow_the_members),
        TEST(counters_have_the_sets_of_their_names),
        TEST(job_waits_at_the_gate_without_phase_or_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
