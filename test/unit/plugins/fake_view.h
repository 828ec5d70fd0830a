/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_TEST_FAKE_VIEW_H
#define MAAR_TEST_FAKE_VIEW_H

/* A small cluster made by hand, one loaded plugin and a host table, to ask the plugin's hooks directly. Sums are
 * recounted from the tasks after each change, so a test cannot set them wrongly. The fake is the session. */

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <maar/plugin.h>

enum fake_limits {
    FAKE_MAX = 256,
    FAKE_DIMS = 5,
};
enum {
    DIM_GPU = 3,
    DIM_STORAGE = 4,
};

#define GI (INT64_C(1) << 30)
#define MI (INT64_C(1) << 20)

/* Key and value one after the other, NULL at the end; values as in YAML. */
struct maar_arguments {
    const struct maar_plugin *plugin;
    const char *const *pairs;
};

struct maar_reasons {
    size_t n;
    char text[16][256];
};

struct fake_saved {
    void *at;
    size_t n;
    void *bytes;
};

struct fake {
    struct maar_view view;
    struct maar_host host;
    const struct maar_plugin *plugin;
    struct maar_arguments arguments;
    void *self;
    bool is_open;

    void *memory[4096];
    size_t n_memory;
    const char *texts[FAKE_MAX];
    size_t n_texts;

    struct maar_dims dims;
    struct maar_nodes nodes;
    uint64_t live[FAKE_MAX / 64];
    struct maar_node_facts facts[FAKE_MAX];
    uint32_t rank[FAKE_MAX];
    int64_t columns[5][FAKE_DIMS][FAKE_MAX];
    int64_t *column_rows[5][FAKE_DIMS];
    uint64_t node_present[FAKE_MAX];
    int64_t nonzero_cpu[FAKE_MAX];
    int64_t nonzero_memory[FAKE_MAX];
    struct maar_task *const *node_tasks[FAKE_MAX];
    uint32_t node_n_tasks[FAKE_MAX];
    int64_t total_allocatable[MAAR_MAX_DIMS];
    int64_t total_used[MAAR_MAX_DIMS];

    struct maar_task *tasks[FAKE_MAX];
    uint32_t n_tasks;
    struct maar_job *jobs[FAKE_MAX];
    struct maar_queue *queues[FAKE_MAX];
    uint32_t n_jobs;
    uint32_t n_queues;

    struct fake_saved saved[1024];
    size_t n_saved;

    /* What the plugin told the host. */
    size_t n_log;
    char log[4][256];
    size_t n_events;
    char event_reason[64];
    char event_message[1024];
    size_t n_conditions;
    char condition_type[64];
    char condition_reason[64];
    char condition_message[4096];
    /* What the host answers. */
    const char *fit_error;
    uint32_t n_schedulable;
    /* The namespace of all classes, without labels. */
    struct maar_namespace space;
    const char *affinity_keys[8];
};

static const char *const fake_dim_names[FAKE_DIMS] = {"cpu", "memory", "pods", "nvidia.com/gpu",
                                                      "ephemeral-storage"};
static const double fake_scales[FAKE_DIMS] = {1, 1, 1, 1000, 1000};

static inline void *fake_alloc(struct fake *f, size_t n)
{
    void *p = calloc(1, n);
    assert_non_null(p);
    assert_true(f->n_memory < sizeof f->memory / sizeof *f->memory);
    f->memory[f->n_memory++] = p;
    return p;
}

static inline const char *fake_intern(struct fake *f, const char *text)
{
    for (size_t i = 0; i < f->n_texts; i++)
        if (strcmp(f->texts[i], text) == 0)
            return f->texts[i];
    char *copy = fake_alloc(f, strlen(text) + 1);
    strcpy(copy, text);
    assert_true(f->n_texts < FAKE_MAX);
    f->texts[f->n_texts++] = copy;
    return copy;
}

/* ---- the host table -------------------------------------------------------------------------- */

static inline bool fake_is_in(const char *p, size_t n, const char *rows, size_t size, size_t n_rows)
{
    return rows && p >= rows && p + n <= rows + size * n_rows;
}

