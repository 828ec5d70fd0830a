/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_API_SELECTOR_H
#define MAAR_SERVE_API_SELECTOR_H

/* labelSelector and fieldSelector of a list or watch. */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

enum maar_api_operator {
    MAAR_API_EQUALS,
    MAAR_API_DIFFERS,
    MAAR_API_IN,
    MAAR_API_NOT_IN,
    MAAR_API_EXISTS,
    MAAR_API_ABSENT,
};

struct maar_api_requirement {
    char *key;
    enum maar_api_operator op;
    char *values; /* "a" or "a,b" */
};

struct maar_api_selector {
    MAAR_VEC(struct maar_api_requirement) labels;
    MAAR_VEC(struct maar_api_requirement) fields;
};

/* "" selects everything. -EINVAL for a text that is no selector. */
int maar_api_selector_init(struct maar_api_selector *selector, const char *labels,
                           const char *fields, struct maar_error *err)
    __attribute__((warn_unused_result));
void maar_api_selector_fini(struct maar_api_selector *selector);
bool maar_api_selector_matches(const struct maar_api_selector *selector, const json_t *document);

#endif
