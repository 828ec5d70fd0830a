/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: frames of a watch. The first byte chooses the kind and the encoding. Reading ends in an event or in a
 * message; only events about an object have a record. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/wire/record_text.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct maar_watch_event *event)
{
    struct maar_text text = MAAR_TEXT_INIT;
    int has_object = event->type != MAAR_WATCH_BOOKMARK && event->type != MAAR_WATCH_ERROR;
    if ((event->record != NULL) != has_object)
        abort();
    if (memchr(event->resource_version, '\0', sizeof event->resource_version) == NULL ||
        memchr(event->message, '\0', sizeof event->message) == NULL)
        abort();
    if (event->record)
        record_text(event->record, &text);
    maar_text_fini(&text);
    maar_record_destroy(event->record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maar_watch_event event = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    if (size == 0)
        return 0;
    int rc;
    if (data[0] & 1)
        rc = maar_wire_decode_watch_protobuf(data[0] & 2 ? MAAR_KIND_NODE : MAAR_KIND_POD, data + 1,
                                             size - 1, NULL, &event, &err);
    else
        rc = maar_wire_decode_watch_json((enum maar_kind)(data[0] / 2 % MAAR_N_KINDS),
                                         (const char *)data + 1, size - 1, NULL, &event, &err);
    if (rc == 0)
        check(&event);
    else if (err.text[0] == '\0')
        abort();
    return 0;
}
