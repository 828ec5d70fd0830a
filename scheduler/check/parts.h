/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CHECK_PARTS_H
#define MAAR_CHECK_PARTS_H

/* What the parts of a check share. Inside check/ only. */

#include <jansson.h>

#include "base/map.h"
#include "base/vec.h"
#include "check/check.h"
#include "conf/conf.h"
#include "model/record.h"

/* An object of the input. */
struct maar_check_object {
    struct maar_field field;
    json_t *document; /* owned */
    const char *api_version;
    const char *kind;
    const char *ns; /* "" for kinds that have none, "default" where it is left out */
    const char *name;
    struct maar_record *record; /* owned; of kinds that scheduling reads, NULL else */
};

/* Pods of an object: itself, or what its template makes `n` of. */
struct maar_check_pods {
    const struct maar_check_object *object;
    struct maar_field field; /* of the map that has metadata and spec */
    const json_t *template;  /* that map */
    int64_t n;               /* 0 when only the cluster knows */
    bool is_of_volcano_job;  /* a controller gives them group and scheduler */
};

/* The pods that name one PodGroup. */
struct maar_check_members {
    int64_t n;
    bool is_open;           /* some workload makes as many as the cluster says */
    struct maar_map *roles; /* name → int64_t *, owned */
};

struct maar_check {
    const struct maar_registry *registry;
    struct maar_conf *conf; /* NULL: none yet */
    bool conf_is_built_in;
    struct maar_findings findings;
    MAAR_VEC(struct maar_scenario_file *) files;
    MAAR_VEC(const struct maar_scenario_file *) order; /* files, also those of others */
    const struct maar_scenario_file *conf_file;        /* that was asked for, NULL without */
    bool has_scenario;
    MAAR_VEC(struct maar_check *) others; /* further scenarios, each an input of its own */
    MAAR_VEC(struct maar_check_object *) objects;
    MAAR_VEC(struct maar_check_pods) pods;
    struct maar_map *by_identity;   /* → struct maar_check_object, the first of that identity */
    struct maar_map *kinds;         /* those of the objects */
    struct maar_map *unknown_kinds; /* "version kind", each told once */
    struct maar_map *schemas;       /* "version kind" → json_t, the schema of the whole object */
    struct maar_map *members;       /* "ns/name" of a PodGroup → struct maar_check_members */
    struct maar_map *sums;    /* "queue set resource" → int64_t *, over the queue's children */
    struct maar_map *offered; /* names of resources that nodes of the input offer */
};

/* ---- for all rules ---- */

/* The object of a kind by name, NULL when it is not there. */
const struct maar_check_object *maar_check_find(const struct maar_check *check, const char *kind,
                                                const char *ns, const char *name);
bool maar_check_has_kind(const struct maar_check *check, const char *kind);
/* A field by a path below another. */
struct maar_field maar_check_path(const struct maar_field *field, const char *path);
/* Reports that an object which a field names is not there, if there is any of its kind. */
void maar_check_reference(struct maar_check *check, const struct maar_field *field,
                          const char *kind, const char *ns, const char *name);
/* Reports a decoder's "path: text" below a field; nothing for "". */
void maar_check_fault(struct maar_check *check, const struct maar_field *field, const char *fault);

/* ---- rules ---- */

/* A configuration; becomes the one that manifests are judged against when there is none yet. `text` is laid out as in
 * the file; where it is not, all its findings belong to `field`, NULL else. */
void maar_check_conf(struct maar_check *check, const struct maar_scenario_file *file,
                     const struct maar_field *field, const char *text, size_t n);
/* The entry of a plugin that the configuration lists and that is there, NULL else. */
const struct maar_conf_plugin *maar_check_conf_plugin(const struct maar_check *check,
                                                      const char *name);

/* An object of a custom kind against the schema of its definition. */
void maar_check_schema(struct maar_check *check, const struct maar_check_object *object);
void maar_check_schemas_destroy(struct maar_map *schemas);

/* Labels and annotations of a map `metadata`. */
void maar_check_keys(struct maar_check *check, const struct maar_field *metadata,
                     const json_t *map);

/* Notes what other objects are judged by: pods, resources of nodes. */
void maar_check_collect(struct maar_check *check, const struct maar_check_object *object);
const struct maar_check_members *maar_check_members(const struct maar_check *check, const char *ns,
                                                    const char *group);
void maar_check_members_destroy(struct maar_map *members);
void maar_check_pods(struct maar_check *check, const struct maar_check_pods *pods);
/* Fields of a core/v1 object that are not in the list, NULL-terminated, but look like one that is. */
void maar_check_fields(struct maar_check *check, const struct maar_field *field, const json_t *map,
                       const char *const *known);
/* What a pod's spec says of where it may go. */
void maar_check_placement(struct maar_check *check, const struct maar_field *field,
                          const json_t *spec);
/* Names of resources in a map of amounts. */
void maar_check_resources(struct maar_check *check, const struct maar_field *field,
                          const json_t *map);

/* A name of a Queue; of a PriorityClass. */
void maar_check_queue_name(struct maar_check *check, const struct maar_field *field,
                           const char *name);
void maar_check_class(struct maar_check *check, const struct maar_field *field, const char *name);
/* Adds what a queue has to its parent's sums. */
void maar_check_collect_queue(struct maar_check *check, const struct maar_check_object *object);
void maar_check_queue(struct maar_check *check, const struct maar_check_object *object);
void maar_check_group(struct maar_check *check, const struct maar_check_object *object);
/* The jobs of Volcano that an object is or makes. */
void maar_check_jobs(struct maar_check *check, const struct maar_check_object *object);

#endif
