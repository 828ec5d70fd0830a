/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Interned strings. An id is a position in the table of texts; the ids of texts that went are
 * reused first, the last freed before the others, so the table stays as large as the most texts
 * there ever were at a time. Each text is an allocation of its own and never moves. */

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/map.h"
#include "base/memory.h"

struct string {
    char *text; /* NULL for a free id */
    uint32_t n;
    uint32_t n_refs; /* for a free id: the next free one, 0 ends the list */
    uint32_t tag;
};

struct maar_strings {
    struct string *table; /* [0] is "no string" and never used */
    uint32_t n_table;
    uint32_t capacity;
    uint32_t first_free;
    struct maar_index index; /* tag to id; the id is stored as it is, since 0 is no id */
    uint64_t seed;
};

struct maar_strings *maar_strings_create(void)
{
    struct maar_strings *strings = maar_calloc(1, sizeof *strings);
    strings->capacity = 64;
    strings->table = maar_calloc(strings->capacity, sizeof *strings->table);
    strings->n_table = 1;
    strings->seed = maar_hash_seed();
    return strings;
}

void maar_strings_destroy(struct maar_strings *strings)
{
    if (!strings)
        return;
    for (uint32_t id = 1; id < strings->n_table; id++)
        free(strings->table[id].text);
    free(strings->table);
    maar_index_fini(&strings->index);
    free(strings);
}

static uint32_t find_tagged(const struct maar_strings *strings, uint32_t tag, const char *text,
                            size_t n)
{
    const struct maar_index *index = &strings->index;
    if (!index->n)
        return 0;
    for (size_t i = maar_index_home(index, tag); index->slots[i].at;
         i = maar_index_step(index, i)) {
        if (index->slots[i].tag != tag)
            continue;
        const struct string *string = &strings->table[index->slots[i].at];
        if (string->n == n && memcmp(string->text, text, n) == 0)
            return index->slots[i].at;
    }
    return 0;
}

static uint32_t take_id(struct maar_strings *strings)
{
    uint32_t id = strings->first_free;
    if (id) {
        strings->first_free = strings->table[id].n_refs;
        return id;
    }
    if (strings->n_table == strings->capacity) {
        if (strings->capacity > UINT32_MAX / 2)
            abort(); /* ids are 32 bits */
        strings->capacity *= 2;
        strings->table = maar_realloc(strings->table, strings->capacity, sizeof *strings->table);
    }
    return strings->n_table++;
}

static uint32_t add(struct maar_strings *strings, uint32_t tag, const char *text, size_t n)
{
    char *copy = maar_malloc(n + 1);
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    uint32_t id = take_id(strings);
    strings->table[id] = (struct string){.text = copy, .n = (uint32_t)n, .n_refs = 1, .tag = tag};
    maar_index_add(&strings->index, tag, id);
    return id;
}

uint32_t maar_strings_ref(struct maar_strings *strings, const char *text)
{
    return maar_strings_ref_n(strings, text, strlen(text));
}

uint32_t maar_strings_ref_n(struct maar_strings *strings, const char *text, size_t n)
{
    if (n >= UINT32_MAX)
        abort();
    uint32_t tag = maar_index_tag(maar_hash_bytes(text, n, strings->seed));
    uint32_t id = find_tagged(strings, tag, text, n);
    if (!id)
        return add(strings, tag, text, n);
    maar_strings_hold(strings, id);
    return id;
}

void maar_strings_hold(struct maar_strings *strings, uint32_t id)
{
    if (!id)
        return;
    if (++strings->table[id].n_refs == 0)
        abort(); /* a wrapped count would free a text in use */
}

/* The last reference is gone: the text leaves the index and the id joins the free ones. */
static void release(struct maar_strings *strings, uint32_t id)
{
    struct string *string = &strings->table[id];
    size_t slot = maar_index_home(&strings->index, string->tag);
    while (strings->index.slots[slot].at != id)
        slot = maar_index_step(&strings->index, slot);
    maar_index_remove(&strings->index, slot);
    free(string->text);
    *string = (struct string){.n_refs = strings->first_free};
    strings->first_free = id;
}

void maar_strings_unref(struct maar_strings *strings, uint32_t id)
{
    if (!id)
        return;
    if (!strings->table[id].text)
        abort(); /* one reference too many was dropped */
    if (--strings->table[id].n_refs == 0)
        release(strings, id);
}

uint32_t maar_strings_find(const struct maar_strings *strings, const char *text)
{
    size_t n = strlen(text);
    return find_tagged(strings, maar_index_tag(maar_hash_bytes(text, n, strings->seed)), text, n);
}

const char *maar_strings_text(const struct maar_strings *strings, uint32_t id)
{
    return id ? strings->table[id].text : "";
}

size_t maar_strings_n(const struct maar_strings *strings)
{
    return strings->index.n;
}
