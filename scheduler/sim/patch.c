// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Patches as the API server applies them. The merge keys are those of core/v1 as far as pods and
// nodes have them.
#include "sim/patch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

json_t *maar_patch_merge(const json_t *target, const json_t *patch)
{
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    json_t *merged = json_is_object(target) ? json_deep_copy(target) : json_object();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
        if (json_is_null(value))
            json_object_del(merged, key);
        else
            json_object_set_new(merged, key, maar_patch_merge(json_object_get(merged, key), value));
    }
    return merged;
}

/* ---- strategic ---- */

static const struct {
    const char *list;
    const char *key;
} merge_keys[] = {
    {"conditions", "type"},
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"schedulingGates", "name"},
    {"volumes", "name"},
    {"env", "name"},
    {"volumeMounts", "mountPath"},
    {"ports", "containerPort"},
    {"ownerReferences", "uid"},
    {"addresses", "type"},
    {"imagePullSecrets", "name"},
    {"topologySpreadConstraints", "topologyKey"},
    {"resourceClaims", "name"},
};

static const char *merge_key(const char *list)
{
    for (size_t i = 0; i < sizeof merge_keys / sizeof *merge_keys; i++)
        if (strcmp(merge_keys[i].list, list) == 0)
            return merge_keys[i].key;
    return NULL;
}

static const char *directive(const json_t *patch)
{
    const char *text = json_string_value(json_object_get(patch, "$patch"));
    return text ? text : "";
}

static size_t find_item(const json_t *list, const char *key, const json_t *wanted)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const json_t *have = json_object_get(item, key);
        if (have && wanted && json_equal(have, wanted))
            return i;
    }
    return SIZE_MAX;
}

static json_t *merge_list(const json_t *target, const json_t *patch, const char *key)
{
    json_t *merged = json_is_array(target) ? json_deep_copy(target) : json_array();
    size_t i;
    json_t *item;
    json_array_foreach (patch, i, item) {
        const char *what = directive(item);
        if (strcmp(what, "replace") == 0) {
            json_array_clear(merged);
            continue;
        }
        size_t at = find_item(merged, key, json_object_get(item, key));
        if (strcmp(what, "delete") == 0) {
            if (at != SIZE_MAX)
                json_array_remove(merged, at);
        } else if (at != SIZE_MAX) {
            json_array_set_new(merged, at, maar_patch_strategic(json_array_get(merged, at), item));
        } else {
            json_array_append_new(merged, maar_patch_strategic(NULL, item));
        }
    }
    return merged;
}

json_t *maar_patch_strategic(const json_t *target, const json_t *patch)
{
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    bool whole = strcmp(directive(patch), "replace") == 0;
    json_t *merged = json_is_object(target) && !whole ? json_deep_copy(target) : json_object();
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)patch, name, value) {
        /* $patch, $setElementOrder/…, $deleteFromPrimitiveList/…, $retainKeys steer the merge. */
        if (name[0] == '$')
            continue;
        const json_t *old = json_object_get(merged, name);
        const char *key = json_is_array(value) ? merge_key(name) : NULL;
        if (json_is_null(value) || strcmp(directive(value), "delete") == 0)
            json_object_del(merged, name);
        else if (key)
            json_object_set_new(merged, name, merge_list(old, value, key));
        else
            json_object_set_new(merged, name, maar_patch_strategic(old, value));
    }
    return merged;
}

/* ---- JSON patch ---- */

struct pointer {
    json_t *parent;
    char *token; /* the last one, unescaped; the caller frees */
};

static void unescape(char *token)
{
    char *to = token;
    for (char *from = token; *from; from++) {
        if (from[0] == '~' && (from[1] == '0' || from[1] == '1'))
            *to++ = *++from == '0' ? '~' : '/';
        else
            *to++ = *from;
    }
    *to = 0;
}

static bool array_index(const json_t *array, const char *token, bool for_insert, size_t *ret_index)
{
    size_t n = json_array_size(array);
    if (for_insert && strcmp(token, "-") == 0) {
        *ret_index = n;
        return true;
    }
    char *end;
    errno = 0;
    unsigned long index = strtoul(token, &end, 10);
    if (errno || end == token || *end || index > n || (index == n && !for_insert))
        return false;
    *ret_index = index;
    return true;
}

static json_t *child(json_t *parent, const char *token)
{
    size_t index;
    if (json_is_object(parent))
        return json_object_get(parent, token);
    if (json_is_array(parent) && array_index(parent, token, false, &index))
        return json_array_get(parent, index);
    return NULL;
}

