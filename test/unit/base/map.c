/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The map against a naive model, its order, and the hash. */

#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Distinct non-NULL values that point at nothing. */
static void *value_of(size_t i)
{
    static char room[1 << 16];
    return &room[i % sizeof room];
}

static void map_new_is_empty(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    size_t at = 0;
    assert_int_equal(maar_map_n(map), 0);
    assert_null(maar_map_find(map, "a"));
    assert_null(maar_map_find_int(map, 0));
    assert_null(maar_map_remove(map, "a"));
    assert_null(maar_map_remove_int(map, 0));
    assert_false(maar_map_next(map, &at, NULL, NULL, NULL));
    maar_map_clear(map);
    maar_map_destroy(map);
    maar_map_destroy(NULL);
}

static void map_set_returns_the_former_value(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    assert_null(maar_map_set(map, "a", value_of(1)));
    assert_ptr_equal(maar_map_set(map, "a", value_of(2)), value_of(1));
    assert_ptr_equal(maar_map_find(map, "a"), value_of(2));
    assert_int_equal(maar_map_n(map), 1);
    assert_ptr_equal(maar_map_remove(map, "a"), value_of(2));
    assert_null(maar_map_remove(map, "a"));
    assert_int_equal(maar_map_n(map), 0);
    maar_map_destroy(map);
}

static void map_keys_are_bytes_of_any_content_and_length(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        {"", 0}, {"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"ab", 2}, {"ba", 2},
    };
    struct maar_map *map = maar_map_create();
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_null(maar_map_set_bytes(map, rows[i].bytes, rows[i].n, value_of(i)));
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_ptr_equal(maar_map_find_bytes(map, rows[i].bytes, rows[i].n), value_of(i));
    size_t at = 0, i = 0, n;
    const void *key;
    for (; maar_map_next(map, &at, &key, &n, NULL); i++) {
        assert_int_equal(n, rows[i].n);
        assert_memory_equal(key, rows[i].bytes, n + 1); /* a NUL follows */
    }
    assert_int_equal(i, COUNT(rows));
    assert_ptr_equal(maar_map_find(map, ""), value_of(0));
    assert_ptr_equal(maar_map_find(map, "ab"), value_of(6));
    maar_map_destroy(map);
}

static void map_keys_are_copied(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    char key[] = "key";
    (void)maar_map_set(map, key, value_of(1));
    key[0] = 'x';
    assert_ptr_equal(maar_map_find(map, "key"), value_of(1));
    assert_null(maar_map_find(map, "xey"));
    maar_map_destroy(map);
}

static void map_integer_and_byte_keys_never_meet(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    uint64_t number = 77;
    (void)maar_map_set_int(map, number, value_of(1));
    (void)maar_map_set_bytes(map, &number, sizeof number, value_of(2));
    assert_int_equal(maar_map_n(map), 2);
    assert_ptr_equal(maar_map_find_int(map, number), value_of(1));
    assert_ptr_equal(maar_map_find_bytes(map, &number, sizeof number), value_of(2));

    size_t at = 0, n;
    const void *key;
    assert_true(maar_map_next(map, &at, &key, &n, NULL));
    uint64_t seen;
    memcpy(&seen, key, sizeof seen);
    assert_int_equal(n, sizeof seen);
    assert_int_equal(seen, 77);
    maar_map_destroy(map);
}

static void map_key_of_the_map_may_be_set_again(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    for (size_t i = 0; i < 100; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%zu", i);
        (void)maar_map_set(map, key, value_of(i));
        size_t at = 0, n;
        const void *first;
        assert_true(maar_map_next(map, &at, &first, &n, NULL));
        assert_ptr_equal(maar_map_set_bytes(map, first, n, value_of(0)), value_of(0));
    }
    assert_int_equal(maar_map_n(map), 100);
    maar_map_destroy(map);
}

static void map_clear_forgets_and_can_be_filled_again(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            char key[16];
            (void)snprintf(key, sizeof key, "%d", (int)i);
            assert_null(maar_map_set(map, key, value_of(i)));
            assert_null(maar_map_set_int(map, i, value_of(i)));
        }
        assert_int_equal(maar_map_n(map), 2000);
        maar_map_clear(map);
        assert_int_equal(maar_map_n(map), 0);
        assert_null(maar_map_find(map, "5"));
        assert_null(maar_map_find_int(map, 5));
    }
    maar_map_destroy(map);
}

/* Among so many keys some share the 32 bits that the index compares: about 30 pairs of each kind.
 */
