/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: manifests. Whatever the bytes are, reading them as YAML ends in documents or in one message that names
 * a place; a document written as YAML reads back the same; every kind of record can be made of it, or not; a pod or
 * node that protobuf can hold is the same record through protobuf. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/pod_request.h"
#include "test/unit/wire/record_text.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static bool keeps(void *context, const char *key)
{
    (void)context;
    return strlen(key) % 2 == 0;
}

static const struct maar_wire_options options = {keeps, keeps, keeps, NULL};

static char *text_of(struct maar_record *record)
{
    struct maar_text text = MAAR_TEXT_INIT;
    record_text(record, &text);
    if (record->kind == MAAR_KIND_POD) {
        int64_t cpu, memory;
        struct maar_amounts_record request = maar_pod_request(&record->pod, record->arena);
        maar_pod_request_nonzero(&record->pod, &cpu, &memory);
        require(request.n > 0 && cpu >= 0 && memory >= 0);
        for (uint32_t i = 0; i < request.n; i++)
            require(request.items[i].value >= 0);
    }
    maar_record_destroy(record);
    return maar_text_steal(&text);
}

static void compare_with_protobuf(enum maar_kind kind, const json_t *document, const char *want,
                                  bool is_sound)
{
    void *bytes;
    size_t n;
    struct maar_record *record;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_encode_protobuf(kind, document, &bytes, &n, &err) < 0)
        return;
    require(maar_wire_decode_protobuf(kind, bytes, n, &options, &record, &err) == 0);
    char *got = text_of(record);
    /* Types that protobuf does not have are faults in JSON only; several faults may come in another order. */
    if (is_sound)
        require(strcmp(got, want) == 0);
    free(got);
    free(bytes);
}

static void decode(enum maar_kind kind, const json_t *document)
{
    struct maar_record *record = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_decode_json(kind, document, &options, &record, &err) < 0) {
        require(!record && err.text[0] != '\0');
        return;
    }
    bool is_sound = *record->fault == '\0';
    char *text = text_of(record);
    if (kind == MAAR_KIND_POD || kind == MAAR_KIND_NODE)
        compare_with_protobuf(kind, document, text, is_sound);
    free(text);
}

/* Real numbers without fraction may come back as integers, so texts are compared after two trips. */
struct trip {
    char *text;
    int n;
};

static int dump(void *context, json_t *document, int line, struct maar_error *err)
{
    struct trip *trip = context;
    struct maar_text out = MAAR_TEXT_INIT;
    (void)line;
    (void)err;
    maar_wire_yaml_dump(document, &out);
    trip->text = maar_text_steal(&out);
    trip->n++;
    return 0;
}

static void round_trip(json_t *document)
{
    struct trip first = {0};
    struct trip second = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    if (!json_is_object(document) && !json_is_array(document))
        return;
    (void)dump(&first, document, 0, NULL);
    require(maar_wire_yaml_each(first.text, strlen(first.text), "dump", dump, &second, &err) == 0);
    require(second.n == 1 && strcmp(first.text, second.text) == 0);
    free(first.text);
    free(second.text);
}

static int each(void *context, json_t *document, int line, struct maar_error *err)
{
    (void)context;
    (void)err;
    require(line >= 1);
    for (int kind = 0; kind < MAAR_N_KINDS; kind++)
        decode((enum maar_kind)kind, document);
    round_trip(document);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maar_error err = MAAR_ERROR_INIT;
    int line = 1;
    int column = 1;
    if (maar_wire_yaml_each((const char *)data, size, "fuzz", each, NULL, &err) < 0)
        require(strncmp(err.text, "fuzz:", 5) == 0);
    (void)maar_wire_yaml_locate((const char *)data, size, 0, "spec.containers[1].name", &line,
                                &column);
    require(line >= 1 && column >= 1);
    return 0;
}
