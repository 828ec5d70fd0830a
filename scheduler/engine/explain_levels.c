/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The queue, and where limits are those of a tree the queues above it, in numbers: what the ledger holds, what the
 * object says, what plugins publish. */

#include <math.h>

#include "engine/explain_parts.h"

#define MAX_LEVELS 64u

double maar_explain_published(const struct maar_session *session, const struct maar_queue *queue,
                              const char *set, uint32_t d)
{
    const struct maar_queue_entry *entry = maar_queue_entry(queue);
    if (entry->published_session != session->world->session_number)
        return NAN;
    for (size_t i = 0; i < entry->published.n; i++) {
        const struct maar_published *published = &entry->published.data[i];
        if (published->dim == d && !strcmp(published->set, set))
            return published->value > 9e18 ? NAN : published->value / session->world->dim_scales[d];
    }
    return NAN;
}

/* Some plugin judges a queue together with those above it. */
static bool has_tree(const struct maar_session *session)
{
    const struct maar_policy *policy = session->policy;
    for (size_t t = 0; t < policy->n_tiers; t++) {
        for (size_t i = 0; i < policy->tiers[t].n; i++) {
            const struct maar_listing *listing = &policy->tiers[t].listings[i];
            if (((listing->enable >> MAAR_ENABLE_HIERARCHY) & 1) &&
                listing->instance->plugin->hooks.queue_room)
                return true;
        }
    }
    return false;
}

static double named(const struct maar_resource *resource, uint32_t d)
{
    return maar_resource_has(resource, d) ? (double)resource->v[d] : NAN;
}

static struct maar_explained_level measure(struct maar_session *session,
                                           const struct maar_queue *queue, uint32_t d, bool tree)
{
    double deserved = maar_explain_published(session, queue, "deserved", d);
    return (struct maar_explained_level){
        .queue = maar_arena_strdup(session->arena, queue->name),
        .dimension = maar_arena_strdup(session->arena, session->world->dim_names[d]),
        .allocated = (double)(tree ? queue->allocated_subtree[d] : queue->allocated[d]),
        .inqueue = maar_explain_published(session, queue, "inqueue", d),
        .deserved = isnan(deserved) ? named(&queue->deserved, d) : deserved,
        .capability = named(&queue->capability, d),
        .guarantee = named(&queue->guarantee, d),
        .limit = maar_explain_published(session, queue, "limit", d),
    };
}

static bool refuses(const struct maar_explained_group *group,
                    const struct maar_explained_level *level)
{
    for (size_t i = 0; i < group->n_limits; i++)
        if (group->limits[i].queue && !strcmp(group->limits[i].queue, level->queue) &&
            !strcmp(group->limits[i].dimension, level->dimension))
            return true;
    return false;
}

/* What the job asks for at the gate where it stands: its minimum, or what its waiting pods want. */
static void sum_asked(const struct maar_explaining *explaining, double asked[MAAR_MAX_DIMS])
{
    const struct maar_job *job = explaining->job;
    bool whole = explaining->group->gate == MAAR_GATE_ENQUEUE;
    for (uint32_t d = 0; d < explaining->session->world->dims.n; d++)
        asked[d] =
            whole ? (double)maar_resource_get(&job->min_resources, d) : (double)job->pending[d];
    asked[MAAR_DIM_PODS] = 0;
}

void maar_explain_group_levels(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    struct maar_explained_group *group = explaining->group;
    double asked[MAAR_MAX_DIMS];
    bool tree = has_tree(session);
    sum_asked(explaining, asked);
    group->levels = maar_arena_calloc(session->arena, MAX_LEVELS, sizeof *group->levels);
    for (const struct maar_queue *queue = explaining->job->queue; queue;
         queue = tree ? queue->parent : NULL) {
        for (uint32_t d = 0; d < session->world->dims.n && group->n_levels < MAX_LEVELS; d++) {
            if (!(asked[d] > 0))
                continue;
            struct maar_explained_level level = measure(session, queue, d, tree);
            level.asked = asked[d];
            level.refuses = refuses(group, &level);
            group->levels[group->n_levels++] = level;
        }
    }
}

static bool says_something(const struct maar_explained_level *level)
{
    return level->allocated > 0 || level->asked > 0 || level->inqueue > 0 ||
           !isnan(level->capability) || !isnan(level->guarantee) || level->deserved > 0;
}

void maar_explain_queue_levels(struct maar_session *session, const struct maar_queue *queue,
                               struct maar_explained_queue *out)
{
    bool tree = has_tree(session);
    out->levels = maar_arena_calloc(session->arena, MAX_LEVELS, sizeof *out->levels);
    for (uint32_t d = 0; d < session->world->dims.n && out->n_levels < MAX_LEVELS; d++) {
        struct maar_explained_level level = measure(session, queue, d, tree);
        level.asked = (double)queue->pending[d];
        if (d != MAAR_DIM_PODS && says_something(&level))
            out->levels[out->n_levels++] = level;
    }
}
