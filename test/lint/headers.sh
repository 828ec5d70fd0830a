#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Each source file begins with its licence: C files with two lines, as one comment or two, scripts
# and CMake files with an SPDX line among the first three.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tree() {
    git ls-files -z --cached --others --exclude-standard -- "$@" |
        while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done
}

{
    tree '*.c' '*.h' | xargs -0 awk '
        FNR == 1 && !/^\/[*\/] SPDX-License-Identifier: Apache-2\.0( \*\/)?$/ { bad() }
        FNR == 2 && !/^( \*|\/[*\/]) Copyright The maar Authors( \*\/)?$/ { bad() }
        function bad() {
            if (!(FILENAME in told))
                printf "%s: must begin with \"/* SPDX-License-Identifier: Apache-2.0\" and " \
                       "\" * Copyright The maar Authors */\"\n", FILENAME
            told[FILENAME] = 1
        }'
    tree '*.sh' '*.py' '*.awk' '*.cmake' '*CMakeLists.txt' Makefile .ci/run |
        while IFS= read -r -d '' file; do
            head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
                echo "$file: needs \"# SPDX-License-Identifier: Apache-2.0\" among its first three lines"
        done
} | { ! grep .; }
