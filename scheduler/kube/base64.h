/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_BASE64_H
#define MAAR_KUBE_BASE64_H

#include <stddef.h>

/* Decodes standard base64 with padding; white space between the characters is skipped. A NUL byte follows the
 * result, which is the caller's to free. -EINVAL when the text is no base64. */
int maar_base64_decode(const char *text, char **ret_data, size_t *ret_n)
    __attribute__((warn_unused_result));

#endif
