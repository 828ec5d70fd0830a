// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// `maarctl simulate`: reads the scenario, plays it, prints what came out.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/simulate_explain.h"
#include "cli/simulate_link.h"
#include "cli/simulate_table.h"
#include "cli/simulate_warnings.h"
#include "cli/simulate_what_if.h"
#include "sim/report.h"
#include "sim/simulation.h"

#define MAX_CONF_BYTES (1024u * 1024)
/* What an explanation proposes is played when that is quick. */
#define MAX_TRIED_OBJECTS 5000u
#define MAX_TRIES         50u

static const char usage[] =
    "Usage: maarctl simulate -f FILE... [OPTION...]\n"
    "\n"
    "Plays a scenario (manifests and what happens over time) on an embedded cluster in virtual\n"
    "time and checks its expectations and invariants.\n"
    "\n"
    "  -f, --filename FILE      a scenario or manifests; more than once, or - for standard input\n"
    "  -c, --conf FILE          scheduler.conf; wins over the scenario's\n"
    "  -o, --output FORMAT      table (default), json or yaml\n"
    "      --cycles N           at most N cycles\n"
    "      --explain OBJECT     why it waits at the end: a pod or PodGroup NAMESPACE/NAME, a "
    "queue\n"
    "                           queue/NAME, or all: every PodGroup that waits; more than once\n"
    "      --what-if EDIT       what would be different if; more than once, or several after ;\n"
    "                           node NAME [cpu=64 memory=256Gi nvidia.com/gpu=8 like=NODE\n"
    "                             label K=V taint K=V:NoSchedule unschedulable=true ready=false]\n"
    "                           queue NAME [weight=3 capability.cpu=20 deserved.cpu=8\n"
    "                             guarantee.cpu=4 parent=NAME state=Open priority=1]\n"
    "                           podgroup NAMESPACE/NAME [min=2 queue=NAME priority=CLASS\n"
    "                             minResources.cpu=8 gates=none]\n"
    "                           pod NAMESPACE/NAME [cpu=1 memory=2Gi priority=CLASS gates=none]\n"
    "                           or KIND NAME delete; K- takes a label or taint off; n[1-4] is a\n"
    "                           range; nodes and queues that do not exist are added\n"
    "      --via api            through the real client and an HTTP server instead of directly\n"
    "      --shuffle SEED       run a second time with objects in another order; the outcome must\n"
    "                           be the same\n"
    "      --plugins-dir DIR    load custom plugins from there, too\n"
    "      --feature-gates LIST Name=true,...; wins over the scenario's\n"
    "      --reference          place with the plain path: scan all nodes for each task\n"
    "      --check-memory       try refused jobs also while nothing changed that they lacked; "
    "they\n"
    "                           must be refused again in the same words\n"
    "  -v, --verbose            log; twice for more\n"
    "  -h, --help               this text\n"
    "\n"
    "Exit status: 0 all expectations met and no invariant broken, 1 otherwise, 2 bad input.\n";

enum output {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_YAML,
};

struct request {
    MAAR_VEC(const char *) files;
    MAAR_VEC(const char *) explains;
    const char *plugins_dir;
    enum output output;
    struct maar_edits edits;
    bool via_api;
    bool shuffles;
    uint64_t seed;
    int64_t last_progress_ns;
    struct maar_feature_gates features;
    struct maar_simulation_options options;
};

/* ---- arguments ---- */

static bool read_number(const char *text, unsigned long long max, unsigned long long *ret)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    *ret = number;
    return !*end && number <= max;
}

static int complain(const char *option, const char *value, const char *expected)
{
    maar_autofree char *safe = maar_simulate_escape(value, false);
    fprintf(stderr, "maarctl simulate: %s %s: expected %s\n", option, safe, expected);
    return MAAR_EXIT_INPUT;
}

static int take_output(struct request *request, const char *value)
{
    static const char *const names[] = {"table", "json", "yaml", NULL};
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], value) == 0) {
            request->output = (enum output)i;
            return MAAR_EXIT_OK;
        }
    }
    return complain("-o", value, "table, json or yaml");
}

