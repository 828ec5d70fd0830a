/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void base64_gives_the_bytes_back(void **state)
{
    static const struct {
        const char *text;
        const char *want;
        size_t n;
    } rows[] = {
        {"", "", 0},
        {"Zg==", "f", 1},
        {"Zm8=", "fo", 2},
        {"Zm9v", "foo", 3},
        {"Zm9vYg==", "foob", 4},
        {"Zm9v\nYmE=\n", "fooba", 5},
        {"AAAA", "\0\0\0", 3},
        {"/+/+", "\xff\xef\xfe", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *data = NULL;
        size_t n = 99;

        assert_int_equal(maar_base64_decode(rows[i].text, &data, &n), 0);
        assert_int_equal(n, rows[i].n);
        assert_memory_equal(data, rows[i].want, n);
        assert_int_equal(data[n], 0);
        free(data);
    }
}

static void base64_refuses_what_is_none(void **state)
{
    static const char *const rows[] = {
        "Z", "Zg", "Zg=", "Zg=a", "Z===", "====", "Zm9v!", "Zm-v", "Zg==Zg=="};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *data = NULL;
        size_t n = 0;

        if (maar_base64_decode(rows[i], &data, &n) == 0)
            fail_msg("\"%s\" was taken", rows[i]);
        assert_null(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_gives_the_bytes_back),
        cmocka_unit_test(base64_refuses_what_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
