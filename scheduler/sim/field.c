// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Positions are looked up only when something is wrong, so reading a sound file costs nothing for them.
#include "sim/field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/quantity.h"
#include "wire/wire.h"

#define MAX_EMBEDDED_LINE 100000 /* further down a text keeps its own lines from there on */

struct maar_field maar_field_key(const struct maar_field *field, const char *key)
{
    struct maar_field child = {.file = field->file, .document = field->document};
    if (strpbrk(key, "./[]"))
        snprintf(child.path, sizeof child.path, "%.180s[%.70s]", field->path, key);
    else
        snprintf(child.path, sizeof child.path, "%.180s%s%.70s", field->path,
                 *field->path ? "." : "", key);
    return child;
}

struct maar_field maar_field_index(const struct maar_field *field, size_t index)
{
    struct maar_field child = {.file = field->file, .document = field->document};
    snprintf(child.path, sizeof child.path, "%.230s[%zu]", field->path, index);
    return child;
}

void maar_field_locate(const struct maar_field *field, int *ret_line, int *ret_column)
{
    *ret_line = *ret_column = 1;
    if (maar_wire_yaml_locate(field->file->text, field->file->n, field->document, field->path,
                              ret_line, ret_column) < 0)
        *ret_line = *ret_column = 1;
}

int maar_field_line(const struct maar_field *field)
{
    int line, column;
    maar_field_locate(field, &line, &column);
    return line;
}

/* Where a line of the text begins, NULL behind the last. */
static const char *find_line(const char *text, size_t n, int line)
{
    for (const char *end = text + n; line > 1 && text; line--) {
        text = memchr(text, '\n', (size_t)(end - text));
        text = text ? text + 1 : NULL;
    }
    return text;
}

/* How many blanks a literal block is indented by: its lines are those of the text with so many in front. -1 when it is
 * no such block. */
static int indentation(const char *block, const char *end, const char *text)
{
    int indent = -1;
    while (*text) {
        size_t n_text = strcspn(text, "\n");
        const char *stop = block < end ? memchr(block, '\n', (size_t)(end - block)) : NULL;
        size_t n = block < end ? (size_t)((stop ? stop : end) - block) : 0;
        if (n_text > 0) {
            if (n < n_text || memcmp(block + n - n_text, text, n_text) != 0)
                return -1;
            if (indent < 0)
                indent = (int)(n - n_text);
            if (n - n_text != (size_t)indent || strspn(block, " ") < (size_t)indent)
                return -1;
        }
        block = stop ? stop + 1 : end;
        text += n_text + (text[n_text] == '\n');
    }
    return indent;
}

char *maar_field_embedded(const struct maar_field *field, const char *text, bool *ret_is_literal)
{
    const struct maar_scenario_file *file = field->file;
    struct maar_text out = MAAR_TEXT_INIT;
    int line = maar_field_line(field);
    const char *block = find_line(file->text, file->n, line + 1);
    int indent = block ? indentation(block, file->text + file->n, text) : -1;
    if (ret_is_literal)
        *ret_is_literal = indent >= 0 && line <= MAX_EMBEDDED_LINE;
    for (int i = 0; i < line && i < MAX_EMBEDDED_LINE; i++)
        maar_text_add_char(&out, '\n');
    while (*text) {
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        for (int i = 0; i < indent && *text != '\n'; i++)
            maar_text_add_char(&out, ' ');
        maar_text_add_n(&out, text, n);
        text += n;
    }
    return maar_text_steal(&out);
}

int maar_field_error(const struct maar_field *field, struct maar_error *err, const char *format,
                     ...)
{
    char text[600];
    int line, column;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    maar_field_locate(field, &line, &column);
    return maar_error_set(err, -EINVAL, "%s:%d:%d: %s%s%s", field->file->path, line, column,
                          field->path, *field->path ? ": " : "", text);
}

