/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin proportion: dividing, room, order, gate and reclaim, both as Volcano does and as we do. What a queue
 * deserves shows in the room that it has. */

#include "fake_view.h"

static struct fake *f;
static uint32_t node;
static struct maar_class *cpu_1m, *memory_1, *gpu_1;

static void begin(bool compatibility, int64_t cpu, int64_t memory, int64_t gpu)
{
    f = fake_new("proportion", NULL);
    f->view.compatibility = compatibility;
    node = fake_node(f, "n1", cpu, memory, 100000, gpu);
    cpu_1m = fake_class(f, 1, 0, 0, 0);
    memory_1 = fake_class(f, 0, 1, 0, 0);
    gpu_1 = fake_class(f, 0, 0, 1, 0);
}

static void end(void)
{
    fake_free(f);
    f = NULL;
}

/* A queue with one job that holds one amount and asks for the rest of another. Its minimum is 0: with 1, a pod larger
 * than the node would claim nothing. */
static struct maar_queue *queue_with(const char *name, int32_t weight, int64_t held_cpu,
                                     int64_t held_memory, int64_t asked_cpu, int64_t asked_memory)
{
    struct maar_queue *queue = fake_queue(f, name, weight);
    struct maar_job *job = fake_job(f, queue, name, 0);
    if (held_cpu || held_memory)
        fake_task(f, job, fake_class(f, held_cpu, held_memory, 0, 0), MAAR_TASK_RUNNING, node);
    fake_task(f, job, fake_class(f, asked_cpu - held_cpu, asked_memory - held_memory, 0, 0),
              MAAR_TASK_PENDING, MAAR_NO_NODE);
    return queue;
}

static uint32_t room(const struct maar_queue *queue, const struct maar_class *cls, uint32_t want)
{
    struct maar_task task = {.cls = cls, .job = queue->jobs[0], .node = MAAR_NO_NODE};
    return f->plugin->hooks.queue_room(f->self, &f->view, queue, &task, want, NULL);
}

/* Whole units that the queue deserves of a dimension: what it holds and what it may take. */
static int64_t deserves(const struct maar_queue *queue, uint32_t dim)
{
    const struct maar_class *unit = dim == 0 ? cpu_1m : dim == 1 ? memory_1 : gpu_1;
    if (dim == MAAR_DIM_MEMORY)
        unit = fake_class(f, 0, MI, 0, 0);
    return queue->allocated[dim] / unit->request.v[dim] + room(queue, unit, 1u << 30);
}

static int order(const struct maar_queue *l, const struct maar_queue *r)
{
    return f->plugin->hooks.queue_order(f->self, &f->view, l, r);
}

static bool overused(const struct maar_queue *queue)
{
    return f->plugin->hooks.queue_overused(f->self, &f->view, queue);
}

#define EACH_MODE(mode) for (int mode = 0; mode < 2; mode++)

/* E-prop-1 */
static void proportion_divides_by_weight_and_request(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 12000, 24 * GI, 0);
        struct maar_queue *a = queue_with("a", 1, 3000, 3 * GI, 8000, 8 * GI);
        struct maar_queue *b = queue_with("b", 2, 0, 0, 2000, 2 * GI);
        struct maar_queue *c = queue_with("c", 3, 4000, 4 * GI, 9000, 9 * GI);
        fake_open(f);
        assert_int_equal(deserves(a, 0), 3000); /* holds more than its 2500 */
        assert_int_equal(deserves(b, 0), 2000);
        assert_int_equal(deserves(c, 0), 7500);
        assert_int_equal(deserves(a, 1), 8 * 1024);
        assert_int_equal(deserves(b, 1), 2 * 1024);
        assert_int_equal(deserves(c, 1), 9 * 1024);
        /* Shares 1.2, 0, .5333 */
        assert_int_equal(order(b, c), -1);
        assert_int_equal(order(a, c), 1);
        fake_move(f, a->jobs[0]->tasks[0], MAAR_TASK_RELEASING, node);
        assert_int_equal(deserves(a, 0), 2500);
        assert_int_equal(order(a, c), -1);
        end();
    }
}

