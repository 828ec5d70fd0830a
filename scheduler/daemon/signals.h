/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_SIGNALS_H
#define MAAR_DAEMON_SIGNALS_H

/* SIGINT and SIGTERM: the first asks the daemon to stop, the second ends the process with status 1. */

#include <stdbool.h>

#include "base/error.h"

/* Blocks the signals in this thread and those it starts later, and starts a thread that waits for them. Call before
 * any other thread exists. */
int maar_signals_start(struct maar_error *err) __attribute__((warn_unused_result));
/* Called on the signal thread when the first signal has come; NULL: nobody. It may run at once, when the signal came
 * before. */
typedef void (*maar_signals_fn)(void *context);
void maar_signals_on_stop(maar_signals_fn fn, void *context);
/* The first signal has come. From any thread. */
bool maar_signals_stopping(void);

#endif
