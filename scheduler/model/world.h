/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_WORLD_H
#define MAAR_MODEL_WORLD_H

/* The world: what was observed, what is assumed (binds and evictions sent but not confirmed) and what is reserved.
 * One thread owns it. Objects come in as records; every sum is kept by one function, maar_world_move. */

#include <stdbool.h>
#include <stdint.h>

#include <maar/view.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/record.h"
#include "model/undo.h"

struct maar_label_set;
struct maar_tally_entry;
struct maar_topology_entry;
struct maar_write;

/* How a pod on a node counts in tallies. */
enum maar_tallied {
    MAAR_TALLIED_NOT,     /* evicted by us, or on no node */
    MAAR_TALLIED_LEAVING, /* being deleted */
    MAAR_TALLIED,
};

/* Room on a node that a task holds beyond a session: after an eviction made for it, or a nomination. */
struct maar_reservation {
    struct maar_task *task;
    uint32_t node;
    struct maar_job *payer;
    int64_t expires_ns;
};

/* A pod with what the host knows beyond the view. */
struct maar_task_entry {
    struct maar_task view; /* first: a view pointer is an entry pointer */
    uint64_t hash;         /* of its uid */
    struct maar_label_set *labels;
    struct maar_job_entry *job; /* also while the PodGroup has not arrived */
    uint32_t node_at;           /* place in its node's list */
    uint32_t job_at;            /* place in its job's list, or in world->loose */
    uint32_t sub_job_at;        /* place in its sub-job's list */
    uint8_t observed_phase;     /* enum maar_pod_phase */
    bool observed_deleting;
    bool assumed;         /* Binding (or evicted) by us, not confirmed yet */
    bool bind_in_flight;  /* its binding was submitted and not answered */
    bool reserved;        /* Pipelined by a reservation, not by the session */
    bool evict_requested; /* Releasing by us; released_ns is not observed yet */
    bool bind_failed;     /* its last binding was refused: it is placed again before other work */
    bool loose;           /* in world->loose, at job_at */
    uint8_t tallied;      /* enum maar_tallied, as it was counted */
    char *
        nominated_name; /* status.nominatedNodeName; NULL: none. Such tasks are in world->nominated */
    /* Annotations that plugins merge into the binding, session's arena; NULL: none. */
    struct maar_assignment *assignment;
    const char *waiting_node; /* interned name of a node that has not arrived; NULL */
    const char *gates;        /* interned: names of its scheduling gates; NULL without */
    char *fault;              /* quarantined: why; NULL when sound */
    /* What the API holds or will hold after the writes in flight: PodScheduled. News of an earlier state that come
     * while one is in flight do not count. */
    uint32_t conditions_in_flight;
    char *condition_reason;
    char *condition_message;
    /* What became of it in the last session that tried it. */
    uint64_t tried_session; /* number of that session */
    uint8_t
        tried_status; /* status it had before a plan was discarded, MAAR_N_TASK_STATUSES: none */
    uint32_t tried_node;
    const char *fit_text; /* session's arena: why no node fits; NULL */
};

struct maar_condition {
    char *type;
    char *status;
    char *reason;
    char *message;
};

struct maar_sub_job_entry {
    struct maar_sub_job view;
    MAAR_VEC(struct maar_task *) tasks;
    uint32_t job_at;        /* place in its job's list */
    uint64_t tried_session; /* number of the session that gang_text belongs to */
    const char *gang_text;  /* session's arena: how many of its size fit; NULL */
};

/* What is remembered of a job's last refusal (place/memory.c). */
struct maar_refusal_memory {
    uint64_t
        number; /* equal as long as nothing changed that it depended on; 0: nothing is remembered */
    uint8_t kind; /* enum maar_refusal */
    uint64_t lacked;
    uint64_t session; /* the last one in which the job was tried, or refused from memory */
    bool held;        /* from memory */
    uint64_t state;   /* of the job, then */
    bool is_checked;  /* held in fact, and tried all the same: it must be refused again */
    uint64_t checked_session;
};

