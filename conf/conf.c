/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* scheduler.conf, read as Volcano reads it: keys are exact, unknown ones are tolerated, a value of
 * a wrong type makes the file invalid, and so do an unknown action and `drf` with hierarchy beside
 * `proportion` in one tier. What Volcano ignores in silence (a misspelt key above all: enable and
 * enabled are mixed) becomes a warning.
 *
 * One key is this program's own: `compatibility: volcano` asks for Volcano's quirks. */

#include "conf/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "conf/volcano.h"
#include "conf/yaml.h"

#define MAX_WARNINGS   100
#define MAX_FILE_BYTES MAAR_YAML_MAX_BYTES

static const char *const enable_keys[MAAR_N_ENABLES + 1] = {
    [MAAR_ENABLE_JOB_ORDER] = "enableJobOrder",
    [MAAR_ENABLE_HIERARCHY] = "enableHierarchy",
    [MAAR_ENABLE_JOB_READY] = "enableJobReady",
    [MAAR_ENABLE_JOB_PIPELINED] = "enableJobPipelined",
    [MAAR_ENABLE_TASK_ORDER] = "enableTaskOrder",
    [MAAR_ENABLE_PREEMPTABLE] = "enablePreemptable",
    [MAAR_ENABLE_RECLAIMABLE] = "enableReclaimable",
    [MAAR_ENABLE_PREEMPTIVE] = "enablePreemptive",
    [MAAR_ENABLE_QUEUE_ORDER] = "enableQueueOrder",
    [MAAR_ENABLE_CLUSTER_ORDER] = "enabledClusterOrder",
    [MAAR_ENABLE_PREDICATE] = "enablePredicate",
    [MAAR_ENABLE_BEST_NODE] = "enableBestNode",
    [MAAR_ENABLE_NODE_ORDER] = "enableNodeOrder",
    [MAAR_ENABLE_TARGET_JOB] = "enableTargetJob",
    [MAAR_ENABLE_RESERVED_NODES] = "enableReservedNodes",
    [MAAR_ENABLE_JOB_ENQUEUED] = "enableJobEnqueued",
    [MAAR_ENABLE_VICTIM] = "enabledVictim",
    [MAAR_ENABLE_JOB_STARVING] = "enableJobStarving",
    [MAAR_ENABLE_OVERUSED] = "enabledOverused",
    [MAAR_ENABLE_ALLOCATABLE] = "enabledAllocatable",
    [MAAR_ENABLE_HYPER_NODE_ORDER] = "enabledHyperNodeOrder",
    [MAAR_ENABLE_SUB_JOB_READY] = "enabledSubJobReady",
    [MAAR_ENABLE_SUB_JOB_PIPELINED] = "enabledSubJobPipelined",
    [MAAR_ENABLE_SUB_JOB_ORDER] = "enabledSubJobOrder",
    [MAAR_ENABLE_HYPER_NODE_GRADIENT] = "enabledHyperNodeGradient",
};

#define ENABLE_ALL ((1u << MAAR_N_ENABLES) - 1)
#define ENABLE_DEFAULT                                                                             \
    (ENABLE_ALL & ~(1u << MAAR_ENABLE_HIERARCHY) & ~(1u << MAAR_ENABLE_CLUSTER_ORDER))

struct reading {
    struct maar_conf *conf;
    const char *const *known_actions;
    struct maar_error *err;
    bool goes_on;           /* after an error, which is kept beside the warnings */
    size_t n_left_out;      /* warnings beyond the limit */
    bool left_out_an_error; /* among them */
};

typedef int (*key_fn)(struct reading *reading, const struct maar_argument_node *node);

/* ---- messages -------------------------------------------------------------------------------- */

static void add_warning(struct reading *reading, const struct maar_conf_warning *warning)
{
    struct maar_conf *conf = reading->conf;
    if (conf->n_warnings == MAX_WARNINGS) {
        reading->n_left_out++;
        reading->left_out_an_error |= warning->is_error;
        return;
    }
    conf->warnings = maar_realloc(conf->warnings, conf->n_warnings + 1, sizeof *conf->warnings);
    struct maar_conf_warning *added = &conf->warnings[conf->n_warnings++];
    *added = *warning;
    added->text = maar_strdup(warning->text);
}

