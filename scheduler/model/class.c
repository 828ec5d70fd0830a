/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Task classes: tasks that the loaded policies cannot tell apart share one object. The key is the scheduling spec,
 * the namespace, the request, the annotations that plugins read, and the labels projected onto the keys that some
 * selector reads; a unique index label therefore does not split a class. */

#include "model/parts.h"
#include "model/pod_request.h"

static void add_text(struct maar_text *key, const char *s)
{
    s = s ? s : "";
    maar_text_add_n(key, s, strlen(s) + 1);
}

static void add_int(struct maar_text *key, int64_t v)
{
    maar_text_add_n(key, (const char *)&v, sizeof v);
}

static void add_labels(struct maar_text *key, const struct maar_label *labels, uint32_t n)
{
    add_int(key, n);
    for (uint32_t i = 0; i < n; i++) {
        add_text(key, labels[i].key);
        add_text(key, labels[i].value);
    }
}

static void add_requirements(struct maar_text *key, const struct maar_requirement *requirements,
                             uint32_t n)
{
    add_int(key, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct maar_requirement *r = &requirements[i];
        add_text(key, r->key);
        add_int(key, (int64_t)r->op * 2 + r->is_field);
        add_int(key, r->number);
        add_int(key, r->n_values);
        for (uint32_t j = 0; j < r->n_values; j++)
            add_text(key, r->values[j]);
    }
}

static void add_term(struct maar_text *key, const struct maar_selector_term *term)
{
    add_requirements(key, term->requirements, term->n_requirements);
}

static void add_selector(struct maar_text *key, const struct maar_label_selector *selector)
{
    add_int(key, selector->is_set);
    add_requirements(key, selector->requirements, selector->n_requirements);
}

static void add_affinity(struct maar_text *key, const struct maar_affinity_terms *terms)
{
    add_int(key, terms->n);
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct maar_affinity_term *term = &terms->terms[i];
        add_int(key, term->weight);
        add_text(key, term->topology_key);
        add_selector(key, &term->selector);
        add_int(key, term->n_namespaces);
        for (uint32_t j = 0; j < term->n_namespaces; j++)
            add_text(key, term->namespaces[j]);
        add_selector(key, &term->namespace_selector);
    }
}

static void add_spread(struct maar_text *key, const struct maar_spread_constraint *spread,
                       uint32_t n)
{
    add_int(key, n);
    for (uint32_t i = 0; i < n; i++) {
        add_int(key, spread[i].max_skew);
        add_int(key, spread[i].min_domains);
        add_text(key, spread[i].topology_key);
        add_int(key, spread[i].hard * 4 + spread[i].honor_affinity * 2 + spread[i].honor_taints);
        add_selector(key, &spread[i].selector);
    }
}

static void add_spec(struct maar_text *key, const struct maar_pod_spec *spec)
{
    add_labels(key, spec->node_selector, spec->n_node_selector);
    add_int(key, spec->has_required_affinity);
    add_int(key, spec->n_required);
    for (uint32_t i = 0; i < spec->n_required; i++)
        add_term(key, &spec->required[i]);
    add_int(key, spec->n_preferred);
    for (uint32_t i = 0; i < spec->n_preferred; i++) {
        add_int(key, spec->preferred[i].weight);
        add_term(key, &spec->preferred[i].term);
    }
    add_int(key, spec->n_tolerations);
    for (uint32_t i = 0; i < spec->n_tolerations; i++) {
        add_text(key, spec->tolerations[i].key);
        add_text(key, spec->tolerations[i].value);
        add_int(key, (int64_t)spec->tolerations[i].op * 16 + (int64_t)spec->tolerations[i].effect);
    }
    add_affinity(key, &spec->pod_affinity_required);
    add_affinity(key, &spec->pod_affinity_preferred);
    add_affinity(key, &spec->pod_anti_affinity_required);
    add_affinity(key, &spec->pod_anti_affinity_preferred);
    add_spread(key, spec->spread, spec->n_spread);
    add_int(key, spec->n_host_ports);
    for (uint32_t i = 0; i < spec->n_host_ports; i++) {
        add_text(key, spec->host_ports[i].host_ip);
        add_text(key, spec->host_ports[i].protocol);
        add_int(key, spec->host_ports[i].port);
    }
    add_int(key, spec->n_images);
    for (uint32_t i = 0; i < spec->n_images; i++)
        add_text(key, spec->images[i]);
    add_text(key, spec->priority_class);
    add_text(key, spec->scheduler_name);
    add_text(key, spec->preemption_policy);
    add_int(key, spec->unsupported);
}

