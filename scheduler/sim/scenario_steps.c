// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The `steps:` of a scenario: what happens before a cycle.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "sim/document.h"
#include "sim/scenario.h"
#include "sim/shorthand.h"

int maar_scenario_read_target(const struct maar_field *field, const char *text,
                              struct maar_scenario_target *ret, struct maar_error *err)
{
    char kind[64];
    size_t n = strcspn(text, "/");
    const char *rest = text[n] ? text + n + 1 : "";
    const char *slash = strchr(rest, '/');
    if (n == 0 || n >= sizeof kind || !*rest || (slash && (!slash[1] || strchr(slash + 1, '/'))) ||
        strlen(rest) > 250)
        return maar_field_error(
            field, err, "\"%.100s\": expected pod/NAMESPACE/NAME, node/NAME or the like", text);
    memcpy(kind, text, n);
    kind[n] = 0;
    *ret = (struct maar_scenario_target){.type = maar_api_type_named(kind)};
    if (!ret->type) {
        const char *nearest = maar_api_type_nearest(kind);
        return maar_field_error(field, err, "unknown kind \"%s\"%s%s%s", kind,
                                nearest ? "; did you mean " : "", nearest ? nearest : "",
                                nearest ? "?" : "");
    }
    if (slash && !ret->type->namespaced)
        return maar_field_error(field, err, "a %s has no namespace", kind);
    if (ret->type->namespaced)
        snprintf(ret->ns, sizeof ret->ns, "%.*s", slash ? (int)(slash - rest) : 7,
                 slash ? rest : "default");
    snprintf(ret->name, sizeof ret->name, "%s", slash ? slash + 1 : rest);
    return 0;
}

struct apply_state {
    struct maar_scenario *scenario;
    struct maar_scenario_step *step;
};

static int add_apply(void *context, const struct maar_field *field, json_t *document,
                     struct maar_error *err)
{
    struct apply_state *state = context;
    struct maar_scenario_manifest manifest = {document, *field};
    (void)err;
    maar_scenario_check_kind(state->scenario, field, document);
    maar_vec_push(&state->step->apply, manifest);
    return 0;
}

static int read_apply_item(struct apply_state *state, const struct maar_field *field,
                           const json_t *item, struct maar_error *err)
{
    const json_t *cluster = json_object_get(item, "cluster");
    if (!cluster || json_object_get(item, "kind"))
        return maar_scenario_unfold(field, item, add_apply, state, err);
    static const char *const known[] = {"cluster", NULL};
    struct maar_field child = maar_field_key(field, "cluster");
    if (maar_field_check_map(field, item, known, err) < 0)
        return -EINVAL;
    return maar_shorthand_expand(&child, cluster, state->scenario->start_ns, add_apply, state, err);
}

