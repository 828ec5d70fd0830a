/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Sub-groups by label selectors and matchLabelKeys. */

#include "sim/sub_group.h"

#include <stdio.h>
#include <string.h>

#include "sim/document.h"
#include "sim/label_selector.h"

static bool takes(const json_t *policy, const json_t *pod, struct maar_sub_group *ret)
{
    const json_t *keys = json_object_get(policy, "matchLabelKeys");
    const json_t *labels = maar_document_at(pod, "metadata.labels");
    if (!maar_label_selector_matches(json_object_get(policy, "labelSelector"), labels))
        return false;
    snprintf(ret->name, sizeof ret->name, "%s", maar_document_text(policy, "name"));
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        const char *value = key ? json_string_value(json_object_get(labels, key)) : NULL;
        if (!value || !*value)
            return false;
        size_t n = strlen(ret->name);
        snprintf(ret->name + n, sizeof ret->name - n, "-%s", value);
    }
    ret->size = maar_document_int(policy, "subGroupSize", 1);
    return true;
}

bool maar_sub_group_find(const json_t *group, const json_t *pod, struct maar_sub_group *ret)
{
    const json_t *policies = maar_document_at(group, "spec.subGroupPolicy");
    for (size_t i = 0; i < json_array_size(policies); i++)
        if (takes(json_array_get(policies, i), pod, ret))
            return true;
    return false;
}
