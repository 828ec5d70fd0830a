/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: scheduler.conf. Whatever the bytes are, reading ends in a configuration or in one
 * message, and every question about the configuration has an answer. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct maar_argument table[] = {
    {"count", MAAR_ARGUMENT_INT, "1", "0..100", "An integer."},
    {"weight", MAAR_ARGUMENT_FLOAT, "1", "..10", "A number."},
    {"flag", MAAR_ARGUMENT_BOOL, "true", NULL, "A boolean."},
    {"text", MAAR_ARGUMENT_STRING, "abc", NULL, "A string."},
    {"x.*", MAAR_ARGUMENT_TREE, NULL, NULL, "Anything."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

static void ask(struct maar_arguments *arguments)
{
    struct maar_argument_problem problems[4];
    arguments->table = table;
    for (const struct maar_argument *row = table; row->key; row++) {
        (void)maar_arguments_int(arguments, row->key);
        (void)maar_arguments_float(arguments, row->key);
        (void)maar_arguments_bool(arguments, row->key);
        (void)strlen(maar_arguments_string(arguments, row->key));
    }
    size_t n = maar_arguments_check(arguments, table, problems, 4);
    for (size_t i = 0; i < n && i < 4; i++)
        if (problems[i].line < 1 || problems[i].column < 1 || problems[i].text[0] == '\0')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const known[] = {"enqueue", "allocate", "backfill", NULL};
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_conf_parse((const char *)data, size, "fuzz", size % 2 ? known : NULL, &conf, &err) <
        0) {
        if (conf || strncmp(err.text, "fuzz:", 5) != 0)
            abort();
        return 0;
    }
    if (conf->n_actions == 0)
        abort();
    for (size_t i = 0; i < conf->n_tiers; i++)
        for (size_t j = 0; j < conf->tiers[i].n_plugins; j++)
            ask(&conf->tiers[i].plugins[j].arguments);
    for (size_t i = 0; i < conf->n_configurations; i++) {
        ask(&conf->configurations[i].arguments);
        if (!maar_conf_action_arguments(conf, conf->configurations[i].name))
            abort();
    }
    (void)maar_conf_plugin_enabled(conf, "drf", MAAR_ENABLE_HIERARCHY);
    maar_conf_destroy(conf);
    return 0;
}
