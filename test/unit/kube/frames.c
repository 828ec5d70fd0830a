/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/frames.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The frames so far, each in brackets. */
static int collect(void *context, const char *data, size_t n)
{
    struct maar_text *out = context;

    maar_text_add_char(out, '[');
    maar_text_add_n(out, data, n);
    maar_text_add_char(out, ']');
    return 0;
}

/* The stream in pieces of every size gives the same frames. */
static void check_cuts(bool protobuf, const char *stream, size_t n, const char *want)
{
    for (size_t piece = 1; piece <= n; piece++) {
        struct maar_frames frames;
        struct maar_text out = MAAR_TEXT_INIT;

        maar_frames_init(&frames, protobuf, 1000);
        for (size_t at = 0; at < n; at += piece)
            assert_int_equal(maar_frames_add(&frames, stream + at, piece < n - at ? piece : n - at,
                                             collect, &out, NULL),
                             0);
        assert_string_equal(maar_text_get(&out), want);
        maar_text_fini(&out);
        maar_frames_fini(&frames);
    }
}

static void lines_are_put_together_however_cut(void **state)
{
    static const char stream[] = "{\"a\":1}\n\r\n\n{\"bb\":22}\r\nx\nrest";

    (void)state;
    check_cuts(false, stream, sizeof stream - 1, "[{\"a\":1}][{\"bb\":22}][x]");
}

static void messages_are_put_together_however_cut(void **state)
{
    static const char stream[] = "\0\0\0\3abc\0\0\0\0\0\0\0\1x\0\0\0\7a\nb\nc\nd\0\0\0\5four";

    (void)state;
    check_cuts(true, stream, sizeof stream - 1, "[abc][][x][a\nb\nc\nd]");
}

static void a_frame_above_the_limit_ends_the_stream(void **state)
{
    static const struct {
        bool protobuf;
        const char *piece;
        size_t n;
        int n_times;
    } rows[] = {
        {false, "12345678901\n", 12, 1},  {false, "1234", 4, 3}, {true, "\0\0\0\13", 4, 1},
        {true, "\xff\xff\xff\xff", 4, 1}, {true, "\x7f", 1, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_frames frames;
        struct maar_text out = MAAR_TEXT_INIT;
        struct maar_error err = MAAR_ERROR_INIT;
        int r = 0;

        maar_frames_init(&frames, rows[i].protobuf, 10);
        for (int k = 0; k < rows[i].n_times && r == 0; k++)
            r = maar_frames_add(&frames, rows[i].piece, rows[i].n, collect, &out, &err);
        assert_int_equal(r, -EMSGSIZE);
        assert_non_null(strstr(err.text, "larger than 10 bytes"));
        assert_int_equal(out.n, 0);
        maar_frames_fini(&frames);
        maar_text_fini(&out);
    }
}

static int refuse(void *context, const char *data, size_t n)
{
    (void)data;
    (void)n;
    ++*(int *)context;
    return -EPIPE;
}

static void a_reader_that_fails_ends_the_stream(void **state)
{
    struct maar_frames frames;
    int n = 0;

    (void)state;
    maar_frames_init(&frames, false, 100);
    assert_int_equal(maar_frames_add(&frames, "a\nb\n", 4, refuse, &n, NULL), -EPIPE);
    assert_int_equal(n, 1);
    maar_frames_fini(&frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_put_together_however_cut),
        cmocka_unit_test(messages_are_put_together_however_cut),
        cmocka_unit_test(a_frame_above_the_limit_ends_the_stream),
        cmocka_unit_test(a_reader_that_fails_ends_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
