/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin priority: orders, victims, starvation. */

#include "fake_view.h"

static struct fake *f;
static struct maar_queue *queue;
static struct maar_class *cls;

static int setup(void **state)
{
    (void)state;
    f = fake_new("priority", NULL);
    queue = fake_queue(f, "q", 1);
    cls = fake_class(f, 1000, GI, 0, 0);
    fake_node(f, "n1", 64000, 256 * GI, 110, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_free(f);
    return 0;
}

static struct maar_job *job_of(const char *name, int32_t priority)
{
    struct maar_job *job = fake_job(f, queue, name, 1);
    job->priority = priority;
    return job;
}

static struct maar_task *task_of(struct maar_job *job, int32_t priority, bool running)
{
    struct maar_task *task = fake_task(f, job, cls, running ? MAAR_TASK_RUNNING : MAAR_TASK_PENDING,
                                       running ? 0 : MAAR_NO_NODE);
    task->priority = priority;
    return task;
}

static void priority_higher_goes_first(void **state)
{
    (void)state;
    static const struct {
        int32_t l, r;
        int want;
    } rows[] = {{10, 5, -1}, {5, 10, 1}, {7, 7, 0}, {INT32_MIN, INT32_MAX, 1}, {-1, -2, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_job *l = job_of("l", rows[i].l), *r = job_of("r", rows[i].r);
        assert_int_equal(f->plugin->hooks.job_order(f->self, &f->view, l, r), rows[i].want);
        struct maar_task *lt = task_of(l, rows[i].l, true), *rt = task_of(r, rows[i].r, true);
        assert_int_equal(f->plugin->hooks.task_order(f->self, &f->view, lt, rt), rows[i].want);
        const struct maar_sub_job ls = {.priority = rows[i].l}, rs = {.priority = rows[i].r};
        assert_int_equal(f->plugin->hooks.sub_job_order(f->self, &f->view, &ls, &rs), rows[i].want);
    }
}

/* The votes of E-prio-1 and E-prio-3 */
static void priority_only_lower_ones_may_go(void **state)
{
    (void)state;
    struct maar_job *low = job_of("low", 100), *high = job_of("high", 1000);
    struct maar_job *peer = job_of("peer", 1000), *gone = fake_job(f, NULL, "gone", 1);
    struct maar_task *candidates[] = {
        task_of(low, 1, true),  task_of(low, 1000, true), task_of(high, 5, true),
        task_of(high, 4, true), task_of(peer, 1, true),   task_of(gone, 1, true),
        task_of(NULL, 1, true),
    };
    struct maar_task *evictor = task_of(high, 5, false);
    char text[FAKE_MAX + 1];
    /* Another job: by the job's priority. The same job: by the task's, strictly. */
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, candidates, 7, text),
                        "1101000");
    evictor->job = gone;
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, candidates, 7, text),
                        "0000000");
    evictor->job = NULL;
    assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, evictor, candidates, 7, text),
                        "0000000");
}

/* E-prio-4 */
static void priority_gang_reclaim_takes_from_anybody(void **state)
{
    (void)state;
    struct maar_job *evictor = job_of("evictor", 500);
    struct maar_task *candidates[] = {task_of(job_of("high", 1000), 1, true),
                                      task_of(job_of("low", 100), 1, true), task_of(NULL, 1, true)};
    static const struct {
        const char *kind;
        uint64_t want;
    } rows[] = {{"gangreclaim", 7}, {"gangpreempt", 2}};
    for (size_t i = 0; i < 2; i++) {
        struct maar_evict_context context = {.kind = rows[i].kind, .job = evictor};
        uint64_t bits = 0;
        f->plugin->hooks.unified_evictable(f->self, &f->view, &context,
                                           (const struct maar_task *const *)candidates, 3, &bits);
        assert_int_equal(bits, rows[i].want);
    }
}

/* E-prio-5 */
static void priority_job_starves_while_any_task_waits(void **state)
{
    (void)state;
    struct maar_job *job = job_of("j", 1);
    for (int i = 0; i < 3; i++)
        task_of(job, 1, true);
    struct maar_task *last = task_of(job, 1, false);
    assert_true(f->plugin->hooks.job_starving(f->self, &f->view, job));
    last->status = MAAR_TASK_PIPELINED;
    fake_recount(f);
    assert_false(f->plugin->hooks.job_starving(f->self, &f->view, job));
}

static void priority_has_no_say_in_reclaim(void **state)
{
    (void)state;
    assert_null(f->plugin->hooks.reclaimable);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(priority_higher_goes_first),
        TEST(priority_only_lower_ones_may_go),
        TEST(priority_gang_reclaim_takes_from_anybody),
        TEST(priority_job_starves_while_any_task_waits),
        TEST(priority_has_no_say_in_reclaim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
