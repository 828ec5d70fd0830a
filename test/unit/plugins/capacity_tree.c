/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin capacity with enableHierarchy: the tree and its faults, limits on the way up, order, and
 * reclaim between branches. */

#include "capacity_fake.h"

static struct maar_queue *root;

/* Without a queue root. */
static void begin_bare(bool compatibility, const char *levels, int64_t cpu, int64_t gi)
{
    const char *const pairs[] = {"enableHierarchy", "true", "ancestorReclaimLevel", levels, NULL};
    begin_with(compatibility, pairs, cpu, gi, 8);
}

static void begin(bool compatibility, int64_t cpu, int64_t gi)
{
    begin_bare(compatibility, "0", cpu, gi);
    root = fake_queue(f, "root", 1);
}

static void begin_levels(bool compatibility, const char *levels)
{
    begin_bare(compatibility, levels, 20, 20);
    root = fake_queue(f, "root", 1);
}

static struct maar_queue *child(struct maar_queue *parent, const char *name)
{
    struct maar_queue *queue = fake_queue(f, name, 1);
    if (!parent->children)
        parent->children = fake_alloc(f, FAKE_MAX * sizeof(struct maar_queue *));
    ((struct maar_queue **)(uintptr_t)parent->children)[parent->n_children++] = queue;
    queue->parent = parent;
    return queue;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* E-cap-11 */
static void capacity_tree_limits_and_order(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *dept = child(root, "dept"), *misc = child(root, "misc");
        struct maar_queue *a = child(dept, "a"), *b = child(dept, "b");
        dept->deserved = amount(10, -1, -1);
        dept->capability = amount(12, -1, -1);
        a->deserved = amount(6, -1, -1);
        a->guarantee = amount(2, -1, -1);
        b->deserved = amount(4, -1, -1);
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 0), 100), 12);
        assert_int_equal(room(b, asks(1, 0, 0), 100), 10);
        /* Nothing limits misc but the nodes. */
        assert_int_equal(room(misc, asks(1, 0, 0), 100), 100);
        assert_int_equal(gate(group(misc, amount(1000, 1000, 8))), MAAR_PERMIT);
        assert_string_equal(
            room_text(b, asks(11, 0, 0)),
            "queue b: cpu 0 used + 11 asked > 10 left by the guarantees of other queues");
        end();

        begin(mode, 40, 40);
        dept = child(root, "dept"), misc = child(root, "misc");
        a = child(dept, "a"), b = child(dept, "b");
        dept->deserved = amount(20, -1, -1);
        a->deserved = b->deserved = amount(10, -1, -1);
        runs(a, asks(5, 0, 0));
        runs(b, asks(2, 0, 0));
        fake_open(f);
        assert_int_equal(order(b, a), -1);    /* .2, .5 */
        assert_int_equal(order(a, misc), -1); /* dept .35, misc deserves nothing: 1 */
        /* A leaf goes before a queue with children. */
        assert_int_equal(order(misc, dept), -1);
        misc->priority = 1;
        assert_int_equal(order(misc, a), -1);
        end();
    }
}

/* Volcano compares what stands above with its share as the session opened. */
static void capacity_tree_shares_above_are_up_to_date(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *q = child(root, "q");
        struct maar_queue *p1 = child(p, "p1"), *q1 = child(q, "q1"), *p2 = child(p, "p2");
        p->deserved = q->deserved = amount(10, -1, -1);
        p1->deserved = p2->deserved = amount(5, -1, -1);
        runs(q1, asks(1, 0, 0));
        runs(p2, asks(0, 0, 1));
        struct maar_task *task = waits(p1, asks(5, 0, 0));
        fake_open(f);
        assert_int_equal(order(p1, q1), -1);
        size_t mark = f->n_saved;
        fake_move(f, task, MAAR_TASK_ALLOCATED, node);
        assert_int_equal(order(p1, q1), mode ? -1 : 1);
        assert_int_equal(order(p1, p2), 1);
        fake_undo(f, mark);
        assert_int_equal(order(p1, q1), -1);
        end();
    }
}

