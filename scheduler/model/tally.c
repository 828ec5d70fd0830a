/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Pods by domain: for a class that must know where certain other pods are (pod affinity, topology spread), the sum of
 * what these weigh, a domain. Which classes weigh something is found out once a pair of classes; then each move in the
 * ledger adds to the few sums that its class is part of. A tally is computed from scratch when it is asked for the
 * first time, and again after facts of nodes changed. */

#include "base/bitset.h"
#include "model/parts.h"

#define BYTES_MAX (64u << 20)

struct maar_topology_entry {
    struct maar_topology view;
    uint32_t *domain;
    uint32_t n_slots;
    uint64_t facts_version; /* 0: never computed */
};

struct maar_tally_entry {
    struct maar_tally view; /* first: a view pointer is an entry pointer */
    const struct maar_tally_kind *kind;
    struct maar_class_entry *owner;
    struct maar_topology_entry *topology;
    uint32_t part;
    size_t at;     /* in world->tallies */
    size_t n_uses; /* classes that weigh something */
    int64_t *sums; /* NULL: not computed yet */
    uint32_t *n_nodes;
    uint64_t *takes_part;   /* bitset over node slots; NULL: every node that has the key */
    uint64_t facts_version; /* of the computation */
    bool least_stale;
    size_t n_bytes;
    uint64_t last_used;
};

void maar_tallies_init(struct maar_world *world)
{
    world->topologies = maar_map_create();
    world->facts_version = 1;
}

/* ---- topologies ------------------------------------------------------------------------------------------------ */

static const char *label_of(const struct maar_node_facts *node, const char *key)
{
    for (uint32_t i = 0; i < node->n_labels; i++)
        if (node->labels[i].key == key)
            return node->labels[i].value;
    return NULL;
}

static void compute_topology(const struct maar_world *world, struct maar_topology_entry *topology)
{
    uint32_t n = world->nodes.n_slots;
    topology->domain = maar_realloc(topology->domain, n ? n : 1, sizeof *topology->domain);
    topology->n_slots = n;
    topology->view.domain = topology->domain;
    topology->view.n_domains = *topology->view.key ? 0 : n;
    struct maar_map *values = maar_map_create();
    for (uint32_t slot = 0; slot < n; slot++) {
        topology->domain[slot] = MAAR_NO_DOMAIN;
        if (!maar_bit_get(world->node_live, slot))
            continue;
        if (!*topology->view.key) {
            topology->domain[slot] = slot;
            continue;
        }
        const char *value = label_of(&world->node_facts[slot], topology->view.key);
        if (!value)
            continue;
        /* Interned: equal text, equal pointer. */
        uintptr_t known = (uintptr_t)maar_map_find_int(values, (uint64_t)(uintptr_t)value);
        if (!known) {
            known = ++topology->view.n_domains;
            maar_map_set_int(values, (uint64_t)(uintptr_t)value, (void *)known);
        }
        topology->domain[slot] = (uint32_t)known - 1;
    }
    maar_map_destroy(values);
    topology->facts_version = world->facts_version;
}

static struct maar_topology_entry *get_topology(struct maar_world *world, const char *key)
{
    struct maar_topology_entry *topology = maar_map_find(world->topologies, key);
    if (!topology) {
        topology = maar_calloc(1, sizeof *topology);
        topology->view.key = maar_world_intern(world, key);
        maar_map_set(world->topologies, key, topology);
    }
    if (topology->facts_version != world->facts_version)
        compute_topology(world, topology);
    return topology;
}

/* ---- computing a tally ----------------------------------------------------------------------------------------- */

static int64_t weigh(const struct maar_tally_entry *tally, const struct maar_class_entry *cls)
{
    if (tally->kind->only_affine && !cls->is_affine)
        return 0;
    return tally->kind->weigh(&tally->owner->view, tally->part, tally->topology->view.key,
                              &cls->view);
}

static bool counts(const struct maar_tally_entry *tally, enum maar_tallied how)
{
    return how == MAAR_TALLIED || (how == MAAR_TALLIED_LEAVING && tally->kind->counts_leaving);
}

