/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The grammar of scheduler.conf: what is read, what is refused, what is warned of, and where. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "conf/conf.h"
#include "conf/yaml.h"

static const char *const known_actions[] = {"allocate", "backfill", "enqueue",
                                            "preempt",  "reclaim",  NULL};

static struct maar_conf *parse(const char *name, const char *text)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_conf_parse(text, strlen(text), "f", known_actions, &conf, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    return conf;
}

static void add_arguments(struct maar_text *out, const struct maar_argument_node *node)
{
    if (node->kind == MAAR_ARGUMENT_NODE_SCALAR) {
        maar_text_add(out, node->text);
        return;
    }
    maar_text_add(out, node->kind == MAAR_ARGUMENT_NODE_MAP ? "{" : "[");
    for (size_t i = 0; i < node->n_children; i++) {
        const struct maar_argument_node *child = &node->children[i];
        maar_text_addf(out, "%s%s%s", i ? "," : "", child->key, *child->key ? ":" : "");
        add_arguments(out, child);
    }
    maar_text_add(out, node->kind == MAAR_ARGUMENT_NODE_MAP ? "}" : "]");
}

static void add_plugin(struct maar_text *out, const struct maar_conf_plugin *plugin)
{
    maar_text_add(out, plugin->name);
    for (int i = 0; i < MAAR_N_ENABLES; i++)
        if ((plugin->arguments.enable_set >> i) & 1)
            maar_text_addf(out, " %s=%d", maar_enable_key((enum maar_enable)i),
                           (int)((plugin->arguments.enable >> i) & 1));
    if (plugin->arguments.root.n_children > 0)
        add_arguments(out, &plugin->arguments.root);
}

/* The whole configuration in one line, without positions and warnings. */
static char *show(const struct maar_conf *conf)
{
    struct maar_text out = MAAR_TEXT_INIT;
    for (size_t i = 0; i < conf->n_actions; i++)
        maar_text_addf(&out, "%s%s", i ? "," : "", conf->actions[i]);
    for (size_t i = 0; i < conf->n_tiers; i++) {
        maar_text_add(&out, " |");
        for (size_t j = 0; j < conf->tiers[i].n_plugins; j++) {
            maar_text_add(&out, j ? "; " : " ");
            add_plugin(&out, &conf->tiers[i].plugins[j]);
        }
    }
    for (size_t i = 0; i < conf->n_configurations; i++) {
        maar_text_addf(&out, " @%s", conf->configurations[i].name);
        add_arguments(&out, &conf->configurations[i].arguments.root);
    }
    for (size_t i = 0; i < conf->n_metrics; i++)
        maar_text_addf(&out, " #%s=%s", conf->metrics[i].key, conf->metrics[i].value);
    if (conf->compatibility_volcano)
        maar_text_add(&out, " volcano");
    return maar_text_steal(&out);
}

#define A "actions: enqueue\n"
#define T A "tiers:\n- plugins:\n"

