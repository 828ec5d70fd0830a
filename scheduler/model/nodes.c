/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Nodes: facts and columns. A slot never moves; the slot of a node that went is used again by a later one. */

#include "base/bitset.h"
#include "model/parts.h"

enum column {
    COLUMN_ALLOCATABLE,
    COLUMN_IDLE,
    COLUMN_USED,
    COLUMN_RELEASING,
    COLUMN_PIPELINED,
    N_COLUMNS,
};

/* The tasks that name a node which has not arrived. */
struct waiting_list {
    MAAR_VEC(struct maar_task_entry *) tasks;
};

static void publish(struct maar_world *world)
{
    struct maar_nodes *nodes = &world->nodes;
    nodes->live = world->node_live;
    nodes->facts = world->node_facts;
    nodes->name_rank = world->node_rank;
    nodes->allocatable = world->node_columns[COLUMN_ALLOCATABLE];
    nodes->idle = world->node_columns[COLUMN_IDLE];
    nodes->used = world->node_columns[COLUMN_USED];
    nodes->releasing = world->node_columns[COLUMN_RELEASING];
    nodes->pipelined = world->node_columns[COLUMN_PIPELINED];
    nodes->allocatable_present = world->node_present;
    nodes->nonzero_cpu_milli = world->node_nonzero_cpu;
    nodes->nonzero_memory_bytes = world->node_nonzero_memory;
    nodes->tasks = (struct maar_task *const *const *)world->node_tasks;
    nodes->n_tasks = world->node_n_tasks;
}

static void grow(struct maar_world *world)
{
    uint32_t from = world->node_capacity;
    uint32_t to = from ? from * 2 : 64;
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        for (uint32_t d = 0; d < world->dims.n; d++)
            world->node_columns[c][d] =
                maar_row_widen(world->node_columns[c][d], from, to, sizeof(int64_t));
    world->node_live = maar_row_widen(world->node_live, (uint32_t)MAAR_BITSET_WORDS(from),
                                      (uint32_t)MAAR_BITSET_WORDS(to), sizeof(uint64_t));
    world->node_facts = maar_row_widen(world->node_facts, from, to, sizeof *world->node_facts);
    world->touched_at = maar_row_widen(world->touched_at, from, to, sizeof *world->touched_at);
    world->facts_at = maar_row_widen(world->facts_at, from, to, sizeof *world->facts_at);
    world->node_rank = maar_row_widen(world->node_rank, from, to, sizeof(uint32_t));
    world->node_present = maar_row_widen(world->node_present, from, to, sizeof(uint64_t));
    world->node_nonzero_cpu = maar_row_widen(world->node_nonzero_cpu, from, to, sizeof(int64_t));
    world->node_nonzero_memory =
        maar_row_widen(world->node_nonzero_memory, from, to, sizeof(int64_t));
    world->node_tasks = maar_row_widen(world->node_tasks, from, to, sizeof *world->node_tasks);
    world->node_n_tasks = maar_row_widen(world->node_n_tasks, from, to, sizeof(uint32_t));
    world->node_capacity = to;
    publish(world);
}

void maar_nodes_init(struct maar_world *world)
{
    world->ranks_stale = true;
    grow(world);
}

void maar_nodes_add_dim(struct maar_world *world, uint32_t dim)
{
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        world->node_columns[c][dim] = maar_calloc(world->node_capacity, sizeof(int64_t));
}

/* `statics`: what filters and scores of static facts read has changed. */
static void touch(struct maar_world *world, uint32_t slot, bool statics)
{
    /* Indexes that lag behind a dropped half are rebuilt. */
    if (world->touched.n >= UINT32_C(1) << 20) {
        size_t half = world->touched.n / 2;
        memmove(world->touched.data, world->touched.data + half, (world->touched.n - half) * 4);
        world->touched.n -= half;
        world->touched_base += half;
    }
    world->touched_at[slot] = maar_world_touched_end(world);
    if (statics)
        world->facts_at[slot] = maar_world_touched_end(world);
    maar_vec_push(&world->touched, slot | (statics ? UINT32_C(1) << 31 : 0));
}

void maar_nodes_touch(struct maar_world *world, uint32_t slot, bool facts)
{
    world->nodes.facts_version += facts;
    touch(world, slot, facts);
}

