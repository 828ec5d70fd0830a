/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_FAKE_AFFINITY_H
#define MAAR_TEST_FAKE_AFFINITY_H

/* Labels, selectors, terms and constraints of the classes of a fake cluster, from short texts. */

#include "fake_view.h"

/* "app=web,rev=2" */
static inline void fake_labels(struct fake *f, struct maar_class *cls, const char *text)
{
    struct maar_label *labels = fake_alloc(f, 8 * sizeof *labels);
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    cls->n_labels = 0;
    for (char *save, *at = strtok_r(copy, ",", &save); at; at = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(at, '=');
        assert_non_null(equals);
        if (!equals)
            return;
        *equals = '\0';
        labels[cls->n_labels++] =
            (struct maar_label){fake_intern(f, at), fake_intern(f, equals + 1)};
    }
    cls->labels = labels;
}

/* A pod without requests and with these labels. */
static inline struct maar_class *fake_labelled(struct fake *f, const char *labels)
{
    struct maar_class *cls = fake_class(f, 0, 0, 0, 0);
    fake_labels(f, cls, labels);
    return cls;
}

/* Its class belongs to a namespace of its own, labelled like that. */
static inline void fake_move_to_space(struct fake *f, struct maar_class *cls, const char *ns,
                                      const char *labels)
{
    struct maar_class *holder = fake_labelled(f, labels);
    struct maar_namespace *space = fake_alloc(f, sizeof *space);
    *space = (struct maar_namespace){fake_intern(f, ns), holder->n_labels, holder->labels};
    cls->ns = space->name;
    cls->space = space;
}

static inline const char *const *fake_values(struct fake *f, char *text, uint32_t *ret_n)
{
    const char **values = fake_alloc(f, 8 * sizeof *values);
    *ret_n = 0;
    for (char *save, *at = strtok_r(text, "|", &save); at; at = strtok_r(NULL, "|", &save))
        values[(*ret_n)++] = fake_intern(f, at);
    return values;
}

/* "app=web|db,tier!=x,rev,-old": In, NotIn, Exists, DoesNotExist; "?app": an operator that is none. NULL: no selector;
 * "": one that matches everything. */
static inline struct maar_label_selector fake_selector(struct fake *f, const char *text)
{
    struct maar_requirement *list = fake_alloc(f, 8 * sizeof *list);
    struct maar_label_selector selector = {.is_set = text != NULL, .requirements = list};
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *save, *at = strtok_r(copy, ",", &save); at; at = strtok_r(NULL, ",", &save)) {
        struct maar_requirement *r = &list[selector.n_requirements++];
        char *equals = strchr(at, '=');
        r->op = *at == '-' ? MAAR_OP_DOES_NOT_EXIST : *at == '?' ? MAAR_OP_INVALID : MAAR_OP_EXISTS;
        at += *at == '-' || *at == '?';
        if (equals) {
            r->op = equals[-1] == '!' ? MAAR_OP_NOT_IN : MAAR_OP_IN;
            r->values = fake_values(f, equals + 1, &r->n_values);
            equals[r->op == MAAR_OP_NOT_IN ? -1 : 0] = '\0';
        }
        r->key = fake_intern(f, at);
    }
    return selector;
}

/* One more term of one of the lists of a class's spec, about pods of the class's namespace; may be changed. */
static inline struct maar_affinity_term *fake_term(struct fake *f, struct maar_class *cls,
                                                   struct maar_affinity_terms *list, int32_t weight,
                                                   const char *key, const char *selector)
{
    struct maar_affinity_term *terms = fake_alloc(f, (list->n + 1) * sizeof *terms);
    if (list->n > 0)
        memcpy(terms, list->terms, list->n * sizeof *terms);
    const char **namespaces = fake_alloc(f, sizeof *namespaces);
    namespaces[0] = cls->ns;
    terms[list->n] = (struct maar_affinity_term){.weight = weight,
                                                 .topology_key = fake_intern(f, key),
                                                 .selector = fake_selector(f, selector),
                                                 .n_namespaces = 1,
                                                 .namespaces = namespaces};
    list->terms = terms;
    bool known = false;
    for (uint32_t i = 0; i < f->view.n_affinity_keys; i++)
        known |= f->affinity_keys[i] == fake_intern(f, key);
    if (!known)
        f->affinity_keys[f->view.n_affinity_keys++] = fake_intern(f, key);
    f->view.affinity_keys = f->affinity_keys;
    return &terms[list->n++];
}

/* The namespaces that a term means instead: a list, NULL for none, and a selector. */
static inline void fake_term_spaces(struct fake *f, struct maar_affinity_term *term,
                                    const char *list, const char *selector)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", list ? list : "");
    term->namespaces = fake_values(f, copy, &term->n_namespaces);
    term->namespace_selector = fake_selector(f, selector);
}

/* One more constraint with the defaults of Kubernetes; may be changed until the next one is added. */
static inline struct maar_spread_constraint *fake_spread(struct fake *f, struct maar_class *cls,
                                                         bool hard, int32_t max_skew,
                                                         const char *key, const char *selector)
{
    struct maar_pod_spec *spec = fake_spec(cls);
    struct maar_spread_constraint *list = fake_alloc(f, (spec->n_spread + 1) * sizeof *list);
    if (spec->n_spread > 0)
        memcpy(list, spec->spread, spec->n_spread * sizeof *list);
    list[spec->n_spread] = (struct maar_spread_constraint){.max_skew = max_skew,
                                                           .min_domains = 1,
                                                           .topology_key = fake_intern(f, key),
                                                           .hard = hard,
                                                           .honor_affinity = true,
                                                           .selector = fake_selector(f, selector)};
    spec->spread = list;
    return &list[spec->n_spread++];
}

#endif
