/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Class indexes: for each class the nodes that fit, in two heaps keyed (score, name rank): idle room, and room that
 * is being released. An index outlives gangs and sessions; before it answers it looks again at every node that was
 * touched since. Normalised scores keep their raw values a node; when the extremes among the members of a heap
 * change, that heap is scored anew. */

#include "base/bitset.h"
#include "place/class_index.h"

#define TIERS       MAAR_PLACE_TIERS
#define TIER_NONE   TIERS
#define BYTES_MAX   (64u << 20)
#define NOT_IN_HEAP UINT32_MAX
#define ORDER_ONCE                                                                                 \
    16u /* where at least one in so many members changes, the heap is put in order as a whole */

struct maar_place *maar_place_create(void)
{
    struct maar_place *place = maar_calloc(1, sizeof *place);
    place->by_class = maar_map_create();
    return place;
}

static uint64_t key_of(uint64_t class_id, uint32_t flags)
{
    return class_id * 2 + (flags != 0);
}

static size_t index_bytes(const struct maar_class_index *index)
{
    size_t n_columns = 0;
    for (uint32_t i = 0; i < index->n_terms; i++)
        n_columns += index->terms[i].raw != NULL;
    size_t n_heaped = index->heaps[0].capacity + index->heaps[1].capacity;
    return sizeof *index + n_heaped * sizeof(uint32_t) +
           index->n_slots *
               (2 + 3 * sizeof(double) + sizeof(uint32_t) + n_columns * sizeof(int64_t));
}

static void free_columns(struct maar_class_index *index)
{
    free(index->static_fit);
    free(index->tier);
    free(index->at);
    free(index->node_sum);
    free(index->batch_sum);
    free(index->score);
    for (uint32_t t = 0; t < TIERS; t++)
        free(index->heaps[t].slots);
    for (uint32_t i = 0; i < index->n_terms; i++)
        free(index->terms[i].raw);
}

static void destroy_index(struct maar_class_index *index)
{
    free_columns(index);
    free(index);
}

void maar_place_destroy(struct maar_place *place)
{
    if (!place)
        return;
    for (size_t i = 0; i < place->indexes.n; i++)
        destroy_index(place->indexes.data[i]);
    maar_vec_fini(&place->indexes);
    maar_map_destroy(place->by_class);
    free(place->nodes);
    free(place->fit);
    free(place->raw);
    free(place->node_sum);
    free(place->batch_sum);
    free(place);
}

bool maar_is_indexable(const struct maar_session *session)
{
    return !session->reference && session->place && session->policy->indexable &&
           !session->policy->has_best_node;
}

/* ---- heaps ---- */

static bool before(const struct maar_class_index *index, const uint32_t *rank, uint32_t l,
                   uint32_t r)
{
    if (index->score[l] != index->score[r])
        return index->score[l] > index->score[r];
    return rank[l] < rank[r];
}

static void put(struct maar_class_index *index, struct maar_place_heap *heap, uint32_t at,
                uint32_t slot)
{
    heap->slots[at] = slot;
    index->at[slot] = at;
}

static void sift_up(struct maar_class_index *index, const uint32_t *rank,
                    struct maar_place_heap *heap, uint32_t at)
{
    uint32_t slot = heap->slots[at];
    while (at > 0) {
        uint32_t up = (at - 1) / 4;
        if (!before(index, rank, slot, heap->slots[up]))
            break;
        put(index, heap, at, heap->slots[up]);
        at = up;
    }
    put(index, heap, at, slot);
}

static void sift_down(struct maar_class_index *index, const uint32_t *rank,
                      struct maar_place_heap *heap, uint32_t at)
{
    uint32_t slot = heap->slots[at];
    for (;;) {
        uint32_t child = 4 * at + 1, best = child;
        if (child >= heap->n)
            break;
        for (uint32_t i = child + 1; i < child + 4 && i < heap->n; i++)
            if (before(index, rank, heap->slots[i], heap->slots[best]))
                best = i;
        if (!before(index, rank, heap->slots[best], slot))
            break;
        put(index, heap, at, heap->slots[best]);
        at = best;
    }
    put(index, heap, at, slot);
}

