/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A question is shared by who asks and the queue, and freed by whoever lets it go last. */

#include "serve/asks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"

#define MAX_ASKS  16u
#define ENOUGH_NS (100 * MAAR_MILLISECOND_NS)

struct ask {
    maar_ask_fn fn;
    void *context;
    char *argument;
    struct maar_web_answer answer;
    bool done;
    bool abandoned; /* who asked is gone */
};

struct maar_asks {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    MAAR_VEC(struct ask *) waiting;
    bool closed;
    void (*wake)(void *context);
    void *wake_context;
};

struct maar_asks *maar_asks_create(void (*wake)(void *context), void *context)
{
    struct maar_asks *asks = maar_calloc(1, sizeof *asks);
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&asks->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&asks->lock, NULL);
    asks->wake = wake;
    asks->wake_context = context;
    return asks;
}

static void destroy_ask(struct ask *ask)
{
    maar_text_fini(&ask->answer.body);
    free(ask->argument);
    free(ask);
}

void maar_asks_destroy(struct maar_asks *asks)
{
    if (!asks)
        return;
    for (size_t i = 0; i < asks->waiting.n; i++)
        destroy_ask(asks->waiting.data[i]);
    maar_vec_fini(&asks->waiting);
    pthread_cond_destroy(&asks->answered);
    pthread_mutex_destroy(&asks->lock);
    free(asks);
}

/* Under the lock. False when the time is over, or the asks are closed. */
static bool wait_for(struct maar_asks *asks, const struct ask *ask, int64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = deadline_ns / MAAR_SECOND_NS,
                                      .tv_nsec = deadline_ns % MAAR_SECOND_NS};

    while (!ask->done && !asks->closed)
        if (pthread_cond_timedwait(&asks->answered, &asks->lock, &deadline) == ETIMEDOUT)
            break;
    return ask->done;
}

/* Takes a question nobody has begun to answer out of the queue. */
static bool withdraw(struct maar_asks *asks, const struct ask *ask)
{
    for (size_t i = 0; i < asks->waiting.n; i++) {
        if (asks->waiting.data[i] != ask)
            continue;
        maar_vec_remove(&asks->waiting, i);
        return true;
    }
    return false;
}

void maar_asks_put(struct maar_asks *asks, maar_ask_fn fn, void *context, const char *argument,
                   int64_t timeout_ns, struct maar_web_answer *answer)
{
    int64_t deadline_ns = maar_clock_mono_ns() + timeout_ns;
    struct ask *ask;
    bool done;

    pthread_mutex_lock(&asks->lock);
    if (asks->closed || asks->waiting.n >= MAX_ASKS) {
        pthread_mutex_unlock(&asks->lock);
        maar_web_say(answer, 503, "%s\n",
                     asks->closed ? "the scheduler is stopping"
                                  : "too many questions wait; ask again later");
        return;
    }
    ask = maar_calloc(1, sizeof *ask);
    *ask = (struct ask){
        .fn = fn, .context = context, .argument = maar_strdup(argument), .answer = *answer};
    maar_vec_push(&asks->waiting, ask);
    pthread_mutex_unlock(&asks->lock);
    asks->wake(asks->wake_context);

    pthread_mutex_lock(&asks->lock);
    done = wait_for(asks, ask, deadline_ns);
    if (done) {
        *answer = ask->answer;
        ask->answer.body = (struct maar_text)MAAR_TEXT_INIT;
    } else {
        ask->abandoned = !withdraw(asks, ask);
        maar_web_say(answer, 503, "%s\n",
                     asks->closed ? "the scheduler is stopping"
                                  : "the engine is busy; ask again later");
    }
    done = !ask->abandoned;
    pthread_mutex_unlock(&asks->lock);
    if (done)
        destroy_ask(ask);
}

static struct ask *take(struct maar_asks *asks)
{
    struct ask *ask = NULL;

    pthread_mutex_lock(&asks->lock);
    if (asks->waiting.n > 0) {
        ask = asks->waiting.data[0];
        maar_vec_remove(&asks->waiting, 0);
    }
    pthread_mutex_unlock(&asks->lock);
    return ask;
}

static void give_back(struct maar_asks *asks, struct ask *ask)
{
    bool abandoned;

    pthread_mutex_lock(&asks->lock);
    abandoned = ask->abandoned;
    ask->done = true;
    pthread_cond_broadcast(&asks->answered);
    pthread_mutex_unlock(&asks->lock);
    if (abandoned)
        destroy_ask(ask);
}

void maar_asks_answer(struct maar_asks *asks, struct maar_engine *engine)
{
    int64_t start_ns = maar_clock_mono_ns();
    struct ask *ask;

    while ((ask = take(asks)) != NULL) {
        ask->fn(engine, ask->context, ask->argument, &ask->answer);
        give_back(asks, ask);
        if (maar_clock_mono_ns() - start_ns > ENOUGH_NS) {
            asks->wake(asks->wake_context); /* for the others */
            break;
        }
    }
}

void maar_asks_close(struct maar_asks *asks)
{
    pthread_mutex_lock(&asks->lock);
    asks->closed = true;
    pthread_cond_broadcast(&asks->answered);
    pthread_mutex_unlock(&asks->lock);
}
