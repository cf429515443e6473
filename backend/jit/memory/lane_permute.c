/* Accesses whose addresses thread indexes alone tell apart, though how they lie shows only at run
 * time. They are consecutive more often than not (a row of a tile, an exchange at a long distance).
 * Where lanes exchange at a distance below the vector's length they lie in a stretch of at most two
 * vectors, in one of a few orders, and take their places in registers. Where the distances of lanes
 * are constants, be it only in a version of the region (region_versions.c), the order is known, and
 * accesses are tested with all others of the block. Stores may be of a longer stretch, as those of
 * a butterfly of four are.
 */
#include "backend/jit/memory/lane_permute.h"

#include <string.h>

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/memory/lane_index.h"
#include "backend/jit/memory/lane_runs.h"
#include "backend/jit/memory/strided.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/registers.h"
#include "backend/order.h"

enum { ORDERS_MOST = 2 * JIT_ORDERED_LANES, PARTS_MOST = 4 /* vectors of a stretch */ };

/* ---- orders ---------------------------------------------------------------------------------- */

static struct jit_lane_order consecutive(unsigned width)
{
    struct jit_lane_order o = {.last = (int)width - 1};
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)i;
    return o;
}

/* The lowest ones of `n` at distances d, d a power of two: n * (i - i % d) + i % d.
 * The others lie likewise. */
static struct jit_lane_order lowest_of(unsigned n, unsigned width, unsigned d)
{
    struct jit_lane_order o;
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)(n * (i - i % d) + i % d);
    o.last = o.place[width - 1];
    return o;
}

static bool is_contiguous(const struct jit *j, const struct jit_lane_order *o)
{
    for (unsigned i = 0; i < j->unit->width; i++)
        if (o->place[i] != (int)i)
            return false;
    return true;
}

/* Each lane at its partner's. */
static struct jit_lane_order swapped(unsigned width, unsigned d)
{
    struct jit_lane_order o = {.last = (int)width - 1};
    for (unsigned i = 0; i < width; i++)
        o.place[i] = (int)(i ^ d);
    return o;
}

/* Vectors that the stretch of an access has at most: each costs a store of some lanes, which is
 * less than one for each lane only where the machine has those. */
static int most_parts(const struct jit *j, const struct jit_access *a)
{
    return !a->is_load && j->unit->cpu->has_fast_masked_store ? PARTS_MOST : 2;
}

/* Those that the address may have. */
static unsigned find_orders(const struct jit *j, const struct jit_access *a,
                            struct jit_lane_order *orders)
{
    struct jit_mixing mixing =
        jit_address_form_find_mixing(j->facts, a->base, j->low ? 0 : j->mixer);
    unsigned n = 0;
    for (unsigned d = 1; d < j->unit->width; d++)
        if (mixing.pairs >> d & 1)
            orders[n++] = lowest_of(2, j->unit->width, d);
    for (unsigned d = 1; d < j->unit->width && most_parts(j, a) >= 4; d++)
        if (mixing.fours >> d & 1)
            orders[n++] = lowest_of(4, j->unit->width, d);
    for (unsigned d = 1; d < j->unit->width; d++)
        if (mixing.swaps >> d & 1)
            orders[n++] = swapped(j->unit->width, d);
    return n;
}

/* ---- accesses in an order -------------------------------------------------------------------- */

bool jit_lane_permute_can_access(const struct jit *j, const struct jit_access *a)
{
    return j->unit->cpu->has_masked_access && a->n == 1 && (a->bytes == 4 || a->bytes == 8) &&
           a->order == PT_ORDER_PLAIN;
}

/* A vector of the stretch: elements `at` … at + width - 1, of which those from `from` on are taken
 * there. */
struct part {
    int at, from;
    int lanes[JIT_ORDERED_LANES]; /* whose element it is; width: nobody's */
    bool is_full, is_empty;
};

/* The stretch's ends are elements of lanes; of parts between only lanes' elements are touched. */
static unsigned find_parts(const struct jit *j, const struct jit_lane_order *o, struct part *parts)
{
    int width = (int)j->unit->width;
    unsigned n = (unsigned)(o->last / width) + 1;
    for (unsigned k = 0; k < n; k++) {
        struct part *p = &parts[k];
        p->from = (int)k * width;
        p->at = k && k + 1 == n ? o->last + 1 - width : p->from;
        p->is_full = p->is_empty = true;
        for (int e = 0; e < width; e++)
            p->lanes[e] = width;
        for (int i = 0; i < width; i++)
            if (o->place[i] >= p->from && o->place[i] < p->at + width)
                p->lanes[o->place[i] - p->at] = i;
        for (int e = 0; e < width; e++) {
            p->is_full &= p->lanes[e] < width;
            p->is_empty &= p->lanes[e] == width;
        }
    }
    return n;
}

