/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Label selectors as they stand in documents. */

#include "sim/label_selector.h"

#include <string.h>

#include "sim/document.h"

static bool has_value(const json_t *values, const char *text)
{
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *value = json_string_value(json_array_get(values, i));
        if (value && text && strcmp(value, text) == 0)
            return true;
    }
    return false;
}

static bool meets(const json_t *expression, const json_t *labels)
{
    const char *op = maar_document_text(expression, "operator");
    const char *label =
        json_string_value(json_object_get(labels, maar_document_text(expression, "key")));
    const json_t *values = json_object_get(expression, "values");
    if (strcmp(op, "Exists") == 0)
        return label != NULL;
    if (strcmp(op, "DoesNotExist") == 0)
        return label == NULL;
    if (strcmp(op, "NotIn") == 0)
        return !has_value(values, label);
    return has_value(values, label);
}

bool maar_label_selector_matches(const json_t *selector, const json_t *labels)
{
    const json_t *expressions = json_object_get(selector, "matchExpressions");
    const char *key;
    json_t *value;
    json_object_foreach (json_object_get(selector, "matchLabels"), key, value) {
        if (!json_equal(json_object_get(labels, key), value))
            return false;
    }
    for (size_t i = 0; i < json_array_size(expressions); i++)
        if (!meets(json_array_get(expressions, i), labels))
            return false;
    return true;
}
