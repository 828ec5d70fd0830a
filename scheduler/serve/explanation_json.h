/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_EXPLANATION_JSON_H
#define MAAR_SERVE_EXPLANATION_JSON_H

/* Explanations as JSON: {"kind": "PodGroup" | "Pod" | "Queue", "pod": {…}, "podGroup": {…}, "queue": {…}}.
 * Amounts are quantities as Kubernetes writes them; what nobody says is left out. */

#include <jansson.h>

#include "engine/explanation.h"

/* A new reference. */
json_t *maar_explanation_json(const struct maar_explanation *explanation);

#endif
