/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_PATCH_H
#define MAAR_SIM_PATCH_H

/* The patch formats of the Kubernetes API. Each makes a new document; target and patch stay as they
 * are. */

#include <jansson.h>

#include "base/error.h"

/* RFC 7396. Never fails. */
json_t *maar_patch_merge(const json_t *target, const json_t *patch);
/* Merge patch that joins the lists of core objects by their merge key (conditions by type,
 * containers by name, …) and knows "$patch": "delete" and "replace". Lists without a merge key are
 * replaced. Never fails. */
json_t *maar_patch_strategic(const json_t *target, const json_t *patch);
/* RFC 6902. -EINVAL when the patch is no list of operations, a path is not there or a test does not
 * hold. */
int maar_patch_json(const json_t *target, const json_t *patch, json_t **ret, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
