#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
# check.sh MAARCTL FILE: what is found in the file is what its comments expect, and the exit status goes with it.
set -euo pipefail
maarctl=$1
file=$2

mapfile -t want < <(sed -n 's/^# expect: //p' "$file")
read -ra options <<<"$(sed -n 's/^# options: //p' "$file")"
cd "$(dirname "$file")"
status=0
output=$("$maarctl" check "${options[@]}" "${file##*/}") || status=$?
mapfile -t got < <(sed -n "s/^${file##*/}:\([0-9]*:[0-9]*: \(error\|warning\): \)/\1/p" <<<"$output")

wanted_status=0
for line in "${want[@]}"; do
    [[ $line != *": error: "* ]] || wanted_status=1
done
failed=$((status != wanted_status || ${#got[@]} != ${#want[@]}))
for i in "${!want[@]}"; do
    [[ ${got[i]:-} == "${want[i]}"* ]] || failed=1
done
if ((failed)); then
    echo "exit status $status, wanted $wanted_status"
    diff <(printf '%s\n' "${want[@]}") <(printf '%s\n' "${got[@]}") || true
    echo "$output"
    exit 1
fi
