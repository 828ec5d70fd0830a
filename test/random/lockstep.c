/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Three engines over one cluster. Their writes must be the same, text by text; those of the first one change the
 * cluster. After every session the promises of a decision are checked against the cluster, not the engine's word. */

#include "lockstep.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "model/world.h"
#include "neighbours.h"

/* Whether a status may still be on its way when the next session runs. */
#define STATUS_DELAYS false

enum { LEADER, REFERENCE, SHUFFLED, N_SIDES };
static const char *const side_names[] = {"the engine", "the plain path", "the shuffled one",
                                         "the restarted one"};

/* A write that was submitted and is not answered. */
struct pending {
    struct maar_write *write;
    char *text;   /* the whole write */
    uint32_t due; /* turn of its answer; of the leader only */
};

struct side {
    struct maar_engine *engine;
    int64_t *now_ns;
    struct maar_deltas inbox;
    MAAR_VEC(struct pending) pending;
    size_t n_fresh;      /* at the end of pending: submitted in this turn */
    struct rng *shuffle; /* NULL: in order */
    struct maar_turn turn;
};

struct run {
    struct life *life;
    const struct maar_registry *registry;
    const struct cut *cut;
    struct cluster cluster;
    struct plan plan;      /* of the last session */
    struct plan next_plan; /* text NULL: none */
    struct rng rng;        /* answers and shuffles */
    struct side sides[N_SIDES];
    uint32_t n_turns;
    bool loose; /* the plain path gives reasons of its own: bindings alone are compared with it */
    uint32_t bind_failures; /* in percent */
    bool
        incomplete; /* some binding was refused: what it left incomplete goes first until it is whole */
    bool refused; /* some write was, since the last rest: the engines remember it */
    bool create_queues;
};

__attribute__((format(printf, 3, 4))) static void fail(struct run *run, const char *rule,
                                                       const char *format, ...)
{
    struct failure *failure = &run->life->failure;
    if (*failure->rule)
        return;
    snprintf(failure->rule, sizeof failure->rule, "%s", rule);
    maar_text_addf(&failure->text, "turn %u: ", run->n_turns);
    va_list args;
    va_start(args, format);
    maar_text_addv(&failure->text, format, args);
    va_end(args);
    maar_text_add_char(&failure->text, '\n');
}

static bool failed(const struct run *run)
{
    return *run->life->failure.rule != '\0';
}

static struct maar_text *told(struct run *run)
{
    return run->life->story ? &run->life->told : NULL;
}

/* ---- the backend ---- */

static char *write_text(const struct maar_write *write)
{
    struct maar_text text = MAAR_TEXT_INIT;
    maar_text_addf(&text, "%s %s/%s", maar_write_kind_name(write->kind), write->ns, write->name);
    switch (write->kind) {
    case MAAR_WRITE_BIND:
        maar_text_addf(&text, " to %s", write->bind.node);
        break;
    case MAAR_WRITE_EVICT:
        maar_text_addf(&text, " because of %s", write->evict.reason);
        break;
    case MAAR_WRITE_POD_GROUP_STATUS:
        maar_text_addf(&text, " phase %d running %d succeeded %d failed %d",
                       (int)write->pod_group_status.phase, write->pod_group_status.running,
                       write->pod_group_status.succeeded, write->pod_group_status.failed);
        if (write->pod_group_status.has_condition)
            maar_text_addf(&text, " %s: %s: %s", write->pod_group_status.condition.type,
                           write->pod_group_status.condition.reason,
                           write->pod_group_status.condition.message);
        break;
    case MAAR_WRITE_POD_CONDITION:
        maar_text_addf(&text, " %s: %s", write->pod_condition.condition.reason,
                       write->pod_condition.condition.message);
        break;
    case MAAR_WRITE_QUEUE_STATUS:
        /* Dimensions are numbered as they come. */
        for (uint32_t i = 0; i < N_AMOUNTS; i++)
            for (uint32_t k = 0; k < write->queue_status.allocated.n; k++)
                if (!strcmp(write->queue_status.allocated.items[k].name, amount_names[i]))
                    maar_text_addf(&text, " %s %lld", amount_names[i],
                                   (long long)write->queue_status.allocated.items[k].value);
        break;
    case MAAR_WRITE_UNGATE:
        break;
    case MAAR_WRITE_QUEUE_CREATE:
        maar_text_addf(&text, " weight %d", write->queue_create.weight);
        break;
    case MAAR_WRITE_EVENT:
        maar_text_addf(&text, " %s %s: %s", write->event.type, write->event.reason,
                       write->event.message);
        break;
    case MAAR_N_WRITE_KINDS:
        break;
    }
    return maar_text_steal(&text);
}