static void each_part_of_the_grammar_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want;
    } rows[] = {
        {"actions only", "actions: enqueue", "enqueue"},
        {"actions are trimmed", "actions: \" enqueue ,\\tallocate,backfill \"",
         "enqueue,allocate,backfill"},
        {"actions may repeat", "actions: allocate, allocate", "allocate,allocate"},
        {"actions over lines", "actions: >\n  enqueue,\n  allocate\n", "enqueue,allocate"},
        {"null sections", A "tiers:\nconfigurations: ~\nmetrics: null\n", "enqueue"},
        {"empty sections", A "tiers: []\nconfigurations: []\nmetrics: {}\n", "enqueue"},
        {"null tier", A "tiers:\n-\n- plugins:\n", "enqueue | |"},
        {"plugins keep their order", T "  - name: gang\n  - name: drf\n- plugins:\n  - name: sla\n",
         "enqueue | gang; drf | sla"},
        {"plugin twice", T "  - name: drf\n  - name: drf\n", "enqueue | drf; drf"},
        {"flags", T "  - name: drf\n    enableHierarchy: true\n    enablePreemptable: no\n",
         "enqueue | drf enableHierarchy=1 enablePreemptable=0"},
        {"null flag is unset", T "  - name: drf\n    enableHierarchy:\n", "enqueue | drf"},
        {"number as name", T "  - name: 5\n", "enqueue | 5"},
        {"nested arguments", T "  - name: p\n    arguments:\n      a: {b: [1, {c: d}], e: }\n",
         "enqueue | p{a:{b:[1,{c:d}],e:}}"},
        {"null arguments", T "  - name: p\n    arguments:\n", "enqueue | p"},
        {"keys with dots and blanks", T "  - name: p\n    arguments:\n      a.b: 1\n      c d: 2\n",
         "enqueue | p{a.b:1,c d:2}"},
        {"configurations",
         A "configurations:\n- name: allocate\n  arguments:\n    x: 1\n- name: b\n",
         "enqueue @allocate{x:1} @b{}"},
        {"metrics",
         A "metrics:\n  type: prometheus\n  interval: 30\n  address:\n"
           "  tls.insecureSkipVerify: true\n",
         "enqueue #type=prometheus #interval=30 #address= #tls.insecureSkipVerify=true"},
        {"compatibility", A "compatibility: volcano\n", "enqueue volcano"},
        {"key order does not matter", "compatibility: volcano\ntiers: []\nactions: enqueue\n",
         "enqueue volcano"},
        {"flow style", "{actions: \"enqueue\", tiers: [{plugins: [{name: gang}]}]}",
         "enqueue | gang"},
        {"comments and a marker", "# c\n---\nactions: enqueue # d\n...\n", "enqueue"},
        {"windows line ends", "actions: enqueue\r\ntiers:\r\n- plugins:\r\n  - name: gang\r\n",
         "enqueue | gang"},
        {"byte order mark", "\xef\xbb\xbf" A, "enqueue"},
        {"the last of equal keys", "actions: allocate\nactions: enqueue\n", "enqueue"},
        {"anchor and alias",
         T "  - name: p\n    arguments: &x {a: 1}\n  - name: q\n    arguments: *x\n",
         "enqueue | p{a:1}; q{a:1}"},
        {"anchor redefined", T "  - name: &n p\n  - name: *n\n  - name: &n q\n  - name: *n\n",
         "enqueue | p; p; q; q"},
        {"alias as key", T "  - &k name: p\n  - *k : q\n", "enqueue | p; q"},
        {"merge",
         T "  - name: p\n    arguments: &x {a: 1, b: 2}\n"
           "  - name: q\n    arguments: {b: 3, <<: *x, c: 4}\n",
         "enqueue | p{a:1,b:2}; q{b:3,c:4,a:1}"},
        {"merge of several", T "  - name: p\n    arguments: {<<: [{a: 1}, {a: 2, b: 2}]}\n",
         "enqueue | p{a:1,b:2}"},
        {"drf with hierarchy alone", T "  - name: drf\n    enableHierarchy: on\n",
         "enqueue | drf enableHierarchy=1"},
        {"hierarchy switched off",
         T "  - name: drf\n    enableHierarchy: off\n  - name: proportion\n",
         "enqueue | drf enableHierarchy=0; proportion"},
        {"hierarchy and proportion in two tiers",
         T "  - name: drf\n    enableHierarchy: on\n- plugins:\n  - name: proportion\n",
         "enqueue | drf enableHierarchy=1 | proportion"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = parse(rows[i].name, rows[i].input);
        maar_autofree char *found = show(conf);
        if (strcmp(found, rows[i].want) != 0)
            fail_msg("%s:\n  %s\n  %s", rows[i].name, found, rows[i].want);
        maar_conf_destroy(conf);
    }
}

