/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_WATCH_H
#define MAAR_WIRE_WATCH_H

/* What JSON and protobuf frames of a watch share. Inside wire/ only. */

#include "wire/wire.h"

/* "ADDED", …; -EINVAL for another text. */
int maar_watch_type_parse(const char *text, size_t n, enum maar_watch_type *ret_type,
                          struct maar_error *err) __attribute__((warn_unused_result));
/* -EINVAL when it does not fit. */
int maar_watch_set_version(struct maar_watch_event *event, const char *text, size_t n,
                           struct maar_error *err) __attribute__((warn_unused_result));

#endif
