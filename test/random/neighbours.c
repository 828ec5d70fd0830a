/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Pod affinity and topology spread, recounted from the objects. */

#include "neighbours.h"

static const char *value_of(const struct labels *labels, const char *key)
{
    for (uint32_t i = 0; i < labels->n; i++)
        if (!strcmp(labels->items[i].key, key))
            return labels->items[i].value;
    return NULL;
}

static bool lists(const struct term *term, uint32_t i, const char *value)
{
    for (uint32_t k = 0; k < term->items[i].n_values; k++)
        if (!strcmp(term->values[i][k], value))
            return true;
    return false;
}

static bool selects(const struct selector *selector, const struct labels *labels)
{
    bool all = selector->is_set;
    for (uint32_t i = 0; i < selector->term.n; i++) {
        const struct maar_requirement *r = &selector->term.items[i];
        const char *value = value_of(labels, r->key);
        if (r->op == MAAR_OP_IN)
            all &= value && lists(&selector->term, i, value);
        else if (r->op == MAAR_OP_NOT_IN)
            all &= !value || !lists(&selector->term, i, value);
        else
            all &= (value != NULL) == (r->op == MAAR_OP_EXISTS);
    }
    return all;
}

/* Whether a term of `owner` means the other pod. */
static bool means(const struct cluster *cluster, const struct object *owner,
                  const struct affinity_term *term, const struct object *other)
{
    static const struct labels none;
    const struct object *space = cluster_find(cluster, MAAR_KIND_NAMESPACE, "", other->ns);
    bool in = term->n_namespaces == 0 && !term->namespace_selector.is_set &&
              !strcmp(owner->ns, other->ns);
    for (uint32_t i = 0; i < term->n_namespaces; i++)
        in |= !strcmp(term->namespaces[i], other->ns);
    in |= selects(&term->namespace_selector, space && !space->withheld ? &space->space : &none);
    return in && selects(&term->selector, &other->pod.labels);
}

static bool share(const struct object *l, const struct object *r, const char *key)
{
    const char *value_l = value_of(&l->node.labels, key), *value_r = value_of(&r->node.labels, key);
    return value_l && value_r && !strcmp(value_l, value_r);
}

/* `owner` wants no such pod in its domain, and there it is. */
static void check_repelled(const struct cluster *cluster, const struct standing *owner,
                           const struct standing *other, struct maar_text *out)
{
    const struct affinity *anti = &owner->pod->pod.affinity[ANTI_AFFINITY];
    for (uint32_t i = 0; i < anti->n; i++)
        if (means(cluster, owner->pod, &anti->terms[i], other->pod) &&
            share(owner->node, other->node, anti->terms[i].topology_key))
            maar_text_addf(out, "anti-affinity of %s on %s by %s means %s on %s\n",
                           owner->pod->name, owner->node->name, anti->terms[i].topology_key,
                           other->pod->name, other->node->name);
}

static bool means_all(const struct cluster *cluster, const struct object *owner,
                      const struct object *other)
{
    const struct affinity *affinity = &owner->pod.affinity[AFFINITY];
    for (uint32_t i = 0; i < affinity->n; i++)
        if (!means(cluster, owner, &affinity->terms[i], other))
            return false;
    return true;
}

static void check_attracted(const struct cluster *cluster, const struct standing *standing,
                            size_t n, size_t at, struct maar_text *out)
{
    const struct standing *own = &standing[at];
    const struct affinity *affinity = &own->pod->pod.affinity[AFFINITY];
    for (uint32_t i = 0; i < affinity->n; i++) {
        const char *key = affinity->terms[i].topology_key;
        bool found =
            value_of(&own->node->node.labels, key) && means_all(cluster, own->pod, own->pod);
        for (size_t k = 0; k < n && !found; k++)
            found = k != at && share(own->node, standing[k].node, key) &&
                    means_all(cluster, own->pod, standing[k].pod);
        if (!found)
            maar_text_addf(out, "affinity of %s on %s finds nobody by %s\n", own->pod->name,
                           own->node->name, key);
    }
}

static bool has_all_hard_keys(const struct pod_object *pod, const struct object *node)
{
    for (uint32_t i = 0; i < pod->n_spread; i++)
        if (pod->spread[i].hard && !value_of(&node->node.labels, pod->spread[i].topology_key))
            return false;
    return true;
}

/* Pods that the constraint counts in the domain of the node, the new one itself left out. */
static int32_t count_domain(const struct spread *spread, const struct standing *standing, size_t n,
                            size_t at, const struct object *node)
{
    int32_t count = 0;
    for (size_t k = 0; k < n; k++) {
        const struct object *other = standing[k].pod;
        count += k != at && !other->pod.deleting && !strcmp(other->ns, standing[at].pod->ns) &&
                 spread->selector.term.n > 0 && selects(&spread->selector, &other->pod.labels) &&
                 share(standing[k].node, node, spread->topology_key) &&
                 has_all_hard_keys(&standing[at].pod->pod, standing[k].node);
    }
    return count;
}

/* Constraints whose domains do not hang on what nodes the pod may use. */
static void check_spread(const struct cluster *cluster, const struct standing *standing, size_t n,
                         size_t at, const struct spread *spread, struct maar_text *out)
{
    const struct standing *own = &standing[at];
    int32_t least = INT32_MAX, n_domains = 0;
    for (size_t i = 0; i < cluster->objects.n; i++) {
        const struct object *node = cluster->objects.data[i];
        if (node->kind != MAAR_KIND_NODE || node->withheld ||
            !has_all_hard_keys(&own->pod->pod, node))
            continue;
        int32_t count = count_domain(spread, standing, n, at, node);
        least = count < least ? count : least;
        bool first = true;
        for (size_t k = 0; k < i; k++) {
            const struct object *before = cluster->objects.data[k];
            first &= before->kind != MAAR_KIND_NODE || before->withheld ||
                     !has_all_hard_keys(&own->pod->pod, before) ||
                     !share(before, node, spread->topology_key);
        }
        n_domains += first;
    }
    least = n_domains < spread->min_domains ? 0 : least;
    int32_t here = count_domain(spread, standing, n, at, own->node) +
                   selects(&spread->selector, &own->pod->pod.labels);
    if (!value_of(&own->node->node.labels, spread->topology_key) || here - least > spread->max_skew)
        maar_text_addf(out, "spread of %s on %s by %s: %d here, %d at least, maxSkew %d\n",
                       own->pod->name, own->node->name, spread->topology_key, here, least,
                       spread->max_skew);
}

static bool hangs_on_nodes(const struct pod_object *pod, const struct spread *spread)
{
    return (spread->honor_affinity && (pod->selector.n > 0 || pod->has_required)) ||
           spread->honor_taints;
}

void neighbours_check(const struct cluster *cluster, const struct standing *standing, size_t n,
                      size_t at, struct maar_text *out)
{
    const struct pod_object *pod = &standing[at].pod->pod;
    size_t n_new = 0;
    for (size_t i = 0; i < n; i++) {
        n_new += standing[i].is_new;
        if (i == at)
            continue;
        check_repelled(cluster, &standing[at], &standing[i], out);
        check_repelled(cluster, &standing[i], &standing[at], out);
    }
    check_attracted(cluster, standing, n, at, out);
    for (uint32_t i = 0; n_new == 1 && i < pod->n_spread; i++)
        if (pod->spread[i].hard && !hangs_on_nodes(pod, &pod->spread[i]))
            check_spread(cluster, standing, n, at, &pod->spread[i], out);
}
