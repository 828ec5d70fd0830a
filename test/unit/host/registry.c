/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Loading modules: every way a plugin can be wrong gets a message and changes nothing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/registry.h"

#define FIXTURES MAAR_TEST_BIN_DIR "/../test/plugins"

/* ---- folders and files of a test ------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Each test runs in a folder of its own, which is *state. */
static int make_folder(void **state)
{
    char name[] = "/tmp/maar-registry-XXXXXX";
    if (!mkdtemp(name))
        return -1;
    *state = maar_strdup(name);
    return 0;
}

static int remove_folder(void **state)
{
    (void)nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return 0;
}

static void write_file(const char *path, const char *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), (ssize_t)n);
    assert_int_equal(close(fd), 0);
}

static char *read_file(const char *path, size_t *ret_n)
{
    char *data = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_file_read(path, (size_t)1 << 28, &data, ret_n, &err) < 0)
        fail_msg("%s", err.text);
    return data;
}

static void copy_file(const char *from, const char *to)
{
    size_t n = 0;
    maar_autofree char *data = read_file(from, &n);
    write_file(to, data, n);
}

static void add_fixture(const char *folder, const char *fixture, const char *name)
{
    maar_autofree char *from = maar_asprintf("%s/%s.so", FIXTURES, fixture);
    maar_autofree char *to = maar_asprintf("%s/%s", folder, name);
    copy_file(from, to);
}

static void make_dir(const char *base, const char *name)
{
    maar_autofree char *path = maar_asprintf("%s/%s", base, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void good_plugins_are_found_by_name_and_alias(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"example",    "failing_open", "nonsense",
                                           "too_little", "crash_create", "broken_0"};
    static const char *const names[] = {"broken",       "crash-create", "example",
                                        "failing-open", "nonsense",     "too-little"};
    struct maar_registry *registry = maar_registry_create();
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        maar_autofree char *path = maar_asprintf("%s/%s.so", FIXTURES, fixtures[i]);
        if (maar_registry_load_plugin_file(registry, path, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(maar_registry_n_plugins(registry), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(maar_registry_plugin(registry, i)->name, names[i]);
        assert_ptr_equal(maar_registry_find_plugin(registry, names[i]),
                         maar_registry_plugin(registry, i));
    }
    assert_string_equal(maar_registry_find_plugin(registry, "broken_alias")->name, "broken");
    assert_string_equal(maar_registry_plugin_path(registry, 2), FIXTURES "/example.so");
    assert_null(maar_registry_find_plugin(registry, "gang"));
    assert_null(maar_registry_find_action(registry, "example"));
    maar_registry_destroy(registry);
}

static void wrong_plugins_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *fixture, *want;
    } rows[] = {
        {"wrong_abi", "it was built for ABI 1, this is ABI 0; compile it against"},
        {"missing_symbol", "it does not export the symbol maar_plugin; define it with MAAR_EXPORT"},
        {"trespass", "undefined symbol: maar_malloc; a plugin may only use the host table"},
        {"action", "this is an action, not a plugin; put it into the folder of the actions"},
        {"broken_1", "this is a Go plugin, and those cannot be loaded; port it to the C interface, "
                     "see docs/plugin-guide.md"},
        {"broken_2", "this is a Go plugin"},
        {"broken_3", "its exported symbol is no descriptor (5 bytes)"},
        {"broken_4", "it was built for a newer version (descriptor of "},
        {"broken_5", "it was built for an older version (descriptor of 64 bytes"},
        {"broken_6", "its alias \"not a name\" is not 1 to 63"},
        {"broken_7", "its name \"No Name\" is not 1 to 63"},
        {"broken_8", "it has no name; set one"},
        {"broken_9", "a row of 1099511627776 bytes is more than 1 MiB"},
        {"broken_10", "argument \"two words\": a key has no blanks"},
        {"broken_11", "argument weight: the default \"1.5\" is not an integer"},
        {"broken_12", "argument weight: the default 200 is outside 0..100"},
        {"broken_13", "argument weight: no help"},
        {"broken_14", "argument weight is in the table twice"},
        {"broken_15", "argument weight: unknown type 77"},
        {"broken_16", "argument weight: the range 5..1 is empty"},
        {"broken_17", "reads_pod_annotations has an empty key"},
        {"broken_20", "filter Nothing declares unknown dependencies"},
        {"broken_21", "filter 0 has no name or no fit"},
        {"broken_22", "score 0 has no name, or neither score nor raw with normalise"},
        {"broken_23", "n_filters does not go with filters"},
        {"broken_24", "it has reserve but not unreserve"},
    };
    struct maar_registry *registry = maar_registry_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        maar_autofree char *path = maar_asprintf("%s/%s.so", FIXTURES, rows[i].fixture);
        int rc = maar_registry_load_plugin_file(registry, path, &err);
        if (rc != -EINVAL)
            fail_msg("%s: %d %s", rows[i].fixture, rc, err.text);
        if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, rows[i].want))
            fail_msg("%s:\n  %s\n  %s", rows[i].fixture, err.text, rows[i].want);
        assert_int_equal(maar_registry_load_plugin_file(registry, path, NULL), -EINVAL);
    }
    assert_int_equal(maar_registry_n_plugins(registry), 0);
    maar_registry_destroy(registry);
}