/* The weight of each class, by class slot; the caller frees. */
static int64_t *weights_of(const struct maar_world *world, const struct maar_tally_entry *tally)
{
    int64_t *weights =
        maar_calloc(world->class_slots.n ? world->class_slots.n : 1, sizeof *weights);
    for (size_t i = 0; i < world->class_slots.n; i++) {
        const struct maar_class_entry *cls = world->class_slots.data[i];
        for (size_t k = 0; cls && k < cls->tally_uses.n; k++)
            if (cls->tally_uses.data[k].tally == tally)
                weights[i] = cls->tally_uses.data[k].weight;
    }
    return weights;
}

static int64_t weight_on(const struct maar_world *world, const struct maar_tally_entry *tally,
                         const int64_t *weights, uint32_t slot)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < world->node_n_tasks[slot]; i++) {
        const struct maar_task *task = world->node_tasks[slot][i];
        if (counts(tally, (enum maar_tallied)maar_task_entry(task)->tallied))
            sum += weights[task->cls->slot];
    }
    return sum;
}

static void free_columns(struct maar_world *world, struct maar_tally_entry *tally)
{
    world->tally_bytes -= tally->n_bytes;
    tally->n_bytes = 0;
    free(tally->sums);
    free(tally->n_nodes);
    free(tally->takes_part);
    tally->sums = NULL;
    tally->n_nodes = NULL;
    tally->takes_part = NULL;
}

static void allocate_columns(struct maar_world *world, struct maar_tally_entry *tally)
{
    free_columns(world, tally);
    size_t n = tally->topology->view.n_domains ? tally->topology->view.n_domains : 1;
    size_t n_words = MAAR_BITSET_WORDS(tally->topology->n_slots);
    tally->sums = maar_calloc(n, sizeof *tally->sums);
    tally->n_nodes = maar_calloc(n, sizeof *tally->n_nodes);
    tally->n_bytes = n * (sizeof *tally->sums + sizeof *tally->n_nodes);
    if (tally->kind->takes_part) {
        tally->takes_part = maar_calloc(n_words ? n_words : 1, sizeof *tally->takes_part);
        tally->n_bytes += n_words * sizeof *tally->takes_part;
    }
    world->tally_bytes += tally->n_bytes;
}

/* The domain in which the node's pods count, MAAR_NO_DOMAIN: in none. */
static uint32_t domain_of(const struct maar_tally_entry *tally, uint32_t slot)
{
    if (tally->takes_part && !maar_bit_get(tally->takes_part, slot))
        return MAAR_NO_DOMAIN;
    return tally->topology->domain[slot];
}

static void compute(struct maar_world *world, struct maar_tally_entry *tally)
{
    allocate_columns(world, tally);
    tally->view = (struct maar_tally){
        .topology = &tally->topology->view, .sums = tally->sums, .n_nodes = tally->n_nodes};
    int64_t *weights = tally->n_uses > 0 ? weights_of(world, tally) : NULL;
    for (uint32_t slot = 0; slot < tally->topology->n_slots; slot++) {
        if (!maar_bit_get(world->node_live, slot))
            continue;
        if (tally->takes_part &&
            tally->kind->takes_part(&tally->owner->view, tally->part, &world->node_facts[slot]))
            maar_bit_set(tally->takes_part, slot);
        uint32_t domain = domain_of(tally, slot);
        if (domain == MAAR_NO_DOMAIN)
            continue;
        tally->view.n_domains += tally->n_nodes[domain]++ == 0;
        int64_t sum = weights ? weight_on(world, tally, weights, slot) : 0;
        tally->sums[domain] += sum;
        tally->view.total += sum;
    }
    free(weights);
    tally->least_stale = true;
    tally->facts_version = world->facts_version;
}

static void find_least(struct maar_tally_entry *tally)
{
    bool found = false;
    tally->view.least = 0;
    for (uint32_t d = 0; d < tally->topology->view.n_domains; d++) {
        if (tally->n_nodes[d] == 0 || (found && tally->sums[d] >= tally->view.least))
            continue;
        tally->view.least = tally->sums[d];
        found = true;
    }
    tally->least_stale = false;
}

