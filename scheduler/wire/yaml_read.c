/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* YAML documents to JSON values, from libyaml's events. Anchors are copied where they are used (a shared value would
 * change in two places), within a budget, so that a few lines cannot stand for gigabytes. Merge keys yield to keys
 * that are written out. A text that is JSON from beginning to end is read by jansson, which is faster and knows
 * surrogate pairs. */

#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "wire/json_value.h"
#include "wire/yaml_scalar.h"

#define TEXT_MAX          ((size_t)100 * 1000 * 1000)
#define DEPTH_MAX         128u
#define ALIASED_NODES_MAX ((size_t)1000 * 1000)
#define ALIASED_BYTES_MAX TEXT_MAX

struct size {
    size_t n_nodes;
    size_t n_bytes; /* of texts */
    unsigned height;
};

struct anchor {
    json_t *value;
    struct size size;
};

struct reader {
    yaml_parser_t parser;
    const char *source;
    struct maar_error *err;
    struct maar_map *anchors; /* of the document; NULL before the first */
    size_t n_aliased_nodes;
    size_t n_aliased_bytes;
};

static int fault_at(struct reader *reader, yaml_mark_t mark, const char *what)
{
    return maar_error_set(reader->err, -EINVAL, "%s:%zu:%zu: %s", reader->source, mark.line + 1,
                          mark.column + 1, what);
}

static int next_event(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return 0;
    const yaml_parser_t *parser = &reader->parser;
    yaml_mark_t mark = parser->problem_mark;
    const char *context = parser->context;
    if (parser->error == YAML_READER_ERROR)
        return maar_error_set(reader->err, -EINVAL, "%s: %s at byte %zu", reader->source,
                              parser->problem, parser->problem_offset);
    return maar_error_set(reader->err, -EINVAL, "%s:%zu:%zu: %s%s%s", reader->source, mark.line + 1,
                          mark.column + 1, parser->problem ? parser->problem : "out of memory",
                          context ? ", " : "", context ? context : "");
}

static void forget_anchors(struct reader *reader)
{
    size_t at = 0;
    void *value;
    while (reader->anchors && maar_map_next(reader->anchors, &at, NULL, NULL, &value)) {
        struct anchor *anchor = value;
        json_decref(anchor->value);
        free(anchor);
    }
    maar_map_destroy(reader->anchors);
    reader->anchors = NULL;
}

static void remember(struct reader *reader, const yaml_char_t *name, json_t *value,
                     const struct size *size)
{
    if (!name)
        return;
    if (!reader->anchors)
        reader->anchors = maar_map_create();
    struct anchor *anchor = maar_malloc(sizeof *anchor);
    anchor->value = json_incref(value);
    anchor->size = *size;
    struct anchor *before = maar_map_set(reader->anchors, (const char *)name, anchor);
    if (before) {
        json_decref(before->value);
        free(before);
    }
}

static int read_alias(struct reader *reader, const yaml_event_t *event, unsigned depth,
                      json_t **ret_value, struct size *ret_size)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = reader->anchors ? maar_map_find(reader->anchors, name) : NULL;
    if (!anchor)
        return fault_at(reader, event->start_mark, "no anchor of that name stands before");
    reader->n_aliased_nodes += anchor->size.n_nodes;
    reader->n_aliased_bytes += anchor->size.n_bytes;
    if (reader->n_aliased_nodes > ALIASED_NODES_MAX || reader->n_aliased_bytes > ALIASED_BYTES_MAX)
        return fault_at(reader, event->start_mark, "aliases stand for too much");
    if (depth + anchor->size.height > DEPTH_MAX)
        return fault_at(reader, event->start_mark, "nesting is too deep");
    /* A copy: what two places share would change in both. */
    *ret_value = json_deep_copy(anchor->value);
    *ret_size = anchor->size;
    return 0;
}

static int read_node(struct reader *reader, yaml_event_t *event, unsigned depth, json_t **ret_value,
                     struct size *ret_size);

/* Reads the node that comes next. */
static int read_next(struct reader *reader, unsigned depth, json_t **ret_value,
                     struct size *ret_size)
{
    yaml_event_t event;
    int rc = next_event(reader, &event);
    if (rc < 0)
        return rc;
    rc = read_node(reader, &event, depth, ret_value, ret_size);
    yaml_event_delete(&event);
    return rc;
}

static void add_size(struct size *sum, const struct size *part)
{
    sum->n_nodes += part->n_nodes;
    sum->n_bytes += part->n_bytes;
    if (sum->height < part->height + 1)
        sum->height = part->height + 1;
}

