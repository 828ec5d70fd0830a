/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin gang: readiness, validity, victims and conditions. */

#include "fake_view.h"

static struct fake *f;
static struct maar_queue *queue;
static struct maar_class *worker, *best_effort;
static uint32_t n1;

static int setup(void **state)
{
    (void)state;
    f = fake_new("gang", NULL);
    queue = fake_queue(f, "q", 1);
    worker = fake_class(f, 1000, GI, 0, 0);
    best_effort = fake_class(f, 0, 0, 0, 0);
    n1 = fake_node(f, "n1", 64000, 256 * GI, 110, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_free(f);
    return 0;
}

static bool ready(const struct maar_job *job)
{
    return f->plugin->hooks.job_ready(f->self, &f->view, job);
}

/* E-gang-1 */
static void gang_gives_up_its_surplus_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t min;
        size_t n_running, n_succeeded;
        const char *want;
    } rows[] = {
        {"five of three", 3, 5, 0, "11000"}, {"succeeded members count", 3, 3, 1, "100"},
        {"no surplus", 3, 3, 0, "000"},      {"below the minimum", 4, 3, 0, "000"},
        {"no minimum", 0, 2, 0, "11"},
    };
    char text[FAKE_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_job *job = fake_job(f, queue, rows[i].name, rows[i].min);
        size_t first = f->n_tasks;
        fake_tasks(f, job, worker, MAAR_TASK_RUNNING, n1, rows[i].n_running);
        fake_tasks(f, job, worker, MAAR_TASK_SUCCEEDED, n1, rows[i].n_succeeded);
        assert_string_equal(fake_victims(f, f->plugin->hooks.preemptable, f->tasks[0],
                                         f->tasks + first, rows[i].n_running, text),
                            rows[i].want);
        assert_string_equal(fake_victims(f, f->plugin->hooks.reclaimable, f->tasks[0],
                                         f->tasks + first, rows[i].n_running, text),
                            rows[i].want);
    }
}

static void gang_counts_each_job_by_itself_and_skips_orphans(void **state)
{
    (void)state;
    struct maar_job *a = fake_job(f, queue, "a", 1), *b = fake_job(f, queue, "b", 1);
    struct maar_job *gone = fake_job(f, NULL, "gone", 0);
    fake_task(f, a, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, b, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, NULL, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, gone, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, b, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, a, worker, MAAR_TASK_RUNNING, n1);
    char text[FAKE_MAX + 1];
    assert_string_equal(
        fake_victims(f, f->plugin->hooks.preemptable, f->tasks[0], f->tasks, 6, text), "110000");
}

static void gang_lets_whole_gangs_go(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 2);
    fake_tasks(f, job, worker, MAAR_TASK_RUNNING, n1, 2);
    struct maar_evict_context context = {.kind = "gangpreempt", .job = job};
    uint64_t bits = 0;
    assert_int_equal(f->plugin->hooks.unified_evictable(f->self, &f->view, &context,
                                                        (const struct maar_task *const *)f->tasks,
                                                        2, &bits),
                     MAAR_PERMIT);
    assert_int_equal(bits, 3);
}

/* E-gang-2 */
static void gang_is_ready_with_each_roles_minimum(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 4);
    fake_role(f, job, "head", 1);
    fake_role(f, job, "worker", 3);
    fake_task(f, job, worker, MAAR_TASK_RUNNING, n1);
    for (int i = 0; i < 3; i++) {
        struct maar_task *task =
            fake_task(f, job, i < 2 ? worker : best_effort,
                      i < 2 ? MAAR_TASK_RUNNING : MAAR_TASK_PENDING, i < 2 ? n1 : MAAR_NO_NODE);
        task->role_slot = 1;
    }
    fake_recount(f);
    assert_true(ready(job));
    /* The head is missing: the count is enough, the roles are not. */
    f->tasks[0]->role_slot = 1;
    fake_recount(f);
    assert_true(maar_job_is_ready(job));
    assert_false(ready(job));
    assert_int_equal(f->plugin->hooks.job_pipelined(f->self, &f->view, job), MAAR_REJECT);
}

