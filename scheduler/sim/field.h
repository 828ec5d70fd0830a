/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_FIELD_H
#define MAAR_SIM_FIELD_H

/* Typed reading of a scenario document. Every complaint names file, line, column and key. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A file of the scenario. */
struct maar_scenario_file {
    char *path;
    char *text;
    size_t n;
};

/* Where a value stands: a path such as "spec.cluster.nodes[2].cpu" in a document of a file. */
struct maar_field {
    const struct maar_scenario_file *file;
    size_t document; /* its number in the file */
    char path[256];
};

/* A key with dots or slashes is put in brackets: metadata.labels[example.com/a]. */
struct maar_field maar_field_key(const struct maar_field *field, const char *key);
struct maar_field maar_field_index(const struct maar_field *field, size_t index);
/* Reports "file:line:column: path: text" and returns -EINVAL. */
int maar_field_error(const struct maar_field *field, struct maar_error *err, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));
/* Line of the field in its file. */
int maar_field_line(const struct maar_field *field);
/* Line and column. */
void maar_field_locate(const struct maar_field *field, int *ret_line, int *ret_column);
/* A file that is the text of a field (such as a scheduler.conf), laid out below the field: of a literal block lines and
 * columns are those of the file around it. What is written otherwise has lines of its own, counted from the field's;
 * *ret_is_literal (may be NULL) tells. The caller frees. */
char *maar_field_embedded(const struct maar_field *field, const char *text, bool *ret_is_literal);

/* "a map", "a text", "nothing" for NULL. */
const char *maar_field_type_name(const json_t *value);
/* The value must be a map whose keys are all among `known` (NULL-terminated). */
int maar_field_check_map(const struct maar_field *field, const json_t *value,
                         const char *const *known, struct maar_error *err)
    __attribute__((warn_unused_result));

/* Each reads map[key]; an absent key or null leaves *ret as it is. -EINVAL for a value of another type or out of
 * range. What comes back as json_t or text is borrowed. */
int maar_field_text(const struct maar_field *field, const json_t *map, const char *key,
                    const char **ret, struct maar_error *err) __attribute__((warn_unused_result));
/* A name that Kubernetes would take for an object. */
int maar_field_name(const struct maar_field *field, const json_t *map, const char *key,
                    const char **ret, struct maar_error *err) __attribute__((warn_unused_result));
int maar_field_int(const struct maar_field *field, const json_t *map, const char *key, int64_t min,
                   int64_t max, int64_t *ret, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_field_bool(const struct maar_field *field, const json_t *map, const char *key, bool *ret,
                    struct maar_error *err) __attribute__((warn_unused_result));
/* A Go duration, or 0. */
int maar_field_duration(const struct maar_field *field, const json_t *map, const char *key,
                        int64_t *ret_ns, struct maar_error *err)
    __attribute__((warn_unused_result));
int maar_field_map(const struct maar_field *field, const json_t *map, const char *key, json_t **ret,
                   struct maar_error *err) __attribute__((warn_unused_result));
int maar_field_list(const struct maar_field *field, const json_t *map, const char *key,
                    json_t **ret, struct maar_error *err) __attribute__((warn_unused_result));
/* Texts of a map; numbers and booleans as one would write them. A new object in *ret, NULL when absent. */
int maar_field_text_map(const struct maar_field *field, const json_t *map, const char *key,
                        json_t **ret, struct maar_error *err) __attribute__((warn_unused_result));
/* An amount that is not negative. A new text in *ret, NULL when absent. */
int maar_field_quantity(const struct maar_field *field, const json_t *map, const char *key,
                        json_t **ret, struct maar_error *err) __attribute__((warn_unused_result));
/* A map of amounts; "gpu" stands for nvidia.com/gpu. Puts them into *ret, made when NULL and the key is there. */
int maar_field_amounts(const struct maar_field *field, const json_t *map, const char *key,
                       json_t **ret, struct maar_error *err) __attribute__((warn_unused_result));

#endif
