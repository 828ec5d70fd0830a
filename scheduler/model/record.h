/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_RECORD_H
#define MAAR_MODEL_RECORD_H

/* What wire/ makes of a Kubernetes object: the fields that scheduling reads, in an arena of their own. No JSON tree
 * survives decoding. Texts are plain (the world interns them), "" where absent. Amounts are saturated int64: cpu in
 * milli-CPU, rounded up; everything else in whole base units, rounded up; negative ones are kept as they are. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maar/view.h>

#include "base/arena.h"

enum maar_kind {
    MAAR_KIND_NODE,
    MAAR_KIND_PRIORITY_CLASS,
    MAAR_KIND_QUEUE,
    MAAR_KIND_POD_GROUP,
    MAAR_KIND_POD,
    MAAR_KIND_NAMESPACE,
    MAAR_N_KINDS,
};

/* "Node", "Pod", … */
const char *maar_kind_name(enum maar_kind kind);

struct maar_amount {
    const char *name;
    int64_t value;
};

struct maar_amounts_record {
    uint32_t n;
    struct maar_amount *items;
};

struct maar_container_record {
    bool restart_always; /* init containers: a sidecar */
    struct maar_amounts_record requests;
    /* In-place resize, from the container's status; has_status_resources is false without one. */
    bool has_status_resources;
    struct maar_amounts_record status_requests;
    struct maar_amounts_record status_allocated;
};

enum maar_pod_phase {
    MAAR_POD_PENDING,
    MAAR_POD_RUNNING,
    MAAR_POD_SUCCEEDED,
    MAAR_POD_FAILED,
    MAAR_POD_UNKNOWN, /* "Unknown" and every other text */
};

struct maar_condition_record {
    const char *type;
    const char *status;
    const char *reason;
    const char *message;
    const char *transition_id; /* PodGroup conditions only */
};

struct maar_pod_record {
    const char *node_name;
    const char *nominated_node;
    const char *group; /* scheduling.k8s.io/group-name, else scheduling.volcano.sh/group-name */
    const char *role;
    enum maar_pod_phase phase;
    bool deleting; /* has a deletionTimestamp */
    bool has_priority;
    int32_t priority;
    bool has_task_priority;
    int32_t task_priority;
    bool preemptable;
    uint32_t n_gates;
    const char *gates; /* their names, joined; "" without */
    bool only_queue_gate;
    bool asks_queue_gate;
    uint32_t n_labels;
    struct maar_label *labels; /* sorted by key */
    uint32_t n_annotations;    /* those that a loaded plugin reads, sorted by key */
    struct maar_label *annotations;
    /* Requests, as the one pod-request function takes them (model/pod_request.h). */
    uint32_t n_containers;
    struct maar_container_record *containers;
    uint32_t n_init_containers;
    struct maar_container_record *init_containers;
    struct maar_amounts_record pod_level; /* spec.resources.requests */
    struct maar_amounts_record overhead;
    bool resize_infeasible;    /* condition PodResizePending with reason Infeasible */
    struct maar_pod_spec spec; /* texts not interned yet */
    /* The conditions that the scheduler writes: PodScheduled. type is "" when the pod has none. */
    struct maar_condition_record scheduled_condition;
};

struct maar_image_record {
    const char *name;
    int64_t size_bytes;
};

struct maar_node_record {
    uint32_t n_labels;
    struct maar_label *labels; /* sorted by key */
    uint32_t n_taints;
    struct maar_taint *taints;
    bool unschedulable;
    bool ready;
    struct maar_amounts_record allocatable;
    uint32_t n_images;
    struct maar_image_record *images; /* sorted by name, each once */
};

struct maar_role_min {
    const char *role;
    int32_t min;
};

/* An entry of subGroupPolicy. */
struct maar_sub_group_record {
    const char *name;
    int32_t size; /* 1 when absent */
    int32_t min;
    bool has_topology;
    struct maar_label_selector selector; /* not set: takes every pod */
    uint32_t n_match_keys;
    const char *const *match_keys;
};

struct maar_pod_group_record {
    const char *queue; /* "" when not named */
    const char *priority_class;
    int32_t min_member;
    uint32_t n_min_task;
    struct maar_role_min *min_task; /* sorted by role */
    bool has_min_resources;
    struct maar_amounts_record min_resources;
    bool has_topology;
    uint32_t n_sub_groups;
    struct maar_sub_group_record *sub_groups;
    enum maar_phase phase;
    int32_t running;
    int32_t succeeded;
    int32_t failed;
    uint32_t n_conditions;
    struct maar_condition_record *conditions;
    uint32_t n_annotations; /* those that a loaded plugin reads */
    struct maar_label *annotations;
};

struct maar_queue_record {
    int32_t weight;
    int32_t priority;
    bool reclaimable; /* true when absent */
    enum maar_queue_state state;
    enum maar_dequeue_strategy dequeue_strategy;
    const char *parent;
    struct maar_amounts_record capability;
    struct maar_amounts_record deserved;
    struct maar_amounts_record guarantee;
    struct maar_amounts_record allocated; /* status, for writing only on change */
    uint32_t n_annotations;
    struct maar_label *annotations;
};

struct maar_priority_class_record {
    int32_t value;
    bool global_default;
};

struct maar_namespace_record {
    uint32_t n_labels;
    struct maar_label *labels; /* sorted by key */
};

struct maar_record {
    struct maar_arena *arena; /* owns every text and array below, and the record itself */
    enum maar_kind kind;
    const char *uid;
    const char *ns; /* "" for cluster-scoped kinds */
    const char *name;
    const char *resource_version;
    int64_t created_ns; /* 0 when absent */
    /* Why the object cannot be used as it is (a quantity that does not parse, a value out of range): it is
     * quarantined, its pods wait with this text. "" when it is sound. */
    const char *fault;
    /* What is wrong with it that does not stop it from being used: for the log. "" when nothing is. */
    const char *warning;
    union {
        struct maar_pod_record pod;
        struct maar_node_record node;
        struct maar_pod_group_record pod_group;
        struct maar_queue_record queue;
        struct maar_priority_class_record priority_class;
        struct maar_namespace_record space;
    };
};

/* A record with an arena of its own, all zero but kind and texts "". */
struct maar_record *maar_record_create(enum maar_kind kind);
/* Accepts NULL. */
void maar_record_destroy(struct maar_record *record);

enum maar_delta_type {
    MAAR_DELTA_UPSERT, /* the object as it is now */
    MAAR_DELTA_DELETE, /* kind, ns, name and uid of record are set */
    MAAR_DELTA_SYNCED, /* the initial list of `kind` has been delivered; record is NULL */
    MAAR_DELTA_DONE,   /* a submitted write was answered; record is NULL */
};

struct maar_write;

struct maar_delta {
    enum maar_delta_type type;
    enum maar_kind kind;
    struct maar_record *record; /* owned by whoever holds the delta */
    /* MAAR_DELTA_DONE: the write comes back to its maker, who destroys it. */
    struct maar_write *write;
    int code;          /* HTTP status; 2xx is success, 0 when no answer came */
    char message[256]; /* the server's message, "" on success */
};

/* Frees what the delta owns (not the delta itself). */
void maar_delta_fini(struct maar_delta *delta);

#endif
