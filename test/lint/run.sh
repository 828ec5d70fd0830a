#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# All checks of the source text, or those named:
#
#   test/lint/run.sh [layers headers paths format scripts cppcheck tidy]
#
# Each prints "ok NAME" or its findings and "FAIL NAME"; all run whatever the others find.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checks=("$@")
((${#checks[@]})) || checks=(layers headers paths format scripts cppcheck tidy)

failed=()
for check in "${checks[@]}"; do
    started=$SECONDS
    if "$here/$check.sh"; then
        echo "ok $check ($((SECONDS - started)) s)"
    else
        echo "FAIL $check: see above; what it asks for: head -n 12 test/lint/$check.sh"
        failed+=("$check")
    fi
done
[[ -z ${COUNTS_FILE:-} ]] ||
    echo "${#checks[@]} $((${#checks[@]} - ${#failed[@]})) ${#failed[@]}" >"$COUNTS_FILE"
if ((${#failed[@]})); then
    echo "lint: ${#failed[@]} of ${#checks[@]} checks failed: ${failed[*]}"
    exit 1
fi
echo "lint: ${#checks[@]} checks passed"
