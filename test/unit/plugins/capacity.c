/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin capacity without enableHierarchy: limits, order, gate and reclaim, both as Volcano does
 * and as we do. */

#include "capacity_fake.h"

static void begin(bool compatibility, int64_t cpu, int64_t gi, int64_t gpu)
{
    begin_with(compatibility, NULL, cpu, gi, gpu);
}

/* E-cap-1 */
static void capacity_limit_is_capability_and_what_guarantees_leave(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20, 40, 0);
        struct maar_queue *red = fake_queue(f, "red", 1), *blue = fake_queue(f, "blue", 1);
        struct maar_queue *green = fake_queue(f, "green", 1);
        red->guarantee = amount(4, -1, -1);
        blue->deserved = amount(6, 12, -1);
        blue->capability = amount(10, -1, -1);
        fake_open(f);
        assert_int_equal(room(red, asks(1, 0, 0), 100), 20);
        assert_int_equal(room(blue, asks(1, 0, 0), 100), 10);
        assert_int_equal(room(green, asks(1, 0, 0), 100), 16);
        assert_int_equal(room(red, asks(0, 1, 0), 100), 40);
        assert_int_equal(room(blue, asks(0, 1, 0), 100), 40);
        assert_string_equal(room_text(blue, asks(11, 0, 0)),
                            "queue blue: cpu 0 used + 11 asked > 10 capability");
        assert_string_equal(room_text(red, asks(21, 0, 0)),
                            "queue red: cpu 0 used + 21 asked > 20 in the cluster");
        assert_string_equal(room_text(blue, asks(0, 41, 0)),
                            "queue blue: memory 0 used + 41Gi asked > 40Gi in the cluster");
        end();
    }
}

/* E-cap-2, S11 */
static void capacity_own_size_counts(void **state)
{
    (void)state;
    static const struct {
        int64_t cpu, mi, held_cpu, held_mi, ask_cpu, ask_mi;
        bool want;
    } rows[] = {
        {1500, 1536, 1000, 1024, 1000, 1024, false},
        {2000, 2048, 1000, 1024, 1000, 1024, true},
        {12000, -1, 10000, 0, 8000, 0, false},
        {12000, -1, 10000, 0, 2000, 5000, true},
        /* One dimension is over; only what is asked counts. */
        {2000, 2048, 3000, 1024, 0, 1024, true},
        {2000, 2048, 3000, 1024, 1, 1024, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 64, 64, 0);
            struct maar_queue *q = fake_queue(f, "q", 1);
            int64_t mi = rows[i].mi;
            q->capability = fake_resource(f, rows[i].cpu, mi < 0 ? mi : mi * MI, 0, -1, -1);
            runs(q, fake_class(f, rows[i].held_cpu, rows[i].held_mi * MI, 0, 0));
            fake_open(f);
            assert_int_equal(room(q, fake_class(f, rows[i].ask_cpu, rows[i].ask_mi * MI, 0, 0), 1),
                             rows[i].want);
            if (i == 2)
                assert_string_equal(room_text(q, asks(8, 0, 0)),
                                    "queue q: cpu 10 used + 8 asked > 12 capability");
            end();
        }
    }
}

/* A count stops where the repeated question stops. */
static void capacity_room_counts_as_repeated_answers(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 3, 7, 333, 1000, 3333, 9999, 10001};
    EACH_MODE(mode)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            begin(mode, 64, 64, 0);
            struct maar_queue *q = fake_queue(f, "q", 1), *other = fake_queue(f, "other", 1);
            q->capability = amount(10, -1, -1);
            other->guarantee = amount(1, -1, -1);
            fake_open(f);
            uint32_t want = (uint32_t)(10000 / sizes[i]);
            assert_int_equal(room(q, fake_class(f, sizes[i], 0, 0, 0), 1000000), want);
            assert_int_equal(room(q, fake_class(f, sizes[i], 0, 0, 0), want), want);
            assert_int_equal(room(q, fake_class(f, sizes[i], 0, 0, 0), want + 1), want);
            assert_int_equal(room(q, fake_class(f, sizes[i], 0, 0, 0), 1), want > 0);
            assert_int_equal(room(q, fake_class(f, 0, 0, 0, 0), UINT32_MAX), UINT32_MAX);
            end();
        }
    }
}