static void fix(struct maar_class_index *index, const uint32_t *rank, struct maar_place_heap *heap,
                uint32_t at)
{
    uint32_t slot = heap->slots[at];
    sift_up(index, rank, heap, at);
    sift_down(index, rank, heap, index->at[slot]);
}

/* Adds it without regard to order. */
static void append(struct maar_class_index *index, struct maar_place_heap *heap, uint32_t slot)
{
    if (heap->n == heap->capacity) {
        heap->capacity += heap->capacity / 4 + 16;
        heap->slots = maar_realloc(heap->slots, heap->capacity, sizeof *heap->slots);
    }
    put(index, heap, heap->n++, slot);
}

static void heap_remove(struct maar_class_index *index, const uint32_t *rank,
                        struct maar_place_heap *heap, uint32_t slot)
{
    uint32_t at = index->at[slot];
    uint32_t last = heap->slots[--heap->n];
    index->at[slot] = NOT_IN_HEAP;
    if (last == slot)
        return;
    put(index, heap, at, last);
    fix(index, rank, heap, at);
}

static void heapify(struct maar_class_index *index, const uint32_t *rank,
                    struct maar_place_heap *heap)
{
    for (uint32_t i = 0; i < heap->n; i++)
        index->at[heap->slots[i]] = i;
    for (uint32_t i = heap->n / 4 + 1; i-- > 0;)
        if (i < heap->n)
            sift_down(index, rank, heap, i);
}

/* ---- scores ---- */

static void set_raw(const struct maar_class_index *index, struct maar_place_term *term,
                    uint32_t slot, int64_t raw)
{
    if (!term->raw) {
        if (raw == term->uniform)
            return;
        term->raw = maar_calloc(index->n_slots, sizeof *term->raw);
        for (uint32_t i = 0; i < index->n_slots; i++)
            term->raw[i] = term->uniform;
    }
    term->raw[slot] = raw;
}

static double worth(const struct maar_place_term *term, const struct maar_task *task, int64_t raw,
                    uint32_t tier)
{
    const struct maar_instance *instance = term->use->instance;
    return term->use->score->normalise(instance->self, &instance->view, task, raw, term->min[tier],
                                       term->max[tier]);
}

static void set_score(struct maar_session *session, struct maar_class_index *index,
                      const struct maar_task *task, uint32_t slot, uint32_t tier)
{
    double batch = index->batch_sum[slot];
    for (uint32_t i = 0; i < index->n_terms; i++) {
        const struct maar_place_term *term = &index->terms[i];
        int64_t raw = maar_term_raw(term, slot);
        if (raw == MAAR_RAW_NONE)
            continue;
        batch += raw == term->min[tier] ? term->of_min[tier] : worth(term, task, raw, tier);
    }
    index->score[slot] = maar_total_score(session, index->node_sum[slot], batch);
}

static void find_extremes(struct maar_class_index *index, struct maar_place_term *term,
                          uint32_t tier)
{
    const struct maar_place_heap *heap = &index->heaps[tier];
    term->n_min[tier] = term->n_max[tier] = 0;
    for (uint32_t i = 0; i < heap->n; i++) {
        int64_t raw = maar_term_raw(term, heap->slots[i]);
        if (raw == MAAR_RAW_NONE)
            continue;
        if (term->n_min[tier] == 0 || raw < term->min[tier]) {
            term->min[tier] = raw;
            term->n_min[tier] = 0;
        }
        if (term->n_max[tier] == 0 || raw > term->max[tier]) {
            term->max[tier] = raw;
            term->n_max[tier] = 0;
        }
        term->n_min[tier] += raw == term->min[tier];
        term->n_max[tier] += raw == term->max[tier];
    }
}

