/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef TEST_UNIT_WIRE_RECORD_TEXT_H
#define TEST_UNIT_WIRE_RECORD_TEXT_H

/* A record as text, every field of it: two records are equal when their texts are, and a difference can be read. */

#include <inttypes.h>

#include "base/text.h"
#include "model/record.h"

static void add_field(struct maar_text *out, const char *name, const char *value)
{
    maar_text_addf(out, "%s=\"%s\" ", name, value);
}

static void add_number(struct maar_text *out, const char *name, int64_t value)
{
    maar_text_addf(out, "%s=%" PRId64 " ", name, value);
}

static void add_labels(struct maar_text *out, const char *name, const struct maar_label *labels,
                       uint32_t n)
{
    maar_text_addf(out, "%s{", name);
    for (uint32_t i = 0; i < n; i++)
        maar_text_addf(out, "%s=%s;", labels[i].key, labels[i].value);
    maar_text_add(out, "} ");
}

static void add_amounts(struct maar_text *out, const char *name,
                        const struct maar_amounts_record *amounts)
{
    maar_text_addf(out, "%s{", name);
    for (uint32_t i = 0; i < amounts->n; i++)
        maar_text_addf(out, "%s=%" PRId64 ";", amounts->items[i].name, amounts->items[i].value);
    maar_text_add(out, "} ");
}

static void add_condition(struct maar_text *out, const struct maar_condition_record *condition)
{
    maar_text_addf(out, "condition{%s|%s|%s|%s|%s} ", condition->type, condition->status,
                   condition->reason, condition->message, condition->transition_id);
}

static void add_requirements(struct maar_text *out, const struct maar_requirement *requirements,
                             uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct maar_requirement *requirement = &requirements[i];
        maar_text_addf(out, "%s%s %d %" PRId64 " [", requirement->is_field ? "field " : "",
                       requirement->key, (int)requirement->op, requirement->number);
        for (uint32_t j = 0; j < requirement->n_values; j++)
            maar_text_addf(out, "%s,", requirement->values[j]);
        maar_text_add(out, "];");
    }
}

static void add_term(struct maar_text *out, const struct maar_selector_term *term)
{
    maar_text_add(out, "term{");
    add_requirements(out, term->requirements, term->n_requirements);
    maar_text_add(out, "} ");
}

static void add_selector(struct maar_text *out, const char *name,
                         const struct maar_label_selector *selector)
{
    maar_text_addf(out, "%s%s{", name, selector->is_set ? "" : "-");
    add_requirements(out, selector->requirements, selector->n_requirements);
    maar_text_add(out, "} ");
}

static void add_affinity(struct maar_text *out, const char *name,
                         const struct maar_affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct maar_affinity_term *term = &terms->terms[i];
        maar_text_addf(out, "\n  %s %d by \"%s\" ", name, term->weight, term->topology_key);
        add_selector(out, "pods", &term->selector);
        maar_text_add(out, "in{");
        for (uint32_t j = 0; j < term->n_namespaces; j++)
            maar_text_addf(out, "%s;", term->namespaces[j]);
        maar_text_add(out, "} ");
        add_selector(out, "or in", &term->namespace_selector);
    }
}

static void add_spread(struct maar_text *out, const struct maar_spread_constraint *spread)
{
    maar_text_addf(out, "\n  spread by \"%s\" skew=%d domains=%d hard=%d affinity=%d taints=%d ",
                   spread->topology_key, spread->max_skew, spread->min_domains, spread->hard,
                   spread->honor_affinity, spread->honor_taints);
    add_selector(out, "pods", &spread->selector);
}

static void add_containers(struct maar_text *out, const char *name,
                           const struct maar_container_record *containers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        maar_text_addf(out, "\n  %s: always=%d resized=%d ", name, containers[i].restart_always,
                       containers[i].has_status_resources);
        add_amounts(out, "requests", &containers[i].requests);
        add_amounts(out, "status", &containers[i].status_requests);
        add_amounts(out, "allocated", &containers[i].status_allocated);
    }
}

