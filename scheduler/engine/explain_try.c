/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* A try: the waiting members of a job are placed one after the other as the actions would do it, whatever the votes
 * before say, to see how far it goes. Pods that are alike are counted together; the first of them that finds no place
 * speaks for the others. Then everything is taken back. */

#include <stdio.h>

#include "base/bitset.h"
#include "engine/explain_parts.h"
#include "place/place.h"

#define MAX_CLASSES 64u
#define N_NEAREST   3u

struct
try {
    struct maar_explaining *explaining;
    struct maar_statement *statement;
    const struct maar_task **tasks; /* in task order, those that ask for nothing last */
    size_t n;
    uint32_t n_pipelined;
    const char *plugin;     /* that had no room; NULL */
    uint32_t n_given_back;  /* members of sub-groups that do not come together */
    const char *sub_groups; /* what is short of them; NULL: nothing */
};

/* ---- order ---- */

static int compare_tasks(const void *l, const void *r, void *context)
{
    const struct maar_task *a = *(const struct maar_task *const *)l;
    const struct maar_task *b = *(const struct maar_task *const *)r;
    if (a->sub_job != b->sub_job)
        return maar_vote_sub_job_less(context, a->sub_job, b->sub_job) ? -1 : 1;
    if (a->cls->best_effort != b->cls->best_effort)
        return a->cls->best_effort ? 1 : -1;
    if (maar_vote_task_less(context, a, b))
        return -1;
    return maar_vote_task_less(context, b, a);
}

const struct maar_task **maar_explain_tasks(struct maar_session *session,
                                            const struct maar_job *job, size_t *ret_n)
{
    const struct maar_task **tasks =
        maar_arena_calloc(session->arena, job->n_tasks + 1, sizeof *tasks);
    size_t n = 0;
    for (uint32_t i = 0; i < job->n_tasks; i++)
        if (!maar_place_is_barred(job->tasks[i]))
            tasks[n++] = job->tasks[i];
    qsort_r((void *)tasks, n, sizeof *tasks, compare_tasks, session);
    *ret_n = n;
    return tasks;
}

/* ---- what a class lacks ---- */

struct near {
    uint32_t slot;
    uint32_t n_obstacles;
    double lack; /* sum over the dimensions, as parts of what is asked */
};

static bool is_nearer(const struct maar_world *world, const struct near *l, const struct near *r)
{
    if (l->n_obstacles != r->n_obstacles)
        return l->n_obstacles < r->n_obstacles;
    if (l->lack != r->lack)
        return l->lack < r->lack;
    return world->nodes.name_rank[l->slot] < world->nodes.name_rank[r->slot];
}

static struct near measure(struct maar_session *session, const struct maar_task *task,
                           uint32_t flags, uint32_t slot, uint8_t fit)
{
    struct near near = {.slot = slot, .n_obstacles = fit != MAAR_FIT_OK};
    for (uint64_t bits = maar_explain_short(session, task, flags, slot); bits; bits &= bits - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(bits);
        double asked = (double)maar_resource_get(&task->cls->request, d);
        double lack = asked - (double)maar_node_future_idle(&session->world->nodes, d, slot);
        near.n_obstacles++;
        near.lack += asked > 0 ? lack / asked : 1;
    }
    return near;
}

/* The best nodes, best first. */
static size_t find_nearest(struct maar_session *session, const struct maar_task *task,
                           uint32_t flags, struct near best[N_NEAREST])
{
    const struct maar_world *world = session->world;
    size_t n = 0;
    for (uint32_t slot = 0; slot < world->nodes.n_slots; slot++) {
        if (!maar_bit_get(world->nodes.live, slot) || world->node_entries.data[slot]->fault)
            continue;
        uint8_t fit = MAAR_FIT_OK;
        maar_run_filters(session, task, &slot, 1, &fit, MAAR_FILTER_ALL);
        struct near near = measure(session, task, flags, slot, fit);
        size_t at = n < N_NEAREST ? n++ : N_NEAREST;
        for (; at > 0 && is_nearer(world, &near, &best[at - 1]); at--)
            if (at < N_NEAREST)
                best[at] = best[at - 1];
        if (at < N_NEAREST)
            best[at] = near;
    }
    return n;
}

