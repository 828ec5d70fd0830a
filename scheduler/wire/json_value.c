/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Members of JSON objects with their types checked; each fault names the place and both types. */

#include "wire/json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "a map";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    case JSON_NULL:
        break;
    }
    return "null";
}

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static void type_fault(struct maar_decoder *decoder, const struct maar_path *at,
                       const json_t *value, const char *wanted)
{
    maar_decoder_fault(decoder, at, "is %s, must be %s", type_name(value), wanted);
}

const char *maar_json_as_text(struct maar_decoder *decoder, const json_t *value,
                              const struct maar_path *at)
{
    if (json_is_null(value))
        return "";
    const char *text = json_string_value(value);
    if (!text)
        type_fault(decoder, at, value, "a text");
    return text;
}

const char *maar_json_peek(struct maar_decoder *decoder, const json_t *object,
                           const struct maar_path *at, const char *key)
{
    const json_t *value = member(object, key);
    if (!value)
        return "";
    struct maar_path here = {at, key, 0};
    const char *text = maar_json_as_text(decoder, value, &here);
    return text ? text : "";
}

const char *maar_json_text(struct maar_decoder *decoder, const json_t *object,
                           const struct maar_path *at, const char *key)
{
    const char *text = maar_json_peek(decoder, object, at, key);
    return *text ? maar_arena_strdup(decoder->arena, text) : "";
}

/* Whole reals are taken for integers, as after a trip through YAML. */
static bool as_integer(const json_t *value, int64_t *ret)
{
    if (json_is_integer(value)) {
        *ret = json_integer_value(value);
        return true;
    }
    double real = json_real_value(value);
    if (!json_is_real(value) || real != trunc(real) || fabs(real) > 1e15)
        return false;
    *ret = (int64_t)real;
    return true;
}

bool maar_json_int32(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                     const char *key, int32_t *ret)
{
    const json_t *value = member(object, key);
    if (!value)
        return false;
    struct maar_path here = {at, key, 0};
    int64_t number;
    if (!json_is_number(value)) {
        type_fault(decoder, &here, value, "a number");
        return false;
    }
    if (!as_integer(value, &number) || number < INT32_MIN || number > INT32_MAX) {
        maar_decoder_fault(decoder, &here, "is not an integer of 32 bits");
        return false;
    }
    *ret = (int32_t)number;
    return true;
}

bool maar_json_bool(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                    const char *key, bool *ret)
{
    const json_t *value = member(object, key);
    if (!value)
        return false;
    if (!json_is_boolean(value)) {
        struct maar_path here = {at, key, 0};
        type_fault(decoder, &here, value, "true or false");
        return false;
    }
    *ret = json_is_true(value);
    return true;
}

bool maar_json_time(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                    const char *key, int64_t *ret_ns)
{
    const char *text = maar_json_peek(decoder, object, at, key);
    if (*text == '\0')
        return false;
    if (maar_time_parse(text, ret_ns) < 0) {
        struct maar_path here = {at, key, 0};
        maar_decoder_fault(decoder, &here, "\"%.64s\" is not a time", text);
        return false;
    }
    return true;
}

const json_t *maar_json_object(struct maar_decoder *decoder, const json_t *object,
                               const struct maar_path *at, const char *key)
{
    const json_t *value = member(object, key);
    if (!value || json_is_object(value))
        return value;
    struct maar_path here = {at, key, 0};
    type_fault(decoder, &here, value, "a map");
    return NULL;
}

const json_t *maar_json_array(struct maar_decoder *decoder, const json_t *object,
                              const struct maar_path *at, const char *key)
{
    const json_t *value = member(object, key);
    if (!value || json_is_array(value))
        return value;
    struct maar_path here = {at, key, 0};
    type_fault(decoder, &here, value, "a list");
    return NULL;
}

const json_t *maar_json_item(struct maar_decoder *decoder, const json_t *array,
                             const struct maar_path *at, size_t i)
{
    const json_t *value = json_array_get(array, i);
    if (json_is_object(value))
        return value;
    struct maar_path here = {at, NULL, i};
    type_fault(decoder, &here, value, "a map");
    return NULL;
}

struct maar_json_each maar_json_each(const json_t *map)
{
    /* jansson's iterator wants a mutable object but does not change it. */
    union {
        const json_t *borrowed;
        json_t *map;
    } same = {map};
    return (struct maar_json_each){.map = same.map, .next = json_object_iter(same.map)};
}

bool maar_json_next(struct maar_json_each *each)
{
    if (!each->next)
        return false;
    each->key = json_object_iter_key(each->next);
    each->value = json_object_iter_value(each->next);
    each->next = json_object_iter_next(each->map, each->next);
    return true;
}

struct maar_label *maar_json_labels(struct maar_decoder *decoder, const json_t *object,
                                    const struct maar_path *at, const char *key, uint32_t *ret_n)
{
    const json_t *map = maar_json_object(decoder, object, at, key);
    struct maar_path here = {at, key, 0};
    struct maar_label *labels =
        maar_arena_calloc(decoder->arena, json_object_size(map), sizeof *labels);
    uint32_t n = 0;
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        struct maar_path there = {&here, each.key, 0};
        const char *text = maar_json_as_text(decoder, each.value, &there);
        if (text)
            labels[n++] = (struct maar_label){maar_arena_strdup(decoder->arena, each.key),
                                              maar_arena_strdup(decoder->arena, text)};
    }
    maar_labels_sort(labels, &n);
    *ret_n = n;
    return labels;
}

char *maar_json_real_text(double value, char buffer[32])
{
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(buffer, 32, "%.*g", precision, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}

const char *maar_json_quantity_text(const json_t *value, char buffer[32])
{
    if (json_is_integer(value)) {
        (void)snprintf(buffer, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return buffer;
    }
    if (json_is_real(value))
        return maar_json_real_text(json_real_value(value), buffer);
    return json_is_null(value) ? "0" : json_string_value(value);
}

bool maar_json_amounts(struct maar_decoder *decoder, const json_t *object,
                       const struct maar_path *at, const char *key, bool is_request,
                       struct maar_amounts_record *ret)
{
    const json_t *map = maar_json_object(decoder, object, at, key);
    if (!map)
        return false;
    struct maar_path here = {at, key, 0};
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        char buffer[32];
        const char *text = maar_json_quantity_text(each.value, buffer);
        if (text) {
            maar_decoder_add_amount(decoder, &here, ret, each.key, text, is_request);
        } else {
            struct maar_path there = {&here, each.key, 0};
            type_fault(decoder, &there, each.value, "a quantity");
        }
    }
    return true;
}