static int backend_start(void *self, struct maar_error *err)
{
    (void)self;
    (void)err;
    return 0;
}

static const char *delta_name(const struct maar_delta *delta)
{
    return delta->record ? delta->record->name : delta->write ? delta->write->name : "";
}

static const char *delta_ns(const struct maar_delta *delta)
{
    return delta->record ? delta->record->ns : delta->write ? delta->write->ns : "";
}

/* What is refused is written again, or told of, unless the news says that it need not be: which came first shows. */
static bool is_refusal(const struct maar_delta *delta)
{
    return delta->write && delta->code != 200;
}

/* What keeps its order: the news of one object, and the answers to writes about one object. */
static bool same_stream(const struct maar_delta *l, const struct maar_delta *r)
{
    if (strcmp(delta_name(l), delta_name(r)) != 0 || strcmp(delta_ns(l), delta_ns(r)) != 0)
        return false;
    if (l->record && r->record)
        return l->kind == r->kind;
    return (l->write && r->write) || is_refusal(l) || is_refusal(r);
}

/* Another order between streams. The ends of lists come last. */
static void shuffle(struct maar_deltas *deltas, struct rng *rng)
{
    size_t n = 0;
    for (size_t i = 0; i < deltas->n; i++)
        if (deltas->data[i].type != MAAR_DELTA_SYNCED) {
            struct maar_delta delta = deltas->data[i];
            deltas->data[i] = deltas->data[n];
            deltas->data[n++] = delta;
        }
    if (n < 2)
        return;
    for (size_t i = n; i-- > 1;) {
        size_t k = rng_below(rng, (uint32_t)i + 1);
        const struct maar_delta *l = &deltas->data[i], *r = &deltas->data[k];
        bool crosses = false;
        for (const struct maar_delta *m = r; m <= l && !crosses; m++)
            crosses = (m != l && same_stream(m, l)) || (m != r && same_stream(m, r));
        if (crosses)
            continue;
        struct maar_delta delta = deltas->data[i];
        deltas->data[i] = deltas->data[k];
        deltas->data[k] = delta;
    }
}

static void backend_next(void *self, int64_t timeout_ns, struct maar_deltas *deltas)
{
    struct side *side = self;
    (void)timeout_ns;
    if (side->shuffle)
        shuffle(&side->inbox, side->shuffle);
    for (size_t i = 0; i < side->inbox.n; i++)
        maar_vec_push(deltas, side->inbox.data[i]);
    maar_vec_clear(&side->inbox);
}

static void backend_submit(void *self, struct maar_write *write)
{
    struct side *side = self;
    struct pending pending = {.write = write, .text = write_text(write)};
    maar_vec_push(&side->pending, pending);
    side->n_fresh++;
}

static size_t backend_in_flight(void *self)
{
    const struct side *side = self;
    return side->pending.n;
}

static int64_t backend_now(void *self)
{
    const struct side *side = self;
    return *side->now_ns;
}

static void backend_stop(void *self)
{
    (void)self;
}

static const struct maar_backend_ops backend_ops = {
    .start = backend_start,
    .next_deltas = backend_next,
    .submit = backend_submit,
    .n_in_flight = backend_in_flight,
    .now_ns = backend_now,
    .stop = backend_stop,
};

static void side_init(struct run *run, struct side *side, const char *conf_text, bool reference,
                      struct rng *shuffle_rng)
{
    *side = (struct side){.now_ns = &run->cluster.now_ns, .shuffle = shuffle_rng};
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_conf *conf;
    if (maar_conf_parse(conf_text, strlen(conf_text), "random", NULL, &conf, &err) < 0) {
        fail(run, "conf", "%s", err.text);
        return;
    }
    struct maar_engine_options options = {.registry = run->registry,
                                          .conf = conf,
                                          .create_queues = run->create_queues,
                                          .check = true,
                                          .features = {.queue_admission = true},
                                          .reference = reference,
                                          .check_memory = shuffle_rng != NULL};
    side->engine = maar_engine_create(&options, (struct maar_backend){&backend_ops, side}, &err);
    if (!side->engine || maar_engine_start(side->engine, &err) < 0)
        fail(run, "conf", "%s", err.text);
}

