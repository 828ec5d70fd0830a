/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin that refuses its arguments whatever they are. */

#include <maar/plugin.h>

#include <errno.h>
#include <stdio.h>

static int crash_create(const struct maar_host *host, const struct maar_arguments *arguments,
                        void **ret_self, char *error, size_t n)
{
    (void)host;
    (void)arguments;
    (void)ret_self;
    (void)snprintf(error, n, "colour: expected a colour that nobody has seen");
    return -EINVAL;
}

static const struct maar_argument arguments[] = {
    {"colour", MAAR_ARGUMENT_STRING, NULL, NULL, "Is never right."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,     .name = "crash-create", .summary = "Cannot be created.",
    .arguments = arguments, .create = crash_create,
};