/* S17 */
static void capacity_limits_what_it_names(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 32, 64, 8);
        f->columns[0][DIM_STORAGE][node] = 200 * GI;
        f->node_present[node] |= UINT64_C(1) << DIM_STORAGE;
        struct maar_queue *a = fake_queue(f, "a", 1), *b = fake_queue(f, "b", 1);
        struct maar_queue *c = fake_queue(f, "c", 1), *d = fake_queue(f, "d", 1);
        a->capability = amount(10, -1, -1);
        b->capability = fake_resource(f, 10000, -1, 0, -1, INT64_C(100000000000000000));
        c->capability = amount(10, -1, 0);
        d->capability = amount(0, -1, 3); /* an amount of 0 cpu is no limit */
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 2), 1), 1);
        assert_int_equal(room(b, fake_class(f, 1000, 0, 0, GI), 1), 1);
        assert_int_equal(room(c, asks(1, 0, 0), 1), 1);
        assert_string_equal(room_text(c, asks(1, 0, 1)),
                            "queue c: nvidia.com/gpu 0 used + 1 asked > 0 capability");
        assert_int_equal(room(d, asks(1, 0, 0), 100), 32);
        assert_int_equal(room(d, asks(0, 0, 1), 100), 3);
        end();
    }
}

/* What no node offers now is for the nodes to refuse. */
static void capacity_dimension_that_no_node_offers(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 32, 64, 0);
        struct maar_queue *q = fake_queue(f, "q", 1);
        q->deserved = amount(1, -1, 2);
        struct maar_job *job = group(q, amount(1, -1, 2));
        fake_open(f);
        assert_int_equal(room(q, asks(1, 0, 2), 1), !mode);
        assert_int_equal(preemptive(q, asks(1, 0, 2)), !mode);
        assert_int_equal(gate(job), mode ? MAAR_REJECT : MAAR_PERMIT);
        end();
    }
}

/* Q16: two queues that may each take all but the guarantee would together leave nothing of it. */
static void capacity_guarantee_stays_free_whoever_asks(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 12, 10, 0);
        struct maar_queue *a = fake_queue(f, "a", 1), *b = fake_queue(f, "b", 1);
        struct maar_queue *kept = fake_queue(f, "kept", 1);
        kept->guarantee = amount(4, -1, -1);
        fake_queue(f, "idle", 1)->guarantee = amount(2, -1, -1);
        runs(a, asks(4, 1, 0));
        struct maar_task *task = runs(kept, asks(1, 1, 0));
        fake_open(f);
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 6 : 2);
        if (!mode)
            assert_string_equal(
                room_text(b, asks(3, 0, 0)),
                "cluster: cpu 5 used + 3 asked + 5 guaranteed to others than b > 12");
        /* Memory is not guaranteed to anybody. */
        assert_int_equal(room(b, asks(0, 1, 0), 10), 10);
        /* Its owner may always have it, and more as far as there is more. */
        assert_int_equal(room(kept, asks(1, 0, 0), 10), mode ? 9 : 5);

        /* The promise follows the events and their undoing. */
        size_t mark = f->n_saved;
        fake_move(f, task, MAAR_TASK_RELEASING, node);
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 6 : 2);
        struct maar_task *more[6];
        for (size_t i = 0; i < 6; i++)
            more[i] = waits(kept, asks(1, 0, 0));
        for (size_t i = 0; i < 6; i++)
            fake_move(f, more[i], MAAR_TASK_ALLOCATED, node);
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 6 : 0);
        fake_undo(f, mark);
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 6 : 2);
        end();
    }
}

/* E-cap-16 without a tree: more is promised than there is. */
static void capacity_guarantees_above_the_cluster(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 6, 6, 0);
        struct maar_queue *a = fake_queue(f, "a", 1), *b = fake_queue(f, "b", 1);
        struct maar_queue *c = fake_queue(f, "c", 1);
        a->guarantee = b->guarantee = amount(4, -1, -1);
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 0), 10), 4);
        assert_int_equal(room(b, asks(1, 0, 0), 10), 4);
        assert_int_equal(room(c, asks(1, 0, 0), 10), 0);
        end();
    }
}

static void capacity_absurd_guarantees_do_no_harm(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8, 8, 0);
        struct maar_queue *a = fake_queue(f, "a", 1), *b = fake_queue(f, "b", 1);
        struct maar_queue *c = fake_queue(f, "c", 1);
        a->guarantee = b->guarantee = fake_resource(f, INT64_MAX, INT64_MAX, 0, INT64_MAX, -1);
        a->capability = amount(6, -1, -1);
        a->deserved = fake_resource(f, INT64_MAX, INT64_MAX, 0, INT64_MAX, -1);
        struct maar_task *task = runs(a, asks(2, 0, 0)), *evictor = waits(c, asks(1, 0, 0));
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 0), 10), 4);
        assert_int_equal(room(c, asks(1, 0, 0), 10), 0);
        assert_string_equal(reclaims(evictor, &task, 1), "0");
        fake_move(f, task, MAAR_TASK_RELEASING, node);
        assert_int_equal(room(a, asks(1, 0, 0), 10), 6);
        end();
    }
}

