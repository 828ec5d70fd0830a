/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_CONF_H
#define MAAR_CONF_CONF_H

/* scheduler.conf: the whole grammar of Volcano's file and the key `compatibility`. Reading is all
 * or nothing: a file with an error gives no configuration. Unknown keys are warnings, as Volcano
 * tolerates them. */

#include "base/error.h"
#include "conf/arguments.h"

/* The enable keys of a plugin entry, in the order of the bits of maar_arguments.enable. */
enum maar_enable {
    MAAR_ENABLE_JOB_ORDER,
    MAAR_ENABLE_HIERARCHY, /* false when absent */
    MAAR_ENABLE_JOB_READY,
    MAAR_ENABLE_JOB_PIPELINED,
    MAAR_ENABLE_TASK_ORDER,
    MAAR_ENABLE_PREEMPTABLE,
    MAAR_ENABLE_RECLAIMABLE,
    MAAR_ENABLE_PREEMPTIVE,
    MAAR_ENABLE_QUEUE_ORDER,
    MAAR_ENABLE_CLUSTER_ORDER, /* false when absent */
    MAAR_ENABLE_PREDICATE,
    MAAR_ENABLE_BEST_NODE,
    MAAR_ENABLE_NODE_ORDER,
    MAAR_ENABLE_TARGET_JOB,
    MAAR_ENABLE_RESERVED_NODES,
    MAAR_ENABLE_JOB_ENQUEUED,
    MAAR_ENABLE_VICTIM,
    MAAR_ENABLE_JOB_STARVING,
    MAAR_ENABLE_OVERUSED,
    MAAR_ENABLE_ALLOCATABLE,
    MAAR_ENABLE_HYPER_NODE_ORDER,
    MAAR_ENABLE_SUB_JOB_READY,
    MAAR_ENABLE_SUB_JOB_PIPELINED,
    MAAR_ENABLE_SUB_JOB_ORDER,
    MAAR_ENABLE_HYPER_NODE_GRADIENT,
    MAAR_N_ENABLES,
};

/* The YAML key of an enable bit, in Volcano's own mixture of enable and enabled. */
const char *maar_enable_key(enum maar_enable enable);
/* The bit of a key, -1 when it is none. */
int maar_enable_find(const char *key);
/* What holds where the key is not written. */
bool maar_enable_default(enum maar_enable enable);

struct maar_conf_plugin {
    char *name;
    int line;
    int column;
    struct maar_arguments arguments;
};

struct maar_conf_tier {
    size_t n_plugins;
    struct maar_conf_plugin *plugins;
};

/* `configurations:` entry: arguments of an action. */
struct maar_conf_action {
    char *name;
    int line;
    int column;
    struct maar_arguments arguments;
};

struct maar_conf_pair {
    char *key;
    char *value;
};

struct maar_conf_warning {
    int line;
    int column;
    char *text;    /* "key: what is wrong" */
    bool is_error; /* from maar_conf_examine only */
};

struct maar_conf {
    char *source; /* file name for messages */
    size_t n_actions;
    char **actions; /* in order, trimmed; duplicates kept */
    int actions_line;
    int actions_column;
    size_t n_tiers;
    struct maar_conf_tier *tiers;
    size_t n_configurations;
    struct maar_conf_action *configurations;
    size_t n_metrics;
    struct maar_conf_pair *metrics;
    bool compatibility_volcano;
    size_t n_warnings;
    struct maar_conf_warning *warnings;
};

/* Parses `n` bytes of YAML. `source` names the file in messages. 0, or -EINVAL with
 * "file:line:column: key: what was expected". Action names are checked against `known_actions`
 * (NULL-terminated; NULL: any name passes). */
int maar_conf_parse(const char *text, size_t n, const char *source,
                    const char *const *known_actions, struct maar_conf **ret_conf,
                    struct maar_error *err) __attribute__((warn_unused_result));
/* The same, but goes on after an error and keeps it among the warnings, so that all of them can be
 * told. Such a configuration is for judging, not for use. -EINVAL only for what is not YAML. */
int maar_conf_examine(const char *text, size_t n, const char *source,
                      const char *const *known_actions, struct maar_conf **ret_conf,
                      struct maar_error *err) __attribute__((warn_unused_result));
/* Reads a file of at most 1 MiB and parses it. */
int maar_conf_read(const char *path, const char *const *known_actions, struct maar_conf **ret_conf,
                   struct maar_error *err) __attribute__((warn_unused_result));
/* The built-in configuration: enqueue, allocate, backfill with Volcano's default tiers. */
struct maar_conf *maar_conf_default(void);
/* The keys of the file's top level, NULL-terminated. */
const char *const *maar_conf_keys(void);
/* Accepts NULL. */
void maar_conf_destroy(struct maar_conf *conf);
/* Arguments of an action: the first entry of that name, NULL if none. */
const struct maar_arguments *maar_conf_action_arguments(const struct maar_conf *conf,
                                                        const char *action);
/* Flag of the first entry of the plugin, walking tiers top-down; false when the plugin is not
 * there. */
bool maar_conf_plugin_enabled(const struct maar_conf *conf, const char *plugin,
                              enum maar_enable enable);

#endif
