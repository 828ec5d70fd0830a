/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* What a session writes when it closes: phases and conditions of PodGroups, conditions of waiting pods, events,
 * status.allocated of queues. Only on change: the text is as of the moment when its signature, the text without its
 * numbers, changes. Under `compatibility: volcano` each new text counts as a change. */

#include <stdio.h>

#include "session/session.h"

static bool is_compatible(const struct maar_session *session)
{
    return session->policy->conf->compatibility_volcano;
}

/* ---- phases ---- */

enum maar_phase maar_job_phase(const struct maar_session *session, const struct maar_job *job,
                               bool unschedulable)
{
    if (job->n[MAAR_TASK_RUNNING] > 0 && unschedulable)
        return MAAR_PHASE_UNKNOWN;
    int64_t scheduled = (int64_t)maar_job_n_scheduled(job) + job->n_releasing_on_node;
    int64_t completed = (int64_t)job->n[MAAR_TASK_SUCCEEDED] + job->n[MAAR_TASK_FAILED];
    if (scheduled >= job->min_available) {
        if (scheduled > completed)
            return MAAR_PHASE_RUNNING;
        /* All that ran has ended. With members still waiting that is no end: Volcano says Completed all the same. */
        bool waits = job->n[MAAR_TASK_PENDING] + job->n[MAAR_TASK_PIPELINED] +
                         job->n[MAAR_TASK_ALLOCATED] + job->n[MAAR_TASK_BINDING] >
                     0;
        if (is_compatible(session) || (!waits && job->n_tasks > 0))
            return MAAR_PHASE_COMPLETED;
        if (completed > 0)
            return MAAR_PHASE_RUNNING;
    }
    return job->phase == MAAR_PHASE_INQUEUE ? MAAR_PHASE_INQUEUE : MAAR_PHASE_PENDING;
}

/* ---- signatures ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Equal but for their numbers. */
static bool same_signature(const char *l, const char *r)
{
    for (;;) {
        bool number_l = is_digit(*l), number_r = is_digit(*r);
        if (number_l != number_r)
            return false;
        if (number_l) {
            while (is_digit(*l))
                l++;
            while (is_digit(*r))
                r++;
            continue;
        }
        if (*l != *r)
            return false;
        if (!*l)
            return true;
        l++;
        r++;
    }
}

bool maar_session_same_text(const struct maar_session *session, const char *l, const char *r)
{
    l = l ? l : "";
    r = r ? r : "";
    return is_compatible(session) ? !strcmp(l, r) : same_signature(l, r);
}

/* ---- events and conditions ---- */

void maar_session_event(struct maar_session *session, enum maar_kind kind, const char *ns,
                        const char *name, const char *uid, const char *type, const char *reason,
                        const char *message)
{
    struct maar_write *write = maar_write_create(MAAR_WRITE_EVENT, ns, name, uid);
    write->now_ns = session->now_ns;
    write->event.object = kind;
    write->event.type = type;
    write->event.reason = maar_arena_strdup(write->arena, reason);
    write->event.message = maar_arena_strdup(write->arena, message);
    write->event.source = maar_arena_strdup(write->arena, session->component);
    maar_vec_push(&session->writes, write);
}

void maar_session_set_condition(struct maar_session *session, const struct maar_job *job,
                                const char *type, const char *reason, const char *message)
{
    struct maar_job_entry *entry = maar_session_job(session, job);
    entry->condition_type = maar_arena_strdup(session->arena, type);
    entry->condition_reason = maar_arena_strdup(session->arena, reason);
    entry->condition_message = maar_arena_strdup(session->arena, message);
}

static struct maar_condition *find_condition(struct maar_job_entry *entry, const char *type)
{
    for (size_t i = 0; i < entry->conditions.n; i++)
        if (!strcmp(entry->conditions.data[i].type, type))
            return &entry->conditions.data[i];
    return NULL;
}

/* Takes over the condition as written; true when it differs from what the API holds. */
static bool upsert_condition(const struct maar_session *session, struct maar_job_entry *entry)
{
    struct maar_condition *condition = find_condition(entry, entry->condition_type);
    if (condition && !strcmp(condition->status, "True") &&
        !strcmp(condition->reason, entry->condition_reason) &&
        maar_session_same_text(session, condition->message, entry->condition_message))
        return false;
    if (!condition) {
        struct maar_condition fresh = {maar_strdup(entry->condition_type), NULL, NULL, NULL};
        maar_vec_push(&entry->conditions, fresh);
        condition = &entry->conditions.data[entry->conditions.n - 1];
    }
    free(condition->status);
    free(condition->reason);
    free(condition->message);
    condition->status = maar_strdup("True");
    condition->reason = maar_strdup(entry->condition_reason);
    condition->message = maar_strdup(entry->condition_message);
    return true;
}

