/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Sub-jobs: members of a job that its subGroupPolicy takes together. The first entry that takes a pod decides; pods
 * with the same values under its matchLabelKeys share a sub-job. What no entry takes shares one with a minimum of 1. */

#include <errno.h>
#include <stdio.h>

#include "model/parts.h"

/* ---- names ---- */

/* The longest joined values that stand in a uid as they are. */
#define VALUES_MAX 128u

static uint32_t fnv1a_32(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Kubernetes' SafeEncodeString: letters and digits that make up no words. */
static void encode(char *text)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    for (; *text; text++)
        *text = alphabet[(unsigned char)*text % (sizeof alphabet - 1)];
}

static char *make_uid(const struct maar_job *job, const struct maar_sub_group_record *policy,
                      const char *const *values)
{
    struct maar_text joined = MAAR_TEXT_INIT;
    for (uint32_t i = 0; i < policy->n_match_keys; i++)
        maar_text_addf(&joined, "%s%s", i > 0 ? "-" : "", values[i]);
    if (joined.n > VALUES_MAX) {
        char number[16];
        snprintf(number, sizeof number, "%lu", (unsigned long)fnv1a_32(maar_text_get(&joined)));
        encode(number);
        maar_text_clear(&joined);
        maar_text_addf(&joined, "%s", number);
    }
    char *uid = maar_asprintf("%s/%s%s%s", job->uid, policy->name, joined.n > 0 ? "-" : "",
                              maar_text_get(&joined));
    maar_text_fini(&joined);
    return uid;
}

/* The value as strconv.Atoi reads it, 0 when it is no number. */
static int64_t index_of(const char *value)
{
    const char *digits = value + (*value == '-' || *value == '+');
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return 0;
    errno = 0;
    long long number = strtoll(value, NULL, 10);
    return errno ? 0 : number;
}

/* ---- priorities ---- */

static int32_t least_priority(const struct maar_world *world)
{
    return world->compatible ? 0 : INT32_MIN;
}

/* Where one task has the present priority, that is still it. */
static void lower_priority(const struct maar_world *world, struct maar_sub_job *sub_job)
{
    int32_t greatest = least_priority(world);
    for (uint32_t i = 0; i < sub_job->n_tasks && greatest != sub_job->priority; i++)
        if (sub_job->tasks[i]->priority > greatest)
            greatest = sub_job->tasks[i]->priority;
    sub_job->priority = greatest;
}

void maar_sub_jobs_set_priority(const struct maar_world *world, struct maar_task_entry *task,
                                int32_t priority)
{
    struct maar_sub_job *sub_job = task->view.sub_job;
    int32_t before = task->view.priority;
    task->view.priority = priority;
    if (!sub_job)
        return;
    if (priority > sub_job->priority)
        sub_job->priority = priority;
    else if (before == sub_job->priority)
        lower_priority(world, sub_job);
}

/* ---- members ---- */

static void publish(struct maar_sub_job_entry *sub_job)
{
    sub_job->view.tasks = (struct maar_task *const *)sub_job->tasks.data;
    sub_job->view.n_tasks = (uint32_t)sub_job->tasks.n;
}

static struct maar_sub_job_entry *get(struct maar_world *world, struct maar_job_entry *job,
                                      char *uid, uint32_t policy, int64_t match_index)
{
    struct maar_sub_job_entry *sub_job = maar_map_find(world->sub_jobs_by_uid, uid);
    if (sub_job) {
        free(uid);
        return sub_job;
    }
    sub_job = maar_calloc(1, sizeof *sub_job);
    sub_job->view.uid = uid;
    sub_job->view.job = &job->view;
    sub_job->view.policy = policy;
    sub_job->view.match_index = match_index;
    sub_job->view.min_available = policy == MAAR_NO_POLICY ? 1 : job->policies[policy].size;
    sub_job->view.priority = least_priority(world);
    sub_job->job_at = (uint32_t)job->sub_jobs.n;
    maar_vec_push(&job->sub_jobs, &sub_job->view);
    maar_job_publish(job);
    maar_map_set(world->sub_jobs_by_uid, uid, sub_job);
    return sub_job;
}

