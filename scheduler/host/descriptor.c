/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The checks go from what can be read safely to what depends on it: ABI number and size first, then
 * names, the argument table, the hooks. A table that is wrong in itself is refused here, once, so
 * that nothing later has to think of it: `default_text` is of its own type, ranges are ranges, a
 * filter has a function. */

#include "host/descriptor.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "conf/arguments.h"
#include "conf/scalar.h"

#define MAX_NAME_BYTES    63
#define MAX_ARGUMENTS     256u /* a table without its last row ends here at the latest */
#define MAX_KEYS          256u
#define MAX_ROW_BYTES     ((size_t)1 << 20)
#define MAX_TABLE_ENTRIES 64u
#define SUBJECT_BITS      15u
#define NODE_AXIS_BITS    15u

/* The first fields of every descriptor, whatever the rest looks like. */
struct head {
    uint32_t abi;
    uint32_t size;
};

/* ---- ABI and size -----------------------------------------------------------------------------
 */

/* While the ABI number is 0 the layout may change with every version, so the sizes must be equal.
 * Once it is frozen the structs are append-only, and a smaller one is a plugin that knows fewer
 * hooks. */
static int check_head(const void *descriptor, size_t n_bytes, size_t our_size,
                      struct maar_error *err)
{
    struct head head;
    if (n_bytes < sizeof head)
        return maar_error_set(err, -EINVAL,
                              "its exported symbol is no descriptor (%zu bytes); "
                              "define it as in docs/plugin-guide.md",
                              n_bytes);
    memcpy(&head, descriptor, sizeof head);
    if (head.abi != MAAR_ABI)
        return maar_error_set(err, -EINVAL,
                              "it was built for ABI %u, this is ABI %u; compile it against this "
                              "version's include/maar",
                              head.abi, MAAR_ABI);
    if (head.size > our_size)
        return maar_error_set(
            err, -EINVAL,
            "it was built for a newer version (descriptor of %u bytes, here %zu); "
            "update maar or compile it against this version's include/maar",
            head.size, our_size);
    if (head.size < our_size)
        return maar_error_set(err, -EINVAL,
                              "it was built for an older version (descriptor of %u bytes, here "
                              "%zu); compile it against this version's include/maar",
                              head.size, our_size);
    if (n_bytes < head.size)
        return maar_error_set(err, -EINVAL,
                              "its descriptor says %u bytes but has %zu; start it with the header "
                              "macro",
                              head.size, n_bytes);
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static bool is_name(const char *name)
{
    size_t n = strnlen(name, MAX_NAME_BYTES + 1);
    if (n == 0 || n > MAX_NAME_BYTES)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool is_letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
        bool is_joint = name[i] == '-' || name[i] == '_' || name[i] == '.';
        if (!is_letter && !(is_joint && i > 0 && i + 1 < n))
            return false;
    }
    return true;
}

static int check_name(const char *what, const char *name, struct maar_error *err)
{
    if (!name)
        return maar_error_set(err, -EINVAL, "it has no %s; set one", what);
    if (!is_name(name))
        return maar_error_set(
            err, -EINVAL,
            "its %s \"%.63s\" is not 1 to 63 small letters, digits, '-', '_', '.' "
            "inside",
            what, name);
    return 0;
}

/* Lists of keys end with NULL; one that does not end is caught here rather than in the decoder. */
static int check_keys(const char *what, const char *const *keys, struct maar_error *err)
{
    size_t n = 0;
    for (; keys && keys[n]; n++) {
        if (n == MAX_KEYS)
            return maar_error_set(err, -EINVAL, "%s has more than %u entries; end it with NULL",
                                  what, MAX_KEYS);
        if (*keys[n] == '\0')
            return maar_error_set(err, -EINVAL, "%s has an empty key; remove it", what);
    }
    return 0;
}

static int check_aliases(const char *const *aliases, struct maar_error *err)
{
    int rc = check_keys("aliases", aliases, err);
    for (; rc == 0 && aliases && *aliases; aliases++)
        rc = check_name("alias", *aliases, err);
    return rc;
}

