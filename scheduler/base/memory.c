/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Allocation that cannot fail, cleanup attributes and bounded file reading. The daemon keeps no
 * state that the API server does not have, so running out of memory ends the process: a restart is
 * simpler than a half-built cycle. */

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static _Noreturn void out_of_memory(size_t n, size_t size)
{
    (void)fprintf(stderr, "maar: out of memory (%zu times %zu bytes)\n", n, size);
    abort();
}

void *maar_malloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        out_of_memory(1, size);
    return p;
}

void *maar_calloc(size_t n, size_t size)
{
    void *p = n && size ? calloc(n, size) : calloc(1, 1);
    if (!p)
        out_of_memory(n, size);
    return p;
}

void *maar_realloc(void *p, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        out_of_memory(n, size);
    void *moved = realloc(p, total ? total : 1);
    if (!moved)
        out_of_memory(n, size);
    return moved;
}

char *maar_strdup(const char *s)
{
    return maar_strndup(s, strlen(s));
}

char *maar_strndup(const char *s, size_t n)
{
    size_t length = strnlen(s, n);
    char *copy = maar_malloc(length + 1);
    memcpy(copy, s, length);
    copy[length] = '\0';
    return copy;
}

char *maar_asprintf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0 || !text)
        out_of_memory(1, strlen(format));
    return text;
}

void maar_autofree_cleanup(void *pointer_to_pointer)
{
    void *p;
    memcpy(&p, pointer_to_pointer, sizeof p);
    free(p);
}

void maar_autoclose_cleanup(const int *fd)
{
    int saved = errno;
    if (*fd >= 0)
        (void)close(*fd);
    errno = saved;
}

/* What to allocate first: a regular file's size and one byte to notice the end, else a page. */
static size_t first_capacity(int fd, size_t limit)
{
    struct stat st;
    size_t want = 4096;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        want = (uintmax_t)st.st_size < limit ? (size_t)st.st_size + 1 : limit;
    return want < limit ? want : limit;
}

/* Reads to the end of `fd`; the buffer always has room for a byte over the limit and the NUL. */
static int read_all(int fd, size_t limit, char **ret_data, size_t *ret_n)
{
    size_t capacity = first_capacity(fd, limit);
    size_t n = 0;
    maar_autofree char *data = maar_realloc(NULL, capacity + 2, 1);
    for (;;) {
        ssize_t got = read(fd, data + n, capacity + 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        n += (size_t)got;
        if (n > limit)
            return -EFBIG;
        if (n > capacity) {
            capacity = capacity > limit / 2 ? limit : capacity * 2;
            data = maar_realloc(data, capacity + 2, 1);
        }
    }
    data[n] = '\0';
    *ret_data = data;
    *ret_n = n;
    data = NULL;
    return 0;
}

int maar_file_read(const char *path, size_t limit, char **ret_data, size_t *ret_n_bytes,
                   struct maar_error *err)
{
    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    maar_autoclose int opened = -1;
    int fd = STDIN_FILENO;
    if (strcmp(path, "-") != 0) {
        opened = open(path, O_RDONLY | O_CLOEXEC);
        if (opened < 0) {
            int code = -errno;
            return maar_error_set(err, code, "%s: %s", path, strerror(-code));
        }
        fd = opened;
    }
    int rc = read_all(fd, limit, ret_data, ret_n_bytes);
    if (rc == -EFBIG)
        return maar_error_set(err, rc, "%s: larger than %zu bytes", path, limit);
    if (rc < 0)
        return maar_error_set(err, rc, "%s: %s", path, strerror(-rc));
    return 0;
}
