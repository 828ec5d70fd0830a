/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* maar-scheduler: the engine over a Kubernetes API server. Exit status: 0 after SIGINT or SIGTERM, 1 when it cannot
 * start, 2 for a wrong command line, 255 (as Volcano's) when it has led and must not any more. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "conf/conf.h"
#include "daemon/conf_file.h"
#include "daemon/identity.h"
#include "daemon/options.h"
#include "daemon/serving.h"
#include "daemon/settle.h"
#include "daemon/signals.h"
#include "engine/engine.h"
#include "host/registry.h"
#include "kube/client.h"

#define LOOK_AT_CONF_NS MAAR_SECOND_NS

/* All that waits is tried, whatever is remembered of refusals. */
#define FULL_RETRY_NS (60 * MAAR_SECOND_NS)

/* For answers to what is sent, and for giving up the Lease; well within a pod's time to end. */
#define RESIGN_NS (8 * MAAR_SECOND_NS)

#define EXIT_LOST 255

struct daemon {
    struct maar_options options;
    struct maar_registry *registry;
    struct maar_kube_config *config;
    struct maar_backend kube;
    struct maar_settle settle;
    struct maar_conf_file conf_file;
    struct maar_engine *engine;
    char *identity;
    bool leads;
    struct maar_serving *serving;
    bool conf_valid; /* the file's is in force */
    bool synced;
    int64_t looked_at_conf_ns;
};

static void wake(void *context)
{
    maar_kube_wake(context);
}

/* ---- start ---- */

static int load_modules(struct daemon *daemon, struct maar_error *err)
{
    int r;

    daemon->registry = maar_registry_create();
    r = maar_registry_load_builtin(daemon->registry, err);
    if (r < 0)
        return maar_error_wrap(err, r, "built-in modules");
    if (!*daemon->options.plugins_dir)
        return 0;
    r = maar_registry_load_plugins(daemon->registry, daemon->options.plugins_dir, err);
    return r < 0 ? maar_error_wrap(err, r, "--plugins-dir") : 0;
}

/* A scheduler.conf that cannot be used leaves the built-in one in force, as with Volcano, unless that was ruled out. */
static int read_conf(struct daemon *daemon, struct maar_conf **ret_conf, struct maar_error *err)
{
    int r;

    daemon->conf_file = (struct maar_conf_file){.path = daemon->options.scheduler_conf,
                                                .registry = daemon->registry};
    if (!*daemon->conf_file.path) {
        if (daemon->options.disable_default_conf)
            return maar_error_set(err, -EINVAL,
                                  "--disable-default-scheduler-config needs --scheduler-conf");
        *ret_conf = maar_conf_default();
        daemon->conf_valid = true;
        return 0;
    }
    r = maar_conf_file_read(&daemon->conf_file, ret_conf, err);
    daemon->conf_valid = r == 0;
    if (r < 0 && !daemon->options.disable_default_conf) {
        maar_log_error("%s; the built-in configuration is used until this is mended",
                       maar_error_text(err));
        *ret_conf = maar_conf_default();
        r = 0;
    }
    return r;
}

static int connect_to_cluster(struct daemon *daemon, struct maar_error *err)
{
    const struct maar_options *options = &daemon->options;
    /* Volcano's rule for its name in events. */
    const char *component =
        options->scheduler_names.n == 2 ? options->scheduler_names.data[0] : "volcano";
    struct maar_election_options election = {
        .ns = options->lease_ns,
        .name = options->lease_name,
        .component = component,
        .lease_duration_ns = options->lease_duration_ns,
        .renew_deadline_ns = options->renew_deadline_ns,
        .retry_period_ns = options->retry_period_ns,
    };
    struct maar_kube_options kube = {
        .decode = maar_engine_decode_options(daemon->registry),
        .qps = options->kube_api_qps,
        .burst = (double)options->kube_api_burst,
        .max_in_flight = (unsigned)options->max_in_flight,
        .component = component,
        .election = options->leader_elect ? &election : NULL,
    };
    int r = maar_kube_config_load(options->kubeconfig, options->master, &daemon->config, err);

    if (r < 0)
        return r;
    daemon->leads = !options->leader_elect;
    election.identity = daemon->identity = maar_identity_create();
    kube.config = daemon->config;
    return maar_kube_backend_create(&kube, &daemon->kube, err);
}

static int create_engine(struct daemon *daemon, struct maar_error *err)
{
    const struct maar_options *options = &daemon->options;
    struct maar_engine_options engine = {
        .registry = daemon->registry,
        .scheduler_names = options->scheduler_names.data,
        .default_queue = options->default_queue,
        .create_queues = true,
        .check = options->check_ledger,
        .features = options->features,
        .gate_removal_workers = options->gate_removal_workers,
        .stands_by = options->leader_elect,
        .full_retry_ns = FULL_RETRY_NS,
    };
    struct maar_backend backend;
    int r = read_conf(daemon, &engine.conf, err);

    if (r < 0)
        return r;
    backend = maar_settle_init(&daemon->settle, daemon->kube, options->schedule_period_ns);
    daemon->serving = maar_serving_create(options, &daemon->settle, &engine, wake, &daemon->kube);
    daemon->engine = maar_engine_create(&engine, backend, err);
    return daemon->engine ? maar_serving_start(daemon->serving, daemon->engine, err) : -EINVAL;
}

static int start(struct daemon *daemon, struct maar_error *err)
{
    int r = maar_signals_start(err);

    if (r == 0)
        r = load_modules(daemon, err);
    if (r == 0)
        r = connect_to_cluster(daemon, err);
    if (r == 0)
        r = create_engine(daemon, err);
    if (r < 0)
        return r;
    maar_log_info("maar-scheduler %s starts: %s, %zu plugins, %zu actions", MAAR_VERSION,
                  daemon->config->server, maar_registry_n_plugins(daemon->registry),
                  maar_registry_n_actions(daemon->registry));
    maar_signals_on_stop(wake, &daemon->kube);
    return maar_engine_start(daemon->engine, err);
}

/* ---- running ---- */

static void report(struct daemon *daemon, const struct maar_turn *turn)
{
    size_t *n = daemon->settle.n_writes;

    if (turn->synced && !daemon->synced) {
        daemon->synced = true;
        maar_log_info("synced: every list is in");
    }
    if (turn->session && n[MAAR_WRITE_BIND] + n[MAAR_WRITE_EVICT])
        maar_log_info("session: %zu binds, %zu evictions in %.2f ms", n[MAAR_WRITE_BIND],
                      n[MAAR_WRITE_EVICT], (double)turn->session_ns / (double)MAAR_MILLISECOND_NS);
    else if (turn->session)
        maar_log_debug("session: %zu writes in %.2f ms after %zu changes", turn->n_writes,
                       (double)turn->session_ns / (double)MAAR_MILLISECOND_NS, turn->n_deltas);
    memset(n, 0, sizeof daemon->settle.n_writes);
}

static void reread_conf(struct daemon *daemon)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_conf *conf = NULL;
    int64_t now_ns = maar_clock_mono_ns();

    if (now_ns - daemon->looked_at_conf_ns < LOOK_AT_CONF_NS)
        return;
    daemon->looked_at_conf_ns = now_ns;
    if (!maar_conf_file_has_changed(&daemon->conf_file))
        return;
    daemon->conf_valid = maar_conf_file_read(&daemon->conf_file, &conf, &err) == 0 &&
                         maar_engine_set_conf(daemon->engine, conf, &err) == 0;
    if (!daemon->conf_valid)
        maar_log_error("%s; the former configuration stays in force", maar_error_text(&err));
    else
        maar_log_info("%s was read again", daemon->conf_file.path);
}

