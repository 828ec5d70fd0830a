// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Lists come in the order of events, maps in the order of creation, so that two runs can be compared as texts.
#include "sim/report.h"

#include <stdio.h>
#include <string.h>

#include "sim/document.h"

#define HYPER_NODE "volcano.sh/job-allocated-hypernode"

static json_t *report_binds(const struct maar_journal *journal)
{
    json_t *list = json_array();
    for (size_t i = 0; i < journal->binds.n; i++) {
        const struct maar_bind_entry *bind = &journal->binds.data[i];
        json_t *entry = json_pack("{s:i, s:s, s:s}", "cycle", (int)bind->cycle, "pod", bind->pod,
                                  "node", bind->node);
        if (bind->annotations)
            json_object_set(entry, "annotations", bind->annotations);
        if (bind->failed)
            json_object_set_new(entry, "failed", json_true());
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *report_evictions(const struct maar_journal *journal)
{
    json_t *list = json_array();
    for (size_t i = 0; i < journal->evictions.n; i++) {
        const struct maar_eviction_entry *eviction = &journal->evictions.data[i];
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:s, s:s, s:s}", "cycle", (int)eviction->cycle,
                                        "pod", eviction->pod, "node", eviction->node, "action",
                                        eviction->action, "for", eviction->beneficiary));
    }
    return list;
}

static json_t *report_events(const struct maar_journal *journal)
{
    json_t *list = json_array();
    for (size_t i = 0; i < journal->events.n; i++) {
        const struct maar_event_entry *event = &journal->events.data[i];
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:s, s:s, s:s}", "cycle", (int)event->cycle,
                                        "object", event->object, "type", event->type, "reason",
                                        event->reason, "message", event->message));
    }
    return list;
}

static json_t *report_writes(const struct maar_journal *journal)
{
    json_t *map = json_object();
    for (int i = 0; i < MAAR_N_WRITE_KINDS; i++)
        json_object_set_new(map, maar_write_kind_name((enum maar_write_kind)i),
                            json_integer((json_int_t)journal->n_writes[i]));
    return map;
}

static json_t *report_pod(const json_t *pod)
{
    const json_t *condition = maar_document_condition(pod, "PodScheduled");
    const char *phase = maar_document_text(pod, "status.phase");
    bool waits = !*maar_document_text(pod, "spec.nodeName");
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s}", "phase", *phase ? phase : "Pending", "node",
                              maar_document_text(pod, "spec.nodeName"), "reason",
                              waits ? maar_document_text(condition, "reason") : "", "message",
                              waits ? maar_document_text(condition, "message") : "");
    const char *group = maar_document_pod_group(pod);
    if (waits && *group)
        json_object_set_new(entry, "podGroup", json_string(group));
    const char *nominated = maar_document_text(pod, "status.nominatedNodeName");
    if (waits && *nominated)
        json_object_set_new(entry, "nominatedNode", json_string(nominated));
    return entry;
}

static json_t *report_group(const json_t *group)
{
    json_t *conditions = maar_document_at(group, "status.conditions");
    json_t *entry = json_pack("{s:s, s:I}", "phase", maar_document_text(group, "status.phase"),
                              "running", (json_int_t)maar_document_int(group, "status.running", 0));
    const char *hyper_node = maar_document_annotation(group, HYPER_NODE);
    if (*hyper_node)
        json_object_set_new(entry, "hyperNode", json_string(hyper_node));
    json_object_set_new(entry, "conditions", conditions ? json_incref(conditions) : json_array());
    return entry;
}

static json_t *report_objects(const struct maar_store *store, const char *api_version,
                              const char *kind, json_t *(*report)(const json_t *document))
{
    const struct maar_collection *collection = maar_store_find(store, api_version, kind);
    const struct maar_object *object;
    json_t *map = json_object();
    size_t at = 0;
    while ((object = maar_collection_next(collection, &at))) {
        char key[520];
        snprintf(key, sizeof key, "%s/%s", object->ns, object->name);
        json_object_set_new(map, key, report(object->document));
    }
    return map;
}

static void add_amount(void *context, const char *queue, const char *set, const char *dimension,
                       int64_t value)
{
    json_t *queues = context;
    char text[32];
    json_t *entry = json_object_get(queues, queue);
    if (!entry)
        return;
    json_t *amounts = json_object_get(entry, set);
    if (!amounts) {
        amounts = json_object();
        json_object_set_new(entry, set, amounts);
    }
    json_object_set_new(
        amounts, dimension,
        json_string(value == INT64_MAX ? "unlimited" : maar_wire_quantity(dimension, value, text)));
}

static json_t *report_queues(const struct maar_simulation *simulation)
{
    const struct maar_store *store = maar_cluster_store(maar_simulation_cluster(simulation));
    const struct maar_collection *collection =
        maar_store_find(store, "scheduling.volcano.sh/v1beta1", "Queue");
    const struct maar_object *object;
    json_t *map = json_object();
    size_t at = 0;
    while ((object = maar_collection_next(collection, &at)))
        json_object_set_new(map, object->name,
                            json_pack("{s:{}, s:{}, s:{}}", "allocated", "deserved", "inqueue"));
    if (maar_simulation_engine(simulation))
        maar_engine_queues(maar_simulation_engine(simulation), add_amount, map);
    return map;
}

static json_t *report_violations(const struct maar_violations *violations)
{
    json_t *list = json_array();
    for (size_t i = 0; i < violations->n; i++) {
        const struct maar_violation *violation = &violations->data[i];
        json_array_append_new(list, json_pack("{s:i, s:s, s:s}", "cycle", (int)violation->cycle,
                                              "invariant", violation->invariant, "text",
                                              violation->text));
    }
    return list;
}

json_t *maar_report_create(struct maar_simulation *simulation)
{
    struct maar_cluster *cluster = maar_simulation_cluster(simulation);
    const struct maar_store *store = maar_cluster_store(cluster);
    const struct maar_journal *journal = maar_cluster_journal(cluster);
    json_t *report = json_object();
    maar_store_lock(maar_cluster_store(cluster));
    json_object_set_new(report, "scenario",
                        json_string(maar_simulation_scenario(simulation)->name));
    json_object_set_new(report, "cycles",
                        json_integer((json_int_t)maar_simulation_n_cycles(simulation)));
    json_object_set_new(report, "binds", report_binds(journal));
    json_object_set_new(report, "evictions", report_evictions(journal));
    json_object_set_new(report, "pods", report_objects(store, "v1", "Pod", report_pod));
    json_object_set_new(
        report, "podGroups",
        report_objects(store, "scheduling.volcano.sh/v1beta1", "PodGroup", report_group));
    json_object_set_new(report, "queues", report_queues(simulation));
    json_object_set_new(report, "events", report_events(journal));
    json_object_set_new(report, "apiWrites", report_writes(journal));
    json_object_set_new(report, "violations",
                        report_violations(maar_simulation_violations(simulation)));
    maar_store_unlock(maar_cluster_store(cluster));
    return report;
}
