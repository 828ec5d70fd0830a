/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* kubeconfig: the current context names a cluster and a user; of these come address, authorities and credentials.
 * Keys that change who we would be and that we cannot honour (exec, auth-provider, impersonation) are errors;
 * other unknown keys are ignored. Credentials never appear in messages. */

#include "kube/kubeconfig.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "kube/base64.h"
#include "wire/wire.h"

#define FILE_LIMIT       (1024 * 1024)
#define SERVICE_ACCOUNT  "/var/run/secrets/kubernetes.io/serviceaccount"
#define SHOWN_NAMES_SIZE 300

/* The document that is being read, and where to report. */
struct reader {
    const char *text;
    size_t n;
    const char *source;
    struct maar_error *err;
    struct maar_kube_config *config;
    size_t n_documents;
};

/* A map inside the document. */
struct section {
    const json_t *map;
    char path[64]; /* "users[2].user" */
};

static int fault(const struct reader *reader, const char *path, const char *what)
{
    int line = 0;
    int column = 0;

    if (maar_wire_yaml_locate(reader->text, reader->n, 0, path, &line, &column) < 0 && line <= 0)
        return maar_error_set(reader->err, -EINVAL, "%s: %s: %s", reader->source, path, what);
    return maar_error_set(reader->err, -EINVAL, "%s:%d:%d: %s: %s", reader->source, line, column,
                          path, what);
}

static int fault_at(const struct reader *reader, const struct section *section, const char *key,
                    const char *what)
{
    char path[128];

    snprintf(path, sizeof path, "%s%s%s", section->path, *section->path ? "." : "", key);
    return fault(reader, path, what);
}

/* The text of a key; *ret_text stays as it is when the key is absent, null or "". */
static int read_string(const struct reader *reader, const struct section *section, const char *key,
                       char **ret_text)
{
    const json_t *value = json_object_get(section->map, key);

    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return fault_at(reader, section, key, "expected a text; put it in quotes");
    if (strlen(json_string_value(value)) != json_string_length(value))
        return fault_at(reader, section, key, "the text holds a NUL character");
    if (json_string_length(value) == 0)
        return 0;
    free(*ret_text);
    *ret_text = maar_strdup(json_string_value(value));
    return 0;
}

static int check_pem(const char *pem)
{
    return strstr(pem, "-----BEGIN ") ? 0 : -EINVAL;
}

/* KEY-data (base64 of PEM) wins over KEY (a file), as in Kubernetes' own clients. */
static int read_pem(const struct reader *reader, const struct section *section, const char *key,
                    char **ret_pem, char **ret_file)
{
    char data_key[64];
    maar_autofree char *data = NULL;
    maar_autofree char *pem = NULL;
    size_t n = 0;
    int r;

    snprintf(data_key, sizeof data_key, "%s-data", key);
    r = read_string(reader, section, data_key, &data);
    if (r != 0)
        return r;
    if (!data)
        return read_string(reader, section, key, ret_file);
    if (maar_base64_decode(data, &pem, &n) < 0)
        return fault_at(reader, section, data_key, "not base64");
    if (strlen(pem) != n || check_pem(pem) < 0)
        return fault_at(reader, section, data_key, "not PEM (no -----BEGIN line)");
    free(*ret_pem);
    *ret_pem = pem;
    pem = NULL;
    return 0;
}

/* Fails on keys under which we would be somebody else than the user asked for. */
static int refuse_keys(const struct reader *reader, const struct section *user)
{
    static const struct {
        const char *key;
        const char *what;
    } refused[] = {
        {"exec",
         "credential plugins are not supported; use a token, a tokenFile or a client certificate"},
        {"auth-provider",
         "auth providers are not supported; use a token, a tokenFile or a client certificate"},
        {"as", "impersonation is not supported"},
        {"as-uid", "impersonation is not supported"},
        {"as-groups", "impersonation is not supported"},
        {"username", "basic authentication is not supported; use a token or a client certificate"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const json_t *value = json_object_get(user->map, refused[i].key);

        if (value && !json_is_null(value))
            return fault_at(reader, user, refused[i].key, refused[i].what);
    }
    return 0;
}

static void list_names(const json_t *entries, char names[SHOWN_NAMES_SIZE])
{
    size_t i;
    size_t n = 0;
    const json_t *entry;

    names[0] = '\0';
    json_array_foreach (entries, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "name"));
        int more;

        if (!name)
            continue;
        more = snprintf(names + n, SHOWN_NAMES_SIZE - n, "%s%s", n ? ", " : "", name);
        if (more < 0 || n + (size_t)more >= SHOWN_NAMES_SIZE)
            return;
        n += (size_t)more;
    }
}

