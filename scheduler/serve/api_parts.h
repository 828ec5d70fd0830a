/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_API_PARTS_H
#define MAAR_SERVE_API_PARTS_H

/* Shared by the files of the API server. */

#include <microhttpd.h>
#include <stdatomic.h>

#include "base/text.h"
#include "serve/api_selector.h"
#include "sim/cluster.h"

struct maar_api_server {
    struct MHD_Daemon *daemon;
    struct maar_cluster *cluster;
    struct maar_store *store;
    char *token; /* NULL: none */
    bool anonymous;
    atomic_bool stopping;
    MAAR_VEC(unsigned) flights; /* of bindings in flight: the cycle at whose end each is due */
    unsigned landed_cycle;      /* bindings due at this cycle or before may land */
};

enum maar_api_format {
    MAAR_API_JSON,
    MAAR_API_PROTOBUF,
    MAAR_API_TABLE,
};

/* A request as MHD hands it over. */
struct maar_api_request {
    struct maar_api_server *server;
    struct MHD_Connection *connection;
    char *method;
    char *path;
    struct maar_text body;
    bool too_large;
    enum maar_api_format format;
    struct maar_api_target target;
};

/* Each queues an answer and returns what MHD wants to hear. */
enum MHD_Result maar_api_reply_text(struct maar_api_request *request, unsigned code,
                                    const char *content_type, struct maar_text *text);
/* Owns the document. */
enum MHD_Result maar_api_reply_json(struct maar_api_request *request, unsigned code,
                                    json_t *document);
/* Takes the answer's document; the answer is finished. */
enum MHD_Result maar_api_reply_answer(struct maar_api_request *request, struct maar_answer *answer);
enum MHD_Result maar_api_reply_error(struct maar_api_request *request, int code, const char *reason,
                                     const char *message);
/* A query argument, "" when absent. */
const char *maar_api_query(const struct maar_api_request *request, const char *key);

/* GET of an object or a collection; a watch. */
enum MHD_Result maar_api_get(struct maar_api_request *request);
enum MHD_Result maar_api_list(struct maar_api_request *request);
enum MHD_Result maar_api_watch(struct maar_api_request *request,
                               const struct maar_api_selector *selector);
/* /api, /apis, /version and below: true when the path is one of them and *ret is set. */
bool maar_api_discover(struct maar_api_request *request, enum MHD_Result *ret);
/* A meta.k8s.io/v1 Table of documents (borrowed). New reference. */
json_t *maar_api_table(const struct maar_api_type *type, const json_t *items,
                       const char *resource_version, const char *continue_token, int64_t now_ns);
/* Kind of the record decoder, -1 when it has no protobuf. */
int maar_api_protobuf_kind(const struct maar_api_type *type);

#endif
