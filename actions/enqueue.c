/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* enqueue: admits waiting PodGroups to their queues, so that controllers may create the pods.
 *
 * A PodGroup without minResources is admitted at once; one with minResources when no plugin objects. Queues take
 * turns, one job a turn, in queue order; a job that is refused waits for the next session, and stands in the way of
 * later ones as the dequeueStrategy of its queue says. No configuration keys. */

#include <maar/turns.h>

/* What is known of what the job will ask for: its minimum, else its pods. */
static uint64_t asked_by(const struct maar_view *view, const struct maar_job *job)
{
    uint64_t asked = 0;
    for (uint32_t d = 0; d < view->dims->n; d++) {
        int64_t amount =
            job->has_min_resources ? maar_resource_get(&job->min_resources, d) : job->pending[d];
        asked |= (uint64_t)(amount > 0) << d;
    }
    return asked;
}

static void serve(struct maar_turns *turns, const struct maar_job *job)
{
    const struct maar_action_host *host = turns->host;
    void *session = turns->session;
    if (maar_turns_has_barriers(turns, job->queue) &&
        !maar_turns_may_try(turns, job, asked_by(host->view(session), job)))
        return;
    if (!job->has_min_resources || host->job_enqueueable(session, job))
        host->enqueue(session, job);
    else
        maar_turns_refused(turns, job);
}

static void execute(void *session, const struct maar_action_host *host,
                    const struct maar_arguments *arguments)
{
    (void)arguments;
    const struct maar_view *view = host->view(session);
    struct maar_turns turns;
    maar_turns_init(&turns, host, session);
    /* Volcano lines up the queues of all jobs, which can show in the order when shares move meanwhile. */
    for (uint32_t i = 0; view->compatibility && i < view->n_jobs; i++)
        maar_turns_add_queue(&turns, view->jobs[i]->queue);
    for (uint32_t i = 0; i < view->n_waiting; i++)
        if (maar_job_is_pending(view->waiting[i]))
            maar_turns_add_job(&turns, view->waiting[i]);

    const struct maar_queue *queue;
    while ((queue = maar_turns_next_queue(&turns))) {
        const struct maar_job *job = maar_turns_next_job(&turns, queue);
        if (!job)
            continue;
        serve(&turns, job);
        maar_turns_again(&turns, queue);
    }
    maar_turns_fini(&turns);
}

MAAR_EXPORT const struct maar_action maar_action = {
    MAAR_ACTION_HEADER,
    .name = "enqueue",
    .summary = "Admits waiting PodGroups whose minimum the queues and the cluster can hold.",
    .execute = execute,
};
