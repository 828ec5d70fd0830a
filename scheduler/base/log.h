/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_BASE_LOG_H
#define MAAR_BASE_LOG_H

/* Logging to standard error, one line a message, in klog's header form. Thread-safe. Library code
 * stays silent and returns errors; the caller that decides logs once. */

enum maar_log_level {
    MAAR_LOG_ERROR,
    MAAR_LOG_WARNING,
    MAAR_LOG_INFO,
    MAAR_LOG_DEBUG, /* shown from verbosity 4 */
};

/* klog verbosity: 0 shows errors, warnings and infos; -1 nothing but errors. */
void maar_log_set_verbosity(int verbosity);
int maar_log_verbosity(void);
void maar_log_at(enum maar_log_level level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define maar_log_error(...)   maar_log_at(MAAR_LOG_ERROR, __FILE__, __LINE__, __VA_ARGS__)
#define maar_log_warning(...) maar_log_at(MAAR_LOG_WARNING, __FILE__, __LINE__, __VA_ARGS__)
#define maar_log_info(...)    maar_log_at(MAAR_LOG_INFO, __FILE__, __LINE__, __VA_ARGS__)
#define maar_log_debug(...)   maar_log_at(MAAR_LOG_DEBUG, __FILE__, __LINE__, __VA_ARGS__)

#endif
