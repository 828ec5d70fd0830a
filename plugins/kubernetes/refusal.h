/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBERNETES_REFUSAL_H
#define MAAR_KUBERNETES_REFUSAL_H

/* Texts of refusals by amounts, as Volcano's users parse them. */

#include <maar/view.h>

#define MAAR_REFUSAL_BYTES 1024

/* "PREFIX: VERB cpu, VERB memory" for the dimensions of the mask; PREFIX alone for none. Cut at n
 * bytes. */
void maar_refusal_text(char *buffer, size_t n, const char *prefix, const char *verb,
                       uint64_t dims_mask, const struct maar_dims *dims);

#endif
