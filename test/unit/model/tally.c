/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Pods by domain: sums that follow whatever happens to pods, nodes, classes and namespaces, held against a count of
 * what stands on the nodes. */

#include "model/parts.h"
#include "unit/session/records.h"

static struct maar_world *world;
static struct maar_undo undo;

/* ---- kinds of tallies ---- */

static const char *label_of(const struct maar_label *labels, uint32_t n, const char *key)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(labels[i].key, key))
            return labels[i].value;
    return "";
}

static const char *app_of(const struct maar_class *cls)
{
    return label_of(cls->labels, cls->n_labels, "app");
}

/* Pods of the owner's app: 1 in part 0, 3 in part 1, … */
static int64_t weigh_app(const struct maar_class *owner, uint32_t part, const char *key,
                         const struct maar_class *other)
{
    (void)key;
    return !strcmp(app_of(owner), app_of(other)) ? 1 + 2 * (int64_t)part : 0;
}

static int64_t weigh_affine(const struct maar_class *owner, uint32_t part, const char *key,
                            const struct maar_class *other)
{
    const struct maar_affinity_terms *terms = &other->spec->pod_anti_affinity_required;
    int64_t sum = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        sum += !strcmp(terms->terms[i].topology_key, key);
    return sum * weigh_app(owner, part, key, other);
}

static int64_t weigh_team(const struct maar_class *owner, uint32_t part, const char *key,
                          const struct maar_class *other)
{
    (void)owner;
    (void)part;
    (void)key;
    return !strcmp(label_of(other->space->labels, other->space->n_labels, "team"), "blue") ? -2 : 0;
}

static bool is_open(const struct maar_class *owner, uint32_t part,
                    const struct maar_node_facts *node)
{
    (void)owner;
    return part > 0 || !node->unschedulable;
}

static const struct maar_tally_kind app_kind = {.name = "app", .weigh = weigh_app};
static const struct maar_tally_kind leaving_kind = {
    .name = "app, leaving ones too", .counts_leaving = true, .weigh = weigh_app};
static const struct maar_tally_kind open_kind = {
    .name = "app on open nodes", .weigh = weigh_app, .takes_part = is_open};
static const struct maar_tally_kind affine_kind = {
    .name = "affine", .only_affine = true, .counts_leaving = true, .weigh = weigh_affine};
static const struct maar_tally_kind team_kind = {.name = "team", .weigh = weigh_team};
static const struct maar_tally_kind *const kinds[] = {&app_kind, &leaving_kind, &open_kind,
                                                      &affine_kind, &team_kind};

/* ---- a small cluster: n1 and n2 in zone a, n3 in zone b, n4 in none ---- */

static struct maar_record *node_in(const char *name, const char *zone)
{
    struct maar_record *record = make_node(name, 64000, 256 * GI);
    if (*zone)
        set_labels(record, &record->node.n_labels, &record->node.labels, "zone", zone);
    return record;
}

static struct maar_record *of_app(const char *name, const char *app)
{
    struct maar_record *record = make_pod(name, "g", 1000, GI);
    if (*app)
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "app", app);
    return record;
}

static struct maar_record *runs(const char *name, const char *app, const char *node)
{
    return on_node(of_app(name, app), node, MAAR_POD_RUNNING);
}

static struct maar_record *leaves(struct maar_record *pod)
{
    pod->pod.deleting = true;
    return pod;
}

static const struct maar_affinity_term zone_term = {.topology_key = "zone"};

static struct maar_record *is_affine(struct maar_record *pod)
{
    pod->pod.spec.pod_anti_affinity_required = (struct maar_affinity_terms){1, &zone_term};
    return pod;
}

