/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* How the answers of the plugins of all tiers become one: each kind of question has its rule (core.md 5.3). */

#include "session/session.h"

/* Walks the listings in tier order. `i_tier` is visible in the body. */
#define EACH_LISTING(session, listing)                                                             \
    for (size_t i_tier = 0; i_tier < (session)->policy->n_tiers; i_tier++)                         \
        for (const struct maar_listing *listing = (session)->policy->tiers[i_tier].listings,       \
                                       *end_ = listing + (session)->policy->tiers[i_tier].n;       \
             listing < end_; listing++)

/* The hook of a listing when its enable key allows it. */
#define HOOK(listing, key, name)                                                                   \
    (maar_listing_has(listing, key) ? (listing)->instance->plugin->hooks.name : NULL)
/* Hooks without enable key. */
#define FREE_HOOK(listing, name)                                                                   \
    ((listing)->instance->open ? (listing)->instance->plugin->hooks.name : NULL)

#define SELF(listing) (listing)->instance->self, &(listing)->instance->view

/* ---- order ---- */

/* A gang that a refused binding left incomplete goes before everything else, and its queue likewise. */
static int compare_repairs(const struct maar_session *session, uint32_t l, uint32_t r)
{
    if (session->policy->conf->compatibility_volcano || (l > 0) == (r > 0))
        return 0;
    return l > 0 ? -1 : 1;
}

bool maar_vote_job_less(void *context, const void *l, const void *r)
{
    struct maar_session *session = context;
    const struct maar_job *a = l, *b = r;
    int repair = compare_repairs(session, maar_job_entry(a)->n_bind_failed,
                                 maar_job_entry(b)->n_bind_failed);
    if (repair != 0)
        return repair < 0;
    EACH_LISTING(session, listing)
    {
        int (*hook)(void *, const struct maar_view *, const struct maar_job *,
                    const struct maar_job *) = HOOK(listing, MAAR_ENABLE_JOB_ORDER, job_order);
        int c = hook ? hook(SELF(listing), a, b) : 0;
        if (c != 0)
            return c < 0;
    }
    if (a->created_ns != b->created_ns)
        return a->created_ns < b->created_ns;
    return strcmp(a->uid, b->uid) < 0;
}

int maar_vote_compare_queues(void *context, const struct maar_queue *l, const struct maar_queue *r)
{
    struct maar_session *session = context;
    int repair = compare_repairs(session, maar_queue_entry(l)->n_bind_failed,
                                 maar_queue_entry(r)->n_bind_failed);
    if (repair != 0)
        return repair;
    EACH_LISTING(session, listing)
    {
        int (*hook)(void *, const struct maar_view *, const struct maar_queue *,
                    const struct maar_queue *) =
            HOOK(listing, MAAR_ENABLE_QUEUE_ORDER, queue_order);
        int c = hook ? hook(SELF(listing), l, r) : 0;
        if (c != 0)
            return c;
    }
    if (l->created_ns != r->created_ns)
        return l->created_ns < r->created_ns ? -1 : 1;
    return strcmp(l->name, r->name);
}

bool maar_vote_queue_less(void *session, const void *l, const void *r)
{
    return maar_vote_compare_queues(session, l, r) < 0;
}

bool maar_vote_task_less(void *context, const void *l, const void *r)
{
    struct maar_session *session = context;
    EACH_LISTING(session, listing)
    {
        int (*hook)(void *, const struct maar_view *, const struct maar_task *,
                    const struct maar_task *) = HOOK(listing, MAAR_ENABLE_TASK_ORDER, task_order);
        int c = hook ? hook(SELF(listing), l, r) : 0;
        if (c != 0)
            return c < 0;
    }
    return maar_task_compare_default(l, r) < 0;
}

bool maar_vote_sub_job_less(void *context, const void *l, const void *r)
{
    struct maar_session *session = context;
    const struct maar_sub_job *a = l, *b = r;
    EACH_LISTING(session, listing)
    {
        int (*hook)(void *, const struct maar_view *, const struct maar_sub_job *,
                    const struct maar_sub_job *) =
            HOOK(listing, MAAR_ENABLE_SUB_JOB_ORDER, sub_job_order);
        int c = hook ? hook(SELF(listing), a, b) : 0;
        if (c != 0)
            return c < 0;
    }
    if (a->match_index != b->match_index)
        return a->match_index < b->match_index;
    return strcmp(a->uid, b->uid) < 0;
}

/* ---- gates ---- */

