/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A thread of its own takes the signals, so nothing here has to be async-signal-safe. It lives as long as the
 * process. */

#include "daemon/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static sigset_t set;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool stopping;
static maar_signals_fn on_stop;
static void *on_stop_context;

static void stop(int number)
{
    pthread_mutex_lock(&lock);
    if (stopping) {
        maar_log_warning("%s again: stopping at once", sigabbrev_np(number));
        _exit(1);
    }
    maar_log_info("SIG%s: stopping", sigabbrev_np(number));
    stopping = true;
    if (on_stop)
        on_stop(on_stop_context);
    pthread_mutex_unlock(&lock);
}

static void *take_signals(void *context)
{
    (void)context;
    for (;;) {
        int number = 0;

        if (sigwait(&set, &number) != 0)
            continue;
        if (number == SIGINT || number == SIGTERM)
            stop(number);
        else
            maar_log_warning("SIG%s: dumps of the cluster's state are not built yet",
                             sigabbrev_np(number));
    }
    return NULL;
}

int maar_signals_start(struct maar_error *err)
{
    pthread_t thread;
    int r;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    signal(SIGPIPE, SIG_IGN);
    r = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (r == 0)
        r = pthread_create(&thread, NULL, take_signals, NULL);
    if (r != 0)
        return maar_error_set(err, -r, "signals: %s", strerror(r));
    pthread_detach(thread);
    return 0;
}

void maar_signals_on_stop(maar_signals_fn fn, void *context)
{
    pthread_mutex_lock(&lock);
    on_stop = fn;
    on_stop_context = context;
    if (stopping && fn)
        fn(context);
    pthread_mutex_unlock(&lock);
}

bool maar_signals_stopping(void)
{
    bool is;

    pthread_mutex_lock(&lock);
    is = stopping;
    pthread_mutex_unlock(&lock);
    return is;
}
