/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What the jobs of a queue add up to, and when it is counted again. One node of 8 cores. */

#include "kubernetes/queue_sums.h"
#include "unit/plugins/fake_view.h"

static struct fake *f;
static uint32_t node;
static struct maar_queue *queue;
static struct maar_queue_sums_table table;
static struct maar_class *core; /* 1000 of CPU, 1 Gi */

static int setup(void **state)
{
    (void)state;
    f = fake_new("proportion", NULL);
    node = fake_node(f, "n1", 8000, 64 * GI, 110, 0);
    queue = fake_queue(f, "q", 1);
    core = fake_class(f, 1000, GI, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_queue_sums_fini(&table);
    fake_free(f);
    return 0;
}

static struct maar_job *job_with_min(const char *name, int32_t min, int64_t cpu)
{
    struct maar_job *job = fake_job(f, queue, name, min);
    job->has_min_resources = true;
    job->min_resources = fake_resource(f, cpu, -1, 0, -1, -1);
    return job;
}

static const struct maar_queue_sums *sums(void)
{
    return maar_queue_sums(&table, &f->view, queue);
}

static int64_t cpu(const struct maar_queue_sum *sum)
{
    return sum->v[MAAR_DIM_CPU];
}

static void admitted_jobs_hold_their_minimum(void **state)
{
    (void)state;
    struct maar_job *job = job_with_min("a", 3, 3000);
    fake_tasks(f, job, core, MAAR_TASK_PENDING, MAAR_NO_NODE, 2);
    fake_task(f, job, core, MAAR_TASK_RUNNING, node);
    job_with_min("outside", 1, 500)->takes_part = false;
    job_with_min("asks", 1, 700)->phase = MAAR_PHASE_PENDING;
    fake_recount(f);
    assert_int_equal(cpu(&sums()->admitted), 3000);
    assert_int_equal(cpu(&sums()->waiting), 2000);
    assert_int_equal(cpu(&sums()->running), 0);
    assert_int_equal(sums()->admitted.present, UINT64_C(1) << MAAR_DIM_CPU);
}

static void running_jobs_hold_what_they_lack(void **state)
{
    (void)state;
    struct maar_job *job = job_with_min("a", 1, 3000);
    job->phase = MAAR_PHASE_RUNNING;
    fake_task(f, job, core, MAAR_TASK_RUNNING, node);
    assert_int_equal(cpu(&sums()->running), 2000);
    assert_int_equal(cpu(&sums()->admitted), 0);
    /* More than the minimum is elastic, and nothing is lacking. */
    fake_tasks(f, job, core, MAAR_TASK_RUNNING, node, 4);
    assert_int_equal(cpu(&sums()->running), 0);
    assert_int_equal(cpu(&sums()->elastic), 2000);
    /* Of what the minimum does not name, all is. */
    assert_int_equal(sums()->elastic.v[MAAR_DIM_MEMORY], 5 * GI);
}

static void gated_members_ask_for_nothing(void **state)
{
    (void)state;
    struct maar_job *job = job_with_min("a", 2, 2000);
    fake_tasks(f, job, core, MAAR_TASK_PENDING, MAAR_NO_NODE, 2);
    job->tasks[0]->gated = true;
    fake_recount(f);
    assert_int_equal(cpu(&sums()->gated), 1000);
    assert_int_equal(cpu(&sums()->admitted), 1000);
    assert_int_equal(cpu(&sums()->hopeless_gated), 0);
}

static void pipelined_members_are_added_up(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "a", 1);
    fake_tasks(f, job, core, MAAR_TASK_PIPELINED, node, 3);
    fake_task(f, job, core, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(cpu(&sums()->pipelined), 3000);
}

static void hopeless_jobs_hold_nothing(void **state)
{
    (void)state;
    struct maar_job *job = job_with_min("a", 2, 18000);
    struct maar_class *huge = fake_class(f, 9000, GI, 0, 0);
    fake_tasks(f, job, huge, MAAR_TASK_PENDING, MAAR_NO_NODE, 2);
    job->tasks[0]->gated = true;
    fake_recount(f);
    assert_int_equal(cpu(&sums()->admitted), 0);
    assert_int_equal(cpu(&sums()->hopeless), 18000);
    assert_int_equal(cpu(&sums()->hopeless_gated), 9000);
    assert_int_equal(cpu(&sums()->gated), 0);
    /* Volcano does not look. */
    f->view.compatibility = true;
    fake_recount(f);
    assert_int_equal(cpu(&sums()->admitted), 9000);
    assert_int_equal(cpu(&sums()->hopeless), 0);
    assert_int_equal(cpu(&sums()->gated), 9000);
}

static void counted_again_when_jobs_or_nodes_change(void **state)
{
    (void)state;
    struct maar_job *job = job_with_min("a", 1, 9000);
    fake_task(f, job, fake_class(f, 9000, GI, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(cpu(&sums()->hopeless), 9000);
    /* A larger node, but nobody said so. */
    f->columns[0][MAAR_DIM_CPU][node] = 16000;
    assert_int_equal(cpu(&sums()->hopeless), 9000);
    f->nodes.facts_version++;
    assert_int_equal(cpu(&sums()->hopeless), 0);
    assert_int_equal(cpu(&sums()->admitted), 9000);
    job->min_resources = fake_resource(f, 4000, -1, 0, -1, -1);
    assert_int_equal(cpu(&sums()->admitted), 9000);
    queue->jobs_state++;
    assert_int_equal(cpu(&sums()->admitted), 4000);
}

static void queues_are_counted_by_themselves(void **state)
{
    (void)state;
    struct maar_queue *first = queue;
    job_with_min("a", 1, 1000);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%d", i);
        queue = fake_queue(f, name, 1);
        job_with_min(name, 1, 10 + i);
        fake_recount(f);
        assert_int_equal(cpu(&sums()->admitted), 10 + i);
    }
    queue = first;
    assert_int_equal(cpu(&sums()->admitted), 1000);
}

/* Amounts beyond all bounds do not make the order of jobs show. */
static void order_of_jobs_does_not_show(void **state)
{
    (void)state;
    static const int64_t amounts[] = {INT64_MAX, 5, INT64_MAX, 1000};
    int64_t forth, back;
    for (int i = 0; i < 4; i++)
        job_with_min("a", 1, amounts[i]);
    fake_recount(f);
    forth = cpu(&sums()->admitted);
    queue = fake_queue(f, "back", 1);
    for (int i = 3; i >= 0; i--)
        job_with_min("b", 1, amounts[i]);
    fake_recount(f);
    back = cpu(&sums()->admitted);
    assert_int_equal(forth, back);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(admitted_jobs_hold_their_minimum), TEST(running_jobs_hold_what_they_lack),
        TEST(gated_members_ask_for_nothing),    TEST(pipelined_members_are_added_up),
        TEST(hopeless_jobs_hold_nothing),       TEST(counted_again_when_jobs_or_nodes_change),
        TEST(queues_are_counted_by_themselves), TEST(order_of_jobs_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
