/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Why something waits: counted reasons of nodes, and the texts that Volcano's users read. */

#include <stdio.h>

#include "session/session.h"

void maar_reasons_init(struct maar_reasons *reasons, struct maar_arena *arena)
{
    *reasons = (struct maar_reasons){.arena = arena};
}

void maar_reasons_fini(struct maar_reasons *reasons)
{
    maar_vec_fini(&reasons->items);
}

void maar_reasons_add_n(struct maar_reasons *reasons, const char *text, uint32_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < reasons->items.n; i++) {
        if (!strcmp(reasons->items.data[i].text, text)) {
            reasons->items.data[i].n += n;
            return;
        }
    }
    struct maar_reason reason = {maar_arena_strdup(reasons->arena, text), n};
    maar_vec_push(&reasons->items, reason);
}

void maar_reasons_add(struct maar_reasons *reasons, const char *text)
{
    maar_reasons_add_n(reasons, text, 1);
}

static int compare_texts(const void *l, const void *r)
{
    return strcmp(*(char *const *)l, *(char *const *)r);
}

/* Entries "<n> <text>", sorted as strings, joined by ", ". */
static const char *histogram(struct maar_arena *arena, const struct maar_reason *items, size_t n)
{
    const char **entries = maar_arena_calloc(arena, n ? n : 1, sizeof *entries);
    size_t n_bytes = 1;
    for (size_t i = 0; i < n; i++) {
        entries[i] = maar_arena_printf(arena, "%u %s", items[i].n, items[i].text);
        n_bytes += strlen(entries[i]) + 2;
    }
    if (n > 0)
        qsort((void *)entries, n, sizeof *entries, compare_texts);
    char *out = maar_arena_alloc(arena, n_bytes);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            memcpy(out + at, ", ", 2);
            at += 2;
        }
        size_t len = strlen(entries[i]);
        memcpy(out + at, entries[i], len);
        at += len;
    }
    return out;
}

const char *maar_reasons_fit_text(const struct maar_reasons *reasons, uint32_t n_nodes)
{
    if (reasons->items.n == 0)
        return maar_arena_printf(reasons->arena, "0/%u nodes are unavailable", n_nodes);
    return maar_arena_printf(reasons->arena, "0/%u nodes are unavailable: %s.", n_nodes,
                             histogram(reasons->arena, reasons->items.data, reasons->items.n));
}

static int compare_reasons(const void *l, const void *r)
{
    return strcmp(((const struct maar_reason *)l)->text, ((const struct maar_reason *)r)->text);
}

/* Sorted: plugins go through dimensions by number, which is the order of their arrival. */
const char *maar_reasons_join(const struct maar_reasons *reasons)
{
    const char *out = "";
    size_t n = reasons->items.n;
    struct maar_reason *sorted = maar_arena_calloc(reasons->arena, n, sizeof *sorted);
    if (n > 0) {
        memcpy(sorted, reasons->items.data, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_reasons);
    }
    for (size_t i = 0; i < n; i++)
        out = maar_arena_printf(reasons->arena, "%s%s%s", out, *out ? ", " : "", sorted[i].text);
    return out;
}

/* ---- memory of this session ---- */

struct maar_job_entry *maar_session_job(struct maar_session *session, const struct maar_job *job)
{
    struct maar_job_entry *entry = maar_job_entry(job);
    if (entry->tried_session != session->world->session_number) {
        entry->tried_session = session->world->session_number;
        entry->failed_roles = 0;
        entry->lacked = 0;
        entry->looked_at_nodes = false;
        entry->job_text = NULL;
        entry->gang_text = NULL;
        entry->condition_type = NULL;
    }
    return entry;
}

struct maar_sub_job_entry *maar_session_sub_job(struct maar_session *session,
                                                const struct maar_sub_job *sub_job)
{
    struct maar_sub_job_entry *entry = maar_sub_job_entry(sub_job);
    if (entry->tried_session != session->world->session_number) {
        entry->tried_session = session->world->session_number;
        entry->gang_text = NULL;
    }
    return entry;
}

