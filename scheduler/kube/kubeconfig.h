/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_KUBECONFIG_H
#define MAAR_KUBE_KUBECONFIG_H

/* Where the API server is and who we are there: from a kubeconfig file, from the service account of a pod, or from
 * an address alone. */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct maar_kube_config {
    char *server;          /* "https://host:port", perhaps with a path; no '/' at the end */
    char *ca_pem;          /* NULL: the system's roots */
    bool insecure;         /* the server's certificate is not checked */
    char *tls_server_name; /* NULL: the host of `server` */
    char *proxy_url;       /* NULL: as the environment says */
    char *client_cert_pem; /* NULL without */
    char *client_key_pem;
    char *token;      /* NULL without; not set when token_file is */
    char *token_file; /* read again now and then, since its content expires */
    /* Files that are named but not read yet (maar_kube_config_read_files); NULL else. */
    char *ca_file;
    char *client_cert_file;
    char *client_key_file;
};

/* The text of a kubeconfig: the current context's cluster and user. Reads no other file; `source` names the file in
 * messages. -EINVAL with "file:line:column: key: what is wrong". */
int maar_kube_config_parse(const char *text, size_t n, const char *source,
                           struct maar_kube_config **ret_config, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Reads the files that are named; relative paths start at `folder`. Checks that certificate and key come together
 * and that the token file can be read. */
int maar_kube_config_read_files(struct maar_kube_config *config, const char *folder,
                                struct maar_error *err) __attribute__((warn_unused_result));
/* The service account of the pod that we run in. -ENOENT outside of a cluster. `folder` NULL: the usual one. */
int maar_kube_config_in_cluster(const char *folder, struct maar_kube_config **ret_config,
                                struct maar_error *err) __attribute__((warn_unused_result));
/* What the flags --kubeconfig and --master ("" or NULL: not given) mean: the file, with the address replaced by
 * `master`; the address alone; or, with neither, the service account. */
int maar_kube_config_load(const char *kubeconfig, const char *master,
                          struct maar_kube_config **ret_config, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Accepts NULL. */
void maar_kube_config_destroy(struct maar_kube_config *config);

#endif
