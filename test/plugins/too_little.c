/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* A fixture: a plugin that declares too little. Its score prefers nodes whose neighbour is crowded,
 * but says that it reads the node's own load only; a placement that trusts it keeps stale scores,
 * and the comparison with the reference path must find that out. */

#include <maar/plugin.h>

static double crowd_score(void *self, const struct maar_view *view, const struct maar_task *task,
                          uint32_t node)
{
    (void)self;
    (void)task;
    uint32_t neighbour = (node + 1) % view->nodes->n_slots;
    return 1000 * (double)view->nodes->n_tasks[neighbour];
}

MAAR_SCORE_EACH(crowd_scores, crowd_score)

static const struct maar_score scores[] = {
    {.name = "Crowd", .subject = MAAR_SUBJECT_CLASS, .node = MAAR_NODE_LOAD, .score = crowd_scores},
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    MAAR_PLUGIN_HEADER,
    .name = "too-little",
    .summary = "Declares less than it reads.",
    .hooks = {.scores = scores, .n_scores = 1},
};
