#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# No file names a place on somebody's machine: not the folder of this clone, nobody's home.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

homes='(^|[^A-Za-z0-9_.$}-])/(home|Users|root|work|workspaces?|builds?)/[A-Za-z0-9_]'
{
    git grep -nIE --untracked "$homes" -- . ':!LICENSE' ':!test/lint/paths.sh' || true
    git grep -nIF --untracked -e "$PWD/" -- . || true
} | sort -u | sed 's/$/   <- a path of one machine; use one relative to the clone, or mktemp/' |
    { ! grep .; }
