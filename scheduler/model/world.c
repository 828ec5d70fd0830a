/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The world: creation, look-ups, assumptions and reservations. The parts are in files of their own (parts.h). */

#include "model/parts.h"
#include "model/write.h"

struct maar_world *maar_world_create(const struct maar_world_options *options)
{
    static const char *const default_names[] = {"volcano", NULL};
    struct maar_world *world = maar_calloc(1, sizeof *world);
    world->strings = maar_strings_create();
    const char *const *names =
        options && options->scheduler_names ? options->scheduler_names : default_names;
    for (; *names; names++)
        maar_vec_push(&world->scheduler_names, maar_strdup(*names));
    world->default_queue =
        maar_strdup(options && options->default_queue ? options->default_queue : "default");
    world->tasks_by_uid = maar_map_create();
    world->jobs_by_name = maar_map_create();
    world->queues_by_name = maar_map_create();
    world->nodes_by_name = maar_map_create();
    world->priority_classes = maar_map_create();
    world->namespaces = maar_map_create();
    world->classes_by_key = maar_map_create();
    world->projected_keys = maar_map_create();
    world->label_sets = maar_map_create();
    world->sub_jobs_by_uid = maar_map_create();
    world->waiting_nodes = maar_map_create();
    world->dims.names = world->dim_names;
    world->dims.policy_scale = world->dim_scales;
    world->row_width = 8;
    maar_nodes_init(world);
    maar_images_init(world);
    maar_tallies_init(world);
    maar_world_dim(world, "cpu");
    maar_world_dim(world, "memory");
    maar_world_dim(world, "pods");
    return world;
}

static void destroy_objects(struct maar_world *world)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(world->tasks_by_uid, &at, NULL, NULL, &value))
        maar_task_destroy(world, value);
    for (size_t i = 0; i < world->job_slots.n; i++)
        if (world->job_slots.data[i])
            maar_job_destroy(world, world->job_slots.data[i]);
    for (size_t i = 0; i < world->queue_slots.n; i++)
        maar_queue_destroy(world, world->queue_slots.data[i]);
    maar_nodes_fini(world);
    maar_namespaces_fini(world);
    at = 0;
    while (maar_map_next(world->priority_classes, &at, NULL, NULL, &value))
        free(value);
    for (size_t i = 0; i < world->scheduler_names.n; i++)
        free(world->scheduler_names.data[i]);
}

void maar_world_destroy(struct maar_world *world)
{
    if (!world)
        return;
    world->undo = NULL;
    destroy_objects(world);
    maar_vec_fini(&world->scheduler_names);
    maar_vec_fini(&world->loose);
    maar_vec_fini(&world->nominated);
    maar_vec_fini(&world->job_slots);
    maar_vec_fini(&world->queue_slots);
    maar_vec_fini(&world->class_slots);
    maar_vec_fini(&world->reservations);
    maar_vec_fini(&world->sorted_jobs);
    maar_vec_fini(&world->sorted_queues);
    maar_vec_fini(&world->sorted_waiting);
    maar_vec_fini(&world->outside);
    maar_vec_fini(&world->listed);
    maar_vec_fini(&world->news);
    maar_map_destroy(world->tasks_by_uid);
    maar_map_destroy(world->jobs_by_name);
    maar_map_destroy(world->queues_by_name);
    maar_map_destroy(world->nodes_by_name);
    maar_map_destroy(world->priority_classes);
    maar_map_destroy(world->namespaces);
    maar_map_destroy(world->classes_by_key);
    maar_projection_fini(world);
    maar_map_destroy(world->label_sets);
    maar_map_destroy(world->sub_jobs_by_uid);
    maar_map_destroy(world->waiting_nodes);
    maar_tallies_fini(world);
    maar_images_fini(world);
    maar_strings_destroy(world->strings);
    free(world->default_queue);
    free(world);
}

bool maar_text_replace(char **slot, const char *text)
{
    if (text && !*text)
        text = NULL;
    if (!text && !*slot)
        return false;
    if (text && *slot && !strcmp(text, *slot))
        return false;
    char *next = text ? maar_strdup(text) : NULL;
    free(*slot);
    *slot = next;
    return true;
}

/* ---- look-ups ---- */

struct maar_task_entry *maar_world_task(const struct maar_world *world, const char *uid)
{
    return maar_map_find(world->tasks_by_uid, uid);
}

struct maar_job_entry *maar_world_job(const struct maar_world *world, const char *uid)
{
    return maar_map_find(world->jobs_by_name, uid);
}

struct maar_queue_entry *maar_world_queue(const struct maar_world *world, const char *name)
{
    return maar_map_find(world->queues_by_name, name);
}

uint32_t maar_world_node(const struct maar_world *world, const char *name)
{
    uintptr_t slot = (uintptr_t)maar_map_find(world->nodes_by_name, name);
    return slot ? (uint32_t)(slot - 1) : MAAR_NO_NODE;
}