/* Always false. */
static bool refused_by(struct maar_session *session, const struct maar_listing *listing)
{
    session->refuser = listing->instance->plugin->name;
    return false;
}

bool maar_vote_job_valid(struct maar_session *session, const struct maar_job *job,
                         struct maar_validity *ret)
{
    EACH_LISTING(session, listing)
    {
        void (*hook)(void *, const struct maar_view *, const struct maar_job *,
                     struct maar_validity *) = FREE_HOOK(listing, job_valid);
        if (!hook)
            continue;
        *ret = (struct maar_validity){.pass = true};
        hook(SELF(listing), job, ret);
        if (!ret->pass)
            return refused_by(session, listing);
    }
    *ret = (struct maar_validity){.pass = true};
    return true;
}

bool maar_vote_job_ready(struct maar_session *session, const struct maar_job *job)
{
    EACH_LISTING(session, listing)
    {
        bool (*hook)(void *, const struct maar_view *, const struct maar_job *) =
            HOOK(listing, MAAR_ENABLE_JOB_READY, job_ready);
        if (hook && !hook(SELF(listing), job))
            return false;
    }
    return true;
}

bool maar_vote_sub_job_ready(struct maar_session *session, const struct maar_job *job,
                             const struct maar_sub_job *sub_job)
{
    if (!sub_job)
        return maar_vote_job_ready(session, job);
    EACH_LISTING(session, listing)
    {
        bool (*hook)(void *, const struct maar_view *, const struct maar_job *,
                     const struct maar_sub_job *) =
            HOOK(listing, MAAR_ENABLE_SUB_JOB_READY, sub_job_ready);
        if (hook && !hook(SELF(listing), job, sub_job))
            return false;
    }
    return true;
}

enum question {
    ASK_PIPELINED,
    ASK_SUB_JOB_PIPELINED,
    ASK_ENQUEUEABLE,
};

static enum maar_vote answer(const struct maar_listing *listing, enum question question,
                             const struct maar_job *job, const struct maar_sub_job *sub_job)
{
    enum maar_vote (*hook)(void *, const struct maar_view *, const struct maar_job *) = NULL;
    enum maar_vote (*sub_job_hook)(void *, const struct maar_view *, const struct maar_job *,
                                   const struct maar_sub_job *) = NULL;
    switch (question) {
    case ASK_PIPELINED:
        hook = HOOK(listing, MAAR_ENABLE_JOB_PIPELINED, job_pipelined);
        break;
    case ASK_SUB_JOB_PIPELINED:
        sub_job_hook = HOOK(listing, MAAR_ENABLE_SUB_JOB_PIPELINED, sub_job_pipelined);
        break;
    case ASK_ENQUEUEABLE:
        hook = HOOK(listing, MAAR_ENABLE_JOB_ENQUEUED, job_enqueueable);
        break;
    }
    if (hook)
        return hook(SELF(listing), job);
    return sub_job_hook ? sub_job_hook(SELF(listing), job, sub_job) : MAAR_ABSTAIN;
}

/* A reject met anywhere decides at once; after a tier with a permit, lower tiers are not asked. */
static bool ask(struct maar_session *session, enum question question, const struct maar_job *job,
                const struct maar_sub_job *sub_job)
{
    for (size_t t = 0; t < session->policy->n_tiers; t++) {
        const struct maar_tier *tier = &session->policy->tiers[t];
        bool permitted = false;
        for (size_t i = 0; i < tier->n; i++) {
            enum maar_vote vote = answer(&tier->listings[i], question, job, sub_job);
            if (vote < 0)
                return refused_by(session, &tier->listings[i]);
            permitted |= vote > 0;
        }
        if (permitted)
            return true;
    }
    return true;
}

bool maar_vote_job_pipelined(struct maar_session *session, const struct maar_job *job)
{
    return ask(session, ASK_PIPELINED, job, NULL);
}

bool maar_vote_sub_job_pipelined(struct maar_session *session, const struct maar_job *job,
                                 const struct maar_sub_job *sub_job)
{
    return ask(session, sub_job ? ASK_SUB_JOB_PIPELINED : ASK_PIPELINED, job, sub_job);
}

bool maar_vote_job_enqueueable(struct maar_session *session, const struct maar_job *job)
{
    return ask(session, ASK_ENQUEUEABLE, job, NULL);
}

