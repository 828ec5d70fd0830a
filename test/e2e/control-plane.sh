#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# A real Kubernetes control plane (kube-apiserver and etcd, nothing else) on loopback, for tests.
#
#   control-plane.sh build       build both programs into the cache, unless they are there
#   control-plane.sh start DIR   start them with all state in DIR, wait until ready, install
#                                deploy/crds and rbac.yaml, write the kubeconfigs
#   control-plane.sh stop DIR    stop the API server, then etcd, and wait for both
#
# After start, DIR holds:
#   admin.kubeconfig                 system:masters, by token
#   scheduler.kubeconfig             the scheduler's service account with rbac.yaml only, by token
#   scheduler-cert.kubeconfig        the same user by client certificate
#   scheduler-token-file.kubeconfig  the same user by tokenFile
#   server                           the URL of the API server
#   etcd.log, kube-apiserver.log, etcd.pid, kube-apiserver.pid
#
#   audit.log                        one JSON line for each request of the scheduler's user
#
# Environment: THROUGHPUT=1 takes the API server's request limits and the audit log away, to
# measure rates (with the limits it may answer 429). XDG_CACHE_HOME moves the cache.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
crds=$here/../../deploy/crds
cache=$(realpath -m "${XDG_CACHE_HOME:-$HOME/.cache}/maar/e2e")
scheduler_user=system:serviceaccount:volcano-system:volcano-scheduler
scheduler_groups=(system:serviceaccounts system:serviceaccounts:volcano-system)

die() {
    echo "control-plane.sh: $*" >&2
    exit 1
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is missing; install it and run again"
    done
}

# The version of a module that a tool's go.mod requires.
module_version() { # TOOL MODULE
    awk -v m="$2" '$1 == "require" && $2 == m {print $3} $1 == m && $2 ~ /^v/ {print $2}' \
        "$here/tools/$1/go.mod"
}

etcd_version=$(module_version etcd go.etcd.io/etcd/server/v3)
kubernetes_version=$(module_version kube-apiserver k8s.io/kubernetes)
etcd=$cache/etcd-$etcd_version
kube_apiserver=$cache/kube-apiserver-$kubernetes_version

need_go() {
    command -v go >/dev/null || die "Go is missing; install Go 1.26 or later and run again"
    local version
    version=$(cd "$here/tools/kube-apiserver" && go env GOVERSION) ||
        die "Go 1.26 or later is needed, and 'go env GOVERSION' failed"
    [[ $version =~ ^go([0-9]+)\.([0-9]+) ]] || die "cannot read the Go version '$version'"
    ((BASH_REMATCH[1] > 1 || BASH_REMATCH[2] >= 26)) ||
        die "Go 1.26 or later is needed, this is $version"
}

build_one() { # TOOL PACKAGE TARGET LDFLAGS
    [[ -x $3 ]] && return
    need_go
    mkdir -p "$cache"
    local lock
    exec {lock}>"$3.lock"
    flock "$lock"
    if [[ ! -x $3 ]]; then
        echo "building $(basename "$3") into $cache" >&2
        (cd "$here/tools/$1" && go build -ldflags "$4" -o "$3.new" "$2") || die "building $2 failed"
        mv "$3.new" "$3"
    fi
    exec {lock}>&-
}

# kubectl cannot parse the server's version unless the build sets it.
build() {
    local minor=${kubernetes_version#v1.} version=k8s.io/component-base/version
    minor=${minor%%.*}
    build_one etcd go.etcd.io/etcd/server/v3 "$etcd" "-s -w"
    build_one kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver "$kube_apiserver" "-s -w \
-X $version.gitVersion=$kubernetes_version -X $version.gitMajor=1 -X $version.gitMinor=$minor"
}

free_ports() { # COUNT
    python3 - "$1" <<'PY'
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[s.getsockname()[1] for s in held])
PY
}