/* ---- PodGroups ---- */

static void send_group(struct maar_session *session, struct maar_job_entry *entry, bool condition)
{
    const struct maar_job *job = &entry->view;
    struct maar_write *write =
        maar_write_create(MAAR_WRITE_POD_GROUP_STATUS, job->ns, job->name, job->pod_group_uid);
    write->now_ns = session->now_ns;
    write->pod_group_status.phase = (enum maar_phase)entry->written_phase;
    write->pod_group_status.running = entry->written_running;
    write->pod_group_status.succeeded = entry->written_succeeded;
    write->pod_group_status.failed = entry->written_failed;
    write->pod_group_status.has_condition = condition;
    if (condition)
        write->pod_group_status.condition = (struct maar_condition_record){
            .type = maar_arena_strdup(write->arena, entry->condition_type),
            .status = "True",
            .reason = maar_arena_strdup(write->arena, entry->condition_reason),
            .message = maar_arena_strdup(write->arena, entry->condition_message),
            .transition_id = maar_arena_strdup(write->arena, session->uid),
        };
    maar_vec_push(&session->writes, write);
}

static void tell_group(struct maar_session *session, struct maar_job_entry *entry,
                       bool unschedulable, bool condition, bool phase)
{
    const struct maar_job *job = &entry->view;
    if (unschedulable && condition) {
        char fit[1024];
        maar_job_fit_error(session, job, fit, sizeof fit);
        maar_session_event(session, MAAR_KIND_POD_GROUP, job->ns, job->name, job->pod_group_uid,
                           "Warning", "Unschedulable",
                           maar_arena_printf(session->arena,
                                             "%u/%u tasks in gang unschedulable: %s",
                                             job->n[MAAR_TASK_PENDING], job->n_tasks, fit));
    } else if (phase && entry->written_phase == MAAR_PHASE_RUNNING) {
        maar_session_event(session, MAAR_KIND_POD_GROUP, job->ns, job->name, job->pod_group_uid,
                           "Normal", "Scheduled", "pod group is ready");
    }
}

/* Of a job that is only tried to check the memory there is nothing new to say. */
static void note_surprise(struct maar_session *session, const struct maar_job_entry *job)
{
    session->n_memory_errors +=
        job && job->refusal.checked_session == session->world->session_number;
}

static void write_group(struct maar_session *session, struct maar_job_entry *entry)
{
    struct maar_job *job = &entry->view;
    maar_session_job(session, job);
    bool unschedulable = entry->condition_type && !strcmp(entry->condition_type, "Unschedulable");
    bool condition = entry->condition_type && upsert_condition(session, entry);
    enum maar_phase phase = maar_job_phase(session, job, unschedulable);
    bool phase_changed = phase != entry->written_phase;
    session->n_phases += phase_changed;
    bool changed = phase_changed || condition ||
                   entry->written_running != (int32_t)job->n[MAAR_TASK_RUNNING] ||
                   entry->written_succeeded != (int32_t)job->n[MAAR_TASK_SUCCEEDED] ||
                   entry->written_failed != (int32_t)job->n[MAAR_TASK_FAILED];
    if (job->phase != phase)
        maar_world_set_phase(session->world, job, phase);
    if (!changed)
        return;
    note_surprise(session, entry);
    entry->written_phase = (uint8_t)phase;
    entry->written_running = (int32_t)job->n[MAAR_TASK_RUNNING];
    entry->written_succeeded = (int32_t)job->n[MAAR_TASK_SUCCEEDED];
    entry->written_failed = (int32_t)job->n[MAAR_TASK_FAILED];
    send_group(session, entry, condition);
    tell_group(session, entry, unschedulable, condition, phase_changed);
}

/* ---- pods ---- */

/* What the API holds about the pod says the same: to the letter, or as a reason. */
static bool holds(const struct maar_session *session, const struct maar_task_entry *entry,
                  const char *reason, const char *message, bool to_the_letter)
{
    if (!entry->condition_reason || strcmp(entry->condition_reason, reason) != 0)
        return false;
    const char *held = entry->condition_message ? entry->condition_message : "";
    return to_the_letter ? !strcmp(held, message) : maar_session_same_text(session, held, message);
}