/* A PodGroup and its pods. */
struct maar_job_entry {
    struct maar_job view;
    MAAR_VEC(struct maar_task *) tasks;
    MAAR_VEC(struct maar_role) roles;
    MAAR_VEC(struct maar_sub_job *) sub_jobs;
    /* subGroupPolicy, with the view's form of it in the same arena; NULL without. */
    struct maar_arena *policies_arena;
    const struct maar_sub_group_record *policies;
    struct maar_queue_entry *queue; /* also when the queue does not exist */
    uint32_t queue_at;
    bool exists;    /* the PodGroup is there */
    bool is_listed; /* in world->listed, at listed_at */
    bool has_news;  /* in world->news, at news_at */
    uint32_t listed_at;
    uint32_t news_at;
    uint32_t n_bind_failed; /* tasks with bind_failed */
    uint64_t hash;          /* of its name */
    uint64_t version; /* grows when its spec changes, or a fact of a member that is not counted */
    /* Its part of queue.jobs_state: a sum over its members, its version and phase, kept by the ledger. */
    uint64_t state;
    char *fault;
    int64_t *row_allocated; /* world->row_width entries each */
    int64_t *row_pending;
    int64_t *row_gated;
    uint32_t *allocated_n; /* per dim: counted tasks that name it */
    uint32_t *pending_n;
    /* As the API holds it or will after the writes in flight; news that come meanwhile do not count. */
    uint32_t statuses_in_flight;
    uint8_t written_phase;
    int32_t written_running;
    int32_t written_succeeded;
    int32_t written_failed;
    MAAR_VEC(struct maar_condition) conditions;
    char *event_key; /* signature of the last event sent */
    /* The current answer to "why does it wait": one line; NULL when it does not. */
    char *reason;
    uint64_t news_session; /* number of the last session that reports on it */
    struct maar_refusal_memory refusal;
    uint64_t tried_session; /* number of the session the fields below belong to */
    bool looked_at_nodes;
    uint64_t failed_roles; /* bit i: a task of role i found no node (roles above 63 share bit 63) */
    uint64_t
        lacked; /* dimensions that it was refused for, where its queue's strategy asks for them */
    const char *job_text;  /* session's arena: why the whole job was refused; NULL */
    const char *gang_text; /* session's arena: how many of the gang fit; NULL */
    /* The condition that a plugin asks for, session's arena; type NULL: none. */
    const char *condition_type;
    const char *condition_reason;
    const char *condition_message;
};

/* An amount of a queue that a plugin published for people to read. */
struct maar_published {
    const char *set; /* "deserved", "inqueue": static text of the plugin */
    uint32_t dim;
    double value; /* in the plugin's units */
};

struct maar_queue_entry {
    struct maar_queue view;
    MAAR_VEC(struct maar_published) published;
    uint64_t published_session;
    MAAR_VEC(struct maar_queue *) children;
    MAAR_VEC(struct maar_job *) jobs;
    bool exists;
    uint32_t n_bind_failed; /* of its jobs' tasks */
    char *uid;
    char *parent_name;
    char *fault;
    char *warning; /* the last one of its object, for telling each once */
    int64_t *row_allocated;
    int64_t *row_subtree;
    int64_t *row_pending;
    uint32_t *allocated_n;
    uint32_t *pending_n;
    /* status.allocated as the API holds it or will. */
    struct maar_resource written_allocated;
    bool write_failed; /* the API holds something else: write again */
    bool create_requested;
};

/* Takes part in sessions: the PodGroup and its queue are there and sound. */
static inline bool maar_job_is_scheduled(const struct maar_job_entry *job)
{
    return job->exists && job->view.queue && !job->fault && !job->queue->fault;
}

/* An image that some node has. */
struct maar_image_entry {
    struct maar_image view;
    MAAR_VEC(uint32_t) nodes; /* slots */
    bool is_stale;            /* in world->stale_images */
};

struct maar_node_entry {
    char *uid;
    char *fault;
    MAAR_VEC(struct maar_task *) tasks;
    MAAR_VEC(struct maar_label) labels;
    MAAR_VEC(struct maar_taint) taints;
    MAAR_VEC(struct maar_node_image) images;
    uint64_t images_round;   /* of world->images_round, when it was touched for its images last */
    uint32_t static_version; /* grows when facts or allocatable change */
};

