/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* nodeorder: scores nodes as kube-scheduler's score plugins do, each 0 to 100 times its weight.
 *
 * Integer arithmetic throughout, so equal nodes tie exactly. Requests count with kube-scheduler's
 * defaults (100m and 200 MiB for a container that asks for nothing) in the first two, plainly in
 * the third. Pods that this session evicts are gone already, pods that were leaving before it are
 * not.
 *
 * - leastrequested.weight (1): the emptiest node by cpu and memory
 * - mostrequested.weight (0): the fullest
 * - balancedresource.weight (1): the node whose cpu, memory and nvidia.com/gpu become most evenly
 *   used
 * - nodeaffinity.weight (2): preferred node affinity
 * - tainttoleration.weight (3): fewest PreferNoSchedule taints that the pod does not tolerate
 * - podaffinity.weight (2): preferred affinity and anti-affinity between pods, both ways
 * - podtopologyspread.weight (2): soft topology spread constraints
 * - imagelocality.weight (1): the node that has most of the pod's images by size, each the more the
 *   more nodes have it. The size is the node's own word; kube-scheduler takes that of the node that
 *   it heard first.
 *
 * Weight 0 turns a score off. */

#include <maar/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kubernetes/node_affinity.h"
#include "kubernetes/tolerations.h"
#include "nodeorder/scores.h"

#define MAX_SCORE 100

struct nodeorder {
    int64_t least_weight;
    int64_t most_weight;
    int64_t balanced_weight;
    int64_t affinity_weight;
    int64_t taint_weight;
    int64_t pod_affinity_weight;
    int64_t spread_weight;
    int64_t image_weight;
};

/* The session row. */
struct session_row {
    bool has_gpu;
    uint32_t gpu; /* dimension */
};

/* The node row; first the requests of the pods that this session evicts. */
struct node_row {
    int64_t nonzero_cpu_milli;
    int64_t nonzero_memory_bytes;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t gpus;
    /* A pod with (anti-)affinity was on the node when the session opened (known under
     * `compatibility: volcano`). */
    bool had_affinity;
};

static int create(const struct maar_host *host, const struct maar_arguments *arguments,
                  void **ret_self, char *error, size_t n)
{
    (void)error;
    (void)n;
    struct nodeorder *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->least_weight = host->argument_int(arguments, "leastrequested.weight");
    self->most_weight = host->argument_int(arguments, "mostrequested.weight");
    self->balanced_weight = host->argument_int(arguments, "balancedresource.weight");
    self->affinity_weight = host->argument_int(arguments, "nodeaffinity.weight");
    self->taint_weight = host->argument_int(arguments, "tainttoleration.weight");
    self->pod_affinity_weight = host->argument_int(arguments, "podaffinity.weight");
    self->image_weight = host->argument_int(arguments, "imagelocality.weight");
    self->spread_weight = host->argument_int(arguments, "podtopologyspread.weight");
    *ret_self = self;
    return 0;
}

static void destroy(void *self)
{
    free(self);
}

static struct session_row *session_row_of(const struct maar_view *view)
{
    return (struct session_row *)(void *)view->session_row;
}

static struct node_row *node_row_of(const struct maar_view *view, uint32_t node)
{
    return (struct node_row *)(void *)view->node_rows + node;
}

static void note_affinity(const struct maar_view *view)
{
    for (uint32_t node = 0; node < view->nodes->n_slots; node++) {
        struct node_row *row = node_row_of(view, node);
        view->host->touch(view->session, row, sizeof *row);
        for (uint32_t i = 0; i < view->nodes->n_tasks[node]; i++)
            row->had_affinity |= maar_spec_has_pod_affinity(view->nodes->tasks[node][i]->cls->spec);
    }
}

