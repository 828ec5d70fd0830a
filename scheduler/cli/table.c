// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Columns as wide as their widest cell; an empty cell takes nothing from a line's end.
#include "cli/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "cli/simulate_table.h"

#define MAX_ROWS 60

void maar_table_add(struct maar_table *table, const char *text)
{
    char *cell = maar_simulate_escape(text, false);
    maar_vec_push(&table->cells, cell);
}

void maar_table_add_number(struct maar_table *table, const json_t *value)
{
    char *cell = maar_asprintf("%lld", (long long)json_integer_value(value));
    maar_vec_push(&table->cells, cell);
}

static void print_row(struct maar_text *out, const char *const *cells, const size_t *widths,
                      size_t n)
{
    size_t pad = 2;
    for (size_t i = 0; i < n; i++) {
        size_t width = strlen(cells[i]);
        if (width > 0)
            maar_text_addf(out, "%*s%s", (int)pad, "", cells[i]);
        pad = width > 0 ? widths[i] - width + 2 : pad + widths[i] + 2;
    }
    maar_text_add(out, "\n");
}

void maar_table_print(struct maar_table *table, const char *title, struct maar_text *out)
{
    size_t n = table->n_columns, n_rows = n ? table->cells.n / n : 0;
    size_t n_shown = n_rows > MAX_ROWS ? MAX_ROWS : n_rows;
    size_t widths[MAAR_TABLE_COLUMNS] = {0};
    for (size_t i = 0; i < n; i++)
        widths[i] = strlen(table->heads[i]);
    for (size_t i = 0; i < n_shown * n; i++) {
        size_t width = strlen(table->cells.data[i]);
        if (width > widths[i % n])
            widths[i % n] = width;
    }
    if (n_rows > 0) {
        maar_text_addf(out, "\n%s\n", title);
        print_row(out, table->heads, widths, n);
    }
    for (size_t i = 0; i < n_shown; i++)
        print_row(out, (const char *const *)&table->cells.data[i * n], widths, n);
    if (n_shown < n_rows)
        maar_text_addf(out, "  ... and %zu more (-o json shows all)\n", n_rows - n_shown);
    for (size_t i = 0; i < table->cells.n; i++)
        free(table->cells.data[i]);
    maar_vec_fini(&table->cells);
}
