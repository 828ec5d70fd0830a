// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Pod by pod: where it is at the end of either run. Pods of one PodGroup are told together.
#include "cli/simulate_what_if.h"

#include <string.h>

#include "base/memory.h"
#include "cli/simulate_table.h"
#include "cli/table.h"
#include "sim/document.h"

#define MAX_NAMED 6 /* pods in a cell of the table */

enum fate {
    FATE_ABSENT,
    FATE_WAITS,
    FATE_PLACED, /* has or had a node */
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static enum fate fate_of(const json_t *pod)
{
    if (!pod)
        return FATE_ABSENT;
    return *text_of(pod, "node") ? FATE_PLACED : FATE_WAITS;
}

/* ---- groups ---- */

static const struct maar_object *find_object(const struct maar_simulation *simulation,
                                             const char *api_version, const char *kind,
                                             const char *key)
{
    const struct maar_store *store = maar_cluster_store(maar_simulation_cluster(simulation));
    const struct maar_collection *collection = maar_store_find(store, api_version, kind);
    const char *slash = strchr(key, '/');
    if (!collection || !slash)
        return NULL;
    maar_autofree char *ns = maar_strndup(key, (size_t)(slash - key));
    return maar_collection_object(collection, ns, slash + 1);
}

/* "namespace/name" of the pod's PodGroup, the pod's own name without one. The caller frees. */
static char *group_of(const struct maar_simulation *simulation, const char *pod)
{
    const struct maar_object *object = find_object(simulation, "v1", "Pod", pod);
    const char *group = object ? maar_document_pod_group(object->document) : "";
    return *group ? maar_asprintf("%s/%s", object->ns, group) : maar_strdup(pod);
}

/* Appends to the group's entry in a list, which is made. Steals the pod's entry. */
static void add_pod(json_t *list, const char *group, json_t *pod)
{
    json_t *entry = NULL;
    for (size_t i = json_array_size(list); i-- > 0 && !entry;)
        if (strcmp(text_of(json_array_get(list, i), "podGroup"), group) == 0)
            entry = json_array_get(list, i);
    if (!entry) {
        json_array_append_new(list, json_pack("{s:s, s:[]}", "podGroup", group, "pods"));
        entry = json_array_get(list, json_array_size(list) - 1);
    }
    json_array_append_new(json_object_get(entry, "pods"), pod);
}

/* ---- pods ---- */

static json_t *pod_entry(const char *name, const char *node, const char *message)
{
    json_t *entry = json_pack("{s:s}", "pod", name);
    if (*node)
        json_object_set_new(entry, "node", json_string(node));
    if (message)
        json_object_set_new(entry, "message", json_string(message));
    return entry;
}

static void compare_pod(json_t *what_if, const char *group, const char *name, const json_t *before,
                        const json_t *after)
{
    enum fate was = fate_of(before), is = fate_of(after);
    if (is == FATE_PLACED && was != FATE_PLACED)
        add_pod(json_object_get(what_if, "starts"), group,
                pod_entry(name, text_of(after, "node"), NULL));
    else if (is == FATE_WAITS && was == FATE_PLACED)
        add_pod(json_object_get(what_if, "loses"), group,
                pod_entry(name, text_of(before, "node"), text_of(after, "message")));
    else if (is == FATE_ABSENT && was == FATE_WAITS)
        add_pod(json_object_get(what_if, "stopsWaiting"), group, pod_entry(name, "", NULL));
    else if (is == FATE_WAITS)
        add_pod(json_object_get(what_if, "stillWaits"), group,
                pod_entry(name, "", text_of(after, "message")));
    else if (is == FATE_ABSENT)
        add_pod(json_object_get(what_if, "loses"), group,
                pod_entry(name, text_of(before, "node"), "the pod is gone"));
    else if (strcmp(text_of(before, "node"), text_of(after, "node")) != 0)
        json_array_append_new(json_object_get(what_if, "moves"),
                              json_pack("{s:s, s:s, s:s}", "pod", name, "from",
                                        text_of(before, "node"), "to", text_of(after, "node")));
}

json_t *maar_what_if_create(struct maar_what_if_run without, struct maar_what_if_run with,
                            const struct maar_edits *edits)
{
    json_t *what_if = json_pack("{s:[], s:[], s:[], s:[], s:[], s:[]}", "edits", "starts",
                                "stopsWaiting", "loses", "moves", "stillWaits");
    json_t *before = json_object_get(without.report, "pods"),
           *after = json_object_get(with.report, "pods"), *pod;
    const char *name;
    for (size_t i = 0; i < edits->items.n; i++)
        json_array_append_new(json_object_get(what_if, "edits"),
                              json_string(edits->items.data[i].text));
    json_object_foreach (before, name, pod) {
        maar_autofree char *group = group_of(without.simulation, name);
        compare_pod(what_if, group, name, pod, json_object_get(after, name));
    }
    json_object_foreach (after, name, pod) {
        if (json_object_get(before, name))
            continue;
        maar_autofree char *group = group_of(with.simulation, name);
        compare_pod(what_if, group, name, NULL, pod);
    }
    return what_if;
}

/* ---- one group ---- */

static int64_t n_placed(struct maar_what_if_run run, const char *group)
{
    int64_t n = 0;
    const char *name;
    json_t *pod;
    json_object_foreach (json_object_get(run.report, "pods"), name, pod) {
        if (fate_of(pod) != FATE_PLACED)
            continue;
        maar_autofree char *other = group_of(run.simulation, name);
        n += strcmp(other, group) == 0;
    }
    return n;
}

bool maar_what_if_starts(struct maar_what_if_run without, struct maar_what_if_run with,
                         const char *group)
{
    const struct maar_object *object =
        find_object(with.simulation, "scheduling.volcano.sh/v1beta1", "PodGroup", group);
    int64_t n = n_placed(with, group);
    int64_t min = object ? maar_document_int(object->document, "spec.minMember", 1) : 1;
    return n > n_placed(without, group) && n >= min;
}

/* ---- for people ---- */

static char *pods_text(const json_t *pods)
{
    struct maar_text text = MAAR_TEXT_INIT;
    size_t n = json_array_size(pods);
    for (size_t i = 0; i < n && i < MAX_NAMED; i++) {
        const json_t *pod = json_array_get(pods, i);
        const char *name = text_of(pod, "pod"), *slash = strchr(name, '/');
        maar_text_addf(&text, "%s%s%s%s", i ? ", " : "", slash ? slash + 1 : name,
                       *text_of(pod, "node") ? " " : "", text_of(pod, "node"));
    }
    if (n > MAX_NAMED)
        maar_text_addf(&text, " and %zu more", n - MAX_NAMED);
    return maar_text_steal(&text);
}

static void print_list(const json_t *what_if, const char *key, const char *title, bool message,
                       struct maar_text *out)
{
    struct maar_table table = {.heads = {"PODGROUP", "PODS", "WHICH", message ? "MESSAGE" : ""},
                               .n_columns = 4};
    const json_t *list = json_object_get(what_if, key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i), *pods = json_object_get(entry, "pods");
        maar_autofree char *which = pods_text(pods);
        maar_autofree char *n = maar_asprintf("%zu", json_array_size(pods));
        /* The first that says more than what the others would. */
        const char *said = text_of(json_array_get(pods, json_array_size(pods) - 1), "message");
        maar_table_add(&table, text_of(entry, "podGroup"));
        maar_table_add(&table, n);
        maar_table_add(&table, which);
        maar_table_add(&table, message ? said : "");
    }
    maar_table_print(&table, title, out);
}

