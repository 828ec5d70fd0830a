/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_AMOUNTS_H
#define MAAR_AMOUNTS_H

/* Vectors of doubles in the units in which Volcano computes shares, and the one family of
 * comparisons over them. cpu and memory are always there. Every other dimension ("scalar", pods
 * too) is present or absent, and a vector that never named a scalar differs from one with an empty
 * set of them: some operations then leave scalars alone.
 *
 * What an absent scalar of the other side counts as is said by the caller: zero or infinity.
 * Comparisons that tolerate take |l - r| < 0.1 for equal; those "with dimension" look only at what
 * a request asks for, and pods are never a dimension of a request. Masks of dimensions are read
 * from bit 0 up: cpu, memory, then scalars. */

#include <maar/view.h>

#include <string.h>

#define MAAR_TOLERANCE    0.1
#define MAAR_SCALARS_MASK (~UINT64_C(3))

enum maar_missing {
    MAAR_MISSING_ZERO,
    MAAR_MISSING_INFINITY,
};

/* Invariants: v[d] is 0 where scalar d is absent; bits 0 and 1 of present are 0; present implies
 * has_scalars. */
struct maar_amounts {
    uint64_t present;
    bool has_scalars;
    double v[MAAR_MAX_DIMS];
};

/* Loops over the dimensions of a mask, ascending. */
#define MAAR_EACH_DIM(dim, mask)                                                                   \
    for (uint64_t maar_left_##dim = (mask), dim;                                                   \
         maar_left_##dim && ((dim = (uint64_t)__builtin_ctzll(maar_left_##dim)), 1);               \
         maar_left_##dim &= maar_left_##dim - 1)

/* ---- making them ----------------------------------------------------------------------------- */

static inline struct maar_amounts maar_amounts_none(void)
{
    struct maar_amounts a;
    memset(&a, 0, sizeof a);
    return a;
}

static inline void maar_amounts_set(struct maar_amounts *a, uint32_t dim, double v)
{
    a->v[dim] = v;
    if (dim >= 2) {
        a->present |= UINT64_C(1) << dim;
        a->has_scalars = true;
    }
}

/* From a ledger row over all dimensions; `present` says which scalars it names. */
static inline struct maar_amounts maar_amounts_from_row(const int64_t *row, uint64_t present,
                                                        const struct maar_dims *dims)
{
    struct maar_amounts a = maar_amounts_none();
    for (uint32_t d = 0; d < dims->n; d++)
        if (d < 2 || ((present >> d) & 1))
            maar_amounts_set(&a, d, (double)row[d] * dims->policy_scale[d]);
    return a;
}

static inline struct maar_amounts maar_amounts_from_resource(const struct maar_resource *r,
                                                             const struct maar_dims *dims)
{
    struct maar_amounts a = maar_amounts_none();
    for (uint32_t d = 0; d < r->n && d < dims->n; d++)
        if (d < 2 || maar_resource_has(r, d))
            maar_amounts_set(&a, d, (double)r->v[d] * dims->policy_scale[d]);
    return a;
}

static inline bool maar_amounts_has(const struct maar_amounts *a, uint64_t dim)
{
    return dim < 2 || ((a->present >> dim) & 1);
}

/* Dimensions with an amount that counts (pods included). */
static inline uint64_t maar_amounts_names(const struct maar_amounts *a)
{
    uint64_t names = 0;
    MAAR_EACH_DIM(d, a->present | 3)
    {
        if (a->v[d] >= MAAR_TOLERANCE)
            names |= UINT64_C(1) << d;
    }
    return names;
}

/* Nothing but pods. */
static inline bool maar_amounts_is_empty(const struct maar_amounts *a)
{
    return (maar_amounts_names(a) & ~(UINT64_C(1) << MAAR_DIM_PODS)) == 0;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static inline void maar_amounts_add(struct maar_amounts *a, const struct maar_amounts *b)
{
    MAAR_EACH_DIM(d, b->present | 3)
    {
        a->v[d] += b->v[d];
    }
    a->present |= b->present;
    a->has_scalars = a->has_scalars || b->present != 0;
}

/* Scalars are left alone when `a` has no set of them; else a missing one becomes negative. */
static inline void maar_amounts_sub(struct maar_amounts *a, const struct maar_amounts *b)
{
    MAAR_EACH_DIM(d, (a->has_scalars ? b->present : 0) | 3)
    {
        a->v[d] -= b->v[d];
    }
    if (a->has_scalars)
        a->present |= b->present;
}

static inline void maar_amounts_multi(struct maar_amounts *a, double factor)
{
    MAAR_EACH_DIM(d, a->present | 3)
    {
        a->v[d] *= factor;
    }
}

/* The greater of both, dimension by dimension, into a. */
static inline void maar_amounts_set_max(struct maar_amounts *a, const struct maar_amounts *b)
{
    MAAR_EACH_DIM(d, b->present | 3)
    {
        if (!maar_amounts_has(a, d) || b->v[d] > a->v[d])
            a->v[d] = b->v[d];
    }
    a->present |= b->present;
    a->has_scalars = a->has_scalars || b->has_scalars;
}

/* The lesser of both, over the dimensions of a, into a. */
static inline void maar_amounts_min_dimension(struct maar_amounts *a,
                                              const struct maar_amounts *limit,
                                              enum maar_missing missing)
{
    MAAR_EACH_DIM(d, a->present | 3)
    {
        if (maar_amounts_has(limit, d)) {
            if (limit->v[d] < a->v[d])
                a->v[d] = limit->v[d];
        } else if (missing == MAAR_MISSING_ZERO) {
            a->v[d] = 0;
        }
    }
}

/* The greater of both over the union; negative scalars are dropped. */
static inline struct maar_amounts maar_amounts_max(const struct maar_amounts *l,
                                                   const struct maar_amounts *r)
{
    struct maar_amounts a = maar_amounts_none();
    a.has_scalars = l->has_scalars || r->has_scalars;
    MAAR_EACH_DIM(d, l->present | r->present | 3)
    {
        bool in_l = maar_amounts_has(l, d);
        double v = in_l && (l->v[d] > r->v[d] || !maar_amounts_has(r, d)) ? l->v[d] : r->v[d];
        if (d < 2 || v >= 0)
            maar_amounts_set(&a, (uint32_t)d, v);
    }
    return a;
}

/* Part of the whole; the whole of nothing is taken up by anything. */
static inline double maar_share(double part, double whole)
{
    if (whole == 0)
        return part == 0 ? 0 : 1;
    return part / whole;
}

/* What l has more, and what r has more. A dimension goes to `ret_more` when l > r, else to
 * `ret_less`. A missing scalar is zero, or infinite: then the result of the side that has it is -1.
 */
static inline void maar_amounts_diff(const struct maar_amounts *l, const struct maar_amounts *r,
                                     enum maar_missing missing, struct maar_amounts *ret_more,
                                     struct maar_amounts *ret_less)
{
    struct maar_amounts more = maar_amounts_none(), less = maar_amounts_none();
    MAAR_EACH_DIM(d, l->present | r->present | 3)
    {
        bool infinite = missing == MAAR_MISSING_INFINITY;
        if (infinite && !maar_amounts_has(l, d))
            maar_amounts_set(&more, (uint32_t)d, -1);
        else if (infinite && !maar_amounts_has(r, d))
            maar_amounts_set(&less, (uint32_t)d, -1);
        else if (l->v[d] > r->v[d])
            maar_amounts_set(&more, (uint32_t)d, l->v[d] - r->v[d]);
        else
            maar_amounts_set(&less, (uint32_t)d, r->v[d] - l->v[d]);
    }
    more.has_scalars = less.has_scalars = true;
    *ret_more = more;
    *ret_less = less;
}

/* What l has above r. NULL l: nothing; NULL r: all of l. */
static inline struct maar_amounts maar_amounts_exceeded_part(const struct maar_amounts *l,
                                                             const struct maar_amounts *r)
{
    struct maar_amounts more, less;
    if (!l)
        return maar_amounts_none();
    if (!r)
        return *l;
    maar_amounts_diff(l, r, MAAR_MISSING_ZERO, &more, &less);
    return more;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static inline bool maar_amount_is_close(double l, double r)
{
    double delta = l - r;
    return delta < MAAR_TOLERANCE && -delta < MAAR_TOLERANCE;
}

static inline bool maar_amount_less_equal(double l, double r)
{
    return l < r || maar_amount_is_close(l, r);
}

/* Strictly less in every dimension. Scalars of r alone: with zero not looked at, with infinity
 * false. */
static inline bool maar_amounts_less(const struct maar_amounts *l, const struct maar_amounts *r,
                                     enum maar_missing missing)
{
    bool infinite = missing == MAAR_MISSING_INFINITY;
    if (infinite && (r->present & ~l->present))
        return false;
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (infinite && !maar_amounts_has(r, d))
            continue;
        if (!(l->v[d] < r->v[d]))
            return false;
    }
    return true;
}

/* Like less_equal, and says which dimensions fail; scalars of r alone never do. */
static inline bool maar_amounts_less_equal_with_names(const struct maar_amounts *l,
                                                      const struct maar_amounts *r,
                                                      enum maar_missing missing,
                                                      uint64_t *ret_failing)
{
    uint64_t failing = 0;
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (missing == MAAR_MISSING_INFINITY && !maar_amounts_has(r, d))
            continue;
        if (!maar_amount_less_equal(l->v[d], r->v[d]))
            failing |= UINT64_C(1) << d;
    }
    if (ret_failing)
        *ret_failing = failing;
    return failing == 0;
}

/* At most r in every dimension, with tolerance. */
static inline bool maar_amounts_less_equal(const struct maar_amounts *l,
                                           const struct maar_amounts *r, enum maar_missing missing)
{
    if (missing == MAAR_MISSING_INFINITY && (r->present & ~l->present))
        return false;
    return maar_amounts_less_equal_with_names(l, r, missing, NULL);
}

/* The dimensions that a request asks for, pods left out. */
static inline uint64_t maar_amounts_asked(const struct maar_amounts *request)
{
    uint64_t asked = 0;
    MAAR_EACH_DIM(d, (request->present & ~(UINT64_C(1) << MAAR_DIM_PODS)) | 3)
    {
        if (request->v[d] > 0)
            asked |= UINT64_C(1) << d;
    }
    return asked;
}

/* At most r in the dimensions that the request asks for, without tolerance. NULL l is at most
 * anything, NULL r is less than anything, a NULL request asks for everything, with tolerance. */
static inline bool maar_amounts_less_equal_with_dimension(const struct maar_amounts *l,
                                                          const struct maar_amounts *r,
                                                          const struct maar_amounts *request,
                                                          uint64_t *ret_failing)
{
    uint64_t failing = 0;
    bool ok = true;
    if (l && !r) {
        ok = false;
        failing = maar_amounts_names(l);
    } else if (l && !request) {
        ok = maar_amounts_less_equal_with_names(l, r, MAAR_MISSING_ZERO, &failing);
    } else if (l) {
        MAAR_EACH_DIM(d, maar_amounts_asked(request) & (l->has_scalars ? UINT64_MAX : 3))
        {
            if (l->v[d] > r->v[d])
                failing |= UINT64_C(1) << d;
        }
        ok = failing == 0;
    }
    if (ret_failing)
        *ret_failing = failing;
    return ok;
}

/* Strictly less in some dimension. A scalar that only the other side has counts as less: of r with
 * zero, of l with infinity. */
static inline bool maar_amounts_less_partly(const struct maar_amounts *l,
                                            const struct maar_amounts *r, enum maar_missing missing)
{
    if (missing == MAAR_MISSING_ZERO ? (r->present & ~l->present) : (l->present & ~r->present))
        return true;
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (l->v[d] < r->v[d])
            return true;
    }
    return false;
}