/* E-cap-15 */
static void capacity_tree_inherits_what_is_not_named(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *c = child(p, "c"), *free = child(p, "free");
        p->capability = amount(-1, 4, 3);
        c->capability = amount(-1, 2, -1);
        fake_open(f);
        assert_int_equal(room(c, asks(1, 0, 0), 1000), 1000);
        assert_int_equal(room(c, asks(0, 1, 0), 10), 2);
        assert_int_equal(room(c, asks(0, 0, 1), 10), 3);
        assert_int_equal(room(free, asks(0, 1, 0), 10), 4);
        end();
    }
}

/* What root names limits everybody; what it does not name, Volcano gives to nobody. */
static void capacity_tree_root_may_have_a_capability(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        root->capability = amount(10, -1, -1);
        struct maar_queue *a = child(root, "a"), *b = child(root, "b");
        a->capability = amount(30, -1, 4);
        runs(b, asks(3, 0, 0));
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 0), 100), 7);
        assert_int_equal(room(a, asks(0, 1, 0), 100), mode ? 0 : 100);
        /* A scalar that root does not name: Volcano loses the child's own limit. */
        assert_int_equal(room(a, asks(0, 0, 1), 100), mode ? 0 : 4);
        assert_string_equal(room_text(a, asks(8, 0, 0)),
                            "queue root: cpu 3 used + 8 asked > 10 capability");
        end();
    }
}

/* E-cap-16 */
static void capacity_tree_guarantees_above_the_parent(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *a = child(p, "a"), *b = child(p, "b");
        p->capability = amount(6, -1, -1);
        a->guarantee = b->guarantee = amount(4, -1, -1);
        fake_open(f);
        assert_int_equal(room(a, asks(1, 0, 0), 10), 4);
        assert_int_equal(room(b, asks(1, 0, 0), 10), 4);
        end();
    }
}

/* Q16 on each level: below root the cluster is what there is. */
static void capacity_tree_guarantee_stays_free(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 20, 20);
        struct maar_queue *p = child(root, "p"), *kept = child(root, "kept");
        struct maar_queue *a = child(p, "a"), *b = child(p, "b"), *c = child(p, "c");
        p->capability = amount(12, -1, -1);
        c->guarantee = amount(3, -1, -1);
        kept->guarantee = amount(10, -1, -1);
        runs(a, asks(5, 0, 0));
        struct maar_task *task = waits(c, asks(2, 0, 0));
        fake_open(f);
        /* In p: 12 - 5 - 3; in the cluster: 20 - 5 - 10, for all of p. */
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 7 : 4);
        fake_move(f, task, MAAR_TASK_ALLOCATED, node);
        assert_int_equal(room(b, asks(1, 0, 0), 10), mode ? 5 : 3);
        if (!mode)
            assert_string_equal(
                room_text(b, asks(4, 0, 0)),
                "queue root: cpu 7 used + 4 asked + 10 guaranteed to others than p > 20");
        end();
    }
}

/* S21 */
static void capacity_tree_gate_asks_all_the_way_up(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *c1 = child(p, "c1"), *c2 = child(p, "c2");
        p->capability = amount(4, -1, -1);
        struct maar_job *j1 = group(c1, amount(4, -1, -1)), *j2 = group(c2, amount(4, -1, -1));
        fake_open(f);
        assert_int_equal(gate(j1), MAAR_PERMIT);
        size_t mark = f->n_saved;
        f->plugin->hooks.on_enqueued(f->self, &f->view, j1);
        assert_int_equal(gate(j2), MAAR_REJECT);
        assert_string_equal(f->event_message,
                            mode ? "queue resource quota insufficient: insufficient cpu"
                                 : "queue resource quota insufficient: insufficient cpu "
                                   "(queue p: cpu 4 taken + 4 asked > 4 capability)");
        fake_undo(f, mark);
        assert_int_equal(gate(j2), MAAR_PERMIT);
        end();
    }
}

