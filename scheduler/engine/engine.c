/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The engine: deltas in, a session when something relevant changed, writes out. */

#include "engine/engine.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_parts.h"
#include "host/action_host.h"
#include "host/policy_build.h"
#include "place/place.h"
#include "session/session.h"

/* With so many bindings unanswered, about two seconds' worth, decisions wait, so that they do not go stale. */
#define BINDS_IN_FLIGHT_MAX 4096u
/* Removals of scheduling gates in flight, for each of Volcano's workers, and how many of these there are. */
#define GATES_PER_WORKER     200u
#define GATE_REMOVAL_WORKERS 5
/* Pause before a failed status is written again. */
#define RETRY_NS MAAR_SECOND_NS

struct maar_engine {
    const struct maar_registry *registry;
    struct maar_backend backend;
    struct maar_world *world;
    struct maar_policy *policy;
    struct maar_policy *next_policy; /* takes effect with the next session */
    struct maar_place *place;
    struct maar_memory *memory;
    bool check_memory;
    char *component;
    bool create_queues;
    bool check;
    bool reference;
    struct maar_feature_gates features;
    size_t n_gates_max;
    bool stands_by;
    bool synced[MAAR_N_KINDS];
    int64_t full_retry_ns;
    maar_session_fn on_session;
    void *on_session_context;
    int64_t full_ns;  /* when all that waits was tried last, from memory or not */
    bool retries_all; /* the next session does */
    bool relevant;    /* something changed since the last session */
    int64_t retry_ns; /* when to write failed statuses again; 0: nothing failed */
    size_t n_binds_in_flight;
    size_t n_gates_in_flight;
    size_t n_submitted;
    size_t n_undo_errors;
    size_t n_bad_answers;
    size_t n_memory_errors;
    struct maar_deltas deltas;
};

static bool keeps_pod(void *registry, const char *key)
{
    return maar_registry_reads_pod_annotation(registry, key);
}

static bool keeps_group(void *registry, const char *key)
{
    return maar_registry_reads_pod_group_annotation(registry, key);
}

static bool keeps_queue(void *registry, const char *key)
{
    return maar_registry_reads_queue_annotation(registry, key);
}

struct maar_wire_options maar_engine_decode_options(const struct maar_registry *registry)
{
    return (struct maar_wire_options){
        .keeps_pod_annotation = keeps_pod,
        .keeps_group_annotation = keeps_group,
        .keeps_queue_annotation = keeps_queue,
        .context = (void *)(uintptr_t)registry,
    };
}

struct maar_engine *maar_engine_create(const struct maar_engine_options *options,
                                       struct maar_backend backend, struct maar_error *err)
{
    struct maar_policy *policy = maar_policy_create(options->registry, options->conf, err);
    if (!policy)
        return NULL;
    struct maar_engine *engine = maar_calloc(1, sizeof *engine);
    struct maar_world_options world = {options->scheduler_names, options->default_queue};
    engine->registry = options->registry;
    engine->backend = backend;
    engine->policy = policy;
    engine->world = maar_world_create(&world);
    engine->place = maar_place_create();
    engine->memory = maar_memory_create();
    engine->check_memory = options->check_memory;
    engine->component = maar_strdup(
        engine->world->scheduler_names.n == 1 ? engine->world->scheduler_names.data[0] : "volcano");
    engine->create_queues = options->create_queues;
    engine->check = options->check;
    engine->reference = options->reference;
    engine->features = options->features;
    int64_t workers = options->gate_removal_workers;
    engine->n_gates_max = (size_t)(workers < 1 ? GATE_REMOVAL_WORKERS : workers) * GATES_PER_WORKER;
    engine->full_retry_ns = options->full_retry_ns;
    engine->stands_by = options->stands_by;
    engine->on_session = options->on_session;
    engine->on_session_context = options->on_session_context;
    return engine;
}

