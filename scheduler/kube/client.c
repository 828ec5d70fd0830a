/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Two threads meet here. The I/O thread owns reflectors, writer and transport; under the lock are only the inbox of
 * deltas, the outbox of writes that wait to be taken over, and a few numbers. What one round of the I/O thread brings
 * goes into the inbox at once, so that the engine wakes once for a burst. */

#include "kube/client.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kube/http.h"

#define INBOX_FULL 20000 /* deltas; above, lists wait for the engine */

struct client {
    char *component;
    struct maar_http *http;
    struct maar_reflector *reflectors[MAAR_N_KINDS]; /* NULL: not followed */
    struct maar_writer *writer;
    struct maar_election *election; /* NULL: none */

    /* The I/O thread's, until the end of a round. */
    struct maar_deltas round;
    uint64_t round_delivered[MAAR_N_KINDS];
    size_t n_round_done;
    bool resigns;
    int64_t answers_until_ns; /* when resigning, writes that are out are waited for until then */

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    /* Under the lock. */
    struct maar_deltas inbox;
    MAAR_VEC(struct maar_write *) outbox;
    size_t n_in_flight;
    uint64_t delivered[MAAR_N_KINDS];
    struct maar_kube_counters counters;
    enum maar_leadership leadership;
    bool resignation_over;
    int64_t resign_within_ns; /* 0: not asked to */
    bool woken;
    bool stopping;
};

/* ---- what the I/O thread's parts report ---- */

static void on_delta(void *context, const struct maar_delta *delta)
{
    struct client *client = context;

    maar_vec_push(&client->round, *delta);
}

static void on_delivered(void *context, enum maar_kind kind, const char *resource_version)
{
    struct client *client = context;

    client->round_delivered[kind] = maar_version_number(resource_version);
}

static bool is_full(void *context)
{
    struct client *client = context;
    bool full;

    pthread_mutex_lock(&client->lock);
    full = client->inbox.n + client->round.n >= INBOX_FULL;
    pthread_mutex_unlock(&client->lock);
    return full;
}

static void on_written(void *context, struct maar_write *write, int code, const char *message)
{
    struct client *client = context;
    struct maar_delta delta = {.type = MAAR_DELTA_DONE, .write = write, .code = code};

    strncpy(delta.message, message, sizeof delta.message - 1);
    client->n_round_done++;
    maar_vec_push(&client->round, delta);
}

/* ---- the I/O thread ---- */

static void count(struct client *client)
{
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        if (client->reflectors[kind])
            client->counters.reflectors[kind] = maar_reflector_counters(client->reflectors[kind]);
    }
    client->counters.writer = maar_writer_counters(client->writer);
}

/* Under the lock. */
static void exchange_leadership(struct client *client)
{
    enum maar_leadership leadership;

    if (!client->election)
        return;
    leadership = maar_election_leadership(client->election);
    if (leadership != client->leadership) {
        client->leadership = leadership;
        client->woken = true;
        pthread_cond_broadcast(&client->arrived);
    }
    if (client->resign_within_ns && !client->resigns) {
        client->resigns = true;
        client->answers_until_ns = maar_clock_mono_ns() + client->resign_within_ns / 2;
    }
    if (client->resigns && !client->resignation_over && maar_election_is_over(client->election)) {
        client->resignation_over = true;
        pthread_cond_broadcast(&client->arrived);
    }
}

/* Puts what the round brought into the inbox and takes new writes over. False at the end. */
static bool exchange(struct client *client)
{
    bool stopping;
    struct maar_write **write;

    pthread_mutex_lock(&client->lock);
    if (client->round.n) {
        maar_vec_reserve(&client->inbox, client->inbox.n + client->round.n);
        memcpy(client->inbox.data + client->inbox.n, client->round.data,
               client->round.n * sizeof client->round.data[0]);
        client->inbox.n += client->round.n;
        client->n_in_flight -= client->n_round_done;
        pthread_cond_signal(&client->arrived);
    }
    memcpy(client->delivered, client->round_delivered, sizeof client->delivered);
    count(client);
    MAAR_VEC_EACH (&client->outbox, write)
        maar_writer_submit(client->writer, *write);
    maar_vec_clear(&client->outbox);
    exchange_leadership(client);
    stopping = client->stopping;
    pthread_mutex_unlock(&client->lock);
    maar_vec_clear(&client->round);
    client->n_round_done = 0;
    return !stopping;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* The Lease goes when nothing can be written under it any more. */
static int64_t resign(struct client *client)
{
    if (!client->resigns || maar_election_leadership(client->election) >= MAAR_LOST)
        return INT64_MAX;
    maar_writer_withdraw(client->writer, maar_clock_mono_ns() >= client->answers_until_ns);
    if (maar_writer_n_open(client->writer))
        return client->answers_until_ns;
    maar_election_resign(client->election);
    return INT64_MAX;
}

/* First of all, since the writer acts on what comes out. */
static int64_t tick_election(struct client *client)
{
    enum maar_leadership before;
    int64_t resign_ns;
    int64_t next_ns;

    if (!client->election)
        return INT64_MAX;
    before = maar_election_leadership(client->election);
    resign_ns = resign(client);
    next_ns = earlier(resign_ns, maar_election_tick(client->election));
    if (maar_election_leadership(client->election) == MAAR_LOST)
        maar_writer_withdraw(client->writer, true);
    /* The engine hears of a change now. */
    return maar_election_leadership(client->election) == before ? next_ns : INT64_MIN;
}

static int64_t tick(struct client *client)
{
    int64_t next_ns = tick_election(client);

    next_ns = earlier(next_ns, maar_writer_tick(client->writer));

    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        if (client->reflectors[kind])
            next_ns = earlier(next_ns, maar_reflector_tick(client->reflectors[kind]));
    }
    return next_ns;
}

