/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_JOB_TABLE_H
#define MAAR_KUBERNETES_JOB_TABLE_H

/* Numbers the distinct jobs (or queues) among the candidates of one vote: 0, 1, … in order of first
 * appearance. Lives on the stack of one call. */

#include <stdint.h>
#include <stdlib.h>

struct maar_job_table {
    size_t mask;
    size_t n;
    struct maar_job_table_slot {
        const void *key;
        size_t index;
    } * slots;
};

/* Room for n keys. Out of memory aborts. */
static inline void maar_job_table_init(struct maar_job_table *table, size_t n)
{
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    table->mask = size - 1;
    table->n = 0;
    table->slots = (struct maar_job_table_slot *)calloc(size, sizeof *table->slots);
    if (!table->slots)
        abort();
}

static inline void maar_job_table_fini(struct maar_job_table *table)
{
    free(table->slots);
}

/* The number of key, which is not NULL. A new one gets the next number: then it is table->n - 1
 * afterwards and *ret_new is 1. */
static inline size_t maar_job_table_index(struct maar_job_table *table, const void *key,
                                          int *ret_new)
{
    size_t i =
        (size_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & table->mask;
    while (table->slots[i].key && table->slots[i].key != key)
        i = (i + 1) & table->mask;
    *ret_new = !table->slots[i].key;
    if (*ret_new) {
        table->slots[i].key = key;
        table->slots[i].index = table->n++;
    }
    return table->slots[i].index;
}

#endif
