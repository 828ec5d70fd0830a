/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Frames of a watch, in JSON and in protobuf: what Kubernetes wrote (data/) and what our encoder writes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "wire/wire.h"

#define DATA MAAR_TEST_SOURCE_DIR "/test/unit/wire/data/"

/* "type|name|version|code|message", or the error. */
static char *describe(int rc, const struct maar_watch_event *event, const struct maar_error *err)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    if (rc < 0)
        return maar_strdup(err->text);
    char *text = maar_asprintf("%s|%s|%s|%d|%s", types[event->type],
                               event->record ? event->record->name : "", event->resource_version,
                               event->code, event->message);
    maar_record_destroy(event->record);
    return text;
}

static char *read_json(enum maar_kind kind, const char *text, size_t n)
{
    struct maar_watch_event event = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    int rc = maar_wire_decode_watch_json(kind, text, n, NULL, &event, &err);
    return describe(rc, &event, &err);
}

static char *read_protobuf(enum maar_kind kind, const void *data, size_t n)
{
    struct maar_watch_event event = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    int rc = maar_wire_decode_watch_protobuf(kind, data, n, NULL, &event, &err);
    return describe(rc, &event, &err);
}

static const struct {
    const char *frame; /* ' for " */
    const char *want;
} json_rows[] = {
    {"{'type':'ADDED','object':{'metadata':{'name':'p','resourceVersion':'7'}}}", "ADDED|p|7|0|"},
    {"{'object':{'metadata':{'name':'p'}},'type':'MODIFIED'}\n", "MODIFIED|p||0|"},
    {"{'type':'DELETED','object':{'metadata':{'name':'p','resourceVersion':'8'}}}",
     "DELETED|p|8|0|"},
    {"{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':'9','creationTimestamp':null}}}",
     "BOOKMARK||9|0|"},
    {"{'type':'ERROR','object':{'kind':'Status','code':410,'message':'too "
     "old','reason':'Expired'}}",
     "ERROR|||410|too old"},
    {"{'type':'ERROR','object':{}}", "ERROR|||0|"},
    {"{'type':'added','object':{'metadata':{'name':'p'}}}", "watch: unknown event type \"added\""},
    {"{'type':'ADDED'}", "watch: event without object"},
    {"{'type':'ADDED','object':{'metadata':{}}}", "Pod: has no metadata.name"},
    {"[]", "watch: unknown event type \"\""},
    {"{'type':'ADDED',", "watch: string or '}' expected near end of file at byte 16"},
    {"{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':"
     "'0123456789012345678901234567890123456789012345678901234567890123'}}}",
     "watch: resource version of 64 bytes"},
};

static void json_frames_of_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof json_rows / sizeof json_rows[0]; i++) {
        maar_autofree char *frame = maar_strdup(json_rows[i].frame);
        for (char *c = frame; *c; c++)
            if (*c == '\'')
                *c = '"';
        maar_autofree char *got = read_json(MAAR_KIND_POD, frame, strlen(frame));
        assert_string_equal(got, json_rows[i].want);
    }
}

static const struct {
    const char *file;
    enum maar_kind kind;
    const char *want;
} frame_rows[] = {
    {"added.frame", MAAR_KIND_POD, "ADDED|train-worker-0|10042|0|"},
    {"deleted-node.frame", MAAR_KIND_NODE, "DELETED|gpu-node-1|77|0|"},
    {"bookmark.frame", MAAR_KIND_POD, "BOOKMARK||99|0|"},
    {"error.frame", MAAR_KIND_POD, "ERROR|||410|too old resource version: 1 (5)"},
};

