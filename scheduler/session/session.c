/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Opening and closing a session, and the host table that plugins call. */

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/session.h"

/* ---- rows ---- */

static char *grow_rows(char *rows, size_t *size, size_t n, size_t row_size)
{
    size_t want = n * row_size;
    if (want > *size) {
        free(rows);
        *size = want + want / 2;
        return maar_calloc(1, *size);
    }
    if (rows && want > 0)
        memset(rows, 0, want);
    return rows;
}

/* Everything but the rows. */
static void set_view(struct maar_session *session, struct maar_view *view)
{
    const struct maar_world *world = session->world;
    view->size = sizeof *view;
    view->host = &maar_session_host;
    view->session = session;
    view->dims = &world->dims;
    view->nodes = &world->nodes;
    view->n_jobs = (uint32_t)world->sorted_jobs.n;
    view->jobs = world->sorted_jobs.data;
    view->n_queues = (uint32_t)world->sorted_queues.n;
    view->queues = world->sorted_queues.data;
    view->n_waiting = (uint32_t)world->sorted_waiting.n;
    view->waiting = world->sorted_waiting.data;
    view->n_news = 0;
    view->news = NULL;
    view->total_allocatable = world->total_allocatable;
    view->total_used = world->total_used;
    view->total_present = world->total_present;
    view->now_ns = session->now_ns;
    view->uid = session->uid;
    view->n_affinity_keys = (uint32_t)world->affinity_keys.n;
    view->affinity_keys = world->affinity_keys.data;
    view->compatibility = session->policy->conf->compatibility_volcano;
    view->queue_admission = session->queue_admission;
}

static void open_instance(struct maar_session *session, struct maar_instance *instance)
{
    const struct maar_world *world = session->world;
    const struct maar_plugin *plugin = instance->plugin;
    struct maar_view *view = &instance->view;
    view->node_rows = grow_rows(view->node_rows, &instance->node_rows_size, world->nodes.n_slots,
                                plugin->node_row_size);
    view->job_rows = grow_rows(view->job_rows, &instance->job_rows_size, world->job_slots.n,
                               plugin->job_row_size);
    view->queue_rows = grow_rows(view->queue_rows, &instance->queue_rows_size, world->queue_slots.n,
                                 plugin->queue_row_size);
    if (plugin->session_row_size > 0 && !view->session_row)
        view->session_row = maar_calloc(1, plugin->session_row_size);
    else if (view->session_row)
        memset(view->session_row, 0, plugin->session_row_size);
    set_view(session, view);
    instance->open = instance->created;
    if (!instance->open || !plugin->open)
        return;
    char text[256] = "";
    int64_t start_ns = maar_clock_mono_ns();
    int r = plugin->open(instance->self, view, text, sizeof text);
    instance->open_ns = maar_clock_mono_ns() - start_ns;
    if (r < 0) {
        instance->open = false;
        maar_log_error("plugin %s sits this session out: %s", plugin->name, text);
    }
}

/* Pods that differ in a label which some plugin reads are not alike. Keys known already cost nothing. */
static void project_labels(struct maar_world *world, const struct maar_policy *policy)
{
    for (size_t i = 0; i < policy->n_instances; i++) {
        const char *const *key = policy->instances[i].plugin->reads_pod_labels;
        for (; key && *key; key++)
            maar_world_project_label(world, *key);
    }
}

void maar_session_open(struct maar_session *session, struct maar_world *world,
                       struct maar_policy *policy, struct maar_place *place, int64_t now_ns)
{
    *session = (struct maar_session){
        .world = world,
        .policy = policy,
        .place = place,
        .now_ns = now_ns,
        .began_ns = maar_clock_mono_ns(),
        .reference = session->reference,
        .check_undo = session->check_undo,
        .looks = session->looks,
        .memory = session->memory,
        .check_memory = session->check_memory,
        .queue_admission = session->queue_admission,
        .n_openable = session->n_openable,
        .component = session->component ? session->component : "volcano",
        .action = "",
    };
    session->arena = maar_arena_create();
    world->session_number++;
    uint64_t number = world->session_number;
    uint64_t h = maar_hash_bytes(&number, sizeof number, (uint64_t)now_ns);
    snprintf(session->uid, sizeof session->uid, "%08x-%04x-4%03x-8%03x-%012llx",
             (unsigned)(h >> 32), (unsigned)((h >> 16) & 0xffff), (unsigned)((h >> 4) & 0xfff),
             (unsigned)(number & 0xfff), (unsigned long long)((h * 31 + number) & 0xffffffffffff));
    project_labels(world, policy);
    maar_world_set_compatible(world, policy->conf->compatibility_volcano);
    maar_world_prepare(world);
    world->undo = &session->undo;
    set_view(session, &session->view);
    for (size_t i = 0; i < policy->n_instances; i++)
        open_instance(session, &policy->instances[i]);
    uint64_t open_set = 0;
    for (size_t i = 0; i < policy->n_instances; i++)
        open_set = open_set * 31 + policy->instances[i].open + 1;
    if (open_set != policy->open_set)
        policy->generation++;
    policy->open_set = open_set;
    maar_undo_clear(&session->undo);
    session->open_ns = maar_clock_mono_ns() - session->began_ns;
}