static void map_keys_whose_tags_meet_stay_apart(void **state)
{
    (void)state;
    enum { N = 500000 };
    struct maar_map *map = maar_map_create();
    for (uint64_t i = 0; i < N; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%06u", (unsigned)i);
        assert_null(maar_map_set_int(map, i, value_of(i)));
        assert_null(maar_map_set(map, key, value_of(i + 1)));
    }
    assert_int_equal(maar_map_n(map), 2 * N);
    for (uint64_t i = 0; i < N; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%06u", (unsigned)i);
        assert_ptr_equal(maar_map_find_int(map, i), value_of(i));
        assert_ptr_equal(maar_map_find(map, key), value_of(i + 1));
    }
    maar_map_destroy(map);
}

/* The model: keys 0..MODEL_KEYS, their values, and the order of insertion as a growing stamp. */
enum { MODEL_KEYS = 300 };

struct model {
    void *values[MODEL_KEYS];
    uint64_t stamps[MODEL_KEYS];
    uint64_t next_stamp;
    size_t n;
};

static void *model_set(struct model *model, size_t key, void *value)
{
    void *old = model->values[key];
    if (!old) {
        model->stamps[key] = ++model->next_stamp;
        model->n++;
    }
    model->values[key] = value;
    return old;
}

static void *model_remove(struct model *model, size_t key)
{
    void *old = model->values[key];
    model->values[key] = NULL;
    model->n -= old ? 1 : 0;
    return old;
}

/* Even keys are integers, odd ones text of several lengths. */
static const char *text_key(size_t key, char buffer[64])
{
    (void)snprintf(buffer, 64, "%.*s%zu", (int)(key % 40),
                   "namespace-with-a-rather-long-name-to-be-cut/", key);
    return buffer;
}

static void *map_op_set(struct maar_map *map, size_t key, void *value)
{
    char buffer[64];
    return key % 2 ? maar_map_set(map, text_key(key, buffer), value)
                   : maar_map_set_int(map, key, value);
}

static void *map_op_find(struct maar_map *map, size_t key)
{
    char buffer[64];
    return key % 2 ? maar_map_find(map, text_key(key, buffer)) : maar_map_find_int(map, key);
}

static void *map_op_remove(struct maar_map *map, size_t key)
{
    char buffer[64];
    return key % 2 ? maar_map_remove(map, text_key(key, buffer)) : maar_map_remove_int(map, key);
}

static size_t key_number(const void *key, size_t n, const struct model *model)
{
    uint64_t number;
    if (n == sizeof number) {
        memcpy(&number, key, sizeof number);
        if (number < MODEL_KEYS && number % 2 == 0 && model->values[number])
            return (size_t)number;
    }
    for (size_t i = 1; i < MODEL_KEYS; i += 2) {
        char buffer[64];
        if (strlen(text_key(i, buffer)) == n && memcmp(buffer, key, n) == 0)
            return i;
    }
    fail_msg("a key that was never set");
    return 0;
}

static void check_same(struct maar_map *map, const struct model *model)
{
    assert_int_equal(maar_map_n(map), model->n);
    for (size_t i = 0; i < MODEL_KEYS; i++)
        assert_ptr_equal(map_op_find(map, i), model->values[i]);
    size_t at = 0, n, n_seen = 0;
    uint64_t last = 0;
    const void *key;
    void *value;
    while (maar_map_next(map, &at, &key, &n, &value)) {
        size_t number = key_number(key, n, model);
        assert_ptr_equal(value, model->values[number]);
        assert_true(model->stamps[number] > last);
        last = model->stamps[number];
        n_seen++;
    }
    assert_int_equal(n_seen, model->n);
}

/* Removes while iterating: each entry is still seen once, and those removed are gone. */
static void sweep(struct maar_map *map, struct model *model, uint64_t *seed)
{
    size_t at = 0, n, n_seen = 0, n_before = model->n;
    const void *key;
    while (maar_map_next(map, &at, &key, &n, NULL)) {
        size_t number = key_number(key, n, model);
        n_seen++;
        if (next_random(seed) % 3 == 0)
            continue;
        assert_ptr_equal(map_op_remove(map, number), model->values[number]);
        (void)model_remove(model, number);
    }
    assert_int_equal(n_seen, n_before);
}

static void map_agrees_with_the_model(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= 20; run++) {
        uint64_t seed = run * 7919;
        struct model model = {0};
        maar_map_seed(run);
        struct maar_map *map = maar_map_create();
        maar_map_seed(run + 1); /* a map keeps the seed it was made with */
        size_t n_keys = run % 4 == 0 ? 5 : MODEL_KEYS;
        for (size_t op = 0; op < 4000; op++) {
            uint64_t r = next_random(&seed);
            size_t key = r / 16 % n_keys;
            /* Phases of growth and of decline. */
            if (r % 16 < (op / 500 % 2 ? 5 : 11))
                assert_ptr_equal(map_op_set(map, key, value_of(op)),
                                 model_set(&model, key, value_of(op)));
            else
                assert_ptr_equal(map_op_remove(map, key), model_remove(&model, key));
            if (op % 400 == 399)
                check_same(map, &model);
            if (op % 1500 == 1499)
                sweep(map, &model, &seed);
        }
        check_same(map, &model);
        maar_map_destroy(map);
    }
    maar_map_seed(0);
}