/* The same with at most, with tolerance. */
static inline bool maar_amounts_less_equal_partly(const struct maar_amounts *l,
                                                  const struct maar_amounts *r,
                                                  enum maar_missing missing)
{
    if (missing == MAAR_MISSING_ZERO ? (r->present & ~l->present) : (l->present & ~r->present))
        return true;
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (maar_amount_less_equal(l->v[d], r->v[d]))
            return true;
    }
    return false;
}

static inline uint64_t maar_amounts_where_less_equal(const struct maar_amounts *l,
                                                     const struct maar_amounts *r, uint64_t dims)
{
    uint64_t found = 0;
    MAAR_EACH_DIM(d, dims)
    {
        if (maar_amount_less_equal(l->v[d], r->v[d]))
            found |= UINT64_C(1) << d;
    }
    return found;
}

/* Dimensions of the request in which l is at most r, with tolerance; 0: none. A NULL request asks
 * for nothing. */
static inline uint64_t maar_amounts_less_equal_partly_with_dimension(
    const struct maar_amounts *l, const struct maar_amounts *r, const struct maar_amounts *request)
{
    return request ? maar_amounts_where_less_equal(l, r, maar_amounts_asked(request)) : 0;
}

/* The same without the dimensions in which both are as good as zero. */
static inline uint64_t maar_amounts_less_equal_partly_with_dimension_zero_filtered(
    const struct maar_amounts *l, const struct maar_amounts *r, const struct maar_amounts *request)
{
    uint64_t dims = 0;
    MAAR_EACH_DIM(d, request ? maar_amounts_asked(request) : 0)
    {
        if (!(l->v[d] < MAAR_TOLERANCE && r->v[d] < MAAR_TOLERANCE))
            dims |= UINT64_C(1) << d;
    }
    return maar_amounts_where_less_equal(l, r, dims);
}

