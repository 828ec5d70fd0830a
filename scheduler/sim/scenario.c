// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Reading of the document stream and of the scenario's own keys.
#include "sim/scenario.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sim/document.h"
#include "sim/shorthand.h"
#include "wire/wire.h"

#define MAX_FILE_BYTES (100u * 1024 * 1024)
#define API_VERSION    "sim.maar.dev/v1"

struct loader {
    struct maar_scenario *scenario;
    struct maar_scenario_file *file;
    size_t n_documents; /* of the file */
    const json_t *own;  /* the scenario document */
    struct maar_field own_field;
    struct maar_map *seen; /* identity → struct maar_field * */
};

/* ---- manifests ---- */

static const char *kind_of(const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));
    return kind ? kind : "";
}

static int check_identity(const struct maar_field *field, const json_t *document,
                          struct maar_error *err)
{
    static const char *const texts[] = {"apiVersion", "kind", NULL};
    for (size_t i = 0; texts[i]; i++) {
        const char *text = json_string_value(json_object_get(document, texts[i]));
        struct maar_field child = maar_field_key(field, texts[i]);
        if (!text)
            return maar_field_error(&child, err, "a manifest needs the text %s", texts[i]);
        if (!*text || strlen(text) > 200)
            return maar_field_error(&child, err, "\"%.40s\" is no %s", text, texts[i]);
    }
    struct maar_field metadata = maar_field_key(field, "metadata");
    const json_t *map = json_object_get(document, "metadata");
    if (!json_is_object(map))
        return maar_field_error(&metadata, err, "a manifest needs the map metadata");
    const char *name = NULL, *ns = NULL;
    if (maar_field_text(&metadata, map, "name", &name, err) < 0 ||
        maar_field_text(&metadata, map, "namespace", &ns, err) < 0)
        return -EINVAL;
    if (!name || !*name)
        return maar_field_error(&metadata, err, "name is missing");
    struct maar_field at = maar_field_key(&metadata, "name");
    if (strlen(name) > 253 || strchr(name, '/'))
        return maar_field_error(&at, err, "\"%.60s\" is no name", name);
    at = maar_field_key(&metadata, "namespace");
    if (ns && (strlen(ns) > 253 || strchr(ns, '/')))
        return maar_field_error(&at, err, "\"%.60s\" is no namespace", ns);
    return 0;
}

/* Items of a PodList carry neither apiVersion nor kind. */
static json_t *complete_item(const json_t *list, const json_t *item)
{
    const char *kind = kind_of(list);
    size_t n = strlen(kind);
    if (!json_is_object(item))
        return json_deep_copy(item);
    json_t *copy = json_copy((json_t *)(uintptr_t)item);
    if (n > 4 && !json_object_get(copy, "kind"))
        json_object_set_new(copy, "kind", json_stringn(kind, n - 4));
    if (n > 4 && !json_object_get(copy, "apiVersion"))
        json_object_set(copy, "apiVersion", json_object_get(list, "apiVersion"));
    return copy;
}

int maar_scenario_unfold(const struct maar_field *field, const json_t *document,
                         maar_scenario_manifest_fn each, void *context, struct maar_error *err)
{
    const char *kind = kind_of(document);
    size_t n = strlen(kind);
    if (!json_is_object(document))
        return maar_field_error(field, err, "expected a manifest, that is a map");
    if (n < 4 || strcmp(kind + n - 4, "List") != 0 || !json_object_get(document, "items")) {
        int rc = check_identity(field, document, err);
        return rc < 0 ? rc : each(context, field, json_deep_copy(document), err);
    }
    json_t *items = NULL;
    int rc = maar_field_list(field, document, "items", &items, err);
    struct maar_field at = maar_field_key(field, "items");
    for (size_t i = 0; rc == 0 && i < json_array_size(items); i++) {
        struct maar_field child = maar_field_index(&at, i);
        json_t *item = complete_item(document, json_array_get(items, i));
        /* Lists in lists do not occur; one level keeps hostile input shallow. */
        rc = json_is_object(item) ? check_identity(&child, item, err)
                                  : maar_field_error(&child, err, "expected a manifest");
        if (rc == 0)
            rc = each(context, &child, json_deep_copy(item), err);
        json_decref(item);
    }
    return rc;
}

