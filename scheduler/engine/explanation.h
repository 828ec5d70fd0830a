/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_EXPLANATION_H
#define MAAR_ENGINE_EXPLANATION_H

/* Why something waits, in numbers: computed when somebody asks, in a session that only looks. All votes are asked
 * afresh and the gang is placed for a try, so an explanation holds as of now, whatever the last session wrote.
 *
 * Amounts are in ledger units (milli-CPU, bytes, pieces); texts live as long as the explanation. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct maar_arena;
struct maar_engine;

/* What holds a PodGroup, in the order in which things are asked. */
enum maar_gate {
    MAAR_GATE_NONE,      /* nothing waits */
    MAAR_GATE_POD_GROUP, /* it does not exist */
    MAAR_GATE_FAULT,     /* it, or its queue, cannot be used as it is */
    MAAR_GATE_QUEUE,     /* its queue does not exist */
    MAAR_GATE_CLOSED,    /* its queue is not open */
    MAAR_GATE_ENQUEUE,   /* it is not admitted */
    MAAR_GATE_VALID,     /* it lacks pods */
    MAAR_GATE_GATED,     /* too many of its pods have scheduling gates */
    MAAR_GATE_ACTION,    /* the configuration lacks the action that would place it */
    MAAR_GATE_FIFO,      /* a refused job before it holds it, in a queue that keeps its order */
    MAAR_GATE_OVERUSED,  /* its queue takes nothing now */
    MAAR_GATE_ROOM,      /* its queue has no room for the pods */
    MAAR_GATE_NODES,     /* no node has room for a pod */
    MAAR_GATE_GANG,      /* some fit, too few for the minimum */
    MAAR_GATE_RELEASE,   /* it fits once pods that are ending have gone */
    MAAR_GATE_TURN,      /* it fits now: the next session decides */
    MAAR_N_GATES,
};
/* "enqueue", "queueRoom", …: as in the JSON. */
const char *maar_gate_name(enum maar_gate gate);

struct maar_explained_amount {
    const char *dimension;
    double amount;
};

/* held + asked > limit. */
struct maar_explained_limit {
    const char *queue; /* NULL: the cluster */
    const char *dimension;
    double held;
    double asked;
    double limit;
    const char *name; /* what the limit is: "capability" */
};

/* One dimension of a queue on the way up. What nobody says is NAN. */
struct maar_explained_level {
    const char *queue;
    const char *dimension;
    double allocated;
    double asked;
    double inqueue;
    double deserved;
    double capability;
    double guarantee;
    double limit;
    bool refuses;
};

struct maar_explained_reason {
    const char *text;
    uint32_t n; /* nodes */
};

struct maar_explained_node {
    const char *name;
    size_t n_lacks;
    struct maar_explained_amount *lacks;
    const char *refusal; /* of the filters; NULL: none */
};

/* Waiting pods that are alike. */
struct maar_explained_class {
    const char *pod; /* the first of them, "namespace/name" */
    uint32_t n_waiting;
    uint32_t n_fit;
    size_t n_request;
    struct maar_explained_amount *request; /* without the pod itself */
    enum maar_gate gate;                   /* ROOM, NODES; NONE when all fit */
    const char *text;                      /* why no more of them fit; Volcano's words */
    uint32_t n_nodes;
    size_t n_reasons; /* of the nodes, when they were asked */
    struct maar_explained_reason *reasons;
    size_t n_nearest;
    struct maar_explained_node *nearest; /* that lack least, best first */
};

struct maar_explained_role {
    const char *name;
    int64_t have;
    int64_t need;
    int64_t could; /* more of them fit now */
};

/* A list of which the first are named. */
struct maar_explained_names {
    size_t n; /* named */
    const char **names;
    size_t n_all;
};

enum maar_tried {
    MAAR_TRIED_NOT,
    MAAR_TRIED_STARTS,
    MAAR_TRIED_SHORT, /* not enough alone */
    MAAR_N_TRIED,
};

