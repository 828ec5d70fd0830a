/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Volcano's FormatResourceNames. */

#include "kubernetes/refusal.h"

#include <stdio.h>

#include <maar/amounts.h>

void maar_refusal_text(char *buffer, size_t n, const char *prefix, const char *verb,
                       uint64_t dims_mask, const struct maar_dims *dims)
{
    int written = snprintf(buffer, n, "%s", prefix);
    const char *separator = ": ";
    MAAR_EACH_DIM(d, dims_mask)
    {
        if (written < 0 || (size_t)written >= n || d >= dims->n)
            return;
        int more = snprintf(buffer + written, n - (size_t)written, "%s%s %s", separator, verb,
                            dims->names[d]);
        written = more < 0 ? more : written + more;
        separator = ", ";
    }
}
