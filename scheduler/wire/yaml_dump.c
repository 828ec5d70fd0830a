/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* JSON values as YAML, through libyaml's emitter: block style, texts quoted only where another reader could take them
 * for something else, texts of several lines as literal blocks. */

#include "wire/wire.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "wire/json_value.h"
#include "wire/yaml_scalar.h"

static int add_output(void *context, unsigned char *data, size_t n)
{
    maar_text_add_n(context, (const char *)data, n);
    return 1;
}

/* libyaml takes texts as mutable bytes and copies them. */
static yaml_char_t *as_bytes(const char *text)
{
    union {
        const char *text;
        yaml_char_t *bytes;
    } same = {text};
    return same.bytes;
}

static void emit_scalar(yaml_emitter_t *emitter, const char *text, bool is_plain,
                        yaml_scalar_style_t style)
{
    yaml_event_t event;
    (void)yaml_scalar_event_initialize(&event, NULL, NULL, as_bytes(text), (int)strlen(text),
                                       is_plain, 1, style);
    (void)yaml_emitter_emit(emitter, &event);
}

static void emit_text(yaml_emitter_t *emitter, const char *text)
{
    if (strchr(text, '\n'))
        emit_scalar(emitter, text, false, YAML_LITERAL_SCALAR_STYLE);
    else if (maar_yaml_is_safe_plain(text))
        emit_scalar(emitter, text, true, YAML_ANY_SCALAR_STYLE);
    else
        emit_scalar(emitter, text, false, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *value);

static void emit_list(yaml_emitter_t *emitter, const json_t *list)
{
    yaml_event_t event;
    (void)yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    (void)yaml_emitter_emit(emitter, &event);
    for (size_t i = 0; i < json_array_size(list); i++)
        emit_value(emitter, json_array_get(list, i));
    (void)yaml_sequence_end_event_initialize(&event);
    (void)yaml_emitter_emit(emitter, &event);
}

static void emit_map(yaml_emitter_t *emitter, const json_t *map)
{
    yaml_event_t event;
    (void)yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    (void)yaml_emitter_emit(emitter, &event);
    struct maar_json_each each = maar_json_each(map);
    while (maar_json_next(&each)) {
        emit_text(emitter, each.key);
        emit_value(emitter, each.value);
    }
    (void)yaml_mapping_end_event_initialize(&event);
    (void)yaml_emitter_emit(emitter, &event);
}

static void emit_value(yaml_emitter_t *emitter, const json_t *value)
{
    char number[32];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        emit_map(emitter, value);
        return;
    case JSON_ARRAY:
        emit_list(emitter, value);
        return;
    case JSON_STRING:
        emit_text(emitter, json_string_value(value));
        return;
    case JSON_INTEGER:
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        emit_scalar(emitter, number, true, YAML_PLAIN_SCALAR_STYLE);
        return;
    case JSON_REAL:
        emit_scalar(emitter, maar_json_real_text(json_real_value(value), number), true,
                    YAML_PLAIN_SCALAR_STYLE);
        return;
    case JSON_TRUE:
        emit_scalar(emitter, "true", true, YAML_PLAIN_SCALAR_STYLE);
        return;
    case JSON_FALSE:
        emit_scalar(emitter, "false", true, YAML_PLAIN_SCALAR_STYLE);
        return;
    case JSON_NULL:
        emit_scalar(emitter, "null", true, YAML_PLAIN_SCALAR_STYLE);
        return;
    }
}

void maar_wire_yaml_dump(const json_t *value, struct maar_text *out)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        return;
    yaml_emitter_set_output(&emitter, add_output, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    (void)yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    (void)yaml_emitter_emit(&emitter, &event);
    (void)yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    (void)yaml_emitter_emit(&emitter, &event);
    emit_value(&emitter, value);
    (void)yaml_document_end_event_initialize(&event, 1);
    (void)yaml_emitter_emit(&emitter, &event);
    (void)yaml_stream_end_event_initialize(&event);
    (void)yaml_emitter_emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
}
