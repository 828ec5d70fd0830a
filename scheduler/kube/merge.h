/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_MERGE_H
#define MAAR_KUBE_MERGE_H

/* Patches applied on our side, for users who may PUT but not PATCH. */

#include <jansson.h>
#include <stdbool.h>

/* Applies a JSON merge patch (RFC 7386) to `target`. With `by_type`, arrays named "conditions" merge by their
 * elements' "type", as a strategic merge patch does. Both stay the caller's. */
void maar_kube_merge(json_t *target, const json_t *patch, bool by_type);

#endif
