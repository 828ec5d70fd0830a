/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Two lists of names, as Volcano registers them. */

#include "conf/volcano.h"

#include <stddef.h>
#include <string.h>

static const char *const plugins[] = {"binpack",
                                      "capacity",
                                      "cdp",
                                      "conformance",
                                      "deviceshare",
                                      "drf",
                                      "extender",
                                      "gang",
                                      "network-topology-aware",
                                      "nodegroup",
                                      "nodeorder",
                                      "numaaware",
                                      "overcommit",
                                      "pdb",
                                      "predicates",
                                      "priority",
                                      "proportion",
                                      "rescheduling",
                                      "resource-strategy-fit",
                                      "resourcequota",
                                      "sla",
                                      "task-topology",
                                      "tdm",
                                      "usage",
                                      NULL};

static const char *const actions[] = {"enqueue", "allocate",    "backfill",    "preempt", "reclaim",
                                      "shuffle", "gangpreempt", "gangreclaim", NULL};

static bool has(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool maar_volcano_has_plugin(const char *name)
{
    return has(plugins, name);
}

bool maar_volcano_has_action(const char *name)
{
    return has(actions, name);
}

const char *const *maar_volcano_plugins(void)
{
    return plugins;
}
