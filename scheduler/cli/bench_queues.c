/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* W3: many queues. The same jobs of one to four pods are spread by Zipf's law over 2,000 leaves of a tree and over
 * ten; then over as many queues without a tree. The time per pod may hardly depend on the number of queues. All pods
 * have room: what is measured is the order of queues and the room in them. */

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/bench_rig.h"

#define RATIO_LIMIT 1.5
#define MANY_LEVELS 3u
#define MAX_WEIGHT  10u
#define N_RUNS      3

struct size {
    uint32_t n_nodes;
    uint32_t n_jobs;
    uint32_t fans[MANY_LEVELS]; /* of the tree, from root down */
    uint32_t n_few;
};

static const struct size small = {400, 10000, {10, 10, 10}, 10};
static const struct size large = {2000, 50000, {10, 10, 20}, 10};

static const struct maar_bench_node node_type = {64000, INT64_C(256) << 30, 0};
static const struct maar_bench_ask ask = {1000, INT64_C(1) << 30, 0};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- queues ---- */

static void add_amount(struct maar_record *record, struct maar_amounts_record *amounts,
                       int64_t cpus)
{
    maar_bench_amount(record, amounts, "cpu", cpus * 1000);
}

/* Leaves differ in weight, three of ten have a guarantee. */
static void add_leaf(struct maar_bench_sink *sink, uint32_t i, const char *parent)
{
    struct maar_record *queue = maar_bench_add_queue(sink, maar_asprintf("leaf-%u", i));
    queue->queue.weight = (int32_t)(1 + i * 7 % MAX_WEIGHT);
    queue->queue.parent = maar_arena_strdup(queue->arena, parent);
    add_amount(queue, &queue->queue.deserved, queue->queue.weight);
    if (i % 10 < 3)
        add_amount(queue, &queue->queue.guarantee, 1);
}

/* Inner queues have a capability, that of all nodes. */
static void add_inner(struct maar_bench_sink *sink, const char *name, const char *parent,
                      const struct size *size)
{
    struct maar_record *queue = maar_bench_add_queue(sink, maar_strdup(name));
    queue->queue.parent = maar_arena_strdup(queue->arena, parent);
    add_amount(queue, &queue->queue.capability,
               (int64_t)size->n_nodes * node_type.cpu_milli / 1000);
}

static void add_tree(struct maar_bench_sink *sink, const struct size *size)
{
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < size->fans[0]; i++) {
        maar_autofree char *top = maar_asprintf("inner-%u", i);
        add_inner(sink, top, "root", size);
        for (uint32_t k = 0; k < size->fans[1]; k++) {
            maar_autofree char *inner = maar_asprintf("inner-%u-%u", i, k);
            add_inner(sink, inner, top, size);
            for (uint32_t l = 0; l < size->fans[2]; l++)
                add_leaf(sink, leaf++, inner);
        }
    }
}

static uint32_t count_leaves(const struct size *size, bool many)
{
    return many ? size->fans[0] * size->fans[1] * size->fans[2] : size->n_few;
}

static void add_queues(struct maar_bench_sink *sink, const struct size *size, bool tree, bool many)
{
    maar_bench_add_queue(sink, maar_strdup("root"));
    if (tree && many) {
        add_tree(sink, size);
        return;
    }
    for (uint32_t i = 0; i < count_leaves(size, many); i++)
        add_leaf(sink, i, "root");
}

/* ---- jobs ---- */

