// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The table of kinds. The order is that of discovery; the first type of a name wins on the command
// line.
#include "sim/api_type.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

#define SCHEDULING "scheduling.volcano.sh/v1beta1"
#define BATCH      "batch.volcano.sh/v1alpha1"

static const struct maar_api_type types[] = {
    {"v1", "Node", "nodes", "node", "no", false, true, false},
    {"v1", "Pod", "pods", "pod", "po", true, true, false},
    {"v1", "Namespace", "namespaces", "namespace", "ns", false, true, false},
    {"v1", "Event", "events", "event", "ev", true, false, false},
    {"v1", "ConfigMap", "configmaps", "configmap", "cm", true, false, false},
    {"v1", "Secret", "secrets", "secret", "", true, false, false},
    {"v1", "Service", "services", "service", "svc", true, true, false},
    {"v1", "ServiceAccount", "serviceaccounts", "serviceaccount", "sa", true, false, false},
    {"v1", "Endpoints", "endpoints", "endpoints", "ep", true, false, false},
    {"v1", "ReplicationController", "replicationcontrollers", "replicationcontroller", "rc", true,
     true, false},
    {"v1", "ResourceQuota", "resourcequotas", "resourcequota", "quota", true, true, false},
    {"v1", "LimitRange", "limitranges", "limitrange", "limits", true, false, false},
    {"v1", "PersistentVolume", "persistentvolumes", "persistentvolume", "pv", false, true, false},
    {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", "pvc", true,
     true, false},
    {"apps/v1", "Deployment", "deployments", "deployment", "deploy", true, true, false},
    {"apps/v1", "ReplicaSet", "replicasets", "replicaset", "rs", true, true, false},
    {"apps/v1", "StatefulSet", "statefulsets", "statefulset", "sts", true, true, false},
    {"apps/v1", "DaemonSet", "daemonsets", "daemonset", "ds", true, true, false},
    {"batch/v1", "Job", "jobs", "job", "", true, true, false},
    {"batch/v1", "CronJob", "cronjobs", "cronjob", "cj", true, true, false},
    {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", "pdb", true,
     true, false},
    {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "priorityclass", "pc", false,
     false, false},
    {"coordination.k8s.io/v1", "Lease", "leases", "lease", "", true, false, false},
    {"storage.k8s.io/v1", "StorageClass", "storageclasses", "storageclass", "sc", false, false,
     false},
    {"storage.k8s.io/v1", "CSIDriver", "csidrivers", "csidriver", "", false, false, false},
    {"storage.k8s.io/v1", "CSINode", "csinodes", "csinode", "", false, false, false},
    {"storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", "",
     true, false, false},
    {"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", "volumeattachment", "", false,
     true, false},
    {"resource.k8s.io/v1", "DeviceClass", "deviceclasses", "deviceclass", "", false, false, false},
    {"resource.k8s.io/v1", "ResourceSlice", "resourceslices", "resourceslice", "", false, false,
     false},
    {"resource.k8s.io/v1", "ResourceClaim", "resourceclaims", "resourceclaim", "", true, true,
     false},
    {"resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates",
     "resourceclaimtemplate", "", true, false, false},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "clusterrole", "", false, false,
     false},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings",
     "clusterrolebinding", "", false, false, false},
    {"rbac.authorization.k8s.io/v1", "Role", "roles", "role", "", true, false, false},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", "rolebinding", "", true, false,
     false},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions",
     "customresourcedefinition", "crd", false, true, false},
    {SCHEDULING, "PodGroup", "podgroups", "podgroup", "pg", true, false, true},
    {SCHEDULING, "Queue", "queues", "queue", "q", false, true, true},
    {BATCH, "Job", "jobs", "job", "vcjob", true, true, true},
    {BATCH, "CronJob", "cronjobs", "cronjob", "cronvcjob", true, true, true},
    {"bus.volcano.sh/v1alpha1", "Command", "commands", "command", "", true, false, true},
    {"flow.volcano.sh/v1alpha1", "JobFlow", "jobflows", "jobflow", "jf", true, true, true},
    {"flow.volcano.sh/v1alpha1", "JobTemplate", "jobtemplates", "jobtemplate", "jt", true, true,
     true},
    {"nodeinfo.volcano.sh/v1alpha1", "Numatopology", "numatopologies", "numatopology", "numatopo",
     false, false, true},
    {"shard.volcano.sh/v1alpha1", "NodeShard", "nodeshards", "nodeshard", "", false, true, true},
    {"topology.volcano.sh/v1alpha1", "HyperNode", "hypernodes", "hypernode", "hn", false, true,
     true},
};

#define N_TYPES (sizeof types / sizeof *types)

size_t maar_api_n_types(void)
{
    return N_TYPES;
}

const struct maar_api_type *maar_api_type(size_t i)
{
    return &types[i];
}

const struct maar_api_type *maar_api_type_find(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].kind, kind) == 0 && strcmp(types[i].api_version, api_version) == 0)
            return &types[i];
    return NULL;
}

const struct maar_api_type *maar_api_type_named(const char *name)
{
    if (!*name)
        return NULL;
    for (size_t i = 0; i < N_TYPES; i++)
        if (strcasecmp(types[i].singular, name) == 0 || strcasecmp(types[i].plural, name) == 0 ||
            strcasecmp(types[i].short_name, name) == 0)
            return &types[i];
    return NULL;
}

const char *maar_api_type_nearest(const char *name)
{
    const char *names[N_TYPES + 1];
    for (size_t i = 0; i < N_TYPES; i++)
        names[i] = types[i].singular;
    names[N_TYPES] = NULL;
    return maar_text_nearest(name, names);
}
