/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_CLOCK_H
#define MAAR_BASE_CLOCK_H

/* Time as the world sees it: nanoseconds since the Unix epoch in UTC. Engine and session take it as
 * a value; only the daemon and the HTTP layers read the system's clock. */

#include <stdint.h>

#include "base/error.h"

#define MAAR_SECOND_NS      INT64_C(1000000000)
#define MAAR_MILLISECOND_NS INT64_C(1000000)

int64_t maar_clock_wall_ns(void);
/* Monotonic, for measuring. */
int64_t maar_clock_mono_ns(void);

/* RFC 3339 with any offset and fraction, to UTC nanoseconds. -EINVAL otherwise. */
int maar_time_parse(const char *text, int64_t *ret_ns) __attribute__((warn_unused_result));
/* "2026-01-01T00:00:00Z", whole seconds; `buffer` holds at least 32 bytes and is returned. */
char *maar_time_format(int64_t ns, char buffer[32]);
/* "2026-01-01T00:00:00.000000Z" (metav1.MicroTime). */
char *maar_time_format_micro(int64_t ns, char buffer[40]);

/* Go durations ("1h30m", "250ms", "0"), to nanoseconds. -EINVAL otherwise, -ERANGE on overflow. */
int maar_duration_parse(const char *text, int64_t *ret_ns) __attribute__((warn_unused_result));

#endif