void maar_engine_destroy(struct maar_engine *engine)
{
    if (!engine)
        return;
    for (size_t i = 0; i < engine->deltas.n; i++)
        maar_delta_fini(&engine->deltas.data[i]);
    maar_vec_fini(&engine->deltas);
    maar_policy_destroy(engine->policy);
    maar_policy_destroy(engine->next_policy);
    maar_place_destroy(engine->place);
    maar_memory_destroy(engine->memory);
    maar_world_destroy(engine->world);
    free(engine->component);
    free(engine);
}

int maar_engine_start(struct maar_engine *engine, struct maar_error *err)
{
    return engine->backend.ops->start(engine->backend.self, err);
}

int maar_engine_set_conf(struct maar_engine *engine, struct maar_conf *conf, struct maar_error *err)
{
    struct maar_policy *policy = maar_policy_create(engine->registry, conf, err);
    if (!policy)
        return -EINVAL;
    maar_policy_destroy(engine->next_policy);
    engine->next_policy = policy;
    engine->relevant = true;
    return 0;
}

void maar_engine_take_over(struct maar_engine *engine)
{
    engine->stands_by = false;
    engine->relevant = true;
}

static void submit(struct maar_engine *engine, struct maar_write *write)
{
    if (write->kind == MAAR_WRITE_BIND)
        engine->n_binds_in_flight++;
    engine->n_gates_in_flight += write->kind == MAAR_WRITE_UNGATE;
    maar_world_status_sent(engine->world, write, true);
    engine->n_submitted++;
    engine->backend.ops->submit(engine->backend.self, write);
}

/* ---- answers ---- */

static void tell_pod(struct maar_engine *engine, const struct maar_write *about, const char *type,
                     const char *reason, const char *message)
{
    struct maar_write *write =
        maar_write_create(MAAR_WRITE_EVENT, about->ns, about->name, about->uid);
    write->now_ns = engine->backend.ops->now_ns(engine->backend.self);
    write->event.object = MAAR_KIND_POD;
    write->event.type = type;
    write->event.reason = reason;
    write->event.message = maar_arena_strdup(write->arena, message);
    write->event.source = maar_arena_strdup(write->arena, engine->component);
    submit(engine, write);
}

static void bind_failed(struct maar_engine *engine, const struct maar_write *about,
                        const char *text)
{
    maar_autofree char *message =
        maar_asprintf("failed to bind to node %s: %s", about->bind.node, text);
    struct maar_task_entry *task = maar_world_task(engine->world, about->uid);
    if (!task)
        return; /* the pod is gone */
    maar_text_replace(&task->condition_reason, "SchedulerError");
    maar_text_replace(&task->condition_message, message);
    struct maar_write *write =
        maar_write_create(MAAR_WRITE_POD_CONDITION, about->ns, about->name, about->uid);
    write->now_ns = engine->backend.ops->now_ns(engine->backend.self);
    write->pod_condition.nominated_node = "";
    write->pod_condition.condition = (struct maar_condition_record){
        .type = "PodScheduled",
        .status = "False",
        .reason = "SchedulerError",
        .message = maar_arena_strdup(write->arena, message),
        .transition_id = "",
    };
    submit(engine, write);
    tell_pod(engine, about, "Warning", "FailedScheduling", message);
}

static void bind_done(struct maar_engine *engine, const struct maar_delta *delta, bool ok)
{
    const struct maar_write *write = delta->write;
    engine->n_binds_in_flight--;
    maar_world_bind_done(engine->world, write->uid, ok);
    if (ok) {
        maar_autofree char *message = maar_asprintf("Successfully assigned %s/%s to %s", write->ns,
                                                    write->name, write->bind.node);
        tell_pod(engine, write, "Normal", "Scheduled", message);
        return;
    }
    bind_failed(engine, write, *delta->message ? delta->message : "no answer");
    /* Gone or bound already: the watch will tell; everything else is tried again. */
    if (delta->code != 404 && delta->code != 409)
        engine->relevant = true;
}

