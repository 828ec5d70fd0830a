/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* predicates: which nodes a pod may stand on at all, by the rules of kube-scheduler's filters.
 * Whether the resources suffice is not looked at here.
 *
 * A node is refused when it holds as many pods as it allows, when it is unschedulable, when its
 * Ready condition is not True (not under `compatibility: volcano`, where the taint of such a node
 * does it), when the pod's node selector or required node affinity does not match, when a
 * NoSchedule or NoExecute taint is not tolerated, when a host port that the pod wants is taken, by
 * required affinity and anti-affinity between pods, and by hard topology spread constraints.
 * A pod that needs a filter which does not exist yet waits with a reason that names it, unless that
 * filter is turned off.
 *
 * - predicate.NodeAffinityEnable (true)
 * - predicate.NodePortsEnable (true)
 * - predicate.TaintTolerationEnable (true)
 * - predicate.PodAffinityEnable (true)
 * - predicate.PodTopologySpreadEnable (true)
 * - predicate.NodeVolumeLimitsEnable, predicate.VolumeZoneEnable, predicate.VolumeBindingEnable
 *   (true): not there yet; any one turned on refuses pods with volume claims
 * - predicate.CacheEnable (false): no effect, answers are kept by class anyway
 * - predicate.DynamicResourceAllocationEnable (false): no effect, as in Volcano; pods with resource
 *   claims wait
 * - volumebinding.weight (1), volumebinding.bindTimeoutSeconds (600), volumebinding.shape,
 *   dynamicresources.filterTimeoutSeconds (10): no effect yet */

#include <maar/plugin.h>

#include <stdio.h>
#include <stdlib.h>

#include "kubernetes/host_ports.h"
#include "kubernetes/node_affinity.h"
#include "kubernetes/tolerations.h"
#include "predicates/pod_affinity.h"
#include "predicates/spread.h"

struct predicates {
    bool node_affinity;
    bool taint_toleration;
    bool node_ports;
    bool pod_affinity;
    bool spread;
    uint32_t refused; /* bits of enum maar_unsupported that keep a pod waiting */
};

/* The node row. */
struct node_row {
    /* Pods that this session evicts are gone for the pod count, those that were leaving before are
     * not. */
    int64_t n_evicted;
    /* A pod with required anti-affinity was on the node when the session opened (known under
     * `compatibility: volcano`). */
    bool had_anti_affinity;
};

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct predicates *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->node_affinity = host->argument_bool(arguments, "predicate.NodeAffinityEnable");
    self->taint_toleration = host->argument_bool(arguments, "predicate.TaintTolerationEnable");
    self->node_ports = host->argument_bool(arguments, "predicate.NodePortsEnable");
    self->refused = MAAR_UNSUPPORTED_CLAIMS;
    self->pod_affinity = host->argument_bool(arguments, "predicate.PodAffinityEnable");
    self->spread = host->argument_bool(arguments, "predicate.PodTopologySpreadEnable");
    if (host->argument_bool(arguments, "predicate.NodeVolumeLimitsEnable") ||
        host->argument_bool(arguments, "predicate.VolumeZoneEnable") ||
        host->argument_bool(arguments, "predicate.VolumeBindingEnable"))
        self->refused |= MAAR_UNSUPPORTED_VOLUMES;
    *ret_self = self;
    return 0;
}

static void destroy(void *self)
{
    free(self);
}

/* ---- before the nodes ------------------------------------------------------------------------ */

static const struct {
    uint32_t bit;
    const char *reason;
} unsupported_parts[] = {
    {MAAR_UNSUPPORTED_VOLUMES, "persistent volume claims are not supported yet"},
    {MAAR_UNSUPPORTED_CLAIMS, "resource claims are not supported yet"},
};

static bool pre_filter(void *opaque, const struct maar_view *view, const struct maar_task *task,
                       struct maar_reasons *reasons)
{
    const struct predicates *self = opaque;
    const struct maar_pod_spec *spec = task->cls->spec;
    uint32_t refused = spec->unsupported & self->refused;
    if (self->node_affinity && maar_node_names_conflict(spec)) {
        if (reasons)
            view->host->reason_add(reasons,
                                   "plugin NodeAffinity pre-predicates failed pod affinity "
                                   "terms conflict");
        return false;
    }
    for (size_t i = 0;
         refused && reasons && i < sizeof unsupported_parts / sizeof *unsupported_parts; i++)
        if (refused & unsupported_parts[i].bit)
            view->host->reason_add(reasons, unsupported_parts[i].reason);
    return !refused;
}

/* ---- the number of pods ---------------------------------------------------------------------- */

static struct node_row *row_of(const struct maar_view *view, uint32_t node)
{
    return (struct node_row *)(void *)view->node_rows + node;
}

