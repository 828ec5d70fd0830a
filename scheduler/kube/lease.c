/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The Lease as JSON. Its times are written, as others show them, and never read for a decision: clocks differ. */

#include "kube/lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

static const char *text_of(const json_t *map, const char *key)
{
    const char *text = json_string_value(json_object_get(map, key));

    return text ? text : "";
}

static bool is_absent(const json_t *value)
{
    return !value || json_is_null(value);
}

static int read_number(const json_t *spec, const char *key, int64_t *ret_number,
                       struct maar_error *err)
{
    const json_t *value = json_object_get(spec, key);
    json_int_t number = json_integer_value(value);

    if (is_absent(value)) {
        *ret_number = 0;
        return 0;
    }
    if (!json_is_integer(value) || number < 0 || number > INT32_MAX)
        return maar_error_set(err, -EINVAL, "spec.%s: expected a whole number of 0 or more", key);
    *ret_number = number;
    return 0;
}

static int read_spec(const json_t *object, struct maar_lease *lease, struct maar_error *err)
{
    const json_t *spec = json_object_get(object, "spec");
    const json_t *holder = json_object_get(spec, "holderIdentity");
    int64_t seconds = 0;
    int r;

    if (!is_absent(spec) && !json_is_object(spec))
        return maar_error_set(err, -EINVAL, "spec: expected an object");
    if (!is_absent(holder) && !json_is_string(holder))
        return maar_error_set(err, -EINVAL, "spec.holderIdentity: expected a text");
    r = read_number(spec, "leaseDurationSeconds", &seconds, err);
    if (r == 0)
        r = read_number(spec, "leaseTransitions", &lease->n_transitions, err);
    lease->holder = text_of(spec, "holderIdentity");
    lease->duration_ns = seconds * MAAR_SECOND_NS;
    return r;
}

int maar_lease_read(const char *text, size_t n, struct maar_lease *ret_lease,
                    struct maar_error *err)
{
    struct maar_lease lease = {0};
    json_t *object = json_loadb(text, n, 0, NULL);
    const json_t *metadata = json_object_get(object, "metadata");
    int r;

    if (!json_is_object(object) || strcmp(text_of(object, "kind"), "Lease") != 0)
        r = maar_error_set(err, -EINVAL, "the answer is not a Lease");
    else
        r = read_spec(object, &lease, err);
    if (r < 0) {
        json_decref(object);
        return r;
    }
    lease.object = object;
    lease.uid = text_of(metadata, "uid");
    lease.version = text_of(metadata, "resourceVersion");
    *ret_lease = lease;
    return 0;
}

void maar_lease_fini(struct maar_lease *lease)
{
    json_decref(lease->object);
    *lease = (struct maar_lease){0};
}

bool maar_lease_has_same_terms(const struct maar_lease *a, const struct maar_lease *b)
{
    const json_t *first = json_object_get(a->object, "spec");
    const json_t *second = json_object_get(b->object, "spec");

    return first && second ? json_equal(first, second) : first == second;
}

static json_t *create_object(const struct maar_lease_terms *terms)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{}}", "apiVersion", "coordination.k8s.io/v1",
                     "kind", "Lease", "metadata", "name", terms->name, "namespace", terms->ns,
                     "spec");
}

static bool is_time(const json_t *value)
{
    const char *text = json_string_value(value);
    int64_t ns;

    return text && maar_time_parse(text, &ns) == 0;
}

char *maar_lease_body(const struct maar_lease *former, const struct maar_lease_terms *terms)
{
    json_t *object = former ? json_deep_copy(former->object) : create_object(terms);
    json_t *spec = json_object_get(object, "spec");
    bool stays = former && strcmp(former->holder, terms->holder) == 0;
    int64_t n_transitions = former ? former->n_transitions : 0;
    char now[40];
    char *body;

    maar_time_format_micro(terms->now_ns, now);
    if (!json_is_object(spec)) {
        spec = json_object();
        json_object_set_new(object, "spec", spec);
    }
    if (former && !stays && *terms->holder && n_transitions < INT32_MAX)
        n_transitions++;
    if (!stays || !is_time(json_object_get(spec, "acquireTime")))
        json_object_set_new(spec, "acquireTime", json_string(now));
    json_object_set_new(spec, "holderIdentity", json_string(terms->holder));
    json_object_set_new(spec, "leaseDurationSeconds",
                        json_integer(terms->duration_ns / MAAR_SECOND_NS));
    json_object_set_new(spec, "leaseTransitions", json_integer(n_transitions));
    json_object_set_new(spec, "renewTime", json_string(now));
    body = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return body;
}