static void warn_yaml(void *context, int line, int column, const char *text)
{
    maar_autofree char *copy = maar_strdup(text);
    struct maar_conf_warning warning = {.line = line, .column = column, .text = copy};
    add_warning(context, &warning);
}

static void warn(struct reading *reading, const struct maar_argument_node *node, const char *format,
                 ...) __attribute__((format(printf, 3, 4)));

static void warn(struct reading *reading, const struct maar_argument_node *node, const char *format,
                 ...)
{
    struct maar_text text = MAAR_TEXT_INIT;
    va_list args;
    va_start(args, format);
    maar_text_addv(&text, format, args);
    va_end(args);
    struct maar_conf_warning warning = {node->line, node->column, maar_text_steal(&text), false};
    add_warning(reading, &warning);
    free(warning.text);
}

/* The file is refused with this text, or, when reading goes on, 0. */
static int fail_at(struct reading *reading, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int fail_at(struct reading *reading, int line, int column, const char *format, ...)
{
    struct maar_text text = MAAR_TEXT_INIT;
    va_list args;
    va_start(args, format);
    maar_text_addv(&text, format, args);
    va_end(args);
    struct maar_conf_warning error = {line, column, maar_text_steal(&text), true};
    int rc = 0;
    if (reading->goes_on)
        add_warning(reading, &error);
    else
        rc = maar_error_set(reading->err, -EINVAL, "%s:%d:%d: %s", reading->conf->source, line,
                            column, error.text);
    free(error.text);
    return rc;
}

static int compare_warnings(const void *l, const void *r)
{
    const struct maar_conf_warning *left = l;
    const struct maar_conf_warning *right = r;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    return strcmp(left->text, right->text);
}

/* Puts the warnings into file order and says how many there are no words for. */
static void finish_warnings(struct reading *reading)
{
    struct maar_conf *conf = reading->conf;
    if (conf->n_warnings > 1)
        qsort(conf->warnings, conf->n_warnings, sizeof *conf->warnings, compare_warnings);
    if (reading->n_left_out == 0)
        return;
    struct maar_conf_warning *last = &conf->warnings[conf->n_warnings - 1];
    char *text = maar_asprintf("%s (and %zu more)", last->text, reading->n_left_out);
    free(last->text);
    last->text = text;
    last->is_error |= reading->left_out_an_error;
}

/* "key: expected …, found …; what to do" */
static int wrong(struct reading *reading, const struct maar_argument_node *node, const char *key,
                 const char *expected, const char *advice)
{
    char found[128];
    return fail_at(reading, node->line, node->column, "%s: expected %s, found %s; %s", key,
                   expected, maar_argument_node_describe(node, found, sizeof found), advice);
}

static void warn_unknown_key(struct reading *reading, const struct maar_argument_node *node,
                             const char *where, const char *const *known)
{
    const char *nearest = maar_text_nearest(node->key, known);
    if (nearest)
        warn(reading, node, "%.64s: unknown key of %s, ignored; did you mean %s?", node->key, where,
             nearest);
    else
        warn(reading, node, "%.64s: unknown key of %s, ignored", node->key, where);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_null(const struct maar_argument_node *node)
{
    return node->kind == MAAR_ARGUMENT_NODE_SCALAR && node->scalar == MAAR_SCALAR_NULL;
}

static bool is_kind_or_null(const struct maar_argument_node *node,
                            enum maar_argument_node_kind kind)
{
    return node->kind == kind || is_null(node);
}

/* Any scalar will do where a text is wanted, as in Volcano: `name: 5` is "5". Null is "". */
static const char *text_of(const struct maar_argument_node *node)
{
    return is_null(node) ? "" : node->text;
}

static struct maar_argument_node copy_tree(const struct maar_argument_node *from)
{
    struct maar_argument_node node = *from;
    node.key = maar_strdup(from->key);
    node.text = maar_strdup(from->text);
    node.children = NULL;
    if (from->n_children > 0)
        node.children = maar_calloc(from->n_children, sizeof *node.children);
    for (size_t i = 0; i < from->n_children; i++)
        node.children[i] = copy_tree(&from->children[i]);
    return node;
}

static void init_arguments(struct maar_arguments *arguments)
{
    *arguments = (struct maar_arguments){.enable = ENABLE_DEFAULT};
    arguments->root.kind = MAAR_ARGUMENT_NODE_MAP;
    arguments->root.key = maar_strdup("");
    arguments->root.text = maar_strdup("");
}

static int read_arguments(struct reading *reading, const struct maar_argument_node *node,
                          struct maar_arguments *arguments)
{
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_MAP))
        return wrong(reading, node, "arguments", "a map",
                     "write one \"key: value\" a line below arguments:");
    if (is_null(node))
        return 0;
    maar_argument_node_fini(&arguments->root);
    arguments->root = copy_tree(node);
    return 0;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static size_t length_without_blanks(const char *at, size_t n)
{
    while (n > 0 && isspace((unsigned char)at[n - 1]))
        n--;
    return n;
}

/* ---- actions --------------------------------------------------------------------------------- */

static void add_action(struct maar_conf *conf, char *name)
{
    conf->actions = maar_realloc(conf->actions, conf->n_actions + 1, sizeof *conf->actions);
    conf->actions[conf->n_actions++] = name;
}

static bool is_named(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Volcano's own words come first, so that a search for them leads here too. */
static int unknown_action(struct reading *reading, const struct maar_argument_node *node,
                          const char *name)
{
    bool of_volcano = maar_volcano_has_action(name);
    const char *nearest = of_volcano ? NULL : maar_text_nearest(name, reading->known_actions);
    struct maar_text known = MAAR_TEXT_INIT;
    for (const char *const *action = reading->known_actions; *action; action++)
        maar_text_addf(&known, "%s%s", known.n ? ", " : "", *action);
    int rc = fail_at(reading, node->line, node->column,
                     "actions: failed to find Action \"%.64s\"; %s%s%s%sthere are: %s", name,
                     of_volcano ? "it is an action of Volcano that is not available here; " : "",
                     nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "",
                     maar_text_get(&known));
    maar_text_fini(&known);
    return rc;
}

static int check_action(struct reading *reading, const struct maar_argument_node *node,
                        const char *name)
{
    if (*name == '\0')
        return fail_at(reading, node->line, node->column,
                       "actions: expected a name between the commas, found nothing; remove the "
                       "comma that is too many");
    if (reading->known_actions && !is_named(name, reading->known_actions))
        return unknown_action(reading, node, name);
    return 0;
}

static int read_actions(struct reading *reading, const struct maar_argument_node *node)
{
    static const char advice[] = "write actions: \"enqueue, allocate, backfill\"";
    const char *expected = "names separated by commas";
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR || *skip_blanks(text_of(node)) == '\0')
        return wrong(reading, node, "actions", expected, advice);
    reading->conf->actions_line = node->line;
    reading->conf->actions_column = node->column;
    for (const char *at = text_of(node); at;) {
        const char *comma = strchr(at, ',');
        const char *name = skip_blanks(at);
        if (comma && name > comma)
            name = comma;
        size_t n = comma ? (size_t)(comma - name) : strlen(name);
        add_action(reading->conf, maar_strndup(name, length_without_blanks(name, n)));
        int rc = check_action(reading, node, reading->conf->actions[reading->conf->n_actions - 1]);
        if (rc < 0)
            return rc;
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

/* ---- tiers ----------------------------------------------------------------------------------- */

const char *maar_enable_key(enum maar_enable enable)
{
    return enable_keys[enable];
}

int maar_enable_find(const char *key)
{
    for (int i = 0; i < MAAR_N_ENABLES; i++)
        if (strcmp(enable_keys[i], key) == 0)
            return i;
    return -1;
}

bool maar_enable_default(enum maar_enable enable)
{
    return ((ENABLE_DEFAULT >> enable) & 1) != 0;
}

/* The key that differs from this one in enable or enabled only, NULL if none. */
static const char *other_spelling(const char *key)
{
    char other[64];
    if (strncmp(key, "enable", 6) != 0)
        return NULL;
    bool has_d = key[6] == 'd';
    (void)snprintf(other, sizeof other, "%s%.50s", has_d ? "enable" : "enabled",
                   has_d ? key + 7 : key + 6);
    int enable = maar_enable_find(other);
    return enable < 0 ? NULL : enable_keys[enable];
}

static void warn_plugin_key(struct reading *reading, const struct maar_argument_node *node)
{
    const char *known[MAAR_N_ENABLES + 3] = {NULL};
    const char *right = other_spelling(node->key);
    if (right) {
        warn(reading, node, "%s: has no effect in this spelling; did you mean %s?", node->key,
             right);
        return;
    }
    for (int i = 0; i < MAAR_N_ENABLES; i++)
        known[i] = enable_keys[i];
    known[MAAR_N_ENABLES] = "name";
    known[MAAR_N_ENABLES + 1] = "arguments";
    warn_unknown_key(reading, node, "a plugin", known);
}

static int read_enable(struct reading *reading, const struct maar_argument_node *node,
                       enum maar_enable enable, struct maar_arguments *arguments)
{
    uint32_t bit = 1u << enable;
    if (is_null(node))
        return 0;
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR || node->scalar != MAAR_SCALAR_BOOL)
        return wrong(reading, node, node->key, "true or false", "write it without quotes");
    arguments->enable_set |= bit;
    arguments->enable = node->truth ? arguments->enable | bit : arguments->enable & ~bit;
    return 0;
}

static int read_name(struct reading *reading, const struct maar_argument_node *node, char **name)
{
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR)
        return wrong(reading, node, "name", "a string", "write name: and the name");
    free(*name);
    *name = maar_strdup(text_of(node));
    return 0;
}

static int read_plugin_key(struct reading *reading, const struct maar_argument_node *node,
                           struct maar_conf_plugin *plugin)
{
    int enable = maar_enable_find(node->key);
    if (enable >= 0)
        return read_enable(reading, node, (enum maar_enable)enable, &plugin->arguments);
    if (strcmp(node->key, "arguments") == 0)
        return read_arguments(reading, node, &plugin->arguments);
    if (strcmp(node->key, "name") == 0) {
        plugin->line = node->line;
        plugin->column = node->column;
        return read_name(reading, node, &plugin->name);
    }
    warn_plugin_key(reading, node);
    return 0;
}

static void fini_plugin(struct maar_conf_plugin *plugin)
{
    free(plugin->name);
    maar_argument_node_fini(&plugin->arguments.root);
}

/* Reads an entry into *plugin, which the caller finishes also after a failure. */
static int read_plugin(struct reading *reading, const struct maar_argument_node *node,
                       struct maar_conf_plugin *plugin)
{
    *plugin = (struct maar_conf_plugin){
        .name = maar_strdup(""), .line = node->line, .column = node->column};
    init_arguments(&plugin->arguments);
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_MAP))
        return wrong(reading, node, "plugins", "a map for each plugin", "write \"- name: gang\"");
    for (size_t i = 0; i < node->n_children; i++) {
        int rc = read_plugin_key(reading, &node->children[i], plugin);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_plugins(struct reading *reading, const struct maar_argument_node *node,
                        struct maar_conf_tier *tier)
{
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_LIST))
        return wrong(reading, node, "plugins", "a list", "write one \"- name: gang\" a line");
    if (node->n_children > 0)
        tier->plugins = maar_calloc(node->n_children, sizeof *tier->plugins);
    for (size_t i = 0; i < node->n_children; i++) {
        struct maar_conf_plugin *plugin = &tier->plugins[tier->n_plugins];
        int rc = read_plugin(reading, &node->children[i], plugin);
        if (rc < 0 || *plugin->name == '\0') {
            fini_plugin(plugin);
            *plugin = (struct maar_conf_plugin){0};
        }
        if (rc < 0)
            return rc;
        if (plugin->name)
            tier->n_plugins++;
        else
            warn(reading, &node->children[i], "plugins: an entry without a name is ignored");
    }
    return 0;
}

