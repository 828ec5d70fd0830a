// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// What of a scenario's manifests has no effect: workloads without a controller here, pods without a scheduler, and kinds
// that nothing knows, which are often a wrong version or a typing error. Kubernetes' own other kinds pass in silence: a dump
// of a cluster is full of them.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sim/document.h"
#include "sim/scenario.h"
#include "sim/workload_check.h"

static bool is_uncontrolled(const char *api_version, const char *kind)
{
    static const char *const kinds[][2] = {
        {"batch/v1", "CronJob"},
        {"v1", "ReplicationController"},
        {"batch.volcano.sh/v1alpha1", "CronJob"},
        {"flow.volcano.sh/v1alpha1", "JobFlow"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i][0], api_version) == 0 && strcmp(kinds[i][1], kind) == 0)
            return true;
    return false;
}

/* "apps/v1" → "apps", "v1" → "". */
static size_t n_group(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    return slash ? (size_t)(slash - api_version) : 0;
}

static bool is_same_group(const char *a, const char *b)
{
    return n_group(a) == n_group(b) && strncmp(a, b, n_group(a)) == 0;
}

static bool is_of_kubernetes(const char *api_version)
{
    static const char *const groups[] = {"apps", "batch", "policy", "autoscaling", "extensions"};
    size_t n = n_group(api_version);
    if (n == 0 || (n > 7 && strncmp(api_version + n - 7, ".k8s.io", 7) == 0))
        return true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strlen(groups[i]) == n && strncmp(groups[i], api_version, n) == 0)
            return true;
    return false;
}

/* What was likely meant: the known version of the kind in its group, the kind in another group, or a kind of a like
 * name in the group. False: no idea. */
static bool guess(const char *api_version, const char *kind, char *text, size_t size)
{
    const struct maar_api_type *elsewhere = NULL;
    const char *names[128];
    size_t n_names = 0;
    for (size_t i = 0; i < maar_api_n_types(); i++) {
        const struct maar_api_type *type = maar_api_type(i);
        bool same = is_same_group(type->api_version, api_version);
        if (strcmp(type->kind, kind) == 0 && same) {
            const char *slash = strchr(type->api_version, '/');
            snprintf(text, size, "%s", slash ? slash + 1 : type->api_version);
            return true;
        }
        if (strcmp(type->kind, kind) == 0 && !elsewhere)
            elsewhere = type;
        if (same && n_names + 1 < sizeof names / sizeof *names)
            names[n_names++] = type->kind;
    }
    names[n_names] = NULL;
    const char *nearest = elsewhere ? elsewhere->api_version : maar_text_nearest(kind, names);
    if (nearest)
        snprintf(text, size, "%s", nearest);
    return nearest != NULL;
}

bool maar_scenario_unknown_kind(const char *api_version, const char *kind, char *text, size_t size)
{
    char meant[256] = "";
    if (maar_api_type_find(api_version, kind))
        return false;
    bool guessed = guess(api_version, kind, meant, sizeof meant);
    if (!guessed && is_of_kubernetes(api_version))
        return false;
    snprintf(text, size, "%s of %s is not known and has no effect%s%s%s", kind, api_version,
             guessed ? "; did you mean " : "", meant, guessed ? "?" : "");
    return true;
}

struct scheduled {
    bool somewhere; /* a spec names a scheduler */
};

static int look_for_scheduler(void *context, const json_t *spec, struct maar_error *err)
{
    struct scheduled *scheduled = context;
    (void)err;
    scheduled->somewhere |= *maar_document_text(spec, "schedulerName") != 0;
    return 0;
}

/* Pods that are left to the cluster's own scheduler, which is not here. What has a status is of a dump, where pods run
 * already; Volcano's Job has its scheduler by default. */
static bool is_left_alone(const struct maar_api_type *type, const json_t *document)
{
    struct scheduled scheduled = {false};
    bool pod = strcmp(type->kind, "Pod") == 0;
    if (json_object_get(document, "status") || type->custom ||
        (!pod && !maar_workload_has_pods(type)))
        return false;
    if (pod)
        return !*maar_document_text(document, "spec.schedulerName") &&
               !*maar_document_text(document, "spec.nodeName");
    return maar_workload_each_spec(type, document, look_for_scheduler, &scheduled, NULL) == 0 &&
           !scheduled.somewhere;
}

static bool describe(const json_t *document, struct maar_scenario_warning *warning)
{
    const char *api_version = warning->api_version, *kind = warning->kind;
    const struct maar_api_type *type = maar_api_type_find(api_version, kind);
    size_t size = sizeof warning->text;
    if (is_uncontrolled(api_version, kind))
        snprintf(warning->text, size, "%s of %s is stored and makes no pods", kind, api_version);
    else if (type && is_left_alone(type, document))
        snprintf(warning->text, size,
                 "%s %.253s: without schedulerName: volcano in the pod's spec nothing schedules it",
                 kind, maar_document_name(document));
    else
        return maar_scenario_unknown_kind(api_version, kind, warning->text, size);
    return true;
}

void maar_scenario_check_kind(struct maar_scenario *scenario, const struct maar_field *field,
                              const json_t *document)
{
    struct maar_scenario_warning warning = {.field = *field, .n = 1};
    snprintf(warning.api_version, sizeof warning.api_version, "%s",
             maar_document_text(document, "apiVersion"));
    snprintf(warning.kind, sizeof warning.kind, "%s", maar_document_text(document, "kind"));
    if (!describe(document, &warning))
        return;
    struct maar_scenario_warning *known;
    MAAR_VEC_EACH (&scenario->warnings, known) {
        if (strcmp(known->api_version, warning.api_version) == 0 &&
            strcmp(known->kind, warning.kind) == 0) {
            known->n++;
            return;
        }
    }
    maar_vec_push(&scenario->warnings, warning);
}
