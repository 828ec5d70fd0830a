/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Each start has an identity of its own, so that a process never takes its predecessor's Lease for its own. */

#include "daemon/identity.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/memory.h"

char *maar_identity_create(void)
{
    char host[256] = "";
    uint8_t b[16];

    if (getrandom(b, sizeof b, 0) != sizeof b)
        abort();
    /* A host without a name still has the UUID. */
    (void)gethostname(host, sizeof host - 1);
    b[6] = (uint8_t)(0x40 | (b[6] & 0x0f)); /* version 4 */
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    return maar_asprintf("%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                         host, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
                         b[11], b[12], b[13], b[14], b[15]);
}
