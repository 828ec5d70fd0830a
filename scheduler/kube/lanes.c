/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* One list a lane. An object with a write out collects its further writes in a list of its own, so that a lane never
 * has to search past them. */

#include "kube/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

struct list {
    struct maar_lane_item *first;
    struct maar_lane_item *last;
};

struct maar_lane_object {
    char *key;
    unsigned n_items;
    struct maar_lane_item *out;
    struct list held;                    /* wait for the one that is out */
    uint64_t newest[MAAR_N_WRITE_KINDS]; /* number of the last write of a kind; 0 none */
};

struct maar_lanes {
    struct list lanes[MAAR_N_WRITE_KINDS];
    struct maar_map *objects;
    uint64_t n_added;
};

static void push_back(struct list *list, struct maar_lane_item *item)
{
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
}

static void push_front(struct list *list, struct maar_lane_item *item)
{
    item->next = list->first;
    list->first = item;
    if (!list->last)
        list->last = item;
}

static struct maar_lane_item *pop_front(struct list *list)
{
    struct maar_lane_item *item = list->first;

    if (!item)
        return NULL;
    list->first = item->next;
    if (!list->first)
        list->last = NULL;
    item->next = NULL;
    return item;
}

struct maar_lanes *maar_lanes_create(void)
{
    struct maar_lanes *lanes = maar_calloc(1, sizeof *lanes);

    lanes->objects = maar_map_create();
    return lanes;
}

static void destroy_object(struct maar_lane_object *object)
{
    free(object->key);
    free(object);
}

void maar_lanes_destroy(struct maar_lanes *lanes)
{
    size_t at = 0;
    void *value;

    if (!lanes)
        return;
    while (maar_map_next(lanes->objects, &at, NULL, NULL, &value))
        destroy_object(value);
    maar_map_destroy(lanes->objects);
    free(lanes);
}

static char object_letter(enum maar_write_kind kind)
{
    switch (kind) {
    case MAAR_WRITE_POD_GROUP_STATUS:
        return 'g';
    case MAAR_WRITE_QUEUE_STATUS:
    case MAAR_WRITE_QUEUE_CREATE:
        return 'q';
    default:
        return 'p';
    }
}

static struct maar_lane_object *get_object(struct maar_lanes *lanes, const struct maar_write *write)
{
    char *key = maar_asprintf("%c/%s/%s", object_letter(write->kind), write->ns, write->name);
    struct maar_lane_object *object = maar_map_find(lanes->objects, key);

    if (object) {
        free(key);
        return object;
    }
    object = maar_calloc(1, sizeof *object);
    object->key = key;
    (void)maar_map_set(lanes->objects, key, object);
    return object;
}

void maar_lanes_add(struct maar_lanes *lanes, struct maar_lane_item *item)
{
    enum maar_write_kind kind = item->write->kind;

    item->number = ++lanes->n_added;
    item->object = NULL;
    if (kind != MAAR_WRITE_EVENT) {
        item->object = get_object(lanes, item->write);
        item->object->n_items++;
        item->object->newest[kind] = item->number;
    }
    push_back(&lanes->lanes[kind], item);
}

bool maar_lanes_is_empty(const struct maar_lanes *lanes, enum maar_write_kind lane)
{
    return !lanes->lanes[lane].first;
}

struct maar_lane_item *maar_lanes_take(struct maar_lanes *lanes, enum maar_write_kind lane)
{
    struct maar_lane_item *item;

    while ((item = pop_front(&lanes->lanes[lane])) != NULL) {
        struct maar_lane_object *object = item->object;

        if (object && object->out && object->out != item) {
            push_back(&object->held, item);
            continue;
        }
        if (object)
            object->out = item;
        return item;
    }
    return NULL;
}

bool maar_lanes_is_superseded(const struct maar_lane_item *item)
{
    const struct maar_write *write = item->write;
    const uint64_t *newest;

    if (!item->object)
        return false;
    newest = item->object->newest;
    switch (write->kind) {
    case MAAR_WRITE_POD_CONDITION:
        /* "Waits" must not be written over what a bind has made of the pod. */
        if (newest[MAAR_WRITE_BIND] > item->number || newest[MAAR_WRITE_EVICT] > item->number)
            return true;
        return newest[write->kind] > item->number && !write->pod_condition.nominated_node[0];
    case MAAR_WRITE_QUEUE_STATUS:
        return newest[write->kind] > item->number;
    case MAAR_WRITE_POD_GROUP_STATUS:
        return newest[write->kind] > item->number && !write->pod_group_status.has_condition;
    default:
        return false;
    }
}

void maar_lanes_again(struct maar_lanes *lanes, struct maar_lane_item *item)
{
    push_front(&lanes->lanes[item->write->kind], item);
}

void maar_lanes_finish(struct maar_lanes *lanes, struct maar_lane_item *item)
{
    struct maar_lane_object *object = item->object;
    struct list held;
    struct list reversed = {NULL, NULL};
    struct maar_lane_item *next;

    if (!object)
        return;
    item->object = NULL;
    if (object->out == item)
        object->out = NULL;
    if (--object->n_items == 0) {
        (void)maar_map_remove(lanes->objects, object->key);
        destroy_object(object);
        return;
    }
    /* All that were held go back to the front of their lanes, in their order: the first of the most urgent lane is
     * taken next and holds the others again. */
    held = object->held;
    object->held = (struct list){NULL, NULL};
    while ((next = pop_front(&held)) != NULL)
        push_front(&reversed, next);
    while ((next = pop_front(&reversed)) != NULL)
        push_front(&lanes->lanes[next->write->kind], next);
}

struct maar_lane_item *maar_lanes_steal(struct maar_lanes *lanes)
{
    size_t at = 0;
    void *value;

    for (int i = 0; i < MAAR_N_WRITE_KINDS; i++) {
        struct maar_lane_item *item = pop_front(&lanes->lanes[i]);

        if (item)
            return item;
    }
    while (maar_map_next(lanes->objects, &at, NULL, NULL, &value)) {
        struct maar_lane_item *item = pop_front(&((struct maar_lane_object *)value)->held);

        if (item)
            return item;
    }
    return NULL;
}
