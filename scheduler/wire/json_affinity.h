/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_JSON_AFFINITY_H
#define MAAR_WIRE_JSON_AFFINITY_H

/* Label selectors, and the parts of a pod's spec (which stands at `at`) that choose nodes by what is on them. Inside
 * wire/ only. */

#include <jansson.h>

#include "wire/affinity_draft.h"

/* A list of texts. */
struct maar_texts_draft maar_json_texts(struct maar_decoder *decoder, const json_t *object,
                                        const struct maar_path *at, const char *key);
/* A label selector; not set when it is absent. */
void maar_json_selector(struct maar_decoder *decoder, const json_t *object,
                        const struct maar_path *at, const char *key,
                        struct maar_selector_draft *draft);
/* spec.affinity: node affinity into the record, pod affinity and anti-affinity into the draft. */
void maar_json_read_affinity(struct maar_decoder *decoder, const json_t *spec,
                             const struct maar_path *at, struct maar_affinity_draft *draft);
/* spec.topologySpreadConstraints. */
void maar_json_read_spread(struct maar_decoder *decoder, const json_t *spec,
                           const struct maar_path *at, struct maar_affinity_draft *draft);

#endif
