/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/reflector.h"

#include "unit/kube/script.h"

/* A reflector of PriorityClasses: the smallest objects. What it emits is written down, one word each:
 * "+name@version", "-name(uid)", "synced"; a version that was delivered is "=version". */
struct fixture {
    struct script script;
    struct maar_reflector *reflector;
    struct maar_text log;
    bool full;
};

static void emit(void *context, const struct maar_delta *delta)
{
    struct fixture *fixture = context;
    struct maar_delta mine = *delta;

    switch (delta->type) {
    case MAAR_DELTA_UPSERT:
        maar_text_addf(&fixture->log, "+%s@%s ", delta->record->name,
                       delta->record->resource_version);
        break;
    case MAAR_DELTA_DELETE:
        maar_text_addf(&fixture->log, "-%s(%s) ", delta->record->name, delta->record->uid);
        break;
    case MAAR_DELTA_SYNCED:
        maar_text_add(&fixture->log, "synced ");
        break;
    case MAAR_DELTA_DONE:
        fail_msg("a write");
    }
    assert_int_equal(delta->kind, MAAR_KIND_PRIORITY_CLASS);
    maar_delta_fini(&mine);
}

static void delivered(void *context, enum maar_kind kind, const char *version)
{
    struct fixture *fixture = context;

    assert_int_equal(kind, MAAR_KIND_PRIORITY_CLASS);
    maar_text_addf(&fixture->log, "=%s ", version);
}

static bool is_full(void *context)
{
    return ((struct fixture *)context)->full;
}

static int set_up(void **state)
{
    struct fixture *fixture = maar_calloc(1, sizeof *fixture);
    struct maar_reflector_options options = {
        .kind = MAAR_KIND_PRIORITY_CLASS,
        .transport = script_transport(&fixture->script),
        .emit = emit,
        .delivered = delivered,
        .is_full = is_full,
        .context = fixture,
        .page_size = 2,
        .seed = 7,
        .keeps_text = true,
    };

    fixture->reflector = maar_reflector_create(&options);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    maar_reflector_destroy(fixture->reflector);
    script_fini(&fixture->script);
    maar_text_fini(&fixture->log);
    free(fixture);
    return 0;
}

/* "name@version" → the object; its uid is "u-name", or what follows a ':'. */
static void add_object(struct maar_text *out, const char *word)
{
    char name[32] = "";
    char version[32] = "";
    char uid[32] = "";

    sscanf(word, "%31[^@]@%31[^:]:%31s", name, version, uid);
    maar_text_addf(
        out,
        "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":"
        "{\"name\":\"%s\",\"uid\":\"%s%s\",\"resourceVersion\":\"%s\",\"managedFields\":[1]},"
        "\"value\":5}",
        name, *uid ? "" : "u-", *uid ? uid : name, version);
}

/* A page with the objects of `words`. */
static char *page(const char *version, const char *token, const char *words)
{
    struct maar_text out = MAAR_TEXT_INIT;
    char copy[256];
    char *rest = copy;
    const char *word;
    bool first = true;

    maar_text_addf(&out,
                   "{\"kind\":\"PriorityClassList\",\"metadata\":{\"resourceVersion\":\"%s\","
                   "\"continue\":\"%s\"},\"items\":[",
                   version, token);
    snprintf(copy, sizeof copy, "%s", words);
    while ((word = strsep(&rest, " ")) != NULL) {
        if (!*word)
            continue;
        maar_text_add(&out, first ? "" : ",");
        add_object(&out, word);
        first = false;
    }
    maar_text_add(&out, "]}");
    return maar_text_steal(&out);
}

static void answer_page(struct fixture *fixture, const char *version, const char *token,
                        const char *words)
{
    maar_autofree char *body = page(version, token, words);

    script_answer(
        &fixture->script,
        script_expect(&fixture->script, "GET /apis/scheduling.k8s.io/v1/priorityclasses?limit="),
        200, body);
}

static struct maar_kube_call *expect_watch(struct fixture *fixture, const char *version)
{
    char begin[160];

    maar_reflector_tick(fixture->reflector);
    snprintf(begin, sizeof begin,
             "GET "
             "/apis/scheduling.k8s.io/v1/"
             "priorityclasses?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=",
             version);
    return script_expect(&fixture->script, begin);
}

