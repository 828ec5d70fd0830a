/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin overcommit: the gate before the cluster. */

#include "fake_view.h"

static struct fake *f;
static struct maar_queue *queue;
static uint32_t node;

static void begin(bool compatibility, const char *factor, int64_t cpu, int64_t memory, int64_t gpu)
{
    const char *pairs[] = {"overcommit-factor", factor, NULL};
    f = fake_new("overcommit", factor ? pairs : NULL);
    f->view.compatibility = compatibility;
    queue = fake_queue(f, "q", 1);
    node = fake_node(f, "n1", cpu, memory, 110, gpu);
}

static struct maar_job *job_asking(const char *name, uint8_t phase, int64_t cpu, int64_t memory,
                                   int64_t gpu)
{
    struct maar_job *job = fake_job(f, queue, name, 1);
    job->phase = phase;
    job->has_min_resources = true;
    job->min_resources = fake_resource(f, cpu, memory, 0, gpu, -1);
    return job;
}

static enum maar_vote enqueueable(const struct maar_job *job)
{
    return f->plugin->hooks.job_enqueueable(f->self, &f->view, job);
}

/* E-oc-1 */
static void overcommit_admits_up_to_the_total_times_the_factor(void **state)
{
    (void)state;
    begin(false, NULL, 10000, 10 * GI, 0);
    fake_task(f, NULL, fake_class(f, 5000, 5 * GI, 0, 0), MAAR_TASK_RUNNING, node);
    job_asking("waiting", MAAR_PHASE_INQUEUE, 3000, 3 * GI, -1);
    struct maar_job *job = job_asking("new", MAAR_PHASE_PENDING, 4000, 4 * GI, -1);
    fake_open(f);
    assert_int_equal(enqueueable(job), MAAR_PERMIT);
    assert_int_equal(f->n_events, 0);
    job->min_resources.v[MAAR_DIM_CPU] = 4001;
    assert_int_equal(enqueueable(job), MAAR_REJECT);
    assert_string_equal(f->event_reason, "Unschedulable");
    assert_string_equal(f->event_message, "resource in cluster is overused: overused cpu");
    job->min_resources.v[MAAR_DIM_MEMORY] = 4 * GI + 1;
    assert_int_equal(enqueueable(job), MAAR_REJECT);
    assert_string_equal(f->event_message,
                        "resource in cluster is overused: overused cpu, overused memory");
    /* What nobody offers; extended resources count as well. */
    job->min_resources = fake_resource(f, 1, -1, 0, 1, -1);
    assert_int_equal(enqueueable(job), MAAR_REJECT);
    assert_string_equal(f->event_message,
                        "resource in cluster is overused: overused nvidia.com/gpu");
    fake_free(f);
}

static void overcommit_what_was_let_in_counts_until_undone(void **state)
{
    (void)state;
    begin(false, "1", 10000, 10 * GI, 0);
    struct maar_job *first = job_asking("first", MAAR_PHASE_PENDING, 6000, -1, -1);
    struct maar_job *second = job_asking("second", MAAR_PHASE_PENDING, 5000, -1, -1);
    fake_open(f);
    size_t mark = f->n_saved;
    f->plugin->hooks.on_enqueued(f->self, &f->view, first);
    assert_int_equal(enqueueable(second), MAAR_REJECT);
    fake_undo(f, mark);
    assert_int_equal(enqueueable(second), MAAR_PERMIT);
    fake_free(f);
}

/* E-oc-2 */
static void overcommit_factor(void **state)
{
    (void)state;
    static const struct {
        const char *factor;
        int64_t fits;
        size_t n_warnings;
    } rows[] = {{NULL, 12000, 0},  {"0.8", 12000, 1}, {"1", 10000, 0},
                {"2.5", 25000, 0}, {"-1", 12000, 1},  {"nan", 12000, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(false, rows[i].factor, 10000, GI, 0);
        struct maar_job *job = job_asking("j", MAAR_PHASE_PENDING, rows[i].fits, -1, -1);
        fake_open(f);
        assert_int_equal(f->n_log, rows[i].n_warnings);
        assert_int_equal(enqueueable(job), MAAR_PERMIT);
        job->min_resources.v[0]++;
        assert_int_equal(enqueueable(job), MAAR_REJECT);
        fake_free(f);
    }
}

/* E-oc-3 */
static void overcommit_admits_jobs_that_ask_for_nothing(void **state)
{
    (void)state;
    begin(false, NULL, 1000, GI, 0);
    fake_task(f, NULL, fake_class(f, 9000, 9 * GI, 0, 0), MAAR_TASK_RUNNING, node);
    struct maar_job *job = job_asking("empty", MAAR_PHASE_PENDING, -1, -1, -1);
    fake_open(f);
    assert_int_equal(enqueueable(job), MAAR_PERMIT);
    job->has_min_resources = false;
    assert_int_equal(enqueueable(job), MAAR_PERMIT);
    fake_free(f);
}

/* E-oc-4, and that a waiting job holds all of its minimum whatever runs already. */
static void overcommit_reservations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint8_t phase;
        int n_running, n_gated;
        int64_t held;
    } rows[] = {
        {"running below its minimum", MAAR_PHASE_RUNNING, 2, 0, 0},
        {"running with its minimum", MAAR_PHASE_RUNNING, 3, 0, 3000},
        {"inqueue", MAAR_PHASE_INQUEUE, 2, 0, 6000},
        {"inqueue with gated pods", MAAR_PHASE_INQUEUE, 2, 2, 4000},
        {"pending", MAAR_PHASE_PENDING, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(false, "1", 20000, 20 * GI, 0);
        struct maar_job *job = job_asking("j", rows[i].phase, 6000, -1, -1);
        struct maar_class *cls = fake_class(f, 1000, 0, 0, 0);
        job->min_available = 3;
        fake_tasks(f, job, cls, MAAR_TASK_RUNNING, node, (size_t)rows[i].n_running);
        for (int k = 0; k < rows[i].n_gated; k++)
            fake_task(f, job, cls, MAAR_TASK_PENDING, MAAR_NO_NODE)->gated = true;
        int64_t left = 20000 - 1000 * rows[i].n_running - rows[i].held;
        struct maar_job *asker = job_asking("asker", MAAR_PHASE_PENDING, left, -1, -1);
        fake_open(f);
        if (enqueueable(asker) != MAAR_PERMIT)
            fail_msg("%s: holds too much", rows[i].name);
        asker->min_resources.v[0]++;
        if (enqueueable(asker) != MAAR_REJECT)
            fail_msg("%s: holds too little", rows[i].name);
        fake_free(f);
    }
}

