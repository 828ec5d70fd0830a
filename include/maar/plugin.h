/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PLUGIN_H
#define MAAR_PLUGIN_H

/* The plugin ABI. A plugin is a shared object that exports one symbol,
 *
 *     MAAR_EXPORT const struct maar_plugin maar_plugin = { MAAR_PLUGIN_HEADER, .name = "…", … };
 *
 * Hooks stay NULL where it has no opinion. It calls the host through the table it is given and links against
 * nothing of it. A hook that answers a question changes nothing (votes are pure); state changes in `open` and in
 * the event hooks, in the instance's rows only, after host->touch. The engine calls every hook from one thread,
 * except filter and score hooks flagged thread-safe. A test copy to start from is test/plugins/example.c. */

#include <maar/view.h>

#define MAAR_ABI    0u
#define MAAR_EXPORT __attribute__((visibility("default")))

/* ---- arguments ---------------------------------------------------------------------------------------------- */

enum maar_argument_type {
    MAAR_ARGUMENT_INT,    /* a YAML integer; "10" in quotes is refused */
    MAAR_ARGUMENT_FLOAT,  /* a YAML float or integer */
    MAAR_ARGUMENT_BOOL,   /* a YAML bool, or 1 t T TRUE true True 0 f F FALSE false False */
    MAAR_ARGUMENT_STRING, /* a YAML string */
    MAAR_ARGUMENT_TREE,   /* maps and lists, read with the tree accessors */
};

/* One row of a module's argument table; the last row has key NULL. A key that ends in ".*" stands for every key
 * with that prefix (then ask with the full key). */
struct maar_argument {
    const char *key;
    enum maar_argument_type type;
    const char *default_text; /* as one would write it in YAML; NULL: no default */
    const char *range;        /* in words or as "0..100"; NULL: no limit */
    const char *help;         /* one sentence */
};

/* The `arguments:` of one entry of scheduler.conf. Opaque; read through the host. */
struct maar_arguments;
/* A node of an argument tree. */
struct maar_argument_node;

/* ---- what hooks depend on ----------------------------------------------------------------------------------- */

/* Filters and scores declare what their answer depends on, so that the placement engine knows how much it must
 * compute again after a change. 0 stands for "everything": slow, never wrong. Declaring too little is a bug that
 * the reference test finds. */
enum maar_subject {
    MAAR_SUBJECT_CLASS = 1 << 0,
    MAAR_SUBJECT_QUEUE = 1 << 1,
    MAAR_SUBJECT_JOB = 1 << 2,
    MAAR_SUBJECT_TASK = 1 << 3,
};
enum maar_node_axis {
    MAAR_NODE_STATIC =
        1 << 0, /* facts of the node (also n_nodes of its images, n_live), allocatable */
    MAAR_NODE_LOAD = 1 << 1,   /* what runs on this node */
    MAAR_NODE_OTHERS = 1 << 2, /* what runs on other nodes */
    MAAR_NODE_TIME = 1 << 3,   /* the session's clock */
};
#define MAAR_DEPENDS_ALL 0u

/* ---- verdicts ----------------------------------------------------------------------------------------------- */

enum maar_vote {
    MAAR_REJECT = -1,
    MAAR_ABSTAIN = 0,
    MAAR_PERMIT = 1,
};

/* Answer of a filter for one node; the greatest of all filters counts. */
enum maar_fit {
    MAAR_FIT_OK = 0,
    MAAR_FIT_UNSCHEDULABLE = 1, /* could fit after evictions */
    MAAR_FIT_NEVER = 2,         /* UnschedulableAndUnresolvable */
    MAAR_FIT_ERROR = 3,
};

struct maar_validity {
    bool pass;
    const char *reason; /* wire reason of the condition, static text */
    char message[256];
};

/* Receives reason texts; opaque. */
struct maar_reasons;

/* An opaque assignment of parts of a node (cards, cpuset, claims) made by `reserve`. */
struct maar_assignment;

/* A write to the API that must succeed before the binding of a task is sent, and its undoing. */
struct maar_prebind_write {
    const char *verb; /* "PUT", "PATCH", "POST", "DELETE" */
    const char *path;
    const char *content_type;
    const char *body;
    const char *undo_verb; /* NULL: nothing to undo */
    const char *undo_path;
    const char *undo_body;
};