/* Above, too, what is admitted and what makes way counts from the start. */
static void capacity_tree_gate_sums_up_reservations(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *a = child(p, "a"), *b = child(p, "b");
        p->capability = amount(10, -1, -1);
        group(a, amount(3, -1, -1))->phase = MAAR_PHASE_INQUEUE;
        runs(a, asks(4, 0, 0));
        struct maar_job *fits = group(b, amount(7, -1, -1)), *not = group(b, amount(8, -1, -1));
        fake_open(f);
        assert_int_equal(gate(fits), MAAR_PERMIT);
        assert_int_equal(gate(not ), MAAR_REJECT);
        end();
    }
}

/* Q19: siblings hold more than they deserve, so reclaim must see the job. */
static void capacity_tree_gate_lets_in_what_is_deserved(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *a = child(p, "a"), *b = child(p, "b");
        p->capability = amount(10, -1, -1);
        a->deserved = b->deserved = amount(5, -1, -1);
        struct maar_job *held = group(b, amount(10, -1, -1));
        held->phase = MAAR_PHASE_RUNNING;
        fake_task(f, held, asks(10, 0, 0), MAAR_TASK_RUNNING, node);
        struct maar_job *fair = group(a, amount(5, -1, -1)), *greedy = group(a, amount(6, -1, -1));
        fake_open(f);
        assert_int_equal(gate(fair), mode ? MAAR_REJECT : MAAR_PERMIT);
        assert_int_equal(gate(greedy), MAAR_REJECT);
        assert_int_equal(room(a, asks(1, 0, 0), 1), 0);
        end();
    }
}

static void capacity_tree_sums_follow_the_events(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *a = child(p, "a"), *b = child(p, "b");
        p->capability = amount(10, -1, -1);
        runs(a, asks(2, 0, 0));
        fake_task(f, fake_job(f, a, "held", 1), asks(1, 0, 0), MAAR_TASK_PIPELINED, node);
        struct maar_task *task = waits(a, asks(4, 0, 0));
        fake_open(f);
        assert_int_equal(room(b, asks(1, 0, 0), 100), 7);
        size_t mark = f->n_saved;
        fake_move(f, task, MAAR_TASK_PIPELINED, node);
        assert_int_equal(room(b, asks(1, 0, 0), 100), 3);
        assert_string_equal(room_text(b, asks(4, 0, 0)),
                            "queue p: cpu 7 used + 4 asked > 10 capability");
        fake_move(f, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
        assert_int_equal(room(b, asks(1, 0, 0), 100), 7);
        fake_move(f, task, MAAR_TASK_ALLOCATED, node);
        fake_undo(f, mark);
        assert_int_equal(room(b, asks(1, 0, 0), 100), 7);
        end();
    }
}

/* ---- faults of the tree ---------------------------------------------------------------------- */