/* E-prop-2 */
static void proportion_guarantee_is_a_floor_and_capability_a_ceiling(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20000, 40 * GI, 0);
        struct maar_queue *gold = queue_with("gold", 3, 1000, GI, 2000, 2 * GI);
        struct maar_queue *silver = queue_with("silver", 1, 5000, 5 * GI, 30000, 30 * GI);
        struct maar_queue *bronze = queue_with("bronze", 1, 2000, 2 * GI, 30000, 30 * GI);
        gold->guarantee = fake_resource(f, 6000, -1, 0, -1, -1);
        silver->capability = fake_resource(f, 5000, -1, 0, -1, -1);
        /* Pods are a dimension of the share as well: they must not be bronze's greatest. */
        fake_tasks(f, bronze->jobs[0], fake_class(f, 0, 0, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE,
                   8);
        fake_open(f);
        assert_int_equal(deserves(gold, 0), 6000);
        assert_int_equal(deserves(gold, 1), 2 * 1024);
        assert_int_equal(deserves(silver, 0), 5000);
        assert_int_equal(deserves(bronze, 0), 9000);
        assert_int_equal(deserves(silver, 1), 19 * 1024);
        assert_int_equal(deserves(bronze, 1), 19 * 1024);
        /* Shares .5 (memory), 1, .2222 */
        assert_int_equal(order(bronze, gold), -1);
        assert_int_equal(order(gold, silver), -1);
        end();
    }
}

/* Three equal queues of which one has a guarantee above its part: Volcano promises 14 of 12 cores. */
static void proportion_promises_no_more_than_there_is(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 12000, 12 * GI, 0);
        struct maar_queue *a = queue_with("a", 1, 0, 0, 12000, GI);
        struct maar_queue *b = queue_with("b", 1, 0, 0, 12000, GI);
        struct maar_queue *c = queue_with("c", 1, 0, 0, 12000, GI);
        a->guarantee = fake_resource(f, 6000, -1, 0, -1, -1);
        fake_open(f);
        assert_int_equal(deserves(a, 0), 6000);
        assert_int_equal(deserves(b, 0), mode ? 4000 : 3000);
        assert_int_equal(deserves(c, 0), mode ? 4000 : 3000);
        end();
    }
}

/* E-prop-3 */
static void proportion_overused_is_all_dimensions(void **state)
{
    (void)state;
    static const struct {
        int64_t cpu, memory;
        bool want;
    } rows[] = {{5000, 3 * GI, false}, {6000, 10 * GI, true}, {5000, 10 * GI, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 10000, 20 * GI, 0);
            f->columns[0][MAAR_DIM_PODS][node] = 2;
            struct maar_queue *a = queue_with("a", 1, rows[i].cpu, rows[i].memory, 10000, 20 * GI);
            queue_with("b", 1, 0, 0, 10000, 20 * GI);
            fake_open(f);
            assert_int_equal(overused(a), rows[i].want);
            end();
        }
    }
}

/* E-prop-5, and as counts */
static void proportion_room_looks_at_what_is_asked_only(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8000, 16 * GI, 0);
        struct maar_queue *a = queue_with("a", 1, 3500, 8 * GI, 8000, 16 * GI);
        queue_with("b", 1, 0, 0, 8000, 16 * GI);
        fake_open(f);
        assert_int_equal(room(a, fake_class(f, 500, 0, 0, 0), 10), 1);
        assert_int_equal(room(a, fake_class(f, 500, MI, 0, 0), 10), 0);
        assert_int_equal(room(a, fake_class(f, 501, 0, 0, 0), 10), 0);
        assert_int_equal(room(a, fake_class(f, 100, 0, 0, 0), 10), 5);
        assert_int_equal(room(a, fake_class(f, 100, 0, 0, 0), 3), 3);
        assert_int_equal(room(a, fake_class(f, 0, 0, 0, 0), 7), 7);
        assert_int_equal(room(a, gpu_1, 1), 0);
        end();
    }
}

/* A count stops where the repeated question stops. Odd weights give parts that are no round numbers. */
static void proportion_room_counts_as_repeated_answers(void **state)
{
    (void)state;
    static const int64_t asks[] = {1, 3, 7, 10, 33, 100, 333, 1000, 3333};
    EACH_MODE(mode)
    {
        for (int32_t weight = 1; weight < 40; weight++) {
            begin(mode, 10000, 64 * GI, 0);
            struct maar_queue *a = queue_with("a", weight, 17, 0, 20000, 0);
            queue_with("b", 7, 0, 0, 20000, 0);
            fake_open(f);
            for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
                struct maar_class *cls = fake_class(f, asks[i], 0, 0, 0);
                uint32_t count = room(a, cls, 1000000);
                struct maar_class *all = fake_class(f, asks[i] * count, 0, 0, 0);
                struct maar_class *one_more = fake_class(f, asks[i] * (count + 1), 0, 0, 0);
                assert_true(count == 0 || room(a, all, 1) == 1);
                assert_int_equal(room(a, one_more, 1), 0);
            }
            end();
        }
    }
}

