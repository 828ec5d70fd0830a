/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Building a policy. What the configuration says without effect is logged once, here. */

#include <errno.h>

#include "base/log.h"
#include "host/conf_check.h"
#include "host/policy_build.h"
#include "place/place.h"

static void log_warning(void *context, int line, int column, const char *text)
{
    const char *const *source = context;
    maar_log_warning("%s:%d:%d: %s", *source, line, column, text);
}

static int create_instance(struct maar_instance *instance, struct maar_conf *conf,
                           struct maar_conf_plugin *entry, struct maar_error *err)
{
    const struct maar_plugin *plugin = instance->plugin;
    entry->arguments.table = plugin->arguments;
    instance->arguments = &entry->arguments;
    char text[256] = "";
    if (plugin->create && plugin->create(&maar_session_host, instance->arguments, &instance->self,
                                         text, sizeof text) < 0)
        return maar_error_set(err, -EINVAL, "%s:%d:%d: plugin %s: %s", conf->source, entry->line,
                              entry->column, plugin->name, *text ? text : "refused to start");
    instance->created = true;
    return 0;
}

static struct maar_instance *find_instance(struct maar_policy *policy,
                                           const struct maar_plugin *plugin)
{
    for (size_t i = 0; i < policy->n_instances; i++)
        if (policy->instances[i].plugin == plugin)
            return &policy->instances[i];
    return NULL;
}

static int add_listing(struct maar_policy *policy, const struct maar_registry *registry,
                       struct maar_tier *tier, struct maar_conf_plugin *entry,
                       struct maar_error *err)
{
    const struct maar_plugin *plugin = maar_registry_find_plugin(registry, entry->name);
    if (!plugin)
        return 0;
    struct maar_instance *instance = find_instance(policy, plugin);
    if (!instance) {
        instance = &policy->instances[policy->n_instances++];
        instance->plugin = plugin;
        int rc = create_instance(instance, policy->conf, entry, err);
        if (rc < 0)
            return rc;
    }
    tier->listings[tier->n++] =
        (struct maar_listing){.instance = instance, .enable = entry->arguments.enable};
    return 0;
}

