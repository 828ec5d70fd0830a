/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Every authenticated user may ask about himself (system:basic-user), so asking costs nothing and keeps refused
 * requests out of the cluster's audit log. */

#include "kube/rights.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#define REVIEW_LIMIT_NS    (10 * MAAR_SECOND_NS)
#define REVIEW_LIMIT_BYTES (256 * 1024)
#define ASK_AGAIN_NS       MAAR_SECOND_NS

static const struct {
    enum maar_write_kind kind;
    const char *name;
    const char *attributes;
} reviewed[] = {
    {MAAR_WRITE_POD_GROUP_STATUS, "podgroups",
     "\"group\":\"scheduling.volcano.sh\",\"resource\":\"podgroups\""},
    {MAAR_WRITE_POD_CONDITION, "pods/status",
     "\"group\":\"\",\"resource\":\"pods\",\"subresource\":\"status\""},
    {MAAR_WRITE_QUEUE_STATUS, "queues/status",
     "\"group\":\"scheduling.volcano.sh\",\"resource\":\"queues\",\"subresource\":\"status\""},
};
#define N_REVIEWED (sizeof reviewed / sizeof reviewed[0])

struct review {
    struct maar_rights *rights;
    size_t i;
    enum maar_right right;
    bool switched; /* to PUT, by a refusal */
    bool running;
    int64_t due_ns;
    char *body;
    struct maar_kube_call call;
};

struct maar_rights {
    struct maar_kube_transport transport;
    struct review reviews[N_REVIEWED];
    uint64_t n_reviews;
};

static void on_review(struct maar_kube_call *call)
{
    struct review *review = call->context;
    const struct maar_kube_transport *transport = &review->rights->transport;
    json_t *answer;
    const json_t *allowed;

    review->running = false;
    if (!call->complete || call->status == 429 || call->status >= 500) {
        review->due_ns = transport->now_ns(transport->self) +
                         (call->retry_after_ns > 0 ? call->retry_after_ns : ASK_AGAIN_NS);
        return;
    }
    answer = json_loadb(maar_text_get(&call->answer), call->answer.n, 0, NULL);
    allowed = json_object_get(json_object_get(answer, "status"), "allowed");
    if (!maar_kube_call_succeeded(call) || !json_is_boolean(allowed))
        review->right = MAAR_RIGHT_TRY;
    else
        review->right = json_is_true(allowed) ? MAAR_RIGHT_PATCH : MAAR_RIGHT_PUT;
    json_decref(answer);
    maar_log_debug("%s is written with %s", reviewed[review->i].name,
                   review->right == MAAR_RIGHT_PUT ? "PUT" : "PATCH");
}

struct maar_rights *maar_rights_create(struct maar_kube_transport transport)
{
    struct maar_rights *rights = maar_calloc(1, sizeof *rights);

    rights->transport = transport;
    for (size_t i = 0; i < N_REVIEWED; i++) {
        struct review *review = &rights->reviews[i];

        review->rights = rights;
        review->i = i;
        review->body = maar_asprintf("{\"apiVersion\":\"authorization.k8s.io/v1\","
                                     "\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
                                     "{\"resourceAttributes\":{\"verb\":\"patch\",%s}}}",
                                     reviewed[i].attributes);
        review->call = (struct maar_kube_call){
            .method = "POST",
            .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            .accept = "application/json",
            .content_type = "application/json",
            .body = review->body,
            .limit_ns = REVIEW_LIMIT_NS,
            .limit_bytes = REVIEW_LIMIT_BYTES,
            .on_done = on_review,
            .context = review,
        };
    }
    return rights;
}

void maar_rights_destroy(struct maar_rights *rights)
{
    if (!rights)
        return;
    for (size_t i = 0; i < N_REVIEWED; i++) {
        struct review *review = &rights->reviews[i];

        rights->transport.cancel(rights->transport.self, &review->call);
        maar_text_fini(&review->call.answer);
        free(review->body);
    }
    free(rights);
}

static struct review *find(struct maar_rights *rights, enum maar_write_kind kind)
{
    for (size_t i = 0; i < N_REVIEWED; i++) {
        if (reviewed[i].kind == kind)
            return &rights->reviews[i];
    }
    return NULL;
}

enum maar_right maar_rights_get(struct maar_rights *rights, enum maar_write_kind kind)
{
    struct review *review = find(rights, kind);

    if (!review)
        return MAAR_RIGHT_PATCH;
    if (review->right == MAAR_RIGHT_UNKNOWN && !review->running &&
        rights->transport.now_ns(rights->transport.self) >= review->due_ns) {
        review->running = true;
        rights->n_reviews++;
        rights->transport.start(rights->transport.self, &review->call);
    }
    return review->right;
}

bool maar_rights_forbid(struct maar_rights *rights, enum maar_write_kind kind)
{
    struct review *review = find(rights, kind);

    /* Another write of the kind may have been refused before this one. */
    if (!review || (review->right != MAAR_RIGHT_TRY && !review->switched))
        return false;
    review->right = MAAR_RIGHT_PUT;
    review->switched = true;
    return true;
}

void maar_rights_ask_again(struct maar_rights *rights, enum maar_write_kind kind)
{
    struct review *review = find(rights, kind);

    if (!review || review->right == MAAR_RIGHT_UNKNOWN)
        return;
    review->right = MAAR_RIGHT_UNKNOWN;
    review->due_ns = rights->transport.now_ns(rights->transport.self) + ASK_AGAIN_NS;
}

uint64_t maar_rights_n_reviews(const struct maar_rights *rights)
{
    return rights->n_reviews;
}