/* Files that are no shared objects, made from one that is. */
static void other_files_are_refused_before_they_are_mapped(void **state)
{
    const char *folder = *state;
    maar_autofree char *path = maar_asprintf("%s/x.so", folder);
    size_t n = 0;
    maar_autofree char *good = read_file(FIXTURES "/example.so", &n);
    Elf64_Ehdr header;
    memcpy(&header, good, sizeof header);
    static const struct {
        const char *name;
        size_t offset;
        unsigned char value;
        const char *want;
    } rows[] = {
        {"magic", 0, 'x', "this is not a shared object (no ELF file)"},
        {"class", EI_CLASS, ELFCLASS32, "this was compiled for another machine"},
        {"machine", offsetof(Elf64_Ehdr, e_machine), 99, "this was compiled for another machine"},
        {"type", offsetof(Elf64_Ehdr, e_type), ET_EXEC, "an ELF file, but not a shared object"},
        {"program headers", offsetof(Elf64_Ehdr, e_phentsize), 1,
         "its program headers have a strange size"},
        {"far section headers", offsetof(Elf64_Ehdr, e_shoff) + 6, 1, "this file is cut off"},
        {"far program headers", offsetof(Elf64_Ehdr, e_phoff) + 6, 1, "this file is cut off"},
    };
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maar_autofree char *bad = maar_malloc(n);
        memcpy(bad, good, n);
        bad[rows[i].offset] = (char)rows[i].value;
        write_file(path, bad, n);
        assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), -EINVAL);
        if (!strstr(err.text, rows[i].want))
            fail_msg("%s: %s", rows[i].name, err.text);
    }
    for (size_t cut = 0; cut < n; cut += cut < 128 ? 1 : 97) {
        write_file(path, good, cut);
        if (maar_registry_load_plugin_file(registry, path, &err) != -EINVAL)
            fail_msg("cut after %zu of %zu bytes: %s", cut, n, err.text);
    }
    write_file(path, "#!/bin/sh\n", 10);
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), -EINVAL);
    assert_int_equal(maar_registry_load_plugin_file(registry, folder, &err), -EINVAL);
    assert_non_null(strstr(err.text, "this is not a file"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), -EINVAL);
    assert_int_equal(remove(path), 0);
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), -ENOENT);
    assert_int_equal(maar_registry_n_plugins(registry), 0);
    maar_registry_destroy(registry);
}

static void a_file_that_everybody_may_write_is_refused(void **state)
{
    const char *folder = *state;
    add_fixture(folder, "example", "x.so");
    maar_autofree char *path = maar_asprintf("%s/x.so", folder);
    assert_int_equal(chmod(path, 0757), 0);
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), -EPERM);
    assert_non_null(strstr(err.text, "everybody may write this file"));
    maar_registry_destroy(registry);
}

static void a_changed_file_is_a_new_plugin(void **state)
{
    const char *folder = *state;
    maar_autofree char *path = maar_asprintf("%s/x.so", folder);
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    add_fixture(folder, "example", "x.so");
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), 0);
    const struct maar_plugin *first = maar_registry_find_plugin(registry, "example");
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), 0);
    const struct maar_plugin *second = maar_registry_find_plugin(registry, "example");
    assert_ptr_not_equal(first, second);
    assert_int_equal(maar_registry_n_plugins(registry), 1);
    /* Written over in place: what is mapped does not change with it. */
    add_fixture(folder, "broken_0", "x.so");
    assert_int_equal(maar_registry_load_plugin_file(registry, path, &err), 0);
    assert_string_equal(first->name, "example");
    assert_string_equal(second->hooks.filters[0].name, "Avoid");
    assert_ptr_equal(maar_registry_find_plugin(registry, "example"), second);
    assert_non_null(maar_registry_find_plugin(registry, "broken"));
    maar_registry_destroy(registry);
}

