/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A map from "namespace/name" to uid, a hash of the version, and perhaps the text. Kept small: there is one entry
 * for each pod of the cluster. */

#include "kube/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

struct entry {
    uint64_t version_hash;
    uint32_t list; /* number of the list that saw it last */
    uint64_t text_version;
    char *text;
    char uid[];
};

struct maar_known {
    struct maar_map *entries;
    struct maar_text key; /* scratch */
    uint32_t list;
    bool keeps_text;
};

struct maar_known *maar_known_create(bool keeps_text)
{
    struct maar_known *known = maar_calloc(1, sizeof *known);

    known->entries = maar_map_create();
    known->keeps_text = keeps_text;
    return known;
}

static void destroy_entry(struct entry *entry)
{
    free(entry->text);
    free(entry);
}

void maar_known_destroy(struct maar_known *known)
{
    size_t at = 0;
    void *value;

    if (!known)
        return;
    while (maar_map_next(known->entries, &at, NULL, NULL, &value))
        destroy_entry(value);
    maar_map_destroy(known->entries);
    maar_text_fini(&known->key);
    free(known);
}

size_t maar_known_n(const struct maar_known *known)
{
    return maar_map_n(known->entries);
}

static struct entry *find(const struct maar_known *known, const char *ns, const char *name)
{
    struct maar_text key = MAAR_TEXT_INIT;
    struct entry *entry;

    maar_text_add(&key, ns);
    maar_text_add_char(&key, '/');
    maar_text_add(&key, name);
    entry = maar_map_find_bytes(known->entries, key.data, key.n);
    maar_text_fini(&key);
    return entry;
}

static void make_key(struct maar_known *known, const char *ns, const char *name)
{
    maar_text_clear(&known->key);
    maar_text_add(&known->key, ns);
    maar_text_add_char(&known->key, '/');
    maar_text_add(&known->key, name);
}

enum maar_known_change maar_known_note(struct maar_known *known, const struct maar_record *record,
                                       char **ret_old_uid)
{
    uint64_t hash = maar_hash_bytes(record->resource_version, strlen(record->resource_version), 0);
    size_t n_uid = strlen(record->uid) + 1;
    enum maar_known_change change = MAAR_KNOWN_NEW;
    struct entry *entry;

    make_key(known, record->ns, record->name);
    entry = maar_map_find_bytes(known->entries, known->key.data, known->key.n);
    if (entry && strcmp(entry->uid, record->uid) != 0) {
        *ret_old_uid = maar_strdup(entry->uid);
        destroy_entry(entry);
        entry = NULL;
        change = MAAR_KNOWN_REPLACED;
    }
    if (!entry) {
        entry = maar_calloc(1, sizeof *entry + n_uid);
        memcpy(entry->uid, record->uid, n_uid);
        (void)maar_map_set_bytes(known->entries, known->key.data, known->key.n, entry);
    } else {
        change = entry->version_hash == hash ? MAAR_KNOWN_SAME : MAAR_KNOWN_CHANGED;
    }
    entry->version_hash = hash;
    entry->list = known->list;
    return change;
}

bool maar_known_remove(struct maar_known *known, const char *ns, const char *name)
{
    struct entry *entry;

    make_key(known, ns, name);
    entry = maar_map_remove_bytes(known->entries, known->key.data, known->key.n);
    if (!entry)
        return false;
    destroy_entry(entry);
    return true;
}

const char *maar_known_uid(const struct maar_known *known, const char *ns, const char *name)
{
    const struct entry *entry = find(known, ns, name);

    return entry ? entry->uid : NULL;
}

void maar_known_begin_list(struct maar_known *known)
{
    known->list++;
}

void maar_known_sweep(struct maar_known *known, maar_known_gone_fn gone, void *context)
{
    size_t at = 0;
    size_t n;
    const void *key;
    void *value;

    while (maar_map_next(known->entries, &at, &key, &n, &value)) {
        struct entry *entry = value;
        const char *slash;

        if (entry->list == known->list)
            continue;
        maar_text_clear(&known->key);
        maar_text_add_n(&known->key, key, n);
        (void)maar_map_remove_bytes(known->entries, known->key.data, known->key.n);
        slash = strchr(known->key.data, '/');
        known->key.data[slash - known->key.data] = '\0';
        gone(context, known->key.data, slash + 1, entry->uid);
        destroy_entry(entry);
    }
}

uint64_t maar_version_number(const char *resource_version)
{
    char *end;
    unsigned long long number;

    if (*resource_version < '0' || *resource_version > '9')
        return 0;
    errno = 0;
    number = strtoull(resource_version, &end, 10);
    return *end || errno ? 0 : number;
}

static const char *version_of(const json_t *object)
{
    const char *version =
        json_string_value(json_object_get(json_object_get(object, "metadata"), "resourceVersion"));

    return version ? version : "";
}

void maar_known_keep_text(struct maar_known *known, const char *ns, const char *name,
                          const json_t *object)
{
    struct entry *entry = known->keeps_text ? find(known, ns, name) : NULL;
    uint64_t version = maar_version_number(version_of(object));
    json_t *metadata;
    json_t *copy;
    char *text;

    if (!entry || (entry->text && version < entry->text_version))
        return;
    copy = json_copy((json_t *)(uintptr_t)object);
    metadata = json_copy(json_object_get(object, "metadata"));
    if (!copy || !metadata) {
        json_decref(copy);
        json_decref(metadata);
        return;
    }
    json_object_del(metadata, "managedFields");
    json_object_set_new(copy, "metadata", metadata);
    text = json_dumps(copy, JSON_COMPACT);
    json_decref(copy);
    if (!text)
        return;
    free(entry->text);
    entry->text = text;
    entry->text_version = version;
}

json_t *maar_known_object(const struct maar_known *known, const char *ns, const char *name,
                          uint64_t *ret_version)
{
    const struct entry *entry = find(known, ns, name);

    if (!entry || !entry->text)
        return NULL;
    *ret_version = entry->text_version;
    return json_loads(entry->text, JSON_DECODE_ANY, NULL);
}

uint64_t maar_known_text_version(const struct maar_known *known, const char *ns, const char *name)
{
    const struct entry *entry = find(known, ns, name);

    return entry ? entry->text_version : 0;
}