/* Only rows of the instance may be touched. */
static inline void fake_touch(void *session, void *p, size_t n)
{
    struct fake *f = session;
    const struct maar_plugin *plugin = f->plugin;
    assert_true(fake_is_in(p, n, f->view.node_rows, plugin->node_row_size, f->nodes.n_slots) ||
                fake_is_in(p, n, f->view.job_rows, plugin->job_row_size, f->n_jobs) ||
                fake_is_in(p, n, f->view.queue_rows, plugin->queue_row_size, f->n_queues) ||
                fake_is_in(p, n, f->view.session_row, plugin->session_row_size, 1));
    assert_true(f->n_saved < sizeof f->saved / sizeof *f->saved);
    struct fake_saved *saved = &f->saved[f->n_saved++];
    saved->at = p;
    saved->n = n;
    saved->bytes = malloc(n);
    assert_non_null(saved->bytes);
    memcpy(saved->bytes, p, n);
}

static inline void fake_undo(struct fake *f, size_t mark)
{
    while (f->n_saved > mark) {
        struct fake_saved *saved = &f->saved[--f->n_saved];
        memcpy(saved->at, saved->bytes, saved->n);
        free(saved->bytes);
    }
}

/* The table has no session, so the log goes to the one fake of the test. */
static struct fake *fake_current;

static inline void fake_log(int level, const char *text)
{
    assert_int_equal(level, 1);
    if (fake_current->n_log < 4)
        snprintf(fake_current->log[fake_current->n_log], 256, "%s", text);
    fake_current->n_log++;
}

static inline const struct maar_argument *fake_row(const struct maar_arguments *a, const char *key)
{
    for (const struct maar_argument *row = a->plugin->arguments; row && row->key; row++) {
        size_t n = strlen(row->key);
        if (strcmp(row->key, key) == 0)
            return row;
        if (n > 1 && row->key[n - 1] == '*' && strncmp(row->key, key, n - 1) == 0)
            return row;
    }
    return NULL;
}

/* Every key that a plugin asks for must stand in its table, with the type of the question. */
static inline const char *fake_argument(const struct maar_arguments *a, const char *key,
                                        enum maar_argument_type type)
{
    const struct maar_argument *row = fake_row(a, key);
    assert_non_null(row);
    if (!row) /* the compiler does not know that the assertion ends the test */
        return "";
    assert_int_equal(row->type, type);
    for (const char *const *pair = a->pairs; pair && *pair; pair += 2)
        if (strcmp(pair[0], key) == 0)
            return pair[1];
    return row->default_text ? row->default_text : "";
}

static inline int64_t fake_argument_int(const struct maar_arguments *a, const char *key)
{
    return strtoll(fake_argument(a, key, MAAR_ARGUMENT_INT), NULL, 10);
}

static inline double fake_argument_float(const struct maar_arguments *a, const char *key)
{
    return strtod(fake_argument(a, key, MAAR_ARGUMENT_FLOAT), NULL);
}

static inline bool fake_argument_bool(const struct maar_arguments *a, const char *key)
{
    return strcmp(fake_argument(a, key, MAAR_ARGUMENT_BOOL), "true") == 0;
}

static inline const char *fake_argument_string(const struct maar_arguments *a, const char *key)
{
    return fake_argument(a, key, MAAR_ARGUMENT_STRING);
}

static inline bool fake_argument_enabled(const struct maar_arguments *a, const char *key)
{
    for (const char *const *pair = a->pairs; pair && *pair; pair += 2)
        if (strcmp(pair[0], key) == 0)
            return strcmp(pair[1], "true") == 0;
    return strcmp(key, "enableHierarchy") != 0;
}

static inline uint32_t fake_dim_find(void *session, const char *name)
{
    (void)session;
    for (uint32_t d = 0; d < FAKE_DIMS; d++)
        if (strcmp(fake_dim_names[d], name) == 0)
            return d;
    return MAAR_NO_DIM;
}

static inline const char *fake_intern_find(void *session, const char *text)
{
    struct fake *f = session;
    for (size_t i = 0; i < f->n_texts; i++)
        if (strcmp(f->texts[i], text) == 0)
            return f->texts[i];
    return NULL;
}

