// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Job of batch/v1: so many pods at a time until so many have succeeded, each index once with completionMode Indexed.
// Pods that fail come again up to backoffLimit. Finished pods stay. Deadlines and policies for failures are not played.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "sim/controller_parts.h"

#define INDEX_KEY "batch.kubernetes.io/job-completion-index"

struct job {
    struct maar_controllers *controllers;
    struct maar_known *known;
    struct maar_object *object;
    struct maar_object_list active;
    int64_t n_pods;
    int64_t n_succeeded;
    int64_t n_failed;
    int64_t n_ready;
    int64_t parallelism;
    int64_t completions; /* -1: done when one has succeeded and the others have ended */
    bool indexed;
    char *state; /* [completions] of an indexed Job: 0 open, 1 taken, 2 done */
};

static bool is_finished(const json_t *job)
{
    static const char *const types[] = {"Complete", "Failed", NULL};
    for (size_t i = 0; types[i]; i++)
        if (strcmp(maar_document_text(maar_document_condition(job, types[i]), "status"), "True") ==
            0)
            return true;
    return false;
}

static void read_spec(struct job *job)
{
    const json_t *document = job->object->document;
    const json_t *completions = maar_document_at(document, "spec.completions");
    const json_t *parallelism = maar_document_at(document, "spec.parallelism");
    job->parallelism = maar_document_int(document, "spec.parallelism", 1);
    job->completions = json_is_integer(completions)   ? (int64_t)json_integer_value(completions)
                       : json_is_integer(parallelism) ? -1
                                                      : 1;
    job->indexed = strcmp(maar_document_text(document, "spec.completionMode"), "Indexed") == 0 &&
                   job->completions >= 0;
    if (maar_document_bool(document, "spec.suspend", false))
        job->parallelism = 0;
}

static int64_t index_of(const json_t *pod)
{
    const char *text = maar_document_annotation(pod, INDEX_KEY);
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10
               ? strtol(text, NULL, 10)
               : -1;
}

static void count_pod(struct job *job, struct maar_object *pod)
{
    int64_t index = index_of(pod->document);
    bool known_index = job->indexed && index >= 0 && index < job->completions;
    job->n_pods++;
    if (maar_pod_has_phase(pod->document, "Succeeded")) {
        job->n_succeeded += !known_index || job->state[index] != 2;
        if (known_index)
            job->state[index] = 2;
    } else if (maar_pod_is_over(pod->document)) {
        job->n_failed++;
    } else if (!maar_pod_is_going(pod->document)) {
        maar_vec_push(&job->active, pod);
        job->n_ready += maar_pod_is_ready(pod->document);
        if (known_index && job->state[index] == 0)
            job->state[index] = 1;
    }
}

static void count_pods(struct job *job)
{
    struct maar_object_list pods = {0};
    maar_controller_list(job->known, job->controllers->pods, &pods);
    for (size_t i = 0; i < pods.n; i++)
        count_pod(job, pods.data[i]);
    maar_vec_fini(&pods);
    /* A dump may lack pods that have ended. */
    int64_t before = maar_document_int(job->object->document, "status.succeeded", 0);
    if (!job->indexed && before > job->n_succeeded)
        job->n_succeeded = before;
}

static void add_pod(struct job *job, int64_t index)
{
    char name[320], prefix[300], text[24];
    const json_t *document = job->object->document;
    snprintf(text, sizeof text, "%lld", (long long)index);
    if (index < 0)
        snprintf(prefix, sizeof prefix, "%.250s", job->object->name);
    else
        snprintf(prefix, sizeof prefix, "%.220s-%s", job->object->name, text);
    maar_controller_next_name(job->controllers, job->known, prefix, name);
    json_t *pod =
        maar_controller_pod(job->object, maar_document_at(document, "spec.template"), name);
    maar_controller_label(pod, "batch.kubernetes.io/controller-uid", job->known->uid);
    maar_controller_label(pod, "batch.kubernetes.io/job-name", job->object->name);
    maar_controller_label(pod, "controller-uid", job->known->uid);
    maar_controller_label(pod, "job-name", job->object->name);
    if (index >= 0) {
        maar_controller_label(pod, INDEX_KEY, text);
        maar_controller_annotate(pod, INDEX_KEY, text);
        maar_document_set(pod, "spec.hostname", json_string(prefix));
    }
    maar_controller_create(job->controllers, job->controllers->pods, job->object, pod);
}

