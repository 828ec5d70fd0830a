/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The undo log. Entries are small; saved bytes go to one growing buffer. */

#include "model/undo.h"

void maar_undo_fini(struct maar_undo *undo)
{
    maar_vec_fini(&undo->entries);
    maar_vec_fini(&undo->saved);
}

void maar_undo_bytes(struct maar_undo *undo, void *p, size_t n)
{
    struct maar_undo_entry entry = {.kind = MAAR_UNDO_BYTES};
    entry.bytes.p = p;
    entry.bytes.offset = undo->saved.n;
    entry.bytes.n = n;
    maar_vec_reserve(&undo->saved, undo->saved.n + n);
    memcpy(undo->saved.data + undo->saved.n, p, n);
    undo->saved.n += n;
    maar_vec_push(&undo->entries, entry);
}

void maar_undo_clear(struct maar_undo *undo)
{
    maar_vec_clear(&undo->entries);
    maar_vec_clear(&undo->saved);
}
