/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_FAKE_POLICY_H
#define MAAR_TEST_FAKE_POLICY_H

/* A policy made of static descriptors instead of shared objects, tier by tier. */

#include <stdlib.h>

#include "session/session.h"

#define EVERY_HOOK UINT32_MAX

static inline struct maar_policy *fake_policy(bool compatibility)
{
    struct maar_policy *policy = maar_calloc(1, sizeof *policy);
    policy->conf = maar_calloc(1, sizeof *policy->conf);
    policy->conf->compatibility_volcano = compatibility;
    policy->instances = maar_calloc(16, sizeof *policy->instances);
    policy->tiers = maar_calloc(8, sizeof *policy->tiers);
    policy->indexable = true;
    return policy;
}

/* Lists the plugin in the tier (0, 1, …), with the hooks that `enable` allows. `self` is handed to its hooks. A plugin
 * listed before is the same instance. */
static inline void fake_list(struct maar_policy *policy, size_t tier_at,
                             const struct maar_plugin *plugin, uint32_t enable, void *self)
{
    struct maar_instance *instance = NULL;
    for (size_t i = 0; i < policy->n_instances; i++)
        if (policy->instances[i].plugin == plugin && policy->instances[i].self == self)
            instance = &policy->instances[i];
    if (!instance) {
        instance = &policy->instances[policy->n_instances++];
        *instance = (struct maar_instance){.plugin = plugin, .self = self, .created = true};
    }
    while (policy->n_tiers <= tier_at)
        policy->tiers[policy->n_tiers++].listings = maar_calloc(16, sizeof(struct maar_listing));
    struct maar_tier *tier = &policy->tiers[tier_at];
    tier->listings[tier->n++] = (struct maar_listing){instance, enable};
    for (size_t i = 0; i < plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &plugin->hooks.filters[i];
        policy->filters =
            maar_realloc(policy->filters, policy->n_filters + 1, sizeof *policy->filters);
        policy->filters[policy->n_filters++] = (struct maar_filter_use){instance, filter};
        policy->has_late |= (filter->node & MAAR_NODE_OTHERS) != 0;
    }
    for (size_t i = 0; i < plugin->hooks.n_scores; i++) {
        const struct maar_score *score = &plugin->hooks.scores[i];
        policy->scores = maar_realloc(policy->scores, policy->n_scores + 1, sizeof *policy->scores);
        policy->scores[policy->n_scores++] = (struct maar_score_use){instance, score};
        policy->has_late |= (score->node & MAAR_NODE_OTHERS) != 0;
    }
}

static inline void fake_policy_free(struct maar_policy *policy)
{
    for (size_t i = 0; i < policy->n_instances; i++) {
        free(policy->instances[i].view.node_rows);
        free(policy->instances[i].view.job_rows);
        free(policy->instances[i].view.queue_rows);
        free(policy->instances[i].view.session_row);
    }
    for (size_t t = 0; t < policy->n_tiers; t++)
        free(policy->tiers[t].listings);
    free(policy->instances);
    free(policy->tiers);
    free(policy->filters);
    free(policy->scores);
    free(policy->conf);
    free(policy);
}

#endif