const char *maar_field_type_name(const json_t *value)
{
    static const char *const names[] = {"a map",    "a list", "a text", "a number",
                                        "a number", "true",   "false",  "null"};
    return value ? names[json_typeof(value)] : "nothing";
}

/* Reports that map[key] is of another type. */
static int wrong_type(const struct maar_field *field, const char *key, const json_t *value,
                      const char *expected, struct maar_error *err)
{
    struct maar_field child = maar_field_key(field, key);
    return maar_field_error(&child, err, "expected %s, found %s", expected,
                            maar_field_type_name(value));
}

static const json_t *value_of(const json_t *map, const char *key)
{
    const json_t *value = json_object_get(map, key);
    return json_is_null(value) ? NULL : value;
}

int maar_field_check_map(const struct maar_field *field, const json_t *value,
                         const char *const *known, struct maar_error *err)
{
    if (!json_is_object(value))
        return maar_field_error(field, err, "expected a map, found %s",
                                maar_field_type_name(value));
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        bool found = false;
        for (size_t i = 0; known[i] && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (found)
            continue;
        const char *nearest = maar_text_nearest(key, known);
        struct maar_field child = maar_field_key(field, key);
        return maar_field_error(&child, err, "unknown key%s%s%s", nearest ? "; did you mean " : "",
                                nearest ? nearest : "", nearest ? "?" : "");
    }
    return 0;
}

int maar_field_text(const struct maar_field *field, const json_t *map, const char *key,
                    const char **ret, struct maar_error *err)
{
    const json_t *value = value_of(map, key);
    if (!value)
        return 0;
    if (!json_is_string(value))
        return wrong_type(field, key, value, "a text", err);
    *ret = json_string_value(value);
    return 0;
}

int maar_field_name(const struct maar_field *field, const json_t *map, const char *key,
                    const char **ret, struct maar_error *err)
{
    const char *text = NULL;
    int rc = maar_field_text(field, map, key, &text, err);
    if (rc < 0 || !text)
        return rc;
    size_t n = strlen(text);
    if (n == 0 || n > 240 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") != n ||
        text[0] == '-' || text[0] == '.' || text[n - 1] == '-' || text[n - 1] == '.') {
        struct maar_field child = maar_field_key(field, key);
        return maar_field_error(&child, err,
                                "\"%.100s\" is no name: small letters, digits, '-' and '.' only, "
                                "at most 240",
                                text);
    }
    *ret = text;
    return 0;
}

int maar_field_int(const struct maar_field *field, const json_t *map, const char *key, int64_t min,
                   int64_t max, int64_t *ret, struct maar_error *err)
{
    const json_t *value = value_of(map, key);
    if (!value)
        return 0;
    if (!json_is_integer(value))
        return wrong_type(field, key, value, "a whole number", err);
    int64_t number = (int64_t)json_integer_value(value);
    if (number < min || number > max) {
        struct maar_field child = maar_field_key(field, key);
        return maar_field_error(&child, err, "%lld is not between %lld and %lld", (long long)number,
                                (long long)min, (long long)max);
    }
    *ret = number;
    return 0;
}

int maar_field_bool(const struct maar_field *field, const json_t *map, const char *key, bool *ret,
                    struct maar_error *err)
{
    const json_t *value = value_of(map, key);
    if (!value)
        return 0;
    if (!json_is_boolean(value))
        return wrong_type(field, key, value, "true or false", err);
    *ret = json_is_true(value);
    return 0;
}

int maar_field_duration(const struct maar_field *field, const json_t *map, const char *key,
                        int64_t *ret_ns, struct maar_error *err)
{
    const json_t *value = value_of(map, key);
    const char *text = json_string_value(value);
    if (!value)
        return 0;
    if (json_is_integer(value) && json_integer_value(value) == 0)
        text = "0";
    if (!text || maar_duration_parse(text, ret_ns) < 0)
        return wrong_type(field, key, value, "a duration such as 30s or 1m30s", err);
    return 0;
}

