/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The registry keeps what scheduler.conf can name. A folder is loaded as a whole into a list of its
 * own and taken over only when every file of it passed, so a bad file changes nothing. Nothing is
 * ever unloaded: an instance of a replaced plugin may live until the next session, and code that is
 * mapped for good needs no counting. */

#include "host/registry.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "host/descriptor.h"
#include "host/object.h"

/* One loaded module: a plugin or an action, by the list it is in. */
struct entry {
    const char *name; /* the descriptor's */
    const void *descriptor;
    char *path;
};

struct entries {
    struct entry *data;
    size_t n;
    size_t capacity;
};

struct maar_registry {
    struct entries plugins; /* sorted by name */
    struct entries actions;
    const char **action_names;
    MAAR_VEC(const char **) old_action_names; /* handed out before, may still be in use */
    struct maar_map *pod_labels;              /* key → itself */
    struct maar_map *pod_annotations;
    struct maar_map *pod_group_annotations;
    struct maar_map *queue_annotations;
};

/* What differs between the two kinds of module. */
struct kind {
    const char *word;
    const char *a_word;
    const char *symbol;
    const struct kind *other;
    int (*check)(const void *descriptor, size_t n_bytes, struct maar_error *err);
    const char *(*name)(const void *descriptor);
};

static const char *plugin_name(const void *descriptor)
{
    return ((const struct maar_plugin *)descriptor)->name;
}

static const char *action_name(const void *descriptor)
{
    return ((const struct maar_action *)descriptor)->name;
}

static const struct kind action_kind;
static const struct kind plugin_kind = {.word = "plugin",
                                        .a_word = "a plugin",
                                        .symbol = MAAR_PLUGIN_SYMBOL,
                                        .other = &action_kind,
                                        .check = maar_descriptor_check_plugin,
                                        .name = plugin_name};
static const struct kind action_kind = {.word = "action",
                                        .a_word = "an action",
                                        .symbol = MAAR_ACTION_SYMBOL,
                                        .other = &plugin_kind,
                                        .check = maar_descriptor_check_action,
                                        .name = action_name};

/* ---- lists ----------------------------------------------------------------------------------- */

static void fini_entries(struct entries *entries)
{
    for (size_t i = 0; i < entries->n; i++)
        free(entries->data[i].path);
    maar_vec_fini(entries);
}

static struct entry *find_entry(const struct entries *entries, const char *name)
{
    for (size_t i = 0; i < entries->n; i++)
        if (strcmp(entries->data[i].name, name) == 0)
            return &entries->data[i];
    return NULL;
}

static int compare_entries(const void *l, const void *r)
{
    const struct entry *left = l;
    const struct entry *right = r;
    return strcmp(left->name, right->name);
}

/* Takes everything over from `loaded`, which is empty afterwards. */
static void take_entries(struct entries *into, struct entries *loaded)
{
    for (size_t i = 0; i < loaded->n; i++) {
        struct entry *there = find_entry(into, loaded->data[i].name);
        if (there) {
            free(there->path);
            *there = loaded->data[i];
        } else {
            maar_vec_push(into, loaded->data[i]);
        }
    }
    loaded->n = 0;
    if (into->n > 1)
        qsort(into->data, into->n, sizeof *into->data, compare_entries);
}

/* ---- what is known of all modules -------------------------------------------------------------
 */

static void add_keys(struct maar_map *set, const char *const *keys)
{
    /* The map wants a value; which one does not matter. */
    for (; keys && *keys; keys++)
        (void)maar_map_set(set, *keys, set);
}

static void rebuild_reads(struct maar_registry *registry)
{
    maar_map_clear(registry->pod_labels);
    maar_map_clear(registry->pod_annotations);
    maar_map_clear(registry->pod_group_annotations);
    maar_map_clear(registry->queue_annotations);
    for (size_t i = 0; i < registry->plugins.n; i++) {
        const struct maar_plugin *plugin = registry->plugins.data[i].descriptor;
        add_keys(registry->pod_labels, plugin->reads_pod_labels);
        add_keys(registry->pod_annotations, plugin->reads_pod_annotations);
        add_keys(registry->pod_group_annotations, plugin->reads_pod_group_annotations);
        add_keys(registry->queue_annotations, plugin->reads_queue_annotations);
    }
}

static void rebuild_action_names(struct maar_registry *registry)
{
    if (registry->action_names)
        maar_vec_push(&registry->old_action_names, registry->action_names);
    registry->action_names = maar_calloc(registry->actions.n + 1, sizeof *registry->action_names);
    for (size_t i = 0; i < registry->actions.n; i++)
        registry->action_names[i] = registry->actions.data[i].name;
}

struct maar_registry *maar_registry_create(void)
{
    struct maar_registry *registry = maar_calloc(1, sizeof *registry);
    registry->pod_labels = maar_map_create();
    registry->pod_annotations = maar_map_create();
    registry->pod_group_annotations = maar_map_create();
    registry->queue_annotations = maar_map_create();
    rebuild_action_names(registry);
    return registry;
}

