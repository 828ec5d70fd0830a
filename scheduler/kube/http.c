/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* HTTP to the API server. Time limits are kept here rather than by libcurl, since a watch may last for ever as long
 * as bytes come. A token file is read again every minute and after a 401. */

#include "kube/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"

#define TOKEN_LIMIT         (1024 * 1024)
#define TOKEN_AGE_NS        (60 * MAAR_SECOND_NS)
#define CHECK_LIMITS_NS     (250 * MAAR_MILLISECOND_NS)
#define CONNECT_TIMEOUT_S   10L
#define UNACKED_TIMEOUT_MS  30000
#define N_KEPT_CONNECTIONS  256L
#define N_STREAMS           1000L
#define RECEIVE_BUFFER      (256L * 1024)
#define LONGEST_RETRY_AFTER 120

/* A libcurl handle and the call that it carries. */
struct exchange {
    CURL *easy;
    struct maar_kube_call *call; /* NULL while idle */
    struct maar_http *http;
    struct curl_slist *headers;
    struct maar_text url;
    int64_t started_ns;
    int64_t heard_ns; /* the last byte */
    bool begun;       /* the answer's body has begun */
    bool withdrawn;   /* not sent: too late */
    char fault[CURL_ERROR_SIZE];
};

struct maar_http {
    CURLM *multi;
    const struct maar_kube_config *config;
    char *user_agent;
    char *origin; /* "https://host:port/path" that URLs begin with */
    struct curl_slist *connect_to;
    char *authorization; /* header line, NULL without a token */
    int64_t token_read_ns;
    MAAR_VEC(struct exchange *) exchanges; /* all of them */
    MAAR_VEC(struct exchange *) idle;
    int64_t check_ns; /* when to look at time limits again */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* A server that is to prove another name than its address has: ask for that name at that address. */
static void set_origin(struct maar_http *http)
{
    const struct maar_kube_config *config = http->config;
    const char *host = strstr(config->server, "://") + 3;
    size_t n_scheme = (size_t)(host - config->server);
    size_t n_host = strcspn(host, "/");
    bool has_port = host[0] == '[' ? strstr(host, "]:") != NULL : memchr(host, ':', n_host) != NULL;
    maar_autofree char *route = NULL;

    if (!config->tls_server_name) {
        http->origin = maar_strdup(config->server);
        return;
    }
    http->origin = maar_asprintf("%.*s%s%s", (int)n_scheme, config->server, config->tls_server_name,
                                 host + n_host);
    route = maar_asprintf("%s::%.*s%s", config->tls_server_name, (int)n_host, host,
                          has_port ? "" : ":443");
    http->connect_to = curl_slist_append(NULL, route);
}

int maar_http_create(const struct maar_kube_config *config, const char *user_agent,
                     struct maar_http **ret_http, struct maar_error *err)
{
    struct maar_http *http;

    pthread_once(&curl_once, init_curl);
    http = maar_calloc(1, sizeof *http);
    http->config = config;
    http->user_agent = maar_strdup(user_agent);
    http->multi = curl_multi_init();
    if (!http->multi) {
        maar_http_destroy(http);
        return maar_error_set(err, -ENOMEM, "libcurl: cannot be initialised");
    }
    curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, N_KEPT_CONNECTIONS);
    curl_multi_setopt(http->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, N_STREAMS);
    set_origin(http);
    *ret_http = http;
    return 0;
}

static void free_authorization(struct maar_http *http)
{
    if (http->authorization)
        explicit_bzero(http->authorization, strlen(http->authorization));
    free(http->authorization);
    http->authorization = NULL;
}

void maar_http_destroy(struct maar_http *http)
{
    struct exchange **it;

    if (!http)
        return;
    MAAR_VEC_EACH (&http->exchanges, it) {
        struct exchange *exchange = *it;

        if (exchange->call) {
            exchange->call->exchange = NULL;
            curl_multi_remove_handle(http->multi, exchange->easy);
        }
        curl_easy_cleanup(exchange->easy);
        curl_slist_free_all(exchange->headers);
        maar_text_fini(&exchange->url);
        free(exchange);
    }
    maar_vec_fini(&http->exchanges);
    maar_vec_fini(&http->idle);
    if (http->multi)
        curl_multi_cleanup(http->multi);
    curl_slist_free_all(http->connect_to);
    free_authorization(http);
    free(http->user_agent);
    free(http->origin);
    free(http);
}

/* ---- credentials ---- */

/* Keeps the former token when the file cannot be read: it may still be good. */
static void read_token(struct maar_http *http, int64_t now_ns)
{
    const struct maar_kube_config *config = http->config;
    maar_autofree char *data = NULL;
    const char *token = config->token;
    size_t n = 0;

    if (http->token_read_ns && (!config->token_file || now_ns - http->token_read_ns < TOKEN_AGE_NS))
        return;
    http->token_read_ns = now_ns;
    if (config->token_file) {
        if (maar_file_read(config->token_file, TOKEN_LIMIT, &data, &n, NULL) < 0)
            return;
        data[strcspn(data, " \t\r\n")] = '\0';
        if (!*data)
            return;
        token = data;
    }
    if (!token)
        return;
    free_authorization(http);
    http->authorization = maar_asprintf("Authorization: Bearer %s", token);
}

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_NOCOPY};

    curl_easy_setopt(easy, option, &blob);
}

