/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Readers, decoders and rules all end up here. Some bring a text only; it is taken apart by the house form. */

#include "check/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "wire/wire.h"

#define MAX_FINDINGS 1000u

static const char did_you_mean[] = "did you mean ";

void maar_findings_fini(struct maar_findings *findings)
{
    struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding) {
        free(finding->key);
        free(finding->message);
        free(finding->suggestion);
    }
    maar_vec_fini(&findings->list);
    *findings = (struct maar_findings){0};
}

bool maar_findings_are_full(const struct maar_findings *findings)
{
    return findings->list.n >= MAX_FINDINGS;
}

/* Takes the texts over. */
static void push(struct maar_findings *findings, struct maar_finding finding)
{
    finding.order = findings->list.n;
    if (finding.is_error)
        findings->n_errors++;
    else
        findings->n_warnings++;
    if (!maar_findings_are_full(findings)) {
        maar_vec_push(&findings->list, finding);
        return;
    }
    findings->n_left_out++;
    free(finding.key);
    free(finding.message);
    free(finding.suggestion);
}

void maar_findings_add(struct maar_findings *findings, const struct maar_field *field,
                       bool is_error, const char *nearest, const char *format, ...)
{
    struct maar_text text = MAAR_TEXT_INIT;
    va_list args;
    va_start(args, format);
    maar_text_addv(&text, format, args);
    va_end(args);
    if (nearest)
        maar_text_addf(&text, "; %s%s?", did_you_mean, nearest);
    struct maar_finding finding = {.file = field->file,
                                   .is_error = is_error,
                                   .is_of_field = true,
                                   .document = field->document,
                                   .key = maar_strdup(field->path),
                                   .message = maar_text_steal(&text),
                                   .suggestion = nearest ? maar_strdup(nearest) : NULL};
    push(findings, finding);
}

/* The name in "…; did you mean NAME?", NULL when there is none. */
static char *suggestion_of(const char *text)
{
    const char *at = strstr(text, did_you_mean);
    if (!at)
        return NULL;
    at += sizeof did_you_mean - 1;
    return maar_strndup(at, strcspn(at, "?"));
}

void maar_findings_add_text(struct maar_findings *findings, const struct maar_scenario_file *file,
                            int line, int column, bool is_error, const char *text)
{
    size_t n_key = strcspn(text, ": ");
    bool has_key = n_key > 0 && strncmp(text + n_key, ": ", 2) == 0;
    struct maar_finding finding = {.file = file,
                                   .line = line,
                                   .column = column,
                                   .is_error = is_error,
                                   .key = maar_strndup(text, has_key ? n_key : 0),
                                   .message = maar_strdup(has_key ? text + n_key + 2 : text),
                                   .suggestion = suggestion_of(text)};
    push(findings, finding);
}

const char *maar_findings_split_error(const struct maar_scenario_file *file,
                                      const struct maar_error *err, int *ret_line, int *ret_column)
{
    int n = 0;
    const char *text = maar_error_text(err);
    size_t n_path = strlen(file->path);
    *ret_line = *ret_column = 1;
    if (strncmp(text, file->path, n_path) != 0 || text[n_path] != ':')
        return text;
    text += n_path + 1;
    if (sscanf(text, "%9d:%9d: %n", ret_line, ret_column, &n) == 2 && n > 0)
        return text + n;
    *ret_line = *ret_column = 1;
    return text + strspn(text, " ");
}

void maar_findings_add_error(struct maar_findings *findings, const struct maar_scenario_file *file,
                             const struct maar_error *err)
{
    int line, column;
    const char *text = maar_findings_split_error(file, err, &line, &column);
    maar_findings_add_text(findings, file, line, column, true, text);
}

/* ---- places ---- */

/* All fields of one file in one reading of it. */
static void locate(struct maar_findings *findings, const struct maar_scenario_file *file)
{
    MAAR_VEC(struct maar_yaml_place) places = {0};
    MAAR_VEC(struct maar_finding *) owners = {0};
    struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding) {
        struct maar_yaml_place place = {.document = finding->document, .path = finding->key};
        if (finding->file != file || !finding->is_of_field || finding->line > 0)
            continue;
        maar_vec_push(&places, place);
        maar_vec_push(&owners, finding);
    }
    if (places.n > 0)
        maar_wire_yaml_locate_all(file->text, file->n, places.data, places.n);
    for (size_t i = 0; i < places.n; i++) {
        owners.data[i]->line = places.data[i].line > 0 ? places.data[i].line : 1;
        owners.data[i]->column = places.data[i].column > 0 ? places.data[i].column : 1;
    }
    maar_vec_fini(&places);
    maar_vec_fini(&owners);
}

/* ---- order ---- */

struct order {
    const struct maar_scenario_file *const *files;
    size_t n_files;
};

static size_t rank_of(const struct order *order, const struct maar_scenario_file *file)
{
    size_t i = 0;
    while (i < order->n_files && order->files[i] != file)
        i++;
    return i;
}

static int compare(const void *l, const void *r, void *context)
{
    const struct maar_finding *left = l;
    const struct maar_finding *right = r;
    size_t left_rank = rank_of(context, left->file);
    size_t right_rank = rank_of(context, right->file);
    if (left_rank != right_rank)
        return left_rank < right_rank ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    if (left->is_error != right->is_error)
        return left->is_error ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* A value has one fault at a time, whoever finds it first. */
static bool says_the_same(const struct maar_finding *l, const struct maar_finding *r)
{
    return l->file == r->file && l->line == r->line && l->column == r->column &&
           l->is_error == r->is_error && strcmp(l->key, r->key) == 0 &&
           ((l->is_of_field && r->is_of_field) || strcmp(l->message, r->message) == 0);
}

void maar_findings_finish(struct maar_findings *findings,
                          const struct maar_scenario_file *const *files, size_t n_files)
{
    struct order order = {files, n_files};
    for (size_t i = 0; i < n_files; i++)
        locate(findings, files[i]);
    if (findings->list.n > 1)
        qsort_r(findings->list.data, findings->list.n, sizeof *findings->list.data, compare,
                &order);
    size_t n_kept = 0;
    for (size_t i = 0; i < findings->list.n; i++) {
        struct maar_finding *finding = &findings->list.data[i];
        if (n_kept == 0 || !says_the_same(&findings->list.data[n_kept - 1], finding)) {
            findings->list.data[n_kept++] = *finding;
            continue;
        }
        if (finding->is_error)
            findings->n_errors--;
        else
            findings->n_warnings--;
        free(finding->key);
        free(finding->message);
        free(finding->suggestion);
    }
    findings->list.n = n_kept;
}

void maar_findings_move(struct maar_findings *findings, struct maar_findings *from)
{
    struct maar_finding *finding;
    size_t n_errors = findings->n_errors + from->n_errors;
    size_t n_warnings = findings->n_warnings + from->n_warnings;
    findings->n_left_out += from->n_left_out;
    MAAR_VEC_EACH (&from->list, finding)
        push(findings, *finding);
    findings->n_errors = n_errors;
    findings->n_warnings = n_warnings;
    from->list.n = 0;
    maar_findings_fini(from);
}

void maar_findings_make_errors(struct maar_findings *findings)
{
    struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding)
        finding->is_error = true;
    findings->n_errors += findings->n_warnings;
    findings->n_warnings = 0;
}