void maar_vote_job_enqueued(struct maar_session *session, const struct maar_job *job)
{
    EACH_LISTING(session, listing)
    {
        void (*hook)(void *, const struct maar_view *, const struct maar_job *) =
            HOOK(listing, MAAR_ENABLE_JOB_ENQUEUED, on_enqueued);
        if (hook)
            hook(SELF(listing), job);
    }
}

/* The first tier that has an opinion decides: all of its plugins must say yes. */
static void hide(struct maar_session *session, uint32_t *n_pending_best_effort)
{
    maar_vec_push(&session->hidden, *n_pending_best_effort);
    *n_pending_best_effort = 0;
}

static void hide_propping(struct maar_session *session, struct maar_job_entry *job)
{
    maar_vec_clear(&session->hidden);
    hide(session, &job->view.n_pending_best_effort);
    for (size_t i = 0; i < job->roles.n; i++)
        hide(session, &job->roles.data[i].n_pending_best_effort);
    for (size_t i = 0; i < job->sub_jobs.n; i++)
        hide(session, &job->sub_jobs.data[i]->n_pending_best_effort);
}

static void show_propping(const struct maar_session *session, struct maar_job_entry *job)
{
    const uint32_t *hidden = session->hidden.data;
    job->view.n_pending_best_effort = *hidden++;
    for (size_t i = 0; i < job->roles.n; i++)
        job->roles.data[i].n_pending_best_effort = *hidden++;
    for (size_t i = 0; i < job->sub_jobs.n; i++)
        job->sub_jobs.data[i]->n_pending_best_effort = *hidden++;
}

static bool vote_placed(struct maar_session *session, const struct maar_job *job,
                        const struct maar_sub_job *sub_job,
                        bool (*vote)(struct maar_session *, const struct maar_job *,
                                     const struct maar_sub_job *))
{
    if (job->n_pending_best_effort == 0 || session->policy->conf->compatibility_volcano)
        return vote(session, job, sub_job);
    hide_propping(session, maar_job_entry(job));
    bool answer = vote(session, job, sub_job);
    show_propping(session, maar_job_entry(job));
    return answer;
}

bool maar_vote_placed_ready(struct maar_session *session, const struct maar_job *job,
                            const struct maar_sub_job *sub_job)
{
    return vote_placed(session, job, sub_job, maar_vote_sub_job_ready);
}

bool maar_vote_placed_pipelined(struct maar_session *session, const struct maar_job *job,
                                const struct maar_sub_job *sub_job)
{
    return vote_placed(session, job, sub_job, maar_vote_sub_job_pipelined);
}

bool maar_vote_job_starving(struct maar_session *session, const struct maar_job *job)
{
    for (size_t t = 0; t < session->policy->n_tiers; t++) {
        const struct maar_tier *tier = &session->policy->tiers[t];
        bool asked = false;
        for (size_t i = 0; i < tier->n; i++) {
            const struct maar_listing *listing = &tier->listings[i];
            bool (*hook)(void *, const struct maar_view *, const struct maar_job *) =
                HOOK(listing, MAAR_ENABLE_JOB_STARVING, job_starving);
            if (!hook)
                continue;
            asked = true;
            if (!hook(SELF(listing), job))
                return false;
        }
        if (asked)
            return true;
    }
    return false;
}

bool maar_vote_queue_overused(struct maar_session *session, const struct maar_queue *queue)
{
    EACH_LISTING(session, listing)
    {
        bool (*hook)(void *, const struct maar_view *, const struct maar_queue *) =
            HOOK(listing, MAAR_ENABLE_OVERUSED, queue_overused);
        if (hook && hook(SELF(listing), queue))
            return !refused_by(session, listing);
    }
    return false;
}

bool maar_vote_queue_preemptive(struct maar_session *session, const struct maar_queue *queue,
                                const struct maar_task *const *tasks, size_t n)
{
    EACH_LISTING(session, listing)
    {
        bool (*hook)(void *, const struct maar_view *, const struct maar_queue *,
                     const struct maar_task *const *, size_t) =
            HOOK(listing, MAAR_ENABLE_PREEMPTIVE, queue_preemptive);
        if (hook && !hook(SELF(listing), queue, tasks, n))
            return false;
    }
    return true;
}

