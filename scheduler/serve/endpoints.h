/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_ENDPOINTS_H
#define MAAR_SERVE_ENDPOINTS_H

/* What maar-scheduler says over HTTP:
 *
 *     /metrics                     Prometheus' text format
 *     /healthz, /healthz/ping      200 "ok"; 500 when the engine has not come round for too long
 *     /readyz                      200 "ok" once every list is in; 503 before
 *     /explain?podgroup=NS/NAME    why it waits, as JSON; also ?pod=NS/NAME and ?queue=NAME
 *     /configz                     scheduler.conf as it is in force, and the flags, without secrets
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "serve/asks.h"
#include "serve/web.h"

struct maar_endpoints;
struct maar_engine;

/* Bits: what a server answers; the rest is 404 there. */
enum maar_endpoint {
    MAAR_ENDPOINT_METRICS = 1 << 0,
    MAAR_ENDPOINT_HEALTH = 1 << 1,  /* healthz, readyz */
    MAAR_ENDPOINT_EXPLAIN = 1 << 2, /* explain, configz */
};

struct maar_endpoints_options {
    /* Renders the metrics, on any thread. */
    void (*render_metrics)(void *context, struct maar_text *out);
    void *metrics_context;
    struct maar_asks *asks;  /* outlives the endpoints */
    json_t *flags;           /* for /configz: an object, borrowed */
    int64_t stall_ns;        /* without a turn of the engine: not healthy. 0: always healthy */
    int64_t ask_timeout_ns;  /* how long /explain waits for the engine */
    int64_t (*now_ns)(void); /* monotonic */
};

struct maar_endpoints *maar_endpoints_create(const struct maar_endpoints_options *options);
/* After the servers have stopped. Accepts NULL. */
void maar_endpoints_destroy(struct maar_endpoints *endpoints);
/* A server for some of the endpoints; web.h tells the errors. It is the caller's to stop. The certificate and the key
 * are PEM, NULL for plain HTTP. */
int maar_endpoints_serve(struct maar_endpoints *endpoints, unsigned which, const char *address,
                         const char *certificate, const char *key, struct maar_web **ret_web,
                         struct maar_error *err) __attribute__((warn_unused_result));
/* Engine thread, before each turn. */
void maar_endpoints_came_round(struct maar_endpoints *endpoints, bool synced);

#endif
