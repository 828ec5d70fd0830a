/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Pods, and the templates that controllers make them of. */

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/parts.h"
#include "model/quantity.h"
#include "sim/document.h"
#include "wire/wire.h"

#define SCHEDULER "volcano"

/* ---- which pods there are ---- */

static const char *group_of(const json_t *template)
{
    return maar_document_pod_group(template);
}

static const char *role_of(const json_t *template)
{
    const char *role = maar_document_annotation(template, "volcano.sh/task-spec");
    const json_t *labels = json_object_get(json_object_get(template, "metadata"), "labels");
    const char *label = json_string_value(json_object_get(labels, "volcano.sh/task-spec"));
    return *role || !label ? role : label;
}

static int64_t saturated_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void count_members(struct maar_check *check, const struct maar_check_pods *pods)
{
    const char *group = group_of(pods->template);
    const char *role = role_of(pods->template);
    if (!*group)
        return;
    maar_autofree char *key = maar_asprintf("%s/%s", pods->object->ns, group);
    struct maar_check_members *members = maar_map_find(check->members, key);
    if (!members) {
        members = maar_calloc(1, sizeof *members);
        members->roles = maar_map_create();
        maar_map_set(check->members, key, members);
    }
    members->n = saturated_sum(members->n, pods->n);
    members->is_open |= pods->n == 0;
    int64_t *n_role = maar_map_find(members->roles, role);
    if (!n_role) {
        n_role = maar_calloc(1, sizeof *n_role);
        maar_map_set(members->roles, role, n_role);
    }
    *n_role = saturated_sum(*n_role, pods->n);
}

static void add_pods(struct maar_check *check, const struct maar_check_object *object,
                     const char *path, const json_t *template, int64_t n, bool is_of_volcano_job)
{
    if (!json_is_object(template))
        return;
    struct maar_check_pods pods = {.object = object,
                                   .field = maar_check_path(&object->field, path),
                                   .template = template,
                                   .n = n > 0 ? n : 0,
                                   .is_of_volcano_job = is_of_volcano_job};
    maar_vec_push(&check->pods, pods);
    if (!is_of_volcano_job)
        count_members(check, &pods);
}

static void add_tasks(struct maar_check *check, const struct maar_check_object *object,
                      const char *path)
{
    size_t i;
    json_t *task;
    json_array_foreach (maar_document_at(object->document, path), i, task) {
        maar_autofree char *at = maar_asprintf("%s[%zu].template", path, i);
        add_pods(check, object, at, json_object_get(task, "template"),
                 maar_document_int(task, "replicas", 0), true);
    }
}

static void add_offered(struct maar_check *check, const struct maar_node_record *node)
{
    for (uint32_t i = 0; i < node->allocatable.n; i++)
        maar_map_set(check->offered, node->allocatable.items[i].name, check);
}

void maar_check_collect(struct maar_check *check, const struct maar_check_object *object)
{
    static const struct {
        const char *api_version, *kind, *template, *n;
        int64_t n_default;
    } workloads[] = {
        {"apps/v1", "Deployment", "spec.template", "spec.replicas", 1},
        {"apps/v1", "ReplicaSet", "spec.template", "spec.replicas", 1},
        {"apps/v1", "StatefulSet", "spec.template", "spec.replicas", 1},
        {"v1", "ReplicationController", "spec.template", "spec.replicas", 1},
        {"apps/v1", "DaemonSet", "spec.template", "spec.", 0},
        {"batch/v1", "Job", "spec.template", "spec.parallelism", 1},
        {"batch/v1", "CronJob", "spec.jobTemplate.spec.template",
         "spec.jobTemplate.spec.parallelism", 1},
    };
    const json_t *document = object->document;
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(workloads[i].kind, object->kind) == 0 &&
            strcmp(workloads[i].api_version, object->api_version) == 0)
            add_pods(check, object, workloads[i].template,
                     maar_document_at(document, workloads[i].template),
                     maar_document_int(document, workloads[i].n, workloads[i].n_default), false);
    if (object->record && object->record->kind == MAAR_KIND_POD)
        add_pods(check, object, "", document, 1, false);
    if (object->record && object->record->kind == MAAR_KIND_NODE)
        add_offered(check, &object->record->node);
    if (object->record && object->record->kind == MAAR_KIND_QUEUE)
        maar_check_collect_queue(check, object);
    if (strcmp(object->api_version, "batch.volcano.sh/v1alpha1") == 0) {
        bool is_cron = strcmp(object->kind, "CronJob") == 0;
        add_tasks(check, object, is_cron ? "spec.jobTemplate.spec.tasks" : "spec.tasks");
    }
    if (strcmp(object->kind, "JobTemplate") == 0)
        add_tasks(check, object, "spec.tasks");
}

