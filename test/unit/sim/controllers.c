/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The controllers: which pods and PodGroups an object leads to, what they are called and carry, and when they go. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "sim/cluster.h"
#include "sim/document.h"
#include "sim/scale.h"

#define PODS  "v1", "Pod"
#define GROUP "scheduling.volcano.sh/v1beta1", "PodGroup"

static struct maar_cluster *cluster;
static struct maar_store *store;

static int set_up(void **state)
{
    const struct maar_cluster_options options = {
        .start_ns = INT64_C(1767225600) * MAAR_SECOND_NS,
        .period_ns = MAAR_SECOND_NS,
        .kubelets = {.termination_delay = 1},
        .has_kubelets = true,
        .recreate = true,
    };
    (void)state;
    cluster = maar_cluster_create(&options);
    store = maar_cluster_store(cluster);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    maar_cluster_destroy(cluster);
    return 0;
}

/* ---- doing ---- */

/* Takes JSON with ' for ". */
static json_t *parse(const char *text)
{
    char copy[4096];
    size_t n = strlen(text);
    assert_true(n < sizeof copy);
    for (size_t i = 0; i <= n; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    json_error_t fault;
    json_t *document = json_loads(copy, 0, &fault);
    if (!document)
        fail_msg("%s: %s", fault.text, text);
    return document;
}

static void add(const char *text)
{
    struct maar_error err = MAAR_ERROR_INIT;
    json_t *document = parse(text);
    if (maar_cluster_add(cluster, document, &err) < 0)
        fail_msg("%s", err.text);
    json_decref(document);
    maar_cluster_reconcile(cluster);
}

static const struct maar_api_type *type_of(const char *api_version, const char *kind)
{
    return maar_store_find(store, api_version, kind)->type;
}

static void patch(const char *api_version, const char *kind, const char *name, const char *text)
{
    struct maar_error err = MAAR_ERROR_INIT;
    json_t *document = parse(text);
    if (maar_cluster_patch(cluster, type_of(api_version, kind), "default", name, document, &err) <
        0)
        fail_msg("%s", err.text);
    json_decref(document);
    maar_cluster_reconcile(cluster);
}

static void remove_object(const char *api_version, const char *kind, const char *name)
{
    struct maar_error err = MAAR_ERROR_INIT;
    assert_int_equal(
        maar_cluster_delete(cluster, type_of(api_version, kind), "default", name, &err), 0);
    maar_cluster_reconcile(cluster);
}

/* ---- looking ---- */

static size_t count(const char *api_version, const char *kind)
{
    return maar_collection_n(maar_store_find(store, api_version, kind));
}

static struct maar_object *at(const char *api_version, const char *kind, size_t i)
{
    struct maar_object *object;
    size_t next = 0;
    while ((object = maar_collection_next(maar_store_find(store, api_version, kind), &next)))
        if (i-- == 0)
            return object;
    fail_msg("there are not so many objects of kind %s", kind);
    abort(); /* not reached */
}

static const json_t *get(const char *api_version, const char *kind, const char *name)
{
    const struct maar_object *object =
        maar_collection_object(maar_store_find(store, api_version, kind), "default", name);
    if (!object)
        fail_msg("there is no %s %s", kind, name);
    return object ? object->document : NULL;
}

static const char *label(const json_t *document, const char *key)
{
    const char *text =
        json_string_value(json_object_get(maar_document_at(document, "metadata.labels"), key));
    return text ? text : "";
}

static void expect_owner(const json_t *document, const char *kind, const char *name)
{
    const json_t *owner = json_array_get(maar_document_at(document, "metadata.ownerReferences"), 0);
    assert_string_equal(maar_document_text(owner, "kind"), kind);
    assert_string_equal(maar_document_text(owner, "name"), name);
    assert_true(maar_document_bool(owner, "controller", false));
}

static void set_pod_phase(const char *name, const char *phase)
{
    char text[100];
    snprintf(text, sizeof text, "{'status':{'phase':'%s'}}", phase);
    patch(PODS, name, text);
}

#define CONTAINERS "'containers':[{'name':'c','resources':{'requests':{'cpu':'%s'}}}]"

static void add_replicated(const char *kind, const char *name, const char *more)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "{'apiVersion':'apps/v1','kind':'%s','metadata':{'name':'%s'},'spec':{%s"
        "'selector':{'matchLabels':{'app':'%s'}},'template':{'metadata':{'labels':{'app':'%s'}},"
        "'spec':{'schedulerName':'volcano'," CONTAINERS "}}}}",
        kind, name, more, name, name, "1");
    add(text);
}

