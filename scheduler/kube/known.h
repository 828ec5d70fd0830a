/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_KNOWN_H
#define MAAR_KUBE_KNOWN_H

/* The objects of one kind that the engine has been told of: what a new list lacks can then be reported as deleted.
 * For kinds whose status is written as a whole object, the newest JSON text is kept beside it. Not thread-safe. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record.h"

struct maar_known;

enum maar_known_change {
    MAAR_KNOWN_NEW,
    MAAR_KNOWN_SAME, /* this very version is known */
    MAAR_KNOWN_CHANGED,
    MAAR_KNOWN_REPLACED, /* the name is there with another uid */
};

struct maar_known *maar_known_create(bool keeps_text);
/* Accepts NULL. */
void maar_known_destroy(struct maar_known *known);
size_t maar_known_n(const struct maar_known *known);

/* Notes that the object is there now, as seen by the present list. On REPLACED *ret_old_uid is the former uid, the
 * caller's to free. */
enum maar_known_change maar_known_note(struct maar_known *known, const struct maar_record *record,
                                       char **ret_old_uid);
/* Forgets an object; false when it was not known. */
bool maar_known_remove(struct maar_known *known, const char *ns, const char *name);
/* NULL when the object is not known. */
const char *maar_known_uid(const struct maar_known *known, const char *ns, const char *name);

/* Begins a list; objects that are not noted until the sweep are gone. */
void maar_known_begin_list(struct maar_known *known);
typedef void (*maar_known_gone_fn)(void *context, const char *ns, const char *name,
                                   const char *uid);
/* Calls back for each object that the list did not have, and forgets it. */
void maar_known_sweep(struct maar_known *known, maar_known_gone_fn gone, void *context);

/* Keeps the text of a known object, unless a newer version is kept already. managedFields are left out: a server
 * keeps them when a PUT does not name them. */
void maar_known_keep_text(struct maar_known *known, const char *ns, const char *name,
                          const json_t *object);
/* The newest text as JSON, a new reference, and its version. NULL when there is none. */
json_t *maar_known_object(const struct maar_known *known, const char *ns, const char *name,
                          uint64_t *ret_version);

/* The version of the kept text; 0 when there is none. */
uint64_t maar_known_text_version(const struct maar_known *known, const char *ns, const char *name);

/* A resourceVersion as a number; 0 when it is none. Kubernetes promises that they can be compared. */
uint64_t maar_version_number(const char *resource_version);

#endif
