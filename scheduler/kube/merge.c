/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The two patch forms that the requests use. Only what a patch names changes, so fields of newer versions of a
 * resource survive a PUT. */

#include "kube/merge.h"

#include <stdint.h>
#include <string.h>

/* jansson counts references through non-const pointers. */
static json_t *share(const json_t *value)
{
    return json_incref((json_t *)(uintptr_t)value);
}

static size_t find_type(const json_t *conditions, const char *type)
{
    size_t i;
    const json_t *condition;

    json_array_foreach (conditions, i, condition) {
        const char *found = json_string_value(json_object_get(condition, "type"));

        if (found && strcmp(found, type) == 0)
            return i;
    }
    return json_array_size(conditions);
}

static void merge_conditions(json_t *conditions, const json_t *patch)
{
    size_t i;
    const json_t *condition;

    json_array_foreach (patch, i, condition) {
        const char *type = json_string_value(json_object_get(condition, "type"));
        size_t at;

        if (!type)
            continue;
        at = find_type(conditions, type);
        if (at < json_array_size(conditions)) {
            maar_kube_merge(json_array_get(conditions, at), condition, true);
        } else {
            json_array_append_new(conditions, share(condition));
        }
    }
}

/* A patch's value where nothing was: the same without its nulls. */
static json_t *without_nulls(const json_t *value)
{
    json_t *result;

    if (!json_is_object(value))
        return share(value);
    result = json_object();
    maar_kube_merge(result, value, false);
    return result;
}

void maar_kube_merge(json_t *target, const json_t *patch, bool by_type)
{
    const char *key;
    json_t *value;

    /* The macro wants a pointer to a mutable object, and changes nothing. */
    json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
        json_t *old = json_object_get(target, key);

        if (json_is_null(value))
            json_object_del(target, key);
        else if (json_is_object(value) && json_is_object(old))
            maar_kube_merge(old, value, by_type);
        else if (by_type && json_is_array(value) && json_is_array(old) &&
                 strcmp(key, "conditions") == 0)
            merge_conditions(old, value);
        else
            json_object_set_new(target, key, without_nulls(value));
    }
}
