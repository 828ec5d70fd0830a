/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Frames of a watch in JSON: {"type": "ADDED", "object": {…}}. */

#include "wire/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int maar_watch_type_parse(const char *text, size_t n, enum maar_watch_type *ret_type,
                          struct maar_error *err)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (n == strlen(names[i]) && memcmp(text, names[i], n) == 0) {
            *ret_type = (enum maar_watch_type)i;
            return 0;
        }
    }
    return maar_error_set(err, -EINVAL, "watch: unknown event type \"%.*s\"",
                          (int)(n < 32 ? n : 32), text);
}

int maar_watch_set_version(struct maar_watch_event *event, const char *text, size_t n,
                           struct maar_error *err)
{
    if (n >= sizeof event->resource_version)
        return maar_error_set(err, -EINVAL, "watch: resource version of %zu bytes", n);
    memcpy(event->resource_version, text, n);
    event->resource_version[n] = '\0';
    return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int read_error(const json_t *status, struct maar_watch_event *event)
{
    json_int_t code = json_integer_value(json_object_get(status, "code"));
    event->code = code > 0 && code < 1000 ? (int)code : 0;
    (void)snprintf(event->message, sizeof event->message, "%s", text_of(status, "message"));
    return 0;
}

static int read_event(enum maar_kind kind, const json_t *frame,
                      const struct maar_wire_options *options, struct maar_watch_event *event,
                      struct maar_error *err)
{
    const char *type = text_of(frame, "type");
    const json_t *object = json_object_get(frame, "object");
    int rc = maar_watch_type_parse(type, strlen(type), &event->type, err);
    if (rc < 0)
        return rc;
    if (!json_is_object(object))
        return maar_error_set(err, -EINVAL, "watch: event without object");
    if (event->type == MAAR_WATCH_ERROR)
        return read_error(object, event);
    const char *version = text_of(json_object_get(object, "metadata"), "resourceVersion");
    rc = maar_watch_set_version(event, version, strlen(version), err);
    if (rc < 0 || event->type == MAAR_WATCH_BOOKMARK)
        return rc;
    return maar_wire_decode_json(kind, object, options, &event->record, err);
}

int maar_wire_decode_watch_json(enum maar_kind kind, const char *data, size_t n,
                                const struct maar_wire_options *options,
                                struct maar_watch_event *ret_event, struct maar_error *err)
{
    json_error_t fault;
    struct maar_watch_event event = {0};
    json_auto_t *frame = json_loadb(data, n, 0, &fault);
    if (!frame)
        return maar_error_set(err, -EINVAL, "watch: %s at byte %d", fault.text, fault.position);
    int rc = read_event(kind, frame, options, &event, err);
    if (rc == 0)
        *ret_event = event;
    return rc;
}
