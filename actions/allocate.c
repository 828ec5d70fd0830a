/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* allocate: gives jobs their nodes, each gang whole or not at all.
 *
 * Queues take turns in queue order, in a queue the jobs in job order. A turn places tasks until the job is ready and
 * commits; what is left of the job gets further turns, one task each. A job that can only be completed on room that is
 * still being released holds that room until the session ends. A job that cannot be completed leaves nothing behind.
 *
 * A job with subGroupPolicy is placed sub-job by sub-job, first those that its minima need. A turn places sub-jobs
 * until the job is ready; further turns add one sub-job each, or one task to a sub-job that is ready. A sub-job that
 * cannot be completed leaves nothing behind, one that only room still being released completes holds it unsent.
 *
 * A job that was refused stands in the way of later ones as the dequeueStrategy of its queue says. Members above a
 * job's minimum that find no room do not make it a refused one.
 *
 * Configuration key: predicateErrorCacheEnable (bool, true): under `compatibility: volcano`, a node that refused one
 * pod of a role is not asked for the next of that role. Without it pods are told apart by what they ask. */

#include <maar/turns.h>

/* Tasks of a job or sub-job in task order; tasks[0..at) have had their turn. */
struct sheet {
    const struct maar_task **tasks;
    size_t n;
    size_t at;
};

struct part {
    const struct maar_sub_job *sub_job;
    bool required; /* a minimum of sub-jobs needs it */
    struct sheet sheet;
};

/* What a job has to place. */
struct work {
    struct sheet sheet; /* without sub-jobs */
    struct part *parts; /* one a sub-job */
    size_t n_parts;
    struct maar_heap heap; /* parts that have not had all their turns */
    bool gates_asked;
};

