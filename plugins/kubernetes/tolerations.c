/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Taints and tolerations (kube-scheduler's TaintToleration and NodeUnschedulable). */

#include "kubernetes/tolerations.h"

#include <string.h>

#include "kubernetes/text.h"

bool maar_tolerates(const struct maar_toleration *toleration, const struct maar_taint *taint)
{
    if (toleration->effect != MAAR_EFFECT_ANY && toleration->effect != taint->effect)
        return false;
    if (toleration->key[0] != '\0' && !maar_text_is(toleration->key, taint->key))
        return false;
    switch (toleration->op) {
    case MAAR_TOLERATION_EQUAL:
        return maar_text_is(toleration->value, taint->value);
    case MAAR_TOLERATION_EXISTS:
        return true;
    case MAAR_TOLERATION_LT:
    case MAAR_TOLERATION_GT:
    case MAAR_TOLERATION_INVALID:
        break;
    }
    return false;
}

static bool is_tolerated(const struct maar_pod_spec *spec, const struct maar_taint *taint)
{
    for (uint32_t i = 0; i < spec->n_tolerations; i++)
        if (maar_tolerates(&spec->tolerations[i], taint))
            return true;
    return false;
}

bool maar_pod_tolerates_node(const struct maar_pod_spec *spec, const struct maar_node_facts *node)
{
    for (uint32_t i = 0; i < node->n_taints; i++) {
        const struct maar_taint *taint = &node->taints[i];
        if (taint->effect != MAAR_EFFECT_NO_SCHEDULE && taint->effect != MAAR_EFFECT_NO_EXECUTE)
            continue;
        if (!is_tolerated(spec, taint))
            return false;
    }
    return true;
}

/* The taint's key need not be interned: no node may carry it. So the key is compared by content
 * here. */
bool maar_pod_tolerates_unschedulable(const struct maar_pod_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_tolerations; i++) {
        const struct maar_toleration *toleration = &spec->tolerations[i];
        struct maar_taint taint = {toleration->key, "", MAAR_EFFECT_NO_SCHEDULE};
        if (toleration->key[0] != '\0' &&
            strcmp(toleration->key, "node.kubernetes.io/unschedulable") != 0)
            continue;
        if (maar_tolerates(toleration, &taint))
            return true;
    }
    return false;
}

int64_t maar_n_intolerable_preferences(const struct maar_pod_spec *spec,
                                       const struct maar_node_facts *node)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < node->n_taints; i++)
        if (node->taints[i].effect == MAAR_EFFECT_PREFER_NO_SCHEDULE &&
            !is_tolerated(spec, &node->taints[i]))
            n++;
    return n;
}
