/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_CAPACITY_FAKE_H
#define MAAR_TEST_CAPACITY_FAKE_H

/* Short words for the tests of plugin capacity: one fake cluster of one node, in cores and Gi. */

#include "fake_view.h"

static struct fake *f;
static uint32_t node;

#define EACH_MODE(mode) for (int mode = 0; mode < 2; mode++)

static inline void begin_with(bool compatibility, const char *const *pairs, int64_t cpu, int64_t gi,
                              int64_t gpu)
{
    f = fake_new("capacity", pairs);
    f->view.compatibility = compatibility;
    node = fake_node(f, "n1", 1000 * cpu, gi * GI, 100000, gpu);
}

static inline void end(void)
{
    fake_free(f);
    f = NULL;
}

/* Cores and Gi, -1: not named. */
static inline struct maar_resource amount(int64_t cpu, int64_t gi, int64_t gpu)
{
    return fake_resource(f, cpu < 0 ? -1 : 1000 * cpu, gi < 0 ? -1 : gi * GI, 0, gpu, -1);
}

static inline struct maar_class *asks(int64_t cpu, int64_t gi, int64_t gpu)
{
    return fake_class(f, 1000 * cpu, gi * GI, gpu, 0);
}

/* A running task of a job of its own. */
static inline struct maar_task *runs(struct maar_queue *queue, struct maar_class *cls)
{
    return fake_task(f, fake_job(f, queue, "running", 1), cls, MAAR_TASK_RUNNING, node);
}

static inline struct maar_task *waits(struct maar_queue *queue, struct maar_class *cls)
{
    return fake_task(f, fake_job(f, queue, "waiting", 1), cls, MAAR_TASK_PENDING, MAAR_NO_NODE);
}

static inline struct maar_job *group(struct maar_queue *queue, struct maar_resource min)
{
    struct maar_job *job = fake_job(f, queue, "group", 1);
    job->phase = MAAR_PHASE_PENDING;
    job->has_min_resources = true;
    job->min_resources = min;
    return job;
}

static inline uint32_t room(const struct maar_queue *queue, const struct maar_class *cls,
                            uint32_t want)
{
    struct maar_task task = {.cls = cls, .node = MAAR_NO_NODE};
    struct maar_reasons reasons = {0};
    uint32_t n = f->plugin->hooks.queue_room(f->self, &f->view, queue, &task, want, &reasons);
    /* A refusal has a reason, and only a refusal has. */
    assert_int_equal(n == 0 && want > 0, reasons.n > 0);
    return n;
}

static inline const char *room_text(const struct maar_queue *queue, const struct maar_class *cls)
{
    static struct maar_reasons reasons;
    struct maar_task task = {.cls = cls, .node = MAAR_NO_NODE};
    reasons.n = 0;
    assert_int_equal(f->plugin->hooks.queue_room(f->self, &f->view, queue, &task, 1, &reasons), 0);
    assert_int_equal(reasons.n, 1);
    return reasons.text[0];
}

static inline enum maar_vote gate(const struct maar_job *job)
{
    return f->plugin->hooks.job_enqueueable(f->self, &f->view, job);
}

static inline int order(const struct maar_queue *l, const struct maar_queue *r)
{
    int c = f->plugin->hooks.queue_order(f->self, &f->view, l, r);
    assert_int_equal(f->plugin->hooks.queue_order(f->self, &f->view, r, l), -c);
    return c;
}

static inline bool preemptive(const struct maar_queue *queue, const struct maar_class *cls)
{
    const struct maar_task task = {.cls = cls, .node = MAAR_NO_NODE};
    const struct maar_task *tasks[] = {&task};
    return f->plugin->hooks.queue_preemptive(f->self, &f->view, queue, tasks, 1);
}

/* Who goes, as 0 and 1. */
static inline const char *reclaims(const struct maar_task *evictor,
                                   struct maar_task *const *candidates, size_t n)
{
    static char text[FAKE_MAX + 1];
    return fake_victims(f, f->plugin->hooks.reclaimable, evictor, candidates, n, text);
}

/* Of the gang kinds. */
static inline const char *evicts(const char *kind, const struct maar_job *job,
                                 struct maar_task *const *candidates, size_t n)
{
    static char text[FAKE_MAX + 1];
    uint64_t bits[FAKE_MAX / 64] = {0};
    struct maar_evict_context context = {.kind = kind, .job = job};
    assert_int_equal(f->plugin->hooks.unified_evictable(f->self, &f->view, &context,
                                                        (const struct maar_task *const *)candidates,
                                                        n, bits),
                     MAAR_PERMIT);
    return fake_bits(bits, n, text);
}

#endif