static int take_edits(struct request *request, const char *value)
{
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_edits_read(&request->edits, value, &err) == 0)
        return MAAR_EXIT_OK;
    maar_autofree char *safe = maar_simulate_escape(err.text, false);
    fprintf(stderr, "maarctl simulate: --what-if %s\n", safe);
    return MAAR_EXIT_INPUT;
}

static int take_features(struct request *request, const char *value)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_text unused = MAAR_TEXT_INIT;
    int rc = maar_feature_gates_parse(&request->features, value, &unused, &err);
    bool known = unused.n == 0;
    maar_text_fini(&unused);
    if (rc < 0 || !known)
        return complain("--feature-gates", value, "SchedulingGatesQueueAdmission=true or =false");
    request->options.features = &request->features;
    return MAAR_EXIT_OK;
}

enum {
    OPTION_CYCLES = 256,
    OPTION_EXPLAIN,
    OPTION_WHAT_IF,
    OPTION_VIA,
    OPTION_SHUFFLE,
    OPTION_PLUGINS_DIR,
    OPTION_REFERENCE,
    OPTION_FEATURE_GATES,
    OPTION_CHECK_MEMORY,
};

static int take_option(struct request *request, int option, const char *value)
{
    unsigned long long number = 0;
    switch (option) {
    case 'f':
        maar_vec_push(&request->files, value);
        return MAAR_EXIT_OK;
    case 'c':
        request->options.conf_path = value;
        return MAAR_EXIT_OK;
    case 'o':
        return take_output(request, value);
    case 'v':
        maar_log_set_verbosity(maar_log_verbosity() < 0 ? 0 : maar_log_verbosity() + 4);
        return MAAR_EXIT_OK;
    case OPTION_CYCLES:
        if (!read_number(value, 10000000, &number) || number == 0)
            return complain("--cycles", value, "a number from 1 to 10000000");
        request->options.cycles = (unsigned)number;
        return MAAR_EXIT_OK;
    case OPTION_EXPLAIN:
        maar_vec_push(&request->explains, value);
        return MAAR_EXIT_OK;
    case OPTION_WHAT_IF:
        return take_edits(request, value);
    case OPTION_VIA:
        request->via_api = strcmp(value, "api") == 0;
        return request->via_api ? MAAR_EXIT_OK : complain("--via", value, "api");
    case OPTION_SHUFFLE:
        if (!read_number(value, UINT64_MAX, &number))
            return complain("--shuffle", value, "a number");
        request->shuffles = true;
        request->seed = number;
        return MAAR_EXIT_OK;
    case OPTION_PLUGINS_DIR:
        request->plugins_dir = value;
        return MAAR_EXIT_OK;
    case OPTION_FEATURE_GATES:
        return take_features(request, value);
    case OPTION_REFERENCE:
        request->options.reference = true;
        return MAAR_EXIT_OK;
    case OPTION_CHECK_MEMORY:
        request->options.check_memory = true;
        return MAAR_EXIT_OK;
    default:
        fputs("Try: maarctl simulate --help\n", stderr);
        return MAAR_EXIT_INPUT;
    }
}

/* -1: go on. */
static int read_arguments(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'},
        {"conf", required_argument, NULL, 'c'},
        {"output", required_argument, NULL, 'o'},
        {"cycles", required_argument, NULL, OPTION_CYCLES},
        {"explain", required_argument, NULL, OPTION_EXPLAIN},
        {"what-if", required_argument, NULL, OPTION_WHAT_IF},
        {"via", required_argument, NULL, OPTION_VIA},
        {"shuffle", required_argument, NULL, OPTION_SHUFFLE},
        {"plugins-dir", required_argument, NULL, OPTION_PLUGINS_DIR},
        {"feature-gates", required_argument, NULL, OPTION_FEATURE_GATES},
        {"reference", no_argument, NULL, OPTION_REFERENCE},
        {"check-memory", no_argument, NULL, OPTION_CHECK_MEMORY},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "f:c:o:vh", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return MAAR_EXIT_OK;
        }
        int code = take_option(request, option, optarg);
        if (code != MAAR_EXIT_OK)
            return code;
    }
    for (; optind < argc; optind++)
        maar_vec_push(&request->files, argv[optind]);
    if (request->files.n == 0) {
        fputs("maarctl simulate: no file given; use -f FILE\n", stderr);
        return MAAR_EXIT_INPUT;
    }
    if (request->shuffles && request->edits.items.n > 0) {
        fputs("maarctl simulate: --shuffle and --what-if do not go together\n", stderr);
        return MAAR_EXIT_INPUT;
    }
    return -1;
}

