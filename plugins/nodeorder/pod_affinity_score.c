/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* InterPodAffinity, its score: the weights of the preferred terms that speak for or against a
 * domain, those of the pod about the pods there and those of the pods there about the pod. Required
 * affinity of the pods there weighs nothing, as in Volcano. */

#include <stdlib.h>

#include "kubernetes/pod_affinity.h"
#include "nodeorder/scores.h"

static bool has_preferred(const struct maar_class *cls)
{
    return cls->spec->pod_affinity_preferred.n + cls->spec->pod_anti_affinity_preferred.n > 0;
}

/* What pods of `from` think of pods of `about`. */
static int64_t opinion(const struct maar_class *from, const char *key,
                       const struct maar_class *about)
{
    return maar_affinity_terms_weight(&from->spec->pod_affinity_preferred, key, about) -
           maar_affinity_terms_weight(&from->spec->pod_anti_affinity_preferred, key, about);
}

static int64_t weigh_mutual(const struct maar_class *owner, uint32_t part, const char *key,
                            const struct maar_class *other)
{
    (void)part;
    return opinion(owner, key, other) + opinion(other, key, owner);
}

static int64_t weigh_others(const struct maar_class *owner, uint32_t part, const char *key,
                            const struct maar_class *other)
{
    (void)part;
    return opinion(other, key, owner);
}

static const struct maar_tally_kind mutual_kind = {
    .name = "preferred affinity", .counts_leaving = true, .weigh = weigh_mutual};
static const struct maar_tally_kind others_kind = {.name = "preferred affinity of others",
                                                   .only_affine = true,
                                                   .counts_leaving = true,
                                                   .weigh = weigh_others};

static const struct maar_tally_kind *kind_for(const struct maar_class *cls)
{
    return has_preferred(cls) ? &mutual_kind : &others_kind;
}

bool maar_pod_affinity_score_skip(void *self, const struct maar_view *view,
                                  const struct maar_task *task)
{
    (void)self;
    if (has_preferred(task->cls))
        return false;
    for (uint32_t k = 0; k < view->n_affinity_keys; k++)
        if (view->host->tally(view->session, &others_kind, task->cls, 0, view->affinity_keys[k]))
            return false;
    return true;
}

void maar_pod_affinity_score_raw(const struct maar_view *view, const struct maar_task *task,
                                 const uint32_t *nodes, size_t n, int64_t *out,
                                 bool (*listed)(const struct maar_view *view, uint32_t node))
{
    const struct maar_tally_kind *kind = kind_for(task->cls);
    for (uint32_t k = 0; k < view->n_affinity_keys; k++) {
        const struct maar_tally *tally =
            view->host->tally(view->session, kind, task->cls, 0, view->affinity_keys[k]);
        if (!tally)
            continue;
        /* A pod with preferences looks at all nodes in any case. */
        int64_t *unlisted = listed && kind == &others_kind
                                ? maar_affinity_unlisted(view, kind, task->cls, tally, listed)
                                : NULL;
        for (size_t i = 0; i < n; i++) {
            uint32_t domain = tally->topology->domain[nodes[i]];
            if (domain != MAAR_NO_DOMAIN)
                out[i] += tally->sums[domain] - (unlisted ? unlisted[domain] : 0);
        }
        free(unlisted);
    }
}
