/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_HOST_PORTS_H
#define MAAR_KUBERNETES_HOST_PORTS_H

#include <maar/view.h>

/* Whether a pod that wants the host ports of `want` cannot stand beside one that holds those of `used`: the same port
 * and protocol, on the same address or with "" or 0.0.0.0 on either side. "::" is no wildcard, as in kube-scheduler. */
bool maar_host_ports_conflict(const struct maar_pod_spec *want, const struct maar_pod_spec *used);

#endif