static void *run(void *context)
{
    struct client *client = context;

    while (exchange(client)) {
        int64_t next_ns = tick(client);
        int64_t now_ns = maar_clock_mono_ns();

        /* A tick itself may have ended writes that need no request. */
        if (client->round.n)
            next_ns = now_ns;
        maar_http_run(client->http, next_ns > now_ns ? next_ns - now_ns : 0);
    }
    return NULL;
}

/* ---- the backend ---- */

static int start(void *self, struct maar_error *err)
{
    struct client *client = self;
    int r;

    if (client->started)
        return maar_error_set(err, -EALREADY, "the client runs already");
    r = pthread_create(&client->thread, NULL, run, client);
    if (r)
        return maar_error_set(err, -r, "the I/O thread cannot be started: %s", strerror(r));
    client->started = true;
    return 0;
}

static void wait_until(struct client *client, int64_t deadline_ns)
{
    struct timespec deadline = {deadline_ns / MAAR_SECOND_NS, deadline_ns % MAAR_SECOND_NS};

    while (!client->inbox.n && !client->stopping && !client->woken) {
        if (pthread_cond_timedwait(&client->arrived, &client->lock, &deadline) == ETIMEDOUT)
            return;
    }
    client->woken = false;
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct client *client = self;
    int64_t now_ns = maar_clock_mono_ns();

    pthread_mutex_lock(&client->lock);
    if (timeout_ns > 0)
        wait_until(client, timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns);
    if (client->leadership == MAAR_LOST) {
        /* Nobody has to act on anything any more. */
    } else if (!deltas->n) {
        struct maar_deltas taken = client->inbox;

        client->inbox = *deltas;
        *deltas = taken;
    } else if (client->inbox.n) {
        maar_vec_reserve(deltas, deltas->n + client->inbox.n);
        memcpy(deltas->data + deltas->n, client->inbox.data,
               client->inbox.n * sizeof client->inbox.data[0]);
        deltas->n += client->inbox.n;
        maar_vec_clear(&client->inbox);
    }
    pthread_mutex_unlock(&client->lock);
}

static void submit(void *self, struct maar_write *write)
{
    struct client *client = self;
    bool first;

    pthread_mutex_lock(&client->lock);
    first = client->outbox.n == 0;
    maar_vec_push(&client->outbox, write);
    client->n_in_flight++;
    pthread_mutex_unlock(&client->lock);
    if (first)
        maar_http_wake(client->http);
}

static size_t n_in_flight(void *self)
{
    struct client *client = self;
    size_t n;

    pthread_mutex_lock(&client->lock);
    n = client->n_in_flight;
    pthread_mutex_unlock(&client->lock);
    return n;
}

static int64_t wall_ns(void *self)
{
    (void)self;
    return maar_clock_wall_ns();
}

static void stop(void *self)
{
    struct client *client = self;

    if (!client->started)
        return;
    pthread_mutex_lock(&client->lock);
    client->stopping = true;
    pthread_cond_broadcast(&client->arrived);
    pthread_mutex_unlock(&client->lock);
    maar_http_wake(client->http);
    pthread_join(client->thread, NULL);
    client->started = false;
}

static const struct maar_backend_ops ops = {
    .start = start,
    .next_deltas = next_deltas,
    .submit = submit,
    .n_in_flight = n_in_flight,
    .now_ns = wall_ns,
    .stop = stop,
};

/* ---- creation and end ---- */

static void init_lock(struct client *client)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&client->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&client->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
}

static uint64_t make_seed(const void *unique)
{
    return ((uint64_t)maar_clock_wall_ns() ^ ((uint64_t)(uintptr_t)unique << 16)) | 1;
}

static void create_reflectors(struct client *client, const struct maar_kube_options *options)
{
    uint32_t kinds = options->kinds ? options->kinds : UINT32_MAX;

    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        struct maar_reflector_options reflector = {
            .kind = (enum maar_kind)kind,
            .transport = maar_http_transport(client->http),
            .decode = options->decode,
            .emit = on_delta,
            .delivered = on_delivered,
            .is_full = is_full,
            .context = client,
            .page_size = options->page_size,
            .seed = make_seed(&client->reflectors[kind]),
            .keeps_text = kind == MAAR_KIND_POD_GROUP || kind == MAAR_KIND_QUEUE,
        };

        if (kinds >> kind & 1)
            client->reflectors[kind] = maar_reflector_create(&reflector);
    }
}

