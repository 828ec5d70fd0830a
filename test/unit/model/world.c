/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The world: what is observed meets what is assumed, in whatever order the news comes. */

#include "unit/session/records.h"

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 4000, 8 * GI));
    take(world, make_node("n2", 4000, 8 * GI));
    take(world, make_group("g", "q", 1));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

static uint32_t node(const char *name)
{
    return maar_world_node(world, name);
}

/* As a commit does. */
static void assume_bound(const char *name, const char *node_name)
{
    struct maar_task_entry *task = pod_entry(world, name);
    task->assumed = task->bind_in_flight = true;
    maar_world_move(world, &task->view, MAAR_TASK_BINDING, node(node_name));
}

static void assume_evicted(const char *name)
{
    struct maar_task_entry *task = pod_entry(world, name);
    task->evict_requested = true;
    maar_world_move(world, &task->view, MAAR_TASK_RELEASING, task->view.node);
}

static struct maar_record *waiting(void)
{
    return make_pod("p", "g", 1000, GI);
}

static struct maar_record *dying(struct maar_record *record)
{
    record->pod.deleting = true;
    return record;
}

#define AT(name, status_wanted, node_wanted)                                                       \
    do {                                                                                           \
        assert_int_equal(pod(world, name)->status, status_wanted);                                 \
        assert_int_equal(pod(world, name)->node, node_wanted);                                     \
        assert_balanced(world);                                                                    \
    } while (0)

/* ---- bindings ---- */

static void world_keeps_a_binding_against_stale_news(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    assert_false(take(world, waiting()));
    AT("p", MAAR_TASK_BINDING, node("n1"));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 3000);
    /* Also when the stale news brings another label. */
    struct maar_record *labelled = waiting();
    set_labels(labelled, &labelled->pod.n_labels, &labelled->pod.labels, "a", "b");
    take(world, labelled);
    AT("p", MAAR_TASK_BINDING, node("n1"));
}

static void world_sees_a_binding_confirmed(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    assert_true(take(world, on_node(waiting(), "n1", MAAR_POD_PENDING)));
    AT("p", MAAR_TASK_BOUND, node("n1"));
    maar_world_bind_done(world, "Pod p", true);
    AT("p", MAAR_TASK_BOUND, node("n1"));
    assert_true(take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING)));
    AT("p", MAAR_TASK_RUNNING, node("n1"));
}

static void world_believes_news_that_contradicts_a_binding(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    assert_true(take(world, on_node(waiting(), "n2", MAAR_POD_PENDING)));
    AT("p", MAAR_TASK_BOUND, node("n2"));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
    /* The answer that comes late changes nothing. */
    maar_world_bind_done(world, "Pod p", false);
    AT("p", MAAR_TASK_BOUND, node("n2"));
}

static void world_takes_a_refused_binding_back(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    maar_world_bind_done(world, "Pod p", false);
    AT("p", MAAR_TASK_PENDING, MAAR_NO_NODE);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
    /* An answer without a question is none. */
    maar_world_bind_done(world, "Pod p", false);
    maar_world_bind_done(world, "Pod nobody", true);
    AT("p", MAAR_TASK_PENDING, MAAR_NO_NODE);
}

static void world_lets_a_pod_die_while_it_is_being_bound(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    assert_true(take(world, dying(waiting())));
    AT("p", MAAR_TASK_RELEASING, node("n1"));
    assert_int_equal(future_idle(world, MAAR_DIM_CPU, "n1"), 4000);
    maar_world_bind_done(world, "Pod p", false);
    AT("p", MAAR_TASK_RELEASING, MAAR_NO_NODE);
    assert_true(take_end(world, waiting()));
    assert_null(maar_world_task(world, "Pod p"));
    assert_int_equal(job(world, "g")->n_tasks, 0);
}

static void world_frees_the_room_of_a_binding_whose_pod_is_gone(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    assert_true(take_end(world, waiting()));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
    maar_world_bind_done(world, "Pod p", true);
}

static void world_keeps_a_binding_whose_node_is_gone_until_it_comes_back(void **state)
{
    (void)state;
    take(world, waiting());
    assume_bound("p", "n1");
    take_end(world, make_node("n1", 4000, 8 * GI));
    AT("p", MAAR_TASK_BINDING, MAAR_NO_NODE);
    take(world, make_node("n1", 4000, 8 * GI));
    AT("p", MAAR_TASK_BINDING, node("n1"));
}

