/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HEAP_H
#define MAAR_HEAP_H

/* A binary heap of pointers whose order is asked at push and pop only: keys may drift while an element is inside,
 * as shares do. Push and pop sift exactly as Go's container/heap, so that drifting keys give Volcano's order. */

#include <stdbool.h>
#include <stdlib.h>

/* True when l comes out before r. */
typedef bool (*maar_heap_less_fn)(void *context, const void *l, const void *r);

struct maar_heap {
    maar_heap_less_fn less;
    void *context;
    const void **data;
    size_t n;
    size_t capacity;
};

static inline void maar_heap_init(struct maar_heap *heap, maar_heap_less_fn less, void *context)
{
    heap->less = less;
    heap->context = context;
    heap->data = NULL;
    heap->n = heap->capacity = 0;
}

static inline void maar_heap_fini(struct maar_heap *heap)
{
    free((void *)heap->data);
    heap->data = NULL;
    heap->n = heap->capacity = 0;
}

static inline void maar_heap_push(struct maar_heap *heap, const void *item)
{
    if (heap->n == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity * 2 : 16;
        const void **data = (const void **)realloc((void *)heap->data, capacity * sizeof *data);
        if (!data)
            abort();
        heap->data = data;
        heap->capacity = capacity;
    }
    size_t i = heap->n++;
    heap->data[i] = item;
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (!heap->less(heap->context, heap->data[i], heap->data[up]))
            break;
        const void *t = heap->data[i];
        heap->data[i] = heap->data[up];
        heap->data[up] = t;
        i = up;
    }
}

/* The first element, NULL when empty. */
static inline const void *maar_heap_pop(struct maar_heap *heap)
{
    if (heap->n == 0)
        return NULL;
    size_t n = --heap->n;
    const void *top = heap->data[0];
    heap->data[0] = heap->data[n];
    heap->data[n] = top;
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap->less(heap->context, heap->data[child + 1], heap->data[child]))
            child++;
        if (!heap->less(heap->context, heap->data[child], heap->data[i]))
            break;
        const void *t = heap->data[i];
        heap->data[i] = heap->data[child];
        heap->data[child] = t;
        i = child;
    }
    return top;
}

#endif
