// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// `maarctl cluster up`: the embedded cluster in real time. No scheduler is inside.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/simulate_table.h"
#include "cli/simulate_warnings.h"
#include "serve/api_server.h"
#include "sim/scenario.h"
#include "wire/wire.h"

#define TICK_MS 50
/* Changes of a kind that a watch may be behind. */
#define LOG_LIMIT            200000
#define MAX_KUBECONFIG_BYTES (1024u * 1024)

static const char usage[] =
    "Usage: maarctl cluster up [OPTION...]\n"
    "\n"
    "Serves an embedded cluster as a Kubernetes API on 127.0.0.1 until SIGINT or SIGTERM.\n"
    "Simulated kubelets run what is bound; controllers make the pods of Deployments, "
    "StatefulSets,\n"
    "Jobs and Volcano's Jobs. Start maar-scheduler --kubeconfig FILE beside it.\n"
    "\n"
    "      --port PORT          where to listen (default: any free port)\n"
    "      --kubeconfig FILE    written when the server is ready (default ./kubeconfig.maar);\n"
    "                           a file that something else wrote is left alone\n"
    "  -f, --filename FILE      manifests or a scenario to begin with; more than once\n"
    "      --no-kubelet         bound pods stay Pending until somebody writes their status\n"
    "  -h, --help               this text\n"
    "\n"
    "Exit status: 0 ended by a signal, 1 the port is taken or the file cannot be written, 2 bad "
    "input.\n";

struct request {
    MAAR_VEC(const char *) files;
    unsigned port;
    const char *kubeconfig;
    bool no_kubelet;
};

