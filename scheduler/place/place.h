/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PLACE_PLACE_H
#define MAAR_PLACE_PLACE_H

/* Placing tasks on nodes: the class indexes, and beside them the plain path that scans all nodes for each task. Both
 * give the same placements. */

#include "session/session.h"

/* Normalised scores that an index can keep; a policy with more takes the plain path. */
#define MAAR_PLACE_TERMS_MAX 8u

struct maar_place *maar_place_create(void);
/* Accepts NULL. */
void maar_place_destroy(struct maar_place *place);

/* A task's best node and how it would get it. */
struct maar_choice {
    uint32_t node; /* MAAR_NO_NODE: none fits */
    bool pipelined;
};

/* Places tasks[0..n) of one job or sub-job in order (maar_action_host.place). */
struct maar_place_result maar_place_tasks(struct maar_statement *statement,
                                          const struct maar_job *job,
                                          const struct maar_sub_job *sub_job,
                                          const struct maar_task *const *tasks, size_t n,
                                          uint32_t flags);
/* Other orders and a bounded search (maar_action_host.place_harder). */
bool maar_place_harder(struct maar_statement *statement, const struct maar_job *job,
                       const struct maar_sub_job *sub_job, const struct maar_task *const *tasks,
                       size_t n);

/* ---- parts, shared by the files of place/ ---- */

/* fit.c: room and filters of single nodes */
bool maar_fits_idle(const struct maar_nodes *nodes, const struct maar_resource *request,
                    uint32_t slot);
bool maar_fits_future(const struct maar_nodes *nodes, const struct maar_resource *request,
                      uint32_t slot);
enum maar_filter_kind {
    MAAR_FILTER_STATIC = 1 << 0, /* depends on facts of the node alone */
    MAAR_FILTER_LOAD = 1 << 1,
    MAAR_FILTER_LATE = 1 << 2, /* depends on other nodes: asked afresh for each task */
    MAAR_FILTER_ALL = 7,
};
/* Raises fit[i] by every filter of the kinds. */
void maar_run_filters(struct maar_session *session, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, uint8_t *fit, uint32_t kinds);
/* The filter is open and may refuse the task somewhere. */
bool maar_filter_applies(const struct maar_filter_use *use, const struct maar_task *task);
/* Some late filter may refuse the task somewhere: what it is told changes with placements elsewhere. */
bool maar_depends_on_others(const struct maar_session *session, const struct maar_task *task);
/* The same for a normalised score. */
bool maar_score_applies(const struct maar_score_use *use, const struct maar_task *task);
/* Sums of the two phases without the normalised scores, written to node_sum and batch_sum. */
void maar_run_local_scores(struct maar_session *session, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, double *node_sum, double *batch_sum);
/* Adds the normalised contributions of raw values among n candidates. */
void maar_add_normalised(const struct maar_score_use *use, const struct maar_task *task,
                         const int64_t *raw, size_t n, double *batch_sum);
double maar_total_score(struct maar_session *session, double node_sum, double batch_sum);

/* gang_text.c: how many fit of a gang, the job or its sub-job, that does not come together */
/* What is to come together: members that have a node or are to get one, of those that must. */
struct maar_gang {
    int64_t ready;  /* with those that ask for nothing and wait */
    int64_t hoped;  /* of them, those */
    int64_t placed; /* of them, those that are placed and not sent */
    int64_t pipelined;
    int64_t min;
};
struct maar_gang maar_gang_of(const struct maar_job *job, const struct maar_sub_job *sub_job);
/* After its tasks were placed, also those that ask for nothing unless they are still hoped for. */
void maar_gang_note(struct maar_session *session, const struct maar_job *job,
                    const struct maar_sub_job *sub_job, bool all);
/* The first role of whose minimum too few have room, in words; NULL: there is for all. `all` as above. */
const char *maar_gang_role_text(struct maar_session *session, const struct maar_job *job, bool all);
/* The first policy of whose sub-jobs there is no room for the minimum, in words; NULL: there is for all. */
const char *maar_gang_sub_jobs_text(struct maar_session *session, const struct maar_job *job);
/* How many members of a sub-job that is short of its size have room, or exist. */
const char *maar_gang_sub_job_text(struct maar_session *session,
                                   const struct maar_sub_job *sub_job);