/* ---- apps/v1 ---- */

static void a_deployment_has_pods_of_its_replica_set(void **state)
{
    (void)state;
    add_replicated("Deployment", "web", "'replicas':2,");
    assert_int_equal(count(PODS), 2);
    assert_int_equal(count("apps/v1", "ReplicaSet"), 1);
    const struct maar_object *set = at("apps/v1", "ReplicaSet", 0);
    const char *hash = label(set->document, "pod-template-hash");
    assert_int_equal(strlen(hash), 10);
    assert_string_equal(set->name + 4, hash);
    expect_owner(set->document, "Deployment", "web");
    for (size_t i = 0; i < 2; i++) {
        const struct maar_object *pod = at(PODS, i);
        assert_int_equal(strncmp(pod->name, set->name, strlen(set->name)), 0);
        assert_int_equal(strlen(pod->name), strlen(set->name) + 6);
        assert_string_equal(label(pod->document, "pod-template-hash"), hash);
        assert_string_equal(label(pod->document, "app"), "web");
        expect_owner(pod->document, "ReplicaSet", set->name);
    }
    assert_string_not_equal(at(PODS, 0)->name, at(PODS, 1)->name);
}

static void a_replica_set_first_gives_up_pods_without_a_node(void **state)
{
    (void)state;
    add_replicated("ReplicaSet", "rs", "'replicas':3,");
    char kept[300];
    snprintf(kept, sizeof kept, "%s", at(PODS, 1)->name);
    patch(PODS, kept, "{'spec':{'nodeName':'n'},'status':{'phase':'Running'}}");
    patch("apps/v1", "ReplicaSet", "rs", "{'spec':{'replicas':1}}");
    assert_int_equal(count(PODS), 1);
    assert_string_equal(at(PODS, 0)->name, kept);
}

static void a_stateful_set_makes_its_pods_in_order(void **state)
{
    (void)state;
    add("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}");
    add_replicated("StatefulSet", "db", "'replicas':2,");
    assert_int_equal(count(PODS), 1);
    assert_string_equal(label(get(PODS, "db-0"), "apps.kubernetes.io/pod-index"), "0");
    patch(PODS, "db-0", "{'spec':{'nodeName':'n'}}");
    maar_cluster_begin_cycle(cluster);
    maar_cluster_end_cycle(cluster);
    assert_int_equal(count(PODS), 2);
    expect_owner(get(PODS, "db-1"), "StatefulSet", "db");
    assert_string_equal(label(get(PODS, "db-1"), "controller-revision-hash"),
                        label(get(PODS, "db-0"), "controller-revision-hash"));
}

static void the_strategy_recreate_ends_the_old_pods_first(void **state)
{
    (void)state;
    add_replicated("Deployment", "web", "'replicas':1,'strategy':{'type':'Recreate'},");
    char old[300];
    snprintf(old, sizeof old, "%s", at(PODS, 0)->name);
    patch(PODS, old, "{'spec':{'nodeName':'n'},'status':{'phase':'Running'}}");
    patch("apps/v1", "Deployment", "web",
          "{'spec':{'template':{'metadata':{'annotations':{'v':'2'}}}}}");
    assert_int_equal(count(PODS), 1);
    assert_non_null(maar_document_at(get(PODS, old), "metadata.deletionTimestamp"));
    for (int i = 0; i < 2; i++) {
        maar_cluster_begin_cycle(cluster);
        maar_cluster_end_cycle(cluster);
    }
    assert_int_equal(count(PODS), 1);
    assert_string_not_equal(at(PODS, 0)->name, old);
}

/* ---- batch/v1 ---- */

