/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SHORTHAND_H
#define MAAR_SIM_SHORTHAND_H

/* The `cluster:` block of a scenario: short entries that stand for whole manifests. */

#include "sim/field.h"

/* Gets each manifest in file order and owns it; `field` is the entry it comes from. */
typedef int (*maar_shorthand_emit_fn)(void *context, const struct maar_field *field,
                                      json_t *manifest, struct maar_error *err);

/* Expands a block. `start_ns` is the time that `created:` counts from. -EINVAL with position and key. */
int maar_shorthand_expand(const struct maar_field *field, const json_t *cluster, int64_t start_ns,
                          maar_shorthand_emit_fn emit, void *context, struct maar_error *err)
    __attribute__((warn_unused_result));

/* Expands ranges in a name, "n[01-16]" → n01 … n16. Calls `each` per name. field NULL: the name is of no file, and
 * errors tell no position. */
typedef int (*maar_shorthand_name_fn)(void *context, const char *name, struct maar_error *err);
int maar_shorthand_names(const struct maar_field *field, const char *pattern,
                         maar_shorthand_name_fn each, void *context, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