static int setup(void **state)
{
    (void)state;
    world = maar_world_create(NULL);
    maar_world_project_label(world, "app");
    take(world, make_queue("q", ""));
    take(world, make_group("g", "q", 1));
    take(world, node_in("n1", "a"));
    take(world, node_in("n2", "a"));
    take(world, node_in("n3", "b"));
    take(world, node_in("n4", ""));
    take(world, of_app("web", "web"));
    take(world, of_app("db", "db"));
    undo = (struct maar_undo){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world->undo = NULL;
    assert_balanced(world);
    maar_world_destroy(world);
    maar_undo_fini(&undo);
    return 0;
}

static const struct maar_tally *ask(const struct maar_tally_kind *kind, const char *owner,
                                    uint32_t part, const char *key)
{
    return maar_world_tally(world, kind, pod(world, owner)->cls, part, key);
}

/* In the domain of a node; INT64_MIN where it has none. */
static int64_t at(const struct maar_tally *tally, const char *node)
{
    uint32_t domain = tally->topology->domain[maar_world_node(world, node)];
    return domain == MAAR_NO_DOMAIN ? INT64_MIN : tally->sums[domain];
}

static int64_t web_at(const char *node)
{
    return at(ask(&app_kind, "web", 0, "zone"), node);
}

static void move(const char *name, enum maar_task_status status, const char *node)
{
    maar_world_move(world, pod(world, name), status,
                    node ? maar_world_node(world, node) : MAAR_NO_NODE);
}

/* ---- what counts ---- */

static void tally_sums_by_domain_whatever_is_on_the_nodes(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    take(world, runs("w2", "web", "n2"));
    take(world, runs("w3", "web", "n3"));
    take(world, runs("w4", "web", "n4")); /* counts in no zone */
    take(world, runs("d1", "db", "n3"));
    const struct maar_tally *tally = ask(&app_kind, "web", 0, "zone");
    assert_int_equal(at(tally, "n1"), 2);
    assert_int_equal(at(tally, "n2"), 2);
    assert_int_equal(at(tally, "n3"), 1);
    assert_true(at(tally, "n4") == INT64_MIN);
    assert_int_equal(tally->total, 3);
    assert_int_equal(tally->least, 1);
    assert_int_equal(tally->n_domains, 2);
    assert_int_equal(at(ask(&app_kind, "web", 1, "zone"), "n1"), 6);
    assert_int_equal(at(ask(&app_kind, "db", 0, "zone"), "n1"), 0);
    assert_int_equal(ask(&app_kind, "db", 0, "zone")->least, 0);
    assert_int_equal(ask(&app_kind, "web", 0, "nowhere")->n_domains, 0);
    assert_int_equal(ask(&app_kind, "web", 0, "nowhere")->least, 0);
    assert_int_equal(ask(&app_kind, "web", 0, "nowhere")->total, 0);
}

static void tally_by_no_key_has_a_domain_for_each_node(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    take(world, runs("w4", "web", "n4"));
    const struct maar_tally *tally = ask(&app_kind, "web", 0, "");
    assert_int_equal(at(tally, "n1"), 1);
    assert_int_equal(at(tally, "n2"), 0);
    assert_int_equal(at(tally, "n4"), 1);
    assert_int_equal(tally->n_domains, 4);
    assert_int_equal(tally->total, 2);
}

static void tally_follows_each_move_and_its_undo(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    assert_int_equal(web_at("n1"), 1);
    world->undo = &undo;
    static const struct {
        enum maar_task_status status;
        const char *node;
        int64_t a, b;
    } rows[] = {
        {MAAR_TASK_ALLOCATED, "n2", 2, 0}, {MAAR_TASK_PIPELINED, "n3", 1, 1},
        {MAAR_TASK_BINDING, "n3", 1, 1},   {MAAR_TASK_PENDING, NULL, 1, 0},
        {MAAR_TASK_ALLOCATED, "n4", 1, 0}, {MAAR_TASK_ALLOCATED, "n1", 2, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        move("web", rows[i].status, rows[i].node);
        assert_int_equal(web_at("n1"), rows[i].a);
        assert_int_equal(web_at("n3"), rows[i].b);
        assert_int_equal(ask(&app_kind, "web", 0, "zone")->least,
                         rows[i].a < rows[i].b ? rows[i].a : rows[i].b);
        assert_balanced(world);
    }
    for (size_t i = COUNT(rows); i-- > 0;) {
        maar_world_rewind(world, i);
        assert_int_equal(web_at("n1"), i > 0 ? rows[i - 1].a : 1);
        assert_int_equal(web_at("n3"), i > 0 ? rows[i - 1].b : 0);
        assert_balanced(world);
    }
}

static void tally_of_a_session_survives_its_discard(void **state)
{
    (void)state;
    world->undo = &undo;
    move("web", MAAR_TASK_ALLOCATED, "n3");
    assert_int_equal(web_at("n3"), 1); /* asked for the first time in the middle */
    maar_world_rewind(world, 0);
    assert_int_equal(web_at("n3"), 0);
}

/* ---- pods that leave ---- */

static void pod_that_is_deleted_counts_where_leaving_ones_do(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    assert_int_equal(web_at("n1"), 1);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 1);
    take(world, leaves(runs("w1", "web", "n1")));
    assert_int_equal(web_at("n1"), 0);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 1);
    take_end(world, runs("w1", "web", "n1"));
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 0);
}

