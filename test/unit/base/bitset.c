/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Bitset walks against bit-by-bit ones. */

#include "base/bitset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void bits_are_set_and_cleared_alone(void **state)
{
    (void)state;
    uint64_t words[3] = {0};
    for (size_t i = 0; i < 192; i++) {
        maar_bit_set(words, i);
        assert_true(maar_bit_get(words, i));
        assert_int_equal(maar_bitset_count(words, 192), 1);
        assert_int_equal(maar_bitset_next(words, 192, 0), i);
        maar_bit_clear(words, i);
        assert_false(maar_bit_get(words, i));
    }
    assert_int_equal(maar_bitset_count(words, 192), 0);
}

static void bitset_words_round_up(void **state)
{
    (void)state;
    assert_int_equal(MAAR_BITSET_WORDS(0), 0);
    assert_int_equal(MAAR_BITSET_WORDS(1), 1);
    assert_int_equal(MAAR_BITSET_WORDS(64), 1);
    assert_int_equal(MAAR_BITSET_WORDS(65), 2);
}

static void bitset_of_no_bits_has_no_member(void **state)
{
    (void)state;
    assert_int_equal(maar_bitset_next(NULL, 0, 0), 0);
    assert_int_equal(maar_bitset_count(NULL, 0), 0);
}

static size_t naive_next(const uint64_t *words, size_t n_bits, size_t from)
{
    while (from < n_bits && !maar_bit_get(words, from))
        from++;
    return from < n_bits ? from : n_bits;
}

/* The words hold members beyond n_bits too: they must not show. */
static void bitset_walks_agree_with_single_bits(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t n_bits = 0; n_bits <= 260; n_bits++) {
        for (uint64_t density = 1; density <= 64; density *= 4) {
            size_t n_words = MAAR_BITSET_WORDS(n_bits);
            /* Exact storage, so that a sanitizer sees a read past the words. */
            uint64_t *words = calloc(n_words ? n_words : 1, sizeof *words);
            assert_non_null(words);
            size_t count = 0;
            for (size_t i = 0; i < n_words * 64; i++)
                if (next_random(&seed) % density == 0) {
                    maar_bit_set(words, i);
                    count += i < n_bits;
                }
            assert_int_equal(maar_bitset_count(words, n_bits), count);
            for (size_t from = 0; from <= n_bits + 2; from++)
                assert_int_equal(maar_bitset_next(words, n_bits, from),
                                 naive_next(words, n_bits, from));
            free(words);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_set_and_cleared_alone),
        cmocka_unit_test(bitset_words_round_up),
        cmocka_unit_test(bitset_of_no_bits_has_no_member),
        cmocka_unit_test(bitset_walks_agree_with_single_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
