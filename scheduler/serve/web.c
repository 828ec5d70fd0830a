/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The listening socket is made here and not by libmicrohttpd, which does not say what is wrong with an address. */

#include "serve/web.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/memory.h"

#define MAX_CONNECTIONS 64u
#define IDLE_SECONDS    30u
#define BACKLOG         128

struct maar_web {
    struct MHD_Daemon *daemon;
    maar_web_fn answer;
    void *context;
    char *certificate;
    char *key;
};

struct maar_web_request {
    struct MHD_Connection *connection;
    const char *path;
};

/* ---- requests ---- */

const char *maar_web_path(const struct maar_web_request *request)
{
    return request->path;
}

const char *maar_web_query(const struct maar_web_request *request, const char *key)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, key);
}

void maar_web_say(struct maar_web_answer *answer, unsigned code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    maar_text_addv(&answer->body, format, args);
    va_end(args);
    answer->code = code;
}

static enum MHD_Result reply(struct MHD_Connection *connection, struct maar_web_answer *answer)
{
    enum MHD_Result result;
    size_t n = answer->body.n;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(n, maar_text_steal(&answer->body), MHD_RESPMEM_MUST_FREE);

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (answer->code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    result = MHD_queue_response(connection, answer->code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *n_data, void **state)
{
    static char begun;
    const struct maar_web *web = context;
    const struct maar_web_request request = {connection, path};
    struct maar_web_answer answer = {MHD_HTTP_OK, "text/plain; charset=utf-8", MAAR_TEXT_INIT};
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

    (void)version;
    (void)data;
    if (reads && (!*state || *n_data > 0)) {
        *state = &begun;
        *n_data = 0; /* bodies are not read */
        return MHD_YES;
    }
    if (reads)
        web->answer(web->context, &request, &answer);
    else
        maar_web_say(&answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    return reply(connection, &answer);
}

/* ---- the socket ---- */

static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");

    return n > 0 && n <= 5 && !text[n] && atoi(text) <= 65535;
}

/* Splits "HOST:PORT" or "[HOST]:PORT"; the host is the caller's, "" for every address. */
static int split_address(const char *address, char **ret_host, const char **ret_port,
                         struct maar_error *err)
{
    const char *colon = strrchr(address, ':');
    const char *host = address;
    size_t n = colon ? (size_t)(colon - address) : 0;

    if (!colon || !is_port(colon + 1))
        return maar_error_set(err, -EINVAL, "expected HOST:PORT or :PORT, not \"%s\"", address);
    if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    } else if (memchr(host, ':', n)) {
        return maar_error_set(err, -EINVAL, "expected [ADDRESS]:PORT for IPv6, not \"%s\"",
                              address);
    }
    *ret_host = maar_strndup(host, n);
    *ret_port = colon + 1;
    return 0;
}

static int listen_at(const struct addrinfo *info)
{
    const int on = 1, off = 0;
    int code;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* Every address is that of IPv4 as well. */
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    code = errno;
    close(fd);
    return -code;
}

/* The file descriptor, or -errno. An empty host is tried as IPv6 first, which takes IPv4 along. */
static int open_socket(const char *address, struct maar_error *err)
{
    static const int families[] = {AF_INET6, AF_INET};
    maar_autofree char *host = NULL;
    const char *port = NULL;
    struct addrinfo *info = NULL;
    int fd = split_address(address, &host, &port, err);

    if (fd < 0 || !host)
        return fd;
    fd = -EADDRNOTAVAIL;
    for (size_t i = 0; i < 2 && fd < 0 && fd != -EADDRINUSE && fd != -EACCES; i++) {
        struct addrinfo hints = {.ai_family = *host ? AF_UNSPEC : families[i],
                                 .ai_socktype = SOCK_STREAM,
                                 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
        int r = getaddrinfo(*host ? host : NULL, port, &hints, &info);

        if (r != 0 && *host)
            return maar_error_set(err, -EINVAL, "%s: %s", address, gai_strerror(r));
        if (r != 0)
            continue;
        fd = listen_at(info);
        freeaddrinfo(info);
    }
    if (fd < 0)
        return maar_error_set(err, fd, "cannot listen on %s: %s", address, strerror(-fd));
    return fd;
}

/* ---- life ---- */

static struct MHD_Daemon *start_daemon(struct maar_web *web, int fd)
{
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, web->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, web->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t) "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};

    if (web->certificate)
        flags |= MHD_USE_TLS;
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, web, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_ARRAY,
                            web->certificate ? tls : plain, MHD_OPTION_END);
}

static void destroy(struct maar_web *web)
{
    free(web->certificate);
    free(web->key);
    free(web);
}

int maar_web_start(const struct maar_web_options *options, struct maar_web **ret_web,
                   struct maar_error *err)
{
    struct maar_web *web;
    int fd = open_socket(options->address, err);

    if (fd < 0)
        return fd;
    web = maar_calloc(1, sizeof *web);
    web->answer = options->answer;
    web->context = options->context;
    if (options->certificate) {
        web->certificate = maar_strdup(options->certificate);
        web->key = maar_strdup(options->key);
    }
    web->daemon = start_daemon(web, fd);
    if (!web->daemon) {
        destroy(web);
        return maar_error_set(err, -EIO, "cannot serve on %s%s", options->address,
                              options->certificate ? ": certificate and key do not go together"
                                                   : "");
    }
    *ret_web = web;
    return 0;
}

void maar_web_stop(struct maar_web *web)
{
    if (!web)
        return;
    MHD_stop_daemon(web->daemon);
    destroy(web);
}

unsigned maar_web_port(const struct maar_web *web)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info ? info->port : 0;
}
