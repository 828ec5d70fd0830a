/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Lists the modules as their descriptors tell: a line for each, or everything about one. Hooks go
 * by Volcano's names, as in the keys of scheduler.conf: enableJobOrder gates jobOrder. */

#include "cli/plugins_command.h"

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "host/registry.h"

static const char usage[] =
    "Usage: maarctl plugins [NAME] [--plugins-dir DIR] [-o table|json|markdown]\n"
    "\n"
    "Lists the plugins and actions that scheduler.conf can name: which hooks a plugin fills in,\n"
    "which arguments it takes. With NAME, everything about that one.\n"
    "\n"
    "      --plugins-dir DIR   load the plugins of this folder as well\n"
    "  -o, --output FORMAT     table (default), json, or markdown: a page about all of them\n"
    "  -h, --help              this text\n";

enum output {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_MARKDOWN,
};

struct options {
    const char *name; /* NULL: all */
    const char *plugins_dir;
    enum output output;
    bool help;
};

/* ---- hooks ----------------------------------------------------------------------------------- */

#define NO_KEY MAAR_N_ENABLES

/* A hook, its name in Volcano and the key that switches it; several fields may stand for one name.
 */
struct hook {
    size_t offset;
    const char *name;
    enum maar_enable enable; /* NO_KEY: always on */
};

#define HOOK(field, name, enable)                                                                  \
    {                                                                                              \
        offsetof(struct maar_hooks, field), name, enable                                           \
    }

static const struct hook hooks[] = {
    HOOK(job_order, "jobOrder", MAAR_ENABLE_JOB_ORDER),
    HOOK(queue_order, "queueOrder", MAAR_ENABLE_QUEUE_ORDER),
    HOOK(task_order, "taskOrder", MAAR_ENABLE_TASK_ORDER),
    HOOK(victim_queue_order, "victimQueueOrder", NO_KEY),
    HOOK(sub_job_order, "subJobOrder", MAAR_ENABLE_SUB_JOB_ORDER),
    HOOK(cluster_order, "clusterOrder", MAAR_ENABLE_CLUSTER_ORDER),
    HOOK(job_valid, "jobValid", NO_KEY),
    HOOK(job_ready, "jobReady", MAAR_ENABLE_JOB_READY),
    HOOK(job_pipelined, "jobPipelined", MAAR_ENABLE_JOB_PIPELINED),
    HOOK(job_starving, "jobStarving", MAAR_ENABLE_JOB_STARVING),
    HOOK(job_enqueueable, "jobEnqueueable", MAAR_ENABLE_JOB_ENQUEUED),
    HOOK(sub_job_ready, "subJobReady", MAAR_ENABLE_SUB_JOB_READY),
    HOOK(sub_job_pipelined, "subJobPipelined", MAAR_ENABLE_SUB_JOB_PIPELINED),
    HOOK(queue_overused, "overused", MAAR_ENABLE_OVERUSED),
    HOOK(queue_preemptive, "preemptive", MAAR_ENABLE_PREEMPTIVE),
    HOOK(queue_state, "queueState", NO_KEY),
    HOOK(queue_room, "allocatable", MAAR_ENABLE_ALLOCATABLE),
    HOOK(pre_filter, "prePredicate", MAAR_ENABLE_PREDICATE),
    HOOK(filters, "predicate", MAAR_ENABLE_PREDICATE),
    HOOK(scores, "nodeOrder", MAAR_ENABLE_NODE_ORDER),
    HOOK(best_node, "bestNode", MAAR_ENABLE_BEST_NODE),
    HOOK(bound, "bound", NO_KEY),
    HOOK(reserve, "reserve", NO_KEY),
    HOOK(prebind, "preBind", NO_KEY),
    HOOK(hyper_node_order, "hyperNodeOrder", MAAR_ENABLE_HYPER_NODE_ORDER),
    HOOK(hyper_node_gradient_for_job, "hyperNodeGradientForJob", MAAR_ENABLE_HYPER_NODE_GRADIENT),
    HOOK(hyper_node_gradient_for_sub_job, "hyperNodeGradientForSubJob",
         MAAR_ENABLE_HYPER_NODE_GRADIENT),
    HOOK(preemptable, "preemptable", MAAR_ENABLE_PREEMPTABLE),
    HOOK(reclaimable, "reclaimable", MAAR_ENABLE_RECLAIMABLE),
    HOOK(unified_evictable, "unifiedEvictable", NO_KEY),
    HOOK(victim_tasks, "victimTasks", MAAR_ENABLE_VICTIM),
    HOOK(on_allocate, "onAllocate", NO_KEY),
    HOOK(on_deallocate, "onDeallocate", NO_KEY),
    HOOK(on_enqueued, "jobEnqueued", MAAR_ENABLE_JOB_ENQUEUED),
    HOOK(on_room_kept, "onRoomKept", NO_KEY),
    HOOK(on_change, "onChange", NO_KEY),
};

