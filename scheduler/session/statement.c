/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Statements: a gang's whole plan as one transaction. It works on the world itself; the undo log takes it back. */

#include <errno.h>

#include "session/session.h"

/* A hash reads the whole world: in a large session the first plans stand for all. */
#define HASHES_PER_SESSION 256u

struct maar_statement {
    struct maar_session *session;
    bool checked; /* the world is to be as it was after a discard */
    size_t base;  /* entries of the undo log when it began */
    uint64_t hash;
};

struct maar_session *maar_statement_session(struct maar_statement *statement)
{
    return statement->session;
}

struct maar_statement *maar_statement_begin(struct maar_session *session)
{
    struct maar_statement *statement = maar_arena_alloc(session->arena, sizeof *statement);
    statement->session = session;
    statement->base = session->undo.entries.n;
    statement->checked = session->check_undo && session->n_hashed++ < HASHES_PER_SESSION;
    if (statement->checked)
        statement->hash = maar_world_hash(session->world);
    session->statement = statement;
    return statement;
}

size_t maar_statement_mark(struct maar_statement *statement)
{
    return statement->session->undo.entries.n;
}

/* Tasks that lose their place keep in mind what they were to become, for the reasons. */
static void remember(struct maar_session *session, size_t from)
{
    for (size_t i = from; i < session->undo.entries.n; i++) {
        const struct maar_undo_entry *entry = &session->undo.entries.data[i];
        if (entry->kind != MAAR_UNDO_MOVE || entry->status != MAAR_TASK_PENDING)
            continue;
        struct maar_task_entry *task = maar_session_task(session, entry->task);
        task->tried_status = entry->task->status;
        task->tried_node = entry->task->node;
    }
}

void maar_statement_rewind(struct maar_statement *statement, size_t mark, bool quiet)
{
    struct maar_session *session = statement->session;
    if (!quiet)
        remember(session, mark);
    maar_world_rewind(session->world, mark);
}

void maar_statement_discard(struct maar_statement *statement)
{
    struct maar_session *session = statement->session;
    maar_statement_rewind(statement, statement->base, false);
    session->statement = NULL;
    if (statement->checked && maar_world_hash(session->world) != statement->hash)
        session->n_undo_errors++;
}

/* ---- commit ---- */

static struct maar_write *new_write(struct maar_session *session, enum maar_write_kind kind,
                                    const struct maar_task *task)
{
    struct maar_write *write = maar_write_create(kind, task->ns, task->name, task->uid);
    write->now_ns = session->now_ns;
    maar_vec_push(&session->writes, write);
    return write;
}

static void forget_try(struct maar_session *session, const struct maar_task *task)
{
    struct maar_task_entry *entry = maar_session_task(session, task);
    entry->tried_status = MAAR_N_TASK_STATUSES;
    entry->fit_text = NULL;
}

static void add_annotations(struct maar_write *write, const struct maar_assignment *assignment)
{
    write->bind.n_annotations = assignment->n_annotations;
    write->bind.annotations =
        maar_arena_calloc(write->arena, assignment->n_annotations, sizeof *write->bind.annotations);
    for (uint32_t i = 0; i < assignment->n_annotations; i++)
        write->bind.annotations[i] =
            (struct maar_label){maar_arena_strdup(write->arena, assignment->annotations[i].key),
                                maar_arena_strdup(write->arena, assignment->annotations[i].value)};
}

static void send_bind(struct maar_session *session, struct maar_task *task)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    struct maar_write *write = new_write(session, MAAR_WRITE_BIND, task);
    write->bind.node =
        maar_arena_strdup(write->arena, session->world->nodes.facts[task->node].name);
    if (entry->assignment)
        add_annotations(write, entry->assignment);
    entry->assignment = NULL;
    forget_try(session, task);
    entry->assumed = true;
    entry->bind_in_flight = true;
    maar_world_set_bind_failed(session->world, task, false);
    maar_world_move(session->world, task, MAAR_TASK_BINDING, task->node);
    session->n_binds++;
}

/* A sub-job goes out whole: as long as it is not ready its tasks hold their room. Volcano sends them. */
static bool may_go(struct maar_session *session, const struct maar_task *task)
{
    return task->status == MAAR_TASK_ALLOCATED &&
           (!task->sub_job || session->policy->conf->compatibility_volcano ||
            maar_vote_sub_job_ready(session, task->job, task->sub_job));
}

/* All Allocated tasks of a job go out together, also those that an earlier kept statement placed. */
static void send_job(struct maar_session *session, struct maar_job *job)
{
    if (job->n[MAAR_TASK_ALLOCATED] == 0)
        return;
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (may_go(session, job->tasks[i]))
            send_bind(session, job->tasks[i]);
}

