/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_UNDO_H
#define MAAR_MODEL_UNDO_H

/* The undo log of a session: ledger moves, phases and saved bytes of plugin rows, undone in reverse order, so that a
 * discarded plan leaves world and plugins as they were, bit for bit. */

#include <stddef.h>
#include <stdint.h>

#include <maar/view.h>

#include "base/vec.h"

enum maar_undo_kind {
    MAAR_UNDO_MOVE,
    MAAR_UNDO_PHASE,
    MAAR_UNDO_BYTES,
};

struct maar_undo_entry {
    enum maar_undo_kind kind;
    uint8_t status;   /* MOVE: the status before; PHASE: the phase before */
    uint32_t node;    /* MOVE: the node before */
    uint32_t node_at; /* MOVE: the place in that node's list */
    union {
        struct maar_task *task;
        struct maar_job *job;
        struct {
            void *p;
            size_t offset; /* into `saved` */
            size_t n;
        } bytes;
    };
};

struct maar_undo {
    MAAR_VEC(struct maar_undo_entry) entries;
    MAAR_VEC(char) saved;
};

void maar_undo_fini(struct maar_undo *undo);
/* Saves n bytes at p. */
void maar_undo_bytes(struct maar_undo *undo, void *p, size_t n);
void maar_undo_clear(struct maar_undo *undo);

#endif