void maar_registry_destroy(struct maar_registry *registry)
{
    if (!registry)
        return;
    fini_entries(&registry->plugins);
    fini_entries(&registry->actions);
    free((void *)registry->action_names);
    for (size_t i = 0; i < registry->old_action_names.n; i++)
        free((void *)registry->old_action_names.data[i]);
    maar_vec_fini(&registry->old_action_names);
    maar_map_destroy(registry->pod_labels);
    maar_map_destroy(registry->pod_annotations);
    maar_map_destroy(registry->pod_group_annotations);
    maar_map_destroy(registry->queue_annotations);
    free(registry);
}

static void take_plugins(struct maar_registry *registry, struct entries *loaded)
{
    take_entries(&registry->plugins, loaded);
    rebuild_reads(registry);
}

static void take_actions(struct maar_registry *registry, struct entries *loaded)
{
    take_entries(&registry->actions, loaded);
    rebuild_action_names(registry);
}

/* ---- loading ----------------------------------------------------------------------------------
 */

static int no_symbol(const struct kind *kind, struct maar_object *object, struct maar_error *err)
{
    if (maar_object_symbol(object, kind->other->symbol, NULL))
        return maar_error_set(err, -EINVAL, "this is %s, not %s; put it into the folder of the %ss",
                              kind->other->a_word, kind->a_word, kind->other->word);
    if (maar_object_symbol(object, "New", NULL))
        return maar_object_refuse_go(err);
    return maar_error_set(err, -EINVAL,
                          "it does not export the symbol %s; define it with MAAR_EXPORT as in "
                          "docs/plugin-guide.md",
                          kind->symbol);
}

static int load_file(const struct kind *kind, const char *path, enum maar_object_mapping mapping,
                     struct entries *into, struct maar_error *err)
{
    struct maar_object object;
    int rc = maar_object_open(&object, path, mapping, err);
    if (rc < 0)
        return maar_error_wrap(err, rc, "%s", path);
    size_t n_bytes = 0;
    const void *descriptor = maar_object_symbol(&object, kind->symbol, &n_bytes);
    rc = descriptor ? kind->check(descriptor, n_bytes, err) : no_symbol(kind, &object, err);
    if (rc < 0)
        return maar_error_wrap(err, rc, "%s", path);
    const char *name = kind->name(descriptor);
    const struct entry *there = find_entry(into, name);
    if (there)
        return maar_error_set(err, -EINVAL,
                              "%s: the %s %s is in %s already; remove one of the files", path,
                              kind->word, name, there->path);
    struct entry entry = {.name = name, .descriptor = descriptor, .path = maar_strdup(path)};
    maar_vec_push(into, entry);
    return 0;
}

/* Whoever may write into the folder runs code in this process. A group of root's, or the private
 * group that carries its owner's number, adds nobody. */
static int check_folder(const char *folder, struct maar_error *err)
{
    struct stat st;
    if (stat(folder, &st) < 0)
        return maar_error_set(err, -errno, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return maar_error_set(err, -EINVAL,
                              "%s: this is not a folder; give the folder of the .so files", folder);
    if (st.st_mode & S_IWOTH)
        return maar_error_set(err, -EPERM, "%s: everybody may write here; chmod o-w it", folder);
    if ((st.st_mode & S_IWGRP) && st.st_gid != 0 && st.st_gid != st.st_uid)
        return maar_error_set(err, -EPERM, "%s: the group %lu may write here; chmod g-w it", folder,
                              (unsigned long)st.st_gid);
    return 0;
}

static int is_object_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 3 && strcmp(entry->d_name + n - 3, ".so") == 0;
}

static int compare_names(const struct dirent **l, const struct dirent **r)
{
    return strcmp((*l)->d_name, (*r)->d_name);
}

static int load_folder(const struct kind *kind, const char *folder,
                       enum maar_object_mapping mapping, struct entries *into,
                       struct maar_error *err)
{
    int rc = check_folder(folder, err);
    if (rc < 0)
        return rc;
    struct dirent **files = NULL;
    int n = scandir(folder, &files, is_object_file, compare_names);
    if (n < 0)
        return maar_error_set(err, -errno, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (rc == 0) {
            maar_autofree char *path = maar_asprintf("%s/%s", folder, files[i]->d_name);
            rc = load_file(kind, path, mapping, into, err);
        }
        free(files[i]);
    }
    free(files);
    return rc;
}

int maar_registry_load_plugins(struct maar_registry *registry, const char *folder,
                               struct maar_error *err)
{
    struct entries loaded = {0};
    int rc = load_folder(&plugin_kind, folder, MAAR_OBJECT_COPY, &loaded, err);
    if (rc == 0)
        take_plugins(registry, &loaded);
    fini_entries(&loaded);
    return rc;
}

int maar_registry_load_actions(struct maar_registry *registry, const char *folder,
                               struct maar_error *err)
{
    struct entries loaded = {0};
    int rc = load_folder(&action_kind, folder, MAAR_OBJECT_COPY, &loaded, err);
    if (rc == 0)
        take_actions(registry, &loaded);
    fini_entries(&loaded);
    return rc;
}

