/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* `maarctl plugins` against the example plugin, loaded from a folder as an author would. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <maar/plugin.h>

#include "base/memory.h"
#include "cli/plugins_command.h"

#define FIXTURES MAAR_TEST_BUILD_DIR "/test/plugins"
#define MAX_ARGS 8

static char *folder;      /* of the test */
static char *plugins_dir; /* with the example in it */

static void link_fixture(const char *dir, const char *name)
{
    maar_autofree char *from = maar_asprintf("%s/%s.so", FIXTURES, name);
    maar_autofree char *to = maar_asprintf("%s/%s/%s.so", folder, dir, name);
    assert_int_equal(symlink(from, to), 0);
}

static void make_dir(const char *dir)
{
    maar_autofree char *path = maar_asprintf("%s/%s", folder, dir);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* Where the build tree has no built-in modules yet, a stand-in serves. */
static int set_up(void **state)
{
    (void)state;
    char name[] = "/tmp/maar-plugins-XXXXXX";
    (void)umask(022);
    if (!mkdtemp(name))
        return -1;
    folder = maar_strdup(name);
    make_dir("plugins");
    make_dir("actions");
    make_dir("mine");
    link_fixture("plugins", "too_little");
    link_fixture("actions", "action");
    link_fixture("mine", "example");
    plugins_dir = maar_asprintf("%s/mine", folder);
    return setenv("MAAR_MODULE_DIR", folder, 1);
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const paths[] = {"plugins/too_little.so",
                                        "plugins",
                                        "actions/action.so",
                                        "actions",
                                        "mine/example.so",
                                        "mine",
                                        "."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths - 1; i++) {
        maar_autofree char *path = maar_asprintf("%s/%s", folder, paths[i]);
        (void)remove(path);
    }
    (void)rmdir(folder);
    free(folder);
    free(plugins_dir);
    return 0;
}

/* Runs the command with what it prints on descriptor `fd` caught in *ret_text. */
static int run(int fd, char **ret_text, const char *const *args)
{
    char *argv[MAX_ARGS + 1] = {NULL};
    int argc = 0;
    argv[argc++] = maar_strdup("plugins");
    for (; *args; args++)
        argv[argc++] = maar_strdup(*args);
    FILE *caught = tmpfile();
    assert_non_null(caught);
    (void)fflush(NULL);
    int saved = dup(fd);
    assert_true(dup2(fileno(caught), fd) == fd);
    int rc = maar_cli_plugins(argc, argv);
    (void)fflush(NULL);
    assert_true(dup2(saved, fd) == fd);
    (void)close(saved);
    long n = lseek(fileno(caught), 0, SEEK_END);
    *ret_text = maar_calloc(1, (size_t)n + 1);
    assert_int_equal(pread(fileno(caught), *ret_text, (size_t)n, 0), n);
    (void)fclose(caught);
    while (argc > 0)
        free(argv[--argc]);
    return rc;
}

#define ARGS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void one_plugin_is_shown_with_hooks_and_arguments(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("example", "--plugins-dir", plugins_dir)), 0);
    maar_autofree char *want =
        maar_asprintf("plugin example\n"
                      "Keeps pods off nodes with a label and prefers nodes with more free memory.\n"
                      "file: %s/example.so\n"
                      "hooks:\n"
                      "  predicate  (enablePredicate)\n"
                      "  nodeOrder  (enableNodeOrder)\n"
                      "filter Avoid  (pod: class; node: static)\n"
                      "score FreeMemory  (pod: class; node: static, load)\n"
                      "arguments:\n"
                      "  example.avoidLabel  string, default example.com/avoid\n"
                      "      Nodes that carry a label of this key take no pods.\n"
                      "  example.weight  float, default 1, 0..100\n"
                      "      How much free memory counts among the scores of all plugins.\n",
                      plugins_dir);
    assert_string_equal(text, want);
}

static void all_modules_are_listed(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("--plugins-dir", plugins_dir)), 0);
    assert_int_equal(strncmp(text, "PLUGIN ", 7), 0);
    const char *line = strstr(text, "\nexample ");
    assert_non_null(line);
    assert_non_null(strstr(line, "predicate,nodeOrder\n"));
    assert_non_null(strstr(text, "\nACTION "));
}

