/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Host ports, by the rules of kube-scheduler's NodePorts. */

#include "kubernetes/host_ports.h"

#include <string.h>

static bool is_any(const char *host_ip)
{
    return !*host_ip || strcmp(host_ip, "0.0.0.0") == 0;
}

static bool conflicts(const struct maar_host_port *want, const struct maar_host_port *used)
{
    return want->port == used->port && strcmp(want->protocol, used->protocol) == 0 &&
           (is_any(want->host_ip) || is_any(used->host_ip) ||
            strcmp(want->host_ip, used->host_ip) == 0);
}

bool maar_host_ports_conflict(const struct maar_pod_spec *want, const struct maar_pod_spec *used)
{
    for (uint32_t i = 0; i < want->n_host_ports; i++)
        for (uint32_t k = 0; k < used->n_host_ports; k++)
            if (conflicts(&want->host_ports[i], &used->host_ports[k]))
                return true;
    return false;
}
