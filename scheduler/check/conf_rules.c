/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A scheduler.conf. What the scheduler would refuse is an error, what it would log a warning; both come from the code
 * that the scheduler itself reads its file with. */

#include <string.h>

#include "check/parts.h"
#include "host/conf_check.h"
#include "host/policy_build.h"

struct reporting {
    struct maar_check *check;
    const struct maar_scenario_file *file;
    bool has_own_lines;
    int line; /* of the field that holds the text */
    int column;
};

static void add(const struct reporting *reporting, int line, int column, bool is_error,
                const char *text)
{
    struct maar_findings *findings = &reporting->check->findings;
    if (!reporting->has_own_lines) {
        maar_findings_add_text(findings, reporting->file, line, column, is_error, text);
        return;
    }
    maar_autofree char *whole = maar_asprintf("%s (line %d of this text)", text,
                                              line > reporting->line ? line - reporting->line : 1);
    maar_findings_add_text(findings, reporting->file, reporting->line, reporting->column, is_error,
                           whole);
}

static void add_error(const struct reporting *reporting, const struct maar_error *err)
{
    int line, column;
    const char *text = maar_findings_split_error(reporting->file, err, &line, &column);
    add(reporting, line, column, true, text);
}

static void add_warning(void *context, int line, int column, const char *text)
{
    add(context, line, column, false, text);
}

/* Plugins may refuse their arguments. */
static void try_policy(const struct reporting *reporting, const char *text, size_t n)
{
    const struct maar_registry *registry = reporting->check->registry;
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_policy *policy = NULL;
    int rc = maar_conf_parse(text, n, reporting->file->path, maar_registry_action_names(registry),
                             &conf, &err);
    if (rc == 0)
        policy = maar_policy_create(registry, conf, &err);
    if (!policy)
        add_error(reporting, &err);
    maar_policy_destroy(policy);
}

void maar_check_conf(struct maar_check *check, const struct maar_scenario_file *file,
                     const struct maar_field *field, const char *text, size_t n)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    struct reporting reporting = {.check = check, .file = file, .has_own_lines = field != NULL};
    bool is_sound = true;
    if (field)
        maar_field_locate(field, &reporting.line, &reporting.column);
    if (maar_conf_examine(text, n, file->path, maar_registry_action_names(check->registry), &conf,
                          &err) < 0) {
        add_error(&reporting, &err);
        return;
    }
    for (size_t i = 0; i < conf->n_warnings; i++) {
        const struct maar_conf_warning *warning = &conf->warnings[i];
        if (!warning->is_error)
            continue;
        is_sound = false;
        add(&reporting, warning->line, warning->column, true, warning->text);
    }
    maar_conf_check(conf, check->registry, add_warning, &reporting);
    if (is_sound)
        try_policy(&reporting, text, n);
    if (check->conf)
        maar_conf_destroy(conf);
    else
        check->conf = conf;
}

const struct maar_conf_plugin *maar_check_conf_plugin(const struct maar_check *check,
                                                      const char *name)
{
    const struct maar_conf *conf = check->conf;
    if (!maar_registry_find_plugin(check->registry, name))
        return NULL;
    for (size_t i = 0; i < conf->n_tiers; i++)
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++)
            if (strcmp(conf->tiers[i].plugins[k].name, name) == 0)
                return &conf->tiers[i].plugins[k];
    return NULL;
}