uint32_t maar_vote_queue_room(struct maar_session *session, const struct maar_queue *queue,
                              const struct maar_task *task, uint32_t want,
                              struct maar_reasons *reasons)
{
    EACH_LISTING(session, listing)
    {
        uint32_t (*hook)(void *, const struct maar_view *, const struct maar_queue *,
                         const struct maar_task *, uint32_t, struct maar_reasons *) =
            HOOK(listing, MAAR_ENABLE_ALLOCATABLE, queue_room);
        if (!hook)
            continue;
        uint32_t room = hook(SELF(listing), queue, task, want, reasons);
        if (room > want) {
            session->n_bad_answers++;
            room = want;
        }
        want = room;
        if (want == 0) {
            session->refuser = listing->instance->plugin->name;
            return 0;
        }
    }
    return want;
}

bool maar_vote_pre_filter(struct maar_session *session, const struct maar_task *task,
                          struct maar_reasons *reasons)
{
    EACH_LISTING(session, listing)
    {
        bool (*hook)(void *, const struct maar_view *, const struct maar_task *,
                     struct maar_reasons *) = HOOK(listing, MAAR_ENABLE_PREDICATE, pre_filter);
        if (hook && !hook(SELF(listing), task, reasons))
            return false;
    }
    return true;
}

uint32_t maar_vote_best_node(struct maar_session *session, const struct maar_task *task,
                             const uint32_t *nodes, size_t n)
{
    EACH_LISTING(session, listing)
    {
        uint32_t (*hook)(void *, const struct maar_view *, const struct maar_task *,
                         const uint32_t *, size_t) =
            HOOK(listing, MAAR_ENABLE_BEST_NODE, best_node);
        uint32_t node = hook ? hook(SELF(listing), task, nodes, n) : MAAR_NO_NODE;
        for (size_t i = 0; i < n; i++)
            if (nodes[i] == node)
                return node;
        if (node != MAAR_NO_NODE)
            session->n_bad_answers++;
    }
    return MAAR_NO_NODE;
}

/* ---- victims ---- */

typedef enum maar_vote (*victims_fn)(void *, const struct maar_view *, const struct maar_task *,
                                     const struct maar_task *const *, size_t, uint64_t *);

static bool any_bit(const uint64_t *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (words[i])
            return true;
    return false;
}

/* An empty answer ends its tier, the next one is asked afresh; an intersection that becomes empty counts as not
 * started, so that the next plugin of the tier seeds it again. */
bool maar_vote_victims(struct maar_session *session, bool reclaim, const struct maar_task *evictor,
                       const struct maar_task *const *candidates, size_t n, uint64_t *out)
{
    size_t n_words = (n + 63) / 64;
    uint64_t *answer = maar_arena_calloc(session->arena, n_words, sizeof *answer);
    for (size_t t = 0; t < session->policy->n_tiers; t++) {
        const struct maar_tier *tier = &session->policy->tiers[t];
        bool set = false;
        memset(out, 0, n_words * sizeof *out);
        for (size_t i = 0; i < tier->n; i++) {
            const struct maar_listing *listing = &tier->listings[i];
            victims_fn hook = reclaim ? HOOK(listing, MAAR_ENABLE_RECLAIMABLE, reclaimable)
                                      : HOOK(listing, MAAR_ENABLE_PREEMPTABLE, preemptable);
            if (!hook)
                continue;
            memset(answer, 0, n_words * sizeof *answer);
            if (hook(SELF(listing), evictor, candidates, n, answer) == MAAR_ABSTAIN)
                continue;
            if (!any_bit(answer, n_words)) {
                set = false;
                break;
            }
            for (size_t w = 0; w < n_words; w++)
                out[w] = set ? out[w] & answer[w] : answer[w];
            set = any_bit(out, n_words);
        }
        if (set)
            return true;
    }
    memset(out, 0, n_words * sizeof *out);
    return false;
}

/* ---- events ---- */

void maar_vote_on_allocate(struct maar_session *session, const struct maar_task *task)
{
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        struct maar_instance *instance = &session->policy->instances[i];
        if (instance->open && instance->plugin->hooks.on_allocate)
            instance->plugin->hooks.on_allocate(instance->self, &instance->view, task);
    }
}

void maar_vote_on_deallocate(struct maar_session *session, const struct maar_task *task)
{
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        struct maar_instance *instance = &session->policy->instances[i];
        if (instance->open && instance->plugin->hooks.on_deallocate)
            instance->plugin->hooks.on_deallocate(instance->self, &instance->view, task);
    }
}

void maar_vote_on_room_kept(struct maar_session *session, const struct maar_task *task)
{
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        struct maar_instance *instance = &session->policy->instances[i];
        if (instance->open && instance->plugin->hooks.on_room_kept)
            instance->plugin->hooks.on_room_kept(instance->self, &instance->view, task);
    }
}
