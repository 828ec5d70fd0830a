/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Where a path stands in a YAML text: the events are read again and only the way to the path is followed. Slow and
 * rare: it serves messages about a value that was found wrong after reading. */

#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

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

static bool is_index(const struct step *step, size_t *ret_index)
{
    size_t index = 0;
    if (step->n == 0 || step->n > 9)
        return false;
    for (size_t i = 0; i < step->n; i++) {
        if (step->key[i] < '0' || step->key[i] > '9')
            return false;
        index = index * 10 + (size_t)(step->key[i] - '0');
    }
    *ret_index = index;
    return true;
}

struct locator {
    yaml_parser_t parser;
    yaml_mark_t found;
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

static bool is_key(const yaml_event_t *event, const struct step *step)
{
    maar_autofree char *key = NULL;
    if (event->type != YAML_SCALAR_EVENT || maar_yaml_key(event, &key, NULL) < 0)
        return false;
    return strlen(key) == step->n && memcmp(key, step->key, step->n) == 0;
}

/* Goes on to the entry of a map; true with its value's first event. */
static bool enter_map(struct locator *locator, const struct step *step, yaml_event_t *ret_event)
{
    for (;;) {
        yaml_event_t key;
        yaml_event_t value;
        if (!yaml_parser_parse(&locator->parser, &key))
            return false;
        bool is_wanted = is_key(&key, step);
        yaml_mark_t mark = key.start_mark;
        yaml_event_type_t type = key.type;
        yaml_event_delete(&key);
        if (is_end(type) || type == YAML_NO_EVENT || !skip_node(locator, type) ||
            !yaml_parser_parse(&locator->parser, &value))
            return false;
        if (is_wanted) {
            locator->found = mark;
            *ret_event = value;
            return true;
        }
        type = value.type;
        yaml_event_delete(&value);
        if (!skip_node(locator, type))
            return false;
    }
}

static bool enter_list(struct locator *locator, const struct step *step, yaml_event_t *ret_event)
{
    size_t index;
    if (!is_index(step, &index))
        return false;
    for (size_t i = 0;; i++) {
        yaml_event_t item;
        if (!yaml_parser_parse(&locator->parser, &item))
            return false;
        yaml_event_type_t type = item.type;
        if (i == index && !is_end(type)) {
            locator->found = item.start_mark;
            *ret_event = item;
            return true;
        }
        yaml_event_delete(&item);
        if (is_end(type) || type == YAML_NO_EVENT || !skip_node(locator, type))
            return false;
    }
}

static void follow(struct locator *locator, const char *path, yaml_event_t event)
{
    struct step step;
    bool goes_on = true;
    while (goes_on && next_step(path, &step)) {
        yaml_event_t next = {0};
        goes_on = event.type == YAML_MAPPING_START_EVENT    ? enter_map(locator, &step, &next)
                  : event.type == YAML_SEQUENCE_START_EVENT ? enter_list(locator, &step, &next)
                                                            : false;
        path = step.rest;
        yaml_event_delete(&event);
        event = next;
    }
    yaml_event_delete(&event);
}

/* A document that is null counts for nothing, as in maar_wire_yaml_each. */
static bool is_nothing(const yaml_event_t *event)
{
    json_auto_t *value = NULL;
    if (event->type != YAML_SCALAR_EVENT || maar_yaml_scalar(event, &value, NULL) < 0)
        return false;
    return json_is_null(value);
}

/* Goes to the first event of document `index`. */
static bool find_document(struct locator *locator, size_t index, yaml_event_t *ret_event)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&locator->parser, &event))
            return false;
        yaml_event_type_t type = event.type;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT)
            return false;
        if (type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (!yaml_parser_parse(&locator->parser, &event))
            return false;
        if (!is_nothing(&event) && index-- == 0) {
            *ret_event = event;
            return true;
        }
        type = event.type;
        yaml_event_delete(&event);
        if (!skip_node(locator, type))
            return false;
    }
}

int maar_wire_yaml_locate(const char *text, size_t n, size_t index, const char *path, int *ret_line,
                          int *ret_column)
{
    struct locator locator = {0};
    yaml_event_t event;
    if (!yaml_parser_initialize(&locator.parser))
        return -ENOMEM;
    yaml_parser_set_input_string(&locator.parser, (const unsigned char *)text, n);
    bool is_there = find_document(&locator, index, &event);
    if (is_there) {
        locator.found = event.start_mark;
        follow(&locator, path, event);
        *ret_line = (int)locator.found.line + 1;
        *ret_column = (int)locator.found.column + 1;
    }
    yaml_parser_delete(&locator.parser);
    return is_there ? 0 : -ENOENT;
}
