/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* An explanation for people: what holds it first, then the numbers, then what would help. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explanation.h"

static bool is_in_bytes(const char *name)
{
    return strcmp(name, "memory") == 0 || strcmp(name, "ephemeral-storage") == 0 ||
           strncmp(name, "hugepages-", 10) == 0;
}

const char *maar_explanation_amount(const char *dimension, double amount, char buffer[48])
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t suffix = 0;
    if (strcmp(dimension, "cpu") == 0)
        amount /= 1000;
    if (is_in_bytes(dimension))
        while (suffix < 5 && (amount >= 1024 || amount <= -1024)) {
            amount /= 1024;
            suffix++;
        }
    snprintf(buffer, 48, "%.10g%s", amount, suffixes[suffix]);
    return buffer;
}

/* "queueRoom" is said "queue room". */
static const char *gate_words(enum maar_gate gate, char buffer[32])
{
    size_t n = 0;
    for (const char *c = maar_gate_name(gate); *c && n + 2 < 32; c++) {
        bool capital = isupper((unsigned char)*c) != 0;
        if (capital)
            buffer[n++] = ' ';
        buffer[n] = *c;
        if (capital)
            buffer[n] = (char)tolower((unsigned char)*c);
        n++;
    }
    buffer[n] = 0;
    return buffer;
}

static void add_amount(struct maar_text *out, const char *dimension, double amount)
{
    char buffer[48];
    maar_text_addf(out, "%s %s", maar_explanation_amount(dimension, amount, buffer), dimension);
}

/* ---- nodes ---- */

static void add_nearest(const struct maar_explained_class *cls, struct maar_text *out)
{
    for (size_t i = 0; i < cls->n_nearest; i++) {
        const struct maar_explained_node *node = &cls->nearest[i];
        maar_text_addf(out, "%s%s", i ? "; " : "          nearest: ", node->name);
        for (size_t k = 0; k < node->n_lacks; k++) {
            maar_text_add(out, k ? ", " : " lacks ");
            add_amount(out, node->lacks[k].dimension, node->lacks[k].amount);
        }
        if (node->refusal)
            maar_text_addf(out, "%s \"%s\"", node->n_lacks ? "," : ":", node->refusal);
    }
    if (cls->n_nearest > 0)
        maar_text_add(out, "\n");
}

static void add_class(const struct maar_explained_class *cls, struct maar_text *out)
{
    maar_text_addf(out, "  pods    %u waiting like %s (", cls->n_waiting, cls->pod);
    for (size_t i = 0; i < cls->n_request; i++) {
        maar_text_add(out, i ? ", " : "");
        add_amount(out, cls->request[i].dimension, cls->request[i].amount);
    }
    maar_text_addf(out, "%s): %u %s now\n", cls->n_request ? "" : "no requests", cls->n_fit,
                   cls->n_fit == 1 ? "fits" : "fit");
    if (cls->text)
        maar_text_addf(out, "          %s\n", cls->text);
    add_nearest(cls, out);
}

/* ---- queues ---- */

static void add_part(struct maar_text *out, const struct maar_explained_level *level,
                     const char *name, double amount)
{
    char buffer[48];
    if (!isnan(amount))
        maar_text_addf(out, ", %s %s", name,
                       maar_explanation_amount(level->dimension, amount, buffer));
}

static void add_level(const struct maar_explained_level *level, struct maar_text *out)
{
    char allocated[48], asked[48];
    maar_text_addf(out, "  queue   %s: %s %s allocated + %s asked", level->queue, level->dimension,
                   maar_explanation_amount(level->dimension, level->allocated, allocated),
                   maar_explanation_amount(level->dimension, level->asked, asked));
    if (level->inqueue > 0)
        add_part(out, level, "promised to admitted jobs", level->inqueue);
    add_part(out, level, "deserved", level->deserved);
    add_part(out, level, "guarantee", level->guarantee);
    add_part(out, level, "capability", level->capability);
    if (isnan(level->capability) || level->limit < level->capability)
        add_part(out, level, "at most", level->limit);
    maar_text_addf(out, "%s\n", level->refuses ? "  <- refuses" : "");
}

static void add_limit(const struct maar_explained_limit *limit, struct maar_text *out)
{
    char held[48], asked[48], most[48];
    maar_text_addf(out, "  limit   %s%s: %s %s held + %s asked > %s %s\n",
                   limit->queue ? "queue " : "cluster", limit->queue ? limit->queue : "",
                   limit->dimension, maar_explanation_amount(limit->dimension, limit->held, held),
                   maar_explanation_amount(limit->dimension, limit->asked, asked),
                   maar_explanation_amount(limit->dimension, limit->limit, most), limit->name);
}

static void add_names(const struct maar_explained_names *names, const char *what,
                      struct maar_text *out)
{
    if (names->n_all == 0)
        return;
    maar_text_addf(out, "  ahead   %zu %s%s: ", names->n_all, what, names->n_all == 1 ? "" : "s");
    for (size_t i = 0; i < names->n; i++)
        maar_text_addf(out, "%s%s", i ? ", " : "", names->names[i]);
    if (names->n < names->n_all)
        maar_text_addf(out, " and %zu more", names->n_all - names->n);
    maar_text_add(out, "\n");
}

/* ---- groups ---- */