static void faults_are_refused_with_position_and_advice(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want; /* the start of the message */
    } rows[] = {
        {"empty", "", "f:1:1: the file is empty; it needs at least actions: "},
        {"comments only", "# nothing\n", "f:1:1: the file is empty"},
        {"null", "~\n", "f:1:1: the file is empty"},
        {"list", "- a\n", "f:1:1: scheduler.conf: expected a map, found a list; write"},
        {"text", "\n hello\n", "f:2:2: scheduler.conf: expected a map, found the string \"hello\""},
        {"no actions", "tiers: []\n",
         "f:1:1: actions: expected names separated by commas, found no "
         "such key; write actions: \"enqueue, allocate, backfill\""},
        {"empty actions", "\nactions: \"\"\n",
         "f:2:1: actions: expected names separated by commas, found the string \"\"; write"},
        {"null actions", "actions:\n",
         "f:1:1: actions: expected names separated by commas, found "
         "nothing"},
        {"blank actions", "actions: \"  \"\n",
         "f:1:1: actions: expected names separated by commas"},
        {"list of actions", "actions: [enqueue, allocate]\n",
         "f:1:1: actions: expected names separated by commas, found a list; write actions: "
         "\"enqueue, allocate, backfill\""},
        {"trailing comma", "actions: \"enqueue,\"\n",
         "f:1:1: actions: expected a name between the commas, found nothing; remove the comma"},
        {"double comma", "actions: \"enqueue,,allocate\"\n",
         "f:1:1: actions: expected a name between the commas"},
        {"unknown action", "actions: enqueue, alocate\n",
         "f:1:1: actions: failed to find Action \"alocate\"; did you mean allocate? there are: "
         "allocate, backfill, enqueue, preempt, reclaim"},
        {"strange action", "actions: fly\n",
         "f:1:1: actions: failed to find Action \"fly\"; there are: allocate, "},
        {"semicolons", "actions: enqueue; allocate\n",
         "f:1:1: actions: failed to find Action \"enqueue; allocate\""},
        {"tiers map", A "tiers: {plugins: []}\n",
         "f:2:1: tiers: expected a list, found a map; write \"- plugins:\" for each tier"},
        {"tier text", A "tiers:\n- gang\n",
         "f:3:3: tiers: expected a map with the key plugins for each tier, found the string "
         "\"gang\""},
        {"plugins map", A "tiers:\n- plugins: {name: gang}\n",
         "f:3:3: plugins: expected a list, found a map; write one \"- name: gang\" a line"},
        {"plugin text", T "  - gang\n",
         "f:4:5: plugins: expected a map for each plugin, found the "
         "string \"gang\"; write \"- name: gang\""},
        {"name list", T "  - name: [gang]\n", "f:4:5: name: expected a string, found a list"},
        {"quoted flag", T "  - name: gang\n    enableJobOrder: \"true\"\n",
         "f:5:5: enableJobOrder: expected true or false, found the string \"true\"; write it "
         "without quotes"},
        {"integer flag", T "  - name: gang\n    enabledVictim: 1\n",
         "f:5:5: enabledVictim: expected true or false, found the integer 1"},
        {"map flag", T "  - name: gang\n    enableJobOrder: {}\n",
         "f:5:5: enableJobOrder: expected true or false, found a map"},
        {"arguments list", T "  - name: gang\n    arguments: [a]\n",
         "f:5:5: arguments: expected a map, found a list; write one \"key: value\" a line"},
        {"arguments text", T "  - name: gang\n    arguments: a\n",
         "f:5:5: arguments: expected a map, found the string \"a\""},
        {"hierarchy conflict", T "  - name: proportion\n  - name: drf\n    enableHierarchy: true\n",
         "f:5:5: tiers: proportion and drf with hierarchy enabled conflicts; remove proportion or "
         "enableHierarchy"},
        {"hierarchy conflict in a later tier",
         T "  - name: gang\n- plugins:\n  - name: drf\n    enableHierarchy: true\n"
           "  - name: proportion\n",
         "f:6:5: tiers: proportion and drf with hierarchy enabled conflicts"},
        {"configurations map", A "configurations: {allocate: {}}\n",
         "f:2:1: configurations: expected a list, found a map; write \"- name: allocate\""},
        {"configuration text", A "configurations:\n- allocate\n",
         "f:3:3: configurations: expected a map for each action, found the string \"allocate\""},
        {"configuration arguments", A "configurations:\n- name: allocate\n  arguments: 5\n",
         "f:4:3: arguments: expected a map, found the integer 5"},
        {"metrics list", A "metrics: [type]\n", "f:2:1: metrics: expected a map, found a list"},
        {"nested metrics", A "metrics:\n  tls:\n    insecureSkipVerify: true\n",
         "f:3:3: tls: expected a string, found a map; write the whole key in one line, such as "
         "tls.insecureSkipVerify: \"true\""},
        {"compatibility of another", A "compatibility: kueue\n",
         "f:2:1: compatibility: expected volcano, found the string \"kueue\"; it is the only "
         "value"},
        {"compatibility null", A "compatibility:\n",
         "f:2:1: compatibility: expected volcano, found nothing"},
        {"compatibility list", A "compatibility: [volcano]\n",
         "f:2:1: compatibility: expected volcano, found a list"},
        {"tab", "actions: enqueue\ntiers:\n\t- plugins:\n",
         "f:3:1: not valid YAML: found character "
         "that cannot start any token"},
        {"bad indentation", "actions: enqueue\n tiers: []\n", "f:2:7: not valid YAML: "},
        {"open quote", "actions: \"enqueue\n",
         "f:2:1: not valid YAML: found unexpected end of "
         "stream while scanning a quoted scalar that starts "
         "in line 1"},
        {"unclosed list", A "tiers: [\n", "f:3:1: not valid YAML: "},
        {"not UTF-8", "actions: \xff\n", "f:1:10: not valid YAML: invalid leading UTF-8 octet"},
        {"control character", "actions: enqueue\nmetrics: \x01\n",
         "f:2:10: not valid YAML: control characters are not allowed"},
        {"zero byte", "actions: \"a\\0b\"\n", "f:1:10: a text with a zero byte"},
        {"unknown alias", A "tiers: *x\n", "f:2:8: *x: no anchor of this name ends above"},
        {"alias of itself", A "tiers: &x [*x]\n", "f:2:12: *x: no anchor of this name ends above"},
        {"merge of a text", A "<<: a\n", "f:2:1: <<: expected a map or a list of maps"},
        {"merge of a list of texts", A "<<: [{a: 1}, b]\n", "f:2:1: <<: expected a map or a list"},
        {"map as key", A "{a: b}: c\n", "f:2:1: a map or a list as key; keys must be texts"},
        {"list as key", A "? [a]\n: c\n", "f:2:3: a map or a list as key"},
        {"alias of a map as key", A "metrics: &x {}\n*x : c\n", "f:3:1: a map or a list as key"},
        {"wrong tag", A "metrics: {type: !!int abc}\n", "f:2:17: the value is not of the type"},
        {"text after the end", A "...\n]\n", "f:3:1: not valid YAML: did not find expected"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = NULL;
        struct maar_error err = MAAR_ERROR_INIT;
        int rc =
            maar_conf_parse(rows[i].input, strlen(rows[i].input), "f", known_actions, &conf, &err);
        if (rc == 0)
            fail_msg("%s: was accepted", rows[i].name);
        assert_null(conf);
        if (strncmp(err.text, rows[i].want, strlen(rows[i].want)) != 0)
            fail_msg("%s:\n  %s\n  %s", rows[i].name, err.text, rows[i].want);
        /* The error object may be left out. */
        assert_true(maar_conf_parse(rows[i].input, strlen(rows[i].input), "f", known_actions, &conf,
                                    NULL) < 0);
    }
}

