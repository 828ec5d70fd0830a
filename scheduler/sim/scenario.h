/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SCENARIO_H
#define MAAR_SIM_SCENARIO_H

/* Scenario files: manifests, and one document that says how the run goes and what must come out. Reading is all or
 * nothing. */

#include "base/vec.h"
#include "engine/feature_gates.h"
#include "sim/cluster.h"
#include "sim/field.h"

/* "pod/default/a-0", "node/n1". */
struct maar_scenario_target {
    const struct maar_api_type *type;
    char ns[256]; /* "" for cluster-scoped kinds */
    char name[256];
};

struct maar_scenario_manifest {
    json_t *document;
    struct maar_field field; /* where it stands */
};

struct maar_scenario_patch {
    struct maar_scenario_target target;
    const json_t *merge;
};

struct maar_scenario_hold {
    const struct maar_api_type *type;
    unsigned cycles;
};

/* What happens before a cycle, in the order of the members. */
struct maar_scenario_step {
    unsigned cycle;
    struct maar_field field;
    MAAR_VEC(struct maar_scenario_manifest) apply;
    MAAR_VEC(struct maar_scenario_target) deletes;
    MAAR_VEC(struct maar_scenario_patch) patches;
    MAAR_VEC(struct maar_fault) faults;
    MAAR_VEC(struct maar_scenario_hold) holds;
    bool restart;
};

/* What must hold after a cycle. */
struct maar_scenario_expect {
    unsigned cycle; /* 0: at the end */
    struct maar_field field;
    const json_t *document; /* checked for keys and types */
};

/* Objects of one kind that have no effect, from the first of them on. */
struct maar_scenario_warning {
    char api_version[201];
    char kind[201];
    struct maar_field field; /* of the first */
    size_t n;
    char text[700];
};

struct maar_scenario {
    MAAR_VEC(struct maar_scenario_file *) files;
    MAAR_VEC(json_t *) documents; /* own what the rest points into */
    char *name;
    const char *conf; /* NULL: none */
    struct maar_field conf_field;
    int64_t start_ns;
    int64_t period_ns;
    unsigned cycles;
    unsigned start_delay;
    unsigned bind_delay;
    unsigned termination_delay;
    bool recreate;
    struct maar_feature_gates features;
    MAAR_VEC(struct maar_scenario_manifest) manifests;
    MAAR_VEC(struct maar_scenario_step) steps; /* by cycle */
    MAAR_VEC(struct maar_scenario_expect) expects;
    MAAR_VEC(struct maar_scenario_warning) warnings;
};

/* Reads files ("-" is standard input). -EINVAL with "file:line:column: key: text", or -errno of a file. */
int maar_scenario_read(const char *const *paths, size_t n_paths,
                       struct maar_scenario **ret_scenario, struct maar_error *err)
    __attribute__((warn_unused_result));
/* The same of one text; `path` names it in messages. */
int maar_scenario_parse(const char *path, const char *text, size_t n,
                        struct maar_scenario **ret_scenario, struct maar_error *err)
    __attribute__((warn_unused_result));
/* Accepts NULL. */
void maar_scenario_destroy(struct maar_scenario *scenario);
/* The last cycle that a step or an expectation names. */
unsigned maar_scenario_last_cycle(const struct maar_scenario *scenario);

/* Used by the reader's parts. */
int maar_scenario_read_steps(struct maar_scenario *scenario, const struct maar_field *field,
                             const json_t *spec, struct maar_error *err);
int maar_scenario_read_expects(struct maar_scenario *scenario, const struct maar_field *field,
                               const json_t *spec, struct maar_error *err);
int maar_scenario_read_target(const struct maar_field *field, const char *text,
                              struct maar_scenario_target *ret, struct maar_error *err);
/* Checks a manifest's identity, unfolds lists, and hands single objects (new references) on. */
typedef int (*maar_scenario_manifest_fn)(void *context, const struct maar_field *field,
                                         json_t *document, struct maar_error *err);
int maar_scenario_unfold(const struct maar_field *field, const json_t *document,
                         maar_scenario_manifest_fn each, void *context, struct maar_error *err);
void maar_scenario_step_fini(struct maar_scenario_step *step);
/* Adds to the warnings when scheduling does not see objects of the document's kind though their author may think so.
 * The document has an identity. */
void maar_scenario_check_kind(struct maar_scenario *scenario, const struct maar_field *field,
                              const json_t *document);
/* Whether nothing knows the kind, with a text that says so and what was likely meant. Kubernetes' own other kinds pass.
 */
bool maar_scenario_unknown_kind(const char *api_version, const char *kind, char *text, size_t size);

#endif
