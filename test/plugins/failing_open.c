/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin that cannot open any session, and so sits each of them out. Its filter would
 * refuse every node: a pod that is placed proves that it was not asked. */

#include <maar/plugin.h>

#include <errno.h>
#include <stdio.h>

static int failing_open(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)self;
    (void)view;
    (void)snprintf(error, n, "the oracle is silent");
    return -EIO;
}

static bool refuse(void *self, const struct maar_view *view, const struct maar_task *task,
                   uint32_t node)
{
    (void)self;
    (void)view;
    (void)task;
    (void)node;
    return true;
}

MAAR_FILTER_EACH(refuse_fit, refuse, MAAR_FIT_NEVER)

static const struct maar_filter filters[] = {{.name = "RefuseAll", .fit = refuse_fit}};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "failing-open",
    .summary = "Cannot open a session.",
    .open = failing_open,
    .hooks = {.filters = filters, .n_filters = 1},
};
