/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Electing a leader against a server that the test plays, on the test's clock. Every other replica is a row of text. */

#include "kube/election.h"

#include "base/log.h"
#include "base/memory.h"
#include "unit/kube/script.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
#define S      MAAR_SECOND_NS

static int64_t wall;

static int64_t wall_ns(void)
{
    return wall;
}

struct play {
    struct script script;
    struct maar_election *election;
    unsigned n_versions;
};

static void begin(struct play *play)
{
    const struct maar_election_options options = {
        .ns = "ns",
        .name = "volcano",
        .identity = "me",
        .component = "volcano",
        .lease_duration_ns = 15 * S,
        .renew_deadline_ns = 10 * S,
        .retry_period_ns = 2 * S,
    };

    *play = (struct play){0};
    wall = INT64_C(1767225600) * S;
    play->election = maar_election_create(&options, script_transport(&play->script), wall_ns, 1);
}

static void end(struct play *play)
{
    maar_election_destroy(play->election);
    script_fini(&play->script);
}

/* The call that runs for METHOD and path; NULL when there is none. */
static struct maar_kube_call *running(struct play *play, const char *begins)
{
    for (size_t i = 0; i < play->script.running.n; i++) {
        struct maar_kube_call *call = play->script.running.data[i];
        maar_autofree char *request = maar_asprintf("%s %s", call->method, call->path);

        if (strncmp(request, begins, strlen(begins)) == 0)
            return call;
    }
    return NULL;
}

static struct maar_kube_call *expect(struct play *play, const char *begins)
{
    struct maar_kube_call *call = running(play, begins);

    if (!call)
        fail_msg("%s does not run", begins);
    return call ? call : play->script.running.data[0];
}

static struct maar_kube_call *expect_read(struct play *play)
{
    struct maar_kube_call *call = expect(play, "GET " LEASES "/volcano");

    assert_int_equal(strlen(call->path), strlen(LEASES "/volcano"));
    return call;
}

/* A Lease as the server has it; `n` stands for its renewTime. */
static void answer_lease(struct play *play, struct maar_kube_call *call, const char *holder,
                         int seconds, int n)
{
    maar_autofree char *text = maar_asprintf(
        "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"volcano\",\"uid\":\"u\","
        "\"resourceVersion\":\"%u\"},\"spec\":{\"holderIdentity\":\"%s\","
        "\"leaseDurationSeconds\":%d,\"renewTime\":\"2026-01-01T00:00:%02d.000000Z\"}}",
        ++play->n_versions, holder, seconds, n);

    script_answer(&play->script, call, 200, text);
}

/* The server stores what was sent. */
static void answer_stored(struct play *play, struct maar_kube_call *call)
{
    maar_autofree char *body = maar_strdup(call->body);

    script_answer(&play->script, call, call->method[1] == 'O' ? 201 : 200, body);
}

static void answer_event(struct play *play, const char *message)
{
    struct maar_kube_call *call = expect(play, "POST /api/v1/namespaces/ns/events");

    assert_non_null(strstr(call->body, message));
    assert_non_null(strstr(call->body, "\"reason\":\"LeaderElection\""));
    assert_non_null(strstr(call->body, "\"kind\":\"Lease\""));
    assert_non_null(strstr(call->body, "\"apiVersion\":\"coordination.k8s.io/v1\""));
    script_answer(&play->script, call, 201, "{}");
}

static void pass(struct play *play, int64_t ns)
{
    play->script.now_ns += ns;
    wall += ns;
    (void)maar_election_tick(play->election);
}

static enum maar_leadership leadership(const struct play *play)
{
    return maar_election_leadership(play->election);
}

static bool may_write(const struct play *play)
{
    return play->script.now_ns < maar_election_until_ns(play->election);
}

/* There is no Lease yet, and we make it. */
static void lead(struct play *play)
{
    begin(play);
    pass(play, 0);
    script_answer(&play->script, expect_read(play), 404, "{}");
    answer_stored(play, expect(play, "POST " LEASES));
    answer_event(play, "me became leader");
    pass(play, 0);
    assert_int_equal(leadership(play), MAAR_LEADS);
}

/* ---- acquiring ---- */

