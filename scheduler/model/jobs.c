/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Jobs: a PodGroup and its pods. A job exists from the first of either; it is scheduled once its PodGroup is there. */

#include "model/parts.h"

void maar_job_publish(struct maar_job_entry *job)
{
    struct maar_job *view = &job->view;
    view->tasks = (struct maar_task *const *)job->tasks.data;
    view->n_tasks = (uint32_t)job->tasks.n;
    view->roles = job->roles.data;
    view->n_roles = (uint32_t)job->roles.n;
    view->sub_jobs = (struct maar_sub_job *const *)job->sub_jobs.data;
    view->n_sub_jobs = (uint32_t)job->sub_jobs.n;
    view->allocated = job->row_allocated;
    view->pending = job->row_pending;
    view->gated = job->row_gated;
}

static uint32_t take_slot(struct maar_world *world, struct maar_job_entry *job)
{
    bool has_free = maar_map_n(world->jobs_by_name) < world->job_slots.n;
    for (size_t i = 0; has_free && i < world->job_slots.n; i++) {
        if (!world->job_slots.data[i]) {
            world->job_slots.data[i] = job;
            return (uint32_t)i;
        }
    }
    maar_vec_push(&world->job_slots, job);
    return (uint32_t)world->job_slots.n - 1;
}

struct maar_job_entry *maar_job_get(struct maar_world *world, const char *ns, const char *name)
{
    maar_autofree char *uid = maar_asprintf("%s/%s", ns, name);
    struct maar_job_entry *job = maar_map_find(world->jobs_by_name, uid);
    if (job)
        return job;
    job = maar_calloc(1, sizeof *job);
    job->hash = maar_hash_bytes(uid, strlen(uid), 1);
    job->state = maar_job_own_state(job);
    job->view.slot = take_slot(world, job);
    job->view.uid = maar_world_intern(world, uid);
    job->view.ns = maar_world_intern(world, ns);
    job->view.name = maar_world_intern(world, name);
    job->view.pod_group_uid = maar_world_intern(world, "");
    job->view.queue_name = maar_world_intern(world, "");
    job->view.priority_class = maar_world_intern(world, "");
    job->row_allocated = maar_calloc(world->row_width, sizeof(int64_t));
    job->row_pending = maar_calloc(world->row_width, sizeof(int64_t));
    job->row_gated = maar_calloc(world->row_width, sizeof(int64_t));
    job->allocated_n = maar_calloc(world->row_width, sizeof(uint32_t));
    job->pending_n = maar_calloc(world->row_width, sizeof(uint32_t));
    maar_map_set(world->jobs_by_name, uid, job);
    maar_job_publish(job);
    world->jobs_stale = true; /* it is outside until its PodGroup comes */
    return job;
}

/* ---- what sessions look at ---- */

uint64_t maar_job_own_state(const struct maar_job_entry *job)
{
    return maar_mix(job->hash, job->version << 8 | job->view.phase);
}

void maar_job_add_state(struct maar_job_entry *job, uint64_t amount)
{
    job->state += amount;
    if (job->queue)
        job->queue->view.jobs_state += amount;
}

void maar_job_note_news(struct maar_world *world, struct maar_job_entry *job)
{
    if (job->has_news)
        return;
    job->has_news = true;
    job->news_at = (uint32_t)world->news.n;
    maar_vec_push(&world->news, job);
}

void maar_job_note_waiting(struct maar_world *world, struct maar_job_entry *job)
{
    if (job->is_listed)
        return;
    job->is_listed = true;
    job->listed_at = (uint32_t)world->listed.n;
    maar_vec_push(&world->listed, job);
    world->waiting_stale = true;
}

static void unlist(struct maar_world *world, struct maar_job_entry *job)
{
    if (job->has_news) {
        struct maar_job_entry *last = world->news.data[--world->news.n];
        world->news.data[job->news_at] = last;
        last->news_at = job->news_at;
    }
    if (job->is_listed) {
        struct maar_job_entry *last = world->listed.data[--world->listed.n];
        world->listed.data[job->listed_at] = last;
        last->listed_at = job->listed_at;
        world->waiting_stale = true;
    }
}

void maar_job_set_phase(struct maar_world *world, struct maar_job_entry *job, uint8_t phase)
{
    uint64_t before = maar_job_own_state(job);
    job->view.phase = phase;
    maar_job_add_state(job, maar_job_own_state(job) - before);
    maar_job_note_news(world, job);
    if (maar_job_is_pending(&job->view))
        maar_job_note_waiting(world, job);
}

void maar_world_job_changed(struct maar_world *world, struct maar_job_entry *job)
{
    uint64_t before = maar_job_own_state(job);
    job->version++;
    maar_job_add_state(job, maar_job_own_state(job) - before);
    maar_job_note_news(world, job);
}

void maar_world_renew(struct maar_world *world)
{
    for (size_t i = 0; i < world->job_slots.n; i++)
        if (world->job_slots.data[i])
            maar_world_job_changed(world, world->job_slots.data[i]);
}

