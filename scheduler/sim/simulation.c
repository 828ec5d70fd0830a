// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The loop: hold and steps, one session, checks, kubelets, the clock. It ends when nothing moves any more.
#include "sim/simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "sim/document.h"
#include "sim/expect.h"
#include "sim/memory_backend.h"

/* So many cycles without a delta, a write or a move in a row mean that nothing will change any more. */
#define QUIET_CYCLES 2

struct maar_simulation {
    const struct maar_scenario *scenario;
    struct maar_simulation_options options;
    struct maar_cluster *cluster;
    struct maar_store *store;
    struct maar_conf *conf; /* the simulation's copy; the engine has its own */
    struct maar_engine *engine;
    struct maar_backend backend;
    struct maar_wire_options decode;
    struct maar_memory_backend *memory; /* without a link */
    struct maar_invariants *invariants;
    struct maar_violations violations;
    struct maar_text differences;
    size_t next_step;
    unsigned n_cycles;
};

/* ---- configuration ---- */

/* The conf of a scenario is parsed behind as many empty lines as stand before it in its file, so that messages name
 * the file's own lines. */
static int parse_own_conf(const struct maar_simulation *simulation, struct maar_conf **ret_conf,
                          struct maar_error *err)
{
    const struct maar_scenario *scenario = simulation->scenario;
    maar_autofree char *text = maar_field_embedded(&scenario->conf_field, scenario->conf, NULL);
    return maar_conf_parse(text, strlen(text), scenario->conf_field.file->path,
                           maar_registry_action_names(simulation->options.registry), ret_conf, err);
}

static int read_conf(const struct maar_simulation *simulation, struct maar_conf **ret_conf,
                     struct maar_error *err)
{
    const char *text = simulation->options.conf_text;
    if (text)
        return maar_conf_parse(text, strlen(text), simulation->options.conf_path,
                               maar_registry_action_names(simulation->options.registry), ret_conf,
                               err);
    if (simulation->scenario->conf)
        return parse_own_conf(simulation, ret_conf, err);
    *ret_conf = maar_conf_default();
    return 0;
}

/* ---- the first objects ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static const char *kind_of(const json_t *document)
{
    return maar_document_text(document, "kind");
}

/* Exchanges manifests of equal kind; identity and time were given in file order before. */
static void shuffle(json_t **documents, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(next_random(&state) % i);
        if (strcmp(kind_of(documents[i - 1]), kind_of(documents[k])) != 0)
            continue;
        json_t *kept = documents[i - 1];
        documents[i - 1] = documents[k];
        documents[k] = kept;
    }
}

static bool is_class(const json_t *document)
{
    return strcmp(kind_of(document), "PriorityClass") == 0;
}

static json_t *with_identity(struct maar_simulation *simulation, const json_t *document)
{
    char uid[40];
    json_t *copy = json_deep_copy(document);
    maar_store_next_uid(simulation->store, maar_document_namespace(copy), maar_document_name(copy),
                        uid);
    if (!*maar_document_uid(copy))
        maar_document_set(copy, "metadata.uid", json_string(uid));
    return copy;
}

/* Adds the classes first: a dump may list pods before them. */
static int load(struct maar_simulation *simulation, struct maar_error *err)
{
    const struct maar_scenario *scenario = simulation->scenario;
    size_t n = scenario->manifests.n;
    json_t **documents = maar_calloc(n + 1, sizeof *documents);
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        documents[i] = with_identity(simulation, scenario->manifests.data[i].document);
    if (simulation->options.shuffle)
        shuffle(documents, n, simulation->options.seed);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; rc == 0 && i < n; i++) {
            if (is_class(documents[i]) != (turn == 0))
                continue;
            rc = maar_cluster_add(simulation->cluster, documents[i], err);
            if (rc < 0) {
                struct maar_error inner = err ? *err : (struct maar_error){{0}};
                const struct maar_field *field = &scenario->manifests.data[i].field;
                maar_field_error(field, err, "%s %s: %.500s", kind_of(documents[i]),
                                 maar_document_name(documents[i]), inner.text);
            }
        }
    }
    maar_cluster_complete(simulation->cluster);
    for (size_t i = 0; i < n; i++)
        json_decref(documents[i]);
    free(documents);
    return rc < 0 ? -EINVAL : 0;
}

/* ---- life ---- */

