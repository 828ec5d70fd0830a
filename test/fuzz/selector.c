/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: node selectors. The bytes are a NodeSelector in YAML, as in a pod's required node affinity. Of what
 * comes out, a requirement that is not marked invalid has the values that its operator needs. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_requirement(const struct maar_requirement *requirement)
{
    uint32_t n = requirement->n_values;
    for (uint32_t i = 0; i < n; i++)
        (void)strlen(requirement->values[i]);
    switch (requirement->op) {
    case MAAR_OP_IN:
    case MAAR_OP_NOT_IN:
        require(requirement->is_field ? n == 1 : n > 0);
        break;
    case MAAR_OP_EXISTS:
    case MAAR_OP_DOES_NOT_EXIST:
        require(n == 0 && !requirement->is_field);
        break;
    case MAAR_OP_GT:
    case MAAR_OP_LT:
        require(n == 1 && !requirement->is_field);
        require(strtoll(requirement->values[0], NULL, 10) == requirement->number);
        break;
    case MAAR_OP_INVALID:
        break;
    }
    require(requirement->op == MAAR_OP_INVALID || requirement->is_field || *requirement->key);
}

static int each(void *context, json_t *document, int line, struct maar_error *err)
{
    struct maar_record *record;
    json_t *pod =
        json_pack("{s:{s:s}, s:{s:{s:{s:O}}}}", "metadata", "name", "p", "spec", "affinity",
                  "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", document);
    (void)context;
    (void)line;
    if (!pod || maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, err) < 0)
        abort();
    const struct maar_pod_spec *spec = &record->pod.spec;
    require(spec->has_required_affinity == json_is_object(document));
    for (uint32_t i = 0; i < spec->n_required; i++)
        for (uint32_t j = 0; j < spec->required[i].n_requirements; j++)
            check_requirement(&spec->required[i].requirements[j]);
    maar_record_destroy(record);
    json_decref(pod);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_yaml_each((const char *)data, size, "fuzz", each, NULL, &err) < 0)
        require(err.text[0] != '\0');
    return 0;
}
