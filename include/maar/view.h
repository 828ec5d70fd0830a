/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_VIEW_H
#define MAAR_VIEW_H

/* What a plugin and an action may read: the cluster as the running session sees it. The host alone writes these
 * objects; everything that a module gets is const. Fields are appended, never moved, once the ABI is frozen.
 *
 * Units: cpu in milli-CPU, every other dimension in whole base units (bytes, pods, cards); times in nanoseconds
 * since the Unix epoch. Texts are interned: of two keys, values, namespaces, node names, roles or resource names,
 * equal text means equal pointer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maar_host;
struct maar_job;
struct maar_queue;
struct maar_sub_job;

/* ---- resource dimensions ------------------------------------------------------------------------------------ */

#define MAAR_MAX_DIMS   64u
#define MAAR_DIM_CPU    0u
#define MAAR_DIM_MEMORY 1u
#define MAAR_DIM_PODS   2u
#define MAAR_NO_DIM     UINT32_MAX

/* The dimensions known so far; n only grows, and never while a session is open. */
struct maar_dims {
    uint32_t n;
    const char *const *names; /* n interned names: "cpu", "memory", "pods", "nvidia.com/gpu", … */
    /* Factor from the ledger's unit to the unit in which Volcano computes shares (1 for cpu, memory, pods and
     * attachable-volumes-csi-*, 1000 for every other scalar). Policies compute in these units, so that rounding and
     * tolerances fall as in Volcano. */
    const double *policy_scale;
};

/* A sparse amount: a request, a limit of a queue. `v` has `n` entries; dimensions at or above n are absent. */
struct maar_resource {
    uint64_t present; /* bit d: dimension d was named (its amount may be 0) */
    uint32_t n;
    int64_t *v;
};

static inline int64_t maar_resource_get(const struct maar_resource *r, uint32_t dim)
{
    return dim < r->n ? r->v[dim] : 0;
}

static inline bool maar_resource_has(const struct maar_resource *r, uint32_t dim)
{
    return dim < MAAR_MAX_DIMS && ((r->present >> dim) & 1);
}

/* ---- pods --------------------------------------------------------------------------------------------------- */

struct maar_label {
    const char *key;
    const char *value;
};

enum maar_operator {
    MAAR_OP_IN,
    MAAR_OP_NOT_IN,
    MAAR_OP_EXISTS,
    MAAR_OP_DOES_NOT_EXIST,
    MAAR_OP_GT,
    MAAR_OP_LT,
    MAAR_OP_INVALID, /* an operator that Kubernetes does not know, or values that do not go with it */
};

struct maar_requirement {
    const char *key;
    enum maar_operator op;
    bool is_field; /* matchFields instead of matchExpressions */
    uint32_t n_values;
    const char *const *values;
    int64_t number; /* Gt and Lt: the parsed value */
};

/* One term of a node selector: its requirements are ANDed. */
struct maar_selector_term {
    uint32_t n_requirements;
    const struct maar_requirement *requirements;
};

struct maar_preferred_term {
    int32_t weight;
    struct maar_selector_term term;
};

/* A selector of labels (metav1.LabelSelector): matchLabels stand as In requirements with one value. Of the operators
 * only In, NotIn, Exists, DoesNotExist and INVALID occur. */
struct maar_label_selector {
    bool is_set; /* false: absent, matches nothing; set without requirements: matches everything */
    uint32_t n_requirements;
    const struct maar_requirement *requirements;
};

/* One term of a pod (anti-)affinity. matchLabelKeys and mismatchLabelKeys are merged into the selector. */
struct maar_affinity_term {
    int32_t weight; /* preferred terms, 1 to 100; required ones 0 */
    const char *topology_key;
    struct maar_label_selector selector;
    uint32_t n_namespaces; /* the pod's own when the term names neither list nor selector */
    const char *const *namespaces;
    struct maar_label_selector namespace_selector;
};

struct maar_affinity_terms {
    uint32_t n;
    const struct maar_affinity_term *terms;
};

/* One topology spread constraint. matchLabelKeys are merged into the selector. */
struct maar_spread_constraint {
    int32_t max_skew;
    int32_t min_domains; /* 1 when absent */
    const char *topology_key;
    bool hard;           /* whenUnsatisfiable: DoNotSchedule */
    bool honor_affinity; /* nodeAffinityPolicy: true when absent */
    bool honor_taints;   /* nodeTaintsPolicy: false when absent */
    struct maar_label_selector selector;
};

