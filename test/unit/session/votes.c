/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* How the answers of the plugins of all tiers become one (core rules 5.3). The plugins here answer what their letters
 * say: a row is the tiers from the first on, separated by blanks, one letter a plugin. */

#include "base/log.h"
#include "unit/session/fake_policy.h"
#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_policy *policy;
static struct maar_session session;
static unsigned n_asked; /* hooks that were called */

/* What one fake plugin answers; `self` of its hooks. */
struct answer {
    char letter;
    const char *victims; /* "101": the bits; NULL abstains */
};

/* ---- hooks ---- */

static int letter(void *self)
{
    n_asked++;
    return ((struct answer *)self)->letter;
}

static enum maar_vote vote(void *self, const struct maar_view *view, const struct maar_job *j)
{
    (void)view;
    (void)j;
    int c = letter(self);
    return c == '+' ? MAAR_PERMIT : c == '-' ? MAAR_REJECT : MAAR_ABSTAIN;
}

static bool yes(void *self, const struct maar_view *view, const struct maar_job *j)
{
    (void)view;
    (void)j;
    return letter(self) == '+';
}

static bool queue_yes(void *self, const struct maar_view *view, const struct maar_queue *q)
{
    (void)view;
    (void)q;
    return letter(self) == '+';
}

static bool tasks_yes(void *self, const struct maar_view *view, const struct maar_queue *q,
                      const struct maar_task *const *tasks, size_t n)
{
    (void)view;
    (void)q;
    (void)tasks;
    (void)n;
    return letter(self) == '+';
}

static uint32_t room(void *self, const struct maar_view *view, const struct maar_queue *q,
                     const struct maar_task *task, uint32_t want, struct maar_reasons *reasons)
{
    (void)view;
    (void)q;
    (void)task;
    (void)reasons;
    int c = letter(self);
    return c == '*' ? UINT32_MAX : c == '+' ? want : (uint32_t)(c - '0');
}

static void valid(void *self, const struct maar_view *view, const struct maar_job *j,
                  struct maar_validity *ret)
{
    (void)view;
    (void)j;
    ret->pass = letter(self) == '+';
    ret->reason = "Fake";
    snprintf(ret->message, sizeof ret->message, "%c says no", ((struct answer *)self)->letter);
}

static int order(void *self)
{
    int c = letter(self);
    return c == '<' ? -1 : c == '>' ? 1 : 0;
}

static int job_order(void *self, const struct maar_view *view, const struct maar_job *l,
                     const struct maar_job *r)
{
    (void)view;
    (void)l;
    (void)r;
    return order(self);
}

static int queue_order(void *self, const struct maar_view *view, const struct maar_queue *l,
                       const struct maar_queue *r)
{
    (void)view;
    (void)l;
    (void)r;
    return order(self);
}

static int task_order(void *self, const struct maar_view *view, const struct maar_task *l,
                      const struct maar_task *r)
{
    (void)view;
    (void)l;
    (void)r;
    return order(self);
}

static int sub_job_order(void *self, const struct maar_view *view, const struct maar_sub_job *l,
                         const struct maar_sub_job *r)
{
    (void)view;
    (void)l;
    (void)r;
    return order(self);
}

static bool sub_job_yes(void *self, const struct maar_view *view, const struct maar_job *j,
                        const struct maar_sub_job *sub_job)
{
    (void)j;
    (void)sub_job;
    (void)view;
    return letter(self) == '+';
}

static enum maar_vote sub_job_vote(void *self, const struct maar_view *view,
                                   const struct maar_job *j, const struct maar_sub_job *sub_job)
{
    (void)sub_job;
    return vote(self, view, j);
}

static enum maar_vote victims(void *self, const struct maar_view *view,
                              const struct maar_task *evictor,
                              const struct maar_task *const *candidates, size_t n, uint64_t *out)
{
    (void)view;
    (void)evictor;
    (void)candidates;
    const char *bits = ((struct answer *)self)->victims;
    n_asked++;
    if (!bits)
        return MAAR_ABSTAIN;
    for (size_t i = 0; i < n; i++)
        if (bits[i] == '1')
            out[i / 64] |= UINT64_C(1) << (i % 64);
    return MAAR_PERMIT;
}

