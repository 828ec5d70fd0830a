/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_RANDOM_GENERATE_H
#define MAAR_TEST_RANDOM_GENERATE_H

/* Random clusters, configurations and changes. Everything follows from the random numbers given. */

#include "cluster.h"

/* A scheduler.conf and what it promises. */
struct plan {
    char *text;
    bool compatible;
    bool gang;       /* plugin gang decides readiness: gangs are bound whole */
    bool predicates; /* the plugin filters, also by the number of pods */
    bool neighbours; /* and by pod affinity and topology spread */
};

struct plan generate_conf(struct rng *rng);
void generate_cluster(struct cluster *cluster, struct rng *rng);

/* Told of each object that a change touched. A deleted object is freed afterwards. */
typedef void (*news_fn)(void *context, const struct object *object, bool deleted);
/* One random change: a pod comes, runs, ends or goes, a node changes, … */
void generate_change(struct cluster *cluster, struct rng *rng, news_fn news, void *context);
/* Takes an object out of the cluster. */
void generate_end(struct cluster *cluster, struct object *object, news_fn news, void *context);

#endif