static int open_session(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)self;
    (void)error;
    (void)n;
    struct session_row *row = session_row_of(view);
    uint32_t gpu = view->host->dim_find(view->session, "nvidia.com/gpu");
    view->host->touch(view->session, row, sizeof *row);
    row->has_gpu = gpu < view->dims->n;
    row->gpu = row->has_gpu ? gpu : 0;
    if (view->compatibility && view->n_affinity_keys > 0)
        note_affinity(view);
    return 0;
}

/* ---- least and most requested ---------------------------------------------------------------- */

static int64_t least_of(int64_t requested, int64_t allocatable)
{
    return requested > allocatable ? 0 : (allocatable - requested) * MAX_SCORE / allocatable;
}

static int64_t most_of(int64_t requested, int64_t allocatable)
{
    return (requested > allocatable ? allocatable : requested) * MAX_SCORE / allocatable;
}

/* The weighted mean over cpu and memory; a resource that the node does not have is left out with
 * its weight. */
static int64_t requested_score(const struct maar_view *view, const struct maar_class *cls,
                               uint32_t node, int64_t weight, int64_t (*score)(int64_t, int64_t))
{
    const struct maar_nodes *nodes = view->nodes;
    const struct node_row *gone = node_row_of(view, node);
    int64_t cpu = nodes->allocatable[MAAR_DIM_CPU][node];
    int64_t memory = nodes->allocatable[MAAR_DIM_MEMORY][node];
    int64_t sum = 0, weight_sum = 0;
    if (cpu != 0) {
        int64_t requested = nodes->nonzero_cpu_milli[node] - gone->nonzero_cpu_milli;
        sum += score(requested + cls->nonzero_cpu_milli, cpu) * weight;
        weight_sum += weight;
    }
    if (memory != 0) {
        int64_t requested = nodes->nonzero_memory_bytes[node] - gone->nonzero_memory_bytes;
        sum += score(requested + cls->nonzero_memory_bytes, memory) * weight;
        weight_sum += weight;
    }
    return weight_sum == 0 ? 0 : sum / weight_sum;
}

static bool least_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->least_weight != 0;
}

static void least_score(void *opaque, const struct maar_view *view, const struct maar_task *task,
                        const uint32_t *nodes, size_t n, double *out)
{
    const struct nodeorder *self = opaque;
    for (size_t i = 0; i < n; i++)
        out[i] +=
            (double)(requested_score(view, task->cls, nodes[i], 50, least_of) * self->least_weight);
}

static bool most_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->most_weight != 0;
}

static void most_score(void *opaque, const struct maar_view *view, const struct maar_task *task,
                       const uint32_t *nodes, size_t n, double *out)
{
    const struct nodeorder *self = opaque;
    for (size_t i = 0; i < n; i++)
        out[i] +=
            (double)(requested_score(view, task->cls, nodes[i], 1, most_of) * self->most_weight);
}

/* ---- balanced use ---------------------------------------------------------------------------- */

/* One resource of a node: what its pods ask for, what the task asks for, what there is. */
struct use {
    int64_t requested;
    int64_t ask;
    int64_t allocatable;
};

/* 100 when all are used to the same fraction. */
static int64_t evenness(const struct use *uses, size_t n, bool with_task)
{
    double fractions[3], sum = 0, deviation = 0;
    size_t n_fractions = 0;
    for (size_t i = 0; i < n; i++) {
        if (uses[i].allocatable == 0)
            continue;
        int64_t requested = uses[i].requested + (with_task ? uses[i].ask : 0);
        double fraction = (double)requested / (double)uses[i].allocatable;
        if (fraction > 1)
            fraction = 1;
        sum += fraction;
        fractions[n_fractions++] = fraction;
    }
    if (n_fractions == 2) {
        deviation = fabs((fractions[0] - fractions[1]) / 2);
    } else if (n_fractions > 2) {
        double mean = sum / (double)n_fractions, squares = 0;
        for (size_t i = 0; i < n_fractions; i++)
            squares += (fractions[i] - mean) * (fractions[i] - mean);
        deviation = sqrt(squares / (double)n_fractions);
    }
    return (int64_t)((1 - deviation) * MAX_SCORE);
}