static void print_moves(const json_t *what_if, struct maar_text *out)
{
    struct maar_table table = {.heads = {"POD", "FROM", "TO"}, .n_columns = 3};
    const json_t *list = json_object_get(what_if, "moves");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *move = json_array_get(list, i);
        maar_table_add(&table, text_of(move, "pod"));
        maar_table_add(&table, text_of(move, "from"));
        maar_table_add(&table, text_of(move, "to"));
    }
    maar_table_print(&table, "Would be placed elsewhere", out);
}

void maar_what_if_table(const json_t *what_if, struct maar_text *out)
{
    static const char *const changes[] = {"starts", "stopsWaiting", "loses", "moves", NULL};
    const json_t *edits = json_object_get(what_if, "edits");
    size_t n = 0;
    maar_text_add(out, "\nWhat if\n");
    for (size_t i = 0; i < json_array_size(edits); i++) {
        maar_autofree char *edit =
            maar_simulate_escape(json_string_value(json_array_get(edits, i)), false);
        maar_text_addf(out, "  %s\n", edit);
    }
    for (size_t i = 0; changes[i]; i++)
        n += json_array_size(json_object_get(what_if, changes[i]));
    if (n == 0)
        maar_text_add(out, "\nNo pod would start, lose its node or move.\n");
    print_list(what_if, "starts", "Would start", false, out);
    print_list(what_if, "stopsWaiting", "Would no longer wait", false, out);
    print_list(what_if, "loses", "Would lose their nodes", true, out);
    print_moves(what_if, out);
    print_list(what_if, "stillWaits", "Would still wait", true, out);
}
