/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CHECK_FINDINGS_H
#define MAAR_CHECK_FINDINGS_H

/* What a check has found, with places. Texts follow the house form "key: what is wrong; did you mean NAME?". */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"
#include "sim/field.h"

struct maar_finding {
    const struct maar_scenario_file *file; /* borrowed */
    int line;                              /* 0 until the end, when it is of a field */
    int column;
    bool is_error;
    bool is_of_field; /* key is the path of a value in a document */
    size_t document;
    char *key;        /* of the value that is meant, "" when it is the whole */
    char *message;    /* without place and key */
    char *suggestion; /* the nearest valid name, NULL when there is none */
    size_t order;     /* in which it was found */
};

struct maar_findings {
    MAAR_VEC(struct maar_finding) list;
    size_t n_left_out; /* beyond the most that are kept */
    size_t n_errors;
    size_t n_warnings;
};

void maar_findings_fini(struct maar_findings *findings);
/* Further findings are counted only. */
bool maar_findings_are_full(const struct maar_findings *findings);

/* About a field of a document. `nearest` (may be NULL) is appended as "; did you mean …?". */
void maar_findings_add(struct maar_findings *findings, const struct maar_field *field,
                       bool is_error, const char *nearest, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A text in the house form that comes with its place. */
void maar_findings_add_text(struct maar_findings *findings, const struct maar_scenario_file *file,
                            int line, int column, bool is_error, const char *text);
/* Takes the error of a reader apart: "file:line:column: text". */
const char *maar_findings_split_error(const struct maar_scenario_file *file,
                                      const struct maar_error *err, int *ret_line, int *ret_column);
/* The error of a reader. */
void maar_findings_add_error(struct maar_findings *findings, const struct maar_scenario_file *file,
                             const struct maar_error *err);
/* Finds the places of fields and sorts: by place, errors first; the same place and key is told once. `files` gives the
 * order of files. */
void maar_findings_finish(struct maar_findings *findings,
                          const struct maar_scenario_file *const *files, size_t n_files);
/* Moves all findings of another, which is finished and empty afterwards. */
void maar_findings_move(struct maar_findings *findings, struct maar_findings *from);
/* Warnings become errors. */
void maar_findings_make_errors(struct maar_findings *findings);

#endif