static void proportion_room_follows_the_events_and_their_undoing(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10000, 64 * GI, 8);
        struct maar_queue *a = queue_with("a", 1, 1000, 0, 10000, 0);
        struct maar_task *running = a->jobs[0]->tasks[0], *pending = a->jobs[0]->tasks[1];
        struct maar_class *third = fake_class(f, 1000, 0, 2, 0);
        struct maar_task *gpu = fake_task(f, a->jobs[0], third, MAAR_TASK_PENDING, MAAR_NO_NODE);
        pending->cls = fake_class(f, 8000, 0, 0, 0);
        fake_open(f);
        char before[65536];
        size_t size = f->plugin->queue_row_size * f->n_queues, mark = f->n_saved;
        assert_true(size < sizeof before);
        memcpy(before, f->view.queue_rows, size);

        assert_int_equal(room(a, cpu_1m, 100000), 9000);
        fake_move(f, pending, MAAR_TASK_PIPELINED, node);
        assert_int_equal(room(a, cpu_1m, 100000), 1000);
        fake_move(f, gpu, MAAR_TASK_ALLOCATED, node);
        assert_int_equal(room(a, cpu_1m, 100000), 0);
        assert_int_equal(room(a, gpu_1, 100), 0);
        fake_move(f, running, MAAR_TASK_RELEASING, node);
        assert_int_equal(room(a, cpu_1m, 100000), 1000);
        fake_move(f, running, MAAR_TASK_RUNNING, node);
        assert_int_equal(room(a, cpu_1m, 100000), 0);
        fake_undo(f, mark);
        assert_memory_equal(before, f->view.queue_rows, size);
        end();
    }
}

static void proportion_pipelined_at_open_hold_room(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10000, 64 * GI, 0);
        struct maar_queue *a = queue_with("a", 1, 1000, 0, 10000, 0);
        struct maar_task *held = a->jobs[0]->tasks[1];
        held->status = MAAR_TASK_PIPELINED;
        held->node = node;
        fake_open(f);
        assert_int_equal(room(a, cpu_1m, 100000), 0);
        fake_move(f, held, MAAR_TASK_PENDING, MAAR_NO_NODE);
        assert_int_equal(room(a, cpu_1m, 100000), 9000);
        end();
    }
}

static enum maar_vote enqueueable(const struct maar_job *job)
{
    return f->plugin->hooks.job_enqueueable(f->self, &f->view, job);
}

/* E-prop-6 */
static void proportion_gate_counts_what_the_queue_admitted(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10000, 20 * GI, 0);
        struct maar_queue *queue = fake_queue(f, "q", 1);
        /* Running: 6 cores, 1 of them elastic; admitted: 2 cores. */
        struct maar_job *running = fake_job(f, queue, "running", 1);
        running->phase = MAAR_PHASE_RUNNING;
        running->has_min_resources = true;
        running->min_resources = fake_resource(f, 5000, 6 * GI, 0, -1, -1);
        fake_task(f, running, fake_class(f, 6000, 6 * GI, 0, 0), MAAR_TASK_RUNNING, node);
        struct maar_job *admitted = fake_job(f, queue, "admitted", 1);
        admitted->has_min_resources = true;
        admitted->min_resources = fake_resource(f, 2000, -1, 0, -1, -1);
        struct maar_job *job = fake_job(f, queue, "new", 1);
        job->phase = MAAR_PHASE_PENDING;
        job->has_min_resources = true;
        job->min_resources = fake_resource(f, 3000, GI, 0, -1, -1);
        fake_open(f);
        assert_int_equal(enqueueable(job), MAAR_PERMIT);
        assert_int_equal(f->n_events, 0);
        job->min_resources.v[MAAR_DIM_CPU] = 4000;
        assert_int_equal(enqueueable(job), MAAR_REJECT);
        assert_string_equal(f->event_reason, "Unschedulable");
        assert_string_equal(f->event_message,
                            "queue resource quota insufficient: insufficient cpu");
        job->min_resources.v[MAAR_DIM_MEMORY] = 20 * GI;
        assert_int_equal(enqueueable(job), MAAR_REJECT);
        assert_string_equal(
            f->event_message,
            "queue resource quota insufficient: insufficient cpu, insufficient memory");

        /* Once let in it holds its minimum, until undone. */
        job->min_resources = fake_resource(f, 3000, GI, 0, -1, -1);
        size_t mark = f->n_saved;
        f->plugin->hooks.on_enqueued(f->self, &f->view, job);
        assert_int_equal(enqueueable(job), MAAR_REJECT);
        fake_undo(f, mark);
        assert_int_equal(enqueueable(job), MAAR_PERMIT);

        job->has_min_resources = false;
        assert_int_equal(enqueueable(job), MAAR_PERMIT);
        end();
    }
}

