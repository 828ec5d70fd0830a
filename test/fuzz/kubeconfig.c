/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: kubeconfig files. Whatever the bytes are, reading ends in a configuration that can be put into a
 * request, or in one message. No other file is read. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing may get into a request line or a header that begins another one. */
static void check(const struct maar_kube_config *config)
{
    if (strncmp(config->server, "http://", 7) != 0 && strncmp(config->server, "https://", 8) != 0)
        abort();
    if (strpbrk(config->server, "\r\n \t"))
        abort();
    if (config->token && (!*config->token || strpbrk(config->token, "\r\n \t")))
        abort();
    if (config->token && config->token_file)
        abort();
    if ((config->client_cert_pem || config->client_cert_file) !=
        (config->client_key_pem || config->client_key_file))
        abort();
    if (config->insecure && (config->ca_pem || config->ca_file))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maar_kube_config *config = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (maar_kube_config_parse(text, size, "fuzz", &config, &err) == 0)
        check(config);
    else if (config || !err.text[0])
        abort();
    maar_kube_config_destroy(config);
    free(text);
    return 0;
}