/* E-cap-12 */
static void capacity_tree_only_leaves_take_jobs(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *dept = child(root, "dept"), *a = child(dept, "a");
        struct maar_queue *b = child(root, "b");
        a->deserved = b->deserved = amount(5, -1, -1);
        dept->capability = amount(10, -1, -1);
        struct maar_job *astray = group(dept, amount(1, -1, -1)),
                        *job = group(a, amount(1, -1, -1));
        struct maar_task *held = runs(dept, asks(3, 0, 0)), *evictor = waits(b, asks(2, 0, 0));
        fake_open(f);
        assert_int_equal(f->n_log, 1);
        assert_int_equal(gate(job), mode ? MAAR_REJECT : MAAR_PERMIT);
        assert_int_equal(gate(astray), MAAR_REJECT);
        assert_string_equal(f->event_message,
                            mode ? "" : "queue dept has child queues: only leaves take jobs");
        assert_int_equal(room(dept, asks(1, 0, 0), 100), 0);
        /* What ran there before counts. */
        assert_int_equal(room(a, asks(1, 0, 0), 100), mode ? 0 : 7);
        assert_int_equal(preemptive(b, asks(1, 0, 0)), !mode);
        if (mode) {
            assert_int_equal(order(a, b), 0);
            assert_string_equal(room_text(b, asks(1, 0, 0)),
                                "job group is in queue dept, which has child queues");
            uint64_t bits = 0;
            const struct maar_task *candidate = held;
            assert_int_equal(
                f->plugin->hooks.reclaimable(f->self, &f->view, evictor, &candidate, 1, &bits),
                MAAR_REJECT);
            struct maar_evict_context context = {.kind = "gangreclaim", .job = evictor->job};
            assert_int_equal(f->plugin->hooks.unified_evictable(f->self, &f->view, &context,
                                                                &candidate, 1, &bits),
                             MAAR_REJECT);
            assert_int_equal(bits, 0);
        } else {
            assert_string_equal(reclaims(evictor, &held, 1), "1");
        }
        end();
    }
}

/* A parent that is missing or in a cycle leaves a queue without a parent. */
static void capacity_tree_lost_queue_takes_nothing(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *a = child(root, "a"), *lost = fake_queue(f, "lost", 1);
        struct maar_queue *below = child(lost, "below");
        a->deserved = amount(5, -1, -1);
        struct maar_task *task = runs(below, asks(3, 0, 0)), *evictor = waits(a, asks(2, 0, 0));
        struct maar_job *job = group(below, amount(1, -1, -1));
        fake_open(f);
        assert_int_equal(f->n_log, 1);
        assert_string_equal(
            f->log[0],
            "capacity: queue lost is not below queue root: a parent is missing or in a cycle");
        assert_int_equal(room(below, asks(1, 0, 0), 1), 0);
        assert_int_equal(room(lost, asks(1, 0, 0), 1), 0);
        assert_int_equal(gate(job), MAAR_REJECT);
        assert_int_equal(room(a, asks(1, 0, 0), 1), !mode);
        assert_int_equal(order(a, below), mode ? 0 : -1);
        /* Only what goes on is taken from what does not. */
        if (!mode) {
            assert_string_equal(
                f->event_message,
                "queue below is not below queue root: a parent is missing or in a cycle");
            assert_string_equal(reclaims(evictor, &task, 1), "1");
        }
        fake_move(f, task, MAAR_TASK_RELEASING, node);
        end();
    }
}

/* Told once, not every session. */
static void capacity_tree_fault_is_logged_on_change(void **state)
{
    (void)state;
    begin(false, 40, 40);
    struct maar_queue *lost = fake_queue(f, "lost", 1);
    fake_open(f);
    fake_open(f);
    assert_int_equal(f->n_log, 1);
    child(root, "lost2");
    lost->parent = root;
    ((struct maar_queue **)(uintptr_t)root->children)[root->n_children++] = lost;
    fake_open(f);
    assert_int_equal(f->n_log, 1);
    root->n_children--;
    lost->parent = NULL;
    fake_open(f);
    assert_int_equal(f->n_log, 2);
    end();
}

/* Without other queues root is a leaf. */
static void capacity_tree_of_root_alone(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        root->capability = amount(4, 4, -1);
        root->deserved = amount(4, -1, -1);
        waits(root, asks(1, 0, 0));
        fake_open(f);
        assert_int_equal(room(root, asks(1, 0, 0), 10), 4);
        /* It has nobody to take from, and deserves what its children deserve. */
        assert_false(preemptive(root, asks(1, 0, 0)));
        end();
    }
}

static void capacity_tree_without_root(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin_bare(mode, "0", 40, 40);
        struct maar_queue *a = fake_queue(f, "a", 1), *b = child(a, "b");
        waits(b, asks(1, 0, 0));
        fake_open(f);
        assert_string_equal(f->log[0], "capacity: queue root does not exist");
        assert_int_equal(room(b, asks(1, 0, 0), 1), 0);
        assert_int_equal(order(a, b), mode ? 0 : 1);
        end();
    }
}

