/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Labels and annotations that schedulers and controllers read. A key of one of their prefixes, or one that is nearly a
 * known key, is probably meant to be one: nobody else would tell that it is misspelt. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "check/parts.h"
#include "conf/scalar.h"

enum value {
    VALUE_ANY,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_DURATION,
};

static const struct {
    const char *key;
    enum value value;
    bool as_annotation; /* has no effect as a label */
} known_keys[] = {
    {"scheduling.k8s.io/group-name", VALUE_ANY, true},
    {"scheduling.volcano.sh/group-name", VALUE_ANY, true},
    {"scheduling.volcano.sh/group-min-member", VALUE_INT, true},
    {"scheduling.volcano.sh/group-min-resources", VALUE_ANY, true},
    {"scheduling.volcano.sh/queue-name", VALUE_ANY, true},
    {"scheduling.volcano.sh/queue-allocation-gate", VALUE_BOOL, true},
    {"maar.dev/dequeue-strategy", VALUE_ANY, true},
    {"sim.maar.dev/duration", VALUE_DURATION, true},
    {"volcano.sh/task-spec", VALUE_ANY, false},
    {"volcano.sh/task-priority", VALUE_INT, true},
    {"volcano.sh/task-index", VALUE_INT, false},
    {"volcano.sh/preemptable", VALUE_BOOL, false},
    {"volcano.sh/revocable-zone", VALUE_ANY, false},
    {"volcano.sh/sla-waiting-time", VALUE_DURATION, true},
    {"volcano.sh/jdb-min-available", VALUE_ANY, true},
    {"volcano.sh/jdb-max-unavailable", VALUE_ANY, true},
    {"volcano.sh/cooldown-time", VALUE_DURATION, false},
    {"volcano.sh/numa-topology-policy", VALUE_ANY, true},
    {"volcano.sh/topology-decision", VALUE_ANY, false},
    {"volcano.sh/qos-level", VALUE_ANY, false},
    {"volcano.sh/job-name", VALUE_ANY, false},
    {"volcano.sh/job-version", VALUE_ANY, false},
    {"volcano.sh/job-namespace", VALUE_ANY, false},
    {"volcano.sh/job-type", VALUE_ANY, false},
    {"volcano.sh/job-retry-count", VALUE_ANY, false},
    {"volcano.sh/job-spec", VALUE_ANY, false},
    {"volcano.sh/template-uid", VALUE_ANY, false},
    {"volcano.sh/queue-name", VALUE_ANY, false},
    {"volcano.sh/partition-id", VALUE_ANY, false},
    {"volcano.sh/job-forwarding", VALUE_ANY, false},
    {"volcano.sh/forward-cluster", VALUE_ANY, false},
    {"volcano.sh/burst-name", VALUE_ANY, false},
    {"volcano.sh/silo-resource", VALUE_ANY, false},
    {"volcano.sh/hierarchy", VALUE_ANY, true},
    {"volcano.sh/hierarchy-weights", VALUE_ANY, true},
    {"volcano.sh/closed-by-parent", VALUE_ANY, true},
    {"volcano.sh/overcommit-factor", VALUE_ANY, true},
    {"volcano.sh/namespace.weight", VALUE_ANY, false},
    {"volcano.sh/nodegroup-name", VALUE_ANY, false},
    {"volcano.sh/nodegroup-resource-limits", VALUE_ANY, true},
    {"volcano.sh/oversubscription", VALUE_ANY, false},
    {"volcano.sh/oversubscription-cpu", VALUE_ANY, false},
    {"volcano.sh/oversubscription-memory", VALUE_ANY, false},
    {"volcano.sh/offline-job-evicting", VALUE_ANY, false},
    {"volcano.sh/job-allocated-hypernode", VALUE_ANY, false},
    {"volcano.sh/network-topology-mode", VALUE_ANY, false},
    {"volcano.sh/network-topology-highest-tier", VALUE_INT, false},
    {"volcano.sh/network-topology-source", VALUE_ANY, false},
    {"volcano.sh/gpu-memory", VALUE_ANY, false},
    {"volcano.sh/gpu-number", VALUE_ANY, false},
    {"volcano.sh/gpu-index", VALUE_ANY, false},
    {"volcano.sh/gpu-unhealthy-ids", VALUE_ANY, false},
    {"volcano.sh/predicate-time", VALUE_ANY, false},
    {"volcano.sh/bind-phase", VALUE_ANY, false},
    {"volcano.sh/bind-time", VALUE_ANY, false},
    {"volcano.sh/devices-to-allocate", VALUE_ANY, false},
    {"volcano.sh/node-vgpu-register", VALUE_ANY, false},
    {"volcano.sh/vgpu-ids-new", VALUE_ANY, false},
    {"volcano.sh/vgpu-time", VALUE_ANY, false},
    {"volcano.sh/vgpu-node", VALUE_ANY, false},
    {"volcano.sh/vgpu-mode", VALUE_ANY, false},
    {"volcano.sh/vgpu-number", VALUE_ANY, false},
    {"volcano.sh/vgpu-memory", VALUE_ANY, false},
    {"volcano.sh/vgpu-memory-percentage", VALUE_ANY, false},
    {"volcano.sh/vgpu-cores", VALUE_ANY, false},
    {"volcano.sh/vgpu-use-gpuuuid", VALUE_ANY, false},
    {"volcano.sh/vgpu-nouse-gpuuuid", VALUE_ANY, false},
    {"volcano.sh/vgpu-podgroup-policy", VALUE_ANY, false},
    {"volcano.sh/task-topology-affinity", VALUE_ANY, true},
    {"volcano.sh/task-topology-anti-affinity", VALUE_ANY, true},
    {"volcano.sh/task-topology-task-order", VALUE_ANY, true},
    {"volcano.sh/resource-strategy-scoring-type", VALUE_ANY, true},
    {"volcano.sh/resource-strategy-weight", VALUE_ANY, true},
    {"volcano.sh/createdByJobTemplate", VALUE_ANY, false},
    {"volcano.sh/createdByJobFlow", VALUE_ANY, false},
    {"volcano.sh/cronjob-scheduled-timestamp", VALUE_ANY, false},
    {"volcano.sh/controller-out-of-sync", VALUE_ANY, false},
    {"volcano.sh/resource-group", VALUE_ANY, false},
    {"volcano.sh/colocation-config", VALUE_ANY, false},
    {"volcano.sh/colocation-config-name", VALUE_ANY, false},
    {"node.volcano.sh/warmup", VALUE_ANY, false},
};

