/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_CONTROLLER_VCJOB_H
#define MAAR_SIM_CONTROLLER_VCJOB_H

/* The parts of the controller of Volcano's Job: its pods and phases (controller_vcjob.c), its PodGroup, policies and
 * status (controller_vcjob_group.c). */

#include "sim/controller_parts.h"

struct maar_vcjob_task {
    const json_t *document;
    const char *name;
    int64_t replicas;
    int64_t min;
    int64_t n_missing;
    int64_t n_pending;
    int64_t n_running;
    int64_t n_succeeded;
    int64_t n_failed;
    int64_t n_going;
};

/* A Job as it is; the numbers are sums over its tasks. */
struct maar_vcjob {
    struct maar_controllers *controllers;
    struct maar_known *known;
    struct maar_object *object;
    struct maar_vcjob_task *tasks;
    size_t n_tasks;
    char phase[40];
    int64_t version;
    int64_t n_retries;
    int64_t min;
    int64_t sum_of_minima;
    int64_t replicas;
    int64_t n_missing;
    int64_t n_pending;
    int64_t n_running;
    int64_t n_succeeded;
    int64_t n_failed;
    int64_t n_going;
};

/* What a policy asks for. */
struct maar_vcjob_action {
    const char *name;
    const char *task; /* "": of none */
};

const char *maar_vcjob_task_name(const json_t *task);
/* minAvailable, or what stands for it. */
int64_t maar_vcjob_task_min(const json_t *task);

void maar_vcjob_group_name(const struct maar_vcjob *job, char buffer[600]);
/* Makes the PodGroup or brings its spec in line. True when it was let in, so pods may be made. */
bool maar_vcjob_sync_group(const struct maar_vcjob *job);
void maar_vcjob_drop_group(const struct maar_vcjob *job);
/* The action of the first policy that meets what happened to the pods. */
bool maar_vcjob_find_action(const struct maar_vcjob *job, struct maar_vcjob_action *ret_action);
void maar_vcjob_write_status(const struct maar_vcjob *job);

#endif
