// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Tables in the style of kubectl. Long ones are cut: the JSON has everything.
#include "cli/simulate_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/table.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

char *maar_simulate_escape(const char *text, bool lines)
{
    struct maar_text out = MAAR_TEXT_INIT;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool wide = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; /* U+0080 to U+009F */
        if (wide)
            maar_text_addf(&out, "\\x%02x", *++c);
        else if ((*c < 0x20 || *c == 0x7f) && !(lines && *c == '\n'))
            maar_text_addf(&out, "\\x%02x", *c);
        else
            maar_text_add_char(&out, (char)*c);
    }
    return maar_text_steal(&out);
}

static void print_binds(const json_t *report, struct maar_text *out)
{
    struct maar_table table = {.heads = {"CYCLE", "POD", "NODE", ""}, .n_columns = 4};
    const json_t *binds = json_object_get(report, "binds");
    for (size_t i = 0; i < json_array_size(binds); i++) {
        const json_t *bind = json_array_get(binds, i);
        maar_table_add_number(&table, json_object_get(bind, "cycle"));
        maar_table_add(&table, text_of(bind, "pod"));
        maar_table_add(&table, text_of(bind, "node"));
        maar_table_add(&table, json_is_true(json_object_get(bind, "failed")) ? "failed" : "");
    }
    maar_table_print(&table, "Bound", out);
}

static void print_evictions(const json_t *report, struct maar_text *out)
{
    struct maar_table table = {.heads = {"CYCLE", "POD", "NODE", "BY", "FOR"}, .n_columns = 5};
    const json_t *evictions = json_object_get(report, "evictions");
    for (size_t i = 0; i < json_array_size(evictions); i++) {
        const json_t *eviction = json_array_get(evictions, i);
        maar_table_add_number(&table, json_object_get(eviction, "cycle"));
        maar_table_add(&table, text_of(eviction, "pod"));
        maar_table_add(&table, text_of(eviction, "node"));
        maar_table_add(&table, text_of(eviction, "action"));
        maar_table_add(&table, text_of(eviction, "for"));
    }
    maar_table_print(&table, "Evicted", out);
}

/* Pods that wait for the same reason share a line. */
struct waiting {
    const char *first;
    size_t n;
    const char *reason;
    const char *message;
};

/* The PodGroups that have no pods and have not started: object of name to what was last said of it. A controller makes
 * the pods when its PodGroup is let in, so there is no pod to wait. New reference. */
static json_t *groups_without_pods(const json_t *report)
{
    json_t *map = json_object(), *entry;
    const char *name;
    json_object_foreach (json_object_get(report, "podGroups"), name, entry) {
        const char *phase = text_of(entry, "phase");
        if (!*phase || strcmp(phase, "Pending") == 0 || strcmp(phase, "Inqueue") == 0)
            json_object_set_new(map, name, json_string(""));
    }
    json_object_foreach (json_object_get(report, "pods"), name, entry) {
        maar_autofree char *group =
            maar_asprintf("%.*s/%s", (int)strcspn(name, "/"), name, text_of(entry, "podGroup"));
        json_object_del(map, group);
    }
    const json_t *events = json_object_get(report, "events");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *object = text_of(event, "object");
        if (strncmp(object, "podgroup/", 9) == 0 && json_object_get(map, object + 9))
            json_object_set_new(map, object + 9, json_string(text_of(event, "message")));
    }
    return map;
}

static void add_groups_without_pods(const json_t *report, struct maar_table *table)
{
    json_t *map = groups_without_pods(report), *message;
    const char *name;
    json_object_foreach (map, name, message) {
        maar_autofree char *cell = maar_asprintf("podgroup %s, no pods yet", name);
        const char *phase =
            text_of(json_object_get(json_object_get(report, "podGroups"), name), "phase");
        maar_table_add(table, cell);
        maar_table_add(table, *phase ? phase : "Pending");
        maar_table_add(table, json_string_length(message) ? json_string_value(message) : "-");
    }
    json_decref(map);
}

static void print_waiting(const json_t *report, struct maar_text *out)
{
    struct maar_map *groups = maar_map_create();
    const char *name;
    json_t *pod;
    json_object_foreach (json_object_get(report, "pods"), name, pod) {
        const char *phase = text_of(pod, "phase");
        if (*text_of(pod, "node") || strcmp(phase, "Succeeded") == 0 ||
            strcmp(phase, "Failed") == 0)
            continue;
        maar_autofree char *key = maar_asprintf("%.*s %s %s", (int)strcspn(name, "/"), name,
                                                text_of(pod, "reason"), text_of(pod, "message"));
        struct waiting *waiting = maar_map_find(groups, key);
        if (!waiting) {
            waiting = maar_calloc(1, sizeof *waiting);
            *waiting = (struct waiting){name, 0, text_of(pod, "reason"), text_of(pod, "message")};
            maar_map_set(groups, key, waiting);
        }
        waiting->n++;
    }
    struct maar_table table = {.heads = {"POD", "REASON", "MESSAGE"}, .n_columns = 3};
    size_t at = 0;
    void *value;
    while (maar_map_next(groups, &at, NULL, NULL, &value)) {
        struct waiting *waiting = value;
        maar_autofree char *more =
            waiting->n > 1 ? maar_asprintf(" and %zu more", waiting->n - 1) : maar_strdup("");
        maar_autofree char *pods = maar_asprintf("%s%s", waiting->first, more);
        maar_table_add(&table, pods);
        maar_table_add(&table, *waiting->reason ? waiting->reason : "-");
        maar_table_add(&table, *waiting->message ? waiting->message : "-");
        free(waiting);
    }
    add_groups_without_pods(report, &table);
    maar_table_print(&table, "Waiting", out);
    maar_map_destroy(groups);
}

