/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The last step of decoding a pod: see the header for what is settled here, and Volcano's
 * NewTaskInfo for the rules about annotations. */

#include "wire/pod_draft.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_KEY         "scheduling.k8s.io/group-name"
#define GROUP_ALIAS_KEY   "scheduling.volcano.sh/group-name"
#define ROLE_KEY          "volcano.sh/task-spec"
#define TASK_PRIORITY_KEY "volcano.sh/task-priority"
#define PREEMPTABLE_KEY   "volcano.sh/preemptable"
/* The annotation that asks for the gate, and the gate. */
#define QUEUE_GATE "scheduling.volcano.sh/queue-allocation-gate"

struct maar_container_draft *maar_containers_add(struct maar_decoder *decoder,
                                                 const struct maar_path *at,
                                                 struct maar_containers_draft *containers)
{
    if (containers->n == MAAR_WIRE_CONTAINERS_MAX) {
        maar_decoder_fault(decoder, at, "more than %u containers", MAAR_WIRE_CONTAINERS_MAX);
        return NULL;
    }
    containers->items =
        maar_decoder_grow(decoder, containers->items, containers->n, sizeof *containers->items);
    struct maar_container_draft *container = &containers->items[containers->n++];
    container->name = "";
    container->image = "";
    return container;
}

struct maar_port_draft *maar_container_add_port(struct maar_decoder *decoder,
                                                struct maar_container_draft *container)
{
    container->ports =
        maar_decoder_grow(decoder, container->ports, container->n_ports, sizeof *container->ports);
    struct maar_port_draft *port = &container->ports[container->n_ports++];
    port->port.host_ip = "";
    port->port.protocol = "";
    return port;
}

struct maar_status_draft *maar_pod_add_status(struct maar_decoder *decoder,
                                              struct maar_pod_draft *draft)
{
    draft->statuses =
        maar_decoder_grow(decoder, draft->statuses, draft->n_statuses, sizeof *draft->statuses);
    struct maar_status_draft *status = &draft->statuses[draft->n_statuses];
    status->order = draft->n_statuses++;
    status->name = "";
    return status;
}

/* Most annotations are nobody's, so the length decides first. */
static bool is_key(const char *key, size_t n, const char *own, size_t n_own)
{
    return n == n_own && memcmp(key, own, n) == 0;
}

#define IS_KEY(key, n, own) is_key(key, n, own, sizeof(own) - 1)

static const char **own_annotation(struct maar_pod_draft *draft, const char *key)
{
    size_t n = strlen(key);
    if (IS_KEY(key, n, GROUP_KEY))
        return &draft->group;
    if (IS_KEY(key, n, GROUP_ALIAS_KEY))
        return &draft->group_alias;
    if (IS_KEY(key, n, ROLE_KEY))
        return &draft->role;
    if (IS_KEY(key, n, TASK_PRIORITY_KEY))
        return &draft->task_priority;
    if (IS_KEY(key, n, PREEMPTABLE_KEY))
        return &draft->preemptable;
    if (IS_KEY(key, n, QUEUE_GATE))
        return &draft->queue_gate;
    return NULL;
}

void maar_pod_add_volume_image(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                               const char *reference)
{
    draft->volume_images = maar_decoder_grow(decoder, draft->volume_images, draft->n_volume_images,
                                             sizeof *draft->volume_images);
    draft->volume_images[draft->n_volume_images++] = reference;
}

void maar_pod_add_gate(struct maar_decoder *decoder, struct maar_pod_draft *draft, const char *name)
{
    decoder->record->pod.n_gates++;
    if (draft->n_gate_names < MAAR_WIRE_GATE_NAMES_MAX)
        draft->gate_names[draft->n_gate_names++] = name;
}

bool maar_pod_wants_annotation(const struct maar_decoder *decoder, const char *key)
{
    struct maar_pod_draft none;
    return own_annotation(&none, key) || maar_decoder_keeps(decoder, key);
}