enum maar_change_kind {
    MAAR_CHANGE_NODE,
    MAAR_CHANGE_TASK,
    MAAR_CHANGE_JOB,
    MAAR_CHANGE_QUEUE,
    MAAR_CHANGE_OTHER,
};

/* Reasons and codes of victims (later actions). */
struct maar_evict_context {
    const char *kind; /* "preempt", "reclaim", "gangpreempt", "gangreclaim" */
    const struct maar_job *job;
    const struct maar_task *task; /* NULL for the gang kinds */
    const char *hyper_node;
};

/* A domain of the network. Opaque until used. */
struct maar_domain;

/* ---- the host ----------------------------------------------------------------------------------------------- */

/* Functions for plugins. Sized and append-only: a plugin built for a smaller table keeps working. */
struct maar_host {
    uint32_t size;

    /* Saves `n` bytes at `p` into the undo log of the session, so that a discard puts them back. p must point into
     * a row of this instance. */
    void (*touch)(void *session, void *p, size_t n);
    /* One line to the log. level: 0 error, 1 warning, 2 info, 3 debug. */
    void (*log)(int level, const char *text);

    /* The argument, or the default of the module's argument table when it is missing or of a wrong type (which
     * the host reports once, with file and line). Keys that the table does not have give 0, "" or NULL. */
    int64_t (*argument_int)(const struct maar_arguments *arguments, const char *key);
    double (*argument_float)(const struct maar_arguments *arguments, const char *key);
    bool (*argument_bool)(const struct maar_arguments *arguments, const char *key);
    /* Valid as long as the instance lives. */
    const char *(*argument_string)(const struct maar_arguments *arguments, const char *key);
    bool (*argument_is_set)(const struct maar_arguments *arguments, const char *key);
    /* Enable key of this entry as written, e.g. enableHierarchy; unset gives the key's default. */
    bool (*argument_enabled)(const struct maar_arguments *arguments, const char *enable_key);
    /* Trees: NULL when missing. A node is a map (children have keys), a list, or a scalar (text). */
    const struct maar_argument_node *(*argument_tree)(const struct maar_arguments *arguments,
                                                      const char *key);
    size_t (*node_n_children)(const struct maar_argument_node *node);
    const struct maar_argument_node *(*node_child)(const struct maar_argument_node *node, size_t i);
    const char *(*node_key)(const struct maar_argument_node *node);  /* "" for list items */
    const char *(*node_text)(const struct maar_argument_node *node); /* "" unless scalar */

    /* The dimension of that name, MAAR_NO_DIM when no object names it. */
    uint32_t (*dim_find)(void *session, const char *name);
    /* The interned pointer of a text, NULL when nothing in the cluster uses it. */
    const char *(*intern_find)(void *session, const char *text);

    /* Adds a reason text for one node or one object; equal texts are counted. Copied. */
    void (*reason_add)(struct maar_reasons *reasons, const char *text);
    /* Reports on the PodGroup why a gate refused it: an event of type Normal with this reason, sent on change. */
    void (*job_event)(void *session, const struct maar_job *job, const char *reason,
                      const char *message);
    /* The PodGroup condition that the session writes when it closes. status is "True". */
    void (*job_condition)(void *session, const struct maar_job *job, const char *type,
                          const char *reason, const char *message);
    /* "pod group is not ready, 2 Pending, 3 minAvailable; Pending: …", into buffer; returns buffer. */
    const char *(*job_fit_error)(void *session, const struct maar_job *job, char *buffer, size_t n);
    /* Pending tasks of the job that a discarded plan of this session had given a node at once. */
    uint32_t (*job_n_schedulable)(void *session, const struct maar_job *job);
    /* Tries queue by queue and job by job exactly as the votes of all tiers do. */
    int (*compare_queues)(void *session, const struct maar_queue *l, const struct maar_queue *r);
    /* Adds an annotation to what `reserve` assigns: it is merged into the pod by its binding. Copied. */
    void (*assignment_annotate)(struct maar_assignment *assignment, const char *key,
                                const char *value);
    /* Publishes an amount of a queue for people to read, in the plugin's units (policy_scale): set is "deserved",
     * "inqueue", …. */
    void (*queue_amount)(void *session, const struct maar_queue *queue, const char *set,
                         uint32_t dim, double value);
    /* Says in numbers why a gate or queue_room refuses, in the plugin's units: held + asked > limit. queue NULL: the
     * cluster; limit_name says what the limit is ("capability"), static text. It goes to those who ask for an
     * explanation, beside reason_add and job_event. Call maar_reason_limit. */
    void (*reason_limit)(void *session, const struct maar_queue *queue, uint32_t dim, double held,
                         double asked, double limit, const char *limit_name);
    /* Pods by domain of `key` as `owner` sees them; kept by the host from then on, so that asking again is cheap.
     * Valid until the session closes. NULL: no pod in the cluster can weigh anything (kinds with only_affine). */
    const struct maar_tally *(*tally)(void *session, const struct maar_tally_kind *kind,
                                      const struct maar_class *owner, uint32_t part,
                                      const char *key);
};