static void side_fini(struct side *side)
{
    maar_engine_destroy(side->engine);
    for (size_t i = 0; i < side->inbox.n; i++)
        maar_delta_fini(&side->inbox.data[i]);
    maar_vec_fini(&side->inbox);
    for (size_t i = 0; i < side->pending.n; i++) {
        maar_write_destroy(side->pending.data[i].write);
        free(side->pending.data[i].text);
    }
    maar_vec_fini(&side->pending);
}

/* ---- news and answers ---- */

static void tell_side(struct side *side, const struct object *object, bool deleted)
{
    struct maar_delta delta = {.type = deleted ? MAAR_DELTA_DELETE : MAAR_DELTA_UPSERT,
                               .kind = object->kind,
                               .record = object_record(object)};
    maar_vec_push(&side->inbox, delta);
}

static void tell(void *context, const struct object *object, bool deleted)
{
    struct run *run = context;
    for (size_t i = 0; i < N_SIDES; i++)
        tell_side(&run->sides[i], object, deleted);
    if (told(run)) {
        maar_text_add(told(run), deleted ? "  gone: " : "  news: ");
        object_describe(object, told(run));
    }
}

static void tell_synced(struct side *side)
{
    for (int kind = 0; kind < MAAR_N_KINDS; kind++) {
        struct maar_delta delta = {.type = MAAR_DELTA_SYNCED, .kind = (enum maar_kind)kind};
        maar_vec_push(&side->inbox, delta);
    }
}

static bool same_write(const struct maar_write *l, const struct maar_write *r)
{
    return l->kind == r->kind && !strcmp(l->ns, r->ns) && !strcmp(l->name, r->name) &&
           (l->kind != MAAR_WRITE_BIND || !strcmp(l->bind.node, r->bind.node));
}

static void answer_at(struct side *side, size_t i, int code)
{
    struct maar_delta delta = {
        .type = MAAR_DELTA_DONE, .write = side->pending.data[i].write, .code = code};
    if (code < 200 || code >= 300)
        snprintf(delta.message, sizeof delta.message, "refused with %d", code);
    free(side->pending.data[i].text);
    maar_vec_remove(&side->pending, i);
    maar_vec_push(&side->inbox, delta);
}

/* The first write of this kind, unless the side made none. */
static void answer_side(struct side *side, const struct maar_write *write, int code)
{
    for (size_t i = 0; i < side->pending.n; i++) {
        if (!same_write(side->pending.data[i].write, write))
            continue;
        answer_at(side, i, code);
        return;
    }
}

static int judge(struct run *run, const struct maar_write *write, bool may_fail)
{
    static const int codes[] = {500, 503, 429, 0};
    const struct object *object = NULL;
    if (write->kind == MAAR_WRITE_QUEUE_CREATE || write->kind == MAAR_WRITE_QUEUE_STATUS)
        object = cluster_find(&run->cluster, MAAR_KIND_QUEUE, "", write->name);
    else
        object = cluster_find_uid(&run->cluster, write->uid);
    if (write->kind == MAAR_WRITE_EVENT)
        return 201;
    if (write->kind == MAAR_WRITE_QUEUE_CREATE)
        return object ? 409 : 201;
    run->refused |= !object;
    if (!object)
        return 404;
    if (write->kind == MAAR_WRITE_BIND && *object->pod.node)
        return 409;
    bool bind = write->kind == MAAR_WRITE_BIND;
    if (may_fail && rng_chance(&run->rng, bind ? run->bind_failures : 4)) {
        run->refused = true;
        run->incomplete |= bind;
        return RNG_PICK(&run->rng, codes);
    }
    return 200;
}

static void answer(struct run *run, size_t i, bool may_fail)
{
    const struct pending *pending = &run->sides[LEADER].pending.data[i];
    struct maar_write *write = pending->write;
    int code = judge(run, write, may_fail);
    struct object *object = code >= 200 && code < 300 ? cluster_write(&run->cluster, write) : NULL;
    bool watch_first = rng_chance(&run->rng, 50);
    if (told(run) && write->kind != MAAR_WRITE_EVENT)
        maar_text_addf(told(run), "  answered %d: %s\n", code, pending->text);
    if (object && watch_first)
        tell(run, object, false);
    /* The leader's goes last: the others are found by it. */
    for (size_t s = N_SIDES; s-- > 0;)
        answer_side(&run->sides[s], write, code);
    if (object && !watch_first)
        tell(run, object, false);
}