static int read_tier(struct reading *reading, const struct maar_argument_node *node,
                     struct maar_conf_tier *tier)
{
    static const char *const known[] = {"plugins", NULL};
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_MAP))
        return wrong(reading, node, "tiers", "a map with the key plugins for each tier",
                     "write \"- plugins:\"");
    for (size_t i = 0; i < node->n_children; i++) {
        const struct maar_argument_node *child = &node->children[i];
        if (strcmp(child->key, "plugins") != 0) {
            warn_unknown_key(reading, child, "a tier", known);
            continue;
        }
        int rc = read_plugins(reading, child, tier);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static const struct maar_conf_plugin *find_in_tier(const struct maar_conf_tier *tier,
                                                   const char *name)
{
    for (size_t i = 0; i < tier->n_plugins; i++)
        if (strcmp(tier->plugins[i].name, name) == 0)
            return &tier->plugins[i];
    return NULL;
}

static bool has_hierarchy(const struct maar_conf_plugin *plugin)
{
    return strcmp(plugin->name, "drf") == 0 &&
           (plugin->arguments.enable & (1u << MAAR_ENABLE_HIERARCHY)) != 0;
}

static const struct maar_conf_plugin *find_hierarchy(const struct maar_conf_tier *tier)
{
    for (size_t i = 0; i < tier->n_plugins; i++)
        if (has_hierarchy(&tier->plugins[i]))
            return &tier->plugins[i];
    return NULL;
}

/* Both share queues out, each in its own way. Volcano looks at one tier at a time, so over two
 * tiers it is a warning. */
static int check_hierarchy(struct reading *reading)
{
    const struct maar_conf *conf = reading->conf;
    const struct maar_conf_plugin *hierarchy = NULL;
    const struct maar_conf_plugin *proportion = NULL;
    for (size_t i = 0; i < conf->n_tiers; i++) {
        const struct maar_conf_plugin *drf = find_hierarchy(&conf->tiers[i]);
        const struct maar_conf_plugin *other = find_in_tier(&conf->tiers[i], "proportion");
        if (drf && other)
            return fail_at(reading, drf->line, drf->column,
                           "tiers: proportion and drf with hierarchy enabled conflicts; remove "
                           "proportion or enableHierarchy");
        if (!hierarchy)
            hierarchy = drf;
        if (!proportion)
            proportion = other;
    }
    if (hierarchy && proportion) {
        struct maar_argument_node at = {.line = hierarchy->line, .column = hierarchy->column};
        warn(reading, &at,
             "tiers: proportion and drf with enableHierarchy contradict each other, although they "
             "are in different tiers; remove one");
    }
    return 0;
}

static int read_tiers(struct reading *reading, const struct maar_argument_node *node)
{
    struct maar_conf *conf = reading->conf;
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_LIST))
        return wrong(reading, node, "tiers", "a list", "write \"- plugins:\" for each tier");
    if (node->n_children > 0)
        conf->tiers = maar_calloc(node->n_children, sizeof *conf->tiers);
    for (size_t i = 0; i < node->n_children; i++) {
        int rc = read_tier(reading, &node->children[i], &conf->tiers[conf->n_tiers++]);
        if (rc < 0)
            return rc;
    }
    return check_hierarchy(reading);
}