static void set_tls(CURL *easy, const struct maar_kube_config *config)
{
    if (config->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (config->ca_pem)
        set_blob(easy, CURLOPT_CAINFO_BLOB, config->ca_pem);
    if (config->client_cert_pem) {
        curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
        set_blob(easy, CURLOPT_SSLCERT_BLOB, config->client_cert_pem);
        curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
        set_blob(easy, CURLOPT_SSLKEY_BLOB, config->client_key_pem);
    }
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

/* A peer that acknowledges nothing is gone; without this a dead connection is noticed after a quarter of an hour. */
static int set_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    int timeout_ms = UNACKED_TIMEOUT_MS;

    (void)context;
    (void)purpose;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    return CURL_SOCKOPT_OK;
}

/* Called when the connection stands and the request is about to go out. */
static int may_send(void *context, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct exchange *exchange = context;
    struct maar_kube_call *call = exchange->call;

    (void)peer_ip;
    (void)own_ip;
    (void)peer_port;
    (void)own_port;
    if (!call->send_before_ns || maar_clock_mono_ns() < call->send_before_ns)
        return CURL_PREREQFUNC_OK;
    exchange->withdrawn = true;
    maar_error_set(&call->error, -ECANCELED, "it could not be sent in time");
    return CURL_PREREQFUNC_ABORT;
}

/* ---- answers ---- */

static void begin_answer(struct exchange *exchange)
{
    struct maar_kube_call *call = exchange->call;
    const char *type = NULL;
    long status = 0;

    if (exchange->begun)
        return;
    exchange->begun = true;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(exchange->easy, CURLINFO_CONTENT_TYPE, &type);
    call->status = (int)status;
    snprintf(call->answer_type, sizeof call->answer_type, "%s", type ? type : "");
}

static size_t take_body(char *data, size_t size, size_t n_items, void *context)
{
    struct exchange *exchange = context;
    struct maar_kube_call *call = exchange->call;
    size_t n = size * n_items;

    exchange->heard_ns = maar_clock_mono_ns();
    begin_answer(exchange);
    if (call->on_data && call->status >= 200 && call->status < 300)
        return call->on_data(call, data, n) < 0 ? 0 : n;
    if (n > call->limit_bytes || call->answer.n > call->limit_bytes - n) {
        maar_error_set(&call->error, -EMSGSIZE, "the answer is larger than %zu bytes",
                       call->limit_bytes);
        return 0;
    }
    maar_text_add_n(&call->answer, data, n);
    return n;
}

static size_t take_header(char *data, size_t size, size_t n_items, void *context)
{
    static const char retry_after[] = "retry-after:";
    struct exchange *exchange = context;
    size_t n = size * n_items;

    exchange->heard_ns = maar_clock_mono_ns();
    if (n > sizeof retry_after && strncasecmp(data, retry_after, sizeof retry_after - 1) == 0) {
        char value[32];
        size_t n_value = n - (sizeof retry_after - 1);
        char *end;
        long seconds;

        if (n_value >= sizeof value)
            return n;
        memcpy(value, data + sizeof retry_after - 1, n_value);
        value[n_value] = '\0';
        seconds = strtol(value, &end, 10);
        /* The form with a date is not used by API servers. */
        if (end != value && seconds >= 0 && seconds <= LONGEST_RETRY_AFTER)
            exchange->call->retry_after_ns = seconds * MAAR_SECOND_NS;
    }
    return n;
}

/* ---- calls ---- */

static struct exchange *create_exchange(struct maar_http *http)
{
    struct exchange *exchange = maar_calloc(1, sizeof *exchange);
    CURL *easy = curl_easy_init();

    if (!easy)
        abort();
    exchange->easy = easy;
    exchange->http = http;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->fault);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, http->user_agent);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    /* Over TLS the handshake says at once whether calls can share the connection. In clear text only the first
     * answer would, and a watch may have none for long. */
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, strncmp(http->origin, "https:", 6) == 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, may_send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    if (http->config->proxy_url)
        curl_easy_setopt(easy, CURLOPT_PROXY, http->config->proxy_url);
    if (http->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, http->connect_to);
    set_tls(easy, http->config);
    maar_vec_push(&http->exchanges, exchange);
    return exchange;
}

static void add_header(struct exchange *exchange, const char *line)
{
    struct curl_slist *headers = curl_slist_append(exchange->headers, line);

    if (!headers)
        abort();
    exchange->headers = headers;
}

static void set_headers(struct exchange *exchange, const struct maar_kube_call *call)
{
    char line[256];

    curl_slist_free_all(exchange->headers);
    exchange->headers = NULL;
    snprintf(line, sizeof line, "Accept: %s", call->accept ? call->accept : "application/json");
    add_header(exchange, line);
    if (call->body) {
        snprintf(line, sizeof line, "Content-Type: %s", call->content_type);
        add_header(exchange, line);
        add_header(exchange, "Expect:");
    }
    if (exchange->http->authorization)
        add_header(exchange, exchange->http->authorization);
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, exchange->headers);
}

