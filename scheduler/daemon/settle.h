/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_SETTLE_H
#define MAAR_DAEMON_SETTLE_H

/* A backend around another one: deltas are handed on when they have settled for a few milliseconds, so that a job of
 * a thousand pods is seen in a few sessions instead of a thousand; writes are counted, and those that fail are
 * logged. */

#include <stddef.h>
#include <stdint.h>

#include "engine/backend.h"

struct maar_settle {
    struct maar_backend inner;
    int64_t quiet_ns;   /* without a delta: settled */
    int64_t longest_ns; /* since the first delta */
    /* Look on, on the engine thread; NULL: nobody does. Deltas are shown before anybody knows of them. */
    void (*on_delta)(void *context, const struct maar_delta *delta);
    void (*on_write)(void *context, const struct maar_write *write);
    void *context;
    /* Submitted since the caller last set them to 0. */
    size_t n_writes[MAAR_N_WRITE_KINDS];
    /* Of the present second. */
    int64_t complained_ns;
    unsigned n_complaints;
};

/* `settle` stays the caller's and lives as long as the result. */
struct maar_backend maar_settle_init(struct maar_settle *settle, struct maar_backend inner,
                                     int64_t longest_ns);

#endif