static uint32_t best_node(void *self, const struct maar_view *view, const struct maar_task *task,
                          const uint32_t *nodes, size_t n)
{
    (void)view;
    (void)task;
    (void)nodes;
    (void)n;
    int c = letter(self);
    return c == '.' ? MAAR_NO_NODE : (uint32_t)(c - '0');
}

static void on_enqueued(void *self, const struct maar_view *view, const struct maar_job *j)
{
    (void)view;
    (void)j;
    letter(self);
}

static const struct maar_plugin fake = {
    MAAR_PLUGIN_HEADER,
    .name = "fake",
    .hooks = {.job_order = job_order,
              .queue_order = queue_order,
              .task_order = task_order,
              .sub_job_order = sub_job_order,
              .sub_job_ready = sub_job_yes,
              .sub_job_pipelined = sub_job_vote,
              .job_valid = valid,
              .job_ready = yes,
              .job_pipelined = vote,
              .job_starving = yes,
              .job_enqueueable = vote,
              .queue_overused = queue_yes,
              .queue_preemptive = tasks_yes,
              .queue_room = room,
              .best_node = best_node,
              .preemptable = victims,
              .reclaimable = victims,
              .on_enqueued = on_enqueued},
};
static const struct maar_plugin mute = {MAAR_PLUGIN_HEADER, .name = "mute"};

/* ---- a session with given tiers ---- */

static struct answer answers[16];

static void open_tiers(const char *tiers, uint32_t enable)
{
    policy = fake_policy(false);
    size_t n = 0, tier = 0;
    for (const char *c = tiers; *c; c++) {
        if (*c == ' ') {
            tier++;
            continue;
        }
        answers[n] = (struct answer){*c, NULL};
        fake_list(policy, tier, *c == 'm' ? &mute : &fake, enable, &answers[n]);
        n++;
    }
    session = (struct maar_session){0};
    maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
    n_asked = 0;
}

static void close_tiers(void)
{
    maar_session_close(&session);
    maar_session_fini(&session);
    fake_policy_free(policy);
}

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    take(world, make_queue("q", ""));
    take(world, make_queue("r", ""));
    take(world, make_node("n0", 4000, 8 * GI));
    take(world, make_node("n1", 4000, 8 * GI));
    take(world, make_group("g", "q", 1));
    take(world, make_group("h", "q", 1));
    take(world, make_pod("p", "g", 1000, GI));
    take(world, make_pod("r", "g", 1000, GI));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    maar_world_destroy(world);
    return 0;
}

/* ---- gates ---- */

struct gate_row {
    const char *tiers;
    bool want;
    unsigned n_asked;
};

typedef bool (*gate_fn)(struct maar_session *session, const struct maar_job *job);

static void check_gate(gate_fn gate, const struct gate_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        bool got = gate(&session, job(world, "g"));
        if (got != rows[i].want || n_asked != rows[i].n_asked)
            fail_msg("\"%s\": %s after %u answers", rows[i].tiers, got ? "yes" : "no", n_asked);
        close_tiers();
    }
}

static const struct gate_row permit_rows[] = {
    {"", true, 0},         {"m", true, 0},      {".", true, 1},      {"+", true, 1},
    {"-", false, 1},       {"+-", false, 2},    {"-+", false, 1},    {".- +", false, 2},
    {"+. -", true, 2},     {".. +-", false, 4}, {". . -", false, 3}, {". + -", true, 2},
    {"m. .m -", false, 3}, {"++ -", true, 2},
};

/* A reject met anywhere decides; after a tier with a permit the next is not asked. */
static void vote_of_tiers_permits_unless_somebody_rejects(void **state)
{
    (void)state;
    check_gate(maar_vote_job_enqueueable, permit_rows, COUNT(permit_rows));
    check_gate(maar_vote_job_pipelined, permit_rows, COUNT(permit_rows));
}