static void pod_that_has_finished_counts_nowhere(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    assert_int_equal(web_at("n1"), 1);
    take(world, on_node(of_app("w1", "web"), "n1", MAAR_POD_SUCCEEDED));
    assert_int_equal(web_at("n1"), 0);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 0);
}

static void pod_that_the_session_evicts_counts_nowhere(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    ask(&app_kind, "web", 0, "zone");
    ask(&leaving_kind, "web", 0, "zone");
    world->undo = &undo;
    move("w1", MAAR_TASK_RELEASING, "n1");
    assert_int_equal(web_at("n1"), 0);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 0);
    assert_balanced(world);
    maar_world_rewind(world, 0);
    assert_int_equal(web_at("n1"), 1);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 1);
    /* Then the API server tells of its deletion. */
    world->undo = NULL;
    move("w1", MAAR_TASK_RELEASING, "n1");
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 0);
    take(world, leaves(runs("w1", "web", "n1")));
    assert_int_equal(web_at("n1"), 0);
    assert_int_equal(at(ask(&leaving_kind, "web", 0, "zone"), "n1"), 1);
}

/* ---- nodes ---- */

static void tally_follows_nodes_that_come_change_and_go(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n3"));
    take(world, runs("w5", "web", "n5"));
    assert_int_equal(ask(&app_kind, "web", 0, "zone")->total, 1);
    take(world, node_in("n5", "c")); /* the pod was there before its node */
    assert_int_equal(web_at("n5"), 1);
    assert_int_equal(ask(&app_kind, "web", 0, "zone")->n_domains, 3);
    take(world, node_in("n5", "a"));
    assert_int_equal(web_at("n1"), 1);
    take(world, node_in("n3", ""));
    assert_true(web_at("n3") == INT64_MIN);
    assert_int_equal(ask(&app_kind, "web", 0, "zone")->total, 1);
    take_end(world, node_in("n5", "a"));
    assert_int_equal(web_at("n1"), 0);
    assert_int_equal(ask(&app_kind, "web", 0, "zone")->n_domains, 1);
    take(world, node_in("n6", "b")); /* in the slot that n5 left */
    assert_int_equal(web_at("n6"), 0);
}

static void tally_leaves_out_nodes_that_take_no_part(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    take(world, runs("w2", "web", "n2"));
    take(world, runs("w3", "web", "n3"));
    assert_int_equal(at(ask(&open_kind, "web", 0, "zone"), "n1"), 2);
    struct maar_record *closed = node_in("n1", "a");
    closed->node.unschedulable = true;
    take(world, closed);
    assert_int_equal(at(ask(&open_kind, "web", 0, "zone"), "n1"), 1);
    assert_int_equal(at(ask(&open_kind, "web", 1, "zone"), "n1"), 6);
    closed = node_in("n3", "b");
    closed->node.unschedulable = true;
    take(world, closed);
    const struct maar_tally *tally = ask(&open_kind, "web", 0, "zone");
    assert_int_equal(tally->n_domains, 1); /* zone b has no node left that counts */
    assert_int_equal(tally->least, 1);
    assert_int_equal(at(tally, "n3"), 0);
    move("web", MAAR_TASK_ALLOCATED, "n3");
    assert_int_equal(at(ask(&open_kind, "web", 0, "zone"), "n3"), 0);
    move("web", MAAR_TASK_ALLOCATED, "n2");
    assert_int_equal(at(ask(&open_kind, "web", 0, "zone"), "n1"), 2);
}

/* ---- classes, labels, namespaces ---- */

