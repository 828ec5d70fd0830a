/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void pauses_double_up_to_the_longest_with_jitter(void **state)
{
    struct maar_backoff backoff = {100, 1000, 0, 42};
    static const int64_t full[] = {100, 200, 400, 800, 1000, 1000, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof full / sizeof full[0]; i++) {
        int64_t pause = maar_backoff_next(&backoff);

        assert_in_range(pause, full[i] / 2, full[i]);
    }
    maar_backoff_reset(&backoff);
    assert_in_range(maar_backoff_next(&backoff), 50, 100);
}

static void pauses_of_two_clients_differ(void **state)
{
    struct maar_backoff a = {MAAR_SECOND_NS, MAAR_SECOND_NS, 0, 1};
    struct maar_backoff b = {MAAR_SECOND_NS, MAAR_SECOND_NS, 0, 2};

    (void)state;
    assert_int_not_equal(maar_backoff_next(&a), maar_backoff_next(&b));
}

static void bucket_gives_its_burst_then_its_rate(void **state)
{
    struct maar_bucket bucket;
    int64_t now = 5 * MAAR_SECOND_NS;

    (void)state;
    maar_bucket_init(&bucket, 10, 3, now);
    for (int i = 0; i < 3; i++)
        assert_true(maar_bucket_take(&bucket, now));
    assert_false(maar_bucket_take(&bucket, now));
    assert_in_range(maar_bucket_ready_ns(&bucket, now), now + MAAR_SECOND_NS / 10,
                    now + MAAR_SECOND_NS / 10 + 10);
    assert_false(maar_bucket_take(&bucket, now + MAAR_SECOND_NS / 11));
    assert_true(maar_bucket_take(&bucket, now + MAAR_SECOND_NS / 9));
    /* It never holds more than its burst. */
    now += 3600 * MAAR_SECOND_NS;
    for (int i = 0; i < 3; i++)
        assert_true(maar_bucket_take(&bucket, now));
    assert_false(maar_bucket_take(&bucket, now));
}

static void bucket_without_rate_never_ends(void **state)
{
    struct maar_bucket bucket;

    (void)state;
    maar_bucket_init(&bucket, 0, 0, 0);
    for (int i = 0; i < 1000; i++)
        assert_true(maar_bucket_take(&bucket, 0));
    assert_int_equal(maar_bucket_ready_ns(&bucket, 7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_the_longest_with_jitter),
        cmocka_unit_test(pauses_of_two_clients_differ),
        cmocka_unit_test(bucket_gives_its_burst_then_its_rate),
        cmocka_unit_test(bucket_without_rate_never_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
