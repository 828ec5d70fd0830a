#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
# refused.sh MAARCTL FILE: the file is refused with exit status 2 and a message that matches its first line.
want=$(sed -n '1s/^# expect: //p' "$2")
got=$("$1" simulate -f "$2" 2>&1 >/dev/null)
status=$?
if [ "$status" -ne 2 ] || ! printf '%s\n' "$got" | grep -Eq "$want"; then
    printf 'exit status %s\nwanted: %s\ngot: %s\n' "$status" "$want" "$got"
    exit 1
fi
