/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_EXPECT_H
#define MAAR_SIM_EXPECT_H

/* Expectations of a scenario against the cluster and the journal. */

#include "base/text.h"
#include "sim/scenario.h"

/* Compares; appends one line per difference ("FILE:LINE: cycle 3: bound default/a-0: expected n1, is n2") and returns
 * their number. `cycle` is the one that has just ended. */
size_t maar_expect_check(const struct maar_scenario_expect *expect, struct maar_cluster *cluster,
                         unsigned cycle, struct maar_text *out);

#endif