/* ---- evictions ---- */

static void world_keeps_an_eviction_against_stale_news(void **state)
{
    (void)state;
    take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING));
    assume_evicted("p");
    assert_false(take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING)));
    AT("p", MAAR_TASK_RELEASING, node("n1"));
    maar_world_evict_done(world, "Pod p", true);
    AT("p", MAAR_TASK_RELEASING, node("n1"));
    take(world, dying(on_node(waiting(), "n1", MAAR_POD_RUNNING)));
    AT("p", MAAR_TASK_RELEASING, node("n1"));
}

static void world_takes_a_refused_eviction_back(void **state)
{
    (void)state;
    static const struct {
        enum maar_pod_phase phase;
        enum maar_task_status status;
    } rows[] = {{MAAR_POD_RUNNING, MAAR_TASK_RUNNING}, {MAAR_POD_PENDING, MAAR_TASK_BOUND}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        take(world, on_node(waiting(), "n1", rows[i].phase));
        assume_evicted("p");
        maar_world_evict_done(world, "Pod p", false);
        AT("p", rows[i].status, node("n1"));
    }
    /* The pod is ending all the same, whoever asked for it. */
    assume_evicted("p");
    take(world, dying(on_node(waiting(), "n1", MAAR_POD_PENDING)));
    maar_world_evict_done(world, "Pod p", false);
    AT("p", MAAR_TASK_RELEASING, node("n1"));
}

/* ---- any order ---- */

static void world_counts_pods_on_a_node_that_comes_late(void **state)
{
    (void)state;
    take(world, on_node(waiting(), "late", MAAR_POD_RUNNING));
    AT("p", MAAR_TASK_RUNNING, MAAR_NO_NODE);
    assert_int_equal(job(world, "g")->allocated[MAAR_DIM_CPU], 1000);
    assert_true(take(world, make_node("late", 2000, GI)));
    AT("p", MAAR_TASK_RUNNING, node("late"));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "late"), 1000);
    take_end(world, make_node("late", 2000, GI));
    AT("p", MAAR_TASK_RUNNING, MAAR_NO_NODE);
    assert_int_equal(world->total_used[MAAR_DIM_CPU], 0);
}

static void world_is_not_woken_by_news_of_a_pod_whose_node_is_missing(void **state)
{
    (void)state;
    take(world, on_node(waiting(), "late", MAAR_POD_RUNNING));
    for (int i = 0; i < 8; i++) {
        /* Whatever else is interned in between. */
        maar_autofree char *name = maar_asprintf("other-%d", i);
        take(world, make_node(name, 1000, GI));
        assert_false(take(world, on_node(waiting(), "late", MAAR_POD_RUNNING)));
    }
}

static void world_joins_pods_and_their_group_in_any_order(void **state)
{
    (void)state;
    take(world, make_pod("early", "later", 1000, GI));
    assert_non_null(pod(world, "early")->job);
    assert_int_equal(maar_job_entry(job(world, "later"))->exists, false);
    take(world, make_group("later", "later-queue", 1));
    assert_null(job(world, "later")->queue);
    take(world, make_queue("later-queue", ""));
    assert_ptr_equal(job(world, "later")->queue, queue(world, "later-queue"));
    assert_int_equal(queue(world, "later-queue")->pending[MAAR_DIM_CPU], 1000);
    maar_world_prepare(world);
    assert_int_equal(world->sorted_jobs.n, 2);
}

static void world_keeps_a_group_that_was_made_again_under_its_name(void **state)
{
    (void)state;
    take(world, waiting());
    struct maar_record *second = make_group("g", "q", 7);
    second->uid = "another uid";
    take(world, second);
    assert_false(take_end(world, make_group("g", "q", 1)));
    assert_int_equal(job(world, "g")->min_available, 7);
    struct maar_record *end = make_group("g", "q", 7);
    end->uid = "another uid";
    assert_true(take_end(world, end));
    /* Its pods wait for the next of that name. */
    assert_false(maar_job_entry(job(world, "g"))->exists);
    assert_int_equal(job(world, "g")->n_tasks, 1);
    assert_true(take(world, make_group("g", "q", 2)));
    assert_int_equal(job(world, "g")->n_tasks, 1);
    assert_int_equal(job(world, "g")->min_available, 2);
}

