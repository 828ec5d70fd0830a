/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_TEXT_H
#define MAAR_BASE_TEXT_H

/* A growing text buffer. `struct maar_text t = MAAR_TEXT_INIT; … maar_text_fini(&t);` */

#include <stdarg.h>
#include <stddef.h>

struct maar_text {
    char *data; /* NUL-terminated; NULL before the first append */
    size_t n;   /* bytes without the NUL */
    size_t capacity;
};

#define MAAR_TEXT_INIT                                                                             \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void maar_text_fini(struct maar_text *text);
void maar_text_clear(struct maar_text *text);
void maar_text_add(struct maar_text *text, const char *s);
void maar_text_add_n(struct maar_text *text, const char *s, size_t n);
void maar_text_add_char(struct maar_text *text, char c);
void maar_text_addf(struct maar_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void maar_text_addv(struct maar_text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* "" when empty, never NULL. */
const char *maar_text_get(const struct maar_text *text);
/* The buffer, the caller's to free; the text is empty afterwards. Never NULL. */
char *maar_text_steal(struct maar_text *text);

/* The nearest of `names` (NULL-terminated) by edit distance when it is close enough to be a likely
 * typing error of `name`, else NULL. */
const char *maar_text_nearest(const char *name, const char *const *names);

#endif