/* host->reason_limit, where the host has it. */
static inline void maar_reason_limit(const struct maar_view *view, const struct maar_queue *queue,
                                     uint64_t dim, double held, double asked, double limit,
                                     const char *limit_name)
{
    const struct maar_host *host = view->host;
    if (host->size >= offsetof(struct maar_host, reason_limit) + sizeof host->reason_limit &&
        host->reason_limit)
        host->reason_limit(view->session, queue, (uint32_t)dim, held, asked, limit, limit_name);
}

/* ---- hooks -------------------------------------------------------------------------------------------------- */

/* Answers for nodes[0..n): out[i] belongs to nodes[i] and holds what earlier filters said; a filter raises it
 * (never lowers) where it refuses. `task` is one of the class; only hooks that declare MAAR_SUBJECT_TASK, JOB or
 * QUEUE may look past its class. */
struct maar_filter {
    const char *name;
    uint32_t subject; /* bits of enum maar_subject, 0 = everything */
    uint32_t node;    /* bits of enum maar_node_axis, 0 = everything */
    bool thread_safe;
    /* NULL: always active. */
    bool (*active)(void *self);
    /* A class about which the filter now has nothing to say, on whatever node (PreFilter Skip): then `fit` is not
     * called. NULL: never. Asked only of filters that depend on MAAR_NODE_OTHERS. */
    bool (*skip)(void *self, const struct maar_view *view, const struct maar_task *task);
    void (*fit)(void *self, const struct maar_view *view, const struct maar_task *task,
                const uint32_t *nodes, size_t n, uint8_t *out);
    /* The reasons for one node that `fit` refused (may be NULL: the filter's name is the reason). */
    void (*explain)(void *self, const struct maar_view *view, const struct maar_task *task,
                    uint32_t node, struct maar_reasons *reasons);
};

/* Volcano sums the per-node scores of all plugins first, the batch scores second; the phase keeps that order of
 * additions, since sums of doubles are compared for equality. */
enum maar_score_phase {
    MAAR_SCORE_NODE,
    MAAR_SCORE_BATCH,
};

/* A score is either local (`score` adds to out[i]) or normalised over the candidates: then `raw` gives an integer
 * a node and `normalise` turns it into the contribution, given the smallest and greatest raw value among the
 * candidates. A candidate with raw value MAAR_RAW_NONE has no part in them and gets nothing. */
#define MAAR_RAW_NONE INT64_MIN

struct maar_score {
    const char *name;
    enum maar_score_phase phase;
    uint32_t subject;
    uint32_t node;
    bool thread_safe;
    bool (*active)(void *self);
    void (*score)(void *self, const struct maar_view *view, const struct maar_task *task,
                  const uint32_t *nodes, size_t n, double *out);
    void (*raw)(void *self, const struct maar_view *view, const struct maar_task *task,
                const uint32_t *nodes, size_t n, int64_t *out);
    double (*normalise)(void *self, const struct maar_view *view, const struct maar_task *task,
                        int64_t raw, int64_t min, int64_t max);
    /* A class for which a normalised score says nothing at all (PreScore Skip). NULL: never skips. */
    bool (*skip)(void *self, const struct maar_view *view, const struct maar_task *task);
};

/* Names are those of Volcano's callbacks and of their keys in scheduler.conf: enableJobOrder gates job_order. */
struct maar_hooks {
    /* order: < 0: l first, > 0: r first, 0: no opinion */
    int (*job_order)(void *self, const struct maar_view *view, const struct maar_job *l,
                     const struct maar_job *r);
    int (*queue_order)(void *self, const struct maar_view *view, const struct maar_queue *l,
                       const struct maar_queue *r);
    int (*task_order)(void *self, const struct maar_view *view, const struct maar_task *l,
                      const struct maar_task *r);
    int (*victim_queue_order)(void *self, const struct maar_view *view, const struct maar_queue *l,
                              const struct maar_queue *r, const struct maar_queue *preemptor);
    int (*sub_job_order)(void *self, const struct maar_view *view, const struct maar_sub_job *l,
                         const struct maar_sub_job *r);
    int (*cluster_order)(void *self, const struct maar_view *view, const char *l, const char *r);

