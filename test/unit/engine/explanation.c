/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Explanations against the ledger: every scenario of test/scenario and test/explain is played to its end, everything that
 * waits is explained, and each number is held against the world, each text against what the pods were told. */

#include "engine/explanation.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/memory.h"
#include "model/world.h"
#include "place/place.h"
#include "sim/simulation.h"

static struct maar_registry *registry;
static const char *file; /* being played */
static size_t n_explained;
static size_t n_by_gate[MAAR_N_GATES];

#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds))                                                                              \
            fail_msg("%s: %s: %s", file, group->name, #holds);                                     \
    } while (0)

/* ---- numbers ---- */

static double ledger(const struct maar_world *world, const char *queue, const char *dimension,
                     bool subtree)
{
    const struct maar_queue_entry *entry = maar_world_queue(world, queue);
    uint32_t d = maar_world_dim_find(world, dimension);
    assert_non_null(entry);
    assert_true(d != MAAR_NO_DIM);
    return (double)(subtree ? entry->row_subtree[d] : entry->row_allocated[d]);
}

static void check_levels(const struct maar_world *world, const struct maar_explained_group *group)
{
    for (size_t i = 0; i < group->n_levels; i++) {
        const struct maar_explained_level *level = &group->levels[i];
        CHECK(level->asked > 0);
        CHECK(level->allocated == ledger(world, level->queue, level->dimension, false) ||
              level->allocated == ledger(world, level->queue, level->dimension, true));
    }
    for (size_t i = 0; i < group->n_limits; i++) {
        const struct maar_explained_limit *limit = &group->limits[i];
        bool shown = !limit->queue;
        CHECK(limit->held + limit->asked > limit->limit);
        for (size_t k = 0; k < group->n_levels && !shown; k++)
            shown = strcmp(group->levels[k].queue, limit->queue) == 0 &&
                    strcmp(group->levels[k].dimension, limit->dimension) == 0 &&
                    group->levels[k].refuses;
        CHECK(shown);
    }
}

static void check_nearest(const struct maar_world *world, const struct maar_explained_group *group,
                          const struct maar_explained_class *cls)
{
    for (size_t i = 0; i < cls->n_nearest; i++) {
        const struct maar_explained_node *node = &cls->nearest[i];
        uint32_t slot = maar_world_node(world, node->name);
        CHECK(slot != MAAR_NO_NODE);
        CHECK(node->n_lacks > 0 || node->refusal);
        for (size_t k = 0; k < node->n_lacks; k++) {
            uint32_t d = maar_world_dim_find(world, node->lacks[k].dimension);
            double asked = 0;
            for (size_t r = 0; r < cls->n_request; r++)
                if (strcmp(cls->request[r].dimension, node->lacks[k].dimension) == 0)
                    asked = cls->request[r].amount;
            CHECK(node->lacks[k].amount > 0);
            /* The gang's own members may have taken some in the try. */
            CHECK(node->lacks[k].amount >=
                      asked - (double)maar_node_future_idle(&world->nodes, d, slot) ||
                  d == MAAR_DIM_PODS);
        }
    }
}

static void check_classes(const struct maar_world *world, const struct maar_explained_group *group)
{
    int64_t n_fit = 0;
    for (size_t i = 0; i < group->n_classes; i++) {
        const struct maar_explained_class *cls = &group->classes[i];
        uint64_t n_reasons = 0;
        n_fit += cls->n_fit;
        CHECK(cls->n_fit <= cls->n_waiting);
        CHECK((cls->gate == MAAR_GATE_NONE) == (cls->n_fit == cls->n_waiting));
        if (cls->gate != MAAR_GATE_NODES)
            continue;
        char head[64];
        snprintf(head, sizeof head, "0/%u nodes are unavailable", world->nodes.n_live);
        CHECK(cls->n_nodes == world->nodes.n_live);
        CHECK(strncmp(cls->text, head, strlen(head)) == 0 || !strstr(cls->text, "nodes"));
        for (size_t k = 0; k < cls->n_reasons; k++)
            n_reasons += cls->reasons[k].n;
        CHECK(n_reasons >= cls->n_nodes);
        check_nearest(world, group, cls);
    }
    CHECK(group->could <= n_fit || group->gate == MAAR_GATE_TURN);
}

static const char *told(const struct maar_world *world, const struct maar_job_entry *job,
                        const char *pod)
{
    const char *name = strchr(pod, '/') + 1;
    (void)world;
    for (size_t i = 0; i < job->tasks.n; i++) {
        const struct maar_task_entry *task = maar_task_entry(job->tasks.data[i]);
        if (strcmp(task->view.name, name) == 0)
            return task->condition_message;
    }
    return NULL;
}

