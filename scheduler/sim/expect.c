// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The keys of an `expect:` entry: reading checks names and types, so that checking cannot fail.
#include "sim/expect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/document.h"
#include "sim/pod_group.h"

struct check {
    struct maar_cluster *cluster;
    const struct maar_journal *journal;
    unsigned cycle;
    int line;
    const char *path;
    struct maar_text *out;
    size_t n;
};

static void differ(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void differ(struct check *check, const char *format, ...)
{
    va_list args;
    maar_text_addf(check->out, "%s:%d: cycle %u: ", check->path, check->line, check->cycle);
    va_start(args, format);
    maar_text_addv(check->out, format, args);
    va_end(args);
    maar_text_add(check->out, "\n");
    check->n++;
}

/* "default/a-0" or "a-0". */
static const json_t *find(const struct check *check, const char *api_version, const char *kind,
                          const char *name)
{
    char ns[256] = "default";
    const char *slash = strchr(name, '/');
    if (slash)
        snprintf(ns, sizeof ns, "%.*s", (int)(slash - name), name);
    const struct maar_collection *collection =
        maar_store_find(maar_cluster_store(check->cluster), api_version, kind);
    const struct maar_object *object =
        collection ? maar_collection_object(collection, ns, slash ? slash + 1 : name) : NULL;
    return object ? object->document : NULL;
}

static const json_t *find_pod(const struct check *check, const char *name)
{
    return find(check, "v1", "Pod", name);
}

static const char *node_of(const struct check *check, const char *name)
{
    return maar_document_text(find_pod(check, name), "spec.nodeName");
}

static bool is_same_pod(const char *full, const char *name)
{
    return strcmp(full, name) == 0 ||
           (!strchr(name, '/') && strncmp(full, "default/", 8) == 0 && strcmp(full + 8, name) == 0);
}

/* The node of the last binding that succeeded, NULL without one. */
static const char *bound_to(const struct check *check, const char *name)
{
    const char *node = NULL;
    for (size_t i = 0; i < check->journal->binds.n; i++) {
        const struct maar_bind_entry *bind = &check->journal->binds.data[i];
        if (!bind->failed && is_same_pod(bind->pod, name))
            node = bind->node;
    }
    return node;
}

static size_t n_bound(const struct check *check)
{
    size_t n = 0;
    for (size_t i = 0; i < check->journal->binds.n; i++)
        n += !check->journal->binds.data[i].failed;
    return n;
}

static const char *pod_reason(const struct check *check, const char *name)
{
    const json_t *condition = maar_document_condition(find_pod(check, name), "PodScheduled");
    const char *message = maar_document_text(condition, "message");
    return *message ? message : maar_document_text(condition, "reason");
}

static void compare_count(struct check *check, const char *what, const json_t *want, size_t have)
{
    if (json_integer_value(want) != (json_int_t)have)
        differ(check, "%s: expected %lld, are %zu", what, (long long)json_integer_value(want),
               have);
}

static void check_bound_one(struct check *check, const char *pod, const char *want)
{
    const char *have = bound_to(check, pod);
    if (!have)
        have = node_of(check, pod);
    if (!*have)
        differ(check, "bound %s: expected %s, is not bound (%s)", pod, *want ? want : "a node",
               find_pod(check, pod) ? pod_reason(check, pod) : "no such pod");
    else if (*want && strcmp(want, have) != 0)
        differ(check, "bound %s: expected %s, is on %s", pod, want, have);
}

static void check_bound(struct check *check, const json_t *value)
{
    if (json_is_integer(value))
        compare_count(check, "bound", value, n_bound(check));
    for (size_t i = 0; i < json_array_size(value); i++)
        check_bound_one(check, json_string_value(json_array_get(value, i)), "");
    const char *pod;
    json_t *node;
    json_object_foreach ((json_t *)(uintptr_t)value, pod, node) {
        const char *want = json_string_value(node);
        check_bound_one(check, pod, want && strcmp(want, "*") != 0 ? want : "");
    }
}

static void check_pending(struct check *check, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        const json_t *pod = find_pod(check, name);
        const char *node = maar_document_text(pod, "spec.nodeName");
        if (!pod)
            differ(check, "pending %s: there is no such pod", name);
        else if (*node)
            differ(check, "pending %s: is on %s", name, node);
    }
}