static void add_spec(struct maar_text *out, const struct maar_pod_spec *spec)
{
    add_labels(out, "\n  nodeSelector", spec->node_selector, spec->n_node_selector);
    maar_text_addf(out, "\n  required=%d ", spec->has_required_affinity);
    for (uint32_t i = 0; i < spec->n_required; i++)
        add_term(out, &spec->required[i]);
    for (uint32_t i = 0; i < spec->n_preferred; i++) {
        maar_text_addf(out, "\n  preferred %d ", spec->preferred[i].weight);
        add_term(out, &spec->preferred[i].term);
    }
    for (uint32_t i = 0; i < spec->n_tolerations; i++)
        maar_text_addf(out, "\n  toleration \"%s\" \"%s\" %d %d", spec->tolerations[i].key,
                       spec->tolerations[i].value, (int)spec->tolerations[i].op,
                       (int)spec->tolerations[i].effect);
    add_affinity(out, "affinity", &spec->pod_affinity_required);
    add_affinity(out, "preferred affinity", &spec->pod_affinity_preferred);
    add_affinity(out, "anti-affinity", &spec->pod_anti_affinity_required);
    add_affinity(out, "preferred anti-affinity", &spec->pod_anti_affinity_preferred);
    for (uint32_t i = 0; i < spec->n_spread; i++)
        add_spread(out, &spec->spread[i]);
    for (uint32_t i = 0; i < spec->n_host_ports; i++)
        maar_text_addf(out, "\n  port %s %s %u", spec->host_ports[i].host_ip,
                       spec->host_ports[i].protocol, spec->host_ports[i].port);
    for (uint32_t i = 0; i < spec->n_images; i++)
        maar_text_addf(out, "\n  image %s", spec->images[i]);
    maar_text_add(out, "\n  ");
    add_field(out, "priorityClass", spec->priority_class);
    add_field(out, "scheduler", spec->scheduler_name);
    add_field(out, "preemption", spec->preemption_policy);
    add_number(out, "unsupported", spec->unsupported);
}

static void add_pod(struct maar_text *out, const struct maar_pod_record *pod)
{
    add_field(out, "node", pod->node_name);
    add_field(out, "nominated", pod->nominated_node);
    add_field(out, "group", pod->group);
    add_field(out, "role", pod->role);
    add_number(out, "phase", pod->phase);
    add_number(out, "deleting", pod->deleting);
    add_number(out, "hasPriority", pod->has_priority);
    add_number(out, "priority", pod->priority);
    add_number(out, "hasTaskPriority", pod->has_task_priority);
    add_number(out, "taskPriority", pod->task_priority);
    add_number(out, "preemptable", pod->preemptable);
    add_number(out, "gates", pod->n_gates);
    maar_text_addf(out, "gateNames=\"%s\" ", pod->gates);
    add_number(out, "onlyQueueGate", pod->only_queue_gate);
    add_number(out, "asksQueueGate", pod->asks_queue_gate);
    add_number(out, "infeasible", pod->resize_infeasible);
    add_labels(out, "\n  labels", pod->labels, pod->n_labels);
    add_labels(out, "\n  annotations", pod->annotations, pod->n_annotations);
    add_containers(out, "container", pod->containers, pod->n_containers);
    add_containers(out, "init", pod->init_containers, pod->n_init_containers);
    add_amounts(out, "\n  podLevel", &pod->pod_level);
    add_amounts(out, "overhead", &pod->overhead);
    add_spec(out, &pod->spec);
    add_condition(out, &pod->scheduled_condition);
}