static struct maar_explained_node
describe(struct maar_session *session, const struct maar_task *task, uint32_t flags, uint32_t slot)
{
    const struct maar_world *world = session->world;
    uint64_t lacks = maar_explain_short(session, task, flags, slot);
    struct maar_explained_node node = {
        .name = maar_arena_strdup(session->arena, world->nodes.facts[slot].name),
        .refusal = maar_explain_refusal(session, task, slot),
        .lacks = maar_arena_calloc(session->arena, MAAR_MAX_DIMS, sizeof *node.lacks),
    };
    for (; lacks; lacks &= lacks - 1) {
        uint32_t d = (uint32_t)__builtin_ctzll(lacks);
        int64_t lack = maar_resource_get(&task->cls->request, d) -
                       maar_node_future_idle(&world->nodes, d, slot);
        node.lacks[node.n_lacks++] = (struct maar_explained_amount){
            maar_arena_strdup(session->arena, world->dim_names[d]), (double)lack};
    }
    return node;
}

static void note_nodes(struct maar_session *session, const struct maar_task *task, uint32_t flags,
                       struct maar_explained_class *cls)
{
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session->arena);
    cls->n_nodes = maar_explain_count(session, task, flags, &reasons);
    cls->reasons = maar_arena_calloc(session->arena, reasons.items.n + 1, sizeof *cls->reasons);
    for (size_t i = 0; i < reasons.items.n; i++)
        cls->reasons[cls->n_reasons++] =
            (struct maar_explained_reason){reasons.items.data[i].text, reasons.items.data[i].n};
    maar_reasons_fini(&reasons);
    struct near best[N_NEAREST];
    cls->n_nearest = find_nearest(session, task, flags, best);
    cls->nearest = maar_arena_calloc(session->arena, N_NEAREST, sizeof *cls->nearest);
    for (size_t i = 0; i < cls->n_nearest; i++)
        cls->nearest[i] = describe(session, task, flags, best[i].slot);
}

/* ---- classes ---- */

static struct maar_explained_class *new_class(struct try *try, const struct maar_task *task)
{
    struct maar_explaining *explaining = try->explaining;
    const struct maar_world *world = explaining->session->world;
    struct maar_arena *arena = explaining->session->arena;
    const struct maar_resource *request = &task->cls->request;
    struct maar_explained_group *group = explaining->group;
    explaining->samples[group->n_classes] = task;
    struct maar_explained_class *cls = &group->classes[group->n_classes++];
    cls->pod = maar_arena_printf(arena, "%s/%s", task->ns, task->name);
    cls->request = maar_arena_calloc(arena, MAAR_MAX_DIMS, sizeof *cls->request);
    for (uint32_t d = 0; d < request->n; d++)
        if (d != MAAR_DIM_PODS && request->v[d] > 0)
            cls->request[cls->n_request++] = (struct maar_explained_amount){
                maar_arena_strdup(arena, world->dim_names[d]), (double)request->v[d]};
    return cls;
}

/* NULL when there are more kinds than are told apart. */
static struct maar_explained_class *class_of(struct try *try, const struct maar_task *task)
{
    const struct maar_explaining *explaining = try->explaining;
    struct maar_explained_group *group = explaining->group;
    for (size_t i = group->n_classes; i-- > 0;)
        if (explaining->samples[i]->cls == task->cls)
            return &group->classes[i];
    return group->n_classes < MAX_CLASSES ? new_class(try, task) : NULL;
}

/* ---- one task ---- */

static bool has_room(struct try *try, const struct maar_task *task,
                     struct maar_explained_class *cls)
{
    struct maar_session *session = try->explaining->session;
    const struct maar_queue *queue = try->explaining->job->queue;
    if (task->cls->best_effort || maar_vote_queue_room(session, queue, task, 1, NULL) > 0)
        return true;
    try->plugin = session->refuser;
    struct maar_reasons reasons;
    maar_reasons_init(&reasons, session->arena);
    maar_vote_queue_room(session, queue, task, 1, &reasons);
    const char *text = maar_reasons_join(&reasons);
    maar_reasons_fini(&reasons);
    cls->gate = MAAR_GATE_ROOM;
    cls->text =
        *text ? text : maar_arena_printf(session->arena, "queue %s has no room", queue->name);
    return false;
}

