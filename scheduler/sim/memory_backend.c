// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Reads the store's logs as a watch would and sends writes as the requests that the real client
// would send, so that both ways exercise the same bytes.
#include "sim/memory_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct reader {
    struct maar_collection *collection;
    bool listed;
    uint64_t n_read; /* changes */
};

struct flight {
    unsigned due; /* the cycle at whose end it lands */
    bool orphan;  /* whoever sent it is gone */
    struct maar_cluster_write write;
    struct maar_request request;
    json_t *body;
    struct maar_write *origin;
};

struct maar_memory_backend {
    struct maar_cluster *cluster;
    struct maar_store *store;
    const struct maar_wire_options *options;
    struct reader readers[MAAR_N_KINDS];
    struct maar_deltas answers;
    MAAR_VEC(struct flight) flights;
    size_t n_delivered;
};

static const struct {
    const char *api_version;
    const char *kind;
} places[MAAR_N_KINDS] = {
    [MAAR_KIND_NODE] = {"v1", "Node"},
    [MAAR_KIND_PRIORITY_CLASS] = {"scheduling.k8s.io/v1", "PriorityClass"},
    [MAAR_KIND_QUEUE] = {"scheduling.volcano.sh/v1beta1", "Queue"},
    [MAAR_KIND_POD_GROUP] = {"scheduling.volcano.sh/v1beta1", "PodGroup"},
    [MAAR_KIND_POD] = {"v1", "Pod"},
    [MAAR_KIND_NAMESPACE] = {"v1", "Namespace"},
};

struct maar_memory_backend *maar_memory_backend_create(struct maar_cluster *cluster,
                                                       const struct maar_wire_options *options)
{
    struct maar_memory_backend *backend = maar_calloc(1, sizeof *backend);
    backend->cluster = cluster;
    backend->store = maar_cluster_store(cluster);
    backend->options = options;
    for (size_t i = 0; i < MAAR_N_KINDS; i++)
        backend->readers[i].collection =
            maar_store_find(backend->store, places[i].api_version, places[i].kind);
    return backend;
}

static void flight_fini(struct flight *flight)
{
    maar_request_fini(&flight->request);
    json_decref(flight->body);
    maar_write_destroy(flight->origin);
}

static void drop_answers(struct maar_memory_backend *backend)
{
    struct maar_delta *delta;
    MAAR_VEC_EACH (&backend->answers, delta)
        maar_delta_fini(delta);
    maar_vec_clear(&backend->answers);
}

void maar_memory_backend_destroy(struct maar_memory_backend *backend)
{
    if (!backend)
        return;
    struct flight *flight;
    MAAR_VEC_EACH (&backend->flights, flight)
        flight_fini(flight);
    maar_vec_fini(&backend->flights);
    drop_answers(backend);
    maar_vec_fini(&backend->answers);
    free(backend);
}

/* ---- reading ---- */

static int start(void *self, struct maar_error *err)
{
    struct maar_memory_backend *backend = self;
    struct flight *flight;
    (void)err;
    for (size_t i = 0; i < MAAR_N_KINDS; i++)
        backend->readers[i].listed = false;
    MAAR_VEC_EACH (&backend->flights, flight)
        flight->orphan = true;
    drop_answers(backend);
    maar_cluster_set_started(backend->cluster);
    return 0;
}

static void push_object(struct maar_memory_backend *backend, enum maar_kind kind,
                        const json_t *document, bool deleted, struct maar_deltas *deltas)
{
    struct maar_delta delta = {.type = deleted ? MAAR_DELTA_DELETE : MAAR_DELTA_UPSERT,
                               .kind = kind};
    /* What has no name cannot have been stored, so decoding never refuses it. */
    if (maar_wire_decode_json(kind, document, backend->options, &delta.record, NULL) < 0)
        return;
    maar_vec_push(deltas, delta);
}

static void list(struct maar_memory_backend *backend, enum maar_kind kind,
                 struct maar_deltas *deltas)
{
    struct reader *reader = &backend->readers[kind];
    const struct maar_object *object;
    size_t at = 0;
    if (reader->collection->hides_list)
        return;
    while ((object = maar_collection_next(reader->collection, &at)))
        push_object(backend, kind, object->document, false, deltas);
    reader->listed = true;
    reader->n_read = maar_collection_n_visible(reader->collection);
    if (reader->collection->held) /* a list shows the present; only later events are held */
        reader->n_read = reader->collection->n_forgotten + reader->collection->log.n;
    struct maar_delta synced = {.type = MAAR_DELTA_SYNCED, .kind = kind};
    maar_vec_push(deltas, synced);
}

