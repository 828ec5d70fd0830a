/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Arguments of one entry: finding, typed reading, checking against the module's table. Types are as
 * strict as Volcano's helpers: "10" in quotes is no integer, an integer is no string. A value of a
 * wrong type leaves the default and is reported by the check; it never stops the scheduler. */

#include "conf/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "conf/scalar.h"

#define SHOWN_BYTES 40 /* of a user's text in a message */

/* ---- nodes ----------------------------------------------------------------------------------- */

void maar_argument_node_fini(struct maar_argument_node *node)
{
    for (size_t i = 0; i < node->n_children; i++)
        maar_argument_node_fini(&node->children[i]);
    free(node->children);
    free(node->key);
    free(node->text);
    *node = (struct maar_argument_node){0};
}

const struct maar_argument_node *maar_argument_node_find(const struct maar_argument_node *node,
                                                         const char *key)
{
    if (node->kind != MAAR_ARGUMENT_NODE_MAP)
        return NULL;
    for (size_t i = 0; i < node->n_children; i++)
        if (strcmp(node->children[i].key, key) == 0)
            return &node->children[i];
    return NULL;
}

/* Cuts at a character boundary; a control character becomes '?', so that a message stays one line.
 */
static void show_text(const char *text, char *out, size_t size)
{
    size_t n = 0;
    while (text[n] && n + 1 < size) {
        bool is_control = iscntrl((unsigned char)text[n]) != 0;
        out[n] = text[n];
        if (is_control)
            out[n] = '?';
        n++;
    }
    if (text[n])
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    out[n] = '\0';
}

const char *maar_argument_node_describe(const struct maar_argument_node *node, char *buffer,
                                        size_t n)
{
    char text[SHOWN_BYTES + 1];
    show_text(node->text ? node->text : "", text, sizeof text);
    const char *rest = node->text && strlen(node->text) > strlen(text) ? "…" : "";
    if (node->kind == MAAR_ARGUMENT_NODE_MAP)
        (void)snprintf(buffer, n, "a map");
    else if (node->kind == MAAR_ARGUMENT_NODE_LIST)
        (void)snprintf(buffer, n, "a list");
    else if (node->scalar == MAAR_SCALAR_NULL)
        (void)snprintf(buffer, n, "nothing");
    else if (node->scalar == MAAR_SCALAR_INT)
        (void)snprintf(buffer, n, "the integer %s%s", text, rest);
    else if (node->scalar == MAAR_SCALAR_FLOAT)
        (void)snprintf(buffer, n, "the number %s%s", text, rest);
    else if (node->scalar == MAAR_SCALAR_BOOL)
        (void)snprintf(buffer, n, "the boolean %s%s", text, rest);
    else
        (void)snprintf(buffer, n, "the string \"%s%s\"", text, rest);
    return buffer;
}

/* ---- reading --------------------------------------------------------------------------------- */

const struct maar_argument_node *maar_arguments_find(const struct maar_arguments *arguments,
                                                     const char *key)
{
    return maar_argument_node_find(&arguments->root, key);
}

const struct maar_argument *maar_argument_row(const struct maar_argument *table, const char *key)
{
    const struct maar_argument *prefix_row = NULL;
    size_t n_prefix = 0;
    for (const struct maar_argument *row = table; row && row->key; row++) {
        if (strcmp(row->key, key) == 0)
            return row;
        size_t n = strlen(row->key);
        bool is_prefix = n >= 2 && strcmp(row->key + n - 2, ".*") == 0;
        if (is_prefix && n > n_prefix && strncmp(row->key, key, n - 1) == 0 && key[n - 1] != '\0') {
            prefix_row = row;
            n_prefix = n;
        }
    }
    return prefix_row;
}

static bool node_truth(const struct maar_argument_node *node, bool *ret_truth)
{
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR)
        return false;
    if (node->scalar == MAAR_SCALAR_STRING)
        return maar_scalar_parse_bool(node->text, ret_truth);
    if (node->scalar != MAAR_SCALAR_BOOL)
        return false;
    *ret_truth = node->truth;
    return true;
}

