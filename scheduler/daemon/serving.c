/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Up to three servers: metrics and health where Volcano has them, and the loopback one with explanations. */

#include "daemon/serving.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/log.h"
#include "serve/endpoints.h"
#include "serve/scheduler_metrics.h"

#define EXPLAIN_ADDRESS "127.0.0.1:11252"
#define ASK_TIMEOUT_NS  (5 * MAAR_SECOND_NS)
#define MAX_PEM_BYTES   (1024u * 1024)
#define N_SERVERS       3

struct maar_serving {
    const struct maar_options *options;
    struct maar_settle *settle;
    struct maar_engine *engine;
    struct maar_scheduler_metrics *metrics; /* NULL: not wanted */
    struct maar_asks *asks;
    struct maar_endpoints *endpoints;
    struct maar_web *webs[N_SERVERS];
    json_t *flags;
};

/* ---- measuring ---- */

static void on_delta(void *context, const struct maar_delta *delta)
{
    struct maar_serving *serving = context;

    maar_scheduler_metrics_delta(serving->metrics, maar_engine_world(serving->engine), delta,
                                 maar_clock_wall_ns());
}

static void on_write(void *context, const struct maar_write *write)
{
    struct maar_serving *serving = context;

    maar_scheduler_metrics_write(serving->metrics, maar_engine_world(serving->engine), write,
                                 maar_clock_wall_ns());
}

static void measure(struct maar_serving *serving, struct maar_engine_options *engine)
{
    serving->metrics = maar_scheduler_metrics_create();
    serving->settle->on_delta = on_delta;
    serving->settle->on_write = on_write;
    serving->settle->context = serving;
    engine->on_session = maar_scheduler_metrics_session;
    engine->on_session_context = serving->metrics;
}

static void add_flag(void *context, const char *name, const char *value)
{
    json_object_set_new(context, name, json_string(value));
}

struct maar_serving *maar_serving_create(const struct maar_options *options,
                                         struct maar_settle *settle,
                                         struct maar_engine_options *engine,
                                         void (*wake)(void *context), void *wake_context)
{
    struct maar_serving *serving = maar_calloc(1, sizeof *serving);

    serving->options = options;
    serving->settle = settle;
    serving->flags = json_object();
    maar_options_each(options, add_flag, serving->flags);
    serving->asks = maar_asks_create(wake, wake_context);
    if (options->enable_metrics)
        measure(serving, engine);
    return serving;
}

/* ---- servers ---- */

static int serve(struct maar_serving *serving, unsigned which, const char *flag,
                 const char *address, const char *certificate, const char *key,
                 struct maar_error *err)
{
    size_t i = 0;
    int r;

    while (serving->webs[i])
        i++;
    r = maar_endpoints_serve(serving->endpoints, which, address, certificate, key,
                             &serving->webs[i], err);
    return r < 0 ? maar_error_wrap(err, r, "--%s", flag) : 0;
}

static int serve_health(struct maar_serving *serving, struct maar_error *err)
{
    const struct maar_options *options = serving->options;
    maar_autofree char *certificate = NULL;
    maar_autofree char *key = NULL;
    size_t n;
    int r = 0;

    /* Volcano's rule: all three or none. */
    if (*options->tls_cert_file && *options->tls_private_key_file && *options->ca_cert_file) {
        r = maar_file_read(options->tls_cert_file, MAX_PEM_BYTES, &certificate, &n, err);
        if (r < 0)
            return maar_error_wrap(err, r, "--tls-cert-file");
        r = maar_file_read(options->tls_private_key_file, MAX_PEM_BYTES, &key, &n, err);
        if (r < 0)
            return maar_error_wrap(err, r, "--tls-private-key-file");
    } else if (*options->tls_cert_file || *options->tls_private_key_file) {
        maar_log_warning("health is served without TLS, which takes all of --ca-cert-file, "
                         "--tls-cert-file and --tls-private-key-file");
    }
    return serve(serving, MAAR_ENDPOINT_HEALTH, "healthz-address", options->healthz_address,
                 certificate, key, err);
}

/* Where nobody asked for it, a port that is taken costs nothing but the explanations. */
static int serve_explanations(struct maar_serving *serving, struct maar_error *err)
{
    const char *address = serving->options->explain_address;
    struct maar_error own = MAAR_ERROR_INIT;

    if (address && !*address)
        return 0;
    if (address)
        return serve(serving, MAAR_ENDPOINT_EXPLAIN, "explain-address", address, NULL, NULL, err);
    if (serve(serving, MAAR_ENDPOINT_EXPLAIN, "explain-address", EXPLAIN_ADDRESS, NULL, NULL,
              &own) < 0)
        maar_log_warning("%s; /explain and /configz are not served", maar_error_text(&own));
    return 0;
}

int maar_serving_start(struct maar_serving *serving, struct maar_engine *engine,
                       struct maar_error *err)
{
    const struct maar_options *options = serving->options;
    const struct maar_endpoints_options endpoints = {
        .render_metrics = maar_scheduler_metrics_render,
        .metrics_context = serving->metrics,
        .asks = serving->asks,
        .flags = serving->flags,
        /* A turn without news waits as long as the period. */
        .stall_ns = options->stall_timeout_ns > 0
                        ? options->stall_timeout_ns + options->schedule_period_ns
                        : 0,
        .ask_timeout_ns = ASK_TIMEOUT_NS,
        .now_ns = maar_clock_mono_ns,
    };
    int r = 0;

    serving->engine = engine;
    serving->endpoints = maar_endpoints_create(&endpoints);
    if (options->enable_metrics)
        r = serve(serving, MAAR_ENDPOINT_METRICS, "listen-address", options->listen_address, NULL,
                  NULL, err);
    if (r == 0 && options->enable_healthz)
        r = serve_health(serving, err);
    return r < 0 ? r : serve_explanations(serving, err);
}

void maar_serving_turn(struct maar_serving *serving, const struct maar_serving_state *state)
{
    const struct maar_backend *backend = &serving->settle->inner;
    const struct maar_scheduler_state measured = {
        .synced = state->synced,
        .leads = state->leads,
        .conf_valid = state->conf_valid,
        .n_in_flight = backend->ops->n_in_flight(backend->self),
        .mono_ns = maar_clock_mono_ns(),
    };

    maar_endpoints_came_round(serving->endpoints, state->synced);
    maar_asks_answer(serving->asks, serving->engine);
    if (serving->metrics)
        maar_scheduler_metrics_look(serving->metrics, maar_engine_world(serving->engine),
                                    &measured);
}

void maar_serving_destroy(struct maar_serving *serving)
{
    if (!serving)
        return;
    maar_asks_close(serving->asks);
    for (size_t i = 0; i < N_SERVERS; i++)
        maar_web_stop(serving->webs[i]);
    maar_endpoints_destroy(serving->endpoints);
    maar_asks_destroy(serving->asks);
    maar_scheduler_metrics_destroy(serving->metrics);
    json_decref(serving->flags);
    free(serving);
}