/* ---- the set of tallies ---------------------------------------------------------------------------------------- */

static void use(struct maar_tally_entry *tally, struct maar_class_entry *cls)
{
    int64_t weight = weigh(tally, cls);
    if (weight == 0)
        return;
    struct maar_tally_use entry = {tally, weight};
    maar_vec_push(&cls->tally_uses, entry);
    tally->n_uses++;
}

static struct maar_tally_entry *create(struct maar_world *world, const struct maar_tally_kind *kind,
                                       struct maar_class_entry *owner, uint32_t part,
                                       const char *key)
{
    struct maar_tally_entry *tally = maar_calloc(1, sizeof *tally);
    tally->kind = kind;
    tally->owner = owner;
    tally->part = part;
    tally->topology = get_topology(world, key);
    tally->at = world->tallies.n;
    maar_vec_push(&world->tallies, tally);
    maar_vec_push(&owner->tallies, tally);
    if (kind->only_affine) {
        for (size_t i = 0; i < world->affine_classes.n; i++)
            use(tally, world->affine_classes.data[i]);
        return tally;
    }
    for (size_t i = 0; i < world->class_slots.n; i++)
        if (world->class_slots.data[i])
            use(tally, world->class_slots.data[i]);
    return tally;
}

/* The caller takes it off its owner's list. */
static void destroy(struct maar_world *world, struct maar_tally_entry *tally)
{
    for (size_t i = 0; tally->n_uses > 0 && i < world->class_slots.n; i++) {
        struct maar_class_entry *cls = world->class_slots.data[i];
        for (size_t k = cls ? cls->tally_uses.n : 0; k-- > 0;) {
            if (cls->tally_uses.data[k].tally != tally)
                continue;
            maar_vec_remove(&cls->tally_uses, k);
            tally->n_uses--;
        }
    }
    struct maar_tally_entry *last = world->tallies.data[--world->tallies.n];
    world->tallies.data[tally->at] = last;
    last->at = tally->at;
    free_columns(world, tally);
    free(tally);
}

static void drop_last_of(struct maar_world *world, struct maar_class_entry *owner)
{
    destroy(world, owner->tallies.data[--owner->tallies.n]);
}

void maar_tallies_drop(struct maar_world *world)
{
    for (size_t i = 0; i < world->class_slots.n; i++)
        if (world->class_slots.data[i])
            maar_vec_clear(&world->class_slots.data[i]->tally_uses);
    while (world->tallies.n > 0) {
        struct maar_tally_entry *tally = world->tallies.data[world->tallies.n - 1];
        tally->n_uses = 0;
        drop_last_of(world, tally->owner);
    }
}

void maar_tallies_add_class(struct maar_world *world, struct maar_class_entry *cls)
{
    cls->is_affine = maar_spec_has_pod_affinity(cls->view.spec);
    if (cls->is_affine) {
        maar_vec_push(&world->affine_classes, cls);
        world->affinity_keys_stale = true;
    }
    for (size_t i = 0; i < world->tallies.n; i++)
        use(world->tallies.data[i], cls);
}

void maar_tallies_remove_class(struct maar_world *world, struct maar_class_entry *cls)
{
    for (size_t i = 0; i < cls->tally_uses.n; i++)
        cls->tally_uses.data[i].tally->n_uses--;
    maar_vec_fini(&cls->tally_uses);
    while (cls->tallies.n > 0)
        drop_last_of(world, cls);
    maar_vec_fini(&cls->tallies);
    if (!cls->is_affine)
        return;
    for (size_t i = 0; i < world->affine_classes.n; i++) {
        if (world->affine_classes.data[i] == cls) {
            world->affine_classes.data[i] = world->affine_classes.data[--world->affine_classes.n];
            break;
        }
    }
    world->affinity_keys_stale = true;
}

