/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_TABLE_H
#define MAAR_CLI_TABLE_H

/* Tables in the style of kubectl. Long ones are cut: the JSON has everything. */

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "base/vec.h"

#define MAAR_TABLE_COLUMNS 5

struct maar_table {
    const char *heads[MAAR_TABLE_COLUMNS];
    size_t n_columns;
    MAAR_VEC(char *) cells;
};

/* Appends a cell, copied and escaped. */
void maar_table_add(struct maar_table *table, const char *text);
void maar_table_add_number(struct maar_table *table, const json_t *value);
/* Prints the table under a title and frees it; nothing when it is empty. */
void maar_table_print(struct maar_table *table, const char *title, struct maar_text *out);

#endif
