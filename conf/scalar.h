/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CONF_SCALAR_H
#define MAAR_CONF_SCALAR_H

/* What a plain YAML scalar stands for, by the rules of the library that Volcano reads its file
 * with. */

#include "conf/arguments.h"

struct maar_scalar_value {
    enum maar_scalar_type type;
    int64_t number; /* INT */
    double real;    /* INT and FLOAT */
    bool truth;     /* BOOL */
};

/* Resolves the text of an unquoted scalar. Whatever is nothing else is a string. */
struct maar_scalar_value maar_scalar_resolve(const char *text);

/* Go's strconv.ParseBool: 1 t T TRUE true True 0 f F FALSE false False. False when it is none of
 * them. */
bool maar_scalar_parse_bool(const char *text, bool *ret_truth);

#endif