/* There while the Namespace object or a class is. */
struct maar_namespace_entry {
    struct maar_namespace view; /* first: a view pointer is an entry pointer */
    bool exists;                /* the object has arrived */
    uint32_t n_classes;
};

/* A tally in which the pods of a class weigh something. */
struct maar_tally_use {
    struct maar_tally_entry *tally;
    int64_t weight;
};

struct maar_class_entry {
    struct maar_class view;
    bool is_affine; /* has pod (anti-)affinity terms */
    MAAR_VEC(struct maar_tally_use) tally_uses;
    MAAR_VEC(struct maar_tally_entry *) tallies; /* asked for this class */
    struct maar_arena *arena;                    /* owns spec, labels, annotations, request */
    uint64_t id;                                 /* never reused */
    char *key;
    size_t key_n;
    MAAR_VEC(uint32_t) strings; /* references held by the view's texts */
};

struct maar_world {
    struct maar_strings *strings;
    /* Options. */
    MAAR_VEC(char *) scheduler_names;
    char *default_queue;
    /* Dimensions. */
    struct maar_dims dims;
    uint32_t row_width; /* entries of a ledger row: 8, doubled when dims.n outgrows it */
    const char *dim_names[MAAR_MAX_DIMS];
    double dim_scales[MAAR_MAX_DIMS];
    /* Objects. */
    struct maar_map *tasks_by_uid;                /* -> struct maar_task_entry */
    struct maar_map *jobs_by_name;                /* "ns/name" -> struct maar_job_entry */
    struct maar_map *queues_by_name;              /* -> struct maar_queue_entry */
    struct maar_map *nodes_by_name;               /* -> slot + 1 */
    struct maar_map *priority_classes;            /* -> struct maar_priority_class_record */
    struct maar_map *namespaces;                  /* -> struct maar_namespace_entry */
    struct maar_map *classes_by_key;              /* -> struct maar_class_entry */
    struct maar_map *label_sets;                  /* -> struct maar_label_set */
    struct maar_map *sub_jobs_by_uid;             /* -> struct maar_sub_job_entry */
    bool compatible;                              /* subGroupPolicy is read as Volcano reads it */
    MAAR_VEC(struct maar_task_entry *) nominated; /* pods with a nominated node, there or not */
    MAAR_VEC(struct maar_task_entry *) loose;     /* pods of ours that name no PodGroup */
    struct maar_map *waiting_nodes; /* node name -> list of tasks whose node has not arrived */
    int32_t default_priority;
    MAAR_VEC(struct maar_job_entry *) job_slots;     /* NULL: free */
    MAAR_VEC(struct maar_queue_entry *) queue_slots; /* NULL: free */
    MAAR_VEC(struct maar_class_entry *) class_slots; /* NULL: free */
    uint64_t next_class_id;
    struct maar_map *projected_keys; /* label key -> who reads it (projection.c) */
    bool projection_stale;           /* some key has lost its last reader */
    /* Pods by domain (tally.c). */
    struct maar_map *topologies; /* key -> struct maar_topology_entry */
    MAAR_VEC(struct maar_tally_entry *) tallies;
    MAAR_VEC(struct maar_class_entry *) affine_classes;
    MAAR_VEC(const char *) affinity_keys; /* topology keys of their terms */
    bool affinity_keys_stale;
    size_t tally_bytes;
    uint64_t tally_clock;
    uint64_t facts_version; /* grows when facts of some node change, or a node comes or goes */
    /* Nodes. */
    struct maar_nodes nodes;
    MAAR_VEC(struct maar_node_entry *) node_entries; /* [slot], NULL: free */
    uint32_t node_capacity;
    uint64_t *node_live;
    struct maar_node_facts *node_facts;
    uint32_t *node_rank;
    int64_t *node_columns[5][MAAR_MAX_DIMS]; /* allocatable, idle, used, releasing, pipelined */
    uint64_t *node_present;
    int64_t *node_nonzero_cpu;
    int64_t *node_nonzero_memory;
    struct maar_task *const **node_tasks;
    uint32_t *node_n_tasks;
    bool ranks_stale;
    /* Images of nodes (images.c). */
    struct maar_map *images;                          /* name -> struct maar_image_entry */
    MAAR_VEC(struct maar_image_entry *) stale_images; /* their n_nodes changed */
    uint64_t images_round;
    int64_t total_allocatable[MAAR_MAX_DIMS];
    int64_t total_used[MAAR_MAX_DIMS];
    uint64_t total_present;
    uint32_t total_present_n[MAAR_MAX_DIMS]; /* nodes that offer the dimension */
    /* Nodes that changed, newest last: indexes catch up from their position. Bit 31: facts changed too. */
    MAAR_VEC(uint32_t) touched;
    uint64_t touched_base; /* sequence number of touched.data[0] */
    uint64_t *touched_at;  /* [slot] sequence number of its last entry */
    uint64_t *facts_at;    /* [slot] of its last entry with bit 31 */
    /* Reservations, in order of creation. */
    MAAR_VEC(struct maar_reservation) reservations;
    /* Sorted views, rebuilt when stale: by creation, then name. */
    MAAR_VEC(struct maar_job *) sorted_jobs;
    MAAR_VEC(struct maar_queue *) sorted_queues;
    bool jobs_stale;
    bool queues_stale;
    MAAR_VEC(struct maar_job_entry *) outside; /* jobs that take no part in sessions; as stale */
    /* Jobs that may have something to decide on, in no order; those that no longer do leave with maar_world_prepare,
     * which makes `sorted_waiting` of it. */
    MAAR_VEC(struct maar_job_entry *) listed;
    MAAR_VEC(struct maar_job *) sorted_waiting;
    bool waiting_stale;
    /* Jobs that something happened to since the last session closed, in no order. */
    MAAR_VEC(struct maar_job_entry *) news;
    uint64_t queues_version; /* grows when a queue changes */
    /* The undo log of the running session; NULL outside: moves are final. */
    struct maar_undo *undo;
    uint64_t session_number;
    uint64_t n_moves; /* ledger moves since creation */
};