void maar_world_clear_news(struct maar_world *world)
{
    for (size_t i = 0; i < world->news.n; i++)
        world->news.data[i]->has_news = false;
    maar_vec_clear(&world->news);
}

static void clear_conditions(struct maar_job_entry *job)
{
    for (size_t i = 0; i < job->conditions.n; i++) {
        free(job->conditions.data[i].type);
        free(job->conditions.data[i].status);
        free(job->conditions.data[i].reason);
        free(job->conditions.data[i].message);
    }
    maar_vec_clear(&job->conditions);
}

void maar_job_destroy(struct maar_world *world, struct maar_job_entry *job)
{
    maar_map_remove(world->jobs_by_name, job->view.uid);
    unlist(world, job);
    world->job_slots.data[job->view.slot] = NULL;
    maar_queue_remove_job(world, job);
    clear_conditions(job);
    maar_sub_jobs_set_policies(world, job, NULL, 0);
    maar_world_set_labels(world, &job->view.annotations, &job->view.n_annotations, NULL, 0);
    for (size_t i = 0; i < job->roles.n; i++)
        maar_world_unintern(world, job->roles.data[i].name);
    maar_world_unintern(world, job->view.uid);
    maar_world_unintern(world, job->view.ns);
    maar_world_unintern(world, job->view.name);
    maar_world_unintern(world, job->view.pod_group_uid);
    maar_world_unintern(world, job->view.queue_name);
    maar_world_unintern(world, job->view.priority_class);
    free(job->view.min_resources.v);
    free(job->row_allocated);
    free(job->row_pending);
    free(job->row_gated);
    free(job->allocated_n);
    free(job->pending_n);
    free(job->fault);
    free(job->event_key);
    free(job->reason);
    maar_vec_fini(&job->conditions);
    maar_vec_fini(&job->tasks);
    maar_vec_fini(&job->roles);
    maar_vec_fini(&job->sub_jobs);
    free(job);
    world->jobs_stale = true;
}

/* ---- members ---- */

uint32_t maar_job_role(struct maar_world *world, struct maar_job_entry *job, const char *role)
{
    for (uint32_t i = 0; i < job->roles.n; i++)
        if (!strcmp(job->roles.data[i].name, role))
            return i;
    struct maar_role next = {.name = maar_world_intern(world, role)};
    maar_vec_push(&job->roles, next);
    maar_job_publish(job);
    return (uint32_t)job->roles.n - 1;
}

void maar_job_attach(struct maar_world *world, struct maar_job_entry *job,
                     struct maar_task_entry *task)
{
    task->job = job;
    task->view.job = &job->view;
    task->view.role_slot = maar_job_role(world, job, task->view.role);
    task->job_at = (uint32_t)job->tasks.n;
    maar_vec_push(&job->tasks, &task->view);
    maar_sub_jobs_join(world, task);
    maar_job_publish(job);
}

void maar_job_detach(struct maar_world *world, struct maar_task_entry *task)
{
    struct maar_job_entry *job = task->job;
    if (!job)
        return;
    maar_world_set_bind_failed(world, &task->view, false);
    maar_sub_jobs_leave(world, task);
    struct maar_task *last = job->tasks.data[job->tasks.n - 1];
    job->tasks.data[task->job_at] = last;
    maar_task_entry(last)->job_at = task->job_at;
    job->tasks.n--;
    maar_job_publish(job);
    task->job = NULL;
    task->view.job = NULL;
    task->view.role_slot = UINT32_MAX;
    if (!job->exists && job->tasks.n == 0)
        maar_job_destroy(world, job);
}

/* ---- records ---- */

static int32_t priority_of(const struct maar_world *world, const char *name)
{
    const struct maar_priority_class_record *cls = maar_map_find(world->priority_classes, name);
    return cls ? cls->value : world->default_priority;
}

void maar_jobs_reprioritise(struct maar_world *world)
{
    for (size_t i = 0; i < world->job_slots.n; i++) {
        struct maar_job_entry *job = world->job_slots.data[i];
        if (job)
            job->view.priority = priority_of(world, job->view.priority_class);
    }
}

static bool set_roles(struct maar_world *world, struct maar_job_entry *job,
                      const struct maar_pod_group_record *group)
{
    bool changed = false;
    int64_t total = 0;
    for (uint32_t i = 0; i < job->roles.n; i++) {
        int32_t min = 0;
        for (uint32_t j = 0; j < group->n_min_task; j++)
            if (!strcmp(group->min_task[j].role, job->roles.data[i].name))
                min = group->min_task[j].min;
        changed |= job->roles.data[i].min != min;
        job->roles.data[i].min = min;
    }
    for (uint32_t j = 0; j < group->n_min_task; j++) {
        uint32_t i = maar_job_role(world, job, group->min_task[j].role);
        changed |= job->roles.data[i].min != group->min_task[j].min;
        job->roles.data[i].min = group->min_task[j].min;
        total += group->min_task[j].min;
    }
    job->view.min_task_total = total;
    return changed;
}

static bool same_text(const char *l, const char *r)
{
    return !strcmp(l ? l : "", r ? r : "");
}

