/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A pod from protobuf; field numbers as in generated.proto of k8s.io/api/core/v1. Fields may come in any order and
 * split a message in parts, as protobuf allows; what depends on other fields waits in the draft. */

#include "wire/protobuf.h"

#include <string.h>

#include "wire/pod_draft.h"
#include "wire/protobuf_affinity.h"

enum {
    METADATA_DELETION_TIMESTAMP = 9,
    METADATA_LABELS = 11,
    METADATA_ANNOTATIONS = 12,

    POD_METADATA = 1,
    POD_SPEC = 2,
    POD_STATUS = 3,

    SPEC_VOLUMES = 1,
    SPEC_CONTAINERS = 2,
    SPEC_NODE_SELECTOR = 7,
    SPEC_NODE_NAME = 10,
    SPEC_HOST_NETWORK = 11,
    SPEC_AFFINITY = 18,
    SPEC_SCHEDULER_NAME = 19,
    SPEC_INIT_CONTAINERS = 20,
    SPEC_TOLERATIONS = 22,
    SPEC_PRIORITY_CLASS_NAME = 24,
    SPEC_PRIORITY = 25,
    SPEC_PREEMPTION_POLICY = 31,
    SPEC_OVERHEAD = 32,
    SPEC_TOPOLOGY_SPREAD_CONSTRAINTS = 33,
    SPEC_SCHEDULING_GATES = 38,
    SPEC_RESOURCE_CLAIMS = 39,
    SPEC_RESOURCES = 40,

    CONTAINER_NAME = 1,
    CONTAINER_IMAGE = 2,
    CONTAINER_PORTS = 6,
    CONTAINER_RESOURCES = 8,
    CONTAINER_RESTART_POLICY = 24,

    PORT_HOST_PORT = 2,
    PORT_CONTAINER_PORT = 3,
    PORT_PROTOCOL = 4,
    PORT_HOST_IP = 5,

    RESOURCES_REQUESTS = 2,

    TOLERATION_KEY = 1,
    TOLERATION_OPERATOR = 2,
    TOLERATION_VALUE = 3,
    TOLERATION_EFFECT = 4,

    VOLUME_SOURCE = 2,
    SOURCE_PERSISTENT_CLAIM = 10,
    SOURCE_EPHEMERAL = 29,
    SOURCE_IMAGE = 30,

    IMAGE_REFERENCE = 1,

    GATE_NAME = 1,

    STATUS_PHASE = 1,
    STATUS_CONDITIONS = 2,
    STATUS_CONTAINER_STATUSES = 8,
    STATUS_INIT_CONTAINER_STATUSES = 10,
    STATUS_NOMINATED_NODE_NAME = 11,

    CONTAINER_STATUS_NAME = 1,
    CONTAINER_STATUS_ALLOCATED = 10,
    CONTAINER_STATUS_RESOURCES = 11,

    CONDITION_TYPE = 1,
    CONDITION_STATUS = 2,
    CONDITION_REASON = 5,
    CONDITION_MESSAGE = 6,
};

static const struct maar_path spec_at = {NULL, "spec", 0};
static const struct maar_path status_at = {NULL, "status", 0};

/* ---- containers ---- */

static void read_port(struct maar_decoder *decoder, struct maar_pb message,
                      struct maar_port_draft *port)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case PORT_HOST_PORT:
            port->host_port = (int32_t)maar_pb_int(&field);
            break;
        case PORT_CONTAINER_PORT:
            port->container_port = (int32_t)maar_pb_int(&field);
            break;
        case PORT_PROTOCOL:
            port->port.protocol = maar_pb_text(&field, decoder->arena);
            break;
        case PORT_HOST_IP:
            port->port.host_ip = maar_pb_text(&field, decoder->arena);
            break;
        default:
            break;
        }
    }
}

static void read_requests(struct maar_decoder *decoder, const struct maar_path *at,
                          struct maar_pb message, struct maar_amounts_record *requests)
{
    struct maar_path resources_at = {at, "resources", 0};
    struct maar_path here = {&resources_at, "requests", 0};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (field.number == RESOURCES_REQUESTS)
            maar_pb_add_amount(decoder, &here, &field, requests, true);
}

