/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_LABEL_SELECTOR_H
#define MAAR_SIM_LABEL_SELECTOR_H

#include <jansson.h>
#include <stdbool.h>

/* Whether a metav1.LabelSelector takes a map of labels. Either may be NULL; a selector without requirements takes
 * everything. */
bool maar_label_selector_matches(const json_t *selector, const json_t *labels);

#endif
