/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_PLACE_CLASS_INDEX_H
#define MAAR_PLACE_CLASS_INDEX_H

/* What the files of the class indexes share: index.c keeps them, late.c asks for them what depends on other nodes. */

#include "place/place.h"

#define MAAR_PLACE_TIERS 2u /* idle room, and room that is being released */

struct maar_place_term {
    const struct maar_score_use *use;
    int64_t *raw; /* [slot]; NULL: `uniform` on every node */
    int64_t uniform;
    /* Extremes among the members of each heap and how many have them. */
    int64_t min[MAAR_PLACE_TIERS], max[MAAR_PLACE_TIERS];
    uint32_t n_min[MAAR_PLACE_TIERS], n_max[MAAR_PLACE_TIERS];
    double of_min[MAAR_PLACE_TIERS]; /* what the smallest is worth */
};

struct maar_place_heap {
    uint32_t *slots;
    uint32_t n;
    uint32_t capacity;
};

struct maar_class_index {
    uint64_t class_id;
    uint32_t flags; /* MAAR_PLACE_BEST_EFFORT: without room */
    uint64_t generation;
    uint64_t seen; /* position in the touched log */
    uint64_t last_used;
    size_t n_bytes;
    uint32_t n_slots;
    uint8_t *static_fit; /* by filters of static facts */
    uint8_t *tier;
    uint32_t *at; /* place in its heap */
    double *node_sum;
    double *batch_sum;
    double *score;
    struct maar_place_heap heaps[MAAR_PLACE_TIERS];
    struct maar_place_term terms[MAAR_PLACE_TERMS_MAX];
    uint32_t n_terms;
};

struct maar_place {
    MAAR_VEC(struct maar_class_index *) indexes;
    struct maar_map *by_class; /* key_of -> struct maar_class_index */
    size_t n_bytes;
    uint64_t clock;
    uint64_t random;
    /* Scratch for scans of all nodes, n_nodes entries each. */
    uint32_t *nodes;
    uint8_t *fit;
    int64_t *raw;
    double *node_sum;
    double *batch_sum;
    uint32_t n_nodes;
};

/* The raw value of a normalised score on a node. */
static inline int64_t maar_term_raw(const struct maar_place_term *term, uint32_t slot)
{
    return term->raw ? term->raw[slot] : term->uniform;
}

/* It depends on other nodes: an index knows nothing of it. */
static inline bool maar_score_is_late(const struct maar_score_use *use)
{
    return (use->score->node & MAAR_NODE_OTHERS) != 0;
}

/* late.c: some late score has something to say about the task */
bool maar_has_late_scores(const struct maar_session *session, const struct maar_task *task);
/* The best member of a heap among those that the late filters let pass; MAAR_NO_NODE when none does. */
uint32_t maar_late_choose(struct maar_session *session, const struct maar_class_index *index,
                          const struct maar_task *task, uint32_t tier, bool scores);

#endif