void maar_tallies_fini(struct maar_world *world)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(world->topologies, &at, NULL, NULL, &value)) {
        struct maar_topology_entry *topology = value;
        maar_world_unintern(world, topology->view.key);
        free(topology->domain);
        free(topology);
    }
    maar_map_destroy(world->topologies);
    maar_vec_fini(&world->tallies);
    maar_vec_fini(&world->affine_classes);
    maar_vec_fini(&world->affinity_keys);
}

/* ---- before a session ------------------------------------------------------------------------------------------ */

static void add_keys(struct maar_world *world, const struct maar_affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        const char *key = terms->terms[i].topology_key;
        bool known = !*key; /* the term of a pod with a fault */
        for (size_t k = 0; k < world->affinity_keys.n && !known; k++)
            known = world->affinity_keys.data[k] == key;
        if (!known)
            maar_vec_push(&world->affinity_keys, key);
    }
}

static void find_keys(struct maar_world *world)
{
    maar_vec_clear(&world->affinity_keys);
    for (size_t i = 0; i < world->affine_classes.n; i++) {
        const struct maar_pod_spec *spec = world->affine_classes.data[i]->view.spec;
        add_keys(world, &spec->pod_affinity_required);
        add_keys(world, &spec->pod_affinity_preferred);
        add_keys(world, &spec->pod_anti_affinity_required);
        add_keys(world, &spec->pod_anti_affinity_preferred);
    }
    world->affinity_keys_stale = false;
}

static struct maar_tally_entry *find_oldest(const struct maar_world *world)
{
    struct maar_tally_entry *oldest = NULL;
    for (size_t i = 0; i < world->tallies.n; i++) {
        struct maar_tally_entry *tally = world->tallies.data[i];
        if (tally->sums && (!oldest || tally->last_used < oldest->last_used))
            oldest = tally;
    }
    return oldest;
}

void maar_tallies_prepare(struct maar_world *world)
{
    if (world->affinity_keys_stale)
        find_keys(world);
    /* The columns go, who weighs something is kept. */
    while (world->tally_bytes > BYTES_MAX) {
        struct maar_tally_entry *oldest = find_oldest(world);
        if (!oldest)
            break;
        free_columns(world, oldest);
        oldest->facts_version = 0;
    }
}

/* ---- counting -------------------------------------------------------------------------------------------------- */

static enum maar_tallied how_tallied(const struct maar_task_entry *task)
{
    if (task->view.node == MAAR_NO_NODE)
        return MAAR_TALLIED_NOT;
    if (task->view.status != MAAR_TASK_RELEASING)
        return MAAR_TALLIED;
    return task->observed_deleting || task->evict_requested ? MAAR_TALLIED_LEAVING
                                                            : MAAR_TALLIED_NOT;
}

void maar_tallies_count(struct maar_world *world, struct maar_task_entry *task, int sign)
{
    /* What was counted is taken out, whatever the pod has become since. */
    if (sign > 0)
        task->tallied = (uint8_t)how_tallied(task);
    enum maar_tallied how = (enum maar_tallied)task->tallied;
    if (sign < 0)
        task->tallied = MAAR_TALLIED_NOT;
    const struct maar_class_entry *cls = maar_class_entry(task->view.cls);
    for (size_t i = 0; i < cls->tally_uses.n; i++) {
        struct maar_tally_entry *tally = cls->tally_uses.data[i].tally;
        /* One that is out of date is computed before it is asked. */
        if (tally->facts_version != world->facts_version || !counts(tally, how))
            continue;
        uint32_t domain = domain_of(tally, task->view.node);
        if (domain == MAAR_NO_DOMAIN)
            continue;
        int64_t change = sign * cls->tally_uses.data[i].weight;
        tally->sums[domain] += change;
        tally->view.total += change;
        tally->least_stale = true;
    }
}

void maar_tallies_recount(struct maar_world *world, struct maar_task_entry *task)
{
    if (task->tallied == (uint8_t)how_tallied(task))
        return;
    maar_tallies_count(world, task, -1);
    maar_tallies_count(world, task, 1);
}

/* ---- answering ------------------------------------------------------------------------------------------------- */

