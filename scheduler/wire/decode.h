/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_DECODE_H
#define MAAR_WIRE_DECODE_H

/* What decoding JSON and decoding protobuf share: the record in the making, its faults, and the
 * meaning of the texts in an object. Inside wire/ only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/record.h"
#include "wire/wire.h"

/* More entries than these quarantine the object: nothing real comes near them, and every later step
 * may then be linear in a pod's containers and resources without a hostile object making it slow.
 */
#define MAAR_WIRE_CONTAINERS_MAX 1024u
#define MAAR_WIRE_AMOUNTS_MAX    4096u
/* Of a node with more images (names count) the rest is left out; a kubelet reports the largest 50 first. */
#define MAAR_WIRE_NODE_IMAGES_MAX 1024u

/* Where a value stands in its object: frames on the stack, from the inside out. */
struct maar_path {
    const struct maar_path *parent;
    const char *key; /* NULL: an element of a list */
    size_t index;
};

struct maar_decoder {
    struct maar_record *record;
    struct maar_arena *arena;                /* the record's */
    const struct maar_wire_options *options; /* may be NULL */
    size_t n_amounts;                        /* so far, in all lists */
};

/* The record's fault is "<path>: <text>"; the first one stays. */
void maar_decoder_fault(struct maar_decoder *decoder, const struct maar_path *at,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Room for one more element in an array that grows by doubling: the array, perhaps moved. `n`
 * elements are in use. */
void *maar_decoder_grow(struct maar_decoder *decoder, void *items, uint32_t n, size_t size);

/* Adds name: text to a list of amounts. Names that do not count are dropped; a text that is no
 * quantity is a fault, and so is a negative one when `is_request`. The name is copied. */
void maar_decoder_add_amount(struct maar_decoder *decoder, const struct maar_path *at,
                             struct maar_amounts_record *amounts, const char *name,
                             const char *text, bool is_request);

/* Sorts by key; of equal keys the last one stays. */
void maar_labels_sort(struct maar_label *labels, uint32_t *n);
/* In sorted labels; NULL when absent. */
const char *maar_labels_find(const struct maar_label *labels, uint32_t n, const char *key);

/* Whether the options keep an annotation of the record's kind. */
bool maar_decoder_keeps(const struct maar_decoder *decoder, const char *key);

enum maar_pod_phase maar_pod_phase_parse(const char *text);
enum maar_taint_effect maar_taint_effect_parse(const char *text);
enum maar_taint_effect maar_toleration_effect_parse(const char *text);
enum maar_toleration_operator maar_toleration_operator_parse(const char *text);
/* Sets op (and number) from the operator as written and the key and values that are already there. */
void maar_requirement_finish(struct maar_requirement *requirement, const char *op_text);

/* Go's strconv.ParseInt(text, 10, bits) and ParseBool: false when it would fail. */
bool maar_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret);
bool maar_parse_bool(const char *text, bool *ret);

/* One more image of a node; the name must be the arena's. */
void maar_node_add_image(struct maar_decoder *decoder, const char *name, int64_t size_bytes);
/* A node that reports no allocatable amounts offers its capacity; the API server fills that in,
 * manifests may not. */
void maar_node_finish(struct maar_decoder *decoder, const struct maar_amounts_record *capacity);

#endif