static void send_pod(struct maar_session *session, struct maar_task *task, const char *reason,
                     const char *message)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    note_surprise(session, entry->job);
    maar_text_replace(&entry->condition_reason, reason);
    maar_text_replace(&entry->condition_message, message);
    struct maar_write *write =
        maar_write_create(MAAR_WRITE_POD_CONDITION, task->ns, task->name, task->uid);
    write->now_ns = session->now_ns;
    write->pod_condition.nominated_node = "";
    write->pod_condition.condition = (struct maar_condition_record){
        .type = "PodScheduled",
        .status = "False",
        .reason = maar_arena_strdup(write->arena, reason),
        .message = maar_arena_strdup(write->arena, message),
        .transition_id = "",
    };
    maar_vec_push(&session->writes, write);
    maar_session_event(session, MAAR_KIND_POD, task->ns, task->name, task->uid, "Warning",
                       "FailedScheduling", message);
}

static void write_pod(struct maar_session *session, struct maar_task *task, const char *reason,
                      const char *message)
{
    if (!holds(session, maar_task_entry(task), reason, message, false))
        send_pod(session, task, reason, message);
}

/* Nothing was said about the pod in this session. */
static const char *untried_text(struct maar_session *session, const struct maar_job *job)
{
    if (maar_job_is_pending(job))
        return maar_arena_printf(session->arena, "the PodGroup %s waits to be admitted by queue %s",
                                 job->name, job->queue_name);
    return is_compatible(session) ? "all nodes are unavailable"
                                  : "no action has tried to place it in this session";
}

/* Why the task waits; false when there is nothing to write. */
static bool answer(struct maar_session *session, const struct maar_task *task,
                   const char **ret_reason, const char **ret_message)
{
    const struct maar_task_entry *entry = maar_task_entry(task);
    if (entry->fault) {
        *ret_reason = "Unschedulable";
        *ret_message = entry->fault;
        return true;
    }
    if (task->gated) {
        const char *refusal = maar_session_task(session, task)->fit_text;
        *ret_reason = "SchedulingGated";
        if (refusal && !is_compatible(session)) {
            *ret_message = maar_arena_printf(session->arena, "Scheduling gate %s stays: %s",
                                             entry->gates, refusal);
            return true;
        }
        /* A real server says so itself when the pod is made. */
        *ret_message = "Scheduling is blocked due to non-empty scheduling gates";
        return !entry->condition_reason;
    }
    maar_task_reason(session, task, ret_reason, ret_message);
    if (!**ret_message && maar_session_holds(session, entry->job))
        return false;
    if (!**ret_message)
        *ret_message = untried_text(session, task->job);
    const char *gang = maar_gang_text(session, task->job, task);
    if (gang)
        *ret_message = maar_arena_printf(session->arena, "%s (%s)", *ret_message, gang);
    return true;
}

static bool is_waiting(const struct maar_task *task)
{
    return task->ours &&
           (task->status == MAAR_TASK_PENDING || task->status == MAAR_TASK_ALLOCATED ||
            task->status == MAAR_TASK_PIPELINED);
}

/* Why a pod outside the session's jobs waits. */
static const char *outside_text(struct maar_session *session, const struct maar_task *task)
{
    const struct maar_task_entry *entry = maar_task_entry(task);
    const struct maar_job_entry *job = entry->job;
    if (entry->fault)
        return entry->fault;
    if (!job)
        return "the pod names no PodGroup: set the annotation scheduling.k8s.io/group-name";
    if (!job->exists)
        return maar_arena_printf(session->arena, "PodGroup %s does not exist", job->view.uid);
    if (job->fault)
        return maar_arena_printf(session->arena, "PodGroup %s: %s", job->view.uid, job->fault);
    if (!job->view.queue)
        return maar_arena_printf(session->arena, "queue %s does not exist", job->view.queue_name);
    if (job->queue->fault)
        return maar_arena_printf(session->arena, "queue %s: %s", job->view.queue_name,
                                 job->queue->fault);
    return NULL;
}

static void write_outside_task(struct maar_session *session, struct maar_task *task)
{
    if (!is_waiting(task))
        return;
    const char *text = outside_text(session, task);
    if (text && !(task->gated && maar_task_entry(task)->condition_reason))
        write_pod(session, task, "Unschedulable", text);
}

static void write_outside(struct maar_session *session)
{
    const struct maar_world *world = session->world;
    for (size_t i = 0; i < world->loose.n; i++)
        write_outside_task(session, &world->loose.data[i]->view);
    for (size_t i = 0; i < world->outside.n; i++)
        for (size_t t = 0; t < world->outside.data[i]->tasks.n; t++)
            write_outside_task(session, world->outside.data[i]->tasks.data[t]);
}