static void keep_unsent(struct maar_session *session, struct maar_task *task)
{
    if (task->status == MAAR_TASK_ALLOCATED ||
        (task->status == MAAR_TASK_PIPELINED && !maar_task_entry(task)->reserved))
        maar_vec_push(&session->kept, task);
}

void maar_statement_commit(struct maar_statement *statement)
{
    struct maar_session *session = statement->session;
    size_t n = session->undo.entries.n;
    session->world->undo = NULL; /* what is sent is final */
    for (size_t i = statement->base; i < n; i++) {
        const struct maar_undo_entry *entry = &session->undo.entries.data[i];
        if (entry->kind != MAAR_UNDO_MOVE)
            continue;
        struct maar_task *task = entry->task;
        if (may_go(session, task)) {
            /* In the order of the plan; the job's earlier ones follow. */
            send_bind(session, task);
        } else {
            keep_unsent(session, task);
        }
    }
    for (size_t i = statement->base; i < n; i++) {
        const struct maar_undo_entry *entry = &session->undo.entries.data[i];
        if (entry->kind == MAAR_UNDO_MOVE && entry->task->job)
            send_job(session, entry->task->job);
    }
    session->world->undo = &session->undo;
    session->undo.entries.n = statement->base;
    session->statement = NULL;
}

void maar_statement_keep(struct maar_statement *statement)
{
    struct maar_session *session = statement->session;
    for (size_t i = statement->base; i < session->undo.entries.n; i++) {
        const struct maar_undo_entry *entry = &session->undo.entries.data[i];
        if (entry->kind == MAAR_UNDO_MOVE && (entry->task->status == MAAR_TASK_ALLOCATED ||
                                              entry->task->status == MAAR_TASK_PIPELINED))
            maar_vec_push(&session->kept, entry->task);
    }
    session->undo.entries.n = statement->base;
    session->statement = NULL;
}

void maar_session_open_gate(struct maar_session *session, struct maar_task *task)
{
    new_write(session, MAAR_WRITE_UNGATE, task);
    task->gate_opened = true;
    forget_try(session, task);
    session->n_openable--;
    maar_vote_on_room_kept(session, task);
}

void maar_session_release(struct maar_session *session, struct maar_task *task)
{
    if (task->status != MAAR_TASK_PIPELINED && task->status != MAAR_TASK_ALLOCATED)
        return;
    maar_world_move(session->world, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
    maar_vote_on_deallocate(session, task);
}

/* ---- operations ---- */

/* Asks the plugins that assign parts of a node; what they assign is undone with the placement. */
static int reserve(struct maar_session *session, struct maar_task *task, uint32_t node)
{
    struct maar_task_entry *entry = maar_task_entry(task);
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        struct maar_instance *instance = &session->policy->instances[i];
        if (!instance->open || !instance->plugin->hooks.reserve)
            continue;
        struct maar_assignment *assignment = maar_arena_alloc(session->arena, sizeof *assignment);
        assignment->arena = session->arena;
        if (entry->assignment)
            *assignment = *entry->assignment;
        maar_undo_bytes(&session->undo, &entry->assignment, sizeof entry->assignment);
        entry->assignment = assignment;
        struct maar_reasons reasons;
        maar_reasons_init(&reasons, session->arena);
        int rc = instance->plugin->hooks.reserve(instance->self, &instance->view, task, node,
                                                 assignment, &reasons);
        if (rc < 0)
            maar_session_task(session, task)->fit_text = maar_reasons_join(&reasons);
        maar_reasons_fini(&reasons);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int maar_statement_place(struct maar_statement *statement, struct maar_task *task, uint32_t node,
                         bool pipelined)
{
    struct maar_session *session = statement->session;
    size_t mark = maar_statement_mark(statement);
    maar_world_move(session->world, task, pipelined ? MAAR_TASK_PIPELINED : MAAR_TASK_ALLOCATED,
                    node);
    int rc = reserve(session, task, node);
    if (rc < 0) {
        maar_statement_rewind(statement, mark, true);
        return rc;
    }
    maar_vote_on_allocate(session, task);
    return 0;
}

int maar_statement_evict(struct maar_statement *statement, struct maar_task *task,
                         const char *reason)
{
    struct maar_session *session = statement->session;
    (void)reason;
    if (task->status != MAAR_TASK_RUNNING && task->status != MAAR_TASK_BOUND)
        return -EINVAL;
    maar_world_move(session->world, task, MAAR_TASK_RELEASING, task->node);
    maar_vote_on_deallocate(session, task);
    return 0;
}
