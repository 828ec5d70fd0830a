/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Pods: what the API shows, met with what is assumed. A binding that was sent holds its room until the watch
 * confirms it or the answer refuses it; a record that contradicts an assumption cancels it. */

#include "model/parts.h"

/* With three parts or more, the last part of a name is its index. */
static int64_t order_index(const char *name)
{
    const char *last = strrchr(name, '-');
    if (!last || !memchr(name, '-', (size_t)(last - name)))
        return -1;
    int64_t value = 0;
    const char *c = last + 1;
    if (!*c || strlen(c) > 18)
        return -1;
    for (; *c; c++) {
        if (*c < '0' || *c > '9')
            return -1;
        value = value * 10 + (*c - '0');
    }
    return value;
}

static enum maar_task_status observed_status(const struct maar_pod_record *pod)
{
    switch (pod->phase) {
    case MAAR_POD_RUNNING:
        return pod->deleting ? MAAR_TASK_RELEASING : MAAR_TASK_RUNNING;
    case MAAR_POD_PENDING:
        if (pod->deleting)
            return MAAR_TASK_RELEASING;
        return *pod->node_name ? MAAR_TASK_BOUND : MAAR_TASK_PENDING;
    case MAAR_POD_SUCCEEDED:
        return MAAR_TASK_SUCCEEDED;
    case MAAR_POD_FAILED:
        return MAAR_TASK_FAILED;
    case MAAR_POD_UNKNOWN:
        break;
    }
    return MAAR_TASK_UNKNOWN;
}

static bool is_terminated(enum maar_task_status status)
{
    return status == MAAR_TASK_SUCCEEDED || status == MAAR_TASK_FAILED;
}

/* Leaves job, node and class; the entry stays. */
static void detach(struct maar_world *world, struct maar_task_entry *task)
{
    maar_nodes_unwait(world, task);
    maar_ledger_count(world, task, -1);
    maar_ledger_unlink_node(world, task);
    task->view.node = MAAR_NO_NODE;
    maar_job_detach(world, task);
}

/* Pods of ours without a group are listed: nothing schedules them, but they are told why. */
static void set_loose(struct maar_world *world, struct maar_task_entry *task, bool loose)
{
    if (task->loose == loose)
        return;
    task->loose = loose;
    if (loose) {
        task->job_at = (uint32_t)world->loose.n;
        maar_vec_push(&world->loose, task);
        return;
    }
    struct maar_task_entry *last = world->loose.data[--world->loose.n];
    world->loose.data[task->job_at] = last;
    last->job_at = task->job_at;
}

static uint32_t nominated_slot(const struct maar_world *world, const struct maar_task_entry *task)
{
    return task->nominated_name ? maar_world_node(world, task->nominated_name) : MAAR_NO_NODE;
}

void maar_tasks_renominate(struct maar_world *world)
{
    for (size_t i = 0; i < world->nominated.n; i++) {
        struct maar_task_entry *task = world->nominated.data[i];
        task->view.nominated_node = nominated_slot(world, task);
    }
}

/* True when the nomination is another one. */
static bool set_nominated(struct maar_world *world, struct maar_task_entry *task, const char *name)
{
    bool listed = task->nominated_name != NULL;
    if (!maar_text_replace(&task->nominated_name, name))
        return false;
    task->view.nominated_node = nominated_slot(world, task);
    if (task->nominated_name && !listed) {
        maar_vec_push(&world->nominated, task);
    } else if (!task->nominated_name) {
        for (size_t i = 0; i < world->nominated.n; i++) {
            if (world->nominated.data[i] == task) {
                maar_vec_remove(&world->nominated, i);
                break;
            }
        }
    }
    return true;
}

void maar_task_destroy(struct maar_world *world, struct maar_task_entry *task)
{
    if (task->reserved)
        maar_world_release(world, &task->view);
    set_loose(world, task, false);
    set_nominated(world, task, NULL);
    detach(world, task);
    maar_map_remove(world->tasks_by_uid, task->view.uid);
    maar_class_unref(world, maar_class_entry(task->view.cls));
    maar_label_set_unref(world, task->labels);
    maar_world_unintern(world, task->view.ns);
    maar_world_unintern(world, task->view.role);
    maar_world_unintern(world, task->gates);
    free((void *)(uintptr_t)task->view.uid);
    free((void *)(uintptr_t)task->view.name);
    free(task->fault);
    free(task->condition_reason);
    free(task->condition_message);
    free(task);
}