/* Running jobs hold the rest of their minimum; gated pods and jobs below their minimum hold nothing. */
static void proportion_gate_reservations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint8_t phase;
        int32_t min;
        int n_running, n_gated;
        int64_t held;
    } rows[] = {
        {"inqueue, no pods", MAAR_PHASE_INQUEUE, 3, 0, 0, 6000},
        {"inqueue, one runs", MAAR_PHASE_INQUEUE, 3, 1, 0, 5000},
        {"inqueue, one is gated", MAAR_PHASE_INQUEUE, 3, 1, 1, 4000},
        {"running with its minimum", MAAR_PHASE_RUNNING, 3, 3, 0, 3000},
        {"running below its minimum", MAAR_PHASE_RUNNING, 3, 2, 0, 0},
        {"pending", MAAR_PHASE_PENDING, 3, 0, 0, 0},
        {"unknown", MAAR_PHASE_UNKNOWN, 3, 3, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(false, 10000, 20 * GI, 0);
        struct maar_queue *queue = fake_queue(f, "q", 1);
        struct maar_job *job = fake_job(f, queue, "j", rows[i].min);
        struct maar_class *cls = fake_class(f, 1000, 0, 0, 0);
        job->phase = rows[i].phase;
        job->has_min_resources = true;
        job->min_resources = fake_resource(f, 6000, -1, 0, -1, -1);
        fake_tasks(f, job, cls, MAAR_TASK_RUNNING, node, (size_t)rows[i].n_running);
        for (int k = 0; k < rows[i].n_gated; k++)
            fake_task(f, job, cls, MAAR_TASK_PENDING, MAAR_NO_NODE)->gated = true;
        struct maar_job *asker = fake_job(f, queue, "asker", 1);
        asker->has_min_resources = true;
        asker->phase = MAAR_PHASE_PENDING;
        int64_t left = 10000 - 1000 * rows[i].n_running - rows[i].held;
        asker->min_resources = fake_resource(f, left, -1, 0, -1, -1);
        fake_open(f);
        if (enqueueable(asker) != MAAR_PERMIT)
            fail_msg("%s: holds too much", rows[i].name);
        asker->min_resources.v[0]++;
        if (enqueueable(asker) != MAAR_REJECT)
            fail_msg("%s: holds too little", rows[i].name);
        end();
    }
}

static void proportion_queue_that_is_not_open_takes_nothing(void **state)
{
    (void)state;
    static const struct {
        uint8_t queue_state;
        bool want, want_compatible;
    } rows[] = {
        {MAAR_QUEUE_OPEN, true, true},      {MAAR_QUEUE_NONE, true, false},
        {MAAR_QUEUE_CLOSED, false, false},  {MAAR_QUEUE_CLOSING, false, false},
        {MAAR_QUEUE_UNKNOWN, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 10000, 20 * GI, 0);
            struct maar_queue *queue = queue_with("q", 1, 0, 0, 1000, 0);
            queue->state = rows[i].queue_state;
            fake_open(f);
            bool want = mode ? rows[i].want_compatible : rows[i].want;
            assert_int_equal(room(queue, cpu_1m, 1), want);
            assert_int_equal(enqueueable(queue->jobs[0]), want ? MAAR_PERMIT : MAAR_REJECT);
            const struct maar_task *task = queue->jobs[0]->tasks[0];
            assert_int_equal(f->plugin->hooks.queue_preemptive(f->self, &f->view, queue, &task, 1),
                             want);
            end();
        }
    }
}

/* E-prop-7 */
static void proportion_higher_queue_priority_goes_first(void **state)
{
    (void)state;
    begin(false, 10000, 20 * GI, 0);
    struct maar_queue *q1 = queue_with("q1", 1, 0, 0, 1000, 0);
    struct maar_queue *q2 = queue_with("q2", 1, 900, 0, 1000, 0);
    fake_open(f);
    assert_int_equal(order(q1, q2), -1);
    q2->priority = 5;
    assert_int_equal(order(q1, q2), 1);
    q1->priority = INT32_MIN;
    q2->priority = INT32_MAX;
    assert_int_equal(order(q1, q2), 1);
    end();
}

/* E-prop-8 */
static void proportion_gives_no_dimension_that_is_not_asked(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10000, 20 * GI, 8);
        struct maar_queue *a = queue_with("a", 1, 0, 0, 1000, GI);
        struct maar_queue *b = queue_with("b", 1, 0, 0, 1000, GI);
        fake_tasks(f, b->jobs[0], gpu_1, MAAR_TASK_PENDING, MAAR_NO_NODE, 8);
        fake_open(f);
        assert_int_equal(deserves(a, DIM_GPU), 0);
        assert_int_equal(deserves(b, DIM_GPU), 8);
        end();
    }
}