static const struct gate_row all_rows[] = {
    {"", true, 0},    {"m", true, 0},    {"+", true, 1},
    {"+ +", true, 2}, {"+ -", false, 2}, {"-+", false, 1},
};

static void job_is_ready_when_all_say_so(void **state)
{
    (void)state;
    check_gate(maar_vote_job_ready, all_rows, COUNT(all_rows));
}

static bool sub_job_ready(struct maar_session *s, const struct maar_job *j)
{
    return maar_vote_sub_job_ready(s, j, j->n_sub_jobs > 0 ? j->sub_jobs[0] : NULL);
}

static bool sub_job_pipelined(struct maar_session *s, const struct maar_job *j)
{
    return maar_vote_sub_job_pipelined(s, j, j->n_sub_jobs > 0 ? j->sub_jobs[0] : NULL);
}

/* The group g with a policy that takes its pods by the label part, each in a sub-job of its own. */
static void make_sub_groups(void)
{
    static const char *const keys[] = {"part"};
    static struct maar_sub_group_record policy_record = {
        .name = "parts", .size = 1, .n_match_keys = 1, .match_keys = keys};
    struct maar_record *group = make_group("g", "q", 1);
    group->pod_group.n_sub_groups = 1;
    group->pod_group.sub_groups = &policy_record;
    take(world, group);
    static const char *const names[] = {"p", "r", "s"}, *const parts[] = {"10", "9", "x"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct maar_record *record = make_pod(names[i], "g", 1000, GI);
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "part", parts[i]);
        take(world, record);
    }
}

/* Row 62: without subGroupPolicy the job's own votes count. */
static void a_sub_job_has_votes_of_its_own(void **state)
{
    (void)state;
    for (int with_sub_groups = 0; with_sub_groups < 2; with_sub_groups++) {
        if (with_sub_groups)
            make_sub_groups();
        check_gate(sub_job_ready, all_rows, COUNT(all_rows));
        check_gate(sub_job_pipelined, permit_rows, COUNT(permit_rows));
        open_tiers("- -",
                   1u << (with_sub_groups ? MAAR_ENABLE_JOB_READY : MAAR_ENABLE_SUB_JOB_READY));
        assert_true(sub_job_ready(&session, job(world, "g")));
        close_tiers();
    }
}

static void sub_jobs_without_an_opinion_go_by_number_then_name(void **state)
{
    (void)state;
    make_sub_groups();
    open_tiers("..", EVERY_HOOK);
    const struct maar_sub_job *ten = pod(world, "p")->sub_job, *nine = pod(world, "r")->sub_job;
    const struct maar_sub_job *other = pod(world, "s")->sub_job;
    assert_true(maar_vote_sub_job_less(&session, nine, ten));
    assert_false(maar_vote_sub_job_less(&session, ten, nine));
    assert_true(maar_vote_sub_job_less(&session, other, nine));
    close_tiers();
    open_tiers(">", EVERY_HOOK);
    assert_false(maar_vote_sub_job_less(&session, nine, ten));
    close_tiers();
}

/* The first tier with an opinion decides, all of it. */
static void job_starves_by_the_first_tier_with_an_opinion(void **state)
{
    (void)state;
    static const struct gate_row rows[] = {
        {"", false, 0},    {"m", false, 0},  {"+", true, 1},
        {"-", false, 1},   {"+-", false, 2}, {"+ -", true, 1},
        {"- +", false, 1}, {"m +", true, 1}, {"m m -", false, 1},
    };
    check_gate(maar_vote_job_starving, rows, COUNT(rows));
}

static void job_is_valid_until_one_says_no(void **state)
{
    (void)state;
    struct maar_validity validity;
    open_tiers("+ +", 0); /* there is no key to turn it off */
    assert_true(maar_vote_job_valid(&session, job(world, "g"), &validity));
    assert_int_equal(n_asked, 2);
    close_tiers();
    open_tiers("+a b", 0);
    assert_false(maar_vote_job_valid(&session, job(world, "g"), &validity));
    assert_string_equal(validity.message, "a says no");
    assert_string_equal(validity.reason, "Fake");
    close_tiers();
    open_tiers("m", 0);
    assert_true(maar_vote_job_valid(&session, job(world, "g"), &validity));
    close_tiers();
}

