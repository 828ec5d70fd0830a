/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_EDIT_H
#define MAAR_SIM_EDIT_H

/* Changes of a cluster in a few words, for what-if questions:
 *
 *     EDITS    = EDIT { ";" EDIT }
 *     EDIT     = ( "node" | "queue" | "podgroup" | "pod" ) NAME { WORD }
 *     NAME     = as in manifests, "namespace/name" for PodGroups and pods; n[1-8] is a range
 *     WORD     = KEY "=" VALUE | "label" K=V | "label" K- | "taint" K=V:EFFECT | "taint" K- | "delete"
 *
 * Names and words may be quoted. An object that does not exist is made, pods excepted. */

#include <jansson.h>

#include "base/error.h"
#include "base/vec.h"
#include "sim/cluster.h"

struct maar_edit_word {
    char *key;   /* "cpu", "label", "delete" */
    char *value; /* "" for delete; a trailing "-" of label and taint is kept */
    size_t column;
};

enum maar_edit_kind {
    MAAR_EDIT_NODE,
    MAAR_EDIT_QUEUE,
    MAAR_EDIT_POD_GROUP,
    MAAR_EDIT_POD,
    MAAR_EDIT_N_KINDS,
};

struct maar_edit {
    int kind;   /* enum maar_edit_kind */
    char *text; /* as written */
    char *name;
    size_t name_column;
    MAAR_VEC(struct maar_edit_word) words;
};

struct maar_edits {
    MAAR_VEC(struct maar_edit) items;
};

/* Appends the edits of a text. -EINVAL with the column, what was expected and the nearest known word. */
int maar_edits_read(struct maar_edits *edits, const char *text, struct maar_error *err)
    __attribute__((warn_unused_result));
void maar_edits_fini(struct maar_edits *edits);
/* Makes the changes, under the store's lock. Pods of a node that is deleted wait again; those of other schedulers go with
 * it. -EINVAL when an object is not there or cannot be as asked. */
int maar_edits_apply(const struct maar_edits *edits, struct maar_cluster *cluster,
                     struct maar_error *err) __attribute__((warn_unused_result));

#endif
