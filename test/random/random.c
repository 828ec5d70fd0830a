/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Random clusters against the rules that never bend.
 *
 *     random [--seed S] [--n N] [--story] [--no-cut]
 *
 * Runs the clusters of seeds S … S+N-1 (default 1, 1000). In each, three engines live through the same changes: the
 * one that ships, one that scans all nodes for each task, one that hears the news in another order; now and then a
 * fourth starts anew. After every session:
 *
 *     ledger       every sum equals a recount, every discarded plan restored the world
 *     reference    the plain path writes the same
 *     shuffled     so does the one with the news in another order
 *     restart      so does the one that starts anew
 *     wakes        all ran a session, or none
 *     allocatable  no node is above its room by a binding
 *     gang         who was bound has its minimum
 *     neighbours   who was bound stands where pod affinity and topology spread allow
 *     bind, node   nobody is bound twice, gated, unreadable or to a node that is not there
 *     rest, quiet  writes end, and a session without a change writes nothing
 *     reason       whoever waits has a reason
 *
 * A failure prints its seed, the rule, and the smallest cluster and history that still break it. */

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "lockstep.h"

static volatile sig_atomic_t seed_low, seed_high;

static void on_crash(int number)
{
    char text[64];
    uint64_t seed = ((uint64_t)(uint32_t)seed_high << 32) | (uint32_t)seed_low;
    int n =
        snprintf(text, sizeof text, "\nsignal %d at seed %llu\n", number, (unsigned long long)seed);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

static bool still_fails(const struct maar_registry *registry, uint64_t seed, const struct cut *cut,
                        const char *rule)
{
    struct life life = {.seed = seed};
    life_run(&life, registry, cut);
    bool fails = !strcmp(life.failure.rule, rule);
    life_fini(&life);
    return fails;
}

static bool try_flag(const struct maar_registry *registry, uint64_t seed, struct cut *cut,
                     const char *rule, bool *flag)
{
    if (*flag)
        return false;
    *flag = true;
    if (still_fails(registry, seed, cut, rule))
        return true;
    *flag = false;
    return false;
}

/* Leaves out whatever the failure does not need. */
static void make_small(const struct maar_registry *registry, uint64_t seed, struct cut *cut,
                       const char *rule)
{
    bool smaller = true;
    for (int pass = 0; smaller && pass < 4; pass++) {
        smaller = false;
        while (cut->n_steps > 0) {
            cut->n_steps--;
            if (!still_fails(registry, seed, cut, rule)) {
                cut->n_steps++;
                break;
            }
        }
        smaller |= try_flag(registry, seed, cut, rule, &cut->failures);
        smaller |= try_flag(registry, seed, cut, rule, &cut->delays);
        for (size_t i = MAX_OBJECTS; i-- > 0;)
            if (i < 256)
                smaller |= try_flag(registry, seed, cut, rule, &cut->objects[i]);
        for (size_t s = 0; s < cut->n_steps; s++) {
            smaller |= try_flag(registry, seed, cut, rule, &cut->conf_changes[s]);
            for (size_t i = 0; i < MAX_CHANGES; i++)
                smaller |= try_flag(registry, seed, cut, rule, &cut->changes[s][i]);
        }
    }
}

static void report(const struct maar_registry *registry, const struct life *first, bool small)
{
    printf("seed %llu: %s\n  %s", (unsigned long long)first->seed, first->failure.rule,
           maar_text_get(&first->failure.text));
    struct cut cut = {.n_steps = first->n_steps + 1};
    if (small)
        make_small(registry, first->seed, &cut, first->failure.rule);
    struct life life = {.seed = first->seed, .story = true};
    life_run(&life, registry, &cut);
    printf("smallest that fails alike:\n%s%s: %s\n", maar_text_get(&life.told), life.failure.rule,
           maar_text_get(&life.failure.text));
    life_fini(&life);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},     {"n", required_argument, NULL, 'n'},
        {"failures", required_argument, NULL, 'f'}, {"story", no_argument, NULL, 't'},
        {"no-cut", no_argument, NULL, 'c'},         {NULL, 0, NULL, 0}};
    uint64_t seed = 1, n = 1000;
    bool story = false, small = true;
    unsigned long most = 3;
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (c == 'n')
            n = strtoull(optarg, NULL, 10);
        else if (c == 'f')
            most = strtoul(optarg, NULL, 10);
        else if (c == 't')
            story = true;
        else if (c == 'c')
            small = false;
        else
            return 2;
    }
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGFPE, on_crash);
    maar_log_set_verbosity(-1);
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_registry *registry = maar_registry_create();
    if (maar_registry_load_plugins(registry, MAAR_TEST_BIN_DIR "/plugins", &err) < 0 ||
        maar_registry_load_actions(registry, MAAR_TEST_BIN_DIR "/actions", &err) < 0) {
        fprintf(stderr, "random: %s\n", err.text);
        return 2;
    }
    uint64_t n_failed = 0, n_sessions = 0, n_binds = 0, n_restarts = 0, n_quiet = 0, done = 0;
    for (; done < n && n_failed < most; done++) {
        struct life life = {.seed = seed + done, .story = story};
        seed_low = (sig_atomic_t)(uint32_t)life.seed;
        seed_high = (sig_atomic_t)(uint32_t)(life.seed >> 32);
        life_run(&life, registry, NULL);
        n_sessions += life.n_sessions;
        n_binds += life.n_binds;
        n_restarts += life.n_restarts;
        n_quiet += life.n_quiet;
        if (story)
            printf("%s", maar_text_get(&life.told));
        if (*life.failure.rule) {
            n_failed++;
            report(registry, &life, small);
        }
        life_fini(&life);
    }
    printf("%llu sessions, %llu bindings, %llu restarts, %llu times at rest\n%llu passed, %llu "
           "failed\n",
           (unsigned long long)n_sessions, (unsigned long long)n_binds,
           (unsigned long long)n_restarts, (unsigned long long)n_quiet,
           (unsigned long long)(done - n_failed), (unsigned long long)n_failed);
    maar_registry_destroy(registry);
    return n_failed > 0 || n_binds == 0 ? 1 : 0;
}