static void remove_active(struct job *job, size_t keep)
{
    while (job->active.n > keep)
        maar_controller_delete(job->controllers, job->controllers->pods,
                               job->active.data[--job->active.n]);
}

static void run(struct job *job)
{
    int64_t left = job->parallelism;
    if (job->completions >= 0 && job->completions - job->n_succeeded < left)
        left = job->completions - job->n_succeeded;
    if (job->completions < 0 && job->n_succeeded > 0)
        left = left < (int64_t)job->active.n ? left : (int64_t)job->active.n;
    remove_active(job, (size_t)(left > 0 ? left : 0));
    int64_t index = 0;
    for (int64_t n = (int64_t)job->active.n; n < left; n++) {
        while (job->indexed && index < job->completions && job->state[index])
            index++;
        if (job->indexed && index == job->completions)
            return;
        add_pod(job, job->indexed ? index++ : -1);
    }
}

/* "0-2,4" */
static char *completed_indexes(const struct job *job)
{
    struct maar_text text = MAAR_TEXT_INIT;
    for (int64_t i = 0; i < job->completions; i++) {
        int64_t first = i;
        if (job->state[i] != 2)
            continue;
        while (i + 1 < job->completions && job->state[i + 1] == 2)
            i++;
        maar_text_addf(&text, "%s%lld", text.n ? "," : "", (long long)first);
        if (i > first)
            maar_text_addf(&text, i > first + 1 ? "-%lld" : ",%lld", (long long)i);
    }
    return maar_text_steal(&text);
}

/* "Complete", "Failed" or NULL. */
static const char *outcome(const struct job *job)
{
    if (job->completions >= 0 ? job->n_succeeded >= job->completions
                              : job->n_succeeded > 0 && job->active.n == 0)
        return "Complete";
    int64_t limit = maar_document_int(job->object->document, "spec.backoffLimit", 6);
    return job->n_failed > limit ? "Failed" : NULL;
}

static void write_status(const struct job *job, const char *ended)
{
    char time[32];
    const json_t *document = job->object->document;
    const char *started = maar_document_text(document, "status.startTime");
    maar_time_format(maar_store_now(job->controllers->store), time);
    json_t *status = json_pack("{s:s, s:I, s:I, s:I, s:I}", "startTime", *started ? started : time,
                               "active", (json_int_t)(ended ? 0 : job->active.n), "ready",
                               (json_int_t)(ended ? 0 : job->n_ready), "succeeded",
                               (json_int_t)job->n_succeeded, "failed", (json_int_t)job->n_failed);
    if (job->indexed) {
        maar_autofree char *indexes = completed_indexes(job);
        if (*indexes)
            json_object_set_new(status, "completedIndexes", json_string(indexes));
    }
    if (ended)
        json_object_set_new(
            status, "conditions",
            json_pack("[o]", maar_controller_condition(job->controllers, document, ended, true,
                                                       *ended == 'C' ? "CompletionsReached"
                                                                     : "BackoffLimitExceeded",
                                                       "")));
    if (ended && *ended == 'C')
        json_object_set_new(status, "completionTime", json_string(time));
    maar_controller_set_status(job->controllers, job->known, job->object, status);
}

void maar_reconcile_job(struct maar_controllers *controllers, struct maar_known *known,
                        struct maar_object *object)
{
    struct job job = {.controllers = controllers, .known = known, .object = object};
    if (is_finished(object->document))
        return;
    read_spec(&job);
    job.state = maar_calloc((size_t)(job.indexed ? job.completions : 0) + 1, 1);
    count_pods(&job);
    const char *ended = outcome(&job);
    write_status(&job, ended);
    if (ended)
        remove_active(&job, 0);
    else
        run(&job);
    free(job.state);
    maar_vec_fini(&job.active);
}