/* Pointers that no sound world has: nothing hangs or crashes. */
static void capacity_tree_survives_a_tangle(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin_levels(mode, "1000000000000");
        struct maar_queue *a = child(root, "a"), *x = child(a, "x"), *y = child(x, "y");
        struct maar_queue *leaf = child(a, "leaf");
        child(y, "z");
        x->parent = y;
        struct maar_task *task = runs(y, asks(1, 0, 0)), *evictor = waits(leaf, asks(1, 0, 0));
        fake_open(f);
        assert_int_equal(room(y, asks(1, 0, 0), 1), 0);
        assert_int_equal(room(leaf, asks(1, 0, 0), 1), !mode);
        order(x, leaf);
        preemptive(leaf, asks(1, 0, 0));
        uint64_t bits = 0;
        const struct maar_task *candidate = task;
        f->plugin->hooks.reclaimable(f->self, &f->view, evictor, &candidate, 1, &bits);
        fake_move(f, task, MAAR_TASK_RELEASING, node);
        end();
    }
}

static void capacity_tree_may_be_deep(void **state)
{
    (void)state;
    begin_levels(true, "1000");
    struct maar_queue *at = root;
    char name[16];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "q%d", i);
        at = child(at, name);
    }
    struct maar_queue *other = child(root, "other");
    root->capability = amount(4, 4, -1);
    other->deserved = amount(2, -1, -1);
    struct maar_task *task = runs(at, asks(3, 0, 0)), *evictor = waits(other, asks(2, 0, 0));
    fake_open(f);
    assert_int_equal(room(at, asks(1, 0, 0), 10), 1);
    assert_string_equal(reclaims(evictor, &task, 1), "1");
    end();
}

/* ---- reclaim --------------------------------------------------------------------------------- */

/* E-cap-13 */
static void capacity_tree_reclaim_looks_at_ancestors(void **state)
{
    (void)state;
    static const struct {
        const char *levels;
        bool compatibility;
        const char *want;
    } rows[] = {
        {"0", true, "1"}, {"1", true, "1"},  {"2", true, "0"},
        {"9", true, "0"}, {"0", false, "0"}, {"2", false, "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_levels(rows[i].compatibility, rows[i].levels);
        struct maar_queue *grand_a = child(root, "grand-a"), *grand_b = child(root, "grand-b");
        struct maar_queue *parent_b = child(grand_b, "parent-b"),
                          *leaf_b = child(parent_b, "leaf-b");
        struct maar_queue *leaf_a = child(grand_a, "leaf-a");
        grand_b->deserved = amount(3, -1, -1);
        parent_b->deserved = leaf_b->deserved = amount(1, -1, -1);
        leaf_a->deserved = grand_a->deserved = amount(2, -1, -1);
        struct maar_task *victim = runs(leaf_b, asks(2, 0, 0));
        struct maar_task *evictor = waits(leaf_a, asks(1, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, &victim, 1), rows[i].want);
        /* Volcano's gang kind looks at the leaf alone. */
        assert_string_equal(evicts("gangreclaim", evictor->job, &victim, 1),
                            rows[i].compatibility ? "1" : "0");
        assert_string_equal(evicts("gangreclaim", NULL, &victim, 1),
                            rows[i].compatibility ? "1" : "0");
        assert_false(preemptive(leaf_b, asks(3, 0, 0)));
        end();
    }
}

/* E-cap-14 */
static void capacity_tree_sibling_without_deserved_takes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *levels;
        bool compatibility;
        const char *victims;
        bool preemptive;
    } rows[] = {
        {"0", true, "1", false},
        {"1", true, "0", true},
        /* From its sibling it takes nothing, from others what its parent deserves. */
        {"0", false, "0", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_levels(rows[i].compatibility, rows[i].levels);
        struct maar_queue *parent = child(root, "parent"), *other = child(root, "other");
        struct maar_queue *a = child(parent, "a"), *b = child(parent, "b");
        parent->deserved = amount(4, -1, -1);
        struct maar_queue *cousin = child(child(root, "uncle"), "cousin");
        struct maar_task *victim = runs(b, asks(2, 0, 0)), *foreign = runs(other, asks(2, 0, 0));
        struct maar_task *farther = runs(cousin, asks(2, 0, 0));
        struct maar_task *evictor = waits(a, asks(2, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, &victim, 1), rows[i].victims);
        assert_int_equal(preemptive(a, asks(2, 0, 0)), rows[i].preemptive);
        assert_string_equal(reclaims(evictor, &foreign, 1), "1");
        assert_string_equal(reclaims(evictor, &farther, 1), "1");
        end();
    }
}

