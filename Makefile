# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Short names for what CMake and the scripts do. On Debian and Ubuntu each target first installs
# what it misses (tools/setup.sh; needs root or sudo; SETUP=off only says what is missing).

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help build test demo docs lint format asan tsan fuzz e2e bench install clean up

PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS_EACH ?= 60

help: ## this list
	@echo "maar: a gang scheduler for Kubernetes"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## maarctl, maar-scheduler, plugins and actions into build/release/bin
	@tools/setup.sh build
	@tools/build.sh release programs
	@echo "built: build/release/bin"

test: ## build all, run unit tests, scenarios and recorded decisions
	@tools/setup.sh build test
	@tools/build.sh release
	@tools/test.sh release

demo: build ## play examples/ in a few acts
	@examples/demo.sh build/release/bin

up: build ## an embedded cluster and maar-scheduler beside it, for kubectl, until Ctrl-C
	@tools/up.sh build/release/bin -f examples/1-gangs.yaml

docs: build ## renew docs/plugins.md from the plugins' own tables
	@build/release/bin/maarctl plugins -o markdown >docs/plugins.md

lint: ## layers, licences, format, clang-tidy, cppcheck, shellcheck
	@tools/setup.sh build lint
	@test/lint/run.sh

format: ## reformat all C files
	@tools/setup.sh lint
	@git ls-files -z -- '*.c' '*.h' | xargs -0 clang-format-14 -i

asan: ## the tests under AddressSanitizer and UBSan
	@tools/setup.sh build test
	@tools/build.sh asan
	@tools/sanitize.sh asan

tsan: ## the tests with threads under ThreadSanitizer
	@tools/setup.sh build test
	@tools/build.sh tsan
	@tools/sanitize.sh tsan

fuzz: ## every fuzz target for SECONDS_EACH=60 seconds
	@tools/setup.sh build fuzz
	@tools/build.sh fuzz fuzz_targets
	@test/fuzz/run.sh $(SECONDS_EACH)

e2e: build ## against a real kube-apiserver (needs Go 1.26 and kubectl)
	@tools/setup.sh e2e
	@MAAR_BIN_DIR=build/release/bin test/e2e/run.sh

bench: build ## the engine alone on generated workloads
	@build/release/bin/maarctl bench

install: build ## into DESTDIR and PREFIX=/usr/local
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove build/
	@rm -rf build
