/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_VOLCANO_H
#define MAAR_CONF_VOLCANO_H

/* The names that Volcano's own scheduler.conf can hold, whether or not they are available here: a name that Volcano
 * knows is no typing error. */

#include <stdbool.h>

bool maar_volcano_has_plugin(const char *name);
bool maar_volcano_has_action(const char *name);
/* All plugins, NULL-terminated. */
const char *const *maar_volcano_plugins(void);

#endif