static int resolve(json_t *root, const char *path, struct pointer *ret, struct maar_error *err)
{
    if (path[0] != '/')
        return maar_error_set(err, -EINVAL, "path \"%s\" must start with /", path);
    json_t *at = root;
    for (path++;; path++) {
        size_t n = strcspn(path, "/");
        char *token = maar_strndup(path, n);
        unescape(token);
        path += n;
        if (!*path) {
            *ret = (struct pointer){at, token};
            return 0;
        }
        at = child(at, token);
        if (!at) {
            maar_error_set(err, -EINVAL, "there is no \"%s\" on the way", token);
            free(token);
            return -EINVAL;
        }
        free(token);
    }
}

static int put(const struct pointer *at, json_t *value, bool insert, struct maar_error *err)
{
    size_t index;
    if (json_is_object(at->parent)) {
        json_object_set(at->parent, at->token, value);
        return 0;
    }
    if (!json_is_array(at->parent) || !array_index(at->parent, at->token, insert, &index))
        return maar_error_set(err, -EINVAL, "there is no place \"%s\"", at->token);
    if (insert)
        json_array_insert(at->parent, index, value);
    else
        json_array_set(at->parent, index, value);
    return 0;
}

static int drop(const struct pointer *at, struct maar_error *err)
{
    size_t index;
    if (json_is_object(at->parent) && json_object_del(at->parent, at->token) == 0)
        return 0;
    if (json_is_array(at->parent) && array_index(at->parent, at->token, false, &index)) {
        json_array_remove(at->parent, index);
        return 0;
    }
    return maar_error_set(err, -EINVAL, "there is no \"%s\" to remove", at->token);
}

/* The value that `move` and `copy` take from "from", a new reference. */
static int fetch(json_t *root, const json_t *operation, bool remove, json_t **ret,
                 struct maar_error *err)
{
    const char *from = json_string_value(json_object_get(operation, "from"));
    struct pointer source = {NULL, NULL};
    if (!from)
        return maar_error_set(err, -EINVAL, "\"from\" is missing");
    int rc = resolve(root, from, &source, err);
    if (rc < 0)
        return rc;
    json_t *value = child(source.parent, source.token);
    if (!value) {
        rc = maar_error_set(err, -EINVAL, "there is nothing at \"%s\"", from);
    } else {
        *ret = json_deep_copy(value);
        if (remove)
            rc = drop(&source, err);
        if (rc < 0)
            json_decref(*ret);
    }
    free(source.token);
    return rc;
}

static int apply_at(const struct pointer *at, const char *op, json_t *value, struct maar_error *err)
{
    if (strcmp(op, "remove") == 0)
        return drop(at, err);
    if (!value)
        return maar_error_set(err, -EINVAL, "\"value\" is missing");
    const json_t *old = child(at->parent, at->token);
    if (strcmp(op, "test") == 0)
        return old && json_equal(old, value) ? 0 : maar_error_set(err, -EINVAL, "test failed");
    if (strcmp(op, "replace") == 0 && !old)
        return maar_error_set(err, -EINVAL, "there is no \"%s\" to replace", at->token);
    return put(at, value, strcmp(op, "replace") != 0, err);
}

static int apply_operation(json_t *root, const json_t *operation, struct maar_error *err)
{
    static const char *const known[] = {"add", "remove", "replace", "test", "move", "copy", NULL};
    const char *op = json_string_value(json_object_get(operation, "op"));
    const char *path = json_string_value(json_object_get(operation, "path"));
    bool is_known = false;
    for (size_t i = 0; op && known[i]; i++)
        is_known |= strcmp(op, known[i]) == 0;
    if (!is_known || !path)
        return maar_error_set(err, -EINVAL, "an operation needs \"op\" and \"path\"");
    json_t *value = json_incref(json_object_get(operation, "value"));
    if (strcmp(op, "move") == 0 || strcmp(op, "copy") == 0) {
        json_decref(value);
        int rc = fetch(root, operation, strcmp(op, "move") == 0, &value, err);
        if (rc < 0)
            return rc;
        op = "add";
    }
    struct pointer at;
    int rc = resolve(root, path, &at, err);
    if (rc == 0) {
        rc = apply_at(&at, op, value, err);
        free(at.token);
    }
    json_decref(value);
    return rc;
}

int maar_patch_json(const json_t *target, const json_t *patch, json_t **ret, struct maar_error *err)
{
    if (!json_is_array(patch))
        return maar_error_set(err, -EINVAL, "a JSON patch must be a list of operations");
    json_t *patched = json_deep_copy(target);
    size_t i;
    json_t *operation;
    json_array_foreach (patch, i, operation) {
        int rc = apply_operation(patched, operation, err);
        if (rc < 0) {
            json_decref(patched);
            return maar_error_wrap(err, rc, "operation %zu", i);
        }
    }
    *ret = patched;
    return 0;
}
