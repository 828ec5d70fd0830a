/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A pod's spec and status from JSON. */

#include "wire/json_object.h"

#include <string.h>

#include "wire/json_affinity.h"
#include "wire/json_value.h"
#include "wire/pod_draft.h"

/* ---- containers ---- */

static void read_ports(struct maar_decoder *decoder, const json_t *object,
                       const struct maar_path *at, struct maar_container_draft *container)
{
    const json_t *ports = maar_json_array(decoder, object, at, "ports");
    struct maar_path list = {at, "ports", 0};
    for (size_t i = 0; i < json_array_size(ports); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, ports, &list, i);
        if (!item)
            continue;
        struct maar_port_draft *port = maar_container_add_port(decoder, container);
        (void)maar_json_int32(decoder, item, &here, "hostPort", &port->host_port);
        (void)maar_json_int32(decoder, item, &here, "containerPort", &port->container_port);
        port->port.host_ip = maar_json_text(decoder, item, &here, "hostIP");
        port->port.protocol = maar_json_text(decoder, item, &here, "protocol");
    }
}

static void read_container(struct maar_decoder *decoder, const json_t *object,
                           const struct maar_path *at, struct maar_container_draft *container)
{
    container->name = maar_json_text(decoder, object, at, "name");
    container->image = maar_json_text(decoder, object, at, "image");
    container->record.restart_always =
        strcmp(maar_json_peek(decoder, object, at, "restartPolicy"), "Always") == 0;
    const json_t *resources = maar_json_object(decoder, object, at, "resources");
    struct maar_path here = {at, "resources", 0};
    (void)maar_json_amounts(decoder, resources, &here, "requests", true,
                            &container->record.requests);
    read_ports(decoder, object, at, container);
}

static void read_containers(struct maar_decoder *decoder, const json_t *spec,
                            const struct maar_path *at, const char *key,
                            struct maar_containers_draft *containers)
{
    const json_t *array = maar_json_array(decoder, spec, at, key);
    struct maar_path list = {at, key, 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        struct maar_container_draft *container = maar_containers_add(decoder, &list, containers);
        if (!container)
            return;
        read_container(decoder, item, &here, container);
    }
}

/* ---- the rest of the spec ---- */

static void read_tolerations(struct maar_decoder *decoder, const json_t *spec,
                             const struct maar_path *at)
{
    const json_t *array = maar_json_array(decoder, spec, at, "tolerations");
    struct maar_path list = {at, "tolerations", 0};
    size_t n = json_array_size(array);
    struct maar_toleration *tolerations = maar_arena_calloc(decoder->arena, n, sizeof *tolerations);
    for (size_t i = 0; i < n; i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        tolerations[i].key = maar_json_text(decoder, item, &here, "key");
        tolerations[i].value = maar_json_text(decoder, item, &here, "value");
        tolerations[i].op =
            maar_toleration_operator_parse(maar_json_peek(decoder, item, &here, "operator"));
        tolerations[i].effect =
            maar_toleration_effect_parse(maar_json_peek(decoder, item, &here, "effect"));
    }
    decoder->record->pod.spec.tolerations = tolerations;
    decoder->record->pod.spec.n_tolerations = (uint32_t)n;
}

static void read_volumes(struct maar_decoder *decoder, const json_t *spec,
                         const struct maar_path *at, struct maar_pod_draft *draft)
{
    const json_t *array = maar_json_array(decoder, spec, at, "volumes");
    struct maar_path list = {at, "volumes", 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        if (maar_json_object(decoder, item, &here, "persistentVolumeClaim") ||
            maar_json_object(decoder, item, &here, "ephemeral"))
            decoder->record->pod.spec.unsupported |= MAAR_UNSUPPORTED_VOLUMES;
        const json_t *image = maar_json_object(decoder, item, &here, "image");
        struct maar_path image_at = {&here, "image", 0};
        if (image)
            maar_pod_add_volume_image(decoder, draft,
                                      maar_json_text(decoder, image, &image_at, "reference"));
    }
}

static void read_gates(struct maar_decoder *decoder, const json_t *spec, const struct maar_path *at,
                       struct maar_pod_draft *draft)
{
    const json_t *array = maar_json_array(decoder, spec, at, "schedulingGates");
    struct maar_path list = {at, "schedulingGates", 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        maar_pod_add_gate(decoder, draft, maar_json_text(decoder, item, &here, "name"));
    }
}

