/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* What a refused job lacked, dimension by dimension. Only queues with strategy fifo-per-resource want to know: there
 * a refused job stops later ones that ask for what it waits for. Plugins answer for a request as a whole, so they are
 * asked again for one dimension at a time. A node that could not hold the task even if it were empty, or whose facts
 * refuse it, keeps nobody waiting; so a job that can never run lacks nothing. */

#include "base/bitset.h"
#include "place/place.h"

bool maar_lacking_is_wanted(const struct maar_session *session, const struct maar_job *job)
{
    return job->queue && job->queue->dequeue_strategy == MAAR_DEQUEUE_FIFO_PER_RESOURCE &&
           !session->policy->conf->compatibility_volcano;
}

static uint64_t asked_of(const struct maar_resource *request)
{
    uint64_t asked = 0;
    for (uint32_t d = 0; d < request->n; d++)
        if (request->v[d] > 0)
            asked |= UINT64_C(1) << d;
    return asked;
}

/* The same amount in one dimension, nothing of the others. v has room for dimension d. */
static struct maar_resource one_of(const struct maar_resource *all, uint32_t d, int64_t *v)
{
    memset(v, 0, all->n * sizeof *v);
    v[d] = all->v[d];
    return (struct maar_resource){.present = UINT64_C(1) << d, .n = all->n, .v = v};
}

void maar_lacking_room(struct maar_session *session, const struct maar_job *job,
                       const struct maar_task *task)
{
    if (!maar_lacking_is_wanted(session, job))
        return;
    struct maar_resource *request = &maar_class_entry(task->cls)->view.request;
    const struct maar_resource whole = *request;
    int64_t v[MAAR_MAX_DIMS];
    uint64_t lacked = 0;
    session->supposing = true;
    for (uint64_t bits = asked_of(&whole); bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        *request = one_of(&whole, d, v);
        if (maar_vote_queue_room(session, job->queue, task, 1, NULL) == 0)
            lacked |= UINT64_C(1) << d;
    }
    *request = whole;
    session->supposing = false;
    maar_session_job(session, job)->lacked |= lacked;
}

void maar_lacking_at_gate(struct maar_session *session, const struct maar_job *job)
{
    if (!maar_lacking_is_wanted(session, job) || !job->has_min_resources)
        return;
    struct maar_resource *min = &maar_job_entry(job)->view.min_resources;
    const struct maar_resource whole = *min;
    int64_t v[MAAR_MAX_DIMS];
    uint64_t lacked = 0;
    session->supposing = true;
    for (uint64_t bits = asked_of(&whole); bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        *min = one_of(&whole, d, v);
        if (!maar_vote_job_enqueueable(session, job))
            lacked |= UINT64_C(1) << d;
    }
    *min = whole;
    session->supposing = false;
    maar_session_job(session, job)->lacked |= lacked;
}

/* What the node has too little of for the task now. */
static uint64_t short_on_node(const struct maar_nodes *nodes, const struct maar_resource *request,
                              uint32_t slot)
{
    uint64_t lacked = 0;
    for (uint64_t bits = asked_of(request); bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        if (request->v[d] > nodes->allocatable[d][slot])
            return 0;
        if (request->v[d] > maar_node_future_idle(nodes, d, slot))
            lacked |= UINT64_C(1) << d;
    }
    return lacked;
}

void maar_lacking_nodes(struct maar_session *session, const struct maar_job *job,
                        const struct maar_task *task)
{
    if (!maar_lacking_is_wanted(session, job))
        return;
    const struct maar_nodes *nodes = &session->world->nodes;
    uint64_t lacked = 0;
    for (uint32_t slot = 0; slot < nodes->n_slots; slot++) {
        uint8_t fit = MAAR_FIT_OK;
        if (!maar_bit_get(nodes->live, slot))
            continue;
        maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_STATIC);
        if (fit == MAAR_FIT_OK)
            lacked |= short_on_node(nodes, &task->cls->request, slot);
    }
    maar_session_job(session, job)->lacked |= lacked;
}