    /* gate */
    void (*job_valid)(void *self, const struct maar_view *view, const struct maar_job *job,
                      struct maar_validity *ret);
    bool (*job_ready)(void *self, const struct maar_view *view, const struct maar_job *job);
    enum maar_vote (*job_pipelined)(void *self, const struct maar_view *view,
                                    const struct maar_job *job);
    bool (*job_starving)(void *self, const struct maar_view *view, const struct maar_job *job);
    enum maar_vote (*job_enqueueable)(void *self, const struct maar_view *view,
                                      const struct maar_job *job);
    bool (*sub_job_ready)(void *self, const struct maar_view *view, const struct maar_job *job,
                          const struct maar_sub_job *sub_job);
    enum maar_vote (*sub_job_pipelined)(void *self, const struct maar_view *view,
                                        const struct maar_job *job,
                                        const struct maar_sub_job *sub_job);
    bool (*queue_overused)(void *self, const struct maar_view *view,
                           const struct maar_queue *queue);
    bool (*queue_preemptive)(void *self, const struct maar_view *view,
                             const struct maar_queue *queue, const struct maar_task *const *tasks,
                             size_t n);
    /* How many of `want` tasks like this one the queue may take now (enabledAllocatable). `reasons` is NULL unless
     * the answer is wanted in words. */
    uint32_t (*queue_room)(void *self, const struct maar_view *view, const struct maar_queue *queue,
                           const struct maar_task *task, uint32_t want,
                           struct maar_reasons *reasons);
    /* A number that is another one whenever this plugin would answer otherwise, or in other words, about the queue and
     * the jobs in it: to queue_overused and queue_room; with `gate`, to job_enqueueable. Objects and jobs that are as
     * they were give equal numbers in every session. Refused jobs of a queue are tried again when it changes; where a
     * plugin has those hooks and not this one they are tried in every session. */
    uint64_t (*queue_state)(void *self, const struct maar_view *view,
                            const struct maar_queue *queue, bool gate);

    /* filter: asked once before nodes are looked at; false refuses the task on every node (PrePredicate) */
    bool (*pre_filter)(void *self, const struct maar_view *view, const struct maar_task *task,
                       struct maar_reasons *reasons);
    const struct maar_filter *filters;
    size_t n_filters;

    /* score */
    const struct maar_score *scores;
    size_t n_scores;
    /* Picks among the nodes of greatest score; MAAR_NO_NODE: no opinion. */
    uint32_t (*best_node)(void *self, const struct maar_view *view, const struct maar_task *task,
                          const uint32_t *nodes, size_t n);

    /* assign */
    int64_t (*bound)(void *self, const struct maar_view *view, const struct maar_task *task,
                     uint32_t node); /* how many of the class fit on the node */
    /* 0, or -errno when the node cannot serve the task after all (with a reason). Annotations set on the
     * assignment are merged into the binding. */
    int (*reserve)(void *self, const struct maar_view *view, const struct maar_task *task,
                   uint32_t node, struct maar_assignment *assignment, struct maar_reasons *reasons);
    void (*unreserve)(void *self, const struct maar_view *view, const struct maar_task *task,
                      uint32_t node);
    size_t (*prebind)(void *self, const struct maar_view *view, const struct maar_task *task,
                      uint32_t node, struct maar_prebind_write *out, size_t n_max);
    const char *const *watched_kinds; /* "group/version/plural", NULL-terminated */

    /* domain: gradients are rows of domains, tried row by row */
    void (*hyper_node_order)(void *self, const struct maar_view *view,
                             const struct maar_sub_job *sub,
                             const struct maar_domain *const *domains, size_t n, double *out);
    size_t (*hyper_node_gradient_for_job)(void *self, const struct maar_view *view,
                                          const struct maar_job *job,
                                          const struct maar_domain *root, bool evict,
                                          const struct maar_domain **out, uint32_t *row,
                                          size_t n_max);
    size_t (*hyper_node_gradient_for_sub_job)(void *self, const struct maar_view *view,
                                              const struct maar_sub_job *sub,
                                              const struct maar_domain *root, bool evict,
                                              const struct maar_domain **out, uint32_t *row,
                                              size_t n_max);