#define N_HOOKS (sizeof hooks / sizeof *hooks)

/* Every hook is a pointer, to a function or to a table. */
static bool is_set(const struct maar_plugin *plugin, const struct hook *hook)
{
    void *pointer;
    memcpy(&pointer, (const char *)&plugin->hooks + hook->offset, sizeof pointer);
    return pointer != NULL;
}

/* "" when no key switches the hook. */
static const char *key_of(const struct hook *hook)
{
    return hook->enable == NO_KEY ? "" : maar_enable_key(hook->enable);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

static const char *type_name(enum maar_argument_type type)
{
    static const char *const names[] = {"int", "float", "bool", "string", "tree"};
    return names[type];
}

struct bit_name {
    uint32_t bit;
    const char *name;
};

static const struct bit_name subjects[] = {{MAAR_SUBJECT_CLASS, "class"},
                                           {MAAR_SUBJECT_QUEUE, "queue"},
                                           {MAAR_SUBJECT_JOB, "job"},
                                           {MAAR_SUBJECT_TASK, "task"},
                                           {0, NULL}};
static const struct bit_name axes[] = {{MAAR_NODE_STATIC, "static"},
                                       {MAAR_NODE_LOAD, "load"},
                                       {MAAR_NODE_OTHERS, "others"},
                                       {MAAR_NODE_TIME, "time"},
                                       {0, NULL}};

static void add_bits(struct maar_text *out, uint32_t bits, const struct bit_name *names)
{
    const char *separator = "";
    if (bits == MAAR_DEPENDS_ALL)
        maar_text_add(out, "everything");
    for (; names->name; names++) {
        if (!(bits & names->bit))
            continue;
        maar_text_addf(out, "%s%s", separator, names->name);
        separator = ", ";
    }
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_hook_names(struct maar_text *out, const struct maar_plugin *plugin)
{
    const char *separator = "";
    for (size_t i = 0; i < N_HOOKS; i++) {
        if (!is_set(plugin, &hooks[i]))
            continue;
        maar_text_addf(out, "%s%s", separator, hooks[i].name);
        separator = ",";
    }
    if (*separator == '\0')
        maar_text_add(out, "-");
}

static int wider(int width, const char *text)
{
    int n = (int)strnlen(text, 63);
    return n > width ? n : width;
}

static void add_plugin_lines(struct maar_text *out, const struct maar_registry *registry, int width)
{
    maar_text_addf(out, "%-*s  HOOKS\n", width, "PLUGIN");
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++) {
        const struct maar_plugin *plugin = maar_registry_plugin(registry, i);
        maar_text_addf(out, "%-*s  ", width, plugin->name);
        add_hook_names(out, plugin);
        maar_text_add(out, "\n");
    }
}

static void add_action_lines(struct maar_text *out, const struct maar_registry *registry, int width)
{
    maar_text_addf(out, "\n%-*s  SUMMARY\n", width, "ACTION");
    for (size_t i = 0; i < maar_registry_n_actions(registry); i++) {
        const struct maar_action *action = maar_registry_action(registry, i);
        maar_text_addf(out, "%-*s  %s\n", width, action->name, or_dash(action->summary));
    }
}

static void add_table(struct maar_text *out, const struct maar_registry *registry)
{
    int width = wider(0, "PLUGIN");
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++)
        width = wider(width, maar_registry_plugin(registry, i)->name);
    for (size_t i = 0; i < maar_registry_n_actions(registry); i++)
        width = wider(width, maar_registry_action(registry, i)->name);
    add_plugin_lines(out, registry, width);
    add_action_lines(out, registry, width);
}

