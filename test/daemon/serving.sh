#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# serving.sh FOLDER: the HTTP of the maar-scheduler in FOLDER, beside `maarctl cluster up`. Ports are free ones, taken from the
# kernel's range; a port that somebody else takes in between is tried again.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
pids=()

end() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>"$work/kill" || true
        wait "$pid" || true
    done
    rm -rf "$work"
}
trap end EXIT
cd "$work"

fail() {
    echo "FAIL $1"
    head -50 scheduler.log answer 2>&1 || true
    exit 1
}

# Waits up to 30 s until the command succeeds.
until_ok() {
    for ((i = 0; i < 300; i++)); do
        "$@" && return
        sleep 0.1
    done
    fail "in vain: $*"
}

answers() { # STATUS URL
    local status
    status=$(curl -s -o answer -w '%{http_code}' --max-time 10 "$2") || return 1
    [[ $status == "$1" ]]
}

expect() { # STATUS URL [LINE-OF-THE-ANSWER]
    answers "$1" "$2" || fail "$2 is not answered with $1"
    [[ $# -lt 3 ]] || grep -qF -- "$3" answer || fail "$2 does not say: $3"
}

start() { # PORT FLAG...
    local port=$1
    shift
    "$bin/maar-scheduler" --kubeconfig kubeconfig --leader-elect=false \
        --enable-metrics --listen-address "127.0.0.1:$port" \
        --enable-healthz --healthz-address "127.0.0.1:$((port + 1))" \
        --explain-address "127.0.0.1:$((port + 2))" "$@" >scheduler.log 2>&1 &
    scheduler=$!
}

is_up_or_gone() {
    ! kill -0 "$scheduler" 2>/dev/null || answers 200 "http://127.0.0.1:$((port + 1))/healthz"
}

"$bin/maarctl" cluster up --kubeconfig kubeconfig -f "$root/examples/1-gangs.yaml" >cluster.log 2>&1 &
pids+=($!)
until_ok test -s kubeconfig
for ((attempt = 0; attempt < 20; attempt++)); do
    port=$((20000 + RANDOM % 10000))
    start "$port"
    until_ok is_up_or_gone
    kill -0 "$scheduler" 2>/dev/null && break
    wait "$scheduler" || true
done
pids+=("$scheduler")
metrics=http://127.0.0.1:$port health=http://127.0.0.1:$((port + 1)) explain=http://127.0.0.1:$((port + 2))

until_ok answers 200 "$health/readyz"
is_bound() {
    curl -s "$metrics/metrics" >answer && grep -qF 'volcano_schedule_attempts_total{result="scheduled"} 6' answer
}
until_ok is_bound
sleep 1.5 # queues are looked at once a second
expect 200 "$metrics/metrics" 'volcano_queue_allocated_milli_cpu{queue_name="default"} 24000'
expect 200 "$metrics/metrics" 'volcano_unschedule_task_count{job_id="second"} 4'
expect 200 "$metrics/metrics" 'maar_synced 1'
expect 200 "$metrics/metrics" 'maar_leads 1'
expect 200 "$metrics/metrics" 'maar_config_valid 1'
# Every sample follows the head of its metric, and the values are numbers.
awk '/^# TYPE/ { name = $3; next }
    /^#/ { next }
    index($1, name) != 1 || $NF !~ /^([-+0-9.e]+|[-+]Inf|NaN)$/ { print "bad line: " $0; bad = 1 }
    END { exit bad || NR < 100 }' answer || fail "the text of the metrics"
expect 404 "$metrics/healthz"
expect 200 "$health/healthz" ok
expect 404 "$health/metrics"
expect 200 "$explain/explain?podgroup=default/second" '"name": "default/second"'
expect 200 "$explain/explain?queue=default" '"kind": "Queue"'
expect 404 "$explain/explain?pod=default/nobody" 'there is no pod/default/nobody'
expect 400 "$explain/explain" 'expected one of'
expect 200 "$explain/configz" '"schedule-period": "1s"'

# Where the port is taken, a second one says so and ends.
status=0
"$bin/maar-scheduler" --kubeconfig kubeconfig --enable-healthz --healthz-address "127.0.0.1:$port" \
    >second.log 2>&1 || status=$?
[[ $status == 1 ]] || fail "exit status $status instead of 1"
grep -qF -- "--healthz-address: cannot listen on 127.0.0.1:$port: Address already in use" second.log ||
    fail "$(cat second.log)"

kill "$scheduler"
wait "$scheduler" || fail "exit status $? after SIGTERM"
unset 'pids[1]'

# TLS, when all three files are given.
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 2>openssl.log
    start "$port" --tls-cert-file cert.pem --tls-private-key-file key.pem --ca-cert-file cert.pem
    pids[1]=$scheduler
    has_tls() { curl -s --cacert cert.pem "https://127.0.0.1:$((port + 1))/healthz" >answer && grep -q ok answer; }
    until_ok has_tls
    ! answers 200 "$health/healthz" || fail "health without TLS"
    start "$port" --tls-cert-file cert.pem --tls-private-key-file nowhere.pem --ca-cert-file cert.pem
    ! wait "$scheduler" || fail "started without a key"
fi
echo passed
