/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* allocate: gives jobs their nodes, each gang whole or not at all.
 *
 * Queues take turns in queue order, in a queue the jobs in job order. A turn places tasks until the job is ready and
 * commits; what is left of the job gets further turns, one task each. A job that can only be completed on room that is
 * still being released holds that room until the session ends. A job that cannot be completed leaves nothing behind.
 * A job that was refused stands in the way of later ones as the dequeueStrategy of its queue says. Members above a
 * job's minimum that find no room do not make it a refused one.
 *
 * Configuration key: predicateErrorCacheEnable (bool, true): under `compatibility: volcano`, a node that refused one
 * pod of a role is not asked for the next of that role. Without it pods are told apart by what they ask. */

#include <maar/turns.h>

/* A job's tasks in task order; tasks[0..at) have had their turn. */
struct sheet {
    const struct maar_task **tasks;
    size_t n;
    size_t at;
};

struct run {
    const struct maar_action_host *host;
    void *session;
    const struct maar_view *view;
    uint32_t place_flags;
    struct maar_turns turns;
    struct sheet *sheets; /* [job slot] */
    size_t n_job_slots;
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* Members that ask for nothing are backfill's business; gated ones wait for their gates. */
static bool is_eligible(const struct maar_task *task, bool best_effort)
{
    if (task->status != MAAR_TASK_PENDING || task->cls->best_effort != best_effort)
        return false;
    return !task->gated || (task->only_queue_gate && !best_effort);
}

static void fill_sheet(const struct run *run, const struct maar_job *job, bool best_effort,
                       struct sheet *sheet)
{
    sheet->tasks = allocate(job->n_tasks, sizeof *sheet->tasks);
    bool sorted = true;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        if (!is_eligible(job->tasks[i], best_effort))
            continue;
        if (sheet->n > 0 && sorted)
            sorted = !run->host->task_less(run->session, job->tasks[i], sheet->tasks[sheet->n - 1]);
        sheet->tasks[sheet->n++] = job->tasks[i];
    }
    if (sorted)
        return;
    struct maar_heap heap;
    maar_heap_init(&heap, run->host->task_less, run->session);
    for (size_t i = 0; i < sheet->n; i++)
        maar_heap_push(&heap, sheet->tasks[i]);
    for (size_t i = 0; i < sheet->n; i++)
        sheet->tasks[i] = maar_heap_pop(&heap);
    maar_heap_fini(&heap);
}

/* False when the job has no turn in this session. */
static bool enters(struct run *run, const struct maar_job *job)
{
    if (maar_job_is_pending(job)) {
        if (run->host->has_action(run->session, "enqueue"))
            return false;
        run->host->admit(run->session, job);
    }
    if (job->n[MAAR_TASK_PENDING] == 0)
        return false;
    return run->host->job_valid(run->session, job);
}

static void collect(struct run *run)
{
    const struct maar_view *view = run->view;
    for (uint32_t i = 0; i < view->n_waiting; i++)
        if (view->waiting[i]->slot >= run->n_job_slots)
            run->n_job_slots = view->waiting[i]->slot + 1;
    run->sheets = allocate(run->n_job_slots, sizeof *run->sheets);
    for (uint32_t i = 0; i < view->n_waiting; i++) {
        const struct maar_job *job = view->waiting[i];
        if (!enters(run, job))
            continue;
        struct sheet *sheet = &run->sheets[job->slot];
        fill_sheet(run, job, false, sheet);
        if (sheet->n > 0)
            maar_turns_add_job(&run->turns, job);
    }
}