/* The map `inner` of the entry of list `list` whose name is `name`. */
static int find_entry(const struct reader *reader, const json_t *root, const char *list,
                      const char *inner, const char *name, struct section *ret_section)
{
    const json_t *entries = json_object_get(root, list);
    const json_t *entry;
    char names[SHOWN_NAMES_SIZE];
    char what[SHOWN_NAMES_SIZE + 400];
    size_t i;

    if (!json_is_array(entries))
        return fault(reader, list, entries ? "expected a list" : "missing");
    json_array_foreach (entries, i, entry) {
        const char *found = json_string_value(json_object_get(entry, "name"));

        if (!found || strcmp(found, name) != 0)
            continue;
        snprintf(ret_section->path, sizeof ret_section->path, "%s[%zu].%s", list, i, inner);
        ret_section->map = json_object_get(entry, inner);
        if (!json_is_object(ret_section->map))
            return fault(reader, ret_section->path,
                         ret_section->map ? "expected a map" : "missing");
        return 0;
    }
    list_names(entries, names);
    snprintf(what, sizeof what, "no entry is named \"%.200s\"; there are: %s", name,
             names[0] ? names : "none");
    return fault(reader, list, what);
}

static void trim_slashes(char *server)
{
    size_t n = strlen(server);

    while (n && server[n - 1] == '/')
        server[--n] = '\0';
}

/* "host:port" alone means http, as kubectl takes it. */
static int check_server(char **server, const char **ret_what)
{
    const char *host;

    if (!strstr(*server, "://")) {
        char *full = maar_asprintf("http://%s", *server);

        free(*server);
        *server = full;
    }
    if (strncmp(*server, "https://", 8) == 0) {
        host = *server + 8;
    } else if (strncmp(*server, "http://", 7) == 0) {
        host = *server + 7;
    } else {
        *ret_what = "expected an http:// or https:// address";
        return -EINVAL;
    }
    if (!*host || *host == '/' || strpbrk(host, "?#@ \t\r\n\"<>\\^`{|}")) {
        *ret_what = "not an address of the form https://host:port";
        return -EINVAL;
    }
    trim_slashes(*server);
    return 0;
}

static int read_cluster(const struct reader *reader, const struct section *cluster)
{
    struct maar_kube_config *config = reader->config;
    const json_t *insecure = json_object_get(cluster->map, "insecure-skip-tls-verify");
    const char *what = NULL;
    int r;

    r = read_string(reader, cluster, "server", &config->server);
    if (r != 0)
        return r;
    if (!config->server)
        return fault_at(reader, cluster, "server", "missing");
    if (check_server(&config->server, &what) < 0)
        return fault_at(reader, cluster, "server", what);
    if (insecure && !json_is_null(insecure) && !json_is_boolean(insecure))
        return fault_at(reader, cluster, "insecure-skip-tls-verify", "expected true or false");
    config->insecure = json_is_true(insecure);
    r = read_pem(reader, cluster, "certificate-authority", &config->ca_pem, &config->ca_file);
    if (r != 0)
        return r;
    if (config->insecure && (config->ca_pem || config->ca_file))
        return fault_at(reader, cluster, "insecure-skip-tls-verify",
                        "cannot be true when a certificate authority is given");
    r = read_string(reader, cluster, "tls-server-name", &config->tls_server_name);
    if (r != 0)
        return r;
    return read_string(reader, cluster, "proxy-url", &config->proxy_url);
}

static bool is_header_safe(const char *token)
{
    for (; *token; token++) {
        if ((unsigned char)*token <= ' ' || (unsigned char)*token >= 0x7f)
            return false;
    }
    return true;
}

