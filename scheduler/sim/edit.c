// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// Reading of edits: words with their columns, keys and values of each kind.
#include "sim/edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/quantity.h"
#include "sim/shorthand.h"

#define MAX_TEXT 1000000

/* ---- words ---- */

struct reader {
    const char *text;
    size_t at;
    const char *source; /* of the edits, for messages */
};

static int complain(const struct reader *reader, size_t column, struct maar_error *err,
                    const char *text)
{
    return maar_error_set(err, -EINVAL, "'%.200s': column %zu: %s", reader->source, column, text);
}

static int unknown(const struct reader *reader, size_t column, const char *what, const char *word,
                   const char *const *names, struct maar_error *err)
{
    struct maar_text text = MAAR_TEXT_INIT;
    const char *nearest = maar_text_nearest(word, names);
    maar_text_addf(&text, "\"%.60s\" is no %s", word, what);
    if (nearest)
        maar_text_addf(&text, "; did you mean %s?", nearest);
    maar_text_add(&text, nearest ? " Expected " : "; expected ");
    for (size_t i = 0; names[i]; i++)
        maar_text_addf(&text, "%s%s", i ? ", " : "", names[i]);
    int rc = complain(reader, column, err, maar_text_get(&text));
    maar_text_fini(&text);
    return rc;
}

/* The next word, the caller's; NULL at the end of an edit. Quotes may stand anywhere in it. */
static int next_word(struct reader *reader, char **ret_word, size_t *ret_column,
                     struct maar_error *err)
{
    struct maar_text word = MAAR_TEXT_INIT;
    const char *text = reader->text;
    reader->at += strspn(text + reader->at, " \t\r\n");
    *ret_column = reader->at + 1;
    *ret_word = NULL;
    if (!text[reader->at] || text[reader->at] == ';')
        return 0;
    char quote = 0;
    for (; text[reader->at]; reader->at++) {
        char c = text[reader->at];
        if (!quote && strchr(" \t\r\n;", c))
            break;
        if (c == quote)
            quote = 0;
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else
            maar_text_add_char(&word, c);
    }
    if (quote) {
        maar_text_fini(&word);
        return complain(reader, *ret_column, err, "a quote is not closed");
    }
    *ret_word = maar_text_steal(&word);
    return 0;
}

/* ---- keys and values ---- */

enum type {
    TYPE_TEXT,
    TYPE_NAME,
    TYPE_NUMBER,
    TYPE_BOOL,
    TYPE_STATE,
    TYPE_NONE, /* the word "none" */
    TYPE_AMOUNT,
    TYPE_STRATEGY,
};

struct key {
    const char *name;
    enum type type;
};

static const struct key node_keys[] = {{"cpu", TYPE_AMOUNT},         {"memory", TYPE_AMOUNT},
                                       {"pods", TYPE_AMOUNT},        {"gpu", TYPE_AMOUNT},
                                       {"unschedulable", TYPE_BOOL}, {"ready", TYPE_BOOL},
                                       {"like", TYPE_NAME},          {NULL, TYPE_TEXT}};
static const struct key queue_keys[] = {
    {"weight", TYPE_NUMBER},      {"priority", TYPE_NUMBER},
    {"parent", TYPE_NAME},        {"reclaimable", TYPE_BOOL},
    {"state", TYPE_STATE},        {"dequeueStrategy", TYPE_STRATEGY},
    {"capability.", TYPE_AMOUNT}, {"deserved.", TYPE_AMOUNT},
    {"guarantee.", TYPE_AMOUNT},  {NULL, TYPE_TEXT}};
static const struct key group_keys[] = {{"min", TYPE_NUMBER}, {"priority", TYPE_NAME},
                                        {"queue", TYPE_NAME}, {"minResources.", TYPE_AMOUNT},
                                        {"gates", TYPE_NONE}, {NULL, TYPE_TEXT}};
static const struct key pod_keys[] = {{"cpu", TYPE_AMOUNT}, {"memory", TYPE_AMOUNT},
                                      {"gpu", TYPE_AMOUNT}, {"priority", TYPE_NAME},
                                      {"gates", TYPE_NONE}, {NULL, TYPE_TEXT}};

static const struct key *const keys_of[MAAR_EDIT_N_KINDS] = {node_keys, queue_keys, group_keys,
                                                             pod_keys};
static const char *const kind_names[] = {"node", "queue", "podgroup", "pod", NULL};

/* Resources other than the usual ones have a domain; "hugepages-2Mi" and "ephemeral-storage" have not. */
static bool is_resource(const char *name)
{
    return strchr(name, '/') || strcmp(name, "ephemeral-storage") == 0 ||
           strncmp(name, "hugepages-", 10) == 0;
}

