/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The memory of refused jobs: a number that comes out the same as long as nothing changed that the refusal depended
 * on. It is made of
 *
 *     the job             its fields, members and their statuses (the ledger keeps a sum of them)
 *     its queue           what plugins say their answers about it depend on (queue_state), the queues' objects
 *     the nodes           for each class of waiting members, node by node: why it refuses one, or, where one would
 *                         fit, all that is on the node
 *     everything else     the policy, the facts of nodes
 *
 * so an equal number means an equal refusal in equal words. What the nodes say about a class is kept beside and
 * follows the log of touched nodes. Policies with answers of unknown dependencies remember nothing. */

#include "base/bitset.h"
#include "place/place.h"

#define CLASSES_BYTES_MAX (64u << 20)
/* Members of more classes than this are not worth comparing. */
#define CLASSES_PER_JOB 32u

/* What the nodes say about one class. */
struct class_state {
    uint64_t class_id;
    uint64_t generation;
    uint64_t seen; /* position in the touched log */
    uint64_t last_used;
    uint32_t n_slots;
    uint64_t *parts; /* [slot] */
    uint64_t sum;    /* of them */
};

struct maar_memory {
    struct maar_map *by_class; /* -> struct class_state */
    size_t n_bytes;
    uint64_t clock;
};

struct maar_memory *maar_memory_create(void)
{
    struct maar_memory *memory = maar_calloc(1, sizeof *memory);
    memory->by_class = maar_map_create();
    return memory;
}

static void destroy_class(struct maar_memory *memory, struct class_state *state)
{
    maar_map_remove_int(memory->by_class, state->class_id);
    memory->n_bytes -= state->n_slots * sizeof *state->parts;
    free(state->parts);
    free(state);
}

void maar_memory_destroy(struct maar_memory *memory)
{
    if (!memory)
        return;
    size_t at = 0;
    void *value;
    while (maar_map_next(memory->by_class, &at, NULL, NULL, &value)) {
        struct class_state *state = value;
        free(state->parts);
        free(state);
    }
    maar_map_destroy(memory->by_class);
    free(memory);
}

/* ---- nodes ---- */

static uint64_t load_of(const struct maar_nodes *nodes, uint32_t slot)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < nodes->n_tasks[slot]; i++) {
        const struct maar_task *task = nodes->tasks[slot][i];
        sum += maar_mix(maar_task_entry(task)->hash, task->status);
    }
    return sum;
}

/* Why the node refuses the task, in a number; where it does not, what scores may depend on. */
static uint64_t say(struct maar_session *session, const struct maar_task *task, uint32_t slot)
{
    const struct maar_nodes *nodes = &session->world->nodes;
    if (slot >= nodes->n_slots || !maar_bit_get(nodes->live, slot))
        return 0;
    uint64_t lacks = maar_explain_short(session, task, 0, slot);
    if (lacks)
        return maar_mix(slot + UINT64_C(1), lacks);
    uint8_t fit = MAAR_FIT_OK;
    maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_ALL);
    if (fit == MAAR_FIT_OK)
        return maar_mix(~(uint64_t)slot, load_of(nodes, slot));
    const char *text = maar_explain_refusal(session, task, slot);
    return maar_mix(slot + UINT64_C(1), text ? maar_hash_bytes(text, strlen(text), 1) : 0);
}

static void renew(struct maar_session *session, struct maar_memory *memory,
                  struct class_state *state, const struct maar_task *task)
{
    uint32_t n = session->world->nodes.n_slots;
    memory->n_bytes += n * sizeof *state->parts;
    memory->n_bytes -= state->n_slots * sizeof *state->parts;
    free(state->parts);
    state->parts = maar_calloc(n ? n : 1, sizeof *state->parts);
    state->n_slots = n;
    state->generation = session->policy->generation;
    state->sum = 0;
    for (uint32_t slot = 0; slot < n; slot++) {
        state->parts[slot] = say(session, task, slot);
        state->sum += state->parts[slot];
    }
}