/* ---- configurations, metrics, compatibility -------------------------------------------------- */

static int read_configuration(struct reading *reading, const struct maar_argument_node *node,
                              struct maar_conf_action *action)
{
    static const char *const known[] = {"name", "arguments", NULL};
    action->name = maar_strdup("");
    action->line = node->line;
    action->column = node->column;
    init_arguments(&action->arguments);
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_MAP))
        return wrong(reading, node, "configurations", "a map for each action",
                     "write \"- name: allocate\"");
    for (size_t i = 0; i < node->n_children; i++) {
        const struct maar_argument_node *child = &node->children[i];
        int rc = 0;
        if (strcmp(child->key, "name") == 0)
            rc = read_name(reading, child, &action->name);
        else if (strcmp(child->key, "arguments") == 0)
            rc = read_arguments(reading, child, &action->arguments);
        else
            warn_unknown_key(reading, child, "a configuration", known);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void warn_useless_configuration(struct reading *reading,
                                       const struct maar_argument_node *node)
{
    const struct maar_conf *conf = reading->conf;
    const char *name = conf->configurations[conf->n_configurations - 1].name;
    if (*name == '\0')
        warn(reading, node, "configurations: an entry without a name has no effect");
    for (size_t i = 0; *name && i + 1 < conf->n_configurations; i++) {
        if (strcmp(conf->configurations[i].name, name) != 0)
            continue;
        warn(reading, node, "configurations: %.64s is there already; only its first entry counts",
             name);
        return;
    }
}

static int read_configurations(struct reading *reading, const struct maar_argument_node *node)
{
    struct maar_conf *conf = reading->conf;
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_LIST))
        return wrong(reading, node, "configurations", "a list",
                     "write \"- name: allocate\" for each action");
    if (node->n_children > 0)
        conf->configurations = maar_calloc(node->n_children, sizeof *conf->configurations);
    for (size_t i = 0; i < node->n_children; i++) {
        int rc = read_configuration(reading, &node->children[i],
                                    &conf->configurations[conf->n_configurations++]);
        if (rc < 0)
            return rc;
        warn_useless_configuration(reading, &node->children[i]);
    }
    return 0;
}