static void read_container(struct maar_decoder *decoder, struct maar_pb message, const char *key,
                           struct maar_containers_draft *containers)
{
    struct maar_path list = {&spec_at, key, 0};
    struct maar_path here = {&list, NULL, containers->n};
    struct maar_container_draft *container = maar_containers_add(decoder, &list, containers);
    if (!container)
        return;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case CONTAINER_NAME:
            container->name = maar_pb_text(&field, decoder->arena);
            break;
        case CONTAINER_IMAGE:
            container->image = maar_pb_text(&field, decoder->arena);
            break;
        case CONTAINER_PORTS:
            read_port(decoder, maar_pb_message(&field),
                      maar_container_add_port(decoder, container));
            break;
        case CONTAINER_RESOURCES:
            read_requests(decoder, &here, maar_pb_message(&field), &container->record.requests);
            break;
        case CONTAINER_RESTART_POLICY:
            container->record.restart_always = maar_pb_is(&field, "Always");
            break;
        default:
            break;
        }
    }
}

/* ---- the rest of the spec ---- */

static struct maar_toleration read_toleration(struct maar_decoder *decoder, struct maar_pb message)
{
    char word[MAAR_PB_WORD_MAX];
    struct maar_toleration toleration = {"", "", MAAR_TOLERATION_EQUAL, MAAR_EFFECT_ANY};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case TOLERATION_KEY:
            toleration.key = maar_pb_text(&field, decoder->arena);
            break;
        case TOLERATION_OPERATOR:
            toleration.op = maar_toleration_operator_parse(maar_pb_word(&field, word));
            break;
        case TOLERATION_VALUE:
            toleration.value = maar_pb_text(&field, decoder->arena);
            break;
        case TOLERATION_EFFECT:
            toleration.effect = maar_toleration_effect_parse(maar_pb_word(&field, word));
            break;
        default:
            break;
        }
    }
    return toleration;
}

static void read_volume_image(struct maar_decoder *decoder, struct maar_pb message,
                              struct maar_pod_draft *draft)
{
    const char *reference = "";
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (field.number == IMAGE_REFERENCE)
            reference = maar_pb_text(&field, decoder->arena);
    maar_pod_add_volume_image(decoder, draft, reference);
}

static void read_volume(struct maar_decoder *decoder, struct maar_pb volume,
                        struct maar_pod_draft *draft)
{
    struct maar_pb_field field;
    while (maar_pb_next(&volume, &field)) {
        if (field.number != VOLUME_SOURCE)
            continue;
        struct maar_pb source = maar_pb_message(&field);
        struct maar_pb_field kind;
        while (maar_pb_next(&source, &kind)) {
            if (kind.number == SOURCE_PERSISTENT_CLAIM || kind.number == SOURCE_EPHEMERAL)
                decoder->record->pod.spec.unsupported |= MAAR_UNSUPPORTED_VOLUMES;
            else if (kind.number == SOURCE_IMAGE)
                read_volume_image(decoder, maar_pb_message(&kind), draft);
        }
    }
}

static void read_gate(struct maar_decoder *decoder, struct maar_pb message,
                      struct maar_pod_draft *draft)
{
    struct maar_pb_field field;
    const char *name = "";
    while (maar_pb_next(&message, &field))
        if (field.number == GATE_NAME)
            name = maar_pb_text(&field, decoder->arena);
    maar_pod_add_gate(decoder, draft, name);
}

/* Lists of the spec that grow while it is read. */
struct lists {
    struct maar_label *node_selector;
    struct maar_toleration *tolerations;
    struct maar_pb_node_terms terms;
};

static void add_toleration(struct maar_decoder *decoder, struct maar_pb message,
                           struct lists *lists)
{
    struct maar_pod_spec *spec = &decoder->record->pod.spec;
    lists->tolerations = maar_decoder_grow(decoder, lists->tolerations, spec->n_tolerations,
                                           sizeof *lists->tolerations);
    lists->tolerations[spec->n_tolerations++] = read_toleration(decoder, message);
}