/* ---- running ---- */

static void show_progress(void *context, unsigned cycle, unsigned n_cycles)
{
    int64_t *last_ns = context;
    int64_t now_ns = maar_clock_mono_ns();
    if (now_ns - *last_ns < 200 * MAAR_MILLISECOND_NS)
        return;
    *last_ns = now_ns;
    fprintf(stderr, "\rcycle %u of at most %u\033[K", cycle, n_cycles);
}

/* Plays the scenario once; the simulation is the caller's. */
static int play(const struct maar_scenario *scenario, const struct maar_simulation_options *options,
                struct maar_simulation **ret, struct maar_error *err)
{
    struct maar_simulation *simulation = NULL;
    int rc = maar_simulation_create(scenario, options, &simulation, err);
    if (rc < 0)
        return rc;
    if (!options->shuffle && !options->edits)
        maar_simulate_warn_conf(maar_simulation_conf(simulation), options->registry);
    rc = maar_simulation_run(simulation, err);
    if (rc < 0)
        maar_simulation_destroy(simulation);
    else
        *ret = simulation;
    return rc;
}

/* Invariant (vii): decisions must not depend on the order in which objects come. */
static void compare_runs(const json_t *plain, const json_t *shuffled, uint64_t seed,
                         struct maar_violations *violations)
{
    static const char *const parts[] = {"binds", "evictions", "pods", "podGroups", "queues", NULL};
    for (size_t i = 0; parts[i]; i++) {
        const json_t *a = json_object_get(plain, parts[i]),
                     *b = json_object_get(shuffled, parts[i]);
        if (!json_equal(a, b))
            maar_violations_add(violations, 0, "vii",
                                "%s differ when objects come in the order of "
                                "seed %llu",
                                parts[i], (unsigned long long)seed);
    }
}

static void print_report(const struct request *request, const json_t *report)
{
    struct maar_text text = MAAR_TEXT_INIT;
    if (request->output == OUTPUT_JSON) {
        json_dumpf(report, stdout, JSON_INDENT(1));
        putchar('\n');
        return;
    }
    if (request->output == OUTPUT_YAML)
        maar_wire_yaml_dump(report, &text);
    else
        maar_simulate_table(report, &text);
    fputs(maar_text_get(&text), stdout);
    maar_text_fini(&text);
}

/* ---- what was asked for ---- */

/* One run with its report; what is tried is compared with it. */
struct played {
    const struct request *request;
    const struct maar_scenario *scenario;
    struct maar_what_if_run run;
    unsigned n_tried;
};

static int add_edits(struct maar_edits *edits, const struct request *request, const char *edit)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < request->edits.items.n; i++)
        rc = maar_edits_read(edits, request->edits.items.data[i].text, NULL);
    return rc == 0 ? maar_edits_read(edits, edit, NULL) : rc;
}

/* Plays the scenario once more with the edit. */
static bool try_edit(void *context, const char *edit, const char *group, enum maar_tried *ret_tried)
{
    struct played *played = context;
    if (played->scenario->manifests.n > MAX_TRIED_OBJECTS || played->n_tried++ >= MAX_TRIES)
        return true;
    struct maar_edits edits = {0};
    struct maar_simulation_options options = played->request->options;
    struct maar_simulation *simulation = NULL;
    options.edits = &edits;
    options.link = NULL;
    options.progress = NULL;
    bool made = add_edits(&edits, played->request, edit) == 0 &&
                maar_simulation_create(played->scenario, &options, &simulation, NULL) == 0 &&
                maar_simulation_run(simulation, NULL) == 0;
    if (made) {
        json_t *report = maar_report_create(simulation);
        struct maar_what_if_run run = {simulation, report};
        *ret_tried =
            maar_what_if_starts(played->run, run, group) ? MAAR_TRIED_STARTS : MAAR_TRIED_SHORT;
        json_decref(report);
    }
    maar_simulation_destroy(simulation);
    maar_edits_fini(&edits);
    return made;
}