/* There is room for no more than `slots` of the `need` that are missing. */
void maar_gang_note_slots(struct maar_session *session, const struct maar_job *job,
                          const struct maar_sub_job *sub_job, uint64_t slots, int64_t need);

/* gates.c: the host function open_gates */
void maar_place_open_gates(struct maar_session *session, const struct maar_job *job,
                           const struct maar_task *const *tasks, size_t n);

/* gang.c: whatever the nodes, the task cannot be placed now */
bool maar_place_is_barred(const struct maar_task *task);

/* scan.c: the plain path. `refused` is NULL or a bitset over node slots: members are left out, and nodes that refuse
 * this task become members. */
struct maar_choice maar_scan_choose(struct maar_session *session, const struct maar_task *task,
                                    uint32_t flags, uint64_t *refused);
/* The candidates of the better tier, best first: up to n_max. *ret_pipelined tells the tier. */
size_t maar_scan_candidates(struct maar_session *session, const struct maar_task *task,
                            uint32_t *ret_nodes, size_t n_max, bool *ret_pipelined);

/* index.c: the class indexes */
struct maar_choice maar_index_choose(struct maar_session *session, const struct maar_task *task,
                                     uint32_t flags);
/* How many tasks of the class fit on idle or coming room, counted up to `want`. */
uint64_t maar_index_slots(struct maar_session *session, const struct maar_task *task,
                          uint64_t want);
bool maar_is_indexable(const struct maar_session *session);

/* memory.c: refusals that need not be tried again */
struct maar_memory *maar_memory_create(void);
/* Accepts NULL. */
void maar_memory_destroy(struct maar_memory *memory);
/* The job was refused there, and nothing has changed that this depended on. */
bool maar_memory_holds(struct maar_session *session, const struct maar_job *job,
                       enum maar_refusal refusal);
/* The job was refused there just now, and what was tried is undone. */
void maar_memory_note(struct maar_session *session, const struct maar_job *job,
                      enum maar_refusal refusal);
/* harder.c: other gangs of the session have used up the trials */
bool maar_place_is_exhausted(const struct maar_session *session);

/* lacking.c: notes what a job of a queue with strategy fifo-per-resource lacks */
bool maar_lacking_is_wanted(const struct maar_session *session, const struct maar_job *job);
/* The queue has no room for the task. */
void maar_lacking_room(struct maar_session *session, const struct maar_job *job,
                       const struct maar_task *task);
/* No node takes the task. */
void maar_lacking_nodes(struct maar_session *session, const struct maar_job *job,
                        const struct maar_task *task);
/* The gate has not admitted the job. */
void maar_lacking_at_gate(struct maar_session *session, const struct maar_job *job);

/* explain.c: why no node fits, session's arena */
const char *maar_explain_task(struct maar_session *session, const struct maar_task *task,
                              uint32_t flags);
/* Why not more tasks like this one fit than do. */
const char *maar_explain_gang(struct maar_session *session, const struct maar_task *task);
/* " It asks for …, the largest node has …." when no node could ever hold the task, else "". */
const char *maar_explain_never(struct maar_session *session, const struct maar_task *task);
/* The reasons of maar_explain_task, counted, added to `reasons`. Returns the number of nodes. */
uint32_t maar_explain_count(struct maar_session *session, const struct maar_task *task,
                            uint32_t flags, struct maar_reasons *reasons);
/* Dimensions of which a live node has less than the task asks for, coming room included. */
uint64_t maar_explain_short(const struct maar_session *session, const struct maar_task *task,
                            uint32_t flags, uint32_t slot);
/* Why the filters refuse a live node; NULL when they do not. Session's arena. */
const char *maar_explain_refusal(struct maar_session *session, const struct maar_task *task,
                                 uint32_t slot);
/* Why the task's queue has no room for it. */
const char *maar_explain_room(struct maar_session *session, const struct maar_task *task);

#endif
