/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_EXPLAIN_H
#define MAAR_CLI_SIMULATE_EXPLAIN_H

/* `--explain`: what waits at the end of a run, and why. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "engine/explanation.h"
#include "sim/simulation.h"

/* Plays edits to see whether they let a PodGroup start; NULL: they are not tried. `try` is false for an edit that cannot
 * be made, as its object comes in a later cycle only. */
struct maar_simulate_tester {
    void *context;
    bool (*try)(void *context, const char *edit, const char *group, enum maar_tried *ret_tried);
};

/* Explains the objects ("all" stands for every waiting PodGroup) as text and, when map is not NULL, as entries of it by
 * object. Says on standard error which object there is not; returns the exit code. */
int maar_simulate_explain(struct maar_simulation *simulation,
                          const struct maar_simulate_tester *tester, const char *const *objects,
                          size_t n, struct maar_text *out, json_t *map);

#endif
