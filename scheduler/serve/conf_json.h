/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_SERVE_CONF_JSON_H
#define MAAR_SERVE_CONF_JSON_H

/* A configuration as JSON with the keys of scheduler.conf. What may be a secret is left out: the value of a key that
 * speaks of a password, token or secret reads "…". */

#include <jansson.h>

#include "conf/conf.h"

/* A new reference. */
json_t *maar_conf_json(const struct maar_conf *conf);

#endif
