/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Reading scheduler.conf again when it has changed. */

#include "daemon/conf_file.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"

static struct maar_conf_file version_of(const struct maar_conf_file *file)
{
    struct maar_conf_file version = {.path = file->path, .registry = file->registry};
    struct stat status;

    if (stat(file->path, &status) < 0)
        return version;
    version.device = (uint64_t)status.st_dev;
    version.inode = (uint64_t)status.st_ino;
    version.size = (int64_t)status.st_size;
    version.changed_ns = status.st_mtim.tv_sec * MAAR_SECOND_NS + status.st_mtim.tv_nsec;
    return version;
}

int maar_conf_file_read(struct maar_conf_file *file, struct maar_conf **ret_conf,
                        struct maar_error *err)
{
    struct maar_conf *conf;
    int r;

    /* Before reading: a change in between shows next time. */
    *file = version_of(file);
    r = maar_conf_read(file->path, maar_registry_action_names(file->registry), &conf, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < conf->n_warnings; i++)
        maar_log_warning("%s:%d:%d: %s", file->path, conf->warnings[i].line,
                         conf->warnings[i].column, conf->warnings[i].text);
    *ret_conf = conf;
    return 0;
}

bool maar_conf_file_has_changed(const struct maar_conf_file *file)
{
    struct maar_conf_file version;

    if (!*file->path)
        return false;
    version = version_of(file);
    /* A file that is away for a moment is being replaced. */
    if (!version.inode)
        return false;
    return version.device != file->device || version.inode != file->inode ||
           version.size != file->size || version.changed_ns != file->changed_ns;
}
