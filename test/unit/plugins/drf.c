/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin drf: dominant shares order jobs and choose victims. */

#include "fake_view.h"

static struct fake *f;
static struct maar_queue *queue;

static int setup(void **state)
{
    (void)state;
    f = fake_new("drf", NULL);
    queue = fake_queue(f, "q", 1);
    fake_node(f, "n1", 16000, 64 * GI, 1000, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_free(f);
    return 0;
}

static struct maar_job *job_holding(const char *name, int64_t cpu, int64_t memory, int n)
{
    struct maar_job *job = fake_job(f, queue, name, 1);
    struct maar_class *cls = fake_class(f, cpu, memory, 0, 0);
    fake_tasks(f, job, cls, MAAR_TASK_RUNNING, 0, (size_t)n);
    return job;
}

static int order(const struct maar_job *l, const struct maar_job *r)
{
    return f->plugin->hooks.job_order(f->self, &f->view, l, r);
}

/* E-drf-1 */
static void drf_smallest_dominant_share_goes_first(void **state)
{
    (void)state;
    struct maar_job *a = job_holding("a", 4000, 4 * GI, 1);
    struct maar_job *b = job_holding("b", 2000, 16 * GI, 1);
    struct maar_job *c = job_holding("c", 1000, 8 * GI, 1);
    fake_open(f);
    assert_int_equal(order(c, a), -1);
    assert_int_equal(order(b, c), 1);
    assert_int_equal(order(a, b), 0);
}

static void drf_pods_are_a_dimension(void **state)
{
    (void)state;
    f->columns[0][MAAR_DIM_PODS][0] = 4;
    struct maar_job *many = job_holding("many", 0, 0, 2);
    struct maar_job *big = job_holding("big", 4000, GI, 1);
    fake_open(f);
    assert_int_equal(order(big, many), -1);
}

static void drf_pipelined_tasks_count_as_held(void **state)
{
    (void)state;
    struct maar_job *a = job_holding("a", 1000, GI, 1), *b = job_holding("b", 1000, GI, 1);
    struct maar_class *cls = fake_class(f, 1000, GI, 0, 0);
    struct maar_task *task = fake_task(f, a, cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_open(f);
    assert_int_equal(order(a, b), 0);
    fake_move(f, task, MAAR_TASK_PIPELINED, 0);
    assert_int_equal(order(a, b), 1);
    fake_move(f, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(order(a, b), 0);
    fake_move(f, b->tasks[0], MAAR_TASK_RELEASING, 0);
    assert_int_equal(order(a, b), 1);
}

/* E-drf-2 */
static void drf_victims_leave_their_job_no_poorer(void **state)
{
    (void)state;
    struct maar_job *a = job_holding("a", 1000, 0, 4);
    struct maar_job *b = job_holding("b", 2000, 0, 1);
    struct maar_task *evictor =
        fake_task(f, b, fake_class(f, 1000, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    fake_open(f);
    char text[FAKE_MAX + 1];
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, a->tasks, 4, text),
                        "1000");
    /* A refused candidate stays taken off: with a poorer preemptor two go. */
    evictor->job = fake_job(f, queue, "c", 1);
    evictor->cls = fake_class(f, 2000, 0, 0, 0);
    fake_recount(f);
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, a->tasks, 4, text),
                        "1100");
    evictor->job = NULL;
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, a->tasks, 4, text),
                        "0000");
}

static void drf_candidates_without_job_are_skipped(void **state)
{
    (void)state;
    struct maar_job *a = job_holding("a", 4000, 0, 2);
    struct maar_class *cls = fake_class(f, 1000, 0, 0, 0);
    struct maar_task *evictor =
        fake_task(f, fake_job(f, queue, "c", 1), cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
    struct maar_task *candidates[] = {
        fake_task(f, NULL, cls, MAAR_TASK_RUNNING, 0),
        fake_task(f, fake_job(f, NULL, "gone", 1), cls, MAAR_TASK_RUNNING, 0), a->tasks[0]};
    fake_open(f);
    char text[FAKE_MAX + 1];
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, candidates, 3, text),
                        "001");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(drf_smallest_dominant_share_goes_first), TEST(drf_pods_are_a_dimension),
        TEST(drf_pipelined_tasks_count_as_held),      TEST(drf_victims_leave_their_job_no_poorer),
        TEST(drf_candidates_without_job_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