/* The lanes of a mask (NULL: all) at their elements. NULL: all elements. */
static LLVMValueRef part_mask(const struct jit *j, const struct part *part, LLVMValueRef mask)
{
    if (!mask && part->is_full)
        return NULL;
    LLVMValueRef flow = jit_flow_of(j, mask ? mask : jit_mask_all(j));
    return jit_flow_mask(
        j, jit_shuffle(j, flow, LLVMConstNull(LLVMTypeOf(flow)), part->lanes, j->unit->width));
}

static LLVMValueRef load_in_order(const struct jit *j, const struct jit_access *a,
                                  const struct jit_lane_order *o, LLVMValueRef pointer,
                                  LLVMValueRef mask)
{
    struct part parts[PARTS_MOST];
    LLVMValueRef vectors[2] = {0}; /* most_parts */
    unsigned n = find_parts(j, o, parts);
    int lanes[JIT_ORDERED_LANES], width = (int)j->unit->width;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef at = jit_access_element(j, a, pointer, (unsigned)parts[k].at);
        jit_contiguous_load(j, a, at, mask ? part_mask(j, &parts[k], mask) : NULL, &vectors[k]);
    }
    for (int i = 0; i < width; i++)
        lanes[i] = o->place[i] < width ? o->place[i] : o->place[i] - parts[1].at + width;
    return jit_shuffle(j, vectors[0], vectors[1], lanes, j->unit->width);
}

/* The stretch has elements that are not to change, and they may be written. */
static bool rewrites(const struct jit *j, const struct jit_access *a,
                     const struct jit_lane_order *o, LLVMValueRef mask)
{
    bool has_others = mask || o->last >= (int)j->unit->width;
    return has_others && !a->is_load && jit_contiguous_may_rewrite(j, a);
}

/* The lanes at their elements. What those of nobody hold is not stored: part_mask leaves them
 * out. */
static LLVMValueRef move_lanes(const struct jit *j, LLVMValueRef value, const struct part *part)
{
    return jit_check_proven(j->code, jit_shuffle(j, value, NULL, part->lanes, j->unit->width),
                            "mask");
}

/* Elements of nobody, and of lanes that are off, are written as they are: where the parts overlap,
 * as the first leaves them. */
static void rewrite_in_order(const struct jit *j, const struct jit_access *a,
                             const struct part *parts, unsigned n, LLVMValueRef pointer,
                             LLVMValueRef mask, LLVMValueRef value)
{
    LLVMValueRef at[2], old[2];
    int lanes[JIT_ORDERED_LANES], width = (int)j->unit->width;
    for (unsigned k = 0; k < n; k++) {
        at[k] = jit_access_element(j, a, pointer, (unsigned)parts[k].at);
        jit_contiguous_load(j, a, at[k], NULL, &old[k]);
    }
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef moved = move_lanes(j, value, &parts[k]);
        LLVMValueRef theirs = part_mask(j, &parts[k], mask);
        moved = theirs ? LLVMBuildSelect(j->code->b, theirs, moved, old[k], "") : moved;
        jit_contiguous_store(j, a, at[k], NULL, &moved);
        for (int e = 0; k + 1 < n && e < width; e++)
            lanes[e] = parts[1].at + e < width ? parts[1].at + e : width + e;
        if (k + 1 < n)
            old[1] = jit_shuffle(j, moved, old[1], lanes, j->unit->width);
    }
}

static void store_in_order(const struct jit *j, const struct jit_access *a,
                           const struct jit_lane_order *o, LLVMValueRef pointer, LLVMValueRef mask,
                           LLVMValueRef value)
{
    struct part parts[PARTS_MOST];
    unsigned n = find_parts(j, o, parts);
    if (rewrites(j, a, o, mask)) {
        rewrite_in_order(j, a, parts, n, pointer, mask, value);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        if (parts[k].is_empty)
            continue;
        LLVMValueRef at = jit_access_element(j, a, pointer, (unsigned)parts[k].at);
        LLVMValueRef moved = move_lanes(j, value, &parts[k]);
        jit_contiguous_store(j, a, at, part_mask(j, &parts[k], mask), &moved);
    }
}

/* ---- which order it is ----------------------------------------------------------------------- */

