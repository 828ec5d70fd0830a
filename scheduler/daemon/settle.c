/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Waiting for deltas to settle, and an eye on the writes. */

#include "daemon/settle.h"

#include "base/clock.h"
#include "base/log.h"

#define QUIET_NS              (2 * MAAR_MILLISECOND_NS)
#define LONGEST_NS            (25 * MAAR_MILLISECOND_NS)
#define COMPLAINTS_PER_SECOND 10u

static int start(void *self, struct maar_error *err)
{
    struct maar_settle *settle = self;

    return settle->inner.ops->start(settle->inner.self, err);
}

static void complain(struct maar_settle *settle, const struct maar_delta *delta)
{
    int64_t now_ns = maar_clock_mono_ns();
    const struct maar_write *write = delta->write;

    if (now_ns - settle->complained_ns >= MAAR_SECOND_NS) {
        if (settle->n_complaints > COMPLAINTS_PER_SECOND)
            maar_log_warning("%u more writes failed", settle->n_complaints - COMPLAINTS_PER_SECOND);
        settle->complained_ns = now_ns;
        settle->n_complaints = 0;
    }
    if (++settle->n_complaints > COMPLAINTS_PER_SECOND)
        return;
    maar_log_warning("%s of %s%s%s failed (%d): %s", maar_write_kind_name(write->kind), write->ns,
                     *write->ns ? "/" : "", write->name, delta->code, delta->message);
}

static void look_at(struct maar_settle *settle, const struct maar_deltas *deltas, size_t from)
{
    for (size_t i = from; i < deltas->n; i++) {
        const struct maar_delta *delta = &deltas->data[i];

        if (settle->on_delta)
            settle->on_delta(settle->context, delta);
        if (delta->type == MAAR_DELTA_DONE && (delta->code < 200 || delta->code >= 300))
            complain(settle, delta);
    }
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct maar_settle *settle = self;
    const struct maar_backend *inner = &settle->inner;
    size_t before = deltas->n;
    size_t n;
    int64_t deadline_ns;

    inner->ops->next_deltas(inner->self, timeout_ns, deltas);
    n = deltas->n;
    deadline_ns = maar_clock_mono_ns() + settle->longest_ns;
    while (timeout_ns > 0 && n > before && maar_clock_mono_ns() < deadline_ns) {
        inner->ops->next_deltas(inner->self, settle->quiet_ns, deltas);
        if (deltas->n == n)
            break;
        n = deltas->n;
    }
    look_at(settle, deltas, before);
}

static void submit(void *self, struct maar_write *write)
{
    struct maar_settle *settle = self;

    settle->n_writes[write->kind]++;
    if (settle->on_write)
        settle->on_write(settle->context, write);
    settle->inner.ops->submit(settle->inner.self, write);
}

static size_t n_in_flight(void *self)
{
    struct maar_settle *settle = self;

    return settle->inner.ops->n_in_flight(settle->inner.self);
}

static int64_t now_ns(void *self)
{
    struct maar_settle *settle = self;

    return settle->inner.ops->now_ns(settle->inner.self);
}

static void stop(void *self)
{
    struct maar_settle *settle = self;

    settle->inner.ops->stop(settle->inner.self);
}

static const struct maar_backend_ops ops = {
    .start = start,
    .next_deltas = next_deltas,
    .submit = submit,
    .n_in_flight = n_in_flight,
    .now_ns = now_ns,
    .stop = stop,
};

struct maar_backend maar_settle_init(struct maar_settle *settle, struct maar_backend inner,
                                     int64_t longest_ns)
{
    *settle = (struct maar_settle){
        .inner = inner,
        .quiet_ns = QUIET_NS,
        .longest_ns = longest_ns < LONGEST_NS ? longest_ns : LONGEST_NS,
    };
    return (struct maar_backend){&ops, settle};
}