/* E-cap-3 */
static void capacity_gate_looks_at_what_the_minimum_names(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 6, 6, 0);
        struct maar_queue *q1 = fake_queue(f, "q1", 1), *q2 = fake_queue(f, "q2", 1);
        q1->deserved = q1->capability = amount(2, 2, -1);
        q2->capability = amount(3, 3, -1);
        runs(q1, asks(1, 3, 0));
        runs(q2, asks(3, 1, 0));
        struct maar_job *j1 = group(q1, amount(1, 0, -1)), *j2 = group(q2, amount(0, 1, -1));
        struct maar_job *j3 = group(q1, amount(1, 1, -1));
        fake_open(f);
        /* What runs without a minimum is above its minimum: it makes way for others' minima. */
        assert_int_equal(gate(j1), MAAR_PERMIT);
        assert_int_equal(gate(j2), MAAR_PERMIT);
        assert_int_equal(gate(j3), MAAR_PERMIT);
        end();

        begin(mode, 6, 6, 0);
        q1 = fake_queue(f, "q1", 1), q2 = fake_queue(f, "q2", 1);
        q1->deserved = q1->capability = amount(2, 2, -1);
        q2->capability = amount(3, 3, -1);
        struct maar_job *held1 = group(q1, amount(1, 3, -1));
        struct maar_job *held2 = group(q2, amount(3, 1, -1));
        held1->phase = held2->phase = MAAR_PHASE_RUNNING;
        fake_task(f, held1, asks(1, 3, 0), MAAR_TASK_RUNNING, node);
        fake_task(f, held2, asks(3, 1, 0), MAAR_TASK_RUNNING, node);
        j1 = group(q1, amount(1, 0, -1)), j2 = group(q2, amount(0, 1, -1));
        j3 = group(q1, amount(1, 1, -1));
        fake_open(f);
        assert_int_equal(gate(j1), MAAR_PERMIT);
        assert_int_equal(gate(j2), MAAR_PERMIT);
        assert_int_equal(f->n_events, 0);
        assert_int_equal(gate(j3), MAAR_REJECT);
        assert_string_equal(f->event_reason, "Unschedulable");
        assert_string_equal(f->event_message,
                            mode ? "queue resource quota insufficient: insufficient memory"
                                 : "queue resource quota insufficient: insufficient memory "
                                   "(queue q1: memory 3Gi taken + 1Gi asked > 2Gi capability)");

        /* Once let in, a job holds its minimum, until undone. */
        size_t mark = f->n_saved;
        f->plugin->hooks.on_enqueued(f->self, &f->view, j1);
        assert_int_equal(gate(j1), MAAR_REJECT);
        fake_undo(f, mark);
        assert_int_equal(gate(j1), MAAR_PERMIT);
        j3->has_min_resources = false;
        assert_int_equal(gate(j3), MAAR_PERMIT);
        end();
    }
}

static void capacity_gate_names_dimensions_in_one_order(void **state)
{
    (void)state;
    begin(false, 6, 6, 4);
    struct maar_queue *q = fake_queue(f, "q", 1);
    q->capability = fake_resource(f, 1000, GI, 0, 1, 1);
    f->node_present[node] |= UINT64_C(1) << DIM_STORAGE;
    struct maar_job *job = group(q, fake_resource(f, 2000, 2 * GI, 0, 2, 3 * GI / 2));
    fake_open(f);
    assert_int_equal(gate(job), MAAR_REJECT);
    const char *numbers = strchr(f->event_message, '(');
    assert_non_null(numbers);
    assert_string_equal(numbers,
                        "(queue q: cpu 0 taken + 2 asked > 1 capability; "
                        "queue q: memory 0 taken + 2Gi asked > 1Gi capability; "
                        "queue q: ephemeral-storage 0 taken + 1.5Gi asked > 0 in the cluster; "
                        "queue q: nvidia.com/gpu 0 taken + 2 asked > 1 capability)");
    end();
}