static const struct key *find_key(int kind, const char *name)
{
    static const struct key resource = {"", TYPE_AMOUNT};
    for (const struct key *key = keys_of[kind]; key->name; key++) {
        size_t n = strlen(key->name);
        bool is_prefix = key->name[n - 1] == '.';
        if (is_prefix ? strncmp(name, key->name, n) == 0 && name[n] : strcmp(name, key->name) == 0)
            return key;
    }
    return (kind == MAAR_EDIT_NODE || kind == MAAR_EDIT_POD) && is_resource(name) ? &resource
                                                                                  : NULL;
}

static int unknown_key(const struct reader *reader, size_t column, int kind, const char *name,
                       struct maar_error *err)
{
    const char *names[16];
    size_t n = 0;
    for (const struct key *key = keys_of[kind]; key->name; key++)
        names[n++] = key->name;
    if (kind == MAAR_EDIT_NODE) {
        names[n++] = "label";
        names[n++] = "taint";
    }
    names[n++] = "delete";
    names[n] = NULL;
    maar_autofree char *what = maar_asprintf("word for a %s", kind_names[kind]);
    return unknown(reader, column, what, name, names, err);
}

/* NULL when the value is good. */
static const char *check_value(const struct key *key, const char *value)
{
    static const char *const states[] = {"Open", "Closed", NULL};
    struct maar_quantity quantity;
    char *end;
    switch (key->type) {
    case TYPE_NUMBER: {
        long long number = strtoll(value, &end, 10);
        return *value && !*end && number >= -2000000000 && number <= 2000000000 ? NULL : "a number";
    }
    case TYPE_BOOL:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ? NULL : "true or false";
    case TYPE_STATE:
        return strcmp(value, states[0]) == 0 || strcmp(value, states[1]) == 0 ? NULL
                                                                              : "Open or Closed";
    case TYPE_STRATEGY:
        return strcmp(value, "fifo") == 0 || strcmp(value, "traverse") == 0 ? NULL
                                                                            : "fifo or traverse";
    case TYPE_NONE:
        return strcmp(value, "none") == 0 ? NULL : "none";
    case TYPE_AMOUNT:
        if (strcmp(value, "none") == 0 && key->name[0] && key->name[strlen(key->name) - 1] == '.')
            return NULL;
        return maar_quantity_parse(value, &quantity, NULL) == 0 && !quantity.is_negative
                   ? NULL
                   : "an amount such as 8, 500m or 64Gi";
    case TYPE_NAME:
        return *value && strlen(value) <= 253 && !strchr(value, '/') ? NULL : "a name";
    case TYPE_TEXT:
        break;
    }
    return NULL;
}

/* "K=V" or "K-" of a label, "K=V:EFFECT", "K:EFFECT" or "K-" of a taint. */
static const char *check_mark(const char *key, const char *value)
{
    static const char *const effects[] = {":NoSchedule", ":PreferNoSchedule", ":NoExecute", NULL};
    size_t n = strlen(value);
    if (n > 1 && value[n - 1] == '-' && !strchr(value, '='))
        return NULL;
    if (strcmp(key, "label") == 0)
        return n > 1 && *value != '=' && strchr(value, '=') ? NULL : "label KEY=VALUE or KEY-";
    const char *colon = strrchr(value, ':');
    for (size_t i = 0; colon && colon != value && *value != '=' && effects[i]; i++)
        if (strcmp(colon, effects[i]) == 0)
            return NULL;
    return "taint KEY=VALUE:EFFECT or KEY-; EFFECT is NoSchedule, PreferNoSchedule or NoExecute";
}

static void push_word(struct maar_edit *edit, const char *key, const char *value, size_t column)
{
    struct maar_edit_word word = {maar_strdup(key), maar_strdup(value), column};
    maar_vec_push(&edit->words, word);
}

static int expected(const struct reader *reader, size_t column, const char *word, const char *what,
                    struct maar_error *err)
{
    maar_autofree char *text = maar_asprintf("\"%.60s\": expected %s", word, what);
    return complain(reader, column, err, text);
}

static int read_assignment(struct reader *reader, struct maar_edit *edit, char *word, size_t column,
                           struct maar_error *err)
{
    char *equals = strchr(word, '=');
    if (equals)
        *equals = 0;
    const struct key *key = find_key(edit->kind, word);
    if (!key)
        return unknown_key(reader, column, edit->kind, word, err);
    if (!equals)
        return expected(reader, column, word, "=VALUE behind it", err);
    const char *wrong = check_value(key, equals + 1);
    if (wrong)
        return expected(reader, column + (size_t)(equals - word) + 1, equals + 1, wrong, err);
    /* gpu, and capability.gpu */
    const char *dot = strchr(word, '.'), *name = dot ? dot + 1 : word;
    bool is_gpu = strcmp(name, "gpu") == 0;
    maar_autofree char *full =
        maar_asprintf("%.*s%s", (int)(name - word), word, is_gpu ? "nvidia.com/gpu" : name);
    push_word(edit, full, equals + 1, column);
    return 0;
}

