/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_METRICS_PARTS_H
#define MAAR_SERVE_METRICS_PARTS_H

/* What the files of the scheduler's metrics share. */

#include "base/map.h"
#include "model/world.h"
#include "model/write.h"
#include "serve/metrics.h"
#include "serve/scheduler_metrics.h"
#include "session/session.h"

/* Amounts of a queue, each as cpu, memory and scalars. */
enum maar_queue_set {
    MAAR_QUEUE_ALLOCATED,
    MAAR_QUEUE_REQUEST,
    MAAR_QUEUE_DESERVED,
    MAAR_QUEUE_CAPACITY,
    MAAR_QUEUE_REAL_CAPACITY,
    MAAR_QUEUE_INQUEUE,
    MAAR_N_QUEUE_SETS,
};

enum maar_scheduler_metric {
    MAAR_M_E2E,
    MAAR_M_OPEN_SESSION,
    MAAR_M_JOB_LATENCY,
    MAAR_M_JOB_DURATION,
    MAAR_M_JOB_START,
    MAAR_M_JOB_LAST,
    MAAR_M_PLUGIN,
    MAAR_M_ACTION,
    MAAR_M_TASK,
    MAAR_M_STAGE,
    MAAR_M_ATTEMPTS,
    MAAR_M_UNSCHEDULED_TASKS,
    MAAR_M_UNSCHEDULED_JOBS,
    MAAR_M_RETRIES,
    MAAR_M_JOB_SHARE,
    MAAR_M_QUEUE_AMOUNTS, /* + 3 * enum maar_queue_set; cpu, memory, scalars */
    MAAR_M_QUEUE_SHARE = MAAR_M_QUEUE_AMOUNTS + 3 * MAAR_N_QUEUE_SETS,
    MAAR_M_QUEUE_WEIGHT,
    MAAR_M_QUEUE_OVERUSED,
    MAAR_M_POD_GROUPS,
    MAAR_M_OBJECTS,
    MAAR_M_SESSIONS,
    MAAR_M_BAD_ANSWERS,
    MAAR_M_WRITES,
    MAAR_M_IN_FLIGHT,
    MAAR_M_SYNCED,
    MAAR_M_LEADS,
    MAAR_M_CONF_VALID,
    MAAR_M_BUILD,
    MAAR_M_PROCESS_CPU,
    MAAR_M_PROCESS_MEMORY,
    MAAR_M_PROCESS_START,
    MAAR_N_METRICS,
};

/* One row a metric, in their order. */
extern const struct maar_metric_kind maar_scheduler_metric_kinds[MAAR_N_METRICS];

struct maar_scheduler_metrics {
    struct maar_metrics *registry;
    struct maar_metric *metrics[MAAR_N_METRICS];
    struct maar_series *single[MAAR_N_METRICS]; /* of metrics without labels */
    struct maar_map *jobs;                      /* "ns/name" -> what job_metrics.c keeps */
    struct maar_map *queues;                    /* name -> what queue_metrics.c keeps */
    struct maar_map *binds;                     /* write -> when it was sent */
    double n_unready;                           /* jobs */
    bool has_capacity;                          /* plugin capacity divides, not proportion */
    bool has_drf;
    int64_t looked_ns; /* at the queues, monotonic */
    bool stale;        /* something happened since */
};

/* Series of events have few labels and stay. */
struct maar_series *maar_metric_event(struct maar_scheduler_metrics *metrics,
                                      enum maar_scheduler_metric metric, const char *first,
                                      const char *second);

/* ---- job_metrics.c ---- */
void maar_job_metrics_observed(struct maar_scheduler_metrics *metrics,
                               const struct maar_world *world, const struct maar_record *record);
void maar_job_metrics_gone(struct maar_scheduler_metrics *metrics, const char *ns,
                           const char *name);
/* What the session reports on, and what it binds. */
void maar_job_metrics_session(struct maar_scheduler_metrics *metrics,
                              const struct maar_session *session, int64_t now_ns);
void maar_job_metrics_fini(struct maar_scheduler_metrics *metrics);

/* ---- queue_metrics.c ---- */
void maar_queue_metrics_look(struct maar_scheduler_metrics *metrics,
                             const struct maar_world *world);
void maar_queue_metrics_gone(struct maar_scheduler_metrics *metrics, const char *name);
void maar_queue_metrics_fini(struct maar_scheduler_metrics *metrics);

#endif
