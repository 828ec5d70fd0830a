/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_CLUSTER_H
#define MAAR_SIM_CLUSTER_H

/* The embedded cluster: an object store, controllers, simulated kubelets, a clock, injected faults, and a
 * journal of what the scheduler wrote. Whoever calls holds the store's lock, as for the store
 * itself. */

#include "sim/controllers.h"
#include "sim/journal.h"
#include "sim/kubelets.h"
#include "sim/request.h"
#include "sim/store.h"

struct maar_cluster_options {
    int64_t start_ns;
    int64_t period_ns;
    unsigned bind_delay; /* cycles that a bind stays in flight */
    struct maar_kubelet_options kubelets;
    bool has_kubelets;
    bool recreate; /* evicted pods of owners that are not in the cluster are made again */
    bool keeps_journal;
};

struct maar_cluster;

struct maar_cluster *maar_cluster_create(const struct maar_cluster_options *options);
/* Accepts NULL. */
void maar_cluster_destroy(struct maar_cluster *cluster);
struct maar_store *maar_cluster_store(const struct maar_cluster *cluster);
struct maar_journal *maar_cluster_journal(struct maar_cluster *cluster);
const struct maar_cluster_options *maar_cluster_options(const struct maar_cluster *cluster);

/* The running cycle, from 1; 0 before the first. */
unsigned maar_cluster_cycle(const struct maar_cluster *cluster);
/* Starts the next cycle: what is held until it shows. The clock is not moved. */
void maar_cluster_begin_cycle(struct maar_cluster *cluster);
/* The controllers act on what users did. */
void maar_cluster_reconcile(struct maar_cluster *cluster);
/* Ends it: kubelets and controllers act, the clock moves by a period. Returns the number of changes that they made. */
size_t maar_cluster_end_cycle(struct maar_cluster *cluster);
/* Real time instead: sets the clock and lets controllers and kubelets act. */
void maar_cluster_tick(struct maar_cluster *cluster, int64_t now_ns);
/* A binding of the pod ("ns/name") is on its way. */
bool maar_cluster_has_flight(const struct maar_cluster *cluster, const char *pod);
/* The last cycle in which an injected fault struck, 0 for none. */
unsigned maar_cluster_last_fault(const struct maar_cluster *cluster);
/* Something will still change by itself: pods in motion, holds. */
bool maar_cluster_is_busy(const struct maar_cluster *cluster);

/* Creates an object as a user would. uid and creationTimestamp are honoured. -EEXIST, -EINVAL,
 * -ENOENT. */
int maar_cluster_add(struct maar_cluster *cluster, const json_t *document, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Creates it, or merges it into the one that is there. */
int maar_cluster_apply(struct maar_cluster *cluster, const json_t *document, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Root, the default queue and the namespaces that the pods need, where missing. */
void maar_cluster_complete(struct maar_cluster *cluster);
/* Removes it at once. -ENOENT. */
int maar_cluster_delete(struct maar_cluster *cluster, const struct maar_api_type *type,
                        const char *ns, const char *name, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Merge patch of the whole object, status included. -ENOENT. */
int maar_cluster_patch(struct maar_cluster *cluster, const struct maar_api_type *type,
                       const char *ns, const char *name, const json_t *patch,
                       struct maar_error *err) __attribute__((warn_unused_result));
/* Watch events of a kind arrive `cycles` cycles late; before the scheduler has started, its list
 * too. */
void maar_cluster_hold(struct maar_cluster *cluster, const struct maar_api_type *type,
                       unsigned cycles);
/* The scheduler has begun to list and watch. */
void maar_cluster_set_started(struct maar_cluster *cluster);

struct maar_fault {
    int kind;                         /* enum maar_write_kind, or -1 for any write */
    const struct maar_api_type *type; /* NULL: any object */
    char ns[256];
    char name[256];
    int code;       /* the answer; 0: none comes */
    unsigned times; /* how often it strikes */
};
void maar_cluster_fail(struct maar_cluster *cluster, const struct maar_fault *fault);

/* ---- the scheduler's requests ---- */

/* What the path of an eviction does not tell. */
struct maar_write_hint {
    const char *action;      /* of an eviction, "" unknown */
    const char *beneficiary; /* "" unknown */
};

struct maar_cluster_write {
    int kind; /* enum maar_write_kind, -1 for none of the scheduler's */
    struct maar_api_target target;
    int fault;     /* -1: none; else the code that it is answered with */
    size_t bind;   /* its place in the journal; SIZE_MAX */
    char pod[520]; /* of a bind */
};

/* A write arrives: it is counted, put into the journal and perhaps struck by a fault. Returns 0 or
 * the code of a bad path (answer filled in). */
int maar_cluster_begin_write(struct maar_cluster *cluster, const char *method, const char *path,
                             const json_t *body, struct maar_cluster_write *ret_write,
                             struct maar_answer *answer);
/* It takes effect and is answered. hint may be NULL. Returns answer->code; 0 when no answer comes.
 */
int maar_cluster_finish_write(struct maar_cluster *cluster, struct maar_cluster_write *write,
                              const char *method, const char *content_type, const json_t *body,
                              const struct maar_write_hint *hint, struct maar_answer *answer);

#endif
