/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Labels of pods: those that a loaded plugin declares to read are seen and tell classes apart, others do neither. */

#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static const char *const keys[] = {"app", NULL};
static const struct maar_plugin reader = {MAAR_PLUGIN_HEADER, .name = "reader",
                                          .reads_pod_labels = keys};

static void labels_that_a_plugin_reads_split_classes(void **state)
{
    (void)state;
    struct maar_world *world = maar_world_create(NULL);
    static const char *const apps[] = {"a", "a", "b"}, *const indexes[] = {"0", "1", "2"};
    for (size_t i = 0; i < COUNT(apps); i++) {
        maar_autofree char *name = maar_asprintf("p%zu", i);
        struct maar_record *record = make_pod(name, "g", 1000, GI);
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "app", apps[i]);
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "index", indexes[i]);
        take(world, record);
    }
    assert_ptr_equal(pod(world, "p0")->cls, pod(world, "p2")->cls);

    struct maar_policy *policy = fake_policy(false);
    fake_list(policy, 0, &reader, EVERY_HOOK, NULL);
    struct maar_session session = {0};
    maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
    const struct maar_class *a = pod(world, "p0")->cls, *b = pod(world, "p2")->cls;
    assert_ptr_equal(a, pod(world, "p1")->cls);
    assert_ptr_not_equal(a, b);
    assert_int_equal(b->n_labels, 1);
    assert_string_equal(b->labels[0].key, "app");
    assert_string_equal(b->labels[0].value, "b");
    maar_session_close(&session);
    maar_session_fini(&session);
    fake_policy_free(policy);
    maar_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_that_a_plugin_reads_split_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
