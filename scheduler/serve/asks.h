/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_ASKS_H
#define MAAR_SERVE_ASKS_H

/* Questions that only the engine thread can answer: other threads put them and wait, the engine thread answers
 * between sessions. */

#include <stdint.h>

#include "serve/web.h"

struct maar_asks;
struct maar_engine;

/* Answers on the engine thread. */
typedef void (*maar_ask_fn)(struct maar_engine *engine, void *context, const char *argument,
                            struct maar_web_answer *answer);

/* `wake` makes the engine thread come round at once; from any thread, never under the lock of something. */
struct maar_asks *maar_asks_create(void (*wake)(void *context), void *context);
/* Nobody waits any more. Accepts NULL. */
void maar_asks_destroy(struct maar_asks *asks);
/* Waits at most timeout_ns for fn(context, argument) to be answered; else the answer is 503 with the reason. The
 * context must outlive the asks: a question that nobody waits for any more may still be answered. */
void maar_asks_put(struct maar_asks *asks, maar_ask_fn fn, void *context, const char *argument,
                   int64_t timeout_ns, struct maar_web_answer *answer);
/* Engine thread: answers what has been asked, but goes on with its work after some 100 ms. */
void maar_asks_answer(struct maar_asks *asks, struct maar_engine *engine);
/* Whoever waits is sent away with 503, and whoever asks from now on. */
void maar_asks_close(struct maar_asks *asks);

#endif
