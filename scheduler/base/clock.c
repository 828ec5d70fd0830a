/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The clocks, and the two texts of time that Kubernetes speaks: RFC 3339 instants and Go durations.
 * The calendar is the proleptic Gregorian one, computed here, so that no time zone data is read.
 * Durations follow Go's time.ParseDuration, its rounding of fractions included. */

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_S INT64_C(86400)

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * MAAR_SECOND_NS + now.tv_nsec;
}

int64_t maar_clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t maar_clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Exactly n digits at *p, which moves past them; -1 otherwise. */
static int take_digits(const char **p, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++, (*p)++) {
        if (!is_digit(**p))
            return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

static bool take_char(const char **p, const char *allowed)
{
    if (**p == '\0' || !strchr(allowed, **p))
        return false;
    (*p)++;
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days from 1 January of year 0 (a leap year) to that of `year` >= 0. */
static int64_t days_before_year(int64_t year)
{
    return year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
}

static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t days = days_before_year(year) - days_before_year(1970);
    for (int m = 1; m < month; m++)
        days += days_in_month(year, m);
    return days + day - 1;
}

/* "2026-01-01", as days since the epoch. */
static bool take_date(const char **p, int64_t *ret_days)
{
    int year = take_digits(p, 4);
    if (year < 0 || !take_char(p, "-"))
        return false;
    int month = take_digits(p, 2);
    if (month < 1 || month > 12 || !take_char(p, "-"))
        return false;
    int day = take_digits(p, 2);
    if (day < 1 || day > days_in_month(year, month))
        return false;
    *ret_days = days_since_epoch(year, month, day);
    return true;
}

/* "15:04:05" with an optional fraction, whose digits after the ninth are dropped. */
static bool take_time_of_day(const char **p, int64_t *ret_s, int64_t *ret_ns)
{
    int hour = take_digits(p, 2);
    if (hour < 0 || hour > 23 || !take_char(p, ":"))
        return false;
    int minute = take_digits(p, 2);
    if (minute < 0 || minute > 59 || !take_char(p, ":"))
        return false;
    int second = take_digits(p, 2);
    if (second < 0 || second > 60)
        return false;
    *ret_s = hour * 3600 + minute * 60 + second;
    *ret_ns = 0;
    if (!take_char(p, "."))
        return true;
    if (!is_digit(**p))
        return false;
    for (int64_t unit = MAAR_SECOND_NS / 10; is_digit(**p); (*p)++, unit /= 10)
        *ret_ns += (**p - '0') * unit;
    return true;
}

/* "Z" or "+01:00", in seconds. */
static bool take_offset(const char **p, int64_t *ret_s)
{
    *ret_s = 0;
    if (take_char(p, "Zz"))
        return true;
    int sign = **p == '-' ? -1 : 1;
    if (!take_char(p, "+-"))
        return false;
    int hour = take_digits(p, 2);
    if (hour < 0 || hour > 23 || !take_char(p, ":"))
        return false;
    int minute = take_digits(p, 2);
    if (minute < 0 || minute > 59)
        return false;
    *ret_s = (int64_t)sign * (hour * INT64_C(3600) + minute * INT64_C(60));
    return true;
}

int maar_time_parse(const char *text, int64_t *ret_ns)
{
    int64_t days, seconds, fraction, offset;
    const char *p = text;
    if (!take_date(&p, &days) || !take_char(&p, "Tt") ||
        !take_time_of_day(&p, &seconds, &fraction) || !take_offset(&p, &offset) || *p != '\0')
        return -EINVAL;
    bool is_leap_second = text[sizeof "2026-01-01T00:00:" - 1] == '6';
    int64_t total = days * DAY_S + seconds - offset;
    if (is_leap_second && total % DAY_S != 0)
        return -EINVAL; /* a leap second ends a day in UTC */
    __int128 ns = (__int128)total * MAAR_SECOND_NS + fraction;
    if (ns < INT64_MIN || ns > INT64_MAX)
        return -EINVAL;
    *ret_ns = (int64_t)ns;
    return 0;
}

struct civil {
    int year, month, day, hour, minute, second;
    int nanosecond;
};

static struct civil civil_of(int64_t ns)
{
    int64_t seconds = ns / MAAR_SECOND_NS, rest = ns % MAAR_SECOND_NS;
    if (rest < 0) {
        rest += MAAR_SECOND_NS;
        seconds--;
    }
    int64_t days = seconds / DAY_S, in_day = seconds % DAY_S;
    if (in_day < 0) {
        in_day += DAY_S;
        days--;
    }
    int64_t since_zero = days + days_before_year(1970);
    int64_t year = since_zero * 400 / 146097; /* right, or one too many or too few */
    while (days_before_year(year) > since_zero)
        year--;
    while (days_before_year(year + 1) <= since_zero)
        year++;
    int64_t left = since_zero - days_before_year(year);
    int month = 1;
    for (; left >= days_in_month((int)year, month); month++)
        left -= days_in_month((int)year, month);
    return (struct civil){
        (int)year,          month,    (int)left + 1, (int)(in_day / 3600), (int)(in_day / 60 % 60),
        (int)(in_day % 60), (int)rest};
}

char *maar_time_format(int64_t ns, char buffer[32])
{
    struct civil t = civil_of(ns);
    (void)snprintf(buffer, 32, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.year, t.month, t.day, t.hour,
                   t.minute, t.second);
    return buffer;
}

char *maar_time_format_micro(int64_t ns, char buffer[40])
{
    struct civil t = civil_of(ns);
    (void)snprintf(buffer, 40, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", t.year, t.month, t.day,
                   t.hour, t.minute, t.second, t.nanosecond / 1000);
    return buffer;
}

struct duration_unit {
    const char *name;
    uint64_t ns;
};

static const struct duration_unit duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000}, /* micro sign */
    {"\xce\xbcs", 1000}, /* Greek mu */
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
};