#define N_KEYS (sizeof known_keys / sizeof *known_keys)

/* "volcano.sh/x", "scheduling.maar.dev/x". */
static bool has_our_prefix(const char *key)
{
    static const char *const domains[] = {"volcano.sh", "maar.dev"};
    size_t n = strcspn(key, "/");
    for (size_t i = 0; key[n] && i < sizeof domains / sizeof *domains; i++) {
        size_t n_domain = strlen(domains[i]);
        if (n >= n_domain && strncmp(key + n - n_domain, domains[i], n_domain) == 0 &&
            (n == n_domain || key[n - n_domain - 1] == '.'))
            return true;
    }
    return false;
}

static const char *words_of(enum value value)
{
    static const char *const words[] = {"", "true or false", "a whole number",
                                        "a duration such as 30s or 1h30m"};
    return words[value];
}

static bool is_value(enum value value, const char *text)
{
    bool truth;
    int64_t number;
    struct maar_scalar_value scalar;
    switch (value) {
    case VALUE_BOOL:
        return maar_scalar_parse_bool(text, &truth);
    case VALUE_INT:
        scalar = maar_scalar_resolve(text);
        return scalar.type == MAAR_SCALAR_INT;
    case VALUE_DURATION:
        return strcmp(text, "0") == 0 || maar_duration_parse(text, &number) == 0;
    case VALUE_ANY:
        break;
    }
    return true;
}

static void check_known(struct maar_check *check, const struct maar_field *field, size_t i,
                        const json_t *value, bool is_label)
{
    const char *text = json_string_value(value);
    if (is_label && known_keys[i].as_annotation)
        maar_findings_add(&check->findings, field, false, NULL,
                          "is a label, but only an annotation of this name is read; move it to "
                          "metadata.annotations");
    else if (text && !is_value(known_keys[i].value, text))
        maar_findings_add(&check->findings, field, false, NULL,
                          "expected %s, found \"%.60s\"; it is ignored",
                          words_of(known_keys[i].value), text);
}

static void check_key(struct maar_check *check, const struct maar_field *field, const char *key,
                      const json_t *value, bool is_label)
{
    const char *names[N_KEYS + 1] = {NULL};
    if (!json_is_string(value)) {
        maar_findings_add(&check->findings, field, true, NULL,
                          "expected a text, found %s; put it in quotes",
                          maar_field_type_name(value));
        return;
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        names[i] = known_keys[i].key;
        if (strcmp(names[i], key) == 0) {
            check_known(check, field, i, value, is_label);
            return;
        }
    }
    if (maar_registry_reads_pod_label(check->registry, key) ||
        maar_registry_reads_pod_annotation(check->registry, key) ||
        maar_registry_reads_pod_group_annotation(check->registry, key) ||
        maar_registry_reads_queue_annotation(check->registry, key))
        return;
    const char *nearest = strchr(key, '/') ? maar_text_nearest(key, names) : NULL;
    if (nearest || has_our_prefix(key))
        maar_findings_add(&check->findings, field, false, nearest, "nothing reads %s of this name",
                          is_label ? "a label" : "an annotation");
}

void maar_check_keys(struct maar_check *check, const struct maar_field *metadata, const json_t *map)
{
    static const char *const parts[] = {"labels", "annotations"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct maar_field part = maar_field_key(metadata, parts[i]);
        json_t *keys = json_object_get(map, parts[i]);
        const char *key;
        json_t *value;
        json_object_foreach (keys, key, value) {
            struct maar_field field = maar_field_key(&part, key);
            if (!json_is_null(value))
                check_key(check, &field, key, value, i == 0);
        }
    }
}