/* The API does not hold what was written: the next session writes it again. */
static void forget_group_status(struct maar_job_entry *job, const struct maar_write *write)
{
    job->written_running = -1;
    for (size_t i = 0; write->pod_group_status.has_condition && i < job->conditions.n; i++) {
        struct maar_condition *condition = &job->conditions.data[i];
        if (strcmp(condition->type, write->pod_group_status.condition.type) != 0)
            continue;
        free(condition->status);
        condition->status = maar_strdup("");
    }
}

static void status_failed(struct maar_engine *engine, const struct maar_delta *delta)
{
    const struct maar_write *write = delta->write;
    if (delta->code == 404)
        return;
    engine->retry_ns = engine->backend.ops->now_ns(engine->backend.self) + RETRY_NS;
    if (write->kind == MAAR_WRITE_POD_GROUP_STATUS) {
        maar_autofree char *uid = maar_asprintf("%s/%s", write->ns, write->name);
        struct maar_job_entry *job = maar_world_job(engine->world, uid);
        if (job) {
            forget_group_status(job, write);
            maar_world_job_changed(engine->world, job);
        }
    } else if (write->kind == MAAR_WRITE_POD_CONDITION) {
        struct maar_task_entry *task = maar_world_task(engine->world, write->uid);
        /* One that was sent after it says what the API will hold. */
        if (task && task->conditions_in_flight == 0) {
            maar_text_replace(&task->condition_reason, NULL);
            if (task->job)
                maar_world_job_changed(engine->world, task->job);
        }
    } else {
        struct maar_queue_entry *queue = maar_world_queue(engine->world, write->name);
        if (queue) {
            queue->create_requested = false;
            queue->write_failed = write->kind == MAAR_WRITE_QUEUE_STATUS;
        }
    }
}

static void ungate_done(struct maar_engine *engine, const struct maar_delta *delta, bool ok)
{
    engine->n_gates_in_flight--;
    maar_world_ungate_done(engine->world, delta->write->uid, ok);
    if (ok || delta->code == 404)
        return;
    engine->retry_ns = engine->backend.ops->now_ns(engine->backend.self) + RETRY_NS;
}

static void write_done(struct maar_engine *engine, const struct maar_delta *delta)
{
    bool ok = delta->code >= 200 && delta->code < 300;
    maar_world_status_sent(engine->world, delta->write, false);
    switch (delta->write->kind) {
    case MAAR_WRITE_BIND:
        bind_done(engine, delta, ok);
        break;
    case MAAR_WRITE_EVICT:
        maar_world_evict_done(engine->world, delta->write->uid, ok || delta->code == 404);
        engine->relevant |= !ok;
        break;
    case MAAR_WRITE_UNGATE:
        ungate_done(engine, delta, ok);
        break;
    case MAAR_WRITE_QUEUE_CREATE:
        if (ok || delta->code == 409)
            break;
        status_failed(engine, delta);
        break;
    case MAAR_WRITE_POD_GROUP_STATUS:
    case MAAR_WRITE_POD_CONDITION:
    case MAAR_WRITE_QUEUE_STATUS:
        if (!ok)
            status_failed(engine, delta);
        break;
    case MAAR_WRITE_EVENT:
    case MAAR_N_WRITE_KINDS:
        break;
    }
}

/* ---- sessions ---- */

static void create_queue(struct maar_engine *engine, const char *name, bool reclaimable)
{
    struct maar_queue_entry *queue = maar_world_queue(engine->world, name);
    if (queue && (queue->exists || queue->create_requested))
        return;
    if (!queue)
        queue = maar_world_queue_get(engine->world, name);
    queue->create_requested = true;
    struct maar_write *write = maar_write_create(MAAR_WRITE_QUEUE_CREATE, "", name, "");
    write->now_ns = engine->backend.ops->now_ns(engine->backend.self);
    write->queue_create.weight = 1;
    write->queue_create.reclaimable = reclaimable;
    submit(engine, write);
}

