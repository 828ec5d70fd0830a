/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Objects of custom kinds against the schemas of deploy/crds, by the part of OpenAPI that these use. The status is left
 * alone: controllers write it. An unknown field is an error, since the API server drops it without a word. */

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/definitions.h"
#include "check/parts.h"
#include "model/quantity.h"
#include "sim/api_type.h"
#include "sim/document.h"
#include "wire/wire.h"

/* ---- finding the schema ---- */

static int keep_first(void *context, json_t *document, int line, struct maar_error *err)
{
    json_t **root = context;
    (void)line;
    (void)err;
    if (!*root)
        *root = json_incref(document);
    return 0;
}

/* The schema of one version in a definition, NULL when it has none. A new reference. */
static json_t *read_schema(const char *text, const char *version)
{
    json_t *root = NULL;
    json_t *schema = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_yaml_each(text, strlen(text), "definition", keep_first, &root, &err) == 0) {
        size_t i;
        json_t *item;
        json_array_foreach (maar_document_at(root, "spec.versions"), i, item)
            if (strcmp(maar_document_text(item, "name"), version) == 0)
                schema = json_incref(maar_document_at(item, "schema.openAPIV3Schema"));
    }
    json_decref(root);
    return schema;
}

static json_t *schema_of(struct maar_check *check, const struct maar_api_type *type)
{
    char key[200];
    char name[200];
    snprintf(key, sizeof key, "%s %s", type->api_version, type->kind);
    json_t *schema = maar_map_find(check->schemas, key);
    const char *slash = strchr(type->api_version, '/');
    if (schema || !slash)
        return schema;
    snprintf(name, sizeof name, "%.*s_%s", (int)(slash - type->api_version), type->api_version,
             type->plural);
    for (const struct maar_definition *definition = maar_definitions; definition->name;
         definition++)
        if (strcmp(definition->name, name) == 0)
            schema = read_schema(definition->text, slash + 1);
    if (schema)
        maar_map_set(check->schemas, key, schema);
    return schema;
}

void maar_check_schemas_destroy(struct maar_map *schemas)
{
    size_t at = 0;
    void *schema;
    while (maar_map_next(schemas, &at, NULL, NULL, &schema))
        json_decref(schema);
    maar_map_destroy(schemas);
}

/* ---- values ---- */

static void walk(struct maar_check *check, const json_t *schema, const json_t *value,
                 const struct maar_field *field);

static const char *words_of_type(const char *type)
{
    static const char *const words[][2] = {{"object", "a map"},
                                           {"array", "a list"},
                                           {"string", "a text"},
                                           {"integer", "a whole number"},
                                           {"boolean", "true or false"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], type) == 0)
            return words[i][1];
    return type;
}

static void wrong_type(struct maar_check *check, const struct maar_field *field,
                       const char *expected, const json_t *value)
{
    bool to_quote =
        strcmp(expected, "a text") == 0 && !json_is_object(value) && !json_is_array(value);
    bool to_unquote = json_is_string(value) && (strcmp(expected, "a whole number") == 0 ||
                                                strcmp(expected, "true or false") == 0);
    maar_findings_add(&check->findings, field, true, NULL, "expected %s, found %s%s", expected,
                      maar_field_type_name(value),
                      to_quote     ? "; put it in quotes"
                      : to_unquote ? "; write it without quotes"
                                   : "");
}

static void walk_quantity(struct maar_check *check, const json_t *value,
                          const struct maar_field *field)
{
    struct maar_quantity quantity;
    struct maar_error err = MAAR_ERROR_INIT;
    const char *text = json_string_value(value);
    if (json_is_integer(value))
        return;
    if (!text)
        wrong_type(check, field, "a quantity such as 2, \"500m\" or 4Gi", value);
    else if (maar_quantity_parse(text, &quantity, &err) < 0)
        maar_findings_add(&check->findings, field, true, NULL, "%s", err.text);
}

static void check_enum(struct maar_check *check, const json_t *schema, const char *text,
                       const struct maar_field *field)
{
    MAAR_VEC(const char *) names = {0};
    const json_t *list = json_object_get(schema, "enum");
    struct maar_text known = MAAR_TEXT_INIT;
    bool is_known = list == NULL;
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const char *name = json_string_value(item);
        if (!name)
            continue;
        is_known |= strcmp(name, text) == 0;
        maar_vec_push(&names, name);
        maar_text_addf(&known, "%s%s", i > 0 ? ", " : "", name);
    }
    maar_vec_push(&names, NULL);
    if (!is_known)
        maar_findings_add(&check->findings, field, true, maar_text_nearest(text, names.data),
                          "\"%.60s\" is none of %s", text, maar_text_get(&known));
    maar_vec_fini(&names);
    maar_text_fini(&known);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return true;
    bool is_match = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_match;
}