/* Lists and messages; false when the field is none of them. */
static bool read_spec_part(struct maar_decoder *decoder, const struct maar_pb_field *field,
                           struct maar_pod_draft *draft, struct lists *lists)
{
    static const struct maar_path overhead_at = {&spec_at, "overhead", 0};
    struct maar_pod_record *pod = &decoder->record->pod;
    switch (field->number) {
    case SPEC_VOLUMES:
        read_volume(decoder, maar_pb_message(field), draft);
        return true;
    case SPEC_CONTAINERS:
        read_container(decoder, maar_pb_message(field), "containers", &draft->containers);
        return true;
    case SPEC_INIT_CONTAINERS:
        read_container(decoder, maar_pb_message(field), "initContainers", &draft->init_containers);
        return true;
    case SPEC_NODE_SELECTOR:
        maar_pb_add_label(decoder, field, &lists->node_selector, &pod->spec.n_node_selector);
        return true;
    case SPEC_AFFINITY:
        maar_pb_read_affinity(decoder, maar_pb_message(field), &lists->terms, &draft->affinity);
        return true;
    case SPEC_TOLERATIONS:
        add_toleration(decoder, maar_pb_message(field), lists);
        return true;
    case SPEC_TOPOLOGY_SPREAD_CONSTRAINTS:
        maar_pb_read_spread(decoder, maar_pb_message(field), &draft->affinity);
        return true;
    case SPEC_OVERHEAD:
        maar_pb_add_amount(decoder, &overhead_at, field, &pod->overhead, true);
        return true;
    case SPEC_SCHEDULING_GATES:
        read_gate(decoder, maar_pb_message(field), draft);
        return true;
    case SPEC_RESOURCES:
        read_requests(decoder, &spec_at, maar_pb_message(field), &pod->pod_level);
        return true;
    default:
        return false;
    }
}

static void read_spec_value(struct maar_decoder *decoder, const struct maar_pb_field *field,
                            struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    switch (field->number) {
    case SPEC_NODE_NAME:
        pod->node_name = maar_pb_text(field, decoder->arena);
        break;
    case SPEC_HOST_NETWORK:
        draft->host_network = maar_pb_int(field) != 0;
        break;
    case SPEC_SCHEDULER_NAME:
        pod->spec.scheduler_name = maar_pb_text(field, decoder->arena);
        break;
    case SPEC_PRIORITY_CLASS_NAME:
        pod->spec.priority_class = maar_pb_text(field, decoder->arena);
        break;
    case SPEC_PRIORITY:
        pod->has_priority = true;
        pod->priority = (int32_t)maar_pb_int(field);
        break;
    case SPEC_PREEMPTION_POLICY:
        pod->spec.preemption_policy = maar_pb_text(field, decoder->arena);
        break;
    case SPEC_RESOURCE_CLAIMS:
        pod->spec.unsupported |= MAAR_UNSUPPORTED_CLAIMS;
        break;
    default:
        break;
    }
}

static void read_spec(struct maar_decoder *decoder, struct maar_pb message,
                      struct maar_pod_draft *draft, struct lists *lists)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (!read_spec_part(decoder, &field, draft, lists))
            read_spec_value(decoder, &field, draft);
}

/* ---- status ---- */

static void read_condition(struct maar_decoder *decoder, struct maar_pb message,
                           struct maar_pod_draft *draft)
{
    char type[MAAR_PB_WORD_MAX];
    struct maar_pb_field parts[CONDITION_MESSAGE + 1] = {0};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (field.number <= CONDITION_MESSAGE)
            parts[field.number] = field;
    const struct maar_pb_field *kind = &parts[CONDITION_TYPE];
    if (!kind->state || !maar_pod_wants_condition(maar_pb_word(kind, type)))
        return;
    const char *texts[CONDITION_MESSAGE + 1] = {0};
    for (unsigned i = CONDITION_TYPE; i <= CONDITION_MESSAGE; i++)
        texts[i] = "";
    static const unsigned wanted[] = {CONDITION_TYPE, CONDITION_STATUS, CONDITION_REASON,
                                      CONDITION_MESSAGE};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (parts[wanted[i]].state)
            texts[wanted[i]] = maar_pb_text(&parts[wanted[i]], decoder->arena);
    struct maar_condition_record condition = {texts[CONDITION_TYPE], texts[CONDITION_STATUS],
                                              texts[CONDITION_REASON], texts[CONDITION_MESSAGE],
                                              ""};
    maar_pod_add_condition(decoder, draft, &condition);
}

