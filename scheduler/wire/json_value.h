/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_JSON_VALUE_H
#define MAAR_WIRE_JSON_VALUE_H

/* Typed access to the members of a JSON object. Absent and null are the same and never a fault; a
 * member of another type is a fault of the record and then counts as absent. `at` is where the
 * object itself stands; `object` may be NULL, which has no members. Inside wire/ only. */

#include <jansson.h>

#include "wire/decode.h"

/* "" when absent; the text is copied into the record's arena. */
const char *maar_json_text(struct maar_decoder *decoder, const json_t *object,
                           const struct maar_path *at, const char *key);
/* The same, borrowed from the tree. */
const char *maar_json_peek(struct maar_decoder *decoder, const json_t *object,
                           const struct maar_path *at, const char *key);
/* True and *ret when it is there and in range. */
bool maar_json_int32(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                     const char *key, int32_t *ret);
bool maar_json_bool(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                    const char *key, bool *ret);
/* RFC 3339, in nanoseconds. */
bool maar_json_time(struct maar_decoder *decoder, const json_t *object, const struct maar_path *at,
                    const char *key, int64_t *ret_ns);
/* NULL when absent. */
const json_t *maar_json_object(struct maar_decoder *decoder, const json_t *object,
                               const struct maar_path *at, const char *key);
const json_t *maar_json_array(struct maar_decoder *decoder, const json_t *object,
                              const struct maar_path *at, const char *key);
/* Element i of an array of objects. */
const json_t *maar_json_item(struct maar_decoder *decoder, const json_t *array,
                             const struct maar_path *at, size_t i);
/* A value that should be a text: NULL and a fault when it is not. Null is "", as Go reads it. */
const char *maar_json_as_text(struct maar_decoder *decoder, const json_t *value,
                              const struct maar_path *at);
/* A map of texts, sorted by key. */
struct maar_label *maar_json_labels(struct maar_decoder *decoder, const json_t *object,
                                    const struct maar_path *at, const char *key, uint32_t *ret_n);
/* A map of quantities (texts or numbers). True when the map is there. */
bool maar_json_amounts(struct maar_decoder *decoder, const json_t *object,
                       const struct maar_path *at, const char *key, bool is_request,
                       struct maar_amounts_record *ret);
/* The members of a map (NULL has none), in its order:
 * `struct maar_json_each each = maar_json_each(map); while (maar_json_next(&each)) … each.key …
 * each.value …`. */
struct maar_json_each {
    json_t *map;
    void *next;
    const char *key;
    const json_t *value;
};
struct maar_json_each maar_json_each(const json_t *map);
bool maar_json_next(struct maar_json_each *each);
/* The text of a quantity, borrowed or in the buffer; NULL when the value is none. Null counts as 0, as
 * resource.Quantity reads it. */
const char *maar_json_quantity_text(const json_t *value, char buffer[32]);
/* The shortest text that reads back as the same double. */
char *maar_json_real_text(double value, char buffer[32]);

#endif
