/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Sub-jobs: which pods of a job its subGroupPolicy takes together (core rules 3.5 and 9.5). */

#include "unit/session/records.h"

static struct maar_world *world;

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_node("n1", 4000, 8 * GI));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_balanced(world);
    maar_world_destroy(world);
    return 0;
}

/* One more entry of subGroupPolicy; keys are separated by blanks. */
static struct maar_sub_group_record *add_policy(struct maar_record *group, const char *name,
                                                const char *keys)
{
    struct maar_pod_group_record *to = &group->pod_group;
    if (!to->sub_groups)
        to->sub_groups = maar_arena_calloc(group->arena, 8, sizeof *to->sub_groups);
    struct maar_sub_group_record *policy = &to->sub_groups[to->n_sub_groups++];
    const char **items = maar_arena_calloc(group->arena, 8, sizeof *items);
    char *rest = maar_arena_strdup(group->arena, keys), *key;
    while ((key = strsep(&rest, " ")))
        if (*key)
            items[policy->n_match_keys++] = key;
    policy->name = name;
    policy->size = 1;
    policy->match_keys = items;
    return policy;
}

static void select_label(struct maar_record *group, struct maar_sub_group_record *policy,
                         const char *key, enum maar_operator op, const char *value)
{
    struct maar_requirement *requirement = maar_arena_alloc(group->arena, sizeof *requirement);
    const char **values = maar_arena_alloc(group->arena, sizeof *values);
    values[0] = value;
    *requirement = (struct maar_requirement){
        .key = key, .op = op, .n_values = op < MAAR_OP_EXISTS, .values = values};
    policy->selector = (struct maar_label_selector){true, 1, requirement};
}

/* labels: "key=value key=value". */
static struct maar_record *labelled(const char *name, const char *labels)
{
    struct maar_record *record = make_pod(name, "g", 1000, GI);
    char *rest = maar_arena_strdup(record->arena, labels), *label;
    while ((label = strsep(&rest, " "))) {
        char *value = strchr(label, '=');
        if (!value)
            continue;
        *value++ = '\0';
        set_labels(record, &record->pod.n_labels, &record->pod.labels, label, value);
    }
    return record;
}

static const char *sub_job_of(const char *name)
{
    const struct maar_sub_job *sub_job = pod(world, name)->sub_job;
    return sub_job ? sub_job->uid : "";
}

static void a_job_without_policies_has_no_sub_jobs(void **state)
{
    (void)state;
    take(world, make_group("g", "q", 2));
    take(world, labelled("p", "k=1"));
    assert_null(pod(world, "p")->sub_job);
    assert_int_equal(job(world, "g")->n_sub_jobs, 0);
}

/* Rows 53 to 55. */
static void the_first_policy_that_takes_a_pod_decides(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *labels;
        const char *want;
    } rows[] = {
        {"one value", "part=3", "ns/g/parts-3"},
        {"two values", "part=3 zone=a", "ns/g/parts-3"},
        {"an empty value counts as none", "part=", "ns/g"},
        {"the next policy", "zone=a rack=b", "ns/g/racks-a-b"},
        {"one of two keys", "zone=a", "ns/g"},
        {"the selector refuses", "part=3 not=parts", "ns/g"},
        {"a selector that is none", "id=1", "ns/g"},
        {"no label", "", "ns/g"},
    };
    struct maar_record *group = make_group("g", "q", 1);
    select_label(group, add_policy(group, "parts", "part"), "not", MAAR_OP_NOT_IN, "parts");
    add_policy(group, "racks", "zone rack")->size = 3;
    select_label(group, add_policy(group, "bad", "id"), "id", MAAR_OP_INVALID, "1");
    take(world, group);
    for (size_t i = 0; i < COUNT(rows); i++) {
        take(world, labelled(rows[i].name, rows[i].labels));
        if (strcmp(sub_job_of(rows[i].name), rows[i].want) != 0)
            fail_msg("%s: %s", rows[i].name, sub_job_of(rows[i].name));
    }
    const struct maar_job *g = job(world, "g");
    assert_int_equal(g->n_sub_jobs, 3);
    assert_int_equal(pod(world, "one value")->sub_job->match_index, 3);
    assert_int_equal(pod(world, "one value")->sub_job->n[MAAR_TASK_PENDING], 2);
    assert_int_equal(pod(world, "the next policy")->sub_job->policy, 1);
    assert_int_equal(pod(world, "the next policy")->sub_job->match_index, 0);
    assert_int_equal(pod(world, "the next policy")->sub_job->min_available, 3);
    /* Row 61: the job has policies, so the rest has no more of a minimum than one. */
    assert_int_equal(pod(world, "no label")->sub_job->min_available, 1);
    assert_int_equal(pod(world, "no label")->sub_job->policy, MAAR_NO_POLICY);
}

static void a_policy_without_keys_takes_pods_unless_volcano_is_asked_for(void **state)
{
    (void)state;
    struct maar_record *group = make_group("g", "q", 1);
    select_label(group, add_policy(group, "leaders", ""), "role", MAAR_OP_IN, "leader");
    take(world, group);
    take(world, labelled("a", "role=leader"));
    take(world, labelled("b", "role=leader"));
    take(world, labelled("c", "role=worker"));
    assert_string_equal(sub_job_of("a"), "ns/g/leaders");
    assert_string_equal(sub_job_of("b"), "ns/g/leaders");
    assert_string_equal(sub_job_of("c"), "ns/g");
    maar_world_set_compatible(world, true);
    assert_balanced(world);
    assert_string_equal(sub_job_of("a"), "ns/g");
    assert_int_equal(job(world, "g")->n_sub_jobs, 1);
}

