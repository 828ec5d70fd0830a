/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Whole-word walks over bitsets. Bits at or after n_bits in the last word are ignored, whatever
 * they are. */

#include "base/bitset.h"

size_t maar_bitset_next(const uint64_t *words, size_t n_bits, size_t from)
{
    if (from >= n_bits)
        return n_bits;
    size_t n_words = MAAR_BITSET_WORDS(n_bits);
    size_t at = from / 64;
    uint64_t word = words[at] & (~UINT64_C(0) << (from % 64));
    while (word == 0) {
        if (++at == n_words)
            return n_bits;
        word = words[at];
    }
    size_t found = at * 64 + (size_t)__builtin_ctzll(word);
    return found < n_bits ? found : n_bits;
}

size_t maar_bitset_count(const uint64_t *words, size_t n_bits)
{
    size_t count = 0;
    for (size_t i = 0; i < n_bits / 64; i++)
        count += (size_t)__builtin_popcountll(words[i]);
    if (n_bits % 64)
        count +=
            (size_t)__builtin_popcountll(words[n_bits / 64] & ((UINT64_C(1) << (n_bits % 64)) - 1));
    return count;
}
