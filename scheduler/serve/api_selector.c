// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Selectors as kubectl writes them: k=v, k==v, k!=v, k in (a,b), k notin (a,b), k, !k; fields by path.
#include "serve/api_selector.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "sim/document.h"

static char *trimmed(const char *text, size_t n)
{
    while (n && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return maar_strndup(text, n);
}

/* Where the requirement that begins here ends: at a comma outside of parentheses. */
static size_t length_of(const char *text)
{
    size_t n = 0;
    for (int depth = 0; text[n] && (depth > 0 || text[n] != ','); n++)
        depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    return n;
}

/* "k in (a,b)" and "k notin (a,b)". */
static bool parse_set(const char *text, size_t n, struct maar_api_requirement *ret)
{
    const char *open = memchr(text, '(', n);
    if (!open || text[n - 1] != ')')
        return false;
    maar_autofree char *head = trimmed(text, (size_t)(open - text));
    char *space = strrchr(head, ' ');
    if (!space || (strcmp(space + 1, "in") != 0 && strcmp(space + 1, "notin") != 0))
        return false;
    ret->op = strcmp(space + 1, "in") == 0 ? MAAR_API_IN : MAAR_API_NOT_IN;
    ret->key = trimmed(head, (size_t)(space - head));
    ret->values = trimmed(open + 1, (size_t)(text + n - 1 - (open + 1)));
    return true;
}

static bool parse_requirement(const char *text, size_t n, struct maar_api_requirement *ret)
{
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    while (n && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    if (n == 0)
        return false;
    if (parse_set(text, n, ret))
        return true;
    const char *equals = memchr(text, '=', n);
    if (equals) {
        bool differs = equals > text && equals[-1] == '!';
        const char *value = equals + 1 < text + n && equals[1] == '=' ? equals + 2 : equals + 1;
        ret->op = differs ? MAAR_API_DIFFERS : MAAR_API_EQUALS;
        ret->key = trimmed(text, (size_t)(equals - text) - differs);
        ret->values = trimmed(value, (size_t)(text + n - value));
    } else {
        ret->op = *text == '!' ? MAAR_API_ABSENT : MAAR_API_EXISTS;
        ret->key = trimmed(text + (*text == '!'), n - (*text == '!'));
        ret->values = maar_strdup("");
    }
    return true;
}

int maar_api_selector_init(struct maar_api_selector *selector, const char *labels,
                           const char *fields, struct maar_error *err)
{
    const char *texts[] = {labels, fields};
    *selector = (struct maar_api_selector){0};
    for (size_t i = 0; i < 2; i++) {
        for (const char *at = texts[i]; *at;) {
            struct maar_api_requirement requirement;
            size_t n = length_of(at);
            if (!parse_requirement(at, n, &requirement)) {
                maar_api_selector_fini(selector);
                return maar_error_set(err, -EINVAL, "unable to parse selector %.200s", texts[i]);
            }
            if (i == 0)
                maar_vec_push(&selector->labels, requirement);
            else
                maar_vec_push(&selector->fields, requirement);
            at += n + (at[n] == ',');
        }
    }
    return 0;
}

void maar_api_selector_fini(struct maar_api_selector *selector)
{
    struct maar_api_requirement *requirement;
    MAAR_VEC_EACH (&selector->labels, requirement) {
        free(requirement->key);
        free(requirement->values);
    }
    MAAR_VEC_EACH (&selector->fields, requirement) {
        free(requirement->key);
        free(requirement->values);
    }
    maar_vec_fini(&selector->labels);
    maar_vec_fini(&selector->fields);
}

static bool is_listed(const char *values, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = values;;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        size_t own = length;
        while (own && at[own - 1] == ' ')
            own--;
        if (own == n && memcmp(at, value, n) == 0)
            return true;
        if (!at[length])
            return false;
        at += length + 1;
    }
}

/* value NULL: the key is absent. */
static bool satisfies(const struct maar_api_requirement *requirement, const char *value)
{
    switch (requirement->op) {
    case MAAR_API_EQUALS:
        return value && strcmp(value, requirement->values) == 0;
    case MAAR_API_DIFFERS:
        return !value || strcmp(value, requirement->values) != 0;
    case MAAR_API_IN:
        return value && is_listed(requirement->values, value);
    case MAAR_API_NOT_IN:
        return !value || !is_listed(requirement->values, value);
    case MAAR_API_EXISTS:
        return value != NULL;
    case MAAR_API_ABSENT:
        return value == NULL;
    }
    return false;
}

bool maar_api_selector_matches(const struct maar_api_selector *selector, const json_t *document)
{
    const json_t *labels = maar_document_at(document, "metadata.labels");
    for (size_t i = 0; i < selector->labels.n; i++) {
        const struct maar_api_requirement *requirement = &selector->labels.data[i];
        if (!satisfies(requirement, json_string_value(json_object_get(labels, requirement->key))))
            return false;
    }
    for (size_t i = 0; i < selector->fields.n; i++) {
        const struct maar_api_requirement *requirement = &selector->fields.data[i];
        if (!satisfies(requirement, maar_document_text(document, requirement->key)))
            return false;
    }
    return true;
}
