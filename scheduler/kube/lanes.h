/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_LANES_H
#define MAAR_KUBE_LANES_H

/* The order in which writes leave: by lane, first in first out; of one object only one write is out at a time, so
 * that none overtakes another; and a write that a later one makes pointless is not sent at all. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/write.h"

struct maar_lanes;
struct maar_lane_object;

/* A queued write; the owner embeds it. */
struct maar_lane_item {
    struct maar_write *write;
    struct maar_lane_object *object; /* NULL: events keep no order */
    uint64_t number;                 /* order of arrival */
    struct maar_lane_item *next;
};

struct maar_lanes *maar_lanes_create(void);
/* Accepts NULL. The items are the owner's: take them out before. */
void maar_lanes_destroy(struct maar_lanes *lanes);
/* Takes a new write in at the end of its lane. */
void maar_lanes_add(struct maar_lanes *lanes, struct maar_lane_item *item);
bool maar_lanes_is_empty(const struct maar_lanes *lanes, enum maar_write_kind lane);
/* The next write of a lane, which is out until finish or again; NULL when the lane has none that may go. */
struct maar_lane_item *maar_lanes_take(struct maar_lanes *lanes, enum maar_write_kind lane);
/* A later write makes this one, which is out, pointless. */
bool maar_lanes_is_superseded(const struct maar_lane_item *item);
/* Puts a write that is out back to the front of its lane; its object stays its own. */
void maar_lanes_again(struct maar_lanes *lanes, struct maar_lane_item *item);
/* The write is answered: the next one of its object may go. The item is the owner's again. */
void maar_lanes_finish(struct maar_lanes *lanes, struct maar_lane_item *item);
/* Any item that is not out, or NULL; for the end. */
struct maar_lane_item *maar_lanes_steal(struct maar_lanes *lanes);

#endif
