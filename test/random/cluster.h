/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_RANDOM_CLUSTER_H
#define MAAR_TEST_RANDOM_CLUSTER_H

/* A small cluster as an API server holds it: plain structs that a test changes, and the records made of them. */

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "model/record.h"
#include "model/write.h"

/* ---- random numbers: the same on every machine ---- */

struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *rng);
/* 0 … n-1; n > 0. */
uint32_t rng_below(struct rng *rng, uint32_t n);
/* True in `percent` of the cases. */
bool rng_chance(struct rng *rng, uint32_t percent);
#define RNG_PICK(rng, array) ((array)[rng_below(rng, (uint32_t)(sizeof(array) / sizeof *(array)))])

/* ---- objects ---- */

enum { CPU, MEMORY, PODS, GPU, NIC, NOWHERE, N_AMOUNTS };
extern const char *const amount_names[N_AMOUNTS];

struct amounts {
    uint32_t named; /* bit i: amount i is named */
    int64_t v[N_AMOUNTS];
};

#define FEW 4

struct labels {
    uint32_t n;
    struct maar_label items[FEW]; /* texts that live as long as the object, sorted by key */
};

struct term {
    uint32_t n;
    struct maar_requirement items[2];
    const char *values[2][2];
};

/* A selector of labels; a set one without requirements matches everything. */
struct selector {
    bool is_set;
    struct term term;
};

/* A term of pod (anti-)affinity; without namespaces it means those of the pod. */
struct affinity_term {
    int32_t weight;
    const char *topology_key;
    struct selector selector;
    uint32_t n_namespaces;
    const char *namespaces[2];
    struct selector namespace_selector;
};

enum affinity_list { AFFINITY, ANTI_AFFINITY, PREFERRED_AFFINITY, PREFERRED_ANTI_AFFINITY };
#define N_AFFINITY_LISTS 4

struct affinity {
    uint32_t n;
    struct affinity_term terms[2];
};

struct spread {
    int32_t max_skew, min_domains;
    const char *topology_key;
    bool hard, honor_affinity, honor_taints;
    struct selector selector;
};

#define N_IMAGES 3
extern const char *const image_names[N_IMAGES]; /* sorted */

struct node_object {
    struct labels labels;
    uint32_t n_taints;
    struct maar_taint taints[2];
    bool unschedulable, ready;
    struct amounts allocatable;
    uint32_t images; /* bit i: the image number i */
};

struct group_object {
    char queue[24];
    const char *priority_class;
    int32_t min;
    uint32_t n_roles;
    struct maar_role_min roles[2];
    /* Sub-groups by the label app; size 0: none. */
    int32_t sub_group_size, min_sub_groups;
    bool has_min_resources;
    struct amounts min_resources;
    enum maar_phase phase;
    int32_t running, succeeded, failed;
    uint32_t n_conditions;
    struct {
        char type[32], status[8], reason[64], *message;
    } conditions[2];
};

struct pod_object {
    char group[24];
    const char *role;
    const char *scheduler;
    char node[24];
    char nominated[24];
    enum maar_pod_phase phase;
    bool deleting;
    bool has_priority;
    int32_t priority;
    bool has_task_priority;
    int32_t task_priority;
    uint32_t n_gates;
    bool only_queue_gate;
    bool asks_queue_gate;
    struct labels labels;
    struct amounts request;
    struct affinity affinity[N_AFFINITY_LISTS];
    uint32_t n_spread;
    struct spread spread[2];
    struct labels selector;
    bool has_required;
    uint32_t n_required;
    struct term required[2];
    uint32_t n_preferred;
    int32_t preferred_weights[2];
    struct term preferred[2];
    uint32_t n_tolerations;
    struct maar_toleration tolerations[2];
    const char *image;
    char *condition_reason, *condition_message; /* PodScheduled=False; NULL: none */
};

struct queue_object {
    int32_t weight, priority;
    bool reclaimable;
    enum maar_queue_state state;
    enum maar_dequeue_strategy dequeue;
    char parent[24];
    struct amounts capability, deserved, guarantee;
    struct amounts allocated;
};

struct class_object {
    int32_t value;
    bool global_default;
};

struct object {
    enum maar_kind kind;
    bool withheld; /* made, but its news has not arrived: see cluster_release */
    char ns[8];
    char name[24];
    char uid[32];
    int64_t created_ns;
    const char *fault;
    union {
        struct node_object node;
        struct group_object group;
        struct pod_object pod;
        struct queue_object queue;
        struct class_object cls;
        struct labels space; /* of a namespace */
    };
};

struct cluster {
    MAAR_VEC(struct object *) objects;
    uint32_t next_uid;
    int64_t now_ns;
    bool has_neighbours; /* pods have affinity to others, or spread */
};

void cluster_fini(struct cluster *cluster);
/* A new object, all zero but for its identity. created_s counts from the epoch of the test. */
struct object *cluster_add(struct cluster *cluster, enum maar_kind kind, const char *ns,
                           const char *name, int64_t created_s);
/* Takes it out; the caller frees it with object_free. */
void cluster_take(struct cluster *cluster, struct object *object);
void object_free(struct object *object);
struct object *cluster_find(const struct cluster *cluster, enum maar_kind kind, const char *ns,
                            const char *name);
struct object *cluster_find_uid(const struct cluster *cluster, const char *uid);
/* A random object of the kind that has arrived; NULL when there is none. */
struct object *cluster_pick(const struct cluster *cluster, enum maar_kind kind, struct rng *rng);

/* The object as wire/ would hand it over; the caller owns it. */
struct maar_record *object_record(const struct object *object);
/* One line for people. */
void object_describe(const struct object *object, struct maar_text *out);

/* What the API server does with a write that succeeds. Returns the object that changed, NULL when none did. */
struct object *cluster_write(struct cluster *cluster, const struct maar_write *write);

#endif
