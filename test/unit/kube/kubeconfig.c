/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/kubeconfig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"

/* "-----BEGIN X-----\n" */
#define PEM_BASE64 "LS0tLS1CRUdJTiBYLS0tLS0K"

#define HEAD       "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u}}\n"
#define CLUSTER    "clusters:\n- {name: k, cluster: {server: 'https://h:1/'}}\n"

/* A whole file with this cluster and user. */
#define FILE_OF(cluster, user)                                                                     \
    HEAD "clusters:\n- name: k\n  cluster: " cluster "\nusers:\n- name: u\n  user: " user "\n"

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static void the_current_context_says_who_and_where(void **state)
{
    static const struct {
        const char *name;
        const char *text;
        const char *want; /* server ca|ca_file insecure name proxy cert|file key|file token|file */
    } rows[] = {
        {"token", FILE_OF("{server: 'https://h:6443'}", "{token: abc}"),
         "https://h:6443 none none 0 none none none none none none abc none"},
        {"slashes go", FILE_OF("{server: 'https://h:6443/x//'}", "{}"),
         "https://h:6443/x none none 0 none none none none none none none none"},
        {"address without scheme", FILE_OF("{server: 'localhost:8080'}", "{}"),
         "http://localhost:8080 none none 0 none none none none none none none none"},
        {"files",
         FILE_OF("{server: 'https://h', certificate-authority: ca.crt}",
                 "{client-certificate: c.crt, client-key: /k.key, tokenFile: t}"),
         "https://h none ca.crt 0 none none none c.crt none /k.key none t"},
        {"data wins over files",
         FILE_OF("{server: 'https://h', certificate-authority: f, "
                 "certificate-authority-data: " PEM_BASE64 "}",
                 "{client-certificate: f, client-certificate-data: " PEM_BASE64
                 ", client-key: f, client-key-data: " PEM_BASE64 "}"),
         "https://h -----BEGIN none 0 none none -----BEGIN none -----BEGIN none none none"},
        {"token file wins over token",
         FILE_OF("{server: 'https://h'}", "{token: abc, tokenFile: f}"),
         "https://h none none 0 none none none none none none none f"},
        {"unchecked",
         FILE_OF("{server: 'https://h', insecure-skip-tls-verify: true, tls-server-name: s, "
                 "proxy-url: 'http://p'}",
                 "{}"),
         "https://h none none 1 s http://p none none none none none none"},
        {"nulls and unknown keys",
         FILE_OF("{server: 'https://h', certificate-authority: null, extensions: [1]}",
                 "{token: null, exec: null, x: {}}"),
         "https://h none none 0 none none none none none none none none"},
        {"no user", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n" CLUSTER,
         "https://h:1 none none 0 none none none none none none none none"},
        {"another context",
         "current-context: c\ncontexts:\n- {name: x, context: {cluster: y}}\n- {name: c, context: "
         "{cluster: k}}\n"
         "clusters:\n- {name: y, cluster: {server: 'https://no'}}\n- {name: k, cluster: {server: "
         "'https://yes'}}\n",
         "https://yes none none 0 none none none none none none none none"},
        {"JSON",
         "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\"}}"
         "],"
         "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://h\"}}]}",
         "https://h none none 0 none none none none none none none none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_kube_config *config = NULL;
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_text got = MAAR_TEXT_INIT;

        if (maar_kube_config_parse(rows[i].text, strlen(rows[i].text), "f", &config, &err) < 0)
            fail_msg("%s: %s", rows[i].name, err.text);
        maar_text_addf(&got, "%s %.10s %s %d %s %s %.10s %s %.10s %s %s %s", config->server,
                       or_none(config->ca_pem), or_none(config->ca_file), config->insecure,
                       or_none(config->tls_server_name), or_none(config->proxy_url),
                       or_none(config->client_cert_pem), or_none(config->client_cert_file),
                       or_none(config->client_key_pem), or_none(config->client_key_file),
                       or_none(config->token), or_none(config->token_file));
        assert_string_equal(maar_text_get(&got), rows[i].want);
        maar_text_fini(&got);
        maar_kube_config_destroy(config);
    }
}

static void faults_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text;
        const char *want; /* a part of the message */
    } rows[] = {
        {"", "f: empty"},
        {"[]", "f:1:1: not a kubeconfig"},
        {"{", "f:"},
        {"a: b\n", "current-context: missing"},
        {"current-context: 7\n", "f:1:1: current-context: expected a text"},
        {"current-context: c\n", "contexts: missing"},
        {"current-context: c\ncontexts: {}\n", "f:2:1: contexts: expected a list"},
        {"current-context: c\ncontexts: [{name: a}, {name: b}, 7]\n",
         "f:2:1: contexts: no entry is named \"c\"; there are: a, b"},
        {"current-context: c\ncontexts: []\n", "there are: none"},
        {"current-context: c\ncontexts:\n- name: c\n", "contexts[0].context: missing"},
        {"current-context: c\ncontexts:\n- name: c\n  context: x\n",
         "f:4:3: contexts[0].context: expected a map"},
        {"current-context: c\ncontexts:\n- {name: c, context: {user: u}}\n",
         "contexts[0].context.cluster: missing"},
        {HEAD, "clusters: missing"},
        {HEAD CLUSTER, "users: missing"},
        {FILE_OF("{}", "{}"), "clusters[0].cluster.server: missing"},
        {FILE_OF("{server: 'ftp://h'}", "{}"),
         "f:6:13: clusters[0].cluster.server: expected an http"},
        {FILE_OF("{server: 'https://'}", "{}"), "not an address"},
        {FILE_OF("{server: 'https://a b'}", "{}"), "not an address"},
        {FILE_OF("{server: \"https://a\\r\\nX: y\"}", "{}"), "not an address"},
        {FILE_OF("{server: 'https://u:p@h'}", "{}"), "not an address"},
        {FILE_OF("{server: 'https://h', insecure-skip-tls-verify: 'yes'}", "{}"),
         "insecure-skip-tls-verify: expected true or false"},
        {FILE_OF("{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: x}",
                 "{}"),
         "cannot be true"},
        {FILE_OF("{server: 'https://h', certificate-authority-data: '%%'}", "{}"),
         "certificate-authority-data: not base64"},
        {FILE_OF("{server: 'https://h', certificate-authority-data: 'AAAA'}", "{}"),
         "certificate-authority-data: not PEM"},
        {FILE_OF("{server: 'https://h'}", "{token: 123}"),
         "f:9:10: users[0].user.token: expected a text; put it in quotes"},
        {FILE_OF("{server: 'https://h'}", "{token: 'a b'}"), "a space or a control character"},
        {FILE_OF("{server: 'https://h'}", "{token: \"a\\nX: y\"}"),
         "a space or a control character"},
        {FILE_OF("{server: 'https://h'}", "{token: \"a\\0b\"}"), "NUL"},
        {FILE_OF("{server: 'https://h'}", "{client-certificate: x}"),
         "users[0].user: client-certificate and client-key go together"},
        {FILE_OF("{server: 'https://h'}", "{exec: {command: x}}"),
         "users[0].user.exec: credential plugins are not supported"},
        {FILE_OF("{server: 'https://h'}", "{auth-provider: {name: x}}"),
         "auth providers are not supported"},
        {FILE_OF("{server: 'https://h'}", "{as: root}"), "impersonation is not supported"},
        {FILE_OF("{server: 'https://h'}", "{username: x}"),
         "basic authentication is not supported"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_kube_config *config = NULL;
        struct maar_error err = MAAR_ERROR_INIT;

        assert_true(maar_kube_config_parse(rows[i].text, strlen(rows[i].text), "f", &config, &err) <
                    0);
        assert_null(config);
        if (!strstr(err.text, rows[i].want))
            fail_msg("row %zu: \"%s\" is not in \"%s\"", i, rows[i].want, err.text);
    }
}