static void run_session(struct maar_engine *engine)
{
    if (engine->next_policy) {
        maar_policy_destroy(engine->policy);
        engine->policy = engine->next_policy;
        engine->next_policy = NULL;
        maar_world_renew(engine->world);
        /* Indexes were computed with the old one. */
        maar_place_destroy(engine->place);
        engine->place = maar_place_create();
        maar_memory_destroy(engine->memory);
        engine->memory = maar_memory_create();
    }
    int64_t now_ns = engine->backend.ops->now_ns(engine->backend.self);
    maar_world_expire(engine->world, now_ns);
    struct maar_session session = {.reference = engine->reference,
                                   .check_undo = engine->check,
                                   .queue_admission = engine->features.queue_admission,
                                   .n_openable = engine->n_gates_max - engine->n_gates_in_flight,
                                   .memory = engine->retries_all ? NULL : engine->memory,
                                   .check_memory = engine->check_memory,
                                   .component = engine->component};
    maar_session_open(&session, engine->world, engine->policy, engine->place, now_ns);
    maar_host_run_actions(&session);
    maar_session_close(&session);
    engine->relevant |= session.n_phases > 0;
    engine->n_undo_errors += session.n_undo_errors;
    engine->n_bad_answers += session.n_bad_answers;
    engine->n_memory_errors += session.n_memory_errors;
    if (engine->on_session)
        engine->on_session(engine->on_session_context, &session);
    for (size_t i = 0; i < session.writes.n; i++)
        submit(engine, session.writes.data[i]);
    maar_vec_clear(&session.writes);
    maar_session_fini(&session);
}

static void apply_object(struct maar_engine *engine, const struct maar_delta *delta)
{
    const struct maar_record *record = delta->record;
    bool changed = maar_world_apply(engine->world, record, delta->type == MAAR_DELTA_DELETE);
    engine->relevant |= changed;
    if (changed && delta->type == MAAR_DELTA_UPSERT && *record->fault)
        maar_log_warning("%s %s%s%s cannot be used: %s", maar_kind_name(record->kind), record->ns,
                         *record->ns ? "/" : "", record->name, record->fault);
    if (changed && delta->type == MAAR_DELTA_UPSERT && *record->warning)
        maar_log_warning("%s %s%s%s: %s", maar_kind_name(record->kind), record->ns,
                         *record->ns ? "/" : "", record->name, record->warning);
}

static void apply(struct maar_engine *engine, struct maar_delta *delta)
{
    switch (delta->type) {
    case MAAR_DELTA_UPSERT:
    case MAAR_DELTA_DELETE:
        apply_object(engine, delta);
        break;
    case MAAR_DELTA_SYNCED:
        engine->relevant |= !engine->synced[delta->kind];
        engine->synced[delta->kind] = true;
        break;
    case MAAR_DELTA_DONE:
        write_done(engine, delta);
        break;
    }
    maar_delta_fini(delta);
}

/* After its pause, what the API refused is due again. */
static void end_pause(struct maar_engine *engine)
{
    if (!engine->retry_ns || engine->backend.ops->now_ns(engine->backend.self) < engine->retry_ns)
        return;
    engine->retry_ns = 0;
    engine->relevant = true;
}

static bool has_waiting(const struct maar_world *world)
{
    for (size_t i = 0; i < world->listed.n; i++)
        if (maar_job_is_scheduled(world->listed.data[i]) &&
            world->listed.data[i]->view.n[MAAR_TASK_PENDING] > 0)
            return true;
    return false;
}

/* No memory of what was refused is perfect: now and then all that waits is tried again. */
static void retry_all(struct maar_engine *engine)
{
    int64_t now_ns = engine->backend.ops->now_ns(engine->backend.self);
    if (engine->full_ns == 0)
        engine->full_ns = now_ns;
    if (engine->full_retry_ns == 0 || now_ns - engine->full_ns < engine->full_retry_ns)
        return;
    engine->full_ns = now_ns;
    engine->retries_all = has_waiting(engine->world);
    engine->relevant |= engine->retries_all;
}

