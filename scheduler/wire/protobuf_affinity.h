/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_PROTOBUF_AFFINITY_H
#define MAAR_WIRE_PROTOBUF_AFFINITY_H

/* The parts of a pod's spec that choose nodes by what is on them. Inside wire/ only. */

#include "wire/affinity_draft.h"
#include "wire/protobuf.h"

/* Terms of node affinity that grow while the pod is read; the record's own are const. */
struct maar_pb_node_terms {
    struct maar_selector_term *required;
    struct maar_preferred_term *preferred;
};

/* A message Affinity, perhaps one of several parts: node affinity into the record, the rest into the draft. */
void maar_pb_read_affinity(struct maar_decoder *decoder, struct maar_pb message,
                           struct maar_pb_node_terms *terms, struct maar_affinity_draft *draft);
/* One message TopologySpreadConstraint. */
void maar_pb_read_spread(struct maar_decoder *decoder, struct maar_pb message,
                         struct maar_affinity_draft *draft);

#endif
