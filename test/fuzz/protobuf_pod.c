/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: pods and nodes in protobuf. The first byte chooses what the rest is: a message, or a whole list.
 * Reading ends in records or in a message, and a record is whole. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/pod_request.h"
#include "test/unit/wire/record_text.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool keeps(void *context, const char *key)
{
    (void)context;
    return strlen(key) % 2 == 0;
}

static const struct maar_wire_options options = {keeps, keeps, keeps, NULL};

static int take(void *context, struct maar_record *record, struct maar_error *err)
{
    struct maar_text text = MAAR_TEXT_INIT;
    (void)context;
    (void)err;
    if (*record->name == '\0')
        abort();
    record_text(record, &text);
    if (record->kind == MAAR_KIND_POD)
        (void)maar_pod_request(&record->pod, record->arena);
    maar_text_fini(&text);
    maar_record_destroy(record);
    return 0;
}

static void read_list(enum maar_kind kind, const uint8_t *data, size_t size)
{
    struct maar_text version = MAAR_TEXT_INIT;
    struct maar_text continues = MAAR_TEXT_INIT;
    struct maar_error err = MAAR_ERROR_INIT;
    int rc = maar_wire_decode_protobuf_list(kind, data, size, &options, take, NULL, &version,
                                            &continues, &err);
    if ((rc < 0) != (err.text[0] != '\0'))
        abort();
    maar_text_fini(&version);
    maar_text_fini(&continues);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maar_record *record = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (size == 0)
        return 0;
    enum maar_kind kind = data[0] & 1 ? MAAR_KIND_NODE : MAAR_KIND_POD;
    if (data[0] & 2)
        read_list(kind, data + 1, size - 1);
    else if (maar_wire_decode_protobuf(kind, data + 1, size - 1, &options, &record, &err) == 0)
        (void)take(NULL, record, &err);
    else if (record || err.text[0] == '\0')
        abort();
    return 0;
}
