/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_SIMULATE_LINK_H
#define MAAR_CLI_SIMULATE_LINK_H

#include "sim/simulation.h"

/* The way over HTTP: serves the simulation's cluster on 127.0.0.1 and connects the real client to it, in virtual time.
 * For one simulation after the other; the caller frees it with maar_simulate_link_destroy. */
struct maar_simulation_link *maar_simulate_link_create(void);
/* Accepts NULL. */
void maar_simulate_link_destroy(struct maar_simulation_link *link);

#endif