static bool place_one(struct try *try, const struct maar_task *task,
                      struct maar_explained_class *cls)
{
    struct maar_session *session = try->explaining->session;
    uint32_t flags = task->cls->best_effort ? MAAR_PLACE_BEST_EFFORT : 0;
    struct maar_place_result result =
        maar_place_tasks(try->statement, try->explaining->job, NULL, &task, 1, flags);
    try->n_pipelined += result.n_pipelined;
    if (result.n_placed > 0)
        return true;
    const char *text = maar_session_task(session, task)->fit_text;
    cls->gate = MAAR_GATE_NODES;
    cls->text = text ? text : maar_explain_task(session, task, flags);
    note_nodes(session, task, flags, cls);
    return false;
}

static void take(struct try *try, const struct maar_task *task)
{
    struct maar_explaining *explaining = try->explaining;
    struct maar_explained_class *cls = class_of(try, task);
    if (!cls)
        return;
    cls->n_waiting++;
    if (cls->gate == MAAR_GATE_NONE && has_room(try, task, cls) && place_one(try, task, cls)) {
        cls->n_fit++;
        explaining->group->could++;
    }
    if (task != explaining->probe)
        return;
    explaining->probe_text = cls->text;
    if (task->node != MAAR_NO_NODE)
        explaining->probe_node = maar_arena_strdup(
            explaining->session->arena, explaining->session->world->nodes.facts[task->node].name);
}

/* ---- sub-jobs ---- */

/* What was placed of sub-jobs that do not come together does not count. */
static void give_back_parts(struct try *try)
{
    struct maar_session *session = try->explaining->session;
    for (size_t i = 0; i < try->n; i++) {
        struct maar_task *task = &maar_task_entry(try->tasks[i])->view;
        if (!task->sub_job ||
            maar_vote_placed_pipelined(session, task->sub_job->job, task->sub_job))
            continue;
        if (!try->sub_groups)
            try->sub_groups = maar_gang_sub_job_text(session, task->sub_job);
        if (task->node == MAAR_NO_NODE)
            continue;
        try->n_pipelined -= task->status == MAAR_TASK_PIPELINED;
        try->explaining->group->could--;
        try->n_given_back++;
        maar_world_move(session->world, task, MAAR_TASK_PENDING, MAAR_NO_NODE);
        maar_vote_on_deallocate(session, task);
    }
    const char *text = maar_gang_sub_jobs_text(session, try->explaining->job);
    try->sub_groups = text ? text : try->sub_groups;
}

/* ---- the outcome ---- */

static void note_roles(struct try *try)
{
    const struct maar_job *job = try->explaining->job;
    struct maar_explained_group *group = try->explaining->group;
    struct maar_arena *arena = try->explaining->session->arena;
    group->roles = maar_arena_calloc(arena, job->n_roles + 1, sizeof *group->roles);
    for (uint32_t i = 0; i < job->n_roles; i++) {
        const struct maar_role *role = &job->roles[i];
        int64_t placed = 0;
        for (size_t t = 0; t < try->n; t++)
            placed += try->tasks[t]->role_slot == i && try->tasks[t]->node != MAAR_NO_NODE;
        if (role->min > 0)
            group->roles[group->n_roles++] = (struct maar_explained_role){
                maar_arena_strdup(arena, *role->name ? role->name : "(none)"),
                (int64_t)maar_role_n_occupied(role) - role->n_pending_best_effort - placed,
                role->min, placed};
    }
}

/* The first class that was refused, the pods that are short for its reason. */
static const struct maar_explained_class *first_refused(const struct maar_explained_group *group)
{
    for (size_t i = 0; i < group->n_classes; i++)
        if (group->classes[i].gate != MAAR_GATE_NONE)
            return &group->classes[i];
    return NULL;
}