/* All members of a heap, after its membership or extremes changed. */
static void rescore(struct maar_session *session, struct maar_class_index *index,
                    const struct maar_task *task, uint32_t tier)
{
    struct maar_place_heap *heap = &index->heaps[tier];
    for (uint32_t i = 0; i < index->n_terms; i++) {
        struct maar_place_term *term = &index->terms[i];
        find_extremes(index, term, tier);
        if (term->n_min[tier] > 0)
            term->of_min[tier] = worth(term, task, term->min[tier], tier);
    }
    for (uint32_t i = 0; i < heap->n; i++)
        set_score(session, index, task, heap->slots[i], tier);
    heapify(index, session->world->nodes.name_rank, heap);
}

/* Counts a member that comes or goes; true when that moved an extreme. */
static bool count_member(struct maar_class_index *index, uint32_t slot, uint32_t tier, bool joins)
{
    bool moved = false;
    for (uint32_t i = 0; i < index->n_terms; i++) {
        struct maar_place_term *term = &index->terms[i];
        int64_t raw = maar_term_raw(term, slot);
        if (raw == MAAR_RAW_NONE)
            continue;
        if (joins) {
            bool first = term->n_min[tier] == 0;
            moved |= first || raw < term->min[tier] || raw > term->max[tier];
            term->n_min[tier] += !first && raw == term->min[tier];
            term->n_max[tier] += !first && raw == term->max[tier];
        } else {
            term->n_min[tier] -= raw == term->min[tier];
            term->n_max[tier] -= raw == term->max[tier];
            moved |= term->n_min[tier] == 0 || term->n_max[tier] == 0;
        }
    }
    return moved;
}

/* ---- refreshing ---- */

static uint32_t tier_of(const struct maar_session *session, const struct maar_class_index *index,
                        const struct maar_task *task, uint32_t slot, uint8_t fit)
{
    const struct maar_nodes *nodes = &session->world->nodes;
    if (fit != MAAR_FIT_OK)
        return TIER_NONE;
    if (index->flags & MAAR_PLACE_BEST_EFFORT)
        return 0;
    if (!maar_fits_future(nodes, &task->cls->request, slot))
        return TIER_NONE;
    return maar_fits_idle(nodes, &task->cls->request, slot) ? 0 : 1;
}

static void read_raw(struct maar_class_index *index, const struct maar_task *task,
                     const uint32_t *slots, size_t n, int64_t *scratch)
{
    for (uint32_t i = 0; i < index->n_terms; i++) {
        struct maar_place_term *term = &index->terms[i];
        struct maar_instance *instance = term->use->instance;
        memset(scratch, 0, n * sizeof *scratch);
        term->use->score->raw(instance->self, &instance->view, task, slots, n, scratch);
        for (size_t k = 0; k < n; k++)
            set_raw(index, term, slots[k], scratch[k]);
    }
}

/* How a change of members is made: keeping the heaps in order, or leaving that for the end. */
struct change {
    bool ordered;
    bool dirty[TIERS]; /* an extreme moved: all members are scored anew */
};

/* The node, whose sums are up to date, goes to the heap of `next`, or out of its own. */
static void move_member(struct maar_session *session, struct maar_class_index *index,
                        const struct maar_task *task, uint32_t slot, uint32_t next,
                        struct change *change)
{
    const uint32_t *rank = session->world->nodes.name_rank;
    uint32_t old = index->tier[slot];
    if (old != TIER_NONE && old != next) {
        struct maar_place_heap *heap = &index->heaps[old];
        if (change->ordered)
            heap_remove(index, rank, heap, slot);
        else
            put(index, heap, index->at[slot], heap->slots[--heap->n]);
        index->at[slot] = NOT_IN_HEAP;
        change->dirty[old] |= count_member(index, slot, old, false);
    }
    index->tier[slot] = (uint8_t)next;
    if (next == TIER_NONE)
        return;
    if (old != next)
        change->dirty[next] |= count_member(index, slot, next, true);
    if (old != next)
        append(index, &index->heaps[next], slot);
    if (!change->ordered)
        return;
    set_score(session, index, task, slot, next);
    fix(index, rank, &index->heaps[next], index->at[slot]);
}

