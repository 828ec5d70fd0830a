/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_RESERVATION_H
#define MAAR_KUBERNETES_RESERVATION_H

/* What an admitted PodGroup holds at the gates of enqueue (proportion, overcommit) until its pods
 * run. */

#include <maar/amounts.h>

/* spec.minResources without what waits behind scheduling gates, never below zero. */
struct maar_amounts maar_reservation_whole(const struct maar_view *view,
                                           const struct maar_job *job);

/* The same after the job's allocated pods are taken off first. */
struct maar_amounts maar_reservation_rest(const struct maar_view *view, const struct maar_job *job);

/* The job is past its start: Running and with its minimum of members allocated, so it holds the
 * rest at most. */
bool maar_reservation_is_running(const struct maar_job *job);

/* The job's pods are known and so many of them cannot stand on the nodes even if these were empty
 * that the minimum is out of reach. Labels and taints are not looked at. Costs a walk over the
 * nodes per class of the job, cut short as soon as all its pods have room; allocatable does not
 * change within a session. */
bool maar_reservation_is_futile(const struct maar_view *view, const struct maar_job *job);

/* Answers kept between questions about many jobs of one session, by class. Zeroed at first. */
struct maar_slots_memo {
    struct {
        const struct maar_class *cls;
        int64_t want;
        int64_t slots;
    } entries[64];
};

/* The same with such a memory; memo may be NULL. */
bool maar_reservation_is_futile_memo(const struct maar_view *view, const struct maar_job *job,
                                     struct maar_slots_memo *memo);

#endif