/* -1: go on. */
static int read_arguments(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'},     {"kubeconfig", required_argument, NULL, 'k'},
        {"filename", required_argument, NULL, 'f'}, {"no-kubelet", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    static char name[] = "maarctl cluster"; /* for what getopt complains of */
    int option;
    optind = 1;
    argv[0] = name;
    while ((option = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
        char *end = NULL;
        unsigned long port = 0;
        switch (option) {
        case 'p':
            port = strtoul(optarg, &end, 10);
            if (*end || end == optarg || port > 65535) {
                fprintf(stderr, "maarctl cluster: --port %s: expected a number up to 65535\n",
                        optarg);
                return MAAR_EXIT_INPUT;
            }
            request->port = (unsigned)port;
            break;
        case 'k':
            request->kubeconfig = optarg;
            break;
        case 'f':
            maar_vec_push(&request->files, optarg);
            break;
        case 'n':
            request->no_kubelet = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return MAAR_EXIT_OK;
        default:
            fputs("Try: maarctl cluster --help\n", stderr);
            return MAAR_EXIT_INPUT;
        }
    }
    for (; optind < argc; optind++)
        maar_vec_push(&request->files, argv[optind]);
    return -1;
}

static int load(struct maar_cluster *cluster, const struct request *request, struct maar_error *err)
{
    struct maar_scenario *scenario = NULL;
    int rc = maar_scenario_read(request->files.data, request->files.n, &scenario, err);
    /* Classes first: a dump may list pods before them. */
    for (int turn = 0; rc == 0 && turn < 2; turn++) {
        for (size_t i = 0; rc == 0 && i < scenario->manifests.n; i++) {
            const struct maar_scenario_manifest *manifest = &scenario->manifests.data[i];
            const char *kind = json_string_value(json_object_get(manifest->document, "kind"));
            if ((strcmp(kind, "PriorityClass") == 0) != (turn == 0))
                continue;
            rc = maar_cluster_add(cluster, manifest->document, err);
            if (rc < 0)
                maar_error_wrap(err, rc, "%s:%d", manifest->field.file->path,
                                maar_field_line(&manifest->field));
        }
    }
    maar_cluster_complete(cluster);
    if (rc == 0)
        maar_simulate_warn_scenario(scenario);
    maar_scenario_destroy(scenario);
    return rc;
}

static void make_token(char token[33])
{
    unsigned char bytes[16] = {0};
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, (int)(getpid() & 0xff), sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

/* The whole of a kubeconfig that we wrote, perhaps rewritten by kubectl: one context, ours. */
static int check_own(void *context, json_t *document, int line, struct maar_error *err)
{
    bool *own = context;
    const json_t *contexts = json_object_get(document, "contexts");
    const char *name = json_string_value(json_object_get(json_array_get(contexts, 0), "name"));
    (void)line;
    (void)err;
    *own = json_array_size(contexts) == 1 && name && strcmp(name, "maar") == 0;
    return 0;
}

/* Nobody's credentials are overwritten: a file that is there must be of our own making, or empty. */
static int check_kubeconfig(const char *path, struct maar_error *err)
{
    struct stat status;
    maar_autofree char *text = NULL;
    size_t n = 0;
    bool own = false;
    if (stat(path, &status) < 0 && errno == ENOENT)
        return 0;
    if (!S_ISREG(status.st_mode))
        return maar_error_set(err, -EINVAL, "--kubeconfig %s: this is no regular file", path);
    if (status.st_size == 0)
        return 0;
    if (maar_file_read(path, MAX_KUBECONFIG_BYTES, &text, &n, NULL) < 0 ||
        maar_wire_yaml_each(text, n, path, check_own, &own, NULL) < 0 || !own)
        return maar_error_set(err, -EEXIST,
                              "--kubeconfig %s: the file is there and was not written by this "
                              "command; name another, or remove it",
                              path);
    return 0;
}

/* Appears complete or not at all. */
static int write_kubeconfig(const char *path, const char *text, struct maar_error *err)
{
    maar_autofree char *draft = maar_asprintf("%s.%ld.new", path, (long)getpid());
    maar_autoclose int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t n = strlen(text);
    if (fd >= 0 && write(fd, text, n) == (ssize_t)n && rename(draft, path) == 0)
        return 0;
    int code = errno ? errno : EIO;
    if (fd >= 0)
        unlink(draft);
    return maar_error_set(err, -code, "%s: %s", path, strerror(code));
}

static void serve_until_signal(struct maar_cluster *cluster, const sigset_t *signals)
{
    const struct timespec tick = {0, TICK_MS * MAAR_MILLISECOND_NS};
    struct maar_store *store = maar_cluster_store(cluster);
    while (sigtimedwait(signals, NULL, &tick) < 0) {
        maar_store_lock(store);
        maar_cluster_tick(cluster, maar_clock_wall_ns());
        maar_store_unlock(store);
    }
}

static int serve(const struct request *request, struct maar_cluster *cluster,
                 const sigset_t *signals, struct maar_error *err)
{
    char token[33];
    make_token(token);
    const struct maar_api_server_options options = {cluster, request->port, token, true};
    struct maar_api_server *server = NULL;
    int rc = maar_api_server_start(&options, &server, err);
    if (rc < 0)
        return rc;
    unsigned port = maar_api_server_port(server);
    maar_autofree char *kubeconfig = maar_api_server_kubeconfig(port, token);
    rc = write_kubeconfig(request->kubeconfig, kubeconfig, err);
    if (rc == 0) {
        printf("cluster at http://127.0.0.1:%u, kubeconfig %s\n", port, request->kubeconfig);
        fflush(stdout);
        serve_until_signal(cluster, signals);
    }
    maar_api_server_stop(server);
    return rc;
}

static int up(const struct request *request)
{
    struct maar_error err = MAAR_ERROR_INIT;
    const struct maar_cluster_options options = {
        .start_ns = maar_clock_wall_ns(),
        .period_ns = MAAR_SECOND_NS,
        .kubelets = {.termination_delay = 1},
        .has_kubelets = !request->no_kubelet,
    };
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct maar_cluster *cluster = maar_cluster_create(&options);
    maar_store_set_log_limit(maar_cluster_store(cluster), LOG_LIMIT);
    int code = MAAR_EXIT_INPUT;
    int rc = check_kubeconfig(request->kubeconfig, &err);
    if (rc == 0)
        rc = load(cluster, request, &err);
    if (rc == 0) {
        rc = serve(request, cluster, &signals, &err);
        code = rc < 0 ? MAAR_EXIT_NO : MAAR_EXIT_OK;
    }
    maar_cluster_destroy(cluster);
    if (rc < 0) {
        maar_autofree char *text = maar_simulate_escape(err.text, false);
        fprintf(stderr, "maarctl cluster: %s\n", text);
    }
    return code;
}

int maar_cli_cluster(int argc, char **argv)
{
    struct request request = {.kubeconfig = "./kubeconfig.maar"};
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return MAAR_EXIT_OK;
    }
    if (argc < 2 || strcmp(argv[1], "up") != 0) {
        fputs("maarctl cluster: expected up\nTry: maarctl cluster --help\n", stderr);
        return MAAR_EXIT_INPUT;
    }
    int code = read_arguments(&request, argc - 1, argv + 1);
    if (code < 0)
        code = up(&request);
    maar_vec_fini(&request.files);
    return code;
}
