/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* conformance: never evicts what the cluster itself lives on.
 *
 * A pod of priority class system-cluster-critical or system-node-critical, or of namespace
 * kube-system, is no victim of preemption or reclaim. The name of the class counts, not its value.
 *
 * No configuration keys. */

#include <maar/plugin.h>

#include <string.h>

static bool is_critical(const struct maar_class *cls)
{
    const char *priority_class = cls->spec->priority_class;
    return strcmp(priority_class, "system-cluster-critical") == 0 ||
           strcmp(priority_class, "system-node-critical") == 0 ||
           strcmp(cls->ns, "kube-system") == 0;
}

static enum maar_vote spare_critical(const struct maar_task *const *candidates, size_t n,
                                     uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        if (!is_critical(candidates[i]->cls))
            out[i / 64] |= UINT64_C(1) << (i % 64);
    return MAAR_PERMIT;
}

static enum maar_vote evictable(void *self, const struct maar_view *view,
                                const struct maar_task *evictor,
                                const struct maar_task *const *candidates, size_t n, uint64_t *out)
{
    (void)self;
    (void)view;
    (void)evictor;
    return spare_critical(candidates, n, out);
}

static enum maar_vote unified_evictable(void *self, const struct maar_view *view,
                                        const struct maar_evict_context *context,
                                        const struct maar_task *const *candidates, size_t n,
                                        uint64_t *out)
{
    (void)self;
    (void)view;
    (void)context;
    return spare_critical(candidates, n, out);
}

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "conformance",
    .summary = "Keeps critical pods and those of kube-system from being evicted.",
    .hooks =
        {
            .preemptable = evictable,
            .reclaimable = evictable,
            .unified_evictable = unified_evictable,
        },
};
