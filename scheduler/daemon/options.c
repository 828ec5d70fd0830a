/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* One table says each flag's form, where its value goes and what --help says. Flags that Volcano has and maar does
 * not use carry a note instead, which is logged when such a flag is given: nothing a user sets is dropped in
 * silence. */

#include "daemon/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum form {
    FORM_TEXT,
    FORM_TEXTS, /* repeatable */
    FORM_BOOL,
    FORM_INT,
    FORM_NUMBER,
    FORM_DURATION,
    FORM_FEATURES,
};

enum group {
    GROUP_CLUSTER,
    GROUP_SCHEDULING,
    GROUP_ELECTION,
    GROUP_SERVING,
    GROUP_PROCESS,
    GROUP_ACCEPTED, /* not in the main help */
};

#define NOWHERE ((size_t)-1)

struct flag {
    const char *name;
    enum form form;
    enum group group;
    size_t at; /* in struct maar_options */
    const char *help;
    const char *note; /* logged when the flag is given; NULL: it works */
};

#define AT(field) offsetof(struct maar_options, field)

static const char not_sampled[] = "maar looks at every node";
static const char logs_stderr[] = "logs go to standard error, one line a message";

static const struct flag flags[] = {
    {"kubeconfig", FORM_TEXT, GROUP_CLUSTER, AT(kubeconfig),
     "kubeconfig file; without it and --master, the pod's service account", NULL},
    {"master", FORM_TEXT, GROUP_CLUSTER, AT(master),
     "address of the API server; overrides the kubeconfig's", NULL},
    {"kube-api-qps", FORM_NUMBER, GROUP_CLUSTER, AT(kube_api_qps),
     "writes a second (2000; 0: no limit)", NULL},
    {"kube-api-burst", FORM_INT, GROUP_CLUSTER, AT(kube_api_burst),
     "writes at once above that rate (2000)", NULL},
    {"max-writes-in-flight", FORM_INT, GROUP_CLUSTER, AT(max_in_flight),
     "writes that wait for their answers (64)", NULL},

    {"scheduler-conf", FORM_TEXT, GROUP_SCHEDULING, AT(scheduler_conf),
     "scheduler.conf; read again when it changes; without it, the built-in one", NULL},
    {"disable-default-scheduler-config", FORM_BOOL, GROUP_SCHEDULING, AT(disable_default_conf),
     "stop when scheduler.conf cannot be used, instead of taking the built-in one", NULL},
    {"scheduler-name", FORM_TEXTS, GROUP_SCHEDULING, AT(scheduler_names),
     "pods whose schedulerName this is are ours (volcano); may be repeated", NULL},
    {"schedule-period", FORM_DURATION, GROUP_SCHEDULING, AT(schedule_period_ns),
     "longest pause while something waits (1s); changes start a session at once", NULL},
    {"default-queue", FORM_TEXT, GROUP_SCHEDULING, AT(default_queue),
     "queue of PodGroups that name none (default); made when it is missing", NULL},
    {"plugins-dir", FORM_TEXT, GROUP_SCHEDULING, AT(plugins_dir),
     "folder with plugins of your own (*.so)", NULL},
    {"feature-gates", FORM_FEATURES, GROUP_SCHEDULING, AT(features),
     "Name=true,…; read is SchedulingGatesQueueAdmission (false), see docs/user-guide.md", NULL},
    {"gate-removal-worker-num", FORM_INT, GROUP_SCHEDULING, AT(gate_removal_workers),
     "200 scheduling gates for each are removed at the same time (5)", NULL},
    {"check-ledger", FORM_BOOL, GROUP_SCHEDULING, AT(check_ledger),
     "recount all sums after each session; for finding bugs", NULL},

    {"enable-metrics", FORM_BOOL, GROUP_SERVING, AT(enable_metrics),
     "serve /metrics at --listen-address", NULL},
    {"listen-address", FORM_TEXT, GROUP_SERVING, AT(listen_address), "where /metrics is (:8080)",
     NULL},
    {"enable-healthz", FORM_BOOL, GROUP_SERVING, AT(enable_healthz),
     "serve /healthz and /readyz at --healthz-address", NULL},
    {"healthz-address", FORM_TEXT, GROUP_SERVING, AT(healthz_address),
     "where /healthz and /readyz are (:11251)", NULL},
    {"stall-timeout", FORM_DURATION, GROUP_SERVING, AT(stall_timeout_ns),
     "/healthz fails when a session takes longer (1m; 0: never)", NULL},
    {"tls-cert-file", FORM_TEXT, GROUP_SERVING, AT(tls_cert_file),
     "certificate for --healthz-address, PEM; needs the other two files", NULL},
    {"tls-private-key-file", FORM_TEXT, GROUP_SERVING, AT(tls_private_key_file), "its key, PEM",
     NULL},
    {"ca-cert-file", FORM_TEXT, GROUP_SERVING, AT(ca_cert_file),
     "switches TLS on, as with Volcano; clients are not asked for certificates", NULL},
    {"explain-address", FORM_TEXT, GROUP_SERVING, AT(explain_address),
     "where /explain and /configz are (127.0.0.1:11252, \"\": nowhere)", NULL},

    {"v", FORM_INT, GROUP_PROCESS, AT(verbosity),
     "verbosity of the log (0); 4 and above show details", NULL},
    {"version", FORM_BOOL, GROUP_PROCESS, AT(version), "print the version and exit", NULL},
    {"help", FORM_BOOL, GROUP_PROCESS, AT(help), "print this and exit", NULL},
    {"leader-elect", FORM_BOOL, GROUP_ELECTION, AT(leader_elect),
     "of several replicas the one that holds a Lease decides (true)", NULL},
    {"leader-elect-resource-namespace", FORM_TEXT, GROUP_ELECTION, AT(lease_ns),
     "namespace of the Lease (volcano-system)", NULL},
    {"leader-elect-resource-name", FORM_TEXT, GROUP_ELECTION, AT(lease_name), "its name (volcano)",
     NULL},
    {"leader-elect-lease-duration", FORM_DURATION, GROUP_ELECTION, AT(lease_duration_ns),
     "others take it when it was not renewed for so long (15s)", NULL},
    {"leader-elect-renew-deadline", FORM_DURATION, GROUP_ELECTION, AT(renew_deadline_ns),
     "a leader that cannot renew it for so long ends (10s)", NULL},
    {"leader-elect-retry-period", FORM_DURATION, GROUP_ELECTION, AT(retry_period_ns),
     "pause between attempts (2s)", NULL},
    {"leader-elect-resource-lock", FORM_TEXT, GROUP_ELECTION, AT(lease_lock),
     "kind of lock: leases, the only one", NULL},
    {"lock-object-namespace", FORM_TEXT, GROUP_ELECTION, AT(lock_object_namespace),
     "old name of --leader-elect-resource-namespace; goes before it", NULL},

    /* Volcano's others. */
    {"enable-pprof", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL,
     "profiles of Go programs do not exist here; use perf"},
    {"resync-period", FORM_DURATION, GROUP_ACCEPTED, NOWHERE, NULL,
     "watches resume exactly; nothing has to be replayed"},
    {"resource-sync-timeout", FORM_DURATION, GROUP_ACCEPTED, NOWHERE, NULL,
     "the first session waits for complete lists"},
    {"priority-class", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL,
     "priority classes are always read"},
    {"csi-storage", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, "storage is not scheduled yet"},
    {"ignored-provisioners", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL,
     "storage is not scheduled yet"},
    {"minimum-feasible-nodes", FORM_INT, GROUP_ACCEPTED, NOWHERE, NULL, not_sampled},
    {"minimum-percentage-nodes-to-find", FORM_INT, GROUP_ACCEPTED, NOWHERE, NULL, not_sampled},
    {"percentage-nodes-to-find", FORM_INT, GROUP_ACCEPTED, NOWHERE, NULL, not_sampled},
    {"node-worker-threads", FORM_INT, GROUP_ACCEPTED, NOWHERE, NULL,
     "nodes are read by one thread, which is enough"},
    {"node-selector", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL,
     "not applied yet: every node is used"},
    {"scheduler-sharding-mode", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL,
     "sharding is not built yet: every node is used"},
    {"scheduler-sharding-name", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL,
     "sharding is not built yet: every node is used"},
    {"cache-dumper", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, "dumps are not built yet"},
    {"cache-dump-dir", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL, "dumps are not built yet"},
    /* klog's. --logtostderr is what happens anyway, so it needs no word. */
    {"logtostderr", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, NULL},
    {"alsologtostderr", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, NULL},
    {"log-flush-frequency", FORM_DURATION, GROUP_ACCEPTED, NOWHERE, NULL, NULL},
    {"stderrthreshold", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"vmodule", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL,
     "verbosity is the same everywhere; use -v"},
    {"log-backtrace-at", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"log-dir", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"log-file", FORM_TEXT, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"log-file-max-size", FORM_INT, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"add-dir-header", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"one-output", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"skip-headers", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
    {"skip-log-headers", FORM_BOOL, GROUP_ACCEPTED, NOWHERE, NULL, logs_stderr},
};
#define N_FLAGS   (sizeof flags / sizeof flags[0])

#define NAME_SIZE 64

static const struct flag *find_flag(const char *name)
{
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (strcmp(flags[i].name, name) == 0)
            return &flags[i];
    }
    return strcmp(name, "h") == 0 ? find_flag("help") : NULL;
}

