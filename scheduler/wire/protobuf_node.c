/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Metadata, nodes and namespaces from protobuf; field numbers as in generated.proto of k8s.io/api/core/v1 and
 * k8s.io/apimachinery/pkg/apis/meta/v1. */

#include "wire/protobuf.h"

#include "base/clock.h"

enum {
    METADATA_NAME = 1,
    METADATA_NAMESPACE = 3,
    METADATA_UID = 5,
    METADATA_RESOURCE_VERSION = 6,
    METADATA_CREATION_TIMESTAMP = 8,
    METADATA_LABELS = 11,

    OBJECT_METADATA = 1,

    NODE_SPEC = 2,
    NODE_STATUS = 3,

    NODE_SPEC_UNSCHEDULABLE = 4,
    NODE_SPEC_TAINTS = 5,

    TAINT_KEY = 1,
    TAINT_VALUE = 2,
    TAINT_EFFECT = 3,

    NODE_STATUS_CAPACITY = 1,
    NODE_STATUS_ALLOCATABLE = 2,
    NODE_STATUS_CONDITIONS = 4,
    NODE_STATUS_IMAGES = 8,

    CONDITION_TYPE = 1,
    CONDITION_STATUS = 2,

    IMAGE_NAMES = 1,
    IMAGE_SIZE_BYTES = 2,
};

/* Whole seconds: the API server writes no fraction. An unset time is an empty message. */
static int64_t read_time(struct maar_decoder *decoder, const struct maar_pb_field *field,
                         const struct maar_path *at)
{
    struct maar_pb message = maar_pb_message(field);
    struct maar_pb_field part;
    int64_t ns = 0;
    while (maar_pb_next(&message, &part)) {
        if (part.number == 1 && __builtin_mul_overflow(maar_pb_int(&part), MAAR_SECOND_NS, &ns)) {
            maar_decoder_fault(decoder, at, "is not a time");
            ns = 0;
        }
    }
    return ns;
}

bool maar_pb_decode_metadata(struct maar_decoder *decoder, const struct maar_pb_field *field)
{
    static const struct maar_path metadata_at = {NULL, "metadata", 0};
    static const struct maar_path created_at = {&metadata_at, "creationTimestamp", 0};
    struct maar_record *record = decoder->record;
    switch (field->number) {
    case METADATA_NAME:
        record->name = maar_pb_text(field, decoder->arena);
        return true;
    case METADATA_NAMESPACE:
        if (record->kind == MAAR_KIND_POD)
            record->ns = maar_pb_text(field, decoder->arena);
        return true;
    case METADATA_UID:
        record->uid = maar_pb_text(field, decoder->arena);
        return true;
    case METADATA_RESOURCE_VERSION:
        record->resource_version = maar_pb_text(field, decoder->arena);
        return true;
    case METADATA_CREATION_TIMESTAMP:
        record->created_ns = read_time(decoder, field, &created_at);
        return true;
    default:
        return false;
    }
}

static void read_taint(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_node_record *node = &decoder->record->node;
    char word[MAAR_PB_WORD_MAX];
    struct maar_taint taint = {"", "", MAAR_EFFECT_OTHER};
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == TAINT_KEY)
            taint.key = maar_pb_text(&field, decoder->arena);
        else if (field.number == TAINT_VALUE)
            taint.value = maar_pb_text(&field, decoder->arena);
        else if (field.number == TAINT_EFFECT)
            taint.effect = maar_taint_effect_parse(maar_pb_word(&field, word));
    }
    node->taints = maar_decoder_grow(decoder, node->taints, node->n_taints, sizeof *node->taints);
    node->taints[node->n_taints++] = taint;
}

/* The first condition Ready decides. */
static void read_condition(struct maar_pb message, bool *has_ready, bool *is_ready)
{
    bool is_about_ready = false;
    bool is_true = false;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == CONDITION_TYPE)
            is_about_ready = maar_pb_is(&field, "Ready");
        else if (field.number == CONDITION_STATUS)
            is_true = maar_pb_is(&field, "True");
    }
    if (is_about_ready && !*has_ready) {
        *has_ready = true;
        *is_ready = is_true;
    }
}

/* The size may come before the names or after them. */
static void read_image(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_pb_field field;
    struct maar_pb sizes = message;
    int64_t size = 0;
    while (maar_pb_next(&sizes, &field))
        if (field.number == IMAGE_SIZE_BYTES)
            size = maar_pb_int(&field);
    while (maar_pb_next(&message, &field))
        if (field.number == IMAGE_NAMES)
            maar_node_add_image(decoder, maar_pb_text(&field, decoder->arena), size);
}

static void read_status(struct maar_decoder *decoder, struct maar_pb message,
                        struct maar_amounts_record *capacity)
{
    static const struct maar_path status_at = {NULL, "status", 0};
    static const struct maar_path allocatable_at = {&status_at, "allocatable", 0};
    static const struct maar_path capacity_at = {&status_at, "capacity", 0};
    struct maar_node_record *node = &decoder->record->node;
    bool has_ready = false;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == NODE_STATUS_ALLOCATABLE)
            maar_pb_add_amount(decoder, &allocatable_at, &field, &node->allocatable, false);
        else if (field.number == NODE_STATUS_CAPACITY)
            maar_pb_add_amount(decoder, &capacity_at, &field, capacity, false);
        else if (field.number == NODE_STATUS_CONDITIONS)
            read_condition(maar_pb_message(&field), &has_ready, &node->ready);
        else if (field.number == NODE_STATUS_IMAGES)
            read_image(decoder, maar_pb_message(&field));
    }
}

static void read_spec(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == NODE_SPEC_UNSCHEDULABLE)
            decoder->record->node.unschedulable = maar_pb_int(&field) != 0;
        else if (field.number == NODE_SPEC_TAINTS)
            read_taint(decoder, maar_pb_message(&field));
    }
}

static void read_metadata(struct maar_decoder *decoder, struct maar_pb message,
                          struct maar_label **labels, uint32_t *n_labels)
{
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (!maar_pb_decode_metadata(decoder, &field) && field.number == METADATA_LABELS)
            maar_pb_add_label(decoder, &field, labels, n_labels);
}

void maar_pb_decode_node(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_node_record *node = &decoder->record->node;
    struct maar_amounts_record capacity = {0};
    struct maar_pb_field field;
    node->ready = true;
    while (maar_pb_next(&message, &field)) {
        if (field.number == OBJECT_METADATA)
            read_metadata(decoder, maar_pb_message(&field), &node->labels, &node->n_labels);
        else if (field.number == NODE_SPEC)
            read_spec(decoder, maar_pb_message(&field));
        else if (field.number == NODE_STATUS)
            read_status(decoder, maar_pb_message(&field), &capacity);
    }
    maar_node_finish(decoder, &capacity);
}

void maar_pb_decode_namespace(struct maar_decoder *decoder, struct maar_pb message)
{
    struct maar_namespace_record *space = &decoder->record->space;
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field))
        if (field.number == OBJECT_METADATA)
            read_metadata(decoder, maar_pb_message(&field), &space->labels, &space->n_labels);
    maar_labels_sort(space->labels, &space->n_labels);
}
