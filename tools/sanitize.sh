#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Runs the tests of a sanitizer's build (preset asan or tsan, built before):
#
#   tools/sanitize.sh asan|tsan
#
# asan: all tests. tsan: those that start threads. A finding ends the program that has it, so no
# finding is overlooked.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tests that start threads, as a regular expression over names of ctest.
threaded='^unit_(base_log|base_pool|kube_|serve_|engine_|sim_|daemon_)|^api_|_api$|^bench_'

case ${1:-} in
asan)
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1
    export UBSAN_OPTIONS=print_stacktrace=1
    exec tools/test.sh asan
    ;;
tsan)
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/tools/tsan.txt
    # The sanitizer of gcc 12 does not know the wider address layout of newer kernels.
    fixed=()
    ! setarch -R true 2>/dev/null || fixed=(setarch -R)
    exec "${fixed[@]}" tools/test.sh tsan --tests-regex "$threaded"
    ;;
*)
    echo "usage: tools/sanitize.sh asan|tsan" >&2
    exit 2
    ;;
esac