static void add_gang(const struct maar_explained_group *group, struct maar_text *out)
{
    maar_text_addf(out, "  gang    have %lld, need %lld, could place %lld", (long long)group->have,
                   (long long)group->need, (long long)group->could);
    if (group->n_gated > 0)
        maar_text_addf(out, "; %u of %u pods have scheduling gates", group->n_gated, group->n_pods);
    maar_text_add(out, "\n");
    for (size_t i = 0; i < group->n_roles; i++)
        maar_text_addf(out, "          role %s: have %lld, need %lld, could place %lld\n",
                       group->roles[i].name, (long long)group->roles[i].have,
                       (long long)group->roles[i].need, (long long)group->roles[i].could);
}

static void add_cures(const struct maar_explained_group *group, enum maar_tried tried,
                      const char *title, struct maar_text *out)
{
    bool first = true;
    for (size_t i = 0; i < group->n_cures; i++) {
        const struct maar_explained_cure *cure = &group->cures[i];
        if (cure->tried != tried)
            continue;
        if (first)
            maar_text_addf(out, "  %s\n", title);
        first = false;
        maar_text_addf(out, "  - %s\n", cure->text);
        if (cure->edit)
            maar_text_addf(out, "      --what-if '%s'\n", cure->edit);
    }
}

static void add_group(const struct maar_explained_group *group, struct maar_text *out)
{
    char gate[32];
    if (group->gate == MAAR_GATE_NONE)
        maar_text_addf(out, "PodGroup %s does not wait\n", group->name);
    else
        maar_text_addf(out, "PodGroup %s waits: %s%s%s%s\n  %s\n", group->name,
                       gate_words(group->gate, gate), group->plugin ? " (plugin " : "",
                       group->plugin ? group->plugin : "", group->plugin ? ")" : "", group->text);
    if (group->gate == MAAR_GATE_POD_GROUP)
        maar_text_addf(out, "  pods    %u name%s it\n", group->n_pods,
                       group->n_pods == 1 ? "s" : "");
    else
        maar_text_addf(out, "  phase   %s, queue %s, priority %d, %u pods, %u waiting\n",
                       group->phase, group->queue, group->priority, group->n_pods,
                       group->n_waiting);
    if (group->gate == MAAR_GATE_NONE)
        return;
    if (group->gate != MAAR_GATE_POD_GROUP)
        add_gang(group, out);
    for (size_t i = 0; i < group->n_limits; i++)
        add_limit(&group->limits[i], out);
    for (size_t i = 0; i < group->n_levels; i++)
        add_level(&group->levels[i], out);
    for (size_t i = 0; i < group->n_classes; i++)
        add_class(&group->classes[i], out);
    add_names(&group->jobs_ahead, "job", out);
    add_names(&group->queues_ahead, "queue", out);
    add_cures(group, MAAR_TRIED_STARTS, "would start with (tried)", out);
    add_cures(group, MAAR_TRIED_NOT, "could start with (not tried)", out);
    add_cures(group, MAAR_TRIED_SHORT, "would not be enough alone (tried)", out);
}

static void add_pod(const struct maar_explained_pod *pod, struct maar_text *out)
{
    bool waits = strcmp(pod->status, "waits") == 0;
    maar_text_addf(out, "Pod %s %s", pod->name, pod->status);
    if (pod->node && waits)
        maar_text_addf(out, ", would get %s", pod->node);
    else if (pod->node)
        maar_text_addf(out, " on %s", pod->node);
    maar_text_add(out, "\n");
    if (pod->text)
        maar_text_addf(out, "  %s\n", pod->text);
    if (pod->reason && *pod->message && (!pod->text || strcmp(pod->text, pod->message) != 0))
        maar_text_addf(out, "  its condition says %s: %s\n", pod->reason, pod->message);
}

static void add_queue(const struct maar_explained_queue *queue, struct maar_text *out)
{
    char gate[32];
    maar_text_addf(out, "Queue %s %s, weight %d, priority %d", queue->name,
                   queue->exists ? queue->state : "does not exist", queue->weight, queue->priority);
    if (queue->parent)
        maar_text_addf(out, ", below %s", queue->parent);
    maar_text_addf(out, ": %zu job%s waiting\n", queue->n_waiting,
                   queue->n_waiting == 1 ? "" : "s");
    if (queue->fault)
        maar_text_addf(out, "  cannot be used: %s\n", queue->fault);
    for (size_t i = 0; i < queue->n_levels; i++)
        add_level(&queue->levels[i], out);
    add_names(&queue->queues_ahead, "queue", out);
    for (size_t i = 0; i < queue->n_jobs; i++)
        maar_text_addf(out, "  %zu. %s waits: %s: %s\n", i + 1, queue->jobs[i].name,
                       gate_words(queue->jobs[i].gate, gate), queue->jobs[i].text);
    if (queue->n_jobs < queue->n_waiting)
        maar_text_addf(out, "  ... and %zu more\n", queue->n_waiting - queue->n_jobs);
}

void maar_explanation_text(const struct maar_explanation *explanation, struct maar_text *out)
{
    if (explanation->pod)
        add_pod(explanation->pod, out);
    if (explanation->group)
        add_group(explanation->group, out);
    if (explanation->queue)
        add_queue(explanation->queue, out);
}
