/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A text buffer that doubles, and the search for the name that was probably meant. The distance
 * counts inserted, lost, changed and swapped characters (optimal string alignment) and takes
 * capital and small letters as equal: `enablejoborder` should lead to `enableJobOrder`. */

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NAME_MAX_BYTES 64 /* longer names get no suggestion */

void maar_text_fini(struct maar_text *text)
{
    free(text->data);
    *text = (struct maar_text)MAAR_TEXT_INIT;
}

void maar_text_clear(struct maar_text *text)
{
    text->n = 0;
    if (text->data)
        text->data[0] = '\0';
}

/* Room for `more` bytes and the NUL. */
static void make_room(struct maar_text *text, size_t more)
{
    size_t want;
    if (__builtin_add_overflow(text->n, more, &want) || want > SIZE_MAX / 2 - 1)
        abort();
    want++;
    if (want <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < want)
        capacity *= 2;
    text->data = maar_realloc(text->data, capacity, 1);
    text->capacity = capacity;
}

void maar_text_add(struct maar_text *text, const char *s)
{
    maar_text_add_n(text, s, strlen(s));
}

void maar_text_add_n(struct maar_text *text, const char *s, size_t n)
{
    make_room(text, n);
    if (n)
        memcpy(text->data + text->n, s, n);
    text->n += n;
    text->data[text->n] = '\0';
}

void maar_text_add_char(struct maar_text *text, char c)
{
    maar_text_add_n(text, &c, 1);
}

void maar_text_addf(struct maar_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    maar_text_addv(text, format, args);
    va_end(args);
}

void maar_text_addv(struct maar_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    make_room(text, 0);
    size_t room = text->capacity - text->n;
    int n = vsnprintf(text->data + text->n, room, format, args);
    if (n > 0 && (size_t)n >= room) {
        make_room(text, (size_t)n);
        n = vsnprintf(text->data + text->n, (size_t)n + 1, format, again);
    }
    va_end(again);
    if (n > 0)
        text->n += (size_t)n;
    text->data[text->n] = '\0';
}

const char *maar_text_get(const struct maar_text *text)
{
    return text->data ? text->data : "";
}

char *maar_text_steal(struct maar_text *text)
{
    char *data = text->data ? text->data : maar_strdup("");
    *text = (struct maar_text)MAAR_TEXT_INIT;
    return data;
}

static int fold_case(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Three rows of the alignment table are enough: a swap looks two rows up. */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *up = rows[(i - 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = fold_case(a[i - 1]) == fold_case(b[j - 1]);
            unsigned best = min_of(up[j - 1] + (same ? 0 : 1), min_of(up[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && fold_case(a[i - 1]) == fold_case(b[j - 2]) &&
                fold_case(a[i - 2]) == fold_case(b[j - 1]))
                best = min_of(best, rows[(i + 1) % 3][j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[n_a % 3][n_b];
}

/* How many slips a name of n characters may hold and still be the same word. */
static unsigned slips_allowed(size_t n)
{
    if (n < 3)
        return 0;
    if (n < 6)
        return 1;
    return n < 12 ? 2 : 3;
}

const char *maar_text_nearest(const char *name, const char *const *names)
{
    const char *nearest = NULL;
    size_t n_name = strnlen(name, NAME_MAX_BYTES + 1);
    if (n_name > NAME_MAX_BYTES)
        return NULL;
    unsigned limit = slips_allowed(n_name) + 1;
    for (; *names; names++) {
        size_t n = strnlen(*names, NAME_MAX_BYTES + 1);
        size_t difference = n > n_name ? n - n_name : n_name - n;
        if (n > NAME_MAX_BYTES || difference >= limit)
            continue;
        unsigned distance = edit_distance(name, n_name, *names, n);
        if (distance < limit) {
            limit = distance;
            nearest = *names;
        }
    }
    return nearest;
}