static void destroy(struct maar_world *world, struct maar_sub_job_entry *sub_job)
{
    struct maar_job_entry *job = maar_job_entry(sub_job->view.job);
    struct maar_sub_job *last = job->sub_jobs.data[job->sub_jobs.n - 1];
    job->sub_jobs.data[sub_job->job_at] = last;
    maar_sub_job_entry(last)->job_at = sub_job->job_at;
    job->sub_jobs.n--;
    maar_job_publish(job);
    maar_map_remove(world->sub_jobs_by_uid, sub_job->view.uid);
    free((void *)(uintptr_t)sub_job->view.uid);
    maar_vec_fini(&sub_job->tasks);
    free(sub_job);
}

/* The values under the policy's keys; false when it does not take the pod. */
static bool takes(const struct maar_world *world, const struct maar_sub_group_record *policy,
                  const struct maar_label_set *labels, const char **values)
{
    if (policy->selector.is_set && !maar_label_set_matches(labels, &policy->selector))
        return false;
    for (uint32_t i = 0; i < policy->n_match_keys; i++) {
        values[i] = maar_label_set_find(labels, policy->match_keys[i]);
        if (!values[i] || !*values[i])
            return false;
    }
    return policy->n_match_keys > 0 || !world->compatible;
}

/* Of entries with the same name the first one counts. */
static uint32_t first_named(const struct maar_job_entry *job, uint32_t policy)
{
    for (uint32_t i = 0; i < policy; i++)
        if (!strcmp(job->policies[i].name, job->policies[policy].name))
            return i;
    return policy;
}

static struct maar_sub_job_entry *find(struct maar_world *world, struct maar_job_entry *job,
                                       const struct maar_label_set *labels)
{
    for (uint32_t i = 0; i < job->view.n_sub_group_policies; i++) {
        const struct maar_sub_group_record *policy = &job->policies[i];
        const char **values = maar_calloc(policy->n_match_keys + 1, sizeof *values);
        struct maar_sub_job_entry *found = NULL;
        if (takes(world, policy, labels, values))
            found = get(world, job, make_uid(&job->view, policy, values), first_named(job, i),
                        policy->n_match_keys > 0 ? index_of(values[0]) : 0);
        free((void *)values);
        if (found)
            return found;
    }
    return get(world, job, maar_strdup(job->view.uid), MAAR_NO_POLICY, 0);
}

void maar_sub_jobs_join(struct maar_world *world, struct maar_task_entry *task)
{
    if (task->job->view.n_sub_group_policies == 0)
        return;
    struct maar_sub_job_entry *sub_job = find(world, task->job, task->labels);
    task->view.sub_job = &sub_job->view;
    task->sub_job_at = (uint32_t)sub_job->tasks.n;
    maar_vec_push(&sub_job->tasks, &task->view);
    publish(sub_job);
    if (task->view.priority > sub_job->view.priority)
        sub_job->view.priority = task->view.priority;
}

void maar_sub_jobs_leave(struct maar_world *world, struct maar_task_entry *task)
{
    if (!task->view.sub_job)
        return;
    struct maar_sub_job_entry *sub_job = maar_sub_job_entry(task->view.sub_job);
    struct maar_task *last = sub_job->tasks.data[sub_job->tasks.n - 1];
    sub_job->tasks.data[task->sub_job_at] = last;
    maar_task_entry(last)->sub_job_at = task->sub_job_at;
    sub_job->tasks.n--;
    publish(sub_job);
    task->view.sub_job = NULL;
    if (sub_job->tasks.n == 0)
        destroy(world, sub_job);
    else if (task->view.priority == sub_job->view.priority)
        lower_priority(world, &sub_job->view);
}

/* ---- policies ---- */

/* Every task leaves before the first joins: what a sub-job is like comes from its policy. */
static void regroup(struct maar_world *world, struct maar_job_entry *job)
{
    for (size_t i = 0; i < job->tasks.n; i++) {
        struct maar_task_entry *task = maar_task_entry(job->tasks.data[i]);
        maar_ledger_count(world, task, -1);
        maar_sub_jobs_leave(world, task);
    }
    for (size_t i = 0; i < job->tasks.n; i++) {
        struct maar_task_entry *task = maar_task_entry(job->tasks.data[i]);
        maar_sub_jobs_join(world, task);
        maar_ledger_count(world, task, 1);
    }
}

