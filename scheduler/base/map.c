/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Hash maps that iterate in insertion order: entries lie in an array in the order they came, an
 * index leads from the hash to the position. A removal leaves a hole (value NULL); holes at both
 * ends are dropped at once, those between go when the array is full, so that iteration may remove
 * what it stands on. Byte and integer keys may share a map and are never equal. An empty map owns
 * no arrays. */

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"

#define INT_KEY       UINT32_MAX /* entry.n of an integer key */
#define ENTRIES_FIRST 8
#define NOT_FOUND     SIZE_MAX

struct entry {
    union {
        char *bytes; /* owned, a NUL follows */
        uint64_t integer;
    } key;
    uint32_t n;
    uint32_t tag;
    void *value; /* NULL marks a hole, whose key is gone */
};

struct maar_map {
    struct entry *entries;
    size_t first;    /* the first live entry, or n_used */
    size_t n_used;   /* entries in use, holes included */
    size_t capacity; /* of entries */
    struct maar_index index;
    uint64_t seed; /* kept from creation: maar_map_seed must not lose keys */
};

struct maar_map *maar_map_create(void)
{
    struct maar_map *map = maar_calloc(1, sizeof *map);
    map->seed = maar_hash_seed();
    return map;
}

static void free_keys(struct maar_map *map)
{
    for (size_t i = map->first; i < map->n_used; i++)
        if (map->entries[i].value && map->entries[i].n != INT_KEY)
            free(map->entries[i].key.bytes);
}

void maar_map_destroy(struct maar_map *map)
{
    if (!map)
        return;
    free_keys(map);
    free(map->entries);
    maar_index_fini(&map->index);
    free(map);
}

void maar_map_clear(struct maar_map *map)
{
    free_keys(map);
    map->first = map->n_used = 0;
    maar_index_clear(&map->index);
}

size_t maar_map_n(const struct maar_map *map)
{
    return map->index.n;
}

static uint32_t tag_of_bytes(const struct maar_map *map, const void *key, size_t n)
{
    return maar_index_tag(maar_hash_bytes(key, n, map->seed));
}

static uint32_t tag_of_int(const struct maar_map *map, uint64_t key)
{
    unsigned __int128 product =
        (unsigned __int128)(key ^ map->seed ^ UINT64_C(0xa0d3b1f7648e925b)) *
        UINT64_C(0xe3779b97f4a7c155);
    return maar_index_tag((uint64_t)product ^ (uint64_t)(product >> 64));
}

/* The slot of the key, or NOT_FOUND. */
static size_t slot_of_bytes(const struct maar_map *map, uint32_t tag, const void *key, size_t n)
{
    if (!map->index.n)
        return NOT_FOUND;
    const struct maar_index_slot *slots = map->index.slots;
    for (size_t i = maar_index_home(&map->index, tag); slots[i].at;
         i = maar_index_step(&map->index, i)) {
        if (slots[i].tag != tag)
            continue;
        const struct entry *entry = &map->entries[slots[i].at - 1];
        if (entry->n == n && memcmp(entry->key.bytes, key, n) == 0)
            return i;
    }
    return NOT_FOUND;
}

static size_t slot_of_int(const struct maar_map *map, uint32_t tag, uint64_t key)
{
    if (!map->index.n)
        return NOT_FOUND;
    const struct maar_index_slot *slots = map->index.slots;
    for (size_t i = maar_index_home(&map->index, tag); slots[i].at;
         i = maar_index_step(&map->index, i)) {
        if (slots[i].tag != tag)
            continue;
        const struct entry *entry = &map->entries[slots[i].at - 1];
        if (entry->n == INT_KEY && entry->key.integer == key)
            return i;
    }
    return NOT_FOUND;
}

static struct entry *entry_at(const struct maar_map *map, size_t slot)
{
    return &map->entries[map->index.slots[slot].at - 1];
}

void *maar_map_find(const struct maar_map *map, const char *key)
{
    return maar_map_find_bytes(map, key, strlen(key));
}

void *maar_map_find_bytes(const struct maar_map *map, const void *key, size_t n)
{
    if (n >= INT_KEY)
        return NULL;
    size_t slot = slot_of_bytes(map, tag_of_bytes(map, key, n), key, n);
    return slot == NOT_FOUND ? NULL : entry_at(map, slot)->value;
}

void *maar_map_find_int(const struct maar_map *map, uint64_t key)
{
    size_t slot = slot_of_int(map, tag_of_int(map, key), key);
    return slot == NOT_FOUND ? NULL : entry_at(map, slot)->value;
}

