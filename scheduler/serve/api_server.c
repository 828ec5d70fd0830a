// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The HTTP side: connections, bodies, the token, answers. Requests are those of sim/request.h. Documents of the store
// are touched under its lock only, also their reference counts; an answer is made into text before the lock is let go.
#include "serve/api_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "serve/api_parts.h"
#include "sim/document.h"
#include "wire/wire.h"

#define MAX_BODY_BYTES (10u * 1024 * 1024)

/* ---- answers ---- */

enum MHD_Result maar_api_reply_text(struct maar_api_request *request, unsigned code,
                                    const char *content_type, struct maar_text *text)
{
    size_t n = text->n;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(n, maar_text_steal(text), MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    enum MHD_Result result = MHD_queue_response(request->connection, code, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result maar_api_reply_json(struct maar_api_request *request, unsigned code,
                                    json_t *document)
{
    struct maar_text text = MAAR_TEXT_INIT;
    char *dump = json_dumps(document, JSON_COMPACT);
    maar_text_add(&text, dump ? dump : "{}");
    maar_text_add(&text, "\n");
    free(dump);
    json_decref(document);
    return maar_api_reply_text(request, code, "application/json", &text);
}

enum MHD_Result maar_api_reply_answer(struct maar_api_request *request, struct maar_answer *answer)
{
    json_t *document =
        answer->document ? json_incref(answer->document) : maar_answer_status(answer);
    maar_answer_fini(answer);
    return maar_api_reply_json(request, (unsigned)answer->code, document);
}

enum MHD_Result maar_api_reply_error(struct maar_api_request *request, int code, const char *reason,
                                     const char *message)
{
    struct maar_answer answer;
    maar_answer_fail(&answer, code, reason, "%s", message);
    return maar_api_reply_answer(request, &answer);
}

const char *maar_api_query(const struct maar_api_request *request, const char *key)
{
    const char *value =
        MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, key);
    return value ? value : "";
}

int maar_api_protobuf_kind(const struct maar_api_type *type)
{
    int kind = maar_wire_kind(type->api_version, type->kind);
    return kind >= 0 && maar_wire_has_protobuf((enum maar_kind)kind) ? kind : -1;
}

/* ---- writes ---- */

/* Until the cycle at whose end the binding is due. False when the server stops first. */
static bool fly(struct maar_api_server *server, unsigned due)
{
    maar_vec_push(&server->flights, due);
    while (server->landed_cycle < due && !server->stopping)
        maar_store_wait(server->store, 1000);
    return !server->stopping;
}

static void end_flight(struct maar_api_server *server, unsigned due)
{
    for (size_t i = 0; i < server->flights.n; i++) {
        if (server->flights.data[i] == due) {
            maar_vec_remove(&server->flights, i);
            return;
        }
    }
}

/* Under the lock. With answer->code 0 no answer is to be given. */
static void do_write(struct maar_api_request *request, const char *content_type, const json_t *body,
                     struct maar_answer *answer)
{
    struct maar_api_server *server = request->server;
    struct maar_cluster_write write;
    unsigned delay = maar_cluster_options(server->cluster)->bind_delay;
    int code = maar_cluster_begin_write(server->cluster, request->method, request->path, body,
                                        &write, answer);
    if (code == 0) {
        bool flies = write.kind == MAAR_WRITE_BIND && delay > 0;
        unsigned due = maar_cluster_cycle(server->cluster) + delay;
        bool lands = !flies || fly(server, due);
        if (lands)
            maar_cluster_finish_write(server->cluster, &write, request->method, content_type, body,
                                      NULL, answer);
        else
            *answer = (struct maar_answer){.reason = ""};
        if (flies)
            end_flight(server, due);
    }
    maar_store_wake(server->store);
}

size_t maar_api_server_n_flights(const struct maar_api_server *server)
{
    return server->flights.n;
}

void maar_api_server_land(struct maar_api_server *server)
{
    size_t n_due;
    server->landed_cycle = maar_cluster_cycle(server->cluster);
    maar_store_wake(server->store);
    do {
        n_due = 0;
        for (size_t i = 0; i < server->flights.n; i++)
            n_due += server->flights.data[i] <= server->landed_cycle;
        if (n_due > 0)
            maar_store_wait(server->store, 100);
    } while (n_due > 0 && !server->stopping);
}

static json_t *review_answer(const json_t *review)
{
    json_t *answer = json_is_object(review) ? json_deep_copy(review) : json_object();
    maar_document_set(answer, "status", json_pack("{s:b}", "allowed", 1));
    return answer;
}

/* Of the query, or of the DeleteOptions in the body of a deletion. */
static bool is_dry_run(const struct maar_api_request *request, const json_t *body)
{
    const json_t *options = json_object_get(body, "deleteOptions"); /* of an Eviction */
    bool removes = strcmp(request->method, "DELETE") == 0;
    return *maar_api_query(request, "dryRun") ||
           json_array_size(json_object_get(removes ? body : options, "dryRun")) > 0;
}

/* kubectl sends its built-in kinds as protobuf when it makes them itself. */
static bool is_protobuf(const struct maar_api_request *request, const char *content_type)
{
    return (content_type && strstr(content_type, "application/vnd.kubernetes.protobuf")) ||
           (request->body.n >= 4 && memcmp(request->body.data, "k8s", 4) == 0);
}

static enum MHD_Result write_object(struct maar_api_request *request)
{
    json_error_t fault;
    json_t *body = NULL;
    const char *content_type = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                           MHD_HTTP_HEADER_CONTENT_TYPE);
    if (request->body.n > 0 && is_protobuf(request, content_type))
        return maar_api_reply_error(
            request, 415, "UnsupportedMediaType",
            "the embedded cluster takes no protobuf: write the object as JSON or YAML and use "
            "kubectl apply -f");
    if (request->body.n > 0) {
        body = json_loadb(request->body.data, request->body.n, JSON_REJECT_DUPLICATES, &fault);
        if (!body)
            return maar_api_reply_error(request, 400, "BadRequest", fault.text);
    }
    if (strncmp(request->path, "/apis/authorization.k8s.io/", 27) == 0) {
        json_t *answer = review_answer(body);
        json_decref(body);
        return maar_api_reply_json(request, 201, answer);
    }
    struct maar_answer answer;
    maar_store_lock(request->server->store);
    if (is_dry_run(request, body))
        maar_api_dry_run(request->server->store, request->path, request->method, content_type, body,
                         &answer);
    else
        do_write(request, content_type, body, &answer);
    enum MHD_Result result = answer.code == 0 ? MHD_NO : maar_api_reply_answer(request, &answer);
    json_decref(body); /* its texts may be shared with the stored object */
    maar_store_unlock(request->server->store);
    return result;
}

/* ---- requests ---- */

static bool is_allowed(const struct maar_api_request *request)
{
    const char *token = request->server->token;
    const char *header = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_AUTHORIZATION);
    if (!token || (!header && request->server->anonymous))
        return true;
    return header && strncmp(header, "Bearer ", 7) == 0 && strcmp(header + 7, token) == 0;
}

