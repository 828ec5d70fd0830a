/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_KUBE_RIGHTS_H
#define MAAR_KUBE_RIGHTS_H

/* Whether a status may be written with PATCH or, as under Volcano's own role, only with PUT. Asked of the server once
 * for each kind (SelfSubjectAccessReview), when the first such write is about to be sent. Uses one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "kube/call.h"
#include "model/write.h"

enum maar_right {
    MAAR_RIGHT_UNKNOWN,
    MAAR_RIGHT_PATCH,
    MAAR_RIGHT_TRY, /* the server did not say: PATCH until it is forbidden */
    MAAR_RIGHT_PUT,
};

struct maar_rights;

struct maar_rights *maar_rights_create(struct maar_kube_transport transport);
/* Accepts NULL. Cancels what runs. */
void maar_rights_destroy(struct maar_rights *rights);
/* The right to patch what this kind of write patches; asks the server when it is not known yet. Writes that are no
 * status writes have MAAR_RIGHT_PATCH. */
enum maar_right maar_rights_get(struct maar_rights *rights, enum maar_write_kind kind);
/* A PATCH was forbidden. True when it was sent on trial, so that PUT is the way from now on. */
bool maar_rights_forbid(struct maar_rights *rights, enum maar_write_kind kind);
/* What the server said about this kind may be out of date. */
void maar_rights_ask_again(struct maar_rights *rights, enum maar_write_kind kind);
uint64_t maar_rights_n_reviews(const struct maar_rights *rights);

#endif