static int read_metrics(struct reading *reading, const struct maar_argument_node *node)
{
    static const char *const known[] = {"type",
                                        "interval",
                                        "address",
                                        "tls.insecureSkipVerify",
                                        "elasticsearch.index",
                                        "elasticsearch.username",
                                        "elasticsearch.password",
                                        "elasticsearch.hostnameFieldName",
                                        NULL};
    struct maar_conf *conf = reading->conf;
    if (!is_kind_or_null(node, MAAR_ARGUMENT_NODE_MAP))
        return wrong(reading, node, "metrics", "a map", "write one \"key: value\" a line");
    if (node->n_children > 0)
        conf->metrics = maar_calloc(node->n_children, sizeof *conf->metrics);
    for (size_t i = 0; i < node->n_children; i++) {
        const struct maar_argument_node *child = &node->children[i];
        if (child->kind != MAAR_ARGUMENT_NODE_SCALAR) {
            int rc =
                wrong(reading, child, child->key, "a string",
                      "write the whole key in one line, such as tls.insecureSkipVerify: \"true\"");
            if (rc < 0)
                return rc;
            continue;
        }
        if (!is_named(child->key, known))
            warn_unknown_key(reading, child, "metrics", known);
        conf->metrics[conf->n_metrics++] = (struct maar_conf_pair){
            .key = maar_strdup(child->key), .value = maar_strdup(text_of(child))};
    }
    return 0;
}