/* ---- the argument table -----------------------------------------------------------------------
 */

static bool is_argument_key(const char *key)
{
    if (*key == '\0')
        return false;
    for (; *key; key++)
        if (!isgraph((unsigned char)*key))
            return false;
    return true;
}

/* The default as a node, resolved as if it stood in the file. */
static struct maar_argument_node default_node(const struct maar_argument *row)
{
    struct maar_scalar_value value = maar_scalar_resolve(row->default_text);
    return (struct maar_argument_node){
        .kind = MAAR_ARGUMENT_NODE_SCALAR,
        .scalar = row->type == MAAR_ARGUMENT_STRING ? MAAR_SCALAR_STRING : value.type,
        .number = value.number,
        .real = value.real,
        .truth = value.truth};
}

static int check_default(const struct maar_argument *row, struct maar_error *err)
{
    if (!row->default_text || row->type == MAAR_ARGUMENT_TREE)
        return 0;
    struct maar_argument_node node = default_node(row);
    bool is_yaml_bool = row->type != MAAR_ARGUMENT_BOOL || node.scalar == MAAR_SCALAR_BOOL;
    if (!is_yaml_bool || !maar_argument_fits_type(&node, row->type))
        return maar_error_set(err, -EINVAL, "argument %s: the default \"%.40s\" is not %s",
                              row->key, row->default_text, maar_argument_type_words(row->type));
    double min;
    double max;
    bool is_number = row->type == MAAR_ARGUMENT_INT || row->type == MAAR_ARGUMENT_FLOAT;
    if (!is_number || !maar_argument_range_parse(row->range, &min, &max))
        return 0;
    if (node.real < min || node.real > max)
        return maar_error_set(err, -EINVAL, "argument %s: the default %.40s is outside %.40s",
                              row->key, row->default_text, row->range);
    return 0;
}

static int check_argument(const struct maar_argument *row, struct maar_error *err)
{
    if (!is_argument_key(row->key))
        return maar_error_set(err, -EINVAL, "argument \"%.40s\": a key has no blanks; rename it",
                              row->key);
    if ((unsigned)row->type > MAAR_ARGUMENT_TREE)
        return maar_error_set(err, -EINVAL, "argument %.40s: unknown type %u", row->key,
                              (unsigned)row->type);
    if (!row->help || *row->help == '\0')
        return maar_error_set(err, -EINVAL,
                              "argument %.40s: no help; say what it does in a sentence", row->key);
    double min;
    double max;
    if (maar_argument_range_parse(row->range, &min, &max) && min > max)
        return maar_error_set(err, -EINVAL, "argument %.40s: the range %.40s is empty", row->key,
                              row->range);
    return check_default(row, err);
}

static int check_arguments(const struct maar_argument *table, struct maar_error *err)
{
    for (size_t i = 0; table && table[i].key; i++) {
        if (i == MAX_ARGUMENTS)
            return maar_error_set(err, -EINVAL,
                                  "arguments has more than %u rows; end it with a row of zeros",
                                  MAX_ARGUMENTS);
        int rc = check_argument(&table[i], err);
        if (rc < 0)
            return rc;
        for (size_t j = 0; j < i; j++)
            if (strcmp(table[j].key, table[i].key) == 0)
                return maar_error_set(err, -EINVAL, "argument %.40s is in the table twice",
                                      table[i].key);
    }
    return 0;
}

/* ---- hooks ------------------------------------------------------------------------------------
 */

static int check_filters(const struct maar_hooks *hooks, struct maar_error *err)
{
    if (hooks->n_filters > MAX_TABLE_ENTRIES || (hooks->n_filters && !hooks->filters))
        return maar_error_set(err, -EINVAL, "n_filters does not go with filters");
    for (size_t i = 0; i < hooks->n_filters; i++) {
        const struct maar_filter *filter = &hooks->filters[i];
        if (!filter->name || !filter->fit)
            return maar_error_set(err, -EINVAL, "filter %zu has no name or no fit; set both", i);
        if (filter->subject & ~SUBJECT_BITS || filter->node & ~NODE_AXIS_BITS)
            return maar_error_set(err, -EINVAL, "filter %.40s declares unknown dependencies",
                                  filter->name);
    }
    return 0;
}

