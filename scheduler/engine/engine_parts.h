/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_ENGINE_PARTS_H
#define MAAR_ENGINE_ENGINE_PARTS_H

/* What the engine lends to those who explain it. */

#include "engine/engine.h"
#include "session/session.h"

/* Every initial list is in. */
bool maar_engine_is_synced(const struct maar_engine *engine);
/* Opens a session that only looks, to be ended by maar_session_leave and maar_session_fini. */
void maar_engine_look(struct maar_engine *engine, struct maar_session *session);

#endif