static void check_not_bound(struct check *check, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        const char *node = bound_to(check, name);
        if (!node)
            node = node_of(check, name);
        if (*node)
            differ(check, "notBound %s: is on %s", name, node);
    }
}

static void check_evicted(struct check *check, const json_t *value)
{
    const struct maar_journal *journal = check->journal;
    if (json_is_integer(value)) {
        compare_count(check, "evicted", value, journal->evictions.n);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        bool found = false;
        for (size_t k = 0; k < journal->evictions.n && !found; k++)
            found = is_same_pod(journal->evictions.data[k].pod, name);
        if (!found)
            differ(check, "evicted %s: was not", name);
    }
    for (size_t k = 0; k < journal->evictions.n; k++) {
        bool wanted = false;
        for (size_t i = 0; i < json_array_size(value) && !wanted; i++)
            wanted = is_same_pod(journal->evictions.data[k].pod,
                                 json_string_value(json_array_get(value, i)));
        if (!wanted)
            differ(check, "evicted: %s was, in cycle %u", journal->evictions.data[k].pod,
                   journal->evictions.data[k].cycle);
    }
}

static const json_t *find_group(const struct check *check, const char *name)
{
    const struct maar_object *group = maar_pod_group_find(maar_cluster_store(check->cluster), name);
    return group ? group->document : NULL;
}

static void check_groups(struct check *check, const json_t *value)
{
    const char *name;
    json_t *phase;
    json_object_foreach ((json_t *)(uintptr_t)value, name, phase) {
        const json_t *group = find_group(check, name);
        const char *have = maar_document_text(group, "status.phase");
        if (!group)
            differ(check, "podGroups %s: there is no such PodGroup", name);
        else if (strcmp(have, json_string_value(phase)) != 0)
            differ(check, "podGroups %s: expected %s, is %s", name, json_string_value(phase),
                   *have ? have : "without phase");
    }
}

static bool mentions(const json_t *condition, const char *text)
{
    return strstr(maar_document_text(condition, "reason"), text) ||
           strstr(maar_document_text(condition, "message"), text);
}

/* What was last said of a PodGroup; "" for nothing. One that is not let in is told in events only. */
static const char *last_event(const struct check *check, const json_t *group)
{
    const struct maar_journal *journal = maar_cluster_journal(check->cluster);
    maar_autofree char *object =
        maar_asprintf("podgroup/%s/%s", maar_document_namespace(group), maar_document_name(group));
    for (size_t i = journal->events.n; i-- > 0;)
        if (strcmp(journal->events.data[i].object, object) == 0)
            return journal->events.data[i].message;
    return "";
}

static void check_reasons(struct check *check, const json_t *value)
{
    const char *name;
    json_t *text;
    json_object_foreach ((json_t *)(uintptr_t)value, name, text) {
        const json_t *pod = find_pod(check, name);
        const json_t *object = pod ? pod : find_group(check, name);
        const json_t *conditions = maar_document_at(object, "status.conditions");
        const char *said = pod ? pod_reason(check, name) : last_event(check, object);
        bool found = !pod && object && strstr(said, json_string_value(text));
        for (size_t i = 0; i < json_array_size(conditions) && !found; i++) {
            const json_t *condition = json_array_get(conditions, i);
            found = mentions(condition, json_string_value(text)) &&
                    (!pod || strcmp(maar_document_text(condition, "type"), "PodScheduled") == 0);
        }
        if (!object)
            differ(check, "reason %s: there is no such pod or PodGroup", name);
        else if (!found)
            differ(check, "reason %s: expected \"%s\", is \"%s\"", name, json_string_value(text),
                   said);
    }
}

static void check_same(struct check *check, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *list = json_array_get(value, i);
        const char *first = json_string_value(json_array_get(list, 0));
        for (size_t k = 1; k < json_array_size(list); k++) {
            const char *other = json_string_value(json_array_get(list, k));
            const char *a = node_of(check, first), *b = node_of(check, other);
            if (!*a || strcmp(a, b) != 0)
                differ(check, "sameNode: %s is on %s, %s on %s", first, *a ? a : "none", other,
                       *b ? b : "none");
        }
    }
}

static void check_different(struct check *check, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *list = json_array_get(value, i);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *one = json_string_value(json_array_get(list, k));
            const char *a = node_of(check, one);
            if (!*a)
                differ(check, "differentNodes: %s is on no node", one);
            for (size_t m = k + 1; *a && m < json_array_size(list); m++) {
                const char *other = json_string_value(json_array_get(list, m));
                if (strcmp(a, node_of(check, other)) == 0)
                    differ(check, "differentNodes: %s and %s are both on %s", one, other, a);
            }
        }
    }
}