static void catch_up(struct maar_session *session, struct maar_memory *memory,
                     struct class_state *state, const struct maar_task *task)
{
    const struct maar_world *world = session->world;
    uint64_t end = maar_world_touched_end(world);
    if (state->generation != session->policy->generation || state->seen < world->touched_base ||
        state->n_slots != world->nodes.n_slots || end - state->seen > state->n_slots) {
        renew(session, memory, state, task);
    } else {
        for (uint64_t i = state->seen; i < end; i++) {
            uint32_t slot = world->touched.data[i - world->touched_base] & ~(UINT32_C(1) << 31);
            uint64_t part = say(session, task, slot);
            state->sum += part - state->parts[slot];
            state->parts[slot] = part;
        }
    }
    state->seen = end;
}

static void drop_oldest(struct maar_memory *memory)
{
    struct class_state *oldest = NULL;
    size_t at = 0;
    void *value;
    while (maar_map_next(memory->by_class, &at, NULL, NULL, &value)) {
        struct class_state *state = value;
        if (!oldest || state->last_used < oldest->last_used)
            oldest = state;
    }
    if (oldest)
        destroy_class(memory, oldest);
}

static uint64_t nodes_about(struct maar_session *session, const struct maar_task *task)
{
    struct maar_memory *memory = session->memory;
    uint64_t id = maar_class_entry(task->cls)->id;
    struct class_state *state = maar_map_find_int(memory->by_class, id);
    if (!state) {
        while (memory->n_bytes > CLASSES_BYTES_MAX)
            drop_oldest(memory);
        state = maar_calloc(1, sizeof *state);
        state->class_id = id;
        state->generation = session->policy->generation - 1;
        maar_map_set_int(memory->by_class, id, state);
    }
    state->last_used = ++memory->clock;
    catch_up(session, memory, state, task);
    return state->sum;
}

/* ---- the number ---- */

static uint64_t queues_about(const struct maar_session *session, const struct maar_job *job,
                             bool gate)
{
    uint64_t h = session->world->queues_version;
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        const struct maar_instance *instance = &session->policy->instances[i];
        if (instance->open && instance->plugin->hooks.queue_state)
            h = maar_mix(h, instance->plugin->hooks.queue_state(instance->self, &instance->view,
                                                                job->queue, gate));
    }
    return h;
}

/* What the policy says of the class may depend on what runs on other nodes. */
static bool depends_on_others(const struct maar_session *session, const struct maar_task *task)
{
    const struct maar_policy *policy = session->policy;
    for (size_t i = 0; policy->has_late && i < policy->n_filters; i++)
        if ((policy->filters[i].filter->node & MAAR_NODE_OTHERS) &&
            maar_filter_applies(&policy->filters[i], task))
            return true;
    for (size_t i = 0; policy->has_late && i < policy->n_scores; i++)
        if ((policy->scores[i].score->node & MAAR_NODE_OTHERS) &&
            maar_score_applies(&policy->scores[i], task))
            return true;
    return false;
}

/* False when the waiting members cannot be compared. */
static bool add_nodes(struct maar_session *session, const struct maar_job *job, uint64_t *h)
{
    const struct maar_class *classes[CLASSES_PER_JOB];
    size_t n = 0;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task *task = job->tasks[i];
        if (task->status != MAAR_TASK_PENDING)
            continue;
        if (task->nominated_node != MAAR_NO_NODE)
            return false;
        size_t k = 0;
        while (k < n && classes[k] != task->cls)
            k++;
        if (k < n)
            continue;
        if (n == CLASSES_PER_JOB || !maar_is_indexable(session) || depends_on_others(session, task))
            return false;
        classes[n++] = task->cls;
        *h = maar_mix(*h, nodes_about(session, task));
    }
    return true;
}

