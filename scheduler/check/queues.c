/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Queues: amounts that contradict each other, the tree, and fields that no plugin of the configuration reads. The rules
 * on amounts are those of Volcano's admission. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/parts.h"
#include "sim/document.h"
#include "wire/wire.h"

#define MAX_DEPTH 1000 /* of queues above one */

static const char *conf_words(const struct maar_check *check)
{
    return check->conf_is_built_in ? "the built-in scheduler.conf" : check->conf->source;
}

static const struct maar_amount *find_amount(const struct maar_amounts_record *amounts,
                                             const char *name)
{
    for (uint32_t i = 0; i < amounts->n; i++)
        if (strcmp(amounts->items[i].name, name) == 0)
            return &amounts->items[i];
    return NULL;
}

/* Each amount of `low` must be within the one of the same name in `high`. */
static void check_within(struct maar_check *check, const struct maar_check_object *object,
                         const char *low_path, const struct maar_amounts_record *low,
                         const char *high_words, const struct maar_amounts_record *high)
{
    const struct maar_field at = maar_check_path(&object->field, low_path);
    for (uint32_t i = 0; i < low->n; i++) {
        const struct maar_amount *amount = &low->items[i];
        const struct maar_amount *limit = find_amount(high, amount->name);
        char is[32], allowed[32];
        if (!limit || amount->value <= limit->value)
            continue;
        struct maar_field field = maar_field_key(&at, amount->name);
        maar_findings_add(&check->findings, &field, true, NULL, "%s is more than %s, %s",
                          maar_wire_quantity(amount->name, amount->value, is), high_words,
                          maar_wire_quantity(amount->name, limit->value, allowed));
    }
}

/* ---- the tree ---- */

static const struct maar_check_object *find_queue(const struct maar_check *check, const char *name)
{
    const struct maar_check_object *object = maar_check_find(check, "Queue", "", name);
    return object && object->record ? object : NULL;
}

static const struct maar_check_object *parent_of(const struct maar_check *check,
                                                 const struct maar_check_object *object)
{
    const char *parent = object->record->queue.parent;
    return *parent ? find_queue(check, parent) : NULL;
}

static bool is_in_cycle(const struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_check_object *at = object;
    for (size_t i = 0; at && i < MAX_DEPTH; i++) {
        at = parent_of(check, at);
        if (at == object)
            return true;
    }
    return false;
}

static void check_parent(struct maar_check *check, const struct maar_check_object *object)
{
    const char *parent = object->record->queue.parent;
    const struct maar_field field = maar_check_path(&object->field, "spec.parent");
    const struct maar_conf_plugin *capacity = maar_check_conf_plugin(check, "capacity");
    if (!*parent)
        return;
    if (strcmp(parent, object->name) == 0)
        maar_findings_add(&check->findings, &field, true, NULL, "a queue cannot be its own parent");
    else if (is_in_cycle(check, object))
        maar_findings_add(&check->findings, &field, true, NULL,
                          "the parents of %.100s lead back to it; one of them must be root or "
                          "have no parent",
                          object->name);
    else if (strcmp(parent, "root") != 0)
        maar_check_reference(check, &field, "Queue", "", parent);
    bool is_tree = capacity && ((capacity->arguments.enable >> MAAR_ENABLE_HIERARCHY) & 1);
    if (strcmp(parent, "root") != 0 && !is_tree)
        maar_findings_add(&check->findings, &field, false, NULL,
                          "no plugin of %s reads it; queues are a tree with capacity and its "
                          "enableHierarchy: true",
                          conf_words(check));
}

/* The nearest ancestor that limits a resource counts. */
static void check_ancestors(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_queue_record *queue = &object->record->queue;
    const struct maar_field at = maar_check_path(&object->field, "spec.capability");
    for (uint32_t i = 0; i < queue->capability.n; i++) {
        const struct maar_amount *amount = &queue->capability.items[i];
        const struct maar_amount *limit = NULL;
        const struct maar_check_object *up = parent_of(check, object);
        for (size_t depth = 0; up && up != object && depth < MAX_DEPTH && !limit; depth++) {
            char is[32], allowed[32];
            limit = find_amount(&up->record->queue.capability, amount->name);
            struct maar_field field = maar_field_key(&at, amount->name);
            if (limit && amount->value > limit->value)
                maar_findings_add(&check->findings, &field, true, NULL,
                                  "%s is more than the capability of queue %.100s above it, %s",
                                  maar_wire_quantity(amount->name, amount->value, is), up->name,
                                  maar_wire_quantity(amount->name, limit->value, allowed));
            up = parent_of(check, up);
        }
    }
}

