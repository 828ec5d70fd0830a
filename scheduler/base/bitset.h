/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_BITSET_H
#define MAAR_BASE_BITSET_H

/* Fixed-size sets of small integers in 64-bit words; the caller owns the words. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAAR_BITSET_WORDS(n_bits) (((size_t)(n_bits) + 63) / 64)

static inline bool maar_bit_get(const uint64_t *words, size_t i)
{
    return (words[i / 64] >> (i % 64)) & 1;
}

static inline void maar_bit_set(uint64_t *words, size_t i)
{
    words[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void maar_bit_clear(uint64_t *words, size_t i)
{
    words[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The first member at or after `from`, or n_bits. */
size_t maar_bitset_next(const uint64_t *words, size_t n_bits, size_t from);
size_t maar_bitset_count(const uint64_t *words, size_t n_bits);

#endif