static int read_sequence(struct reader *reader, unsigned depth, json_t *array, struct size *size)
{
    for (;;) {
        yaml_event_t event;
        int rc = next_event(reader, &event);
        if (rc < 0)
            return rc;
        bool is_end = event.type == YAML_SEQUENCE_END_EVENT;
        json_t *item = NULL;
        struct size item_size = {0};
        if (!is_end)
            rc = read_node(reader, &event, depth + 1, &item, &item_size);
        yaml_event_delete(&event);
        if (is_end || rc < 0)
            return rc;
        json_array_append_new(array, item);
        add_size(size, &item_size);
    }
}

/* A map, or a list of maps of which earlier ones win. Keys that are there stay. */
static int merge(struct reader *reader, yaml_mark_t mark, json_t *object, json_t *from)
{
    if (json_is_object(from)) {
        json_object_update_missing(object, from);
        return 0;
    }
    if (!json_is_array(from))
        return fault_at(reader, mark, "\"<<\" takes a map or a list of maps");
    size_t i;
    json_t *item;
    json_array_foreach (from, i, item) {
        if (!json_is_object(item))
            return fault_at(reader, mark, "\"<<\" takes a map or a list of maps");
        json_object_update_missing(object, item);
    }
    return 0;
}

struct merges {
    json_t *sources; /* an array, NULL before the first "<<" */
    yaml_mark_t mark;
};

/* One key, which `event` is, and its value. */
static int read_entry(struct reader *reader, const yaml_event_t *event, unsigned depth,
                      json_t *object, struct merges *merges, struct size *size)
{
    maar_autofree char *key = NULL;
    struct maar_error why = MAAR_ERROR_INIT;
    struct size value_size = {0};
    json_t *value = NULL;
    if (event->type != YAML_SCALAR_EVENT)
        return fault_at(reader, event->start_mark, "a key must be a text");
    bool is_merge = maar_yaml_is_merge_key(event);
    if (!is_merge && maar_yaml_key(event, &key, &why) < 0)
        return fault_at(reader, event->start_mark, why.text);
    if (key && json_object_get(object, key))
        return maar_error_set(reader->err, -EINVAL, "%s:%zu:%zu: key \"%.128s\" is there twice",
                              reader->source, event->start_mark.line + 1,
                              event->start_mark.column + 1, key);
    int rc = read_next(reader, depth + 1, &value, &value_size);
    if (rc < 0)
        return rc;
    add_size(size, &value_size);
    if (is_merge) {
        if (!merges->sources)
            merges->sources = json_array();
        merges->mark = event->start_mark;
        json_array_append_new(merges->sources, value);
    } else {
        size->n_bytes += event->data.scalar.length;
        json_object_set_new(object, key, value);
    }
    return 0;
}

static int read_entries(struct reader *reader, unsigned depth, json_t *object,
                        struct merges *merges, struct size *size)
{
    for (;;) {
        yaml_event_t event;
        int rc = next_event(reader, &event);
        if (rc < 0)
            return rc;
        bool is_end = event.type == YAML_MAPPING_END_EVENT;
        if (!is_end)
            rc = read_entry(reader, &event, depth, object, merges, size);
        yaml_event_delete(&event);
        if (is_end || rc < 0)
            return rc;
    }
}

static int read_mapping(struct reader *reader, unsigned depth, json_t *object, struct size *size)
{
    struct merges merges = {0};
    int rc = read_entries(reader, depth, object, &merges, size);
    size_t i;
    json_t *source;
    json_array_foreach (merges.sources, i, source) {
        if (rc == 0)
            rc = merge(reader, merges.mark, object, source);
    }
    json_decref(merges.sources);
    return rc;
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, json_t **ret_value,
                       struct size *size)
{
    struct maar_error why = MAAR_ERROR_INIT;
    if (maar_yaml_scalar(event, ret_value, &why) < 0)
        return fault_at(reader, event->start_mark, why.text);
    size->n_bytes = event->data.scalar.length;
    remember(reader, event->data.scalar.anchor, *ret_value, size);
    return 0;
}

static int read_collection(struct reader *reader, const yaml_event_t *event, unsigned depth,
                           json_t **ret_value, struct size *size)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    json_t *value = is_map ? json_object() : json_array();
    int rc = is_map ? read_mapping(reader, depth, value, size)
                    : read_sequence(reader, depth, value, size);
    if (rc < 0) {
        json_decref(value);
        return rc;
    }
    remember(reader, is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
             value, size);
    *ret_value = value;
    return 0;
}

