/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: what-if edits. Whatever the bytes are, reading ends in edits or in a message with a column; what was
 * read can be made on a small cluster, or is refused with a message. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void add(struct maar_cluster *cluster, const char *text)
{
    json_t *document = json_loads(text, 0, NULL);
    struct maar_error err = MAAR_ERROR_INIT;
    require(document && maar_cluster_add(cluster, document, &err) == 0);
    json_decref(document);
}

static void apply(const struct maar_edits *edits)
{
    const struct maar_cluster_options options = {.period_ns = MAAR_SECOND_NS};
    struct maar_cluster *cluster = maar_cluster_create(&options);
    struct maar_error err = MAAR_ERROR_INIT;
    add(cluster, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");
    add(cluster,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":"
        "\"ns\",\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}},\"spec\":{\"nodeName\":"
        "\"n1\",\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\"}]}}");
    int rc = maar_edits_apply(edits, cluster, &err);
    require(rc == 0 || (rc == -EINVAL && *maar_error_text(&err)));
    maar_cluster_destroy(cluster);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    struct maar_edits edits = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    int rc = maar_edits_read(&edits, text, &err);
    require(rc == 0 || (rc == -EINVAL && *maar_error_text(&err)));
    /* Ranges of many names take long and find nothing new. */
    if (rc == 0 && !strchr(text, '['))
        apply(&edits);
    maar_edits_fini(&edits);
    free(text);
    return 0;
}
