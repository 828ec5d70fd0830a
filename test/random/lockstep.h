/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_RANDOM_LOCKSTEP_H
#define MAAR_TEST_RANDOM_LOCKSTEP_H

/* One random cluster, lived through by three engines side by side: one as shipped, one on the plain path, one that
 * hears of everything in another order. */

#include "generate.h"
#include "host/registry.h"

#define MAX_OBJECTS 1024
#define MAX_STEPS   16
#define MAX_CHANGES 5

/* What to leave out, for making a failure small. */
struct cut {
    uint32_t n_steps;
    bool objects[MAX_OBJECTS];
    bool changes[MAX_STEPS][MAX_CHANGES];
    bool conf_changes[MAX_STEPS];
    bool failures; /* no write is refused */
    bool delays;   /* every write is answered before the next turn */
};

struct failure {
    char rule[64]; /* "" when all is well */
    struct maar_text text;
};

struct life {
    uint64_t seed;
    uint32_t n_steps; /* that were taken */
    uint32_t n_sessions;
    uint32_t n_binds;
    uint32_t n_restarts;
    uint32_t n_quiet; /* forced sessions without a change */
    struct failure failure;
    /* For people; only when `story` is set. */
    bool story;
    struct maar_text told;
};

/* cut may be NULL. */
void life_run(struct life *life, const struct maar_registry *registry, const struct cut *cut);
void life_fini(struct life *life);

#endif
