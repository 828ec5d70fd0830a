/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Label sets of pods: interned, counted, freed with their last pod. */

#include "model/parts.h"

static void make_key(struct maar_text *key, const struct maar_label *labels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        maar_text_add_n(key, labels[i].key, strlen(labels[i].key) + 1);
        maar_text_add_n(key, labels[i].value, strlen(labels[i].value) + 1);
    }
}

struct maar_label_set *maar_label_set_ref(struct maar_world *world, const struct maar_label *labels,
                                          uint32_t n)
{
    struct maar_text key = MAAR_TEXT_INIT;
    make_key(&key, labels, n);
    struct maar_label_set *set = maar_map_find_bytes(world->label_sets, maar_text_get(&key), key.n);
    if (set) {
        set->n_refs++;
        maar_text_fini(&key);
        return set;
    }
    set = maar_calloc(1, sizeof *set);
    set->n = n;
    set->n_refs = 1;
    set->labels = maar_calloc(n ? n : 1, sizeof *set->labels);
    set->ids = maar_calloc(n ? 2 * (size_t)n : 1, sizeof *set->ids);
    for (uint32_t i = 0; i < n; i++) {
        set->ids[2 * i] = maar_strings_ref(world->strings, labels[i].key);
        set->ids[2 * i + 1] = maar_strings_ref(world->strings, labels[i].value);
        set->labels[i].key = maar_strings_text(world->strings, set->ids[2 * i]);
        set->labels[i].value = maar_strings_text(world->strings, set->ids[2 * i + 1]);
    }
    set->key_n = key.n;
    set->key = maar_text_steal(&key);
    maar_map_set_bytes(world->label_sets, set->key, set->key_n, set);
    return set;
}

void maar_label_set_unref(struct maar_world *world, struct maar_label_set *set)
{
    if (!set || --set->n_refs > 0)
        return;
    maar_map_remove_bytes(world->label_sets, set->key, set->key_n);
    for (uint32_t i = 0; i < 2 * set->n; i++)
        maar_strings_unref(world->strings, set->ids[i]);
    free(set->labels);
    free(set->ids);
    free(set->key);
    free(set);
}

const char *maar_label_set_find(const struct maar_label_set *set, const char *key)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (!strcmp(set->labels[i].key, key))
            return set->labels[i].value;
    return NULL;
}

static bool lists(const struct maar_requirement *requirement, const char *value)
{
    for (uint32_t i = 0; i < requirement->n_values; i++)
        if (!strcmp(requirement->values[i], value))
            return true;
    return false;
}

static bool meets(const struct maar_label_set *set, const struct maar_requirement *requirement)
{
    const char *value = maar_label_set_find(set, requirement->key);
    switch (requirement->op) {
    case MAAR_OP_IN:
        return value && lists(requirement, value);
    case MAAR_OP_NOT_IN:
        return !value || !lists(requirement, value);
    case MAAR_OP_EXISTS:
        return value != NULL;
    case MAAR_OP_DOES_NOT_EXIST:
        return value == NULL;
    case MAAR_OP_GT:
    case MAAR_OP_LT:
    case MAAR_OP_INVALID:
        break;
    }
    return false;
}

bool maar_label_set_matches(const struct maar_label_set *set,
                            const struct maar_label_selector *selector)
{
    for (uint32_t i = 0; i < selector->n_requirements; i++)
        if (!meets(set, &selector->requirements[i]))
            return false;
    return true;
}
