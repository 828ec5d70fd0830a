/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Two maar-scheduler processes on one embedded cluster: one leads, and what happens to it happens in the middle of
 * binding. Whatever it is, every pod is bound, and none twice. */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/api_server.h"
#include "sim/document.h"

#define PATIENCE_NS (60 * MAAR_SECOND_NS)
#define N_NODES     20u
#define N_GANGS     60u
#define N_MEMBERS   10u
#define N_PODS      (N_GANGS * N_MEMBERS)

static struct maar_cluster *cluster;
static struct maar_api_server *server;
static struct maar_store *store;
static char kubeconfig[] = "/tmp/maar-failover.XXXXXX";

/* ---- the cluster ---- */

static void add(json_t *document)
{
    struct maar_error err = MAAR_ERROR_INIT;

    assert_non_null(document);
    if (maar_cluster_add(cluster, document, &err) < 0)
        fail_msg("%s", err.text);
    json_decref(document);
}

static void add_node(unsigned i)
{
    maar_autofree char *name = maar_asprintf("n%u", i);

    add(json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s, s:s, s:s}, s:[{s:s, s:s}]}}", "apiVersion", "v1",
                  "kind", "Node", "metadata", "name", name, "status", "allocatable", "cpu", "100",
                  "memory", "100Gi", "pods", "110", "conditions", "type", "Ready", "status",
                  "True"));
}

static void add_gang(unsigned i)
{
    maar_autofree char *group = maar_asprintf("g%u", i);

    add(json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:i, s:s}}", "apiVersion",
                  "scheduling.volcano.sh/v1beta1", "kind", "PodGroup", "metadata", "name", group,
                  "namespace", "default", "spec", "minMember", (int)N_MEMBERS, "queue", "default"));
    for (unsigned k = 0; k < N_MEMBERS; k++) {
        maar_autofree char *name = maar_asprintf("%s-%u", group, k);

        add(json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s, s:[{s:s, s:{s:{s:s}}}]}, s:{s:s}}",
                      "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
                      "default", "annotations", "scheduling.k8s.io/group-name", group, "spec",
                      "schedulerName", "volcano", "containers", "name", "m", "resources",
                      "requests", "cpu", "1", "status", "phase", "Pending"));
    }
}

static void add_gangs(void)
{
    maar_store_lock(store);
    for (unsigned i = 0; i < N_GANGS; i++)
        add_gang(i);
    maar_store_wake(store);
    maar_store_unlock(store);
}

static int set_up(void **state)
{
    const struct maar_cluster_options options = {.start_ns = maar_clock_wall_ns(),
                                                 .keeps_journal = true};
    struct maar_api_server_options serving = {.token = "secret"};
    maar_autofree char *text = NULL;
    struct maar_error err = MAAR_ERROR_INIT;
    int fd;

    (void)state;
    cluster = maar_cluster_create(&options);
    store = maar_cluster_store(cluster);
    serving.cluster = cluster;
    if (maar_api_server_start(&serving, &server, &err) < 0)
        fail_msg("%s", err.text);
    text = maar_api_server_kubeconfig(maar_api_server_port(server), "secret");
    strcpy(kubeconfig, "/tmp/maar-failover.XXXXXX");
    fd = mkstemp(kubeconfig);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    maar_store_lock(store);
    for (unsigned i = 0; i < N_NODES; i++)
        add_node(i);
    maar_cluster_complete(cluster);
    maar_store_unlock(store);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(kubeconfig);
    maar_api_server_stop(server);
    maar_cluster_destroy(cluster);
    return 0;
}

struct count {
    size_t n_asked;
    size_t n_bound;
    size_t n_again;
};

static struct count count_binds(void)
{
    const struct maar_journal *journal;
    const struct maar_bind_entry *entry;
    struct count count = {0};

    maar_store_lock(store);
    journal = maar_cluster_journal(cluster);
    count.n_asked = journal->binds.n;
    MAAR_VEC_EACH (&journal->binds, entry) {
        count.n_bound += !entry->failed;
        count.n_again += entry->again;
    }
    maar_store_unlock(store);
    return count;
}

static void wait_for_binds(size_t n)
{
    int64_t deadline_ns = maar_clock_mono_ns() + PATIENCE_NS;

    while (count_binds().n_bound < n) {
        assert_true(maar_clock_mono_ns() < deadline_ns);
        usleep(1000);
    }
}