static int check_scores(const struct maar_hooks *hooks, struct maar_error *err)
{
    if (hooks->n_scores > MAX_TABLE_ENTRIES || (hooks->n_scores && !hooks->scores))
        return maar_error_set(err, -EINVAL, "n_scores does not go with scores");
    for (size_t i = 0; i < hooks->n_scores; i++) {
        const struct maar_score *score = &hooks->scores[i];
        bool is_local = score->score && !score->raw && !score->normalise;
        bool is_normalised = !score->score && score->raw && score->normalise;
        if (!score->name || (!is_local && !is_normalised))
            return maar_error_set(
                err, -EINVAL, "score %zu has no name, or neither score nor raw with normalise", i);
        if (score->subject & ~SUBJECT_BITS || score->node & ~NODE_AXIS_BITS)
            return maar_error_set(err, -EINVAL, "score %.40s declares unknown dependencies",
                                  score->name);
    }
    return 0;
}

static int check_hooks(const struct maar_hooks *hooks, struct maar_error *err)
{
    int rc = check_filters(hooks, err);
    if (rc == 0)
        rc = check_scores(hooks, err);
    if (rc == 0 && hooks->reserve && !hooks->unreserve)
        rc = maar_error_set(err, -EINVAL,
                            "it has reserve but not unreserve; a plan that is given up "
                            "must be undone");
    if (rc == 0)
        rc = check_keys("watched_kinds", hooks->watched_kinds, err);
    return rc;
}

/* ---- descriptors ------------------------------------------------------------------------------
 */

static int check_rows(const struct maar_plugin *plugin, struct maar_error *err)
{
    const size_t sizes[] = {plugin->node_row_size, plugin->job_row_size, plugin->queue_row_size,
                            plugin->session_row_size};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > MAX_ROW_BYTES)
            return maar_error_set(err, -EINVAL, "a row of %zu bytes is more than 1 MiB", sizes[i]);
    return 0;
}

static int check_reads(const struct maar_plugin *plugin, struct maar_error *err)
{
    int rc = check_keys("reads_pod_labels", plugin->reads_pod_labels, err);
    if (rc == 0)
        rc = check_keys("reads_pod_annotations", plugin->reads_pod_annotations, err);
    if (rc == 0)
        rc = check_keys("reads_pod_group_annotations", plugin->reads_pod_group_annotations, err);
    if (rc == 0)
        rc = check_keys("reads_queue_annotations", plugin->reads_queue_annotations, err);
    return rc;
}

int maar_descriptor_check_plugin(const void *descriptor, size_t n_bytes, struct maar_error *err)
{
    int rc = check_head(descriptor, n_bytes, sizeof(struct maar_plugin), err);
    if (rc < 0)
        return rc;
    const struct maar_plugin *plugin = descriptor;
    rc = check_name("name", plugin->name, err);
    if (rc == 0)
        rc = check_aliases(plugin->aliases, err);
    if (rc == 0)
        rc = check_arguments(plugin->arguments, err);
    if (rc == 0)
        rc = check_reads(plugin, err);
    if (rc == 0)
        rc = check_rows(plugin, err);
    if (rc == 0)
        rc = check_hooks(&plugin->hooks, err);
    return rc;
}

int maar_descriptor_check_action(const void *descriptor, size_t n_bytes, struct maar_error *err)
{
    int rc = check_head(descriptor, n_bytes, sizeof(struct maar_action), err);
    if (rc < 0)
        return rc;
    const struct maar_action *action = descriptor;
    rc = check_name("name", action->name, err);
    if (rc == 0)
        rc = check_arguments(action->arguments, err);
    if (rc == 0 && !action->execute)
        rc = maar_error_set(err, -EINVAL, "it has no execute; set it");
    return rc;
}