int maar_simulation_create(const struct maar_scenario *scenario,
                           const struct maar_simulation_options *options,
                           struct maar_simulation **ret_simulation, struct maar_error *err)
{
    struct maar_simulation *simulation = maar_calloc(1, sizeof *simulation);
    simulation->scenario = scenario;
    simulation->options = *options;
    simulation->decode = maar_engine_decode_options(options->registry);
    const struct maar_cluster_options cluster = {
        .start_ns = scenario->start_ns,
        .period_ns = scenario->period_ns,
        .bind_delay = scenario->bind_delay,
        .kubelets = {scenario->start_delay, scenario->termination_delay},
        .recreate = scenario->recreate,
        .has_kubelets = true,
        .keeps_journal = true,
    };
    int rc = read_conf(simulation, &simulation->conf, err);
    if (rc == 0) {
        simulation->cluster = maar_cluster_create(&cluster);
        simulation->store = maar_cluster_store(simulation->cluster);
        simulation->invariants =
            maar_invariants_create(simulation->cluster, simulation->conf, options->registry);
        rc = load(simulation, err);
        if (rc == 0 && options->edits)
            rc = maar_edits_apply(options->edits, simulation->cluster, err);
    }
    if (rc < 0)
        maar_simulation_destroy(simulation);
    else
        *ret_simulation = simulation;
    return rc;
}

static void disconnect(struct maar_simulation *simulation)
{
    maar_engine_destroy(simulation->engine);
    simulation->engine = NULL;
    if (simulation->options.link && simulation->backend.ops)
        simulation->options.link->close(simulation->options.link->context);
    simulation->backend = (struct maar_backend){NULL, NULL};
}

void maar_simulation_destroy(struct maar_simulation *simulation)
{
    if (!simulation)
        return;
    disconnect(simulation);
    if (simulation->options.link)
        simulation->options.link->forget(simulation->options.link->context);
    maar_memory_backend_destroy(simulation->memory);
    maar_invariants_destroy(simulation->invariants);
    maar_cluster_destroy(simulation->cluster);
    maar_conf_destroy(simulation->conf);
    maar_violations_fini(&simulation->violations);
    maar_text_fini(&simulation->differences);
    free(simulation);
}

static int connect_backend(struct maar_simulation *simulation, struct maar_error *err)
{
    const struct maar_simulation_link *link = simulation->options.link;
    if (link)
        return link->open(link->context, simulation->cluster, &simulation->decode,
                          &simulation->backend, err);
    if (!simulation->memory)
        simulation->memory = maar_memory_backend_create(simulation->cluster, &simulation->decode);
    simulation->backend = maar_memory_backend_ops(simulation->memory);
    return 0;
}

/* The scheduler starts, or starts anew with nothing in its memory. */
static int start_scheduler(struct maar_simulation *simulation, struct maar_error *err)
{
    struct maar_engine_options options = {
        .registry = simulation->options.registry,
        .create_queues = true,
        .check = true,
        .reference = simulation->options.reference,
        .check_memory = simulation->options.check_memory,
        .features = simulation->options.features ? *simulation->options.features
                                                 : simulation->scenario->features,
    };
    disconnect(simulation);
    int rc = connect_backend(simulation, err);
    if (rc == 0)
        rc = read_conf(simulation, &options.conf, err);
    if (rc < 0)
        return rc;
    /* What is wrong in the configuration is the caller's to say, once and not at each start. */
    int verbosity = maar_log_verbosity();
    maar_log_set_verbosity(-1);
    simulation->engine = maar_engine_create(&options, simulation->backend, err);
    maar_log_set_verbosity(verbosity);
    return simulation->engine ? maar_engine_start(simulation->engine, err) : -EINVAL;
}

/* ---- a cycle ---- */

static int step_error(const struct maar_scenario_step *step, int rc, struct maar_error *err)
{
    struct maar_error inner = err ? *err : (struct maar_error){{0}};
    maar_field_error(&step->field, err, "%.900s", inner.text);
    return rc;
}

static int do_step(struct maar_simulation *simulation, const struct maar_scenario_step *step,
                   struct maar_error *err)
{
    struct maar_cluster *cluster = simulation->cluster;
    int rc = 0;
    for (size_t i = 0; i < step->holds.n; i++)
        maar_cluster_hold(cluster, step->holds.data[i].type, step->holds.data[i].cycles);
    for (size_t i = 0; i < step->faults.n; i++)
        maar_cluster_fail(cluster, &step->faults.data[i]);
    for (size_t i = 0; rc == 0 && i < step->apply.n; i++)
        rc = maar_cluster_apply(cluster, step->apply.data[i].document, err);
    for (size_t i = 0; rc == 0 && i < step->deletes.n; i++) {
        const struct maar_scenario_target *target = &step->deletes.data[i];
        rc = maar_cluster_delete(cluster, target->type, target->ns, target->name, err);
    }
    for (size_t i = 0; rc == 0 && i < step->patches.n; i++) {
        const struct maar_scenario_target *target = &step->patches.data[i].target;
        rc = maar_cluster_patch(cluster, target->type, target->ns, target->name,
                                step->patches.data[i].merge, err);
    }
    return rc < 0 ? step_error(step, rc, err) : 0;
}

