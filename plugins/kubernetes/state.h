/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_STATE_H
#define MAAR_KUBERNETES_STATE_H

/* Numbers for queue_state: each amount that is added makes another one. */

#include <maar/amounts.h>

static inline uint64_t maar_state_add(uint64_t state, uint64_t number)
{
    uint64_t h = (state ^ (number * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 29)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 32);
}

static inline uint64_t maar_state_add_row(uint64_t state, const int64_t *row, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++)
        state = maar_state_add(state, (uint64_t)row[d]);
    return state;
}

static inline uint64_t maar_state_add_amounts(uint64_t state, const struct maar_amounts *amounts)
{
    state = maar_state_add(state, amounts->present);
    MAAR_EACH_DIM(d, amounts->present | 3)
    {
        uint64_t bits;
        memcpy(&bits, &amounts->v[d], sizeof bits);
        state = maar_state_add(state, bits);
    }
    return state;
}

#endif
