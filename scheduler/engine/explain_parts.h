/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_ENGINE_EXPLAIN_PARTS_H
#define MAAR_ENGINE_EXPLAIN_PARTS_H

/* Shared by the files that make an explanation. */

#include "engine/explanation.h"
#include "session/session.h"

#define MAAR_EXPLAIN_NAMES 5u /* of a list */

/* The group's explanation while it is made. */
struct maar_explaining {
    struct maar_session *session; /* only looks */
    const struct maar_job *job;
    struct maar_explained_group *group;
    const struct maar_task **samples; /* one task of each of group->classes */
    const char *held_text;            /* a job before it holds it; NULL */
    const struct maar_job *holder;
    /* What became of one task in the try. */
    const struct maar_task *probe; /* NULL: nobody asks */
    const char *probe_node;        /* NULL: none */
    const char *probe_text;        /* NULL: it fits, or was not tried */
};

/* explain_group.c: everything but levels and cures. The job has a PodGroup, or pods that name it. */
void maar_explain_group(struct maar_explaining *explaining);
/* It waits to be admitted, or has pods that wait. */
bool maar_explain_waits(const struct maar_job *job);
bool maar_explain_has_action(const struct maar_session *session, const char *name);

/* explain_order.c: who is before it, and who of them holds it. */
void maar_explain_ahead(struct maar_explaining *explaining);
/* Queues with waiting jobs before this one, in order. */
struct maar_explained_names maar_explain_queues_ahead(struct maar_session *session,
                                                      const struct maar_queue *queue);
/* The waiting jobs of the queue in job order, session's arena. */
const struct maar_job **maar_explain_waiting_jobs(struct maar_session *session,
                                                  const struct maar_queue *queue, size_t *ret_n);

/* explain_try.c: places all that waits, notes how far it goes, takes it back. */
void maar_explain_try(struct maar_explaining *explaining);
/* The tasks that could be placed, in task order, those that ask for nothing last; session's arena. */
const struct maar_task **maar_explain_tasks(struct maar_session *session,
                                            const struct maar_job *job, size_t *ret_n);

/* explain_levels.c. After the plugins closed, so that what they publish is as of now. */
void maar_explain_group_levels(struct maar_explaining *explaining);
void maar_explain_queue_levels(struct maar_session *session, const struct maar_queue *queue,
                               struct maar_explained_queue *out);
/* A published amount in ledger units: NAN when nobody says it, or when it is no limit. */
double maar_explain_published(const struct maar_session *session, const struct maar_queue *queue,
                              const char *set, uint32_t d);

/* explain_cures.c: nodes, while the plugins are open; everything else after they closed. */
void maar_explain_node_cures(struct maar_explaining *explaining);
void maar_explain_other_cures(struct maar_explaining *explaining);

#endif