/* The queue of rank r gets a part like 1/r. sums has n entries, the last of which is the total. */
static uint32_t draw_queue(const double *sums, uint32_t n, uint64_t *random)
{
    double at = (double)(next_random(random) >> 11) / 9007199254740992.0 * sums[n - 1];
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint32_t add_jobs(struct maar_bench_sink *sink, const struct size *size, uint32_t n_queues)
{
    uint32_t n_pods = 0;
    if (n_queues == 0)
        return 0;
    double *sums = maar_calloc(n_queues, sizeof *sums);
    uint64_t random = 1;
    for (uint32_t i = 0; i < n_queues; i++)
        sums[i] = (i ? sums[i - 1] : 0) + 1.0 / (i + 1);
    for (uint32_t i = 0; i < size->n_jobs; i++) {
        /* Ranks are spread over the tree. */
        uint32_t leaf = draw_queue(sums, n_queues, &random) * 7919 % n_queues;
        maar_autofree char *queue = maar_asprintf("leaf-%u", leaf);
        uint32_t n = 1 + i % 4;
        maar_bench_add_group(sink, i, n, &ask, queue);
        for (uint32_t m = 0; m < n; m++)
            maar_bench_add_pod(sink, i, m, &ask);
        n_pods += n;
    }
    free(sums);
    return n_pods;
}

/* ---- running ---- */

struct outcome {
    double seconds;
    uint32_t n_pods;
    uint64_t hash;
    bool ok;
};

static struct outcome run_once(const struct maar_bench_options *options, const struct size *size,
                               bool tree, bool many, bool reference)
{
    struct outcome outcome = {0};
    struct maar_bench_sink sink = {0};
    struct maar_engine *engine = maar_bench_engine(
        options->registry, tree ? maar_bench_conf_capacity : maar_bench_conf_standard, &sink,
        reference);
    if (!engine)
        return outcome;
    for (uint32_t i = 0; i < size->n_nodes; i++)
        maar_bench_add_node(&sink, i, &node_type);
    add_queues(&sink, size, tree, many);
    outcome.n_pods = add_jobs(&sink, size, count_leaves(size, many));
    maar_bench_synced(&sink);
    struct maar_turn turn = maar_engine_turn(engine, 0, false);
    outcome.seconds = (double)turn.session_ns / 1e9;
    outcome.hash = sink.hash;
    struct maar_text text = MAAR_TEXT_INIT;
    outcome.ok = sink.n_binds == outcome.n_pods && maar_engine_check(engine, &text) == 0;
    if (!outcome.ok)
        fprintf(stderr, "maarctl bench: W3: %zu of %u pods placed\n%s", sink.n_binds,
                outcome.n_pods, maar_text_get(&text));
    maar_text_fini(&text);
    maar_engine_destroy(engine);
    maar_bench_sink_fini(&sink);
    return outcome;
}

static struct outcome run_best(const struct maar_bench_options *options, const struct size *size,
                               bool tree, bool many)
{
    struct outcome best = run_once(options, size, tree, many, false);
    for (int i = 1; i < N_RUNS && best.ok; i++) {
        struct outcome next = run_once(options, size, tree, many, false);
        if (!next.ok || next.seconds < best.seconds)
            best = next;
    }
    return best;
}

static void run_pair(struct maar_bench_options *options, const struct size *size, bool tree)
{
    const char *variant = tree ? "tree" : "flat";
    maar_bench_progress("W3 ...");
    struct outcome few = run_best(options, size, tree, false);
    struct outcome many = run_best(options, size, tree, true);
    struct outcome plain = {0};
    if (options->reference)
        plain = run_once(options, size, tree, true, true);
    maar_bench_progress("");
    double ratio = many.seconds / few.seconds; /* the same pods in both */
    bool same = !options->reference || (plain.ok && plain.hash == many.hash);
    bool ok = few.ok && many.ok && same && ratio <= RATIO_LIMIT;
    options->failed |= !ok;
    uint32_t n_queues = count_leaves(size, true);
    if (!options->json) {
        printf("%-4s %-9s %-2s %7u %7u %10.4f %12.0f", "W3", variant, options->large ? "L" : "S",
               size->n_nodes, many.n_pods, many.seconds, many.n_pods / many.seconds);
        if (options->reference)
            printf(" %9.1fx  %s", plain.seconds / many.seconds, same ? "same" : "DIFFERENT");
        printf("\n     time per pod with %u queues against %u: %.2f (limit %.1f) %s\n", n_queues,
               size->n_few, ratio, RATIO_LIMIT, ratio <= RATIO_LIMIT ? "ok" : "FAILED");
        fflush(stdout);
        return;
    }
    json_t *result = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:s}", "workload", "W3", "variant",
        variant, "size", options->large ? "L" : "S", "nodes", (int)size->n_nodes, "pods",
        (int)many.n_pods, "placed", (int)many.n_pods, "queues", (int)n_queues, "seconds",
        many.seconds, "perSecond", many.n_pods / many.seconds, "sessionMs", many.seconds * 1e3,
        "checks", ok ? "ok" : "failed");
    if (options->reference)
        json_object_set_new(result, "reference",
                            json_pack("{s:f, s:f, s:b}", "seconds", plain.seconds, "ratio",
                                      plain.seconds / many.seconds, "samePlacements", same));
    json_array_append_new(options->results, result);
    json_array_append_new(options->results,
                          json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:b}", "growth", "queues",
                                    "variant", variant, "from", (int)size->n_few, "to",
                                    (int)n_queues, "perPodRatio", ratio, "limit", RATIO_LIMIT, "ok",
                                    ratio <= RATIO_LIMIT));
}

void maar_bench_queues(struct maar_bench_options *options)
{
    const struct size *size = options->large ? &large : &small;
    run_pair(options, size, true);
    run_pair(options, size, false);
}
