/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Where paths stand in a YAML text: the events are read again, once for all paths, and only the ways to them are
 * followed. It serves messages about values that were found wrong after reading. */

#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/map.h"
#include "base/memory.h"
#include "wire/yaml_scalar.h"

/* One step of a path. */
struct step {
    const char *key;
    size_t n;
    const char *rest;
};

/* "a.b", "[3].b", "[a.b/c]" or "[\"a.b\"]": the first step; false at the end of the path or when it is broken. */
static bool next_step(const char *path, struct step *step)
{
    if (*path == '.')
        path++;
    if (*path == '\0')
        return false;
    if (*path != '[') {
        step->key = path;
        step->n = strcspn(path, ".[");
        step->rest = path + step->n;
        return step->n > 0;
    }
    const char *end = path[1] == '"' ? strstr(path + 2, "\"]") : strchr(path, ']');
    if (!end)
        return false;
    step->key = path + (path[1] == '"' ? 2 : 1);
    step->n = (size_t)(end - step->key);
    step->rest = end + (path[1] == '"' ? 2 : 1);
    return true;
}

/* The steps of all paths as a tree; the root is a document. */
struct way {
    int line; /* 0: not met */
    int column;
    struct maar_map *next; /* key, or index in digits → struct way */
};

static struct way *create_way(void)
{
    struct way *way = maar_calloc(1, sizeof *way);
    way->next = maar_map_create();
    return way;
}

/* As deep as the longest path. */
static void destroy_way(struct way *way)
{
    size_t at = 0;
    void *next;
    while (maar_map_next(way->next, &at, NULL, NULL, &next))
        destroy_way(next);
    maar_map_destroy(way->next);
    free(way);
}

static void add_path(struct way *way, const char *path)
{
    struct step step;
    while (next_step(path, &step)) {
        struct way *next = maar_map_find_bytes(way->next, step.key, step.n);
        if (!next) {
            next = create_way();
            maar_map_set_bytes(way->next, step.key, step.n, next);
        }
        way = next;
        path = step.rest;
    }
}

/* The place of the longest part of the path that was met. */
static void read_place(const struct way *way, struct maar_yaml_place *place)
{
    const char *path = place->path;
    struct step step;
    while (way && way->line > 0) {
        place->line = way->line;
        place->column = way->column;
        way = next_step(path, &step) ? maar_map_find_bytes(way->next, step.key, step.n) : NULL;
        path = way ? step.rest : path;
    }
}

struct locator {
    yaml_parser_t parser;
    struct maar_map *documents; /* number → struct way */
};

static bool is_start(yaml_event_type_t type)
{
    return type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
}

static bool is_end(yaml_event_type_t type)
{
    return type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT;
}

/* Passes over the rest of a node whose first event was `first`. */
static bool skip_node(struct locator *locator, yaml_event_type_t first)
{
    size_t depth = is_start(first) ? 1 : 0;
    while (depth > 0) {
        yaml_event_t event;
        if (!yaml_parser_parse(&locator->parser, &event))
            return false;
        if (is_start(event.type))
            depth++;
        else if (is_end(event.type))
            depth--;
        else if (event.type == YAML_NO_EVENT)
            depth = 0;
        yaml_event_delete(&event);
    }
    return true;
}

static void meet(struct way *way, const yaml_event_t *event)
{
    way->line = (int)event->start_mark.line + 1;
    way->column = (int)event->start_mark.column + 1;
}

static bool walk(struct locator *locator, struct way *way, yaml_event_type_t first);

/* Reads a value, along the way when there is one. */
static bool walk_value(struct locator *locator, struct way *way)
{
    yaml_event_t event;
    if (!yaml_parser_parse(&locator->parser, &event))
        return false;
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    return way ? walk(locator, way, type) : skip_node(locator, type);
}

static struct way *way_of_key(const struct way *way, const yaml_event_t *event)
{
    maar_autofree char *key = NULL;
    if (event->type != YAML_SCALAR_EVENT || maar_yaml_key(event, &key, NULL) < 0)
        return NULL;
    return maar_map_find(way->next, key);
}