static int build_tiers(struct maar_policy *policy, const struct maar_registry *registry,
                       struct maar_error *err)
{
    struct maar_conf *conf = policy->conf;
    size_t n = 0;
    for (size_t t = 0; t < conf->n_tiers; t++)
        n += conf->tiers[t].n_plugins;
    policy->instances = maar_calloc(n + 1, sizeof *policy->instances);
    policy->tiers = maar_calloc(conf->n_tiers + 1, sizeof *policy->tiers);
    for (size_t t = 0; t < conf->n_tiers; t++) {
        struct maar_tier *tier = &policy->tiers[policy->n_tiers++];
        tier->listings = maar_calloc(conf->tiers[t].n_plugins + 1, sizeof *tier->listings);
        for (size_t i = 0; i < conf->tiers[t].n_plugins; i++) {
            int rc = add_listing(policy, registry, tier, &conf->tiers[t].plugins[i], err);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static int build_steps(struct maar_policy *policy, const struct maar_registry *registry,
                       struct maar_error *err)
{
    struct maar_conf *conf = policy->conf;
    policy->steps = maar_calloc(conf->n_actions + 1, sizeof *policy->steps);
    for (size_t i = 0; i < conf->n_actions; i++) {
        struct maar_step *step = &policy->steps[policy->n_steps];
        step->action = maar_registry_find_action(registry, conf->actions[i]);
        if (!step->action)
            return maar_error_set(err, -EINVAL, "%s:%d:%d: actions: \"%s\" is not known",
                                  conf->source, conf->actions_line, conf->actions_column,
                                  conf->actions[i]);
        struct maar_arguments *arguments = NULL;
        for (size_t k = 0; k < conf->n_configurations && !arguments; k++)
            if (!strcmp(conf->configurations[k].name, conf->actions[i]))
                arguments = &conf->configurations[k].arguments;
        if (arguments)
            arguments->table = step->action->arguments;
        step->defaults.table = step->action->arguments;
        step->arguments = arguments ? arguments : &step->defaults;
        policy->n_steps++;
    }
    return 0;
}

static bool is_indexable(uint32_t subject, uint32_t node)
{
    return subject == MAAR_SUBJECT_CLASS && node != 0 &&
           !(node & ~((uint32_t)MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS));
}

static void add_filters(struct maar_policy *policy, struct maar_instance *instance)
{
    const struct maar_hooks *hooks = &instance->plugin->hooks;
    for (size_t i = 0; i < hooks->n_filters; i++) {
        const struct maar_filter *filter = &hooks->filters[i];
        if (filter->active && !filter->active(instance->self))
            continue;
        policy->filters =
            maar_realloc(policy->filters, policy->n_filters + 1, sizeof *policy->filters);
        policy->filters[policy->n_filters++] = (struct maar_filter_use){instance, filter};
        policy->indexable &= is_indexable(filter->subject, filter->node);
        policy->has_late |= (filter->node & MAAR_NODE_OTHERS) != 0;
    }
}

static void add_scores(struct maar_policy *policy, struct maar_instance *instance)
{
    const struct maar_hooks *hooks = &instance->plugin->hooks;
    for (size_t i = 0; i < hooks->n_scores; i++) {
        const struct maar_score *score = &hooks->scores[i];
        if (score->active && !score->active(instance->self))
            continue;
        policy->scores = maar_realloc(policy->scores, policy->n_scores + 1, sizeof *policy->scores);
        policy->scores[policy->n_scores++] = (struct maar_score_use){instance, score};
        policy->indexable &= is_indexable(score->subject, score->node);
        bool late = (score->node & MAAR_NODE_OTHERS) != 0;
        policy->has_late |= late;
        /* Raw values of an index are read again only when facts change; sums of an index know nothing of late
         * scores. */
        if (score->raw ? score->node != MAAR_NODE_STATIC && !late : late)
            policy->indexable = false;
    }
}

/* Whether what the plugin says of jobs and queues has known dependencies. */
static void add_gates(struct maar_policy *policy, const struct maar_plugin *plugin)
{
    static const uint32_t known =
        (uint32_t)MAAR_SUBJECT_JOB | MAAR_SUBJECT_TASK | MAAR_SUBJECT_CLASS;
    const struct maar_hooks *hooks = &plugin->hooks;
    bool gates = hooks->job_valid || hooks->job_ready || hooks->job_pipelined || hooks->pre_filter;
    if (gates && (plugin->gate_subject == 0 || (plugin->gate_subject & ~known)))
        policy->remembers = false;
    if ((hooks->queue_room || hooks->queue_overused) && !hooks->queue_state)
        policy->remembers = false;
    if (hooks->job_enqueueable && !hooks->queue_state)
        policy->remembers_gate = false;
    if (hooks->reserve)
        policy->remembers = false;
}

static void flatten(struct maar_policy *policy)
{
    policy->remembers = policy->remembers_gate = true;
    for (size_t i = 0; i < policy->n_instances; i++)
        add_gates(policy, policy->instances[i].plugin);

    uint32_t n_terms = 0;
    policy->indexable = true;
    for (size_t t = 0; t < policy->n_tiers; t++) {
        for (size_t i = 0; i < policy->tiers[t].n; i++) {
            const struct maar_listing *listing = &policy->tiers[t].listings[i];
            if ((listing->enable >> MAAR_ENABLE_PREDICATE) & 1)
                add_filters(policy, listing->instance);
            if ((listing->enable >> MAAR_ENABLE_NODE_ORDER) & 1)
                add_scores(policy, listing->instance);
            if ((listing->enable >> MAAR_ENABLE_BEST_NODE) & 1)
                policy->has_best_node |= listing->instance->plugin->hooks.best_node != NULL;
        }
    }
    for (size_t i = 0; i < policy->n_scores; i++)
        n_terms += policy->scores[i].score->raw != NULL;
    if (n_terms > MAAR_PLACE_TERMS_MAX)
        policy->indexable = false;
}

struct maar_policy *maar_policy_create(const struct maar_registry *registry, struct maar_conf *conf,
                                       struct maar_error *err)
{
    struct maar_policy *policy = maar_calloc(1, sizeof *policy);
    policy->conf = conf;
    const char *source = conf->source;
    maar_conf_check(conf, registry, log_warning, &source);
    if (build_tiers(policy, registry, err) < 0 || build_steps(policy, registry, err) < 0) {
        maar_policy_destroy(policy);
        return NULL;
    }
    flatten(policy);
    return policy;
}

void maar_policy_destroy(struct maar_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < policy->n_instances; i++) {
        struct maar_instance *instance = &policy->instances[i];
        if (instance->created && instance->plugin->destroy)
            instance->plugin->destroy(instance->self);
        free(instance->view.node_rows);
        free(instance->view.job_rows);
        free(instance->view.queue_rows);
        free(instance->view.session_row);
    }
    for (size_t t = 0; t < policy->n_tiers; t++)
        free(policy->tiers[t].listings);
    free(policy->instances);
    free(policy->tiers);
    free(policy->steps);
    free(policy->filters);
    free(policy->scores);
    maar_conf_destroy(policy->conf);
    free(policy);
}
