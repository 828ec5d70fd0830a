/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Sessions, pods and writes as metrics; jobs and queues have their own files. */

#include "serve/scheduler_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/metrics_parts.h"

/* Queues are looked at at most so often: there can be thousands. */
#define LOOK_NS MAAR_SECOND_NS

static double milliseconds(int64_t ns)
{
    return ns > 0 ? (double)ns / (double)MAAR_MILLISECOND_NS : 0;
}

struct maar_series *maar_metric_event(struct maar_scheduler_metrics *metrics,
                                      enum maar_scheduler_metric metric, const char *first,
                                      const char *second)
{
    const char *values[] = {first, second};

    return maar_series_get(metrics->metrics[metric], values);
}

static void observe(struct maar_scheduler_metrics *metrics, enum maar_scheduler_metric metric,
                    const char *first, const char *second, int64_t ns)
{
    maar_series_observe(maar_metric_event(metrics, metric, first, second), milliseconds(ns));
}

/* ---- life ---- */

struct maar_scheduler_metrics *maar_scheduler_metrics_create(void)
{
    struct maar_scheduler_metrics *metrics = maar_calloc(1, sizeof *metrics);

    metrics->registry = maar_metrics_create();
    metrics->jobs = maar_map_create();
    metrics->queues = maar_map_create();
    metrics->binds = maar_map_create();
    for (size_t i = 0; i < MAAR_N_METRICS; i++) {
        const struct maar_metric_kind *kind = &maar_scheduler_metric_kinds[i];

        metrics->metrics[i] = maar_metrics_add(metrics->registry, kind);
        if (!kind->labels[0])
            metrics->single[i] = maar_series_get(metrics->metrics[i], NULL);
    }
    maar_series_set(maar_metric_event(metrics, MAAR_M_BUILD, MAAR_VERSION, NULL), 1);
    maar_series_set(metrics->single[MAAR_M_PROCESS_START],
                    (double)maar_clock_wall_ns() / (double)MAAR_SECOND_NS);
    metrics->stale = true;
    return metrics;
}

void maar_scheduler_metrics_destroy(struct maar_scheduler_metrics *metrics)
{
    size_t at = 0;
    void *sent_ns;

    if (!metrics)
        return;
    maar_job_metrics_fini(metrics);
    maar_queue_metrics_fini(metrics);
    while (maar_map_next(metrics->binds, &at, NULL, NULL, &sent_ns))
        free(sent_ns);
    maar_map_destroy(metrics->binds);
    maar_metrics_destroy(metrics->registry);
    free(metrics);
}

/* ---- sessions ---- */

static bool has_plugin(const struct maar_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_instances; i++)
        if (strcmp(policy->instances[i].plugin->name, name) == 0)
            return true;
    return false;
}

void maar_scheduler_metrics_session(void *context, const struct maar_session *session)
{
    struct maar_scheduler_metrics *metrics = context;
    const struct maar_policy *policy = session->policy;
    int64_t took_ns = maar_clock_mono_ns() - session->began_ns;

    maar_series_add(metrics->single[MAAR_M_SESSIONS], 1);
    maar_series_add(metrics->single[MAAR_M_BAD_ANSWERS], (double)session->n_bad_answers);
    maar_series_observe(metrics->single[MAAR_M_E2E], milliseconds(took_ns));
    maar_series_observe(metrics->single[MAAR_M_OPEN_SESSION], milliseconds(session->open_ns));
    for (size_t i = 0; i < policy->n_instances; i++) {
        const struct maar_instance *instance = &policy->instances[i];

        observe(metrics, MAAR_M_PLUGIN, instance->plugin->name, "OnSessionOpen", instance->open_ns);
        observe(metrics, MAAR_M_PLUGIN, instance->plugin->name, "OnSessionClose",
                instance->close_ns);
    }
    for (size_t i = 0; i < policy->n_steps; i++)
        observe(metrics, MAAR_M_ACTION, policy->steps[i].action->name, NULL,
                policy->steps[i].took_ns);
    metrics->has_capacity = has_plugin(policy, "capacity");
    metrics->has_drf = has_plugin(policy, "drf");
    maar_job_metrics_session(metrics, session, session->now_ns + took_ns);
    metrics->stale = true;
}

/* ---- pods and writes ---- */

static bool is_ours(const struct maar_world *world, const struct maar_pod_record *pod)
{
    char *const *name;

    MAAR_VEC_EACH (&world->scheduler_names, name)
        if (strcmp(*name, pod->spec.scheduler_name) == 0)
            return true;
    return false;
}

static void upserted(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                     const struct maar_record *record, int64_t now_ns)
{
    if (record->kind == MAAR_KIND_POD_GROUP)
        maar_job_metrics_observed(metrics, world, record);
    else if (record->kind == MAAR_KIND_POD && !*record->pod.node_name &&
             is_ours(world, &record->pod) && !maar_world_task(world, record->uid))
        observe(metrics, MAAR_M_TASK, "Watched", NULL, now_ns - record->created_ns);
}

