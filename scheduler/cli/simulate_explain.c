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
#include "engine/explanation.h"
#include "serve/explanation_json.h"

struct names {
    MAAR_VEC(char *) items;
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    char *copy = maar_asprintf("podgroup/%s", name);
    maar_vec_push(&names->items, copy);
}

static int explain(struct maar_engine *engine, const char *object, struct maar_text *out,
                   json_t *map)
{
    struct maar_explanation *explanation = NULL;
    int rc = maar_engine_explain(engine, object, &explanation);
    if (rc < 0) {
        maar_autofree char *safe = maar_simulate_escape(object, false);
        fprintf(stderr, "maarctl simulate: --explain %s: %s\n", safe,
                rc == -EBUSY ? "the scheduler has not seen all objects yet; play more cycles"
                             : "there is no such pod, PodGroup or queue; expected NAMESPACE/NAME, "
                               "queue/NAME or all");
        return MAAR_EXIT_INPUT;
    }
    maar_text_add(out, "\n");
    maar_explanation_text(explanation, out);
    if (map)
        json_object_set_new(map, object, maar_explanation_json(explanation));
    maar_explanation_destroy(explanation);
    return MAAR_EXIT_OK;
}

static int explain_all(struct maar_engine *engine, struct maar_text *out, json_t *map)
{
    struct names names = {0};
    int code = MAAR_EXIT_OK;
    maar_engine_waiting(engine, add_name, &names);
    if (names.items.n == 0)
        maar_text_add(out, "\nNothing waits.\n");
    for (size_t i = 0; i < names.items.n; i++) {
        int other = explain(engine, names.items.data[i], out, map);
        code = code ? code : other;
        free(names.items.data[i]);
    }
    maar_vec_fini(&names.items);
    return code;
}

int maar_simulate_explain(struct maar_simulation *simulation, const char *const *objects, size_t n,
                          struct maar_text *out, json_t *map)
{
    struct maar_engine *engine = maar_simulation_engine(simulation);
    int code = MAAR_EXIT_OK;
    for (size_t i = 0; i < n; i++) {
        int other = strcmp(objects[i], "all") == 0 ? explain_all(engine, out, map)
                                                   : explain(engine, objects[i], out, map);
        code = code ? code : other;
    }
    return code;
}