void maar_pod_add_annotation(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                             const char *key, const char *value)
{
    const char **own = own_annotation(draft, key);
    if (own)
        *own = value;
    if (!maar_decoder_keeps(decoder, key))
        return;
    struct maar_pod_record *pod = &decoder->record->pod;
    pod->annotations =
        maar_decoder_grow(decoder, pod->annotations, pod->n_annotations, sizeof *pod->annotations);
    pod->annotations[pod->n_annotations++] =
        (struct maar_label){maar_arena_strdup(decoder->arena, key), value};
}

bool maar_pod_wants_condition(const char *type)
{
    return strcmp(type, "PodScheduled") == 0 || strcmp(type, "PodResizePending") == 0;
}

void maar_pod_add_condition(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                            const struct maar_condition_record *condition)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    if (strcmp(condition->type, "PodScheduled") == 0) {
        pod->scheduled_condition = *condition;
    } else if (strcmp(condition->type, "PodResizePending") == 0 && !draft->has_resize_condition) {
        draft->has_resize_condition = true;
        pod->resize_infeasible = strcmp(condition->reason, "Infeasible") == 0;
    }
}

static void settle_annotations(struct maar_decoder *decoder, const struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    if (draft->group && *draft->group)
        pod->group = draft->group;
    else if (draft->group_alias)
        pod->group = draft->group_alias;
    const char *role_label = maar_labels_find(pod->labels, pod->n_labels, ROLE_KEY);
    if (draft->role && *draft->role)
        pod->role = draft->role;
    else if (role_label)
        pod->role = role_label;
    int64_t priority;
    if (draft->task_priority &&
        maar_parse_int(draft->task_priority, INT32_MIN, INT32_MAX, &priority)) {
        pod->has_task_priority = true;
        pod->task_priority = (int32_t)priority;
    }
    const char *preemptable = draft->preemptable;
    if (!preemptable)
        preemptable = maar_labels_find(pod->labels, pod->n_labels, PREEMPTABLE_KEY);
    pod->preemptable = true;
    if (preemptable && !maar_parse_bool(preemptable, &pod->preemptable))
        pod->preemptable = false;
}

static void settle_gates(struct maar_decoder *decoder, const struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    struct maar_text names = MAAR_TEXT_INIT;
    pod->only_queue_gate = pod->n_gates == 1 && strcmp(draft->gate_names[0], QUEUE_GATE) == 0;
    pod->asks_queue_gate = draft->queue_gate && strcmp(draft->queue_gate, "true") == 0;
    for (uint32_t i = 0; i < draft->n_gate_names; i++)
        maar_text_addf(&names, "%s%.316s", i ? ", " : "", draft->gate_names[i]);
    if (pod->n_gates > draft->n_gate_names)
        maar_text_addf(&names, " and %u more", pod->n_gates - draft->n_gate_names);
    pod->gates = maar_arena_strdup(decoder->arena, maar_text_get(&names));
    maar_text_fini(&names);
}

static int by_name_then_order(const void *a, const void *b)
{
    const struct maar_status_draft *left = a;
    const struct maar_status_draft *right = b;
    int order = strcmp(left->name, right->name);
    if (order != 0)
        return order;
    return left->order < right->order ? -1 : 1;
}

/* The last status of that name. */
static const struct maar_status_draft *find_status(const struct maar_pod_draft *draft,
                                                   const char *name)
{
    uint32_t low = 0;
    uint32_t high = draft->n_statuses;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(draft->statuses[middle].name, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || strcmp(draft->statuses[low - 1].name, name) != 0)
        return NULL;
    return &draft->statuses[low - 1];
}

