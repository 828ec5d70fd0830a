/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The client alone against a real API server: MAAR_TEST_KUBECONFIG names the kubeconfig; without it there is nothing
 * to test. Binds every pending pod of the scheduler "volcano" to the nodes in turn, and tells the rate.
 * MAAR_TEST_IN_FLIGHT: how many at a time. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/map.h"
#include "kube/client.h"

#define PATIENCE_NS (120 * MAAR_SECOND_NS)

struct cluster {
    struct maar_backend backend;
    struct maar_deltas deltas;
    MAAR_VEC(char *) nodes;
    struct maar_map *pending; /* "ns/name" → its record */
    struct maar_map *bound;   /* "ns/name" → a copy of its node, as the watch told */
    size_t n_synced;
    size_t n_done;
    size_t n_failed;
};

static void take_pod(struct cluster *cluster, struct maar_delta *delta)
{
    const struct maar_record *record = delta->record;
    maar_autofree char *key = maar_asprintf("%s/%s", record->ns, record->name);

    if (*record->pod.node_name) {
        free(maar_map_set(cluster->bound, key, maar_strdup(record->pod.node_name)));
    } else if (strcmp(record->pod.spec.scheduler_name, "volcano") == 0) {
        maar_record_destroy(maar_map_set(cluster->pending, key, delta->record));
        delta->record = NULL;
    }
}

static void take(struct cluster *cluster, struct maar_delta *delta)
{
    if (delta->type == MAAR_DELTA_SYNCED) {
        cluster->n_synced++;
    } else if (delta->type == MAAR_DELTA_UPSERT && delta->kind == MAAR_KIND_POD) {
        take_pod(cluster, delta);
    } else if (delta->type == MAAR_DELTA_UPSERT) {
        maar_vec_push(&cluster->nodes, maar_strdup(delta->record->name));
    } else if (delta->type == MAAR_DELTA_DONE) {
        cluster->n_done++;
        if (delta->code != 201) {
            cluster->n_failed++;
            print_error("%s: %d %s\n", delta->write->name, delta->code, delta->message);
        }
    }
    maar_delta_fini(delta);
}

static void turn(struct cluster *cluster, int64_t deadline_ns)
{
    assert_true(maar_clock_mono_ns() < deadline_ns);
    maar_vec_clear(&cluster->deltas);
    cluster->backend.ops->next_deltas(cluster->backend.self, MAAR_SECOND_NS, &cluster->deltas);
    for (size_t i = 0; i < cluster->deltas.n; i++)
        take(cluster, &cluster->deltas.data[i]);
    maar_vec_clear(&cluster->deltas);
}

static void submit_all(struct cluster *cluster)
{
    size_t at = 0;
    size_t i = 0;
    void *value;

    while (maar_map_next(cluster->pending, &at, NULL, NULL, &value)) {
        const struct maar_record *record = value;
        struct maar_write *write =
            maar_write_create(MAAR_WRITE_BIND, record->ns, record->name, record->uid);

        write->bind.node =
            maar_arena_strdup(write->arena, cluster->nodes.data[i++ % cluster->nodes.n]);
        cluster->backend.ops->submit(cluster->backend.self, write);
    }
}

static void destroy_maps(struct cluster *cluster)
{
    size_t at = 0;
    void *value;
    char **node;

    while (maar_map_next(cluster->pending, &at, NULL, NULL, &value))
        maar_record_destroy(value);
    at = 0;
    while (maar_map_next(cluster->bound, &at, NULL, NULL, &value))
        free(value);
    maar_map_destroy(cluster->pending);
    maar_map_destroy(cluster->bound);
    MAAR_VEC_EACH (&cluster->nodes, node)
        free(*node);
    maar_vec_fini(&cluster->nodes);
    maar_vec_fini(&cluster->deltas);
}

static void every_pending_pod_can_be_bound(void **state)
{
    const char *kubeconfig = getenv("MAAR_TEST_KUBECONFIG");
    const char *in_flight = getenv("MAAR_TEST_IN_FLIGHT");
    struct maar_kube_options options = {
        .kinds = 1u << MAAR_KIND_NODE | 1u << MAAR_KIND_POD,
        .max_in_flight = in_flight ? (unsigned)atoi(in_flight) : 0,
    };
    struct cluster cluster = {.pending = maar_map_create(), .bound = maar_map_create()};
    struct maar_kube_config *config = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    int64_t begin_ns = maar_clock_mono_ns();
    int64_t synced_ns;
    int64_t done_ns;
    size_t n;

    (void)state;
    if (!kubeconfig) {
        destroy_maps(&cluster);
        skip();
    }
    if (maar_kube_config_load(kubeconfig, NULL, &config, &err) < 0)
        fail_msg("%s", err.text);
    options.config = config;
    assert_int_equal(maar_kube_backend_create(&options, &cluster.backend, NULL), 0);
    assert_int_equal(cluster.backend.ops->start(cluster.backend.self, NULL), 0);
    while (cluster.n_synced < 2)
        turn(&cluster, begin_ns + PATIENCE_NS);
    synced_ns = maar_clock_mono_ns();
    n = maar_map_n(cluster.pending);
    assert_true(n > 0 && cluster.nodes.n > 0);
    submit_all(&cluster);
    while (cluster.n_done < n)
        turn(&cluster, synced_ns + PATIENCE_NS);
    done_ns = maar_clock_mono_ns();
    assert_int_equal(cluster.n_failed, 0);
    /* The watch tells of each. */
    while (maar_map_n(cluster.bound) < n)
        turn(&cluster, done_ns + PATIENCE_NS);
    print_message("%zu pods and %zu nodes listed in %.2f s; bound in %.2f s: %.0f/s\n", n,
                  cluster.nodes.n, (double)(synced_ns - begin_ns) / 1e9,
                  (double)(done_ns - synced_ns) / 1e9,
                  (double)n * 1e9 / (double)(done_ns - synced_ns));
    maar_kube_backend_destroy(&cluster.backend);
    maar_kube_config_destroy(config);
    destroy_maps(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pending_pod_can_be_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
