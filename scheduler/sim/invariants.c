// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The checks. Only nodes, queues and gangs that got a binding in this cycle are counted again: what was wrong before
// the scheduler came is not its doing.
#include "sim/invariants.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/pod_request.h"
#include "sim/document.h"
#include "sim/sub_group.h"
#include "wire/wire.h"

struct maar_invariants {
    struct maar_cluster *cluster;
    const struct maar_conf *conf;
    const struct maar_registry *registry;
    struct maar_collection *pods;
    struct maar_collection *nodes;
    struct maar_collection *groups;
    struct maar_collection *queues;
    struct maar_map *records;  /* uid → struct maar_record of a pod, for its request */
    struct maar_map *requests; /* uid → struct maar_amounts_record */
    size_t n_binds_before;
};

/* One pass over a cycle. */
struct pass {
    struct maar_invariants *owner;
    struct maar_violations *violations;
    unsigned cycle;
    const struct maar_bind_entry *binds; /* of this cycle */
    size_t n_binds;
    struct maar_map *bound; /* uid → bind of this cycle that did not fail, or may still succeed */
    struct maar_map *sent;  /* uid → any bind of this cycle */
};

/* ---- violations ---- */

void maar_violations_add(struct maar_violations *violations, unsigned cycle, const char *invariant,
                         const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct maar_violation violation = {cycle, invariant, maar_strdup(text)};
    maar_vec_push(violations, violation);
}

void maar_violations_fini(struct maar_violations *violations)
{
    for (size_t i = 0; i < violations->n; i++)
        free(violations->data[i].text);
    maar_vec_fini(violations);
}

/* ---- requests ---- */

struct maar_invariants *maar_invariants_create(struct maar_cluster *cluster,
                                               const struct maar_conf *conf,
                                               const struct maar_registry *registry)
{
    struct maar_invariants *invariants = maar_calloc(1, sizeof *invariants);
    struct maar_store *store = maar_cluster_store(cluster);
    invariants->cluster = cluster;
    invariants->conf = conf;
    invariants->registry = registry;
    invariants->pods = maar_store_collection(store, "v1", "Pod", true);
    invariants->nodes = maar_store_collection(store, "v1", "Node", false);
    invariants->groups =
        maar_store_collection(store, "scheduling.volcano.sh/v1beta1", "PodGroup", true);
    invariants->queues =
        maar_store_collection(store, "scheduling.volcano.sh/v1beta1", "Queue", false);
    invariants->records = maar_map_create();
    invariants->requests = maar_map_create();
    return invariants;
}

void maar_invariants_destroy(struct maar_invariants *invariants)
{
    if (!invariants)
        return;
    size_t at = 0;
    void *value;
    while (maar_map_next(invariants->records, &at, NULL, NULL, &value))
        maar_record_destroy(value);
    at = 0;
    while (maar_map_next(invariants->requests, &at, NULL, NULL, &value))
        free(value);
    maar_map_destroy(invariants->records);
    maar_map_destroy(invariants->requests);
    free(invariants);
}

static const struct maar_amounts_record *request_of(struct maar_invariants *invariants,
                                                    const json_t *pod)
{
    const char *uid = maar_document_uid(pod);
    struct maar_amounts_record *request = maar_map_find(invariants->requests, uid);
    if (request)
        return request;
    struct maar_record *record = NULL;
    request = maar_calloc(1, sizeof *request);
    if (maar_wire_decode_json(MAAR_KIND_POD, pod, NULL, &record, NULL) == 0) {
        *request = maar_pod_request(&record->pod, record->arena);
        maar_map_set(invariants->records, uid, record);
    }
    maar_map_set(invariants->requests, uid, request);
    return request;
}

