/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The arena: alignment, zeroing, growth and reset. Runs in the malloc form as well. */

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void arena_destroy_accepts_null(void **state)
{
    (void)state;
    maar_arena_destroy(NULL);
}

static void arena_sizes_are_aligned_zeroed_and_writable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,    1,     15,    16,    17,      100,     4095,
                                   4096, 16383, 16384, 16385, 1 << 20, 10 << 20};
    struct maar_arena *arena = maar_arena_create();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            unsigned char *p = maar_arena_alloc(arena, sizes[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < sizes[i]; k++)
                if (p[k] != 0)
                    fail_msg("size %zu: byte %zu is not zero", sizes[i], k);
            memset(p, 0xee, sizes[i]);
        }
        maar_arena_reset(arena);
    }
    maar_arena_destroy(arena);
}

static void arena_allocations_of_nothing_differ(void **state)
{
    (void)state;
    struct maar_arena *arena = maar_arena_create();
    assert_ptr_not_equal(maar_arena_alloc(arena, 0), maar_arena_alloc(arena, 0));
    maar_arena_destroy(arena);
}

/* Each allocation is filled with a byte of its own; none may disturb another, over several resets.
 */
static void arena_allocations_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 4000 };
    static struct {
        unsigned char *p;
        size_t n;
    } held[N];
    uint64_t seed = 42;
    struct maar_arena *arena = maar_arena_create();
    for (int round = 0; round < 4; round++) {
        size_t total = 0;
        for (size_t i = 0; i < N; i++) {
            uint64_t r = next_random(&seed);
            held[i].n = r % 50 == 0 ? r / 64 % 20000 : r / 64 % 200;
            held[i].p = maar_arena_alloc(arena, held[i].n);
            total += held[i].n;
            for (size_t k = 0; k < held[i].n; k++)
                if (held[i].p[k] != 0)
                    fail_msg("round %d: stale byte", round);
            if (held[i].n)
                memset(held[i].p, (int)(i % 255 + 1), held[i].n);
        }
        assert_int_equal(maar_arena_n_bytes(arena), total);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < held[i].n; k++)
                if (held[i].p[k] != i % 255 + 1)
                    fail_msg("round %d: allocation %zu was overwritten", round, i);
        maar_arena_reset(arena);
        assert_int_equal(maar_arena_n_bytes(arena), 0);
    }
    maar_arena_destroy(arena);
}

static void arena_n_bytes_counts_what_was_asked_for(void **state)
{
    (void)state;
    struct maar_arena *arena = maar_arena_create();
    assert_int_equal(maar_arena_n_bytes(arena), 0);
    (void)maar_arena_alloc(arena, 10);
    (void)maar_arena_calloc(arena, 3, 7);
    (void)maar_arena_strdup(arena, "four");
    assert_int_equal(maar_arena_n_bytes(arena), 10 + 21 + 5);
    maar_arena_destroy(arena);
}

static void arena_copies_text(void **state)
{
    (void)state;
    struct maar_arena *arena = maar_arena_create();
    char source[] = "source";
    char *copy = maar_arena_strdup(arena, source);
    char *part = maar_arena_strndup(arena, source, 3);
    char *bounded = maar_arena_strndup(arena, source, 100);
    char *empty = maar_arena_strdup(arena, "");
    memset(source, 'x', 6);
    assert_string_equal(copy, "source");
    assert_string_equal(part, "sou");
    assert_string_equal(bounded, "source");
    assert_string_equal(empty, "");
    maar_arena_destroy(arena);
}

static void arena_prints_text_of_any_length(void **state)
{
    (void)state;
    struct maar_arena *arena = maar_arena_create();
    static const int widths[] = {0, 1, 254, 255, 256, 257, 5000};
    for (size_t i = 0; i < COUNT(widths); i++) {
        char *text = maar_arena_printf(arena, "%*d|%s", widths[i], 7, "end");
        size_t n = strlen(text);
        assert_int_equal(n, (size_t)(widths[i] > 1 ? widths[i] : 1) + 4);
        assert_string_equal(text + n - 5, "7|end");
    }
    maar_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_destroy_accepts_null),
        cmocka_unit_test(arena_sizes_are_aligned_zeroed_and_writable),
        cmocka_unit_test(arena_allocations_of_nothing_differ),
        cmocka_unit_test(arena_allocations_do_not_overlap),
        cmocka_unit_test(arena_n_bytes_counts_what_was_asked_for),
        cmocka_unit_test(arena_copies_text),
        cmocka_unit_test(arena_prints_text_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