# The server's certificate and the client certificates have different authorities, so that no test
# passes by taking one for the other.
make_ca() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
        -subj "/CN=maar-e2e-$1" -keyout "$1.key" -out "$1.crt" 2>/dev/null
}

sign() { # CA NAME SUBJECT EXTENSION...
    local ca=$1 name=$2 subject=$3
    shift 3
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
        -keyout "$name.key" -out "$name.csr" 2>/dev/null
    openssl x509 -req -in "$name.csr" -CA "$ca.crt" -CAkey "$ca.key" -CAcreateserial -days 30 \
        -extfile <(printf '%s\n' "$@") -out "$name.crt" 2>/dev/null
}

make_credentials() { # PKI-DIR
    mkdir -p "$1"
    cd "$1"
    make_ca server-ca
    make_ca client-ca
    sign server-ca server /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,DNS:localhost" \
        "extendedKeyUsage=serverAuth"
    sign client-ca scheduler \
        "/O=${scheduler_groups[0]}/O=${scheduler_groups[1]}/CN=$scheduler_user" \
        "extendedKeyUsage=clientAuth"
    openssl genrsa -out service-account.key 2048 2>/dev/null
    openssl rand -hex 16 >admin.token
    openssl rand -hex 16 >scheduler.token
    {
        printf '%s,admin,admin,"system:masters"\n' "$(<admin.token)"
        printf '%s,%s,scheduler,"%s"\n' "$(<scheduler.token)" "$scheduler_user" \
            "$(IFS=,; echo "${scheduler_groups[*]}")"
    } >tokens.csv
}

write_kubeconfig() { # FILE SERVER PKI-DIR USER-LINE...
    local file=$1 server=$2 pki=$3
    shift 3
    {
        cat <<YAML
apiVersion: v1
kind: Config
current-context: e2e
contexts:
- name: e2e
  context: {cluster: e2e, user: e2e}
clusters:
- name: e2e
  cluster:
    server: $server
    certificate-authority-data: $(base64 -w0 "$pki/server-ca.crt")
users:
- name: e2e
  user:
YAML
        printf '    %s\n' "$@"
    } >"$file"
}

write_kubeconfigs() { # DIR SERVER
    local pki=$1/pki
    write_kubeconfig "$1/admin.kubeconfig" "$2" "$pki" "token: $(<"$pki/admin.token")"
    write_kubeconfig "$1/scheduler.kubeconfig" "$2" "$pki" "token: $(<"$pki/scheduler.token")"
    write_kubeconfig "$1/scheduler-cert.kubeconfig" "$2" "$pki" \
        "client-certificate-data: $(base64 -w0 "$pki/scheduler.crt")" \
        "client-key-data: $(base64 -w0 "$pki/scheduler.key")"
    write_kubeconfig "$1/scheduler-token-file.kubeconfig" "$2" "$pki" \
        "tokenFile: $pki/scheduler.token"
}

# In a session of its own, so that an interrupt from the terminal does not reach it: stop keeps the
# order.
launch() { # DIR NAME COMMAND...
    local dir=$1 name=$2 hundredths
    shift 2
    setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
    echo $! >"$dir/$name.pid"
    for ((hundredths = 0; hundredths < 500; hundredths++)); do
        alive "$dir" "$name" && return
        kill -0 $! 2>/dev/null || return 0
        sleep 0.01
    done
}

# Only a process that runs the program of that name is meant; the number may have been used again.
alive() { # DIR NAME
    local pid state
    [[ -s $1/$2.pid ]] || return 1
    pid=$(<"$1/$2.pid")
    [[ $(readlink "/proc/$pid/exe" 2>/dev/null) == "$cache/$2-"* ]] || return 1
    state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) || return 1
    [[ $state != Z ]]
}

end() { # DIR NAME
    local tenths
    if alive "$1" "$2"; then
        kill -TERM "$(<"$1/$2.pid")"
        for ((tenths = 0; tenths < 300; tenths++)); do
            alive "$1" "$2" || break
            sleep 0.1
        done
        if alive "$1" "$2"; then
            echo "control-plane.sh: $2 did not end within 30 s; killed" >&2
            kill -KILL "$(<"$1/$2.pid")"
            while alive "$1" "$2"; do sleep 0.1; done
        fi
    fi
    rm -f "$1/$2.pid"
}