/* Item 41: roles that the PodGroup names no more have no minimum any more. */
static void world_forgets_roles_that_a_group_names_no_more(void **state)
{
    (void)state;
    struct maar_record *record = make_group("g", "q", 3);
    set_role(record, "head", 1);
    set_role(record, "worker", 2);
    assert_true(take(world, record));
    assert_int_equal(job(world, "g")->min_task_total, 3);
    record = make_group("g", "q", 3);
    set_role(record, "worker", 1);
    assert_true(take(world, record));
    assert_int_equal(job(world, "g")->min_task_total, 1);
    for (uint32_t i = 0; i < job(world, "g")->n_roles; i++)
        assert_int_equal(job(world, "g")->roles[i].min,
                         !strcmp(job(world, "g")->roles[i].name, "worker"));
}

static void world_follows_a_pod_into_another_group(void **state)
{
    (void)state;
    take(world, make_group("other", "q", 1));
    take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING));
    assert_true(take(world, on_node(make_pod("p", "other", 1000, GI), "n1", MAAR_POD_RUNNING)));
    assert_int_equal(job(world, "g")->n_tasks, 0);
    assert_int_equal(job(world, "other")->n[MAAR_TASK_RUNNING], 1);
    AT("p", MAAR_TASK_RUNNING, node("n1"));
}

/* ---- nominations ---- */

static struct maar_record *nominated(const char *node_name)
{
    struct maar_record *record = waiting();
    record->pod.nominated_node = maar_arena_strdup(record->arena, node_name);
    return record;
}

static void world_finds_a_nominated_node_by_name(void **state)
{
    (void)state;
    take(world, nominated("late"));
    assert_int_equal(pod(world, "p")->nominated_node, MAAR_NO_NODE);
    take(world, make_node("late", 1000, GI));
    assert_int_equal(pod(world, "p")->nominated_node, node("late"));
    take_end(world, make_node("late", 1000, GI));
    assert_int_equal(pod(world, "p")->nominated_node, MAAR_NO_NODE);
    /* Another node in the same slot is another node. */
    take(world, make_node("stranger", 1000, GI));
    assert_int_equal(pod(world, "p")->nominated_node, MAAR_NO_NODE);
    take(world, nominated("n1"));
    assert_int_equal(pod(world, "p")->nominated_node, node("n1"));
    take(world, waiting());
    assert_int_equal(pod(world, "p")->nominated_node, MAAR_NO_NODE);
    take_end(world, nominated("n1"));
    take_end(world, make_node("n1", 1000, GI));
}

/* ---- who counts ---- */

static struct maar_record *foreign(const char *group)
{
    struct maar_record *record = make_pod("f", group, 1000, GI);
    record->pod.spec.scheduler_name = "default-scheduler";
    return record;
}

static void world_counts_pods_of_others_once_they_have_a_node(void **state)
{
    (void)state;
    assert_false(take(world, foreign("")));
    assert_null(maar_world_task(world, "Pod f"));
    assert_true(take(world, on_node(foreign(""), "n1", MAAR_POD_RUNNING)));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 3000);
    assert_true(take(world, on_node(foreign(""), "n1", MAAR_POD_SUCCEEDED)));
    assert_null(maar_world_task(world, "Pod f"));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
    /* One that names a group belongs to it, also when it has ended. */
    take(world, on_node(foreign("g"), "n1", MAAR_POD_RUNNING));
    take(world, on_node(foreign("g"), "n1", MAAR_POD_SUCCEEDED));
    assert_int_equal(job(world, "g")->n[MAAR_TASK_SUCCEEDED], 1);
}

/* Item 71 */
static void world_makes_no_job_for_a_pod_without_a_group(void **state)
{
    (void)state;
    take(world, make_pod("alone", "", 1000, GI));
    assert_null(pod(world, "alone")->job);
}

