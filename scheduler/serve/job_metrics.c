/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Metrics of PodGroups. What is kept of one, and its series, go with it. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/metrics_parts.h"

struct job_series {
    char *queue; /* label of the first three */
    struct maar_series *start;
    struct maar_series *duration;
    struct maar_series *last;
    struct maar_series *unscheduled;
    struct maar_series *retries;
    struct maar_series *share;
    struct maar_series *phase; /* counts the PodGroups of a queue in a phase */
    uint8_t in_phase;
    bool unready;
};

static struct job_series *get(struct maar_scheduler_metrics *metrics, const char *uid)
{
    struct job_series *job = maar_map_find(metrics->jobs, uid);

    if (!job) {
        job = maar_calloc(1, sizeof *job);
        maar_map_set(metrics->jobs, uid, job);
    }
    return job;
}

static void drop(struct maar_series **series)
{
    maar_series_drop(*series);
    *series = NULL;
}

static void leave_phase(struct job_series *job)
{
    if (job->phase)
        maar_series_add(job->phase, -1);
    drop(&job->phase);
}

/* Series with the queue among their labels begin anew in another queue. */
static void set_queue(struct job_series *job, const char *queue)
{
    if (job->queue && strcmp(job->queue, queue) == 0)
        return;
    free(job->queue);
    job->queue = maar_strdup(queue);
    drop(&job->start);
    drop(&job->duration);
    drop(&job->last);
    leave_phase(job);
}

static void set_of_queue(struct maar_scheduler_metrics *metrics, struct maar_series **series,
                         enum maar_scheduler_metric metric, const char *ns, const char *name,
                         const char *queue, double value)
{
    const char *values[] = {name, queue, ns};

    if (!*series)
        *series = maar_series_take(metrics->metrics[metric], values);
    maar_series_set(*series, value);
}

/* Whole ones. */
static double seconds(int64_t ns)
{
    int64_t whole = ns / MAAR_SECOND_NS;

    return (double)whole;
}

static double milliseconds(int64_t ns)
{
    return (double)ns / (double)MAAR_MILLISECOND_NS;
}

void maar_job_metrics_observed(struct maar_scheduler_metrics *metrics,
                               const struct maar_world *world, const struct maar_record *record)
{
    maar_autofree char *uid = maar_asprintf("%s/%s", record->ns, record->name);
    struct job_series *job = get(metrics, uid);

    set_queue(job, *record->pod_group.queue ? record->pod_group.queue : world->default_queue);
    set_of_queue(metrics, &job->start, MAAR_M_JOB_START, record->ns, record->name, job->queue,
                 seconds(record->created_ns));
}

/* ---- sessions ---- */

static uint32_t n_schedulable(const struct maar_session *session, const struct maar_job *job)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task_entry *task = maar_task_entry(job->tasks[i]);

        n += task->view.status == MAAR_TASK_PENDING && task->tried_status == MAAR_TASK_ALLOCATED &&
             task->tried_session == session->world->session_number;
    }
    return n;
}

static void set_unscheduled(struct maar_scheduler_metrics *metrics, struct job_series *series,
                            const struct maar_job *job, double n)
{
    if (!series->unscheduled)
        series->unscheduled =
            maar_series_take(metrics->metrics[MAAR_M_UNSCHEDULED_TASKS], &job->name);
    maar_series_set(series->unscheduled, n);
}

/* As the plugin gang judges: without it nobody says whether a job is whole. */
static void set_readiness(struct maar_scheduler_metrics *metrics,
                          const struct maar_session *session, struct job_series *series,
                          const struct maar_job *job)
{
    const struct maar_job_entry *entry = maar_job_entry(job);
    const char *type =
        entry->tried_session == session->world->session_number ? entry->condition_type : NULL;
    bool unready = type && strcmp(type, "Unschedulable") == 0;

    if (unready) {
        if (!series->retries)
            series->retries = maar_series_take(metrics->metrics[MAAR_M_RETRIES], &job->name);
        maar_series_add(series->retries, 1);
        set_unscheduled(metrics, series, job,
                        (double)job->min_available - (double)maar_job_n_ready(job) -
                            (double)n_schedulable(session, job));
        maar_series_add(maar_metric_event(metrics, MAAR_M_ATTEMPTS, "unschedulable", NULL),
                        job->n[MAAR_TASK_PENDING]);
    } else if (type) {
        set_unscheduled(metrics, series, job, 0);
    }
    metrics->n_unready += (double)unready - (double)series->unready;
    series->unready = unready;
}