/* A namespace that some pod is in. */
struct maar_namespace {
    const char *name;
    uint32_t n_labels; /* 0 also while the Namespace object has not arrived */
    const struct maar_label *labels;
};

enum maar_taint_effect {
    MAAR_EFFECT_ANY, /* toleration without effect */
    MAAR_EFFECT_NO_SCHEDULE,
    MAAR_EFFECT_PREFER_NO_SCHEDULE,
    MAAR_EFFECT_NO_EXECUTE,
    MAAR_EFFECT_OTHER,
};

struct maar_taint {
    const char *key;
    const char *value;
    enum maar_taint_effect effect;
};

enum maar_toleration_operator {
    MAAR_TOLERATION_EQUAL,
    MAAR_TOLERATION_EXISTS,
    MAAR_TOLERATION_LT,
    MAAR_TOLERATION_GT,
    MAAR_TOLERATION_INVALID,
};

struct maar_toleration {
    const char *key; /* "" matches every key */
    const char *value;
    enum maar_toleration_operator op;
    enum maar_taint_effect effect;
};

struct maar_host_port {
    const char *host_ip; /* "" and "0.0.0.0" mean every address */
    const char *protocol;
    uint16_t port;
};

/* Parts of a pod spec that no loaded policy can honour yet: such a pod waits with a reason that names them. */
enum maar_unsupported {
    MAAR_UNSUPPORTED_NONE = 0,
    MAAR_UNSUPPORTED_VOLUMES = 1 << 0, /* persistent volume claims, ephemeral volumes */
    MAAR_UNSUPPORTED_CLAIMS = 1 << 1,  /* dynamic resource claims */
};

/* The scheduling part of a pod spec, shared by all pods of a class. */
struct maar_pod_spec {
    uint32_t n_node_selector;
    const struct maar_label *node_selector;
    bool has_required_affinity; /* requiredDuringScheduling… is there, even without terms */
    uint32_t n_required;
    const struct maar_selector_term *required; /* ORed */
    uint32_t n_preferred;
    const struct maar_preferred_term *preferred;
    uint32_t n_tolerations;
    const struct maar_toleration *tolerations;
    struct maar_affinity_terms pod_affinity_required;
    struct maar_affinity_terms pod_affinity_preferred;
    struct maar_affinity_terms pod_anti_affinity_required;
    struct maar_affinity_terms pod_anti_affinity_preferred;
    uint32_t n_spread;
    const struct maar_spread_constraint *spread;
    uint32_t n_host_ports;
    const struct maar_host_port *host_ports;
    /* Of init containers, containers and image volumes, each time that one is named; with a tag or digest. */
    uint32_t n_images;
    const char *const *images;
    const char *priority_class; /* "" when not named */
    const char *scheduler_name;
    const char *preemption_policy; /* "" means PreemptLowerPriority */
    uint32_t unsupported;          /* bits of enum maar_unsupported */
};

/* The pod has affinity or anti-affinity to pods, required or preferred. */
static inline bool maar_spec_has_pod_affinity(const struct maar_pod_spec *spec)
{
    return spec->pod_affinity_required.n + spec->pod_affinity_preferred.n +
               spec->pod_anti_affinity_required.n + spec->pod_anti_affinity_preferred.n >
           0;
}

/* Tasks that the loaded policies cannot tell apart. */
struct maar_class {
    uint32_t slot; /* small integer, reused after the class is gone */
    uint32_t n_tasks;
    const char *ns;
    const struct maar_namespace *space; /* the same namespace with its labels */
    const struct maar_pod_spec *spec;
    struct maar_resource request; /* with init containers, overhead and pods = 1 */
    bool best_effort;             /* asks for nothing but its pod slot */
    /* Requests as the scoring formulas of Kubernetes take them: containers that do not ask count 100m and 200 MiB. */
    int64_t nonzero_cpu_milli;
    int64_t nonzero_memory_bytes;
    uint32_t n_labels; /* projected onto the keys that loaded policies read */
    const struct maar_label *labels;
    uint32_t n_annotations; /* those that loaded policies declare to read */
    const struct maar_label *annotations;
};