static void tally_goes_with_the_class_that_asked_for_it(void **state)
{
    (void)state;
    take(world, of_app("owner", "cache"));
    take(world, runs("w1", "web", "n1"));
    ask(&app_kind, "owner", 0, "zone");
    ask(&app_kind, "owner", 1, "zone");
    ask(&app_kind, "web", 0, "zone");
    assert_int_equal(world->tallies.n, 3);
    take_end(world, of_app("owner", "cache"));
    assert_int_equal(world->tallies.n, 1);
    assert_int_equal(web_at("n1"), 1);
    assert_balanced(world);
}

static void class_that_comes_later_is_weighed(void **state)
{
    (void)state;
    assert_int_equal(web_at("n1"), 0);
    struct maar_record *other = runs("large", "web", "n1");
    set_amount(other, &other->pod.containers[0].requests, "cpu", 4000);
    take(world, other);
    assert_int_equal(web_at("n1"), 1);
    take(world, runs("large", "db", "n1")); /* another class takes its place on the node */
    assert_int_equal(web_at("n1"), 0);
    take_end(world, runs("large", "db", "n1"));
    assert_int_equal(web_at("n1"), 0);
}

static void only_affine_kind_has_no_tally_while_nobody_weighs(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    assert_null(ask(&affine_kind, "web", 0, "zone"));
    take(world, is_affine(runs("w2", "web", "n1")));
    assert_int_equal(at(ask(&affine_kind, "web", 0, "zone"), "n1"), 1);
    assert_null(ask(&affine_kind, "db", 0, "zone"));
    assert_null(ask(&affine_kind, "web", 0, "")); /* weighs nothing by that key */
    take_end(world, runs("w2", "web", "n1"));
    assert_null(ask(&affine_kind, "web", 0, "zone"));
}

static void affinity_keys_are_those_of_live_terms(void **state)
{
    (void)state;
    maar_world_prepare(world);
    assert_int_equal(world->affinity_keys.n, 0);
    take(world, is_affine(of_app("p", "web")));
    take(world, is_affine(of_app("q", "db")));
    maar_world_prepare(world);
    assert_int_equal(world->affinity_keys.n, 1);
    assert_string_equal(world->affinity_keys.data[0], "zone");
    take_end(world, of_app("p", "web"));
    take_end(world, of_app("q", "db"));
    maar_world_prepare(world);
    assert_int_equal(world->affinity_keys.n, 0);
}

static void labels_of_a_namespace_change_what_pods_weigh(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    assert_int_equal(at(ask(&team_kind, "web", 0, "zone"), "n1"), 0);
    struct maar_record *space = make_record(MAAR_KIND_NAMESPACE, "", "ns");
    set_labels(space, &space->space.n_labels, &space->space.labels, "team", "blue");
    take(world, space);
    assert_int_equal(at(ask(&team_kind, "web", 0, "zone"), "n1"), -2);
    move("web", MAAR_TASK_ALLOCATED, "n2");
    assert_int_equal(at(ask(&team_kind, "web", 0, "zone"), "n1"), -4);
    take_end(world, make_record(MAAR_KIND_NAMESPACE, "", "ns"));
    assert_int_equal(at(ask(&team_kind, "web", 0, "zone"), "n1"), 0);
}

static int64_t weigh_tier(const struct maar_class *owner, uint32_t part, const char *key,
                          const struct maar_class *other)
{
    (void)owner;
    (void)part;
    (void)key;
    return !strcmp(label_of(other->labels, other->n_labels, "tier"), "x");
}

static void key_that_is_projected_later_splits_what_is_counted(void **state)
{
    (void)state;
    static const struct maar_tally_kind tier_kind = {.name = "tier", .weigh = weigh_tier};
    for (int i = 0; i < 4; i++) {
        maar_autofree char *name = maar_asprintf("w%d", i);
        struct maar_record *record = runs(name, "web", "n1");
        set_labels(record, &record->pod.n_labels, &record->pod.labels, "tier", i < 3 ? "x" : "y");
        take(world, record);
    }
    assert_int_equal(web_at("n1"), 4);
    assert_int_equal(at(ask(&tier_kind, "web", 0, "zone"), "n1"), 0); /* not to be seen */
    maar_world_project_label(world, "tier");
    assert_int_equal(web_at("n1"), 4);
    assert_int_equal(at(ask(&tier_kind, "web", 0, "zone"), "n1"), 3);
}