void maar_world_set_compatible(struct maar_world *world, bool compatible)
{
    if (world->compatible == compatible)
        return;
    world->compatible = compatible;
    for (size_t i = 0; i < world->job_slots.n; i++) {
        struct maar_job_entry *job = world->job_slots.data[i];
        if (!job || job->view.n_sub_group_policies == 0)
            continue;
        regroup(world, job);
        maar_world_job_changed(world, job);
    }
}

static bool same_texts(const char *const *l, uint32_t n_l, const char *const *r, uint32_t n_r)
{
    if (n_l != n_r)
        return false;
    for (uint32_t i = 0; i < n_l; i++)
        if (strcmp(l[i], r[i]) != 0)
            return false;
    return true;
}

static bool same_selector(const struct maar_label_selector *l, const struct maar_label_selector *r)
{
    if (l->is_set != r->is_set || l->n_requirements != r->n_requirements)
        return false;
    for (uint32_t i = 0; i < l->n_requirements; i++) {
        const struct maar_requirement *a = &l->requirements[i], *b = &r->requirements[i];
        if (strcmp(a->key, b->key) != 0 || a->op != b->op ||
            !same_texts(a->values, a->n_values, b->values, b->n_values))
            return false;
    }
    return true;
}

static bool same_policy(const struct maar_sub_group_record *l,
                        const struct maar_sub_group_record *r)
{
    return !strcmp(l->name, r->name) && l->size == r->size && l->min == r->min &&
           l->has_topology == r->has_topology && same_selector(&l->selector, &r->selector) &&
           same_texts(l->match_keys, l->n_match_keys, r->match_keys, r->n_match_keys);
}

static bool same_policies(const struct maar_job_entry *job,
                          const struct maar_sub_group_record *policies, uint32_t n)
{
    if (job->view.n_sub_group_policies != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_policy(&job->policies[i], &policies[i]))
            return false;
    return true;
}

static const char *const *copy_texts(struct maar_arena *arena, const char *const *from, uint32_t n)
{
    const char **to = maar_arena_calloc(arena, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = maar_arena_strdup(arena, from[i]);
    return to;
}

static struct maar_label_selector copy_selector(struct maar_arena *arena,
                                                const struct maar_label_selector *from)
{
    struct maar_requirement *to = maar_arena_calloc(arena, from->n_requirements, sizeof *to);
    for (uint32_t i = 0; i < from->n_requirements; i++) {
        to[i] = from->requirements[i];
        to[i].key = maar_arena_strdup(arena, to[i].key);
        to[i].values = copy_texts(arena, to[i].values, to[i].n_values);
    }
    return (struct maar_label_selector){from->is_set, from->n_requirements, to};
}

static void copy_policies(struct maar_job_entry *job, const struct maar_sub_group_record *from,
                          uint32_t n)
{
    struct maar_arena *arena = maar_arena_create();
    struct maar_sub_group_record *to = maar_arena_calloc(arena, n, sizeof *to);
    struct maar_sub_group_policy *view = maar_arena_calloc(arena, n, sizeof *view);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].name = maar_arena_strdup(arena, from[i].name);
        to[i].selector = copy_selector(arena, &from[i].selector);
        to[i].match_keys = copy_texts(arena, from[i].match_keys, from[i].n_match_keys);
        view[i] =
            (struct maar_sub_group_policy){to[i].name, to[i].size, to[i].min, to[i].has_topology};
    }
    job->policies_arena = arena;
    job->policies = to;
    job->view.sub_group_policies = view;
}

bool maar_sub_jobs_set_policies(struct maar_world *world, struct maar_job_entry *job,
                                const struct maar_sub_group_record *policies, uint32_t n)
{
    if (same_policies(job, policies, n))
        return false;
    maar_arena_destroy(job->policies_arena);
    job->policies_arena = NULL;
    job->policies = NULL;
    job->view.sub_group_policies = NULL;
    if (n > 0)
        copy_policies(job, policies, n);
    job->view.n_sub_group_policies = n;
    regroup(world, job);
    return true;
}
