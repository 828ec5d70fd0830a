/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Which labels split classes: those whose keys a plugin or a live label selector reads. Keys stay once they are known;
 * when one comes, the tasks that carry it move to classes of their own. */

#include "model/parts.h"

uint32_t maar_labels_project(const struct maar_world *world, const struct maar_label_set *set,
                             struct maar_label *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (maar_map_find(world->projected_keys, set->labels[i].key))
            out[n++] = set->labels[i];
    return n;
}

static uint32_t n_projected(const struct maar_world *world, const struct maar_label_set *set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->n; i++)
        n += maar_map_find(world->projected_keys, set->labels[i].key) != NULL;
    return n;
}

/* Keys are only added, so a class that has as many labels as are projected has the right ones. */
static void reclass(struct maar_world *world)
{
    maar_tallies_drop(world);
    size_t at = 0;
    void *value;
    while (maar_map_next(world->tasks_by_uid, &at, NULL, NULL, &value)) {
        struct maar_task_entry *task = value;
        struct maar_class_entry *from = maar_class_entry(task->view.cls);
        if (n_projected(world, task->labels) == from->view.n_labels)
            continue;
        task->view.cls = &maar_class_project(world, from, task->labels)->view;
        maar_class_unref(world, from);
    }
}

/* True when the key is new. */
static bool add_key(struct maar_world *world, const char *key)
{
    if (maar_map_find(world->projected_keys, key))
        return false;
    maar_map_set(world->projected_keys, key, world);
    return true;
}

void maar_world_project_label(struct maar_world *world, const char *key)
{
    if (add_key(world, key))
        reclass(world);
}

static bool add_selector(struct maar_world *world, const struct maar_label_selector *selector)
{
    bool added = false;
    for (uint32_t i = 0; i < selector->n_requirements; i++)
        if (selector->requirements[i].op != MAAR_OP_INVALID)
            added |= add_key(world, selector->requirements[i].key);
    return added;
}

static bool add_terms(struct maar_world *world, const struct maar_affinity_terms *terms)
{
    bool added = false;
    for (uint32_t i = 0; i < terms->n; i++)
        added |= add_selector(world, &terms->terms[i].selector);
    return added;
}

void maar_world_project_spec(struct maar_world *world, const struct maar_pod_spec *spec)
{
    bool added = add_terms(world, &spec->pod_affinity_required);
    added |= add_terms(world, &spec->pod_affinity_preferred);
    added |= add_terms(world, &spec->pod_anti_affinity_required);
    added |= add_terms(world, &spec->pod_anti_affinity_preferred);
    for (uint32_t i = 0; i < spec->n_spread; i++)
        added |= add_selector(world, &spec->spread[i].selector);
    if (added)
        reclass(world);
}
