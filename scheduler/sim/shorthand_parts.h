/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SIM_SHORTHAND_PARTS_H
#define MAAR_SIM_SHORTHAND_PARTS_H

/* Shared by the files that expand shorthand. */

#include "sim/field.h"
#include "sim/patch.h"
#include "sim/shorthand.h"

struct maar_shorthand {
    maar_shorthand_emit_fn emit;
    void *context;
    int64_t start_ns;
};

/* The group whose `pods:` list an entry is in. */
struct maar_shorthand_group {
    const char *name;
    const char *ns;
    const char *priority; /* NULL: none */
};

/* Merges the entry's `metadata:` and `spec:` and hands the manifest, which it owns, on. */
int maar_shorthand_finish(struct maar_shorthand *out, const struct maar_field *field,
                          const json_t *entry, json_t *manifest, struct maar_error *err);
int maar_shorthand_require_name(const struct maar_field *field, const json_t *entry,
                                const char **ret_name, struct maar_error *err);
/* {name, labels, annotations}, new. */
int maar_shorthand_metadata(const struct maar_field *field, const json_t *entry, const char *name,
                            json_t **ret_metadata, struct maar_error *err);
/* cpu, memory, gpu and resources of an entry, as texts put into `amounts`. */
int maar_shorthand_amounts(const struct maar_field *field, const json_t *entry, json_t *amounts,
                           struct maar_error *err);
/* `created:` as metadata.creationTimestamp. */
int maar_shorthand_created(const struct maar_shorthand *out, const struct maar_field *field,
                           const json_t *entry, json_t *metadata, struct maar_error *err);
/* The keys of an entry that describe pods, as a PodTemplateSpec, new. */
int maar_shorthand_template(const struct maar_field *field, const json_t *entry,
                            json_t **ret_template, struct maar_error *err);
/* `subGroups:` of a group as spec.subGroupPolicy. */
int maar_shorthand_sub_groups(const struct maar_field *field, const json_t *entry, json_t *spec,
                              struct maar_error *err);
/* An entry of `pods:`; group NULL outside a group. */
int maar_shorthand_pod(struct maar_shorthand *out, const struct maar_field *field,
                       const json_t *entry, const struct maar_shorthand_group *group,
                       struct maar_error *err);
/* Entries of the lists of that kind. */
int maar_shorthand_deployment(struct maar_shorthand *out, const struct maar_field *field,
                              const json_t *entry, struct maar_error *err);
int maar_shorthand_replica_set(struct maar_shorthand *out, const struct maar_field *field,
                               const json_t *entry, struct maar_error *err);
int maar_shorthand_stateful_set(struct maar_shorthand *out, const struct maar_field *field,
                                const json_t *entry, struct maar_error *err);
int maar_shorthand_daemon_set(struct maar_shorthand *out, const struct maar_field *field,
                              const json_t *entry, struct maar_error *err);
int maar_shorthand_batch_job(struct maar_shorthand *out, const struct maar_field *field,
                             const json_t *entry, struct maar_error *err);
/* Volcano's. */
int maar_shorthand_job(struct maar_shorthand *out, const struct maar_field *field,
                       const json_t *entry, struct maar_error *err);

#endif