/* ---- what children have together ---- */

static void sum_key(char *out, size_t size, const char *queue, const char *set, const char *name)
{
    snprintf(out, size, "%.253s %s %.253s", queue, set, name);
}

static void add_sums(struct maar_check *check, const char *parent, const char *set,
                     const struct maar_amounts_record *amounts)
{
    for (uint32_t i = 0; i < amounts->n; i++) {
        char key[600];
        sum_key(key, sizeof key, parent, set, amounts->items[i].name);
        int64_t *sum = maar_map_find(check->sums, key);
        if (!sum) {
            sum = maar_calloc(1, sizeof *sum);
            maar_map_set(check->sums, key, sum);
        }
        if (__builtin_add_overflow(*sum, amounts->items[i].value, sum))
            *sum = INT64_MAX;
    }
}

void maar_check_collect_queue(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_queue_record *queue = &object->record->queue;
    if (!*queue->parent)
        return;
    add_sums(check, queue->parent, "deserved", &queue->deserved);
    add_sums(check, queue->parent, "guarantee", &queue->guarantee);
}

static void check_sums(struct maar_check *check, const struct maar_check_object *object,
                       const char *path, const char *set, const struct maar_amounts_record *amounts)
{
    const struct maar_field at = maar_check_path(&object->field, path);
    for (uint32_t i = 0; i < amounts->n; i++) {
        const struct maar_amount *amount = &amounts->items[i];
        char key[600], is[32], all[32];
        sum_key(key, sizeof key, object->name, set, amount->name);
        const int64_t *sum = maar_map_find(check->sums, key);
        struct maar_field field = maar_field_key(&at, amount->name);
        if (sum && *sum > amount->value)
            maar_findings_add(&check->findings, &field, true, NULL,
                              "%s is less than its child queues have together, %s",
                              maar_wire_quantity(amount->name, amount->value, is),
                              maar_wire_quantity(amount->name, *sum, all));
    }
}

/* ---- fields that somebody must read ---- */

static void check_readers(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_queue_record *queue = &object->record->queue;
    bool has_proportion = maar_check_conf_plugin(check, "proportion") != NULL;
    bool has_capacity = maar_check_conf_plugin(check, "capacity") != NULL;
    const struct {
        const char *path;
        bool is_set;
        bool has_reader;
        const char *readers;
    } fields[] = {
        {"spec.capability", queue->capability.n > 0, has_proportion || has_capacity,
         "proportion or capacity"},
        {"spec.guarantee", queue->guarantee.n > 0, has_proportion || has_capacity,
         "proportion or capacity"},
        {"spec.deserved", queue->deserved.n > 0, has_capacity, "capacity"},
        {"spec.weight", queue->weight != 1, has_proportion, "proportion"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct maar_field field = maar_check_path(&object->field, fields[i].path);
        if (fields[i].is_set && !fields[i].has_reader)
            maar_findings_add(&check->findings, &field, false, NULL,
                              "no plugin of %s reads it; %s would", conf_words(check),
                              fields[i].readers);
    }
}

static void check_names(struct maar_check *check, const struct maar_check_object *object)
{
    static const char *const paths[] = {"spec.capability", "spec.deserved",
                                        "spec.guarantee.resource"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct maar_field field = maar_check_path(&object->field, paths[i]);
        maar_check_resources(check, &field, maar_document_at(object->document, paths[i]));
    }
}

void maar_check_queue(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_queue_record *queue = &object->record->queue;
    check_within(check, object, "spec.deserved", &queue->deserved, "spec.capability",
                 &queue->capability);
    check_within(check, object, "spec.guarantee.resource", &queue->guarantee, "spec.deserved",
                 &queue->deserved);
    check_within(check, object, "spec.guarantee.resource", &queue->guarantee, "spec.capability",
                 &queue->capability);
    check_parent(check, object);
    check_ancestors(check, object);
    check_sums(check, object, "spec.deserved", "deserved", &queue->deserved);
    check_sums(check, object, "spec.guarantee.resource", "guarantee", &queue->guarantee);
    check_readers(check, object);
    check_names(check, object);
}