static bool walk_map(struct locator *locator, struct way *way)
{
    for (;;) {
        yaml_event_t key;
        if (!yaml_parser_parse(&locator->parser, &key))
            return false;
        struct way *next = way_of_key(way, &key);
        if (next)
            meet(next, &key);
        yaml_event_type_t type = key.type;
        yaml_event_delete(&key);
        if (is_end(type) || type == YAML_NO_EVENT)
            return is_end(type);
        if (!skip_node(locator, type) || !walk_value(locator, next))
            return false;
    }
}

static bool walk_list(struct locator *locator, struct way *way)
{
    for (size_t i = 0;; i++) {
        yaml_event_t item;
        char index[24];
        if (!yaml_parser_parse(&locator->parser, &item))
            return false;
        yaml_event_type_t type = item.type;
        (void)snprintf(index, sizeof index, "%zu", i);
        struct way *next = is_end(type) ? NULL : maar_map_find(way->next, index);
        if (next)
            meet(next, &item);
        yaml_event_delete(&item);
        if (is_end(type) || type == YAML_NO_EVENT)
            return is_end(type);
        if (next ? !walk(locator, next, type) : !skip_node(locator, type))
            return false;
    }
}

/* Reads the rest of a node whose first event was `first`. */
static bool walk(struct locator *locator, struct way *way, yaml_event_type_t first)
{
    if (maar_map_n(way->next) == 0)
        return skip_node(locator, first);
    if (first == YAML_MAPPING_START_EVENT)
        return walk_map(locator, way);
    if (first == YAML_SEQUENCE_START_EVENT)
        return walk_list(locator, way);
    return true;
}

/* A document that is null counts for nothing, as in maar_wire_yaml_each. */
static bool is_nothing(const yaml_event_t *event)
{
    json_auto_t *value = NULL;
    if (event->type != YAML_SCALAR_EVENT || maar_yaml_scalar(event, &value, NULL) < 0)
        return false;
    return json_is_null(value);
}

static void walk_documents(struct locator *locator, size_t n_documents)
{
    size_t n_met = 0;
    for (size_t i = 0; n_met < n_documents;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&locator->parser, &event))
            return;
        yaml_event_type_t type = event.type;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT)
            return;
        if (type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (!yaml_parser_parse(&locator->parser, &event))
            return;
        struct way *way =
            is_nothing(&event) ? NULL : maar_map_find_int(locator->documents, (uint64_t)i++);
        if (way) {
            meet(way, &event);
            n_met++;
        }
        type = event.type;
        yaml_event_delete(&event);
        if (way ? !walk(locator, way, type) : !skip_node(locator, type))
            return;
    }
}

void maar_wire_yaml_locate_all(const char *text, size_t n, struct maar_yaml_place *places,
                               size_t n_places)
{
    struct locator locator = {.documents = maar_map_create()};
    size_t at = 0;
    void *value;
    for (size_t i = 0; i < n_places; i++) {
        struct way *way = maar_map_find_int(locator.documents, places[i].document);
        if (!way) {
            way = create_way();
            maar_map_set_int(locator.documents, places[i].document, way);
        }
        add_path(way, places[i].path);
        places[i].line = places[i].column = 0;
    }
    if (yaml_parser_initialize(&locator.parser)) {
        yaml_parser_set_input_string(&locator.parser, (const unsigned char *)text, n);
        walk_documents(&locator, maar_map_n(locator.documents));
        yaml_parser_delete(&locator.parser);
    }
    for (size_t i = 0; i < n_places; i++)
        read_place(maar_map_find_int(locator.documents, places[i].document), &places[i]);
    while (maar_map_next(locator.documents, &at, NULL, NULL, &value))
        destroy_way(value);
    maar_map_destroy(locator.documents);
}

int maar_wire_yaml_locate(const char *text, size_t n, size_t index, const char *path, int *ret_line,
                          int *ret_column)
{
    struct maar_yaml_place place = {.document = index, .path = path};
    maar_wire_yaml_locate_all(text, n, &place, 1);
    if (place.line == 0)
        return -ENOENT;
    *ret_line = place.line;
    *ret_column = place.column;
    return 0;
}