static void a_secret_is_never_shown(void **state)
{
    static const char *const rows[] = {
        FILE_OF("{server: 'https://h'}", "{token: 'S3CR ET'}"),
        FILE_OF("{server: 'https://h'}", "{client-key-data: 'S3CR!'}"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_kube_config *config = NULL;
        struct maar_error err = MAAR_ERROR_INIT;

        assert_true(maar_kube_config_parse(rows[i], strlen(rows[i]), "f", &config, &err) < 0);
        assert_null(strstr(err.text, "S3CR"));
    }
}

/* ---- with files ---- */

static char folder[] = "/tmp/maar-kubeconfig-XXXXXX";

static void write_file(const char *name, const char *text)
{
    maar_autofree char *path = maar_asprintf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"config", "ca.crt", "token", "empty", "c.crt", "c.key"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        maar_autofree char *path = maar_asprintf("%s/%s", folder, names[i]);

        unlink(path);
    }
    return rmdir(folder);
}

static void files_are_found_beside_the_kubeconfig(void **state)
{
    maar_autofree char *path = maar_asprintf("%s/config", folder);
    maar_autofree char *token = maar_asprintf("%s/token", folder);
    struct maar_kube_config *config = NULL;
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    write_file("ca.crt", "text\n-----BEGIN CERTIFICATE-----\n");
    write_file("c.crt", "-----BEGIN CERTIFICATE-----\n");
    write_file("c.key", "-----BEGIN PRIVATE KEY-----\n");
    write_file("token", "abc\n");
    write_file("config",
               FILE_OF("{server: 'https://h', certificate-authority: ca.crt}",
                       "{client-certificate: c.crt, client-key: c.key, tokenFile: token}"));
    assert_int_equal(maar_kube_config_load(path, NULL, &config, &err), 0);
    assert_string_equal(config->ca_pem, "text\n-----BEGIN CERTIFICATE-----\n");
    assert_string_equal(config->client_key_pem, "-----BEGIN PRIVATE KEY-----\n");
    assert_null(config->client_cert_file);
    assert_string_equal(config->token_file, token);
    maar_kube_config_destroy(config);

    assert_int_equal(maar_kube_config_load(path, "http://127.0.0.1:9/", &config, &err), 0);
    assert_string_equal(config->server, "http://127.0.0.1:9");
    assert_non_null(config->ca_pem);
    maar_kube_config_destroy(config);

    config = NULL;
    assert_int_equal(maar_kube_config_load(path, "gopher://x", &config, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--master: "));
    assert_null(config);
}

static void files_that_are_wrong_are_named(void **state)
{
    static const struct {
        const char *user;
        const char *want;
    } rows[] = {
        {FILE_OF("{server: 'https://h', certificate-authority: absent}", "{}"),
         "certificate-authority"},
        {FILE_OF("{server: 'https://h', certificate-authority: token}", "{}"), "not PEM"},
        {FILE_OF("{server: 'https://h'}", "{tokenFile: absent}"), "tokenFile"},
        {FILE_OF("{server: 'https://h'}", "{tokenFile: empty}"), "not a token"},
    };
    maar_autofree char *path = maar_asprintf("%s/config", folder);

    (void)state;
    write_file("token", "abc\n");
    write_file("empty", "\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_kube_config *config = NULL;
        struct maar_error err = MAAR_ERROR_INIT;

        write_file("config", rows[i].user);
        assert_true(maar_kube_config_load(path, "", &config, &err) < 0);
        assert_null(config);
        assert_non_null(strstr(err.text, rows[i].want));
        assert_non_null(strstr(err.text, "/config: "));
    }
    assert_true(maar_kube_config_load("/absent/kubeconfig", "", &(struct maar_kube_config *){NULL},
                                      NULL) < 0);
}

static void an_address_alone_is_enough(void **state)
{
    struct maar_kube_config *config = NULL;

    (void)state;
    assert_int_equal(maar_kube_config_load("", "127.0.0.1:8080", &config, NULL), 0);
    assert_string_equal(config->server, "http://127.0.0.1:8080");
    assert_null(config->token);
    maar_kube_config_destroy(config);
}

static void in_a_pod_the_service_account_is_used(void **state)
{
    struct maar_kube_config *config = NULL;
    struct maar_error err = MAAR_ERROR_INIT;

    (void)state;
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_int_equal(maar_kube_config_load(NULL, NULL, &config, &err), -ENOENT);
    assert_non_null(strstr(err.text, "--kubeconfig"));
    write_file("ca.crt", "-----BEGIN CERTIFICATE-----\n");
    write_file("token", "abc\n");
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(maar_kube_config_in_cluster(folder, &config, &err), 0);
    assert_string_equal(config->server, "https://[fd00::1]:443");
    assert_non_null(config->ca_pem);
    assert_non_null(strstr(config->token_file, "/token"));
    maar_kube_config_destroy(config);
    assert_true(maar_kube_config_in_cluster("/absent", &config, &err) < 0);
    assert_non_null(strstr(err.text, "service account: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_current_context_says_who_and_where),
        cmocka_unit_test(faults_are_told_with_their_place),
        cmocka_unit_test(a_secret_is_never_shown),
        cmocka_unit_test(files_are_found_beside_the_kubeconfig),
        cmocka_unit_test(files_that_are_wrong_are_named),
        cmocka_unit_test(an_address_alone_is_enough),
        cmocka_unit_test(in_a_pod_the_service_account_is_used),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
