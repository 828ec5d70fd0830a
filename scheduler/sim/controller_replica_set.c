// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// ReplicaSet: so many pods that are not over or going. A pod too many is chosen as Kubernetes does: first those without
// a node, then Pending before Running, unready before ready, young before old.
#include <stdio.h>
#include <string.h>

#include "sim/controller_parts.h"

static int rank(const json_t *pod)
{
    if (!*maar_document_text(pod, "spec.nodeName"))
        return 0;
    if (!maar_pod_has_phase(pod, "Running"))
        return 1;
    return maar_pod_is_ready(pod) ? 3 : 2;
}

/* The list is in order of creation; of equal rank the youngest goes. */
static size_t worst(const struct maar_object_list *pods)
{
    size_t best = 0;
    for (size_t i = 1; i < pods->n; i++)
        if (rank(pods->data[i]->document) <= rank(pods->data[best]->document))
            best = i;
    return best;
}

static json_t *status_of(const struct maar_object *object, const struct maar_object_list *pods)
{
    json_int_t n_ready = 0;
    for (size_t i = 0; i < pods->n; i++)
        n_ready += maar_pod_is_ready(pods->data[i]->document);
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "replicas", (json_int_t)pods->n,
                     "fullyLabeledReplicas", (json_int_t)pods->n, "readyReplicas", n_ready,
                     "availableReplicas", n_ready, "observedGeneration",
                     (json_int_t)maar_document_int(object->document, "metadata.generation", 1));
}

static bool add_pod(struct maar_controllers *controllers, struct maar_known *known,
                    const struct maar_object *object)
{
    char name[320];
    maar_controller_next_name(controllers, known, object->name, name);
    json_t *pod =
        maar_controller_pod(object, maar_document_at(object->document, "spec.template"), name);
    return maar_controller_create(controllers, controllers->pods, object, pod);
}

void maar_reconcile_replica_set(struct maar_controllers *controllers, struct maar_known *known,
                                struct maar_object *object)
{
    struct maar_object_list pods = {0};
    int64_t want = maar_document_int(object->document, "spec.replicas", 1);
    maar_controller_list(known, controllers->pods, &pods);
    for (size_t i = pods.n; i-- > 0;)
        if (maar_pod_is_over(pods.data[i]->document) || maar_pod_is_going(pods.data[i]->document))
            maar_vec_remove(&pods, i);
    maar_controller_set_status(controllers, known, object, status_of(object, &pods));
    if (want == 0)
        maar_controller_drop_group(controllers, object);
    bool made = true;
    for (int64_t n = (int64_t)pods.n; made && n < want; n++)
        made = add_pod(controllers, known, object);
    while ((int64_t)pods.n > want) {
        size_t i = worst(&pods);
        maar_controller_delete(controllers, controllers->pods, pods.data[i]);
        maar_vec_remove(&pods, i);
    }
    maar_vec_fini(&pods);
}