/* What has room are members of sub-groups that do not come together, or enough members of too few sub-groups or of
 * the wrong roles; or nothing was refused, and yet too few pods exist: which. NULL: it is something else. */
static const char *parts_text(const struct try *try)
{
    const struct maar_explained_group *group = try->explaining->group;
    bool has_enough = group->could >= group->need - group->have;
    bool has_none = try->n_given_back > 0 || !first_refused(group);
    if (try->sub_groups && (group->could > 0 ? has_enough : has_none))
        return try->sub_groups;
    if (group->could == 0 || !has_enough)
        return NULL;
    return maar_gang_role_text(try->explaining->session, try->explaining->job, true);
}

static void judge(struct try *try, bool ready, bool pipelined)
{
    struct maar_explained_group *group = try->explaining->group;
    struct maar_arena *arena = try->explaining->session->arena;
    const struct maar_explained_class *refused = first_refused(group);
    const char *parts = parts_text(try);
    if (ready && group->could > 0) {
        group->gate = MAAR_GATE_TURN;
        group->text =
            "it fits now: the next session places it unless what is before it takes the room";
    } else if (pipelined && group->could > 0) {
        group->gate = MAAR_GATE_RELEASE;
        group->text =
            maar_arena_printf(arena, "%u of its pods %s once pods that are ending have gone",
                              try->n_pipelined, try->n_pipelined == 1 ? "fits" : "fit");
    } else if (refused && refused->gate == MAAR_GATE_ROOM) {
        group->gate = MAAR_GATE_ROOM;
        group->plugin = try->plugin;
        group->text = refused->text;
    } else if (parts) {
        group->gate = MAAR_GATE_GANG;
        group->text = parts;
    } else if (group->could > 0) {
        group->gate = MAAR_GATE_GANG;
        group->text = maar_arena_printf(
            arena, "%lld of the %lld pods that it needs %s", (long long)group->could,
            (long long)(group->need - group->have), group->could == 1 ? "fits" : "fit");
    } else if (refused) {
        group->gate = MAAR_GATE_NODES;
        group->text = refused->text;
    }
}

/* Another order may fit where the usual one does not. */
static bool fits_otherwise(struct try *try, size_t mark)
{
    struct maar_session *session = try->explaining->session;
    size_t n = 0;
    while (n < try->n && !try->tasks[n]->cls->best_effort)
        n++;
    const struct maar_job *job = try->explaining->job;
    maar_statement_rewind(try->statement, mark, true);
    if (n == 0 || job->n_sub_jobs > 0 ||
        !maar_place_harder(try->statement, job, NULL, try->tasks, n))
        return false;
    maar_place_tasks(try->statement, job, NULL, try->tasks + n, try->n - n,
                     MAAR_PLACE_BEST_EFFORT | MAAR_PLACE_UNTIL_READY);
    return maar_vote_placed_ready(session, job, NULL);
}

void maar_explain_try(struct maar_explaining *explaining)
{
    struct maar_session *session = explaining->session;
    struct maar_explained_group *group = explaining->group;
    struct try try = {.explaining = explaining};
    group->classes = maar_arena_calloc(session->arena, MAX_CLASSES, sizeof *group->classes);
    explaining->samples =
        maar_arena_calloc(session->arena, MAX_CLASSES, sizeof *explaining->samples);
    try.tasks = maar_explain_tasks(session, explaining->job, &try.n);
    try.statement = maar_statement_begin(session);
    size_t mark = maar_statement_mark(try.statement);
    for (size_t i = 0; i < try.n; i++)
        take(&try, try.tasks[i]);
    give_back_parts(&try);
    note_roles(&try);
    bool pipelined = maar_vote_placed_pipelined(session, explaining->job, NULL);
    bool ready = maar_vote_placed_ready(session, explaining->job, NULL);
    if (!ready && !pipelined && fits_otherwise(&try, mark)) {
        ready = true;
        try.n_pipelined = 0;
        group->could = group->need - group->have;
    }
    judge(&try, ready && try.n_pipelined < group->could, ready || pipelined);
    maar_statement_discard(try.statement);
}