static void what_volcano_ignores_is_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *name, *input, *want; /* NULL: no warning */
    } rows[] = {
        {"nothing to say", T "  - name: gang\n    enableJobOrder: false\n    arguments: {x: 1}\n",
         NULL},
        {"top key", A "tier: []\n",
         "2:1: tier: unknown key of scheduler.conf, ignored; did you mean "
         "tiers?"},
        {"strange top key", A "colours: []\n",
         "2:1: colours: unknown key of scheduler.conf, ignored"},
        {"tier key", A "tiers:\n- plugin: []\n",
         "3:3: plugin: unknown key of a tier, ignored; did you mean plugins?"},
        {"plugin key", T "  - name: gang\n    argument: {}\n",
         "5:5: argument: unknown key of a plugin, ignored; did you mean arguments?"},
        {"enabled for enable", T "  - name: gang\n    enabledJobOrder: false\n",
         "5:5: enabledJobOrder: has no effect in this spelling; did you mean "
         "enableJobOrder?"},
        {"enable for enabled", T "  - name: gang\n    enableVictim: false\n",
         "5:5: enableVictim: has no effect in this spelling; did you mean "
         "enabledVictim?"},
        {"wrong type below a wrong key", T "  - name: gang\n    enabledJobOrder: [1]\n",
         "5:5: enabledJobOrder: has no effect in this spelling; did you mean "
         "enableJobOrder?"},
        {"misspelt flag", T "  - name: gang\n    enableJobOrdr: false\n",
         "5:5: enableJobOrdr: unknown key of a plugin, ignored; did you mean enableJobOrder?"},
        {"flag in small letters", T "  - name: gang\n    enablejoborder: false\n",
         "5:5: enablejoborder: unknown key of a plugin, ignored; did you mean enableJobOrder?"},
        {"configuration key", A "configurations:\n- name: allocate\n  argument: {}\n",
         "4:3: argument: unknown key of a configuration, ignored; did you mean arguments?"},
        {"configuration twice", A "configurations:\n- name: allocate\n- name: allocate\n",
         "4:3: configurations: allocate is there already; only its first entry counts"},
        {"configuration without a name", A "configurations:\n- arguments: {}\n",
         "3:3: configurations: an entry without a name has no effect"},
        {"plugin without a name", T "  - enableJobOrder: true\n",
         "4:5: plugins: an entry without a name is ignored"},
        {"metrics key", A "metrics:\n  adress: x\n",
         "3:3: adress: unknown key of metrics, ignored; did you mean address?"},
        {"key twice", A "actions: allocate\n",
         "1:1: actions: written twice in one map; the last one counts"},
        {"argument twice", T "  - name: p\n    arguments: {a: 1, a: 2}\n",
         "5:17: a: written twice in one map; the last one counts"},
        {"second document", A "---\nactions: allocate\n",
         "2:1: a second document starts here; only the first one is read"},
        {"hierarchy and proportion in two tiers",
         T "  - name: drf\n    enableHierarchy: on\n- plugins:\n  - name: proportion\n",
         "4:5: tiers: proportion and drf with enableHierarchy contradict each other, although they "
         "are in different tiers; remove one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_conf *conf = parse(rows[i].name, rows[i].input);
        if (conf->n_warnings != (rows[i].want ? 1u : 0u))
            fail_msg("%s: %zu warnings", rows[i].name, conf->n_warnings);
        if (rows[i].want) {
            const struct maar_conf_warning *warning = &conf->warnings[0];
            maar_autofree char *found =
                maar_asprintf("%d:%d: %s", warning->line, warning->column, warning->text);
            if (strcmp(found, rows[i].want) != 0)
                fail_msg("%s:\n  %s\n  %s", rows[i].name, found, rows[i].want);
        }
        maar_conf_destroy(conf);
    }
}

