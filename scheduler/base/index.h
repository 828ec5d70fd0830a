/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_INDEX_H
#define MAAR_BASE_INDEX_H

/* The probing half of a hash table, shared by map.c and strings.c: an open-addressing index from
 * 32-bit tags to positions in an array that the owner keeps. Linear probing; removal shifts back,
 * so there are no tombstones. A slot's home is its tag, so growing and removing never touch the
 * keys. Not thread-safe. */

#include <stddef.h>
#include <stdint.h>

struct maar_index_slot {
    uint32_t tag;
    uint32_t at; /* the owner's position plus one; 0 marks an empty slot */
};

/* All zero is an empty index without slots. */
struct maar_index {
    struct maar_index_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    size_t n;
};

static inline uint32_t maar_index_tag(uint64_t hash)
{
    return (uint32_t)(hash ^ (hash >> 32));
}

static inline size_t maar_index_home(const struct maar_index *index, uint32_t tag)
{
    return tag & (index->n_slots - 1);
}

static inline size_t maar_index_step(const struct maar_index *index, size_t slot)
{
    return (slot + 1) & (index->n_slots - 1);
}

/* Adds a pair that is not there; grows when the load passes 5/8. */
void maar_index_add(struct maar_index *index, uint32_t tag, uint32_t at);
/* Empties slot `slot`, which is in use. */
void maar_index_remove(struct maar_index *index, size_t slot);
/* Forgets the pairs, keeps the slots. */
void maar_index_clear(struct maar_index *index);
void maar_index_fini(struct maar_index *index);

/* The process's hash seed (see maar_map_seed). */
uint64_t maar_hash_seed(void);

#endif
