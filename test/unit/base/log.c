/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What reaches standard error: levels, klog's header, one line a message. */

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Standard error goes to a file from begin to end, which gives what was written. */
static struct {
    FILE *file;
    int saved;
} capture;

static void capture_begin(void)
{
    capture.file = tmpfile();
    assert_non_null(capture.file);
    capture.saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(capture.file), STDERR_FILENO) >= 0);
}

static size_t capture_end(char *text, size_t size)
{
    (void)dup2(capture.saved, STDERR_FILENO);
    (void)close(capture.saved);
    rewind(capture.file);
    size_t n = fread(text, 1, size - 1, capture.file);
    text[n] = '\0';
    (void)fclose(capture.file);
    return n;
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool is_match = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_match;
}

static void log_verbosity_decides_what_shows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int verbosity;
        const char *want; /* the letters of the lines, in order */
    } rows[] = {
        {"errors only", -1, "E"}, {"default", 0, "EWI"}, {"still no debug", 3, "EWI"},
        {"debug", 4, "EWII"},     {"more", 9, "EWII"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[2048];
        maar_log_set_verbosity(rows[i].verbosity);
        assert_int_equal(maar_log_verbosity(), rows[i].verbosity);
        capture_begin();
        maar_log_error("m");
        maar_log_warning("m");
        maar_log_info("m");
        maar_log_debug("m");
        (void)capture_end(text, sizeof text);
        char letters[8] = "";
        size_t n = 0;
        for (char *line = strtok(text, "\n"); line && n < 7; line = strtok(NULL, "\n"))
            letters[n++] = line[0];
        assert_string_equal(letters, rows[i].want);
    }
    maar_log_set_verbosity(0);
}

static void log_lines_have_the_klog_header(void **state)
{
    (void)state;
    char text[512];
    capture_begin();
    maar_log_at(MAAR_LOG_WARNING, "scheduler/base/some.c", 42, "hello %s", "world");
    (void)capture_end(text, sizeof text);
    if (!matches("^W[01][0-9][0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{6} +[0-9]+ "
                 "some\\.c:42\\] hello world\n$",
                 text))
        fail_msg("%s", text);
}

static void log_message_is_one_line(void **state)
{
    (void)state;
    char text[512];
    capture_begin();
    maar_log_info("a\nb\rc\td\x7f\x1b[31m");
    size_t n = capture_end(text, sizeof text);
    assert_ptr_equal(strchr(text, '\n'), text + n - 1);
    assert_non_null(strstr(text, "] a b c d  [31m\n"));
}

static void log_long_message_is_cut_and_marked(void **state)
{
    (void)state;
    static char text[20000], message[10000];
    memset(message, 'x', sizeof message - 1);
    capture_begin();
    maar_log_info("%s", message);
    size_t n = capture_end(text, sizeof text);
    assert_int_equal(n, 4096 - 1);
    assert_string_equal(text + n - 5, "x...\n");
}

static void log_keeps_errno(void **state)
{
    (void)state;
    char text[512];
    capture_begin();
    errno = ENOENT;
    maar_log_info("%m");
    int after = errno;
    (void)capture_end(text, sizeof text);
    assert_int_equal(after, ENOENT);
    assert_non_null(strstr(text, "No such file or directory"));
}

static void *write_lines(void *letter)
{
    char c;
    memcpy(&c, letter, 1);
    char body[201];
    memset(body, c, 200);
    body[200] = '\0';
    for (int i = 0; i < 200; i++)
        maar_log_info("%s", body);
    return NULL;
}

static void log_lines_of_threads_do_not_mix(void **state)
{
    (void)state;
    static char text[1 << 18];
    char letters[] = "abcd";
    pthread_t threads[4];
    capture_begin();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &letters[i]), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    (void)capture_end(text, sizeof text);
    size_t n_lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n_lines++) {
        const char *body = strstr(line, "] ");
        assert_non_null(body);
        body += 2;
        assert_int_equal(strlen(body), 200);
        assert_int_equal(strspn(body, (char[]){body[0], '\0'}), 200);
    }
    assert_int_equal(n_lines, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_verbosity_decides_what_shows),
        cmocka_unit_test(log_lines_have_the_klog_header),
        cmocka_unit_test(log_message_is_one_line),
        cmocka_unit_test(log_long_message_is_cut_and_marked),
        cmocka_unit_test(log_keeps_errno),
        cmocka_unit_test(log_lines_of_threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