static void expect_each_bound_once(void)
{
    struct count count;

    wait_for_binds(N_PODS);
    count = count_binds();
    assert_int_equal(count.n_again, 0);
    assert_int_equal(count.n_bound, N_PODS);
}

/* The Lease's holder, a copy; "" without. */
static char *holder(void)
{
    const struct maar_object *lease;
    char *text;

    maar_store_lock(store);
    lease = maar_collection_object(maar_store_find(store, "coordination.k8s.io/v1", "Lease"),
                                   "volcano-system", "volcano");
    text = maar_strdup(lease ? maar_document_text(lease->document, "spec.holderIdentity") : "");
    maar_store_unlock(store);
    return text;
}

/* Until somebody else than `former` holds it. */
static char *wait_for_holder(const char *former)
{
    int64_t deadline_ns = maar_clock_mono_ns() + PATIENCE_NS;

    for (;;) {
        char *now = holder();

        if (*now && strcmp(now, former) != 0)
            return now;
        free(now);
        assert_true(maar_clock_mono_ns() < deadline_ns);
        usleep(1000);
    }
}

/* ---- the schedulers ---- */

static pid_t start_scheduler(const char *duration, const char *deadline, const char *retry)
{
    maar_autofree char *config = maar_asprintf("--kubeconfig=%s", kubeconfig);
    maar_autofree char *lease = maar_asprintf("--leader-elect-lease-duration=%s", duration);
    maar_autofree char *renew = maar_asprintf("--leader-elect-renew-deadline=%s", deadline);
    maar_autofree char *period = maar_asprintf("--leader-elect-retry-period=%s", retry);
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* Slow enough to be met in the middle. */
        execl(MAAR_TEST_BIN_DIR "/maar-scheduler", "maar-scheduler", config, lease, renew, period,
              "--kube-api-qps=200", "--kube-api-burst=1", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void end_scheduler(pid_t pid)
{
    int status;

    assert_int_equal(kill(pid, SIGTERM), 0);
    status = status_of(pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A leader and a follower, and the leader in the middle of binding. Returns the leader's name. */
static char *begin(const char *duration, const char *deadline, const char *retry, pid_t pids[2])
{
    char *leader;

    pids[0] = start_scheduler(duration, deadline, retry);
    leader = wait_for_holder("");
    pids[1] = start_scheduler(duration, deadline, retry);
    add_gangs();
    wait_for_binds(N_PODS / 10);
    assert_true(count_binds().n_asked < N_PODS / 2);
    return leader;
}

static void a_killed_leader_is_replaced_when_its_lease_has_expired(void **state)
{
    pid_t pids[2];
    maar_autofree char *former = begin("3s", "2s", "300ms", pids);
    maar_autofree char *next = NULL;

    (void)state;
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    assert_true(WIFSIGNALED(status_of(pids[0])));
    next = wait_for_holder(former);
    expect_each_bound_once();
    end_scheduler(pids[1]);
}

/* The Lease lasts for longer than the test. */
static void a_leader_that_is_told_to_end_hands_over(void **state)
{
    pid_t pids[2];
    maar_autofree char *former = begin("600s", "400s", "300ms", pids);
    maar_autofree char *next = NULL;

    (void)state;
    end_scheduler(pids[0]);
    assert_true(count_binds().n_bound < N_PODS);
    next = wait_for_holder(former);
    expect_each_bound_once();
    end_scheduler(pids[1]);
}

/* Everything that it had decided and not sent stays unsent. */
static void a_leader_that_was_suspended_ends_without_a_word(void **state)
{
    pid_t pids[2];
    maar_autofree char *former = begin("3s", "2s", "300ms", pids);
    maar_autofree char *next = NULL;
    int status;

    (void)state;
    assert_int_equal(kill(pids[0], SIGSTOP), 0);
    next = wait_for_holder(former);
    assert_int_equal(kill(pids[0], SIGCONT), 0);
    status = status_of(pids[0]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 255);
    expect_each_bound_once();
    end_scheduler(pids[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_killed_leader_is_replaced_when_its_lease_has_expired),
        TEST(a_leader_that_is_told_to_end_hands_over),
        TEST(a_leader_that_was_suspended_ends_without_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
