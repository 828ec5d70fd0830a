/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Files in, objects out: what sort of file it is, which objects are in it, and the order in which the rules look at
 * them. A file that cannot be read to its end still gives the objects before that place. */

#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/parts.h"
#include "sim/api_type.h"
#include "sim/document.h"
#include "sim/scenario.h"
#include "wire/wire.h"

#define MAX_NAMES 1000 /* that a misspelt one is compared with */

/* ---- looking up ---- */

static void identity(char *out, size_t size, const char *api_version, const char *kind,
                     const char *ns, const char *name)
{
    snprintf(out, size, "%.200s %.200s %.253s/%.253s", api_version, kind, ns, name);
}

static const struct maar_api_type *type_of_kind(const char *kind)
{
    for (size_t i = 0; i < maar_api_n_types(); i++)
        if (strcmp(maar_api_type(i)->kind, kind) == 0)
            return maar_api_type(i);
    return NULL;
}

const struct maar_check_object *maar_check_find(const struct maar_check *check, const char *kind,
                                                const char *ns, const char *name)
{
    char key[1000];
    const struct maar_api_type *type = type_of_kind(kind);
    if (!type)
        return NULL;
    identity(key, sizeof key, type->api_version, kind, type->namespaced ? ns : "", name);
    return maar_map_find(check->by_identity, key);
}

bool maar_check_has_kind(const struct maar_check *check, const char *kind)
{
    return maar_map_find(check->kinds, kind) != NULL;
}

struct maar_field maar_check_path(const struct maar_field *field, const char *path)
{
    struct maar_field child = *field;
    snprintf(child.path, sizeof child.path, "%.140s%s%.110s", field->path,
             *field->path && *path && *path != '[' ? "." : "", path);
    return child;
}

/* The name of an object of that kind that is like this one. */
static const char *nearest_name(const struct maar_check *check, const char *kind, const char *ns,
                                const char *name)
{
    MAAR_VEC(const char *) names = {0};
    struct maar_check_object *const *at;
    if (maar_findings_are_full(&check->findings))
        return NULL;
    MAAR_VEC_EACH (&check->objects, at)
        if (names.n < MAX_NAMES && strcmp((*at)->kind, kind) == 0 &&
            (!*(*at)->ns || strcmp((*at)->ns, ns) == 0))
            maar_vec_push(&names, (*at)->name);
    maar_vec_push(&names, NULL);
    const char *nearest = maar_text_nearest(name, names.data);
    maar_vec_fini(&names);
    return nearest;
}

void maar_check_reference(struct maar_check *check, const struct maar_field *field,
                          const char *kind, const char *ns, const char *name)
{
    if (!maar_check_has_kind(check, kind) || maar_check_find(check, kind, ns, name))
        return;
    maar_findings_add(&check->findings, field, false, nearest_name(check, kind, ns, name),
                      "there is no %s \"%.100s\" in the input", kind, name);
}

/* ---- objects ---- */

static void decode(struct maar_check *check, struct maar_check_object *object)
{
    struct maar_error err = MAAR_ERROR_INIT;
    int kind = maar_wire_kind(object->api_version, object->kind);
    if (kind < 0)
        return;
    if (maar_wire_decode_json((enum maar_kind)kind, object->document, NULL, &object->record, &err) <
        0)
        maar_findings_add(&check->findings, &object->field, true, NULL, "%s", err.text);
}

static void check_new(struct maar_check *check, struct maar_check_object *object)
{
    char key[1000];
    identity(key, sizeof key, object->api_version, object->kind, object->ns, object->name);
    const struct maar_check_object *first = maar_map_find(check->by_identity, key);
    if (!first) {
        maar_map_set(check->by_identity, key, object);
        return;
    }
    maar_findings_add(&check->findings, &object->field, false, NULL,
                      "%s %s%s%s is there already, from %s:%d", object->kind, object->ns,
                      *object->ns ? "/" : "", object->name, first->field.file->path,
                      maar_field_line(&first->field));
}

static void take_embedded(struct maar_check *check, const struct maar_field *field,
                          const char *text)
{
    bool is_literal;
    maar_autofree char *conf = maar_field_embedded(field, text, &is_literal);
    maar_check_conf(check, field->file, is_literal ? NULL : field, conf, strlen(conf));
}