static int check_new(struct loader *loader, const struct maar_field *field, const json_t *document,
                     struct maar_error *err)
{
    char key[1200];
    const char *ns = maar_document_namespace(document), *kind = kind_of(document);
    const char *version = maar_document_text(document, "apiVersion");
    const struct maar_api_type *type = maar_api_type_find(version, kind);
    bool namespaced = type ? type->namespaced : *ns != 0;
    snprintf(key, sizeof key, "%s %s %s/%s", version, kind,
             !namespaced ? ""
             : *ns       ? ns
                         : "default",
             maar_document_name(document));
    const struct maar_field *first = maar_map_find(loader->seen, key);
    if (first)
        return maar_field_error(field, err, "%s %s%s%s is there already, from %s:%d", kind,
                                namespaced ? (*ns ? ns : "default") : "", namespaced ? "/" : "",
                                maar_document_name(document), first->file->path,
                                maar_field_line(first));
    struct maar_field *copy = maar_malloc(sizeof *copy);
    *copy = *field;
    maar_map_set(loader->seen, key, copy);
    return 0;
}

/* Takes the document over. */
static int add_manifest(void *context, const struct maar_field *field, json_t *document,
                        struct maar_error *err)
{
    struct loader *loader = context;
    struct maar_scenario_manifest manifest = {document, *field};
    int rc = check_new(loader, field, document, err);
    if (rc < 0) {
        json_decref(document);
        return rc;
    }
    maar_scenario_check_kind(loader->scenario, field, document);
    maar_vec_push(&loader->scenario->manifests, manifest);
    return 0;
}

/* ---- the scenario document ---- */

static int read_delays(struct maar_scenario *scenario, const struct maar_field *field,
                       const json_t *spec, struct maar_error *err)
{
    struct {
        const char *key;
        int64_t min;
        int64_t max;
        unsigned *target;
    } numbers[] = {
        {"cycles", 1, 10000000, &scenario->cycles},
        {"startDelay", 0, 1000000, &scenario->start_delay},
        {"bindDelay", 0, 1000000, &scenario->bind_delay},
        {"terminationDelay", 0, 1000000, &scenario->termination_delay},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t value = *numbers[i].target;
        if (maar_field_int(field, spec, numbers[i].key, numbers[i].min, numbers[i].max, &value,
                           err) < 0)
            return -EINVAL;
        *numbers[i].target = (unsigned)value;
    }
    return maar_field_bool(field, spec, "recreate", &scenario->recreate, err);
}

static int read_times(struct maar_scenario *scenario, const struct maar_field *field,
                      const json_t *spec, struct maar_error *err)
{
    const char *start = NULL;
    if (maar_field_text(field, spec, "start", &start, err) < 0 ||
        maar_field_duration(field, spec, "period", &scenario->period_ns, err) < 0)
        return -EINVAL;
    struct maar_field at = maar_field_key(field, "start");
    if (start && maar_time_parse(start, &scenario->start_ns) < 0)
        return maar_field_error(&at, err, "expected a time such as 2026-01-01T00:00:00Z");
    at = maar_field_key(field, "period");
    if (scenario->period_ns <= 0 || scenario->period_ns > INT64_C(86400) * MAAR_SECOND_NS)
        return maar_field_error(&at, err, "expected a duration above 0 and of at most a day");
    return 0;
}

static int read_features(struct maar_scenario *scenario, const struct maar_field *field,
                         const json_t *spec, struct maar_error *err)
{
    json_t *map = NULL;
    const char *name;
    const json_t *value;
    struct maar_field here = maar_field_key(field, "featureGates");
    if (maar_field_map(field, spec, "featureGates", &map, err) < 0)
        return -EINVAL;
    json_object_foreach ((json_t *)map, name, value) {
        struct maar_field at = maar_field_key(&here, name);
        bool is_on = false;
        if (maar_field_bool(&here, map, name, &is_on, err) < 0)
            return -EINVAL;
        if (!maar_feature_gates_set(&scenario->features, name, is_on))
            return maar_field_error(
                &at, err, "nothing depends on it; expected SchedulingGatesQueueAdmission");
    }
    return 0;
}