static bool is_full(void *self, const struct maar_view *view, const struct maar_task *task,
                    uint32_t node)
{
    (void)self;
    (void)task;
    const struct maar_nodes *nodes = view->nodes;
    int64_t n_pods = nodes->used[MAAR_DIM_PODS][node] + nodes->pipelined[MAAR_DIM_PODS][node] -
                     row_of(view, node)->n_evicted;
    return nodes->allocatable[MAAR_DIM_PODS][node] <= n_pods;
}

MAAR_FILTER_EACH(fit_pod_number, is_full, MAAR_FIT_UNSCHEDULABLE)

static void explain_pod_number(void *self, const struct maar_view *view,
                               const struct maar_task *task, uint32_t node,
                               struct maar_reasons *reasons)
{
    if (is_full(self, view, task, node))
        view->host->reason_add(reasons, "node(s) pod number exceeded");
}

static void count_evicted(const struct maar_view *view, const struct maar_task *task,
                          int64_t change)
{
    if (task->node >= view->nodes->n_slots)
        return;
    struct node_row *row = row_of(view, task->node);
    view->host->touch(view->session, row, sizeof *row);
    row->n_evicted += change;
}

static void on_deallocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    if (task->status == MAAR_TASK_RELEASING)
        count_evicted(view, task, 1);
}

/* An eviction taken back. */
static void on_allocate(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    if (task->status == MAAR_TASK_RUNNING || task->status == MAAR_TASK_BOUND)
        count_evicted(view, task, -1);
}

/* ---- what the load does not change ----------------------------------------------------------- */

/* NULL: nothing static speaks against the node. */
static const char *static_refusal(const struct predicates *self, const struct maar_view *view,
                                  const struct maar_pod_spec *spec, bool tolerates_unschedulable,
                                  const struct maar_node_facts *node)
{
    if (node->unschedulable && !tolerates_unschedulable)
        return "node(s) were unschedulable";
    if (!node->ready && !view->compatibility)
        return "node(s) were not ready";
    if (self->node_affinity && !maar_pod_matches_node(spec, node))
        return "node(s) didn't match Pod's node affinity/selector";
    if (self->taint_toleration && !maar_pod_tolerates_node(spec, node))
        return "node(s) had untolerated taint(s)";
    return NULL;
}

static void fit_static(void *opaque, const struct maar_view *view, const struct maar_task *task,
                       const uint32_t *nodes, size_t n, uint8_t *out)
{
    const struct predicates *self = opaque;
    const struct maar_pod_spec *spec = task->cls->spec;
    bool tolerates_unschedulable = maar_pod_tolerates_unschedulable(spec);
    for (size_t i = 0; i < n; i++)
        if (out[i] < MAAR_FIT_NEVER && static_refusal(self, view, spec, tolerates_unschedulable,
                                                      &view->nodes->facts[nodes[i]]))
            out[i] = MAAR_FIT_NEVER;
}

/* The first refusal ends the evaluation of a node. */
static void explain_static(void *opaque, const struct maar_view *view, const struct maar_task *task,
                           uint32_t node, struct maar_reasons *reasons)
{
    const struct maar_pod_spec *spec = task->cls->spec;
    const char *reason = static_refusal(opaque, view, spec, maar_pod_tolerates_unschedulable(spec),
                                        &view->nodes->facts[node]);
    if (reason)
        view->host->reason_add(reasons, reason);
}

/* ---- host ports ------------------------------------------------------------------------------ */

static bool has_ports(void *opaque)
{
    const struct predicates *self = opaque;
    return self->node_ports;
}

/* Pods that are leaving hold their ports until they have gone. */
static bool lacks_ports(void *self, const struct maar_view *view, const struct maar_task *task,
                        uint32_t node)
{
    (void)self;
    const struct maar_pod_spec *spec = task->cls->spec;
    if (spec->n_host_ports == 0)
        return false;
    for (uint32_t i = 0; i < view->nodes->n_tasks[node]; i++)
        if (maar_host_ports_conflict(spec, view->nodes->tasks[node][i]->cls->spec))
            return true;
    return false;
}

MAAR_FILTER_EACH(fit_ports, lacks_ports, MAAR_FIT_UNSCHEDULABLE)

static void explain_ports(void *self, const struct maar_view *view, const struct maar_task *task,
                          uint32_t node, struct maar_reasons *reasons)
{
    if (lacks_ports(self, view, task, node))
        view->host->reason_add(reasons,
                               "node(s) didn't have free ports for the requested pod ports");
}

/* ---- affinity between pods ------------------------------------------------------------------- */

static int open_session(void *opaque, const struct maar_view *view, char *error, size_t n)
{
    const struct predicates *self = opaque;
    (void)error;
    (void)n;
    if (!view->compatibility || !self->pod_affinity || view->n_affinity_keys == 0)
        return 0;
    for (uint32_t node = 0; node < view->nodes->n_slots; node++) {
        struct node_row *row = row_of(view, node);
        view->host->touch(view->session, row, sizeof *row);
        for (uint32_t i = 0; i < view->nodes->n_tasks[node]; i++)
            row->had_anti_affinity |=
                view->nodes->tasks[node][i]->cls->spec->pod_anti_affinity_required.n > 0;
    }
    return 0;
}

