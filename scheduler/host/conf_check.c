/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The configuration against the modules that are there. Whether a plugin votes is asked of its hooks and of the
 * switches beside it, so that the answer holds for custom plugins as well. */

#include "host/conf_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "conf/volcano.h"

#define MAX_PROBLEMS 32

struct checking {
    const struct maar_conf *conf;
    const struct maar_registry *registry;
    maar_conf_report_fn report;
    void *context;
};

static void report(const struct checking *checking, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void report(const struct checking *checking, int line, int column, const char *format, ...)
{
    struct maar_text text = MAAR_TEXT_INIT;
    va_list args;
    va_start(args, format);
    maar_text_addv(&text, format, args);
    va_end(args);
    checking->report(checking->context, line, column, maar_text_get(&text));
    maar_text_fini(&text);
}

/* ---- names and arguments ---- */

static void check_arguments(const struct checking *checking, const struct maar_arguments *arguments,
                            const struct maar_argument *table)
{
    struct maar_argument_problem problems[MAX_PROBLEMS];
    size_t n = maar_arguments_check(arguments, table, problems, MAX_PROBLEMS);
    for (size_t i = 0; i < n && i < MAX_PROBLEMS; i++)
        report(checking, problems[i].line, problems[i].column, "%s", problems[i].text);
}

/* The plugin of a like name, of those that are there or, failing that, of Volcano's. */
static const char *nearest_plugin(const struct maar_registry *registry, const char *name)
{
    MAAR_VEC(const char *) names = {0};
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++) {
        const struct maar_plugin *plugin = maar_registry_plugin(registry, i);
        maar_vec_push(&names, plugin->name);
        for (const char *const *alias = plugin->aliases; alias && *alias; alias++)
            maar_vec_push(&names, *alias);
    }
    maar_vec_push(&names, NULL);
    const char *nearest = maar_text_nearest(name, names.data);
    maar_vec_fini(&names);
    return nearest ? nearest : maar_text_nearest(name, maar_volcano_plugins());
}

static void report_missing(const struct checking *checking, const struct maar_conf_plugin *entry)
{
    if (maar_volcano_has_plugin(entry->name)) {
        report(checking, entry->line, entry->column,
               "plugins: %s is a plugin of Volcano that is not available here; it is left out",
               entry->name);
        return;
    }
    const char *nearest = nearest_plugin(checking->registry, entry->name);
    report(checking, entry->line, entry->column,
           "plugins: there is no plugin %.64s; it is left out%s%s%s", entry->name,
           nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* The listing of the same plugin that comes before this one, NULL if there is none. */
static const struct maar_conf_plugin *find_first(const struct checking *checking, size_t tier,
                                                 size_t at, const struct maar_plugin *plugin)
{
    const struct maar_conf *conf = checking->conf;
    for (size_t i = 0; i <= tier; i++) {
        size_t n = i == tier ? at : conf->tiers[i].n_plugins;
        for (size_t k = 0; k < n; k++)
            if (maar_registry_find_plugin(checking->registry, conf->tiers[i].plugins[k].name) ==
                plugin)
                return &conf->tiers[i].plugins[k];
    }
    return NULL;
}

static void check_listing(const struct checking *checking, size_t tier, size_t at)
{
    const struct maar_conf_plugin *entry = &checking->conf->tiers[tier].plugins[at];
    const struct maar_plugin *plugin = maar_registry_find_plugin(checking->registry, entry->name);
    if (!plugin) {
        report_missing(checking, entry);
        return;
    }
    const struct maar_conf_plugin *first = find_first(checking, tier, at, plugin);
    if (!first)
        check_arguments(checking, &entry->arguments, plugin->arguments);
    else
        report(checking, entry->line, entry->column,
               "plugins: %s is listed already, in line %d; it votes twice, and only the arguments "
               "of the first listing count",
               entry->name, first->line);
}

static bool runs_action(const struct maar_conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->n_actions; i++)
        if (strcmp(conf->actions[i], name) == 0)
            return true;
    return false;
}

static void check_configurations(const struct checking *checking)
{
    const struct maar_conf *conf = checking->conf;
    for (size_t i = 0; i < conf->n_configurations; i++) {
        const struct maar_conf_action *entry = &conf->configurations[i];
        const struct maar_action *action =
            maar_registry_find_action(checking->registry, entry->name);
        if (action) {
            check_arguments(checking, &entry->arguments, action->arguments);
        } else if (*entry->name && !maar_volcano_has_action(entry->name)) {
            const char *nearest =
                maar_text_nearest(entry->name, maar_registry_action_names(checking->registry));
            report(checking, entry->line, entry->column,
                   "configurations: there is no action %.64s; the entry has no effect%s%s%s",
                   entry->name, nearest ? "; did you mean " : "", nearest ? nearest : "",
                   nearest ? "?" : "");
            continue;
        }
        if (*entry->name && !runs_action(conf, entry->name))
            report(checking, entry->line, entry->column,
                   "configurations: %.64s is not among the actions; the entry has no effect",
                   entry->name);
    }
}

/* ---- tiers ---- */

static bool is_enabled(const struct maar_conf_plugin *entry, enum maar_enable enable)
{
    return ((entry->arguments.enable >> enable) & 1) != 0;
}

/* A way of making room, and the plugins that say who goes. */
struct victims {
    const char *way;
    const char *actions[3];
    enum maar_enable enable;
};

static const struct victims ways[] = {
    {"preempt", {"preempt", "gangpreempt", NULL}, MAAR_ENABLE_PREEMPTABLE},
    {"reclaim", {"reclaim", "gangreclaim", NULL}, MAAR_ENABLE_RECLAIMABLE},
};

static bool names_victims(const struct checking *checking, const struct maar_conf_plugin *entry,
                          const struct victims *way)
{
    const struct maar_plugin *plugin = maar_registry_find_plugin(checking->registry, entry->name);
    if (!plugin || !is_enabled(entry, way->enable))
        return false;
    if (way->enable == MAAR_ENABLE_PREEMPTABLE)
        return plugin->hooks.preemptable != NULL;
    /* drf has an opinion on other queues only where it holds a tree of them. */
    bool abstains = strcmp(plugin->name, "drf") == 0 && !is_enabled(entry, MAAR_ENABLE_HIERARCHY);
    return plugin->hooks.reclaimable != NULL && !abstains;
}

/* The first tier that names a victim decides alone: a plugin further down protects nothing. */
static void check_victims(const struct checking *checking, const struct victims *way)
{
    const struct maar_conf *conf = checking->conf;
    size_t deciding = SIZE_MAX;
    bool runs = false;
    for (const char *const *action = way->actions; *action; action++)
        runs |= runs_action(conf, *action);
    for (size_t i = 0; runs && i < conf->n_tiers; i++) {
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++) {
            const struct maar_conf_plugin *entry = &conf->tiers[i].plugins[k];
            if (!names_victims(checking, entry, way))
                continue;
            if (deciding == SIZE_MAX)
                deciding = i;
            if (i == deciding)
                continue;
            report(checking, entry->line, entry->column,
                   "plugins: %s has a say on whom %s evicts only where tier %zu names nobody, and "
                   "then without the plugins there; list it in tier %zu or write %s: false",
                   entry->name, way->way, deciding + 1, deciding + 1, maar_enable_key(way->enable));
        }
    }
}