static int read_own(struct loader *loader, struct maar_error *err)
{
    static const char *const known[] = {"apiVersion", "kind", "metadata", "spec", NULL};
    static const char *const known_spec[] = {
        "conf",     "start",   "period", "cycles", "startDelay",   "bindDelay", "terminationDelay",
        "recreate", "cluster", "steps",  "expect", "featureGates", NULL};
    struct maar_scenario *scenario = loader->scenario;
    const struct maar_field *root = &loader->own_field;
    const struct maar_field field = maar_field_key(root, "spec");
    json_t *spec = NULL, *metadata = NULL, *cluster = NULL;
    const char *name = NULL;
    if (maar_field_check_map(root, loader->own, known, err) < 0 ||
        maar_field_map(root, loader->own, "metadata", &metadata, err) < 0 ||
        maar_field_map(root, loader->own, "spec", &spec, err) < 0)
        return -EINVAL;
    struct maar_field metadata_field = maar_field_key(root, "metadata");
    if (maar_field_text(&metadata_field, metadata, "name", &name, err) < 0)
        return -EINVAL;
    if (name) {
        free(scenario->name);
        scenario->name = maar_strdup(name);
    }
    if (!spec)
        return 0;
    if (maar_field_check_map(&field, spec, known_spec, err) < 0 ||
        maar_field_text(&field, spec, "conf", &scenario->conf, err) < 0 ||
        read_times(scenario, &field, spec, err) < 0 ||
        read_delays(scenario, &field, spec, err) < 0 ||
        read_features(scenario, &field, spec, err) < 0 ||
        maar_field_map(&field, spec, "cluster", &cluster, err) < 0)
        return -EINVAL;
    scenario->conf_field = maar_field_key(&field, "conf");
    struct maar_field at = maar_field_key(&field, "cluster");
    if (cluster &&
        maar_shorthand_expand(&at, cluster, scenario->start_ns, add_manifest, loader, err) < 0)
        return -EINVAL;
    if (maar_scenario_read_steps(scenario, &field, spec, err) < 0)
        return -EINVAL;
    return maar_scenario_read_expects(scenario, &field, spec, err);
}

/* ---- files ---- */

static int take_document(void *context, json_t *document, int line, struct maar_error *err)
{
    struct loader *loader = context;
    struct maar_field field = {.file = loader->file, .document = loader->n_documents++};
    (void)line; /* found again when something is wrong */
    json_incref(document);
    maar_vec_push(&loader->scenario->documents, document);
    if (json_is_null(document))
        return 0;
    const char *version = maar_document_text(document, "apiVersion");
    bool own = strncmp(version, "sim.maar.dev/", 13) == 0;
    if (!own)
        return maar_scenario_unfold(&field, document, add_manifest, loader, err);
    struct maar_field at = maar_field_key(&field, "apiVersion");
    if (strcmp(version, API_VERSION) != 0)
        return maar_field_error(&at, err, "expected " API_VERSION);
    at = maar_field_key(&field, "kind");
    if (strcmp(kind_of(document), "Scenario") != 0)
        return maar_field_error(&at, err, "expected Scenario");
    if (loader->own)
        return maar_field_error(&field, err, "a second Scenario; the first is at %s:%d",
                                loader->own_field.file->path, maar_field_line(&loader->own_field));
    loader->own = document;
    loader->own_field = field;
    return 0;
}

static struct maar_scenario_file *add_file(struct loader *loader, const char *path)
{
    struct maar_scenario_file *file = maar_calloc(1, sizeof *file);
    file->path = maar_strdup(strcmp(path, "-") == 0 ? "<stdin>" : path);
    maar_vec_push(&loader->scenario->files, file);
    return file;
}

static int read_documents(struct loader *loader, struct maar_scenario_file *file,
                          struct maar_error *err)
{
    loader->file = file;
    loader->n_documents = 0;
    int rc = maar_wire_yaml_each(file->text, file->n, file->path, take_document, loader, err);
    if (rc == 0 && loader->n_documents == 0)
        rc = maar_error_set(err, -EINVAL,
                            "%s: there is nothing in it; expected manifests or a scenario",
                            file->path);
    return rc;
}