static const char *intern(struct maar_world *world, struct maar_class_entry *cls, const char *text)
{
    uint32_t id = maar_strings_ref(world->strings, text ? text : "");
    maar_vec_push(&cls->strings, id);
    return maar_strings_text(world->strings, id);
}

static const struct maar_label *copy_labels(struct maar_world *world, struct maar_class_entry *cls,
                                            const struct maar_label *labels, uint32_t n)
{
    struct maar_label *out = maar_arena_calloc(cls->arena, n, sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        out[i].key = intern(world, cls, labels[i].key);
        out[i].value = intern(world, cls, labels[i].value);
    }
    return out;
}

static const char *const *copy_texts(struct maar_world *world, struct maar_class_entry *cls,
                                     const char *const *from, uint32_t n)
{
    const char **to = maar_arena_calloc(cls->arena, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = intern(world, cls, from[i]);
    return to;
}

static const struct maar_requirement *copy_requirements(struct maar_world *world,
                                                        struct maar_class_entry *cls,
                                                        const struct maar_requirement *from,
                                                        uint32_t n)
{
    struct maar_requirement *to = maar_arena_calloc(cls->arena, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].key = intern(world, cls, from[i].key);
        to[i].values = copy_texts(world, cls, from[i].values, from[i].n_values);
    }
    return to;
}

static void copy_term(struct maar_world *world, struct maar_class_entry *cls,
                      const struct maar_selector_term *from, struct maar_selector_term *to)
{
    to->n_requirements = from->n_requirements;
    to->requirements = copy_requirements(world, cls, from->requirements, from->n_requirements);
}

/* In place: `selector` is a copy that still points at the original's parts. */
static void own_selector(struct maar_world *world, struct maar_class_entry *cls,
                         struct maar_label_selector *selector)
{
    selector->requirements =
        copy_requirements(world, cls, selector->requirements, selector->n_requirements);
}

/* Likewise. */
static void own_affinity(struct maar_world *world, struct maar_class_entry *cls,
                         struct maar_affinity_terms *terms)
{
    struct maar_affinity_term *to = maar_arena_calloc(cls->arena, terms->n, sizeof *to);
    for (uint32_t i = 0; i < terms->n; i++) {
        to[i] = terms->terms[i];
        to[i].topology_key = intern(world, cls, to[i].topology_key);
        to[i].namespaces = copy_texts(world, cls, to[i].namespaces, to[i].n_namespaces);
        own_selector(world, cls, &to[i].selector);
        own_selector(world, cls, &to[i].namespace_selector);
    }
    terms->terms = to;
}

static const struct maar_spread_constraint *copy_spread(struct maar_world *world,
                                                        struct maar_class_entry *cls,
                                                        const struct maar_spread_constraint *from,
                                                        uint32_t n)
{
    struct maar_spread_constraint *to = maar_arena_calloc(cls->arena, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].topology_key = intern(world, cls, from[i].topology_key);
        own_selector(world, cls, &to[i].selector);
    }
    return to;
}

