/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_CALL_H
#define MAAR_KUBE_CALL_H

/* One HTTP exchange and who carries it out. The reflectors and the writer speak to a transport, so that tests can
 * put a script in the place of a server. Everything here happens on one thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct maar_kube_call {
    /* ---- the request: the maker sets it and keeps it until on_done ---- */
    const char *method; /* "GET", … */
    const char *path;   /* with query */
    const char *accept;
    const char *content_type; /* NULL without body */
    const char *body;         /* NULL without */
    int64_t limit_ns;         /* longest time in all; 0: no limit */
    int64_t silence_ns;       /* longest time without a byte; 0: no limit */
    size_t limit_bytes;       /* largest answer that is collected */
    int64_t
        send_before_ns; /* withdrawn when it could not be sent by then (monotonic); 0: no limit */
    bool fresh;         /* on a connection of its own */
    /* Takes the body of a 2xx answer piece by piece; a negative return ends the call. NULL: it is collected. */
    int (*on_data)(struct maar_kube_call *call, const char *data, size_t n);
    /* Called once, also when no answer came, but not after cancel. May start the call anew. */
    void (*on_done)(struct maar_kube_call *call);
    void *context;

    /* ---- the answer ---- */
    int status;              /* HTTP status; 0: none came */
    bool complete;           /* the answer ended as it should */
    bool reached;            /* the server may have seen the request */
    int64_t retry_after_ns;  /* -1: not said */
    char answer_type[128];   /* content type, "" when not said */
    struct maar_text answer; /* collected body */
    struct maar_error error; /* why it is not complete */

    void *exchange; /* the transport's; NULL while idle */
};

struct maar_kube_transport {
    void (*start)(void *self, struct maar_kube_call *call);
    /* on_done will not be called. Not from within on_data. Idle calls are ignored. */
    void (*cancel)(void *self, struct maar_kube_call *call);
    /* Monotonic time. */
    int64_t (*now_ns)(void *self);
    void *self;
};

static inline bool maar_kube_call_succeeded(const struct maar_kube_call *call)
{
    return call->complete && call->status >= 200 && call->status < 300;
}

#endif