/* drf's: the greatest part of the cluster that it holds of something. */
static void set_share(struct maar_scheduler_metrics *metrics, const struct maar_session *session,
                      struct job_series *series, const struct maar_job *job)
{
    const struct maar_world *world = session->world;
    const char *values[] = {job->ns, job->name};
    double greatest = 0;

    if (!metrics->has_drf)
        return;
    for (uint32_t d = 0; d < world->dims.n; d++) {
        double total = (double)world->total_allocatable[d];
        double share = total > 0 ? (double)job->allocated[d] / total : 0;

        greatest = share > greatest ? share : greatest;
    }
    if (!series->share)
        series->share = maar_series_take(metrics->metrics[MAAR_M_JOB_SHARE], values);
    maar_series_set(series->share, greatest);
}

static void set_phase(struct maar_scheduler_metrics *metrics, struct job_series *series,
                      const struct maar_job *job)
{
    static const char *const names[] = {
        [MAAR_PHASE_NONE] = "Pending",    [MAAR_PHASE_PENDING] = "Pending",
        [MAAR_PHASE_INQUEUE] = "Inqueue", [MAAR_PHASE_RUNNING] = "Running",
        [MAAR_PHASE_UNKNOWN] = "Unknown", [MAAR_PHASE_COMPLETED] = "Completed",
    };
    const char *values[] = {job->queue_name, names[job->phase]};

    if (series->phase && series->in_phase == job->phase)
        return;
    leave_phase(series);
    series->in_phase = job->phase;
    series->phase = maar_series_take(metrics->metrics[MAAR_M_POD_GROUPS], values);
    maar_series_add(series->phase, 1);
}

static void observe_bind(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                         const struct maar_write *write, int64_t now_ns)
{
    const struct maar_task_entry *task = maar_world_task(world, write->uid);
    const struct maar_job *job = task ? task->view.job : NULL;
    struct job_series *series = job ? maar_map_find(metrics->jobs, job->uid) : NULL;
    double took;

    if (!series || !series->queue)
        return;
    took = milliseconds(now_ns - job->created_ns);
    maar_series_observe(metrics->single[MAAR_M_JOB_LATENCY], took);
    set_of_queue(metrics, &series->duration, MAAR_M_JOB_DURATION, job->ns, job->name, series->queue,
                 took);
    set_of_queue(metrics, &series->last, MAAR_M_JOB_LAST, job->ns, job->name, series->queue,
                 seconds(now_ns));
}

void maar_job_metrics_session(struct maar_scheduler_metrics *metrics,
                              const struct maar_session *session, int64_t now_ns)
{
    for (size_t i = 0; i < session->news.n; i++) {
        const struct maar_job *job = session->news.data[i];
        struct job_series *series = get(metrics, job->uid);

        set_queue(series, job->queue_name);
        set_readiness(metrics, session, series, job);
        set_share(metrics, session, series, job);
        set_phase(metrics, series, job);
    }
    maar_series_set(metrics->single[MAAR_M_UNSCHEDULED_JOBS], metrics->n_unready);
    for (size_t i = 0; i < session->writes.n; i++)
        if (session->writes.data[i]->kind == MAAR_WRITE_BIND)
            observe_bind(metrics, session->world, session->writes.data[i], now_ns);
}

/* ---- ends ---- */

static void destroy(struct maar_scheduler_metrics *metrics, struct job_series *job)
{
    metrics->n_unready -= job->unready;
    leave_phase(job);
    drop(&job->start);
    drop(&job->duration);
    drop(&job->last);
    drop(&job->unscheduled);
    drop(&job->retries);
    drop(&job->share);
    free(job->queue);
    free(job);
}

void maar_job_metrics_gone(struct maar_scheduler_metrics *metrics, const char *ns, const char *name)
{
    maar_autofree char *uid = maar_asprintf("%s/%s", ns, name);
    struct job_series *job = maar_map_remove(metrics->jobs, uid);

    if (job)
        destroy(metrics, job);
}

void maar_job_metrics_fini(struct maar_scheduler_metrics *metrics)
{
    size_t at = 0;
    void *job;

    while (maar_map_next(metrics->jobs, &at, NULL, NULL, &job))
        destroy(metrics, job);
    maar_map_destroy(metrics->jobs);
}
