/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_ACTION_HOST_H
#define MAAR_HOST_ACTION_HOST_H

/* Running the actions of a session. */

#include "session/session.h"

/* Every action of the policy, in order. A statement that an action left open is discarded. */
void maar_host_run_actions(struct maar_session *session);
/* What an invalid gang lacks: "2 of min 3 pods exist"; session's arena. */
const char *maar_host_missing_text(struct maar_session *session, const struct maar_job *job);

#endif