/* Row 56. */
static void the_priority_is_the_greatest_of_the_tasks(void **state)
{
    (void)state;
    static const struct {
        int32_t first, second;
        int32_t want, want_compatible, want_without_second;
    } rows[] = {
        {-7, -3, -3, 0, -7},
        {4, 9, 9, 9, 4},
        {9, 9, 9, 9, 9},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_record *group = make_group("g", "q", 1);
        add_policy(group, "parts", "part");
        take(world, group);
        struct maar_record *first = labelled("first", "part=1");
        struct maar_record *second = labelled("second", "part=1");
        first->pod.has_priority = second->pod.has_priority = true;
        first->pod.priority = rows[i].first;
        second->pod.priority = rows[i].second;
        take(world, first);
        take(world, second);
        const struct maar_sub_job *sub_job = pod(world, "first")->sub_job;
        assert_int_equal(sub_job->priority, rows[i].want);
        maar_world_set_compatible(world, true);
        assert_int_equal(pod(world, "first")->sub_job->priority, rows[i].want_compatible);
        maar_world_set_compatible(world, false);
        take_end(world, labelled("second", ""));
        assert_int_equal(pod(world, "first")->sub_job->priority, rows[i].want_without_second);
    }
}

static void long_values_are_encoded(void **state)
{
    (void)state;
    struct maar_record *group = make_group("g", "q", 1);
    add_policy(group, "p", "a b c");
    take(world, group);
    char value[64];
    memset(value, 'x', 63);
    value[63] = '\0';
    /* 63 + 1 + 63 + 1 + 1 bytes: one more than stand as they are. */
    maar_autofree char *labels = maar_asprintf("a=%s b=%s c=1", value, value);
    take(world, labelled("long", labels));
    /* FNV-1a of the joined text is 206958108. */
    assert_string_equal(sub_job_of("long"), "ns/g/p-64bf9d54d");
    maar_autofree char *shorter = maar_asprintf("a=%s b=%s c=1", value, value + 1);
    maar_autofree char *want = maar_asprintf("ns/g/p-%s-%s-1", value, value + 1);
    take(world, labelled("not so long", shorter));
    assert_string_equal(sub_job_of("not so long"), want);
}

static void pods_change_sides_with_labels_and_policies(void **state)
{
    (void)state;
    /* The pod may come first. */
    take(world, labelled("a", "part=1 zone=z"));
    assert_null(pod(world, "a")->sub_job);
    struct maar_record *group = make_group("g", "q", 1);
    add_policy(group, "parts", "part");
    assert_true(take(world, group));
    take(world, on_node(labelled("b", "part=1 zone=z"), "n1", MAAR_POD_RUNNING));
    assert_string_equal(sub_job_of("a"), "ns/g/parts-1");
    assert_int_equal(pod(world, "a")->sub_job->n[MAAR_TASK_RUNNING], 1);
    assert_true(take(world, labelled("a", "part=2 zone=z")));
    assert_string_equal(sub_job_of("a"), "ns/g/parts-2");
    assert_int_equal(job(world, "g")->n_sub_jobs, 2);
    assert_balanced(world);

    group = make_group("g", "q", 1);
    add_policy(group, "zones", "zone")->size = 2;
    assert_true(take(world, group));
    assert_string_equal(sub_job_of("a"), "ns/g/zones-z");
    assert_ptr_equal(pod(world, "a")->sub_job, pod(world, "b")->sub_job);
    assert_int_equal(pod(world, "a")->sub_job->min_available, 2);
    assert_balanced(world);

    group = make_group("g", "q", 1);
    add_policy(group, "zones", "zone")->size = 2;
    assert_false(take(world, group));
    /* The PodGroup goes, its pods stay. */
    assert_true(take_end(world, make_group("g", "q", 1)));
    assert_null(pod(world, "a")->sub_job);
    assert_int_equal(job(world, "g")->n_sub_jobs, 0);
}

static void moves_are_counted_and_undone(void **state)
{
    (void)state;
    struct maar_record *group = make_group("g", "q", 1);
    add_policy(group, "parts", "part");
    take(world, group);
    take(world, labelled("a", "part=1"));
    struct maar_undo undo = {0};
    uint64_t before = maar_world_hash(world);
    world->undo = &undo;
    maar_world_move(world, pod(world, "a"), MAAR_TASK_ALLOCATED, maar_world_node(world, "n1"));
    assert_int_equal(maar_sub_job_n_ready(pod(world, "a")->sub_job), 1);
    assert_true(maar_world_hash(world) != before);
    maar_world_rewind(world, 0);
    world->undo = NULL;
    assert_true(maar_world_hash(world) == before);
    maar_undo_fini(&undo);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_without_policies_has_no_sub_jobs),
        TEST(the_first_policy_that_takes_a_pod_decides),
        TEST(a_policy_without_keys_takes_pods_unless_volcano_is_asked_for),
        TEST(the_priority_is_the_greatest_of_the_tasks),
        TEST(long_values_are_encoded),
        TEST(pods_change_sides_with_labels_and_policies),
        TEST(moves_are_counted_and_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
