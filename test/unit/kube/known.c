/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"

static enum maar_known_change note(struct maar_known *known, const char *ns, const char *name,
                                   const char *uid, const char *version)
{
    struct maar_record *record = maar_record_create(MAAR_KIND_POD);
    maar_autofree char *old_uid = NULL;
    enum maar_known_change change;

    record->ns = ns;
    record->name = name;
    record->uid = uid;
    record->resource_version = version;
    change = maar_known_note(known, record, &old_uid);
    assert_int_equal(change == MAAR_KNOWN_REPLACED, old_uid != NULL);
    maar_record_destroy(record);
    return change;
}

static void gone(void *context, const char *ns, const char *name, const char *uid)
{
    maar_text_addf(context, "%s/%s(%s) ", ns, name, uid);
}

static void objects_are_told_apart_by_name_uid_and_version(void **state)
{
    struct maar_known *known = maar_known_create(false);

    (void)state;
    assert_int_equal(note(known, "a", "b", "1", "5"), MAAR_KNOWN_NEW);
    assert_int_equal(note(known, "", "a/b", "2", "5"), MAAR_KNOWN_NEW);
    assert_int_equal(note(known, "a", "b", "1", "5"), MAAR_KNOWN_SAME);
    assert_int_equal(note(known, "a", "b", "1", "6"), MAAR_KNOWN_CHANGED);
    assert_int_equal(note(known, "a", "b", "3", "6"), MAAR_KNOWN_REPLACED);
    assert_string_equal(maar_known_uid(known, "a", "b"), "3");
    assert_null(maar_known_uid(known, "a", "c"));
    assert_true(maar_known_remove(known, "a", "b"));
    assert_false(maar_known_remove(known, "a", "b"));
    assert_int_equal(maar_known_n(known), 1);
    maar_known_destroy(known);
}

static void a_sweep_finds_what_a_list_lacked(void **state)
{
    struct maar_known *known = maar_known_create(false);
    struct maar_text out = MAAR_TEXT_INIT;

    (void)state;
    maar_known_begin_list(known);
    note(known, "n", "a", "1", "5");
    note(known, "n", "b", "2", "5");
    note(known, "", "c", "3", "5");
    maar_known_sweep(known, gone, &out);
    assert_int_equal(out.n, 0);
    maar_known_begin_list(known);
    note(known, "n", "b", "2", "5");
    maar_known_sweep(known, gone, &out);
    assert_string_equal(maar_text_get(&out), "n/a(1) /c(3) ");
    assert_int_equal(maar_known_n(known), 1);
    maar_text_fini(&out);
    maar_known_destroy(known);
}

static void an_older_text_does_not_replace_a_newer_one(void **state)
{
    struct maar_known *known = maar_known_create(true);
    json_t *newer = json_pack("{s:{s:s,s:[i]},s:i}", "metadata", "resourceVersion", "10",
                              "managedFields", 1, "x", 2);
    json_t *older = json_pack("{s:{s:s},s:i}", "metadata", "resourceVersion", "9", "x", 1);
    json_t *got;
    uint64_t version = 0;

    (void)state;
    maar_known_keep_text(known, "n", "a", newer); /* not known: dropped */
    assert_null(maar_known_object(known, "n", "a", &version));
    note(known, "n", "a", "1", "9");
    maar_known_keep_text(known, "n", "a", newer);
    maar_known_keep_text(known, "n", "a", older);
    maar_known_keep_text(known, "n", "a", NULL);
    got = maar_known_object(known, "n", "a", &version);
    assert_int_equal(version, 10);
    assert_int_equal(json_integer_value(json_object_get(got, "x")), 2);
    assert_int_equal(json_object_size(json_object_get(got, "metadata")), 1);
    /* The caller's object keeps its managedFields. */
    assert_int_equal(json_object_size(json_object_get(newer, "metadata")), 2);
    json_decref(got);
    json_decref(newer);
    json_decref(older);
    maar_known_destroy(known);
}

static void versions_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(maar_version_number("18446744073709551615"), UINT64_MAX);
    assert_int_equal(maar_version_number("12"), 12);
    assert_int_equal(maar_version_number(""), 0);
    assert_int_equal(maar_version_number("12x"), 0);
    assert_int_equal(maar_version_number("-1"), 0);
    assert_int_equal(maar_version_number("18446744073709551616"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_told_apart_by_name_uid_and_version),
        cmocka_unit_test(a_sweep_finds_what_a_list_lacked),
        cmocka_unit_test(an_older_text_does_not_replace_a_newer_one),
        cmocka_unit_test(versions_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
