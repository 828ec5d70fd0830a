/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SESSION_SESSION_H
#define MAAR_SESSION_SESSION_H

/* A session: the world under an undo log, the plugins open, the tiers voting. Plans are made in statements; what is
 * committed leaves as writes, everything else is undone when the session closes. */

#include "model/world.h"
#include "model/write.h"
#include "session/policy.h"

struct maar_statement;
struct maar_place;  /* place/: the class indexes; outlive sessions */
struct maar_memory; /* place/: what is remembered of refusals; outlives sessions */

/* Where a job was refused. */
enum maar_refusal {
    MAAR_REFUSAL_NONE,
    MAAR_REFUSAL_GATE,     /* it was not admitted */
    MAAR_REFUSAL_OVERUSED, /* its queue gets no turn */
    MAAR_REFUSAL_TURN,     /* it was tried */
    MAAR_REFUSAL_ROOM,     /* TURN: its queue had no room, no node was looked at */
};

/* Why a plugin refused, in numbers; the plugin's units. */
struct maar_limit {
    const struct maar_queue *queue; /* NULL: the cluster */
    uint32_t dim;
    double held;
    double asked;
    double limit;
    const char *name; /* of the limit, static text of the plugin */
};

struct maar_session {
    struct maar_world *world;
    struct maar_policy *policy;
    struct maar_place *place;
    struct maar_arena *arena;
    struct maar_view view; /* without rows: for actions */
    char uid[40];
    int64_t now_ns;
    int64_t began_ns;           /* monotonic */
    int64_t open_ns;            /* that opening took */
    bool reference;             /* place with the plain path */
    struct maar_memory *memory; /* NULL: every refused job is tried again */
    bool check_memory; /* … also those that need not, to see that they are refused again */
    bool looks;        /* only looks: decides nothing, writes nothing (maar_session_leave) */
    bool check_undo;   /* compare hashes around discards */
    bool
        supposing; /* plugins are asked about something else than they think: they report nothing */
    bool queue_admission; /* feature gate SchedulingGatesQueueAdmission */
    size_t n_openable;    /* gates that may still be opened by this session */
    struct maar_undo undo;
    struct maar_statement *statement; /* the open one, NULL */
    MAAR_VEC(uint32_t) hidden; /* counts of waiting members that ask for nothing, while left out */
    MAAR_VEC(struct maar_task *) kept;         /* placed by kept statements: given back at close */
    MAAR_VEC(struct maar_job_entry *) checked; /* jobs that check_memory tries again */
    size_t n_memory_errors;           /* of these, that were not refused in the same words */
    MAAR_VEC(struct maar_job *) news; /* what closing reports on */
    MAAR_VEC(struct maar_write *) writes;
    const char *component; /* source of events */
    const char *action;    /* name of the running action */
    size_t n_binds;
    size_t n_phases; /* PodGroups whose phase it changed: the next session may decide otherwise */
    size_t n_undo_errors;               /* discards that did not restore the hash */
    size_t n_bad_answers;               /* hooks that returned nonsense */
    uint32_t n_hashed;                  /* plans whose undoing is checked */
    uint32_t n_trials;                  /* of the bounded searches of all gangs */
    const char *refuser;                /* name of the plugin that refused last; NULL: none */
    MAAR_VEC(struct maar_limit) limits; /* what plugins said while `looks` */
};

/* What the plugins assigned to a task with its node. */
struct maar_assignment {
    struct maar_arena *arena;
    uint32_t n_annotations;
    struct maar_label *annotations; /* arena */
};

/* Opens with the options that stand in `session` (reference, check_undo, queue_admission, n_openable, component):
 * counts the session, opens the plugins in conf order. The uid is made from the clock and the session's
 * number, so that equal input gives equal output. */
void maar_session_open(struct maar_session *session, struct maar_world *world,
                       struct maar_policy *policy, struct maar_place *place, int64_t now_ns);
/* Closes: plugins' close, statuses and reasons as writes, everything uncommitted undone. The writes are left in
 * session->writes for the caller to take. */
