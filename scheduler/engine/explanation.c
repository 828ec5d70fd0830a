/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Finds what is asked for and puts its explanation together. */

#include "engine/explanation.h"

#include <errno.h>
#include <stdio.h>

#include "engine/engine_parts.h"
#include "engine/explain_parts.h"

#define MAX_JOBS_TOLD 20u

/* ---- looking up ---- */

static const struct maar_task_entry *find_task(const struct maar_world *world, const char *object)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(world->tasks_by_uid, &at, NULL, NULL, &value)) {
        const struct maar_task_entry *task = value;
        size_t n = strlen(task->view.ns);
        if (!strncmp(object, task->view.ns, n) && object[n] == '/' &&
            !strcmp(object + n + 1, task->view.name))
            return task;
    }
    return NULL;
}

struct target {
    const struct maar_job_entry *job;
    const struct maar_task_entry *task;
    const struct maar_queue_entry *queue;
};

/* The rest of the text behind a prefix such as "queue/"; NULL when it has another beginning. */
static const char *behind(const char *object, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(object, prefix, n) != 0 ? NULL : object + n;
}

static bool find_target(const struct maar_world *world, const char *object, struct target *ret)
{
    const char *queue = behind(object, "queue/"), *group = behind(object, "podgroup/"),
               *pod = behind(object, "pod/");
    if (queue)
        ret->queue = maar_world_queue(world, queue);
    if (queue && ret->queue)
        return true;
    ret->job = pod ? NULL : maar_world_job(world, group ? group : object);
    if (!ret->job && !group)
        ret->task = find_task(world, pod ? pod : object);
    if (ret->task)
        ret->job = ret->task->job;
    return ret->task || ret->job;
}

/* ---- parts ---- */

static struct maar_explained_group *explain_group(struct maar_explaining *explaining)
{
    maar_explain_group(explaining);
    if (explaining->job->queue)
        maar_explain_node_cures(explaining);
    return explaining->group;
}

static const char *outside_text(const struct maar_task_entry *task)
{
    if (task->fault)
        return task->fault;
    if (!task->job && task->view.ours && task->view.status == MAAR_TASK_PENDING)
        return "the pod names no PodGroup: set the annotation scheduling.k8s.io/group-name";
    return NULL;
}

static const char *gate_text(const struct maar_session *session, const struct maar_task *task)
{
    struct maar_text text = MAAR_TEXT_INIT;
    maar_gate_text(task, session->queue_admission, &text);
    const char *copy = maar_arena_strdup(session->arena, maar_text_get(&text));
    maar_text_fini(&text);
    return copy;
}

static void explain_pod(struct maar_session *session, const struct maar_task_entry *task,
                        const struct maar_explaining *explaining,
                        struct maar_explanation *explanation)
{
    static const char *const statuses[MAAR_N_TASK_STATUSES] = {
        "waits", "has a node", "waits for room", "is being bound", "is bound",
        "runs",  "is ending",  "succeeded",      "failed",         "is in an unknown state"};
    struct maar_arena *arena = session->arena;
    const struct maar_task *view = &task->view;
    struct maar_explained_pod *pod = maar_arena_alloc(arena, sizeof *pod);
    explanation->pod = pod;
    pod->name = maar_arena_printf(arena, "%s/%s", view->ns, view->name);
    pod->status = statuses[view->status < MAAR_N_TASK_STATUSES ? view->status : 0];
    pod->gated = view->gated;
    if (view->node != MAAR_NO_NODE)
        pod->node = maar_arena_strdup(arena, session->world->nodes.facts[view->node].name);
    if (view->status != MAAR_TASK_PENDING)
        return;
    if (task->condition_reason) {
        pod->reason = maar_arena_strdup(arena, task->condition_reason);
        pod->message =
            maar_arena_strdup(arena, task->condition_message ? task->condition_message : "");
    }
    const char *text = outside_text(task);
    pod->text = text          ? maar_arena_strdup(arena, text)
                : view->gated ? gate_text(session, view)
                              : explaining->probe_text;
    if (!pod->node)
        pod->node = explaining->probe_node;
}