static void answer_due(struct run *run, bool may_fail)
{
    struct side *leader = &run->sides[LEADER];
    for (size_t i = 0; i < leader->pending.n;) {
        if (leader->pending.data[i].due <= run->n_turns)
            answer(run, i, may_fail);
        else
            i++;
    }
    /* Reasons that only the others gave: see is_loose. */
    for (size_t s = LEADER + 1; s < N_SIDES && leader->pending.n == 0; s++)
        while (run->sides[s].pending.n > 0)
            answer_at(&run->sides[s], 0, 200);
}

/* ---- checks ---- */

static int compare_texts(const void *l, const void *r)
{
    return strcmp(*(char *const *)l, *(char *const *)r);
}

/* A great gang that cannot fit is refused by a count of slots; the plain path, which has no index to count with, finds
 * other words for it, and remembers them. */
static bool is_loose(struct run *run)
{
    for (size_t i = 0; i < run->cluster.objects.n && !run->loose; i++) {
        const struct object *object = run->cluster.objects.data[i];
        run->loose =
            object->kind == MAAR_KIND_POD_GROUP && object->group.min >= 64 && !run->plan.compatible;
    }
    return run->loose;
}

enum scope {
    ALL,
    LASTING,   /* what is written at every start: no events */
    DECISIONS, /* bindings alone */
};

static bool in_scope(const struct maar_write *write, enum scope scope)
{
    if (scope == DECISIONS)
        return write->kind == MAAR_WRITE_BIND;
    return scope == ALL ||
           (write->kind != MAAR_WRITE_EVENT && write->kind != MAAR_WRITE_QUEUE_CREATE);
}

/* Sorted. */
static char **fresh_texts(const struct side *side, enum scope scope, size_t *ret_n)
{
    char **texts = maar_calloc(side->n_fresh + 1, sizeof *texts);
    size_t n = 0;
    for (size_t i = side->pending.n - side->n_fresh; i < side->pending.n; i++)
        if (in_scope(side->pending.data[i].write, scope))
            texts[n++] = side->pending.data[i].text;
    qsort(texts, n, sizeof *texts, compare_texts);
    *ret_n = n;
    return texts;
}

static void compare_writes(struct run *run, const char *rule, const struct side *l,
                           const struct side *r, const char *r_name, enum scope scope)
{
    size_t n_l, n_r;
    char **texts_l = fresh_texts(l, scope, &n_l), **texts_r = fresh_texts(r, scope, &n_r);
    struct maar_text diff = MAAR_TEXT_INIT;
    for (size_t i = 0, k = 0; i < n_l || k < n_r;) {
        int c = i == n_l ? 1 : k == n_r ? -1 : strcmp(texts_l[i], texts_r[k]);
        if (c < 0)
            maar_text_addf(&diff, "\n    only %s: %s", side_names[LEADER], texts_l[i]);
        else if (c > 0)
            maar_text_addf(&diff, "\n    only %s: %s", r_name, texts_r[k]);
        i += c <= 0;
        k += c >= 0;
    }
    if (diff.n > 0)
        fail(run, rule, "different writes%s", maar_text_get(&diff));
    maar_text_fini(&diff);
    free(texts_l);
    free(texts_r);
}

static bool is_terminated(const struct pod_object *pod)
{
    return pod->phase == MAAR_POD_SUCCEEDED || pod->phase == MAAR_POD_FAILED;
}

static int64_t bounded(int64_t v)
{
    int64_t most = INT64_C(1) << 50;
    return v > most ? most : v < -most ? -most : v;
}

static void add_request(const struct pod_object *pod, int64_t *used)
{
    for (uint32_t d = 0; d < N_AMOUNTS; d++)
        used[d] += (pod->request.named >> d) & 1 ? bounded(pod->request.v[d]) : 0;
    used[PODS] += 1;
}