static void a_missing_lease_is_created_and_leads_at_once(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    assert_true(may_write(&play));
    assert_int_equal(maar_election_until_ns(play.election), play.script.now_ns + 10 * S);
    end(&play);
}

static void a_released_lease_is_taken(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    pass(&play, 0);
    answer_lease(&play, expect_read(&play), "", 1, 0);
    answer_stored(&play, expect(&play, "PUT " LEASES "/volcano"));
    answer_event(&play, "me became leader");
    /* Not before the watches could bring what the former leader wrote last. */
    pass(&play, 0);
    assert_int_equal(leadership(&play), MAAR_FOLLOWS);
    assert_false(may_write(&play));
    pass(&play, S);
    assert_int_equal(leadership(&play), MAAR_LEADS);
    assert_true(may_write(&play));
    end(&play);
}

static void the_loser_of_a_race_follows(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    pass(&play, 0);
    script_answer(&play.script, expect_read(&play), 404, "{}");
    script_answer(&play.script, expect(&play, "POST " LEASES), 409, "{}");
    assert_int_equal(play.script.running.n, 0);
    pass(&play, 5 * S);
    answer_lease(&play, expect_read(&play), "other", 15, 0);
    assert_int_equal(leadership(&play), MAAR_FOLLOWS);
    assert_string_equal(maar_election_fault(play.election), "");
    end(&play);
}

/* ---- another's Lease ---- */

/* Reads once more and is told the same or something newer. */
static void read_again(struct play *play, int64_t after_ns, int n)
{
    pass(play, after_ns);
    answer_lease(play, expect_read(play), "other", 15, n);
}

static void a_lease_expires_by_our_clock_since_it_changed(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    /* Its renewTime is long ago, or far ahead: of no interest. */
    read_again(&play, 0, 0);
    wall += 3600 * S;
    read_again(&play, 5 * S, 0);
    read_again(&play, 5 * S, 0);
    wall -= 7200 * S;
    read_again(&play, S * 49 / 10, 0);
    assert_null(running(&play, "PUT"));
    read_again(&play, 5 * S, 0);
    answer_stored(&play, expect(&play, "PUT " LEASES "/volcano"));
    answer_event(&play, "me became leader");
    end(&play);
}

static void a_renewed_lease_is_waited_for(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    for (int i = 0; i < 20; i++) {
        read_again(&play, 5 * S, i);
        assert_null(running(&play, "PUT"));
    }
    assert_int_equal(leadership(&play), MAAR_FOLLOWS);
    end(&play);
}

static void the_duration_is_that_which_its_holder_wrote(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    pass(&play, 0);
    answer_lease(&play, expect_read(&play), "other", 60, 0);
    pass(&play, 50 * S);
    answer_lease(&play, expect_read(&play), "other", 60, 0);
    assert_null(running(&play, "PUT"));
    pass(&play, 11 * S);
    answer_lease(&play, expect_read(&play), "other", 60, 0);
    answer_stored(&play, expect(&play, "PUT"));
    end(&play);
}

static void attempts_are_spread_like_client_gos(void **state)
{
    struct play play;
    int64_t shortest = INT64_MAX;
    int64_t longest = 0;

    (void)state;
    begin(&play);
    read_again(&play, 0, 0);
    for (int i = 1; i < 100; i++) {
        int64_t wait = maar_election_tick(play.election) - play.script.now_ns;

        shortest = wait < shortest ? wait : shortest;
        longest = wait > longest ? wait : longest;
        read_again(&play, wait, i % 60);
    }
    assert_true(shortest >= 2 * S && shortest < S * 23 / 10);
    assert_true(longest <= S * 44 / 10 && longest > 4 * S);
    end(&play);
}

static void a_change_is_seen_at_once_by_watch(void **state)
{
    struct play play;
    struct maar_kube_call *watch;

    (void)state;
    begin(&play);
    read_again(&play, 0, 0);
    watch = expect(&play, "GET " LEASES
                          "?watch=true&fieldSelector=metadata.name%3Dvolcano&resourceVersion=1&");
    pass(&play, S / 10);
    assert_null(running(&play, "GET " LEASES "/volcano"));
    script_data(&play.script, watch, "{}", 2);
    pass(&play, 0);
    answer_lease(&play, expect_read(&play), "", 1, 0);
    answer_stored(&play, expect(&play, "PUT"));
    assert_null(running(&play, "GET"));
    end(&play);
}

