/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_LEASE_H
#define MAAR_KUBE_LEASE_H

/* A Lease (coordination.k8s.io/v1) as client-go uses it for electing a leader, so that maar and Volcano's scheduler can
 * take turns at the same one. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct maar_lease {
    json_t *object; /* whole, as the server gave it: what others put there stays; NULL: none */
    /* Borrowed from the object. */
    const char *holder; /* "": nobody */
    const char *uid;
    const char *version;
    int64_t duration_ns; /* 0: not said */
    int64_t n_transitions;
};

/* -EINVAL with key and what was expected. */
int maar_lease_read(const char *text, size_t n, struct maar_lease *ret_lease,
                    struct maar_error *err) __attribute__((warn_unused_result));
void maar_lease_fini(struct maar_lease *lease);
/* Whether both say the same about holder and times: whoever holds it has not renewed it in between. */
bool maar_lease_has_same_terms(const struct maar_lease *a, const struct maar_lease *b);

struct maar_lease_terms {
    const char *ns;
    const char *name;
    const char *holder; /* "": it is given up */
    int64_t duration_ns;
    int64_t now_ns; /* wall clock */
};
/* The object to create, or to put in the place of `former` (NULL: none). Who held it already keeps its time of
 * acquisition; each change of holder counts as a transition. The caller's to free. */
char *maar_lease_body(const struct maar_lease *former, const struct maar_lease_terms *terms);

#endif