static void an_indexed_job_gives_each_pod_its_index(void **state)
{
    (void)state;
    add("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},'spec':{'completions':3,"
        "'parallelism':2,'completionMode':'Indexed','template':{'spec':{'containers':[{'name':'c'}]"
        "}}}}");
    assert_int_equal(count(PODS), 2);
    const struct maar_object *pod = at(PODS, 1);
    assert_int_equal(strncmp(pod->name, "j-1-", 4), 0);
    assert_string_equal(
        maar_document_annotation(pod->document, "batch.kubernetes.io/job-completion-index"), "1");
    assert_string_equal(label(pod->document, "job-name"), "j");
    set_pod_phase(pod->name, "Succeeded");
    assert_int_equal(count(PODS), 3);
    assert_int_equal(strncmp(at(PODS, 2)->name, "j-2-", 4), 0);
    set_pod_phase(at(PODS, 0)->name, "Failed");
    assert_int_equal(strncmp(at(PODS, 3)->name, "j-0-", 4), 0);
    set_pod_phase(at(PODS, 2)->name, "Succeeded");
    set_pod_phase(at(PODS, 3)->name, "Succeeded");
    const json_t *job = get("batch/v1", "Job", "j");
    assert_string_equal(maar_document_text(maar_document_condition(job, "Complete"), "status"),
                        "True");
    assert_string_equal(maar_document_text(job, "status.completedIndexes"), "0-2");
    assert_int_equal(count(PODS), 4);
}

static void a_job_gives_up_after_its_limit_of_failures(void **state)
{
    (void)state;
    add("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},'spec':{'backoffLimit':1,"
        "'template':{'spec':{'containers':[{'name':'c'}]}}}}");
    set_pod_phase(at(PODS, 0)->name, "Failed");
    assert_int_equal(count(PODS), 2);
    set_pod_phase(at(PODS, 1)->name, "Failed");
    assert_int_equal(count(PODS), 2);
    const json_t *job = get("batch/v1", "Job", "j");
    assert_string_equal(maar_document_text(maar_document_condition(job, "Failed"), "reason"),
                        "BackoffLimitExceeded");
}

/* ---- Volcano's Job ---- */

static void add_vcjob(const char *spec)
{
    char text[3000];
    snprintf(
        text, sizeof text,
        "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'lab','uid':"
        "'u1','annotations':{'volcano.sh/preemptable':'true'}},'spec':{%s}}",
        spec);
    add(text);
}

static void let_in(void)
{
    patch(GROUP, "lab-u1", "{'status':{'phase':'Inqueue'}}");
}

static const char *phase_of_job(void)
{
    return maar_document_text(get("batch.volcano.sh/v1alpha1", "Job", "lab"), "status.state.phase");
}

#define TASK(name, numbers, cpu)                                                                   \
    "{'name':'" name "'," numbers ",'template':{'spec':{'containers':[{'name':'c','resources':{"   \
    "'requests':{'cpu':'" cpu "'}}}]}}}"

