/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Objects, lists and watch frames in protobuf. An answer is "k8s\0" and a runtime.Unknown that names the kind and
 * holds the message; a watch frame is a bare WatchEvent whose object is such an answer. */

#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/protobuf.h"
#include "wire/watch.h"

enum {
    UNKNOWN_TYPE_META = 1,
    UNKNOWN_RAW = 2,
    UNKNOWN_ENCODING = 3,
    TYPE_META_KIND = 2,

    LIST_METADATA = 1,
    LIST_ITEMS = 2,
    LIST_RESOURCE_VERSION = 2,
    LIST_CONTINUE = 3,

    WATCH_TYPE = 1,
    WATCH_OBJECT = 2,
    EXTENSION_RAW = 1,

    OBJECT_METADATA = 1,
    METADATA_RESOURCE_VERSION = 6,

    STATUS_MESSAGE = 3,
    STATUS_CODE = 6,
};

static const unsigned char magic[4] = {'k', '8', 's', 0};

static int malformed(struct maar_error *err, const char *what, const struct maar_pb_state *state)
{
    return maar_error_set(err, -EINVAL, "%s: protobuf %s", what, state->fault);
}

bool maar_wire_has_protobuf(enum maar_kind kind)
{
    return kind == MAAR_KIND_NODE || kind == MAAR_KIND_POD || kind == MAAR_KIND_NAMESPACE;
}

int maar_wire_decode_protobuf(enum maar_kind kind, const void *data, size_t n,
                              const struct maar_wire_options *options,
                              struct maar_record **ret_record, struct maar_error *err)
{
    const char *what = maar_kind_name(kind);
    if (!maar_wire_has_protobuf(kind))
        return maar_error_set(err, -EINVAL, "%s: has no protobuf form", what);
    if (n > MAAR_PROTOBUF_OBJECT_MAX)
        return maar_error_set(err, -EFBIG, "%s: %zu bytes are too many", what, n);
    struct maar_pb_state state = {0};
    struct maar_record *record = maar_record_create(kind);
    struct maar_decoder decoder = {record, record->arena, options, 0};
    struct maar_pb message = maar_pb_begin(data, n, &state);
    if (kind == MAAR_KIND_NODE)
        maar_pb_decode_node(&decoder, message);
    else if (kind == MAAR_KIND_POD)
        maar_pb_decode_pod(&decoder, message);
    else
        maar_pb_decode_namespace(&decoder, message);
    int rc = 0;
    if (state.fault)
        rc = malformed(err, what, &state);
    else if (*record->name == '\0')
        rc = maar_error_set(err, -EINVAL, "%s: has no metadata.name", what);
    if (rc < 0) {
        maar_record_destroy(record);
        return rc;
    }
    *ret_record = record;
    return 0;
}

/* The texts and messages below stay in the bytes that they came in. */
struct envelope {
    struct maar_pb_field kind;
    struct maar_pb_field raw;
};