static void read_container_status(struct maar_decoder *decoder, struct maar_pb message,
                                  const char *key, size_t index, struct maar_pod_draft *draft)
{
    struct maar_path list = {&status_at, key, 0};
    struct maar_path here = {&list, NULL, index};
    struct maar_path allocated_at = {&here, "allocatedResources", 0};
    struct maar_status_draft *status = maar_pod_add_status(decoder, draft);
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == CONTAINER_STATUS_NAME) {
            status->name = maar_pb_text(&field, decoder->arena);
        } else if (field.number == CONTAINER_STATUS_ALLOCATED) {
            maar_pb_add_amount(decoder, &allocated_at, &field, &status->allocated, true);
        } else if (field.number == CONTAINER_STATUS_RESOURCES) {
            status->has_resources = true;
            read_requests(decoder, &here, maar_pb_message(&field), &status->requests);
        }
    }
}

static void read_status(struct maar_decoder *decoder, struct maar_pb message,
                        struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    char word[MAAR_PB_WORD_MAX];
    size_t n_statuses = 0;
    size_t n_init_statuses = 0;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        switch (field.number) {
        case STATUS_PHASE:
            pod->phase = maar_pod_phase_parse(maar_pb_word(&field, word));
            break;
        case STATUS_CONDITIONS:
            read_condition(decoder, maar_pb_message(&field), draft);
            break;
        case STATUS_CONTAINER_STATUSES:
            read_container_status(decoder, maar_pb_message(&field), "containerStatuses",
                                  n_statuses++, draft);
            break;
        case STATUS_INIT_CONTAINER_STATUSES:
            read_container_status(decoder, maar_pb_message(&field), "initContainerStatuses",
                                  n_init_statuses++, draft);
            break;
        case STATUS_NOMINATED_NODE_NAME:
            pod->nominated_node = maar_pb_text(&field, decoder->arena);
            break;
        default:
            break;
        }
    }
}

/* ---- metadata ---- */

static void read_annotation(struct maar_decoder *decoder, const struct maar_pb_field *entry,
                            struct maar_pod_draft *draft)
{
    struct maar_pb message = maar_pb_message(entry);
    struct maar_pb_field key = {0};
    struct maar_pb_field value = {0};
    struct maar_pb_field field;
    char short_key[MAAR_PB_WORD_MAX];
    while (maar_pb_next(&message, &field)) {
        if (field.number == 1)
            key = field;
        else if (field.number == 2)
            value = field;
    }
    if (!key.state)
        return;
    const char *name = key.n < MAAR_PB_WORD_MAX ? maar_pb_word(&key, short_key)
                                                : maar_pb_text(&key, decoder->arena);
    if (maar_pod_wants_annotation(decoder, name))
        maar_pod_add_annotation(decoder, draft, name,
                                value.state ? maar_pb_text(&value, decoder->arena) : "");
}

static void read_metadata(struct maar_decoder *decoder, struct maar_pb message,
                          struct maar_pod_draft *draft)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (maar_pb_decode_metadata(decoder, &field))
            continue;
        if (field.number == METADATA_DELETION_TIMESTAMP)
            pod->deleting = true;
        else if (field.number == METADATA_LABELS)
            maar_pb_add_label(decoder, &field, &pod->labels, &pod->n_labels);
        else if (field.number == METADATA_ANNOTATIONS)
            read_annotation(decoder, &field, draft);
    }
}

void maar_pb_decode_pod(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_pod_record *pod = &decoder->record->pod;
    struct maar_pod_draft draft = {0};
    struct lists lists = {0};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == POD_METADATA)
            read_metadata(decoder, maar_pb_message(&field), &draft);
        else if (field.number == POD_SPEC)
            read_spec(decoder, maar_pb_message(&field), &draft, &lists);
        else if (field.number == POD_STATUS)
            read_status(decoder, maar_pb_message(&field), &draft);
    }
    maar_labels_sort(lists.node_selector, &pod->spec.n_node_selector);
    pod->spec.node_selector = lists.node_selector;
    pod->spec.tolerations = lists.tolerations;
    maar_pod_finish(decoder, &draft);
}
