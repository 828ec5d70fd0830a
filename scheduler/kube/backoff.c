/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Pauses between tries, and the limit of requests a second that --kube-api-qps and --kube-api-burst set. */

#include "kube/backoff.h"

#include "base/clock.h"

uint64_t maar_random_below(uint64_t *state, uint64_t n)
{
    /* xorshift64*: only has to spread clients over time. */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(2685821657736338717) >> 16) % n;
}

int64_t maar_backoff_next(struct maar_backoff *backoff)
{
    int64_t pause = backoff->first_ns;

    for (unsigned i = 0; i < backoff->n_failures && pause < backoff->longest_ns; i++)
        pause *= 2;
    if (pause > backoff->longest_ns)
        pause = backoff->longest_ns;
    backoff->n_failures++;
    return pause / 2 + (int64_t)maar_random_below(&backoff->random, (uint64_t)pause / 2 + 1);
}

void maar_backoff_reset(struct maar_backoff *backoff)
{
    backoff->n_failures = 0;
}

void maar_bucket_init(struct maar_bucket *bucket, double per_second, double burst, int64_t now_ns)
{
    bucket->per_second = per_second > 0 ? per_second : 0;
    bucket->burst = burst >= 1 ? burst : 1;
    bucket->tokens = bucket->burst;
    bucket->filled_ns = now_ns;
}

static void fill(struct maar_bucket *bucket, int64_t now_ns)
{
    if (now_ns <= bucket->filled_ns)
        return;
    bucket->tokens +=
        (double)(now_ns - bucket->filled_ns) / (double)MAAR_SECOND_NS * bucket->per_second;
    if (bucket->tokens > bucket->burst)
        bucket->tokens = bucket->burst;
    bucket->filled_ns = now_ns;
}

bool maar_bucket_take(struct maar_bucket *bucket, int64_t now_ns)
{
    if (bucket->per_second <= 0)
        return true;
    fill(bucket, now_ns);
    if (bucket->tokens < 1)
        return false;
    bucket->tokens -= 1;
    return true;
}

int64_t maar_bucket_ready_ns(struct maar_bucket *bucket, int64_t now_ns)
{
    if (bucket->per_second <= 0)
        return now_ns;
    fill(bucket, now_ns);
    if (bucket->tokens >= 1)
        return now_ns;
    return now_ns + 1 +
           (int64_t)((1 - bucket->tokens) / bucket->per_second * (double)MAAR_SECOND_NS);
}