static void keys_that_some_plugin_reads_are_known(void **state)
{
    (void)state;
    struct maar_registry *registry = maar_registry_create();
    assert_false(maar_registry_reads_pod_label(registry, "broken.example.com/label"));
    assert_int_equal(maar_registry_load_plugin_file(registry, FIXTURES "/broken_0.so", NULL), 0);
    assert_true(maar_registry_reads_pod_label(registry, "broken.example.com/label"));
    assert_false(maar_registry_reads_pod_label(registry, "broken.example.com/annotation"));
    assert_true(maar_registry_reads_pod_annotation(registry, "broken.example.com/annotation"));
    assert_false(maar_registry_reads_pod_annotation(registry, "broken.example.com/label"));
    maar_registry_destroy(registry);
}

/* ---- folders --------------------------------------------------------------------------------- */

static void folders_load_as_a_whole_or_not_at_all(void **state)
{
    const char *folder = *state;
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), 0);
    add_fixture(folder, "example", "a.so");
    add_fixture(folder, "too_little", "b.so");
    add_fixture(folder, "wrong_abi", "c.so");
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/c.so: it was built for ABI 1"));
    assert_int_equal(maar_registry_n_plugins(registry), 0);
    /* Out of the way: other endings, hidden files. */
    add_fixture(folder, "example", "c.so");
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/c.so: the plugin example is in "));
    assert_non_null(strstr(err.text, "/a.so already"));
    add_fixture(folder, "broken_0", "c.so");
    add_fixture(folder, "wrong_abi", "d.so.old");
    add_fixture(folder, "wrong_abi", ".e.so");
    if (maar_registry_load_plugins(registry, folder, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(maar_registry_n_plugins(registry), 3);
    maar_registry_destroy(registry);
}

static void folders_that_others_may_write_are_refused(void **state)
{
    const char *folder = *state;
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(chmod(folder, 0757), 0);
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), -EPERM);
    assert_non_null(strstr(err.text, "everybody may write here; chmod o-w it"));
    assert_int_equal(chmod(folder, 01777), 0);
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), -EPERM);
    if (geteuid() == 0) {
        assert_int_equal(chmod(folder, 0775), 0);
        assert_int_equal(chown(folder, 0, 4711), 0);
        assert_int_equal(maar_registry_load_plugins(registry, folder, &err), -EPERM);
        assert_non_null(strstr(err.text, "the group 4711 may write here; chmod g-w it"));
        assert_int_equal(chown(folder, 4711, 4711), 0);
        assert_int_equal(maar_registry_load_plugins(registry, folder, &err), 0);
        assert_int_equal(chown(folder, 0, 0), 0);
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), 0);
    maar_registry_destroy(registry);
}

