/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_ARGUMENTS_H
#define MAAR_CONF_ARGUMENTS_H

/* The `arguments:` map of one entry of scheduler.conf, kept as a tree with positions. Typed reading follows the
 * module's argument table: a missing key or a value of a wrong type gives the table's default. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maar/plugin.h>

enum maar_argument_node_kind {
    MAAR_ARGUMENT_NODE_SCALAR,
    MAAR_ARGUMENT_NODE_MAP,
    MAAR_ARGUMENT_NODE_LIST,
};

/* YAML 1.1 resolution of a plain scalar; quoted ones are strings. */
enum maar_scalar_type {
    MAAR_SCALAR_STRING,
    MAAR_SCALAR_INT,
    MAAR_SCALAR_FLOAT,
    MAAR_SCALAR_BOOL,
    MAAR_SCALAR_NULL,
};

struct maar_argument_node {
    enum maar_argument_node_kind kind;
    enum maar_scalar_type scalar;
    char *key;  /* of a map's child; "" else */
    char *text; /* scalar as written, "" else */
    int64_t number;
    double real; /* INT and FLOAT */
    bool truth;  /* BOOL */
    int line;    /* from 1 */
    int column;  /* from 1 */
    size_t n_children;
    struct maar_argument_node *children;
};

struct maar_arguments {
    struct maar_argument_node root;     /* a map; no children when there are no arguments */
    const struct maar_argument *table;  /* of the module, set when it is instantiated; may be NULL */
    uint32_t enable_set;                /* bit i: enable key i was written */
    uint32_t enable;                    /* bit i: its value, the default where unset */
};

/* A problem with one argument: unknown key, wrong type, out of range. */
struct maar_argument_problem {
    int line;
    int column;
    char text[256]; /* names the key, what was expected, and the nearest known key when there is one */
};

const struct maar_argument_node *maar_arguments_find(const struct maar_arguments *arguments,
                                                     const char *key);
/* The row of the table that covers the key ("x.*" rows cover prefixes), NULL if none. */
const struct maar_argument *maar_argument_row(const struct maar_argument *table, const char *key);

int64_t maar_arguments_int(const struct maar_arguments *arguments, const char *key);
double maar_arguments_float(const struct maar_arguments *arguments, const char *key);
bool maar_arguments_bool(const struct maar_arguments *arguments, const char *key);
const char *maar_arguments_string(const struct maar_arguments *arguments, const char *key);

/* Writes up to n_max problems of the arguments against the table, in file order; returns how many there are. */
size_t maar_arguments_check(const struct maar_arguments *arguments, const struct maar_argument *table,
                            struct maar_argument_problem *out, size_t n_max);

#endif