static struct use use_of(const struct maar_view *view, const struct maar_class *cls, uint32_t dim,
                         uint32_t node, int64_t gone)
{
    const struct maar_nodes *nodes = view->nodes;
    return (struct use){
        .requested = nodes->used[dim][node] + nodes->pipelined[dim][node] - gone,
        .ask = maar_resource_get(&cls->request, dim),
        .allocatable = nodes->allocatable[dim][node],
    };
}

/* Rewards what the task improves: 75 when it changes nothing. */
static int64_t balance_of(const struct maar_view *view, const struct maar_class *cls, uint32_t node)
{
    const struct session_row *row = session_row_of(view);
    const struct node_row *gone = node_row_of(view, node);
    struct use uses[3];
    size_t n = 0;
    uses[n++] = use_of(view, cls, MAAR_DIM_CPU, node, gone->cpu_milli);
    uses[n++] = use_of(view, cls, MAAR_DIM_MEMORY, node, gone->memory_bytes);
    if (row->has_gpu && maar_resource_get(&cls->request, row->gpu) != 0)
        uses[n++] = use_of(view, cls, row->gpu, node, gone->gpus);
    return 50 + (50 + evenness(uses, n, true) - evenness(uses, n, false)) / 2;
}

static bool balanced_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->balanced_weight != 0;
}

/* Says nothing about a task that asks for none of the resources. */
static void balanced_score(void *opaque, const struct maar_view *view, const struct maar_task *task,
                           const uint32_t *nodes, size_t n, double *out)
{
    const struct nodeorder *self = opaque;
    const struct session_row *row = session_row_of(view);
    const struct maar_resource *ask = &task->cls->request;
    if (maar_resource_get(ask, MAAR_DIM_CPU) == 0 && maar_resource_get(ask, MAAR_DIM_MEMORY) == 0 &&
        !(row->has_gpu && maar_resource_get(ask, row->gpu) != 0))
        return;
    for (size_t i = 0; i < n; i++)
        out[i] += (double)(balance_of(view, task->cls, nodes[i]) * self->balanced_weight);
}

/* ---- node affinity --------------------------------------------------------------------------- */

static bool affinity_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->affinity_weight != 0;
}

static bool affinity_skip(void *self, const struct maar_view *view, const struct maar_task *task)
{
    (void)self;
    (void)view;
    return task->cls->spec->n_preferred == 0;
}

static void affinity_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                         const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    for (size_t i = 0; i < n; i++)
        out[i] = maar_preferred_weight(task->cls->spec, &view->nodes->facts[nodes[i]]);
}

static double affinity_normalise(void *opaque, const struct maar_view *view,
                                 const struct maar_task *task, int64_t raw, int64_t min,
                                 int64_t max)
{
    (void)view;
    (void)task;
    (void)min;
    const struct nodeorder *self = opaque;
    int64_t score = max == 0 ? raw : raw * MAX_SCORE / max;
    return (double)(score * self->affinity_weight);
}

/* ---- taints ---------------------------------------------------------------------------------- */

static bool taint_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->taint_weight != 0;
}

static void taint_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                      const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    for (size_t i = 0; i < n; i++)
        out[i] = maar_n_intolerable_preferences(task->cls->spec, &view->nodes->facts[nodes[i]]);
}

static double taint_normalise(void *opaque, const struct maar_view *view,
                              const struct maar_task *task, int64_t raw, int64_t min, int64_t max)
{
    (void)view;
    (void)task;
    (void)min;
    const struct nodeorder *self = opaque;
    int64_t score = max == 0 ? MAX_SCORE : MAX_SCORE - raw * MAX_SCORE / max;
    return (double)(score * self->taint_weight);
}

