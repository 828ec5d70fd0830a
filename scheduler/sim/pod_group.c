// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Owner references are followed upwards, two at most: PodGroup to ReplicaSet to Deployment.
#include "sim/pod_group.h"

#include <stdio.h>
#include <string.h>

#include "sim/document.h"

static bool is_made_for(const struct maar_store *store, const struct maar_object *group,
                        const char *name)
{
    const json_t *document = group->document;
    for (int depth = 0; document && depth < 2; depth++) {
        const json_t *owner =
            json_array_get(maar_document_at(document, "metadata.ownerReferences"), 0);
        const struct maar_collection *kind = maar_store_find(
            store, maar_document_text(owner, "apiVersion"), maar_document_text(owner, "kind"));
        const char *own = maar_document_text(owner, "name");
        if (strcmp(name, own) == 0)
            return true;
        const struct maar_object *object =
            kind ? maar_collection_object(kind, group->ns, own) : NULL;
        document = object ? object->document : NULL;
    }
    return false;
}

const struct maar_object *maar_pod_group_find(const struct maar_store *store, const char *name)
{
    const struct maar_collection *groups =
        maar_store_find(store, "scheduling.volcano.sh/v1beta1", "PodGroup");
    const char *slash = strchr(name, '/'), *own = slash ? slash + 1 : name;
    char ns[256] = "default";
    if (slash)
        snprintf(ns, sizeof ns, "%.*s", (int)(slash - name), name);
    const struct maar_object *group = groups ? maar_collection_object(groups, ns, own) : NULL;
    if (group)
        return group;
    size_t at = 0;
    while ((group = maar_collection_next(groups, &at)))
        if (strcmp(group->ns, ns) == 0 && is_made_for(store, group, own))
            return group;
    return NULL;
}