bool jit_lane_permute_find_order(const struct jit *j, const struct jit_access *a, unsigned copy,
                                 struct jit_lane_order *order)
{
    struct jit_indexes x;
    int64_t at[JIT_ORDERED_LANES], lowest = 0;
    if (!jit_lane_index_split(j, a, &x))
        return false;
    LLVMValueRef offsets = jit_lane_offsets_known(j, x.is_split ? x.split.index : a->base, copy);
    for (unsigned i = 0; offsets && i < j->unit->width; i++) {
        at[i] = LLVMConstIntGetSExtValue(LLVMGetAggregateElement(offsets, i));
        lowest = i && lowest < at[i] ? lowest : at[i];
    }
    order->last = 0;
    for (unsigned i = 0; offsets && i < j->unit->width; i++) {
        if ((at[i] - lowest) % x.stride ||
            (at[i] - lowest) / x.stride >= most_parts(j, a) * (int64_t)j->unit->width)
            return false;
        order->place[i] = (int)((at[i] - lowest) / x.stride);
        order->last = order->place[i] > order->last ? order->place[i] : order->last;
    }
    return offsets && order->last >= (int)j->unit->width - 1 &&
           (is_contiguous(j, order) || jit_lane_permute_can_access(j, a));
}

/* i1: the lanes lie in the order. */
static LLVMValueRef is_order(const struct jit *j, const struct jit_indexes *x,
                             const struct jit_lane_order *o)
{
    LLVMValueRef places[JIT_ORDERED_LANES];
    for (unsigned i = 0; i < j->unit->width; i++)
        places[i] = jit_lane_index_distance(x, o->place[i] - o->place[0]);
    LLVMValueRef vector = LLVMConstVector(places, j->unit->width);
    return jit_all(j, LLVMBuildICmp(j->code->b, LLVMIntEQ, x->from_first, vector, ""));
}

/* i1: a stretch of elements in that order wraps nowhere, and is aligned. It begins at `address`. */
static LLVMValueRef fits(const struct jit *j, const struct jit_access *a, unsigned copy,
                         const struct jit_indexes *x, const struct jit_lane_order *o,
                         LLVMValueRef *address)
{
    LLVMValueRef lowest =
        LLVMBuildSub(j->code->b, x->first, jit_lane_index_distance(x, o->place[0]), "");
    return jit_lane_index_fits(j, a, copy, x, lowest, o->last, address);
}

/* ---- the access ------------------------------------------------------------------------------ */

/* The stretch in the order, if it fits; else on in `others`. */
static void access_order(const struct jit *j, const struct jit_access *a, unsigned copy,
                         const struct jit_indexes *x, const struct jit_lane_order *o,
                         struct jit_ways *ways, LLVMBasicBlockRef others, LLVMValueRef value)
{
    LLVMValueRef address, is_fit = fits(j, a, copy, x, o, &address);
    LLVMValueRef pointer = jit_access_pointer(j, a, address);
    if (rewrites(j, a, o, j->mask[copy])) {
        LLVMValueRef is_own = jit_contiguous_is_own(j, a, pointer, (unsigned)o->last + 1);
        is_fit = LLVMBuildAnd(j->code->b, is_fit, is_own, "");
    }
    LLVMBasicBlockRef fit = jit_new_block(j, "in_order");
    LLVMBuildCondBr(j->code->b, is_fit, fit, others);
    jit_continue_in(j, fit);
    if (a->is_load)
        value = load_in_order(j, a, o, pointer, j->mask[copy]);
    else
        store_in_order(j, a, o, pointer, j->mask[copy], value);
    jit_access_end_way(j, ways, &value);
}

/* A way for each order; which it is, is found without branches, as that may not change from chunk
 * to chunk. */
static void access_orders(const struct jit *j, const struct jit_access *a, unsigned copy,
                          const struct jit_indexes *x, struct jit_ways *ways, LLVMValueRef value)
{
    struct jit_lane_order orders[ORDERS_MOST];
    unsigned n = jit_lane_permute_can_access(j, a) ? find_orders(j, a, orders) : 0;
    if (!n)
        return;
    LLVMBasicBlockRef others = jit_new_block(j, "any");
    LLVMValueRef which = jit_i32(j, n);
    for (unsigned i = 0; i < n; i++)
        which = LLVMBuildSelect(j->code->b, is_order(j, x, &orders[i]), jit_i32(j, i), which, "");
    LLVMValueRef choice = LLVMBuildSwitch(j->code->b, which, others, n);
    for (unsigned i = 0; i < n; i++) {
        LLVMBasicBlockRef chosen = jit_new_block(j, "order");
        LLVMAddCase(choice, jit_i32(j, i), chosen);
        jit_continue_in(j, chosen);
        access_order(j, a, copy, x, &orders[i], ways, others, value);
    }
    jit_continue_in(j, others);
}

