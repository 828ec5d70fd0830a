#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# All scripts pass shellcheck; Python files parse.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

status=0
mapfile -t shells < <(git ls-files -- '*.sh' .ci/run)
# SC2120: a function whose arguments are optional.
shellcheck --shell=bash --severity=warning --exclude=SC2120 --format=gcc "${shells[@]}" || status=1
while IFS= read -r file; do
    python3 - "$file" <<'PY' || status=1
import ast, sys
try:
    ast.parse(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1])
except SyntaxError as error:
    sys.exit(f"{error.filename}:{error.lineno}: {error.msg}")
PY
done < <(git ls-files -- '*.py')
exit "$status"