static int read_compatibility(struct reading *reading, const struct maar_argument_node *node)
{
    if (node->kind != MAAR_ARGUMENT_NODE_SCALAR || strcmp(node->text, "volcano") != 0)
        return wrong(reading, node, "compatibility", "volcano",
                     "it is the only value; remove the key for the default behaviour");
    reading->conf->compatibility_volcano = true;
    return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *const top_keys[] = {"actions", "tiers",         "configurations",
                                       "metrics", "compatibility", NULL};
static const key_fn top_readers[] = {read_actions, read_tiers, read_configurations, read_metrics,
                                     read_compatibility};

const char *const *maar_conf_keys(void)
{
    return top_keys;
}

static int read_top_key(struct reading *reading, const struct maar_argument_node *node)
{
    for (size_t i = 0; top_keys[i]; i++)
        if (strcmp(node->key, top_keys[i]) == 0)
            return top_readers[i](reading, node);
    warn_unknown_key(reading, node, "scheduler.conf", top_keys);
    return 0;
}

static int read_root(struct reading *reading, const struct maar_argument_node *root)
{
    int rc = 0;
    if (is_null(root))
        return fail_at(reading, 1, 1,
                       "the file is empty; it needs at least actions: \"enqueue, allocate, "
                       "backfill\"");
    if (root->kind != MAAR_ARGUMENT_NODE_MAP)
        return wrong(reading, root, "scheduler.conf", "a map",
                     "write actions: and tiers: at the top");
    if (!maar_argument_node_find(root, "actions"))
        rc = fail_at(reading, 1, 1,
                     "actions: expected names separated by commas, found no such key; write "
                     "actions: \"enqueue, allocate, backfill\"");
    for (size_t i = 0; rc == 0 && i < root->n_children; i++)
        rc = read_top_key(reading, &root->children[i]);
    return rc;
}

static int read_text(const char *text, size_t n, const char *source, struct reading *reading,
                     struct maar_conf **ret_conf)
{
    struct maar_conf *conf = maar_calloc(1, sizeof *conf);
    conf->source = maar_strdup(source ? source : "scheduler.conf");
    reading->conf = conf;
    struct maar_argument_node root = {0};
    int rc = maar_yaml_read(text, n, conf->source, warn_yaml, reading, &root, reading->err);
    if (rc == 0)
        rc = read_root(reading, &root);
    maar_argument_node_fini(&root);
    if (rc < 0) {
        maar_conf_destroy(conf);
        return rc;
    }
    finish_warnings(reading);
    *ret_conf = conf;
    return 0;
}

int maar_conf_parse(const char *text, size_t n, const char *source,
                    const char *const *known_actions, struct maar_conf **ret_conf,
                    struct maar_error *err)
{
    struct reading reading = {.known_actions = known_actions, .err = err};
    return read_text(text, n, source, &reading, ret_conf);
}

int maar_conf_examine(const char *text, size_t n, const char *source,
                      const char *const *known_actions, struct maar_conf **ret_conf,
                      struct maar_error *err)
{
    struct reading reading = {.known_actions = known_actions, .err = err, .goes_on = true};
    return read_text(text, n, source, &reading, ret_conf);
}

int maar_conf_read(const char *path, const char *const *known_actions, struct maar_conf **ret_conf,
                   struct maar_error *err)
{
    maar_autofree char *text = NULL;
    size_t n = 0;
    int rc = maar_file_read(path, MAX_FILE_BYTES, &text, &n, err);
    if (rc < 0)
        return rc;
    return maar_conf_parse(text, n, path, known_actions, ret_conf, err);
}

void maar_conf_destroy(struct maar_conf *conf)
{
    if (!conf)
        return;
    for (size_t i = 0; i < conf->n_actions; i++)
        free(conf->actions[i]);
    free(conf->actions);
    for (size_t i = 0; i < conf->n_tiers; i++) {
        for (size_t j = 0; j < conf->tiers[i].n_plugins; j++)
            fini_plugin(&conf->tiers[i].plugins[j]);
        free(conf->tiers[i].plugins);
    }
    free(conf->tiers);
    for (size_t i = 0; i < conf->n_configurations; i++) {
        free(conf->configurations[i].name);
        maar_argument_node_fini(&conf->configurations[i].arguments.root);
    }
    free(conf->configurations);
    for (size_t i = 0; i < conf->n_metrics; i++) {
        free(conf->metrics[i].key);
        free(conf->metrics[i].value);
    }
    free(conf->metrics);
    for (size_t i = 0; i < conf->n_warnings; i++)
        free(conf->warnings[i].text);
    free(conf->warnings);
    free(conf->source);
    free(conf);
}

/* ---- questions ------------------------------------------------------------------------------- */

const struct maar_arguments *maar_conf_action_arguments(const struct maar_conf *conf,
                                                        const char *action)
{
    for (size_t i = 0; i < conf->n_configurations; i++)
        if (strcmp(conf->configurations[i].name, action) == 0)
            return &conf->configurations[i].arguments;
    return NULL;
}

bool maar_conf_plugin_enabled(const struct maar_conf *conf, const char *plugin,
                              enum maar_enable enable)
{
    for (size_t i = 0; i < conf->n_tiers; i++) {
        const struct maar_conf_plugin *entry = find_in_tier(&conf->tiers[i], plugin);
        if (entry)
            return ((entry->arguments.enable >> enable) & 1) != 0;
    }
    return false;
}