static struct maar_container_record *settle_containers(struct maar_decoder *decoder,
                                                       const struct maar_pod_draft *draft,
                                                       struct maar_containers_draft *containers)
{
    struct maar_container_record *records =
        maar_arena_calloc(decoder->arena, containers->n, sizeof *records);
    for (uint32_t i = 0; i < containers->n; i++) {
        struct maar_container_draft *container = &containers->items[i];
        const struct maar_status_draft *status = find_status(draft, container->name);
        records[i] = container->record;
        if (status && status->has_resources) {
            records[i].has_status_resources = true;
            records[i].status_requests = status->requests;
            records[i].status_allocated = status->allocated;
        }
    }
    return records;
}

struct ports {
    uint32_t n;
    struct maar_host_port *items;
};

static void add_ports(struct maar_decoder *decoder, const struct maar_pod_draft *draft,
                      const struct maar_container_draft *container, struct ports *ports)
{
    for (uint32_t i = 0; i < container->n_ports; i++) {
        const struct maar_port_draft *port = &container->ports[i];
        int32_t number = port->host_port;
        if (number == 0 && draft->host_network)
            number = port->container_port;
        if (number <= 0 || number > UINT16_MAX)
            continue;
        ports->items = maar_decoder_grow(decoder, ports->items, ports->n, sizeof *ports->items);
        struct maar_host_port *host_port = &ports->items[ports->n++];
        *host_port = port->port;
        host_port->port = (uint16_t)number;
        if (*host_port->protocol == '\0')
            host_port->protocol = "TCP";
    }
}

/* Of containers and sidecars, as kube-scheduler's NodePorts takes them. */
static void settle_ports(struct maar_decoder *decoder, const struct maar_pod_draft *draft)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    struct ports ports = {0};
    for (uint32_t i = 0; i < draft->containers.n; i++)
        add_ports(decoder, draft, &draft->containers.items[i], &ports);
    for (uint32_t i = 0; i < draft->init_containers.n; i++)
        if (draft->init_containers.items[i].record.restart_always)
            add_ports(decoder, draft, &draft->init_containers.items[i], &ports);
    spec->n_host_ports = ports.n;
    spec->host_ports = ports.items;
}

/* With the tag that is meant where neither tag nor digest follows the last '/'. */
static const char *image_name(struct maar_decoder *decoder, const char *image)
{
    const char *slash = strrchr(image, '/');
    return strchr(slash ? slash : image, ':')
               ? image
               : maar_arena_printf(decoder->arena, "%s:latest", image);
}

static void add_images(struct maar_decoder *decoder, const struct maar_containers_draft *containers,
                       const char **images, uint32_t *n)
{
    for (uint32_t i = 0; i < containers->n; i++)
        images[(*n)++] = image_name(decoder, containers->items[i].image);
}

static void settle_images(struct maar_decoder *decoder, const struct maar_pod_draft *draft)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    size_t most = (size_t)draft->init_containers.n + draft->containers.n + draft->n_volume_images;
    const char **images = maar_arena_calloc(decoder->arena, most, sizeof *images);
    add_images(decoder, &draft->init_containers, images, &spec->n_images);
    add_images(decoder, &draft->containers, images, &spec->n_images);
    for (uint32_t i = 0; i < draft->n_volume_images; i++)
        images[spec->n_images++] = image_name(decoder, draft->volume_images[i]);
    spec->images = images;
}

void maar_pod_finish(struct maar_decoder *decoder, struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    maar_labels_sort(pod->labels, &pod->n_labels);
    maar_labels_sort(pod->annotations, &pod->n_annotations);
    settle_annotations(decoder, draft);
    if (draft->n_statuses > 1)
        qsort(draft->statuses, draft->n_statuses, sizeof *draft->statuses, by_name_then_order);
    pod->n_containers = draft->containers.n;
    pod->containers = settle_containers(decoder, draft, &draft->containers);
    pod->n_init_containers = draft->init_containers.n;
    pod->init_containers = settle_containers(decoder, draft, &draft->init_containers);
    settle_gates(decoder, draft);
    maar_affinity_finish(decoder, &draft->affinity);
    settle_ports(decoder, draft);
    settle_images(decoder, draft);
}