static void finish_change(struct maar_session *session, struct maar_class_index *index,
                          const struct maar_task *task, const struct change *change)
{
    for (uint32_t t = 0; t < TIERS; t++) {
        if (change->dirty[t])
            rescore(session, index, task, t);
        else if (!change->ordered)
            heapify(index, session->world->nodes.name_rank, &index->heaps[t]);
    }
}

/* One node of which facts changed, or that came or went. */
static void refresh_facts(struct maar_session *session, struct maar_class_index *index,
                          const struct maar_task *task, uint32_t slot)
{
    struct change change = {.ordered = true};
    uint8_t fit = MAAR_FIT_NEVER;
    int64_t raw;
    move_member(session, index, task, slot, TIER_NONE, &change);
    if (maar_bit_get(session->world->nodes.live, slot)) {
        fit = MAAR_FIT_OK;
        maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_STATIC);
        index->static_fit[slot] = fit;
        read_raw(index, task, &slot, 1, &raw);
        if (fit == MAAR_FIT_OK)
            maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_LOAD);
    }
    uint32_t next = tier_of(session, index, task, slot, fit);
    if (next != TIER_NONE) {
        maar_run_local_scores(session, task, &slot, 1, &index->node_sum[slot],
                              &index->batch_sum[slot]);
        move_member(session, index, task, slot, next, &change);
    }
    finish_change(session, index, task, &change);
}

/* The nodes place->nodes[0..n), of which only the load changed and which the static filters let pass. The hooks see
 * them in one call; where they are many, the heaps are put in order once. */
static void refresh_load(struct maar_session *session, struct maar_class_index *index,
                         const struct maar_task *task, size_t n)
{
    struct maar_place *place = session->place;
    struct change change = {.ordered = n * ORDER_ONCE < index->heaps[0].n + index->heaps[1].n};
    size_t n_room = 0, n_fit = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = place->nodes[i];
        if (tier_of(session, index, task, slot, MAAR_FIT_OK) == TIER_NONE)
            move_member(session, index, task, slot, TIER_NONE, &change);
        else
            place->nodes[n_room++] = slot;
    }
    memset(place->fit, MAAR_FIT_OK, n_room);
    maar_run_filters(session, task, place->nodes, n_room, place->fit, MAAR_FILTER_LOAD);
    for (size_t i = 0; i < n_room; i++) {
        if (place->fit[i] != MAAR_FIT_OK)
            move_member(session, index, task, place->nodes[i], TIER_NONE, &change);
        else
            place->nodes[n_fit++] = place->nodes[i];
    }
    maar_run_local_scores(session, task, place->nodes, n_fit, place->node_sum, place->batch_sum);
    for (size_t i = 0; i < n_fit; i++) {
        uint32_t slot = place->nodes[i];
        index->node_sum[slot] = place->node_sum[i];
        index->batch_sum[slot] = place->batch_sum[i];
        move_member(session, index, task, slot, tier_of(session, index, task, slot, MAAR_FIT_OK),
                    &change);
    }
    for (size_t i = 0; !change.ordered && i < n_fit; i++)
        if (!change.dirty[index->tier[place->nodes[i]]])
            set_score(session, index, task, place->nodes[i], index->tier[place->nodes[i]]);
    finish_change(session, index, task, &change);
}

