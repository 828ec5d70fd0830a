/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_DOCUMENT_H
#define MAAR_SIM_DOCUMENT_H

/* Reading and building Kubernetes objects as JSON documents. Readers never fail: what is absent or
 * of another type reads as NULL, "" or the default. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A value by dotted path ("metadata.name"; keys with dots need json_object_get). NULL when absent.
 */
json_t *maar_document_at(const json_t *document, const char *path);
/* "" when absent or no string. */
const char *maar_document_text(const json_t *document, const char *path);
int64_t maar_document_int(const json_t *document, const char *path, int64_t otherwise);
bool maar_document_bool(const json_t *document, const char *path, bool otherwise);

const char *maar_document_name(const json_t *document);
const char *maar_document_namespace(const json_t *document);
const char *maar_document_uid(const json_t *document);
/* metadata.annotations[key], "" when absent. */
const char *maar_document_annotation(const json_t *document, const char *key);
/* The entry of status.conditions with that type, NULL when there is none. */
json_t *maar_document_condition(const json_t *document, const char *type);

/* Sets the value at a dotted path; makes the objects on the way (replacing what is no object).
 * Steals value. */
void maar_document_set(json_t *document, const char *path, json_t *value);
/* Puts a condition in the place of the one of its type in status.conditions, or appends it. Steals
 * it. */
void maar_document_set_condition(json_t *document, json_t *condition);
/* The PodGroup that a pod names, "" for none. */
const char *maar_document_pod_group(const json_t *pod);

#endif