/* Explanations go into the document, or behind the tables. */
static int explain(struct played *played, json_t *report, struct maar_text *text)
{
    const struct request *request = played->request;
    const struct maar_simulate_tester tester = {played, try_edit};
    if (request->explains.n == 0)
        return MAAR_EXIT_OK;
    json_t *map = json_object();
    int code = maar_simulate_explain(played->run.simulation, &tester, request->explains.data,
                                     request->explains.n, text, map);
    json_object_set_new(report, "explain", map);
    return code;
}

static void print_what_if(const json_t *without, const json_t *with, const json_t *what_if)
{
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_add(&text, "Without  ");
    maar_simulate_headline(without, &text);
    maar_text_add(&text, "With     ");
    maar_simulate_headline(with, &text);
    maar_what_if_table(what_if, &text);
    fputs(maar_text_get(&text), stdout);
    maar_text_fini(&text);
}

static int print(const struct request *request, const struct maar_scenario *scenario,
                 struct maar_simulation *simulation, struct maar_simulation *changed)
{
    json_t *without = maar_report_create(simulation);
    json_t *report = changed ? maar_report_create(changed) : json_incref(without);
    struct maar_what_if_run plain = {simulation, without},
                            run = {changed ? changed : simulation, report};
    struct maar_text text = MAAR_TEXT_INIT;
    struct played played = {request, scenario, run, 0};
    json_t *what_if = changed ? maar_what_if_create(plain, run, &request->edits) : NULL;
    int code = explain(&played, report, &text);
    if (what_if)
        json_object_set(report, "whatIf", what_if);
    if (what_if && request->output == OUTPUT_TABLE)
        print_what_if(without, report, what_if);
    else
        print_report(request, report);
    maar_autofree char *safe = maar_simulate_escape(maar_text_get(&text), true);
    if (request->output == OUTPUT_TABLE)
        fputs(safe, stdout);
    maar_text_fini(&text);
    json_decref(what_if);
    json_decref(report);
    json_decref(without);
    return code;
}

static void print_violations(const struct maar_violations *violations)
{
    for (size_t i = 0; i < violations->n; i++) {
        maar_autofree char *safe = maar_simulate_escape(violations->data[i].text, false);
        fprintf(stderr, "cycle %u: invariant (%s): %s\n", violations->data[i].cycle,
                violations->data[i].invariant, safe);
    }
}

/* Expectations are those of the scenario as it is, without edits. */
static int finish(const struct request *request, const struct maar_scenario *scenario,
                  struct maar_simulation *simulation, struct maar_simulation *changed)
{
    const char *differences = maar_simulation_differences(simulation);
    const struct maar_violations *violations = maar_simulation_violations(simulation);
    int code = print(request, scenario, simulation, changed);
    fflush(stdout);
    if (*differences) {
        maar_autofree char *safe = maar_simulate_escape(differences, true);
        fprintf(stderr, "Expectations not met:\n%s", safe);
    }
    if (request->output != OUTPUT_TABLE || changed)
        print_violations(violations);
    if (changed)
        print_violations(maar_simulation_violations(changed));
    if (request->output == OUTPUT_TABLE && !changed && !*differences && violations->n == 0 &&
        scenario->expects.n > 0)
        puts("\nAll expectations met.");
    bool broken = *differences || violations->n > 0 ||
                  (changed && maar_simulation_violations(changed)->n > 0);
    return code ? code : broken ? MAAR_EXIT_NO : MAAR_EXIT_OK;
}

