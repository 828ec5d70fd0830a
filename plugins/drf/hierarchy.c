/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The tree of hierarchical drf. A child that holds more than the least of its unsaturated siblings is scaled down to
 * that one's share before the parent adds it up; a saturated child counts with all it holds. Sums are made in the order
 * of insertion, jobs in order of creation, so that equal input gives equal doubles. */

#include "hierarchy.h"

#include <maar/amounts.h>

#include <stdlib.h>
#include <string.h>

#define NO_NODE UINT32_MAX

struct node {
    const char *name; /* one component of the path, not terminated; NULL for leaves */
    size_t name_n;
    double weight;
    uint32_t parent;
    uint32_t first_child, last_child, next_sibling;
    const struct maar_job *job; /* leaves */
    bool saturated;
    double share;
    struct maar_amounts allocated;
    struct maar_amounts request; /* leaves: all that the job's tasks ask for */
};

struct drf_tree {
    struct node *nodes; /* children stand behind their parents; [0] is the root */
    uint32_t n, capacity;
    uint64_t stamp; /* whose shares these are; 0: nobody's */
    uint64_t last_stamp;
    /* A supposed change of two jobs, while shares are computed. */
    const struct maar_job *more, *less;
    const struct maar_resource *more_request, *less_request;
};

struct drf_tree *drf_tree_create(void)
{
    struct drf_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        abort();
    return tree;
}

void drf_tree_destroy(struct drf_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree);
}

static uint32_t add_node(struct drf_tree *tree, uint32_t parent)
{
    if (tree->n == tree->capacity) {
        tree->capacity = tree->capacity ? tree->capacity * 2 : 32;
        tree->nodes = realloc(tree->nodes, tree->capacity * sizeof *tree->nodes);
        if (!tree->nodes)
            abort();
    }
    uint32_t at = tree->n++;
    struct node *node = &tree->nodes[at];
    memset(node, 0, sizeof *node);
    node->weight = 1;
    node->parent = parent;
    node->first_child = node->last_child = node->next_sibling = NO_NODE;
    if (parent == NO_NODE)
        return at;
    struct node *up = &tree->nodes[parent];
    if (up->last_child == NO_NODE)
        up->first_child = at;
    else
        tree->nodes[up->last_child].next_sibling = at;
    up->last_child = at;
    return at;
}

static uint32_t find_child(const struct drf_tree *tree, uint32_t parent, const char *name, size_t n)
{
    for (uint32_t at = tree->nodes[parent].first_child; at != NO_NODE;
         at = tree->nodes[at].next_sibling) {
        const struct node *node = &tree->nodes[at];
        if (node->name && node->name_n == n && memcmp(node->name, name, n) == 0)
            return at;
    }
    return NO_NODE;
}

static const char *annotation(const struct maar_queue *queue, const char *key)
{
    for (uint32_t i = 0; i < queue->n_annotations; i++)
        if (strcmp(queue->annotations[i].key, key) == 0)
            return queue->annotations[i].value;
    return "";
}

/* The next component of a path: *n bytes at the result; *path moves behind its slash, NULL after the last. */
static const char *next_part(const char **path, size_t *n)
{
    const char *part = *path;
    *n = 0;
    if (!part)
        return NULL;
    const char *slash = strchr(part, '/');
    *n = slash ? (size_t)(slash - part) : strlen(part);
    *path = slash ? slash + 1 : NULL;
    return part;
}

/* What does not read as a number of 1 or more counts as 1. */
static double parse_weight(const char *text, size_t n)
{
    char buffer[64];
    if (!text || n == 0 || n >= sizeof buffer)
        return 1;
    memcpy(buffer, text, n);
    buffer[n] = '\0';
    char *end;
    double weight = strtod(buffer, &end);
    return *end || !(weight >= 1) ? 1 : weight;
}