struct maar_task_entry *maar_session_task(struct maar_session *session,
                                          const struct maar_task *task)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    if (entry->tried_session != session->world->session_number) {
        entry->tried_session = session->world->session_number;
        entry->tried_status = MAAR_N_TASK_STATUSES;
        entry->tried_node = MAAR_NO_NODE;
        entry->fit_text = NULL;
    }
    return entry;
}

void maar_session_refuse_task(struct maar_session *session, const struct maar_task *task,
                              const char *text)
{
    maar_session_task(session, task)->fit_text = text;
    if (task->job)
        maar_session_job(session, task->job)->failed_roles |=
            UINT64_C(1) << (task->role_slot < 63 ? task->role_slot : 63);
}

void maar_session_refuse_job(struct maar_session *session, const struct maar_job *job,
                             const char *text)
{
    maar_session_job(session, job)->job_text = text;
}

/* ---- texts ---- */

const char *maar_gang_text(struct maar_session *session, const struct maar_job *job,
                           const struct maar_task *task)
{
    const char *text = maar_session_job(session, job)->gang_text;
    if (task && task->sub_job && maar_session_sub_job(session, task->sub_job)->gang_text)
        return maar_session_sub_job(session, task->sub_job)->gang_text;
    const struct maar_sub_job *first = NULL;
    for (uint32_t i = 0; !task && !text && i < job->n_sub_jobs; i++)
        if (maar_session_sub_job(session, job->sub_jobs[i])->gang_text &&
            (!first || strcmp(job->sub_jobs[i]->uid, first->uid) < 0))
            first = job->sub_jobs[i];
    return first ? maar_sub_job_entry(first)->gang_text : text;
}

static const char *const status_names[MAAR_N_TASK_STATUSES] = {
    "Pending", "Allocated", "Pipelined", "Binding", "Bound",
    "Running", "Releasing", "Succeeded", "Failed",  "Unknown",
};

/* The status a task had when its plan was dropped, else its present one. */
static uint8_t last_status(struct maar_session *session, const struct maar_task *task,
                           uint32_t *ret_node)
{
    const struct maar_task_entry *entry = maar_session_task(session, task);
    if (task->status == MAAR_TASK_PENDING && entry->tried_status != MAAR_N_TASK_STATUSES) {
        *ret_node = entry->tried_node;
        return entry->tried_status;
    }
    *ret_node = task->node;
    return task->status;
}

void maar_task_reason(struct maar_session *session, const struct maar_task *task,
                      const char **ret_reason, const char **ret_message)
{
    const struct maar_task_entry *entry = maar_session_task(session, task);
    const char *job_text = task->job ? maar_session_job(session, task->job)->job_text : NULL;
    uint32_t node;
    uint8_t status = last_status(session, task, &node);
    const char *node_name = node == MAAR_NO_NODE ? "" : session->world->nodes.facts[node].name;
    switch (status) {
    case MAAR_TASK_ALLOCATED:
        *ret_reason = "Schedulable";
        *ret_message = maar_arena_printf(session->arena,
                                         "Pod %s/%s can possibly be assigned to %s, once "
                                         "minAvailable is satisfied",
                                         task->ns, task->name, node_name);
        return;
    case MAAR_TASK_PIPELINED:
        *ret_reason = "Unschedulable";
        *ret_message = maar_arena_printf(session->arena,
                                         "Pod %s/%s can possibly be assigned to %s, once resource "
                                         "is released and minAvailable is satisfied",
                                         task->ns, task->name, node_name);
        return;
    case MAAR_TASK_PENDING:
        *ret_reason = "Unschedulable";
        *ret_message = entry->fit_text ? entry->fit_text : job_text ? job_text : "";
        return;
    default:
        *ret_reason = status_names[status];
        *ret_message = job_text ? job_text : "";
    }
}

