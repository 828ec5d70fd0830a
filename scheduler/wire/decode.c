/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Faults, amounts, labels and enumerated texts for both decoders, so that an object means the same
 * whichever way it came. */

#include "wire/decode.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/quantity.h"
#include "wire/names.h"

#define GROW_FIRST 4u

static void add_path(struct maar_text *text, const struct maar_path *at)
{
    if (at->parent)
        add_path(text, at->parent);
    if (!at->key)
        maar_text_addf(text, "[%zu]", at->index);
    else if (strpbrk(at->key, "./[]"))
        maar_text_addf(text, "[%.253s]", at->key);
    else
        maar_text_addf(text, "%s%.253s", text->n ? "." : "", at->key);
}

void maar_decoder_fault(struct maar_decoder *decoder, const struct maar_path *at,
                        const char *format, ...)
{
    if (*decoder->record->fault)
        return;
    struct maar_text text = MAAR_TEXT_INIT;
    add_path(&text, at);
    maar_text_add(&text, ": ");
    va_list args;
    va_start(args, format);
    maar_text_addv(&text, format, args);
    va_end(args);
    decoder->record->fault = maar_arena_strndup(decoder->arena, text.data, text.n);
    maar_text_fini(&text);
}

void *maar_decoder_grow(struct maar_decoder *decoder, void *items, uint32_t n, size_t size)
{
    if (n == 0)
        return maar_arena_calloc(decoder->arena, GROW_FIRST, size);
    if (n < GROW_FIRST || (n & (n - 1)) != 0)
        return items;
    void *wider = maar_arena_calloc(decoder->arena, (size_t)n * 2, size);
    memcpy(wider, items, n * size);
    return wider;
}

void maar_decoder_add_amount(struct maar_decoder *decoder, const struct maar_path *at,
                             struct maar_amounts_record *amounts, const char *name,
                             const char *text, bool is_request)
{
    if (!maar_name_is_counted_resource(name))
        return;
    struct maar_path here = {at, name, 0};
    if (decoder->n_amounts == MAAR_WIRE_AMOUNTS_MAX) {
        maar_decoder_fault(decoder, at, "more than %u resource amounts in one object",
                           MAAR_WIRE_AMOUNTS_MAX);
        return;
    }
    struct maar_quantity quantity;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_quantity_parse(text, &quantity, &err) < 0) {
        maar_decoder_fault(decoder, &here, "%s", err.text);
        return;
    }
    int64_t value = strcmp(name, "cpu") == 0 ? maar_quantity_milli_value(&quantity)
                                             : maar_quantity_value(&quantity);
    if (is_request && value < 0) {
        maar_decoder_fault(decoder, &here, "quantity \"%.64s\": must not be negative", text);
        return;
    }
    amounts->items = maar_decoder_grow(decoder, amounts->items, amounts->n, sizeof *amounts->items);
    amounts->items[amounts->n++] =
        (struct maar_amount){maar_arena_strdup(decoder->arena, name), value};
    decoder->n_amounts++;
}

struct ordered_label {
    struct maar_label label;
    uint32_t order;
};

static int by_key_then_order(const void *a, const void *b)
{
    const struct ordered_label *left = a;
    const struct ordered_label *right = b;
    int order = strcmp(left->label.key, right->label.key);
    if (order != 0)
        return order;
    return left->order < right->order ? -1 : 1;
}

void maar_labels_sort(struct maar_label *labels, uint32_t *n)
{
    uint32_t n_sorted = *n > 0 ? 1 : 0;
    while (n_sorted < *n && strcmp(labels[n_sorted - 1].key, labels[n_sorted].key) < 0)
        n_sorted++;
    if (n_sorted == *n)
        return; /* the API server sends maps in order */
    struct ordered_label *ordered = maar_calloc(*n, sizeof *ordered);
    for (uint32_t i = 0; i < *n; i++)
        ordered[i] = (struct ordered_label){labels[i], i};
    qsort(ordered, *n, sizeof *ordered, by_key_then_order);
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < *n; i++) {
        if (n_kept > 0 && strcmp(labels[n_kept - 1].key, ordered[i].label.key) == 0)
            n_kept--;
        labels[n_kept++] = ordered[i].label;
    }
    *n = n_kept;
    free(ordered);
}

