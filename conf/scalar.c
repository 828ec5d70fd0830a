/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Resolution of plain scalars as gopkg.in/yaml.v2 does it, which is YAML 1.1 with three changes:
 * numbers of base 60 are strings, a number with a leading zero that is not octal ("08") is a float,
 * and "0o17" is an integer. Timestamps stay strings. Integers beyond int64 become floats, so an
 * integer argument refuses them. */

#include "conf/scalar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX_BYTES 128 /* a longer run of digits is no number that anybody means */

static bool is_one_of(const char *text, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

/* The names that YAML 1.1 gives a meaning of their own. */
static bool resolve_name(const char *text, struct maar_scalar_value *out)
{
    static const char *const yes[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON",  NULL};
    static const char *const no[] = {"n",     "N",     "no",  "No",  "NO",  "false",
                                     "False", "FALSE", "off", "Off", "OFF", NULL};
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const nan_names[] = {".nan", ".NaN", ".NAN", NULL};
    static const char *const inf_names[] = {".inf", ".Inf", ".INF", NULL};
    if (is_one_of(text, yes) || is_one_of(text, no)) {
        out->type = MAAR_SCALAR_BOOL;
        out->truth = is_one_of(text, yes);
        return true;
    }
    if (is_one_of(text, null)) {
        out->type = MAAR_SCALAR_NULL;
        return true;
    }
    if (is_one_of(text, nan_names)) {
        out->type = MAAR_SCALAR_FLOAT;
        out->real = (double)NAN;
        return true;
    }
    const char *unsigned_text = *text == '+' || *text == '-' ? text + 1 : text;
    if (is_one_of(unsigned_text, inf_names)) {
        out->type = MAAR_SCALAR_FLOAT;
        out->real = *text == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    return false;
}

/* Copies without underscores; false when it does not fit. */
static bool without_underscores(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        if (n + 1 >= size)
            return false;
        out[n++] = *text;
    }
    out[n] = '\0';
    return true;
}

/* The base that a prefix names, as Go's base 0: 0x, 0o, 0b, a lone 0 for octal. Moves past the
 * prefix. */
static int number_base(const char **digits)
{
    const char *at = *digits;
    if (at[0] != '0' || at[1] == '\0')
        return 10;
    char kind = (char)tolower((unsigned char)at[1]);
    int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (base == 0) {
        *digits = at + 1;
        return 8;
    }
    *digits = at + 2;
    return base;
}

/* strtoull would take a sign or a second prefix. */
static const char *digits_of(int base)
{
    switch (base) {
    case 2:
        return "01";
    case 8:
        return "01234567";
    case 10:
        return "0123456789";
    default:
        return "0123456789abcdefABCDEF";
    }
}

static bool consists_of(const char *text, const char *characters)
{
    return *text != '\0' && strspn(text, characters) == strlen(text);
}

static bool resolve_integer(const char *text, struct maar_scalar_value *out)
{
    bool negative = *text == '-';
    const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
    int base = number_base(&digits);
    if (!consists_of(digits, digits_of(base)))
        return false;
    errno = 0;
    unsigned long long magnitude = strtoull(digits, NULL, base);
    if (errno == ERANGE)
        return false;
    unsigned long long limit = (unsigned long long)INT64_MAX + (negative ? 1 : 0);
    if (magnitude > limit) {
        if (negative)
            return false;
        out->type = MAAR_SCALAR_FLOAT;
        out->real = (double)magnitude;
        return true;
    }
    out->type = MAAR_SCALAR_INT;
    out->number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    out->real = (double)out->number;
    return true;
}

static const char *skip_digits(const char *at)
{
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

/* [-+]? ( .digits | digits [.digits?] ) ( [eE] [-+]? digits )? */
static bool is_float(const char *text)
{
    const char *at = *text == '-' || *text == '+' ? text + 1 : text;
    const char *whole = at;
    at = skip_digits(at);
    bool has_whole = at > whole;
    if (*at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at);
        if (!has_whole && at == fraction)
            return false;
    } else if (!has_whole) {
        return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '-' || *at == '+')
            at++;
        const char *exponent = at;
        at = skip_digits(at);
        if (at == exponent)
            return false;
    }
    return *at == '\0';
}

static bool resolve_float(const char *text, struct maar_scalar_value *out)
{
    if (!is_float(text))
        return false;
    double real = strtod(text, NULL);
    if (!isfinite(real))
        return false;
    out->type = MAAR_SCALAR_FLOAT;
    out->real = real;
    return true;
}

/* After a leading dot an underscore must separate digits; elsewhere it may be anywhere. */
static bool has_stray_underscore(const char *text)
{
    for (const char *at = strchr(text, '_'); at; at = strchr(at + 1, '_'))
        if (at == text || !isdigit((unsigned char)at[-1]) || !isdigit((unsigned char)at[1]))
            return true;
    return false;
}

struct maar_scalar_value maar_scalar_resolve(const char *text)
{
    struct maar_scalar_value value = {.type = MAAR_SCALAR_STRING};
    if (resolve_name(text, &value))
        return value;
    char plain[NUMBER_MAX_BYTES] = "";
    bool starts_number =
        *text == '.' || *text == '+' || *text == '-' || isdigit((unsigned char)*text);
    if (!starts_number || !without_underscores(text, plain, sizeof plain))
        return value;
    if (*text == '.') {
        if (!has_stray_underscore(text))
            (void)resolve_float(plain, &value);
    } else if (!resolve_integer(plain, &value)) {
        (void)resolve_float(plain, &value);
    }
    return value;
}

bool maar_scalar_parse_bool(const char *text, bool *ret_truth)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True", NULL};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False", NULL};
    bool truth = is_one_of(text, yes);
    if (!truth && !is_one_of(text, no))
        return false;
    *ret_truth = truth;
    return true;
}