void jit_lane_permute_access_known(const struct jit *j, const struct jit_access *a, unsigned copy,
                                   const struct jit_lane_order *o, LLVMValueRef *v)
{
    struct jit_indexes x;
    jit_lane_index_find(j, a, copy, &x);
    LLVMValueRef lowest =
        LLVMBuildSub(j->code->b, x.first, jit_lane_index_distance(&x, o->place[0]), "");
    LLVMValueRef address = jit_lane_index_address(j, a, copy, &x, lowest);
    if (is_contiguous(j, o))
        jit_strided_emit(j, a, copy, address, v);
    else if (a->is_load)
        v[0] = load_in_order(j, a, o, jit_access_pointer(j, a, address), j->mask[copy]);
    else
        store_in_order(j, a, o, jit_access_pointer(j, a, address), j->mask[copy], v[0]);
}

bool jit_lane_permute_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                             LLVMValueRef *v)
{
    struct jit_indexes x;
    struct jit_ways ways;
    LLVMValueRef address;
    struct jit_lane_order known, run = consecutive(j->unit->width);
    bool is_known = jit_lane_permute_find_order(j, a, copy, &known);
    if (is_known && jit_access_is_trusted(j)) {
        jit_lane_permute_access_known(j, a, copy, &known, v);
        return true;
    }
    if (!jit_lane_index_find(j, a, copy, &x))
        return false;
    jit_access_begin_ways(j, a, &ways);
    if (is_known && !is_contiguous(j, &known)) {
        LLVMBasicBlockRef others = jit_new_block(j, "any");
        access_order(j, a, copy, &x, &known, &ways, others, v[0]);
        jit_continue_in(j, others);
    } else {
        LLVMValueRef is_dense = is_order(j, &x, &run);
        is_dense = LLVMBuildAnd(j->code->b, is_dense, fits(j, a, copy, &x, &run, &address), "");
        jit_strided_emit_if(j, a, copy, &ways, is_dense, address, v);
    }
    if (!is_known)
        access_orders(j, a, copy, &x, &ways, v[0]);
    if (!is_known && jit_lane_permute_can_access(j, a))
        jit_lane_runs_access(j, a, copy, &x, &ways, v[0]);
    jit_gather_access(j, a, copy, v);
    jit_access_end_way(j, &ways, v);
    jit_access_join_ways(j, &ways, v);
    return true;
}

/* ---- accesses tested before ------------------------------------------------------------------ */

static bool will_be_written(const uint64_t *written, const struct pt_operand *o)
{
    return o->kind == PT_OPND_REG && jit_set_has(written, o->index);
}

/* One copy of j->insn's access fits its order. */
static LLVMValueRef test_copy(const struct jit *j, const struct jit_access *a, unsigned copy,
                              const struct jit_lane_order *o)
{
    struct jit_indexes x;
    LLVMValueRef address;
    jit_lane_index_find(j, a, copy, &x);
    if (!jit_contiguous_is_rewriting(j, a))
        return fits(j, a, copy, &x, o, &address);
    address = LLVMBuildSub(j->code->b, x.first, jit_lane_index_distance(&x, o->place[0]), "");
    address = jit_lane_index_address(j, a, copy, &x, address);
    LLVMValueRef is_own =
        jit_contiguous_is_own(j, a, jit_access_pointer(j, a, address), (unsigned)o->last + 1);
    return LLVMBuildAnd(j->code->b, is_own,
                        LLVMBuildNot(j->code->b, jit_access_misaligned(j, a, address), ""), "");
}

bool jit_lane_permute_test(const struct jit *j, const struct jit_access *a, const uint64_t *written,
                           LLVMValueRef *test)
{
    struct jit_lane_order o;
    struct jit_indexes x;
    for (unsigned u = 0; u < j->facts->copies; u++)
        if (!jit_lane_permute_find_order(j, a, u, &o))
            return false;
    jit_lane_index_split(j, a, &x);
    if (will_be_written(written, x.is_split ? x.split.index : a->base) ||
        (x.is_split && will_be_written(written, x.split.base)))
        return false;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        jit_lane_permute_find_order(j, a, u, &o);
        LLVMValueRef good = test_copy(j, a, u, &o);
        *test = *test ? LLVMBuildAnd(j->code->b, *test, good, "") : good;
    }
    return true;
}
