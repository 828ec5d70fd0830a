/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_STRINGS_H
#define MAAR_BASE_STRINGS_H

/* Interned strings of one owner: equal text, equal id; ids are small integers from 1 (0 is "no
 * string"), never reused while referenced. Text pointers stay valid while the id is referenced. Not
 * thread-safe. */

#include <stddef.h>
#include <stdint.h>

struct maar_strings;

struct maar_strings *maar_strings_create(void);
void maar_strings_destroy(struct maar_strings *strings);
/* Finds or adds, and takes one reference. */
uint32_t maar_strings_ref(struct maar_strings *strings, const char *text);
uint32_t maar_strings_ref_n(struct maar_strings *strings, const char *text, size_t n);
/* One more reference to a known id. 0 is allowed. */
void maar_strings_hold(struct maar_strings *strings, uint32_t id);
/* Drops one reference; the text goes with the last. 0 is allowed. */
void maar_strings_unref(struct maar_strings *strings, uint32_t id);
/* The id of a text that is there, else 0. Takes no reference. */
uint32_t maar_strings_find(const struct maar_strings *strings, const char *text);
/* "" for 0. */
const char *maar_strings_text(const struct maar_strings *strings, uint32_t id);
size_t maar_strings_n(const struct maar_strings *strings);

#endif
