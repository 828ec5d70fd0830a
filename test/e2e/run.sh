#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# maar-scheduler against a real API server: kube-apiserver and etcd on loopback, a fake kubelet, and
# no more rights than Volcano's chart grants.
#
#   MAAR_BIN_DIR=build/release/bin test/e2e/run.sh [STEP...]
#
# Without steps it runs all. Each prints "ok STEP" or "FAIL STEP: why"; the last line counts them.
# A missing tool or program is a failure, nothing is skipped.
#
# Steps (those with * need maar-scheduler, compare also maarctl):
#   crds         deploy/crds accepts samples, refuses what breaks a rule, sets defaults
#   rbac         the scheduler's user has its rights and no others, by each kubeconfig
#   kubelet      nodes become ready, bound pods run, deleted pods go
#   load         the load generator notices refused requests
#   fits*        a gang that fits is bound whole, its PodGroup is Running, each bind has its event
#   unfit*       a gang that does not fit is not bound and says why, until there is room
#   queues*      two queues share by weight
#   taints*      taints and tolerations hold
#   restart*     killed in the middle of binding and started again, it binds each pod once
#   lease*       of two, one leads; killed or told to end, the other goes on where it stopped
#   credentials* it connects by client certificate and by token file
#   compare*     it places as maarctl simulate does
#   throughput*  its rate of binds beside that of a client that only sends them
#
# Environment:
#   MAAR_BIN_DIR      where maar-scheduler and maarctl are (default build/release/bin)
#   KEEP=1            keep the state directory (kept anyway after a failure)
#   THROUGHPUT_NODES, THROUGHPUT_GANGS   1000 and 500 (of 20 pods)

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fixtures=$here/fixtures
bin=$(realpath -m "${MAAR_BIN_DIR:-$here/../../build/release/bin}")
all_steps=(crds rbac kubelet load fits unfit queues taints restart lease credentials compare throughput)
steps=("$@")
((${#steps[@]})) || steps=("${all_steps[@]}")
for step in "${steps[@]}"; do
    [[ " ${all_steps[*]} " == *" $step "* ]] || {
        echo "run.sh: no step '$step'; there are: ${all_steps[*]}" >&2
        exit 2
    }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/maar-e2e.XXXXXX")
main_cluster=$work/cluster
cluster=$main_cluster
kubelet=
n_ok=0
n_failed=0

# What the helpers of a step use -------------------------------------------------------------------

fail() {
    echo "$*" >&2
    exit 1
}

# Shown after "ok STEP".
note() {
    echo "$*" >"$work/$step.note"
}

expect_equal() { # WHAT FOUND WANTED
    [[ $2 == "$3" ]] || fail "$1: wanted '$3', found '$2'"
}

admin() {
    kubectl --kubeconfig "$cluster/admin.kubeconfig" "$@"
}

look() { # VERB ARGUMENT... (see cluster.py)
    "$here/cluster.py" --dir "$cluster" "$@"
}

wait_for() { # SECONDS EXPRESSION
    look wait "$@"
}

hold() { # SECONDS EXPRESSION
    look hold "$@"
}

send() { # [OPTION...] < REQUESTS
    "$work/load" --server "$(<"$cluster/server")" --cacert "$cluster/pki/server-ca.crt" \
        --token-file "$cluster/pki/admin.token" "$@"
}

create() { # FIXTURE
    admin create -f "$fixtures/$1"
}

program() { # NAME
    [[ -x $bin/$1 ]] || fail "$bin/$1 is missing; build it or set MAAR_BIN_DIR"
}

# The scheduler runs as the restricted user. Waiting ends early when it does.
start_scheduler() { # [KUBECONFIG [FLAG...]]
    local kubeconfig=$cluster/${1:-scheduler}.kubeconfig
    local flags=("${@:2}")
    ((${#flags[@]})) || flags=(--leader-elect=false)
    program maar-scheduler
    DEBUG_SOCKET_DIR=$work/sockets "$bin/maar-scheduler" "${flags[@]}" \
        --kubeconfig "$kubeconfig" \
        --scheduler-conf "$fixtures/scheduler.conf" >>"$work/$step.scheduler.log" 2>&1 &
    export EXPECT_PID=$!
}

kill_scheduler() {
    kill -KILL "$EXPECT_PID"
    wait "$EXPECT_PID" || true
    EXPECT_PID=
}

# What must be so whatever the step: it asked for nothing that it may not have, overfilled no node,
# and ends when told.
finish_scheduler() {
    local tenths
    if [[ -e $cluster/audit.log ]]; then
        hold 0 'forbidden() == [] and bound_twice() == []'
    fi
    hold 0 'overfull() == [] and partly_bound() == []'
    kill -TERM "$EXPECT_PID"
    for ((tenths = 0; tenths < 100; tenths++)); do
        [[ -d /proc/$EXPECT_PID ]] || break
        sleep 0.1
    done
    ((tenths < 100)) || fail "the scheduler did not end within 10 s of SIGTERM"
    wait "$EXPECT_PID" || true
    EXPECT_PID=
}

# Steps --------------------------------------------------------------------------------------------

step_crds() {
    local refused wanted short
    admin create --validate=strict -f "$fixtures/crd-samples.yaml"
    for short in q queue-v1beta1 pg podgroup-v1beta1 hn numatopo nsh vcjob vj cronvcjob cronvj \
        jf jt commands.bus.volcano.sh; do
        expect_equal "kubectl get $short" "$(admin get "$short" -A --no-headers | wc -l)" 1
    done
    expect_equal "columns of PodGroup" "$(admin get pg -o wide | awk 'NR == 1 {$1 = $1; print}')" \
        "NAME STATUS MINMEMBER RUNNINGS AGE QUEUE"
    expect_equal "PodGroup/status" "$(subresource_code podgroups namespaces/default/podgroups)" 404
    expect_equal "Queue/status" "$(subresource_code queues queues)" 200

    admin create -f - <<'YAML'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: defaults}
spec: {}
YAML
    expect_equal "Queue defaults" "$(admin get q defaults -o 'jsonpath={.spec}')" \
        '{"dequeueStrategy":"traverse","weight":1}'
    expect_default pg default .queue
    expect_default pg hard .networkTopology.mode
    expect_default pg 1 '.subGroupPolicy[0].subGroupSize'
    expect_default vcjob default .queue
    expect_default vcjob 3 .maxRetry
    expect_default cronvcjob Allow .concurrencyPolicy
    expect_default cronvcjob false .suspend
    expect_default cronvcjob 3 .successfulJobsHistoryLimit
    expect_default cronvcjob 1 .failedJobsHistoryLimit

    wanted=$(grep -c '^kind:' "$fixtures/crd-refused.yaml")
    refused=$(admin create -f "$fixtures/crd-refused.yaml" 2>&1 || true)
    expect_equal "refused objects" "$(grep -c ' is invalid: ' <<<"$refused")" "$wanted"
    expect_equal "created from crd-refused.yaml" "$(grep ' created$' <<<"$refused" || true)" ""
    same_job_spec
    admin delete q defaults
    admin delete -f "$fixtures/crd-samples.yaml"
}

expect_default() { # KIND WANTED PATH, of the sample object
    expect_equal "$1 spec$3" "$(admin get "$1" sample -o "jsonpath={.spec$3}")" "$2"
}

subresource_code() { # PLURAL PATH
    curl -s -o /dev/null -w '%{http_code}' --cacert "$cluster/pki/server-ca.crt" \
        -H "Authorization: Bearer $(<"$cluster/pki/admin.token")" \
        "$(<"$cluster/server")/apis/scheduling.volcano.sh/v1beta1/$2/sample/status"
}

# Job, CronJob, JobFlow and JobTemplate each spell out the schema of a job.
same_job_spec() {
    admin get crd -o json | python3 -c '
import json, sys
crds = {c["metadata"]["name"]: c["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for c in json.load(sys.stdin)["items"]}
def at(name, path):
    schema = crds[name]
    for key in path.split("."):
        schema = schema["items"] if key == "[]" else schema["properties"][key]
    schema.pop("description", None)
    return schema
job = at("jobs.batch.volcano.sh", "spec")
for name, path in (("cronjobs.batch.volcano.sh", "spec.jobTemplate.spec"),
                   ("jobflows.flow.volcano.sh", "spec.flows.[].patch.jobSpec"),
                   ("jobtemplates.flow.volcano.sh", "spec")):
    if at(name, path) != job:
        sys.exit(f"{name}: {path} differs from the spec of jobs.batch.volcano.sh")
'
}

step_rbac() {
    local variant verb resource
    for variant in scheduler scheduler-cert scheduler-token-file; do
        expect_equal "user of $variant.kubeconfig" \
            "$(kubectl --kubeconfig "$cluster/$variant.kubeconfig" auth whoami \
                -o 'jsonpath={.status.userInfo.username}')" \
            system:serviceaccount:volcano-system:volcano-scheduler
    done
    while read -r verb resource; do
        may "$verb" "$resource" || fail "may not $verb $resource"
    done <<'RIGHTS'
create pods/binding
update pods/status
delete pods
create events
list podgroups.scheduling.volcano.sh
update podgroups.scheduling.volcano.sh
update queues.scheduling.volcano.sh/status
update leases.coordination.k8s.io
watch hypernodes.topology.volcano.sh
RIGHTS
    while read -r verb resource; do
        ! may "$verb" "$resource" || fail "may $verb $resource, not granted by Volcano's chart"
    done <<'NO_RIGHTS'
get podgroups.scheduling.volcano.sh
patch podgroups.scheduling.volcano.sh
update podgroups.scheduling.volcano.sh/status
patch queues.scheduling.volcano.sh/status
patch pods/status
update pods
create pods/eviction
list leases.coordination.k8s.io
get persistentvolumeclaims
get secrets
NO_RIGHTS
}

may() { # VERB RESOURCE[/SUBRESOURCE]
    local resource=${2%%/*} sub=()
    [[ $2 != */* ]] || sub=(--subresource "${2#*/}")
    kubectl --kubeconfig "$cluster/scheduler.kubeconfig" auth can-i -q "$1" "$resource" "${sub[@]}"
}

step_kubelet() {
    look request-nodes n 20 | send
    look request-gangs k 10 20 | send
    wait_for 30 'ready_nodes() == 20'
    python3 -c '
import json
print(json.dumps({f"default/k{g:04}-{i}": f"n{i:05}" for g in range(10) for i in range(20)}))
' >"$work/placements.json"
    look request-binds "$work/placements.json" | send
    wait_for 30 'bound() == 200 and running() == 200'
    admin delete pod k0000-0 --grace-period=30 --wait=false
    wait_for 10 'bound() == 199'
}

step_load() {
    look request-nodes n 1 | send
    if look request-nodes n 2 | send >"$work/load.json" 2>/dev/null; then
        fail "creating a node that exists was not reported"
    fi
    expect_equal "failed requests" "$(json_field failed <"$work/load.json")" 1
}

json_field() { # NAME
    python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

step_fits() {
    start_scheduler
    create fits.yaml
    wait_for 30 'bound("fit") == 3 and nodes("fit") == ["n1", "n2"]'
    wait_for 15 'phase("fit") == "Running" and members_running("fit") == 3 and
        podgroup_condition("fit", "Scheduled") == "True"'
    wait_for 15 'scheduled_events("fit") == 3'
    finish_scheduler
}

step_unfit() {
    start_scheduler
    create unfit.yaml
    wait_for 30 'podgroup_condition("large", "Unschedulable") == "True" and
        waiting_with_reason("large") == 5'
    hold 3 'binds_asked() == 0 and phase("large") != "Running"'
    create unfit-small.yaml
    wait_for 30 'bound("small") == 2'
    hold 2 'binds_asked("large") == 0'
    create unfit-node.yaml
    wait_for 30 'bound("large") == 5 and phase("large") == "Running"'
    finish_scheduler
}

step_queues() {
    create queues.yaml
    look request-gangs heavy 16 1 --queue heavy | send
    look request-gangs light 16 1 --queue light | send
    start_scheduler
    wait_for 30 'bound_of_queue("heavy") == 12 and bound_of_queue("light") == 4'
    hold 2 'bound_of_queue("heavy") == 12 and bound_of_queue("light") == 4'
    finish_scheduler
}

step_taints() {
    create taints.yaml
    wait_for 10 'ready_nodes() == 2'
    start_scheduler
    wait_for 30 'nodes("tolerant") == ["tainted"] and bound("tolerant") == 2 and
        nodes("small") == ["free"] and bound("small") == 2'
    wait_for 15 'podgroup_condition("intolerant", "Unschedulable") == "True"'
    hold 2 'binds_asked("intolerant") == 0'
    finish_scheduler
}

# A pause between kill and start, as a restarted container has: requests that the first one sent
# have been answered by then.
step_restart() {
    local before
    look request-nodes n 100 | send
    look request-gangs r 100 20 | send
    wait_for 30 'ready_nodes() == 100'
    start_scheduler
    wait_for 60 'binds_asked() >= 200'
    kill_scheduler
    sleep 0.5
    before=$(look count 'bound()')
    ((before < 2000)) || fail "it had bound all pods before it was killed"
    start_scheduler
    wait_for 120 'bound() == 2000'
    wait_for 60 'groups_in_phase("Running") == 100'
    finish_scheduler
    note "killed after $before of 2000 binds"
}

# First it is killed, and the follower waits for the Lease to expire; then that one is told to end,
# with a Lease that would last for longer than the step.
step_lease() {
    local killed ended before
    look request-nodes n 100 | send
    look request-gangs l 100 20 | send
    wait_for 30 'ready_nodes() == 100'
    admin delete lease -n volcano-system volcano --ignore-not-found
    start_replica 3s 2s
    wait_for 30 'binds_asked() >= 100'
    killed=$(lease_holder)
    leader=$EXPECT_PID
    start_replica 600s 400s
    kill -KILL "$leader"
    wait "$leader" || true
    wait_for_other_holder "$killed"
    ended=$(lease_holder)
    wait_for 60 'binds_asked() >= 800'
    leader=$EXPECT_PID
    start_replica 600s 400s
    before=$(look count 'bound()')
    ((before < 2000)) || fail "it had bound all pods before it was told to end"
    kill -TERM "$leader"
    wait "$leader" || fail "told to end, it ended with status $?"
    leader=
    wait_for_other_holder "$ended"
    wait_for 120 'bound() == 2000'
    expect_equal "leaseTransitions" "$(lease .spec.leaseTransitions)" 2
    expect_equal "events of elections" "$(election_events)" \
        "3 became leader, 1 stopped leading"
    finish_scheduler
    expect_equal "holder at the end" "$(lease_holder)" ""
    note "2 hand-overs, the second after $before of 2000 binds"
}

start_replica() { # DURATION DEADLINE
    start_scheduler scheduler --leader-elect-lease-duration="$1" \
        --leader-elect-renew-deadline="$2" --leader-elect-retry-period=500ms --kube-api-qps=200 \
        --kube-api-burst=1
}

lease() { # PATH
    admin get lease -n volcano-system volcano -o "jsonpath={$1}"
}

lease_holder() {
    lease .spec.holderIdentity
}

wait_for_other_holder() { # HOLDER
    local tenths holder
    for ((tenths = 0; tenths < 300; tenths++)); do
        holder=$(lease_holder)
        [[ -z $holder || $holder == "$1" ]] || return 0
        sleep 0.1
    done
    fail "30 s later the Lease is still held by '$holder'"
}

election_events() {
    admin get events -n volcano-system -o json | python3 -c '
import json, sys
texts = [e["message"].split(" ", 1)[1] for e in json.load(sys.stdin)["items"]
         if e["reason"] == "LeaderElection" and e["involvedObject"]["kind"] == "Lease"]
print(", ".join(f"{texts.count(text)} {text}" for text in sorted(set(texts))))
'
}

step_credentials() {
    local variant
    for variant in scheduler-cert scheduler-token-file; do
        look reset
        start_scheduler "$variant"
        create fits.yaml
        wait_for 30 'bound("fit") == 3 and phase("fit") == "Running"'
        finish_scheduler
    done
}

# Both get the same manifests and start with all of them in place.
step_compare() {
    program maarctl
    "$bin/maarctl" simulate -f "$fixtures/compare.yaml" -c "$fixtures/scheduler.conf" -o json \
        >"$work/simulated.json"
    create compare.yaml
    wait_for 10 'ready_nodes() == 4'
    start_scheduler
    look compare "$work/simulated.json" 30
    hold 0 'bound() == 13 and bound("big") == 0'
    finish_scheduler
    note "13 pods on the same nodes, 1 gang refused by both"
}

# The same work for both on a fresh server each, measured by the same watcher. The load generator
# sends the very bindings that the scheduler decided.
step_throughput() {
    local nodes=${THROUGHPUT_NODES:-1000} gangs=${THROUGHPUT_GANGS:-500}
    local pods=$((gangs * 20)) rate plain_rate
    program maar-scheduler
    cluster=$work/throughput

    fill_throughput "$nodes" "$gangs"
    start_watcher "$pods"
    start_scheduler
    rate=$(watched_rate)
    look placements >"$work/placements.json"
    finish_scheduler
    "$here/control-plane.sh" stop "$cluster"

    fill_throughput "$nodes" "$gangs"
    look request-binds "$work/placements.json" >"$work/binds"
    start_watcher "$pods"
    send <"$work/binds"
    plain_rate=$(watched_rate)
    note "$pods pods, $nodes nodes: maar-scheduler $rate binds/s, plain client $plain_rate," \
        "ratio $(awk "BEGIN {printf \"%.2f\", $rate / $plain_rate}")"
}

fill_throughput() { # NODES GANGS
    THROUGHPUT=1 "$here/control-plane.sh" start "$cluster"
    look request-nodes n "$1" | send
    start_kubelet "$cluster"
    wait_for 120 "ready_nodes() == $1"
    end_kubelet
    look request-gangs g "$2" 20 | send
}

start_watcher() { # COUNT
    look watch-binds "$1" 300 >"$work/watch.json" 2>&1 &
    watcher=$!
    until grep -q watching "$work/watch.json"; do
        [[ -d /proc/$watcher ]] || fail "$(tail -n 1 "$work/watch.json")"
        sleep 0.05
    done
}

watched_rate() {
    while [[ -d /proc/$watcher ]]; do
        [[ -z $EXPECT_PID || -d /proc/$EXPECT_PID ]] || fail "the scheduler has ended"
        sleep 0.1
    done
    tail -n 1 "$work/watch.json" | json_field perSecond 2>/dev/null ||
        fail "$(tail -n 1 "$work/watch.json")"
}

# Running them ------------------------------------------------------------------------------------

start_kubelet() { # CLUSTER
    "$here/kubelet.py" --kubeconfig "$1/admin.kubeconfig" >"$1/kubelet.log" 2>&1 &
    kubelet=$!
}

end_kubelet() {
    [[ -z $kubelet ]] || { kill "$kubelet" && wait "$kubelet"; } 2>/dev/null || true
    kubelet=
}

passed() { # STEP
    n_ok=$((n_ok + 1))
    echo "ok $1$([[ ! -s $work/$1.note ]] || printf ' (%s)' "$(<"$work/$1.note")")"
}

failed() { # STEP
    n_failed=$((n_failed + 1))
    echo "FAIL $1: $(sed '/^$/d' "$work/$1.why" | tail -n 1)"
}

# In a subshell of its own with errexit, which bash ignores inside any condition.
run() { # STEP FUNCTION
    local status
    step=$1
    set +e
    (
        set -e
        EXPECT_PID='' leader='' watcher='' kubelet=''
        trap clean_up EXIT
        "$2"
    ) >"$work/$1.log" 2>"$work/$1.why"
    status=$?
    set -e
    if ((status == 0)); then passed "$1"; else failed "$1"; fi
}

# Ends what a step has left running; the reason of a failure stays the last line of stderr.
clean_up() {
    local pid
    for pid in $EXPECT_PID $leader $watcher $kubelet; do
        kill -KILL "$pid" || true
    done
    [[ $cluster == "$main_cluster" ]] || "$here/control-plane.sh" stop "$cluster"
} 2>/dev/null

control_plane() {
    local tool
    for tool in cc kubectl python3 curl openssl; do
        command -v "$tool" >/dev/null || fail "$tool is missing; install it and run again"
    done
    cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$work/load" "$here/load.c" -lcurl ||
        fail "cc cannot build load.c with libcurl; see $work/control-plane.why"
    "$here/control-plane.sh" build
    "$here/control-plane.sh" start "$cluster"
}

prepared() {
    look reset
    "step_$step"
}

finish() {
    trap - EXIT
    end_kubelet
    "$here/control-plane.sh" stop "$cluster"
    if ((n_failed == 0)) && [[ ${KEEP:-} != 1 ]]; then
        rm -rf "$work"
    else
        echo "state and logs: $work"
    fi
    echo "$n_ok ok, $n_failed failed"
    ((n_failed == 0)) || exit 1
}

trap 'n_failed=$((n_failed + 1)); finish' EXIT
trap 'exit 130' INT TERM
run control-plane control_plane
if ((n_failed == 0)); then
    start_kubelet "$cluster"
    for step in "${steps[@]}"; do
        run "$step" prepared
    done
fi
finish
