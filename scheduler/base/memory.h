/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_MEMORY_H
#define MAAR_BASE_MEMORY_H

/* Allocation that aborts when memory is out, and the cleanup attributes. Every size that comes from
 * outside is bounded by its reader before it gets here. */

#include <stddef.h>

/* Never return NULL; abort with a message when memory is out. The array forms check the product. */
void *maar_malloc(size_t size) __attribute__((malloc, warn_unused_result, returns_nonnull));
void *maar_calloc(size_t n, size_t size)
    __attribute__((malloc, warn_unused_result, returns_nonnull));
void *maar_realloc(void *p, size_t n, size_t size) __attribute__((warn_unused_result));
char *maar_strdup(const char *s) __attribute__((malloc, warn_unused_result, returns_nonnull));
char *maar_strndup(const char *s, size_t n)
    __attribute__((malloc, warn_unused_result, returns_nonnull));
char *maar_asprintf(const char *format, ...)
    __attribute__((format(printf, 1, 2), malloc, warn_unused_result, returns_nonnull));

void maar_autofree_cleanup(void *pointer_to_pointer);
void maar_autoclose_cleanup(const int *fd);
#define maar_autofree  __attribute__((cleanup(maar_autofree_cleanup)))
#define maar_autoclose __attribute__((cleanup(maar_autoclose_cleanup)))

/* Reads a whole file (or standard input for "-") of at most `limit` bytes; a NUL byte follows the
 * content. 0, or -errno (-EFBIG over the limit). *ret_data is the caller's to free. */
struct maar_error;
int maar_file_read(const char *path, size_t limit, char **ret_data, size_t *ret_n_bytes,
                   struct maar_error *err) __attribute__((warn_unused_result));

#endif