static int unknown_flag(const char *name, struct maar_error *err)
{
    const char *names[N_FLAGS + 1];
    const char *nearest;

    for (size_t i = 0; i < N_FLAGS; i++)
        names[i] = flags[i].name;
    names[N_FLAGS] = NULL;
    nearest = maar_text_nearest(name, names);
    if (nearest)
        return maar_error_set(err, -EINVAL, "unknown flag --%s; did you mean --%s?", name, nearest);
    return maar_error_set(err, -EINVAL, "unknown flag --%s; --help lists the flags", name);
}

/* ---- values ---- */

static int bad_value(const struct flag *flag, const char *value, const char *expected,
                     struct maar_error *err)
{
    return maar_error_set(err, -EINVAL, "--%s: expected %s, not \"%s\"", flag->name, expected,
                          value);
}

/* As Go's strconv.ParseBool. */
static int parse_bool(const char *value, bool *ret_truth)
{
    static const char *const truths[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const lies[] = {"0", "f", "F", "false", "FALSE", "False"};

    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        if (strcmp(value, truths[i]) == 0 || strcmp(value, lies[i]) == 0) {
            *ret_truth = strcmp(value, truths[i]) == 0;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_int(const char *value, int64_t *ret_number)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno || end == value || *end || number < INT32_MIN || number > INT32_MAX)
        return -EINVAL;
    *ret_number = number;
    return 0;
}

static int parse_number(const char *value, double *ret_number)
{
    char *end;

    *ret_number = strtod(value, &end);
    return end == value || *end || !(*ret_number >= -1e9 && *ret_number <= 1e9) ? -EINVAL : 0;
}

static int take_features(struct maar_options *options, const struct flag *flag, const char *value,
                         struct maar_feature_gates *gates, struct maar_error *err)
{
    struct maar_text unused = MAAR_TEXT_INIT;
    int r = maar_feature_gates_parse(gates, value, &unused, err);

    if (r < 0)
        r = maar_error_wrap(err, r, "--%s", flag->name);
    else if (unused.n)
        maar_vec_push(&options->warnings, maar_asprintf("--%s: %s: nothing depends on it here",
                                                        flag->name, maar_text_get(&unused)));
    maar_text_fini(&unused);
    return r;
}

static int take_value(struct maar_options *options, const struct flag *flag, const char *value,
                      struct maar_error *err)
{
    union {
        bool truth;
        int64_t integer;
        double number;
    } dropped;
    char *base = flag->at == NOWHERE ? NULL : (char *)options + flag->at;
    void *out = base ? (void *)base : (void *)&dropped;

    switch (flag->form) {
    case FORM_TEXT:
        if (base)
            *(const char **)out = value;
        return 0;
    case FORM_TEXTS:
        maar_vec_push(&options->scheduler_names, value);
        return 0;
    case FORM_BOOL:
        return parse_bool(value, out) < 0 ? bad_value(flag, value, "true or false", err) : 0;
    case FORM_INT:
        return parse_int(value, out) < 0 ? bad_value(flag, value, "a whole number", err) : 0;
    case FORM_NUMBER:
        return parse_number(value, out) < 0 ? bad_value(flag, value, "a number", err) : 0;
    case FORM_DURATION:
        return maar_duration_parse(value, out) < 0
                   ? bad_value(flag, value, "a duration such as 1s or 250ms", err)
                   : 0;
    case FORM_FEATURES:
        return take_features(options, flag, value, out, err);
    }
    return 0;
}

static void warn(struct maar_options *options, const struct flag *flag, const char *value)
{
    bool truth;

    /* Switching off what is not there is no news. */
    if (!flag->note || (flag->form == FORM_BOOL && parse_bool(value, &truth) == 0 && !truth))
        return;
    maar_vec_push(&options->warnings,
                  maar_asprintf("--%s has no effect: %s", flag->name, flag->note));
}

/* ---- the command line ---- */

/* The name of "--name=value" without dashes, '_' as '-', cut when it is longer than any; the value, NULL without. */
static void split(const char *word, char name[NAME_SIZE], const char **ret_value)
{
    size_t n;

    word += word[1] == '-' ? 2 : 1;
    n = strcspn(word, "=");
    *ret_value = word[n] ? word + n + 1 : NULL;
    if (n >= NAME_SIZE)
        n = NAME_SIZE - 1;
    memcpy(name, word, n);
    name[n] = '\0';
    for (char *c = name; *c; c++) {
        if (*c == '_')
            *c = '-';
    }
    /* -v4 */
    if (name[0] == 'v' && name[1] >= '0' && name[1] <= '9' && !*ret_value) {
        name[1] = '\0';
        *ret_value = word + 1;
    }
}

static int take_word(struct maar_options *options, int argc, char **argv, int *i,
                     struct maar_error *err)
{
    char name[NAME_SIZE];
    const char *value;
    const struct flag *flag;
    int r;

    split(argv[*i], name, &value);
    flag = find_flag(name);
    if (!flag)
        return unknown_flag(name, err);
    if (!value && flag->form == FORM_BOOL)
        value = "true";
    if (!value && *i + 1 >= argc)
        return maar_error_set(err, -EINVAL, "--%s needs a value", flag->name);
    if (!value)
        value = argv[++*i];
    r = take_value(options, flag, value, err);
    if (r == 0)
        warn(options, flag, value);
    return r;
}

/* A name that needs no escaping in a path: as the API server itself demands of names. */
static bool is_object_name(const char *name)
{
    size_t n = strlen(name);

    return n > 0 && n <= 253 && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")] &&
           name[0] != '.' && name[n - 1] != '.';
}

/* The rules of client-go. */
static int check_election(struct maar_options *options, struct maar_error *err)
{
    const char *ns_flag = "--leader-elect-resource-namespace";

    if (*options->lock_object_namespace) {
        options->lease_ns = options->lock_object_namespace;
        ns_flag = "--lock-object-namespace";
    }
    options->lease_duration_ns -= options->lease_duration_ns % MAAR_SECOND_NS;
    if (!options->leader_elect)
        return 0;
    if (!is_object_name(options->lease_ns) || strchr(options->lease_ns, '.'))
        return maar_error_set(err, -EINVAL, "%s: expected the name of a namespace, not \"%s\"",
                              ns_flag, options->lease_ns);
    if (!is_object_name(options->lease_name))
        return maar_error_set(
            err, -EINVAL, "--leader-elect-resource-name: expected the name of a Lease, not \"%s\"",
            options->lease_name);
    if (strcmp(options->lease_lock, "leases") != 0)
        return maar_error_set(err, -EINVAL,
                              "--leader-elect-resource-lock: expected leases, not \"%s\"",
                              options->lease_lock);
    if (options->lease_duration_ns < MAAR_SECOND_NS)
        return maar_error_set(err, -EINVAL, "--leader-elect-lease-duration: at least 1s");
    if (options->retry_period_ns < MAAR_MILLISECOND_NS)
        return maar_error_set(err, -EINVAL, "--leader-elect-retry-period: at least 1ms");
    if (options->renew_deadline_ns >= options->lease_duration_ns)
        return maar_error_set(err, -EINVAL,
                              "--leader-elect-renew-deadline: less than "
                              "--leader-elect-lease-duration, of which whole seconds count");
    if (options->renew_deadline_ns / 6 * 5 <= options->retry_period_ns)
        return maar_error_set(err, -EINVAL,
                              "--leader-elect-renew-deadline: more than 1.2 times "
                              "--leader-elect-retry-period");
    return 0;
}

static int check(struct maar_options *options, struct maar_error *err)
{
    const char **name;

    MAAR_VEC_EACH (&options->scheduler_names, name) {
        if (!**name)
            return maar_error_set(err, -EINVAL, "--scheduler-name: empty");
    }
    if (!*options->default_queue)
        return maar_error_set(err, -EINVAL, "--default-queue: empty");
    if (options->schedule_period_ns < MAAR_MILLISECOND_NS)
        return maar_error_set(err, -EINVAL, "--schedule-period: at least 1ms");
    if (options->kube_api_burst < 1 && options->kube_api_qps > 0)
        return maar_error_set(err, -EINVAL, "--kube-api-burst: at least 1");
    if (options->stall_timeout_ns < 0)
        return maar_error_set(err, -EINVAL, "--stall-timeout: not below 0");
    if (options->max_in_flight < 1 || options->max_in_flight > 1000)
        return maar_error_set(err, -EINVAL, "--max-writes-in-flight: from 1 to 1000");
    return check_election(options, err);
}

int maar_options_parse(struct maar_options *options, int argc, char **argv, struct maar_error *err)
{
    int r = 0;

    *options = (struct maar_options){
        .master = "",
        .kubeconfig = "",
        .scheduler_conf = "",
        .default_queue = "default",
        .schedule_period_ns = MAAR_SECOND_NS,
        .kube_api_qps = 2000,
        .kube_api_burst = 2000,
        .max_in_flight = 64,
        .gate_removal_workers = 5,
        .plugins_dir = "",
        .listen_address = ":8080",
        .healthz_address = ":11251",
        .ca_cert_file = "",
        .tls_cert_file = "",
        .tls_private_key_file = "",
        .stall_timeout_ns = 60 * MAAR_SECOND_NS,
        .leader_elect = true,
        .lease_duration_ns = 15 * MAAR_SECOND_NS,
        .renew_deadline_ns = 10 * MAAR_SECOND_NS,
        .retry_period_ns = 2 * MAAR_SECOND_NS,
        .lease_lock = "leases",
        .lease_name = "volcano",
        .lease_ns = "volcano-system",
        .lock_object_namespace = "",
    };
    for (int i = 1; i < argc && r == 0; i++) {
        if (strcmp(argv[i], "--") == 0)
            break;
        /* Stray words such as the "2>&1" of Volcano's chart. */
        if (argv[i][0] == '-' && argv[i][1])
            r = take_word(options, argc, argv, &i, err);
    }
    if (r == 0) {
        if (!options->scheduler_names.n)
            maar_vec_push(&options->scheduler_names, "volcano");
        r = check(options, err);
        maar_vec_push(&options->scheduler_names, NULL);
    }
    if (r < 0)
        maar_options_fini(options);
    return r;
}

void maar_options_fini(struct maar_options *options)
{
    char **warning;

    MAAR_VEC_EACH (&options->warnings, warning)
        free(*warning);
    maar_vec_fini(&options->warnings);
    maar_vec_fini(&options->scheduler_names);
}

static void add_value(struct maar_text *out, const struct maar_options *options,
                      const struct flag *flag)
{
    const void *at = (const char *)options + flag->at;

    switch (flag->form) {
    case FORM_TEXT:
        maar_text_add(out, *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case FORM_TEXTS:
        for (size_t i = 0; i + 1 < options->scheduler_names.n; i++)
            maar_text_addf(out, "%s%s", i > 0 ? "," : "", options->scheduler_names.data[i]);
        break;
    case FORM_BOOL:
        maar_text_add(out, *(const bool *)at ? "true" : "false");
        break;
    case FORM_INT:
        maar_text_addf(out, "%lld", (long long)*(const int64_t *)at);
        break;
    case FORM_NUMBER:
        maar_text_addf(out, "%g", *(const double *)at);
        break;
    case FORM_DURATION:
        maar_text_addf(out, "%gs", (double)*(const int64_t *)at / (double)MAAR_SECOND_NS);
        break;
    case FORM_FEATURES:
        maar_text_addf(out, "SchedulingGatesQueueAdmission=%s",
                       ((const struct maar_feature_gates *)at)->queue_admission ? "true" : "false");
        break;
    }
}

void maar_options_each(const struct maar_options *options, maar_option_fn each, void *context)
{
    struct maar_text value = MAAR_TEXT_INIT;

    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].at == NOWHERE)
            continue;
        maar_text_clear(&value);
        add_value(&value, options, &flags[i]);
        each(context, flags[i].name, maar_text_get(&value));
    }
    maar_text_fini(&value);
}

