/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* The rig of the benchmarks: a backend without a cluster behind it, and records made by program. */

#include "cli/bench_rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"

#define ACTIONS_AND_TIER_1                                                                         \
    "actions: \"enqueue, allocate, backfill\"\n"                                                   \
    "tiers:\n"                                                                                     \
    "- plugins:\n"                                                                                 \
    "  - name: priority\n"                                                                         \
    "  - name: gang\n"                                                                             \
    "  - name: conformance\n"

const char maar_bench_conf_standard[] = ACTIONS_AND_TIER_1 "- plugins:\n"
                                                           "  - name: overcommit\n"
                                                           "  - name: drf\n"
                                                           "  - name: predicates\n"
                                                           "  - name: proportion\n"
                                                           "  - name: nodeorder\n"
                                                           "  - name: binpack\n";

const char maar_bench_conf_capacity[] = ACTIONS_AND_TIER_1 "- plugins:\n"
                                                           "  - name: overcommit\n"
                                                           "  - name: drf\n"
                                                           "  - name: predicates\n"
                                                           "  - name: capacity\n"
                                                           "    enableHierarchy: true\n"
                                                           "  - name: nodeorder\n"
                                                           "  - name: binpack\n";

/* ---- a backend that swallows writes ---- */

static int sink_start(void *self, struct maar_error *err)
{
    (void)self;
    (void)err;
    return 0;
}

static void sink_next(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct maar_bench_sink *sink = self;
    (void)timeout_ns;
    for (size_t i = 0; i < sink->deltas.n; i++)
        maar_vec_push(deltas, sink->deltas.data[i]);
    maar_vec_clear(&sink->deltas);
}

static void sink_submit(void *self, struct maar_write *write)
{
    struct maar_bench_sink *sink = self;
    sink->n_writes++;
    if (write->kind == MAAR_WRITE_BIND) {
        uint64_t h = maar_hash_bytes(write->name, strlen(write->name), 1);
        sink->hash += maar_hash_bytes(write->bind.node, strlen(write->bind.node), h);
        sink->n_binds++;
    }
    maar_write_destroy(write);
}

static size_t sink_in_flight(void *self)
{
    (void)self;
    return 0;
}

static int64_t sink_now(void *self)
{
    const struct maar_bench_sink *sink = self;
    return sink->now_ns;
}

static void sink_stop(void *self)
{
    (void)self;
}

static const struct maar_backend_ops sink_ops = {
    .start = sink_start,
    .next_deltas = sink_next,
    .submit = sink_submit,
    .n_in_flight = sink_in_flight,
    .now_ns = sink_now,
    .stop = sink_stop,
};

struct maar_engine *maar_bench_engine(const struct maar_registry *registry, const char *conf_text,
                                      struct maar_bench_sink *sink, bool reference)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_conf *conf;
    sink->now_ns = INT64_C(1767225600) * MAAR_SECOND_NS;
    if (maar_conf_parse(conf_text, strlen(conf_text), "bench", NULL, &conf, &err) < 0) {
        fprintf(stderr, "maarctl bench: %s\n", err.text);
        return NULL;
    }
    struct maar_engine_options options = {
        .registry = registry, .conf = conf, .reference = reference};
    struct maar_backend backend = {&sink_ops, sink};
    struct maar_engine *engine = maar_engine_create(&options, backend, &err);
    if (!engine)
        fprintf(stderr, "maarctl bench: %s\n", err.text);
    return engine;
}

void maar_bench_sink_fini(struct maar_bench_sink *sink)
{
    for (size_t i = 0; i < sink->deltas.n; i++)
        maar_delta_fini(&sink->deltas.data[i]);
    maar_vec_fini(&sink->deltas);
}

void maar_bench_synced(struct maar_bench_sink *sink)
{
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        struct maar_delta synced = {.type = MAAR_DELTA_SYNCED, .kind = (enum maar_kind)kind};
        maar_vec_push(&sink->deltas, synced);
    }
}

/* ---- records ---- */

struct maar_record *maar_bench_record(struct maar_bench_sink *sink, enum maar_kind kind,
                                      const char *ns, char *name, int64_t created_s)
{
    struct maar_record *record = maar_record_create(kind);
    record->ns = ns;
    record->name = maar_arena_strdup(record->arena, name);
    record->uid = maar_arena_printf(record->arena, "%d-%s", (int)kind, name);
    record->created_ns = created_s * MAAR_SECOND_NS;
    free(name);
    struct maar_delta delta = {.type = MAAR_DELTA_UPSERT, .kind = kind, .record = record};
    maar_vec_push(&sink->deltas, delta);
    return record;
}