void maar_session_add_news(struct maar_session *session, struct maar_job *job)
{
    struct maar_job_entry *entry = maar_job_entry(job);
    if (entry->news_session == session->world->session_number)
        return;
    entry->news_session = session->world->session_number;
    maar_vec_push(&session->news, job);
}

static void sort_news(struct maar_session *session)
{
    qsort(session->news.data, session->news.n, sizeof(void *), maar_job_compare);
}

/* Nothing happened to the job after it was refused from memory. */
static bool is_as_said(const struct maar_session *session, const struct maar_job_entry *job)
{
    return maar_session_holds(session, job) && job->refusal.state == job->state;
}

/* What waited, and what something happened to. */
static void collect_news(struct maar_session *session)
{
    const struct maar_world *world = session->world;
    for (size_t i = 0; i < world->sorted_waiting.n; i++)
        if (!is_as_said(session, maar_job_entry(world->sorted_waiting.data[i])))
            maar_session_add_news(session, world->sorted_waiting.data[i]);
    size_t n_sorted = session->news.n;
    for (size_t i = 0; i < world->news.n; i++)
        if (maar_job_is_scheduled(world->news.data[i]) && !is_as_said(session, world->news.data[i]))
            maar_session_add_news(session, &world->news.data[i]->view);
    if (session->news.n > n_sorted)
        sort_news(session);
}

static void close_instances(struct maar_session *session)
{
    if (session->statement)
        maar_statement_discard(session->statement);
    collect_news(session);
    size_t n = session->news.n;
    /* A copy: plugins may add to it. */
    struct maar_job **news = maar_arena_calloc(session->arena, n + 1, sizeof *news);
    for (size_t i = 0; i < n; i++)
        news[i] = session->news.data[i];
    for (size_t i = 0; i < session->policy->n_instances; i++) {
        struct maar_instance *instance = &session->policy->instances[i];
        if (!instance->open || !instance->plugin->close)
            continue;
        instance->view.n_news = (uint32_t)n;
        instance->view.news = news;
        int64_t start_ns = maar_clock_mono_ns();
        instance->plugin->close(instance->self, &instance->view);
        instance->close_ns = maar_clock_mono_ns() - start_ns;
    }
    if (session->news.n > n)
        sort_news(session);
}

void maar_session_leave(struct maar_session *session)
{
    close_instances(session);
    maar_world_rewind(session->world, 0);
    session->world->undo = NULL;
    for (size_t i = 0; i < session->policy->n_instances; i++)
        session->policy->instances[i].open = false;
}

void maar_session_close(struct maar_session *session)
{
    close_instances(session);
    maar_session_write_jobs(session);
    for (size_t i = 0; i < session->checked.n; i++)
        session->n_memory_errors += session->checked.data[i]->refusal.is_checked;
    maar_world_clear_news(session->world);
    /* Volcano counts what an open plan holds as allocated. */
    bool early = session->policy->conf->compatibility_volcano;
    if (early)
        maar_session_write_queues(session);
    session->world->undo = NULL;
    for (size_t i = session->kept.n; i-- > 0;) {
        struct maar_task *task = session->kept.data[i];
        if (task->status == MAAR_TASK_ALLOCATED || task->status == MAAR_TASK_PIPELINED)
            maar_world_move(session->world, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
        maar_task_entry(task)->assignment = NULL;
    }
    if (!early)
        maar_session_write_queues(session);
    for (size_t i = 0; i < session->policy->n_instances; i++)
        session->policy->instances[i].open = false;
}

void maar_session_fini(struct maar_session *session)
{
    for (size_t i = 0; i < session->writes.n; i++)
        maar_write_destroy(session->writes.data[i]);
    maar_vec_fini(&session->writes);
    maar_vec_fini(&session->hidden);
    maar_vec_fini(&session->kept);
    maar_vec_fini(&session->news);
    maar_vec_fini(&session->checked);
    maar_vec_fini(&session->limits);
    maar_undo_fini(&session->undo);
    maar_arena_destroy(session->arena);
    session->arena = NULL;
}

/* ---- the host table ---- */

static void host_touch(void *context, void *p, size_t n)
{
    struct maar_session *session = context;
    maar_undo_bytes(&session->undo, p, n);
}

static void host_log(int level, const char *text)
{
    switch (level) {
    case 0:
        maar_log_error("%s", text);
        break;
    case 1:
        maar_log_warning("%s", text);
        break;
    case 2:
        maar_log_info("%s", text);
        break;
    default:
        maar_log_debug("%s", text);
    }
}

static bool host_argument_is_set(const struct maar_arguments *arguments, const char *key)
{
    return maar_arguments_find(arguments, key) != NULL;
}

static bool host_argument_enabled(const struct maar_arguments *arguments, const char *enable_key)
{
    int bit = maar_enable_find(enable_key);
    return bit >= 0 && ((arguments->enable >> bit) & 1);
}

static size_t host_node_n_children(const struct maar_argument_node *node)
{
    return node ? node->n_children : 0;
}

static const struct maar_argument_node *host_node_child(const struct maar_argument_node *node,
                                                        size_t i)
{
    return node && i < node->n_children ? &node->children[i] : NULL;
}

static const char *host_node_key(const struct maar_argument_node *node)
{
    return node && node->key ? node->key : "";
}

static const char *host_node_text(const struct maar_argument_node *node)
{
    return node && node->text ? node->text : "";
}

static uint32_t host_dim_find(void *context, const char *name)
{
    const struct maar_session *session = context;
    return maar_world_dim_find(session->world, name);
}

static const char *host_intern_find(void *context, const char *text)
{
    const struct maar_session *session = context;
    uint32_t id = maar_strings_find(session->world->strings, text);
    return id ? maar_strings_text(session->world->strings, id) : NULL;
}

static void host_job_event(void *context, const struct maar_job *job, const char *reason,
                           const char *message)
{
    struct maar_session *session = context;
    if (session->supposing)
        return;
    struct maar_job_entry *entry = maar_session_job(session, job);
    entry->job_text = maar_arena_strdup(session->arena, message);
    if (session->looks)
        return;
    /* On change: the same refusal is not told again. */
    maar_autofree char *key = maar_asprintf("%s: %s", reason, message);
    if (entry->event_key && maar_session_same_text(session, entry->event_key, key))
        return;
    if (maar_text_replace(&entry->event_key, key))
        maar_session_event(session, MAAR_KIND_POD_GROUP, job->ns, job->name, job->pod_group_uid,
                           "Normal", reason, message);
}

static void host_job_condition(void *context, const struct maar_job *job, const char *type,
                               const char *reason, const char *message)
{
    maar_session_set_condition(context, job, type, reason, message);
    maar_session_add_news(context, &maar_job_entry(job)->view);
}

static const char *host_job_fit_error(void *context, const struct maar_job *job, char *buffer,
                                      size_t n)
{
    return maar_job_fit_error(context, job, buffer, n);
}

static uint32_t host_job_n_schedulable(void *context, const struct maar_job *job)
{
    struct maar_session *session = context;
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->n_tasks; i++) {
        const struct maar_task *task = job->tasks[i];
        n += task->status == MAAR_TASK_PENDING &&
             maar_session_task(session, task)->tried_status == MAAR_TASK_ALLOCATED;
    }
    return n;
}