static void explain_jobs(struct maar_session *session, const struct maar_queue *queue,
                         struct maar_explained_queue *out)
{
    const struct maar_job **jobs = maar_explain_waiting_jobs(session, queue, &out->n_waiting);
    out->jobs = maar_arena_calloc(session->arena, MAX_JOBS_TOLD, sizeof *out->jobs);
    for (size_t i = 0; i < out->n_waiting && out->n_jobs < MAX_JOBS_TOLD; i++) {
        struct maar_explaining explaining = {.session = session, .job = jobs[i]};
        maar_explain_group(&explaining);
        out->jobs[out->n_jobs++] = (struct maar_explained_job){
            explaining.group->name, explaining.group->gate, explaining.group->text};
    }
}

static void explain_queue(struct maar_session *session, const struct maar_queue_entry *entry,
                          struct maar_explanation *explanation)
{
    static const char *const states[] = {"Open", "Open", "Closed", "Closing", "Unknown"};
    struct maar_arena *arena = session->arena;
    const struct maar_queue *queue = &entry->view;
    struct maar_explained_queue *out = maar_arena_alloc(arena, sizeof *out);
    explanation->queue = out;
    out->name = maar_arena_strdup(arena, queue->name);
    out->exists = entry->exists;
    out->state = states[queue->state <= MAAR_QUEUE_UNKNOWN ? queue->state : MAAR_QUEUE_UNKNOWN];
    out->fault = entry->fault ? maar_arena_strdup(arena, entry->fault) : NULL;
    out->weight = queue->weight;
    out->priority = queue->priority;
    out->parent = queue->parent ? maar_arena_strdup(arena, queue->parent->name) : NULL;
    out->queues_ahead = maar_explain_queues_ahead(session, queue);
    explain_jobs(session, queue, out);
}

/* ---- the whole ---- */

int maar_engine_explain(struct maar_engine *engine, const char *object,
                        struct maar_explanation **ret_explanation)
{
    struct target target = {0};
    if (!maar_engine_is_synced(engine))
        return -EBUSY;
    if (!find_target(maar_engine_world(engine), object, &target))
        return -ENOENT;
    struct maar_session session = {.looks = true};
    maar_engine_look(engine, &session);
    struct maar_explanation *explanation = maar_calloc(1, sizeof *explanation);
    snprintf(explanation->object, sizeof explanation->object, "%s", object);
    struct maar_explaining explaining = {.session = &session};
    explaining.probe = target.task ? &target.task->view : NULL;
    explaining.job = target.job ? &target.job->view : NULL;
    if (explaining.job)
        explanation->group = explain_group(&explaining);
    if (target.task)
        explain_pod(&session, target.task, &explaining, explanation);
    if (target.queue)
        explain_queue(&session, target.queue, explanation);
    maar_session_leave(&session);
    if (explaining.job) {
        if (explaining.job->queue)
            maar_explain_group_levels(&explaining);
        maar_explain_other_cures(&explaining);
    }
    if (target.queue)
        maar_explain_queue_levels(&session, &target.queue->view, explanation->queue);
    explanation->arena = session.arena;
    session.arena = NULL;
    maar_session_fini(&session);
    *ret_explanation = explanation;
    return 0;
}

void maar_explanation_destroy(struct maar_explanation *explanation)
{
    if (!explanation)
        return;
    maar_arena_destroy(explanation->arena);
    free(explanation);
}

static int compare_created(const void *l, const void *r)
{
    const struct maar_job *a = *(const struct maar_job *const *)l;
    const struct maar_job *b = *(const struct maar_job *const *)r;
    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns ? -1 : 1;
    return strcmp(a->uid, b->uid);
}

void maar_engine_waiting(const struct maar_engine *engine, maar_waiting_fn each, void *context)
{
    const struct maar_world *world = maar_engine_world(engine);
    MAAR_VEC(const struct maar_job *) jobs = {0};
    for (size_t i = 0; i < world->job_slots.n; i++) {
        const struct maar_job_entry *job = world->job_slots.data[i];
        if (job && maar_explain_waits(&job->view))
            maar_vec_push(&jobs, &job->view);
    }
    if (jobs.n > 0)
        qsort((void *)jobs.data, jobs.n, sizeof *jobs.data, compare_created);
    for (size_t i = 0; i < jobs.n; i++)
        each(context, jobs.data[i]->uid);
    maar_vec_fini(&jobs);
}