static void add_event(struct maar_text *out, const char *type, const char *word)
{
    maar_text_addf(out, "{\"type\":\"%s\",\"object\":", type);
    add_object(out, word);
    maar_text_add(out, "}\n");
}

static void send_event(struct fixture *fixture, struct maar_kube_call *call, const char *type,
                       const char *word)
{
    struct maar_text out = MAAR_TEXT_INIT;

    add_event(&out, type, word);
    script_data(&fixture->script, call, out.data, out.n);
    maar_text_fini(&out);
}

static void expect_log(struct fixture *fixture, const char *want)
{
    assert_string_equal(maar_text_get(&fixture->log), want);
    maar_text_clear(&fixture->log);
}

/* Listed and watching from version 10 with objects a and b. */
static struct maar_kube_call *begin(struct fixture *fixture)
{
    struct maar_kube_call *watch;

    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "10", "", "a@1 b@2");
    watch = expect_watch(fixture, "10");
    expect_log(fixture, "+a@1 +b@2 synced =10 ");
    return watch;
}

/* Time goes on until the reflector starts something. */
static void wait_for_start(struct fixture *fixture)
{
    size_t n = fixture->script.n_started;

    for (int i = 0; i < 100 && fixture->script.n_started == n; i++) {
        int64_t next_ns = maar_reflector_tick(fixture->reflector);

        if (next_ns > fixture->script.now_ns && next_ns != INT64_MAX)
            fixture->script.now_ns = next_ns;
    }
    assert_int_equal(fixture->script.n_started, n + 1);
}

static void a_list_comes_in_pages(void **state)
{
    struct fixture *fixture = *state;

    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "10", "next/+=", "a@1 b@2");
    expect_log(fixture, "+a@1 +b@2 ");
    assert_false(maar_reflector_is_synced(fixture->reflector));
    maar_reflector_tick(fixture->reflector);
    script_expect(&fixture->script,
                  "GET /apis/scheduling.k8s.io/v1/priorityclasses?limit=2&continue=next%2F%2B%3D");
    answer_page(fixture, "10", "", "c@3");
    expect_log(fixture, "+c@3 synced =10 ");
    assert_true(maar_reflector_is_synced(fixture->reflector));
    expect_watch(fixture, "10");
}

static void no_page_is_asked_for_while_the_inbox_is_full(void **state)
{
    struct fixture *fixture = *state;

    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "10", "more", "a@1");
    fixture->full = true;
    maar_reflector_tick(fixture->reflector);
    assert_int_equal(fixture->script.running.n, 0);
    fixture->full = false;
    maar_reflector_tick(fixture->reflector);
    assert_int_equal(fixture->script.running.n, 1);
}

static void an_expired_page_token_begins_the_list_anew(void **state)
{
    struct fixture *fixture = *state;

    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "10", "old", "a@1 b@2");
    maar_reflector_tick(fixture->reflector);
    script_answer(&fixture->script, script_expect(&fixture->script, "GET "), 410, "{}");
    maar_reflector_tick(fixture->reflector);
    /* In larger pages; b is gone by now, a is known already. */
    script_expect(&fixture->script, "GET /apis/scheduling.k8s.io/v1/priorityclasses?limit=20");
    assert_null(strstr(fixture->script.running.data[0]->path, "continue"));
    answer_page(fixture, "12", "", "a@1 c@11");
    expect_log(fixture, "+a@1 +b@2 +c@11 -b(u-b) synced =12 ");
    expect_watch(fixture, "12");
}

static void a_lost_page_is_asked_for_again(void **state)
{
    struct fixture *fixture = *state;

    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "10", "two", "a@1");
    maar_reflector_tick(fixture->reflector);
    script_lose(&fixture->script, script_expect(&fixture->script, "GET "), 0, false);
    maar_reflector_tick(fixture->reflector);
    assert_int_equal(fixture->script.running.n, 0);
    wait_for_start(fixture);
    script_expect(&fixture->script,
                  "GET /apis/scheduling.k8s.io/v1/priorityclasses?limit=2&continue=two");
    answer_page(fixture, "10", "", "b@2");
    expect_log(fixture, "+a@1 +b@2 synced =10 ");
    expect_watch(fixture, "10");
}

