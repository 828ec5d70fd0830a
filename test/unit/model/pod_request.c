/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* What a pod asks for. The numbers of sidecars, pod-level resources and resizes are those of Kubernetes' own tests. */

#include "model/pod_request.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MI           (INT64_C(1) << 20)
#define MAX_PARTS    6

/* One container: "kind:amounts", where kind is c (container), i (init container), s (sidecar), p (pod level), o
 * (overhead), and R / A behind a container give its status: requests and allocated. Amounts: "cpu=5,memory=7". */
struct row {
    const char *name;
    const char *parts[MAX_PARTS + 1];
    bool infeasible;
    const char *want;
};

static const struct row rows[] = {
    {"nothing but a slot", {0}, false, "pods=1"},
    {"containers add up", {"c:cpu=1,memory=5", "c:cpu=2"}, false, "cpu=3,memory=5,pods=1"},
    {"an explicit 0 is named", {"c:cpu=0"}, false, "cpu=0,pods=1"},
    {"an init container counts when it is larger", {"i:cpu=5", "c:cpu=1"}, false, "cpu=5,pods=1"},
    {"init containers run one at a time",
     {"i:cpu=5", "i:cpu=4,memory=9", "c:cpu=1"},
     false,
     "cpu=5,memory=9,pods=1"},
    {"by dimension", {"i:cpu=5", "c:cpu=1,memory=3"}, false, "cpu=5,memory=3,pods=1"},
    {"sidecars run beside the containers",
     {"i:cpu=5", "s:cpu=1", "s:cpu=2", "s:cpu=3", "c:cpu=1"},
     false,
     "cpu=7,pods=1"},
    {"and beside later init containers",
     {"i:cpu=5", "s:cpu=1", "s:cpu=2", "i:cpu=5", "s:cpu=3", "c:cpu=1"},
     false,
     "cpu=8,pods=1"},
    {"sidecar 10, init 200, main 100",
     {"s:cpu=10", "i:cpu=200", "c:cpu=100"},
     false,
     "cpu=210,pods=1"},
    {"an earlier init container does not see a later sidecar",
     {"i:cpu=200", "s:cpu=10", "c:cpu=100"},
     false,
     "cpu=200,pods=1"},
    {"overhead comes on top",
     {"c:cpu=1", "i:cpu=5", "o:cpu=2,memory=1"},
     false,
     "cpu=7,memory=1,pods=1"},
    {"the pod's own resources replace the sum, even by less",
     {"c:cpu=4,memory=9,x/y=3", "p:cpu=2,x/y=1,hugepages-2Mi=8"},
     false,
     "cpu=2,hugepages-2Mi=8,memory=9,pods=1,x/y=3"},
    {"overhead comes on top of them", {"c:cpu=4", "p:cpu=2", "o:cpu=1"}, false, "cpu=3,pods=1"},
    {"a resize counts with the largest",
     {"c:cpu=4,memory=1", "R:cpu=2,memory=6", "A:cpu=3"},
     false,
     "cpu=4,memory=6,pods=1"},
    {"granted but not yet in effect", {"c:cpu=2", "R:cpu=3", "A:cpu=5"}, false, "cpu=5,pods=1"},
    {"an infeasible wish does not count",
     {"c:cpu=9,x/y=1", "R:cpu=2", "A:cpu=3"},
     true,
     "cpu=3,pods=1"},
    {"infeasible without a status keeps the spec", {"c:cpu=9"}, true, "cpu=9,pods=1"},
    {"an empty status still holds the wish", {"c:cpu=9", "R:"}, false, "cpu=9,pods=1"},
    {"an infeasible wish over an empty status is nothing", {"c:cpu=9", "R:"}, true, "pods=1"},
    {"a sidecar is resized too", {"s:cpu=1", "R:cpu=4", "c:cpu=1"}, false, "cpu=5,pods=1"},
    {"an ordinary init container is not", {"i:cpu=1", "R:cpu=4"}, false, "cpu=1,pods=1"},
    {"pod level wins over a resize", {"c:cpu=4", "R:cpu=8", "p:cpu=1"}, false, "cpu=1,pods=1"},
    {"sums stop at the largest number",
     {"c:x/y=9223372036854775807", "c:x/y=5"},
     false,
     "pods=1,x/y=9223372036854775807"},
};