bool maar_world_is_ours(const struct maar_world *world, const char *scheduler_name)
{
    for (size_t i = 0; i < world->scheduler_names.n; i++)
        if (!strcmp(world->scheduler_names.data[i], scheduler_name))
            return true;
    return false;
}

/* ---- records ---- */

/* Of several global defaults the highest counts. */
static int32_t find_default_priority(const struct maar_world *world)
{
    const struct maar_priority_class_record *best = NULL;
    size_t at = 0;
    void *value;
    while (maar_map_next(world->priority_classes, &at, NULL, NULL, &value)) {
        const struct maar_priority_class_record *cls = value;
        if (cls->global_default && (!best || cls->value > best->value))
            best = cls;
    }
    return best ? best->value : 0;
}

static bool apply_priority_class(struct maar_world *world, const struct maar_record *record,
                                 bool deleted)
{
    const struct maar_priority_class_record *next = &record->priority_class;
    struct maar_priority_class_record *cls = maar_map_remove(world->priority_classes, record->name);
    if (!cls && deleted)
        return false;
    bool changed =
        !cls || deleted || cls->value != next->value || cls->global_default != next->global_default;
    if (deleted) {
        free(cls);
    } else {
        if (!cls)
            cls = maar_calloc(1, sizeof *cls);
        *cls = *next;
        maar_map_set(world->priority_classes, record->name, cls);
    }
    if (changed) {
        world->default_priority = find_default_priority(world);
        maar_jobs_reprioritise(world);
    }
    return changed;
}

bool maar_world_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    switch (record->kind) {
    case MAAR_KIND_NODE:
        return maar_nodes_apply(world, record, deleted);
    case MAAR_KIND_PRIORITY_CLASS:
        return apply_priority_class(world, record, deleted);
    case MAAR_KIND_QUEUE:
        return maar_queues_apply(world, record, deleted);
    case MAAR_KIND_POD_GROUP:
        return maar_jobs_apply(world, record, deleted);
    case MAAR_KIND_POD:
        return maar_tasks_apply(world, record, deleted);
    case MAAR_KIND_NAMESPACE:
        return maar_namespaces_apply(world, record, deleted);
    case MAAR_N_KINDS:
        break;
    }
    return false;
}

/* ---- assumptions ---- */

void maar_world_set_bind_failed(struct maar_world *world, struct maar_task *task, bool failed)
{
    (void)world;
    struct maar_task_entry *entry = maar_task_entry(task);
    if (entry->bind_failed == failed)
        return;
    entry->bind_failed = failed;
    if (!entry->job)
        return;
    entry->job->n_bind_failed += failed ? 1u : UINT32_MAX;
    if (entry->job->queue)
        entry->job->queue->n_bind_failed += failed ? 1u : UINT32_MAX;
}

void maar_world_bind_done(struct maar_world *world, const char *uid, bool ok)
{
    struct maar_task_entry *task = maar_world_task(world, uid);
    if (!task || !task->bind_in_flight)
        return;
    task->bind_in_flight = false;
    if (ok || !task->assumed)
        return;
    task->assumed = false;
    maar_nodes_unwait(world, task);
    maar_world_set_bind_failed(world, &task->view, true);
    maar_world_move(world, &task->view,
                    task->observed_deleting ? MAAR_TASK_RELEASING : MAAR_TASK_PENDING,
                    MAAR_NO_NODE);
}

static void count_sent(uint32_t *n, bool sent)
{
    if (sent)
        ++*n;
    else if (*n > 0)
        --*n;
}

void maar_world_status_sent(struct maar_world *world, const struct maar_write *write, bool sent)
{
    if (write->kind == MAAR_WRITE_POD_CONDITION) {
        struct maar_task_entry *task = maar_world_task(world, write->uid);
        if (task)
            count_sent(&task->conditions_in_flight, sent);
    } else if (write->kind == MAAR_WRITE_POD_GROUP_STATUS) {
        maar_autofree char *uid = maar_asprintf("%s/%s", write->ns, write->name);
        struct maar_job_entry *job = maar_world_job(world, uid);
        if (job && !strcmp(job->view.pod_group_uid, write->uid))
            count_sent(&job->statuses_in_flight, sent);
    }
}

void maar_world_evict_done(struct maar_world *world, const char *uid, bool ok)
{
    struct maar_task_entry *task = maar_world_task(world, uid);
    if (!task || ok || !task->evict_requested || task->observed_deleting)
        return;
    task->evict_requested = false;
    if (task->view.status == MAAR_TASK_RELEASING)
        maar_world_move(world, &task->view,
                        task->observed_phase == MAAR_POD_RUNNING ? MAAR_TASK_RUNNING
                                                                 : MAAR_TASK_BOUND,
                        task->view.node);
}

