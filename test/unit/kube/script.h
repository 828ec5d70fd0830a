/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef TEST_UNIT_KUBE_SCRIPT_H
#define TEST_UNIT_KUBE_SCRIPT_H

/* A transport that the test plays: it sees the calls that were started and answers them, on a clock of its own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/vec.h"
#include "kube/call.h"

struct script {
    int64_t now_ns;
    MAAR_VEC(struct maar_kube_call *) running; /* in the order of their start */
    size_t n_started;
};

static void script_start(void *self, struct maar_kube_call *call)
{
    struct script *script = self;

    assert_null(call->exchange);
    call->exchange = script;
    call->status = 0;
    call->complete = false;
    call->reached = false;
    call->retry_after_ns = -1;
    call->answer_type[0] = '\0';
    call->error.text[0] = '\0';
    maar_text_clear(&call->answer);
    maar_vec_push(&script->running, call);
    script->n_started++;
}

static void script_remove(struct script *script, struct maar_kube_call *call)
{
    for (size_t i = 0; i < script->running.n; i++) {
        if (script->running.data[i] == call) {
            maar_vec_remove(&script->running, i);
            call->exchange = NULL;
            return;
        }
    }
    fail_msg("the call does not run");
}

static void script_cancel(void *self, struct maar_kube_call *call)
{
    if (call->exchange)
        script_remove(self, call);
}

static int64_t script_now(void *self)
{
    return ((struct script *)self)->now_ns;
}

static inline struct maar_kube_transport script_transport(struct script *script)
{
    script->now_ns = 1000 * MAAR_SECOND_NS;
    return (struct maar_kube_transport){script_start, script_cancel, script_now, script};
}

/* The oldest call that runs, which must be "METHOD path…" up to the length of `begin`. */
static inline struct maar_kube_call *script_expect(struct script *script, const char *begin)
{
    static char request[4096];
    struct maar_kube_call *call;

    assert_true(script->running.n > 0);
    call = script->running.data[0];
    snprintf(request, sizeof request, "%s %s", call->method, call->path);
    if (strncmp(request, begin, strlen(begin)) != 0)
        fail_msg("expected %s, not %s", begin, request);
    return call;
}

/* Ends a call with a JSON answer. */
static inline void script_answer(struct script *script, struct maar_kube_call *call, int status,
                                 const char *body)
{
    script_remove(script, call);
    call->status = status;
    call->complete = true;
    call->reached = true;
    snprintf(call->answer_type, sizeof call->answer_type, "application/json");
    maar_text_add(&call->answer, body);
    call->on_done(call);
}

/* The connection is lost; `status` is that of an answer that had begun, 0 without. */
static inline void script_lose(struct script *script, struct maar_kube_call *call, int status,
                               bool reached)
{
    script_remove(script, call);
    call->status = status;
    call->complete = false;
    call->reached = reached;
    maar_error_set(&call->error, -5, "connection lost");
    call->on_done(call);
}

/* Bytes of a stream that goes on; a stream that its reader ends is finished as a transport does. */
static inline void script_data(struct script *script, struct maar_kube_call *call, const char *data,
                               size_t n)
{
    call->status = 200;
    snprintf(call->answer_type, sizeof call->answer_type, "application/json");
    if (call->on_data(call, data, n) < 0)
        script_lose(script, call, call->status, true);
}

static inline void script_fini(struct script *script)
{
    assert_int_equal(script->running.n, 0);
    maar_vec_fini(&script->running);
}

#endif
