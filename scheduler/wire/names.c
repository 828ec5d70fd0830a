/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Names after apimachinery's validation package. */

#include "wire/names.h"

#include <string.h>

#define PART_MAX   63
#define DOMAIN_MAX 253

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || is_digit(c);
}

static bool is_letter_or_digit(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool is_part(const char *s, size_t n)
{
    if (n == 0 || n > PART_MAX || !is_letter_or_digit(s[0]) || !is_letter_or_digit(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_letter_or_digit(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.')
            return false;
    return true;
}

/* A DNS subdomain: every label between dots begins and ends with a lower-case letter or digit. */
static bool is_domain(const char *s, size_t n)
{
    if (n == 0 || n > DOMAIN_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool is_edge = i == 0 || i == n - 1 || s[i - 1] == '.' || s[i + 1] == '.';
        if (is_lower_or_digit(s[i]))
            continue;
        if (s[i] == '.' ? i == 0 || i == n - 1 || s[i - 1] == '.' : s[i] != '-' || is_edge)
            return false;
    }
    return true;
}

bool maar_name_is_qualified(const char *name)
{
    const char *slash = strchr(name, '/');
    if (!slash)
        return is_part(name, strlen(name));
    return is_domain(name, (size_t)(slash - name)) && is_part(slash + 1, strlen(slash + 1));
}

bool maar_name_is_label_value(const char *value)
{
    return *value == '\0' || is_part(value, strlen(value));
}

static bool has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The name must also be valid in a quota, behind "requests.". */
static bool is_extended_resource(const char *name)
{
    const char *slash = strchr(name, '/');
    if (!slash || has_prefix(name, "requests."))
        return false;
    return (size_t)(slash - name) + strlen("requests.") <= DOMAIN_MAX &&
           maar_name_is_qualified(name);
}

bool maar_name_is_counted_resource(const char *name)
{
    if (!strchr(name, '/'))
        return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
               strcmp(name, "pods") == 0 || strcmp(name, "ephemeral-storage") == 0 ||
               has_prefix(name, "hugepages-") || has_prefix(name, "attachable-volumes-");
    if (has_prefix(name, "count/"))
        return false;
    return has_prefix(name, "hugepages-") || has_prefix(name, "attachable-volumes-") ||
           strstr(name, "kubernetes.io/") || is_extended_resource(name);
}