/* S37 */
static void capacity_tree_leaf_over_parent_under(void **state)
{
    (void)state;
    begin(false, 40, 40);
    struct maar_queue *a = child(root, "A"), *b = child(root, "B");
    struct maar_queue *a1 = child(a, "A1"), *a2 = child(a, "A2");
    a->deserved = amount(30, -1, -1);
    a1->deserved = amount(6, -1, -1);
    a2->deserved = amount(24, -1, -1);
    b->deserved = amount(14, -1, -1);
    struct maar_task *victims[28];
    for (size_t i = 0; i < 28; i++)
        victims[i] = runs(a1, asks(1, 0, 0));
    for (size_t i = 0; i < 10; i++)
        runs(b, asks(1, 0, 0));
    struct maar_task *from_b = waits(b, asks(4, 0, 0)), *from_a2 = waits(a2, asks(6, 0, 0));
    fake_open(f);
    assert_true(preemptive(b, from_b->cls));
    assert_string_equal(reclaims(from_b, victims, 28), "0000000000000000000000000000");
    assert_true(preemptive(a2, from_a2->cls));
    assert_string_equal(reclaims(from_a2, victims, 28), "1111111111111111111111000000");
    end();
}

/* S38 */
static void capacity_tree_protected_queue_is_left_out(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 10, 10);
        struct maar_queue *o = child(root, "O"), *p = child(root, "P");
        struct maar_queue *r = child(o, "r"), *k = child(o, "k");
        o->deserved = r->deserved = amount(4, -1, -1);
        p->deserved = amount(6, -1, -1);
        struct maar_task *victims[9];
        for (size_t i = 0; i < 5; i++)
            victims[i] = runs(p, asks(1, 0, 0));
        for (size_t i = 5; i < 9; i++)
            victims[i] = runs(k, asks(1, 0, 0));
        struct maar_task *evictor = waits(r, asks(4, 0, 0));
        fake_open(f);
        assert_true(preemptive(r, evictor->cls));
        assert_string_equal(reclaims(evictor, victims, 9), "000001111");
        end();
    }
}

/* What is freed outside a queue that is full does not help it. */
static void capacity_tree_full_parent_takes_from_its_own(void **state)
{
    (void)state;
    begin(false, 40, 40);
    struct maar_queue *p = child(root, "p"), *q = child(root, "q");
    struct maar_queue *a = child(p, "a"), *b = child(p, "b");
    p->capability = amount(4, -1, -1);
    p->deserved = amount(4, -1, -1);
    a->deserved = amount(2, -1, -1);
    struct maar_task *victims[] = {runs(q, asks(4, 0, 0)), runs(b, asks(4, 0, 0))};
    struct maar_task *evictor = waits(a, asks(2, 0, 0));
    fake_open(f);
    assert_string_equal(reclaims(evictor, victims, 2), "01");
    end();
}