/* data["volcano-scheduler.conf"], or volcano-scheduler-NAME.conf: what Volcano's chart mounts. */
static void take_config_map(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_field data = maar_field_key(&object->field, "data");
    const char *key;
    json_t *value;
    json_object_foreach (maar_document_at(object->document, "data"), key, value) {
        size_t n = strlen(key);
        const char *text = json_string_value(value);
        if (!text || strncmp(key, "volcano-scheduler", 17) != 0 || n < 22 ||
            strcmp(key + n - 5, ".conf") != 0)
            continue;
        struct maar_field field = maar_field_key(&data, key);
        take_embedded(check, &field, text);
    }
}

/* Takes the document over. */
static int add_object(void *context, const struct maar_field *field, json_t *document,
                      struct maar_error *err)
{
    struct maar_check *check = context;
    struct maar_check_object *object = maar_calloc(1, sizeof *object);
    (void)err;
    object->field = *field;
    object->document = document;
    object->api_version = maar_document_text(document, "apiVersion");
    object->kind = maar_document_text(document, "kind");
    object->name = maar_document_name(document);
    object->ns = maar_document_namespace(document);
    const struct maar_api_type *type = maar_api_type_find(object->api_version, object->kind);
    if (type && !type->namespaced)
        object->ns = "";
    else if (type && !*object->ns)
        object->ns = "default";
    decode(check, object);
    check_new(check, object);
    maar_vec_push(&check->objects, object);
    maar_map_set(check->kinds, object->kind, object);
    if (strcmp(object->kind, "ConfigMap") == 0)
        take_config_map(check, object);
    return 0;
}

/* ---- files ---- */

typedef MAAR_VEC(json_t *) documents_vec;

static int keep_document(void *context, json_t *document, int line, struct maar_error *err)
{
    documents_vec *documents = context;
    (void)line;
    (void)err;
    maar_vec_push(documents, json_incref(document));
    return 0;
}

static bool is_own(const json_t *document)
{
    return strncmp(maar_document_text(document, "apiVersion"), "sim.maar.dev/", 13) == 0;
}

/* By its keys, or by its name when it has none that tell. */
static bool is_conf(const char *path, const json_t *first)
{
    size_t n = strlen(path);
    if (json_object_get(first, "apiVersion") || json_object_get(first, "kind"))
        return false;
    if (n > 5 && strcmp(path + n - 5, ".conf") == 0)
        return true;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)first, key, value)
        if (maar_text_nearest(key, maar_conf_keys()))
            return true;
    return false;
}

static bool take_scenario(struct maar_check *check, const struct maar_scenario_file *file)
{
    struct maar_scenario *scenario = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_scenario_parse(file->path, file->text, file->n, &scenario, &err) < 0) {
        maar_findings_add_error(&check->findings, file, &err);
        return false;
    }
    struct maar_scenario_manifest *manifest;
    struct maar_scenario_step *step;
    if (scenario->conf) {
        struct maar_field field = scenario->conf_field;
        field.file = file;
        take_embedded(check, &field, scenario->conf);
    }
    MAAR_VEC_EACH (&scenario->manifests, manifest) {
        struct maar_field field = manifest->field;
        field.file = file;
        (void)add_object(check, &field, json_incref(manifest->document), NULL);
    }
    MAAR_VEC_EACH (&scenario->steps, step) {
        MAAR_VEC_EACH (&step->apply, manifest) {
            struct maar_field field = manifest->field;
            field.file = file;
            (void)add_object(check, &field, json_incref(manifest->document), NULL);
        }
    }
    maar_scenario_destroy(scenario);
    return true;
}

static struct maar_scenario_file *add_file(struct maar_check *check, const char *path,
                                           const char *text, size_t n)
{
    struct maar_scenario_file *file = maar_calloc(1, sizeof *file);
    file->path = maar_strdup(path);
    file->text = maar_calloc(n + 1, 1);
    memcpy(file->text, text, n);
    file->n = n;
    maar_vec_push(&check->files, file);
    maar_vec_push(&check->order, file);
    return file;
}

