/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fuzz target: resource quantities. Whatever the bytes are, reading ends in an amount or in a
 * message and leaves the result alone; an amount and its two roundings agree; what is written for
 * people reads back as the same amount. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void read_back(const char *text, int64_t wanted,
                      int64_t (*amount)(const struct maar_quantity *))
{
    struct maar_quantity quantity;
    struct maar_error err = MAAR_ERROR_INIT;
    require(maar_quantity_parse(text, &quantity, &err) == 0);
    require(amount(&quantity) == wanted);
}

/* Rounded away from zero, units never lie below the thousandths, nor a whole unit above. */
static void compare_roundings(int64_t value, int64_t milli)
{
    require((value > 0) == (milli > 0) && (value < 0) == (milli < 0));
    if (milli == INT64_MAX || milli == INT64_MIN || value == INT64_MAX || value == INT64_MIN)
        return;
    require(value == milli / 1000 + (milli % 1000 > 0) - (milli % 1000 < 0));
}

static void check_amount(const struct maar_quantity *quantity)
{
    require(!(quantity->is_negative && quantity->nano == 0));
    int64_t value = maar_quantity_value(quantity);
    int64_t milli = maar_quantity_milli_value(quantity);
    compare_roundings(value, milli);
    char buffer[32];
    read_back(maar_quantity_format_decimal(milli, buffer), milli, maar_quantity_milli_value);
    read_back(maar_quantity_format_binary(value, buffer), value, maar_quantity_value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';

    struct maar_quantity quantity = {.nano = 12345, .is_negative = true};
    struct maar_error err = MAAR_ERROR_INIT;
    int rc = maar_quantity_parse(text, &quantity, &err);
    if (rc == 0) {
        check_amount(&quantity);
    } else {
        require(rc == -EINVAL && *maar_error_text(&err) != '\0');
        require(quantity.nano == 12345 && quantity.is_negative);
    }
    free(text);
    return 0;
}