/* The answer to "why does it wait", for explain. */
static void note_reason(struct maar_session *session, struct maar_job_entry *entry)
{
    const struct maar_job *job = &entry->view;
    if (job->n[MAAR_TASK_PENDING] + job->n[MAAR_TASK_ALLOCATED] + job->n[MAAR_TASK_PIPELINED] ==
        0) {
        maar_text_replace(&entry->reason, NULL);
        return;
    }
    char fit[1024];
    maar_job_fit_error(session, job, fit, sizeof fit);
    const char *gang = maar_gang_text(session, job, NULL);
    maar_text_replace(&entry->reason,
                      maar_arena_printf(session->arena, "%s%s%s%s", fit, gang ? " (" : "",
                                        gang ? gang : "", gang ? ")" : ""));
}

/* The members of a gang tell one story: when one has a new reason, the others' numbers are brought up to date too. */
static void write_members(struct maar_session *session, const struct maar_job *job)
{
    uint32_t n_waiting =
        job->n[MAAR_TASK_PENDING] + job->n[MAAR_TASK_ALLOCATED] + job->n[MAAR_TASK_PIPELINED];
    if (n_waiting == 0)
        return;
    struct {
        struct maar_task *task;
        const char *reason;
        const char *message;
    } *answers = maar_arena_calloc(session->arena, n_waiting, sizeof *answers);
    uint32_t n = 0;
    bool news = false;
    for (uint32_t t = 0; t < job->n_tasks && n < n_waiting; t++) {
        struct maar_task *task = job->tasks[t];
        if (!is_waiting(task) || !answer(session, task, &answers[n].reason, &answers[n].message))
            continue;
        answers[n].task = task;
        news |=
            !holds(session, maar_task_entry(task), answers[n].reason, answers[n].message, false);
        n++;
    }
    for (uint32_t i = 0; news && i < n; i++)
        if (!holds(session, maar_task_entry(answers[i].task), answers[i].reason, answers[i].message,
                   true))
            send_pod(session, answers[i].task, answers[i].reason, answers[i].message);
}

void maar_session_write_jobs(struct maar_session *session)
{
    for (size_t i = 0; i < session->news.n; i++) {
        struct maar_job *job = session->news.data[i];
        /* What is remembered goes with what was said last. */
        if (maar_job_entry(job)->refusal.session != session->world->session_number)
            maar_job_entry(job)->refusal.number = 0;
        write_group(session, maar_job_entry(job));
        note_reason(session, maar_job_entry(job));
        write_members(session, job);
    }
    write_outside(session);
}

/* ---- queues ---- */

static void send_queue(struct maar_session *session, struct maar_queue_entry *queue,
                       const int64_t *row, uint64_t present)
{
    const struct maar_world *world = session->world;
    struct maar_write *write = maar_write_create(MAAR_WRITE_QUEUE_STATUS, "", queue->view.name,
                                                 queue->uid ? queue->uid : "");
    struct maar_amount *items = maar_arena_calloc(write->arena, MAAR_MAX_DIMS, sizeof *items);
    uint32_t n = 0;
    for (uint32_t d = 0; d < world->dims.n; d++)
        if ((present >> d) & 1)
            items[n++] =
                (struct maar_amount){maar_arena_strdup(write->arena, world->dim_names[d]), row[d]};
    write->now_ns = session->now_ns;
    write->queue_status.allocated = (struct maar_amounts_record){n, items};
    maar_vec_push(&session->writes, write);
}

static void write_queue(struct maar_session *session, struct maar_queue_entry *queue, bool has_root)
{
    const struct maar_world *world = session->world;
    const int64_t *row = has_root ? queue->row_subtree : queue->row_allocated;
    struct maar_resource *written = &queue->written_allocated;
    /* cpu and memory are always named. */
    uint64_t present = (UINT64_C(1) << MAAR_DIM_CPU) | (UINT64_C(1) << MAAR_DIM_MEMORY);
    bool same = true;
    for (uint32_t d = 0; d < world->dims.n; d++) {
        if (row[d] != 0)
            present |= UINT64_C(1) << d;
        same = same && row[d] == maar_resource_get(written, d);
    }
    /* A queue that never held anything needs no zeros. */
    if (same && !queue->write_failed)
        return;
    queue->write_failed = false;
    send_queue(session, queue, row, present);
    free(written->v);
    written->present = present;
    written->n = world->dims.n;
    written->v = maar_calloc(written->n, sizeof *written->v);
    memcpy(written->v, row, written->n * sizeof *written->v);
}

void maar_session_write_queues(struct maar_session *session)
{
    struct maar_world *world = session->world;
    const struct maar_queue_entry *root = maar_world_queue(world, "root");
    bool has_root = root && root->exists;
    for (size_t i = 0; i < world->sorted_queues.n; i++)
        write_queue(session, maar_queue_entry(world->sorted_queues.data[i]), has_root);
}
