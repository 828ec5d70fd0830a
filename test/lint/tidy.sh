#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# clang-tidy with the checks of .clang-tidy over what build/release compiles, or the files named. One
# process a file: several files in one call give false reports about va_list. False reports that stay
# are listed in tidy.txt. Tests go without the analyzer, which takes most of the time, may include the
# .c that they test and need not say that 'x' fits into a char.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export TIDY=${CLANG_TIDY:-clang-tidy-14}
export for_tests='-clang-analyzer-*,-bugprone-suspicious-include,-bugprone-narrowing-conversions'
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

# Leaves out the reports that tidy.txt lists: from a line "FILE:LINE:COLUMN: error: … [CHECK]" to the
# next one.
without_listed() {
    sed "s#$PWD/##g" | awk '
        NR == FNR { sub(/ *#.*/, ""); if (NF == 2) listed[$1, $2] = 1; next }
        /^[^ :]+:[0-9]+:[0-9]+: (error|warning): .*\]$/ {
            file = $0; sub(/:.*/, "", file)
            check = $0; sub(/.*\[/, "", check); sub(/[],].*/, "", check)
            hidden = (file, check) in listed
        }
        !hidden' test/lint/tidy.txt -
}

tidy_one() {
    [[ -e $1 ]] || return 0
    local out status=0 options=()
    [[ $1 != test/* ]] || options=(--checks="$for_tests")
    out=$("$TIDY" "${options[@]}" --quiet -p "$DATABASE" "$1" 2>/dev/null) || status=$?
    if ((status != 0)) && [[ -z $out ]]; then
        echo "$1: $TIDY failed; run $TIDY -p $DATABASE $1"
        return 1
    fi
    out=$(without_listed <<<"$out")
    [[ -z $out ]] || {
        printf '%s\n' "$out"
        return 1
    }
}
export -f tidy_one without_listed

files "$@" | xargs -d '\n' -n 1 -P "${JOBS:-$(nproc)}" bash -c 'tidy_one "$1"' tidy
