/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_JSON_AFFINITY_H
#define MAAR_WIRE_JSON_AFFINITY_H

/* The parts of a pod's spec (which stands at `at`) that choose nodes by what is on them. Inside wire/ only. */

#include <jansson.h>

#include "wire/affinity_draft.h"

/* spec.affinity: node affinity into the record, pod affinity and anti-affinity into the draft. */
void maar_json_read_affinity(struct maar_decoder *decoder, const json_t *spec,
                             const struct maar_path *at, struct maar_affinity_draft *draft);
/* spec.topologySpreadConstraints. */
void maar_json_read_spread(struct maar_decoder *decoder, const json_t *spec,
                           const struct maar_path *at, struct maar_affinity_draft *draft);

#endif