static void count(struct maar_reason *items, size_t *n, const char *text)
{
    for (size_t i = 0; i < *n; i++) {
        if (!strcmp(items[i].text, text)) {
            items[i].n++;
            return;
        }
    }
    items[(*n)++] = (struct maar_reason){text, 1};
}

static const char *pending_histogram(struct maar_session *session, const struct maar_job *job)
{
    struct maar_reason items[MAAR_N_TASK_STATUSES + 2];
    size_t n = 0;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        if (job->tasks[i]->status != MAAR_TASK_PENDING)
            continue;
        uint32_t node;
        uint8_t status = last_status(session, job->tasks[i], &node);
        count(items, &n,
              status == MAAR_TASK_ALLOCATED ? "Schedulable"
              : status == MAAR_TASK_PENDING || status == MAAR_TASK_PIPELINED
                  ? "Unschedulable"
                  : status_names[status]);
    }
    return histogram(session->arena, items, n);
}

void maar_gate_text(const struct maar_task *task, bool queue_admission, struct maar_text *out)
{
    const struct maar_task_entry *entry = maar_task_entry(task);
    if (task->gate_opened) {
        maar_text_add(out, "its scheduling gate is being removed");
        return;
    }
    maar_text_addf(out, "waits for the removal of scheduling gate %s", entry->gates);
    if (task->only_queue_gate && !queue_admission)
        maar_text_add(out, ", which the scheduler removes only with feature gate "
                           "SchedulingGatesQueueAdmission=true");
    else if (task->only_queue_gate && !task->asks_queue_gate)
        maar_text_addf(out, ", which the scheduler removes only from pods with annotation %s=true",
                       entry->gates);
}

/* Why it was refused a node, else which gates it waits at (Volcano says nothing of them); NULL when it is neither. */
static const char *refusal(struct maar_session *session, const struct maar_task *task)
{
    const char *fit_text = maar_session_task(session, task)->fit_text;
    if (fit_text || !task->gated || task->status != MAAR_TASK_PENDING ||
        session->view.compatibility)
        return fit_text;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_gate_text(task, session->queue_admission, &text);
    const char *copy = maar_arena_strdup(session->arena, maar_text_get(&text));
    maar_text_fini(&text);
    return copy;
}

/* The first task, by order, for which no node fits. */
static const struct maar_task *first_refused(struct maar_session *session,
                                             const struct maar_job *job)
{
    const struct maar_task *first = NULL;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task *task = job->tasks[i];
        if (!refusal(session, task))
            continue;
        if (!first || maar_task_compare_default(task, first) < 0)
            first = task;
    }
    return first;
}

/* Why the whole job was refused, else why its first task was; Volcano's punctuation. */
static const char *origin(struct maar_session *session, const struct maar_job *job)
{
    const char *job_text = maar_session_job(session, job)->job_text;
    if (job_text)
        return maar_arena_printf(session->arena, ". Origin reason is: %s", job_text);
    const struct maar_task *refused = first_refused(session, job);
    if (!refused)
        return "";
    return maar_arena_printf(session->arena, ". Origin reason is %s: %s", refused->name,
                             refusal(session, refused));
}

const char *maar_job_fit_error(struct maar_session *session, const struct maar_job *job,
                               char *buffer, size_t n)
{
    struct maar_reason items[MAAR_N_TASK_STATUSES + 1];
    size_t n_items = 0;
    for (uint32_t s = 0; s < MAAR_N_TASK_STATUSES; s++)
        if (job->n[s] > 0)
            items[n_items++] = (struct maar_reason){status_names[s], job->n[s]};
    if (job->min_available >= 0)
        items[n_items++] = (struct maar_reason){"minAvailable", (uint32_t)job->min_available};
    const char *pending = job->n[MAAR_TASK_PENDING] > 0 ? pending_histogram(session, job) : "";
    snprintf(buffer, n, "%s, %s%s%s%s",
             maar_job_is_ready(job) ? "pod group is ready" : "pod group is not ready",
             histogram(session->arena, items, n_items), *pending ? "; Pending: " : "", pending,
             origin(session, job));
    return buffer;
}