static void every_enable_key_sets_its_own_bit_only(void **state)
{
    (void)state;
    for (int i = 0; i < MAAR_N_ENABLES; i++) {
        const char *key = maar_enable_key((enum maar_enable)i);
        assert_int_equal(maar_enable_find(key), i);
        bool is_off_by_default = i == MAAR_ENABLE_HIERARCHY || i == MAAR_ENABLE_CLUSTER_ORDER;
        maar_autofree char *text = maar_asprintf(T "  - name: p\n    %s: %s\n  - name: q\n", key,
                                                 is_off_by_default ? "on" : "off");
        struct maar_conf *conf = parse(key, text);
        assert_int_equal(conf->n_warnings, 0);
        const struct maar_conf_plugin *p = &conf->tiers[0].plugins[0];
        const struct maar_conf_plugin *q = &conf->tiers[0].plugins[1];
        assert_int_equal(p->arguments.enable_set, 1u << i);
        assert_int_equal(q->arguments.enable_set, 0);
        assert_int_equal(p->arguments.enable ^ q->arguments.enable, 1u << i);
        assert_int_equal((q->arguments.enable >> i) & 1, !is_off_by_default);
        assert_int_equal(maar_conf_plugin_enabled(conf, "p", (enum maar_enable)i),
                         is_off_by_default);
        assert_false(maar_conf_plugin_enabled(conf, "r", (enum maar_enable)i));
        maar_conf_destroy(conf);
    }
    assert_int_equal(maar_enable_find("enabledJobOrder"), -1);
    assert_int_equal(maar_enable_find("name"), -1);
}

