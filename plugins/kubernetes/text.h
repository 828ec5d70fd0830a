/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_TEXT_H
#define MAAR_KUBERNETES_TEXT_H

/* Comparing and reading label values. */

#include <stdbool.h>
#include <stdint.h>

/* Equality of two interned texts; the empty text may also be a literal. */
static inline bool maar_text_is(const char *l, const char *r)
{
    return l == r || (l[0] == '\0' && r[0] == '\0');
}

/* A base-10 int64 with optional sign and nothing else, as strconv.ParseInt reads it. */
static inline bool maar_text_to_int64(const char *text, int64_t *ret_number)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!*text)
        return false;
    int64_t number = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        int digit = *text - '0';
        /* Counts down, since the lowest number has no positive twin. */
        if (__builtin_mul_overflow(number, (int64_t)10, &number) ||
            __builtin_sub_overflow(number, (int64_t)digit, &number))
            return false;
    }
    if (!negative && number == INT64_MIN)
        return false;
    *ret_number = negative ? number : -number;
    return true;
}

#endif
