/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_REFLECTOR_H
#define MAAR_KUBE_REFLECTOR_H

/* Follows one kind of object: lists it page by page, then watches it from the list's version on; resumes, lists again
 * when the server has forgotten that version, and reports what vanished meanwhile. Uses one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "kube/call.h"
#include "kube/known.h"
#include "model/record.h"
#include "wire/wire.h"

struct maar_reflector;

struct maar_reflector_options {
    enum maar_kind kind;
    struct maar_kube_transport transport;
    struct maar_wire_options decode;
    /* Takes over what the delta holds. */
    void (*emit)(void *context, const struct maar_delta *delta);
    /* Everything up to this resourceVersion has been emitted. */
    void (*delivered)(void *context, enum maar_kind kind, const char *resource_version);
    /* While true no further page is asked for: the receiver is behind. May be NULL. */
    bool (*is_full)(void *context);
    void *context;
    unsigned page_size; /* 0: 500 */
    uint64_t seed;      /* of the jitter; not 0 */
    bool keeps_text;    /* the newest JSON of each object (JSON kinds only) */
};

struct maar_reflector_counters {
    uint64_t n_pages;
    uint64_t n_lists; /* begun */
    uint64_t n_watches;
    uint64_t n_events; /* without bookmarks */
};

struct maar_reflector *maar_reflector_create(const struct maar_reflector_options *options);
/* Accepts NULL. Cancels what runs. */
void maar_reflector_destroy(struct maar_reflector *reflector);
/* Starts what is due. Returns when it wants to be called again (monotonic), INT64_MAX while a call runs. */
int64_t maar_reflector_tick(struct maar_reflector *reflector);
/* The list is in (and stays true afterwards). */
bool maar_reflector_is_synced(const struct maar_reflector *reflector);
struct maar_known *maar_reflector_known(const struct maar_reflector *reflector);
struct maar_reflector_counters maar_reflector_counters(const struct maar_reflector *reflector);

#endif