static void bind_done(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                      const struct maar_write *write, bool ok, int64_t now_ns)
{
    const struct maar_task_entry *task = maar_world_task(world, write->uid);
    int64_t *sent_ns = maar_map_remove_int(metrics->binds, (uintptr_t)write);

    if (sent_ns)
        observe(metrics, MAAR_M_STAGE, "Bind", NULL, now_ns - *sent_ns);
    free(sent_ns);
    if (ok && task)
        observe(metrics, MAAR_M_TASK, "Bound", NULL, now_ns - task->view.created_ns);
    maar_series_add(maar_metric_event(metrics, MAAR_M_ATTEMPTS, ok ? "scheduled" : "error", NULL),
                    1);
}

static void done(struct maar_scheduler_metrics *metrics, const struct maar_world *world,
                 const struct maar_delta *delta, int64_t now_ns)
{
    bool ok = delta->code >= 200 && delta->code < 300;

    maar_series_add(maar_metric_event(metrics, MAAR_M_WRITES,
                                      maar_write_kind_name(delta->write->kind),
                                      ok ? "ok" : "failed"),
                    1);
    if (delta->write->kind == MAAR_WRITE_BIND)
        bind_done(metrics, world, delta->write, ok, now_ns);
}

void maar_scheduler_metrics_delta(struct maar_scheduler_metrics *metrics,
                                  const struct maar_world *world, const struct maar_delta *delta,
                                  int64_t now_ns)
{
    metrics->stale = true;
    switch (delta->type) {
    case MAAR_DELTA_UPSERT:
        upserted(metrics, world, delta->record, now_ns);
        break;
    case MAAR_DELTA_DELETE:
        if (delta->record->kind == MAAR_KIND_POD_GROUP)
            maar_job_metrics_gone(metrics, delta->record->ns, delta->record->name);
        else if (delta->record->kind == MAAR_KIND_QUEUE)
            maar_queue_metrics_gone(metrics, delta->record->name);
        break;
    case MAAR_DELTA_DONE:
        done(metrics, world, delta, now_ns);
        break;
    case MAAR_DELTA_SYNCED:
        break;
    }
}

void maar_scheduler_metrics_write(struct maar_scheduler_metrics *metrics,
                                  const struct maar_world *world, const struct maar_write *write,
                                  int64_t now_ns)
{
    const struct maar_task_entry *task;
    int64_t *sent_ns;

    if (write->kind != MAAR_WRITE_BIND)
        return;
    task = maar_world_task(world, write->uid);
    if (task)
        observe(metrics, MAAR_M_TASK, "Assumed", NULL, now_ns - task->view.created_ns);
    sent_ns = maar_malloc(sizeof *sent_ns);
    *sent_ns = now_ns;
    maar_map_set_int(metrics->binds, (uintptr_t)write, sent_ns);
}

/* ---- states ---- */

static void set_objects(struct maar_scheduler_metrics *metrics, const char *kind, size_t n)
{
    maar_series_set(maar_metric_event(metrics, MAAR_M_OBJECTS, kind, NULL), (double)n);
}

void maar_scheduler_metrics_look(struct maar_scheduler_metrics *metrics,
                                 const struct maar_world *world,
                                 const struct maar_scheduler_state *state)
{
    maar_series_set(metrics->single[MAAR_M_SYNCED], state->synced);
    maar_series_set(metrics->single[MAAR_M_LEADS], state->leads);
    maar_series_set(metrics->single[MAAR_M_CONF_VALID], state->conf_valid);
    maar_series_set(metrics->single[MAAR_M_IN_FLIGHT], (double)state->n_in_flight);
    if (!metrics->stale || (metrics->looked_ns && state->mono_ns - metrics->looked_ns < LOOK_NS))
        return;
    metrics->looked_ns = state->mono_ns;
    metrics->stale = false;
    set_objects(metrics, "Pod", maar_map_n(world->tasks_by_uid));
    set_objects(metrics, "Node", maar_map_n(world->nodes_by_name));
    set_objects(metrics, "PodGroup", maar_map_n(metrics->jobs));
    set_objects(metrics, "Queue", maar_map_n(world->queues_by_name));
    maar_queue_metrics_look(metrics, world);
}

/* ---- rendering ---- */

static void look_at_process(struct maar_scheduler_metrics *metrics)
{
    struct rusage usage;
    uint64_t n_pages = 0, n_resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &n_pages, &n_resident) == 2)
        maar_series_set(metrics->single[MAAR_M_PROCESS_MEMORY],
                        (double)n_resident * (double)sysconf(_SC_PAGESIZE));
    if (file)
        fclose(file);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        maar_series_set(metrics->single[MAAR_M_PROCESS_CPU],
                        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

void maar_scheduler_metrics_render(void *context, struct maar_text *out)
{
    struct maar_scheduler_metrics *metrics = context;

    look_at_process(metrics);
    maar_metrics_render(metrics->registry, out);
}

size_t maar_scheduler_metrics_n_series(struct maar_scheduler_metrics *metrics)
{
    return maar_metrics_n_series(metrics->registry);
}
