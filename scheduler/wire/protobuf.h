/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_PROTOBUF_H
#define MAAR_WIRE_PROTOBUF_H

/* Reading protobuf messages field by field, without copying: fields that nobody asks for are passed over in one step,
 * whatever their size. A fault (cut off, wrong wire type, NUL in a text) is remembered in the state that all nested
 * messages share and ends every loop, so readers check it once, at the end. Inside wire/ only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/decode.h"

/* Of one object; an API server's own limit is 1.5 to 3 MB. */
#define MAAR_PROTOBUF_OBJECT_MAX ((size_t)8 * 1024 * 1024)

struct maar_pb_state {
    const char *fault; /* NULL while all is well */
};

struct maar_pb {
    const unsigned char *at;
    const unsigned char *end;
    struct maar_pb_state *state;
};

struct maar_pb_field {
    uint32_t number;
    unsigned wire_type;
    uint64_t value;            /* of a varint */
    const unsigned char *data; /* of what has a length */
    size_t n;
    struct maar_pb_state *state;
};

static inline struct maar_pb maar_pb_begin(const void *data, size_t n, struct maar_pb_state *state)
{
    const unsigned char *bytes = data;
    return (struct maar_pb){bytes, n ? bytes + n : bytes, state};
}

/* The next field; false at the end or after a fault, with *ret_field undefined. */
bool maar_pb_next(struct maar_pb *message, struct maar_pb_field *ret_field);

/* False and a fault when the field is a number. */
bool maar_pb_has_bytes(const struct maar_pb_field *field);
/* The field's content as a type; another wire type is a fault and gives an empty value. */
struct maar_pb maar_pb_message(const struct maar_pb_field *field);
int64_t maar_pb_int(const struct maar_pb_field *field);
bool maar_pb_is(const struct maar_pb_field *field, const char *text);
/* A copy in the arena. */
const char *maar_pb_text(const struct maar_pb_field *field, struct maar_arena *arena);
/* A copy in the buffer of a text that has a few known values; a longer one becomes "(long)". */
#define MAAR_PB_WORD_MAX 64u
const char *maar_pb_word(const struct maar_pb_field *field, char buffer[MAAR_PB_WORD_MAX]);

/* Adds an entry of a map<string, string> to labels, unsorted. */
void maar_pb_add_label(struct maar_decoder *decoder, const struct maar_pb_field *field,
                       struct maar_label **labels, uint32_t *n);
/* Adds an entry of a map<string, Quantity>. */
void maar_pb_add_amount(struct maar_decoder *decoder, const struct maar_path *at,
                        const struct maar_pb_field *field, struct maar_amounts_record *amounts,
                        bool is_request);

/* Contents of the kinds. */
void maar_pb_decode_node(struct maar_decoder *decoder, struct maar_pb message);
void maar_pb_decode_pod(struct maar_decoder *decoder, struct maar_pb message);
void maar_pb_decode_namespace(struct maar_decoder *decoder, struct maar_pb message);
/* The parts of metadata that every kind has; false when the field is not one of them. */
bool maar_pb_decode_metadata(struct maar_decoder *decoder, const struct maar_pb_field *field);

#endif