static void proportion_capability_limits_what_it_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t cpu, memory, gpu; /* of the capability, -1: not named */
        int64_t want_cpu, want_memory_gi, want_gpu;
    } rows[] = {
        {"none", -1, -1, -1, 32000, 64, 8},
        {"cpu", 10000, -1, -1, 10000, 64, 8},
        {"cpu and no gpu", 10000, -1, 0, 10000, 64, 0},
        {"gpu", -1, -1, 3, 32000, 64, 3},
        {"cpu 0 is no limit", 0, -1, 3, 32000, 64, 3},
        {"memory", -1, 5 * GI, -1, 32000, 5, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 32000, 64 * GI, 8);
            struct maar_queue *queue = queue_with("q", 1, 0, 0, 40000, 80 * GI);
            fake_task(f, queue->jobs[0], fake_class(f, 0, 0, 10, 0), MAAR_TASK_PENDING,
                      MAAR_NO_NODE);
            queue->capability = fake_resource(f, rows[i].cpu, rows[i].memory, 0, rows[i].gpu, -1);
            fake_open(f);
            if (deserves(queue, 0) != rows[i].want_cpu ||
                deserves(queue, 1) != rows[i].want_memory_gi * 1024 ||
                deserves(queue, DIM_GPU) != rows[i].want_gpu)
                fail_msg("%s", rows[i].name);
            end();
        }
    }
}

/* S18: whoever asks alone for a dimension gets all of it, whatever the weights. */
static void proportion_weight_takes_nothing_from_those_who_do_not_compete(void **state)
{
    (void)state;
    begin(false, 10000, 10 * GI, 0);
    struct maar_queue *a = queue_with("a", 1, 0, 0, 40000, 0);
    struct maar_queue *b = queue_with("b", 100, 0, 0, 0, 40 * GI);
    fake_open(f);
    assert_int_equal(deserves(a, 0), 10000);
    assert_int_equal(deserves(b, 1), 10 * 1024);
    end();
}

static void proportion_great_weight_below_a_ceiling(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 100000, GI, 0);
        struct maar_queue *high = queue_with("high", 10000000, 0, 0, 40000, 0);
        struct maar_queue *low = queue_with("low", 1, 0, 0, 200000, 0);
        high->capability = fake_resource(f, 10000, -1, 0, -1, -1);
        low->capability = fake_resource(f, 400000, -1, 0, -1, -1);
        fake_open(f);
        assert_int_equal(deserves(high, 0), 10000);
        assert_int_equal(deserves(low, 0), 90000);
        end();
    }
}

/* S19: one queue is over half of the memory, the other over half of the cpu; both may go on. */
static void proportion_over_in_one_dimension_only_is_no_obstacle(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 21000, 104 * GI, 0);
        struct maar_queue *q1 = queue_with("q1", 1, 10000, GI, 11000, 2 * GI);
        struct maar_queue *q2 = queue_with("q2", 1, 1000, 58 * GI, 2000, 59 * GI);
        q1->capability = fake_resource(f, 14000, 30 * GI, 0, -1, -1);
        q2->capability = fake_resource(f, 6000, 70 * GI, 0, -1, -1);
        fake_open(f);
        assert_false(overused(q1));
        assert_false(overused(q2));
        assert_int_equal(room(q1, q1->jobs[0]->tasks[1]->cls, 1), 1);
        assert_int_equal(room(q2, q2->jobs[0]->tasks[1]->cls, 1), 1);
        end();
    }
}

/* S11 */
static void proportion_own_size_counts(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 64000, 64 * GI, 0);
        struct maar_queue *queue = queue_with("q", 1, 10000, 0, 18000, 0);
        queue->capability = fake_resource(f, 12000, -1, 0, -1, -1);
        fake_open(f);
        struct maar_reasons reasons = {0};
        assert_int_equal(f->plugin->hooks.queue_room(f->self, &f->view, queue,
                                                     queue->jobs[0]->tasks[1], 1, &reasons),
                         0);
        assert_int_equal(reasons.n, 1);
        assert_string_equal(reasons.text[0], "queue q: cpu 10 used + 8 asked > 12 deserved");
        end();
    }
}

/* Parts that are whole numbers come out as such, so no rounding error refuses a task. */
static void proportion_rounding_refuses_no_task(void **state)
{
    (void)state;
    for (int32_t weight = 1; weight < 60; weight++) {
        for (int32_t other = 1; other < 60; other++) {
            begin(false, 100 * (weight + other), GI, 0);
            struct maar_queue *a = queue_with("a", weight, 0, 0, 1000000, 0);
            struct maar_queue *b = queue_with("b", other, 0, 0, 1000000, 0);
            fake_open(f);
            assert_int_equal(deserves(a, 0), 100 * weight);
            assert_int_equal(deserves(b, 0), 100 * other);
            end();
        }
    }
}