void maar_session_close(struct maar_session *session);
/* Ends a session that only looked: plugins' close, everything undone, no writes. What was published stays. */
void maar_session_leave(struct maar_session *session);
/* Frees what is left, also writes nobody took. */
void maar_session_fini(struct maar_session *session);

/* The session reports on the job when it closes; a second call changes nothing. */
void maar_session_add_news(struct maar_session *session, struct maar_job *job);

/* The table that plugins get. */
extern const struct maar_host maar_session_host;

/* ---- votes (votes.c): combination over tiers as in core rules ---- */
bool maar_vote_job_less(void *session, const void *l, const void *r);
bool maar_vote_queue_less(void *session, const void *l, const void *r);
bool maar_vote_task_less(void *session, const void *l, const void *r);
bool maar_vote_sub_job_less(void *session, const void *l, const void *r);
int maar_vote_compare_queues(void *session, const struct maar_queue *l, const struct maar_queue *r);
bool maar_vote_job_valid(struct maar_session *session, const struct maar_job *job,
                         struct maar_validity *ret);
bool maar_vote_job_ready(struct maar_session *session, const struct maar_job *job);
bool maar_vote_job_pipelined(struct maar_session *session, const struct maar_job *job);
/* With sub_job NULL, as in a job without subGroupPolicy, the job's own votes. */
bool maar_vote_sub_job_ready(struct maar_session *session, const struct maar_job *job,
                             const struct maar_sub_job *sub_job);
bool maar_vote_sub_job_pipelined(struct maar_session *session, const struct maar_job *job,
                                 const struct maar_sub_job *sub_job);
/* The same by what has a node alone: waiting members that ask for nothing, which count as ready for Volcano, do not. */
bool maar_vote_placed_ready(struct maar_session *session, const struct maar_job *job,
                            const struct maar_sub_job *sub_job);
bool maar_vote_placed_pipelined(struct maar_session *session, const struct maar_job *job,
                                const struct maar_sub_job *sub_job);
bool maar_vote_job_starving(struct maar_session *session, const struct maar_job *job);
bool maar_vote_job_enqueueable(struct maar_session *session, const struct maar_job *job);
void maar_vote_job_enqueued(struct maar_session *session, const struct maar_job *job);
bool maar_vote_queue_overused(struct maar_session *session, const struct maar_queue *queue);
bool maar_vote_queue_preemptive(struct maar_session *session, const struct maar_queue *queue,
                                const struct maar_task *const *tasks, size_t n);
/* The least of all answers, at most want. */
uint32_t maar_vote_queue_room(struct maar_session *session, const struct maar_queue *queue,
                              const struct maar_task *task, uint32_t want,
                              struct maar_reasons *reasons);
bool maar_vote_pre_filter(struct maar_session *session, const struct maar_task *task,
                          struct maar_reasons *reasons);
uint32_t maar_vote_best_node(struct maar_session *session, const struct maar_task *task,
                             const uint32_t *nodes, size_t n);
/* Victims: bits of candidates that may go; false when nobody says so. `reclaim` asks reclaimable. */
bool maar_vote_victims(struct maar_session *session, bool reclaim, const struct maar_task *evictor,
                       const struct maar_task *const *candidates, size_t n, uint64_t *out);
void maar_vote_on_allocate(struct maar_session *session, const struct maar_task *task);
void maar_vote_on_deallocate(struct maar_session *session, const struct maar_task *task);
void maar_vote_on_room_kept(struct maar_session *session, const struct maar_task *task);

/* ---- statements (statement.c) ---- */
struct maar_statement *maar_statement_begin(struct maar_session *session);
size_t maar_statement_mark(struct maar_statement *statement);
/* Back to the mark. Tasks of the rewound part remember what they were to become (unless `quiet`). */
void maar_statement_rewind(struct maar_statement *statement, size_t mark, bool quiet);
void maar_statement_commit(struct maar_statement *statement);
void maar_statement_keep(struct maar_statement *statement);
void maar_statement_discard(struct maar_statement *statement);
struct maar_session *maar_statement_session(struct maar_statement *statement);
/* Gives the task a node: Allocated on idle room, else Pipelined. Plugins are told and may reserve; -errno when one
 * cannot after all (nothing has changed then). */
