/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* PodTopologySpread, its score: soft constraints prefer the domains that hold the fewest of the pods
 * that they name. A constraint over few domains weighs more: the count is multiplied by the
 * logarithm of the number of domains among the candidates. Candidates that lack a key of a soft
 * constraint have no part. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kubernetes/pod_affinity.h"
#include "nodeorder/scores.h"

static const struct maar_tally_kind soft_kind = {
    .name = "soft spread", .weigh = maar_spread_weigh, .takes_part = maar_spread_takes_part};
/* By host name the pods of the node itself count, whatever the policies. */
static const struct maar_tally_kind own_node_kind = {.name = "soft spread on the node",
                                                     .weigh = maar_spread_weigh};

bool maar_spread_score_skip(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    (void)view;
    const struct maar_pod_spec *spec = task->cls->spec;
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (!spec->spread[i].hard)
            return false;
    return true;
}

static bool is_by_host(const struct maar_spread_constraint *constraint)
{
    return strcmp(constraint->topology_key, "kubernetes.io/hostname") == 0;
}

/* Domains of the candidates that have a part. */
static size_t count_domains(const struct maar_topology *topology, const uint32_t *nodes, size_t n,
                            const int64_t *out)
{
    bool *seen = calloc(topology->n_domains + 1, sizeof *seen);
    if (!seen)
        abort();
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t domain = topology->domain[nodes[i]];
        if (out[i] == MAAR_RAW_NONE || domain == MAAR_NO_DOMAIN || seen[domain])
            continue;
        seen[domain] = true;
        count++;
    }
    free(seen);
    return count;
}

static const struct maar_tally *soft_tally(const struct maar_view *view,
                                           const struct maar_class *cls, uint32_t part)
{
    return view->host->tally(view->session, &soft_kind, cls, part,
                             cls->spec->spread[part].topology_key);
}

/* How many have a part; the others are marked in out. */
static size_t leave_out(const struct maar_view *view, const struct maar_class *cls,
                        const uint32_t *nodes, size_t n, int64_t *out)
{
    for (uint32_t c = 0; c < cls->spec->n_spread; c++) {
        if (cls->spec->spread[c].hard)
            continue;
        const uint32_t *domain = soft_tally(view, cls, c)->topology->domain;
        for (size_t i = 0; i < n; i++)
            if (domain[nodes[i]] == MAAR_NO_DOMAIN)
                out[i] = MAAR_RAW_NONE;
    }
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++)
        n_left += out[i] != MAAR_RAW_NONE;
    return n_left;
}

static void add_constraint(const struct maar_view *view, const struct maar_class *cls,
                           uint32_t part, size_t n_left, const uint32_t *nodes, size_t n,
                           const int64_t *out, double *sums)
{
    const struct maar_spread_constraint *constraint = &cls->spec->spread[part];
    bool by_host = is_by_host(constraint);
    const struct maar_tally *tally =
        by_host ? view->host->tally(view->session, &own_node_kind, cls, part, "")
                : soft_tally(view, cls, part);
    const struct maar_topology *topology = tally->topology;
    size_t size = by_host ? n_left : count_domains(topology, nodes, n, out);
    double weight = log((double)(size + 2));
    for (size_t i = 0; i < n; i++)
        if (out[i] != MAAR_RAW_NONE)
            sums[i] += (double)tally->sums[topology->domain[nodes[i]]] * weight +
                       (double)(constraint->max_skew - 1);
}

void maar_spread_score_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    const struct maar_pod_spec *spec = task->cls->spec;
    size_t n_left = leave_out(view, task->cls, nodes, n, out);
    double *sums = calloc(n + 1, sizeof *sums);
    if (!sums)
        abort();
    for (uint32_t c = 0; c < spec->n_spread; c++)
        if (!spec->spread[c].hard)
            add_constraint(view, task->cls, c, n_left, nodes, n, out, sums);
    for (size_t i = 0; i < n; i++)
        if (out[i] != MAAR_RAW_NONE)
            out[i] = (int64_t)round(sums[i]);
    free(sums);
}
