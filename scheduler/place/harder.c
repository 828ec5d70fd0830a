/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Before a gang that might fit is given up: the members that minima of roles need first, so that one role does not use
 * up the room of another; largest members first; then a bounded search that takes back placements and tries the next
 * best node. For members of one class the last two change nothing. */

#include "place/place.h"

#define TRIALS_PER_GANG    4096u
#define TRIALS_PER_SESSION 65536u
#define NODES_PER_TASK     16u

static bool has_two_classes(const struct maar_task *const *tasks, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (tasks[i]->cls != tasks[0]->cls)
            return true;
    return false;
}

/* Part of the cluster that the task asks for, where it is greatest. */
static double size_of(const struct maar_session *session, const struct maar_task *task)
{
    const struct maar_resource *request = &task->cls->request;
    double greatest = 0;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        double total = (double)session->world->total_allocatable[d];
        double share = total > 0 ? (double)request->v[d] / total : 0;
        greatest = share > greatest ? share : greatest;
    }
    return greatest;
}

struct sized {
    const struct maar_task *task;
    double size;
    size_t order;
};

static int compare_sizes(const void *l, const void *r)
{
    const struct sized *a = l, *b = r;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static const struct maar_task **sort_by_size(struct maar_session *session,
                                             const struct maar_task *const *tasks, size_t n)
{
    struct sized *sized = maar_calloc(n, sizeof *sized);
    for (size_t i = 0; i < n; i++)
        sized[i] = (struct sized){tasks[i], size_of(session, tasks[i]), i};
    qsort(sized, n, sizeof *sized, compare_sizes);
    const struct maar_task **sorted = maar_arena_calloc(session->arena, n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = sized[i].task;
    free(sized);
    return sorted;
}

/* NULL when no role has a minimum that counts. */
static const struct maar_task **sort_by_roles(struct maar_session *session,
                                              const struct maar_job *job,
                                              const struct maar_task *const *tasks, size_t n)
{
    if (job->min_task_total == 0 || job->min_available < job->min_task_total)
        return NULL;
    int64_t *missing = maar_arena_calloc(session->arena, job->n_roles, sizeof *missing);
    for (uint32_t i = 0; i < job->n_roles; i++)
        missing[i] = (int64_t)job->roles[i].min - maar_role_n_occupied(&job->roles[i]);
    const struct maar_task **sorted = maar_arena_calloc(session->arena, n, sizeof *sorted);
    const struct maar_task **rest = maar_arena_calloc(session->arena, n, sizeof *rest);
    size_t n_sorted = 0, n_rest = 0;
    for (size_t i = 0; i < n; i++) {
        if (missing[tasks[i]->role_slot] > 0) {
            missing[tasks[i]->role_slot]--;
            sorted[n_sorted++] = tasks[i];
        } else {
            rest[n_rest++] = tasks[i];
        }
    }
    memcpy((void *)(sorted + n_sorted), (const void *)rest, n_rest * sizeof *rest);
    return sorted;
}

struct search {
    struct maar_statement *statement;
    struct maar_session *session;
    const struct maar_job *job;
    const struct maar_sub_job *sub_job; /* NULL: the whole job */
    const struct maar_task *const *tasks;
    size_t n;
    uint32_t n_trials;
};

static bool is_found(const struct search *search)
{
    return maar_vote_sub_job_ready(search->session, search->job, search->sub_job);
}

static bool try_order(const struct search *search, const struct maar_task *const *tasks)
{
    size_t mark = maar_statement_mark(search->statement);
    maar_place_tasks(search->statement, search->job, search->sub_job, tasks, search->n,
                     MAAR_PLACE_UNTIL_READY);
    if (is_found(search))
        return true;
    maar_statement_rewind(search->statement, mark, true);
    return false;
}

/* The same refusals as on the plain way. */
static bool is_barred(const struct search *search, const struct maar_task *task)
{
    if (maar_place_is_barred(task) ||
        maar_vote_queue_room(search->session, search->job->queue, task, 1, NULL) == 0)
        return true;
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, search->session->arena);
    bool passes = maar_vote_pre_filter(search->session, task, &reasons);
    maar_reasons_fini(&reasons);
    return !passes;
}

/* Places tasks[i..n); leaves the statement as it was when it fails. */
static bool search_from(struct search *search, size_t i)
{
    if (is_found(search))
        return true;
    if (i == search->n)
        return false;
    const struct maar_task *task = search->tasks[i];
    int64_t left = (int64_t)(search->n - i);
    struct maar_gang gang = maar_gang_of(search->job, search->sub_job);
    if (gang.ready + left < gang.min)
        return false;
    if (!is_barred(search, task)) {
        uint32_t nodes[NODES_PER_TASK];
        bool pipelined;
        size_t n = maar_scan_candidates(search->session, task, nodes, NODES_PER_TASK, &pipelined);
        /* Only room that is idle now counts: a gang that waits for releases is kept, not searched for. */
        for (size_t k = 0; k < n && !pipelined; k++) {
            if (search->n_trials == 0)
                return false;
            search->n_trials--;
            size_t mark = maar_statement_mark(search->statement);
            if (maar_statement_place(search->statement, &maar_task_entry(task)->view, nodes[k],
                                     false) < 0)
                continue;
            if (search_from(search, i + 1))
                return true;
            maar_statement_rewind(search->statement, mark, true);
        }
    }
    return search_from(search, i + 1);
}

/* The members' requests, summed, against all idle room: less than that can be refused at once. */
static bool might_fit(const struct maar_session *session, const struct maar_task *const *tasks,
                      size_t n, int64_t need)
{
    const struct maar_world *world = session->world;
    if (need <= 0 || (size_t)need > n)
        return false;
    if ((size_t)need < n)
        return true; /* which members make up the gang is open */
    for (uint32_t d = 0; d < world->dims.n; d++) {
        int64_t asked = 0;
        for (size_t i = 0; i < n; i++)
            asked += maar_resource_get(&tasks[i]->cls->request, d);
        if (asked > world->total_allocatable[d] - world->total_used[d])
            return false;
    }
    return true;
}

static bool search_by_size(struct search *search)
{
    search->tasks = sort_by_size(search->session, search->tasks, search->n);
    if (try_order(search, search->tasks))
        return true;
    size_t mark = maar_statement_mark(search->statement);
    search->n_trials = TRIALS_PER_GANG;
    bool found = search->n <= 256 && search_from(search, 0);
    search->session->n_trials += TRIALS_PER_GANG - search->n_trials + 1;
    if (!found)
        maar_statement_rewind(search->statement, mark, true);
    return found;
}

bool maar_place_is_exhausted(const struct maar_session *session)
{
    return session->n_trials >= TRIALS_PER_SESSION;
}

/* What is said of each task; trials that fail change nothing in it. */
static const char **save_texts(struct maar_session *session, const struct maar_task *const *tasks,
                               size_t n)
{
    const char **texts = maar_arena_calloc(session->arena, n, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = maar_session_task(session, tasks[i])->fit_text;
    return texts;
}

static void restore_texts(struct maar_session *session, const struct maar_task *const *tasks,
                          size_t n, const char *const *texts)
{
    for (size_t i = 0; i < n; i++)
        maar_session_task(session, tasks[i])->fit_text = texts[i];
}

bool maar_place_harder(struct maar_statement *statement, const struct maar_job *job,
                       const struct maar_sub_job *sub_job, const struct maar_task *const *tasks,
                       size_t n)
{
    struct maar_session *session = maar_statement_session(statement);
    struct maar_gang gang = maar_gang_of(job, sub_job);
    if (session->policy->conf->compatibility_volcano || n < 2 ||
        !might_fit(session, tasks, n, gang.min - gang.ready) || maar_place_is_exhausted(session))
        return false;
    const char **text = sub_job ? &maar_session_sub_job(session, sub_job)->gang_text
                                : &maar_session_job(session, job)->gang_text;
    const char *text_before = *text;
    const char **texts_before = save_texts(session, tasks, n);
    struct search search = {.statement = statement,
                            .session = session,
                            .job = job,
                            .sub_job = sub_job,
                            .tasks = tasks,
                            .n = n};
    const struct maar_task **by_roles = sub_job ? NULL : sort_by_roles(session, job, tasks, n);
    session->n_trials += by_roles != NULL;
    if (by_roles && try_order(&search, by_roles))
        return true;
    if (has_two_classes(tasks, n) && search_by_size(&search))
        return true;
    *text = text_before;
    restore_texts(session, tasks, n, texts_before);
    return false;
}