static void walk_string(struct maar_check *check, const json_t *schema, const char *text,
                        const struct maar_field *field)
{
    int64_t max = maar_document_int(schema, "maxLength", INT64_MAX);
    int64_t min = maar_document_int(schema, "minLength", 0);
    const char *pattern = maar_document_text(schema, "pattern");
    size_t n = strlen(text);
    check_enum(check, schema, text, field);
    if ((int64_t)n > max)
        maar_findings_add(&check->findings, field, true, NULL,
                          "a text of %zu bytes; at most %lld are allowed", n, (long long)max);
    else if ((int64_t)n < min)
        maar_findings_add(&check->findings, field, true, NULL, "must not be empty");
    else if (*pattern && *text && !matches(pattern, text))
        maar_findings_add(&check->findings, field, true, NULL, "\"%.60s\" does not match %s", text,
                          pattern);
}

static void walk_integer(struct maar_check *check, const json_t *schema, const json_t *value,
                         const struct maar_field *field)
{
    bool is_short = strcmp(maar_document_text(schema, "format"), "int32") == 0;
    int64_t max = maar_document_int(schema, "maximum", is_short ? INT32_MAX : INT64_MAX);
    int64_t min = maar_document_int(schema, "minimum", is_short ? INT32_MIN : INT64_MIN);
    int64_t number = (int64_t)json_integer_value(value);
    if (number < min)
        maar_findings_add(&check->findings, field, true, NULL,
                          "%lld is out of range, it must be at least %lld", (long long)number,
                          (long long)min);
    else if (number > max)
        maar_findings_add(&check->findings, field, true, NULL,
                          "%lld is out of range, it must be at most %lld", (long long)number,
                          (long long)max);
}

static void unknown_field(struct maar_check *check, const json_t *properties, const char *key,
                          const struct maar_field *field)
{
    MAAR_VEC(const char *) names = {0};
    const char *name;
    json_t *item;
    json_object_foreach ((json_t *)(uintptr_t)properties, name, item)
        maar_vec_push(&names, name);
    maar_vec_push(&names, NULL);
    maar_findings_add(&check->findings, field, true, maar_text_nearest(key, names.data),
                      "unknown field");
    maar_vec_fini(&names);
}

static void check_required(struct maar_check *check, const json_t *schema, const json_t *value,
                           const struct maar_field *field)
{
    size_t i;
    json_t *name;
    json_array_foreach (json_object_get(schema, "required"), i, name) {
        const char *key = json_string_value(name);
        if (key && !maar_document_at(value, key))
            maar_findings_add(&check->findings, field, true, NULL, "%s is missing", key);
    }
}

static void walk_map(struct maar_check *check, const json_t *schema, const json_t *value,
                     const struct maar_field *field)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    bool is_open = json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
    const char *key;
    json_t *item;
    check_required(check, schema, value, field);
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        const json_t *known = json_object_get(properties, key);
        struct maar_field child = maar_field_key(field, key);
        if (json_is_null(item))
            continue;
        if (known || others)
            walk(check, known ? known : others, item, &child);
        else if (properties && !is_open)
            unknown_field(check, properties, key, &child);
    }
}

static void walk_list(struct maar_check *check, const json_t *schema, const json_t *value,
                      const struct maar_field *field)
{
    const json_t *items = json_object_get(schema, "items");
    int64_t min = maar_document_int(schema, "minItems", 0);
    size_t i;
    json_t *item;
    if ((int64_t)json_array_size(value) < min)
        maar_findings_add(&check->findings, field, true, NULL, "needs at least %lld entr%s",
                          (long long)min, min == 1 ? "y" : "ies");
    json_array_foreach ((json_t *)(uintptr_t)value, i, item) {
        struct maar_field child = maar_field_index(field, i);
        if (items)
            walk(check, items, item, &child);
    }
}

/* Depth is that of the schema, which is ours. */
static void walk(struct maar_check *check, const json_t *schema, const json_t *value,
                 const struct maar_field *field)
{
    const char *type = maar_document_text(schema, "type");
    if (json_is_true(json_object_get(schema, "x-kubernetes-int-or-string")) ||
        json_object_get(schema, "anyOf"))
        walk_quantity(check, value, field);
    else if (strcmp(type, "object") == 0 && json_is_object(value))
        walk_map(check, schema, value, field);
    else if (strcmp(type, "array") == 0 && json_is_array(value))
        walk_list(check, schema, value, field);
    else if (strcmp(type, "string") == 0 && json_is_string(value))
        walk_string(check, schema, json_string_value(value), field);
    else if (strcmp(type, "integer") == 0 && json_is_integer(value))
        walk_integer(check, schema, value, field);
    else if (*type && !(strcmp(type, "boolean") == 0 && json_is_boolean(value)))
        wrong_type(check, field, words_of_type(type), value);
}

void maar_check_schema(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_api_type *type = maar_api_type_find(object->api_version, object->kind);
    const json_t *schema = type && type->custom ? schema_of(check, type) : NULL;
    const json_t *properties = json_object_get(schema, "properties");
    const char *key;
    json_t *item;
    if (!schema)
        return;
    check_required(check, schema, object->document, &object->field);
    json_object_foreach (object->document, key, item) {
        const json_t *known = json_object_get(properties, key);
        struct maar_field field = maar_field_key(&object->field, key);
        if (json_is_null(item) || strcmp(key, "status") == 0)
            continue;
        if (known)
            walk(check, known, item, &field);
        else
            unknown_field(check, properties, key, &field);
    }
}
