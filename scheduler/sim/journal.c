// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The journal owns its texts.
#include "sim/journal.h"

void maar_journal_fini(struct maar_journal *journal)
{
    struct maar_bind_entry *bind;
    struct maar_eviction_entry *eviction;
    struct maar_event_entry *event;
    MAAR_VEC_EACH (&journal->binds, bind) {
        free(bind->pod);
        free(bind->uid);
        free(bind->node);
        json_decref(bind->annotations);
    }
    MAAR_VEC_EACH (&journal->evictions, eviction) {
        free(eviction->pod);
        free(eviction->uid);
        free(eviction->node);
        free(eviction->action);
        free(eviction->beneficiary);
    }
    MAAR_VEC_EACH (&journal->events, event) {
        free(event->object);
        free(event->type);
        free(event->reason);
        free(event->message);
    }
    maar_vec_fini(&journal->binds);
    maar_vec_fini(&journal->evictions);
    maar_vec_fini(&journal->events);
}

uint64_t maar_journal_n_writes(const struct maar_journal *journal)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < MAAR_N_WRITE_KINDS; i++)
        sum += journal->n_writes[i];
    return sum;
}