static int do_steps(struct maar_simulation *simulation, unsigned cycle, bool *ret_restart,
                    struct maar_error *err)
{
    const struct maar_scenario *scenario = simulation->scenario;
    for (; simulation->next_step < scenario->steps.n; simulation->next_step++) {
        const struct maar_scenario_step *step = &scenario->steps.data[simulation->next_step];
        if (step->cycle > cycle)
            break;
        *ret_restart |= step->restart;
        int rc = do_step(simulation, step, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void check_expects(struct maar_simulation *simulation, unsigned cycle, bool at_end)
{
    const struct maar_scenario *scenario = simulation->scenario;
    for (size_t i = 0; i < scenario->expects.n; i++) {
        const struct maar_scenario_expect *expect = &scenario->expects.data[i];
        if (expect->cycle == (at_end ? 0 : cycle))
            maar_expect_check(expect, simulation->cluster, cycle, &simulation->differences);
    }
}

static size_t take_n_delivered(struct maar_simulation *simulation)
{
    const struct maar_simulation_link *link = simulation->options.link;
    return link ? link->take_n_delivered(link->context)
                : maar_memory_backend_take_n_delivered(simulation->memory);
}

static void land(struct maar_simulation *simulation)
{
    const struct maar_simulation_link *link = simulation->options.link;
    if (link)
        link->land(link->context);
    else
        maar_memory_backend_land(simulation->memory);
}

/* Sets *ret_quiet when nothing came, went or moved. */
static int run_cycle(struct maar_simulation *simulation, unsigned cycle, bool *ret_quiet,
                     struct maar_error *err)
{
    const struct maar_simulation_link *link = simulation->options.link;
    bool restart = cycle == 1;
    maar_store_lock(simulation->store);
    maar_cluster_begin_cycle(simulation->cluster);
    uint64_t version = maar_store_version(simulation->store);
    int rc = do_steps(simulation, cycle, &restart, err);
    maar_cluster_reconcile(simulation->cluster);
    maar_store_unlock(simulation->store);
    if (rc == 0 && restart)
        rc = start_scheduler(simulation, err);
    if (rc < 0)
        return rc;
    struct maar_turn turn = maar_engine_turn(simulation->engine, 0, true);
    if (link)
        rc = link->settle(link->context, err);
    if (rc < 0)
        return rc;
    maar_store_lock(simulation->store);
    maar_invariants_check(simulation->invariants, simulation->engine, turn.synced,
                          &simulation->violations);
    check_expects(simulation, cycle, false);
    land(simulation);
    maar_cluster_end_cycle(simulation->cluster);
    *ret_quiet = take_n_delivered(simulation) == 0 && turn.n_writes == 0 && !restart &&
                 version == maar_store_version(simulation->store) &&
                 !maar_cluster_is_busy(simulation->cluster) &&
                 simulation->next_step == simulation->scenario->steps.n;
    maar_store_unlock(simulation->store);
    return 0;
}

/* Policies whose answers change with the clock alone. */
static bool waits_for_time(const struct maar_conf *conf)
{
    static const char *const names[] = {"sla", "tdm", "cdp", "usage", "rescheduling", NULL};
    for (size_t i = 0; i < conf->n_tiers; i++)
        for (size_t k = 0; k < conf->tiers[i].n_plugins; k++)
            for (size_t n = 0; names[n]; n++)
                if (strcmp(conf->tiers[i].plugins[k].name, names[n]) == 0)
                    return true;
    return false;
}

int maar_simulation_run(struct maar_simulation *simulation, struct maar_error *err)
{
    unsigned last = maar_scenario_last_cycle(simulation->scenario);
    unsigned n_cycles = simulation->options.cycles;
    if (!n_cycles)
        n_cycles = simulation->scenario->cycles > last ? simulation->scenario->cycles : last;
    bool timed = waits_for_time(simulation->conf);
    unsigned n_quiet = 0;
    for (unsigned cycle = 1; cycle <= n_cycles; cycle++) {
        bool quiet = false;
        int rc = run_cycle(simulation, cycle, &quiet, err);
        if (rc < 0)
            return rc;
        simulation->n_cycles = cycle;
        if (simulation->options.progress)
            simulation->options.progress(simulation->options.progress_context, cycle, n_cycles);
        n_quiet = quiet ? n_quiet + 1 : 0;
        if (n_quiet >= QUIET_CYCLES && cycle >= last && !timed)
            break;
    }
    check_expects(simulation, simulation->n_cycles, true);
    return 0;
}

/* ---- results ---- */

const struct maar_scenario *maar_simulation_scenario(const struct maar_simulation *simulation)
{
    return simulation->scenario;
}

struct maar_cluster *maar_simulation_cluster(const struct maar_simulation *simulation)
{
    return simulation->cluster;
}

struct maar_engine *maar_simulation_engine(const struct maar_simulation *simulation)
{
    return simulation->engine;
}

const struct maar_conf *maar_simulation_conf(const struct maar_simulation *simulation)
{
    return simulation->conf;
}

unsigned maar_simulation_n_cycles(const struct maar_simulation *simulation)
{
    return simulation->n_cycles;
}

struct maar_violations *maar_simulation_violations(struct maar_simulation *simulation)
{
    return &simulation->violations;
}

const char *maar_simulation_differences(const struct maar_simulation *simulation)
{
    return maar_text_get(&simulation->differences);
}
