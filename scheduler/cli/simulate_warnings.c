// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// What an input says without effect. The scheduler logs the same about its scheduler.conf; here it is always said, and
// once however often the simulation starts a scheduler.
#include "cli/simulate_warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/simulate_table.h"

#define MAX_PROBLEMS 32

/* Plugins of Volcano that this tree has no counterpart of. */
static const char *const not_built[] = {
    "sla",           "tdm", "usage", "deviceshare", "numaaware",    "network-topology-aware",
    "nodegroup",     "pdb", "cdp",   "extender",    "rescheduling", "resourcequota",
    "task-topology", NULL};

static void warn(const char *source, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void warn(const char *source, int line, int column, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    maar_autofree char *place = column ? maar_asprintf("%s:%d:%d", source, line, column)
                                       : maar_asprintf("%s:%d", source, line);
    maar_autofree char *whole = maar_asprintf("%s: %s", place, text);
    maar_autofree char *safe = maar_simulate_escape(whole, false);
    fprintf(stderr, "warning: %s\n", safe);
}

/* ---- scheduler.conf ---- */

static void warn_arguments(const struct maar_conf *conf, const struct maar_arguments *arguments,
                           const struct maar_argument *table)
{
    struct maar_argument_problem problems[MAX_PROBLEMS];
    size_t n = maar_arguments_check(arguments, table, problems, MAX_PROBLEMS);
    for (size_t i = 0; i < n && i < MAX_PROBLEMS; i++)
        warn(conf->source, problems[i].line, problems[i].column, "%s", problems[i].text);
}

static void warn_missing(const struct maar_conf *conf, const struct maar_registry *registry,
                         const struct maar_conf_plugin *plugin)
{
    for (size_t i = 0; not_built[i]; i++) {
        if (strcmp(not_built[i], plugin->name) == 0) {
            warn(conf->source, plugin->line, plugin->column,
                 "plugin %s: known in Volcano, not built yet; it is left out", plugin->name);
            return;
        }
    }
    size_t n = maar_registry_n_plugins(registry);
    const char **names = maar_calloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = maar_registry_plugin(registry, i)->name;
    const char *nearest = maar_text_nearest(plugin->name, names);
    if (!nearest)
        nearest = maar_text_nearest(plugin->name, not_built);
    warn(conf->source, plugin->line, plugin->column, "there is no plugin %s; it is left out%s%s%s",
         plugin->name, nearest ? "; did you mean " : "", nearest ? nearest : "",
         nearest ? "?" : "");
    free(names);
}

/* A plugin that is listed again keeps the arguments of the first time. */
static bool is_first(const struct maar_conf *conf, size_t tier, size_t at)
{
    const char *name = conf->tiers[tier].plugins[at].name;
    for (size_t i = 0; i <= tier; i++)
        for (size_t k = 0; k < (i == tier ? at : conf->tiers[i].n_plugins); k++)
            if (strcmp(conf->tiers[i].plugins[k].name, name) == 0)
                return false;
    return true;
}

static void warn_actions(const struct maar_conf *conf, const struct maar_registry *registry)
{
    for (size_t i = 0; i < conf->n_configurations; i++) {
        const struct maar_conf_action *configuration = &conf->configurations[i];
        const struct maar_action *action = maar_registry_find_action(registry, configuration->name);
        bool used = false;
        for (size_t k = 0; k < conf->n_actions; k++)
            used |= strcmp(conf->actions[k], configuration->name) == 0;
        if (action && used)
            warn_arguments(conf, &configuration->arguments, action->arguments);
    }
}

void maar_simulate_warn_conf(const struct maar_conf *conf, const struct maar_registry *registry)
{
    for (size_t i = 0; i < conf->n_warnings; i++)
        warn(conf->source, conf->warnings[i].line, conf->warnings[i].column, "%s",
             conf->warnings[i].text);
    for (size_t i = 0; i < conf->n_tiers; i++) {
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++) {
            const struct maar_conf_plugin *entry = &conf->tiers[i].plugins[k];
            const struct maar_plugin *plugin = maar_registry_find_plugin(registry, entry->name);
            if (!plugin)
                warn_missing(conf, registry, entry);
            else if (is_first(conf, i, k))
                warn_arguments(conf, &entry->arguments, plugin->arguments);
        }
    }
    warn_actions(conf, registry);
}

/* ---- manifests ---- */

void maar_simulate_warn_scenario(const struct maar_scenario *scenario)
{
    const struct maar_scenario_warning *warning;
    MAAR_VEC_EACH (&scenario->warnings, warning) {
        char more[40] = "";
        if (warning->n > 1)
            snprintf(more, sizeof more, " (and %zu more)", warning->n - 1);
        warn(warning->field.file->path, maar_field_line(&warning->field), 0, "%s%s", warning->text,
             more);
    }
}
