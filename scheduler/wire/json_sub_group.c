/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The sub-groups of a PodGroup from JSON. */

#include <string.h>

#include "wire/json_affinity.h"
#include "wire/json_object.h"
#include "wire/json_value.h"
#include "wire/names.h"

/* Entries, requirements and keys of one PodGroup; more quarantine it, since each of its pods is held against them. */
#define SUB_GROUP_PARTS_MAX 1024u

/* At least `least`; `unset` when it is absent. */
static int32_t read_count(struct maar_decoder *decoder, const json_t *item,
                          const struct maar_path *at, const char *key, int32_t least, int32_t unset)
{
    int32_t value = unset;
    struct maar_path here = {at, key, 0};
    if (maar_json_int32(decoder, item, at, key, &value) && value < least)
        maar_decoder_fault(decoder, &here, "%d must be at least %d", (int)value, (int)least);
    return value;
}

static void check_keys(struct maar_decoder *decoder, const struct maar_path *at,
                       const struct maar_texts_draft *keys)
{
    struct maar_path list = {at, "matchLabelKeys", 0};
    for (uint32_t i = 0; i < keys->n; i++) {
        struct maar_path here = {&list, NULL, i};
        if (!maar_name_is_qualified(keys->items[i]))
            maar_decoder_fault(decoder, &here, "\"%.64s\" is not a label key", keys->items[i]);
    }
}

static struct maar_sub_group_record read_sub_group(struct maar_decoder *decoder, const json_t *item,
                                                   const struct maar_path *at)
{
    struct maar_selector_draft selector = {0};
    maar_json_selector(decoder, item, at, "labelSelector", &selector);
    struct maar_texts_draft keys = maar_json_texts(decoder, item, at, "matchLabelKeys");
    check_keys(decoder, at, &keys);
    return (struct maar_sub_group_record){
        .name = maar_json_text(decoder, item, at, "name"),
        .size = read_count(decoder, item, at, "subGroupSize", 1, 1),
        .min = read_count(decoder, item, at, "minSubGroups", 0, 0),
        .has_topology = maar_json_object(decoder, item, at, "networkTopology") != NULL,
        .selector = maar_selector_finish(decoder, at, "labelSelector", &selector),
        .n_match_keys = keys.n,
        .match_keys = keys.items,
    };
}

void maar_json_read_sub_groups(struct maar_decoder *decoder, const json_t *spec,
                               const struct maar_path *at)
{
    struct maar_pod_group_record *group = &decoder->record->pod_group;
    const json_t *array = maar_json_array(decoder, spec, at, "subGroupPolicy");
    struct maar_path list = {at, "subGroupPolicy", 0};
    size_t n = json_array_size(array), n_parts = n;
    group->sub_groups = maar_arena_calloc(decoder->arena, n, sizeof *group->sub_groups);
    for (size_t i = 0; i < n && n_parts <= SUB_GROUP_PARTS_MAX; i++) {
        struct maar_path here = {&list, NULL, i};
        struct maar_sub_group_record *sub_group = &group->sub_groups[group->n_sub_groups++];
        *sub_group = read_sub_group(decoder, maar_json_item(decoder, array, &list, i), &here);
        group->has_topology |= sub_group->has_topology;
        n_parts += sub_group->n_match_keys + sub_group->selector.n_requirements;
        for (uint32_t r = 0; r < sub_group->selector.n_requirements; r++)
            n_parts += sub_group->selector.requirements[r].n_values;
    }
    if (n_parts > SUB_GROUP_PARTS_MAX)
        maar_decoder_fault(decoder, &list, "more than %u entries, requirements, values and keys",
                           SUB_GROUP_PARTS_MAX);
}
