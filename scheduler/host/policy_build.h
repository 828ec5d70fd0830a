/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_POLICY_BUILD_H
#define MAAR_HOST_POLICY_BUILD_H

/* From a configuration and the loaded modules to a policy: instances created, tiers wired, actions in order. */

#include "host/registry.h"
#include "session/policy.h"

/* Takes over conf, also when it fails. Unknown plugins are logged and left out, as Volcano does; an unknown action or
 * a plugin that refuses its arguments is an error with file, line and column. */
struct maar_policy *maar_policy_create(const struct maar_registry *registry, struct maar_conf *conf,
                                       struct maar_error *err);
/* Accepts NULL. */
void maar_policy_destroy(struct maar_policy *policy);

#endif