#define DURATION_MAX                                                                               \
    (UINT64_C(1) << 63) /* one more than int64_t holds: the least duration has no positive twin */

/* The unit at *p, which ends at a digit, a point or the end; 0 when there is none of that name. */
static uint64_t take_unit(const char **p)
{
    size_t n = strcspn(*p, ".0123456789");
    for (size_t i = 0; i < sizeof duration_units / sizeof duration_units[0]; i++) {
        if (strlen(duration_units[i].name) == n && memcmp(duration_units[i].name, *p, n) == 0) {
            *p += n;
            return duration_units[i].ns;
        }
    }
    return 0;
}

struct fraction {
    uint64_t value;
    double scale;
};

/* The digits after the point. Those that no longer fit are dropped, as Go drops them. */
static struct fraction take_fraction(const char **p)
{
    struct fraction fraction = {.scale = 1};
    bool is_full = false;
    for (; is_digit(**p); (*p)++) {
        uint64_t next = fraction.value * 10 + (uint64_t)(**p - '0');
        is_full = is_full || fraction.value > (DURATION_MAX - 1) / 10 || next > DURATION_MAX;
        if (is_full)
            continue;
        fraction.value = next;
        fraction.scale *= 10;
    }
    return fraction;
}

/* One "12.5ms", added to *total. */
static int take_component(const char **p, uint64_t *total)
{
    uint64_t value = 0;
    bool is_over = false;
    const char *start = *p;
    for (; is_digit(**p); (*p)++) {
        is_over = is_over || value > DURATION_MAX / 10;
        value = is_over ? 0 : value * 10 + (uint64_t)(**p - '0');
    }
    bool has_digits = *p > start;
    struct fraction fraction = {.scale = 1};
    if (take_char(p, ".")) {
        has_digits = has_digits || is_digit(**p);
        fraction = take_fraction(p);
    }
    uint64_t unit = has_digits ? take_unit(p) : 0;
    if (!unit)
        return -EINVAL;
    if (is_over || value > DURATION_MAX / unit)
        return -ERANGE;
    value = value * unit + (uint64_t)((double)fraction.value * ((double)unit / fraction.scale));
    if (value > DURATION_MAX - *total)
        return -ERANGE;
    *total += value;
    return 0;
}

int maar_duration_parse(const char *text, int64_t *ret_ns)
{
    const char *p = text;
    bool is_negative = *p == '-';
    (void)take_char(&p, "+-");
    uint64_t total = 0;
    int result = 0;
    if (strcmp(p, "0") == 0) {
        *ret_ns = 0;
        return 0;
    }
    if (*p == '\0')
        return -EINVAL;
    while (*p != '\0') {
        int rc = take_component(&p, &total);
        if (rc == -EINVAL)
            return rc; /* malformed text is that, however large its numbers */
        if (rc < 0)
            result = rc;
    }
    if (result < 0 || total > DURATION_MAX - (is_negative ? 0 : 1))
        return -ERANGE;
    *ret_ns = is_negative ? (int64_t)(0 - total) : (int64_t)total;
    return 0;
}
