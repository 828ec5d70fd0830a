#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Installs what is missing, and nothing else, with apt-get on Debian and Ubuntu:
#
#   tools/setup.sh PURPOSE...
#
# Purposes: build (programs, plugins, tests), test (running them), lint, fuzz, e2e. Says nothing when all is there.
# Elsewhere than on Debian and Ubuntu, and with SETUP=off, it names what is missing and fails.

# shellcheck disable=SC2034  # the lists are used by name

set -euo pipefail

# What is asked for -> the package that has it. "command:" is a program, "library:" a pkg-config
# module, "file:" a file.
build=(
    command:cc gcc
    file:/usr/include/stdio.h libc6-dev
    command:cmake cmake
    command:ninja ninja-build
    command:pkg-config pkg-config
    library:libcurl libcurl4-openssl-dev
    library:jansson libjansson-dev
    library:yaml-0.1 libyaml-dev
    library:libmicrohttpd libmicrohttpd-dev
    library:cmocka libcmocka-dev
)
test=(
    command:python3 python3
)
lint=(
    command:git git
    command:clang-14 clang-14
    command:clang-format-14 clang-format-14
    command:clang-tidy-14 clang-tidy-14
    command:cppcheck cppcheck
    command:shellcheck shellcheck
)
fuzz=(
    command:clang-14 clang-14
    file:/usr/lib/llvm-14/lib/clang/14.*/lib/linux/libclang_rt.fuzzer-*.a libclang-rt-14-dev
    command:llvm-symbolizer-14 llvm-14
)
e2e=(
    command:python3 python3
    command:curl curl
    command:openssl openssl
    command:flock util-linux
)

die() {
    echo "setup: $*" >&2
    exit 1
}

is_there() { # PROBE
    local what=${1#*:}
    case $1 in
    command:*) command -v "$what" >/dev/null ;;
    library:*) pkg-config --exists "$what" 2>/dev/null ;;
    file:*) compgen -G "$what" >/dev/null ;;
    esac
}

missing_packages() { # PROBE PACKAGE...
    while (($#)); do
        is_there "$1" || echo "$2"
        shift 2
    done
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root to install: ${packages[*]}; run this as root or install sudo"
    fi
}

install_packages() {
    local log
    log=$(mktemp)
    echo "setup: installing ${packages[*]}"
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get update >"$log" 2>&1 ||
        ! as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${packages[@]}" >>"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        die "apt-get failed (see above; the whole log is $log)"
    fi
    rm -f "$log"
}

(($#)) || die "names no purpose; there are build, test, lint, fuzz and e2e"
probes=()
for purpose in "$@"; do
    case $purpose in
    build | test | lint | fuzz | e2e) ;;
    *) die "no purpose '$purpose'; there are build, test, lint, fuzz and e2e" ;;
    esac
    declare -n list=$purpose
    probes+=("${list[@]}")
done

mapfile -t packages < <(missing_packages "${probes[@]}" | sort -u)
((${#packages[@]})) || exit 0
if [[ ${SETUP:-on} == off ]] || ! command -v apt-get >/dev/null; then
    die "missing (names of Debian's packages): ${packages[*]}"
fi
install_packages
mapfile -t packages < <(missing_packages "${probes[@]}" | sort -u)
((${#packages[@]} == 0)) || die "still missing after installing: ${packages[*]}"