/* Items 26 and 34 */
static void world_gives_the_room_of_every_pod_that_has_not_ended(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum maar_pod_phase phase;
        bool deleting;
        enum maar_task_status status;
        int64_t idle, future;
    } rows[] = {
        {"bound", MAAR_POD_PENDING, false, MAAR_TASK_BOUND, 3000, 3000},
        {"running", MAAR_POD_RUNNING, false, MAAR_TASK_RUNNING, 3000, 3000},
        {"ending", MAAR_POD_RUNNING, true, MAAR_TASK_RELEASING, 3000, 4000},
        {"bound and ending", MAAR_POD_PENDING, true, MAAR_TASK_RELEASING, 3000, 4000},
        {"succeeded", MAAR_POD_SUCCEEDED, false, MAAR_TASK_SUCCEEDED, 4000, 4000},
        {"failed and ending", MAAR_POD_FAILED, true, MAAR_TASK_FAILED, 4000, 4000},
        {"unknown", MAAR_POD_UNKNOWN, false, MAAR_TASK_UNKNOWN, 3000, 3000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_record *record = on_node(waiting(), "n1", rows[i].phase);
        record->pod.deleting = rows[i].deleting;
        take(world, record);
        if (pod(world, "p")->status != rows[i].status ||
            idle(world, MAAR_DIM_CPU, "n1") != rows[i].idle ||
            future_idle(world, MAAR_DIM_CPU, "n1") != rows[i].future)
            fail_msg("%s: status %d, idle %lld, future idle %lld", rows[i].name,
                     pod(world, "p")->status, (long long)idle(world, MAAR_DIM_CPU, "n1"),
                     (long long)future_idle(world, MAAR_DIM_CPU, "n1"));
        assert_balanced(world);
    }
}

/* ---- nodes ---- */

/* Items 23 and 25 */
static void world_lets_a_node_fall_into_debt_and_recover(void **state)
{
    (void)state;
    take(world, on_node(make_pod("p", "g", 3000, 6 * GI), "n1", MAAR_POD_RUNNING));
    assert_true(take(world, make_node("n1", 2000, 4 * GI)));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), -1000);
    assert_int_equal(idle(world, MAAR_DIM_MEMORY, "n1"), -2 * GI);
    take(world, make_node("n1", 4000, 8 * GI));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 1000);
}

static void world_offers_nothing_of_a_node_that_cannot_be_read(void **state)
{
    (void)state;
    struct maar_record *record = make_node("n1", 4000, 8 * GI);
    record->fault = "status.allocatable.cpu: cannot be read";
    assert_true(take(world, record));
    assert_int_equal(world->nodes.allocatable[MAAR_DIM_CPU][node("n1")], 0);
    assert_false(world->nodes.facts[node("n1")].ready);
    assert_true(take(world, make_node("n1", 4000, 8 * GI)));
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
    assert_true(world->nodes.facts[node("n1")].ready);
}

static void world_sums_absurd_amounts_without_overflow(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        struct maar_record *record = make_pod(name, "g", INT64_MAX, INT64_MAX);
        take(world, on_node(record, "n1", MAAR_POD_RUNNING));
    }
    assert_true(idle(world, MAAR_DIM_CPU, "n1") < 0);
    assert_true(world->nodes.nonzero_cpu_milli[node("n1")] > 0);
    assert_true(world->nodes.nonzero_memory_bytes[node("n1")] > 0);
    assert_true(queue(world, "q")->allocated[MAAR_DIM_MEMORY] > 0);
    for (int i = 0; i < 64; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        take_end(world, make_pod(name, "g", 1, 1));
    }
    assert_int_equal(idle(world, MAAR_DIM_CPU, "n1"), 4000);
}

/* A queue may hold more of something than any node could. */
static void world_takes_the_amounts_of_a_queue_as_they_are(void **state)
{
    (void)state;
    struct maar_record *record = make_queue("q", "");
    set_amount(record, &record->queue.capability, "memory", INT64_C(5) << 50);
    take(world, record);
    assert_true(maar_resource_get(&queue(world, "q")->capability, MAAR_DIM_MEMORY) == INT64_C(5)
                                                                                          << 50);
}

static void world_uses_the_slot_of_a_node_again(void **state)
{
    (void)state;
    uint32_t slot = node("n1");
    take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING));
    take_end(world, make_node("n1", 4000, 8 * GI));
    take(world, make_node("other", 1000, GI));
    assert_int_equal(node("other"), slot);
    assert_int_equal(idle(world, MAAR_DIM_CPU, "other"), 1000);
    assert_int_equal(world->nodes.n_slots, 2);
}

