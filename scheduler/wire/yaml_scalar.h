/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_YAML_SCALAR_H
#define MAAR_WIRE_YAML_SCALAR_H

/* What a YAML scalar means, as sigs.k8s.io/yaml (kubectl, the API server) takes it. Inside wire/ only. */

#include <jansson.h>
#include <stdbool.h>
#include <yaml.h>

#include "base/error.h"

/* The value of a scalar event; the caller owns it. -EINVAL when an explicit tag does not fit the text, or the value
 * has no form in JSON. */
int maar_yaml_scalar(const yaml_event_t *event, json_t **ret_value, struct maar_error *err)
    __attribute__((warn_unused_result));
/* The text that a scalar stands for as the key of a map: numbers and truth values in their JSON form. The caller
 * frees. -EINVAL for null. */
int maar_yaml_key(const yaml_event_t *event, char **ret_key, struct maar_error *err)
    __attribute__((warn_unused_result));
/* A plain "<<". */
bool maar_yaml_is_merge_key(const yaml_event_t *event);
/* Whether a text written without quotes is read as that text, here and by other YAML readers. */
bool maar_yaml_is_safe_plain(const char *text);

#endif