/* Where nothing of a class fits, its pods were told the same. */
static void check_told(const struct maar_world *world, const struct maar_job_entry *job,
                       const struct maar_explained_group *group)
{
    if (group->gate != MAAR_GATE_NODES || group->n_classes != 1)
        return;
    const char *message = told(world, job, group->classes[0].pod);
    CHECK(message != NULL);
    CHECK(message && strncmp(message, group->classes[0].text, strlen(group->classes[0].text)) == 0);
}

/* ---- a scenario ---- */

static void check_group(struct maar_simulation *simulation, const char *name)
{
    struct maar_engine *engine = maar_simulation_engine(simulation);
    const struct maar_world *world = maar_engine_world(engine);
    const struct maar_job_entry *job = maar_world_job(world, name);
    struct maar_explanation *explanation = NULL;
    uint64_t before = maar_world_hash(world);
    maar_autofree char *object = maar_asprintf("podgroup/%s", name);
    assert_int_equal(maar_engine_explain(engine, object, &explanation), 0);
    const struct maar_explained_group *group = explanation->group;
    n_explained++;
    n_by_gate[group->gate]++;
    CHECK(maar_world_hash(world) == before);
    CHECK(group->have == maar_job_n_ready(&job->view));
    CHECK(group->need == job->view.min_available);
    CHECK(group->n_waiting == job->view.n[MAAR_TASK_PENDING] + job->view.n[MAAR_TASK_PIPELINED]);
    CHECK(group->text && *group->text);
    /* The last session would have placed it. */
    CHECK(group->gate != MAAR_GATE_TURN && group->gate != MAAR_GATE_NONE);
    check_levels(world, group);
    check_classes(world, group);
    check_told(world, job, group);
    maar_explanation_destroy(explanation);
}

struct names {
    MAAR_VEC(char *) items;
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    maar_vec_push(&names->items, maar_strdup(name));
}

static void check_scenario(const char *path)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_scenario *scenario = NULL;
    struct maar_simulation *simulation = NULL;
    const struct maar_simulation_options options = {.registry = registry};
    struct names names = {0};
    file = path;
    if (maar_scenario_read(&path, 1, &scenario, &err) < 0 ||
        maar_simulation_create(scenario, &options, &simulation, &err) < 0 ||
        maar_simulation_run(simulation, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    maar_engine_waiting(maar_simulation_engine(simulation), add_name, &names);
    for (size_t i = 0; i < names.items.n; i++) {
        check_group(simulation, names.items.data[i]);
        free(names.items.data[i]);
    }
    maar_vec_fini(&names.items);
    maar_simulation_destroy(simulation);
    maar_scenario_destroy(scenario);
}

static void check_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".yaml") != 0)
            continue;
        maar_autofree char *path = maar_asprintf("%s/%s", folder, entry->d_name);
        check_scenario(path);
    }
    closedir(dir);
}

static void explanations_agree_with_the_ledger(void **state)
{
    (void)state;
    static const enum maar_gate seen[] = {
        MAAR_GATE_POD_GROUP, MAAR_GATE_QUEUE, MAAR_GATE_CLOSED, MAAR_GATE_ENQUEUE, MAAR_GATE_VALID,
        MAAR_GATE_GATED,     MAAR_GATE_FIFO,  MAAR_GATE_ROOM,   MAAR_GATE_NODES,   MAAR_GATE_GANG,
    };
    check_folder(MAAR_TEST_SOURCE_DIR "/test/scenario");
    check_folder(MAAR_TEST_SOURCE_DIR "/test/explain");
    assert_true(n_explained > 50);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (n_by_gate[seen[i]] == 0)
            fail_msg("no scenario has the gate %s", maar_gate_name(seen[i]));
}

static int load(void **state)
{
    (void)state;
    struct maar_error err = MAAR_ERROR_INIT;
    maar_log_set_verbosity(-1);
    registry = maar_registry_create();
    return maar_registry_load_plugins(registry, MAAR_TEST_BIN_DIR "/plugins", &err) < 0 ||
                   maar_registry_load_actions(registry, MAAR_TEST_BIN_DIR "/actions", &err) < 0
               ? -1
               : 0;
}

static int unload(void **state)
{
    (void)state;
    maar_registry_destroy(registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explanations_agree_with_the_ledger),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
