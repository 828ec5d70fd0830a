/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_VEC_H
#define MAAR_BASE_VEC_H

/* Growable typed arrays: `MAAR_VEC(struct maar_task *) tasks = {0};` holds data, n, capacity. */

#include <stddef.h>
#include <string.h>

#include "base/memory.h"

#define MAAR_VEC(type)                                                                             \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t n;                                                                                  \
        size_t capacity;                                                                           \
    }

/* Makes room for `want` elements in all. */
#define maar_vec_reserve(v, want)                                                                  \
    do {                                                                                           \
        if ((v)->capacity < (want)) {                                                              \
            size_t maar_vec_c_ = (v)->capacity ? (v)->capacity : 8;                                \
            while (maar_vec_c_ < (want))                                                           \
                maar_vec_c_ *= 2;                                                                  \
            (v)->data = maar_realloc((v)->data, maar_vec_c_, sizeof *(v)->data);                   \
            (v)->capacity = maar_vec_c_;                                                           \
        }                                                                                          \
    } while (0)

#define maar_vec_push(v, value)                                                                    \
    do {                                                                                           \
        maar_vec_reserve(v, (v)->n + 1);                                                           \
        (v)->data[(v)->n++] = (value);                                                             \
    } while (0)

/* Removes element i; the order of the rest stays. */
#define maar_vec_remove(v, i)                                                                      \
    do {                                                                                           \
        size_t maar_vec_i_ = (i);                                                                  \
        memmove(&(v)->data[maar_vec_i_], &(v)->data[maar_vec_i_ + 1],                              \
                ((v)->n - maar_vec_i_ - 1) * sizeof *(v)->data);                                   \
        (v)->n--;                                                                                  \
    } while (0)

#define maar_vec_clear(v) ((void)((v)->n = 0))

#define maar_vec_fini(v)                                                                           \
    do {                                                                                           \
        free((v)->data);                                                                           \
        (v)->data = NULL;                                                                          \
        (v)->n = (v)->capacity = 0;                                                                \
    } while (0)

/* An empty one has no data: nothing may be added to its pointer. */
#define MAAR_VEC_EACH(v, it)                                                                       \
    for ((it) = (v)->data; (it) && (size_t)((it) - (v)->data) < (v)->n; (it)++)

#include <stdlib.h>

#endif