void maar_bench_amount(struct maar_record *record, struct maar_amounts_record *amounts,
                       const char *name, int64_t value)
{
    if (!amounts->items)
        amounts->items = maar_arena_calloc(record->arena, 4, sizeof *amounts->items);
    amounts->items[amounts->n++] = (struct maar_amount){name, value};
}

void maar_bench_amounts(struct maar_record *record, struct maar_amounts_record *amounts,
                        const struct maar_bench_ask *ask, int64_t times)
{
    maar_bench_amount(record, amounts, "cpu", ask->cpu_milli * times);
    maar_bench_amount(record, amounts, "memory", ask->memory_bytes * times);
    if (ask->gpus > 0)
        maar_bench_amount(record, amounts, "nvidia.com/gpu", ask->gpus * times);
}

void maar_bench_add_node(struct maar_bench_sink *sink, uint32_t i,
                         const struct maar_bench_node *type)
{
    struct maar_record *record =
        maar_bench_record(sink, MAAR_KIND_NODE, "", maar_asprintf("node-%06u", i), 1);
    record->node.ready = true;
    struct maar_amounts_record *allocatable = &record->node.allocatable;
    maar_bench_amount(record, allocatable, "cpu", type->cpu_milli);
    maar_bench_amount(record, allocatable, "memory", type->memory_bytes);
    maar_bench_amount(record, allocatable, "pods", 110);
    if (type->gpus > 0)
        maar_bench_amount(record, allocatable, "nvidia.com/gpu", type->gpus);
}

struct maar_record *maar_bench_add_queue(struct maar_bench_sink *sink, char *name)
{
    struct maar_record *queue = maar_bench_record(sink, MAAR_KIND_QUEUE, "", name, 1);
    queue->queue.weight = 1;
    queue->queue.reclaimable = true;
    queue->queue.state = MAAR_QUEUE_OPEN;
    return queue;
}

struct maar_record *maar_bench_add_group(struct maar_bench_sink *sink, uint32_t number,
                                         uint32_t size, const struct maar_bench_ask *ask,
                                         const char *queue)
{
    struct maar_record *group = maar_bench_record(sink, MAAR_KIND_POD_GROUP, "bench",
                                                  maar_asprintf("g-%06u", number), 100 + number);
    group->pod_group.queue = maar_arena_strdup(group->arena, queue);
    group->pod_group.min_member = (int32_t)size;
    group->pod_group.has_min_resources = true;
    maar_bench_amounts(group, &group->pod_group.min_resources, ask, size);
    return group;
}

struct maar_record *maar_bench_add_pod(struct maar_bench_sink *sink, uint32_t number, uint32_t i,
                                       const struct maar_bench_ask *ask)
{
    struct maar_record *pod = maar_bench_record(
        sink, MAAR_KIND_POD, "bench", maar_asprintf("g-%06u-%u", number, i), 100 + number);
    pod->pod.group = maar_arena_printf(pod->arena, "g-%06u", number);
    pod->pod.preemptable = true;
    pod->pod.spec.scheduler_name = "volcano";
    pod->pod.n_containers = 1;
    pod->pod.containers = maar_arena_calloc(pod->arena, 1, sizeof *pod->pod.containers);
    maar_bench_amounts(pod, &pod->pod.containers[0].requests, ask, 1);
    return pod;
}

void maar_bench_delete_pod(struct maar_bench_sink *sink, uint32_t number, uint32_t i)
{
    maar_bench_record(sink, MAAR_KIND_POD, "bench", maar_asprintf("g-%06u-%u", number, i), 0);
    sink->deltas.data[sink->deltas.n - 1].type = MAAR_DELTA_DELETE;
}

/* ---- around ---- */

long maar_bench_rss_bytes(void)
{
    maar_autofree char *text = NULL;
    size_t n;
    long size, resident = 0;
    if (maar_file_read("/proc/self/statm", 4096, &text, &n, NULL) < 0 ||
        sscanf(text, "%ld %ld", &size, &resident) != 2)
        return 0;
    return resident * sysconf(_SC_PAGESIZE);
}

void maar_bench_progress(const char *text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", text);
}