/* Something that would let it start. It follows from what refuses the PodGroup now; whether something else would then
 * is found out by those who can play it, and noted in `tried`. */
struct maar_explained_cure {
    const char *text; /* "2 more nodes like n1" */
    const char *edit; /* as `simulate --what-if` takes it; NULL when it cannot be said so */
    enum maar_tried tried;
};

struct maar_explained_group {
    const char *name; /* "namespace/name" */
    const char *phase;
    const char *queue;
    int32_t priority;
    int64_t created_ns;
    enum maar_gate gate;
    const char *plugin; /* that said no; NULL: none did */
    const char *text;   /* the gate in a sentence */
    uint32_t n_pods;
    uint32_t n_waiting;
    uint32_t n_gated;
    /* The gang: need is the minimum, have counts towards it, could is how many more fit now. */
    int64_t have;
    int64_t need;
    int64_t could;
    size_t n_roles; /* those with a minimum */
    struct maar_explained_role *roles;
    size_t n_limits;
    struct maar_explained_limit *limits; /* that refuse it */
    size_t n_levels;
    struct maar_explained_level *levels;
    size_t n_classes;
    struct maar_explained_class *classes;
    struct maar_explained_names jobs_ahead;   /* waiting, before it in its queue */
    struct maar_explained_names queues_ahead; /* with waiting jobs, before its queue */
    size_t n_cures;
    struct maar_explained_cure *cures;
};

struct maar_explained_pod {
    const char *name;
    const char *status; /* "waits", "runs" */
    const char *node;   /* it has, or would get now; NULL */
    bool gated;
    const char *reason; /* of its condition PodScheduled, as written last; NULL: none */
    const char *message;
    const char *text; /* why it waits now, its group aside; NULL */
};

struct maar_explained_job {
    const char *name;
    enum maar_gate gate;
    const char *text;
};

struct maar_explained_queue {
    const char *name;
    bool exists;
    const char *state;
    const char *fault; /* NULL: none */
    int32_t weight;
    int32_t priority;
    const char *parent; /* NULL: none */
    size_t n_levels;
    struct maar_explained_level *levels;
    struct maar_explained_names queues_ahead;
    size_t n_waiting;
    size_t n_jobs; /* of the waiting, in order, those that are told */
    struct maar_explained_job *jobs;
};

struct maar_explanation {
    struct maar_arena *arena;           /* owns everything */
    char object[520];                   /* what was asked for */
    struct maar_explained_pod *pod;     /* NULL: no pod was asked for */
    struct maar_explained_group *group; /* NULL: no PodGroup, and the pod has none */
    struct maar_explained_queue *queue; /* NULL: no queue was asked for */
};

/* Explains a PodGroup or pod "namespace/name" (optionally "podgroup/…" or "pod/…" before it; a PodGroup goes before a
 * pod of the same name) or a queue "queue/name". Decides and writes nothing. -ENOENT when there is no such object,
 * -EBUSY before all initial lists are in. The caller destroys it. Engine thread. */
int maar_engine_explain(struct maar_engine *engine, const char *object,
                        struct maar_explanation **ret_explanation)
    __attribute__((warn_unused_result));
/* Accepts NULL. */
void maar_explanation_destroy(struct maar_explanation *explanation);
/* Calls back with "namespace/name" of each PodGroup that waits or has waiting pods, in order of creation. */
typedef void (*maar_waiting_fn)(void *context, const char *name);
void maar_engine_waiting(const struct maar_engine *engine, maar_waiting_fn each, void *context);
/* The explanation for people, several lines. */
void maar_explanation_text(const struct maar_explanation *explanation, struct maar_text *out);
/* An amount as people write it: "2", "500m", "4Gi". */
const char *maar_explanation_amount(const char *dimension, double amount, char buffer[48]);

#endif
