/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Growing, shifting and the hash of the open-addressing index. The hash folds 64x64-bit products:
 * short keys take two multiplications, longer ones one more for each 16 bytes. It is no
 * cryptographic hash; the process seed keeps names that come from outside from being chosen to
 * collide. */

#include "base/index.h"

#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define SLOTS_FIRST 16

static _Atomic uint64_t process_seed;

static void place(struct maar_index *index, struct maar_index_slot pair)
{
    size_t slot = maar_index_home(index, pair.tag);
    while (index->slots[slot].at)
        slot = maar_index_step(index, slot);
    index->slots[slot] = pair;
}

static void grow(struct maar_index *index)
{
    struct maar_index old = *index;
    index->n_slots = old.n_slots ? old.n_slots * 2 : SLOTS_FIRST;
    index->slots = maar_calloc(index->n_slots, sizeof *index->slots);
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i].at)
            place(index, old.slots[i]);
    free(old.slots);
}

void maar_index_add(struct maar_index *index, uint32_t tag, uint32_t at)
{
    if (index->n >= index->n_slots / 8 * 5)
        grow(index);
    place(index, (struct maar_index_slot){.tag = tag, .at = at});
    index->n++;
}

void maar_index_remove(struct maar_index *index, size_t slot)
{
    size_t mask = index->n_slots - 1;
    size_t next = slot;
    for (;;) {
        next = maar_index_step(index, next);
        if (!index->slots[next].at)
            break;
        /* A pair may move back over the hole unless its home lies after the hole. */
        size_t from_home = (next - maar_index_home(index, index->slots[next].tag)) & mask;
        if (from_home < ((next - slot) & mask))
            continue;
        index->slots[slot] = index->slots[next];
        slot = next;
    }
    index->slots[slot].at = 0;
    index->n--;
}

void maar_index_clear(struct maar_index *index)
{
    if (index->n_slots)
        memset(index->slots, 0, index->n_slots * sizeof *index->slots);
    index->n = 0;
}

void maar_index_fini(struct maar_index *index)
{
    free(index->slots);
    *index = (struct maar_index){0};
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t read_8(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t read_4(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

uint64_t maar_hash_bytes(const void *data, size_t n, uint64_t seed)
{
    const uint64_t k0 = UINT64_C(0x9c1f6ad0e5b384d7), k1 = UINT64_C(0x5be0d8a6937c1f2d),
                   k2 = UINT64_C(0xc6a3719de80f5b4b);
    const unsigned char *p = data;
    uint64_t state = fold(seed ^ k0, k1);
    size_t left = n;
    for (; left > 16; left -= 16, p += 16)
        state = fold(read_8(p) ^ k1, read_8(p + 8) ^ state);
    uint64_t a = 0, b = 0;
    if (left >= 8) {
        a = read_8(p);
        b = read_8(p + left - 8);
    } else if (left >= 4) {
        a = read_4(p);
        b = read_4(p + left - 4);
    } else if (left > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[left / 2] << 8 | p[left - 1];
    }
    return fold(fold(a ^ k2, b ^ state) ^ k0, k1 ^ (uint64_t)n);
}

void maar_map_seed(uint64_t seed)
{
    atomic_store_explicit(&process_seed, seed, memory_order_relaxed);
}

uint64_t maar_hash_seed(void)
{
    return atomic_load_explicit(&process_seed, memory_order_relaxed);
}
