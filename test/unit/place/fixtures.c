/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Plugins that answer wrongly, in an engine: nonsense is refused, and work goes on. Those that declare less than they
 * read are in index.c. */

#include "base/log.h"
#include "engine/engine.h"
#include "unit/session/records.h"

static struct maar_registry *registry;

/* ---- a backend that keeps bindings as text ---- */

struct sink {
    struct maar_deltas deltas;
    struct maar_text binds;
    size_t n_binds;
};

static int start(void *self, struct maar_error *err)
{
    (void)self;
    (void)err;
    return 0;
}

static void next_deltas(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct sink *sink = self;
    (void)timeout_ns;
    for (size_t i = 0; i < sink->deltas.n; i++)
        maar_vec_push(deltas, sink->deltas.data[i]);
    maar_vec_clear(&sink->deltas);
}

static void submit(void *self, struct maar_write *write)
{
    struct sink *sink = self;
    if (write->kind == MAAR_WRITE_BIND) {
        maar_text_addf(&sink->binds, "%s:%s ", write->name, write->bind.node);
        sink->n_binds++;
    }
    maar_write_destroy(write);
}

static size_t n_in_flight(void *self)
{
    (void)self;
    return 0;
}

static int64_t now_ns(void *self)
{
    (void)self;
    return 1000 * MAAR_SECOND_NS;
}

static void stop(void *self)
{
    (void)self;
}

static const struct maar_backend_ops ops = {start, next_deltas, submit, n_in_flight, now_ns, stop};

static void deliver(struct sink *sink, struct maar_record *record)
{
    struct maar_delta delta = {.type = MAAR_DELTA_UPSERT, .kind = record->kind, .record = record};
    maar_vec_push(&sink->deltas, delta);
}

/* Four equal nodes and six pods of a gang, decided in one session. Returns "pod:node …". */
static char *decide(const char *plugin, bool reference, size_t *ret_n_binds)
{
    maar_autofree char *text = maar_asprintf("actions: \"allocate\"\n"
                                             "tiers:\n"
                                             "- plugins:\n"
                                             "  - name: gang\n"
                                             "  - name: %s\n",
                                             plugin);
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_conf *conf;
    assert_int_equal(maar_conf_parse(text, strlen(text), "test", NULL, &conf, &err), 0);
    struct maar_engine_options options = {
        .registry = registry, .conf = conf, .check = true, .reference = reference};
    struct sink sink = {0};
    struct maar_engine *engine =
        maar_engine_create(&options, (struct maar_backend){&ops, &sink}, &err);
    assert_non_null(engine);
    deliver(&sink, make_queue("q", ""));
    for (int i = 0; i < 4; i++) {
        maar_autofree char *name = maar_asprintf("n%d", i);
        deliver(&sink, make_node(name, 4000, 64 * GI));
    }
    deliver(&sink, make_group("g", "q", 6));
    for (int i = 0; i < 6; i++) {
        maar_autofree char *name = maar_asprintf("p%d", i);
        deliver(&sink, make_pod(name, "g", 1000, GI));
    }
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        struct maar_delta synced = {.type = MAAR_DELTA_SYNCED, .kind = (enum maar_kind)kind};
        maar_vec_push(&sink.deltas, synced);
    }
    assert_true(maar_engine_turn(engine, 0, false).session);
    struct maar_text report = MAAR_TEXT_INIT;
    if (maar_engine_check(engine, &report) > 0)
        fail_msg("%s", maar_text_get(&report));
    maar_text_fini(&report);
    maar_engine_destroy(engine);
    maar_vec_fini(&sink.deltas);
    *ret_n_binds = sink.n_binds;
    return maar_text_steal(&sink.binds);
}

static void nonsense_is_refused_and_work_goes_on(void **state)
{
    (void)state;
    size_t n_fast, n_plain;
    maar_autofree char *fast = decide("nonsense", false, &n_fast);
    maar_autofree char *plain = decide("nonsense", true, &n_plain);
    assert_int_equal(n_fast, 6);
    assert_string_equal(fast, plain);
    /* Its filter refuses the first node with a verdict that is none; a score that is no number counts as none. */
    assert_null(strstr(fast, ":n0"));
}

static void plugin_that_declares_what_it_reads_is_not(void **state)
{
    (void)state;
    size_t n_fast, n_plain;
    maar_autofree char *fast = decide("binpack", false, &n_fast);
    maar_autofree char *plain = decide("binpack", true, &n_plain);
    assert_string_equal(fast, plain);
}

static void plugin_that_declares_too_little_is_caught(void **state)
{
    (void)state;
    size_t n_fast, n_plain;
    maar_autofree char *fast = decide("too-little", false, &n_fast);
    maar_autofree char *plain = decide("too-little", true, &n_plain);
    assert_int_equal(n_fast, n_plain);
    assert_string_not_equal(fast, plain);
}

static int load(void **state)
{
    (void)state;
    maar_log_set_verbosity(-1);
    struct maar_error err = MAAR_ERROR_INIT;
    registry = maar_registry_create();
    static const char *const paths[] = {MAAR_TEST_BIN_DIR "/../test/plugins/nonsense.so",
                                        MAAR_TEST_BIN_DIR "/../test/plugins/too_little.so"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (maar_registry_load_plugin_file(registry, paths[i], &err) < 0)
            fail_msg("%s", err.text);
    if (maar_registry_load_plugins(registry, MAAR_TEST_BIN_DIR "/plugins", &err) < 0 ||
        maar_registry_load_actions(registry, MAAR_TEST_BIN_DIR "/actions", &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    maar_registry_destroy(registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused_and_work_goes_on),
        cmocka_unit_test(plugin_that_declares_what_it_reads_is_not),
        cmocka_unit_test(plugin_that_declares_too_little_is_caught),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
