/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* `maarctl check`: judges files and prints what it finds, each finding with its source line. */

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "check/check.h"
#include "cli/command.h"
#include "cli/simulate_table.h"

#define MAX_FILE_BYTES (100u * 1024 * 1024)
#define SHOWN_CHARS    100u /* of a source line */
#define SHOWN_BEFORE   60u  /* of them before the place, when it is further to the right */

static const char usage[] =
    "Usage: maarctl check FILE... [OPTION...]\n"
    "\n"
    "Says what is wrong or hardly meant in a scheduler.conf (also in a ConfigMap), in manifests "
    "and\n"
    "in scenarios, without a cluster. All files together are one input. - is standard input.\n"
    "\n"
    "  -c, --conf FILE          the scheduler.conf that manifests are judged against; without it\n"
    "                           the first in the input, else the built-in one\n"
    "  -o, --output FORMAT      table (default) or json\n"
    "      --strict             warnings are errors\n"
    "      --plugins-dir DIR    custom plugins that a scheduler.conf may name\n"
    "  -h, --help               this text\n"
    "\n"
    "Exit status: 0 no errors, 1 errors, 2 a file cannot be read.\n";

struct request {
    MAAR_VEC(const char *) files;
    const char *conf;
    const char *plugins_dir;
    bool json;
    bool strict;
};

/* ---- table ---- */

/* The bytes of n characters of UTF-8, at most `size`. */
static size_t bytes_of(const char *text, size_t size, size_t n)
{
    size_t i = 0;
    while (i < size && n > 0) {
        i++;
        while (i < size && ((unsigned char)text[i] & 0xc0) == 0x80)
            i++;
        n--;
    }
    return i;
}

static const char *find_line(const struct maar_scenario_file *file, int line, size_t *ret_n)
{
    const char *end = file->text + file->n;
    const char *at = file->text;
    while (at && line-- > 1) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *ret_n = (size_t)((stop ? stop : end) - at);
    return at;
}

/* The line with a caret below the place; of a long line the part around it. */
static void add_source(struct maar_text *out, const struct maar_finding *finding)
{
    size_t n = 0;
    const char *line = find_line(finding->file, finding->line, &n);
    size_t column = finding->column > 0 ? (size_t)finding->column - 1 : 0;
    if (!line || n == 0 || bytes_of(line, n, column) >= n)
        return;
    size_t skipped = column > SHOWN_CHARS - 10 ? column - SHOWN_BEFORE : 0;
    size_t n_skipped = bytes_of(line, n, skipped);
    size_t n_shown = bytes_of(line + n_skipped, n - n_skipped, SHOWN_CHARS);
    maar_autofree char *part = maar_strndup(line + n_skipped, n_shown);
    for (char *c = part; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    maar_autofree char *safe = maar_simulate_escape(part, false);
    maar_text_addf(out, "    %s%s%s\n    %*s^\n", skipped > 0 ? "…" : "", safe,
                   n_skipped + n_shown < n ? "…" : "",
                   (int)(column - skipped + (skipped > 0 ? 1 : 0)), "");
}

static void add_finding(struct maar_text *out, const struct maar_finding *finding)
{
    maar_autofree char *whole =
        maar_asprintf("%s:%d:%d: %s: %s%s%s", finding->file->path, finding->line, finding->column,
                      finding->is_error ? "error" : "warning", finding->key,
                      *finding->key ? ": " : "", finding->message);
    maar_autofree char *safe = maar_simulate_escape(whole, false);
    maar_text_addf(out, "%s\n", safe);
    add_source(out, finding);
}

static void add_count(struct maar_text *out, size_t n, const char *word)
{
    maar_text_addf(out, "%zu %s%s", n, word, n == 1 ? "" : "s");
}

static void print_table(const struct request *request, const struct maar_findings *findings)
{
    struct maar_text out = MAAR_TEXT_INIT;
    const struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding)
        add_finding(&out, finding);
    if (findings->n_left_out > 0)
        maar_text_addf(&out, "… and %zu more\n", findings->n_left_out);
    add_count(&out, findings->n_errors, "error");
    maar_text_add(&out, ", ");
    add_count(&out, findings->n_warnings, "warning");
    maar_text_add(&out, " in ");
    add_count(&out, request->files.n + (request->conf ? 1 : 0), "file");
    maar_text_add(&out, "\n");
    fputs(maar_text_get(&out), stdout);
    maar_text_fini(&out);
}

/* ---- JSON ---- */

/* A text that is not UTF-8, or was cut inside a character, keeps its ASCII. */
static json_t *json_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    if (value)
        return value;
    maar_autofree char *copy = maar_strdup(text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(copy);
}