/* Pods that ask for nothing must find a node as well, as many as the minimum needs; backfill places the others. */
static bool place_best_effort(struct run *run, struct maar_statement *statement,
                              const struct maar_job *job)
{
    if (run->view->compatibility || job->n_pending_best_effort == 0 ||
        (int64_t)maar_job_n_ready(job) >= job->min_available)
        return true;
    struct sheet sheet = {0};
    fill_sheet(run, job, true, &sheet);
    bool enough = false;
    for (; sheet.at < sheet.n && !enough; sheet.at++) {
        run->host->place(statement, job, &sheet.tasks[sheet.at], 1, MAAR_PLACE_BEST_EFFORT);
        enough = (int64_t)maar_job_n_ready(job) >= job->min_available;
    }
    free((void *)sheet.tasks);
    return enough;
}

/* One turn. True when the job is done for this session or still has a chance, false when it was refused. */
static bool take_turn(struct run *run, const struct maar_job *job)
{
    const struct maar_action_host *host = run->host;
    struct sheet *sheet = &run->sheets[job->slot];
    const struct maar_task *const *tasks = sheet->tasks + sheet->at;
    size_t n = sheet->n - sheet->at;
    struct maar_statement *statement = host->begin(run->session);
    size_t start = host->mark(statement);
    struct maar_place_result result = host->place(statement, job, tasks, n, run->place_flags);
    sheet->at += result.n_tried;

    bool ready = host->job_ready(run->session, job);
    if (!ready && !host->job_pipelined(run->session, job)) {
        host->rewind(statement, start);
        ready = host->place_harder(statement, job, tasks, n);
        sheet->at = ready ? sheet->n : sheet->at;
    }
    if (ready && place_best_effort(run, statement, job)) {
        host->commit(statement);
        if (sheet->at < sheet->n)
            maar_turns_add_job(&run->turns, job);
        return true;
    }
    if (!ready && host->job_pipelined(run->session, job)) {
        host->keep(statement);
        return true;
    }
    host->discard(statement);
    return false;
}

/* What the rest of the job asks for. */
static uint64_t asked_by(const struct sheet *sheet)
{
    uint64_t asked = 0;
    for (size_t i = sheet->at; i < sheet->n; i++) {
        const struct maar_resource *request = &sheet->tasks[i]->cls->request;
        for (uint32_t d = 0; d < request->n; d++)
            if (request->v[d] > 0)
                asked |= UINT64_C(1) << d;
    }
    return asked;
}

static void serve(struct run *run, const struct maar_job *job)
{
    if (!maar_turns_has_barriers(&run->turns, job->queue))
        take_turn(run, job);
    else if (maar_turns_may_try(&run->turns, job, asked_by(&run->sheets[job->slot])) &&
             !take_turn(run, job))
        maar_turns_refused(&run->turns, job);
}

static void execute(void *session, const struct maar_action_host *host,
                    const struct maar_arguments *conf)
{
    struct run run = {.host = host, .session = session, .view = host->view(session)};
    run.place_flags = MAAR_PLACE_UNTIL_READY;
    if (host->host->argument_bool(conf, "predicateErrorCacheEnable"))
        run.place_flags |= MAAR_PLACE_ROLE_MEMORY;
    maar_turns_init(&run.turns, host, session);
    collect(&run);

    const struct maar_queue *queue;
    while ((queue = maar_turns_next_queue(&run.turns))) {
        if (host->queue_overused(session, queue))
            continue;
        const struct maar_job *job = maar_turns_next_job(&run.turns, queue);
        if (!job)
            continue;
        serve(&run, job);
        maar_turns_again(&run.turns, queue);
    }

    for (size_t i = 0; i < run.n_job_slots; i++)
        free((void *)run.sheets[i].tasks);
    free(run.sheets);
    maar_turns_fini(&run.turns);
}

static const struct maar_argument arguments[] = {
    {"predicateErrorCacheEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Under compatibility: volcano, nodes that refused one pod of a role are not asked for the "
     "next."},
    {NULL, MAAR_ARGUMENT_BOOL, NULL, NULL, NULL},
};

MAAR_EXPORT const struct maar_action maar_action = {
    MAAR_ACTION_HEADER,
    .name = "allocate",
    .summary = "Places jobs on idle room, each gang whole or not at all.",
    .arguments = arguments,
    .execute = execute,
};