/* ---- memory ---- */

static void least_used_sums_go_when_memory_is_short(void **state)
{
    (void)state;
    enum { NODES = 4096, PARTS = 1600 };
    for (int i = 0; i < NODES; i++) {
        maar_autofree char *name = maar_asprintf("x%d", i);
        take(world, make_node(name, 1000, GI));
    }
    take(world, runs("w1", "web", "n1"));
    for (uint32_t part = 0; part < PARTS; part++)
        ask(&app_kind, "web", part, "");
    ask(&app_kind, "web", 0, ""); /* part 1 is the oldest now */
    assert_true(world->tally_bytes > 64u << 20);
    maar_world_prepare(world);
    size_t kept = world->tally_bytes;
    assert_true(kept <= 64u << 20);
    assert_true(kept > 63u << 20);
    assert_int_equal(at(ask(&app_kind, "web", 0, ""), "n1"), 1);
    assert_int_equal(world->tally_bytes, kept);
    take(world, runs("w2", "web", "n1")); /* while the sums of part 1 are not there */
    assert_int_equal(at(ask(&app_kind, "web", 1, ""), "n1"), 6);
    assert_true(world->tally_bytes > kept);
}

/* ---- the check itself ---- */

#define DAMAGE(expression)                                                                         \
    do {                                                                                           \
        (expression)++;                                                                            \
        struct maar_text text = MAAR_TEXT_INIT;                                                    \
        if (maar_world_check(world, &text) == 0)                                                   \
            fail_msg("%s is off by one and nobody sees it", #expression);                          \
        maar_text_fini(&text);                                                                     \
        (expression)--;                                                                            \
        assert_balanced(world);                                                                    \
    } while (0)

static void recount_finds_a_tally_that_is_off_by_one(void **state)
{
    (void)state;
    take(world, runs("w1", "web", "n1"));
    struct maar_tally *tally = (struct maar_tally *)(uintptr_t)ask(&open_kind, "web", 0, "zone");
    DAMAGE(((int64_t *)(uintptr_t)tally->sums)[0]);
    DAMAGE(((int64_t *)(uintptr_t)tally->sums)[1]);
    DAMAGE(((uint32_t *)(uintptr_t)tally->n_nodes)[0]);
    DAMAGE(tally->total);
    DAMAGE(tally->least);
    DAMAGE(tally->n_domains);
    /* A pod that is counted by the weight of another class. */
    struct maar_class_entry *cls = maar_class_entry(pod(world, "w1")->cls);
    assert_int_equal(cls->tally_uses.n, 1);
    cls->tally_uses.data[0].weight = 5;
    move("web", MAAR_TASK_ALLOCATED, "n1");
    struct maar_text text = MAAR_TEXT_INIT;
    assert_true(maar_world_check(world, &text) > 0);
    assert_non_null(strstr(maar_text_get(&text), "app on open nodes"));
    maar_text_fini(&text);
    move("web", MAAR_TASK_PENDING, NULL);
}

/* ---- at random ---- */

static uint32_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 12) % n;
}

static const char *pick(const char *const *from, size_t n)
{
    return from[below((uint32_t)n)];
}
#define PICK(array) pick(array, COUNT(array))

static const char *const pods[] = {"web", "db", "p0", "p1", "p2", "p3", "p4",
                                   "p5",  "p6", "p7", "p8", "p9", "pa", "pb"};
static const char *const nodes[] = {"n1", "n2", "n3", "n4", "n5", "n6"};
static const char *const apps[] = {"", "cache", "db", "web"};
static const char *const zones[] = {"", "a", "b", "c"};
static const char *const keys[] = {"", "zone", "rack"};
static const char *const spaces[] = {"ns", "other"};
static const char *const later_keys[] = {"k0", "k1", "k2", "k3"};

static bool counts_here(const struct maar_tally_kind *kind, const struct maar_task *task)
{
    if (task->status != MAAR_TASK_RELEASING)
        return true;
    return kind->counts_leaving && maar_task_entry(task)->observed_deleting;
}

