/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Shorthand `subGroups:` of a group: entries of its subGroupPolicy. */

#include <errno.h>

#include "sim/shorthand_parts.h"

static int expand_keys(const struct maar_field *field, const json_t *entry, json_t *policy,
                       struct maar_error *err)
{
    json_t *keys = NULL;
    if (maar_field_list(field, entry, "matchLabelKeys", &keys, err) < 0)
        return -EINVAL;
    struct maar_field at = maar_field_key(field, "matchLabelKeys");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        struct maar_field child = maar_field_index(&at, i);
        if (!json_is_string(json_array_get(keys, i)))
            return maar_field_error(&child, err, "must be the key of a label");
    }
    if (keys)
        json_object_set(policy, "matchLabelKeys", keys);
    return 0;
}

static int expand_selector(const struct maar_field *field, const json_t *entry, json_t *policy,
                           struct maar_error *err)
{
    json_t *labels = NULL, *selector = NULL;
    if (maar_field_map(field, entry, "labelSelector", &selector, err) < 0 ||
        maar_field_text_map(field, entry, "selector", &labels, err) < 0)
        return -EINVAL;
    if (selector && labels) {
        json_decref(labels);
        return maar_field_error(field, err,
                                "has both selector and labelSelector: write the labels of "
                                "selector under labelSelector.matchLabels");
    }
    if (selector)
        json_object_set(policy, "labelSelector", selector);
    if (labels)
        json_object_set_new(policy, "labelSelector", json_pack("{s:o}", "matchLabels", labels));
    return 0;
}

static int expand_sub_group(const struct maar_field *field, const json_t *entry, json_t *policy,
                            struct maar_error *err)
{
    static const char *const known[] = {
        "name", "selector", "labelSelector", "matchLabelKeys", "size", "min", NULL};
    const char *name = NULL;
    int64_t size = 1, min = 0;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_shorthand_require_name(field, entry, &name, err) < 0 ||
        maar_field_int(field, entry, "size", 1, INT32_MAX, &size, err) < 0 ||
        maar_field_int(field, entry, "min", 0, INT32_MAX, &min, err) < 0 ||
        expand_selector(field, entry, policy, err) < 0 ||
        expand_keys(field, entry, policy, err) < 0)
        return -EINVAL;
    json_object_set_new(policy, "name", json_string(name));
    json_object_set_new(policy, "subGroupSize", json_integer(size));
    json_object_set_new(policy, "minSubGroups", json_integer(min));
    return 0;
}

int maar_shorthand_sub_groups(const struct maar_field *field, const json_t *entry, json_t *spec,
                              struct maar_error *err)
{
    json_t *list = NULL;
    if (maar_field_list(field, entry, "subGroups", &list, err) < 0)
        return -EINVAL;
    if (!list)
        return 0;
    struct maar_field at = maar_field_key(field, "subGroups");
    json_t *policies = json_array();
    json_object_set_new(spec, "subGroupPolicy", policies);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        json_t *policy = json_object();
        json_array_append_new(policies, policy);
        if (expand_sub_group(&child, json_array_get(list, i), policy, err) < 0)
            return -EINVAL;
    }
    return 0;
}