static bool same_conditions(const struct maar_job_entry *job,
                            const struct maar_pod_group_record *group)
{
    if (job->conditions.n != group->n_conditions)
        return false;
    for (uint32_t i = 0; i < group->n_conditions; i++) {
        const struct maar_condition *l = &job->conditions.data[i];
        const struct maar_condition_record *r = &group->conditions[i];
        if (!same_text(l->type, r->type) || !same_text(l->status, r->status) ||
            !same_text(l->reason, r->reason) || !same_text(l->message, r->message))
            return false;
    }
    return true;
}

static void set_conditions(struct maar_job_entry *job, const struct maar_pod_group_record *group)
{
    clear_conditions(job);
    for (uint32_t i = 0; i < group->n_conditions; i++) {
        const struct maar_condition_record *from = &group->conditions[i];
        struct maar_condition condition = {maar_strdup(from->type), maar_strdup(from->status),
                                           maar_strdup(from->reason), maar_strdup(from->message)};
        maar_vec_push(&job->conditions, condition);
    }
}

static bool set_spec(struct maar_world *world, struct maar_job_entry *job,
                     const struct maar_record *record)
{
    const struct maar_pod_group_record *group = &record->pod_group;
    struct maar_job *view = &job->view;
    bool changed = maar_world_set_text(world, &view->pod_group_uid, record->uid);
    /* Another group under the name: what is in flight was about the old one. */
    if (changed)
        job->statuses_in_flight = 0;
    changed |= maar_world_set_text(world, &view->priority_class, group->priority_class);
    changed |= view->min_available != group->min_member ||
               view->has_min_resources != group->has_min_resources ||
               view->has_topology != group->has_topology || view->created_ns != record->created_ns;
    view->min_available = group->min_member;
    view->has_min_resources = group->has_min_resources;
    view->has_topology = group->has_topology;
    view->created_ns = record->created_ns;
    view->priority = priority_of(world, view->priority_class);
    changed |= maar_resource_set(world, &view->min_resources, &group->min_resources);
    changed |= set_roles(world, job, group);
    changed |= maar_sub_jobs_set_policies(world, job, group->sub_groups, group->n_sub_groups);
    changed |= maar_world_set_labels(world, &view->annotations, &view->n_annotations,
                                     group->annotations, group->n_annotations);
    changed |= maar_text_replace(&job->fault, record->fault);
    return changed;
}

static bool set_status(struct maar_world *world, struct maar_job_entry *job,
                       const struct maar_pod_group_record *group)
{
    if (job->statuses_in_flight > 0)
        return false;
    bool changed = job->view.phase != group->phase;
    if (changed)
        maar_job_set_phase(world, job, (uint8_t)group->phase);
    /* Somebody else wrote it: sessions must look at what they said. */
    if (job->written_phase != group->phase || job->written_running != group->running ||
        job->written_succeeded != group->succeeded || job->written_failed != group->failed ||
        !same_conditions(job, group))
        maar_world_job_changed(world, job);
    job->written_phase = (uint8_t)group->phase;
    job->written_running = group->running;
    job->written_succeeded = group->succeeded;
    job->written_failed = group->failed;
    set_conditions(job, group);
    return changed;
}

static void forget_group(struct maar_world *world, struct maar_job_entry *job)
{
    maar_queue_remove_job(world, job);
    job->exists = false;
    for (uint32_t i = 0; i < job->roles.n; i++)
        job->roles.data[i].min = 0;
    maar_sub_jobs_set_policies(world, job, NULL, 0);
    job->view.min_task_total = 0;
    job->view.min_available = 0;
    maar_world_set_text(world, &job->view.pod_group_uid, "");
    clear_conditions(job);
    maar_world_job_changed(world, job);
    if (job->tasks.n == 0)
        maar_job_destroy(world, job);
}

bool maar_jobs_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    if (deleted) {
        maar_autofree char *uid = maar_asprintf("%s/%s", record->ns, record->name);
        struct maar_job_entry *job = maar_map_find(world->jobs_by_name, uid);
        /* A group that was made again under its name outlives the late news of the old one's end. */
        if (!job || !job->exists || (*record->uid && strcmp(record->uid, job->view.pod_group_uid)))
            return false;
        forget_group(world, job);
        return true;
    }
    struct maar_job_entry *job = maar_job_get(world, record->ns, record->name);
    bool added = !job->exists;
    bool changed = set_spec(world, job, record) || added;
    changed |= set_status(world, job, &record->pod_group);
    const char *queue_name =
        *record->pod_group.queue ? record->pod_group.queue : world->default_queue;
    job->exists = true;
    if (added || strcmp(job->view.queue_name, queue_name) != 0) {
        maar_world_set_text(world, &job->view.queue_name, queue_name);
        maar_queue_remove_job(world, job);
        maar_queue_add_job(world, maar_world_queue_get(world, queue_name), job);
        changed = true;
    }
    if (changed) {
        world->jobs_stale = true;
        maar_world_job_changed(world, job);
    }
    maar_job_note_news(world, job);
    if (maar_job_is_pending(&job->view))
        maar_job_note_waiting(world, job);
    return changed;
}
