#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# An embedded cluster, served as a Kubernetes API, and maar-scheduler beside it, until Ctrl-C:
#
#   tools/up.sh FOLDER-OF-PROGRAMS [OPTION-OF-CLUSTER-UP...]
#
# Environment: KUBECONFIG_FILE is where the admin kubeconfig goes (default ./kubeconfig.maar).

set -euo pipefail
bin=$1
shift
kubeconfig=${KUBECONFIG_FILE:-kubeconfig.maar}
rm -f "$kubeconfig"
pids=()

finish() {
    trap - EXIT INT TERM
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -f "$kubeconfig"
}
trap finish EXIT
trap 'exit 0' INT TERM

"$bin/maarctl" cluster up --kubeconfig "$kubeconfig" "$@" &
pids+=($!)
until [[ -s $kubeconfig ]]; do
    kill -0 "${pids[0]}" 2>/dev/null || {
        echo "up: the embedded cluster has ended (see above)" >&2
        exit 1
    }
    sleep 0.05
done
"$bin/maar-scheduler" --kubeconfig "$kubeconfig" --leader-elect=false &
pids+=($!)
cat <<TEXT
up: the cluster and maar-scheduler run until Ctrl-C. In another terminal:

    export KUBECONFIG=$(realpath "$kubeconfig")
    kubectl get nodes,pods,podgroups,queues -A

TEXT
wait -n || true
echo "up: one of the two has ended" >&2
exit 1