/* Running jobs hold the rest of their minimum, and what they have above it makes way. */
static void capacity_gate_reservations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint8_t phase;
        int32_t min;
        int n_running, n_gated;
        int64_t held; /* cores beside those in use */
    } rows[] = {
        {"inqueue, no pods", MAAR_PHASE_INQUEUE, 3, 0, 0, 6},
        {"inqueue, one runs", MAAR_PHASE_INQUEUE, 3, 1, 0, 5},
        {"inqueue, one is gated", MAAR_PHASE_INQUEUE, 3, 1, 1, 4},
        {"running with its minimum", MAAR_PHASE_RUNNING, 3, 3, 0, 3},
        {"running below its minimum", MAAR_PHASE_RUNNING, 3, 2, 0, 0},
        {"running above its minimum", MAAR_PHASE_RUNNING, 3, 8, 0, -2},
        {"pending", MAAR_PHASE_PENDING, 3, 0, 0, 0},
        {"unknown", MAAR_PHASE_UNKNOWN, 3, 3, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 10, 20, 0);
            struct maar_queue *queue = fake_queue(f, "q", 1);
            struct maar_job *job = group(queue, amount(6, -1, -1));
            job->phase = rows[i].phase;
            job->min_available = rows[i].min;
            fake_tasks(f, job, asks(1, 0, 0), MAAR_TASK_RUNNING, node, (size_t)rows[i].n_running);
            for (int k = 0; k < rows[i].n_gated; k++)
                fake_task(f, job, asks(1, 0, 0), MAAR_TASK_PENDING, MAAR_NO_NODE)->gated = true;
            int64_t left = 10 - rows[i].n_running - rows[i].held;
            struct maar_job *asker = group(queue, amount(left, -1, -1));
            fake_open(f);
            if (gate(asker) != MAAR_PERMIT)
                fail_msg("%s: holds too much", rows[i].name);
            asker->min_resources.v[0]++;
            if (gate(asker) != MAAR_REJECT)
                fail_msg("%s: holds too little", rows[i].name);
            end();
        }
    }
}

/* S14: a job whose only pod is larger than any node keeps nobody out. */
static void capacity_impossible_job_holds_nothing(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8, 8, 2);
        fake_node(f, "n2", 8000, GI, 110, 2);
        struct maar_queue *queue = fake_queue(f, "q", 1);
        struct maar_job *large = group(queue, amount(-1, -1, 4));
        large->phase = MAAR_PHASE_INQUEUE;
        fake_task(f, large, asks(0, 0, 4), MAAR_TASK_PENDING, MAAR_NO_NODE);
        struct maar_job *job = group(queue, amount(-1, -1, 3));
        fake_open(f);
        assert_int_equal(gate(job), mode ? MAAR_REJECT : MAAR_PERMIT);
        end();
    }
}

static void capacity_queue_that_is_not_open_takes_nothing(void **state)
{
    (void)state;
    static const struct {
        uint8_t queue_state;
        bool want, want_compatible;
        const char *text;
    } rows[] = {
        {MAAR_QUEUE_OPEN, true, true, NULL},
        {MAAR_QUEUE_NONE, true, false, NULL},
        {MAAR_QUEUE_CLOSED, false, false, "queue q is Closed"},
        {MAAR_QUEUE_CLOSING, false, false, "queue q is Closing"},
        {MAAR_QUEUE_UNKNOWN, false, false, "queue q is Unknown"},
        {200, false, false, "queue q is not Open"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 10, 20, 0);
            struct maar_queue *queue = fake_queue(f, "q", 1);
            queue->deserved = amount(5, 5, -1);
            queue->state = rows[i].queue_state;
            struct maar_job *job = group(queue, amount(1, -1, -1));
            fake_open(f);
            bool want = mode ? rows[i].want_compatible : rows[i].want;
            assert_int_equal(room(queue, asks(1, 0, 0), 1), want);
            assert_int_equal(gate(job), want ? MAAR_PERMIT : MAAR_REJECT);
            assert_int_equal(preemptive(queue, asks(1, 0, 0)), want);
            if (rows[i].text) {
                assert_string_equal(room_text(queue, asks(1, 0, 0)), rows[i].text);
                assert_string_equal(f->event_message, mode ? "" : rows[i].text);
            }
            end();
        }
    }
}

/* E-cap-10, E-cap-17 */
static void capacity_order_is_priority_then_share(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20, 20, 0);
        struct maar_queue *r1 = fake_queue(f, "r1", 1), *r2 = fake_queue(f, "r2", 1);
        struct maar_queue *half = fake_queue(f, "half", 1), *over = fake_queue(f, "over", 1);
        struct maar_queue *memory = fake_queue(f, "memory", 1), *r3 = fake_queue(f, "r3", 1);
        r1->deserved = half->deserved = over->deserved = amount(2, -1, -1);
        memory->deserved = amount(10, 4, -1);
        runs(r1, asks(2, 0, 0));
        runs(half, asks(1, 0, 0));
        struct maar_task *task = runs(over, asks(3, 0, 0));
        runs(memory, asks(1, 3, 0));
        fake_open(f);
        assert_int_equal(order(r1, r2), -1); /* both 1, but r2 deserves nothing */
        assert_int_equal(order(r2, r3), 0);
        assert_int_equal(order(half, r1), -1);
        assert_int_equal(order(half, memory), -1); /* .5 and .75 */
        assert_int_equal(order(memory, r2), -1);
        assert_int_equal(order(r2, over), -1);
        /* Shares follow the events. */
        fake_move(f, task, MAAR_TASK_RELEASING, node);
        assert_int_equal(order(over, half), -1);
        over->priority = INT32_MIN;
        r2->priority = INT32_MAX;
        assert_int_equal(order(r2, half), -1);
        assert_int_equal(order(half, over), -1);
        end();
    }
}