static bool is_able(const struct maar_session *session, enum maar_refusal refusal)
{
    const struct maar_policy *policy = session->policy;
    return session->memory && !session->reference && session->place && !session->looks &&
           !policy->conf->compatibility_volcano &&
           (refusal == MAAR_REFUSAL_GATE ? policy->remembers_gate : policy->remembers);
}

/* Backfill has a say about members that ask for nothing, queue admission about those behind gates; sub-groups have
 * reasons of their own. */
static bool has_other_voices(const struct maar_job *job)
{
    if (job->n_pending_best_effort > 0 || job->n_sub_jobs > 0)
        return true;
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (job->tasks[i]->status == MAAR_TASK_PENDING && job->tasks[i]->gated)
            return true;
    return false;
}

/* 0: it cannot be told. */
static uint64_t number_of(struct maar_session *session, const struct maar_job *job,
                          enum maar_refusal refusal)
{
    const struct maar_world *world = session->world;
    if (refusal != MAAR_REFUSAL_GATE && has_other_voices(job))
        return 0;
    uint64_t h = maar_mix(maar_job_entry(job)->state, (uint64_t)refusal);
    h = maar_mix(h, world->nodes.facts_version);
    h = maar_mix(h, session->policy->generation << 8 | world->dims.n);
    h = maar_mix(h, queues_about(session, job, refusal == MAAR_REFUSAL_GATE));
    if (refusal == MAAR_REFUSAL_TURN && !add_nodes(session, job, &h))
        return 0;
    return h ? h : 1;
}

static void hold(struct maar_session *session, const struct maar_job *job)
{
    struct maar_job_entry *entry = maar_session_job(session, job);
    entry->lacked = entry->refusal.lacked;
    entry->refusal.session = session->world->session_number;
    entry->refusal.held = true;
    entry->refusal.state = entry->state;
}

/* What is remembered is about such a refusal, and still holds. */
static bool is_the_same(struct maar_session *session, const struct maar_job *job,
                        enum maar_refusal refusal)
{
    const struct maar_refusal_memory *memory = &maar_job_entry(job)->refusal;
    enum maar_refusal kind = (enum maar_refusal)memory->kind;
    if (kind != refusal && !(kind == MAAR_REFUSAL_ROOM && refusal == MAAR_REFUSAL_TURN))
        return false;
    return memory->number != 0 && is_able(session, kind) &&
           number_of(session, job, kind) == memory->number;
}

bool maar_memory_holds(struct maar_session *session, const struct maar_job *job,
                       enum maar_refusal refusal)
{
    struct maar_job_entry *entry = maar_job_entry(job);
    if (is_the_same(session, job, refusal)) {
        if (!session->check_memory) {
            hold(session, job);
            return true;
        }
        entry->refusal.is_checked = true;
        entry->refusal.checked_session = session->world->session_number;
        maar_vec_push(&session->checked, entry);
    }
    /* It is going to be tried, and what is said of it will be another thing. */
    entry->refusal.number = 0;
    entry->refusal.held = false;
    if (refusal == MAAR_REFUSAL_TURN)
        entry->refusal.session = session->world->session_number;
    return false;
}

void maar_memory_note(struct maar_session *session, const struct maar_job *job,
                      enum maar_refusal refusal)
{
    struct maar_job_entry *entry = maar_job_entry(job);
    entry->refusal.session = session->world->session_number;
    entry->refusal.held = false;
    entry->refusal.number = 0;
    entry->refusal.is_checked = false;
    if (refusal == MAAR_REFUSAL_TURN && !maar_session_job(session, job)->looked_at_nodes)
        refusal = MAAR_REFUSAL_ROOM;
    /* Who was refused because others had used up the trials may have more luck. */
    if (!is_able(session, refusal) || maar_place_is_exhausted(session))
        return;
    entry->refusal.kind = (uint8_t)refusal;
    entry->refusal.lacked = maar_session_job(session, job)->lacked;
    entry->refusal.number = number_of(session, job, refusal);
}