struct maar_world_options {
    const char *const *scheduler_names; /* NULL-terminated */
    const char *default_queue;
};

struct maar_world *maar_world_create(const struct maar_world_options *options);
/* Accepts NULL. */
void maar_world_destroy(struct maar_world *world);

/* The object as it is now, or its end. The record is read, not kept. Returns true when a decision may depend on what
 * changed; a heartbeat or the echo of an own write gives false. Never while a session is open. */
bool maar_world_apply(struct maar_world *world, const struct maar_record *record, bool deleted);
/* Makes a label key split classes (a selector reads it). */
void maar_world_project_label(struct maar_world *world, const char *key);
/* Whether subGroupPolicy is read as Volcano reads it: an entry without matchLabelKeys takes no pod, and no sub-job has
 * a priority below 0. Never while a session is open. */
void maar_world_set_compatible(struct maar_world *world, bool compatible);
/* The dimension of a name, registered when new; MAAR_NO_DIM when there are MAAR_MAX_DIMS already. */
uint32_t maar_world_dim(struct maar_world *world, const char *name);
uint32_t maar_world_dim_find(const struct maar_world *world, const char *name);

/* THE ledger function: the task gets a status and a node (MAAR_NO_NODE: none), every sum follows. Logged for undo
 * when the world has an undo log. */
void maar_world_move(struct maar_world *world, struct maar_task *task, enum maar_task_status status,
                     uint32_t node);
/* Logged likewise. */
void maar_world_set_phase(struct maar_world *world, struct maar_job *job, enum maar_phase phase);
/* Something about the job happened that its sums do not show: sessions look at it again. */
void maar_world_job_changed(struct maar_world *world, struct maar_job_entry *job);
/* The next session reports on all jobs: another configuration may say other things of them. */
void maar_world_renew(struct maar_world *world);
/* After a session closed: nothing is new any more. */
void maar_world_clear_news(struct maar_world *world);
/* Orders jobs by creation, then name. For qsort over pointers to jobs. */
int maar_job_compare(const void *l, const void *r);
/* Undoes down to `mark` entries. */
void maar_world_rewind(struct maar_world *world, size_t mark);

