// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// The real client against the embedded server.
#include "cli/simulate_link.h"

#include <errno.h>
#include <stdlib.h>

struct maar_simulation_link *maar_simulate_link_create(struct maar_error *err)
{
    maar_error_set(err, -ENOSYS, "--via api is not there yet");
    return NULL;
}

void maar_simulate_link_destroy(struct maar_simulation_link *link)
{
    free(link);
}