static inline void fake_reason_add(struct maar_reasons *reasons, const char *text)
{
    assert_true(reasons->n < 16);
    snprintf(reasons->text[reasons->n++], sizeof reasons->text[0], "%s", text);
}

static inline void fake_job_event(void *session, const struct maar_job *job, const char *reason,
                                  const char *message)
{
    struct fake *f = session;
    assert_non_null(job);
    f->n_events++;
    snprintf(f->event_reason, sizeof f->event_reason, "%s", reason);
    snprintf(f->event_message, sizeof f->event_message, "%s", message);
}

static inline void fake_job_condition(void *session, const struct maar_job *job, const char *type,
                                      const char *reason, const char *message)
{
    struct fake *f = session;
    assert_non_null(job);
    f->n_conditions++;
    snprintf(f->condition_type, sizeof f->condition_type, "%s", type);
    snprintf(f->condition_reason, sizeof f->condition_reason, "%s", reason);
    snprintf(f->condition_message, sizeof f->condition_message, "%s", message);
}

static inline const char *fake_job_fit_error(void *session, const struct maar_job *job,
                                             char *buffer, size_t n)
{
    struct fake *f = session;
    assert_non_null(job);
    snprintf(buffer, n, "%s", f->fit_error ? f->fit_error : "");
    return buffer;
}

static inline uint32_t fake_job_n_schedulable(void *session, const struct maar_job *job)
{
    struct fake *f = session;
    assert_non_null(job);
    return f->n_schedulable;
}

