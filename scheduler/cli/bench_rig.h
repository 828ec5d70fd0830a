/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_BENCH_RIG_H
#define MAAR_CLI_BENCH_RIG_H

/* What the workloads of `maarctl bench` share: an engine over a backend that answers nothing, records made by
 * program, and the options of the run. */

#include <jansson.h>

#include "base/text.h"
#include "engine/engine.h"

/* Delivers what was put into it and swallows writes. */
struct maar_bench_sink {
    struct maar_deltas deltas; /* to be delivered */
    uint64_t hash;             /* of all bindings, whatever their order */
    size_t n_binds;
    size_t n_writes;
    int64_t now_ns;
};

struct maar_bench_node {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpus;
};

/* What a pod asks for. */
struct maar_bench_ask {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpus;
};

struct maar_bench_options {
    const struct maar_registry *registry;
    bool large;
    bool json;
    bool reference;
    json_t *results;
    bool failed;
};

/* actions enqueue, allocate, backfill; two tiers with proportion */
extern const char maar_bench_conf_standard[];
/* the same with a tree of queues, capacity in place of proportion */
extern const char maar_bench_conf_capacity[];

/* NULL, with a message, when the configuration cannot be loaded. */
struct maar_engine *maar_bench_engine(const struct maar_registry *registry, const char *conf_text,
                                      struct maar_bench_sink *sink, bool reference);
void maar_bench_sink_fini(struct maar_bench_sink *sink);
/* All lists are in: the next turn decides. */
void maar_bench_synced(struct maar_bench_sink *sink);

/* A record that the next turn delivers; the name is taken over. */
struct maar_record *maar_bench_record(struct maar_bench_sink *sink, enum maar_kind kind,
                                      const char *ns, char *name, int64_t created_s);
void maar_bench_amount(struct maar_record *record, struct maar_amounts_record *amounts,
                       const char *name, int64_t value);
void maar_bench_amounts(struct maar_record *record, struct maar_amounts_record *amounts,
                        const struct maar_bench_ask *ask, int64_t times);
void maar_bench_add_node(struct maar_bench_sink *sink, uint32_t i,
                         const struct maar_bench_node *type);
/* An open queue of weight 1. The name is taken over. */
struct maar_record *maar_bench_add_queue(struct maar_bench_sink *sink, char *name);
/* A PodGroup of `size` members, all of which are the minimum, without its pods. */
struct maar_record *maar_bench_add_group(struct maar_bench_sink *sink, uint32_t number,
                                         uint32_t size, const struct maar_bench_ask *ask,
                                         const char *queue);
/* Its i-th pod. */
struct maar_record *maar_bench_add_pod(struct maar_bench_sink *sink, uint32_t number, uint32_t i,
                                       const struct maar_bench_ask *ask);
/* The end of that pod. */
void maar_bench_delete_pod(struct maar_bench_sink *sink, uint32_t number, uint32_t i);

/* Resident memory of the process. */
long maar_bench_rss_bytes(void);
/* A line that the next one overwrites, on terminals only. */
void maar_bench_progress(const char *text);

/* The nodes, queue and pods of W4: 19,000 and 1,000 pods when large, else 3,800 and 200. */
void maar_bench_fill_batchable(struct maar_bench_sink *sink, bool is_large);
void maar_bench_fill_affinity(struct maar_bench_sink *sink, bool is_large);

/* The workloads with files of their own: they print, or add to results. */
void maar_bench_steady(struct maar_bench_options *options); /* W8 */
void maar_bench_queues(struct maar_bench_options *options); /* W3 */

#endif
