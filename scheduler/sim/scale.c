// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// A write of the Scale is a write of spec.replicas, with the version that the Scale was read with.
#include "sim/scale.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "sim/document.h"

bool maar_scale_has(const struct maar_api_type *type)
{
    static const char *const kinds[] = {"Deployment", "ReplicaSet", "StatefulSet", NULL};
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], type->kind) == 0 && strcmp(type->api_version, "apps/v1") == 0)
            return true;
    return false;
}

/* "app=web,tier=front" */
static char *selector_of(const json_t *document)
{
    struct maar_text text = MAAR_TEXT_INIT;
    const char *key;
    json_t *value;
    json_object_foreach (maar_document_at(document, "spec.selector.matchLabels"), key, value) {
        const char *label = json_string_value(value);
        maar_text_addf(&text, "%s%s=%s", text.n ? "," : "", key, label ? label : "");
    }
    return maar_text_steal(&text);
}

json_t *maar_scale_of(const json_t *document)
{
    static const char *const keys[] = {
        "name", "namespace", "uid", "resourceVersion", "creationTimestamp", NULL};
    const json_t *metadata = json_object_get(document, "metadata");
    maar_autofree char *selector = selector_of(document);
    json_t *copy = json_object();
    for (size_t i = 0; keys[i]; i++)
        if (json_object_get(metadata, keys[i]))
            json_object_set(copy, keys[i], json_object_get(metadata, keys[i]));
    return json_pack("{s:s, s:s, s:o, s:{s:I}, s:{s:I, s:s}}", "apiVersion", "autoscaling/v1",
                     "kind", "Scale", "metadata", copy, "spec", "replicas",
                     (json_int_t)maar_document_int(document, "spec.replicas", 1), "status",
                     "replicas", (json_int_t)maar_document_int(document, "status.replicas", 0),
                     "selector", selector);
}

int maar_scale_write(struct maar_store *store, const struct maar_api_target *target,
                     const json_t *body, struct maar_answer *answer)
{
    json_t *replicas = maar_document_at(body, "spec.replicas");
    json_t *version = maar_document_at(body, "metadata.resourceVersion");
    if (!json_is_integer(replicas))
        return maar_answer_fail(answer, 422, "Invalid",
                                "Scale.autoscaling \"%s\" is invalid: spec.replicas: expected an "
                                "integer",
                                target->name);
    json_t *patch = json_pack("{s:{s:O}}", "spec", "replicas", replicas);
    if (json_is_string(version))
        maar_document_set(patch, "metadata.resourceVersion", json_incref(version));
    int code = maar_store_patch(store, target->collection, target->ns, target->name, "",
                                MAAR_PATCH_MERGE, patch, answer);
    json_decref(patch);
    if (code == 200) {
        json_t *scale = maar_scale_of(answer->document);
        json_decref(answer->document);
        answer->document = scale;
    }
    return code;
}
