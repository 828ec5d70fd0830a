/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_ERROR_H
#define MAAR_BASE_ERROR_H

/* Errors: fallible functions return 0 or a negative errno and describe the fault in a text buffer
 * that the caller owns, usually on its stack. A NULL error object is allowed everywhere. */

#include <stdarg.h>

struct maar_error {
    char text[1024]; /* always NUL-terminated once initialised; "" when nothing went wrong */
};

#define MAAR_ERROR_INIT                                                                            \
    {                                                                                              \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Writes the formatted text and returns `code` (a negative errno), so that a function can report
 * and return in one statement. Texts longer than the buffer end in "...". */
int maar_error_set(struct maar_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<formatted>: " before the text that is there and returns `code`; without a text,
 * "<formatted>" alone. */
int maar_error_wrap(struct maar_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the text, "" for NULL. */
const char *maar_error_text(const struct maar_error *err);

#endif