static void check_binds(struct check *check, const json_t *value)
{
    compare_count(check, "binds", value, n_bound(check));
}

static void check_evictions(struct check *check, const json_t *value)
{
    compare_count(check, "evictions", value, check->journal->evictions.n);
}

enum shape {
    COUNT = 1,
    TEXTS = 2,     /* list of texts */
    TEXT_MAP = 4,  /* map of texts */
    TEXT_SETS = 8, /* list of lists of texts */
};

static const struct {
    const char *key;
    unsigned shapes;
    const char *expected;
    void (*check)(struct check *check, const json_t *value);
} keys[] = {
    {"bound", COUNT | TEXTS | TEXT_MAP, "a map of pods to nodes, a list of pods or a number",
     check_bound},
    {"pending", TEXTS, "a list of pods", check_pending},
    {"evicted", COUNT | TEXTS, "a list of pods or a number", check_evicted},
    {"podGroups", TEXT_MAP, "a map of PodGroups to phases", check_groups},
    {"binds", COUNT, "a number", check_binds},
    {"evictions", COUNT, "a number", check_evictions},
    {"reason", TEXT_MAP, "a map of pods to texts", check_reasons},
    {"notBound", TEXTS, "a list of pods", check_not_bound},
    {"sameNode", TEXT_SETS, "a list of lists of pods", check_same},
    {"differentNodes", TEXT_SETS, "a list of lists of pods", check_different},
};

#define N_KEYS (sizeof keys / sizeof *keys)

size_t maar_expect_check(const struct maar_scenario_expect *expect, struct maar_cluster *cluster,
                         unsigned cycle, struct maar_text *out)
{
    struct check check = {
        .cluster = cluster,
        .journal = maar_cluster_journal(cluster),
        .cycle = cycle,
        .line = maar_field_line(&expect->field),
        .path = expect->field.file->path,
        .out = out,
    };
    for (size_t i = 0; i < N_KEYS; i++) {
        const json_t *value = json_object_get(expect->document, keys[i].key);
        if (value && !json_is_null(value))
            keys[i].check(&check, value);
    }
    return check.n;
}

/* ---- reading ---- */

static bool is_text_list(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

static bool is_text_map(const json_t *value)
{
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (!json_is_string(item))
            return false;
    }
    return json_is_object(value);
}

static bool is_text_sets(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_text_list(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

static bool has_shape(const json_t *value, unsigned shapes)
{
    return ((shapes & COUNT) && json_is_integer(value)) ||
           ((shapes & TEXTS) && is_text_list(value)) ||
           ((shapes & TEXT_MAP) && is_text_map(value)) ||
           ((shapes & TEXT_SETS) && is_text_sets(value));
}

static int read_expect(struct maar_scenario *scenario, const struct maar_field *field,
                       const json_t *entry, struct maar_error *err)
{
    const char *known[N_KEYS + 2] = {"cycle"};
    int64_t cycle = 0;
    for (size_t i = 0; i < N_KEYS; i++)
        known[i + 1] = keys[i].key;
    known[N_KEYS + 1] = NULL;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_field_int(field, entry, "cycle", 1, 10000000, &cycle, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < N_KEYS; i++) {
        const json_t *value = json_object_get(entry, keys[i].key);
        struct maar_field child = maar_field_key(field, keys[i].key);
        if (value && !json_is_null(value) && !has_shape(value, keys[i].shapes))
            return maar_field_error(&child, err, "expected %s", keys[i].expected);
    }
    struct maar_scenario_expect expect = {(unsigned)cycle, *field, entry};
    maar_vec_push(&scenario->expects, expect);
    return 0;
}

int maar_scenario_read_expects(struct maar_scenario *scenario, const struct maar_field *field,
                               const json_t *spec, struct maar_error *err)
{
    const json_t *value = json_object_get(spec, "expect");
    struct maar_field at = maar_field_key(field, "expect");
    if (!value || json_is_null(value))
        return 0;
    if (json_is_object(value))
        return read_expect(scenario, &at, value, err);
    if (!json_is_array(value))
        return maar_field_error(&at, err, "expected a list");
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct maar_field child = maar_field_index(&at, i);
        int rc = read_expect(scenario, &child, json_array_get(value, i), err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