static void world_knows_more_dimensions_than_it_began_with(void **state)
{
    (void)state;
    struct maar_record *record = make_node("n1", 4000, 8 * GI);
    char names[80][16];
    record->node.allocatable.items =
        maar_arena_calloc(record->arena, 100, sizeof(struct maar_amount));
    record->node.allocatable.n = 0;
    for (int i = 0; i < 80; i++) {
        snprintf(names[i], sizeof names[i], "example.com/%d", i);
        record->node.allocatable.items[record->node.allocatable.n++] =
            (struct maar_amount){names[i], i};
    }
    take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING));
    take(world, record);
    /* Those above the limit are as if nobody offered them. */
    assert_int_equal(world->dims.n, MAAR_MAX_DIMS);
    uint32_t d = maar_world_dim_find(world, "example.com/20");
    assert_int_equal(idle(world, d, "n1"), 20);
    assert_int_equal(maar_world_dim_find(world, "example.com/79"), MAAR_NO_DIM);
}

/* ---- waking ---- */

static void world_is_not_woken_by_news_without_news(void **state)
{
    (void)state;
    take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING));
    assert_false(take(world, on_node(waiting(), "n1", MAAR_POD_RUNNING)));
    assert_false(take(world, make_node("n1", 4000, 8 * GI)));
    assert_false(take(world, make_queue("q", "")));
    assert_false(take(world, make_group("g", "q", 1)));
    assert_false(take_end(world, make_node("nobody", 1, 1)));
    assert_false(take_end(world, make_queue("nobody", "")));
    assert_false(take_end(world, make_group("nobody", "q", 1)));
    assert_false(take_end(world, make_pod("nobody", "g", 1, 1)));
    /* The echo of a status that was written. */
    struct maar_record *record = make_group("g", "q", 1);
    record->pod_group.running = 1;
    assert_false(take(world, record));
    record = make_queue("q", "");
    set_amount(record, &record->queue.allocated, "cpu", 1000);
    assert_false(take(world, record));
}

static void world_is_woken_by_what_a_decision_may_depend_on(void **state)
{
    (void)state;
    take(world, waiting());
    struct maar_record *record = waiting();
    record->pod.has_priority = true;
    record->pod.priority = 7;
    assert_true(take(world, record));
    record = waiting();
    record->pod.n_gates = 1;
    assert_true(take(world, record));
    record = make_node("n1", 4000, 8 * GI);
    record->node.unschedulable = true;
    assert_true(take(world, record));
    record = make_node("n1", 4000, 8 * GI);
    set_labels(record, &record->node.n_labels, &record->node.labels, "zone", "a");
    assert_true(take(world, record));
    assert_true(take(world, make_node("n1", 4001, 8 * GI)));
    assert_true(take(world, make_group("g", "q", 2)));
    assert_true(take(world, make_group("g", "other", 2)));
    record = make_queue("q", "");
    record->queue.weight = 2;
    assert_true(take(world, record));
    assert_true(take(world, make_queue("q", "q")));
    assert_true(take_end(world, waiting()));
    assert_true(take_end(world, make_node("n1", 4000, 8 * GI)));
    assert_true(take_end(world, make_group("g", "q", 2)));
    assert_true(take_end(world, make_queue("q", "")));
}

/* ---- pods that cannot be used ---- */

static void world_counts_a_running_pod_with_a_fault(void **state)
{
    (void)state;
    struct maar_record *record = on_node(waiting(), "n1", MAAR_POD_RUNNING);
    record->fault = "spec.topologySpreadConstraints[0].maxSkew: is 0, must be at least 1";
    take(world, record);
    uint32_t slot = maar_world_node(world, "n1");
    assert_int_equal(pod(world, "p")->node, slot);
    assert_string_equal(maar_task_entry(pod(world, "p"))->fault,
                        "spec.topologySpreadConstraints[0].maxSkew: is 0, must be at least 1");
    assert_int_equal(world->nodes.used[MAAR_DIM_PODS][slot], 1);
    assert_int_equal(world->nodes.used[MAAR_DIM_CPU][slot],
                     pod(world, "p")->cls->request.v[MAAR_DIM_CPU]);
}

/* ---- priority ---- */

static struct maar_record *priority_class(const char *name, int32_t value, bool is_default)
{
    struct maar_record *record = make_record(MAAR_KIND_PRIORITY_CLASS, "", name);
    record->priority_class.value = value;
    record->priority_class.global_default = is_default;
    return record;
}