static void print_json(const struct maar_findings *findings)
{
    json_auto_t *list = json_array();
    const struct maar_finding *finding;
    MAAR_VEC_EACH (&findings->list, finding) {
        json_t *object = json_object();
        json_object_set_new(object, "file", json_text(finding->file->path));
        json_object_set_new(object, "line", json_integer(finding->line));
        json_object_set_new(object, "column", json_integer(finding->column));
        json_object_set_new(object, "severity",
                            json_string(finding->is_error ? "error" : "warning"));
        json_object_set_new(object, "key", json_text(finding->key));
        json_object_set_new(object, "message", json_text(finding->message));
        json_object_set_new(object, "suggestion", json_text(finding->suggestion));
        json_array_append_new(list, object);
    }
    json_dumpf(list, stdout, JSON_INDENT(1));
    putchar('\n');
}

/* ---- arguments ---- */

static int take_output(struct request *request, const char *value)
{
    request->json = strcmp(value, "json") == 0;
    if (request->json || strcmp(value, "table") == 0)
        return MAAR_EXIT_OK;
    maar_autofree char *safe = maar_simulate_escape(value, false);
    fprintf(stderr, "maarctl check: -o %s: expected table or json\n", safe);
    return MAAR_EXIT_INPUT;
}

enum {
    OPTION_STRICT = 256,
    OPTION_PLUGINS_DIR,
};

static int take_option(struct request *request, int option, const char *value)
{
    switch (option) {
    case 'f':
        maar_vec_push(&request->files, value);
        return MAAR_EXIT_OK;
    case 'c':
        request->conf = value;
        return MAAR_EXIT_OK;
    case 'o':
        return take_output(request, value);
    case OPTION_STRICT:
        request->strict = true;
        return MAAR_EXIT_OK;
    case OPTION_PLUGINS_DIR:
        request->plugins_dir = value;
        return MAAR_EXIT_OK;
    default:
        fputs("Try: maarctl check --help\n", stderr);
        return MAAR_EXIT_INPUT;
    }
}

/* -1: go on. */
static int read_arguments(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'},
        {"conf", required_argument, NULL, 'c'},
        {"output", required_argument, NULL, 'o'},
        {"strict", no_argument, NULL, OPTION_STRICT},
        {"plugins-dir", required_argument, NULL, OPTION_PLUGINS_DIR},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "f:c:o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return MAAR_EXIT_OK;
        }
        int code = take_option(request, option, optarg);
        if (code != MAAR_EXIT_OK)
            return code;
    }
    for (; optind < argc; optind++)
        maar_vec_push(&request->files, argv[optind]);
    if (request->files.n == 0 && !request->conf) {
        fputs("maarctl check: no file given; maarctl check --help\n", stderr);
        return MAAR_EXIT_INPUT;
    }
    return -1;
}

/* ---- running ---- */

static int add_file(struct maar_check *check, const char *path, bool is_conf,
                    struct maar_error *err)
{
    maar_autofree char *text = NULL;
    size_t n = 0;
    int rc = maar_file_read(path, MAX_FILE_BYTES, &text, &n, err);
    if (rc < 0)
        return rc;
    if (strcmp(path, "-") == 0)
        path = "<stdin>";
    if (is_conf)
        maar_check_use_conf(check, path, text, n);
    else
        maar_check_add(check, path, text, n);
    return 0;
}

static int add_files(const struct request *request, struct maar_check *check,
                     struct maar_error *err)
{
    int rc = request->conf ? add_file(check, request->conf, true, err) : 0;
    for (size_t i = 0; rc == 0 && i < request->files.n; i++)
        rc = add_file(check, request->files.data[i], false, err);
    return rc;
}

static int finish(const struct request *request, struct maar_check *check)
{
    struct maar_findings *findings = maar_check_finish(check);
    if (request->strict)
        maar_findings_make_errors(findings);
    if (request->json)
        print_json(findings);
    else
        print_table(request, findings);
    return findings->n_errors > 0 ? MAAR_EXIT_NO : MAAR_EXIT_OK;
}

static int run(const struct request *request)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_registry *registry = maar_registry_create();
    struct maar_check *check = maar_check_create(registry);
    int code = MAAR_EXIT_INPUT;
    int rc = maar_registry_load_builtin(registry, &err);
    if (rc == 0 && request->plugins_dir)
        rc = maar_registry_load_plugins(registry, request->plugins_dir, &err);
    if (rc == 0)
        rc = add_files(request, check, &err);
    if (rc == 0) {
        code = finish(request, check);
    } else {
        maar_autofree char *text = maar_simulate_escape(err.text, false);
        fprintf(stderr, "maarctl check: %s\n", text);
    }
    maar_check_destroy(check);
    maar_registry_destroy(registry);
    return code;
}

int maar_cli_check(int argc, char **argv)
{
    struct request request = {0};
    maar_log_set_verbosity(-1);
    int code = read_arguments(&request, argc, argv);
    if (code < 0)
        code = run(&request);
    maar_vec_fini(&request.files);
    return code;
}