static void add_node(struct maar_text *out, const struct maar_node_record *node)
{
    add_labels(out, "labels", node->labels, node->n_labels);
    for (uint32_t i = 0; i < node->n_taints; i++)
        maar_text_addf(out, "taint %s=%s:%d ", node->taints[i].key, node->taints[i].value,
                       (int)node->taints[i].effect);
    add_number(out, "unschedulable", node->unschedulable);
    add_number(out, "ready", node->ready);
    add_amounts(out, "allocatable", &node->allocatable);
    for (uint32_t i = 0; i < node->n_images; i++)
        maar_text_addf(out, "image %s %lld ", node->images[i].name,
                       (long long)node->images[i].size_bytes);
}

static void add_pod_group(struct maar_text *out, const struct maar_pod_group_record *group)
{
    add_field(out, "queue", group->queue);
    add_field(out, "priorityClass", group->priority_class);
    add_number(out, "min", group->min_member);
    for (uint32_t i = 0; i < group->n_min_task; i++)
        maar_text_addf(out, "role %s=%d ", group->min_task[i].role, group->min_task[i].min);
    add_number(out, "hasMinResources", group->has_min_resources);
    add_amounts(out, "minResources", &group->min_resources);
    add_number(out, "topology", group->has_topology);
    for (uint32_t i = 0; i < group->n_sub_groups; i++) {
        const struct maar_sub_group_record *sub_group = &group->sub_groups[i];
        maar_text_addf(out, "\n  subGroup \"%s\" size=%d min=%d topology=%d ", sub_group->name,
                       sub_group->size, sub_group->min, sub_group->has_topology);
        add_selector(out, "pods", &sub_group->selector);
        for (uint32_t j = 0; j < sub_group->n_match_keys; j++)
            maar_text_addf(out, "by \"%s\" ", sub_group->match_keys[j]);
    }
    maar_text_addf(out, "phase=%d running=%d succeeded=%d failed=%d ", (int)group->phase,
                   group->running, group->succeeded, group->failed);
    for (uint32_t i = 0; i < group->n_conditions; i++)
        add_condition(out, &group->conditions[i]);
    add_labels(out, "annotations", group->annotations, group->n_annotations);
}

static void add_queue(struct maar_text *out, const struct maar_queue_record *queue)
{
    maar_text_addf(out, "weight=%d priority=%d reclaimable=%d state=%d strategy=%d ", queue->weight,
                   queue->priority, queue->reclaimable, (int)queue->state,
                   (int)queue->dequeue_strategy);
    add_field(out, "parent", queue->parent);
    add_amounts(out, "capability", &queue->capability);
    add_amounts(out, "deserved", &queue->deserved);
    add_amounts(out, "guarantee", &queue->guarantee);
    add_amounts(out, "allocated", &queue->allocated);
    add_labels(out, "annotations", queue->annotations, queue->n_annotations);
}

static inline void record_text(const struct maar_record *record, struct maar_text *out)
{
    maar_text_addf(out, "%s %s/%s ", maar_kind_name(record->kind), record->ns, record->name);
    add_field(out, "uid", record->uid);
    add_field(out, "version", record->resource_version);
    add_number(out, "created", record->created_ns);
    add_field(out, "fault", record->fault);
    maar_text_add(out, "\n  ");
    switch (record->kind) {
    case MAAR_KIND_POD:
        add_pod(out, &record->pod);
        break;
    case MAAR_KIND_NODE:
        add_node(out, &record->node);
        break;
    case MAAR_KIND_POD_GROUP:
        add_pod_group(out, &record->pod_group);
        break;
    case MAAR_KIND_QUEUE:
        add_queue(out, &record->queue);
        break;
    case MAAR_KIND_PRIORITY_CLASS:
        add_number(out, "value", record->priority_class.value);
        add_number(out, "default", record->priority_class.global_default);
        break;
    case MAAR_KIND_NAMESPACE:
        add_labels(out, "labels", record->space.labels, record->space.n_labels);
        break;
    case MAAR_N_KINDS:
        break;
    }
}

#endif