static void the_first_entry_of_a_plugin_gives_its_flag(void **state)
{
    (void)state;
    struct maar_conf *conf =
        parse("tiers", T "  - name: a\n- plugins:\n  - name: p\n    enableJobOrder: off\n"
                         "- plugins:\n  - name: p\n    enableJobOrder: on\n");
    assert_false(maar_conf_plugin_enabled(conf, "p", MAAR_ENABLE_JOB_ORDER));
    assert_true(maar_conf_plugin_enabled(conf, "a", MAAR_ENABLE_JOB_ORDER));
    maar_conf_destroy(conf);
}

static void the_first_configuration_of_an_action_counts(void **state)
{
    (void)state;
    struct maar_conf *conf =
        parse("configurations", A "configurations:\n- name: allocate\n  arguments: {x: 1}\n"
                                  "- name: allocate\n  arguments: {x: 2}\n");
    assert_int_equal(maar_arguments_int(maar_conf_action_arguments(conf, "allocate"), "x"), 1);
    assert_null(maar_conf_action_arguments(conf, "backfill"));
    maar_conf_destroy(conf);
}

static void positions_are_kept(void **state)
{
    (void)state;
    struct maar_conf *conf =
        parse("positions", "\nactions: enqueue\ntiers:\n- plugins:\n  - enableJobOrder: on\n"
                           "    name: gang\nconfigurations:\n  - name: allocate\n");
    assert_int_equal(conf->actions_line, 2);
    assert_int_equal(conf->actions_column, 1);
    assert_int_equal(conf->tiers[0].plugins[0].line, 6);
    assert_int_equal(conf->tiers[0].plugins[0].column, 5);
    assert_int_equal(conf->configurations[0].line, 8);
    assert_int_equal(conf->configurations[0].column, 5);
    assert_string_equal(conf->source, "f");
    maar_conf_destroy(conf);
}

static void any_action_passes_when_none_are_known(void **state)
{
    (void)state;
    struct maar_conf *conf = NULL;
    assert_int_equal(maar_conf_parse("actions: fly", 12, "f", NULL, &conf, NULL), 0);
    assert_string_equal(conf->actions[0], "fly");
    maar_conf_destroy(conf);
}

static void warnings_come_in_file_order_and_are_bounded(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, A);
    for (int i = 0; i < 150; i++)
        maar_text_addf(&text, "strange%d: 1\n", i);
    struct maar_conf *conf = parse("many", maar_text_get(&text));
    assert_int_equal(conf->n_warnings, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(conf->warnings[i].line, i + 2);
    assert_non_null(strstr(conf->warnings[99].text, "(and 50 more)"));
    maar_conf_destroy(conf);
    maar_text_fini(&text);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void expect_refused(const char *name, const struct maar_text *text, const char *want)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_conf_parse(text->data, text->n, "f", NULL, &conf, &err) == 0)
        fail_msg("%s: was accepted", name);
    if (!strstr(err.text, want))
        fail_msg("%s: %s", name, err.text);
}

static void aliases_cannot_make_a_small_file_large(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, A "a: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++)
        maar_text_addf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    expect_refused("nodes", &text, "more than 100000 values");
    maar_text_clear(&text);
    maar_text_add(&text, A "a: &a ");
    for (int i = 0; i < 1000; i++)
        maar_text_add(&text, "0123456789");
    maar_text_add(&text, "\nb: [");
    for (int i = 0; i < 1000; i++)
        maar_text_add(&text, "*a, ");
    maar_text_add(&text, "x]\n");
    expect_refused("text", &text, "more than 8 MiB of text");
    maar_text_clear(&text);
    maar_text_add(&text, A);
    maar_text_add(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 80; i++)
        maar_text_addf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    expect_refused("depth", &text, "nested deeper than 64 levels");
    maar_text_fini(&text);
}