static const struct maar_pod_spec *copy_spec(struct maar_world *world, struct maar_class_entry *cls,
                                             const struct maar_pod_spec *from)
{
    struct maar_arena *arena = cls->arena;
    struct maar_pod_spec *to = maar_arena_alloc(arena, sizeof *to);
    *to = *from;
    to->node_selector = copy_labels(world, cls, from->node_selector, from->n_node_selector);
    struct maar_selector_term *required =
        maar_arena_calloc(arena, from->n_required, sizeof *required);
    for (uint32_t i = 0; i < from->n_required; i++)
        copy_term(world, cls, &from->required[i], &required[i]);
    to->required = required;
    struct maar_preferred_term *preferred =
        maar_arena_calloc(arena, from->n_preferred, sizeof *preferred);
    for (uint32_t i = 0; i < from->n_preferred; i++) {
        preferred[i].weight = from->preferred[i].weight;
        copy_term(world, cls, &from->preferred[i].term, &preferred[i].term);
    }
    to->preferred = preferred;
    struct maar_toleration *tolerations =
        maar_arena_calloc(arena, from->n_tolerations, sizeof *tolerations);
    for (uint32_t i = 0; i < from->n_tolerations; i++) {
        tolerations[i] = from->tolerations[i];
        tolerations[i].key = intern(world, cls, from->tolerations[i].key);
        tolerations[i].value = intern(world, cls, from->tolerations[i].value);
    }
    to->tolerations = tolerations;
    own_affinity(world, cls, &to->pod_affinity_required);
    own_affinity(world, cls, &to->pod_affinity_preferred);
    own_affinity(world, cls, &to->pod_anti_affinity_required);
    own_affinity(world, cls, &to->pod_anti_affinity_preferred);
    to->spread = copy_spread(world, cls, from->spread, from->n_spread);
    struct maar_host_port *ports = maar_arena_calloc(arena, from->n_host_ports, sizeof *ports);
    for (uint32_t i = 0; i < from->n_host_ports; i++) {
        ports[i].host_ip = intern(world, cls, from->host_ports[i].host_ip);
        ports[i].protocol = intern(world, cls, from->host_ports[i].protocol);
        ports[i].port = from->host_ports[i].port;
    }
    to->host_ports = ports;
    to->images = copy_texts(world, cls, from->images, from->n_images);
    to->priority_class = intern(world, cls, from->priority_class);
    to->scheduler_name = intern(world, cls, from->scheduler_name);
    to->preemption_policy = intern(world, cls, from->preemption_policy);
    return to;
}

static void set_request(struct maar_world *world, struct maar_class_entry *cls,
                        const struct maar_amounts_record *amounts)
{
    struct maar_resource request = {0};
    maar_resource_set(world, &request, amounts);
    int64_t *v = maar_arena_calloc(cls->arena, request.n, sizeof *v);
    for (uint32_t d = 0; d < request.n; d++)
        v[d] = maar_amount_bound_ask(request.v[d]);
    free(request.v);
    cls->view.request = (struct maar_resource){request.present, request.n, v};
    cls->view.best_effort = true;
    for (uint32_t d = 0; d < request.n; d++)
        if (d != MAAR_DIM_PODS && v[d] > 0)
            cls->view.best_effort = false;
}

static uint32_t take_slot(struct maar_world *world, struct maar_class_entry *cls)
{
    bool has_free = maar_map_n(world->classes_by_key) < world->class_slots.n;
    for (size_t i = 0; has_free && i < world->class_slots.n; i++) {
        if (!world->class_slots.data[i]) {
            world->class_slots.data[i] = cls;
            return (uint32_t)i;
        }
    }
    maar_vec_push(&world->class_slots, cls);
    return (uint32_t)world->class_slots.n - 1;
}

/* The class under `key` with one more task; NULL when it is new. The key is freed then. */
static struct maar_class_entry *find(struct maar_world *world, struct maar_text *key)
{
    struct maar_class_entry *cls =
        maar_map_find_bytes(world->classes_by_key, maar_text_get(key), key->n);
    if (!cls)
        return NULL;
    cls->view.n_tasks++;
    maar_text_fini(key);
    return cls;
}

static struct maar_class_entry *create(struct maar_world *world, struct maar_text *key,
                                       const char *ns, const struct maar_label *projected,
                                       uint32_t n_projected)
{
    struct maar_class_entry *cls = maar_calloc(1, sizeof *cls);
    cls->arena = maar_arena_create();
    cls->id = ++world->next_class_id;
    cls->key_n = key->n;
    cls->key = maar_text_steal(key);
    cls->view.n_tasks = 1;
    cls->view.slot = take_slot(world, cls);
    cls->view.ns = intern(world, cls, ns);
    cls->view.space = &maar_namespace_ref(world, ns)->view;
    cls->view.labels = copy_labels(world, cls, projected, n_projected);
    cls->view.n_labels = n_projected;
    maar_map_set_bytes(world->classes_by_key, cls->key, cls->key_n, cls);
    return cls;
}