static void add_argument_table(struct maar_text *out, const struct maar_argument *table)
{
    if (!table || !table->key) {
        maar_text_add(out, "arguments: none\n");
        return;
    }
    maar_text_add(out, "arguments:\n");
    for (; table->key; table++) {
        maar_text_addf(out, "  %s  %s", table->key, type_name(table->type));
        if (table->default_text)
            maar_text_addf(out, ", default %s",
                           *table->default_text ? table->default_text : "\"\"");
        if (table->range)
            maar_text_addf(out, ", %s", table->range);
        maar_text_addf(out, "\n      %s\n", table->help);
    }
}

static void add_list(struct maar_text *out, const char *head, const char *const *names)
{
    if (!names || !*names)
        return;
    maar_text_addf(out, "%s:", head);
    for (const char *const *name = names; *name; name++)
        maar_text_addf(out, "%s%s", name == names ? " " : ", ", *name);
    maar_text_add(out, "\n");
}

static void add_hook_lines(struct maar_text *out, const struct maar_plugin *plugin)
{
    maar_text_add(out, "hooks:\n");
    for (size_t i = 0; i < N_HOOKS; i++) {
        if (!is_set(plugin, &hooks[i]))
            continue;
        maar_text_addf(out, "  %s", hooks[i].name);
        if (hooks[i].enable != NO_KEY)
            maar_text_addf(out, "  (%s)", key_of(&hooks[i]));
        maar_text_add(out, "\n");
    }
}

/* What an answer depends on, of the pod's side and of the node's. */
static void add_dependencies(struct maar_text *out, uint32_t subject, uint32_t node)
{
    maar_text_add(out, "  (pod: ");
    add_bits(out, subject, subjects);
    maar_text_add(out, "; node: ");
    add_bits(out, node, axes);
    maar_text_add(out, ")\n");
}

static void add_plugin_details(struct maar_text *out, const struct maar_plugin *plugin,
                               const char *path)
{
    maar_text_addf(out, "plugin %s\n%s\nfile: %s\n", plugin->name, or_dash(plugin->summary), path);
    add_list(out, "aliases", plugin->aliases);
    add_list(out, "reads pod labels", plugin->reads_pod_labels);
    add_list(out, "reads pod annotations", plugin->reads_pod_annotations);
    add_list(out, "reads PodGroup annotations", plugin->reads_pod_group_annotations);
    add_list(out, "reads Queue annotations", plugin->reads_queue_annotations);
    add_hook_lines(out, plugin);
    for (size_t i = 0; i < plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &plugin->hooks.filters[i];
        maar_text_addf(out, "filter %s", filter->name);
        add_dependencies(out, filter->subject, filter->node);
    }
    for (size_t i = 0; i < plugin->hooks.n_scores; i++) {
        const struct maar_score *score = &plugin->hooks.scores[i];
        maar_text_addf(out, "score %s", score->name);
        add_dependencies(out, score->subject, score->node);
    }
    add_argument_table(out, plugin->arguments);
}

static void add_action_details(struct maar_text *out, const struct maar_action *action)
{
    maar_text_addf(out, "action %s\n%s\n", action->name, or_dash(action->summary));
    add_argument_table(out, action->arguments);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* Text of an author in a cell of a table. */
static void add_cell(struct maar_text *out, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '|' || *text == '<' || *text == '*')
            maar_text_add_char(out, '\\');
        if (*text == '\n')
            maar_text_add_char(out, ' ');
        else
            maar_text_add_char(out, *text);
    }
}