void maar_world_ungate_done(struct maar_world *world, const char *uid, bool ok)
{
    struct maar_task_entry *task = maar_world_task(world, uid);
    if (task && !ok)
        task->view.gate_opened = false;
}

void maar_world_reserve(struct maar_world *world, struct maar_task *task, uint32_t node,
                        struct maar_job *payer, int64_t expires_ns)
{
    maar_world_release(world, task);
    struct maar_reservation reservation = {task, node, payer, expires_ns};
    maar_vec_push(&world->reservations, reservation);
    maar_task_entry(task)->reserved = true;
    maar_world_move(world, task, MAAR_TASK_PIPELINED, node);
}

void maar_world_release(struct maar_world *world, struct maar_task *task)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    if (!entry->reserved)
        return;
    entry->reserved = false;
    for (size_t i = 0; i < world->reservations.n; i++) {
        if (world->reservations.data[i].task == task) {
            maar_vec_remove(&world->reservations, i);
            break;
        }
    }
    if (task->status == MAAR_TASK_PIPELINED)
        maar_world_move(world, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
}

size_t maar_world_expire(struct maar_world *world, int64_t now_ns)
{
    size_t n = 0;
    for (size_t i = world->reservations.n; i-- > 0;) {
        if (world->reservations.data[i].expires_ns <= now_ns) {
            maar_world_release(world, world->reservations.data[i].task);
            n++;
        }
    }
    return n;
}

/* ---- sorted views ---- */

int maar_job_compare(const void *l, const void *r)
{
    const struct maar_job *a = *(struct maar_job *const *)l;
    const struct maar_job *b = *(struct maar_job *const *)r;
    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns ? -1 : 1;
    return strcmp(a->uid, b->uid);
}

static int compare_queues(const void *l, const void *r)
{
    const struct maar_queue *a = *(struct maar_queue *const *)l;
    const struct maar_queue *b = *(struct maar_queue *const *)r;
    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sort_jobs(struct maar_world *world)
{
    if (!world->jobs_stale)
        return;
    maar_vec_clear(&world->sorted_jobs);
    maar_vec_clear(&world->outside);
    for (size_t i = 0; i < world->job_slots.n; i++) {
        struct maar_job_entry *job = world->job_slots.data[i];
        if (!job)
            continue;
        job->view.takes_part = maar_job_is_scheduled(job);
        if (job->view.takes_part)
            maar_vec_push(&world->sorted_jobs, &job->view);
        else
            maar_vec_push(&world->outside, job);
    }
    if (world->sorted_jobs.n > 0)
        qsort(world->sorted_jobs.data, world->sorted_jobs.n, sizeof(void *), maar_job_compare);
    world->jobs_stale = false;
}

static bool is_waiting(const struct maar_job *job)
{
    return maar_job_is_pending(job) || job->n[MAAR_TASK_PENDING] > 0 ||
           job->n[MAAR_TASK_ALLOCATED] > 0 || job->n[MAAR_TASK_PIPELINED] > 0;
}

/* Before the jobs: whether they are stale tells whether one may have come to take part, or ceased to. */
static void sort_waiting(struct maar_world *world)
{
    bool stale = world->waiting_stale || world->jobs_stale;
    size_t n = 0;
    for (size_t i = 0; i < world->listed.n; i++) {
        struct maar_job_entry *job = world->listed.data[i];
        job->is_listed = is_waiting(&job->view);
        if (!job->is_listed)
            continue;
        job->listed_at = (uint32_t)n;
        world->listed.data[n++] = job;
    }
    if (!stale && n == world->listed.n)
        return;
    world->listed.n = n;
    maar_vec_clear(&world->sorted_waiting);
    for (size_t i = 0; i < n; i++)
        if (maar_job_is_scheduled(world->listed.data[i]))
            maar_vec_push(&world->sorted_waiting, &world->listed.data[i]->view);
    if (world->sorted_waiting.n > 0)
        qsort(world->sorted_waiting.data, world->sorted_waiting.n, sizeof(void *),
              maar_job_compare);
    world->waiting_stale = false;
}

void maar_world_prepare(struct maar_world *world)
{
    maar_images_prepare(world);
    maar_nodes_rank(world);
    maar_projection_prepare(world);
    maar_tallies_prepare(world);
    sort_waiting(world);
    sort_jobs(world);
    if (world->queues_stale) {
        maar_vec_clear(&world->sorted_queues);
        for (size_t i = 0; i < world->queue_slots.n; i++)
            if (world->queue_slots.data[i]->exists)
                maar_vec_push(&world->sorted_queues, &world->queue_slots.data[i]->view);
        if (world->sorted_queues.n > 0)
            qsort(world->sorted_queues.data, world->sorted_queues.n, sizeof(void *),
                  compare_queues);
        world->queues_stale = false;
    }
}