static void json_says_the_same(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("-o", "json", "--plugins-dir", plugins_dir, "example")), 0);
    json_auto_t *root = json_loads(text, 0, NULL);
    const json_t *plugins = json_object_get(root, "plugins");
    assert_int_equal(json_array_size(plugins), 1);
    assert_int_equal(json_array_size(json_object_get(root, "actions")), 0);
    const json_t *plugin = json_array_get(plugins, 0);
    assert_string_equal(json_string_value(json_object_get(plugin, "name")), "example");
    const json_t *hook = json_array_get(json_object_get(plugin, "hooks"), 1);
    assert_string_equal(json_string_value(json_object_get(hook, "key")), "enableNodeOrder");
    const json_t *argument = json_array_get(json_object_get(plugin, "arguments"), 1);
    assert_string_equal(json_string_value(json_object_get(argument, "default")), "1");
    assert_string_equal(json_string_value(json_object_get(argument, "type")), "float");
    assert_string_equal(json_string_value(json_object_get(argument, "range")), "0..100");
    const json_t *score = json_array_get(json_object_get(plugin, "scores"), 0);
    assert_int_equal(json_array_size(json_object_get(score, "node")), 2);
}

static void json_lists_everything(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("--output=json", "--plugins-dir", plugins_dir)), 0);
    json_auto_t *root = json_loads(text, 0, NULL);
    const json_t *plugins = json_object_get(root, "plugins");
    bool has_example = false;
    for (size_t i = 0; i < json_array_size(plugins); i++) {
        const json_t *name = json_object_get(json_array_get(plugins, i), "name");
        has_example = has_example || strcmp(json_string_value(name), "example") == 0;
    }
    assert_true(has_example);
    assert_true(json_is_array(json_object_get(root, "actions")));
}

static void a_page_has_a_chapter_for_each(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("-o", "markdown", "--plugins-dir", plugins_dir)), 0);
    const char *chapter = strstr(text, "\n### example\n\nKeeps pods off nodes");
    assert_non_null(chapter);
    assert_non_null(strstr(chapter, "| `example.weight` | float | `1` | 0..100 | How much free "));
    assert_non_null(strstr(chapter, "| nodeOrder | `enableNodeOrder` | true |\n"));
    assert_non_null(strstr(text, "\n## Actions\n"));
}

static void help_is_printed(void **state)
{
    (void)state;
    maar_autofree char *text = NULL;
    assert_int_equal(run(1, &text, ARGS("--help")), 0);
    assert_int_equal(strncmp(text, "Usage: maarctl plugins ", 23), 0);
}

static void bad_input_exits_with_2(void **state)
{
    (void)state;
    static const struct {
        const char *name, *args[4], *want;
    } rows[] = {
        {"unknown name", {"xylophone"}, "no plugin or action is named xylophone; maarctl plugins"},
        {"unknown option", {"--colour"}, "maarctl plugins --help shows the options"},
        {"unknown format", {"-o", "yaml"}, "-o: expected table, json or markdown, found yaml"},
        {"a page of one", {"-o", "markdown", "gang"}, "leave out gang"},
        {"two names", {"gang", "drf"}, "expected one name, found 2"},
        {"missing folder", {"--plugins-dir", "/nonexistent"}, "/nonexistent: No such file"},
        {"folder for everybody", {"--plugins-dir", "/tmp"}, "/tmp: everybody may write here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maar_autofree char *text = NULL;
        int rc = run(2, &text, rows[i].args);
        if (rc != 2 || !strstr(text, rows[i].want))
            fail_msg("%s: %d %s", rows[i].name, rc, text);
    }
    maar_autofree char *text = NULL;
    assert_int_equal(run(2, &text, ARGS("exmaple", "--plugins-dir", plugins_dir)), 2);
    assert_non_null(strstr(text, "did you mean example?"));
}

/* The command names each hook; a new one must be added to its table. Beside the hooks there are two
 * counts, the kinds to watch, and `unreserve`, which goes without saying where there is `reserve`.
 */
static void no_hook_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct maar_hooks), (36 + 4) * sizeof(void *));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plugin_is_shown_with_hooks_and_arguments),
        cmocka_unit_test(all_modules_are_listed),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(json_lists_everything),
        cmocka_unit_test(a_page_has_a_chapter_for_each),
        cmocka_unit_test(help_is_printed),
        cmocka_unit_test(bad_input_exits_with_2),
        cmocka_unit_test(no_hook_is_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
