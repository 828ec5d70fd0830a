/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_RANDOM_NEIGHBOURS_H
#define MAAR_TEST_RANDOM_NEIGHBOURS_H

/* Pod affinity and topology spread by the plainest reading of the rules: every pod against every other. Shares no code
 * with the scheduler. */

#include "cluster.h"

/* A pod on a node. */
struct standing {
    const struct object *pod;
    const struct object *node;
    bool is_new; /* bound in the session that is checked */
};

/* What is wrong with where the new pod `at` stands among n pods, those that are new included; appended to out, one line
 * each. What a later member may have changed since is not looked at: affinity must hold with all of them, spread only
 * when a single pod is new. */
void neighbours_check(const struct cluster *cluster, const struct standing *standing, size_t n,
                      size_t at, struct maar_text *out);

#endif
