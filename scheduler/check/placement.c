/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Where a pod may go: the fields of affinity, tolerations and topology spread by name, and those values that decoding
 * takes as they are. A field that the API server does not know is dropped, and with it what it should have required. */

#include <string.h>

#include "base/text.h"
#include "check/parts.h"

#define MAX_FIELDS 10

/* A field and what is below it. */
struct shape {
    const char *key; /* NULL ends a list of shapes */
    bool is_list;
    const struct shape *fields; /* NULL: anything */
    const char *const *texts;   /* the texts that are allowed, NULL: any */
    int64_t most;               /* a number from 1 on to this; 0: any */
};

static const char *const toleration_operators[] = {"Equal", "Exists", "Gt", "Lt", NULL};
static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

static const struct shape requirement[] = {
    {.key = "key"}, {.key = "operator"}, {.key = "values"}, {.key = NULL}};
static const struct shape node_term[] = {
    {.key = "matchExpressions", .is_list = true, .fields = requirement},
    {.key = "matchFields", .is_list = true, .fields = requirement},
    {.key = NULL}};
static const struct shape node_selector[] = {
    {.key = "nodeSelectorTerms", .is_list = true, .fields = node_term}, {.key = NULL}};
static const struct shape preferred_node[] = {
    {.key = "weight", .most = 100}, {.key = "preference", .fields = node_term}, {.key = NULL}};
static const struct shape node_affinity[] = {
    {.key = "requiredDuringSchedulingIgnoredDuringExecution", .fields = node_selector},
    {.key = "preferredDuringSchedulingIgnoredDuringExecution",
     .is_list = true,
     .fields = preferred_node},
    {.key = NULL}};

static const struct shape label_selector[] = {
    {.key = "matchLabels"},
    {.key = "matchExpressions", .is_list = true, .fields = requirement},
    {.key = NULL}};
static const struct shape pod_term[] = {{.key = "labelSelector", .fields = label_selector},
                                        {.key = "namespaceSelector", .fields = label_selector},
                                        {.key = "namespaces"},
                                        {.key = "topologyKey"},
                                        {.key = "matchLabelKeys"},
                                        {.key = "mismatchLabelKeys"},
                                        {.key = NULL}};
static const struct shape preferred_pod[] = {
    {.key = "weight", .most = 100}, {.key = "podAffinityTerm", .fields = pod_term}, {.key = NULL}};
static const struct shape pod_affinity[] = {
    {.key = "requiredDuringSchedulingIgnoredDuringExecution", .is_list = true, .fields = pod_term},
    {.key = "preferredDuringSchedulingIgnoredDuringExecution",
     .is_list = true,
     .fields = preferred_pod},
    {.key = NULL}};

static const struct shape affinity[] = {{.key = "nodeAffinity", .fields = node_affinity},
                                        {.key = "podAffinity", .fields = pod_affinity},
                                        {.key = "podAntiAffinity", .fields = pod_affinity},
                                        {.key = NULL}};
static const struct shape toleration[] = {{.key = "key"},
                                          {.key = "operator", .texts = toleration_operators},
                                          {.key = "value"},
                                          {.key = "effect", .texts = effects},
                                          {.key = "tolerationSeconds"},
                                          {.key = NULL}};
static const struct shape spread[] = {{.key = "maxSkew"},
                                      {.key = "topologyKey"},
                                      {.key = "whenUnsatisfiable"},
                                      {.key = "labelSelector", .fields = label_selector},
                                      {.key = "minDomains"},
                                      {.key = "nodeAffinityPolicy"},
                                      {.key = "nodeTaintsPolicy"},
                                      {.key = "matchLabelKeys"},
                                      {.key = NULL}};
static const struct shape spec_fields[] = {
    {.key = "affinity", .fields = affinity},
    {.key = "tolerations", .is_list = true, .fields = toleration},
    {.key = "topologySpreadConstraints", .is_list = true, .fields = spread},
    {.key = NULL}};

static void check_value(struct maar_check *check, const struct maar_field *field,
                        const struct shape *shape, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t n = 0;
    while (shape->texts && text && shape->texts[n] && strcmp(shape->texts[n], text) != 0)
        n++;
    if (shape->texts && text && *text && !shape->texts[n])
        maar_findings_add(&check->findings, field, true, maar_text_nearest(text, shape->texts),
                          "\"%.60s\" is no %s", text, shape->key);
    int64_t number = json_integer_value(value);
    if (shape->most && json_is_integer(value) && (number < 1 || number > shape->most))
        maar_findings_add(&check->findings, field, true, NULL, "is %lld, must be 1 to %lld",
                          (long long)number, (long long)shape->most);
}

static void check_fields(struct maar_check *check, const struct maar_field *field,
                         const struct shape *fields, const json_t *map);

static void check_field(struct maar_check *check, const struct maar_field *field,
                        const struct shape *shape, const json_t *value)
{
    check_value(check, field, shape, value);
    if (shape->fields && !shape->is_list)
        check_fields(check, field, shape->fields, value);
    for (size_t i = 0; shape->fields && shape->is_list && i < json_array_size(value); i++) {
        struct maar_field entry = maar_field_index(field, i);
        check_fields(check, &entry, shape->fields, json_array_get(value, i));
    }
}

/* The depth is that of the tables. */
static void check_fields(struct maar_check *check, const struct maar_field *field,
                         const struct shape *fields, const json_t *map)
{
    const char *known[MAX_FIELDS + 1] = {NULL};
    for (size_t i = 0; fields[i].key; i++) {
        struct maar_field child = maar_field_key(field, fields[i].key);
        known[i] = fields[i].key;
        check_field(check, &child, &fields[i], json_object_get(map, fields[i].key));
    }
    if (fields != spec_fields)
        maar_check_fields(check, field, map, known);
}

void maar_check_placement(struct maar_check *check, const struct maar_field *field,
                          const json_t *spec)
{
    check_fields(check, field, spec_fields, spec);
}
