/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* `maarctl check` on any text: every finding has a place and says something. The text is judged as a file of whatever
 * sort it looks like, and as a scheduler.conf. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void judge(const struct maar_registry *registry, const uint8_t *data, size_t size,
                  bool is_conf)
{
    struct maar_check *check = maar_check_create(registry);
    if (is_conf)
        maar_check_use_conf(check, "conf", (const char *)data, size);
    maar_check_add(check, "fuzz", (const char *)data, size);
    const struct maar_findings *findings = maar_check_finish(check);
    const struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding)
        require(finding->line >= 1 && finding->column >= 1 && *finding->message != '\0');
    require(findings->n_errors + findings->n_warnings == findings->list.n + findings->n_left_out);
    maar_check_destroy(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct maar_registry *registry;
    if (!registry) {
        maar_log_set_verbosity(-1);
        registry = maar_registry_create();
    }
    judge(registry, data, size, false);
    judge(registry, data, size, true);
    return 0;
}