void maar_nodes_touch_images(struct maar_world *world, uint32_t slot)
{
    touch(world, slot, true);
}

/* ---- waiting for a node ---- */

void maar_nodes_wait(struct maar_world *world, struct maar_task_entry *task, const char *name)
{
    if (task->waiting_node && !strcmp(task->waiting_node, name))
        return;
    maar_nodes_unwait(world, task);
    uint32_t id = maar_strings_ref(world->strings, name);
    task->waiting_node = maar_strings_text(world->strings, id);
    struct waiting_list *list = maar_map_find(world->waiting_nodes, name);
    if (!list) {
        list = maar_calloc(1, sizeof *list);
        maar_map_set(world->waiting_nodes, name, list);
    }
    maar_vec_push(&list->tasks, task);
}

static void drop_list(struct maar_world *world, const char *name, struct waiting_list *list)
{
    maar_map_remove(world->waiting_nodes, name);
    maar_vec_fini(&list->tasks);
    free(list);
}

static void forget_name(struct maar_world *world, struct maar_task_entry *task)
{
    uint32_t id = maar_strings_find(world->strings, task->waiting_node);
    task->waiting_node = NULL;
    maar_strings_unref(world->strings, id);
}

void maar_nodes_unwait(struct maar_world *world, struct maar_task_entry *task)
{
    if (!task->waiting_node)
        return;
    struct waiting_list *list = maar_map_find(world->waiting_nodes, task->waiting_node);
    for (size_t i = 0; list && i < list->tasks.n; i++) {
        if (list->tasks.data[i] == task) {
            maar_vec_remove(&list->tasks, i);
            break;
        }
    }
    if (list && list->tasks.n == 0)
        drop_list(world, task->waiting_node, list);
    forget_name(world, task);
}

static void settle_waiting(struct maar_world *world, const char *name, uint32_t slot)
{
    struct waiting_list *list = maar_map_find(world->waiting_nodes, name);
    if (!list)
        return;
    for (size_t i = 0; i < list->tasks.n; i++) {
        struct maar_task_entry *task = list->tasks.data[i];
        forget_name(world, task);
        maar_world_move(world, &task->view, (enum maar_task_status)task->view.status, slot);
    }
    drop_list(world, name, list);
}

/* ---- records ---- */

static bool same_facts(const struct maar_node_facts *facts, const struct maar_node_record *record)
{
    if (facts->unschedulable != record->unschedulable || facts->ready != record->ready ||
        facts->n_labels != record->n_labels || facts->n_taints != record->n_taints)
        return false;
    for (uint32_t i = 0; i < facts->n_labels; i++)
        if (strcmp(facts->labels[i].key, record->labels[i].key) != 0 ||
            strcmp(facts->labels[i].value, record->labels[i].value) != 0)
            return false;
    for (uint32_t i = 0; i < facts->n_taints; i++)
        if (strcmp(facts->taints[i].key, record->taints[i].key) != 0 ||
            strcmp(facts->taints[i].value, record->taints[i].value) != 0 ||
            facts->taints[i].effect != record->taints[i].effect)
            return false;
    return true;
}

static void clear_facts(struct maar_world *world, struct maar_node_entry *entry)
{
    for (size_t i = 0; i < entry->labels.n; i++) {
        maar_world_unintern(world, entry->labels.data[i].key);
        maar_world_unintern(world, entry->labels.data[i].value);
    }
    for (size_t i = 0; i < entry->taints.n; i++) {
        maar_world_unintern(world, entry->taints.data[i].key);
        maar_world_unintern(world, entry->taints.data[i].value);
    }
    maar_vec_clear(&entry->labels);
    maar_vec_clear(&entry->taints);
}

