/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CHECK_DEFINITIONS_H
#define MAAR_CHECK_DEFINITIONS_H

/* The files of deploy/crds, put into the program by the build. */

struct maar_definition {
    const char *name; /* "scheduling.volcano.sh_queues" */
    const char *text;
};

/* The last has the name NULL. */
extern const struct maar_definition maar_definitions[];

#endif