/* Marks a task whose binding was refused, or takes the mark off. */
void maar_world_set_bind_failed(struct maar_world *world, struct maar_task *task, bool failed);
/* The answer to a binding: ok confirms nothing yet (the watch does), a failure makes the task Pending again. */
void maar_world_bind_done(struct maar_world *world, const char *uid, bool ok);
void maar_world_evict_done(struct maar_world *world, const char *uid, bool ok);
/* The answer to the removal of a gate: a failure lets the next session send it again. */
void maar_world_ungate_done(struct maar_world *world, const char *uid, bool ok);

/* A status write about the pod or PodGroup was submitted (sent) or answered. */
void maar_world_status_sent(struct maar_world *world, const struct maar_write *write, bool sent);

/* The tally of that kind for the class, made when it is asked for the first time (tally.c); NULL as in
 * maar_host.tally. */
const struct maar_tally *maar_world_tally(struct maar_world *world,
                                          const struct maar_tally_kind *kind,
                                          const struct maar_class *owner, uint32_t part,
                                          const char *key);

/* Holds room on a node for a pending task beyond sessions: it becomes Pipelined there. */
void maar_world_reserve(struct maar_world *world, struct maar_task *task, uint32_t node,
                        struct maar_job *payer, int64_t expires_ns);
void maar_world_release(struct maar_world *world, struct maar_task *task);
/* Drops those that expired. Returns how many. */
size_t maar_world_expire(struct maar_world *world, int64_t now_ns);

/* Ranks and sorted views are up to date afterwards. */
void maar_world_prepare(struct maar_world *world);
/* Recounts every sum from the tasks; appends a line per difference, returns their number. */
size_t maar_world_check(const struct maar_world *world, struct maar_text *out);
/* A hash over everything that a session may change: equal before a plan and after its discard. */
uint64_t maar_world_hash(const struct maar_world *world);

/* Entries behind view pointers. */
static inline struct maar_task_entry *maar_task_entry(const struct maar_task *task)
{
    return (struct maar_task_entry *)(uintptr_t)task;
}
static inline struct maar_job_entry *maar_job_entry(const struct maar_job *job)
{
    return (struct maar_job_entry *)(uintptr_t)job;
}
static inline struct maar_sub_job_entry *maar_sub_job_entry(const struct maar_sub_job *sub_job)
{
    return (struct maar_sub_job_entry *)(uintptr_t)sub_job;
}
static inline struct maar_queue_entry *maar_queue_entry(const struct maar_queue *queue)
{
    return (struct maar_queue_entry *)(uintptr_t)queue;
}
static inline struct maar_namespace_entry *maar_namespace_entry(const struct maar_namespace *space)
{
    return (struct maar_namespace_entry *)(uintptr_t)space;
}
static inline struct maar_class_entry *maar_class_entry(const struct maar_class *cls)
{
    return (struct maar_class_entry *)(uintptr_t)cls;
}
struct maar_task_entry *maar_world_task(const struct maar_world *world, const char *uid);
struct maar_job_entry *maar_world_job(const struct maar_world *world, const char *uid);
struct maar_queue_entry *maar_world_queue(const struct maar_world *world, const char *name);
/* Makes the entry of a queue that does not exist yet. */
struct maar_queue_entry *maar_world_queue_get(struct maar_world *world, const char *name);
/* MAAR_NO_NODE when unknown. */
uint32_t maar_world_node(const struct maar_world *world, const char *name);
bool maar_world_is_ours(const struct maar_world *world, const char *scheduler_name);

/* Replaces *slot by a copy of text (NULL or "" gives NULL); true when it changed. */
bool maar_text_replace(char **slot, const char *text);

/* Order of creation, then uid: the last word of every comparison. */
int maar_task_compare_default(const struct maar_task *l, const struct maar_task *r);

/* The sequence number after the newest entry of the touched log. */
static inline uint64_t maar_world_touched_end(const struct maar_world *world)
{
    return world->touched_base + world->touched.n;
}

#endif
