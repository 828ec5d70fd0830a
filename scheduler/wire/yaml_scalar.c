/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Resolving scalars after go-yaml v2, which sigs.k8s.io/yaml builds on: YAML 1.1 truth values (yes, no, on, off, y,
 * n) and integers (0x, 0o, 0b, leading 0 for octal, underscores), decimal floats, no sexagesimals; timestamps stay
 * texts. A whole float becomes an integer, as it does in JSON there. */

#include "wire/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "wire/json_value.h"

#define NUMBER_MAX 512 /* longer texts are no numbers */

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool is_true_word(const char *text)
{
    static const char *const words[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                        "True", "TRUE", "on",  "On",  "ON",  NULL};
    return is_one_of(text, words);
}

static bool is_false_word(const char *text)
{
    static const char *const words[] = {"n",     "N",     "no",  "No",  "NO",  "false",
                                        "False", "FALSE", "off", "Off", "OFF", NULL};
    return is_one_of(text, words);
}

static bool is_null_word(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
    return is_one_of(text, words);
}

static bool is_special_float(const char *text)
{
    static const char *const words[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
                                        ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf",
                                        "-.Inf", "-.INF", NULL};
    return is_one_of(text, words);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copies without underscores; false when it does not fit. */
static bool strip(const char *text, char plain[NUMBER_MAX])
{
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        if (n + 1 == NUMBER_MAX)
            return false;
        plain[n++] = *text;
    }
    plain[n] = '\0';
    return true;
}

/* strconv.ParseUint(text, 0, 64) without the sign. */
static bool read_magnitude(const char *digits, uint64_t *ret)
{
    unsigned base = 10;
    if (digits[0] == '0' && digits[1] != '\0') {
        char kind = (char)(digits[1] | 0x20);
        base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
        digits += kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1;
    }
    if (*digits == '\0')
        return false;
    uint64_t value = 0;
    for (; *digits; digits++) {
        char c = (char)(*digits | 0x20);
        unsigned digit = is_digit(*digits)      ? (unsigned)(*digits - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

/* ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$ */
static bool is_float(const char *s)
{
    if (*s == '-' || *s == '+')
        s++;
    size_t n_whole = strspn(s, "0123456789");
    s += n_whole;
    if (*s == '.') {
        size_t n_fraction = strspn(++s, "0123456789");
        if (n_whole + n_fraction == 0)
            return false;
        s += n_fraction;
    } else if (n_whole == 0) {
        return false;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '-' || *s == '+')
            s++;
        size_t n_exponent = strspn(s, "0123456789");
        if (n_exponent == 0)
            return false;
        s += n_exponent;
    }
    return *s == '\0';
}

static json_t *from_double(double value)
{
    if (value == trunc(value) && fabs(value) < 1e15)
        return json_integer((json_int_t)value);
    return json_real(value); /* NULL for what is not finite */
}

/* A number, or NULL when the text is none. */
static json_t *resolve_number(const char *text)
{
    char plain[NUMBER_MAX];
    if (!is_digit(*text) && *text != '-' && *text != '+' && *text != '.')
        return NULL;
    if (!strip(text, plain))
        return NULL;
    bool is_negative = *plain == '-';
    const char *digits = plain + (*plain == '-' || *plain == '+' ? 1 : 0);
    uint64_t magnitude;
    if (is_digit(*digits) && read_magnitude(digits, &magnitude)) {
        if (!is_negative && magnitude <= INT64_MAX)
            return json_integer((json_int_t)magnitude);
        if (is_negative && magnitude <= (uint64_t)INT64_MAX + 1)
            return json_integer((json_int_t)(0 - magnitude));
        if (digits == plain)
            return json_real((double)magnitude);
    }
    return is_float(plain) ? from_double(strtod(plain, NULL)) : NULL;
}

/* NULL for a float without form in JSON. */
static json_t *resolve(const char *text)
{
    if (is_null_word(text))
        return json_null();
    if (is_true_word(text))
        return json_true();
    if (is_false_word(text))
        return json_false();
    if (is_special_float(text))
        return NULL;
    json_t *number = resolve_number(text);
    return number ? number : json_string(text);
}

static bool fits_tag(const json_t *value, const char *type)
{
    if (strcmp(type, "int") == 0)
        return json_is_integer(value);
    if (strcmp(type, "float") == 0)
        return json_is_number(value);
    if (strcmp(type, "bool") == 0)
        return json_is_boolean(value);
    if (strcmp(type, "null") == 0)
        return json_is_null(value);
    return json_is_string(value);
}

/* The name of a standard scalar type that is not a text, NULL for every other tag. */
static const char *tag_type(const char *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const types[] = {"int", "float", "bool", "null", NULL};
    if (!tag || strncmp(tag, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *type = tag + sizeof prefix - 1;
    return is_one_of(type, types) ? type : NULL;
}

int maar_yaml_scalar(const yaml_event_t *event, json_t **ret_value, struct maar_error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    const char *tag = (const char *)event->data.scalar.tag;
    const char *type = tag_type(tag);
    bool is_plain = !tag && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, '\0', n))
        return maar_error_set(err, -EINVAL, "NUL in a text");
    json_t *value = is_plain || type ? resolve(text) : json_stringn(text, n);
    if (!value)
        return maar_error_set(err, -EINVAL, "\"%.64s\" has no form in JSON", text);
    if (type && !fits_tag(value, type)) {
        json_decref(value);
        return maar_error_set(err, -EINVAL, "\"%.64s\" is no !!%s", text, type);
    }
    *ret_value = value;
    return 0;
}

int maar_yaml_key(const yaml_event_t *event, char **ret_key, struct maar_error *err)
{
    char number[32];
    json_auto_t *value = NULL;
    int rc = maar_yaml_scalar(event, &value, err);
    if (rc < 0 || !value)
        return rc;
    switch (json_typeof(value)) {
    case JSON_STRING:
        *ret_key = maar_strndup(json_string_value(value), json_string_length(value));
        return 0;
    case JSON_INTEGER:
        *ret_key = maar_asprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return 0;
    case JSON_REAL:
        *ret_key = maar_strdup(maar_json_real_text(json_real_value(value), number));
        return 0;
    case JSON_TRUE:
    case JSON_FALSE:
        *ret_key = maar_strdup(json_is_true(value) ? "true" : "false");
        return 0;
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
        break;
    }
    return maar_error_set(err, -EINVAL, "null cannot be a key");
}

bool maar_yaml_is_merge_key(const yaml_event_t *event)
{
    const char *tag = (const char *)event->data.scalar.tag;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           strcmp((const char *)event->data.scalar.value, "<<") == 0 &&
           (!tag || strcmp(tag, "tag:yaml.org,2002:merge") == 0);
}

/* Some readers take "12:30" for a number of base 60 and "2026-01-01" for a time. */
static bool looks_like_time(const char *text)
{
    if (!is_digit(*text) && *text != '-' && *text != '+')
        return false;
    size_t n_digits = strspn(text, "0123456789");
    return strchr(text, ':') || (n_digits == 4 && text[4] == '-');
}

bool maar_yaml_is_safe_plain(const char *text)
{
    if (strcmp(text, "<<") == 0 || strcmp(text, "=") == 0 || looks_like_time(text))
        return false;
    json_auto_t *value = resolve(text);
    return json_is_string(value);
}