bool maar_argument_fits_type(const struct maar_argument_node *node, enum maar_argument_type type)
{
    bool ignored;
    if (type == MAAR_ARGUMENT_TREE)
        return true;
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR)
        return false;
    switch (type) {
    case MAAR_ARGUMENT_INT:
        return node->scalar == MAAR_SCALAR_INT;
    case MAAR_ARGUMENT_FLOAT:
        return (node->scalar == MAAR_SCALAR_INT || node->scalar == MAAR_SCALAR_FLOAT) &&
               isfinite(node->real);
    case MAAR_ARGUMENT_BOOL:
        return node_truth(node, &ignored);
    case MAAR_ARGUMENT_STRING:
        return node->scalar == MAAR_SCALAR_STRING;
    case MAAR_ARGUMENT_TREE:
        break;
    }
    return true;
}

/* What to read for a key: the node when it is there, asked for by a key of the table and of the
 * type. */
static const struct maar_argument_node *usable(const struct maar_arguments *arguments,
                                               const char *key, enum maar_argument_type type)
{
    if (arguments->table && !maar_argument_row(arguments->table, key))
        return NULL;
    const struct maar_argument_node *node = maar_arguments_find(arguments, key);
    return node && maar_argument_fits_type(node, type) ? node : NULL;
}

/* NULL when the table gives no default. */
static const char *default_text(const struct maar_arguments *arguments, const char *key)
{
    const struct maar_argument *row = maar_argument_row(arguments->table, key);
    return row ? row->default_text : NULL;
}

int64_t maar_arguments_int(const struct maar_arguments *arguments, const char *key)
{
    const struct maar_argument_node *node = usable(arguments, key, MAAR_ARGUMENT_INT);
    if (node)
        return node->number;
    const char *text = default_text(arguments, key);
    return text ? maar_scalar_resolve(text).number : 0;
}

double maar_arguments_float(const struct maar_arguments *arguments, const char *key)
{
    const struct maar_argument_node *node = usable(arguments, key, MAAR_ARGUMENT_FLOAT);
    if (node)
        return node->real;
    const char *text = default_text(arguments, key);
    return text ? maar_scalar_resolve(text).real : 0;
}

bool maar_arguments_bool(const struct maar_arguments *arguments, const char *key)
{
    bool truth = false;
    const struct maar_argument_node *node = usable(arguments, key, MAAR_ARGUMENT_BOOL);
    if (node)
        return node_truth(node, &truth) && truth;
    const char *text = default_text(arguments, key);
    return text ? maar_scalar_resolve(text).truth : false;
}

const char *maar_arguments_string(const struct maar_arguments *arguments, const char *key)
{
    const struct maar_argument_node *node = usable(arguments, key, MAAR_ARGUMENT_STRING);
    if (node)
        return node->text;
    const char *text = default_text(arguments, key);
    return text ? text : "";
}

/* ---- checking -------------------------------------------------------------------------------- */

const char *maar_argument_type_words(enum maar_argument_type type)
{
    switch (type) {
    case MAAR_ARGUMENT_INT:
        return "an integer";
    case MAAR_ARGUMENT_FLOAT:
        return "a number";
    case MAAR_ARGUMENT_BOOL:
        return "true or false";
    case MAAR_ARGUMENT_STRING:
        return "a string";
    case MAAR_ARGUMENT_TREE:
        break;
    }
    return "a map or a list";
}

static bool parse_limit(const char *text, size_t n, double open, double *ret_limit)
{
    char copy[32];
    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (n == 0) {
        *ret_limit = open;
        return true;
    }
    struct maar_scalar_value value = maar_scalar_resolve(copy);
    if (value.type != MAAR_SCALAR_INT && value.type != MAAR_SCALAR_FLOAT)
        return false;
    *ret_limit = value.real;
    return true;
}

bool maar_argument_range_parse(const char *range, double *ret_min, double *ret_max)
{
    const char *dots = range ? strstr(range, "..") : NULL;
    if (!dots || (dots == range && dots[2] == '\0'))
        return false;
    double min;
    double max;
    if (!parse_limit(range, (size_t)(dots - range), -HUGE_VAL, &min) ||
        !parse_limit(dots + 2, strlen(dots + 2), HUGE_VAL, &max))
        return false;
    *ret_min = min;
    *ret_max = max;
    return true;
}