/* Within the tolerance in every dimension of l; scalars of r alone are not looked at. */
static inline bool maar_amounts_equal(const struct maar_amounts *l, const struct maar_amounts *r)
{
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (!maar_amount_is_close(l->v[d], r->v[d]))
            return false;
    }
    return true;
}

/* The same scalars and the same doubles. */
static inline bool maar_amounts_identical(const struct maar_amounts *l,
                                          const struct maar_amounts *r)
{
    if (l->present != r->present)
        return false;
    MAAR_EACH_DIM(d, l->present | 3)
    {
        if (l->v[d] != r->v[d])
            return false;
    }
    return true;
}

static inline uint64_t maar_amounts_where_greater(const struct maar_amounts *l,
                                                  const struct maar_amounts *r, uint64_t dims)
{
    uint64_t found = 0;
    MAAR_EACH_DIM(d, dims)
    {
        if (l->v[d] > (r ? r->v[d] : 0))
            found |= UINT64_C(1) << d;
    }
    return found;
}

/* Dimensions of the request in which l is strictly above r (NULL r: nothing); 0: none. */
static inline uint64_t maar_amounts_greater_partly_with_dimension(
    const struct maar_amounts *l, const struct maar_amounts *r, const struct maar_amounts *request)
{
    return request ? maar_amounts_where_greater(l, r, maar_amounts_asked(request)) : 0;
}

/* The same over the dimensions that r speaks of: cpu and memory when it has some, scalars that it
 * names. */
static inline uint64_t maar_amounts_greater_partly_with_relevant_dimensions(
    const struct maar_amounts *l, const struct maar_amounts *r, const struct maar_amounts *request)
{
    if (!request || !r)
        return 0;
    uint64_t relevant = r->present;
    for (unsigned d = 0; d < 2; d++)
        if (r->v[d] >= MAAR_TOLERANCE)
            relevant |= UINT64_C(1) << d;
    return maar_amounts_where_greater(l, r, maar_amounts_asked(request) & relevant);
}

#endif
