/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_YAML_H
#define MAAR_CONF_YAML_H

/* YAML text → a tree with positions. Aliases are copied and merge keys (<<) resolved, so the tree
 * is a plain one. */

#include "base/error.h"
#include "conf/arguments.h"

/* Bounds of one document, aliases counted as often as they are used. */
#define MAAR_YAML_MAX_BYTES      ((size_t)1 << 20)
#define MAAR_YAML_MAX_NODES      100000u
#define MAAR_YAML_MAX_TEXT_BYTES ((size_t)8 << 20)
#define MAAR_YAML_MAX_DEPTH      64u

/* Called for what is tolerated but hardly meant: a key written twice (the last one counts), a
 * second document (not read). `text` is the callee's to copy. */
typedef void (*maar_yaml_warn_fn)(void *context, int line, int column, const char *text);

/* Reads the first document. An empty one gives a null scalar at 1:1. 0 and a tree that is the
 * caller's to maar_argument_node_fini, or -EINVAL with "source:line:column: what is wrong". */
int maar_yaml_read(const char *text, size_t n, const char *source, maar_yaml_warn_fn warn,
                   void *context, struct maar_argument_node *ret_root, struct maar_error *err)
    __attribute__((warn_unused_result));

#endif
