/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugin conformance: critical pods stay. */

#include "fake_view.h"

/* E-conf-1 and the names that are merely alike. */
static void conformance_spares_critical_pods(void **state)
{
    (void)state;
    static const struct {
        const char *ns;
        const char *priority_class;
    } rows[] = {
        {"default", ""},
        {"kube-system", ""},
        {"apps", "system-node-critical"},
        {"apps", "high"},
        {"apps", "system-cluster-critical"},
        {"kube-system-2", "system-node-critical-2"},
    };
    enum {
        N = sizeof rows / sizeof *rows,
    };
    struct fake *f = fake_new("conformance", NULL);
    struct maar_job *job = fake_job(f, fake_queue(f, "q", 1), "j", 1);
    fake_node(f, "n1", 64000, 256 * GI, 110, 0);
    for (size_t i = 0; i < N; i++) {
        struct maar_class *cls = fake_class(f, 1000, GI, 0, 0);
        cls->ns = fake_intern(f, rows[i].ns);
        fake_spec(cls)->priority_class = fake_intern(f, rows[i].priority_class);
        fake_task(f, i % 2 ? job : NULL, cls, MAAR_TASK_RUNNING, 0);
    }
    char text[FAKE_MAX + 1];
    const struct maar_hooks *hooks = &f->plugin->hooks;
    assert_string_equal(fake_victims(f, hooks->preemptable, f->tasks[0], f->tasks, N, text),
                        "100101");
    assert_string_equal(fake_victims(f, hooks->reclaimable, f->tasks[0], f->tasks, N, text),
                        "100101");
    struct maar_evict_context context = {.kind = "gangpreempt", .job = job};
    uint64_t bits = 0;
    assert_int_equal(hooks->unified_evictable(f->self, &f->view, &context,
                                              (const struct maar_task *const *)f->tasks, N, &bits),
                     MAAR_PERMIT);
    assert_string_equal(fake_bits(&bits, N, text), "100101");
    fake_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conformance_spares_critical_pods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
