/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Feature gates by name. Volcano starts with every name that it or Kubernetes knows; here only those count that
 * change a decision. */

#include "engine/feature_gates.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "conf/scalar.h"

bool maar_feature_gates_set(struct maar_feature_gates *gates, const char *name, bool value)
{
    if (strcmp(name, "SchedulingGatesQueueAdmission") != 0)
        return false;
    gates->queue_admission = value;
    return true;
}

static char *trim(char *text)
{
    while (*text == ' ')
        text++;
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return text;
}

static int take_one(struct maar_feature_gates *gates, char *pair, struct maar_text *unused,
                    struct maar_error *err)
{
    char *equals = strchr(pair, '=');
    bool value;
    if (!equals)
        return maar_error_set(err, -EINVAL, "\"%.100s\": expected Name=true or Name=false", pair);
    *equals = '\0';
    const char *name = trim(pair);
    if (!*name || !maar_scalar_parse_bool(trim(equals + 1), &value))
        return maar_error_set(err, -EINVAL, "%.100s: expected true or false, not \"%.100s\"", name,
                              trim(equals + 1));
    if (!maar_feature_gates_set(gates, name, value) && unused)
        maar_text_addf(unused, "%s%s", unused->n ? ", " : "", name);
    return 0;
}

int maar_feature_gates_parse(struct maar_feature_gates *gates, const char *text,
                             struct maar_text *unused, struct maar_error *err)
{
    struct maar_feature_gates next = *gates;
    maar_autofree char *copy = maar_strdup(text);
    char *rest = copy;
    char *pair;
    while ((pair = strsep(&rest, ","))) {
        pair = trim(pair);
        if (!*pair)
            continue;
        int rc = take_one(&next, pair, unused, err);
        if (rc < 0)
            return rc;
    }
    *gates = next;
    return 0;
}