static int open_envelope(const void *data, size_t n, struct maar_pb_state *state,
                         struct envelope *envelope, struct maar_error *err)
{
    if (n < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return maar_error_set(err, -EINVAL, "protobuf: does not begin with \"k8s\"");
    struct maar_pb message =
        maar_pb_begin((const unsigned char *)data + sizeof magic, n - sizeof magic, state);
    struct maar_pb_field field;
    bool is_encoded = false;
    *envelope = (struct envelope){.kind = {.state = NULL}};
    while (maar_pb_next(&message, &field)) {
        if (field.number == UNKNOWN_RAW)
            envelope->raw = field;
        else if (field.number == UNKNOWN_ENCODING)
            is_encoded = is_encoded || !maar_pb_is(&field, "");
        if (field.number != UNKNOWN_TYPE_META)
            continue;
        struct maar_pb type = maar_pb_message(&field);
        while (maar_pb_next(&type, &field))
            if (field.number == TYPE_META_KIND)
                envelope->kind = field;
    }
    if (state->fault)
        return malformed(err, "envelope", state);
    if (is_encoded)
        return maar_error_set(err, -EINVAL, "protobuf: is encoded once more");
    if (!envelope->raw.state || !envelope->kind.state)
        return maar_error_set(err, -EINVAL, "protobuf: envelope without kind or content");
    return 0;
}

static void copy_text(const struct maar_pb_field *field, char *buffer, size_t size)
{
    if (field->state)
        (void)snprintf(buffer, size, "%.*s", (int)(field->n < size ? field->n : size - 1),
                       (const char *)field->data);
}

static void read_status(const struct maar_pb_field *raw, int *ret_code, char *message, size_t size)
{
    struct maar_pb status = maar_pb_message(raw);
    struct maar_pb_field field;
    while (maar_pb_next(&status, &field)) {
        if (field.number == STATUS_CODE) {
            int64_t code = maar_pb_int(&field);
            *ret_code = code > 0 && code < 1000 ? (int)code : 0;
        } else if (field.number == STATUS_MESSAGE && maar_pb_has_bytes(&field)) {
            copy_text(&field, message, size);
        }
    }
}

/* ---- lists ---- */

struct list_versions {
    struct maar_pb_field resource_version;
    struct maar_pb_field continues;
};

static void read_list_metadata(const struct maar_pb_field *metadata, struct list_versions *versions)
{
    struct maar_pb message = maar_pb_message(metadata);
    struct maar_pb_field field;
    while (maar_pb_next(&message, &field)) {
        if (field.number == LIST_RESOURCE_VERSION)
            versions->resource_version = field;
        else if (field.number == LIST_CONTINUE)
            versions->continues = field;
    }
}

static void set_text(struct maar_text *text, const struct maar_pb_field *field)
{
    maar_text_clear(text);
    if (field->state)
        maar_text_add_n(text, (const char *)field->data, field->n);
}

struct item_sink {
    enum maar_kind kind;
    const struct maar_wire_options *options;
    maar_wire_item_fn each;
    void *context;
};

static int read_item(const struct item_sink *sink, const struct maar_pb_field *field,
                     struct maar_error *err)
{
    struct maar_record *record;
    struct maar_pb item = maar_pb_message(field);
    int rc = maar_wire_decode_protobuf(sink->kind, item.at, (size_t)(item.end - item.at),
                                       sink->options, &record, err);
    return rc < 0 ? rc : sink->each(sink->context, record, err);
}

static int read_items(const struct item_sink *sink, const struct maar_pb_field *raw,
                      struct list_versions *versions, struct maar_error *err)
{
    struct maar_pb list = maar_pb_message(raw);
    struct maar_pb_field field;
    while (maar_pb_next(&list, &field)) {
        if (field.number == LIST_METADATA)
            read_list_metadata(&field, versions);
        if (field.number != LIST_ITEMS)
            continue;
        int rc = read_item(sink, &field, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int check_list_kind(enum maar_kind kind, const struct envelope *envelope,
                           struct maar_error *err)
{
    char name[64];
    char wanted[64];
    copy_text(&envelope->kind, name, sizeof name);
    (void)snprintf(wanted, sizeof wanted, "%sList", maar_kind_name(kind));
    if (strcmp(name, wanted) == 0)
        return 0;
    if (strcmp(name, "Status") == 0) {
        char message[256] = "";
        int code = 0;
        read_status(&envelope->raw, &code, message, sizeof message);
        return maar_error_set(err, -EPROTO, "server answers %d: %s", code, message);
    }
    return maar_error_set(err, -EINVAL, "protobuf: %s where %s was wanted", name, wanted);
}

int maar_wire_decode_protobuf_list(enum maar_kind kind, const void *data, size_t n,
                                   const struct maar_wire_options *options, maar_wire_item_fn each,
                                   void *context, struct maar_text *ret_resource_version,
                                   struct maar_text *ret_continue, struct maar_error *err)
{
    struct maar_pb_state state = {0};
    struct envelope envelope;
    struct list_versions versions = {0};
    struct item_sink sink = {kind, options, each, context};
    int rc = open_envelope(data, n, &state, &envelope, err);
    if (rc == 0)
        rc = check_list_kind(kind, &envelope, err);
    if (rc == 0)
        rc = read_items(&sink, &envelope.raw, &versions, err);
    if (rc != 0)
        return rc;
    if (state.fault)
        return malformed(err, "list", &state);
    set_text(ret_resource_version, &versions.resource_version);
    set_text(ret_continue, &versions.continues);
    return 0;
}

/* ---- watches ---- */

/* The object's resource version, without reading the rest: a bookmark has nothing else. */
static int read_version(const struct maar_pb_field *raw, struct maar_watch_event *event,
                        struct maar_error *err)
{
    struct maar_pb object = maar_pb_message(raw);
    const struct maar_pb_state *state = object.state;
    struct maar_pb_field field;
    struct maar_pb_field version = {0};
    while (maar_pb_next(&object, &field)) {
        if (field.number != OBJECT_METADATA)
            continue;
        struct maar_pb metadata = maar_pb_message(&field);
        while (maar_pb_next(&metadata, &field))
            if (field.number == METADATA_RESOURCE_VERSION && maar_pb_has_bytes(&field))
                version = field;
    }
    if (state->fault)
        return malformed(err, "watch", state);
    return version.state ? maar_watch_set_version(event, (const char *)version.data, version.n, err)
                         : 0;
}

static int read_event(enum maar_kind kind, const struct maar_pb_field *type,
                      const struct maar_pb_field *object, const struct maar_wire_options *options,
                      struct maar_watch_event *event, struct maar_error *err)
{
    struct envelope envelope;
    int rc = maar_watch_type_parse((const char *)type->data, type->n, &event->type, err);
    if (rc == 0)
        rc = open_envelope(object->data, object->n, object->state, &envelope, err);
    if (rc < 0)
        return rc;
    if (event->type == MAAR_WATCH_ERROR) {
        read_status(&envelope.raw, &event->code, event->message, sizeof event->message);
        return object->state->fault ? malformed(err, "watch", object->state) : 0;
    }
    struct maar_pb raw = maar_pb_message(&envelope.raw);
    rc = read_version(&envelope.raw, event, err);
    if (rc < 0 || event->type == MAAR_WATCH_BOOKMARK)
        return rc;
    return maar_wire_decode_protobuf(kind, raw.at, (size_t)(raw.end - raw.at), options,
                                     &event->record, err);
}

int maar_wire_decode_watch_protobuf(enum maar_kind kind, const void *data, size_t n,
                                    const struct maar_wire_options *options,
                                    struct maar_watch_event *ret_event, struct maar_error *err)
{
    struct maar_pb_state state = {0};
    struct maar_pb message = maar_pb_begin(data, n, &state);
    struct maar_pb_field field;
    struct maar_pb_field type = {0};
    struct maar_pb_field object = {0};
    while (maar_pb_next(&message, &field)) {
        if (field.number == WATCH_TYPE && maar_pb_has_bytes(&field))
            type = field;
        if (field.number != WATCH_OBJECT)
            continue;
        struct maar_pb extension = maar_pb_message(&field);
        while (maar_pb_next(&extension, &field))
            if (field.number == EXTENSION_RAW && maar_pb_has_bytes(&field))
                object = field;
    }
    if (state.fault)
        return malformed(err, "watch", &state);
    if (!type.state || !object.state)
        return maar_error_set(err, -EINVAL, "watch: event without type or object");
    struct maar_watch_event event = {0};
    int rc = read_event(kind, &type, &object, options, &event, err);
    if (rc == 0)
        *ret_event = event;
    return rc;
}