/* A role's best-effort members count as pipelined, too. */
static void gang_is_pipelined_with_each_roles_minimum(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 3);
    fake_role(f, job, "worker", 3);
    fake_task(f, job, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, job, worker, MAAR_TASK_PIPELINED, n1);
    struct maar_task *last = fake_task(f, job, best_effort, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(f->plugin->hooks.job_pipelined(f->self, &f->view, job), MAAR_PERMIT);
    assert_false(ready(job));
    last->status = MAAR_TASK_FAILED;
    fake_recount(f);
    assert_int_equal(f->plugin->hooks.job_pipelined(f->self, &f->view, job), MAAR_REJECT);
}

/* E-gang-3 */
static void gang_skips_roles_that_sum_up_above_the_minimum(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 2);
    fake_role(f, job, "a", 2);
    fake_role(f, job, "b", 2);
    fake_tasks(f, job, worker, MAAR_TASK_RUNNING, n1, 2);
    assert_true(ready(job));
}

/* E-gang-4 */
static void gang_job_with_too_few_valid_members_is_invalid(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 3);
    fake_task(f, job, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, job, worker, MAAR_TASK_PENDING, MAAR_NO_NODE);
    struct maar_task *third = fake_task(f, job, worker, MAAR_TASK_FAILED, n1);
    struct maar_validity validity;
    f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
    assert_false(validity.pass);
    assert_string_equal(validity.reason, "NotEnoughPods");
    assert_string_equal(validity.message,
                        "Not enough valid tasks for gang-scheduling, valid: 2, min: 3");
    third->status = MAAR_TASK_PIPELINED;
    fake_recount(f);
    f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
    assert_true(validity.pass);
}

static void gang_job_with_too_few_members_of_a_role_is_invalid(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 2);
    fake_role(f, job, "a", 1);
    fake_role(f, job, "b", 1);
    fake_tasks(f, job, worker, MAAR_TASK_PENDING, MAAR_NO_NODE, 2);
    struct maar_validity validity;
    f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
    assert_false(validity.pass);
    assert_string_equal(validity.reason, "NotEnoughPodsOfTask");
    assert_string_equal(validity.message, "Not enough valid pods of each task for gang-scheduling");
}

/* E-gang-5 and the rest of the rule of 1.2 */
static void gang_on_its_way_out_gets_no_condition(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t min;
        const char *
            statuses; /* R running, L releasing, l releasing without node, P pending, F failed, i pipelined */
        bool skipped;
    } rows[] = {
        {"running and releasing", 2, "RL", true},
        {"a pending replacement", 2, "RLP", false},
        {"a pipelined replacement", 2, "RLi", false},
        {"releasing without node", 1, "l", false},
        {"still too few", 3, "RL", false},
        {"failed, nobody leaves", 2, "RF", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_job *job = fake_job(f, queue, rows[i].name, rows[i].min);
        for (const char *s = rows[i].statuses; *s; s++)
            fake_task(f, job, worker,
                      *s == 'R'                ? MAAR_TASK_RUNNING
                      : *s == 'L' || *s == 'l' ? MAAR_TASK_RELEASING
                      : *s == 'P'              ? MAAR_TASK_PENDING
                      : *s == 'F'              ? MAAR_TASK_FAILED
                                               : MAAR_TASK_PIPELINED,
                      *s == 'l' || *s == 'P' ? MAAR_NO_NODE : n1);
        f->jobs[0] = job;
        f->n_jobs = 1;
        fake_recount(f);
        f->n_conditions = 0;
        f->plugin->close(f->self, &f->view);
        if ((f->n_conditions == 0) != rows[i].skipped)
            fail_msg("%s", rows[i].name);
    }
}

/* E-gang-6 */
static void gang_starves_without_its_best_effort_members(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 3);
    fake_task(f, job, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, job, worker, MAAR_TASK_PIPELINED, n1);
    fake_task(f, job, best_effort, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(f->plugin->hooks.job_pipelined(f->self, &f->view, job), MAAR_PERMIT);
    assert_true(f->plugin->hooks.job_starving(f->self, &f->view, job));
    assert_false(ready(job));
}