static void queue_is_overused_when_anybody_says_so(void **state)
{
    (void)state;
    static const struct gate_row rows[] = {
        {"", false, 0},
        {"-- -", false, 3},
        {"-+ -", true, 2},
        {"- +", true, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        assert_true(maar_vote_queue_overused(&session, queue(world, "q")) == rows[i].want);
        assert_int_equal(n_asked, rows[i].n_asked);
        close_tiers();
    }
}

static void queue_may_preempt_when_nobody_says_no(void **state)
{
    (void)state;
    static const struct gate_row rows[] = {
        {"", true, 0},
        {"++ +", true, 3},
        {"+- +", false, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        assert_true(maar_vote_queue_preemptive(&session, queue(world, "q"), NULL, 0) ==
                    rows[i].want);
        assert_int_equal(n_asked, rows[i].n_asked);
        close_tiers();
    }
}

/* Who says more than was asked for has misunderstood; it counts as enough. */
static void queue_room_is_the_least_of_all(void **state)
{
    (void)state;
    static const struct {
        const char *tiers;
        uint32_t want;
        size_t n_bad;
    } rows[] = {
        {"", 5, 0},    {"+", 5, 0}, {"3", 3, 0},  {"3 2 4", 2, 1},
        {"0 3", 0, 0}, {"*", 5, 1}, {"2*", 2, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        uint32_t got = maar_vote_queue_room(&session, queue(world, "q"), pod(world, "p"), 5, NULL);
        if (got != rows[i].want || session.n_bad_answers != rows[i].n_bad)
            fail_msg("\"%s\": %u, %zu bad answers", rows[i].tiers, got, session.n_bad_answers);
        close_tiers();
    }
}

static void best_node_must_be_one_of_those_offered(void **state)
{
    (void)state;
    static const struct {
        const char *tiers;
        uint32_t want;
        size_t n_bad;
    } rows[] = {
        {"", MAAR_NO_NODE, 0}, {".", MAAR_NO_NODE, 0}, {"1", 1, 0},
        {". 0", 0, 0},         {"9 1", 1, 1},          {"9", MAAR_NO_NODE, 1},
    };
    static const uint32_t nodes[] = {0, 1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        assert_int_equal(maar_vote_best_node(&session, pod(world, "p"), nodes, 2), rows[i].want);
        assert_int_equal(session.n_bad_answers, rows[i].n_bad);
        close_tiers();
    }
}

static void everybody_hears_of_a_job_that_was_let_in(void **state)
{
    (void)state;
    open_tiers("a b m", EVERY_HOOK);
    maar_vote_job_enqueued(&session, job(world, "g"));
    assert_int_equal(n_asked, 2);
    close_tiers();
}

/* ---- order ---- */

static void order_is_that_of_the_first_with_an_opinion(void **state)
{
    (void)state;
    static const struct {
        const char *tiers;
        bool less;
    } rows[] = {{"<", true}, {">", false}, {". <", true}, {".> <", false}, {"m. <>", true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_tiers(rows[i].tiers, EVERY_HOOK);
        assert_true(maar_vote_job_less(&session, job(world, "g"), job(world, "h")) == rows[i].less);
        assert_true(maar_vote_queue_less(&session, queue(world, "q"), queue(world, "r")) ==
                    rows[i].less);
        assert_true(maar_vote_task_less(&session, pod(world, "p"), pod(world, "r")) ==
                    rows[i].less);
        close_tiers();
    }
}

static void order_without_an_opinion_is_by_age_then_name(void **state)
{
    (void)state;
    struct maar_record *record = make_group("old", "q", 1);
    record->created_ns = 0;
    take(world, record);
    record = make_queue("z-old", "");
    record->created_ns = 0;
    take(world, record);
    record = make_pod("z-old", "g", 1, 1);
    record->created_ns = 0;
    take(world, record);
    open_tiers("..", EVERY_HOOK);
    assert_true(maar_vote_job_less(&session, job(world, "old"), job(world, "g")));
    assert_true(maar_vote_job_less(&session, job(world, "g"), job(world, "h")));
    assert_false(maar_vote_job_less(&session, job(world, "h"), job(world, "g")));
    assert_true(maar_vote_queue_less(&session, queue(world, "z-old"), queue(world, "q")));
    assert_true(maar_vote_queue_less(&session, queue(world, "q"), queue(world, "r")));
    assert_true(maar_vote_task_less(&session, pod(world, "z-old"), pod(world, "p")));
    assert_true(maar_vote_task_less(&session, pod(world, "p"), pod(world, "r")));
    assert_false(maar_vote_task_less(&session, pod(world, "p"), pod(world, "p")));
    close_tiers();
}

/* ---- enable keys ---- */

static void hook_is_asked_only_when_its_key_allows_it(void **state)
{
    (void)state;
    static const struct {
        enum maar_enable key;
        const char *name;
    } rows[] = {
        {MAAR_ENABLE_JOB_ORDER, "job order"},      {MAAR_ENABLE_QUEUE_ORDER, "queue order"},
        {MAAR_ENABLE_TASK_ORDER, "task order"},    {MAAR_ENABLE_JOB_READY, "ready"},
        {MAAR_ENABLE_JOB_PIPELINED, "pipelined"},  {MAAR_ENABLE_JOB_STARVING, "starving"},
        {MAAR_ENABLE_JOB_ENQUEUED, "enqueueable"}, {MAAR_ENABLE_OVERUSED, "overused"},
        {MAAR_ENABLE_PREEMPTIVE, "preemptive"},    {MAAR_ENABLE_ALLOCATABLE, "room"},
        {MAAR_ENABLE_BEST_NODE, "best node"},      {MAAR_ENABLE_PREEMPTABLE, "preemptable"},
        {MAAR_ENABLE_RECLAIMABLE, "reclaimable"},
    };
    uint64_t out[1];
    const struct maar_task *candidates[] = {pod(world, "p")};
    uint32_t nodes[] = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int only = 0; only < 2; only++) {
            uint32_t bit = UINT32_C(1) << rows[i].key;
            open_tiers(".", only ? bit : ~bit);
            maar_vote_job_less(&session, job(world, "g"), job(world, "h"));
            maar_vote_queue_less(&session, queue(world, "q"), queue(world, "r"));
            maar_vote_task_less(&session, pod(world, "p"), pod(world, "r"));
            maar_vote_job_ready(&session, job(world, "g"));
            maar_vote_job_pipelined(&session, job(world, "g"));
            maar_vote_job_starving(&session, job(world, "g"));
            maar_vote_job_enqueueable(&session, job(world, "g"));
            maar_vote_queue_overused(&session, queue(world, "q"));
            maar_vote_queue_preemptive(&session, queue(world, "q"), NULL, 0);
            maar_vote_queue_room(&session, queue(world, "q"), pod(world, "p"), 1, NULL);
            maar_vote_best_node(&session, pod(world, "p"), nodes, 1);
            maar_vote_victims(&session, false, pod(world, "p"), candidates, 1, out);
            maar_vote_victims(&session, true, pod(world, "p"), candidates, 1, out);
            unsigned want = only ? 1 : COUNT(rows) - 1;
            if (n_asked != want)
                fail_msg("%s: %u hooks asked instead of %u", rows[i].name, n_asked, want);
            close_tiers();
        }
    }
}

static int refuse_to_open(void *self, const struct maar_view *view, char *error, size_t n)
{
    (void)self;
    (void)view;
    snprintf(error, n, "not today");
    return -1;
}

static void plugin_that_cannot_open_has_no_vote(void **state)
{
    (void)state;
    struct maar_plugin closed = fake;
    closed.open = refuse_to_open;
    answers[0] = (struct answer){'-', NULL};
    policy = fake_policy(false);
    fake_list(policy, 0, &closed, EVERY_HOOK, &answers[0]);
    session = (struct maar_session){0};
    maar_log_set_verbosity(-2);
    maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
    n_asked = 0;
    struct maar_validity validity;
    assert_true(maar_vote_job_ready(&session, job(world, "g")));
    assert_true(maar_vote_job_valid(&session, job(world, "g"), &validity));
    assert_int_equal(n_asked, 0);
    close_tiers();
}

/* ---- victims ---- */

/* Rules of 5.3.1 with its quirks. Tiers are separated by NULL, "" abstains. */
static void victims_are_those_that_a_tier_agrees_on(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *answers[6]; /* one a plugin; "|" begins a tier, "" abstains */
        const char *want;       /* NULL: nobody may go */
    } rows[] = {
        {"nobody asked", {NULL}, NULL},
        {"one", {"110", NULL}, "110"},
        {"the intersection of a tier", {"110", "011", NULL}, "010"},
        {"abstaining leaves out", {"", "100", NULL}, "100"},
        {"all abstain", {"", "", NULL}, NULL},
        {"all abstain, the next tier is asked", {"", "|", "001", NULL}, "001"},
        {"the first tier that agrees decides", {"100", "|", "111", NULL}, "100"},
        {"an empty answer ends its tier, the next is asked afresh",
         {"000", "100", "|", "101", NULL},
         "101"},
        {"an empty answer after others too", {"100", "000", "|", "011", NULL}, "011"},
        {"an empty answer in the last tier", {"110", "000", NULL}, NULL},
        {"an empty intersection counts as not begun", {"100", "010", "001", NULL}, "001"},
        {"an empty intersection at the end of a tier", {"100", "010", "|", "110", NULL}, "110"},
    };
    const struct maar_task *candidates[] = {pod(world, "p"), pod(world, "r"), pod(world, "p")};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int reclaim = 0; reclaim < 2; reclaim++) {
            policy = fake_policy(false);
            size_t tier = 0;
            for (size_t k = 0; rows[i].answers[k]; k++) {
                const char *bits = rows[i].answers[k];
                if (*bits == '|') {
                    tier++;
                    continue;
                }
                answers[k] = (struct answer){'.', *bits ? bits : NULL};
                fake_list(policy, tier, &fake, EVERY_HOOK, &answers[k]);
            }
            session = (struct maar_session){0};
            maar_session_open(&session, world, policy, NULL, MAAR_SECOND_NS);
            uint64_t out = UINT64_MAX;
            bool any = maar_vote_victims(&session, reclaim, pod(world, "p"), candidates, 3, &out);
            char got[4] = "000";
            for (int b = 0; b < 3; b++)
                got[b] = (char)('0' + ((out >> b) & 1));
            if (any != (rows[i].want != NULL) || strcmp(got, any ? rows[i].want : "000") != 0)
                fail_msg("%s: %s", rows[i].name, got);
            close_tiers();
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vote_of_tiers_permits_unless_somebody_rejects),
        TEST(job_is_ready_when_all_say_so),
        TEST(a_sub_job_has_votes_of_its_own),
        TEST(sub_jobs_without_an_opinion_go_by_number_then_name),
        TEST(job_starves_by_the_first_tier_with_an_opinion),
        TEST(job_is_valid_until_one_says_no),
        TEST(queue_is_overused_when_anybody_says_so),
        TEST(queue_may_preempt_when_nobody_says_no),
        TEST(queue_room_is_the_least_of_all),
        TEST(best_node_must_be_one_of_those_offered),
        TEST(everybody_hears_of_a_job_that_was_let_in),
        TEST(order_is_that_of_the_first_with_an_opinion),
        TEST(order_without_an_opinion_is_by_age_then_name),
        TEST(hook_is_asked_only_when_its_key_allows_it),
        TEST(plugin_that_cannot_open_has_no_vote),
        TEST(victims_are_those_that_a_tier_agrees_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