/* E-prop-4; whom the surplus is taken from is where ours differs. */
static void proportion_reclaims_until_within_what_is_deserved(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool memory_first;
        const char *want, *want_compatible;
    } rows[] = {
        {"two of six", false, "110000", "110000"},
        {"a task that holds no cpu", true, "0110000", "1110000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 8000, 16 * GI, 0);
            struct maar_queue *a = fake_queue(f, "a", 1);
            struct maar_job *job = fake_job(f, a, "a", 1);
            if (rows[i].memory_first)
                fake_task(f, job, fake_class(f, 0, GI, 0, 0), MAAR_TASK_RUNNING, node);
            fake_tasks(f, job, fake_class(f, 1000, GI / 2, 0, 0), MAAR_TASK_RUNNING, node, 6);
            fake_task(f, job, fake_class(f, 4000, 10 * GI, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
            struct maar_queue *b = queue_with("b", 1, 0, 0, 8000, 16 * GI);
            fake_open(f);
            char text[FAKE_MAX + 1];
            size_t n = strlen(rows[i].want);
            assert_string_equal(fake_victims(f, f->plugin->hooks.reclaimable, b->jobs[0]->tasks[0],
                                             job->tasks, n, text),
                                mode ? rows[i].want_compatible : rows[i].want);
            end();
        }
    }
}

static void proportion_orphans_are_skipped(void **state)
{
    (void)state;
    begin(false, 8000, 16 * GI, 0);
    struct maar_queue *b = queue_with("b", 1, 0, 0, 1000, GI);
    struct maar_queue *idle = fake_queue(f, "idle", 1);
    struct maar_job *gone = fake_job(f, NULL, "gone", 1);
    struct maar_class *cls = fake_class(f, 1000, GI, 0, 0);
    struct maar_task *candidates[] = {fake_task(f, NULL, cls, MAAR_TASK_RUNNING, node),
                                      fake_task(f, gone, cls, MAAR_TASK_RUNNING, node)};
    fake_open(f);
    char text[FAKE_MAX + 1];
    assert_string_equal(
        fake_victims(f, f->plugin->hooks.reclaimable, b->jobs[0]->tasks[0], candidates, 2, text),
        "00");
    fake_move(f, candidates[0], MAAR_TASK_RELEASING, node);
    fake_move(f, candidates[1], MAAR_TASK_RELEASING, node);
    assert_true(overused(idle));
    assert_int_equal(f->plugin->hooks.job_enqueueable(f->self, &f->view, gone), MAAR_REJECT);
    end();
}

/* S14: a job whose only pod is larger than any node keeps nobody out. */
static void proportion_impossible_job_holds_nothing(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8000, GI, 2);
        fake_node(f, "n2", 8000, GI, 110, 2);
        fake_node(f, "n3", 8000, GI, 110, 2);
        struct maar_queue *queue = fake_queue(f, "q", 1);
        struct maar_job *large = fake_job(f, queue, "large", 1);
        large->has_min_resources = true;
        large->min_resources = fake_resource(f, -1, -1, 0, 4, -1);
        fake_task(f, large, fake_class(f, 0, 0, 4, 0), MAAR_TASK_PENDING, MAAR_NO_NODE);
        struct maar_job *job = fake_job(f, queue, "job", 3);
        job->phase = MAAR_PHASE_PENDING;
        job->has_min_resources = true;
        job->min_resources = fake_resource(f, -1, -1, 0, 3, -1);
        fake_tasks(f, job, gpu_1, MAAR_TASK_PENDING, MAAR_NO_NODE, 3);
        fake_open(f);
        assert_int_equal(enqueueable(job), mode ? MAAR_REJECT : MAAR_PERMIT);
        end();
    }
}

/* What cannot go on to a node whatever is free claims no part, so that others may use it. */
static void proportion_hopeless_pods_claim_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool gated;
        uint8_t queue_state;
        int64_t pod_cpu;
        bool claims;
    } rows[] = {
        {"plain", false, MAAR_QUEUE_OPEN, 4000, true},
        {"behind a gate", true, MAAR_QUEUE_OPEN, 4000, false},
        {"queue closed", false, MAAR_QUEUE_CLOSED, 4000, false},
        {"larger than any node", false, MAAR_QUEUE_OPEN, 9000, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 8000, 64 * GI, 0);
            struct maar_queue *other = fake_queue(f, "other", 1);
            struct maar_job *job = fake_job(f, other, "other", 1);
            struct maar_class *cls = fake_class(f, rows[i].pod_cpu, 0, 0, 0);
            cls->slot = 3;
            other->state = rows[i].queue_state;
            fake_task(f, job, cls, MAAR_TASK_PENDING, MAAR_NO_NODE)->gated = rows[i].gated;
            struct maar_queue *queue = queue_with("q", 1, 0, 0, 8000, GI);
            fake_open(f);
            if (deserves(queue, 0) != (rows[i].claims || mode ? 4000 : 8000))
                fail_msg("%s, mode %d: %d", rows[i].name, mode, (int)deserves(queue, 0));
            end();
        }
    }
}