static struct maar_task_entry *create(struct maar_world *world, const struct maar_record *record)
{
    struct maar_task_entry *task = maar_calloc(1, sizeof *task);
    task->view.uid = maar_strdup(record->uid);
    task->hash = maar_hash_bytes(record->uid, strlen(record->uid), 1);
    task->view.name = maar_strdup(record->name);
    task->view.ns = maar_world_intern(world, record->ns);
    task->view.role = maar_world_intern(world, "");
    task->view.node = MAAR_NO_NODE;
    task->view.nominated_node = MAAR_NO_NODE;
    task->view.role_slot = UINT32_MAX;
    task->view.created_ns = record->created_ns;
    task->view.order_index = order_index(record->name);
    task->tried_status = MAAR_N_TASK_STATUSES;
    maar_map_set(world->tasks_by_uid, record->uid, task);
    return task;
}

/* Facts of the pod that place it in the world; a change of them takes it out and in again. */
struct identity {
    struct maar_class_entry *cls;
    struct maar_label_set *labels;
    const char *group; /* "" when in no job */
    const char *role;
    bool gated;
    bool only_queue_gate;
};

static bool same_identity(const struct maar_task_entry *task, const struct identity *id)
{
    const char *group = task->job ? task->job->view.name : "";
    return task->view.cls == &id->cls->view && task->labels == id->labels &&
           !strcmp(group, id->group) && !strcmp(task->view.role, id->role) &&
           task->view.gated == id->gated && task->view.only_queue_gate == id->only_queue_gate;
}

static void set_identity(struct maar_world *world, struct maar_task_entry *task,
                         const struct identity *id)
{
    bool is_new = !task->view.cls;
    struct maar_class_entry *old_class = is_new ? NULL : maar_class_entry(task->view.cls);
    struct maar_label_set *old_labels = task->labels;
    uint32_t node = task->view.node;
    if (!is_new) {
        maar_ledger_count(world, task, -1);
        maar_ledger_unlink_node(world, task);
        task->view.node = MAAR_NO_NODE;
        maar_job_detach(world, task);
    }
    task->view.cls = &id->cls->view;
    task->labels = id->labels;
    task->view.gated = id->gated;
    task->view.only_queue_gate = id->only_queue_gate;
    const char *role = maar_world_intern(world, id->role);
    maar_world_unintern(world, task->view.role);
    task->view.role = role;
    if (*id->group)
        maar_job_attach(world, maar_job_get(world, task->view.ns, id->group), task);
    task->view.node = node;
    maar_ledger_count(world, task, 1);
    maar_ledger_link_node(world, task, UINT32_MAX);
    maar_class_unref(world, old_class);
    maar_label_set_unref(world, old_labels);
}

/* The references of the record's identity are dropped again when nothing changed. */
static bool apply_identity(struct maar_world *world, struct maar_task_entry *task,
                           const struct maar_record *record, bool ours, bool bound)
{
    const struct maar_pod_record *pod = &record->pod;
    struct identity id = {
        .labels = maar_label_set_ref(world, pod->labels, pod->n_labels),
        .group = ours || bound ? pod->group : "",
        .role = pod->role,
        .gated = pod->n_gates > 0,
        .only_queue_gate = pod->only_queue_gate,
    };
    id.cls = maar_class_ref(world, record, id.labels);
    if (task->view.cls && same_identity(task, &id)) {
        maar_class_unref(world, id.cls);
        maar_label_set_unref(world, id.labels);
        return false;
    }
    set_identity(world, task, &id);
    if (task->job)
        maar_world_job_changed(world, task->job);
    return true;
}

static void apply_gates(struct maar_world *world, struct maar_task_entry *task,
                        const struct maar_pod_record *pod)
{
    const char *gates = pod->n_gates > 0 ? maar_world_intern(world, pod->gates) : NULL;
    maar_world_unintern(world, task->gates);
    task->gates = gates;
    task->view.gate_opened &= pod->n_gates > 0;
}

static bool apply_plain(struct maar_world *world, struct maar_task_entry *task,
                        const struct maar_record *record, bool ours)
{
    const struct maar_pod_record *pod = &record->pod;
    int32_t pod_priority = pod->has_priority ? pod->priority : 0;
    int32_t priority = pod->has_task_priority ? pod->task_priority
                       : pod->has_priority    ? pod->priority
                                              : 1;
    struct maar_task *view = &task->view;
    bool changed = view->priority != priority || view->pod_priority != pod_priority ||
                   view->preemptable != pod->preemptable || view->ours != ours ||
                   view->asks_queue_gate != pod->asks_queue_gate;
    maar_sub_jobs_set_priority(world, task, priority);
    view->pod_priority = pod_priority;
    view->preemptable = pod->preemptable;
    view->ours = ours;
    view->asks_queue_gate = pod->asks_queue_gate;
    apply_gates(world, task, pod);
    changed |= set_nominated(world, task, pod->nominated_node);
    changed |= maar_text_replace(&task->fault, record->fault);
    return changed;
}

