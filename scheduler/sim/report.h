/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_REPORT_H
#define MAAR_SIM_REPORT_H

/* The outcome of a simulation as the JSON object of scenario-format. */

#include "sim/simulation.h"

/* New reference. */
json_t *maar_report_create(struct maar_simulation *simulation);

#endif