static int read_user(const struct reader *reader, const struct section *user)
{
    struct maar_kube_config *config = reader->config;
    int r = refuse_keys(reader, user);

    if (r != 0)
        return r;
    r = read_string(reader, user, "tokenFile", &config->token_file);
    if (r != 0)
        return r;
    r = read_string(reader, user, "token", &config->token);
    if (r != 0)
        return r;
    if (config->token && !is_header_safe(config->token))
        return fault_at(reader, user, "token", "the token holds a space or a control character");
    if (config->token_file) {
        free(config->token);
        config->token = NULL;
    }
    r = read_pem(reader, user, "client-certificate", &config->client_cert_pem,
                 &config->client_cert_file);
    if (r != 0)
        return r;
    r = read_pem(reader, user, "client-key", &config->client_key_pem, &config->client_key_file);
    if (r != 0)
        return r;
    if ((config->client_cert_pem || config->client_cert_file) !=
        (config->client_key_pem || config->client_key_file))
        return fault(reader, user->path, "client-certificate and client-key go together");
    return 0;
}

static int read_root(const struct reader *reader, const json_t *root)
{
    struct section top = {root, ""};
    struct section context = {0};
    struct section section = {0};
    maar_autofree char *current = NULL;
    maar_autofree char *cluster = NULL;
    maar_autofree char *user = NULL;
    int r;

    r = read_string(reader, &top, "current-context", &current);
    if (r != 0)
        return r;
    if (!current)
        return fault(reader, "current-context", "missing");
    r = find_entry(reader, root, "contexts", "context", current, &context);
    if (r != 0)
        return r;
    r = read_string(reader, &context, "cluster", &cluster);
    if (r != 0)
        return r;
    if (!cluster)
        return fault_at(reader, &context, "cluster", "missing");
    r = find_entry(reader, root, "clusters", "cluster", cluster, &section);
    if (r != 0)
        return r;
    r = read_cluster(reader, &section);
    if (r != 0)
        return r;
    r = read_string(reader, &context, "user", &user);
    if (r != 0 || !user)
        return r;
    r = find_entry(reader, root, "users", "user", user, &section);
    return r != 0 ? r : read_user(reader, &section);
}

static int read_document(void *context, json_t *document, int line, struct maar_error *err)
{
    struct reader *reader = context;

    (void)line;
    reader->err = err;
    if (reader->n_documents++)
        return 0;
    if (!json_is_object(document))
        return maar_error_set(err, -EINVAL, "%s:1:1: not a kubeconfig: expected a map",
                              reader->source);
    return read_root(reader, document);
}

int maar_kube_config_parse(const char *text, size_t n, const char *source,
                           struct maar_kube_config **ret_config, struct maar_error *err)
{
    struct reader reader = {text, n, source, err, NULL, 0};
    int r;

    if (n > FILE_LIMIT)
        return maar_error_set(err, -EFBIG, "%s: more than %d bytes", source, FILE_LIMIT);
    reader.config = maar_calloc(1, sizeof *reader.config);
    r = maar_wire_yaml_each(text, n, source, read_document, &reader, err);
    if (r == 0 && reader.n_documents == 0)
        r = maar_error_set(err, -EINVAL, "%s: empty", source);
    if (r != 0) {
        maar_kube_config_destroy(reader.config);
        return r;
    }
    *ret_config = reader.config;
    return 0;
}

static char *resolve(const char *folder, const char *path)
{
    return path[0] == '/' ? maar_strdup(path) : maar_asprintf("%s/%s", folder, path);
}

static int read_pem_file(const char *folder, char **file, char **pem, const char *key,
                         struct maar_error *err)
{
    maar_autofree char *path = NULL;
    maar_autofree char *data = NULL;
    size_t n = 0;
    int r;

    if (!*file)
        return 0;
    path = resolve(folder, *file);
    r = maar_file_read(path, FILE_LIMIT, &data, &n, err);
    if (r != 0)
        return maar_error_wrap(err, r, "%s", key);
    if (strlen(data) != n || check_pem(data) < 0)
        return maar_error_set(err, -EINVAL, "%s: %s: not PEM (no -----BEGIN line)", key, path);
    free(*pem);
    *pem = data;
    data = NULL;
    free(*file);
    *file = NULL;
    return 0;
}