static const struct maar_conf_plugin *find_plugin(const struct maar_conf *conf, const char *name,
                                                  size_t *ret_tier)
{
    for (size_t i = 0; i < conf->n_tiers; i++) {
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++) {
            if (strcmp(conf->tiers[i].plugins[k].name, name) != 0)
                continue;
            *ret_tier = i;
            return &conf->tiers[i].plugins[k];
        }
    }
    return NULL;
}

static void check_gang(const struct checking *checking)
{
    const struct maar_conf *conf = checking->conf;
    size_t tier = 0;
    const struct maar_conf_plugin *gang = find_plugin(conf, "gang", &tier);
    if (!gang && conf->n_actions > 0)
        report(checking, conf->actions_line, conf->actions_column,
               "tiers: gang is not among the plugins; pods start one by one, whatever their "
               "PodGroup's minMember says");
    else if (gang && tier > 0)
        report(checking, gang->line, gang->column,
               "plugins: gang is in tier %zu; where an earlier tier has an opinion, its votes on "
               "order and victims do not count; list it in the first tier",
               tier + 1);
}

static void check_quotas(const struct checking *checking)
{
    size_t tier;
    const struct maar_conf_plugin *proportion = find_plugin(checking->conf, "proportion", &tier);
    const struct maar_conf_plugin *capacity = find_plugin(checking->conf, "capacity", &tier);
    if (!proportion || !capacity)
        return;
    const struct maar_conf_plugin *last = capacity->line > proportion->line ? capacity : proportion;
    report(checking, last->line, last->column,
           "plugins: proportion (queues by weight) and capacity (queues by deserved) contradict "
           "each other; remove one");
}

void maar_conf_check(const struct maar_conf *conf, const struct maar_registry *registry,
                     maar_conf_report_fn report_fn, void *context)
{
    struct checking checking = {conf, registry, report_fn, context};
    for (size_t i = 0; i < conf->n_warnings; i++)
        if (!conf->warnings[i].is_error)
            report(&checking, conf->warnings[i].line, conf->warnings[i].column, "%s",
                   conf->warnings[i].text);
    check_gang(&checking);
    for (size_t i = 0; i < conf->n_tiers; i++)
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++)
            check_listing(&checking, i, k);
    check_quotas(&checking);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        check_victims(&checking, &ways[i]);
    check_configurations(&checking);
}