static void read_spec(struct maar_decoder *decoder, const json_t *spec, const struct maar_path *at,
                      struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    struct maar_path resources_at = {at, "resources", 0};
    pod->node_name = maar_json_text(decoder, spec, at, "nodeName");
    pod->has_priority = maar_json_int32(decoder, spec, at, "priority", &pod->priority);
    pod->spec.priority_class = maar_json_text(decoder, spec, at, "priorityClassName");
    pod->spec.scheduler_name = maar_json_text(decoder, spec, at, "schedulerName");
    pod->spec.preemption_policy = maar_json_text(decoder, spec, at, "preemptionPolicy");
    pod->spec.node_selector =
        maar_json_labels(decoder, spec, at, "nodeSelector", &pod->spec.n_node_selector);
    (void)maar_json_bool(decoder, spec, at, "hostNetwork", &draft->host_network);
    (void)maar_json_amounts(decoder, spec, at, "overhead", true, &pod->overhead);
    (void)maar_json_amounts(decoder, maar_json_object(decoder, spec, at, "resources"),
                            &resources_at, "requests", true, &pod->pod_level);
    read_containers(decoder, spec, at, "containers", &draft->containers);
    read_containers(decoder, spec, at, "initContainers", &draft->init_containers);
    maar_json_read_affinity(decoder, spec, at, &draft->affinity);
    maar_json_read_spread(decoder, spec, at, &draft->affinity);
    read_tolerations(decoder, spec, at);
    read_volumes(decoder, spec, at, draft);
    read_gates(decoder, spec, at, draft);
    if (json_array_size(maar_json_array(decoder, spec, at, "resourceClaims")) > 0)
        pod->spec.unsupported |= MAAR_UNSUPPORTED_CLAIMS;
}

/* ---- status ---- */

static void read_conditions(struct maar_decoder *decoder, const json_t *status,
                            const struct maar_path *at, struct maar_pod_draft *draft)
{
    const json_t *array = maar_json_array(decoder, status, at, "conditions");
    struct maar_path list = {at, "conditions", 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        if (!maar_pod_wants_condition(maar_json_peek(decoder, item, &here, "type")))
            continue;
        struct maar_condition_record condition = maar_json_condition(decoder, item, &here);
        maar_pod_add_condition(decoder, draft, &condition);
    }
}

static void read_statuses(struct maar_decoder *decoder, const json_t *status,
                          const struct maar_path *at, const char *key, struct maar_pod_draft *draft)
{
    const json_t *array = maar_json_array(decoder, status, at, key);
    struct maar_path list = {at, key, 0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_path there = {&here, "resources", 0};
        const json_t *item = maar_json_item(decoder, array, &list, i);
        const json_t *resources = maar_json_object(decoder, item, &here, "resources");
        struct maar_status_draft *container = maar_pod_add_status(decoder, draft);
        container->name = maar_json_text(decoder, item, &here, "name");
        container->has_resources = resources != NULL;
        (void)maar_json_amounts(decoder, resources, &there, "requests", true, &container->requests);
        (void)maar_json_amounts(decoder, item, &here, "allocatedResources", true,
                                &container->allocated);
    }
}

static void read_status(struct maar_decoder *decoder, const json_t *status,
                        const struct maar_path *at, struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    pod->phase = maar_pod_phase_parse(maar_json_peek(decoder, status, at, "phase"));
    pod->nominated_node = maar_json_text(decoder, status, at, "nominatedNodeName");
    read_conditions(decoder, status, at, draft);
    read_statuses(decoder, status, at, "containerStatuses", draft);
    read_statuses(decoder, status, at, "initContainerStatuses", draft);
}

/* ---- metadata ---- */

static void read_annotations(struct maar_decoder *decoder, const json_t *metadata,
                             const struct maar_path *at, struct maar_pod_draft *draft)
{
    const json_t *map = maar_json_object(decoder, metadata, at, "annotations");
    struct maar_path here = {at, "annotations", 0};
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        if (!maar_pod_wants_annotation(decoder, each.key))
            continue;
        struct maar_path there = {&here, each.key, 0};
        const char *text = maar_json_as_text(decoder, each.value, &there);
        if (text)
            maar_pod_add_annotation(decoder, draft, each.key,
                                    maar_arena_strdup(decoder->arena, text));
    }
}

void maar_json_decode_pod(struct maar_decoder *decoder, const json_t *object)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    struct maar_pod_draft draft = {0};
    struct maar_path metadata_at = {NULL, "metadata", 0};
    struct maar_path spec_at = {NULL, "spec", 0};
    struct maar_path status_at = {NULL, "status", 0};
    const json_t *metadata = json_object_get(object, "metadata");
    int64_t deletion_ns;
    pod->deleting =
        maar_json_time(decoder, metadata, &metadata_at, "deletionTimestamp", &deletion_ns);
    pod->labels = maar_json_labels(decoder, metadata, &metadata_at, "labels", &pod->n_labels);
    read_annotations(decoder, metadata, &metadata_at, &draft);
    read_spec(decoder, maar_json_object(decoder, object, NULL, "spec"), &spec_at, &draft);
    read_status(decoder, maar_json_object(decoder, object, NULL, "status"), &status_at, &draft);
    maar_pod_finish(decoder, &draft);
}