static void a_watch_that_is_refused_is_not_tried_again(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    read_again(&play, 0, 0);
    script_answer(&play.script, expect(&play, "GET " LEASES "?watch"), 403, "{}");
    read_again(&play, 5 * S, 1);
    assert_int_equal(play.script.running.n, 0);
    end(&play);
}

static void a_watch_that_ended_is_started_again(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    read_again(&play, 0, 0);
    script_lose(&play.script, expect(&play, "GET " LEASES "?watch"), 200, true);
    read_again(&play, 5 * S, 1);
    assert_non_null(strstr(expect(&play, "GET " LEASES "?watch")->path, "resourceVersion=2&"));
    end(&play);
}

/* ---- renewing ---- */

static void a_leader_renews_without_reading(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    for (int i = 0; i < 100; i++) {
        pass(&play, 2 * S);
        answer_stored(&play, expect(&play, "PUT " LEASES "/volcano"));
        assert_int_equal(maar_election_until_ns(play.election), play.script.now_ns + 10 * S);
    }
    assert_int_equal(leadership(&play), MAAR_LEADS);
    end(&play);
}

static void the_right_to_write_counts_from_when_the_renewal_was_sent(void **state)
{
    struct play play;
    int64_t sent_ns;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    sent_ns = play.script.now_ns;
    pass(&play, 4 * S);
    answer_stored(&play, expect(&play, "PUT"));
    assert_int_equal(maar_election_until_ns(play.election), sent_ns + 10 * S);
    end(&play);
}

static void a_leader_that_cannot_renew_loses_at_the_deadline(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    for (int i = 0; i < 4; i++) {
        pass(&play, 2 * S);
        script_lose(&play.script, play.script.running.data[0], 0, false);
    }
    pass(&play, 2 * S - 1);
    assert_int_equal(leadership(&play), MAAR_LEADS);
    assert_true(may_write(&play));
    pass(&play, 1);
    assert_int_equal(leadership(&play), MAAR_LOST);
    assert_false(may_write(&play));
    assert_non_null(strstr(maar_election_fault(play.election), "connection lost"));
    answer_event(&play, "me stopped leading");
    assert_true(maar_election_is_over(play.election));
    pass(&play, 100 * S);
    assert_int_equal(play.script.running.n, 0);
    end(&play);
}

static void a_leader_whose_request_hangs_loses_at_the_deadline(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    assert_int_equal(expect(&play, "PUT")->limit_ns, 5 * S);
    assert_int_equal(maar_election_tick(play.election), play.script.now_ns + 8 * S);
    pass(&play, 8 * S);
    assert_int_equal(leadership(&play), MAAR_LOST);
    assert_null(running(&play, "PUT"));
    end(&play);
}

/* The machine stood still; nobody called in between. */
static void a_leader_that_was_stopped_may_not_write_when_it_goes_on(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    play.script.now_ns += 60 * S;
    assert_false(may_write(&play));
    pass(&play, 0);
    assert_int_equal(leadership(&play), MAAR_LOST);
    end(&play);
}

static void an_answer_that_is_too_late_renews_nothing(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    pass(&play, 0);
    script_answer(&play.script, expect_read(&play), 404, "{}");
    play.script.now_ns += 20 * S;
    answer_stored(&play, expect(&play, "POST " LEASES));
    assert_int_equal(leadership(&play), MAAR_FOLLOWS);
    /* It turns out to be ours, and is renewed. */
    pass(&play, 5 * S);
    answer_lease(&play, expect_read(&play), "me", 15, 0);
    answer_stored(&play, expect(&play, "PUT"));
    answer_event(&play, "me became leader");
    pass(&play, S);
    assert_int_equal(leadership(&play), MAAR_LEADS);
    end(&play);
}

