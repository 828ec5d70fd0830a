/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* From libyaml's events to a tree. Every node counts against fixed bounds before it is made, a node
 * that came by an alias like any other, so that a short file cannot grow into a huge tree. An
 * anchor keeps a copy of its node; as it is known only after the node's end, a node cannot contain
 * itself. */

#include "conf/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "conf/scalar.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

struct reader {
    yaml_parser_t parser;
    const char *source;
    const char *text;
    size_t n_text;
    maar_yaml_warn_fn warn;
    void *context;
    size_t n_nodes;
    size_t n_bytes;
    struct maar_map *anchors; /* name → struct maar_argument_node, a copy */
    struct maar_error *err;
};

static int line_of(const yaml_mark_t *mark)
{
    return (int)mark->line + 1;
}

static int column_of(const yaml_mark_t *mark)
{
    return (int)mark->column + 1;
}

static int fail_at(struct reader *reader, int line, int column, const char *text)
{
    return maar_error_set(reader->err, -EINVAL, "%s:%d:%d: %s", reader->source, line, column, text);
}

/* A fault of the encoding comes with a byte offset only. */
static int fail_reader(struct reader *reader)
{
    size_t offset = reader->parser.problem_offset;
    int line = 1;
    int column = 1;
    for (size_t i = 0; i < offset && i < reader->n_text; i++) {
        column++;
        if (reader->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    const char *problem = reader->parser.problem ? reader->parser.problem : "not readable";
    return maar_error_set(reader->err, -EINVAL,
                          "%s:%d:%d: not valid YAML: %s; the file must be UTF-8 text",
                          reader->source, line, column, problem);
}

static int fail_parser(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_READER_ERROR)
        return fail_reader(reader);
    const char *problem = parser->problem ? parser->problem : "not readable";
    const char *advice = "look for wrong indentation, a missing ':' or quote above this place";
    if (strstr(problem, "cannot start any token"))
        advice = "indent with spaces, not tabs, and put texts with special characters in quotes";
    if (!parser->context)
        return maar_error_set(reader->err, -EINVAL, "%s:%d:%d: not valid YAML: %s; %s",
                              reader->source, line_of(&parser->problem_mark),
                              column_of(&parser->problem_mark), problem, advice);
    return maar_error_set(
        reader->err, -EINVAL, "%s:%d:%d: not valid YAML: %s %s that starts in line %d; %s",
        reader->source, line_of(&parser->problem_mark), column_of(&parser->problem_mark), problem,
        parser->context, line_of(&parser->context_mark), advice);
}

static int next_event(struct reader *reader, yaml_event_t *event)
{
    if (!yaml_parser_parse(&reader->parser, event))
        return fail_parser(reader);
    return 0;
}

static int count_node(struct reader *reader, int line, int column, size_t n_bytes, unsigned depth)
{
    if (depth > MAAR_YAML_MAX_DEPTH)
        return fail_at(reader, line, column, "nested deeper than 64 levels; make it flatter");
    if (++reader->n_nodes > MAAR_YAML_MAX_NODES)
        return fail_at(reader, line, column,
                       "more than 100000 values, aliases included; make the file smaller");
    reader->n_bytes += n_bytes;
    if (reader->n_bytes > MAAR_YAML_MAX_TEXT_BYTES)
        return fail_at(reader, line, column,
                       "more than 8 MiB of text, aliases included; make the file smaller");
    return 0;
}

/* ---- copies of anchored nodes ---------------------------------------------------------------- */

/* Copies everything but the key into *out, which is empty. What was copied before a failure stays
 * in *out. */
static int copy_node(struct reader *reader, const struct maar_argument_node *from,
                     struct maar_argument_node *out, unsigned depth)
{
    int rc =
        count_node(reader, from->line, from->column, strlen(from->key) + strlen(from->text), depth);
    if (rc < 0)
        return rc;
    *out = *from;
    out->key = maar_strdup("");
    out->text = maar_strdup(from->text);
    out->n_children = 0;
    out->children = NULL;
    if (from->n_children == 0)
        return 0;
    out->children = maar_calloc(from->n_children, sizeof *out->children);
    for (size_t i = 0; i < from->n_children; i++) {
        struct maar_argument_node *child = &out->children[out->n_children++];
        rc = copy_node(reader, &from->children[i], child, depth + 1);
        if (rc < 0)
            return rc;
        free(child->key);
        child->key = maar_strdup(from->children[i].key);
    }
    return 0;
}

static void destroy_node(struct maar_argument_node *node)
{
    if (node)
        maar_argument_node_fini(node);
    free(node);
}

/* A name may be given again; from there on it stands for the new node. */
static int keep_anchor(struct reader *reader, const char *name,
                       const struct maar_argument_node *node, unsigned depth)
{
    struct maar_argument_node *copy = maar_calloc(1, sizeof *copy);
    int rc = copy_node(reader, node, copy, depth);
    destroy_node(maar_map_set(reader->anchors, name, copy));
    return rc;
}

static void destroy_anchors(struct maar_map *anchors)
{
    size_t at = 0;
    void *node;
    while (maar_map_next(anchors, &at, NULL, NULL, &node))
        destroy_node(node);
    maar_map_destroy(anchors);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static const char *scalar_type_tag(enum maar_scalar_type type)
{
    switch (type) {
    case MAAR_SCALAR_INT:
        return "int";
    case MAAR_SCALAR_FLOAT:
        return "float";
    case MAAR_SCALAR_BOOL:
        return "bool";
    case MAAR_SCALAR_NULL:
        return "null";
    case MAAR_SCALAR_STRING:
        break;
    }
    return "str";
}

/* The type that a tag asks for; a tag that YAML does not define makes a string. */
static int resolve_tagged(struct reader *reader, const char *tag, struct maar_argument_node *node,
                          struct maar_scalar_value *value)
{
    *value = (struct maar_scalar_value){.type = MAAR_SCALAR_STRING};
    if (strncmp(tag, TAG_PREFIX, sizeof TAG_PREFIX - 1) != 0)
        return 0;
    const char *type = tag + sizeof TAG_PREFIX - 1;
    if (strcmp(type, "int") != 0 && strcmp(type, "float") != 0 && strcmp(type, "bool") != 0 &&
        strcmp(type, "null") != 0)
        return 0;
    *value = maar_scalar_resolve(node->text);
    if (value->type == MAAR_SCALAR_INT && strcmp(type, "float") == 0)
        value->type = MAAR_SCALAR_FLOAT;
    if (strcmp(scalar_type_tag(value->type), type) == 0)
        return 0;
    return fail_at(reader, node->line, node->column, "the value is not of the type its tag names");
}

static int read_scalar(struct reader *reader, const yaml_event_t *event,
                       struct maar_argument_node *out)
{
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length)
        return fail_at(reader, out->line, out->column, "a text with a zero byte; remove the \\0");
    out->kind = MAAR_ARGUMENT_NODE_SCALAR;
    free(out->text);
    out->text = maar_strdup(text);
    struct maar_scalar_value value = {.type = MAAR_SCALAR_STRING};
    int rc = 0;
    if (event->data.scalar.tag)
        rc = resolve_tagged(reader, (const char *)event->data.scalar.tag, out, &value);
    else if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        value = maar_scalar_resolve(text);
    out->scalar = value.type;
    out->number = value.number;
    out->real = value.real;
    out->truth = value.truth;
    return rc;
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* The vector that a map's or list's children are gathered in. */
struct children {
    struct maar_argument_node *data;
    size_t n;
    size_t capacity;
};

/* Lets the last of several equal keys count; the order of the rest stays. */
static void drop_repeated_keys(struct reader *reader, struct children *children)
{
    struct maar_map *seen = maar_map_create();
    bool *repeated = maar_calloc(children->n, sizeof *repeated);
    for (size_t i = children->n; i > 0; i--) {
        struct maar_argument_node *child = &children->data[i - 1];
        if (!maar_map_find(seen, child->key)) {
            (void)maar_map_set(seen, child->key, child);
            continue;
        }
        repeated[i - 1] = true;
        if (reader->warn) {
            maar_autofree char *text =
                maar_asprintf("%.64s: written twice in one map; the last one counts", child->key);
            reader->warn(reader->context, child->line, child->column, text);
        }
    }
    maar_map_destroy(seen);
    size_t kept = 0;
    for (size_t i = 0; i < children->n; i++) {
        if (repeated[i])
            maar_argument_node_fini(&children->data[i]);
        else
            children->data[kept++] = children->data[i];
    }
    children->n = kept;
    free(repeated);
}

/* Moves the keys of `map` that are not there yet behind the children. */
static void merge_map(struct maar_map *there, struct children *children,
                      struct maar_argument_node *map)
{
    for (size_t i = 0; i < map->n_children; i++) {
        struct maar_argument_node *child = &map->children[i];
        if (maar_map_find(there, child->key)) {
            maar_argument_node_fini(child);
            continue;
        }
        (void)maar_map_set(there, child->key, map);
        maar_vec_push(children, *child);
    }
    free(map->children);
    map->children = NULL;
    map->n_children = 0;
}

static bool is_mergeable(const struct maar_argument_node *node)
{
    if (node->kind == MAAR_ARGUMENT_NODE_MAP)
        return true;
    if (node->kind != MAAR_ARGUMENT_NODE_LIST)
        return false;
    for (size_t i = 0; i < node->n_children; i++)
        if (node->children[i].kind != MAAR_ARGUMENT_NODE_MAP)
            return false;
    return true;
}

/* Merge keys: what the map itself says counts more than what is merged in, an earlier map more than
 * a later. */
static int resolve_merge(struct reader *reader, struct children *children)
{
    size_t at = 0;
    while (at < children->n && strcmp(children->data[at].key, "<<") != 0)
        at++;
    if (at == children->n)
        return 0;
    struct maar_argument_node merged = children->data[at];
    if (!is_mergeable(&merged))
        return fail_at(reader, merged.line, merged.column,
                       "<<: expected a map or a list of maps; write <<: *anchor");
    maar_vec_remove(children, at);
    struct maar_map *there = maar_map_create();
    for (size_t i = 0; i < children->n; i++)
        (void)maar_map_set(there, children->data[i].key, reader);
    if (merged.kind == MAAR_ARGUMENT_NODE_MAP)
        merge_map(there, children, &merged);
    else
        for (size_t i = 0; i < merged.n_children; i++)
            merge_map(there, children, &merged.children[i]);
    maar_map_destroy(there);
    maar_argument_node_fini(&merged);
    return 0;
}

static int read_node(struct reader *reader, const yaml_event_t *event,
                     struct maar_argument_node *out, unsigned depth);

/* A key and its value; the child's position is the key's. */
static int read_pair(struct reader *reader, const yaml_event_t *key_event,
                     struct maar_argument_node *child, unsigned depth)
{
    int line = line_of(&key_event->start_mark);
    int column = column_of(&key_event->start_mark);
    if (key_event->type != YAML_SCALAR_EVENT && key_event->type != YAML_ALIAS_EVENT)
        return fail_at(reader, line, column, "a map or a list as key; keys must be texts");
    struct maar_argument_node key = {0};
    int rc = read_node(reader, key_event, &key, depth);
    if (rc == 0 && key.kind != MAAR_ARGUMENT_NODE_SCALAR)
        rc = fail_at(reader, line, column, "a map or a list as key; keys must be texts");
    yaml_event_t value_event;
    if (rc == 0)
        rc = next_event(reader, &value_event);
    if (rc == 0) {
        rc = read_node(reader, &value_event, child, depth);
        yaml_event_delete(&value_event);
    }
    if (rc == 0) {
        free(child->key);
        child->key = key.text;
        key.text = NULL;
        child->line = line;
        child->column = column;
    }
    maar_argument_node_fini(&key);
    return rc;
}

static int read_children(struct reader *reader, bool is_map, struct children *children,
                         unsigned depth)
{
    for (;;) {
        yaml_event_t event;
        int rc = next_event(reader, &event);
        if (rc < 0)
            return rc;
        if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return 0;
        }
        struct maar_argument_node child = {0};
        rc = is_map ? read_pair(reader, &event, &child, depth)
                    : read_node(reader, &event, &child, depth);
        yaml_event_delete(&event);
        if (rc < 0) {
            maar_argument_node_fini(&child);
            return rc;
        }
        maar_vec_push(children, child);
    }
}

static int read_collection(struct reader *reader, bool is_map, struct maar_argument_node *out,
                           unsigned depth)
{
    struct children children = {0};
    int rc = read_children(reader, is_map, &children, depth + 1);
    if (rc == 0 && is_map && children.n > 0) {
        drop_repeated_keys(reader, &children);
        rc = resolve_merge(reader, &children);
    }
    out->kind = is_map ? MAAR_ARGUMENT_NODE_MAP : MAAR_ARGUMENT_NODE_LIST;
    out->children = children.data;
    out->n_children = children.n;
    return rc;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int read_alias(struct reader *reader, const char *name, struct maar_argument_node *out,
                      unsigned depth)
{
    const struct maar_argument_node *node = maar_map_find(reader->anchors, name);
    if (!node)
        return maar_error_set(reader->err, -EINVAL,
                              "%s:%d:%d: *%.64s: no anchor of this name ends above; put &%.64s "
                              "before the value that is meant",
                              reader->source, out->line, out->column, name, name);
    int line = out->line;
    int column = out->column;
    maar_argument_node_fini(out);
    int rc = copy_node(reader, node, out, depth);
    out->line = line;
    out->column = column;
    return rc;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

/* Fills *out, which is empty; the caller finishes it also after a failure. */
static int read_node(struct reader *reader, const yaml_event_t *event,
                     struct maar_argument_node *out, unsigned depth)
{
    out->line = line_of(&event->start_mark);
    out->column = column_of(&event->start_mark);
    out->key = maar_strdup("");
    out->text = maar_strdup("");
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(reader, (const char *)event->data.alias.anchor, out, depth);
    size_t n_bytes = event->type == YAML_SCALAR_EVENT ? event->data.scalar.length : 0;
    int rc = count_node(reader, out->line, out->column, n_bytes, depth);
    if (rc == 0 && event->type == YAML_SCALAR_EVENT)
        rc = read_scalar(reader, event, out);
    else if (rc == 0)
        rc = read_collection(reader, event->type == YAML_MAPPING_START_EVENT, out, depth);
    const yaml_char_t *anchor = anchor_of(event);
    if (rc == 0 && anchor)
        rc = keep_anchor(reader, (const char *)anchor, out, depth);
    return rc;
}

/* ---- the document ---------------------------------------------------------------------------- */

static void make_empty(struct maar_argument_node *root)
{
    root->kind = MAAR_ARGUMENT_NODE_SCALAR;
    root->scalar = MAAR_SCALAR_NULL;
    root->key = maar_strdup("");
    root->text = maar_strdup("");
    root->line = root->column = 1;
}

/* After the first document the file ends or another document starts, which is not read. */
static int check_rest(struct reader *reader)
{
    yaml_event_t event;
    int rc = next_event(reader, &event); /* document end */
    if (rc < 0)
        return rc;
    yaml_event_delete(&event);
    rc = next_event(reader, &event);
    if (rc < 0)
        return rc;
    if (event.type == YAML_DOCUMENT_START_EVENT && reader->warn)
        reader->warn(reader->context, line_of(&event.start_mark), column_of(&event.start_mark),
                     "a second document starts here; only the first one is read");
    yaml_event_delete(&event);
    return 0;
}

static int read_document(struct reader *reader, struct maar_argument_node *root)
{
    yaml_event_t event;
    int rc;
    do {
        rc = next_event(reader, &event);
        if (rc < 0)
            return rc;
        bool at_end = event.type == YAML_STREAM_END_EVENT;
        bool at_node = event.type != YAML_STREAM_START_EVENT &&
                       event.type != YAML_DOCUMENT_START_EVENT && !at_end;
        if (at_node)
            rc = read_node(reader, &event, root, 0);
        yaml_event_delete(&event);
        if (at_end) {
            make_empty(root);
            return 0;
        }
        if (at_node)
            return rc < 0 ? rc : check_rest(reader);
    } while (true);
}

int maar_yaml_read(const char *text, size_t n, const char *source, maar_yaml_warn_fn warn,
                   void *context, struct maar_argument_node *ret_root, struct maar_error *err)
{
    if (n > MAAR_YAML_MAX_BYTES)
        return maar_error_set(err, -EINVAL, "%s:1:1: larger than 1 MiB; make the file smaller",
                              source);
    struct reader reader = {.source = source,
                            .text = text,
                            .n_text = n,
                            .warn = warn,
                            .context = context,
                            .anchors = maar_map_create(),
                            .err = err};
    if (!yaml_parser_initialize(&reader.parser))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, n);
    struct maar_argument_node root = {0};
    int rc = read_document(&reader, &root);
    yaml_parser_delete(&reader.parser);
    destroy_anchors(reader.anchors);
    if (rc < 0) {
        maar_argument_node_fini(&root);
        return rc;
    }
    *ret_root = root;
    return 0;
}
