/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin that calls a function of the scheduler itself instead of the host table. */

#include <maar/plugin.h>

#include <stddef.h>

void *maar_malloc(size_t size);

static int trespass_open(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)self;
    (void)view;
    (void)error;
    return maar_malloc(n) ? 0 : -1;
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "trespass",
    .open = trespass_open,
};