static void after_a_failure_the_lease_is_read_first_on_a_new_connection(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    script_lose(&play.script, expect(&play, "PUT"), 0, true);
    pass(&play, 2 * S);
    assert_true(expect_read(&play)->fresh);
    answer_lease(&play, expect_read(&play), "me", 15, 0);
    answer_stored(&play, expect(&play, "PUT"));
    assert_int_equal(leadership(&play), MAAR_LEADS);
    assert_string_equal(maar_election_fault(play.election), "");
    end(&play);
}

static void a_conflict_with_a_bystander_costs_nothing(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    script_answer(&play.script, expect(&play, "PUT"), 409, "{}");
    answer_lease(&play, expect_read(&play), "me", 15, 0);
    answer_stored(&play, expect(&play, "PUT"));
    assert_int_equal(maar_election_until_ns(play.election), play.script.now_ns + 10 * S);
    end(&play);
}

static void a_leader_that_finds_another_holder_loses_at_once(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    script_answer(&play.script, expect(&play, "PUT"), 409, "{}");
    answer_lease(&play, expect_read(&play), "other", 15, 0);
    assert_int_equal(leadership(&play), MAAR_LOST);
    assert_false(may_write(&play));
    end(&play);
}

static void a_deleted_lease_is_made_again(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    script_answer(&play.script, expect(&play, "PUT"), 404, "{}");
    script_answer(&play.script, expect_read(&play), 404, "{}");
    answer_stored(&play, expect(&play, "POST " LEASES));
    assert_int_equal(leadership(&play), MAAR_LEADS);
    assert_int_equal(maar_election_until_ns(play.election), play.script.now_ns + 10 * S);
    end(&play);
}

/* ---- what is told ---- */

