/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Interned texts of world objects, and lists of labels made of them. */

#include "model/parts.h"

const char *maar_world_intern(struct maar_world *world, const char *text)
{
    return maar_strings_text(world->strings, maar_strings_ref(world->strings, text ? text : ""));
}

void maar_world_unintern(struct maar_world *world, const char *text)
{
    if (text)
        maar_strings_unref(world->strings, maar_strings_find(world->strings, text));
}

bool maar_world_set_text(struct maar_world *world, const char **slot, const char *text)
{
    if (!strcmp(*slot, text))
        return false;
    const char *next = maar_world_intern(world, text);
    maar_world_unintern(world, *slot);
    *slot = next;
    return true;
}

static bool same_labels(const struct maar_label *l, const struct maar_label *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(l[i].key, r[i].key) != 0 || strcmp(l[i].value, r[i].value) != 0)
            return false;
    return true;
}

bool maar_world_set_labels(struct maar_world *world, const struct maar_label **slot,
                           uint32_t *n_slot, const struct maar_label *labels, uint32_t n)
{
    if (*n_slot == n && same_labels(*slot, labels, n))
        return false;
    /* The new references first, so that texts in both stay put. */
    struct maar_label *next = n ? maar_calloc(n, sizeof *next) : NULL;
    for (uint32_t i = 0; i < n; i++)
        next[i] = (struct maar_label){maar_world_intern(world, labels[i].key),
                                      maar_world_intern(world, labels[i].value)};
    for (uint32_t i = 0; i < *n_slot; i++) {
        maar_world_unintern(world, (*slot)[i].key);
        maar_world_unintern(world, (*slot)[i].value);
    }
    free((void *)(uintptr_t)*slot);
    *slot = next;
    *n_slot = n;
    return true;
}