enum maar_task_status {
    MAAR_TASK_PENDING,
    MAAR_TASK_ALLOCATED, /* this session chose a node; nothing sent */
    MAAR_TASK_PIPELINED, /* holds room that is still being released */
    MAAR_TASK_BINDING,   /* binding sent, not yet confirmed */
    MAAR_TASK_BOUND,
    MAAR_TASK_RUNNING,
    MAAR_TASK_RELEASING,
    MAAR_TASK_SUCCEEDED,
    MAAR_TASK_FAILED,
    MAAR_TASK_UNKNOWN,
    MAAR_N_TASK_STATUSES,
};

#define MAAR_NO_NODE UINT32_MAX

/* A pod. */
struct maar_task {
    const char *uid;
    const char *ns;
    const char *name;
    const struct maar_class *cls;
    struct maar_job *job; /* NULL: bound by somebody else, or without a group */
    const char *role;     /* volcano.sh/task-spec, "" when unset */
    uint32_t node;        /* slot, MAAR_NO_NODE */
    uint32_t nominated_node;
    int32_t priority;     /* spec.priority or 1; volcano.sh/task-priority overrides */
    int32_t pod_priority; /* spec.priority or 0 */
    uint8_t status;       /* enum maar_task_status */
    bool preemptable;     /* volcano.sh/preemptable, true when unset */
    bool gated;           /* spec.schedulingGates is not empty */
    bool only_queue_gate; /* its only gate is scheduling.volcano.sh/queue-allocation-gate */
    bool
        asks_queue_gate; /* annotation of that name is "true": asks its queue before the gate goes */
    bool gate_opened;    /* the removal of that gate was sent; gated until it is seen */
    bool ours;           /* spec.schedulerName is one of this scheduler's */
    int64_t created_ns;
    int64_t order_index; /* number after the last '-' of a name with three parts or more, else -1 */
    uint32_t role_slot;  /* index in job->roles, UINT32_MAX without a job */
    struct maar_sub_job *sub_job; /* NULL when its job has no subGroupPolicy */
};

/* ---- jobs --------------------------------------------------------------------------------------------------- */

enum maar_phase {
    MAAR_PHASE_NONE, /* "" */
    MAAR_PHASE_PENDING,
    MAAR_PHASE_INQUEUE,
    MAAR_PHASE_RUNNING,
    MAAR_PHASE_UNKNOWN,
    MAAR_PHASE_COMPLETED,
};

/* The members of a job that share a role; roles named in minTaskMember exist also without members. */
struct maar_role {
    const char *name;
    int32_t min; /* minTaskMember, 0 when not named */
    uint32_t n[MAAR_N_TASK_STATUSES];
    uint32_t n_pending_best_effort;
};

#define MAAR_NO_POLICY UINT32_MAX

/* An entry of subGroupPolicy: the pods that it takes fall into sub-jobs, one for each combination of label values. */
struct maar_sub_group_policy {
    const char *name;
    int32_t size; /* subGroupSize: members that a sub-job needs */
    int32_t min;  /* minSubGroups: sub-jobs that the job needs */
    bool has_topology;
};

/* Members of a job with a minimum of their own. Exists as long as it has tasks. */
struct maar_sub_job {
    const char
        *uid; /* "namespace/name/policy-values"; the job's for the members that no policy takes */
    struct maar_job *job;
    uint32_t policy;     /* index in job->sub_group_policies, MAAR_NO_POLICY */
    int64_t match_index; /* the first label value when it is a number, else 0 */
    int32_t min_available;
    int32_t priority; /* the greatest of its tasks' */
    uint32_t n_tasks;
    struct maar_task *const *tasks;
    uint32_t n[MAAR_N_TASK_STATUSES];
    uint32_t n_pending_best_effort;
};