static void a_volcano_job_has_pods_when_its_group_is_let_in(void **state)
{
    (void)state;
    add_vcjob("'queue':'q','tasks':[" TASK("ps", "'replicas':1", "1") "," TASK(
        "w", "'replicas':2,'minAvailable':1", "2") "]");
    assert_int_equal(count(PODS), 0);
    const json_t *group = get(GROUP, "lab-u1");
    assert_int_equal(maar_document_int(group, "spec.minMember", 0), 2);
    assert_int_equal(maar_document_int(group, "spec.minTaskMember.ps", 0), 1);
    assert_int_equal(maar_document_int(group, "spec.minTaskMember.w", 0), 1);
    assert_string_equal(maar_document_text(group, "spec.queue"), "q");
    assert_string_equal(maar_document_text(group, "spec.minResources.cpu"), "3");
    assert_string_equal(maar_document_text(group, "spec.minResources.pods"), "2");
    assert_string_equal(maar_document_text(group, "status.phase"), "Pending");
    expect_owner(group, "Job", "lab");
    let_in();
    assert_int_equal(count(PODS), 3);
    const json_t *pod = get(PODS, "lab-w-1");
    expect_owner(pod, "Job", "lab");
    static const char *const texts[][2] = {
        {"scheduling.k8s.io/group-name", "lab-u1"},
        {"volcano.sh/task-spec", "w"},
        {"volcano.sh/task-index", "1"},
        {"volcano.sh/job-name", "lab"},
        {"volcano.sh/queue-name", "q"},
        {"volcano.sh/job-version", "0"},
        {"volcano.sh/template-uid", "lab-w"},
        {"volcano.sh/preemptable", "true"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(maar_document_annotation(pod, texts[i][0]), texts[i][1]);
    assert_string_equal(label(pod, "volcano.sh/job-namespace"), "default");
    assert_string_equal(maar_document_text(pod, "spec.schedulerName"), "volcano");
}

static void min_resources_are_those_of_the_first_pods(void **state)
{
    (void)state;
    static const struct {
        const char *first; /* the task with a priority class */
        int min;
        const char *want;
    } rows[] = {{"lead", 4, "800m"}, {"aux", 4, "1"}, {"lead", 1, "100m"}, {"aux", 1, "300m"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1500];
        tear_down(state);
        set_up(state);
        add("{'apiVersion':'scheduling.k8s.io/"
            "v1','kind':'PriorityClass','metadata':{'name':'lead'},"
            "'value':1}");
        bool lead = strcmp(rows[i].first, "lead") == 0;
        snprintf(text, sizeof text,
                 "'minAvailable':%d,'tasks':[{'name':'lead','replicas':2,'minAvailable':1,"
                 "'template':{'spec':{%s" CONTAINERS "}}},{'name':'aux','replicas':3,"
                 "'minAvailable':1,'template':{'spec':{%s" CONTAINERS "}}}]",
                 rows[i].min, lead ? "'priorityClassName':'lead'," : "", "100m",
                 lead ? "" : "'priorityClassName':'lead',", "300m");
        add_vcjob(text);
        assert_string_equal(maar_document_text(get(GROUP, "lab-u1"), "spec.minResources.cpu"),
                            rows[i].want);
    }
}

static void the_phase_of_a_volcano_job_follows_its_pods(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        const char *phases[3];
        const char *want;
    } rows[] = {
        {"'minAvailable':2", {"Pending", "Pending", "Pending"}, "Pending"},
        {"'minAvailable':2", {"Running", "Running", "Pending"}, "Running"},
        {"'minAvailable':2", {"Succeeded", "Succeeded", "Failed"}, "Completed"},
        {"'minAvailable':2", {"Succeeded", "Failed", "Failed"}, "Failed"},
        {"'minAvailable':2", {"Succeeded", "Failed", "Running"}, "Running"},
        {"'minAvailable':2,'minSuccess':1", {"Succeeded", "Running", "Running"}, "Completed"},
        {"'minAvailable':2,'minSuccess':3", {"Succeeded", "Succeeded", "Failed"}, "Failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000], name[20];
        tear_down(state);
        set_up(state);
        /* The task's own minimum is not in the way: its Job's is below. */
        snprintf(text, sizeof text, "%s,'tasks':[" TASK("w", "'replicas':3", "1") "]",
                 rows[i].more);
        add_vcjob(text);
        let_in();
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "lab-w-%d", k);
            if (strcmp(phase_of_job(), "Completed") != 0)
                set_pod_phase(name, rows[i].phases[k]);
        }
        assert_string_equal(phase_of_job(), rows[i].want);
    }
}

static void partitions_become_sub_groups(void **state)
{
    (void)state;
    add_vcjob("'tasks':[" TASK("w",
                               "'replicas':4,'partitionPolicy':{'totalPartitions':2,"
                               "'partitionSize':2,'minPartitions':1,'networkTopology':{"
                               "'mode':'hard'}}",
                               "1") "]");
    const json_t *group = get(GROUP, "lab-u1");
    const json_t *part = json_array_get(maar_document_at(group, "spec.subGroupPolicy"), 0);
    assert_int_equal(maar_document_int(group, "spec.minMember", 0), 2);
    assert_string_equal(maar_document_text(part, "name"), "w");
    assert_int_equal(maar_document_int(part, "subGroupSize", 0), 2);
    assert_int_equal(maar_document_int(part, "minSubGroups", 0), 1);
    assert_string_equal(maar_document_text(part, "networkTopology.mode"), "hard");
    let_in();
    assert_string_equal(label(get(PODS, "lab-w-1"), "volcano.sh/partition-id"), "0");
    assert_string_equal(label(get(PODS, "lab-w-2"), "volcano.sh/partition-id"), "1");
}