/* All pods on the node by the cluster's account, with the bindings in flight. */
static void count_used(const struct run *run, const char *node, int64_t *used)
{
    memset(used, 0, N_AMOUNTS * sizeof *used);
    for (size_t i = 0; i < run->cluster.objects.n; i++) {
        const struct object *object = run->cluster.objects.data[i];
        if (object->kind == MAAR_KIND_POD && !object->withheld && !strcmp(object->pod.node, node) &&
            !is_terminated(&object->pod))
            add_request(&object->pod, used);
    }
    const struct side *leader = &run->sides[LEADER];
    for (size_t i = 0; i < leader->pending.n; i++) {
        const struct maar_write *write = leader->pending.data[i].write;
        if (write->kind != MAAR_WRITE_BIND || strcmp(write->bind.node, node) != 0)
            continue;
        const struct object *object = cluster_find_uid(&run->cluster, write->uid);
        if (object && !*object->pod.node)
            add_request(&object->pod, used);
    }
}

/* No node above allocatable in a dimension that a pod bound now asks for. */
static void check_node(struct run *run, const struct maar_write *write,
                       const struct pod_object *pod)
{
    const struct object *node = cluster_find(&run->cluster, MAAR_KIND_NODE, "", write->bind.node);
    if (!node || node->withheld) {
        fail(run, "node", "%s/%s is bound to %s, which is not there", write->ns, write->name,
             write->bind.node);
        return;
    }
    int64_t used[N_AMOUNTS];
    count_used(run, write->bind.node, used);
    bool counts_pods = run->plan.predicates;
    for (uint32_t d = 0; d < N_AMOUNTS; d++) {
        bool asked =
            d == PODS ? counts_pods : ((pod->request.named >> d) & 1) && pod->request.v[d] > 0;
        if (asked && used[d] > node->node.allocatable.v[d])
            fail(run, "allocatable", "%s on %s: %lld of %lld after %s/%s was bound",
                 amount_names[d], node->name, (long long)used[d],
                 (long long)node->node.allocatable.v[d], write->ns, write->name);
    }
}

static void check_bind(struct run *run, size_t at)
{
    const struct side *leader = &run->sides[LEADER];
    const struct maar_write *write = leader->pending.data[at].write;
    const struct object *object = cluster_find_uid(&run->cluster, write->uid);
    if (!object) {
        fail(run, "bind", "%s/%s does not exist", write->ns, write->name);
        return;
    }
    const struct pod_object *pod = &object->pod;
    if (*pod->node || pod->deleting || pod->n_gates > 0 || *object->fault ||
        strcmp(pod->scheduler, "volcano") != 0)
        fail(run, "bind", "%s/%s must not be bound", write->ns, write->name);
    for (size_t i = 0; i < leader->pending.n; i++)
        if (i != at && leader->pending.data[i].write->kind == MAAR_WRITE_BIND &&
            !strcmp(leader->pending.data[i].write->uid, write->uid))
            fail(run, "bind", "%s/%s is bound twice", write->ns, write->name);
    check_node(run, write, pod);
}

static uint32_t role_ready(const struct maar_role *role)
{
    return role->n[MAAR_TASK_ALLOCATED] + role->n[MAAR_TASK_BINDING] + role->n[MAAR_TASK_BOUND] +
           role->n[MAAR_TASK_RUNNING] + role->n[MAAR_TASK_SUCCEEDED];
}

/* Whoever got a binding in this session has its minimum now, waiting pods without requests apart where Volcano lets
 * them count. */
static void check_gang(struct run *run, const struct maar_write *write)
{
    const struct maar_world *world = maar_engine_world(run->sides[LEADER].engine);
    const struct maar_task_entry *task = maar_world_task(world, write->uid);
    if (!task || !task->job) {
        fail(run, "gang", "%s/%s is bound without a PodGroup", write->ns, write->name);
        return;
    }
    if (!run->plan.gang)
        return;
    const struct maar_job *job = &task->job->view;
    int64_t have =
        (int64_t)maar_job_n_ready(job) + (run->plan.compatible ? job->n_pending_best_effort : 0);
    if (have < job->min_available)
        fail(run, "gang", "%s has %lld of %d after a binding of %s", job->uid, (long long)have,
             job->min_available, write->name);
    if (job->min_available < job->min_task_total)
        return;
    for (uint32_t i = 0; i < job->n_roles; i++) {
        const struct maar_role *role = &job->roles[i];
        int64_t filled = (int64_t)role_ready(role) + role->n_pending_best_effort;
        if (filled < role->min)
            fail(run, "gang", "%s has %lld of %d of role %s after a binding", job->uid,
                 (long long)filled, role->min, role->name);
    }
}

