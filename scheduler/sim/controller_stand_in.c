// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// In the place of owners that are not in the cluster: what they would do about an evicted pod. The pod comes again as it
// was before its binding, Pending, under NAME-rN.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "sim/controller_parts.h"

/* "a-0" → "a-0-r1" → "a-0-r2", past names that are taken. */
static void next_name(const struct maar_controllers *controllers, const char *ns, const char *name,
                      char buffer[320])
{
    const char *mark = strrchr(name, '-');
    size_t n = strlen(name);
    unsigned long count = 0;
    if (mark && mark[1] == 'r' && mark[2] >= '1' && mark[2] <= '9' &&
        strspn(mark + 2, "0123456789") == strlen(mark + 2)) {
        count = strtoul(mark + 2, NULL, 10);
        n = (size_t)(mark - name);
    }
    do
        snprintf(buffer, 320, "%.*s-r%lu", (int)n, name, ++count);
    while (maar_collection_object(controllers->pods, ns, buffer));
}

/* The PodGroup that was made for this one pod went with it. */
static void drop_own_group(json_t *pod, const char *uid)
{
    char name[300];
    snprintf(name, sizeof name, "podgroup-%.200s", uid);
    if (strcmp(maar_document_pod_group(pod), name) == 0)
        json_object_del(maar_document_at(pod, "metadata.annotations"), MAAR_GROUP_KEY);
}

void maar_controller_make_again(struct maar_controllers *controllers, const json_t *gone)
{
    static const char *const dropped[] = {"uid",
                                          "resourceVersion",
                                          "creationTimestamp",
                                          "deletionTimestamp",
                                          "deletionGracePeriodSeconds",
                                          "generation",
                                          "managedFields",
                                          NULL};
    json_t *template = maar_map_remove(controllers->evicted, maar_document_uid(gone));
    if (!controllers->recreate) {
        json_decref(template);
        return;
    }
    char name[320];
    json_t *pod = json_deep_copy(template);
    json_t *metadata = json_object_get(pod, "metadata");
    next_name(controllers, maar_document_namespace(gone), maar_document_name(gone), name);
    for (size_t i = 0; dropped[i]; i++)
        json_object_del(metadata, dropped[i]);
    json_object_set_new(metadata, "name", json_string(name));
    drop_own_group(pod, maar_document_uid(gone));
    json_object_del(json_object_get(pod, "spec"), "nodeName");
    json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
    struct maar_answer answer;
    maar_store_create_object(controllers->store, controllers->pods, maar_document_namespace(gone),
                             pod, false, &answer);
    maar_answer_fini(&answer);
    json_decref(pod);
    json_decref(template);
}