static struct maar_amounts_record parse_amounts(const char *text, struct maar_arena *arena)
{
    struct maar_amounts_record amounts = {0, maar_arena_calloc(arena, 8, sizeof *amounts.items)};
    char *copy = maar_arena_strdup(arena, text);
    char *rest;
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(item, '=');
        *value++ = '\0';
        amounts.items[amounts.n++] = (struct maar_amount){item, strtoll(value, NULL, 10)};
    }
    return amounts;
}

static void add_container(struct maar_container_record *containers, uint32_t *n, bool is_sidecar,
                          struct maar_amounts_record requests, struct maar_container_record **last)
{
    *last = &containers[(*n)++];
    (*last)->restart_always = is_sidecar;
    (*last)->requests = requests;
}

static void build(const char *const *parts, struct maar_arena *arena, struct maar_pod_record *pod)
{
    struct maar_container_record *last = NULL;
    pod->containers = maar_arena_calloc(arena, MAX_PARTS, sizeof *pod->containers);
    pod->init_containers = maar_arena_calloc(arena, MAX_PARTS, sizeof *pod->init_containers);
    for (; *parts; parts++) {
        struct maar_amounts_record amounts = parse_amounts(*parts + 2, arena);
        switch (**parts) {
        case 'c':
            add_container(pod->containers, &pod->n_containers, false, amounts, &last);
            break;
        case 'i':
        case 's':
            add_container(pod->init_containers, &pod->n_init_containers, **parts == 's', amounts,
                          &last);
            break;
        case 'R':
            last->has_status_resources = true;
            last->status_requests = amounts;
            break;
        case 'A':
            last->status_allocated = amounts;
            break;
        case 'p':
            pod->pod_level = amounts;
            break;
        default:
            pod->overhead = amounts;
            break;
        }
    }
}

static void request_of_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct maar_arena *arena = maar_arena_create();
        struct maar_pod_record pod = {.resize_infeasible = rows[i].infeasible};
        build(rows[i].parts, arena, &pod);
        struct maar_amounts_record request = maar_pod_request(&pod, arena);
        const char *got = "";
        for (uint32_t j = 0; j < request.n; j++)
            got = maar_arena_printf(arena, "%s%s%s=%" PRId64, got, j ? "," : "",
                                    request.items[j].name, request.items[j].value);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: %s, want %s", rows[i].name, got, rows[i].want);
        maar_arena_destroy(arena);
    }
}

static const struct {
    const char *name;
    const char *parts[MAX_PARTS + 1];
    int64_t cpu_milli;
    int64_t memory_bytes;
} scoring_rows[] = {
    {"no container", {0}, 0, 0},
    {"a container that asks for nothing", {"c:"}, 100, 200 * MI},
    {"each one", {"c:", "c:cpu=50"}, 150, 400 * MI},
    {"an explicit 0 stays 0", {"c:cpu=0,memory=0"}, 0, 0},
    {"the larger of init and all", {"i:cpu=500", "c:"}, 500, 200 * MI},
    {"sidecars add", {"s:", "c:"}, 200, 400 * MI},
    {"overhead adds", {"c:", "o:cpu=10,memory=1"}, 110, 200 * MI + 1},
    {"pod level replaces", {"c:", "c:", "p:cpu=1000"}, 1000, 400 * MI},
};

static void scoring_value_of_each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scoring_rows); i++) {
        struct maar_arena *arena = maar_arena_create();
        struct maar_pod_record pod = {0};
        int64_t cpu, memory;
        build(scoring_rows[i].parts, arena, &pod);
        maar_pod_request_nonzero(&pod, &cpu, &memory);
        if (cpu != scoring_rows[i].cpu_milli || memory != scoring_rows[i].memory_bytes)
            fail_msg("%s: %" PRId64 " and %" PRId64, scoring_rows[i].name, cpu, memory);
        maar_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_of_each_row),
        cmocka_unit_test(scoring_value_of_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