static void allocate_columns(struct maar_class_index *index, uint32_t n)
{
    index->n_slots = n;
    size_t want = n ? n : 1;
    index->static_fit = maar_calloc(want, 1);
    index->tier = maar_calloc(want, 1);
    index->at = maar_calloc(want, sizeof *index->at);
    index->node_sum = maar_calloc(want, sizeof *index->node_sum);
    index->batch_sum = maar_calloc(want, sizeof *index->batch_sum);
    index->score = maar_calloc(want, sizeof *index->score);
}

static void choose_terms(struct maar_session *session, struct maar_class_index *index,
                         const struct maar_task *task)
{
    index->n_terms = 0;
    for (size_t i = 0; i < session->policy->n_scores; i++) {
        const struct maar_score_use *use = &session->policy->scores[i];
        if (!use->score->raw || maar_score_is_late(use) || !maar_score_applies(use, task))
            continue;
        index->terms[index->n_terms++] = (struct maar_place_term){.use = use};
    }
}

static void reserve_scratch(struct maar_place *place, uint32_t n)
{
    if (place->n_nodes >= n)
        return;
    place->nodes = maar_realloc(place->nodes, n, sizeof *place->nodes);
    place->fit = maar_realloc(place->fit, n, sizeof *place->fit);
    place->raw = maar_realloc(place->raw, n, sizeof *place->raw);
    place->node_sum = maar_realloc(place->node_sum, n, sizeof *place->node_sum);
    place->batch_sum = maar_realloc(place->batch_sum, n, sizeof *place->batch_sum);
    place->n_nodes = n;
}

/* Everything from scratch: the hooks see all live nodes in one call. */
static void rebuild(struct maar_session *session, struct maar_class_index *index,
                    const struct maar_task *task)
{
    struct maar_place *place = session->place;
    const struct maar_nodes *nodes = &session->world->nodes;
    free_columns(index);
    memset(index->heaps, 0, sizeof index->heaps);
    memset(index->terms, 0, sizeof index->terms);
    choose_terms(session, index, task);
    allocate_columns(index, nodes->n_slots);
    index->generation = session->policy->generation;
    index->seen = maar_world_touched_end(session->world);

    size_t n = 0, n_fit = 0;
    for (uint32_t slot = 0; slot < nodes->n_slots; slot++) {
        index->at[slot] = NOT_IN_HEAP;
        index->tier[slot] = TIER_NONE;
        index->static_fit[slot] = MAAR_FIT_NEVER;
        if (maar_bit_get(nodes->live, slot))
            place->nodes[n++] = slot;
    }
    if (n == 0)
        return;
    memset(place->fit, MAAR_FIT_OK, n);
    maar_run_filters(session, task, place->nodes, n, place->fit, MAAR_FILTER_STATIC);
    read_raw(index, task, place->nodes, n, place->raw);
    for (size_t i = 0; i < n; i++) {
        index->static_fit[place->nodes[i]] = place->fit[i];
        if (place->fit[i] == MAAR_FIT_OK)
            place->nodes[n_fit++] = place->nodes[i];
    }
    refresh_load(session, index, task, n_fit);
}

static void catch_up(struct maar_session *session, struct maar_class_index *index,
                     const struct maar_task *task)
{
    const struct maar_world *world = session->world;
    uint64_t end = maar_world_touched_end(world);
    struct maar_place *place = session->place;
    reserve_scratch(place, world->nodes.n_slots);
    if (index->generation != session->policy->generation || index->seen < world->touched_base ||
        index->n_slots != world->nodes.n_slots) {
        rebuild(session, index, task);
        place->n_bytes -= index->n_bytes;
        index->n_bytes = index_bytes(index);
        place->n_bytes += index->n_bytes;
        return;
    }
    size_t n = 0;
    for (uint64_t i = index->seen; i < end; i++) {
        uint32_t slot = world->touched.data[i - world->touched_base] & ~(UINT32_C(1) << 31);
        /* Once a node, at its last entry. */
        if (world->touched_at[slot] != i)
            continue;
        if (world->facts_at[slot] >= index->seen)
            refresh_facts(session, index, task, slot);
        else if (index->static_fit[slot] == MAAR_FIT_OK)
            place->nodes[n++] = slot;
    }
    if (n > 0)
        refresh_load(session, index, task, n);
    index->seen = end;
}

