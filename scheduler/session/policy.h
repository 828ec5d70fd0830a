/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SESSION_POLICY_H
#define MAAR_SESSION_POLICY_H

/* The policy of a configuration: plugin instances in their tiers, and the actions in order. host/ builds it; it
 * lives as long as the configuration. */

#include <maar/action.h>
#include <maar/plugin.h>

#include "conf/conf.h"

/* A plugin of the configuration. Listed twice, it is one instance with two listings. */
struct maar_instance {
    const struct maar_plugin *plugin;
    const struct maar_arguments *arguments;
    void *self;
    bool created;
    bool open; /* in the running session */
    /* That its open and close took in the last session. */
    int64_t open_ns;
    int64_t close_ns;
    struct maar_view view;
    /* Bytes that the rows of the view have. */
    size_t node_rows_size;
    size_t job_rows_size;
    size_t queue_rows_size;
};

/* One entry of a tier. */
struct maar_listing {
    struct maar_instance *instance;
    uint32_t enable; /* bits of enum maar_enable */
};

struct maar_tier {
    size_t n;
    struct maar_listing *listings;
};

struct maar_step {
    const struct maar_action *action;
    const struct maar_arguments *arguments; /* never NULL */
    struct maar_arguments defaults;         /* when the configuration has none for it */
    int64_t took_ns;                        /* in the last session */
};

struct maar_filter_use {
    struct maar_instance *instance;
    const struct maar_filter *filter;
};

struct maar_score_use {
    struct maar_instance *instance;
    const struct maar_score *score;
};

struct maar_policy {
    struct maar_conf *conf; /* owned */
    size_t n_instances;
    struct maar_instance *instances;
    size_t n_tiers;
    struct maar_tier *tiers;
    size_t n_steps;
    struct maar_step *steps;
    /* Filters and scores of all tiers that are enabled and active, in order. */
    size_t n_filters;
    struct maar_filter_use *filters;
    size_t n_scores;
    struct maar_score_use *scores;
    bool has_best_node;
    /* Every filter and score depends on nothing but class, static facts and load: classes can be indexed. What
     * depends on the load of other nodes is asked late, for the nodes of the index. */
    bool indexable;
    bool has_late; /* some filter or score is asked late */
    /* What gates and queues answer has known dependencies, so refusals can be remembered: in turns, at the gate. */
    bool remembers;
    bool remembers_gate;
    /* Changes with everything that an index was computed with. */
    uint64_t generation;
    uint64_t open_set; /* which instances were open in the last session */
};

static inline bool maar_listing_has(const struct maar_listing *listing, enum maar_enable enable)
{
    return listing->instance->open && ((listing->enable >> enable) & 1);
}

#endif
