/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_REGISTRY_H
#define MAAR_HOST_REGISTRY_H

/* The modules that can be named in scheduler.conf: shared objects found in folders, loaded with
 * dlopen, checked against the ABI, never unloaded. */

#include <maar/action.h>
#include <maar/plugin.h>

#include "base/error.h"

struct maar_registry;

struct maar_registry *maar_registry_create(void);
/* Accepts NULL. Shared objects stay mapped. */
void maar_registry_destroy(struct maar_registry *registry);

/* Loads every *.so of a folder as plugins, in name order. Refuses a folder that others than its
 * owner may write, a file that is no plugin (wrong ABI, no symbol, unresolved symbols, a Go
 * plugin): -EINVAL, -EPERM, -ENOENT with the file and what to do. All or nothing. A name that is
 * there already is replaced by the new one (a custom plugin may shadow a built-in one); the
 * replaced one stays mapped. */
int maar_registry_load_plugins(struct maar_registry *registry, const char *folder,
                               struct maar_error *err) __attribute__((warn_unused_result));
int maar_registry_load_actions(struct maar_registry *registry, const char *folder,
                               struct maar_error *err) __attribute__((warn_unused_result));
/* One file. A copy is mapped, so that a file that changed under the same name is a new plugin. */
int maar_registry_load_plugin_file(struct maar_registry *registry, const char *path,
                                   struct maar_error *err) __attribute__((warn_unused_result));
/* The built-in modules: folders `plugins` and `actions` beside the running program, else under the
 * installed library folder, else $MAAR_MODULE_DIR. */
int maar_registry_load_builtin(struct maar_registry *registry, struct maar_error *err)
    __attribute__((warn_unused_result));

/* By name or alias; NULL when unknown. */
const struct maar_plugin *maar_registry_find_plugin(const struct maar_registry *registry,
                                                    const char *name);
const struct maar_action *maar_registry_find_action(const struct maar_registry *registry,
                                                    const char *name);
/* Sorted by name. */
size_t maar_registry_n_plugins(const struct maar_registry *registry);
const struct maar_plugin *maar_registry_plugin(const struct maar_registry *registry, size_t i);
const char *maar_registry_plugin_path(const struct maar_registry *registry, size_t i);
size_t maar_registry_n_actions(const struct maar_registry *registry);
const struct maar_action *maar_registry_action(const struct maar_registry *registry, size_t i);
/* NULL-terminated names of all actions, for maar_conf_parse; lives as long as the registry. */
const char *const *maar_registry_action_names(const struct maar_registry *registry);
/* Labels and annotations that some loaded plugin declares to read: bind for the decoder. */
bool maar_registry_reads_pod_label(const struct maar_registry *registry, const char *key);
bool maar_registry_reads_pod_annotation(const struct maar_registry *registry, const char *key);
bool maar_registry_reads_pod_group_annotation(const struct maar_registry *registry,
                                              const char *key);
bool maar_registry_reads_queue_annotation(const struct maar_registry *registry, const char *key);

#endif
