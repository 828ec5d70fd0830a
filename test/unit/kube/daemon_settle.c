/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The source belongs to a program, not to a library, so it is taken in. */

#include "daemon/settle.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Gives n[i] deltas at call i. */
struct source {
    const size_t *n;
    size_t n_calls;
    int64_t first_timeout_ns;
    int64_t last_timeout_ns;
    struct maar_write *submitted;
};

static void give(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct source *source = self;

    if (!source->n_calls)
        source->first_timeout_ns = timeout_ns;
    source->last_timeout_ns = timeout_ns;
    for (size_t i = 0; i < source->n[source->n_calls]; i++) {
        struct maar_delta delta = {.type = MAAR_DELTA_SYNCED};

        maar_vec_push(deltas, delta);
    }
    source->n_calls++;
}

static void keep(void *self, struct maar_write *write)
{
    ((struct source *)self)->submitted = write;
}

static const struct maar_backend_ops source_ops = {.next_deltas = give, .submit = keep};

static void deltas_are_gathered_until_none_comes(void **state)
{
    static const struct {
        int64_t timeout_ns;
        size_t n[5];
        size_t want;
        size_t want_calls;
    } rows[] = {
        {1000, {0}, 0, 1},          /* nothing */
        {1000, {3, 0}, 3, 2},       /* quiet at once */
        {1000, {3, 1, 2, 0}, 6, 4}, /* a burst */
        {0, {3, 1, 0}, 3, 1},       /* no waiting at all */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct source source = {.n = rows[i].n};
        struct maar_settle settle;
        struct maar_deltas deltas = {0};
        struct maar_backend backend = maar_settle_init(
            &settle, (struct maar_backend){&source_ops, &source}, 60 * MAAR_SECOND_NS);

        settle.longest_ns = 60 * MAAR_SECOND_NS; /* the clock has no part in this */
        backend.ops->next_deltas(backend.self, rows[i].timeout_ns, &deltas);
        assert_int_equal(deltas.n, rows[i].want);
        assert_int_equal(source.n_calls, rows[i].want_calls);
        assert_int_equal(source.first_timeout_ns, rows[i].timeout_ns);
        if (rows[i].want_calls > 1)
            assert_int_equal(source.last_timeout_ns, settle.quiet_ns);
        maar_vec_fini(&deltas);
    }
}

static void a_stream_that_never_rests_is_cut(void **state)
{
    static const size_t n[100] = {1, 1, 1, 1, 1, 1};
    struct source source = {.n = n};
    struct maar_settle settle;
    struct maar_deltas deltas = {0};
    struct maar_backend backend =
        maar_settle_init(&settle, (struct maar_backend){&source_ops, &source}, 0);

    (void)state;
    backend.ops->next_deltas(backend.self, 1000, &deltas);
    assert_int_equal(deltas.n, 1);
    maar_vec_fini(&deltas);
}

static void writes_are_counted(void **state)
{
    struct source source = {0};
    struct maar_settle settle;
    struct maar_backend backend =
        maar_settle_init(&settle, (struct maar_backend){&source_ops, &source}, 0);
    struct maar_write *write = maar_write_create(MAAR_WRITE_EVICT, "ns", "p", "u");

    (void)state;
    backend.ops->submit(backend.self, write);
    assert_ptr_equal(source.submitted, write);
    assert_int_equal(settle.n_writes[MAAR_WRITE_EVICT], 1);
    maar_write_destroy(write);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_are_gathered_until_none_comes),
        cmocka_unit_test(a_stream_that_never_rests_is_cut),
        cmocka_unit_test(writes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
