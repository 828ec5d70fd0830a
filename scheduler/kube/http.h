/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_HTTP_H
#define MAAR_KUBE_HTTP_H

/* The transport over libcurl: many calls at once on one thread, multiplexed over HTTP/2 where the server speaks it
 * over TLS, else over kept-alive HTTP/1.1 connections. All calls from the thread that runs it, except wake. */

#include "base/error.h"
#include "kube/call.h"
#include "kube/kubeconfig.h"

struct maar_http;

/* `config` outlives it. `user_agent` is copied. */
int maar_http_create(const struct maar_kube_config *config, const char *user_agent,
                     struct maar_http **ret_http, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Accepts NULL. Calls that still run end without on_done. */
void maar_http_destroy(struct maar_http *http);
struct maar_kube_transport maar_http_transport(struct maar_http *http);
/* Waits at most timeout_ns for the network, a wake or a time limit, then moves data and finishes calls. */
void maar_http_run(struct maar_http *http, int64_t timeout_ns);
/* Ends the wait of a run, from any thread. */
void maar_http_wake(struct maar_http *http);

#endif