static int read_mark(struct reader *reader, struct maar_edit *edit, const char *key,
                     struct maar_error *err)
{
    size_t column;
    char *value = NULL;
    int rc = next_word(reader, &value, &column, err);
    if (rc < 0)
        return rc;
    const char *wrong = check_mark(key, value ? value : "");
    if (wrong)
        rc = expected(reader, column, value ? value : "", wrong, err);
    else
        push_word(edit, key, value, column);
    free(value);
    return rc;
}

static int read_word(struct reader *reader, struct maar_edit *edit, char *word, size_t column,
                     struct maar_error *err)
{
    if (strcmp(word, "delete") == 0) {
        push_word(edit, "delete", "", column);
        return 0;
    }
    if (edit->kind == MAAR_EDIT_NODE && (strcmp(word, "label") == 0 || strcmp(word, "taint") == 0))
        return read_mark(reader, edit, word, err);
    return read_assignment(reader, edit, word, column, err);
}

/* ---- edits ---- */

static void edit_fini(struct maar_edit *edit)
{
    for (size_t i = 0; i < edit->words.n; i++) {
        free(edit->words.data[i].key);
        free(edit->words.data[i].value);
    }
    maar_vec_fini(&edit->words);
    free(edit->text);
    free(edit->name);
}

static int take_name(void *context, const char *name, struct maar_error *err)
{
    (void)context;
    (void)name;
    (void)err;
    return 0;
}

static int check_name(const struct reader *reader, const struct maar_edit *edit,
                      struct maar_error *err)
{
    if (!edit->name)
        return complain(reader, edit->name_column, err, "a name is missing");
    const char *slash = strchr(edit->name, '/');
    bool namespaced = edit->kind == MAAR_EDIT_POD_GROUP || edit->kind == MAAR_EDIT_POD;
    size_t n = strlen(edit->name);
    if (n == 0 || n > 500 ||
        (slash && (!namespaced || slash == edit->name || !slash[1] || strchr(slash + 1, '/'))))
        return expected(reader, edit->name_column, edit->name,
                        namespaced ? "NAMESPACE/NAME" : "a name", err);
    struct maar_error inner = MAAR_ERROR_INIT;
    if (maar_shorthand_names(NULL, edit->name, take_name, NULL, &inner) < 0)
        return complain(reader, edit->name_column, err, inner.text);
    return 0;
}

static int read_edit(struct reader *reader, struct maar_edit *edit, struct maar_error *err)
{
    size_t column;
    char *word = NULL;
    int rc = next_word(reader, &word, &column, err);
    if (rc < 0)
        return rc;
    edit->kind = 0;
    while (word && kind_names[edit->kind] && strcmp(kind_names[edit->kind], word) != 0)
        edit->kind++;
    if (!word || !kind_names[edit->kind])
        rc = unknown(reader, column, "kind of an edit", word ? word : "", kind_names, err);
    free(word);
    if (rc == 0)
        rc = next_word(reader, &edit->name, &edit->name_column, err);
    if (rc == 0)
        rc = check_name(reader, edit, err);
    while (rc == 0) {
        rc = next_word(reader, &word, &column, err);
        if (rc < 0 || !word)
            break;
        rc = read_word(reader, edit, word, column, err);
        free(word);
    }
    return rc;
}

int maar_edits_read(struct maar_edits *edits, const char *text, struct maar_error *err)
{
    struct reader reader = {text, 0, text};
    if (strlen(text) > MAX_TEXT)
        return maar_error_set(err, -EINVAL, "an edit of more than %d bytes", MAX_TEXT);
    do {
        struct maar_edit edit = {0};
        reader.at += strspn(text + reader.at, " \t\r\n");
        size_t start = reader.at;
        int rc = read_edit(&reader, &edit, err);
        if (rc < 0) {
            edit_fini(&edit);
            return rc;
        }
        edit.text = maar_strndup(text + start, reader.at - start);
        maar_vec_push(&edits->items, edit);
        reader.at += text[reader.at] == ';';
        reader.at += strspn(text + reader.at, " \t\r\n");
    } while (text[reader.at]);
    return 0;
}

void maar_edits_fini(struct maar_edits *edits)
{
    for (size_t i = 0; i < edits->items.n; i++)
        edit_fini(&edits->items.data[i]);
    maar_vec_fini(&edits->items);
}