/* What the tally must say of the domain of `slot`, from the nodes and what is on them. */
static int64_t count(const struct maar_tally_kind *kind, const struct maar_class *owner,
                     uint32_t part, const char *key, uint32_t slot)
{
    const struct maar_nodes *all = &world->nodes;
    const char *value = label_of(all->facts[slot].labels, all->facts[slot].n_labels, key);
    int64_t sum = 0;
    for (uint32_t n = 0; n < all->n_slots; n++) {
        if (!maar_node_is_live(all, n) ||
            (kind->takes_part && !kind->takes_part(owner, part, &all->facts[n])))
            continue;
        if (*key ? strcmp(label_of(all->facts[n].labels, all->facts[n].n_labels, key), value) != 0
                 : n != slot)
            continue;
        for (uint32_t i = 0; i < all->n_tasks[n]; i++)
            if (counts_here(kind, all->tasks[n][i]))
                sum += kind->weigh(owner, part, key, all->tasks[n][i]->cls);
    }
    return sum;
}

static void ask_at_random(void)
{
    const struct maar_tally_kind *kind = kinds[below(COUNT(kinds))];
    uint32_t part = below(2);
    const char *key = PICK(keys);
    maar_autofree char *uid = maar_asprintf("Pod %s", PICK(pods));
    const struct maar_task_entry *owner = maar_world_task(world, uid);
    if (!owner)
        return;
    const struct maar_tally *tally = maar_world_tally(world, kind, owner->view.cls, part, key);
    int64_t total = 0, least = INT64_MAX;
    uint32_t n_domains = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
        const struct maar_node_facts *facts = &world->nodes.facts[slot];
        bool live = maar_node_is_live(&world->nodes, slot);
        bool has = live && (!*key || *label_of(facts->labels, facts->n_labels, key));
        if (!tally) {
            assert_true(kind->only_affine);
            assert_true(!has || count(kind, owner->view.cls, part, key, slot) == 0);
            continue;
        }
        uint32_t domain = tally->topology->domain[slot];
        assert_int_equal(domain != MAAR_NO_DOMAIN, has);
        if (!has)
            continue;
        int64_t want = count(kind, owner->view.cls, part, key, slot);
        assert_int_equal(tally->sums[domain], want);
        bool first = true; /* of its domain, among those that count */
        for (uint32_t n = 0; n < slot; n++)
            first &= tally->topology->domain[n] != domain ||
                     (kind->takes_part &&
                      !kind->takes_part(owner->view.cls, part, &world->nodes.facts[n]));
        if (!first || (kind->takes_part && !kind->takes_part(owner->view.cls, part, facts)))
            continue;
        n_domains++;
        total += want;
        least = want < least ? want : least;
    }
    if (!tally)
        return;
    assert_int_equal(tally->total, total);
    assert_int_equal(tally->n_domains, n_domains);
    assert_int_equal(tally->least, n_domains ? least : 0);
}

static void change_pod(void)
{
    struct maar_record *record = of_app(PICK(pods), PICK(apps));
    record->ns = below(4) ? "ns" : "other";
    if (below(3) == 0)
        set_labels(record, &record->pod.n_labels, &record->pod.labels, PICK(later_keys), "1");
    if (below(4) == 0)
        set_amount(record, &record->pod.containers[0].requests, "cpu", 500 * (int64_t)below(4));
    if (below(5) == 0)
        is_affine(record);
    if (below(4)) {
        on_node(record, PICK(nodes), below(6) ? MAAR_POD_RUNNING : MAAR_POD_FAILED);
        record->pod.deleting = below(4) == 0;
    }
    if (below(6) == 0)
        take_end(world, record);
    else
        take(world, record);
}

static void change_node(void)
{
    struct maar_record *record = make_node(PICK(nodes), 64000, 256 * GI);
    const char *rack = PICK(zones), *zone = PICK(zones);
    if (*rack)
        set_labels(record, &record->node.n_labels, &record->node.labels, "rack", rack);
    if (*zone)
        set_labels(record, &record->node.n_labels, &record->node.labels, "zone", zone);
    record->node.unschedulable = below(3) == 0;
    if (below(4) == 0)
        take_end(world, record);
    else
        take(world, record);
}