static void set_facts(struct maar_world *world, uint32_t slot, const struct maar_record *record)
{
    struct maar_node_entry *entry = world->node_entries.data[slot];
    struct maar_node_facts *facts = &world->node_facts[slot];
    const struct maar_node_record *node = &record->node;
    /* The new references first, so that texts in both stay put. */
    MAAR_VEC(struct maar_label) labels = {0};
    MAAR_VEC(struct maar_taint) taints = {0};
    for (uint32_t i = 0; i < node->n_labels; i++) {
        struct maar_label label = {maar_world_intern(world, node->labels[i].key),
                                   maar_world_intern(world, node->labels[i].value)};
        maar_vec_push(&labels, label);
    }
    for (uint32_t i = 0; i < node->n_taints; i++) {
        struct maar_taint taint = {maar_world_intern(world, node->taints[i].key),
                                   maar_world_intern(world, node->taints[i].value),
                                   node->taints[i].effect};
        maar_vec_push(&taints, taint);
    }
    clear_facts(world, entry);
    maar_vec_fini(&entry->labels);
    maar_vec_fini(&entry->taints);
    memcpy(&entry->labels, &labels, sizeof labels);
    memcpy(&entry->taints, &taints, sizeof taints);
    facts->labels = entry->labels.data;
    facts->n_labels = (uint32_t)entry->labels.n;
    facts->taints = entry->taints.data;
    facts->n_taints = (uint32_t)entry->taints.n;
    facts->unschedulable = node->unschedulable;
    facts->ready = node->ready;
    facts->created_ns = record->created_ns;
}

/* Allocatable follows the record, idle and the totals follow allocatable. */
static bool set_allocatable(struct maar_world *world, uint32_t slot,
                            const struct maar_amounts_record *amounts)
{
    int64_t next[MAAR_MAX_DIMS] = {0};
    uint64_t present = 0;
    for (uint32_t i = 0; i < amounts->n; i++) {
        uint32_t d = maar_world_dim(world, amounts->items[i].name);
        if (d == MAAR_NO_DIM)
            continue;
        next[d] = maar_amount_bound_offer(amounts->items[i].value);
        present |= UINT64_C(1) << d;
    }
    bool changed = present != world->node_present[slot];
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t diff = next[d] - world->node_columns[COLUMN_ALLOCATABLE][d][slot];
        if (diff != 0) {
            changed = true;
            world->node_columns[COLUMN_ALLOCATABLE][d][slot] += diff;
            world->node_columns[COLUMN_IDLE][d][slot] += diff;
            world->total_allocatable[d] += diff;
        }
        uint32_t had = (uint32_t)((world->node_present[slot] >> d) & 1);
        uint32_t has = (uint32_t)((present >> d) & 1);
        world->total_present_n[d] += has - had;
        if (world->total_present_n[d] > 0)
            world->total_present |= UINT64_C(1) << d;
        else
            world->total_present &= ~(UINT64_C(1) << d);
    }
    world->node_present[slot] = present;
    return changed;
}

static uint32_t take_slot(struct maar_world *world)
{
    struct maar_node_entry *entry = maar_calloc(1, sizeof *entry);
    if (world->nodes.n_live < world->node_entries.n) {
        for (size_t i = 0; i < world->node_entries.n; i++) {
            if (!world->node_entries.data[i]) {
                world->node_entries.data[i] = entry;
                return (uint32_t)i;
            }
        }
    }
    if (world->node_entries.n == world->node_capacity)
        grow(world);
    maar_vec_push(&world->node_entries, entry);
    world->nodes.n_slots = (uint32_t)world->node_entries.n;
    return world->nodes.n_slots - 1;
}

static uint32_t add_node(struct maar_world *world, const struct maar_record *record)
{
    uint32_t slot = take_slot(world);
    struct maar_node_entry *entry = world->node_entries.data[slot];
    entry->uid = maar_strdup(record->uid);
    world->node_facts[slot] =
        (struct maar_node_facts){.name = maar_world_intern(world, record->name)};
    maar_bit_set(world->node_live, slot);
    world->nodes.n_live++;
    maar_map_set(world->nodes_by_name, record->name, (void *)((uintptr_t)slot + 1));
    world->ranks_stale = true;
    return slot;
}