void maar_check_use_conf(struct maar_check *check, const char *path, const char *text, size_t n)
{
    check->conf_file = add_file(check, path, text, n);
    maar_check_conf(check, check->conf_file, NULL, text, n);
}

/* A scenario beside another: with the same configuration, whose findings are told once. */
static void add_other(struct maar_check *check, const struct maar_scenario_file *file)
{
    struct maar_check *other = maar_check_create(check->registry);
    const struct maar_scenario_file *conf = check->conf_file;
    maar_vec_push(&check->others, other);
    if (conf &&
        maar_conf_examine(conf->text, conf->n, conf->path,
                          maar_registry_action_names(check->registry), &other->conf, NULL) < 0)
        other->conf = NULL;
    maar_check_add(other, file->path, file->text, file->n);
    maar_vec_push(&check->order, other->files.data[0]);
}

static bool has_scenario(const documents_vec *documents)
{
    for (size_t i = 0; i < documents->n; i++)
        if (is_own(documents->data[i]))
            return true;
    return false;
}

static void take_manifests(struct maar_check *check, const struct maar_scenario_file *file,
                           const documents_vec *documents)
{
    for (size_t i = 0; i < documents->n; i++) {
        struct maar_field field = {.file = file, .document = i};
        struct maar_error err = MAAR_ERROR_INIT;
        if (!is_own(documents->data[i]) &&
            maar_scenario_unfold(&field, documents->data[i], add_object, check, &err) < 0)
            maar_findings_add_error(&check->findings, file, &err);
    }
}

/* What was read before an error counts, but not as a scenario. */
static void take_documents(struct maar_check *check, const struct maar_scenario_file *file,
                           const documents_vec *documents, const struct maar_error *err)
{
    bool is_scenario = has_scenario(documents);
    check->has_scenario |= is_scenario;
    if (*err->text)
        maar_findings_add_error(&check->findings, file, err);
    else if (documents->n == 0)
        maar_findings_add_text(&check->findings, file, 1, 1, true,
                               "there is nothing in it; expected manifests, a scenario or a "
                               "scheduler.conf");
    else if (is_scenario && take_scenario(check, file))
        return;
    take_manifests(check, file, documents);
}

void maar_check_add(struct maar_check *check, const char *path, const char *text, size_t n)
{
    const struct maar_scenario_file *file = add_file(check, path, text, n);
    documents_vec documents = {0};
    struct maar_error err = MAAR_ERROR_INIT;
    if (maar_wire_yaml_each(text, n, path, keep_document, &documents, &err) == 0)
        *err.text = '\0';
    if (is_conf(path, documents.n > 0 ? documents.data[0] : NULL))
        maar_check_conf(check, file, NULL, text, n);
    else if (check->has_scenario && has_scenario(&documents))
        add_other(check, file);
    else
        take_documents(check, file, &documents, &err);
    for (size_t i = 0; i < documents.n; i++)
        json_decref(documents.data[i]);
    maar_vec_fini(&documents);
}

/* ---- judging ---- */

static void check_kind(struct maar_check *check, const struct maar_check_object *object)
{
    char key[500];
    char text[700];
    snprintf(key, sizeof key, "%s %s", object->api_version, object->kind);
    if (maar_map_find(check->unknown_kinds, key) ||
        !maar_scenario_unknown_kind(object->api_version, object->kind, text, sizeof text))
        return;
    maar_map_set(check->unknown_kinds, key, check);
    struct maar_field field = maar_field_key(&object->field, "kind");
    int line, column;
    maar_field_locate(&field, &line, &column);
    maar_autofree char *whole = maar_asprintf("%s: %s", field.path, text);
    maar_findings_add_text(&check->findings, field.file, line, column, false, whole);
}

void maar_check_fault(struct maar_check *check, const struct maar_field *field, const char *fault)
{
    size_t n = strcspn(fault, " ");
    if (n == 0 || fault[n - 1] != ':' || n > 200) {
        if (*fault)
            maar_findings_add(&check->findings, field, true, NULL, "%s", fault);
        return;
    }
    maar_autofree char *path = maar_strndup(fault, n - 1);
    struct maar_field at = maar_check_path(field, path);
    maar_findings_add(&check->findings, &at, true, NULL, "%s", fault + n + (fault[n] == ' '));
}