/* All pods on nodes that the engine has heard of, with the bindings in flight. `standing` has room for all objects. */
static size_t find_standing(const struct run *run, struct standing *standing)
{
    const struct side *leader = &run->sides[LEADER];
    size_t n = 0;
    for (size_t i = 0; i < run->cluster.objects.n; i++) {
        const struct object *object = run->cluster.objects.data[i];
        if (object->kind != MAAR_KIND_POD || object->withheld || is_terminated(&object->pod))
            continue;
        const char *name = object->pod.node;
        bool is_new = false;
        for (size_t k = 0; k < leader->pending.n; k++) {
            const struct maar_write *write = leader->pending.data[k].write;
            if (*name || write->kind != MAAR_WRITE_BIND || strcmp(write->uid, object->uid) != 0)
                continue;
            name = write->bind.node;
            is_new = k >= leader->pending.n - leader->n_fresh;
        }
        const struct object *node = cluster_find(&run->cluster, MAAR_KIND_NODE, "", name);
        if (node && !node->withheld)
            standing[n++] = (struct standing){object, node, is_new};
    }
    return n;
}

/* Whoever got a binding in this session stands where its neighbours allow. Volcano sees some of them late. */
static void check_neighbours(struct run *run)
{
    if (!run->plan.neighbours || run->plan.compatible || !run->cluster.has_neighbours)
        return;
    struct standing *standing = maar_calloc(run->cluster.objects.n + 1, sizeof *standing);
    size_t n = find_standing(run, standing);
    struct maar_text text = MAAR_TEXT_INIT;
    for (size_t i = 0; i < n; i++)
        if (standing[i].is_new)
            neighbours_check(&run->cluster, standing, n, i, &text);
    if (text.n > 0)
        fail(run, "neighbours", "%s", maar_text_get(&text));
    maar_text_fini(&text);
    free(standing);
}

static void check_side(struct run *run, const struct side *side, const char *name)
{
    struct maar_text text = MAAR_TEXT_INIT;
    if (maar_engine_check(side->engine, &text) > 0)
        fail(run, "ledger", "%s: %s", name, maar_text_get(&text));
    maar_text_fini(&text);
}

static void check_session(struct run *run)
{
    const struct side *leader = &run->sides[LEADER];
    for (size_t i = 0; i < N_SIDES; i++)
        check_side(run, &run->sides[i], side_names[i]);
    compare_writes(run, "reference", leader, &run->sides[REFERENCE], side_names[REFERENCE],
                   is_loose(run) ? DECISIONS : ALL);
    compare_writes(run, "shuffled", leader, &run->sides[SHUFFLED], side_names[SHUFFLED], ALL);
    for (size_t i = leader->pending.n - leader->n_fresh; i < leader->pending.n && !failed(run);
         i++) {
        const struct maar_write *write = leader->pending.data[i].write;
        if (write->kind != MAAR_WRITE_BIND)
            continue;
        run->life->n_binds++;
        check_bind(run, i);
        check_gang(run, write);
    }
    check_neighbours(run);
}

static void check_reasons(struct run *run)
{
    for (size_t i = 0; i < run->cluster.objects.n; i++) {
        const struct object *object = run->cluster.objects.data[i];
        if (object->kind != MAAR_KIND_POD || object->withheld)
            continue;
        const struct pod_object *pod = &object->pod;
        if (*pod->node || pod->deleting || pod->phase != MAAR_POD_PENDING ||
            strcmp(pod->scheduler, "volcano") != 0)
            continue;
        if (!pod->condition_message || !*pod->condition_message)
            fail(run, "reason", "%s/%s waits without a reason", object->ns, object->name);
    }
}

/* ---- turns ---- */

static void use_next_plan(struct run *run)
{
    if (!run->next_plan.text || !run->sides[LEADER].turn.session)
        return;
    free(run->plan.text);
    run->plan = run->next_plan;
    run->next_plan = (struct plan){0};
}

/* Writes of one kind to one object are answered in the order in which they were sent. */
static void keep_order(struct side *side, size_t at)
{
    struct pending *pending = &side->pending.data[at];
    for (size_t i = 0; i < at; i++) {
        const struct pending *earlier = &side->pending.data[i];
        if (earlier->write->kind == pending->write->kind &&
            !strcmp(earlier->write->uid, pending->write->uid) && earlier->due > pending->due)
            pending->due = earlier->due;
    }
}

