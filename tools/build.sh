#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Configures and builds one CMake preset into build/PRESET:
#
#   tools/build.sh PRESET [TARGET...]
#
# Environment: WERROR=ON makes warnings errors, JOBS is the number of compilers at a time.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
log=build/$preset.configure.log
mkdir -p build
options=()
[[ -z ${WERROR:-} ]] || options+=("-DMAAR_WERROR=$WERROR")
if ! cmake --preset "$preset" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: configuring preset $preset failed (see above)" >&2
    exit 1
fi

targets=()
(($# == 0)) || targets=(--target "$@")
parallel=()
[[ -z ${JOBS:-} ]] || parallel=(--parallel "$JOBS")
if ! NINJA_STATUS="[$preset %f/%t] " cmake --build "build/$preset" "${parallel[@]}" "${targets[@]}"; then
    echo "build: preset $preset does not build (see above)" >&2
    exit 1
fi
