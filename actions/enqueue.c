/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* enqueue: admits waiting PodGroups to their queues, so that controllers may create the pods.
 *
 * A PodGroup without minResources is admitted at once; one with minResources when no plugin objects. Queues take
 * turns, one job a turn, in queue order; a job that is refused waits for the next session. No configuration keys. */

#include <maar/turns.h>

static void execute(void *session, const struct maar_action_host *host,
                    const struct maar_arguments *arguments)
{
    (void)arguments;
    const struct maar_view *view = host->view(session);
    struct maar_turns turns;
    maar_turns_init(&turns, host, session);
    for (uint32_t i = 0; i < view->n_jobs; i++) {
        maar_turns_add_queue(&turns, view->jobs[i]->queue);
        if (maar_job_is_pending(view->jobs[i]))
            maar_turns_add_job(&turns, view->jobs[i]);
    }

    const struct maar_queue *queue;
    while ((queue = maar_turns_next_queue(&turns))) {
        const struct maar_job *job = maar_turns_next_job(&turns, queue);
        if (!job)
            continue;
        if (!job->has_min_resources || host->job_enqueueable(session, job))
            host->enqueue(session, job);
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
