/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_FEATURE_GATES_H
#define MAAR_ENGINE_FEATURE_GATES_H

/* Volcano's and Kubernetes' switches of features, as far as they decide something here. */

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* All zero is the default. */
struct maar_feature_gates {
    bool queue_admission; /* SchedulingGatesQueueAdmission */
};

/* Sets one gate; false for a name that decides nothing here. */
bool maar_feature_gates_set(struct maar_feature_gates *gates, const char *name, bool value);

/* Reads "Name=true,Other=false". Names that decide nothing here are no error: they are added to `unused` (may be
 * NULL), joined by ", ". -EINVAL for what is no such list; then nothing is set. */
int maar_feature_gates_parse(struct maar_feature_gates *gates, const char *text,
                             struct maar_text *unused, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
