/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_NAMES_H
#define MAAR_WIRE_NAMES_H

/* The syntax of Kubernetes' names, as far as it decides how an object is scheduled. */

#include <stdbool.h>
#include <stddef.h>

/* "name" or "domain/name": what a label key and an extended resource are called. */
bool maar_name_is_qualified(const char *name);
/* "" or at most 63 letters, digits, '-', '_', '.', a letter or digit first and last. */
bool maar_name_is_label_value(const char *value);
/* Whether the amount of a resource counts: cpu, memory, pods, ephemeral-storage, extended
 * resources, hugepages-*, attachable-volumes-* and those with a kubernetes.io/ prefix. Others
 * (storage, count/pods, requests.cpu, …) are ignored, as Volcano does. */
bool maar_name_is_counted_resource(const char *name);

#endif