static void print_groups(const json_t *report, struct maar_text *out)
{
    struct maar_table table = {.heads = {"NAME", "PHASE", "RUNNING"}, .n_columns = 3};
    const char *name;
    json_t *group;
    json_object_foreach (json_object_get(report, "podGroups"), name, group) {
        const char *phase = text_of(group, "phase");
        maar_table_add(&table, name);
        maar_table_add(&table, *phase ? phase : "-");
        maar_table_add_number(&table, json_object_get(group, "running"));
    }
    maar_table_print(&table, "PodGroups", out);
}

static char *amounts(const json_t *map)
{
    struct maar_text text = MAAR_TEXT_INIT;
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, name, value) {
        const char *amount = json_string_value(value);
        if (strcmp(name, "pods") != 0 && amount && strcmp(amount, "0") != 0)
            maar_text_addf(&text, "%s%s %s", text.n ? ", " : "", name, amount);
    }
    if (!text.n)
        maar_text_add(&text, "-");
    return maar_text_steal(&text);
}

static void print_queues(const json_t *report, struct maar_text *out)
{
    struct maar_table table = {.heads = {"NAME", "ALLOCATED", "DESERVED"}, .n_columns = 3};
    const char *name;
    json_t *queue;
    json_object_foreach (json_object_get(report, "queues"), name, queue) {
        maar_autofree char *allocated = amounts(json_object_get(queue, "allocated"));
        maar_autofree char *deserved = amounts(json_object_get(queue, "deserved"));
        maar_table_add(&table, name);
        maar_table_add(&table, allocated);
        maar_table_add(&table, deserved);
    }
    maar_table_print(&table, "Queues", out);
}

static void print_violations(const json_t *report, struct maar_text *out)
{
    struct maar_table table = {.heads = {"CYCLE", "INVARIANT", "WHAT"}, .n_columns = 3};
    const json_t *violations = json_object_get(report, "violations");
    for (size_t i = 0; i < json_array_size(violations); i++) {
        const json_t *violation = json_array_get(violations, i);
        maar_table_add_number(&table, json_object_get(violation, "cycle"));
        maar_table_add(&table, text_of(violation, "invariant"));
        maar_table_add(&table, text_of(violation, "text"));
    }
    maar_table_print(&table, "Broken invariants", out);
}

static size_t n_waiting(const json_t *report)
{
    size_t n = 0;
    const char *name;
    json_t *pod;
    json_object_foreach (json_object_get(report, "pods"), name, pod) {
        n += !*text_of(pod, "node") && strcmp(text_of(pod, "phase"), "Pending") == 0;
    }
    return n;
}

static size_t n_bound(const json_t *report)
{
    const json_t *binds = json_object_get(report, "binds");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(binds); i++)
        n += !json_is_true(json_object_get(json_array_get(binds, i), "failed"));
    return n;
}

void maar_simulate_headline(const json_t *report, struct maar_text *out)
{
    size_t waiting = n_waiting(report), bound = n_bound(report);
    long long cycles = (long long)json_integer_value(json_object_get(report, "cycles"));
    maar_autofree char *name = maar_simulate_escape(text_of(report, "scenario"), false);
    maar_text_addf(out, "%s: %lld cycle%s, %zu pod%s bound, %zu evicted, %zu waiting", name, cycles,
                   cycles == 1 ? "" : "s", bound, bound == 1 ? "" : "s",
                   json_array_size(json_object_get(report, "evictions")), waiting);
    json_t *without = groups_without_pods(report);
    if (json_object_size(without) > 0)
        maar_text_addf(out, ", %zu PodGroup%s without pods", json_object_size(without),
                       json_object_size(without) == 1 ? "" : "s");
    json_decref(without);
    maar_text_add(out, "\n");
}

void maar_simulate_table(const json_t *report, struct maar_text *out)
{
    maar_simulate_headline(report, out);
    print_binds(report, out);
    print_evictions(report, out);
    print_waiting(report, out);
    print_groups(report, out);
    print_queues(report, out);
    print_violations(report, out);
}