static void add_code_list(struct maar_text *out, const char *head, const char *const *names)
{
    if (!names || !*names)
        return;
    maar_text_addf(out, "\n%s: ", head);
    for (const char *const *name = names; *name; name++)
        maar_text_addf(out, "%s`%s`", name == names ? "" : ", ", *name);
    maar_text_add(out, "\n");
}

static void add_argument_page(struct maar_text *out, const struct maar_argument *table)
{
    if (!table || !table->key) {
        maar_text_add(out, "\nNo arguments.\n");
        return;
    }
    maar_text_add(out, "\n| argument | type | default | range | |\n|---|---|---|---|---|\n");
    for (; table->key; table++) {
        maar_text_addf(out, "| `%s` | %s | ", table->key, type_name(table->type));
        if (table->default_text)
            maar_text_addf(out, "`%s`", *table->default_text ? table->default_text : "\"\"");
        maar_text_add(out, " | ");
        add_cell(out, table->range);
        maar_text_add(out, " | ");
        add_cell(out, table->help);
        maar_text_add(out, " |\n");
    }
}

static void add_hook_page(struct maar_text *out, const struct maar_plugin *plugin)
{
    maar_text_add(out, "\n| hook | switch | default |\n|---|---|---|\n");
    for (size_t i = 0; i < N_HOOKS; i++) {
        if (!is_set(plugin, &hooks[i]))
            continue;
        if (hooks[i].enable == NO_KEY)
            maar_text_addf(out, "| %s | | always on |\n", hooks[i].name);
        else
            maar_text_addf(out, "| %s | `%s` | %s |\n", hooks[i].name, key_of(&hooks[i]),
                           maar_enable_default(hooks[i].enable) ? "true" : "false");
    }
}

static void add_plugin_page(struct maar_text *out, const struct maar_plugin *plugin)
{
    maar_text_addf(out, "\n### %s\n\n%s\n", plugin->name, or_dash(plugin->summary));
    add_code_list(out, "Also spelled", plugin->aliases);
    add_argument_page(out, plugin->arguments);
    add_hook_page(out, plugin);
    add_code_list(out, "Reads labels of pods", plugin->reads_pod_labels);
    add_code_list(out, "Reads annotations of pods", plugin->reads_pod_annotations);
    add_code_list(out, "Reads annotations of PodGroups", plugin->reads_pod_group_annotations);
    add_code_list(out, "Reads annotations of queues", plugin->reads_queue_annotations);
}

