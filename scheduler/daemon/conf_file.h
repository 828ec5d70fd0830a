/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_CONF_FILE_H
#define MAAR_DAEMON_CONF_FILE_H

/* scheduler.conf on disk: what it holds now, and whether it has changed. A ConfigMap changes by a symbolic link that
 * moves, so the file behind the path is compared, not the path. */

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "host/registry.h"

struct maar_conf_file {
    const char *path; /* "" without a file */
    const struct maar_registry *registry;
    /* Of the version that was read last. */
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_ns;
};

/* Reads the file and logs its warnings; the conf is the caller's. */
int maar_conf_file_read(struct maar_conf_file *file, struct maar_conf **ret_conf,
                        struct maar_error *err) __attribute__((warn_unused_result));
/* Another version than the one read last is there. */
bool maar_conf_file_has_changed(const struct maar_conf_file *file);

#endif