/* The inner node under which the queue's jobs hang. */
static uint32_t insert_path(struct drf_tree *tree, const struct maar_queue *queue)
{
    const char *path = annotation(queue, "volcano.sh/hierarchy");
    const char *weights = annotation(queue, "volcano.sh/hierarchy-weights");
    size_t n, weight_n;
    uint32_t at = 0;
    /* The first component names the root on both sides. */
    next_part(&path, &n);
    next_part(&weights, &weight_n);
    const char *part;
    while ((part = next_part(&path, &n))) {
        const char *weight = next_part(&weights, &weight_n);
        uint32_t child = find_child(tree, at, part, n);
        if (child == NO_NODE) {
            child = add_node(tree, at);
            tree->nodes[child].name = part;
            tree->nodes[child].name_n = n;
            tree->nodes[child].weight = parse_weight(weight, weight_n);
        }
        at = child;
    }
    return at;
}

static struct maar_amounts total_request(const struct maar_view *view, const struct maar_job *job)
{
    int64_t row[MAAR_MAX_DIMS] = {0};
    uint64_t present = 0;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_resource *request = &job->tasks[i]->cls->request;
        for (uint32_t d = 0; d < request->n; d++)
            row[d] += request->v[d];
        present |= request->present;
    }
    return maar_amounts_from_row(row, present, view->dims);
}

void drf_tree_open(struct drf_tree *tree, const struct maar_view *view)
{
    tree->n = 0;
    tree->stamp = 0;
    add_node(tree, NO_NODE);
    for (uint32_t i = 0; i < view->n_jobs; i++) {
        const struct maar_job *job = view->jobs[i];
        uint32_t leaf = add_node(tree, insert_path(tree, job->queue));
        tree->nodes[leaf].job = job;
        tree->nodes[leaf].request = total_request(view, job);
    }
}

uint64_t drf_tree_next_stamp(struct drf_tree *tree)
{
    return ++tree->last_stamp;
}

/* ---- shares ---- */

static double share_of(const struct maar_view *view, const struct maar_amounts *allocated)
{
    double greatest = 0;
    for (uint32_t d = 0; d < view->dims->n; d++) {
        double total = (double)view->total_allocatable[d] * view->dims->policy_scale[d];
        if (total < MAAR_TOLERANCE)
            continue;
        double share = maar_share(allocated->v[d], total);
        if (share > greatest)
            greatest = share;
    }
    return greatest;
}

static void add_request(struct maar_amounts *a, const struct maar_view *view,
                        const struct maar_resource *request, int sign)
{
    for (uint32_t d = 0; d < request->n; d++)
        if (request->v[d] != 0)
            maar_amounts_set(a, d,
                             a->v[d] + sign * (double)request->v[d] * view->dims->policy_scale[d]);
}

/* What the job holds, Pipelined tasks too. */
static struct maar_amounts held(const struct drf_tree *tree, const struct maar_view *view,
                                const struct maar_job *job)
{
    struct maar_amounts a =
        maar_amounts_from_row(job->allocated, job->allocated_present, view->dims);
    for (uint32_t i = 0; job->n[MAAR_TASK_PIPELINED] > 0 && i < job->n_tasks; i++)
        if (job->tasks[i]->status == MAAR_TASK_PIPELINED)
            add_request(&a, view, &job->tasks[i]->cls->request, 1);
    if (job == tree->more)
        add_request(&a, view, tree->more_request, 1);
    if (job == tree->less)
        add_request(&a, view, tree->less_request, -1);
    return a;
}

/* Dimensions of the cluster of which something is left. */
static uint64_t find_demanding(const struct drf_tree *tree, const struct maar_view *view)
{
    struct maar_amounts sum = maar_amounts_none();
    for (uint32_t i = 0; i < tree->n; i++)
        if (tree->nodes[i].job)
            maar_amounts_add(&sum, &tree->nodes[i].allocated);
    uint64_t demanding = 0;
    for (uint32_t d = 0; d < view->dims->n; d++) {
        double total = (double)view->total_allocatable[d] * view->dims->policy_scale[d];
        if (total >= MAAR_TOLERANCE && sum.v[d] < total)
            demanding |= UINT64_C(1) << d;
    }
    return demanding;
}