static void take_turn(struct run *run, bool force)
{
    run->n_turns++;
    run->cluster.now_ns += MAAR_SECOND_NS;
    for (size_t i = 0; i < N_SIDES; i++) {
        run->sides[i].n_fresh = 0;
        run->sides[i].turn = maar_engine_turn(run->sides[i].engine, 0, force);
        if (run->sides[i].turn.session != run->sides[LEADER].turn.session &&
            !(i == REFERENCE && is_loose(run)))
            fail(run, "wakes", "%s ran %s session", side_names[i],
                 run->sides[i].turn.session ? "a" : "no");
    }
    run->life->n_sessions += run->sides[LEADER].turn.session;
    use_next_plan(run);
    struct side *leader = &run->sides[LEADER];
    for (size_t i = leader->pending.n - leader->n_fresh; i < leader->pending.n; i++) {
        bool at_once = (run->cut && run->cut->delays) || rng_chance(&run->rng, 70) ||
                       (!STATUS_DELAYS && leader->pending.data[i].write->kind != MAAR_WRITE_BIND);
        leader->pending.data[i].due = run->n_turns + (at_once ? 0 : 1 + rng_below(&run->rng, 3));
        keep_order(leader, i);
        if (told(run) && leader->pending.data[i].write->kind != MAAR_WRITE_EVENT)
            maar_text_addf(told(run), "  turn %u writes: %s\n", run->n_turns,
                           leader->pending.data[i].text);
    }
    check_session(run);
}

/* Until nothing is left to do; then a session that nothing called for must write nothing. */
static void come_to_rest(struct run *run)
{
    for (int i = 0; i < 24 && !failed(run); i++) {
        for (size_t k = 0; k < run->sides[LEADER].pending.n; k++)
            run->sides[LEADER].pending.data[k].due = 0;
        answer_due(run, false);
        if (run->sides[LEADER].inbox.n == 0 && i > 2)
            break;
        take_turn(run, false);
    }
    if (failed(run))
        return;
    if (run->sides[LEADER].inbox.n > 0) {
        fail(run, "rest", "writes go on and on: %s",
             run->sides[LEADER].pending.n ? run->sides[LEADER].pending.data[0].text : "");
        return;
    }
    take_turn(run, true);
    if (run->sides[LEADER].n_fresh > 0)
        fail(run, "quiet", "a session without a change writes %s",
             run->sides[LEADER].pending.data[run->sides[LEADER].pending.n - 1].text);
    run->life->n_quiet++;
    run->refused = false;
    check_reasons(run);
}

/* An engine that starts anew on the present cluster decides as the old ones do. */
static void restart(struct run *run)
{
    struct rng rng = {run->life->seed * 31 + run->n_turns};
    struct side side;
    side_init(run, &side, run->next_plan.text ? run->next_plan.text : run->plan.text, false, &rng);
    if (!side.engine)
        return;
    for (size_t i = 0; i < run->cluster.objects.n; i++)
        if (!run->cluster.objects.data[i]->withheld)
            tell_side(&side, run->cluster.objects.data[i], false);
    tell_synced(&side);
    take_turn(run, true);
    side.turn = maar_engine_turn(side.engine, 0, true);
    check_side(run, &side, "the restarted one");
    compare_writes(run, "restart", &run->sides[LEADER], &side, "the restarted one", LASTING);
    side_fini(&side);
    run->life->n_restarts++;
}

/* ---- a life ---- */

static struct rng sub_rng(uint64_t seed, uint64_t a, uint64_t b)
{
    struct rng rng = {seed * UINT64_C(0x2545f4914f6cdd1d) + a * 1000003 + b};
    rng_next(&rng);
    return rng;
}

static void change_conf(struct run *run, struct rng *rng)
{
    struct plan plan = generate_conf(rng);
    if (told(run))
        maar_text_addf(told(run), "  new configuration:\n%s", plan.text);
    for (size_t i = 0; i < N_SIDES; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        struct maar_conf *conf;
        if (maar_conf_parse(plan.text, strlen(plan.text), "random", NULL, &conf, &err) < 0 ||
            maar_engine_set_conf(run->sides[i].engine, conf, &err) < 0)
            fail(run, "conf", "%s", err.text);
    }
    free(run->next_plan.text);
    run->next_plan = plan;
}