/* S14 and S10: what can never run keeps nobody out. */
static void overcommit_impossible_job_holds_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t min;
        int n_pods, n_running;
        int64_t cpu;
        bool futile;
    } rows[] = {
        {"a pod larger than any node", 1, 1, 0, 7000, true},
        {"more members than slots", 6, 6, 0, 4000, true},
        {"as many as there are slots", 5, 6, 0, 4000, false},
        {"members that run count once", 6, 6, 1, 4000, true},
        {"two a node", 6, 6, 0, 3000, false},
        {"pods are still to come", 6, 5, 0, 7000, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int mode = 0; mode < 2; mode++) {
            begin(mode, "1", 6000, 20 * GI, 0);
            for (int n = 1; n < 5; n++)
                fake_node(f, "n", 6000, 20 * GI, 110, 0);
            /* A node that is gone offers nothing. */
            uint32_t dead = fake_node(f, "dead", 64000, 20 * GI, 110, 0);
            f->live[0] &= ~(UINT64_C(1) << dead);
            struct maar_job *job = job_asking("j", MAAR_PHASE_INQUEUE, 30000 + 64000, -1, -1);
            struct maar_class *cls = fake_class(f, rows[i].cpu, 0, 0, 0);
            job->min_available = rows[i].min;
            for (int k = 0; k < rows[i].n_pods; k++)
                fake_task(f, job, cls,
                          k < rows[i].n_running ? MAAR_TASK_RUNNING : MAAR_TASK_PENDING,
                          k < rows[i].n_running ? node : MAAR_NO_NODE);
            struct maar_job *asker = job_asking("asker", MAAR_PHASE_PENDING, 1, -1, -1);
            fake_open(f);
            enum maar_vote want = rows[i].futile && !mode ? MAAR_PERMIT : MAAR_REJECT;
            if (enqueueable(asker) != want)
                fail_msg("%s, mode %d", rows[i].name, mode);
            fake_free(f);
        }
    }
}

/* Roles of unlike pods: each class has its own slots. */
static void overcommit_impossible_is_judged_by_class(void **state)
{
    (void)state;
    begin(false, "1", 6000, 20 * GI, 0);
    struct maar_job *job = job_asking("j", MAAR_PHASE_INQUEUE, 6000, -1, -1);
    job->min_available = 2;
    fake_task(f, job, fake_class(f, 1000, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_task(f, job, fake_class(f, 9000, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    struct maar_job *asker = job_asking("asker", MAAR_PHASE_PENDING, 1, -1, -1);
    fake_open(f);
    assert_int_equal(enqueueable(asker), MAAR_PERMIT);
    fake_free(f);

    begin(false, "1", 6000, 20 * GI, 0);
    job = job_asking("j", MAAR_PHASE_INQUEUE, 6000, -1, -1);
    job->min_available = 1;
    fake_task(f, job, fake_class(f, 9000, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_task(f, job, fake_class(f, 1000, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    asker = job_asking("asker", MAAR_PHASE_PENDING, 1, -1, -1);
    fake_open(f);
    assert_int_equal(enqueueable(asker), MAAR_REJECT);
    fake_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overcommit_admits_up_to_the_total_times_the_factor),
        cmocka_unit_test(overcommit_what_was_let_in_counts_until_undone),
        cmocka_unit_test(overcommit_factor),
        cmocka_unit_test(overcommit_admits_jobs_that_ask_for_nothing),
        cmocka_unit_test(overcommit_reservations),
        cmocka_unit_test(overcommit_impossible_job_holds_nothing),
        cmocka_unit_test(overcommit_impossible_is_judged_by_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
