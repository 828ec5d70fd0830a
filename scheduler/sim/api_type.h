/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_API_TYPE_H
#define MAAR_SIM_API_TYPE_H

/* The kinds of object that the embedded cluster knows by name, as a server's discovery would list
 * them. Any other kind is stored too, with a guessed plural. */

#include <stdbool.h>
#include <stddef.h>

struct maar_api_type {
    const char *api_version; /* "v1", "scheduling.volcano.sh/v1beta1" */
    const char *kind;
    const char *plural;
    const char *singular;
    const char *short_name; /* "" when there is none */
    bool namespaced;
    bool has_status; /* has a status subresource: a plain write leaves the status alone */
    bool custom;     /* a custom resource: no strategic merge patch */
};

size_t maar_api_n_types(void);
const struct maar_api_type *maar_api_type(size_t i);

/* NULL when unknown. */
const struct maar_api_type *maar_api_type_find(const char *api_version, const char *kind);
/* By what a user may call it on a command line: singular, plural or short name, in any case. NULL
 * when unknown. */
const struct maar_api_type *maar_api_type_named(const char *name);
/* The singular name nearest to `name` when it looks like a typing error, else NULL. */
const char *maar_api_type_nearest(const char *name);

#endif
