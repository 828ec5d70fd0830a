/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The wire format of protobuf, as far as Kubernetes uses it (no groups). */

#include "wire/protobuf.h"

#include <string.h>

#define NAME_MAX_BYTES                                                                             \
    384u /* longer than any valid resource name; longer ones are copied elsewhere */

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
};

/* What a number has for bytes, so that no pointer is NULL. */
static const unsigned char nothing[1];

static bool fail(struct maar_pb_state *state, const char *fault)
{
    if (!state->fault)
        state->fault = fault;
    return false;
}

static bool read_long_varint(struct maar_pb *message, uint64_t *ret)
{
    uint64_t value = 0;
    const unsigned char *at = message->at;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at == message->end)
            return fail(message->state, "is cut off inside a number");
        unsigned char byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            message->at = at;
            *ret = value;
            return true;
        }
    }
    return fail(message->state, "has a number of more than 64 bits");
}

static inline bool read_varint(struct maar_pb *message, uint64_t *ret)
{
    if (message->at == message->end || *message->at >= 0x80)
        return read_long_varint(message, ret);
    *ret = *message->at++;
    return true;
}

static inline bool read_bytes(struct maar_pb *message, uint64_t n, struct maar_pb_field *field)
{
    if (n > (uint64_t)(message->end - message->at))
        return fail(message->state, "is cut off inside a field");
    field->data = message->at;
    field->n = (size_t)n;
    message->at += n;
    return true;
}

/* What is not bytes. */
static bool read_number(struct maar_pb *message, struct maar_pb_field *field)
{
    struct maar_pb_field skipped;
    field->data = nothing;
    field->n = 0;
    switch (field->wire_type) {
    case WIRE_VARINT:
        return read_varint(message, &field->value);
    case WIRE_FIXED64:
        return read_bytes(message, 8, &skipped);
    case WIRE_FIXED32:
        return read_bytes(message, 4, &skipped);
    default:
        return fail(message->state, "has a field of an unknown wire type");
    }
}

bool maar_pb_next(struct maar_pb *message, struct maar_pb_field *ret_field)
{
    uint64_t key = 0;
    if (message->at == message->end || message->state->fault || !read_varint(message, &key))
        return false;
    if (key < 8 || key >> 3 >= UINT32_C(1) << 29)
        return fail(message->state, "has a field of an impossible number");
    ret_field->number = (uint32_t)(key >> 3);
    ret_field->wire_type = (unsigned)(key & 7);
    ret_field->state = message->state;
    ret_field->value = 0;
    uint64_t n = 0;
    if (ret_field->wire_type != WIRE_BYTES)
        return read_number(message, ret_field);
    return read_varint(message, &n) && read_bytes(message, n, ret_field);
}

bool maar_pb_has_bytes(const struct maar_pb_field *field)
{
    return field->wire_type == WIRE_BYTES ||
           fail(field->state, "has a field of the wrong wire type");
}

static bool has_text(const struct maar_pb_field *field)
{
    return maar_pb_has_bytes(field) &&
           (!memchr(field->data, '\0', field->n) || fail(field->state, "has a NUL in a text"));
}

struct maar_pb maar_pb_message(const struct maar_pb_field *field)
{
    return maar_pb_begin(field->data, maar_pb_has_bytes(field) ? field->n : 0, field->state);
}

int64_t maar_pb_int(const struct maar_pb_field *field)
{
    if (field->wire_type == WIRE_VARINT)
        return (int64_t)field->value;
    (void)fail(field->state, "has a field of the wrong wire type");
    return 0;
}

bool maar_pb_is(const struct maar_pb_field *field, const char *text)
{
    return has_text(field) && field->n == strlen(text) && memcmp(field->data, text, field->n) == 0;
}

const char *maar_pb_text(const struct maar_pb_field *field, struct maar_arena *arena)
{
    if (!has_text(field) || field->n == 0)
        return "";
    return maar_arena_strndup(arena, (const char *)field->data, field->n);
}

const char *maar_pb_word(const struct maar_pb_field *field, char buffer[MAAR_PB_WORD_MAX])
{
    if (!has_text(field))
        return "";
    if (field->n >= MAAR_PB_WORD_MAX)
        return "(long)";
    memcpy(buffer, field->data, field->n);
    buffer[field->n] = '\0';
    return buffer;
}

/* An entry of a map: {key = 1, value = 2}; either may be absent. */
struct entry {
    struct maar_pb_field key;
    struct maar_pb_field value;
};

static struct entry read_entry(const struct maar_pb_field *field)
{
    struct maar_pb message = maar_pb_message(field);
    struct maar_pb_field empty = {
        .wire_type = WIRE_BYTES, .data = field->data, .state = field->state};
    struct entry entry = {empty, empty};
    struct maar_pb_field part;
    while (maar_pb_next(&message, &part)) {
        if (part.number == 1)
            entry.key = part;
        else if (part.number == 2)
            entry.value = part;
    }
    return entry;
}

void maar_pb_add_label(struct maar_decoder *decoder, const struct maar_pb_field *field,
                       struct maar_label **labels, uint32_t *n)
{
    struct entry entry = read_entry(field);
    *labels = maar_decoder_grow(decoder, *labels, *n, sizeof **labels);
    (*labels)[(*n)++] = (struct maar_label){maar_pb_text(&entry.key, decoder->arena),
                                            maar_pb_text(&entry.value, decoder->arena)};
}

/* The text in the buffer, or in the arena when it is long. */
static const char *text_in(const struct maar_pb_field *field, char *buffer, size_t size,
                           struct maar_arena *arena)
{
    if (field->n >= size || !has_text(field))
        return maar_pb_text(field, arena);
    memcpy(buffer, field->data, field->n);
    buffer[field->n] = '\0';
    return buffer;
}

void maar_pb_add_amount(struct maar_decoder *decoder, const struct maar_path *at,
                        const struct maar_pb_field *field, struct maar_amounts_record *amounts,
                        bool is_request)
{
    char name[NAME_MAX_BYTES];
    char text[MAAR_PB_WORD_MAX];
    struct entry entry = read_entry(field);
    struct maar_pb quantity = maar_pb_message(&entry.value);
    struct maar_pb_field string = entry.value;
    string.n = 0;
    struct maar_pb_field part;
    while (maar_pb_next(&quantity, &part))
        if (part.number == 1)
            string = part;
    const char *key = text_in(&entry.key, name, sizeof name, decoder->arena);
    const char *amount = text_in(&string, text, sizeof text, decoder->arena);
    /* Go encodes a zero Quantity that was never set as an empty text. */
    maar_decoder_add_amount(decoder, at, amounts, key, *amount ? amount : "0", is_request);
}