/* deserved is at most the limit and at least the guarantee. */
static void capacity_deserved_is_bounded(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20, 20, 0);
        struct maar_queue *low = fake_queue(f, "low", 1), *high = fake_queue(f, "high", 1);
        low->guarantee = amount(3, -1, -1);
        low->deserved = amount(2, -1, -1);
        high->deserved = amount(8, -1, -1);
        high->capability = amount(4, -1, -1);
        runs(low, asks(3, 0, 0));
        runs(high, asks(4, 0, 0));
        fake_open(f);
        assert_int_equal(order(low, high), 0); /* both hold just what they deserve */
        end();
    }
}

static void capacity_pipelined_at_open_hold_room(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10, 10, 0);
        struct maar_queue *queue = fake_queue(f, "q", 1);
        queue->capability = amount(5, -1, -1);
        fake_task(f, fake_job(f, queue, "j", 1), asks(3, 0, 0), MAAR_TASK_PIPELINED, node);
        fake_open(f);
        assert_int_equal(room(queue, asks(1, 0, 0), 9), 2);
        end();
    }
}

/* E-cap-4, E-cap-5, S25: candidates go in the order given. */
static void capacity_reclaims_until_within_what_is_deserved(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t deserved, guarantee;
        size_t n;
        int64_t sizes[10];
        const char *want;
    } rows[] = {
        {"x3 x2 x1", 2, 0, 3, {1, 2, 2}, "110"},
        {"x1 x2 x3", 2, 0, 3, {2, 2, 1}, "110"},
        {"guarantee", 2, 3, 4, {1, 1, 1, 1}, "1000"},
        {"guarantee that would be broken", 3, 3, 2, {2, 2}, "00"},
        {"guarantee kept by the small one", 3, 3, 3, {2, 1, 1}, "010"},
        {"ten of one core", 6, 0, 10, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "1111000000"},
        {"one that is too large", 4, 0, 1, {5}, "1"},
        {"within", 4, 0, 2, {2, 2}, "00"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 20, 20, 0);
            struct maar_queue *x = fake_queue(f, "x", 1), *y = fake_queue(f, "y", 1);
            x->deserved = amount(rows[i].deserved, 4, -1);
            y->deserved = amount(10, 10, -1);
            if (rows[i].guarantee)
                x->guarantee = amount(rows[i].guarantee, -1, -1);
            struct maar_task *candidates[10];
            for (size_t k = 0; k < rows[i].n; k++)
                candidates[k] = runs(x, asks(rows[i].sizes[k], 0, 0));
            struct maar_task *evictor = waits(y, asks(4, 0, 0));
            fake_open(f);
            const char *got = reclaims(evictor, candidates, rows[i].n);
            if (strcmp(got, rows[i].want) != 0)
                fail_msg("%s: %s, want %s", rows[i].name, got, rows[i].want);
            assert_string_equal(evicts("gangreclaim", evictor->job, candidates, rows[i].n),
                                rows[i].want);
            end();
        }
    }
}

