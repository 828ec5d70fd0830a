/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_BACKOFF_H
#define MAAR_KUBE_BACKOFF_H

/* Growing pauses with jitter, and the pace of a token bucket. Time and randomness are the caller's. */

#include <stdbool.h>
#include <stdint.h>

struct maar_backoff {
    int64_t first_ns;
    int64_t longest_ns;
    unsigned n_failures;
    uint64_t random; /* state; any seed but 0 */
};

/* The next pause: first × 2^failures up to longest, times 0.5 to 1. */
int64_t maar_backoff_next(struct maar_backoff *backoff);
void maar_backoff_reset(struct maar_backoff *backoff);
/* A number in [0, n), n > 0, from a state like that of a backoff. */
uint64_t maar_random_below(uint64_t *state, uint64_t n);

struct maar_bucket {
    double per_second; /* 0: no limit */
    double burst;
    double tokens;
    int64_t filled_ns;
};

void maar_bucket_init(struct maar_bucket *bucket, double per_second, double burst, int64_t now_ns);
/* Takes one token; false when there is none. */
bool maar_bucket_take(struct maar_bucket *bucket, int64_t now_ns);
/* When the next token will be there; now_ns when it is. */
int64_t maar_bucket_ready_ns(struct maar_bucket *bucket, int64_t now_ns);

#endif