/* A guarantee of a queue that takes nothing covers what it holds. */
static void proportion_closed_queue_keeps_what_it_holds(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10000, 64 * GI, 0);
        struct maar_queue *closed = queue_with("closed", 1, 1000, 0, 9000, 0);
        struct maar_queue *queue = queue_with("q", 1, 0, 0, 10000, 0);
        closed->state = MAAR_QUEUE_CLOSED;
        closed->guarantee = fake_resource(f, 6000, -1, 0, -1, -1);
        fake_open(f);
        assert_int_equal(deserves(queue, 0), mode ? 4000 : 9000);
        end();
    }
}

/* A job that the empty cluster could not hold may still try what others leave: it is refused for the nodes' sake. */
static void proportion_hopeless_jobs_come_last(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8000, 64 * GI, 0);
        struct maar_queue *hopeless = fake_queue(f, "hopeless", 9);
        fake_tasks(f, fake_job(f, hopeless, "j", 3), fake_class(f, 4000, 0, 0, 0),
                   MAAR_TASK_PENDING, MAAR_NO_NODE, 3);
        struct maar_queue *queue = queue_with("q", 1, 0, 0, 3000, GI);
        fake_open(f);
        assert_int_equal(deserves(queue, 0), mode ? 800 : 3000);
        assert_int_equal(deserves(hopeless, 0), mode ? 7200 : 5000);
        hopeless->capability = fake_resource(f, 2000, -1, 0, -1, -1);
        fake_open(f);
        assert_int_equal(deserves(hopeless, 0), 2000);
        end();
    }
}