static void depth_nodes_and_bytes_are_bounded(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, A "a: ");
    for (int i = 0; i < 100000; i++)
        maar_text_add_char(&text, '[');
    expect_refused("brackets", &text, "nested deeper than 64 levels");
    maar_text_clear(&text);
    maar_text_add(&text, A "a: [");
    for (int i = 0; i < 100001; i++)
        maar_text_add(&text, "1,");
    maar_text_add(&text, "]");
    expect_refused("values", &text, "more than 100000 values");
    maar_text_clear(&text);
    while (text.n <= MAAR_YAML_MAX_BYTES)
        maar_text_add(&text, "# a comment that fills the file\n");
    expect_refused("bytes", &text, "larger than 1 MiB");
    maar_text_clear(&text);
    maar_text_add(&text, T "  - name: p\n    arguments:\n      deep: ");
    for (int i = 0; i < 58; i++)
        maar_text_add_char(&text, '[');
    for (int i = 0; i < 58; i++)
        maar_text_add_char(&text, ']');
    maar_conf_destroy(parse("64 levels", maar_text_get(&text)));
    maar_text_fini(&text);
}

static void many_keys_and_anchors_take_no_square_time(void **state)
{
    (void)state;
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, T "  - name: p\n    arguments:\n");
    for (int i = 0; i < 10000; i++)
        maar_text_addf(&text, "      k%d: &a%d 1\n", i, i);
    for (int i = 0; i < 10000; i++)
        maar_text_addf(&text, "      l%d: *a%d\n", i, 0);
    struct maar_conf *conf = parse("many", maar_text_get(&text));
    assert_int_equal(conf->tiers[0].plugins[0].arguments.root.n_children, 20000);
    maar_conf_destroy(conf);
    maar_text_fini(&text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void the_shipped_file_is_the_built_in_configuration(void **state)
{
    (void)state;
    struct maar_conf *built_in = maar_conf_default();
    struct maar_conf *shipped = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_conf_read(MAAR_TEST_SOURCE_DIR "/conf/scheduler.conf", known_actions, &shipped, &err) <
        0)
        fail_msg("%s", err.text);
    maar_autofree char *want = show(built_in);
    maar_autofree char *found = show(shipped);
    assert_string_equal(found, want);
    assert_string_equal(want, "enqueue,allocate,backfill | priority; gang; conformance | "
                              "overcommit; drf; predicates; proportion; nodeorder");
    assert_int_equal(shipped->n_warnings + built_in->n_warnings, 0);
    maar_conf_destroy(built_in);
    maar_conf_destroy(shipped);
}

/* The examples in the shipped file's comments must be right when somebody uncomments them. */
static void the_examples_in_the_shipped_file_are_valid(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    size_t n = 0;
    assert_int_equal(
        maar_file_read(MAAR_TEST_SOURCE_DIR "/conf/scheduler.conf", 65536, &text, &n, NULL), 0);
    static const char *const starts[] = {"# configurations:", "# metrics:", "# compatibility:"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *at = strstr(text, starts[i]);
        assert_non_null(at);
        struct maar_text example = MAAR_TEXT_INIT;
        maar_text_add(&example, A);
        while (at[0] == '#' && at[1] == ' ') {
            const char *end = strchr(at, '\n');
            maar_text_add_n(&example, at + 2, (size_t)(end + 1 - at - 2));
            at = end + 1;
        }
        struct maar_conf *conf = parse(starts[i], maar_text_get(&example));
        assert_int_equal(conf->n_warnings, 0);
        assert_true(conf->n_configurations + conf->n_metrics + conf->compatibility_volcano > 0);
        maar_conf_destroy(conf);
        maar_text_fini(&example);
    }
}

static void unreadable_files_give_the_error_of_the_system(void **state)
{
    (void)state;
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_conf_read("/nonexistent/scheduler.conf", NULL, &conf, &err), -2);
    assert_string_equal(err.text, "/nonexistent/scheduler.conf: No such file or directory");
    assert_true(maar_conf_read("/", NULL, &conf, &err) < 0);
    assert_null(conf);
}