const struct maar_check_members *maar_check_members(const struct maar_check *check, const char *ns,
                                                    const char *group)
{
    maar_autofree char *key = maar_asprintf("%s/%s", ns, group);
    return maar_map_find(check->members, key);
}

void maar_check_members_destroy(struct maar_map *members)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(members, &at, NULL, NULL, &value)) {
        struct maar_check_members *entry = value;
        size_t role = 0;
        void *n;
        while (maar_map_next(entry->roles, &role, NULL, NULL, &n))
            free(n);
        maar_map_destroy(entry->roles);
        free(entry);
    }
    maar_map_destroy(members);
}

/* ---- names of resources ---- */

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_listed(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const char *const resources[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "pods",
                                        "nvidia.com/gpu",
                                        "nvidia.com/gpu.shared",
                                        "amd.com/gpu",
                                        "intel.com/gpu",
                                        "gpu.intel.com/i915",
                                        "gpu.intel.com/xe",
                                        "google.com/tpu",
                                        "aws.amazon.com/neuron",
                                        "habana.ai/gaudi",
                                        "huawei.com/Ascend910",
                                        "huawei.com/Ascend310",
                                        "huawei.com/Ascend310P",
                                        "rdma/hca",
                                        "volcano.sh/gpu-memory",
                                        "volcano.sh/gpu-number",
                                        "volcano.sh/vgpu-number",
                                        "volcano.sh/vgpu-memory",
                                        "volcano.sh/vgpu-memory-percentage",
                                        "volcano.sh/vgpu-cores",
                                        NULL};

static const char *without_domain(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Of the same name in another domain ("gpu" for "nvidia.com/gpu"), else of a like name. When there are nodes, what they
 * offer is all that could be meant. */
static const char *nearest_resource(const struct maar_check *check, const char *name)
{
    MAAR_VEC(const char *) names = {0};
    size_t at = 0;
    const void *key;
    while (maar_map_next(check->offered, &at, &key, NULL, NULL))
        maar_vec_push(&names, (const char *)key);
    bool has_nodes = names.n > 0;
    for (size_t i = 0; !has_nodes && resources[i]; i++)
        maar_vec_push(&names, resources[i]);
    maar_vec_push(&names, NULL);
    const char *nearest = NULL;
    for (size_t i = 0; !nearest && names.data[i]; i++)
        if (strchr(names.data[i], '/') &&
            strcmp(without_domain(name), without_domain(names.data[i])) == 0)
            nearest = names.data[i];
    if (!nearest)
        nearest = maar_text_nearest(name, names.data);
    maar_vec_fini(&names);
    return nearest;
}

static bool is_known_resource(const struct maar_check *check, const char *name)
{
    return is_listed(name, resources) || maar_map_find(check->offered, name) ||
           has_prefix(name, "hugepages-") || has_prefix(name, "attachable-volumes-");
}

void maar_check_resources(struct maar_check *check, const struct maar_field *field,
                          const json_t *map)
{
    const char *name;
    json_t *amount;
    json_object_foreach ((json_t *)(uintptr_t)map, name, amount) {
        const char *nearest = nearest_resource(check, name);
        struct maar_field child = maar_field_key(field, name);
        if (!is_known_resource(check, name) && nearest)
            maar_findings_add(&check->findings, &child, false, nearest, "no common resource");
    }
}

static void check_requests(struct maar_check *check, const struct maar_field *field,
                           const json_t *map)
{
    const char *name;
    json_t *amount;
    json_object_foreach ((json_t *)(uintptr_t)map, name, amount) {
        struct maar_field child = maar_field_key(field, name);
        bool is_native = !strchr(name, '/') && is_known_resource(check, name);
        if (is_native || maar_map_find(check->offered, name))
            continue;
        const char *nearest = nearest_resource(check, name);
        if (!strchr(name, '/'))
            maar_findings_add(&check->findings, &child, true, nearest,
                              "no resource of a container; expected cpu, memory, "
                              "ephemeral-storage, hugepages-SIZE, or a name with a domain such as "
                              "nvidia.com/gpu");
        else if (maar_check_has_kind(check, "Node"))
            maar_findings_add(&check->findings, &child, false, nearest,
                              "no node of the input offers it");
        else if (nearest && !is_known_resource(check, name))
            maar_findings_add(&check->findings, &child, false, nearest, "no common resource");
    }
}

/* ---- the spec ---- */

static const char *const spec_keys[] = {"activeDeadlineSeconds",
                                        "affinity",
                                        "automountServiceAccountToken",
                                        "containers",
                                        "dnsConfig",
                                        "dnsPolicy",
                                        "enableServiceLinks",
                                        "ephemeralContainers",
                                        "hostAliases",
                                        "hostIPC",
                                        "hostNetwork",
                                        "hostPID",
                                        "hostUsers",
                                        "hostname",
                                        "hostnameOverride",
                                        "imagePullSecrets",
                                        "initContainers",
                                        "nodeName",
                                        "nodeSelector",
                                        "os",
                                        "overhead",
                                        "preemptionPolicy",
                                        "priority",
                                        "priorityClassName",
                                        "readinessGates",
                                        "resourceClaims",
                                        "resources",
                                        "restartPolicy",
                                        "runtimeClassName",
                                        "schedulerName",
                                        "schedulingGates",
                                        "securityContext",
                                        "serviceAccount",
                                        "serviceAccountName",
                                        "setHostnameAsFQDN",
                                        "shareProcessNamespace",
                                        "subdomain",
                                        "terminationGracePeriodSeconds",
                                        "tolerations",
                                        "topologySpreadConstraints",
                                        "volumes",
                                        "workloadRef",
                                        NULL};

static const char *const container_keys[] = {"args",
                                             "command",
                                             "env",
                                             "envFrom",
                                             "image",
                                             "imagePullPolicy",
                                             "lifecycle",
                                             "livenessProbe",
                                             "name",
                                             "ports",
                                             "readinessProbe",
                                             "resizePolicy",
                                             "resources",
                                             "restartPolicy",
                                             "restartPolicyRules",
                                             "securityContext",
                                             "startupProbe",
                                             "stdin",
                                             "stdinOnce",
                                             "terminationMessagePath",
                                             "terminationMessagePolicy",
                                             "tty",
                                             "volumeDevices",
                                             "volumeMounts",
                                             "workingDir",
                                             NULL};

static const char *const resources_keys[] = {"limits", "requests", "claims", NULL};

/* Kubernetes gets new fields with time, so only what looks like a known one is reported. */
void maar_check_fields(struct maar_check *check, const struct maar_field *field, const json_t *map,
                       const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
        const char *nearest = is_listed(key, known) ? NULL : maar_text_nearest(key, known);
        struct maar_field child = maar_field_key(field, key);
        if (nearest)
            maar_findings_add(&check->findings, &child, false, nearest, "unknown field");
    }
}

/* The amount, false when there is none that can be read. */
static bool read_amount(const struct maar_field *field, const json_t *map, const char *name,
                        struct maar_quantity *ret, struct maar_error *err)
{
    json_t *text = NULL;
    bool is_read = maar_field_quantity(field, map, name, &text, err) == 0 && text &&
                   maar_quantity_parse(json_string_value(text), ret, NULL) == 0;
    json_decref(text);
    return is_read;
}

/* Scheduling does not read limits, the API server does. */
static void check_limits(struct maar_check *check, const struct maar_field *field,
                         const json_t *resources_map)
{
    const json_t *requests = json_object_get(resources_map, "requests");
    const json_t *limits = json_object_get(resources_map, "limits");
    const struct maar_field requests_field = maar_field_key(field, "requests");
    const struct maar_field limits_field = maar_field_key(field, "limits");
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)limits, name, value) {
        struct maar_quantity limit, request;
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_field at = maar_field_key(&requests_field, name);
        if (!read_amount(&limits_field, limits, name, &limit, &err)) {
            if (*err.text)
                maar_findings_add_error(&check->findings, field->file, &err);
        } else if (read_amount(&requests_field, requests, name, &request, NULL) &&
                   request.nano > limit.nano) {
            maar_findings_add(&check->findings, &at, true, NULL, "is more than the limit");
        }
    }
}

