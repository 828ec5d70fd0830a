/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_MODEL_PARTS_H
#define MAAR_MODEL_PARTS_H

/* What the files of the world share among themselves. Nobody else includes this. */

#include "model/world.h"

/* dims.c */
void *maar_row_widen(void *row, uint32_t from, uint32_t to, size_t size);
/* What a node may offer: the amount, at most 2^51 either way. */
int64_t maar_amount_bound_offer(int64_t amount);
/* What a pod may ask for and a limit may name: at most 2^52, more than any node offers. */
int64_t maar_amount_bound_ask(int64_t amount);
/* Replaces the amounts of a heap-owned resource; true when they changed. Names beyond MAAR_MAX_DIMS are left out. */
bool maar_resource_set(struct maar_world *world, struct maar_resource *resource,
                       const struct maar_amounts_record *amounts);

/* texts.c: interned texts; each holds a reference. */
const char *maar_world_intern(struct maar_world *world, const char *text);
/* NULL is allowed. */
void maar_world_unintern(struct maar_world *world, const char *text);
/* Replaces an interned text; true when it changed. */
bool maar_world_set_text(struct maar_world *world, const char **slot, const char *text);
/* Replaces a heap-owned list of interned labels; true when it changed. n 0 frees it. */
bool maar_world_set_labels(struct maar_world *world, const struct maar_label **slot,
                           uint32_t *n_slot, const struct maar_label *labels, uint32_t n);

/* class.c: the class of a pod record, created when new; counts one task. */
struct maar_class_entry *maar_class_ref(struct maar_world *world, const struct maar_record *record,
                                        struct maar_label_set *labels);
/* The same class under the present projection of labels. */
struct maar_class_entry *maar_class_project(struct maar_world *world, struct maar_class_entry *cls,
                                            struct maar_label_set *labels);
void maar_class_unref(struct maar_world *world, struct maar_class_entry *cls);

/* projection.c: the labels that take part in the key of a class, those whose keys some selector reads. `out` has room
 * for all of the set; returns how many. */
uint32_t maar_labels_project(const struct maar_world *world, const struct maar_label_set *set,
                             struct maar_label *out);
/* Makes the keys split classes that the label selectors of a spec read. Every task has its class meanwhile: this comes
 * before the spec's own class and task are made. */
void maar_world_project_spec(struct maar_world *world, const struct maar_pod_spec *spec);
/* A class whose selectors read keys came, or goes. */
void maar_projection_add_class(struct maar_world *world, const struct maar_class_entry *cls);
void maar_projection_remove_class(struct maar_world *world, const struct maar_class_entry *cls);
/* Before a session: keys that nobody reads any more split no class. */
void maar_projection_prepare(struct maar_world *world);
/* Once all classes are gone. */
void maar_projection_fini(struct maar_world *world);

/* namespaces.c: the entry of a namespace, created when new, for one more class. */
struct maar_namespace_entry *maar_namespace_ref(struct maar_world *world, const char *name);
void maar_namespace_unref(struct maar_world *world, struct maar_namespace_entry *entry);
bool maar_namespaces_apply(struct maar_world *world, const struct maar_record *record,
                           bool deleted);
/* Once all classes are gone. */
void maar_namespaces_fini(struct maar_world *world);

/* label_set.c: sorted label lists, equal sets shared and counted. */
struct maar_label_set {
    uint32_t n;
    uint32_t n_refs;
    struct maar_label *labels;
    uint32_t *ids; /* two strings a label */
    char *key;
    size_t key_n;
};
struct maar_label_set *maar_label_set_ref(struct maar_world *world, const struct maar_label *labels,
                                          uint32_t n);
void maar_label_set_unref(struct maar_world *world, struct maar_label_set *set);
/* NULL without the label. */
const char *maar_label_set_find(const struct maar_label_set *set, const char *key);
/* Whether a selector that is set takes the labels. Its texts need not be interned. */
bool maar_label_set_matches(const struct maar_label_set *set,
                            const struct maar_label_selector *selector);

/* nodes.c */
void maar_nodes_init(struct maar_world *world);
void maar_nodes_fini(struct maar_world *world);
void maar_nodes_add_dim(struct maar_world *world, uint32_t dim);
bool maar_nodes_apply(struct maar_world *world, const struct maar_record *record, bool deleted);
void maar_nodes_rank(struct maar_world *world);
void maar_nodes_touch(struct maar_world *world, uint32_t slot, bool facts);
/* The same for what static scores read and no topology does. */
void maar_nodes_touch_images(struct maar_world *world, uint32_t slot);
/* Remembers that the task waits for a node of that name, or forgets it. */
void maar_nodes_wait(struct maar_world *world, struct maar_task_entry *task, const char *name);
void maar_nodes_unwait(struct maar_world *world, struct maar_task_entry *task);

/* jobs.c */
bool maar_jobs_apply(struct maar_world *world, const struct maar_record *record, bool deleted);
struct maar_job_entry *maar_job_get(struct maar_world *world, const char *ns, const char *name);
void maar_job_attach(struct maar_world *world, struct maar_job_entry *job,
                     struct maar_task_entry *task);