/* Which dimensions count. x deserves, one task of x uses, y asks: does it pay? */
static void capacity_victim_pays_for_what_it_holds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t deserved[3], uses[3], asked[3];
        const char *want, *want_compatible;
    } rows[] = {
        {"E-cap-6: gpu is within, cpu is not named", {-1, -1, 1}, {4, 4, 1}, {4, 0, 0}, "0", "0"},
        {"E-cap-7: deserves nothing of it", {2, 2, -1}, {0, 0, 1}, {1, 1, 1}, "1", "1"},
        {"E-cap-7: holds nothing that is asked", {2, 2, -1}, {0, 3, 0}, {1, 0, 1}, "0", "0"},
        {"S17: gpu not used at all", {4, -1, 4}, {4, 0, 0}, {1, 0, 0}, "0", "0"},
        {"deserves nothing", {-1, -1, -1}, {1, 0, 0}, {1, 0, 0}, "1", "1"},
        {"over in what is asked", {2, -1, 4}, {3, 0, 1}, {1, 0, 0}, "1", "1"},
        {"over in what is not asked", {4, -1, 1}, {3, 0, 2}, {1, 0, 0}, "0", "1"},
        {"names nothing that is asked, and is over", {-1, -1, 1}, {3, 0, 2}, {1, 0, 0}, "1", "1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 20, 20, 8);
            struct maar_queue *x = fake_queue(f, "x", 1), *y = fake_queue(f, "y", 1);
            const int64_t *v = rows[i].deserved;
            x->deserved = amount(v[0], v[1], v[2]);
            y->deserved = amount(10, 10, 4);
            struct maar_task *victim =
                runs(x, asks(rows[i].uses[0], rows[i].uses[1], rows[i].uses[2]));
            struct maar_task *evictor =
                waits(y, asks(rows[i].asked[0], rows[i].asked[1], rows[i].asked[2]));
            fake_open(f);
            const char *got = reclaims(evictor, &victim, 1);
            if (strcmp(got, mode ? rows[i].want_compatible : rows[i].want) != 0)
                fail_msg("%s: %s", rows[i].name, got);
            end();
        }
    }
}

/* A guarantee of something that a victim does not hold does not protect it. */
static void capacity_guarantee_protects_what_it_names(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20, 20, 8);
        struct maar_queue *x = fake_queue(f, "x", 1), *y = fake_queue(f, "y", 1);
        x->guarantee = amount(-1, -1, 2);
        x->deserved = amount(1, -1, -1);
        y->deserved = amount(10, 10, 4);
        struct maar_task *victim = runs(x, asks(4, 0, 0)), *evictor = waits(y, asks(4, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, &victim, 1), mode ? "0" : "1");
        end();
    }
}

/* E-cap-8, E-cap-9. A queue that would be over by what it takes could be taken from at once. */
static void capacity_reclaims_what_it_deserves(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t deserved[2], capability[2], held[2], asked[2];
        bool want, want_compatible;
    } rows[] = {
        {"cpu above capability", {8, 100}, {8, 100}, {7, 90}, {2, 5}, false, false},
        {"memory above capability", {8, 100}, {8, 100}, {7, 90}, {1, 20}, false, false},
        {"within", {8, 100}, {8, 100}, {7, 90}, {1, 5}, true, true},
        {"one of two", {2, 2}, {4, 4}, {1, 3}, {1, 1}, false, true},
        {"none of two", {1, 2}, {4, 4}, {1, 1}, {1, 2}, false, false},
        {"what is not named does not count", {2, -1}, {4, 4}, {1, 3}, {1, 1}, true, true},
        {"deserves nothing", {-1, -1}, {4, 4}, {0, 0}, {1, 1}, false, false},
        {"deserves nothing of it", {-1, 2}, {4, 4}, {0, 0}, {1, 0}, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EACH_MODE(mode)
        {
            begin(mode, 200, 200, 0);
            struct maar_queue *q = fake_queue(f, "q", 1);
            q->deserved = amount(rows[i].deserved[0], rows[i].deserved[1], -1);
            q->capability = amount(rows[i].capability[0], rows[i].capability[1], -1);
            runs(q, asks(rows[i].held[0], rows[i].held[1], 0));
            fake_open(f);
            if (preemptive(q, asks(rows[i].asked[0], rows[i].asked[1], 0)) !=
                (mode ? rows[i].want_compatible : rows[i].want))
                fail_msg("%s", rows[i].name);
            end();
        }
    }
}

/* S24: who was taken from is not entitled to take it back. */
static void capacity_nobody_takes_back_at_once(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10, 10, 0);
        struct maar_queue *q1 = fake_queue(f, "q1", 1), *q2 = fake_queue(f, "q2", 1);
        q1->deserved = amount(4, -1, -1);
        q2->deserved = amount(6, -1, -1);
        struct maar_task *a1 = runs(q1, asks(5, 0, 0)), *b1 = runs(q2, asks(2, 0, 0));
        struct maar_task *b2 = waits(q2, asks(4, 0, 0));
        fake_open(f);
        assert_true(preemptive(q2, b2->cls));
        assert_string_equal(reclaims(b2, &a1, 1), "1");
        fake_move(f, a1, MAAR_TASK_RELEASING, node);
        fake_move(f, b2, MAAR_TASK_PIPELINED, node);
        assert_false(preemptive(q1, a1->cls));
        struct maar_task *a2 = a1;
        a2->status = MAAR_TASK_PENDING;
        struct maar_task *both[] = {b1, b2};
        assert_string_equal(reclaims(a2, both, 2), "00");
        end();
    }
}