static void change_space(void)
{
    struct maar_record *record = make_record(MAAR_KIND_NAMESPACE, "", PICK(spaces));
    set_labels(record, &record->space.n_labels, &record->space.labels, "team",
               below(2) ? "blue" : "red");
    if (below(4) == 0)
        take_end(world, record);
    else
        take(world, record);
}

static void move_one(void)
{
    maar_autofree char *uid = maar_asprintf("Pod %s", PICK(pods));
    uint32_t node = maar_world_node(world, PICK(nodes));
    struct maar_task_entry *task = maar_world_task(world, uid);
    if (!task || task->reserved)
        return;
    if (task->view.status == MAAR_TASK_RUNNING && task->view.node != MAAR_NO_NODE)
        maar_world_move(world, &task->view, MAAR_TASK_RELEASING, task->view.node);
    else if (task->view.status == MAAR_TASK_PENDING && node != MAAR_NO_NODE)
        maar_world_move(world, &task->view, below(3) ? MAAR_TASK_ALLOCATED : MAAR_TASK_PIPELINED,
                        node);
    else if (task->view.status == MAAR_TASK_ALLOCATED || task->view.status == MAAR_TASK_PIPELINED)
        maar_world_move(world, &task->view, MAAR_TASK_PENDING, MAAR_NO_NODE);
}

/* A session: plans, kept or discarded in part, in the end all undone. */
static void run_session(void)
{
    maar_world_prepare(world);
    world->undo = &undo;
    for (uint32_t i = below(6); i > 0; i--) {
        size_t mark = undo.entries.n;
        for (uint32_t k = below(5); k > 0; k--) {
            move_one();
            if (below(3) == 0)
                ask_at_random();
        }
        if (below(2))
            maar_world_rewind(world, mark);
        ask_at_random();
    }
    maar_world_rewind(world, 0);
    world->undo = NULL;
}

static void reserve_or_release(void)
{
    maar_autofree char *uid = maar_asprintf("Pod %s", PICK(pods));
    uint32_t node = maar_world_node(world, PICK(nodes));
    struct maar_task_entry *task = maar_world_task(world, uid);
    if (task && task->reserved)
        maar_world_release(world, &task->view);
    else if (task && task->job && task->view.status == MAAR_TASK_PENDING && node != MAAR_NO_NODE)
        maar_world_reserve(world, &task->view, node, &task->job->view, INT64_MAX);
}

static void tally_holds_through_whatever_happens(void **state)
{
    (void)state;
    random_state = 20260101;
    for (size_t step = 0; step < 20000; step++) {
        if (step % 4000 == 3999)
            maar_world_project_label(world, later_keys[step / 4000 % COUNT(later_keys)]);
        uint32_t what = below(40);
        if (what < 12)
            change_pod();
        else if (what < 15)
            change_node();
        else if (what < 16)
            change_space();
        else if (what < 22)
            run_session();
        else if (what < 24)
            reserve_or_release();
        else if (what < 26)
            move_one(); /* for good: a binding that was sent */
        else
            ask_at_random();
        if (step % 20 == 0)
            assert_balanced(world);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tally_sums_by_domain_whatever_is_on_the_nodes),
        TEST(tally_by_no_key_has_a_domain_for_each_node),
        TEST(tally_follows_each_move_and_its_undo),
        TEST(tally_of_a_session_survives_its_discard),
        TEST(pod_that_is_deleted_counts_where_leaving_ones_do),
        TEST(pod_that_has_finished_counts_nowhere),
        TEST(pod_that_the_session_evicts_counts_nowhere),
        TEST(tally_follows_nodes_that_come_change_and_go),
        TEST(tally_leaves_out_nodes_that_take_no_part),
        TEST(tally_goes_with_the_class_that_asked_for_it),
        TEST(class_that_comes_later_is_weighed),
        TEST(only_affine_kind_has_no_tally_while_nobody_weighs),
        TEST(affinity_keys_are_those_of_live_terms),
        TEST(labels_of_a_namespace_change_what_pods_weigh),
        TEST(key_that_is_projected_later_splits_what_is_counted),
        TEST(least_used_sums_go_when_memory_is_short),
        TEST(recount_finds_a_tally_that_is_off_by_one),
        TEST(tally_holds_through_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
