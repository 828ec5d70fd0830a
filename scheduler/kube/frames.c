/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Frames that lie whole in a piece of input are passed on without a copy; only a frame that is cut is gathered. */

#include "kube/frames.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define LENGTH_BYTES 4

void maar_frames_init(struct maar_frames *frames, bool protobuf, size_t limit)
{
    *frames = (struct maar_frames){protobuf, limit, MAAR_TEXT_INIT};
}

void maar_frames_fini(struct maar_frames *frames)
{
    maar_text_fini(&frames->begun);
}

static int too_large(const struct maar_frames *frames, struct maar_error *err)
{
    return maar_error_set(err, -EMSGSIZE, "a watch event is larger than %zu bytes", frames->limit);
}

static int emit_line(const char *data, size_t n, maar_frame_fn each, void *context)
{
    if (n && data[n - 1] == '\r')
        n--;
    return n ? each(context, data, n) : 0;
}

static int add_lines(struct maar_frames *frames, const char *data, size_t n, maar_frame_fn each,
                     void *context, struct maar_error *err)
{
    while (n) {
        const char *end = memchr(data, '\n', n);
        size_t n_line = end ? (size_t)(end - data) : n;
        int r;

        if (frames->begun.n + n_line > frames->limit)
            return too_large(frames, err);
        if (frames->begun.n || !end)
            maar_text_add_n(&frames->begun, data, n_line);
        if (!end)
            return 0;
        if (frames->begun.n) {
            r = emit_line(frames->begun.data, frames->begun.n, each, context);
            maar_text_clear(&frames->begun);
        } else {
            r = emit_line(data, n_line, each, context);
        }
        if (r < 0)
            return r;
        data += n_line + 1;
        n -= n_line + 1;
    }
    return 0;
}

static size_t length_of(const char *data)
{
    uint32_t n = 0;

    for (int i = 0; i < LENGTH_BYTES; i++)
        n = n << 8 | (unsigned char)data[i];
    return n;
}

/* Moves input into the begun frame until it holds `want` bytes; false when the input ends before. */
static bool gather(struct maar_frames *frames, const char **data, size_t *n, size_t want)
{
    size_t missing = want > frames->begun.n ? want - frames->begun.n : 0;
    size_t taken = missing < *n ? missing : *n;

    maar_text_add_n(&frames->begun, *data, taken);
    *data += taken;
    *n -= taken;
    return taken == missing;
}

static int add_messages(struct maar_frames *frames, const char *data, size_t n, maar_frame_fn each,
                        void *context, struct maar_error *err)
{
    while (n) {
        size_t n_message;
        int r;

        if (frames->begun.n == 0 && n >= LENGTH_BYTES) {
            n_message = length_of(data);
            if (n_message > frames->limit)
                return too_large(frames, err);
            if (n - LENGTH_BYTES >= n_message) {
                r = each(context, data + LENGTH_BYTES, n_message);
                if (r < 0)
                    return r;
                data += LENGTH_BYTES + n_message;
                n -= LENGTH_BYTES + n_message;
                continue;
            }
        }
        if (!gather(frames, &data, &n, LENGTH_BYTES))
            return 0;
        n_message = length_of(frames->begun.data);
        if (n_message > frames->limit)
            return too_large(frames, err);
        if (!gather(frames, &data, &n, LENGTH_BYTES + n_message))
            return 0;
        r = each(context, frames->begun.data + LENGTH_BYTES, n_message);
        maar_text_clear(&frames->begun);
        if (r < 0)
            return r;
    }
    return 0;
}

int maar_frames_add(struct maar_frames *frames, const char *data, size_t n, maar_frame_fn each,
                    void *context, struct maar_error *err)
{
    return frames->protobuf ? add_messages(frames, data, n, each, context, err)
                            : add_lines(frames, data, n, each, context, err);
}