static int64_t amount_of(const struct maar_amounts_record *amounts, const char *name, bool *ret_has)
{
    for (uint32_t i = 0; i < amounts->n; i++) {
        if (strcmp(amounts->items[i].name, name) == 0) {
            *ret_has = true;
            return amounts->items[i].value;
        }
    }
    *ret_has = false;
    return 0;
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* A sum over pods, growing by dimension. Names are those of the requests. */
struct sums {
    MAAR_VEC(struct maar_amount) items;
    struct maar_map *asked; /* dimensions that a pod bound in this cycle asks for */
};

static struct sums *sums_of(struct maar_map *map, const char *key)
{
    struct sums *sums = maar_map_find(map, key);
    if (!sums) {
        sums = maar_calloc(1, sizeof *sums);
        sums->asked = maar_map_create();
        maar_map_set(map, key, sums);
    }
    return sums;
}

static void destroy_sums(struct maar_map *map)
{
    size_t at = 0;
    void *value;
    while (maar_map_next(map, &at, NULL, NULL, &value)) {
        struct sums *sums = value;
        maar_vec_fini(&sums->items);
        maar_map_destroy(sums->asked);
        free(sums);
    }
    maar_map_destroy(map);
}

static void sums_add(struct sums *sums, const struct maar_amounts_record *request)
{
    for (uint32_t i = 0; i < request->n; i++) {
        size_t k = 0;
        while (k < sums->items.n && strcmp(sums->items.data[k].name, request->items[i].name) != 0)
            k++;
        if (k == sums->items.n)
            maar_vec_push(&sums->items, request->items[i]);
        else
            sums->items.data[k].value = add(sums->items.data[k].value, request->items[i].value);
    }
}

static void sums_ask(struct sums *sums, const struct maar_amounts_record *request)
{
    for (uint32_t i = 0; i < request->n; i++)
        if (request->items[i].value > 0)
            maar_map_set(sums->asked, request->items[i].name, sums);
}

/* ---- pods ---- */

static bool is_over(const json_t *pod)
{
    const char *phase = maar_document_text(pod, "status.phase");
    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static bool is_going(const json_t *pod)
{
    return maar_document_at(pod, "metadata.deletionTimestamp") != NULL;
}

/* Where the pod is or is being bound to, "" for nowhere. */
static const char *node_of(const struct pass *pass, const json_t *pod)
{
    const char *node = maar_document_text(pod, "spec.nodeName");
    const struct maar_bind_entry *bind = maar_map_find(pass->bound, maar_document_uid(pod));
    return *node || !bind ? node : bind->node;
}

static const json_t *bound_pod(const struct pass *pass, const struct maar_bind_entry *bind)
{
    const char *slash = strchr(bind->pod, '/');
    char ns[256];
    snprintf(ns, sizeof ns, "%.*s", (int)(slash - bind->pod), bind->pod);
    const struct maar_object *object = maar_collection_object(pass->owner->pods, ns, slash + 1);
    return object && strcmp(maar_document_uid(object->document), bind->uid) == 0 ? object->document
                                                                                 : NULL;
}

static const json_t *group_of(const struct pass *pass, const json_t *pod)
{
    const struct maar_object *group = maar_collection_object(
        pass->owner->groups, maar_document_namespace(pod), maar_document_pod_group(pod));
    return group ? group->document : NULL;
}

static const char *queue_of(const struct pass *pass, const json_t *pod)
{
    const json_t *group = group_of(pass, pod);
    const char *queue = maar_document_text(group, "spec.queue");
    return !group ? "" : *queue ? queue : "default";
}

/* ---- (i) ---- */

static void check_ledger(struct pass *pass, const struct maar_engine *engine)
{
    struct maar_text text = MAAR_TEXT_INIT;
    if (engine && maar_engine_check(engine, &text) > 0) {
        char *line = text.data;
        while (line && *line) {
            size_t n = strcspn(line, "\n");
            maar_violations_add(pass->violations, pass->cycle, "i", "%.*s", (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
    maar_text_fini(&text);
}

/* ---- (ii) ---- */

static void compare_node(struct pass *pass, const char *name, const struct sums *sums)
{
    const struct maar_object *node = maar_collection_object(pass->owner->nodes, "", name);
    struct maar_record *record = NULL;
    if (!node) {
        maar_violations_add(pass->violations, pass->cycle, "ii",
                            "a pod is bound to %s, which is no node", name);
        return;
    }
    if (maar_wire_decode_json(MAAR_KIND_NODE, node->document, NULL, &record, NULL) < 0)
        return;
    for (size_t i = 0; i < sums->items.n; i++) {
        const struct maar_amount *used = &sums->items.data[i];
        bool has;
        int64_t allocatable = amount_of(&record->node.allocatable, used->name, &has);
        if (!maar_map_find(sums->asked, used->name) || used->value <= allocatable)
            continue;
        char a[32], b[32];
        maar_violations_add(pass->violations, pass->cycle, "ii", "node %s: %s %s of %s are bound",
                            name, used->name, maar_wire_quantity(used->name, used->value, a),
                            maar_wire_quantity(used->name, allocatable, b));
    }
    maar_record_destroy(record);
}

static void check_nodes(struct pass *pass)
{
    struct maar_map *nodes = maar_map_create();
    for (size_t i = 0; i < pass->n_binds; i++) {
        const json_t *pod = bound_pod(pass, &pass->binds[i]);
        if (pod && maar_map_find(pass->bound, pass->binds[i].uid))
            sums_ask(sums_of(nodes, pass->binds[i].node), request_of(pass->owner, pod));
    }
    const struct maar_object *object;
    size_t at = 0;
    while ((object = maar_collection_next(pass->owner->pods, &at))) {
        const char *node = node_of(pass, object->document);
        struct sums *sums = *node ? maar_map_find(nodes, node) : NULL;
        if (sums && !is_over(object->document))
            sums_add(sums, request_of(pass->owner, object->document));
    }
    const void *key;
    size_t n;
    void *value;
    at = 0;
    while (maar_map_next(nodes, &at, &key, &n, &value)) {
        maar_autofree char *name = maar_strndup(key, n);
        compare_node(pass, name, value);
    }
    destroy_sums(nodes);
}

/* ---- (iii) ---- */

static void check_twice(struct pass *pass)
{
    for (size_t i = 0; i < pass->n_binds; i++)
        if (pass->binds[i].again)
            maar_violations_add(pass->violations, pass->cycle, "iii",
                                "pod %s is bound a second time, to %s", pass->binds[i].pod,
                                pass->binds[i].node);
}

/* ---- (iv) ---- */

/* The configuration names the plugin with this flag, and it is there to keep its promise. */
static bool promises(const struct maar_invariants *invariants, const char *plugin,
                     enum maar_enable flag)
{
    return maar_conf_plugin_enabled(invariants->conf, plugin, flag) &&
           (!invariants->registry || maar_registry_find_plugin(invariants->registry, plugin));
}

static bool has_hierarchy(const struct maar_invariants *invariants)
{
    return promises(invariants, "capacity", MAAR_ENABLE_HIERARCHY);
}

static bool promises_capability(const struct maar_invariants *invariants)
{
    return promises(invariants, "capacity", MAAR_ENABLE_ALLOCATABLE) ||
           promises(invariants, "proportion", MAAR_ENABLE_ALLOCATABLE);
}

/* Calls `each` for the queue and, where limits are inherited, its ancestors; a cycle of parents ends after 64. */
static void each_queue(const struct pass *pass, const char *queue, struct maar_map *map,
                       bool create, const struct maar_amounts_record *request, bool ask)
{
    for (unsigned depth = 0; *queue && depth < 64; depth++) {
        struct sums *sums = create ? sums_of(map, queue) : maar_map_find(map, queue);
        if (sums && ask)
            sums_ask(sums, request);
        else if (sums)
            sums_add(sums, request);
        const struct maar_object *object = maar_collection_object(pass->owner->queues, "", queue);
        queue = object && has_hierarchy(pass->owner)
                    ? maar_document_text(object->document, "spec.parent")
                    : "";
    }
}

static void compare_queue(struct pass *pass, const char *name, const struct sums *sums)
{
    const struct maar_object *queue = maar_collection_object(pass->owner->queues, "", name);
    struct maar_record *record = NULL;
    if (!queue || maar_wire_decode_json(MAAR_KIND_QUEUE, queue->document, NULL, &record, NULL) < 0)
        return;
    for (size_t i = 0; i < sums->items.n; i++) {
        const struct maar_amount *used = &sums->items.data[i];
        bool has;
        int64_t limit = amount_of(&record->queue.capability, used->name, &has);
        char a[32], b[32];
        if (has && maar_map_find(sums->asked, used->name) && used->value > limit)
            maar_violations_add(pass->violations, pass->cycle, "iv",
                                "queue %s: %s %s of capability %s are bound", name, used->name,
                                maar_wire_quantity(used->name, used->value, a),
                                maar_wire_quantity(used->name, limit, b));
    }
    maar_record_destroy(record);
}

/* A pod that asks for nothing but its slot is placed by backfill, which no quota stops. */
static bool is_best_effort(const struct maar_amounts_record *request)
{
    for (uint32_t i = 0; i < request->n; i++)
        if (request->items[i].value > 0 && strcmp(request->items[i].name, "pods") != 0)
            return false;
    return true;
}

static void check_queues(struct pass *pass)
{
    struct maar_map *queues = maar_map_create();
    for (size_t i = 0; i < pass->n_binds; i++) {
        const json_t *pod = bound_pod(pass, &pass->binds[i]);
        if (!pod || !maar_map_find(pass->bound, pass->binds[i].uid))
            continue;
        const struct maar_amounts_record *request = request_of(pass->owner, pod);
        if (!is_best_effort(request))
            each_queue(pass, queue_of(pass, pod), queues, true, request, true);
    }
    const struct maar_object *object;
    size_t at = 0;
    while ((object = maar_collection_next(pass->owner->pods, &at))) {
        const json_t *pod = object->document;
        if (*node_of(pass, pod) && !is_over(pod) && !is_going(pod))
            each_queue(pass, queue_of(pass, pod), queues, false, request_of(pass->owner, pod),
                       false);
    }
    const void *key;
    size_t n;
    void *value;
    at = 0;
    while (maar_map_next(queues, &at, &key, &n, &value)) {
        maar_autofree char *name = maar_strndup(key, n);
        compare_queue(pass, name, value);
    }
    destroy_sums(queues);
}

/* ---- (v) ---- */

static bool needs_reason(const struct pass *pass, const json_t *pod)
{
    char name[520];
    const char *phase = maar_document_text(pod, "status.phase");
    snprintf(name, sizeof name, "%s/%s", maar_document_namespace(pod), maar_document_name(pod));
    return strcmp(maar_document_text(pod, "spec.schedulerName"), "volcano") == 0 &&
           !*maar_document_text(pod, "spec.nodeName") &&
           (!*phase || strcmp(phase, "Pending") == 0) && !is_going(pod) &&
           !maar_map_find(pass->sent, maar_document_uid(pod)) &&
           !maar_cluster_has_flight(pass->owner->cluster, name);
}

static void check_reasons(struct pass *pass)
{
    const struct maar_object *object;
    size_t at = 0;
    while ((object = maar_collection_next(pass->owner->pods, &at))) {
        const json_t *condition = maar_document_condition(object->document, "PodScheduled");
        if (needs_reason(pass, object->document) && !*maar_document_text(condition, "reason"))
            maar_violations_add(pass->violations, pass->cycle, "v",
                                "pod %s/%s waits without a reason", object->ns, object->name);
    }
}

/* ---- (vi) ---- */

/* A PodGroup, or a sub-group of one. */
struct gang {
    char *name; /* for people */
    int64_t min;
    int64_t n_running; /* before this cycle */
    int64_t n_bound;
    int64_t n_succeeded;
    int64_t n_free; /* pending pods that ask for nothing: Volcano counts them as placed */
};

static void count_member(struct pass *pass, struct gang *gang, const json_t *pod)
{
    if (strcmp(maar_document_text(pod, "status.phase"), "Succeeded") == 0)
        gang->n_succeeded++;
    else if (is_over(pod) || is_going(pod))
        return;
    else if (maar_map_find(pass->sent, maar_document_uid(pod)))
        gang->n_bound++;
    else if (*maar_document_text(pod, "spec.nodeName"))
        gang->n_running++;
    else if (is_best_effort(request_of(pass->owner, pod)))
        gang->n_free++;
}

static void gang_key(const json_t *pod, const struct maar_sub_group *sub_group, char buffer[1040])
{
    snprintf(buffer, 1040, "%.250s/%.250s%s%s", maar_document_namespace(pod),
             maar_document_pod_group(pod), sub_group ? " sub-group " : "",
             sub_group ? sub_group->name : "");
}

/* The sub-group in which a pod is bound whole; Volcano does not see to that. */
static bool whole_sub_group(const struct pass *pass, const json_t *group, const json_t *pod,
                            struct maar_sub_group *ret)
{
    return !pass->owner->conf->compatibility_volcano &&
           promises(pass->owner, "gang", MAAR_ENABLE_SUB_JOB_READY) &&
           maar_sub_group_find(group, pod, ret);
}

static void watch_gang(struct maar_map *gangs, const char *key, int64_t min)
{
    if (maar_map_find(gangs, key))
        return;
    struct gang *gang = maar_calloc(1, sizeof *gang);
    gang->name = maar_strdup(key);
    gang->min = min;
    maar_map_set(gangs, key, gang);
}

/* Those that got a binding. */
static struct maar_map *find_gangs(struct pass *pass)
{
    struct maar_map *gangs = maar_map_create();
    struct maar_sub_group sub_group;
    char key[1040];
    for (size_t i = 0; i < pass->n_binds; i++) {
        const json_t *pod = bound_pod(pass, &pass->binds[i]);
        const json_t *group = pod ? group_of(pass, pod) : NULL;
        if (!group)
            continue;
        gang_key(pod, NULL, key);
        watch_gang(gangs, key, maar_document_int(group, "spec.minMember", 0));
        if (!whole_sub_group(pass, group, pod, &sub_group))
            continue;
        gang_key(pod, &sub_group, key);
        watch_gang(gangs, key, sub_group.size);
    }
    return gangs;
}

static void count_members(struct pass *pass, const struct maar_map *gangs)
{
    const struct maar_object *object;
    struct maar_sub_group sub_group;
    char key[1040];
    size_t at = 0;
    while (maar_map_n(gangs) > 0 && (object = maar_collection_next(pass->owner->pods, &at))) {
        const json_t *pod = object->document;
        gang_key(pod, NULL, key);
        struct gang *gang = maar_map_find(gangs, key);
        if (!gang)
            continue;
        count_member(pass, gang, pod);
        const json_t *group = group_of(pass, pod);
        if (!group || !whole_sub_group(pass, group, pod, &sub_group))
            continue;
        gang_key(pod, &sub_group, key);
        gang = maar_map_find(gangs, key);
        if (gang)
            count_member(pass, gang, pod);
    }
}

static void check_gangs(struct pass *pass)
{
    struct maar_map *gangs = find_gangs(pass);
    count_members(pass, gangs);
    void *value;
    size_t at = 0;
    while (maar_map_next(gangs, &at, NULL, NULL, &value)) {
        struct gang *gang = value;
        int64_t placed = gang->n_bound + gang->n_succeeded;
        if (pass->owner->conf->compatibility_volcano)
            placed += gang->n_free;
        if (gang->n_running == 0 && placed < gang->min)
            maar_violations_add(pass->violations, pass->cycle, "vi",
                                "PodGroup %s: %lld of minimum %lld are bound", gang->name,
                                (long long)placed, (long long)gang->min);
        free(gang->name);
        free(gang);
    }
    maar_map_destroy(gangs);
}

/* ---- all ---- */

static void collect_binds(struct pass *pass)
{
    for (size_t i = 0; i < pass->n_binds; i++) {
        struct maar_bind_entry *bind = &maar_cluster_journal(pass->owner->cluster)
                                            ->binds.data[pass->owner->n_binds_before + i];
        maar_map_set(pass->sent, bind->uid, bind);
        if (!bind->failed)
            maar_map_set(pass->bound, bind->uid, bind);
    }
}

size_t maar_invariants_check(struct maar_invariants *invariants, const struct maar_engine *engine,
                             bool synced, struct maar_violations *violations)
{
    const struct maar_journal *journal = maar_cluster_journal(invariants->cluster);
    static const struct maar_bind_entry none;
    size_t before = violations->n;
    struct pass pass = {
        .owner = invariants,
        .violations = violations,
        .cycle = maar_cluster_cycle(invariants->cluster),
        .binds = journal->binds.n ? journal->binds.data + invariants->n_binds_before : &none,
        .n_binds = journal->binds.n - invariants->n_binds_before,
        .bound = maar_map_create(),
        .sent = maar_map_create(),
    };
    unsigned fault = maar_cluster_last_fault(invariants->cluster);
    collect_binds(&pass);
    check_ledger(&pass, engine);
    check_twice(&pass);
    if (pass.n_binds > 0 && !invariants->pods->held && !invariants->nodes->held) {
        check_nodes(&pass);
        if (promises_capability(invariants) && !invariants->queues->held)
            check_queues(&pass);
        if (promises(invariants, "gang", MAAR_ENABLE_JOB_READY) && !invariants->groups->held)
            check_gangs(&pass);
    }
    if (synced && !invariants->pods->held && (!fault || fault + 1 < pass.cycle))
        check_reasons(&pass);
    invariants->n_binds_before = journal->binds.n;
    maar_map_destroy(pass.bound);
    maar_map_destroy(pass.sent);
    return violations->n - before;
}