static void missing_folders_and_files_as_folders_are_refused(void **state)
{
    const char *folder = *state;
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    maar_autofree char *missing = maar_asprintf("%s/missing", folder);
    assert_int_equal(maar_registry_load_plugins(registry, missing, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/missing: No such file or directory"));
    assert_int_equal(maar_registry_load_plugins(registry, FIXTURES "/example.so", &err), -EINVAL);
    assert_non_null(strstr(err.text, "this is not a folder"));
    maar_registry_destroy(registry);
}

static void actions_come_from_their_own_folder(void **state)
{
    const char *folder = *state;
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    const char *const *none = maar_registry_action_names(registry);
    assert_null(none[0]);
    add_fixture(folder, "action", "idle.so");
    if (maar_registry_load_actions(registry, folder, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(maar_registry_n_actions(registry), 1);
    assert_string_equal(maar_registry_action(registry, 0)->name, "idle");
    assert_non_null(maar_registry_find_action(registry, "idle"));
    assert_string_equal(maar_registry_action_names(registry)[0], "idle");
    assert_null(maar_registry_action_names(registry)[1]);
    assert_null(none[0]); /* names handed out before are still there */
    add_fixture(folder, "example", "x.so");
    assert_int_equal(maar_registry_load_actions(registry, folder, &err), -EINVAL);
    assert_non_null(strstr(err.text, "this is a plugin, not an action"));
    maar_registry_destroy(registry);
}

static void a_custom_plugin_shadows_one_of_the_same_name(void **state)
{
    const char *folder = *state;
    struct maar_registry *registry = maar_registry_create();
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_registry_load_plugin_file(registry, FIXTURES "/example.so", &err), 0);
    add_fixture(folder, "example", "mine.so");
    assert_int_equal(maar_registry_load_plugins(registry, folder, &err), 0);
    assert_int_equal(maar_registry_n_plugins(registry), 1);
    assert_non_null(strstr(maar_registry_plugin_path(registry, 0), "/mine.so"));
    maar_registry_destroy(registry);
}

/* ---- built-in modules ------------------------------------------------------------------------ */

/* Runs a copy of this program as `program` and lets it load the built-in modules; gives its exit
 * status: 0, or the errno of the failure. */
static int run_copy(const char *program, const char *module_dir)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (module_dir)
            (void)setenv("MAAR_MODULE_DIR", module_dir, 1);
        else
            (void)unsetenv("MAAR_MODULE_DIR");
        (void)execl(program, program, "--load-builtin", (char *)NULL);
        _exit(126);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int load_builtin(void)
{
    struct maar_registry *registry = maar_registry_create();
    int rc = maar_registry_load_builtin(registry, NULL);
    bool has_both = maar_registry_find_plugin(registry, "example") &&
                    maar_registry_find_action(registry, "idle");
    bool has_none =
        maar_registry_n_plugins(registry) == 0 && maar_registry_n_actions(registry) == 0;
    maar_registry_destroy(registry);
    if (rc == 0 ? !has_both : !has_none)
        return 127;
    return -rc;
}

static void add_modules(const char *base, const char *dir)
{
    maar_autofree char *plugins = maar_asprintf("%s/%s/plugins", base, dir);
    maar_autofree char *actions = maar_asprintf("%s/%s/actions", base, dir);
    assert_int_equal(mkdir(plugins, 0755), 0);
    assert_int_equal(mkdir(actions, 0755), 0);
    add_fixture(plugins, "example", "example.so");
    add_fixture(actions, "action", "idle.so");
}

static void builtin_modules_are_found_in_build_trees_and_installations(void **state)
{
    static const struct {
        const char *name, *dirs[4], *program, *modules;
    } rows[] = {
        {"build tree", {"bin"}, "bin/program", "bin"},
        {"installation", {"bin", "lib", "lib/maar"}, "bin/program", "lib/maar"},
        {"test program", {"bin", "test"}, "test/program", "bin"},
        {"test program beside fixtures", {"bin", "test", "test/plugins"}, "test/program", "bin"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maar_autofree char *base = maar_asprintf("%s/%zu", (const char *)*state, i);
        assert_int_equal(mkdir(base, 0755), 0);
        for (size_t j = 0; j < 4 && rows[i].dirs[j]; j++)
            make_dir(base, rows[i].dirs[j]);
        maar_autofree char *program = maar_asprintf("%s/%s", base, rows[i].program);
        copy_file("/proc/self/exe", program);
        if (run_copy(program, NULL) != ENOENT)
            fail_msg("%s: found something that is not there", rows[i].name);
        add_modules(base, rows[i].modules);
        if (run_copy(program, NULL) != 0)
            fail_msg("%s: not found", rows[i].name);
    }
}

static void builtin_modules_are_found_where_the_environment_says(void **state)
{
    const char *folder = *state;
    make_dir(folder, "bin");
    make_dir(folder, "elsewhere");
    maar_autofree char *program = maar_asprintf("%s/bin/program", folder);
    maar_autofree char *elsewhere = maar_asprintf("%s/elsewhere", folder);
    copy_file("/proc/self/exe", program);
    assert_int_equal(run_copy(program, elsewhere), ENOENT);
    add_modules(folder, "elsewhere");
    assert_int_equal(run_copy(program, elsewhere), 0);
    /* One bad action: no plugins either. */
    maar_autofree char *actions = maar_asprintf("%s/actions", elsewhere);
    add_fixture(actions, "example", "bad.so");
    assert_int_equal(run_copy(program, elsewhere), EINVAL);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_plugins_are_found_by_name_and_alias),
        cmocka_unit_test(wrong_plugins_are_refused_with_the_reason),
        IN_FOLDER(other_files_are_refused_before_they_are_mapped),
        IN_FOLDER(a_file_that_everybody_may_write_is_refused),
        IN_FOLDER(a_changed_file_is_a_new_plugin),
        cmocka_unit_test(keys_that_some_plugin_reads_are_known),
        IN_FOLDER(folders_load_as_a_whole_or_not_at_all),
        IN_FOLDER(folders_that_others_may_write_are_refused),
        IN_FOLDER(missing_folders_and_files_as_folders_are_refused),
        IN_FOLDER(actions_come_from_their_own_folder),
        IN_FOLDER(a_custom_plugin_shadows_one_of_the_same_name),
        IN_FOLDER(builtin_modules_are_found_in_build_trees_and_installations),
        IN_FOLDER(builtin_modules_are_found_where_the_environment_says),
    };
    if (argc == 2 && strcmp(argv[1], "--load-builtin") == 0)
        return load_builtin();
    (void)umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
