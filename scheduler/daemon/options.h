/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_OPTIONS_H
#define MAAR_DAEMON_OPTIONS_H

/* The command line of maar-scheduler: Volcano's flags, with '_' and '-' alike and stray words ignored, so that a
 * Deployment written for Volcano's scheduler starts it unchanged. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "engine/feature_gates.h"

struct maar_options {
    const char *master;
    const char *kubeconfig;
    const char *scheduler_conf;
    bool disable_default_conf;
    MAAR_VEC(const char *) scheduler_names; /* at least one, and a NULL at the end */
    const char *default_queue;
    int64_t schedule_period_ns;
    double kube_api_qps;
    int64_t kube_api_burst;
    int64_t max_in_flight;
    const char *plugins_dir;
    struct maar_feature_gates features;
    int64_t gate_removal_workers;
    /* Serving; addresses are HOST:PORT or :PORT. */
    bool enable_metrics;
    const char *listen_address;
    bool enable_healthz;
    const char *healthz_address;
    const char *ca_cert_file;
    const char *tls_cert_file;
    const char *tls_private_key_file;
    const char *explain_address; /* "": none; NULL: the usual one, if it is free */
    int64_t stall_timeout_ns;    /* 0: never */
    bool leader_elect;
    int64_t lease_duration_ns; /* whole seconds, as a Lease has them */
    int64_t renew_deadline_ns;
    int64_t retry_period_ns;
    const char *lease_lock; /* "leases" */
    const char *lease_name;
    const char *lease_ns;
    const char *lock_object_namespace; /* Volcano's old name for lease_ns; "" when not given */
    bool check_ledger;
    int64_t verbosity;
    bool version;
    bool help;
    /* Flags that were given and do nothing yet, or never will: one line each for the log. */
    MAAR_VEC(char *) warnings;
};

/* Texts stay those of argv. -EINVAL for an unknown flag (with the nearest known one) or a value of a wrong form. */
int maar_options_parse(struct maar_options *options, int argc, char **argv, struct maar_error *err)
    __attribute__((warn_unused_result));
void maar_options_fini(struct maar_options *options);
/* Calls back with the name and the value in force of each flag that has an effect. */
typedef void (*maar_option_fn)(void *context, const char *name, const char *value);
void maar_options_each(const struct maar_options *options, maar_option_fn each, void *context);
/* The text of --help. */
void maar_options_help(struct maar_text *out);

#endif