/* ---- the set of indexes ---- */

/* Draws are of the cache alone: no answer depends on them. */
static size_t draw(struct maar_place *place)
{
    place->random = place->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(place->random >> 33) % place->indexes.n;
}

/* The one that was not used for longer of two drawn ones: a round through more classes than there is room for finds
 * most of them still there, where dropping the oldest would find none. */
static void drop_one(struct maar_place *place)
{
    size_t l = draw(place), r = draw(place);
    if (place->indexes.data[r]->last_used < place->indexes.data[l]->last_used)
        l = r;
    struct maar_class_index *index = place->indexes.data[l];
    place->n_bytes -= index->n_bytes;
    maar_map_remove_int(place->by_class, key_of(index->class_id, index->flags));
    destroy_index(index);
    place->indexes.data[l] = place->indexes.data[--place->indexes.n];
}

static struct maar_class_index *get_index(struct maar_session *session,
                                          const struct maar_task *task, uint32_t flags)
{
    struct maar_place *place = session->place;
    uint64_t id = maar_class_entry(task->cls)->id;
    flags &= MAAR_PLACE_BEST_EFFORT;
    struct maar_class_index *index = maar_map_find_int(place->by_class, key_of(id, flags));
    if (!index) {
        while (place->indexes.n > 1 && place->n_bytes > BYTES_MAX)
            drop_one(place);
        index = maar_calloc(1, sizeof *index);
        index->class_id = id;
        index->flags = flags;
        maar_vec_push(&place->indexes, index);
        maar_map_set_int(place->by_class, key_of(id, flags), index);
    }
    index->last_used = ++place->clock;
    catch_up(session, index, task);
    return index;
}

struct maar_choice maar_index_choose(struct maar_session *session, const struct maar_task *task,
                                     uint32_t flags)
{
    struct maar_class_index *index = get_index(session, task, flags);
    bool scores = maar_has_late_scores(session, task);
    bool late = scores || maar_depends_on_others(session, task);
    uint32_t n_tiers = flags & MAAR_PLACE_IDLE_ONLY ? 1 : TIERS;
    for (uint32_t t = 0; t < n_tiers; t++) {
        if (index->heaps[t].n == 0)
            continue;
        uint32_t node =
            late ? maar_late_choose(session, index, task, t, scores) : index->heaps[t].slots[0];
        if (node != MAAR_NO_NODE)
            return (struct maar_choice){node, t == 1};
    }
    return (struct maar_choice){MAAR_NO_NODE, false};
}

/* Pods of this request that one node takes on idle or coming room. */
static uint64_t slots_on(const struct maar_nodes *nodes, const struct maar_resource *request,
                         uint32_t slot, uint64_t want)
{
    uint64_t slots = want;
    for (uint64_t bits = request->present; bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        int64_t room = maar_node_future_idle(nodes, d, slot);
        int64_t idle = nodes->idle[d][slot];
        room = idle > room ? idle : room;
        if (request->v[d] <= 0)
            continue;
        uint64_t fit = room > 0 ? (uint64_t)(room / request->v[d]) : 0;
        slots = fit < slots ? fit : slots;
    }
    return slots;
}

uint64_t maar_index_slots(struct maar_session *session, const struct maar_task *task, uint64_t want)
{
    struct maar_class_index *index = get_index(session, task, 0);
    uint64_t n = 0;
    for (uint32_t t = 0; t < TIERS; t++)
        for (uint32_t i = 0; i < index->heaps[t].n && n < want; i++)
            n += slots_on(&session->world->nodes, &task->cls->request, index->heaps[t].slots[i],
                          want - n);
    return n;
}