static void a_volcano_job_that_shrinks_gives_up_the_highest(void **state)
{
    (void)state;
    add_vcjob("'minAvailable':1,'tasks':[" TASK("w", "'replicas':3,'minAvailable':1", "1") "]");
    let_in();
    patch("batch.volcano.sh/v1alpha1", "Job", "lab",
          "{'spec':{'tasks':[" TASK("w", "'replicas':1,'minAvailable':1", "1") "]}}");
    assert_int_equal(count(PODS), 1);
    get(PODS, "lab-w-0");
}

/* ---- PodGroups of pods without one ---- */

static void a_pod_without_a_group_gets_that_of_its_owner(void **state)
{
    (void)state;
    static const struct {
        const char *min;
        int want;
    } rows[] = {{"3", 3}, {"0", 0}, {"abc", 1}, {"-2", 1}, {"", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1500];
        tear_down(state);
        set_up(state);
        snprintf(
            text, sizeof text,
            "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'rs','uid':'u77',"
            "'annotations':{'scheduling.volcano.sh/group-min-member':'%s','volcano.sh/hot':'x',"
            "'other/y':'z'}},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}},"
            "'template':{'metadata':{'labels':{'a':'b'},'annotations':{"
            "'scheduling.volcano.sh/"
            "queue-name':'lab'}},'spec':{'schedulerName':'volcano'," CONTAINERS "}}}}",
            rows[i].min, "500m");
        add(text);
        assert_int_equal(count(GROUP), 1);
        const json_t *group = get(GROUP, "podgroup-u77");
        assert_int_equal(maar_document_int(group, "spec.minMember", -1), rows[i].want);
        assert_string_equal(maar_document_text(group, "spec.queue"), "lab");
        assert_string_equal(maar_document_annotation(group, "volcano.sh/hot"), "x");
        assert_string_equal(maar_document_annotation(group, "other/y"), "");
        if (rows[i].want == 3)
            assert_string_equal(maar_document_text(group, "spec.minResources.cpu"), "1500m");
        expect_owner(group, "ReplicaSet", "rs");
        assert_string_equal(maar_document_pod_group(at(PODS, 1)->document), "podgroup-u77");
        patch("apps/v1", "ReplicaSet", "rs", "{'spec':{'replicas':0}}");
        assert_int_equal(count(GROUP), 0);
    }
}

static void other_pods_are_left_without_a_group(void **state)
{
    (void)state;
    add("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'other'},'spec':{}}");
    add("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'has','annotations':{"
        "'scheduling.k8s.io/group-name':'own'}},'spec':{'schedulerName':'volcano'}}");
    assert_int_equal(count(GROUP), 0);
    add("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'bare','uid':'u5'},'spec':{"
        "'schedulerName':'volcano'}}");
    assert_int_equal(count(GROUP), 1);
    expect_owner(get(GROUP, "podgroup-u5"), "Pod", "bare");
    remove_object(PODS, "bare");
    assert_int_equal(count(GROUP), 0);
}

/* ---- going ---- */

static void what_an_owner_made_goes_with_it(void **state)
{
    (void)state;
    add_replicated("Deployment", "web", "'replicas':3,");
    patch(PODS, at(PODS, 0)->name, "{'spec':{'nodeName':'n'},'status':{'phase':'Running'}}");
    remove_object("apps/v1", "Deployment", "web");
    assert_int_equal(count("apps/v1", "ReplicaSet"), 0);
    assert_int_equal(count(GROUP), 0);
    assert_int_equal(count(PODS), 1); /* it terminates first */
    assert_non_null(maar_document_at(at(PODS, 0)->document, "metadata.deletionTimestamp"));
}

static void pods_of_owners_that_are_not_there_stay(void **state)
{
    (void)state;
    add("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','ownerReferences':[{'kind':"
        "'ReplicaSet','apiVersion':'apps/v1','name':'gone','uid':'g','controller':true}]},'spec':{}"
        "}");
    maar_cluster_begin_cycle(cluster);
    maar_cluster_end_cycle(cluster);
    assert_int_equal(count(PODS), 1);
}

/* As the scheduler would send it. */
static void evict(const char *name)
{
    char path[400];
    struct maar_cluster_write write;
    struct maar_answer answer;
    snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", name);
    assert_int_equal(maar_cluster_begin_write(cluster, "DELETE", path, NULL, &write, &answer), 0);
    assert_int_equal(maar_cluster_finish_write(cluster, &write, "DELETE", "application/json", NULL,
                                               NULL, &answer),
                     200);
    maar_answer_fini(&answer);
}