static void add_page(struct maar_text *out, const struct maar_registry *registry)
{
    maar_text_add(out, "# Plugins and actions\n\n"
                       "What [scheduler.conf](configuration.md) can name, from the tables that the "
                       "plugins and actions bring along.\n"
                       "`maarctl plugins -o markdown` writes this page, `make docs` renews it.\n"
                       "\n## Plugins\n");
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++)
        add_plugin_page(out, maar_registry_plugin(registry, i));
    maar_text_add(out, "\n## Actions\n");
    for (size_t i = 0; i < maar_registry_n_actions(registry); i++) {
        const struct maar_action *action = maar_registry_action(registry, i);
        maar_text_addf(out, "\n### %s\n\n%s\n", action->name, or_dash(action->summary));
        add_argument_page(out, action->arguments);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Descriptors hold whatever text their author wrote; one that is not UTF-8 becomes null. */
static json_t *json_text(const char *text)
{
    json_t *string = text ? json_string(text) : NULL;
    return string ? string : json_null();
}

static json_t *json_arguments(const struct maar_argument *table)
{
    json_t *list = json_array();
    for (; table && table->key; table++) {
        json_t *row = json_object();
        json_object_set_new(row, "key", json_text(table->key));
        json_object_set_new(row, "type", json_text(type_name(table->type)));
        json_object_set_new(row, "default", json_text(table->default_text));
        json_object_set_new(row, "range", json_text(table->range));
        json_object_set_new(row, "help", json_text(table->help));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *json_names(const char *const *names)
{
    json_t *list = json_array();
    for (; names && *names; names++)
        json_array_append_new(list, json_text(*names));
    return list;
}

static json_t *json_bits(uint32_t bits, const struct bit_name *names)
{
    json_t *list = json_array();
    for (; names->name; names++)
        if (bits == MAAR_DEPENDS_ALL || (bits & names->bit))
            json_array_append_new(list, json_text(names->name));
    return list;
}

static json_t *json_hooks(const struct maar_plugin *plugin)
{
    json_t *list = json_array();
    for (size_t i = 0; i < N_HOOKS; i++) {
        if (!is_set(plugin, &hooks[i]))
            continue;
        json_t *hook = json_object();
        const char *key = key_of(&hooks[i]);
        json_object_set_new(hook, "name", json_text(hooks[i].name));
        json_object_set_new(hook, "key", *key ? json_text(key) : json_null());
        json_array_append_new(list, hook);
    }
    return list;
}

static json_t *json_function(const char *name, uint32_t subject, uint32_t node, bool thread_safe)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(name));
    json_object_set_new(object, "subject", json_bits(subject, subjects));
    json_object_set_new(object, "node", json_bits(node, axes));
    json_object_set_new(object, "threadSafe", json_boolean(thread_safe));
    return object;
}

static json_t *json_filters(const struct maar_plugin *plugin)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plugin->hooks.n_filters; i++) {
        const struct maar_filter *filter = &plugin->hooks.filters[i];
        json_array_append_new(
            list, json_function(filter->name, filter->subject, filter->node, filter->thread_safe));
    }
    return list;
}

static json_t *json_scores(const struct maar_plugin *plugin)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plugin->hooks.n_scores; i++) {
        const struct maar_score *score = &plugin->hooks.scores[i];
        json_array_append_new(
            list, json_function(score->name, score->subject, score->node, score->thread_safe));
    }
    return list;
}

static json_t *json_plugin(const struct maar_plugin *plugin, const char *path)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(plugin->name));
    json_object_set_new(object, "summary", json_text(plugin->summary));
    json_object_set_new(object, "file", json_text(path));
    json_object_set_new(object, "aliases", json_names(plugin->aliases));
    json_object_set_new(object, "hooks", json_hooks(plugin));
    json_object_set_new(object, "filters", json_filters(plugin));
    json_object_set_new(object, "scores", json_scores(plugin));
    json_object_set_new(object, "arguments", json_arguments(plugin->arguments));
    return object;
}

static json_t *json_action(const struct maar_action *action)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(action->name));
    json_object_set_new(object, "summary", json_text(action->summary));
    json_object_set_new(object, "arguments", json_arguments(action->arguments));
    return object;
}

static void print_json(const struct maar_registry *registry, const struct maar_plugin *one_plugin,
                       const struct maar_action *one_action)
{
    bool all = !one_plugin && !one_action;
    json_auto_t *root = json_object();
    json_t *plugins = json_array();
    json_t *actions = json_array();
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++) {
        const struct maar_plugin *plugin = maar_registry_plugin(registry, i);
        if (all || plugin == one_plugin)
            json_array_append_new(plugins,
                                  json_plugin(plugin, maar_registry_plugin_path(registry, i)));
    }
    for (size_t i = 0; i < maar_registry_n_actions(registry); i++) {
        const struct maar_action *action = maar_registry_action(registry, i);
        if (all || action == one_action)
            json_array_append_new(actions, json_action(action));
    }
    json_object_set_new(root, "plugins", plugins);
    json_object_set_new(root, "actions", actions);
    (void)json_dumpf(root, stdout, JSON_INDENT(2));
    (void)fputc('\n', stdout);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int unknown_name(const struct maar_registry *registry, const char *name)
{
    MAAR_VEC(const char *) names = {0};
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++)
        maar_vec_push(&names, maar_registry_plugin(registry, i)->name);
    for (size_t i = 0; i < maar_registry_n_actions(registry); i++)
        maar_vec_push(&names, maar_registry_action(registry, i)->name);
    maar_vec_push(&names, NULL);
    const char *nearest = maar_text_nearest(name, names.data);
    (void)fprintf(stderr, "maarctl plugins: no plugin or action is named %s; ", name);
    if (nearest)
        (void)fprintf(stderr, "did you mean %s?\n", nearest);
    else
        (void)fprintf(stderr, "maarctl plugins lists them\n");
    maar_vec_fini(&names);
    return 2;
}