static int read_apply(struct apply_state *state, const struct maar_field *field,
                      const json_t *entry, struct maar_error *err)
{
    const json_t *value = json_object_get(entry, "apply");
    struct maar_field at = maar_field_key(field, "apply");
    if (!value || json_is_null(value))
        return 0;
    if (json_is_object(value))
        return read_apply_item(state, &at, value, err);
    if (!json_is_array(value))
        return maar_field_error(&at, err, "expected a list of manifests or a cluster: block");
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct maar_field child = maar_field_index(&at, i);
        int rc = read_apply_item(state, &child, json_array_get(value, i), err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_deletes(struct maar_scenario_step *step, const struct maar_field *field,
                        const json_t *entry, struct maar_error *err)
{
    json_t *list = NULL;
    struct maar_field at = maar_field_key(field, "delete");
    if (maar_field_list(field, entry, "delete", &list, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        const char *text = json_string_value(json_array_get(list, i));
        struct maar_scenario_target target;
        if (!text)
            return maar_field_error(&child, err, "expected a text such as pod/default/a-0");
        if (maar_scenario_read_target(&child, text, &target, err) < 0)
            return -EINVAL;
        maar_vec_push(&step->deletes, target);
    }
    return 0;
}

static int read_target_of(const struct maar_field *field, const json_t *entry,
                          struct maar_scenario_target *ret, struct maar_error *err)
{
    const char *text = NULL;
    struct maar_field at = maar_field_key(field, "target");
    if (maar_field_text(field, entry, "target", &text, err) < 0)
        return -EINVAL;
    if (!text)
        return maar_field_error(field, err, "target is missing");
    return maar_scenario_read_target(&at, text, ret, err);
}

static int read_patches(struct maar_scenario_step *step, const struct maar_field *field,
                        const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"target", "merge", NULL};
    json_t *list = NULL;
    struct maar_field at = maar_field_key(field, "patch");
    if (maar_field_list(field, entry, "patch", &list, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        const json_t *item = json_array_get(list, i);
        struct maar_scenario_patch patch = {.merge = NULL};
        json_t *merge = NULL;
        if (maar_field_check_map(&child, item, known, err) < 0 ||
            read_target_of(&child, item, &patch.target, err) < 0 ||
            maar_field_map(&child, item, "merge", &merge, err) < 0)
            return -EINVAL;
        if (!merge)
            return maar_field_error(&child, err, "merge is missing");
        patch.merge = merge;
        maar_vec_push(&step->patches, patch);
    }
    return 0;
}

static int read_verb(const struct maar_field *field, const json_t *entry, int *ret_kind,
                     struct maar_error *err)
{
    const char *verb = NULL;
    const char *names[MAAR_N_WRITE_KINDS + 2];
    if (maar_field_text(field, entry, "verb", &verb, err) < 0)
        return -EINVAL;
    *ret_kind = -1;
    if (!verb || strcmp(verb, "*") == 0)
        return 0;
    for (int i = 0; i < MAAR_N_WRITE_KINDS; i++) {
        names[i] = maar_write_kind_name((enum maar_write_kind)i);
        if (strcmp(names[i], verb) == 0) {
            *ret_kind = i;
            return 0;
        }
    }
    names[MAAR_N_WRITE_KINDS] = NULL;
    const char *nearest = maar_text_nearest(verb, names);
    struct maar_field at = maar_field_key(field, "verb");
    return maar_field_error(&at, err,
                            "\"%.40s\" is none of bind, evict, ungate, podgroup-status, "
                            "pod-condition, queue-status, queue-create, event%s%s%s",
                            verb, nearest ? "; did you mean " : "", nearest ? nearest : "",
                            nearest ? "?" : "");
}

static int read_faults(struct maar_scenario_step *step, const struct maar_field *field,
                       const json_t *entry, struct maar_error *err)
{
    static const char *const known[] = {"verb", "target", "code", "times", NULL};
    json_t *list = NULL;
    struct maar_field at = maar_field_key(field, "fail");
    if (maar_field_list(field, entry, "fail", &list, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        const json_t *item = json_array_get(list, i);
        struct maar_fault fault = {0};
        struct maar_scenario_target target = {0};
        int64_t code = 500, times = 1;
        if (maar_field_check_map(&child, item, known, err) < 0 ||
            read_verb(&child, item, &fault.kind, err) < 0 ||
            maar_field_int(&child, item, "code", 0, 599, &code, err) < 0 ||
            maar_field_int(&child, item, "times", 1, 1000000, &times, err) < 0)
            return -EINVAL;
        if (json_object_get(item, "target")) {
            if (read_target_of(&child, item, &target, err) < 0)
                return -EINVAL;
            fault.type = target.type;
            memcpy(fault.ns, target.ns, sizeof fault.ns);
            memcpy(fault.name, target.name, sizeof fault.name);
        }
        struct maar_field code_field = maar_field_key(&child, "code");
        if (code != 0 && code < 400)
            return maar_field_error(&code_field, err, "%lld is no failure", (long long)code);
        fault.code = (int)code;
        fault.times = (unsigned)times;
        maar_vec_push(&step->faults, fault);
    }
    return 0;
}

static int read_hold(struct maar_scenario_step *step, const struct maar_field *field,
                     const json_t *item, struct maar_error *err)
{
    static const char *const known[] = {"kind", "cycles", NULL};
    const char *kind = NULL;
    int64_t cycles = 1;
    if (maar_field_check_map(field, item, known, err) < 0 ||
        maar_field_text(field, item, "kind", &kind, err) < 0 ||
        maar_field_int(field, item, "cycles", 1, 1000000, &cycles, err) < 0)
        return -EINVAL;
    struct maar_field at = maar_field_key(field, "kind");
    struct maar_scenario_hold hold = {kind ? maar_api_type_named(kind) : NULL, (unsigned)cycles};
    if (!hold.type) {
        const char *nearest = kind ? maar_api_type_nearest(kind) : NULL;
        return maar_field_error(&at, err, "expected a kind such as PodGroup%s%s%s",
                                nearest ? "; did you mean " : "", nearest ? nearest : "",
                                nearest ? "?" : "");
    }
    maar_vec_push(&step->holds, hold);
    return 0;
}

static int read_holds(struct maar_scenario_step *step, const struct maar_field *field,
                      const json_t *entry, struct maar_error *err)
{
    const json_t *value = json_object_get(entry, "hold");
    struct maar_field at = maar_field_key(field, "hold");
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_array(value))
        return read_hold(step, &at, value, err);
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct maar_field child = maar_field_index(&at, i);
        int rc = read_hold(step, &child, json_array_get(value, i), err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_step(struct maar_scenario *scenario, const struct maar_field *field,
                     const json_t *entry, struct maar_scenario_step *step, struct maar_error *err)
{
    static const char *const known[] = {"cycle", "apply", "delete",  "patch",
                                        "fail",  "hold",  "restart", NULL};
    struct apply_state state = {scenario, step};
    int64_t cycle = 0;
    if (maar_field_check_map(field, entry, known, err) < 0 ||
        maar_field_int(field, entry, "cycle", 1, 10000000, &cycle, err) < 0)
        return -EINVAL;
    if (cycle == 0)
        return maar_field_error(field, err, "cycle is missing");
    step->cycle = (unsigned)cycle;
    step->field = *field;
    if (read_apply(&state, field, entry, err) < 0 || read_deletes(step, field, entry, err) < 0 ||
        read_patches(step, field, entry, err) < 0 || read_faults(step, field, entry, err) < 0 ||
        read_holds(step, field, entry, err) < 0)
        return -EINVAL;
    return maar_field_bool(field, entry, "restart", &step->restart, err);
}

/* Insertion keeps the file's order within a cycle. */
static void insert_step(struct maar_scenario *scenario, const struct maar_scenario_step *step)
{
    size_t at = scenario->steps.n;
    maar_vec_push(&scenario->steps, *step);
    struct maar_scenario_step *steps = scenario->steps.data;
    for (; at > 0 && steps[at - 1].cycle > step->cycle; at--)
        steps[at] = steps[at - 1];
    steps[at] = *step;
}

int maar_scenario_read_steps(struct maar_scenario *scenario, const struct maar_field *field,
                             const json_t *spec, struct maar_error *err)
{
    json_t *list = NULL;
    struct maar_field at = maar_field_key(field, "steps");
    if (maar_field_list(field, spec, "steps", &list, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct maar_field child = maar_field_index(&at, i);
        struct maar_scenario_step step = {0};
        int rc = read_step(scenario, &child, json_array_get(list, i), &step, err);
        if (rc < 0) {
            maar_scenario_step_fini(&step);
            return rc;
        }
        insert_step(scenario, &step);
    }
    return 0;
}