static void a_kind_that_does_not_exist_yet_is_waited_for(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 10; i++) {
        wait_for_start(fixture);
        script_answer(&fixture->script, script_expect(&fixture->script, "GET "), 404,
                      "404 page not found");
        /* Never twice without a pause, never longer than half a minute. */
        assert_in_range(maar_reflector_tick(fixture->reflector), fixture->script.now_ns + 1,
                        fixture->script.now_ns + 30 * MAAR_SECOND_NS);
    }
    expect_log(fixture, "");
    wait_for_start(fixture);
    answer_page(fixture, "5", "", "");
    expect_log(fixture, "synced =5 ");
    expect_watch(fixture, "5");
}

static void retry_after_is_obeyed(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *call;

    maar_reflector_tick(fixture->reflector);
    call = script_expect(&fixture->script, "GET ");
    call->retry_after_ns = 17 * MAAR_SECOND_NS;
    script_answer(&fixture->script, call, 429, "{}");
    assert_int_equal(maar_reflector_tick(fixture->reflector),
                     fixture->script.now_ns + 17 * MAAR_SECOND_NS);
}

static void nonsense_instead_of_a_list_is_no_list(void **state)
{
    static const char *const bodies[] = {
        "",   "nonsense",          "[]",
        "{}", "{\"metadata\":{}}", "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":7}"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        wait_for_start(fixture);
        script_answer(&fixture->script, script_expect(&fixture->script, "GET "), 200, bodies[i]);
    }
    expect_log(fixture, "");
    assert_false(maar_reflector_is_synced(fixture->reflector));
}

static void a_watch_passes_on_what_happens(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    send_event(fixture, watch, "ADDED", "c@11");
    send_event(fixture, watch, "MODIFIED", "a@12");
    send_event(fixture, watch, "DELETED", "b@13");
    expect_log(fixture, "+c@11 =11 +a@12 =12 -b(u-b) =13 ");
    /* Known already in this version; never known. */
    send_event(fixture, watch, "MODIFIED", "a@12");
    send_event(fixture, watch, "DELETED", "z@14");
    expect_log(fixture, "=12 =14 ");
}

static void events_may_be_cut_anywhere(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);
    struct maar_text out = MAAR_TEXT_INIT;

    add_event(&out, "ADDED", "c@11");
    add_event(&out, "DELETED", "a@12");
    for (size_t i = 0; i < out.n; i++)
        script_data(&fixture->script, watch, out.data + i, 1);
    expect_log(fixture, "+c@11 =11 -a(u-a) =12 ");
    maar_text_fini(&out);
}

static void a_name_with_another_uid_is_another_object(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    send_event(fixture, watch, "ADDED", "a@20:second");
    expect_log(fixture, "-a(u-a) +a@20 =20 ");
    assert_string_equal(maar_known_uid(maar_reflector_known(fixture->reflector), "", "a"),
                        "second");
}

static void a_bookmark_moves_the_version(void **state)
{
    static const char bookmark[] =
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"PriorityClass\",\"apiVersion\":"
        "\"scheduling.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"99\"}}}\n";
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_data(&fixture->script, watch, bookmark, sizeof bookmark - 1);
    expect_log(fixture, "=99 ");
    script_answer(&fixture->script, watch, 200, "");
    expect_watch(fixture, "99");
    assert_int_equal(maar_reflector_counters(fixture->reflector).n_events, 0);
}

static void a_watch_that_ends_goes_on_where_it_was(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    send_event(fixture, watch, "ADDED", "c@11");
    script_lose(&fixture->script, watch, 200, true);
    expect_watch(fixture, "11");
    assert_int_equal(maar_reflector_counters(fixture->reflector).n_lists, 1);
}

static void watches_that_end_at_once_are_paused_and_then_listed(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    for (int i = 0; i < 5; i++) {
        script_answer(&fixture->script, watch, 200, "");
        assert_true(maar_reflector_tick(fixture->reflector) > fixture->script.now_ns);
        wait_for_start(fixture);
        watch = fixture->script.running.data[0];
    }
    assert_non_null(strstr(watch->path, "?limit="));
    /* The list brings nothing new. */
    answer_page(fixture, "10", "", "a@1 b@2");
    maar_text_clear(&fixture->log);
    expect_watch(fixture, "10");
}

