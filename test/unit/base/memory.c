/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Allocation, cleanup attributes and bounded file reading. */

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void allocations_of_nothing_are_valid(void **state)
{
    (void)state;
    maar_autofree void *a = maar_malloc(0);
    maar_autofree void *b = maar_calloc(0, 8);
    maar_autofree void *c = maar_realloc(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
}

static void calloc_zeroes_and_realloc_keeps(void **state)
{
    (void)state;
    maar_autofree unsigned char *p = maar_calloc(16, 4);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(p[i], 0);
    memset(p, 7, 64);
    p = maar_realloc(p, 1000, 64);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(p[i], 7);
}

static void copies_end_at_the_length_or_the_nul(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input;
        size_t n;
        const char *want;
    } rows[] = {
        {"shorter", "abc", 2, "ab"},
        {"all", "abc", 3, "abc"},
        {"the NUL comes first", "abc", 10, "abc"},
        {"nothing", "abc", 0, ""},
        {"no bound", "abc", SIZE_MAX, "abc"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maar_autofree char *copy = maar_strndup(rows[i].input, rows[i].n);
        assert_string_equal(copy, rows[i].want);
    }
    maar_autofree char *copy = maar_strdup("whole");
    assert_string_equal(copy, "whole");
    maar_autofree char *printed = maar_asprintf("%s-%d", "x", 12);
    assert_string_equal(printed, "x-12");
}

/* Whether `act` ends the process other than by returning. */
static bool dies(void (*act)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static volatile size_t huge = SIZE_MAX / 2 + 2;

static void calloc_huge(void)
{
    free(maar_calloc(huge, 2));
}

static void realloc_huge(void)
{
    free(maar_realloc(NULL, huge, 2));
}

static void sizes_that_wrap_end_the_process(void **state)
{
    (void)state;
    assert_true(dies(calloc_huge));
    assert_true(dies(realloc_huge));
}

static void autoclose_closes_and_keeps_errno(void **state)
{
    (void)state;
    int seen;
    {
        maar_autoclose int fd = open("/dev/null", O_RDONLY);
        maar_autoclose int none = -1;
        assert_true(fd >= 0);
        assert_int_equal(none, -1);
        seen = fd;
        errno = ENOTTY;
    }
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(fcntl(seen, F_GETFD), -1);
}

/* A file of n bytes in a fresh place; its path is the caller's to unlink. */
static void write_file(char path[32], size_t n)
{
    (void)snprintf(path, 32, "/tmp/maar-memory-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < n; i++) {
        char c = (char)('a' + i % 26);
        assert_int_equal(write(fd, &c, 1), 1);
    }
    (void)close(fd);
}

static void file_read_takes_files_up_to_the_limit(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n, limit;
        int want;
    } rows[] = {
        {"empty", 0, 10, 0},
        {"empty, nothing allowed", 0, 0, 0},
        {"under the limit", 9, 10, 0},
        {"at the limit", 10, 10, 0},
        {"over the limit", 11, 10, -EFBIG},
        {"far over the limit", 10000, 10, -EFBIG},
        {"anything over nothing", 1, 0, -EFBIG},
        {"several pages", 10000, 20000, 0},
        {"no limit", 5000, SIZE_MAX, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[32];
        write_file(path, rows[i].n);
        maar_autofree char *data = NULL;
        size_t n = 12345;
        struct maar_error err = MAAR_ERROR_INIT;
        int rc = maar_file_read(path, rows[i].limit, &data, &n, &err);
        (void)unlink(path);
        assert_int_equal(rc, rows[i].want);
        if (rc < 0) {
            assert_null(data);
            assert_int_equal(n, 12345);
            assert_non_null(strstr(err.text, path));
            assert_non_null(strstr(err.text, "larger than"));
            continue;
        }
        assert_int_equal(n, rows[i].n);
        assert_int_equal(strlen(data), n);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(data[k], 'a' + (int)(k % 26));
    }
}

static void file_read_names_the_path_and_the_fault(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int want;
        const char *fault;
    } rows[] = {
        {"/nonexistent/file", -ENOENT, "No such file"},
        {"/", -EISDIR, "directory"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *data = NULL;
        size_t n;
        struct maar_error err = MAAR_ERROR_INIT;
        assert_int_equal(maar_file_read(rows[i].path, 100, &data, &n, &err), rows[i].want);
        assert_null(data);
        assert_memory_equal(err.text, rows[i].path, strlen(rows[i].path));
        assert_non_null(strstr(err.text, rows[i].fault));
    }
}

static void file_read_takes_standard_input_for_a_dash(void **state)
{
    (void)state;
    int ends[2];
    int saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    (void)close(ends[1]);
    (void)dup2(ends[0], STDIN_FILENO);
    (void)close(ends[0]);
    maar_autofree char *data = NULL;
    size_t n = 0;
    int rc = maar_file_read("-", 100, &data, &n, NULL);
    if (saved >= 0) {
        (void)dup2(saved, STDIN_FILENO);
        (void)close(saved);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(n, 5);
    assert_string_equal(data, "piped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_of_nothing_are_valid),
        cmocka_unit_test(calloc_zeroes_and_realloc_keeps),
        cmocka_unit_test(copies_end_at_the_length_or_the_nul),
        cmocka_unit_test(sizes_that_wrap_end_the_process),
        cmocka_unit_test(autoclose_closes_and_keeps_errno),
        cmocka_unit_test(file_read_takes_files_up_to_the_limit),
        cmocka_unit_test(file_read_names_the_path_and_the_fault),
        cmocka_unit_test(file_read_takes_standard_input_for_a_dash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