/* Counted afresh for each question, from the tasks. */
static inline const struct maar_tally *fake_tally(void *session, const struct maar_tally_kind *kind,
                                                  const struct maar_class *owner, uint32_t part,
                                                  const char *key)
{
    struct fake *f = session;
    struct maar_topology *topology = fake_alloc(f, sizeof *topology);
    struct maar_tally *tally = fake_alloc(f, sizeof *tally);
    uint32_t *domain = fake_alloc(f, FAKE_MAX * sizeof *domain);
    int64_t *sums = fake_alloc(f, FAKE_MAX * sizeof *sums);
    uint32_t *n_nodes = fake_alloc(f, FAKE_MAX * sizeof *n_nodes);
    const char *values[FAKE_MAX];
    *topology = (struct maar_topology){.key = key, .domain = domain};
    *tally = (struct maar_tally){.topology = topology, .sums = sums, .n_nodes = n_nodes};
    for (uint32_t n = 0; n < f->nodes.n_slots; n++) {
        const char *value = *key ? NULL : f->facts[n].name;
        for (uint32_t i = 0; i < f->facts[n].n_labels; i++)
            value = f->facts[n].labels[i].key == key ? f->facts[n].labels[i].value : value;
        uint32_t d = 0;
        while (value && d < topology->n_domains && values[d] != value)
            d++;
        domain[n] = value ? d : MAAR_NO_DOMAIN;
        if (value && d == topology->n_domains)
            values[topology->n_domains++] = value;
        if (value && (!kind->takes_part || kind->takes_part(owner, part, &f->facts[n])))
            tally->n_domains += n_nodes[d]++ == 0;
    }
    bool any = false;
    for (uint32_t i = 0; i < f->n_tasks; i++) {
        const struct maar_task *task = f->tasks[i];
        int64_t weight = kind->weigh(owner, part, key, task->cls);
        any |= weight != 0;
        if (task->node == MAAR_NO_NODE || domain[task->node] == MAAR_NO_DOMAIN ||
            (task->status == MAAR_TASK_RELEASING && !kind->counts_leaving) ||
            (kind->takes_part && !kind->takes_part(owner, part, &f->facts[task->node])))
            continue;
        sums[domain[task->node]] += weight;
        tally->total += weight;
    }
    bool found = false;
    for (uint32_t d = 0; d < topology->n_domains; d++) {
        if (n_nodes[d] > 0 && (!found || sums[d] < tally->least)) {
            tally->least = sums[d];
            found = true;
        }
    }
    return kind->only_affine && !any ? NULL : tally;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Loads the plugin and makes an instance of it; pairs may be NULL. */
static inline struct fake *fake_new(const char *plugin, const char *const *pairs)
{
    struct fake *f = calloc(1, sizeof *f);
    assert_non_null(f);
    fake_current = f;
    f->host = (struct maar_host){
        .size = sizeof f->host,
        .touch = fake_touch,
        .log = fake_log,
        .argument_int = fake_argument_int,
        .argument_float = fake_argument_float,
        .argument_bool = fake_argument_bool,
        .argument_string = fake_argument_string,
        .argument_enabled = fake_argument_enabled,
        .dim_find = fake_dim_find,
        .intern_find = fake_intern_find,
        .reason_add = fake_reason_add,
        .job_event = fake_job_event,
        .job_condition = fake_job_condition,
        .job_fit_error = fake_job_fit_error,
        .job_n_schedulable = fake_job_n_schedulable,
        .tally = fake_tally,
    };
    f->dims = (struct maar_dims){FAKE_DIMS, fake_dim_names, fake_scales};
    for (size_t c = 0; c < 5; c++)
        for (size_t d = 0; d < FAKE_DIMS; d++)
            f->column_rows[c][d] = f->columns[c][d];
    f->nodes = (struct maar_nodes){
        .live = f->live,
        .facts = f->facts,
        .name_rank = f->rank,
        .allocatable = f->column_rows[0],
        .idle = f->column_rows[1],
        .used = f->column_rows[2],
        .releasing = f->column_rows[3],
        .pipelined = f->column_rows[4],
        .allocatable_present = f->node_present,
        .nonzero_cpu_milli = f->nonzero_cpu,
        .nonzero_memory_bytes = f->nonzero_memory,
    };
    f->view = (struct maar_view){
        .size = sizeof f->view,
        .host = &f->host,
        .session = f,
        .dims = &f->dims,
        .nodes = &f->nodes,
        .jobs = f->jobs,
        .queues = f->queues,
        .total_allocatable = f->total_allocatable,
        .total_used = f->total_used,
        .uid = "session",
    };

    char path[4096];
    snprintf(path, sizeof path, "%s/plugins/%s.so", MAAR_TEST_BIN_DIR, plugin);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        fail_msg("%s", dlerror());
    f->plugin = dlsym(object, MAAR_PLUGIN_SYMBOL);
    assert_non_null(f->plugin);
    assert_int_equal(f->plugin->abi, MAAR_ABI);
    assert_int_equal(f->plugin->size, sizeof(struct maar_plugin));
    assert_string_equal(f->plugin->name, plugin);
    f->arguments = (struct maar_arguments){f->plugin, pairs};
    char error[256] = "";
    if (f->plugin->create)
        assert_int_equal(f->plugin->create(&f->host, &f->arguments, &f->self, error, sizeof error),
                         0);
    return f;
}

static inline void fake_free(struct fake *f)
{
    if (f->plugin->destroy)
        f->plugin->destroy(f->self);
    for (size_t i = 0; i < f->n_saved; i++)
        free(f->saved[i].bytes);
    for (size_t i = 0; i < f->n_memory; i++)
        free(f->memory[i]);
    free(f);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* An amount is named when it is not negative; pods are not named when 0. */
static inline struct maar_resource fake_resource(struct fake *f, int64_t cpu, int64_t memory,
                                                 int64_t pods, int64_t gpu, int64_t storage)
{
    int64_t amounts[FAKE_DIMS] = {cpu, memory, pods > 0 ? pods : -1, gpu, storage};
    struct maar_resource r = {.n = FAKE_DIMS, .v = fake_alloc(f, sizeof amounts)};
    for (uint32_t d = 0; d < FAKE_DIMS; d++)
        if (amounts[d] >= 0) {
            r.present |= UINT64_C(1) << d;
            r.v[d] = amounts[d];
        }
    return r;
}

static inline uint32_t fake_node(struct fake *f, const char *name, int64_t cpu, int64_t memory,
                                 int64_t pods, int64_t gpu)
{
    uint32_t slot = f->nodes.n_slots++;
    assert_true(slot < FAKE_MAX);
    int64_t amounts[FAKE_DIMS] = {cpu, memory, pods, gpu, 0};
    f->live[slot / 64] |= UINT64_C(1) << (slot % 64);
    f->nodes.n_live++;
    f->rank[slot] = slot;
    f->facts[slot].name = fake_intern(f, name);
    f->facts[slot].ready = true;
    for (uint32_t d = 0; d < FAKE_DIMS; d++) {
        f->columns[0][d][slot] = amounts[d];
        if (d < 3 || amounts[d])
            f->node_present[slot] |= UINT64_C(1) << d;
    }
    return slot;
}

static inline void fake_label(struct fake *f, uint32_t node, const char *key, const char *value)
{
    struct maar_node_facts *facts = &f->facts[node];
    struct maar_label *labels = fake_alloc(f, (facts->n_labels + 1) * sizeof *labels);
    if (facts->n_labels)
        memcpy(labels, facts->labels, facts->n_labels * sizeof *labels);
    labels[facts->n_labels++] = (struct maar_label){fake_intern(f, key), fake_intern(f, value)};
    facts->labels = labels;
}

static inline void fake_taint(struct fake *f, uint32_t node, const char *key, const char *value,
                              enum maar_taint_effect effect)
{
    struct maar_node_facts *facts = &f->facts[node];
    struct maar_taint *taints = fake_alloc(f, (facts->n_taints + 1) * sizeof *taints);
    if (facts->n_taints)
        memcpy(taints, facts->taints, facts->n_taints * sizeof *taints);
    taints[facts->n_taints++] =
        (struct maar_taint){fake_intern(f, key), fake_intern(f, value), effect};
    facts->taints = taints;
}

static inline struct maar_queue *fake_queue(struct fake *f, const char *name, int32_t weight)
{
    struct maar_queue *queue = fake_alloc(f, sizeof *queue);
    *queue = (struct maar_queue){
        .slot = f->n_queues,
        .name = fake_intern(f, name),
        .weight = weight,
        .reclaimable = true,
        .state = MAAR_QUEUE_OPEN,
        .jobs = fake_alloc(f, FAKE_MAX * sizeof(struct maar_job *)),
        .allocated = fake_alloc(f, MAAR_MAX_DIMS * sizeof(int64_t)),
        .pending = fake_alloc(f, MAAR_MAX_DIMS * sizeof(int64_t)),
    };
    f->queues[f->n_queues++] = queue;
    return queue;
}

/* queue NULL: the job is not in the session. */
static inline struct maar_job *fake_job(struct fake *f, struct maar_queue *queue, const char *name,
                                        int32_t min)
{
    struct maar_job *job = fake_alloc(f, sizeof *job);
    *job = (struct maar_job){
        .slot = f->n_jobs,
        .uid = fake_intern(f, name),
        .ns = fake_intern(f, "default"),
        .name = fake_intern(f, name),
        .pod_group_uid = fake_intern(f, name),
        .queue = queue,
        .queue_name = queue ? queue->name : "",
        .takes_part = queue != NULL,
        .priority_class = "",
        .min_available = min,
        .phase = MAAR_PHASE_INQUEUE,
        .tasks = fake_alloc(f, FAKE_MAX * sizeof(struct maar_task *)),
        .roles = fake_alloc(f, 8 * sizeof(struct maar_role)),
        .sub_group_policies = fake_alloc(f, 8 * sizeof(struct maar_sub_group_policy)),
        .sub_jobs = fake_alloc(f, 8 * sizeof(struct maar_sub_job *)),
        .allocated = fake_alloc(f, MAAR_MAX_DIMS * sizeof(int64_t)),
        .pending = fake_alloc(f, MAAR_MAX_DIMS * sizeof(int64_t)),
        .gated = fake_alloc(f, MAAR_MAX_DIMS * sizeof(int64_t)),
    };
    if (queue) {
        ((struct maar_job **)(uintptr_t)queue->jobs)[queue->n_jobs++] = job;
        f->jobs[f->n_jobs++] = job;
    }
    return job;
}

static inline void fake_role(struct fake *f, struct maar_job *job, const char *name, int32_t min)
{
    struct maar_role *roles = (struct maar_role *)(uintptr_t)job->roles;
    roles[job->n_roles].name = fake_intern(f, name);
    roles[job->n_roles++].min = min;
    job->min_task_total += min;
}

static inline void fake_sub_group_policy(struct maar_job *job, const char *name, int32_t size,
                                         int32_t min)
{
    struct maar_sub_group_policy *policies =
        (struct maar_sub_group_policy *)(uintptr_t)job->sub_group_policies;
    policies[job->n_sub_group_policies++] = (struct maar_sub_group_policy){name, size, min, false};
}

/* Of the job's policy, MAAR_NO_POLICY for none; a task is put in by setting its sub_job. */
static inline struct maar_sub_job *fake_sub_job(struct fake *f, struct maar_job *job,
                                                const char *uid, uint32_t policy)
{
    struct maar_sub_job *sub_job = fake_alloc(f, sizeof *sub_job);
    sub_job->uid = uid;
    sub_job->job = job;
    sub_job->policy = policy;
    sub_job->min_available = policy == MAAR_NO_POLICY ? 1 : job->sub_group_policies[policy].size;
    ((struct maar_sub_job **)(uintptr_t)job->sub_jobs)[job->n_sub_jobs++] = sub_job;
    return sub_job;
}

/* gpu and storage are named when not 0. */
static inline struct maar_class *fake_class(struct fake *f, int64_t cpu, int64_t memory,
                                            int64_t gpu, int64_t storage)
{
    struct maar_class *cls = fake_alloc(f, sizeof *cls);
    struct maar_pod_spec *spec = fake_alloc(f, sizeof *spec);
    spec->priority_class = spec->scheduler_name = spec->preemption_policy = "";
    f->space.name = fake_intern(f, "default");
    *cls = (struct maar_class){
        .ns = f->space.name,
        .space = &f->space,
        .spec = spec,
        .request = fake_resource(f, cpu, memory, 1, gpu ? gpu : -1, storage ? storage : -1),
        .best_effort = cpu == 0 && memory == 0 && gpu == 0 && storage == 0,
        .nonzero_cpu_milli = cpu ? cpu : 100,
        .nonzero_memory_bytes = memory ? memory : 200 * MI,
    };
    return cls;
}

static inline struct maar_pod_spec *fake_spec(struct maar_class *cls)
{
    return (struct maar_pod_spec *)(uintptr_t)cls->spec;
}

static inline void fake_add(int64_t *row, const struct maar_resource *r)
{
    for (uint32_t d = 0; d < r->n; d++)
        row[d] += r->v[d];
}

static inline void fake_count_node(struct fake *f, const struct maar_task *task)
{
    const struct maar_class *cls = task->cls;
    if (task->node == MAAR_NO_NODE)
        return;
    f->nonzero_cpu[task->node] += cls->nonzero_cpu_milli;
    f->nonzero_memory[task->node] += cls->nonzero_memory_bytes;
    for (uint32_t d = 0; d < FAKE_DIMS; d++) {
        int64_t amount = cls->request.v[d];
        if (task->status == MAAR_TASK_PIPELINED) {
            f->columns[4][d][task->node] += amount;
            continue;
        }
        f->columns[2][d][task->node] += amount;
        f->total_used[d] += amount;
        if (task->status == MAAR_TASK_RELEASING)
            f->columns[3][d][task->node] += amount;
    }
}

static inline void fake_count_job(const struct maar_task *task)
{
    struct maar_job *job = task->job;
    struct maar_role *role =
        job->n_roles ? (struct maar_role *)(uintptr_t)&job->roles[task->role_slot] : NULL;
    const struct maar_resource *request = &task->cls->request;
    struct maar_queue *queue = job->queue;
    job->n[task->status]++;
    if (role)
        role->n[task->status]++;
    if (task->sub_job) {
        task->sub_job->n[task->status]++;
        task->sub_job->n_pending_best_effort +=
            task->status == MAAR_TASK_PENDING && task->cls->best_effort;
    }
    if (task->status == MAAR_TASK_PENDING) {
        job->n_pending_best_effort += task->cls->best_effort;
        if (role)
            role->n_pending_best_effort += task->cls->best_effort;
        fake_add((int64_t *)(uintptr_t)job->pending, request);
        if (task->gated && !task->only_queue_gate)
            fake_add((int64_t *)(uintptr_t)job->gated, request);
        if (queue) {
            fake_add((int64_t *)(uintptr_t)queue->pending, request);
            queue->pending_present |= request->present;
        }
    } else if (task->status >= MAAR_TASK_ALLOCATED && task->status <= MAAR_TASK_RUNNING &&
               task->status != MAAR_TASK_PIPELINED) {
        fake_add((int64_t *)(uintptr_t)job->allocated, request);
        job->allocated_present |= request->present;
        if (queue) {
            fake_add((int64_t *)(uintptr_t)queue->allocated, request);
            queue->allocated_present |= request->present;
        }
    } else if (task->status == MAAR_TASK_RELEASING && task->node != MAAR_NO_NODE) {
        job->n_releasing_on_node++;
    }
}

static inline void fake_clear_row(const int64_t *row)
{
    memset((void *)(uintptr_t)row, 0, MAAR_MAX_DIMS * sizeof *row);
}

static inline void fake_clear_job(struct maar_job *job)
{
    memset(job->n, 0, sizeof job->n);
    job->n_pending_best_effort = job->n_releasing_on_node = 0;
    job->allocated_present = 0;
    fake_clear_row(job->allocated);
    fake_clear_row(job->pending);
    fake_clear_row(job->gated);
    for (uint32_t r = 0; r < job->n_roles; r++) {
        struct maar_role *role = (struct maar_role *)(uintptr_t)&job->roles[r];
        memset(role->n, 0, sizeof role->n);
        role->n_pending_best_effort = 0;
    }
    for (uint32_t i = 0; i < job->n_sub_jobs; i++) {
        memset(job->sub_jobs[i]->n, 0, sizeof job->sub_jobs[i]->n);
        job->sub_jobs[i]->n_pending_best_effort = 0;
    }
}

/* The pods of each node. */
static inline void fake_list_tasks(struct fake *f)
{
    for (uint32_t n = 0; n < f->nodes.n_slots; n++) {
        struct maar_task **list = fake_alloc(f, (f->n_tasks + 1) * sizeof *list);
        f->node_n_tasks[n] = 0;
        for (uint32_t i = 0; i < f->n_tasks; i++)
            if (f->tasks[i]->node == n)
                list[f->node_n_tasks[n]++] = f->tasks[i];
        f->node_tasks[n] = (struct maar_task *const *)list;
    }
    f->nodes.tasks = (struct maar_task *const *const *)f->node_tasks;
    f->nodes.n_tasks = f->node_n_tasks;
}

/* Every sum from the tasks. */
static inline void fake_recount(struct fake *f)
{
    memset(f->columns[2], 0, 3 * sizeof f->columns[2]);
    memset(f->nonzero_cpu, 0, sizeof f->nonzero_cpu);
    memset(f->nonzero_memory, 0, sizeof f->nonzero_memory);
    memset(f->total_allocatable, 0, sizeof f->total_allocatable);
    memset(f->total_used, 0, sizeof f->total_used);
    for (uint32_t i = 0; i < f->n_queues; i++) {
        f->queues[i]->allocated_present = f->queues[i]->pending_present = 0;
        f->queues[i]->jobs_state++;
        fake_clear_row(f->queues[i]->allocated);
        fake_clear_row(f->queues[i]->pending);
    }
    for (uint32_t i = 0; i < f->n_tasks; i++)
        if (f->tasks[i]->job)
            fake_clear_job(f->tasks[i]->job);
    for (uint32_t i = 0; i < f->n_tasks; i++) {
        fake_count_node(f, f->tasks[i]);
        if (f->tasks[i]->job)
            fake_count_job(f->tasks[i]);
    }
    for (uint32_t n = 0; n < f->nodes.n_slots; n++) {
        f->view.total_present |= f->node_present[n];
        for (uint32_t d = 0; d < FAKE_DIMS; d++) {
            f->columns[1][d][n] = f->columns[0][d][n] - f->columns[2][d][n];
            f->total_allocatable[d] += f->columns[0][d][n];
        }
    }
    f->view.n_jobs = f->view.n_waiting = f->view.n_news = f->n_jobs;
    f->view.waiting = f->view.news = f->jobs;
    f->view.n_queues = f->n_queues;
    if (f->is_open)
        fake_list_tasks(f);
}

/* job may be NULL. */
static inline struct maar_task *fake_task(struct fake *f, struct maar_job *job,
                                          const struct maar_class *cls,
                                          enum maar_task_status status, uint32_t node)
{
    char name[64];
    snprintf(name, sizeof name, "p-%u", f->n_tasks);
    struct maar_task *task = fake_alloc(f, sizeof *task);
    *task = (struct maar_task){
        .uid = fake_intern(f, name),
        .ns = cls->ns,
        .name = fake_intern(f, name),
        .cls = cls,
        .job = job,
        .role = "",
        .node = node,
        .nominated_node = MAAR_NO_NODE,
        .priority = 1,
        .status = (uint8_t)status,
        .preemptable = true,
        .ours = true,
        .order_index = -1,
    };
    assert_true(f->n_tasks < FAKE_MAX);
    f->tasks[f->n_tasks++] = task;
    if (job)
        ((struct maar_task **)(uintptr_t)job->tasks)[job->n_tasks++] = task;
    fake_recount(f);
    return task;
}

static inline void fake_tasks(struct fake *f, struct maar_job *job, const struct maar_class *cls,
                              enum maar_task_status status, uint32_t node, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fake_task(f, job, cls, status, node);
}

/* Opens a session: everything must be there by now. */
static inline void fake_open(struct fake *f)
{
    const struct maar_plugin *plugin = f->plugin;
    fake_recount(f);
    fake_list_tasks(f);
    f->view.node_rows = fake_alloc(f, plugin->node_row_size * f->nodes.n_slots + 1);
    f->view.job_rows = fake_alloc(f, plugin->job_row_size * f->n_jobs + 1);
    f->view.queue_rows = fake_alloc(f, plugin->queue_row_size * f->n_queues + 1);
    f->view.session_row = fake_alloc(f, plugin->session_row_size + 1);
    char error[256] = "";
    if (plugin->open)
        assert_int_equal(plugin->open(f->self, &f->view, error, sizeof error), 0);
    f->is_open = true;
}

/* Moves a task and tells the plugin, as the session does. */
static inline void fake_move(struct fake *f, struct maar_task *task, enum maar_task_status status,
                             uint32_t node)
{
    bool takes = status == MAAR_TASK_ALLOCATED || status == MAAR_TASK_PIPELINED ||
                 (task->status == MAAR_TASK_RELEASING && status == MAAR_TASK_RUNNING);
    task->status = (uint8_t)status;
    task->node = node;
    fake_recount(f);
    if (takes && f->plugin->hooks.on_allocate)
        f->plugin->hooks.on_allocate(f->self, &f->view, task);
    if (!takes && f->plugin->hooks.on_deallocate)
        f->plugin->hooks.on_deallocate(f->self, &f->view, task);
}

/* The victims among all tasks with a node, in order, as a string of 0 and 1. */
typedef enum maar_vote (*fake_victims_fn)(void *self, const struct maar_view *view,
                                          const struct maar_task *evictor,
                                          const struct maar_task *const *candidates, size_t n,
                                          uint64_t *out);

static inline const char *fake_bits(const uint64_t *bits, size_t n, char *text)
{
    for (size_t i = 0; i < n; i++)
        text[i] = (bits[i / 64] >> (i % 64)) & 1 ? '1' : '0';
    text[n] = '\0';
    return text;
}

/* text has room for FAKE_MAX + 1. */
static inline const char *fake_victims(struct fake *f, fake_victims_fn hook,
                                       const struct maar_task *evictor,
                                       struct maar_task *const *candidates, size_t n, char *text)
{
    uint64_t bits[FAKE_MAX / 64] = {0};
    assert_int_equal(
        hook(f->self, &f->view, evictor, (const struct maar_task *const *)candidates, n, bits),
        MAAR_PERMIT);
    return fake_bits(bits, n, text);
}

#endif
