/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SUB_GROUP_H
#define MAAR_SIM_SUB_GROUP_H

/* Which sub-group of its PodGroup a pod is in, read from the two documents alone: the checks do not believe the
 * scheduler. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maar_sub_group {
    int64_t size;
    char name
        [512]; /* the entry's name and the values under its matchLabelKeys, cut when they are longer */
};

/* False when no entry of subGroupPolicy takes the pod. */
bool maar_sub_group_find(const json_t *group, const json_t *pod, struct maar_sub_group *ret);

#endif