/* A job that has all it asked for of something, or asks for what has run out, takes no more. */
static bool is_saturated(const struct node *leaf, uint64_t demanding)
{
    MAAR_EACH_DIM(d, maar_amounts_names(&leaf->allocated))
    {
        double allocated = leaf->allocated.v[d], request = leaf->request.v[d];
        if (allocated != 0 && request != 0 && allocated >= request)
            return true;
        if (!((demanding >> d) & 1) && request != 0)
            return true;
    }
    return false;
}

static void sum_up(struct drf_tree *tree, const struct maar_view *view, uint32_t at)
{
    struct node *node = &tree->nodes[at];
    double least = 1;
    bool saturated = true;
    for (uint32_t c = node->first_child; c != NO_NODE; c = tree->nodes[c].next_sibling) {
        const struct node *child = &tree->nodes[c];
        if (child->share != 0 && !child->saturated && child->share < least)
            least = child->share;
        saturated = saturated && child->saturated;
    }
    node->allocated = maar_amounts_none();
    for (uint32_t c = node->first_child; c != NO_NODE; c = tree->nodes[c].next_sibling) {
        const struct node *child = &tree->nodes[c];
        if (child->share == 0)
            continue;
        struct maar_amounts part = child->allocated;
        if (!child->saturated)
            maar_amounts_multi(&part, least / child->share);
        maar_amounts_add(&node->allocated, &part);
    }
    node->share = share_of(view, &node->allocated);
    node->saturated = saturated;
}

static void compute(struct drf_tree *tree, const struct maar_view *view)
{
    for (uint32_t i = 0; i < tree->n; i++)
        if (tree->nodes[i].job)
            tree->nodes[i].allocated = held(tree, view, tree->nodes[i].job);
    uint64_t demanding = find_demanding(tree, view);
    /* Children have greater numbers than their parents. */
    for (uint32_t i = tree->n; i-- > 0;) {
        struct node *node = &tree->nodes[i];
        if (!node->job) {
            sum_up(tree, view, i);
            continue;
        }
        node->share = share_of(view, &node->allocated);
        node->saturated = is_saturated(node, demanding);
    }
}

void drf_tree_update(struct drf_tree *tree, const struct maar_view *view, uint64_t stamp)
{
    if (tree->stamp == stamp && stamp != 0)
        return;
    compute(tree, view);
    tree->stamp = stamp;
}

void drf_tree_suppose(struct drf_tree *tree, const struct maar_view *view,
                      const struct maar_job *more, const struct maar_resource *more_request,
                      const struct maar_job *less, const struct maar_resource *less_request)
{
    tree->more = more;
    tree->more_request = more_request;
    tree->less = less;
    tree->less_request = less_request;
    compute(tree, view);
    tree->more = tree->less = NULL;
    tree->stamp = 0;
}

/* A queue without jobs has no node: it holds nothing and wants all. */
static const struct node *descend(const struct drf_tree *tree, const struct node *from,
                                  const char *part, size_t n)
{
    if (!from || !part)
        return NULL;
    uint32_t child = find_child(tree, (uint32_t)(from - tree->nodes), part, n);
    return child == NO_NODE ? NULL : &tree->nodes[child];
}

double drf_tree_compare(const struct drf_tree *tree, const struct maar_queue *l,
                        const struct maar_queue *r)
{
    const char *l_path = annotation(l, "volcano.sh/hierarchy");
    const char *r_path = annotation(r, "volcano.sh/hierarchy");
    size_t l_n, r_n;
    next_part(&l_path, &l_n);
    next_part(&r_path, &r_n);
    const struct node *l_node = &tree->nodes[0], *r_node = l_node;
    for (;;) {
        bool l_saturated = l_node && l_node->saturated, r_saturated = r_node && r_node->saturated;
        if (l_saturated != r_saturated)
            return l_saturated ? 1 : -1;
        double l_part = l_node ? l_node->share / l_node->weight : 0;
        double r_part = r_node ? r_node->share / r_node->weight : 0;
        if (l_part != r_part)
            return l_part - r_part;
        const char *l_name = next_part(&l_path, &l_n), *r_name = next_part(&r_path, &r_n);
        if (!l_name || !r_name)
            return 0;
        l_node = descend(tree, l_node, l_name, l_n);
        r_node = descend(tree, r_node, r_name, r_n);
    }
}
