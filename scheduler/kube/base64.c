/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Base64 as kubeconfig files use it for certificates and keys. */

#include "kube/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

static int is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

int maar_base64_decode(const char *text, char **ret_data, size_t *ret_n)
{
    maar_autofree char *data = maar_malloc(strlen(text) / 4 * 3 + 4);
    size_t n = 0;
    unsigned group = 0;
    unsigned n_digits = 0;
    unsigned n_padding = 0;

    for (const char *c = text; *c; c++) {
        int value = value_of(*c);

        if (is_space(*c))
            continue;
        if (*c == '=')
            n_padding++;
        else if (value < 0 || n_padding)
            return -EINVAL;
        group = group << 6 | (unsigned)(value < 0 ? 0 : value);
        if (++n_digits % 4)
            continue;
        if (n_padding > 2)
            return -EINVAL;
        data[n++] = (char)(group >> 16);
        data[n++] = (char)(group >> 8);
        data[n++] = (char)group;
        group = 0;
    }
    if (n_digits % 4 || n_padding > 2)
        return -EINVAL;
    n -= n_padding;
    data[n] = '\0';
    *ret_n = n;
    *ret_data = data;
    data = NULL;
    return 0;
}
