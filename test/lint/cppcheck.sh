#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# cppcheck over programs, plugins, actions and tests. What it may not say, and why: cppcheck.txt.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

state=build/cppcheck
mkdir -p "$state"
sed 's/ *#.*//; /^$/d' test/lint/cppcheck.txt >"$state/suppressions"
git ls-files -- 'scheduler/*.c' 'conf/*.c' 'plugins/*.c' 'actions/*.c' 'test/*.c' |
    while IFS= read -r file; do [[ ! -e $file ]] || echo "$file"; done >"$state/files"
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppressions-list="$state/suppressions" --cppcheck-build-dir="$state" -j "${JOBS:-$(nproc)}" \
    "-Djson_array_foreach(array, i, value)=for (i = 0; (value = json_array_get(array, i)); i++)" \
    "-Djson_object_foreach(object, key, value)=for (key = 0; (value = json_object_get(object, key));)" \
    -D_GNU_SOURCE -D__linux__ -D__x86_64__ -DMAAR_VERSION='"0"' -UMAAR_DEBUG \
    -I include -I scheduler -I . -I plugins -I test \
    --template='{file}:{line}: {message} [{id}]' --error-exitcode=1 --file-list="$state/files"