static void faults_say_what_to_do(void **state)
{
    static const struct {
        int read_status;
        const char *read_answer;
        int create_status; /* 0: it is not tried */
        const char *create_answer;
        const char *want;
    } rows[] = {
        {403, "{\"message\":\"leases \\\"volcano\\\" is forbidden\"}", 0, NULL,
         "the Lease ns/volcano cannot be read: leases \"volcano\" is forbidden; the role needs "
         "get, "
         "create and update on leases of coordination.k8s.io in that namespace, or run one replica "
         "with --leader-elect=false"},
        {404, "{}", 404, "{\"message\":\"namespaces \\\"ns\\\" not found\"}",
         "the Lease ns/volcano cannot be created: namespaces \"ns\" not found; create that "
         "namespace or name another one with --leader-elect-resource-namespace"},
        {500, "{", 0, NULL, "the Lease ns/volcano cannot be read: status 500"},
        {200, "{\"kind\":\"Status\"}", 0, NULL,
         "the Lease ns/volcano cannot be used: the answer is not a Lease; mend or delete it"},
        {200, "{\"kind\":\"Lease\",\"spec\":{\"leaseDurationSeconds\":\"x\"}}", 0, NULL,
         "the Lease ns/volcano cannot be used: spec.leaseDurationSeconds: expected a whole number "
         "of 0 or more; mend or delete it"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct play play;

        begin(&play);
        pass(&play, 0);
        script_answer(&play.script, expect_read(&play), rows[i].read_status, rows[i].read_answer);
        if (rows[i].create_status)
            script_answer(&play.script, expect(&play, "POST " LEASES), rows[i].create_status,
                          rows[i].create_answer);
        assert_string_equal(maar_election_fault(play.election), rows[i].want);
        assert_int_equal(play.script.running.n, 0);
        assert_int_equal(leadership(&play), MAAR_FOLLOWS);
        /* It keeps trying: what is wrong may be mended. */
        pass(&play, 5 * S);
        script_answer(&play.script, expect_read(&play), 404, "{}");
        answer_stored(&play, expect(&play, "POST " LEASES));
        assert_string_equal(maar_election_fault(play.election), "");
        end(&play);
    }
}

/* ---- resigning ---- */

static void a_leader_that_resigns_gives_its_lease_up(void **state)
{
    struct play play;
    struct maar_kube_call *call;

    (void)state;
    lead(&play);
    maar_election_resign(play.election);
    assert_false(may_write(&play));
    pass(&play, 0);
    call = expect(&play, "PUT " LEASES "/volcano");
    assert_non_null(strstr(call->body, "\"holderIdentity\":\"\""));
    assert_non_null(strstr(call->body, "\"leaseDurationSeconds\":1"));
    answer_stored(&play, call);
    assert_int_equal(leadership(&play), MAAR_RESIGNED);
    assert_false(maar_election_is_over(play.election));
    answer_event(&play, "me stopped leading");
    assert_true(maar_election_is_over(play.election));
    pass(&play, 100 * S);
    assert_int_equal(play.script.running.n, 0);
    end(&play);
}

static void a_renewal_that_is_out_is_waited_for(void **state)
{
    struct play play;

    (void)state;
    lead(&play);
    pass(&play, 2 * S);
    maar_election_resign(play.election);
    pass(&play, 0);
    answer_stored(&play, expect(&play, "PUT"));
    pass(&play, 0);
    assert_non_null(strstr(expect(&play, "PUT")->body, "\"holderIdentity\":\"\""));
    script_answer(&play.script, expect(&play, "PUT"), 409, "{}");
    answer_lease(&play, expect_read(&play), "me", 15, 0);
    answer_stored(&play, expect(&play, "PUT"));
    assert_int_equal(leadership(&play), MAAR_RESIGNED);
    end(&play);
}

static void a_follower_resigns_without_a_word(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    read_again(&play, 0, 0);
    pass(&play, 5 * S);
    maar_election_resign(play.election);
    assert_int_equal(play.script.running.n, 0);
    assert_true(maar_election_is_over(play.election));
    end(&play);
}

static void who_resigns_while_taking_the_lease_gives_it_up_again(void **state)
{
    struct play play;

    (void)state;
    begin(&play);
    pass(&play, 0);
    answer_lease(&play, expect_read(&play), "", 1, 0);
    maar_election_resign(play.election);
    answer_stored(&play, expect(&play, "PUT"));
    pass(&play, 0);
    assert_int_equal(leadership(&play), MAAR_FOLLOWS);
    assert_non_null(strstr(expect(&play, "PUT")->body, "\"holderIdentity\":\"\""));
    answer_stored(&play, expect(&play, "PUT"));
    assert_int_equal(leadership(&play), MAAR_RESIGNED);
    end(&play);
}

static int setup(void **state)
{
    (void)state;
    maar_log_set_verbosity(-2);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_lease_is_created_and_leads_at_once),
        cmocka_unit_test(a_released_lease_is_taken),
        cmocka_unit_test(the_loser_of_a_race_follows),
        cmocka_unit_test(a_lease_expires_by_our_clock_since_it_changed),
        cmocka_unit_test(a_renewed_lease_is_waited_for),
        cmocka_unit_test(the_duration_is_that_which_its_holder_wrote),
        cmocka_unit_test(attempts_are_spread_like_client_gos),
        cmocka_unit_test(a_change_is_seen_at_once_by_watch),
        cmocka_unit_test(a_watch_that_is_refused_is_not_tried_again),
        cmocka_unit_test(a_watch_that_ended_is_started_again),
        cmocka_unit_test(a_leader_renews_without_reading),
        cmocka_unit_test(the_right_to_write_counts_from_when_the_renewal_was_sent),
        cmocka_unit_test(a_leader_that_cannot_renew_loses_at_the_deadline),
        cmocka_unit_test(a_leader_whose_request_hangs_loses_at_the_deadline),
        cmocka_unit_test(a_leader_that_was_stopped_may_not_write_when_it_goes_on),
        cmocka_unit_test(an_answer_that_is_too_late_renews_nothing),
        cmocka_unit_test(after_a_failure_the_lease_is_read_first_on_a_new_connection),
        cmocka_unit_test(a_conflict_with_a_bystander_costs_nothing),
        cmocka_unit_test(a_leader_that_finds_another_holder_loses_at_once),
        cmocka_unit_test(a_deleted_lease_is_made_again),
        cmocka_unit_test(faults_say_what_to_do),
        cmocka_unit_test(a_leader_that_resigns_gives_its_lease_up),
        cmocka_unit_test(a_renewal_that_is_out_is_waited_for),
        cmocka_unit_test(a_follower_resigns_without_a_word),
        cmocka_unit_test(who_resigns_while_taking_the_lease_gives_it_up_again),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