static void protobuf_frames_of_kubernetes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof frame_rows / sizeof frame_rows[0]; i++) {
        char *data;
        size_t n;
        maar_autofree char *path = maar_asprintf("%s%s", DATA, frame_rows[i].file);
        assert_int_equal(maar_file_read(path, 1 << 20, &data, &n, NULL), 0);
        const unsigned char *b = (const unsigned char *)data;
        assert_int_equal(((size_t)b[0] << 24) + ((size_t)b[1] << 16) + ((size_t)b[2] << 8) + b[3],
                         n - 4);
        maar_autofree char *got = read_protobuf(frame_rows[i].kind, data + 4, n - 4);
        assert_string_equal(got, frame_rows[i].want);
        for (size_t cut = 4; cut < n; cut++) {
            char *part = maar_malloc(cut);
            memcpy(part, data + 4, cut - 4);
            maar_autofree char *refused = read_protobuf(frame_rows[i].kind, part, cut - 4);
            assert_non_null(strstr(refused, ": "));
            free(part);
        }
        free(data);
    }
}

static const struct {
    enum maar_watch_type type;
    const char *object;
    const char *want;
} written_rows[] = {
    {MAAR_WATCH_ADDED, "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"3\"}}", "ADDED|p|3|0|"},
    {MAAR_WATCH_MODIFIED, "{\"metadata\":{\"name\":\"p\"}}", "MODIFIED|p||0|"},
    {MAAR_WATCH_DELETED, "{\"metadata\":{\"name\":\"p\"}}", "DELETED|p||0|"},
    {MAAR_WATCH_BOOKMARK, "{\"metadata\":{\"resourceVersion\":\"4\"}}", "BOOKMARK||4|0|"},
    {MAAR_WATCH_ERROR, "{\"code\":410,\"message\":\"gone\"}", "ERROR|||410|gone"},
};

static void protobuf_frames_of_our_encoder(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof written_rows / sizeof written_rows[0]; i++) {
        struct maar_text frame = MAAR_TEXT_INIT;
        json_auto_t *object = json_loads(written_rows[i].object, 0, NULL);
        assert_int_equal(maar_wire_encode_protobuf_watch(MAAR_KIND_POD, written_rows[i].type,
                                                         object, &frame, NULL),
                         0);
        maar_autofree char *got = read_protobuf(MAAR_KIND_POD, frame.data + 4, frame.n - 4);
        assert_string_equal(got, written_rows[i].want);
        maar_text_fini(&frame);
    }
}

static int count(void *context, struct maar_record *record, struct maar_error *err)
{
    (void)err;
    maar_record_destroy(record);
    return ++*(int *)context == 3 ? -7 : 0;
}

static void lists_of_our_encoder_and_an_early_end(void **state)
{
    (void)state;
    struct maar_text list = MAAR_TEXT_INIT;
    struct maar_text version = MAAR_TEXT_INIT;
    struct maar_text continues = MAAR_TEXT_INIT;
    int n = 0;
    json_auto_t *items =
        json_loads("[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]", 0, NULL);
    assert_int_equal(
        maar_wire_encode_protobuf_list(MAAR_KIND_NODE, items, "17", "more", &list, NULL), 0);
    assert_int_equal(maar_wire_decode_protobuf_list(MAAR_KIND_NODE, list.data, list.n, NULL, count,
                                                    &n, &version, &continues, NULL),
                     0);
    assert_int_equal(n, 2);
    assert_string_equal(maar_text_get(&version), "17");
    assert_string_equal(maar_text_get(&continues), "more");
    assert_int_equal(maar_wire_decode_protobuf_list(MAAR_KIND_NODE, list.data, list.n, NULL, count,
                                                    &n, &version, &continues, NULL),
                     -7);
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(maar_wire_decode_protobuf_list(MAAR_KIND_POD, list.data, list.n, NULL, count,
                                                    &n, &version, &continues, &err),
                     -22);
    assert_string_equal(err.text, "protobuf: NodeList where PodList was wanted");
    maar_text_fini(&list);
    maar_text_fini(&version);
    maar_text_fini(&continues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_frames_of_each_row),
        cmocka_unit_test(protobuf_frames_of_kubernetes),
        cmocka_unit_test(protobuf_frames_of_our_encoder),
        cmocka_unit_test(lists_of_our_encoder_and_an_early_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