static void set_request(struct exchange *exchange, const struct maar_kube_call *call)
{
    maar_text_clear(&exchange->url);
    maar_text_add(&exchange->url, exchange->http->origin);
    maar_text_add(&exchange->url, call->path);
    curl_easy_setopt(exchange->easy, CURLOPT_URL, exchange->url.data);
    if (call->body) {
        curl_easy_setopt(exchange->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)strlen(call->body));
        curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDS, call->body);
    } else {
        curl_easy_setopt(exchange->easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(exchange->easy, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, call->fresh ? 1L : 0L);
}

static void start(void *self, struct maar_kube_call *call)
{
    struct maar_http *http = self;
    struct exchange *exchange =
        http->idle.n ? http->idle.data[--http->idle.n] : create_exchange(http);
    int64_t now_ns = maar_clock_mono_ns();

    call->status = 0;
    call->complete = false;
    call->reached = false;
    call->retry_after_ns = -1;
    call->answer_type[0] = '\0';
    call->error.text[0] = '\0';
    maar_text_clear(&call->answer);
    call->exchange = exchange;
    exchange->call = call;
    exchange->begun = false;
    exchange->withdrawn = false;
    exchange->started_ns = exchange->heard_ns = now_ns;
    exchange->fault[0] = '\0';
    read_token(http, now_ns);
    set_headers(exchange, call);
    set_request(exchange, call);
    curl_multi_add_handle(http->multi, exchange->easy);
}

/* Takes the call off its exchange, which is free again. */
static void detach(struct exchange *exchange)
{
    struct maar_http *http = exchange->http;

    curl_multi_remove_handle(http->multi, exchange->easy);
    exchange->call->exchange = NULL;
    exchange->call = NULL;
    maar_vec_push(&http->idle, exchange);
}

static void cancel(void *self, struct maar_kube_call *call)
{
    (void)self;
    if (call->exchange)
        detach(call->exchange);
}

/* Whether the request may have been carried out although no answer tells. */
static bool may_have_reached(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return false;
    default:
        return true;
    }
}

static void finish(struct exchange *exchange, CURLcode code)
{
    struct maar_http *http = exchange->http;
    struct maar_kube_call *call = exchange->call;

    begin_answer(exchange);
    call->complete = code == CURLE_OK;
    call->reached = !exchange->withdrawn && (code == CURLE_OK || may_have_reached(code));
    if (code != CURLE_OK && !call->error.text[0])
        maar_error_set(&call->error, -EIO, "%s",
                       exchange->fault[0] ? exchange->fault : curl_easy_strerror(code));
    if (call->status == 401)
        http->token_read_ns = 0;
    detach(exchange);
    call->on_done(call);
}

static bool is_overdue(const struct exchange *exchange, int64_t now_ns)
{
    const struct maar_kube_call *call = exchange->call;

    return (call->limit_ns && now_ns - exchange->started_ns > call->limit_ns) ||
           (call->silence_ns && now_ns - exchange->heard_ns > call->silence_ns);
}

static void end_overdue(struct maar_http *http, int64_t now_ns)
{
    if (now_ns < http->check_ns)
        return;
    http->check_ns = now_ns + CHECK_LIMITS_NS;
    /* on_done may add exchanges, which are not overdue. */
    for (size_t i = 0; i < http->exchanges.n; i++) {
        struct exchange *exchange = http->exchanges.data[i];

        if (!exchange->call || !is_overdue(exchange, now_ns))
            continue;
        maar_error_set(&exchange->call->error, -ETIMEDOUT, "no answer within %lld s",
                       (long long)((now_ns - exchange->heard_ns) / MAAR_SECOND_NS));
        finish(exchange, CURLE_OPERATION_TIMEDOUT);
    }
}

void maar_http_run(struct maar_http *http, int64_t timeout_ns)
{
    int64_t longest_ns = CHECK_LIMITS_NS;
    int n_left;
    int n_running;
    CURLMsg *message;

    if (http->idle.n == http->exchanges.n)
        longest_ns = 10 * MAAR_SECOND_NS;
    if (timeout_ns > longest_ns)
        timeout_ns = longest_ns;
    if (timeout_ns > 0)
        curl_multi_poll(http->multi, NULL, 0,
                        (int)((timeout_ns + MAAR_MILLISECOND_NS - 1) / MAAR_MILLISECOND_NS), NULL);
    curl_multi_perform(http->multi, &n_running);
    while ((message = curl_multi_info_read(http->multi, &n_left)) != NULL) {
        struct exchange *exchange = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
        finish(exchange, code);
    }
    end_overdue(http, maar_clock_mono_ns());
}

void maar_http_wake(struct maar_http *http)
{
    curl_multi_wakeup(http->multi);
}

static int64_t now(void *self)
{
    (void)self;
    return maar_clock_mono_ns();
}

struct maar_kube_transport maar_http_transport(struct maar_http *http)
{
    return (struct maar_kube_transport){start, cancel, now, http};
}
