/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_WARNINGS_H
#define MAAR_CLI_SIMULATE_WARNINGS_H

#include "conf/conf.h"
#include "host/registry.h"
#include "sim/scenario.h"

/* Writes to standard error what of a scheduler.conf has no effect: keys, plugins that are not there, arguments. */
void maar_simulate_warn_conf(const struct maar_conf *conf, const struct maar_registry *registry);
/* And what of a scenario: manifests of kinds that scheduling does not see. */
void maar_simulate_warn_scenario(const struct maar_scenario *scenario);

#endif