/* Closes the holes; positions change, so the index is filled again. */
static void compact(struct maar_map *map)
{
    size_t n = 0;
    maar_index_clear(&map->index);
    for (size_t i = map->first; i < map->n_used; i++) {
        if (!map->entries[i].value)
            continue;
        map->entries[n++] = map->entries[i];
        maar_index_add(&map->index, map->entries[n - 1].tag, (uint32_t)n);
    }
    map->first = 0;
    map->n_used = n;
}

/* The entry after the last one. A full array is compacted when that frees half of it, and doubled
 * otherwise: either way the cost is constant for each entry added. */
static struct entry *append(struct maar_map *map, uint32_t tag)
{
    if (map->n_used == map->capacity) {
        if (map->capacity && map->index.n <= map->capacity / 2) {
            compact(map);
        } else {
            if (map->capacity >= UINT32_MAX / 2)
                abort(); /* positions are 32 bits; 2^31 entries are no cluster */
            map->capacity = map->capacity ? map->capacity * 2 : ENTRIES_FIRST;
            map->entries = maar_realloc(map->entries, map->capacity, sizeof *map->entries);
        }
    }
    struct entry *entry = &map->entries[map->n_used++];
    entry->tag = tag;
    maar_index_add(&map->index, tag, (uint32_t)map->n_used);
    return entry;
}

static void *replace(struct entry *entry, void *value)
{
    void *old = entry->value;
    entry->value = value;
    return old;
}

void *maar_map_set(struct maar_map *map, const char *key, void *value)
{
    return maar_map_set_bytes(map, key, strlen(key), value);
}

void *maar_map_set_bytes(struct maar_map *map, const void *key, size_t n, void *value)
{
    if (n >= INT_KEY || !value)
        abort();
    uint32_t tag = tag_of_bytes(map, key, n);
    size_t slot = slot_of_bytes(map, tag, key, n);
    if (slot != NOT_FOUND)
        return replace(entry_at(map, slot), value);
    char *copy = maar_malloc(n + 1); /* before append: `key` may be a key of this map */
    if (n)
        memcpy(copy, key, n);
    copy[n] = '\0';
    struct entry *entry = append(map, tag);
    entry->key.bytes = copy;
    entry->n = (uint32_t)n;
    entry->value = value;
    return NULL;
}

void *maar_map_set_int(struct maar_map *map, uint64_t key, void *value)
{
    if (!value)
        abort();
    uint32_t tag = tag_of_int(map, key);
    size_t slot = slot_of_int(map, tag, key);
    if (slot != NOT_FOUND)
        return replace(entry_at(map, slot), value);
    struct entry *entry = append(map, tag);
    entry->key.integer = key;
    entry->n = INT_KEY;
    entry->value = value;
    return NULL;
}

static void *remove_slot(struct maar_map *map, size_t slot)
{
    if (slot == NOT_FOUND)
        return NULL;
    struct entry *entry = entry_at(map, slot);
    void *value = replace(entry, NULL);
    if (entry->n != INT_KEY)
        free(entry->key.bytes);
    maar_index_remove(&map->index, slot);
    while (map->n_used > map->first && !map->entries[map->n_used - 1].value)
        map->n_used--;
    while (map->first < map->n_used && !map->entries[map->first].value)
        map->first++;
    if (map->first == map->n_used)
        map->first = map->n_used = 0;
    return value;
}

void *maar_map_remove(struct maar_map *map, const char *key)
{
    return maar_map_remove_bytes(map, key, strlen(key));
}

void *maar_map_remove_bytes(struct maar_map *map, const void *key, size_t n)
{
    if (n >= INT_KEY)
        return NULL;
    return remove_slot(map, slot_of_bytes(map, tag_of_bytes(map, key, n), key, n));
}

void *maar_map_remove_int(struct maar_map *map, uint64_t key)
{
    return remove_slot(map, slot_of_int(map, tag_of_int(map, key), key));
}

bool maar_map_next(const struct maar_map *map, size_t *at, const void **ret_key, size_t *ret_n,
                   void **ret_value)
{
    size_t i = *at > map->first ? *at : map->first;
    while (i < map->n_used && !map->entries[i].value)
        i++;
    if (i >= map->n_used)
        return false;
    const struct entry *entry = &map->entries[i];
    *at = i + 1;
    if (ret_key)
        *ret_key = entry->n == INT_KEY ? (const void *)&entry->key.integer : entry->key.bytes;
    if (ret_n)
        *ret_n = entry->n == INT_KEY ? sizeof entry->key.integer : entry->n;
    if (ret_value)
        *ret_value = entry->value;
    return true;
}
