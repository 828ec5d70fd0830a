/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_ARGUMENTS_H
#define MAAR_CONF_ARGUMENTS_H

/* The `arguments:` map of one entry of scheduler.conf, kept as a tree with positions. Typed reading
 * follows the module's argument table: a missing key or a value of a wrong type gives the table's
 * default. */

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
    int line;    /* from 1; of the key for a map's child */
    int column;  /* from 1 */
    size_t n_children;
    struct maar_argument_node *children;
};

struct maar_arguments {
    struct maar_argument_node root;    /* a map; no children when there are no arguments */
    const struct maar_argument *table; /* of the module, set when it is instantiated; may be NULL */
    uint32_t enable_set;               /* bit i: enable key i was written */
    uint32_t enable;                   /* bit i: its value, the default where unset */
};

/* Frees what the node owns and zeroes it. A zeroed node is allowed. */
void maar_argument_node_fini(struct maar_argument_node *node);
/* The child of that key; NULL when there is none or the node is no map. */
const struct maar_argument_node *maar_argument_node_find(const struct maar_argument_node *node,
                                                         const char *key);
/* What the node is, in words for a message: "a list", "the integer 5", "the string \"x\"". Returns
 * buffer. */
const char *maar_argument_node_describe(const struct maar_argument_node *node, char *buffer,
                                        size_t n);

/* A problem with one argument: unknown key, wrong type, out of range. */
struct maar_argument_problem {
    int line;
    int column;
    char text[256]; /* names the key, what was expected, and the nearest known key when there is one
                     */
};

/* The value as written, NULL when missing. */
const struct maar_argument_node *maar_arguments_find(const struct maar_arguments *arguments,
                                                     const char *key);
/* The row of the table that covers the key ("x.*" rows cover prefixes), NULL if none. */
const struct maar_argument *maar_argument_row(const struct maar_argument *table, const char *key);

/* The argument, or the default of its row when it is missing or of a wrong type. A value out of
 * range is given as it is: the check reports it, and what to do is the module's to say. Keys
 * without a row (or default) give 0, false,
 * "". Without a table every key may be asked for. The text lives as long as the arguments and the
 * table. */
int64_t maar_arguments_int(const struct maar_arguments *arguments, const char *key);
double maar_arguments_float(const struct maar_arguments *arguments, const char *key);
bool maar_arguments_bool(const struct maar_arguments *arguments, const char *key);
const char *maar_arguments_string(const struct maar_arguments *arguments, const char *key);

/* Whether a value is of the type; with MAAR_ARGUMENT_TREE every value is. */
bool maar_argument_fits_type(const struct maar_argument_node *node, enum maar_argument_type type);
/* "an integer", "true or false", … */
const char *maar_argument_type_words(enum maar_argument_type type);
/* Reads a range of the form "0..100", "0.." or "..1.5"; false when it is none (then it is meant for
 * people). A side left open is infinite. */
bool maar_argument_range_parse(const char *range, double *ret_min, double *ret_max);

/* Writes up to n_max problems of the arguments against the table (NULL: the module takes no
 * arguments), in file order; returns how many there are. */
size_t maar_arguments_check(const struct maar_arguments *arguments,
                            const struct maar_argument *table, struct maar_argument_problem *out,
                            size_t n_max);

#endif
