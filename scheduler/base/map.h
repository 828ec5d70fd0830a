/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_MAP_H
#define MAAR_BASE_MAP_H

/* Hash maps from byte strings or 64-bit integers to pointers. Iteration follows insertion order
 * (removals leave the order of the rest), so no decision can depend on a hash. Not thread-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maar_map;

struct maar_map *maar_map_create(void);
/* Accepts NULL; values are the caller's. */
void maar_map_destroy(struct maar_map *map);
void maar_map_clear(struct maar_map *map);
size_t maar_map_n(const struct maar_map *map);

/* The value of `key`, NULL when absent. Keys are copied in. */
void *maar_map_find(const struct maar_map *map, const char *key);
void *maar_map_find_bytes(const struct maar_map *map, const void *key, size_t n);
void *maar_map_find_int(const struct maar_map *map, uint64_t key);
/* Sets and returns the value that was there, NULL if none. value must not be NULL. */
void *maar_map_set(struct maar_map *map, const char *key, void *value);
void *maar_map_set_bytes(struct maar_map *map, const void *key, size_t n, void *value);
void *maar_map_set_int(struct maar_map *map, uint64_t key, void *value);
/* Removes and returns the value, NULL when absent. */
void *maar_map_remove(struct maar_map *map, const char *key);
void *maar_map_remove_bytes(struct maar_map *map, const void *key, size_t n);
void *maar_map_remove_int(struct maar_map *map, uint64_t key);

/* Iteration: `size_t at = 0; void *v; while (maar_map_next(map, &at, &key, &n, &v)) …`. The current
 * entry may be removed while iterating, nothing else changed. key, ret_n, ret_value may be NULL.
 * For integer keys `*ret_key` points at the uint64_t and *ret_n is its size; a NUL follows other
 * keys. */
bool maar_map_next(const struct maar_map *map, size_t *at, const void **ret_key, size_t *ret_n,
                   void **ret_value);

/* The hash used: seeded per process by maar_map_seed (0 by default). A map keeps the seed it was
 * created with. */
uint64_t maar_hash_bytes(const void *data, size_t n, uint64_t seed);
/* A number that hardly any other pair gives; the order counts. */
static inline uint64_t maar_mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 29)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 32);
}
void maar_map_seed(uint64_t seed);

#endif