static void gang_unready_jobs_go_first(void **state)
{
    (void)state;
    struct maar_job *full = fake_job(f, queue, "full", 1), *empty = fake_job(f, queue, "empty", 1);
    fake_task(f, full, worker, MAAR_TASK_RUNNING, n1);
    fake_task(f, empty, worker, MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_true(f->plugin->hooks.job_order(f->self, &f->view, full, empty) > 0);
    assert_true(f->plugin->hooks.job_order(f->self, &f->view, empty, full) < 0);
    assert_int_equal(f->plugin->hooks.job_order(f->self, &f->view, full, full), 0);
}

static void gang_reports_unready_jobs_in_numbers(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "w", 3);
    fake_task(f, job, worker, MAAR_TASK_RUNNING, n1);
    fake_tasks(f, job, worker, MAAR_TASK_PENDING, MAAR_NO_NODE, 2);
    fake_job(f, queue, "without tasks", 3);
    f->fit_error = "pod group is not ready, 1 Running, 2 Pending, 3 minAvailable";
    f->plugin->close(f->self, &f->view);
    assert_int_equal(f->n_conditions, 1);
    assert_string_equal(f->condition_type, "Unschedulable");
    assert_string_equal(f->condition_reason, "NotEnoughResources");
    assert_string_equal(f->condition_message,
                        "2/3 tasks in gang unschedulable: pod group is not ready, 1 Running, 2 "
                        "Pending, 3 minAvailable");
    /* A task that a discarded plan had placed is no obstacle. */
    f->n_schedulable = 1;
    f->plugin->close(f->self, &f->view);
    assert_memory_equal(f->condition_message, "1/3 ", 4);
}

static void gang_reports_ready_jobs_as_scheduled(void **state)
{
    (void)state;
    struct maar_job *job = fake_job(f, queue, "j", 1);
    fake_task(f, job, worker, MAAR_TASK_ALLOCATED, n1);
    f->plugin->close(f->self, &f->view);
    assert_string_equal(f->condition_type, "Scheduled");
    assert_string_equal(f->condition_reason, "tasks in gang are ready to be scheduled");
    assert_string_equal(f->condition_message, "");
}

/* Sub-jobs as words of letters: R running, i pipelined, P pending, e pending without requests, S succeeded, F failed.
 * The policy wants two members in each and two of it. */
static struct maar_job *job_of(const char *name, const char *sub_jobs, int32_t min)
{
    struct maar_job *job = fake_job(f, queue, name, min);
    fake_sub_group_policy(job, "parts", 2, 2);
    struct maar_sub_job *sub_job = NULL;
    for (const char *c = sub_jobs; *c; c++) {
        if (*c == ' ') {
            sub_job = NULL;
            continue;
        }
        if (!sub_job)
            sub_job = fake_sub_job(f, job, name, 0);
        enum maar_task_status status = *c == 'R'   ? MAAR_TASK_RUNNING
                                       : *c == 'i' ? MAAR_TASK_PIPELINED
                                       : *c == 'S' ? MAAR_TASK_SUCCEEDED
                                       : *c == 'F' ? MAAR_TASK_FAILED
                                                   : MAAR_TASK_PENDING;
        struct maar_task *task = fake_task(f, job, *c == 'e' ? best_effort : worker, status,
                                           *c == 'R' || *c == 'i' ? n1 : MAAR_NO_NODE);
        task->sub_job = sub_job;
    }
    fake_recount(f);
    return job;
}

