/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Enable keys stand with their value, written or not: what is in force is what people ask for. */

#include "serve/conf_json.h"

#include <stdbool.h>
#include <string.h>

static const char hidden[] = "…";

static bool is_secret(const char *key)
{
    static const char *const words[] = {"password", "token", "secret", "credential"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(key, words[i]))
            return true;
    return false;
}

/* Texts of a file are UTF-8, or they would not have been parsed. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);

    return value ? value : json_string("");
}

static json_t *node_json(const struct maar_argument_node *node)
{
    json_t *value;

    if (is_secret(node->key))
        return json_string(hidden);
    switch (node->kind) {
    case MAAR_ARGUMENT_NODE_MAP:
        value = json_object();
        for (size_t i = 0; i < node->n_children; i++)
            json_object_set_new(value, node->children[i].key, node_json(&node->children[i]));
        return value;
    case MAAR_ARGUMENT_NODE_LIST:
        value = json_array();
        for (size_t i = 0; i < node->n_children; i++)
            json_array_append_new(value, node_json(&node->children[i]));
        return value;
    case MAAR_ARGUMENT_NODE_SCALAR:
        break;
    }
    switch (node->scalar) {
    case MAAR_SCALAR_INT:
        return json_integer(node->number);
    case MAAR_SCALAR_FLOAT:
        value = json_real(node->real); /* NULL when it is not finite */
        return value ? value : text_json(node->text);
    case MAAR_SCALAR_BOOL:
        return json_boolean(node->truth);
    case MAAR_SCALAR_NULL:
        return json_null();
    case MAAR_SCALAR_STRING:
        break;
    }
    return text_json(node->text);
}

static void add_arguments(json_t *object, const struct maar_arguments *arguments)
{
    if (arguments->root.n_children > 0)
        json_object_set_new(object, "arguments", node_json(&arguments->root));
}

static json_t *plugin_json(const struct maar_conf_plugin *plugin)
{
    json_t *object = json_pack("{s:o}", "name", text_json(plugin->name));

    for (int e = 0; e < MAAR_N_ENABLES; e++)
        json_object_set_new(object, maar_enable_key((enum maar_enable)e),
                            json_boolean((plugin->arguments.enable >> e) & 1));
    add_arguments(object, &plugin->arguments);
    return object;
}

static json_t *tier_json(const struct maar_conf_tier *tier)
{
    json_t *plugins = json_array();

    for (size_t i = 0; i < tier->n_plugins; i++)
        json_array_append_new(plugins, plugin_json(&tier->plugins[i]));
    return json_pack("{s:o}", "plugins", plugins);
}

json_t *maar_conf_json(const struct maar_conf *conf)
{
    json_t *actions = json_array(), *tiers = json_array(), *configurations = json_array();
    json_t *metrics = json_object();

    for (size_t i = 0; i < conf->n_actions; i++)
        json_array_append_new(actions, text_json(conf->actions[i]));
    for (size_t i = 0; i < conf->n_tiers; i++)
        json_array_append_new(tiers, tier_json(&conf->tiers[i]));
    for (size_t i = 0; i < conf->n_configurations; i++) {
        json_t *entry = json_pack("{s:o}", "name", text_json(conf->configurations[i].name));

        add_arguments(entry, &conf->configurations[i].arguments);
        json_array_append_new(configurations, entry);
    }
    for (size_t i = 0; i < conf->n_metrics; i++) {
        const struct maar_conf_pair *pair = &conf->metrics[i];

        json_object_set_new(metrics, pair->key,
                            is_secret(pair->key) ? json_string(hidden) : text_json(pair->value));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "source", text_json(conf->source), "actions",
                     actions, "tiers", tiers, "configurations", configurations, "metrics", metrics,
                     "compatibility", conf->compatibility_volcano ? "volcano" : "");
}