static bool had_anti_affinity(const struct maar_view *view, uint32_t node)
{
    return row_of(view, node)->had_anti_affinity;
}

static bool pod_affinity_active(void *opaque)
{
    const struct predicates *self = opaque;
    return self->pod_affinity;
}

static bool pod_affinity_skip(void *self, const struct maar_view *view,
                              const struct maar_task *task)
{
    (void)self;
    return maar_pod_affinity_skip(view, task);
}

static void pod_affinity_fit(void *self, const struct maar_view *view, const struct maar_task *task,
                             const uint32_t *nodes, size_t n, uint8_t *out)
{
    (void)self;
    maar_pod_affinity_fit(view, task, nodes, n, out,
                          view->compatibility ? had_anti_affinity : NULL);
}

static void pod_affinity_explain(void *self, const struct maar_view *view,
                                 const struct maar_task *task, uint32_t node,
                                 struct maar_reasons *reasons)
{
    (void)self;
    const char *reason =
        maar_pod_affinity_refusal(view, task, node, view->compatibility ? had_anti_affinity : NULL);
    if (reason)
        view->host->reason_add(reasons, reason);
}

/* ---- topology spread ------------------------------------------------------------------------- */

static bool spread_active(void *opaque)
{
    const struct predicates *self = opaque;
    return self->spread;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct maar_argument arguments[] = {
    {"predicate.NodeAffinityEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Node selector and required node affinity."},
    {"predicate.NodePortsEnable", MAAR_ARGUMENT_BOOL, "true", NULL, "Host ports."},
    {"predicate.TaintTolerationEnable", MAAR_ARGUMENT_BOOL, "true", NULL, "Taints of nodes."},
    {"predicate.PodAffinityEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Affinity and anti-affinity between pods."},
    {"predicate.NodeVolumeLimitsEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Number of attachable volumes of a node."},
    {"predicate.VolumeZoneEnable", MAAR_ARGUMENT_BOOL, "true", NULL, "Zones of volumes."},
    {"predicate.PodTopologySpreadEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Topology spread constraints."},
    {"predicate.VolumeBindingEnable", MAAR_ARGUMENT_BOOL, "true", NULL,
     "Binding of persistent volume claims."},
    {"predicate.CacheEnable", MAAR_ARGUMENT_BOOL, "false", NULL,
     "No effect: answers are kept by class of pods anyway."},
    {"predicate.DynamicResourceAllocationEnable", MAAR_ARGUMENT_BOOL, "false", NULL,
     "No effect, as in Volcano."},
    {"volumebinding.weight", MAAR_ARGUMENT_INT, "1", NULL, "Weight of the score of volumes."},
    {"volumebinding.bindTimeoutSeconds", MAAR_ARGUMENT_INT, "600", "at least 0",
     "How long a binding waits for its volumes."},
    {"volumebinding.shape", MAAR_ARGUMENT_TREE, NULL, "a list of {utilization, score}",
     "Score by how full a storage class is."},
    {"dynamicresources.filterTimeoutSeconds", MAAR_ARGUMENT_INT, "10", "at least 0",
     "How long the search for devices on one node may take; 0 is no limit."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

/* In the order in which reasons are given. */
static const struct maar_filter filters[] = {
    {
        .name = "pod number",
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
        .thread_safe = true,
        .fit = fit_pod_number,
        .explain = explain_pod_number,
    },
    {
        .name = "node",
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC,
        .thread_safe = true,
        .fit = fit_static,
        .explain = explain_static,
    },
    {
        .name = "host ports",
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_LOAD,
        .thread_safe = true,
        .active = has_ports,
        .fit = fit_ports,
        .explain = explain_ports,
    },
    {
        .name = "pod affinity",
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
        .active = pod_affinity_active,
        .skip = pod_affinity_skip,
        .fit = pod_affinity_fit,
        .explain = pod_affinity_explain,
    },
    {
        .name = "topology spread",
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
        .active = spread_active,
        .skip = maar_spread_skip,
        .fit = maar_spread_fit,
        .explain = maar_spread_explain,
    },
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "predicates",
    .summary = "Filters nodes by selectors, taints, host ports, pod affinity and topology spread.",
    .arguments = arguments,
    .node_row_size = sizeof(struct node_row),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .gate_subject = MAAR_SUBJECT_CLASS,
    .hooks =
        {
            .pre_filter = pre_filter,
            .filters = filters,
            .n_filters = sizeof filters / sizeof *filters,
            .on_allocate = on_allocate,
            .on_deallocate = on_deallocate,
        },
};