int maar_statement_place(struct maar_statement *statement, struct maar_task *task, uint32_t node,
                         bool pipelined) __attribute__((warn_unused_result));
int maar_statement_evict(struct maar_statement *statement, struct maar_task *task,
                         const char *reason) __attribute__((warn_unused_result));
/* Sends the removal of the task's queue gate, which the API tells when it is done; no statement is open. */
void maar_session_open_gate(struct maar_session *session, struct maar_task *task);
/* Gives back a task that a kept statement pipelined. */
void maar_session_release(struct maar_session *session, struct maar_task *task);

/* ---- reasons (reasons.c) ---- */

/* Counted texts, in a session's arena. */
struct maar_reason {
    const char *text;
    uint32_t n;
};
struct maar_reasons {
    struct maar_arena *arena;
    MAAR_VEC(struct maar_reason) items;
};
void maar_reasons_init(struct maar_reasons *reasons, struct maar_arena *arena);
void maar_reasons_fini(struct maar_reasons *reasons);
void maar_reasons_add(struct maar_reasons *reasons, const char *text);
void maar_reasons_add_n(struct maar_reasons *reasons, const char *text, uint32_t n);
/* "0/4 nodes are unavailable: 1 node(s) were unschedulable, 3 Insufficient cpu." in the session's arena. */
const char *maar_reasons_fit_text(const struct maar_reasons *reasons, uint32_t n_nodes);
/* The texts, sorted and joined by ", ". */
const char *maar_reasons_join(const struct maar_reasons *reasons);

/* What became of a task in this session: wire reason and message, session's arena. */
void maar_task_reason(struct maar_session *session, const struct maar_task *task,
                      const char **ret_reason, const char **ret_message);
/* Which scheduling gates a gated task waits for, in words. */
void maar_gate_text(const struct maar_task *task, bool queue_admission, struct maar_text *out);
/* "pod group is not ready, 2 Pending, 3 minAvailable; Pending: 2 Unschedulable. Origin reason is …" */
const char *maar_job_fit_error(struct maar_session *session, const struct maar_job *job,
                               char *buffer, size_t n);
/* How many of the gang fit that the task is short of, its sub-job or else its job; with task NULL, of the job or else
 * of its first sub-job by name that is short. NULL when nobody said so in this session. */
const char *maar_gang_text(struct maar_session *session, const struct maar_job *job,
                           const struct maar_task *task);
/* Per-session memory of a job, reset on first use in a session. */
struct maar_job_entry *maar_session_job(struct maar_session *session, const struct maar_job *job);
struct maar_sub_job_entry *maar_session_sub_job(struct maar_session *session,
                                                const struct maar_sub_job *sub_job);
struct maar_task_entry *maar_session_task(struct maar_session *session,
                                          const struct maar_task *task);
/* Records that no node fits the task; the text lives as long as the session. */
void maar_session_refuse_task(struct maar_session *session, const struct maar_task *task,
                              const char *text);
void maar_session_refuse_job(struct maar_session *session, const struct maar_job *job,
                             const char *text);

/* The job was refused from memory: what was said of it stands. */
static inline bool maar_session_holds(const struct maar_session *session,
                                      const struct maar_job_entry *job)
{
    return job->refusal.held && job->refusal.session == session->world->session_number;
}

/* ---- closing (status.c) ---- */
/* PodGroup phases and conditions, pod conditions, their events. */
void maar_session_write_jobs(struct maar_session *session);
/* status.allocated of the queues. */
void maar_session_write_queues(struct maar_session *session);
void maar_session_set_condition(struct maar_session *session, const struct maar_job *job,
                                const char *type, const char *reason, const char *message);
void maar_session_event(struct maar_session *session, enum maar_kind kind, const char *ns,
                        const char *name, const char *uid, const char *type, const char *reason,
                        const char *message);
/* Equal as reasons: numbers aside, or to the letter under compatibility. NULL counts as "". */
bool maar_session_same_text(const struct maar_session *session, const char *l, const char *r);
/* The phase that a PodGroup has at the end of the session. */
enum maar_phase maar_job_phase(const struct maar_session *session, const struct maar_job *job,
                               bool unschedulable);

#endif