/* The first format of the Accept header that we can give. */
static enum maar_api_format choose_format(const struct maar_api_request *request)
{
    const char *accept =
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    const char *protobuf = accept ? strstr(accept, "application/vnd.kubernetes.protobuf") : NULL;
    const char *table = accept ? strstr(accept, "as=Table;v=v1;g=meta.k8s.io") : NULL;
    const char *json = accept ? strstr(accept, "application/json") : NULL;
    if (table)
        return MAAR_API_TABLE;
    return protobuf && (!json || protobuf < json) ? MAAR_API_PROTOBUF : MAAR_API_JSON;
}

static enum MHD_Result read_object(struct maar_api_request *request)
{
    enum MHD_Result result;
    if (maar_api_discover(request, &result))
        return result;
    struct maar_answer answer;
    maar_store_lock(request->server->store);
    int code =
        maar_api_target_parse(request->server->store, request->path, &request->target, &answer);
    maar_store_unlock(request->server->store);
    if (code)
        return maar_api_reply_answer(request, &answer);
    request->format = choose_format(request);
    return *request->target.name ? maar_api_get(request) : maar_api_list(request);
}

static enum MHD_Result answer_request(struct maar_api_request *request)
{
    if (request->too_large)
        return maar_api_reply_error(request, 413, "RequestEntityTooLarge", "the body is too large");
    if (!is_allowed(request))
        return maar_api_reply_error(request, 401, "Unauthorized", "Unauthorized");
    if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0)
        return read_object(request);
    return write_object(request);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *n_data, void **state)
{
    struct maar_api_request *request = *state;
    (void)version;
    if (!request) {
        request = maar_calloc(1, sizeof *request);
        request->server = context;
        request->connection = connection;
        request->method = maar_strdup(method);
        request->path = maar_strdup(path);
        *state = request;
        return MHD_YES;
    }
    if (*n_data > 0) {
        if (request->body.n + *n_data > MAX_BODY_BYTES)
            request->too_large = true;
        else
            maar_text_add_n(&request->body, data, *n_data);
        *n_data = 0;
        return MHD_YES;
    }
    return answer_request(request);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct maar_api_request *request = *state;
    (void)context;
    (void)connection;
    (void)code;
    if (!request)
        return;
    maar_text_fini(&request->body);
    free(request->method);
    free(request->path);
    free(request);
    *state = NULL;
}

/* ---- life ---- */

int maar_api_server_start(const struct maar_api_server_options *options,
                          struct maar_api_server **ret_server, struct maar_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)options->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct maar_api_server *server = maar_calloc(1, sizeof *server);
    server->cluster = options->cluster;
    server->store = maar_cluster_store(options->cluster);
    server->token = options->token ? maar_strdup(options->token) : NULL;
    server->anonymous = options->anonymous;
    server->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)options->port,
        NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_CONNECTION_LIMIT, 512u,
        MHD_OPTION_END);
    if (!server->daemon) {
        int code = errno ? errno : EIO;
        free(server->token);
        free(server);
        return maar_error_set(err, -code, "cannot listen on 127.0.0.1:%u: %s", options->port,
                              strerror(code));
    }
    *ret_server = server;
    return 0;
}

void maar_api_server_stop(struct maar_api_server *server)
{
    if (!server)
        return;
    maar_store_lock(server->store);
    server->stopping = true;
    maar_store_wake(server->store);
    maar_store_unlock(server->store);
    MHD_stop_daemon(server->daemon);
    maar_vec_fini(&server->flights);
    free(server->token);
    free(server);
}

unsigned maar_api_server_port(const struct maar_api_server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

char *maar_api_server_kubeconfig(unsigned port, const char *token)
{
    return maar_asprintf("apiVersion: v1\n"
                         "kind: Config\n"
                         "clusters:\n"
                         "- name: maar\n"
                         "  cluster:\n"
                         "    server: http://127.0.0.1:%u\n"
                         "users:\n"
                         "- name: admin\n"
                         "  user:\n"
                         "    token: %s\n"
                         "contexts:\n"
                         "- name: maar\n"
                         "  context:\n"
                         "    cluster: maar\n"
                         "    user: admin\n"
                         "current-context: maar\n",
                         port, token);
}