/* Item 43 */
static void world_reads_a_jobs_priority_from_the_class_as_it_is(void **state)
{
    (void)state;
    struct maar_record *record = make_group("g", "q", 1);
    record->pod_group.priority_class = "high";
    take(world, record);
    assert_int_equal(job(world, "g")->priority, 0);
    take(world, priority_class("high", 100, false));
    assert_int_equal(job(world, "g")->priority, 100);
    take(world, priority_class("usual", 10, true));
    assert_int_equal(job(world, "g")->priority, 100);
    take_end(world, priority_class("high", 100, false));
    assert_int_equal(job(world, "g")->priority, 10);
    take_end(world, priority_class("usual", 10, true));
    assert_int_equal(job(world, "g")->priority, 0);
}

static void world_takes_the_same_default_class_in_any_order(void **state)
{
    (void)state;
    take(world, priority_class("a", 10, true));
    take(world, priority_class("b", 20, true));
    int32_t first = job(world, "g")->priority;
    take_end(world, priority_class("a", 10, true));
    take(world, priority_class("a", 10, true));
    assert_int_equal(job(world, "g")->priority, first);
}

/* Item 21 */
static void world_gives_tasks_two_priorities(void **state)
{
    (void)state;
    take(world, waiting());
    assert_int_equal(pod(world, "p")->priority, 1);
    assert_int_equal(pod(world, "p")->pod_priority, 0);
    struct maar_record *record = waiting();
    record->pod.has_priority = true;
    record->pod.priority = 7;
    record->pod.has_task_priority = true;
    record->pod.task_priority = 3;
    take(world, record);
    assert_int_equal(pod(world, "p")->priority, 3);
    assert_int_equal(pod(world, "p")->pod_priority, 7);
}

static void task_order_is_one_line_for_numbered_and_unnumbered_names(void **state)
{
    (void)state;
    static const char *const names[] = {"g-w-2", "g-w-10", "a", "x-y", "z"};
    for (size_t i = COUNT(names); i-- > 0;)
        take(world, make_pod(names[i], "g", 1, 1));
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(names); k++) {
            int c = maar_task_compare_default(pod(world, names[i]), pod(world, names[k]));
            assert_true(i < k ? c < 0 : i > k ? c > 0 : c == 0);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(world_keeps_a_binding_against_stale_news),
        TEST(world_sees_a_binding_confirmed),
        TEST(world_believes_news_that_contradicts_a_binding),
        TEST(world_takes_a_refused_binding_back),
        TEST(world_lets_a_pod_die_while_it_is_being_bound),
        TEST(world_frees_the_room_of_a_binding_whose_pod_is_gone),
        TEST(world_keeps_a_binding_whose_node_is_gone_until_it_comes_back),
        TEST(world_keeps_an_eviction_against_stale_news),
        TEST(world_takes_a_refused_eviction_back),
        TEST(world_counts_pods_on_a_node_that_comes_late),
        TEST(world_is_not_woken_by_news_of_a_pod_whose_node_is_missing),
        TEST(world_joins_pods_and_their_group_in_any_order),
        TEST(world_keeps_a_group_that_was_made_again_under_its_name),
        TEST(world_forgets_roles_that_a_group_names_no_more),
        TEST(world_follows_a_pod_into_another_group),
        TEST(world_finds_a_nominated_node_by_name),
        TEST(world_counts_pods_of_others_once_they_have_a_node),
        TEST(world_makes_no_job_for_a_pod_without_a_group),
        TEST(world_gives_the_room_of_every_pod_that_has_not_ended),
        TEST(world_lets_a_node_fall_into_debt_and_recover),
        TEST(world_offers_nothing_of_a_node_that_cannot_be_read),
        TEST(world_sums_absurd_amounts_without_overflow),
        TEST(world_takes_the_amounts_of_a_queue_as_they_are),
        TEST(world_uses_the_slot_of_a_node_again),
        TEST(world_knows_more_dimensions_than_it_began_with),
        TEST(world_is_not_woken_by_news_without_news),
        TEST(world_is_woken_by_what_a_decision_may_depend_on),
        TEST(world_reads_a_jobs_priority_from_the_class_as_it_is),
        TEST(world_takes_the_same_default_class_in_any_order),
        TEST(world_counts_a_running_pod_with_a_fault),
        TEST(world_gives_tasks_two_priorities),
        TEST(task_order_is_one_line_for_numbered_and_unnumbered_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
