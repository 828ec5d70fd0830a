/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin that is complete but exports its descriptor under another name. */

#include <maar/plugin.h>

extern const struct maar_plugin my_plugin;

MAAR_EXPORT const struct maar_plugin my_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "missing-symbol",
};
