/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_ARENA_H
#define MAAR_BASE_ARENA_H

/* Bump allocation with one lifetime. With MAAR_ARENA_MALLOC each allocation is a malloc of its own,
 * so that the sanitizers see overruns. Not thread-safe. */

#include <stddef.h>

struct maar_arena;

struct maar_arena *maar_arena_create(void);
/* Accepts NULL. */
void maar_arena_destroy(struct maar_arena *arena);
/* Forgets every allocation; keeps one block for reuse. */
void maar_arena_reset(struct maar_arena *arena);
/* 16-byte aligned, zeroed. Never NULL; size 0 gives a valid pointer. */
void *maar_arena_alloc(struct maar_arena *arena, size_t size) __attribute__((returns_nonnull));
void *maar_arena_calloc(struct maar_arena *arena, size_t n, size_t size)
    __attribute__((returns_nonnull));
char *maar_arena_strdup(struct maar_arena *arena, const char *s) __attribute__((returns_nonnull));
char *maar_arena_strndup(struct maar_arena *arena, const char *s, size_t n)
    __attribute__((returns_nonnull));
char *maar_arena_printf(struct maar_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
/* Bytes handed out since creation or reset. */
size_t maar_arena_n_bytes(const struct maar_arena *arena);

#endif