static void gang_counts_whole_sub_jobs(void **state)
{
    (void)state;
    static const struct {
        const char *sub_jobs;
        int32_t min;
        bool valid, valid_compatible, ready, pipelined;
    } rows[] = {
        {"RR RR", 4, true, true, true, true},     {"RR RP", 3, true, true, false, false},
        {"RR Ri", 3, true, true, false, true},    {"RR SS PP", 2, true, true, true, true},
        {"RR Re", 3, true, true, true, true},     {"RR RF", 3, false, true, false, false},
        {"RRRR", 4, false, false, false, false},  {"PP PP", 4, true, true, false, false},
        {"RR RR", 5, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[16];
        snprintf(name, sizeof name, "row %zu", i);
        struct maar_job *job = job_of(name, rows[i].sub_jobs, rows[i].min);
        struct maar_validity validity = {.pass = true};
        f->view.compatibility = true;
        f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
        if (validity.pass != rows[i].valid_compatible)
            fail_msg("%s is %svalid for Volcano", rows[i].sub_jobs, validity.pass ? "" : "not ");
        f->view.compatibility = false;
        f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
        if (validity.pass != rows[i].valid || ready(job) != rows[i].ready)
            fail_msg("%s: valid %d, ready %d", rows[i].sub_jobs, validity.pass, ready(job));
        assert_int_equal(f->plugin->hooks.job_pipelined(f->self, &f->view, job),
                         rows[i].pipelined ? MAAR_PERMIT : MAAR_REJECT);
    }
}

static void gang_job_with_too_few_sub_jobs_is_invalid(void **state)
{
    (void)state;
    struct maar_job *job = job_of("j", "PP", 2);
    struct maar_validity validity;
    f->plugin->hooks.job_valid(f->self, &f->view, job, &validity);
    assert_false(validity.pass);
    assert_string_equal(validity.reason, "NotEnoughPodsOfTask");
    assert_string_equal(validity.message,
                        "Not enough valid subGroups of each task for gang-scheduling");
}

/* Row 62: a sub-job's readiness is its own. */
static void gang_sub_jobs_are_ready_by_themselves_and_unready_ones_go_first(void **state)
{
    (void)state;
    struct maar_job *job = job_of("j", "RR Ri RP", 6);
    const struct maar_hooks *hooks = &f->plugin->hooks;
    assert_false(ready(job));
    assert_true(hooks->sub_job_ready(f->self, &f->view, job, job->sub_jobs[0]));
    assert_false(hooks->sub_job_ready(f->self, &f->view, job, job->sub_jobs[1]));
    assert_int_equal(hooks->sub_job_pipelined(f->self, &f->view, job, job->sub_jobs[1]),
                     MAAR_PERMIT);
    assert_int_equal(hooks->sub_job_pipelined(f->self, &f->view, job, job->sub_jobs[2]),
                     MAAR_REJECT);
    assert_true(hooks->sub_job_order(f->self, &f->view, job->sub_jobs[0], job->sub_jobs[1]) > 0);
    assert_true(hooks->sub_job_order(f->self, &f->view, job->sub_jobs[1], job->sub_jobs[0]) < 0);
    assert_int_equal(hooks->sub_job_order(f->self, &f->view, job->sub_jobs[1], job->sub_jobs[2]),
                     0);
}

static void gang_reports_missing_sub_jobs(void **state)
{
    (void)state;
    struct maar_job *job = job_of("j", "RR PP", 2);
    f->fit_error = "why";
    f->plugin->close(f->self, &f->view);
    assert_string_equal(f->condition_type, "Unschedulable");
    assert_string_equal(f->condition_message, "2/4 tasks in gang unschedulable: why");
    assert_true(maar_job_is_ready(job));
    f->view.compatibility = true;
    f->plugin->close(f->self, &f->view);
    assert_string_equal(f->condition_type, "Scheduled");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gang_gives_up_its_surplus_in_order),
        TEST(gang_counts_each_job_by_itself_and_skips_orphans),
        TEST(gang_lets_whole_gangs_go),
        TEST(gang_is_ready_with_each_roles_minimum),
        TEST(gang_is_pipelined_with_each_roles_minimum),
        TEST(gang_skips_roles_that_sum_up_above_the_minimum),
        TEST(gang_job_with_too_few_valid_members_is_invalid),
        TEST(gang_job_with_too_few_members_of_a_role_is_invalid),
        TEST(gang_on_its_way_out_gets_no_condition),
        TEST(gang_starves_without_its_best_effort_members),
        TEST(gang_unready_jobs_go_first),
        TEST(gang_reports_unready_jobs_in_numbers),
        TEST(gang_reports_ready_jobs_as_scheduled),
        TEST(gang_counts_whole_sub_jobs),
        TEST(gang_job_with_too_few_sub_jobs_is_invalid),
        TEST(gang_sub_jobs_are_ready_by_themselves_and_unready_ones_go_first),
        TEST(gang_reports_missing_sub_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
