/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_WIRE_POD_DRAFT_H
#define MAAR_WIRE_POD_DRAFT_H

/* What of a pod can be settled only when all of it has been read: container statuses go by
 * container name, host ports depend on hostNetwork, annotations win over labels. The decoders
 * collect it here, in any order. */

#include "wire/affinity_draft.h"
#include "wire/decode.h"

struct maar_status_draft {
    const char *name;
    uint32_t order;
    bool has_resources;
    struct maar_amounts_record requests;
    struct maar_amounts_record allocated;
};

struct maar_port_draft {
    struct maar_host_port port; /* .port is not set */
    int32_t host_port;          /* 0: not named */
    int32_t container_port;
};

struct maar_container_draft {
    const char *name;
    const char *image;
    struct maar_container_record record;
    uint32_t n_ports;
    struct maar_port_draft *ports;
};

struct maar_containers_draft {
    uint32_t n;
    struct maar_container_draft *items;
};

/* Of a pod with more scheduling gates the other names are only counted. */
#define MAAR_WIRE_GATE_NAMES_MAX 4u

struct maar_pod_draft {
    bool host_network;
    uint32_t n_volume_images;
    const char **volume_images;
    uint32_t n_gate_names; /* the first ones, in order */
    const char *gate_names[MAAR_WIRE_GATE_NAMES_MAX];
    /* Annotations that the model itself reads; NULL when absent. */
    const char *group;
    const char *group_alias;
    const char *role;
    const char *task_priority;
    const char *preemptable;
    const char *queue_gate;
    struct maar_containers_draft containers;
    struct maar_containers_draft init_containers;
    uint32_t n_statuses;
    struct maar_status_draft *statuses; /* of both kinds of container, in the order of reading */
    bool has_resize_condition;
    struct maar_affinity_draft affinity;
};

/* A new element, zeroed with texts ""; NULL and a fault when there are too many. */
struct maar_container_draft *maar_containers_add(struct maar_decoder *decoder,
                                                 const struct maar_path *at,
                                                 struct maar_containers_draft *containers);
struct maar_port_draft *maar_container_add_port(struct maar_decoder *decoder,
                                                struct maar_container_draft *container);
struct maar_status_draft *maar_pod_add_status(struct maar_decoder *decoder,
                                              struct maar_pod_draft *draft);
/* The image of one more volume; the reference must be the arena's. */
void maar_pod_add_volume_image(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                               const char *reference);
/* One more scheduling gate; the name must be the arena's. */
void maar_pod_add_gate(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                       const char *name);
/* Keeps what the model or a plugin reads. The key is copied when kept; value must be the arena's.
 */
bool maar_pod_wants_annotation(const struct maar_decoder *decoder, const char *key);
void maar_pod_add_annotation(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                             const char *key, const char *value);
/* Conditions matter when they are PodScheduled or PodResizePending. */
bool maar_pod_wants_condition(const char *type);
void maar_pod_add_condition(struct maar_decoder *decoder, struct maar_pod_draft *draft,
                            const struct maar_condition_record *condition);
/* Fills the rest of the record. */
void maar_pod_finish(struct maar_decoder *decoder, struct maar_pod_draft *draft);

#endif
