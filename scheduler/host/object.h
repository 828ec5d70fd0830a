/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_OBJECT_H
#define MAAR_HOST_OBJECT_H

/* One shared object: looked at before it is trusted, then mapped for good. */

#include <stddef.h>

#include "base/error.h"

enum maar_object_mapping {
    MAAR_OBJECT_COPY,     /* a copy, so that a file that changed under its name is another object */
    MAAR_OBJECT_IN_PLACE, /* the file itself, so that debuggers find it */
};

struct maar_object {
    void *handle;
};

/* Maps the file with all symbols resolved. -EINVAL when it is no shared object for this machine, a
 * Go plugin, or has unresolved symbols; -EPERM when everybody may write the file; another -errno of
 * open or read. The text does not name the file. */
int maar_object_open(struct maar_object *ret_object, const char *path,
                     enum maar_object_mapping mapping, struct maar_error *err)
    __attribute__((warn_unused_result));
/* The address of an exported symbol and its size in the symbol table (ret_n_bytes may be NULL);
 * NULL if none. */
void *maar_object_symbol(const struct maar_object *object, const char *name, size_t *ret_n_bytes);
/* -EINVAL and what to do with a plugin that was written in Go. */
int maar_object_refuse_go(struct maar_error *err);

#endif
