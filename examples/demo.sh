#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Plays the examples in six acts, with a word to each:
#
#   examples/demo.sh [FOLDER-OF-MAARCTL]
#
# Every scenario also checks what it expects; the first that is not met ends the play with exit 1.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
maarctl=${1:-build/release/bin}/maarctl
[[ -x $maarctl ]] || {
    echo "demo: $maarctl is missing; run make build" >&2
    exit 1
}
output=$(mktemp)
trap 'rm -f "$output"' EXIT
n_played=0

bold='' plain=''
[[ ! -t 1 ]] || { bold=$'\e[1m' plain=$'\e[0m'; }

act() { # TITLE
    printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

say() { # TEXT
    echo
    fmt -w 96 <<<"$*"
}

# Plays a scenario and keeps what it prints.
play() { # FILE
    printf '\n  $ maarctl simulate -f examples/%s\n' "$1"
    if ! "$maarctl" simulate -f "examples/$1" >"$output" 2>&1; then
        cat "$output"
        echo "demo: examples/$1 did not end as it should" >&2
        exit 1
    fi
    n_played=$((n_played + 1))
}

# A part of the output, such as "Waiting", as it is.
part() { # HEADING
    echo
    awk -v heading="$1" '
        $0 == heading { on = 1; print "    " $0; next }
        on && /^$/ { exit }
        on { print "  " $0 }' "$output"
}

# Which pods each node got, for all cycles up to the given one.
nodes() { # CYCLE
    echo
    awk -v last="$1" '
        $0 == "Bound" { on = 1; next }
        on && /^$/ { exit }
        on && $1 ~ /^[0-9]+$/ && $1 <= last {
            sub(/^default\//, "", $2)
            if (!($3 in pods)) order[++n] = $3
            pods[$3] = pods[$3] "  " $2
        }
        END { for (i = 1; i <= n; i++) printf "    %s %s\n", order[i], pods[order[i]] }' "$output" | sort
}

# How many pods of each job were bound in each cycle in which any was.
counts() { # JOB...
    echo
    awk -v jobs="$*" '
        BEGIN {
            n = split(jobs, job, " ")
            printf "    cycle"
            for (i = 1; i <= n; i++) printf "%9s", job[i]
            printf "\n"
        }
        $0 == "Bound" { on = 1; next }
        on && /^$/ { exit }
        on && $1 ~ /^[0-9]+$/ {
            sub(/^default\//, "", $2); sub(/-.*$/, "", $2)
            if (!($1 in seen)) { seen[$1] = 1; cycle[++n_cycles] = $1 }
            count[$1, $2]++
        }
        END {
            for (c = 1; c <= n_cycles; c++) {
                printf "    %5d", cycle[c]
                for (i = 1; i <= n; i++) printf "%9d", count[cycle[c], job[i]]
                printf "\n"
            }
        }' "$output"
}

act "1. Two gangs, and room for one"
say "Two training jobs need six GPUs each, all at once. There are eight. A scheduler that places pod by pod" \
    "gives each four: both hold GPUs, both wait for two more, neither ever starts."
play 1-pod-by-pod.yaml
nodes 1
part Waiting
say "With the plugin gang a job is placed whole or not at all. The first runs, the second holds nothing." \
    "When the first is done (cycle 21), the second starts."
play 1-gangs.yaml
counts first second

act "2. Three teams, one cluster"
say "research, product and batch have queues with the weights 3, 2 and 1 and 48 CPUs between them. In pods of" \
    "two CPUs, research runs a sweep and batch its night run, both larger than the cluster; product serves for" \
    "20 seconds. By weight they get 24, 16 and 8 CPUs: 12, 8 and 4 pods. When product is done, its 16 go to the" \
    "others, 3 to 1."
play 2-queues.yaml
counts sweep serve night
part Queues

act "3. Packing or spreading"
say "Four notebooks of two GPUs on four nodes of eight. Spread out, they leave 24 GPUs free, but no whole node" \
    "for the training that comes next and needs eight on one."
play 3-spread.yaml
nodes 9
part Waiting
say "With binpack they share a node, and the training has a node for itself."
play 3-pack.yaml
nodes 9

act "4. A job that can never run"
say "Its pods ask for 16 GPUs each, the largest node has 8. It says so, and it does not keep others out:" \
    "the job behind it runs."
play 4-never.yaml
part Waiting
part PodGroups

act "5. Over the zones"
say "Five gateways, at most one more in one zone than in another, and three zones at least. There are two zones: each" \
    "gets one gateway, and three wait."
play 5-zones.yaml
nodes 9
say "In cycle 10 a node of a third zone comes, and all have a place."
counts gateway

act "6. A tree of queues"
say "speech and vision may take 8 GPUs each, and both together the 12 of research. speech takes 8. A job of vision for 8" \
    "would be too much for research; one for 4 that comes later passes it, and the large one then waits for that, too."
play 6-tree.yaml
part Waiting
part Queues

say "Every file in examples/ says what must come out, and all $n_played came out so. Copy one and change it:" \
    "docs/user-guide.md goes on from here."
