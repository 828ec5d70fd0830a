/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_LABELS_H
#define MAAR_KUBERNETES_LABELS_H

/* Labels and the values of requirements; interned texts. */

#include <maar/view.h>

#include "kubernetes/text.h"

/* The value under the key, NULL without one. */
static inline const char *maar_label_find(const struct maar_label *labels, uint32_t n,
                                          const char *key)
{
    for (uint32_t i = 0; i < n; i++)
        if (labels[i].key == key)
            return labels[i].value;
    return NULL;
}

/* The value is one of those that the requirement names. */
static inline bool maar_requirement_lists(const struct maar_requirement *requirement,
                                          const char *value)
{
    for (uint32_t i = 0; i < requirement->n_values; i++)
        if (maar_text_is(requirement->values[i], value))
            return true;
    return false;
}

#endif
