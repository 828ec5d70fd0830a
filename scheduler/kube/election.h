/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_ELECTION_H
#define MAAR_KUBE_ELECTION_H

/* Which of several replicas decides: the one that holds a Lease and keeps renewing it, by the rules of client-go. When
 * a Lease of another expires is told by our monotonic clock since we last saw it change, never by the times in it.
 * Uses one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "kube/call.h"

enum maar_leadership {
    MAAR_FOLLOWS,
    MAAR_LEADS,
    MAAR_LOST,     /* led, and must not write any more; final */
    MAAR_RESIGNED, /* after resign; final */
};

struct maar_election_options {
    const char *ns; /* of the Lease; both are parts of a path and need no escaping */
    const char *name;
    const char *identity;
    const char *component; /* in events */
    int64_t lease_duration_ns;
    int64_t renew_deadline_ns;
    int64_t retry_period_ns;
};

struct maar_election;

/* The options' texts are copied. `wall_ns` gives the time that is written into the Lease. */
struct maar_election *maar_election_create(const struct maar_election_options *options,
                                           struct maar_kube_transport transport,
                                           int64_t (*wall_ns)(void), uint64_t seed);
/* Accepts NULL. Cancels what runs; the Lease stays as it is. */
void maar_election_destroy(struct maar_election *election);
/* Does what is due now. Returns when it wants to be called again (monotonic), INT64_MAX for never. */
int64_t maar_election_tick(struct maar_election *election);
enum maar_leadership maar_election_leadership(const struct maar_election *election);
/* Until when (monotonic) we may write: a renewal that succeeded began less than the renew deadline before. That leaves
 * what was sent until then the rest of the Lease's duration to arrive. In the past for who does not lead. */
int64_t maar_election_until_ns(const struct maar_election *election);
/* Gives the Lease up, if we hold it, so that another can take it at once. */
void maar_election_resign(struct maar_election *election);
/* Nothing more will be sent. */
bool maar_election_is_over(const struct maar_election *election);
/* What went wrong last, with what to do; "" when the last attempt went well. */
const char *maar_election_fault(const struct maar_election *election);

#endif
