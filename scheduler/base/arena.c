/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Bump allocation for data that lives as long as one session. Blocks double in size up to a bound;
 * an allocation that would waste most of a block gets one of its own. A reset keeps the largest
 * ordinary block, so that a steady session after the first allocates from warm memory. Fresh blocks
 * come zeroed from calloc, and only the part of a kept block that was handed out before is cleared
 * again. With MAAR_ARENA_MALLOC each allocation is a block. */

#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ALIGNMENT   ((size_t)16)
#define BLOCK_FIRST ((size_t)1024) /* records and writes are many and small */
#define BLOCK_MAX   ((size_t)8 * 1024 * 1024)
#define SIZE_LIMIT  (SIZE_MAX / 4)

struct block {
    struct block *next;
    size_t capacity;
    size_t used;
    size_t dirty; /* bytes from here on are still zero */
    _Alignas(16) unsigned char data[];
};

struct maar_arena {
    struct block *current; /* the block that small allocations come from, NULL before the first */
    struct block *full;    /* spent blocks and those of large allocations */
    size_t next_capacity;
    size_t n_bytes;
};

struct maar_arena *maar_arena_create(void)
{
    struct maar_arena *arena = maar_calloc(1, sizeof *arena);
    arena->next_capacity = BLOCK_FIRST;
    return arena;
}

static struct block *block_create(size_t capacity, struct block *next)
{
    struct block *block = maar_calloc(1, sizeof *block + capacity);
    block->capacity = capacity;
    block->next = next;
    return block;
}

static void blocks_destroy(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

void maar_arena_destroy(struct maar_arena *arena)
{
    if (!arena)
        return;
    blocks_destroy(arena->current);
    blocks_destroy(arena->full);
    free(arena);
}

void maar_arena_reset(struct maar_arena *arena)
{
    blocks_destroy(arena->full);
    arena->full = NULL;
    arena->n_bytes = 0;
    struct block *kept =
        arena->current; /* ordinary blocks only grow, so the current one is the largest */
    if (!kept)
        return;
    if (kept->dirty < kept->used)
        kept->dirty = kept->used;
    kept->used = 0;
}

#ifdef MAAR_ARENA_MALLOC

void *maar_arena_alloc(struct maar_arena *arena, size_t size)
{
    arena->n_bytes += size;
    /* An exact malloc: a byte past the end is in the redzone. */
    arena->full = block_create(size < SIZE_LIMIT ? size : SIZE_LIMIT, arena->full);
    return arena->full->data;
}

#else

/* A block of its own for a large allocation, or a new current block. */
static void *alloc_slow(struct maar_arena *arena, size_t size)
{
    if (size > arena->next_capacity / 4) {
        arena->full = block_create(size, arena->full);
        return arena->full->data;
    }
    if (arena->current) {
        arena->current->next = arena->full;
        arena->full = arena->current;
    }
    arena->current = block_create(arena->next_capacity, NULL);
    if (arena->next_capacity < BLOCK_MAX)
        arena->next_capacity *= 2;
    arena->current->used = size;
    return arena->current->data;
}

void *maar_arena_alloc(struct maar_arena *arena, size_t size)
{
    arena->n_bytes += size;
    if (size > SIZE_LIMIT)
        size = SIZE_LIMIT; /* calloc refuses this and aborts; rounding up below cannot wrap */
    size_t taken = size ? (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1) : ALIGNMENT;
    struct block *block = arena->current;
    if (!block || taken > block->capacity - block->used)
        return alloc_slow(arena, taken);
    unsigned char *p = block->data + block->used;
    if (block->used < block->dirty) {
        size_t stale = block->dirty - block->used;
        memset(p, 0, stale < taken ? stale : taken);
    }
    block->used += taken;
    return p;
}

#endif

void *maar_arena_calloc(struct maar_arena *arena, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        total = SIZE_MAX;
    return maar_arena_alloc(arena, total);
}

char *maar_arena_strdup(struct maar_arena *arena, const char *s)
{
    size_t n = strlen(s);
    return memcpy(maar_arena_alloc(arena, n + 1), s, n);
}

char *maar_arena_strndup(struct maar_arena *arena, const char *s, size_t n)
{
    size_t length = strnlen(s, n);
    return memcpy(maar_arena_alloc(arena, length + 1), s, length);
}

char *maar_arena_printf(struct maar_arena *arena, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return maar_arena_strdup(arena, "");
    char *copy = maar_arena_alloc(arena, (size_t)n + 1);
    if ((size_t)n < sizeof text)
        return memcpy(copy, text, (size_t)n);
    va_start(args, format);
    (void)vsnprintf(copy, (size_t)n + 1, format, args);
    va_end(args);
    return copy;
}

size_t maar_arena_n_bytes(const struct maar_arena *arena)
{
    return arena->n_bytes;
}
