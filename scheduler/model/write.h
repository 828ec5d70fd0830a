/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_WRITE_H
#define MAAR_MODEL_WRITE_H

/* What the scheduler asks of the API, as data. wire/ turns it into a request, a backend sends it, and it comes back
 * in a MAAR_DELTA_DONE. */

#include <stdbool.h>
#include <stdint.h>

#include "model/record.h"

/* Lanes of the outbox are served in this order. */
enum maar_write_kind {
    MAAR_WRITE_BIND,
    MAAR_WRITE_EVICT,
    MAAR_WRITE_UNGATE, /* takes the queue's scheduling gate off a pod */
    MAAR_WRITE_POD_GROUP_STATUS,
    MAAR_WRITE_POD_CONDITION,
    MAAR_WRITE_QUEUE_STATUS,
    MAAR_WRITE_QUEUE_CREATE, /* root and the default queue, when missing */
    MAAR_WRITE_EVENT,
    MAAR_N_WRITE_KINDS,
};

/* "bind", "evict", "ungate", "podgroup-status", "pod-condition", "queue-status", "queue-create", "event". */
const char *maar_write_kind_name(enum maar_write_kind kind);

struct maar_write {
    struct maar_arena *arena; /* owns the write and its texts */
    enum maar_write_kind kind;
    const char *ns; /* of the object: pod, PodGroup, queue ("") */
    const char *name;
    const char *uid;
    int64_t now_ns; /* the session's clock: timestamps in the body */
    union {
        struct {
            const char *node;
            uint32_t n_annotations; /* merged into the pod by the server */
            struct maar_label *annotations;
        } bind;
        struct {
            const char *reason; /* "preempt", … */
            const char *action;
            const char *beneficiary; /* "ns/podgroup" that the room is for */
        } evict;
        struct {
            enum maar_phase phase;
            int32_t running;
            int32_t succeeded;
            int32_t failed;
            bool has_condition; /* replaces the one of its type in place, else is appended */
            struct maar_condition_record condition;
        } pod_group_status;
        struct {
            struct maar_condition_record condition; /* PodScheduled=False */
            const char *nominated_node;             /* "" leaves it alone */
        } pod_condition;
        struct {
            struct maar_amounts_record allocated;
        } queue_status;
        struct {
            int32_t weight;
            bool reclaimable;
        } queue_create;
        struct {
            enum maar_kind object; /* MAAR_KIND_POD or MAAR_KIND_POD_GROUP */
            bool about_lease;      /* the object is a Lease, whatever `object` says */
            const char *type;      /* "Normal", "Warning" */
            const char *reason;
            const char *message;
            const char *source; /* component */
        } event;
    };
};

struct maar_write *maar_write_create(enum maar_write_kind kind, const char *ns, const char *name,
                                     const char *uid);
/* Accepts NULL. */
void maar_write_destroy(struct maar_write *write);

#endif