/* A second run: shuffled, or with the edits. */
static int play_again(const struct request *request, const struct maar_scenario *scenario,
                      struct maar_simulation **ret, struct maar_error *err)
{
    struct maar_simulation_options options = request->options;
    if (!request->shuffles && request->edits.items.n == 0)
        return 0;
    options.shuffle = request->shuffles;
    options.seed = request->seed;
    options.edits = request->shuffles ? NULL : &request->edits;
    return play(scenario, &options, ret, err);
}

static int run(struct request *request, const struct maar_scenario *scenario,
               struct maar_error *err)
{
    struct maar_simulation *simulation = NULL, *second = NULL;
    int rc = play(scenario, &request->options, &simulation, err);
    if (rc == 0)
        rc = play_again(request, scenario, &second, err);
    if (rc < 0 && request->edits.items.n > 0 && simulation)
        rc = maar_error_wrap(err, rc, "--what-if");
    if (rc == 0 && request->shuffles) {
        json_t *plain = maar_report_create(simulation), *other = maar_report_create(second);
        compare_runs(plain, other, request->seed, maar_simulation_violations(second));
        json_decref(plain);
        json_decref(other);
    }
    int code = MAAR_EXIT_INPUT;
    if (request->last_progress_ns)
        fputs("\r\033[K", stderr);
    if (rc == 0 && request->shuffles)
        code = finish(request, scenario, second, NULL);
    else if (rc == 0)
        code = finish(request, scenario, simulation, second);
    maar_simulation_destroy(simulation);
    maar_simulation_destroy(second);
    return code;
}

static int load_modules(const struct request *request, struct maar_registry *registry,
                        struct maar_error *err)
{
    int rc = maar_registry_load_builtin(registry, err);
    if (rc == 0 && request->plugins_dir)
        rc = maar_registry_load_plugins(registry, request->plugins_dir, err);
    return rc;
}

/* Once, for it may be a pipe; the simulation parses it for each scheduler that it starts. */
static int read_conf(struct request *request, char **ret_text, struct maar_error *err)
{
    size_t n = 0;
    if (!request->options.conf_path)
        return 0;
    int rc = maar_file_read(request->options.conf_path, MAX_CONF_BYTES, ret_text, &n, err);
    if (rc < 0)
        return rc;
    if (strlen(*ret_text) != n)
        return maar_error_set(err, -EINVAL, "%s: a NUL byte in it; expected text",
                              request->options.conf_path);
    request->options.conf_text = *ret_text;
    if (strcmp(request->options.conf_path, "-") == 0)
        request->options.conf_path = "<stdin>";
    return 0;
}

static int simulate(struct request *request)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_scenario *scenario = NULL;
    struct maar_simulation_link *link = NULL;
    struct maar_registry *registry = maar_registry_create();
    int code = MAAR_EXIT_INPUT;
    maar_autofree char *conf = NULL;
    int rc = load_modules(request, registry, &err);
    if (rc == 0)
        rc = read_conf(request, &conf, &err);
    if (rc == 0)
        rc = maar_scenario_read(request->files.data, request->files.n, &scenario, &err);
    if (rc == 0)
        maar_simulate_warn_scenario(scenario);
    if (request->via_api)
        link = maar_simulate_link_create();
    request->options.registry = registry;
    request->options.link = link;
    if (isatty(STDERR_FILENO)) {
        request->options.progress = show_progress;
        request->options.progress_context = &request->last_progress_ns;
    }
    if (rc == 0)
        code = run(request, scenario, &err);
    if (*err.text) {
        maar_autofree char *text = maar_simulate_escape(err.text, false);
        fprintf(stderr, "maarctl simulate: %s\n", text);
    }
    maar_scenario_destroy(scenario);
    maar_simulate_link_destroy(link);
    maar_registry_destroy(registry);
    return code;
}

int maar_cli_simulate(int argc, char **argv)
{
    struct request request = {.output = OUTPUT_TABLE};
    maar_log_set_verbosity(-1);
    int code = read_arguments(&request, argc, argv);
    if (code < 0)
        code = simulate(&request);
    maar_vec_fini(&request.files);
    maar_vec_fini(&request.explains);
    maar_edits_fini(&request.edits);
    return code;
}
