/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

/* 2026-01-01T00:00:00.25Z */
#define NOW_NS (INT64_C(1767225600) * MAAR_SECOND_NS + 250 * MAAR_MILLISECOND_NS)

static void expect_body(const char *former, const char *holder, int64_t duration_ns,
                        const char *want)
{
    struct maar_lease lease = {0};
    const struct maar_lease_terms terms = {"ns", "volcano", holder, duration_ns, NOW_NS};
    char *body;
    json_t *found;
    json_t *wanted = json_loads(want, 0, NULL);

    if (former)
        assert_int_equal(maar_lease_read(former, strlen(former), &lease, NULL), 0);
    body = maar_lease_body(former ? &lease : NULL, &terms);
    found = json_loads(body, 0, NULL);
    if (!json_equal(found, wanted))
        fail_msg("expected %s, not %s", want, body);
    json_decref(found);
    json_decref(wanted);
    free(body);
    maar_lease_fini(&lease);
}

static void a_new_lease_has_client_gos_form(void **state)
{
    (void)state;
    expect_body(NULL, "me", 15 * MAAR_SECOND_NS,
                "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                "\"metadata\":{\"name\":\"volcano\",\"namespace\":\"ns\"},"
                "\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
                "\"acquireTime\":\"2026-01-01T00:00:00.250000Z\","
                "\"renewTime\":\"2026-01-01T00:00:00.250000Z\",\"leaseTransitions\":0}}");
}

#define FORMER(holder)                                                                             \
    "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"7\",\"labels\":{\"a\":\"b\"}},"       \
    "\"spec\":{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":9,"                      \
    "\"acquireTime\":\"2025-12-31T00:00:00.000000Z\","                                             \
    "\"renewTime\":\"2025-12-31T01:00:00.000000Z\",\"leaseTransitions\":4,\"strategy\":\"x\"}}"
#define AFTER(holder, seconds, acquired, transitions)                                              \
    "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"7\",\"labels\":{\"a\":\"b\"}},"       \
    "\"spec\":{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":" seconds                \
    ",\"acquireTime\":\"" acquired "\","                                                           \
    "\"renewTime\":\"2026-01-01T00:00:00.250000Z\",\"leaseTransitions\":" transitions              \
    ",\"strategy\":\"x\"}}"

static void renewing_keeps_what_others_wrote_and_the_time_of_acquisition(void **state)
{
    (void)state;
    expect_body(FORMER("me"), "me", 15 * MAAR_SECOND_NS,
                AFTER("me", "15", "2025-12-31T00:00:00.000000Z", "4"));
}

static void taking_over_is_a_transition(void **state)
{
    (void)state;
    expect_body(FORMER("other"), "me", 15 * MAAR_SECOND_NS,
                AFTER("me", "15", "2026-01-01T00:00:00.250000Z", "5"));
    expect_body(FORMER(""), "me", 15 * MAAR_SECOND_NS,
                AFTER("me", "15", "2026-01-01T00:00:00.250000Z", "5"));
}

static void giving_up_is_none(void **state)
{
    (void)state;
    expect_body(FORMER("me"), "", MAAR_SECOND_NS,
                AFTER("", "1", "2026-01-01T00:00:00.250000Z", "4"));
}

static void an_empty_lease_is_held_by_nobody(void **state)
{
    static const char *const texts[] = {
        "{\"kind\":\"Lease\"}",
        "{\"kind\":\"Lease\",\"spec\":null}",
        "{\"kind\":\"Lease\",\"spec\":{\"holderIdentity\":null,\"leaseDurationSeconds\":null}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct maar_lease lease;

        assert_int_equal(maar_lease_read(texts[i], strlen(texts[i]), &lease, NULL), 0);
        assert_string_equal(lease.holder, "");
        assert_int_equal(lease.duration_ns, 0);
        maar_lease_fini(&lease);
        expect_body(texts[i], "me", 15 * MAAR_SECOND_NS,
                    "{\"kind\":\"Lease\",\"spec\":{\"holderIdentity\":\"me\","
                    "\"leaseDurationSeconds\":15,\"leaseTransitions\":1,"
                    "\"acquireTime\":\"2026-01-01T00:00:00.250000Z\","
                    "\"renewTime\":\"2026-01-01T00:00:00.250000Z\"}}");
    }
}

static void what_is_no_lease_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", "the answer is not a Lease"},
        {"[]", "the answer is not a Lease"},
        {"{\"kind\":\"Pod\"}", "the answer is not a Lease"},
        {"{\"kind\":\"Lease\",\"spec\":[]}", "spec: expected an object"},
        {"{\"kind\":\"Lease\",\"spec\":{\"holderIdentity\":1}}",
         "spec.holderIdentity: expected a text"},
        {"{\"kind\":\"Lease\",\"spec\":{\"leaseDurationSeconds\":\"15\"}}",
         "spec.leaseDurationSeconds: expected a whole number of 0 or more"},
        {"{\"kind\":\"Lease\",\"spec\":{\"leaseDurationSeconds\":3000000000}}",
         "spec.leaseDurationSeconds: expected a whole number of 0 or more"},
        {"{\"kind\":\"Lease\",\"spec\":{\"leaseTransitions\":-1}}",
         "spec.leaseTransitions: expected a whole number of 0 or more"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_lease lease;

        assert_true(maar_lease_read(rows[i].text, strlen(rows[i].text), &lease, &err) < 0);
        assert_string_equal(maar_error_text(&err), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_lease_has_client_gos_form),
        cmocka_unit_test(renewing_keeps_what_others_wrote_and_the_time_of_acquisition),
        cmocka_unit_test(taking_over_is_a_transition),
        cmocka_unit_test(giving_up_is_none),
        cmocka_unit_test(an_empty_lease_is_held_by_nobody),
        cmocka_unit_test(what_is_no_lease_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