/* A PodGroup and its pods. */
struct maar_job {
    uint32_t slot;
    const char *uid; /* "namespace/name" */
    const char *ns;
    const char *name;
    const char *pod_group_uid; /* "" while only pods have arrived */
    struct maar_queue *queue;  /* NULL: the queue does not exist */
    const char *queue_name;
    int32_t priority; /* value of the priority class, or the default class's, or 0 */
    const char *priority_class;
    int32_t min_available;
    int64_t min_task_total; /* sum of minTaskMember */
    bool has_min_resources;
    struct maar_resource min_resources;
    uint8_t phase;     /* enum maar_phase, as the session leaves it */
    bool has_topology; /* networkTopology or that of an entry of subGroupPolicy is set */
    int64_t created_ns;
    uint32_t n_tasks;
    struct maar_task *const *tasks; /* in order of arrival */
    uint32_t n[MAAR_N_TASK_STATUSES];
    uint32_t n_pending_best_effort;
    uint32_t n_releasing_on_node;
    uint32_t n_roles;
    const struct maar_role *roles;
    const int64_t *allocated; /* ledger row over all dims: Allocated, Binding, Bound, Running */
    const int64_t *pending;   /* ledger row: Pending */
    const int64_t *gated;     /* ledger row: gated tasks, those with only the queue gate left out */
    uint64_t allocated_present; /* dimensions that some counted task names */
    uint32_t n_annotations;
    const struct maar_label *annotations;
    uint32_t n_sub_group_policies;
    const struct maar_sub_group_policy *sub_group_policies; /* subGroupPolicy, in its order */
    uint32_t n_sub_jobs;                                    /* 0 without subGroupPolicy */
    struct maar_sub_job *const *sub_jobs;                   /* in no order that means anything */
    bool takes_part; /* it is among the view's jobs; false: it or its queue cannot be read */
};

/* Members that fill the role's minimum: allocated, Succeeded, and Pending ones that ask for nothing. */
static inline uint32_t maar_role_n_occupied(const struct maar_role *role)
{
    return role->n[MAAR_TASK_ALLOCATED] + role->n[MAAR_TASK_BINDING] + role->n[MAAR_TASK_BOUND] +
           role->n[MAAR_TASK_RUNNING] + role->n[MAAR_TASK_SUCCEEDED] + role->n_pending_best_effort;
}

/* Members of the role that could still make up its minimum: allocated, Succeeded, Pipelined, Pending. */
static inline uint32_t maar_role_n_valid(const struct maar_role *role)
{
    return maar_role_n_occupied(role) - role->n_pending_best_effort + role->n[MAAR_TASK_PIPELINED] +
           role->n[MAAR_TASK_PENDING];
}

static inline uint32_t maar_job_n_allocated(const struct maar_job *job)
{
    return job->n[MAAR_TASK_ALLOCATED] + job->n[MAAR_TASK_BINDING] + job->n[MAAR_TASK_BOUND] +
           job->n[MAAR_TASK_RUNNING];
}

/* Bound, Binding, Running, Allocated, Succeeded. */
static inline uint32_t maar_job_n_ready(const struct maar_job *job)
{
    return maar_job_n_allocated(job) + job->n[MAAR_TASK_SUCCEEDED];
}

/* Members that could still make up a gang: ready, Pipelined, Pending. */
static inline uint32_t maar_job_n_valid(const struct maar_job *job)
{
    return maar_job_n_ready(job) + job->n[MAAR_TASK_PIPELINED] + job->n[MAAR_TASK_PENDING];
}

/* Running, Bound, Failed, Succeeded. */
static inline uint32_t maar_job_n_scheduled(const struct maar_job *job)
{
    return job->n[MAAR_TASK_RUNNING] + job->n[MAAR_TASK_BOUND] + job->n[MAAR_TASK_FAILED] +
           job->n[MAAR_TASK_SUCCEEDED];
}

/* Readiness by member count alone; plugin gang adds roles and sub-groups. */
static inline bool maar_job_is_ready(const struct maar_job *job)
{
    return (int64_t)maar_job_n_ready(job) + job->n_pending_best_effort >= job->min_available;
}

static inline bool maar_job_is_pipelined(const struct maar_job *job)
{
    return (int64_t)maar_job_n_ready(job) + job->n_pending_best_effort +
               job->n[MAAR_TASK_PIPELINED] >=
           job->min_available;
}

static inline bool maar_job_is_starving(const struct maar_job *job)
{
    return (int64_t)maar_job_n_ready(job) + job->n[MAAR_TASK_PIPELINED] < job->min_available;
}

/* Bound, Binding, Running, Allocated, Succeeded. */
static inline uint32_t maar_sub_job_n_ready(const struct maar_sub_job *sub_job)
{
    return sub_job->n[MAAR_TASK_ALLOCATED] + sub_job->n[MAAR_TASK_BINDING] +
           sub_job->n[MAAR_TASK_BOUND] + sub_job->n[MAAR_TASK_RUNNING] +
           sub_job->n[MAAR_TASK_SUCCEEDED];
}

/* Members that could still make up the sub-job's minimum: ready, Pipelined, Pending. */
static inline uint32_t maar_sub_job_n_valid(const struct maar_sub_job *sub_job)
{
    return maar_sub_job_n_ready(sub_job) + sub_job->n[MAAR_TASK_PIPELINED] +
           sub_job->n[MAAR_TASK_PENDING];
}