static void remove_node(struct maar_world *world, uint32_t slot)
{
    struct maar_node_entry *entry = world->node_entries.data[slot];
    const char *name = world->node_facts[slot].name;
    while (entry->tasks.n > 0) {
        struct maar_task_entry *task = maar_task_entry(entry->tasks.data[entry->tasks.n - 1]);
        if (task->reserved)
            maar_world_release(world, &task->view);
        else {
            maar_world_move(world, &task->view, (enum maar_task_status)task->view.status,
                            MAAR_NO_NODE);
            maar_nodes_wait(world, task, name);
        }
    }
    struct maar_amounts_record nothing = {0};
    set_allocatable(world, slot, &nothing);
    maar_images_set(world, slot, NULL, 0);
    maar_map_remove(world->nodes_by_name, name);
    clear_facts(world, entry);
    maar_world_unintern(world, name);
    world->node_facts[slot] = (struct maar_node_facts){0};
    world->node_tasks[slot] = NULL;
    maar_bit_clear(world->node_live, slot);
    world->nodes.n_live--;
    maar_vec_fini(&entry->tasks);
    maar_vec_fini(&entry->labels);
    maar_vec_fini(&entry->taints);
    maar_vec_fini(&entry->images);
    free(entry->uid);
    free(entry->fault);
    free(entry);
    world->node_entries.data[slot] = NULL;
    world->ranks_stale = true;
    world->facts_version++;
    maar_nodes_touch(world, slot, true);
}

bool maar_nodes_apply(struct maar_world *world, const struct maar_record *record, bool deleted)
{
    uint32_t slot = maar_world_node(world, record->name);
    if (deleted) {
        if (slot == MAAR_NO_NODE)
            return false;
        remove_node(world, slot);
        maar_tasks_renominate(world);
        return true;
    }
    bool added = slot == MAAR_NO_NODE;
    if (added)
        slot = add_node(world, record);
    struct maar_node_entry *entry = world->node_entries.data[slot];
    bool changed = maar_text_replace(&entry->uid, record->uid) || added;
    changed |= maar_text_replace(&entry->fault, record->fault);
    /* A node whose quantities cannot be read offers nothing and is not ready. */
    struct maar_record sound = *record;
    if (*record->fault) {
        sound.node.allocatable.n = 0;
        sound.node.ready = false;
    }
    changed |= set_allocatable(world, slot, &sound.node.allocatable);
    if (added || !same_facts(&world->node_facts[slot], &sound.node)) {
        set_facts(world, slot, &sound);
        world->facts_version++;
        changed = true;
    }
    /* Wakes nobody: where an image lies decides nothing that waits. */
    maar_images_set(world, slot, record->node.images, record->node.n_images);
    if (changed) {
        entry->static_version++;
        maar_nodes_touch(world, slot, true);
    }
    if (added) {
        settle_waiting(world, record->name, slot);
        maar_tasks_renominate(world);
    }
    return changed;
}

/* ---- ranks ---- */

static int compare_names(const void *l, const void *r, void *facts)
{
    const struct maar_node_facts *f = facts;
    return strcmp(f[*(const uint32_t *)l].name, f[*(const uint32_t *)r].name);
}

void maar_nodes_rank(struct maar_world *world)
{
    if (!world->ranks_stale)
        return;
    MAAR_VEC(uint32_t) slots = {0};
    for (uint32_t i = 0; i < world->nodes.n_slots; i++)
        if (maar_bit_get(world->node_live, i))
            maar_vec_push(&slots, i);
    if (slots.n > 0)
        qsort_r(slots.data, slots.n, sizeof *slots.data, compare_names, world->node_facts);
    for (uint32_t i = 0; i < slots.n; i++)
        world->node_rank[slots.data[i]] = i;
    maar_vec_fini(&slots);
    world->ranks_stale = false;
    /* Heaps are keyed by rank: every index starts anew. */
    world->touched_base += world->touched.n + 1;
    maar_vec_clear(&world->touched);
}

void maar_nodes_fini(struct maar_world *world)
{
    for (uint32_t i = 0; i < world->node_entries.n; i++)
        if (world->node_entries.data[i])
            remove_node(world, i);
    maar_vec_fini(&world->node_entries);
    for (uint32_t c = 0; c < N_COLUMNS; c++)
        for (uint32_t d = 0; d < world->dims.n; d++)
            free(world->node_columns[c][d]);
    free(world->node_live);
    free(world->node_facts);
    free(world->touched_at);
    free(world->facts_at);
    free(world->node_rank);
    free(world->node_present);
    free(world->node_nonzero_cpu);
    free(world->node_nonzero_memory);
    free((void *)world->node_tasks);
    free(world->node_n_tasks);
    maar_vec_fini(&world->touched);
}