/* A branch that is over takes nothing from another, even for a leaf that is below. */
static void capacity_tree_branch_over_its_deserved_takes_nothing_outside(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin_levels(mode, "2");
        struct maar_queue *p = child(root, "p"), *q = child(root, "q");
        struct maar_queue *a = child(p, "a"), *b = child(p, "b");
        p->deserved = amount(4, -1, -1);
        a->deserved = b->deserved = amount(2, -1, -1);
        q->deserved = amount(2, -1, -1);
        struct maar_task *victims[] = {runs(q, asks(4, 0, 0)), runs(b, asks(4, 0, 0))};
        struct maar_task *evictor = waits(a, asks(2, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, victims, 2), mode ? "11" : "01");
        /* A whole gang was asked about before: then only the victims' side counts. */
        assert_string_equal(evicts("gangreclaim", evictor->job, victims, 2), "11");
        end();
    }
}

/* What an earlier candidate frees counts on all levels. */
static void capacity_tree_copies_add_up(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin_levels(mode, "1");
        struct maar_queue *p = child(root, "p"), *q = child(root, "q");
        struct maar_queue *a = child(p, "a"), *b = child(p, "b"), *c = child(q, "c");
        p->deserved = amount(4, -1, -1);
        q->deserved = c->deserved = amount(10, -1, -1);
        a->deserved = b->deserved = amount(1, -1, -1);
        struct maar_task *victims[] = {runs(a, asks(3, 0, 0)), runs(b, asks(3, 0, 0))};
        struct maar_task *evictor = waits(c, asks(2, 0, 0));
        fake_open(f);
        assert_string_equal(reclaims(evictor, victims, 2), "10");
        end();
    }
}

/* Guarantees of all that stand below the parting. */
static void capacity_tree_guarantee_of_a_parent(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin_levels(mode, "2");
        struct maar_queue *p = child(root, "p"), *q = child(root, "q");
        struct maar_queue *a = child(p, "a"), *b = child(p, "b");
        p->guarantee = amount(3, -1, -1);
        q->deserved = amount(8, -1, -1);
        b->deserved = amount(2, -1, -1);
        struct maar_task *victims[] = {runs(a, asks(2, 0, 0)), runs(a, asks(2, 0, 0))};
        struct maar_task *from_q = waits(q, asks(2, 0, 0)), *from_b = waits(b, asks(2, 0, 0));
        fake_open(f);
        /* p deserves its guarantee at least. */
        assert_string_equal(reclaims(from_q, victims, 2), mode ? "10" : "00");
        /* Within p nothing of it is lost. */
        assert_string_equal(reclaims(from_b, victims, 2), "11");
        end();
    }
}

static double root_deserves;

static void record_amount(void *session, const struct maar_queue *queue, const char *set,
                          uint32_t dim, double value)
{
    (void)session;
    if (queue == root && strcmp(set, "deserved") == 0 && dim == MAAR_DIM_CPU)
        root_deserves = value;
}

static void capacity_tree_root_deserves_what_its_children_do(void **state)
{
    (void)state;
    begin(false, 40, 40);
    root->deserved = amount(1, -1, -1);
    child(root, "a")->deserved = amount(6, -1, -1);
    child(root, "b")->guarantee = amount(4, -1, -1);
    fake_open(f);
    f->host.queue_amount = record_amount;
    f->plugin->close(f->self, &f->view);
    assert_true(root_deserves == 10000);
    end();
}

