#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Runs every fuzz target of build/fuzz for some seconds, as many at a time as there are cores:
#
#   test/fuzz/run.sh [SECONDS [NAME...]]
#
# Seeds come from corpus/NAME, what is found new stays in build/fuzz/corpus/NAME. A target fails when
# it crashes, leaks, hangs on an input or has no seeds; the input is then kept and named.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
seconds=${1:-60}
shift || true
names=("$@")
if ((${#names[@]} == 0)); then
    for file in test/fuzz/*.c; do names+=("$(basename "$file" .c)"); done
fi
state=build/fuzz/runs
mkdir -p "$state"
command -v llvm-symbolizer-14 >/dev/null && export ASAN_SYMBOLIZER_PATH=llvm-symbolizer-14

fuzz_one() { # NAME
    local name=$1 found=build/fuzz/corpus/$1 log=$state/$1.log status=0 executions coverage
    if [[ ! -x build/fuzz/fuzz/$name ]]; then
        echo "FAIL $name: build/fuzz/fuzz/$name is missing; run tools/build.sh fuzz fuzz_targets"
        return 1
    fi
    if ! compgen -G "test/fuzz/corpus/$name/*" >/dev/null; then
        echo "FAIL $name: no seeds; put at least one into test/fuzz/corpus/$name"
        return 1
    fi
    mkdir -p "$found" "$state/$name"
    "build/fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$state/$name/" "$found" "test/fuzz/corpus/$name" \
        >"$log" 2>&1 </dev/null || status=$?
    executions=$(awk '/stat::number_of_executed_units/ {print $2}' "$log")
    if ((status != 0)); then
        grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$log" | sed "s/^/    $name: /"
        echo "FAIL $name: see $log; to repeat: build/fuzz/fuzz/$name $state/$name/FILE"
        return 1
    fi
    coverage=$(grep -Eo 'cov: [0-9]+' "$log" | tail -n 1)
    echo "ok $name ($executions inputs in $seconds s, $coverage)"
}

failed=0
running=0
cores=${JOBS:-$(nproc)}
echo "fuzz: ${#names[@]} targets, $seconds s each, $cores at a time"
for name in "${names[@]}"; do
    if ((running >= cores)); then
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    fi
    fuzz_one "$name" &
    running=$((running + 1))
done
while ((running > 0)); do
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
done
echo "fuzz: $((${#names[@]} - failed)) of ${#names[@]} targets passed"
[[ -z ${COUNTS_FILE:-} ]] || echo "${#names[@]} $((${#names[@]} - failed)) $failed" >"$COUNTS_FILE"
((failed == 0))
