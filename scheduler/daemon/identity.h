/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_DAEMON_IDENTITY_H
#define MAAR_DAEMON_IDENTITY_H

/* The name under which a process stands for election: "<host name>_<random UUID>", as Volcano's. The caller's to
 * free. */
char *maar_identity_create(void);

#endif