/* ---- images ---------------------------------------------------------------------------------- */

#define MI               (INT64_C(1) << 20)
#define LEAST_IMAGE      (23 * MI)
#define MOST_OF_AN_IMAGE (1000 * MI)

/* The size of the image on the node, 0 when it is not there. */
static int64_t image_part(const struct maar_view *view, const struct maar_node_facts *node,
                          const char *name)
{
    uint32_t low = 0, high = node->n_images;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(node->images[middle].image->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == node->n_images || strcmp(node->images[low].image->name, name) != 0)
        return 0;
    double spread = (double)node->images[low].image->n_nodes / (double)view->nodes->n_live;
    return (int64_t)((double)node->images[low].size_bytes * spread);
}

static int64_t image_score_of(const struct maar_view *view, const struct maar_pod_spec *spec,
                              uint32_t node)
{
    const struct maar_node_facts *facts = &view->nodes->facts[node];
    int64_t most = MOST_OF_AN_IMAGE * spec->n_images;
    int64_t sum = 0;
    for (uint32_t i = 0; i < spec->n_images && sum < most; i++) {
        int64_t part = image_part(view, facts, spec->images[i]);
        sum = part < most - sum ? sum + part : most;
    }
    if (sum < LEAST_IMAGE)
        sum = LEAST_IMAGE;
    return MAX_SCORE * (sum - LEAST_IMAGE) / (most - LEAST_IMAGE);
}

static bool image_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->image_weight != 0;
}

static void image_score(void *opaque, const struct maar_view *view, const struct maar_task *task,
                        const uint32_t *nodes, size_t n, double *out)
{
    const struct nodeorder *self = opaque;
    const struct maar_pod_spec *spec = task->cls->spec;
    for (size_t i = 0; i < n; i++)
        if (view->nodes->facts[nodes[i]].n_images > 0 && spec->n_images > 0)
            out[i] += (double)image_score_of(view, spec, nodes[i]) * (double)self->image_weight;
}

/* ---- affinity between pods ------------------------------------------------------------------- */

static bool pod_affinity_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->pod_affinity_weight != 0;
}

static bool had_affinity(const struct maar_view *view, uint32_t node)
{
    return node_row_of(view, node)->had_affinity;
}

static void pod_affinity_raw(void *self, const struct maar_view *view, const struct maar_task *task,
                             const uint32_t *nodes, size_t n, int64_t *out)
{
    (void)self;
    maar_pod_affinity_score_raw(view, task, nodes, n, out,
                                view->compatibility ? had_affinity : NULL);
}

static double pod_affinity_normalise(void *opaque, const struct maar_view *view,
                                     const struct maar_task *task, int64_t raw, int64_t min,
                                     int64_t max)
{
    (void)view;
    (void)task;
    const struct nodeorder *self = opaque;
    int64_t score =
        max == min ? 0 : (int64_t)(MAX_SCORE * ((double)(raw - min) / (double)(max - min)));
    return (double)(score * self->pod_affinity_weight);
}

/* ---- topology spread ------------------------------------------------------------------------- */

static bool spread_active(void *opaque)
{
    const struct nodeorder *self = opaque;
    return self->spread_weight != 0;
}

