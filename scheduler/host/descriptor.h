/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_HOST_DESCRIPTOR_H
#define MAAR_HOST_DESCRIPTOR_H

/* Is a module's descriptor one that this host can use? -EINVAL with what is wrong and what its
 * author can do. The text does not name the file. */

#include <stddef.h>

#include <maar/action.h>
#include <maar/plugin.h>

#include "base/error.h"

/* `descriptor` is the exported object, `n_bytes` its size in the symbol table. Nothing behind these
 * bytes is read before the ABI number and the size have been found right. */
int maar_descriptor_check_plugin(const void *descriptor, size_t n_bytes, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_descriptor_check_action(const void *descriptor, size_t n_bytes, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
