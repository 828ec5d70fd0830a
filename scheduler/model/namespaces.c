/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Namespaces and their labels, which selectors of pod affinity read. An entry is made by the object or by the first
 * class in it, whichever comes first, and goes with the last of both. */

#include "model/parts.h"

static struct maar_namespace_entry *get(struct maar_world *world, const char *name)
{
    struct maar_namespace_entry *entry = maar_map_find(world->namespaces, name);
    if (entry)
        return entry;
    entry = maar_calloc(1, sizeof *entry);
    entry->view.name = maar_world_intern(world, name);
    maar_map_set(world->namespaces, name, entry);
    return entry;
}

static bool set_labels(struct maar_world *world, struct maar_namespace_entry *entry,
                       const struct maar_label *labels, uint32_t n)
{
    bool changed =
        maar_world_set_labels(world, &entry->view.labels, &entry->view.n_labels, labels, n);
    /* Selectors of namespaces may name other pods now. */
    if (changed)
        maar_tallies_drop(world);
    return changed;
}

static void drop_unused(struct maar_world *world, struct maar_namespace_entry *entry)
{
    if (entry->exists || entry->n_classes > 0)
        return;
    maar_map_remove(world->namespaces, entry->view.name);
    maar_world_unintern(world, entry->view.name);
    free(entry);
}

struct maar_namespace_entry *maar_namespace_ref(struct maar_world *world, const char *name)
{
    struct maar_namespace_entry *entry = get(world, name);
    entry->n_classes++;
    return entry;
}

void maar_namespace_unref(struct maar_world *world, struct maar_namespace_entry *entry)
{
    entry->n_classes--;
    drop_unused(world, entry);
}

bool maar_namespaces_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    if (deleted && !maar_map_find(world->namespaces, record->name))
        return false;
    struct maar_namespace_entry *entry = get(world, record->name);
    entry->exists = !deleted;
    bool changed =
        set_labels(world, entry, record->space.labels, deleted ? 0 : record->space.n_labels);
    changed &= entry->n_classes > 0;
    drop_unused(world, entry);
    return changed;
}

void maar_namespaces_fini(struct maar_world *world)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(world->namespaces, &at, NULL, NULL, &value)) {
        struct maar_namespace_entry *entry = value;
        (void)set_labels(world, entry, NULL, 0);
        entry->exists = false;
        drop_unused(world, entry);
    }
}