static struct maar_known *known_of(const struct client *client, enum maar_kind kind)
{
    return client->reflectors[kind] ? maar_reflector_known(client->reflectors[kind]) : NULL;
}

static int64_t may_write_until_ns(void *context)
{
    const struct client *client = context;

    return client->election ? maar_election_until_ns(client->election) : INT64_MAX;
}

static void create_writer(struct client *client, const struct maar_kube_options *options)
{
    struct maar_writer_options writer = {
        .transport = maar_http_transport(client->http),
        .pods = known_of(client, MAAR_KIND_POD),
        .nodes = known_of(client, MAAR_KIND_NODE),
        .pod_groups = known_of(client, MAAR_KIND_POD_GROUP),
        .queues = known_of(client, MAAR_KIND_QUEUE),
        .component = client->component,
        .per_second = options->qps,
        .burst = options->burst,
        .max_in_flight = options->max_in_flight,
        .seed = make_seed(client),
        .may_send_until_ns = may_write_until_ns,
        .done = on_written,
        .context = client,
    };

    client->writer = maar_writer_create(&writer);
}

int maar_kube_backend_create(const struct maar_kube_options *options,
                             struct maar_backend *ret_backend, struct maar_error *err)
{
    struct client *client = maar_calloc(1, sizeof *client);
    maar_autofree char *user_agent = NULL;
    int r;

    client->component = maar_strdup(options->component ? options->component : "volcano");
    user_agent = maar_asprintf("maar-scheduler/%s (%s)", MAAR_VERSION, client->component);
    init_lock(client);
    r = maar_http_create(options->config, user_agent, &client->http, err);
    if (r < 0) {
        struct maar_backend failed = {&ops, client};

        maar_kube_backend_destroy(&failed);
        return r;
    }
    create_reflectors(client, options);
    create_writer(client, options);
    if (options->election)
        client->election =
            maar_election_create(options->election, maar_http_transport(client->http),
                                 maar_clock_wall_ns, make_seed(options));
    client->leadership = client->election ? MAAR_FOLLOWS : MAAR_LEADS;
    *ret_backend = (struct maar_backend){&ops, client};
    return 0;
}

static void free_deltas(struct maar_deltas *deltas)
{
    struct maar_delta *delta;

    MAAR_VEC_EACH (deltas, delta)
        maar_delta_fini(delta);
    maar_vec_fini(deltas);
}

void maar_kube_backend_destroy(struct maar_backend *backend)
{
    struct client *client = backend->self;
    struct maar_write **write;

    if (!client)
        return;
    stop(client);
    /* Writer and reflectors cancel their calls, so they go before the transport. */
    maar_writer_destroy(client->writer);
    maar_election_destroy(client->election);
    for (int kind = 0; kind < MAAR_N_KINDS; kind++)
        maar_reflector_destroy(client->reflectors[kind]);
    maar_http_destroy(client->http);
    MAAR_VEC_EACH (&client->outbox, write)
        maar_write_destroy(*write);
    maar_vec_fini(&client->outbox);
    free_deltas(&client->round);
    free_deltas(&client->inbox);
    pthread_cond_destroy(&client->arrived);
    pthread_mutex_destroy(&client->lock);
    free(client->component);
    free(client);
    *backend = (struct maar_backend){NULL, NULL};
}

enum maar_leadership maar_kube_leadership(const struct maar_backend *backend)
{
    struct client *client = backend->self;
    enum maar_leadership leadership;

    pthread_mutex_lock(&client->lock);
    leadership = client->leadership;
    pthread_mutex_unlock(&client->lock);
    return leadership;
}

void maar_kube_resign(const struct maar_backend *backend, int64_t timeout_ns)
{
    struct client *client = backend->self;
    int64_t deadline_ns = maar_clock_mono_ns() + timeout_ns;
    struct timespec deadline = {deadline_ns / MAAR_SECOND_NS, deadline_ns % MAAR_SECOND_NS};

    if (!client->election || !client->started)
        return;
    pthread_mutex_lock(&client->lock);
    client->resign_within_ns = timeout_ns;
    maar_http_wake(client->http);
    while (!client->resignation_over) {
        if (pthread_cond_timedwait(&client->arrived, &client->lock, &deadline) == ETIMEDOUT)
            break;
    }
    pthread_mutex_unlock(&client->lock);
}

void maar_kube_wake(const struct maar_backend *backend)
{
    struct client *client = backend->self;

    pthread_mutex_lock(&client->lock);
    client->woken = true;
    pthread_cond_signal(&client->arrived);
    pthread_mutex_unlock(&client->lock);
}

uint64_t maar_kube_delivered(const struct maar_backend *backend, enum maar_kind kind)
{
    struct client *client = backend->self;
    uint64_t version;

    pthread_mutex_lock(&client->lock);
    version = client->delivered[kind];
    pthread_mutex_unlock(&client->lock);
    return version;
}

struct maar_kube_counters maar_kube_counters(const struct maar_backend *backend)
{
    struct client *client = backend->self;
    struct maar_kube_counters counters;

    pthread_mutex_lock(&client->lock);
    counters = client->counters;
    pthread_mutex_unlock(&client->lock);
    return counters;
}