static void capacity_takes_nothing_from_itself(void **state)
{
    (void)state;
    begin(false, 10, 10, 0);
    struct maar_queue *q = fake_queue(f, "q", 1);
    struct maar_task *own = runs(q, asks(4, 0, 0)), *evictor = waits(q, asks(2, 0, 0));
    fake_open(f);
    assert_string_equal(reclaims(evictor, &own, 1), "0");
    end();
}

static void capacity_gang_preempt_is_not_its_business(void **state)
{
    (void)state;
    begin(false, 10, 10, 0);
    struct maar_queue *q = fake_queue(f, "q", 1);
    q->guarantee = amount(5, 5, -1);
    struct maar_task *candidates[] = {runs(q, asks(1, 0, 0)), runs(q, asks(1, 0, 0))};
    struct maar_task *evictor = waits(q, asks(1, 0, 0));
    fake_open(f);
    assert_string_equal(evicts("gangpreempt", evictor->job, candidates, 2), "11");
    uint64_t bits = 0;
    struct maar_evict_context context = {.kind = "reclaim", .job = evictor->job};
    assert_int_equal(f->plugin->hooks.unified_evictable(f->self, &f->view, &context,
                                                        (const struct maar_task *const *)candidates,
                                                        2, &bits),
                     MAAR_ABSTAIN);
    assert_int_equal(bits, 0);
    end();
}

static void capacity_orphans_are_skipped(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 8, 16, 0);
        struct maar_queue *b = fake_queue(f, "b", 1);
        b->deserved = amount(4, 4, -1);
        struct maar_job *gone = fake_job(f, NULL, "gone", 1);
        struct maar_task *candidates[] = {
            fake_task(f, NULL, asks(1, 0, 0), MAAR_TASK_RUNNING, node),
            fake_task(f, gone, asks(1, 0, 0), MAAR_TASK_RUNNING, node)};
        struct maar_task *evictor = waits(b, asks(1, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, candidates, 2), "00");
        assert_string_equal(evicts("gangreclaim", NULL, candidates, 2), "00");
        uint64_t bits = 0;
        const struct maar_task *const *list = (const struct maar_task *const *)candidates;
        assert_int_equal(
            f->plugin->hooks.reclaimable(f->self, &f->view, candidates[0], list, 2, &bits),
            MAAR_REJECT);
        assert_int_equal(bits, 0);
        fake_move(f, candidates[0], MAAR_TASK_RELEASING, node);
        fake_move(f, candidates[1], MAAR_TASK_RELEASING, node);
        gone->has_min_resources = true;
        gone->min_resources = amount(1, -1, -1);
        assert_int_equal(gate(gone), MAAR_REJECT);
        f->plugin->hooks.on_enqueued(f->self, &f->view, gone);
        assert_int_equal(f->plugin->hooks.victim_queue_order(f->self, &f->view, b, b, NULL), 0);
        end();
    }
}

struct published {
    char text[512];
};

static struct published published;

static void record_amount(void *session, const struct maar_queue *queue, const char *set,
                          uint32_t dim, double value)
{
    struct fake *fake = session;
    size_t n = strlen(published.text);
    snprintf(published.text + n, sizeof published.text - n, "%s %s %s %g\n", queue->name, set,
             fake->dims.names[dim], value);
}

static void capacity_publishes_what_queues_deserve_and_promise(void **state)
{
    (void)state;
    begin(false, 8, 16, 2);
    struct maar_queue *q = fake_queue(f, "q", 1);
    q->deserved = amount(4, -1, 1);
    group(q, amount(2, -1, -1))->phase = MAAR_PHASE_INQUEUE;
    fake_open(f);
    published.text[0] = '\0';
    f->host.queue_amount = record_amount;
    f->plugin->close(f->self, &f->view);
    assert_string_equal(published.text, "q deserved cpu 4000\n"
                                        "q deserved nvidia.com/gpu 1000\n"
                                        "q inqueue cpu 2000\n"
                                        "q limit cpu 8000\n"
                                        "q limit memory 1.71799e+10\n"
                                        "q limit pods 100000\n"
                                        "q limit nvidia.com/gpu 2000\n");
    /* A host without the function is left alone. */
    f->host.size = offsetof(struct maar_host, queue_amount);
    f->host.queue_amount = NULL;
    f->plugin->close(f->self, &f->view);
    end();
}

