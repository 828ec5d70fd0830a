/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Kubernetes quantities after resource.Quantity of apimachinery: the same texts are accepted (but
 * for those without a digit, "Gi" or "+", which it takes for zero), and Value, MilliValue and the
 * canonical form agree. It differs where apimachinery lets an int64 wrap or gives 0 for what does
 * not fit: here such amounts saturate; and negative amounts always round away from zero, which
 * there depends on the number of digits.
 *
 * An amount is digits, a decimal shift and a binary shift. The part before the decimal point is
 * accumulated in 128 bits; the part after it is multiplied digit by digit from the right, which is
 * exact for any length. */

#include "model/quantity.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 u128;

#define NANO_IN_UNIT  UINT64_C(1000000000)
#define NANO_IN_MILLI UINT64_C(1000000)
/* More places before the point than the bits can hold. */
#define PLACES_MAX 30
/* Exponents beyond this move every digit out of range in texts of any length that fits memory. */
#define EXPONENT_MAX INT64_C(1000000000000000)
#define SATURATED    (~(u128)0)

struct number {
    const char *digits; /* n_whole digits, then (if any) a point and n_fraction digits */
    size_t n_whole;
    size_t n_fraction;
    int64_t exponent; /* of ten */
    unsigned shift;   /* of two */
    bool is_negative;
};

struct suffix {
    char text[3];
    int exponent;
    unsigned shift;
};

static const struct suffix suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t n_digits(const char *s)
{
    size_t n = 0;
    while (is_digit(s[n]))
        n++;
    return n;
}

/* "e3", "E-12": true and the exponent when that is the whole of `s`. */
static bool read_exponent(const char *s, int64_t *ret_exponent)
{
    if (*s != 'e' && *s != 'E')
        return false;
    s++;
    bool is_negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if (!is_digit(*s))
        return false;
    int64_t exponent = 0;
    for (; is_digit(*s); s++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (*s - '0');
    *ret_exponent = is_negative ? -exponent : exponent;
    return *s == '\0';
}

static bool read_suffix(const char *s, struct number *number)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(s, suffixes[i].text) == 0) {
            number->exponent = suffixes[i].exponent;
            number->shift = suffixes[i].shift;
            return true;
        }
    }
    return read_exponent(s, &number->exponent);
}

/* Splits the text; the message says what is wrong with it. */
static int read_number(const char *text, struct number *number, struct maar_error *err)
{
    const char *p = text;
    if (*p == '\0')
        return maar_error_set(err, -EINVAL, "quantity is empty");
    number->is_negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    number->digits = p;
    number->n_whole = n_digits(p);
    p += number->n_whole;
    number->n_fraction = 0;
    if (*p == '.') {
        number->n_fraction = n_digits(++p);
        p += number->n_fraction;
    }
    if (number->n_whole + number->n_fraction == 0)
        return maar_error_set(err, -EINVAL, "quantity \"%.64s\": does not begin with a number",
                              text);
    if (*p == '.')
        return maar_error_set(err, -EINVAL, "quantity \"%.64s\": second decimal point", text);
    if (!read_suffix(p, number))
        return maar_error_set(err, -EINVAL, "quantity \"%.64s\": unknown suffix \"%.16s\"", text,
                              p);
    return 0;
}

static unsigned digit_at(const struct number *number, size_t i)
{
    return (unsigned)(number->digits[i < number->n_whole ? i : i + 1] - '0');
}

/* The digits from..to as a number times `unit`. At most PLACES_MAX places; those from n on are
 * zeros. */
static u128 whole_part(const struct number *number, size_t from, size_t to, size_t n, u128 unit)
{
    u128 whole = 0;
    for (size_t i = from; i < to; i++)
        whole = whole * 10 + (i < n ? digit_at(number, i) : 0);
    u128 product;
    return __builtin_mul_overflow(whole, unit, &product) ? SATURATED : product;
}

/* 0.00ddd times `unit`, rounded up: n_zeros zeros and the digits from..n after the point. */
static u128 fraction_part(const struct number *number, size_t from, size_t n, uint64_t n_zeros,
                          u128 unit)
{
    u128 carry = 0;
    bool has_rest = false;
    for (size_t i = n; i > from; i--) {
        u128 step = digit_at(number, i - 1) * unit + carry;
        has_rest = has_rest || step % 10 != 0;
        carry = step / 10;
    }
    for (; n_zeros > 0 && carry != 0; n_zeros--) {
        has_rest = has_rest || carry % 10 != 0;
        carry /= 10;
    }
    return carry + (has_rest ? 1 : 0);
}

static u128 nano_of(const struct number *number)
{
    size_t n = number->n_whole + number->n_fraction;
    size_t first = 0;
    while (first < n && digit_at(number, first) == 0)
        first++;
    if (first == n)
        return 0;
    u128 unit = (u128)NANO_IN_UNIT << number->shift; /* at most 2^90, so ten of it fit */
    int64_t point = (int64_t)number->n_whole + number->exponent; /* the digit that comes after it */
    int64_t start = (int64_t)first;
    if (point <= start)
        return fraction_part(number, first, n, (uint64_t)(start - point), unit);
    if (point - start > PLACES_MAX)
        return SATURATED;
    size_t end = (size_t)point;
    u128 whole = whole_part(number, first, end, n, unit);
    u128 fraction = end < n ? fraction_part(number, end, n, 0, unit) : 0;
    return whole > SATURATED - fraction ? SATURATED : whole + fraction;
}

int maar_quantity_parse(const char *text, struct maar_quantity *ret, struct maar_error *err)
{
    struct number number = {0};
    int rc = read_number(text, &number, err);
    if (rc < 0)
        return rc;
    u128 nano = nano_of(&number);
    *ret = (struct maar_quantity){.nano = nano, .is_negative = number.is_negative && nano != 0};
    return 0;
}

static int64_t in_steps(const struct maar_quantity *quantity, uint64_t step)
{
    u128 n = quantity->nano / step + (quantity->nano % step != 0 ? 1 : 0);
    if (n > INT64_MAX)
        return quantity->is_negative ? INT64_MIN : INT64_MAX;
    return quantity->is_negative ? -(int64_t)n : (int64_t)n;
}

int64_t maar_quantity_value(const struct maar_quantity *quantity)
{
    return in_steps(quantity, NANO_IN_UNIT);
}

int64_t maar_quantity_milli_value(const struct maar_quantity *quantity)
{
    return in_steps(quantity, NANO_IN_MILLI);
}

/* Writes `n` over as many powers of `base` as divide it; names[0] is the suffix of n itself. */
static char *format_scaled(int64_t n, unsigned base, const char *const *names, char buffer[32])
{
    uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (magnitude == 0)
        return memcpy(buffer, "0", sizeof "0");
    while (names[1] && magnitude % base == 0) {
        magnitude /= base;
        names++;
    }
    (void)snprintf(buffer, 32, "%s%llu%s", n < 0 ? "-" : "", (unsigned long long)magnitude,
                   names[0]);
    return buffer;
}

char *maar_quantity_format_decimal(int64_t milli, char buffer[32])
{
    static const char *const names[] = {"m", "", "k", "M", "G", "T", "P", "E", NULL};
    return format_scaled(milli, 1000, names, buffer);
}

char *maar_quantity_format_binary(int64_t value, char buffer[32])
{
    static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", NULL};
    if (value > -1024 && value < 1024)
        return maar_quantity_format_decimal(value * 1000, buffer);
    return format_scaled(value, 1024, names, buffer);
}
