/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_CONF_CHECK_H
#define MAAR_HOST_CONF_CHECK_H

/* What a scheduler.conf says without effect, or hardly meant so: unknown names and keys, arguments of a wrong type or
 * out of range, plugins that are listed so that their votes do not count. The scheduler tolerates all of it, as
 * Volcano does, and logs it. */

#include "conf/conf.h"
#include "host/registry.h"

/* `text` is "key: what is wrong"; the callee copies it. */
typedef void (*maar_conf_report_fn)(void *context, int line, int column, const char *text);

/* Reports the warnings of reading (not its errors) and what shows only beside the modules. */
void maar_conf_check(const struct maar_conf *conf, const struct maar_registry *registry,
                     maar_conf_report_fn report, void *context);

#endif
