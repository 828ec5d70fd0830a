/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_WEB_H
#define MAAR_SERVE_WEB_H

/* A small HTTP server for reading: GET and HEAD, a thread a connection, at most 64 of them. */

#include "base/error.h"
#include "base/text.h"

struct maar_web;
struct maar_web_request;

struct maar_web_answer {
    unsigned code;
    const char *content_type; /* static text */
    struct maar_text body;
};

const char *maar_web_path(const struct maar_web_request *request);
/* The value of a key of the query, decoded; NULL when it is not there. */
const char *maar_web_query(const struct maar_web_request *request, const char *key);

/* Fills in the answer, which is 200, text/plain and empty before. On the connection's thread. */
typedef void (*maar_web_fn)(void *context, const struct maar_web_request *request,
                            struct maar_web_answer *answer);

struct maar_web_options {
    const char *address; /* "HOST:PORT"; ":PORT" is every address, port 0 any free one */
    /* TLS 1.2 and later with this certificate and key, PEM; NULL: plain HTTP. Copied. */
    const char *certificate;
    const char *key;
    maar_web_fn answer;
    void *context;
};

/* -EINVAL for an address that is none, else as bind(2): -EADDRINUSE. */
int maar_web_start(const struct maar_web_options *options, struct maar_web **ret_web,
                   struct maar_error *err) __attribute__((warn_unused_result));
/* Waits for running answers. Accepts NULL. */
void maar_web_stop(struct maar_web *web);
unsigned maar_web_port(const struct maar_web *web);

/* An answer that is one line of text. */
void maar_web_say(struct maar_web_answer *answer, unsigned code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
