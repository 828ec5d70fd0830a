// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// What an input says without effect. The scheduler logs the same about its scheduler.conf; here it is always said, and
// once however often the simulation starts a scheduler.
#include "cli/simulate_warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/simulate_table.h"
#include "host/conf_check.h"

static void warn(const char *source, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void warn(const char *source, int line, int column, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    maar_autofree char *place = column ? maar_asprintf("%s:%d:%d", source, line, column)
                                       : maar_asprintf("%s:%d", source, line);
    maar_autofree char *whole = maar_asprintf("%s: %s", place, text);
    maar_autofree char *safe = maar_simulate_escape(whole, false);
    fprintf(stderr, "warning: %s\n", safe);
}

/* ---- scheduler.conf ---- */

static void warn_of_conf(void *context, int line, int column, const char *text)
{
    const char *const *source = context;
    warn(*source, line, column, "%s", text);
}

void maar_simulate_warn_conf(const struct maar_conf *conf, const struct maar_registry *registry)
{
    const char *source = conf->source;
    maar_conf_check(conf, registry, warn_of_conf, &source);
}

/* ---- manifests ---- */

void maar_simulate_warn_scenario(const struct maar_scenario *scenario)
{
    const struct maar_scenario_warning *warning;
    MAAR_VEC_EACH (&scenario->warnings, warning) {
        char more[40] = "";
        if (warning->n > 1)
            snprintf(more, sizeof more, " (and %zu more)", warning->n - 1);
        warn(warning->field.file->path, maar_field_line(&warning->field), 0, "%s%s", warning->text,
             more);
    }
}
