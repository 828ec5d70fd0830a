/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The configuration that holds while no file says otherwise: Volcano's. conf/scheduler.conf is the
 * same with comments; a test compares them. */

#include <stdio.h>
#include <stdlib.h>

#include "conf/conf.h"

static const char default_text[] = "actions: \"enqueue, allocate, backfill\"\n"
                                   "tiers:\n"
                                   "- plugins:\n"
                                   "  - name: priority\n"
                                   "  - name: gang\n"
                                   "  - name: conformance\n"
                                   "- plugins:\n"
                                   "  - name: overcommit\n"
                                   "  - name: drf\n"
                                   "  - name: predicates\n"
                                   "  - name: proportion\n"
                                   "  - name: nodeorder\n";

struct maar_conf *maar_conf_default(void)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_conf_parse(default_text, sizeof default_text - 1, "built-in", NULL, &conf, &err) < 0) {
        (void)fprintf(stderr, "maar: %s\n", err.text);
        abort();
    }
    return conf;
}