int maar_field_map(const struct maar_field *field, const json_t *map, const char *key, json_t **ret,
                   struct maar_error *err)
{
    json_t *value = json_object_get(map, key);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_object(value))
        return wrong_type(field, key, value, "a map", err);
    *ret = value;
    return 0;
}

int maar_field_list(const struct maar_field *field, const json_t *map, const char *key,
                    json_t **ret, struct maar_error *err)
{
    json_t *value = json_object_get(map, key);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_array(value))
        return wrong_type(field, key, value, "a list", err);
    *ret = value;
    return 0;
}

/* Numbers as their shortest text: 0.1 stays "0.1". */
static json_t *scalar_text(const json_t *value)
{
    char buffer[40];
    if (json_is_string(value))
        return json_string(json_string_value(value));
    if (json_is_boolean(value))
        return json_string(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value)) {
        snprintf(buffer, sizeof buffer, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        double number = json_real_value(value);
        snprintf(buffer, sizeof buffer, "%.15g", number);
        if (strtod(buffer, NULL) < number || strtod(buffer, NULL) > number)
            snprintf(buffer, sizeof buffer, "%.17g", number);
    } else {
        return NULL;
    }
    return json_string(buffer);
}

int maar_field_text_map(const struct maar_field *field, const json_t *map, const char *key,
                        json_t **ret, struct maar_error *err)
{
    json_t *value = NULL;
    int rc = maar_field_map(field, map, key, &value, err);
    if (rc < 0 || !value)
        return rc;
    struct maar_field child = maar_field_key(field, key);
    json_t *texts = json_object();
    const char *name;
    json_t *item;
    json_object_foreach (value, name, item) {
        json_t *text = json_is_null(item) ? json_string("") : scalar_text(item);
        if (!text) {
            json_decref(texts);
            return wrong_type(&child, name, item, "a text", err);
        }
        json_object_set_new(texts, name, text);
    }
    *ret = texts;
    return 0;
}

int maar_field_quantity(const struct maar_field *field, const json_t *map, const char *key,
                        json_t **ret, struct maar_error *err)
{
    const json_t *value = value_of(map, key);
    struct maar_quantity quantity;
    struct maar_error inner = MAAR_ERROR_INIT;
    if (!value)
        return 0;
    json_t *text = json_is_boolean(value) ? NULL : scalar_text(value);
    if (!text)
        return wrong_type(field, key, value, "an amount such as 4, 500m or 2Gi", err);
    struct maar_field child = maar_field_key(field, key);
    if (maar_quantity_parse(json_string_value(text), &quantity, &inner) < 0) {
        json_decref(text);
        return maar_field_error(&child, err, "%s", inner.text);
    }
    if (quantity.is_negative) {
        int rc = maar_field_error(&child, err, "%.60s is negative", json_string_value(text));
        json_decref(text);
        return rc;
    }
    *ret = text;
    return 0;
}

int maar_field_amounts(const struct maar_field *field, const json_t *map, const char *key,
                       json_t **ret, struct maar_error *err)
{
    json_t *value = NULL;
    int rc = maar_field_map(field, map, key, &value, err);
    if (rc < 0 || !value)
        return rc;
    struct maar_field child = maar_field_key(field, key);
    json_t *amounts = json_object();
    const char *name;
    json_t *item;
    json_object_foreach (value, name, item) {
        json_t *amount = NULL;
        rc = maar_field_quantity(&child, value, name, &amount, err);
        if (rc < 0) {
            json_decref(amounts);
            return rc;
        }
        if (amount)
            json_object_set_new(amounts, strcmp(name, "gpu") == 0 ? "nvidia.com/gpu" : name,
                                amount);
    }
    if (*ret) {
        json_object_update(*ret, amounts);
        json_decref(amounts);
    } else {
        *ret = amounts;
    }
    return 0;
}