/* A queue that never empties must not grow with the number of entries that passed through it. */
static void map_as_a_queue_keeps_order(void **state)
{
    (void)state;
    struct maar_map *map = maar_map_create();
    for (uint64_t i = 0; i < 50; i++)
        (void)maar_map_set_int(map, i, value_of(i));
    for (uint64_t i = 50; i < 20000; i++) {
        (void)maar_map_set_int(map, i, value_of(i));
        size_t at = 0;
        void *value;
        assert_true(maar_map_next(map, &at, NULL, NULL, &value));
        assert_ptr_equal(value, value_of(i - 50));
        assert_true(at <= 256);
        assert_ptr_equal(maar_map_remove_int(map, i - 50), value);
    }
    assert_int_equal(maar_map_n(map), 50);
    maar_map_destroy(map);
}

static void map_order_does_not_depend_on_the_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        maar_map_seed(seed);
        struct maar_map *map = maar_map_create();
        for (uint64_t i = 0; i < 2000; i++)
            (void)maar_map_set_int(map, i * 4096, value_of(i));
        size_t at = 0, want = 0;
        void *value;
        while (maar_map_next(map, &at, NULL, NULL, &value))
            assert_ptr_equal(value, value_of(want++));
        assert_int_equal(want, 2000);
        maar_map_destroy(map);
    }
    maar_map_seed(0);
}

static void hash_depends_on_each_byte_the_length_and_the_seed(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        unsigned char data[80] = {0};
        uint64_t plain = maar_hash_bytes(data, n, 0);
        assert_int_equal(plain, maar_hash_bytes(data, n, 0));
        assert_int_not_equal(plain, maar_hash_bytes(data, n + 1, 0));
        assert_int_not_equal(plain, maar_hash_bytes(data, n, 1));
        for (size_t i = 0; i < n * 8; i++) {
            data[i / 8] ^= (unsigned char)(1 << i % 8);
            assert_int_not_equal(plain, maar_hash_bytes(data, n, 0));
            data[i / 8] ^= (unsigned char)(1 << i % 8);
        }
    }
}

static void hash_does_not_depend_on_alignment(void **state)
{
    (void)state;
    char buffer[128];
    for (size_t n = 0; n < 60; n++) {
        memset(buffer, 0, sizeof buffer);
        memcpy(buffer, "the quick brown fox jumps over the lazy dog and runs away quickly", n);
        uint64_t want = maar_hash_bytes(buffer, n, 9);
        for (size_t shift = 1; shift < 9; shift++) {
            memmove(buffer + shift, buffer + shift - 1, n);
            assert_int_equal(maar_hash_bytes(buffer + shift, n, 9), want);
        }
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Names as clusters have them: 200,000 of them share no hash, and the low bits spread evenly. */
static void hash_spreads_similar_names(void **state)
{
    (void)state;
    enum { N = 200000, BUCKETS = 1024 };
    uint64_t *hashes = malloc(N * sizeof *hashes);
    static unsigned counts[BUCKETS];
    assert_non_null(hashes);
    for (size_t i = 0; i < N; i++) {
        char name[48];
        int n =
            snprintf(name, sizeof name, "team-%zu/job-%zu-worker-%zu", i % 10, i / 100, i % 100);
        hashes[i] = maar_hash_bytes(name, (size_t)n, 0);
        counts[hashes[i] % BUCKETS]++;
    }
    qsort(hashes, N, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < N; i++)
        assert_int_not_equal(hashes[i - 1], hashes[i]);
    for (size_t i = 0; i < BUCKETS; i++)
        assert_in_range(counts[i], N / BUCKETS / 2, N / BUCKETS * 3 / 2);
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_new_is_empty),
        cmocka_unit_test(map_set_returns_the_former_value),
        cmocka_unit_test(map_keys_are_bytes_of_any_content_and_length),
        cmocka_unit_test(map_keys_are_copied),
        cmocka_unit_test(map_integer_and_byte_keys_never_meet),
        cmocka_unit_test(map_key_of_the_map_may_be_set_again),
        cmocka_unit_test(map_clear_forgets_and_can_be_filled_again),
        cmocka_unit_test(map_keys_whose_tags_meet_stay_apart),
        cmocka_unit_test(map_agrees_with_the_model),
        cmocka_unit_test(map_as_a_queue_keeps_order),
        cmocka_unit_test(map_order_does_not_depend_on_the_seed),
        cmocka_unit_test(hash_depends_on_each_byte_the_length_and_the_seed),
        cmocka_unit_test(hash_does_not_depend_on_alignment),
        cmocka_unit_test(hash_spreads_similar_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