static double spread_normalise(void *opaque, const struct maar_view *view,
                               const struct maar_task *task, int64_t raw, int64_t min, int64_t max)
{
    (void)view;
    (void)task;
    const struct nodeorder *self = opaque;
    int64_t score = max == 0 ? MAX_SCORE : MAX_SCORE * (max + min - raw) / max;
    return (double)(score * self->spread_weight);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void count_evicted(const struct maar_view *view, const struct maar_task *task, int64_t sign)
{
    if (task->node >= view->nodes->n_slots)
        return;
    const struct maar_class *cls = task->cls;
    const struct session_row *session = session_row_of(view);
    struct node_row *gone = node_row_of(view, task->node);
    view->host->touch(view->session, gone, sizeof *gone);
    gone->nonzero_cpu_milli += sign * cls->nonzero_cpu_milli;
    gone->nonzero_memory_bytes += sign * cls->nonzero_memory_bytes;
    gone->cpu_milli += sign * maar_resource_get(&cls->request, MAAR_DIM_CPU);
    gone->memory_bytes += sign * maar_resource_get(&cls->request, MAAR_DIM_MEMORY);
    if (session->has_gpu)
        gone->gpus += sign * maar_resource_get(&cls->request, session->gpu);
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

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct maar_argument arguments[] = {
    {"leastrequested.weight", MAAR_ARGUMENT_INT, "1", NULL, "Prefers the emptiest node."},
    {"mostrequested.weight", MAAR_ARGUMENT_INT, "0", NULL, "Prefers the fullest node."},
    {"balancedresource.weight", MAAR_ARGUMENT_INT, "1", NULL,
     "Prefers a node whose resources become evenly used."},
    {"nodeaffinity.weight", MAAR_ARGUMENT_INT, "2", NULL, "Prefers by node affinity."},
    {"podaffinity.weight", MAAR_ARGUMENT_INT, "2", NULL, "Prefers by affinity between pods."},
    {"tainttoleration.weight", MAAR_ARGUMENT_INT, "3", NULL,
     "Avoids PreferNoSchedule taints that the pod does not tolerate."},
    {"imagelocality.weight", MAAR_ARGUMENT_INT, "1", NULL,
     "Prefers nodes that have the pod's images."},
    {"podtopologyspread.weight", MAAR_ARGUMENT_INT, "2", NULL,
     "Prefers by topology spread constraints."},
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

static const struct maar_score scores[] = {
    {
        .name = "NodeResourcesFit_LeastAllocated",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
        .thread_safe = true,
        .active = least_active,
        .score = least_score,
    },
    {
        .name = "ImageLocality",
        .phase = MAAR_SCORE_NODE,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC,
        .thread_safe = true,
        .active = image_active,
        .score = image_score,
    },
    {
        .name = "NodeResourcesFit_MostAllocated",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
        .thread_safe = true,
        .active = most_active,
        .score = most_score,
    },
    {
        .name = "NodeResourcesBalancedAllocation",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD,
        .thread_safe = true,
        .active = balanced_active,
        .score = balanced_score,
    },
    {
        .name = "NodeAffinity",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC,
        .thread_safe = true,
        .active = affinity_active,
        .raw = affinity_raw,
        .normalise = affinity_normalise,
        .skip = affinity_skip,
    },
    {
        .name = "InterPodAffinity",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
        .active = pod_affinity_active,
        .raw = pod_affinity_raw,
        .normalise = pod_affinity_normalise,
        .skip = maar_pod_affinity_score_skip,
    },
    {
        .name = "TaintToleration",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC,
        .thread_safe = true,
        .active = taint_active,
        .raw = taint_raw,
        .normalise = taint_normalise,
    },
    {
        .name = "PodTopologySpread",
        .phase = MAAR_SCORE_BATCH,
        .subject = MAAR_SUBJECT_CLASS,
        .node = MAAR_NODE_STATIC | MAAR_NODE_LOAD | MAAR_NODE_OTHERS,
        .active = spread_active,
        .raw = maar_spread_score_raw,
        .normalise = spread_normalise,
        .skip = maar_spread_score_skip,
    },
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "nodeorder",
    .summary = "Scores nodes as kube-scheduler does.",
    .arguments = arguments,
    .node_row_size = sizeof(struct node_row),
    .session_row_size = sizeof(struct session_row),
    .create = create,
    .destroy = destroy,
    .open = open_session,
    .hooks =
        {
            .scores = scores,
            .n_scores = sizeof scores / sizeof *scores,
            .on_allocate = on_allocate,
            .on_deallocate = on_deallocate,
        },
};
