/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* W8: a large cluster on which little or nothing changes. All nodes are full. Timed is one session: with nothing to
 * do (variant idle), with gangs that have no room (blocked), with ten pods that end and ten that come between
 * sessions (churn). Without a change the engine must run no session of its own, and a forced one must write nothing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/bench_rig.h"

#define N_QUEUES     50u
#define N_SESSIONS   20u
#define GANG_SIZE    4u
#define CHURN        10u
#define PODS_A_NODE  30u
#define SETTLE_TURNS 10u

struct size {
    uint32_t n_nodes;
    uint32_t n_pairs;   /* running groups of two pods; */
    uint32_t n_singles; /* of one */
    uint32_t n_blocked; /* gangs */
};

static const struct size small = {1000, 12600, 4800, 1000};
static const struct size large = {5000, 63000, 24000, 5000};

static const struct maar_bench_node node_type = {PODS_A_NODE * 1000, INT64_C(256) << 30, 0};
static const struct maar_bench_ask ask = {1000, INT64_C(1) << 30, 0};

static void set_phase(struct maar_record *group, uint32_t running)
{
    group->pod_group.phase = MAAR_PHASE_RUNNING;
    group->pod_group.running = (int32_t)running;
}

static void add_running(struct maar_bench_sink *sink, const struct size *size)
{
    uint32_t n_pods = 0;
    for (uint32_t g = 0; g < size->n_pairs + size->n_singles; g++) {
        uint32_t members = g < size->n_pairs ? 2 : 1;
        maar_autofree char *queue = maar_asprintf("q-%u", g % N_QUEUES);
        set_phase(maar_bench_add_group(sink, g, members, &ask, queue), members);
        for (uint32_t m = 0; m < members; m++, n_pods++) {
            struct maar_record *pod = maar_bench_add_pod(sink, g, m, &ask);
            pod->pod.phase = MAAR_POD_RUNNING;
            pod->pod.node_name = maar_arena_printf(pod->arena, "node-%06u", n_pods % size->n_nodes);
        }
    }
}

static void add_waiting(struct maar_bench_sink *sink, uint32_t number, uint32_t members)
{
    maar_autofree char *queue = maar_asprintf("q-%u", number % N_QUEUES);
    maar_bench_add_group(sink, number, members, &ask, queue);
    for (uint32_t m = 0; m < members; m++)
        maar_bench_add_pod(sink, number, m, &ask);
}

struct outcome {
    double session_ms; /* the median */
    size_t n_binds;
    uint64_t hash;
    long rss_bytes;
    const char *fault; /* NULL: as it must be */
};

static int compare_times(const void *l, const void *r)
{
    const int64_t a = *(const int64_t *)l, b = *(const int64_t *)r;
    return a < b ? -1 : a > b;
}

/* Turns until no session has anything to do. */
static bool settle(struct maar_engine *engine)
{
    for (uint32_t i = 0; i < SETTLE_TURNS; i++)
        if (!maar_engine_turn(engine, 0, false).session)
            return true;
    return false;
}

/* Ten pods of groups of one end, ten new ones come. */
static void churn(struct maar_bench_sink *sink, const struct size *size, uint32_t round,
                  uint32_t first_new)
{
    for (uint32_t i = 0; i < CHURN; i++) {
        maar_bench_delete_pod(sink, size->n_pairs + round * CHURN + i, 0);
        add_waiting(sink, first_new + round * CHURN + i, 1);
    }
}