static void host_assignment_annotate(struct maar_assignment *assignment, const char *key,
                                     const char *value)
{
    uint32_t n = assignment->n_annotations;
    struct maar_label *labels = maar_arena_calloc(assignment->arena, n + 1, sizeof *labels);
    if (n > 0)
        memcpy(labels, assignment->annotations, n * sizeof *labels);
    labels[n] = (struct maar_label){maar_arena_strdup(assignment->arena, key),
                                    maar_arena_strdup(assignment->arena, value)};
    assignment->annotations = labels;
    assignment->n_annotations = n + 1;
}

static const struct maar_tally *host_tally(void *context, const struct maar_tally_kind *kind,
                                           const struct maar_class *owner, uint32_t part,
                                           const char *key)
{
    const struct maar_session *session = context;
    return maar_world_tally(session->world, kind, owner, part, key);
}

static void host_queue_amount(void *context, const struct maar_queue *queue, const char *set,
                              uint32_t dim, double value)
{
    const struct maar_session *session = context;
    struct maar_queue_entry *entry = maar_queue_entry(queue);
    if (entry->published_session != session->world->session_number)
        maar_vec_clear(&entry->published);
    entry->published_session = session->world->session_number;
    struct maar_published published = {set, dim, value};
    maar_vec_push(&entry->published, published);
}

static void host_reason_limit(void *context, const struct maar_queue *queue, uint32_t dim,
                              double held, double asked, double limit, const char *limit_name)
{
    struct maar_session *session = context;
    struct maar_limit item = {queue, dim, held, asked, limit, limit_name};
    if (session->looks && !session->supposing && dim < session->world->dims.n)
        maar_vec_push(&session->limits, item);
}

const struct maar_host maar_session_host = {
    .size = sizeof(struct maar_host),
    .touch = host_touch,
    .log = host_log,
    .argument_int = maar_arguments_int,
    .argument_float = maar_arguments_float,
    .argument_bool = maar_arguments_bool,
    .argument_string = maar_arguments_string,
    .argument_is_set = host_argument_is_set,
    .argument_enabled = host_argument_enabled,
    .argument_tree = maar_arguments_find,
    .node_n_children = host_node_n_children,
    .node_child = host_node_child,
    .node_key = host_node_key,
    .node_text = host_node_text,
    .dim_find = host_dim_find,
    .intern_find = host_intern_find,
    .reason_add = maar_reasons_add,
    .job_event = host_job_event,
    .job_condition = host_job_condition,
    .job_fit_error = host_job_fit_error,
    .job_n_schedulable = host_job_n_schedulable,
    .compare_queues = maar_vote_compare_queues,
    .assignment_annotate = host_assignment_annotate,
    .queue_amount = host_queue_amount,
    .reason_limit = host_reason_limit,
    .tally = host_tally,
};
