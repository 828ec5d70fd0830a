/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CHECK_CHECK_H
#define MAAR_CHECK_CHECK_H

/* Judges files before anything runs: scheduler.conf (also in a ConfigMap or a scenario), manifests, scenarios. Objects
 * are judged together, whichever file they come from, and against one configuration. */

#include "check/findings.h"
#include "host/registry.h"

struct maar_check;

/* The registry is borrowed; its modules are those that a configuration may name. */
struct maar_check *maar_check_create(const struct maar_registry *registry);
/* Accepts NULL. */
void maar_check_destroy(struct maar_check *check);

/* The configuration that manifests are judged against; without one the first that comes with a file, else the built-in
 * one. Its own findings count, too. The text may hold anything. */
void maar_check_use_conf(struct maar_check *check, const char *path, const char *text, size_t n);
/* A file of any of the sorts above. The first scenario and all manifests are one input; a further scenario is one of its
 * own, as only one can be played. */
void maar_check_add(struct maar_check *check, const char *path, const char *text, size_t n);
/* After the last file: judges the objects together. The findings are in order and live as long as the check. */
struct maar_findings *maar_check_finish(struct maar_check *check);

#endif
