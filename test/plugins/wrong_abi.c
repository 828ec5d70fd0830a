/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin for an ABI that does not exist yet. */

#include <maar/plugin.h>

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    .abi = MAAR_ABI + 1,
    .size = sizeof(struct maar_plugin),
    .name = "wrong-abi",
};
