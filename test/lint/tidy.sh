#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# clang-tidy with the checks of .clang-tidy over what build/release compiles, or the files named. One
# process a file: several files in one call give false reports about va_list.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export TIDY=${CLANG_TIDY:-clang-tidy-14}
export DATABASE=${DATABASE:-build/release}

[[ -f $DATABASE/compile_commands.json ]] || {
    echo "$DATABASE/compile_commands.json is missing; run make build"
    exit 1
}

files() {
    if (($#)); then
        printf '%s\n' "$@"
    else
        sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$DATABASE/compile_commands.json" |
            sed "s#^$PWD/##" | grep -v '^/' | sort -u
    fi
}

tidy_one() {
    [[ -e $1 ]] || return 0
    local out
    if ! out=$("$TIDY" --quiet -p "$DATABASE" "$1" 2>/dev/null) || [[ -n $out ]]; then
        printf '%s\n' "${out:-$1: $TIDY failed; run $TIDY -p $DATABASE $1}" | sed "s#$PWD/##g"
        return 1
    fi
}
export -f tidy_one

files "$@" | xargs -d '\n' -n 1 -P "${JOBS:-$(nproc)}" bash -c 'tidy_one "$1"' tidy
