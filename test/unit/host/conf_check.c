/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What a configuration says without effect, against the built-in modules. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "host/conf_check.h"

static struct maar_registry *registry;

static int set_up(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    registry = maar_registry_create();
    if (maar_registry_load_plugins(registry, MAAR_TEST_BIN_DIR "/plugins", &err) < 0 ||
        maar_registry_load_actions(registry, MAAR_TEST_BIN_DIR "/actions", &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    maar_registry_destroy(registry);
    return 0;
}

static void add_line(void *context, int line, int column, const char *text)
{
    maar_text_addf(context, "%d:%d %s\n", line, column, text);
}

/* Every part must stand in the report; "" wants an empty one. */
static void expect(const char *name, const char *conf_text, const char *want)
{
    struct maar_conf *conf = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_text got = MAAR_TEXT_INIT;
    /* Any action may be listed, as when those that are not built yet are there. */
    assert_int_equal(maar_conf_parse(conf_text, strlen(conf_text), "f", NULL, &conf, &err), 0);
    maar_conf_check(conf, registry, add_line, &got);
    bool met = *want ? strstr(maar_text_get(&got), want) != NULL : got.n == 0;
    if (!met)
        fail_msg("%s: wanted \"%s\", got \"%s\"", name, want, maar_text_get(&got));
    maar_text_fini(&got);
    maar_conf_destroy(conf);
}

#define A "actions: \"enqueue, allocate\"\n"
#define T A "tiers:\n- plugins:\n  - name: gang\n"

static void what_has_no_effect_is_reported_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *name, *conf, *want;
    } rows[] = {
        {"nothing to say", T "- plugins:\n  - name: drf\n", ""},
        {"unknown plugin", T "  - name: priorty\n",
         "5:5 plugins: there is no plugin priorty; it is left out; did you mean priority?"},
        {"nothing like it", T "  - name: mine\n", "there is no plugin mine; it is left out\n"},
        {"a plugin of Volcano", T "  - name: tdm\n",
         "5:5 plugins: tdm is a plugin of Volcano that is not available here; it is left out"},
        {"nearly a plugin of Volcano", T "  - name: usages\n", "did you mean usage?"},
        {"unknown argument", T "  - name: binpack\n    arguments:\n      binpack.wieght: 1\n",
         "7:7 binpack.wieght: unknown argument, ignored; did you mean binpack.weight?"},
        {"argument of a wrong type",
         T "  - name: binpack\n    arguments: {binpack.weight: \"5\"}\n",
         "binpack.weight: expected an integer"},
        {"misspelt switch", T "    enabledJobOrder: false\n", "did you mean enableJobOrder?"},
        {"twice", T "  - name: gang\n", "5:5 plugins: gang is listed already, in line 4"},
        {"no gang", A "tiers:\n- plugins: [{name: drf}]\n", "1:1 tiers: gang is not among"},
        {"gang below", A "tiers:\n- plugins: [{name: drf}]\n- plugins: [{name: gang}]\n",
         "4:14 plugins: gang is in tier 2"},
        {"two shares", T "  - name: proportion\n  - name: capacity\n",
         "6:5 plugins: proportion (queues by weight) and capacity"},
        {"victims in one tier",
         "actions: \"preempt, reclaim\"\ntiers:\n- plugins:\n  - name: gang\n  - name: drf\n", ""},
        {"victims in two tiers",
         "actions: preempt\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n"
         "  - name: drf\n",
         "6:5 plugins: drf has a say on whom preempt evicts only where tier 1 names nobody"},
        {"victims that are switched off",
         "actions: preempt\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n"
         "  - name: drf\n    enablePreemptable: false\n",
         ""},
        {"drf without a tree says nothing on reclaim",
         "actions: reclaim\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: drf\n", ""},
        {"victims of reclaim",
         "actions: reclaim\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n"
         "  - name: proportion\n",
         "list it in tier 1 or write enableReclaimable: false"},
        {"configuration of nothing", T "configurations:\n- name: alocate\n",
         "there is no action alocate; the entry has no effect; did you mean allocate?"},
        {"configuration of another action", T "configurations:\n- name: backfill\n",
         "6:3 configurations: backfill is not among the actions"},
        {"argument of an action",
         T "configurations:\n- name: allocate\n  arguments: {predicateErrorCacheEnabled: true}\n",
         "did you mean predicateErrorCacheEnable?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rows[i].name, rows[i].conf, rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_effect_is_reported_with_its_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