static int check_token_file(const char *folder, char **file, struct maar_error *err)
{
    maar_autofree char *data = NULL;
    size_t n = 0;
    char *path;
    int r;

    if (!*file)
        return 0;
    path = resolve(folder, *file);
    free(*file);
    *file = path;
    r = maar_file_read(path, FILE_LIMIT, &data, &n, err);
    if (r != 0)
        return maar_error_wrap(err, r, "tokenFile");
    data[strcspn(data, "\r\n")] = '\0';
    if (!*data || !is_header_safe(data))
        return maar_error_set(err, -EINVAL, "tokenFile: %s: not a token", path);
    return 0;
}

int maar_kube_config_read_files(struct maar_kube_config *config, const char *folder,
                                struct maar_error *err)
{
    int r = read_pem_file(folder, &config->ca_file, &config->ca_pem, "certificate-authority", err);

    if (r == 0)
        r = read_pem_file(folder, &config->client_cert_file, &config->client_cert_pem,
                          "client-certificate", err);
    if (r == 0)
        r = read_pem_file(folder, &config->client_key_file, &config->client_key_pem, "client-key",
                          err);
    return r != 0 ? r : check_token_file(folder, &config->token_file, err);
}

int maar_kube_config_in_cluster(const char *folder, struct maar_kube_config **ret_config,
                                struct maar_error *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    struct maar_kube_config *config;
    int r;

    if (!host || !*host || !port || !*port)
        return maar_error_set(
            err, -ENOENT,
            "not inside a cluster (KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT are not set); give --kubeconfig or --master");
    config = maar_calloc(1, sizeof *config);
    /* An IPv6 address needs brackets. */
    config->server = strchr(host, ':') ? maar_asprintf("https://[%s]:%s", host, port)
                                       : maar_asprintf("https://%s:%s", host, port);
    config->ca_file = maar_strdup("ca.crt");
    config->token_file = maar_strdup("token");
    r = maar_kube_config_read_files(config, folder ? folder : SERVICE_ACCOUNT, err);
    if (r != 0) {
        maar_kube_config_destroy(config);
        return maar_error_wrap(err, r, "service account");
    }
    *ret_config = config;
    return 0;
}

static int read_file(const char *path, struct maar_kube_config **ret_config, struct maar_error *err)
{
    struct maar_kube_config *config = NULL;
    maar_autofree char *text = NULL;
    maar_autofree char *folder = NULL;
    const char *slash = strrchr(path, '/');
    size_t n = 0;
    int r = maar_file_read(path, FILE_LIMIT, &text, &n, err);

    if (r != 0)
        return r;
    r = maar_kube_config_parse(text, n, path, &config, err);
    if (r != 0 || !config)
        return r;
    folder = slash ? maar_strndup(path, (size_t)(slash - path)) : maar_strdup(".");
    r = maar_kube_config_read_files(config, folder, err);
    if (r != 0) {
        maar_kube_config_destroy(config);
        return maar_error_wrap(err, r, "%s", path);
    }
    *ret_config = config;
    return 0;
}

static int replace_server(struct maar_kube_config *config, const char *master,
                          struct maar_error *err)
{
    char *server = maar_strdup(master);
    const char *what = NULL;

    if (check_server(&server, &what) < 0) {
        free(server);
        return maar_error_set(err, -EINVAL, "--master: %s", what);
    }
    free(config->server);
    config->server = server;
    return 0;
}

int maar_kube_config_load(const char *kubeconfig, const char *master,
                          struct maar_kube_config **ret_config, struct maar_error *err)
{
    struct maar_kube_config *config = NULL;
    int r = 0;

    if (kubeconfig && *kubeconfig)
        r = read_file(kubeconfig, &config, err);
    else if (master && *master)
        config = maar_calloc(1, sizeof *config);
    else
        r = maar_kube_config_in_cluster(NULL, &config, err);
    if (r == 0 && config && master && *master)
        r = replace_server(config, master, err);
    if (r != 0) {
        maar_kube_config_destroy(config);
        return r;
    }
    *ret_config = config;
    return 0;
}

/* Keys and tokens do not stay behind in freed memory. */
static void free_secret(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void maar_kube_config_destroy(struct maar_kube_config *config)
{
    if (!config)
        return;
    free(config->server);
    free(config->ca_pem);
    free(config->tls_server_name);
    free(config->proxy_url);
    free(config->client_cert_pem);
    free_secret(config->client_key_pem);
    free_secret(config->token);
    free(config->token_file);
    free(config->ca_file);
    free(config->client_cert_file);
    free(config->client_key_file);
    free(config);
}
