/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_JOURNAL_H
#define MAAR_SIM_JOURNAL_H

/* What the scheduler did to the embedded cluster, in order. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/write.h"

struct maar_bind_entry {
    unsigned cycle; /* in which it was sent */
    char *pod;      /* "ns/name" */
    char *uid;
    char *node;
    json_t *annotations; /* that came with the binding; NULL for none */
    bool failed;
    bool again; /* the pod was bound already, or another binding was on its way */
};

struct maar_eviction_entry {
    unsigned cycle;
    char *pod;
    char *uid;
    char *node;
    char *action;      /* "" when the request did not tell */
    char *beneficiary; /* "ns/podgroup", "" when unknown */
};

struct maar_event_entry {
    unsigned cycle;
    char *object; /* "pod/ns/name" */
    char *type;
    char *reason;
    char *message;
};

struct maar_journal {
    MAAR_VEC(struct maar_bind_entry) binds;
    MAAR_VEC(struct maar_eviction_entry) evictions;
    MAAR_VEC(struct maar_event_entry) events;
    uint64_t n_writes[MAAR_N_WRITE_KINDS];
};

void maar_journal_fini(struct maar_journal *journal);
uint64_t maar_journal_n_writes(const struct maar_journal *journal);

#endif