static inline bool maar_sub_job_is_ready(const struct maar_sub_job *sub_job)
{
    return (int64_t)maar_sub_job_n_ready(sub_job) + sub_job->n_pending_best_effort >=
           sub_job->min_available;
}

static inline bool maar_sub_job_is_pipelined(const struct maar_sub_job *sub_job)
{
    return (int64_t)maar_sub_job_n_ready(sub_job) + sub_job->n_pending_best_effort +
               sub_job->n[MAAR_TASK_PIPELINED] >=
           sub_job->min_available;
}

static inline bool maar_job_is_pending(const struct maar_job *job)
{
    return job->phase == MAAR_PHASE_NONE || job->phase == MAAR_PHASE_PENDING;
}

/* ---- queues ------------------------------------------------------------------------------------------------- */

enum maar_queue_state {
    MAAR_QUEUE_NONE, /* "": counts as Open */
    MAAR_QUEUE_OPEN,
    MAAR_QUEUE_CLOSED,
    MAAR_QUEUE_CLOSING,
    MAAR_QUEUE_UNKNOWN,
};

enum maar_dequeue_strategy {
    MAAR_DEQUEUE_TRAVERSE, /* a blocked head lets later jobs of its queue pass */
    MAAR_DEQUEUE_FIFO,     /* a blocked head blocks its queue */
    /* a blocked head blocks its queue in the dimensions that it lacks */
    MAAR_DEQUEUE_FIFO_PER_RESOURCE,
};

struct maar_queue {
    uint32_t slot;
    const char *name;
    int32_t weight;
    int32_t priority;
    bool reclaimable;
    uint8_t state;            /* enum maar_queue_state */
    uint8_t dequeue_strategy; /* enum maar_dequeue_strategy */
    int64_t created_ns;
    struct maar_queue *parent; /* NULL: root itself, unknown parent or a cycle */
    uint32_t n_children;
    struct maar_queue *const *children;
    struct maar_resource capability;
    struct maar_resource deserved;
    struct maar_resource guarantee;
    uint32_t n_jobs;
    struct maar_job *const *jobs;     /* in order of arrival */
    const int64_t *allocated;         /* ledger row over all dims, this queue's own jobs */
    const int64_t *allocated_subtree; /* with all descendants */
    const int64_t *pending;           /* ledger row: own Pending tasks */
    uint64_t allocated_present;
    uint64_t pending_present;
    uint32_t n_annotations;
    const struct maar_label *annotations;
    /* Another number as soon as anything about its jobs is otherwise: which they are, their fields but the priority,
     * their members and the members' statuses and nodes. The same number again when all is as before. */
    uint64_t jobs_state;
};

static inline bool maar_queue_is_open(const struct maar_queue *queue)
{
    return queue->state == MAAR_QUEUE_OPEN || queue->state == MAAR_QUEUE_NONE;
}

/* ---- nodes -------------------------------------------------------------------------------------------------- */

/* A container image that some node has. */
struct maar_image {
    const char *name;
    uint32_t n_nodes; /* live nodes that have it */
};

struct maar_node_image {
    const struct maar_image *image;
    int64_t size_bytes; /* as this node reports it */
};

/* Facts of a node that its load does not change. */
struct maar_node_facts {
    const char *name;
    uint32_t n_labels;
    const struct maar_label *labels; /* sorted by key text */
    uint32_t n_taints;
    const struct maar_taint *taints; /* in the node's order */
    bool unschedulable;
    bool ready; /* condition Ready is True, or no such condition is reported */
    int64_t created_ns;
    uint32_t n_images;
    const struct maar_node_image *images; /* sorted by name text */
};

/* Columns: one array per dimension, indexed by node slot. Slots never move; a slot whose node is gone is not live
 * and may be reused by a later node. */
struct maar_nodes {
    uint32_t n_slots;
    uint32_t n_live;
    const uint64_t *live; /* bitset over slots */
    const struct maar_node_facts *facts;
    const uint32_t
        *name_rank; /* order of the node's name among the live ones: breaks ties of score */
    int64_t *const *allocatable; /* [dim][slot] */
    int64_t *const *idle;        /* may be negative */
    int64_t *const *used;
    int64_t *const *releasing;
    int64_t *const *pipelined;
    const uint64_t *allocatable_present; /* [slot] dimensions that the node offers */
    const int64_t *nonzero_cpu_milli;    /* [slot] sums of the class values of the same names */
    const int64_t *nonzero_memory_bytes;
    uint32_t n_releasing;                  /* live nodes with something in releasing */
    struct maar_task *const *const *tasks; /* [slot][i]: pods on the node, Pipelined ones too */
    const uint32_t *n_tasks;               /* [slot] */
    uint64_t facts_version; /* grows with every change of some node's facts or allocatable */
};