static void gone_during_a_watch_lists_again_and_finds_the_difference(void **state)
{
    static const char gone[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
        "\"status\":\"Failure\",\"message\":\"too old resource "
        "version\",\"reason\":\"Expired\",\"code\":410}}\n";
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_data(&fixture->script, watch, gone, sizeof gone - 1);
    maar_reflector_tick(fixture->reflector);
    /* a is unchanged, b is gone, c is new, synced is said only once. */
    answer_page(fixture, "50", "", "a@1 c@40");
    expect_log(fixture, "+c@40 -b(u-b) =50 ");
    expect_watch(fixture, "50");
}

static void gone_as_an_answer_lists_again_too(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_answer(&fixture->script, watch, 410, "{\"kind\":\"Status\",\"code\":410}");
    maar_reflector_tick(fixture->reflector);
    answer_page(fixture, "50", "", "");
    expect_log(fixture, "-a(u-a) -b(u-b) =50 ");
    expect_watch(fixture, "50");
}

static void other_errors_do_not_list_at_once(void **state)
{
    static const char error[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"message\":\"etcd\",\"code\":500}}\n";
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_data(&fixture->script, watch, error, sizeof error - 1);
    assert_true(maar_reflector_tick(fixture->reflector) > fixture->script.now_ns);
    wait_for_start(fixture);
    expect_watch(fixture, "10");
}

static void an_event_that_cannot_be_read_is_left_out(void **state)
{
    static const char nonsense[] = "nonsense\n{\"type\":\"ADDED\",\"object\":{}}\n{}\n";
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_data(&fixture->script, watch, nonsense, sizeof nonsense - 1);
    send_event(fixture, watch, "ADDED", "c@11");
    expect_log(fixture, "+c@11 =11 ");
}

static void a_definition_that_was_removed_deletes_its_objects_when_it_is_back(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);

    script_answer(&fixture->script, watch, 404, "404 page not found");
    wait_for_start(fixture);
    answer_page(fixture, "60", "", "");
    expect_log(fixture, "-a(u-a) -b(u-b) =60 ");
    expect_watch(fixture, "60");
}

static void the_newest_text_is_kept_without_managed_fields(void **state)
{
    struct fixture *fixture = *state;
    struct maar_kube_call *watch = begin(fixture);
    const struct maar_known *known = maar_reflector_known(fixture->reflector);
    uint64_t version = 0;
    json_t *object;

    send_event(fixture, watch, "MODIFIED", "a@12");
    object = maar_known_object(known, "", "a", &version);
    assert_int_equal(version, 12);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(object, "metadata"), "uid")), "u-a");
    assert_null(json_object_get(json_object_get(object, "metadata"), "managedFields"));
    json_decref(object);
    assert_int_equal(maar_known_text_version(known, "", "b"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_list_comes_in_pages),
        TEST(no_page_is_asked_for_while_the_inbox_is_full),
        TEST(an_expired_page_token_begins_the_list_anew),
        TEST(a_lost_page_is_asked_for_again),
        TEST(a_kind_that_does_not_exist_yet_is_waited_for),
        TEST(retry_after_is_obeyed),
        TEST(nonsense_instead_of_a_list_is_no_list),
        TEST(a_watch_passes_on_what_happens),
        TEST(events_may_be_cut_anywhere),
        TEST(a_name_with_another_uid_is_another_object),
        TEST(a_bookmark_moves_the_version),
        TEST(a_watch_that_ends_goes_on_where_it_was),
        TEST(watches_that_end_at_once_are_paused_and_then_listed),
        TEST(gone_during_a_watch_lists_again_and_finds_the_difference),
        TEST(gone_as_an_answer_lists_again_too),
        TEST(other_errors_do_not_list_at_once),
        TEST(an_event_that_cannot_be_read_is_left_out),
        TEST(a_definition_that_was_removed_deletes_its_objects_when_it_is_back),
        TEST(the_newest_text_is_kept_without_managed_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