static void an_evicted_pod_is_made_again_once(void **state)
{
    (void)state;
    char of_set[300];
    static const char running[] = "{'spec':{'nodeName':'n'},'status':{'phase':'Running'}}";
    add_replicated("ReplicaSet", "rs", "'replicas':1,");
    add_replicated("StatefulSet", "db", "'replicas':1,");
    add("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'bare'},'spec':{'schedulerName':"
        "'volcano'}}");
    snprintf(of_set, sizeof of_set, "%s", at(PODS, 0)->name);
    const char *const evicted[] = {of_set, "db-0", "bare"};
    for (size_t i = 0; i < 3; i++) {
        patch(PODS, evicted[i], running);
        evict(evicted[i]);
    }
    for (int i = 0; i < 3; i++) {
        maar_cluster_begin_cycle(cluster);
        maar_cluster_end_cycle(cluster);
    }
    assert_int_equal(count(PODS), 3);
    assert_int_equal(count(GROUP), 3);
    get(PODS, "db-0");
    const json_t *again = get(PODS, "bare-r1");
    assert_non_null(maar_collection_object(maar_store_find(store, GROUP), "default",
                                           maar_document_pod_group(again)));
    for (size_t i = 0; i < 3; i++) {
        const json_t *pod = at(PODS, i)->document;
        assert_string_not_equal(maar_document_name(pod), of_set);
        assert_string_equal(maar_document_text(pod, "spec.nodeName"), "");
    }
}

/* A dump of Deployments and pods without the ReplicaSets between them. */
static void a_deployment_keeps_the_pods_that_are_there(void **state)
{
    json_t *dump[3];
    (void)state;
    add_replicated("Deployment", "web", "'replicas':2,");
    for (size_t i = 0; i < 2; i++)
        dump[i] = json_incref(at(PODS, i)->document);
    dump[2] = json_deep_copy(get("apps/v1", "Deployment", "web"));
    tear_down(state);
    set_up(state);
    for (size_t i = 0; i < 3; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        assert_int_equal(maar_cluster_add(cluster, dump[i], &err), 0);
    }
    maar_cluster_reconcile(cluster);
    assert_int_equal(count("apps/v1", "ReplicaSet"), 1);
    assert_int_equal(count(PODS), 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(at(PODS, i)->name, maar_document_name(dump[i]));
    for (size_t i = 0; i < 3; i++)
        json_decref(dump[i]);
}

static void an_orphaning_deletion_leaves_the_pods(void **state)
{
    (void)state;
    add_replicated("ReplicaSet", "rs", "'replicas':2,");
    struct maar_answer answer;
    json_t *options = parse("{'propagationPolicy':'Orphan'}");
    maar_store_delete(store, maar_store_find(store, "apps/v1", "ReplicaSet"), "default", "rs",
                      options, &answer);
    maar_answer_fini(&answer);
    json_decref(options);
    maar_cluster_reconcile(cluster);
    assert_int_equal(count(PODS), 2);
    assert_int_equal(
        json_array_size(maar_document_at(at(PODS, 0)->document, "metadata.ownerReferences")), 0);
}

/* ---- requests ---- */

static void scale_changes_the_replicas(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        const char *body;
        int code;
        size_t n_pods;
    } rows[] = {
        {"PATCH", "{'spec':{'replicas':3}}", 200, 3},
        {"PUT", "{'metadata':{'name':'rs'},'spec':{'replicas':1}}", 200, 1},
        {"PATCH", "{'spec':{'replicas':-1}}", 422, 1},
        {"PATCH", "{'spec':{'replicas':'2'}}", 422, 1},
        {"PATCH", "[]", 422, 1},
        {"PUT", "{'metadata':{'resourceVersion':'1'},'spec':{'replicas':2}}", 409, 1},
    };
    add_replicated("ReplicaSet", "rs", "'replicas':2,");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_api_target target;
        struct maar_answer answer;
        json_t *body = parse(rows[i].body);
        assert_int_equal(
            maar_api_target_parse(store, "/apis/apps/v1/namespaces/default/replicasets/rs/scale",
                                  &target, &answer),
            0);
        assert_int_equal(maar_api_write(store, &target, rows[i].method,
                                        "application/merge-patch+json", body, &answer),
                         rows[i].code);
        if (rows[i].code == 200)
            assert_int_equal(maar_document_int(answer.document, "spec.replicas", -1),
                             rows[i].n_pods);
        maar_answer_fini(&answer);
        json_decref(body);
        maar_cluster_reconcile(cluster);
        assert_int_equal(count(PODS), rows[i].n_pods);
    }
}