/* Takes over the observed status and node. The node may be one that has not arrived: then the task waits for it and
 * counts in its job already. */
static void move_to(struct maar_world *world, struct maar_task_entry *task,
                    enum maar_task_status status, const char *node_name)
{
    if (task->reserved)
        maar_world_release(world, &task->view);
    uint32_t node = MAAR_NO_NODE;
    bool holds = *node_name && !is_terminated(status);
    if (holds)
        node = maar_world_node(world, node_name);
    if (status != task->view.status || node != task->view.node)
        maar_world_move(world, &task->view, status, node);
    if (holds && node == MAAR_NO_NODE)
        maar_nodes_wait(world, task, node_name);
    else
        maar_nodes_unwait(world, task);
}

static bool apply_status(struct maar_world *world, struct maar_task_entry *task,
                         const struct maar_pod_record *pod)
{
    enum maar_task_status status = observed_status(pod);
    uint8_t before = task->view.status;
    uint32_t node_before = task->view.node;
    const char *waiting_before = task->waiting_node;
    task->observed_phase = (uint8_t)pod->phase;
    task->observed_deleting = pod->deleting;

    if (task->assumed && !*pod->node_name && !is_terminated(status)) {
        /* The echo of a state before our binding: the room stays taken. */
        if (status == MAAR_TASK_RELEASING && task->view.status == MAAR_TASK_BINDING)
            maar_world_move(world, &task->view, MAAR_TASK_RELEASING, task->view.node);
        return task->view.status != before;
    }
    if (task->evict_requested && !pod->deleting && !is_terminated(status))
        return false; /* our eviction is on its way */
    if (task->reserved && status == MAAR_TASK_PENDING)
        return false; /* a reservation holds while the pod waits */
    task->assumed = false;
    task->bind_in_flight = false;
    task->evict_requested = false;
    move_to(world, task, status, pod->node_name);
    maar_tallies_recount(world, task);
    return task->view.status != before || task->view.node != node_before ||
           task->waiting_node != waiting_before;
}

static void apply_condition(struct maar_world *world, struct maar_task_entry *task,
                            const struct maar_pod_record *pod)
{
    const struct maar_condition_record *condition = &pod->scheduled_condition;
    if (task->conditions_in_flight > 0)
        return;
    bool waits = *condition->type && !strcmp(condition->status, "False");
    bool changed = maar_text_replace(&task->condition_reason, waits ? condition->reason : NULL);
    changed |= maar_text_replace(&task->condition_message, waits ? condition->message : NULL);
    /* Somebody else wrote it: sessions must look at what they said. */
    if (changed && task->job)
        maar_world_job_changed(world, task->job);
}

bool maar_tasks_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    struct maar_task_entry *task = maar_map_find(world->tasks_by_uid, record->uid);
    const struct maar_pod_record *pod = &record->pod;
    bool ours = !deleted && maar_world_is_ours(world, pod->spec.scheduler_name);
    bool bound = !deleted && *pod->node_name;
    bool finished = pod->phase == MAAR_POD_SUCCEEDED || pod->phase == MAAR_POD_FAILED;
    if (deleted || (!ours && (!bound || (finished && !*pod->group)))) {
        if (!task)
            return false;
        maar_task_destroy(world, task);
        return true;
    }
    maar_world_project_spec(world, &pod->spec);
    bool added = !task;
    if (added) {
        task = create(world, record);
        task->view.status = MAAR_TASK_PENDING;
    }
    set_loose(world, task, false);
    bool changed = apply_identity(world, task, record, ours, bound) || added;
    bool replaced = apply_plain(world, task, record, ours);
    if (replaced && task->job)
        maar_world_job_changed(world, task->job);
    changed |= replaced;
    changed |= apply_status(world, task, pod);
    apply_condition(world, task, pod);
    set_loose(world, task, ours && !task->job);
    return changed;
}

/* Volcano compares a numbered name with one without number by age; three such tasks may then come in a circle, so
 * that the order of arrival decides. Here the numbered ones go first. */
int maar_task_compare_default(const struct maar_task *l, const struct maar_task *r)
{
    if (l->order_index != r->order_index) {
        if (l->order_index < 0 || r->order_index < 0)
            return l->order_index < 0 ? 1 : -1;
        return l->order_index < r->order_index ? -1 : 1;
    }
    if (l->created_ns != r->created_ns)
        return l->created_ns < r->created_ns ? -1 : 1;
    return strcmp(l->uid, r->uid);
}