static void capacity_tree_closest_relatives_pay_first(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 40, 40);
        struct maar_queue *p = child(root, "p"), *far = child(root, "far");
        struct maar_queue *near_p = child(p, "near"), *g = child(p, "g");
        struct maar_queue *nearest = child(g, "nearest"), *asker = child(g, "asker");
        struct maar_queue *cousin = child(far, "cousin"), *lost = NULL;
        if (!mode)
            lost = fake_queue(f, "lost", 1);
        fake_open(f);
        int (*compare)(void *, const struct maar_view *, const struct maar_queue *,
                       const struct maar_queue *, const struct maar_queue *) =
            f->plugin->hooks.victim_queue_order;
        assert_int_equal(compare(f->self, &f->view, nearest, near_p, asker), -1);
        assert_int_equal(compare(f->self, &f->view, near_p, nearest, asker), 1);
        assert_int_equal(compare(f->self, &f->view, near_p, cousin, asker), -1);
        assert_int_equal(compare(f->self, &f->view, near_p, cousin, cousin), 1);
        assert_int_equal(compare(f->self, &f->view, nearest, near_p, cousin), 0);
        assert_int_equal(compare(f->self, &f->view, nearest, near_p, NULL), 0);
        if (lost)
            assert_int_equal(compare(f->self, &f->view, lost, nearest, asker), 1);
        end();
    }
}

/* Volcano keeps room in the queue itself only. */
static void capacity_tree_keeps_room_in_all_queues_above(void **state)
{
    (void)state;
    EACH_MODE(mode)
    {
        begin(mode, 64, 64);
        f->view.queue_admission = true;
        struct maar_queue *dept = child(root, "dept");
        dept->capability = amount(4, -1, -1);
        struct maar_queue *a = child(dept, "a"), *b = child(dept, "b");
        struct maar_task *kept = waits(a, asks(3, 0, 0));
        kept->asks_queue_gate = true;
        fake_open(f);
        assert_int_equal(room(a, asks(2, 0, 0), 1), 0);
        assert_int_equal(room(b, asks(2, 0, 0), 1), mode);
        kept->status = MAAR_TASK_ALLOCATED;
        f->plugin->hooks.on_allocate(f->self, &f->view, kept);
        assert_int_equal(room(b, asks(2, 0, 0), 1), 0);
        assert_int_equal(room(b, asks(1, 0, 0), 1), 1);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_tree_keeps_room_in_all_queues_above),
        cmocka_unit_test(capacity_tree_limits_and_order),
        cmocka_unit_test(capacity_tree_shares_above_are_up_to_date),
        cmocka_unit_test(capacity_tree_inherits_what_is_not_named),
        cmocka_unit_test(capacity_tree_root_may_have_a_capability),
        cmocka_unit_test(capacity_tree_guarantees_above_the_parent),
        cmocka_unit_test(capacity_tree_guarantee_stays_free),
        cmocka_unit_test(capacity_tree_gate_asks_all_the_way_up),
        cmocka_unit_test(capacity_tree_gate_sums_up_reservations),
        cmocka_unit_test(capacity_tree_gate_lets_in_what_is_deserved),
        cmocka_unit_test(capacity_tree_sums_follow_the_events),
        cmocka_unit_test(capacity_tree_only_leaves_take_jobs),
        cmocka_unit_test(capacity_tree_lost_queue_takes_nothing),
        cmocka_unit_test(capacity_tree_fault_is_logged_on_change),
        cmocka_unit_test(capacity_tree_of_root_alone),
        cmocka_unit_test(capacity_tree_without_root),
        cmocka_unit_test(capacity_tree_survives_a_tangle),
        cmocka_unit_test(capacity_tree_may_be_deep),
        cmocka_unit_test(capacity_tree_reclaim_looks_at_ancestors),
        cmocka_unit_test(capacity_tree_sibling_without_deserved_takes_nothing),
        cmocka_unit_test(capacity_tree_leaf_over_parent_under),
        cmocka_unit_test(capacity_tree_protected_queue_is_left_out),
        cmocka_unit_test(capacity_tree_full_parent_takes_from_its_own),
        cmocka_unit_test(capacity_tree_branch_over_its_deserved_takes_nothing_outside),
        cmocka_unit_test(capacity_tree_copies_add_up),
        cmocka_unit_test(capacity_tree_guarantee_of_a_parent),
        cmocka_unit_test(capacity_tree_root_deserves_what_its_children_do),
        cmocka_unit_test(capacity_tree_closest_relatives_pay_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