static void what_a_server_refuses_is_refused(void **state)
{
    (void)state;
#define JOB(spec)                                                                                  \
    "{'apiVersion':'batch.volcano.sh/v1alpha1','kind':'Job','metadata':{'name':'j'},'spec':" spec  \
    "}"
#define SET(spec)                                                                                  \
    "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'j'},'spec':" spec "}"
    static const struct {
        const char *document;
        const char *want;
    } rows[] = {
        {SET("{}"), "spec.selector: Required value"},
        {SET("{'selector':{'matchLabels':{'a':'b'}}}"), "`selector` does not match template"},
        {SET("{'selector':{'matchExpressions':[{'key':'a','operator':'Exists'}]}}"),
         "`selector` does not match template"},
        {SET("{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}}}}"),
         "spec.template.spec.containers: Required value"},
        {SET("{'replicas':'3'}"), "spec.replicas: expected an integer"},
        {SET("{'replicas':1.5}"), "spec.replicas: expected an integer"},
        {SET("{'replicas':100001}"), "at most 100000 pods"},
        {SET("7"), "spec.selector: Required value"},
        {JOB("{}"), "No task specified"},
        {JOB("{'tasks':[null]}"), "expected a map"},
        {JOB("{'tasks':[{'replicas':1}]}"), "spec.task[0].template.spec.containers"},
        {JOB("{'tasks':[{'replicas':-1}]}"), "must be greater than or equal to 0"},
        {JOB("{'tasks':[" TASK("a", "'replicas':60000", "1") "," TASK("b", "'replicas':60000",
                                                                      "1") "]}"),
         "120000 replicas in all"},
        {JOB("{'tasks':[" TASK("a", "'replicas':1,'minAvailable':2", "1") "]}"),
         "'minAvailable' is greater than 'replicas' in task: a, job: j"},
        {JOB("{'tasks':[" TASK("a",
                               "'replicas':1,'partitionPolicy':{'minPartitions':"
                               "9000000000000000000,'partitionSize':9}",
                               "1") "]}"),
         "at most 100000 pods"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct maar_error err = MAAR_ERROR_INIT;
        json_t *document = parse(rows[i].document);
        assert_int_not_equal(maar_cluster_add(cluster, document, &err), 0);
        if (!strstr(err.text, rows[i].want))
            fail_msg("%s: %s", rows[i].document, err.text);
        json_decref(document);
    }
    assert_int_equal(count(PODS), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_deployment_has_pods_of_its_replica_set),
        TEST(a_replica_set_first_gives_up_pods_without_a_node),
        TEST(a_stateful_set_makes_its_pods_in_order),
        TEST(the_strategy_recreate_ends_the_old_pods_first),
        TEST(an_indexed_job_gives_each_pod_its_index),
        TEST(a_job_gives_up_after_its_limit_of_failures),
        TEST(a_volcano_job_has_pods_when_its_group_is_let_in),
        TEST(min_resources_are_those_of_the_first_pods),
        TEST(the_phase_of_a_volcano_job_follows_its_pods),
        TEST(partitions_become_sub_groups),
        TEST(a_volcano_job_that_shrinks_gives_up_the_highest),
        TEST(a_pod_without_a_group_gets_that_of_its_owner),
        TEST(other_pods_are_left_without_a_group),
        TEST(what_an_owner_made_goes_with_it),
        TEST(pods_of_owners_that_are_not_there_stay),
        TEST(an_evicted_pod_is_made_again_once),
        TEST(a_deployment_keeps_the_pods_that_are_there),
        TEST(an_orphaning_deletion_leaves_the_pods),
        TEST(scale_changes_the_replicas),
        TEST(what_a_server_refuses_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
