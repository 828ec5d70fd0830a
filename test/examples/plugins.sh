#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
# plugins.sh MAARCTL: docs/plugins.md is what the plugins say now.
"$1" plugins -o markdown | diff -u docs/plugins.md - || {
    echo "docs/plugins.md is not up to date; make docs renews it"
    exit 1
}
