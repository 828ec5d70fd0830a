// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Explanations of the state at the end of a run.
#include "cli/simulate_explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/simulate_table.h"
#include "serve/explanation_json.h"
#include "sim/pod_group.h"

struct names {
    MAAR_VEC(char *) items;
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    char *copy = maar_asprintf("podgroup/%s", name);
    maar_vec_push(&names->items, copy);
}

struct run {
    struct maar_simulation *simulation;
    const struct maar_simulate_tester *tester;
    struct maar_text *out;
    json_t *map;
};

static void try_cures(const struct run *run, struct maar_explained_group *group)
{
    for (size_t i = 0; group && run->tester && i < group->n_cures; i++)
        if (group->cures[i].edit && !run->tester->try(run->tester->context, group->cures[i].edit,
                                                      group->name, &group->cures[i].tried))
            group->cures[i].edit = NULL;
}

/* A PodGroup may be named by what it was made for. */
static int ask(const struct run *run, const char *object, struct maar_explanation **ret)
{
    struct maar_engine *engine = maar_simulation_engine(run->simulation);
    int rc = maar_engine_explain(engine, object, ret);
    if (rc != -ENOENT)
        return rc;
    struct maar_store *store = maar_cluster_store(maar_simulation_cluster(run->simulation));
    const char *name = strncmp(object, "podgroup/", 9) == 0 ? object + 9 : object;
    maar_store_lock(store);
    const struct maar_object *group = maar_pod_group_find(store, name);
    maar_autofree char *own =
        group ? maar_asprintf("podgroup/%s/%s", group->ns, group->name) : NULL;
    maar_store_unlock(store);
    return own ? maar_engine_explain(engine, own, ret) : rc;
}

static int explain(const struct run *run, const char *object)
{
    struct maar_explanation *explanation = NULL;
    int rc = ask(run, object, &explanation);
    if (rc < 0) {
        maar_autofree char *safe = maar_simulate_escape(object, false);
        fprintf(stderr, "maarctl simulate: --explain %s: %s\n", safe,
                rc == -EBUSY ? "the scheduler has not seen all objects yet; play more cycles"
                             : "there is no such pod, PodGroup or queue; expected NAMESPACE/NAME, "
                               "queue/NAME or all");
        return MAAR_EXIT_INPUT;
    }
    try_cures(run, explanation->group);
    maar_text_add(run->out, "\n");
    maar_explanation_text(explanation, run->out);
    if (run->map)
        json_object_set_new(run->map, object, maar_explanation_json(explanation));
    maar_explanation_destroy(explanation);
    return MAAR_EXIT_OK;
}

static int explain_all(const struct run *run)
{
    struct names names = {0};
    int code = MAAR_EXIT_OK;
    maar_engine_waiting(maar_simulation_engine(run->simulation), add_name, &names);
    if (names.items.n == 0)
        maar_text_add(run->out, "\nNothing waits.\n");
    for (size_t i = 0; i < names.items.n; i++) {
        int other = explain(run, names.items.data[i]);
        code = code ? code : other;
        free(names.items.data[i]);
    }
    maar_vec_fini(&names.items);
    return code;
}

int maar_simulate_explain(struct maar_simulation *simulation,
                          const struct maar_simulate_tester *tester, const char *const *objects,
                          size_t n, struct maar_text *out, json_t *map)
{
    struct run run = {simulation, tester, out, map};
    int code = MAAR_EXIT_OK;
    for (size_t i = 0; i < n; i++) {
        int other = strcmp(objects[i], "all") == 0 ? explain_all(&run) : explain(&run, objects[i]);
        code = code ? code : other;
    }
    return code;
}
