#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
# command.sh MAARCTL: the command itself: options, several files, standard input, output, exit status.
set -uo pipefail
maarctl=$1
n_failed=0

# expect STATUS TEXT COMMAND...: the exit status, and a text that the output has.
expect() {
    local status=$1 text=$2
    shift 2
    local got rc=0
    got=$("$@" 2>&1) || rc=$?
    if ((rc != status)) || [[ $got != *"$text"* ]]; then
        echo "FAIL $*"
        echo "exit status $rc, wanted $status and: $text"
        echo "got: $got"
        n_failed=$((n_failed + 1))
    fi
}

expect 0 "0 errors, 0 warnings in 2 files" "$maarctl" check good.yaml good.conf
expect 1 "1 error, 0 warnings in 1 file" "$maarctl" check syntax.yaml
expect 0 "0 errors, 1 warning in 1 file" "$maarctl" check volcano-plugin.conf
expect 1 "1 error, 0 warnings in 1 file" "$maarctl" check --strict volcano-plugin.conf
expect 1 "<stdin>:1:1: error: actions: failed to find Action \"alocate\"" \
    bash -c "echo 'actions: alocate' | '$maarctl' check -"
expect 0 $'      - name: sla\n        ^\n' "$maarctl" check volcano-plugin.conf
expect 0 '"suggestion": null' "$maarctl" check -o json volcano-plugin.conf
expect 0 "[]" "$maarctl" check -o json good.yaml
expect 1 "\"suggestion\": \"parent\"" "$maarctl" check -o json queue.yaml
# A queue of one file, a group of another, a configuration beside both.
expect 0 "there is no Queue \"a\" in the input" "$maarctl" check split-group.yaml queue-b.yaml
expect 0 "0 errors, 0 warnings in 1 file" "$maarctl" check split-group.yaml
expect 0 "0 errors, 0 warnings in 2 files" "$maarctl" check -c capacity.conf deserved.yaml
expect 0 "no plugin of good.conf reads it; capacity would" "$maarctl" check good.conf deserved.yaml
# Scenarios are inputs of their own: what one names is not looked for in another.
expect 1 "1 error, 2 warnings in 3 files" "$maarctl" check scenario.yaml scenario-conf.yaml scenario.yaml
expect 1 "1 error, 1 warning in 3 files" "$maarctl" check -c capacity.conf scenario.yaml scenario-conf.yaml
expect 2 "nofile: No such file or directory" "$maarctl" check good.yaml nofile
expect 2 "no file given" "$maarctl" check
expect 2 "expected table or json" "$maarctl" check -o yaml good.yaml
expect 2 "maarctl check --help" "$maarctl" check --colour good.yaml
expect 0 "Usage: maarctl check" "$maarctl" check --help
# Nothing of the input reaches the terminal as a control character.
expect 1 '\x1b' bash -c "printf 'actions: \"\\\\e[31m\"\n' | '$maarctl' check -"
# Every key that scheduling reads is known: the scenarios use them.
for file in ../scenario/*.yaml ../../examples/*.yaml; do
    if "$maarctl" check "$file" | grep "nothing reads"; then
        n_failed=$((n_failed + 1))
    fi
done
exit $((n_failed > 0))
