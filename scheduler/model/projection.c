/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Which labels split classes: those whose keys a plugin or a live label selector reads. When a key comes, the tasks that
 * carry it move to classes of their own; when nobody reads it any more, they come together again before the next
 * session, so that a scheduler which starts anew has the same classes. */

#include "model/parts.h"

struct projected_key {
    size_t n_readers; /* selectors of classes */
    bool kept;        /* a plugin reads it */
};

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

/* Keys were only added or only taken off, so a class that has as many labels as are projected has the right ones. */
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
        uint64_t before = task->job ? maar_task_state(task) : 0;
        task->view.cls = &maar_class_project(world, from, task->labels)->view;
        if (task->job)
            maar_job_add_state(task->job, maar_task_state(task) - before);
        maar_class_unref(world, from);
    }
}

static struct projected_key *get_key(struct maar_world *world, const char *key, bool *ret_added)
{
    struct projected_key *entry = maar_map_find(world->projected_keys, key);
    *ret_added = !entry;
    if (!entry) {
        entry = maar_calloc(1, sizeof *entry);
        maar_map_set(world->projected_keys, key, entry);
    }
    return entry;
}

void maar_world_project_label(struct maar_world *world, const char *key)
{
    bool added;
    get_key(world, key, &added)->kept = true;
    if (added)
        reclass(world);
}

/* ---- the keys of a spec ---- */

/* Something done with a key; what it says is ORed over all keys. */
typedef bool (*key_fn)(struct maar_world *world, const char *key);

static bool each_of_selector(struct maar_world *world, const struct maar_label_selector *selector,
                             key_fn visit)
{
    bool any = false;
    for (uint32_t i = 0; i < selector->n_requirements; i++)
        if (selector->requirements[i].op != MAAR_OP_INVALID)
            any |= visit(world, selector->requirements[i].key);
    return any;
}

static bool each_of_terms(struct maar_world *world, const struct maar_affinity_terms *terms,
                          key_fn visit)
{
    bool any = false;
    for (uint32_t i = 0; i < terms->n; i++)
        any |= each_of_selector(world, &terms->terms[i].selector, visit);
    return any;
}

static bool each_of_spec(struct maar_world *world, const struct maar_pod_spec *spec, key_fn visit)
{
    bool any = each_of_terms(world, &spec->pod_affinity_required, visit);
    any |= each_of_terms(world, &spec->pod_affinity_preferred, visit);
    any |= each_of_terms(world, &spec->pod_anti_affinity_required, visit);
    any |= each_of_terms(world, &spec->pod_anti_affinity_preferred, visit);
    for (uint32_t i = 0; i < spec->n_spread; i++)
        any |= each_of_selector(world, &spec->spread[i].selector, visit);
    return any;
}

static bool add_key(struct maar_world *world, const char *key)
{
    bool added;
    get_key(world, key, &added);
    return added;
}

static bool add_reader(struct maar_world *world, const char *key)
{
    bool added;
    get_key(world, key, &added)->n_readers++;
    return added;
}

/* True when it was the last one. */
static bool remove_reader(struct maar_world *world, const char *key)
{
    struct projected_key *entry = maar_map_find(world->projected_keys, key);
    return --entry->n_readers == 0 && !entry->kept;
}

void maar_world_project_spec(struct maar_world *world, const struct maar_pod_spec *spec)
{
    if (each_of_spec(world, spec, add_key))
        reclass(world);
}

void maar_projection_add_class(struct maar_world *world, const struct maar_class_entry *cls)
{
    (void)each_of_spec(world, cls->view.spec, add_reader);
}

void maar_projection_remove_class(struct maar_world *world, const struct maar_class_entry *cls)
{
    world->projection_stale |= each_of_spec(world, cls->view.spec, remove_reader);
}

void maar_projection_prepare(struct maar_world *world)
{
    if (!world->projection_stale)
        return;
    world->projection_stale = false;
    bool removed = false;
    size_t at = 0, n;
    const void *key;
    void *value;
    while (maar_map_next(world->projected_keys, &at, &key, &n, &value)) {
        struct projected_key *entry = value;
        if (entry->n_readers > 0 || entry->kept)
            continue;
        maar_map_remove_bytes(world->projected_keys, key, n);
        free(entry);
        removed = true;
    }
    if (removed)
        reclass(world);
}

void maar_projection_fini(struct maar_world *world)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(world->projected_keys, &at, NULL, NULL, &value))
        free(value);
    maar_map_destroy(world->projected_keys);
}
