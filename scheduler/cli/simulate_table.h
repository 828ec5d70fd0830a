/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_TABLE_H
#define MAAR_CLI_SIMULATE_TABLE_H

#include <jansson.h>

#include "base/text.h"

/* The report of a simulation for people: what was bound where, what waits and why. Appends to `out`. */
void maar_simulate_table(const json_t *report, struct maar_text *out);

#endif
