// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The real client against the embedded server, in step: a session begins when the client has delivered everything that
// the store shows, and a cycle ends when the server has answered everything that the session sent.
#include "cli/simulate_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "kube/client.h"
#include "serve/api_server.h"
#include "sim/document.h"

#define TOKEN   "simulation"
#define WAIT_NS (INT64_C(10) * MAAR_SECOND_NS)

struct context {
    struct maar_simulation_link link; /* first: a link is its context */
    struct maar_cluster *cluster;
    struct maar_store *store;
    struct maar_collection *collections[MAAR_N_KINDS];
    struct maar_api_server *server;
    struct maar_kube_config *config;
    struct maar_backend client;
    size_t n_delivered;
    bool late; /* the client did not deliver in time */
};

/* The version that the client must have reached, 0 when nothing is to be seen of the kind. */
static uint64_t wanted_version(const struct maar_collection *collection)
{
    uint64_t n = maar_collection_n_visible(collection);
    if (n <= collection->n_forgotten)
        return 0;
    return maar_collection_change(collection, n - 1)->version;
}

static bool has_delivered(const struct context *context)
{
    bool all = true;
    maar_store_lock(context->store);
    for (int i = 0; i < MAAR_N_KINDS && all; i++) {
        uint64_t have = maar_kube_delivered(&context->client, (enum maar_kind)i);
        if (!context->collections[i]->hides_list)
            all = have > 0 && have >= wanted_version(context->collections[i]);
    }
    maar_store_unlock(context->store);
    return all;
}

static int start(void *self, struct maar_error *err)
{
    const struct context *context = self;
    maar_store_lock(context->store);
    maar_cluster_set_started(context->cluster);
    maar_store_unlock(context->store);
    return context->client.ops->start(context->client.self, err);
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct context *context = self;
    size_t before = deltas->n;
    int64_t until_ns = maar_clock_mono_ns() + WAIT_NS;
    (void)timeout_ns;
    while (!has_delivered(context) && !context->late) {
        context->client.ops->next_deltas(context->client.self, 10 * MAAR_MILLISECOND_NS, deltas);
        context->late = maar_clock_mono_ns() > until_ns;
    }
    context->client.ops->next_deltas(context->client.self, 0, deltas);
    context->n_delivered += deltas->n - before;
}

static void submit(void *self, struct maar_write *write)
{
    const struct context *context = self;
    context->client.ops->submit(context->client.self, write);
}

static size_t n_in_flight(void *self)
{
    const struct context *context = self;
    return context->client.ops->n_in_flight(context->client.self);
}

static int64_t now_ns(void *self)
{
    const struct context *context = self;
    maar_store_lock(context->store);
    int64_t now = maar_store_now(context->store);
    maar_store_unlock(context->store);
    return now;
}

static void stop(void *self)
{
    const struct context *context = self;
    context->client.ops->stop(context->client.self);
}

/* ---- the link ---- */

static int open_server(struct context *context, struct maar_cluster *cluster,
                       struct maar_error *err)
{
    static const char *const places[MAAR_N_KINDS][2] = {
        [MAAR_KIND_NODE] = {"v1", "Node"},
        [MAAR_KIND_PRIORITY_CLASS] = {"scheduling.k8s.io/v1", "PriorityClass"},
        [MAAR_KIND_QUEUE] = {"scheduling.volcano.sh/v1beta1", "Queue"},
        [MAAR_KIND_POD_GROUP] = {"scheduling.volcano.sh/v1beta1", "PodGroup"},
        [MAAR_KIND_POD] = {"v1", "Pod"},
        [MAAR_KIND_NAMESPACE] = {"v1", "Namespace"},
    };
    const struct maar_api_server_options options = {cluster, 0, TOKEN, false};
    context->cluster = cluster;
    context->store = maar_cluster_store(cluster);
    for (size_t i = 0; i < MAAR_N_KINDS; i++)
        context->collections[i] = maar_store_find(context->store, places[i][0], places[i][1]);
    int rc = maar_api_server_start(&options, &context->server, err);
    if (rc < 0)
        return rc;
    maar_autofree char *text =
        maar_api_server_kubeconfig(maar_api_server_port(context->server), TOKEN);
    return maar_kube_config_parse(text, strlen(text), "kubeconfig", &context->config, err);
}

static void close_server(struct context *context)
{
    maar_kube_backend_destroy(&context->client);
    maar_api_server_stop(context->server);
    maar_kube_config_destroy(context->config);
    context->server = NULL;
    context->config = NULL;
}

static int open_link(void *self, struct maar_cluster *cluster,
                     const struct maar_wire_options *decode, struct maar_backend *ret_backend,
                     struct maar_error *err)
{
    static const struct maar_backend_ops ops = {
        .start = start,
        .next_deltas = next_deltas,
        .submit = submit,
        .n_in_flight = n_in_flight,
        .now_ns = now_ns,
        .stop = stop,
    };
    struct context *context = self;
    if (context->cluster != cluster) {
        close_server(context);
        int rc = open_server(context, cluster, err);
        if (rc < 0)
            return rc;
    }
    const struct maar_kube_options options = {
        .config = context->config,
        .decode = *decode,
        /* One after the other, so that they arrive in the order of decision; a binding that stays in flight would
         * then keep all others waiting. */
        .max_in_flight = maar_cluster_options(cluster)->bind_delay > 0 ? 0 : 1,
    };
    int rc = maar_kube_backend_create(&options, &context->client, err);
    if (rc == 0)
        *ret_backend = (struct maar_backend){&ops, context};
    return rc;
}

static void close_link(void *self)
{
    struct context *context = self;
    maar_kube_backend_destroy(&context->client);
}

static size_t n_flights(const struct context *context)
{
    maar_store_lock(context->store);
    size_t n = maar_api_server_n_flights(context->server);
    maar_store_unlock(context->store);
    return n;
}

static int settle(void *self, struct maar_error *err)
{
    struct context *context = self;
    int64_t until_ns = maar_clock_mono_ns() + WAIT_NS;
    maar_store_lock(context->store);
    while (!context->late) {
        maar_store_unlock(context->store);
        bool answered = n_in_flight(context) <= n_flights(context);
        maar_store_lock(context->store);
        if (answered)
            break;
        maar_store_wait(context->store, 1);
        context->late = maar_clock_mono_ns() > until_ns;
    }
    maar_store_unlock(context->store);
    return context->late ? maar_error_set(err, -ETIMEDOUT,
                                          "the client did not get through to the embedded server")
                         : 0;
}

static void land(void *self)
{
    struct context *context = self;
    maar_api_server_land(context->server);
}

static size_t take_n_delivered(void *self)
{
    struct context *context = self;
    size_t n = context->n_delivered;
    context->n_delivered = 0;
    return n;
}

static void forget_cluster(void *self)
{
    struct context *context = self;
    close_server(context);
    context->cluster = NULL;
}

struct maar_simulation_link *maar_simulate_link_create(void)
{
    struct context *context = maar_calloc(1, sizeof *context);
    context->link = (struct maar_simulation_link){
        .context = context,
        .open = open_link,
        .close = close_link,
        .forget = forget_cluster,
        .settle = settle,
        .land = land,
        .take_n_delivered = take_n_delivered,
    };
    return &context->link;
}

void maar_simulate_link_destroy(struct maar_simulation_link *link)
{
    if (!link)
        return;
    close_server(link->context);
    free(link->context);
}
