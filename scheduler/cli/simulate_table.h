/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_TABLE_H
#define MAAR_CLI_SIMULATE_TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* The report of a simulation for people: what was bound where, what waits and why. Appends to `out`. */
void maar_simulate_table(const json_t *report, struct maar_text *out);

/* Its first line: "name: 4 cycles, 3 pods bound, 0 evicted, 1 waiting". */
void maar_simulate_headline(const json_t *report, struct maar_text *out);

/* Text from outside as it may go to a terminal: control characters as \x1b. Line ends stay when `lines`. The result is
 * the caller's to free. */
char *maar_simulate_escape(const char *text, bool lines);

#endif