static bool is_number(const struct maar_argument *row)
{
    return row->type == MAAR_ARGUMENT_INT || row->type == MAAR_ARGUMENT_FLOAT;
}

static bool is_in_range(const struct maar_argument_node *node, const struct maar_argument *row)
{
    double min;
    double max;
    if (!is_number(row) || !maar_argument_range_parse(row->range, &min, &max))
        return true;
    return node->real >= min && node->real <= max;
}

static bool is_problem(const struct maar_argument_node *node, const struct maar_argument *row)
{
    return !row || !maar_argument_fits_type(node, row->type) || !is_in_range(node, row);
}

static const char *nearest_key(const struct maar_argument *table, const char *key)
{
    MAAR_VEC(const char *) keys = {0};
    for (const struct maar_argument *row = table; row && row->key; row++)
        maar_vec_push(&keys, row->key);
    maar_vec_push(&keys, NULL);
    const char *nearest = maar_text_nearest(key, keys.data);
    maar_vec_fini(&keys);
    return nearest;
}

static void describe_unknown(const char *key, const struct maar_argument *table, char *text,
                             size_t n)
{
    const char *nearest = nearest_key(table, key);
    if (!table || !table->key)
        (void)snprintf(text, n, "%s: there are no arguments here; remove it", key);
    else if (nearest)
        (void)snprintf(text, n, "%s: unknown argument, ignored; did you mean %s?", key, nearest);
    else
        (void)snprintf(text, n, "%s: unknown argument, ignored", key);
}

/* What a person has to change, when the type is nearly right. */
static const char *type_advice(const struct maar_argument_node *node, enum maar_argument_type type)
{
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR)
        return "";
    if (type == MAAR_ARGUMENT_STRING && node->scalar != MAAR_SCALAR_NULL)
        return "; put it in quotes";
    struct maar_scalar_value value = maar_scalar_resolve(node->text);
    bool is_quoted_int = node->scalar == MAAR_SCALAR_STRING && value.type == MAAR_SCALAR_INT;
    bool is_quoted_float = node->scalar == MAAR_SCALAR_STRING && value.type == MAAR_SCALAR_FLOAT;
    bool is_quoted_bool = node->scalar == MAAR_SCALAR_STRING && value.type == MAAR_SCALAR_BOOL;
    if ((type == MAAR_ARGUMENT_INT && is_quoted_int) ||
        (type == MAAR_ARGUMENT_FLOAT && (is_quoted_int || is_quoted_float)) ||
        (type == MAAR_ARGUMENT_BOOL && is_quoted_bool))
        return "; remove the quotes";
    return "";
}

static void describe_problem(const struct maar_argument_node *node, const char *key,
                             const struct maar_argument *row, char *text, size_t n)
{
    char found[128];
    (void)maar_argument_node_describe(node, found, sizeof found);
    if (!maar_argument_fits_type(node, row->type))
        (void)snprintf(text, n, "%s: expected %s, found %s; %s%s%s", key,
                       maar_argument_type_words(row->type), found,
                       row->default_text ? "the default counts, " : "it is ignored",
                       row->default_text ? row->default_text : "", type_advice(node, row->type));
    else
        (void)snprintf(text, n, "%s: expected %s within %s, found %s", key,
                       maar_argument_type_words(row->type), row->range, found);
}

size_t maar_arguments_check(const struct maar_arguments *arguments,
                            const struct maar_argument *table, struct maar_argument_problem *out,
                            size_t n_max)
{
    size_t n = 0;
    for (size_t i = 0; i < arguments->root.n_children; i++) {
        const struct maar_argument_node *node = &arguments->root.children[i];
        const struct maar_argument *row = maar_argument_row(table, node->key);
        if (!is_problem(node, row))
            continue;
        if (n++ >= n_max)
            continue;
        struct maar_argument_problem *problem = &out[n - 1];
        char key[SHOWN_BYTES + 1];
        show_text(node->key, key, sizeof key);
        problem->line = node->line;
        problem->column = node->column;
        if (row)
            describe_problem(node, key, row, problem->text, sizeof problem->text);
        else
            describe_unknown(key, table, problem->text, sizeof problem->text);
    }
    return n;
}
