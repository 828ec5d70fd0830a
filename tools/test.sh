#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Runs the tests of a preset that has been built and counts them:
#
#   tools/test.sh PRESET [CTEST-OPTION...]
#
# The last lines are the counts, as "N tests in M suites: all passed" and "N passed, N failed". A
# suite is one entry of ctest. Its tests are those that cmocka counts, or what a last line of the
# form "N passed, N failed" says, or else one. A suite that fails without a count is one failure.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
log=build/$preset/Testing/Temporary/LastTest.log
failures=build/$preset/Testing/Temporary/LastTestsFailed.log
rm -f "$log" "$failures"
status=0
ctest --test-dir "build/$preset" --parallel "${JOBS:-$(nproc)}" --output-on-failure \
    --no-tests=error "$@" || status=$?
[[ -f $log ]] || {
    echo "test: ctest ran nothing in build/$preset" >&2
    exit 1
}

counts=$(awk '
    function close_suite() {
        if (!in_suite) return
        suites++
        if (!ok && failed_here == 0) failed_here = 1
        if (ok && passed_here + failed_here == 0) passed_here = 1
        passed += passed_here; failed += failed_here
        in_suite = 0
    }
    / Testing: / && /^[0-9]+\/[0-9]+ / {
        close_suite(); in_suite = 1; ok = 0; passed_here = 0; failed_here = 0
    }
    /^\[  PASSED  \] [0-9]+ test/ { passed_here += $4 }
    /^\[  FAILED  \] .*: [0-9]+ test\(s\), listed below/ || /^\[  FAILED  \] [0-9]+ test/ {
        for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { failed_here += $i; break }
    }
    /^([A-Za-z0-9_-]+: )?[0-9]+ passed, [0-9]+ failed/ {
        line = $0; sub(/^[A-Za-z0-9_-]+: /, "", line); split(line, part, " ")
        passed_here += part[1]; failed_here += part[3]
    }
    /^Test Passed\.$/ { ok = 1 }
    END { close_suite(); print suites + 0, passed + 0, failed + 0 }' "$log")
read -r suites passed failed <<<"$counts"
# Suites that could not even start left no counts.
failed_suites=0
[[ ! -f $failures ]] || failed_suites=$(wc -l <"$failures")
((failed >= failed_suites)) || failed=$failed_suites
((failed > 0 || status == 0)) || failed=1

if ((failed == 0)); then
    echo "$preset: $passed tests in $suites suites: all passed"
else
    echo "$preset: $failed of $((passed + failed)) tests in $suites suites failed (see above)"
fi
echo "$passed passed, $failed failed"
[[ -z ${COUNTS_FILE:-} ]] || echo "$suites $passed $failed" >"$COUNTS_FILE"
((failed == 0))