static void capacity_negative_level_is_a_warning(void **state)
{
    (void)state;
    static const char *const pairs[] = {"ancestorReclaimLevel", "-1", NULL};
    begin_with(false, pairs, 1, 1, 0);
    assert_int_equal(f->n_log, 1);
    fake_open(f);
    end();
}

static struct maar_task *admitted(struct maar_queue *queue, struct maar_class *cls)
{
    struct maar_task *task = waits(queue, cls);
    task->asks_queue_gate = true;
    return task;
}

static uint32_t room_for(const struct maar_queue *queue, const struct maar_task *task)
{
    return f->plugin->hooks.queue_room(f->self, &f->view, queue, task, 1, NULL);
}

/* E-cap-20 */
static void capacity_keeps_room_for_opened_gates(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 4, 64, 0);
        f->view.queue_admission = true;
        struct maar_queue *q = fake_queue(f, "q", 1);
        runs(q, asks(2, 0, 0));
        struct maar_task *kept = admitted(q, asks(1, 0, 0));
        struct maar_task *gated = admitted(q, asks(1, 0, 0));
        gated->gated = gated->only_queue_gate = true;
        fake_open(f);
        assert_int_equal(room(q, asks(2, 0, 0), 1), 0);
        assert_string_equal(
            room_text(q, asks(2, 0, 0)),
            "queue q: cpu 3 used or kept for opened gates + 2 asked > 4 in the cluster");
        assert_int_equal(room_for(q, kept), 1);
        /* One that is still gated has nothing kept, until its gate is opened. */
        assert_int_equal(room_for(q, gated), 1);
        f->plugin->hooks.on_room_kept(f->self, &f->view, gated);
        gated->gate_opened = true;
        assert_int_equal(room(q, asks(1, 0, 0), 1), 0);
        /* What is placed is held instead. */
        kept->status = MAAR_TASK_ALLOCATED;
        f->plugin->hooks.on_allocate(f->self, &f->view, kept);
        assert_int_equal(room_for(q, gated), 1);
        assert_int_equal(room(q, asks(1, 0, 0), 1), 0);
        kept->status = MAAR_TASK_PENDING;
        f->plugin->hooks.on_deallocate(f->self, &f->view, kept);
        assert_int_equal(room_for(q, kept), 1);
        assert_int_equal(room(q, asks(1, 0, 0), 1), 0);
        end();
    }
}

static void capacity_keeps_nothing_without_the_feature_gate(void **state)
{
    (void)state;
    begin(false, 4, 64, 0);
    struct maar_queue *q = fake_queue(f, "q", 1);
    admitted(q, asks(3, 0, 0));
    fake_open(f);
    assert_int_equal(room(q, asks(4, 0, 0), 1), 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_keeps_room_for_opened_gates),
        cmocka_unit_test(capacity_keeps_nothing_without_the_feature_gate),
        cmocka_unit_test(capacity_limit_is_capability_and_what_guarantees_leave),
        cmocka_unit_test(capacity_own_size_counts),
        cmocka_unit_test(capacity_room_counts_as_repeated_answers),
        cmocka_unit_test(capacity_limits_what_it_names),
        cmocka_unit_test(capacity_dimension_that_no_node_offers),
        cmocka_unit_test(capacity_guarantee_stays_free_whoever_asks),
        cmocka_unit_test(capacity_guarantees_above_the_cluster),
        cmocka_unit_test(capacity_absurd_guarantees_do_no_harm),
        cmocka_unit_test(capacity_gate_looks_at_what_the_minimum_names),
        cmocka_unit_test(capacity_gate_names_dimensions_in_one_order),
        cmocka_unit_test(capacity_gate_reservations),
        cmocka_unit_test(capacity_impossible_job_holds_nothing),
        cmocka_unit_test(capacity_queue_that_is_not_open_takes_nothing),
        cmocka_unit_test(capacity_order_is_priority_then_share),
        cmocka_unit_test(capacity_deserved_is_bounded),
        cmocka_unit_test(capacity_pipelined_at_open_hold_room),
        cmocka_unit_test(capacity_reclaims_until_within_what_is_deserved),
        cmocka_unit_test(capacity_victim_pays_for_what_it_holds),
        cmocka_unit_test(capacity_guarantee_protects_what_it_names),
        cmocka_unit_test(capacity_reclaims_what_it_deserves),
        cmocka_unit_test(capacity_nobody_takes_back_at_once),
        cmocka_unit_test(capacity_takes_nothing_from_itself),
        cmocka_unit_test(capacity_gang_preempt_is_not_its_business),
        cmocka_unit_test(capacity_orphans_are_skipped),
        cmocka_unit_test(capacity_publishes_what_queues_deserve_and_promise),
        cmocka_unit_test(capacity_negative_level_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