static void check_container(struct maar_check *check, const struct maar_field *field,
                            const json_t *container)
{
    const json_t *map = json_object_get(container, "resources");
    const struct maar_field at = maar_field_key(field, "resources");
    const struct maar_field requests = maar_field_key(&at, "requests");
    const struct maar_field limits = maar_field_key(&at, "limits");
    maar_check_fields(check, field, container, container_keys);
    maar_check_fields(check, &at, map, resources_keys);
    check_requests(check, &requests, json_object_get(map, "requests"));
    /* A limit alone is a request as well; one beside a request of the same name has been told of. */
    if (!json_object_get(map, "requests"))
        check_requests(check, &limits, json_object_get(map, "limits"));
    check_limits(check, &at, map);
}

static void check_containers(struct maar_check *check, const struct maar_field *spec_field,
                             const json_t *spec)
{
    static const char *const lists[] = {"initContainers", "containers"};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const struct maar_field list = maar_field_key(spec_field, lists[k]);
        size_t i;
        json_t *container;
        json_array_foreach (json_object_get(spec, lists[k]), i, container) {
            struct maar_field field = maar_field_index(&list, i);
            check_container(check, &field, container);
        }
    }
}

/* ---- who schedules it, with whom ---- */

static bool is_waiting(const json_t *pod)
{
    const char *phase = maar_document_text(pod, "status.phase");
    return !*maar_document_text(pod, "spec.nodeName") && (!*phase || strcmp(phase, "Pending") == 0);
}

