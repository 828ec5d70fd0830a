/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_REQUEST_H
#define MAAR_SIM_REQUEST_H

/* Paths of the Kubernetes API ↔ places in the store, and the writes among its requests. */

#include "sim/store.h"

struct maar_api_target {
    struct maar_collection *collection;
    char ns[256];   /* "" for cluster scope or all namespaces */
    char name[256]; /* "" for the collection */
    char subresource[64];
};

/* "/api/v1/namespaces/default/pods/a/binding" and its like, without query. 0, or 404 with the
 * answer filled in. */
int maar_api_target_parse(const struct maar_store *store, const char *path,
                          struct maar_api_target *ret_target, struct maar_answer *answer);

/* POST, PUT, PATCH or DELETE on a parsed target; returns answer->code. `content_type` tells the
 * patch format. A POST goes through the admission of sim/admission.h. */
int maar_api_write(struct maar_store *store, const struct maar_api_target *target,
                   const char *method, const char *content_type, const json_t *body,
                   struct maar_answer *answer);

/* The same on a path, but only pretended (dryRun=All): the answer is the real one and nothing changes. Under the
 * store's lock; returns answer->code. */
int maar_api_dry_run(const struct maar_store *store, const char *path, const char *method,
                     const char *content_type, const json_t *body, struct maar_answer *answer);

#endif