/* "dir/two-gangs.yaml" → "two-gangs". */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    return maar_strndup(base, strcspn(base, "."));
}

static void begin(struct loader *loader, const char *path)
{
    struct maar_scenario *scenario = maar_calloc(1, sizeof *scenario);
    scenario->start_ns = INT64_C(1767225600) * MAAR_SECOND_NS; /* 2026-01-01T00:00:00Z */
    scenario->period_ns = MAAR_SECOND_NS;
    scenario->cycles = 50;
    scenario->termination_delay = 1;
    scenario->recreate = true;
    scenario->name = name_of_file(path);
    *loader = (struct loader){.scenario = scenario, .seen = maar_map_create()};
}

static int finish(struct loader *loader, int rc, struct maar_scenario **ret_scenario,
                  struct maar_error *err)
{
    if (rc == 0 && loader->own)
        rc = read_own(loader, err);
    size_t at = 0;
    void *value;
    while (maar_map_next(loader->seen, &at, NULL, NULL, &value))
        free(value);
    maar_map_destroy(loader->seen);
    if (rc < 0)
        maar_scenario_destroy(loader->scenario);
    else
        *ret_scenario = loader->scenario;
    return rc;
}

int maar_scenario_read(const char *const *paths, size_t n_paths,
                       struct maar_scenario **ret_scenario, struct maar_error *err)
{
    struct loader loader;
    int rc = 0;
    begin(&loader, n_paths ? paths[0] : "scenario");
    for (size_t i = 0; rc == 0 && i < n_paths; i++) {
        struct maar_scenario_file *file = add_file(&loader, paths[i]);
        rc = maar_file_read(paths[i], MAX_FILE_BYTES, &file->text, &file->n, err);
        if (rc == 0)
            rc = read_documents(&loader, file, err);
    }
    return finish(&loader, rc, ret_scenario, err);
}

int maar_scenario_parse(const char *path, const char *text, size_t n,
                        struct maar_scenario **ret_scenario, struct maar_error *err)
{
    struct loader loader;
    begin(&loader, path);
    struct maar_scenario_file *file = add_file(&loader, path);
    file->text = maar_calloc(n + 1, 1);
    memcpy(file->text, text, n);
    file->n = n;
    return finish(&loader, read_documents(&loader, file, err), ret_scenario, err);
}

void maar_scenario_step_fini(struct maar_scenario_step *step)
{
    struct maar_scenario_manifest *manifest;
    MAAR_VEC_EACH (&step->apply, manifest)
        json_decref(manifest->document);
    maar_vec_fini(&step->apply);
    maar_vec_fini(&step->deletes);
    maar_vec_fini(&step->patches);
    maar_vec_fini(&step->faults);
    maar_vec_fini(&step->holds);
}

void maar_scenario_destroy(struct maar_scenario *scenario)
{
    if (!scenario)
        return;
    struct maar_scenario_manifest *manifest;
    struct maar_scenario_step *step;
    struct maar_scenario_file **file;
    json_t **document;
    MAAR_VEC_EACH (&scenario->manifests, manifest)
        json_decref(manifest->document);
    MAAR_VEC_EACH (&scenario->steps, step)
        maar_scenario_step_fini(step);
    MAAR_VEC_EACH (&scenario->documents, document)
        json_decref(*document);
    MAAR_VEC_EACH (&scenario->files, file) {
        free((*file)->path);
        free((*file)->text);
        free(*file);
    }
    maar_vec_fini(&scenario->manifests);
    maar_vec_fini(&scenario->steps);
    maar_vec_fini(&scenario->expects);
    maar_vec_fini(&scenario->warnings);
    maar_vec_fini(&scenario->documents);
    maar_vec_fini(&scenario->files);
    free(scenario->name);
    free(scenario);
}

unsigned maar_scenario_last_cycle(const struct maar_scenario *scenario)
{
    unsigned last = 0;
    for (size_t i = 0; i < scenario->steps.n; i++)
        if (scenario->steps.data[i].cycle > last)
            last = scenario->steps.data[i].cycle;
    for (size_t i = 0; i < scenario->expects.n; i++)
        if (scenario->expects.data[i].cycle > last)
            last = scenario->expects.data[i].cycle;
    return last;
}