static inline bool maar_node_is_live(const struct maar_nodes *nodes, uint32_t slot)
{
    return slot < nodes->n_slots && ((nodes->live[slot / 64] >> (slot % 64)) & 1);
}

static inline int64_t maar_node_future_idle(const struct maar_nodes *nodes, uint32_t dim,
                                            uint32_t slot)
{
    return nodes->idle[dim][slot] + nodes->releasing[dim][slot] - nodes->pipelined[dim][slot];
}

/* ---- pods by domain ------------------------------------------------------------------------------------------ */

#define MAAR_NO_DOMAIN UINT32_MAX

/* The nodes by the value of one label key. */
struct maar_topology {
    const char *key; /* "": every node is a domain of its own */
    uint32_t n_domains;
    const uint32_t *domain; /* [node slot], MAAR_NO_DOMAIN: no such node, or it lacks the key */
};

/* What is counted in a tally. Both functions are pure and depend on their arguments alone, so that the host can keep
 * the sums beyond sessions. */
struct maar_tally_kind {
    const char *name;
    bool only_affine;    /* only pods with pod (anti-)affinity of their own weigh anything */
    bool counts_leaving; /* pods that are being deleted count until they have gone */
    /* What each pod of class `other` weighs for `owner`; 0: nothing. `part` and `key` are those of the question. */
    int64_t (*weigh)(const struct maar_class *owner, uint32_t part, const char *key,
                     const struct maar_class *other);
    /* Whether the node's pods count. NULL: those of every node that has the key. */
    bool (*takes_part)(const struct maar_class *owner, uint32_t part,
                       const struct maar_node_facts *node);
};

/* The weights of the pods on the nodes (Pipelined ones too), summed by domain; follows each placement. */
struct maar_tally {
    const struct maar_topology *topology;
    const int64_t *sums;     /* [domain] */
    const uint32_t *n_nodes; /* [domain] nodes that take part */
    uint32_t n_domains;      /* domains with such a node */
    int64_t total;
    int64_t least; /* smallest sum among those domains, 0 without any; as of the question */
};

/* ---- the view ----------------------------------------------------------------------------------------------- */

/* One session as one module instance sees it. */
struct maar_view {
    uint32_t size;
    const struct maar_host *host;
    void *session; /* first argument of host functions that need it */
    const struct maar_dims *dims;
    const struct maar_nodes *nodes;
    uint32_t n_jobs;
    struct maar_job *const
        *jobs; /* jobs with a PodGroup and a queue that exists, in order of arrival */
    uint32_t n_queues;
    struct maar_queue *const *queues; /* in order of arrival */
    const int64_t *total_allocatable; /* row over all dims: sum over live nodes */
    const int64_t *total_used;        /* row: sum of used over live nodes; follows the session */
    uint64_t total_present;           /* dimensions that some node offers */
    int64_t now_ns;
    const char *uid;      /* of the session */
    bool compatibility;   /* `compatibility: volcano`: reproduce its quirks */
    bool queue_admission; /* feature gate SchedulingGatesQueueAdmission is on */
    /* Topology keys in the terms of pods that have pod (anti-)affinity, each once. */
    uint32_t n_affinity_keys;
    const char *const *affinity_keys;
    /* This instance's rows, zeroed when the session opens; sizes as its descriptor says. Call host->touch before
     * each write, also in open. */
    char *node_rows;  /* [node slot] */
    char *job_rows;   /* [job slot] */
    char *queue_rows; /* [queue slot] */
    char *session_row;
    /* Those of `jobs` that had something to decide on when the session opened: members without a node of their own,
     * or no admission yet. In the order of `jobs`. */
    uint32_t n_waiting;
    struct maar_job *const *waiting;
    /* For `close`: those of `jobs` about which there may be something new to say. The others are as they were when the
     * last session closed. In the order of `jobs`; empty before. */
    uint32_t n_news;
    struct maar_job *const *news;
};

#endif
