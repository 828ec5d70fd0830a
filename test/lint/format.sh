#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# All C files are as clang-format writes them. To repair: make format (or clang-format-14 -i FILE).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
format=${CLANG_FORMAT:-clang-format-14}

git ls-files -z -- '*.c' '*.h' |
    while IFS= read -r -d '' file; do
        [[ -e $file ]] || continue
        n=$("$format" "$file" | diff -U0 "$file" - | grep -c '^@@' || true)
        ((n == 0)) || echo "$file: $n places differ; $format -i $file, or make format"
    done | { ! grep .; }