static void step(struct run *run, uint32_t number)
{
    const struct cut *cut = run->cut;
    if (told(run))
        maar_text_addf(told(run), "step %u\n", number);
    answer_due(run, !cut || !cut->failures);
    struct rng rng = sub_rng(run->life->seed, 100 + number, 0);
    uint32_t n = rng_below(&rng, MAX_CHANGES + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct rng change = sub_rng(run->life->seed, 100 + number, 1 + i);
        if (!cut || !cut->changes[number][i])
            generate_change(&run->cluster, &change, tell, run);
    }
    struct rng conf = sub_rng(run->life->seed, 100 + number, 50);
    if (rng_chance(&conf, 8) && (!cut || !cut->conf_changes[number]))
        change_conf(run, &conf);
    if (failed(run))
        return;
    if (run->sides[LEADER].pending.n == 0 && !run->refused && !run->incomplete)
        restart(run);
    else
        take_turn(run, rng_chance(&rng, 10));
    if (!failed(run) && rng_chance(&rng, 25))
        come_to_rest(run);
    run->life->n_steps = number + 1;
}

static void begin(struct run *run)
{
    struct rng rng = sub_rng(run->life->seed, 1, 0);
    run->cluster.now_ns = (INT64_C(1767225600) + 86400) * MAAR_SECOND_NS;
    run->create_queues = rng_chance(&rng, 50);
    run->bind_failures = rng_chance(&rng, 50) ? 15 : 0;
    run->plan = generate_conf(&rng);
    struct rng cluster_rng = sub_rng(run->life->seed, 2, 0);
    generate_cluster(&run->cluster, &cluster_rng);
    for (size_t i = run->cluster.objects.n; run->cut && i-- > 0;) {
        struct object *object = run->cluster.objects.data[i];
        if (i < MAX_OBJECTS && run->cut->objects[i]) {
            cluster_take(&run->cluster, object);
            object_free(object);
        }
    }
    if (told(run))
        maar_text_addf(told(run), "%s", run->plan.text);
}

static void introduce(struct run *run)
{
    /* Half of the clusters are listed in the order of creation, half in any order. */
    if (rng_chance(&run->rng, 50)) {
        for (size_t i = run->cluster.objects.n; i-- > 1;) {
            size_t k = rng_below(&run->rng, (uint32_t)i + 1);
            struct object *object = run->cluster.objects.data[i];
            run->cluster.objects.data[i] = run->cluster.objects.data[k];
            run->cluster.objects.data[k] = object;
        }
    }
    for (size_t i = 0; i < run->cluster.objects.n; i++)
        if (!run->cluster.objects.data[i]->withheld)
            tell(run, run->cluster.objects.data[i], false);
    for (size_t i = 0; i < N_SIDES; i++)
        tell_synced(&run->sides[i]);
}

void life_run(struct life *life, const struct maar_registry *registry, const struct cut *cut)
{
    struct run run = {.life = life, .registry = registry, .cut = cut};
    run.rng = sub_rng(life->seed, 3, 0);
    struct rng shuffle_rng = sub_rng(life->seed, 4, 0);
    begin(&run);
    side_init(&run, &run.sides[LEADER], run.plan.text, false, NULL);
    side_init(&run, &run.sides[REFERENCE], run.plan.text, true, NULL);
    side_init(&run, &run.sides[SHUFFLED], run.plan.text, false, &shuffle_rng);
    if (!failed(&run)) {
        introduce(&run);
        struct rng rng = sub_rng(life->seed, 5, 0);
        uint32_t n_steps = 1 + rng_below(&rng, 8);
        if (cut && cut->n_steps < n_steps)
            n_steps = cut->n_steps;
        take_turn(&run, false);
        for (uint32_t i = 0; i < n_steps && !failed(&run); i++)
            step(&run, i);
        if (!failed(&run))
            come_to_rest(&run);
    }
    for (size_t i = 0; i < N_SIDES; i++)
        side_fini(&run.sides[i]);
    cluster_fini(&run.cluster);
    free(run.plan.text);
    free(run.next_plan.text);
}

void life_fini(struct life *life)
{
    maar_text_fini(&life->failure.text);
    maar_text_fini(&life->told);
}
