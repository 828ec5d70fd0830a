/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_FRAMES_H
#define MAAR_KUBE_FRAMES_H

/* A watch arrives as a stream that is cut anywhere; this puts its frames together again: lines of JSON, or protobuf
 * messages behind a length of four bytes (big-endian). */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct maar_frames {
    bool protobuf;
    size_t limit;           /* largest frame */
    struct maar_text begun; /* a frame that is not complete yet */
};

/* A negative return ends the stream. */
typedef int (*maar_frame_fn)(void *context, const char *data, size_t n);

void maar_frames_init(struct maar_frames *frames, bool protobuf, size_t limit);
void maar_frames_fini(struct maar_frames *frames);
/* Calls `each` for every frame that the next `n` bytes complete; blank lines are skipped. -EMSGSIZE for a frame
 * above the limit, else what `each` returned. */
int maar_frames_add(struct maar_frames *frames, const char *data, size_t n, maar_frame_fn each,
                    void *context, struct maar_error *err) __attribute__((warn_unused_result));

#endif
