/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_WIRE_H
#define MAAR_WIRE_WIRE_H

/* Kubernetes objects ↔ records and writes. No I/O, no policy. */

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"
#include "model/record.h"
#include "model/write.h"

/* Which pod and group annotations are kept; NULL keeps none but those that the model itself reads. */
struct maar_wire_options {
    bool (*keeps_pod_annotation)(void *context, const char *key);
    bool (*keeps_group_annotation)(void *context, const char *key);
    bool (*keeps_queue_annotation)(void *context, const char *key);
    void *context;
};

/* The kind of an object by apiVersion and kind; -1 when scheduling does not read it. */
int maar_wire_kind(const char *api_version, const char *kind);

/* One object. A field of a wrong type or a quantity that does not parse quarantines the object (record->fault), it
 * does not fail; -EINVAL is for what cannot be identified at all (no name, not a map). Unknown fields are ignored. */
int maar_wire_decode_json(enum maar_kind kind, const json_t *object,
                          const struct maar_wire_options *options, struct maar_record **ret_record,
                          struct maar_error *err) __attribute__((warn_unused_result));
/* Whether objects of the kind have a protobuf form: Node, Pod, Namespace. */
bool maar_wire_has_protobuf(enum maar_kind kind);
/* The same from the protobuf message of core/v1, without envelope. */
int maar_wire_decode_protobuf(enum maar_kind kind, const void *data, size_t n,
                              const struct maar_wire_options *options,
                              struct maar_record **ret_record, struct maar_error *err)
    __attribute__((warn_unused_result));
/* A list in application/vnd.kubernetes.protobuf ("k8s\0" envelope): calls `each` per item, which takes the record
 * over, and then sets resource version and continue token. When `each` returns other than 0, reading ends with that.
 * -EPROTO when the answer is a Status, with its code and message. */
typedef int (*maar_wire_item_fn)(void *context, struct maar_record *record, struct maar_error *err);
int maar_wire_decode_protobuf_list(enum maar_kind kind, const void *data, size_t n,
                                   const struct maar_wire_options *options, maar_wire_item_fn each,
                                   void *context, struct maar_text *ret_resource_version,
                                   struct maar_text *ret_continue, struct maar_error *err)
    __attribute__((warn_unused_result));

enum maar_watch_type {
    MAAR_WATCH_ADDED,
    MAAR_WATCH_MODIFIED,
    MAAR_WATCH_DELETED,
    MAAR_WATCH_BOOKMARK,
    MAAR_WATCH_ERROR,
};
struct maar_watch_event {
    enum maar_watch_type type;
    struct maar_record *record; /* NULL for BOOKMARK and ERROR */
    char resource_version[64];
    int code;          /* ERROR: status code, 410 for Gone */
    char message[256]; /* ERROR */
};
/* One frame of a watch: JSON (one line) or protobuf (the bytes after the 4-byte length). */
int maar_wire_decode_watch_json(enum maar_kind kind, const char *data, size_t n,
                                const struct maar_wire_options *options,
                                struct maar_watch_event *ret_event, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_wire_decode_watch_protobuf(enum maar_kind kind, const void *data, size_t n,
                                    const struct maar_wire_options *options,
                                    struct maar_watch_event *ret_event, struct maar_error *err)
    __attribute__((warn_unused_result));

/* Protobuf of an object given as JSON, as the API server would encode it for the fields that the decoder reads
 * (plus metadata): for the embedded server. The caller frees. -EINVAL for a field of a wrong type. */
int maar_wire_encode_protobuf(enum maar_kind kind, const json_t *object, void **ret_data,
                              size_t *ret_n, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Appends whole answers: one object, a list (`items` is a JSON array; continue_token may be NULL), or a frame of a
 * watch with its length in front (of a bookmark only the metadata counts; an error's object is a Status). */
int maar_wire_encode_protobuf_object(enum maar_kind kind, const json_t *object,
                                     struct maar_text *out, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_wire_encode_protobuf_list(enum maar_kind kind, const json_t *items,
                                   const char *resource_version, const char *continue_token,
                                   struct maar_text *out, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_wire_encode_protobuf_watch(enum maar_kind kind, enum maar_watch_type type,
                                    const json_t *object, struct maar_text *out,
                                    struct maar_error *err) __attribute__((warn_unused_result));

/* A stream of YAML or JSON documents → JSON values, one a document; Lists are not unfolded here, documents that are
 * empty or null are passed over. `source` names the file. Errors carry file:line:column. `each` borrows the value
 * (json_incref keeps it) and gets the line on which the document begins; when it returns other than 0, reading ends
 * with that. Scalars mean what kubectl takes them for (YAML 1.1: yes and on are true, 010 is 8). Sizes and nesting
 * are limited (100 MB, 128 levels, aliases stand for at most 1,000,000 nodes and 100 MB). Positions of values inside
 * a document are found again with maar_wire_yaml_locate. */
typedef int (*maar_wire_document_fn)(void *context, json_t *document, int line,
                                     struct maar_error *err);
int maar_wire_yaml_each(const char *text, size_t n, const char *source, maar_wire_document_fn each,
                        void *context, struct maar_error *err) __attribute__((warn_unused_result));
/* Line and column of a path such as "spec.cluster.nodes[2].cpu" or "metadata.labels[example.com/a]" in document
 * number `index` (those that were passed over do not count): where the key or the list element stands, or the longest
 * known prefix when the path is not there. 0; -ENOENT without such a document. */
int maar_wire_yaml_locate(const char *text, size_t n, size_t index, const char *path, int *ret_line,
                          int *ret_column);
/* The same for many paths in one reading; line is 0 where there is no such document. */
struct maar_yaml_place {
    size_t document;
    const char *path;
    int line;
    int column;
};
void maar_wire_yaml_locate_all(const char *text, size_t n, struct maar_yaml_place *places,
                               size_t n_places);
/* Writes a JSON value as YAML (block style, keys in insertion order). */
void maar_wire_yaml_dump(const json_t *value, struct maar_text *out);

/* ---- writes → requests ---- */

struct maar_request {
    const char *method; /* "POST", "PUT", "PATCH", "DELETE" */
    char *path;         /* "/api/v1/namespaces/…" */
    const char *content_type;
    char *body; /* JSON; NULL without body */
};
void maar_request_fini(struct maar_request *request);
/* The request of a write. Statuses are merge patches of the object (PodGroup: its main resource, since it has no
 * status subresource; pod conditions: strategic merge patch of pods/status) and carry its uid, so that they cannot
 * reach a later object of the same name. `current` is the newest JSON of the object that the caller holds, or NULL:
 * a PodGroup's supplies the conditions of other types (its list is replaced as a whole), a queue's the resources that
 * are not allocated any more and must go, a pod's whether the condition's status changed (its transition time stays
 * when not). `component` signs events without a source. */
int maar_wire_request(const struct maar_write *write, const json_t *current, const char *component,
                      struct maar_request *ret_request, struct maar_error *err)
    __attribute__((warn_unused_result));

/* A quantity of a dimension as Kubernetes would print it: cpu from milli, memory binary, the rest decimal. */
char *maar_wire_quantity(const char *dimension, int64_t value, char buffer[32]);

#endif