# An API server whose etcd has gone first does not end by itself.
stop() { # DIR
    end "$1" kube-apiserver
    end "$1" etcd
}

wait_ready() { # DIR SERVER
    local tenths token
    token=$(<"$1/pki/admin.token")
    for ((tenths = 0; tenths < 600; tenths++)); do
        curl -sf --cacert "$1/pki/server-ca.crt" -H "Authorization: Bearer $token" \
            -o "$1/readyz" "$2/readyz" && return
        alive "$1" etcd && alive "$1" kube-apiserver || return 1
        sleep 0.1
    done
    return 1
}

# A port that was free may be taken by the time it is used; start tries again then.
try_start() { # DIR
    local dir=$1 client peer secure mode
    rm -rf "$dir/etcd"
    read -r client peer secure < <(free_ports 3)
    if [[ ${THROUGHPUT:-} == 1 ]]; then
        mode=(--enable-priority-and-fairness=false --max-requests-inflight=0
            --max-mutating-requests-inflight=0)
    else
        mode=(--audit-policy-file="$here/audit.yaml" --audit-log-path="$dir/audit.log")
    fi
    launch "$dir" etcd "$etcd" --data-dir "$dir/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "http://127.0.0.1:$client" \
        --advertise-client-urls "http://127.0.0.1:$client" \
        --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "default=http://127.0.0.1:$peer"
    launch "$dir" kube-apiserver "$kube_apiserver" \
        --etcd-servers="http://127.0.0.1:$client" \
        --bind-address=127.0.0.1 --secure-port="$secure" --cert-dir="$dir/pki" \
        --tls-cert-file="$dir/pki/server.crt" --tls-private-key-file="$dir/pki/server.key" \
        --client-ca-file="$dir/pki/client-ca.crt" --token-auth-file="$dir/pki/tokens.csv" \
        --authorization-mode=RBAC --disable-admission-plugins=ServiceAccount \
        --service-account-key-file="$dir/pki/service-account.key" \
        --service-account-signing-key-file="$dir/pki/service-account.key" \
        --service-account-issuer=https://maar.invalid --service-cluster-ip-range=10.0.0.0/24 \
        "${mode[@]}"
    echo "https://127.0.0.1:$secure" >"$dir/server"
    wait_ready "$dir" "$(<"$dir/server")"
}

start() { # DIR
    local dir attempt admin
    need kubectl curl openssl python3 setsid flock
    build
    mkdir -p "$1"
    dir=$(cd "$1" && pwd)
    alive "$dir" kube-apiserver && die "$dir is in use by a running API server"
    (umask 077; make_credentials "$dir/pki")
    for attempt in 1 2 3; do
        try_start "$dir" && break
        stop "$dir"
        ((attempt < 3)) || die "the API server did not become ready; see $dir/*.log"
    done
    (umask 077; write_kubeconfigs "$dir" "$(<"$dir/server")")
    admin=$dir/admin.kubeconfig
    kubectl --kubeconfig "$admin" apply --server-side -f "$crds" >"$dir/install.log" 2>&1 &&
        kubectl --kubeconfig "$admin" wait --for condition=Established --timeout=60s -f "$crds" \
            >>"$dir/install.log" 2>&1 &&
        kubectl --kubeconfig "$admin" apply -f "$here/rbac.yaml" >>"$dir/install.log" 2>&1 || {
        cat "$dir/install.log" >&2
        stop "$dir"
        die "installing deploy/crds and rbac.yaml failed"
    }
}

usage="usage: control-plane.sh build | start DIR | stop DIR"
case "${1:-} $#" in
"build 1") build ;;
"start 2") start "$2" ;;
"stop 2") stop "$2" ;;
*) die "$usage" ;;
esac