static const char *path_of(const struct maar_registry *registry, const struct maar_plugin *plugin)
{
    for (size_t i = 0; i < maar_registry_n_plugins(registry); i++)
        if (maar_registry_plugin(registry, i) == plugin)
            return maar_registry_plugin_path(registry, i);
    return "-";
}

static int print(const struct maar_registry *registry, const struct options *options)
{
    const struct maar_plugin *plugin = NULL;
    const struct maar_action *action = NULL;
    if (options->name) {
        plugin = maar_registry_find_plugin(registry, options->name);
        action = maar_registry_find_action(registry, options->name);
        if (!plugin && !action)
            return unknown_name(registry, options->name);
    }
    if (options->output == OUTPUT_JSON) {
        print_json(registry, plugin, action);
        return 0;
    }
    struct maar_text out = MAAR_TEXT_INIT;
    if (options->output == OUTPUT_MARKDOWN)
        add_page(&out, registry);
    else if (!options->name)
        add_table(&out, registry);
    if (plugin)
        add_plugin_details(&out, plugin, path_of(registry, plugin));
    if (action)
        add_action_details(&out, action);
    (void)fputs(maar_text_get(&out), stdout);
    maar_text_fini(&out);
    return 0;
}

static int read_output(const char *name, struct options *options)
{
    static const char *const names[] = {"table", "json", "markdown", NULL};
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0) {
            options->output = (enum output)i;
            return 0;
        }
    }
    (void)fprintf(stderr, "maarctl plugins: -o: expected table, json or markdown, found %s\n",
                  name);
    return 2;
}

/* 0, or 2 after a message. */
static int read_option(int option, struct options *options)
{
    switch (option) {
    case 'd':
        options->plugins_dir = optarg;
        return 0;
    case 'o':
        return read_output(optarg, options);
    case 'h':
        options->help = true;
        return 0;
    default: /* getopt has said what is wrong */
        (void)fprintf(stderr, "maarctl plugins --help shows the options\n");
        return 2;
    }
}

static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {{"plugins-dir", required_argument, NULL, 'd'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    optind = 0; /* starts over; the program may have read its own options before */
    while ((option = getopt_long(argc, argv, "o:h", longs, NULL)) != -1) {
        int rc = read_option(option, options);
        if (rc != 0)
            return rc;
    }
    if (argc - optind > 1) {
        (void)fprintf(stderr, "maarctl plugins: expected one name, found %d\n", argc - optind);
        return 2;
    }
    options->name = argv[optind];
    if (options->name && options->output == OUTPUT_MARKDOWN) {
        (void)fprintf(stderr, "maarctl plugins: -o markdown is a page about all; leave out %s\n",
                      options->name);
        return 2;
    }
    return 0;
}

static int load(struct maar_registry *registry, const char *plugins_dir)
{
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_registry_load_builtin(registry, &err) < 0) {
        (void)fprintf(stderr, "maarctl plugins: %s\n", err.text);
        return 1;
    }
    if (plugins_dir && maar_registry_load_plugins(registry, plugins_dir, &err) < 0) {
        (void)fprintf(stderr, "maarctl plugins: %s\n", err.text);
        return 2;
    }
    return 0;
}

int maar_cli_plugins(int argc, char **argv)
{
    struct options options = {0};
    int rc = read_options(argc, argv, &options);
    if (rc != 0)
        return rc;
    if (options.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    struct maar_registry *registry = maar_registry_create();
    rc = load(registry, options.plugins_dir);
    if (rc == 0)
        rc = print(registry, &options);
    maar_registry_destroy(registry);
    return rc;
}
