/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The error object: a text of bounded size that grows context from the right to the left, "file:
 * line: fault". Formatting goes through a second buffer because callers may pass the object's own
 * text as an argument. */

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Formats into `text`; what does not fit is cut at a character boundary and marked. */
static void format_text(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void mark_cut(char *text, size_t size)
{
    size_t end = size - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

static void format_text(char *text, size_t size, const char *format, va_list args)
{
    int n = vsnprintf(text, size, format, args);
    if (n < 0)
        (void)snprintf(text, size, "%s", format);
    else if ((size_t)n >= size)
        mark_cut(text, size);
}

int maar_error_set(struct maar_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    format_text(text, sizeof text, format, args);
    va_end(args);
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

int maar_error_wrap(struct maar_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    format_text(text, sizeof text, format, args);
    va_end(args);
    size_t n = strlen(text);
    int more = 0;
    if (err->text[0] != '\0')
        more = snprintf(text + n, sizeof text - n, ": %s", err->text);
    if (more > 0 && (size_t)more >= sizeof text - n)
        mark_cut(text, sizeof text);
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

const char *maar_error_text(const struct maar_error *err)
{
    return err ? err->text : "";
}