/* Nothing that is cut off anywhere crashes or leaks. */
static void every_prefix_of_a_file_is_handled(void **state)
{
    (void)state;
    static const char text[] =
        T "  - &a name: \"gang\\u00e4\"\n    enableJobOrder: no\n    arguments: {a: [1, 'b'], <<: "
          "{c: |\n"
          "      d}}\n  - *a : x\nconfigurations: [{name: allocate, arguments: {x: !!int \"1\"}}]\n"
          "metrics: {type: prometheus}\ncompatibility: volcano\n...\n---\n";
    for (size_t n = 0; n < sizeof text; n++) {
        struct maar_conf *conf = NULL;
        struct maar_error err = MAAR_ERROR_INIT;
        if (maar_conf_parse(text, n, "f", NULL, &conf, &err) < 0)
            assert_int_equal(strncmp(err.text, "f:", 2), 0);
        else
            maar_conf_destroy(conf);
    }
}

/* Errors beside warnings, in the order of the file, and what can still be read. */
static void examining_goes_on_after_an_error(void **state)
{
    (void)state;
    static const char text[] = "actions: \"enqueue, alocate,\"\n"
                               "tier: []\n"
                               "tiers:\n"
                               "- plugins: gang\n"
                               "- plugins:\n"
                               "  - name: drf\n"
                               "    enableJobOrder: \"yes\"\n"
                               "compatibility: kubernetes\n";
    static const struct {
        int line, column;
        bool is_error;
        const char *part;
    } want[] = {
        {1, 1, true, "expected a name between the commas"},
        {1, 1, true, "failed to find Action \"alocate\"; did you mean allocate?"},
        {2, 1, false, "tier: unknown key of scheduler.conf, ignored; did you mean tiers?"},
        {4, 3, true, "plugins: expected a list"},
        {7, 5, true, "enableJobOrder: expected true or false"},
        {8, 1, true, "compatibility: expected volcano"},
    };
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_conf_examine(text, strlen(text), "f", known_actions, &conf, &err), 0);
    assert_int_equal(conf->n_warnings, sizeof want / sizeof *want);
    for (size_t i = 0; i < conf->n_warnings; i++) {
        const struct maar_conf_warning *got = &conf->warnings[i];
        if (got->line != want[i].line || got->column != want[i].column ||
            got->is_error != want[i].is_error || !strstr(got->text, want[i].part))
            fail_msg("%zu: got %d:%d %s", i, got->line, got->column, got->text);
    }
    maar_autofree char *shown = show(conf);
    assert_string_equal(shown, "enqueue,alocate, | | drf");
    maar_conf_destroy(conf);
    assert_int_equal(maar_conf_examine("a: [", 4, "f", NULL, &conf, &err), -EINVAL);
    assert_non_null(strstr(err.text, ": not valid YAML"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examining_goes_on_after_an_error),
        cmocka_unit_test(each_part_of_the_grammar_is_read),
        cmocka_unit_test(faults_are_refused_with_position_and_advice),
        cmocka_unit_test(what_volcano_ignores_is_warned_of),
        cmocka_unit_test(every_enable_key_sets_its_own_bit_only),
        cmocka_unit_test(the_first_entry_of_a_plugin_gives_its_flag),
        cmocka_unit_test(the_first_configuration_of_an_action_counts),
        cmocka_unit_test(positions_are_kept),
        cmocka_unit_test(any_action_passes_when_none_are_known),
        cmocka_unit_test(warnings_come_in_file_order_and_are_bounded),
        cmocka_unit_test(aliases_cannot_make_a_small_file_large),
        cmocka_unit_test(depth_nodes_and_bytes_are_bounded),
        cmocka_unit_test(many_keys_and_anchors_take_no_square_time),
        cmocka_unit_test(the_shipped_file_is_the_built_in_configuration),
        cmocka_unit_test(the_examples_in_the_shipped_file_are_valid),
        cmocka_unit_test(unreadable_files_give_the_error_of_the_system),
        cmocka_unit_test(every_prefix_of_a_file_is_handled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
