// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// One function a struct of the explanation, in the order of its members.
#include "serve/explanation_json.h"

#include <math.h>

#include "wire/wire.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static void set_amount(json_t *map, const char *key, const char *dimension, double amount)
{
    char buffer[32];
    if (!isnan(amount))
        json_object_set_new(map, key,
                            json_string(maar_wire_quantity(dimension, (int64_t)amount, buffer)));
}

static json_t *amounts(const struct maar_explained_amount *items, size_t n)
{
    json_t *map = json_object();
    for (size_t i = 0; i < n; i++)
        set_amount(map, items[i].dimension, items[i].dimension, items[i].amount);
    return map;
}

static json_t *limit_json(const struct maar_explained_limit *limit)
{
    json_t *map = json_object();
    if (limit->queue)
        json_object_set_new(map, "queue", json_string(limit->queue));
    json_object_set_new(map, "dimension", json_string(limit->dimension));
    set_amount(map, "held", limit->dimension, limit->held);
    set_amount(map, "asked", limit->dimension, limit->asked);
    set_amount(map, "limit", limit->dimension, limit->limit);
    json_object_set_new(map, "limitName", json_string(limit->name));
    return map;
}

static json_t *level_json(const struct maar_explained_level *level)
{
    json_t *map = json_pack("{s:s, s:s}", "queue", level->queue, "dimension", level->dimension);
    set_amount(map, "allocated", level->dimension, level->allocated);
    set_amount(map, "asked", level->dimension, level->asked);
    set_amount(map, "inqueue", level->dimension, level->inqueue);
    set_amount(map, "deserved", level->dimension, level->deserved);
    set_amount(map, "guarantee", level->dimension, level->guarantee);
    set_amount(map, "capability", level->dimension, level->capability);
    set_amount(map, "limit", level->dimension, level->limit);
    json_object_set_new(map, "refuses", json_boolean(level->refuses));
    return map;
}

static json_t *levels_json(const struct maar_explained_level *levels, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, level_json(&levels[i]));
    return list;
}

static json_t *nearest_json(const struct maar_explained_class *cls)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cls->n_nearest; i++) {
        const struct maar_explained_node *node = &cls->nearest[i];
        json_t *map = json_pack("{s:s, s:o}", "node", node->name, "lacks",
                                amounts(node->lacks, node->n_lacks));
        if (node->refusal)
            json_object_set_new(map, "refusal", json_string(node->refusal));
        json_array_append_new(list, map);
    }
    return list;
}

static json_t *class_json(const struct maar_explained_class *cls)
{
    json_t *reasons = json_object();
    for (size_t i = 0; i < cls->n_reasons; i++)
        json_object_set_new(reasons, cls->reasons[i].text, json_integer(cls->reasons[i].n));
    json_t *map =
        json_pack("{s:s, s:I, s:I, s:o, s:s}", "pod", cls->pod, "waiting",
                  (json_int_t)cls->n_waiting, "fit", (json_int_t)cls->n_fit, "request",
                  amounts(cls->request, cls->n_request), "gate", maar_gate_name(cls->gate));
    if (cls->text)
        json_object_set_new(map, "message", json_string(cls->text));
    if (cls->gate == MAAR_GATE_NODES) {
        json_object_set_new(map, "nodes", json_integer(cls->n_nodes));
        json_object_set(map, "reasons", reasons);
        json_object_set_new(map, "nearest", nearest_json(cls));
    }
    json_decref(reasons);
    return map;
}

static json_t *gang_json(const struct maar_explained_group *group)
{
    json_t *roles = json_array();
    for (size_t i = 0; i < group->n_roles; i++) {
        const struct maar_explained_role *role = &group->roles[i];
        json_array_append_new(roles,
                              json_pack("{s:s, s:I, s:I, s:I}", "role", role->name, "have",
                                        (json_int_t)role->have, "need", (json_int_t)role->need,
                                        "couldPlace", (json_int_t)role->could));
    }
    return json_pack("{s:I, s:I, s:I, s:o}", "have", (json_int_t)group->have, "need",
                     (json_int_t)group->need, "couldPlace", (json_int_t)group->could, "roles",
                     roles);
}

