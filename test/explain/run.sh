#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
# run.sh MAARCTL FILE.yaml [--update]: `simulate -f FILE` with the options that stand in the file's first line, "# OPTIONS",
# prints what FILE.txt holds, on either output.
want=${2%.yaml}.txt
options=$(sed -n '1s/^# //p' "$2")
got=$(mktemp)
trap 'rm -f "$got"' EXIT
cd "$(dirname "$2")" || exit 2
eval "\"$1\" simulate -f \"$(basename "$2")\" $options" >"$got" 2>&1
if [ "$3" = --update ]; then
    cp "$got" "$want"
else
    diff -u "$want" "$got"
fi
