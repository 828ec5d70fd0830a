/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_WRITER_H
#define MAAR_KUBE_WRITER_H

/* The outbox: takes writes, sends them in the order of their lanes (enum maar_write_kind), a bounded number at a
 * time, and reports each one's outcome once. Uses one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "kube/call.h"
#include "kube/known.h"
#include "model/write.h"

struct maar_writer;

struct maar_writer_options {
    struct maar_kube_transport transport;
    /* What is known of the cluster; NULL where the kind is not followed. An unsent bind whose pod or node is
     * known to be gone is not sent. */
    const struct maar_known *pods;
    const struct maar_known *nodes;
    /* Keepers of texts, for whole-object writes; answers with newer versions go in. NULL: PATCH only. */
    struct maar_known *pod_groups;
    struct maar_known *queues;
    const char *component; /* names the writer in requests; NULL: "volcano" */
    double per_second;     /* 0: no limit */
    double burst;
    unsigned max_in_flight; /* 0: 64 */
    uint64_t seed;
    /* Until when (monotonic) writes may be sent; asked again each time. NULL: always. */
    int64_t (*may_send_until_ns)(void *context);
    /* Hands the write back: HTTP status (0: no answer came) and the server's message. */
    void (*done)(void *context, struct maar_write *write, int code, const char *message);
    void *context;
};

struct maar_writer_counters {
    uint64_t n_requests[MAAR_N_WRITE_KINDS]; /* sent, with retries and look-ups */
    uint64_t n_retries;
    uint64_t n_reviews; /* questions about our permissions */
};

struct maar_writer *maar_writer_create(const struct maar_writer_options *options);
/* Accepts NULL. Cancels what runs and drops what waits. */
void maar_writer_destroy(struct maar_writer *writer);
/* Takes ownership. */
void maar_writer_submit(struct maar_writer *writer, struct maar_write *write);
/* Sends what may be sent now. Returns when it wants to be called again (monotonic), INT64_MAX when only an answer or
 * a new write can bring work. */
int64_t maar_writer_tick(struct maar_writer *writer);
/* Ends writes with code 0: those that no request is out for, or `all`. Whether one that was out has taken place is not
 * known. */
void maar_writer_withdraw(struct maar_writer *writer, bool all);
/* Writes that were not answered yet. */
size_t maar_writer_n_open(const struct maar_writer *writer);
struct maar_writer_counters maar_writer_counters(const struct maar_writer *writer);

#endif
