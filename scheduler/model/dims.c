/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Resource dimensions: names, and the factor to Volcano's units. Ledger rows are as wide as the dimensions need, in
 * steps of powers of two; when a new dimension outgrows them every row is made wider at once. */

#include "model/parts.h"

/* Volcano stores extended and other scalars in milli-units; cpu, memory, pods and attach counts plainly. */
static double policy_scale(const char *name)
{
    if (!strcmp(name, "cpu") || !strcmp(name, "memory") || !strcmp(name, "pods") ||
        !strncmp(name, "attachable-volumes-csi-", 23))
        return 1.0;
    return 1000.0;
}

void *maar_row_widen(void *row, uint32_t from, uint32_t to, size_t size)
{
    char *wide = maar_realloc(row, to, size);
    memset(wide + (size_t)from * size, 0, (size_t)(to - from) * size);
    return wide;
}

static void widen_rows(struct maar_world *world, uint32_t width)
{
    uint32_t from = world->row_width;
    for (size_t i = 0; i < world->job_slots.n; i++) {
        struct maar_job_entry *job = world->job_slots.data[i];
        if (!job)
            continue;
        job->row_allocated = maar_row_widen(job->row_allocated, from, width, sizeof(int64_t));
        job->row_pending = maar_row_widen(job->row_pending, from, width, sizeof(int64_t));
        job->row_gated = maar_row_widen(job->row_gated, from, width, sizeof(int64_t));
        job->allocated_n = maar_row_widen(job->allocated_n, from, width, sizeof(uint32_t));
        job->pending_n = maar_row_widen(job->pending_n, from, width, sizeof(uint32_t));
        maar_job_publish(job);
    }
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        struct maar_queue_entry *queue = world->queue_slots.data[i];
        if (!queue)
            continue;
        queue->row_allocated = maar_row_widen(queue->row_allocated, from, width, sizeof(int64_t));
        queue->row_subtree = maar_row_widen(queue->row_subtree, from, width, sizeof(int64_t));
        queue->row_pending = maar_row_widen(queue->row_pending, from, width, sizeof(int64_t));
        queue->allocated_n = maar_row_widen(queue->allocated_n, from, width, sizeof(uint32_t));
        queue->pending_n = maar_row_widen(queue->pending_n, from, width, sizeof(uint32_t));
        maar_queue_publish(queue);
    }
    world->row_width = width;
}

uint32_t maar_world_dim_find(const struct maar_world *world, const char *name)
{
    for (uint32_t d = 0; d < world->dims.n; d++)
        if (!strcmp(world->dim_names[d], name))
            return d;
    return MAAR_NO_DIM;
}

uint32_t maar_world_dim(struct maar_world *world, const char *name)
{
    uint32_t d = maar_world_dim_find(world, name);
    if (d != MAAR_NO_DIM)
        return d;
    d = world->dims.n;
    if (d == MAAR_MAX_DIMS)
        return MAAR_NO_DIM;
    if (d == world->row_width)
        widen_rows(world, world->row_width * 2);
    uint32_t id = maar_strings_ref(world->strings, name);
    world->dim_names[d] = maar_strings_text(world->strings, id);
    world->dim_scales[d] = policy_scale(name);
    world->dims.n = d + 1;
    maar_nodes_add_dim(world, d);
    return d;
}

/* Amounts are bounded, so that sums over many absurd objects stay inside int64; what a pod may ask for is bounded higher
 * than what a node may offer, so that an absurd request fits nowhere. */
#define OFFER_MAX (INT64_C(1) << 51)
#define ASK_MAX   (INT64_C(1) << 52)

static int64_t bound(int64_t amount, int64_t max)
{
    if (amount > max)
        return max;
    return amount < -max ? -max : amount;
}

int64_t maar_amount_bound_offer(int64_t amount)
{
    return bound(amount, OFFER_MAX);
}

int64_t maar_amount_bound_ask(int64_t amount)
{
    return bound(amount, ASK_MAX);
}

bool maar_resource_set(struct maar_world *world, struct maar_resource *resource,
                       const struct maar_amounts_record *amounts)
{
    struct maar_resource next = {0};
    int64_t v[MAAR_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < amounts->n; i++) {
        uint32_t d = maar_world_dim(world, amounts->items[i].name);
        if (d == MAAR_NO_DIM)
            continue;
        next.present |= UINT64_C(1) << d;
        v[d] = amounts->items[i].value;
        if (d >= next.n)
            next.n = d + 1;
    }
    bool same = next.present == resource->present && next.n == resource->n &&
                (next.n == 0 || !memcmp(v, resource->v, next.n * sizeof v[0]));
    if (same)
        return false;
    free(resource->v);
    if (next.n > 0) {
        next.v = maar_calloc(next.n, sizeof *next.v);
        memcpy(next.v, v, next.n * sizeof v[0]);
    }
    *resource = next;
    return true;
}
