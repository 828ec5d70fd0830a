/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Logging in klog's form, "I0102 15:04:05.000000    1234 file.c:56] text", local time and the
 * thread's id. A message leaves in one write, so lines of several threads do not mix; control
 * characters become spaces, so that a name from outside cannot fake a second line. */

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define DEBUG_FROM     4

static _Atomic int verbosity_now;

void maar_log_set_verbosity(int verbosity)
{
    atomic_store_explicit(&verbosity_now, verbosity, memory_order_relaxed);
}

int maar_log_verbosity(void)
{
    return atomic_load_explicit(&verbosity_now, memory_order_relaxed);
}

static bool is_shown(enum maar_log_level level)
{
    int verbosity = maar_log_verbosity();
    if (level == MAAR_LOG_ERROR)
        return true;
    return level == MAAR_LOG_DEBUG ? verbosity >= DEBUG_FROM : verbosity >= 0;
}

static size_t write_header(char *line, size_t size, enum maar_log_level level, const char *file,
                           int at)
{
    struct timespec now;
    struct tm tm;
    const char *slash = strrchr(file, '/');
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (!localtime_r(&now.tv_sec, &tm))
        memset(&tm, 0, sizeof tm);
    int n = snprintf(line, size, "%c%02d%02d %02d:%02d:%02d.%06ld %7ld %.128s:%d] ", "EWII"[level],
                     tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                     now.tv_nsec / 1000, (long)syscall(SYS_gettid), slash ? slash + 1 : file, at);
    return n < 0 ? 0 : (size_t)n;
}

static void write_line(const char *line, size_t n)
{
    while (n > 0) {
        ssize_t written = write(STDERR_FILENO, line, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* nowhere left to say so */
        line += written;
        n -= (size_t)written;
    }
}

void maar_log_at(enum maar_log_level level, const char *file, int line, const char *format, ...)
{
    if (!is_shown(level))
        return;
    int saved = errno;
    char text[LINE_MAX_BYTES];
    size_t room = sizeof text - 1; /* for the line's end */
    size_t n_header = write_header(text, room, level, file, line);
    va_list args;
    va_start(args, format);
    errno = saved; /* for %m */
    int n_message = vsnprintf(text + n_header, room - n_header, format, args);
    va_end(args);
    size_t n = n_header + (n_message < 0 ? 0 : (size_t)n_message);
    if (n >= room) {
        n = room - 1;
        text[n - 3] = text[n - 2] = text[n - 1] = '.';
    }
    for (size_t i = n_header; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
    text[n++] = '\n';
    write_line(text, n);
    errno = saved;
}