static struct maar_field group_field(const struct maar_check_pods *pods)
{
    const struct maar_field at = maar_check_path(&pods->field, "metadata.annotations");
    const char *key = "scheduling.k8s.io/group-name";
    if (!*maar_document_annotation(pods->template, key))
        key = "scheduling.volcano.sh/group-name";
    return maar_field_key(&at, key);
}

static void check_group(struct maar_check *check, const struct maar_check_pods *pods)
{
    static const char *const ours[] = {SCHEDULER, NULL};
    const char *scheduler = maar_document_text(pods->template, "spec.schedulerName");
    const char *group = group_of(pods->template);
    const struct maar_field field = maar_check_path(&pods->field, "spec.schedulerName");
    const struct maar_field at = group_field(pods);
    const struct maar_field queue =
        maar_check_path(&pods->field, "metadata.annotations[scheduling.volcano.sh/queue-name]");
    bool is_pod = pods->template == pods->object->document;
    maar_check_queue_name(
        check, &queue,
        maar_document_annotation(pods->template, "scheduling.volcano.sh/queue-name"));
    if (*group)
        maar_check_reference(check, &at, "PodGroup", pods->object->ns, group);
    if (*group && strcmp(scheduler, SCHEDULER) != 0)
        maar_findings_add(&check->findings, *scheduler ? &field : &at, false, NULL,
                          "the pod is a member of PodGroup %.100s, but its schedulerName is %.60s: "
                          "it is not scheduled with the others; write schedulerName: " SCHEDULER,
                          group, *scheduler ? scheduler : "not set");
    else if (*scheduler && strcmp(scheduler, SCHEDULER) != 0 && maar_text_nearest(scheduler, ours))
        maar_findings_add(&check->findings, &field, false, SCHEDULER,
                          "nothing schedules for \"%.60s\"", scheduler);
    if (!*group && is_pod && strcmp(scheduler, SCHEDULER) == 0)
        maar_findings_add(&check->findings, &field, false, NULL,
                          "the pod names no PodGroup; it waits until Volcano's controller has made "
                          "one for it, or for ever; write the annotation "
                          "scheduling.k8s.io/group-name");
}

/* Faults of a template are those of a pod made of it. */
static void check_template(struct maar_check *check, const struct maar_check_pods *pods)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_record *record = NULL;
    const struct maar_field metadata = maar_field_key(&pods->field, "metadata");
    json_auto_t *pod = json_object();
    json_t *named = json_object();
    json_object_set_new(named, "name", json_string("template"));
    json_object_set(named, "annotations", maar_document_at(pods->template, "metadata.annotations"));
    json_object_set_new(pod, "metadata", named);
    json_object_set(pod, "spec", json_object_get(pods->template, "spec"));
    maar_check_keys(check, &metadata, json_object_get(pods->template, "metadata"));
    if (maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, &err) == 0)
        maar_check_fault(check, &pods->field, record->fault);
    maar_record_destroy(record);
}

void maar_check_pods(struct maar_check *check, const struct maar_check_pods *pods)
{
    const struct maar_field field = maar_field_key(&pods->field, "spec");
    const json_t *spec = json_object_get(pods->template, "spec");
    const char *class = maar_document_text(spec, "priorityClassName");
    const struct maar_field class_field = maar_field_key(&field, "priorityClassName");
    bool is_pod = pods->template == pods->object->document;
    if (is_pod && !is_waiting(pods->template))
        return;
    if (!is_pod)
        check_template(check, pods);
    maar_check_fields(check, &field, spec, spec_keys);
    check_containers(check, &field, spec);
    maar_check_placement(check, &field, spec);
    maar_check_class(check, &class_field, class);
    if (!pods->is_of_volcano_job)
        check_group(check, pods);
}