static json_t *names_json(const struct maar_explained_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->n; i++)
        json_array_append_new(list, json_string(names->names[i]));
    return json_pack("{s:I, s:o}", "total", (json_int_t)names->n_all, "first", list);
}

static json_t *cures_json(const struct maar_explained_group *group)
{
    static const char *const names[MAAR_N_TRIED] = {"no", "starts", "notEnough"};
    json_t *list = json_array();
    for (size_t i = 0; i < group->n_cures; i++) {
        enum maar_tried tried = group->cures[i].tried;
        json_t *cure = json_pack("{s:s, s:s}", "text", group->cures[i].text, "tried",
                                 names[tried < MAAR_N_TRIED ? tried : 0]);
        if (group->cures[i].edit)
            json_object_set_new(cure, "edit", json_string(group->cures[i].edit));
        json_array_append_new(list, cure);
    }
    return list;
}

static json_t *group_json(const struct maar_explained_group *group)
{
    json_t *limits = json_array(), *classes = json_array();
    for (size_t i = 0; i < group->n_limits; i++)
        json_array_append_new(limits, limit_json(&group->limits[i]));
    for (size_t i = 0; i < group->n_classes; i++)
        json_array_append_new(classes, class_json(&group->classes[i]));
    return json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:{s:s, s:o, s:s}, s:o, s:o, s:o, s:o, "
                     "s:{s:o, s:o}, s:o}",
                     "name", group->name, "phase", group->phase, "queue", group->queue, "priority",
                     (int)group->priority, "pods", (json_int_t)group->n_pods, "waiting",
                     (json_int_t)group->n_waiting, "gated", (json_int_t)group->n_gated, "gate",
                     "name", maar_gate_name(group->gate), "plugin", text_or_null(group->plugin),
                     "message", group->text, "gang", gang_json(group), "limits", limits, "levels",
                     levels_json(group->levels, group->n_levels), "classes", classes, "ahead",
                     "jobs", names_json(&group->jobs_ahead), "queues",
                     names_json(&group->queues_ahead), "couldHelp", cures_json(group));
}

static json_t *pod_json(const struct maar_explained_pod *pod)
{
    json_t *map = json_pack("{s:s, s:s, s:b}", "name", pod->name, "status", pod->status, "gated",
                            (int)pod->gated);
    if (pod->node)
        json_object_set_new(map, "node", json_string(pod->node));
    if (pod->text)
        json_object_set_new(map, "message", json_string(pod->text));
    if (pod->reason)
        json_object_set_new(
            map, "condition",
            json_pack("{s:s, s:s}", "reason", pod->reason, "message", pod->message));
    return map;
}

static json_t *queue_json(const struct maar_explained_queue *queue)
{
    json_t *jobs = json_array();
    for (size_t i = 0; i < queue->n_jobs; i++)
        json_array_append_new(jobs, json_pack("{s:s, s:s, s:s}", "name", queue->jobs[i].name,
                                              "gate", maar_gate_name(queue->jobs[i].gate),
                                              "message", queue->jobs[i].text));
    json_t *map = json_pack(
        "{s:s, s:b, s:s, s:i, s:i, s:o, s:o, s:I, s:o}", "name", queue->name, "exists",
        (int)queue->exists, "state", queue->state, "weight", (int)queue->weight, "priority",
        (int)queue->priority, "levels", levels_json(queue->levels, queue->n_levels), "queuesAhead",
        names_json(&queue->queues_ahead), "waiting", (json_int_t)queue->n_waiting, "jobs", jobs);
    if (queue->parent)
        json_object_set_new(map, "parent", json_string(queue->parent));
    if (queue->fault)
        json_object_set_new(map, "fault", json_string(queue->fault));
    return map;
}

json_t *maar_explanation_json(const struct maar_explanation *explanation)
{
    json_t *map = json_object();
    json_object_set_new(map, "kind",
                        json_string(explanation->pod     ? "Pod"
                                    : explanation->queue ? "Queue"
                                                         : "PodGroup"));
    if (explanation->pod)
        json_object_set_new(map, "pod", pod_json(explanation->pod));
    if (explanation->group)
        json_object_set_new(map, "podGroup", group_json(explanation->group));
    if (explanation->queue)
        json_object_set_new(map, "queue", queue_json(explanation->queue));
    return map;
}
