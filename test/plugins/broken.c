/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Fixtures: descriptors that are each wrong in one place. BROKEN_CASE picks the place, the build
 * makes one shared object of each. Case 0 is right, so that a test knows the rest of the file is.
 */

#include <maar/plugin.h>

#ifndef BROKEN_CASE
#define BROKEN_CASE 0
#endif

#if BROKEN_CASE == 1 /* a Go plugin, by the section that every Go program has */
extern const char go_build_info[];
__attribute__((section(".go.buildinfo"), used)) const char go_build_info[] = "\xff Go buildinf:";
#endif

#if BROKEN_CASE == 2 /* a Go plugin that was stripped: Volcano's entry point is still there */
MAAR_EXPORT void New(void);
void New(void)
{
}
#elif BROKEN_CASE == 3 /* no descriptor at all */
extern const char maar_plugin_text[] __asm__("maar_plugin");
MAAR_EXPORT const char maar_plugin_text[] = "maar";
#else

static void fit_nothing(void *self, const struct maar_view *view, const struct maar_task *task,
                        const uint32_t *nodes, size_t n, uint8_t *out)
{
    (void)self;
    (void)view;
    (void)task;
    (void)nodes;
    (void)n;
    (void)out;
}

static void score_nothing(void *self, const struct maar_view *view, const struct maar_task *task,
                          const uint32_t *nodes, size_t n, double *out)
{
    (void)self;
    (void)view;
    (void)task;
    (void)nodes;
    (void)n;
    (void)out;
}

static int reserve_nothing(void *self, const struct maar_view *view, const struct maar_task *task,
                           uint32_t node, struct maar_assignment *assignment,
                           struct maar_reasons *reasons)
{
    (void)self;
    (void)view;
    (void)task;
    (void)node;
    (void)assignment;
    (void)reasons;
    return 0;
}

static void unreserve_nothing(void *self, const struct maar_view *view,
                              const struct maar_task *task, uint32_t node)
{
    (void)self;
    (void)view;
    (void)task;
    (void)node;
}

static const struct maar_argument arguments[] = {
#if BROKEN_CASE == 10
    {"two words", MAAR_ARGUMENT_INT, "1", NULL, "A key with a blank."},
#elif BROKEN_CASE == 11
    {"weight", MAAR_ARGUMENT_INT, "1.5", NULL, "A default of another type."},
#elif BROKEN_CASE == 12
    {"weight", MAAR_ARGUMENT_INT, "200", "0..100", "A default out of range."},
#elif BROKEN_CASE == 13
    {"weight", MAAR_ARGUMENT_INT, "1", NULL, NULL},
#elif BROKEN_CASE == 14
    {"weight", MAAR_ARGUMENT_INT, "1", NULL, "Written twice."},
    {"weight", MAAR_ARGUMENT_FLOAT, "1", NULL, "Written twice."},
#elif BROKEN_CASE == 15
    {"weight", (enum maar_argument_type)77, "1", NULL, "A type that does not exist."},
#elif BROKEN_CASE == 16
    {"weight", MAAR_ARGUMENT_INT, NULL, "5..1", "A range that is empty."},
#else
    {"weight", MAAR_ARGUMENT_INT, "1", "0..100", "How much it counts."},
#endif
    {NULL, MAAR_ARGUMENT_INT, NULL, NULL, NULL},
};

static const char *const aliases[] = {
#if BROKEN_CASE == 6
    "not a name",
#endif
    "broken_alias",
    NULL,
};

static const char *const labels[] = {"broken.example.com/label", NULL};
static const char *const annotations[] = {
#if BROKEN_CASE == 17
    "",
#endif
    "broken.example.com/annotation",
    NULL,
};

static const struct maar_filter filters[] = {
    {
        .name = "Nothing",
        .node = BROKEN_CASE == 20 ? 1u << 20 : 0,
        .fit = BROKEN_CASE == 21 ? NULL : fit_nothing,
    },
};

static const struct maar_score scores[] = {
    {
        .name = "Nothing",
        .score = BROKEN_CASE == 22 ? NULL : score_nothing,
    },
};

MAAR_EXPORT const struct maar_plugin maar_plugin = {
    .abi = MAAR_ABI,
    /* 4: more fields than this host knows, 5: fewer than it needs */
    .size = BROKEN_CASE == 5 ? 64 : sizeof(struct maar_plugin) + (BROKEN_CASE == 4 ? 64 : 0),
    .name = BROKEN_CASE == 7   ? "No Name"
            : BROKEN_CASE == 8 ? NULL
                               : "broken",
    .aliases = aliases,
    .summary = "Is wrong in one place at most.",
    .arguments = arguments,
    .reads_pod_labels = labels,
    .reads_pod_annotations = annotations,
    .node_row_size = BROKEN_CASE == 9 ? (size_t)1 << 40 : 0,
    .hooks =
        {
            .filters = BROKEN_CASE == 23 ? NULL : filters,
            .n_filters = 1,
            .scores = scores,
            .n_scores = 1,
            .reserve = reserve_nothing,
            .unreserve = BROKEN_CASE == 24 ? NULL : unreserve_nothing,
        },
};
#endif
