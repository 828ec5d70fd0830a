/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Interned strings against a naive model, and the life of an id. */

#include "base/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void strings_equal_text_has_equal_id(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    char again[] = "alpha";
    uint32_t a = maar_strings_ref(strings, "alpha");
    uint32_t b = maar_strings_ref(strings, "beta");
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(maar_strings_ref(strings, again), a);
    assert_int_equal(maar_strings_ref_n(strings, "alphabet", 5), a);
    assert_int_equal(maar_strings_find(strings, "beta"), b);
    assert_int_equal(maar_strings_find(strings, "gamma"), 0);
    assert_string_equal(maar_strings_text(strings, a), "alpha");
    assert_int_equal(maar_strings_n(strings), 2);
    maar_strings_destroy(strings);
    maar_strings_destroy(NULL);
}

static void strings_zero_is_no_string(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    assert_string_equal(maar_strings_text(strings, 0), "");
    maar_strings_unref(strings, 0);
    maar_strings_hold(strings, 0);
    assert_int_equal(maar_strings_find(strings, ""), 0);
    uint32_t empty = maar_strings_ref(strings, "");
    assert_int_not_equal(empty, 0);
    assert_int_equal(maar_strings_find(strings, ""), empty);
    assert_string_equal(maar_strings_text(strings, empty), "");
    maar_strings_destroy(strings);
}

static void strings_text_goes_with_the_last_reference(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    uint32_t id = maar_strings_ref(strings, "x");
    maar_strings_hold(strings, id);
    (void)maar_strings_ref(strings, "x");
    for (int left = 2; left >= 0; left--) {
        assert_int_equal(maar_strings_find(strings, "x"), id);
        maar_strings_unref(strings, id);
    }
    assert_int_equal(maar_strings_find(strings, "x"), 0);
    assert_int_equal(maar_strings_n(strings), 0);
    maar_strings_destroy(strings);
}

static void strings_find_takes_no_reference(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    uint32_t id = maar_strings_ref(strings, "x");
    assert_int_equal(maar_strings_find(strings, "x"), id);
    maar_strings_unref(strings, id);
    assert_int_equal(maar_strings_find(strings, "x"), 0);
    maar_strings_destroy(strings);
}

static void strings_text_stays_while_others_come_and_go(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    uint32_t id = maar_strings_ref(strings, "stays");
    const char *text = maar_strings_text(strings, id);
    for (int i = 0; i < 10000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%d", i);
        uint32_t other = maar_strings_ref(strings, name);
        if (i % 2)
            maar_strings_unref(strings, other);
    }
    assert_ptr_equal(maar_strings_text(strings, id), text);
    assert_string_equal(text, "stays");
    maar_strings_destroy(strings);
}

static void strings_freed_ids_are_used_again(void **state)
{
    (void)state;
    struct maar_strings *strings = maar_strings_create();
    for (int i = 0; i < 5000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%d", i);
        uint32_t id = maar_strings_ref(strings, name);
        assert_int_equal(id, 1);
        maar_strings_unref(strings, id);
    }
    maar_strings_destroy(strings);
}

enum { NAMES = 400 };

struct model {
    uint32_t ids[NAMES]; /* 0 when absent */
    uint32_t n_refs[NAMES];
    size_t n;
};

static const char *name_of(size_t i, char buffer[64])
{
    (void)snprintf(buffer, 64, "%.*s%zu", (int)(i % 30), "topology.kubernetes.io/zone-and-more", i);
    return buffer;
}

static void model_ref(struct model *model, struct maar_strings *strings, size_t i)
{
    char buffer[64];
    uint32_t id = maar_strings_ref(strings, name_of(i, buffer));
    assert_int_not_equal(id, 0);
    if (model->n_refs[i]) {
        assert_int_equal(id, model->ids[i]);
    } else {
        for (size_t k = 0; k < NAMES; k++)
            assert_int_not_equal(model->ids[k], id); /* never one that is in use */
        model->n++;
    }
    model->ids[i] = id;
    model->n_refs[i]++;
}

static void model_unref(struct model *model, struct maar_strings *strings, size_t i)
{
    if (!model->n_refs[i])
        return;
    maar_strings_unref(strings, model->ids[i]);
    if (--model->n_refs[i] == 0) {
        model->ids[i] = 0;
        model->n--;
    }
}

static void strings_agree_with_the_model(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= 10; run++) {
        uint64_t seed = run * 104729;
        struct model model = {0};
        struct maar_strings *strings = maar_strings_create();
        for (size_t op = 0; op < 6000; op++) {
            uint64_t r = next_random(&seed);
            size_t i = r / 16 % NAMES;
            if (r % 16 < (op / 1000 % 2 ? 6 : 10))
                model_ref(&model, strings, i);
            else
                model_unref(&model, strings, i);
            assert_int_equal(maar_strings_n(strings), model.n);
            if (op % 500 != 499)
                continue;
            for (size_t k = 0; k < NAMES; k++) {
                char buffer[64];
                assert_int_equal(maar_strings_find(strings, name_of(k, buffer)), model.ids[k]);
                if (model.ids[k])
                    assert_string_equal(maar_strings_text(strings, model.ids[k]), buffer);
            }
        }
        maar_strings_destroy(strings);
    }
}

static void strings_one_unref_too_many_ends_the_process(void **state)
{
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        struct maar_strings *strings = maar_strings_create();
        uint32_t id = maar_strings_ref(strings, "x");
        maar_strings_unref(strings, id);
        maar_strings_unref(strings, id);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_equal_text_has_equal_id),
        cmocka_unit_test(strings_zero_is_no_string),
        cmocka_unit_test(strings_text_goes_with_the_last_reference),
        cmocka_unit_test(strings_find_takes_no_reference),
        cmocka_unit_test(strings_text_stays_while_others_come_and_go),
        cmocka_unit_test(strings_freed_ids_are_used_again),
        cmocka_unit_test(strings_agree_with_the_model),
        cmocka_unit_test(strings_one_unref_too_many_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