struct run {
    const struct maar_action_host *host;
    void *session;
    const struct maar_view *view;
    uint32_t place_flags;
    struct maar_turns turns;
    struct work *works; /* [job slot] */
    size_t n_job_slots;
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

/* Members that ask for nothing are backfill's business; gated ones wait for their gates, but that of the queue may
 * be opened here. */
static bool is_eligible(const struct maar_task *task, bool best_effort)
{
    if (task->status != MAAR_TASK_PENDING || task->cls->best_effort != best_effort)
        return false;
    return !task->gated || (task->only_queue_gate && !best_effort);
}

static void fill_sheet(const struct run *run, struct maar_task *const *tasks, uint32_t n,
                       bool best_effort, struct sheet *sheet)
{
    sheet->tasks = allocate(n, sizeof *sheet->tasks);
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_eligible(tasks[i], best_effort))
            continue;
        if (sheet->n > 0 && sorted)
            sorted = !run->host->task_less(run->session, tasks[i], sheet->tasks[sheet->n - 1]);
        sheet->tasks[sheet->n++] = tasks[i];
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

/* ---- parts of a job ---- */

/* sub_job NULL: the job. */
static bool is_done(const struct run *run, const struct maar_job *job,
                    const struct maar_sub_job *sub_job)
{
    return sub_job ? run->host->sub_job_ready(run->session, job, sub_job)
                   : run->host->job_ready(run->session, job);
}

static bool is_pipelined(const struct run *run, const struct maar_job *job,
                         const struct maar_sub_job *sub_job)
{
    return sub_job ? run->host->sub_job_pipelined(run->session, job, sub_job)
                   : run->host->job_pipelined(run->session, job);
}

/* Those that a minimum needs first. */
static bool part_less(void *context, const void *l, const void *r)
{
    const struct run *run = context;
    const struct part *a = l, *b = r;
    if (a->required != b->required)
        return a->required;
    return run->host->sub_job_less(run->session, a->sub_job, b->sub_job);
}

/* Of each policy, the first sub-jobs that make up its minimum. One that lacks pods cannot, which Volcano does not
 * look at. */
static void mark_required(struct run *run, const struct maar_job *job, struct work *work)
{
    int64_t *missing = allocate(job->n_sub_group_policies, sizeof *missing);
    struct maar_heap heap;
    maar_heap_init(&heap, part_less, run);
    for (uint32_t p = 0; p < job->n_sub_group_policies; p++)
        missing[p] = job->sub_group_policies[p].min;
    for (size_t i = 0; i < work->n_parts; i++) {
        const struct maar_sub_job *sub_job = work->parts[i].sub_job;
        if (sub_job->policy == MAAR_NO_POLICY)
            continue;
        if (is_done(run, job, sub_job))
            missing[sub_job->policy]--;
        else if (run->view->compatibility ||
                 (int64_t)maar_sub_job_n_valid(sub_job) >= sub_job->min_available)
            maar_heap_push(&heap, &work->parts[i]);
    }
    for (const struct part *next; (next = maar_heap_pop(&heap));)
        work->parts[next - work->parts].required = missing[next->sub_job->policy]-- > 0;
    maar_heap_fini(&heap);
    free(missing);
}

/* True when it is to have a turn. Members that ask for nothing are placed here only to make up its minimum. */
static bool has_turn(const struct run *run, const struct part *part)
{
    return part->sheet.n > 0 ||
           (!run->view->compatibility && part->sub_job->n_pending_best_effort > 0 &&
            !is_done(run, part->sub_job->job, part->sub_job));
}

static bool fill_parts(struct run *run, const struct maar_job *job, struct work *work)
{
    bool any = false;
    work->n_parts = job->n_sub_jobs;
    work->parts = allocate(work->n_parts, sizeof *work->parts);
    for (size_t i = 0; i < work->n_parts; i++)
        work->parts[i].sub_job = job->sub_jobs[i];
    mark_required(run, job, work);
    maar_heap_init(&work->heap, part_less, run);
    for (size_t i = 0; i < work->n_parts; i++) {
        struct part *part = &work->parts[i];
        fill_sheet(run, part->sub_job->tasks, part->sub_job->n_tasks, false, &part->sheet);
        any |= part->sheet.n > 0;
        if (has_turn(run, part))
            maar_heap_push(&work->heap, part);
    }
    return any;
}

/* False when there is nothing to place. */
static bool fill_work(struct run *run, const struct maar_job *job, struct work *work)
{
    if (job->n_sub_jobs > 0)
        return fill_parts(run, job, work);
    fill_sheet(run, job->tasks, job->n_tasks, false, &work->sheet);
    return work->sheet.n > 0;
}

static void free_work(struct work *work)
{
    for (size_t i = 0; i < work->n_parts; i++)
        free((void *)work->parts[i].sheet.tasks);
    free((void *)work->sheet.tasks);
    free(work->parts);
    maar_heap_fini(&work->heap);
}

/* ---- the jobs of the session ---- */

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

/* Once a session, before the job's first turn: what it opens keeps its room from those that come later. */
static void open_gates(struct run *run, const struct maar_job *job)
{
    struct work *work = &run->works[job->slot];
    if (!run->view->queue_admission || work->gates_asked)
        return;
    work->gates_asked = true;
    const struct maar_task **tasks = allocate(job->n_tasks, sizeof *tasks);
    size_t n = 0;
    for (size_t i = 0; i < work->sheet.n; i++)
        tasks[n++] = work->sheet.tasks[i];
    for (size_t p = 0; p < work->n_parts; p++)
        for (size_t i = 0; i < work->parts[p].sheet.n; i++)
            tasks[n++] = work->parts[p].sheet.tasks[i];
    run->host->open_gates(run->session, job, tasks, n);
    free((void *)tasks);
}

static void collect(struct run *run)
{
    const struct maar_view *view = run->view;
    for (uint32_t i = 0; i < view->n_waiting; i++)
        if (view->waiting[i]->slot >= run->n_job_slots)
            run->n_job_slots = view->waiting[i]->slot + 1;
    run->works = allocate(run->n_job_slots, sizeof *run->works);
    for (uint32_t i = 0; i < view->n_waiting; i++) {
        const struct maar_job *job = view->waiting[i];
        if (!enters(run, job))
            continue;
        if (fill_work(run, job, &run->works[job->slot]))
            maar_turns_add_job(&run->turns, job);
        else
            open_gates(run, job);
    }
}

/* ---- turns ---- */

/* Members that ask for nothing could make up what is missing, if they find nodes. */
static bool is_propped(const struct maar_job *job, const struct maar_sub_job *sub_job)
{
    return sub_job ? maar_sub_job_is_pipelined(sub_job) && sub_job->n_pending_best_effort > 0
                   : maar_job_is_pipelined(job) && job->n_pending_best_effort > 0;
}

/* Places members that ask for nothing, as many as the minimum needs; backfill places the others. */
static bool fill_with_best_effort(struct run *run, struct maar_statement *statement,
                                  const struct maar_job *job, const struct maar_sub_job *sub_job)
{
    if (is_done(run, job, sub_job))
        return true;
    if (run->view->compatibility || !is_propped(job, sub_job))
        return false;
    struct sheet sheet = {0};
    fill_sheet(run, sub_job ? sub_job->tasks : job->tasks,
               sub_job ? sub_job->n_tasks : job->n_tasks, true, &sheet);
    size_t n = 0;
    for (size_t i = 0; i < sheet.n; i++) {
        const struct maar_sub_job *own = sheet.tasks[i]->sub_job;
        if (!own || own == sub_job || is_done(run, job, own)) /* nothing for a part of another */
            sheet.tasks[n++] = sheet.tasks[i];
    }
    run->host->place(statement, job, sub_job, sheet.tasks, n,
                     MAAR_PLACE_BEST_EFFORT | MAAR_PLACE_UNTIL_READY);
    free((void *)sheet.tasks);
    return is_done(run, job, sub_job);
}

/* Places what comes next on the sheet, until the job or the sub-job is done; false when it does not get so far. Members
 * that ask for nothing count beforehand. Where they find no nodes, more of the others may do. */
static bool place_next(struct run *run, struct maar_statement *statement,
                       const struct maar_job *job, const struct maar_sub_job *sub_job,
                       struct sheet *sheet)
{
    bool done = false;
    do
        sheet->at += run->host
                         ->place(statement, job, sub_job, sheet->tasks + sheet->at,
                                 sheet->n - sheet->at, run->place_flags)
                         .n_tried;
    while (!(done = fill_with_best_effort(run, statement, job, sub_job)) &&
           is_propped(job, sub_job) && sheet->at < sheet->n);
    return done;
}

/* The same by other ways, from sheet->tasks[at] on, before it is given up. */
static bool place_harder(struct run *run, struct maar_statement *statement,
                         const struct maar_job *job, const struct maar_sub_job *sub_job,
                         struct sheet *sheet, size_t at)
{
    if (!run->host->place_harder(statement, job, sub_job, sheet->tasks + at, sheet->n - at))
        return false;
    sheet->at = at;
    bool done = fill_with_best_effort(run, statement, job, sub_job) ||
                place_next(run, statement, job, sub_job, sheet);
    sheet->at = sheet->n;
    return done;
}

/* One turn of a job or a sub-job: true when it is done. Else, unless it is pipelined, nothing has changed. */
static bool place_turn(struct run *run, struct maar_statement *statement,
                       const struct maar_job *job, const struct maar_sub_job *sub_job,
                       struct sheet *sheet)
{
    size_t mark = run->host->mark(statement), at = sheet->at;
    if (place_next(run, statement, job, sub_job, sheet))
        return true;
    if (is_pipelined(run, job, sub_job))
        return false;
    run->host->rewind(statement, mark);
    if (place_harder(run, statement, job, sub_job, sheet, at))
        return true;
    run->host->rewind(statement, mark);
    return false;
}

/* One turn. True when the job is done for this session or still has a chance, false when it was refused. */
static bool take_turn(struct run *run, const struct maar_job *job)
{
    const struct maar_action_host *host = run->host;
    struct sheet *sheet = &run->works[job->slot].sheet;
    struct maar_statement *statement = host->begin(run->session);
    if (place_turn(run, statement, job, NULL, sheet)) {
        host->commit(statement);
        if (sheet->at < sheet->n)
            maar_turns_add_job(&run->turns, job);
        return true;
    }
    if (host->job_pipelined(run->session, job)) {
        host->keep(statement);
        return true;
    }
    host->discard(statement);
    return false;
}

enum outcome {
    OUTCOME_NOTHING, /* and nothing has changed */
    OUTCOME_READY,
    OUTCOME_PIPELINED,
};

static enum outcome place_part(struct run *run, struct maar_statement *statement, struct part *part)
{
    const struct maar_sub_job *sub_job = part->sub_job;
    size_t mark = run->host->mark(statement);
    bool done = place_turn(run, statement, sub_job->job, sub_job, &part->sheet);
    if (run->host->mark(statement) == mark)
        return OUTCOME_NOTHING;
    return done ? OUTCOME_READY : OUTCOME_PIPELINED;
}

/* Places parts until the job is done. Volcano sends what is there of a sub-job that waits for releases; here such
 * ones are left out and given back in waiting[0..n). */
static size_t place_parts(struct run *run, struct maar_statement *statement,
                          const struct maar_job *job, struct part **waiting)
{
    struct work *work = &run->works[job->slot];
    size_t n_waiting = 0;
    for (const void *next; (next = maar_heap_pop(&work->heap));) {
        struct part *part = &work->parts[(const struct part *)next - work->parts];
        size_t mark = run->host->mark(statement), at = part->sheet.at;
        enum outcome outcome = place_part(run, statement, part);
        if (outcome == OUTCOME_NOTHING)
            continue;
        if (outcome == OUTCOME_PIPELINED && !run->view->compatibility) {
            run->host->rewind(statement, mark);
            part->sheet.at = at;
            waiting[n_waiting++] = part;
            continue;
        }
        if (part->sheet.at < part->sheet.n)
            maar_heap_push(&work->heap, part);
        if (fill_with_best_effort(run, statement, job, NULL))
            break;
    }
    return n_waiting;
}

static void send_parts(struct run *run, struct maar_statement *statement,
                       const struct maar_job *job, struct part *const *waiting, size_t n_waiting)
{
    struct work *work = &run->works[job->slot];
    run->host->commit(statement);
    for (size_t i = 0; i < n_waiting; i++)
        maar_heap_push(&work->heap, waiting[i]);
    if (work->heap.n > 0)
        maar_turns_add_job(&run->turns, job);
}

/* One turn of a job with sub-jobs; as take_turn. */
static bool take_turn_by_parts(struct run *run, const struct maar_job *job)
{
    const struct maar_action_host *host = run->host;
    struct part **waiting = allocate(run->works[job->slot].n_parts, sizeof(struct part *));
    struct maar_statement *statement = host->begin(run->session);
    size_t start = host->mark(statement);
    size_t n_waiting = place_parts(run, statement, job, waiting);
    bool has_more = host->mark(statement) > start;
    if (has_more && is_done(run, job, NULL)) {
        send_parts(run, statement, job, waiting, n_waiting);
        free(waiting);
        return true;
    }
    /* All that could be sent was sent before, or the job is not complete without what waits. */
    for (size_t i = 0; i < n_waiting; i++)
        place_part(run, statement, waiting[i]);
    free(waiting);
    if (host->mark(statement) > start && host->job_pipelined(run->session, job)) {
        host->keep(statement);
        return true;
    }
    host->discard(statement);
    return is_done(run, job, NULL);
}

static uint64_t asked_by_sheet(const struct sheet *sheet)
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

/* What the rest of the job asks for. */
static uint64_t asked_by(const struct work *work)
{
    uint64_t asked = asked_by_sheet(&work->sheet);
    for (size_t i = 0; i < work->n_parts; i++)
        asked |= asked_by_sheet(&work->parts[i].sheet);
    return asked;
}

/* True when the job was refused. */
static bool is_refused(struct run *run, const struct maar_job *job)
{
    if (run->host->was_refused(run->session, job))
        return true;
    if (job->n_sub_jobs > 0 ? take_turn_by_parts(run, job) : take_turn(run, job))
        return false;
    run->host->refused(run->session, job);
    return true;
}

static void serve(struct run *run, const struct maar_job *job)
{
    bool has_barriers = maar_turns_has_barriers(&run->turns, job->queue);
    if (has_barriers && !maar_turns_may_try(&run->turns, job, asked_by(&run->works[job->slot])))
        return;
    open_gates(run, job);
    if (is_refused(run, job) && has_barriers)
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
        free_work(&run.works[i]);
    free(run.works);
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