static bool is_due(const struct maar_engine *engine, bool force)
{
    return engine->n_binds_in_flight <= BINDS_IN_FLIGHT_MAX && (engine->relevant || force);
}

static void decide(struct maar_engine *engine, bool force, struct maar_turn *turn)
{
    end_pause(engine);
    if (engine->create_queues && !engine->retry_ns) {
        create_queue(engine, "root", false);
        create_queue(engine, engine->world->default_queue, true);
    }
    retry_all(engine);
    if (!is_due(engine, force))
        return;
    engine->relevant = false;
    int64_t start = maar_clock_mono_ns();
    run_session(engine);
    turn->session_ns = maar_clock_mono_ns() - start;
    turn->session = true;
    engine->retries_all = false;
}

struct maar_turn maar_engine_turn(struct maar_engine *engine, int64_t timeout_ns, bool force)
{
    struct maar_turn turn = {0};
    size_t submitted = engine->n_submitted;
    maar_vec_clear(&engine->deltas);
    engine->backend.ops->next_deltas(engine->backend.self, timeout_ns, &engine->deltas);
    turn.n_deltas = engine->deltas.n;
    for (size_t i = 0; i < engine->deltas.n; i++)
        apply(engine, &engine->deltas.data[i]);
    maar_vec_clear(&engine->deltas);
    turn.synced = maar_engine_is_synced(engine);
    if (turn.synced && !engine->stands_by)
        decide(engine, force, &turn);
    turn.n_writes = engine->n_submitted - submitted;
    return turn;
}

/* ---- reading ---- */

const struct maar_world *maar_engine_world(const struct maar_engine *engine)
{
    return engine->world;
}

const struct maar_conf *maar_engine_conf(const struct maar_engine *engine)
{
    return engine->policy->conf;
}

size_t maar_engine_check(const struct maar_engine *engine, struct maar_text *out)
{
    size_t n = maar_world_check(engine->world, out);
    if (engine->n_undo_errors > 0)
        maar_text_addf(out, "%zu discarded plans did not restore the world\n",
                       engine->n_undo_errors);
    if (engine->n_memory_errors > 0)
        maar_text_addf(out,
                       "%zu jobs that were refused from memory would not have been so, or in "
                       "other words\n",
                       engine->n_memory_errors);
    return n + engine->n_undo_errors + engine->n_memory_errors;
}

void maar_engine_queues(const struct maar_engine *engine, maar_queue_amount_fn each, void *context)
{
    const struct maar_world *world = engine->world;
    for (size_t i = 0; i < world->queue_slots.n; i++) {
        const struct maar_queue_entry *queue = world->queue_slots.data[i];
        if (!queue->exists)
            continue;
        for (uint32_t d = 0; d < world->dims.n; d++)
            if (queue->row_subtree[d] != 0)
                each(context, queue->view.name, "allocated", world->dim_names[d],
                     queue->row_subtree[d]);
        for (size_t k = 0; k < queue->published.n; k++) {
            const struct maar_published *published = &queue->published.data[k];
            if (strcmp(published->set, "deserved") != 0 && strcmp(published->set, "inqueue") != 0)
                continue;
            double value = published->value / world->dim_scales[published->dim];
            each(context, queue->view.name, published->set, world->dim_names[published->dim],
                 value > 9e18 ? INT64_MAX : (int64_t)value);
        }
    }
}

bool maar_engine_is_synced(const struct maar_engine *engine)
{
    for (size_t i = 0; i < MAAR_N_KINDS; i++)
        if (!engine->synced[i])
            return false;
    return true;
}

void maar_engine_look(struct maar_engine *engine, struct maar_session *session)
{
    *session = (struct maar_session){.looks = true,
                                     .reference = engine->reference,
                                     .queue_admission = engine->features.queue_admission,
                                     .component = engine->component};
    maar_session_open(session, engine->world, engine->policy, engine->place,
                      engine->backend.ops->now_ns(engine->backend.self));
}