void maar_job_detach(struct maar_world *world, struct maar_task_entry *task);
uint32_t maar_job_role(struct maar_world *world, struct maar_job_entry *job, const char *role);
void maar_job_publish(struct maar_job_entry *job);
void maar_job_destroy(struct maar_world *world, struct maar_job_entry *job);
void maar_jobs_reprioritise(struct maar_world *world);
/* Adds to the state of the job, and so to that of its queue. */
void maar_job_add_state(struct maar_job_entry *job, uint64_t amount);
/* Lists it as one with news; as one that may have something to decide on. */
void maar_job_note_news(struct maar_world *world, struct maar_job_entry *job);
void maar_job_note_waiting(struct maar_world *world, struct maar_job_entry *job);
/* The phase with its part of the state. */
void maar_job_set_phase(struct maar_world *world, struct maar_job_entry *job, uint8_t phase);
/* The part of the state that version and phase make up. */
uint64_t maar_job_own_state(const struct maar_job_entry *job);

/* sub_jobs.c: a task that came to the job finds its sub-job, one that goes leaves it. Neither counts anything. */
void maar_sub_jobs_join(struct maar_world *world, struct maar_task_entry *task);
void maar_sub_jobs_leave(struct maar_world *world, struct maar_task_entry *task);
/* Gives the task a priority; that of its sub-job follows. */
void maar_sub_jobs_set_priority(const struct maar_world *world, struct maar_task_entry *task,
                                int32_t priority);
/* Takes over a subGroupPolicy (n 0: none) and finds the sub-jobs of all tasks anew; true when it is another one. */
bool maar_sub_jobs_set_policies(struct maar_world *world, struct maar_job_entry *job,
                                const struct maar_sub_group_record *policies, uint32_t n);

/* queues.c */
bool maar_queues_apply(struct maar_world *world, const struct maar_record *record, bool deleted);
void maar_queue_publish(struct maar_queue_entry *queue);
void maar_queue_destroy(struct maar_world *world, struct maar_queue_entry *queue);
/* Adds (sign 1) or takes out (-1) all sums of a job. */
void maar_queue_count_job(struct maar_queue_entry *queue, const struct maar_job_entry *job,
                          uint32_t n_dims, int sign);
void maar_queue_add_job(struct maar_world *world, struct maar_queue_entry *queue,
                        struct maar_job_entry *job);
void maar_queue_remove_job(struct maar_world *world, struct maar_job_entry *job);

/* tasks.c */
bool maar_tasks_apply(struct maar_world *world, const struct maar_record *record, bool deleted);
void maar_task_destroy(struct maar_world *world, struct maar_task_entry *task);
/* Finds the slots of nominated nodes anew, after a node came or went. */
void maar_tasks_renominate(struct maar_world *world);

/* ledger.c: what the task adds to the state of its job */
uint64_t maar_task_state(const struct maar_task_entry *task);
/* Adds (sign 1) or takes out (-1) what the task counts for in its job and queue, and on its node. */
void maar_ledger_count(struct maar_world *world, struct maar_task_entry *task, int sign);
void maar_ledger_link_node(struct maar_world *world, struct maar_task_entry *task, uint32_t at);
void maar_ledger_unlink_node(struct maar_world *world, struct maar_task_entry *task);

/* images.c: which nodes have which images */
void maar_images_init(struct maar_world *world);
void maar_images_fini(struct maar_world *world);
/* The node's images are those n, sorted by name. */
void maar_images_set(struct maar_world *world, uint32_t slot,
                     const struct maar_image_record *images, uint32_t n);
/* Before a session: nodes whose images count otherwise for some class are touched. */
void maar_images_prepare(struct maar_world *world);
/* Recounts n_nodes; appends a line per difference, returns their number. */
size_t maar_images_check(const struct maar_world *world, struct maar_text *out);

/* tally.c: pods by domain */
void maar_tallies_init(struct maar_world *world);
void maar_tallies_fini(struct maar_world *world);
/* A class came, with its spec and labels, or goes. */
void maar_tallies_add_class(struct maar_world *world, struct maar_class_entry *cls);
void maar_tallies_remove_class(struct maar_world *world, struct maar_class_entry *cls);
/* Forgets all: they are made anew when they are asked for. After a change of what weights depend on. */
void maar_tallies_drop(struct maar_world *world);
/* Before a session: the affinity keys are up to date, what was long not asked for goes when memory is short. */
void maar_tallies_prepare(struct maar_world *world);
/* Counts a task that came to its node (sign 1), as it is now, or takes out (-1) what was counted. */
void maar_tallies_count(struct maar_world *world, struct maar_task_entry *task, int sign);
/* Counts it anew when it counts otherwise than before. */
void maar_tallies_recount(struct maar_world *world, struct maar_task_entry *task);
/* Recounts every tally that is kept; appends a line per difference, returns their number. */
size_t maar_tallies_check(const struct maar_world *world, struct maar_text *out);

#endif