    /* victims: sets bit i of `out` for each candidate that may go; ABSTAIN leaves the plugin out */
    enum maar_vote (*preemptable)(void *self, const struct maar_view *view,
                                  const struct maar_task *evictor,
                                  const struct maar_task *const *candidates, size_t n,
                                  uint64_t *out);
    enum maar_vote (*reclaimable)(void *self, const struct maar_view *view,
                                  const struct maar_task *evictor,
                                  const struct maar_task *const *candidates, size_t n,
                                  uint64_t *out);
    enum maar_vote (*unified_evictable)(void *self, const struct maar_view *view,
                                        const struct maar_evict_context *context,
                                        const struct maar_task *const *candidates, size_t n,
                                        uint64_t *out);
    void (*victim_tasks)(void *self, const struct maar_view *view,
                         const struct maar_task *const *tasks, size_t n, uint64_t *out);

    /* events: the ledger has moved already when they are called */
    void (*on_allocate)(void *self, const struct maar_view *view, const struct maar_task *task);
    void (*on_deallocate)(void *self, const struct maar_view *view, const struct maar_task *task);
    void (*on_enqueued)(void *self, const struct maar_view *view, const struct maar_job *job);
    /* Room in its queue is kept for a Pending task until it is allocated: its gate is being opened. */
    void (*on_room_kept)(void *self, const struct maar_view *view, const struct maar_task *task);
    void (*on_change)(void *self, enum maar_change_kind kind, uint32_t slot); /* between sessions */
};

/* ---- the descriptor ----------------------------------------------------------------------------------------- */

struct maar_plugin {
    uint32_t abi;  /* MAAR_ABI */
    uint32_t size; /* sizeof(struct maar_plugin) */
    const char *name;
    const char *const *aliases;            /* other spellings, NULL-terminated; may be NULL */
    const char *summary;                   /* one sentence */
    const struct maar_argument *arguments; /* may be NULL */
    /* Keys that the plugin reads; the decoder drops the rest. NULL-terminated, may be NULL. */
    const char *const *reads_pod_labels;
    const char *const *reads_pod_annotations;
    const char *const *reads_pod_group_annotations;
    const char *const *reads_queue_annotations;
    /* Bytes of state a row. */
    size_t node_row_size;
    size_t job_row_size;
    size_t queue_row_size;
    size_t session_row_size;

    /* One instance an entry of scheduler.conf and configuration. 0 or -errno with a text in error (n bytes);
     * *ret_self is handed to every hook. May be NULL. */
    int (*create)(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n);
    void (*destroy)(void *self);
    /* A session opens: compute what the votes need. 0 or -errno: then the plugin sits this session out. */
    int (*open)(void *self, const struct maar_view *view, char *error, size_t n);
    void (*close)(void *self, const struct maar_view *view);

    struct maar_hooks hooks;

    /* What job_valid, job_ready, job_pipelined and pre_filter depend on: bits of enum maar_subject without QUEUE, 0 =
     * everything. A plugin that has one of them and says "everything" makes refused jobs be tried in every session. */
    uint32_t gate_subject;
};

#define MAAR_PLUGIN_HEADER .abi = MAAR_ABI, .size = sizeof(struct maar_plugin)
#define MAAR_PLUGIN_SYMBOL "maar_plugin"

extern const struct maar_plugin maar_plugin;

/* Adapts a plain yes/no function of one node to a filter's `fit`:
 *     MAAR_FILTER_EACH(my_fit, my_refuses, MAAR_FIT_NEVER)
 * with  bool my_refuses(void *self, const struct maar_view *, const struct maar_task *, uint32_t node). */
#define MAAR_FILTER_EACH(fit_name, refuses, code)                                                  \
    static void fit_name(void *self, const struct maar_view *view, const struct maar_task *task,   \
                         const uint32_t *nodes, size_t n, uint8_t *out)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            if (out[i] < (uint8_t)(code) && refuses(self, view, task, nodes[i]))                   \
                out[i] = (uint8_t)(code);                                                          \
    }

/* The same for a score: double my_score(void *self, view, task, uint32_t node). */
#define MAAR_SCORE_EACH(score_name, one)                                                           \
    static void score_name(void *self, const struct maar_view *view, const struct maar_task *task, \
                           const uint32_t *nodes, size_t n, double *out)                           \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] += one(self, view, task, nodes[i]);                                             \
    }

#endif