struct maar_class_entry *maar_class_ref(struct maar_world *world, const struct maar_record *record,
                                        struct maar_label_set *labels)
{
    const struct maar_pod_record *pod = &record->pod;
    struct maar_amounts_record request = maar_pod_request(pod, record->arena);
    int64_t cpu = 0, memory = 0;
    maar_pod_request_nonzero(pod, &cpu, &memory);
    cpu = maar_amount_bound_ask(cpu);
    memory = maar_amount_bound_ask(memory);

    struct maar_label *projected = maar_calloc(labels->n ? labels->n : 1, sizeof *projected);
    uint32_t n_projected = maar_labels_project(world, labels, projected);
    struct maar_text key = MAAR_TEXT_INIT;
    /* The projected labels come first: another projection replaces the head of the key. */
    add_labels(&key, projected, n_projected);
    add_text(&key, record->ns);
    add_int(&key, request.n);
    for (uint32_t i = 0; i < request.n; i++) {
        add_text(&key, request.items[i].name);
        add_int(&key, request.items[i].value);
    }
    add_int(&key, cpu);
    add_int(&key, memory);
    add_labels(&key, pod->annotations, pod->n_annotations);
    add_spec(&key, &pod->spec);

    struct maar_class_entry *cls = find(world, &key);
    if (!cls) {
        cls = create(world, &key, record->ns, projected, n_projected);
        set_request(world, cls, &request);
        cls->view.nonzero_cpu_milli = cpu;
        cls->view.nonzero_memory_bytes = memory;
        cls->view.annotations = copy_labels(world, cls, pod->annotations, pod->n_annotations);
        cls->view.n_annotations = pod->n_annotations;
        cls->view.spec = copy_spec(world, cls, &pod->spec);
        maar_projection_add_class(world, cls);
        maar_tallies_add_class(world, cls);
    }
    free(projected);
    return cls;
}

struct maar_class_entry *maar_class_project(struct maar_world *world, struct maar_class_entry *cls,
                                            struct maar_label_set *labels)
{
    struct maar_text head = MAAR_TEXT_INIT;
    add_labels(&head, cls->view.labels, cls->view.n_labels);
    struct maar_label *projected = maar_calloc(labels->n ? labels->n : 1, sizeof *projected);
    uint32_t n_projected = maar_labels_project(world, labels, projected);
    struct maar_text key = MAAR_TEXT_INIT;
    add_labels(&key, projected, n_projected);
    maar_text_add_n(&key, cls->key + head.n, cls->key_n - head.n);
    maar_text_fini(&head);

    struct maar_class_entry *to = find(world, &key);
    if (!to) {
        to = create(world, &key, cls->view.ns, projected, n_projected);
        int64_t *v = maar_arena_calloc(to->arena, cls->view.request.n, sizeof *v);
        memcpy(v, cls->view.request.v, cls->view.request.n * sizeof *v);
        to->view.request = cls->view.request;
        to->view.request.v = v;
        to->view.best_effort = cls->view.best_effort;
        to->view.nonzero_cpu_milli = cls->view.nonzero_cpu_milli;
        to->view.nonzero_memory_bytes = cls->view.nonzero_memory_bytes;
        to->view.annotations =
            copy_labels(world, to, cls->view.annotations, cls->view.n_annotations);
        to->view.n_annotations = cls->view.n_annotations;
        to->view.spec = copy_spec(world, to, cls->view.spec);
        maar_projection_add_class(world, to);
        maar_tallies_add_class(world, to);
    }
    free(projected);
    return to;
}

void maar_class_unref(struct maar_world *world, struct maar_class_entry *cls)
{
    if (!cls || --cls->view.n_tasks > 0)
        return;
    maar_tallies_remove_class(world, cls);
    maar_projection_remove_class(world, cls);
    maar_map_remove_bytes(world->classes_by_key, cls->key, cls->key_n);
    world->class_slots.data[cls->view.slot] = NULL;
    maar_namespace_unref(world, maar_namespace_entry(cls->view.space));
    for (size_t i = 0; i < cls->strings.n; i++)
        maar_strings_unref(world->strings, cls->strings.data[i]);
    maar_vec_fini(&cls->strings);
    maar_arena_destroy(cls->arena);
    free(cls->key);
    free(cls);
}
