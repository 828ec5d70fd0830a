#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Does what README.md, docs/plugin-guide.md, docs/explain.md and docs/user-guide.md tell a reader to do, word by word:
#
#   test/examples/docs.sh FOLDER-OF-MAARCTL
#
# Commands and files are taken out of the pages, so that a page that no longer works fails here.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p build/release
ln -s "$bin" build/release/bin
ln -s "$root/include" "$root/test" .

n_passed=0
n_failed=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >out 2>&1; then
        n_passed=$((n_passed + 1))
    else
        n_failed=$((n_failed + 1))
        cat out
        echo "FAIL $what"
    fi
}

# The indented lines of a page that begin with one of these words, "$ " before them or not.
commands() { # PAGE
    sed -n 's/^    \(\$ \)\{0,1\}\(\(mkdir\|sed\|cc\|build\/release\/bin\/maarctl\) .*\)$/\2/p' "$1"
}

# The first scenario of a page, as a file.
scenario() { # PAGE
    awk '/^    apiVersion: sim/ { on = 1 }
        on && !/^    / && !/^$/ { exit }
        on { sub(/^    /, ""); print }' "$1"
}

has() { # TEXT FILE
    grep -qF -- "$1" "$2" || {
        echo "'$1' is not in:"
        cat "$2"
        return 1
    }
}

guide=$root/docs/plugin-guide.md
mkdir -p my-plugins
scenario "$guide" >my-plugins/quiet.yaml
while IFS= read -r command; do
    check "plugin-guide.md: $command" bash -c "$command"
done < <(commands "$guide")
grep -v avoidLabel my-plugins/quiet.yaml >open.yaml
check "plugin-guide.md: without avoidLabel n1 takes one" bash -c \
    'build/release/bin/maarctl simulate -f open.yaml --plugins-dir my-plugins | grep "job-0  *n1"'

explain=$root/docs/explain.md
scenario "$explain" >explain.yaml
while IFS= read -r command; do
    check "explain.md: $command" bash -c "$command"
    cp out explain.out
    # What the page shows of the output, line by line; a line may be cut short.
    while IFS= read -r line; do
        check "explain.md: shows '$line'" has "$line" explain.out
    done < <(awk -v command="    \$ $command" '$0 == command { on = 1; next }
        on && !/^    / { exit }
        on { sub(/^    /, ""); print }' "$explain")
done < <(commands "$explain")

user_guide=$root/docs/user-guide.md
scenario "$user_guide" >teams.yaml
check "user-guide.md: two-teams" build/release/bin/maarctl simulate -f teams.yaml
{
    scenario "$user_guide" | sed '/^    podGroups:/,$d'
    sed -n '/^    deployments: /,/^$/p' "$user_guide" | sed '/^$/d'
    echo "  expect:"
    echo "  - {cycle: 9, podGroups: {default/web: Running, default/crunch: Running, default/train: Running}}"
    echo "  - {podGroups: {default/crunch: Completed}, binds: 31}"
} >workloads.yaml
check "user-guide.md: the short forms of workloads" build/release/bin/maarctl simulate -f workloads.yaml

readme=$root/README.md
scenario "$readme" >first.yaml
check "README.md: first.yaml" build/release/bin/maarctl simulate -f first.yaml
cp out first.out
# What the page shows of the output, up to where it cuts lines off.
while IFS= read -r line; do
    check "README.md: shows '$line'" has "$line" first.out
done < <(sed -n '/^    \$ build.*simulate -f first.yaml/,/^[^ ]/s/^    \([^$].*\)/\1/p' "$readme" | sed 's/ *…$//')
sed 's/n\[1-2\]/n[1-3]/' first.yaml >second.yaml
sed -n 's/^    \(  expect:\|  - {bound: .*\)$/\1/p' "$readme" >>second.yaml
check "README.md: with three nodes" build/release/bin/maarctl simulate -f second.yaml
check "README.md: the expectation counts" bash -c \
    'sed "s/n\[1-3\]/n[1-2]/" second.yaml | { ! build/release/bin/maarctl simulate -f -; }'

echo "$n_passed passed, $n_failed failed"
((n_failed == 0))
