/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SCALE_H
#define MAAR_SIM_SCALE_H

/* The subresource scale: the replicas of an object as a document of autoscaling/v1, for `kubectl scale`. */

#include "sim/request.h"

bool maar_scale_has(const struct maar_api_type *type);
/* The Scale of an object of such a kind. New. */
json_t *maar_scale_of(const json_t *document);
/* PUT or PATCH of the Scale; answer holds the new one. Returns answer->code. */
int maar_scale_write(struct maar_store *store, const struct maar_api_target *target,
                     const json_t *body, struct maar_answer *answer);

#endif