static int read_node(struct reader *reader, yaml_event_t *event, unsigned depth, json_t **ret_value,
                     struct size *ret_size)
{
    *ret_size = (struct size){.n_nodes = 1};
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, depth, ret_value, ret_size);
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, ret_value, ret_size);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (depth >= DEPTH_MAX)
            return fault_at(reader, event->start_mark, "nesting is too deep");
        return read_collection(reader, event, depth, ret_value, ret_size);
    default:
        return fault_at(reader, event->start_mark, "a value is missing");
    }
}

/* The value after a document's start; documents of nothing are passed over. */
static int read_document(struct reader *reader, maar_wire_document_fn each, void *context)
{
    yaml_event_t event;
    json_t *value = NULL;
    struct size size = {0};
    int rc = next_event(reader, &event);
    if (rc < 0)
        return rc;
    int line = (int)event.start_mark.line + 1;
    rc = read_node(reader, &event, 0, &value, &size);
    yaml_event_delete(&event);
    forget_anchors(reader);
    if (rc == 0 && !json_is_null(value))
        rc = each(context, value, line, reader->err);
    json_decref(value);
    return rc;
}

static int read_stream(struct reader *reader, maar_wire_document_fn each, void *context)
{
    for (;;) {
        yaml_event_t event;
        int rc = next_event(reader, &event);
        if (rc < 0)
            return rc;
        yaml_event_type_t type = event.type;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return 0;
        if (type == YAML_DOCUMENT_START_EVENT)
            rc = read_document(reader, each, context);
        if (rc != 0)
            return rc;
    }
}

static int read_yaml(const char *text, size_t n, const char *source, maar_wire_document_fn each,
                     void *context, struct maar_error *err)
{
    struct reader reader = {.source = source, .err = err};
    if (!yaml_parser_initialize(&reader.parser))
        return maar_error_set(err, -ENOMEM, "%s: out of memory", source);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, n);
    int rc = read_stream(&reader, each, context);
    forget_anchors(&reader);
    yaml_parser_delete(&reader.parser);
    return rc;
}

/* ---- JSON ---- */

struct json_document {
    json_t *value;
    int line;
};

struct json_documents {
    struct json_document *data;
    size_t n;
    size_t capacity;
};

static size_t n_spaces(const char *text, size_t n, int *line)
{
    size_t i = 0;
    for (; i < n && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'); i++)
        *line += text[i] == '\n';
    return i;
}

static bool is_within_depth(const json_t *value, unsigned room)
{
    if (!json_is_object(value) && !json_is_array(value))
        return true;
    if (room == 0)
        return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_within_depth(json_array_get(value, i), room - 1))
            return false;
    for (struct maar_json_each each = maar_json_each(value); maar_json_next(&each);)
        if (!is_within_depth(each.value, room - 1))
            return false;
    return true;
}

/* True when the whole text is a series of JSON maps and lists. */
static bool read_json(const char *text, size_t n, struct json_documents *documents)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK;
    int line = 1;
    size_t at = n_spaces(text, n, &line);
    while (at < n) {
        json_error_t fault;
        if (text[at] != '{' && text[at] != '[')
            return false;
        json_t *value = json_loadb(text + at, n - at, flags, &fault);
        if (!value)
            return false;
        struct json_document document = {value, line};
        maar_vec_push(documents, document);
        if (!is_within_depth(value, DEPTH_MAX))
            return false;
        size_t end = at + (size_t)fault.position;
        for (; at < end; at++)
            line += text[at] == '\n';
        at += n_spaces(text + at, n - at, &line);
    }
    return documents->n > 0;
}

int maar_wire_yaml_each(const char *text, size_t n, const char *source, maar_wire_document_fn each,
                        void *context, struct maar_error *err)
{
    struct json_documents documents = {0};
    int rc = 0;
    if (n > TEXT_MAX)
        return maar_error_set(err, -EFBIG, "%s: more than %zu bytes", source, TEXT_MAX);
    if (read_json(text, n, &documents)) {
        for (size_t i = 0; i < documents.n && rc == 0; i++)
            rc = each(context, documents.data[i].value, documents.data[i].line, err);
    } else {
        rc = read_yaml(text, n, source, each, context, err);
    }
    for (size_t i = 0; i < documents.n; i++)
        json_decref(documents.data[i].value);
    maar_vec_fini(&documents);
    return rc;
}
