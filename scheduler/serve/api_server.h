/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_API_SERVER_H
#define MAAR_SERVE_API_SERVER_H

/* The embedded cluster as a Kubernetes API over HTTP/1.1 on 127.0.0.1: discovery, list, watch, get, create, update,
 * patch, delete, the subresources status, scale and binding; JSON, protobuf for nodes, pods and namespaces, tables for kubectl. A thread a
 * connection. */

#include "base/error.h"
#include "sim/cluster.h"

struct maar_api_server;

struct maar_api_server_options {
    struct maar_cluster *cluster; /* outlives the server */
    unsigned port;                /* 0: any free one */
    const char *token; /* bearer token; a request with another one is refused. NULL: none */
    bool anonymous;    /* requests without a token pass: kubectl sends none over plain HTTP */
};

int maar_api_server_start(const struct maar_api_server_options *options,
                          struct maar_api_server **ret_server, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Ends watches and connections. Accepts NULL. */
void maar_api_server_stop(struct maar_api_server *server);
unsigned maar_api_server_port(const struct maar_api_server *server);

/* Bindings in flight (of a cluster with a bind delay), waiting for maar_api_server_land. Under the store's lock. */
size_t maar_api_server_n_flights(const struct maar_api_server *server);
/* The cluster's cycle ends: bindings that are due take effect. Called under the store's lock, which it lets go while
 * it waits for them. */
void maar_api_server_land(struct maar_api_server *server);

/* A kubeconfig that leads to the server; the caller frees. */
char *maar_api_server_kubeconfig(unsigned port, const char *token);

#endif