/* Many jobs of one class, asked about with unlike numbers: the memory gives what a fresh count gives. */
static void proportion_remembered_slots_are_right(void **state)
{
    (void)state;
    static const int n_pods[] = {1, 5, 3, 8, 4, 9, 2, 16, 7};
    begin(false, 8000, 64 * GI, 0);
    struct maar_class *cls = fake_class(f, 1000, 0, 0, 0);
    struct maar_queue *queue = fake_queue(f, "q", 1);
    struct maar_job *asker = fake_job(f, queue, "asker", 1);
    int64_t held = 0;
    for (size_t i = 0; i < sizeof n_pods / sizeof *n_pods; i++) {
        struct maar_job *job = fake_job(f, queue, "j", n_pods[i]);
        job->has_min_resources = true;
        job->min_resources = fake_resource(f, 10, -1, 0, -1, -1);
        fake_tasks(f, job, cls, MAAR_TASK_PENDING, MAAR_NO_NODE, (size_t)n_pods[i]);
        held += n_pods[i] <= 8 ? 10 : 0;
    }
    asker->phase = MAAR_PHASE_PENDING;
    asker->has_min_resources = true;
    asker->min_resources = fake_resource(f, 8000 - held, -1, 0, -1, -1);
    fake_open(f);
    assert_int_equal(enqueueable(asker), MAAR_PERMIT);
    asker->min_resources.v[0]++;
    assert_int_equal(enqueueable(asker), MAAR_REJECT);
    end();
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* Everybody's part is weight × level within his bounds, for one level at which the parts use up the total: found here
 * by halving. A guarantee counts up to the capability. */
static void proportion_parts_share_one_level(void **state)
{
    (void)state;
    enum {
        N = 6,
    };
    uint32_t seed = 7;
    for (int round = 0; round < 500; round++) {
        struct maar_queue *queues[N];
        double low[N], high[N], limit[N], weight[N], promised = 0,
                                                     total = 1000 + draw(&seed, 20000);
        begin(false, (int64_t)total, GI, 0);
        for (int i = 0; i < N; i++) {
            weight[i] = 1 + draw(&seed, 9) * draw(&seed, 9);
            high[i] = draw(&seed, 12000);
            low[i] = draw(&seed, 4) ? 0 : draw(&seed, 4000);
            limit[i] = draw(&seed, 3) ? 0 : 1 + draw(&seed, 9000);
            queues[i] = queue_with("q", (int32_t)weight[i], 0, 0, (int64_t)high[i], 0);
            if (low[i] > 0)
                queues[i]->guarantee = fake_resource(f, (int64_t)low[i], -1, 0, -1, -1);
            if (limit[i] > 0)
                queues[i]->capability = fake_resource(f, (int64_t)limit[i], -1, 0, -1, -1);
            low[i] = limit[i] > 0 && limit[i] < low[i] ? limit[i] : low[i];
            promised += low[i];
        }
        double free_part = total > promised ? total - promised : 0;
        for (int i = 0; i < N; i++) {
            double ceiling = free_part + low[i];
            ceiling = limit[i] > 0 && limit[i] < ceiling ? limit[i] : ceiling;
            high[i] = high[i] > ceiling ? ceiling : high[i];
            high[i] = high[i] < low[i] ? low[i] : high[i];
        }
        double from = 0, to = 1e6, parts[N];
        for (int step = 0; step < 200; step++) {
            double level = (from + to) / 2, sum = 0;
            for (int i = 0; i < N; i++) {
                double part = weight[i] * level;
                parts[i] = part < low[i] ? low[i] : part > high[i] ? high[i] : part;
                sum += parts[i];
            }
            *(sum > total ? &to : &from) = level;
        }
        fake_open(f);
        for (int i = 0; i < N; i++) {
            double got = (double)deserves(queues[i], MAAR_DIM_CPU);
            if (!(got > parts[i] - 1.01 && got < parts[i] + 0.2))
                fail_msg("round %d, queue %d: %g, not %g", round, i, got, parts[i]);
        }
        end();
    }
}

static double published[3][FAKE_DIMS]; /* deserved, inqueue, limit */

static void record_amount(void *session, const struct maar_queue *queue, const char *set,
                          uint32_t dim, double value)
{
    (void)session;
    assert_string_equal(queue->name, "q");
    static const char *const sets[] = {"deserved", "inqueue", "limit"};
    size_t i = 0;
    while (i < 3 && strcmp(set, sets[i]) != 0)
        i++;
    assert_true(i < 3);
    published[i][dim] = value;
}

static void proportion_publishes_what_queues_deserve(void **state)
{
    (void)state;
    begin(false, 8000, 64 * GI, 0);
    struct maar_queue *queue = queue_with("q", 1, 0, 0, 3000, 0);
    queue->jobs[0]->has_min_resources = true;
    queue->jobs[0]->min_resources = fake_resource(f, 2000, -1, 0, -1, -1);
    fake_open(f);
    f->host.queue_amount = record_amount;
    memset(published, 0, sizeof published);
    f->plugin->close(f->self, &f->view);
    assert_true(published[0][MAAR_DIM_CPU] == 3000 && published[1][MAAR_DIM_CPU] == 2000);
    assert_true(published[0][MAAR_DIM_PODS] == 1 && published[2][MAAR_DIM_CPU] == 8000);
    /* A host without that function. */
    f->host.size = offsetof(struct maar_host, queue_amount);
    f->host.queue_amount = NULL;
    f->plugin->close(f->self, &f->view);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proportion_divides_by_weight_and_request),
        cmocka_unit_test(proportion_guarantee_is_a_floor_and_capability_a_ceiling),
        cmocka_unit_test(proportion_promises_no_more_than_there_is),
        cmocka_unit_test(proportion_overused_is_all_dimensions),
        cmocka_unit_test(proportion_room_looks_at_what_is_asked_only),
        cmocka_unit_test(proportion_room_counts_as_repeated_answers),
        cmocka_unit_test(proportion_room_follows_the_events_and_their_undoing),
        cmocka_unit_test(proportion_pipelined_at_open_hold_room),
        cmocka_unit_test(proportion_gate_counts_what_the_queue_admitted),
        cmocka_unit_test(proportion_gate_reservations),
        cmocka_unit_test(proportion_queue_that_is_not_open_takes_nothing),
        cmocka_unit_test(proportion_higher_queue_priority_goes_first),
        cmocka_unit_test(proportion_gives_no_dimension_that_is_not_asked),
        cmocka_unit_test(proportion_capability_limits_what_it_names),
        cmocka_unit_test(proportion_weight_takes_nothing_from_those_who_do_not_compete),
        cmocka_unit_test(proportion_great_weight_below_a_ceiling),
        cmocka_unit_test(proportion_over_in_one_dimension_only_is_no_obstacle),
        cmocka_unit_test(proportion_own_size_counts),
        cmocka_unit_test(proportion_rounding_refuses_no_task),
        cmocka_unit_test(proportion_reclaims_until_within_what_is_deserved),
        cmocka_unit_test(proportion_orphans_are_skipped),
        cmocka_unit_test(proportion_impossible_job_holds_nothing),
        cmocka_unit_test(proportion_hopeless_pods_claim_nothing),
        cmocka_unit_test(proportion_closed_queue_keeps_what_it_holds),
        cmocka_unit_test(proportion_hopeless_jobs_come_last),
        cmocka_unit_test(proportion_remembered_slots_are_right),
        cmocka_unit_test(proportion_parts_share_one_level),
        cmocka_unit_test(proportion_publishes_what_queues_deserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