static void help_group(struct maar_text *out, enum group group, const char *title)
{
    static const char *const values[] = {
        [FORM_TEXT] = "TEXT",
        [FORM_TEXTS] = "NAME",
        [FORM_BOOL] = "",
        [FORM_INT] = "N",
        [FORM_NUMBER] = "N",
        [FORM_DURATION] = "TIME",
        [FORM_FEATURES] = "NAME=BOOL,…",
    };

    maar_text_addf(out, "\n%s\n", title);
    for (size_t i = 0; i < N_FLAGS; i++) {
        const struct flag *flag = &flags[i];
        char left[NAME_SIZE];

        if (flag->group != group)
            continue;
        snprintf(left, sizeof left, "%s%s%s%s", flag->name[1] ? "--" : "-", flag->name,
                 *values[flag->form] ? "=" : "", values[flag->form]);
        maar_text_addf(out, "  %-38s %s\n", left, flag->help);
    }
}

void maar_options_help(struct maar_text *out)
{
    size_t column = 0;

    maar_text_add(out,
                  "maar-scheduler: a gang scheduler for Kubernetes, in the place of Volcano's\n"
                  "\nUsage: maar-scheduler [--kubeconfig=FILE] [--scheduler-conf=FILE] [flags]\n");
    help_group(out, GROUP_CLUSTER, "The cluster");
    help_group(out, GROUP_SCHEDULING, "Scheduling");
    help_group(out, GROUP_ELECTION, "Several replicas");
    help_group(out, GROUP_SERVING, "Serving HTTP");
    help_group(out, GROUP_PROCESS, "The process");
    maar_text_add(out,
                  "\nVolcano's other flags are accepted; the log says what becomes of them:\n");
    for (size_t i = 0; i < N_FLAGS; i++) {
        size_t n = strlen(flags[i].name) + 3;

        if (flags[i].group != GROUP_ACCEPTED)
            continue;
        if (column && column + n > 96) {
            maar_text_add(out, "\n");
            column = 0;
        }
        maar_text_addf(out, "%s--%s", column ? " " : "  ", flags[i].name);
        column += n;
    }
    maar_text_add(out, "\n\nIn flag names _ and - are the same.\n");
}
