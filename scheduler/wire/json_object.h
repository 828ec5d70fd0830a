/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_JSON_OBJECT_H
#define MAAR_WIRE_JSON_OBJECT_H

/* One decoder a kind; the parts of metadata that every kind has are set before. Inside wire/ only.
 */

#include <jansson.h>

#include "wire/decode.h"

void maar_json_decode_node(struct maar_decoder *decoder, const json_t *object);
void maar_json_decode_pod(struct maar_decoder *decoder, const json_t *object);
void maar_json_decode_pod_group(struct maar_decoder *decoder, const json_t *object);
void maar_json_decode_queue(struct maar_decoder *decoder, const json_t *object);
void maar_json_decode_priority_class(struct maar_decoder *decoder, const json_t *object);
void maar_json_decode_namespace(struct maar_decoder *decoder, const json_t *object);

/* spec.subGroupPolicy of a PodGroup. */
void maar_json_read_sub_groups(struct maar_decoder *decoder, const json_t *spec,
                               const struct maar_path *at);

struct maar_condition_record maar_json_condition(struct maar_decoder *decoder, const json_t *item,
                                                 const struct maar_path *at);

#endif