/* "annotation KEY: text": what the decoder does without. */
static void check_warning(struct maar_check *check, const struct maar_check_object *object)
{
    static const char word[] = "annotation ";
    const char *text = object->record->warning;
    const struct maar_field at = maar_check_path(&object->field, "metadata.annotations");
    if (!text || !*text)
        return;
    bool is_of_key = strncmp(text, word, sizeof word - 1) == 0;
    const char *key_text = is_of_key ? text + sizeof word - 1 : "";
    size_t n = strcspn(key_text, ":");
    maar_autofree char *key = maar_strndup(key_text, n);
    struct maar_field field = is_of_key ? maar_field_key(&at, key) : object->field;
    maar_findings_add(&check->findings, &field, false, NULL, "%s",
                      is_of_key && key_text[n] ? key_text + n + 2 : text);
}

static void check_object(struct maar_check *check, const struct maar_check_object *object)
{
    const struct maar_field metadata = maar_field_key(&object->field, "metadata");
    check_kind(check, object);
    maar_check_keys(check, &metadata, json_object_get(object->document, "metadata"));
    maar_check_schema(check, object);
    if (object->record) {
        maar_check_fault(check, &object->field, object->record->fault);
        check_warning(check, object);
    }
    if (object->record && object->record->kind == MAAR_KIND_QUEUE)
        maar_check_queue(check, object);
    if (object->record && object->record->kind == MAAR_KIND_POD_GROUP)
        maar_check_group(check, object);
    maar_check_jobs(check, object);
}

struct maar_findings *maar_check_finish(struct maar_check *check)
{
    check->conf_is_built_in = !check->conf;
    if (!check->conf)
        check->conf = maar_conf_default();
    for (size_t i = 0; i < check->objects.n; i++)
        maar_check_collect(check, check->objects.data[i]);
    for (size_t i = 0; i < check->objects.n; i++)
        check_object(check, check->objects.data[i]);
    for (size_t i = 0; i < check->pods.n; i++)
        maar_check_pods(check, &check->pods.data[i]);
    for (size_t i = 0; i < check->others.n; i++)
        maar_findings_move(&check->findings, maar_check_finish(check->others.data[i]));
    maar_findings_finish(&check->findings, check->order.data, check->order.n);
    return &check->findings;
}

/* ---- the check itself ---- */

struct maar_check *maar_check_create(const struct maar_registry *registry)
{
    struct maar_check *check = maar_calloc(1, sizeof *check);
    check->registry = registry;
    check->by_identity = maar_map_create();
    check->kinds = maar_map_create();
    check->unknown_kinds = maar_map_create();
    check->schemas = maar_map_create();
    check->members = maar_map_create();
    check->sums = maar_map_create();
    check->offered = maar_map_create();
    return check;
}

void maar_check_destroy(struct maar_check *check)
{
    if (!check)
        return;
    for (size_t i = 0; i < check->objects.n; i++) {
        maar_record_destroy(check->objects.data[i]->record);
        json_decref(check->objects.data[i]->document);
        free(check->objects.data[i]);
    }
    maar_vec_fini(&check->objects);
    maar_vec_fini(&check->pods);
    size_t at = 0;
    void *sum;
    while (maar_map_next(check->sums, &at, NULL, NULL, &sum))
        free(sum);
    maar_map_destroy(check->sums);
    maar_check_schemas_destroy(check->schemas);
    maar_check_members_destroy(check->members);
    maar_map_destroy(check->by_identity);
    maar_map_destroy(check->kinds);
    maar_map_destroy(check->unknown_kinds);
    maar_map_destroy(check->offered);
    maar_findings_fini(&check->findings);
    maar_conf_destroy(check->conf);
    for (size_t i = 0; i < check->others.n; i++)
        maar_check_destroy(check->others.data[i]);
    maar_vec_fini(&check->others);
    maar_vec_fini(&check->order);
    for (size_t i = 0; i < check->files.n; i++) {
        free(check->files.data[i]->path);
        free(check->files.data[i]->text);
        free(check->files.data[i]);
    }
    maar_vec_fini(&check->files);
    free(check);
}