static struct outcome run(const struct maar_bench_options *options, const struct size *size,
                          uint32_t n_blocked, bool churns, bool reference)
{
    struct outcome outcome = {.fault = "the engine cannot be made"};
    struct maar_bench_sink sink = {0};
    struct maar_engine *engine =
        maar_bench_engine(options->registry, maar_bench_conf_standard, &sink, reference);
    if (!engine)
        return outcome;
    outcome.fault = NULL;
    for (uint32_t i = 0; i < size->n_nodes; i++)
        maar_bench_add_node(&sink, i, &node_type);
    for (uint32_t i = 0; i < N_QUEUES; i++)
        maar_bench_add_queue(&sink, maar_asprintf("q-%u", i));
    add_running(&sink, size);
    uint32_t n_running = size->n_pairs + size->n_singles;
    for (uint32_t i = 0; i < n_blocked; i++)
        add_waiting(&sink, n_running + i, GANG_SIZE);
    maar_bench_synced(&sink);
    if (!settle(engine))
        outcome.fault = "without a change sessions go on and on";
    size_t n_writes = sink.n_writes;
    uint32_t n_sessions = reference ? 3 : N_SESSIONS;
    int64_t times[N_SESSIONS];
    for (uint32_t i = 0; i < n_sessions; i++) {
        sink.now_ns += INT64_C(1000000000);
        if (churns)
            churn(&sink, size, i, n_running + n_blocked);
        times[i] = maar_engine_turn(engine, 0, !churns).session_ns;
        if (churns && !settle(engine))
            outcome.fault = "without a change sessions go on and on";
        if (i == 2) { /* as far as the plain path goes */
            outcome.hash = sink.hash;
            outcome.n_binds = sink.n_binds;
        }
    }
    qsort(times, n_sessions, sizeof *times, compare_times);
    int64_t median = times[n_sessions / 2];
    outcome.session_ms = (double)median / 1e6;
    outcome.rss_bytes = maar_bench_rss_bytes();
    struct maar_text text = MAAR_TEXT_INIT;
    if (!churns && sink.n_writes != n_writes)
        outcome.fault = "forced sessions without a change write";
    else if (!churns && maar_engine_turn(engine, 0, false).session)
        outcome.fault = "a session runs without a change";
    else if (maar_engine_check(engine, &text) > 0)
        outcome.fault = "the ledger does not recount";
    maar_text_fini(&text);
    maar_engine_destroy(engine);
    maar_bench_sink_fini(&sink);
    return outcome;
}

static void report(struct maar_bench_options *options, const struct size *size, const char *variant,
                   const struct outcome *fast, const struct outcome *plain)
{
    bool same = !options->reference ||
                (!plain->fault && plain->hash == fast->hash && plain->n_binds == fast->n_binds);
    bool ok = !fast->fault && same;
    options->failed |= !ok;
    if (!options->json) {
        printf("W8   %-8s %-2s %7u nodes: %10.3f ms a session", variant, options->large ? "L" : "S",
               size->n_nodes, fast->session_ms);
        if (options->reference)
            printf(" %9.1fx  %s", plain->session_ms / fast->session_ms,
                   same ? "same" : "DIFFERENT");
        printf("%s%s\n", fast->fault ? "  FAILED: " : "", fast->fault ? fast->fault : "");
        fflush(stdout);
        return;
    }
    json_t *result = json_pack("{s:s, s:s, s:s, s:i, s:I, s:f, s:I, s:s}", "workload", "W8",
                               "variant", variant, "size", options->large ? "L" : "S", "nodes",
                               (int)size->n_nodes, "placed", (json_int_t)fast->n_binds, "sessionMs",
                               fast->session_ms, "rssBytes", (json_int_t)fast->rss_bytes, "checks",
                               ok            ? "ok"
                               : fast->fault ? fast->fault
                                             : "failed");
    if (options->reference)
        json_object_set_new(result, "reference",
                            json_pack("{s:f, s:f, s:b}", "sessionMs", plain->session_ms, "ratio",
                                      plain->session_ms / fast->session_ms, "samePlacements",
                                      same));
    json_array_append_new(options->results, result);
}

void maar_bench_steady(struct maar_bench_options *options)
{
    const struct size *size = options->large ? &large : &small;
    static const struct {
        const char *name;
        bool blocked, churns;
    } variants[] = {{"idle", false, false}, {"blocked", true, false}, {"churn", true, true}};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        uint32_t n_blocked = variants[i].blocked ? size->n_blocked : 0;
        maar_bench_progress("W8 ...");
        struct outcome fast = run(options, size, n_blocked, variants[i].churns, false);
        struct outcome plain = {0};
        if (options->reference)
            plain = run(options, size, n_blocked, variants[i].churns, true);
        maar_bench_progress("");
        report(options, size, variants[i].name, &fast, &plain);
    }
}
