/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_QUANTITY_H
#define MAAR_MODEL_QUANTITY_H

/* Kubernetes resource quantities ("100m", "1.5Gi", "2e3"): text to exact amounts, and integers to
 * the text that Kubernetes itself would write. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* An amount in billionths, the finest step Kubernetes keeps. Finer text was rounded away from zero;
 * amounts that no int64_t holds at any scale are kept as some amount of that kind. */
struct maar_quantity {
    unsigned __int128 nano; /* the magnitude */
    bool is_negative;       /* false for zero */
};

/* Reads digits with an optional sign and decimal point, then one of the suffixes n u m k M G T P E,
 * Ki Mi Gi Ti Pi Ei, or a decimal exponent ("e3", "E-3"); a lone "E" is exa. Any number of digits
 * is exact. -EINVAL for any other text, with *ret untouched and the text and its fault in err. */
int maar_quantity_parse(const char *text, struct maar_quantity *ret, struct maar_error *err)
    __attribute__((warn_unused_result));

/* Whole units, and thousandths. A remainder rounds away from zero (more is asked for, never less);
 * what does not fit becomes INT64_MAX or INT64_MIN. */
int64_t maar_quantity_value(const struct maar_quantity *quantity);
int64_t maar_quantity_milli_value(const struct maar_quantity *quantity);

/* The canonical text, in `buffer`, which is returned: the largest suffix that leaves an integer.
 * Decimal takes thousandths ("1500m", "2", "2k"); binary takes units ("2Gi", "1500", and below 1024
 * as decimal, so 1000 is "1k"). */
char *maar_quantity_format_decimal(int64_t milli, char buffer[32]);
char *maar_quantity_format_binary(int64_t value, char buffer[32]);

#endif