static struct maar_tally_entry *find(const struct maar_class_entry *owner,
                                     const struct maar_tally_kind *kind, uint32_t part,
                                     const char *key)
{
    for (size_t i = 0; i < owner->tallies.n; i++) {
        struct maar_tally_entry *tally = owner->tallies.data[i];
        const char *own = tally->topology->view.key;
        if (tally->kind == kind && tally->part == part && (own == key || !strcmp(own, key)))
            return tally;
    }
    return NULL;
}

const struct maar_tally *maar_world_tally(struct maar_world *world,
                                          const struct maar_tally_kind *kind,
                                          const struct maar_class *owner, uint32_t part,
                                          const char *key)
{
    struct maar_class_entry *cls = maar_class_entry(owner);
    struct maar_tally_entry *tally = find(cls, kind, part, key);
    if (!tally)
        tally = create(world, kind, cls, part, key);
    if (kind->only_affine && tally->n_uses == 0)
        return NULL;
    tally->last_used = ++world->tally_clock;
    if (tally->facts_version != world->facts_version) {
        get_topology(world, key);
        compute(world, tally);
    }
    if (tally->least_stale)
        find_least(tally);
    return &tally->view;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

struct tally_recount {
    const struct maar_tally_entry *tally;
    struct maar_text *out;
    size_t n;
};

static void expect(struct tally_recount *recount, const char *what, uint32_t domain, int64_t kept,
                   int64_t counted)
{
    if (kept == counted)
        return;
    recount->n++;
    maar_text_addf(recount->out, "tally %s by \"%s\", %s", recount->tally->kind->name,
                   recount->tally->topology->view.key, what);
    if (domain != MAAR_NO_DOMAIN)
        maar_text_addf(recount->out, " of domain %u", domain);
    maar_text_addf(recount->out, ": kept %lld, recount %lld\n", (long long)kept,
                   (long long)counted);
}

static void check_tally(struct tally_recount *recount, const struct maar_world *world)
{
    const struct maar_tally_entry *tally = recount->tally;
    uint32_t n_topology = tally->topology->view.n_domains;
    int64_t *weights = maar_calloc(world->class_slots.n + 1, sizeof *weights);
    for (size_t i = 0; i < world->class_slots.n; i++)
        if (world->class_slots.data[i])
            weights[i] = weigh(tally, world->class_slots.data[i]);
    int64_t *sums = maar_calloc(n_topology + 1, sizeof *sums);
    uint32_t *n_nodes = maar_calloc(n_topology + 1, sizeof *n_nodes);
    for (uint32_t slot = 0; slot < tally->topology->n_slots; slot++) {
        uint32_t domain = tally->topology->domain[slot];
        if (domain == MAAR_NO_DOMAIN ||
            (tally->kind->takes_part &&
             !tally->kind->takes_part(&tally->owner->view, tally->part, &world->node_facts[slot])))
            continue;
        sums[domain] += weight_on(world, tally, weights, slot);
        n_nodes[domain]++;
    }
    int64_t total = 0, least = 0;
    uint32_t n_domains = 0;
    for (uint32_t d = 0; d < n_topology; d++) {
        total += sums[d];
        if (n_nodes[d] > 0 && (n_domains++ == 0 || sums[d] < least))
            least = sums[d];
        expect(recount, "sum", d, tally->sums[d], sums[d]);
        expect(recount, "nodes", d, tally->n_nodes[d], n_nodes[d]);
    }
    expect(recount, "total", MAAR_NO_DOMAIN, tally->view.total, total);
    expect(recount, "domains", MAAR_NO_DOMAIN, tally->view.n_domains, n_domains);
    if (!tally->least_stale)
        expect(recount, "least", MAAR_NO_DOMAIN, tally->view.least, least);
    free(n_nodes);
    free(sums);
    free(weights);
}

size_t maar_tallies_check(const struct maar_world *world, struct maar_text *out)
{
    struct tally_recount recount = {.out = out};
    for (size_t i = 0; i < world->tallies.n; i++) {
        recount.tally = world->tallies.data[i];
        if (recount.tally->facts_version == world->facts_version)
            check_tally(&recount, world);
    }
    return recount.n;
}
