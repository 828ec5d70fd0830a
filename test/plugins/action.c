/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: an action that does nothing. */

#include <maar/action.h>

static void do_nothing(void *session, const struct maar_action_host *host,
                       const struct maar_arguments *arguments)
{
    (void)session;
    (void)host;
    (void)arguments;
}

MAAR_EXPORT const struct maar_action maar_action = {
    MAAR_ACTION_HEADER,
    .name = "idle",
    .summary = "Does nothing.",
    .execute = do_nothing,
};