/* False when another may lead: what we know and have decided is not to be acted on. */
static bool follow_election(struct daemon *daemon)
{
    enum maar_leadership leadership = maar_kube_leadership(&daemon->kube);

    if (leadership == MAAR_LEADS && !daemon->leads) {
        daemon->leads = true;
        maar_log_info("%s leads", daemon->identity);
        maar_engine_take_over(daemon->engine);
        maar_kube_wake(&daemon->kube); /* for the first session no delta has to come */
    }
    return leadership != MAAR_LOST;
}

/* 0, or the exit status. */
static int run(struct daemon *daemon)
{
    while (!maar_signals_stopping()) {
        struct maar_turn turn =
            maar_engine_turn(daemon->engine, daemon->options.schedule_period_ns, false);

        report(daemon, &turn);
        reread_conf(daemon);
        if (!follow_election(daemon)) {
            maar_log_error("leaderelection lost; ending, to begin anew as a follower");
            return EXIT_LOST;
        }
        maar_serving_turn(daemon->serving, &(struct maar_serving_state){turn.synced, daemon->leads,
                                                                        daemon->conf_valid});
    }
    return 0;
}

static void end(struct daemon *daemon)
{
    maar_signals_on_stop(NULL, NULL);
    if (daemon->kube.ops) {
        maar_kube_resign(&daemon->kube, RESIGN_NS);
        daemon->kube.ops->stop(daemon->kube.self);
    }
    maar_serving_destroy(daemon->serving);
    maar_engine_destroy(daemon->engine);
    maar_kube_backend_destroy(&daemon->kube);
    maar_kube_config_destroy(daemon->config);
    maar_registry_destroy(daemon->registry);
    free(daemon->identity);
    maar_options_fini(&daemon->options);
}

static int print_help(void)
{
    struct maar_text text = MAAR_TEXT_INIT;

    maar_options_help(&text);
    fputs(maar_text_get(&text), stdout);
    maar_text_fini(&text);
    return 0;
}

static void log_options(const struct maar_options *options)
{
    char *const *warning;

    MAAR_VEC_EACH (&options->warnings, warning)
        maar_log_warning("%s", *warning);
}

int main(int argc, char **argv)
{
    struct daemon daemon = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    int status = 1;
    int r = maar_options_parse(&daemon.options, argc, argv, &err);

    if (r < 0) {
        fprintf(stderr, "maar-scheduler: %s\n", maar_error_text(&err));
        return 2;
    }
    if (daemon.options.help || daemon.options.version) {
        r = daemon.options.help ? print_help() : printf("maar-scheduler %s\n", MAAR_VERSION) < 0;
        maar_options_fini(&daemon.options);
        return r;
    }
    maar_log_set_verbosity((int)daemon.options.verbosity);
    log_options(&daemon.options);
    r = start(&daemon, &err);
    if (r < 0)
        maar_log_error("%s", maar_error_text(&err));
    else
        status = run(&daemon);
    end(&daemon);
    if (status == 0)
        maar_log_info("stopped");
    return status;
}