int maar_registry_load_plugin_file(struct maar_registry *registry, const char *path,
                                   struct maar_error *err)
{
    struct entries loaded = {0};
    int rc = load_file(&plugin_kind, path, MAAR_OBJECT_COPY, &loaded, err);
    if (rc == 0)
        take_plugins(registry, &loaded);
    fini_entries(&loaded);
    return rc;
}

/* ---- the built-in modules ---------------------------------------------------------------------
 */

static bool has_folder(const char *base, const char *name)
{
    maar_autofree char *path = maar_asprintf("%s/%s", base, name);
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The folder of the running program. */
static int program_folder(char *out, size_t size, struct maar_error *err)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n <= 0)
        return maar_error_set(err, -ENOENT, "/proc/self/exe: %s; mount /proc", strerror(errno));
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return 0;
}

/* A place counts when it has both folders, so that a folder which happens to be named `plugins`
 * does not. The order: a build tree, an installation, a test program of a build tree. NULL when
 * there is none. */
static char *find_modules(const char *program_dir)
{
    static const char *const places[] = {"", "/../lib/maar", "/../bin"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        maar_autofree char *base = maar_asprintf("%s%s", program_dir, places[i]);
        if (has_folder(base, "plugins") && has_folder(base, "actions"))
            return maar_strdup(base);
    }
    const char *named = secure_getenv("MAAR_MODULE_DIR");
    if (named && has_folder(named, "plugins") && has_folder(named, "actions"))
        return maar_strdup(named);
    return NULL;
}

int maar_registry_load_builtin(struct maar_registry *registry, struct maar_error *err)
{
    char program_dir[PATH_MAX];
    int rc = program_folder(program_dir, sizeof program_dir, err);
    if (rc < 0)
        return rc;
    maar_autofree char *base = find_modules(program_dir);
    if (!base)
        return maar_error_set(err, -ENOENT,
                              "no folder with plugins/ and actions/ in %s, %s/../lib/maar, "
                              "$MAAR_MODULE_DIR; reinstall, or set MAAR_MODULE_DIR",
                              program_dir, program_dir);
    maar_autofree char *plugins_dir = maar_asprintf("%s/plugins", base);
    maar_autofree char *actions_dir = maar_asprintf("%s/actions", base);
    struct entries plugins = {0};
    struct entries actions = {0};
    rc = load_folder(&plugin_kind, plugins_dir, MAAR_OBJECT_IN_PLACE, &plugins, err);
    if (rc == 0)
        rc = load_folder(&action_kind, actions_dir, MAAR_OBJECT_IN_PLACE, &actions, err);
    if (rc == 0) {
        take_plugins(registry, &plugins);
        take_actions(registry, &actions);
    }
    fini_entries(&plugins);
    fini_entries(&actions);
    return rc;
}

/* ---- questions --------------------------------------------------------------------------------
 */

static bool has_alias(const struct maar_plugin *plugin, const char *name)
{
    for (const char *const *alias = plugin->aliases; alias && *alias; alias++)
        if (strcmp(*alias, name) == 0)
            return true;
    return false;
}

const struct maar_plugin *maar_registry_find_plugin(const struct maar_registry *registry,
                                                    const char *name)
{
    const struct entry *entry = find_entry(&registry->plugins, name);
    if (entry)
        return entry->descriptor;
    for (size_t i = 0; i < registry->plugins.n; i++)
        if (has_alias(registry->plugins.data[i].descriptor, name))
            return registry->plugins.data[i].descriptor;
    return NULL;
}

const struct maar_action *maar_registry_find_action(const struct maar_registry *registry,
                                                    const char *name)
{
    const struct entry *entry = find_entry(&registry->actions, name);
    return entry ? entry->descriptor : NULL;
}

size_t maar_registry_n_plugins(const struct maar_registry *registry)
{
    return registry->plugins.n;
}

const struct maar_plugin *maar_registry_plugin(const struct maar_registry *registry, size_t i)
{
    return registry->plugins.data[i].descriptor;
}

const char *maar_registry_plugin_path(const struct maar_registry *registry, size_t i)
{
    return registry->plugins.data[i].path;
}

size_t maar_registry_n_actions(const struct maar_registry *registry)
{
    return registry->actions.n;
}

const struct maar_action *maar_registry_action(const struct maar_registry *registry, size_t i)
{
    return registry->actions.data[i].descriptor;
}

const char *const *maar_registry_action_names(const struct maar_registry *registry)
{
    return registry->action_names;
}

bool maar_registry_reads_pod_label(const struct maar_registry *registry, const char *key)
{
    return maar_map_find(registry->pod_labels, key) != NULL;
}

bool maar_registry_reads_pod_annotation(const struct maar_registry *registry, const char *key)
{
    return maar_map_find(registry->pod_annotations, key) != NULL;
}

bool maar_registry_reads_pod_group_annotation(const struct maar_registry *registry, const char *key)
{
    return maar_map_find(registry->pod_group_annotations, key) != NULL;
}

bool maar_registry_reads_queue_annotation(const struct maar_registry *registry, const char *key)
{
    return maar_map_find(registry->queue_annotations, key) != NULL;
}