const char *maar_labels_find(const struct maar_label *labels, uint32_t n, const char *key)
{
    uint32_t low = 0;
    uint32_t high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(labels[middle].key, key);
        if (order == 0)
            return labels[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool maar_decoder_keeps(const struct maar_decoder *decoder, const char *key)
{
    const struct maar_wire_options *options = decoder->options;
    if (!options)
        return false;
    bool (*keeps)(void *, const char *) = NULL;
    switch (decoder->record->kind) {
    case MAAR_KIND_POD:
        keeps = options->keeps_pod_annotation;
        break;
    case MAAR_KIND_POD_GROUP:
        keeps = options->keeps_group_annotation;
        break;
    case MAAR_KIND_QUEUE:
        keeps = options->keeps_queue_annotation;
        break;
    case MAAR_KIND_NODE:
    case MAAR_KIND_PRIORITY_CLASS:
    case MAAR_KIND_NAMESPACE:
    case MAAR_N_KINDS:
        break;
    }
    return keeps && keeps(options->context, key);
}

/* The index of `text` in a NULL-terminated list, `otherwise` when it is not there. */
static int choose(const char *text, const char *const *names, int otherwise)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return otherwise;
}

enum maar_pod_phase maar_pod_phase_parse(const char *text)
{
    static const char *const names[] = {"Pending", "Running", "Succeeded", "Failed", NULL};
    /* The API server makes every new pod Pending; only a manifest has no phase. */
    if (*text == '\0')
        return MAAR_POD_PENDING;
    return (enum maar_pod_phase)choose(text, names, MAAR_POD_UNKNOWN);
}

enum maar_taint_effect maar_taint_effect_parse(const char *text)
{
    static const char *const names[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    static const enum maar_taint_effect effects[] = {MAAR_EFFECT_NO_SCHEDULE,
                                                     MAAR_EFFECT_PREFER_NO_SCHEDULE,
                                                     MAAR_EFFECT_NO_EXECUTE, MAAR_EFFECT_OTHER};
    return effects[choose(text, names, 3)];
}

enum maar_taint_effect maar_toleration_effect_parse(const char *text)
{
    return *text == '\0' ? MAAR_EFFECT_ANY : maar_taint_effect_parse(text);
}

enum maar_toleration_operator maar_toleration_operator_parse(const char *text)
{
    static const char *const names[] = {"Equal", "Exists", "Lt", "Gt", NULL};
    if (*text == '\0')
        return MAAR_TOLERATION_EQUAL;
    return (enum maar_toleration_operator)choose(text, names, MAAR_TOLERATION_INVALID);
}

static bool are_label_values(const struct maar_requirement *requirement)
{
    for (uint32_t i = 0; i < requirement->n_values; i++)
        if (!maar_name_is_label_value(requirement->values[i]))
            return false;
    return true;
}

/* labels.NewRequirement, and nodeSelectorRequirementsAsFieldSelector for matchFields. */
static bool is_sound(struct maar_requirement *requirement)
{
    if (requirement->is_field)
        return (requirement->op == MAAR_OP_IN || requirement->op == MAAR_OP_NOT_IN) &&
               requirement->n_values == 1;
    if (!maar_name_is_qualified(requirement->key) || !are_label_values(requirement))
        return false;
    switch (requirement->op) {
    case MAAR_OP_IN:
    case MAAR_OP_NOT_IN:
        return requirement->n_values > 0;
    case MAAR_OP_EXISTS:
    case MAAR_OP_DOES_NOT_EXIST:
        return requirement->n_values == 0;
    case MAAR_OP_GT:
    case MAAR_OP_LT:
        return requirement->n_values == 1 &&
               maar_parse_int(requirement->values[0], INT64_MIN, INT64_MAX, &requirement->number);
    case MAAR_OP_INVALID:
        break;
    }
    return false;
}

void maar_requirement_finish(struct maar_requirement *requirement, const char *op_text)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL};
    requirement->op = (enum maar_operator)choose(op_text, names, MAAR_OP_INVALID);
    requirement->number = 0;
    if (!is_sound(requirement))
        requirement->op = MAAR_OP_INVALID;
}

bool maar_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    bool is_negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (*text == '\0')
        return false;
    int64_t value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        int64_t digit = *text - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
            return false;
    }
    if (value < min || value > max)
        return false;
    *ret = value;
    return true;
}

bool maar_parse_bool(const char *text, bool *ret)
{
    static const char *const names[] = {"1", "t", "T",     "true",  "TRUE",  "True", "0",
                                        "f", "F", "false", "FALSE", "False", NULL};
    int i = choose(text, names, -1);
    if (i < 0)
        return false;
    *ret = i < 6;
    return true;
}

void maar_node_add_image(struct maar_decoder *decoder, const char *name, int64_t size_bytes)
{
    struct maar_node_record *node = &decoder->record->node;
    if (node->n_images == MAAR_WIRE_NODE_IMAGES_MAX || !*name)
        return;
    node->images = maar_decoder_grow(decoder, node->images, node->n_images, sizeof *node->images);
    node->images[node->n_images++] =
        (struct maar_image_record){name, size_bytes > 0 ? size_bytes : 0};
}

static int by_image_name(const void *a, const void *b)
{
    const struct maar_image_record *left = a;
    const struct maar_image_record *right = b;
    int order = strcmp(left->name, right->name);
    if (order != 0)
        return order;
    return (left->size_bytes > right->size_bytes) - (left->size_bytes < right->size_bytes);
}

/* Of a name that is there twice the smaller size stays. */
static void sort_images(struct maar_node_record *node)
{
    uint32_t n = 0;
    if (node->n_images > 1)
        qsort(node->images, node->n_images, sizeof *node->images, by_image_name);
    for (uint32_t i = 0; i < node->n_images; i++)
        if (n == 0 || strcmp(node->images[n - 1].name, node->images[i].name) != 0)
            node->images[n++] = node->images[i];
    node->n_images = n;
}

void maar_node_finish(struct maar_decoder *decoder, const struct maar_amounts_record *capacity)
{
    struct maar_node_record *node = &decoder->record->node;
    sort_images(node);
    if (node->allocatable.n == 0)
        node->allocatable = *capacity;
    maar_labels_sort(node->labels, &node->n_labels);
}
