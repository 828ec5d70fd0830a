/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_WHAT_IF_H
#define MAAR_CLI_SIMULATE_WHAT_IF_H

/* What edits change: two runs of one scenario compared by what became of each pod. */

#include <jansson.h>

#include "base/text.h"
#include "sim/simulation.h"

/* A run and its report. */
struct maar_what_if_run {
    struct maar_simulation *simulation;
    const json_t *report;
};

/* {"edits": [text], "starts": […], "stopsWaiting": […], "loses": […], "moves": […], "stillWaits": […]}: lists of
 * {"podGroup", "pods": [{"pod", "node", …}]}; new reference. */
json_t *maar_what_if_create(struct maar_what_if_run without, struct maar_what_if_run with,
                            const struct maar_edits *edits);
/* The same for people. Appends to `out`. */
void maar_what_if_table(const json_t *what_if, struct maar_text *out);
/* The PodGroup has as many pods with a node at the end of the run as it needs, and more than in the other run. */
bool maar_what_if_starts(struct maar_what_if_run without, struct maar_what_if_run with,
                         const char *group);

#endif