/* The kind whose next change is the oldest, -1 when all is read. */
static int oldest(const struct maar_memory_backend *backend)
{
    int best = -1;
    uint64_t best_version = UINT64_MAX;
    for (int i = 0; i < MAAR_N_KINDS; i++) {
        const struct reader *reader = &backend->readers[i];
        if (!reader->listed || reader->n_read >= maar_collection_n_visible(reader->collection))
            continue;
        uint64_t version = maar_collection_change(reader->collection, reader->n_read)->version;
        if (version < best_version) {
            best = i;
            best_version = version;
        }
    }
    return best;
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct maar_memory_backend *backend = self;
    size_t before = deltas->n;
    int kind;
    (void)timeout_ns; /* nothing happens while the only thread waits */
    for (size_t i = 0; i < backend->answers.n; i++)
        maar_vec_push(deltas, backend->answers.data[i]);
    maar_vec_clear(&backend->answers);
    for (int i = 0; i < MAAR_N_KINDS; i++)
        if (!backend->readers[i].listed)
            list(backend, (enum maar_kind)i, deltas);
    while ((kind = oldest(backend)) >= 0) {
        struct reader *reader = &backend->readers[kind];
        const struct maar_change *change =
            maar_collection_change(reader->collection, reader->n_read++);
        push_object(backend, (enum maar_kind)kind, change->document,
                    change->type == MAAR_CHANGE_DELETED, deltas);
    }
    backend->n_delivered += deltas->n - before;
}

size_t maar_memory_backend_take_n_delivered(struct maar_memory_backend *backend)
{
    size_t n = backend->n_delivered;
    backend->n_delivered = 0;
    return n;
}

/* ---- writing ---- */

static void push_answer(struct maar_memory_backend *backend, struct maar_write *write, int code,
                        const char *message)
{
    struct maar_delta delta = {.type = MAAR_DELTA_DONE, .write = write, .code = code};
    snprintf(delta.message, sizeof delta.message, "%.255s", message);
    maar_vec_push(&backend->answers, delta);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static void land(struct maar_memory_backend *backend, struct flight *flight)
{
    struct maar_write_hint hint = {"", ""};
    struct maar_answer answer;
    if (flight->origin->kind == MAAR_WRITE_EVICT)
        hint = (struct maar_write_hint){text_of(flight->origin->evict.action),
                                        text_of(flight->origin->evict.beneficiary)};
    maar_cluster_finish_write(backend->cluster, &flight->write, flight->request.method,
                              flight->request.content_type, flight->body, &hint, &answer);
    if (!flight->orphan) {
        bool ok = answer.code >= 200 && answer.code < 300;
        push_answer(backend, flight->origin, answer.code, ok ? "" : answer.message);
        flight->origin = NULL;
    }
    maar_answer_fini(&answer);
    flight_fini(flight);
}

static const json_t *current_of(const struct maar_memory_backend *backend,
                                const struct maar_write *write)
{
    if (write->kind != MAAR_WRITE_POD_GROUP_STATUS)
        return NULL;
    const struct maar_object *object = maar_collection_object(
        backend->readers[MAAR_KIND_POD_GROUP].collection, write->ns, write->name);
    return object ? object->document : NULL;
}

static void submit(void *self, struct maar_write *write)
{
    struct maar_memory_backend *backend = self;
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_answer answer;
    struct flight flight = {.origin = write};
    if (maar_wire_request(write, current_of(backend, write), "volcano", &flight.request, &err) <
        0) {
        push_answer(backend, write, 400, err.text);
        return;
    }
    if (flight.request.body)
        flight.body = json_loads(flight.request.body, 0, NULL);
    int code = maar_cluster_begin_write(backend->cluster, flight.request.method,
                                        flight.request.path, flight.body, &flight.write, &answer);
    if (code) {
        push_answer(backend, write, code, answer.message);
        flight.origin = NULL;
        maar_answer_fini(&answer);
        flight_fini(&flight);
        return;
    }
    unsigned delay = maar_cluster_options(backend->cluster)->bind_delay;
    if (write->kind == MAAR_WRITE_BIND && delay > 0) {
        flight.due = maar_cluster_cycle(backend->cluster) + delay;
        maar_vec_push(&backend->flights, flight);
    } else {
        land(backend, &flight);
    }
}

void maar_memory_backend_land(struct maar_memory_backend *backend)
{
    for (size_t i = 0; i < backend->flights.n;) {
        if (backend->flights.data[i].due > maar_cluster_cycle(backend->cluster)) {
            i++;
            continue;
        }
        struct flight flight = backend->flights.data[i];
        maar_vec_remove(&backend->flights, i);
        land(backend, &flight);
    }
}

static size_t n_in_flight(void *self)
{
    const struct maar_memory_backend *backend = self;
    size_t n = backend->answers.n;
    for (size_t i = 0; i < backend->flights.n; i++)
        n += !backend->flights.data[i].orphan;
    return n;
}

static int64_t now_ns(void *self)
{
    const struct maar_memory_backend *backend = self;
    return maar_store_now(backend->store);
}

static void stop(void *self)
{
    drop_answers(self);
}

struct maar_backend maar_memory_backend_ops(struct maar_memory_backend *backend)
{
    static const struct maar_backend_ops ops = {
        .start = start,
        .next_deltas = next_deltas,
        .submit = submit,
        .n_in_flight = n_in_flight,
        .now_ns = now_ns,
        .stop = stop,
    };
    return (struct maar_backend){&ops, backend};
}
